"""Stores of version 1 that were left half finished, and the plans that fill them.

A store remembers what it was filled with, by source and by the modules that things came
from: of the user, of the library, of papers. Whatever moves, these must go on and replay.

`python tests/helpers/golden_stores.py` makes those that are not in tests/assets/stores,
and keeps the tables of the whole runs in tests/golden/numbers. It runs each plan to its
end, keeps the table, and then takes the last trials out again, which leaves what a run
that was killed leaves behind. What is there is never made anew: it is how an earlier
version of curvewise wrote it.
"""

import contextlib
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl
from goldens import Goldens, brief

import curvewise as cw

STORES = Path(__file__).parents[1] / "assets/stores"
QUIET: Any = {"executor": "serial", "progress": False}
TOML = """\
trials = 4
seed = 3
executor = "serial"

[[tasks]]
zoo = "moons"
name = "easy moons"
n = 120
noise = 0.2

[[algorithms]]
zoo = "tree"

[[algorithms]]
zoo = "knn"
name = "neighbours"
tuned = { configs = 2 }
"""

# --- what a user wrote: stores have its source, so it stays as it is ---------------------

OFFSET = 0.25


def load(rng: np.random.Generator) -> Any:
    X = rng.normal(size=(60, 3))
    return cw.split(X, (X[:, 0] > 0).astype(int), test=0.5, sizes=[10, 30], rng=rng)


def score(predicted: Any, y: Any) -> float:
    return float((predicted == y).mean())


@dataclass(frozen=True)
class Nearest:
    """Predicts the class of the nearest centre, moved a little."""

    scale: float = 1.0

    def __call__(self, params: Any, X: Any, y: Any, rng: np.random.Generator) -> Any:
        centres = {k: X[y == k].mean(axis=0) * self.scale for k in sorted(set(y))}

        def predict(points: Any) -> Any:
            names = list(centres)
            far = [((points - centres[k]) ** 2).sum(axis=1) for k in names]
            return np.array(names)[np.argmin(far, axis=0)]

        return predict


def train(params: Any, data: Any, rng: np.random.Generator) -> Any:
    (X, y), (X_test, y_test) = data.train(), data.test
    weights = OFFSET * rng.normal(size=X.shape[1])
    for epoch in range(3):
        weights = weights + params["rate"] * X.T @ (y - (X @ weights > 0))
        yield epoch, {"accuracy": score(X_test @ weights > 0, y_test)}


def own() -> Any:
    space = {
        "rate": cw.loguniform(0.001, 0.1),
        "kind": ["plain", "heavy"],
        "heavy": cw.when({"kind": "heavy"}, cw.uniform(0, 1)),
        "depth": cw.integers(1, 4),
        "width": cw.log_integers(4, 64),
        "decay": cw.mixture(cw.choice([0]), cw.uniform(0.1, 0.2)),
    }
    net = cw.Algorithm("net", space, train)
    nearest = cw.Algorithm("nearest", {}, cw.growing(Nearest(0.9)))
    few = replace(net, name="few")
    found = [
        cw.tuned(net, configs=2, folds=2),
        cw.tune_then_test(few, configs=2, splits=2, parts=2),
        cw.leaky(few, configs=2),
    ]
    named = [replace(one, name=f"{one.name} {i}") for i, one in enumerate(found)]
    return cw.Experiment([cw.Task("blobs", load)], [net, nearest, *named], 4, seed=1)


def search() -> Any:
    """Return the random search whose reruns the store of slices has."""
    net = cw.Algorithm("net", {"rate": cw.loguniform(0.001, 0.1)}, train)
    return cw.Experiment(cw.Task("blobs", load), net, 20, seed=1)


def zoo() -> Any:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(5)
    X = rng.normal(size=(160, 3))
    estimators = {
        "tree": DecisionTreeClassifier(max_depth=3),
        "neighbours": KNeighborsClassifier(n_neighbors=3),
    }
    spaces = {"tree": {"min_samples_leaf": cw.integers(1, 5)}}
    return cw.zoo.experiment(
        X, (X[:, 0] > X[:, 1]).astype(int), estimators, spaces=spaces, trials=4, lines=2
    )


# --- of papers ---------------------------------------------------------------------------


class _FirstExperimentError(Exception):
    """What a study wanted to run first."""


class _Looking:
    """Is to a study what runs it, and stops when it knows what would be run."""

    scale, folder = "quick", None

    def trials(self, experiment: Any, _name: str) -> Any:
        raise _FirstExperimentError(experiment)


def of_paper(paper: str, study: str, names: tuple[str, ...], trials: int = 3) -> Any:
    """Return a part of the first experiment of a study: tasks and algorithms by name."""
    try:
        cw.papers.find(paper).study(study).run(_Looking())
    except _FirstExperimentError as found:
        (whole,) = found.args
    tasks = [task for task in whole.tasks if task.name in names]
    algorithms = [one for one in whole.algorithms if one.name in names]
    return replace(whole, tasks=tasks, algorithms=algorithms, trials=trials)


