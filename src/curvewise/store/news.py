"""What is new in a store, and how its trials ended: for whoever looks again and again.

Ids and revisions are committed in their order, so whoever has seen trial 100 has seen all
before it, and needs only what has come since. Each stretch is read in a snapshot of its
own: a long one would keep SQLite from emptying its log while another process writes. How
trials ended is counted by the database: no trial is read.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from curvewise.errors import shortened
from curvewise.metrics import Floats, Metric
from curvewise.store import columns
from curvewise.store.columns import chunks
from curvewise.store.locks import Cell
from curvewise.store.schema import Database, within
from curvewise.trials.columns import Core, Details, Ints
from curvewise.trials.trial import STATUSES, Key

_LETTERS = 1000  # of an error; its first line is in them


@dataclass(frozen=True, slots=True, eq=False)
class News:
    """Trials of one stretch of ids, in the order of their ids."""

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
    codes = columns.load_codes(db)
    newest = int(db.execute("SELECT coalesce(max(id), 0) FROM trials").fetchone()[0])
    first, last = after + 1, min(after + most, newest)
    ids, seconds, revisions = _columns(db, first, last, since)
    core = columns.core(db, codes, last, first=first, since=since)
    return News(
        tasks=tuple(codes.tasks),
        algorithms=tuple(codes.algorithms),
        metrics=codes.metrics,
        ids=ids,
        core=core,
        seconds=seconds,
        errors=_errors(db, first, last, since) if core.status.any() else (),
        details=columns.details(db, last, first=first, since=since)
        if with_details
        else None,
        revisions=revisions,
        last=max(last, after),
        newest=newest,
        revision=revision,
    )


def _columns(
    db: Database, first: int, last: int, since: int | None
) -> tuple[Ints, Floats, Ints]:
    wanted = db.ints("id"), db.ints(columns.NANOSECONDS), db.ints("revision")
    none = np.empty(0, np.int64)
    parts = [(none, none, none)]
    for _, _, row in chunks(db, ", ".join(wanted), first, last, since):
        ids, nanoseconds, revision = map(db.parsed, row)
        parts.append((ids, nanoseconds, np.unique(revision)))
    ids, nanoseconds, revisions = map(np.concatenate, zip(*parts, strict=True))
    return ids, columns.seconds(nanoseconds), np.unique(revisions)


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


# --- How the trials of a store ended, counted by the database: no trial is read --------


_MOST = 5  # messages that are told
_TEXTS = 1000  # different ones that are looked at, the most frequent first
_SILENT = "it left no message"

Codes: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Ended:
    """How the trials of one algorithm on one task ended, and how long they took."""

    states: Mapping[str, int]
    mean: float | None = None
    longest: float | None = None


@dataclass(frozen=True, slots=True)
class Mishap:
    """An error's first line, how often it came, and the first trial that had it."""

    message: str
    count: int
    task: str
    algorithm: str
    number: int


@dataclass(frozen=True, slots=True)
class Tally:
    """How trials ended, cell by cell, and what went wrong most often."""

    cells: Mapping[Cell, Ended]
    mishaps: tuple[Mishap, ...]


def counted(db: Database) -> Tally:
    """Return how the trials of a store ended."""
    tasks = dict(db.execute("SELECT code, name FROM tasks"))
    algorithms = dict(db.execute("SELECT code, name FROM algorithms"))

    def named(codes: Codes) -> Key:
        task, algorithm, number = codes
        return tasks[task], algorithms[algorithm], number

    mishaps = tuple(
        Mishap(shortened(line, 200), many, *named(first))
        for line, many, first in _mishaps(db)
    )
    return Tally(_cells(db, tasks, algorithms), mishaps)


def _cells(
    db: Database, tasks: Mapping[int, str], algorithms: Mapping[int, str]
) -> dict[Cell, Ended]:
    # By cell, for which there is an index; statuses are few, and counted on the way.
    each = ", ".join(
        f"count(CASE WHEN status = {code} THEN 1 END)" for code in range(len(STATUSES))
    )
    rows = db.execute(
        "SELECT task, algorithm, CAST(avg(nanoseconds) AS DOUBLE PRECISION), "
        f"max(nanoseconds), {each} FROM trials "
        "GROUP BY task, algorithm ORDER BY task, algorithm"
    )
    return {
        (tasks[task], algorithms[algorithm]): Ended(
            dict(zip(STATUSES, counts, strict=True)), _seconds(mean), _seconds(longest)
        )
        for task, algorithm, mean, longest, *counts in rows
    }


def _seconds(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e9


def _mishaps(db: Database) -> list[tuple[str, int, Codes]]:
    """Return first lines, how often each came, and where first; most frequent first."""
    error = "coalesce(error, '')"  # a text in one database, bytes in the other
    counts: Counter[str] = Counter()
    texts: dict[str, list[str | bytes]] = {}
    for text, many in db.execute(
        f"SELECT {error}, count(*) FROM trials WHERE status <> 0 "
        f"GROUP BY {error} ORDER BY count(*) DESC, min(id) LIMIT {_TEXTS}"
    ):
        line = first_line(text)
        counts[line] += many
        texts.setdefault(line, []).append(text)
    top = dict(counts.most_common(_MOST))
    wanted = [text for line in top for text in texts[line]]
    if not wanted:
        return []
    first: dict[str, Codes] = {}
    for text, *codes in db.execute(
        f"SELECT {error}, task, algorithm, min(number) FROM trials WHERE status <> 0 "
        f"AND {error} IN ({', '.join('?' * len(wanted))}) "
        f"GROUP BY {error}, task, algorithm",
        wanted,
    ):
        line, place = first_line(text), (codes[0], codes[1], codes[2])
        first[line] = min(first.get(line, place), place)
    mishaps = [(line, many, first[line]) for line, many in top.items()]
    return sorted(mishaps, key=lambda one: (-one[1], one[2]))


def first_line(error: str | bytes) -> str:
    """Return the first line of an error, or that there is none."""
    text = error if isinstance(error, str) else error.decode(errors="ignore")
    return text.strip().partition("\n")[0] or _SILENT
