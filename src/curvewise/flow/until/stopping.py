"""Asks at planned numbers of trials whether a run is to end."""

import contextlib
import itertools
import json
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from curvewise.engine.experiment import Experiment
from curvewise.errors import (
    CurvewiseError,
    CurvewiseWarning,
    Keyword,
    Message,
    Part,
    shortened,
)
from curvewise.flow.until.criterion import Until, until
from curvewise.flow.until.looks import Look, Samples
from curvewise.metrics import find
from curvewise.stats.planning import planned_looks
from curvewise.store.claims import Cell
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
            found = self._named.samples(trials, self._cells)
        except CurvewiseError as problem:
            self._give_up(problem, trials.metric(self._named.name).worst)
            return False
        look = self._look(self._named, found, trials, keep=True)
        self.said = str(look)
        return look.is_enough and len(found) == len(self._cells)

    def glance(self) -> None:
        """Say how far it is, from what is there; it decides nothing."""
        began = time.monotonic()
        if began < self._next or self._broken or self._named is None:
            return
        most = self._experiment.trials
        trials = numbered_below(self._keeper.read(), self._cells, most)
        # Where failures need a score first, the next look will say so.
        with contextlib.suppress(CurvewiseError):
            found = self._named.samples(trials, self._cells)
            if len(found) == len(self._cells):
                # As many of each, in round numbers: one band serves them all.
                n = rounded_down(min(len(own.scores) for own in found.values()))
                found = {
                    cell: replace(own, numbers=own.numbers[:n], scores=own.scores[:n])
                    for cell, own in found.items()
                }
                self.said = str(self._look(self._named, found, trials, keep=False))
        ended = time.monotonic()
        self._next = ended + max(_PAUSE, _COST * (ended - began))

    def _look(
        self, named: Until, found: Samples, trials: Trials, *, keep: bool
    ) -> Look:
        before = plans_before(named, self._experiment, self._keeper, keep=keep)
        budget = named.budget(len(self.sizes), before)
        return named.look(found, trials.metric(named.name), budget)

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
    own = wanted[core.task, core.algorithm] & (core.number >= 0) & (core.number < size)
    return trials if own.all() else trials.take(np.flatnonzero(own))


def rounded_down(n: int) -> int:
    """Return a number cut to two digits.

    >>> rounded_down(1234), rounded_down(7)
    (1200, 7)
    """
    unit = int(10 ** max(len(str(n)) - 2, 0))
    return n // unit * unit


def plans_before(
    named: Until, experiment: Experiment, keeper: Any, *, keep: bool
) -> int:
    """Return in how many other plans a store was asked the same, before this one.

    Parameters
    ----------
    named : Until
        With the name of its metric.
    experiment : Experiment
    keeper : AnyStore or InMemory
    keep : bool
        Whether to remember that it is asked now; what nobody asked costs nothing.
    """
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
    asked = [
        *(str(named.functional), named.name, str(named.at), str(named.failed)),
        *(repr(named.confidence), str(named.band), named.method),
        *(["pairs"] if named.is_ranking and named.method == "asymptotic" else []),
    ]
    return f"until {', '.join(asked)}; plan {before}"
