"""Curves in one table, labels in another."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, Verbatim, listed, unknown
from curvewise.exchange.grouping import group_codes, row_of


def joined(
    curves: pa.Table,
    runs: pa.Table,
    on: str | Sequence[str] | None,
    curves_name: str,
    runs_name: str,
) -> tuple[pa.Table, list[str], list[str]]:
    """Return curves with their run's labels, the columns of runs, and those that join.

    A run without a curve keeps one row.
    """
    shared = [c for c in curves.column_names if c in runs.column_names]
    keys = _join_keys(on, shared, curves, runs)
    both = pa.concat_tables([_keys_of(curves, keys), _keys_of(runs, keys)])
    code = group_codes(both, keys)
    of_curve, of_run = code[: curves.num_rows], code[curves.num_rows :]
    if len(np.unique(of_run)) < len(of_run):
        twice = of_run[np.bincount(of_run)[of_run] > 1][0]
        first = row_of(runs, keys, int(np.argmax(of_run == twice)))
        raise CurvewiseError(
            f"{runs_name} has more than one row with {first}. Pass one row per run, "
            "or another ",
            {"on": ...},
            ".",
        )
    run_with = np.full(int(code.max()) + 1, -1)
    run_with[of_run] = np.arange(len(of_run))
    place = run_with[of_curve]
    if (place < 0).any():
        first = row_of(curves, keys, int(np.argmax(place < 0)))
        raise CurvewiseError(
            f"{(place < 0).sum()} rows of {curves_name} have no run in {runs_name}, "
            f"first {first}. Add the runs, or pass another ",
            {"on": ...},
            ".",
        )
    without = np.setdiff1d(np.arange(len(of_run)), place)
    extra = [c for c in runs.column_names if c not in curves.column_names]
    rows = pa.array(np.concatenate([place, without]))
    columns = {c: runs.column(c).take(rows) for c in (*keys, *extra)}
    for c in curves.column_names:
        if c not in keys:
            own = curves.column(c)
            columns[c] = pa.chunked_array([*own.chunks, *_told(runs, c, without, own)])
    return pa.table(columns), [*keys, *extra], keys


def _join_keys(
    on: str | Sequence[str] | None,
    shared: Sequence[str],
    curves: pa.Table,
    runs: pa.Table,
) -> list[str]:
    keys = [on] if isinstance(on, str) else list(on or ())
    if not keys and len(shared) == 1:
        return list(shared)
    if not keys:
        raise CurvewiseError(
            "Which column joins the two tables? They share "
            f"{listed(shared) or 'none'}. Pass ",
            {"on": Verbatim("<column>")},
            ".",
        )
    for key in keys:
        for table in (curves, runs):
            if key not in table.column_names:
                raise unknown("column", key, table.column_names)
    return keys


def _keys_of(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    # Text on one side and numbers on the other still name the same run.
    return pa.table({k: table.column(k).cast(pa.string()) for k in keys})


def _told(
    runs: pa.Table, column: str, rows: NDArray[np.int64], own: pa.ChunkedArray
) -> list[pa.Array]:
    """Return what the table of runs says in a column that both have, else nothing."""
    missing = [pa.nulls(len(rows), own.type)]
    if column not in runs.column_names:
        return missing
    try:
        told: list[pa.Array] = (
            runs.column(column).take(pa.array(rows)).cast(own.type).chunks
        )
    except pa.ArrowException:
        return missing
    return told
