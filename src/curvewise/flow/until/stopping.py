"""Asks at planned numbers of trials whether a run is to end, and what it has reached."""

import contextlib
import itertools
import json
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from curvewise import store as stores
from curvewise.answer import Provenance
from curvewise.engine.experiment import Experiment
from curvewise.errors import (
    CurvewiseError,
    CurvewiseWarning,
    Keyword,
    Message,
    Part,
    shortened,
)
from curvewise.flow.until import Reached, Until, until
from curvewise.flow.until.looks import (
    Budget,
    Look,
    Pair,
    Question,
    Ranks,
    Samples,
    rounded_down,
)
from curvewise.metrics import Floats, find
from curvewise.questions.sampling import cluster_cautions
from curvewise.stats.planning import planned_looks, trials_for
from curvewise.store.locks import Cell
from curvewise.text import Cell as TableCell
from curvewise.trials import Trials

Criterion: TypeAlias = Until | Callable[[Trials], bool]
_PAUSE = 2.0  # seconds, at least, between looks that only inform
_COST = 20.0  # times what the last one took: 5 % of the time at most


class Asker(Protocol):
    """Decides whether a run is to end, and says how near that is."""

    sizes: list[int]
    said: str

    def meet(self, trials: Trials) -> None:
        """Refuse what cannot be asked of trials such as these."""

    def ask(self, size: int) -> bool:
        """Return whether so many trials of each cell are enough."""

    def glance(self) -> None:
        """Say how far it is, unless that was said a moment ago; it decides nothing."""


def criterion_of(given: Any, experiment: Experiment) -> Criterion | None:
    """Return what was passed as until=; refuse what this experiment cannot meet."""
    if given is None:
        return None
    criterion = until(given) if isinstance(given, str) else given
    if isinstance(criterion, Until):
        refuse(criterion, experiment)
    elif not callable(criterion):
        raise CurvewiseError(
            f"until is {shortened(repr(given))}. Pass curvewise.until(...), a text such "
            f"as 'cvar 0.5 +- 0.01', or a function of the trials so far.",
            argument="until",
            value=given,
        )
    return criterion


def asker(criterion: Criterion | None, experiment: Experiment, keeper: Any) -> Asker:
    """Return what asks a criterion in a run."""
    if criterion is None:
        return _Never(experiment.trials)
    if isinstance(criterion, Until):
        return _Promised(criterion, experiment, keeper)
    return _Plain(criterion, experiment, keeper)


def refuse(criterion: Until, experiment: Experiment) -> None:
    """Raise if an experiment cannot be run until this is known."""
    if experiment.cross:
        raise CurvewiseError(
            "The trials of a crossed design share their draws, and until counts on "
            "independent ones. Leave ",
            Keyword("until"),
            " out, or ",
            Keyword("cross"),
            " out of the experiment.",
            argument="cross",
            value=experiment.cross,
        )
    criterion.refuse_alone(len(experiment.algorithms))
    if criterion.metric is not None:
        declared = {metric.name: metric for metric in experiment.metrics}
        metric = declared.get(criterion.metric) or find(criterion.metric)
        if metric is not None and metric.direction is not None:
            criterion.refuse_unbounded(metric)


class _Never:
    """Ends a run when all trials are there."""

    said = ""

    def __init__(self, trials: int) -> None:
        self.sizes = [trials]

    def meet(self, trials: Trials) -> None:
        """Refuse nothing."""

    def ask(self, size: int) -> bool:  # noqa: ARG002
        """Return that it goes on."""
        return False

    def glance(self) -> None:
        """Say nothing."""


class _Plain(_Never):
    """Asks a function of the user's, with all trials that are there."""

    def __init__(
        self, function: Callable[[Trials], bool], experiment: Experiment, keeper: Any
    ) -> None:
        self.sizes = planned_looks(experiment.trials)
        self._function, self._keeper = function, keeper

    def ask(self, size: int) -> bool:  # noqa: ARG002
        """Return what the function says."""
        return bool(self._function(self._keeper.read()))


class _Promised:
    """Asks an `Until`, which holds at all looks together."""

    def __init__(self, criterion: Until, experiment: Experiment, keeper: Any) -> None:
        self.sizes = planned_looks(experiment.trials)
        self._until, self._keeper = criterion, keeper
        self._experiment = experiment
        self._cells = cells_of(experiment)
        self._named: Until | None = None
        self._broken = False
        self._next = time.monotonic() + _PAUSE
        self.said = ""

    def meet(self, trials: Trials) -> None:
        """Find out which metric is meant, from the first trials that ended well."""
        if self._named is None and (trials.core.status == 0).any():
            self._named = self._until.for_trials(trials)

    def ask(self, size: int) -> bool:
        """Return whether the trials numbered below `size` are enough."""
        if self._broken:
            return False
        trials = numbered_below(self._keeper.read(), self._cells, size)
        self.meet(trials)
        if self._named is None:  # none has ended well
            return False
        try:
            samples = self._named.samples(trials, self._cells)
        except CurvewiseError as problem:
            self._give_up(problem, trials.metric(self._named.name).worst)
            return False
        look = self._look(self._named, samples, trials, keep=True)
        self.said = str(look)
        return look.is_enough and len(samples) == len(self._cells)

    def glance(self) -> None:
        """Say how far it is, from what is there; it decides nothing."""
        began = time.monotonic()
        if began < self._next or self._broken or self._named is None:
            return
        most = self._experiment.trials
        trials = numbered_below(self._keeper.read(), self._cells, most)
        # Where failures need a score first, the next look will say so.
        with contextlib.suppress(CurvewiseError):
            samples = self._named.samples(trials, self._cells)
            if len(samples) == len(self._cells):
                # As many of each, in round numbers: one band serves them all.
                n = rounded_down(min(len(one.scores) for one in samples.values()))
                samples = {
                    cell: replace(one, numbers=one.numbers[:n], scores=one.scores[:n])
                    for cell, one in samples.items()
                }
                self.said = str(self._look(self._named, samples, trials, keep=False))
        ended = time.monotonic()
        self._next = ended + max(_PAUSE, _COST * (ended - began))

    def _look(
        self, named: Until, samples: Samples, trials: Trials, *, keep: bool
    ) -> Look:
        before = plans_before(named, self._experiment, self._keeper, keep=keep)
        budget = named.budget(len(self.sizes), before)
        return named.look(samples, trials.metric(named.name), budget)

    def _give_up(self, problem: CurvewiseError, worst: float) -> None:
        self._broken, self.said = True, ""
        hint: Part = ""
        if any("failed" in fix for fix in problem.message.fixes):
            # 'worst' would be refused where the metric has no worst score.
            score = "worst" if math.isfinite(worst) else "0"
            hint = Message(
                " As a text, that is ", {"until": f"{self._named} failed {score}"}, "."
            )
        warnings.warn(
            Message(
                "Nobody can tell whether it is enough, and the run goes on to all "
                f"{self._experiment.trials:,} trials of each: ",
                problem.message,
                hint,
            ),
            CurvewiseWarning,
            stacklevel=5,  # whoever called run
        )


