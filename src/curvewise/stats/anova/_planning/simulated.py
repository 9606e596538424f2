"""Experiments that nobody ran: lines like those of a pilot, and how they are tested."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._labels import Labels, labels_as_they_lie, random_labels
from curvewise.stats._sample import Floats
from curvewise.stats._student import unit_of
from curvewise.stats.anova._drawing import statistics
from curvewise.stats.anova._drawing.statistics import Split
from curvewise.stats.anova._lines.designs import Design, compact
from curvewise.stats.anova._lines.flips import random_signs
from curvewise.stats.deals import all_deals, number_of_deals

FEW = 3  # lines, up to which there are no flips
# Shuffles, and as many flips, of each experiment; more where p is near the level.
_FIRST, _MORE = 199, 800
_FIRST_MOST, _MORE_MOST = 1000, 4000  # at small levels
_SETTLED = 3.0  # standard errors between p and the level
_ENUMERATED = 1000  # deals that are all looked at
_BLOCK = 100  # experiments that share their shuffles and flips
_CELLS = 1 << 22  # floats that a block may take
_TIE = 1e-9
_ROUNDING = 1e-14

_Test: TypeAlias = Callable[[Split, int, np.random.Generator], tuple[Floats, int, bool]]


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


def rejections(
    source: Population,
    sizes: Sequence[int],
    *,
    levels: Sequence[float],
    guarded: bool,
    simulations: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Return in which simulated experiments each effect is found.

    Parameters
    ----------
    source : Population
    sizes : sequence of int
        Lines of each algorithm.
    levels : sequence of float
        Of the test of each effect; 0 where it is not asked for.
    guarded : bool
        Whether noise may be unequal: the larger p of shuffles and flips. Else plain F.
    simulations : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of bool, shape (effect, experiment)
    """
    width = max(_draws(np.array(levels))[0], _MORE) * (source.middles.shape[1] + 4)
    most = int(np.clip(_CELLS // width, 1, _BLOCK))
    found = [
        _tested(
            source.drawn(min(most, simulations - begin), sizes, rng),
            levels,
            guarded,
            rng,
        )
        for begin in range(0, simulations, most)
    ]
    return np.concatenate(found, axis=1)


def _tested(
    lines: Split, levels: Sequence[float], guarded: bool, rng: np.random.Generator
) -> NDArray[np.bool_]:
    asked = np.array(levels)[:, None]
    found = np.tile(asked > 0, len(lines.means))
    tests: list[_Test] = [_shuffled(guarded)]
    if guarded and min(lines.sizes) > FEW:
        tests.insert(0, _flipped)
    for test in tests:
        left = np.flatnonzero(found.any(axis=0))
        if len(left):
            found[:, left] &= _p(_some(lines, left), test, asked, rng) <= asked
    return found


def _p(lines: Split, test: _Test, asked: Floats, rng: np.random.Generator) -> Floats:
    """Return p values, shape (effect, experiment), exact enough to be held to a level."""
    beyond, draws, is_exact = test(lines, _draws(asked)[0], rng)
    if is_exact:
        return beyond / draws - _TIE
    p = (1 + beyond) / (1 + draws)
    # Few draws settle most; chance in the others would lose power, as the larger of two
    # p values is taken.
    reach = _SETTLED * np.sqrt(asked * (1 - asked) / draws)
    near = np.flatnonzero(((np.abs(p - asked) < reach) & (asked > 0)).any(axis=0))
    if len(near):
        some = _some(lines, near)
        again = beyond[:, near]
        for _ in range(0, _draws(asked)[1], _MORE):
            again = again + test(some, _MORE, rng)[0]
            draws += _MORE
        p[:, near] = (1 + again) / (1 + draws)
    return p - _TIE


def _draws(asked: Floats) -> tuple[int, int]:
    """Return how many shuffles tests at these levels take, and how many more."""
    level = asked[asked > 0].min()
    return (
        int(np.clip(math.ceil(5 / level), _FIRST, _FIRST_MOST)),
        int(np.clip(math.ceil(40 / level), _MORE, _MORE_MOST)),
    )


def _flipped(
    lines: Split, draws: int, rng: np.random.Generator
) -> tuple[Floats, int, bool]:
    shown = np.stack(statistics.observed_for_flips(lines))
    signs = random_signs(draws, sum(lines.sizes), rng)
    drawn = np.stack(statistics.flipped(lines, signs))
    return _as_large(shown, drawn), draws, False


def _shuffled(guarded: bool) -> _Test:
    def judged(lines: Split, labels: Labels) -> Floats:
        if guarded:
            return np.stack(statistics.studentised(lines, labels))
        return np.stack(statistics.plain(lines, labels, joint=False))

    def test(
        lines: Split, draws: int, rng: np.random.Generator
    ) -> tuple[Floats, int, bool]:
        is_exact = number_of_deals(lines.sizes) <= _ENUMERATED
        labels = (
            np.concatenate(list(all_deals(lines.sizes)))
            if is_exact
            else random_labels(lines.sizes, draws, rng)
        )
        shown = judged(lines, labels_as_they_lie(lines.sizes))[:, :, 0]
        return _as_large(shown, judged(lines, labels)), len(labels), is_exact

    return test


def _as_large(shown: Floats, drawn: Floats) -> Floats:
    """Return how many draws are as large as what is shown, shape (effect, experiment)."""
    # Deals that are the same up to names differ in the last digits.
    least = shown * (1 - _TIE)
    found: Floats = (drawn >= least[:, :, None]).sum(axis=2).astype(np.float64)
    return found


def _some(lines: Split, sets: NDArray[np.int64]) -> Split:
    return replace(lines, means=lines.means[sets], shapes=lines.shapes[sets])
