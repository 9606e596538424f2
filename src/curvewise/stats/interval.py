"""Intervals and bands that say what they are for and what they promise."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from curvewise import text
from curvewise.stats.validation import Floats

__all__ = [
    "CurveBand",
    "Interval",
]


Method: TypeAlias = Literal["asymptotic", "guaranteed"]
METHODS = ("asymptotic", "guaranteed")
Statistic: TypeAlias = Literal["mean", "cvar", "quantile"]
STATISTICS = ("mean", "cvar", "quantile")
Tail: TypeAlias = Literal["upper", "lower"]
TAILS = ("upper", "lower")

percent = text.percent  # as guarantees write their level


@dataclass(frozen=True, slots=True)
class Interval:
    """A pointwise interval.

    Parameters
    ----------
    lower, upper : float
    estimand : str
        The unknown number that it is meant to contain.
    guarantee : str
        How often it does, under which assumptions.
    value : float
        The estimate that it surrounds; NaN where there is none.
    monte_carlo_error : float
        Standard error that chance left in its ends; 0 where nothing was left to chance.
    """

    lower: float
    upper: float
    estimand: str
    guarantee: str
    value: float = math.nan
    monte_carlo_error: float = 0.0

    @property
    def half_width(self) -> float:
        """Half of its length."""
        return (self.upper - self.lower) / 2

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __str__(self) -> str:
        return f"[{self.lower:.4g}, {self.upper:.4g}]"


@dataclass(frozen=True, slots=True, eq=False)
class CurveBand:
    """An estimated curve with a band.

    Parameters
    ----------
    at : ndarray, shape (point,)
        Where the curve was asked for.
    value, lower, upper : ndarray, shape (point,), or (curve, point) of many
    estimand : str
        The unknown curve that the band is meant to contain.
    guarantee : str
        How often it does, at all points at once unless it says otherwise.
    monte_carlo_error : float
        Largest standard error that chance left in its ends.
    """

    at: Floats
    value: Floats
    lower: Floats
    upper: Floats
    estimand: str
    guarantee: str
    monte_carlo_error: float = 0.0


# --- What an interval is for and what it promises, in words ----------------------------


# What nothing but the design of the experiment can promise.
APART = ", A independent of B"


def estimand(of: Statistic, alpha: float, tail: Tail) -> str:
    """Return which number of the distribution of all trials is meant."""
    if of == "mean":
        return "the mean of all trials"
    if of == "quantile":
        return f"the score that a share {alpha:g} of all trials do not exceed"
    part, share = ("best", 1 - alpha) if tail == "upper" else ("worst", alpha)
    return f"the mean of the {part} {share:g} of all trials"


def asymptotic(confidence: float, name: str, given: str = "") -> str:
    """Return the guarantee of an interval that holds for many trials."""
    level = percent(confidence)
    return f"about {level}, asymptotic, for independent trials{given} ({name})"


def finite_sample(confidence: float, how: str) -> str:
    """Return the guarantee of an interval that holds at any number of trials."""
    return f"at least {percent(confidence)} (finite-sample), for independent {how}"


def looks(kind: str) -> str:
    """Return words for bands that hold however often one looks; none for the others."""
    return ", at every number of trials" if kind == "anytime" else ""


def cannot_tell(why: str) -> str:
    """Return the guarantee of an interval that holds everything possible."""
    return f"cannot tell: {why}"


def few(n: int, m: int) -> str:
    """Return why samples of one say nothing."""
    return f"{n} and {m} trials do not show how much trials differ"


def clopper_pearson(k: float, n: int, miss: float) -> tuple[float, float]:
    """Return between what a rate lies, but for a chance of `miss`, that was k of n.

    `k` may be a fraction, where cases that hang together count as one.

    >>> [round(end, 4) for end in clopper_pearson(0, 200, 0.01)]
    [0.0, 0.0261]
    >>> [round(end, 4) for end in clopper_pearson(10, 200, 0.01)]
    [0.0188, 0.104]
    """
    from scipy.special import betaincinv

    if n == 0:
        return 0.0, 1.0
    low = 0.0 if k <= 0 else float(betaincinv(k, n - k + 1, miss / 2))
    high = 1.0 if k >= n else float(betaincinv(k + 1, n - k, 1 - miss / 2))
    return low, high
