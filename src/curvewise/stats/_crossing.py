"""How likely all order statistics of a uniform sample are to stay inside their limits."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.stats._sample import Floats

_NEGLIGIBLE = 1e-19  # of a law: left out, at every one of at most 2n steps
_NUMBERS_AT_ONCE = 200_000  # laws are made for many steps together, in a few MB
_ROUNDING = 1e-15  # limits that are this close are the same


def stay_inside(lower: ArrayLike, upper: ArrayLike) -> float:
    r"""Return the probability that every order statistic lies between its limits.

    .. math:: P(l_i \le U_{(i)} \le h_i \ \forall i)

    Parameters
    ----------
    lower, upper : array_like, shape (n,)
        The limits of each of n uniform order statistics, the smallest first.

    Notes
    -----
    The number N(t) of uniforms below t is a Poisson process of rate n, given that
    N(1) = n [1]_. U_(i) respects its limits if N(l_i) < i and N(h_i) >= i. The law of
    N is carried from limit to limit, and what breaks one is struck out. Between two limits
    few points arrive, so a short convolution does [2]_; the limits of a band leave room for
    O(sqrt(n)) counts, and all of it takes O(n^1.5). Both halves of the unit interval are
    walked from their outer end, which is one walk if the limits are symmetric, and joined
    in the middle.

    References
    ----------
    .. [1] E. Khmaladze, E. Shinjikashvili. "Calculation of noncrossing probabilities for
       Poisson processes and its corollaries." Advances in Applied Probability 33, 2001.
    .. [2] A. Moscovich, B. Nadler. "Fast calculation of boundary crossing probabilities
       for Poisson processes." Statistics & Probability Letters 123, 2017.

    Examples
    --------
    >>> round(stay_inside([0.1], [0.7]), 12)
    0.6
    >>> round(stay_inside([0, 0.5], [1, 1]), 12)  # the larger of two is at least 1/2
    0.75
    """
    # Order statistics ascend, so a limit binds all that come after it or before it.
    low = np.maximum.accumulate(np.asarray(lower, dtype=np.float64))
    high = np.minimum.accumulate(np.asarray(upper, dtype=np.float64)[::-1])[::-1]
    if (low >= high).any() or low[-1] >= 1 or high[0] <= 0:
        return 0.0
    n = len(low)
    left = _count_in_the_middle(low, high)
    mirrored = 1 - high[::-1], 1 - low[::-1]
    is_symmetric = np.abs(mirrored[0] - low).max() < _ROUNDING
    right = left if is_symmetric else _count_in_the_middle(*mirrored)
    joint = float(left @ right[::-1])  # k points on the left, n - k on the right
    return joint / _full_count(n)


def _full_count(n: int) -> float:
    """Return P(N(1) = n), to all digits: the terms of n - n log n + log n! cancel."""
    if n < 20:
        return math.pow(n, n) / math.factorial(n) * math.exp(-n)
    stirling = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / n**2) / n**2) / n**2) / n
    return math.exp(-stirling) / math.sqrt(2 * math.pi * n)


def _count_in_the_middle(low: Floats, high: Floats) -> Floats:
    """Return P(N(1/2) = k, no limit broken until then), for k = 0, ..., n."""
    n = len(low)
    times = np.sort(np.r_[low[(low > 0) & (low < 0.5)], high[high < 0.5], 0.5])
    # N has reached as many highs as there were, and no more than the next low allows.
    least = np.searchsorted(high, times, side="right")
    most = np.searchsorted(low, times, side="left")
    counts = np.zeros(n + 1)
    if (least > most).any():
        return counts
    before = np.r_[0, least[:-1]]
    mass = np.ones(1)
    steps = zip(
        _arrivals(n * np.diff(times, prepend=0.0), most - before + 1),
        (least - before).tolist(),
        (most - before + 1).tolist(),
        strict=True,
    )
    for arrivals, begin, end in steps:
        mass = np.convolve(mass, arrivals)[begin:end]
        if not len(mass):
            return counts
    counts[least[-1] : least[-1] + len(mass)] = mass
    return counts


def _arrivals(means: Floats, room: NDArray[np.int64]) -> Iterator[Floats]:
    """Yield the law of how many points arrive in each step, as far as there is room."""
    from scipy.special import gammaln, xlogy

    most = np.minimum(means + 10 * np.sqrt(means) + 22, room).astype(np.int64)
    at_once = max(1, _NUMBERS_AT_ONCE // int(most.max()))
    for begin in range(0, len(means), at_once):
        part = slice(begin, begin + at_once)
        k, mean = np.arange(most[part].max()), means[part, None]
        law = np.exp(xlogy(k, mean) - mean - gammaln(k + 1))
        # What is negligible is cut off behind the mode.
        kept = np.where((law > _NEGLIGIBLE) | (k < mean), k + 1, 1).max(axis=1)
        for row, length in zip(law, np.minimum(kept, room[part]).tolist(), strict=True):
            yield row[:length]
