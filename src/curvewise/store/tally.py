"""How the trials of a store ended, counted by the database: no trial is read."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from curvewise.errors import shortened
from curvewise.store.claims import Cell
from curvewise.store.database import Database
from curvewise.trials.trial import STATUSES, Key

_MOST = 5  # messages that are told
_TEXTS = 1000  # different ones that are looked at, the most frequent first
_SILENT = "it left no message"

Codes: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Ended:
    """How the trials of one algorithm on one task ended, and how long they took.

    Parameters
    ----------
    states : mapping of str to int
        How many ended in each way; every status is there.
    mean, longest : float or None
        Seconds; None where no trial says.
    """

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
    found = [(line, many, first[line]) for line, many in top.items()]
    return sorted(found, key=lambda one: (-one[1], one[2]))


def first_line(error: str | bytes) -> str:
    """Return the first line of an error, or that there is none."""
    text = error if isinstance(error, str) else error.decode(errors="ignore")
    return text.strip().partition("\n")[0] or _SILENT
