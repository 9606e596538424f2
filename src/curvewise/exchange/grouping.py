"""How the rows of a table group into runs."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def group_codes(table: pa.Table, columns: Sequence[str]) -> NDArray[np.int64]:
    """Return, for each row, which combination of the columns it has.

    Codes are small numbers, though not every one may occur.
    """
    n = table.num_rows
    code, size = np.zeros(n, np.int64), 1
    for column in columns:
        cells = table.column(column).combine_chunks()
        encoded = pc.dictionary_encode(cells, null_encoding="encode")
        code = code * max(len(encoded.dictionary), 1)
        code += encoded.indices.to_numpy(zero_copy_only=False)
        size *= max(len(encoded.dictionary), 1)
        if size > 4 * n + 1024:  # sparse: give those that occur new codes
            found, code = np.unique(code, return_inverse=True)
            code, size = code.astype(np.int64), len(found)
    return code


def rows_per_run(table: pa.Table, columns: Sequence[str]) -> int:
    """Return how many rows the most frequent combination of the columns has."""
    return int(np.bincount(group_codes(table, columns)).max())


def columns_varying(
    table: pa.Table, keys: Sequence[str], columns: Iterable[str]
) -> list[str]:
    """Return the columns that take more than one value within a run."""
    code = group_codes(table, keys)
    order = np.argsort(code, kind="stable")
    same_run = np.diff(code[order]) == 0
    return [c for c in columns if _changes(table, c, order)[same_run].any()]


def _changes(
    table: pa.Table, column: str, order: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return whether each cell, in this order, differs from the one before it."""
    kind = table.schema.field(column).type
    if not is_number(table, column) or pa.types.is_null(kind):
        return np.asarray(np.diff(group_codes(table, [column])[order]) != 0)
    values = floats(table, column)[order]
    both_missing = np.isnan(values[1:]) & np.isnan(values[:-1])
    return np.asarray((values[1:] != values[:-1]) & ~both_missing)


def row_of(table: pa.Table, columns: Sequence[str], row: int) -> dict[str, Any]:
    """Return some cells of one row, to show which one is meant."""
    cells: dict[str, Any] = table.select(columns).slice(row, 1).to_pylist()[0]
    return cells


def nulls(table: pa.Table, column: str) -> NDArray[np.bool_]:
    """Return which cells of a column are missing; an empty text is."""
    cells = table.column(column)
    missing: NDArray[np.bool_] = pc.is_null(cells).to_numpy()
    if pa.types.is_string(cells.type):
        missing = missing | pc.equal(pc.fill_null(cells, ""), "").to_numpy()
    return missing


def floats(table: pa.Table, column: str) -> NDArray[np.float64]:
    """Return a column of numbers as floats; NaN where a cell is missing."""
    cells = table.column(column).cast(pa.float64(), safe=False)
    return np.asarray(cells.to_numpy())


def is_number(table: pa.Table, column: str) -> bool:
    """Return whether a column holds numbers, booleans or nothing at all."""
    kind = table.schema.field(column).type
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    )
