"""Folders of runs that the real tools wrote, against what they handed over in memory."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from folder_runs import asked, quietly, typed, who
from logged_curves import curves

from curvewise.exchange.runs import Asked
from curvewise.exchange.tools import folders
from curvewise.exchange.tools.files import listing_at

ASSETS = Path(__file__).parents[2] / "assets/foreign"


def expected(tool):
    return json.loads((ASSETS / tool / "expected.json").read_text())


def runs_at(path, tool="folder", **asked):
    return folders.read_path(listing_at(path), Asked(**asked), tool)


def rows(runs):
    return {row["run"]: row for row in runs.table.to_pylist()}


# --- what the tools wrote ----------------------------------------------------------------


def test_hydra_jobs_are_runs_and_the_failed_one_is_counted():
    told = expected("hydra")
    trials, said = quietly(ASSETS / "hydra/multirun", metrics=["acc", "loss"])
    assert len(trials) == len(told) == 6
    by_job = {t.labels["run"].rpartition("/")[2]: t for t in trials}
    for job, run in told.items():
        trial = by_job[job]
        config = run["config"]
        assert trial.algorithm == config["model"]["name"]
        assert (trial.task, trial.number) == (config["dataset"], config["seed"])
        assert trial.params["optim.lr"] == config["optim"]["lr"]
        assert trial.params["model.width"] == config["model"]["width"]
        assert trial.steps.tolist() == [row["epoch"] for row in run["logged"]]
        for name in ("acc", "loss"):
            assert trial.metrics[name].tolist() == [row[name] for row in run["logged"]]
        assert trial.status == ("ok" if run["logged"] else "failed")
    assert sum(t.status == "failed" for t in trials) == 1
    assert len(said) == 1


def test_lightning_keeps_sparse_rows_in_their_place():
    told = expected("lightning")
    source = ASSETS / "lightning/lightning_logs"
    runs = runs_at(source)
    ours = curves(runs)
    assert set(ours) == set(told)
    for run, one in told.items():
        logged = {k: v for k, v in one["logged"].items() if k != "epoch"}
        assert set(ours[run]) == set(logged)
        for name, points in logged.items():
            np.testing.assert_allclose(ours[run][name], points, rtol=1e-12)
        row = rows(runs)[run]
        assert (row["params.model"], row["seed"]) == (one["model"], one["seed"])
        # A class in YAML is a text: nothing is imported or made.
        assert row["params.activation"] == "torch.nn.modules.activation.Tanh"
    trials, _ = quietly(source, metrics={"val_loss": "lower"})
    assert who(trials) == [("all", m, s) for m in ("linear", "net") for s in (0, 1)]


def test_one_file_of_lightning_is_one_run_by_step():
    source = ASSETS / "lightning/lightning_logs/version_2/metrics.csv"
    trials, _ = quietly(source, metrics={"val_loss": "lower"})
    assert [t.algorithm for t in trials] == ["net"]
    points = expected("lightning")["version_2"]["logged"]["val_loss"]
    assert trials[0].steps.tolist() == [step for step, _ in points]


def test_keras_logs_are_its_histories():
    told = expected("keras")
    runs = runs_at(ASSETS / "keras/logs")
    ours = curves(runs)
    assert set(ours) == set(told)
    for run, one in told.items():
        assert set(ours[run]) == set(one["history"])
        for name, values in one["history"].items():
            points = list(zip(one["epoch"], values, strict=True))
            np.testing.assert_allclose(ours[run][name], points, rtol=1e-12)
    problem = asked(ASSETS / "keras/logs")
    assert {"roles": "{algorithm}_seed{seed}"} in problem.fixes
    trials = typed(ASSETS / "keras/logs")
    assert who(trials) == [("all", m, s) for m in ("linear", "net") for s in (0, 1)]


def history(name):
    return expected("keras")[name]["history"]


def test_a_history_of_keras_is_one_curve():
    told = history("net_seed0")
    (trial,) = quietly(told)[0]
    assert trial.steps.tolist() == [0, 1, 2]
    for name, values in told.items():
        assert trial.metrics[name].tolist() == values


def test_an_object_of_keras_has_epochs_of_its_own():
    class History:
        epoch = (5, 6, 7)
        history = expected("keras")["net_seed1"]["history"]

    (trial,) = quietly(History())[0]
    assert trial.steps.tolist() == [5, 6, 7]
    assert trial.metrics["val_loss"].tolist() == History.history["val_loss"]


def test_histories_by_name_are_runs_of_algorithms():
    source = {m: [history(f"{m}_seed{s}") for s in (0, 1)] for m in ("linear", "net")}
    trials, _ = quietly(source)
    assert who(trials) == [("all", m, s) for m in ("linear", "net") for s in (0, 1)]
    first = next(t for t in trials if (t.algorithm, t.number) == ("net", 1))
    assert first.metrics["loss"].tolist() == history("net_seed1")["loss"]
    single = {m: history(f"{m}_seed0") for m in ("linear", "net")}
    assert set(quietly(single)[0].algorithms) == {"linear", "net"}


@pytest.mark.parametrize("run", ["linear-s0", "net-s1"])
def test_a_trainer_is_read_from_its_last_checkpoint(run):
    told = expected("huggingface")[run]
    ours = curves(runs_at(ASSETS / "huggingface/outputs"))[run]
    names = {"loss", "eval_loss", "eval_mae"}
    assert names <= set(ours) <= names | {"train_loss"}
    for name in names:
        points = [(record["step"], record[name]) for record in told if name in record]
        assert [tuple(point) for point in ours[name]] == points


def test_a_state_that_is_older_than_a_checkpoint_does_not_count(tmp_path):
    source = ASSETS / "huggingface/outputs/net-s0"
    shutil.copytree(source, tmp_path / "net-s0")
    old = source / "checkpoint-4/trainer_state.json"
    shutil.copy(old, tmp_path / "net-s0/trainer_state.json")
    (trial,) = quietly(tmp_path)[0]
    assert trial.steps[-1] == 12


def test_runs_of_a_trainer_become_trials():
    source = ASSETS / "huggingface/outputs"
    assert {"roles": "{algorithm}-s{seed}"} in asked(source).fixes
    trials = typed(source)
    assert who(trials) == [("all", m, s) for m in ("linear", "net") for s in (0, 1)]
    one = source / "net-s1/checkpoint-8/trainer_state.json"
    (trial,) = quietly(one)[0]
    assert set(trial.metrics) == {"loss", "eval_loss", "eval_mae"}
    assert trial.steps.tolist() == [2, 4, 6, 8]
    (again,) = quietly(json.loads(one.read_text())["log_history"])[0]
    assert again.steps.tolist() == [2, 4, 6, 8]


def test_results_of_xgboost_are_rounds_of_one_run():
    told = expected("xgboost")
    problem = asked(str(ASSETS / "xgboost/*/evals_result.json"))
    assert {"roles": "{algorithm}_seed{seed}"} in problem.fixes
    assert {"algorithm": "params.max_depth"} in problem.fixes
    for fix in problem.fixes:
        trials, _ = quietly(str(ASSETS / "xgboost/*/evals_result.json"), **fix)
        assert len(trials) == 4
        for trial in trials:
            own = told[trial.labels["run"]]
            assert trial.steps.tolist() == [1, 2, 3, 4]
            for part, metrics in own.items():
                for name, values in metrics.items():
                    assert trial.metrics[f"{part}-{name}"].tolist() == values
    (single,) = quietly(told["depth1_seed0"])[0]
    assert (
        single.metrics["test-logloss"].tolist()
        == told["depth1_seed0"]["test"]["logloss"]
    )


def test_records_of_lightgbm_are_rounds_of_one_run():
    told = expected("lightgbm")
    source = str(ASSETS / "lightgbm/logs/*.json")
    trials = typed(source)
    assert who(trials) == [("all", f"leaves{n}", s) for n in (2, 7) for s in (0, 1)]
    for trial in trials:
        own = told[trial.labels["run"]]["valid_1"]
        assert trial.metrics["valid_1-auc"].tolist() == own["auc"]
        assert trial.steps.tolist() == [1, 2, 3, 4]
    (single,) = quietly(told["leaves2_seed0"])[0]
    assert len(single.steps) == 4


def test_names_that_may_be_data_or_algorithms_are_asked_about():
    source = {"a": {"auc": [0.5, 0.6]}, "b": {"auc": [0.7, 0.8]}}
    problem = asked(source)
    assert [fix["tool"] for fix in problem.fixes] == ["xgboost", "keras"]
    (one,) = quietly(source, tool="xgboost")[0]
    assert set(one.metrics) == {"a-auc", "b-auc"}
    assert set(quietly(source, tool="keras")[0].algorithms) == {"a", "b"}


def test_dvclive_folders_are_runs():
    told = expected("dvclive")
    trials, said = quietly(ASSETS / "dvclive/runs")
    assert not said
    assert who(trials) == [("all", m, s) for m in ("linear", "net") for s in (0, 1)]
    for trial in trials:
        own = told[trial.labels["run"]]["logged"]
        assert set(trial.metrics) == {"acc", "train/loss"}
        for name in trial.metrics:
            assert trial.metrics[name].tolist() == [row[name] for row in own]
        assert trial.params["optim.lr"] == 0.1


def test_ultralytics_tables_are_runs_with_their_arguments():
    told = expected("ultralytics")
    trials, _ = quietly(ASSETS / "ultralytics/runs")
    assert len(trials) == 4
    for trial in trials:
        own = told[trial.labels["run"].rpartition("/")[2]]
        assert (trial.algorithm, trial.number) == (own["model"], own["seed"])
        assert trial.task == "detect"
        assert set(trial.metrics) == {
            *("train/box_loss", "metrics/precision(B)", "metrics/mAP50-95(B)"),
        }
        assert trial.steps.tolist() == [row[0] for row in own["rows"]]
        last = trial.metrics["metrics/mAP50-95(B)"][-1]
        assert last == pytest.approx(own["rows"][-1][4], rel=1e-4)


@pytest.mark.parametrize(
    ("tool", "folder", "n"),
    [
        ("hydra", "hydra/multirun", 6),
        ("lightning", "lightning/lightning_logs", 4),
        ("keras", "keras/logs", 4),
        ("huggingface", "huggingface/outputs", 4),
        ("lightgbm", "lightgbm/logs", 4),
        ("dvclive", "dvclive/runs", 4),
        ("ultralytics", "ultralytics/runs", 4),
    ],
)
def test_a_layout_may_be_named(tool, folder, n):
    assert runs_at(ASSETS / folder, tool).table.num_rows == n


# --- two layouts in one folder -----------------------------------------------------------


def test_runs_of_two_tools_in_one_folder_stay_apart(tmp_path):
    shutil.copytree(ASSETS / "lightning/lightning_logs", tmp_path / "a/lightning_logs")
    shutil.copytree(ASSETS / "huggingface/outputs", tmp_path / "b")
    runs = runs_at(tmp_path)
    assert runs.table.num_rows == 8
    assert any("huggingface" in text and "lightning" in text for text in runs.remarks)
    assert runs_at(tmp_path, "huggingface").table.num_rows == 4
    assert runs_at(tmp_path, "lightning").table.num_rows == 4


def test_tables_beside_event_files_are_mentioned(tmp_path):
    shutil.copytree(ASSETS / "tensorboard/torch", tmp_path / "runs")
    folder = next((tmp_path / "runs").rglob("events*")).parent
    (folder / "metrics.csv").write_text("epoch,step,acc\n0,1,0.5\n1,2,0.6\n")
    told = {"algorithm": "ppo", "seed": 0}
    _, said = quietly(tmp_path / "runs", roles=lambda run: told | {"task": run})
    assert any("tool='folder'" in text for text in said)
