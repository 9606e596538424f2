"""The tests of both effects, from lines to the answers about each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, Keyword, listed
from curvewise.stats.anova._drawing.effects import EFFECTS, Effect
from curvewise.stats.anova._drawing.making import flips_of, is_exact, shuffles_of
from curvewise.stats.anova._drawing.piles import settle
from curvewise.stats.anova._drawing.statistics import shapes_at_steps, split
from curvewise.stats.anova._lines.designs import Design
from curvewise.stats.anova._lines.flips import FEWEST
from curvewise.stats.anova.answers import EffectTest, Noise, Null
from curvewise.stats.deals import number_of_deals

Judged: TypeAlias = Literal["ats", "max_t"]

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
class Question:
    """How lines are to be tested, see `randomized_anova`.

    Parameters
    ----------
    draws, most : int
        How many at first, and how many at most.
    exact : bool or None
    level : float
    null, noise, interaction : str
    """

    draws: int
    most: int
    exact: bool | None
    level: float
    null: Null = "separate"
    noise: Noise = "unequal"
    interaction: Judged = "ats"


def tests_of(
    design: Design, asked: Question, rng: np.random.Generator
) -> dict[str, EffectTest]:
    """Return the tests of both effects; refuse designs that cannot have them.

    Lines that are all the same are tested as any others: nothing is more different than
    what came, and p is 1.
    """
    _checked_sizes(design, asked.noise, asked.interaction)
    every = is_exact(asked.exact, number_of_deals(design.sizes))
    parts = split(design.values[None], design.sizes)
    peaks = shapes_at_steps(design) if asked.interaction == "max_t" else None
    shuffled: tuple[Effect, ...] = EFFECTS if peaks is None else ("algorithm",)
    piles = {
        "shuffles": shuffles_of(parts, shuffled, asked.null, asked.noise, every, rng)
    }
    if asked.noise == "unequal" and min(design.sizes) >= FEWEST:
        piles["flips"] = flips_of(parts, peaks, asked.draws, rng)
    settle(list(piles.values()), asked.level, asked.draws, asked.most)
    words = dict(zip(EFFECTS, _WORDS[asked.null, asked.noise], strict=True))
    if peaks is not None:
        words["interaction"] = _PEAK
    tests: dict[str, EffectTest] = {}
    for effect in EFFECTS:
        draws = {
            kind: pile.draws(effect, asked.draws, asked.most)
            for kind, pile in piles.items()
            if effect in pile.observed
        }
        tests[effect] = EffectTest(
            effect, words[effect], draws.get("shuffles"), draws.get("flips")
        )
    return tests


@dataclass(frozen=True, slots=True, eq=False)
class BothP:
    """The p values of "algorithm" and "interaction", in this order.

    Parameters
    ----------
    shuffle_p : tuple of float
    flip_p : tuple of float, or None
        None where there were no flips.
    smallest_p : float
        Below which neither could be.
    """

    shuffle_p: tuple[float, float]
    flip_p: tuple[float, float] | None
    smallest_p: float

    @property
    def p(self) -> tuple[float, float]:
        """The larger one of both, of each effect."""
        one, other = self.flip_p or (0.0, 0.0)
        return max(self.shuffle_p[0], one), max(self.shuffle_p[1], other)


def both_p(tests: Mapping[str, EffectTest]) -> BothP:
    """Return the p values of tests of which each effect was shuffled."""
    own = [tests[effect] for effect in EFFECTS]
    shuffles = [test.shuffles.p for test in own if test.shuffles is not None]
    flips = [test.flips.p for test in own if test.flips is not None]
    return BothP(
        (shuffles[0], shuffles[1]),
        (flips[0], flips[1]) if flips else None,
        max(test.smallest_p for test in own),
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
        )
    if interaction == "max_t" and noise == "equal":
        raise CurvewiseError(
            "interaction is 'max_t', which is judged by flips, and noise is 'equal', "
            "which is not. Pass ",
            {"null": "separate"},
            " and ",
            {"noise": "unequal"},
            " for it.",
        )
    if interaction == "max_t" and fewest < FEWEST:
        raise CurvewiseError(
            f"{few}: {fewest} lines, and ",
            Keyword("interaction", "max_t"),
            f" is judged by flips, which take {FEWEST} or more. Pass ",
            {"interaction": "ats"},
            ", or run more seeds.",
        )
