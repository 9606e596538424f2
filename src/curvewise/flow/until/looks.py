"""One look at the scores so far: is what was asked for known well enough?

Nothing here knows of stores and runs: scores and a budget go in, intervals come out.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from curvewise.metrics import Floats, Metric
from curvewise.questions.plan.score_plan import functional_sign, support_of
from curvewise.questions.sampling import Sample
from curvewise.stats.bands import Kind, Support, tail_kind
from curvewise.stats.comparison import difference
from curvewise.stats.functionals import ENOUGH, Functional, flipped
from curvewise.stats.interval import Interval, Method
from curvewise.store.locks import Cell
from curvewise.text import Cell as TableCell


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every cell: which number, of which metric, bounded how."""

    functional: Functional
    metric: Metric
    band: Kind | None
    method: Method

    def band_for(self, n: int, confidence: float) -> Kind:
        """Return which band is used for so many trials."""
        return self.band or tail_kind(n, confidence=confidence)

    @property
    def sign(self) -> int:
        """What scores are multiplied by: the best are on top, but quantiles stay."""
        return functional_sign(self.metric, self.functional)

    @property
    def support(self) -> Support:
        """The range of the scores so multiplied."""
        return support_of(self.metric, self.functional)

    @property
    def lacks(self) -> tuple[str, ...]:
        """At which ends a guarantee needs a bound that the metric does not have."""
        ends = self.functional.lacks(self.support)
        if self.sign > 0:
            return ends
        turned = {"below": "above", "above": "below"}
        return tuple(end for end in turned if turned[end] in ends)

    def interval(self, scores: Floats, confidence: float) -> Interval:
        """Return the interval of one cell, in the metric's own direction."""
        interval = self.functional.interval(
            self.sign * scores,
            confidence=confidence,
            support=self.support,
            kind=self.band_for(len(scores), confidence),
            method=self.method,
        )
        return interval if self.sign > 0 else flipped(interval)

    def gap(self, one: Sample, other: Sample, confidence: float) -> Interval:
        """Return the asymptotic interval of a difference, paired by number."""
        a, b = (self.sign * scores for scores in _paired(one, other))
        f = self.functional
        if round(len(a) * f.mass, 9) < ENOUGH:  # 1 - .9 is a little less than .1
            return _nothing_known(f"{len(a)} pairs are too few")
        interval = difference(
            a,
            b,
            of=f.of,
            alpha=f.alpha,
            tail=f.tail,
            confidence=confidence,
            paired=True,
            support=self.support,
        )
        return interval if self.sign > 0 else flipped(interval)


def _paired(one: Sample, other: Sample) -> tuple[Floats, Floats]:
    """Return the scores of trials that both have; those of one number are a pair."""
    if np.array_equal(one.numbers, other.numbers):
        return one.scores, other.scores
    _, i, j = np.intersect1d(one.numbers, other.numbers, return_indices=True)
    return one.scores[i], other.scores[j]


def _nothing_known(why: str) -> Interval:
    return Interval(-math.inf, math.inf, "", f"cannot tell: {why}")


# --- One look at the scores so far: is what was asked for known well enough? -----------
#
# Nothing here knows of stores and runs: scores and a budget go in, intervals come out.


LOOKS = 5

Row: TypeAlias = dict[str, TableCell]
Samples: TypeAlias = Mapping[Cell, Sample]


@dataclass(frozen=True, slots=True)
class Budget:
    r"""How much of delta one look may spend.

    .. math:: \frac{\delta}{2^{e+1} K}

    Over K looks at each of the plans e = 0, 1, 2, ... that is delta at most.
    """

    delta: float
    looks: int = LOOKS
    before: int = 0
    anytime: bool = False

    def confidence(self, members: int) -> float:
        """Return the confidence of each of so many intervals that hold together."""
        looks = 1 if self.anytime else 2 ** (self.before + 1) * self.looks
        return 1 - self.delta / (looks * members)


# --- half-widths -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Member:
    """What a look sees of one algorithm on one task."""

    task: str
    algorithm: str
    trials: int
    interval: Interval


@dataclass(frozen=True, slots=True)
class Widths:
    """What a look sees where every interval is to be narrow: one for each cell."""

    members: tuple[Member, ...]
    half_width: float
    confidence: float

    @property
    def widest(self) -> float:
        """The largest half-width; infinite where a cell cannot tell."""
        return max((s.interval.half_width for s in self.members), default=math.inf)

    @property
    def is_enough(self) -> bool:
        """Whether all are narrow enough."""
        return self.widest <= self.half_width

    def rows(self) -> list[Row]:
        """Return one row per task and algorithm."""
        return [
            {
                "task": member.task,
                "algorithm": member.algorithm,
                "trials": member.trials,
                "value": member.interval.value,
                "lower": member.interval.lower,
                "upper": member.interval.upper,
                "half_width": member.interval.half_width,
            }
            for member in self.members
        ]

    def __str__(self) -> str:
        now = f"{self.widest:.3g}" if math.isfinite(self.widest) else "?"
        return f"± {now} of {self.half_width:g}"


