"""Folders of runs that scripts of people's own leave: read rightly, or asked about."""

import json
import time

import numpy as np
import pytest
from folder_runs import asked, omitted, quietly, typed, who

import curvewise as cw
from curvewise import CurvewiseError
from curvewise.exchange.run_names import proposals

ALGORITHMS, TASKS, SEEDS = ("ppo", "sac"), ("Hopper", "Walker"), (0, 1, 2)


def level(*parts):
    """Return a score that no other run has."""
    return (sum(map(ord, "".join(map(str, parts)))) % 97) / 100


def table(base, sign=",", step="epoch", n=3):
    lines = [sign.join((step, "acc", "loss"))]
    lines += [sign.join(map(str, (e, base + e / 100, 1 - e / 100))) for e in range(n)]
    return "\n".join(lines) + "\n"


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


def crossed():
    return [(a, t, s) for a in ALGORITHMS for t in TASKS for s in SEEDS]


def holds(trials, cases=None, metric="acc"):
    """Hold trials to who ran, and to the curve that each of them left."""
    cases = crossed() if cases is None else cases
    assert who(trials) == sorted((t, a, s) for a, t, s in cases)
    for trial in trials:
        base = level(trial.algorithm, trial.task, trial.number)
        np.testing.assert_allclose(trial.metrics[metric], base + np.arange(3) / 100)


# --- names of folders --------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "{a}_{t}_s{s}/metrics.csv",
        "{a}-{t}-s{s}.csv",
        "{a}/{t}/seed_{s}/progress.csv",
        "{t}/{a}/seed{s}/log.csv",
        "{a}/{t}-{s}.csv",
        "seed{s}-{a}_{t}/metrics.csv",
        "exp/{a}_{t}/run_{s}/results.csv",
        "{a}/{t}/{s}/metrics.csv",
        "{a}-{t}-v4-seed-{s}/metrics.csv",
    ],
)
def test_a_pattern_is_proposed_that_gives_the_runs(tmp_path, name):
    for a, t, s in crossed():
        task = f"{t}-v4" if "v4" in name else t
        put(tmp_path / name.format(a=a, t=t, s=s), table(level(a, task, s)))
    problem = asked(tmp_path)
    assert problem.fixes
    cases = [(a, f"{t}-v4" if "v4" in name else t, s) for a, t, s in crossed()]
    trials, said = quietly(tmp_path, **problem.fixes[0])
    assert not said
    holds(trials, cases)


def test_names_with_signs_of_equality_say_all(tmp_path):
    for a, t, s in crossed():
        name = f"algo={a},env={t},lr=0.1,seed={s}"
        put(tmp_path / name / "metrics.csv", table(level(a, t, s)))
    trials, said = quietly(tmp_path)
    holds(trials)
    assert not said
    assert {t.params["lr"] for t in trials} == {0.1}


def test_settings_in_names_are_what_is_compared_if_that_is_said(tmp_path):
    for lr in (0.1, 0.2):
        for s in SEEDS:
            put(tmp_path / f"lr={lr},seed={s}" / "log.csv", table(level(lr, "all", s)))
    problem = asked(tmp_path)
    assert {"algorithm": "params.lr"} in problem.fixes
    trials, _ = quietly(tmp_path, algorithm="params.lr")
    holds(trials, [(str(lr), "all", s) for lr in (0.1, 0.2) for s in SEEDS])


def test_seeds_of_one_folder_are_runs_of_what_it_is_called(tmp_path):
    for s in SEEDS:
        put(tmp_path / "ppo" / f"seed_{s}" / "log.csv", table(level("ppo", "all", s)))
    trials, _ = quietly(tmp_path / "ppo")
    holds(trials, [("ppo", "all", s) for s in SEEDS])


def test_names_that_fit_no_pattern_are_asked_about(tmp_path):
    for name in ("first try", "b/second", "c/d/x", "seed"):
        put(tmp_path / name / "metrics.csv", table(level(name)))
    problem = asked(tmp_path)
    for fix in problem.fixes:
        assert len(quietly(tmp_path, **fix)[0]) == 4


