"""How far is one algorithm from being better at every quantile?"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.stats._enough import warn_if_few
from curvewise.stats._sample import Floats, checked_chance, checked_confidence
from curvewise.stats._student import unit_of
from curvewise.stats._words import APART, asymptotic, cannot_tell
from curvewise.stats.comparison._common import few, two_samples
from curvewise.stats.comparison._pool import percentile
from curvewise.stats.interval import Interval

__all__ = ["dominance"]

_BATCH = 1 << 20  # numbers held at a time


def dominance(
    a: ArrayLike,
    b: ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> Interval:
    r"""Return how far `a` is from dominating `b` stochastically, with an upper bound.

    .. math:: \epsilon = \frac{\int_{F_A^{-1} < F_B^{-1}} (F_A^{-1}(p) - F_B^{-1}(p))^2
       \,dp}{\int_0^1 (F_A^{-1}(p) - F_B^{-1}(p))^2\,dp}

    Parameters
    ----------
    a, b : array_like, shape (trial,)
        Scores of the two algorithms, higher is better.
    confidence : float
        That the true violation ratio is below the upper end; the lower end is 0. For a
        family of comparisons pass `shared_confidence`.
    resamples : int
        Of the bootstrap behind the upper end.
    rng : numpy.random.Generator

    Returns
    -------
    Interval
        At 0, A is at least as good as B at every quantile; at 1, B is as A. An upper end
        below 1/2 says that A is nearer to dominating B than B to dominating A: almost
        stochastic order [1]_, [2]_.

    Notes
    -----
    The quantile functions are steps, so the integrals are finite sums, without a grid:
    over the joint breakpoints i/n and j/m, which all resamples share.

    The upper end is the largest of three. First the paper's normal bound
    :math:`\hat\epsilon + z_{1-\delta}\,\hat\sigma`, with the standard deviation of the
    resamples; it was seen to hold in 85 to 90 % of all cases where it promises 95 %.
    Second the resamples' own quantile. Third :math:`1 - \delta^{1/\min(n, m)}`, a share
    of the trials that may have gone unseen: where samples are separated, every resample
    is, and the others would claim certainty from two trials.

    Resamples of A and of B are drawn apart, as if the trials of A were independent of
    those of B.

    Samples that do not differ at all, or one trial of either, say nothing: the interval
    is 0 to 1.

    References
    ----------
    .. [1] E. del Barrio, J. Cuesta-Albertos, C. Matran. "An optimal transportation approach
       for assessing almost stochastic order." The Mathematics of the Uncertain, 2018.
    .. [2] R. Dror, S. Shlomov, R. Reichart. "Deep dominance: how to properly compare deep
       neural models." ACL, 2019.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(0.3, 1, 100), rng.normal(0, 1.5, 100)
    >>> found = dominance(a, b, rng=rng)
    >>> print(round(found.value, 4), found)
    0.0077 [0, 0.1103]
    """
    one, other = (np.sort(z) for z in two_samples(a, b, paired=False))
    level = checked_confidence(confidence)
    unit = unit_of(one, other)  # a ratio of squares, which must not overflow or vanish
    one, other = one / unit, other / unit
    n, m = len(one), len(other)
    checked_chance(resamples, rng)
    steps = _Steps.of(n, m)
    value = float(steps.violation(one, other))
    estimand = "violation ratio of A dominating B stochastically"
    if min(n, m) == 1:
        return Interval(0.0, 1.0, estimand, cannot_tell(few(n, m)), value)
    if (one[steps.first] == other[steps.second]).all():
        why = cannot_tell("the samples do not differ")
        return Interval(0.0, 1.0, estimand, why, value)
    warn_if_few(min(n, m), "dominance", "The bound")
    ratios = _resampled(steps, one, other, resamples, rng)
    upper, error = _upper(value, ratios, level, min(n, m))
    name = f"one-sided bootstrap, {resamples} resamples"
    guarantee = asymptotic(level, name, APART)
    return Interval(0.0, upper, estimand, guarantee, value, error)


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """The joint steps of two quantile functions: whose value holds where, how long."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    length: Floats

    @classmethod
    def of(cls, n: int, m: int) -> "_Steps":
        # In units of 1/(nm) the breakpoints i/n and j/m are integers, hence exact.
        ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
        return cls((ends - 1) // m, (ends - 1) // n, np.diff(ends, prepend=0) / (n * m))

    def violation(self, a: Floats, b: Floats) -> Floats:
        """Return the violation ratio of samples sorted along their last axis."""
        gap = a[..., self.first] - b[..., self.second]
        below = np.minimum(gap, 0)
        total = np.square(gap) @ self.length
        worse = np.square(below) @ self.length
        is_same = total == 0
        # Nothing differs: as near to one order as to the other.
        ratio: Floats = np.where(is_same, 0.5, worse / np.where(is_same, 1, total))
        return ratio


def _resampled(
    steps: _Steps, a: Floats, b: Floats, resamples: int, rng: np.random.Generator
) -> Floats:
    batch = max(1, _BATCH // (len(a) + len(b)))
    found = []
    for done in range(0, resamples, batch):
        rows = min(batch, resamples - done)
        x, y = (
            z[
                np.sort(
                    rng.integers(len(z), size=(rows, len(z)), dtype=np.int32), axis=1
                )
            ]
            for z in (a, b)
        )
        found.append(steps.violation(x, y))
    return np.concatenate(found)


def _upper(
    value: float, ratios: Floats, confidence: float, trials: int
) -> tuple[float, float]:
    """Return the upper end, and the standard error that the resamples leave in it."""
    from scipy.special import ndtri

    z, k = float(ndtri(confidence)), len(ratios)
    centred = ratios - ratios.mean()
    variance = float((centred**2).sum() / (k - 1))
    normal = value + z * math.sqrt(variance)
    normal_error = 0.0
    if variance > 0:
        excess = float((centred**4).mean()) / variance**2 - 1
        normal_error = abs(z) * math.sqrt(variance * excess / (4 * k))
    unseen = 1 - (1 - confidence) ** (1 / trials)
    upper, error = max(
        (normal, normal_error),
        percentile(ratios, confidence),
        (unseen, 0.0),
    )
    return (1.0, 0.0) if upper >= 1 else (upper, error)
