"""A store in PostgreSQL: any number of readers, writers and drivers, on any machines."""

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Self

import psycopg

from curvewise.errors import CurvewiseError, NoStoreError, shortened
from curvewise.store.address import Address, address
from curvewise.store.base import AnyStore
from curvewise.store.driven import T
from curvewise.store.postgres_database import Postgres, tables

_PAUSES = (0.1, 0.5, 1, 2, 4, 8)  # seconds before each attempt to get a connection back

# One number for all stores of a database: while a schema is made, others wait.
_MAKING = 0x6375727665  # "curve"

# A driver holds a lock of its session under its number for as long as it lives. This is
# how the server shows such locks.
_ALIVE = (
    "SELECT (CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT) FROM pg_locks "
    "WHERE locktype = 'advisory' AND objsubid = 1 AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class PostgresStore(AnyStore):
    """Trials in a database of PostgreSQL.

    Parameters
    ----------
    url : str
        Such as ``postgresql://ann@host/runs?schema=moons``. The tables are in the schema
        of that name, ``curvewise`` if it is left out: one schema per experiment. A
        password is better kept in ``~/.pgpass`` or ``PGPASSWORD`` than in the URL.
    create : bool
        Whether to make schema and tables if they are not there. The database must be.

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
        found = self._db.execute(
            "SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename LIKE ?",
            (self._where.schema, table),
        )
        return found.fetchone() is not None

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
        alive = f"SELECT 1 FROM drivers WHERE driver <> ? AND driver IN ({_ALIVE})"
        found = self._do(lambda: self._db.execute(alive, (self._driver,)).fetchone())
        return found is not None

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
            dead = f"SELECT driver FROM drivers WHERE driver NOT IN ({_ALIVE})"
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
