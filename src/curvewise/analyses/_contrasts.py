"""Two algorithms on one task: who is ahead, and how sure is that."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from curvewise.analyses._asking import Sample, are_paired, quietly
from curvewise.analyses._distribution import best_tail
from curvewise.metrics import Metric
from curvewise.stats.bands import Kind, cdf_band
from curvewise.stats.comparison import has_few, shared_confidence
from curvewise.stats.comparison.all_pairs import all_differences, all_improvements
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import Interval

_UNEQUAL = 2  # times as many trials of one as of the other
_ANY = "for any number of trials, any distribution and any dependence"


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
    best = {t: Functional("cvar", *best_tail(metric.on(t), alpha)) for t in scores}
    sure = _bounds(scores, metric, best, confidence, kind)
    pairs = sum(len(own) * (len(own) - 1) // 2 for own in scores.values())
    each = shared_confidence(confidence, max(pairs, 1))
    return tuple(
        found
        for task, own in scores.items()
        for found in _of_task(
            *(task, own, metric.on(task), best[task], each, sure.get(task)),
            is_fixed=kind != "anytime",
        )
    )


_Bounds = Mapping[str, tuple[float, float]]


def _bounds(
    scores: Mapping[str, Mapping[str, Sample]],
    metric: Metric,
    best: Mapping[str, Functional],
    confidence: float,
    kind: Kind,
) -> dict[str, _Bounds]:
    """Return between what the statistic of each cell lies, all of them at once.

    Where that holds for all cells, it holds for all differences: pairs cost nothing.
    """
    if any(own.lacks(metric.on(task).range) for task, own in best.items()):
        return {}
    each = shared_confidence(confidence, sum(map(len, scores.values())))
    return {
        task: {
            name: best[task].bounds(
                cdf_band(
                    own.scores,
                    confidence=each,
                    kind=kind,
                    support=metric.on(task).range,
                )
            )
            for name, own in cells.items()
        }
        for task, cells in scores.items()
    }


def _of_task(
    task: str,
    scores: Mapping[str, Sample],
    metric: Metric,
    best: Functional,
    confidence: float,
    bounds: _Bounds | None,
    *,
    is_fixed: bool,
) -> Iterator[Contrast]:
    """Yield every pair of algorithms on a task."""
    mass = f"the mean of the best {best.mass:g} of all trials"
    few = {
        n: has_few(best, n, confidence=confidence)
        for n in {len(own.scores) for own in scores.values()}
    }
    gaps, improvements = _intervals(list(scores.values()), metric, best, confidence)
    pairs = itertools.combinations(scores, 2)
    for (one, other), gap, improvement in zip(pairs, gaps, improvements, strict=True):
        estimand = f"{mass}, {one} less {other}"
        guaranteed = None
        if bounds is not None:
            (low, high), (least, most) = bounds[one], bounds[other]
            ends = low - most, high - least
            guaranteed = Interval(*ends, estimand, _ANY, gap.value)
        small, large = sorted((len(scores[one].scores), len(scores[other].scores)))
        yield Contrast(
            task,
            one,
            other,
            metric,
            replace(
                improvement, estimand=f"P({one} is better than {other}), ties half"
            ),
            replace(gap, estimand=estimand),
            guaranteed,
            # Skewness cancels between samples of a size, and looks need bands.
            few[small] or large > _UNEQUAL * small or not is_fixed,
        )


def _intervals(
    own: Sequence[Sample], metric: Metric, best: Functional, confidence: float
) -> tuple[list[Interval], list[Interval]]:
    """Return the intervals of all pairs: of the difference, and of who is better."""
    down = [one.scores for one in own]
    up = [metric.sign * scores for scores in down]
    gaps: dict[tuple[int, int], Interval] = {}
    improvements: dict[tuple[int, int], Interval] = {}

    def ask(members: Sequence[int], paired: bool) -> None:
        pairs = list(itertools.combinations(members, 2))
        options: dict[str, Any] = {"confidence": confidence, "paired": paired}
        found = all_differences(
            [down[i] for i in members], best, support=metric.range, **options
        )
        gaps.update(zip(pairs, found, strict=True))
        found = all_improvements([up[i] for i in members], **options)
        improvements.update(zip(pairs, found, strict=True))

    groups = _paired_groups(own)
    with quietly():  # few trials are said in words
        if len(groups) > 1:
            ask(range(len(own)), paired=False)
        for members in groups:
            ask(members, paired=True)
    pairs = list(itertools.combinations(range(len(own)), 2))
    return [gaps[pair] for pair in pairs], [improvements[pair] for pair in pairs]


def _paired_groups(own: Sequence[Sample]) -> list[list[int]]:
    """Return the places of samples, those that are paired with each other together."""
    groups: list[list[int]] = []
    for place, one in enumerate(own):
        for group in groups:
            if are_paired(own[group[0]], one):
                group.append(place)
                break
        else:
            groups.append([place])
    return groups
