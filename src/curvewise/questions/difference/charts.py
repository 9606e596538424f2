"""Pictures of `Difference`: the lines, where they differ, and what chance would do."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.figures.chart import Bar, Chart, Mark, Series, no_band, without_band
from curvewise.figures.draw import Axes, Figure, draw, draw_grid
from curvewise.metrics import Floats
from curvewise.questions.base import must_be
from curvewise.questions.difference import Difference
from curvewise.questions.difference.fit import LinePair, LineTask
from curvewise.questions.lead import ranked
from curvewise.questions.sentences import on
from curvewise.stats.interval import CurveBand
from curvewise.text import count, percent, short_names

Effect: TypeAlias = Literal["algorithm", "interaction"]
_TESTS: dict[Effect, str] = {"algorithm": "height", "interaction": "shape"}
_BINS, _MANY = 60, 1000
_MOST_LETTERS = 30  # of an algorithm in the name of a pair
# Faint lines of one algorithm, and of all on a chart: a thousand are a pile of one colour
# on paper, and megabytes on a page. And those of all tasks together.
_MOST_OF_ONE, _MOST_LINES, _MOST_OF_ALL = 100, 200, 2000


def lines_chart(answer: Difference, task: str | None = None) -> Chart:
    """Return every line, and the mean of each algorithm with its band."""
    result = _of(answer, task)
    steps = result.lines.steps
    room = min(_MOST_LINES, _MOST_OF_ALL // len(answer.tasks))
    most = max(min(_MOST_OF_ONE, room // len(result.lines)), 1)
    series = [
        Series(f"{name}, a line", steps, line, *no_band(steps), look, is_faint=True)
        for look, (name, lines) in enumerate(result.lines.items())
        for line in _some(lines, most)
    ]
    for look, (name, band) in enumerate(result.means.items()):
        series.append(Series(name, steps, band.value, band.lower, band.upper, look))
    thin = "every line, that is every run"
    if max(map(len, result.lines.values())) > most:
        thin = (
            f"at most {most} lines, that is runs, of each algorithm, evenly chosen from "
            f"the one with the lowest mean to the one with the highest"
        )
    banded = any(curve.has_band for curve in series)
    meant = answer.metric.on(result.task)
    up = 1 if meant.direction is None else meant.sign
    mean = {name: up * float(band.value.mean()) for name, band in result.means.items()}
    bands = (
        f", with {percent(1 - answer.level)} bands, each at all its steps at once. Bands "
        f"that overlap do not say that algorithms are alike; see where they differ"
    )
    return Chart(
        title=f"Lines{on(result.task)}",
        x_label="step",
        y_label=answer.metric.label,
        series=tuple(series),
        caption=f"Thin: {thin}. Thick: the means of all lines{bands if banded else ''}.",
        axis="linear",
        shape="line",
        leaders=ranked(mean),
    )


# --------------------------------------------------------------------------------------
# Which pairs of algorithms a picture of differences shows, and what it then says.


PairsLike: TypeAlias = Sequence[tuple[str, str]]


def where_chart(
    answer: Difference, task: str | None = None, pairs: PairsLike | None = None
) -> Chart:
    """Return the difference of each pair of mean curves, and where it is no chance.

    Of more than ten pairs, those that were found to differ come first, and then those
    with the largest difference for its band, unless `pairs` says which.
    """
    result = _of(answer, task)
    shown = (
        _chosen_pairs(result) if pairs is None else _wanted_pairs(answer, result, pairs)
    )
    names = short_names(result.algorithms, _MOST_LETTERS)
    all_of_them = len(result.pairs)
    part = f", {len(shown)} of {all_of_them} pairs" if len(shown) < all_of_them else ""
    series, bars = [], []
    # The first is on top, as in a legend.
    row = sum(bool(pair.stretches) for pair in shown)
    for look, pair in enumerate(shown):
        name = f"{names[pair.first]} - {names[pair.second]}"
        band = pair.difference(result)
        series.append(Series(name, band.at, band.value, band.lower, band.upper))
        row -= bool(pair.stretches)
        for first, last in pair.stretches:
            bars.append(Bar(*_drawn(first, last, result.lines.steps), look, row, name))
    return Chart(
        title=f"Differences{on(result.task)}{part}",
        x_label="step",
        y_label=f"difference in {answer.metric.label}",
        series=tuple(series),
        caption=_caption(answer, result, shown),
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
    result = _of(answer, task)
    if effect not in _TESTS:
        raise CurvewiseError(
            f"effect is {effect!r}. Pass 'algorithm' (height) or 'interaction' (shape).",
            argument="effect",
            value=effect,
        )
    test = result.anova.tests[effect]
    both = {"shuffles": test.shuffles, "flips": test.flips}
    by_kind = {kind: null for kind, null in both.items() if null is not None}
    kind = max(by_kind, key=lambda kind: by_kind[kind].p)
    draws = by_kind.pop(kind)
    critical = draws.critical_value(answer.level)
    marks = [Mark(draws.observed, "observed")]
    marks.append(Mark(critical, f"critical at {answer.level:g}"))
    marks = [mark for mark in marks if math.isfinite(mark.x)]
    # Beyond the last mark there is room for its label.
    reach = max([_top(draws.values), *(1.08 * mark.x for mark in marks)]) or 1.0
    series = [_histogram(kind, draws.values, reach)]
    if result.anova.null == "joint":
        series.append(_textbook(result, effect, reach))
    verdict = f"p = {draws.p:.2g} by {kind}."
    for name, null in by_kind.items():
        verdict = f"{verdict[:-1]} and {null.p:.2g} by {name}: the larger one counts."
    takes = f"what it takes at level {answer.level:g}"
    if critical == math.inf:
        takes = f"that no value could be enough at level {answer.level:g}"
    endless = " The one observed is infinite." if math.isinf(draws.observed) else ""
    return Chart(
        title=f"Chance and {_TESTS[effect]}{on(result.task)}",
        x_label=_statistic(result, effect, kind),
        y_label="density",
        series=tuple(series),
        caption=f"What {draws.number:,} {kind} of whole lines make of the statistic if "
        f"algorithms do not matter, what it was, and {takes}: {test.statistic}.{endless} "
        f"{verdict}",
        axis="linear",
        marks=tuple(marks),
    )


def shares_chart(answer: Difference, task: str | None = None) -> Chart:
    """Return how much of the effect has shown by each step, and what chance would."""
    result = _of(answer, task)
    shares, steps = result.shares, result.lines.steps
    return Chart(
        title=f"When the difference shows{on(result.task)}",
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
    return draw(lines_chart(answer, task), ax)


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
    return draw(chart, ax)


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
    return draw(shares_chart(answer, task), ax)


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
    return draw(null_chart(answer, effect, task), ax)


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
    return draw_grid(charts, len(charts))[0]


def _of(answer: Difference, task: str | None) -> LineTask:
    must_be(answer, Difference, "difference")
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


def _statistic(result: LineTask, effect: Effect, kind: str) -> str:
    """Return what the values of the draws are."""
    if result.anova.noise == "equal":
        return "F"
    if effect == "interaction":
        return "ANOVA-type statistic"
    if kind == "flips":
        return "Welch's F"
    two = len(result.algorithms) == 2
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


def _textbook(result: LineTask, effect: Effect, top: float) -> Series:
    """Return what a textbook's F makes of the same bins."""
    from scipy.special import fdtr

    df, edges = result.anova.anova.df, np.linspace(0, top, _BINS + 1)
    below = fdtr(df[effect], df["error"], edges)
    return _bins("F of a textbook", edges, np.diff(below))


