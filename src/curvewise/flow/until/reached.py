"""What a run until something is known has reached."""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curvewise import store as stores
from curvewise._answer import Answer, Provenance
from curvewise._text import Cell as TableCell
from curvewise._text import Part, Table, count, percent, plain, shown
from curvewise.analyses._asking import cluster_cautions
from curvewise.engine.experiment import Experiment
from curvewise.errors import CurvewiseError
from curvewise.flow.until.criterion import Until
from curvewise.flow.until.looks import Budget, Look, Pair, Ranks, Samples
from curvewise.flow.until.question import Question
from curvewise.flow.until.stopping import cells_of, numbered_below, plans_before
from curvewise.metrics import Floats, Metric
from curvewise.stats.bands import NAMES, Kind
from curvewise.stats.planning import planned_looks, trials_for
from curvewise.trials import Trials


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reached(Answer):
    """What a run has reached, at the look at which it ended.

    Parameters
    ----------
    until : Until
        What was asked for.
    metric : Metric
    look : Widths or Ranks
        What it saw.
    number, looks : int
        Which look that was, and how many were planned.
    size, trials : int
        How many trials of each cell it saw, and how many were planned.
    before : int or None
        In how many other plans the same was asked before; None where only trials were
        passed, which do not know.
    needed : int or None
        How many trials of each would probably be enough, if they were not.
    """

    until: Until
    metric: Metric
    look: Look
    number: int
    looks: int
    size: int
    trials: int
    before: int | None
    needed: int | None
    provenance: Provenance

    @property
    def is_enough(self) -> bool:
        """Whether what was asked for is known."""
        return self.look.is_enough

    def rows(self) -> list[dict[str, TableCell]]:
        """Return one row per task and algorithm; of a ranking, per task and pair."""
        return self.look.rows()

    def verdict(self) -> str:
        """Return in words whether it was reached, and when."""
        at = f"{self.size:,} of {count(self.trials, 'trial')} of each"
        look = f"look {self.number} of {self.looks}"
        if self.is_enough:
            return f"Reached with {at} ({look})."
        said = f"Not reached with {at} ({look}): {self.look}."
        if self.needed is not None:
            said += f" About {rounded_up(self.needed):,} of each would probably do."
        return said

    def table(self) -> list[dict[str, TableCell]]:
        """Return the rows with headings for people."""
        out = []
        for row in self.rows():
            low, high = row.pop("lower"), row.pop("upper")
            rest = {"half-width": row.pop("half_width")} if "half_width" in row else {}
            verdict = {"verdict": row.pop("verdict")} if "verdict" in row else {}
            out.append(row | {"interval": _span(low, high)} | rest | verdict)
        return out

    def notes(self) -> list[str]:
        """Return what is promised, and what a reader must know."""
        u, many = self.until, count(len(self.look.members), "interval")
        level = percent(u.confidence)
        each = f"{100 * self.look.confidence:.6g} % each"
        if u.method == "asymptotic":
            promise = (
                f"{many} of {self._what()}, to hold at once with {level} confidence, at "
                f"each of the {self.looks} looks; for many independent trials (Student, "
                f"{each}), without a guarantee: what is rare may not have been met yet."
            )
        else:
            how = "order statistics" if self._by_rank else NAMES[self._band]
            when = (
                "at any number of trials"
                if u.band == "anytime"
                else (f"at each of the {self.looks} looks")
            )
            promise = (
                f"{many} of {self._what()}: with at least {level} confidence all hold at "
                f"once, {when}, for independent trials of any distribution ({how}, "
                f"{each})."
            )
        return [promise, *self._earlier()]

    def _earlier(self) -> list[str]:
        """Return what earlier plans mean for the promise, if there can be any."""
        if self.until.band == "anytime":
            return []
        if self.before is None:
            return [
                "Trials do not know in which plans they were asked before: this holds if "
                "it was the first. Pass the store of the run, which does know."
            ]
        if self.before == 0:
            return []
        return [
            f"The same was asked in {count(self.before, 'plan')} before: this one has "
            f"1/{2 ** (self.before + 1)} of what may go wrong."
        ]

    @property
    def _band(self) -> Kind:
        asked = self.until.question(self.metric)
        return asked.band_for(self.size, self.look.confidence)

    @property
    def _by_rank(self) -> bool:
        return self.until.functional.of == "quantile" and self.until.band != "anytime"

    def _what(self) -> str:
        gap = "the difference in " if isinstance(self.look, Ranks) else ""
        return f"{gap}{self.until.functional.estimand}"

    def __str__(self) -> str:
        head = f"until {self.until}\n{self.verdict()}"
        parts = [*self.cautions, head, "", plain(self.table()), "", *self.notes()]
        return "\n".join(parts)

    __repr__ = __str__

    def _parts(self) -> Iterator[Part]:
        yield Table(self.table(), f"until {self.until}")
        yield self.verdict()


