"""Tables that are not one row per run or step: recognised, or asked about.

Each shape is one function from a table to a plain one. It acts only where names and
values leave no other reading; where they do, it raises with the option to type.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.exchange.rows import SIGN, floats, group_codes, is_number
from curvewise.exchange.tables import is_float
from curvewise.trials import names
from curvewise.trials.columns import Ints, Ragged

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

    @property
    def role_columns(self) -> set[str]:
        """The columns that the caller gave a role other than that of a score."""
        columns: set[str] = set()
        for role in (
            "task",
            "algorithm",
            "trial",
            "step",
            "params",
            "block",
            "cluster",
        ):
            value = self.stated.get(role)
            columns |= {value} if isinstance(value, str) else set(value or ())
        if isinstance(status := self.stated.get("status"), str):
            columns |= {status, status.partition("=")[0]}
        return columns

    @property
    def score_columns(self) -> list[str] | None:
        """The columns that the caller called scores; None where nobody said."""
        metrics = self.stated.get("metrics")
        if metrics is None:
            return None
        return [metrics] if isinstance(metrics, str) else list(metrics)

    @property
    def free_columns(self) -> list[str]:
        """The columns that the caller said nothing about."""
        stated = self.role_columns | {*(self.score_columns or ())}
        return [c for c in self.table.column_names if c not in stated]

    def who(self, columns: Iterable[str] | None = None) -> list[Any]:
        """Return the columns of tasks and of algorithms: stated, or by a usual name."""
        columns = self.table.column_names if columns is None else list(columns)
        usual = (("task", names.TASK), ("algorithm", names.ALGORITHM))
        return [self.stated.get(role) or names.first(n, columns) for role, n in usual]

    def told(self, remark: str, **changes: Any) -> "Shaped":
        """Return this with other content, and a remark on it."""
        return replace(self, remarks=(*self.remarks, remark), **changes)


# The place of a row among `Examples`; no label of anybody's.
EXAMPLES_AT = "example.place"


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
    folded = names.folded(column)
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
    for stem, group in by_stem.items():
        counted = [str(i) for i in range(len(group) + 1)]
        if len(group) > 1 and (stem or group in (counted[:-1], counted[1:])):
            return group
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


# --- Numbers and names in odd writing: decimal commas, percent signs, PPO and ppo ------


_PERCENT = r"^\s*[+-]?\d+([.,]\d+)?\s*%\s*$"
_COMMA = r"^\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*$"
_THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2}(,\d{3})+\s*$"
_WORDS_FOR_NOTHING = frozenset(
    ("-", "--", "\u2014", "\u2013", "?", ".", "x", "nan", "n/a")
)


def numbers(shaped: Shaped, name: str) -> Shaped | None:
    """Decimal commas, percent signs and words in place of a score become numbers."""
    table, remarks = shaped.table, list(shaped.remarks)
    decimal = shaped.stated.pop("decimal", None)
    if decimal not in (None, ",", "."):
        raise CurvewiseError(
            f"decimal is {decimal!r}. Pass ',' or '.'.",
            argument="decimal",
            value=decimal,
        )
    for i, column in enumerate(table.column_names):
        cells = table.column(column)
        if not pa.types.is_string(cells.type):
            continue
        # A look at some rows is enough to leave columns of words alone.
        ends = [cells.slice(0, 100), cells.slice(max(len(cells) - 100, 0))]
        some = [t for part in ends for t in part.to_pylist() if t]
        if 3 * sum(t.lstrip(" +-")[:1].isdigit() for t in some) < len(some):
            continue
        values = [t for t in cells.unique().to_pylist() if t]
        texts = pc.if_else(pc.equal(cells, ""), None, cells)
        words = [t for t in values if t.casefold() in _WORDS_FOR_NOTHING]
        words += [t for t in values if names.status_of(t) not in (None, "ok")]
        numbers = [t for t in values if t not in words]
        new = None
        if _is_step(shaped, column) and numbers:
            new = _counted(cells, column, name, values)
        if new is not None:
            remarks.append(f"'{column}' counts in words such as '{values[0]}'.")
        elif numbers and all(re.match(_PERCENT, t) for t in numbers):
            new, what = _as_floats(texts, words, percent=True), "percent"
            remarks.append(f"'{column}' was written in percent: now fractions of 1.")
        elif numbers and all(re.match(_COMMA, t) for t in numbers) and any(
            "," in t for t in numbers
        ):  # fmt: skip
            commas = [t for t in numbers if "," in t]
            if decimal is None and all(re.match(_THOUSANDS, t) for t in commas):
                raise CurvewiseError(
                    f"Column '{column}' of {name} holds {listed(commas, most=2)}. Is the "
                    f"comma a decimal point, or does it group thousands?",
                    fixes=[{"decimal": ","}, {"decimal": "."}],
                )
            new, what = _as_floats(texts, words, decimal or ","), "decimal commas"
            remarks.append(f"'{column}' was written with {what}.")
        elif words and numbers and all(map(is_float, numbers)) and (
            names.is_score(column) or column in (shaped.score_columns or ())
        ):  # fmt: skip
            new = _as_floats(texts, words, ".")
            remarks.append(
                f"'{column}' says {listed(words, most=3)} in place of a score: these "
                f"runs failed."
            )
        if new is not None:
            table = table.set_column(i, column, new)
    return replace(shaped, table=table, remarks=tuple(remarks))


def _is_step(shaped: Shaped, column: str) -> bool:
    step = shaped.stated.get("step")
    usual = names.every(names.STEP, [column])
    return column == step or (step is None and bool(usual))


_COUNT = re.compile(r"(?P<n>\d[\d_]*(?:\.\d+)?(?:[eE]\+?\d+)?)\s*(?P<unit>[kKmMB]?)")
_UNITS = {"": 1, "k": 1e3, "m": 1e6, "b": 1e9}
_MOST_NAMED = 200


def _counted(
    cells: pa.ChunkedArray, column: str, name: str, texts: Sequence[str]
) -> pa.ChunkedArray | None:
    """Return steps or sizes written as 10k, 1_000 or 1/8; ask where some are words."""
    sizes = {text: count_of(text) for text in texts}
    counts = {text: n for text, n in sizes.items() if n is not None}
    if 2 * len(counts) < len(texts):
        return None
    if len(counts) < len(texts):
        odd = [text for text in texts if text not in counts]
        raise CurvewiseError(
            f"Column '{column}' of {name} counts, and holds {listed(odd, most=3)}. Leave "
            f"these rows out, or write numbers.",
            fixes=[{"where": {column: [*counts]}}] if len(counts) < _MOST_NAMED else [],
        )
    encoded = cells.combine_chunks().dictionary_encode()
    values = pa.array([sizes.get(text) for text in encoded.dictionary.to_pylist()])
    return pa.chunked_array([values.cast(pa.float64()).take(encoded.indices)])


def count_of(text: str) -> float | None:
    """Return a number written as 10k, 1_000 or 1/8; None for another text.

    >>> count_of("10k"), count_of("1/8"), count_of("full")
    (10000.0, 0.125, None)
    """
    if match := _COUNT.fullmatch(text.strip()):
        return float(match["n"].replace("_", "")) * _UNITS[match["unit"].casefold()]
    above, sign, below = text.partition("/")
    if sign and above.strip().isdigit() and below.strip().isdigit() and int(below):
        return int(above) / int(below)
    return None


def _as_floats(
    texts: Any, words: Sequence[str], decimal: str = "", *, percent: bool = False
) -> pa.ChunkedArray:
    if words:
        texts = pc.if_else(pc.is_in(texts, value_set=pa.array(words)), None, texts)
    texts = pc.utf8_trim_whitespace(texts)
    if percent:
        texts = pc.replace_substring(texts, "%", "")
        texts = pc.utf8_trim_whitespace(pc.replace_substring(texts, ",", "."))
    elif decimal == ",":
        texts = pc.replace_substring(texts, ",", ".")
    else:
        texts = pc.replace_substring(texts, ",", "")
    values = texts.cast(pa.float64())
    return pc.divide(values, 100.0) if percent else values


def same_names(
    codes: Any, texts: list[str], column: str | None, own_names: str | None
) -> tuple[Any, list[str]]:
    """Return codes and names in which those that differ in case alone are one, or two."""
    by_fold: dict[str, list[int]] = {}
    for code, text in enumerate(texts):
        by_fold.setdefault(text.casefold(), []).append(code)
    if own_names == "exact" or len(by_fold) == len(texts):
        return codes, texts
    if own_names is None:
        alike = next(some for some in by_fold.values() if len(some) > 1)
        raise CurvewiseError(
            f"Column '{column}' holds {listed(texts[code] for code in alike)}, which "
            f"differ in case alone. Are they one?",
            fixes=[{"names": "casefold"}, {"names": "exact"}],
        )
    new = np.empty(len(texts), np.int64)
    for place, some in enumerate(by_fold.values()):
        new[some] = place
    return new[codes], [texts[some[0]] for some in by_fold.values()]


# --------------------------------------------------------------------------------------
# Several columns that are one: ``algorithm="model+method"``, ``step="epoch+batch"``.


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
        # The place of each row in the order of its counters: epoch 0 batch 1 is 1.
        cells = [floats(table, c) for c in parts]
        every = np.stack(cells, axis=1)
        missing = np.isnan(every).any(axis=1)
        place = np.full(len(every), np.nan)
        ranks = np.unique(every[~missing], axis=0, return_inverse=True)[1]
        place[~missing] = ranks.reshape(-1)
        table = table.append_column(stated, pa.array(place, mask=missing)).drop_columns(
            parts
        )
    return replace(shaped, table=table) if table is not shaped.table else None


def parts_of(table: pa.Table, column: object) -> list[str]:
    """Return the columns that a name with a plus joins; none where it is one column."""
    if not isinstance(column, str) or column in table.column_names:
        return []
    parts = [part.strip() for part in column.split(SIGN)]
    is_joint = len(parts) > 1 and all(part in table.column_names for part in parts)
    return parts if is_joint else []
