"""Worker processes: whatever a trial does, it ends in a state that fits it."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import misbehaving as bad
import numpy as np
import pytest
from support import refused

import curvewise as cw
from curvewise.engine.workers.local import Local

HERE = Path(__file__).parent

# What it is called, how it ends, how many steps are kept, what its message names.
HORRORS = {
    "fine": ("ok", 2, ""),
    "raises": ("failed", 1, "ZeroDivisionError: the learning rate was too high"),
    "not_a_number": ("failed", 1, "accuracy is nan"),
    "infinite": ("failed", 1, "loss is inf"),
    "nothing": ("failed", 0, "Nothing was yielded"),
    "none": ("failed", 0, "run returned NoneType"),
    "huge": ("failed", 1, "array of shape (20000000,)"),
    "unpicklable": ("failed", 1, "generator"),
    "sleeps": ("timeout", 1, "limit of 2 s"),
    "sleeps_deaf": ("timeout", 1, "limit of 2 s"),
    "kills_itself": ("crashed", 1, "SIGKILL"),
    "segfaults": ("crashed", 1, "SIGSEGV"),
    "leaves_quietly": ("crashed", 1, "exited with status 0"),
    "exits": ("failed", 1, "SystemExit: 7"),
    "eats": ("failed", 1, "MemoryError"),
    "forks": ("ok", 1, ""),
    "prints": ("ok", 1, ""),
    "backwards": ("failed", 1, "Step 3 was yielded after step 5"),
    "closes_everything": ("crashed", None, "worker process"),
    "interrupts": ("failed", 1, "KeyboardInterrupt"),
}

nowhere = cw.Task("nowhere", lambda rng: None)


@pytest.fixture(scope="module")
def zoo_of_horrors():
    algorithms = [cw.Algorithm(name, {}, getattr(bad, name)) for name in HORRORS]
    experiment = cw.Experiment([nowhere], algorithms, trials=2, seed=1)
    return cw.run(experiment, workers=2, timeout=2, memory="400 MB", progress=False)


@pytest.mark.parametrize("name", HORRORS)
def test_each_horror_ends_in_the_state_that_fits_it(zoo_of_horrors, name):
    status, steps, message = HORRORS[name]
    trials = zoo_of_horrors.where(algorithm=name)
    assert len(trials) == 2
    for trial in trials:
        assert trial.status == status, trial.error
        assert message in trial.error
        if steps is not None:
            assert len(trial.steps) == steps
            assert trial.attempts == (2 if status == "crashed" else 1)


def test_a_forked_child_does_not_answer_for_its_parent(zoo_of_horrors):
    assert zoo_of_horrors.where(algorithm="forks").scores("accuracy")[
        "forks"
    ].tolist() == [
        0.1,
        0.1,
    ]


def test_a_killed_trial_takes_its_children_along(zoo_of_horrors):
    time.sleep(0.2)
    left = [
        p.name
        for p in Path("/proc").iterdir()
        if p.name.isdigit() and _is_sleeping_child(p)
    ]
    assert left == []


def _is_sleeping_child(process):
    try:
        environment = (process / "environ").read_bytes()
        parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except (OSError, IndexError, ValueError):
        return False
    name = b"test_local.py::test_each_horror"
    return name in environment and parent == 1


def test_a_trial_whose_worker_died_once_comes_out_as_if_it_had_not(tmp_path):
    """The same streams again, alone: an attempt more, and the same result."""

    def experiment(run, folder):
        task = cw.Task("marks", lambda rng: folder)
        return cw.Experiment([task], [cw.Algorithm("dies", {}, run)], 6, 1)

    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    disturbed = cw.run(experiment(bad.dies_once, str(first)), workers=2, progress=False)
    assert {t.attempts for t in disturbed} == {2}
    assert {t.status for t in disturbed} == {"ok"}
    for mark in first.iterdir():  # in a folder with all marks it lives on
        (second / mark.name).touch()
    calm = cw.run(experiment(bad.dies_once, str(second)), executor="serial")
    assert {t.attempts for t in calm} == {1}
    assert disturbed == calm


def test_without_retries_the_first_death_is_the_last():
    algorithm = cw.Algorithm("dies", {}, bad.kills_itself)
    experiment = cw.Experiment([nowhere], [algorithm], trials=1, seed=1)
    (trial,) = cw.run(experiment, workers=1, retries=0, progress=False)
    assert (trial.status, trial.attempts) == ("crashed", 1)


@pytest.mark.parametrize(
    ("name", "status"),
    [("dies_before_it_yields", "crashed"), ("sleeps_before_it_yields", "timeout")],
)
def test_what_was_drawn_is_kept_of_trials_that_never_yielded(name, status):
    """Else nobody could see which hyperparameters crash."""
    algorithm = cw.Algorithm(name, {"C": [1.5]}, getattr(bad, name))
    experiment = cw.Experiment(
        [nowhere], [algorithm], seed=1, cross={"params": 1, "seed": 1}
    )
    (trial,) = cw.run(experiment, workers=1, timeout=1, retries=0, progress=False)
    assert trial.status == status
    assert trial.params == {"C": 1.5}
    assert trial.labels == {"params": 0, "seed": 0}


def test_no_worker_holds_a_long_trial_that_another_could_run():
    """Four trials of a second on four workers take about one, not two."""
    algorithm = cw.Algorithm("naps", {}, bad.naps)
    warm = cw.Experiment([nowhere], [cw.Algorithm("fine", {}, bad.fine)], 40, 1)
    with Local(4) as pool:
        cw.run(warm, executor=pool, progress=False)
        begin = time.monotonic()
        cw.run(
            cw.Experiment([nowhere], [algorithm], 4, 1), executor=pool, progress=False
        )
        assert time.monotonic() - begin < 1.9


def test_a_module_that_workers_cannot_import_is_named(tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text(
        "def run(params, data, rng):\n    yield 0, {'accuracy': 1.0}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    experiment = cw.Experiment([nowhere], [cw.Algorithm("a", {}, only_here.run)], 2, 1)
    (tmp_path / "only_here.py").unlink()
    with pytest.raises(
        cw.CurvewiseError, match=r"cannot load the experiment: Mod.*here"
    ):
        cw.run(experiment, workers=1, progress=False)


def test_one_death_among_many_tiny_trials_costs_exactly_its_own():
    def run(params, data, rng):
        value = rng.random()
        if abs(value - 0.5) < 0.002:
            os.kill(os.getpid(), signal.SIGKILL)
        yield 0, {"accuracy": value}

    experiment = cw.Experiment([nowhere], [cw.Algorithm("a", {}, run)], 2000, 1)
    trials = cw.run(experiment, workers=2, progress=False)
    # Which ones die is known: their streams can be asked.
    from curvewise.engine.seeding import stream

    values = np.array(
        [stream(1, "seed", "nowhere", "a", replicate=i).random() for i in range(2000)]
    )
    doomed = np.abs(values - 0.5) < 0.002
    assert doomed.any()
    crashed = [t.number for t in trials.where(status="crashed")]
    assert crashed == np.flatnonzero(doomed).tolist()
    alive = trials.where(status="ok").scores("accuracy")["a"]
    np.testing.assert_array_equal(alive, values[~doomed])


def test_one_and_two_workers_and_none_give_the_same_table():
    algorithm = cw.Algorithm("a", {"pause": [0.0, 0.001]}, bad.takes_a_while)
    task = cw.Task("numbers", lambda rng: rng.random(3))
    experiment = cw.Experiment([task], [algorithm], trials=40, seed=3)
    serial = cw.run(experiment, executor="serial", progress=False)
    for workers in (1, 2):
        assert cw.run(experiment, workers=workers, progress=False) == serial
    other = cw.Experiment([task], [algorithm], trials=40, seed=4)
    assert cw.run(other, executor="serial", progress=False) != serial  # it can differ


def test_workers_have_one_blas_thread_each_and_the_driver_keeps_its_own():
    def threads(params, data, rng):
        yield 0, {"n": int(os.environ["OMP_NUM_THREADS"])}

    before = os.environ.get("OMP_NUM_THREADS")
    experiment = cw.Experiment(
        [nowhere],
        [cw.Algorithm("a", {}, threads)],
        trials=2,
        seed=1,
        metrics=[cw.Metric("n")],
    )
    trials = cw.run(experiment, workers=1, progress=False)
    assert trials.scores("n")["a"].tolist() == [1, 1]
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_a_pool_can_be_used_again_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    experiment = cw.Experiment([nowhere], [cw.Algorithm("a", {}, bad.fine)], 5, 1)
    with Local(1) as pool:
        one = cw.run(experiment, executor=pool, progress=False)
        assert len(list(tmp_path.iterdir())) == 1
        assert cw.run(experiment, executor=pool, progress=False) == one
    assert list(tmp_path.iterdir()) == []


def test_a_worker_that_dies_while_it_has_nothing_to_do_is_replaced():
    def whoami(params, data, rng):
        yield 0, {"pid": os.getpid()}

    experiment = cw.Experiment(
        [nowhere], [cw.Algorithm("a", {}, whoami)], 1, 1, metrics=[cw.Metric("pid")]
    )
    with Local(1) as pool:
        (pid,) = cw.run(experiment, executor=pool, progress=False).scores("pid")["a"]
        os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.5)
        (other,) = cw.run(experiment, executor=pool, progress=False).scores("pid")["a"]
    assert other != pid


@pytest.mark.parametrize("pause", [0.25, 1.0])  # its pool has not noticed, and has
def test_a_worker_that_leaves_quietly_after_its_trial_is_replaced(pause):
    def leaves_later(params, data, rng):
        threading.Timer(0.2, os._exit, [0]).start()
        yield 0, {"pid": os.getpid()}

    algorithm = cw.Algorithm("a", {}, leaves_later)
    experiment = cw.Experiment([nowhere], [algorithm], 1, 1, metrics=[cw.Metric("pid")])
    with Local(1) as pool:
        (pid,) = cw.run(experiment, executor=pool, progress=False).scores("pid")["a"]
        time.sleep(pause)
        (other,) = cw.run(experiment, executor=pool, progress=False).scores("pid")["a"]
    assert other != pid


def test_what_cannot_travel_is_named():
    lock = threading.Lock()

    def run(params, data, rng):
        with lock:
            yield 0, {"accuracy": 1.0}

    experiment = cw.Experiment([nowhere], [cw.Algorithm("locked", {}, run)], 2, 1)
    how = {"workers": 1, "progress": False}
    assert refused(cw.run, experiment, **how) == ("Algorithm 'locked'", None)
    assert len(cw.run(experiment, executor="serial", progress=False)) == 2


INTERRUPTED = """
import sys, time
import curvewise as cw
def run(params, data, rng):
    time.sleep(0.3)
    yield 0, {"accuracy": 0.5}
