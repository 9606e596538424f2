"""Which of the wanted trials a driver takes on, and which are not done yet.

A trial is done if it is in the store. With `redo`, one that ended so before the driver
began is not: what was run again and ended so again has a later revision, and counts as
done, or drivers would run it for each other for ever.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from curvewise.store.database import Database
from curvewise.trials.columns import Ints

Cell = tuple[str, str]
_MOST_AT_ONCE = 8192


class Claim(NamedTuple):
    """What a driver asks for: trials of one task and algorithm, as codes."""

    task: int
    algorithm: int
    redo: Collection[int]
    began: int
    driver: int
    ticket: int


def take(db: Database, claim: Claim, numbers: Ints, limit: int) -> Ints:
    """Claim and return the first `limit` numbers that are neither done nor claimed."""
    taken = [numbers[:0]]
    start, step = 0, min(max(2 * limit, 256), _MOST_AT_ONCE)
    while limit > 0 and start < len(numbers):
        stretch = numbers[start : start + step]
        start, step = start + step, min(2 * step, _MOST_AT_ONCE)
        mine = stretch[~np.isin(stretch, _taken(db, claim, stretch))]
        mine = mine[np.sort(np.unique(mine, return_index=True)[1])][:limit]
        if len(mine):
            db.execute(
                "INSERT INTO claims (task, algorithm, number, driver, ticket) "
                f"SELECT ?, ?, value, ?, ? FROM {db.wanted}",
                (*claim[:2], *claim[-2:], db.numbers(mine)),
            )
        taken.append(mine)
        limit -= len(mine)
    return np.concatenate(taken)


def _taken(db: Database, claim: Claim, numbers: Ints) -> list[int]:
    """Return those of the numbers that are done or claimed."""
    # Both at one moment: who leaves has written what he then no longer claims.
    these = f"task = ? AND algorithm = ? AND {db.among('number')}"
    values = (*claim[:2], db.numbers(numbers))
    rows = db.execute(
        f"SELECT number FROM trials WHERE {these} AND {done(claim.redo)} "
        f"UNION ALL SELECT number FROM claims WHERE {these}",
        (*values, claim.began, *values),
    )
    return [number for (number,) in rows]


def done(redo: Collection[int]) -> str:
    """Return the condition for a trial to be done; its one value is when we began."""
    return f"NOT (status IN ({', '.join(map(str, [-1, *redo]))}) AND revision <= ?)"
