"""SQLite's own words.

Fetching three million rows makes twenty million Python objects. Instead SQLite itself
lays the cells of a column end to end, and numpy parses the result: no object per trial,
and about half the time of ``fetchall``. Integers come as a JSON array, SQLite's fastest
way to write them; blobs and texts come as one blob.
"""

import functools
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from curvewise.store import schema
from curvewise.store.database import Database, Row, Rows, within
from curvewise.trials.columns import Ints


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
        """Add trials as `writing.encode` makes them, or replace them."""
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
