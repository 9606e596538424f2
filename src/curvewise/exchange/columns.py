"""Trials from a table with one row per run or step, column by column."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import (
    CurvewiseError,
    CurvewiseWarning,
    Keyword,
    Message,
    Verbatim,
    listed,
    shortened,
    unknown,
)
from curvewise.exchange.roles import Metrics, Roles, Unit, metric_columns
from curvewise.exchange.rows import (
    apart,
    floats,
    group_codes,
    is_number,
    nulls,
    row_of,
    rows_per_run,
)
from curvewise.exchange.shapes import EXAMPLES_AT, Shaped, same_names
from curvewise.exchange.tables import is_float
from curvewise.metrics import Metric, find, is_quality, unsaid
from curvewise.metrics.names import meaning_of
from curvewise.trials import STATUSES, Trials, names
from curvewise.trials.columns import (
    Core,
    Details,
    Ints,
    Ragged,
    canonical,
    empty_rows,
    from_texts,
    no_details,
    starts,
)
from curvewise.trials.names import STATUSES as WORDS
from curvewise.trials.names import metric_name, status_of
from curvewise.trials.trial import ONLY


def trials_of_rows(
    table: pa.Table,
    roles: Roles,
    unit: Unit | None,
    name: str,
    shaped: Shaped,
    *,
    is_told: bool,
    own_names: str | None,
) -> Trials:
    """Return the trials of a table with one row per run or step, whose roles are known."""
    task, tasks = same_names(*codes(table, roles.task), roles.task, own_names)
    algorithm, algorithms = same_names(
        *codes(table, roles.algorithm), roles.algorithm, own_names
    )
    step = _steps(table, roles)
    number = numbers_of(table, roles, task, algorithm, step)
    order = np.lexsort((step, number, algorithm, task))
    unsorted, table = table, table.take(pa.array(order))
    task, algorithm, number, step = (c[order] for c in (task, algorithm, number, step))
    new = run_begins(task, algorithm, number)
    _refuse_repeated(table, roles, new, step)
    # Rows of a run that are not in the order of its steps may be of two runs.
    if roles.step is not None and not is_told and (np.diff(order)[~new[1:]] < 0).any():
        keys = [c for c in (roles.task, roles.algorithm, *roles.trial) if c]
        _refuse_restarts(unsorted, keys, roles.trial, roles.step)
    first = np.flatnonzero(new)
    owner = np.cumsum(new) - 1
    values = {c: numbers(table, c) for c in roles.metrics}
    absent = {c: nulls(table, c) for c in roles.metrics}
    blank = _blank(table, roles, step, values, absent)
    has_step = ~blank
    lengths = np.bincount(owner[has_step], minlength=len(first)).astype(np.int64)
    is_lost = blank & (np.bincount(owner)[owner] > 1) & np.isnan(step)
    if is_lost.any():
        raise _missing_step(table, roles, int(np.argmax(is_lost)))
    recorded = _recorded(absent, has_step, owner, len(first))
    # How a run ended, its last row tells.
    last = np.append(first[1:], len(new)) - 1
    is_cut = np.bincount(owner[blank], minlength=len(first)) > 0
    status, errors = statuses(table, roles, last, is_cut | (lengths == 0))
    # "metrics.acc" is another tool's, "metric.step" our own way to say: a metric.
    name_of = {c: metric_name(c) for c in roles.metrics}
    meant = meanings({name_of[c]: m for c, m in roles.metrics.items()}, unit)
    core = Core(
        task=task[first].astype(np.int32),
        algorithm=algorithm[first].astype(np.int32),
        number=number[first],
        status=status,
        offsets=starts(lengths),
        steps=np.nan_to_num(step[has_step]),
        values={
            n: scaled(values[c][has_step], meant[n], unit, owner[has_step])
            for c, n in name_of.items()
        },
        recorded={name_of[c]: known for c, known in recorded.items()},
    )
    details = _details(table, roles, first, has_step, errors, lengths)
    examples = shaped.examples
    if examples is not None and len(core.steps) == len(first):
        rows = table.column(EXAMPLES_AT).to_numpy()[first]
        details = replace(
            details,
            correct=examples.correct.take(rows),
            example_set=examples.example_set[rows],
            example_sets=examples.sets,
        )
    origin = " ".join([f"{name}: {roles}", *shaped.remarks])
    return Trials.from_columns(tasks, algorithms, meant, core, details, origin=origin)


def run_begins(task: Any, algorithm: Any, number: Any) -> Any:
    """Return which rows, in the order of these, are the first of a run."""
    new = np.ones(len(task), bool)
    new[1:] = (np.diff(task) != 0) | (np.diff(algorithm) != 0) | (np.diff(number) != 0)
    return new


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
    other = [*roles.labels, *roles.params, *roles.dropped]
    other += [c for c in roles.metrics if not is_quality(metric_name(c))]
    other = [c for c in other if c not in keys]
    fixes = apart(*(table, roles.task, roles.algorithm, roles.step, other), roles.trial)
    if roles.step is None:
        numeric = [c for c in (*other, *roles.metrics) if is_number(table, c)]
        whole = [c for c in numeric if rows_per_run(table, [*keys, c]) == 1]
        counted = [{"step": c} for c in names.every(names.STEP, whole)]
        fixes = counted + [fix for fix in fixes if fix not in counted]
        remedy = (
            "Name the column that counts the steps of a run, or what tells runs apart."
        )
    else:
        remedy = "Name the columns that tell the runs apart."
    if not fixes:
        remedy = "Add a column that tells them apart."
    raise CurvewiseError(
        f"{again.sum()} of {len(new)} rows repeat a row before them in {example}. {remedy}",
        fixes=fixes[:5],
    )


def _blank(
    table: pa.Table,
    roles: Roles,
    step: Any,
    values: Mapping[str, Any],
    absent: Mapping[str, Any],
) -> Any:
    """Return which rows hold no step of a curve: a run that never scored."""
    counted = [np.isnan(numbers(table, c)) for c in roles.counts]
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
    absent: Mapping[str, Any], has_step: Any, owner: Any, n: int
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
    runs = owner[has_step]
    for name, missing in absent.items():
        known = ~missing[has_step] | nothing[has_step]
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
        owners = runs[last_row]
        silent = last_row - last_known[owners]
        known[last_row[(last_known[owners] >= 0) & (silent > rhythm[owners])]] = True
        if not known.all():
            out[name] = known
    return out


def _refuse_restarts(
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


# --- who, which run, how it ended --------------------------------------------------------


def codes(table: pa.Table, column: str | None) -> tuple[Any, list[str]]:
    """Return each row's code and the names, in order of first appearance."""
    if column is None:
        return np.zeros(table.num_rows, np.int64), [ONLY]
    texts = table.column(column).cast(pa.string()).combine_chunks().dictionary_encode()
    if texts.null_count or "" in (names := texts.dictionary.to_pylist()):
        raise CurvewiseError(
            f"Column '{column}' is empty in some rows. Every run needs a name there."
        )
    return texts.indices.to_numpy().astype(np.int64), names


