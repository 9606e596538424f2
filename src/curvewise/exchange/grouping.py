"""How the rows of a table group into runs."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def group_codes(table: pa.Table, columns: Sequence[str]) -> NDArray[np.int64]:
    """Return, for each row, which combination of the columns it has, from 0 on."""
    code = np.zeros(table.num_rows, np.int64)
    for column in columns:
        encoded = table.column(column).combine_chunks().dictionary_encode("encode")
        indices = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        code = code * (len(encoded.dictionary) + 1) + indices
        code = np.unique(code, return_inverse=True)[1].astype(np.int64)
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
    out = []
    for column in columns:
        value = group_codes(table, [column])[order]
        if (np.diff(value)[same_run] != 0).any():
            out.append(column)
    return out


def nulls(table: pa.Table, column: str) -> NDArray[np.bool_]:
    """Return which cells of a column are missing."""
    missing: NDArray[np.bool_] = pc.is_null(table.column(column)).to_numpy()
    return missing


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
