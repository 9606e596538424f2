"""Names and their codes, as the store has them."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric
from curvewise.store.database import Database

MOST_EXAMPLE_SETS = 4096  # remembered; others are looked up


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """What the store calls things; filled as new names are met.

    A code is given once and never changes, so what is here stays true whatever others
    add to the store meanwhile. Only what is not here must be looked up.

    Names are few, and all of them are here. Lists of examples may be one for each trial,
    and long: of those that were met last, their digests are here, never the ids.
    """

    tasks: dict[str, int]
    algorithms: dict[str, int]
    metrics: dict[str, Metric]
    metric_codes: dict[str, int]
    metric_sets: dict[str, int]
    example_sets: dict[bytes, int]


def load(db: Database) -> Codes:
    """Return all names and codes of a store, but no list of examples."""
    metrics, metric_codes = {}, {}
    beside = _beside(db)
    for code, *meaning in db.execute(f"SELECT {_METRIC} FROM metrics ORDER BY code"):
        metric = _metric(beside.get(meaning[0]), *meaning)
        metrics[metric.name], metric_codes[metric.name] = metric, code
    return Codes(
        dict(db.execute("SELECT name, code FROM tasks ORDER BY code")),
        dict(db.execute("SELECT name, code FROM algorithms ORDER BY code")),
        metrics,
        metric_codes,
        dict(db.execute("SELECT metrics, code FROM metric_sets ORDER BY code")),
        {},
    )


def of_name(
    db: Database,
    table: Literal["tasks", "algorithms"],
    name: str,
    known: dict[str, int],
) -> int:
    """Return the code of a task or algorithm, a new one if it is new."""
    return _of(db, table, "name", name, known)


def of_metric_set(db: Database, names: Sequence[str], known: Codes) -> int:
    """Return the code of a list of metrics, a new one if it is new."""
    text = json.dumps([known.metric_codes[name] for name in names])
    return _of(db, "metric_sets", "metrics", text, known.metric_sets)


def of_examples(db: Database, ids: NDArray[np.int64], known: Codes) -> int:
    """Return the code of a list of example ids, a new one if it is new."""
    blob = np.ascontiguousarray(ids, "<i8").tobytes()
    recent, digest = known.example_sets, hashlib.sha256(blob).digest()
    code = recent.pop(digest, None)
    if code is None:
        code = _looked_up(db, "example_sets", "ids", blob)
    recent[digest] = code  # the last that was met is the last in the dict
    if len(recent) > MOST_EXAMPLE_SETS:
        del recent[next(iter(recent))]
    return code


def declare(db: Database, metric: Metric, known: Codes) -> None:
    """Add a metric; raise if the store has one of that name that means something else."""
    name = metric.name
    if name not in known.metrics:
        # Readers of version 1 know two directions; what else there is to say is beside.
        direction = metric.direction or "higher"
        meaning = (name, direction, *metric.range, metric.unit, metric.label)
        there = db.execute("SELECT 1 FROM metrics WHERE name = ?", (name,)).fetchone()
        if there is None and (told := metric.beside()):
            note = "INSERT INTO curvewise VALUES (?, ?) ON CONFLICT (key) DO NOTHING"
            db.execute(note, (_BESIDE + name, json.dumps(told)))
        db.execute(
            "INSERT INTO metrics (name, direction, low, high, unit, label) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            meaning,
        )
        found = db.execute(f"SELECT {_METRIC} FROM metrics WHERE name = ?", (name,))
        code, *meant = found.fetchone()
        noted = _beside(db).get(name)
        known.metrics[name], known.metric_codes[name] = _metric(noted, *meant), code
    # Whoever opened the store first said it: a name alone does not contradict that.
    if known.metrics[name] != metric and metric.source != "name":
        raise CurvewiseError(
            f"The store has metric {known.metrics[name]}; these trials say {metric}. "
            "Read them with the same ",
            {"metrics": ...},
            ", or use another store.",
        )


_METRIC = "code, name, direction, low, high, unit, label"


_BESIDE = "metric:"


def _beside(db: Database) -> dict[str, dict[str, Any]]:
    """Return what the store says of metrics beside their table, by name."""
    rows = db.execute(
        "SELECT key, value FROM curvewise WHERE substr(key, 1, 7) = ?", (_BESIDE,)
    )
    return {key.removeprefix(_BESIDE): json.loads(text) for key, text in rows}


def _metric(beside: dict[str, Any] | None, name: str, *meaning: Any) -> Metric:
    direction, low, high, unit, label = meaning
    plain = {"name": name, "direction": direction, "range": (low, high)}
    return Metric.of_fields({**plain, "unit": unit, "label": label}, beside)


def _of(db: Database, table: str, column: str, key: str, known: dict[str, int]) -> int:
    if key not in known:
        known[key] = _looked_up(db, table, column, key)
    return known[key]


def _looked_up(db: Database, table: str, column: str, key: str | bytes) -> int:
    """Return the code that the store has for something, a new one if it is new."""
    find = f"SELECT code FROM {table} WHERE {column} = ?"
    row = db.execute(find, (key,)).fetchone()
    if row is None:
        # Where several write at once, another may have been quicker.
        add = f"INSERT INTO {table} ({column}) VALUES (?) ON CONFLICT DO NOTHING"
        db.execute(add, (key,))
        row = db.execute(find, (key,)).fetchone()
    return int(row[0])
