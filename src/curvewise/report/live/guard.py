"""Who may ask what: only this machine's own pages, only to read.

A page elsewhere can make a browser send requests to this machine. It cannot choose the
name that the browser puts into the Host header, though: if it has made its own name lead
here, that name is in it. And browsers say from which site a request comes.
"""

import ipaddress
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, TypeAlias

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

    Parameters
    ----------
    names : frozenset of str
        In lower case; an IPv6 address is in brackets.
    is_open : bool
        Whether any address will do: nobody can make an address lead elsewhere.

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
        found = _HOST.fullmatch(host)
        if found is None or int(found[2] or 1) not in range(1, 65536):
            return False
        name = found[1].lower()
        return name in self.names or (self.is_open and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Guard:
    """Refuses requests that no page of ours has made, and says so in plain text.

    Parameters
    ----------
    app : ASGI application
    hosts : Hosts
    """

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
