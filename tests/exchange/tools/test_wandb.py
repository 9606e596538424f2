"""Files of Weights & Biases: its own of runs, and the forms that its pages give out."""

import json
import shutil
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from folder_runs import asked, omitted

import curvewise as cw
from curvewise import CurvewiseError, CurvewiseWarning
from curvewise.exchange.runs import Asked
from curvewise.exchange.tools.wandb import exports as wandb_history

ASSETS = Path(__file__).parents[2] / "assets/foreign/wandb"
EXPORTS = ASSETS / "exports"
EXPECTED = json.loads((ASSETS / "expected.json").read_text())
ENDED = [run for run, own in EXPECTED.items() if own["state"] == "finished"]
PATTERN = "{algorithm}-{task}-s{seed}"


def run_of(trials, name):
    return next(t for t in trials if t.labels["run"] == name)


def logged(run, metric, clock=None):
    """Return the steps and values that a run was told to log."""
    rows = list(enumerate(EXPECTED[run]["history"]))
    kept = [(i if clock is None else row[clock], row) for i, row in rows]
    return [i for i, row in kept if metric in row], [
        row[metric] for _, row in kept if metric in row
    ]


def recorded(trial, metric):
    values = np.ma.masked_array(trial.metrics[metric])
    known = ~np.ma.getmaskarray(values)
    return trial.steps[known].tolist(), values.data[known].tolist()


def told(found):
    return " ".join(str(w.message) for w in found)


@pytest.fixture
def offline(tmp_path):
    """A copy of the files of runs, without the one that holds nothing."""
    folder = Path(shutil.copytree(ASSETS / "offline", tmp_path / "wandb"))
    shutil.rmtree(next(folder.glob("*-k6ffffff")))
    return folder


# --- files that the library wrote --------------------------------------------------------


def test_local_runs_are_what_was_logged():
    with pytest.warns(CurvewiseWarning) as found:
        trials = cw.read(ASSETS / "offline")
    assert {t.key for t in trials} == {
        *(("CartPole", a, s) for a in ("ppo", "dqn") for s in (0, 1)),
        ("CartPole", "sac", 0),
    }
    for run in ENDED:
        trial = run_of(trials, run)
        for metric in ("train/loss", "eval/return"):
            assert recorded(trial, metric) == tuple(logged(run, metric))
        assert trial.status == "ok"
        assert trial.params == {
            "lr": EXPECTED[run]["config"]["lr"], "net.depth": 2, "net.width": 64
        }  # fmt: skip
        assert trial.labels["id"] == EXPECTED[run]["id"]
    assert list(trials.metrics) == ["train/loss", "eval/return"]
    assert "'weights', 'note'" in told(found)
    assert [one[:2] for one in omitted(ASSETS / "offline")] == [(1, "run")]


def test_a_run_that_failed_keeps_what_it_logged(offline):
    with pytest.warns(CurvewiseWarning):
        trial = run_of(cw.read(offline), "sac-CartPole-s0")
    assert trial.status == "failed"
    np.testing.assert_array_equal(
        trial.metrics["train/loss"], logged("sac-CartPole-s0", "train/loss")[1]
    )
    assert np.isnan(trial.metrics["train/loss"][-1])


def test_files_of_an_old_version_are_read_too():
    expected = json.loads((ASSETS / "old/expected.json").read_text())
    with pytest.warns(CurvewiseWarning, match=r"'weights', 'note'"):
        (trial,) = cw.read(ASSETS / "old")
    rows = expected["ppo-CartPole-s0"]["history"]
    assert trial.metrics["train/loss"].tolist() == [row["train/loss"] for row in rows]
    assert trial.key == ("CartPole", "ppo", 0)
    assert trial.status == "ok"


