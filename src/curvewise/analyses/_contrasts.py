"""Two algorithms on one task: who is ahead, and how sure is that."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from curvewise.analyses._asking import Sample, are_paired, quietly
from curvewise.analyses._distribution import best_tail
from curvewise.metrics import Metric
from curvewise.stats.bands import Kind, cdf_band
from curvewise.stats.comparison import (
    difference,
    has_few,
    probability_of_improvement,
    shared_confidence,
)
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import Interval

_UNEQUAL = 2  # times as many trials of one as of the other


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
        For the same, from bands: for any distribution, any number of trials and any
        dependence. None where nothing bounds it.
    has_few : bool
        Whether there are fewer trials in the tail than the central limit theorem was
        measured to need, far fewer of one than of the other, or looks at any time; then
        only what is guaranteed is sure.
    """

    task: str
    one: str
    other: str
    metric: Metric
    improvement: Interval
    best: Interval
    guaranteed: Interval | None
    has_few: bool

    @property
    def ahead(self) -> str | None:
        """The one that is ahead over the best of the trials; None where none can tell."""
        sure = self._winner(self.guaranteed)
        return sure if sure or self.has_few else self._winner(self.best)

    @property
    def probably_ahead(self) -> str | None:
        """The one that is ahead by an interval that needs more trials than there are."""
        return None if self.ahead else self._winner(self.best)

    def _winner(self, difference: Interval | None) -> str | None:
        if difference is None or 0 in difference:
            return None
        is_above = difference.lower > 0
        return self.one if is_above == (self.metric.sign > 0) else self.other


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
    share, tail = best_tail(metric, alpha)
    best = Functional("cvar", share, tail)
    sure = _bounds(scores, metric, best, confidence, kind)
    pairs = [
        (task, *pair)
        for task, own in scores.items()
        for pair in itertools.combinations(own, 2)
    ]
    each = shared_confidence(confidence, max(len(pairs), 1))
    return tuple(
        _contrast(
            *(task, one, other, scores[task], metric, best, each, sure.get(task)),
            is_fixed=kind != "anytime",
        )
        for task, one, other in pairs
    )


_Bounds = Mapping[str, tuple[float, float]]


def _bounds(
    scores: Mapping[str, Mapping[str, Sample]],
    metric: Metric,
    best: Functional,
    confidence: float,
    kind: Kind,
) -> dict[str, _Bounds]:
    """Return between what the statistic of each cell lies, all of them at once.

    Where that holds for all cells, it holds for all differences: pairs cost nothing.
    """
    if best.lacks(metric.range):
        return {}
    each = shared_confidence(confidence, sum(map(len, scores.values())))
    return {
        task: {
            name: best.bounds(
                cdf_band(own.scores, confidence=each, kind=kind, support=metric.range)
            )
            for name, own in cells.items()
        }
        for task, cells in scores.items()
    }


def _contrast(
    task: str,
    one: str,
    other: str,
    scores: Mapping[str, Sample],
    metric: Metric,
    best: Functional,
    confidence: float,
    bounds: _Bounds | None,
    *,
    is_fixed: bool,
) -> Contrast:
    a, b = scores[one].scores, scores[other].scores
    is_paired = are_paired(scores[one], scores[other])
    up = metric.sign
    with quietly():  # few trials are said in words
        gap = difference(
            a,
            b,
            of=best.of,
            alpha=best.alpha,
            tail=best.tail,
            confidence=confidence,
            paired=is_paired,
            support=metric.range,
        )
        improvement = probability_of_improvement(
            up * a, up * b, confidence=confidence, paired=is_paired
        )
    estimand = f"the mean of the best {best.mass:g} of all trials, {one} less {other}"
    guaranteed = None
    if bounds is not None:
        (low, high), (least, most) = bounds[one], bounds[other]
        guaranteed = Interval(
            low - most,
            high - least,
            estimand,
            "for any number of trials, any distribution and any dependence",
            gap.value,
        )
    return Contrast(
        task,
        one,
        other,
        metric,
        replace(improvement, estimand=f"P({one} is better than {other}), ties half"),
        replace(gap, estimand=estimand),
        guaranteed,
        # Skewness cancels between samples of a size, and looks between them need bands.
        has_few(best, min(len(a), len(b)), confidence=confidence)
        or max(len(a), len(b)) > _UNEQUAL * min(len(a), len(b))
        or not is_fixed,
    )
