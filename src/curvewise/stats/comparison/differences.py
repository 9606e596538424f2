"""By how much do two algorithms differ, in one number?"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import (
    Floats,
    checked_alpha,
    checked_confidence,
    one_of,
)
from curvewise.stats.bands import ANYWHERE, NAMES, Kind, Support, cdf_band
from curvewise.stats.bounds import cvar_bounds, mean_bounds
from curvewise.stats.comparison._common import (
    METHODS,
    Method,
    asymptotic,
    cannot_tell,
    few,
    finite_sample,
    is_constant,
    t_quantile,
    two_samples,
    warn_if_few,
    welch_df,
)
from curvewise.stats.comparison._influence import (
    STATISTICS,
    Statistic,
    contributions,
    trials_in_tail,
)
from curvewise.stats.distribution import TAILS, Tail, quantile
from curvewise.stats.interval import Interval

# With fewer trials (in the tail) the interval was seen to cover less than .93 of the time.
ENOUGH = {"mean": 20, "cvar": 10}
_ROUNDING = 1e-9


def difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    of: Statistic = "mean",
    alpha: float = 0.5,
    tail: Tail = "upper",
    confidence: float = 0.95,
    paired: bool = False,
    method: Method = "asymptotic",
    support: Support = ANYWHERE,
    kind: Kind = "kolmogorov",
    start: int = 1,
) -> Interval:
    r"""Return by how much a statistic of `a` exceeds that of `b`, with an interval.

    Parameters
    ----------
    a, b : array_like, shape (trial,)
        Scores of the two algorithms, higher is better.
    of : {"mean", "cvar", "quantile"}
    alpha : float
        Where CVaR cuts, or which quantile.
    tail : {"upper", "lower"}
        Of CVaR: the best ``1 - alpha`` or the worst ``alpha`` of the trials.
    confidence : float
    paired : bool
        Whether entry i of both is the same trial (seed, data). The estimate is the same;
        what the two share no longer widens the asymptotic interval.
    method : {"asymptotic", "guaranteed"}
    support : (float, float)
        Between which scores are possible at all. A guaranteed interval for a mean or CVaR
        needs it.
    kind : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
        The band behind a guaranteed interval, see `curvewise.stats.bands.cdf_band`.
    start : int
        For ``"anytime"``: the first number of trials at which anybody may look.

    Notes
    -----
    ``"asymptotic"``: mean and CVaR are means of what each trial contributes [1]_,

    .. math:: \mathrm{CVaR}_\alpha = \frac 1 n \sum_i \Bigl(q +
       \frac{(z_i - q)_+}{1-\alpha}\Bigr)

    so that the difference has the interval of Student (paired) or Welch, with degrees of
    freedom from the trials in the tail. A quantile has no such values without an estimate
    of the density; the intervals between order statistics of both quantiles are joined as
    in [2]_, where pairing enters through the correlation r of "at or below its quantile"
    (never above 0 where scores tie there):

    .. math:: \hat d - \sqrt{x^2 + y^2 - 2 r x y}

    with x how far the first one reaches down and y how far the second one reaches up.

    ``"guaranteed"``: the statistic's range over a band for each sample, at
    :math:`1 - \delta/2` each, so that it holds at any number of trials, for any
    distribution on the support, however the samples depend on each other. The mean of
    paired scores takes the band of their differences, which is narrower; a quantile takes
    order statistics, narrower than a band (but for ``"anytime"``).

    An asymptotic interval for a mean or CVaR trusts the spread that it saw. Where rare
    trials are far out (Pareto tails of index 3.3), 95 % was measured to be 84 to 90 % at
    20 trials, 90 to 92 % at 100 and 93 to 95 % at 500. Order statistics do not mind.

    Where trials do not vary, or the tail holds less than two of them, there is no standard
    error: the answer is then the guaranteed interval, and says so. One trial of either
    says nothing: everything possible is in the interval.

    References
    ----------
    .. [1] R. T. Rockafellar, S. Uryasev. "Conditional value-at-risk for general loss
       distributions." Journal of Banking & Finance 26, 2002.
    .. [2] G. Zou, A. Donner. "Construction of confidence limits about effect measures: a
       general approach." Statistics in Medicine 27, 2008.

    Examples
    --------
    >>> a, b = np.arange(20) + 3.0, np.arange(20) * 0.9
    >>> print(difference(a, b), difference(a, b, paired=True))
    [0.3458, 7.554] [3.673, 4.227]
    """
    one, other = two_samples(a, b, paired)
    one_of("of", of, STATISTICS)
    one_of("tail", tail, TAILS)
    one_of("method", method, METHODS)
    checked_alpha(alpha)
    checked_confidence(confidence)
    _refuse_outside(support, one, other)
    asked = _Asked(of, alpha, tail, confidence, paired, support, kind, start)
    if min(len(one), len(other)) == 1:
        return _unknown(asked, one, other, few(len(one), len(other)))
    if method == "guaranteed":
        return _guaranteed(asked, one, other)
    if of == "quantile":
        return _between_order_statistics(asked, one, other)
    return _studentised(asked, one, other)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked for, passed on as one."""

    of: Statistic
    alpha: float
    tail: Tail
    confidence: float
    paired: bool
    support: Support
    kind: Kind
    start: int

    @property
    def estimand(self) -> str:
        share = 1 - self.alpha if self.tail == "upper" else self.alpha
        best = "best" if self.tail == "upper" else "worst"
        name = {
            "mean": "mean",
            "cvar": f"mean of the {best} share {share:g} (CVaR)",
            "quantile": f"quantile {self.alpha:g}",
        }[self.of]
        return f"{name} of A less that of B"

    def value(self, a: Floats, b: Floats) -> float:
        return self._statistic(a) - self._statistic(b)

    def _statistic(self, z: Floats) -> float:
        if self.of == "quantile":
            return float(quantile(z, self.alpha))
        return float(contributions(z, self.of, self.alpha, self.tail).mean())

    def interval(
        self, a: Floats, b: Floats, lower: float, upper: float, guarantee: str
    ) -> Interval:
        """Return the interval, cut where no difference can be."""
        least, most = self.support
        ends = max(lower, least - most), min(upper, most - least)
        return Interval(*ends, self.estimand, guarantee, self.value(a, b))


