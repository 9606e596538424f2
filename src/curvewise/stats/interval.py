"""Intervals and bands that say what they are for."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from curvewise.stats._sample import Floats

__all__ = ["CurveBand", "Interval"]

Method: TypeAlias = Literal["asymptotic", "guaranteed"]
METHODS = ("asymptotic", "guaranteed")
Statistic: TypeAlias = Literal["mean", "cvar", "quantile"]
STATISTICS = ("mean", "cvar", "quantile")
Tail: TypeAlias = Literal["upper", "lower"]
TAILS = ("upper", "lower")


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
    value, lower, upper : ndarray, shape (point,)
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
