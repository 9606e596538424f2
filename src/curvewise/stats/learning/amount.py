"""How much data: until an error is reached, or until one learner is as good as another."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.interval import Interval, percent
from curvewise.stats.learning.forecast import (
    Forecast,
    chance_less,
    checked_correlation,
    checked_forecast,
    has_asymptote,
    not_below,
    quantile_table,
    refuse_other_units,
    scores_of,
    tables_between,
)
from curvewise.stats.validation import (
    LARGEST_SIZE,
    Floats,
    as_floats,
    bad_value,
    checked_confidence,
    checked_sizes,
    is_number,
)

__all__ = [
    "Multiplier",
    "SizeFor",
    "data_multiplier",
    "point_multiplier",
    "size_for",
]


Concern: TypeAlias = Literal[
    "far",  # beyond what was tried: rests on the form of the curve more than on data
    "below_smallest",  # sizes below what was tried may do; nothing is known of them
]
_COARSE = 121  # sizes on the first look, in equal ratios
_DRAWN = 161
_BEYOND = 1000.0  # times the largest size that was seen: how far chances are drawn
_FAR = 16.0  # an answer so many times beyond the data rests on the form of the curve


@dataclass(frozen=True, slots=True, eq=False)
class SizeFor:
    """How many training examples an error takes.

    Parameters
    ----------
    error : float
        The error that is wanted, in the unit of the curve.
    reached : float
        Probability of ever reaching it: by the largest size that was considered, or with
        unlimited data where the curve knows its asymptote.
    size : float
        Median of the size that it takes; infinite where reaching it is less likely than
        not.
    interval : Interval
        Of the size; its upper end is infinite where it may never be reached.
    largest : float
        The largest size that was considered.
    seen_at : float
        The smallest size with an observed mean that is already so low; NaN if none is.
    forecast : Forecast
    concerns : tuple of str
        What may be wrong, by name.
    sizes, chances : ndarray
        The probability that the mean error is so low, to be drawn.
    """

    error: float
    reached: float
    size: float
    interval: Interval
    largest: float
    seen_at: float
    forecast: Forecast
    concerns: tuple[Concern, ...]
    sizes: Floats
    chances: Floats

    def chance(self, n: ArrayLike) -> Floats:
        """Return P(the mean error at n is at most the error wanted), for each size."""
        sizes = checked_sizes(n, "n")
        return _upto(quantile_table(self.forecast, sizes), self.error)

    def rows(self) -> list[dict[str, float]]:
        """Return the answer as a table of one row."""
        return [
            {
                "error": self.error,
                "chance of ever reaching it": self.reached,
                "size": self.size,
                "lower": self.interval.lower,
                "upper": self.interval.upper,
            }
        ]


def size_for(
    forecast: Forecast,
    error: float,
    *,
    confidence: float = 0.95,
    largest: float = 1e12,
) -> SizeFor:
    r"""Return how many training examples a mean error takes.

    .. math:: P(\text{size needed} \le n) = P(e(n) \le \text{error})

    for a curve that falls. Where the right side falls with n, because what is known of the
    curve widens, its largest value so far is taken.

    Parameters
    ----------
    forecast : Forecast
        Such as a `PowerLaw` or an `Extrapolation`.
    error : float
        In the unit of the curve.
    confidence : float
        Of the interval.
    largest : float
        The largest size to consider.

    Returns
    -------
    SizeFor

    Notes
    -----
    The interval holds the sizes at which a pointwise interval of the mean error holds the
    error that is wanted, at the same confidence: it is as good as those are. Sizes below
    the smallest that was tried are not looked at, and it stands for them. Sizes are found
    to about a thousandth of themselves. The upper end is infinite as soon as the error may
    never be reached: of an `Extrapolation`, nearly always.

    Examples
    --------
    >>> from curvewise.stats.powerlaw import fit_power_law
    >>> law = fit_power_law([25, 50, 100], [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]])
    >>> needed = size_for(law, 0.3)
    >>> bool(100 < needed.size < 300)
    True
    >>> size_for(law, 0.01).size
    inf
    """
    curve = checked_forecast(forecast, "forecast")
    level = checked_confidence(confidence)
    wanted = _checked_error(error, getattr(curve, "unit", "loss"))
    least = float(curve.sizes[0])
    if not is_number(largest) or not least < largest <= LARGEST_SIZE:
        raise bad_value(
            "largest", largest, f"Pass a size above {least:g}, up to {LARGEST_SIZE:g}."
        )
    sizes = np.geomspace(least, float(largest), _COARSE)
    tables = tables_between(curve, least, float(largest))

    def chances(n: Floats) -> Floats:
        return _upto(tables(n), wanted)

    values = chances(sizes)
    targets = ((1 - level) / 2, 0.5, (1 + level) / 2)
    low, middle, high = (
        max(first_at(chances, sizes, values, p), least) for p in targets
    )
    reached = float(values.max())
    if has_asymptote(curve):
        at_last = quantile_table(curve, np.array([np.inf]))
        reached = max(reached, float(_upto(at_last, wanted)[0]))
    is_seen = np.asarray(curve.means) <= wanted
    seen_at = float(np.asarray(curve.sizes)[is_seen][0]) if is_seen.any() else math.nan
    far = min(_BEYOND * float(curve.sizes[-1]), float(largest))
    axis = np.geomspace(least, far, _DRAWN)
    interval = Interval(
        lower=low,
        upper=high,
        estimand="the number of training examples that the error takes",
        guarantee=f"{percent(level)}, as far as the pointwise intervals of the curve hold",
        value=middle,
    )
    return SizeFor(
        error=wanted,
        reached=reached,
        size=middle,
        interval=interval,
        largest=float(largest),
        seen_at=seen_at,
        forecast=curve,
        concerns=tuple(_concerns(curve, middle, low)),
        sizes=axis,
        chances=_upto(quantile_table(curve, axis), wanted),
    )


def _upto(table: Floats, error: float) -> Floats:
    """Return P(error at most this), for each size of a table of quantiles."""
    from scipy.special import ndtr

    _, score = scores_of(table, np.full((1, table.shape[1]), error))
    return np.asarray(ndtr(score[0]))


def _concerns(forecast: Forecast, size: float, low: float) -> Iterator[Concern]:
    if math.isfinite(size) and size > _FAR * float(forecast.sizes[-1]):
        yield "far"
    if low <= float(forecast.sizes[0]):
        yield "below_smallest"


def _checked_error(error: Any, unit: str) -> float:
    most = {"fraction": 1.0, "percent": 100.0}.get(unit, math.inf)
    if not is_number(error) or not 0 <= error <= most:
        raise CurvewiseError(
            f"error is {error!r}, and the unit of the curve is {unit!r}. Pass the error "
            f"that is wanted in that unit.",
            argument="error",
            value=error,
        )
    return float(error)


# --- How many times the data one learner needs to be as good as another ----------------


_GRID = 65
_MOST = 1e6  # times the data


@dataclass(frozen=True, slots=True, eq=False)
class Multiplier:
    """How many times the data of a learner another one needs, at each size.

    Parameters
    ----------
    sizes : ndarray, shape (size,)
    value, lower, upper : ndarray, shape (size,)
        e_a(n) = e_b(value n), and an interval. The lower end is 0 where even the smallest
        size that was tried may do, the upper one infinite where no amount of data may.
    confidence : float
    """

    sizes: Floats
    value: Floats
    lower: Floats
    upper: Floats
    confidence: float

    def rows(self) -> list[dict[str, float]]:
        """Return a row for each size."""
        table = zip(self.sizes, self.value, self.lower, self.upper, strict=True)
        return [
            {
                "n": float(n),
                "times": float(m),
                "lower": float(low),
                "upper": float(high),
            }
            for n, m, low, high in table
        ]


def data_multiplier(
    a: Forecast,
    b: Forecast,
    n: ArrayLike,
    *,
    confidence: float = 0.95,
    correlation: float = 0.0,
) -> Multiplier:
    r"""Return how many times the data of a the learner b needs to be as good.

    .. math:: e_a(n) = e_b(m n); \qquad
       \{ m : \tfrac{1-c}{2} \le P(e_b(m n) < e_a(n)) \le \tfrac{1+c}{2} \}

    Parameters
    ----------
    a, b : Forecast
        Two curves in the same unit.
    n : array_like, shape (size,)
        Sizes of the training set of a.
    confidence : float
        c, at each size.
    correlation : float
        Of what is not known of the two, as in `chance_better`.

    Returns
    -------
    Multiplier

    Notes
    -----
    Looks at m n from the smallest size that was tried with b to a million n. A multiplier
    is rarely constant: Hoiem et al. [1]_ say that augmentation is worth 1.8 times the data,
    and their own curves give 1.2 to 2.7, growing with n.

    References
    ----------
    .. [1] D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for Analysis
       of Deep Networks." ICML 2021.

    Examples
    --------
    >>> from curvewise.stats.powerlaw import fit_power_law
    >>> sizes = [25, 50, 100, 200]
    >>> a = fit_power_law(sizes, [[0.4, 0.41], [0.3, 0.31], [0.22, 0.23], [0.17, 0.175]])
    >>> b = fit_power_law(sizes, [[0.5, 0.51], [0.4, 0.41], [0.3, 0.31], [0.22, 0.23]])
    >>> found = data_multiplier(a, b, 100)
    >>> bool(1.7 < found.value[0] < 2.3)
    True
    """
    one, other = checked_forecast(a, "a"), checked_forecast(b, "b")
    refuse_other_units(one, other)
    sizes = not_below(checked_sizes(n, "n"), one)
    level = checked_confidence(confidence)
    rho = checked_correlation(correlation)
    # Beyond a million n, too, where that is less than was tried with b.
    most = max(_MOST * float(sizes.max()), 10 * float(other.sizes[-1]))
    most = min(most, LARGEST_SIZE)
    tables = tables_between(other, float(other.sizes[0]), most)
    wanted = quantile_table(one, sizes)
    ends = float(other.sizes[0]), most

    def row(i: int) -> list[float]:
        return _times_at(wanted[:, i : i + 1], tables, ends, level, rho)

    times = np.array([row(i) for i in range(len(sizes))]) / sizes[:, None]
    return Multiplier(
        sizes=sizes,
        value=times[:, 1],
        lower=times[:, 0],
        upper=times[:, 2],
        confidence=level,
    )


def point_multiplier(
    error_a: Callable[[Floats], ArrayLike],
    error_b: Callable[[Floats], ArrayLike],
    n: ArrayLike,
) -> Floats:
    r"""Return m with :math:`e_a(n) = e_b(m n)` for two curves without uncertainty.

    Parameters
    ----------
    error_a, error_b : callable
        From an array of sizes to errors; that of b falls.
    n : array_like, shape (size,)

    Returns
    -------
    ndarray, shape (size,)
        Infinite where b never gets so low within 1e12 times the data, 0 where it always
        is, by bisection.

    Examples
    --------
    >>> m = point_multiplier(lambda n: 1 / n, lambda n: 2 / n, [10, 20])
    >>> m.round(6).tolist()
    [2.0, 2.0]
    """
    sizes = checked_sizes(n, "n")
    if not callable(error_a) or not callable(error_b):
        raise CurvewiseError(
            "A curve is no function of the size. Pass functions, such as the `error` of a "
            "power law."
        )
    wanted = _errors_at(error_a, sizes)
    low, high = np.full(len(sizes), -28.0), np.full(len(sizes), 28.0)  # e^28 = 1e12
    for _ in range(80):
        middle = (low + high) / 2
        is_above = _errors_at(error_b, sizes * np.exp(middle)) > wanted
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
    m = np.exp((low + high) / 2)
    return np.where(low > 27.9, np.inf, np.where(high < -27.9, 0.0, m))


def _errors_at(curve: Callable[[Floats], ArrayLike], n: Floats) -> Floats:
    errors = as_floats(curve(n))
    is_fine = errors is not None and errors.ndim < 2 and errors.size in {1, n.size}
    if errors is None or not is_fine or np.isnan(errors).any():
        raise CurvewiseError(
            f"A curve has no errors at sizes {n.tolist()}. Pass functions that return one "
            f"number for each size."
        )
    return np.broadcast_to(errors, n.shape)


def _times_at(
    wanted: Floats,
    tables: Callable[[Floats], Floats],
    ends: tuple[float, float],
    level: float,
    rho: float,
) -> list[float]:
    """Return sizes of b where P(e_b < e_a) reaches the two levels and a half."""

    def chances(at: Floats) -> Floats:
        table = tables(at)
        return chance_less(table, np.broadcast_to(wanted, table.shape), rho)

    grid = np.geomspace(*ends, _GRID)
    values = chances(grid)
    targets = ((1 - level) / 2, 0.5, (1 + level) / 2)
    return [first_at(chances, grid, values, p) for p in targets]


# --- Where a chance that grows with size first reaches a level -------------------------


_FINE = 17  # places inside the cell that was found, twice


def first_at(
    chances: Callable[[Floats], Floats], grid: Floats, values: Floats, p: float
) -> float:
    """Return the first place where a chance is p or more."""
    chance = np.maximum.accumulate(values)
    for _ in range(2):
        place = int(np.searchsorted(chance, p))
        if place == 0:
            return 0.0
        if place == len(grid):
            return math.inf
        before = chance[place - 1]
        grid = np.geomspace(grid[place - 1], grid[place], _FINE)
        chance = np.maximum.accumulate(np.maximum(chances(grid), before))
        chance[0], chance[-1] = before, max(chance[-1], p)  # whatever rounding does
    place = max(int(np.searchsorted(chance, p)), 1)
    left, right = chance[place - 1], chance[place]
    share = (p - left) / (right - left) if right > left else 1.0
    return float(grid[place - 1] * (grid[place] / grid[place - 1]) ** share)
