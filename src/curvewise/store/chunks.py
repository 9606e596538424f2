"""Whole columns out of a store, a stretch of rows at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.store.database import Database, Row
from curvewise.trials.ragged import Ragged, starts

MOST_ROWS = 100_000
_BYTES = 64e6


def chunks(
    db: Database, columns: str, first: int, last: int, since: int | None = None
) -> Iterator[tuple[int, int, Row]]:
    """Yield (first id, last id, cells) for stretches of the trials with these ids.

    `columns` are aggregates as the database makes them; with `since`, of the trials that
    were written after that revision.
    """
    rows = db.execute("SELECT max(id) FROM trials").fetchone()[0] or 0
    # As many rows as make 64 MB of the store, however long the curves are.
    step = int(np.clip(_BYTES * rows / max(db.size(), 1), 1, MOST_ROWS))
    begins = range(first, last + 1, step)
    waiting = [(lo, min(lo + step - 1, last)) for lo in begins][::-1]
    while waiting:
        lo, hi = waiting.pop()
        row = db.stretch(f"count(*), {columns}", lo, hi, since)
        if row is None:  # very long curves: half of them fit, or half of those
            if lo == hi:
                raise CurvewiseError(
                    f"The curve of the trial with id {lo} is too long."
                )
            middle = (lo + hi) // 2
            waiting += [(middle + 1, hi), (lo, middle)]
        elif row[0]:
            yield lo, hi, row[1:]


def unpacked(joined: bytes, dtype: str = "<f8") -> Any:
    """Return the numbers in cells that lie end to end."""
    return np.frombuffer(joined, dtype)


def ragged(db: Database, lengths: Any, cells: Any, dtype: str) -> Ragged:
    """Return cells of unequal length."""
    flat = unpacked(db.joined(cells), dtype)
    return Ragged(starts(db.parsed(lengths) // flat.itemsize), flat)
