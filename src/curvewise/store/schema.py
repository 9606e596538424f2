"""The tables of a store, and a connection: where SQLite and PostgreSQL differ.

Names are integer codes, curves are little-endian float64 blobs, params and labels are
canonical JSON. Nothing is pickled, so a store can be opened by anyone, for ever.

A trial's ``scores`` blob is a matrix (metric, step) in the order of its metric set;
``steps`` is NULL for the single step 0; ``recorded`` (packed bits, the same matrix) is
NULL where every metric was recorded at every step. ``revision`` grows with every commit
that touches a row, so that a reader can tell whether a row changed since it looked.
Times are whole nanoseconds, because SQLite writes a REAL with 15 digits only.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from curvewise.trials.columns import Ints

VERSION = 1

TABLES = """
CREATE TABLE curvewise (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE tasks (code INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE algorithms (code INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE metrics (
  code INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, direction TEXT NOT NULL,
  low REAL NOT NULL, high REAL NOT NULL, unit TEXT NOT NULL, label TEXT NOT NULL
);
CREATE TABLE metric_sets (code INTEGER PRIMARY KEY, metrics TEXT NOT NULL UNIQUE);
CREATE TABLE example_sets (code INTEGER PRIMARY KEY, ids BLOB NOT NULL UNIQUE);
CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL, algorithm INTEGER NOT NULL, number INTEGER NOT NULL,
  status INTEGER NOT NULL, metric_set INTEGER NOT NULL,
  steps BLOB, scores BLOB NOT NULL, recorded BLOB,
  params TEXT, labels TEXT, nanoseconds INTEGER, attempts INTEGER NOT NULL, error TEXT,
  counts BLOB, classes INTEGER NOT NULL,
  correct BLOB, asked BLOB, example_set INTEGER,
  revision INTEGER NOT NULL,
  UNIQUE (task, algorithm, number)
);
"""

COLUMNS = tuple(
    "task algorithm number status metric_set steps scores recorded params labels "
    "nanoseconds attempts error counts classes correct asked example_set revision".split()
)

REPLACE = "ON CONFLICT (task, algorithm, number) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in COLUMNS[3:]
)

UPSERT = (
    f"INSERT INTO trials ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))}) "
    + REPLACE
)

# Which trials a driver has taken on. In PostgreSQL beside the other tables; in SQLite,
# which has one driver at a time, a temporary table that is never in the file.
CLAIMS = """
CREATE TABLE claims (
  task INTEGER NOT NULL, algorithm INTEGER NOT NULL, number INTEGER NOT NULL,
  driver INTEGER NOT NULL, ticket INTEGER NOT NULL,
  PRIMARY KEY (task, algorithm, number)
);
"""


# --- A connection, and everything in which SQLite and PostgreSQL differ ----------------
#
# Every statement of the store is written once, with ``?`` for a value, and goes through
# one of these. What the two do not share has a method here; nothing else may ask which
# of them it is.


Row = tuple[Any, ...]


def within(first: int, last: int, since: int | None) -> tuple[str, tuple[int, ...]]:
    """Return the condition for a trial to be in a stretch of ids, and its values.

    With `since`, it was also written after that revision.
    """
    ids = "id BETWEEN ? AND ?"
    if since is None:
        return ids, (first, last)
    return f"{ids} AND revision > ?", (first, last, since)


class Rows(Protocol):
    """What a query returns."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def __iter__(self) -> Iterator[Any]: ...


class Database(ABC):
    """A connection to a database with the tables of a store."""

    #: A table of whole numbers, ``wanted (value)``, made of what `numbers` returns.
    wanted: str
    #: Whether a text may hold a zero byte.
    texts_hold_zero: bool

    @abstractmethod
    def execute(self, query: str, values: Sequence[Any] = ()) -> Rows:
        """Run a statement."""

    @abstractmethod
    def alone(self) -> AbstractContextManager[None]:
        """Return a transaction in which nobody else writes."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """Return a transaction that sees one state of the store."""

    @abstractmethod
    def refuse_writes(self) -> None:
        """Let nothing be changed through this connection from now on."""

    @abstractmethod
    def upsert(self, rows: Sequence[Row], revision: int) -> None:
        """Add trials as `columns.encode` makes them, or replace them."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    # --- whole columns -----------------------------------------------------------------

    @abstractmethod
    def size(self) -> int:
        """Return about how many bytes the trials take."""

    @abstractmethod
    def stretch(
        self, columns: str, first: int, last: int, since: int | None = None
    ) -> Row | None:
        """Return aggregates over the trials with these ids; None if they are too big.

        With `since`, over those of them that were written after that revision.
        """

    @abstractmethod
    def ints(self, expression: str, *, ordered: bool = True) -> str:
        """Return the aggregate of whole numbers, for `parsed`, ordered by id or not."""

    @abstractmethod
    def parsed(self, cell: Any) -> Ints:
        """Return the whole numbers of a column."""

    @abstractmethod
    def cells(self, column: str) -> str:
        """Return the aggregate of blobs or texts end to end, for `joined`.

        NULL is empty.
        """

    @abstractmethod
    def lengths(self, column: str) -> str:
        """Return the aggregate of how many bytes each cell has, for `parsed`."""

    @abstractmethod
    def joined(self, cell: Any) -> bytes:
        """Return the bytes that `cells` laid end to end."""

    @abstractmethod
    def numbers(self, numbers: Ints) -> Any:
        """Return whole numbers as the value that `wanted` and `among` take."""

    @abstractmethod
    def among(self, column: str) -> str:
        """Return the condition that a column is among whole numbers; an index serves it."""
