"""What a worker leaves behind when it dies: which trial it was at, and what it yielded.

A dead process cannot answer, so a worker writes both down as it goes. The board is a
few numbers in memory that driver and workers share: who works on a batch, which trial of
it is running, since when. The spool is a file to which a running trial's yields are
appended.
"""

import contextlib
import os
import pickle
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from curvewise.engine.recording import Record

LOADING = -1  # the place of a worker that has no trial yet
_EAGER = 100  # yields that are written at once
_PAUSE = 0.005  # seconds between writes after that


class Notice(NamedTuple):
    """Who works on a batch, at which of its trials, since when (`time.monotonic_ns`)."""

    pid: int
    place: int
    since: int


class Board:
    """Shared numbers, a row for each slot; made by the driver, opened by workers."""

    def __init__(self, folder: str | Path, slots: int | None = None) -> None:
        path = Path(folder) / "board"
        if slots is not None:
            np.zeros((slots, 3), np.int64).tofile(path)
        # As a plain array: a view of a memmap costs ten times as much.
        rows = np.asarray(np.memmap(path, np.int64, mode="r+"))
        self._rows: Any = rows.reshape(-1, 3)

    def clear(self, slot: int) -> None:
        """Say that nobody has begun."""
        self._rows[slot] = 0

    def at(self, slot: int, place: int) -> None:
        """Say that this process begins with a trial of the batch."""
        row = self._rows[slot]
        row[2] = 0  # between the two, nobody can say since when
        row[0], row[1] = os.getpid(), place
        row[2] = time.monotonic_ns()

    def read(self, slot: int) -> Notice | None:
        """Return who is at what; None before a worker has begun."""
        pid, place, since = self._rows[slot].tolist()
        return Notice(pid, place, since or time.monotonic_ns()) if pid else None


class Spool:
    """Yields of the running trial, appended to a file."""

    def __init__(self, folder: str | Path, slot: int) -> None:
        self._path = Path(folder) / f"spool-{slot}"
        self._file = os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        self._owner = os.getpid()
        self._begin()

    def _begin(self) -> None:
        self._number = -1
        self._written = 0
        self._is_empty = True
        self._last = 0.0

    def keep(self, record: Record) -> None:
        """Write what a record has got since the last time."""
        if os.getpid() != self._owner:  # a trial forked: its child is not the trial
            os._exit(0)
        if record.number != self._number:
            self.clear()
            self._number = record.number
        n, now = len(record.steps), time.monotonic()
        if n <= _EAGER or now - self._last > _PAUSE:
            self._is_empty = False
            with contextlib.suppress(OSError):  # a full disk is not the trial's failure
                os.write(self._file, pickle.dumps(record.since(self._written)))
            self._written, self._last = n, now

    def clear(self) -> None:
        """Forget the trial before."""
        if not self._is_empty:
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
        self._begin()

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def left_behind(folder: str | Path, slot: int, number: int) -> Record:
    """Return what trial `number` had yielded when its worker died."""
    record = Record(number)
    try:
        with (Path(folder) / f"spool-{slot}").open("rb") as file:
            while True:
                record.extend(number, pickle.load(file))  # noqa: S301  our own file
    except (OSError, EOFError, pickle.UnpicklingError):
        return record  # a write that was cut off is where it ends
