"""Other tools' SQLite databases, opened to look and never to touch."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from curvewise.errors import CurvewiseError, shortened

Connection = sqlite3.Connection  # for those who may not import sqlite3
_PATIENCE = 5.0  # seconds to wait for somebody who is writing


def table_names(path: Path) -> frozenset[str]:
    """Return the names of the tables of an SQLite file."""
    with opened(path) as database:
        rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return frozenset(name for (name,) in rows)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for reading, in one transaction: all rows are of one moment.

    Whoever is writing goes on; what they commit meanwhile is not seen. A database that
    is damaged, or that somebody keeps for themselves, is an error that says so.
    """
    try:
        with contextlib.closing(_connected(path)) as database:
            database.execute("BEGIN")
            yield database
    except (sqlite3.Error, UnicodeDecodeError) as problem:
        # SQLite quotes damaged texts in its own errors, which Python then cannot decode.
        raise CurvewiseError(f"{path} {_said(problem)}") from problem


def _connected(path: Path) -> sqlite3.Connection:
    address = f"file:{quote(str(path.resolve()))}"
    database = _tried(f"{address}?mode=ro")
    try:
        database.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as problem:
        if "unable to open" not in str(problem) and "readonly" not in str(problem):
            database.close()
            raise
        # In a folder that may not be written, a journal cannot be opened: take what is in
        # the file itself.
        database.close()
        database = _tried(f"{address}?mode=ro&immutable=1")
    return database


def _tried(address: str) -> sqlite3.Connection:
    return sqlite3.connect(address, uri=True, timeout=_PATIENCE, isolation_level=None)


def _said(problem: Exception) -> str:
    text = str(problem)
    if "locked" in text or "busy" in text:
        return (
            f"is locked: somebody is writing to it and did not finish in {_PATIENCE:g} s. "
            f"Try again, or copy the file and read the copy."
        )
    signs = ("malformed", "not a database", "disk I/O", "decode")
    if any(sign in text for sign in signs):
        return (
            f"is damaged: {shortened(text)}. Restore it from a copy, or rescue what is in "
            f"it with: sqlite3 FILE .recover | sqlite3 rescued.db"
        )
    return f"cannot be read: {shortened(text, 200)}. Is it of a version we do not know?"