def _studentised(asked: _Asked, a: Floats, b: Floats) -> Interval:
    tail = asked.of, asked.alpha, asked.tail
    x, y = contributions(a, *tail), contributions(b, *tail)
    n, m = trials_in_tail(len(a), *tail), trials_in_tail(len(b), *tail)
    if min(n, m) < 2 - _ROUNDING:
        why = f"{n:g} and {m:g} trials in the tail have no standard error"
        return _instead(asked, a, b, why)
    if asked.paired:
        if is_constant(x - y, a, b):
            return _instead(asked, a, b, "the pairs do not differ in how they differ")
        variance, df = (x - y).var(ddof=1) / len(a), n - 1
    else:
        if is_constant(x, a) and is_constant(y, b):
            return _instead(asked, a, b, "neither sample varies")
        one, other = x.var(ddof=1) / len(a), y.var(ddof=1) / len(b)
        variance, df = one + other, welch_df(one, n, other, m)
    _warn(asked, min(n, m))
    reach = t_quantile(asked.confidence, df) * math.sqrt(variance)
    name = "Student, paired" if asked.paired else "Welch"
    value = asked.value(a, b)
    return asked.interval(
        a, b, value - reach, value + reach, asymptotic(asked.confidence, name)
    )


def _warn(asked: _Asked, n: float) -> None:
    where = "trials" if asked.of == "mean" else "trials in the tail"
    warn_if_few(n, ENOUGH[asked.of], "The difference", of=where, depth=5)


def _between_order_statistics(asked: _Asked, a: Floats, b: Floats) -> Interval:
    p = asked.alpha
    value = asked.value(a, b)
    (down_a, up_a), (down_b, up_b) = (_reaches(z, p, asked.confidence) for z in (a, b))
    r = 0.0
    if asked.paired:
        r = _correlation(a, float(quantile(a, p)), b, float(quantile(b, p)))
    lower, upper = value - _joined(down_a, up_b, r), value + _joined(up_a, down_b, r)
    if math.isinf(lower) and math.isinf(upper):
        return _unknown(asked, a, b, f"too few trials for quantile {p:g}")
    guarantee = asymptotic(asked.confidence, "joined order statistics")
    return asked.interval(a, b, lower, upper, guarantee)


def _reaches(z: Floats, p: float, confidence: float) -> tuple[float, float]:
    """Return how far below and above its estimate a quantile may be."""
    ends = np.r_[-math.inf, np.sort(z), math.inf]
    first, last = _order_statistics(len(z), p, confidence)
    at = float(quantile(z, p))
    return at - float(ends[first]), float(ends[last]) - at


