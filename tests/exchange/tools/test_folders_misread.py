"""Folders, files and histories that were once read wrongly in silence."""

import gzip
import json
import math
import re
import time

import numpy as np
import pytest
from folder_runs import asked, omitted, quietly, who

import curvewise as cw
from curvewise import CurvewiseError
from curvewise.errors import Keyword

CURVE = "epoch,acc,loss\n0,.5,.5\n1,.6,.4\n2,.7,.3\n"
FOUR = [(a, s) for a in ("x", "y") for s in (0, 1)]
SEEDED = {"roles": "{algorithm}_seed{seed}"}
HISTORY = {"loss": [0.5, 0.4], "val_loss": [0.6, 0.5]}


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text if isinstance(text, str) else json.dumps(text))


def folder(tmp_path, files):
    for name, text in files.items():
        put(tmp_path / "logs" / name, text)
    return tmp_path / "logs"


def configs(name="{a}-s{s}/config.json"):
    return {name.format(a=a, s=s): {"algo": a, "seed": s} for a, s in FOUR}


def ends(trials):
    return {(t.algorithm, t.number): t.status for t in trials}


def fixed(source, **stated):
    """Type first fixes until there are trials."""
    for _ in range(4):
        try:
            return quietly(source, **stated)[0]
        except CurvewiseError as problem:
            if not problem.fixes:
                raise
            stated |= problem.fixes[0]
    raise AssertionError(stated)


# --- crashed runs ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "good", "bad"),
    [
        ("results.json", {"return": 1}, {"status": "failed", "error": "OOM"}),
        ("log.jsonl", '{"step":1,"return":5}', '{"event":"start"}\n'),
        ("metrics.csv", CURVE, None),
    ],
)
def test_a_crashed_run_counts_as_failed(tmp_path, file, good, bad):
    files = configs()
    for a, s in FOUR:
        text = good if (a, s) != ("y", 1) else bad
        if text is not None:
            files[f"{a}-s{s}/{file}"] = text
        files[f"{a}-s{s}/git.json"] = {"sha": "x"}
        files[f"{a}-s{s}/machines.json"] = {"gpus": 8}
    trials, _ = quietly(folder(tmp_path, files))
    assert len(trials) == 4
    assert ends(trials)["y", 1] == "failed"
    assert "gpus" not in trials.metrics


def test_a_run_keeps_its_own_word_for_how_it_ended(tmp_path):
    files = {
        "seed0/r.json": {"acc": 0.9, "status": "ok"},
        "seed1/r.json": {"acc": 0.1, "status": "crashed"},
        "seed2/r.json": "",
    }
    trials, _ = quietly(folder(tmp_path, files))
    assert [t.status for t in trials] == ["ok", "crashed", "failed"]


def test_a_metric_that_stops_in_one_run_has_failed_there(tmp_path):
    whole = "epoch,acc,loss\n0,.5,.5\n1,.6,.4\n2,.7,.3\n3,.8,.2\n"
    dead = "epoch,acc,loss\n0,.5,.5\n1,.6,\n2,.7,\n3,.8,\n"
    source = folder(
        tmp_path, {f"seed_{s}/m.csv": dead if s == 1 else whole for s in range(3)}
    )
    trials, said = quietly(source)
    assert math.isnan(trials[1].metrics["loss"][-1])
    assert any(re.search(r"'loss'.* 1 run of 3", text) for text in said)
    source = folder(tmp_path / "all", {f"seed_{s}/m.csv": dead for s in range(3)})
    assert not quietly(source)[1]


def test_an_empty_folder_beside_runs_is_mentioned(tmp_path):
    source = folder(
        tmp_path, {f"{a}/seed_{s}/progress.csv": CURVE for a, s in FOUR[:3]}
    )
    (source / "y" / "seed_1").mkdir()
    assert omitted(source) == [(1, "folder", ("y/seed_1",))]


# --- who ran -----------------------------------------------------------------------------


