"""What is known of an error at a size: the distribution that every question asks for."""

import math
from collections.abc import Callable
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats.validation import Floats, bad_value, is_number

__all__ = [
    "Forecast",
]


@runtime_checkable
class Forecast(Protocol):
    """A learning curve with what is known, and not known, of its mean error at any size.

    A `PowerLaw` and an `Extrapolation` are forecasts, and so is whatever else has these
    three. One that has quantiles beyond the levels .005 and .995 says so in ``levels``;
    one that knows an ``asymptote`` has quantiles at infinite size too.

    Examples
    --------
    >>> from curvewise.stats.powerlaw import fit_power_law
    >>> law = fit_power_law([25, 50, 100], [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]])
    >>> isinstance(law, Forecast)
    True
    """

    @property
    def sizes(self) -> Floats:
        """The training-set sizes that were tried, in increasing order."""

    @property
    def means(self) -> Floats:
        """The mean error at each of them."""

    def quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of the mean error at sizes n, shape (p, n)."""


# --- Distributions given by their quantiles: how likely, and how far apart, two are ----


# Levels as normal scores: where quantiles are asked for.
SCORES: Floats = np.linspace(-4, 4, 65)
# Sums over scores with the normal density are integrals: the trapezoid rule with steps of
# 1/8 from -6 to 6 has an error below 1e-8 for what is smooth.
WIDE: Floats = np.linspace(-6, 6, 97)
# Factors e between the sizes where quantiles of a law are asked for: among data, beyond.
_NEAR, _FAR = 0.25, 0.75


def levels_of(forecast: Any) -> tuple[float, float]:
    """Return the least and the largest level that a forecast has quantiles for."""
    from scipy.special import ndtr

    least, most = float(ndtr(SCORES[0])), float(ndtr(SCORES[-1]))
    # What is learnt from other curves ends at .005; a law has all of its tails.
    usual = (0.0, 1.0) if has_asymptote(forecast) else (0.005, 0.995)
    low, high = getattr(forecast, "levels", usual)
    return max(float(low), least), min(float(high), most)


def quantile_table(forecast: Forecast, n: Floats) -> Floats:
    """Return the quantiles of the error at sizes n for all scores, shape (score, size)."""
    return scored(
        lambda p: forecast.quantile(p, n), levels_of(forecast), has_asymptote(forecast)
    )


def tables_between(
    forecast: Forecast, least: float, most: float
) -> Callable[[Floats], Floats]:
    """Return a function that gives `quantile_table` at any sizes between two.

    The quantiles of a law, less the law itself, are smooth in log n, and each costs a
    search: they are asked for at a few sizes, with a cubic spline between. These lie
    closer where there are data, since what is not known has a waist there.
    """
    if not has_asymptote(forecast):
        return lambda n: quantile_table(forecast, n)
    low, high = math.log(least), math.log(most)
    at = _knots(low, high, math.log(float(forecast.sizes[-1])))
    sizes = np.exp(at)
    sizes[0], sizes[-1] = least, most  # no size below the smallest, by rounding
    quantiles = quantile_table(forecast, sizes).T
    # Quantiles lie near the law: what is left is of the size of what is not known.
    law = _no_law if _repeats(quantiles) else getattr(forecast, "error", _no_law)
    through = _through(at, quantiles - np.asarray(law(sizes))[:, None])

    def table(n: Floats) -> Floats:
        inside = np.clip(np.log(n), low, high)
        rest = through(inside).T + np.asarray(law(n))
        return np.asarray(np.maximum.accumulate(rest, axis=0))

    return table


def _knots(low: float, high: float, last: float) -> Floats:
    """Return logs of sizes between two: close together up to the last with data."""
    middle = min(max(last + 0.7, low), high)
    parts = [np.array([low, high])]
    if middle > low:
        near = np.linspace(low, middle, max(4, math.ceil((middle - low) / _NEAR) + 1))
        # A spline is least exact in its first cell.
        parts += [near, low + (near[1] - low) * np.array([1 / 3, 2 / 3, 3 / 2])]
    if high > middle:
        parts.append(
            np.linspace(middle, high, max(4, math.ceil((high - middle) / _FAR) + 1))
        )
    return np.unique(np.concatenate(parts))


def _no_law(n: Floats) -> Floats:
    return np.zeros_like(n)


def _repeats(values: Floats) -> bool:
    return bool((np.diff(values, axis=0) == 0).any())


def _through(at: Floats, values: Floats) -> Callable[[Floats], Floats]:
    """Return a smooth function of the first axis through values.

    A cubic spline; monotone cubics, which are less exact, where values repeat, as errors
    that cannot be below 0 do: a spline would waver there.
    """
    from scipy.interpolate import CubicSpline, PchipInterpolator

    spline = (PchipInterpolator if _repeats(values) else CubicSpline)(at, values)
    return lambda x: np.asarray(spline(x), dtype=np.float64)


def scored(quantile: Any, levels: tuple[float, float], is_smooth: bool) -> Floats:
    """Return quantiles at all scores, shape (score, place).

    Beyond the levels that there are, the tails are normal: straight in the score. Where
    quantiles are smooth a quarter of them is asked for, with a cubic spline between.
    """
    from scipy.special import ndtr, ndtri

    scores = SCORES[::4] if is_smooth else SCORES
    low, high = float(ndtri(levels[0])), float(ndtri(levels[1]))
    inside = scores[np.logical_and(scores > low + 1e-9, scores < high - 1e-9)]
    at = np.r_[low, inside, high]
    p = np.clip(ndtr(at), *levels)
    table = np.maximum.accumulate(np.asarray(quantile(p), dtype=np.float64), axis=0)
    if not is_smooth:
        return straight(SCORES, at, table)
    if _repeats(table):  # where quantiles are cut off, they have a corner
        return scored(quantile, levels, False)
    core = SCORES[np.logical_and(SCORES >= low - 1e-9, SCORES <= high + 1e-9)]  # noqa: SIM300
    dense = _through(at, table)(np.clip(core, low, high))
    return straight(SCORES, core, np.maximum.accumulate(dense, axis=0))


def straight(x: Floats, at: Floats, values: Floats) -> Floats:
    """Return values at x by straight lines through those `at`, also beyond them."""
    right = np.clip(np.searchsorted(at, x), 1, len(at) - 1)
    left = right - 1
    share = (x - at[left]) / (at[right] - at[left])
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray(values[left] + share * (values[right] - values[left]))


def scores_of(table: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return the normal scores of P(error < value) and of P(error <= value).

    Notes
    -----
    Straight between scores and beyond them. The two differ where many quantiles are the
    same and the value ties with them, such as errors that cannot be below 0.
    """
    top = len(SCORES) - 1
    below = _count(table, values, "left")
    upto = _count(table, values, "right")
    left = np.clip(below - 1, 0, top - 1)
    column = np.arange(table.shape[1])
    low, high = table[left, column], table[left + 1, column]
    width = high - low
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = (values - low) / width
    # No width, and no tie: beyond the end of a distribution that is one point there.
    share = np.where(width > 0, share, np.where(values > low, np.inf, -np.inf))
    score = SCORES[left] + share * (SCORES[1] - SCORES[0])
    is_tied = upto > below + 1
    first = np.where(below == 0, -np.inf, SCORES[np.minimum(below, top)])
    last = np.where(upto > top, np.inf, SCORES[np.clip(upto - 1, 0, top)])
    if is_tied.any():  # the two ends of what is possible, such as an error of 0
        last = np.where((below == 0) & (upto <= top), _leaves(SCORES, table)[1], last)
        upper = -_leaves(-SCORES[::-1], -table[::-1])[1]
        first = np.where((upto > top) & (below > 0), upper, first)
    return np.where(is_tied, first, score), np.where(is_tied, last, score)


