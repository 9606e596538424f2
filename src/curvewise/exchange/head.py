"""What a table that we wrote ourselves says in one cell.

A plain table cannot say everything: that a score is better when lower, that "007" is a
name, that a hyperparameter is a list. One cell of the column ``curvewise`` says it, in
the first row, so that the rest stays a table that everybody can read.
"""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric
from curvewise.trials.design import Design, from_record
from curvewise.trials.view import DESIGN_NOTE, NOTE, column_of_metric

COLUMN = "curvewise"
FORM = 1  # of the cell; a later one may add keys, and says so by a greater number
TYPES = {
    "text": pa.string(),
    "json": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
}
_TEXTS = ("task", "algorithm", "status", "error_text", "example.correct", COLUMN)
_NUMBERS = {
    "number": pa.int64(),
    "step": pa.float64(),
    "seconds": pa.float64(),
    "attempts": pa.int64(),
    "example.set": pa.int64(),
}


def head_of(table: pa.Table) -> dict[str, Any] | None:
    """Return what the cell of our own says; None where there is none."""
    if COLUMN not in table.column_names:
        return None
    cells = [c for c in table.column(COLUMN).drop_null().to_pylist() if c]
    return parsed(cells[0]) if cells else None


def meant_in(head: Mapping[str, Any]) -> dict[str, Metric]:
    """Return what the columns of a table of ours mean."""
    return {column_of_metric(n): one for n, one in metrics_in(head).items()}


def metrics_in(head: Mapping[str, Any]) -> dict[str, Metric]:
    """Return the metrics of a table of ours."""
    beside = head.get("meanings", {})  # older tables have none
    return {
        name: Metric.of_fields(told, beside.get(name))
        for name, told in head["metrics"].items()
    }


def meanings_beside(source: Any) -> dict[str, Metric]:
    """Return what the columns of a frame of ours mean, as noted beside the frame."""
    try:
        told = json.loads(_notes_beside(source).get(NOTE, "{}"))
        return {column_of_metric(name): as_metric(one) for name, one in told.items()}
    except (TypeError, ValueError, AttributeError):
        return {}  # somebody else's note of the same name


def design_beside(source: Any) -> Design:
    """Return what replicates what in a frame of ours, as noted beside the frame."""
    try:
        return from_record(json.loads(_notes_beside(source).get(DESIGN_NOTE, "{}")))
    except (TypeError, ValueError):
        return Design()


def _notes_beside(source: Any) -> Mapping[Any, Any]:
    """Return notes: pandas keeps them in ``attrs``, pyarrow in the schema."""
    notes = getattr(source, "attrs", None)
    if isinstance(source, pa.Table):
        written = source.schema.metadata or {}
        notes = {key.decode(errors="replace"): text for key, text in written.items()}
    return notes if isinstance(notes, Mapping) else {}


def as_metric(told: Mapping[str, Any]) -> Metric:
    """Return a metric that was written as a mapping."""
    return Metric.of_fields(told)


def parsed(cell: object) -> dict[str, Any] | None:
    """Return what a cell of our own says; None where it says something else."""
    try:
        head = json.loads(str(cell))
    except ValueError:
        return None
    if not isinstance(head, dict) or not isinstance(head.get("form"), int):
        return None
    if head["form"] > FORM:
        raise CurvewiseError(
            f"The table was written by a newer curvewise (form {head['form']}; this one "
            f"knows {FORM}). Upgrade curvewise, or remove the column '{COLUMN}'."
        )
    return head if _is_whole(head) else None


def _is_whole(head: Mapping[str, Any]) -> bool:
    """Return whether a cell says all that one of ours says, and nobody changed it."""
    try:
        metrics_in(head)
        return (
            all(kind in TYPES for kind in head["kinds"].values())
            and isinstance(head["spaces"], dict)
            and isinstance(head["about"], dict)
            and isinstance(head["example_sets"], list)
        )
    except (AttributeError, KeyError, TypeError, CurvewiseError):
        return False


def column_types(head: Mapping[str, Any]) -> dict[str, pa.DataType]:
    """Return the types of the columns of a file of texts that we wrote."""
    kinds = {column: TYPES[kind] for column, kind in head["kinds"].items()}
    metrics = {column_of_metric(name): pa.float64() for name in head["metrics"]}
    return dict.fromkeys(_TEXTS, pa.string()) | _NUMBERS | metrics | kinds
