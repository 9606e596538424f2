import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from folder_runs import omitted
from logged_curves import curves
from ray_files import ASSETS, add_state, found, make, report, rows, same

import curvewise as cw
from curvewise.exchange.runs import Asked
from curvewise.exchange.tools import ray_tune
from curvewise.exchange.tools.files import Listing, listing_at

VERSIONS = ["2.6.3", "2.60.0"]
TOLD = {"algorithm": "params.lr", "metrics": {"accuracy": "higher", "loss": "lower"}}


# --- experiments of the real Ray ---------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_reports_are_those_that_ray_returns(version):
    expected = json.loads((ASSETS / version / "expected.json").read_text())
    runs = found(ASSETS / version)
    ours = curves(runs)
    assert {run.partition("/")[2] for run in expected} == set(ours)
    for run, told in expected.items():
        columns = told["columns"]
        own = ours[run.partition("/")[2]]
        metrics = {"accuracy", "loss", "samples", "eval/return", "eval/parts/a"}
        assert set(own) == metrics
        for metric in metrics:
            points = zip(columns["training_iteration"], columns[metric], strict=True)
            assert same(own[metric], list(points)), (run, metric)
    assert np.isnan([v for _, v in ours[run.partition("/")[2]]["loss"]]).sum() == 0
    assert sum(np.isnan(v) for o in ours.values() for _, v in o["loss"]) == 2


@pytest.mark.parametrize("version", VERSIONS)
def test_params_and_endings_are_those_that_ray_tells(version):
    expected = json.loads((ASSETS / version / "expected.json").read_text())
    runs = found(ASSETS / version)
    for name, told in expected.items():
        experiment, _, run = name.partition("/")
        row = rows(runs)[run]
        assert row["params.lr"] == told["config"]["lr"]
        assert row["params.seed"] == told["config"]["seed"]
        assert row["experiment"] == experiment
        assert row["trainable"] == "net"
        assert same(row["seconds"], told["columns"]["time_total_s"][-1])
        if told["error"] is None:
            assert row["params.model/units"] == 64
            assert row["params.model/layers"] == "[8, 8]"
            assert (row["status"], row["error_text"]) == ("finished", "")
        else:
            assert row["status"] == "failed"
            assert row["error_text"].startswith("RuntimeError: diverged")
    assert {row["status"] for row in rows(runs).values()} == {"finished", "failed"}
    (remark,) = runs.remarks
    assert remark.endswith("'is_best', 'note'.")


@pytest.mark.parametrize("version", VERSIONS)
def test_an_experiment_becomes_trials(version):
    trials = cw.read(ASSETS / version, **TOLD)  # and not a word on its event files
    assert set(trials.algorithms) == {"0.1", "0.5", "9"}
    assert {t.status for t in trials if t.algorithm == "9"} == {"failed"}
    (failed,) = (t for t in trials if t.status == "failed")
    assert failed.error.startswith("RuntimeError: diverged")
    assert len(failed.steps) == 2
    assert trials.metrics["loss"].direction == "lower"


def test_the_event_files_beside_say_the_same():
    folder = ASSETS / VERSIONS[1] / "good"
    metrics = {"ray/tune/accuracy": "higher"}
    ours = cw.read(folder, tool="tensorboard", algorithm="params.lr", metrics=metrics)
    assert len(ours) == 4
    other = found(folder)
    values = np.sort([t.metrics["ray/tune/accuracy"][-1] for t in ours])
    told = np.sort([points["accuracy"][-1][1] for points in curves(other).values()])
    np.testing.assert_allclose(values, told, rtol=1e-6)


def test_a_trial_alone_and_its_file_alone(tmp_path):
    folder = next((ASSETS / VERSIONS[1] / "good").glob("net_*"))
    trial, file = found(folder), found(folder / "result.json")
    for runs in (trial, file):
        (row,) = runs.table.to_pylist()
        assert row["run"] == folder.name
        assert row["trainable"] == "net"
        assert row["params.model/units"] == 64
        assert row["status"] == "running"  # what ended is in the folder above
    assert curves(trial) == curves(file)
    assert ray_tune.fits_path(listing_at(folder / "result.json"))
    assert not ray_tune.fits_path(listing_at(folder / "params.json"))


