import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curvewise import CurvewiseError, Metric, Trial, Trials, store
from curvewise.store import Store
from curvewise.store.schema import VERSION

sys.path.insert(0, str(Path(__file__).parent))
from everything import METRICS, everything

ASSETS = Path(__file__).parents[1] / "assets"


def exactly(trials):
    """Return all that a trial is, also what equality leaves aside."""
    return [(t, t.seconds, t.error, t.attempts) for t in trials]


def test_everything_comes_back_as_it_went_in(tmp_path):
    trials = everything()
    store.write(trials, tmp_path / "runs.db")
    back = store.read(tmp_path / "runs.db")
    assert back == trials
    assert repr(exactly(back)) == repr(exactly(trials))
    assert back.metrics == trials.metrics
    assert {m.name: m for m in METRICS} == dict(back.metrics)


def test_not_recorded_and_not_a_number_stay_two_things(tmp_path):
    store.write(everything(), tmp_path / "runs.db")
    first, second = list(store.read(tmp_path / "runs.db"))[1:3]
    assert np.isnan(first.metrics["regret"][1])
    assert not np.ma.is_masked(first.metrics["regret"])
    assert np.ma.getmaskarray(second.metrics["accuracy"]).tolist() == [
        True,
        False,
        True,
    ]


def test_a_store_of_the_first_version_is_read_for_ever(tmp_path):
    """The asset was written once; a copy is opened, since readers may touch the log."""
    copy = tmp_path / "store-v1.db"
    copy.write_bytes((ASSETS / "store-v1.db").read_bytes())
    assert store.read(copy) == everything()
    assert repr(exactly(store.read(copy))) == repr(exactly(everything()))


def test_a_second_write_replaces_by_key_and_keeps_the_rest(tmp_path):
    path = tmp_path / "runs.db"
    store.write(everything(), path)
    again = Trials([Trial("moons", "svm", 0, {"accuracy": 0.5})], METRICS)
    store.write(again, path)
    back = store.read(path)
    assert len(back) == len(everything())
    assert [t for t in back if t.key == ("moons", "svm", 0)] == list(again)


def test_batches_do_not_change_what_is_stored(tmp_path):
    with Store(tmp_path / "a.db") as one, Store(tmp_path / "b.db") as other:
        one.write(everything(), batch=1)
        other.write(everything(), batch=10_000)
        assert one.read() == other.read()
        assert one.keys() == {t.key for t in everything()}
        assert len(one) == len(everything())


@pytest.mark.parametrize("batch", [0, -1, 2.5, True])
def test_a_batch_that_is_none_is_refused(tmp_path, batch):
    with Store(tmp_path / "a.db") as s:
        with pytest.raises(
            CurvewiseError, match=r"batch is .*Pass a whole number from 1"
        ):
            s.write(everything(), batch=batch)
        assert len(s) == 0


def test_what_is_no_trials_leaves_no_file(tmp_path):
    with pytest.raises(CurvewiseError, match=r"Trials were asked for, and str came"):
        store.write("results.csv", tmp_path / "a.db")
    assert list(tmp_path.iterdir()) == []


def test_a_closed_store_says_so(tmp_path):
    with Store(tmp_path / "a.db") as s:
        pass
    with pytest.raises(CurvewiseError, match=r"closed database\. Open a Store in each"):
        s.read()


def test_an_empty_store_and_trials_without_metrics(tmp_path):
    with Store(tmp_path / "a.db") as empty:
        assert len(empty.read()) == 0
        empty.write(Trials())
        assert empty.read() == Trials()
        lost = Trials([Trial("t", "a", 0, status="crashed"), Trial("t", "a", 1)])
        empty.write(lost)
        assert empty.read() == lost


curves = st.lists(
    st.one_of(st.none(), st.floats(width=64), st.just(float("nan"))),
    min_size=1,
    max_size=4,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(curves, curves, st.booleans()), max_size=8), st.integers(1, 3)
)
def test_any_curves_survive(tmp_path, drawn, batch):
    path = tmp_path / f"{time.time_ns()}.db"
    trials = Trials(
        (
            Trial(
                "t",
                "a" if which else "b",
                i,
                {"accuracy": one}
                if len(one) != len(two)
                else {"accuracy": one, "loss": two},
            )
            for i, (one, two, which) in enumerate(drawn)
        )
    )
    with Store(path) as s:
        s.write(trials, batch=batch)
        assert s.read() == trials
        assert list(s.read()) == list(trials)


