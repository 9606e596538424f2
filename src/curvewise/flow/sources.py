"""Where an experiment comes from: a TOML file, a Python object, a store's memory."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from curvewise.engine.experiment import Experiment
from curvewise.errors import CurvewiseError, listed
from curvewise.flow.changes import difference, is_same_definition, names_in
from curvewise.flow.importing import imported, is_reference
from curvewise.flow.toml import Recipe, Zoo, from_text, from_toml
from curvewise.store.address import address, is_url

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


def shown_store(where: str) -> str:
    """Return a store's address for people, without a password."""
    return address(where).shown if is_url(where) else where


# --- what a store remembers --------------------------------------------------------------


def notes_of(recipe: Recipe, where: str) -> dict[str, str]:
    """Return what a store should remember of its experiment, as notes for `run`."""
    return {
        _SOURCE: recipe.path.name,
        _FOLDER: str(recipe.path.resolve().parent),
        _TEXT: _without_password(recipe.text, where),
        _ELSEWHERE: "" if where == recipe.options["store"] else "yes",
    }


def _without_password(text: str, where: str) -> str:
    return address(where).cleaned(text) if is_url(where) else text


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
