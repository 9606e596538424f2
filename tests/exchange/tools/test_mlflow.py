"""MLflow's stores, as MLflow itself wrote them, against what its own client says."""

import gzip
import json
import math
import re
from dataclasses import replace
from time import process_time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from folder_runs import asked, omitted
from mlflow_stores import (
    ASSETS,
    KINDS,
    OURS,
    VERSIONS,
    changed,
    database,
    expected,
    files,
    n_recorded,
    quietly,
    run_folders,
    same,
    store,
)

import curvewise as cw
from curvewise import CurvewiseError, CurvewiseWarning
from curvewise.exchange import tools
from curvewise.exchange.runs import Asked
from curvewise.exchange.tools import mlflow
from curvewise.exchange.tools.files import listing_at

# --- what MLflow wrote -------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_score_and_step_is_what_mlflow_says(version, kind, tmp_path):
    trials, _ = quietly(store(version, kind, tmp_path))
    known = expected(version, kind)
    assert len(trials) == len(known) == 16
    checked = 0
    for trial in trials:
        run = known.pop(trial.labels["run_uuid"])
        assert trial.labels["run"] == run["name"]
        assert trial.task == run["experiment"]
        assert trial.algorithm == run["params"]["model"]
        assert trial.number == int(run["params"]["seed"])
        assert trial.status == OURS[run["status"]]
        if run["end"]:
            assert trial.seconds == (run["end"] - run["start"]) / 1000
        for name, history in run["history"].items():
            if name.startswith("system/"):
                assert name not in trials.metrics
                continue
            last = {
                step: value for step, value, _ in sorted(history, key=lambda m: m[2])
            }
            values = dict(
                zip(trial.steps.tolist(), trial.metrics[name].tolist(), strict=True)
            )
            assert all(same(values[step], value) for step, value in last.items())
            assert same(values[max(last)], run["last"][name])
            checked += len(last)
    assert not known
    assert checked == 12 * (5 + 5 + 3 + 1) + 3 + 3 + 2  # and no score was made up:
    assert n_recorded(trials) == checked


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", VERSIONS)
def test_params_are_of_one_kind_and_versions_stay_texts(version, kind, tmp_path):
    trials, _ = quietly(store(version, kind, tmp_path))
    by_run = {(t.task, t.labels["run"]): t for t in trials}
    net, tree = by_run["rings", "net-0"], by_run["rings", "tree-1"]
    assert net.params == {"lr": 0.1, "shuffle": True}  # max_depth was None
    assert tree.params == {"lr": 0.01, "shuffle": True, "max_depth": 4}
    assert isinstance(tree.params["max_depth"], int)
    assert net.labels["tags.version"] == "1.10"
    assert net.labels["tags.team"] == "vision"
    assert net.labels["parent"] == "search-rings"
    assert "parent" not in by_run["rings", "net-3"].labels
    assert not [name for name in net.labels if "mlflow" in name]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_left_out_is_counted(version, kind, tmp_path):
    path = store(version, kind, tmp_path)
    _, said = quietly(path)
    assert "('net-3')" in said
    *deleted, parents, machine = omitted(path)
    assert sorted((n, what) for n, what, _ in deleted) == [(1, "run"), (2, "run")]
    assert (1, "run", ("mistake",)) in deleted
    assert parents == (2, "run", ("search-rings", "search-spirals"))
    assert machine[:2] == (1, "metric")


@pytest.mark.parametrize("kind", KINDS)
def test_nan_and_infinity_are_what_was_logged(kind, tmp_path):
    trials, _ = quietly(store("3.17.2", kind, tmp_path))
    broke = next(t for t in trials if t.status == "failed")
    assert np.isnan(broke.metrics["loss"][-1])
    wild = next(t for t in trials if t.status == "cancelled")
    assert wild.metrics["loss"].tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_of_the_machine_are_read_when_named(kind, tmp_path):
    name = "system/cpu_utilization_percentage"
    trials, said = quietly(store("3.17.2", kind, tmp_path), metrics={name: "lower"})
    assert set(trials.metrics) == {name}
    one = next(t for t in trials if len(t.steps))
    assert one.metrics[name].tolist() == [50.0, 50.0]
    assert "machine" not in said