@pytest.mark.parametrize(
    ("runs", "fits"),
    [
        (["resnet18_s0", "resnet18_s1", "resnet50_s0"], "{algorithm}_s{seed}"),
        (["ppo_Hopper_s0", "ppo_Walker_s0"], "{algorithm}_{task}_s{seed}"),
        (["a/fold_0", "a/fold_1", "b/fold_0"], "{algorithm}/fold_{fold}"),
        (["mnist/cnn/1", "mnist/mlp/2", "cifar10/cnn/1"], "{task}/{algorithm}/{seed}"),
        (["net", "tree", "linear"], "{algorithm}"),
        (
            ["2026-11-18/a-0", "2026-11-19/a-1", "2026-11-19/b-1"],
            "*/{algorithm}-{seed}",
        ),
    ],
)
def test_proposals(runs, fits):
    assert proposals(runs, "logs")[0] == {"roles": fits}


# --- configurations ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("config.yaml", "algo: {a}\nenv_id: {t}\nseed: {s}\nlr: 0.1\n"),
        ("hparams.yaml", "model:\n  name: {a}\ndataset:\n  name: {t}\nseed: {s}\n"),
        ("args.json", '{{"agent": "{a}", "task": "{t}", "random_seed": {s}}}'),
        ("params.yml", "method: {a}\ngame: {t}\ntrain:\n  seed: {s}\n"),
        ("opt.yaml", "arch: {a}\ndata:\n  name: {t}\nseed: {s}\n"),
        (".hydra/config.yaml", "alg: {a}\nenv:\n  id: {t}\nseed: {s}\n"),
    ],
)
def test_configurations_beside_scores_say_who_ran(tmp_path, place, text):
    for i, (a, t, s) in enumerate(crossed()):
        folder = tmp_path / f"{i}"
        put(folder / "metrics.csv", table(level(a, t, s)))
        put(folder / place, text.format(a=a, t=t, s=s))
    trials, said = quietly(tmp_path)
    holds(trials)
    assert not said


def test_a_configuration_above_holds_for_all_below(tmp_path):
    for a in ALGORITHMS:
        put(tmp_path / a / "config.json", {"algorithm": a, "lr": 0.1, "env": "Hopper"})
        for s in SEEDS:
            put(tmp_path / a / str(s) / "log.csv", table(level(a, "Hopper", s)))
            put(tmp_path / a / str(s) / "params.json", {"seed": s, "lr": s + 1.0})
    trials, _ = quietly(tmp_path)
    holds(trials, [(a, "Hopper", s) for a in ALGORITHMS for s in SEEDS])
    assert all(t.params["lr"] == t.number + 1.0 for t in trials)


def test_a_file_has_the_configuration_of_its_name(tmp_path):
    for i, (a, t, s) in enumerate(crossed()):
        put(tmp_path / f"exp{i}.csv", table(level(a, t, s)))
        put(tmp_path / f"exp{i}.json", {"algorithm": a, "task": t, "seed": s})
    holds(quietly(tmp_path)[0])


def test_names_that_a_configuration_does_not_explain_are_asked_about(tmp_path):
    for a in ("baseline", "mixup"):
        for s in SEEDS:
            seed = s + 10 * (a == "mixup")
            put(tmp_path / f"{a}_s{seed}" / "log.csv", table(level(a, "all", seed)))
            put(
                tmp_path / f"{a}_s{seed}" / "config.yaml", f"model: net\nseed: {seed}\n"
            )
    trials = typed(tmp_path)
    assert set(trials.algorithms) == {"baseline", "mixup"}


def test_two_settings_that_could_be_the_algorithm_are_asked_about(tmp_path):
    for i, (model, method) in enumerate((m, k) for m in "ab" for k in "xy"):
        put(tmp_path / str(i) / "log.csv", table(level(i)))
        put(tmp_path / str(i) / "config.json", {"model": model, "method": method})
    problem = asked(tmp_path)
    assert {"algorithm": "params.model"} in problem.fixes
    assert {"algorithm": "params.method"} in problem.fixes
    assert set(quietly(tmp_path, algorithm="params.method")[0].algorithms) == {"x", "y"}


def test_objects_in_yaml_are_never_made(tmp_path):
    put(tmp_path / "a" / "log.csv", table(0.1))
    put(tmp_path / "b" / "log.csv", table(0.2))
    text = "model: {m}\nbad: !!python/object/apply:os.system ['touch owned']\n"
    text += "more: !!python/object:argparse.Namespace {{lr: 0.1}}\n"
    for m in "ab":
        put(tmp_path / m / "config.yaml", text.format(m=m))
    trials, _ = quietly(tmp_path)
    assert [t.params["more.lr"] for t in trials] == [0.1, 0.1]
    assert trials[0].params["bad"] == '["touch owned"]'


