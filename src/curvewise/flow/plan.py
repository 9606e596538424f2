"""What is planned and where it is from, as a store remembers it, and what is left."""

import difflib
import json
import os
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from curvewise import store as stores
from curvewise.engine.drive import Numbers
from curvewise.engine.experiment import Experiment
from curvewise.engine.former_names import current
from curvewise.errors import CurvewiseError, NoStoreError, listed
from curvewise.flow.toml import (
    Recipe,
    Zoo,
    from_text,
    from_toml,
    imported,
    is_reference,
)
from curvewise.store.address import address, is_url, shown_store
from curvewise.store.locks import Cell
from curvewise.trials.trial import STATUSES

NOT_OK = tuple(status for status in STATUSES if status != "ok")
_PLAN, _END, _TARGET = "plan", "ended", "asked"


def planned(notes: Mapping[str, str]) -> dict[Cell, int]:
    """Return how many trials are planned, if the store knows."""
    plan: list[Any] = json.loads(notes.get(_PLAN, "[]"))
    return {(task, algorithm): trials for task, algorithm, trials in plan}


def ended(notes: Mapping[str, str]) -> tuple[str, int] | None:
    """Return what a run was to reach, and with how many trials of each cell it did."""
    if _END not in notes:
        return None
    until, size = json.loads(notes[_END])
    return until, size


def target(notes: Mapping[str, str]) -> tuple[str, bool, int | None, list[Cell]]:
    """Return what the last run was to find out, if anything, and of which trials.

    Whether it is a function, which has no text but a name, how many trials there are of
    each cell, and the cells. Without a run it is about all that is planned.
    """
    if _TARGET not in notes:
        plan = planned(notes)
        return "", False, max(plan.values(), default=None), list(plan)
    until, is_function, trials, cells = json.loads(notes[_TARGET])
    return until, is_function, trials, [(task, name) for task, name in cells]


def notes_at_start(
    notes: Mapping[str, str], experiment: Experiment, until: object
) -> dict[str, str]:
    """Return what a run that begins notes: its plan beside those before, its target."""
    cells = [(task.name, one.name) for task, one in experiment.cells()]
    plan = planned(notes) | dict.fromkeys(cells, experiment.trials)
    function = getattr(until, "__name__", None)
    text = "" if until is None else function or str(until)
    return {
        _PLAN: json.dumps([[*cell, trials] for cell, trials in plan.items()]),
        _TARGET: json.dumps([text, function is not None, experiment.trials, cells]),
    }


def notes_at_end(until: object, size: int) -> dict[str, str]:
    """Return what a run that knows enough notes: of what, with how many of each cell."""
    return {_END: json.dumps([getattr(until, "__name__", str(until)), size])}


def left(
    experiment: Experiment,
    store: Any,
    redo: Collection[str] = (),
    *,
    below: int | None = None,
) -> dict[Cell, Numbers]:
    """Return the numbers of the trials that are still to be run, for every cell."""
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
    """Return what a run would find in a store; raise if it would refuse to go on there."""
    try:
        with stores.open(where, create=False) as store:
            used = names_in(store.numbers())
            texts = {name: text for name, text in store.notes().items() if name in used}
            refuse_changes(texts, experiment.definition(), str(store))
            return Outlook(left(experiment, store, redo), is_new=False)
    except NoStoreError:
        return Outlook(left(experiment, None), is_new=True)


# --- Refuses to mix two definitions of one thing in one table --------------------------


def agree(store: Any, texts: Mapping[str, str]) -> None:
    """Define things in a store; raise if it has trials of something defined otherwise.

    Called by a driver: a second one that starts now sees the first.
    """
    before = store.define(texts)
    if older := _older_names(before, texts):
        before = store.define({**texts, **older})  # or it would refuse what is new
    # What nobody has run yet, or is about to run, may be defined anew.
    if _changed(before, texts) and not store.others_drive():
        used = names_in(store.numbers())
        store.note({name: texts[name] for name in before if name not in used})
        before = store.define(texts)
    refuse_changes(before, texts, str(store))


def names_in(cells: Collection[tuple[str, str]]) -> set[str]:
    """Return the names of what these cells have trials of."""
    names = {f"task {task}" for task, _ in cells}
    names |= {f"algorithm {algorithm}" for _, algorithm in cells}
    return names | ({"streams"} if cells else set())


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [
        name
        for name in now
        if name in before and not is_same_definition(before[name], now[name])
    ]


