"""What every store promises: SQLite and PostgreSQL, the same tests."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from everything import METRICS, everything
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import refused

from curvewise import CurvewiseError, Metric, Trial, Trials, store
from curvewise.store.schema import VERSION


def exactly(trials):
    """Return all that a trial is, also what equality leaves aside."""
    return [(t, t.seconds, t.error, t.attempts) for t in trials]


def test_everything_comes_back_as_it_went_in(where):
    trials = everything()
    store.write(trials, where)
    back = store.read(where)
    assert back == trials
    assert repr(exactly(back)) == repr(exactly(trials))
    assert back.metrics == trials.metrics
    assert {m.name: m for m in METRICS} == dict(back.metrics)


def test_not_recorded_and_not_a_number_stay_two_things(where):
    store.write(everything(), where)
    first, second = list(store.read(where))[1:3]
    assert np.isnan(first.metrics["regret"][1])
    assert not np.ma.is_masked(first.metrics["regret"])
    assert np.ma.getmaskarray(second.metrics["accuracy"]).tolist() == [
        True,
        False,
        True,
    ]


def test_a_second_write_replaces_by_key_and_keeps_the_rest(where):
    store.write(everything(), where)
    again = Trials([Trial("moons", "svm", 0, {"accuracy": 0.5})], METRICS)
    store.write(again, where)
    back = store.read(where)
    assert len(back) == len(everything())
    assert [t for t in back if t.key == ("moons", "svm", 0)] == list(again)


def test_batches_do_not_change_what_is_stored(new_place):
    with store.open(new_place()) as one, store.open(new_place()) as other:
        one.write(everything(), batch=1)
        other.write(everything(), batch=10_000)
        assert one.read() == other.read()
        assert one.keys() == {t.key for t in everything()}
        assert len(one) == len(everything())


@pytest.mark.parametrize("batch", [0, -1, 2.5, True])
def test_a_batch_that_is_none_is_refused(where, batch):
    with store.open(where) as s:
        assert refused(s.write, everything(), batch=batch) == ("batch", batch)
        assert len(s) == 0


def test_a_closed_store_says_so(where):
    with store.open(where) as s:
        pass
    with pytest.raises(
        CurvewiseError, match=r"closed( database)?\..* before it is closed\."
    ):
        s.read()


def test_an_empty_store_and_trials_without_metrics(where):
    with store.open(where) as empty:
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


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(st.tuples(curves, curves, st.booleans()), max_size=8), st.integers(1, 3)
)
def test_any_curves_survive(new_place, drawn, batch):
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
    with store.open(new_place()) as s:
        s.write(trials, batch=batch)
        assert s.read() == trials
        assert list(s.read()) == list(trials)


def test_many_trials_with_gaps_are_read_in_one_pass(where):
    """Every row has a mask; none needs a pass over the others."""
    n = 5_000
    trials = Trials(
        Trial("t", "a", i, {"loss": [i, None], "error": [None, 0.5]}) for i in range(n)
    )
    store.write(trials, where)
    back = store.read(where)
    assert back.scores("loss")["a"].tolist() == list(range(n))
    assert back == trials


def test_rows_that_arrive_in_any_order_make_the_same_table(where):
    trials = [Trial("t", a, i, {"loss": i}) for a in "ab" for i in range(20)]
    with store.open(where) as one:
        for i in np.random.default_rng(0).permutation(len(trials)):
            one.write(Trials([trials[i]]))
        assert one.read() == Trials(trials)
        assert one.read().scores("loss")["b"].tolist() == list(range(20))


def test_details_stay_on_disk_until_asked_for_and_fit_what_was_read(where):
    store.write(everything(), where)
    early = store.read(where)
    store.write(Trials([Trial("new", "svm", 0, {"accuracy": 1.0})], METRICS), where)
    assert early == everything()
    late = store.read(where)
    store.write(Trials([Trial("moons", "svm", 0, {"accuracy": 0.5})], METRICS), where)
    with pytest.raises(
        CurvewiseError, match=r"1 trials in .* were replaced since it was"
    ):
        late.details()


def test_a_metric_that_means_something_else_is_refused_and_nothing_is_written(where):
    store.write(Trials([Trial("t", "a", 0, {"accuracy": 1.0})]), where)
    other = Trials(
        [Trial("t", "b", 0, {"accuracy": 1.0})], [Metric("accuracy", "lower")]
    )
    assert refused(store.write, other, where) == (
        "metrics",
        Metric("accuracy", "lower"),
    )
    back = store.read(where)
    assert len(back) == 1
    assert back.algorithms == ("a",)
    with store.open(where) as s:  # and the store goes on working
        s.write(Trials([Trial("t", "b", 0, {"accuracy": 0.0})]))
        assert len(s) == 2


MAKER = """
import sys
from curvewise import Trial, Trials
from curvewise import store as stores
for i in range(10):
    with stores.open(sys.argv[1]) as store:
        store.write(Trials([Trial("t", "a" + sys.argv[2], i, {"loss": i})]))