# --- forms of scores ---------------------------------------------------------------------


def forms(base):
    epochs = [{"epoch": e, "acc": base + e / 100} for e in range(3)]
    accs = [base + e / 100 for e in range(3)]
    return {
        "log.tsv": table(base, "\t"),
        "history.json": {"history": {"acc": accs, "val_acc": accs}},
        "metrics.json": epochs,
        "log.jsonl": "\n".join(map(json.dumps, epochs)) + "\n",
        "metrics.yaml": json.dumps({"epoch": [0, 1, 2], "acc": accs}),
        "results.json": {"config": {"lr": 0.1}, "epochs": epochs, "time": 3.0},
        "scores.json": "\n".join(map(json.dumps, epochs)) + "\n",
    }


@pytest.mark.parametrize("name", list(forms(0)))
def test_every_form_of_a_history(tmp_path, name):
    for a, t, s in crossed():
        put(tmp_path / f"{a}-{t}-s{s}" / name, forms(level(a, t, s))[name])
    trials, _ = quietly(tmp_path, roles="{algorithm}-{task}-s{seed}", metrics=["acc"])
    holds(trials)


def test_last_scores_only(tmp_path):
    for a, t, s in crossed():
        folder = tmp_path / f"{a}-{t}-s{s}"
        put(folder / "metrics.json", {"test": {"acc": level(a, t, s)}, "epoch": 9})
    trials, _ = quietly(tmp_path, roles="{algorithm}-{task}-s{seed}")
    assert len(trials) == 12
    for t in trials:
        assert t.metrics["test/acc"].tolist() == [level(t.algorithm, t.task, t.number)]


def test_parts_of_the_data_are_metrics_of_one_run(tmp_path):
    for s in SEEDS:
        for part in ("train", "test"):
            base = level("net", part, s)
            put(tmp_path / "a" / f"seed_{s}" / f"{part}.csv", table(base))
            put(tmp_path / "b" / f"seed_{s}" / part / "metrics.csv", table(base))
    for which in "ab":
        trials, _ = quietly(tmp_path / which)
        assert len(trials) == 3
        for t in trials:
            for part in ("train", "test"):
                first = t.metrics[f"{part}/acc"][0]
                assert first == pytest.approx(level("net", part, t.number))


def test_tables_of_runs_stay_apart_by_their_columns(tmp_path):
    for a in ALGORITHMS:
        lines = [f"{s},{level(a, 'all', s)}" for s in SEEDS]
        put(tmp_path / f"{a}.csv", "\n".join(["seed,acc", *lines]))
    trials = typed(tmp_path)
    assert who(trials) == sorted(("all", a, s) for a in ALGORITHMS for s in SEEDS)
    for t in trials:
        assert t.metrics["acc"].tolist() == [level(t.algorithm, "all", t.number)]


def test_rows_that_nothing_counts_are_asked_about(tmp_path):
    for a in ALGORITHMS:
        put(tmp_path / a / "log.csv", "score\n0.1\n0.2\n0.3\n")
    problem = asked(tmp_path)
    assert problem.fixes == ({"step": "row"},)
    with pytest.raises(CurvewiseError) as again:
        quietly(tmp_path, step="row")
    trials, _ = quietly(tmp_path, step="row", **again.value.fixes[0])
    assert [t.steps.tolist() for t in trials] == [[0, 1, 2]] * 2


# --- which files -------------------------------------------------------------------------


def test_patterns_and_lists_of_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for a, t, s in crossed():
        put(tmp_path / "out" / f"{a}-{t}-s{s}" / "metrics.csv", table(level(a, t, s)))
        put(tmp_path / "out" / f"{a}-{t}-s{s}" / "config.yaml", "lr: 0.1\n")
    roles = "{algorithm}-{task}-s{seed}"
    by_pattern, _ = quietly("out/*/metrics.csv", roles=roles)
    holds(by_pattern)
    assert by_pattern[0].params == {"lr": 0.1}
    files = sorted(tmp_path.glob("out/*/metrics.csv"))
    holds(quietly(files, roles=roles)[0])
    holds(quietly([str(file.parent) for file in files], roles=roles)[0])
    some, _ = quietly("out/ppo-*", roles=roles)
    assert set(some.algorithms) == {"ppo"}
    assert asked("out/*/nothing.csv").value == "out/*/nothing.csv"
    gone = tmp_path / "gone.csv"
    assert asked([files[0], gone]).value == gone


