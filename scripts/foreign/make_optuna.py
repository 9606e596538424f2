"""Write small Optuna storages, and what Optuna itself says of them.

Run it with each Optuna in an environment of its own, from the root of the repository:

    python3 -m venv /tmp/optuna-5
    /tmp/optuna-5/bin/pip install optuna==5.0.0 pandas pyarrow
    /tmp/optuna-5/bin/python scripts/foreign/make_optuna.py tests/assets/foreign/optuna

A folder named after the version appears there. Optuna 2.10.1 writes the older schema of
the database, without types of values; 2.3.0 one that is older still, with scores in the
table of trials; 3.1.0 the first journals. They need "sqlalchemy<2", "numpy<2",
"pandas<2.2" and "setuptools<60" beside them, and 2.3.0 pip's --no-build-isolation.
"""

import json
import math
import shutil
import sqlite3
import sys
import warnings
from pathlib import Path

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore")
VERSION = tuple(int(part) for part in optuna.__version__.split(".")[:2])
# What differs from version to version is kept, the rest once.
WRITTEN = {
    (2, 3): ["search.db"],
    (2, 10): ["search.db", "kinds.db"],
    (3, 1): ["search.log"],
    (5, 0): ["search.db", "search.log", "kinds.db", "kinds.log"],
}
HAS_TYPES = VERSION >= (3, 0)  # infinite values and NaN can be kept


def objective(trial):
    """Return a score; on the way, do everything that a trial can do."""
    rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
    layers = trial.suggest_int("layers", 1, 4)
    kind = trial.suggest_categorical("optimizer", ["sgd", "adam"])
    depth = trial.suggest_categorical("depth", [None, 3, 5])
    nested = trial.suggest_categorical("nested", [True, False])
    dropout = trial.suggest_float("dropout", 0.0, 0.5, step=0.1)
    if kind == "sgd":
        trial.suggest_float("momentum", 0.0, 1.0)
    trial.set_user_attr("seed", 100 + trial.number)
    score = -abs(math.log10(rate) + 3) - 0.1 * layers - dropout
    for step in (1, 2, 4):
        trial.report(score - 1 / step, step)
        if trial.number % 5 == 2 and step == 2:
            raise optuna.TrialPruned
    if trial.number == 4:
        raise ValueError("no memory left")
    if trial.number == 6:
        return float("nan")
    trial.set_user_attr("note", f"nested: {nested}")
    trial.set_user_attr("layers_used", [1] * layers)
    if depth is not None:
        trial.set_user_attr("leaves", 2.0**depth)
    return score


def short(trial):
    """Return a score without anything on the way."""
    return trial.suggest_float("x", -1.0, 1.0) ** 2


def two_objectives(trial):
    """Return two scores."""
    x = trial.suggest_float("x", 0.0, 1.0)
    return x, 1 - x**2


def search(storage, name, sampler):
    """Run one study in which trials end in all possible ways."""
    study = optuna.create_study(
        storage=storage, study_name=name, sampler=sampler, direction="maximize"
    )
    study.optimize(objective, n_trials=8, catch=(ValueError,))
    if not hasattr(study, "ask"):
        return
    going_on = study.ask()
    going_on.suggest_float("rate", 1e-5, 1e-1, log=True)
    going_on.report(-3.0, 1)
    if HAS_TYPES:
        going_on.report(float("nan"), 2)
        going_on.report(float("-inf"), 4)
        added(study, float("-inf"))
    study.enqueue_trial({"rate": 1e-3, "layers": 2})


def added(study, value):
    """Add a trial that was made elsewhere."""
    rate = optuna.distributions.FloatDistribution(1e-5, 1e-1, log=True)
    study.add_trial(
        optuna.trial.create_trial(
            value=value, params={"rate": 1e-5}, distributions={"rate": rate}
        )
    )


def one_search(storage):
    """Run one study."""
    search(storage, "random", optuna.samplers.RandomSampler(seed=1))


def two_searches(storage):
    """Run two studies of the same objective."""
    one_search(storage)
    search(storage, "tpe", optuna.samplers.TPESampler(seed=1, n_startup_trials=4))


