"""Which column is what: stated by the caller, or guessed from the usual names."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, listed, unknown
from curvewise.exchange.rows import (
    SIGN,
    apart,
    columns_varying,
    floats,
    group_codes,
    is_number,
    readings,
    refuse_mixed_runs,
    rows_per_run,
    varies,
    whole_runs,
)
from curvewise.exchange.run_names import RUN, proposals, roles_of
from curvewise.exchange.shapes import EXAMPLES_AT
from curvewise.exchange.tables import is_float
from curvewise.metrics import Direction, Metric, find, is_quality, stated
from curvewise.trials import names
from curvewise.trials.columns import Ints
from curvewise.trials.design import PARAMS, SETTINGS

Meant: TypeAlias = Metric | Direction | str | None
Metrics: TypeAlias = (
    str
    | Sequence[str]
    | Mapping[str, Meant]
    | Mapping[str, Meant | Mapping[str, Meant]]
)
Unit: TypeAlias = Literal["fraction", "percent", "mixed"]


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column is what.

    Parameters
    ----------
    task, algorithm, step, status : str or None
        None where the table has no such column.
    trial : tuple of str
        The columns that tell the replicates apart; empty where rows are counted.
    metrics : dict of str to Metric or None
        What a column with scores means; None where nobody said.
    params, labels : dict of str to str
        From the column to the name it gets. What nobody gave a meaning is kept as a
        label, so that nothing is lost.
    counts : dict of str to (int, int)
        Columns of confusion counts and their place (true class, called class).
    dropped : tuple of str
        Columns that vary within a run and are no scores: a trial has no place for them.
    guessed : bool
        Whether anything was not stated.
    """

    task: str | None
    algorithm: str | None
    trial: tuple[str, ...]
    step: str | None
    status: str | None
    metrics: dict[str, Metric | None]
    params: dict[str, str]
    labels: dict[str, str]
    counts: dict[str, tuple[int, int]]
    dropped: tuple[str, ...]
    guessed: bool

    def __str__(self) -> str:
        single = {"step": self.step, "status": self.status}
        many: dict[str, Iterable[str]] = {
            "metrics": self.metrics,
            "params": self.params,
            "counts": self.counts,
            "labels": self.labels,
            "left out": self.dropped,
        }
        parts = [
            f"task={self.task or '(one)'}",
            f"algorithm={self.algorithm or '(one)'}",
            f"trial={'+'.join(self.trial) or '(counted)'}",
            *(f"{role}={column}" for role, column in single.items() if column),
            *(f"{role}={_cut(list(c))}" for role, c in many.items() if list(c)),
        ]
        return "; ".join(parts)


def _cut(columns: Sequence[str], most: int = 6) -> str:
    more = f", and {len(columns) - most} more" if len(columns) > most else ""
    return ", ".join(columns[:most]) + more


