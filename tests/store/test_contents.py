"""What a store can tell without a look at its trials: numbers, notes, definitions."""

import ast
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from curvewise import CurvewiseError, Trials, store
from curvewise.trials.columns import Core, no_details

sys.path.insert(0, str(Path(__file__).parent))
from everything import METRICS, everything


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
        with pytest.raises(CurvewiseError, match="There is no status 'lost'"):
            s.numbers(status=["lost"])


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
        for wrong in ({"a": "b\0c"}, {"a": 1}, {1: "a"}):
            with pytest.raises(CurvewiseError, match="Pass texts without zero bytes"):
                s.note(wrong)


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
