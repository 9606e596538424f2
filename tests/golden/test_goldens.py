"""What came out before comes out now: numbers bit for bit, texts word for word."""

import shutil

import golden_stores
import goldens as of_goldens
import numpy as np
import pytest
from commands import commands
from golden_cases import CASES, FOREIGN, asked, expressions
from golden_stores import KEPT, PLANS, QUIET, STORES, table
from goldens import Case, Goldens, Shown

import curvewise as cw

WHOLE = ("own-functions", "zoo-experiment", "piater1998-levels", "xue2025-tables")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_same_comes_out(case, goldens):
    goldens.check(case, case.make())


def test_every_file_is_of_a_case(goldens):
    assert goldens.orphans(CASES) == []


def test_every_command_is_asked_and_every_record_read():
    assert {line.split()[0] for line in asked("commands")} == set(commands())
    read = {name.split("/")[0] for name in asked("records")}
    assert read == {path.name for path in FOREIGN.iterdir()}


@pytest.mark.parametrize("file", ["answers", "headlines", "printed", "refusals"])
def test_nothing_is_asked_in_the_place_of_another(file):
    titles = [title for title, _ in expressions(file)]
    assert len(titles) == len(set(titles)) > 1


# --- stores that were left half finished: that they go on is a case of each ---------------


@pytest.mark.parametrize("name", WHOLE)
def test_a_run_that_nobody_stops_has_the_same_table(name, goldens):
    trials = cw.run(PLANS[name](), **QUIET)
    assert not goldens.check_numbers(f"stores/{name}", table(trials))


@pytest.mark.parametrize("name", [name for name in PLANS if name in KEPT])
def test_what_a_store_has_is_replayed(name, tmp_path):
    path = shutil.copy(STORES / f"{name}.db", tmp_path)
    experiment = PLANS[name]()
    for task in KEPT[name]:
        for algorithm in experiment.algorithms:
            again = cw.replay(experiment, path, task, algorithm.name, 0)
            assert again.agrees, str(again)


def test_a_store_of_something_else_is_refused(tmp_path, monkeypatch):
    path = shutil.copy(STORES / "own-functions.db", tmp_path)
    monkeypatch.setattr(golden_stores, "OFFSET", 0.5)
    with pytest.raises(cw.CurvewiseError) as problem:
        cw.run(PLANS["own-functions"](), store=path, **QUIET)
    assert "OFFSET = 0.5" in str(problem.value)


# --- a comparison that cannot fail says nothing ------------------------------------------

CASE = Case("a/case", print)
NUMBERS = {"rows": [{"name": "net", "mean": 0.1, "n": 3, "lost": float("nan")}]}
SHOWN = Shown({"str": "net is ahead"}, NUMBERS)


def with_mean(value):
    return Shown(SHOWN.texts, {"rows": [NUMBERS["rows"][0] | {"mean": value}]})


@pytest.fixture
def made(tmp_path):
    """The goldens of one case."""
    Goldens(tmp_path, is_approving=True, is_adding=True).check(CASE, SHOWN)
    goldens = Goldens(tmp_path, is_adding=False)
    goldens.check(CASE, SHOWN)
    return goldens


@pytest.mark.parametrize(
    ("shown", "says"),
    [
        (
            with_mean(float(np.nextafter(0.1, 1))),
            ".rows[0].mean: 0.1 became 0.10000000",
        ),
        (with_mean(0), ".rows[0].mean: 0.1 became 0"),
        (with_mean(None), ".rows[0].mean: 0.1 became None"),
        (Shown(SHOWN.texts, {"rows": NUMBERS["rows"] * 2}), "1 values became 2"),
        (Shown(SHOWN.texts, {"rows": [{"name": "net"}]}), "became ['name']"),
        (Shown({"str": "net is behind"}, NUMBERS), "-net is ahead\n+net is behind"),
        (Shown({"repr": "net is ahead"}, NUMBERS), "+======== repr"),
        (Shown(SHOWN.texts, None), "a/case"),
    ],
)
def test_what_changed_is_said(made, shown, says):
    with pytest.raises(AssertionError) as failure:
        made.check(CASE, shown)
    assert says in str(failure.value)


@pytest.mark.parametrize("file", ["texts/a/case.txt", "numbers/a/case.json"])
def test_a_file_that_is_gone_is_missed(made, file):
    (made.folder / file).unlink()
    with pytest.raises(AssertionError) as failure:
        made.check(CASE, SHOWN)
    assert f"There is no {made.folder / file}" in str(failure.value)


def test_files_of_no_case_are_found_and_approval_removes_texts_only(made):
    for file in ("texts/old.txt", "numbers/a/old.json"):
        (made.folder / file).write_text("")
    assert {path.name for path in made.orphans([CASE])} == {"old.txt", "old.json"}
    approving = Goldens(made.folder, is_approving=True)
    assert {path.name for path in approving.orphans([CASE])} == {"old.json"}
    assert (made.folder / "texts/a/case.txt").exists()


def test_approval_rewrites_texts_and_never_numbers(made):
    numbers = made.folder / "numbers/a/case.json"
    before = numbers.read_bytes()
    writing = Goldens(made.folder, is_approving=True, is_adding=True)
    with pytest.raises(AssertionError):
        writing.check(CASE, with_mean(0.2))
    assert numbers.read_bytes() == before
    writing.check(CASE, Shown({"str": "net is behind"}, NUMBERS))
    made.check(CASE, Shown({"str": "net is behind"}, NUMBERS))


def test_other_arithmetic_is_held_to_nine_digits(made, monkeypatch):
    monkeypatch.setattr(of_goldens, "canary", lambda: "another machine")
    made.check(CASE, with_mean(0.1 * (1 + 1e-10)))
    with pytest.raises(AssertionError):
        made.check(CASE, with_mean(0.1 * (1 + 1e-8)))


def test_a_sentence_among_numbers_is_text(made):
    shown = Shown({}, {"rows": [{"do": "Run more trials of each.", "n": 1}]})
    case = Case("b/case", print)
    Goldens(made.folder, is_approving=True, is_adding=True).check(case, shown)
    assert "Run" not in (made.folder / "numbers/b/case.json").read_text()
    assert ".rows[0].do: Run more" in (made.folder / "texts/b/case.txt").read_text()
