import json

import pytest
from click.testing import CliRunner

import curvewise as cw
from curvewise.analyses import plan as planning
from curvewise.cli import Group
from curvewise.cli.plan import plan
from curvewise.examples import example_text

COMMANDS = Group(commands={"plan": plan})


def invoked(*arguments):
    return CliRunner().invoke(COMMANDS, ["plan", *map(str, arguments)])


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(example_text("search"))
    return path


def test_a_half_width_prints_what_the_api_returns():
    done = invoked("--half-width", 0.05)
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{planning.trials(0.05)}\n"
    assert "731" in done.stdout


def test_a_pilot_prints_what_the_api_returns(results):
    arguments = (
        *(results, "--metric", "accuracy", "--failed", "worst", "--of", "cvar"),
        *("--alpha", 0.5, "--half-width", 0.02),
    )
    done = invoked(*arguments)
    assert done.exit_code == 3, done.output  # some trials of the pilot failed
    expected = planning.trials(
        0.02, of="cvar", pilot=cw.read(results), metric="accuracy", failed="worst"
    )
    assert done.stdout == f"{expected}\n"
    done = invoked(*arguments, "--json", "--tail", "lower", "--family", "--band", "dkw")
    content = json.loads(done.stdout)
    settings = content["provenance"]["settings"]
    assert (settings["tail"], settings["family"], settings["band"]) == (
        *("lower", True, "dkw"),
    )
    assert len(content["rows"]) == 6


def test_without_a_pilot_a_metric_is_enough():
    done = invoked("--half-width", 0.05, "--of", "mean", "--metric", "accuracy")
    assert "731" in done.stdout
    done = invoked("--half-width", 0.05, "--of", "mean")
    assert done.exit_code == 1
    assert "curvewise: No metric is given" in done.stderr
    assert "--metric accuracy" in done.stderr


def test_trials_say_what_they_can_tell():
    done = invoked("--trials", 200, "--confidence", 0.9)
    assert done.stdout == f"{planning.tell(200, confidence=0.9)}\n"


def test_the_top():
    assert invoked("--top", 0.05).stdout == f"{planning.top(0.05)}\n"


@pytest.fixture
def curves(tmp_path):
    path = tmp_path / "curves.csv"
    text = example_text("curves").splitlines()
    kept = [
        line for line in text[1:] if line.startswith("hill") and ",early," not in line
    ]
    path.write_text("\n".join([text[0], *kept]) + "\n")
    return path


def test_power_prints_what_the_api_returns(curves):
    done = invoked(curves, "--power", 0.8, "--shift", 50)
    assert done.exit_code == 0, done.output
    expected = planning.lines(cw.read(curves), shift=50)
    assert done.stdout == f"{expected}\n"
    assert "lines for 0.8" in done.stdout
    options = ("--effect", "either", "--level", 0.01, "--grid", 6, "--fill", "last")
    done = invoked(curves, "--power", 0.9, "--seed", 3, *options, "--json")
    content = json.loads(done.stdout)
    settings = content["provenance"]["settings"]
    asked = ("power", "effect", "level", "grid", "fill", "shift")
    assert [settings[name] for name in asked] == [0.9, "either", 0.01, 6, "last", None]
    assert content["provenance"]["seed"] == 3


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ((), 2, "Pass one of --half-width, --power, --trials and --top."),
        (("--half-width", 1, "--top", 0.1), 2, "Pass one of --half-width, --power"),
        (("x.csv", "--trials", 10), 2, "SOURCE goes with --half-width or --power."),
        (("--power", 0.8), 2, "--power takes a pilot: pass SOURCE, a few runs of each"),
        (("--trials", 9, "--shift", 1), 2, "--shift goes with --power. Leave it out."),
        (("--top", 0.1, "--grid", 9), 2, "--grid goes with --power. Leave it out."),
        (("--power", 1), 2, "is not in the range 0<x<1"),
        (("x.csv", "--power", 0.8), 1, "x.csv"),
        (
            ("x.csv", "--half-width", 0.1),
            1,
            "Leave SOURCE out, or pass --of mean, cvar",
        ),
        (("x.csv", "--half-width", 0.1, "--of", "mean"), 1, "x.csv"),
        (("--half-width", 0), 2, "0 is not in the range x>0"),
        (("--half-width", 2), 1, "half_width is 2. Pass one below 1"),
        (("--top", 2), 2, "is not in the range 0<x<1"),
        (("--trials", 0), 2, "0 is not in the range x>=1"),
    ],
)
def test_what_cannot_be_planned_says_so(arguments, status, words):
    done = invoked(*arguments)
    assert done.exit_code == status
    assert words in " ".join(done.stderr.split())
