import json
import re
import shutil
from pathlib import Path

import event_files as ef
import numpy as np
import pytest
from folder_runs import asked, omitted, quietly
from logged_curves import curves

import curvewise as cw
from curvewise.exchange.runs import Asked
from curvewise.exchange.tools import tensorboard
from curvewise.exchange.tools.files import Listing, listing_at

ASSETS = Path(__file__).parents[2] / "assets" / "foreign" / "tensorboard"
NAME = "events.out.tfevents.{}.host"
RETURN = {"eval/return": "higher"}


def found(path, **asked):
    return tensorboard.read_path(listing_at(path), Asked(**asked))


def same(one, other):
    return np.array_equal(np.array(one, float), np.array(other, float), equal_nan=True)


def whole_runs(told):
    """Return what TensorBoard tells of folders, with parts of a run as one run."""
    out = {}
    for folder, own in told.items():
        run, _, part = folder.rpartition("/")
        is_group = len(own["scalars"]) == 1 and folder.endswith("/both/a") | (
            folder.endswith("/both/b")
        )
        if is_group:
            run = run.removesuffix("/both")
            new = {f"{tag}/{part}": points for tag, points in own["scalars"].items()}
        elif part in ("train", "validation"):
            new = {f"{part}/{tag}": points for tag, points in own["scalars"].items()}
        else:
            run, new = folder, own["scalars"]
        out.setdefault(run, {"scalars": {}})["scalars"] |= new
    return out


# --- files of the real writers -----------------------------------------------------------


@pytest.mark.parametrize("writer", ["torch", "tensorboardx", "tensors"])
def test_scalars_are_those_that_tensorboard_finds(writer):
    expected = json.loads((ASSETS / writer / "expected.json").read_text())
    expected = whole_runs(expected)
    ours = curves(found(ASSETS / writer))
    assert set(ours) == set(expected)
    n = 0
    for run, told in expected.items():
        assert set(ours[run]) == set(told["scalars"]), run
        for tag, points in told["scalars"].items():
            assert same(ours[run][tag], [(s, v) for s, _, v in points]), (run, tag)
            n += len(points)
    assert n > 100


def test_time_is_counted_from_the_first_event():
    expected = json.loads((ASSETS / "torch" / "expected.json").read_text())
    runs = found(ASSETS / "torch", step="wall_time")
    assert runs.steps == "seconds"
    for run, tags in curves(runs).items():
        for tag, points in tags.items():
            told = expected[run]["scalars"][tag]
            begin = expected[run]["first"]
            assert same(points, [(w - begin, v) for _, w, v in told])


def test_hyperparameters_come_from_the_folder_that_add_hparams_makes():
    expected = json.loads((ASSETS / "torch_hparams" / "expected.json").read_text())
    runs = found(ASSETS / "torch_hparams")
    rows = {row["run"]: row for row in runs.table.to_pylist()}
    assert set(rows) == {
        *(f"net-lr{lr}-s{seed}" for lr in (0.1, 0.01) for seed in (0, 1)),
        *(run for run in expected if run.startswith("table/")),
    }
    for name, row in rows.items():
        # In a folder of its own below the run, or, of several, runs of their own.
        inside = [run for run in expected if run.startswith(f"{name}/")] or [name]
        (place,) = inside
        told = expected[place]["params"]
        ours = {key: row[f"params.{key}"] for key in told}
        assert told
        assert ours == told
        best = expected[place]["scalars"]["hparam/best"]
        assert same(curves(runs)[name]["hparam/best"], [(s, v) for s, _, v in best])
        assert row["status"] == "SUCCESS"
    (left,) = runs.left_out
    assert (left.n, left.what, left.examples) == (1, "folder", ("table",))
    assert len(curves(runs)["net-lr0.1-s0"]["accuracy"]) == 10


def test_names_of_runs_say_who_is_who():
    trials = cw.read(
        ASSETS / "torch", roles="{algorithm}/{task}/seed_{seed}", metrics=RETURN
    )
    assert len(trials) == 12
    assert set(trials.algorithms) == {"ppo", "sac"}
    assert set(trials.tasks) == {"hill", "maze"}
    expected = json.loads((ASSETS / "torch" / "expected.json").read_text())
    for trial in trials:
        run = f"{trial.algorithm}/{trial.task}/seed_{trial.number}"
        told = expected[run]["scalars"]["eval/return"]
        assert trial.steps.tolist() == [step for step, _, _ in told]
        assert trial.metrics["eval/return"].tolist() == [v for _, _, v in told]
        assert trial.status == "ok"


def test_a_loss_that_is_not_a_number_stays_so():
    trials = cw.read(
        ASSETS / "torch",
        roles="{algorithm}/{task}/seed_{seed}",
        metrics={"train/loss": "lower"},
    )
    broken = {t.number for t in trials if np.isnan(t.metrics["train/loss"]).any()}
    assert broken == {2}