def test_many_trials_with_gaps_are_read_in_one_pass(tmp_path):
    """Every row has a mask; none needs a pass over the others."""
    n = 10_000
    trials = Trials(
        Trial("t", "a", i, {"loss": [i, None], "error": [None, 0.5]}) for i in range(n)
    )
    store.write(trials, tmp_path / "a.db")
    back = store.read(tmp_path / "a.db")
    assert back.scores("loss")["a"].tolist() == list(range(n))
    assert back == trials


def test_rows_that_arrive_in_any_order_make_the_same_table(tmp_path):
    trials = [Trial("t", a, i, {"loss": i}) for a in "ab" for i in range(20)]
    with Store(tmp_path / "a.db") as one:
        for i in np.random.default_rng(0).permutation(len(trials)):
            one.write(Trials([trials[i]]))
        assert one.read() == Trials(trials)
        assert one.read().scores("loss")["b"].tolist() == list(range(20))


def test_chunks_are_invisible(tmp_path, monkeypatch):
    """Stretches of rows of any size give the same columns, also when one is too big."""
    from curvewise.store import chunks, reading

    store.write(everything(), tmp_path / "runs.db")
    monkeypatch.setattr(chunks, "MOST_ROWS", 3)
    assert store.read(tmp_path / "runs.db") == everything()
    with Store(tmp_path / "runs.db") as s:
        s._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 9000)
        known = s._codes
        whole = reading.core(s._db, known, 10)
        assert len(whole) == len(everything())


def test_an_sqlite_that_cannot_join_bytes_is_read_all_the_same(tmp_path, monkeypatch):
    from curvewise.store import chunks

    assert chunks._joins_bytes()  # or the fast way is never tested
    monkeypatch.setattr(chunks, "_joins_bytes", lambda: False)
    store.write(everything(), tmp_path / "runs.db")
    assert store.read(tmp_path / "runs.db") == everything()


def test_details_stay_on_disk_until_asked_for_and_fit_what_was_read(tmp_path):
    path = tmp_path / "runs.db"
    store.write(everything(), path)
    early = store.read(path)
    store.write(Trials([Trial("new", "svm", 0, {"accuracy": 1.0})], METRICS), path)
    assert early == everything()
    late = store.read(path)
    store.write(Trials([Trial("moons", "svm", 0, {"accuracy": 0.5})], METRICS), path)
    with pytest.raises(
        CurvewiseError, match=r"1 trials in .* were replaced since it was"
    ):
        late.details()


def test_a_metric_that_means_something_else_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "runs.db"
    store.write(Trials([Trial("t", "a", 0, {"accuracy": 1.0})]), path)
    other = Trials(
        [Trial("t", "b", 0, {"accuracy": 1.0})], [Metric("accuracy", "lower")]
    )
    with pytest.raises(
        CurvewiseError, match=r"The store has metric accuracy \(higher.*"
    ):
        store.write(other, path)
    back = store.read(path)
    assert len(back) == 1
    assert back.algorithms == ("a",)
    with Store(path) as s:  # and the store goes on working
        s.write(Trials([Trial("t", "b", 0, {"accuracy": 0.0})]))
        assert len(s) == 2


def test_a_store_whose_making_was_cut_short_is_made_anew(tmp_path):
    """A process can die between making the file and making its tables."""
    (tmp_path / "empty.db").touch()
    db = sqlite3.connect(tmp_path / "blank.db")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    for name in ("empty.db", "blank.db"):
        store.write(everything(), tmp_path / name)
        assert store.read(tmp_path / name) == everything()


MAKER = """
import sys
from curvewise import Trial, Trials
from curvewise.store import Store
for i in range(20):
    with Store(sys.argv[1]) as store:
        store.write(Trials([Trial("t", "a" + sys.argv[2], i, {"loss": i})]))
"""


