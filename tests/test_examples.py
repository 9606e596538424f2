import contextlib
import doctest
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from support import data

import curvewise as cw
from curvewise import CurvewiseError
from curvewise.examples import example_text

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["search", "curves", "counts"])
def test_examples_are_always_the_same_and_silent(name, capsys):
    assert cw.example(name) == cw.example(name)
    assert capsys.readouterr().err == ""


def test_the_search_has_failures_and_the_curves_have_whole_runs():
    assert (cw.example("search").core.status != 0).sum() == 9
    assert set(cw.example("curves").core.lengths.tolist()) == {21}
    assert cw.example("counts")[0].counts.shape == (6, 2, 2)


def test_an_unknown_example_is_named():
    with pytest.raises(
        CurvewiseError, match=r"no example 'serch'\. Did you mean 'search'"
    ):
        cw.example("serch")


def test_the_demo_leaves_a_report(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py", "2"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Look at runs/demo/report.html" in done.stdout
    assert (tmp_path / "runs/demo/report.html").stat().st_size > 4_000_000
    assert len(cw.read(tmp_path / "runs/demo/results.db")) == 2 * 3 * 7


PAGES = (
    "README.md",
    *(f"docs/tutorial/first-{n}.md" for n in ("report", "experiment")),
)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_the_pages_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    (tmp_path / "results.csv").write_text(example_text("search"))
    text = (ROOT / page).read_text()
    text = re.sub(r"<!-- not run: [^>]+-->\n```python\n.*?```", "", text, flags=re.S)
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert blocks
    names = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    printed = capsys.readouterr().out
    assert "accuracy" in printed
    assert "95 % confidence" in printed
    if "experiment" in names:
        assert cw.read("runs.db").count_failed() == 0


def deberta(folder):
    """Write the published runs of a real random search as their authors did."""
    runs = pd.read_csv(data("random_search/trials.csv"))
    curves = pd.read_parquet(data("random_search/curves.parquet"))
    points = dict(iter(curves.groupby("trial")))
    params = ["num_train_epochs", "train_batch_size", "learning_rate", "cls_drop_out"]
    for model, own in runs[runs.model.str.startswith("deberta")].groupby("model"):
        with (folder / f"{model}.results.jsonl").open("w") as file:
            for run in own.to_dict("records"):
                curve = points[run["trial"]][["step", "score"]].to_numpy().tolist()
                kept = {name: run[name] for name in ("iteration", *params)}
                kept["learning_curves"] = {"matched": curve}
                file.write(json.dumps(kept) + "\n")


def test_the_tutorial_on_a_real_random_search_says_what_comes_out(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    deberta(tmp_path)
    page = (ROOT / "docs/tutorial/random-search.md").read_text()
    blocks = re.findall(r"```(python|text)\n(.*?)```", page, re.S)
    assert [kind for kind, _ in blocks].count("text") >= 4
    names, said = {"__name__": "__main__"}, io.StringIO()
    for kind, block in blocks:
        if kind == "text":
            assert block.split() == said.getvalue().split()
            continue
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block, "tutorial", "exec"), names)
    assert (tmp_path / "deberta.html").exists()


def test_doctests_are_collected():
    import curvewise.stats.distribution as module

    assert len([t for t in doctest.DocTestFinder().find(module) if t.examples]) >= 4