def test_only_what_is_asked_for_is_kept():
    runs = found(ASSETS / "torch", metrics=("train/loss",))
    assert runs.scalars.names == ("train/loss",)
    assert found(ASSETS / "torch").scalars.names == ("eval/return", "train/loss")


def test_a_resumed_run_takes_back_what_came_after():
    runs = found(ASSETS / "tensorboardx")
    assert any("13 scores" in remark for remark in runs.remarks)
    steps = [s for s, _ in curves(runs)["mlp_1"]["loss"]]
    assert steps == [*range(25)]
    # Time goes on: what was taken back is taken back by its step.
    timed = found(ASSETS / "tensorboardx", step="wall_time")
    assert len(curves(timed)["mlp_1"]["loss"]) == 25


def test_one_file_is_one_run_and_a_run_in_the_folder_has_the_folders_name(tmp_path):
    run = ASSETS / "torch" / "ppo" / "hill" / "seed_0"
    (file,) = run.iterdir()
    alone, folder = found(file), found(run)
    assert alone.table.column("run").to_pylist() == [file.name]
    assert folder.table.column("run").to_pylist() == ["seed_0"]
    assert alone.scalars.value.tolist() == folder.scalars.value.tolist()
    other = shutil.copy(file, tmp_path / "renamed.bin")
    trials = cw.read(other, metrics=RETURN)
    assert len(trials) == 1


# --- files that tests write ---------------------------------------------------------------


def test_files_of_a_run_are_read_in_order_of_time(tmp_path):
    """Not of their names: 999 comes before 1700."""
    for when, value in ((999999999, 0.25), (1700000000, 0.5)):
        ef.write(
            tmp_path / "run" / NAME.format(when),
            ef.version(),
            ef.event(ef.simple("acc", value), step=5),
        )
    runs = found(tmp_path)
    assert curves(runs) == {"run": {"acc": [(5, 0.25), (5, 0.5)]}}
    with pytest.warns(cw.CurvewiseWarning, match="1 score "):
        (trial,) = cw.read(tmp_path, metrics={"acc": "higher"})
    assert trial.metrics["acc"].tolist() == [0.5]


def test_runs_may_log_other_things_at_other_steps(tmp_path):
    for name, tag, steps in (("a", "acc", (1, 2)), ("b", "loss", (10,))):
        events = [ef.event(ef.simple(tag, s / 100), step=s) for s in steps]
        ef.write(tmp_path / name / NAME.format(1), ef.version(), *events)
    trials = cw.read(tmp_path, roles="{algorithm}")
    by_name = {t.algorithm: t for t in trials}
    assert by_name["a"].steps.tolist() == [1, 2]
    assert by_name["b"].metrics["loss"].tolist() == [np.float32(0.1)]


# --- damage ------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path):
    events = [ef.event(ef.simple("loss", i / 7), step=i) for i in range(120, 132)]
    path = ef.write(tmp_path / "run" / NAME.format(1), ef.version(), *events)
    return path, [("loss", float(i), float(np.float32(i / 7))) for i in range(120, 132)]


def test_damage_is_told_with_its_place(small):
    path, _ = small
    whole = path.read_bytes()
    other = path.parents[1] / "other" / path.name
    other.parent.mkdir()
    other.write_bytes(whole[:-30] + b"x" + whole[-29:])
    path.write_bytes(whole[:-10])
    runs = found(path.parents[1])
    cut, damaged = runs.remarks
    assert re.search(r"1 event file.*'run/\S+'.* byte [\d,]+\.", cut)
    assert re.search(r"1 record in 1 event file, .* in 'other/", damaged)
    assert len(runs.scalars.value) == 11 + 11


def test_a_table_of_runs_says_how_they_ended(small):
    path, _ = small
    runs = {"run": ["run", "lost"], "status": ["killed", "failed"]}
    told = {"roles": {"algorithm": "net"}, "metrics": {"loss": "lower"}}
    trials = cw.read(path.parents[1], runs=runs, **told)
    assert sorted(t.status for t in trials) == ["crashed", "failed"]


def test_files_without_an_event_are_left_out_with_the_reason(tmp_path, small):
    path, _ = small
    folder = path.parents[1]
    for name, data in (("zero", b""), ("text", b"hello, I am no event file" * 9)):
        (folder / name).mkdir()
        (folder / name / NAME.format(2)).write_bytes(data)
    runs = found(folder)
    assert runs.table.column("run").to_pylist() == ["run"]
    (left,) = runs.left_out
    assert (left.n, left.what) == (2, "event file")
    assert left.examples[0].startswith("text/")
    with pytest.warns(cw.CurvewiseWarning, match="2 event files"):
        assert len(cw.read(folder)) == 1
    assert asked(folder / "zero").argument == "source"


def test_files_and_folders_without_permission_are_left_out(small, monkeypatch):
    path, _ = small
    other = ef.write(path.parents[1] / "closed" / path.name, ef.version())
    opened = Path.open

    def refuse(self, *args, **kwargs):
        if self == other:
            raise PermissionError(13, "Permission denied")
        return opened(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refuse)
    listing = listing_at(path.parents[1])
    listing = Listing(listing.path, True, files=listing.files, unreadable=("secret",))
    runs = tensorboard.read_path(listing, Asked())
    files, folders = runs.left_out
    assert (files.what, files.examples) == ("event file", (f"closed/{path.name}",))
    assert (folders.what, folders.examples) == ("folder", ("secret",))


