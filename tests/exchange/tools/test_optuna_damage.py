"""Optuna's storages that are torn, damaged, busy, or somebody else's."""

import json
import re
import sqlite3
import threading

import numpy as np
import pytest
from folder_runs import asked, omitted
from optuna_files import NEW, copied, curve, read

from curvewise import CurvewiseError

# --- journals that are damaged -----------------------------------------------------------


def journal(tmp_path, change, name="search.log"):
    """Return a copy of a journal with its lines changed."""
    lines = (NEW / name).read_bytes().splitlines(keepends=True)
    path = tmp_path / "journal.txt"
    path.write_bytes(b"".join(change(lines)))
    return path


def test_a_journal_is_recognised_whatever_its_name(tmp_path):
    path = journal(tmp_path, lambda lines: lines)
    assert list(read(path)[0]) == list(read(NEW / "search.log")[0])


@pytest.mark.parametrize("missing", [1, 20, 60])
def test_a_torn_last_line_ends_the_journal(tmp_path, missing):
    path = journal(tmp_path, lambda lines: [*lines[:-1], lines[-1][:-missing]])
    trials, said = read(path)
    whole = missing == 1  # only the end of the line is missing
    assert len(trials) == 11 - (not whole)
    torn = [text for text in said if "is not whole" in text]
    assert len(torn) == (not whole)


def test_a_line_of_garbage_ends_the_journal_and_says_how_much_is_behind(tmp_path):
    total = len((NEW / "search.log").read_bytes().splitlines())
    path = journal(tmp_path, lambda lines: [*lines[:40], b"\0\xff?\n", *lines[41:]])
    trials, said = read(path)
    assert 0 < len(trials) < 11
    text = next(text for text in said if "line 41 cannot be read" in text)
    assert f"{total - 41} lines behind it" in text
    before, _ = read(NEW / "search.log")
    assert trials[0] == before[0]


@pytest.mark.parametrize(
    "line",
    [
        b"[1, 2]\n",
        b'{"op_code": 5, "trial_id": 0}\n',
        b'{"op_code": 6, "trial_id": 0, "state": 99, "values": null}\n',
        b'{"op_code": 6, "trial_id": 0, "state": 1, "values": ["high"]}\n',
        b'{"op_code": 7, "trial_id": 0, "step": 1, "intermediate_value": null}\n',
        b'{"worker_id": 1}\n',
        b"[" * 100_000 + b"\n",
    ],
    ids=["list", "no-param", "odd-state", "text", "null", "no-operation", "deep"],
)
def test_lines_that_are_json_and_nonsense_are_damage_too(tmp_path, line):
    begin = (NEW / "search.log").read_bytes().splitlines(keepends=True)[:5]
    path = tmp_path / "journal.log"
    path.write_bytes(b"".join([*begin, line, *begin[1:]]))
    _, said = read(path)
    assert re.search(r"line 6 .* 4 lines", said[0])


def test_operations_that_we_do_not_know_are_counted(tmp_path):
    path = journal(tmp_path, lambda lines: [*lines, b'{"op_code": 77}\n'])
    assert len(read(path)[0]) == 11
    assert omitted(path) == [(1, "line", ())]


def test_a_journal_plays_by_optunas_rules(tmp_path):
    def log(code, **rest):
        return json.dumps({"op_code": code, "worker_id": "w", **rest}) + "\n"

    x = '{"name": "FloatDistribution", "attributes": {"low": 0, "high": 1, "log": false}}'
    y = '{"name": "CategoricalDistribution", "attributes": {"choices": ["a", "b"]}}'
    lines = [
        log(0, study_name="s", directions=[1]),
        log(0, study_name="s", directions=[2]),  # it exists: ignored
        log(4, study_id=7, datetime_start=None),  # of no study: ignored
        log(4, study_id=0, datetime_start="2026-01-01T00:00:00"),
        log(4, study_id=0, datetime_start="2026-01-01T00:00:00", state=4),
        log(5, trial_id=0, param_name="x", param_value_internal=0.5, distribution=x),
        log(5, trial_id=1, param_name="x", param_value_internal=1, distribution=y),
        log(7, trial_id=0, step=3, intermediate_value=9.0),
        log(7, trial_id=0, step=3, intermediate_value=8.0),
        log(
            6,
            trial_id=0,
            state=1,
            values=[7.0],
            datetime_complete="2026-01-01T00:00:09",
        ),
        log(6, trial_id=0, state=3, values=None),  # it has ended: ignored
        log(8, trial_id=0, user_attr={"late": 1}),
        log(8, trial_id=99, user_attr={"nobody's": 1}),
        log(10, study_id=0),
    ]
    path = tmp_path / "rules.log"
    path.write_text("".join(lines))
    trials, said = read(path)
    done, waiting = trials
    assert trials.metrics["value"].direction == "lower"
    assert (done.status, done.seconds) == ("ok", 9.0)
    assert done.params == {"x": 0.5}
    assert waiting.params == {}  # drawn from something else than before: refused
    assert done.labels == {"run": "s/0", "state": "COMPLETE"}
    assert curve(done, "intermediate") == {3.0: 8.0}
    assert curve(done, "value") == {3.0: 7.0}
    assert len(said) == 1
    assert "had not ended" in said[0]


