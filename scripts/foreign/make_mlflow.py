"""Let MLflow write the stores that tests read, and say itself what is in them.

    python -m venv new && new/bin/pip install mlflow==3.17.2 scikit-learn
    MLFLOW_ALLOW_FILE_STORE=true new/bin/python make_mlflow.py tests/assets/foreign/mlflow
    python -m venv old && old/bin/pip install "setuptools<70" mlflow==1.30.1 pyarrow==14.0.2
    old/bin/python make_mlflow.py tests/assets/foreign/mlflow

Each leaves a folder of the version's name with a database (VACUUM, gzip), a store of
files (tar.gz), what `mlflow.search_runs` returns as CSV and Parquet, and what MLflow's
client says of every run, expected.json. Times and names of runs are always the same.

MLflow 3 also logs a grid search of scikit-learn by itself: search.db.gz holds the search,
which is the parent, and its candidates; search.json what the client says of them.
"""

import gzip
import io
import json
import os
import random
import sqlite3
import sys
import tarfile
import tempfile
import uuid
from pathlib import Path

import mlflow
from mlflow.entities import Metric, Param, RunTag, ViewType
from mlflow.tracking import MlflowClient

BEGIN = 1_700_000_000_000
MACHINE = "system/cpu_utilization_percentage"
LEVELS = {"rings": 0.8, "spirals": 0.6}


def same_ids() -> None:
    """Make uuid4 return the same ids in every run of this script."""
    drawn = random.Random(7)
    uuid.uuid4 = lambda: uuid.UUID(int=drawn.getrandbits(128), version=4)


class Writer:
    """Runs at times of their own, one minute apart."""

    def __init__(self) -> None:
        self.client = MlflowClient()
        self.runs = 0

    def run(self, experiment, name, params, scores, tags=(), status="FINISHED"):
        """Write a run; `scores` are (metric, step, value), ten seconds apart."""
        self.runs += 1
        begin = BEGIN + 60_000 * self.runs
        told = {"mlflow.runName": name, "mlflow.user": "somebody", **dict(tags)}
        run = self.client.create_run(experiment, start_time=begin, tags=told)
        run_id = run.info.run_id
        metrics = [
            Metric(metric, value, begin + 10_000 + 1000 * i, step)
            for i, (metric, step, value) in enumerate(scores)
        ]
        texts = [Param(key, str(value)) for key, value in params.items()]
        self.client.log_batch(run_id, metrics, texts, [RunTag("team", "vision")])
        if status != "RUNNING":
            self.client.set_terminated(run_id, status, begin + 45_500)
        return run_id


def curve(level, seed):
    """Return five steps of two metrics, a third at every other step, and a last score."""
    drawn = random.Random(f"{level} {seed}")
    for step in range(5):
        accuracy = level - 0.3 / (step + 1) + drawn.uniform(-0.05, 0.05)
        yield "acc", step, accuracy
        yield "loss", step, 1.5 - accuracy
        if step % 2 == 0:
            yield "val/acc", step, accuracy - 0.1
    yield "test_acc", 0, accuracy - 0.12


def write() -> None:
    """Write runs of two models on two experiments, and what goes wrong in practice."""
    writer = Writer()
    client, ids = writer.client, {}
    for task, level in LEVELS.items():
        ids[task] = client.create_experiment(task)
        parent = writer.run(ids[task], f"search-{task}", {}, [])
        for model, more in (("net", 0.05), ("tree", 0.0)):
            for seed in range(3):
                deep = "None" if model == "net" else 3 + seed
                params = {"model": model, "seed": seed, "lr": 10.0 ** -(seed + 1)}
                params |= {"max_depth": deep, "shuffle": True}
                tags = {"mlflow.parentRunId": parent, "version": "1.10"}
                scores = [*curve(level + more, seed)]
                if (task, model, seed) == ("rings", "net", 0):
                    scores += [(MACHINE, step, 50.0) for step in (0, 1)]
                    scores += [("acc", 4, 0.875)]  # a step that was written twice
                writer.run(ids[task], f"{model}-{seed}", params, scores, tags)
    one = {"model": "net", "seed": 3, "lr": 0.1}
    tree = {"model": "tree", "seed": 3, "lr": 0.1, "max_depth": 9}
    nan, inf = float("nan"), float("inf")
    broke = [("acc", 0, 0.5), ("loss", 0, 1.0), ("loss", 1, nan)]
    writer.run(ids["rings"], "net-3", one, broke, status="FAILED")
    writer.run(ids["rings"], "tree-3", tree, [], status="KILLED")
    wild = [("acc", 0, 0.25), ("loss", 0, inf), ("loss", 1, -inf)]
    writer.run(ids["spirals"], "net-3", one, wild, status="RUNNING")
    writer.run(ids["spirals"], "tree-3", tree, [("acc", 0, 0.5), ("acc", 1, 0.375)])
    gone = writer.run(ids["spirals"], "mistake", one, [("acc", 0, 0.0)])
    client.delete_run(gone)
    ids["old tries"] = client.create_experiment("old tries")
    for seed in range(2):
        writer.run(ids["old tries"], f"try-{seed}", one, [("acc", 0, 0.0)])
    client.delete_experiment(ids["old tries"])


