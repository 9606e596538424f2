"""The command line withholds what check objects to: status 4, and the line to type."""

import json
import subprocess
import sys

import pytest
import studies

import curvewise as cw

CANNOT_ANSWER = 4


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a study to a file that reads as the same trials."""

    def write(kind):
        path = tmp_path / f"{kind.replace(' ', '-')}.parquet"
        cw.write(studies.STUDIES[kind](), path)
        return str(path)

    return write


def typed(*words):
    """Run the real command line."""
    return subprocess.run(
        [sys.executable, "-m", "curvewise", *words],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_real_command_line_exits_with_its_own_status(written):
    path = written("drift")
    done = typed("performance", path)
    assert done.returncode == CANNOT_ANSWER
    assert done.stdout == ""
    said = [line for line in done.stderr.splitlines() if " read " not in line]
    assert len(said) <= 2
    assert "--anyway" in said[-1]
    done = typed("performance", path, "--anyway", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)["provenance"]["cautions"]
    assert told[0].startswith("Despite: ")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("drift", ["performance"]),
        ("drift", ["robustness"]),
        ("drift", ["plan", "--half-width", "0.1", "--of", "mean"]),
        ("copies", ["difference", "--shuffles", "99"]),
        ("copies", ["plan", "--power", "0.8", "--shift", "0.2"]),
        ("copies of counts", ["learning", "--metric", "error"]),
        ("copies of counts", ["confusion"]),
        ("steps as runs", ["compare-versions"]),
    ],
)
def test_every_command_is_asked_anyway_with_the_same_option(ran, written, kind, words):
    path = written(kind)
    name, *options = words
    sources = [path, path] if name == "compare-versions" else [path]
    blocked = ran(name, *sources, *options)
    assert blocked.exit_code == CANNOT_ANSWER
    assert "--anyway" in blocked.stderr
    answered = ran(name, *sources, *options, "--anyway")
    assert answered.exit_code in (
        0,
        1,
    )  # 1: epochs are no training sizes, whatever is said
    if answered.exit_code == 0:
        assert answered.stdout.startswith("Despite: ")


def test_check_itself_says_so_by_its_status(ran, written):
    assert ran("check", written("drift")).exit_code == CANNOT_ANSWER
    assert ran("check", written("grid")).exit_code == 0
    assert ran("check", written("scores")).exit_code == 0


def test_the_page_is_written_without_what_is_withheld(ran, written, tmp_path):
    page = tmp_path / "page.html"
    path = written("drift")
    assert ran("report", path, "-o", str(page)).exit_code == 0
    assert "Withheld" in page.read_text("utf-8")
    assert ran("report", path, "-o", str(page), "--anyway").exit_code == 0
    assert "Withheld" not in page.read_text("utf-8")


def test_explain_says_how_to_see_it_all_the_same(ran, written):
    told = ran("explain", written("drift"), "--json")
    rows = {row["analysis"]: row for row in json.loads(told.stdout)["rows"]}
    assert rows["performance"]["can"] == "no"
    assert rows["performance"]["command"].endswith("--anyway")
    assert "--anyway" in rows["performance"]["why"]


@pytest.mark.parametrize("name", ["search", "curves", "counts"])
def test_examples_are_never_withheld(ran, tmp_path, name):
    path = tmp_path / f"{name}.csv"
    path.write_text(ran("example", name).stdout)
    assert ran("check", str(path)).exit_code != CANNOT_ANSWER
    rows = json.loads(ran("explain", str(path), "--json").stdout)["rows"]
    assert not any("anyway" in row["python"] for row in rows)