def cells_of(experiment: Experiment) -> list[Cell]:
    """Return the cells of an experiment by name."""
    return [(task.name, one.name) for task, one in experiment.cells()]


def numbered_below(trials: Trials, cells: Sequence[Cell], size: int) -> Trials:
    """Return the trials of these cells with smaller numbers, whatever else is there."""
    core = trials.core
    wanted = np.zeros((len(trials.tasks), len(trials.algorithms)), bool)
    tasks = {name: code for code, name in enumerate(trials.tasks)}
    algorithms = {name: code for code, name in enumerate(trials.algorithms)}
    for task, algorithm in cells:
        if task in tasks and algorithm in algorithms:
            wanted[tasks[task], algorithms[algorithm]] = True
    if not len(trials):
        return trials
    is_wanted = (
        wanted[core.task, core.algorithm] & (core.number >= 0) & (core.number < size)
    )
    return trials if is_wanted.all() else trials.take(np.flatnonzero(is_wanted))


def plans_before(
    named: Until, experiment: Experiment, keeper: Any, *, keep: bool
) -> int:
    """Return in how many other plans a store was asked the same, before this one."""
    if named.band == "anytime":
        return 0
    trials, cells = experiment.trials, cells_of(experiment)
    if not keep:
        return noted_before(named, trials, cells, keeper.notes())
    plan = json.dumps([trials, cells])
    for before in itertools.count():
        key = _key(named, before)
        if keeper.define({key: plan})[key] == plan:
            return before
    raise AssertionError


def noted_before(
    named: Until, trials: int, cells: Sequence[Cell], notes: Mapping[str, str]
) -> int:
    """Return in how many other plans the same was asked, by the notes of a store."""
    plan = json.dumps([trials, cells])
    return next(
        before
        for before in itertools.count()
        if notes.get(_key(named, before), plan) == plan or named.band == "anytime"
    )


def _key(named: Until, before: int) -> str:
    """Return under which name a store notes what is asked, and in which plan."""
    # What is known, not how well: the intervals do not depend on when they are enough.
    words = [
        *(str(named.functional), named.name, str(named.at), str(named.failed)),
        *(repr(named.confidence), str(named.band), named.method),
        *(["pairs"] if named.is_ranking and named.method == "asymptotic" else []),
    ]
    return f"until {', '.join(words)}; plan {before}"


# --- The looks of a run, taken again ---------------------------------------------------


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
        raise CurvewiseError(
            "No trial of this experiment is there. Run it first.", argument="trials"
        )
    named = asked.for_trials(whole)
    metric = whole.metric(named.name)
    before = None
    if store is not None:
        before = plans_before(named, experiment, store, keep=False)
    budget = named.budget(len(sizes), before or 0)
    last = None
    for number, size in enumerate(sizes, 1):
        part = numbered_below(whole, cells, size)
        if len(part) < size * len(cells):
            break
        scores = named.samples(part, cells)
        look = named.look(scores, metric, budget)
        last = number, size, part, scores, look
        if look.is_enough:
            break
    if last is None:
        raise CurvewiseError(
            f"The first look is at {sizes[0]:,} trials of each, and some have fewer. Run "
            f"the experiment on.",
            argument="trials",
            value=sizes[0],
        )
    number, size, part, scores, look = last
    needed = None
    if not look.is_enough:
        later = named.budget(len(sizes), (before or 0) + 1)
        needed = needed_trials(named.question(metric), look, scores, later)
    settings: dict[str, TableCell] = {
        "until": str(named),
        "trials": experiment.trials,
        "looks": len(sizes),
    }
    return Reached(
        until=named,
        metric=metric,
        look=look,
        number=number,
        looks=len(sizes),
        size=size,
        trials=experiment.trials,
        before=before,
        needed=needed,
        provenance=Provenance.of(
            part, "until", settings, cautions=cluster_cautions(part)
        ),
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
        widest = max(look.members, key=lambda member: member.interval.half_width)
        scores = found[widest.task, widest.algorithm].scores
        level = budget.confidence(len(found))
        return _trials_for(question, scores, look.half_width, level)
    except CurvewiseError:  # scores do not vary, or nobody runs so many
        return None


def _for_pairs(
    question: Question, look: Ranks, samples: Samples, budget: Budget
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
    level = budget.confidence(len(samples))
    return max(
        _trials_for(question, samples[pair.task, name].scores, reach(pair) / 2, level)
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
