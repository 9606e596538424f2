"""What is new in a store: a stretch of trials at a time, for whoever looks again and again.

Ids and revisions are committed in their order, so whoever has seen trial 100 has seen all
before it, and needs only what has come since. Each stretch is read in a snapshot of its
own: a long one would keep SQLite from emptying its log while another process writes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from curvewise.metrics import Floats, Metric
from curvewise.store import codes, reading
from curvewise.store.chunks import chunks
from curvewise.store.database import Database, within
from curvewise.store.tally import first_line
from curvewise.trials.columns import Core, Details, Ints

_LETTERS = 1000  # of an error; its first line is in them


@dataclass(frozen=True, slots=True, eq=False)
class News:
    """Trials of one stretch of ids, in the order of their ids.

    Parameters
    ----------
    tasks, algorithms : tuple of str
        All names of the store; the codes of `core` are places in them.
    metrics : mapping of str to Metric
        All that the store knows.
    ids : ndarray of int, shape (trial,)
    core : Core
    seconds : ndarray, shape (trial,)
        How long each took; NaN where nobody knows.
    errors : tuple of (str, ndarray of int)
        The first lines of errors, and the ids of the trials that ended so.
    details : Details or None
        Everything else, if it was asked for.
    revisions : ndarray of int
        The commits that have written these trials, each once.
    last : int
        The id up to which was looked.
    newest : int
        The newest id that there is.
    revision : int
        How many commits there were when it was looked.
    """

    tasks: tuple[str, ...]
    algorithms: tuple[str, ...]
    metrics: Mapping[str, Metric]
    ids: Ints
    core: Core
    seconds: Floats
    errors: tuple[tuple[str, Ints], ...]
    details: Details | None
    revisions: Ints
    last: int
    newest: int
    revision: int

    def __len__(self) -> int:
        return len(self.ids)


def news(
    db: Database,
    revision: int,
    *,
    after: int,
    most: int,
    since: int | None,
    with_details: bool,
) -> News:
    """Return what is new; called inside of a snapshot whose revision is known."""
    known = codes.load(db)
    newest = int(db.execute("SELECT coalesce(max(id), 0) FROM trials").fetchone()[0])
    first, last = after + 1, min(after + most, newest)
    ids, seconds, revisions = _columns(db, first, last, since)
    core = reading.core(db, known, last, first=first, since=since)
    return News(
        tuple(known.tasks),
        tuple(known.algorithms),
        known.metrics,
        ids,
        core,
        seconds,
        _errors(db, first, last, since) if core.status.any() else (),
        reading.details(db, last, first=first, since=since) if with_details else None,
        revisions,
        max(last, after),
        newest,
        revision,
    )


def _columns(
    db: Database, first: int, last: int, since: int | None
) -> tuple[Ints, Floats, Ints]:
    wanted = db.ints("id"), db.ints(reading.NANOSECONDS), db.ints("revision")
    none = np.empty(0, np.int64)
    parts = [(none, none, none)]
    for _, _, row in chunks(db, ", ".join(wanted), first, last, since):
        ids, nanoseconds, revision = map(db.parsed, row)
        parts.append((ids, nanoseconds, np.unique(revision)))
    ids, nanoseconds, revisions = map(np.concatenate, zip(*parts, strict=True))
    return ids, reading.seconds(nanoseconds), np.unique(revisions)


def _errors(
    db: Database, first: int, last: int, since: int | None
) -> tuple[tuple[str, Ints], ...]:
    """Return the first lines of errors, each with the trials that it is from."""
    condition, values = within(first, last, since)
    begin = f"substr(coalesce(error, ''), 1, {_LETTERS})"
    rows = db.execute(
        f"SELECT {begin}, {db.ints('id', ordered=False)} FROM trials "
        f"WHERE status <> 0 AND {condition} GROUP BY {begin}",
        values,
    )
    return tuple((first_line(text), db.parsed(ids)) for text, ids in rows)
