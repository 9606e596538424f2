"""One worker: each death is charged once, to the trial that the process was at."""

import subprocess
import sys
from concurrent.futures import Future, wait

import misbehaving as bad
import numpy as np
import pytest
from pebble import ProcessExpired

import curvewise as cw
from curvewise.engine.drive import Batch, Limits, Payload, Queue
from curvewise.engine.workers.local import Ledger, Worker, _deliver, _Job
from curvewise.engine.workers.process import LOADING, Board
from curvewise.trials.trial import STATUSES


def left(queue):
    """Return what a queue has to hand out: numbers, and whether they go alone."""
    batches = iter(queue.next, None)
    return sorted((batch.numbers.tolist(), batch.alone) for batch in batches)


def test_a_driver_that_looks_late_has_one_death_to_see_to(tmp_path):
    """A pool replaces its dead process; the new one must not die uncounted."""
    marks, folder = tmp_path / "marks", tmp_path / "meeting"
    marks.mkdir()
    folder.mkdir()
    task = cw.Task("marks", lambda rng, where=str(marks): where)
    algorithm = cw.Algorithm("dies", {}, bad.dies_once)
    payload = Payload(cw.Experiment([task], [algorithm], 2, 1))
    _deliver(payload, folder)
    ledger = Ledger(payload.digest, Queue({}, 1), Limits())
    worker = Worker(folder, Board(folder, 2), range(2))
    for number in (0, 1):
        batch = Batch(0, np.array([number]))
        assert worker.give(ledger.order(batch), batch)

    wait([job.future for job in worker.jobs], timeout=60)  # so late is the driver
    assert all(job.future.done() for job in worker.jobs)
    assert list(worker.collect(ledger)) == []

    assert len(list(marks.iterdir())) == 1  # each trial that began to die left one
    assert ledger.deaths == {(0, 0): 1}
    assert left(ledger.queue) == [([0], True), ([1], False)]


def worker_whose_process_died(folder, notes, batches):
    """Return a worker as its pool leaves it when the first batch is said to have died.

    `notes` are the (slot, place) pairs that its process had written on the board.
    """
    board = Board(folder, len(batches))
    writing = "; ".join(f"board.at({slot}, {place})" for slot, place in notes)
    module = "curvewise.engine.workers.process"
    script = f"from {module} import Board; board = Board({str(folder)!r}); {writing}"
    subprocess.run([sys.executable, "-c", script], check=True)
    worker = Worker(folder, board, range(0))
    for slot, batch in enumerate(batches):
        worker.jobs.append(_Job(Future(), batch, slot))
    worker.jobs[0].future.set_exception(ProcessExpired("died", code=-9))
    return worker


@pytest.mark.parametrize(
    ("notes", "deaths", "back"),
    [
        pytest.param(
            [(0, 0), (0, 1)],
            {(0, 2): 1},
            [([1], False), ([2], True), ([3, 4, 5], False)],
            id="at the first batch",
        ),
        pytest.param(
            [(0, 0), (0, 1), (1, LOADING), (1, 0), (1, 1)],
            {(0, 4): 1},
            [([1, 2], False), ([3, 5], False), ([4], True)],
            id="at the second, and the result of the first was lost",
        ),
        pytest.param(
            [(0, 0), (0, 1), (1, LOADING)],
            {},
            [([1, 2], False), ([3, 4, 5], False)],
            id="between the two",
        ),
        pytest.param(
            [(0, LOADING)],
            {},
            [([1, 2], False), ([3, 4, 5], False)],
            id="before the first trial",
        ),
    ],
)
def test_a_death_is_charged_to_the_trial_that_was_begun_last(
    tmp_path, notes, deaths, back
):
    """Also where the pool blames the batch before, whose result it had not read yet."""
    batches = [Batch(0, np.array([1, 2])), Batch(0, np.array([3, 4, 5]))]
    worker = worker_whose_process_died(tmp_path, notes, batches)
    ledger = Ledger("", Queue({}, 1), Limits())
    assert list(worker.collect(ledger)) == []
    assert ledger.deaths == deaths
    assert ledger.stillbirths == (not deaths)
    assert left(ledger.queue) == back


def test_a_trial_that_died_too_often_is_the_one_that_ends_as_crashed(tmp_path):
    batches = [Batch(0, np.array([1])), Batch(3, np.array([4]), alone=True)]
    worker = worker_whose_process_died(tmp_path, [(0, 0), (1, 0)], batches)
    ledger = Ledger("", Queue({}, 1), Limits(retries=1))
    ledger.deaths[3, 4] = 1
    (finished,) = worker.collect(ledger)
    assert (finished.cell, finished.core.number.tolist()) == (3, [4])
    assert [STATUSES[code] for code in finished.core.status] == ["crashed"]
    assert left(ledger.queue) == [([1], False)]
