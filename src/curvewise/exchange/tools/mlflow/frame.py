"""What `mlflow.search_runs` returns: one row per run, with the last of each score."""

from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, Keyword
from curvewise.exchange.grouping import nulls
from curvewise.exchange.per_run import numbers
from curvewise.exchange.runs import Asked, Runs
from curvewise.exchange.tools.mlflow.runs import (
    Kept,
    Logged,
    is_noise,
    runs_of,
    unbounded,
    wanted_metrics,
)

_ALWAYS = frozenset(("run_id", "experiment_id", "status"))
_METRIC = "metrics."


def fits(table: pa.Table) -> bool:
    """Return whether a table has the columns of `mlflow.search_runs`."""
    return set(table.column_names) >= _ALWAYS and any(
        name.startswith(_METRIC) for name in table.column_names
    )


def read(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the runs of a frame; what is missing in it was not recorded."""
    if asked.step is not None:
        raise CurvewiseError(
            f"step is {asked.step!r}, and {name} of mlflow.search_runs has only the "
            "last score of each run. Leave out ",
            Keyword("step"),
            ", or read MLflow's store itself.",
            argument="step",
            value=asked.step,
        )
    start = _milliseconds(table, "start_time")
    order = np.argsort([t or 0 for t in start], kind="stable")
    table = table.take(pa.array(order))
    kept = _kept(table)
    logged, machine = _last_scores(table, asked)
    kept.left_out += machine
    return runs_of(f"MLflow runs of {name}", kept, logged, curves=False)


def _kept(table: pa.Table) -> Kept:
    ids, status, experiments = (
        _texts(table, column) for column in ("run_id", "status", "experiment_id")
    )
    kept = Kept(
        ids=[one or "" for one in ids],
        experiments=[one or "" for one in experiments],
        status=status,
        start=_milliseconds(table, "start_time"),
        end=_milliseconds(table, "end_time"),
    )
    for column in table.column_names:
        kind, _, key = column.partition(".")
        cells = {"params": kept.params, "tags": kept.tags}.get(kind)
        if cells is None or (kind == "tags" and is_noise(key)):
            continue
        cells[key] = table.column(column).cast(pa.string()).combine_chunks()
    kept.names = list(kept.ids)
    kept.rename()
    return kept


def _last_scores(table: pa.Table, asked: Asked) -> tuple[Logged, Any]:
    columns = [c for c in table.column_names if c.startswith(_METRIC)]
    names, machine = wanted_metrics([c.removeprefix(_METRIC) for c in columns], asked)
    runs, metrics, values = [], [], []
    for code, name in enumerate(names):
        column = f"{_METRIC}{name}"
        rows = np.flatnonzero(~nulls(table, column))
        runs.append(rows)
        metrics.append(np.full(len(rows), code))
        values.append(numbers(table, column)[rows])
    run = np.concatenate([np.empty(0, np.int64), *runs])
    metric = np.concatenate([np.empty(0, np.int64), *metrics])
    value = unbounded(np.concatenate([np.empty(0), *values]))
    once = np.zeros(len(run))
    return Logged(run, metric, once, value, None, tuple(names)), machine


def _texts(table: pa.Table, column: str) -> list[str | None]:
    texts: list[str | None] = table.column(column).cast(pa.string()).to_pylist()
    return texts


def _milliseconds(table: pa.Table, column: str) -> list[float | None]:
    """Return times, or none where a column of them is missing or says something else."""
    nothing: list[float | None] = [None] * table.num_rows
    if column not in table.column_names:
        return nothing
    try:
        times = table.column(column).cast(pa.timestamp("ms"), safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return nothing
    out: list[float | None] = times.cast(pa.int64()).to_pylist()
    return out
