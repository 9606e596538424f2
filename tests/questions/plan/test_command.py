import json

import pytest
from click.testing import CliRunner

import curvewise as cw
from curvewise.cli import Group
from curvewise.examples import example_text
from curvewise.questions import plan as planning
from curvewise.questions.difference.command import difference
from curvewise.questions.plan.command import plan

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


@pytest.mark.slow
def test_power_prints_what_the_api_returns(curves, monkeypatch):
    monkeypatch.setattr("curvewise.questions.plan.line_plan.SIMULATIONS", 100)
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
    options = ("--effect", "interaction", "--stretch", 1.3)
    done = invoked(curves, "--power", 0.8, *options)
    expected = planning.lines(cw.read(curves), effect="interaction", stretch=1.3)
    assert done.stdout == f"{expected}\n"
    done = invoked(curves, "--power", 0.8, "--effect", "interaction", "--shift", 9)
    assert done.exit_code == 1
    assert "Pass --stretch, or --effect algorithm." in done.stderr


def test_curves_come_on_steps_as_for_a_difference():
    def told(command):
        found = {p.name: p for p in command.params}
        return [found[name].to_info_dict() for name in ("grid", "fill")]

    assert told(plan) == told(difference)
    done = invoked("x.csv", "--power", 0.8, "--fill", "x")
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("question", "stray", "goes_with"),
    [
        *(
            (question, stray, "--power")
            for question in (("--half-width", 0.1), ("--trials", 9), ("--top", 0.1))
            for stray in (
                ("--effect", "either"),
                ("--shift", 1),
                ("--stretch", 1.1),
                ("--level", 0.05),
                ("--grid", 9),
                ("--fill", "last"),
                ("--seed", 0),
            )
        ),
        *(
            (question, stray, "--half-width")
            for question in (("x.csv", "--power", 0.8), ("--trials", 9), ("--top", 0.1))
            for stray in (
                ("--of", "band"),
                ("--alpha", 0.5),
                ("--tail", "upper"),
                ("--at", "last"),
                ("--family",),
                ("--band", "dkw"),
            )
        ),
        *(
            (("--trials", 9), stray, "--half-width or --power")
            for stray in (
                ("--metric", "x"),
                ("--failed", "worst"),
                ("--runs", "y.csv"),
                ("--task", "t"),
            )
        ),
        (
            ("x.csv", "--power", 0.8),
            ("--confidence", 0.95),
            "--half-width or --trials or --top",
        ),
    ],
)
def test_options_of_another_question_are_refused(question, stray, goes_with):
    done = invoked(*question, *stray)
    assert done.exit_code == 2
    words = f"{stray[0]} goes with {goes_with}. Leave it out."
    assert words in " ".join(done.stderr.split())


def test_every_option_has_its_questions():
    """A new option that some question ignores is to be named with those that take it."""
    from curvewise.questions.plan.command import _ANY, _GOES_WITH

    names = {parameter.name for parameter in plan.params}
    assert set(_GOES_WITH) <= names
    assert names - set(_GOES_WITH) == {"source", "as_json", *_ANY}


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ((), 2, "Pass one of --half-width, --power, --trials and --top."),
        (("--half-width", 1, "--top", 0.1), 2, "Pass one of --half-width, --power"),
        (("x.csv", "--trials", 10), 2, "SOURCE goes with --half-width or --power."),
        (("--power", 0.8), 2, "--power takes a pilot: pass SOURCE, a few runs of each"),
        (
            ("--half-width", 0.1, "--of", "mean", "--task", "t"),
            2,
            "--task says how SOURCE is read. Pass SOURCE, or leave it out.",
        ),
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