def _order_statistics(n: int, p: float, confidence: float) -> tuple[int, int]:
    """Return which order statistics surround a quantile; 0 and n + 1: none does."""
    from scipy.special import bdtr

    each = (1 - confidence) / 2
    # Forty standard deviations around the mean hold every rank that can be asked for.
    reach = 40 * (1 + math.sqrt(n * p * (1 - p)))
    i = np.arange(
        max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach)) + 1
    )
    at_most = bdtr(i, n, p)
    first = i[0] + np.searchsorted(at_most, each, side="right")
    last = i[0] + np.searchsorted(at_most, 1 - each) + 1
    return int(first), int(last)


def _joined(x: float, y: float, r: float) -> float:
    if math.isinf(x) or math.isinf(y):
        return math.inf
    return math.sqrt(max(x * x + y * y - 2 * r * x * y, 0.0))


def _correlation(a: Floats, at_a: float, b: Floats, at_b: float) -> float:
    """Return the correlation of being at or below the own quantile."""
    low_a, low_b = a <= at_a, b <= at_b  # each holds its quantile, so neither is empty
    if low_a.all() or low_b.all():
        return 0.0
    r = float(np.corrcoef(low_a, low_b)[0, 1])
    # Where scores tie at a quantile, it moves by leaps, and pairs do not leap together.
    is_tied = (a == at_a).sum() > 1 or (b == at_b).sum() > 1
    return min(r, 0.0) if is_tied else r


def _guaranteed(asked: _Asked, a: Floats, b: Floats) -> Interval:
    if asked.of == "mean" and asked.paired:
        least, most = asked.support
        across = replace(asked, support=(least - most, most - least))
        lower, upper = _bounds(across, a - b, asked.confidence)
    else:
        half = (1 + asked.confidence) / 2
        (low_a, high_a), (low_b, high_b) = (_bounds(asked, z, half) for z in (a, b))
        lower, upper = low_a - high_b, high_a - low_b
    if math.isinf(lower) and math.isinf(upper):
        if asked.of == "quantile":
            return _unknown(asked, a, b, f"too few trials for quantile {asked.alpha:g}")
        raise CurvewiseError(
            f"Nothing bounds a {asked.of}: the support is {asked.support[0]:g} to "
            f"{asked.support[1]:g}. Pass support=, or method='asymptotic'."
        )
    return asked.interval(a, b, lower, upper, _promise_of_bands(asked))


def _bounds(asked: _Asked, z: Floats, confidence: float) -> tuple[float, float]:
    """Return limits for the statistic of one sample."""
    if asked.of == "quantile" and asked.kind != "anytime":
        ends = np.r_[asked.support[0], np.sort(z), asked.support[1]]
        first, last = _order_statistics(len(z), asked.alpha, confidence)
        return float(ends[first]), float(ends[last])
    band = cdf_band(
        z,
        confidence=confidence,
        kind=asked.kind,
        support=asked.support,
        start=asked.start,
    )
    if asked.of == "mean":
        return mean_bounds(band)
    if asked.of == "cvar":
        lower, upper = cvar_bounds(band, asked.alpha, asked.tail)
    else:
        lower, upper = band.quantile(asked.alpha)
    return float(lower), float(upper)


def _promise_of_bands(asked: _Asked) -> str:
    if asked.of == "quantile" and asked.kind != "anytime":
        name = "order statistics"
    elif asked.of == "mean" and asked.paired:
        name = f"{NAMES[asked.kind]} band of the differences"
    else:
        name = f"two {NAMES[asked.kind]} bands"
    looks = ", at every number of trials" if asked.kind == "anytime" else ""
    given = "on the support" if asked.of != "quantile" else "at this one quantile"
    how = f"trials of any distribution {given}, however A and B depend on each other"
    return finite_sample(asked.confidence, f"{how}{looks} ({name})")


def _instead(asked: _Asked, a: Floats, b: Floats, why: str) -> Interval:
    """Return the guaranteed interval where there is no standard error."""
    if not all(math.isfinite(end) for end in asked.support):
        return _unknown(asked, a, b, why)
    found = _guaranteed(asked, a, b)
    return replace(found, guarantee=f"{found.guarantee}, because {why}")


def _unknown(asked: _Asked, a: Floats, b: Floats, why: str) -> Interval:
    return asked.interval(a, b, -math.inf, math.inf, cannot_tell(why))


def _refuse_outside(support: Support, *samples: Floats) -> None:
    low, high = support
    least = min(float(z.min()) for z in samples)
    most = max(float(z.max()) for z in samples)
    if least < low or most > high:
        raise CurvewiseError(
            f"Scores from {least:g} to {most:g} are not inside the support {low:g} to "
            f"{high:g}. Pass the range that is possible."
        )
