"""What is new in a store: all of it, once, whatever the stretches; and nothing written."""

import subprocess
import sys

import numpy as np
import pytest
from everything import everything

from curvewise import CurvewiseError, Trial, Trials, store
from curvewise.store import columns, locks, news
from curvewise.store.base import AnyStore
from curvewise.store.locks import is_locked
from curvewise.trials import STATUSES


def scored(numbers, algorithm="a", score=0.5, **fields):
    return Trials(
        Trial("t", algorithm, n, {"accuracy": score}, **fields) for n in numbers
    )


def read_in_stretches(where, most):
    """Return all news of a store, and how many looks they took."""
    parts, last = [], 0
    with store.open(where, create=False) as s:
        while True:
            news = s.news(last, most=most, with_details=True)
            parts.append(news)
            last = news.last
            if last >= news.newest:
                return parts


@pytest.mark.parametrize("most", [1, 3, 100])
def test_stretch_by_stretch_is_the_whole(where, most):
    """Every field of every trial, in whichever pieces it came."""
    store.write(everything(), where)
    parts = read_in_stretches(where, most)
    with store.open(where, create=False) as s:
        names = parts[-1].tasks, parts[-1].algorithms
        found = Trials.concat(
            Trials.from_columns(*names, part.metrics, part.core, part.details)
            for part in parts
            if len(part)
        )
        assert found == s.read()
    assert sum(map(len, parts)) == len(everything())
    assert np.concatenate([part.ids for part in parts]).tolist() == list(range(1, 11))


def test_news_have_times_and_the_first_lines_of_errors(where):
    store.write(everything(), where)
    with store.open(where, create=False) as s:
        news = s.news()
    keys = [(news.tasks[t], news.algorithms[a]) for t, a in zip(
        news.core.task, news.core.algorithm, strict=True)]  # fmt: skip
    own = {(t.task, t.algorithm, t.number): t for t in everything()}
    for cell, number, seconds in zip(
        keys, news.core.number.tolist(), news.seconds, strict=True
    ):
        assert seconds == pytest.approx(own[(*cell, number)].seconds, nan_ok=True)
    told = {line: len(ids) for line, ids in news.errors}
    assert told == {"SIGSEGV": 1, "it left no message": 3}


def test_an_error_of_a_megabyte_is_its_first_line(where):
    long = "é" * 2_000_000
    store.write(scored([0], status="failed", error=f"bad\n{long}"), where)
    store.write(scored([1], status="failed", error=long), where)
    with store.open(where, create=False) as s:
        lines = [line for line, _ in s.news().errors]
    assert sorted(map(len, lines))[0] == 3
    assert 100 < len(max(lines, key=len)) <= 1000


def test_what_was_replaced_is_found_by_its_revision(where):
    store.write(scored(range(100)), where)
    with store.open(where) as s:
        first = s.news()
        assert first.revisions.tolist() == [first.revision]
        s.write(scored([7, 50], score=0.9))
        assert len(s.news(first.last)) == 0
        again = s.news(since=first.revision)
        assert again.core.number.tolist() == [7, 50]
        assert again.core.values["accuracy"].tolist() == [0.9, 0.9]
        assert again.revision > first.revision
        assert len(s.news(since=again.revision)) == 0


def test_curves_with_gaps_are_replaced_as_they_are(where, monkeypatch):
    """The columns that few rows have are asked for with the same condition."""
    monkeypatch.setattr(columns, "MOST_ROWS", 4)
    steps = [1, 2, 3]
    plain = [Trial("t", "a", n, {"accuracy": 0.1}) for n in range(10)]
    store.write(Trials(plain), where)
    with store.open(where) as s:
        before = s.news().revision
        gap = Trial("t", "a", 3, {"accuracy": [0.2, None, 0.4]}, steps=steps)
        whole = Trial("t", "a", 8, {"accuracy": [0.5, 0.6, 0.7]}, steps=steps)
        s.write(Trials([gap, whole]))
        news = s.news(since=before, with_details=True)
    found = Trials.from_columns(
        news.tasks, news.algorithms, news.metrics, news.core, news.details
    )
    assert found == Trials([gap, whole])


def test_of_an_empty_store_there_are_no_news(where):
    store.open(where).close()
    with store.open(where, create=False) as s:
        news = s.news()
    assert (len(news), news.last, news.newest, news.revision) == (0, 0, 0, 0)


def test_who_only_reads_cannot_write(where):
    store.write(scored(range(3)), where)
    with store.open(where, create=False).refuse_writes() as s:
        assert len(s.news()) == 3
        for change in (
            lambda: s.write(scored([9])),
            lambda: s.note({"a": "b"}),
            lambda: s.introduce(["new"], []),
        ):
            with pytest.raises(CurvewiseError):
                change()
    with store.open(where) as s:  # the negative control
        s.write(scored([9]))
        assert len(s) == 4


def test_a_driver_is_seen_and_its_end_too(where):
    store.open(where).close()
    with store.open(where, create=False) as watching:
        assert watching.is_driven() is False
        with store.open(where) as s, s.driving():
            assert watching.is_driven() is True
        assert watching.is_driven() is False


