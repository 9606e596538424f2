"""Experiments that nobody ran, and how they are tested."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._labels import Labels, labels_as_they_lie, random_labels
from curvewise.stats._sample import Floats
from curvewise.stats.anova._drawing import rounding, statistics
from curvewise.stats.anova._drawing.draws import least
from curvewise.stats.anova._drawing.statistics import Split
from curvewise.stats.anova._lines.flips import FEWEST, random_signs
from curvewise.stats.anova._planning.populations import Population
from curvewise.stats.deals import all_deals, number_of_deals

# Shuffles, and as many flips, of each experiment; more where p is near the level.
_FIRST, _MORE = 199, 800
_FIRST_MOST, _MORE_MOST = 1000, 4000  # at small levels
_SETTLED = 3.0  # standard errors between p and the level
_ENUMERATED = 1000  # deals that are all looked at
_BLOCK = 100  # experiments that share their shuffles and flips
_CELLS = 1 << 22  # floats that a block may take

# How many draws are as large as what is shown, of how many, the smallest p of all that
# there are, and whether these are all.
_Counted: TypeAlias = tuple[Floats, int, float, bool]
_Test: TypeAlias = Callable[[Split, int, np.random.Generator], _Counted]


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
    if guarded and min(lines.sizes) >= FEWEST:
        tests.insert(0, _flipped)
    for test in tests:
        left = np.flatnonzero(found.any(axis=0))
        if len(left):
            p = _p(_some(lines, left), test, asked, rng)
            found[:, left] &= p <= asked * (1 + 1e-12)
    return found


def _p(lines: Split, test: _Test, asked: Floats, rng: np.random.Generator) -> Floats:
    """Return p values, shape (effect, experiment), exact enough to be held to a level."""
    beyond, draws, floor, is_exact = test(lines, _draws(asked)[0], rng)
    if is_exact:
        return beyond / draws
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
    # Draws made at random can look rarer than anything is.
    return np.maximum(p, floor)


def _draws(asked: Floats) -> tuple[int, int]:
    """Return how many shuffles tests at these levels take, and how many more."""
    level = asked[asked > 0].min()
    return (
        int(np.clip(math.ceil(5 / level), _FIRST, _FIRST_MOST)),
        int(np.clip(math.ceil(40 / level), _MORE, _MORE_MOST)),
    )


def _flipped(lines: Split, draws: int, rng: np.random.Generator) -> _Counted:
    shown = statistics.observed_for_flips(lines)
    n = sum(lines.sizes)
    drawn = statistics.flipped(lines, random_signs(draws, n, rng))
    beyond = _as_large(shown, drawn, rounding.of_flips(lines, *shown))
    return beyond, draws, 1 / (1 + 2 ** (n - 1)), False


def _shuffled(guarded: bool) -> _Test:
    statistic: rounding.Statistic = "studentised" if guarded else "plain"

    def judged(lines: Split, labels: Labels) -> tuple[Floats, Floats]:
        if guarded:
            return statistics.studentised(lines, labels)
        return statistics.plain(lines, labels, joint=False)

    def test(lines: Split, draws: int, rng: np.random.Generator) -> _Counted:
        deals = number_of_deals(lines.sizes)
        is_exact = deals <= _ENUMERATED
        labels = (
            np.concatenate(list(all_deals(lines.sizes)))
            if is_exact
            else random_labels(lines.sizes, draws, rng)
        )
        one, other = judged(lines, labels_as_they_lie(lines.sizes))
        ties = rounding.of_deals(lines, statistic)
        beyond = _as_large((one[:, 0], other[:, 0]), judged(lines, labels), ties)
        return beyond, len(labels), 1 / deals, is_exact

    return test


def _as_large(
    shown: tuple[Floats, Floats],
    drawn: tuple[Floats, Floats],
    ties: tuple[Floats, Floats],
) -> Floats:
    """Return how many draws are as large as what is shown, shape (effect, experiment)."""
    edges = [least(one, tie)[:, None] for one, tie in zip(shown, ties, strict=True)]
    counts = [
        np.count_nonzero(values >= edge, axis=1)
        for values, edge in zip(drawn, edges, strict=True)
    ]
    return np.array(counts, dtype=np.float64)


def _some(lines: Split, sets: NDArray[np.int64]) -> Split:
    return replace(lines, means=lines.means[sets], shapes=lines.shapes[sets])