def assign(
    table: pa.Table,
    *,
    task: str | None = None,
    algorithm: str | None = None,
    trial: str | Sequence[str] | None = None,
    step: str | None = None,
    status: str | None = None,
    metrics: Metrics | None = None,
    params: str | Sequence[str] | None = None,
    unit: Unit | None = None,
    run_level: Iterable[str] = (),
    joined_on: Sequence[str] = (),
    known: Mapping[str, Metric] | None = None,
    design: Sequence[str] = (),
) -> Roles:
    """Return the roles of a table's columns."""
    known = known or {}
    chosen = stated_metrics(metrics, unit)
    if not isinstance(metrics, Mapping):  # names without meanings
        chosen = {c: known.get(c) or meant for c, meant in chosen.items()}
    else:
        chosen = {c: meant or known.get(c) for c, meant in chosen.items()}
    stated_params = several(params, "params")
    trials = several(trial, "trial")
    single = {"task": task, "algorithm": algorithm, "step": step}
    single |= {"status": status or None}
    left = _unstated(table, single, (*trials, *chosen, *stated_params))
    n_stated = table.num_columns - len(left)
    reserve = [c for c in dict.fromkeys(design) if c in left]
    left = {c: None for c in left if c not in reserve}
    if status is None:
        status = _taken(_status_column(table, left), left)
    status = status or None
    task, algorithm = _who(table, task, algorithm, left)
    who = [c for c in (task, algorithm) if c]
    counts = _count_columns(table, left)
    if trial is None:
        settings = [*stated_params, *filter(names.is_param, left)]
        trials = _trial_columns(table, who, step, [*left, *reserve], design, settings)
    for column in (*trials, *counts):
        left.pop(column, None)
    step = step or _taken(_step_column(table, [*who, *trials], left), left)
    if trial is None and not trials and step is not None:
        _refuse_unknown_runs(table, task, algorithm, step, left)
    if step is not None or joined_on:
        trials = whole_runs(table, who, trials, joined_on, left, trial is not None)
    for column in trials:
        left.pop(column, None)
    curves = step is not None and rows_per_run(table, [*who, *trials]) > 1
    others = [*left, *(c for c in reserve if c not in trials)]
    varying = columns_varying(table, [*who, *trials], others) if curves else []
    if curves and step is not None:
        refuse_mixed_runs(table, who, trials, step, [c for c in left if c in varying])
    if metrics is None:
        likely = [c for c in left if c not in set(run_level)]
        chosen = _guessed_metrics(table, likely, varying, known, bool(counts))
    if not chosen and not counts:
        raise CurvewiseError("metrics is empty. Name at least one column of scores.")
    for column in chosen:
        left.pop(column, None)
    _refuse_crossed(
        table, task, algorithm, () if trials or step or trial is not None else left
    )
    steady = [c for c in others if c not in (*varying, *chosen)]
    # Of several columns that tell runs apart, a hyperparameter stays one.
    likely = [*steady, *(trials if len(trials) > 1 else ())]
    kept = stated_params or [c for c in likely if params is None and names.is_param(c)]
    fields = {*names.FIELDS, "number"} if trials == ("number",) else {*names.FIELDS}
    fields |= {EXAMPLES_AT}
    labels = [c for c in (*trials, *steady) if c not in kept and c not in fields]
    used = [*who, *trials, *filter(None, (step, status)), *chosen]
    return Roles(
        *(task, algorithm, trials, step, status, chosen),
        {c: names.param_name(c) for c in kept},
        {c: c.removeprefix("label.") for c in labels},
        counts,
        tuple(c for c in varying if c in others and c not in chosen),
        n_stated < len(used),
    )


# --- what was stated ---------------------------------------------------------------------


def several(value: str | Sequence[str] | None, keyword: str) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    if value is None or isinstance(value, str):
        return () if value is None else (value,)
    if not isinstance(value, Iterable) or any(not isinstance(c, str) for c in value):
        raise CurvewiseError(
            f"{keyword} is {value!r}. Pass the name of a column or a list of them."
        )
    return tuple(value)


def _unstated(
    table: pa.Table, single: Mapping[str, str | None], several: Sequence[str]
) -> dict[str, None]:
    """Return the columns that the caller gave no role, as an ordered set."""
    left = dict.fromkeys(table.column_names)
    with_role: set[str] = set()
    for column in (*filter(None, single.values()), *several):
        if column not in table.column_names:
            raise unknown("column", column, table.column_names)
        if column in with_role:
            raise CurvewiseError(
                f"Column '{column}' was given two roles. Name it once."
            )
        with_role.add(column)
        left.pop(column, None)
    return left


def _taken(column: str | None, left: dict[str, None]) -> str | None:
    left.pop(column or "", None)
    return column


def stated_metrics(
    metrics: Metrics | None, unit: Unit | None
) -> dict[str, Metric | None]:
    """Return the metrics that the caller named, and what they mean where that is known."""
    if metrics is None or not isinstance(metrics, Mapping):
        return {c: find(names.metric_name(c)) for c in several(metrics, "metrics")}
    return {c: _stated(c, meant, unit) for c, meant in metrics.items()}