def test_checkpoints_with_a_configuration_are_no_runs(tmp_path):
    files = {}
    for a, s in FOUR:
        for step in (2, 4):
            history = [{"step": i, "loss": 1 / i} for i in range(1, step + 1)]
            home = f"{a}-seed{s}/checkpoint-{step}"
            files[f"{home}/trainer_state.json"] = {"log_history": history}
            files[f"{home}/config.json"] = {"model_type": a}
    trials = fixed(folder(tmp_path, files))
    assert len(trials) == 4
    assert {t.status for t in trials} == {"ok"}
    one, _ = quietly(tmp_path / "logs" / "x-seed0")
    assert len(one) == 1


def test_a_run_without_the_algorithm_makes_no_other_key_the_algorithm(tmp_path):
    algos = ("ppo", "ppo", None, "sac", "sac")
    files = {f"{i}/metrics.csv": CURVE for i in range(5)}
    for i, algo in enumerate(algos):
        files[f"{i}/config.json"] = {"model": "mlp"} | ({"algo": algo} if algo else {})
    trials = fixed(folder(tmp_path, files))
    assert sorted(t.algorithm for t in trials) == ["ppo", "ppo", "sac", "sac"]


def test_a_second_name_of_a_run_counts_once(tmp_path):
    files = {}
    for i, algo in enumerate(("ppo", "ppo", "sac", "sac")):
        files[f"2026-01-0{i + 1}_10-00-00/metrics.csv"] = CURVE
        files[f"2026-01-0{i + 1}_10-00-00/config.json"] = {"algo": algo}
    source = folder(tmp_path, files)
    (source / "latest").symlink_to("2026-01-04_10-00-00")
    for pattern in ("*/metrics.csv", "*"):
        assert len(quietly(str(source / pattern))[0]) == 4


def test_crossed_tasks_are_asked_about(tmp_path):
    files = {}
    for i in range(8):
        told = {"algo": "ab"[i % 2], "env": "hw"[i // 2 % 2], "dataset": "me"[i // 4]}
        files[f"{i:03d}/metrics.csv"] = CURVE
        files[f"{i:03d}/config.json"] = told | {"seed": i}
    problem = asked(folder(tmp_path, files))
    assert len(problem.fixes) == 3
    trials, _ = quietly(tmp_path / "logs", **problem.fixes[0])
    assert sorted(trials.tasks) == ["h/e", "h/m", "w/e", "w/m"]


def test_states_and_copies_of_a_run_are_left_out(tmp_path):
    parts = ("", "best/", "last/", "backup/")
    source = folder(
        tmp_path, {f"seed_{s}/{p}metrics.csv": CURVE for s in (0, 1) for p in parts}
    )
    trials, said = quietly(source)
    assert list(trials.metrics) == ["acc", "loss"]
    assert set(trials.algorithms) == {"logs"}
    assert any("6 files" in text and "copies" in text for text in said)


def test_scores_of_checkpoints_are_one_curve(tmp_path):
    files = {
        f"{a}_seed{s}/checkpoint-{k}/eval_results.json": {"eval_acc": k / 100}
        for a, s in FOUR
        for k in (20, 10)
    }
    trials = fixed(folder(tmp_path, files))
    assert who(trials) == [("all", a, s) for a, s in FOUR]
    assert list(trials[0].steps) == [10, 20]
    assert list(trials[0].metrics["eval_acc"]) == [0.1, 0.2]


def test_figures_and_predictions_are_no_runs(tmp_path):
    files = {f"{a}/seed_{s}/progress.csv": CURVE for a, s in FOUR}
    files["figures/data.csv"] = "x,y\n1,2\n"
    files |= {
        f"{a}/seed_{s}/pred_{a}{s}{k}.csv": "y,p\n1,.5\n" for a, s in FOUR for k in "ab"
    }
    trials = fixed(folder(tmp_path, files))
    assert who(trials) == [("all", a, s) for a, s in FOUR]
    assert list(trials.metrics) == ["acc", "loss"]
    one = {
        "metrics.csv": CURVE,
        "predictions.csv": "y,p\n1,0\n",
        "confusion.csv": "a\n1\n",
    }
    trials, _ = quietly(folder(tmp_path / "one", one))
    assert len(trials) == 1


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("{a}/{t}/{v}/{s}", "{a}/{v}"),
        ("{a}_{t}/{a}_{t}_s{s}", "{a}"),
        ("20240101-12345{i}-{a}-s{s}", "{a}"),
        ("my {a} (seed {s})", "my {a}"),
        ("my {a} seed {s}", "my {a}"),
        ("{a}/seed_{s}/rep_{r}", "{a}"),
    ],
)
def test_the_first_pattern_is_right(tmp_path, names, expected):
    cases = [
        {"a": a, "t": t, "v": v, "s": s, "r": r, "i": 0}
        for a in ("ppo", "sac")
        for t in ("hopper", "ant")
        for v in ("base", "tuned")
        for s in (0, 1)
        for r in (0, 1)
    ]
    files = {}
    for case in cases:
        files[f"{names.format(**case | {'i': len(files) % 10})}/m.csv"] = CURVE
    trials = fixed(folder(tmp_path, files))
    assert {t.algorithm for t in trials} == {expected.format(**case) for case in cases}
    assert ("{t}" in names) == (set(trials.tasks) == {"ant", "hopper"})


