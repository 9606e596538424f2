"""From files to a page, with only the keywords that a user would write.

Two shapes that people have: a random search with diverged runs in one table, and curves
in one file with their labels in another. Ours are always there; real ones where the data
folder is.
"""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from support import data

import curvewise as cw
from curvewise.cli import main

MODELS = {"net": (512, 49), "forest": (1024, 0), "svm": (1024, 0)}


def our_search(folder):
    """Write a search of the shape of the real one: 49 of 2,560 runs without a score."""
    rng = np.random.default_rng(0)
    rows = []
    for model, (n, diverged) in MODELS.items():
        lr = 10 ** rng.uniform(-5, 0, n)
        final = np.clip(rng.normal(0.7, 0.1, n), 0, 1)
        final[np.argsort(lr)[n - diverged :]] = np.nan
        rows += [
            {"model": model, "iteration": i + 1, "metric": "top1", "final": v, "n": 23,
             "nan_train_loss": bool(np.isnan(v)), f"{model}_lr": x}
            for i, (x, v) in enumerate(zip(lr, final, strict=True))
        ]  # fmt: skip
    frame = pd.DataFrame(rows)
    frame.insert(0, "trial", range(len(frame)))
    frame.to_csv(folder / "trials.csv", index=False)
    return folder / "trials.csv"


def our_curves(folder):
    """Write curves and labels: 96 runs, one algorithm logged at other steps."""
    rng = np.random.default_rng(1)
    runs, curves = [], []
    cells = [
        (a, e, s) for a in ("DDPG", "PPO", "SAC") for e in "xy" for s in range(20, 28)
    ]
    for run, (algo, env, seed) in enumerate(cells, start=700):
        steps = np.arange(1, 41) * (2048 if algo == "PPO" else 5000)
        values = np.cumsum(rng.normal(2, 1, len(steps)))
        runs.append(
            {"run": run, "algo": algo, "env": env, "seed": seed, "suite": "own"}
        )
        curves.append(pd.DataFrame({"run": run, "step": steps, "return": values}))
    pd.DataFrame(runs).to_csv(folder / "runs.csv", index=False)
    pd.concat(curves).to_parquet(folder / "curves.parquet", index=False)
    return folder / "curves.parquet", folder / "runs.csv"


@pytest.fixture(params=["ours", "real"])
def search(request, tmp_path):
    return (
        our_search(tmp_path)
        if request.param == "ours"
        else data("random_search/trials.csv")
    )


@pytest.fixture(params=["ours", pytest.param("real", marks=pytest.mark.slow)])
def control(request, tmp_path):
    if request.param == "ours":
        return our_curves(tmp_path)
    return data("control_curves/curves.parquet"), data("control_curves/runs.csv")


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def test_a_search_with_diverged_runs(search, tmp_path):
    trials = cw.read(search, algorithm="model", metrics={"final": "higher"})
    assert len(trials) == 2560
    assert trials.count_failed() == 49
    rules = {finding.rule: finding for finding in cw.check(trials)}
    assert "49 of 2,560" in rules["failed-runs"].what
    assert "unequal-trials" in rules
    assert "params-grid" not in rules
    answer = cw.performance(trials, failed=0.001)
    assert sum(row["failed"] for row in answer.rows()) == 49
    for row in answer.rows():
        assert row["cvar_worst"] < row["mean"] < row["cvar_best"]
        assert row["median_lower"] <= row["median"] <= row["median_upper"]
    page = cw.report.write(trials, tmp_path / "page.html", failed=0.001)
    assert "49 failed trials counted with score 0.001" in page.read_text()


def test_curves_in_one_file_and_labels_in_another(control, tmp_path):
    curves, runs = control
    trials = cw.read(curves, runs=runs, on="run")
    assert trials.count_failed() == 0
    assert {len(trials.where(task=t, algorithm=a)) for t in trials.tasks
            for a in trials.algorithms} == {8}  # fmt: skip
    lengths = next(f for f in cw.check(trials) if f.rule == "unequal-lengths")
    assert "'PPO'" in lengths.what
    with pytest.raises(cw.CurvewiseError, match="different steps"):
        trials.where(task=trials.tasks[0]).lines("return")
    lines = trials.where(task=trials.tasks[0]).lines("return", grid=61, fill="linear")
    assert {line.shape for line in lines.values()} == {(8, 61)}
    answer = cw.performance(trials, "return")
    assert len(answer.rows()) == len(trials.tasks) * len(trials.algorithms)
    page = cw.report.write(trials, tmp_path / "page.html")
    # Quantiles, best trials, best of k, lines and where they differ, on each task; and
    # how many more trials.
    assert page.read_text().count("<figure>") == 5 * len(trials.tasks) + 1


def test_the_same_from_a_shell(search, control, tmp_path):
    keywords = ["--algorithm", "model", "--metrics", "final=higher"]
    done = run("performance", search, *keywords, "--failed", "0.001", "--json")
    assert done.exit_code == 3
    assert sum(row["failed"] for row in json.loads(done.stdout)["rows"]) == 49
    assert run("performance", search, *keywords).exit_code == 1
    curves, runs = control
    both = [curves, "--runs", runs, "--on", "run"]
    done = run("check", *both, "--json")
    assert done.exit_code == 0
    assert "unequal-lengths" in {row["rule"] for row in json.loads(done.stdout)["rows"]}
    assert run("report", *both, "-o", tmp_path / "r.html").exit_code == 0


def test_a_store_in_between_changes_nothing(control, tmp_path):
    trials = cw.read(control[0], runs=control[1], on="run")
    cw.store.write(trials, tmp_path / "runs.db")
    again = cw.read(tmp_path / "runs.db")
    assert again == trials
    assert again.metrics == trials.metrics
    one, other = (cw.performance(t, "return") for t in (trials, again))
    assert one.rows() == other.rows()
    assert one.provenance.data == other.provenance.data
