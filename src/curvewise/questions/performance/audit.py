"""`performance` on trial: who is told apart, and what its bands and intervals contain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from curvewise.metrics import Floats, Metric
from curvewise.questions.audit import checks
from curvewise.questions.audit.checks import (
    Seen,
    Settings,
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


@dataclass(frozen=True, slots=True, eq=False)
class OfPerformance(Subject):
    """`performance`, with the populations that new scores are drawn from."""

    name: ClassVar[str] = "performance"
    pairs: ClassVar[bool] = True

    trials: Trials
    settings: Settings
    found: Performance
    populations: Populations
    cells: Mapping[tuple[str, str], Mapping[str, float]]  # what is true of each
    better: Mapping[tuple[str, str, str], float]  # how often one is better than another
    overall: Mapping[str, Mapping[str, float]]  # what is true over all tasks

    def ask(self, trials: Trials, seed: int) -> Performance:
        """Return its answer about dealt trials."""
        return performance(trials, **self.settings._asdict(), seed=seed)

    def ask_drawn(self, trials: Trials, seed: int) -> Performance:
        """Return its answer about drawn trials."""
        confidence = self.settings.confidence
        return performance(
            trials, self.settings.metric, confidence=confidence, seed=seed
        )

    def claims(self, answer: Performance) -> list[Seen]:
        """Return whether any pair is told apart, in each of the ways that it can be."""
        pairs, level = answer.contrasts, self.settings.level
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
        lines = (line for task in answer.tasks for line in answer.where(task))
        apart = any(not line.startswith(_NOBODY) for line in lines)
        out.append(one_claim("a pair is told apart at some quantile", apart, level))
        return out

    def draw(self, rng: np.random.Generator) -> Trials:
        """Return trials drawn from the scores of each algorithm on each task."""
        return drawn_scores(self.populations, self.settings, self.trials, rng)

    def misses(self, answer: Performance) -> list[Seen]:
        """Return which bands and intervals miss."""
        return [
            *self._of_cells(answer),
            *self._of_pairs(answer),
            *self._of_all_tasks(answer),
        ]

    def _of_cells(self, answer: Performance) -> list[Seen]:
        alpha, level, apart = answer.alpha, self.settings.level, len(answer.tasks)
        share = min(alpha, 1 - alpha)
        few = any(
            d.is_bootstrapped and len(d.scores) * share < FEW
            for d in answer.distributions
        )
        by_name: dict[str, list[bool | None]] = {name: [] for name in _CELLS}
        for d in answer.distributions:
            inside = self.populations[d.task][d.algorithm].is_in(d.band)
            by_name["band"].append(inside)
            intervals = {
                "mean": d.mean_interval,
                "best": d.best_interval,
                "worst": d.worst_interval,
                "median": d.median_interval,
            }
            for name, interval in intervals.items():
                true = self.cells[d.task, d.algorithm][name]
                by_name[name].append(holds(interval, true))
        shares = {"best": percent(1 - alpha), "worst": percent(alpha)}
        return [
            checks.misses(
                what.format(**shares),
                by_name[name],
                level,
                apart=apart,
                is_warned=few and name in ("mean", "best", "worst"),
            )
            for name, what in _CELLS.items()
        ]

    def _of_pairs(self, answer: Performance) -> list[Seen]:
        if not answer.contrasts:
            return []
        level = self.settings.level
        few = any(c.has_few for c in answer.contrasts)
        top = f"differences of the best {percent(1 - answer.alpha)}, all pairs at once"
        sure, probable, better = [], [], []
        for c in answer.contrasts:
            gap = (
                self.cells[c.task, c.one]["best"] - self.cells[c.task, c.other]["best"]
            )
            if c.guaranteed is not None:
                sure.append(holds(c.guaranteed, gap))
            probable.append(holds(c.best, gap))
            better.append(holds(c.improvement, self.better[c.task, c.one, c.other]))
        out = []
        if sure:
            what = f"{top}, guaranteed"
            out.append(checks.misses(what, [together(sure)], level, apart=1))
        what = "how often the first is better, all pairs at once"
        for label, hits in ((top, probable), (what, better)):
            at_once = [together(hits)]
            out.append(checks.misses(label, at_once, level, apart=1, is_warned=few))
        return out

    def _of_all_tasks(self, answer: Performance) -> list[Seen]:
        by_name: dict[str, list[bool | None]] = {}
        for one in answer.overall:
            intervals = {
                "mean": one.mean,
                "IQM": one.iqm,
                "optimality gap": one.optimality_gap,
            }
            for name, interval in intervals.items():
                if interval is not None:
                    true = self.overall[one.algorithm][name]
                    by_name.setdefault(name, []).append(holds(interval, true))
        return [
            checks.misses(f"{name} over all tasks", hits, self.settings.level, apart=1)
            for name, hits in by_name.items()
        ]


def subject(trials: Trials, settings: Settings) -> OfPerformance:
    """Return `performance` as it answered about the real trials."""
    answer = performance(trials, **settings._asdict())
    populations = populations_of(trials, settings)
    return OfPerformance(
        trials,
        settings,
        answer,
        populations,
        cells={
            (task, name): _true(population, answer.metric, answer.alpha)
            for task, by_name in populations.items()
            for name, population in by_name.items()
        },
        better={
            (c.task, c.one, c.other): populations[c.task][c.one].is_better(
                populations[c.task][c.other], answer.metric.sign
            )
            for c in answer.contrasts
        },
        overall={
            one.algorithm: _true_over_tasks(
                [populations[task][one.algorithm].scores for task in answer.tasks],
                None if one.optimality_gap is None else answer.metric,
            )
            for one in answer.overall
        },
    )


def _true(population: Population, metric: Metric, alpha: float) -> dict[str, float]:
    """Return what is true of one algorithm on one task."""
    z = population.scores
    (best, upper), (worst, lower) = best_tail(metric, alpha), worst_tail(metric, alpha)
    return {
        "mean": float(z.mean()),
        "best": float(cvar(z, best, tail=upper)),
        "worst": float(cvar(z, worst, tail=lower)),
        "median": float(quantile(z, 0.5)),
    }


def _true_over_tasks(scores: list[Floats], bounded: Metric | None) -> dict[str, float]:
    """Return what is true of one algorithm over all tasks; a gap only of a range."""
    true = {"mean": mean_over_tasks(scores), "IQM": iqm(scores)}
    if bounded is not None:
        upward = [bounded.sign * z for z in scores]
        true["optimality gap"] = optimality_gap(upward, bounded.upward[1])
    return true
