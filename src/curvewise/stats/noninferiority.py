"""Is a new mean no worse than an old one? Limits for few trials, and how many would do."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, Keyword
from curvewise.stats.asymptotics import is_constant, unit_of, welch_df
from curvewise.stats.interval import APART, Interval, cannot_tell, few, percent
from curvewise.stats.validation import (
    Floats,
    bad_value,
    checked_confidence,
    checked_probability,
    checked_size,
    is_number,
    two_samples,
)

__all__ = [
    "CautiousDifference",
    "Scale",
    "cautious_difference",
    "more_trials",
]


_ROUNDING = 1e-12  # of the largest score
# Beyond, one trial makes all the skewness: with more taken out, limits hold no more often,
# and some are many times as wide. Measured at 5, 10 and 20 trials.
_SKEWNESS, _WIDER = 0.4, 2.0
_ESTIMAND = "the mean of all trials of A less that of B"


@dataclass(frozen=True, slots=True)
class Scale:
    """One way to measure how far an estimate may be off.

    Parameters
    ----------
    error : float
        Standard error of the difference.
    freedom : float
        Degrees of freedom of Student's t.
    skewness : float
        Of the estimate, 0.4 at most; 0 leaves t as it is.
    """

    error: float
    freedom: float
    skewness: float = 0.0

    def reach(self, confidence: float) -> tuple[float, float]:
        """Return how far below and above the estimate one-sided limits are."""
        from scipy.special import stdtrit

        t = -float(stdtrit(self.freedom, 1 - confidence))
        reach = self._of_t(t), -self._of_t(-t)
        down, up = (self.error * min(one, _WIDER * t) for one in reach)
        return down, up

    def p_below(self, distance: float) -> float:
        """Return p of an estimate that is so far above what it is said to be at least."""
        from scipy.special import stdtr

        return float(stdtr(self.freedom, self._to_t(distance / self.error)))

    def _to_t(self, x: float) -> float:
        """Return a studentised difference with its skewness taken out."""
        g = self.skewness
        if abs(g) < 1e-8:
            return x
        return ((1 + g * x / 3) ** 3 - 1) / g + g / 6

    def _of_t(self, t: float) -> float:
        g = self.skewness
        if abs(g) < 1e-8:
            return t
        return 3 / g * (math.cbrt(1 + g * (t - g / 6)) - 1)


@dataclass(frozen=True, slots=True)
class CautiousDifference:
    """A difference of two means with a lower and an upper limit, each one-sided.

    Parameters
    ----------
    interval : Interval
        Each end for itself holds with the confidence asked for.
    scales : tuple of Scale
        The widest of which decides; empty where there is no standard error.
    rounding : float
        What is closer than that is equal.
    """

    interval: Interval
    scales: tuple[Scale, ...]
    rounding: float

    @property
    def is_exact(self) -> bool:
        """Whether trials do not vary, so that nothing is left to chance."""
        return self.interval.lower == self.interval.upper

    def is_at_least(self, bound: float) -> bool:
        """Return whether the difference is surely at least so large."""
        return self.interval.lower >= bound - self.rounding

    def is_below(self, bound: float) -> bool:
        """Return whether the difference is surely smaller."""
        return self.interval.upper < bound - self.rounding

    def p_below(self, bound: float) -> float:
        """Return p of the difference being `bound` or more: if small, it is less."""
        if self.is_exact:
            return 0.0 if self.is_below(bound) else 1.0
        distance = self.interval.value - bound
        return max((one.p_below(distance) for one in self.scales), default=1.0)


def cautious_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    weight: float = 1.0,
    paired: bool = False,
    confidence: float = 0.95,
) -> CautiousDifference:
    r"""Return by how much the mean of `a` exceeds that of `b`, with one-sided limits.

    .. math:: \hat d - e \, f^{-1}(t_{1-\delta}) \le d, \qquad
       f(t) = t + \frac g 3 t^2 + \frac{g^2}{27} t^3 + \frac g 6

    with e the standard error of the difference and g its skewness, by three rules; of
    each limit the most cautious counts. More skewness than 0.4 is not taken out.

    Parameters
    ----------
    a, b : array_like, shape (trial,)
        Scores, higher is better.
    weight : float
        What the mean of `b` is multiplied by: 0.95 asks by how much `a` exceeds 95 % of it,
        and counts that this, too, is uncertain.
    paired : bool
        Whether entry i of both is the same trial.
    confidence : float
        Of each limit for itself.

    Notes
    -----
    The three rules: Welch's; Welch's with the skewness taken out by a cubic [1]_; and
    Student's with one variance for both. The second matters where one sample is more skewed
    than the other. The third matters where samples differ in size: the few trials of a
    small sample may agree by chance, and the large one tells how trials can differ. Pairs
    have no third.

    No rule sees what no trial has shown. If one trial in ten of `a` collapses, 5 trials
    show none of that in 59 % of all cases.

    Where trials do not vary the difference is taken as exact, and of one trial nothing is
    known.

    References
    ----------
    .. [1] P. Hall. "On the removal of skewness by transformation." Journal of the Royal
       Statistical Society B 54, 1992.

    Examples
    --------
    >>> a, b = np.arange(10) + 3.0, np.arange(10) * 0.9
    >>> found = cautious_difference(a, b)
    >>> print(found.interval)
    [1.215, 5.685]
    >>> print(cautious_difference(a, b, paired=True).interval)
    [3.274, 3.626]
    >>> found.is_at_least(1.0), round(found.p_below(6.0), 3)
    (True, 0.032)
    """
    level = checked_confidence(confidence)
    x, y = _weighted(a, b, weight, paired)
    rounding = _ROUNDING * max(float(np.abs(z).max()) for z in (x, y))
    value = float(x.mean() - y.mean())
    if min(len(x), len(y)) == 1:
        why = cannot_tell(few(len(x), len(y)))
        nothing = Interval(-math.inf, math.inf, _ESTIMAND, why, value)
        return CautiousDifference(nothing, (), rounding)
    if _does_not_vary(x, y, paired):
        exact = "exact, if trials never vary: these did not"
        interval = Interval(value, value, _ESTIMAND, exact, value)
        return CautiousDifference(interval, (), rounding)
    scales = _scales_of_pairs(x - y) if paired else _scales(x, y)
    down, up = (
        max(reach) for reach in zip(*(s.reach(level) for s in scales), strict=True)
    )
    guarantee = f"about {percent(level)} for each end, for independent trials"
    guarantee += "" if paired else APART
    interval = Interval(value - down, value + up, _ESTIMAND, guarantee, value)
    return CautiousDifference(interval, scales, rounding)


def _weighted(
    a: ArrayLike, b: ArrayLike, weight: float, paired: bool
) -> tuple[Floats, Floats]:
    if not is_number(weight):
        raise bad_value("weight", weight, "Pass a number, such as 0.95.")
    x, y = two_samples(a, b, paired)
    return x, weight * y


def _does_not_vary(x: Floats, y: Floats, paired: bool) -> bool:
    if paired:
        return is_constant(x - y, x, y)
    return is_constant(x, x) and is_constant(y, y)


def _scales_of_pairs(z: Floats) -> tuple[Scale, ...]:
    variance, cube = _moments(z, unit_of(z))
    n = len(z)
    error = unit_of(z) * math.sqrt(variance / n)
    skewness = _capped(cube / n**2 / (variance / n) ** 1.5)
    return Scale(error, n - 1), Scale(error, n - 1, skewness)


def _scales(x: Floats, y: Floats) -> tuple[Scale, ...]:
    unit, n, m = unit_of(x, y), len(x), len(y)
    (v, s), (w, t) = _moments(x, unit), _moments(y, unit)
    square = v / n + w / m
    freedom = welch_df(v / n, n, w / m, m)
    pooled = ((n - 1) * v + (m - 1) * w) / (n + m - 2) * (1 / n + 1 / m)
    error = unit * math.sqrt(square)
    return (
        Scale(error, freedom),
        Scale(error, freedom, _capped((s / n**2 - t / m**2) / square**1.5)),
        Scale(unit * math.sqrt(pooled), n + m - 2),
    )


def _capped(skewness: float) -> float:
    return min(max(skewness, -_SKEWNESS), _SKEWNESS)


def _moments(z: Floats, unit: float) -> tuple[float, float]:
    """Return variance and third moment about the mean, both without bias, in units."""
    n, spread = len(z), (z - z.mean()) / unit
    cube = float((spread**3).sum()) * n / ((n - 1) * (n - 2)) if n > 2 else 0.0
    return float((spread**2).sum()) / (n - 1), cube


def more_trials(
    a: ArrayLike,
    b: ArrayLike,
    room: float,
    *,
    weight: float = 1.0,
    paired: bool = False,
    confidence: float = 0.95,
    power: float = 0.8,
    alone: bool = False,
    most: int = 1000,
) -> int | None:
    r"""Return how many more trials would show on which side of a bound a difference is.

    .. math:: n = \min\{n : P(T_{\nu, r/e(n)} \ge t_{\nu, 1-\delta}) \ge p\}

    Parameters
    ----------
    a, b : array_like, shape (trial,)
        The trials so far, two or more of each: more will vary like them.
    room : float
        How far the true difference is taken to be from the bound, to either side.
    weight, paired, confidence
        As in `cautious_difference`.
    power : float
        How likely all trials together are to show it.
    alone : bool
        Whether only `a` gets more trials; else both get as many.
    most : int
        The largest number that is worth knowing.

    Returns
    -------
    int or None
        None where more than `most` are needed, or no number would do.

    Notes
    -----
    The power of Student's t with noncentrality r/e(n), by the standard errors of Welch and
    of one variance for both, whichever is less. The spread of the trials so far is taken
    as it was seen, so that the number is as uncertain as that.

    Examples
    --------
    >>> a, b = np.arange(10) + 3.0, np.arange(10) + 2.9
    >>> more_trials(a, b, 3.0), more_trials(a, b, 3.0, alone=True)
    (4, 12)
    >>> more_trials(a, b, 0.0) is None
    True
    """
    level, wanted = checked_confidence(confidence), checked_probability("power", power)
    if not is_number(room):
        raise bad_value("room", room, "Pass a difference.")
    x, y = _weighted(a, b, weight, paired)
    if min(len(x), len(y)) < 2:
        raise CurvewiseError(
            "One trial has no spread. Pass two or more of each.",
            argument="a" if len(x) < 2 else "b",
        )
    if room == 0 or _does_not_vary(x, y, paired):
        return None
    powers = _powers_of_pairs if paired else _powers
    at = powers(x, y, abs(room), level, alone)
    return _first(lambda k: at(k) >= wanted, checked_size(most, "most"))


def _powers_of_pairs(
    x: Floats, y: Floats, room: float, level: float, alone: bool
) -> Callable[[int], float]:
    if alone:
        raise CurvewiseError(
            "Pairs grow on both sides. Leave ",
            Keyword("alone"),
            " out.",
            argument="alone",
        )
    unit = unit_of(x, y)
    away = room / unit / float(((x - y) / unit).std(ddof=1))
    return lambda k: _power(len(x) + k - 1, away * math.sqrt(len(x) + k), level)


def _powers(
    x: Floats, y: Floats, room: float, level: float, alone: bool
) -> Callable[[int], float]:
    unit = unit_of(x, y)
    (v, _), (w, _) = _moments(x, unit), _moments(y, unit)
    room /= unit

    def at(k: int) -> float:
        n, m = len(x) + k, len(y) + (0 if alone else k)
        freedom = welch_df(v / n, n, w / m, m)
        pooled = ((n - 1) * v + (m - 1) * w) / (n + m - 2) * (1 / n + 1 / m)
        return min(
            _power(freedom, room / math.sqrt(v / n + w / m), level),
            _power(n + m - 2, room / math.sqrt(pooled), level),
        )

    return at


def _power(freedom: float, away: float, level: float) -> float:
    """Return how likely t is beyond its limit, if the mean is so many errors away."""
    from scipy.special import nctdtr, stdtrit

    limit = -float(stdtrit(freedom, 1 - level))
    if away > limit + 30:  # where the distribution is beyond its tables
        return 1.0
    return 1 - float(nctdtr(freedom, away, limit))


def _first(is_enough: Callable[[int], bool], most: int) -> int | None:
    """Return the first number from 1 to `most` that is enough; power grows with it."""
    if not is_enough(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
