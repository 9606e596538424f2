"""A run: what the plan has and the store has not, nothing twice, and no bad argument."""

import re
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from support import refused

import curvewise
from curvewise import (
    Algorithm,
    CurvewiseError,
    CurvewiseWarning,
    Experiment,
    Metric,
    Task,
    Trial,
    Trials,
    store,
)
from curvewise.engine.drive import limits_of
from curvewise.engine.workers.local import Serial
from curvewise.flow.run import InMemory
from curvewise.stats.planning import planned_looks

TASK = Task("t", lambda rng: rng.random())


def fine(params, data, rng):
    yield 0, {"accuracy": data}
    yield 1, {"accuracy": rng.random()}


FINE = Algorithm("a", {"C": [1, 2, 3]}, fine)


def experiment(trials=20, algorithms=FINE, tasks=TASK, **options):
    return Experiment(tasks, algorithms, trials, 3, **options)


def ran(plan=None, **options):
    options = {"executor": "serial", "progress": False} | options
    return curvewise.run(experiment() if plan is None else plan, **options)


class Counting(Serial):
    """An executor that counts the trials it was asked to run."""

    def __init__(self):
        self.numbers = []

    def run(self, payload, queue, limits, stop):
        for finished in super().run(payload, queue, limits, stop):
            self.numbers += finished.core.number.tolist()
            yield finished


def counted(plan=None, **options):
    """Return how many trials a run really ran."""
    executor = Counting()
    ran(plan, executor=executor, **options)
    return len(executor.numbers)


# --- what is run ---------------------------------------------------------------------


def test_a_run_returns_every_trial_of_the_plan():
    algorithms = [FINE, Algorithm("b", {}, fine)]
    trials = ran(experiment(5, algorithms, [TASK, Task("u", lambda rng: 0.5)]))
    assert len(trials) == 20
    assert trials.tasks == ("t", "u")
    assert trials.algorithms == ("a", "b")
    assert {t.number for t in trials} == set(range(5))
    assert all(t.seconds >= 0 and t.attempts == 1 for t in trials)


def test_with_a_store_and_without_the_trials_are_the_same(tmp_path):
    assert ran(store=tmp_path / "runs.db") == ran()
    assert store.read(tmp_path / "runs.db") == ran()


def test_a_store_may_be_named_by_a_text(tmp_path):
    ran(store=str(tmp_path / "runs.db"))
    assert (tmp_path / "runs.db").exists()


def test_the_same_call_again_runs_nothing(tmp_path):
    path = tmp_path / "runs.db"
    assert counted(store=path) == 20
    assert counted(store=path) == 0


def test_a_plan_that_grew_runs_what_is_new(tmp_path):
    path = tmp_path / "runs.db"
    assert counted(experiment(5), store=path) == 5
    assert counted(experiment(20), store=path) == 15
    assert counted(experiment(20, [FINE, Algorithm("b", {}, fine)]), store=path) == 20
    assert counted(experiment(3), store=path) == 0
    assert store.read(path) == ran(experiment(20, [FINE, Algorithm("b", {}, fine)]))


def test_holes_are_filled(tmp_path):
    path = tmp_path / "runs.db"
    store.write(ran().where(number=[0, 7, 19]), path)
    assert counted(store=path) == 17
    assert store.read(path) == ran()


def test_a_trial_with_a_negative_number_is_nobody_of_the_plan(tmp_path):
    path = tmp_path / "runs.db"
    store.write(Trials([Trial("t", "a", -1, {"accuracy": 0.5})]), path)
    assert counted(store=path) == 20


def test_results_are_read_when_they_are_first_looked_at(tmp_path):
    path = tmp_path / "runs.db"
    trials = ran(store=path)
    path.rename(tmp_path / "moved.db")
    with pytest.raises(CurvewiseError, match=r"runs\.db"):
        len(trials)


def test_results_say_where_they_come_from(tmp_path):
    path = tmp_path / "runs.db"
    assert str(path) in ran(store=path).origin


# --- trials that did not end well ----------------------------------------------------

_broken = set()


