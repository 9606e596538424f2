"""Intervals of rates from confusion counts, of one matrix or of millions."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.stats._sample import Floats

__all__ = ["CountIntervals"]


@dataclass(frozen=True, slots=True, eq=False)
class CountIntervals:
    """Intervals, one for each matrix; ``low, high = intervals`` takes the ends.

    Parameters
    ----------
    lower, upper : ndarray, shape (...)
        The ends, in the shape of the counts; plain numbers for one matrix.
    value : ndarray, shape (...)
        The rate that was observed; 0/0 counts as the worst value, as in
        `curvewise.metrics`.
    estimand : str
        The unknown number that each is meant to contain.
    guarantee : str
        How surely it does, under which assumptions.
    confidence : float
    concerns : tuple of str
        What to know before they are used; empty where there is nothing.
    monte_carlo_error : float
        Largest standard error that chance left in the ends; 0 where nothing was left to
        chance.

    Examples
    --------
    >>> from curvewise.stats.counts import f1_interval
    >>> low, high = f1_interval(tp=40, fp=12, fn=9)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.690 to 0.864
    """

    lower: Floats
    upper: Floats
    value: Floats
    estimand: str
    guarantee: str
    confidence: float
    concerns: tuple[str, ...] = ()
    monte_carlo_error: float = 0.0

    @property
    def half_width(self) -> Floats:
        """Half of the length of each."""
        return np.asarray((self.upper - self.lower) / 2)[()]

    def covers(self, rate: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each contains a rate.

        >>> from curvewise.stats.counts import recall_interval
        >>> recall_interval(tp=[9, 90], fn=[1, 10]).covers(0.8).tolist()
        [True, False]
        """
        x = np.asarray(rate, dtype=np.float64)
        return np.asarray((self.lower <= x) & (x <= self.upper))

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.lower, self.upper))

    def __str__(self) -> str:
        if np.ndim(self.lower) == 0:
            return f"{self.value:.4g} [{self.lower:.4g}, {self.upper:.4g}]"
        return (
            f"{np.size(self.lower):,} intervals of {self.estimand}, "
            f"{self.confidence:g} each"
        )