def _older_names(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Return what is kept in other words, as modules were called when it was kept."""
    return {
        name: text
        for name, text in before.items()
        if text != now[name] and is_same_definition(text, now[name])
    }


def is_same_definition(before: str, after: str) -> bool:
    """Return whether two texts define the same, whatever our modules were called.

    >>> is_same_definition("curvewise.zoo.tabular.Table", "curvewise_papers.tasks.Table")
    True
    """
    return before == after or current(before) == current(after)


def refuse_changes(
    known: Mapping[str, str], now: Mapping[str, str], store: str
) -> None:
    """Raise if something that a store knows is defined differently now."""
    changed = _changed(known, now)
    if not changed:
        return
    lines = "\n".join(difference(name, known[name], now[name]) for name in changed)
    kind = changed[0].partition(" ")[0]
    other = f"another {kind} of the same name"
    if kind == "streams":
        other = "another seed, or with other things varied or crossed"
    raise CurvewiseError(
        f"{store} has trials of {other}. What changed:\n{lines}\n"
        f"Take the change back, give it another name, or use another store: two "
        f"definitions in one table are not one distribution.",
        argument=changed[0],
        value=now[changed[0]],
    )


def difference(name: str, before: str, after: str) -> str:
    """Return what changed between two texts, line by line."""
    lines = difflib.unified_diff(
        before.splitlines(),
        after.splitlines(),
        f"{name}, in the store",
        f"{name}, now",
        n=1,
        lineterm="",
    )
    return "\n".join(f"  {line}" for line in lines)


# --- Where an experiment comes from: a TOML file, a Python object, a store's memory ----


# Notes of a store, beside the definitions that a run keeps there.
_SOURCE, _FOLDER, _TEXT = "source", "source folder", "source text"
_ELSEWHERE = "source names another store"


def recipe_of(source: str, zoo: Zoo) -> Recipe:
    """Return the experiment of a TOML file, or of ``module:experiment``."""
    path = Path(source)
    if path.is_file() and path.suffix != ".py":
        return from_toml(path, zoo)
    if not path.exists() and is_reference(source):
        return _from_python(source, Path.cwd())
    raise CurvewiseError(_no_experiment(path))


def _no_experiment(path: Path) -> str:
    if path.suffix == ".py":
        what = f"'{path.stem}:experiment' for the experiment of that name in it"
        return f"{path} is a Python file. Pass {what}, or a TOML file."
    if path.is_dir():
        return f"{path} is a folder. Pass a TOML file, or module:experiment."
    here = sorted(p.name for p in path.parent.glob("*.toml"))
    there = f" There is {listed(here)}." if here else ""
    return f"There is no file {path}.{there} Pass a TOML file, or module:experiment."


def _from_python(reference: str, folder: Path) -> Recipe:
    value = imported(reference, folder)
    if not isinstance(value, Experiment):
        raise CurvewiseError(
            f"{reference} is of type {type(value).__name__}. Name an Experiment."
        )
    name = reference.partition(":")[0].rpartition(".")[2]
    return Recipe(value, {"store": f"{name}.db"}, "", folder / reference)


# --- what a store remembers --------------------------------------------------------------


def notes_of(recipe: Recipe, where: str) -> dict[str, str]:
    """Return what a store should remember of its experiment, as notes for `run`."""
    return {
        _SOURCE: recipe.path.name,
        _FOLDER: str(recipe.path.resolve().parent),
        _TEXT: address(where).cleaned(recipe.text) if is_url(where) else recipe.text,
        _ELSEWHERE: "" if where == recipe.options["store"] else "yes",
    }


def remembered(notes: Mapping[str, str], where: str, zoo: Zoo) -> Recipe:
    """Return the experiment that a store remembers."""
    if _SOURCE not in notes:
        raise CurvewiseError(
            f"{shown_store(where)} was filled from Python, and does not know its "
            "experiment. Pass ",
            {"experiment": ...},
            " with a TOML file, or with module:experiment.",
        )
    path = Path(notes[_FOLDER]) / notes[_SOURCE]
    if notes[_TEXT]:
        return from_text(notes[_TEXT], path, zoo)
    return _from_python(path.name, path.parent)


def command_of(notes: Mapping[str, str], where: str) -> str:
    """Return how to go on with a store's experiment, for people to type."""
    if _SOURCE not in notes:
        return ""
    path = Path(notes[_FOLDER]) / notes[_SOURCE]
    words = ["curvewise", "run", os.path.relpath(path) if notes[_TEXT] else path.name]
    if notes[_ELSEWHERE]:
        words += ["--store", shown_store(where)]
    return shlex.join(words)


def changed(
    experiment: Experiment, notes: Mapping[str, str], task: str, algorithm: str
) -> list[str]:
    """Return how what a trial hangs on differs from what its store was filled with."""
    now, names = experiment.definition(), names_in([(task, algorithm)])
    return [
        difference(name, notes[name], text)
        for name, text in now.items()
        if name in names and not is_same_definition(notes.get(name, text), text)
    ]