def breaks(params, data, rng):
    """Fail in those trials whose first random number is in a set."""
    number = rng.integers(10)
    if number in _broken:
        raise ValueError(f"broken {number}")
    yield 0, {"accuracy": number / 10}


BREAKS = Algorithm("a", {}, breaks)


@pytest.fixture
def half_broken(tmp_path):
    """Give a store in which half of 64 trials failed; what broke them is mended."""
    _broken.update(range(5))
    path = tmp_path / "runs.db"
    ran(experiment(64, BREAKS), store=path)
    _broken.clear()
    return path


def test_failed_trials_are_results_and_not_run_again(half_broken):
    before = store.read(half_broken)
    assert 10 < len(before.where(status="failed")) < 54
    assert counted(experiment(64, BREAKS), store=half_broken) == 0
    assert store.read(half_broken) == before


def test_failed_trials_are_run_again_when_asked_for(half_broken):
    failed = len(store.read(half_broken).where(status="failed"))
    again = counted(experiment(64, BREAKS), store=half_broken, retry_failed=True)
    assert again == failed
    assert store.read(half_broken) == ran(experiment(64, BREAKS))


def test_failed_trials_are_run_again_at_every_look(half_broken):
    failed = len(store.read(half_broken).where(status="failed"))
    again = counted(
        experiment(64, BREAKS),
        store=half_broken,
        retry_failed=True,
        until=lambda trials: False,
    )
    assert again == failed


def test_where_nothing_is_kept_there_is_nothing_to_run_again():
    assert counted(retry_failed=True) == 20


# --- until ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trials", "looks"),
    [
        (1, [1]),
        (2, [1, 2]),
        (10, [1, 2, 3, 5, 10]),
        (16, [1, 2, 4, 8, 16]),
        (1_000, [63, 125, 250, 500, 1_000]),
    ],
)
def test_the_looks_are_planned_and_double(trials, looks):
    """Sixteenths, rounded up; the last is all of it."""
    assert planned_looks(trials) == looks


def test_until_is_asked_at_every_look_with_all_algorithms_at_it(tmp_path):
    asked = []

    def look(trials):
        asked.append({a: len(trials.where(algorithm=a)) for a in trials.algorithms})
        return False

    plan = experiment(64, [FINE, Algorithm("b", {}, fine)])
    found = ran(plan, store=tmp_path / "runs.db", until=look)
    assert asked == [{"a": n, "b": n} for n in (4, 8, 16, 32, 64)]
    assert found == ran(plan)


def test_a_run_ends_when_until_says_so_and_can_go_on(tmp_path):
    path = tmp_path / "runs.db"
    plan = experiment(64)
    found = ran(plan, store=path, until=lambda trials: len(trials) >= 16)
    assert len(found) == 16
    assert {t.number for t in found} == set(range(16))
    assert len(ran(plan, store=path, until=lambda trials: False)) == 64


def test_a_look_that_was_taken_before_is_taken_again(tmp_path):
    """A resumed run decides at the same sizes as one that was never stopped."""
    path, asked = tmp_path / "runs.db", []
    ran(experiment(64), store=path, until=lambda trials: len(trials) >= 8)
    ran(experiment(64), store=path, until=lambda trials: asked.append(len(trials)))
    assert asked[-3:] == [16, 32, 64]


def test_until_works_without_a_store(tmp_path):
    asked = []

    def look(trials):
        asked.append(len(trials))
        return len(trials) >= 16

    assert len(ran(experiment(64), until=look)) == 16
    assert asked == [4, 8, 16]


def test_an_error_in_until_is_the_callers_and_leaves_the_trials(tmp_path):
    path = tmp_path / "runs.db"

    def look(trials):
        raise ZeroDivisionError("theirs")

    with pytest.raises(ZeroDivisionError, match="theirs"):
        ran(experiment(64), store=path, until=look)
    assert len(store.read(path)) == 4


# --- what is said about metrics ------------------------------------------------------


def zorps(params, data, rng):
    yield 0, {"zorp": data, "blip": 1.0}


ZORPS = Algorithm("a", {}, zorps)