def _count(
    table: Floats, values: Floats, side: Literal["left", "right"]
) -> NDArray[np.int64]:
    """Return how many quantiles of its column are below (left) or up to each value."""
    result = np.empty(values.shape, dtype=np.int64)
    for j in range(table.shape[1]):
        result[:, j] = np.searchsorted(table[:, j], values[:, j], side=side)
    return result


def chance_less(
    one: Floats, other: Floats, correlation: float, by: Floats | float = 0.0
) -> Floats:
    r"""Return P(one - other < by) at each place, from two tables of quantiles.

    .. math:: P(X - Y < t) = \int \Phi\left( \frac{\Phi^{-1}(F_X(F_Y^{-1}(\Phi(z)) + t))
       - \rho z}{\sqrt{1 - \rho^2}} \right) \varphi(z)\,dz

    which is exact for a Gaussian copula of correlation rho; ties count half.
    """
    from scipy.special import ndtr

    spread = math.sqrt(1 - correlation**2)
    # The more is shared, the steeper is what is summed. (Corners stay where they are.)
    times = 1 if _repeats(other) else math.ceil(2 * (WIDE[1] - WIDE[0]) / spread)
    z = WIDE if times == 1 else np.linspace(WIDE[0], WIDE[-1], 96 * times + 1)
    wide = straight(z, SCORES, other)
    scores = scores_of(one, wide + by)
    below, upto = (ndtr((x - correlation * z[:, None]) / spread) for x in scores)
    return normal_mean((below + upto) / 2, wide, z)