def test_one_file_is_one_run(offline):
    path = next(offline.rglob("run-k2bbbbbb.wandb"))
    with pytest.warns(CurvewiseWarning, match=r"'note'"):
        (trial,) = cw.read(path)
    assert recorded(trial, "eval/return") == tuple(
        logged("ppo-CartPole-s1", "eval/return")
    )


def test_steps_may_be_any_column(offline):
    with pytest.warns(CurvewiseWarning, match=r"'note'"):
        trials = cw.read(offline, step="global_step")
    trial = run_of(trials, "dqn-CartPole-s1")
    assert recorded(trial, "eval/return") == tuple(
        logged("dqn-CartPole-s1", "eval/return", "global_step")
    )
    with pytest.warns(CurvewiseWarning, match=r"'note'"):
        trials = cw.read(offline, step="_runtime")
    assert (np.diff(trials[0].steps) >= 0).all()
    refusal = asked(offline, step="epoch")
    assert (refusal.argument, refusal.value) == ("step", "epoch")
    assert "'global_step'" in str(refusal)


def test_a_file_that_was_cut_is_read_up_to_there(offline):
    path = next(offline.rglob("run-k2bbbbbb.wandb"))
    path.write_bytes(path.read_bytes()[:35_000])
    with pytest.warns(CurvewiseWarning) as found:
        trial = run_of(cw.read(offline), "ppo-CartPole-s1")
    assert "run-k2bbbbbb.wandb" in told(found)
    assert "1 run of 5" in told(found)
    steps, values = logged("ppo-CartPole-s1", "train/loss")
    n = len(trial.steps)
    assert 10 < n < len(steps)
    assert recorded(trial, "train/loss") == (steps[:n], values[:n])


def test_wherever_a_file_is_cut_it_is_read_or_refused(tmp_path):
    data = next(ASSETS.rglob("run-k5eeeeee.wandb")).read_bytes()
    path, lengths = tmp_path / "run-k5eeeeee.wandb", set()
    for size in range(1, len(data), 149):
        path.write_bytes(data[:size])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CurvewiseWarning)
            try:
                lengths.add(len(cw.read(path, metrics=["train/loss"])[0].steps))
            except CurvewiseError as problem:
                lengths.add(str(problem).removeprefix(str(path))[:20])
    assert {0, *range(1, 12)} & lengths >= {1, 6, 11}


