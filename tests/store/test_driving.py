"""Drivers: who runs what, and what happens when one is killed."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from support import refused

from curvewise import CurvewiseError, Trial, Trials, store

CELL = ("t", "a")


def trials(numbers, status="ok"):
    scores = {"loss": 1.0} if status == "ok" else {}
    return Trials(Trial(*CELL, int(n), scores, status=status) for n in numbers)


# --- what a driver can ask, in either store ----------------------------------------------


def test_a_driver_claims_what_is_neither_done_nor_claimed(where):
    with store.open(where) as s:
        s.write(trials([0, 3]))
        with s.driving():
            assert s.claim(CELL, np.arange(10), 3).tolist() == [1, 2, 4]
            assert s.claim(CELL, np.arange(10), 2).tolist() == [5, 6]
            s.write(trials([1, 2, 4]))
            assert s.unfinished(CELL, np.arange(10)).tolist() == [5, 6, 7, 8, 9]
            assert s.claim(CELL, [9, 8, 8, 7], 0).tolist() == []
            assert s.claim(CELL, [9, 8, 8, 7]).tolist() == [9, 8, 7]
            assert s.claim(CELL, np.arange(10), 5).tolist() == []
            assert s.claim(("t", "other"), [1, 0], 5).tolist() == [1, 0]
        with s.driving():  # what was claimed and not done can be had again
            assert s.claim(CELL, np.arange(10), 99).tolist() == [5, 6, 7, 8, 9]


def test_claims_far_down_a_long_plan_are_found(where):
    with store.open(where) as s, s.driving():
        assert len(s.claim(CELL, np.arange(30_000), 20_000)) == 20_000
        assert s.claim(CELL, np.arange(30_000), 2).tolist() == [20_000, 20_001]
        assert len(s.unfinished(CELL, np.arange(30_000))) == 30_000


def test_what_had_failed_can_be_claimed_again_but_only_once(where):
    """A second failure is a result; drivers must not run it for each other for ever."""
    bad = ("failed", "crashed")
    with store.open(where) as s:
        s.write(trials([0, 1], "failed"))
        s.write(trials([2]))
        with s.driving():
            assert s.claim(CELL, range(4)).tolist() == [3]
            assert s.unfinished(CELL, range(4), redo=bad).tolist() == [0, 1, 3]
            assert s.claim(CELL, range(4), 1, redo=bad).tolist() == [0]
            s.write(trials([0, 3], "failed"))
            assert s.unfinished(CELL, range(4), redo=bad).tolist() == [1]
            assert s.claim(CELL, range(4), redo=bad).tolist() == [1]
        with s.driving():  # another run, another chance
            assert s.claim(CELL, range(4), redo=bad).tolist() == [0, 1, 3]
            assert refused(s.claim, CELL, [1], redo=["bad"]) == ("status", "bad")


def test_only_a_driver_can_claim(where):
    with store.open(where) as s:
        with pytest.raises(
            CurvewiseError, match=r"Only a driver can claim trials\. Ca"
        ):
            s.claim(CELL, [1], 1)
        with s.driving():
            pass
        with pytest.raises(CurvewiseError, match="Only a driver can claim"):
            s.claim(CELL, [1], 1)
        assert s.unfinished(("no", "such"), [3, 1]).tolist() == [3, 1]
        assert s.read().tasks == ()


# A driver in a process of its own: what it is told to do, line by line.
DRIVER = """
import os, sys, time
import numpy as np
from curvewise import Trial, Trials, store as stores

def run(store, numbers):
    for number in numbers:
        print(number, flush=True)
        time.sleep(0.001)
    store.write(Trials(Trial("t", "a", n, {"loss": 1.0}) for n in numbers))

with stores.open(sys.argv[1]) as store, store.driving():
    print("ready", flush=True)
    for line in sys.stdin:
        if line == "hold\\n":
            print(*store.claim(("t", "a"), np.arange(50), 20), flush=True)
        elif line == "fork\\n":
            child = os.fork()
            if not child:
                time.sleep(60)
                os._exit(0)
            print(child, flush=True)
        elif line.startswith("run"):
            plan = np.arange(200)
            while len(left := store.unfinished(("t", "a"), plan)):
                blind = line == "run blindly\\n"
                mine = left[:5] if blind else store.claim(("t", "a"), plan, 5)
                run(store, mine.tolist())
                if not len(mine):
                    time.sleep(0.02)
            break
