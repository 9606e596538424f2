"""What is asked of every cell: an interval for which number, of which metric."""

import math
from dataclasses import dataclass

import numpy as np

from curvewise.analyses._asking import Sample
from curvewise.analyses._score_plan import sign_of, support_of
from curvewise.metrics import Floats, Metric
from curvewise.stats.bands import Kind, Support, tail_kind
from curvewise.stats.comparison import difference
from curvewise.stats.functionals import ENOUGH, Functional, flipped
from curvewise.stats.interval import Interval, Method


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every cell: which number, of which metric, bounded how.

    Parameters
    ----------
    functional : Functional
    metric : Metric
    band : {"kolmogorov", "dkw", "equal_local_levels", "anytime"} or None
        The band behind a guaranteed interval. None: equal local levels, or Kolmogorov's
        for more trials than that is known for; the scores have no say in it.
    method : {"guaranteed", "asymptotic"}
    """

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
        return sign_of(self.metric, self.functional)

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
        found = self.functional.interval(
            self.sign * scores,
            confidence=confidence,
            support=self.support,
            kind=self.band_for(len(scores), confidence),
            method=self.method,
        )
        return found if self.sign > 0 else flipped(found)

    def gap(self, one: Sample, other: Sample, confidence: float) -> Interval:
        """Return the asymptotic interval of a difference, paired by number."""
        a, b = (self.sign * scores for scores in _paired(one, other))
        f = self.functional
        if round(len(a) * f.mass, 9) < ENOUGH:  # 1 - .9 is a little less than .1
            return _nothing_known(f"{len(a)} pairs are too few")
        found = difference(
            a,
            b,
            of=f.of,
            alpha=f.alpha,
            tail=f.tail,
            confidence=confidence,
            paired=True,
            support=self.support,
        )
        return found if self.sign > 0 else flipped(found)


def _paired(one: Sample, other: Sample) -> tuple[Floats, Floats]:
    """Return the scores of trials that both have; those of one number are a pair."""
    if np.array_equal(one.numbers, other.numbers):
        return one.scores, other.scores
    _, i, j = np.intersect1d(one.numbers, other.numbers, return_indices=True)
    return one.scores[i], other.scores[j]


def _nothing_known(why: str) -> Interval:
    return Interval(-math.inf, math.inf, "", f"cannot tell: {why}")