"""


def test_many_makers_of_one_store_make_one(where):
    makers = [
        subprocess.Popen([sys.executable, "-c", MAKER, str(where), str(i)])
        for i in range(4)
    ]
    assert [maker.wait(60) for maker in makers] == [0] * 4
    assert len(store.read(where)) == 40


def test_a_large_set_is_written_block_by_block(new_place, monkeypatch):
    from curvewise.store import base

    monkeypatch.setattr(base, "BLOCK", 4)
    for batch in (1, 3, 100):
        with store.open(new_place()) as s:
            s.write(everything(), batch=batch)
            assert s.read() == everything()


def test_two_open_stores_agree_on_codes(where):
    """Names that another process added since must not be given a second code."""
    with store.open(where) as one, store.open(where) as two:
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
from curvewise import store as stores
with stores.open(sys.argv[1]) as store:
    for i in range(10_000):
        store.write(Trials([Trial("t", "a", 3 * i + j, {"loss": float(3 * i + j)})
                            for j in range(3)]))
        print(3 * i + 3, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_was_committed(where):
    written = 0
    for moment in (5, 23, 41):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(where)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(moment):
            written = max(written, int(writer.stdout.readline()))
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        back = store.read(where)
        assert len(back) >= written
        assert len(back) % 3 == 0  # whole batches
        numbers = back.scores("loss")["a"]
        assert numbers.tolist() == list(range(len(back)))


def test_a_reader_works_while_a_writer_writes(where):
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(where)], stdout=subprocess.PIPE, text=True
    )
    try:
        writer.stdout.readline()
        lengths = []
        for _ in range(20):
            trials = store.read(where)
            assert trials.scores("loss")["a"].tolist() == list(range(len(trials)))
            assert len(trials.details().attempts) == len(trials)
            lengths.append(len(trials))
        assert writer.poll() is None
        assert lengths == sorted(lengths)
        assert lengths[-1] > lengths[0]
    finally:
        writer.kill()
        writer.communicate()


# --- what is no store --------------------------------------------------------------------


def test_an_unknown_version_is_named(where):
    store.write(everything(), where)
    with store.open(where) as s:
        s._db.execute("UPDATE curvewise SET value = '99' WHERE key = 'version'")
    words = rf"is a store of version 99; this curvewise \(.*\) knows version {VERSION}"
    with pytest.raises(CurvewiseError, match=words):
        store.read(where)


def test_stretches_are_invisible(where, monkeypatch):
    """Whatever rows are read at once, and if some are too many, the columns are equal."""
    from curvewise.store import columns as chunks

    store.write(everything(), where)
    monkeypatch.setattr(chunks, "MOST_ROWS", 3)
    assert store.read(where) == everything()
    monkeypatch.setattr(chunks, "MOST_ROWS", 100)
    with store.open(where) as s:
        kind, asked = type(s._db), []
        whole = kind.stretch

        def too_big(self, columns, first, last, since=None):
            asked.append(last - first + 1)
            fits = last - first < 2
            return whole(self, columns, first, last, since) if fits else None

        monkeypatch.setattr(kind, "stretch", too_big)
        assert s.read() == everything()
        assert max(asked) > 2
        monkeypatch.setattr(kind, "stretch", lambda *_: None)
        with pytest.raises(CurvewiseError, match="the trial with id 1 is too long"):
            s.read()


def test_what_is_a_store_and_what_is_none(where, tmp_path):
    store.write(everything(), where)
    assert store.is_store(where)
    assert not store.is_store(tmp_path / "none.csv")
    assert not store.is_store({"a": [1]})
    with store.open(where, create=False) as s:
        assert s.read().origin == str(s)
