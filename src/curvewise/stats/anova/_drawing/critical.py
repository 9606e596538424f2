"""Critical draws: which of them leaves a given share above, and how sure that is."""

import math

import numpy as np

from curvewise.errors import CurvewiseError, Verbatim
from curvewise.stats._sample import Floats

_FLOOR = 1e-12  # a rank that is met up to rounding is met


def critical_place(confidence: float, flips: int) -> int:
    """Return which of the sorted draws is critical; refuse what so few cannot tell.

    Examples
    --------
    >>> critical_place(0.95, 9999)
    9500
    """
    place = math.ceil(confidence * (flips + 1) - _FLOOR * (flips + 1))
    if place > flips:
        enough = math.ceil(1 / (1 - confidence))
        raise CurvewiseError(
            f"{flips} flips cannot tell a confidence of {confidence:g}. Pass ",
            {"flips": Verbatim(f"{enough}")},
            " or more.",
        )
    return place


def critical(draws: Floats, place: int, confidence: float) -> tuple[float, float]:
    r"""Return the critical draw and its Monte-Carlo error.

    The rank of the true quantile has standard deviation
    :math:`s = \sqrt{R (1-\delta) \delta}`, and the error is half of what lies between
    the draws s places below and above.

    Examples
    --------
    >>> critical(np.arange(1.0, 1000.0), 950, 0.95)
    (950.0, 7.0)
    """
    flips = len(draws)
    apart = math.ceil(math.sqrt(flips * confidence * (1 - confidence)))
    low, high = max(place - apart, 1), min(place + apart, flips)
    wanted = np.partition(draws, [low - 1, place - 1, high - 1])
    error = float(wanted[high - 1] - wanted[low - 1]) / 2
    return float(wanted[place - 1]), error
