"""Where lines of experiments to come are drawn from, judged from those of a pilot."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats._student import unit_of
from curvewise.stats.anova._drawing.statistics import Split
from curvewise.stats.anova._lines.designs import Design, compact

_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Where lines come from: the mean line of each algorithm, and deviations to draw.

    Coordinates: the mean of a line times the root of the number of steps, then its shape.
    Where nobody asks about shapes there is only the first.

    Parameters
    ----------
    middles : ndarray, shape (algorithm, coordinate)
        Mean lines, less their middle.
    noise : list of ndarray, shape (line, coordinate)
        Deviations of each algorithm, as large as those of new lines.
    steps : int
    freedom : float
        Degrees of freedom with which the size of the noise is known; each experiment has
        noise as large as they leave open, and always the same if infinite.
    """

    middles: Floats
    noise: list[Floats]
    steps: int
    freedom: float = math.inf

    def noise_sizes(self, draws: int, rng: np.random.Generator) -> Floats:
        """Return how large the variance of lines may be, that of the pilot being 1."""
        if math.isinf(self.freedom):
            return np.ones(draws)
        return self.freedom / rng.chisquare(self.freedom, draws)

    def scaled(self, scale: Sequence[float]) -> "Population":
        """Return the same with smaller or larger effects: of means, and of shapes."""
        middles = self.middles.copy()
        middles[:, 0] *= scale[0]
        middles[:, 1:] *= scale[1]
        return replace(self, middles=middles)

    def drawn(self, sets: int, sizes: Sequence[int], rng: np.random.Generator) -> Split:
        """Return experiments with so many lines of each algorithm."""
        # Larger noise is a smaller effect: no statistic depends on the unit.
        unit = np.sqrt(self.noise_sizes(sets, rng))[:, None, None]
        parts = [
            middle / unit + own[rng.integers(0, len(own), (sets, size))]
            for middle, own, size in zip(self.middles, self.noise, sizes, strict=True)
        ]
        values = np.concatenate(parts, axis=1)
        values -= values.mean(axis=1, keepdims=True)
        shapes = np.ascontiguousarray(values[:, :, 1:].transpose(0, 2, 1))
        return Split(values[:, :, 0].copy(), shapes, tuple(sizes), self.steps)


def population(
    design: Design, middles: Floats, *, shapes: bool, pooled: bool
) -> Population:
    """Return where new lines would come from, judged from a pilot.

    Parameters
    ----------
    design : Design
        The pilot.
    middles : ndarray, shape (algorithm, step)
        Mean lines, those of the pilot or others.
    shapes : bool
        Whether anything is asked about shapes.
    pooled : bool
        Whether all algorithms have the same noise.
    """
    m, steps = middles.shape
    apart = middles - middles.mean(axis=0)
    deviations = [g - g.mean(axis=0) for g in design.groups]
    values = np.concatenate([apart, *deviations])
    values = values / unit_of(values)
    means = values.mean(axis=1, keepdims=True)
    own = [_not_rounding(np.sqrt(steps) * means)]
    if shapes:
        own.append(compact(_not_rounding(values - means)))
    found = np.hstack(own)
    apart, rest = found[:m], found[m:]
    if pooled:
        rest = rest * np.sqrt(len(rest) / (len(rest) - m))
        return Population(apart, [rest] * m, steps)
    # Deviations from a mean of l lines are smaller than those of new lines from theirs.
    noise = [
        rest[s] * np.sqrt(n / (n - 1))
        for s, n in zip(design.slices, design.sizes, strict=True)
    ]
    return Population(apart, noise, steps)


def _not_rounding(values: Floats) -> Floats:
    """Return coordinates, 0 where all of them are what rounding left of values near 1."""
    return values if np.abs(values).max() > _ROUNDING else np.zeros_like(values)