@pytest.mark.parametrize(
    "runs", [("lr_0.1", "lr_0.01"), ("vit-16", "vit-32"), ("gpt-2", "gpt-3")]
)
def test_sizes_of_models_are_no_seeds(tmp_path, runs):
    trials = fixed(folder(tmp_path, {f"{run}/metrics.csv": CURVE for run in runs}))
    assert sorted(trials.algorithms) == sorted(runs)


def test_keys_in_names_that_the_configuration_repeats_need_no_answer(tmp_path):
    files = {}
    for a, s in FOUR:
        files[f"model.name={a},seed={s}/metrics.json"] = {"acc": 0.5}
        files[f"model.name={a},seed={s}/.hydra/config.yaml"] = (
            f"model:\n  name: {a}\nseed: {s}\n"
        )
    trials, _ = quietly(folder(tmp_path, files))
    assert who(trials) == [("all", a, s) for a, s in FOUR]


# --- nested values -----------------------------------------------------------------------


@pytest.mark.parametrize("second", [("seed", (0, 1)), ("task", ("mnist", "cifar"))])
def test_nested_histories_in_memory_are_runs(second):
    word, keys = second
    trials, _ = quietly({a: dict.fromkeys(keys, HISTORY) for a in ("mlp", "cnn")})
    assert len(trials) == 4
    assert list(trials.metrics) == ["loss", "val_loss"]
    found = sorted({t.number if word == "seed" else t.task for t in trials})
    assert found == sorted(keys)


def test_a_dict_of_runs_is_several_runs(tmp_path):
    runs = {
        f"{a}_{s}": {"config": {"model": a, "seed": s}, "history": HISTORY}
        for a, s in FOUR
    }
    put(tmp_path / "results.json", runs)
    for source in (tmp_path, tmp_path / "results.json"):
        trials, _ = quietly(source)
        assert who(trials) == [("all", a, s) for a, s in FOUR]
    deep = {a: {str(s): {"train_loss": [0.5, 0.4]} for s in (0, 1)} for a in "xy"}
    put(tmp_path / "results.json", deep)
    trials = fixed(tmp_path)
    assert who(trials) == [("all", a, s) for a, s in FOUR]
    assert list(trials.metrics) == ["train_loss"]


