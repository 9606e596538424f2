"""Runs of MLflow: what all of them have in common, in its database, and in frames."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, Keyword, Message, shortened
from curvewise.exchange.columns import numbers
from curvewise.exchange.rows import nulls
from curvewise.exchange.runs import (
    Asked,
    LeftOut,
    Runs,
    Scalars,
    left_out,
    scalars_by_metric,
)
from curvewise.exchange.tools.files import opened
from curvewise.metrics import Floats
from curvewise.text import count
from curvewise.trials.columns import Ints

_NAME, _PARENT = "mlflow.runName", "mlflow.parentRunId"
DELETED = "deleted in MLflow"
WITH_EXPERIMENT = "of experiments that were deleted in MLflow"
_CLOCKS = ("step", "seconds")
_LARGEST = 1.7976931348623157e308  # for infinity, which SQL cannot hold
# Arrow reads these as numbers too, but a person who wrote them meant a text.
_NO_NUMBER = r"^[+-]?0[0-9]|^[+-]?0[xX]|\s"
_BOOLEANS = ("True", "False", "true", "false")

# Texts by name, one per run, null where a run has none.
Columns: TypeAlias = dict[str, pa.Array]


@dataclass(slots=True)
class RunRecords:
    """Runs as they were found; all lists have one place per run. Times are in ms."""

    ids: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    experiments: list[str] = field(default_factory=list)
    status: list[str | None] = field(default_factory=list)
    start: list[float | None] = field(default_factory=list)
    end: list[float | None] = field(default_factory=list)
    params: Columns = field(default_factory=dict)
    tags: Columns = field(default_factory=dict)
    unused: dict[str, list[str]] = field(default_factory=dict)  # by why they are not
    left_out: list[LeftOut] = field(default_factory=list)  # what else is not used
    remarks: list[str] = field(default_factory=list)

    def leave_out(self, run: str, why: str) -> None:
        """Count a run as one that is not used."""
        self.unused.setdefault(why, []).append(run)

    def rename(self) -> None:
        """Call runs by the tag that holds their name; before 2.0 there was no other."""
        if _NAME in self.tags:
            both = zip(self.tags[_NAME].to_pylist(), self.names, strict=True)
            self.names = [tag or name for tag, name in both]

    def wanted(self, metrics: Iterable[str], asked: Asked) -> list[str]:
        """Return the metrics to read: those of the machine only where they are named."""
        metrics = list(metrics)
        if asked.metrics is not None:
            return [name for name in metrics if asked.wants(name)]
        machine = [name for name in metrics if name.startswith("system/")]
        keyword = Keyword("metrics")
        why = Message("about the machine, read only where ", keyword, " names it")
        self.left_out += left_out(machine, why, "metric")
        return [name for name in metrics if not name.startswith("system/")]


def is_noise(tag: str) -> bool:
    """Return whether MLflow set a tag for itself, such as mlflow.source.git.commit."""
    return tag.startswith("mlflow.") and tag not in (_NAME, _PARENT)


def is_timed(asked: Asked) -> bool:
    """Return whether scores are asked for by the time since a run began, not by step."""
    asked.must_count_by(_CLOCKS, "MLflow")
    return asked.step == "seconds"


def told_apart(experiments: Mapping[Any, str]) -> dict[Any, str]:
    """Return names of experiments by id; one that several have gets its id behind it."""
    times = Counter(experiments.values())
    return {
        key: name if times[name] == 1 else f"{name} ({key})"
        for key, name in experiments.items()
    }


def runs_of(
    source: str,
    records: RunRecords,
    scalars: Scalars,
    time: Floats | None = None,
    *,
    curves: bool = True,
) -> Runs:
    """Return runs with their labels and scores, less the parents of others.

    A parent's scores, such as the best of a search, are those of its children again.
    Scores have a time, in milliseconds, where it was asked for. Without `curves` each is
    the last of its run, and experiments have only numbers.
    """
    parents = (
        set(records.tags[_PARENT].to_pylist()) if _PARENT in records.tags else set()
    )
    is_parent = np.array([run_id in parents for run_id in records.ids], bool)
    used = np.flatnonzero(~is_parent)
    for row in np.flatnonzero(is_parent):
        records.leave_out(records.names[row], "that are parents of other runs")
    unused = [
        omission
        for why, names in records.unused.items()
        for omission in left_out(names, why)
    ]
    remarks = records.remarks
    if time is not None:
        scalars = replace(
            scalars, step=_seconds_since(records.start, scalars.run, time)
        )
    else:
        remarks = [*remarks, *_without_steps(scalars)]
    if len(used) < len(records.ids):
        scalars = scalars.of_runs(used, len(records.ids)).that_logged()
    _inherit(records, used)
    clock = "step" if time is None else "seconds"
    is_task = curves or len(set(records.experiments)) > 1
    return Runs(
        source,
        _table(records).take(pa.array(used)),
        scalars,
        usual={"task": "experiment"} if is_task else {},
        steps=clock if curves else "",
        left_out=[*unused, *records.left_out],
        remarks=remarks,
    )


def _inherit(records: RunRecords, used: Ints) -> None:
    """Give runs the params that only their parents have, as those of folds."""
    if _PARENT not in records.tags:
        return
    place = {run_id: i for i, run_id in enumerate(records.ids)}
    above = pa.array(
        [place.get(p) for p in records.tags[_PARENT].to_pylist()], pa.int64()
    )
    rows = pa.array(used)
    for key, texts in records.params.items():
        filled = texts
        for _ in range(3):
            if filled.take(rows).null_count < len(used):
                break
            filled = pc.coalesce(filled, filled.take(above))
        records.params[key] = filled


# --- steps -------------------------------------------------------------------------------


def _seconds_since(start: Sequence[float | None], run: Ints, time: Floats) -> Floats:
    """Return times of scores from the start of their run, or from its first score."""
    begin = np.array([np.nan if t is None else t for t in start], np.float64)
    first = np.full(len(begin), np.inf)
    np.minimum.at(first, run, time)
    begin = np.where(np.isnan(begin), first, begin)
    return (time - begin[run]) / 1000


def _without_steps(scalars: Scalars) -> Sequence[str]:
    """Return what to know where curves were logged, and every point at step 0."""
    curve = scalars.run * len(scalars.names) + scalars.metric
    _, which, size = np.unique(curve, return_inverse=True, return_counts=True)
    is_lost = (np.bincount(which, scalars.step != 0) == 0) & (size > 1)
    if not is_lost.any():
        return ()
    name = scalars.names[int(scalars.metric[is_lost[which]][0])]
    return (
        Message(
            f"{count(int(is_lost.sum()), 'curve')} such as '{name}' were logged without "
            "a step, and of each the last score counts; ",
            Keyword("step", "seconds"),
            " reads them by the clock.",
        ),
    )


# --- labels ------------------------------------------------------------------------------


def _table(records: RunRecords) -> pa.Table:
    seconds = [
        None if start is None or end is None else (end - start) / 1000
        for start, end in zip(records.start, records.end, strict=True)
    ]
    columns: Columns = {
        "run": pa.array(records.names, pa.string()),
        "experiment": pa.array(records.experiments, pa.string()),
        "status": pa.array(records.status, pa.string()),
        "seconds": pa.array(seconds, pa.float64()),
    }
    for key, texts in records.params.items():
        columns[f"params.{key}"] = _typed(texts)
    for key, texts in records.tags.items():
        if key not in (_NAME, _PARENT):
            columns[f"tags.{key}"] = _typed(texts, tag=True)
    if _PARENT in records.tags:
        # The names of parents; the id of one whose name another parent has too.
        ids = records.tags[_PARENT].to_pylist()
        names = dict(zip(records.ids, records.names, strict=True))
        parents = {
            run_id: names.get(run_id, run_id) for run_id in ids if run_id is not None
        }
        times = Counter(parents.values())
        unique = {
            run_id: name if times[name] == 1 else run_id
            for run_id, name in parents.items()
        }
        columns["parent"] = pa.array(
            [unique.get(run_id) for run_id in ids], pa.string()
        )
    # Not "run_id", which would be taken for what tells trials apart even where seeds do.
    columns["run_uuid"] = pa.array(records.ids, pa.string())
    return pa.table(columns)


def _typed(texts: pa.Array, *, tag: bool = False) -> pa.Array:
    """Return texts as booleans or numbers where all of them are.

    "None" is missing among these. A tag with a point in it may be a version, and stays
    a text.
    """
    cells = pc.if_else(pc.equal(texts, "None"), None, texts)
    filled = pc.drop_null(cells)
    if not len(filled) or _any(pc.match_substring_regex(filled, _NO_NUMBER)):
        return texts
    if not _any(pc.invert(pc.is_in(filled, pa.array(_BOOLEANS)))):
        return pc.equal(pc.utf8_lower(cells), "true")
    for kind in (pa.int64(),) if tag else (pa.int64(), pa.float64()):
        try:
            return cells.cast(kind)
        except pa.ArrowInvalid:
            continue
    return texts


def _any(cells: pa.Array) -> bool:
    return bool(pc.any(cells).as_py())


# --- MLflow's SQLite database, of all its versions -------------------------------------


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


def read_database(path: Path, asked: Asked) -> Runs:
    """Return the runs of a database, all of one moment."""
    timed = is_timed(asked)
    with opened(path) as database:
        records = _runs_of_database(database)
        names = [name for (name,) in database.execute(_NAMES)]
        wanted = records.wanted(names, asked)
        only = wanted if len(wanted) < len(names) else None
        rows = _scores(database, only, timed=timed)
        scalars, time = _scalars(rows, records, wanted, timed=timed)
    return runs_of(f"MLflow store {path.name}", records, scalars, time)


def _runs_of_database(database: Any) -> RunRecords:
    """Return the runs that were not deleted, with their params and tags."""
    rows = list(database.execute(_EXPERIMENTS))
    experiments = told_apart({key: name for key, name, _ in rows})
    gone = {key for key, _, stage in rows if stage == "deleted"}
    records = RunRecords()
    for run_id, name, status, start, end, stage, experiment in database.execute(_RUNS):
        if experiment in gone:
            records.leave_out(name or run_id, WITH_EXPERIMENT)
        elif stage == "deleted":
            records.leave_out(name or run_id, DELETED)
        else:
            records.ids.append(run_id)
            records.names.append(name or run_id)
            records.experiments.append(experiments.get(experiment, str(experiment)))
            records.status.append(status)
            records.start.append(start)
            records.end.append(end)
    records.params = _columns(database.execute(_PARAMS), records.ids)
    records.tags = _columns(database.execute(_TAGS), records.ids)
    records.rename()
    return records


def _columns(rows: Any, ids: Sequence[str]) -> Columns:
    """Return rows of key, text and run as one column of texts per key."""
    place = {run_id: row for row, run_id in enumerate(ids)}
    code: dict[str, int] = {}
    parts, texts = [(np.empty(0, np.int64), np.empty(0, np.int64))], []
    for keys, some, runs in _chunks(rows):
        for key in dict.fromkeys(keys):
            code.setdefault(key, len(code))
        parts.append((_codes(code, keys), _codes(place, runs)))
        texts += some
    key_of, run_of = map(np.concatenate, zip(*parts, strict=True))
    cells = pa.array(texts, pa.string())
    columns = {}
    for name, i in code.items():
        rows_of_key = np.flatnonzero((key_of == i) & (run_of >= 0))
        indices = np.full(len(ids), -1)
        indices[run_of[rows_of_key]] = rows_of_key
        if len(rows_of_key):
            columns[name] = cells.take(pa.array(indices, mask=indices < 0))
    return columns


def _scalars(
    rows: Any, records: RunRecords, names: Sequence[str], *, timed: bool
) -> tuple[Scalars, Floats | None]:
    """Return the scores in rows, of recorded runs, and maybe their times."""
    code = {name: i for i, name in enumerate(names)}
    place = {run_id: row for row, run_id in enumerate(records.ids)}
    whole, real = np.empty(0, np.int64), np.empty(0)
    parts: list[list[Any]] = [[whole, whole, *[real] * (3 if timed else 2)]]
    for keys, runs, *cells in _chunks(rows):
        codes = _codes(place, runs), _codes(code, keys)
        parts.append([*codes, *map(_floats, cells)])
    columns = list(map(np.concatenate, zip(*parts, strict=True)))
    used = columns[0] >= 0
    run, metric, step, value, *time = (column[used] for column in columns)
    scalars = Scalars(run, metric, step, _unbounded(value), tuple(names))
    return scalars, time[0] if timed else None


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


def _chunks(cursor: Any) -> Iterator[Any]:
    while rows := cursor.fetchmany(_ROWS):
        yield zip(*rows, strict=True)


def _unbounded(values: Floats) -> Floats:
    """Return scores with the largest number taken for infinite, as MLflow writes it."""
    out: Floats = np.where(np.abs(values) >= _LARGEST, np.sign(values) * np.inf, values)
    return out


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


# --- What `mlflow.search_runs` returns: one row per run, with the last of each score ---


_ALWAYS = frozenset(("run_id", "experiment_id", "status"))
_METRIC = "metrics."


def fits_table(table: pa.Table) -> bool:
    """Return whether a table came from `mlflow.search_runs`."""
    return set(table.column_names) >= _ALWAYS and any(
        name.startswith(_METRIC) for name in table.column_names
    )


def read_table(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the runs of a frame; what is missing in it was not recorded."""
    asked.must_count_by((), f"{name} of mlflow.search_runs")
    start = _milliseconds(table, "start_time")
    order = np.argsort([t or 0 for t in start], kind="stable")
    table = table.take(pa.array(order))
    records = _runs_of_frame(table)
    metrics = [c for c in table.column_names if c.startswith(_METRIC)]
    wanted = records.wanted([c.removeprefix(_METRIC) for c in metrics], asked)
    columns = []
    for metric in wanted:
        rows = np.flatnonzero(~nulls(table, f"{_METRIC}{metric}"))
        values = numbers(table, f"{_METRIC}{metric}")[rows]
        columns.append((metric, 0.0, rows, _unbounded(values)))
    scalars = scalars_by_metric(columns)
    return runs_of(f"MLflow runs of {name}", records, scalars, curves=False)


def _runs_of_frame(table: pa.Table) -> RunRecords:
    ids, status, experiments = (
        _texts(table, column) for column in ("run_id", "status", "experiment_id")
    )
    records = RunRecords(
        ids=[one or "" for one in ids],
        experiments=[one or "" for one in experiments],
        status=status,
        start=_milliseconds(table, "start_time"),
        end=_milliseconds(table, "end_time"),
    )
    for column in table.column_names:
        kind, _, key = column.partition(".")
        cells = {"params": records.params, "tags": records.tags}.get(kind)
        if cells is None or (kind == "tags" and is_noise(key)):
            continue
        cells[key] = table.column(column).cast(pa.string()).combine_chunks()
    records.names = list(records.ids)
    records.rename()
    return records


def _texts(table: pa.Table, column: str) -> list[str | None]:
    texts: list[str | None] = table.column(column).cast(pa.string()).to_pylist()
    return texts


def _milliseconds(table: pa.Table, column: str) -> list[float | None]:
    """Return times, or none where a column of them is missing or says something else."""
    try:
        times = table.column(column).cast(pa.timestamp("ms"), safe=False)
    except (KeyError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return [None] * table.num_rows
    moments: list[float | None] = times.cast(pa.int64()).to_pylist()
    return moments