def test_a_journal_without_trials_is_an_error_that_says_so(tmp_path):
    path = journal(tmp_path, lambda lines: lines[:1])
    assert asked(path).argument == "source"
    ((n, what, _),) = omitted(path)
    assert (n, what) == (1, "study")


def test_an_empty_file_is_refused(tmp_path):
    path = tmp_path / "study.db"
    path.touch()
    with pytest.raises(CurvewiseError, match=r"study\.db is empty"):
        read(path)


# --- databases that are damaged, busy, or somebody else's --------------------------------


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_database_that_was_cut_short_is_damaged(tmp_path, share):
    path = copied("search.db", tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(CurvewiseError, match="is damaged"):
        read(path)


def test_somebody_elses_database_is_not_taken_for_optunas(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE trials (id INTEGER)")
    with pytest.raises(CurvewiseError) as said:
        read(path)
    assert "Optuna" not in str(said.value)
    with pytest.raises(CurvewiseError):
        read(path, tool="optuna")


def test_a_database_without_its_columns_is_of_an_unknown_version(tmp_path):
    path = tmp_path / "future.db"
    with sqlite3.connect(path) as database:
        for table in ("studies", "trials", "trial_params"):
            database.execute(f"CREATE TABLE {table} (something INTEGER)")
    refusal = asked(path)
    assert (refusal.argument, refusal.value) == ("source", path)


def test_texts_where_numbers_belong_are_damage(tmp_path):
    path = copied("search.db", tmp_path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE trial_values SET value = 'much' WHERE trial_id = 1")
    assert "much" in str(asked(path))
    with sqlite3.connect(path) as database:
        database.execute("UPDATE trial_values SET value = 1 WHERE trial_id = 1")
        database.execute("UPDATE trial_params SET param_value = 'x' WHERE trial_id = 1")
    assert "'x'" in str(asked(path))


def test_odd_rows_are_kept_or_counted(tmp_path):
    path = copied("search.db", tmp_path)
    odd = '{"name": "NewDistribution", "attributes": {}}'
    with sqlite3.connect(path) as database:
        database.executemany(
            "UPDATE trial_params SET distribution_json = ? "
            "WHERE trial_id = 1 AND param_name = ?",
            [(odd, "rate"), ("{", "layers")],
        )
        database.execute("UPDATE trials SET study_id = 99 WHERE trial_id = 2")
        database.execute("UPDATE trials SET datetime_start = 'noon' WHERE trial_id = 1")
        database.execute(
            "UPDATE trial_params SET param_value = 17 WHERE trial_id = 1 "
            "AND param_name = 'optimizer'"
        )
        database.execute(
            "INSERT INTO trial_user_attributes (trial_id, key, value_json) "
            "VALUES (1, 'bare', 'no json')"
        )
        database.execute("UPDATE trials SET number = NULL WHERE trial_id = 3")
        database.execute(
            "INSERT INTO study_system_attributes (study_id, key, value_json) "
            "VALUES (1, 'study:metric_names', '[[]]')"
        )
        database.execute(
            "INSERT INTO trial_values (trial_id, objective, value, value_type) "
            "VALUES (1, 5, 0.5, 'FINITE')"
        )
    trials, said = read(path)
    assert len(trials) == 21
    assert trials[0].params["rate"] == pytest.approx(0.000466, abs=1e-5)
    assert trials[0].params["layers"] == 3.0
    assert "optimizer" not in trials[0].params
    assert trials[0].labels["user_attrs.bare"] == "no json"
    assert np.isnan(trials[0].seconds)
    # Trial 1 of the study has lost it; the number of trial 2 is counted.
    assert [t.labels["run"] for t in trials][:3] == ["random/0", "random/1", "random/3"]
    for text in (
        "'rate' was drawn from something that is not known here",
        "1 run of studies that are not there any more",
        "of trials that are not there",
        "1 value of objectives that their study does not have",
    ):
        assert any(text in one for one in said), text


def test_the_notebook_of_a_sampler_is_left_out_and_counted(tmp_path):
    path = copied("search.db", tmp_path)
    rows = [(1, f"cma:state:{i}", json.dumps("f" * 600)) for i in range(3)]
    rows += [(2, f"step {i}", "1") for i in range(300)]
    with sqlite3.connect(path) as database:
        database.executemany(
            "INSERT INTO trial_system_attributes (trial_id, key, value_json) "
            "VALUES (?, ?, ?)",
            rows,
        )
    trials, _ = read(path)
    long, rare = omitted(path)
    assert (long[0], long[1], long[2][0]) == (3, "attribute", "cma:state:0")
    assert rare[1] == "attribute"
    assert sum(key.startswith("system_attrs.step") for key in trials[1].labels) > 150


def test_a_database_that_somebody_keeps_for_himself_is_locked(tmp_path, monkeypatch):
    monkeypatch.setattr("curvewise.exchange.tools.files._PATIENCE", 0.05)
    path = copied("search.db", tmp_path)
    database = sqlite3.connect(path)
    database.execute("BEGIN EXCLUSIVE")
    try:
        refusal = asked(path)
        assert (refusal.argument, refusal.value) == ("source", path)
        assert isinstance(refusal.__cause__, sqlite3.OperationalError)
    finally:
        database.close()
    assert len(read(path)[0]) == 22


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_study_that_goes_on_is_read_as_it_is_at_one_moment(tmp_path, mode):
    """A writer adds a trial and its value at once; no trial may come without."""
    path = copied("search.db", tmp_path)
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA journal_mode = {mode}")
    done = threading.Event()

    def write():
        writer = sqlite3.connect(path, timeout=30, isolation_level=None)
        writer.execute("PRAGMA synchronous = OFF")
        while not done.is_set():
            writer.execute("BEGIN IMMEDIATE")
            trial = writer.execute(
                "INSERT INTO trials (number, study_id, state) VALUES (99, 1, 'COMPLETE')"
            ).lastrowid
            for table, column, kind in (
                ("trial_values", "objective", "value"),
                ("trial_intermediate_values", "step", "intermediate_value"),
            ):
                writer.execute(
                    f"INSERT INTO {table} (trial_id, {column}, {kind}, {kind}_type) "
                    f"VALUES (?, 0, -1, 'FINITE')",
                    (trial,),
                )
            writer.execute("COMMIT")
            done.wait(0.01)
        writer.close()

    writing = threading.Thread(target=write)
    writing.start()
    sizes = []
    try:
        # At least six looks, and as many as a slow writer needs to be seen at work.
        while len(sizes) < 6 or (sizes[-1] == sizes[0] and len(sizes) < 500):
            trials, _ = read(path)
            sizes.append(len(trials))
            new = [t for t in trials if t.algorithm == "random"][11:]
            assert all(len(curve(t, "value")) == 1 for t in new)
            assert all(len(curve(t, "intermediate")) == 1 for t in new)
    finally:
        done.set()
        writing.join()
    assert sizes[-1] > sizes[0]
    assert sizes == sorted(sizes)


# --- half characters ---------------------------------------------------------------------


def test_half_a_character_in_a_journal_is_no_crash(tmp_path):
    def change(lines):
        name = b'"study_name":"'
        return [line.replace(name, name + b"\\ud800") for line in lines]

    trials, _ = read(journal(tmp_path, change))
    before, _ = read(NEW / "search.log")
    assert trials.algorithms == tuple(f"?{name}" for name in before.algorithms)
    assert len(trials) == len(before)


def test_half_a_character_in_a_database_is_no_damage(tmp_path):
    path = copied("search.db", tmp_path)
    with sqlite3.connect(path) as database:
        database.execute(
            "INSERT INTO trial_user_attributes (trial_id, key, value_json) "
            "SELECT trial_id, 'half', ? FROM trials",
            (json.dumps("a\ud800"),),
        )
    trials, _ = read(path)
    assert {trial.labels["user_attrs.half"] for trial in trials} == {"a?"}


def test_a_storage_in_which_nothing_has_begun_is_said_to_be_empty(tmp_path):
    path = copied("search.db", tmp_path)
    with sqlite3.connect(path) as database:
        for (table,) in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            database.execute(f"DELETE FROM {table}")
    assert asked(path).argument == "source"
    assert omitted(path) == []