def test_a_byte_that_was_changed_is_noticed(offline):
    path = next(offline.rglob("run-k1aaaaaa.wandb"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.warns(CurvewiseWarning) as found:
        cw.read(offline)
    assert "wrong checksum" in told(found)


def test_what_only_looks_like_a_run_is_left_out(offline):
    path = next(offline.rglob("run-k1aaaaaa.wandb"))
    path.write_bytes(b"PK" + bytes(100))
    with pytest.warns(CurvewiseWarning):
        assert len(cw.read(offline)) == 4
    assert [one[:2] for one in omitted(offline)] == [(1, "run")]
    refusal = asked(path)
    assert (refusal.argument, refusal.value) == ("source", path)


def test_a_run_that_was_resumed_is_one(offline, tmp_path):
    first = next(offline.rglob("run-k1aaaaaa.wandb"))
    again = tmp_path / "wandb/offline-run-20260102_000000-k1aaaaaa"
    again.mkdir()
    shutil.copy(first, again)
    with pytest.warns(CurvewiseWarning):
        assert len(cw.read(offline)) == 5


# --- charts ------------------------------------------------------------------------------


def test_a_chart_has_a_curve_for_each_run():
    trials = cw.read(EXPORTS / "chart.csv", roles=PATTERN)
    assert len(trials) == 4
    for run in ENDED:
        assert recorded(run_of(trials, run), "eval/return") == tuple(
            logged(run, "eval/return")
        )
    assert [t.key for t in trials][:2] == [
        ("CartPole", "ppo", 0),
        ("CartPole", "ppo", 1),
    ]


def test_the_table_of_runs_says_who_the_curves_of_a_chart_are():
    trials = cw.read(EXPORTS / "chart.csv", runs=EXPORTS / "runs.csv")
    assert trials.algorithms == ("ppo", "dqn", "sac")
    assert [t.status for t in trials] == ["ok"] * 4 + ["failed", "crashed"]
    assert trials[0].params == {"lr": 3e-4}


def test_a_chart_over_another_axis():
    path = EXPORTS / "chart-by-global-step.csv"
    for step, clock in ((None, "global_step"), ("_step", None)):
        trials = cw.read(path, roles=PATTERN, step=step)
        assert list(trials.metrics) == ["eval/return"]
        trial = run_of(trials, "dqn-CartPole-s0")
        assert recorded(trial, "eval/return") == tuple(
            logged("dqn-CartPole-s0", "eval/return", clock)
        )
    refusal = asked(EXPORTS / "chart.csv", roles=PATTERN, step="_runtime")
    assert (refusal.argument, refusal.value) == ("step", "_runtime")


def test_buckets_and_groups_in_a_chart_are_pointed_out():
    with pytest.warns(CurvewiseWarning, match=r"11 of 11 points"):
        cw.read(EXPORTS / "chart-of-buckets.csv", roles=PATTERN)
    with pytest.warns(CurvewiseWarning, match=r"2 curves of 2"):
        trials = cw.read(EXPORTS / "chart-of-groups.csv", roles="algo: {algorithm}")
    assert trials.algorithms == ("ppo", "dqn")


@pytest.mark.parametrize(
    ("columns", "runs", "metric"),
    [
        (["a - b - loss", "c - loss"], ["a - b", "c"], "loss"),
        (["a - x - loss", "b - x - loss"], ["a - x", "b - x"], "loss"),
        (["a - _step", "a - eval - loss"], ["a"], "eval - loss"),
        (["loss"], ["run"], "loss"),
    ],
    ids=["dash-in-run", "dash-in-all", "dash-in-metric", "no-run"],
)
def test_names_may_hold_what_stands_between_them(columns, runs, metric):
    frame = {"Step": [0, 1]}
    for column in columns:
        frame |= {f"{column}{end}": [1.0, 2.0] for end in ("", "__MIN", "__MAX")}
    trials = cw.read(
        pd.DataFrame(frame), roles={"algorithm": "x"}, metrics={metric: "lower"}
    )
    assert [t.labels["run"] for t in trials] == runs


def test_text_in_a_chart_is_told():
    frame = pd.DataFrame(
        {"Step": [0, 1], "a - loss": [1.0, 2.0], "a - img": ["x", "y"]}
    )
    with pytest.warns(CurvewiseWarning, match=r"'a - img'"):
        trials = cw.read(frame)
    assert list(trials.metrics) == ["loss"]


# --- the table of runs -------------------------------------------------------------------


def test_the_table_of_runs_has_a_trial_in_each_row():
    trials = cw.read(EXPORTS / "runs.csv")
    assert [t.status for t in trials] == ["ok"] * 4 + ["failed", "crashed"]
    assert list(trials.metrics) == ["eval/return", "train/loss"]
    for run in ENDED:
        trial = run_of(trials, run)
        assert trial.metrics["eval/return"].tolist() == [
            logged(run, "eval/return")[1][-1]
        ]
        assert trial.params == {"lr": EXPECTED[run]["config"]["lr"]}
        assert trial.seconds == 100
    assert "Notes" not in trials[0].labels
    refusal = asked(EXPORTS / "runs.csv", step="global_step")
    assert (refusal.argument, refusal.value) == ("step", "global_step")


def test_columns_that_were_moved_are_told_apart_by_their_names():
    frame = pd.read_csv(EXPORTS / "runs.csv")
    moved = frame[
        ["Name", "State", "Created", "train/loss", "lr", "algo", "seed", "env"]
    ]
    trials = cw.read(moved)
    assert list(trials.metrics) == ["train/loss"]
    assert trials[0].params == {"lr": 3e-4}


def test_a_run_that_goes_on_is_kept_as_far_as_it_got():
    frame = pd.read_csv(EXPORTS / "runs.csv")
    frame["State"] = ["running", "preempting", *frame["State"][2:]]
    with pytest.warns(CurvewiseWarning, match=r"2 runs of 6"):
        trials = cw.read(frame)
    assert [t.status for t in trials][:2] == ["cancelled"] * 2


# --- histories ---------------------------------------------------------------------------


def test_a_folder_of_history_artifacts():
    names = {EXPECTED[run]["id"]: run for run in ENDED}
    trials = cw.read(
        EXPORTS / "artifacts",
        roles=lambda run: {"algorithm": names[run].split("-")[0]},
        trial="run",
    )
    assert len(trials) == 4
    for own, run in names.items():
        trial = run_of(trials, own)
        assert recorded(trial, "eval/return") == tuple(logged(run, "eval/return"))


def test_histories_of_several_runs_in_one_table():
    trials = cw.read(EXPORTS / "scan_history.csv")
    assert {t.key for t in trials} == {
        ("CartPole", a, s) for a in ("ppo", "dqn") for s in (0, 1)
    }
    for run in ENDED:
        trial = run_of(trials, run)
        assert recorded(trial, "train/loss") == tuple(logged(run, "train/loss"))
        assert trial.params == {"lr": EXPECTED[run]["config"]["lr"]}
    frame = pd.read_csv(EXPORTS / "scan_history.csv")
    assert cw.read(frame).scores("eval/return")["ppo"].tolist() == (
        trials.scores("eval/return")["ppo"].tolist()
    )


def history(steps, **columns):
    return pd.DataFrame(
        {"_step": steps, "_runtime": np.arange(len(steps)) * 0.5}
        | ({"loss": 1.0 / (1 + np.arange(len(steps)))} | columns)
    )


def test_a_history_that_looks_sampled_is_pointed_out():
    rng = np.random.default_rng(0)
    steps = np.sort(rng.choice(9_000, 500, replace=False))
    with pytest.warns(CurvewiseWarning, match=r"500 rows.* 8,\d+ of 8,\d+"):
        cw.read(history(steps))
    cw.read(history(np.arange(500)))  # all steps
    cw.read(history(np.arange(500) * 10))  # logged every tenth step
    cw.read(history(steps[:400]))  # no sample has this length


def test_parts_of_an_artifact_are_put_together(tmp_path):
    folder = tmp_path / "all" / "run-abc-history:v3"
    folder.mkdir(parents=True)
    history(range(5)).to_parquet(folder / "0000.parquet")
    history(range(5, 9), extra=1.0).to_parquet(folder / "0001.parquet")
    (trial,) = cw.read(tmp_path / "all", metrics=["loss"])
    assert trial.labels["run"] == "abc"
    assert trial.steps.tolist() == list(range(9))


def test_files_in_a_folder_are_runs(tmp_path):
    for seed in (0, 1):
        history(range(5 + seed)).to_csv(tmp_path / f"ppo-Hop-s{seed}.csv", index=False)
    trials = cw.read(tmp_path, roles=PATTERN)
    assert [t.key for t in trials] == [("Hop", "ppo", 0), ("Hop", "ppo", 1)]
    (tmp_path / "0007.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.warns(CurvewiseWarning, match="Parquet"):
        assert len(cw.read(tmp_path, roles=PATTERN)) == 2


def test_empty_cells_were_not_logged_and_nan_was(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("_step,_runtime,loss,acc\n0,1,0.5,\n1,2,NaN,0.9\n2,3,,0.8\n")
    (trial,) = cw.read(path)
    steps, values = recorded(trial, "loss")
    assert steps == [0, 1]
    assert np.isnan(values[1])
    assert recorded(trial, "acc") == ([1, 2], [0.9, 0.8])


def test_scores_without_the_step_that_was_asked_for_are_counted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("_step,_runtime,loss,epoch\n0,1,0.5,\n1,2,0.4,1\n2,3,0.3,2\n")
    with pytest.warns(CurvewiseWarning, match="1 score"):
        (trial,) = cw.read(path, step="epoch")
    assert trial.steps.tolist() == [1, 2]


def test_media_and_system_metrics_are_no_metrics(tmp_path):
    frame = history(range(3), note=["a", "b", "c"])
    frame["img._type"] = ["image-file", None, None]
    frame["img.width"] = [64.0, None, None]
    frame["system/cpu"] = 1.0
    path = tmp_path / "a.parquet"
    frame.to_parquet(path)
    with pytest.warns(CurvewiseWarning, match=r"'img', 'note'"):
        trials = cw.read(path)
    assert list(trials.metrics) == ["loss"]


def test_histories_that_were_put_together_without_names_are_refused(tmp_path):
    two = pd.concat([history(range(5)), history(range(5))])
    for source in (two, two.assign(run="a")):
        assert "5 of 10 rows" in str(asked(source))
    assert len(cw.read(two.assign(run=["a"] * 5 + ["b"] * 5, algo="x"))) == 2


def test_a_run_without_a_metric_has_failed(tmp_path):
    history(range(3)).to_csv(tmp_path / "a.csv", index=False)
    history(range(3), loss=None).to_csv(tmp_path / "b.csv", index=False)
    trials = cw.read(tmp_path, roles={"algorithm": "x"})
    assert [t.status for t in trials] == ["ok", "failed"]


def test_a_folder_without_runs_is_refused(tmp_path):
    (tmp_path / "notes.md").write_text("hello")
    assert asked(tmp_path, tool="wandb").argument == "source"


# --- which way is better -----------------------------------------------------------------


def defined(name, *summaries):
    """Return the record that ``define_metric(name, summary=...)`` leaves: 1 min, 2 max."""
    own = b"".join(bytes([kind << 3, 1]) for kind in summaries)
    metric = (
        bytes([1 << 3 | 2, len(name)]) + name.encode() + bytes([7 << 3 | 2, len(own)])
    )
    body = bytes([12 << 3 | 2, len(metric + own)]) + metric + own
    checksum = zlib.crc32(bytes([1]) + body)
    return struct.pack("<IHB", checksum, len(body), 1) + body


def test_a_metric_is_better_the_way_that_its_run_says(offline):
    name = "train/loss"
    before = cw.read(offline, metrics=[name]).metrics[name]
    assert (before.direction, before.source) == ("lower", "name")
    for file in offline.glob("*/*.wandb"):
        file.write_bytes(file.read_bytes() + defined(name, 2))
    said = cw.read(offline, metrics=[name]).metrics[name]
    assert (said.direction, said.source) == ("higher", "source")
    told = cw.read(offline, metrics={name: "lower"}).metrics[name]
    assert (told.direction, told.source) == ("lower", "stated")


def test_who_keeps_the_least_and_the_most_says_nothing(offline):
    name = "train/loss"
    for file in offline.glob("*/*.wandb"):
        file.write_bytes(file.read_bytes() + defined(name, 1, 2))
    assert cw.read(offline, metrics=[name]).metrics[name].source == "name"


def test_projects_are_tasks_where_there_are_several():
    table = pa.table({"_step": [0, 1], "_runtime": [0.0, 1.0], "acc": [0.5, 0.6]})
    some = [
        wandb_history.History(
            f"{a}-{p}", table, {"project": p, "config.algo": a, "config.seed": 0}, True
        )
        for a in ("net", "svm")
        for p in ("one", "two")
    ]
    runs = wandb_history.history_runs("W&B", some, Asked())
    assert runs.usual == {"task": "project"}
    assert not wandb_history.history_runs("W&B", some[::2], Asked()).usual
