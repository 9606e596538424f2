"""Pictures of `Difference`: the lines, where they differ, and what chance would do."""

from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from curvewise._text import percent
from curvewise.analyses.difference import Difference, LinePair, LineTask
from curvewise.errors import CurvewiseError
from curvewise.figures.draw import draw, new_axes
from curvewise.figures.series import Bar, Chart, Mark, Series, without_band
from curvewise.metrics import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Effect: TypeAlias = Literal["algorithm", "interaction"]
_TESTS: dict[Effect, str] = {"algorithm": "level", "interaction": "shape"}
_BINS = 60
_MOST_PAIRS = 10  # on one pair of axes


def lines_chart(answer: Difference, task: str | None = None) -> Chart:
    """Return every line, and the mean of each algorithm with its band."""
    found = _of(answer, task)
    steps = found.lines.steps
    series = [
        Series(f"{name}, a line", steps, line, *_no_band(steps), look, is_faint=True)
        for look, (name, own) in enumerate(found.lines.items())
        for line in own
    ]
    for look, (name, band) in enumerate(found.means.items()):
        series.append(Series(name, steps, band.value, band.lower, band.upper, look))
    return Chart(
        title=f"Lines on {found.task}",
        x_label="step",
        y_label=answer.metric.label,
        series=tuple(series),
        caption=f"Thin: every line, that is every run. Thick: their means, with "
        f"{percent(1 - answer.level)} bands, each at all its steps at once. Bands that "
        f"overlap do not say that algorithms are alike; see where they differ.",
        axis="linear",
        shape="line",
    )


def where_chart(answer: Difference, task: str | None = None) -> Chart:
    """Return the difference of each pair of mean curves, and where it is no chance."""
    found = _of(answer, task)
    pairs = found.pairs[:_MOST_PAIRS]
    left_out = len(found.pairs) - len(pairs)
    more = f" The first {len(pairs)} pairs of {len(found.pairs)}." if left_out else ""
    return Chart(
        title=f"Where they differ on {found.task}",
        x_label="step",
        y_label=f"difference in {answer.metric.label}",
        series=tuple(_difference(pair, found) for pair in pairs),
        caption=f"The difference of the mean curves, first minus second, with "
        f"{percent(1 - answer.level)} bands at all steps and for all pairs at once. Bars: "
        f"the steps or windows at which the pair was found to differ. They may reach "
        f"beyond where a band leaves out 0, as they are found by a sharper test.{more}",
        axis="linear",
        shape="line",
        level=0.0,
        bars=tuple(
            Bar(*_drawn(first, last, found.lines.steps), look, look, _name(pair))
            for look, pair in enumerate(pairs)
            if pair.where is not None
            for first, last in pair.where.stretches
        ),
    )


def null_chart(
    answer: Difference, effect: Effect = "algorithm", task: str | None = None
) -> Chart:
    """Return what chance makes of the statistic of an effect, and what it was."""
    found = _of(answer, task)
    if effect not in _TESTS:
        raise CurvewiseError(
            f"effect is {effect!r}. Pass 'algorithm' (level) or 'interaction' (shape)."
        )
    test = found.anova.tests[effect]
    kind: Literal["shuffles", "flips"] = (
        "flips" if test.shuffles is None else "shuffles"
    )
    drawn = test.draws[0]
    values, observed = drawn.values, drawn.observed
    critical = found.anova.critical_value(effect, of=kind)
    marks = [Mark(observed, "observed")]
    if np.isfinite(critical):
        marks.append(Mark(critical, f"critical at {answer.level:g}"))
    top = float(np.quantile(values[np.isfinite(values)], 0.999))
    reach = max(m.x for m in marks if np.isfinite(m.x)) if marks else top
    series = [_histogram(kind, values, max(top, reach))]
    if found.anova.noise == "equal":
        series.append(_textbook(found, effect, max(top, reach)))
    return Chart(
        title=f"Chance and {_TESTS[effect]} on {found.task}",
        x_label=_statistic(found, effect),
        y_label="density",
        series=tuple(series),
        caption=f"What {drawn.number:,} {kind} of whole lines make of the statistic if "
        f"algorithms do not matter, what it was, and what it takes at level "
        f"{answer.level:g}: {test.statistic}. p = {test.p:.2g}.",
        axis="linear",
        marks=tuple(m for m in marks if np.isfinite(m.x)),
    )