def _stated(column: str, meant: Any, unit: Unit | None) -> Metric | None:
    """Return what the caller says of one column; None where that is left to its name."""
    if meant is None or isinstance(meant, Metric):
        return meant
    if _column_of(meant):
        return None  # known once the tasks are; see `metric_columns`
    metric = stated(names.metric_name(column), meant)
    metric = metric if metric.by_task else replace(metric, name=column, label=column)
    # In percent and otherwise unknown: a rate.
    is_free = metric.range == (-math.inf, math.inf) and ":" not in str(meant)
    in_percent = unit in ("percent", "mixed")
    return replace(metric, range=(0.0, 1.0)) if is_free and in_percent else metric


def _column_of(meant: Any) -> str | None:
    """Return the column that says which way is better: ``{"column": NAME}``."""
    if isinstance(meant, Mapping) and [*meant] == ["column"]:
        return str(meant["column"])
    return None


def metric_columns(metrics: Metrics | None) -> dict[str, str]:
    """Return the columns that say which way each metric is better, task by task."""
    if not isinstance(metrics, Mapping):
        return {}
    columns = {name: _column_of(meant) for name, meant in metrics.items()}
    return {name: column for name, column in columns.items() if column is not None}


# --- who and when ------------------------------------------------------------------------


def _status_column(table: pa.Table, columns: Iterable[str]) -> str | None:
    """Return the usual status column, if it holds words that we know."""
    column = names.first(names.STATUS, columns)
    if column is None or is_number(table, column):
        return None
    words = table.column(column).cast(pa.string()).unique().to_pylist()
    known = all(word is None or names.status_of(word) or not word for word in words)
    return column if known else None


# Of these, what splits results in parts.
_MAY_SPLIT = frozenset(("phase", "split", "set", "mode", "config", "version"))
# Where and when something ran says nothing of what ran.
_CIRCUMSTANCES = names.CIRCUMSTANCES.union(
    "version notes tags phase split set mode config".split()
)


def _who(
    table: pa.Table, task: str | None, algorithm: str | None, left: dict[str, None]
) -> tuple[str | None, str | None]:
    """Return the columns of tasks and algorithms: stated, usual, or asked for."""
    task = task or _taken(names.first(names.TASK, left), left)
    algorithm = algorithm or _taken(names.first(names.ALGORITHM, left), left)
    if algorithm is None:
        _ask_for_algorithm(table, left, None if task is None else [task])
    return task, algorithm


def _has_seeds(table: pa.Table, column: str, left: Iterable[str]) -> bool:
    """Return whether words that may name runs have several seeds each: no runs, then."""
    seeds = names.every(names.TRIAL[:6], left)
    if is_number(table, column) or not seeds or column in seeds:
        return False
    words = len(np.unique(group_codes(table, [column])))
    return len(np.unique(group_codes(table, [column, seeds[0]]))) >= 2 * words


def _refuse_crossed(
    table: pa.Table, task: str | None, algorithm: str | None, left: Iterable[str]
) -> None:
    """Raise where rows that are counted as runs differ in what all algorithms met.

    A column with the same values for every algorithm is a task, a step, a part or a seed
    that nobody named, and rows that differ in it are no replicates of each other.
    """
    who = [c for c in (task, algorithm) if c]
    left = list(left)
    if algorithm is None or not left or rows_per_run(table, who) == 1:
        return
    code = group_codes(table, who)
    for column in left:
        tokens = names.words_of(column)
        usual = bool(names.every((*names.ALGORITHM, *names.TASK), [column]))
        if tokens & (_CIRCUMSTANCES - _MAY_SPLIT) or names.is_row_number(column):
            continue
        if names.is_param(column) or column.startswith(("label.", *names.FIELDS)):
            continue
        values = group_codes(table, [column])
        if len(np.unique(values)) < 2:
            continue
        order = np.lexsort((values, code))
        new = np.diff(code[order], prepend=-1) != 0
        sizes = np.bincount(np.cumsum(new) - 1)
        is_varied = bool((np.diff(values[order])[~new[1:]] != 0).any())
        crossed = is_varied and len(sizes) > 1 and sizes.min() == sizes.max()
        if crossed:
            per_group = values[order].reshape(len(sizes), -1)
            crossed = bool((per_group == per_group[0]).all())
        if crossed or (usual and is_varied and not is_number(table, column)):
            raise CurvewiseError(
                f"What is '{column}'? Every algorithm has the same values of it, and no "
                f"column tells runs apart: rows that differ in it would be counted as runs "
                f"of one kind.",
                fixes=readings(table, task, algorithm, None, column),
            )