def numbers_of(
    table: pa.Table, roles: Roles, task: Any, algorithm: Any, step: Any
) -> Any:
    """Return the replicate of each row: whole numbers as they are, else counted."""
    if len(roles.trial) == 1:
        whole = _whole_numbers(table.column(roles.trial[0]), roles.trial[0])
        if whole is not None:
            return whole
    if roles.trial:
        # Counted over all algorithms, so that equal labels stay pairs.
        combined = group_codes(table, roles.trial)
        _, first, which = np.unique(combined, return_index=True, return_inverse=True)
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


def statuses(table: pa.Table, roles: Roles, last: Any, silent: Any) -> tuple[Any, Any]:
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
            f"{listed(WORDS, most=99)}. Rename it, or pass ",
            {"status": Verbatim("<another column>")},
            ".",
        )
    return STATUSES.index(ours)


def meanings(
    metrics: Mapping[str, Metric | None], unit: Unit | None
) -> dict[str, Metric]:
    """Return what each metric means; which way is better may be unknown."""
    meant: dict[str, Metric] = {}
    # In percent, what nobody described is a rate.
    in_percent = unit in ("percent", "mixed")
    bounds = (0.0, 1.0) if in_percent else (-math.inf, math.inf)
    for name, stated in metrics.items():
        metric = stated or find(name) or replace(unsaid(name), range=bounds)
        meant[name] = metric if metric.name == name else renamed(metric, name)
    return meant


