"""An algorithm over all tasks: one number where each task counts the same."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from curvewise.analyses._asking import quietly
from curvewise.analyses._distribution import Distribution
from curvewise.errors import UnknownDirection, trials_where
from curvewise.stats.bands import Support
from curvewise.stats.comparison import (
    iqm_interval,
    mean_over_tasks_interval,
    optimality_gap_interval,
    performance_profile,
)
from curvewise.stats.interval import CurveBand, Interval

_GRID = 257  # scores at which a profile is drawn


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
    if len(tasks) == 1 or any(len(own) < len(tasks) for own in by_algorithm.values()):
        return ()
    with quietly():
        return tuple(_overall(n, own, confidence) for n, own in by_algorithm.items())


def _overall(name: str, own: Sequence[Distribution], confidence: float) -> Overall:
    metric = own[0].metric
    scores = [d.scores for d in own]
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
    at = np.linspace(min(ends), max(ends), _GRID)
    out = {}
    for name, own in _by_algorithm(distributions).items():
        with quietly():
            found = performance_profile(
                [up * d.scores for d in own], up * at, confidence=confidence
            )
        out[name] = CurveBand(
            at, found.value, found.lower, found.upper, found.estimand, found.guarantee
        )
    return out


def _by_algorithm(
    distributions: Sequence[Distribution],
) -> dict[str, list[Distribution]]:
    out: dict[str, list[Distribution]] = {}
    for d in distributions:
        out.setdefault(d.algorithm, []).append(d)
    return out
