"""Rows of a table: which of them are one run, which are chosen, which another has."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, Verbatim, listed, shortened, unknown
from curvewise.exchange.runs import array_of
from curvewise.trials import STATUSES, Trials, names
from curvewise.trials.columns import Bools, to_texts


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
            values, code = np.unique(code, return_inverse=True)
            code, size = code.astype(np.int64), len(values)
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


def varies(table: pa.Table, column: str) -> bool:
    """Return whether a column has more than one value; a gap is one."""
    return len(table.column(column).unique()) > 1


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


SIGN = "+"


# --- What a run is: rows of one table that belong together, and rows that must not -----


def whole_runs(
    table: pa.Table,
    who: Sequence[str],
    trials: Sequence[str],
    joined_on: Sequence[str],
    left: Iterable[str],
    is_stated: bool,
) -> tuple[str, ...]:
    """Return the columns that tell runs apart, so that no two runs become one.

    A seed that two runs share does not make them one: whatever else has the name of a
    run, or joins the table of runs, tells them apart too.
    """
    trials = tuple(trials)
    usual = [c for c in names.every(names.TRIAL, left) if _names_runs(table, c)]
    for column in dict.fromkeys((*joined_on, *usual)):
        if column in (*who, *trials):
            continue
        if not columns_varying(table, [*who, *trials], [column]):
            continue
        if is_stated and column not in joined_on:
            raise CurvewiseError(
                f"Rows with the same {listed(trials) or 'algorithm'} have several values "
                f"of '{column}', such as {_two(table, [*who, *trials], column)}: they may "
                f"be of different runs.",
                fixes=[{"trial": [*trials, column]}],
            )
        trials = (*trials, column)
    return trials


def _names_runs(table: pa.Table, column: str) -> bool:
    """Return whether a column may name runs: one that differs in every row names rows."""
    return bool(len(table.column(column).unique()) < table.num_rows)


def _two(table: pa.Table, keys: Sequence[str], column: str) -> str:
    code = group_codes(table, keys)
    values = group_codes(table, [column])
    order = np.lexsort((values, code))
    differs = (np.diff(code[order]) == 0) & (np.diff(values[order]) != 0)
    place = int(np.argmax(differs))
    pair = [row_of(table, [column], int(order[place + i]))[column] for i in (0, 1)]
    return listed(pair)


def apart(
    table: pa.Table,
    task: str | None,
    algorithm: str | None,
    step: str | None,
    columns: Iterable[str],
    trials: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return the ways to tell apart rows that repeat: fixes, the likeliest first.

    Numbers may count steps; words may name what was run, or on what; a few words that
    every run has (train and test, say) are a choice to make; anything may name runs.
    """
    fixed = [c for c in (task, algorithm, *trials, step) if c]
    usable = [c for c in columns if varies(table, c)]
    # The words ce and focal under "loss" are no scores.
    usable = [c for c in usable if not (names.is_score(c) and is_number(table, c))]
    usable = [c for c in usable if not c.startswith("label.")]
    fixes: list[dict[str, Any]] = []
    for column in usable:
        if rows_per_run(table, [*fixed, column]) == 1:
            fixes += readings(table, task, algorithm, step, column, trials)
    if not fixes:
        whole = [
            c
            for c in usable
            if not pa.types.is_floating(table.schema.field(c).type) or names.is_param(c)
        ]
        for likely in (whole, usable):
            fixes = fixes or [
                fix
                for some in combinations(likely, 2)
                if rows_per_run(table, [*fixed, *some]) == 1
                for fix in _together(table, algorithm, some, trials)
            ]
    return fixes[:5]