def renamed(metric: Metric, name: str) -> Metric:
    """Return a metric under another name, on all tasks."""
    parts = tuple((task, renamed(one, name)) for task, one in metric.by_task)
    label = name if metric.label == metric.name else metric.label
    return replace(metric, name=name, label=label, by_task=parts)


def in_tasks(roles: Roles, table: pa.Table, metrics: Metrics | None) -> Roles:
    """Return roles whose metrics mean what mappings or columns say of each task."""
    way_in = metric_columns(metrics)
    if not way_in and not any(
        m is not None and m.by_task for m in roles.metrics.values()
    ):
        return roles
    by_name = dict(roles.metrics)
    which, tasks = codes(table, roles.task)
    for name, metric in roles.metrics.items():
        if metric is not None and metric.by_task:
            for one, _ in metric.by_task:
                if one not in tasks:
                    raise unknown("task", one, tasks)
        if name not in way_in:
            continue
        if way_in[name] not in table.column_names:
            raise unknown("column", way_in[name], table.column_names)
        cells = table.column(way_in[name]).cast(pa.string()).combine_chunks()
        ways: dict[str, Metric] = {}
        for code, of_task in enumerate(tasks):
            words = {*cells.filter(pa.array(which == code)).drop_null().to_pylist()}
            words = {word.strip() for word in words} - {""}
            if len(words) > 1:
                raise CurvewiseError(
                    f"Column '{way_in[name]}' says which way '{name}' is better, and has "
                    f"{listed(sorted(words))} on task '{shortened(of_task)}'. It must say "
                    f"the same in all rows of a task."
                )
            if words:
                ways[of_task] = Metric.of_text(name, _WAYS.get(*[words.pop()] * 2))
        by_name[name] = Metric.of_tasks(name, ways)
    return replace(roles, metrics=by_name)


_WAYS = {
    **dict.fromkeys(("max", "maximize", "maximise", "up", "higher"), "higher"),
    **dict.fromkeys(("min", "minimize", "minimise", "down", "lower"), "lower"),
}


def scaled(values: Any, metric: Metric, unit: Unit | None, run: Any) -> Any:
    """Return scores in fractions, where they were written in percent."""
    if not metric.is_rate:
        return values
    in_percent = np.isfinite(values) & (values > 1.5)  # less may be a rounding
    if unit is None and in_percent.any() and _is_percent(values, metric):
        warnings.warn(
            f"'{metric.name}' was written in percent, and is read as fractions of 1.",
            CurvewiseWarning,
            stacklevel=6,
        )
        return values / 100
    if unit is None and in_percent.any():
        raise _which_unit(values, metric, run, in_percent)
    if unit not in ("percent", "mixed"):
        return values
    outside = (values < 0) | (values > 100)
    if outside.any():
        raise CurvewiseError(
            Keyword("unit", unit),
            f", but '{metric.name}' holds {values[np.argmax(outside)]:g}. Percent "
            "lie between 0 and 100; declare other scales.",
            fixes=[{"metrics": {metric.name: f"{metric.direction or 'higher'}::"}}],
        )
    if unit == "mixed":
        percent = np.zeros(int(run.max(initial=0)) + 1, bool)
        percent[run[in_percent]] = True
        return np.where(percent[run], values / 100, values)
    small = (values > 0) & (values <= 1)
    if metric.direction == "higher" and small.any() and (values > 1).any():
        warnings.warn(
            Message(
                Keyword("unit", "percent"),
                f", and {small.sum()} of {len(values)} values of '{metric.name}' are "
                f"at most 1, such as {values[np.argmax(small)]:g}: taken as percent "
                "too. Are fractions mixed in?",
            ),
            CurvewiseWarning,
            stacklevel=6,
        )
    return values / 100


