import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import curvewise as cw
from curvewise import CurvewiseError

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
    assert len(cw.read(tmp_path / "runs/demo/results.db")) == 2 * 3 * 5


PAGES = (
    "README.md",
    *(f"docs/tutorial/first-{n}.md" for n in ("report", "experiment")),
)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_the_pages_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    (tmp_path / "results.csv").write_text(cw.examples.example_text("search"))
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert blocks
    names = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert "accuracy (higher is better, 0 to 1)" in capsys.readouterr().out
    if "experiment" in names:
        assert cw.read("runs.db").count_failed() == 0


def test_doctests_are_collected():
    import curvewise.stats.distribution as module

    assert len([t for t in doctest.DocTestFinder().find(module) if t.examples]) >= 4