def test_files_that_are_no_scores_are_counted(tmp_path):
    for s in SEEDS:
        put(tmp_path / f"seed_{s}" / "metrics.csv", table(level(s)))
        put(tmp_path / f"seed_{s}" / "predictions.csv", "y,p\n1,0.5\n0,0.4\n")
        put(tmp_path / f"seed_{s}" / "environment.yaml", "name: x\n")
    put(tmp_path / "results.csv", "acc\n0.5\n")
    trials, said = quietly(tmp_path)
    assert len(trials) == 3
    assert set(trials.metrics) == {"acc", "loss"}
    assert any("predictions.csv" in text and "results.csv" in text for text in said)


# --- what goes wrong ---------------------------------------------------------------------


@pytest.fixture
def runs(tmp_path):
    for a in ALGORITHMS:
        for s in SEEDS:
            folder = tmp_path / f"{a}_s{s}"
            put(
                folder / "metrics.jsonl",
                '{"epoch": 0, "acc": 0.5}\n{"epoch": 1, "acc": 1}',
            )
            put(folder / "config.yaml", f"algo: {a}\nseed: {s}\n")
    return tmp_path


def test_a_run_without_scores_is_a_failed_trial(runs):
    (runs / "ppo_s1" / "metrics.jsonl").unlink()
    (runs / "ppo_s2" / "metrics.jsonl").write_text("")
    trials, said = quietly(runs)
    assert len(trials) == 6
    failed = {(t.algorithm, t.number): t.status for t in trials if t.status != "ok"}
    assert failed == {("ppo", 1): "failed", ("ppo", 2): "failed"}
    assert any("6 left" in text for text in said)


def test_a_broken_file_is_counted_with_its_reason(runs):
    (runs / "sac_s0" / "metrics.jsonl").unlink()
    (runs / "sac_s0" / "metrics.json").write_text('{"acc": [0.1, 0.2')
    trials, said = quietly(runs)
    assert len(trials) == 5
    (text,) = (text for text in said if "Left out: 1 file" in text)
    assert "sac_s0/metrics.json" in text
    assert "no JSON" in text


def test_a_line_that_was_torn_is_told(runs):
    path = runs / "sac_s0" / "metrics.jsonl"
    path.write_text(path.read_text() + '\n{"epoch": 2, "ac')
    trials, said = quietly(runs)
    assert len(trials) == 6
    assert any("metrics.jsonl" in text for text in said)


@pytest.mark.parametrize(
    "steps",
    [(0, 1, 2, 0, 1, 2), (0, 10, 20, 5, 15, 25), (0, 0, 1, 1)],
    ids=["again", "between", "side by side"],
)
def test_interleaved_runs_are_never_merged(runs, steps):
    lines = [json.dumps({"epoch": e, "acc": i / 10}) for i, e in enumerate(steps)]
    (runs / "sac_s0" / "metrics.jsonl").write_text("\n".join(lines))
    trials, said = quietly(runs)
    assert len(trials) == 5
    assert any("several" in text for text in said)
    for path in runs.glob("*/metrics.jsonl"):
        path.write_text("\n".join(lines))
    with pytest.raises(CurvewiseError, match="several"):
        cw.read(runs)


def test_runs_that_seeds_do_not_tell_apart_are_asked_about(runs):
    put(runs / "again" / "metrics.jsonl", '{"epoch": 0, "acc": 0.1}')
    put(runs / "again" / "config.yaml", "algo: ppo\nseed: 0\n")
    problem = asked(runs)
    assert {"trial": "run"} in problem.fixes
    assert len(quietly(runs, trial="run")[0]) == 7


def test_a_configuration_that_is_broken_is_told(runs):
    (runs / "ppo_s0" / "config.yaml").write_text("a: [1, 2\nb: {")
    with pytest.raises(CurvewiseError):
        cw.read(runs)  # whose run it is, nobody says
    trials, said = quietly(runs, roles="{algorithm}_s{seed}")
    assert len(trials) == 6
    assert any("1 configuration" in text for text in said)


def test_steps_asked_for_are_used(tmp_path):
    for s in SEEDS:
        text = "epoch,step,acc\n0,10,0.1\n1,20,0.2\n"
        put(tmp_path / f"seed_{s}" / "metrics.csv", text)
    assert quietly(tmp_path)[0][0].steps.tolist() == [10, 20]
    assert quietly(tmp_path, step="epoch")[0][0].steps.tolist() == [0, 1]
    refusal = asked(tmp_path, step="epochs")
    assert refusal.value == "epochs"


