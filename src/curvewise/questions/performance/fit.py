"""Scores of algorithms: their distributions, who is better, where, and over all tasks."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, UnknownDirection, trials_where
from curvewise.metrics import Floats, Metric
from curvewise.questions.lead import Finding, Surety
from curvewise.questions.sampling import Sample, are_paired, quietly
from curvewise.stats.bands import Band, Kind, Support, cdf_band
from curvewise.stats.bounds import (
    bootstrap_interval,
    cvar_bounds,
    mean_bounds,
    student_interval,
)
from curvewise.stats.comparison import (
    all_differences,
    all_improvements,
    has_few,
    iqm_interval,
    mean_over_tasks_interval,
    optimality_gap_interval,
    performance_profile,
    quantile_shift,
    shared_confidence,
)
from curvewise.stats.distribution import Tail, Threshold, cvar, quantile, threshold
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import CurveBand, Interval
from curvewise.stats.tuning import best_of, tuning_curve


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """The scores of one algorithm on one task, failures included.

    Parameters
    ----------
    task, algorithm : str
    metric : Metric
    band : Band
        Holds the scores, in ascending order, and the band around their distribution.
    failed : int
        How many of the trials failed; they are in the scores with what a failure scores.
    mean_interval, best_interval, worst_interval : Interval
        For the mean score, and for that of the best ``1 - alpha`` and the worst ``alpha``
        of the trials (CVaR), at the alpha that was asked for.
    is_bootstrapped : bool
        Whether the bootstrap had to stand in for one, because nothing bounds the metric.
    is_clustered : bool
        Whether scores are means of clusters, such as settings with several seeds; the
        interval of the mean is then Student's.
    unit : str
        What each score is of: a trial, a setting or another cluster of runs.
    """

    task: str
    algorithm: str
    metric: Metric
    band: Band
    failed: int
    mean_interval: Interval
    best_interval: Interval
    worst_interval: Interval
    is_bootstrapped: bool
    is_clustered: bool = False
    unit: str = "trial"

    @property
    def scores(self) -> Floats:
        """The scores in ascending order."""
        return self.band.scores

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    def quantile(self, p: ArrayLike) -> Floats:
        """Return the score that a share `p` of the trials do not exceed."""
        return quantile(self.scores, p)

    @property
    def median(self) -> float:
        """The score that half of the trials, or just less, are better than.

        Of an even number of trials it is the worse one of the two in the middle, so
        that an accuracy and its error have the same median.
        """
        up = self.metric.sign
        return up * float(quantile(up * self.scores, 0.5))

    @property
    def median_interval(self) -> Interval:
        """The band at the median."""
        return replace(self.band.quantile_interval(0.5), value=self.median)

    @property
    def monte_carlo_error(self) -> float:
        """Largest standard error that the bootstrap left in an end; 0 without one."""
        intervals = (self.mean_interval, self.best_interval, self.worst_interval)
        return max(interval.monte_carlo_error for interval in intervals)

    def best(self, alpha: float) -> float:
        """Return the mean of the best ``1 - alpha`` of the trials (upper CVaR)."""
        share, tail = best_tail(self.metric, alpha)
        return float(cvar(self.scores, share, tail=tail))

    def worst(self, alpha: float) -> float:
        """Return the mean of the worst ``alpha`` of the trials (lower CVaR)."""
        share, tail = worst_tail(self.metric, alpha)
        return float(cvar(self.scores, share, tail=tail))

    def reaching(self, z: float) -> Threshold:
        """Return how many trials are at least as good as `z`, and how good those are."""
        up = self.metric.sign
        above = threshold(up * self.scores, up * z)
        return Threshold(
            above.probability, up * above.mean_reached, up * above.partial, above.excess
        )

    def best_curve(self, alpha: ArrayLike) -> CurveBand:
        """Return the mean of the best ``1 - alpha`` for many alphas, with its band."""
        at = np.asarray(alpha, dtype=np.float64)
        share, tail = best_tail(self.metric, at)
        lower, upper = cvar_bounds(self.band, share, tail)
        return CurveBand(
            at,
            np.asarray(cvar(self.scores, share, tail=tail)),
            lower,
            upper,
            estimand="the mean of the best 1 - alpha of all trials, for every alpha",
            guarantee=self.band.guarantee,
        )

    def tuning_curve(self, k: ArrayLike) -> CurveBand:
        """Return how good the best of `k` trials is, with its band.

        On average; where nothing bounds the metric, in half of the cases (its median).
        """
        up = self.metric.sign
        p = None if self.metric.is_bounded else 0.5
        try:
            curve = tuning_curve(
                up * self.scores,
                k,
                quantile=p,
                confidence=self.band.confidence,
                kind=self.band.kind,
                support=self.metric.upward,
            )
        except CurvewiseError:  # too few trials for any end, but there is an estimate
            curve = _unbounded(up * self.scores, k, p)
        if up > 0:
            return curve
        return replace(
            curve, value=-curve.value, lower=-curve.upper, upper=-curve.lower
        )


def _unbounded(scores: Floats, k: ArrayLike, p: float | None) -> CurveBand:
    at = np.asarray(k, dtype=np.float64)
    ends = np.full(at.shape, math.inf)
    value = best_of(scores, k, quantile=p)
    why = "none: too few trials, and nothing bounds the metric"
    return CurveBand(at, value, -ends, ends, "the best of k trials", why)


def distribution_of(
    labels: tuple[str, str],
    metric: Metric,
    scores: Floats,
    failed: int,
    *,
    alpha: float,
    confidence: float,
    kind: Kind,
    unit: str,
    rng: np.random.Generator,
) -> Distribution:
    """Return a distribution with its band, and intervals for its mean and both tails."""
    band = cdf_band(scores, confidence=confidence, kind=kind, support=metric.range)
    best, worst = best_tail(metric, alpha), worst_tail(metric, alpha)
    intervals = (
        _interval(band, None, "the mean of all trials", rng),
        _interval(band, best, f"the mean of the best {1 - alpha:g} of all trials", rng),
        _interval(band, worst, f"the mean of the worst {alpha:g} of all trials", rng),
    )
    is_read_off = [interval.guarantee == band.guarantee for interval in intervals]
    is_bootstrapped = not all(is_read_off)
    is_clustered = unit != "trial" and len(scores) > 2 and float(np.ptp(scores)) > 0
    if is_clustered:
        mean = student_interval(scores, confidence=confidence, support=metric.range)
        intervals = mean, *intervals[1:]
    task, algorithm = labels
    mean, best_mean, worst_mean = intervals
    return Distribution(
        task=task,
        algorithm=algorithm,
        metric=metric,
        band=band,
        failed=failed,
        mean_interval=mean,
        best_interval=best_mean,
        worst_interval=worst_mean,
        is_bootstrapped=is_bootstrapped,
        is_clustered=is_clustered,
        unit=unit,
    )


def best_tail(metric: Metric, alpha: Any) -> tuple[Any, Tail]:
    """Return which tail of the scores the best ``1 - alpha`` are, and where it is cut."""
    return (alpha, "upper") if metric.sign > 0 else (1 - alpha, "lower")


def worst_tail(metric: Metric, alpha: Any) -> tuple[Any, Tail]:
    """Return which tail of the scores the worst ``alpha`` are, and where it is cut."""
    return (alpha, "lower") if metric.sign > 0 else (1 - alpha, "upper")


def _interval(
    band: Band, tail: tuple[float, Tail] | None, estimand: str, rng: np.random.Generator
) -> Interval:
    """Return what the band says; where scores have no bound, what the bootstrap says."""
    if tail is None:
        ends, value = mean_bounds(band), band.scores.mean()
    else:
        low, high = cvar_bounds(band, *tail)
        ends = float(low), float(high)
        value = cvar(band.scores, tail[0], tail=tail[1])
    if all(map(math.isfinite, ends)) or len(band.scores) == 1:
        return Interval(*ends, estimand, band.guarantee, float(value))
    statistic: Any = "mean" if tail is None else ("cvar", *tail)
    with quietly():
        interval = bootstrap_interval(
            band.scores, statistic, confidence=band.confidence, rng=rng
        )
    return replace(interval, estimand=estimand, value=float(value))


# --- Two algorithms on one task: who is ahead, and how sure is that --------------------


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

    @property
    def finding(self) -> Finding:
        """Who is ahead of whom, and how surely."""
        surety: Surety = "sure" if self.ahead else "probable"
        names = self.one, self.other
        return Finding.of(self.task, names, self.ahead or self.probably_ahead, surety)

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
    """Return every pair on every task; all intervals of a kind hold at once."""
    best = {t: Functional("cvar", *best_tail(metric.on(t), alpha)) for t in scores}
    sure = _bounds(scores, metric, best, confidence, kind)
    pairs = sum(len(cells) * (len(cells) - 1) // 2 for cells in scores.values())
    each = shared_confidence(confidence, max(pairs, 1))
    return tuple(
        contrast
        for task, cells in scores.items()
        for contrast in _of_task(
            *(task, cells, metric.on(task), best[task], each, sure.get(task)),
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
    if any(of.lacks(metric.on(task).range) for task, of in best.items()):
        return {}
    each = shared_confidence(confidence, sum(map(len, scores.values())))
    return {
        task: {
            name: best[task].bounds(
                cdf_band(
                    sample.scores,
                    confidence=each,
                    kind=kind,
                    support=metric.on(task).range,
                )
            )
            for name, sample in cells.items()
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
        for n in {len(sample.scores) for sample in scores.values()}
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
            task=task,
            one=one,
            other=other,
            metric=metric,
            improvement=replace(
                improvement, estimand=f"P({one} is better than {other}), ties half"
            ),
            best=replace(gap, estimand=estimand),
            guaranteed=guaranteed,
            # Skewness cancels between samples of a size, and looks need bands.
            has_few=few[small] or large > _UNEQUAL * small or not is_fixed,
        )


def _intervals(
    samples: Sequence[Sample], metric: Metric, best: Functional, confidence: float
) -> tuple[list[Interval], list[Interval]]:
    """Return the intervals of all pairs: of the difference, and of who is better."""
    down = [one.scores for one in samples]
    up = [metric.sign * scores for scores in down]
    gaps: dict[tuple[int, int], Interval] = {}
    improvements: dict[tuple[int, int], Interval] = {}

    def ask(members: Sequence[int], paired: bool) -> None:
        pairs = list(itertools.combinations(members, 2))
        options: dict[str, Any] = {"confidence": confidence, "paired": paired}
        intervals = all_differences(
            [down[i] for i in members], best, support=metric.range, **options
        )
        gaps.update(zip(pairs, intervals, strict=True))
        intervals = all_improvements([up[i] for i in members], **options)
        improvements.update(zip(pairs, intervals, strict=True))

    groups = _paired_groups(samples)
    with quietly():  # few trials are said in words
        if len(groups) > 1:
            ask(range(len(samples)), paired=False)
        for members in groups:
            ask(members, paired=True)
    pairs = list(itertools.combinations(range(len(samples)), 2))
    return [gaps[pair] for pair in pairs], [improvements[pair] for pair in pairs]


def _paired_groups(samples: Sequence[Sample]) -> list[list[int]]:
    """Return the places of samples, those that are paired with each other together."""
    groups: list[list[int]] = []
    for place, one in enumerate(samples):
        for group in groups:
            if are_paired(samples[group[0]], one):
                group.append(place)
                break
        else:
            groups.append([place])
    return groups


Stretch: TypeAlias = tuple[float, float]

_MOST = 1000  # quantiles to draw
_GRID = np.linspace(0, 1, 2001)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """One distribution against another.

    Parameters
    ----------
    one, other : str
    shift : CurveBand
        By how much the quantiles of `one` are better than those of `other` (above 0:
        better, whichever way the metric goes), from the worst trials to the best.
    better, worse : tuple of (float, float)
        Where `one` is so for sure, at every quantile of the stretch; as shares counted
        from the worst trials.
    """

    one: str
    other: str
    shift: CurveBand
    better: tuple[Stretch, ...]
    worse: tuple[Stretch, ...]

    @property
    def crosses(self) -> bool:
        """Whether `one` is better for sure somewhere, and worse for sure elsewhere."""
        return bool(self.better) and bool(self.worse)

    @property
    def seen_better(self) -> float:
        """At which share of the quantiles `one` came out better, sure or not."""
        return float((self.shift.value > 0).mean())

    @property
    def seen_worse(self) -> float:
        """At which share of the quantiles `one` came out worse, sure or not."""
        return float((self.shift.value < 0).mean())


def compared(one: Distribution, other: Distribution, confidence: float) -> Comparison:
    """Return two distributions of one metric compared, better being positive."""
    up = one.metric.sign
    return comparison_of(
        (one.algorithm, other.algorithm),
        (up * one.scores, up * other.scores),
        confidence=confidence,
        kind=one.band.kind,
    )


def comparison_of(
    names: tuple[str, str],
    scores: tuple[Floats, Floats],
    *,
    confidence: float,
    kind: Kind,
) -> Comparison:
    """Return two samples compared, for which higher is better.

    Where a band ends in the support of the metric, it says nothing about two samples, and
    is left open.
    """
    a, b = scores
    n = min(len(a), len(b), _MOST)
    # In the middle of each score's share: at its ends, rounding would decide.
    p = (np.arange(n) + 0.5) / n
    shift = quantile_shift(a, b, p, confidence=confidence, kind=kind)
    each = (1 + confidence) / 2
    bands = (cdf_band(z, confidence=each, kind=kind) for z in scores)
    (low_a, high_a), (low_b, high_b) = (band.quantile(_GRID) for band in bands)
    # Quantiles grow: between two points of the grid none of `a` is below the lower end at
    # the first, and none of `b` above the upper end at the second.
    better, worse = low_a[:-1] > high_b[1:], low_b[:-1] > high_a[1:]
    return Comparison(*names, shift, _runs(better), _runs(worse))


def _runs(holds: NDArray[np.bool_]) -> tuple[Stretch, ...]:
    """Return from where to where neighbouring steps of the grid hold."""
    edges = np.flatnonzero(np.diff(np.r_[False, holds, False]))
    return tuple(
        (float(_GRID[first]), float(_GRID[last]))
        for first, last in edges.reshape(-1, 2)
    )


# --- An algorithm over all tasks: one number where each task counts the same -----------


_PROFILE_GRID = 257  # scores at which a profile is drawn


@dataclass(frozen=True, slots=True)
class Overall:
    """One algorithm over all tasks.

    Parameters
    ----------
    algorithm : str
    iqm : Interval
        For the mean of the middle half of the scores of all tasks.
    mean : Interval
    optimality_gap : Interval or None
        For how far scores stay behind the best that is possible, on average; None where
        the metric has no best.
    """

    algorithm: str
    iqm: Interval
    mean: Interval
    optimality_gap: Interval | None


def overall(
    distributions: Sequence[Distribution], confidence: float
) -> tuple[Overall, ...]:
    """Return each algorithm over all tasks, if there are several and it met them all."""
    by_algorithm = _by_algorithm(distributions)
    tasks = {d.task for d in distributions}
    if len(tasks) == 1 or any(
        len(cells) < len(tasks) for cells in by_algorithm.values()
    ):
        return ()
    with quietly():
        return tuple(
            _overall(n, cells, confidence) for n, cells in by_algorithm.items()
        )


def _overall(name: str, cells: Sequence[Distribution], confidence: float) -> Overall:
    metric = cells[0].metric
    scores = [d.scores for d in cells]
    best = metric.range[1] if metric.sign > 0 else metric.range[0]
    gap = None
    if math.isfinite(best):
        up = [metric.sign * s for s in scores]
        gap = optimality_gap_interval(up, metric.sign * best, confidence=confidence)
    return Overall(
        name,
        _possible(iqm_interval(scores, confidence=confidence), metric.range),
        _possible(
            mean_over_tasks_interval(scores, confidence=confidence), metric.range
        ),
        gap,
    )


def _possible(interval: Interval, support: Support) -> Interval:
    """Return what of an interval lies where scores can be."""
    low, high = max(interval.lower, support[0]), min(interval.upper, support[1])
    return replace(interval, lower=low, upper=high)


def profiles(
    distributions: Sequence[Distribution], confidence: float
) -> dict[str, CurveBand]:
    """Return which share of the trials passes each score, all tasks counting alike."""
    ways = {d.metric.direction for d in distributions}
    if len(ways) > 1:
        raise UnknownDirection(
            "Which way is better differs by task, and tasks are taken together here. "
            "Choose one with ",
            trials_where(task=...),
            ".",
        )
    up = distributions[0].metric.sign
    ends = [e for d in distributions for e in (d.scores[0], d.scores[-1])]
    at = np.linspace(min(ends), max(ends), _PROFILE_GRID)
    out = {}
    for name, cells in _by_algorithm(distributions).items():
        with quietly():
            curve = performance_profile(
                [up * d.scores for d in cells], up * at, confidence=confidence
            )
        out[name] = CurveBand(
            at, curve.value, curve.lower, curve.upper, curve.estimand, curve.guarantee
        )
    return out


def _by_algorithm(
    distributions: Sequence[Distribution],
) -> dict[str, list[Distribution]]:
    out: dict[str, list[Distribution]] = {}
    for d in distributions:
        out.setdefault(d.algorithm, []).append(d)
    return out