def test_many_makers_of_one_store_make_one(tmp_path):
    makers = [
        subprocess.Popen([sys.executable, "-c", MAKER, str(tmp_path / "a.db"), str(i)])
        for i in range(4)
    ]
    assert [maker.wait(60) for maker in makers] == [0] * 4
    assert len(store.read(tmp_path / "a.db")) == 80


def test_a_large_set_is_written_block_by_block(tmp_path, monkeypatch):
    from curvewise.store import sqlite

    monkeypatch.setattr(sqlite, "_BLOCK", 4)
    for batch in (1, 3, 100):
        with Store(tmp_path / f"{batch}.db") as s:
            s.write(everything(), batch=batch)
            assert s.read() == everything()


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


def test_two_open_stores_agree_on_codes(tmp_path):
    """Names that another process added since must not be given a second code."""
    with Store(tmp_path / "a.db") as one, Store(tmp_path / "a.db") as two:
        one.write(Trials([Trial("t", "first", 0, {"loss": 1.0})]))
        two.write(Trials([Trial("t", "second", 0, {"error": 0.5})]))
        one.write(Trials([Trial("u", "second", 1, {"loss": 2.0, "error": 0.1})]))
        back = two.read()
    assert set(back.algorithms) == {"first", "second"}
    assert back.where(algorithm="second", task="u")[0].metrics["loss"] == [2.0]


# --- a reader beside a writer, and a writer that is killed --------------------------------

WRITER = """
import sys
from curvewise import Trial, Trials
from curvewise.store import Store
with Store(sys.argv[1]) as store:
    for i in range(10_000):
        store.write(Trials([Trial("t", "a", 3 * i + j, {"loss": float(3 * i + j)})
                            for j in range(3)]))
        print(3 * i + 3, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_was_committed(tmp_path):
    path = tmp_path / "runs.db"
    written = 0
    for moment in (5, 23, 41):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(moment):
            written = max(written, int(writer.stdout.readline()))
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        back = store.read(path)
        assert len(back) >= written
        assert len(back) % 3 == 0  # whole batches
        numbers = back.scores("loss")["a"]
        assert numbers.tolist() == list(range(len(back)))


def test_a_reader_works_while_a_writer_writes(tmp_path):
    path = tmp_path / "runs.db"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        writer.stdout.readline()
        lengths = []
        for _ in range(20):
            trials = store.read(path)
            assert trials.scores("loss")["a"].tolist() == list(range(len(trials)))
            assert len(trials.details().attempts) == len(trials)
            lengths.append(len(trials))
        assert writer.poll() is None
        assert lengths == sorted(lengths)
        assert lengths[-1] > lengths[0]
    finally:
        writer.kill()
        writer.communicate()


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


# --- what is no store --------------------------------------------------------------------


def test_an_unknown_version_is_named(tmp_path):
    path = tmp_path / "runs.db"
    store.write(everything(), path)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE curvewise SET value = '99' WHERE key = 'version'")
    db.close()
    words = rf"is a store of version 99; this curvewise \(.*\) knows version {VERSION}"
    with pytest.raises(CurvewiseError, match=words):
        store.read(path)


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
    with pytest.raises(CurvewiseError, match="is no store: it is not a SQLite file"):
        store.write(everything(), text)
    assert text.read_text() == "a,b\n1,2\n"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    before = other.read_bytes()
    with pytest.raises(
        CurvewiseError, match="is a SQLite file but no store of curvewise"
    ):
        store.write(everything(), other)
    assert other.read_bytes() == before


def test_paths_that_lead_nowhere(tmp_path):
    with pytest.raises(
        CurvewiseError, match=r"There is no store .*a\.db\. Check the path"
    ):
        store.read(tmp_path / "a.db")
    with pytest.raises(
        CurvewiseError, match=r"is a folder\. Pass the path of a store's"
    ):
        store.read(tmp_path)
    with pytest.raises(
        CurvewiseError, match=r"There is no folder .*x for the store a\.db"
    ):
        store.write(everything(), tmp_path / "x" / "a.db")


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