def said(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return caught


def test_metrics_that_nobody_declared_are_warned_of_once():
    """Once for a run, not once for each batch of it."""
    (warning,) = said(lambda: ran(experiment(500, ZORPS)))
    assert warning.category is CurvewiseWarning
    assert "'zorp', 'blip'" in str(warning.message)


def test_looks_do_not_warn_again(tmp_path):
    plan = experiment(64, ZORPS)
    path = tmp_path / "runs.db"
    assert len(said(lambda: ran(plan, store=path, until=lambda trials: False))) == 1


def test_the_warning_points_to_the_call():
    (warning,) = said(lambda: ran(experiment(3, ZORPS)))
    assert Path(warning.filename) == Path(__file__)


def test_declared_and_registered_metrics_are_not_warned_of():
    metrics = [Metric("zorp", "lower"), Metric("blip")]
    trials = ran(experiment(5, ZORPS, metrics=metrics))
    assert trials.metrics["zorp"].direction == "lower"
    assert ran().metrics["accuracy"].range == (0.0, 1.0)


def test_a_metric_that_comes_late_is_warned_of_when_it_comes():
    def late(params, data, rng):
        yield 0, {"accuracy": 1.0} | ({"zorp": 1.0} if data > 0.8 else {})

    (warning,) = said(lambda: ran(experiment(50, Algorithm("a", {}, late))))
    assert "'zorp'" in str(warning.message)


# --- bad arguments -------------------------------------------------------------------


@pytest.mark.parametrize("plan", [{}, None, [experiment()], "plan.toml", fine])
def test_what_is_run_is_an_experiment(plan):
    with pytest.raises(
        CurvewiseError,
        match=rf"^run got {type(plan).__name__}\. Pass an Experiment; estimators of "
        r"scikit-learn become one by curvewise\.zoo\.experiment\.$",
    ):
        curvewise.run(plan)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, r"workers is 0\. Pass a whole number from 1 on\."),
        ({"workers": -2}, r"workers is -2\. Pass a whole number from 1 on\."),
        ({"workers": True}, r"workers is True\. Pass a whole number from 1 on\."),
        (
            {"executor": "x"},
            r"There is no executor 'x'\. There are: 'local', 'serial', 'ray'\.",
        ),
        ({"executor": "Local"}, r"There is no executor 'Local'\. Did you mean 'local'"),
        ({"executor": None}, r"There is no executor 'None'\."),
        ({"timeout": -1}, r"timeout is -1\. Pass seconds above 0\."),
        ({"timeout": 0}, r"timeout is 0\. Pass seconds above 0\."),
        ({"timeout": float("nan")}, r"timeout is nan\. Pass seconds above 0\."),
        ({"timeout": True}, r"timeout is True\. Pass seconds above 0\."),
        ({"retries": -1}, r"retries is -1\. Pass a whole number from 0 on\."),
        ({"retries": 1.0}, r"retries is 1\.0\. Pass a whole number from 0 on\."),
        ({"retries": "2"}, r"retries is '2'\. Pass a whole number from 0 on\."),
        ({"memory": "x"}, r"memory is 'x'\. Pass bytes, or a text such as '2 GB'\."),
        ({"memory": "2 GiB"}, r"memory is '2 GiB'\. Pass bytes, or"),
        ({"memory": ""}, r"memory is ''\. Pass bytes, or"),
        ({"memory": "GB"}, r"memory is 'GB'\. Pass bytes, or"),
        ({"memory": "nan GB"}, r"memory is 'nan GB'\. Pass bytes, or"),
        ({"memory": 0}, r"memory is 0\. Pass bytes, or"),
        ({"memory": -5}, r"memory is -5\. Pass bytes, or"),
        ({"memory": True}, r"memory is True\. Pass bytes, or"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused_with_what_to_pass(options, message):
    with pytest.raises(CurvewiseError, match=f"^{message}"):
        ran(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": "x"}, "workers is 'x'. Pass a whole number from 1 on."),
        ({"workers": 1.5}, "workers is 1.5. Pass a whole number from 1 on."),
        ({"timeout": "5"}, "timeout is '5'. Pass seconds above 0."),
        ({"timeout": float("inf")}, "timeout is inf. Pass seconds above 0."),
        ({"memory": "-2 GB"}, "memory is '-2 GB'. Pass bytes, or"),
        ({"memory": "0"}, "memory is '0'. Pass bytes, or"),
        ({"memory": "inf GB"}, "memory is 'inf GB'. Pass bytes, or"),
        ({"memory": [1]}, r"memory is [1]. Pass bytes, or"),
    ],
    ids=str,
)
def test_these_are_refused_so_too(options, message):
    with pytest.raises(CurvewiseError, match=f"^{re.escape(message)}"):
        ran(**options)