def test_curves_in_records_are_kept(tmp_path):
    runs = [
        {
            "config": {"model": a, "seed": s},
            "history": {"loss": [0.5, 0.4]},
            "test_acc": 0.9,
        }
        for a, s in FOUR
    ]
    put(tmp_path / "runs.json", runs)
    trials, _ = quietly(tmp_path / "runs.json")
    assert who(trials) == [("all", a, s) for a, s in FOUR]
    assert list(trials[0].metrics["loss"]) == [0.5, 0.4]


def test_pairs_of_steps_and_scores_are_a_curve(tmp_path):
    source = folder(
        tmp_path,
        {f"{a}_seed{s}.json": {"test_acc": [[1, 0.5], [3, 0.6]]} for a, s in FOUR},
    )
    trials, _ = quietly(source, **SEEDED)
    assert list(trials[0].steps) == [1, 3]
    mixed = {"train_loss": [0.5, 0.4], "test_acc": [[1, 0.5], [3, 0.6]]}
    source = folder(tmp_path / "b", {f"{a}_seed{s}.json": mixed for a, s in FOUR})
    assert asked(source).fixes[0] == {"metrics": ["test_acc"]}


def test_parts_of_the_data_have_steps_of_their_own(tmp_path):
    uneven = {"train": {"loss": [0.9, 0.8, 0.7]}, "val": {"loss": [0.9, 0.7]}}
    source = folder(tmp_path, {f"{a}_seed{s}/history.json": uneven for a, s in FOUR})
    assert asked(source).fixes[0] == {"metrics": ["train-loss"]}
    told = {p: {"epoch": [5, 10], "loss": [0.9, 0.8]} for p in ("train", "val")}
    source = folder(
        tmp_path / "b", {f"{a}_seed{s}/history.json": told for a, s in FOUR}
    )
    trials, _ = quietly(source, **SEEDED)
    assert list(trials[0].steps) == [5, 10]
    assert list(trials.metrics) == ["train-loss", "val-loss"]
    own = {
        "train": {"epoch": [1, 2, 3], "loss": [3, 2, 1]},
        "val": {"epoch": [1, 3], "loss": [3, 1]},
    }
    source = folder(
        tmp_path / "c", {f"seed_{s}/history.json": {"history": own} for s in (0, 1)}
    )
    trials, _ = quietly(source)
    assert list(np.ma.filled(trials[0].metrics["val/loss"], -1))[::2] == [3, 1]


@pytest.mark.parametrize("spread", ["auc-std", "auc-stdv"])
def test_means_of_folds_are_refused(tmp_path, spread):
    folds = {"auc-mean": [0.5, 0.6], spread: [0.1, 0.1]}
    with pytest.raises(CurvewiseError, match="means over folds"):
        cw.read(folds)
    put(tmp_path / "cv" / "cv.json", folds)
    with pytest.raises(CurvewiseError, match="means over folds"):
        cw.read(tmp_path / "cv")


def test_a_history_with_a_learning_rate_is_one_run(tmp_path):
    history = {"loss": [0.5, 0.4], "mae": [0.3, 0.2], "learning_rate": [0.01, 0.005]}
    trials, _ = quietly(history)
    assert len(trials) == 1
    assert list(trials.metrics) == ["loss", "mae"]
    put(tmp_path / "history.json", history)
    assert len(quietly(tmp_path / "history.json")[0]) == 1


@pytest.mark.parametrize("key", ["{}", "epoch_{}"])
def test_epochs_as_keys_are_steps(tmp_path, key):
    value = {"history": {key.format(e): {"loss": 0.5 - e / 10} for e in (10, 2)}}
    source = folder(tmp_path, {f"{a}_seed{s}/h.json": value for a, s in FOUR})
    trials, _ = quietly(source, **SEEDED)
    assert list(trials[0].steps) == [2, 10]
    assert list(trials.metrics) == ["loss"]


