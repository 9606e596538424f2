"""The local level of a band with equal local levels, without simulation.

A band of local level eta holds with confidence (1 - eta)^m; m, the number of independent
intervals that the band amounts to, grows slowly and smoothly with the number of trials.
"""

import functools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats import local_level_table as table
from curvewise.stats.validation import Floats

EXACT_UP_TO = 5000
# Beyond these the recursion, good to 13 decimals, no longer knows what is left.
_LEAST, _MOST = 1e-6, 1 - 1e-9
# Confidences run together near 1. On this scale the logarithm of m is a polynomial of low
# order; the 4 was found by trying.
_ORIGIN = 4.0


@functools.cache  # cells of one study mostly have the same number of trials
def local_level(n: int, confidence: float) -> float:
    """Return eta, with which l_i and h_i are the eta/2 quantiles of the i-th of n.

    It is exact up to `EXACT_UP_TO`; beyond, interpolated in a table and less than exact by
    a share of at most ``2 * table.SHAVED``.
    """
    if not _LEAST <= confidence <= _MOST:
        raise CurvewiseError(
            f"confidence is {confidence!r}. For equal local levels pass one from "
            "1e-6 to 1 - 1e-9, or ",
            {"kind": "kolmogorov"},
            ".",
            argument="confidence",
            value=confidence,
        )
    if n <= EXACT_UP_TO:
        return exact(n, confidence)
    return interpolated(n, confidence)


def coverage(n: int, level: float) -> float:
    """Return how often a band of this local level holds, everywhere at once."""
    from scipy.special import betaincinv

    i = np.arange(1, n + 1)
    lower = betaincinv(i, n + 1 - i, level / 2)
    return stay_inside(lower, 1 - lower[::-1])


def exact(n: int, confidence: float, guess: float | None = None) -> float:
    """Return the local level by the secant method, from a guess of m.

    On the scales log(-log(1 - eta)) and log(-log(confidence)) the curve is all but a line;
    three or four evaluations do.
    """
    aim = math.log(-math.log(confidence))
    at = aim - math.log(guess or _guess(n, aim))
    slope, last = 1.08, None
    # The slope is good to four digits by the last step; and near 1, rounding is in charge.
    enough = max(1e-7, 1e-13 / (1 - confidence))
    for _ in range(30):
        reached = min(max(coverage(n, _level(at)), 1e-300), 1 - 1e-15)
        off = math.log(-math.log(reached)) - aim
        if last is not None and off != last[1]:
            slope = (at - last[0]) / (off - last[1])
        last = at, off
        at -= slope * off
        if abs(slope * off) < enough:
            break
    return _level(at)


def intervals(level: float, confidence: float) -> float:
    """Return m, for which (1 - level)^m is the confidence."""
    return math.log(confidence) / math.log1p(-level)


def _level(at: float) -> float:
    return -math.expm1(-math.exp(at))


def _guess(n: int, aim: float) -> float:
    """Return m within a few percent, by two numbers that fit what the recursion gives."""
    return min(n, 1 + 1.3 * math.pow(math.log(n), 1.85) * math.exp(-0.08 * (aim + 3)))


def interpolated(n: int, confidence: float) -> float:
    """Return the local level that the table has for so many trials, on the safe side."""
    least, most = table.CONFIDENCES[0], table.CONFIDENCES[-1]
    if n > table.SIZES[-1] or not least <= confidence <= most:
        raise CurvewiseError(
            f"n is {n} and confidence {confidence!r}. For equal local levels pass at "
            f"most {table.SIZES[-1]:,} trials, and a confidence from {least:g} to "
            f"{most:g} beyond {EXACT_UP_TO:,}; or ",
            {"kind": "kolmogorov"},
            ".",
            argument="n",
            value=n,
        )
    by_size = lagrange(np.log(table.SIZES), math.log(n))
    scale = confidence_scale([*table.CONFIDENCES, confidence])
    by_confidence = lagrange(scale[:-1], scale[-1])
    nodes = np.log(np.log(table.CONFIDENCES) / np.log1p(-np.array(table.LEVELS)))
    m = math.exp(by_size @ nodes @ by_confidence)
    return (1 - table.SHAVED) * -math.expm1(math.log(confidence) / m)


def confidence_scale(confidences: Sequence[float]) -> Floats:
    """Return confidences on the scale on which they are interpolated."""
    return np.asarray(np.log(_ORIGIN - np.log(-np.log(confidences))))


def lagrange(nodes: Floats, x: float) -> Floats:
    """Return the weights of the values at nodes in the polynomial through all of them."""
    apart = nodes[:, None] - nodes
    np.fill_diagonal(apart, 1)
    to = np.tile(x - nodes, (len(nodes), 1))
    np.fill_diagonal(to, 1)
    return np.asarray((to / apart).prod(axis=1))


# --------------------------------------------------------------------------------------
# How likely all order statistics of a uniform sample are to stay inside their limits.


_NEGLIGIBLE = 1e-19  # of a law: left out, at every one of at most 2n steps
_NUMBERS_AT_ONCE = 200_000  # laws are made for many steps together, in a few MB
_ROUNDING = 1e-15  # limits that are this close are the same


def stay_inside(lower: ArrayLike, upper: ArrayLike) -> float:
    r"""Return the probability that every order statistic lies between its limits.

    .. math:: P(l_i \le U_{(i)} \le h_i \ \forall i)

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
        lengths = np.where((law > _NEGLIGIBLE) | (k < mean), k + 1, 1).max(axis=1)
        for row, length in zip(
            law, np.minimum(lengths, room[part]).tolist(), strict=True
        ):
            yield row[:length]
