"""What one statistic came to in all draws of one kind."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.anova._drawing.settling import at_any_time, clopper_pearson, side

Stopped: TypeAlias = Literal["all", "fixed", "first look", "later look"]


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """The values of a statistic under shuffles or flips, beside the observed one.

    Parameters
    ----------
    values : ndarray, shape (draw,)
        As drawn.
    observed : float
        The statistic of the lines as they came.
    stopped : {"all", "fixed", "first look", "later look"}
        "all": every draw there is, once. "fixed": a number set beforehand. Else drawn
        until the decision was settled, or no more were allowed.
    holds_observed : bool
        Whether the lines as they came are among the draws.
    """

    values: Floats
    observed: float
    stopped: Stopped
    holds_observed: bool

    @property
    def number(self) -> int:
        """How many draws there are."""
        return len(self.values)

    @property
    def exact(self) -> bool:
        """Whether they are all that there are."""
        return self.stopped == "all"

    @property
    def exceeding(self) -> int:
        """How many are at least as large as the observed one, ties counted."""
        return exceeding(self.values, self.observed)

    @property
    def p(self) -> float:
        """The p value: (1 + exceeding) / (1 + number), the observed one counted once."""
        return self._p(self.exceeding)

    @property
    def smallest_p(self) -> float:
        """The smallest p that so many draws can give."""
        return self._p(int(self.holds_observed))

    def _p(self, b: int) -> float:
        extra = 0 if self.holds_observed else 1
        return (extra + b) / (extra + self.number)

    def side(self, level: float) -> int:
        """Return on which side of the level p is: -1 at or below, 1 above, 0 open."""
        if self.stopped in ("all", "fixed"):
            return -1 if is_within(self.p, level) else 1
        return side(self.number, self.exceeding, level)

    def p_interval(self, miss: float) -> tuple[float, float]:
        """Return where the p of all draws there are lies, but with probability `miss`."""
        n, b = self.number, self.exceeding
        if self.exact:
            return self.p, self.p
        if self.stopped == "fixed":
            return clopper_pearson(n, b, miss)
        # Half for the first look, half for all later ones.
        interval = clopper_pearson if self.stopped == "first look" else at_any_time
        return interval(n, b, miss / 2)

    def critical_value(self, level: float) -> float:
        """Return the smallest value that is rejected, inf where none is.

        Of all deals, it is one of their values; of drawn ones, it is just above the
        largest drawn value that is too common.
        """
        extra = 0 if self.holds_observed else 1
        allowed = math.floor(level * (extra + self.number) * (1 + 1e-12)) - extra
        if allowed < int(self.holds_observed):
            return math.inf
        at = self.number - 1 - allowed
        if at < 0:
            return -math.inf
        common = float(np.partition(self.values, at)[at])
        if not math.isfinite(common):
            return math.inf
        least = common + 2 * tolerance(common)
        if not self.holds_observed:
            return least
        above = self.values[self.values >= least]
        return float(above.min()) if len(above) else math.inf


def tolerances(values: Floats) -> Floats:
    """Return by how much statistics may differ and be the same but for rounding."""
    return np.where(np.isfinite(values), 1e-9 * np.abs(values) + 1e-12, 0.0)


def tolerance(value: float) -> float:
    """Return by how much a statistic may differ from another and be the same."""
    return float(tolerances(np.asarray(value)))


def exceeding(values: Floats, observed: float) -> int:
    """Return how many values are at least the observed one, ties counted."""
    return int(np.count_nonzero(values >= observed - tolerance(observed)))


def is_within(p: float, level: float) -> bool:
    """Whether p is at most the level, safe against rounding."""
    return p <= level * (1 + 1e-12)
