"""Which algorithms differ? Every pair, all of them together, or any weighted comparison."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, unknown
from curvewise.stats.anova.answers import EFFECTS, Noise, RandomizedAnova, place
from curvewise.stats.anova.draws import (
    FEWEST_TO_FLIP,
    Residuals,
    as_large,
    batches,
    is_within,
    random_signs,
)
from curvewise.stats.anova.lines import Apart, LinesLike, apart, checked_lines, compact
from curvewise.stats.anova.randomized import Procedure, both_p, tests_of
from curvewise.stats.asymptotics import t_quantile
from curvewise.stats.comparison.differences import holm
from curvewise.stats.deals import lines_to_reach
from curvewise.stats.interval import Interval, asymptotic, cannot_tell
from curvewise.stats.validation import (
    Floats,
    checked_chance,
    checked_confidence,
    checked_level,
    is_number,
    one_of,
)

__all__ = [
    "LineContrast",
    "Pair",
    "all_pairs",
    "contrast",
    "pair_of",
]


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
            argument="method",
        )
    pairs = list(combinations(range(m), 2))
    sets = list(_sets(m)) if method == "closed" else pairs
    # A fixed number of draws: where to stop would depend on one level, and each pair is
    # judged at several.
    procedure = Procedure(draws, draws, exact, level, noise=noise)
    tested = {
        members: both_p(tests_of(design.of(members), procedure, child))
        for members, child in zip(sets, rng.spawn(len(sets)), strict=True)
    }
    adjusted = [
        _adjusted(
            {members: both.p[i] for members, both in tested.items()}, pairs, m, method
        )
        for i in range(len(EFFECTS))
    ]
    least = {members: both.smallest_p for members, both in tested.items()}
    floors = _adjusted(least, pairs, m, method)
    times = len(pairs) if method == "holm" else m // 2
    names, sizes = design.names, design.sizes
    return tuple(
        Pair(
            one=names[a],
            other=names[b],
            sizes=(sizes[a], sizes[b]),
            shuffle_p=tested[a, b].shuffle_p,
            flip_p=tested[a, b].flip_p,
            adjusted=(float(adjusted[0][i]), float(adjusted[1][i])),
            smallest_p=tested[a, b].smallest_p,
            smallest_adjusted_p=float(floors[i]),
            lines_to_reject=lines_to_reach(2, level, times),
            level=level,
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
            f"all_pairs(...).",
            argument="found",
        )
    both = both_p(found.tests)
    sizes = (found.sizes[0], found.sizes[1])
    return Pair(
        one=one,
        other=other,
        sizes=sizes,
        shuffle_p=both.shuffle_p,
        flip_p=both.flip_p,
        adjusted=both.p,
        smallest_p=both.smallest_p,
        smallest_adjusted_p=both.smallest_p,
        lines_to_reject=found.lines_to_reject(),
        level=found.level,
    )


def _adjusted(
    p: Mapping[_Set, float], pairs: Sequence[_Set], m: int, method: Adjustment
) -> Floats:
    if method == "holm":
        return holm([p[pair] for pair in pairs])
    adjusted = dict.fromkeys(pairs, 0.0)
    for blocks in partitions(tuple(range(m))):
        together = [block for block in blocks if len(block) > 1]
        if not together:
            continue
        whole = min(1.0, len(together) * min(p[block] for block in together))
        for block in together:
            for pair in combinations(block, 2):
                adjusted[pair] = max(adjusted[pair], whole)
    return np.array([adjusted[pair] for pair in pairs])


def _sets(m: int) -> Iterator[_Set]:
    """Yield all sets of two algorithms or more."""
    for size in range(2, m + 1):
        yield from combinations(range(m), size)


def partitions(items: _Set) -> Iterator[list[_Set]]:
    """Yield all ways to divide items into groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = tuple(item for item in rest if item not in others)
            for groups in partitions(left):
                yield [(first, *others), *groups]


# --- Any weighted comparison of algorithms: one against the mean of the others, say ----


