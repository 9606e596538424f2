"""Trials in this process: time limits, Ctrl-C, and what it cannot do."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from support import refused

import curvewise
from curvewise import Algorithm, CurvewiseError, Experiment, Task, store
from curvewise.engine.workers.local import Serial

# A machine that others use too: a limit is far above what a trial needs otherwise.
LIMIT = 0.05


def experiment(run, trials=4, **options):
    return Experiment(
        Task("t", lambda rng: rng.random()), Algorithm("a", {}, run), trials, **options
    )


def ran(run, trials=4, **options):
    options = {"executor": "serial", "progress": False} | options
    return curvewise.run(experiment(run, trials), **options)


def fine(params, data, rng):
    yield 0, {"accuracy": data}


def sleeps(params, data, rng):
    yield 0, {"accuracy": 0.25}
    yield 1, {"accuracy": 0.5}
    time.sleep(30)
    yield 2, {"accuracy": 0.75}


# --- time limits ---------------------------------------------------------------------


def test_a_trial_over_its_limit_is_a_timeout_with_what_it_had_yielded():
    trials = ran(sleeps, 2, timeout=LIMIT)
    for trial in trials:
        assert trial.status == "timeout"
        assert trial.error == "It was stopped after its limit of 0.05 s."
        assert trial.metrics["accuracy"].tolist() == [0.25, 0.5]
        assert LIMIT <= trial.seconds < 10


def test_the_limit_is_of_each_trial_not_of_all():
    def quick(params, data, rng):
        time.sleep(0.01)
        return {"accuracy": 1.0}

    trials = ran(quick, 70, timeout=0.6)
    assert {t.status for t in trials} == {"ok"}


def test_a_loop_without_end_is_stopped_too():
    def loops(params, data, rng):
        yield 0, {"accuracy": 1.0}
        while True:
            try:
                len("busy")
            except Exception:  # it is not one
                continue

    (trial,) = ran(loops, 1, timeout=LIMIT)
    assert (trial.status, len(trial.steps)) == ("timeout", 1)


def test_slow_data_counts_as_well():
    def slow(rng):
        time.sleep(30)

    task, algorithm = Task("t", slow), Algorithm("a", {}, fine)
    (trial,) = curvewise.run(
        Experiment(task, algorithm, 1), executor="serial", timeout=LIMIT, progress=False
    )
    assert (trial.status, len(trial.steps)) == ("timeout", 0)


def test_a_limit_that_strikes_while_a_yield_is_written_down_leaves_no_half_of_it():
    """A step without its values shifts all later numbers of the batch: silently wrong."""

    def tight(params, data, rng):
        for i in itertools.count():
            yield i, {"accuracy": data, "error": 1 - data}

    trials = ran(tight, 30, timeout=0.004)
    lengths = {len(flat) for flat in trials.core.values.values()}
    assert lengths == {len(trials.core.steps)}
    for trial in trials:
        assert trial.status == "timeout"
        if len(trial.steps):  # on a busy machine the limit strikes before the first
            assert len(set(trial.metrics["accuracy"].tolist())) == 1


def test_the_next_trials_run_as_if_nothing_had_been():
    calls = iter([sleeps, fine, fine, sleeps, fine])

    def run(params, data, rng):
        return next(calls)(params, data, rng)

    trials = ran(run, 5, timeout=LIMIT * 3)
    assert [t.status for t in trials] == ["timeout", "ok", "ok", "timeout", "ok"]


def test_after_a_run_the_alarm_is_as_it_was():
    def theirs(*_):
        raise AssertionError("rang")

    before = signal.signal(signal.SIGALRM, theirs)
    try:
        ran(sleeps, 1, timeout=LIMIT)
        assert signal.getsignal(signal.SIGALRM) is theirs
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_limit_that_was_not_needed_does_not_ring_later():
    ran(fine, timeout=60)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_trial_that_catches_everything_is_stopped_all_the_same():
    def deaf(params, data, rng):
        end = time.monotonic() + 0.4
        while time.monotonic() < end:
            with contextlib.suppress(BaseException):
                time.sleep(0.1)
        yield 0, {"accuracy": 1.0}

    (trial,) = ran(deaf, 1, timeout=LIMIT)
    assert trial.status == "timeout"


# --- threads -------------------------------------------------------------------------


def in_a_thread(function):
    found = []

    def body():
        try:
            found.append(function())
        except BaseException as problem:
            found.append(problem)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(30)
    return found[0]


def test_a_run_in_a_thread_works():
    """A live view or a notebook's widget may start one; signals are not theirs."""
    assert in_a_thread(lambda: ran(fine)) == ran(fine)


