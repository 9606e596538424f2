"""Frames of `study.trials_dataframe()`, in memory or saved.

A frame knows neither the name of its study nor what is better.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.exchange.per_run import numbers
from curvewise.exchange.runs import Asked, Runs, Scalars
from curvewise.exchange.tables import load
from curvewise.exchange.tools.optuna.studies import INTERMEDIATE
from curvewise.metrics import Floats, find
from curvewise.trials.names import first

_STATES = {"RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING"}
_STUDY = ("study_name", "study")
_REPORTED = re.compile(r"intermediate_values_(\d+)")
_VALUE = re.compile(r"value|values?_(.+)")
_PREFIXES = ("params", "user_attrs", "system_attrs")
# Times are kept as seconds; an index that was saved counts the rows.
_NOT_KEPT = {"datetime_start", "datetime_complete", "duration", "number"}
_INDEX = {"", "index", "Unnamed: 0"}


def fits(table: pa.Table) -> bool:
    """Return whether a table has the columns of Optuna's, and its words for states."""
    columns = table.column_names
    if not {"number", "state"} <= {*columns}:
        return False
    if not any(_VALUE.fullmatch(column) for column in columns):
        return False
    states = table.column("state").cast(pa.string()).unique().to_pylist()
    return {str(state).rpartition(".")[2] for state in states} <= _STATES


def has_two_levels(source: Any) -> bool:
    """Return whether this is a frame of ``trials_dataframe(multi_index=True)``."""
    if not type(source).__module__.startswith("pandas"):
        return False  # others may have to look at all rows to tell their columns
    columns: Any = getattr(source, "columns", None)
    return getattr(columns, "nlevels", 1) == 2 and ("number", "") in columns


def on_one_level(frame: Any) -> tuple[pa.Table, str]:
    """Return a frame with columns of two levels as a table with plain names."""
    names = ["_".join(str(part) for part in pair if part != "") for pair in frame]
    return load(frame.set_axis(names, axis=1))


def read(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the trials of a frame."""
    scalars = _scalars(table)
    if asked.metrics is None and any(find(one) is None for one in scalars.names):
        raise _high_or_low(scalars.names, name)
    study = first(_STUDY, table.column_names)
    names = _study_names(table, study, name)
    number = table.column("number").cast(pa.string()).to_pylist()
    runs = [f"{of}/{n}" for of, n in zip(names, number, strict=True)]
    columns: dict[str, Any] = {
        "run": pa.array(runs, pa.string()),
        "study": pa.array(names, pa.string()),
        "status": table.column("state").cast(pa.string()),
        "seconds": _seconds(table),
    }
    for column in table.column_names:
        used = column in (*_NOT_KEPT, *_INDEX, study) or _is_score(column)
        if not used:
            columns.setdefault(_named(column), table.column(column))
    return Runs(
        f"Optuna trials of {name}",
        pa.table(columns),
        scalars,
        usual={"algorithm": "study"},
        steps="step" if INTERMEDIATE in scalars.names else "",
        closed=True,
    )


def _high_or_low(metrics: Sequence[str], name: str) -> CurvewiseError:
    example = {shortened(metric): "lower" for metric in metrics}
    return CurvewiseError(
        f"Should {listed(metrics)} be high or low? {name} is a frame of "
        "Optuna's, which does not say, and Optuna minimizes unless told "
        "otherwise. Pass ",
        {"metrics": example},
        ", or 'higher'; or read the study's storage, which knows.",
    )


def _study_names(table: pa.Table, study: str | None, name: str) -> list[str]:
    if study is not None:
        return [str(cell) for cell in table.column(study).to_pylist()]
    path = PurePath(name)
    return [path.stem if path.suffix else "study"] * table.num_rows


def _is_score(column: str) -> bool:
    return bool(_VALUE.fullmatch(column) or _REPORTED.fullmatch(column))


def _named(column: str) -> str:
    for prefix in _PREFIXES:
        if column.startswith(f"{prefix}_"):
            return f"{prefix}.{column.removeprefix(f'{prefix}_')}"
    return column


def _scalars(table: pa.Table) -> Scalars:
    """Return final values at the last step that was reported, and those on the way."""
    steps = {
        column: int(found[1])
        for column in table.column_names
        if (found := _REPORTED.fullmatch(column))
    }
    last = float(max(steps.values(), default=0))
    parts = []
    for column in table.column_names:
        if found := _VALUE.fullmatch(column):
            # "values_0" is a name, "values_loss" and "value_loss" say what it is of.
            own = found[1] if found[1] and not found[1].isdigit() else column
            parts.append((own, last, numbers(table, column)))
    for column, step in sorted(steps.items(), key=lambda one: one[1]):
        parts.append((INTERMEDIATE, float(step), numbers(table, column)))
    return _side_by_side(parts)


def _side_by_side(parts: list[tuple[str, float, Floats]]) -> Scalars:
    names = tuple(dict.fromkeys(name for name, _, _ in parts))
    rows = [np.flatnonzero(~np.isnan(values)) for _, _, values in parts]
    sizes = [len(own) for own in rows]
    return Scalars(
        np.concatenate(rows),
        np.repeat([names.index(name) for name, _, _ in parts], sizes),
        np.repeat([step for _, step, _ in parts], sizes),
        np.concatenate([v[own] for (_, _, v), own in zip(parts, rows, strict=True)]),
        names,
    )


def _seconds(table: pa.Table) -> pa.Array:
    try:
        begin, end = (
            table.column(column).cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
            for column in ("datetime_start", "datetime_complete")
        )
    except (KeyError, pa.ArrowException):
        return pa.nulls(table.num_rows, pa.float64())
    return pa.array((end - begin) / 1e6)