def _ask_for_algorithm(
    table: pa.Table, left: Iterable[str], tasks: Sequence[str] | None
) -> None:
    """Raise where a column of words without a usual name may name the algorithm."""
    usual = {*names.every((*names.TRIAL, *names.STATUS, *names.FIELDS), left)}
    usual -= {c for c in usual if _has_seeds(table, c, left)}
    left = list(left)
    # The one hyperparameter there is may be what was compared: adam and sgd.
    params = [c for c in left if names.is_param(c) and varies(table, c)]
    candidates = []
    for column in left:
        tokens = names.words_of(column)
        if (
            column in usual
            or is_number(table, column)
            or (names.is_param(column) and [*params] != [column])
            or column.startswith("label.")
            or tokens & _CIRCUMSTANCES
        ):
            continue
        words = table.column(column).cast(pa.string()).value_counts()
        times = [entry["counts"].as_py() for entry in words]
        if len(times) > 1 and min(times) > 1:
            candidates.append(column)
    if candidates:
        fixes: list[dict[str, object]] = [{"algorithm": c} for c in candidates[:2]]
        if len(candidates) in (2, 3):  # the arms of an experiment, two switches say
            fixes = [{"algorithm": SIGN.join(candidates)}, *fixes]
        if tasks is None:
            fixes += [{"task": candidates[0]}]
        raise CurvewiseError(
            f"Which column names the algorithm? None has a usual name, and "
            f"{listed(candidates)} may: without it, runs of several algorithms would be "
            f"pooled.",
            fixes=[*fixes, {"params": [candidates[0]]}],
        )
    _ask_about_names(table, left)


def _ask_about_names(table: pa.Table, left: Iterable[str]) -> None:
    """Raise where names of runs say who ran, as in ppo-Hopper-s3."""
    column = names.first(RUN, [c for c in left if not is_number(table, c)])
    if column is None:
        return
    runs = [str(v) for v in table.column(column).unique().to_pylist() if v]
    fixes = []
    for fix in proposals(runs, "all") if 4 <= len(runs) <= 10_000 else ():
        if not isinstance(fix["roles"], str) or "{algorithm}" not in fix["roles"]:
            continue
        algorithms = roles_of(runs, fix["roles"])[1]["algorithm"]
        # Names made of words at random never come again; those of algorithms do.
        if len(set(algorithms)) > 1 and min(Counter(algorithms).values()) > 1:
            fixes.append(fix)
    if fixes:
        raise CurvewiseError(
            f"No column names the algorithm, and names in '{column}' such as "
            f"{listed(runs, most=2)} seem to say more than one thing.",
            fixes=[*fixes, {"roles": {"algorithm": "all"}}],
        )


