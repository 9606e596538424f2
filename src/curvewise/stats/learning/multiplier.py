"""How many times the data one learner needs to be as good as another."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise._text import percent, step
from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import LARGEST_SIZE, checked_sizes
from curvewise.stats._sample import Floats, checked_confidence
from curvewise.stats.learning._predictive import (
    chance_less,
    checked_correlation,
    checked_forecast,
    not_below,
    quantile_table,
    refuse_other_units,
    tables_between,
)
from curvewise.stats.learning._search import first_at
from curvewise.stats.learning.forecast import Forecast

__all__ = ["Multiplier", "data_multiplier", "point_multiplier"]

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

    def __str__(self) -> str:
        parts = [
            f"{_times(m)} at n = {step(float(n))} ({_factor(low)} to {_factor(high)})"
            for n, m, low, high in zip(
                self.sizes, self.value, self.lower, self.upper, strict=True
            )
        ]
        return (
            f"To be as good as the first, the second needs {'; '.join(parts)}, at "
            f"{percent(self.confidence)} confidence."
        )


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

    found = np.array([row(i) for i in range(len(sizes))]) / sizes[:, None]
    return Multiplier(sizes, found[:, 1], found[:, 0], found[:, 2], level)


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
    try:
        found = np.broadcast_to(np.asarray(curve(n), dtype=np.float64), n.shape)
    except (TypeError, ValueError):
        found = np.full(n.shape, np.nan)
    if np.isnan(found).any():
        raise CurvewiseError(
            f"A curve has no errors at sizes {n.tolist()}. Pass functions that return one "
            f"number for each size."
        )
    return found


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
    known = chances(grid)
    targets = ((1 - level) / 2, 0.5, (1 + level) / 2)
    return [first_at(chances, grid, known, p) for p in targets]


def _times(m: Any) -> str:
    if m == 0:
        return "less data than was tried"
    return f"{m:.3g} times the data" if math.isfinite(m) else "more data than any"


def _factor(m: Any) -> str:
    if m == 0:
        return "less than was tried"
    return f"{m:.3g}" if math.isfinite(m) else "more than any"
