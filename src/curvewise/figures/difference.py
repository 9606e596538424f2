"""Pictures of `Difference`: the lines, where they differ, and what chance would do."""

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from curvewise._text import percent, short_names
from curvewise.analyses._naming import on
from curvewise.analyses.difference import Difference, LineTask
from curvewise.errors import CurvewiseError
from curvewise.figures._pairs import (
    PairsLike,
    asked_pairs,
    chosen_pairs,
    what_was_found,
)
from curvewise.figures.draw import draw, new_axes
from curvewise.figures.series import (
    Bar,
    Chart,
    Mark,
    Series,
    no_band,
    without_band,
)
from curvewise.metrics import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Effect: TypeAlias = Literal["algorithm", "interaction"]
_TESTS: dict[Effect, str] = {"algorithm": "height", "interaction": "shape"}
_BINS, _MANY = 60, 1000
_MOST_LETTERS = 30  # of an algorithm in the name of a pair
# Faint lines of one algorithm, and of all on a chart: a thousand are a pile of one colour
# on paper, and megabytes on a page. And those of all tasks together.
_MOST_OF_ONE, _MOST_LINES, _MOST_OF_ALL = 100, 200, 2000


def lines_chart(answer: Difference, task: str | None = None) -> Chart:
    """Return every line, and the mean of each algorithm with its band."""
    found = _of(answer, task)
    steps = found.lines.steps
    room = min(_MOST_LINES, _MOST_OF_ALL // len(answer.tasks))
    most = max(min(_MOST_OF_ONE, room // len(found.lines)), 1)
    series = [
        Series(f"{name}, a line", steps, line, *no_band(steps), look, is_faint=True)
        for look, (name, own) in enumerate(found.lines.items())
        for line in _some(own, most)
    ]
    for look, (name, band) in enumerate(found.means.items()):
        series.append(Series(name, steps, band.value, band.lower, band.upper, look))
    thin = "every line, that is every run"
    if max(map(len, found.lines.values())) > most:
        thin = (
            f"at most {most} lines, that is runs, of each algorithm, evenly chosen from "
            f"the one with the lowest mean to the one with the highest"
        )
    banded = any(one.has_band for one in series)
    meant = answer.metric.on(found.task)
    up = 1 if meant.direction is None else meant.sign
    mean = {name: up * float(band.value.mean()) for name, band in found.means.items()}
    bands = (
        f", with {percent(1 - answer.level)} bands, each at all its steps at once. Bands "
        f"that overlap do not say that algorithms are alike; see where they differ"
    )
    return Chart(
        title=f"Lines{on(found.task)}",
        x_label="step",
        y_label=answer.metric.label,
        series=tuple(series),
        caption=f"Thin: {thin}. Thick: the means of all lines{bands if banded else ''}.",
        axis="linear",
        shape="line",
        leaders=tuple(sorted(mean, key=lambda name: -mean[name])),
    )


def where_chart(
    answer: Difference, task: str | None = None, pairs: PairsLike | None = None
) -> Chart:
    """Return the difference of each pair of mean curves, and where it is no chance.

    Of more than ten pairs, those that were found to differ come first, and then those
    with the largest difference for its band, unless `pairs` says which.
    """
    found = _of(answer, task)
    shown = chosen_pairs(found) if pairs is None else asked_pairs(answer, found, pairs)
    names = short_names(found.algorithms, _MOST_LETTERS)
    all_of_them = len(found.pairs)
    part = f", {len(shown)} of {all_of_them} pairs" if len(shown) < all_of_them else ""
    series, bars = [], []
    row = sum(bool(one.stretches) for one in shown)  # the first on top, as in a legend
    for look, one in enumerate(shown):
        name = f"{names[one.first]} - {names[one.second]}"
        band = one.difference(found)
        series.append(Series(name, band.at, band.value, band.lower, band.upper))
        row -= bool(one.stretches)
        for first, last in one.stretches:
            bars.append(Bar(*_drawn(first, last, found.lines.steps), look, row, name))
    return Chart(
        title=f"Differences{on(found.task)}{part}",
        x_label="step",
        y_label=f"difference in {answer.metric.label}",
        series=tuple(series),
        caption=what_was_found(answer, found, shown),
        axis="linear",
        shape="line",
        level=0.0,
        bars=tuple(bars),
    )


def null_chart(
    answer: Difference, effect: Effect = "algorithm", task: str | None = None
) -> Chart:
    """Return what chance makes of the statistic of an effect, and what it was.

    Of shuffles and flips those with the larger p are shown, which is the one that counts.
    """
    found = _of(answer, task)
    if effect not in _TESTS:
        raise CurvewiseError(
            f"effect is {effect!r}. Pass 'algorithm' (height) or 'interaction' (shape).",
            argument="effect",
            value=effect,
        )
    test = found.anova.tests[effect]
    both = {"shuffles": test.shuffles, "flips": test.flips}
    made = {kind: draws for kind, draws in both.items() if draws is not None}
    kind = max(made, key=lambda one: made[one].p)
    drawn = made.pop(kind)
    critical = drawn.critical_value(answer.level)
    marks = [Mark(drawn.observed, "observed")]
    marks.append(Mark(critical, f"critical at {answer.level:g}"))
    marks = [mark for mark in marks if math.isfinite(mark.x)]
    # Beyond the last mark there is room for its label.
    reach = max([_top(drawn.values), *(1.08 * mark.x for mark in marks)]) or 1.0
    series = [_histogram(kind, drawn.values, reach)]
    if found.anova.null == "joint":
        series.append(_textbook(found, effect, reach))
    told = f"p = {drawn.p:.2g} by {kind}."
    for name, one in made.items():
        told = f"{told[:-1]} and {one.p:.2g} by {name}: the larger one counts."
    takes = f"what it takes at level {answer.level:g}"
    if critical == math.inf:
        takes = f"that no value could be enough at level {answer.level:g}"
    endless = " The one observed is infinite." if math.isinf(drawn.observed) else ""
    return Chart(
        title=f"Chance and {_TESTS[effect]}{on(found.task)}",
        x_label=_statistic(found, effect, kind),
        y_label="density",
        series=tuple(series),
        caption=f"What {drawn.number:,} {kind} of whole lines make of the statistic if "
        f"algorithms do not matter, what it was, and {takes}: {test.statistic}.{endless} "
        f"{told}",
        axis="linear",
        marks=tuple(marks),
    )


def shares_chart(answer: Difference, task: str | None = None) -> Chart:
    """Return how much of the effect has shown by each step, and what chance would."""
    found = _of(answer, task)
    shares, steps = found.shares, found.lines.steps
    return Chart(
        title=f"When the difference shows{on(found.task)}",
        x_label="step",
        y_label="share of the effect so far",
        series=(
            Series("these lines", steps, shares.cumulated, *no_band(steps)),
            Series(
                "chance",
                steps,
                without_band(steps),  # chance has no one curve
                shares.cumulated_lower,
                shares.cumulated_upper,
                6,
            ),
        ),
        caption="Which share of all that algorithms do to the score, in squares, has shown "
        "by each step. Shaded: what shuffled lines make of it, at all steps at once. Above "
        "it the difference comes early, below it late.",
        axis="linear",
        shape="line",
    )


def plot_lines(
    answer: Difference, ax: "Axes | None" = None, *, task: str | None = None
) -> "Axes":
    """Draw every line, and the mean curve of each algorithm with its band.

    Of more than two hundred lines, or a hundred of an algorithm, only so many are drawn,
    evenly chosen by their means; the thick curve is the mean of all.

    Parameters
    ----------
    answer : Difference
    ax : matplotlib.axes.Axes, optional
        New ones if left out.
    task : str, optional
        Needed where the answer has several.
    """
    return draw(lines_chart(answer, task), new_axes() if ax is None else ax)


def plot_where(
    answer: Difference,
    ax: "Axes | None" = None,
    *,
    task: str | None = None,
    pairs: PairsLike | None = None,
) -> "Axes":
    """Draw the difference of each pair of algorithms, and the steps at which they differ.

    Parameters
    ----------
    answer : Difference
    ax : matplotlib.axes.Axes, optional
        New ones if left out.
    task : str, optional
        Needed where the answer has several.
    pairs : sequence of (str, str), optional
        Which ones, first minus second. If left out, all up to ten; of more, those that
        were found to differ come first.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.difference(cw.example("curves"))
    >>> plot_where(answer, task="hill", pairs=[("fast", "slow")]).get_title()
    'Differences on hill, 1 of 3 pairs'
    """
    chart = where_chart(answer, task, pairs)
    return draw(chart, new_axes() if ax is None else ax)


def plot_effect_shares(
    answer: Difference, ax: "Axes | None" = None, *, task: str | None = None
) -> "Axes":
    """Draw how much of what algorithms do to the score has shown by each step.

    Parameters
    ----------
    answer : Difference
    ax : matplotlib.axes.Axes, optional
        New ones if left out.
    task : str, optional
        Needed where the answer has several.
    """
    return draw(shares_chart(answer, task), new_axes() if ax is None else ax)


def plot_null(
    answer: Difference,
    ax: "Axes | None" = None,
    *,
    effect: Effect = "algorithm",
    task: str | None = None,
) -> "Axes":
    """Draw what chance makes of the statistic of an effect, and what it was.

    Parameters
    ----------
    answer : Difference
    ax : matplotlib.axes.Axes, optional
        New ones if left out.
    effect : {"algorithm", "interaction"}
        Height or shape.
    task : str, optional
        Needed where the answer has several.

    See Also
    --------
    plot_nulls : both effects side by side.
    """
    return draw(null_chart(answer, effect, task), new_axes() if ax is None else ax)


def plot_nulls(answer: Difference, *, task: str | None = None) -> "Figure":
    """Draw what chance makes of both statistics, and what they were, side by side.

    Parameters
    ----------
    answer : Difference
    task : str, optional
        Needed where the answer has several.

    Returns
    -------
    matplotlib.figure.Figure
    """
    charts = [null_chart(answer, effect, task) for effect in _TESTS]
    figure: Figure = new_axes(columns=2).figure  # type: ignore[assignment]
    for chart, ax in zip(charts, figure.axes, strict=True):
        draw(chart, ax)
    return figure


def _of(answer: Difference, task: str | None) -> LineTask:
    if not isinstance(answer, Difference):
        raise CurvewiseError(
            f"A {type(answer).__name__} came. Pass an answer of curvewise.difference(...)."
        )
    return answer.of(task)


# --- lines -------------------------------------------------------------------------------


def _some(lines: Floats, most: int) -> Floats:
    """Return at most so many lines, evenly chosen from the lowest to the highest mean."""
    if len(lines) <= most:
        return lines
    by_mean = np.argsort(lines.mean(axis=1), kind="stable")
    at = np.linspace(0, len(lines) - 1, most).round().astype(np.intp)
    return lines[np.sort(by_mean[at])]


def _drawn(first: float, last: float, steps: Floats) -> tuple[float, float]:
    """Return a stretch as a bar: a single step is as wide as half the way to the next."""
    if last > first:
        return first, last
    half = min(b - a for a, b in pairwise(steps)) / 4
    return first - half, last + half


# --- chance ------------------------------------------------------------------------------


def _statistic(found: LineTask, effect: Effect, kind: str) -> str:
    """Return what the values of the draws are."""
    if found.anova.noise == "equal":
        return "F"
    if effect == "interaction":
        return "ANOVA-type statistic"
    if kind == "flips":
        return "Welch's F"
    two = len(found.algorithms) == 2
    return "Welch's t as a normal deviate" if two else "-log p of Welch's F"


def _top(values: Floats) -> float:
    """Return up to where values are drawn: all but the last of very many."""
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return 0.0
    return float(np.quantile(finite, 0.99) if len(finite) > _MANY else finite.max())


def _histogram(name: str, values: Floats, top: float) -> Series:
    edges = np.linspace(0, top, _BINS + 1)
    counts, _ = np.histogram(values, edges)
    return _bins(name, edges, counts / len(values))


def _textbook(found: LineTask, effect: Effect, top: float) -> Series:
    """Return what a textbook's F makes of the same bins."""
    from scipy.special import fdtr

    df, edges = found.anova.anova.df, np.linspace(0, top, _BINS + 1)
    below = fdtr(df[effect], df["error"], edges)
    return _bins("F of a textbook", edges, np.diff(below))


def _bins(name: str, edges: Floats, shares: Floats) -> Series:
    middle = (edges[1:] + edges[:-1]) / 2
    return Series(name, middle, shares / np.diff(edges), *no_band(middle))