def test_folds_as_keys_are_runs_and_numbers_are_asked_about(tmp_path):
    source = folder(
        tmp_path,
        {f"{a}.json": {f"fold_{k}": {"acc": 0.5} for k in (0, 1)} for a in "xy"},
    )
    assert len(fixed(source)) == 4
    source = folder(
        tmp_path / "b",
        {f"{a}.json": {str(k): {"acc": 0.5} for k in (0, 1)} for a in "xy"},
    )
    assert [one for one in asked(source).text.parts if one == Keyword("step", "row")]


def test_a_list_of_seeds_makes_runs(tmp_path):
    source = folder(
        tmp_path, {f"{a}.json": {"seeds": [0, 1], "acc": [0.9, 0.8]} for a in "xy"}
    )
    trials = fixed(source)
    assert who(trials) == [("all", a, s) for a, s in FOUR]


# --- numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("epoch,acc\n1,50%\n2,60%\n", 0.5),
        ("epoch,acc\n1,tensor(0.5)\n2,tensor(0.6)\n", 0.5),
        ("epoch,success\n1,False\n2,True\n", 0.0),
        ("epoch;acc\n1;0,5\n2;0,25\n", 0.5),
        ("epoch,acc\r\r\n1,.5\r\r\n2,.6\r\r\n", 0.5),
    ],
)
def test_scores_as_texts_are_read(tmp_path, text, first):
    files = {f"seed_{s}/metrics.csv": text.encode() for s in (0, 1)}
    trials, _ = quietly(folder(tmp_path, files))
    (scores,) = (t for t in trials[0].metrics.values())
    assert scores[0] == first
    assert len(scores) == 2


def test_a_word_in_place_of_a_score_is_no_number(tmp_path):
    bad = "epoch,acc,loss\n0,.5,.5\n1,.6,diverged\n"
    source = folder(tmp_path, {f"seed_{s}/m.csv": bad if s else CURVE for s in (0, 1)})
    trials, _ = quietly(source)
    assert math.isnan(trials[1].metrics["loss"][1])
    lines = "\n".join(
        json.dumps({"epoch": e, "loss": "NaN" if e else 0.3}) for e in (0, 1)
    )
    trials, _ = quietly(
        folder(tmp_path / "b", {f"seed_{s}/l.jsonl": lines for s in (0, 1)})
    )
    assert math.isnan(trials[0].metrics["loss"][1])
    finals = {f"seed_{s}/r.json": {"mine": "0.9" if s else 0.8} for s in (0, 1)}
    finals["seed_2/r.json"] = {"mine": "diverged"}
    trials, _ = quietly(folder(tmp_path / "c", finals))
    assert [t.metrics["mine"][0] for t in trials][:2] == [0.8, 0.9]
    assert math.isnan(trials[2].metrics["mine"][0])


def test_exponents_in_yaml_are_numbers(tmp_path):
    files = {f"{a}_seed{s}/results.yaml": "acc: 0.9\nmine: 1e-3\n" for a, s in FOUR}
    trials, _ = quietly(folder(tmp_path, files), **SEEDED)
    assert trials[0].metrics["mine"][0] == 0.001


# --- lines -------------------------------------------------------------------------------


def test_a_resumed_log_counts_its_last_pass(tmp_path):
    again = CURVE + "epoch,acc,loss\n1,.9,.1\n2,.95,.05\n"
    trials, said = quietly(folder(tmp_path, {f"seed_{s}/m.csv": again for s in (0, 1)}))
    assert list(trials[0].metrics["acc"]) == [0.5, 0.9, 0.95]
    assert any("last pass" in text for text in said)
    plain = CURVE + "1,.9,.1\n2,.95,.05\n"
    trials, _ = quietly(
        folder(tmp_path / "b", {f"seed_{s}/m.csv": plain for s in (0, 1)})
    )
    assert list(trials[0].metrics["acc"]) == [0.5, 0.9, 0.95]


