"""MLflow's SQLite database, of all its versions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, shortened
from curvewise.exchange.runs import Asked, Runs
from curvewise.exchange.tools.databases import opened
from curvewise.exchange.tools.mlflow.runs import (
    DELETED,
    WITH_EXPERIMENT,
    Columns,
    Kept,
    Logged,
    by_the_clock,
    runs_of,
    told_apart,
    unbounded,
    wanted_metrics,
)
from curvewise.metrics import Floats
from curvewise.trials.columns import Ints

TABLES = frozenset(("experiments", "runs", "params", "tags", "metrics"))
_ROWS = 250  # at a time: more of them leave the processor's cache
_EXPERIMENTS = "SELECT experiment_id, name, lifecycle_stage FROM experiments"
_RUNS = """
SELECT run_uuid, name, status, start_time, end_time, lifecycle_stage, experiment_id
FROM runs ORDER BY start_time, rowid
"""
_PARAMS = "SELECT key, CAST(value AS TEXT), run_uuid FROM params"
_TAGS = """
SELECT key, CAST(value AS TEXT), run_uuid FROM tags
WHERE key NOT LIKE 'mlflow.%' OR key IN ('mlflow.runName', 'mlflow.parentRunId')
"""
# From name to name through the index, where DISTINCT would go through every score.
_NAMES = """
WITH RECURSIVE next(name) AS (
    SELECT min(key) FROM metrics
    UNION ALL SELECT (SELECT min(key) FROM metrics WHERE key > name) FROM next
    WHERE name IS NOT NULL
) SELECT name FROM next WHERE name IS NOT NULL
"""
_AMONG = " WHERE key IN (SELECT value FROM json_each(?))"
_VALUE = "CASE WHEN is_nan THEN NULL ELSE value END"


def read(path: Path, asked: Asked) -> Runs:
    """Return the runs of a database, all of one moment."""
    timed = by_the_clock(asked)
    with opened(path) as database:
        kept = _kept(database)
        names = [name for (name,) in database.execute(_NAMES)]
        wanted, machine = wanted_metrics(names, asked)
        kept.left_out += machine
        only = wanted if len(wanted) < len(names) else None
        rows = _scores(database, only, timed=timed)
        logged = _logged(rows, kept, wanted, timed=timed)
    return runs_of(f"MLflow store {path.name}", kept, logged)


# --- runs --------------------------------------------------------------------------------


def _kept(database: Any) -> Kept:
    """Return the runs that were not deleted, with their params and tags."""
    found = list(database.execute(_EXPERIMENTS))
    experiments = told_apart({one: name for one, name, _ in found})
    gone = {one for one, _, stage in found if stage == "deleted"}
    kept = Kept()
    for one, name, status, start, end, stage, experiment in database.execute(_RUNS):
        if experiment in gone:
            kept.leave_out(name or one, WITH_EXPERIMENT)
        elif stage == "deleted":
            kept.leave_out(name or one, DELETED)
        else:
            kept.ids.append(one)
            kept.names.append(name or one)
            kept.experiments.append(experiments.get(experiment, str(experiment)))
            kept.status.append(status)
            kept.start.append(start)
            kept.end.append(end)
    kept.params = _columns(database.execute(_PARAMS), kept.ids)
    kept.tags = _columns(database.execute(_TAGS), kept.ids)
    kept.rename()
    return kept


def _columns(rows: Any, ids: Sequence[str]) -> Columns:
    """Return rows of key, text and run as one column of texts per key."""
    place = {one: row for row, one in enumerate(ids)}
    code: dict[str, int] = {}
    parts, texts = [(np.empty(0, np.int64), np.empty(0, np.int64))], []
    for keys, some, runs in _chunks(rows):
        for key in dict.fromkeys(keys):
            code.setdefault(key, len(code))
        parts.append((_codes(code, keys), _codes(place, runs)))
        texts += some
    key_of, run_of = map(np.concatenate, zip(*parts, strict=True))
    cells = pa.array(texts, pa.string())
    out = {}
    for name, i in code.items():
        own = np.flatnonzero((key_of == i) & (run_of >= 0))
        taken = np.full(len(ids), -1)
        taken[run_of[own]] = own
        if len(own):
            out[name] = cells.take(pa.array(taken, mask=taken < 0))
    return out


# --- scores ------------------------------------------------------------------------------


def _logged(rows: Any, kept: Kept, names: Sequence[str], *, timed: bool) -> Logged:
    """Return the scores in rows, of runs that are kept."""
    code = {name: i for i, name in enumerate(names)}
    place = {one: row for row, one in enumerate(kept.ids)}
    whole, real = np.empty(0, np.int64), np.empty(0)
    parts: list[list[Any]] = [[whole, whole, *[real] * (3 if timed else 2)]]
    for keys, runs, *cells in _chunks(rows):
        codes = _codes(place, runs), _codes(code, keys)
        parts.append([*codes, *map(_floats, cells)])
    run, metric, *columns = map(np.concatenate, zip(*parts, strict=True))
    used = run >= 0
    step, value, *time = (column[used] for column in columns)
    return Logged(
        *(run[used], metric[used], step, unbounded(value)),
        time=time[0] if timed else None,
        names=tuple(names),
    )


def _scores(database: Any, only: Sequence[str] | None, *, timed: bool) -> Any:
    """Return rows of key, run, step, value and maybe time, in the order of writing."""
    there = {row[1] for row in database.execute("PRAGMA table_info(metrics)")}
    # Before MLflow 1.0 there were no steps, and a little later still no NaN.
    step = "step" if "step" in there else "0"
    value = _VALUE if "is_nan" in there else "value"
    columns = ", ".join(["key", "run_uuid", step, value, *["timestamp"] * timed])
    query = f"SELECT {columns} FROM metrics NOT INDEXED"  # noqa: S608
    if only is None:
        return database.execute(query)
    return database.execute(query + _AMONG, (json.dumps(only),))


def _chunks(found: Any) -> Iterator[Any]:
    while rows := found.fetchmany(_ROWS):
        yield zip(*rows, strict=True)


def _codes(code: Mapping[str, int], cells: Sequence[str]) -> Ints:
    return np.fromiter(map(code.get, cells, repeat(-1)), np.int64, len(cells))


def _floats(cells: Sequence[Any]) -> Floats:
    try:
        return np.array(cells, np.float64)  # None becomes NaN
    except (TypeError, ValueError) as problem:
        raise CurvewiseError(
            f"Its table of metrics holds what MLflow does not write: "
            f"{shortened(problem)}. Was the database changed by hand?"
        ) from problem
