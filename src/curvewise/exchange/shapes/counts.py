"""Confusion counts and right answers: in rows of classes, in columns, by example."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, listed
from curvewise.exchange.rows import (
    columns_varying,
    floats,
    group_codes,
    rows_per_run,
    varies,
)
from curvewise.exchange.shapes import (
    EXAMPLES_AT,
    Examples,
    Groups,
    Shaped,
    distinct_values,
    indistinct,
    is_whole,
    keys_of,
    new_name,
    numeric_columns,
    text_columns,
)
from curvewise.trials import names
from curvewise.trials.columns import Ints, from_rows, packed


def classes(shaped: Shaped, name: str) -> Shaped | None:
    """One row per pair of classes, or per example, becomes one row of counts."""
    table = shaped.table
    free = [c for c in shaped.free_columns if _is_class(table, c)]
    true = names.first(names.TRUE, free)
    called = names.first(names.PREDICTED, [c for c in free if c != true])
    if true is None or called is None or shaped.stated.get("metrics") is not None:
        return None
    texts = [
        table.column(c).cast(pa.string()).combine_chunks().dictionary_encode()
        for c in (true, called)
    ]
    sets = [text.dictionary.to_pylist() for text in texts]
    classes = _sorted({*sets[0], *sets[1]})
    if not set(sets[0]) & set(sets[1]):
        return None
    if len(classes) > _MOST_CLASSES:
        raise CurvewiseError(
            f"Columns '{true}' and '{called}' of {name} hold {len(classes)} classes, and "
            f"confusion counts are kept of {_MOST_CLASSES} at most. Write a column "
            f"'correct' in their place: 1 where the two agree."
        )
    if any(text.null_count for text in texts):
        raise CurvewiseError(
            f"Columns '{true}' and '{called}' of {name} are empty in some rows. Every row "
            f"needs a true and a predicted class."
        )
    usual = names.every(names.COUNT, shaped.free_columns)
    count = next((c for c in usual if is_whole(table, c)), None)
    n = np.ones(table.num_rows)
    if count is not None:
        n = floats(table, count)
        if np.isnan(n).any():
            raise CurvewiseError(
                f"Column '{count}' of {name} lacks counts in some rows."
            )
    keys = keys_of(table, [true, called, *filter(None, [count])])
    if count is None:
        right = names.every(names.CORRECT, table.column_names)
        keys = [c for c in keys if c not in right]
        item = _item_among(shaped, keys)
        keys = _keys_of_runs(shaped, keys, item)
    groups = Groups.by(table, keys) if keys else Groups(
        np.zeros(1, np.int64), np.zeros(table.num_rows, np.int64)
    )  # fmt: skip
    k, place = len(classes), {c: i for i, c in enumerate(classes)}
    codes = [
        np.array([place[c] for c in s])[text.indices.to_numpy()]
        for s, text in zip(sets, texts, strict=True)
    ]
    cell = groups.of_row * k * k + codes[0] * k + codes[1]
    if count is not None and len(np.unique(cell)) < len(cell):
        row = int(np.argmax(np.bincount(cell)[cell] > 1))
        raise indistinct(table, [*keys, true, called], row, name)
    counts = np.bincount(cell, n, minlength=len(groups.first) * k * k).reshape(-1, k, k)
    whole = counts.astype(np.int64)
    columns = {f"count.{i}.{j}": whole[:, i, j] for i, j in product(range(k), repeat=2)}
    plain = _table_of(groups, table, keys, columns)
    remark = (
        f"'{true}' and '{called}' are true and predicted classes, numbered in this order: "
        f"{listed(classes, most=6)}."
    )
    return shaped.told(remark, table=plain)


# A confusion matrix has the square of it; more is slow, and says little.
_MOST_CLASSES = 100


def _table_of(
    groups: Groups,
    table: pa.Table,
    keys: Sequence[str],
    columns: Mapping[str, NDArray[Any]],
) -> pa.Table:
    """Return what tells groups of rows apart, with new columns."""
    rows = groups.table(table, keys)
    return pa.table({**dict(zip(keys, rows.columns, strict=True)), **columns})


def _is_class(table: pa.Table, column: str) -> bool:
    kind = table.schema.field(column).type
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_string(kind)
    )


def _sorted(classes: Iterable[Any]) -> list[str]:
    texts = [str(c) for c in classes]
    if all(re.fullmatch(r"-?\d+", t) for t in texts):
        return sorted(texts, key=int)
    return sorted(texts)


_CELL = re.compile(r"(?P<head>.*?)(?P<i>\d{1,3})(?P<mid>[^\d]{1,12}?)(?P<j>\d{1,3})")
_DIGITS = re.compile(r"(?P<head>[^\d]*)(?P<i>\d)(?P<mid>)(?P<j>\d)")
_WORDS = re.compile(r"(?P<i>.+?)\s*(?P<mid>->|→|=>|\||_as_| as )\s*(?P<j>.+)")
_NAMED = re.compile(
    r"(?P<mid>true|actual)[ _]?(?P<i>.+?)[ _,]+pred(?:icted)?[ _]?(?P<j>.+)", re.I
)
_OF_MATRIX = re.compile(
    r"^(cm|c|conf\w*|count|counts|n|m|matrix|true|actual|)[\W_]*$", re.IGNORECASE
)


def matrix(shaped: Shaped, name: str) -> Shaped | None:
    """Columns that are the cells of a confusion matrix get the names of counts."""
    table = shaped.table
    columns = [
        c
        for c in numeric_columns(table, shaped.free_columns)
        if not c.startswith("count.")
    ]
    for form in (_NAMED, _CELL, _DIGITS, _WORDS):
        families: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
        for column in columns:
            if match := form.fullmatch(column):
                parts = match.groupdict()
                family = parts.get("head", ""), parts["mid"].strip().casefold()
                families.setdefault(family, {})[parts["i"], parts["j"]] = column
        for (head, mid), cells in families.items():
            classes = _square(cells)
            if classes is None or not all(is_whole(table, c) for c in cells.values()):
                continue
            usual = form in (_WORDS, _NAMED) or _OF_MATRIX.match(head) is not None
            if not usual and len(classes) < 3:
                continue
            turned = "pred" in head.casefold() and "pred" not in mid
            place = {c: i for i, c in enumerate(classes)}
            new = {
                column: f"count.{place[i]}.{place[j]}"
                if not turned
                else f"count.{place[j]}.{place[i]}"
                for (i, j), column in cells.items()
            }
            renamed = [new.get(c, c) for c in table.column_names]
            remark = (
                f"{len(cells)} columns of {name} such as '{next(iter(new))}' are a "
                f"confusion matrix, rows true classes: {listed(classes, most=6)}."
            )
            return shaped.told(remark, table=table.rename_columns(renamed))
    return None


def _square(cells: Mapping[tuple[str, str], str]) -> list[str] | None:
    rows, columns = ({pair[i] for pair in cells} for i in (0, 1))
    if rows != columns or len(rows) < 2 or len(cells) != len(rows) ** 2:
        return None
    return _sorted(rows)


def examples(shaped: Shaped, name: str) -> Shaped | None:
    """One row per example that was answered becomes one run with its correctness."""
    table, stated = shaped.table, shaped.stated
    stated_scores = shaped.score_columns or []
    free = [
        *shaped.free_columns,
        *(c for c in stated_scores if c in table.column_names),
    ]
    usual = [c for c in names.every(names.CORRECT, free) if _is_bit(table, c)]
    if not usual:
        return None
    right = usual[0]
    item = names.first(names.EXAMPLE, free)
    if item is None:
        item = next((c for c in free if c.casefold() == "task_id"), None)
    if item is None and right.casefold() in ("correct", "is_correct"):
        item = names.first(("id", "idx", "index"), free)
    if item is None:
        return None
    keys = _keys_of_runs(shaped, keys_of(table, [right]), item)
    usual = _usual_keys(shaped, keys)
    keys = [c for c in keys if c in usual or not _belongs_to(table, c, item)]
    groups = Groups.by(table, keys) if keys else Groups(
        np.zeros(1, np.int64), np.zeros(table.num_rows, np.int64)
    )  # fmt: skip
    if len(groups.first) == table.num_rows:
        return None  # one example per run: it is no example, then
    ids = _example_ids(table, item)
    order = np.lexsort((ids, groups.of_row))
    owner, ids = groups.of_row[order], ids[order]
    if ((np.diff(owner) == 0) & (np.diff(ids) == 0)).any():
        row = int(order[np.argmax((np.diff(owner) == 0) & (np.diff(ids) == 0))])
        raise indistinct(table, [*keys, item], row, name)
    bits = floats(table, right)[order]
    if np.isnan(bits).any():
        raise CurvewiseError(
            f"Column '{right}' of {name} is empty in {int(np.isnan(bits).sum())} rows. "
            f"Write 0 for an example that was not answered."
        )
    ends = np.searchsorted(owner, np.arange(len(groups.first) + 1))
    sets: list[Ints] = []
    rows, places, set_of = [], dict[bytes, int](), []
    for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        ids_of_run = ids[a:b].copy()
        if ids_of_run.tobytes() not in places:
            places[ids_of_run.tobytes()] = len(sets)
            sets.append(ids_of_run)
        set_of.append(places[ids_of_run.tobytes()])
        rows.append(packed(bits[None, a:b].astype(bool)))
    share = np.add.reduceat(bits, ends[:-1]) / np.diff(ends)
    accuracy = new_name(table.select(keys), "accuracy")
    columns = {EXAMPLES_AT: np.arange(len(share)), accuracy: share}
    plain = _table_of(groups, table, keys, columns)
    examples = Examples(
        from_rows(rows, "uint8"), np.array(set_of, np.int64), tuple(sets)
    )
    stated = {k: v for k, v in stated.items() if k != "metrics"} | {"metrics": None}
    remark = (
        f"'{right}' says of each '{item}' whether the answer was right: "
        f"{len(share)} runs, accuracy is the share of right answers."
    )
    return shaped.told(remark, table=plain, stated=stated, examples=examples)


_RIGHT = ("n_correct", "num_correct", "n_passed", "n_solved", "n_right", *names.CORRECT)
_ASKED = ("total", "n_total", "num_total", "n_questions", "num_questions", "attempted")


def shares(shaped: Shaped, name: str) -> Shaped | None:
    """Columns such as correct and total become one, the share of right answers."""
    table, free = shaped.table, shaped.free_columns
    if shaped.stated.get("metrics") is not None:
        return None
    right, every = names.first(_RIGHT, free), names.first(_ASKED, free)
    if right is None or every is None:
        return None
    if not (is_whole(table, right) and is_whole(table, every)):
        return None
    names_of_scores = [c for c in free if c not in (right, every) and names.is_score(c)]
    if names_of_scores:  # the share is there already
        spoken = {right: f"label.{right}", every: f"label.{every}"}
        renamed = [spoken.get(c, c) for c in table.column_names]
        return replace(shaped, table=table.rename_columns(renamed))
    k, n = (floats(table, c) for c in (right, every))
    if not (n > 1).any() or (k > n).any():
        return None
    with np.errstate(invalid="ignore"):
        share = pa.array(k / n, from_pandas=True)
    plain = table.drop_columns([right, every]).append_column("accuracy", share)
    remark = f"accuracy of {name} is '{right}' divided by '{every}'."
    return shaped.told(remark, table=plain)


_IDS = ("id", "idx", "index", "uid", "uuid")
_FILE_OF_EXAMPLE = re.compile(
    r".*\.(png|jpe?g|tiff?|bmp|gif|webp|nii|nii\.gz|dcm|npy|wav|mp3|flac|ogg|mp4|avi)",
    re.IGNORECASE,
)


def items(shaped: Shaped, name: str) -> Shaped | None:
    """Refuse one score per example: the rows of one algorithm are one run, or a few."""
    table, free = shaped.table, shaped.free_columns
    usual = _usual_keys(shaped, table.column_names)
    item = names.first(names.SCORED_EXAMPLE, [c for c in free if c not in usual])
    item = item or _shared_id(table, free)
    if item is None or names.every(names.STEP, numeric_columns(table, free)):
        return None
    if item.casefold() in ("filename", "file_name") and not all(
        _FILE_OF_EXAMPLE.fullmatch(str(v)) for v in distinct_values(table, item)
    ):
        return None  # files of runs
    others = [c for c in usual if c != item]
    if rows_per_run(table, others) == 1 or rows_per_run(table, [*others, item]) > 1:
        return None
    raise CurvewiseError(
        f"{name} has one row for each '{item}', and one score each: examples are no runs, "
        f"and count as one where they were scored by the same one. Take their mean for "
        f"each run first; or, if every one was a run, name '{item}' as trial."
    )


_FEWEST_IDS = 8
_MOST_RUNS = 50  # that are numbered from 0 or 1: as many questions are likelier


def _shared_id(table: pa.Table, free: Sequence[str]) -> str | None:
    """Return the column of ids that all algorithms share: runs have ids of their own.

    Numbers counted from 0 or 1 may be those of runs.
    """
    column = next((c for c in free if c.casefold() in ("id", "idx", "uid")), None)
    algorithm = names.first(names.ALGORITHM, table.column_names)
    if column is None or algorithm is None:
        return None
    ids = distinct_values(table, column)
    counted = sorted(ids) in ([*range(len(ids))], [*range(1, len(ids) + 1)])
    if len(ids) < (_MOST_RUNS if counted else _FEWEST_IDS):
        return None
    many = len(distinct_values(table, algorithm))
    met = len(np.unique(group_codes(table, [algorithm, column])))
    return column if many > 1 and met == many * len(ids) else None


def _usual_keys(shaped: Shaped, columns: Sequence[str]) -> list[str]:
    """Return the columns that are about runs by their names, or were said to be."""
    usual = (*names.ALGORITHM, *names.TASK, *names.TRIAL, *names.STEP)
    keys = {*names.every(usual, columns), *shaped.role_columns}
    return [c for c in columns if c in keys or names.is_param(c)]


def _item_among(shaped: Shaped, keys: Sequence[str]) -> str | None:
    """Return the column that numbers or names the examples of each run."""
    if (item := names.first(names.EXAMPLE, keys)) is not None:
        return item
    table, usual = shaped.table, _usual_keys(shaped, keys)
    who = names.every((*names.ALGORITHM, *names.TASK), keys)
    likely = [c for c in keys if c.casefold() in _IDS or c.casefold().endswith("_id")]
    likely += [c for c in text_columns(table, keys) if c not in likely]
    for column in likely:
        others = [c for c in usual if c != column]
        if column in who or column in shaped.role_columns:
            continue
        if rows_per_run(table, [*others, column]) == 1 < rows_per_run(table, others):
            return column
    return None


def _keys_of_runs(shaped: Shaped, keys: Sequence[str], item: str | None) -> list[str]:
    """Return the columns that tell runs apart, less those that are about examples.

    What tells the rows of an example apart is about runs; what else changes within a run
    was said of the example: its text, the length of the answer, how sure it was.
    """
    table, keys = shaped.table, [c for c in keys if c != item]
    sure = _usual_keys(shaped, keys)
    texts = text_columns(table, keys)
    if item is None or rows_per_run(table, [*sure, item]) > 1:
        sure = [c for c in keys if c in sure or c in texts]
    if item is not None and rows_per_run(table, [*sure, item]) > 1:
        floats = [c for c in keys if pa.types.is_floating(table.schema.field(c).type)]
        sure = [c for c in keys if c in sure or c not in floats]
    rest = [c for c in keys if c not in sure]
    varying = columns_varying(table, sure, rest)
    return [c for c in keys if c not in varying]


def _is_bit(table: pa.Table, column: str) -> bool:
    if pa.types.is_boolean(table.schema.field(column).type):
        return True
    return is_whole(table, column) and set(distinct_values(table, column)) <= {0, 1}


def _belongs_to(table: pa.Table, column: str, item: str) -> bool:
    """Return whether an example always has the same value, and examples differ in it."""
    pairs = len(np.unique(group_codes(table, [item, column])))
    items = len(np.unique(group_codes(table, [item])))
    return pairs == items and varies(table, column)


def _example_ids(table: pa.Table, item: str) -> Ints:
    cells = table.column(item).combine_chunks()
    if pa.types.is_integer(cells.type) and cells.null_count == 0:
        return np.asarray(cells.cast(pa.int64()).to_numpy())
    texts = cells.cast(pa.string()).dictionary_encode()
    if texts.null_count:
        raise CurvewiseError(
            f"Column '{item}' is empty in some rows. It names examples."
        )
    rank = np.argsort(np.argsort(np.array(texts.dictionary.to_pylist(), object)))
    return np.asarray(rank[texts.indices.to_numpy()], np.int64)
