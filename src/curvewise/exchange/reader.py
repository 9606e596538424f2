"""From a table and its roles to trials."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, CurvewiseWarning, listed, shortened
from curvewise.exchange.grouping import group_codes, nulls, row_of
from curvewise.exchange.joining import joined
from curvewise.exchange.names import STATUSES as WORDS
from curvewise.exchange.names import metric_name, status_of
from curvewise.exchange.per_run import details as details_of
from curvewise.exchange.per_run import numbers
from curvewise.exchange.roles import Metrics, Roles, Unit, assign
from curvewise.exchange.tables import load
from curvewise.metrics import Metric, declared
from curvewise.trials import STATUSES, Trials
from curvewise.trials.columns import Core
from curvewise.trials.ragged import starts
from curvewise.trials.trial import ONLY


def read_results(
    source: object,
    *,
    runs: object = None,
    on: str | Sequence[str] | None = None,
    metrics: Metrics | None = None,
    unit: Unit | None = None,
    **stated: Any,
) -> tuple[Trials, Roles]:
    """Return the trials of a table of results, and what its columns were taken for.

    `stated` are the roles that `curvewise.read` documents.
    """
    if unit not in (None, "fraction", "percent"):
        raise CurvewiseError(f"unit is {unit!r}. Pass 'fraction' or 'percent'.")
    table, name = load(source)
    run_level: list[str] = []
    if runs is not None:
        labels, runs_name = load(runs)
        table, run_level = joined(table, labels, on, name, runs_name)
        name = f"{name} + {runs_name}"
    elif on is not None:
        raise CurvewiseError(
            "on= names the column that joins two tables. Pass runs= too."
        )
    roles = assign(table, metrics=metrics, unit=unit, run_level=run_level, **stated)
    return _trials(table, roles, unit, name), roles


# --- one table ---------------------------------------------------------------------------


def _trials(table: pa.Table, roles: Roles, unit: Unit | None, name: str) -> Trials:
    task, tasks = _names(table, roles.task)
    algorithm, algorithms = _names(table, roles.algorithm)
    step = _steps(table, roles)
    number = _numbers(table, roles, task, algorithm, step)
    order = np.lexsort((step, number, algorithm, task))
    table = table.take(pa.array(order))
    task, algorithm, number, step = (c[order] for c in (task, algorithm, number, step))
    new = np.ones(len(step), bool)
    new[1:] = (np.diff(task) != 0) | (np.diff(algorithm) != 0) | (np.diff(number) != 0)
    _refuse_repeated(table, roles, new, step)
    first = np.flatnonzero(new)
    owner = np.cumsum(new) - 1
    values = {c: numbers(table, c) for c in roles.metrics}
    absent = {c: nulls(table, c) for c in roles.metrics}
    blank = _blank(table, roles, step, values, absent)
    kept = ~blank
    lengths = np.bincount(owner[kept], minlength=len(first)).astype(np.int64)
    lone = blank & (np.bincount(owner)[owner] > 1) & np.isnan(step)
    if lone.any():
        raise _missing_step(table, roles, int(np.argmax(lone)))
    recorded = _recorded(absent, kept, owner, len(first))
    # How a run ended, its last row tells.
    last = np.append(first[1:], len(new)) - 1
    is_cut = np.bincount(owner[blank], minlength=len(first)) > 0
    status, errors = _status(table, roles, last, is_cut | (lengths == 0))
    # "metrics.acc" is another tool's, "metric.step" our own way to say: a metric.
    name_of = {c: metric_name(c) for c in roles.metrics}
    meant = _meanings({name_of[c]: m for c, m in roles.metrics.items()}, unit)
    core = Core(
        task[first].astype(np.int32),
        algorithm[first].astype(np.int32),
        number[first],
        status,
        starts(lengths),
        np.nan_to_num(step[kept]),
        {n: _scaled(values[c][kept], meant[n], unit) for c, n in name_of.items()},
        {name_of[c]: known for c, known in recorded.items()},
    )
    details = details_of(table, roles, first, kept, errors, lengths)
    origin = f"{name}: {roles}"
    return Trials.from_columns(tasks, algorithms, meant, core, details, origin=origin)


def _names(table: pa.Table, column: str | None) -> tuple[Any, list[str]]:
    """Return each row's code and the names, in order of first appearance."""
    if column is None:
        return np.zeros(table.num_rows, np.int64), [ONLY]
    texts = table.column(column).cast(pa.string()).combine_chunks().dictionary_encode()
    if texts.null_count or "" in (names := texts.dictionary.to_pylist()):
        raise CurvewiseError(
            f"Column '{column}' is empty in some rows. Every run needs a name there."
        )
    return texts.indices.to_numpy().astype(np.int64), names