def _trial_columns(
    table: pa.Table,
    who: Sequence[str],
    step: str | None,
    columns: Sequence[str],
    design: Sequence[str],
    settings: Sequence[str],
) -> tuple[str, ...]:
    """Return the fewest usual columns that tell the runs apart, or those of a design.

    Where a seed or fold was used by several settings, the hyperparameters do.
    """
    candidates = names.every(names.TRIAL, columns)
    candidates += [c for c in columns if c in design and c not in candidates]
    steps = [step] if step else [c for c in [names.first(names.STEP, columns)] if c]
    for size in (1, 2, 3):
        for some in combinations(candidates, size):
            code = group_codes(table, [*who, *some])
            if np.bincount(code).max() == 1:
                return some
            if rows_per_run(table, [*who, *some, *steps]) == 1 and not _ended_apart(
                table, code, [*who, *some], steps, settings
            ):
                return some
    first = tuple(candidates[:1])
    varying = columns_varying(table, [*who, *first], settings) if settings else []
    others = [c for c in columns if c not in (*first, *varying, *steps)]
    if (
        not varying
        or not (first or steps or PARAMS in design)
        # Of the evaluation, perhaps: noise, a horizon.
        or all(names.words_of(c) & names.PERHAPS_CONDITION for c in varying)
        or _may_be_asked_about(table, [*who, *first], [*who, *first, *varying], others)
    ):
        return first
    return (*first, *_telling(table, [*who, *first], varying, steps, is_run=not first))


def _telling(
    table: pa.Table,
    keys: Sequence[str],
    varying: Sequence[str],
    steps: Sequence[str],
    *,
    is_run: bool,
) -> tuple[str, ...]:
    """Return the hyperparameters that tell apart what these keys do not; () if none do."""
    # A rate that a schedule changes is first seen later than the run began.
    for size in range(1, min(len(varying), 3) + 1 if steps else 1):
        for params in combinations(varying, size):
            is_one = rows_per_run(table, [*keys, *params, *steps]) == 1
            code = group_codes(table, [*keys, *params])
            if is_one and _begin_together(table, code, steps[0]):
                return params
    alone = not is_run and rows_per_run(table, [*keys, *varying]) == 1
    code = group_codes(table, keys)
    if alone and (not steps or _ended_apart(table, code, keys, steps, varying)):
        return tuple(varying)
    return ()


def _ended_apart(
    table: pa.Table,
    code: Ints,
    keys: Sequence[str],
    steps: Sequence[str],
    settings: Sequence[str],
) -> bool:
    """Return whether a step says how far each run went, and settings tell runs apart."""
    if not steps or not settings or _begin_together(table, code, steps[0]):
        return False
    varying = columns_varying(table, keys, settings)
    return bool(varying) and rows_per_run(table, [*keys, *varying]) == 1


def _may_be_asked_about(
    table: pa.Table, keys: Sequence[str], runs: Sequence[str], others: Iterable[str]
) -> bool:
    """Return whether a column of unknown meaning varies: a task or a part, perhaps."""
    unknown = [
        c
        for c in others
        if not names.words_of(c) & (_CIRCUMSTANCES - _MAY_SPLIT)
        and not names.is_row_number(c)
        and not names.is_param(c)
        and not names.is_score(c)
        and not c.startswith(("label.", *names.FIELDS))
        and not pa.types.is_floating(table.schema.field(c).type)
    ]
    within = columns_varying(table, runs, unknown)
    for column in columns_varying(table, keys, unknown):
        numbers_settings = names.words_of(column) & SETTINGS and column not in within
        was_measured = is_number(table, column) and column in within
        if not numbers_settings and not was_measured:
            return True
    return False


def _begin_together(table: pa.Table, code: Ints, step: str) -> bool:
    """Return whether every group of rows has the table's first step."""
    if not is_number(table, step):
        return False
    steps = floats(table, step)
    begins = np.bincount(code[steps == np.nanmin(steps)], minlength=int(code.max()) + 1)
    return bool(((begins > 0) == (np.bincount(code) > 0)).all())


def _step_column(
    table: pa.Table, keys: Sequence[str], columns: Iterable[str]
) -> str | None:
    """Return the usual step column, if the table has several rows per run."""
    usual = names.every(names.STEP, [c for c in columns if is_number(table, c)])
    if not usual:
        return None
    column = usual[0]
    if column.casefold() in names.PERHAPS_SIZE and not varies(table, column):
        return None
    surely = column.casefold() in (*names.SIZE, "step")
    return column if surely or rows_per_run(table, keys) > 1 else None