_FEWEST = 4  # values, from which on they speak for themselves


def _is_percent(values: Any, metric: Metric) -> bool:
    """Return whether a rate is in percent: by its name, or by broken numbers up to 100.

    Whole ones may count something, and of few or small ones nobody can tell.
    """
    finite = values[np.isfinite(values)]
    if not len(finite) or finite.min() < 0 or finite.max() > 100:
        return False
    if meaning_of(metric.name).is_percent:
        return True
    broken = bool((finite != np.rint(finite)).any())
    return broken and finite.min() > 1.5 and len(finite) >= _FEWEST


def _which_unit(
    values: Any, metric: Metric, run: Any, in_percent: Any
) -> CurvewiseError:
    """Return the question for a rate with values above 1."""
    finite = np.isfinite(values)
    runs, percent = np.unique(run[finite]), np.unique(run[in_percent])
    value = f"{values[np.argmax(in_percent)]:g}"
    beyond = (values[finite] > 100).any() or (values[finite] < 0).any()
    who = "its name" if metric.source == "name" else "its meaning"
    if beyond:
        way = metric.direction or "higher"
        return CurvewiseError(
            f"'{metric.name}' holds {values[finite].max():g}, and lies between 0 and 1 by "
            f"{who}. Declare what it is if it has another scale.",
            fixes=[{"metrics": {metric.name: f"{way}::"}}],
        )
    if len(percent) == len(runs):
        return CurvewiseError(
            f"'{metric.name}' holds {value}, and lies between 0 and 1 by {who}. Is it in "
            f"percent?",
            fixes=[{"unit": "percent"}, {"unit": "mixed"}],
        )
    return CurvewiseError(
        f"'{metric.name}' is above 1 in {len(percent)} of {len(runs)} runs, such as "
        f"{value}, and at most 1 in the others. Are percent and fractions mixed?",
        fixes=[{"unit": "mixed"}, {"unit": "percent"}],
    )


# --- What a table says about each run, beside its curve --------------------------------


def _details(
    table: pa.Table, roles: Roles, first: Any, has_step: Any, errors: Any, lengths: Any
) -> Details:
    """Return params, labels, errors, times and counts of each run."""
    n = len(first)
    none = no_details(n)
    per_run = table.take(pa.array(first))
    ours = {"error_text", "seconds", "attempts"} & set(table.column_names)
    ours -= {*roles.metrics, *roles.params, roles.status, roles.step}
    error_texts = (
        per_run.column("error_text").to_pylist() if "error_text" in ours else []
    )
    texts = [
        error or (error_texts[i] if error_texts else "") or ""
        for i, error in enumerate(errors)
    ]
    seconds, attempts = none.seconds, none.attempts
    if "seconds" in ours:
        seconds = numbers(per_run, "seconds")
    if "attempts" in ours:
        attempts = np.nan_to_num(numbers(per_run, "attempts"), nan=1).astype(np.int64)
    counts, classes = _counts(table, roles, has_step, lengths)
    return Details(
        params=as_json(per_run, roles.params),
        labels=as_json(per_run, roles.labels),
        error=from_texts(texts) if any(texts) else none.error,
        seconds=seconds,
        attempts=attempts,
        counts=counts,
        classes=classes,
        correct=none.correct,
        asked=none.asked,
        example_set=none.example_set,
        example_sets=(),
    )


