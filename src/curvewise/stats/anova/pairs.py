"""Which algorithms differ? Every pair by itself, and all of them together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats, checked_chance, checked_level, one_of
from curvewise.stats.anova._drawing.draws import is_within
from curvewise.stats.anova._drawing.effects import EFFECTS, place
from curvewise.stats.anova._drawing.testing import Question, both_p, tests_of
from curvewise.stats.anova._lines.designs import LinesLike, checked_lines
from curvewise.stats.anova.answers import Noise, RandomizedAnova
from curvewise.stats.comparison.family import holm
from curvewise.stats.deals import lines_to_reach

__all__ = ["Pair", "all_pairs", "pair_of"]

Adjustment: TypeAlias = Literal["holm", "closed"]
ADJUSTMENTS = ("holm", "closed")
MOST_CLOSED = 6  # algorithms: 57 sets of them, and 202 ways for some to be equal

_Set: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two algorithms among several.

    Parameters
    ----------
    one, other : str
    sizes : tuple of int
        How many lines each of the two has.
    shuffle_p : tuple of float
        The p values of shuffles within the pair, of "algorithm" and "interaction".
    flip_p : tuple of float, or None
        Those of flips, in the same order; None where there are none: with three lines or
        fewer, or where noise was said to be equal.
    adjusted : tuple of float
        The p values adjusted for all pairs, in the same order.
    smallest_p, smallest_adjusted_p : float
        Below which no p of this design could be, before and after adjusting.
    lines_to_reject : int
        Lines of each algorithm with which the level could be reached at all. That many
        could; how many are likely to is a question of power.
    level : float
        Of all pairs together.
    """

    one: str
    other: str
    sizes: tuple[int, int]
    shuffle_p: tuple[float, float]
    flip_p: tuple[float, float] | None
    adjusted: tuple[float, float]
    smallest_p: float
    smallest_adjusted_p: float
    lines_to_reject: int
    level: float

    def p(self, effect: str) -> float:
        """Return the p value of an effect in this pair alone: the larger one of both."""
        return max(self.p_shuffles(effect), self.p_flips(effect) or 0.0)

    def p_shuffles(self, effect: str) -> float:
        """Return the p value by shuffles of the lines of the two."""
        return self.shuffle_p[place(effect)]

    def p_flips(self, effect: str) -> float | None:
        """Return the p value by flips of their residual lines, None without flips."""
        return None if self.flip_p is None else self.flip_p[place(effect)]

    def adjusted_p(self, effect: str) -> float:
        """Return the p value of an effect adjusted for all pairs."""
        return self.adjusted[place(effect)]

    def is_rejected(self, effect: str) -> bool:
        """Return whether the adjusted p value is at most the level."""
        return is_within(self.adjusted_p(effect), self.level)

    @property
    def cannot_reject(self) -> bool:
        """Whether no data of this design could be significant: not to be called equal."""
        return not is_within(self.smallest_adjusted_p, self.level)


