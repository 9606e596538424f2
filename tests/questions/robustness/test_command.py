"""The command `robustness`: what the Python API returns, and options as they are typed."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import curvewise as cw
from curvewise.questions.robustness import robustness
from curvewise.questions.robustness.command import robustness as command


def ran(*arguments):
    """Run the command in a group that turns errors into lines, as the program does."""
    from curvewise.cli import Group

    group = Group(commands={"robustness": command})
    return CliRunner().invoke(group, ["robustness", *map(str, arguments)])


@pytest.fixture
def results(tmp_path):
    rng = np.random.default_rng(0)
    data = 0.5 + 0.2 * rng.random(30)
    lines = ["model,seed,accuracy"]
    for name, loss in (("svm", 0.3), ("svm tuned", 0.0), ("svm grid", 0.1)):
        lines += [f"{name},{i},{z - loss * rng.random()}" for i, z in enumerate(data)]
    path = tmp_path / "results.csv"
    path.write_text("\n".join(lines))
    return path


def test_it_prints_what_the_api_returns(results):
    done = ran(results, "--metric", "accuracy")
    assert done.exit_code == 0, done.output
    answer = robustness(cw.read(results), "accuracy")
    assert done.stdout == f"{answer}\n"
    assert "svm profits from tuning" in done.stdout


def test_every_option_reaches_the_api(results):
    done = ran(
        *(results, "--pair", "svm=svm grid", "--alpha", 0.75, "--margin", 0.5),
        *("--confidence", 0.9, "--at", "best", "--failed", 0.25, "--json"),
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["rows"][0]["tuned_algorithm"] == "svm grid"
    assert told["provenance"]["settings"] == {
        "metric": "accuracy",
        "pairs": "svm=svm grid",
        "alpha": 0.75,
        "margin": 0.5,
        "at": "best",
        "failed": 0.25,
        "confidence": 0.9,
        "band": "kolmogorov",
    }


def test_failed_trials_show_in_the_exit_status(results):
    results.write_text(results.read_text() + "\nsvm tuned,99,nan\n")
    assert ran(results).exit_code == 1
    assert "--failed worst" in ran(results).stderr
    assert ran(results, "--failed", "worst").exit_code == 3


def test_without_pairs_it_says_how_to_name_them(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("model,seed,loss\na,0,1\na,1,2\nb,0,1\nb,1,3\n")
    done = ran(path)
    assert done.exit_code == 1
    assert "there are 'a', 'b'" in done.stderr
    assert 'pass --pair "a=<its tuned one>"' in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.parametrize("pair", ["svm", "=x", "svm="])
def test_half_a_pair_is_wrong_usage(results, pair):
    done = ran(results, "--pair", pair)
    assert done.exit_code == 2
    assert "is no pair. Write NAME=TUNED" in done.stderr


def test_help_teaches_with_an_example():
    done = ran("--help")
    assert done.exit_code == 0
    assert "curvewise robustness" in done.output
    assert "Example:" in done.output
