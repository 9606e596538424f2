"""Quantiles of Student's t, and what they are multiplied by."""

import math

import numpy as np

from curvewise.stats._sample import Floats


def t_quantile(confidence: float, df: float) -> float:
    """Return how many standard errors a two-sided interval reaches."""
    from scipy.special import stdtrit

    # From below: 1 + confidence would round to 2 where confidence is next to 1.
    return -float(stdtrit(df, (1 - confidence) / 2))


def unit_of(*samples: Floats) -> float:
    """Return a power of two about as large as the values, by which they may be divided.

    Squares of what is left neither overflow nor vanish, and no digit is lost.
    """
    largest = max(float(np.abs(z).max(initial=0)) for z in samples)
    return math.ldexp(1.0, max(math.frexp(largest)[1], -1000)) if largest else 1.0


def standard_error(values: Floats) -> float:
    """Return the standard error of the mean of values, however small or large."""
    unit = unit_of(values)
    return unit * float((values / unit).std(ddof=1)) / math.sqrt(len(values))


def welch(one: float, n: float, other: float, m: float) -> tuple[float, float]:
    """Return the standard error of a difference of two means, and its freedom.

    From the standard errors of both, of which one is above 0.
    """
    largest = max(one, other)
    u, v = (one / largest) ** 2, (other / largest) ** 2
    return largest * math.sqrt(u + v), welch_df(u, n, v, m)


def welch_df(one: float, n: float, other: float, m: float) -> float:
    """Return the degrees of freedom of a sum of two estimated variances of means."""
    return (one + other) ** 2 / (one**2 / (n - 1) + other**2 / (m - 1))


def is_constant(values: Floats, *scores: Floats) -> bool:
    """Whether values do not vary beyond the rounding of the scores behind them."""
    scale = max(float(np.abs(z).max()) for z in scores)
    return float(np.ptp(values)) <= 1e-12 * scale
