"""The command `compare-versions`: its exit status, its files, and what the API returns."""

import json

import numpy as np
import pytest

import curvewise as cw

SHIFTS = {"fine": 0.0, "bad": -30.0, "close": -5.0}


def written(path, shift, *, n=10, seed=0, names=("ppo", "sac"), column="return"):
    rng = np.random.default_rng(seed)
    lines = [f"agent,env,seed,{column}"]
    lines += [
        f"{name},Hopper,{i},{100 + shift + 3 * rng.normal()}"
        for name in names
        for i in range(n)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def base(tmp_path):
    return written(tmp_path / "base.csv", 0.0)


@pytest.fixture
def new(tmp_path):
    def make(kind="fine", **more):
        return written(tmp_path / f"{kind}.csv", SHIFTS[kind], seed=1, **more)

    return make


@pytest.fixture
def compared(ran):
    def command(*arguments):
        return ran("compare-versions", *arguments)

    return command


@pytest.mark.parametrize(
    ("kind", "status", "word"),
    [("fine", 0, "no worse"), ("bad", 3, "worse"), ("close", 4, "cannot tell")],
)
def test_the_exit_status_is_the_verdict(base, new, compared, kind, status, word):
    done = compared(base, new(kind), "--margin", "5%")
    assert done.exit_code == status, done.output
    assert done.stdout.startswith(f"{word}: ")


def test_it_prints_what_the_api_returns(base, new, compared):
    other = new()
    done = compared(base, other)
    answer = cw.compare_versions(cw.read(base), cw.read(other))
    assert done.stdout == f"{answer}\n"


def test_every_option_reaches_the_api(base, new, compared):
    done = compared(
        *(base, new(), "--metric", "return", "--margin", 2.5, "--confidence", 0.9),
        *("--at", "best", "--failed", -9, "--no-paired", "--looks", 2, "--json"),
    )
    told = json.loads(done.stdout)
    assert told["provenance"]["settings"] == {
        "metric": "return",
        "margin": 2.5,
        "at": "best",
        "failed": -9.0,
        "confidence": 0.9,
        "paired": False,
        "looks": 2,
    }
    assert told["verdict"] == "no worse"
    paired = json.loads(compared(base, new(), "--paired", "--json").stdout)
    assert paired["rows"][0]["paired"] is True


def test_columns_are_those_of_both_files(tmp_path, compared):
    base = written(tmp_path / "a.csv", 0, column="r_x")
    new = written(tmp_path / "b.csv", 9, column="r_x", seed=1)
    done = compared(base, new, "--metrics", "r_x=lower", "--margin", 1)
    assert done.exit_code == 3, done.output
    assert "r_x" in done.stdout


def test_files_are_written_in_the_language_of_their_names(
    tmp_path, base, new, compared
):
    files = [tmp_path / name for name in ("c.md", "v.json", "t.txt")]
    asked = [part for path in files for part in ("-o", path)]
    done = compared(base, new("bad"), *asked)
    assert done.exit_code == 3
    comment, verdict, text = (path.read_text() for path in files)
    assert comment.startswith("### curvewise: worse\n\nworse: 2 of 2 comparisons")
    assert json.loads(verdict)["verdict"] == "worse"
    assert text == done.stdout
    assert compared(base, new("bad"), "--markdown").stdout == comment
    assert compared(base, new("bad"), "--json").stdout == verdict


def test_a_file_that_cannot_be_written_is_an_error(tmp_path, base, new, compared):
    done = compared(base, new(), "-o", tmp_path / "none" / "c.md")
    assert done.exit_code == 1
    assert "curvewise: " in done.stderr
    assert "Traceback" not in done.output
    assert done.stdout.startswith("no worse: ")


def test_two_languages_at_once_are_wrong_usage(base, new, compared):
    done = compared(base, new(), "--json", "--markdown")
    assert done.exit_code == 2
    assert "--json or --markdown, not both" in done.stderr


def test_the_same_file_twice_is_said_and_never_worse(base, compared):
    done = compared(base, base)
    assert done.exit_code == 0
    assert "BASE and NEW hold the same trials" in done.stdout


def test_failed_trials_name_the_option(base, new, compared):
    path = new()
    path.write_text(path.read_text() + "ppo,Hopper,99,nan\n")
    done = compared(base, path)
    assert done.exit_code == 1
    assert "'new: ppo', 99)" in done.stderr
    assert "--failed worst" in done.stderr
    done = compared(base, path, "--failed", "worst")
    assert done.exit_code in (0, 4)
    assert "1 failed trial counted" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--margin", "x"), "margin is 'x'"),
        (("--metric", "loss"), "BASE: There is no metric 'loss'"),
        (("--looks", "0"), "looks is 0"),
        (("--confidence", "7"), "confidence is 7"),
    ],
)
def test_errors_are_one_line_and_status_1(base, new, compared, arguments, message):
    done = compared(base, new(), *arguments)
    assert done.exit_code == 1
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_a_file_that_is_not_there_is_an_error(tmp_path, base, compared):
    done = compared(base, tmp_path / "none.csv")
    assert done.exit_code == 1
    assert "none.csv" in done.stderr


def test_pairs_that_are_not_there_name_the_option(tmp_path, base, new, compared):
    path = new()
    path.write_text(path.read_text().replace(",Hopper,", ",Hopper,1000"))
    done = compared(base, path, "--paired")
    assert done.exit_code == 1
    assert "Leave --paired out" in done.stderr


def test_help_says_what_the_status_means(compared, ran):
    text = compared("--help").output
    for line in ("0  no worse than the margin", "3  worse", "4  cannot tell"):
        assert line in text
    assert "Example:" in text
    assert "--runs" not in text  # one table of runs cannot be that of two versions
    whole = ran("--help").output
    assert "compare-versions" in whole
    assert "4 cannot tell" in " ".join(whole.split())


def test_an_error_says_which_version_cannot_be_read(tmp_path, base, new, compared):
    path = new()
    path.write_text(path.read_text().replace("seed", "fold", 1))
    done = compared(base, path, "--trial", "seed")
    assert done.exit_code == 1
    assert "curvewise: NEW: There is no column 'seed'" in done.stderr
    assert "read with the same options" in done.stderr
    done = compared(tmp_path / "none.csv", path)
    assert "curvewise: BASE: There is no file" in done.stderr
    assert "same options" not in done.stderr
