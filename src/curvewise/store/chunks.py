"""Whole columns out of SQLite, a stretch of rows at a time.

Fetching three million rows makes twenty million Python objects. Instead SQLite itself
lays the cells of a column end to end, and numpy parses the result: no object per trial,
and about half the time of ``fetchall``. Integers come as a JSON array, SQLite's fastest
way to write them; blobs and texts come as one blob.
"""

import functools
import sqlite3
from collections.abc import Iterator
from typing import Any

import numpy as np

from curvewise.trials.columns import Ints
from curvewise.trials.ragged import Ragged, starts

MOST_ROWS = 100_000
_BYTES = 64e6


def chunks(
    db: sqlite3.Connection, columns: str, first: int, last: int
) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
    """Yield (first id, last id, cells) for stretches of the trials with these ids.

    `columns` are aggregates as `ints` and `cells` make them, the first one of `ints`.
    """
    pages, size, rows = (
        db.execute(query).fetchone()[0] or 0
        for query in (
            "PRAGMA page_count",
            "PRAGMA page_size",
            "SELECT max(id) FROM trials",
        )
    )
    # As many rows as make 64 MB of the file, however long the curves are.
    step = int(np.clip(_BYTES * rows / max(pages * size, 1), 1, MOST_ROWS))
    begins = range(first, last + 1, step)
    waiting = [(lo, min(lo + step - 1, last)) for lo in begins][::-1]
    query = f"SELECT {columns} FROM trials WHERE id BETWEEN ? AND ?"
    while waiting:
        lo, hi = waiting.pop()
        try:
            row = db.execute(query, (lo, hi)).fetchone()
        except (sqlite3.DataError, sqlite3.OperationalError) as problem:
            if "too big" not in str(problem) or lo == hi:
                raise
            # A stretch of very long curves: what SQLite can hold ends at a gigabyte.
            middle = (lo + hi) // 2
            waiting += [(middle + 1, hi), (lo, middle)]
            continue
        if row[0] != "[]":
            yield lo, hi, row


def ints(expression: str) -> str:
    """Return the aggregate of whole numbers, for `parsed`."""
    return f"json_group_array({expression})"


def parsed(text: str) -> Ints:
    """Return the whole numbers of a column."""
    return np.fromstring(text[1:-1], np.int64, sep=",")


def cells(column: str) -> str:
    """Return the aggregate of blobs or texts end to end, for `unpacked`; NULL is empty."""
    if _joins_bytes():
        return f"CAST(group_concat(CAST({column} AS TEXT), '') AS BLOB)"
    return f"group_concat(CASE WHEN {column} IS NOT NULL THEN hex({column}) END, '')"


def lengths(column: str) -> str:
    """Return the aggregate of how many bytes each cell has, for `parsed`."""
    return ints(f"ifnull(length(CAST({column} AS BLOB)), 0)")


def unpacked(joined: bytes | str | None, dtype: str = "<f8") -> Any:
    """Return the numbers in cells that lie end to end."""
    if isinstance(joined, str):
        joined = bytes.fromhex(joined)
    return np.frombuffer(joined or b"", dtype)


def ragged(byte_lengths: str, joined: bytes | str | None, dtype: str) -> Ragged:
    """Return cells of unequal length."""
    flat = unpacked(joined, dtype)
    return Ragged(starts(parsed(byte_lengths) // flat.itemsize), flat)


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