def _refuse_unknown_runs(
    table: pa.Table,
    task: str | None,
    algorithm: str | None,
    step: str,
    left: Iterable[str],
) -> None:
    """Raise where steps repeat and nothing tells whose they are."""
    times = rows_per_run(table, [*(c for c in (task, algorithm) if c), step])
    if times == 1:
        return
    fixes = apart(table, task, algorithm, step, left)
    if step.casefold() in (*names.SIZE, *names.PERHAPS_SIZE):
        fixes.append({"trial": []})  # a run at one size each
    raise CurvewiseError(
        f"Which column tells the runs apart? Step '{step}' occurs up to {times} times per "
        f"algorithm and task, and no column has a usual name for a run."
        f"{'' if fixes else ' Add one.'}",
        fixes=fixes,
    )


# --- scores ------------------------------------------------------------------------------


def _guessed_metrics(
    table: pa.Table,
    free: Sequence[str],
    varying: Sequence[str],
    known: Mapping[str, Metric],
    has_counts: bool,
) -> dict[str, Metric | None]:
    _refuse_text_scores(table, free)
    other = {*names.every(names.STEP, free), *names.every(names.TRIAL, free)}
    other |= {c for c in free if names.is_row_number(c)}
    numeric = [
        c
        for c in free
        if is_number(table, c)
        and c not in other
        and c not in names.FIELDS
        and not names.has_param_prefix(c)
        and not c.startswith("label.")
    ]
    usual = [c for c in numeric if c in known or names.is_score(c)]
    # What changes along a run was measured; what does not, may be anything.
    scores = [c for c in numeric if c in varying or c in usual]
    if not scores and not has_counts:
        # The one column of numbers that may be a score is it; of several, who knows.
        rest = [c for c in numeric if not names.is_param(c) and is_quality(c)]
        rest = [c for c in rest if varies(table, c)] or rest
        scores = rest if len(rest) == 1 else []
    if not scores and not has_counts:
        have = (
            f"Numbers are in {listed(numeric)}." if numeric else "None holds numbers."
        )
        likely = [c for c in numeric if is_quality(c)] or numeric
        raise CurvewiseError(
            f"Which columns are scores? None has a usual name. {have}",
            fixes=[{"metrics": [c]} for c in likely[:4]],
        )
    return {c: known.get(c) or find(names.metric_name(c)) for c in scores}


def _refuse_text_scores(table: pa.Table, columns: Iterable[str]) -> None:
    """Raise for a column of scores that a few words turned into text."""
    for column in columns:
        if is_number(table, column) or not names.is_score(column):
            continue
        cells = table.column(column).cast(pa.string()).drop_null().to_pylist()
        cells = [cell for cell in cells if cell]
        if 2 * sum(map(_almost_number, cells)) >= max(len(cells), 1):
            odd = next((c for c in cells if not is_float(c)), cells[0])
            raise CurvewiseError(
                f"Column '{column}' should hold scores but holds text, such as "
                f"{odd!r}. Write numbers with a decimal point and nothing else, and "
                "leave the cell of a failed run empty; or pass ",
                {"metrics": ...},
                " without it.",
            )


def _almost_number(text: str) -> bool:
    return is_float(text.rstrip("%").replace(",", "."))


def _count_columns(
    table: pa.Table, columns: Iterable[str]
) -> dict[str, tuple[int, int]]:
    """Return columns of confusion counts and their place (true class, called class)."""
    counts = {}
    for column in columns:
        if match := re.fullmatch(r"count\.(\d{1,3})\.(\d{1,3})", column):
            counts[column] = (int(match[1]), int(match[2]))
    by_name = {c.casefold(): c for c in columns}
    places = {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}
    if not counts and all(name in by_name for name in places):
        counts = {by_name[name]: place for name, place in places.items()}
    return counts if all(is_number(table, c) for c in counts) else {}
