"""Where two learning curves cross: who is better before and after, and how surely."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from curvewise.stats.interval import Interval, percent
from curvewise.stats.learning.forecast import (
    Forecast,
    chance_less,
    checked_correlation,
    checked_forecast,
    not_below,
    refuse_other_units,
    tables_between,
)
from curvewise.stats.validation import (
    LARGEST_SIZE,
    Floats,
    bad_value,
    checked_confidence,
    checked_sizes,
)

__all__ = ["Crossing", "Stretch", "crossing"]

_GRID = 121
_BEYOND = 10.0  # times the largest size that was tried


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sizes over which the verdict is the same.

    Parameters
    ----------
    first, last : float
        Between which sizes; the ends of what was asked about where it goes on beyond.
    better : {"a", "b", None}
        Who is better there at the confidence asked for; None where nobody is.
    """

    first: float
    last: float
    better: Literal["a", "b"] | None


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """Where the better one of two learners changes.

    Parameters
    ----------
    sizes, chance : ndarray, shape (size,)
        P(a is better) at sizes in equal ratios.
    at : tuple of Interval
        Every crossing: `value` is where both are equally likely to be better, the interval
        is the stretch around it where neither is better at the confidence asked for. It
        ends at 0 or at infinity where it reaches the end of the sizes asked about.
    stretches : tuple of Stretch
    confidence : float
    """

    sizes: Floats
    chance: Floats
    at: tuple[Interval, ...]
    stretches: tuple[Stretch, ...]
    confidence: float

    @property
    def at_least(self) -> float:
        """The least probability that who is better differs between the two ends."""
        return float(abs(self.chance[0] - self.chance[-1]))

    @property
    def at_most(self) -> float:
        """The largest such probability, however the two ends depend on each other."""
        both = float(self.chance[0] + self.chance[-1])
        return max(min(both, 2 - both), self.at_least)  # rounding

    def rows(self) -> list[dict[str, float | str | None]]:
        """Return a row for each stretch with one verdict."""
        return [
            {"from": s.first, "to": s.last, "better": s.better} for s in self.stretches
        ]


def crossing(
    a: Forecast,
    b: Forecast,
    *,
    confidence: float = 0.95,
    correlation: float = 0.0,
    sizes: ArrayLike | None = None,
) -> Crossing:
    r"""Return where the better one of two learners changes.

    .. math:: \{ n : \tfrac{1-c}{2} < P(e_a(n) < e_b(n)) < \tfrac{1+c}{2} \}

    around each size with probability 1/2: the sizes at which a two-sided test at level
    1 - c would not tell the two apart, as in Fieller's theorem [1]_.

    Parameters
    ----------
    a, b : Forecast
        Two curves in the same unit.
    confidence : float
        c.
    correlation : float
        Of what is not known of the two, as in `chance_better`.
    sizes : array_like, shape (2,) or more, optional
        Between which sizes to look. If left out, from the smallest that was tried with
        both to ten times the largest.

    Returns
    -------
    Crossing

    Notes
    -----
    The interval holds a crossing as often as the pointwise intervals of the difference
    hold 0 there, however the curves at different sizes depend on each other. It may be
    unbounded, and two crossings may share one.

    References
    ----------
    .. [1] E. Fieller. "Some problems in interval estimation." Journal of the Royal
       Statistical Society B 16, 1954.

    Examples
    --------
    >>> from curvewise.stats.powerlaw import fit_power_law
    >>> sizes = [25, 50, 100, 200]
    >>> quick = [[0.3, 0.31], [0.28, 0.27], [0.26, 0.265], [0.255, 0.25]]
    >>> slow = [[0.5, 0.51], [0.36, 0.37], [0.27, 0.26], [0.2, 0.205]]
    >>> found = crossing(fit_power_law(sizes, quick), fit_power_law(sizes, slow))
    >>> bool(80 < found.at[0].value < 130)
    True
    >>> [s.better for s in found.stretches]
    ['a', None, 'b']
    """
    one, other = checked_forecast(a, "a"), checked_forecast(b, "b")
    refuse_other_units(one, other)
    level = checked_confidence(confidence)
    rho = checked_correlation(correlation)
    n = _grid(one, other, sizes)
    first, second = (tables_between(x, float(n[0]), float(n[-1])) for x in (one, other))

    def chances(at: Floats) -> Floats:
        return chance_less(first(at), second(at), rho)

    chance = chances(n)

    def reaches(p: float) -> list[float]:
        return _passes(chances, n, chance, p)

    low, high = (1 - level) / 2, (1 + level) / 2
    edges = sorted(reaches(low) + reaches(high))
    stretches = _stretches(n, chance, edges, low, high)
    at = tuple(_crossing(middle, stretches, n, level) for middle in reaches(0.5))
    return Crossing(
        sizes=n, chance=chance, at=at, stretches=stretches, confidence=level
    )


def _grid(one: Forecast, other: Forecast, sizes: ArrayLike | None) -> Floats:
    least = max(float(one.sizes[0]), float(other.sizes[0]))
    last = max(float(one.sizes[-1]), float(other.sizes[-1]))
    most = min(_BEYOND * last, LARGEST_SIZE)
    if sizes is not None:
        between = not_below(checked_sizes(sizes), one, other)
        least, most = float(between.min()), float(between.max())
    if not least < most:
        raise bad_value("sizes", sizes, "Pass two sizes to look between.")
    return np.geomspace(least, most, _GRID)


def _passes(
    chances: Callable[[Floats], Floats], n: Floats, chance: Floats, p: float
) -> list[float]:
    """Return all sizes where the chance passes p."""
    sizes = []
    is_above = chance > p
    for i in np.flatnonzero(is_above[1:] != is_above[:-1]):
        left, right = float(n[i]), float(n[i + 1])
        for _ in range(3):  # to a 4096th of the cell
            fine = np.geomspace(left, right, 17)
            above = chances(fine) > p
            place = int(np.argmax(above != is_above[i]))
            place = max(place, 1)  # rounding of the end points
            left, right = float(fine[place - 1]), float(fine[place])
        sizes.append(math.sqrt(left * right))
    return sizes


def _stretches(
    n: Floats, chance: Floats, edges: list[float], low: float, high: float
) -> tuple[Stretch, ...]:
    ends = [float(n[0]), *edges, float(n[-1])]
    stretches: list[Stretch] = []
    for first, last in itertools.pairwise(ends):
        middle = float(np.interp(math.log(math.sqrt(first * last)), np.log(n), chance))
        better: Literal["a", "b"] | None = None
        if middle > high:
            better = "a"
        elif middle < low:
            better = "b"
        if stretches and stretches[-1].better == better:
            stretches[-1] = Stretch(stretches[-1].first, last, better)
        else:
            stretches.append(Stretch(first, last, better))
    return tuple(stretches)


def _crossing(
    middle: float, stretches: tuple[Stretch, ...], n: Floats, level: float
) -> Interval:
    around = next((s for s in stretches if s.first <= middle <= s.last), stretches[0])
    return Interval(
        lower=0.0 if around.first <= n[0] else around.first,
        upper=math.inf if around.last >= n[-1] else around.last,
        estimand="the size from which on the other one is better",
        guarantee=f"{percent(level)}, as far as the pointwise intervals of the "
        f"difference hold",
        value=middle,
    )
