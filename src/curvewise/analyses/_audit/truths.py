"""What is true of the populations that scores are drawn from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from curvewise.analyses._audit.populations import Population, Populations
from curvewise.analyses._distribution import best_tail, worst_tail
from curvewise.analyses.performance import Performance
from curvewise.metrics import Metric
from curvewise.stats.comparison import iqm, mean_over_tasks, optimality_gap
from curvewise.stats.distribution import cvar, quantile


class CellTruth(NamedTuple):
    """What is true of one algorithm on one task."""

    mean: float
    best: float
    worst: float
    median: float


class OverallTruth(NamedTuple):
    """What is true of one algorithm over all tasks; the gap is 0 where none is told."""

    mean: float
    iqm: float
    gap: float


@dataclass(frozen=True, slots=True, eq=False)
class Truths:
    """What is true of all that `performance` tells intervals for.

    Parameters
    ----------
    cells : mapping of (task, algorithm) to CellTruth
    better : mapping of (task, one, other) to float
        How often a trial of `one` is better than one of `other`, ties counting half.
    overall : mapping of algorithm to OverallTruth
    """

    cells: Mapping[tuple[str, str], CellTruth]
    better: Mapping[tuple[str, str, str], float]
    overall: Mapping[str, OverallTruth]


def truths_of(answer: Performance, populations: Populations) -> Truths:
    """Return what is true of the populations, as far as the answer tells of it."""
    metric, up = answer.metric, answer.metric.sign
    cells = {
        (task, name): _cell(population, metric, answer.alpha)
        for task, own in populations.items()
        for name, population in own.items()
    }
    better = {
        (c.task, c.one, c.other): populations[c.task][c.one].is_better(
            populations[c.task][c.other], up
        )
        for c in answer.contrasts
    }
    overall = {}
    for one in answer.overall:
        own = [populations[task][one.algorithm].scores for task in answer.tasks]
        gap = 0.0
        if one.optimality_gap is not None:
            gap = optimality_gap([up * z for z in own], metric.upward[1])
        overall[one.algorithm] = OverallTruth(mean_over_tasks(own), iqm(own), gap)
    return Truths(cells, better, overall)


def _cell(population: Population, metric: Metric, alpha: float) -> CellTruth:
    z = population.scores
    (best, upper), (worst, lower) = best_tail(metric, alpha), worst_tail(metric, alpha)
    return CellTruth(
        float(z.mean()),
        float(cvar(z, best, tail=upper)),
        float(cvar(z, worst, tail=lower)),
        float(quantile(z, 0.5)),
    )