def as_json(table: pa.Table, columns: Mapping[str, str]) -> Ragged:
    """Return some columns as canonical JSON, one text per row, under new names."""
    if not columns:
        return empty_rows(table.num_rows, "uint8")
    # Column by column, since a row at a time would take most of the time of reading.
    column_of = {name: column for column, name in columns.items()}
    cells = [
        _pairs(name, _plain(table.column(column_of[name])))
        for name in sorted(column_of)
    ]
    rows = (
        ",".join([pair for pair in row if pair]) for row in zip(*cells, strict=True)
    )
    return from_texts(f"{{{row}}}" if row else "" for row in rows)


def _pairs(name: str, cells: list[Any]) -> list[str]:
    """Return one key and its values as pieces of canonical JSON, "" where there is none."""
    key = canonical({name: 0})[1:-2]
    pieces: dict[Any, str] = {None: ""}
    out = []
    for cell in cells:
        if type(cell) is float or type(cell) is int:
            out.append(f"{key}{cell!r}")
        else:
            if cell not in pieces:
                pieces[cell] = canonical({name: cell})[1:-1]
            out.append(pieces[cell])
    return out


def _plain(column: pa.ChunkedArray) -> list[Any]:
    kind = column.type
    if pa.types.is_floating(kind):
        # A parameter that is not a number was not set.
        return [
            None if v is None or not math.isfinite(v) else v for v in column.to_pylist()
        ]
    if pa.types.is_string(kind):
        return [text or None for text in column.to_pylist()]
    simple = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    values: list[Any] = (column if simple else column.cast(pa.string())).to_pylist()
    return values


def _counts(
    table: pa.Table, roles: Roles, has_step: Any, lengths: Any
) -> tuple[Ragged, Any]:
    n = len(lengths)
    if not roles.counts:
        return empty_rows(n, "int64"), np.zeros(n, np.int64)
    k = max(max(place) for place in roles.counts.values()) + 1
    cells = np.zeros((int(has_step.sum()), k, k))
    nothing = np.ones(len(cells), bool)
    for column, place in roles.counts.items():
        cells[:, *place] = numbers(table, column)[has_step]
        nothing &= np.isnan(cells[:, *place])
    # A run without any counts among others that have them has none; it did not fail.
    owner = np.repeat(np.arange(n), lengths)
    has = np.zeros(n, bool)
    has[owner[~nothing]] = True
    cells = cells[has[owner]]
    is_count = np.isfinite(cells) & (cells == np.floor(cells)) & (cells >= 0)
    if not is_count.all():
        odd = cells[~is_count][0]
        came = "a row lacks one" if np.isnan(odd) else f"one is {odd:g}"
        raise CurvewiseError(
            f"Columns {listed(roles.counts)} should hold counts, and {came}. Pass whole "
            f"numbers >= 0; leave all of them empty where a run failed."
        )
    flat = cells.astype(np.int64).ravel()
    return Ragged(starts(lengths * has * k * k), flat), np.where(has, k, 0)


def numbers(table: pa.Table, column: str) -> Any:
    """Return a column as floats, NaN where it is empty; refuse text."""
    values = table.column(column)
    try:
        if pa.types.is_boolean(values.type):
            values = values.cast(pa.int8())
        if pa.types.is_string(values.type):
            values = pc.if_else(pc.equal(values, ""), None, values)
        # Not safe: an integer beyond 2**53 loses its last digits, as any float would.
        safe = not pa.types.is_integer(values.type)
        as_floats = values.cast(pa.float64(), safe=safe)
    except pa.ArrowException:
        texts = [str(v) for v in values.to_pylist()]
        odd = ((i, t) for i, t in enumerate(texts) if t != "None" and not is_float(t))
        row, text = next(odd, (0, texts[0]))
        raise CurvewiseError(
            f"Column '{column}' should hold numbers, but row {row + 1} holds "
            f"'{shortened(text)}'. Leave the cell of a failed run empty."
        ) from None
    return as_floats.to_numpy()  # missing becomes NaN
