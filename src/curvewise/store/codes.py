"""Names and their codes, as the store has them."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from curvewise.metrics import Metric


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """What the store calls things; filled as new names are met."""

    tasks: dict[str, int]
    algorithms: dict[str, int]
    metrics: dict[str, Metric]
    metric_codes: dict[str, int]
    metric_sets: dict[str, int]
    example_sets: dict[bytes, int]


def load(db: sqlite3.Connection) -> Codes:
    """Return all names and codes of a store."""
    metrics, metric_codes = {}, {}
    for code, name, direction, low, high, unit, label in db.execute(
        "SELECT code, name, direction, low, high, unit, label FROM metrics ORDER BY code"
    ):
        metrics[name] = Metric(name, direction, (low, high), unit, label)
        metric_codes[name] = code
    return Codes(
        dict(db.execute("SELECT name, code FROM tasks ORDER BY code")),
        dict(db.execute("SELECT name, code FROM algorithms ORDER BY code")),
        metrics,
        metric_codes,
        dict(db.execute("SELECT metrics, code FROM metric_sets ORDER BY code")),
        dict(db.execute("SELECT ids, code FROM example_sets ORDER BY code")),
    )


def of_name(
    db: sqlite3.Connection,
    table: Literal["tasks", "algorithms"],
    name: str,
    known: dict[str, int],
) -> int:
    """Return the code of a task or algorithm, a new one if it is new."""
    return _of(db, f"INSERT INTO {table} (name) VALUES (?)", name, known)


def of_metric_set(db: sqlite3.Connection, names: Sequence[str], known: Codes) -> int:
    """Return the code of a list of metrics, a new one if it is new."""
    text = json.dumps([known.metric_codes[name] for name in names])
    insert = "INSERT INTO metric_sets (metrics) VALUES (?)"
    return _of(db, insert, text, known.metric_sets)


def of_examples(db: sqlite3.Connection, ids: NDArray[np.int64], known: Codes) -> int:
    """Return the code of a list of example ids, a new one if it is new."""
    blob = np.ascontiguousarray(ids, "<i8").tobytes()
    insert = "INSERT INTO example_sets (ids) VALUES (?)"
    return _of(db, insert, blob, known.example_sets)


def _of(db: sqlite3.Connection, insert: str, key: Any, known: dict[Any, int]) -> int:
    if key not in known:
        known[key] = int(db.execute(insert, (key,)).lastrowid or 0)
    return known[key]
