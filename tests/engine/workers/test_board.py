"""What a worker leaves behind: who was at what, and what it had yielded."""

import os
import pickle
import time

import numpy as np
import pytest

from curvewise.engine.recording import Record
from curvewise.engine.workers import process as module
from curvewise.engine.workers.process import Board, Spool, left_behind


def yielding(number, *values, counts=False):
    record = Record(number)
    record.params, record.labels = {"C": 2}, {"draw": 1}
    for i, value in enumerate(values):
        record.add((i, {"loss": value} | ({"counts": np.eye(2)} if counts else {})))
        yield record


# --- the board -----------------------------------------------------------------------


def test_nobody_is_at_anything_before_a_worker_begins(tmp_path):
    assert Board(tmp_path, 3).read(2) is None


def test_a_worker_says_who_it_is_and_where_and_since_when(tmp_path):
    driver = Board(tmp_path, 3)
    before = time.monotonic_ns()
    Board(tmp_path).at(1, 7)
    notice = driver.read(1)
    assert notice[:2] == (os.getpid(), 7)
    assert before <= notice.since <= time.monotonic_ns()
    assert driver.read(0) is driver.read(2) is None


def test_the_clock_starts_anew_with_each_trial(tmp_path):
    board = Board(tmp_path, 1)
    board.at(0, 0)
    first = board.read(0).since
    board.at(0, 1)
    assert board.read(0).since > first


def test_a_slot_that_was_cleared_is_nobodys(tmp_path):
    board = Board(tmp_path, 1)
    board.at(0, 0)
    board.clear(0)
    assert board.read(0) is None


def test_a_worker_that_dies_between_two_notes_is_not_overdue(tmp_path):
    """While `since` is being written nobody can say since when: so, since now."""
    board = Board(tmp_path, 1)
    board.at(0, 0)
    board._rows[0, 2] = 0
    assert time.monotonic_ns() - board.read(0).since < 1e9


# --- the spool -----------------------------------------------------------------------


@pytest.mark.parametrize("counts", [False, True])
def test_what_was_yielded_is_there_when_the_worker_is_not(tmp_path, counts):
    spool = Spool(tmp_path, 0)
    for record in yielding(4, 3.0, 2.0, 1.0, counts=counts):
        spool.keep(record)
    found = left_behind(tmp_path, 0, 4)
    assert found.since(0)[:5] == record.since(0)[:5]
    assert np.array_equal(found.counts, record.counts)
    spool.close()


def test_the_trial_before_is_forgotten(tmp_path):
    spool = Spool(tmp_path, 0)
    for number in (4, 5):
        for record in yielding(number, float(number)):
            spool.keep(record)
    spool.close()
    assert left_behind(tmp_path, 0, 5).values == {"loss": [5.0]}
    assert left_behind(tmp_path, 0, 4).steps == []


def test_a_choice_before_the_first_step_is_kept(tmp_path):
    spool, record = Spool(tmp_path, 0), Record(1)
    record.add((None, {"chosen": {"C": 3}}))
    spool.keep(record)
    assert left_behind(tmp_path, 0, 1).params == {"C": 3}
    other = Record(2)
    other.add((0, {"loss": 1.0}))
    spool.keep(other)
    spool.close()
    assert left_behind(tmp_path, 0, 1).params == {}  # it is over
    assert left_behind(tmp_path, 0, 2).values == {"loss": [1.0]}


def test_a_trial_that_yielded_nothing_left_nothing(tmp_path):
    Spool(tmp_path, 0).close()
    assert left_behind(tmp_path, 0, 3).steps == []
    assert left_behind(tmp_path, 1, 3).steps == []  # nor did one that never began


def test_slots_have_files_of_their_own(tmp_path):
    spools = [Spool(tmp_path, slot) for slot in (0, 1)]
    for slot, spool in enumerate(spools):
        for record in yielding(7, float(slot)):
            spool.keep(record)
        spool.close()
    assert [left_behind(tmp_path, s, 7).values["loss"] for s in (0, 1)] == [
        [0.0],
        [1.0],
    ]


@pytest.mark.parametrize("counts", [False, True])
def test_a_write_that_was_cut_off_anywhere_is_where_it_ends(tmp_path, counts):
    """A process may be killed between any two bytes."""
    spool = Spool(tmp_path, 0)
    whole = []
    for record in yielding(4, 3.0, 2.0, 1.0, counts=counts):
        spool.keep(record)
        whole.append((tmp_path / "spool-0").stat().st_size)
    spool.close()
    data = (tmp_path / "spool-0").read_bytes()
    for size in range(len(data) + 1):
        (tmp_path / "spool-0").write_bytes(data[:size])
        found = left_behind(tmp_path, 0, 4)
        assert len(found.steps) == sum(end <= size for end in whole)


def test_many_yields_are_written_now_and_then(tmp_path, monkeypatch):
    """The first hundred at once; then a file is not written ten thousand times."""
    writes = []
    real = os.write

    def counted(file, data):
        writes.append(len(pickle.loads(data)[3]))
        return real(file, data)

    monkeypatch.setattr(module.os, "write", counted)
    monkeypatch.setattr(module, "_PAUSE", 0.01)
    spool = Spool(tmp_path, 0)
    for record in yielding(0, *range(5_000)):
        spool.keep(record)
    spool.close()
    assert writes[:100] == [1] * 100
    assert len(writes) < 1_000
    assert 100 <= len(left_behind(tmp_path, 0, 0).steps) <= 5_000
    record = left_behind(tmp_path, 0, 0)
    assert record.values["loss"] == record.steps
