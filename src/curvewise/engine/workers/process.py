"""The inside of a local worker process, and where it meets the driver.

A dead process cannot answer, so a worker writes down as it goes which trial it is at, and
what that has yielded. The board is a few numbers in memory that driver and workers share:
who works on a batch, which trial of it is running, since when. The spool is a file to
which a running trial's yields are appended.
"""

import ast
import contextlib
import faulthandler
import functools
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Lock
from pathlib import Path
from types import FrameType
from typing import IO, Any, NamedTuple

import numpy as np

from curvewise.engine.recording import Record, columns
from curvewise.engine.trial_run import Runner, last_lines
from curvewise.errors import CurvewiseError, Message
from curvewise.trials.columns import Core, Details

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


# --------------------------------------------------------------------------------------
# The folder in which driver and workers meet, and those that killed drivers left.


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = "curvewise-run-"
_LOCK = "driver"


class Meeting:
    """A folder of this process's own; it is removed when closed.

    A driver that is killed cannot remove its folder, which holds the pickled experiment
    and maybe a whole data set. The next one does: it can lock what nobody holds.
    """

    def __init__(self) -> None:
        parent = Path(tempfile.gettempdir())
        for path in parent.glob(f"{_PREFIX}*"):
            _remove_if_left(path)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        self._lock = _locked(self.path)

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _locked(folder: Path) -> IO[bytes] | None:
    """Return the file whose lock says that a driver lives; None if another has it."""
    file = (folder / _LOCK).open("wb")
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
    return file


def _remove_if_left(folder: Path) -> None:
    with contextlib.suppress(OSError):  # somebody else's, or gone meanwhile
        owner = folder.stat().st_uid if hasattr(os, "getuid") else None
        if fcntl is None or owner != os.getuid() or not (folder / _LOCK).exists():
            return
        if (lock := _locked(folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            lock.close()


# --------------------------------------------------------------------------------------
# Workers import the script that starts them; one that would start more is refused.


_ADVICE = Message(
    "Worker processes import the script, and would start the run again. Put "
    "the call under\n\n    if __name__ == '__main__':\n\nor pass ",
    {"executor": "serial"},
    ".",
)
_here = {"is a worker": False}


def this_is_a_worker() -> None:
    """Note that this process was started by a run."""
    _here["is a worker"] = True


def refuse_unguarded_scripts() -> None:
    """Raise if workers would run the calling script's own top level again."""
    starting = getattr(multiprocessing.current_process(), "_inheriting", False)
    if starting or _here["is a worker"]:
        raise CurvewiseError("A worker was about to start workers. ", _ADVICE)
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    line = _top_level_line(sys._getframe(), path)
    if path is None or line is None:
        return  # a notebook or a prompt: there is no script to import
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    if not any(_guards(node, line) for node in ast.walk(tree)):
        raise CurvewiseError(
            f"{path}, line {line}, starts worker processes without a main guard. ",
            _ADVICE,
        )


def hide_main() -> str | None:
    """Take away the name of a main script that is no file, and return it.

    A script from standard input cannot be imported by workers, and need not be: its
    functions travel by value.
    """
    main = sys.modules.get("__main__")
    path = getattr(main, "__file__", None)
    if main is None or path is None or Path(path).exists():
        return None
    del main.__file__
    return str(path)


def show_main(path: str | None) -> None:
    """Give back what `hide_main` took."""
    if path is not None:
        sys.modules["__main__"].__file__ = path


def _top_level_line(frame: FrameType | None, path: str | None) -> int | None:
    """Return the line of the main script's top level that led here."""
    while frame is not None:
        is_top = frame.f_code.co_name == "<module>" and frame.f_code.co_filename == path
        if is_top and frame.f_globals.get("__name__") == "__main__":
            return frame.f_lineno
        frame = frame.f_back
    return None


def _guards(node: ast.AST, line: int) -> bool:
    if not isinstance(node, ast.If) or not node.lineno <= line <= (
        node.end_lineno or 0
    ):
        return False
    return any(
        isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test)
    )


# --- The inside of a local worker process: run a batch, survive what trials do ---------


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
def _cell(folder: str, digest: str, place: int) -> Runner:
    experiment = _experiment(folder, digest)
    task, algorithm = list(experiment.cells())[place]
    return Runner(experiment, task, algorithm)


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
    """Make this process fit for other people's code, before its first trial."""
    # A pool replaces a dead process at once. The new one must not go on with the next
    # batch: if it died there, too, before the driver has seen to the first death, nobody
    # could say whether its trial or the end of the pool had killed it.
    if not seat.acquire(block=False):
        time.sleep(_FAREWELL)
        os._exit(1)
    this_is_a_worker()
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
