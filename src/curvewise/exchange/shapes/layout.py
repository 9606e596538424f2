"""What rows and columns are: runs, steps, means of runs; metrics, algorithms or tasks."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, Phrase, listed, shortened, unknown
from curvewise.exchange.rows import (
    floats,
    group_codes,
    is_number,
    nulls,
    rows_per_run,
    varies,
)
from curvewise.exchange.shapes import (
    Groups,
    Shaped,
    columns_of_runs,
    count_of,
    counts_rows,
    distinct_values,
    indistinct,
    is_whole,
    keys_of,
    new_name,
    numeric_columns,
    text_columns,
)
from curvewise.metrics import find
from curvewise.trials import names

_SURELY_METRIC = tuple(
    "metric metric_name metrics measure score_name metric_type scorer".split()
)


def melted(shaped: Shaped, name: str) -> Shaped | None:
    """One row per run, step and metric becomes one row per run and step."""
    table, stated = shaped.table, shaped.stated
    role_columns = shaped.role_columns
    name_and_value = _name_and_value(shaped)
    if name_and_value is None:
        return None
    column, value = name_and_value
    kinds = distinct_values(table, column)
    surely = bool(names.every(_SURELY_METRIC, [column]))
    if not surely and not any(find(str(kind)) for kind in kinds):
        return None
    keys = keys_of(table, (column, value))
    groups = Groups.by(table, keys)
    others = [
        c for c in numeric_columns(table, shaped.free_columns) if c != value and find(c)
    ]
    if others and len(groups.first) == table.num_rows:
        return None  # every run has one metric and other scores: it is a label
    if value in (shaped.score_columns or ()) or column in role_columns:
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
        return shaped.told(_as_metrics(column, value, kinds), table=renamed)
    encoded = (
        table.column(column).cast(pa.string()).combine_chunks().dictionary_encode()
    )
    if encoded.null_count:
        raise CurvewiseError(
            f"Column '{column}' of {name} is empty in {encoded.null_count} rows. It names "
            f"the metric of each row: fill it in."
        )
    kind_of = encoded.indices.to_numpy()
    metrics = [str(kind) for kind in encoded.dictionary.to_pylist()]
    cell = groups.of_row * len(metrics) + kind_of
    if len(np.unique(cell)) < len(cell):
        row = int(np.argmax(np.bincount(cell)[cell] > 1))
        raise indistinct(table, [*keys, column], row, name)
    plain = groups.table(table, keys)
    scores = floats(table, value)
    empty = table.column(value).is_null().to_numpy()
    for i, kind in enumerate(metrics):
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
    remark = _as_metrics(column, value, metrics)
    return shaped.told(remark, table=plain, stated=stated)


def _name_and_value(shaped: Shaped) -> tuple[str, str] | None:
    """Return the column that names metrics and the one that holds them, by their names.

    Unusual ones are taken where the words are metrics that we know.
    """
    table, role_columns = shaped.table, shaped.role_columns
    texts = text_columns(table, table.column_names)
    free = [c for c in texts if c not in role_columns]
    column = names.first(names.METRIC, free)
    trial = shaped.stated.get("trial")
    if column is None and not isinstance(trial, str | None):
        column = names.first(_SURELY_METRIC, [c for c in texts if c in trial])
    values = names.every(names.VALUE, numeric_columns(table, table.column_names))
    values = [c for c in values if c not in role_columns]
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
    metrics = [kind for kind in kinds if find(str(kind))]
    return len(metrics) >= 2 and 2 * len(metrics) >= len(kinds)


def _only_value(shaped: Shaped) -> list[str]:
    """Return the one column of numbers that may be scores of any metric, if it is one."""
    table = shaped.table
    free = numeric_columns(table, shaped.free_columns)
    usual = names.every((*names.TRIAL, *names.STEP), free)
    rest = [
        c
        for c in free
        if c not in usual and not names.is_param(c) and not counts_rows(table, c)
    ]
    return rest if len(rest) == 1 and not find(rest[0]) else []


def _as_metrics(column: str, value: str, kinds: Sequence[str]) -> str:
    some = listed(kinds, most=4)
    return f"'{column}' names the metric of each row ({some}), '{value}' holds it."


def wide(shaped: Shaped, name: str) -> Shaped | None:
    """Columns that are algorithms, tasks or runs become rows; asked about if not stated."""
    for role in ("algorithm", "task"):
        columns = shaped.stated.get(role)
        if columns is not None and not isinstance(columns, str):
            return _unpivoted(shaped, role, list(columns))
    trial, step = shaped.stated.get("trial"), shaped.stated.get("step")
    if trial is None and (runs := _surely_runs(shaped)):
        remark = f"{listed(runs, most=3)} are runs, each with its scores in a column."
        return _unpivoted(shaped.told(remark), "trial", runs)
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
    scores = shaped.score_columns or [shared or "score"]
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
        label: Any = _step_in(column) if role == "step" else called[column]
        part = part.append_column(role, pa.array([label] * table.num_rows))
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
    for cut, keep in ((slice(0, 1), slice(1, None)), (slice(-1, None), slice(0, -1))):
        shared = {tuple(words[cut]) for words in parts}
        rest = ["_".join(words[keep]) for words in parts]
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
    if shaped.score_columns is not None or shaped.stated.get("known"):
        return
    by_stem: dict[str, list[str]] = {}
    for column in numeric_columns(table, shaped.free_columns):
        match = _STEP_COLUMN.fullmatch(column)
        stem = "" if match is None else match["stem"].strip(" _.@=-")
        if match and (not stem or names.every(names.STEP, [stem])):
            by_stem.setdefault(stem, []).append(column)
    for group in by_stem.values():
        steps = [_step_in(c) for c in group]
        if (
            len(group) > 2
            and steps == sorted(set(steps))
            and not columns_of_runs(table, group)
        ):
            raise CurvewiseError(
                f"Are {listed(group, most=4)} of {name} the steps or sizes of curves, each "
                f"with its scores in a column of its own, or metrics?",
                fixes=[{"step": group}, {"metrics": group}],
            )


def _ask_about_wide(shaped: Shaped, name: str) -> None:
    table, stated = shaped.table, shaped.stated
    if shaped.score_columns is not None or stated.get("known"):
        return
    columns = table.column_names
    task, algorithm = shaped.who()
    if algorithm and task:
        return
    usual = {
        *names.every(
            (*names.TRIAL, *names.STEP, *names.STATUS, *names.FIELDS), columns
        ),
        *names.every((*names.ENDED_BADLY, *names.ENDED_WELL), columns),
        *(c for c in columns if counts_rows(table, c)),
    }
    free = [c for c in numeric_columns(table, shaped.free_columns) if c not in usual]
    if any(names.is_score(c) or c.startswith(("count.", "label.")) for c in free):
        return
    by_name = {c.casefold() for c in free}
    if {"tp", "fp", "fn", "tn"} <= by_name:
        return
    plain = _alike(table, [c for c in free if not names.is_param(c)])
    # Columns of scores, and those that are only called like a hyperparameter.
    others = [
        c
        for c in _alike(table, [c for c in free if c not in plain])
        if not names.has_param_prefix(c)
        and len(table.column(c).unique()) == table.num_rows
    ]
    like = [c for c in others if _overlaps(table, c, plain or others)]
    scores = [c for c in free if c in plain or c in like]
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
        and varies(table, c)
        and c.casefold() not in _SUMS
    ]
    floats = [c for c in varying if pa.types.is_floating(table.schema.field(c).type)]
    if not floats:
        return varying
    return [c for c in varying if c in floats or _overlaps(table, c, floats)]


def _overlaps(table: pa.Table, column: str, others: Sequence[str]) -> bool:
    """Return whether the values of a column lie where those of other columns lie."""
    values, *rest = (floats(table, c) for c in (column, *others))
    values, beside = (v[~np.isnan(v)] for v in (values, np.concatenate(rest)))
    if not len(values) or not len(beside):
        return False
    return bool(values.min() <= beside.max() and beside.min() <= values.max())


def _are_runs(table: pa.Table, columns: list[str]) -> bool:
    """Return whether columns hold the scores of one run each, by their names."""
    there = [c for c in columns if c in table.column_names]
    return len(columns) > 1 and columns_of_runs(table, there) == columns


def _surely_runs(shaped: Shaped) -> list[str]:
    """Return columns such as seed_0 and seed_1: what is called a seed is no metric."""
    table = shaped.table
    if shaped.score_columns is not None or shaped.stated.get("known"):
        return []
    runs = columns_of_runs(table, shaped.free_columns)
    is_named = all(re.match(r"(?i)seed|fold|rep|cv", column) for column in runs)
    return runs if is_named else []


def _ask_about_runs(shaped: Shaped, name: str) -> None:
    """Raise for columns such as seed_0 and seed_1: a run each, or a metric."""
    table, scores = shaped.table, shaped.score_columns
    runs = columns_of_runs(table, shaped.free_columns)
    if (
        not runs
        or shaped.stated.get("known")
        or set(scores or ()) & {*table.column_names}
    ):
        return
    raise CurvewiseError(
        f"Are {listed(runs, most=4)} of {name} runs, each with its scores in a column of "
        f"its own, or metrics?",
        fixes=[{"trial": runs}, {"metrics": runs}],
    )


# --- Whether rows are runs, steps or means of runs -------------------------------------


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
    if shaped.score_columns is not None:
        return None
    if columns_of_runs(table, table.column_names):
        return None  # the runs are there, beside their mean
    for column in text_columns(table, shaped.free_columns):
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
    runs = [c for c in runs if varies(table, c)]
    if runs or shaped.stated.get("trial") or rows_per_run(table, identity) > 1:
        return None  # statistics within a run, beside what tells the runs apart
    algorithm = names.first(names.ALGORITHM, table.column_names)
    if algorithm is None and names.every(names.STEP, numeric):
        return None  # the log of one run
    raise _no_runs(name, f"'{pairs[0][0]}' and '{pairs[0][1]}', one row for each")


_BOTH_ENDS = (("lower", "upper"), ("low", "high"), ("lo", "hi"), ("p05", "p95"))


def _both(ends: Sequence[str], columns: Sequence[str]) -> list[str]:
    both = [c for c in columns if c.casefold() in ends]
    return both if len(both) == len(ends) else []


def _is_spread(table: pa.Table, column: str) -> bool:
    """Return whether a column only says how far runs lie apart, or how many there were."""
    folded = names.folded(column)
    if folded in _MANY:
        return (
            is_whole(table, column)
            and max(distinct_values(table, column), default=0) > 1
        )
    tokens = names.words_of(column) - {""}
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
    "mean avg average std sd stdev stddev median total overall sum summary mean_std "
    "macro_avg macro_average weighted_avg weighted_average micro_avg micro_average "
    "aggregate".split()
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
    task, algorithm = shaped.who(texts)
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
            beside = values[(code == code[row]) & ~is_sum]
            beside = beside[~np.isnan(beside)]
            if len(beside) < 2 or np.isnan(values[row]):
                continue
            totals = (
                beside.mean(),
                np.median(beside),
                beside.sum(),
                beside.max(),
                beside.min(),
                beside.std(),
            )
            near = 0.006 * max(1.0, np.abs(beside).max())
            compared += 1
            agreed += any(abs(values[row] - one) < near for one in totals)
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
    who = [column for column in shaped.who() if column]
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
        and varies(table, c)
    ]  # fmt: skip
    if not others and scores:
        if _is_history(scores):
            remark = "its rows are the steps of one run, as Keras keeps a history."
            counted = replace(shaped, stated=stated | {"step": "row", "trial": []})
            counted = rows(counted, name) or counted
            return counted.told(remark, stated=counted.stated | {"trial": None})
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
