import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from commands import commands

import curvewise as cw
from curvewise.cli import main
from curvewise.examples import example_text

SEARCH = example_text("search")


def ran(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(SEARCH)
    return path


@pytest.fixture
def whole(tmp_path):
    """A file in which nothing failed."""
    path = tmp_path / "curves.csv"
    path.write_text(example_text("curves"))
    return path


def test_performance_prints_what_the_api_returns(results, capsys):
    done = ran("performance", results, "--metric", "accuracy", "--failed", "worst")
    answer = cw.performance(cw.read(results), "accuracy", failed="worst")
    assert done.stdout == f"{answer}\n"
    assert "algorithm=model" in done.stderr
    assert done.exit_code == 3


def test_check_prints_what_the_api_returns(whole):
    done = ran("check", whole)
    told = str(cw.check(cw.read(whole)))
    typed = told.replace("metrics={'return': 'higher'}", "--metrics return=higher")
    assert done.stdout == f"{typed}\n"
    assert typed != told  # in a shell the line to type is the shell's
    assert done.exit_code == 0


def test_report_writes_the_page(results, whole, tmp_path):
    done = ran("report", results, "-o", tmp_path / "page.html", "--failed", 0.5)
    assert done.stdout == f"wrote {tmp_path / 'page.html'}\n"
    assert done.exit_code == 3
    assert '<section id="performance-0"' in (tmp_path / "page.html").read_text()
    done = ran("report", whole, "-o", tmp_path / "b.html", "--json")
    assert json.loads(done.stdout) == {"report": str(tmp_path / "b.html")}
    assert done.exit_code == 0


def test_example_prints_a_file_that_can_be_read():
    assert ran("example", "search").stdout == SEARCH


@pytest.mark.parametrize("command", ["check", "performance", "report"])
def test_a_score_that_is_no_number_is_a_failed_trial_to_every_command(
    tmp_path, command
):
    (tmp_path / "r.csv").write_text("model,seed,loss\na,0,nan\na,1,2\na,2,3\n")
    more = [] if command == "check" else ["--failed", 9]
    more += ["-o", tmp_path / "r.html"] if command == "report" else []
    assert ran(command, tmp_path / "r.csv", *more).exit_code == 3


def test_a_report_never_replaces_results(results):
    before = results.read_text()
    done = ran("report", results, "-o", results, "--failed", "worst")
    assert done.exit_code == 1
    assert results.read_text() == before


@pytest.mark.parametrize("command", ["check", "performance"])
def test_json_is_for_machines(results, command):
    more = ["--failed", "worst"] if command == "performance" else []
    done = ran(command, results, "--json", *more)
    content = json.loads(done.stdout)
    assert content["rows"]
    assert content["provenance"]["data"] == cw.read(results).digest()


def test_every_keyword_of_read_can_be_given(tmp_path):
    (tmp_path / "c.csv").write_text("id,t,pts\n1,0,50\n1,1,60\n2,0,70\n2,1,80\n")
    (tmp_path / "r.csv").write_text(
        "id,who,what,rep,eta,end\n1,u,x,0,.1,ok\n2,u,x,1,.2,ok\n"
    )
    done = ran(
        *(
            "performance",
            tmp_path / "c.csv",
            "--runs",
            tmp_path / "r.csv",
            "--on",
            "id",
        ),
        *("--task", "what", "--algorithm", "who", "--trial", "rep", "--step", "t"),
        *("--status", "end", "--metrics", "pts=higher", "--params", "eta"),
        *("--unit", "percent", "--at", "0", "--alpha", "0.4", "--threshold", "0.6"),
        *("--confidence", "0.9", "--json"),
    )
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["task"], row["algorithm"], row["mean"]) == (
        "x",
        "u",
        pytest.approx(0.6),
    )


def test_rows_may_be_runs_of_their_own(tmp_path):
    (tmp_path / "r.csv").write_text("model,size,error\na,25,0.5\na,25,0.4\na,50,0.3\n")
    done = ran("performance", tmp_path / "r.csv", "--at", "25")
    assert "--trial row" in done.stderr
    done = ran(
        "performance", tmp_path / "r.csv", "--at", 25, "--trial", "row", "--json"
    )
    assert json.loads(done.stdout)["rows"][0]["mean"] == pytest.approx(0.45)


def test_an_unknown_direction_is_asked_for_with_the_line_to_type(tmp_path):
    (tmp_path / "r.csv").write_text("model,seed,score\na,0,1.5\na,1,2\nb,0,1\nb,1,3\n")
    done = ran("performance", tmp_path / "r.csv")
    assert done.exit_code == 4
    assert "--metrics score=lower" in done.stderr
    assert "--metrics score=higher" in done.stderr
    assert done.stdout == ""
    for way in ("score=lower", "score=higher", "score=higher:0:5", "score=lower:0:"):
        done = ran("performance", tmp_path / "r.csv", "--metrics", way)
        assert done.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["performance", "nowhere.csv"], "nowhere.csv"),
        (["check", "nowhere.db"], "nowhere.db"),
        (["performance", "RESULTS", "--metric", "acc"], "'accuracy'"),
        (["performance", "RESULTS", "--metric", "seed"], "labels"),
        (["performance", "RESULTS"], "--failed worst"),
        (["performance", "RESULTS", "--failed", "0", "--alpha", "7"], "alpha is 7.0"),
        (["report", "RESULTS", "-o", "."], "folder"),
        (["performance", "RESULTS", "--failed", "bad"], "failed is 'bad'"),
    ],
)
def test_errors_are_one_line_and_status_1(results, arguments, words):
    done = ran(*(results if a == "RESULTS" else a for a in arguments))
    assert done.exit_code == 1
    assert words in done.stderr
    assert "Traceback" not in done.output
    assert done.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [["performance"], ["nonsense"], ["check", "a", "--unit", "x"], ["example", "nope"]],
)
def test_wrong_usage_is_status_2(arguments):
    assert ran(*arguments).exit_code == 2


@pytest.mark.parametrize("command", sorted(commands()))
def test_help_teaches_with_an_example(command):
    done = ran(command, "--help")
    assert done.exit_code == 0
    assert f"curvewise {command}" in done.output
    assert "Example:" in done.output


def test_it_runs_as_a_program(results):
    """In a terminal that knows no Unicode, and with a name that needs it."""
    results.write_text(SEARCH.replace("forest", "森rest"), encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "curvewise",
            "performance",
            results,
            "--failed",
            "worst",
        ],
        capture_output=True,
        text=True,
        encoding="latin-1",
        env=environment,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "?rest" in done.stdout


def test_performance_takes_what_python_takes(ran, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(example_text("search"))
    common = ("performance", path, "--metric", "accuracy", "--failed", "worst")
    wide = ran(*common, "--family", "--no-over-tasks", "--seed", 3)
    assert "all 6 bands" in wide.stdout
    assert "all 2 tasks" not in wide.stdout
    narrow = ran(*common, "--band", "equal_local_levels")
    assert "(equal local levels)" in narrow.stdout
    assert "all 2 tasks" in narrow.stdout
