"""Trials on this machine: in workers, where a death costs one trial, or in this process."""

import contextlib
import os
import signal
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, resource_tracker
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from curvewise.engine.drive import Batch, Finished, Limits, Payload, Queue, Stop
from curvewise.engine.recording import Record, columns
from curvewise.engine.trial_run import Runner, TimeLimitError
from curvewise.engine.workers import BLAS_THREADS
from curvewise.engine.workers.process import (
    LOADING,
    Board,
    Done,
    Meeting,
    Notice,
    Order,
    hide_main,
    left_behind,
    refuse_unguarded_scripts,
    settle,
    show_main,
    work,
)
from curvewise.errors import CurvewiseError, Keyword

_GRACE = 1.0  # seconds in which a pool notices that its process is gone
_LOADING = 600.0  # seconds that a worker may take to load the experiment
_STILLBIRTHS = 5


class Ledger:
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
        return Order(
            folder="",
            digest=self.digest,
            slot=-1,
            cell=batch.cell,
            numbers=numbers,
            attempts=attempts,
            memory=memory,
        )


class _Job(NamedTuple):
    future: Any
    batch: Batch
    slot: int


class Worker:
    """A process in a pebble pool of its own.

    A pool of many shares pipe and lock among its workers, and one that is killed while
    it holds them takes the others along. In a pool of one, a death costs that pool, and
    no second process ever works in it: there is one death to see to, at one trial.
    """

    def __init__(self, folder: Path, board: Board, slots: range) -> None:
        self._folder, self._board = str(folder), board
        self._free = list(slots)
        self.jobs: deque[_Job] = deque()
        self._pool: Any = None
        self._pids: set[int] = set()
        self._overdue = False

    def give(self, order: Order, batch: Batch) -> bool:
        """Hand over a batch; return whether it was taken."""
        slot = self._free[-1]
        self._board.clear(slot)
        order = order._replace(folder=self._folder, slot=slot)
        try:
            with (
                _without_interrupts()
            ):  # a process inherits that, from the first moment
                future = self._started_pool().schedule(work, args=(order,))
        except (
            RuntimeError
        ):  # its process died just now, without work or with other work
            if not self.jobs:
                self.dismiss()
            return False
        self.jobs.append(_Job(future, batch, self._free.pop()))
        return True

    def _started_pool(self) -> Any:
        from pebble import ProcessPool

        if self._pool is None:
            resource_tracker.ensure_running()  # it would let Ctrl-C through again
            context = get_context("spawn")
            self._pool = ProcessPool(
                max_workers=1,
                initializer=settle,
                initargs=(self._folder, os.getpid(), context.Lock()),
                context=context,
            )
        return self._pool

    def drop_what_waits(self) -> None:
        """Take back batches that were not begun."""
        while len(self.jobs) > 1 and self._board.read(self.jobs[-1].slot) is None:
            job = self.jobs.pop()
            job.future.cancel()
            self._free.append(job.slot)

    def collect(self, ledger: Ledger) -> Iterator[Finished]:
        """Yield what is finished; see to a process that died or takes too long."""
        from pebble import ProcessExpired

        while self.jobs:
            job = self.jobs[0]
            if not job.future.done():
                if not self._is_gone(job, ledger.limits):
                    return
                # Its pool needs a moment to notice, and misses one that exits with 0.
                wait([job.future], timeout=_GRACE)
                if not job.future.done():
                    yield from self._bury(ledger, 0)
                    return
            try:
                done: Done = job.future.result()
            except (ProcessExpired, BrokenProcessPool, CancelledError) as problem:
                yield from self._bury(ledger, getattr(problem, "exitcode", None))
                return
            if done.refused:
                raise CurvewiseError(
                    f"A worker cannot load the experiment: {done.refused}\nMake what "
                    "it needs importable there, or pass ",
                    {"executor": "serial"},
                    ".",
                )
            self.jobs.popleft()
            self._see(job.slot)
            self._free.append(job.slot)
            ledger.stillbirths = 0
            ledger.queue.learn(job.batch, done.seconds)
            yield Finished(job.batch.cell, done.core, done.details)

    def _is_gone(self, job: _Job, limits: Limits) -> bool:
        """Kill a process whose trial is over its time; return whether it left quietly."""
        notice = self._board.read(job.slot)
        if notice is None:
            # A process that dies before it takes its work breaks the pool.
            return not self._pool.active and not job.future.done()
        limit = _LOADING if notice.place == LOADING else limits.timeout
        if limit is not None and _seconds_since(notice) > limit:
            self._overdue = True
            _kill(notice.pid)
        return not _is_alive(notice.pid) and not job.future.done()

    def _bury(self, ledger: Ledger, code: int | None) -> Iterator[Finished]:
        """Charge the trial that the dead process was at, and put the others back."""
        # It was at the batch that it began last. One before that is done, but a pool
        # that sees the death first drops the result, and blames the wrong batch.
        begun = [job for job in self.jobs if self._board.read(job.slot)]
        job = begun[-1] if begun else self.jobs[0]
        notice = self._board.read(job.slot)
        log = _said(self._folder, notice.pid if notice else 0)
        overdue, jobs = self._overdue, list(self.jobs)
        self.renew()
        for other in jobs:
            if other is not job:
                ledger.queue.give_back(other.batch)
        if notice is None or notice.place == LOADING:
            self._stillborn(job, ledger, f"{_how(code)} {log}")
            return
        batch, place, limit = job.batch, notice.place, ledger.limits.timeout
        seconds = _seconds_since(notice)
        if overdue and (limit is None or seconds <= limit):
            # It had gone on to the next trial between our look and the kill.
            ledger.queue.give_back(batch)
            return
        others = np.delete(batch.numbers, place)
        ledger.queue.give_back(batch._replace(numbers=others))
        number = int(batch.numbers[place])
        record = left_behind(self._folder, job.slot, number)
        record.seconds = seconds
        key = (batch.cell, number)
        record.attempts = ledger.deaths.get(key, 0) + 1
        if overdue:
            record.end("timeout", f"It was killed after its limit of {limit:g} s.")
        elif record.attempts > ledger.limits.retries:
            record.end("crashed", f"{_how(code)}\n{log}".strip())
        else:
            ledger.deaths[key] = record.attempts
            ledger.queue.give_back(Batch(batch.cell, np.array([number]), alone=True))
            return
        yield _finished(batch, record)

    def _stillborn(self, job: _Job, ledger: Ledger, why: str) -> None:
        ledger.queue.give_back(job.batch)
        ledger.stillbirths += 1
        if ledger.stillbirths >= _STILLBIRTHS:
            raise CurvewiseError(
                f"Workers die before they begin. {why.strip()} Try ",
                {"executor": "serial"},
                ".",
            )

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
        self.kill()  # after the pool, which ends its process but not what that started
        self._pids.clear()

    def kill(self) -> None:
        """Kill all processes that are known; pebble would ask each first, and wait."""
        for job in self.jobs:
            self._see(job.slot)
        for pid in self._pids:
            _kill(pid)

    def _see(self, slot: int) -> None:
        """Remember who worked on a batch."""
        if notice := self._board.read(slot):
            self._pids.add(notice.pid)


