"""A store in one SQLite file: one writer, any number of readers meanwhile."""

import functools
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError, NoStoreError, shortened
from curvewise.store import schema
from curvewise.store.base import AnyStore, T
from curvewise.store.locks import driver_lock, is_locked
from curvewise.store.schema import Database, Row, Rows, within
from curvewise.trials.columns import Ints

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
                f"Pass the path of a store, or of a file that does not exist yet.",
                argument="path",
                value=self.path,
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
        raise CurvewiseError(
            f"{path} is a folder. Pass the path of a store's file.",
            argument="path",
            value=path,
        )
    if not path.exists():
        if not create:
            raise NoStoreError(
                f"There is no store {path}. Check the path.",
                argument="path",
                value=path,
            )
        if not path.parent.is_dir():
            raise CurvewiseError(
                f"There is no folder {path.parent} for the store {path.name}. "
                f"Make it first.",
                argument="path",
                value=path,
            )
    # Its size first: another process may be making it, and what has a size is written.
    elif not (create and path.stat().st_size == 0) and not is_sqlite(path):
        raise CurvewiseError(
            f"{path} is no store: it is not a SQLite file. Pass the path of a store, or "
            f"of a file that does not exist yet.",
            argument="path",
            value=path,
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


# --- SQLite's own words ----------------------------------------------------------------
#
# Fetching three million rows makes twenty million Python objects. Instead SQLite itself
# lays the cells of a column end to end, and numpy parses the result: no object per trial,
# and about half the time of ``fetchall``. Integers come as a JSON array, SQLite's fastest
# way to write them; blobs and texts come as one blob.


class SQLite(Database):
    """A connection to a file."""

    wanted = "json_each(?) AS wanted"
    texts_hold_zero = True

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def execute(self, query: str, values: Sequence[Any] = ()) -> Rows:
        """Run a statement."""
        return self.connection.execute(query, values)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Return a transaction in which nobody else writes."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:  # a full disk has rolled back by itself
                self.connection.execute("ROLLBACK")
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Return a transaction that sees one state of the store."""
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            self.connection.execute("ROLLBACK")

    def refuse_writes(self) -> None:
        """Let nothing be changed through this connection from now on."""
        self.connection.execute("PRAGMA query_only = ON")

    def upsert(self, rows: Sequence[Row], revision: int) -> None:
        """Add trials as `columns.encode` makes them, or replace them."""
        end = (revision,)
        self.connection.executemany(schema.UPSERT, [row + end for row in rows])

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    # --- whole columns -----------------------------------------------------------------

    def size(self) -> int:
        """Return about how many bytes the trials take."""
        queries = ("PRAGMA page_count", "PRAGMA page_size")
        pages, size = (self.execute(query).fetchone()[0] for query in queries)
        return int(pages * size)

    def stretch(
        self, columns: str, first: int, last: int, since: int | None = None
    ) -> Row | None:
        """Return aggregates over the trials with these ids; None if they are too big."""
        condition, values = within(first, last, since)
        query = f"SELECT {columns} FROM trials WHERE {condition}"
        try:
            row: Row = self.execute(query, values).fetchone()
        except (sqlite3.DataError, sqlite3.OperationalError) as problem:
            if "too big" in str(problem):  # what SQLite can hold ends at a gigabyte
                return None
            raise
        return row

    def ints(self, expression: str, *, ordered: bool = True) -> str:  # noqa: ARG002
        """Return the aggregate of whole numbers, for `parsed`."""
        return f"json_group_array({expression})"

    def parsed(self, cell: str) -> Ints:
        """Return the whole numbers of a column."""
        return np.fromstring(cell[1:-1], np.int64, sep=",")

    def cells(self, column: str) -> str:
        """Return the aggregate of blobs or texts end to end, for `joined`."""
        if _joins_bytes():
            return f"CAST(group_concat(CAST({column} AS TEXT), '') AS BLOB)"
        return (
            f"group_concat(CASE WHEN {column} IS NOT NULL THEN hex({column}) END, '')"
        )

    def lengths(self, column: str) -> str:
        """Return the aggregate of how many bytes each cell has, for `parsed`."""
        return self.ints(f"ifnull(length(CAST({column} AS BLOB)), 0)")

    def joined(self, cell: bytes | str | None) -> bytes:
        """Return the bytes that `cells` laid end to end."""
        return bytes.fromhex(cell) if isinstance(cell, str) else cell or b""

    def numbers(self, numbers: Ints) -> str:
        """Return whole numbers as the value that `wanted` and `among` take."""
        return json.dumps(numbers.tolist())

    def among(self, column: str) -> str:
        """Return the condition that a column is among whole numbers."""
        return f"{column} IN (SELECT value FROM json_each(?))"


@functools.cache
def _joins_bytes() -> bool:
    """Return whether this SQLite joins blobs byte by byte, zero bytes included.

    All that we know do; the manual only promises it for hexadecimal digits, which take
    twice as long.
    """
    db = sqlite3.connect(":memory:")
    try:
        joined = db.execute(
            "SELECT CAST(group_concat(CAST(x AS TEXT), '') AS BLOB) FROM "
            "(SELECT x'00ff0080' AS x UNION ALL SELECT x'' UNION ALL SELECT x'fe0a00')"
        ).fetchone()[0]
    finally:
        db.close()
    return bool(joined == b"\x00\xff\x00\x80\xfe\x0a\x00")