"""


@pytest.fixture
def start():
    """Return a function that starts drivers; all are killed at the end."""
    started = []

    def new(where):
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(where)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        started.append(driver)
        return driver

    yield new
    for driver in started:
        driver.kill()
        driver.communicate()


def ask(driver, words):
    driver.stdin.write(words + "\n")
    return driver.stdout.readline()


def within(seconds, question):
    """Return the first true answer, or the last one when the time is over."""
    end = time.monotonic() + seconds
    while not (answer := question()) and time.monotonic() < end:
        time.sleep(0.01)
    return answer


# --- SQLite: one driver at a time --------------------------------------------------------


def test_a_second_driver_of_a_file_is_refused_until_the_first_is_gone(tmp_path, start):
    path = tmp_path / "runs.db"
    first = start(path)
    assert first.stdout.readline() == "ready\n"
    words = (
        rf"Another run \(process {first.pid}\) is filling .*runs\.db\. Wait for it, or "
        r"use PostgreSQL, where several runs can share a plan\."
    )
    with store.open(path) as s:
        with pytest.raises(CurvewiseError, match=words), s.driving():
            pass
        s.write(trials([7]))  # who does not drive may write and read
        assert len(s.read()) == 1
        child = int(ask(first, "fork"))
        try:
            first.kill()
            first.wait()
            assert (tmp_path / "runs.db-driver").exists()
            with s.driving():  # at once, though a worker of the first is still there
                assert s.claim(CELL, [7, 8]).tolist() == [8]
        finally:
            os.kill(child, signal.SIGKILL)
    assert [p.name for p in tmp_path.iterdir()] == ["runs.db"]


def test_a_process_does_not_drive_a_file_twice(tmp_path):
    (tmp_path / "other").symlink_to(tmp_path)
    one, two = tmp_path / "a.db", tmp_path / "other" / "a.db"
    with store.open(one) as first, store.open(two) as second, first.driving():
        words = rf"Another run \(process {os.getpid()}\)"
        for s in (first, second):
            with pytest.raises(CurvewiseError, match=words), s.driving():
                pass
        with store.open(tmp_path / "b.db") as third, third.driving():
            assert third.claim(CELL, [1]).tolist() == [1]
        assert first.claim(CELL, [1]).tolist() == [1]


def test_a_lock_that_was_removed_before_it_was_had_is_made_anew(tmp_path, monkeypatch):
    """Its owner removes the file on leaving; we may have opened it just before."""
    from curvewise.store import locks as driver_lock

    real, calls = driver_lock._lock, []

    def late(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            (tmp_path / "a.db-driver").unlink()
        real(descriptor)

    monkeypatch.setattr(driver_lock, "_lock", late)
    with store.open(tmp_path / "a.db") as s, s.driving():
        assert (tmp_path / "a.db-driver").read_text() == str(os.getpid())
    assert len(calls) == 2


def test_a_folder_in_which_no_lock_can_be_made(tmp_path):
    (tmp_path / "a.db-driver").mkdir()
    with store.open(tmp_path / "a.db") as s:
        words = r"a\.db-driver cannot be made \(.*\)\. A run needs a folder that it may"
        with pytest.raises(CurvewiseError, match=words), s.driving():
            pass
        assert len(s.read()) == 0


# --- PostgreSQL: several share a plan ----------------------------------------------------


def share(url, start, words):
    """Return what each of two drivers has run."""
    store.open(url).close()
    drivers = [start(url), start(url)]
    for driver in drivers:
        assert driver.stdout.readline() == "ready\n"
    for driver in drivers:
        driver.stdin.write(words + "\n")
    heard = [driver.communicate(timeout=60)[0].split() for driver in drivers]
    assert store.read(url) == trials(range(200))
    return heard


@pytest.mark.service
def test_two_drivers_share_a_plan_and_run_nothing_twice(postgres_url, start):
    one, two = share(postgres_url, start, "run")
    assert sorted(map(int, one + two)) == list(range(200))
    assert len(one) > 20
    assert len(two) > 20


@pytest.mark.service
def test_without_claims_they_would_run_the_same_trials(postgres_url, start):
    """The negative control."""
    one, two = share(postgres_url, start, "run blindly")
    assert len(set(one) & set(two)) > 20


@pytest.mark.service
def test_what_a_killed_driver_had_claimed_is_taken_over_at_once(postgres_url, start):
    first = start(postgres_url)
    assert first.stdout.readline() == "ready\n"
    held = [int(n) for n in ask(first, "hold").split()]
    assert held == list(range(20))
    child = int(ask(first, "fork"))
    try:
        with store.open(postgres_url) as s, s.driving():
            assert s.claim(CELL, range(50)).tolist() == list(range(20, 50))
            s.write(trials(range(20, 50)))
            assert s.claim(CELL, range(50)).tolist() == []
            assert s.unfinished(CELL, range(50)).tolist() == held
            first.kill()  # and a worker of it lives on
            assert within(5, lambda: s.claim(CELL, held).tolist()) == held
    finally:
        os.kill(child, signal.SIGKILL)


@pytest.mark.service
def test_a_driver_that_leaves_gives_back_what_it_had_not_run(postgres_url):
    with store.open(postgres_url) as one, store.open(postgres_url) as two:
        with two.driving():
            with one.driving():
                assert one.claim(CELL, range(9), 5).tolist() == [0, 1, 2, 3, 4]
                one.write(trials([0, 1]))
                assert two.claim(CELL, range(9), 2).tolist() == [5, 6]
                with (
                    pytest.raises(CurvewiseError, match=r"is driving .* already"),
                    one.driving(),
                ):
                    pass
            assert two.claim(CELL, range(9)).tolist() == [2, 3, 4, 7, 8]
        left = [
            one._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("claims", "drivers")
        ]
        assert left == [0, 0]


# --- PostgreSQL: a connection is lost ----------------------------------------------------


def cut(s):
    """End a store's connection, as a server does that is restarted."""
    with store.open(s._given) as other:
        pid = s._db.connection.info.backend_pid
        other._db.execute("SELECT pg_terminate_backend(?, 5000)", (pid,))