@pytest.mark.parametrize("clock", ["samples", "time_total_s", "eval/parts/a"])
def test_steps_may_be_any_number_that_is_reported(clock):
    folder = ASSETS / VERSIONS[1]
    expected = json.loads((folder / "expected.json").read_text())
    runs = found(folder, step=clock)
    assert runs.steps == clock
    for run, told in expected.items():
        ours = [step for step, _ in curves(runs)[run.partition("/")[2]]["accuracy"]]
        assert ours == told["columns"][clock]


def test_a_clock_that_nobody_reports_is_refused():
    with pytest.raises(cw.CurvewiseError) as raised:
        found(ASSETS / VERSIONS[1], step="epoch")
    assert (raised.value.argument, raised.value.value) == ("step", "epoch")


def test_what_ray_adds_is_no_metric_unless_asked_for():
    folder = ASSETS / VERSIONS[1]
    assert "time_this_iter_s" not in found(folder).scalars.names
    assert "pid" not in found(folder).scalars.names
    asked = found(folder, metrics=("time_this_iter_s",))
    assert asked.scalars.names == ("time_this_iter_s",)


# --- how trials end ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "last", "error", "status"),
    [
        ("TERMINATED", {}, None, "finished"),
        ("TERMINATED", {}, "ValueError: once", "finished"),  # it was tried again
        ("ERROR", {}, "ValueError: no", "failed"),
        ("RUNNING", {}, None, "running"),
        ("PAUSED", {}, None, "running"),
        ("RUNNING", {"done": True}, None, "finished"),
        (None, {"done": True}, None, "finished"),
        (None, {}, "ValueError: no", "failed"),
        (None, {}, None, "running"),
    ],
)
def test_how_a_trial_ended(tmp_path, state, last, error, status):
    files = (
        {} if error is None else {"error": f"Traceback\n\x1b[36m{error}\x1b[39m\n\n"}
    )
    make(tmp_path, reports=[report(1), report(2, **last)], state=state, **files)
    (row,) = found(tmp_path).table.to_pylist()
    assert row["status"] == status
    assert row["error_text"] == (error if status == "failed" else "")
    assert row["seconds"] == 4.0


def test_the_last_state_of_a_resumed_experiment_counts(tmp_path):
    trial = make(tmp_path, reports=[report(1)], state="ERROR", error="ValueError: no")
    again = {"relative_logdir": trial.name, "status": "TERMINATED"}
    add_state(tmp_path, again, name="experiment_state-2.json")
    assert rows(found(tmp_path))[trial.name]["status"] == "finished"


def test_a_trial_that_failed_before_its_first_report_is_a_failed_trial(tmp_path):
    make(tmp_path, "net_00000_00001_1", reports=[report(1)], state="TERMINATED")
    make(tmp_path, "net_00000_00002_2", reports=None, state="ERROR", error="E: none")
    make(tmp_path, "net_00000_00003_3", reports=(), state="ERROR", error="E: empty")
    trials = cw.read(tmp_path, metrics={"acc": "higher"})
    assert [t.status for t in trials] == ["ok", "failed", "failed"]
    assert [t.error for t in trials] == ["", "E: none", "E: empty"]


def test_trials_that_go_on_are_kept_as_cancelled(tmp_path):
    make(tmp_path, reports=[report(1)], state="RUNNING")
    with pytest.warns(cw.CurvewiseWarning, match="had not ended"):
        (trial,) = cw.read(tmp_path, metrics={"acc": "higher"})
    assert trial.status == "cancelled"


def test_trials_without_a_folder_are_left_out_with_the_reason(tmp_path):
    make(tmp_path, reports=[report(1)], state="TERMINATED")
    add_state(
        tmp_path,
        {"trial_id": "0a1b2_00001", "status": "PENDING"},
        {"relative_logdir": "net_0a1b2_00002_2", "status": "TERMINATED"},
    )
    waiting, lost = omitted(tmp_path)
    assert waiting == (1, "run", ("0a1b2_00001",))
    assert lost == (1, "run", ("net_0a1b2_00002_2",))


# --- damage ------------------------------------------------------------------------------


def test_lines_that_cannot_be_read_are_left_out_and_counted(tmp_path):
    torn = json.dumps(report(2))[:-9]
    lines = [report(1), torn + json.dumps(report(2)), "[1]", report(3), torn]
    make(tmp_path, reports=lines)
    runs = found(tmp_path)
    assert curves(runs)[runs.table["run"][0].as_py()]["acc"] == [(1, 0.1), (3, 0.3)]
    assert runs.remarks[0].startswith("Left out: 3 lines")
    whole = tmp_path / "whole"
    make(whole, reports=[report(1)])
    assert not found(whole).remarks


