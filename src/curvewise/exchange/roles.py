"""Which column is what: stated by the caller, or guessed from the usual names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import pyarrow as pa

from curvewise.errors import CurvewiseError, listed, unknown
from curvewise.exchange import names
from curvewise.exchange.grouping import columns_varying, is_number, rows_per_run
from curvewise.exchange.tables import is_float
from curvewise.metrics import Direction, Metric, find

Metrics: TypeAlias = str | Sequence[str] | Mapping[str, Metric | Direction]
Unit: TypeAlias = Literal["fraction", "percent"]


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
    known: Mapping[str, Metric] | None = None,
) -> Roles:
    """Return the roles of a table's columns.

    Parameters
    ----------
    table : pyarrow.Table
    task, algorithm, trial, step, status, metrics, params, unit
        What the caller states; the rest is guessed.
    run_level : iterable of str
        Columns that come from a table of runs: no metrics among them unless stated.
    known : mapping of str to Metric, optional
        What columns are known to mean, where they are there.
    """
    known = known or {}
    chosen = stated_metrics(metrics, unit)
    if not isinstance(metrics, Mapping):  # names without meanings
        chosen = {c: known.get(c) or meant for c, meant in chosen.items()}
    stated_params = several(params, "params")
    trials = several(trial, "trial")
    single = {"task": task, "algorithm": algorithm, "step": step, "status": status}
    left = _unstated(table, single, (*trials, *chosen, *stated_params))
    n_stated = table.num_columns - len(left)
    task = task or _taken(names.first(names.TASK, left), left)
    algorithm = algorithm or _taken(names.first(names.ALGORITHM, left), left)
    status = status or _taken(_status_column(table, left), left)
    who = [c for c in (task, algorithm) if c]
    counts = _count_columns(table, left)
    if trial is None:
        trials = _trial_columns(table, who, step, left)
    for column in (*trials, *counts):
        left.pop(column, None)
    step = step or _taken(_step_column(table, [*who, *trials], left), left)
    if trial is None and not trials and step is not None:
        _refuse_unknown_runs(table, who, step, left)
    curves = step is not None and rows_per_run(table, [*who, *trials]) > 1
    varying = columns_varying(table, [*who, *trials], left) if curves else []
    if metrics is None:
        likely = [c for c in left if c not in set(run_level)]
        chosen = _guessed_metrics(table, likely, varying, known, bool(counts))
    if not chosen and not counts:
        raise CurvewiseError("metrics is empty. Name at least one column of scores.")
    for column in chosen:
        left.pop(column, None)
    steady = [c for c in left if c not in varying]
    kept = stated_params or [c for c in steady if params is None and names.is_param(c)]
    fields = {*names.FIELDS, "number"} if trials == ("number",) else {*names.FIELDS}
    labels = [c for c in (*trials, *steady) if c not in kept and c not in fields]
    used = [*who, *trials, *filter(None, (step, status)), *chosen]
    return Roles(
        *(task, algorithm, trials, step, status, chosen),
        {c: names.param_name(c) for c in kept},
        {c: c.removeprefix("label.") for c in labels},
        counts,
        tuple(c for c in varying if c in left),
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
    seen: set[str] = set()
    for column in (*filter(None, single.values()), *several):
        if column not in table.column_names:
            raise unknown("column", column, table.column_names)
        if column in seen:
            raise CurvewiseError(
                f"Column '{column}' was given two roles. Name it once."
            )
        seen.add(column)
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
    out: dict[str, Metric | None] = {}
    for column, meant in metrics.items():
        if isinstance(meant, Metric):
            out[column] = meant
        elif meant in ("higher", "lower"):
            usual = find(names.metric_name(column))
            agrees = usual is not None and usual.direction == meant
            # In percent and otherwise unknown: a rate.
            bounds = (0.0, 1.0) if unit == "percent" else (-float("inf"), float("inf"))
            out[column] = usual if agrees else Metric(column, meant, bounds)
        else:
            raise CurvewiseError(
                f"metrics says {meant!r} of '{column}'. Say 'higher', 'lower' or pass a "
                f"Metric."
            )
    return out


# --- who and when ------------------------------------------------------------------------


def _status_column(table: pa.Table, columns: Iterable[str]) -> str | None:
    """Return the usual status column, if it holds words that we know."""
    column = names.first(names.STATUS, columns)
    if column is None or is_number(table, column):
        return None
    words = table.column(column).cast(pa.string()).unique().to_pylist()
    known = all(word is None or names.status_of(word) or not word for word in words)
    return column if known else None


def _trial_columns(
    table: pa.Table, who: Sequence[str], step: str | None, columns: Iterable[str]
) -> tuple[str, ...]:
    """Return the fewest usual columns that tell the runs apart."""
    candidates = names.every(names.TRIAL, columns)
    steps = [step] if step else [c for c in [names.first(names.STEP, columns)] if c]
    for size in (1, 2, 3):
        for some in combinations(candidates, size):
            for extra in ([], steps):
                if rows_per_run(table, [*who, *some, *extra]) == 1:
                    return some
    return tuple(candidates[:1])


def _step_column(
    table: pa.Table, keys: Sequence[str], columns: Iterable[str]
) -> str | None:
    """Return the usual step column, if the table has several rows per run."""
    column = names.first(names.STEP, columns)
    if column is None or not is_number(table, column):
        return None
    surely = column.casefold() in (*names.SIZE, "step")
    return column if surely or rows_per_run(table, keys) > 1 else None


def _refuse_unknown_runs(
    table: pa.Table, who: Sequence[str], step: str, left: Iterable[str]
) -> None:
    """Raise where steps repeat and nothing tells whose they are."""
    times = rows_per_run(table, [*who, step])
    if times == 1:
        return
    whole = [c for c in left if not pa.types.is_floating(table.schema.field(c).type)]
    raise CurvewiseError(
        f"Which column tells the runs apart? Step '{step}' occurs up to {times} times per "
        f"algorithm and task, and no column has a usual name for a run. "
        f"Pass trial=<column>, perhaps {listed(whole) or 'a new one'}; or trial=[] if "
        f"every row is a run of its own."
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
    found = [c for c in numeric if c in varying or c in usual]
    if not found:
        floats = [
            c for c in numeric if pa.types.is_floating(table.schema.field(c).type)
        ]
        rest = [c for c in floats if not names.is_param(c)]
        found = rest if len(rest) == 1 else []
    if not found and not has_counts:
        have = (
            f"Numbers are in {listed(numeric)}." if numeric else "None holds numbers."
        )
        raise CurvewiseError(
            f"Which columns are scores? None has a usual name. {have} "
            f"Pass metrics=[...] or metrics={{'name': 'higher'}}."
        )
    return {c: known.get(c) or find(names.metric_name(c)) for c in found}


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
                f"Column '{column}' should hold scores but holds text, such as {odd!r}. "
                f"Write numbers with a decimal point and nothing else, and leave the cell "
                f"of a failed run empty; or pass metrics= without it."
            )


def _almost_number(text: str) -> bool:
    return is_float(text.rstrip("%").replace(",", "."))


def _count_columns(
    table: pa.Table, columns: Iterable[str]
) -> dict[str, tuple[int, int]]:
    """Return columns of confusion counts and their place (true class, called class)."""
    found = {}
    for column in columns:
        if match := re.fullmatch(r"count\.(\d{1,3})\.(\d{1,3})", column):
            found[column] = (int(match[1]), int(match[2]))
    by_name = {c.casefold(): c for c in columns}
    places = {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}
    if not found and all(name in by_name for name in places):
        found = {by_name[name]: place for name, place in places.items()}
    return found if all(is_number(table, c) for c in found) else {}
