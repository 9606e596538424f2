"""The command `difference`: what the Python API returns, and options as they are typed."""

import json

import pytest
from click.testing import CliRunner

import curvewise as cw
from curvewise.cli import main
from curvewise.examples import example_text


def ran(*arguments):
    return CliRunner().invoke(main, ["difference", *map(str, arguments)])


@pytest.fixture
def curves(tmp_path):
    path = tmp_path / "curves.csv"
    path.write_text(example_text("curves"))
    return path


def test_it_prints_what_the_api_returns(curves):
    done = ran(curves, "--metric", "return")
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{cw.difference(cw.read(curves), 'return')}\n"
    assert "They still differ at step" in done.stdout


def test_every_option_reaches_the_api(curves):
    done = ran(
        *(curves, "--grid", 12, "--fill", "last", "--windows", 6, "--margin", 30),
        *("--failed", "worst", "--level", 0.1, "--null", "joint", "--noise", "equal"),
        *("--shuffles", 499, "--seed", 7, "--json"),
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["provenance"]
    assert told["seed"] == 7
    assert told["settings"] == {
        "metric": "return",
        "grid": 12,
        "fill": "last",
        "windows": 6,
        "margin": 30.0,
        "failed": "worst",
        "level": 0.1,
        "null": "joint",
        "noise": "equal",
        "shuffles": 499,
        "exact": None,
    }


def test_uneven_logs_are_told_with_options(curves):
    lines = curves.read_text().splitlines()
    curves.write_text("\n".join(lines[:-2]) + "\n")  # one run ends early
    done = ran(curves)
    assert done.exit_code == 1
    assert "The lines have different steps: 19 to 21" in done.stderr
    assert "--fill linear" in done.stderr
    assert "--grid" in done.stderr
    assert "Traceback" not in done.output
    done = ran(curves, "--grid", 10)
    assert done.exit_code == 0
    assert "interpolated linearly" in done.stdout


def test_a_failed_run_shows_in_the_exit_status(curves):
    lines = curves.read_text().splitlines()
    lines[-1] = lines[-1].rpartition(",")[0] + ",nan"
    curves.write_text("\n".join(lines) + "\n")
    assert "--failed worst" in ran(curves).stderr
    assert ran(curves, "--failed", 0).exit_code == 3


def test_help_teaches():
    text = ran("--help").stdout
    assert "Do these learning curves differ, and where?" in text
    assert "curvewise difference curves.csv --metric return" in text
    assert "choose before" in " ".join(text.split())