@pytest.mark.slow
def test_thousands_of_runs_take_time_in_proportion(tmp_path):
    spent = []
    for n in (500, 4000):
        top = tmp_path / str(n)
        for i in range(n):
            put(top / f"{'ab'[i % 2]}_s{i}" / "metrics.csv", table(0.5))
            put(top / f"{'ab'[i % 2]}_s{i}" / "config.yaml", f"algo: {'ab'[i % 2]}\n")
        begin = time.process_time()
        trials = cw.read(top)
        spent.append((time.process_time() - begin) / n)
        assert len(trials) == n
    assert spent[1] < 2 * spent[0]


# --- what looks like something else ------------------------------------------------------


def test_scores_by_algorithm_are_no_curves(tmp_path):
    path = tmp_path / "scores.json"
    put(path, {"ppo": [200, 210, 190], "sac": [250, 260, 240]})
    with pytest.raises(CurvewiseError):
        cw.read(path)
    for task in TASKS:
        put(tmp_path / "all" / f"{task}.json", {"ppo": [200, 210], "sac": [1, 2]})
    assert asked(tmp_path / "all").fixes == ({"step": "row"},)
    for task in TASKS:
        put(tmp_path / "all" / f"{task}.json", {"ppo": {"x": [200, 210]}})
    assert asked(tmp_path / "all").fixes == ({"tool": "xgboost"},)


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_rows_of_runs_are_no_steps(tmp_path, name):
    rows = [{"lr": lr, "loss": lr + 0.1, "val_loss": lr} for lr in (0.1, 0.2)]
    lines = ["lr,loss,val_loss", *(",".join(map(str, r.values())) for r in rows)]
    if name.endswith("jsonl"):
        lines = list(map(json.dumps, rows))
    for a in ALGORITHMS:
        put(tmp_path / a / name, "\n".join(lines))
    assert asked(tmp_path).fixes == ({"step": "row"},)


def test_lists_of_different_lengths_are_asked_about(tmp_path):
    for s in SEEDS:
        history = {"loss": [3.0, 2.0, 1.0, 0.5], "val_loss": [2.5, 0.7]}
        put(tmp_path / f"seed_{s}" / "history.json", {"history": history})
    problem = asked(tmp_path)
    assert problem.fixes == ({"metrics": ["loss"]}, {"metrics": ["val_loss"]})
    trials, _ = quietly(tmp_path, **problem.fixes[1])
    assert [t.metrics["val_loss"].tolist() for t in trials] == [[2.5, 0.7]] * 3


def test_files_of_a_run_that_count_differently_are_asked_about(tmp_path):
    for s in SEEDS:
        put(tmp_path / f"seed_{s}" / "train.csv", table(0.1, step="step"))
        put(tmp_path / f"seed_{s}" / "test.csv", table(0.2, step="epoch"))
    problem = asked(tmp_path)
    assert {fix["step"] for fix in problem.fixes} == {"step", "epoch"}
    trials, _ = quietly(tmp_path, step="epoch")
    assert set(trials.metrics) == {"test/acc", "test/loss"}
    assert len(trials) == 3
    assert [one[:2] for one in omitted(tmp_path, step="epoch")] == [(3, "file")]


def test_names_that_group_runs_are_asked_about_beside_an_algorithm(tmp_path):
    for i, (a, kind) in enumerate(
        (a, k) for a in ALGORITHMS for k in ("base", "tuned")
    ):
        for s in range(2):
            folder = tmp_path / f"{a}_{kind}_s{2 * i + s}"
            put(folder / "log.csv", table(level(a, kind, s)))
            put(folder / "config.yaml", f"algo: {a}\nseed: {2 * i + s}\n")
    problem = asked(tmp_path)
    assert {"algorithm": "params.algo"} in problem.fixes
    assert {"roles": "{algorithm}_{task}_s{seed}"} in problem.fixes


def test_paths_of_runs_are_no_algorithms(tmp_path):
    for s in SEEDS:
        put(tmp_path / f"seed_{s}" / "log.csv", table(level(tmp_path.name, "all", s)))
        put(tmp_path / f"seed_{s}" / "config.yaml", f"model: /out/{s}/net.pt\n")
    trials, _ = quietly(tmp_path)
    holds(trials, [(tmp_path.name, "all", s) for s in SEEDS])