def test_only_the_metrics_asked_for_are_read(tmp_path):
    trials, _ = quietly(database("3.17.2", tmp_path), metrics=["val/acc"])
    assert set(trials.metrics) == {"val/acc"}
    assert next(t for t in trials if t.labels["run"] == "net-0").steps.tolist() == [
        0,
        2,
        4,
    ]
    refusal = asked(database("3.17.2", tmp_path), metrics=["accu"])
    assert (refusal.argument, refusal.value) == ("metric", "accu")


@pytest.mark.parametrize("kind", KINDS)
def test_steps_by_the_clock(kind, tmp_path):
    trials, _ = quietly(
        store("3.17.2", kind, tmp_path), step="seconds", metrics=["test_acc"]
    )
    one = next(t for t in trials if t.labels["run"] == "net-1")
    assert one.steps.tolist() == [
        10 + 13
    ]  # the fourteenth score, one second after another
    refusal = asked(store("3.17.2", kind, tmp_path), step="epoch")
    assert (refusal.argument, refusal.value) == ("step", "epoch")


# --- where a store is --------------------------------------------------------------------


def test_an_address_as_mlflow_writes_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    database("3.17.2", tmp_path)
    assert len(quietly("sqlite:///mlflow.db")[0]) == 16
    assert len(quietly(f"sqlite:///{tmp_path}/mlflow.db")[0]) == 16


def test_a_folder_with_the_database_in_it(tmp_path):
    database("3.17.2", tmp_path)
    artifacts = tmp_path / "mlruns/1" / ("a" * 32) / "artifacts"
    artifacts.mkdir(parents=True)
    (artifacts / "model.pkl").write_bytes(b"x")
    trials, said = quietly(tmp_path)
    assert len(trials) == 16
    files("3.17.2", tmp_path)
    trials, said = quietly(tmp_path)
    assert "mlflow.db" in said
    assert "MLflow store" in trials.origin


def test_one_experiment_and_one_run_alone(tmp_path):
    root = files("3.17.2", tmp_path)
    folder = run_folders(root)["net-1"]
    trials, _ = quietly(folder.parent)
    assert len(trials) == 8
    assert len(trials.tasks) == 1
    alone, _ = quietly(folder)
    assert alone.tasks == trials.tasks
    assert alone[0].labels["run"] == "net-1"
    assert alone[0].metrics["acc"][-1] == json.loads(
        (folder / "metrics/acc").read_text().splitlines()[-1].split()[1]
    )


def test_artifacts_and_models_are_no_runs(tmp_path):
    root = files("3.17.2", tmp_path)
    folder = run_folders(root)["net-1"]
    before, _ = quietly(root)
    inner = folder / "artifacts" / ("b" * 32)
    for place in ("params", "metrics"):
        (inner / place).mkdir(parents=True)
        (inner / place / "x").write_text("1 2 3\n")
    for other in (
        folder.parent / "models/m-1",
        folder.parent / "datasets" / ("c" * 32),
    ):
        other.mkdir(parents=True)
        (other / "meta.yaml").write_text("name: x\n")
    after, said = quietly(root)
    assert len(after) == len(before)
    assert set(after.metrics) == set(before.metrics)
    assert "meta.yaml" not in said


def test_a_hundred_thousand_artifacts_are_passed_over(tmp_path):
    root = files("3.17.2", tmp_path)
    listing = listing_at(root)
    place = next(
        f for f in listing.files if f.endswith("/meta.yaml") and f.count("/") == 2
    )
    many = tuple(place.replace("meta.yaml", f"artifacts/{i}/x") for i in range(100_000))
    begin = process_time()
    found = mlflow.read_path(replace(listing, files=(*listing.files, *many)), Asked())
    assert process_time() - begin < 2
    assert found.table.num_rows == 16


# --- which label is what -----------------------------------------------------------------


def without_models(path):
    with changed(path) as db:
        db.execute("DELETE FROM params WHERE key = 'model'")
    return path


def test_the_algorithm_is_asked_for_and_labels_are_shown(tmp_path):
    path = without_models(database("3.17.2", tmp_path))
    question = asked(path)
    assert {"roles": "{algorithm}-{task}-s{seed}"} in question.text.fixes
    shown = dict(re.findall(r"(\S+) \((\d) value", str(question)))
    assert shown["run"] == "8"
    assert (shown["experiment"], shown["params.seed"]) == ("2", "4")
    assert "'vision'" in str(question)
    trials, _ = quietly(path, roles="{algorithm}-{seed:d}")
    assert trials.algorithms == ("net", "tree")


