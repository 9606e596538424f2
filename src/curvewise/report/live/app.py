"""The live view as an application for a server: its pages, its streams, who may ask."""

import functools
import gzip
import ipaddress
import re
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

from curvewise.errors import CurvewiseError
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


def live_app(watcher: Watcher, hosts: Hosts) -> "Starlette":
    """Return the application: the page, its events, and one task at a time."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.routing import Route

    lookout = Lookout(watcher)
    live = _Live(lookout, Pages(watcher))

    @asynccontextmanager
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
