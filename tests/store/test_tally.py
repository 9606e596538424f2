"""How a store's trials ended, without a look at them."""

import numpy as np
import pytest

from curvewise import Trial, Trials, store
from curvewise.store import news
from curvewise.store.base import AnyStore
from curvewise.trials import STATUSES


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
