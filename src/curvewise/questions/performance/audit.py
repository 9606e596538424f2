"""`performance` on trial: who is told apart, and what its bands and intervals contain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from curvewise.metrics import Metric
from curvewise.questions.audit import checks
from curvewise.questions.audit.checks import (
    Asked,
    Seen,
    Subject,
    holds,
    leaves_out,
    one_claim,
    together,
)
from curvewise.questions.audit.draws import (
    Population,
    Populations,
    drawn_scores,
    populations_of,
)
from curvewise.questions.performance import Performance, performance
from curvewise.questions.performance.fit import best_tail, worst_tail
from curvewise.stats.bootstrap import FEW
from curvewise.stats.comparison import iqm, mean_over_tasks, optimality_gap
from curvewise.stats.distribution import cvar, quantile
from curvewise.text import percent
from curvewise.trials import Trials

_NOBODY = "Not told apart"  # how the only sentence begins that claims nothing
_CELLS = {
    "band": "band of an algorithm, all quantiles at once",
    "mean": "mean of the trials",
    "best": "mean of the best {best}",
    "worst": "mean of the worst {worst}",
    "median": "median, read off the band",
}


# --- What is true of the populations that scores are drawn from ------------------------


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


@dataclass(frozen=True, slots=True, eq=False)
class OfPerformance(Subject):
    """`performance`, with the populations that new scores are drawn from."""

    name: ClassVar[str] = "performance"
    pairs: ClassVar[bool] = True

    trials: Trials
    asked: Asked
    found: Performance
    populations: dict[str, dict[str, Population]]
    truths: Truths

    def ask(self, trials: Trials, seed: int) -> Performance:
        """Return its answer about dealt trials."""
        asked = self.asked
        return performance(
            trials,
            asked.metric,
            at=asked.at,
            failed=asked.failed,
            confidence=asked.confidence,
            seed=seed,
        )

    def ask_drawn(self, trials: Trials, seed: int) -> Performance:
        """Return its answer about drawn trials."""
        confidence = self.asked.confidence
        return performance(trials, self.asked.metric, confidence=confidence, seed=seed)

    def claims(self, answer: Performance) -> list[Seen]:
        """Return whether any pair is told apart, in each of the ways that it can be."""
        pairs, level = answer.contrasts, self.asked.level
        if not pairs:
            return []
        few = any(c.has_few for c in pairs)
        out = [one_claim("a pair is told apart", any(c.ahead for c in pairs), level)]
        if few:
            probably = any(c.ahead or c.probably_ahead for c in pairs)
            what = "a pair is at least probably told apart"
            out.append(one_claim(what, probably, level, is_warned=True))
        better = any(leaves_out(c.improvement, 0.5) for c in pairs)
        what = "the first of a pair is better in more, or less, than half of the trials"
        out.append(one_claim(what, better, level, is_warned=few))
        told = (line for task in answer.tasks for line in answer.where(task))
        apart = any(not line.startswith(_NOBODY) for line in told)
        out.append(one_claim("a pair is told apart at some quantile", apart, level))
        return out

    def draw(self, rng: np.random.Generator) -> Trials:
        """Return trials drawn from the scores of each algorithm on each task."""
        return drawn_scores(self.populations, self.asked, self.trials, rng)

    def misses(self, answer: Performance) -> list[Seen]:
        """Return which bands and intervals miss."""
        return [
            *self._of_cells(answer),
            *self._of_pairs(answer),
            *self._of_all_tasks(answer),
        ]

    def _of_cells(self, answer: Performance) -> list[Seen]:
        alpha, level, apart = answer.alpha, self.asked.level, len(answer.tasks)
        share = min(alpha, 1 - alpha)
        few = any(
            d.is_bootstrapped and len(d.scores) * share < FEW
            for d in answer.distributions
        )
        held: dict[str, list[bool | None]] = {name: [] for name in _CELLS}
        for d in answer.distributions:
            true = self.truths.cells[d.task, d.algorithm]
            inside = self.populations[d.task][d.algorithm].is_in(d.band)
            held["band"].append(inside)
            held["mean"].append(holds(d.mean_interval, true.mean))
            held["best"].append(holds(d.best_interval, true.best))
            held["worst"].append(holds(d.worst_interval, true.worst))
            held["median"].append(holds(d.median_interval, true.median))
        shares = {"best": percent(1 - alpha), "worst": percent(alpha)}
        return [
            checks.misses(
                what.format(**shares),
                held[name],
                level,
                apart=apart,
                is_warned=few and name in ("mean", "best", "worst"),
            )
            for name, what in _CELLS.items()
        ]

    def _of_pairs(self, answer: Performance) -> list[Seen]:
        if not answer.contrasts:
            return []
        level, true = self.asked.level, self.truths
        few = any(c.has_few for c in answer.contrasts)
        top = f"differences of the best {percent(1 - answer.alpha)}, all pairs at once"
        sure, seen, better = [], [], []
        for c in answer.contrasts:
            one, other = (true.cells[c.task, name] for name in (c.one, c.other))
            gap = one.best - other.best
            if c.guaranteed is not None:
                sure.append(holds(c.guaranteed, gap))
            seen.append(holds(c.best, gap))
            better.append(holds(c.improvement, true.better[c.task, c.one, c.other]))
        out = []
        if sure:
            what = f"{top}, guaranteed"
            out.append(checks.misses(what, [together(sure)], level, apart=1))
        what = "how often the first is better, all pairs at once"
        for told, held in ((top, seen), (what, better)):
            at_once = [together(held)]
            out.append(checks.misses(told, at_once, level, apart=1, is_warned=few))
        return out

    def _of_all_tasks(self, answer: Performance) -> list[Seen]:
        held: dict[str, list[bool | None]] = {"mean": [], "IQM": []}
        for one in answer.overall:
            true = self.truths.overall[one.algorithm]
            held["mean"].append(holds(one.mean, true.mean))
            held["IQM"].append(holds(one.iqm, true.iqm))
            if one.optimality_gap is not None:
                own = held.setdefault("optimality gap", [])
                own.append(holds(one.optimality_gap, true.gap))
        return [
            checks.misses(f"{name} over all tasks", own, self.asked.level, apart=1)
            for name, own in held.items()
            if own
        ]


def subject(trials: Trials, asked: Asked) -> OfPerformance:
    """Return `performance` as it answered about the real trials."""
    found = performance(
        trials,
        asked.metric,
        at=asked.at,
        failed=asked.failed,
        confidence=asked.confidence,
    )
    populations = populations_of(trials, asked)
    return OfPerformance(
        trials, asked, found, populations, truths_of(found, populations)
    )


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
