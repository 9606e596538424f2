"""Worker processes on this machine: time limits, and a death costs exactly one trial."""

import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, wait
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from curvewise.engine.recording import columns
from curvewise.engine.workers.board import Board, left_behind
from curvewise.engine.workers.main_guard import (
    hide_main,
    refuse_unguarded_scripts,
    show_main,
)
from curvewise.engine.workers.process import Done, Order, settle, work
from curvewise.engine.workers.queue import Batch, Finished, Limits, Payload, Queue, Stop
from curvewise.errors import CurvewiseError

_THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"),
)
_AHEAD = 2  # batches that a worker has: one that it does, one that it goes on with
_TICK = 0.1
_GRACE = 1.0
_STILLBIRTHS = 3


class Local:
    """A pool of worker processes, started when first used and kept until closed.

    Parameters
    ----------
    workers : int, optional
        How many; as many as this process may use cores if left out.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or _cores()
        self._folder = ""
        self._main: str | None = None
        self._hands: list[_Hand] = []
        self._environment: dict[str, str | None] = {}

    def run(
        self, payload: Payload, queue: Queue, limits: Limits, stop: Stop
    ) -> Iterator[Finished]:
        """Yield finished trials until the queue is empty or a stop was asked for."""
        self._start()
        (Path(self._folder) / payload.digest).write_bytes(payload.data)
        shift = _Shift(payload.digest, queue, limits)
        try:
            while True:
                for hand in self._hands:
                    while len(hand.jobs) < _AHEAD and not stop.asked:
                        if (batch := queue.next()) is None:
                            break
                        hand.give(shift.order(batch), batch)
                futures = [hand.jobs[0].future for hand in self._hands if hand.jobs]
                if not futures:
                    return
                wait(futures, timeout=_TICK, return_when=FIRST_COMPLETED)
                for hand in self._hands:
                    yield from hand.collect(shift)
        finally:
            # Whoever stops listening half-way must not leave work behind.
            for hand in self._hands:
                if hand.jobs:
                    hand.renew()

    def _start(self) -> None:
        if self._folder:
            return
        refuse_unguarded_scripts()
        self._main = hide_main()
        # One BLAS thread each, or workers fight for cores; set before they start, and
        # for as long as new ones may.
        self._environment = {name: os.environ.get(name) for name in _THREADS}
        os.environ.update(dict.fromkeys(_THREADS, "1"))
        self._folder = tempfile.mkdtemp(prefix="curvewise-")
        board = Board(self._folder, self.workers * _AHEAD)
        self._hands = [
            _Hand(self._folder, board, range(i * _AHEAD, (i + 1) * _AHEAD))
            for i in range(self.workers)
        ]

    def close(self) -> None:
        """Let the workers go."""
        for hand in self._hands:
            hand.dismiss()
        self._hands = []
        show_main(self._main)
        self._main = None
        for name, value in self._environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._environment = {}
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Shift:
    """What the workers share during one run: orders, limits, who died how often."""

    def __init__(self, digest: str, queue: Queue, limits: Limits) -> None:
        self.digest, self.queue, self.limits = digest, queue, limits
        self.deaths: dict[tuple[int, int], int] = {}
        self.stillbirths = 0

    def order(self, batch: Batch) -> Order:
        """Return what a worker is told about a batch; its folder and slot come later."""
        attempts = 1
        if batch.alone:
            attempts += self.deaths.get((batch.cell, int(batch.numbers[0])), 0)
        numbers = np.ascontiguousarray(batch.numbers, np.int64).tobytes()
        memory = self.limits.memory
        return Order("", self.digest, -1, batch.cell, numbers, attempts, memory)


class _Job(NamedTuple):
    future: Any
    batch: Batch
    slot: int


class _Hand:
    """One worker process in a pebble pool of its own.

    A pool of many shares pipe and lock among its workers, and one that is killed while
    it holds them takes the others along. In a pool of one, a death costs that pool.
    """

    def __init__(self, folder: str, board: Board, slots: range) -> None:
        self._folder, self._board = folder, board
        self._free = list(slots)
        self.jobs: deque[_Job] = deque()
        self._pool: Any = None
        self._pids: set[int] = set()
        self._overdue = False

    def give(self, order: Order, batch: Batch) -> None:
        """Hand over a batch."""
        from pebble import ProcessPool

        if self._pool is None:
            self._pool = ProcessPool(
                max_workers=1,
                initializer=settle,
                initargs=(self._folder, os.getpid()),
                context=get_context("spawn"),
            )
        slot = self._free.pop()
        self._board.clear(slot)
        order = order._replace(folder=self._folder, slot=slot)
        with _without_interrupts():  # a worker inherits that, from its first moment on
            future = self._pool.schedule(work, args=(order,))
        self.jobs.append(_Job(future, batch, slot))

    def collect(self, shift: _Shift) -> Iterator[Finished]:
        """Yield what is finished; see to a worker that died or takes too long."""
        while self.jobs:
            job = self.jobs[0]
            if not job.future.done():
                if not self._is_gone(job, shift.limits):
                    return
                # Its pool needs a moment to notice, and misses one that exits with 0.
                wait([job.future], timeout=_GRACE)
                if not job.future.done():
                    yield from self._bury(job, shift, 0)
                    return
            try:
                done: Done = job.future.result()
            except (OSError, RuntimeError, CancelledError) as problem:
                # pebble: ProcessExpired and BrokenProcessPool
                yield from self._bury(job, shift, getattr(problem, "exitcode", None))
                return
            self.jobs.popleft()
            self._see(job.slot)
            self._free.append(job.slot)
            shift.stillbirths = 0
            shift.queue.learn(job.batch, done.seconds)
            yield Finished(job.batch.cell, done.core, done.details)

    def _is_gone(self, job: _Job, limits: Limits) -> bool:
        """Kill a worker whose trial is over its time; return whether one left quietly."""
        notice = self._board.read(job.slot)
        if notice is None:
            return False
        limit = limits.timeout
        if limit is not None and time.monotonic_ns() - notice.since > limit * 1e9:
            self._overdue = True
            _kill(notice.pid)
        return not _is_alive(notice.pid) and not job.future.done()

    def _bury(self, job: _Job, shift: _Shift, code: int | None) -> Iterator[Finished]:
        """Charge the trial that a dead worker was at, and put the others back."""
        notice = self._board.read(job.slot)
        log = _said(self._folder, notice.pid if notice else 0)
        overdue, now = self._overdue, time.monotonic_ns()
        jobs = list(self.jobs)
        self.renew()
        for later in jobs[1:]:
            shift.queue.give_back(later.batch)
        if notice is None:
            shift.queue.give_back(job.batch)
            shift.stillbirths += 1
            if shift.stillbirths >= _STILLBIRTHS:
                raise CurvewiseError(
                    f"Workers die before they begin. {_how(code)} {log} "
                    f"Try executor='serial'."
                )
            return
        batch, place = job.batch, notice.place
        others = np.delete(batch.numbers, place)
        shift.queue.give_back(batch._replace(numbers=others))
        number = int(batch.numbers[place])
        record = left_behind(self._folder, job.slot, number)
        key = (batch.cell, number)
        record.attempts = shift.deaths.get(key, 0) + 1
        limit = shift.limits.timeout
        if overdue and limit is not None and now - notice.since > limit * 1e9:
            record.seconds = (now - notice.since) / 1e9
            record.end("timeout", f"It was killed after its limit of {limit:g} s.")
        elif record.attempts > shift.limits.retries:
            record.seconds = (now - notice.since) / 1e9
            record.end("crashed", f"{_how(code)}\n{log}".strip())
        else:
            shift.deaths[key] = record.attempts
            shift.queue.one_by_one(
                batch._replace(numbers=batch.numbers[place : place + 1])
            )
            return
        yield Finished(batch.cell, *columns([record]))

    def renew(self) -> None:
        """Drop the process and what it was given; the next batch gets a new one."""
        self.dismiss()
        for job in self.jobs:
            self._free.append(job.slot)
        self.jobs.clear()
        self._overdue = False

    def dismiss(self) -> None:
        """End the process and whatever it started."""
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()
            self._pool = None
        # After the pool, which replaces a dead worker at once: the new one may have begun
        # with the next batch, and its trial may have started processes, too.
        for job in self.jobs:
            self._see(job.slot)
        for pid in self._pids:
            _kill(pid)
        self._pids.clear()

    def _see(self, slot: int) -> None:
        """Remember who worked on a batch."""
        if notice := self._board.read(slot):
            self._pids.add(notice.pid)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from threads and processes that are started inside."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _kill(pid: int) -> None:
    """Kill a worker and the processes that its trial started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):  # its group lives on without it, if it has children
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # there, signal 0 is Ctrl-C; the pool has to notice by itself
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _how(code: int | None) -> str:
    """Return how a process ended."""
    if code is None:
        return "Its worker process died."
    if code >= 0:
        return f"Its worker process exited with status {code}."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = " The machine may have run out of memory." if name == "SIGKILL" else ""
    return f"Its worker process was killed by {name} (signal {-code}).{hint}"


def _said(folder: str, pid: int, most: int = 1200) -> str:
    """Return what a worker wrote to standard error, its middle left out if it is long."""
    try:
        text = (Path(folder) / f"log-{pid}").read_text(errors="replace").strip()
    except OSError:
        return ""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}\n...\n{text[-half:]}"
