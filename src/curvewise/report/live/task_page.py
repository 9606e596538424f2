"""One task for the page: its chart and its numbers, as plain JSON."""

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from curvewise._text import percent, shown
from curvewise.figures.series import Chart, Series, finite, style
from curvewise.flow.standing import CellStanding
from curvewise.flow.watching import Watcher
from curvewise.flow.watching.view import CONFIDENCE, GRID, Curve, TaskView
from curvewise.metrics import Floats, Metric
from curvewise.report.charts import caption_of, plotly_figure

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
        "looks": [style(curve.look) for curve in view.curves],
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
    """The pages of tasks, each made anew only so often, however many ask for it.

    Parameters
    ----------
    watcher : Watcher
    """

    def __init__(self, watcher: Watcher) -> None:
        self._watcher, self._lock = watcher, threading.Lock()
        self._known: OrderedDict[str, _Page] = OrderedDict()

    def page(self, task: str) -> dict[str, Any]:
        """Return what is to be shown of a task, now or a moment ago.

        Its ``"again"`` is after how many seconds it can be made anew.

        Raises
        ------
        CurvewiseError
            If there is no such task.
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