def all_pairs(
    lines: LinesLike,
    *,
    method: Adjustment = "holm",
    noise: Noise = "unequal",
    shuffles: int = 9999,
    exact: bool | None = None,
    level: float = 0.05,
    rng: np.random.Generator,
) -> tuple[Pair, ...]:
    r"""Return all pairs of algorithms, tested each by itself and adjusted together.

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
        The lines of each algorithm, on the same steps.
    method : {"holm", "closed"}
        How p values are adjusted for the number of pairs, see the notes.
    noise : {"unequal", "equal"}
        Whether algorithms may be unequally noisy, see `randomized_anova`.
    shuffles : int
        How many deals, and how many flips, of each pair.
    exact : bool, optional
        Whether to go through all deals. By default if there are a million or fewer.
    level : float
        Of all pairs together, for each of both effects.
    rng : numpy.random.Generator
        Every pair gets a stream of its own.

    Returns
    -------
    tuple of Pair
        In the order of the algorithms: first with second, first with third, and so on.

    Notes
    -----
    Lines are dealt, and flipped, *within a pair*, so that the noise of a third algorithm
    has no part in the answer. Shuffles of all lines with the largest F of all pairs do not
    keep the level of a pair. With five lines of each of three equal algorithms whose noise
    is .1, .1 and 3, they found the first and the last to differ in 10 % of 4,000 data sets
    at level .05; F within the pair did so in 11 %, and this in 4.4 % (in height) and 6.4 %
    (in shape; ten lines: 4.6 and 6.0 %). With equal noise it was 3.6 to 4.8 %.

    Both adjustments keep the probability that *any* pair of equal algorithms is called
    different at the level, whichever algorithms are equal, for each effect by itself.

    ``"holm"``: however the pairs depend on each other. The smallest p is multiplied by the
    number of pairs.

    ``"closed"``: a pair is rejected if every hypothesis that contains its equality is:
    every way to divide the algorithms into groups of equals, with these two in the same
    group [1]_. A group is tested as a whole by `randomized_anova`; with r groups of two
    or more, the smallest of their p values counts r times. Of three algorithms a pair is
    rejected as soon as its own test and the one of all three do. For up to six algorithms.

    Algorithms of which all lines are the same line have p = 1 in both effects.

    Less is multiplied than by Holm, but groups are tested for any difference at all, in
    which a noisy algorithm hides the others. With four algorithms, 2,000 data sets of each
    of four designs (5 to 15 lines, noise up to 1 to 4), any pair of equals was found in
    1.9 to 4.6 % by Holm and 3.0 to 5.7 % by closed testing where all were equal, and in
    1.4 to 4.0 % and 1.4 to 5.4 % where one differed. Of pairs that differ, closed testing
    found more where lines were equally many (83 % of heights against 64 %, with five lines
    and equal noise), and fewer where the one with the fewest was the noisiest (38 % of
    shapes against 75 %, with 5, 10, 15 and 10 lines and noise 4, 1, 1, 1).

    References
    ----------
    .. [1] R. Marcus, E. Peritz, K. R. Gabriel. "On closed testing procedures with special
       reference to ordered analysis of variance." Biometrika 63, 1976.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> noise = rng.standard_normal((3, 8, 6)).cumsum(axis=2)
    >>> lines = {"new": noise[0] + 5, "old": noise[1], "older": noise[2]}
    >>> for pair in all_pairs(lines, rng=rng):
    ...     print(pair.one, pair.other, round(pair.adjusted_p("algorithm"), 4))
    new old 0.0014
    new older 0.0014
    old older 0.1632
    """
    draws = checked_chance(shuffles, rng, 19, "shuffles")
    one_of("method", method, ADJUSTMENTS)
    one_of("noise", noise, ("unequal", "equal"))
    level = checked_level(level)
    design = checked_lines(lines)
    m = len(design.names)
    if method == "closed" and m > MOST_CLOSED:
        raise CurvewiseError(
            f"method is 'closed', and there are {m} algorithms: too many ways for "
            "some of them to be equal. Pass ",
            {"method": "holm"},
            f", or {MOST_CLOSED} algorithms at most.",
        )
    pairs = list(combinations(range(m), 2))
    sets = list(_sets(m)) if method == "closed" else pairs
    # A fixed number of draws: where to stop would depend on one level, and each pair is
    # judged at several.
    asked = Question(draws, draws, exact, level, noise=noise)
    tested = {
        own: both_p(tests_of(design.of(own), asked, child))
        for own, child in zip(sets, rng.spawn(len(sets)), strict=True)
    }
    adjusted = [
        _adjusted({own: found.p[i] for own, found in tested.items()}, pairs, m, method)
        for i in range(len(EFFECTS))
    ]
    least = {own: found.smallest_p for own, found in tested.items()}
    floors = _adjusted(least, pairs, m, method)
    times = len(pairs) if method == "holm" else m // 2
    names, sizes = design.names, design.sizes
    return tuple(
        Pair(
            *(names[a], names[b], (sizes[a], sizes[b])),
            tested[a, b].shuffle_p,
            tested[a, b].flip_p,
            (float(adjusted[0][i]), float(adjusted[1][i])),
            tested[a, b].smallest_p,
            float(floors[i]),
            lines_to_reach(2, level, times),
            level,
        )
        for i, (a, b) in enumerate(pairs)
    )


def pair_of(one: str, other: str, found: RandomizedAnova) -> Pair:
    """Return the two algorithms that an analysis of variance was about, as a pair.

    Parameters
    ----------
    one, other : str
        How they are called.
    found : RandomizedAnova
        Of these two and of no others: there is nothing to adjust for.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> from curvewise.stats.anova import randomized_anova
    >>> found = randomized_anova(rng.standard_normal((2, 8, 6)), rng=rng)
    >>> pair = pair_of("new", "old", found)
    >>> pair.adjusted_p("algorithm") == found.p("algorithm")
    True
    """
    if len(found.sizes) != 2:
        raise CurvewiseError(
            f"An analysis of {len(found.sizes)} algorithms came, and a pair has two. Ask "
            f"all_pairs(...)."
        )
    own = both_p(found.tests)
    sizes = (found.sizes[0], found.sizes[1])
    return Pair(
        *(one, other, sizes, own.shuffle_p, own.flip_p, own.p),
        own.smallest_p,
        own.smallest_p,
        found.lines_to_reject(),
        found.level,
    )


def _adjusted(
    p: Mapping[_Set, float], pairs: Sequence[_Set], m: int, method: Adjustment
) -> Floats:
    if method == "holm":
        return holm([p[pair] for pair in pairs])
    found = dict.fromkeys(pairs, 0.0)
    for blocks in _partitions(tuple(range(m))):
        together = [own for own in blocks if len(own) > 1]
        if not together:
            continue
        whole = min(1.0, len(together) * min(p[own] for own in together))
        for own in together:
            for pair in combinations(own, 2):
                found[pair] = max(found[pair], whole)
    return np.array([found[pair] for pair in pairs])


def _sets(m: int) -> Iterator[_Set]:
    """Yield all sets of two algorithms or more."""
    for size in range(2, m + 1):
        yield from combinations(range(m), size)


def _partitions(items: _Set) -> Iterator[list[_Set]]:
    """Yield all ways to divide items into groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = tuple(item for item in rest if item not in others)
            for groups in _partitions(left):
                yield [(first, *others), *groups]
