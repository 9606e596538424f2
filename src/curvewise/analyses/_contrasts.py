"""Two algorithms on one task: who is ahead, and how sure is that."""

import functools
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from curvewise.analyses._asking import Sample, quietly
from curvewise.analyses._distribution import best_tail
from curvewise.metrics import Metric
from curvewise.stats.bands import Kind
from curvewise.stats.comparison import (
    difference,
    probability_of_improvement,
    shared_confidence,
)
from curvewise.stats.comparison.differences import ENOUGH
from curvewise.stats.interval import Interval


@dataclass(frozen=True, slots=True)
class Contrast:
    """One algorithm against another on one task.

    Parameters
    ----------
    task, one, other : str
    metric : Metric
    improvement : Interval
        For the probability that a trial of `one` is better than one of `other`, ties
        counting half.
    best : Interval
        For the difference of the means of the best ``1 - alpha`` of the trials, `one`
        minus `other`; by the central limit theorem.
    guaranteed : Interval or None
        For the same, from two bands: for any distribution and number of trials. None
        where the metric has no bound.
    has_enough : bool
        Whether there are as many trials in the tail as the central limit theorem was
        measured to need; with fewer, only what is guaranteed is believed.
    """

    task: str
    one: str
    other: str
    metric: Metric
    improvement: Interval
    best: Interval
    guaranteed: Interval | None
    has_enough: bool

    @property
    def ahead(self) -> str | None:
        """The one that is ahead over the best of the trials; None where none can tell."""
        believed = self.best if self.has_enough else self.guaranteed
        if believed is None or 0 in believed:
            return None
        return self.one if self.metric.sign * believed.lower > 0 else self.other


def contrasts(
    scores: Mapping[str, Mapping[str, Sample]],
    metric: Metric,
    *,
    alpha: float,
    confidence: float,
    kind: Kind = "kolmogorov",
) -> tuple[Contrast, ...]:
    """Return every pair of algorithms on every task; all intervals of a kind hold at once.

    Parameters
    ----------
    scores : mapping of task to mapping of algorithm to Sample
    metric : Metric
    alpha, confidence : float
    kind : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
        The band behind what is guaranteed.
    """
    pairs = [
        (task, *pair)
        for task, own in scores.items()
        for pair in itertools.combinations(own, 2)
    ]
    shared = shared_confidence(confidence, max(len(pairs), 1))
    return tuple(
        _contrast(task, one, other, scores[task], metric, alpha, shared, kind)
        for task, one, other in pairs
    )


def _contrast(
    task: str,
    one: str,
    other: str,
    scores: Mapping[str, Sample],
    metric: Metric,
    alpha: float,
    confidence: float,
    kind: Kind,
) -> Contrast:
    # Trials of the same number met the same data.
    paired = bool(np.array_equal(scores[one].numbers, scores[other].numbers))
    a, b = scores[one].scores, scores[other].scores
    share, tail = best_tail(metric, alpha)
    up = metric.sign
    ask = functools.partial(
        difference,
        *(a, b),
        of="cvar",
        alpha=share,
        tail=tail,
        confidence=confidence,
        paired=paired,
        support=metric.range,
        kind=kind,
    )
    with quietly():
        best = ask(method="asymptotic")
        improvement = probability_of_improvement(
            up * a, up * b, confidence=confidence, paired=paired
        )
    is_bounded = all(map(math.isfinite, metric.range))
    return Contrast(
        task,
        one,
        other,
        metric,
        improvement,
        best,
        ask(method="guaranteed") if is_bounded else None,
        has_enough=min(len(a), len(b)) * (1 - alpha) >= ENOUGH["cvar"],
    )
