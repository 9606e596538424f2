"""Where a command finds its experiment: a TOML file, a Python object, a store's memory."""

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from curvewise.errors import CurvewiseError, listed

if TYPE_CHECKING:
    from curvewise.engine.experiment import Experiment
    from curvewise.flow.toml import Recipe

# Notes of a store, beside the definitions that a run keeps there.
SOURCE, FOLDER, TEXT = "source", "source folder", "source text"
ELSEWHERE = "source names another store"


def found(source: str) -> "Recipe":
    """Return the experiment of a TOML file, or of ``module:experiment``."""
    from curvewise import zoo
    from curvewise.flow.importing import is_reference
    from curvewise.flow.toml import from_toml

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


def _from_python(reference: str, folder: Path) -> "Recipe":
    from curvewise.engine.experiment import Experiment
    from curvewise.flow.importing import imported
    from curvewise.flow.toml import Recipe

    value = imported(reference, folder)
    if not isinstance(value, Experiment):
        raise CurvewiseError(
            f"{reference} is of type {type(value).__name__}. Name an Experiment."
        )
    name = reference.partition(":")[0].rpartition(".")[2]
    return Recipe(value, {"store": f"{name}.db"}, "", folder / reference)


def with_trials(recipe: "Recipe", trials: int | None) -> "Recipe":
    """Return the same with another number of trials."""
    if trials is None:
        return recipe
    return replace(recipe, experiment=replace(recipe.experiment, trials=trials))


# --- what a store remembers --------------------------------------------------------------


def remember(recipe: "Recipe", where: str) -> None:
    """Let a store know its experiment, once it is clear that it is the same one."""
    from curvewise import store as stores
    from curvewise.flow.changes import agree

    with stores.open(where) as store:
        agree(store, recipe.experiment.definition())
        store.note(
            {
                SOURCE: recipe.path.name,
                FOLDER: str(recipe.path.resolve().parent),
                TEXT: _without_password(recipe.text, where),
                ELSEWHERE: "" if where == recipe.options["store"] else "yes",
            }
        )


def _without_password(text: str, where: str) -> str:
    from curvewise.store.address import address, is_url

    return address(where).cleaned(text) if is_url(where) else text


def remembered(notes: dict[str, str], where: str) -> "Recipe":
    """Return the experiment that a store remembers."""
    from curvewise import zoo
    from curvewise.flow.toml import from_text

    if SOURCE not in notes:
        raise CurvewiseError(
            f"{where} was filled from Python, and does not know its experiment. Pass "
            f"--experiment with a TOML file, or with module:experiment."
        )
    path = Path(notes[FOLDER]) / notes[SOURCE]
    if notes[TEXT]:
        return from_text(notes[TEXT], path, zoo)
    return _from_python(path.name, path.parent)


def command_of(notes: dict[str, str], where: str) -> str:
    """Return how to go on with a store's experiment, for people to type."""
    if SOURCE not in notes:
        return ""
    path = Path(notes[FOLDER]) / notes[SOURCE]
    words = ["curvewise", "run", os.path.relpath(path) if notes[TEXT] else path.name]
    if notes[ELSEWHERE]:
        words += ["--store", shown_store(where)]
    return shlex.join(words)


def shown_store(where: str) -> str:
    """Return a store's address for people, without a password."""
    from curvewise.store.address import address, is_url

    return address(where).shown if is_url(where) else where


def changed(
    experiment: "Experiment", notes: dict[str, str], task: str, algorithm: str
) -> list[str]:
    """Return how what a trial hangs on differs from what its store was filled with."""
    from curvewise.flow.changes import difference

    now = experiment.definition()
    names = ("design", f"task {task}", f"algorithm {algorithm}")
    return [
        difference(name, notes[name], now[name])
        for name in names
        if name in now and notes.get(name, now[name]) != now[name]
    ]
