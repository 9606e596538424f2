"""Do these learning curves differ? Shuffles of whole lines, and flips of their noise."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, Keyword, listed
from curvewise.stats.anova.answers import (
    EFFECTS,
    Draws,
    Effect,
    EffectTest,
    Noise,
    Null,
    RandomizedAnova,
    Stopped,
    side,
    two_way,
)
from curvewise.stats.anova.draws import (
    BATCH,
    FEWEST_TO_FLIP,
    Residuals,
    Split,
    Statistic,
    batches,
    exceeding,
    flipped,
    is_within,
    observed_for_flips,
    plain,
    random_signs,
    rounding_of_deals,
    rounding_of_flips,
    shapes_at_steps,
    split,
    studentised,
    welch_f,
)
from curvewise.stats.anova.lines import Design, LinesLike, checked_lines
from curvewise.stats.deals import (
    Labels,
    all_deals,
    labels_as_they_lie,
    number_of_deals,
    random_labels,
)
from curvewise.stats.validation import (
    Floats,
    bad_value,
    checked_chance,
    checked_level,
    checked_size,
    one_of,
)

__all__ = [
    "randomized_anova",
]


Judged: TypeAlias = Literal["ats", "max_t"]


def randomized_anova(
    lines: LinesLike,
    *,
    null: Null = "separate",
    noise: Noise | None = None,
    interaction: Judged = "ats",
    shuffles: int = 9_999,
    exact: bool | None = None,
    level: float = 0.05,
    most: int = 100_000,
    rng: np.random.Generator,
) -> RandomizedAnova:
    r"""Return whether algorithms differ in height (Algorithm) and shape (Interaction).

    Under shuffles, whole lines are dealt to the algorithms anew; the share of deals that
    look at least as different is the p value. Under flips, every line less the mean line
    of its algorithm keeps or changes its sign, so that each algorithm keeps its noise.

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
        The lines of each algorithm, all on the same steps.
    null : {"separate", "joint"}
        "separate" tests Algorithm on the means of lines, and Interaction on lines less
        their own means. "joint" is the published test: both F of the two-way table,
        whole lines dealt.
    noise : {"unequal", "equal"}, optional
        "unequal", the default where effects are tested apart, allows that one algorithm
        is noisier than another: statistics with a variance for each, and the larger of
        the p values of shuffles and of flips. "equal" uses F and shuffles only: more
        powerful, and right only if noise is equal; say so before looking at the lines.
    interaction : {"ats", "max_t"}
        What the Interaction is judged by where noise may be unequal. "max_t": the
        largest of Welch's F over the steps, by flips only; it finds a bump at one quiet
        step, and little else.
    shuffles : int
        How many deals, and how many flips, are drawn at first.
    exact : bool, optional
        Whether to try every deal instead; by default where there are at most 1,000,000.
    level : float
        The level of the test. Draws go on until it is settled on which side p is.
    most : int
        How many draws to make at most for that; as many as `shuffles`, or fewer, for a
        number that is fixed.
    rng : numpy.random.Generator

    Returns
    -------
    RandomizedAnova

    Raises
    ------
    CurvewiseError
        Where noise may be unequal and an algorithm has one line, which shows none.

    Notes
    -----
    Shuffles of whole lines keep what a run carries over from step to step, which the p
    values of a plain table do not [1]_. Dealt jointly, a real difference of one kind
    hides or feigns one of the other: a shift between algorithms is mixed into the error
    of the Interaction. Line means are blind to differences in shape and centred lines to
    shifts, by algebra, so that apart each is exact for its own hypothesis.

    For line means, with :math:`w_i = l_i / s_i^2`, the statistic is Welch's F [2]_; under
    shuffles each value is judged with its own degrees of freedom. For centred lines with
    mean curves :math:`\bar x_i` and covariances :math:`V_i` it is the ANOVA-type
    statistic [3]_

    .. math:: \frac{\sum_i |\bar x_i - \bar x|^2}{(1 - 1/m) \sum_i tr(V_i) / l_i}

    which needs traces only, so that there may be any number of steps. The p value of
    shuffles is exact where lines of all algorithms are alike under the hypothesis; that
    of flips allows any noise and holds for many lines [4]_. Their maximum is at most the
    level in the first case. In the second, with noise up to 4 times larger in one
    algorithm and 4 to 20 lines, a level of 0.05 came to 0.03 to 0.06 for Algorithm and
    0.02 to 0.08 for Interaction; the worst was skewed noise in five lines of one of three
    or more algorithms. Below 4 lines of an algorithm flips are degenerate: only shuffles
    are used, and `is_guarded` is False.

    Draws stop once :math:`(n+1) P(B = b) \le 0.001` for b exceedances and B binomial with
    the level, so that shuffles, and flips, are on the same side of the level as infinitely
    many of them but for one time in a thousand each [5]_: the decision is, but for two.
    Both effects share all draws. The inference is about these lines: the chance is in who
    was dealt what.

    Values that differ by no more than rounding can explain are tied, and count as at least
    as large. Only where noise is a millionth of the differences between algorithms, or of
    a diverged line, may that join what is not the same; p is then larger, never smaller.

    References
    ----------
    .. [1] J. H. Piater, P. R. Cohen, X. Zhang and M. Atighetchi. "A randomized ANOVA
       procedure for comparing performance curves." ICML, 1998.
    .. [2] B. L. Welch. "On the comparison of several mean values: an alternative
       approach." Biometrika 38, 1951.
    .. [3] E. Brunner, H. Dette and A. Munk. "Box-type approximations in nonparametric
       factorial designs." Journal of the American Statistical Association 92, 1997.
    .. [4] S. Friedrich, F. Konietschke and M. Pauly. "A wild bootstrap approach for
       nonparametric repeated measurements." Computational Statistics & Data Analysis
       113, 2017.
    .. [5] H. Robbins. "Statistical methods related to the law of the iterated
       logarithm." Annals of Mathematical Statistics 41, 1970.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a = rng.normal(size=(8, 4)).cumsum(axis=1)
    >>> b = 2 + rng.normal(size=(8, 4)).cumsum(axis=1)
    >>> found = randomized_anova({"a": a, "b": b}, rng=rng)
    >>> found.decision("algorithm"), found.decision("interaction")
    ('rejected', 'not rejected')
    >>> print(f"{found.p('algorithm'):.3f} {found.smallest_p:.5f}")
    0.011 0.00016
    """
    design = checked_lines(lines)
    one_of("null", null, ("separate", "joint"))
    one_of("interaction", interaction, ("ats", "max_t"))
    how = _noise(null, noise)
    first = checked_chance(shuffles, rng, 19, "shuffles")
    level, last = checked_level(level), max(checked_size(most, "most"), first)
    anova = two_way(design)
    procedure = Procedure(
        draws=first,
        most=last,
        exact=exact,
        level=level,
        null=null,
        noise=how,
        interaction=interaction,
    )
    tests = tests_of(design, procedure, rng)
    is_guarded = tests["algorithm"].flips is not None
    return RandomizedAnova(
        anova=anova,
        sizes=design.sizes,
        null=null,
        noise=how,
        is_guarded=is_guarded,
        level=level,
        tests=tests,
    )


def _noise(null: Null, noise: Any) -> Noise:
    if noise is None:
        return "unequal" if null == "separate" else "equal"
    one_of("noise", noise, ("unequal", "equal"))
    if null == "joint" and noise == "unequal":
        raise CurvewiseError(
            "noise is 'unequal', which the joint test does not allow for: its "
            "shuffles mix lines of all algorithms. Pass ",
            {"null": "separate"},
            ", or ",
            {"noise": "equal"},
            ".",
            argument="noise",
        )
    how: Noise = noise
    return how


# --- The tests of both effects, from lines to the answers about each -------------------


_WORDS = {
    ("joint", "equal"): (
        "F of the two-way table, whole lines dealt",
        "F of the two-way table, whole lines dealt",
    ),
    ("separate", "equal"): (
        "F of line means",
        "F of lines less their own means",
    ),
    ("separate", "unequal"): (
        "Welch's F of line means",
        "ANOVA-type statistic of lines less their own means",
    ),
}
_PEAK = "largest of Welch's F over the steps, of lines less their own means"


@dataclass(frozen=True, slots=True, eq=False)
class Procedure:
    """How lines are to be tested, see `randomized_anova`."""

    draws: int  # at first
    most: int  # draws at most
    exact: bool | None
    level: float
    null: Null = "separate"
    noise: Noise = "unequal"
    interaction: Judged = "ats"


def tests_of(
    design: Design, procedure: Procedure, rng: np.random.Generator
) -> dict[str, EffectTest]:
    """Return the tests of both effects; refuse designs that cannot have them.

    Lines that are all the same are tested as any others: nothing is more different than
    what came, and p is 1.
    """
    _checked_sizes(design, procedure.noise, procedure.interaction)
    every = is_exact(procedure.exact, number_of_deals(design.sizes))
    parts = split(design.values[None], design.sizes)
    peaks = shapes_at_steps(design) if procedure.interaction == "max_t" else None
    shuffled: tuple[Effect, ...] = EFFECTS if peaks is None else ("algorithm",)
    piles = {
        "shuffles": shuffles_of(
            parts, shuffled, procedure.null, procedure.noise, every, rng
        )
    }
    if procedure.noise == "unequal" and min(design.sizes) >= FEWEST_TO_FLIP:
        piles["flips"] = flips_of(parts, peaks, procedure.draws, rng)
    settle(list(piles.values()), procedure.level, procedure.draws, procedure.most)
    words = dict(zip(EFFECTS, _WORDS[procedure.null, procedure.noise], strict=True))
    if peaks is not None:
        words["interaction"] = _PEAK
    tests: dict[str, EffectTest] = {}
    for effect in EFFECTS:
        draws = {
            kind: pile.draws(effect, procedure.draws, procedure.most)
            for kind, pile in piles.items()
            if effect in pile.observed
        }
        tests[effect] = EffectTest(
            effect, words[effect], draws.get("shuffles"), draws.get("flips")
        )
    return tests


@dataclass(frozen=True, slots=True, eq=False)
class BothP:
    """The p values of "algorithm" and "interaction", in this order."""

    shuffle_p: tuple[float, float]
    flip_p: tuple[float, float] | None  # None where there were no flips
    smallest_p: float  # below which neither could be

    @property
    def p(self) -> tuple[float, float]:
        """The larger one of both, of each effect."""
        one, other = self.flip_p or (0.0, 0.0)
        return max(self.shuffle_p[0], one), max(self.shuffle_p[1], other)


def both_p(tests: Mapping[str, EffectTest]) -> BothP:
    """Return the p values of tests of which each effect was shuffled."""
    both = [tests[effect] for effect in EFFECTS]
    shuffles = [test.shuffles.p for test in both if test.shuffles is not None]
    flips = [test.flips.p for test in both if test.flips is not None]
    return BothP(
        (shuffles[0], shuffles[1]),
        (flips[0], flips[1]) if flips else None,
        max(test.smallest_p for test in both),
    )


def _checked_sizes(design: Design, noise: Noise, interaction: Judged) -> None:
    fewest = min(design.sizes)
    few = listed(
        name
        for name, size in zip(design.names, design.sizes, strict=True)
        if size == fewest
    )
    if noise == "unequal" and fewest < 2:
        raise CurvewiseError(
            f"{few}: 1 line, which does not show how noisy an algorithm is. Run it "
            "again with other seeds, or pass ",
            {"noise": "equal"},
            " if its noise is known to be that of the others.",
            argument="lines",
        )
    if interaction == "max_t" and noise == "equal":
        raise CurvewiseError(
            "interaction is 'max_t', which is judged by flips, and noise is 'equal', "
            "which is not. Pass ",
            {"null": "separate"},
            " and ",
            {"noise": "unequal"},
            " for it.",
            argument="noise",
        )
    if interaction == "max_t" and fewest < FEWEST_TO_FLIP:
        raise CurvewiseError(
            f"{few}: {fewest} lines, and ",
            Keyword("interaction", "max_t"),
            f" is judged by flips, which take {FEWEST_TO_FLIP} or more. Pass ",
            {"interaction": "ats"},
            ", or run more seeds.",
            argument="lines",
        )


# --- Piles of draws that grow until what they are asked is settled ---------------------


Values = Mapping[str, Floats]  # of each effect, shape (draw,)


class Pile:
    """Draws of one kind, of all effects at once.

    Parameters
    ----------
    observed, rounding : mapping of str to float
        The statistic of each effect, for the lines as they came, and what ties may differ
        by, see `Draws`.
    kinds : int
        How many different draws there are, the lines as they came among them.
    make : callable
        Given a number, makes so many draws more.
    """

    def __init__(
        self,
        observed: Mapping[str, float],
        rounding: Mapping[str, float],
        kinds: int,
        make: Callable[[int], Iterable[Values]],
    ) -> None:
        self.observed = observed
        self._rounding, self._floor = rounding, 1 / kinds
        self.number = 0
        self.is_all = self.holds_observed = False
        self._make = make
        self._parts: dict[str, list[Floats]] = {effect: [] for effect in observed}
        self._above = dict.fromkeys(observed, 0)

    def fill(self, every: Iterable[Values], *, holds_observed: bool) -> None:
        """Take all draws that there are."""
        self._add(every)
        self.is_all, self.holds_observed = True, holds_observed

    def grow(self, to: int) -> None:
        """Draw until there are `to` of them."""
        if not self.is_all and to > self.number:
            self._add(self._make(to - self.number))

    def _add(self, batches: Iterable[Values]) -> None:
        for batch in batches:
            for effect, parts in self._parts.items():
                parts.append(batch[effect])
                self._above[effect] += exceeding(
                    batch[effect], self.observed[effect], self._rounding[effect]
                )
            self.number += len(parts[-1])

    def side(self, effect: str, level: float) -> int:
        """Return -1 where p is settled below the level, 1 where above, 0 else."""
        b = self._above[effect]
        if not self.is_all:
            return side(self.number, b, level)
        extra = 0 if self.holds_observed else 1
        return -1 if is_within((extra + b) / (extra + self.number), level) else 1

    def draws(self, effect: str, first: int, most: int) -> Draws:
        """Return the draws of an effect, frozen, once they are settled."""
        stopped: Stopped = "first look" if self.number == first else "later look"
        stopped = "fixed" if most == first else stopped
        values = np.concatenate(self._parts[effect])
        values.setflags(write=False)
        how: Stopped = "all" if self.is_all else stopped
        return Draws(
            values=values,
            observed=self.observed[effect],
            stopped=how,
            holds_observed=self.holds_observed,
            rounding=self._rounding[effect],
            floor=self._floor,
        )


def settle(piles: Sequence[Pile], level: float, first: int, most: int) -> None:
    """Let piles grow to `first` draws, and on to `most` while a decision is open.

    A decision is open unless one pile is settled above the level, or all are below. A
    pile that is settled for every open effect rests.
    """
    for pile in piles:
        pile.grow(first)
    while most > first:
        growing = [pile for pile in piles if _is_wanted(pile, piles, level, most)]
        if not growing:
            return
        for pile in growing:
            pile.grow(min(pile.number + max(first, pile.number // 2), most))


def _is_wanted(pile: Pile, piles: Sequence[Pile], level: float, most: int) -> bool:
    if pile.is_all or pile.number >= most:
        return False
    return any(
        pile.side(effect, level) == 0
        and all(p.side(effect, level) < 1 for p in piles if effect in p.observed)
        for effect in pile.observed
    )


# --- How shuffles and flips of lines are made and judged -------------------------------


ENUMERATED = 1_000_000  # deals that are all tried unless asked otherwise
MOST_ENUMERATED = 50_000_000  # deals that are tried where it is asked
_F: dict[Null, Statistic] = {"joint": "joint", "separate": "plain"}


def shuffles_of(
    parts: Split,
    effects: Sequence[Effect],
    null: Null,
    noise: Noise,
    every: bool,
    rng: np.random.Generator,
) -> Pile:
    """Return a pile of shuffles, full where every deal is to be tried."""

    def judged(labels: Labels) -> dict[str, Floats]:
        if noise == "unequal":
            algorithm, shape = studentised(parts, labels)
        else:
            algorithm, shape = plain(parts, labels, joint=null == "joint")
        both = dict(zip(EFFECTS, (algorithm[0], shape[0]), strict=True))
        return {effect: both[effect] for effect in effects}

    at_once = max(BATCH // parts.width, 1)

    def all_of_them() -> Iterator[dict[str, Floats]]:
        for block in all_deals(parts.sizes):
            for i in range(0, len(block), at_once):
                yield judged(block[i : i + at_once])

    def some(number: int) -> Iterator[dict[str, Floats]]:
        for now in batches(number, parts.width):
            yield judged(random_labels(parts.sizes, now, rng))

    # The first of all deals is that of the lines as they came. Judged once more, by
    # itself, it could differ from the first in its last digits.
    deals = all_of_them() if every else iter(())
    came = next(deals) if every else judged(labels_as_they_lie(parts.sizes))
    statistic = "studentised" if noise == "unequal" else _F[null]
    ties = dict(zip(EFFECTS, rounding_of_deals(parts, statistic), strict=True))
    pile = Pile(
        {effect: float(values[0]) for effect, values in came.items()},
        {effect: float(ties[effect][0]) for effect in effects},
        number_of_deals(parts.sizes),
        some,
    )
    if every:
        pile.fill(chain([came], deals), holds_observed=True)
    return pile


def flips_of(
    parts: Split, peaks: Design | None, first: int, rng: np.random.Generator
) -> Pile:
    """Return a pile of flips, full where there are no more than are drawn at first.

    With `peaks`, the shapes of lines, the Interaction is judged by its largest Welch F.
    """
    algorithm, shape = observed_for_flips(parts)
    residuals = Residuals(peaks) if peaks is not None else None
    width = parts.width if residuals is None else parts.width + 4 * residuals.width
    if peaks is not None and residuals is not None:
        means = np.stack([group.mean(axis=0) for group in peaks.groups])
        f, _ = welch_f(means, residuals.observed_variances(), residuals.sizes)
        shape = f.max(keepdims=True)

    def judged(signs: Floats) -> dict[str, Floats]:
        algorithm, shape = flipped(parts, signs)
        if residuals is not None:
            f, _ = welch_f(*residuals.flipped(signs), residuals.sizes)
            shape = f.max(axis=1)[None]
        return {"algorithm": algorithm[0], "interaction": shape[0]}

    def some(number: int) -> Iterator[dict[str, Floats]]:
        for now in batches(number, width):
            yield judged(random_signs(now, sum(parts.sizes), rng))

    ties = rounding_of_flips(parts, algorithm, shape)
    n = sum(parts.sizes)
    pile = Pile(
        {"algorithm": float(algorithm[0]), "interaction": float(shape[0])},
        {"algorithm": float(ties[0][0]), "interaction": float(ties[1][0])},
        1 + 2 ** (n - 1),
        some,
    )
    if n <= 60 and 2 ** (n - 1) <= first:
        # Flipping all lines changes nothing, so that the first may keep its sign.
        at_once = max(BATCH // width, 1)
        pile.fill(map(judged, _all_signs(n, at_once)), holds_observed=False)
    return pile


def _all_signs(lines: int, at_once: int) -> Iterator[Floats]:
    places = np.arange(lines)
    for i in range(0, 2 ** (lines - 1), at_once):
        patterns = np.arange(i, min(i + at_once, 2 ** (lines - 1)))
        yield (1 - 2 * (patterns[:, None] >> places & 1)).astype(np.float64)


def is_exact(exact: Any, deals: float, most: int = MOST_ENUMERATED) -> bool:
    """Whether every deal is to be tried; refuse where there are too many for that."""
    if exact is None:
        return deals <= ENUMERATED * (1 + 1e-9)  # some are counted by logarithms
    if not isinstance(exact, bool):
        raise bad_value("exact", exact, "Pass True, False or None.")
    if exact and deals > most * (1 + 1e-9):
        # Beyond a few thousand digits an integer cannot even be written.
        many = f"{deals:,.0f}" if deals < 1e15 else f"about 1e{math.log10(deals):.0f}"
        raise CurvewiseError(
            f"There are {many} deals, and at most {most:,} are tried one by one. Pass ",
            {"exact": False},
            " to draw some of them.",
            argument="exact",
        )
    return exact
