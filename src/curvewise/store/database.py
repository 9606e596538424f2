"""A connection, and everything in which SQLite and PostgreSQL differ.

Every statement of the store is written once, with ``?`` for a value, and goes through
one of these. What the two do not share has a method here; nothing else may ask which
of them it is.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from curvewise.trials.columns import Ints

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
        """Add trials as `writing.encode` makes them, or replace them."""

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