def normal_mean(values: Floats, table: Floats, z: Floats = WIDE) -> Floats:
    """Return the integral of values at scores z over the normal distribution.

    Where the quantiles of `table` end to be the same, such as errors that cannot be below
    0, values jump; the sum takes the jump to be in the middle of a cell, and it is not.
    """
    density = np.exp(-0.5 * z**2)
    total: Floats = (density / density.sum()) @ values
    column = np.arange(values.shape[1])
    sides = ((z, table, values), (-z[::-1], -table[::-1], values[::-1]))
    for scores, quantiles, heights in sides:
        if (quantiles[1] == quantiles[0]).any():
            last, edge = _leaves(scores, quantiles)
            then = np.minimum(last + 1, len(scores) - 1)
            off = edge - (scores[last] + scores[then]) / 2
            step = heights[last, column] - heights[then, column]
            total = total + off * step * np.exp(-0.5 * edge**2) / math.sqrt(2 * math.pi)
    return np.clip(total, 0.0, 1.0)


def _leaves(scores: Floats, table: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the last place with the first quantile, and the score where it ends.

    By a straight line through the next two; in the middle where there are none.
    """
    column = np.arange(table.shape[1])
    last = np.asarray((table == table[0]).sum(axis=0) - 1)
    then = np.clip(last + 1, 0, len(scores) - 2)
    rise = table[then, column] - table[0]
    slope = (table[then + 1, column] - table[then, column]) / (scores[1] - scores[0])
    low, high = scores[last], scores[np.minimum(last + 1, len(scores) - 1)]
    back = np.divide(rise, slope, out=(high - low) / 2, where=slope > 0)
    return last, np.clip(scores[then] - back, low, high)


def checked_correlation(correlation: Any) -> float:
    """Return a correlation; refuse what is none."""
    if not is_number(correlation) or not -1 < correlation < 1:
        raise bad_value(
            "correlation",
            correlation,
            "Pass that of the noise of the two curves, strictly between -1 and 1: "
            "`shared_noise` estimates it.",
        )
    return float(correlation)


def checked_forecast(forecast: Any, name: str) -> Forecast:
    """Return a forecast; refuse what is none."""
    if not isinstance(forecast, Forecast):
        raise CurvewiseError(
            f"{name} is {type(forecast).__name__}, no forecast. Pass what `fit_power_law` "
            f"or `extrapolate` returned."
        )
    if np.ndim(forecast.means) > 1:
        raise CurvewiseError(f"{name} is many curves. Choose one, such as curves[0].")
    if len(forecast.sizes) == 0:
        raise CurvewiseError(
            f"{name} was fitted to no errors, so nothing tells how sure it is. Pass what "
            f"`fit_power_law` or `extrapolate` returned."
        )
    return forecast


def refuse_other_units(*curves: Any) -> None:
    """Refuse curves of which some are in percent, say, and some are not."""
    units = sorted({str(c.unit) for c in curves if hasattr(c, "unit")})
    if len(units) > 1:
        raise CurvewiseError(
            f"Curves are in {' and '.join(units)}, which cannot be compared. Fit all with "
            f"the same unit."
        )


def has_asymptote(forecast: Forecast) -> bool:
    """Whether a forecast speaks of unlimited data too."""
    return hasattr(forecast, "asymptote")


def not_below(n: Floats, *curves: Forecast) -> Floats:
    """Return sizes; refuse those below the smallest that was tried."""
    least = max(float(curve.sizes[0]) for curve in curves)
    if n.min() < least:
        raise CurvewiseError(
            f"n is {n.min():g}, and the smallest size that was tried with both is "
            f"{least:g}. Pass sizes from there on."
        )
    return n