def _finished(batch: Batch, record: Record) -> Finished:
    return Finished(batch.cell, *columns([record]))


def _seconds_since(notice: Notice) -> float:
    return (time.monotonic_ns() - notice.since) / 1e9


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


# --------------------------------------------------------------------------------------
# Worker processes on this machine: time limits, and a death costs exactly one trial.


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


# --- Trials in this process, one after another: for debugging, and for one GPU ---------


_AGAIN = 0.1


class Serial:
    """The executor that has no workers."""

    workers = 1

    def run(
        self, payload: Payload, queue: Queue, limits: Limits, stop: Stop
    ) -> Iterator[Finished]:
        """Yield finished trials until the queue is empty or a stop was asked for."""
        if limits.memory is not None:
            raise CurvewiseError(
                "A limit of memory needs a process of its own. Leave ",
                Keyword("memory"),
                " out, or pass ",
                {"executor": "local"},
                ".",
                argument="memory",
                value=limits.memory,
            )
        cells = [
            Runner(payload.experiment, *pair) for pair in payload.experiment.cells()
        ]
        with _alarm(limits.timeout) as alarm:
            while not stop.asked and (batch := queue.next()) is not None:
                begin = time.perf_counter()
                records = []
                for number in batch.numbers.tolist():
                    record = Record(number)
                    with alarm(record):
                        cells[batch.cell].run(record)
                    records.append(record)
                    if stop.asked:
                        break
                queue.learn(batch, time.perf_counter() - begin)
                yield Finished(batch.cell, *columns(records))

    def close(self) -> None:
        """Do nothing: there is nobody to let go."""


_Limited: TypeAlias = Callable[[Record], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def _alarm(seconds: float | None) -> Iterator[_Limited]:
    """Give a context manager in which a trial is interrupted after so many seconds."""
    if seconds is None:
        yield lambda _record: contextlib.nullcontext()
        return
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer"):
        raise CurvewiseError(
            "A time limit of serial trials needs the main thread and a system with "
            "SIGALRM. Leave ",
            Keyword("timeout"),
            " out, or pass ",
            {"executor": "local"},
            ".",
            argument="timeout",
            value=seconds,
        )
    message = f"It was stopped after its limit of {seconds:g} s."
    rung: list[bool] = []

    def ring(_signal: int, _frame: FrameType | None) -> None:
        rung.append(True)
        raise TimeLimitError(message)

    @contextlib.contextmanager
    def limited(record: Record) -> Iterator[None]:
        rung.clear()
        # Again and again: a bare `except:` in a trial may have swallowed the first one.
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        try:
            yield
        except TimeLimitError:
            pass  # while the trial was ending
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if rung:
            record.trim()
            record.end("timeout", message)

    before = signal.signal(signal.SIGALRM, ring)
    try:
        yield limited
    finally:
        signal.signal(signal.SIGALRM, before)