def _numbers(
    table: pa.Table, roles: Roles, task: Any, algorithm: Any, step: Any
) -> Any:
    """Return the replicate of each row: whole numbers as they are, else counted."""
    if len(roles.trial) == 1:
        whole = _whole_numbers(table.column(roles.trial[0]), roles.trial[0])
        if whole is not None:
            return whole
    if roles.trial:
        # Counted over all algorithms, so that equal labels stay pairs.
        codes = group_codes(table, roles.trial)
        _, first, which = np.unique(codes, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[which].astype(np.int64)
    group = task * (algorithm.max() + 1) + algorithm
    if roles.step is not None:
        pairs = np.stack([group, np.nan_to_num(step)])
        if np.unique(pairs, axis=1).shape[1] == len(group):
            return np.zeros(len(group), np.int64)  # one curve per algorithm
    order = np.argsort(group, kind="stable")
    begin = np.searchsorted(group[order], group[order])
    number = np.empty(len(group), np.int64)
    number[order] = np.arange(len(group)) - begin
    return number


def _whole_numbers(column: pa.ChunkedArray, name: str) -> Any:
    """Return a column as 64-bit integers, or None where it holds something else."""
    if column.null_count:
        return None
    if pa.types.is_floating(column.type):
        values = column.to_numpy()
        if (np.abs(values) >= 2**53).any():
            raise CurvewiseError(
                f"Column '{name}' holds numbers such as {values.max():.0f}, too large to "
                f"be told apart. Write them as text, with a letter before the digits."
            )
        same = (values == np.rint(values)).all()
        return values.astype(np.int64) if same else None
    if not pa.types.is_integer(column.type):
        return None
    try:
        return column.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:  # beyond 64 bits with a sign: they are names, then
        return None


def _steps(table: pa.Table, roles: Roles) -> Any:
    if roles.step is None:
        return np.zeros(table.num_rows)
    steps = numbers(table, roles.step)
    if np.isinf(steps).any():
        raise CurvewiseError(
            f"Column '{roles.step}' holds infinite steps. Pass numbers."
        )
    return steps


def _refuse_repeated(table: pa.Table, roles: Roles, new: Any, step: Any) -> None:
    again = ~new & (np.diff(step, prepend=np.nan) == 0)
    if not again.any():
        return
    row = int(np.argmax(again))
    keys = [c for c in (roles.task, roles.algorithm, *roles.trial, roles.step) if c]
    example = row_of(table, keys, row)
    if roles.step is None:
        remedy = (
            "If these rows are steps of one run, name the column that counts them with "
            "step=; if they are runs of their own, name what tells them apart with trial=, "
            "such as trial=['seed', 'fold']."
        )
    else:
        remedy = (
            "Name the columns that tell the runs apart with trial=, such as 'seed'."
        )
    raise CurvewiseError(
        f"{again.sum()} of {len(new)} rows repeat a row before them in {example}. {remedy}"
    )


def _blank(
    table: pa.Table,
    roles: Roles,
    step: Any,
    values: Mapping[str, Any],
    absent: Mapping[str, Any],
) -> Any:
    """Return which rows hold no step of a curve: a run that never scored."""
    counted = [nulls(table, c) for c in roles.counts]
    if roles.step is None:
        return np.logical_and.reduce([*absent.values(), *counted])
    without_step = np.isnan(step)
    scored = ~np.logical_and.reduce([*map(np.isnan, values.values()), *counted])
    if (without_step & scored).any():
        raise _missing_step(table, roles, int(np.argmax(without_step & scored)))
    if roles.counts and not values:
        empty = [np.isnan(numbers(table, c)) for c in roles.counts]
        return without_step | np.logical_and.reduce(empty)
    return without_step


def _missing_step(table: pa.Table, roles: Roles, row: int) -> CurvewiseError:
    keys = [c for c in (roles.task, roles.algorithm, *roles.trial) if c]
    example = row_of(table, keys, row)
    return CurvewiseError(
        f"Column '{roles.step}' is empty in a row of {example}. Every row of a curve needs "
        f"its step."
    )


def _recorded(
    absent: Mapping[str, Any], kept: Any, owner: Any, n: int
) -> dict[str, Any]:
    """Return where each metric was recorded, for those with gaps.

    A row in which other metrics have a value is a step at which this one was not logged.
    But a gap at the end of a curve that is longer than the rhythm of logging explains is a
    run that broke: its last value counts as recorded and not a number.
    """
    if not absent:
        return {}
    nothing = np.logical_and.reduce(list(absent.values()))
    out = {}
    runs = owner[kept]
    for name, missing in absent.items():
        known = ~missing[kept] | nothing[kept]
        if known.all():
            continue
        place = np.flatnonzero(known)
        gaps = np.diff(place)[np.diff(runs[place]) == 0] - 1
        if len(gaps) == 0:  # logged once per run: no rhythm to break
            out[name] = known
            continue
        # A run's own rhythm, or that of the table where it has none.
        rhythm = np.full(n, -1)
        np.maximum.at(rhythm, runs[place[1:]][np.diff(runs[place]) == 0], gaps)
        rhythm[rhythm < 0] = gaps.max()
        last_known = np.full(n, -1)
        last_known[runs[place]] = place
        last_row = np.flatnonzero(np.diff(runs, append=-1) != 0)
        own = runs[last_row]
        silent = last_row - last_known[own]
        known[last_row[(last_known[own] >= 0) & (silent > rhythm[own])]] = True
        if not known.all():
            out[name] = known
    return out


def _status(table: pa.Table, roles: Roles, last: Any, silent: Any) -> tuple[Any, Any]:
    """Return each trial's status code, and what went wrong; a silent one has failed."""
    status = np.zeros(len(last), np.int8)
    if roles.status is not None:
        words = table.column(roles.status).take(pa.array(last))
        texts = words.cast(pa.string()).combine_chunks()
        encoded = pc.dictionary_encode(texts, null_encoding="encode")
        codes = [_status_code(w, roles.status) for w in encoded.dictionary.to_pylist()]
        status = np.array(codes, np.int8)[
            encoded.indices.to_numpy(zero_copy_only=False)
        ]
    silent = silent & (status == 0)
    status[silent] = STATUSES.index("failed")
    return status, ["no score in the source" if s else "" for s in silent]


def _status_code(word: str | None, column: str) -> int:
    if not word:
        return 0
    ours = status_of(word)
    if ours is None:
        raise CurvewiseError(
            f"Column '{column}' says '{shortened(word)}'. curvewise knows "
            f"{listed(WORDS, most=99)}. Rename it, or pass status=<another column>."
        )
    return STATUSES.index(ours)


def _meanings(
    metrics: Mapping[str, Metric | None], unit: Unit | None
) -> dict[str, Metric]:
    stated = [metric for metric in metrics.values() if metric is not None]
    meant = declared(metrics, stated, hint="read(..., metrics=...)", stacklevel=6)
    meant = {n: m if m.name == n else _renamed(m, n) for n, m in meant.items()}
    if unit == "percent":  # what nobody described is a rate, then
        meant |= {
            n: Metric(n, "higher", (0, 1)) for n, m in metrics.items() if m is None
        }
    return meant


def _renamed(metric: Metric, name: str) -> Metric:
    return Metric(name, metric.direction, metric.range, metric.unit, metric.label)


def _scaled(values: Any, metric: Metric, unit: Unit | None) -> Any:
    if unit != "percent" or not metric.is_rate:
        return values
    outside = (values < 0) | (values > 100)
    if outside.any():
        raise CurvewiseError(
            f"unit='percent', but '{metric.name}' holds {values[np.argmax(outside)]:g}. "
            f"Percent lie between 0 and 100; declare other scales with metrics=, such as "
            f"{{'{metric.name}': Metric('{metric.name}', '{metric.direction}')}}."
        )
    small = (values > 0) & (values <= 1)
    if metric.direction == "higher" and small.any() and (values > 1).any():
        warnings.warn(
            f"unit='percent', and {small.sum()} of {len(values)} values of '{metric.name}' "
            f"are at most 1, such as {values[np.argmax(small)]:g}: taken as percent too. "
            f"Are fractions mixed in?",
            CurvewiseWarning,
            stacklevel=6,
        )
    return values / 100
