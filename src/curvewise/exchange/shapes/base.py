"""What all shapes of tables are told by: names and values of columns, groups of rows."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, shortened
from curvewise.exchange.grouping import floats, group_codes, is_number
from curvewise.trials import names
from curvewise.trials.columns import Ints
from curvewise.trials.ragged import Ragged

Stated: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Which examples each row of a table answered, and which of them correctly.

    Parameters
    ----------
    correct : Ragged of uint8
        Packed bits, one row per row of the table.
    example_set : array of int
        The place in `sets` of each row's examples.
    sets : tuple of array of int
    """

    correct: Ragged
    example_set: Ints
    sets: tuple[Ints, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Shaped:
    """A plain table, what its shape says about roles, and what to tell the reader."""

    table: pa.Table
    stated: Stated
    remarks: tuple[str, ...] = ()
    examples: Examples | None = field(default=None)


# The place of a row among `Examples`; no label of anybody's.
EXAMPLES_AT = "example.place"


def role_columns(stated: Stated) -> set[str]:
    """Return the columns that the caller gave a role other than that of a score."""
    given: set[str] = set()
    for role in ("task", "algorithm", "trial", "step", "params", "block", "cluster"):
        value = stated.get(role)
        given |= {value} if isinstance(value, str) else set(value or ())
    if isinstance(status := stated.get("status"), str):
        given |= {status, status.partition("=")[0]}
    return given


def score_columns(stated: Stated) -> list[str] | None:
    """Return the columns that the caller called scores; None where nobody said."""
    metrics = stated.get("metrics")
    if metrics is None:
        return None
    return [metrics] if isinstance(metrics, str) else list(metrics)


def free_columns(shaped: Shaped) -> list[str]:
    """Return the columns that the caller said nothing about."""
    given = {*role_columns(shaped.stated), *(score_columns(shaped.stated) or ())}
    return [c for c in shaped.table.column_names if c not in given]


def text_columns(table: pa.Table, columns: Iterable[str]) -> list[str]:
    """Return those of the columns that hold words."""
    return [c for c in columns if not is_number(table, c)]


def numeric_columns(table: pa.Table, columns: Iterable[str]) -> list[str]:
    """Return those of the columns that hold numbers."""
    return [
        c
        for c in columns
        if is_number(table, c) and not pa.types.is_null(table.schema.field(c).type)
    ]


def is_whole(table: pa.Table, column: str) -> bool:
    """Return whether a column holds whole numbers >= 0, gaps aside."""
    if not is_number(table, column):
        return False
    values = floats(table, column)
    values = values[~np.isnan(values)]
    return bool(
        len(values) and (values >= 0).all() and (values == np.rint(values)).all()
    )


def distinct_values(table: pa.Table, column: str) -> list[Any]:
    """Return the values of a column, each once, gaps aside."""
    return [v for v in table.column(column).unique().to_pylist() if v not in (None, "")]


_TIMES = (
    "time",
    "timestamp",
    "wall_time",
    "walltime",
    "date",
    "datetime",
    "created_at",
)


def counts_rows(table: pa.Table, column: str) -> bool:
    """Return whether a column only numbers or dates the rows of the table."""
    folded = re.sub(r"[\s-]+", "_", column.casefold())
    if folded in _TIMES or (names.is_row_number(column) and is_number(table, column)):
        return True
    return folded in ("id", "uuid") and (
        len(table.column(column).unique()) == table.num_rows
    )


def keys_of(table: pa.Table, without: Iterable[str]) -> list[str]:
    """Return the columns that may tell rows apart, less some."""
    out = set(without)
    return [c for c in table.column_names if c not in out and not counts_rows(table, c)]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Rows that agree in some columns: the first row of each, and which row is whose."""

    first: Ints
    of_row: Ints

    @classmethod
    def by(cls, table: pa.Table, columns: Sequence[str]) -> "Groups":
        """Return the groups of rows that agree in these columns."""
        code = group_codes(table, columns)
        _, first, of_row = np.unique(code, return_index=True, return_inverse=True)
        order = np.argsort(first)  # groups stand in the order of their first rows
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return cls(first[order], place[of_row])

    def table(self, table: pa.Table, columns: Sequence[str]) -> pa.Table:
        """Return the first row of each group."""
        return table.select(columns).take(pa.array(self.first))


def new_name(table: pa.Table, name: str) -> str:
    """Return a name that no column of the table has."""
    while name in table.column_names:
        name = f"metric.{name}"
    return name


_RUN_COLUMN = re.compile(
    r"(?P<stem>seed|run|fold|trial|rep|repeat|replicate|repetition|split|cv|)[ _.-]?\d+",
    re.IGNORECASE,
)


def columns_of_runs(table: pa.Table, columns: Iterable[str]) -> list[str]:
    """Return columns of scores that are called seed_0, seed_1 and so on, a run each.

    Numbers alone count from 0 or 1: others may be sizes.
    """
    by_stem: dict[str, list[str]] = {}
    for column in numeric_columns(table, columns):
        if match := _RUN_COLUMN.fullmatch(column):
            by_stem.setdefault(match["stem"].casefold(), []).append(column)
    for stem, found in by_stem.items():
        counted = [str(i) for i in range(len(found) + 1)]
        if len(found) > 1 and (stem or found in (counted[:-1], counted[1:])):
            return found
    return []


def indistinct(
    table: pa.Table, columns: Sequence[str], row: int, name: str
) -> CurvewiseError:
    """Return the error for rows that agree in all but the score."""
    cells = table.select(columns).slice(row, 1).to_pylist()[0]
    return CurvewiseError(
        f"Several rows of {name} agree in all but the score, such as those with "
        f"{shortened(cells, 200)}: whose they are cannot be told. Add a column that says "
        f"which run a row belongs to."
    )
