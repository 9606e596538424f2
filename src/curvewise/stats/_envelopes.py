"""Means and tail means of the two distributions that a band ends at.

Between them lies every distribution inside the band, and both numbers grow when mass
moves up, so the envelopes hold the extremes.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._sample import Floats

Support = tuple[float, float]

_CHUNK = 1 << 15  # scores; two such arrays fit into a cache


def mean(scores: Floats, levels: Floats, support: Support) -> float:
    """Return the mean of the distribution that an envelope of the CDF is.

    Parameters
    ----------
    scores : ndarray, shape (trial,)
        In ascending order.
    levels : ndarray, shape (trial + 1,)
        The CDF where i scores are at or below. What it holds before the first score lies
        at the lower end of the support, what it lacks after the last at the upper one.
    support : (float, float)
    """
    low, high = support
    inside = float(np.diff(levels) @ scores)
    total = inside + moment(levels[0], low) + moment(1 - levels[-1], high)
    return min(max(total, low), high)


def upper_tail(
    scores: Floats, levels: Floats, support: Support, alpha: Floats
) -> Floats:
    """Return the mean of the top 1 - alpha of an envelope; parameters as in `mean`."""
    n, (low, high) = len(scores), support
    # Score i (from 1) is the quantile from level i - 1 to level i; the cut falls into one.
    i = np.searchsorted(levels, alpha, side="right")
    last = np.minimum(i, n)
    cut = np.where(i == 0, low, scores[np.maximum(last, 1) - 1])
    total = (levels[last] - alpha) * cut
    total += sums_from(_moments(scores, levels), n, last)
    total += moment(1 - levels[-1], high)
    return np.clip(np.where(i > n, high, total / (1 - alpha)), low, high)


def lower_tail(
    scores: Floats, levels: Floats, support: Support, alpha: Floats
) -> Floats:
    """Return the mean of the bottom alpha of an envelope; parameters as in `mean`."""
    n, (low, high) = len(scores), support
    i = np.searchsorted(levels, alpha, side="left")
    first = np.maximum(i, 1)
    cut = np.where(i > n, high, scores[np.minimum(first, n) - 1])
    before = n + 1 - first  # how many moments, counted from the top, come after
    total = (alpha - levels[first - 1]) * cut
    # Levels in descending order differ by minus as much.
    total -= sums_from(_moments(scores[::-1], levels[::-1]), n, before)
    total += moment(levels[0], low)
    return np.clip(np.where(i == 0, low, total / alpha), low, high)


def sums_from(
    values: Callable[[slice], Floats], length: int, first: NDArray[np.intp]
) -> Floats:
    """Return the sum of values from each index on, whatever order the indices have.

    Each value is made and read once, in chunks that stay in the cache: a grid of cuts
    through millions of scores costs hardly more than one.
    """
    starts, place = np.unique(first, return_inverse=True)
    blocks = np.zeros(len(starts))
    for begin in range(starts[0] if len(starts) else length, length, _CHUNK):
        end = min(begin + _CHUNK, length)
        after = np.searchsorted(starts, begin, side="right")
        until = np.searchsorted(starts, end, side="left")
        inside = np.append(0, starts[after:until] - begin)
        blocks[after - 1 : until] += np.add.reduceat(values(slice(begin, end)), inside)
    sums: Floats = np.cumsum(blocks[::-1])[::-1][place.reshape(first.shape)]
    return sums


def _moments(scores: Floats, levels: Floats) -> Callable[[slice], Floats]:
    def some(part: slice) -> Floats:
        moments = np.diff(levels[part.start : part.stop + 1])
        moments *= scores[part]
        return moments

    return some


def moment(mass: float, end: float) -> float:
    """Return mass times an end of the support: no mass at infinity weighs nothing."""
    return float(mass * end) if mass > 0 else 0.0
