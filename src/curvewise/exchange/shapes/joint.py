"""Several columns that are one: ``algorithm="model+method"``, ``step="epoch+batch"``."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError
from curvewise.exchange.grouping import floats, is_number
from curvewise.exchange.shapes.base import Shaped

SIGN = "+"


def joint(shaped: Shaped, name: str) -> Shaped | None:
    """Columns that were named together, with a plus, become one."""
    table = shaped.table
    for role in ("task", "algorithm", "step"):
        stated = shaped.stated.get(role)
        parts = parts_of(table, stated)
        if not parts:
            continue
        if role != "step":
            texts = [table.column(c).cast(pa.string()).fill_null("") for c in parts]
            table = table.append_column(
                stated, pc.binary_join_element_wise(*texts, "/")
            )
            continue
        for column in parts:
            if not is_number(table, column):
                raise CurvewiseError(
                    f"step is '{stated}', and '{column}' of {name} holds no numbers. Name "
                    f"columns that count."
                )
        table = table.append_column(stated, _count(table, parts)).drop_columns(parts)
    return replace(shaped, table=table) if table is not shaped.table else None


def parts_of(table: pa.Table, column: object) -> list[str]:
    """Return the columns that a name with a plus joins; none where it is one column."""
    if not isinstance(column, str) or column in table.column_names:
        return []
    parts = [part.strip() for part in column.split(SIGN)]
    known = len(parts) > 1 and all(part in table.column_names for part in parts)
    return parts if known else []


def _count(table: pa.Table, parts: list[str]) -> pa.Array:
    """Return the place of each row in the order of its counters: epoch 0 batch 1 is 1."""
    cells = [floats(table, c) for c in parts]
    every = np.stack(cells, axis=1)
    missing = np.isnan(every).any(axis=1)
    place = np.full(len(every), np.nan)
    found = np.unique(every[~missing], axis=0, return_inverse=True)[1]
    place[~missing] = found.reshape(-1)
    return pa.array(place, mask=missing)
