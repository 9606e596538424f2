"""Serves the live view: on this machine only, unless somebody asks for more."""

import contextlib
import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

from curvewise.errors import CurvewiseError, NoStoreError
from curvewise.flow.watch import Watcher
from curvewise.report.live.app import LOOPBACK, Hosts

PORT = 8765
_TRIED = 20  # ports, from the usual one on
_EXTRA = ("starlette", "uvicorn", "sse_starlette")
_SECONDS_TO_GO, _SECONDS_TO_END = 0.1, 1


def serve(
    watcher: Watcher,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    opened: Callable[[str], object] = print,
) -> None:
    """Serve the live view of a store until Ctrl-C.

    Parameters
    ----------
    watcher : Watcher
    host : str
        The address to listen on. Any other than that of this machine alone lets others
        read: there is no password.
    port : int, optional
        8765 or the next one that is free, if left out; 0 for any that is free.
    opened : callable
        Called with the page's URL before it is served; prints it if left out.

    Raises
    ------
    CurvewiseError
        If the extra ``live`` is not installed, the port is taken, or the store cannot be
        read. A store that is not there yet is waited for.
    """
    require_extra()
    with contextlib.suppress(NoStoreError):  # it may come
        watcher.read()
    watcher.refuse_unknown_metric()
    listening = bound(host, port)
    try:
        opened(url_of(listening, host))
        _run(watcher, listening, hosts_of(host))
    finally:
        listening.close()
        watcher.close()


def _run(watcher: Watcher, listening: socket.socket, hosts: Hosts) -> None:
    import uvicorn

    from curvewise.report.live.app import live_app

    class Server(uvicorn.Server):
        """Lets those who listen go before it ends, so that their streams are whole."""

        is_interrupted = False

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            self.is_interrupted |= sig == signal.SIGINT
            end = partial(super().handle_exit, sig, frame)
            loop = app.state.lookout.loop
            if loop is None or app.state.lookout.has_ended:
                end()
                return
            loop.call_soon_threadsafe(app.state.lookout.stop)
            loop.call_soon_threadsafe(loop.call_later, _SECONDS_TO_GO, end)

    app = live_app(watcher, hosts)
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=_SECONDS_TO_END,
    )
    server = Server(config)
    server.run(sockets=[listening])
    if server.is_interrupted:  # and the signal was lost on the way out of the loop
        raise KeyboardInterrupt


def require_extra() -> None:
    """Raise if what the live view needs is not installed."""
    import importlib.util

    if missing := [name for name in _EXTRA if importlib.util.find_spec(name) is None]:
        raise CurvewiseError(
            f"The live view needs {', '.join(missing).replace('_', '-')}: pip install "
            f"'curvewise[live]'."
        )


def bound(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens: on this port, or on the first that is free."""
    wanted = range(PORT, PORT + _TRIED) if port is None else (port,)
    for one in wanted:
        try:
            return _bound(host, one)
        except OSError as problem:
            last = problem
    where = f"{host}, port {wanted[0]}{f' to {wanted[-1]}' if len(wanted) > 1 else ''}"
    raise CurvewiseError(
        f"Nothing can be served on {where} ({last.strerror or last}). Pass --port 0 for "
        f"any port that is free, or another --host."
    )


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix" and sys.platform != "cygwin":
            # Connections that are fading away do not keep a new server from its port.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(
            128
        )  # the next who tries the same port is told that it is taken
    except BaseException:
        listening.close()
        raise
    listening.set_inheritable(False)
    return listening


def url_of(listening: socket.socket, host: str) -> str:
    """Return where the page is, for whoever sits here."""
    name = f"[{host}]" if ":" in host else host
    if is_any(host):
        name = "127.0.0.1" if "." in host else "[::1]"
    return f"http://{name}:{listening.getsockname()[1]}/"


def is_any(host: str) -> bool:
    """Return whether a host stands for all addresses of this machine.

    >>> is_any("0.0.0.0"), is_any("::"), is_any("127.0.0.1")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Return whether only this machine can ask.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("192.168.1.5")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def hosts_of(host: str) -> Hosts:
    """Return the names under which a page that listens there may be asked for."""
    name = f"[{host}]" if ":" in host else host
    if not is_any(host):
        return Hosts(LOOPBACK | {name.lower()})
    own = {socket.gethostname().lower(), socket.getfqdn().lower()}
    return Hosts(LOOPBACK | own, is_open=True)
