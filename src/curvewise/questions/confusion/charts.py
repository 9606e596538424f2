"""Pictures of `Confusion`: rates against data, metric by metric and class by class."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from curvewise.errors import CurvewiseError, unknown
from curvewise.figures.chart import Chart, Mark, Series, no_band
from curvewise.figures.draw import Axes, draw, draw_grid, one_legend
from curvewise.figures.styles import current
from curvewise.metrics import find
from curvewise.questions.base import must_be
from curvewise.questions.confusion import Confusion
from curvewise.questions.confusion.fit import AVERAGED, CountTask, observed
from curvewise.questions.confusion.text import hardest, label, leading
from curvewise.questions.sentences import on
from curvewise.stats.validation import is_number
from curvewise.text import percent

_POINTS, _FEWER = 61, 25  # of a curve; of many classes each takes its time
_BEYOND = 4.0  # times the largest size: how far curves are drawn
_ROOM = 0.02  # above 1 and below 0, so that lines there are seen
_IN_A_ROW = 2  # charts of metrics side by side
_TARGETS = {
    "mean": "rates averaged over training sets",
    "observed": "what the mean of the runs shows on one test set",
    "model": "rates of one more model",
}


def confusion_chart(
    answer: Confusion,
    metric: str | None = None,
    task: str | None = None,
    to: float | None = None,
    *,
    positive: int | None = None,
) -> Chart:
    """Return a metric of each algorithm against data, with bands, and what was observed."""
    result = _of(answer, task)
    name = _metric(answer, metric, positive)
    far = _far(result, to)
    settings = answer.asked.settings(name, positive)
    series: list[Series] = []
    for look, fit in enumerate(result.fits):
        n = np.geomspace(
            float(fit.counted.trained_on[0]),
            far,
            _POINTS if result.classes <= 3 else _FEWER,
        )
        band = answer.asked.band(fit.curve, name, n, positive)
        series.append(
            Series(fit.algorithm, n, band.value, band.lower, band.upper, look)
        )
        sizes = fit.counted.trained_on
        rates = observed(fit.curve, name, settings)
        series.append(
            Series(
                f"{fit.algorithm}, observed",
                sizes,
                rates,
                *no_band(sizes),
                look,
                is_dots=True,
            )
        )
    of_class = "" if positive is None else f" of class {answer.names[positive]}"
    largest = max(fit.counted.largest for fit in result.fits)
    return Chart(
        title=f"{label(name)}{of_class} and data{on(result.task)}",
        x_label="training examples",
        y_label=f"{label(name)}{of_class}",
        series=tuple(series),
        caption=f"Circles: what was observed at each size, runs taken together. Curves: "
        f"from one fit of the confusion matrices, with {percent(answer.asked.confidence)} "
        f"intervals for {_TARGETS[answer.asked.target]}, at each size by itself. Dashed: "
        f"the largest size so far.",
        axis="log",
        shape="line",
        marks=(Mark(largest, "largest size so far"),),
        y_range=_range(series),
        leaders=_leaders(name, [one for one in series if one.is_named], largest),
    )


def plot_confusion(
    answer: Confusion,
    ax: "Axes | None" = None,
    *,
    metric: str | None = None,
    task: str | None = None,
    to: float | None = None,
    positive: int | None = None,
) -> "Axes":
    """Draw a metric against data: what was observed, the curve, and its band.

    Parameters
    ----------
    answer : Confusion
    ax : matplotlib.axes.Axes, optional
        New ones if left out.
    metric : str, optional
        One of those that the answer has; F1 where it has it, else its first.
    task : str, optional
        Needed where the answer has several.
    to : float, optional
        Up to which size; four times the largest if left out.
    positive : int, optional
        Of precision, recall and F1: of this class against the rest.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.confusion(cw.example("counts"), "f1")
    >>> plot_confusion(answer).get_title()
    'F1 and data'
    """
    chart = confusion_chart(answer, metric, task, to, positive=positive)
    return draw(chart, ax)


def plot_confusion_metrics(
    answer: Confusion, *, task: str | None = None, to: float | None = None
) -> "Axes":
    """Draw all metrics of the answer beside each other, in a figure of their own.

    Parameters
    ----------
    answer : Confusion
    task : str, optional
        Needed where the answer has several.
    to : float, optional
        Up to which size; four times the largest if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The first; ``.figure`` holds all.
    """
    result = _of(answer, task)
    charts = [confusion_chart(answer, name, result.task, to) for name in answer.metrics]
    return _panels(charts)


def plot_confusion_classes(
    answer: Confusion,
    *,
    metric: str = "f1",
    task: str | None = None,
    to: float | None = None,
) -> "Axes":
    """Draw a metric of each class against data, one panel for each class.

    Parameters
    ----------
    answer : Confusion
    metric : {"precision", "recall", "specificity", "f1", "jaccard"}
    task : str, optional
        Needed where the answer has several.
    to : float, optional
        Up to which size; four times the largest if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The first; ``.figure`` holds all.
    """
    return _panels(class_charts(answer, metric, task, to))


def class_charts(
    answer: Confusion,
    metric: str = "f1",
    task: str | None = None,
    to: float | None = None,
) -> list[Chart]:
    """Return a metric of each class against data; of many classes, the hardest ones."""
    result = _of(answer, task)
    offered = sorted(
        name for name in AVERAGED if name != "f_beta" or name in answer.metrics
    )
    if metric not in offered:
        raise unknown("metric of a class", metric, offered)
    charts = [
        confusion_chart(answer, metric, result.task, to, positive=k)
        for k in hardest(result)
    ]
    series = [one for chart in charts for one in chart.series]
    low, high = min(map(_least, series)), max(map(_most, series))
    room = max(_ROOM * (high - low), 1e-3)
    # On the same axis classes can be compared.
    common = (low - room, high + room)
    return [replace(chart, y_range=common) for chart in charts]


def _leaders(metric: str, curves: Sequence[Series], size: float) -> tuple[str, ...]:
    """Return the algorithms by what their curves are worth at a size."""
    meant = find(metric)
    down = 1 if meant is not None and meant.direction == "lower" else -1
    worth = {one.name: down * float(np.interp(size, one.x, one.y)) for one in curves}
    return tuple(sorted(worth, key=lambda name: worth[name]))


def _panels(charts: Sequence[Chart]) -> "Axes":
    columns = min(len(charts), _IN_A_ROW if len(charts) <= 4 else 3, current().most)
    _, axes = draw_grid(charts, columns)
    one_legend(axes, axes[0])
    return axes[0]


def _of(answer: Confusion, task: str | None) -> CountTask:
    must_be(answer, Confusion, "confusion")
    return answer.of(task)


def _metric(answer: Confusion, metric: str | None, positive: int | None) -> str:
    if metric is None:
        return leading(answer.asked)
    if metric not in answer.metrics and positive is None:
        raise unknown("metric", metric, list(answer.metrics))
    return metric


def _far(result: CountTask, to: float | None) -> float:
    largest = max(fit.counted.largest for fit in result.fits)
    if to is None:
        return _BEYOND * largest
    if not (is_number(to) and to >= largest):
        raise CurvewiseError(
            f"to is {to!r}. Pass a size from the largest observed one up, {largest:g}.",
            argument="to",
            value=to,
        )
    return float(to)


def _range(series: Sequence[Series]) -> tuple[float, float] | None:
    """Return 0 to 1 where curves are all over it; None where a closer look is better."""
    low = min(_least(one) for one in series)
    high = max(_most(one) for one in series)
    return (-_ROOM, 1 + _ROOM) if high - low > 0.6 and low >= 0 else None


def _least(one: Series) -> float:
    return float(np.nanmin([*(one.lower if one.has_band else one.y), np.inf]))


def _most(one: Series) -> float:
    return float(np.nanmax([*(one.upper if one.has_band else one.y), -np.inf]))
