"""What a table says about each run, beside its curve."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.exchange.roles import Roles
from curvewise.exchange.tables import is_float
from curvewise.trials.columns import Details, no_details
from curvewise.trials.ragged import Ragged, empty_rows, from_texts, starts
from curvewise.trials.trial import canonical


def details(
    table: pa.Table, roles: Roles, first: Any, kept: Any, errors: Any, lengths: Any
) -> Details:
    """Return params, labels, errors, times and counts of each run."""
    n = len(first)
    none = no_details(n)
    per_run = table.take(pa.array(first))
    ours = {"error_text", "seconds", "attempts"} & set(table.column_names)
    ours -= {*roles.metrics, *roles.params, roles.status, roles.step}
    told = per_run.column("error_text").to_pylist() if "error_text" in ours else []
    texts = [own or (told[i] if told else "") or "" for i, own in enumerate(errors)]
    seconds, attempts = none.seconds, none.attempts
    if "seconds" in ours:
        seconds = numbers(per_run, "seconds")
    if "attempts" in ours:
        attempts = np.nan_to_num(numbers(per_run, "attempts"), nan=1).astype(np.int64)
    counts, classes = _counts(table, roles, kept, lengths)
    return Details(
        as_json(per_run, roles.params),
        as_json(per_run, roles.labels),
        from_texts(texts) if any(texts) else none.error,
        seconds,
        attempts,
        counts,
        classes,
        *(none.correct, none.asked, none.example_set, ()),
    )


def as_json(table: pa.Table, columns: Mapping[str, str]) -> Ragged:
    """Return some columns as canonical JSON, one text per row, under new names."""
    if not columns:
        return empty_rows(table.num_rows, "uint8")
    # Column by column, since a row at a time would take most of the time of reading.
    told = {name: column for column, name in columns.items()}
    cells = [_pairs(name, _plain(table.column(told[name]))) for name in sorted(told)]
    rows = (
        ",".join([pair for pair in row if pair]) for row in zip(*cells, strict=True)
    )
    return from_texts(f"{{{row}}}" if row else "" for row in rows)


def _pairs(name: str, cells: list[Any]) -> list[str]:
    """Return one key and its values as pieces of canonical JSON, "" where there is none."""
    key = canonical({name: 0})[1:-2]
    pieces: dict[Any, str] = {None: ""}
    out = []
    for cell in cells:
        if type(cell) is float or type(cell) is int:
            out.append(f"{key}{cell!r}")
        else:
            if cell not in pieces:
                pieces[cell] = canonical({name: cell})[1:-1]
            out.append(pieces[cell])
    return out


def _plain(column: pa.ChunkedArray) -> list[Any]:
    kind = column.type
    if pa.types.is_floating(kind):
        # A parameter that is not a number was not set.
        return [
            None if v is None or not math.isfinite(v) else v for v in column.to_pylist()
        ]
    if pa.types.is_string(kind):
        return [text or None for text in column.to_pylist()]
    simple = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    values: list[Any] = (column if simple else column.cast(pa.string())).to_pylist()
    return values


def _counts(
    table: pa.Table, roles: Roles, kept: Any, lengths: Any
) -> tuple[Ragged, Any]:
    n = len(lengths)
    if not roles.counts:
        return empty_rows(n, "int64"), np.zeros(n, np.int64)
    k = max(max(place) for place in roles.counts.values()) + 1
    cells = np.zeros((int(kept.sum()), k, k))
    nothing = np.ones(len(cells), bool)
    for column, place in roles.counts.items():
        cells[:, *place] = numbers(table, column)[kept]
        nothing &= np.isnan(cells[:, *place])
    # A run without any counts among others that have them has none; it did not fail.
    owner = np.repeat(np.arange(n), lengths)
    has = np.zeros(n, bool)
    has[owner[~nothing]] = True
    cells = cells[has[owner]]
    is_count = np.isfinite(cells) & (cells == np.floor(cells)) & (cells >= 0)
    if not is_count.all():
        odd = cells[~is_count][0]
        came = "a row lacks one" if np.isnan(odd) else f"one is {odd:g}"
        raise CurvewiseError(
            f"Columns {listed(roles.counts)} should hold counts, and {came}. Pass whole "
            f"numbers >= 0; leave all of them empty where a run failed."
        )
    flat = cells.astype(np.int64).ravel()
    return Ragged(starts(lengths * has * k * k), flat), np.where(has, k, 0)


def numbers(table: pa.Table, column: str) -> Any:
    """Return a column as floats, NaN where it is empty; refuse text."""
    values = table.column(column)
    try:
        if pa.types.is_boolean(values.type):
            values = values.cast(pa.int8())
        if pa.types.is_string(values.type):
            values = pc.if_else(pc.equal(values, ""), None, values)
        # Not safe: an integer beyond 2**53 loses its last digits, as any float would.
        safe = not pa.types.is_integer(values.type)
        as_floats = values.cast(pa.float64(), safe=safe)
    except pa.ArrowException:
        texts = [str(v) for v in values.to_pylist()]
        odd = ((i, t) for i, t in enumerate(texts) if t != "None" and not is_float(t))
        row, text = next(odd, (0, texts[0]))
        raise CurvewiseError(
            f"Column '{column}' should hold numbers, but row {row + 1} holds "
            f"'{shortened(text)}'. Leave the cell of a failed run empty."
        ) from None
    return as_floats.to_numpy()  # missing becomes NaN