def _bins(name: str, edges: Floats, shares: Floats) -> Series:
    middle = (edges[1:] + edges[:-1]) / 2
    return Series(name, middle, shares / np.diff(edges), *no_band(middle))


_MOST_PAIRS = 10  # on one pair of axes


class _ShownPair(NamedTuple):
    """A pair as it is drawn: first minus second, which may be turned round."""

    pair: LinePair
    first: str
    second: str

    @property
    def stretches(self) -> tuple[tuple[float, float], ...]:
        """Return the steps, from where to where, at which the pair differs."""
        return () if self.pair.where is None else self.pair.where.stretches

    def difference(self, result: LineTask) -> CurveBand:
        """Return the difference of the mean curves; without a band where there is none."""
        band = self.pair.band
        if band is None:
            one, other = result.means[self.pair.one], result.means[self.pair.other]
            none = without_band(result.lines.steps)
            value = one.value - other.value
            band = CurveBand(result.lines.steps, value, none, none, "", "no band")
        if self.first == self.pair.one:
            return band
        value, lower, upper = -band.value, -band.upper, -band.lower
        return CurveBand(band.at, value, lower, upper, band.estimand, band.guarantee)


def _chosen_pairs(result: LineTask) -> list[_ShownPair]:
    """Return the pairs to draw, in the order of the answer."""
    places = sorted(
        range(len(result.pairs)), key=lambda i: _interest(result.pairs[i]), reverse=True
    )
    chosen = [result.pairs[i] for i in sorted(places[:_MOST_PAIRS])]
    return [_ShownPair(pair, pair.one, pair.other) for pair in chosen]


