"""What the comparisons share: pairs, few trials, quantiles of Student's t."""

import warnings
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, CurvewiseWarning
from curvewise.stats._sample import Floats, checked_scores

Method: TypeAlias = Literal["asymptotic", "guaranteed"]
METHODS = ("asymptotic", "guaranteed")


def two_samples(a: ArrayLike, b: ArrayLike, paired: bool) -> tuple[Floats, Floats]:
    """Return both samples as arrays; refuse pairs that do not match."""
    one, other = checked_scores(a, "Scores a"), checked_scores(b, "Scores b")
    if paired and len(one) != len(other):
        raise CurvewiseError(
            f"There are {len(one)} scores a and {len(other)} scores b. Pass the same "
            f"trials in the same order, or paired=False."
        )
    return one, other


def asymptotic(confidence: float, name: str) -> str:
    """Return the guarantee of an interval that holds for many trials."""
    return f"about {_percent(confidence)}, asymptotic, for independent trials ({name})"


def finite_sample(confidence: float, how: str) -> str:
    """Return the guarantee of an interval that holds at any number of trials."""
    return f"at least {_percent(confidence)} (finite-sample), for independent {how}"


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.6g}%"


def cannot_tell(why: str) -> str:
    """Return the guarantee of an interval that holds everything possible."""
    return f"cannot tell: {why}"


def few(n: int, m: int) -> str:
    """Return why samples of one say nothing."""
    return f"{n} and {m} trials do not show how much trials differ"


def warn_if_few(
    n: float, enough: int, what: str, *, of: str = "trials", depth: int = 3
) -> None:
    """Warn where an asymptotic interval was seen to cover less than it says."""
    if n < enough:
        warnings.warn(
            f"{what} rests on {n:g} {of} and may hold less often than it says; it was "
            f"measured to hold from {enough} on. Run more, or ask for a guaranteed one.",
            CurvewiseWarning,
            stacklevel=depth,
        )


def t_quantile(confidence: float, df: float) -> float:
    """Return how many standard errors a two-sided interval reaches."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + confidence) / 2))


def welch_df(one: float, n: float, other: float, m: float) -> float:
    """Return the degrees of freedom of a sum of two estimated variances of means."""
    return (one + other) ** 2 / (one**2 / (n - 1) + other**2 / (m - 1))


def is_constant(values: Floats, *scores: Floats) -> bool:
    """Whether values do not vary beyond the rounding of the scores behind them."""
    scale = max(float(np.abs(z).max()) for z in scores)
    return float(np.ptp(values)) <= 1e-12 * scale