if __name__ == "__main__":
    task = cw.Task("t", lambda rng: None)
    experiment = cw.Experiment([task], [cw.Algorithm("a", {}, run)], 200, 1)
    print("go", flush=True)
    cw.run(experiment, store=sys.argv[1], workers=2)
"""


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_leaves_a_store_that_can_be_resumed(tmp_path, times):
    script, store = tmp_path / "script.py", tmp_path / "runs.db"
    script.write_text(INTERRUPTED)
    command = [sys.executable, str(script), str(store)]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    driver.stdout.readline()
    _wait_for(lambda: store.exists() and len(cw.read(store)) >= 4)
    for _ in range(times):
        driver.send_signal(signal.SIGINT)
        time.sleep(0.1)
    begin = time.monotonic()
    error = driver.communicate(timeout=60)[1].decode()
    assert time.monotonic() - begin < 20
    assert driver.returncode != 0
    assert "Ctrl-C again stops at once" in error
    assert "KeyboardInterrupt" in error
    trials = cw.read(store)
    assert 4 <= len(trials) < 200
    assert {t.status for t in trials} == {"ok"}


def _wait_for(something, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if something():
                return
        except cw.CurvewiseError:
            pass  # half made
        time.sleep(0.05)
    raise AssertionError("it did not happen")