def test_the_experiment_may_be_the_algorithm(tmp_path):
    path = without_models(database("3.17.2", tmp_path))
    trials, _ = quietly(path, algorithm="experiment", trial="run_uuid")
    assert trials.algorithms == ("rings", "spirals")
    assert len(trials.tasks) == 1


def test_a_label_that_names_the_task_goes_before_the_experiment(tmp_path):
    path = database("3.17.2", tmp_path)
    with changed(path) as db:
        rows = db.execute("SELECT run_uuid FROM params WHERE key = 'model'").fetchall()
        db.executemany("INSERT INTO params VALUES ('dataset', 'moons', ?)", rows)
        db.execute("UPDATE params SET value = run_uuid WHERE key = 'seed'")
    trials, _ = quietly(path)
    assert trials.tasks == ("moons",)
    assert "task=params.dataset" in trials.origin


def test_names_of_runs_that_repeat_do_not_tell_them_apart(tmp_path):
    path = database("3.17.2", tmp_path)
    with changed(path) as db:
        db.execute("UPDATE tags SET value = 'same' WHERE key = 'mlflow.runName'")
    assert {"trial": "row"} in asked(path, trial="run").fixes
    trials, _ = quietly(path, trial="run_uuid")
    assert len(trials) == 16
    assert {t.labels["run"] for t in trials} == {"same"}


def test_seeds_that_repeat_are_asked_about(tmp_path):
    path = database("3.17.2", tmp_path)
    with changed(path) as db:
        db.execute("UPDATE params SET value = '1' WHERE key = 'seed' AND value = '2'")
    assert asked(path).fixes[-1] == {"trial": "run"}


def test_a_parent_with_scores_is_no_run_either(tmp_path):
    path = database("3.17.2", tmp_path)
    with changed(path) as db:
        (parent,) = db.execute(
            "SELECT run_uuid FROM tags WHERE value = 'search-rings'"
        ).fetchone()
        db.execute("INSERT INTO params VALUES ('model', 'best', ?)", (parent,))
        db.execute(
            "INSERT INTO metrics (key, value, timestamp, run_uuid, step, is_nan) "
            "VALUES ('acc', 0.5, 1, ?, 0, 0)",
            (parent,),
        )
    trials, _ = quietly(path)
    assert set(trials.algorithms) == {"net", "tree"}
    assert len(trials) == 16
    assert omitted(path)[-2][:2] == (2, "run")


def test_candidates_of_a_search_are_runs_and_the_search_is_none(tmp_path):
    path = tmp_path / "search.db"
    path.write_bytes(gzip.decompress((ASSETS / "3.17.2" / "search.db.gz").read_bytes()))
    told = json.loads((ASSETS / "3.17.2" / "search.json").read_text())
    parents = {run["run_id"] for run in told if run["parent"] is None}
    children = {run["run_id"]: run for run in told if run["parent"] in parents}
    assert (len(parents), len(children)) == (2, 6)
    assert all(
        "best_cv_score" in run["metrics"] for run in told if run["parent"] is None
    )
    runs = mlflow.read_path(listing_at(path), Asked())
    assert set(runs.table.column("run_uuid").to_pylist()) == set(children)
    assert "best_cv_score" not in runs.scalars.names
    (left,) = runs.left_out
    assert (left.n, set(left.examples)) == (2, {"search-0", "search-1"})
    with pytest.warns(CurvewiseWarning):
        trials = cw.read(
            path, algorithm="params.max_depth", metrics={"mean_test_score": "higher"}
        )
    assert set(trials.algorithms) == {"1", "2", "3"}
    scores = {t.labels["run_uuid"]: t.metrics["mean_test_score"][-1] for t in trials}
    expected = {one: run["metrics"]["mean_test_score"] for one, run in children.items()}
    assert scores == expected


def test_experiments_of_one_name_are_told_apart(tmp_path):
    path = database("1.30.1", tmp_path)
    with changed(path) as db:
        db.execute("ALTER TABLE experiments RENAME TO gone")
        db.execute(
            "CREATE TABLE experiments AS SELECT experiment_id, 'same' AS name, "
            "lifecycle_stage FROM gone"
        )
    assert quietly(path)[0].tasks == ("same (1)", "same (2)")


# --- other forms -------------------------------------------------------------------------


