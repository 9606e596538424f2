"""The scores of one algorithm on one task, and all that is read off them."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.analyses._asking import quietly
from curvewise.errors import CurvewiseError
from curvewise.metrics import Floats, Metric
from curvewise.stats.bands import Band, Kind, cdf_band
from curvewise.stats.bounds import (
    bootstrap_interval,
    cvar_bounds,
    mean_bounds,
    student_interval,
)
from curvewise.stats.distribution import Tail, Threshold, cvar, quantile, threshold
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
        own = (self.mean_interval, self.best_interval, self.worst_interval)
        return max(interval.monte_carlo_error for interval in own)

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
        found = threshold(up * self.scores, up * z)
        return Threshold(
            found.probability, up * found.mean_reached, up * found.partial, found.excess
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
            found = tuning_curve(
                up * self.scores,
                k,
                quantile=p,
                confidence=self.band.confidence,
                kind=self.band.kind,
                support=self.metric.upward,
            )
        except CurvewiseError:  # too few trials for any end, but there is an estimate
            found = _unbounded(up * self.scores, k, p)
        if up > 0:
            return found
        return replace(
            found, value=-found.value, lower=-found.upper, upper=-found.lower
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
    is_read_off = [found.guarantee == band.guarantee for found in intervals]
    is_bootstrapped = not all(is_read_off)
    is_clustered = unit != "trial" and len(scores) > 2 and float(np.ptp(scores)) > 0
    if is_clustered:
        mean = student_interval(scores, confidence=confidence, support=metric.range)
        intervals = mean, *intervals[1:]
    return Distribution(
        *labels, metric, band, failed, *intervals, is_bootstrapped, is_clustered, unit
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
        found = bootstrap_interval(
            band.scores, statistic, confidence=band.confidence, rng=rng
        )
    return replace(found, estimand=estimand, value=float(value))
