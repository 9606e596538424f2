"""The live view of a run: who may ask, its pages and streams, and the server of them."""

import contextlib
import functools
import gzip
import ipaddress
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias

from curvewise.errors import CurvewiseError, NoStoreError
from curvewise.flow.watch import Watcher
from curvewise.report.live.pages import Lookout, Pages, as_json
from curvewise.version import __version__

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response


Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
DATA = ("/events", "/moment", "/now")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+)(?::([0-9]{1,5}))?")
_HEADERS = {
    # Plotly puts styles on what it draws; scripts come from here only.
    "content-security-policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names under which the page may be asked for, with any port.

    A port says nothing about who asks, and whoever looks through a tunnel has another.

    Examples
    --------
    >>> here = Hosts(LOOPBACK)
    >>> here.allows("localhost:8765"), here.allows("127.0.0.1.evil.example:8765")
    (True, False)
    """

    names: frozenset[str]
    is_open: bool = False

    def allows(self, host: str) -> bool:
        """Return whether a Host header names this page."""
        match = _HOST.fullmatch(host)
        if match is None or int(match[2] or 1) not in range(1, 65536):
            return False
        name = match[1].lower()
        return name in self.names or (self.is_open and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Guard:
    """Refuses requests that no page of ours has made, and says so in plain text."""

    def __init__(self, app: App, hosts: Hosts) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = {name.lower(): value for name, value in message["headers"]}
                for name, text in _HEADERS.items():
                    headers[name.encode()] = text.encode()
                headers.setdefault(b"cache-control", b"no-store")
                message = {**message, "headers": list(headers.items())}
            await send(message)

        refused = self._refused(scope)
        if refused is None:
            await self._app(scope, receive, guarded)
            return
        status, reason = refused
        body = f"{reason}\n".encode()
        head = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"allow", b"GET, HEAD"),
        ]
        await guarded(
            {"type": "http.response.start", "status": status, "headers": head}
        )
        await guarded({"type": "http.response.body", "body": body})

    def _refused(self, scope: Message) -> tuple[int, str] | None:
        """Return with which status a request is refused, and why."""
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "This page can only be read."
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or not self._hosts.allows(hosts[0]):
            return 400, (
                "This page does not go by that name. Ask for it as curvewise watch has "
                "printed it, or name the machine with --host."
            )
        if scope["path"].startswith(DATA):
            sites, origins = (
                _values(scope, b"sec-fetch-site"),
                _values(scope, b"origin"),
            )
            own = f"{scope.get('scheme', 'http')}://{hosts[0]}".lower()
            if any(site not in ("same-origin", "none") for site in sites) or any(
                origin.lower() != own for origin in origins
            ):
                return 403, "Only the page itself may ask for this."
        return None


def _values(scope: Message, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


# --- The pages and streams of the live view, as an application for a server ------------


_RETRY = 1000  # milliseconds before a browser asks again
_PING = 15  # seconds between signs of life, for whatever is between
_PATIENCE = 30  # seconds for which somebody may not read what is sent
_A_YEAR = "public, max-age=31536000, immutable"
_STATIC = {
    "/": ("live.html", "text/html; charset=utf-8"),
    "/live.css": ("live.css", "text/css; charset=utf-8"),
    "/live.js": ("live.js", "text/javascript; charset=utf-8"),
}


def _live_app(watcher: Watcher, hosts: Hosts) -> "Starlette":
    """Return the application: the page, its events, and one task at a time."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.routing import Route

    lookout = Lookout(watcher)
    live = _Live(lookout, Pages(watcher))

    @contextlib.asynccontextmanager
    async def lifespan(app: "Starlette") -> AsyncIterator[None]:
        del app
        lookout.start()
        yield
        lookout.stop()

    routes = [
        *(Route(path, live.static) for path in _STATIC),
        Route("/plotly.js", live.plotly),
        Route("/events", live.events),
        Route("/moment", live.moment),
        Route("/now", live.now),
    ]
    guard: Any = Guard
    app = Starlette(
        routes=routes, middleware=[Middleware(guard, hosts=hosts)], lifespan=lifespan
    )
    app.state.lookout = lookout
    return app


class _Live:
    """What is answered to whom."""

    def __init__(self, lookout: Lookout, pages: Pages) -> None:
        self._lookout, self._pages = lookout, pages

    async def static(self, request: "Request") -> "Response":
        """Return the page itself, its style or its script."""
        from starlette.responses import Response

        name, kind = _STATIC[request.url.path]
        return Response(_text(name), media_type=kind)

    async def plotly(self, request: "Request") -> "Response":
        """Return the script that draws charts, which browsers keep."""
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import Response

        headers = {"cache-control": _A_YEAR, "vary": "accept-encoding"}
        is_small = "gzip" in request.headers.get("accept-encoding", "")
        body = await run_in_threadpool(_plotly, is_small)
        if is_small:
            headers["content-encoding"] = "gzip"
        kind = "text/javascript; charset=utf-8"
        return Response(body, media_type=kind, headers=headers)

    async def moment(self, request: "Request") -> "Response":
        """Return how far it is, for whoever cannot listen."""
        del request
        return _json(self._lookout.glance())

    async def events(self, request: "Request") -> "Response":
        """Return a stream of moments: the latest at once, then every new one.

        Who reads slowly misses some, and is never behind.
        """
        from sse_starlette.sse import EventSourceResponse
        from starlette.responses import Response

        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        return EventSourceResponse(self._moments(), ping=_PING, send_timeout=_PATIENCE)

    async def _moments(self) -> AsyncIterator[dict[str, Any]]:
        lookout, number = self._lookout, 0
        lookout.come()
        try:
            while not lookout.has_ended:
                number = await lookout.after(number)
                yield {"event": "moment", "data": lookout.text, "retry": _RETRY}
        finally:
            lookout.leave()

    async def now(self, request: "Request") -> "Response":
        """Return one task; nothing where the asker has what there is."""
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import Response

        task = request.query_params.get("task", "")
        try:
            page = await run_in_threadpool(self._pages.page, task)
        except CurvewiseError as problem:
            return _json(as_json({"problem": str(problem)}), status=404)
        have = f"{self._lookout.boot}.{page['version']}"
        again = {"x-again": str(page["again"])}
        if request.query_params.get("have") == have:
            return Response(status_code=204, headers=again)
        return _json(as_json(page | {"have": have}), headers=again)


def _json(
    text: str, status: int = 200, headers: dict[str, str] | None = None
) -> "Response":
    from starlette.responses import Response

    return Response(text, status, headers, media_type="application/json")


@functools.cache
def _text(name: str) -> str:
    text = (files("curvewise.report.live") / "page" / name).read_text("utf-8")
    if name == "live.html":
        return text.replace("{version}", __version__).replace(
            "{plotly}", version("plotly")
        )
    return text


@functools.cache
def _plotly(is_small: bool) -> bytes:
    found = files("plotly") / "package_data" / "plotly.min.js"
    whole = found.read_bytes()
    return gzip.compress(whole, 6, mtime=0) if is_small else whole


# --- The server: on this machine only, unless somebody asks for more -------------------


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

    class Server(uvicorn.Server):
        """Lets those who listen go before it ends, so that their streams are whole."""

        is_interrupted = False

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            self.is_interrupted |= sig == signal.SIGINT
            end = functools.partial(super().handle_exit, sig, frame)
            loop = app.state.lookout.loop
            if loop is None or app.state.lookout.has_ended:
                end()
                return
            loop.call_soon_threadsafe(app.state.lookout.stop)
            loop.call_soon_threadsafe(loop.call_later, _SECONDS_TO_GO, end)

    app = _live_app(watcher, hosts)
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