def test_curves_logged_without_a_step_are_pointed_at(tmp_path):
    path = database("3.17.2", tmp_path)
    with changed(path) as db:
        db.execute("UPDATE metrics SET step = 0 WHERE key = 'acc'")
    _, said = quietly(path)
    assert "13 curves such as 'acc'" in said
    assert "step='seconds'" in said
    assert "step='seconds'" not in quietly(database("3.17.2", tmp_path))[1]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("version", VERSIONS)
def test_what_search_runs_returned(version, ending):
    source = ASSETS / version / f"search_runs.{ending}"
    trials, _ = quietly(source)
    known = expected(version)
    assert len(trials) == len(known) == 16
    for trial in trials:
        run = known[trial.labels["run_uuid"]]
        assert (trial.labels["run"], trial.status) == (run["name"], OURS[run["status"]])
        assert trial.algorithm == run["params"]["model"]
        assert trial.params["lr"] == float(run["params"]["lr"])
        if run["end"]:
            assert trial.seconds == (run["end"] - run["start"]) / 1000
        for name, value in run["last"].items():
            # Pandas has one word for NaN and for nothing.
            if not name.startswith("system/") and not math.isnan(value):
                assert same(trial.metrics[name][-1], value)
    assert trials.tasks == ("1", "2")  # experiments have only numbers here


def test_frames_in_memory(tmp_path):
    path = ASSETS / "3.17.2/search_runs.parquet"
    from_file, _ = quietly(path)
    frame = pd.read_parquet(path)
    for source in (frame, pl.read_parquet(path)):
        trials, _ = quietly(source)
        assert [t.params for t in trials] == [t.params for t in from_file]
        assert trials[0].metrics["acc"] == from_file[0].metrics["acc"]
    one, _ = quietly(frame[frame["experiment_id"] == "1"])
    assert len(one.tasks) == 1
    assert "task=(one)" in one.origin
    with pytest.raises(CurvewiseError) as raised:
        quietly(frame, step="seconds")
    assert (raised.value.argument, raised.value.value) == ("step", "seconds")
    assert len(quietly(frame.drop(columns=["start_time", "end_time"]))[0]) == 16


def test_a_table_that_only_looks_alike_is_left_to_others():
    table = {"run_id": ["u", "v"], "metrics.acc": [0.5, 0.6], "params.lr": [1, 2]}
    assert "MLflow" not in quietly(table)[0].origin
    refusal = asked(table, tool="mlflow")
    assert (refusal.argument, refusal.value) == ("tool", "mlflow")


# --- answers -----------------------------------------------------------------------------


def test_an_answer_from_a_store_as_it_is(tmp_path):
    path = database("3.17.2", tmp_path)
    with changed(path) as db:
        db.execute("DELETE FROM runs WHERE status <> 'FINISHED'")
    trials, _ = quietly(path, metrics=["test_acc"])
    scores = trials.where(task="rings").scores("test_acc", failed="worst")
    whole = expected("3.17.2")
    said = [
        run["last"]["test_acc"]
        for run in whole.values()
        if run["experiment"] == "rings" and run["name"] in ("net-0", "net-1", "net-2")
    ]
    assert scores["net"].tolist() == said


def nested_folds():
    """Return the folds of two parents, which alone know the algorithm."""
    rows = []
    for algo in ("net", "svm"):
        rows.append({"run_id": algo, "params.algo": algo, "metrics.acc": np.nan})
        for k in range(2):
            fold = {"run_id": f"{algo}{k}", "tags.mlflow.parentRunId": algo}
            named = {"tags.mlflow.runName": f"fold{k}", "metrics.acc": 0.5 + k / 10}
            rows.append(fold | named)
    extra = {"experiment_id": "0", "status": "FINISHED", "artifact_uri": "x"}
    times = {"start_time": pd.Timestamp(0), "end_time": pd.Timestamp(1)}
    return pd.DataFrame([row | extra | times for row in rows])


def test_params_that_only_parents_have_hold_for_their_children():
    trials, _ = quietly(nested_folds())
    assert sorted(t.algorithm for t in trials) == ["net", "net", "svm", "svm"]


def test_logs_beside_a_store_are_mentioned(tmp_path):
    files(VERSIONS[-1], tmp_path)
    (tmp_path / "multirun" / "0").mkdir(parents=True)
    (tmp_path / "multirun" / "0" / "metrics.csv").write_text("step,acc\n0,.5\n")
    found = tools.from_path(tmp_path, Asked(), None)
    assert any("tool='folder'" in text for text in found.remarks)
