"""Pictures of `Learning`: error against data, what more of it buys, where curves cross."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.figures.chart import Bar, Chart, Mark, Series, no_band
from curvewise.figures.draw import Axes, draw
from curvewise.questions.base import must_be
from curvewise.questions.lead import ranked
from curvewise.questions.learning import Learning
from curvewise.questions.learning.fit import CurveFit, CurvePair, CurveTask
from curvewise.questions.learning.forecasts import SizesNeeded
from curvewise.questions.sentences import on
from curvewise.stats.validation import is_number, one_of
from curvewise.text import percent, short_names, shown, step

Scale: TypeAlias = Literal["root", "log"]
_POINTS = 161
_SHARES = (-0.02, 1.02)  # of probabilities: lines at 0 and 1 are seen
_BEYOND = 10.0  # times the largest size: how far a forecast is drawn
_BELOW = 5.0  # times below the lowest error: how far down logarithms are drawn
_MOST_LETTERS = 30  # of an algorithm in the name of a pair
_IN_LEGEND = 16  # and in a legend that says more of it


def learning_chart(
    answer: Learning, task: str | None = None, scale: Scale = "root"
) -> Chart:
    """Return the power law of each algorithm with its band, and what was observed."""
    result = _of(answer, task)
    one_of("scale", scale, ("root", "log"))
    series: list[Series] = []
    names = short_names(result.algorithms, _IN_LEGEND)
    called = {fit.algorithm: _legend(fit, names[fit.algorithm]) for fit in result.fits}
    for look, fit in enumerate(result.fits):
        n = np.geomspace(fit.measured.sizes[0], fit.law.extrapolation_limit, _POINTS)
        band = fit.band(n, answer.confidence)
        name = called[fit.algorithm]
        series.append(Series(name, n, band.value, band.lower, band.upper, look))
    series += _observed(result)
    limit = max(fit.law.extrapolation_limit for fit in result.fits)
    return Chart(
        title=f"Error and data{on(result.task)}",
        x_label="training examples, drawn at n^(-1/2)"
        if scale == "root"
        else "training examples",
        y_label=answer.scale.label,
        series=tuple(series),
        caption=f"Circles: mean of the runs at each size. Curves: power laws, with error "
        f"and data-reliance at {step(result.size)} examples, and "
        f"{percent(answer.confidence)} bands at all sizes at once, which hold for curves "
        f"that are power laws. Dashed: four times the data, as far as one should go.",
        axis=scale,
        shape="line",
        marks=(Mark(limit, "4 times the data"),),
        y_axis="log" if scale == "log" else "linear",
        ticks=_ticks(result, limit),
        y_range=_log_range(result, series) if scale == "log" else None,
        leaders=tuple(called[name] for name in _leaders(result)),
    )


def forecast_chart(
    answer: Learning, task: str | None = None, to: float | None = None
) -> Chart:
    """Return what the curve of each algorithm may do beyond what was observed."""
    result = _of(answer, task)
    largest = max(fit.largest for fit in result.fits)
    if to is not None and not (is_number(to) and to > largest):
        raise CurvewiseError(
            f"to is {to!r}. Pass a size beyond the largest observed one, {step(largest)}.",
            argument="to",
            value=to,
        )
    far = _BEYOND * largest if to is None else float(to)
    series: list[Series] = []
    for look, fit in enumerate(result.fits):
        n = np.geomspace(fit.largest, far, _POINTS)
        band = fit.forecast.interval(n, answer.confidence)
        series.append(
            Series(fit.algorithm, n, band.value, band.lower, band.upper, look)
        )
        measured = fit.measured
        name = f"{fit.algorithm}, observed"
        series.append(
            Series(
                name,
                measured.sizes,
                measured.means,
                *no_band(measured.sizes),
                look,
                is_faint=True,
            )
        )
    series += _observed(result)
    return Chart(
        title=f"What more data would buy{on(result.task)}",
        x_label="training examples",
        y_label=answer.scale.label,
        series=tuple(series),
        caption=f"Circles: mean of the runs at each size. Beyond the largest: what the "
        f"error may be, {percent(answer.confidence)} at each size by itself, as measured "
        f"on real curves.",
        axis="log",
        shape="line",
        marks=(Mark(largest, "largest size so far"),),
        leaders=_leaders(result),
    )


def size_for_chart(answer: SizesNeeded, task: str | None = None) -> Chart:
    """Return how likely an error is reached with so much data, for each algorithm."""
    must_be(answer, SizesNeeded, "learning(...).size_for")
    needed = answer.of(task)
    series = []
    for one in needed:
        n = one.size.sizes
        series.append(
            Series(one.algorithm, n, one.size.chances, *no_band(n))  # pointwise
        )
    largest = max(float(one.size.forecast.sizes[-1]) for one in needed)
    likely = {one.name: float(one.y.max()) for one in series}
    return Chart(
        title=f"Data for an error of {shown(answer.error)}{on(needed[0].task)}",
        x_label="training examples",
        y_label=f"probability that {answer.label} is at most {shown(answer.error)}",
        series=tuple(series),
        caption="How likely the mean error is as low as asked for, at each size. Where a "
        "curve ends below 1, the error may never be reached.",
        axis="log",
        shape="line",
        marks=(Mark(largest, "largest size so far"),),
        level=0.5,
        y_range=_SHARES,
        leaders=ranked(likely),
    )


def crossing_chart(
    answer: Learning,
    task: str | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> Chart:
    """Return how likely the first of each pair is better, and where that is sure."""
    result = _of(answer, task)
    shown_pairs = _pairs(answer, result, pairs)
    names = short_names(result.algorithms, _MOST_LETTERS)
    series, bars, marks = [], [], []
    row = len(shown_pairs)
    for look, pair in enumerate(shown_pairs):
        row -= 1
        name = f"{names[pair.one]} better than {names[pair.other]}"
        crossing = pair.crossing
        series.append(
            Series(
                name, crossing.sizes, crossing.chance, *no_band(crossing.sizes), look
            )
        )
        bars += [
            Bar(stretch.first, stretch.last, look, row, name)
            for stretch in crossing.stretches
            if stretch.better is not None
        ]
        if len(shown_pairs) == 1:
            marks += [Mark(one.value, "they cross") for one in crossing.at]
    part = ""
    if len(shown_pairs) < len(result.pairs):
        part = f" {len(shown_pairs)} of {len(result.pairs)} pairs are drawn."
    return Chart(
        title=f"Who is better with how much data{on(result.task)}",
        x_label="training examples",
        y_label="probability that the first is better",
        series=tuple(series),
        caption=f"Above one half the first of a pair is more likely the better one. Bars: "
        f"where one of the two is better with {percent(answer.confidence)} confidence."
        f"{part}",
        axis="log",
        shape="line",
        marks=tuple(marks),
        level=0.5,
        bars=tuple(bars),
        y_range=_SHARES,
    )


def plot_learning(
    answer: Learning,
    ax: "Axes | None" = None,
    *,
    task: str | None = None,
    scale: Scale = "root",
) -> "Axes":
    """Draw error against data: what was observed, and power laws with bands.

    Parameters
    ----------
    answer : Learning
    ax : matplotlib.axes.Axes, optional
        New ones if left out.
    task : str, optional
        Needed where the answer has several.
    scale : {"root", "log"}
        ``"root"``: size n is drawn at n^(-1/2), where a curve with exponent -0.5 is a
        straight line and unlimited data is at the left. ``"log"``: both axes are
        logarithmic.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.learning(cw.example("counts"), "error")
    >>> plot_learning(answer).get_title()
    'Error and data'
    """
    return draw(learning_chart(answer, task, scale), ax)


def plot_forecast(
    answer: Learning,
    ax: "Axes | None" = None,
    *,
    task: str | None = None,
    to: float | None = None,
) -> "Axes":
    """Draw what error to expect with more data, with its interval at each size.

    Parameters
    ----------
    answer : Learning
    ax : matplotlib.axes.Axes, optional
        New ones if left out.
    task : str, optional
        Needed where the answer has several.
    to : float, optional
        Up to which size; ten times the largest if left out.
    """
    return draw(forecast_chart(answer, task, to), ax)


def plot_size_for(
    answer: SizesNeeded, ax: "Axes | None" = None, *, task: str | None = None
) -> "Axes":
    """Draw how likely an error is reached, against the size of the training set.

    Parameters
    ----------
    answer : SizesNeeded
        What ``learning(...).size_for(error)`` returns.
    ax : matplotlib.axes.Axes, optional
        New ones if left out.
    task : str, optional
        Needed where the answer has several.
    """
    return draw(size_for_chart(answer, task), ax)


def plot_crossing(
    answer: Learning,
    ax: "Axes | None" = None,
    *,
    task: str | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> "Axes":
    """Draw how likely one algorithm is better than another, against data.

    Parameters
    ----------
    answer : Learning
    ax : matplotlib.axes.Axes, optional
        New ones if left out.
    task : str, optional
        Needed where the answer has several.
    pairs : sequence of (str, str), optional
        Which ones; all up to ten if left out.
    """
    return draw(crossing_chart(answer, task, pairs), ax)


def _of(answer: Learning, task: str | None) -> CurveTask:
    must_be(answer, Learning, "learning")
    return answer.of(task)


def _legend(fit: CurveFit, name: str) -> str:
    law = fit.law
    error = float(law.error(law.size))  # cut off at 0
    summary = f"error {error:.3g}, reliance {law.beta_N:.2g}, exponent {law.gamma:.2f}"
    return f"{name}: {summary}"


def _leaders(result: CurveTask) -> tuple[str, ...]:
    """Return the algorithms by their errors at the size at which they are compared."""
    errors = {fit.algorithm: fit.law.e_N for fit in result.fits}
    return tuple(sorted(errors, key=lambda name: errors[name]))


def _observed(result: CurveTask) -> list[Series]:
    return [
        Series(
            f"{fit.algorithm}, observed",
            *(fit.measured.sizes, fit.measured.means, *no_band(fit.measured.sizes)),
            look,
            is_dots=True,
        )
        for look, fit in enumerate(result.fits)
    ]


def _log_range(
    result: CurveTask, series: Sequence[Series]
) -> tuple[float, float] | None:
    """Return what to show of curves that come to 0, which no logarithmic axis reaches."""
    means = np.concatenate([fit.measured.means for fit in result.fits])
    if not (means > 0).any():
        raise CurvewiseError(
            f"All errors on '{result.task}' are 0, which has no logarithm. Pass ",
            {"scale": "root"},
            ".",
        )
    lowest = means[means > 0].min() / _BELOW
    lows = [one.lower if one.has_band else one.y for one in series]
    if all((low >= lowest).all() for low in lows):
        return None
    highest = max(np.nanmax(one.upper if one.has_band else one.y) for one in series)
    return float(lowest), 1.1 * float(highest)


def _ticks(result: CurveTask, limit: float) -> tuple[float, ...]:
    """Return the sizes that were observed, the smallest ones, which are apart, first."""
    sizes = sorted({float(n) for fit in result.fits for n in fit.measured.sizes})
    largest, *others = reversed(sizes)
    return (sizes[0], limit, largest, *others)


def _pairs(
    answer: Learning, result: CurveTask, pairs: Sequence[tuple[str, str]] | None
) -> Sequence[CurvePair]:
    if pairs is None:
        if not result.pairs:
            raise CurvewiseError(
                f"Task '{result.task}' has one algorithm, and two are needed to cross.",
                argument="task",
                value=result.task,
            )
        return result.pairs[:10]
    return [answer.pair(one, other, result.task) for one, other in pairs]