def test_a_state_that_is_damaged_is_as_none(tmp_path):
    make(tmp_path, reports=[report(1)], state="TERMINATED")
    (tmp_path / "experiment_state-1.json").write_text('{"trial_data": [["{')
    (row,) = found(tmp_path).table.to_pylist()
    assert (row["status"], row["trainable"]) == ("running", "net")


@pytest.mark.parametrize("params", [None, "not an object"])
def test_params_come_from_the_reports_where_they_have_no_file(tmp_path, params):
    config = {"lr": 0.5, "net": {"units": 8}}
    make(tmp_path, reports=[report(1, config=config)], params=params, state="RUNNING")
    (row,) = found(tmp_path).table.to_pylist()
    assert (row["params.lr"], row["params.net/units"]) == (0.5, 8)
    assert found(tmp_path).scalars.names == ("acc",)


def test_a_table_of_progress_is_read_where_there_are_no_reports(tmp_path):
    source = ASSETS / VERSIONS[1] / "good"
    shutil.copytree(source, tmp_path / "good")
    for file in tmp_path.rglob("result.json"):
        file.unlink()
    ours, told = found(tmp_path / "good"), found(source)
    for run, metrics in curves(told).items():
        for metric, points in metrics.items():
            assert same(curves(ours)[run][metric], points)


def test_runs_may_report_other_things_and_what_is_no_number(tmp_path):
    make(tmp_path, "a_00000_00000", reports=[report(1, note="x"), report(2, note=3)])
    odd = [{"training_iteration": 1, "loss": float("nan"), "deep": {"list": [1, 2]}}]
    make(tmp_path, "b_00000_00001", reports=[*odd, {"loss": 1.0}], params={"lr": "no"})
    runs = found(tmp_path)
    assert curves(runs)["a_00000_00000"]["note"] == [(2, 3)]
    assert same(curves(runs)["b_00000_00001"]["loss"], [(1, np.nan)])
    assert runs.table.column("params.lr").to_pylist() == ["1", "no"]
    without_step, no_numbers = runs.remarks
    assert without_step.startswith("Left out: 1 report")
    assert no_numbers.endswith("'deep/list', 'note'.")


def test_numbers_that_are_too_large_are_no_numbers(tmp_path):
    odd = {"training_iteration": float("inf"), "loss": 1.0}
    make(tmp_path, reports=[report(1, huge=10**400, large=10**30), odd])
    (own,) = curves(found(tmp_path)).values()
    assert own == {"acc": [(1, 0.1)], "large": [(1, 1e30)]}
    assert len(found(tmp_path).remarks) == 2


def test_folders_without_results_of_ray_are_not_rays(tmp_path):
    assert not ray_tune.fits_path(listing_at(tmp_path))
    (tmp_path / "result.json").write_text("{}")
    assert not ray_tune.fits_path(listing_at(tmp_path))
    assert not ray_tune.fits_path(listing_at(tmp_path / "result.json"))
    (tmp_path / "params.json").write_text("{}")
    assert ray_tune.fits_path(listing_at(tmp_path))


def test_empty_results_are_said_to_be_so(tmp_path):
    make(tmp_path, reports=(), params=None, state="RUNNING")
    with pytest.raises(cw.CurvewiseError) as raised:
        cw.read(tmp_path)
    assert raised.value.argument == "source"


def test_what_may_not_be_read_is_left_out_with_the_reason(tmp_path, monkeypatch):
    make(tmp_path, "net_0a1b2_00000", reports=[report(1)])
    closed = make(tmp_path, "net_0a1b2_00001", reports=[report(1)]) / "result.json"
    opened = Path.open

    def refuse(self, *args, **kwargs):
        if self == closed:
            raise PermissionError(13, "Permission denied")
        return opened(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refuse)
    listing = listing_at(tmp_path)
    listing = Listing(listing.path, True, files=listing.files, unreadable=("secret",))
    runs = ray_tune.read_path(listing, Asked())
    closed, secret = runs.left_out
    assert (closed.n, closed.what, closed.examples) == (1, "run", ("net_0a1b2_00001",))
    assert (secret.n, secret.what, secret.examples) == (1, "folder", ("secret",))
