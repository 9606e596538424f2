"""How wide an interval would be if trials were like those of a pilot."""

import math

import numpy as np
from numpy.typing import ArrayLike

from curvewise.stats._enough import is_few
from curvewise.stats._ranks import order_statistics
from curvewise.stats._sample import (
    Floats,
    checked_confidence,
    checked_size,
    checked_support,
    one_of,
    sorted_scores,
)
from curvewise.stats._student import standard_error, t_quantile
from curvewise.stats.bands import ANYWHERE, KINDS, Band, Kind, Support
from curvewise.stats.functionals import Functional
from curvewise.stats.planning._levels import band_levels

__all__ = ["asymptotic_width", "guaranteed_width"]


def guaranteed_width(
    functional: Functional,
    pilot: ArrayLike,
    n: int,
    *,
    confidence: float = 0.95,
    support: Support = ANYWHERE,
    kind: Kind = "kolmogorov",
) -> float:
    """Return the half-width of a guaranteed interval if n trials were like the pilot.

    Parameters
    ----------
    functional : Functional
        What the interval is for.
    pilot : array_like, shape (trial,)
    n : int
        Number of trials.
    confidence, support, kind
        Of the interval, see `curvewise.stats.functionals.Functional.interval`.

    Examples
    --------
    >>> pilot = [.2, .4, .5, .6, .7, .75, .8, .85, .9, .95]
    >>> round(guaranteed_width(Functional("mean"), pilot, 500, support=(0, 1)), 4)
    0.0528
    """
    z = sorted_scores(pilot)
    size, level = checked_size(n), checked_confidence(confidence)
    ends = checked_support(support, z)
    one_of("kind", kind, KINDS)
    if functional.of == "quantile" and kind != "anytime":
        return _between_order_statistics(z, functional.alpha, size, level, ends)
    lower, upper = band_levels(np.arange(len(z) + 1) / len(z), size, level, kind)
    low, high = functional.bounds(Band(z, lower, upper, level, kind, ends))
    return (high - low) / 2


def _between_order_statistics(
    z: Floats, p: float, n: int, confidence: float, support: Support
) -> float:
    first, last = order_statistics(n, p, confidence)
    # Between the pilot's scores a line: n trials would fill the gaps.
    place = (np.arange(len(z)) + 0.5) / len(z)
    low, high = np.interp([(first - 0.5) / n, (last - 0.5) / n], place, z).tolist()
    ends = support[0] if first < 1 else low, support[1] if last > n else high
    return float(ends[1] - ends[0]) / 2


def asymptotic_width(
    functional: Functional, pilot: ArrayLike, n: int, *, confidence: float = 0.95
) -> float:
    """Return the half-width of an asymptotic interval if n trials were like the pilot.

    Infinite for so few trials that such an interval is not given, as those were seen to
    cover too little.

    Parameters
    ----------
    functional : Functional
        What the interval is for: a mean or a CVaR.
    pilot : array_like, shape (trial,)
    n : int
        Number of trials.
    confidence : float
        Of the interval.

    Examples
    --------
    >>> pilot = [.2, .4, .5, .6, .7, .75, .8, .85, .9, .95]
    >>> round(asymptotic_width(Functional("mean"), pilot, 500), 4)
    0.021
    >>> asymptotic_width(Functional("mean"), pilot, 10)
    inf
    """
    averaged = checked_size(n) * functional.mass
    if is_few(averaged, functional.least_averaged(confidence)):
        return math.inf
    parts = functional.contributions(pilot)
    error = standard_error(parts) * math.sqrt(len(parts) / n)
    return t_quantile(confidence, averaged - 1) * error
