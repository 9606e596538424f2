"""`robustness` on trial: gains by tuning that are none, and what its intervals contain."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

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
    drawn_scores,
    populations_of,
)
from curvewise.questions.robustness import Robustness, robustness
from curvewise.questions.robustness.fit import (
    STATISTICS,
    Statistic,
    functional_of,
)
from curvewise.questions.sampling import crossed_factors, tuned_pairs
from curvewise.trials import Trials


@dataclass(frozen=True, slots=True, eq=False)
class OfRobustness(Subject):
    """`robustness`, with the populations that new scores are drawn from."""

    name: ClassVar[str] = "robustness"
    pairs: ClassVar[bool] = True

    trials: Trials
    settings: Settings
    found: Robustness
    populations: dict[str, dict[str, Population]]

    def ask(self, trials: Trials, seed: int) -> Robustness:  # noqa: ARG002  no chance in it
        """Return its answer about dealt trials."""
        return robustness(trials, **self.settings._asdict())

    def ask_drawn(self, trials: Trials, seed: int) -> Robustness:  # noqa: ARG002  as above
        """Return its answer about drawn trials."""
        return robustness(
            trials, self.settings.metric, confidence=self.settings.confidence
        )

    def claims(self, answer: Robustness) -> list[Seen]:
        """Return whether tuning is said to gain or to lose anything."""
        level = self.settings.level
        means = [g.gain("mean") for g in answer.gaps if not g.is_one_trial]
        sure = any(leaves_out(one.believed) for one in means)
        out = [one_claim("tuning gains or loses", sure, level)]
        if any(one.is_few for one in means):
            probable = sure or any(leaves_out(one.interval) for one in means)
            what = "tuning at least probably gains or loses"
            out.append(one_claim(what, probable, level, is_warned=True))
        shifted = any(g.shift.better or g.shift.worse for g in answer.gaps)
        out.append(one_claim("tuning gains or loses at some quantile", shifted, level))
        return out

    def draw(self, rng: np.random.Generator) -> Trials:
        """Return trials drawn from the scores of each algorithm on each task."""
        return drawn_scores(self.populations, self.settings, self.trials, rng)

    def misses(self, answer: Robustness) -> list[Seen]:
        """Return of which statistics not all gains are in their intervals."""
        few = any(one.is_few for g in answer.gaps for one in g.gains)
        probable = [self._hold(answer, name, guaranteed=False) for name in STATISTICS]
        sure = [self._hold(answer, name, guaranteed=True) for name in STATISTICS]
        what, level = "gains by tuning, all algorithms at once", self.settings.level
        return [
            checks.misses(what, probable, level, apart=1, is_warned=few),
            checks.misses(f"{what}, guaranteed", sure, level, apart=1),
        ]

    def _hold(
        self, answer: Robustness, statistic: Statistic, *, guaranteed: bool
    ) -> bool | None:
        f, up = functional_of(statistic, answer.alpha), answer.metric.sign
        hits = []
        for gap in answer.gaps:
            cells, one = self.populations[gap.task], gap.gain(statistic)
            tuned, untuned = (
                f.value(up * cells[name].scores) for name in (gap.tuned, gap.algorithm)
            )
            interval = one.guaranteed if guaranteed else one.interval
            hits.append(holds(interval, tuned - untuned))
        return together(hits)


def subject(trials: Trials, settings: Settings) -> OfRobustness | None:
    """Return `robustness` as it answered, where algorithms have tuned ones."""
    if not tuned_pairs(trials.algorithms) or crossed_factors(trials):
        return None
    answer = robustness(trials, **settings._asdict())
    return OfRobustness(trials, settings, answer, populations_of(trials, settings))
