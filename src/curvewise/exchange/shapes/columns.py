"""One column for all metrics, or one for each algorithm or task."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, Phrase, listed, unknown
from curvewise.exchange.grouping import floats, is_number
from curvewise.exchange.shapes.base import (
    Groups,
    Shaped,
    columns_of_runs,
    counts_rows,
    distinct_values,
    free_columns,
    indistinct,
    keys_of,
    new_name,
    numeric_columns,
    role_columns,
    score_columns,
    text_columns,
)
from curvewise.exchange.shapes.cells import count_of
from curvewise.metrics import find
from curvewise.trials import names

_SURELY_METRIC = (
    *("metric", "metric_name", "metrics", "measure", "score_name", "metric_type"),
    *("scorer",),
)


def melted(shaped: Shaped, name: str) -> Shaped | None:
    """One row per run, step and metric becomes one row per run and step."""
    table, stated = shaped.table, shaped.stated
    given = role_columns(stated)
    found_in = _name_and_value(shaped)
    if found_in is None:
        return None
    column, value = found_in
    kinds = distinct_values(table, column)
    surely = bool(names.every(_SURELY_METRIC, [column]))
    if not surely and not any(find(str(kind)) for kind in kinds):
        return None
    keys = keys_of(table, (column, value))
    groups = Groups.by(table, keys)
    others = [
        c
        for c in numeric_columns(table, free_columns(shaped))
        if c != value and find(c)
    ]
    if others and len(groups.first) == table.num_rows:
        return None  # every run has one metric and other scores: it is a label
    if value in (score_columns(stated) or ()) or column in given:
        if len(kinds) < 2:
            return None
        raise CurvewiseError(
            f"Column '{column}' of {name} names {len(kinds)} metrics "
            f"({listed(kinds, most=4)}), and '{value}' holds the scores of all of them: "
            f"read as one metric they would be pooled. Choose one.",
            fixes=[{"where": {column: kind}} for kind in kinds[:4]],
        )
    if len(kinds) == 1:
        plain = table.drop_columns([column])
        place = plain.column_names.index(value)
        renamed = plain.rename_columns(
            [
                str(kinds[0]) if i == place else c
                for i, c in enumerate(plain.column_names)
            ]
        )
        return replace(
            shaped, table=renamed, remarks=_told(shaped, column, value, kinds)
        )
    encoded = (
        table.column(column).cast(pa.string()).combine_chunks().dictionary_encode()
    )
    if encoded.null_count:
        raise CurvewiseError(
            f"Column '{column}' of {name} is empty in {encoded.null_count} rows. It names "
            f"the metric of each row: fill it in."
        )
    kind_of = encoded.indices.to_numpy()
    found = [str(kind) for kind in encoded.dictionary.to_pylist()]
    cell = groups.of_row * len(found) + kind_of
    if len(np.unique(cell)) < len(cell):
        row = int(np.argmax(np.bincount(cell)[cell] > 1))
        raise indistinct(table, [*keys, column], row, name)
    plain = groups.table(table, keys)
    scores = floats(table, value)
    empty = table.column(value).is_null().to_numpy()
    for i, kind in enumerate(found):
        wide = np.full(len(groups.first), np.nan)
        known = np.zeros(len(groups.first), bool)
        rows = (kind_of == i) & ~empty
        wide[groups.of_row[rows]], known[groups.of_row[rows]] = scores[rows], True
        plain = plain.append_column(new_name(plain, kind), pa.array(wide, mask=~known))
    stated = shaped.stated
    if (
        stated.get("metrics") is None
    ):  # whatever their names: the table says what they are
        stated = stated | {"metrics": [*plain.column_names[len(keys) :], *others]}
    remarks = _told(shaped, column, value, found)
    return replace(shaped, table=plain, stated=stated, remarks=remarks)


def _name_and_value(shaped: Shaped) -> tuple[str, str] | None:
    """Return the column that names metrics and the one that holds them, by their names.

    Unusual ones are taken where the words are metrics that we know.
    """
    table, given = shaped.table, role_columns(shaped.stated)
    texts = text_columns(table, table.column_names)
    free = [c for c in texts if c not in given]
    column = names.first(names.METRIC, free)
    trial = shaped.stated.get("trial")
    if column is None and not isinstance(trial, str | None):
        column = names.first(_SURELY_METRIC, [c for c in texts if c in trial])
    values = names.every(names.VALUE, numeric_columns(table, table.column_names))
    values = [c for c in values if c not in given]
    if column is None or not values:
        column = column or _of_known_metrics(table, free)
        if column is not None and _names_metrics(table, column):
            values = values or _only_value(shaped)
    return None if column is None or not values else (column, values[0])


def _of_known_metrics(table: pa.Table, texts: Sequence[str]) -> str | None:
    """Return a column without a usual name whose words are metrics."""
    usual = [c for c in texts if c in names.every(names.PERHAPS_METRIC, texts)]
    return next((c for c in usual if _names_metrics(table, c)), None)


def _names_metrics(table: pa.Table, column: str) -> bool:
    """Return whether two words of a column are known metrics, and half of them all."""
    kinds = distinct_values(table, column)
    known = [kind for kind in kinds if find(str(kind))]
    return len(known) >= 2 and 2 * len(known) >= len(kinds)


def _only_value(shaped: Shaped) -> list[str]:
    """Return the one column of numbers that may be scores of any metric, if it is one."""
    table = shaped.table
    free = numeric_columns(table, free_columns(shaped))
    usual = names.every((*names.TRIAL, *names.STEP), free)
    rest = [
        c
        for c in free
        if c not in usual and not names.is_param(c) and not counts_rows(table, c)
    ]
    return rest if len(rest) == 1 and not find(rest[0]) else []


def _told(
    shaped: Shaped, column: str, value: str, kinds: Sequence[str]
) -> tuple[str, ...]:
    text = (
        f"'{column}' names the metric of each row ({listed(kinds, most=4)}), '{value}' "
    )
    return (*shaped.remarks, text + "holds it.")


def wide(shaped: Shaped, name: str) -> Shaped | None:
    """Columns that are algorithms, tasks or runs become rows; asked about if not stated."""
    for role in ("algorithm", "task"):
        columns = shaped.stated.get(role)
        if columns is not None and not isinstance(columns, str):
            return _unpivoted(shaped, role, list(columns))
    trial, step = shaped.stated.get("trial"), shaped.stated.get("step")
    if trial is None and (runs := _surely_runs(shaped)):
        told = f"{listed(runs, most=3)} are runs, each with its scores in a column."
        shaped = replace(shaped, remarks=(*shaped.remarks, told))
        return _unpivoted(shaped, "trial", runs)
    if trial and not isinstance(trial, str) and _are_runs(shaped.table, list(trial)):
        return _unpivoted(shaped, "trial", list(trial))
    if step and not isinstance(step, str):
        return _unpivoted(shaped, "step", list(step))
    _ask_about_steps(shaped, name)
    _ask_about_runs(shaped, name)
    _ask_about_wide(shaped, name)
    return None


def _unpivoted(shaped: Shaped, role: str, columns: list[str]) -> Shaped:
    table, stated = shaped.table, dict(shaped.stated)
    for column in columns:
        if column not in table.column_names:
            raise unknown("column", column, table.column_names)
        if not is_number(table, column):
            raise CurvewiseError(
                f"Column '{column}' is named as one of the {role}s, and holds no numbers. "
                f"Name columns of scores, one for each {role}."
            )
    shared, bare = _shared_noun(columns)
    called = dict(zip(columns, bare, strict=True))
    scores = score_columns(stated) or [shared or "score"]
    if len(scores) > 1:
        raise CurvewiseError(
            f"{role} names {len(columns)} columns of scores, which are of one metric, and "
            f"metrics names {len(scores)}. Name one."
        )
    score = scores[0]
    rest = [c for c in table.column_names if c not in columns]
    if clash := {score, role} & set(rest):
        raise CurvewiseError(
            f"The table has a column '{min(clash)}' already. Rename it: the {role}s of "
            f"the columns go under '{role}', their scores under '{score}'."
        )
    parts = []
    for column in columns:
        part = table.select(rest)
        told: Any = _step_in(column) if role == "step" else called[column]
        part = part.append_column(role, pa.array([told] * table.num_rows))
        values = table.column(column).cast(pa.float64(), safe=False)
        parts.append(part.append_column(score, values))
    stated[role] = role
    if stated.get("metrics") is None:
        stated["metrics"] = [score]
    return replace(shaped, table=pa.concat_tables(parts), stated=stated)


def _shared_noun(columns: Sequence[str]) -> tuple[str, list[str]]:
    """Return the metric that all names of columns hold, and what is left of each.

    >>> _shared_noun(["acc_ppo", "acc_sac"])
    ('acc', ['ppo', 'sac'])
    """
    parts = [re.split(r"[\W_]+", column) for column in columns]
    for cut, kept in ((slice(0, 1), slice(1, None)), (slice(-1, None), slice(0, -1))):
        shared = {tuple(own[cut]) for own in parts}
        rest = ["_".join(own[kept]) for own in parts]
        noun = "_".join(next(iter(shared)))
        if len(shared) == 1 and find(noun) and all(rest) and len({*rest}) == len(rest):
            return noun, rest
    return "", list(columns)


_STEP_COLUMN = re.compile(r"(?P<stem>.*?)[ _.@=-]*(?P<n>\d+(?:\.\d+)?[kKM]?)")


def _step_in(column: str) -> float:
    """Return the step or size that the name of a column ends with."""
    match = _STEP_COLUMN.fullmatch(column.strip())
    step = None if match is None else count_of(match["n"])
    if step is None:
        raise CurvewiseError(
            f"Column '{column}' is named as one of the steps, and does not end with "
            "a number, as epoch_10 and ",
            Phrase("n=100"),
            " do.",
        )
    return step


def _ask_about_steps(shaped: Shaped, name: str) -> None:
    """Raise for columns such as epoch_1, epoch_2, epoch_3, or n=100, n=200, n=400."""
    table = shaped.table
    if score_columns(shaped.stated) is not None or shaped.stated.get("known"):
        return
    by_stem: dict[str, list[str]] = {}
    for column in numeric_columns(table, free_columns(shaped)):
        match = _STEP_COLUMN.fullmatch(column)
        stem = "" if match is None else match["stem"].strip(" _.@=-")
        if match and (not stem or names.every(names.STEP, [stem])):
            by_stem.setdefault(stem, []).append(column)
    for found in by_stem.values():
        steps = [_step_in(c) for c in found]
        if (
            len(found) > 2
            and steps == sorted(set(steps))
            and not columns_of_runs(table, found)
        ):
            raise CurvewiseError(
                f"Are {listed(found, most=4)} of {name} the steps or sizes of curves, each "
                f"with its scores in a column of its own, or metrics?",
                fixes=[{"step": found}, {"metrics": found}],
            )


def _ask_about_wide(shaped: Shaped, name: str) -> None:
    table, stated = shaped.table, shaped.stated
    if score_columns(stated) is not None or stated.get("known"):
        return
    columns = table.column_names
    algorithm = stated.get("algorithm") or names.first(names.ALGORITHM, columns)
    task = stated.get("task") or names.first(names.TASK, columns)
    if algorithm and task:
        return
    usual = {
        *names.every(
            (*names.TRIAL, *names.STEP, *names.STATUS, *names.FIELDS), columns
        ),
        *names.every((*names.ENDED_BADLY, *names.ENDED_WELL), columns),
        *(c for c in columns if counts_rows(table, c)),
    }
    free = [c for c in numeric_columns(table, free_columns(shaped)) if c not in usual]
    if any(names.is_score(c) or c.startswith(("count.", "label.")) for c in free):
        return
    by_name = {c.casefold() for c in free}
    if {"tp", "fp", "fn", "tn"} <= by_name:
        return
    plain = _alike(table, [c for c in free if not names.is_param(c)])
    scores = _with_names_of_params(table, plain, free)
    if len(scores) < 2:
        return
    role = "task" if algorithm else "algorithm"
    raise CurvewiseError(
        f"Are {listed(scores, most=4)} of {name} {role}s, each with its scores in a column "
        f"of its own, or metrics? No name says so.",
        fixes=[{role: scores}, {"metrics": scores}]
        + ([{"metrics": plain}] if plain and plain != scores else []),
    )


_SUMS = ("mean", "avg", "average", "std", "stdev", "sd", "median")


def _alike(table: pa.Table, columns: Sequence[str]) -> list[str]:
    """Return the columns of numbers that vary; whole ones where they are like others."""
    varying = [
        c
        for c in columns
        if not pa.types.is_boolean(table.schema.field(c).type)
        and len(table.column(c).unique()) > 1
        and c.casefold() not in _SUMS
    ]
    floats = [c for c in varying if pa.types.is_floating(table.schema.field(c).type)]
    if not floats:
        return varying
    return [c for c in varying if c in floats or _overlaps(table, c, floats)]


def _with_names_of_params(
    table: pa.Table, plain: list[str], free: Sequence[str]
) -> list[str]:
    """Return columns of scores, and those that are only called like a hyperparameter.

    Scores hardly ever repeat, and lie where the others do.
    """
    others = [
        c
        for c in _alike(table, [c for c in free if c not in plain])
        if not names.has_param_prefix(c)
        and len(table.column(c).unique()) == table.num_rows
    ]
    like = [c for c in others if _overlaps(table, c, plain or others)]
    return [c for c in free if c in plain or c in like]


def _overlaps(table: pa.Table, column: str, others: Sequence[str]) -> bool:
    """Return whether the values of a column lie where those of other columns lie."""
    values, *rest = (floats(table, c) for c in (column, *others))
    values, known = (v[~np.isnan(v)] for v in (values, np.concatenate(rest)))
    if not len(values) or not len(known):
        return False
    return bool(values.min() <= known.max() and known.min() <= values.max())


def _are_runs(table: pa.Table, columns: list[str]) -> bool:
    """Return whether columns hold the scores of one run each, by their names."""
    there = [c for c in columns if c in table.column_names]
    return len(columns) > 1 and columns_of_runs(table, there) == columns


def _surely_runs(shaped: Shaped) -> list[str]:
    """Return columns such as seed_0 and seed_1: what is called a seed is no metric."""
    table = shaped.table
    if score_columns(shaped.stated) is not None or shaped.stated.get("known"):
        return []
    found = columns_of_runs(table, free_columns(shaped))
    is_named = all(re.match(r"(?i)seed|fold|rep|cv", column) for column in found)
    return found if is_named else []


def _ask_about_runs(shaped: Shaped, name: str) -> None:
    """Raise for columns such as seed_0 and seed_1: a run each, or a metric."""
    table, scores = shaped.table, score_columns(shaped.stated)
    found = columns_of_runs(table, free_columns(shaped))
    if (
        not found
        or shaped.stated.get("known")
        or set(scores or ()) & {*table.column_names}
    ):
        return
    raise CurvewiseError(
        f"Are {listed(found, most=4)} of {name} runs, each with its scores in a column of "
        f"its own, or metrics?",
        fixes=[{"trial": found}, {"metrics": found}],
    )