@pytest.mark.service
def test_a_lost_connection_comes_back_with_its_claims(postgres_url):
    with store.open(postgres_url) as one, store.open(postgres_url) as two:
        with one.driving(), two.driving():
            assert len(one.claim(CELL, range(20), 5)) == 5
            cut(one)
            assert one.claim(CELL, range(20), 5).tolist() == [5, 6, 7, 8, 9]
            assert two.claim(CELL, range(20), 5).tolist() == [10, 11, 12, 13, 14]
            cut(one)
            assert two.claim(CELL, range(20), 2).tolist() == [0, 1]  # nobody's now
            assert one.claim(CELL, range(20)).tolist() == [
                *range(2, 10),
                *range(15, 20),
            ]
            one.write(trials([0, 1]))  # also its own to write: results are the same
            two.write(trials([0, 1]))
        assert len(two) == 2


@pytest.mark.service
def test_a_claim_of_which_nobody_knows_whether_it_was_made(postgres_url, monkeypatch):
    """The connection breaks between the server's commit and its word of it."""
    from contextlib import contextmanager

    from curvewise.store.postgres import PostgresStore

    real, broken = PostgresStore._claiming, []

    @contextmanager
    def breaking(self, ticket):
        with real(self, ticket):
            yield
        if not broken:
            broken.append(ticket)
            cut(self)
            self._db.execute("SELECT 1")

    monkeypatch.setattr(PostgresStore, "_claiming", breaking)
    with store.open(postgres_url) as s, s.driving():
        assert s.claim(CELL, range(9), 3).tolist() == [0, 1, 2]
        assert broken
        assert s.claim(CELL, range(9)).tolist() == [3, 4, 5, 6, 7, 8]


@pytest.mark.service
@pytest.mark.parametrize("batch", [10, 100])  # statement by statement, and by COPY
def test_nothing_is_lost_or_doubled_where_connections_break(postgres_url, batch):
    numbers = np.arange(1000)
    with store.open(postgres_url) as s:
        real, count = type(s)._commit, [0]

        def commit(rows):
            count[0] += 1
            if count[0] in {2, 5, 9}:
                with s._db.alone():  # half way through a batch
                    s._db.upsert(rows, 1)
                    cut(s)
            real(s, rows)

        s._commit = commit
        s.write(trials(numbers), batch=batch)
        assert count[0] >= 1000 / batch + 2
        assert s.read() == trials(numbers)


@pytest.mark.service
def test_a_server_that_does_not_come_back(postgres_url, monkeypatch):
    from curvewise.store import postgres
    from curvewise.store.address import address

    monkeypatch.setattr(postgres, "_PAUSES", (0.01, 0.02))
    words = r"connection was lost and did not come back\. What was committed is safe\."
    with store.open(postgres_url) as s:
        s.write(trials([1]))
        with s.driving():
            cut(s)
            monkeypatch.setattr(s, "_where", address("postgresql://127.0.0.1:1/db"))
            with pytest.raises(CurvewiseError, match=words):
                s.write(trials([2]))
    with store.open(postgres_url) as s, s.driving():
        assert s.claim(CELL, [1, 2]).tolist() == [2]
