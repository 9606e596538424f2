"""A store in PostgreSQL: any number of readers, writers and drivers, on any machines."""

import os
import re
import secrets
import socket
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Self

import numpy as np
import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from curvewise.errors import CurvewiseError, NoStoreError, shortened
from curvewise.store import schema
from curvewise.store.address import Address, address
from curvewise.store.base import AnyStore, T
from curvewise.store.schema import Database, Row, Rows, within
from curvewise.trials.columns import Ints

_PAUSES = (0.1, 0.5, 1, 2, 4, 8)  # seconds before each attempt to get a connection back

# One number for all stores of a database: while a schema is made, others wait.
_MAKING = 0x6375727665  # "curve"

# A driver holds a lock of its session under its number for as long as it lives. This is
# how the server shows such locks.
_LIVING_DRIVERS = (
    "SELECT (CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT) FROM pg_locks "
    "WHERE locktype = 'advisory' AND objsubid = 1 AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class PostgresStore(AnyStore):
    """Trials in a database of PostgreSQL.

    Notes
    -----
    A batch is either in the database or not, whatever kills the process. If the
    connection breaks, it is made again a few times, and the batch is written again,
    which changes nothing if it had arrived.

    Claims hang on the connection to the server, so between the two there must be
    nothing that hands connections from one to another (PgBouncer, but in session mode).
    """

    shared = True

    def __init__(self, url: str, *, create: bool = True) -> None:
        super().__init__()
        self._given = url
        self._where = address(url)
        self._closed = False
        self._tried = -1  # the last ticket
        self._refuses = False  # to write
        try:
            self._db: Postgres = Postgres(self._where)
            try:
                self._prepare(create=create)
            except BaseException:
                self._db.close()
                raise
        except psycopg.Error as problem:
            raise _explanation(self._where, problem) from None

    def _prepare(self, *, create: bool) -> None:
        if not self._is_there():
            if not create:
                raise NoStoreError(f"There is no store at {self}. Check the URL.")
            with self._db.connection.transaction():
                self._db.execute("SELECT pg_advisory_xact_lock(?)", (_MAKING,))
                if not self._is_there():  # or another process was faster
                    self._make()
        self._check_version()

    def _is_there(self) -> bool:
        return self._has("curvewise")

    def _has(self, table: str) -> bool:
        tables = self._db.execute(
            "SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename LIKE ?",
            (self._where.schema, table),
        )
        return tables.fetchone() is not None

    def _make(self) -> None:
        encoding = self._db.execute("SHOW server_encoding").fetchone()[0]
        if encoding != "UTF8":
            raise CurvewiseError(
                f"The database at {self} has encoding {encoding}, which cannot hold every "
                f"name. Make one with encoding UTF8."
            )
        if self._has("%"):
            raise CurvewiseError(
                f"The schema {self._where.schema} at {self} has tables but no store of "
                f"curvewise. Name another one with ?schema=."
            )
        self._db.execute(f"CREATE SCHEMA IF NOT EXISTS {self._db.place}")
        self._make_tables(tables())

    # --- several drivers ---------------------------------------------------------------

    @contextmanager
    def driving(self) -> Iterator[None]:
        """Return a context in which this process may `claim` trials, beside others.

        Whatever ends the process, others can take its claims over at once; if its
        machine vanishes, after a minute.
        """
        if self._driver:
            raise CurvewiseError(f"This process is driving {self} already.")
        self._do(self._register)
        try:
            yield
        finally:
            driver, self._driver, self._began = self._driver, 0, AnyStore._began
            # If the connection is gone, so is the lock, and others see to the rest.
            with suppress(psycopg.Error):
                self._forget([driver])
                self._db.execute("SELECT pg_advisory_unlock(?)", (driver,))

    def others_drive(self) -> bool:
        """Return whether another process is driving this store, too."""
        alive = (
            f"SELECT 1 FROM drivers WHERE driver <> ? AND driver IN ({_LIVING_DRIVERS})"
        )
        driver = self._do(lambda: self._db.execute(alive, (self._driver,)).fetchone())
        return driver is not None

    def is_driven(self) -> bool | None:
        """Return whether any process is driving this store."""
        return bool(self._driver) or self.others_drive()

    def _register(self) -> None:
        """Begin as a driver, or go on as one under a new number."""
        before, number = self._driver, secrets.randbits(62) + 1
        self._db.execute("SELECT pg_advisory_lock(?)", (number,))
        name = f"{socket.gethostname()}:{os.getpid()}"
        with self._alone_with_claims():
            self._db.execute("INSERT INTO drivers VALUES (?, ?)", (number, name))
            if before:  # what others have not taken over meanwhile
                update = "UPDATE claims SET driver = ? WHERE driver = ?"
                self._db.execute(update, (number, before))
                self._db.execute("DELETE FROM drivers WHERE driver = ?", (before,))
            else:
                self._began = self._revision()
        self._driver = number

    @contextmanager
    def _claiming(self, ticket: int) -> Iterator[None]:
        with self._alone_with_claims():
            dead = f"SELECT driver FROM drivers WHERE driver NOT IN ({_LIVING_DRIVERS})"
            if gone := [driver for (driver,) in self._db.execute(dead)]:
                self._forget(gone)
            if ticket == self._tried:
                undo = "DELETE FROM claims WHERE driver = ? AND ticket = ?"
                self._db.execute(undo, (self._driver, ticket))
            self._tried = ticket
            yield

    @contextmanager
    def _alone_with_claims(self) -> Iterator[None]:
        with self._db.connection.transaction():
            self._db.execute("LOCK TABLE drivers IN EXCLUSIVE MODE")
            yield

    def _forget(self, drivers: list[int]) -> None:
        for table in ("claims", "drivers"):
            self._db.execute(f"DELETE FROM {table} WHERE driver = ANY(?)", (drivers,))

    # --- care --------------------------------------------------------------------------

    def _do(self, action: Callable[[], T]) -> T:
        for pause in (*_PAUSES, None):
            try:
                if self._is_lost():
                    self._reconnect()
                return action()
            except psycopg.Error as problem:
                lost = self._is_lost()
                if pause is None or not lost:
                    raise _explanation(self._where, problem, lost=lost) from None
            time.sleep(pause)
        raise AssertionError

    def _is_lost(self) -> bool:
        return self._db.connection.closed and not self._closed

    def refuse_writes(self) -> Self:
        """Let nothing be changed through this store from now on, and return it."""
        self._refuses = True
        return super().refuse_writes()

    def _reconnect(self) -> None:
        self._db = Postgres(self._where)
        self._known = None
        try:
            if self._refuses:
                self._db.refuse_writes()
            if self._driver:
                self._register()
        except BaseException:
            self._db.close()  # a driver without its lock would lose its claims
            raise

    def _reopener(self) -> Callable[[], AnyStore]:
        return partial(PostgresStore, self._given, create=False)

    def __str__(self) -> str:
        return self._where.shown

    def close(self) -> None:
        """Close the connection."""
        self._closed = True
        self._db.close()


def _explanation(
    where: Address, problem: psycopg.Error, *, lost: bool = False
) -> CurvewiseError:
    # Only what we have cleaned is shown: the server's library may quote the whole URL.
    text = where.cleaned(str(problem))
    reason = shortened(text.partition("\n")[0], 200).rstrip(".")
    remedy = _LOST if lost else _remedy(problem, text)
    return CurvewiseError(f"The store {where.shown}: {reason}. {remedy}")


_SAFE = "What was committed is safe."
_LOST = f"The connection was lost and did not come back. {_SAFE} Run again to go on."
_BY_KIND = {
    psycopg.errors.InsufficientPrivilege: (
        "Ask for the right to do so, or name a schema of your own with ?schema=."
    ),
    psycopg.errors.ReadOnlySqlTransaction: "This server only lets you read.",
    psycopg.errors.DiskFull: f"The server's disk is full. {_SAFE}",
}
_BY_WORDS = {
    "connection is closed": "Use it before it is closed.",
    "NUL": "PostgreSQL cannot keep a name with a zero byte. Change the name.",
    "password": "Check user and password, in the URL or in ~/.pgpass.",
    "authentication": "Check user and password, in the URL or in ~/.pgpass.",
    "pg_hba.conf": "Ask whoever runs the server to let you in.",
    "role ": "Check the user in the URL.",
    "database ": "Make the database first, with createdb.",
    "too many": "Ask whoever runs the server for more connections.",
    "connect": "Check host and port, and that the server runs.",
    "resolve host": "Check host and port, and that the server runs.",
}


def _remedy(problem: psycopg.Error, text: str) -> str:
    for kind, remedy in _BY_KIND.items():
        if isinstance(problem, kind):
            return remedy
    if type(problem) is psycopg.ProgrammingError:  # before it came to a connection
        return "Write it as postgresql://user@host:port/database?schema=name."
    if isinstance(problem, psycopg.OperationalError | psycopg.DataError):
        for words, remedy in _BY_WORDS.items():
            if words in text:
                return remedy
    return _SAFE


# --- PostgreSQL's own words ------------------------------------------------------------
#
# As with SQLite, the server lays the cells of a column end to end and numpy parses the
# result, so that no object is made per trial. Many rows come in by COPY, into a table that
# only this connection sees, and from there into their place.


# Who vanishes without a word, a machine without power, is gone after a minute: so
# long does the server keep a driver's claims.
_KEEPALIVES = {"idle": "30", "interval": "10", "count": "3"}
_CONNECT_SECONDS = "10"

# Texts that are JSON, in which a zero byte is an escape: the server can look into them.
_JSON = ("params", "labels")

_FEW = 40  # up to here, one statement per row is faster
_UPSERT = schema.UPSERT.replace("?", "%s")
_INCOMING = ", ".join(schema.COLUMNS[:-1])
_BYTES = ("steps", "scores", "recorded", "error", "counts", "correct", "asked")
_TYPES = [
    "text" if name in _JSON else "bytea" if name in _BYTES else "int8"
    for name in schema.COLUMNS[:-1]
]


def tables() -> str:
    """Return the tables of a store, and of its drivers, as PostgreSQL spells them.

    A text cannot hold a zero byte here, and somebody's error may. A unique index has
    room for 2700 bytes, and a list of examples is longer; exclusion by hash means the
    same thing.
    """
    text = schema.TABLES + schema.CLAIMS
    for old, new in (
        (r"\b(id|code) INTEGER", r"\1 INTEGER GENERATED BY DEFAULT AS IDENTITY"),
        (r"(\w+) (\w+) NOT NULL UNIQUE", r"\1 \2 NOT NULL, EXCLUDE USING hash (\1 WITH =)"),
        (r"error TEXT", "error BLOB"),
        (r"\bINTEGER\b", "BIGINT"),
        (r"\bREAL\b", "DOUBLE PRECISION"),
        (r"\bBLOB\b", "BYTEA"),
    ):  # fmt: skip
        text = re.sub(old, new, text)
    return (
        text + "CREATE TABLE drivers (driver BIGINT PRIMARY KEY, name TEXT NOT NULL);\n"
    )


class Postgres(Database):
    """A connection to a server."""

    wanted = "unnest(CAST(? AS BIGINT[])) AS wanted (value)"
    texts_hold_zero = False

    def __init__(self, where: Address) -> None:
        usual = {f"keepalives_{key}": value for key, value in _KEEPALIVES.items()}
        usual |= {"connect_timeout": _CONNECT_SECONDS, "application_name": "curvewise"}
        options = conninfo_to_dict(where.url)
        info = make_conninfo("", **(usual | options))
        self.connection = psycopg.connect(info, autocommit=True)
        _open.add(self)
        self.place = '"' + where.schema.replace('"', '""') + '"'
        settings = {
            f"tcp_keepalives_{key}": value for key, value in _KEEPALIVES.items()
        }
        settings |= {"search_path": self.place, "client_min_messages": "warning"}
        settings |= {"default_transaction_isolation": "read committed"}
        calls = ", ".join("set_config(?, ?, false)" for _ in settings)
        self.execute(f"SELECT {calls}", [x for item in settings.items() for x in item])

    def execute(self, query: str, values: Sequence[Any] = ()) -> Rows:
        """Run a statement."""
        cursor = self.connection.cursor(binary=True)
        return cursor.execute(query.replace("?", "%s"), values or None)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Return a transaction in which nobody else writes.

        So ids and revisions are committed in their order, and a reader that has seen
        trial 100 has seen all before it.
        """
        with self.connection.transaction():
            self.execute("SELECT 1 FROM curvewise WHERE key = 'revision' FOR UPDATE")
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Return a transaction that sees one state of the store."""
        with self.connection.transaction():
            self.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield

    def refuse_writes(self) -> None:
        """Let nothing be changed through this connection from now on."""
        self.execute("SELECT set_config('default_transaction_read_only', 'on', false)")

    def upsert(self, rows: Sequence[Row], revision: int) -> None:
        """Add trials as `columns.encode` makes them, or replace them."""
        if len(rows) < _FEW:
            ready = [(*row, revision) for row in rows]
            with self.connection.cursor() as cursor:
                cursor.executemany(_UPSERT, ready)
            return
        self.execute(
            "CREATE TEMPORARY TABLE IF NOT EXISTS incoming ON COMMIT DELETE ROWS "
            f"AS SELECT {_INCOMING} FROM trials WITH NO DATA"
        )
        receive = f"COPY incoming ({_INCOMING}) FROM STDIN (FORMAT BINARY)"
        with self.connection.cursor() as cursor, cursor.copy(receive) as copy:
            copy.set_types(_TYPES)
            for row in rows:
                copy.write_row(row)
        self.execute(
            f"INSERT INTO trials ({_INCOMING}, revision) SELECT {_INCOMING}, "
            f"CAST(? AS BIGINT) FROM incoming {schema.REPLACE}",
            (revision,),
        )

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    # --- whole columns -----------------------------------------------------------------

    def size(self) -> int:
        """Return about how many bytes the trials take."""
        return int(self.execute("SELECT pg_table_size('trials')").fetchone()[0])

    def stretch(
        self, columns: str, first: int, last: int, since: int | None = None
    ) -> Row | None:
        """Return aggregates over the trials with these ids; None if they are too big."""
        condition, values = within(first, last, since)
        query = f"SELECT {columns} FROM trials WHERE {condition}"
        try:
            with self.connection.transaction():  # after a failure the snapshot goes on
                row: Row = self.execute(query, values).fetchone()
        except (
            psycopg.errors.ProgramLimitExceeded,  # more than a gigabyte
            psycopg.errors.InternalError_,
            psycopg.errors.OutOfMemory,
        ) as problem:
            if "memory" in str(problem) or "limit" in str(problem):
                return None
            raise
        return row

    def ints(self, expression: str, *, ordered: bool = True) -> str:
        """Return the aggregate of whole numbers, for `parsed`, ordered by id or not."""
        sent = f"int8send(CAST({expression} AS BIGINT))"
        order = " ORDER BY id" if ordered else ""
        return f"string_agg({sent}, CAST('' AS BYTEA){order})"

    def parsed(self, cell: bytes) -> Ints:
        """Return the whole numbers of a column."""
        return np.frombuffer(cell, ">i8").astype(np.int64)

    def cells(self, column: str) -> str:
        """Return the aggregate of blobs or texts end to end, for `joined`."""
        bytes_of = f"convert_to({column}, 'UTF8')" if column in _JSON else column
        return f"string_agg({bytes_of}, CAST('' AS BYTEA) ORDER BY id)"

    def lengths(self, column: str) -> str:
        """Return the aggregate of how many bytes each cell has, for `parsed`."""
        return self.ints(f"coalesce(octet_length({column}), 0)")

    def joined(self, cell: bytes | None) -> bytes:
        """Return the bytes that `cells` laid end to end."""
        return cell or b""

    def numbers(self, numbers: Ints) -> list[int]:
        """Return whole numbers as the value that `wanted` and `among` take."""
        return list(numbers.tolist())

    def among(self, column: str) -> str:
        """Return the condition that a column is among whole numbers."""
        return f"{column} = ANY(CAST(? AS BIGINT[]))"


_open: "weakref.WeakSet[Postgres]" = weakref.WeakSet()


def _let_go() -> None:
    """Leave the parent's connections alone, in a process that was forked from it.

    A socket is open as long as any process has it. A worker that outlives its killed
    driver would keep the driver's claims alive, so here it gets something else instead.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for database in _open:
        if not database.connection.closed:
            os.dup2(nothing, database.connection.fileno(), inheritable=False)
    os.close(nothing)


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_let_go)
