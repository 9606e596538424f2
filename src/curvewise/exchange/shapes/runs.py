"""Whether rows are runs, steps or means of runs."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.exchange.grouping import floats, group_codes, nulls, rows_per_run
from curvewise.exchange.shapes.base import (
    Shaped,
    columns_of_runs,
    counts_rows,
    distinct_values,
    free_columns,
    is_whole,
    numeric_columns,
    score_columns,
    text_columns,
)
from curvewise.trials import names

_SPREAD = frozenset(
    ("std", "sd", "stdev", "stddev", "stderr", "sem", "se", "ci", "ci95", "stds")
)
# With one of these beside it a spread is one end of an interval: ci_low, ci95_upper.
_ENDS = frozenset(("low", "lower", "high", "upper", "lo", "hi", "95", "max", "min"))
_MANY = frozenset(("n_seeds", "n_runs", "num_seeds", "num_runs", "n_trials", "n_reps"))
_CENTRE = frozenset(["mean", "avg", "average", "means"])
_PLUS_MINUS = re.compile(
    r"\s*-?[\d.,]+\s*%?\s*(±|\+-|\+/-|\\pm|\()\s*[\d.,]+\s*%?\)?\s*"
)


def summaries(shaped: Shaped, name: str) -> Shaped | None:
    """Refuse a table of means and standard deviations: the runs are gone."""
    table = shaped.table
    if score_columns(shaped.stated) is not None:
        return None
    if columns_of_runs(table, table.column_names):
        return None  # the runs are there, beside their mean
    for column in text_columns(table, free_columns(shaped)):
        some = distinct_values(table.slice(0, 100), column)
        if not some or not all(_PLUS_MINUS.fullmatch(str(cell)) for cell in some):
            continue
        cells = distinct_values(table, column)
        if all(_PLUS_MINUS.fullmatch(str(cell)) for cell in cells):
            raise _no_runs(name, f"'{column}' holds {shortened(cells[0])}")
    numeric = numeric_columns(table, table.column_names)
    stems = {c: _stem(c) for c in numeric}
    spreads = {stem: c for c, (stem, kind) in stems.items() if kind == "spread"}
    centres = {stem: c for c, (stem, kind) in stems.items() if kind == "centre"}
    plain = {stem: c for c, (stem, kind) in stems.items() if kind == ""}
    pairs = [(c, spreads[s]) for s, c in (plain | centres).items() if s in spreads]
    beside = [c for c in table.column_names if _is_spread(table, c)]
    beside += [c for ends in _BOTH_ENDS for c in _both(ends, numeric)]
    if beside:
        usual = {*names.every((*names.TRIAL, *names.STEP), numeric), *beside}
        scores = [c for c in numeric if c not in usual and not names.is_param(c)]
        pairs += [(score, beside[0]) for score in scores]
    if not pairs:
        return None
    others = [c for c in table.column_names if c not in numeric or c not in stems]
    identity = [*text_columns(table, others), *names.every(names.STEP, numeric)]
    identity += [c for c in numeric if names.is_param(c)]
    runs = [c for c in names.every(names.TRIAL, table.column_names) if c != "name"]
    runs = [c for c in runs if len(table.column(c).unique()) > 1]
    if runs or shaped.stated.get("trial") or rows_per_run(table, identity) > 1:
        return None  # statistics within a run, beside what tells the runs apart
    algorithm = names.first(names.ALGORITHM, table.column_names)
    if algorithm is None and names.every(names.STEP, numeric):
        return None  # the log of one run
    raise _no_runs(name, f"'{pairs[0][0]}' and '{pairs[0][1]}', one row for each")


_BOTH_ENDS = (("lower", "upper"), ("low", "high"), ("lo", "hi"), ("p05", "p95"))


def _both(ends: Sequence[str], columns: Sequence[str]) -> list[str]:
    found = [c for c in columns if c.casefold() in ends]
    return found if len(found) == len(ends) else []


def _is_spread(table: pa.Table, column: str) -> bool:
    """Return whether a column only says how far runs lie apart, or how many there were."""
    folded = re.sub(r"[\s-]+", "_", column.casefold())
    if folded in _MANY:
        return (
            is_whole(table, column)
            and max(distinct_values(table, column), default=0) > 1
        )
    tokens = {t for t in re.split(r"[\W_]+", folded) if t}
    return folded in ("+/_", "+/-", "+_", "±") or bool(
        tokens & _SPREAD and tokens <= _SPREAD | _ENDS
    )


def _stem(column: str) -> tuple[str, str]:
    """Return a name without mean or std in it, and which of them it had."""
    tokens = [t for t in re.split(r"[\W_]+", column.casefold()) if t]
    for kind, words in (("spread", _SPREAD), ("centre", _CENTRE)):
        if words & set(tokens):
            return " ".join(t for t in tokens if t not in words), kind
    return " ".join(tokens), ""


def _no_runs(name: str, what: str) -> CurvewiseError:
    return CurvewiseError(
        f"{name} holds means and spreads ({what}), not runs. What a comparison "
        "needs cannot be got back from them: find the scores of the single runs, "
        "one row each; if every row is a run, name its scores with ",
        {"metrics": ...},
        ".",
    )


# What rows are called that sum up the others; "all" is a task, but no run.
_SUMMARY = frozenset(
    (
        *("mean", "avg", "average", "std", "sd", "stdev", "stddev", "median", "total"),
        *("overall", "sum", "summary", "mean_std", "macro_avg", "macro_average"),
        *(
            "weighted_avg",
            "weighted_average",
            "micro_avg",
            "micro_average",
            "aggregate",
        ),
    )
)
# Of runs that are numbered, these are chosen, or made of the others.
_CHOSEN = frozenset(("all", "best", "worst", "max", "min", "ensemble", "ens", "final"))


def summary_rows(shaped: Shaped, name: str) -> Shaped | None:
    """Ask about rows that sum up the others: a run called mean, a task called Average."""
    table, stated = shaped.table, shaped.stated
    texts = text_columns(table, table.column_names)
    trial = stated.get("trial")
    runs = (
        [trial] if isinstance(trial, str) else trial or names.every(names.TRIAL, texts)
    )
    task = stated.get("task") or names.first(names.TASK, texts)
    algorithm = stated.get("algorithm") or names.first(names.ALGORITHM, texts)
    _refuse_blank_runs(table, name, trial, [c for c in (task, algorithm) if c])
    for column in (*runs, task, algorithm):
        if column not in texts:
            continue
        values = [str(v) for v in distinct_values(table, column)]
        words = (
            _SUMMARY | {"all"} if column in (task, algorithm) else _SUMMARY | _CHOSEN
        )
        sums = [v for v in values if _folded(v) in words]
        others = [v for v in values if v not in sums]
        if not sums or not others:
            continue
        who = (task, algorithm)
        if column not in who and not any(any(map(str.isdigit, v)) for v in others):
            continue  # runs with names of their own
        if column == algorithm and len(others) < 2:
            continue
        if column in who and not _sum_up(table, column, sums):
            continue  # they are only called so
        raise CurvewiseError(
            f"Column '{column}' of {name} holds {listed(sums)} beside "
            f"{listed(others, most=3)}: rows that sum up others are no runs. Leave them "
            f"out.",
            fixes=[{"where": {column: others}}],
        )
    return None


def _sum_up(table: pa.Table, column: str, sums: Sequence[str]) -> bool:
    """Return whether rows hold the mean, the sum or an end of the others beside them.

    Where nothing stands beside them, their name is all there is to go by.
    """
    usual = (*names.ALGORITHM, *names.TASK, *names.TRIAL, *names.STEP)
    keys = [c for c in names.every(usual, table.column_names) if c != column]
    code = group_codes(table, keys)
    is_sum = np.isin(table.column(column).to_numpy(zero_copy_only=False), list(sums))
    compared = agreed = 0
    for score in numeric_columns(table, table.column_names):
        if score in keys or not names.is_score(score):
            continue
        values = floats(table, score)
        for row in np.flatnonzero(is_sum).tolist():
            own = values[(code == code[row]) & ~is_sum]
            own = own[~np.isnan(own)]
            if len(own) < 2 or np.isnan(values[row]):
                continue
            told = (
                own.mean(),
                np.median(own),
                own.sum(),
                own.max(),
                own.min(),
                own.std(),
            )
            near = 0.006 * max(1.0, np.abs(own).max())
            compared += 1
            agreed += any(abs(values[row] - one) < near for one in told)
            if compared > 200:
                break
    return 2 * agreed >= compared


def _refuse_blank_runs(
    table: pa.Table, name: str, trial: object, who: Sequence[str]
) -> None:
    """Raise for rows without a seed beside rows of the same algorithm that have one."""
    if trial is not None:
        return
    column = names.first(names.TRIAL, table.column_names)
    who = [c for c in who if c in table.column_names]
    if column is None or not (blank := nulls(table, column)).any() or blank.all():
        return
    code = group_codes(table, who)
    mixed = np.intersect1d(code[blank], code[~blank])
    values = distinct_values(table, column)
    if not len(mixed) or len(values) > 50:
        return
    raise CurvewiseError(
        f"Column '{column}' of {name} is empty in {int(blank.sum())} rows, and other rows "
        f"of the same algorithm have a value. Are these sums of the others, or runs? Fill "
        f"it in, or leave them out.",
        fixes=[{"where": {column: values}}],
    )


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "_", text.casefold()).strip("_")


def rows(shaped: Shaped, name: str) -> Shaped | None:
    """Ask, or see, whether rows that nothing tells apart are steps of one run."""
    table, stated = shaped.table, shaped.stated
    who = [
        column
        for role, usual in (("task", names.TASK), ("algorithm", names.ALGORITHM))
        if (column := stated.get(role) or names.first(usual, table.column_names))
    ]
    if stated.get("step") == "row" and "row" not in table.column_names:
        trial = stated.get("trial")
        if trial is None:
            trial = names.every(names.TRIAL, table.column_names)
        keys = [*who, *([trial] if isinstance(trial, str) else trial)]
        code = group_codes(table, keys)
        order = np.argsort(code, kind="stable")
        begin = np.searchsorted(code[order], code[order])
        count = np.empty(len(code), np.int64)
        count[order] = np.arange(len(code)) - begin
        return replace(shaped, table=table.append_column("row", pa.array(count)))
    if stated.get("trial") is not None or stated.get("step") is not None:
        return None
    usual = names.every((*names.TRIAL, *names.STEP), table.column_names)
    if (
        usual
        or table.num_rows < 2
        or any(c.startswith("count.") for c in table.column_names)
    ):
        return None
    numeric = numeric_columns(table, table.column_names)
    index = [c for c in numeric if _is_index(table, c, who)]
    fixes: list[dict[str, Any]] = [{"step": "row"}, {"trial": []}]
    if index and rows_per_run(table, who) > 2:
        column = index[0]
        raise CurvewiseError(
            f"'{column}' counts the rows of {name}, and no column has a usual name for a "
            f"run or a step. Is it the step of one run, or the number of a run?",
            fixes=[{"step": column}, {"trial": column}],
        )
    scores = [c for c in numeric if names.is_score(c)]
    others = [
        c
        for c in table.column_names
        if c not in scores and not counts_rows(table, c)
        and len(table.column(c).unique()) > 1
    ]  # fmt: skip
    if not others and scores:
        if _is_history(scores):
            remark = "its rows are the steps of one run, as Keras keeps a history."
            counted = replace(shaped, stated=stated | {"step": "row", "trial": []})
            counted = rows(counted, name) or counted
            told = counted.stated | {"trial": None}
            return replace(counted, stated=told, remarks=(*shaped.remarks, remark))
        raise CurvewiseError(
            f"{name} has {table.num_rows} rows and nothing but scores "
            f"({listed(scores, most=3)}). Are its rows the steps of one run, or runs?",
            fixes=fixes,
        )
    if not [c for c in others if c not in who] and _goes_one_way(table, who, scores):
        raise CurvewiseError(
            f"The scores of {name} only rise or only fall from row to row, as those of "
            f"one run do, and no column tells runs apart. Are rows steps, or runs?",
            fixes=fixes,
        )
    return None


def _is_history(scores: Sequence[str]) -> bool:
    """Return whether metrics come with their values on validation data, and a loss."""
    folded = {c.casefold() for c in scores}
    return "loss" in folded and any(f"val_{c}" in folded for c in folded)


def _is_index(table: pa.Table, column: str, who: Sequence[str]) -> bool:
    """Return whether a column counts the rows of each algorithm on each task."""
    if counts_rows(table, column) or not is_whole(table, column):
        return False
    if names.is_score(column) or names.is_param(column):
        return False
    values = floats(table, column)
    if np.isnan(values).any():
        return False
    code = group_codes(table, who)
    order = np.argsort(code, kind="stable")
    same = np.diff(code[order]) == 0
    steps = np.diff(values[order])[same]
    return bool(len(steps) > 1 and steps[0] > 0 and (steps == steps[0]).all())


def _goes_one_way(table: pa.Table, who: Sequence[str], scores: Sequence[str]) -> bool:
    """Return whether a score only rises, or only falls, in six rows of a group or more.

    Runs do so by chance in 2 of 720 groups of six.
    """
    code = group_codes(table, who)
    order = np.argsort(code, kind="stable")
    code = code[order]
    starts = np.flatnonzero(np.diff(code, prepend=-1))
    for column in scores:
        values = floats(table, column)[order]
        ways = [
            np.diff(part)
            for part in np.split(values, starts[1:])
            if len(part) >= 6 and not np.isnan(part).any()
        ]
        if ways and all((w > 0).all() or (w < 0).all() for w in ways):
            return True
    return False