def rounded_up(n: int) -> int:
    """Return a number with two digits that matter.

    >>> rounded_up(34_510), rounded_up(72)
    (35000, 72)
    """
    unit = int(10 ** max(len(str(n)) - 2, 0))
    return -(-n // unit) * unit


def _span(low: Any, high: Any) -> str:
    return " to ".join(shown(e) if math.isfinite(e) else "?" for e in (low, high))


def reached(
    asked: Until, experiment: Experiment, found: Trials | str | Path
) -> Reached:
    """Return what a run has reached; the looks that it took are taken again."""
    if isinstance(found, Trials):
        return _reached(asked, experiment, found, None)
    with contextlib.closing(stores.open(found, create=False)) as store:
        return _reached(asked, experiment, store.read(), store)


def _reached(
    asked: Until, experiment: Experiment, trials: Trials, store: Any
) -> Reached:
    cells, sizes = cells_of(experiment), planned_looks(experiment.trials)
    whole = numbered_below(trials, cells, experiment.trials)
    if not len(whole):
        raise CurvewiseError("No trial of this experiment is there. Run it first.")
    named = asked.for_trials(whole)
    metric = whole.metric(named.name)
    before = None
    if store is not None:
        before = plans_before(named, experiment, store, keep=False)
    budget = named.budget(len(sizes), before or 0)
    taken = None
    for number, size in enumerate(sizes, 1):
        own = numbered_below(whole, cells, size)
        if len(own) < size * len(cells):
            break
        found = named.samples(own, cells)
        look = named.look(found, metric, budget)
        taken = number, size, own, found, look
        if look.is_enough:
            break
    if taken is None:
        raise CurvewiseError(
            f"The first look is at {sizes[0]:,} trials of each, and some have fewer. Run "
            f"the experiment on."
        )
    number, size, own, found, look = taken
    needed = None
    if not look.is_enough:
        later = named.budget(len(sizes), (before or 0) + 1)
        needed = needed_trials(named.question(metric), look, found, later)
    settings: dict[str, TableCell] = {
        "until": str(named),
        "trials": experiment.trials,
        "looks": len(sizes),
    }
    return Reached(
        named,
        metric,
        look,
        number,
        len(sizes),
        size,
        experiment.trials,
        before,
        needed,
        Provenance.of(own, "until", settings, cautions=cluster_cautions(own)),
    )


def needed_trials(
    question: Question, look: Look, found: Samples, budget: Budget
) -> int | None:
    """Return how many trials of each would probably be enough, in a plan of its own.

    What is farthest from its aim now is taken to need most.
    """
    try:
        if isinstance(look, Ranks):
            return _for_pairs(question, look, found, budget)
        widest = max(look.members, key=lambda seen: seen.interval.half_width)
        scores = found[widest.task, widest.algorithm].scores
        level = budget.confidence(len(found))
        return _trials_for(question, scores, look.half_width, level)
    except CurvewiseError:  # scores do not vary, or nobody runs so many
        return None


def _for_pairs(
    question: Question, look: Ranks, found: Samples, budget: Budget
) -> int | None:
    def reach(pair: Pair) -> float:
        # Told apart when the interval is shorter than the gap, close when it is shorter
        # than what is left to the margin: whichever comes first.
        gap = abs(pair.interval.value)
        return max(gap, look.margin - gap)

    def lack(pair: Pair) -> float:
        return pair.interval.half_width / reach(pair)

    undecided = [p for p in look.members if not p.is_decided(look.margin)]
    pair = max(undecided, key=lack)
    if question.method == "asymptotic":
        n = pair.trials * lack(pair) ** 2
        return math.ceil(n) if math.isfinite(n) else None
    level = budget.confidence(len(found))
    return max(
        _trials_for(question, found[pair.task, name].scores, reach(pair) / 2, level)
        for name in (pair.first, pair.second)
    )


def _trials_for(question: Question, scores: Floats, h: float, level: float) -> int:
    return trials_for(
        question.functional,
        h,
        pilot=question.sign * scores,
        support=question.support,
        confidence=level,
        kind=question.band_for(len(scores), level),
        method=question.method,
    ).trials
