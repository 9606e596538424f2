"""The pages and streams of the live view, as an application for a server."""

import functools
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from curvewise._version import __version__
from curvewise.errors import CurvewiseError
from curvewise.flow.watching import Watcher
from curvewise.report.live.guard import Guard, Hosts
from curvewise.report.live.lookout import Lookout, as_json
from curvewise.report.live.task_page import Pages

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

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
    """Return the application: the page, its events, and one task at a time.

    Parameters
    ----------
    watcher : Watcher
    hosts : Hosts
        The names under which it may be asked for.
    """
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
