"""What the live page is told: the latest moment, and one task, as plain JSON."""

import asyncio
import json
import secrets
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from curvewise.figures.chart import Chart, Series, colour_and_dash, finite
from curvewise.flow.status import CellStanding
from curvewise.flow.watch import Moment, Watcher, forecast
from curvewise.flow.watch.table import CONFIDENCE, GRID, Curve, TaskView
from curvewise.metrics import Floats, Metric
from curvewise.report.plotly import caption_of, plotly_figure
from curvewise.stats.bands import half_width
from curvewise.text import percent, shown

_HEARTBEAT = 5.0  # seconds after which a moment is told that says nothing new
_UNWATCHED = 5.0  # seconds between looks, at least, while nobody watches


class Lookout:
    """Looks again and again; whoever asks gets the latest moment, never an old one."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher, self.boot = watcher, secrets.token_hex(4)
        self.number, self.text, self.watching = 0, "", 0
        self._told: Moment | None = None
        self._told_at, self._glanced = 0.0, -_UNWATCHED
        self._changed = asyncio.Event()
        self._wanted = threading.Event()
        self.has_ended = False
        self._foreseeing: threading.Thread | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._post(watcher.moment())

    # --- in the server's loop ----------------------------------------------------------

    def start(self) -> None:
        """Begin to look; called in the loop that serves."""
        self.loop = asyncio.get_running_loop()
        # As daemons: Ctrl-C does not wait for a server that does not answer.
        threading.Thread(target=self._look_on, name="lookout", daemon=True).start()

    def stop(self) -> None:
        """Look no more, and let everybody go."""
        self.has_ended = True
        self._wanted.set()
        self._changed.set()

    async def after(self, number: int) -> int:
        """Wait for another moment than this one, or the end; return its number."""
        while self.number == number and not self.has_ended:
            await self._changed.wait()
        return self.number

    def come(self) -> None:
        """Note that somebody watches from now on."""
        self.watching += 1
        self._wanted.set()  # who has slept looks at once

    def leave(self) -> None:
        """Note that somebody has gone."""
        self.watching -= 1

    def glance(self) -> str:
        """Return the latest moment to somebody who does not stay."""
        self._glanced = time.monotonic()
        self._wanted.set()
        return self.text

    def _post(self, moment: Moment) -> None:
        self._told, self._told_at = moment, time.monotonic()
        self.number += 1
        self.text = as_json(moment.to_dict() | {"boot": self.boot})
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    # --- in the thread that looks ------------------------------------------------------

    def _look_on(self) -> None:
        half_width(2, kind="anytime")  # loads what takes a while, before somebody waits
        while not self.has_ended:
            moment = self._looked()
            if self._is_news(moment) and self.loop is not None:
                try:
                    self.loop.call_soon_threadsafe(self._post, moment)
                except RuntimeError:  # the loop has ended a moment ago
                    return
            time.sleep(self.watcher.pause())
            if not self._is_watched:
                self._wanted.clear()
                self._wanted.wait(_UNWATCHED)

    def _looked(self) -> Moment:
        try:
            moment = self.watcher.look()
            self._foresee()
        except Exception as problem:  # nobody would see that the page stands still
            traceback.print_exc()
            trouble = f"The store could not be looked at: {type(problem).__name__}."
            return replace(self.watcher.moment(), trouble=trouble)
        return moment

    @property
    def _is_watched(self) -> bool:
        return self.watching > 0 or time.monotonic() - self._glanced < _UNWATCHED

    def _is_news(self, moment: Moment) -> bool:
        if time.monotonic() - self._told_at > _HEARTBEAT or self._told is None:
            return True
        return _lasting(moment) != _lasting(self._told)

    def _foresee(self) -> None:
        """Find out when it will be known, in a thread of its own: it may take long."""
        if self._foreseeing is not None and self._foreseeing.is_alive():
            return
        begin = time.monotonic()
        inquiry = self.watcher.inquiry()
        if inquiry is None:
            return

        def answer() -> None:
            found = forecast(inquiry)
            self.watcher.answer(found, time.monotonic() - begin)

        self._foreseeing = threading.Thread(target=answer, name="forecast", daemon=True)
        self._foreseeing.start()


def _lasting(moment: Moment) -> Moment:
    """Return a moment without what changes with every second."""
    return replace(moment, idle=None, rate=None, seconds_left=None)


def as_json(value: Any) -> str:
    r"""Return a value as JSON that can be in any text, also in a page.

    >>> print(as_json("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# --- One task for the page: its chart and its numbers, as plain JSON -------------------


_SHARES = (0.1, 0.5, 0.9)  # of the trials, in the table
_EVERY, _COST = 1.0, 20.0  # seconds between two pictures of a task; times what one took
_MOST = 32  # tasks that are remembered


def task_page(view: TaskView) -> dict[str, Any]:
    """Return what the page shows of a task."""
    chart = chart_of(view) if view.curves else None
    return {
        "task": view.task,
        "version": view.version,
        "figure": None if chart is None else _figure(chart),
        "title": f"Scores on {view.task}",
        "caption": "" if chart is None else caption_of(chart),
        "numbers": _table([_numbers(curve) for curve in view.curves]),
        "looks": [colour_and_dash(curve.look) for curve in view.curves],
        "cells": _table([_counts(cell) for cell in view.cells]),
        "notes": list(view.notes),
    }


def chart_of(view: TaskView) -> Chart:
    """Return the inverse CDF of each algorithm, as numbers to draw."""
    metric = view.metric
    assert metric is not None  # noqa: S101  there are no curves without one
    ways = {
        "higher": "further up is better, and ",
        "lower": "further down is better, and ",
    }
    better = ways.get(metric.direction or "", "")
    return Chart(
        title=f"Scores on {view.task}",
        x_label="share of trials",
        y_label=axis_of(metric),
        series=tuple(
            Series(
                curve.algorithm,
                GRID,
                curve.y,
                finite(curve.lower),
                finite(curve.upper),
                curve.look,
            )
            for curve in view.curves
        ),
        caption=f"Inverse CDF: a share x of the trials scores y or less; {better}a flat "
        f"curve is easy to tune. Shaded: {percent(CONFIDENCE)} "
        f"band that holds at every look.",
        leaders=tuple(curve.algorithm for curve in _best_first(view.curves, metric)),
    )


def axis_of(metric: Metric) -> str:
    """Return what an axis with scores is called."""
    way = f" ({metric.direction} is better)" if metric.direction else ""
    return f"{metric.label}{way}"


def _best_first(curves: Sequence[Curve], metric: Metric) -> list[Curve]:
    """Return curves by their medians; as they come where nobody said what is better."""
    if metric.direction is None:
        return list(curves)
    return sorted(curves, key=lambda curve: -metric.sign * _at(curve.y, 0.5))


def _at(values: Floats, share: float) -> float:
    """Return a curve at a share of the trials."""
    return float(values[np.searchsorted(GRID, share - 1e-9)])


def _figure(chart: Chart) -> dict[str, Any]:
    """Return a chart with a legend of Plotly's own, in which every name is."""
    figure = plotly_figure(chart)
    figure["layout"]["showlegend"] = True
    for trace in figure["data"]:
        if trace.get("visible") is False:
            trace["visible"] = "legendonly"
    return figure


def _numbers(curve: Curve) -> dict[str, str]:
    row = {"algorithm": curve.algorithm, "trials": f"{curve.trials:,}"}
    for share in _SHARES:
        ends = [_at(curve.lower, share), _at(curve.upper, share)]
        low, high = (shown(end) if np.isfinite(end) else "?" for end in ends)
        row[percent(share)] = f"{shown(_at(curve.y, share))} ({low} to {high})"
    width = curve.half_width
    row["band"] = f"± {percent(float(f'{width:.2g}'))}" if width < 1 else "too few"
    return row


def _counts(cell: CellStanding) -> dict[str, str]:
    planned = {} if cell.planned is None else {"planned": f"{cell.planned:,}"}
    return {
        "algorithm": cell.algorithm,
        "done": f"{cell.done:,}",
        **planned,
        **{name: f"{n:,}" for name, n in cell.states.items()},
        "mean seconds": "" if cell.mean is None else shown(cell.mean),
    }


def _table(rows: list[dict[str, str]]) -> dict[str, Any]:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return {
        "columns": columns,
        "rows": [[row.get(name, "") for name in columns] for row in rows],
    }


class Pages:
    """The pages of tasks, each made anew only so often, however many ask for it."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher, self._lock = watcher, threading.Lock()
        self._known: OrderedDict[str, _Page] = OrderedDict()

    def page(self, task: str) -> dict[str, Any]:
        """Return what is to be shown of a task, now or a moment ago.

        Its ``"again"`` is after how many seconds it can be made anew.
        """
        with self._lock:  # one at a time: whoever else asks gets the same
            known = self._known.get(task)
            if known is None or time.monotonic() >= known.stale_at:
                begin = time.thread_time()
                content = task_page(self._watcher.view(task))
                pause = max(_EVERY, _COST * (time.thread_time() - begin))
                known = _Page(content, time.monotonic() + pause)
                self._known[task] = known
            self._known.move_to_end(task)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
            left = max(0.0, known.stale_at - time.monotonic())
            return known.content | {"again": round(left, 3)}


class _Page:
    def __init__(self, content: dict[str, Any], stale_at: float) -> None:
        self.content, self.stale_at = content, stale_at