def shares_chart(answer: Difference, task: str | None = None) -> Chart:
    """Return how much of the effect has shown by each step, and what chance would."""
    found = _of(answer, task)
    shares, steps = found.shares, found.lines.steps
    return Chart(
        title=f"When the difference shows on {found.task}",
        x_label="step",
        y_label="share of the effect so far",
        series=(
            Series("these lines", steps, shares.cumulated, *_no_band(steps)),
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

    Parameters
    ----------
    answer : Difference
    ax : matplotlib.axes.Axes, optional
        New ones if left out.
    task : str, optional
        Needed where the answer has several.
    """
    return draw(lines_chart(answer, task), ax or new_axes())


def plot_where(
    answer: Difference, ax: "Axes | None" = None, *, task: str | None = None
) -> "Axes":
    """Draw the difference of each pair of algorithms, and the steps at which they differ.

    Parameters
    ----------
    answer : Difference
    ax : matplotlib.axes.Axes, optional
        New ones if left out.
    task : str, optional
        Needed where the answer has several.
    """
    return draw(where_chart(answer, task), ax or new_axes())


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
    return draw(shares_chart(answer, task), ax or new_axes())


def plot_null(answer: Difference, *, task: str | None = None) -> "Figure":
    """Draw what chance makes of both statistics, and what they were, side by side.

    Parameters
    ----------
    answer : Difference
    task : str, optional
        Needed where the answer has several.
    """
    charts = [null_chart(answer, effect, task) for effect in _TESTS]
    figure = new_axes(columns=2).figure
    for chart, ax in zip(charts, figure.axes, strict=True):
        draw(chart, ax)
    return figure  # type: ignore[return-value]


def _of(answer: Difference, task: str | None) -> LineTask:
    if not isinstance(answer, Difference):
        raise CurvewiseError(
            f"A {type(answer).__name__} came. Pass an answer of curvewise.difference(...)."
        )
    return answer.of(task)


def _statistic(found: LineTask, effect: Effect) -> str:
    """Return what the values of the draws are."""
    if found.anova.noise == "equal":
        return "F"
    if effect == "interaction":
        return "ANOVA-type statistic"
    two = len(found.algorithms) == 2
    return "Welch's t as a normal deviate" if two else "-log p of Welch's F"


def _no_band(steps: Floats) -> tuple[Floats, Floats]:
    return without_band(steps), without_band(steps)


def _name(pair: LinePair) -> str:
    return f"{pair.one} - {pair.other}"


def _difference(pair: LinePair, found: LineTask) -> Series:
    steps, band = found.lines.steps, pair.band
    if band is not None:
        return Series(_name(pair), steps, band.value, band.lower, band.upper)
    means = found.means[pair.one].value - found.means[pair.other].value
    return Series(_name(pair), steps, means, *_no_band(steps))


def _drawn(first: float, last: float, steps: Floats) -> tuple[float, float]:
    """Return a stretch as a bar: a single step is as wide as half the way to the next."""
    if last > first:
        return first, last
    half = min(b - a for a, b in pairwise(steps)) / 4
    return first - half, last + half


def _histogram(name: str, values: Floats, top: float) -> Series:
    edges = np.linspace(0, max(top, 1e-12), _BINS + 1)
    counts, _ = np.histogram(values, edges)
    middle = (edges[1:] + edges[:-1]) / 2
    density = counts / len(values) / (edges[1] - edges[0])
    return Series(name, middle, density, *_no_band(middle))


def _textbook(found: LineTask, effect: Effect, top: float) -> Series:
    """Return the density of the F that a textbook takes."""
    from scipy.stats import f

    table = found.anova.anova
    x = np.linspace(0, top, 4 * _BINS + 1)[1:]
    y = f.pdf(x, table.df[effect], table.df["error"])
    return Series("F of a textbook", x, y, *_no_band(x))