def test_a_run_without_scalars_has_failed(small):
    path, _ = small
    folder = path.parents[1]
    note = ef.event(ef.tensor("note", 1.0, plugin="text"))
    ef.write(folder / "silent" / path.name, ef.version(), note)
    ef.write(folder / path.name, ef.version())  # above the runs: none itself
    stated = {"roles": {"algorithm": "net"}, "metrics": {"loss": "lower"}}
    trials, said = quietly(folder, **stated)
    assert sorted(t.status for t in trials) == ["failed", "ok"]
    assert re.search("1 run .*1 tag", said[0])
    assert omitted(folder) == [(1, "folder", (".",))]


def test_a_run_without_what_was_asked_for_has_failed_too(small):
    path, _ = small
    other = ef.event(ef.simple("other", 1.0), step=1)
    ef.write(path.parents[1] / "second" / path.name, ef.version(), other)
    with pytest.warns(cw.CurvewiseWarning, match="1 run"):
        trials = cw.read(
            path.parents[1], roles="{algorithm}", metrics={"loss": "lower"}
        )
    assert {t.algorithm: t.status for t in trials} == {"run": "ok", "second": "failed"}


def test_a_clock_that_there_is_not_is_refused(small):
    refusal = asked(small[0].parent, step="epoch")
    assert (refusal.argument, refusal.value) == ("step", "epoch")


def test_other_files_are_not_opened(small, monkeypatch):
    path, _ = small
    for i in range(50):
        (path.parent / f"checkpoint_{i}.pt").write_bytes(b"x")
    (path.parent / f"{path.name}.profile-empty").write_bytes(b"")
    read = []
    opened = Path.open
    monkeypatch.setattr(
        Path, "open", lambda self, *a, **k: read.append(self) or opened(self, *a, **k)
    )
    assert len(found(path.parents[1]).scalars.value) == 12
    assert read == [path]


def test_a_run_that_was_begun_again_is_not_pieced_together(tmp_path):
    """The first run got further; its tail does not belong to the second."""
    for when, steps, value in ((1, range(6), 0.25), (2, range(3), 0.5)):
        events = [ef.event(ef.simple("acc", value), step=s) for s in steps]
        ef.write(tmp_path / "run" / NAME.format(when), ef.version(), *events)
    with pytest.warns(cw.CurvewiseWarning, match="6 scores"):
        (trial,) = cw.read(tmp_path, metrics={"acc": "higher"})
    assert trial.steps.tolist() == [0, 1, 2]
    assert set(trial.metrics["acc"].tolist()) == {0.5}


def logs(folder, tag="loss"):
    events = [ef.event(ef.simple(tag, s / 10), step=s) for s in range(1, 4)]
    ef.write(folder / NAME.format(1), ef.version(), *events)


def test_writers_of_one_run_are_its_parts_and_names_propose_who_ran(tmp_path):
    for a in ("ppo", "sac"):
        for seed in (0, 1):
            home = tmp_path / a / str(seed)
            logs(home / "train")
            logs(home / "val")
            logs(home / "train" / "pi_old", "pi")  # add_scalars("pi", {"old": ...})
    with pytest.raises(cw.CurvewiseError) as problem:
        cw.read(tmp_path)
    assert problem.value.fixes[0] == {"roles": "{algorithm}/{seed}"}
    trials = cw.read(tmp_path, **problem.value.fixes[0])
    assert len(trials) == 4
    assert set(trials.metrics) == {"train/loss", "train/pi/old", "val/loss"}
    one = cw.read(tmp_path, metrics={"val/loss": "lower"}, **problem.value.fixes[0])
    assert len(one[0].steps) == 3


def test_the_configuration_beside_event_files_says_who_ran(tmp_path):
    for i, (model, seed) in enumerate([("net", 0), ("net", 1), ("svm", 0), ("svm", 1)]):
        home = tmp_path / "lightning_logs" / f"version_{i}"
        logs(home)
        (home / "hparams.yaml").write_text(f"model: {model}\nseed: {seed}\n")
    trials = cw.read(tmp_path)
    assert trials.algorithms == ("net", "svm")
    assert sorted(t.number for t in trials) == [0, 0, 1, 1]


def test_event_files_without_scores_point_to_other_logs(tmp_path):
    for run in ("ppo_0", "ppo_1"):
        ef.write(tmp_path / run / NAME.format(1), ef.version())
        (tmp_path / run / "metrics.csv").write_text("step,acc\n0,.5\n1,.6\n")
    with pytest.raises(cw.CurvewiseError, match="also holds logs") as problem:
        cw.read(tmp_path)
    assert problem.value.fixes == ({"tool": "folder"},)
