"""An interval that says what it is an interval for."""

from dataclasses import dataclass


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
    """

    lower: float
    upper: float
    estimand: str
    guarantee: str

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __str__(self) -> str:
        return f"[{self.lower:.4g}, {self.upper:.4g}]"
