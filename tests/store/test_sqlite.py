"""What is SQLite's own: the file, its folder, its locks."""

import multiprocessing
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from everything import everything
from support import refused

from curvewise import CurvewiseError, store
from curvewise.errors import NoStoreError
from curvewise.store import Store

ASSETS = Path(__file__).parents[1] / "assets"


def exactly(trials):
    """Return all that a trial is, also what equality leaves aside."""
    return [(t, t.seconds, t.error, t.attempts) for t in trials]


def test_a_store_of_the_first_version_is_read_for_ever(tmp_path):
    """The asset was written once; a copy is opened, since readers may touch the log."""
    copy = tmp_path / "store-v1.db"
    copy.write_bytes((ASSETS / "store-v1.db").read_bytes())
    assert store.read(copy) == everything()
    assert repr(exactly(store.read(copy))) == repr(exactly(everything()))


def test_a_store_of_the_first_version_can_be_driven_and_written(tmp_path):
    copy = tmp_path / "store-v1.db"
    copy.write_bytes((ASSETS / "store-v1.db").read_bytes())
    with Store(copy) as s, s.driving():
        assert s.notes() == {}
        assert s.define({"toml": "x = 1"}) == {"toml": "x = 1"}
        assert s.claim(("moons", "svm"), range(3)).tolist() == [2]
        s.write(everything())
        assert s.numbers().keys() == {t.key[:2] for t in everything()}
        assert s.read() == everything()
    db = sqlite3.connect(copy)
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master")]
    db.close()
    assert "claims" not in names


def test_what_is_no_trials_leaves_no_file(tmp_path):
    asked = "results.csv", tmp_path / "a.db"
    assert refused(store.write, *asked) == ("trials", "results.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_stretch_that_sqlite_cannot_hold_is_read_in_halves(tmp_path):
    store.write(everything(), tmp_path / "runs.db")
    with Store(tmp_path / "runs.db") as s:
        s._db.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 9000)
        assert s._db.stretch(s._db.cells("counts"), 1, 10) is not None
        s._db.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100)
        assert s._db.stretch(s._db.cells("counts"), 1, 10) is None


def test_an_sqlite_that_cannot_join_bytes_is_read_all_the_same(tmp_path, monkeypatch):
    from curvewise.store import sqlite as sqlite_database

    assert sqlite_database._joins_bytes()  # or the fast way is never tested
    monkeypatch.setattr(sqlite_database, "_joins_bytes", lambda: False)
    store.write(everything(), tmp_path / "runs.db")
    assert store.read(tmp_path / "runs.db") == everything()


def test_a_store_whose_making_was_cut_short_is_made_anew(tmp_path):
    """A process can die between making the file and making its tables."""
    (tmp_path / "empty.db").touch()
    db = sqlite3.connect(tmp_path / "blank.db")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    for name in ("empty.db", "blank.db"):
        store.write(everything(), tmp_path / name)
        assert store.read(tmp_path / name) == everything()


@pytest.mark.parametrize(
    "complaint",
    ["attempt to write a readonly database", "unable to open database file"],
)
def test_a_store_in_a_folder_that_is_not_ours_can_be_read(
    tmp_path, monkeypatch, complaint
):
    """SQLite wants to write beside the file even to read it, and may not."""
    store.write(everything(), tmp_path / "a.db")
    connect = sqlite3.connect

    class Refusing:
        def execute(self, *_):
            raise sqlite3.OperationalError(complaint)

        def close(self):
            pass

    def refused(path, **keywords):
        usual = keywords.get("uri") or path == ":memory:"
        return connect(path, **keywords) if usual else Refusing()

    monkeypatch.setattr(sqlite3, "connect", refused)
    assert store.read(tmp_path / "a.db") == everything()


def test_details_are_found_after_a_change_of_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store.write(everything(), "a.db")
    trials = store.read("a.db")
    monkeypatch.chdir("/")
    assert trials == everything()


def test_stores_hold_no_pickle(tmp_path):
    """A file from a stranger must not be able to run anything."""
    store.write(everything(), tmp_path / "a.db")
    for path in Path(store.__file__).parent.glob("*.py"):
        assert "pickle" not in path.read_text().replace("Nothing is pickled", ""), path
    # Every pickle ends in "." and begins with a protocol or an opcode; blobs are numbers.
    with sqlite3.connect(tmp_path / "a.db") as db:
        for name in ("steps", "scores", "recorded", "counts", "correct", "asked"):
            for (blob,) in db.execute(
                f"SELECT {name} FROM trials WHERE {name} NOT NULL"
            ):
                assert isinstance(blob, bytes)
                assert not blob.startswith(b"\x80\x04\x95")
    db.close()


@pytest.mark.parametrize("keep", [100, 5000, 20_000])
def test_a_truncated_file_is_named(tmp_path, keep):
    path = tmp_path / "runs.db"
    store.write(everything(), path)
    whole = path.read_bytes()
    assert len(whole) > keep
    (tmp_path / "cut.db").write_bytes(whole[:keep])
    with pytest.raises(CurvewiseError, match="damaged or cut short"):
        store.read(tmp_path / "cut.db")


def test_a_file_that_is_no_store_is_left_alone(tmp_path):
    text, other = tmp_path / "a.csv", tmp_path / "b.db"
    text.write_text("a,b\n1,2\n")
    assert refused(store.write, everything(), text) == ("path", text)
    assert text.read_text() == "a,b\n1,2\n"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    before = other.read_bytes()
    assert refused(store.write, everything(), other) == ("path", other)
    assert other.read_bytes() == before


def test_paths_that_lead_nowhere(tmp_path):
    with pytest.raises(NoStoreError):
        store.read(tmp_path / "a.db")
    assert refused(store.read, tmp_path) == ("path", tmp_path)
    nowhere = tmp_path / "x" / "a.db"
    assert refused(store.write, everything(), nowhere) == ("path", nowhere)


def _hold(path, ready, done):
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    ready.set()
    done.wait(30)
    db.execute("ROLLBACK")


def test_a_writer_that_cannot_get_in_says_so(tmp_path, monkeypatch):
    from curvewise.store import sqlite

    path = tmp_path / "runs.db"
    store.write(everything(), path)
    monkeypatch.setattr(sqlite, "_WAIT_SECONDS", 0.1)
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(str(path), ready, done))
    other.start()
    try:
        assert ready.wait(30)
        assert store.read(path) == everything()  # reading goes on
        with pytest.raises(
            CurvewiseError, match="Another process has been writing to it"
        ):
            store.write(everything(), path)
    finally:
        done.set()
        other.join()


# A program of its own: it has one thread, so that it may fork.
AT_ONCE = """
import multiprocessing, sys
from curvewise import CurvewiseError, store

def make(where, barrier, said):
    barrier.wait()
    try:
        with store.open(where):
            said.put("")
    except CurvewiseError as problem:
        said.put(str(problem))

context = multiprocessing.get_context("fork")
for i in range(30):
    barrier, said = context.Barrier(6), context.SimpleQueue()
    own = (f"{sys.argv[1]}/{i}.db", barrier, said)
    makers = [context.Process(target=make, args=own) for _ in range(6)]
    for maker in makers:
        maker.start()
    print("".join(said.get() for _ in makers), end="")
    for maker in makers:
        maker.join()
"""


@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="needs processes that start at once"
)
def test_processes_that_make_a_store_at_the_same_moment_all_get_it(tmp_path):
    """SQLite refuses one of two that choose a journal at once: in 7 of 150 rounds."""
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