@dataclass(frozen=True, slots=True, eq=False)
class LineContrast:
    """A weighted sum of curves whose weights add up to 0.

    Parameters
    ----------
    algorithms : tuple of str
    weights : tuple of float
        Of each algorithm.
    difference : Interval
        The contrast of the means of lines, in scores.
    curve : ndarray, shape (step,)
        The contrast of the mean curves, step by step.
    shuffle_p : tuple of float, or None
        The p values of shuffles, of "algorithm" and "interaction". None where more than
        two algorithms have a weight: their lines cannot change places under the null.
    flip_p : tuple of float, or None
        Those of flips, in the same order. None where an algorithm with a weight has three
        lines or fewer, of which flips say nothing.
    level : float
    """

    algorithms: tuple[str, ...]
    weights: tuple[float, ...]
    difference: Interval
    curve: Floats
    shuffle_p: tuple[float, float] | None
    flip_p: tuple[float, float] | None
    level: float

    def p(self, effect: str) -> float:
        """Return the p value of an effect: the largest that there is, NaN without any."""
        both = (self.p_shuffles(effect), self.p_flips(effect))
        return max((p for p in both if p is not None), default=math.nan)

    def p_shuffles(self, effect: str) -> float | None:
        """Return the p value by shuffles, None without any."""
        return None if self.shuffle_p is None else self.shuffle_p[place(effect)]

    def p_flips(self, effect: str) -> float | None:
        """Return the p value by flips, None without any."""
        return None if self.flip_p is None else self.flip_p[place(effect)]

    def is_rejected(self, effect: str) -> bool:
        """Return whether p is at most the level."""
        return is_within(self.p(effect), self.level)


def contrast(
    lines: LinesLike,
    weights: Mapping[str, float] | Sequence[float],
    *,
    confidence: float = 0.95,
    draws: int = 9999,
    level: float = 0.05,
    rng: np.random.Generator,
) -> LineContrast:
    r"""Return a contrast of algorithms, tested for height and for shape.

    .. math:: \hat\psi = \sum_i c_i \bar x_i, \qquad
       T = \frac{|\hat\psi|^2}{\sum_i c_i^2\, \mathrm{tr} V_i / l_i}, \qquad
       f = \frac{\bigl(\sum_i c_i^2 s_i^2 / l_i\bigr)^2}
       {\sum_i (c_i^2 s_i^2 / l_i)^2 / (l_i - 1)}

    with the mean :math:`\bar x_i` and the covariance :math:`V_i` of the lines of algorithm
    i: of their means for the effect "algorithm", where :math:`\sqrt T` is Welch's t with f
    degrees of freedom, and of the lines less their own means for "interaction".

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
        Two lines or more of each algorithm, on the same steps.
    weights : mapping of str to float, or sequence of float
        Of each algorithm; algorithms that a mapping does not name have 0. They add up
        to 0: ``{"new": 1, "old": -0.5, "older": -0.5}``.
    confidence : float
        Of the interval for the contrast of the means of lines.
    draws : int
        How many flips; and how many shuffles, of two algorithms with more than a million
        deals.
    level : float
    rng : numpy.random.Generator

    Notes
    -----
    Residual lines are flipped as a whole, and variances computed anew for every flip, so
    that algorithms may be unequally noisy. Flips are asymptotic: of contrasts of three
    algorithms that are 0, though the algorithms differ, 4.1 to 6.6 % were rejected for
    height and 2.6 to 7.5 % for shape at level .05, and the interval held in 92.3 to 96.1 %
    (2,000 data sets of each of 20 designs: 5 to 15 lines, noise up to 4 to 1, normal,
    heavy-tailed and skewed; the farthest off were skewed with five noisy lines).

    If just two algorithms have a weight, the contrast is their difference; p is then
    that of the pair, the larger one of shuffles and flips, see `all_pairs`. Under a
    contrast of three or more that is 0 the algorithms may well differ, so that their lines
    are not exchangeable, and there are flips only.

    Algorithms without a weight play no part. A contrast is one test: who asks for several
    adjusts them, by `curvewise.stats.comparison.holm`, say.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> noise = rng.standard_normal((3, 8, 6)).cumsum(axis=2)
    >>> lines = {"new": noise[0] + 3, "old": noise[1], "older": noise[2]}
    >>> found = contrast(lines, {"new": 1, "old": -0.5, "older": -0.5}, rng=rng)
    >>> print(round(found.difference.value, 2), found.difference)
    2.37 [0.6107, 4.121]
    >>> found.p("algorithm") < 0.01, found.p("interaction") > 0.05
    (True, True)
    """
    checked_chance(draws, rng, 99, "draws")
    checked_confidence(confidence)
    checked_level(level)
    design = checked_lines(lines, least_lines=2)
    c = _checked_weights(weights, design.names)
    used = tuple(np.flatnonzero(c).tolist())
    part = design.of(used)
    inner, unit = apart(part).in_unit()
    # In units of the largest weight: tests do not depend on it.
    largest = float(np.abs(c).max())
    share = c[list(used)] / largest
    heights = inner.line_means()
    shuffled: tuple[float, float] | None = None
    flipped: tuple[float, float] | None = None
    if len(used) == 2:
        pair = both_p(tests_of(part, Procedure(draws, draws, None, level), rng))
        shuffled, flipped = pair.shuffle_p, pair.flip_p
    elif min(part.sizes) >= FEWEST_TO_FLIP:
        flipped = (
            _flipped(heights, share, draws, rng),
            _flipped(inner.centred(), share, draws, rng),
        )
    return LineContrast(
        algorithms=design.names,
        weights=tuple(c.tolist()),
        difference=_interval(heights, share, unit * largest, confidence),
        curve=unit * largest * (share @ inner.means),
        shuffle_p=shuffled,
        flip_p=flipped,
        level=level,
    )