def test_steps_that_begin_again_in_each_epoch_are_asked_about(tmp_path):
    rows = "epoch,step,loss\n0,0,.5\n0,1,.4\n1,0,.3\n1,1,.2\n"
    trials = fixed(folder(tmp_path, {f"seed_{s}/m.csv": rows for s in (0, 1)}))
    assert list(trials[0].metrics["loss"]) == [0.5, 0.4, 0.3, 0.2]


@pytest.mark.parametrize("cut", ["3", "3,.8,.2,9", "3,\0\0\0,"])
def test_a_last_line_that_was_cut_is_left_out(tmp_path, cut):
    source = folder(
        tmp_path, {f"seed_{s}/m.csv": CURVE + (cut if s else "") for s in (0, 1)}
    )
    trials, said = quietly(source)
    assert [len(t.steps) for t in trials] == [3, 3]
    assert any("is cut" in text for text in said)


def test_packed_tables_are_read(tmp_path):
    packed = gzip.compress(CURVE.encode())
    source = folder(tmp_path, {f"seed_{s}/metrics.csv.gz": packed for s in (0, 1)})
    trials, _ = quietly(source)
    assert who(trials) == [("all", "logs", 0), ("all", "logs", 1)]


def test_an_unusual_name_of_steps_is_offered(tmp_path):
    rows = "total_env_steps;return\n1000;1,5\n2000;2,5\n"
    source = folder(tmp_path, {f"seed_{s}/m.csv": rows for s in (0, 1)})
    trials = fixed(source)
    assert list(trials[0].steps) == [1000, 2000]
    assert list(trials[0].metrics["return"]) == [1.5, 2.5]


def test_signs_that_end_lines_elsewhere_do_not_tear_records(tmp_path):
    line = json.dumps({"note": "a\u2028b", "acc": 0.5}, ensure_ascii=False)
    source = folder(tmp_path, {f"seed_{s}/log.jsonl": f"{line}\r\n" for s in (0, 1)})
    trials, said = quietly(source)
    assert len(trials) == 2
    assert not said


def test_many_files_take_seconds(tmp_path):
    for i in range(3000):
        put(tmp_path / "logs" / f"a{i % 3}_seed{i}" / "metrics.json", '{"acc": 0.5}')
    began = time.perf_counter()
    trials, _ = quietly(tmp_path / "logs", **SEEDED)
    assert len(trials) == 3000
    assert time.perf_counter() - began < 10


def test_a_file_and_a_folder_of_one_name_are_not_one_run(tmp_path):
    text = "step,accuracy\n1,.5\n2,.6\n"
    for name in ("ppo_s1.csv", "ppo_s2.csv", "ppo_s1/metrics.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(cw.CurvewiseError, match="ppo_s1"):
        cw.read(tmp_path, roles="{algorithm}_s{seed}")


@pytest.mark.parametrize(
    "config",
    [
        "x: " + 50_000 * "[" + 50_000 * "]",
        "\n".join(
            ["a0: &a0 {x: 1, y: 2, z: 3, w: 4}"]
            + [f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}, *a{k - 1}]" for k in range(1, 20)]
        ),
    ],
    ids=["deep", "aliases"],
)
def test_a_configuration_that_is_a_bomb_is_told_and_left_out(tmp_path, config):
    for i in range(2):
        home = tmp_path / f"net_s{i}"
        home.mkdir()
        (home / "metrics.csv").write_text("step,accuracy\n1,.5\n2,.6\n")
        (home / "config.yaml").write_text(config)
    with pytest.warns(cw.CurvewiseWarning, match="configuration"):
        trials = cw.read(tmp_path, roles="{algorithm}_s{seed}")
    assert len(trials) == 2


def test_runs_that_count_otherwise_are_not_put_on_one_axis(tmp_path):
    for i, clock in enumerate(("step", "epoch")):
        (tmp_path / f"net_s{i}.csv").write_text(f"{clock},accuracy\n1,.5\n2,.6\n")
    with pytest.raises(cw.CurvewiseError, match="'step', 'epoch'"):
        cw.read(tmp_path, roles="{algorithm}_s{seed}")
