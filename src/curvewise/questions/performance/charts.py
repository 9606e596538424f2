"""Pictures of `Performance`: scores, their best share, the best of k, all tasks."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from curvewise.figures.chart import Chart, Series, finite
from curvewise.figures.draw import (
    Axes,
    Figure,
    draw,
    draw_grid,
    legend_above,
    title_axes,
)
from curvewise.figures.styles import current
from curvewise.questions.base import must_be, one_task
from curvewise.questions.lead import ranked
from curvewise.questions.performance import Performance
from curvewise.questions.performance.fit import Distribution
from curvewise.questions.sampling import tuned_pairs
from curvewise.questions.sentences import on
from curvewise.stats.interval import CurveBand
from curvewise.text import percent

# Three million trials drawn one by one would make a page of 86 MB; on this grid a jump is
# off by at most 1/1024 of the trials.
_GRID = np.linspace(0, 1, 513)
# Where the best share gets small, its mean hangs on a handful of trials.
_ALPHAS = np.linspace(0, 1, 101)[1:-1]
_MOST = 1000  # trials that anybody would let a tuner run


def quantile_chart(answer: Performance, task: str | None = None) -> Chart:
    """Return the inverse CDF of each algorithm on one task, as numbers to draw."""
    task, chosen = _chosen(answer, task, "plot_quantiles_by_task")
    looks = _looks(answer)
    curves = [_Curve(d.algorithm, look=looks[d.algorithm]) for d in chosen]
    return _quantiles(answer, task, curves)


class _Curve(NamedTuple):
    """An algorithm in a panel: what it is called there, and whose look it has."""

    algorithm: str
    name: str | None = None
    look: int | None = None


def _quantiles(answer: Performance, task: str, curves: Sequence[_Curve]) -> Chart:
    """Return the inverse CDF of those algorithms that ran on a task."""
    scores = {d.algorithm: d for d in answer.of(task)}
    called: dict[str, str] = {}
    series = []
    for algorithm, alias, look in curves:
        if algorithm in scores:
            name = called[algorithm] = alias or algorithm
            y = scores[algorithm].quantile(_GRID)
            lower, upper = map(finite, scores[algorithm].band.quantile(_GRID))
            series.append(Series(name, _GRID, y, lower, upper, look))
    return Chart(
        title=f"Scores{on(task)}",
        x_label="share of trials",
        y_label=_y_label(answer, task),
        series=tuple(series),
        caption=f"Inverse CDF: a share x of the trials scores y or less; "
        f"{_better(answer, task)} is better, and a flat curve is easy to tune. Shaded: "
        f"{_level(answer)} band, all quantiles of one algorithm at once.",
        leaders=tuple(called[n] for n in _leaders(scores.values()) if n in called),
    )


def best_chart(answer: Performance, task: str | None = None) -> Chart:
    """Return the mean of the best 1 - alpha of the trials over alpha, with its band."""
    task, chosen = _chosen(answer, task)
    looks = _looks(answer)
    return Chart(
        title=f"The best trials{on(task)}",
        x_label="alpha: the share of trials that is left out, the worst first",
        y_label=f"mean of the best 1 - alpha, {answer.metric.label}",
        series=tuple(
            _series(d.algorithm, d.best_curve(_ALPHAS), looks) for d in chosen
        ),
        caption=f"CVaR: how good the best 1 - alpha of the trials are on average; at the "
        f"left all of them count, at the right only the best; {_better(answer, task)} is "
        f"better. Shaded: {_level(answer)} band, all alphas of one algorithm at once.",
        shape="line",
        leaders=_leaders(chosen),
    )


def tuning_chart(answer: Performance, task: str | None = None) -> Chart:
    """Return how good the best of k trials is, over k, with its band."""
    task, chosen = _chosen(answer, task)
    series, looks = [], _looks(answer)
    for d in chosen:
        k = np.unique(np.geomspace(1, min(len(d.scores), _MOST), 60).astype(int))
        series.append(_series(d.algorithm, d.tuning_curve(k), looks))
    average = (
        "on average" if answer.metric.is_bounded else "in half of the cases (median)"
    )
    return Chart(
        title=f"The best of k trials{on(task)}",
        x_label="k, how many random settings are tried",
        y_label=f"best of k, {answer.metric.label}",
        series=tuple(series),
        caption=f"Tuning curve: how good the best of k trials is, {average}; "
        f"{_better(answer, task)} is better, and a curve that is level early is easy to "
        f"tune. Shaded: {_level(answer)} band, all k of one algorithm at once.",
        axis="log",
        shape="line",
        leaders=_leaders(chosen),
    )


def shift_chart(
    answer: Performance, one: str, other: str, task: str | None = None
) -> Chart:
    """Return by how much one algorithm's quantiles exceed another's, with its band."""
    task, _ = _chosen(answer, task)
    curve = answer.shift(one, other, _GRID[1:-1], task=task)
    better = "above" if answer.metric.on(task).sign > 0 else "below"
    return Chart(
        title=f"{one} minus {other}{on(task)}",
        x_label="share of trials",
        y_label=f"difference of quantiles, {answer.metric.label}",
        series=(_series(f"{one} - {other}", curve, {}),),
        caption=f"Quantile shift: by how much the quantiles of {one} exceed those of "
        f"{other}. Where the whole band is {better} 0, {one} is better there. Shaded: "
        f"{percent(answer.confidence)} band, all quantiles at once.",
        level=0.0,
    )


def profile_chart(answer: Performance) -> Chart:
    """Return the share of trials, all tasks counting alike, better than each score."""
    must_be(answer, Performance, "performance")
    profiles, looks = answer.profiles(), _looks(answer)
    # Scores to pass lie evenly: this is the mean score, up to a constant and a factor.
    mean = {name: float(curve.value.mean()) for name, curve in profiles.items()}
    return Chart(
        title=f"All {len(answer.tasks)} tasks"
        if len(answer.tasks) > 1
        else f"Task {answer.tasks[0]}",
        x_label=f"{answer.metric.label} to pass",
        y_label="share of trials that are better, mean over tasks",
        series=tuple(_series(name, curve, looks) for name, curve in profiles.items()),
        caption="Performance profile: which share of the trials is better than a score, "
        "all tasks counting alike; further up is better. Shaded: a band, "
        f"{next(iter(profiles.values())).guarantee}.",
        axis="linear",
        leaders=ranked(mean),
    )


def _series(name: str, curve: CurveBand, looks: dict[str, int]) -> Series:
    ends = finite(curve.lower), finite(curve.upper)
    return Series(name, curve.at, curve.value, *ends, looks.get(name))


def _leaders(scores: Iterable[Distribution]) -> tuple[str, ...]:
    """Return the algorithms on a task by how good their best trials are."""
    best = {d.algorithm: d.metric.sign * d.best_interval.value for d in scores}
    return ranked(best)


def _looks(answer: Performance) -> dict[str, int]:
    """Return the place of each algorithm among all: it looks the same on every task."""
    return {name: place for place, name in enumerate(_algorithms(answer))}


def _algorithms(answer: Performance) -> list[str]:
    return list(dict.fromkeys(d.algorithm for d in answer.distributions))


def _chosen(
    answer: Performance, task: str | None, panels: str = ""
) -> tuple[str, tuple[Distribution, ...]]:
    must_be(answer, Performance, "performance")
    task = one_task(answer.tasks, task, panels)
    return task, answer.of(task)


def _level(answer: Performance) -> str:
    return percent(answer.distributions[0].band.confidence)


def _better(answer: Performance, task: str) -> str:
    return "further up" if answer.metric.on(task).sign > 0 else "further down"


def _y_label(answer: Performance, task: str) -> str:
    return f"{answer.metric.label} ({answer.metric.on(task).direction} is better)"


# --- the drawn ones ----------------------------------------------------------------------


def plot_quantiles(
    answer: Performance, ax: "Axes | None" = None, *, task: str | None = None
) -> "Axes":
    """Draw the inverse CDF of each algorithm with its band.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
    >>> plot_quantiles(answer, task="rings").get_xlabel()
    'share of trials'
    """
    return draw(quantile_chart(answer, task), ax)


def plot_best(
    answer: Performance, ax: "Axes | None" = None, *, task: str | None = None
) -> "Axes":
    """Draw the mean of the best 1 - alpha of the trials over alpha (CVaR), with its band.

    Parameters are those of `plot_quantiles`.
    """
    return draw(best_chart(answer, task), ax)


def plot_tuning(
    answer: Performance, ax: "Axes | None" = None, *, task: str | None = None
) -> "Axes":
    """Draw how good the best of k trials is, over k, with its band.

    Parameters are those of `plot_quantiles`.
    """
    return draw(tuning_chart(answer, task), ax)


def plot_shift(
    answer: Performance,
    one: str,
    other: str,
    ax: "Axes | None" = None,
    *,
    task: str | None = None,
) -> "Axes":
    """Draw one algorithm's quantiles minus another's, with the band of the difference."""
    chart = shift_chart(answer, one, other, task)
    return draw(chart, ax)


def plot_profiles(answer: Performance, ax: "Axes | None" = None) -> "Axes":
    """Draw which share of the trials passes each score, all tasks counting alike."""
    return draw(profile_chart(answer), ax)


def plot_quantiles_by_task(answer: Performance) -> "Figure":
    """Draw one panel per task, each as `plot_quantiles` draws it.

    Where some algorithms are the tuned ones of others ("svm tuned" of "svm"), they get a
    row of their own below the untuned, in the same colours.
    """
    must_be(answer, Performance, "performance")
    rows = _rows(answer)
    cells = [(row, task) for row in rows for task in answer.tasks]
    charts = [_quantiles(answer, task, rows[row]) for row, task in cells]
    figure, axes = draw_grid(charts, len(answer.tasks), is_one_scale=True)
    for ax, chart, (row, task) in zip(axes, charts, cells, strict=True):
        if row:
            title_axes(ax, f"{chart.title}, {row}")
        if task != answer.tasks[0] and len(chart.series) == len(rows[row]):
            ax.legend().remove()  # one legend, in the first panel, serves all
    if current().is_measured:
        legend_above(figure.axes)
    return figure


def _rows(answer: Performance) -> dict[str, list[_Curve]]:
    """Return the rows of panels: heading to the curves in it."""
    names = _algorithms(answer)
    pairs = tuned_pairs(names)
    if not pairs:
        return {"": [_Curve(name, look=place) for place, name in enumerate(names)]}
    untuned = [name for name in names if name not in pairs.values()]
    return {
        "untuned": [_Curve(name, look=place) for place, name in enumerate(untuned)],
        "tuned": [_Curve(t, name, untuned.index(name)) for name, t in pairs.items()],
    }
