"""How many trials, judged from those that are there."""

import functools
import math
from collections.abc import Callable

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats import bands
from curvewise.stats._sample import Floats
from curvewise.stats.bands import Band, Kind, Support
from curvewise.stats.bounds import _order_statistics
from curvewise.stats.comparison._common import t_quantile
from curvewise.stats.functionals import Functional

MOST = 10**9  # trials; nobody runs more
_BLOCKS = 20  # of the pilot, each left out once
_ENOUGH = 20  # trials in the tail; with fewer, Student's intervals cover too little


def smallest(
    width: Callable[[int], float], half_width: float, guess: float, least: int = 1
) -> int:
    """Return the smallest number of trials at which a falling width is small enough.

    Parameters
    ----------
    width : callable
        The half-width at a number of trials; falls about like the root of it.
    half_width : float
    guess : float
        Where to begin.
    least : int
        The smallest number that may be asked for.
    """
    at = functools.cache(width)
    n = _within(guess, least, half_width)
    for _ in range(4):
        now = at(n)
        better = _within(
            4 * n if math.isinf(now) else n * (now / half_width) ** 2, least, half_width
        )
        if abs(better - n) <= 1:
            break
        n = better
    # The answer is close: steps that double bracket it, then halve.
    step = 1
    if at(n) <= half_width:
        high = n
        while n > least and at(n) <= half_width:
            high, n, step = n, max(least, n - step), 2 * step
        if at(n) <= half_width:
            return n
        low = n
    else:
        low = n
        while at(n) > half_width:
            low, n, step = n, _within(n + step, least, half_width), 2 * step
        high = n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle) <= half_width else (middle, high)
    return high


def _within(n: float, least: int, half_width: float) -> int:
    if n > MOST:
        raise CurvewiseError(
            f"A half-width of {half_width:g} takes more than {MOST:,} trials. Pass a "
            f"larger one."
        )
    return max(least, math.ceil(n))


def guaranteed_width(
    functional: Functional,
    pilot: Floats,
    n: int,
    *,
    confidence: float,
    support: Support,
    kind: Kind,
) -> float:
    """Return the half-width of a guaranteed interval if n trials were like the pilot."""
    z = np.sort(pilot)
    if functional.of == "quantile" and kind != "anytime":
        return _between_order_statistics(z, functional.alpha, n, confidence, support)
    lower, upper = _levels(len(z), n, confidence, kind)
    band = Band(z, lower, upper, confidence, kind, support)
    low, high = functional.bounds(band)
    return (high - low) / 2


def _levels(m: int, n: int, confidence: float, kind: Kind) -> tuple[Floats, Floats]:
    """Return the levels of a band of n trials at the m + 1 levels of a pilot."""
    share = np.arange(m + 1) / m
    if kind != "equal_local_levels":
        e = bands.half_width(n, confidence=confidence, kind=kind)
        return np.maximum(share - e, 0), np.minimum(share + e, 1)
    from scipy.special import betaincinv

    level = bands.local_level(n, confidence=confidence) / 2
    i = np.arange(1, m + 1) * n / m
    lower = np.r_[0.0, betaincinv(i, n + 1 - i, level)]
    upper = np.r_[1 - betaincinv(i, n + 1 - i, level)[::-1], 1.0]
    return lower, upper


def _between_order_statistics(
    z: Floats, p: float, n: int, confidence: float, support: Support
) -> float:
    first, last = _order_statistics(n, p, confidence)
    # Between the pilot's scores a line: n trials would fill the gaps.
    place = (np.arange(len(z)) + 0.5) / len(z)
    low, high = np.interp([(first - 0.5) / n, (last - 0.5) / n], place, z).tolist()
    ends = support[0] if first < 1 else low, support[1] if last > n else high
    return float(ends[1] - ends[0]) / 2


def asymptotic_width(
    functional: Functional, pilot: Floats, n: int, confidence: float
) -> float:
    """Return the half-width of an asymptotic interval if n trials were like the pilot.

    Infinite for so few trials that such intervals were seen to cover too little.
    """
    in_tail = n * functional.mass
    if in_tail < _ENOUGH:
        return math.inf
    spread = float(functional.contributions(pilot).std(ddof=1))
    return t_quantile(confidence, in_tail - 1) * spread / math.sqrt(n)


def span(
    pilot: Floats, trials: int, width_of: Callable[[Floats], float]
) -> tuple[int, int]:
    r"""Return between which numbers of trials the right one lies, with 95 % confidence.

    Trials needed grow like the squared width, so that the standard error of its logarithm
    (jackknife over blocks of the pilot) is doubled.
    """
    from scipy.special import stdtrit

    blocks = min(_BLOCKS, len(pilot))
    widths = np.array([
        width_of(np.delete(pilot, np.s_[k::blocks])) for k in range(blocks)
    ])  # fmt: skip
    if not np.isfinite(widths).all() or (widths <= 0).any():
        return 1, MOST
    logs = 2 * np.log(widths)
    error = math.sqrt((blocks - 1) * float(logs.var()))
    factor = math.exp(min(float(stdtrit(blocks - 1, 0.975)) * error, 50.0))
    low, high = math.floor(trials / factor), math.ceil(min(trials * factor, MOST))
    return max(low, 1), high