def told() -> list:
    """Return what MLflow's own client says of every run that was not deleted."""
    client = MlflowClient()
    search = getattr(client, "search_experiments", None) or client.list_experiments
    names = {e.experiment_id: e.name for e in search(view_type=ViewType.ACTIVE_ONLY)}
    out = []
    for run in client.search_runs(list(names)):
        history = {
            key: [
                [m.step, m.value, m.timestamp]
                for m in client.get_metric_history(run.info.run_id, key)
            ]
            for key in sorted(run.data.metrics)
        }
        out.append(
            {
                "run_id": run.info.run_id,
                "name": run.data.tags["mlflow.runName"],
                "experiment": names[run.info.experiment_id],
                "status": run.info.status,
                "start": run.info.start_time,
                "end": run.info.end_time,
                "params": run.data.params,
                "last": run.data.metrics,
                "history": history,
            }
        )
    return sorted(out, key=lambda run: run["start"])


def search(room: Path) -> None:
    """Let MLflow log a grid search by itself: a parent and a child for each candidate."""
    from sklearn.datasets import make_classification
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    mlflow.set_tracking_uri("sqlite:///search.db")
    mlflow.set_experiment("grid")
    mlflow.sklearn.autolog(log_models=False, log_datasets=False, silent=True)
    x, y = make_classification(60, random_state=0)
    for seed in (0, 1):
        tree = DecisionTreeClassifier(random_state=seed)
        with mlflow.start_run(run_name=f"search-{seed}"):
            GridSearchCV(tree, {"max_depth": [1, 2, 3]}, cv=3).fit(x, y)
    told = [
        {
            "name": run.data.tags["mlflow.runName"],
            "parent": run.data.tags.get("mlflow.parentRunId"),
            "run_id": run.info.run_id,
            "params": run.data.params,
            "metrics": run.data.metrics,
        }
        for run in MlflowClient().search_runs(
            [mlflow.get_experiment_by_name("grid").experiment_id]
        )
    ]
    (room / "search.json").write_text(json.dumps(told, indent=1) + "\n")
    packed_database(Path("search.db"), room)


def packed_database(path: Path, room: Path) -> None:
    """Write a database without its gaps as gzip."""
    database = sqlite3.connect(path)
    database.execute("VACUUM")
    database.close()
    raw = gzip.compress(path.read_bytes(), mtime=0)
    (room / f"{path.name}.gz").write_bytes(raw)


def packed_folder(folder: Path, target: Path) -> None:
    """Write a folder as tar.gz, the same bytes each time."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for path in sorted(folder.rglob("*")):
            entry = tar.gettarinfo(path, path.relative_to(folder.parent))
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            if path.is_file():
                with path.open("rb") as file:
                    tar.addfile(entry, file)
            else:
                tar.addfile(entry)
    target.write_bytes(gzip.compress(raw.getvalue(), mtime=0))


def main(target: Path) -> None:
    room = target / mlflow.__version__
    room.mkdir(parents=True, exist_ok=True)
    room, expected = room.resolve(), {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for kind, address in {"db": "sqlite:///mlflow.db", "files": "./mlruns"}.items():
            same_ids()
            mlflow.set_tracking_uri(address)
            write()
            expected[kind] = told()
            if kind == "db":
                active = sorted({run["experiment"] for run in expected[kind]})
                frame = mlflow.search_runs(experiment_names=active)
                frame.to_csv(room / "search_runs.csv", index=False)
                frame.to_parquet(room / "search_runs.parquet")
        packed_database(Path("mlflow.db"), room)
        packed_folder(Path("mlruns").resolve(), room / "mlruns.tar.gz")
        if mlflow.__version__.startswith("3."):
            search(room)
    (room / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