def _together(
    table: pa.Table,
    algorithm: str | None,
    columns: Sequence[str],
    trials: Sequence[str],
) -> list[dict[str, Any]]:
    """Return what two columns may be that tell rows apart together."""
    texts = [c for c in columns if not is_number(table, c) and not names.is_param(c)]
    if len(texts) == 1:  # conditions with a sweep each: the params tell the rest
        return [{"task": texts[0]}, {"trial": [*trials, *columns]}]
    kinds = [table.schema.field(c).type for c in columns]
    are_words = all(pa.types.is_string(k) or pa.types.is_boolean(k) for k in kinds)
    who = [algorithm] if algorithm is not None else []
    arms = [{"algorithm": SIGN.join((*who, *columns))}] if are_words else []
    return [*arms, {"trial": [*trials, *columns]}]


def readings(
    table: pa.Table,
    task: str | None,
    algorithm: str | None,
    step: str | None,
    column: str,
    trials: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return what a column of unknown meaning may be, as keywords of `read`."""
    as_trial: dict[str, Any] = {"trial": [*trials, column] if trials else column}
    if step is not None and _counts_too(table, column):
        both = (column, step) if _is_coarser(column, step) else (step, column)
        return [{"step": SIGN.join(both)}, as_trial]
    if trials and {"eval", "episode"} <= names.words_of(column):
        return [as_trial | {"cluster": trials[0]}]  # several looks at one run
    if parts := _parts(table, column):
        return [{"where": {column: part}} for part in parts]
    fixes: list[dict[str, Any]] = []
    kind = table.schema.field(column).type
    is_count = is_number(table, column) and not pa.types.is_boolean(kind)
    if names.words_of(column) & _NO_STEPS:
        fixes = [{"algorithm": column}] if algorithm is None else []
    elif names.is_param(column):
        fixes = [{"algorithm": column}] if algorithm is None else []
        if names.words_of(column) & names.PERHAPS_CONDITION:
            fixes.append({"task": f"{task}{SIGN}{column}" if task else column})
    elif is_count and step is None and not names.every(names.TRIAL, [column]):
        fixes = [{"step": column}]
    elif not is_count and not names.every(names.TRIAL, [column]):
        fixes = _as_names(table, task, algorithm, column)
    of_runs = not is_count or not pa.types.is_floating(kind) or names.is_param(column)
    return [*fixes, as_trial] if of_runs else fixes


def _as_names(
    table: pa.Table, task: str | None, algorithm: str | None, column: str
) -> list[dict[str, Any]]:
    """Return how a column may name algorithms or tasks, by itself or with the known one."""
    fixes: list[dict[str, Any]] = []
    for role, other, usual in (
        ("algorithm", algorithm, names.ALGORITHM),
        ("task", task, names.TASK),
    ):
        is_one = other is None or not varies(table, other)
        is_usual = bool(names.every(usual, [column]))
        if other is None or is_one:
            fixes.append({role: column})
        else:  # of both together there are several
            fix = {role: f"{other}{SIGN}{column}"}
            fixes = [fix, *fixes] if is_usual else [*fixes, fix]
    return fixes


def _counts_too(table: pa.Table, column: str) -> bool:
    """Return whether a column counts along a run, beside its step: epoch and batch."""
    words = names.words_of(column)
    usual = names.every(names.STEP, [column]) or words & {"batch", "minibatch", "iter"}
    return bool(usual) and is_number(table, column) and "size" not in words


# Numbers that count nothing, whatever they are in a table.
_NO_STEPS = frozenset(("version", "commit", "release"))


# The first goes on while the others begin again.
_NESTED = ("generation", "round", "epoch", "episode", "iter", "update", "step", "batch")


def _is_coarser(column: str, step: str) -> bool:
    """Return whether a counter goes on while the step begins again."""
    places = [
        next(
            (i for i, word in enumerate(_NESTED) if word in c.casefold()), len(_NESTED)
        )
        for c in (column, step)
    ]
    return places[0] < places[1]


_PARTS = frozenset(
    (
        "train",
        "training",
        "test",
        "testing",
        "val",
        "valid",
        "validation",
        "dev",
        "eval",
    )
)


def _parts(table: pa.Table, column: str) -> list[str]:
    """Return the words of a column that splits each run in parts: train, test."""
    if is_number(table, column):
        return []
    words = [str(w) for w in table.column(column).unique().to_pylist() if w]
    return words if {w.casefold() for w in words} <= _PARTS else []


def refuse_mixed_runs(
    table: pa.Table,
    who: Sequence[str],
    trials: Sequence[str],
    step: str,
    changing: Sequence[str],
) -> None:
    """Raise where the rows of one run look like those of several.

    `changing` are the columns that take several values within a run.
    """
    keys, columns = [*who, *trials], list(changing)
    _refuse_words(table, keys, trials, columns)
    _refuse_alternating(table, keys, trials, step, columns)


def _refuse_words(
    table: pa.Table,
    keys: Sequence[str],
    trials: Sequence[str],
    columns: Sequence[str],
) -> None:
    """Raise for words that change within a run and come back: parts of a run, or runs."""
    texts = [c for c in columns if pa.types.is_string(table.schema.field(c).type)]
    for column in [c for c in texts if not names.every(names.STATUS, [c])]:
        words = [w for w in table.column(column).unique().to_pylist() if w]
        runs = len(np.unique(group_codes(table, keys))) if keys else 1
        if len(words) * runs > table.num_rows / 2:
            continue  # dates, hosts, messages: a word of its own in nearly every row
        apart_ = {"trial": [*trials, column]}
        choices = [{"where": {column: word}} for word in words[:3]]
        parts = {str(w).casefold() for w in words} <= _PARTS
        raise CurvewiseError(
            f"'{column}' changes within a run ({listed(words, most=4)}). Rows that differ "
            f"in it are parts of a run to choose from, or of different runs.",
            fixes=[*choices, apart_] if parts else [apart_, *choices],
        )


def _refuse_alternating(
    table: pa.Table,
    keys: Sequence[str],
    trials: Sequence[str],
    step: str,
    columns: Sequence[str],
) -> None:
    """Raise for a hyperparameter that goes back and forth between a few values."""
    for column in [c for c in columns if names.is_param(c) and is_number(table, c)]:
        code, steps = group_codes(table, keys), floats(table, step)
        values = group_codes(table, [column])
        order = np.lexsort((steps, code))
        same = np.diff(code[order]) == 0
        changes = int(((np.diff(values[order]) != 0) & same).sum())
        kinds = len(np.unique(np.stack([code, values]), axis=1).T)
        groups = len(np.unique(code))
        # A schedule changes once from each value to the next; runs that were mixed
        # change back and forth.
        if kinds - groups and changes >= 2 * (kinds - groups) + 2:
            raise CurvewiseError(
                f"'{column}' goes back and forth within a run, as if the steps of several "
                f"runs were mixed.",
                fixes=[{"trial": [*trials, column]}],
            )


# --- Which rows or runs of a source to read: ``where={"experiment": "cifar"}`` ---------


Where: TypeAlias = Mapping[str, Any]


def must_be_where(where: object) -> None:
    """Raise for a selection that is no mapping from names to values."""
    if where is not None and (not isinstance(where, Mapping) or not where):
        raise CurvewiseError(
            f"where is {shortened(where)}. Pass a dict from columns or labels to the value "
            f"to keep, or to a list of values, such as {{'experiment': 'cifar'}}.",
            argument="where",
            value=where,
        )


def chosen_rows(table: pa.Table, where: Where, source: str) -> Bools:
    """Return which rows of a table hold everything that is asked for.

    A value that no row holds is an error that names those there are.
    """
    keep = np.ones(table.num_rows, bool)
    for name, value in where.items():
        column = column_of(name, table.column_names)
        cells = table.column(column).combine_chunks()
        is_text = pa.types.is_string(cells.type)
        encoded = cells.dictionary_encode()
        there = [_key(c, is_text=is_text) for c in encoded.dictionary.to_pylist()]
        wanted = value if isinstance(value, list | tuple | set | frozenset) else [value]
        values = {_key(one, is_text=is_text): one for one in wanted}
        missing = [one for key, one in values.items() if key not in there]
        if missing:
            raise _no_value(name, missing[0], cells, source)
        chosen = np.array([*(key in values for key in there), False])
        keep &= chosen[encoded.indices.fill_null(len(there)).to_numpy()]
    if not keep.any():
        raise CurvewiseError(
            f"No run of {source} has all of {dict(where)}. Ask for less at once."
        )
    return keep


def chosen_trials(trials: Trials, where: Where, source: str) -> Trials:
    """Return the trials whose task, algorithm, number, status, label or param is so."""
    must_be_where(where)
    names: dict[str, Any] = {
        "task": (trials.tasks, trials.core.task),
        "algorithm": (trials.algorithms, trials.core.algorithm),
        "status": (STATUSES, trials.core.status),
    }
    columns: dict[str, pa.Array] = {
        name: pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int32()), list(texts)
        ).cast(pa.string())
        for name, (texts, codes) in names.items()
    }
    columns["number"] = pa.array(trials.core.number)
    if not set(where) <= set(columns):
        for kind in ("labels", "params"):
            texts = to_texts(getattr(trials.details(), kind))
            dicts = {text: json.loads(text) if text else {} for text in set(texts)}
            for name in dict.fromkeys(n for one in dicts.values() for n in one):
                if name in where and name not in columns:
                    columns[name] = array_of([dicts[text].get(name) for text in texts])
    keep = chosen_rows(pa.table(columns), where, source)
    return trials.take(np.flatnonzero(keep))


def column_of(name: str, columns: Iterable[str]) -> str:
    """Return the column of a name, which may leave out where the tool keeps it.

    >>> column_of("model", ["run", "params.model"])
    'params.model'
    """
    names = list(columns)
    if name in names:
        return name
    folded = name.casefold()
    ends = [c for c in names if c.casefold() == folded]
    ends = ends or [
        c for c in names if c.casefold().endswith((f".{folded}", f"/{folded}"))
    ]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise CurvewiseError(
            f"'{name}' may be {listed(ends)}. Write it in full.",
        )
    raise unknown("column or label", name, names)


def _key(value: Any, *, is_text: bool) -> str:
    """Return what is compared: of numbers, 3, 3.0 and "3" are one; a text 1e1 is not 10."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).casefold()
    text = str(value).strip()
    if text.casefold() in ("true", "false"):
        return text.casefold()
    plain = _WHOLE.fullmatch(text)
    if plain is not None:
        return plain[1]
    if is_text or not isinstance(value, str) or "_" in text:
        return text
    try:
        return str(float(text)).removesuffix(".0")
    except ValueError:
        return text


_WHOLE = re.compile(r"\+?(-?(?:0|[1-9]\d*))(?:\.0+)?")


def _no_value(name: str, entry: object, cells: pa.Array, source: str) -> CurvewiseError:
    there = [v for v in cells.unique().to_pylist() if v is not None]
    problem = unknown(f"'{name}' of {source}:", entry, there)
    return CurvewiseError(
        problem.text, fixes=[{"where": {name: value}} for value in there[:3]]
    )


# --- Curves in one table, labels in another --------------------------------------------


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
            cells = curves.column(c)
            columns[c] = pa.chunked_array(
                [*cells.chunks, *_told(runs, c, without, cells)]
            )
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
    runs: pa.Table, column: str, rows: NDArray[np.int64], cells: pa.ChunkedArray
) -> list[pa.Array]:
    """Return what the table of runs says in a column that both have, else nothing."""
    missing = [pa.nulls(len(rows), cells.type)]
    if column not in runs.column_names:
        return missing
    try:
        chunks: list[pa.Array] = (
            runs.column(column).take(pa.array(rows)).cast(cells.type).chunks
        )
    except pa.ArrowException:
        return missing
    return chunks
