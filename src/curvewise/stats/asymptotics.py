"""Asymptotic intervals: from how many trials on they hold, Student's t, and influences."""

import math
import warnings
from typing import Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseWarning
from curvewise.stats.distribution import rank
from curvewise.stats.interval import Statistic, Tail
from curvewise.stats.validation import Floats

What: TypeAlias = Literal[
    "mean",
    "cvar",
    "difference of mean",
    "difference of cvar",
    "difference of quantile",
    "difference of quantile in pairs",
    "improvement",
    "improvement in pairs",
    "improvement over tasks",
    "dominance",
    "profile",
    "resampled profile",
    "over tasks",
    "mean of all tasks",
    "IQM of all tasks",
    "gap of all tasks",
    "resampled over tasks",
    "bootstrap",
    "levels",
]

# In one sample nothing cancels: at 95 % Student's interval held in .92 to .95 of all cases
# with 20 trials (5 % failures: .925, exponential: .920), in .934 and more with 40.
# In differences skewness cancels. Of a CVaR the trials in the tail count.
_ENOUGH: dict[What, int] = {
    "mean": 40,
    "cvar": 40,
    "difference of mean": 20,
    "difference of cvar": 10,
    # Joined order statistics held in .95 and more from 10 trials on; of pairs that
    # correlate by .95 and .99 in .90 and .93 at 10, .94 and .91 at 20, .99 and .96 at 50.
    "difference of quantile": 2,
    "difference of quantile in pairs": 50,
    "improvement": 10,
    "improvement in pairs": 20,
    "improvement over tasks": 3,  # runs of a task, as below
    "dominance": 50,
    "profile": 10,
    "resampled profile": 20,
    "over tasks": 3,
    # Scores of all tasks together: the IQM of 24 held in .93 to .97 of all cases, of 5 in
    # .86 to .89; the gap with 40 runs that fall short in .91 to .96, with 5 in .77 to .98.
    "IQM of all tasks": 24,
    "mean of all tasks": 40,
    "gap of all tasks": 40,
    "resampled over tasks": 20,
    "bootstrap": 40,
    # Of a factor; below, and for skewed effects always, see `variance.share_intervals`.
    "levels": 20,
}
TOGETHER = 100  # in the tail, of one sample or of the smaller one
# From which confidence on an interval is taken for one of many.
_MANY: dict[What, float] = {
    "mean": 0.95,
    "cvar": 0.95,
    "difference of mean": 0.98,
    "difference of cvar": 0.98,
    "difference of quantile in pairs": 0.98,
}


def enough(what: What, confidence: float = 0.95) -> int:
    """Return from how many trials (runs, levels) on intervals were measured to hold."""
    if confidence > _MANY.get(what, 1.0):
        return TOGETHER
    return _ENOUGH[what]


def is_few(n: float, least: int) -> bool:
    """Whether there are less than the least number; the tenth of 100 is ten, not less."""
    return n < least - 1e-9


def warn_if_few(
    n: float,
    what: What,
    subject: str,
    *,
    of: str = "trials",
    confidence: float = 0.95,
    depth: int = 3,
) -> None:
    """Warn where an asymptotic interval was seen to cover less than it says."""
    least = enough(what, confidence)
    if is_few(n, least):
        warnings.warn(
            f"{subject} rests on {n:g} {of} and may hold less often than it says; it was "
            f"measured to hold from {least} on. Run more, or ask for a guaranteed one.",
            CurvewiseWarning,
            stacklevel=depth,
        )


# --- Quantiles of Student's t, and what they are multiplied by -------------------------


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


def welch_df(one: float, n: float, other: float, m: float) -> float:
    """Return the degrees of freedom of a sum of two estimated variances of means."""
    return (one + other) ** 2 / (one**2 / (n - 1) + other**2 / (m - 1))


def is_constant(values: Floats, *scores: Floats) -> bool:
    """Whether values do not vary beyond the rounding of the scores behind them."""
    scale = max(float(np.abs(z).max()) for z in scores)
    return float(np.ptp(values)) <= 1e-12 * scale


# --- Statistics as means: what each trial contributes to a mean, CVaR or IQM -----------
#
# A smooth statistic of n trials is, up to terms that vanish faster than its standard error,
# a mean of n values; their sample variance is then its variance, and the covariance of
# two such values carries what pairing gains.


def contributions(z: Floats, of: Statistic, alpha: float, tail: Tail) -> Floats:
    r"""Return values whose mean is exactly the mean or CVaR of the scores.

    .. math:: q + \frac{(z_i - q)_+}{1 - \alpha}, \qquad q - \frac{(q - z_i)_+}{\alpha}

    with q an alpha-quantile (Rockafellar and Uryasev). Of two such quantiles the one
    outside the tail is taken, so that both tails are mirror images of each other.
    """
    if of == "mean":
        return z
    if tail == "lower":
        return -contributions(-z, of, 1 - alpha, "upper")
    at = max(int(rank(len(z), np.asarray(alpha))), 1) - 1
    q = np.partition(z, at)[at]
    spread: Floats = q + np.maximum(z - q, 0) / (1 - alpha)
    return spread
