"""What a store can tell without a look at its trials: numbers, notes, definitions."""

import ast
import subprocess
import sys
import tracemalloc

import numpy as np
from everything import METRICS, everything
from support import refused

from curvewise import Trial, Trials, store
from curvewise.store import columns
from curvewise.trials.columns import Core, no_details


def test_numbers_of_each_task_and_algorithm(where):
    with store.open(where) as s:
        assert s.numbers() == {}
        s.write(everything())
        found = s.numbers()
        lists = {cell: numbers.tolist() for cell, numbers in found.items()}
        assert lists == {
            ("moons", "svm"): [-5, 0, 1],
            ("moons", "knn"): [0, 2**62],
            ("круги", "knn"): [0, 1, 4, 5],
            ("круги", "x" * 3000): [3],
        }
        assert all(numbers.dtype == np.int64 for numbers in found.values())
        bad = s.numbers(status=("crashed", "timeout"))
        assert {cell: n.tolist() for cell, n in bad.items()} == {
            ("moons", "knn"): [0],
            ("круги", "knn"): [1],
        }
        assert s.numbers(status=()) == {}
        assert refused(s.numbers, status=["lost"]) == ("status", "lost")


def test_numbers_make_no_object_per_trial(where):
    n = 50_000
    core = Core(
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
        np.arange(n),
        np.zeros(n, np.int8),
        np.arange(n + 1),
        np.zeros(n),
        {"accuracy": np.zeros(n)},
        {},
    )
    meant = {"accuracy": METRICS[0]}
    with store.open(where) as s:
        s.write(
            Trials.from_columns(["t"], ["a"], meant, core, no_details(n)), batch=50_000
        )
        s.numbers()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            found = s.numbers()
            peak = tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()
    assert len(found["t", "a"]) == n
    assert peak < 40 * n  # an array of numbers has 8 bytes each, a list of them 40


def test_notes_are_kept_beside_the_trials(where):
    with store.open(where) as s:
        assert s.notes() == {}
        s.note({"toml": "a = 1\n# größer 'und' so\n", "version": "mine"})
        s.note({"toml": "a = 2"})
        assert s.notes() == {"toml": "a = 2", "version": "mine"}
    with store.open(where) as s:  # the store's own version is another thing
        assert s.notes() == {"toml": "a = 2", "version": "mine"}
        for note, culprit in (({"a": "b\0c"}, "b\0c"), ({"a": 1}, 1), ({1: "a"}, 1)):
            assert refused(s.note, note) == ("note", culprit)


def test_the_first_definition_holds(where):
    with store.open(where) as one, store.open(where) as two:
        assert one.define({"space": "C", "task": "moons"}) == {
            "space": "C",
            "task": "moons",
        }
        # What comes with a contradiction is not kept either.
        assert two.define({"space": "D", "new": "x"}) == {"space": "C"}
        assert one.notes() == {"space": "C", "task": "moons"}
        assert two.define({"new": "x"}) == {"new": "x"}
        assert one.define({}) == {}


DEFINER = """
import sys
from curvewise import store as stores
with stores.open(sys.argv[1]) as store:
    print(store.define({f"n{i}": sys.argv[2] for i in range(50)}))
"""


def test_of_two_who_define_at_once_both_get_the_same(where):
    definers = [
        subprocess.Popen(
            [sys.executable, "-c", DEFINER, str(where), name],
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "ab"
    ]
    heard = [definer.communicate(timeout=60)[0] for definer in definers]
    assert heard[0] == heard[1]
    assert len(set(ast.literal_eval(heard[0]).values())) == 1


# --- lists of examples, which may be one for each trial -----------------------------------


def answered(n, first=0, algorithm="a"):
    """Return trials with a long list of examples each, all of them different."""
    rng = np.random.default_rng(first)
    correct = np.ones(1000, bool)
    return Trials(
        Trial(
            *("t", algorithm, first + i),
            {"accuracy": 1.0},
            correct=correct,
            examples=rng.permutation(100_000)[:1000],
        )
        for i in range(n)
    )


def test_a_writer_does_not_hold_the_ids_of_examples(where):
    n, each = 300, 8 * 1000
    with store.open(where) as s:
        s.write(answered(1))
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            for first in range(10, n + 10, 20):
                s.write(answered(20, first))
            held = tracemalloc.get_traced_memory()[0] - before
            s.numbers()
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            s.numbers()
            peak = tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()
        assert held < 0.2 * n * each
        assert peak < 0.1 * n * each
        assert len(s.read()) == n + 1


def test_examples_that_a_writer_forgot_keep_their_code(where, monkeypatch):
    monkeypatch.setattr(columns, "MOST_EXAMPLE_SETS", 3)
    one, two = answered(5), answered(5, algorithm="b")  # the same lists
    with store.open(where) as first, store.open(where) as second:
        first.write(one)
        second.write(two, batch=1)
        first.write(two)
        for s in (first, second):
            assert len(s._codes.example_sets) == 3
            assert all(len(digest) == 32 for digest in s._codes.example_sets)
        count = first._db.execute("SELECT count(*) FROM example_sets").fetchone()
        assert tuple(count) == (5,)
        assert first.read() == Trials([*one, *two])


def test_only_the_examples_of_these_trials_are_read(where):
    with store.open(where) as s:
        s.write(answered(2))
        s.write(
            Trials([Trial("t", "a", 0, {"accuracy": 0.0})])
        )  # its list is left over
        early = s.read()
        s.write(answered(3, first=10))
        assert len(early.details().example_sets) == 1
        assert early[0].examples is None
        assert (early[1].examples == answered(2)[1].examples).all()
        assert len(s.read().details().example_sets) == 4


def test_a_store_keeps_what_replicates_what(where):
    trials = Trials(
        Trial("t", name, i, {"loss": i}, labels={"fold": i})
        for name in "ab"
        for i in range(3)
    ).with_design(block="fold")
    store.write(trials, where)
    assert store.read(where) == trials
    assert store.read(where).design == trials.design