@pytest.mark.parametrize(
    ("memory", "n"),
    [
        (None, None),
        (5_000_000, 5_000_000),
        (np.int64(7), 7),
        (1e6, 1_000_000),
        ("1000", 1_000),
        ("2 GB", 2_000_000_000),
        ("2gb", 2_000_000_000),
        (" 1.5 MB ", 1_500_000),
        ("500KB", 500_000),
        ("1 TB", 10**12),
        ("7 B", 7),
    ],
)
def test_memory_is_bytes_or_a_text(memory, n):
    assert limits_of(None, 1, memory).memory == n


def test_a_bad_argument_leaves_no_store_behind(tmp_path):
    runs = tmp_path / "runs.db"
    assert refused(ran, store=runs, executor="lcal") == ("executor", "lcal")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_sent_to_workers_is_named_before_one_is_started():
    lock = threading.Lock()

    def holds(params, data, rng):
        return lock

    algorithms = [FINE, Algorithm("holder", {}, holds)]
    with pytest.raises(CurvewiseError) as caught:
        ran(experiment(3, algorithms), executor="local", workers=1)
    assert caught.value.argument == "Algorithm 'holder'"
    assert caught.value.message.fixes == ({"executor": "serial"},)


def test_two_runs_do_not_fill_one_store(tmp_path):
    path = tmp_path / "runs.db"
    with store.open(path) as held, held.driving():
        assert refused(ran, store=path) == ("store", path)


def test_a_store_is_free_after_a_run_that_failed(tmp_path):
    path = tmp_path / "runs.db"

    def look(trials):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ran(store=path, until=look)
    assert len(ran(store=path)) == 20


def test_an_executor_of_ones_own_is_not_closed():
    class Open(Serial):
        closed = False

        def close(self):
            self.closed = True

    executor = Open()
    assert len(ran(executor=executor)) == 20
    assert not executor.closed


# --- without a store -----------------------------------------------------------------


def test_what_is_kept_in_memory_is_what_was_written():
    keeper = InMemory()
    keeper.introduce(["t"], ["a"])
    assert keeper.numbers() == {}
    for n in (10, 0):
        keeper.write(ran().where(number=range(n, n + 10)))
    assert keeper.read() == ran()
    assert sorted(keeper.numbers()["t", "a"].tolist()) == list(range(20))
    wanted = np.arange(15, 25)
    left = keeper.unfinished(("t", "a"), wanted, redo=())
    assert left.tolist() == [20, 21, 22, 23, 24]


def test_what_is_kept_in_memory_was_not_there_before():
    keeper = InMemory()
    texts = {"design": "seed: 3"}
    assert keeper.define(texts) == texts
    with keeper.driving():
        assert keeper.shared is False
    keeper.close()


def test_tasks_and_algorithms_are_listed_as_the_experiment_lists_them(tmp_path):
    """Whichever of them finished first."""
    plan = experiment(
        3, [Algorithm("z", {}, fine), FINE], [Task("y", lambda rng: 1), TASK]
    )
    for found in (ran(plan), ran(plan, store=tmp_path / "runs.db")):
        assert (found.tasks, found.algorithms) == (("y", "t"), ("z", "a"))


def test_trials_know_what_they_were_drawn_from(tmp_path):
    for found in (ran(), ran(store=tmp_path / "runs.db")):
        assert found.spaces == {"a": "C: one of 1, 2, 3"}
