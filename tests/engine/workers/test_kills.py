"""Killed at any moment, resumed to the same table; nothing acknowledged is ever lost."""

import os
import signal
import time

import numpy as np
import pytest
from driver_to_kill import experiment
from killing import Driver

import curvewise as cw
from curvewise.engine.workers.local import Local

NORMAL = [pytest.param(seed, id=str(seed)) for seed in range(3)]
MORE = [pytest.param(s, id=str(s), marks=pytest.mark.slow) for s in range(3, 20)]


@pytest.fixture(scope="module")
def undisturbed():
    return cw.run(experiment(), executor="serial", progress=False)


def lost_after_a_kill(store, acknowledged, *options):
    """Return the trials that a killed driver said were safe and that are not."""
    said = Driver(store, *options).kill_after(acknowledged)
    kept = {trial.key for trial in cw.read(store)} if said else set()
    return said - kept


@pytest.mark.parametrize("seed", [*NORMAL, *MORE])
def test_a_killed_driver_resumes_to_the_table_of_an_undisturbed_one(
    tmp_path, undisturbed, seed
):
    store = tmp_path / "runs.db"
    rng = np.random.default_rng(seed)
    for acknowledged in rng.integers(1, 250, 2):
        assert lost_after_a_kill(store, acknowledged) == set()
    before = len(cw.read(store))
    assert before > 0
    trials = cw.run(experiment(), store=store, workers=2, progress=False)
    assert trials == undisturbed
    assert cw.read(store) == undisturbed


def test_what_killed_drivers_leave_is_removed_by_the_next(tmp_path, monkeypatch):
    """Their folder holds the experiment, and maybe a whole data set."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    Driver(tmp_path / "one.db").kill_after(5)
    assert len(list(folder.glob("curvewise-run-*"))) == 1
    with Local(1) as mine:
        cw.run(experiment(3), executor=mine, progress=False)
        (left,) = folder.glob("curvewise-run-*")
        with Local(1) as other:  # it lives, and keeps its own
            cw.run(experiment(2), executor=other, progress=False)
            assert left.exists()
            assert len(list(folder.glob("curvewise-run-*"))) == 2
    assert list(folder.glob("curvewise-run-*")) == []


def test_a_store_that_acknowledges_before_it_commits_would_be_found(tmp_path):
    """The negative control."""
    assert lost_after_a_kill(tmp_path / "runs.db", 100, "early")


@pytest.mark.parametrize("seed", [*NORMAL, *MORE])
def test_killed_workers_cost_nothing(tmp_path, undisturbed, seed):
    store = tmp_path / "runs.db"
    rng = np.random.default_rng(100 + seed)
    driver = Driver(store)
    driver.process.stdout.readline()
    killed = 0
    while driver.process.poll() is None and killed < 4:
        time.sleep(rng.uniform(0, 0.3))
        if workers := driver.workers():
            try:
                os.kill(int(rng.choice(workers)), signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed += 1
    driver.process.communicate(timeout=120)
    assert driver.process.returncode == 0
    assert killed > 0
    assert cw.read(store) == undisturbed


def test_shuffled_order_gives_the_same_table(undisturbed):
    """Trial i alone equals trial i in the run, whatever ran before it."""
    from curvewise.flow.run import once

    order = np.random.default_rng(0).permutation(150)[:30]
    for number in order.tolist():
        (kept,) = undisturbed.where(algorithm="b", number=number)
        assert once(experiment(), "numbers", "b", number) == kept


def test_more_trials_and_more_algorithms_extend_a_plan(tmp_path, undisturbed):
    store = tmp_path / "runs.db"
    small = experiment(40)
    small = cw.Experiment(small.tasks, small.algorithms[:1], 40, small.seed)
    assert len(cw.run(small, store=store, executor="serial", progress=False)) == 40
    whole = cw.run(experiment(), store=store, executor="serial", progress=False)
    assert whole == undisturbed