def _checked_weights(weights: Any, names: tuple[str, ...]) -> Floats:
    if isinstance(weights, Mapping):
        for name in weights:
            if str(name) not in names:
                raise unknown("algorithm", name, names)
        by_name = {str(name): weight for name, weight in weights.items()}
        values = [by_name.get(name, 0.0) for name in names]
    else:
        try:
            values = list(weights)
        except TypeError:
            values = []
        if len(values) != len(names):
            raise CurvewiseError(
                f"weights are {weights!r}, and there are {len(names)} algorithms. Pass a "
                f"mapping from names to weights, or a weight for each.",
                argument="weights",
            )
    if not all(is_number(value) for value in values):
        raise CurvewiseError(
            f"weights are {weights!r}. Pass finite numbers.", argument="weights"
        )
    c = np.array(values, dtype=np.float64)
    largest = float(np.abs(c).max())
    if largest == 0:
        raise CurvewiseError(
            "All weights are 0. Pass some that add up to 0.", argument="weights"
        )
    total = float((c / largest).sum())
    if abs(total) > 1e-9 * len(c):
        raise CurvewiseError(
            f"The weights add up to {float(c.sum()):g}, and a contrast's add up to 0. One "
            f"against the mean of two others is 1, -0.5, -0.5.",
            argument="weights",
        )
    return c


def _flipped(lines: Apart, c: Floats, draws: int, rng: np.random.Generator) -> float:
    """Return the p value of a contrast of one kind of values by flips."""
    means, rest, design = lines.means, lines.residuals, lines.design
    # Without noise to judge it by, a contrast that is 0 but for rounding is 0.
    if not rest.any() and (np.abs(c @ means) <= np.abs(c) @ lines.slack).all():
        return 1.0
    both = compact(np.concatenate([rest, means]))
    rest, means = both[: len(design.values)], both[len(design.values) :]
    residuals, sizes = Residuals(design.with_values(rest)), np.array(design.sizes)
    observed = _statistic(
        means[:, None], residuals.observed_variances()[:, None], c, sizes
    )
    beyond = 1
    for now in batches(draws, 4 * residuals.width):
        flipped = residuals.flipped(random_signs(now, residuals.lines, rng))
        beyond += int((_statistic(*flipped, c, sizes) >= as_large(observed)).sum())
    return beyond / (1 + draws)


def _statistic(means: Floats, variances: Floats, c: Floats, sizes: Floats) -> Floats:
    """Return the square of a contrast over what chance makes of it, shape (draw,)."""
    over = (np.tensordot(c, means, axes=1) ** 2).sum(axis=1)
    under = np.tensordot(c**2 / sizes, variances.sum(axis=2), axes=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = over / under
    return np.where(np.isnan(ratio), 0.0, ratio)


def _interval(lines: Apart, c: Floats, unit: float, confidence: float) -> Interval:
    estimand = "contrast of the means of all lines, every step counting the same"
    design = lines.design
    value = unit * float(c @ lines.means[:, 0])
    spread = [group[:, 0].var(ddof=1) / len(group) for group in design.groups]
    parts = np.array(spread) * c**2
    if not parts.any():
        why = cannot_tell("lines of an algorithm all have the same mean")
        return Interval(-math.inf, math.inf, estimand, why, value)
    shares = parts / parts.max()
    df = shares.sum() ** 2 / (shares**2 / (np.array(design.sizes) - 1)).sum()
    reach = unit * t_quantile(confidence, float(df)) * math.sqrt(float(parts.sum()))
    guarantee = asymptotic(confidence, "Welch-Satterthwaite", ", of each algorithm")
    return Interval(value - reach, value + reach, estimand, guarantee, value)
