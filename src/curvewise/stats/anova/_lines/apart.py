"""Lines without their origin: how they differ within algorithms, and between them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._sample import Floats
from curvewise.stats._student import unit_of
from curvewise.stats.anova._lines.designs import EPS, SCORE, Design, residuals

Places: TypeAlias = NDArray[np.intp]

_SUM = 8 * EPS  # what adding up may add, as a share of what is added up


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Lines less the middle line of their algorithm, and these middle lines.

    Differences of close numbers are exact, and they are taken before anything is added
    up or squared: an origin that is large beside the noise costs no digits, neither one
    that all lines share nor one of an algorithm. What rounding alone would explain is 0,
    so that nothing is judged by it.

    Parameters
    ----------
    design : Design
        Each line less the middle line of its algorithm.
    middles : ndarray, shape (algorithm, step)
        The middle lines, less one of them.
    line_slack : ndarray, shape (line, step)
        What rounding may have made of each line.
    slack : ndarray, shape (algorithm, step)
        The same of each middle line.
    """

    design: Design
    middles: Floats
    line_slack: Floats
    slack: Floats

    @property
    def residuals(self) -> Floats:
        """Lines less the mean line of their algorithm; 0 where none of them varies."""
        return residuals(self.design)

    @property
    def means(self) -> Floats:
        """The mean line of each algorithm, all less the same line."""
        own: Floats = np.stack([g.mean(axis=0) for g in self.design.groups])
        return self.middles + own

    @property
    def largest(self) -> Floats:
        """How far lines are apart at each step, about; shape (step,)."""
        own: Floats = np.abs(self.design.values).max(axis=0)
        between: Floats = np.abs(self.middles).max(axis=0)
        return np.maximum(own, between)

    def in_unit(self) -> tuple["Apart", float]:
        """Return the same in a unit, a power of two, that keeps squares finite."""
        unit = unit_of(self.largest)
        return self.over(unit), unit

    def over(self, unit: Floats | float) -> "Apart":
        """Return the same divided by powers of two."""
        return Apart(
            self.design.with_values(self.design.values / unit),
            self.middles / unit,
            self.line_slack / unit,
            self.slack / unit,
        )

    def averaged(self, average: Callable[[Floats], Floats]) -> "Apart":
        """Return averages of steps, such as means in windows, of each line."""
        values = self.design.values
        return _settled(
            self.design.with_values(average(values)),
            average(self.middles),
            average(self.line_slack + _SUM * np.abs(values)),
            average(self.slack + _SUM * np.abs(self.middles)),
        )

    def line_means(self) -> "Apart":
        """Return each line's mean: all that an Algorithm effect shows in."""
        return self.averaged(_mean)

    def centred(self) -> "Apart":
        """Return lines less their own means: all that an Interaction shows in."""
        values, middles = self.design.values, self.middles
        off = self.line_slack + _SUM * np.abs(values)
        middle_off = self.slack + _SUM * np.abs(middles)
        return _settled(
            self.design.with_values(values - _mean(values)),
            middles - _mean(middles),
            off + off.max(axis=1, keepdims=True),
            middle_off + middle_off.max(axis=1, keepdims=True),
        )


def apart(design: Design) -> Apart:
    """Return how lines differ, within algorithms and between them."""
    none = np.zeros((len(design.sizes), design.values.shape[1]))
    return _settled(design, none, SCORE * np.abs(design.values), none)


def step_units(largest: Floats) -> Floats:
    """Return a power of two for each step, by which values so large may be divided."""
    exponent = np.frexp(largest)[1]
    return np.ldexp(1.0, np.maximum(exponent, -1000))


def _settled(
    design: Design, middles: Floats, line_slack: Floats, slack: Floats
) -> Apart:
    rest, own, off = np.empty_like(design.values), [], []
    for s in design.slices:
        away, doubt, at = _from_middle(design.values[s], line_slack[s])
        # All or none: without its small deviations, noise would be another noise.
        rest[s] = np.where((np.abs(away) > doubt).any(axis=0), away, 0.0)
        own.append(_at(design.values[s], at))
        off.append(_at(line_slack[s], at))
    slack = slack + np.concatenate(off)
    middles, doubt, _ = _from_middle(middles + np.concatenate(own), slack)
    # Beside noise, rounding decides nothing.
    varies = rest.any(axis=0)
    middles = np.where(varies | (np.abs(middles) > doubt), middles, 0.0)
    # Scores that all lines share are gone, and the rounding of them with them.
    is_there = varies | middles.any(axis=0)
    return Apart(
        design.with_values(rest), middles, line_slack * is_there, slack * is_there
    )


def _from_middle(values: Floats, slack: Floats) -> tuple[Floats, Floats, Places]:
    """Return values less a middle one, what rounding may be in that, and its place.

    Other than the mean, a value that is there is exact, and a diverged line costs the
    others no digits.
    """
    middle = (len(values) - 1) // 2
    at = np.argpartition(values, middle, axis=0)[middle][None]
    return values - _at(values, at), slack + _at(slack, at), at


def _at(values: Floats, places: Places) -> Floats:
    return np.take_along_axis(values, places, axis=0)


def _mean(values: Floats) -> Floats:
    mean: Floats = values.mean(axis=1, keepdims=True)
    return mean