def test_a_time_limit_in_a_thread_is_refused():
    problem = in_a_thread(lambda: ran(fine, timeout=1))
    assert isinstance(problem, CurvewiseError)
    assert (problem.argument, problem.value) == ("timeout", 1)
    assert problem.message.fixes == ({"executor": "local"},)


def test_a_limit_of_memory_is_refused():
    assert refused(ran, fine, memory="1 GB") == ("memory", 10**9)


# --- Ctrl-C --------------------------------------------------------------------------


def interrupting(at, times=1):
    """Return an algorithm that sends Ctrl-C to its own process in one of its trials."""
    calls = []

    def run(params, data, rng):
        calls.append(data)
        for _ in range(times if len(calls) == at else 0):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.001)  # signals arrive between two steps of Python
        yield 0, {"accuracy": data}

    run.calls = calls
    return run


@pytest.mark.parametrize("at", [1, 7, 40])
def test_ctrl_c_finishes_the_trial_that_runs_and_keeps_all(tmp_path, capsys, at):
    path = tmp_path / "runs.db"
    run = interrupting(at)
    with pytest.raises(KeyboardInterrupt, match=rf"^stopped after {at} of 100 trials"):
        ran(run, 100, store=path)
    assert len(run.calls) == at
    assert len(store.read(path)) == at
    assert capsys.readouterr().err == (
        "\ncurvewise: finishing the trials that run; Ctrl-C again stops at once.\n"
    )


def test_a_run_that_was_stopped_resumes_to_the_same_table(tmp_path, capsys):
    path = tmp_path / "runs.db"
    with pytest.raises(KeyboardInterrupt):
        ran(stops_once, 30, store=path)
    assert 0 < len(store.read(path)) < 30
    assert ran(stops_once, 30, store=path) == ran(stops_once, 30)


_stopped = []


def stops_once(params, data, rng):
    # A list that is no constant of the function: its definition stays the same.
    if len(_stopped) == 11:
        os.kill(os.getpid(), signal.SIGINT)
    _stopped.append(0)
    yield 0, {"accuracy": data}


def test_ctrl_c_twice_stops_at_once_and_keeps_the_batches_before(tmp_path, capsys):
    path = tmp_path / "runs.db"
    run = interrupting(60, times=2)
    with pytest.raises(KeyboardInterrupt):
        ran(run, 100, store=path)
    assert len(run.calls) == 60
    assert 0 < len(store.read(path)) < 60


def test_after_a_run_ctrl_c_is_as_it_was(capsys):
    before = signal.getsignal(signal.SIGINT)
    ran(fine)
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        ran(interrupting(1), 3)
    assert signal.getsignal(signal.SIGINT) is before


def test_without_a_store_ctrl_c_says_how_far_it_was(capsys):
    with pytest.raises(KeyboardInterrupt, match=r"^stopped after 3 of 9 trials"):
        ran(interrupting(3), 9)


SCRIPT = """
import os, signal, sys
import curvewise as cw

def run(params, data, rng):
    yield 0, {"accuracy": data}
    if len(seen) == 5:
        os.kill(os.getpid(), signal.SIGINT)
    seen.append(data)

seen = []
task = cw.Task("t", lambda rng: rng.random())
experiment = cw.Experiment(task, cw.Algorithm("a", {}, run), 50)
cw.run(experiment, store=sys.argv[1], executor="serial", progress=False)
"""


def test_a_script_that_is_stopped_ends_as_others_do(tmp_path):
    """Its shell sees a process that ended by Ctrl-C."""
    path = tmp_path / "runs.db"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGINT
    assert "finishing the trials that run" in done.stderr
    assert "KeyboardInterrupt: stopped after 6 of 50 trials" in done.stderr
    assert len(store.read(path)) == 6


# --- the rest ------------------------------------------------------------------------


def test_an_executor_that_was_passed_can_be_used_again():
    serial = Serial()
    one, other = (ran(fine, executor=serial) for _ in range(2))
    assert one == other == ran(fine)


def test_trials_run_in_this_process_one_after_another():
    pids, running = [], []

    def run(params, data, rng):
        running.append(1)
        pids.append(os.getpid())
        yield 0, {"accuracy": float(len(running))}
        running.pop()

    trials = ran(run, 20)
    assert set(pids) == {os.getpid()}
    assert trials.scores("accuracy")["a"].tolist() == [1.0] * 20


def test_nothing_is_pickled():
    lock = threading.Lock()

    def run(params, data, rng):
        with lock:
            yield 0, {"accuracy": 1.0}

    assert len(ran(run)) == 4