@pytest.mark.skipif(sys.platform == "win32", reason="nobody knows there")
def test_a_driver_that_was_killed_is_not_there(tmp_path):
    path = tmp_path / "runs.db"
    store.open(path).close()
    code = (
        "import sys, time; from curvewise import store\n"
        "with store.open(sys.argv[1]) as s, s.driving():\n"
        "    print('driving', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"driving\n"
    assert is_locked(path)
    process.kill()
    process.communicate()
    assert path.with_name("runs.db-driver").exists()  # nobody could remove it
    assert not is_locked(path)
    path.with_name("runs.db-driver").write_text("")  # begun, and nothing said yet
    assert not is_locked(path)


def test_to_ask_who_drives_does_not_try_the_lock(tmp_path, monkeypatch):
    """For that moment, a run that starts would be refused."""
    path = tmp_path / "runs.db"
    store.open(path).close()
    with locks.driver_lock(path):
        monkeypatch.setattr(locks, "_lock", None)
        assert is_locked(path)
    with pytest.raises(TypeError), locks.driver_lock(path):  # it would be seen
        pass


# --- How a store's trials ended, without a look at them -------------------------------


def bad(algorithm, number, error="", status="failed", task="t"):
    return Trial(task, algorithm, number, {}, status=status, error=error)


def told(where):
    with store.open(where) as s:
        return [(m.message, m.count, *_key(m)) for m in s.tally().mishaps]


def _key(mishap):
    return mishap.task, mishap.algorithm, mishap.number


def test_it_counts_as_one_would_who_reads_everything(where):
    rng = np.random.default_rng(7)
    trials = Trials(
        Trial(
            *(f"t{i % 3}", f"a{i % 2}", i, {"loss": 1.0}),
            status=str(rng.choice(STATUSES)),
            seconds=float(rng.choice([np.nan, rng.exponential(10)])),
        )
        for i in range(300)
    )
    store.write(trials, where)
    with store.open(where) as s:
        cells = s.tally().cells
    assert list(cells) == list(dict.fromkeys(trials.key(i)[:2] for i in range(300)))
    for (task, algorithm), ended in cells.items():
        part = list(trials.where(task=task, algorithm=algorithm))
        states = [trial.status for trial in part]
        assert ended.states == {name: states.count(name) for name in STATUSES}
        took = [t.seconds for t in part if not np.isnan(t.seconds)]
        assert ended.mean == pytest.approx(np.mean(took))
        assert ended.longest == pytest.approx(max(took), abs=1e-9)


def test_of_nothing_there_is_nothing_to_tell(where):
    with store.open(where) as s:
        assert s.tally() == news.Tally({}, ())
        s.write(Trials([Trial("t", "a", 0, {"loss": 1.0})]))
        (ended,) = s.tally().cells.values()
        assert ended.states == dict.fromkeys(STATUSES, 0) | {"ok": 1}
        assert (ended.mean, ended.longest) == (None, None)


def test_years_of_computing_do_not_overflow(where):
    years = 50 * 365 * 86400.0
    store.write(
        Trials(Trial("t", "a", i, {"loss": 1.0}, seconds=years) for i in range(9)),
        where,
    )
    with store.open(where) as s:
        assert s.tally().cells["t", "a"].mean == pytest.approx(years)


def test_errors_are_told_by_their_first_line_and_first_trial(where):
    trials = [
        *(bad("b", i, "ValueError: größer\n  a.py:1 in f") for i in (7, 3)),
        *(bad("a", i, f"\nValueError: größer\n  b.py:{i} in g") for i in (5, 9)),
        *(bad("a", i, "SIGSEGV\n\0\"'; DROP", "crashed") for i in (1, 2)),
        bad("b", 1, task="u", status="cancelled"),
        Trial("t", "a", 0, {"loss": 1.0}),
    ]
    with store.open(where) as s:
        s.introduce(["t", "u"], ["a", "b"])
        s.write(Trials(trials))
    assert told(where) == [
        ("ValueError: größer", 4, "t", "a", 5),
        ("SIGSEGV", 2, "t", "a", 1),
        ("it left no message", 1, "u", "b", 1),
    ]


def test_the_most_frequent_are_told_and_of_equal_ones_the_first(where):
    errors = ["often"] * 3 + [f"once {i}" for i in range(20)]
    store.write(Trials(bad("a", i, error) for i, error in enumerate(errors)), where)
    assert [message for message, *_ in told(where)] == [
        *("often", "once 0", "once 1", "once 2", "once 3")
    ]


def test_a_long_message_is_cut(where):
    store.write(Trials([bad("a", 0, "x" * 10_000)]), where)
    assert told(where) == [("x" * 199 + "…", 1, "t", "a", 0)]


def test_more_messages_than_anybody_looks_at(where, monkeypatch):
    monkeypatch.setattr(news, "_TEXTS", 10)
    errors = [f"loss is {i}" for i in range(50)] + ["often"] * 2
    store.write(Trials(bad("a", i, error) for i, error in enumerate(errors)), where)
    assert told(where)[0] == ("often", 2, "t", "a", 50)


def test_no_trial_is_read(where, monkeypatch):
    store.write(Trials([bad("a", 0, "x")]), where)
    monkeypatch.delattr(AnyStore, "_read")
    monkeypatch.delattr(AnyStore, "_details")
    assert told(where) == [("x", 1, "t", "a", 0)]


def test_what_is_replaced_meanwhile_is_counted_once(where):
    """One state of the store, before or after a batch, whoever writes."""
    store.write(Trials(bad("a", i, "x") for i in range(5)), where)
    with store.open(where) as reader, store.open(where) as writer:
        with reader._db.snapshot():
            before = news.counted(reader._db)
            writer.write(Trials(Trial("t", "a", i, {"loss": 1.0}) for i in range(5)))
            assert news.counted(reader._db) == before
        assert reader.tally().mishaps == ()
