"""What a run is: rows of one table that belong together, and rows that must not."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.exchange.grouping import (
    columns_varying,
    floats,
    group_codes,
    is_number,
    row_of,
    rows_per_run,
)
from curvewise.exchange.shapes.joint import SIGN
from curvewise.trials import names
from curvewise.trials.columns import Ints


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
    own = group_codes(table, [column])
    order = np.lexsort((own, code))
    differs = (np.diff(code[order]) == 0) & (np.diff(own[order]) != 0)
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
    usable = [c for c in columns if len(table.column(c).unique()) > 1]
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
    said = all(pa.types.is_string(k) or pa.types.is_boolean(k) for k in kinds)
    who = [algorithm] if algorithm is not None else []
    arms = [{"algorithm": SIGN.join((*who, *columns))}] if said else []
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
    own: list[dict[str, Any]] = []
    kind = table.schema.field(column).type
    is_count = is_number(table, column) and not pa.types.is_boolean(kind)
    if names.words_of(column) & _NO_STEPS:
        own = [{"algorithm": column}] if algorithm is None else []
    elif names.is_param(column):
        own = [{"algorithm": column}] if algorithm is None else []
        if names.words_of(column) & names.PERHAPS_CONDITION:
            own.append({"task": f"{task}{SIGN}{column}" if task else column})
    elif is_count and step is None and not names.every(names.TRIAL, [column]):
        own = [{"step": column}]
    elif not is_count and not names.every(names.TRIAL, [column]):
        own = _as_names(table, task, algorithm, column)
    of_runs = not is_count or not pa.types.is_floating(kind) or names.is_param(column)
    return [*own, as_trial] if of_runs else own


def _as_names(
    table: pa.Table, task: str | None, algorithm: str | None, column: str
) -> list[dict[str, Any]]:
    """Return how a column may name algorithms or tasks, by itself or with the known one."""
    fixes: list[dict[str, Any]] = []
    for role, known, usual in (
        ("algorithm", algorithm, names.ALGORITHM),
        ("task", task, names.TASK),
    ):
        is_one = known is None or len(table.column(known).unique()) == 1
        is_usual = bool(names.every(usual, [column]))
        if known is None or is_one:
            fixes.append({role: column})
        else:  # of both together there are several
            fix = {role: f"{known}{SIGN}{column}"}
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


def refuse_restarts(
    table: pa.Table, keys: Sequence[str], trials: Sequence[str], step: str
) -> None:
    """Raise where steps begin again within a run: two runs that share their names.

    Rows in any order are no such sign: then steps go down about as often as up.
    """
    code, steps = group_codes(table, keys), floats(table, step)
    order = np.argsort(code, kind="stable")
    code, steps = code[order], steps[order]
    same = np.diff(code) == 0
    down = same & (np.diff(steps) < 0)
    if not down.any():
        return
    groups, place = np.unique(code, return_inverse=True)
    lengths = np.bincount(place)
    falls = np.bincount(place[1:][down], minlength=len(groups))
    fell = falls > 0
    # Stretches that only rise have about two rows where rows are in any order.
    stretch = lengths[fell].sum() / (falls[fell] + 1).sum()
    backward = falls == lengths - 1
    if backward[fell].all() and (lengths[fell] > 2).all():
        return  # newest first
    few = fell.sum() < (lengths > 2).sum() / 2
    if not trials and not _share_steps(place, steps):
        raise CurvewiseError(
            f"Column '{step}' does not rise from row to row, and algorithms share no "
            f"steps. Does it count the steps of one run, or say how far each run went?",
            fixes=[{"step": step}, {"trial": step}],
        )
    if stretch < 3 and not few:
        return
    row = int(order[1:][down][0])
    raise CurvewiseError(
        f"Column '{step}' begins again within {int(fell.sum())} of {len(groups)} runs, "
        f"first in {shortened(row_of(table, [*keys, step], row), 160)}: two runs may share "
        f"their names. Add a column that tells them apart; if they are one run each, name "
        f"what tells runs apart.",
        fixes=[{"trial": list(trials)}] if trials else [],
    )


def _share_steps(place: Ints, steps: Any) -> bool:
    """Return whether all groups of rows have the same steps."""
    sets = {tuple(np.sort(steps[place == one]).tolist()) for one in np.unique(place)}
    return len(sets) == 1