def _interest(pair: LinePair) -> tuple[bool, bool, float]:
    """Return what a pair has to show: steps, any finding, a difference for its band."""
    size = abs(pair.effects.difference.value)
    if pair.band is not None:
        half = (pair.band.upper - pair.band.lower) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            size = float(np.nan_to_num(np.abs(pair.band.value) / half).max())
    return _is_seen(pair), _is_found(pair), size


def _is_seen(pair: LinePair) -> bool:
    return pair.where is not None and bool(pair.where.different.any())


def _is_found(pair: LinePair) -> bool:
    return _is_seen(pair) or "rejected" in pair.decisions.values()


def _wanted_pairs(
    answer: Difference, result: LineTask, pairs: PairsLike
) -> list[_ShownPair]:
    """Return the pairs that were asked for, each the way round that it was."""
    if not (isinstance(pairs, tuple | list) and pairs and all(map(_is_pair, pairs))):
        raise CurvewiseError(
            f"pairs is {pairs!r}. Pass pairs of names, such as [('a', 'b'), ('a', 'c')].",
            argument="pairs",
            value=pairs,
        )
    return [
        _ShownPair(answer.pair(one, other, result.task), one, other)
        for one, other in pairs
    ]


def _is_pair(two: object) -> bool:
    return isinstance(two, tuple | list) and len(two) == 2


def _caption(answer: Difference, result: LineTask, shown: Sequence[_ShownPair]) -> str:
    """Return what the picture of differences shows, and what it does not."""
    several = len(result.pairs) > 1
    parts = ["The difference of the mean curves, first minus second"]
    if any(shown_pair.pair.band is not None for shown_pair in shown):
        sharing = " and for all pairs" if several else ""
        parts.append(
            f", with {percent(1 - answer.level)} bands at all steps{sharing} at once"
        )
    parts.append(". ")
    if any(shown_pair.stretches for shown_pair in shown):
        parts.append(
            "Bars: the steps or windows at which the pair was found to differ. They may "
            "reach beyond where a band leaves out 0, as they are found by a sharper test."
        )
    elif any(shown_pair.pair.where is not None for shown_pair in shown):
        parts.append("At no step or window was a difference found.")
    untold = sum(shown_pair.pair.where is None for shown_pair in shown)
    if untold == len(shown):
        parts.append("There are too few lines to tell where they differ.")
    elif untold:
        few = f" Of {count(untold, 'pair')} there are too few lines to tell where."
        parts.append(few)
    pairs = [shown_pair.pair for shown_pair in shown]
    if rest := [pair for pair in result.pairs if pair not in pairs]:
        differ = sum(map(_is_found, rest))
        parts.append(
            f" {len(result.pairs) - len(rest)} of {len(result.pairs)} pairs; of those left "
            f"out, {differ or 'none'} {'was' if differ == 1 else 'were'} found to differ."
        )
    return "".join(parts)
