"""Trials in this process, one after another: for debugging, and for one GPU."""

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TypeAlias

from curvewise.engine.cell import Cell, TimeLimitError
from curvewise.engine.recording import Record, columns
from curvewise.engine.workers.queue import Finished, Limits, Payload, Queue, Stop
from curvewise.errors import CurvewiseError, Keyword

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
            )
        cells = [Cell(payload.experiment, *pair) for pair in payload.experiment.cells()]
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
