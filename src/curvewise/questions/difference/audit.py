"""`difference` on trial: curves that do not differ, and what its bands contain."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from curvewise.metrics import Floats, Metric
from curvewise.questions.audit.checks import (
    Seen,
    Settings,
    Subject,
    band_holds,
    claims_by_task,
    holds,
    misses_by_task,
    one_claim,
    together,
)
from curvewise.questions.audit.draws import Cell, trials_of
from curvewise.questions.difference import Difference, difference
from curvewise.questions.difference.fit import (
    LineTask,
    grid_of,
    too_many_pairs,
    with_lines,
)
from curvewise.questions.difference.text import adjusted_p
from curvewise.questions.sampling import crossed_factors
from curvewise.stats.deals import number_of_deals
from curvewise.trials import Trials
from curvewise.trials.doors import Failed

_SHUFFLES = 999  # of each test; more are drawn where p is close to the level
_MANY_DEALS = 10_000  # more are not all tried, but as many as shuffles
_SHAPED = 20  # lines of an algorithm whose noise keeps its shape; of fewer it is normal


@dataclass(frozen=True, slots=True, eq=False)
class OfDifference(Subject):
    """`difference`, with the curves that new ones are drawn around."""

    name: ClassVar[str] = "difference"
    note: ClassVar[str] = (
        f"difference was tried with {_SHUFFLES:,} shuffles for each test instead of 9,999, "
        f"and more where p is close to the level."
    )

    trials: Trials
    settings: Settings
    found: Difference
    grid: int | None

    def ask(self, trials: Trials, seed: int) -> Difference:
        """Return its answer about dealt trials."""
        part, _ = with_lines(trials)
        return self._asked_of(part, self.grid, self.settings.failed, seed)

    def ask_drawn(self, trials: Trials, seed: int) -> Difference:
        """Return its answer about drawn trials."""
        return self._asked_of(trials, None, "raise", seed)

    def _asked_of(
        self, trials: Trials, grid: int | None, failed: Failed, seed: int
    ) -> Difference:
        return difference(
            trials,
            self.settings.metric,
            grid=grid,
            failed=failed,
            level=self.settings.level,
            shuffles=_SHUFFLES,
            exact=_exact(self.found),
            seed=seed,
        )

    def claims(self, answer: Difference) -> list[Seen]:
        """Return where curves are said to differ: on the whole, in pairs, at steps."""
        level, out = self.settings.level, []
        effects = (("algorithm", "height"), ("interaction", "shape"))
        for effect, word in effects:
            rejected = [
                one.anova.decision(effect) == "rejected" for one in answer.found
            ]
            what = f"curves of a task differ in {word}"
            out.append(claims_by_task(what, rejected, level))
        many = [one for one in answer.found if len(one.pairs) > 1]
        for effect, word in effects if many else ():
            rejected = [
                any(p.decisions[effect] == "rejected" for p in one.pairs)
                for one in many
            ]
            what = f"a pair on a task differs in {word}"
            out.append(claims_by_task(what, rejected, level))
        tested = [one for one in answer.found if any(p.where for p in one.pairs)]
        if tested:
            somewhere = [
                any(p.where is not None and p.where.different.any() for p in one.pairs)
                for one in tested
            ]
            what = "a pair on a task differs at some step"
            out.append(claims_by_task(what, somewhere, level))
        if answer.overall:
            least = min(p for pair in adjusted_p(answer.overall) for p in pair[:1])
            what = "one of a pair is ahead over all tasks"
            out.append(one_claim(what, least <= level, level))
        return out

    def draw(self, rng: np.random.Generator) -> Trials:
        """Return curves drawn around the mean curve of each algorithm on each task.

        Runs are independent, as the analysis takes them to be: what those of one number
        share by chance, where they are few, is no property of the algorithms.
        """
        metric = self.found.metric
        cells = []
        for one in self.found.found:
            steps = one.lines.steps
            for name, lines in one.lines.items():
                n, mean = len(lines), lines.mean(axis=0)
                new = mean + _weights(n, rng) @ (lines - mean)
                flat = np.tile(steps, n), new.ravel()
                lengths = np.full(n, len(steps))
                cells.append(Cell(one.task, name, np.arange(n), lengths, *flat))
        # Noise may carry a curve out of the range of its metric, which is not used here.
        free = Metric(metric.name, metric.direction)
        return trials_of(cells, free, self.trials)

    def misses(self, answer: Difference) -> list[Seen]:
        """Return which differences and curves are not in their intervals and bands."""
        level = self.settings.level
        heights, bands, means = [], [], []
        for one, true in zip(answer.found, self.found.found, strict=True):
            truth = {name: curves.mean(axis=0) for name, curves in true.lines.items()}
            gaps = [(p, truth[p.one] - truth[p.other]) for p in one.pairs]
            hits = (holds(p.effects.difference, float(gap.mean())) for p, gap in gaps)
            heights.append(together(hits))
            pairs = [(p.band, gap) for p, gap in gaps if p.band is not None]
            if pairs:
                bands.append(together(band_holds(b, gap) for b, gap in pairs))
            means += [band_holds(band, truth[name]) for name, band in one.means.items()]
        kinds = [("difference in height, all pairs of a task at once", heights)]
        if bands:
            kinds.append(("band of a difference, all steps and pairs at once", bands))
        if any(hit is not None for hit in means):
            kinds.append(("band of a mean curve, all steps at once", means))
        return misses_by_task(kinds, level, len(answer.found))


def _weights(n: int, rng: np.random.Generator) -> Floats:
    """Return how much of the noise of each old line is in each of n new ones.

    Of many lines, that of one of them, drawn; of few, a little of all, so that noise is
    normal and varies as theirs does. Both are made as wide as a sample of n is too narrow.
    """
    if n < _SHAPED:
        return rng.normal(size=(n, n)) / math.sqrt(max(n - 1, 1))
    wider = math.sqrt(n / (n - 1))
    return np.asarray(wider * np.eye(n)[rng.integers(n, size=n)])


def _exact(answer: Difference) -> bool | None:
    """Return whether tests may try all deals: not where those are many."""
    most = max(_most_deals(one) for one in answer.found)
    return None if most <= _MANY_DEALS else False


def _most_deals(one: LineTask) -> int:
    """Return the largest number of deals that tests of a task would try by themselves."""
    sizes = [len(curves) for curves in one.lines.values()]
    questions: Sequence[Sequence[int]] = [sizes, *combinations(sizes, 2)]
    million = [d for d in map(number_of_deals, questions) if d <= 1_000_000]
    return max(million, default=0)


def subject(trials: Trials, settings: Settings) -> OfDifference | None:
    """Return `difference` as it answered, where there are curves to compare."""
    trials, _ = with_lines(trials)
    if len(trials) == 0 or crossed_factors(trials) or too_many_pairs(trials):
        return None
    grid = grid_of(trials, settings.metric)
    answer = difference(
        trials,
        settings.metric,
        grid=grid,
        failed=settings.failed,
        level=settings.level,
        shuffles=_SHUFFLES,
    )
    return OfDifference(trials, settings, answer, grid)
