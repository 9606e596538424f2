"""Worker processes on this machine: time limits, and a death costs exactly one trial."""

import os
import weakref
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from pathlib import Path
from types import TracebackType
from typing import Self

from curvewise.engine.workers import BLAS_THREADS
from curvewise.engine.workers.board import Board
from curvewise.engine.workers.main_guard import (
    hide_main,
    refuse_unguarded_scripts,
    show_main,
)
from curvewise.engine.workers.meeting import Meeting
from curvewise.engine.workers.queue import Finished, Limits, Payload, Queue, Stop
from curvewise.engine.workers.worker import Ledger, Worker

_AHEAD = 2  # batches that a worker has: one that it does, one that it goes on with
_TICK = 0.1


class Local:
    """A pool of worker processes, started when first used and kept until closed.

    Parameters
    ----------
    workers : int, optional
        How many; as many as this process may use cores if left out.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or _cores()
        self._meeting: Meeting | None = None
        self._main: str | None = None
        self._members: list[Worker] = []
        self._environment: dict[str, str | None] = {}

    def run(
        self, payload: Payload, queue: Queue, limits: Limits, stop: Stop
    ) -> Iterator[Finished]:
        """Yield finished trials until the queue is empty or a stop was asked for."""
        _deliver(payload, self._start().path)
        ledger = Ledger(payload.digest, queue, limits)
        try:
            while True:
                if stop.asked:
                    for worker in self._members:
                        worker.drop_what_waits()
                else:
                    self._deal(queue, ledger)
                futures = [w.jobs[0].future for w in self._members if w.jobs]
                if not futures:
                    if queue.is_empty or stop.asked:
                        return
                    continue  # nobody could take a batch: their processes had just died
                wait(futures, timeout=_TICK, return_when=FIRST_COMPLETED)
                for worker in self._members:
                    yield from worker.collect(ledger)
        finally:
            # Whoever stops listening half-way must not leave work behind.
            busy = [worker for worker in self._members if worker.jobs]
            for worker in busy:
                worker.kill()
            for worker in busy:
                worker.renew()

    def _deal(self, queue: Queue, ledger: Ledger) -> None:
        """Give everybody a batch, and then, if trials are short, a second one."""
        for depth in range(_AHEAD):
            for worker in self._members:
                if len(worker.jobs) <= depth:
                    if (batch := queue.next(quick=depth > 0)) is None:
                        return
                    if not worker.give(ledger.order(batch), batch):
                        queue.give_back(batch)

    def _start(self) -> Meeting:
        if self._meeting is not None:
            return self._meeting
        refuse_unguarded_scripts()
        self._main = hide_main()
        # One BLAS thread each, or workers fight for cores; set before they start, and
        # for as long as new ones may.
        self._environment = {name: os.environ.get(name) for name in BLAS_THREADS}
        os.environ.update(dict.fromkeys(BLAS_THREADS, "1"))
        self._meeting = Meeting()
        weakref.finalize(self, self._meeting.close)
        board = Board(self._meeting.path, self.workers * _AHEAD)
        self._members = [
            Worker(self._meeting.path, board, range(i * _AHEAD, (i + 1) * _AHEAD))
            for i in range(self.workers)
        ]
        return self._meeting

    def close(self) -> None:
        """Let the workers go."""
        for worker in self._members:
            worker.kill()
        for worker in self._members:
            worker.dismiss()
        self._members = []
        show_main(self._main)
        self._main = None
        for name, value in self._environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._environment = {}
        if self._meeting is not None:
            self._meeting.close()
            self._meeting = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _deliver(payload: Payload, folder: Path) -> None:
    """Put an experiment where workers find it, once."""
    target = folder / payload.digest
    if not target.exists():
        half = target.with_suffix(".half")
        half.write_bytes(payload.data)
        half.replace(target)


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