@dataclass(frozen=True, slots=True)
class HalfWidth:
    """Wants the interval of every cell to be at most so wide, to either side."""

    half_width: float

    def look(self, question: Question, samples: Samples, budget: Budget) -> Widths:
        """Return the intervals of all cells, which hold together."""
        level = budget.confidence(max(len(samples), 1))
        return Widths(
            tuple(
                Member(
                    *cell, len(sample.scores), question.interval(sample.scores, level)
                )
                for cell, sample in samples.items()
            ),
            self.half_width,
            level,
        )


# --- ranking -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """What a look sees of two algorithms on one task: how far the first is above."""

    task: str
    first: str
    second: str
    trials: int
    interval: Interval

    def is_apart(self) -> bool:
        """Whether they are told apart."""
        return self.interval.lower > 0 or self.interval.upper < 0

    def is_close(self, margin: float) -> bool:
        """Whether they are shown to be closer than a margin."""
        return -margin <= self.interval.lower and self.interval.upper <= margin

    def is_decided(self, margin: float) -> bool:
        """Whether they are either."""
        return self.is_apart() or self.is_close(margin)

    def verdict(self, margin: float, sign: int) -> str:
        """Return in words what is known of them."""
        if self.is_apart():
            is_first = (self.interval.lower > 0) == (sign > 0)
            return f"{self.first if is_first else self.second} is better"
        if self.is_close(margin):
            return f"closer than {margin:g}"
        return "undecided"


@dataclass(frozen=True, slots=True)
class Ranks:
    """What a look sees where every pair is to be told apart, or shown to be close."""

    members: tuple[Pair, ...]
    margin: float
    confidence: float
    sign: int

    @property
    def undecided(self) -> int:
        """How many pairs are neither."""
        return sum(not pair.is_decided(self.margin) for pair in self.members)

    @property
    def is_enough(self) -> bool:
        """Whether all pairs are decided; where there is none, nothing is."""
        return bool(self.members) and self.undecided == 0

    def rows(self) -> list[Row]:
        """Return one row per task and pair of algorithms."""
        return [
            {
                "task": pair.task,
                "first": pair.first,
                "second": pair.second,
                "trials": pair.trials,
                "difference": pair.interval.value,
                "lower": pair.interval.lower,
                "upper": pair.interval.upper,
                "verdict": pair.verdict(self.margin, self.sign),
            }
            for pair in self.members
        ]

    def __str__(self) -> str:
        many = len(self.members)
        return f"{self.undecided} of {many} pair{'s' * (many != 1)} undecided"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Wants every pair of algorithms told apart, or shown to be closer than a margin."""

    margin: float

    def look(self, question: Question, samples: Samples, budget: Budget) -> Ranks:
        """Return the intervals of all differences, which hold together."""
        pairs = list(_pairs(samples))
        if question.method == "asymptotic":
            level = budget.confidence(max(len(pairs), 1))
            gaps = [
                question.gap(samples[one], samples[other], level)
                for one, other in pairs
            ]
        else:
            # Where the intervals of all cells hold, so do those of all differences.
            level = budget.confidence(max(len(samples), 1))
            each = {
                cell: question.interval(sample.scores, level)
                for cell, sample in samples.items()
            }
            gaps = [_less(each[one], each[other]) for one, other in pairs]
        members = (
            Pair(
                one[0],
                one[1],
                other[1],
                min(len(samples[one].scores), len(samples[other].scores)),
                gap,
            )
            for (one, other), gap in zip(pairs, gaps, strict=True)
        )
        return Ranks(tuple(members), self.margin, level, question.metric.sign)


def _pairs(samples: Samples) -> Iterator[tuple[Cell, Cell]]:
    return (
        (one, other) for one, other in combinations(samples, 2) if one[0] == other[0]
    )


def _less(one: Interval, other: Interval) -> Interval:
    return Interval(
        one.lower - other.upper,
        one.upper - other.lower,
        f"{one.estimand}: first less second",
        one.guarantee,
        one.value - other.value,
    )


Look: TypeAlias = Widths | Ranks


# --- Round numbers of trials ------------------------------------------------------------


def rounded_down(n: int) -> int:
    """Return a number cut to two digits.

    >>> rounded_down(1234), rounded_down(7)
    (1200, 7)
    """
    unit = int(10 ** max(len(str(n)) - 2, 0))
    return n // unit * unit


def rounded_up(n: int) -> int:
    """Return a number with two digits that matter.

    >>> rounded_up(34_510), rounded_up(72)
    (35000, 72)
    """
    unit = int(10 ** max(len(str(n)) - 2, 0))
    return -(-n // unit) * unit