def several_kinds(storage):
    """Run studies that do not agree on what is better, one of two objectives."""
    for name, direction in (("loss", "minimize"), ("gain", "maximize")):
        sampler = optuna.samplers.RandomSampler(seed=2)
        study = optuna.create_study(
            storage=storage, study_name=name, sampler=sampler, direction=direction
        )
        study.optimize(short, n_trials=5)
    study = optuna.create_study(
        storage=storage,
        study_name="pareto",
        directions=["minimize", "maximize"],
        sampler=optuna.samplers.RandomSampler(seed=3),
    )
    study.optimize(two_objectives, n_trials=5)
    if hasattr(study, "set_metric_names"):
        study.set_metric_names(["seconds", "accuracy"])
    optuna.create_study(storage=storage, study_name="empty")
    optuna.create_study(storage=storage, study_name="given up").optimize(
        short, n_trials=2
    )
    optuna.delete_study(study_name="given up", storage=storage)


def told(storage):
    """Return what Optuna says of all studies."""
    out = {}
    for name in sorted(s.study_name for s in optuna.get_all_study_summaries(storage)):
        study = optuna.load_study(study_name=name, storage=storage)
        directions = getattr(study, "directions", None) or [study.direction]
        frame = study.trials_dataframe()
        out[name] = {
            "directions": [d.name for d in directions],
            "columns": list(frame.columns),
            "trials": [
                {
                    "number": trial.number,
                    "state": trial.state.name,
                    "values": plain(values(trial)),
                    "params": plain(trial.params),
                    "user_attrs": plain(trial.user_attrs),
                    "intermediate_values": plain(trial.intermediate_values),
                    "seconds": seconds(trial),
                }
                for trial in study.trials
            ],
        }
    return out


def values(trial):
    """Return the scores of a trial, None if it has none."""
    if hasattr(trial, "values"):
        return trial.values
    return None if trial.value is None else [trial.value]


def seconds(trial):
    """Return how long a trial took, None if it did not end."""
    return None if trial.duration is None else trial.duration.total_seconds()


def plain(value):
    """Return a value that JSON can hold; what is not finite becomes a text."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    odd = isinstance(value, float) and not math.isfinite(value)
    return str(value) if odd else value


def database(path):
    """Return the address of a new database with small pages: most of its tables are."""
    with sqlite3.connect(path) as made:
        made.execute("PRAGMA page_size = 512")
        made.execute("VACUUM")
    return f"sqlite:///{path}"


def journal(path):
    """Return a new journal."""
    storages = optuna.storages
    if hasattr(storages, "journal"):
        backend = storages.journal.JournalFileBackend(str(path))
    else:
        backend = storages.JournalFileStorage(str(path))
    return storages.JournalStorage(backend)


def frames(folder, address):
    """Write a study as the frame that people save."""
    study = optuna.load_study(study_name="random", storage=address)
    frame = study.trials_dataframe()
    frame.to_csv(folder / "random.csv")
    kept = [c for c in frame if c not in ("user_attrs_layers_used",)]
    frame[kept].astype({"params_depth": "object"}).to_parquet(folder / "random.parquet")
    whole = ("number", "value", "params", "state", "intermediate_values")
    study.trials_dataframe(attrs=whole).to_csv(
        folder / "random_curves.csv", index=False
    )


def main(folder):
    """Write all storages of this version below a folder."""
    here = folder / f"optuna-{optuna.__version__}"
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir(parents=True)
    expected = {}
    for path, made in (
        (here / "search.db", one_search if VERSION < (2, 4) else two_searches),
        (here / "search.log", one_search),
        (here / "kinds.db", several_kinds),
        (here / "kinds.log", several_kinds),
    ):
        if path.name not in WRITTEN[VERSION]:
            continue
        storage = database(path) if path.suffix == ".db" else journal(path)
        made(storage)
        expected[path.name] = told(storage)
    if VERSION >= (4, 0):
        frames(here, f"sqlite:///{here / 'search.db'}")
    text = json.dumps(expected, indent=0, sort_keys=True)
    (here / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
