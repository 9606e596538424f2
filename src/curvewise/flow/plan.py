"""What is planned, as a store remembers it, and what of it is left to do."""

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from curvewise import store as stores
from curvewise.engine.experiment import Experiment
from curvewise.engine.workers.queue import Numbers
from curvewise.errors import NoStoreError
from curvewise.flow.changes import names_in, refuse_changes
from curvewise.store.claims import Cell
from curvewise.trials.trial import STATUSES

NOT_OK = tuple(status for status in STATUSES if status != "ok")
_PLAN, _END, _ASKED = "plan", "ended", "asked"


def planned(notes: Mapping[str, str]) -> dict[Cell, int]:
    """Return how many trials are planned, if the store knows."""
    plan: list[Any] = json.loads(notes.get(_PLAN, "[]"))
    return {(task, algorithm): trials for task, algorithm, trials in plan}


def with_plan(notes: Mapping[str, str], experiment: Experiment) -> dict[str, str]:
    """Return the note of what was planned before and what this experiment adds."""
    new = {(t.name, a.name): experiment.trials for t, a in experiment.cells()}
    plan = planned(notes) | new
    return {_PLAN: json.dumps([[*cell, trials] for cell, trials in plan.items()])}


def with_end(until: object, size: int) -> dict[str, str]:
    """Return the note that a run ended early: what was reached, with how many of each."""
    return {_END: json.dumps([str(until), size])}


def ended(notes: Mapping[str, str]) -> tuple[str, int] | None:
    """Return what a run was to reach, and with how many trials of each cell it did."""
    if _END not in notes:
        return None
    until, size = json.loads(notes[_END])
    return until, size


class Asked(NamedTuple):
    """What a run is to find out, and of what.

    Parameters
    ----------
    until : str
        As a text, the name of a function, or nothing.
    is_function : bool
    trials : int
        How many of each cell are planned.
    cells : list of (task, algorithm)
    """

    until: str
    is_function: bool
    trials: int
    cells: list[Cell]


def with_asked(until: object, experiment: Experiment) -> dict[str, str]:
    """Return the note of what a run that begins is to find out."""
    name = getattr(until, "__name__", None)
    text = "" if until is None else name or str(until)
    cells = [[task.name, one.name] for task, one in experiment.cells()]
    return {_ASKED: json.dumps([text, name is not None, experiment.trials, cells])}


def asked(notes: Mapping[str, str]) -> Asked | None:
    """Return what the last run was to find out, if the store knows."""
    if _ASKED not in notes:
        return None
    text, is_function, trials, cells = json.loads(notes[_ASKED])
    return Asked(text, is_function, trials, [(t, a) for t, a in cells])


def left(
    experiment: Experiment,
    store: Any,
    redo: Collection[str] = (),
    *,
    below: int | None = None,
) -> dict[Cell, Numbers]:
    """Return the numbers of the trials that are still to be run, for every cell.

    Parameters
    ----------
    experiment : Experiment
    store : AnyStore, InMemory or None
        What has trials already; None for a store that is still to be made.
    redo : collection of str
        Count trials that ended so as still to be run, `NOT_OK` for all that failed.
        For a driver, only those from before it began.
    below : int, optional
        Look at the trials with smaller numbers; at all that are planned if left out.
    """
    size = experiment.trials if below is None else below
    have = {} if store is None else store.numbers()
    rest: dict[Cell, Numbers] = {}
    for task, algorithm in experiment.cells():
        cell = task.name, algorithm.name
        rest[cell] = range(size)  # of a million, no larger than of ten
        if cell in have:
            rest[cell] = store.unfinished(cell, np.arange(size), redo=redo)
    return rest


class Outlook(NamedTuple):
    """What a run would find: the trials that are left, and whether its store is new."""

    left: dict[Cell, Numbers]
    is_new: bool

    @property
    def trials(self) -> int:
        """How many trials are left."""
        return sum(map(len, self.left.values()))


def outlook(experiment: Experiment, where: str, redo: Collection[str] = ()) -> Outlook:
    """Return what a run would find in a store; raise if it would refuse to go on there.

    Parameters
    ----------
    experiment : Experiment
    where : str
        Path or URL. Nothing is written there.
    redo : collection of str
        As in `left`.
    """
    try:
        with stores.open(where, create=False) as store:
            used = names_in(store.numbers())
            known = {name: text for name, text in store.notes().items() if name in used}
            refuse_changes(known, experiment.definition(), str(store))
            return Outlook(left(experiment, store, redo), is_new=False)
    except NoStoreError:
        return Outlook(left(experiment, None), is_new=True)
