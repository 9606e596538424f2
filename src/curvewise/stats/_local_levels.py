"""The local level of a band with equal local levels, without simulation.

A band of local level eta holds with confidence (1 - eta)^m; m, the number of independent
intervals that the band amounts to, grows slowly and smoothly with the number of trials.
"""

import functools
import math
from collections.abc import Sequence

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats import _local_level_table as table
from curvewise.stats._crossing import stay_inside
from curvewise.stats._sample import Floats

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

    Raises
    ------
    CurvewiseError
        If the confidence is too close to 0 or 1, or the table ends before n.
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
    return _interpolated(n, confidence)


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
        found = min(max(coverage(n, _level(at)), 1e-300), 1 - 1e-15)
        off = math.log(-math.log(found)) - aim
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


def _interpolated(n: int, confidence: float) -> float:
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
    known = np.log(np.log(table.CONFIDENCES) / np.log1p(-np.array(table.LEVELS)))
    m = math.exp(by_size @ known @ by_confidence)
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
