"""Who runs which trials: claims of several drivers, and the lock of a file that has one.

A trial is done if it is in the store. With `redo`, one that ended so before the driver
began is not: what was run again and ended so again has a later revision, and counts as
done, or drivers would run it for each other for ever.
"""

import errno
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.store.schema import Database
from curvewise.trials.columns import Ints

Cell = tuple[str, str]
_MOST_AT_ONCE = 8192


def take(
    db: Database,
    cell: tuple[int, int],
    numbers: Ints,
    limit: int,
    *,
    is_done: str,
    began: int,
    owner: tuple[int, int],
) -> Ints:
    """Claim and return the first `limit` numbers that are neither done nor claimed.

    A cell is a task and an algorithm by code, an owner a driver and its ticket.
    """
    # Both at one moment: who leaves has written what he then no longer claims.
    these = f"task = ? AND algorithm = ? AND {db.among('number')}"
    find = (
        f"SELECT number FROM trials WHERE {these} AND {is_done} "
        f"UNION ALL SELECT number FROM claims WHERE {these}"
    )
    claims = [numbers[:0]]
    start, step = 0, min(max(2 * limit, 256), _MOST_AT_ONCE)
    while limit > 0 and start < len(numbers):
        stretch = numbers[start : start + step]
        start, step = start + step, min(2 * step, _MOST_AT_ONCE)
        values = (*cell, db.numbers(stretch))
        gone = [number for (number,) in db.execute(find, (*values, began, *values))]
        mine = stretch[~np.isin(stretch, gone)]
        mine = mine[np.sort(np.unique(mine, return_index=True)[1])][:limit]
        if len(mine):
            db.execute(
                "INSERT INTO claims (task, algorithm, number, driver, ticket) "
                f"SELECT ?, ?, value, ?, ? FROM {db.wanted}",
                (*cell, *owner, db.numbers(mine)),
            )
        claims.append(mine)
        limit -= len(mine)
    return np.concatenate(claims)


def done(redo: Collection[int]) -> str:
    """Return the condition for a trial to be done; its one value is when we began."""
    return f"NOT (status IN ({', '.join(map(str, [-1, *redo]))}) AND revision <= ?)"


# --- One driver at a time: a lock that ends with its process, whatever ends that -------


_held: set[Path] = set()


@contextmanager
def driver_lock(store: Path) -> Iterator[None]:
    """Hold the lock of a store's driver; raise if another process holds it.

    The lock is on a file of its own beside the store: closing any descriptor of the
    store's file would take away the locks that SQLite has on it. And it is one of
    fcntl, not of flock, which a forked worker that outlives its driver would go on
    holding. Locks of fcntl do not keep one process from itself, hence `_held`.
    """
    beside = store.resolve()
    beside = beside.with_name(beside.name + "-driver")
    if beside in _held:
        raise _driven_by_another(store, str(os.getpid()))
    descriptor, owner = _locked(beside, store), os.getpid()
    _held.add(beside)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        # While we hold the lock: whoever waits for this file sees that it is gone and
        # makes a new one. Where an open file cannot be removed, it stays, unlocked.
        if sys.platform != "win32" and os.getpid() == owner:  # no forked worker
            beside.unlink(missing_ok=True)
        _held.discard(beside)
        os.close(descriptor)


def is_locked(store: Path) -> bool | None:
    """Return whether a process holds the lock of a store; None where nobody knows.

    The lock itself is not tried: for that moment, a run that starts would be refused.
    """
    beside = store.resolve()
    beside = beside.with_name(beside.name + "-driver")
    if not beside.exists():
        return False
    if sys.platform == "win32":
        return None
    try:
        os.kill(int(beside.read_text()), 0)
    except (OSError, ValueError) as problem:
        # Somebody else's process may not be asked, but it is there. A file without a
        # number is of a driver that is about to begin, or is gone.
        return isinstance(problem, PermissionError)
    return True


def _locked(beside: Path, store: Path) -> int:
    while True:
        try:
            descriptor = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as problem:
            raise _cannot("made", beside, problem) from None
        try:
            _lock(descriptor)
            if _is_still_there(beside, descriptor):
                return descriptor
        except OSError as problem:
            os.lseek(descriptor, 0, os.SEEK_SET)
            pid = os.read(descriptor, 20).decode(errors="replace")
            os.close(descriptor)
            if problem.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                raise _cannot("locked", beside, problem) from None
            raise _driven_by_another(store, pid) from None
        os.close(descriptor)  # its last owner has removed it: once more


def _is_still_there(path: Path, descriptor: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))


def _driven_by_another(store: Path, pid: str) -> CurvewiseError:
    who = f" (process {pid})" if pid else ""
    return CurvewiseError(
        f"Another run{who} is filling {store}. Wait for it, or use PostgreSQL, where "
        f"several runs can share a plan.",
        argument="store",
        value=store,
    )


def _cannot(be: str, beside: Path, problem: OSError) -> CurvewiseError:
    return CurvewiseError(
        f"{beside} cannot be {be} ({problem.strerror}). A run needs a folder that it may "
        f"write to, on a disk of this machine. Copy the store to one."
    )


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, 1024, os.SEEK_SET)  # beyond the process's number
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
