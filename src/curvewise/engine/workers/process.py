"""The inside of a local worker process: run a batch, survive what trials do."""

import contextlib
import faulthandler
import functools
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Lock
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from curvewise.engine.cell import Cell, last_lines
from curvewise.engine.recording import Record, columns
from curvewise.engine.workers import main_guard
from curvewise.engine.workers.board import LOADING, Board, Spool
from curvewise.trials.columns import Core, Details


class Order(NamedTuple):
    """What a worker is asked to do."""

    folder: str
    digest: str
    slot: int
    cell: int
    numbers: bytes
    attempts: int
    memory: int | None


class Done(NamedTuple):
    """What it answers: columns, or why it could not even begin."""

    core: Core
    details: Details
    seconds: float
    refused: str = ""


def work(order: Order) -> Done:
    """Run the trials of a batch, one after another."""
    _forget_what_was_said()
    board = _board(order.folder)
    board.at(order.slot, LOADING)
    try:
        cell = _cell(order.folder, order.digest, order.cell)
    except Exception as problem:  # whatever happens in the modules of a user
        return Done(*columns([Record(0)]), 0.0, last_lines(problem))
    spool = Spool(order.folder, order.slot)
    begin = time.perf_counter()
    me = os.getpid()
    records = []
    with _memory_limit(order.memory):
        for place, number in enumerate(np.frombuffer(order.numbers, np.int64).tolist()):
            record = Record(number)
            record.attempts = order.attempts
            board.at(order.slot, place)
            with contextlib.suppress(KeyboardInterrupt):
                cell.run(record, spool.keep)
            if os.getpid() != me:  # the trial forked, and this is the child
                os._exit(0)
            records.append(record)
    spool.close()
    return Done(*columns(records), time.perf_counter() - begin)


@functools.lru_cache(maxsize=64)
def _cell(folder: str, digest: str, place: int) -> Cell:
    experiment = _experiment(folder, digest)
    task, algorithm = list(experiment.cells())[place]
    return Cell(experiment, task, algorithm)


@functools.lru_cache(maxsize=1)
def _experiment(folder: str, digest: str) -> Any:
    return pickle.loads((Path(folder) / digest).read_bytes())  # noqa: S301  our own file


@functools.lru_cache(maxsize=1)
def _board(folder: str) -> Board:
    return Board(folder)


# --- once for each process ---------------------------------------------------------------


# Seconds in which the driver ends a pool whose process died. A replacement that left
# sooner would be replaced in turn, again and again, and each start costs time of a core.
_FAREWELL = 1.0

_logs: list[Path] = []


def _forget_what_was_said() -> None:
    for path in _logs:
        with contextlib.suppress(OSError):
            os.truncate(path, 0)


def settle(folder: str, driver: int, seat: Lock) -> None:
    """Make this process fit for other people's code, before its first trial.

    Parameters
    ----------
    folder : str
        Where driver and workers meet.
    driver : int
        The process that started this one.
    seat : multiprocessing.Lock
        What the first process of a pool takes, and nobody gives back.
    """
    # A pool replaces a dead process at once. The new one must not go on with the next
    # batch: if it died there, too, before the driver has seen to the first death, nobody
    # could say whether its trial or the end of the pool had killed it.
    if not seat.acquire(block=False):
        time.sleep(_FAREWELL)
        os._exit(1)
    main_guard.this_is_a_worker()
    threading.Thread(target=_die_with, args=(driver,), daemon=True).start()
    if hasattr(os, "setsid"):  # a group of its own, so that a kill takes children along
        with contextlib.suppress(OSError):
            os.setsid()
    # What trials print is dropped; the end of standard error explains a death.
    path = Path(folder) / f"log-{os.getpid()}"
    log = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    _logs.append(path)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)  # a trial that asks would wait for an answer
    for stream, target in ((sys.stdout, nothing), (sys.stderr, log)):
        with contextlib.suppress(Exception):
            stream.flush()
        os.dup2(target, 1 if stream is sys.stdout else 2)
    with contextlib.suppress(Exception):  # a segfault then says where it was
        faulthandler.enable(file=2)


def _die_with(driver: int) -> None:
    """End this process, and what it started, when the driver is gone."""
    while os.getppid() == driver:
        time.sleep(1)
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


@contextlib.contextmanager
def _memory_limit(extra: int | None) -> Iterator[None]:
    """Let the process grow by `extra` bytes at most; beyond, Python raises MemoryError."""
    if extra is None:
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_used() + extra, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _used() -> int:
    """Return the bytes of data that this process has now, as Linux counts them."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    sizes = [line.split() for line in lines if line.startswith("VmData:")]
    return int(sizes[0][1]) * 1024