# --- the stores --------------------------------------------------------------------------

PLANS: dict[str, Callable[[], Any]] = {
    "own-functions": own,
    "zoo-experiment": zoo,
    "jordan2018-classification": partial(
        of_paper, "jordan2018", "classification", ("moons", "linear", "faces", "knn")
    ),
    "jordan2018-pendulum": partial(
        of_paper, "jordan2018", "pendulum", ("pendulum", "actor-critic"), 1
    ),
    "piater1998-levels": partial(
        of_paper, "piater1998", "levels", ("tic-tac-toe", "A2")
    ),
    "hoiem2021-comparisons": partial(
        of_paper, "hoiem2021", "comparisons", ("N to Z", "scratch", "frozen", "tree"), 1
    ),
    "xue2025-tables": partial(of_paper, "xue2025", "tables", ("simple", "NB")),
}
# Up to which number a store has trials of a task. What is not here is there to the last
# trial: such a store only has to agree that nothing was defined anew, which takes neither
# data nor a compiler.
KEPT = {
    "own-functions": {"blobs": 2},
    "zoo-experiment": {"data": 2},
    "jordan2018-classification": {"moons": 1, "linear": 2},
    "piater1998-levels": {"tic-tac-toe": 2},
    "xue2025-tables": {"simple": 1},
    "toml": {"easy moons": 2},
    "slices": {"blobs": 1},
}
NAMES = (*PLANS, "toml", "slices")
NEEDS = {"hoiem2021-comparisons": "tabular/letter.parquet"}  # to know what its task is


def table(trials: Any) -> list[dict[str, Any]]:
    """Return all that trials are, in the order of their keys, but for their times."""
    rows = []
    for t in sorted(trials, key=lambda t: t.key):
        row = {"task": t.task, "algorithm": t.algorithm, "number": t.number}
        row |= {"status": t.status, "params": dict(t.params), "labels": dict(t.labels)}
        row |= {"steps": brief(t.steps)}
        row |= {name: brief(np.ma.asarray(v).tolist()) for name, v in t.metrics.items()}
        for name in ("counts", "correct", "examples"):
            if (value := getattr(t, name)) is not None:
                row[name] = brief(np.ma.asarray(value).ravel().tolist())
        rows.append(row)
    return rows


def reruns(store: Path) -> Any:
    """Return the reruns of hyperparameters at percentiles, from a store or into it."""
    plan = search()
    asked: Any = {"percentiles": (10, 90), "trials_each": 4}
    trials = cw.run(plan, **QUIET)
    return cw.quantile_slices(trials, plan, **asked, store=store, **QUIET).trials


def forget(store: Path, kept: dict[str, int]) -> None:
    """Leave of each task the trials below a number, as a run that was killed does."""
    with contextlib.closing(sqlite3.connect(store)) as db, db:
        for task, number in kept.items():
            of = "SELECT code FROM tasks WHERE name = ?"
            gone = f"DELETE FROM trials WHERE task = ({of}) AND number >= ?"
            assert db.execute(gone, (task, number)).rowcount
    with contextlib.closing(sqlite3.connect(store)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("VACUUM")


def keep(name: str, kept: dict[str, int]) -> None:
    """Make one store and its table, unless it is there."""
    if (STORES / f"{name}.db").exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.db"
        finished(name, path)
        said = Goldens(is_adding=True).check_numbers(
            f"stores/{name}", table(cw.read(path))
        )
        assert not said, said
        forget(path, kept)
        STORES.mkdir(parents=True, exist_ok=True)
        (STORES / path.name).write_bytes(path.read_bytes())


def from_toml(path: Path) -> Any:
    """Fill a store, or what is left of it, by the command line, and return its trials."""
    from click.testing import CliRunner

    from curvewise.cli import main

    plan = path.with_suffix(".toml")
    plan.write_text(TOML)
    done = CliRunner().invoke(main, ["run", str(plan), "--store", str(path), "--quiet"])
    assert done.exit_code == 0, done.output
    with cw.store.open(path) as store:
        store.note({"source folder": "/home/ada"})
    return cw.read(path)


def finished(name: str, path: Path | str) -> Any:
    """Run what is left of a kept store, and return its trials."""
    if name in PLANS:
        return cw.run(PLANS[name](), store=path, **QUIET)
    return {"toml": from_toml, "slices": reruns}[name](Path(path))


def main() -> None:
    with threadpoolctl.threadpool_limits(1):
        for name in NAMES:
            keep(name, KEPT.get(name, {}))


if __name__ == "__main__":
    import golden_stores  # so that functions are of a module, as a user's are

    sys.exit(golden_stores.main())
