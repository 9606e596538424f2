"""The command `explain`: what the Python API returns, in words that can be typed."""

import json
import shlex
from dataclasses import replace

import pytest
from click.testing import CliRunner

import curvewise as cw
from curvewise.cli import main
from curvewise.examples import example_text
from curvewise.questions.explain.command import typed


@pytest.fixture(params=["search", "curves", "counts"])
def file(request, tmp_path):
    path = tmp_path / f"{request.param}.csv"
    path.write_text(example_text(request.param))
    return path


def words(text):
    return " ".join(text.split())


def test_it_prints_what_the_api_returns(file, ran):
    done = ran("explain", file)
    assert done.exit_code == 0, done.output
    answer = cw.explain(cw.read(file), source=file)
    shown = words(done.stdout)
    assert shown.startswith(words(answer.headline()))
    for one in answer.questions:
        assert words(f"{one.can}: {one.question}") in shown
        assert words(one.found) in shown
        assert one.command in done.stdout


def commands(output):
    return [
        shlex.split(line.removeprefix("  ask:   "))
        for line in output.splitlines()
        if line.startswith("  ask:   curvewise ")
    ]


def test_its_commands_run(file, ran, monkeypatch):
    from curvewise.questions.plan import line_plan as _line_pilots

    monkeypatch.setattr(_line_pilots, "SIMULATIONS", 100)
    asked = commands(ran("explain", file).stdout)
    assert len(asked) >= 2
    for name, *rest in asked:
        assert name == "curvewise"
        if "--power" in rest and file.stem == "curves":
            continue  # simulations for six pairs
        done = ran(*rest)
        assert done.exit_code in (0, 3), done.output


def test_how_a_file_is_read_goes_into_its_commands(tmp_path, ran):
    path = tmp_path / "my results.csv"
    rows = [f"{m},{r},{90 + r},{80 - r}" for m in ("a", "b") for r in range(6)]
    path.write_text("\n".join(["who,run no,right,recall", *rows]))
    options = ["--algorithm", "who", "--trial", "run no", "--metrics", "right=higher"]
    done = ran("explain", path, *options)
    assert done.exit_code == 0, done.output
    (performance, *_) = commands(done.stdout)
    assert performance == [
        *("curvewise", "performance", str(path), *options, "--metric", "right"),
    ]
    assert ran(*performance[1:]).exit_code == 0


def test_keywords_become_options(tmp_path, ran):
    path = tmp_path / "r.csv"
    path.write_text("model,seed,accuracy\na,0,91\na,1,92\nb,0,93\nb,1,94\n")
    done = ran("explain", path)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "--unit percent" in done.stderr
    again = ran("explain", path, "--unit", "percent")
    assert '--pair "a=<it>"' in words(again.stdout)
    assert "\nyes: " in again.stdout
    assert "--unit percent" in again.stdout


def test_json_is_for_machines(file, ran):
    done = ran("explain", file, "--json")
    told = json.loads(done.stdout)
    answer = cw.explain(cw.read(file), source=file)
    keys = ("question", "analysis", "can", "found", "command", "python")
    assert [{k: row[k] for k in keys} for row in told["rows"]] == [
        {k: row[k] for k in keys} for row in answer.rows()
    ]
    assert told["provenance"]["data"] == cw.read(file).digest()


def test_a_metric_can_be_chosen(tmp_path, ran):
    path = tmp_path / "r.csv"
    path.write_text("model,seed,accuracy,loss\na,0,.9,1\na,1,.8,2\n")
    assert "--metric loss" in ran("explain", path, "--metric", "loss").stdout
    done = ran("explain", path, "--metric", "los")
    assert done.exit_code == 1
    assert "'loss'" in done.stderr


def test_a_file_that_is_not_there_is_one_line():
    done = CliRunner().invoke(main, ["explain", "nowhere.csv"])
    assert done.exit_code == 1
    assert "Traceback" not in done.output
    assert "nowhere.csv" in done.stderr


def test_a_question_that_was_typed_is_still_frozen():
    one = cw.explain(cw.example("search")).questions[0]
    assert replace(one, why="x").why == "x"
    with pytest.raises(AttributeError):
        one.why = "x"


def test_options_are_typed_as_they_came():
    assert typed("f", on=("a", "b"), runs="r.csv", task=None) == [
        *("f", "--on", "a", "--on", "b", "--runs", "r.csv")
    ]


def test_help_teaches_and_stands_first(ran):
    done = ran("explain", "--help")
    assert "curvewise explain results.csv" in done.output
    shown = ran("--help").output
    assert shown.index("  explain ") < shown.index("  check ")
