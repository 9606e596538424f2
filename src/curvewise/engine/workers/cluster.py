"""Trials on a Ray cluster: the same states and the same results as on one machine.

A Ray task does not run trials itself: it hands them to a local worker of its own, so that
time limits, deaths and what was yielded before them are treated alike everywhere. What is
left to Ray is to find a free core, and to notice that a machine is gone.
"""

import functools
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from curvewise.engine.drive import Batch, Finished, Limits, Payload, Queue, Stop
from curvewise.engine.recording import Record, columns
from curvewise.engine.workers.local import Local
from curvewise.errors import CurvewiseError, Keyword

_AHEAD = 2  # batches per core: one that is done, one that waits
_TICK = 0.5


class Cluster:
    """The executor that runs trials as Ray core tasks.

    Parameters
    ----------
    workers : int, optional
        How many trials at a time; as many as the cluster has cores if left out.
    address : str, optional
        The cluster; the one in the environment variable ``RAY_ADDRESS`` if left out, or
        else a new one on this machine.
    """

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self._ray = _ray()
        self._wanted = workers
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect(address or os.environ.get("RAY_ADDRESS"))

    def _connect(self, address: str | None) -> None:
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            if address:
                self._ray.init(address=address, **quiet)
            else:
                self._ray.init(
                    address="local",
                    num_cpus=self._wanted,
                    include_dashboard=False,
                    **quiet,
                )
        except (ConnectionError, RuntimeError, ValueError) as problem:
            raise CurvewiseError(
                f"No Ray cluster at {address or 'this machine'}: {problem}. Check the "
                "address in RAY_ADDRESS, or pass ",
                {"executor": "local"},
                ".",
            ) from problem

    @property
    def workers(self) -> int:
        """How many trials can run at a time, now."""
        cores = int(self._ray.cluster_resources().get("CPU", 1))
        return max(1, min(cores, self._wanted or cores))

    def run(
        self, payload: Payload, queue: Queue, limits: Limits, stop: Stop
    ) -> Iterator[Finished]:
        """Yield finished trials until the queue is empty or a stop was asked for."""
        task = self._ray.remote(num_cpus=1, max_retries=0)(_do)
        parcel = self._ray.put(payload.data)
        running: dict[Any, Batch] = {}
        losses: dict[tuple[int, int], int] = {}
        try:
            while True:
                cores = self.workers
                while len(running) < _AHEAD * cores and not stop.asked:
                    batch = queue.next(quick=len(running) >= cores)
                    if batch is None:
                        break
                    answer = task.remote([parcel], payload.digest, batch, limits)
                    running[answer] = batch
                if not running:
                    return
                ready, _ = self._ray.wait(list(running), timeout=_TICK)
                for answer in ready:
                    batch = running.pop(answer)
                    yield from self._collect(answer, batch, queue, limits, losses)
        finally:
            for answer in running:
                self._ray.cancel(answer, force=True)

    def _collect(
        self,
        answer: Any,
        batch: Batch,
        queue: Queue,
        limits: Limits,
        losses: dict[tuple[int, int], int],
    ) -> Iterator[Finished]:
        try:
            finished, seconds = self._ray.get(answer)
        except self._ray.exceptions.RayTaskError as problem:
            raise CurvewiseError(
                f"A Ray worker could not run trials: {problem.cause!r}. Check that every "
                f"machine of the cluster has curvewise and the modules of the experiment."
            ) from problem
        except self._ray.exceptions.RayError as problem:
            yield from _lost(batch, queue, limits, losses, problem)
            return
        queue.learn(batch, seconds)
        yield from (Finished(batch.cell, *parts) for parts in finished)

    def close(self) -> None:
        """Leave the cluster; one that was started here is ended."""
        if self._ours:
            self._ray.shutdown()


def _lost(
    batch: Batch,
    queue: Queue,
    limits: Limits,
    losses: dict[tuple[int, int], int],
    problem: Exception,
) -> Iterator[Finished]:
    """Put a batch back whose machine is gone; give up on a trial that takes them down."""
    if len(batch.numbers) > 1:  # halves, so that a culprit is soon alone
        for half in np.array_split(batch.numbers, 2):
            queue.give_back(batch._replace(numbers=half))
        return
    key = (batch.cell, int(batch.numbers[0]))
    losses[key] = losses.get(key, 0) + 1
    # Machines go without a trial's fault, hence one chance more than for a worker.
    if losses[key] <= limits.retries + 1:
        queue.give_back(batch)
        return
    record = Record(key[1])
    record.attempts = losses[key]
    record.end("crashed", f"{type(problem).__name__}: {problem}")
    yield Finished(batch.cell, *columns([record]))


# --- on the machines of the cluster ------------------------------------------------------


def _do(
    parcel: list[Any], digest: str, batch: Batch, limits: Limits
) -> tuple[list[tuple[Any, Any]], float]:
    """Run a batch in a local worker beside this Ray process."""
    begin = time.perf_counter()
    queue = Queue({}, 1)
    queue.give_back(batch)
    if digest not in _received:  # within a list, Ray does not fetch it each time
        _received.clear()
        _received[digest] = Payload.received(_ray().get(parcel[0]), digest)
    payload = _received[digest]
    parts = [f[1:] for f in _worker().run(payload, queue, limits, Stop())]
    return parts, time.perf_counter() - begin


_received: dict[str, Payload] = {}


@functools.cache
def _worker() -> Local:
    return Local(1)


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise CurvewiseError(
            Keyword("executor", "ray"),
            " needs Ray. Install it with pip install 'curvewise[ray]'.",
        ) from None
    return ray
