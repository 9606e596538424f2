"""A store in one SQLite file: one writer, any number of readers meanwhile."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from curvewise.errors import CurvewiseError, NoStoreError, shortened
from curvewise.store import schema
from curvewise.store.base import AnyStore
from curvewise.store.driven import T
from curvewise.store.driver_lock import driver_lock, is_locked
from curvewise.store.sqlite_database import SQLite

_MAGIC = b"SQLite format 3\0"
_WAIT_SECONDS = 30.0


class Store(AnyStore):
    """Trials in a SQLite file.

    Parameters
    ----------
    path : str or Path
        Where the file is, or will be.
    create : bool
        Whether to make it if it is not there.

    Notes
    -----
    Write-ahead logging lets readers work while one process writes; a batch is either in
    the file or not, whatever kills the process.

    Examples
    --------
    >>> from curvewise import Trial, Trials
    >>> path = getfixture("tmp_path") / "runs.db"
    >>> with Store(path) as store:
    ...     store.write(Trials([Trial("moons", "svm", 0, {"accuracy": 0.9})]))
    ...     len(store.read())
    1
    """

    shared = False

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        super().__init__()
        self.path = Path(path)
        _refuse_what_is_no_store(self.path, create=create)
        self._do(lambda: self._open(create=create))

    def _open(self, *, create: bool) -> None:
        self._db = SQLite(_connected(self.path))
        try:
            if create and self._is_blank():
                self._make()
            self._refuse_what_others_made()
            self._check_version()
            self._db.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            self._db.close()
            raise

    def _is_blank(self) -> bool:
        return self._db.execute("SELECT 1 FROM sqlite_master").fetchone() is None

    def _make(self) -> None:
        self._write_ahead()
        with self._db.alone():
            if self._is_blank():  # or another process was faster
                self._make_tables(schema.TABLES)

    def _write_ahead(self) -> None:
        """Choose the journal that lets others read while one writes."""
        # Of two that choose at once, each would wait for the other: SQLite refuses one of
        # them on the spot, however long it was told to wait.
        until = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as problem:
                if "locked" not in str(problem) or time.monotonic() > until:
                    raise
            time.sleep(0.01)

    def _refuse_what_others_made(self) -> None:
        has = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'curvewise'"
        if self._db.execute(has).fetchone() is None:
            raise CurvewiseError(
                f"{self.path} is a SQLite file but no store of curvewise. "
                f"Pass the path of a store, or of a file that does not exist yet."
            )

    # --- one driver at a time ----------------------------------------------------------

    @contextmanager
    def driving(self) -> Iterator[None]:
        """Return a context in which this process may `claim` trials, and no other.

        Whatever ends the process, another can drive the store at once.
        """
        with driver_lock(self.path):
            self._do(self._begin)
            try:
                yield
            finally:
                self._driver, self._began = 0, AnyStore._began
                with suppress(sqlite3.Error):  # somebody may have closed the store
                    self._db.execute("DROP TABLE temp.claims")

    def _begin(self) -> None:
        self._db.execute(schema.CLAIMS.replace("CREATE TABLE", "CREATE TEMP TABLE"))
        self._driver, self._began = os.getpid(), self._revision()

    @contextmanager
    def _claiming(self, ticket: int) -> Iterator[None]:  # noqa: ARG002
        yield

    def is_driven(self) -> bool | None:
        """Return whether any process is driving this store; None where nobody knows."""
        return is_locked(self.path)

    # --- care --------------------------------------------------------------------------

    def _do(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except sqlite3.Error as problem:
            raise _explanation(self.path, problem) from problem

    def _reopener(self) -> Callable[[], AnyStore]:
        return partial(Store, self.path.absolute(), create=False)

    def __str__(self) -> str:
        return str(self.path)


def _connected(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error as problem:
        db.close()
        shut_out = any(w in str(problem) for w in ("readonly", "unable to open"))
        busy = path.with_name(path.name + "-wal").exists()
        if not shut_out or busy or not path.exists():
            raise
        # A colleague's folder that we may not write to: nobody is writing there now.
        uri = f"{path.absolute().as_uri()}?immutable=1"
        db = sqlite3.connect(uri, uri=True, isolation_level=None)
    return db


def is_sqlite(path: str | Path) -> bool:
    """Return whether a file begins as SQLite files do."""
    try:
        if not Path(path).is_file():  # a pipe would keep us waiting
            return False
        with Path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):  # ValueError: no system has such a path
        return False


def _refuse_what_is_no_store(path: Path, *, create: bool) -> None:
    if path.is_dir():
        raise CurvewiseError(f"{path} is a folder. Pass the path of a store's file.")
    if not path.exists():
        if not create:
            raise NoStoreError(f"There is no store {path}. Check the path.")
        if not path.parent.is_dir():
            raise CurvewiseError(
                f"There is no folder {path.parent} for the store {path.name}. "
                f"Make it first."
            )
    # Its size first: another process may be making it, and what has a size is written.
    elif not (create and path.stat().st_size == 0) and not is_sqlite(path):
        raise CurvewiseError(
            f"{path} is no store: it is not a SQLite file. Pass the path of a store, or "
            f"of a file that does not exist yet."
        )


def _explanation(path: Path, problem: sqlite3.Error) -> CurvewiseError:
    text = str(problem)
    if "locked" in text or "busy" in text:
        remedy = f"Another process has been writing to it for {_WAIT_SECONDS:.0f} s."
    elif "malformed" in text or "not a database" in text or "corrupt" in text:
        remedy = "The file is damaged or cut short. Restore it from a copy."
    elif "readonly" in text or "unable to open" in text:
        remedy = "Check that you may write to the file and to its folder."
    elif "full" in text:
        remedy = "The disk is full; what was committed is safe."
    elif isinstance(problem, sqlite3.ProgrammingError):
        remedy = "Open a store in each thread, and use it before it is closed."
    else:
        remedy = "What was committed is safe."
    reason = shortened(text, 200).rstrip(".")
    return CurvewiseError(f"The store {path}: {reason}. {remedy}")
