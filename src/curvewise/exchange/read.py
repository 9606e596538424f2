"""Results of anybody's as trials: whose they are, and from a table to trials."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, CurvewiseWarning, Keyword, Message, unknown
from curvewise.exchange import shapes, tools
from curvewise.exchange.columns import (
    codes,
    in_tasks,
    meanings,
    numbers,
    numbers_of,
    scaled,
    statuses,
)
from curvewise.exchange.columns import details as details_of
from curvewise.exchange.roles import (
    Metrics,
    Roles,
    Unit,
    assign,
    several,
    stated_metrics,
)
from curvewise.exchange.rows import (
    SIGN,
    Where,
    apart,
    chosen_rows,
    is_number,
    joined,
    must_be_where,
    nulls,
    refuse_restarts,
    row_of,
    rows_per_run,
)
from curvewise.exchange.run_names import NamedRoles, rows_with_roles
from curvewise.exchange.runs import Asked, Runs, Sheet
from curvewise.exchange.runs_to_trials import summary_of, trials_of, with_labels
from curvewise.exchange.shapes import (
    EXAMPLES_AT,
    Shaped,
    Stated,
    counts,
    endings,
    layout,
    must_be_names,
    same_names,
)
from curvewise.exchange.tables import (
    design_beside,
    existing,
    head_of,
    load,
    meanings_beside,
    meant_in,
    without_head,
)
from curvewise.exchange.write import changed, read_exact
from curvewise.metrics import is_quality
from curvewise.trials import Trials, names
from curvewise.trials.columns import Core, starts
from curvewise.trials.design import from_record
from curvewise.trials.names import metric_name


def read_results(
    source: object,
    *,
    runs: object = None,
    on: str | Sequence[str] | None = None,
    metrics: Metrics | None = None,
    unit: Unit | None = None,
    roles: NamedRoles | None = None,
    tool: str | None = None,
    where: Where | None = None,
    block: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] | None = None,
    **stated: Any,
) -> tuple[Trials, bool]:
    """Return the trials of results, and whether anything was not stated.

    `stated` are the roles that `curvewise.read` documents.
    """
    design = *several(block, "block"), *several(cluster, "cluster")
    trials, assigned = _read(
        *(source, runs, on, metrics, unit, roles, tool, where, stated, design)
    )
    if block is not None or cluster is not None:
        # A column may be known by another name: that of param.lr is lr.
        called = {} if assigned is None else assigned.params | assigned.labels
        parts = [
            None if own is None else [called.get(c, c) for c in several(own, "block")]
            for own in (block, cluster)
        ]
        trials = trials.with_design(block=parts[0], cluster=parts[1])
    return trials, assigned is not None and assigned.guessed


def _read(
    source: object,
    runs: object,
    on: str | Sequence[str] | None,
    metrics: Metrics | None,
    unit: Unit | None,
    roles: NamedRoles | None,
    tool: str | None,
    where: Where | None,
    stated: dict[str, Any],
    design: Sequence[str],
) -> tuple[Trials, Roles | None]:
    """Return trials with the design that was kept with them, and what columns are.

    Nothing is to be said of the columns of a table that we wrote.
    """
    if unit not in (None, "fraction", "percent", "mixed"):
        raise CurvewiseError(
            f"unit is {unit!r}. Pass 'fraction', 'percent' or 'mixed'.",
            argument="unit",
            value=unit,
        )
    must_be_where(where)
    if stated.get("trial") in ("row", ["row"]):  # as a shell says it
        stated["trial"] = []
    if on is not None and runs is None:
        raise CurvewiseError(
            Keyword("on"),
            " names the column that joins two tables. Pass ",
            {"runs": ...},
            " too.",
        )
    joining = several(on, "on")
    asked = _asked(stated, metrics, joining)
    found = found_in(source, asked, tool)
    _must_have_names(asked, found, stated)
    if isinstance(found, Runs) and metrics is not None:
        _must_have_metrics(stated_metrics(metrics, None), found, source, asked, tool)
    labels = None if runs is None else load(runs, joining)
    stated |= {"metrics": metrics, "unit": unit}
    kept = design_beside(source)
    if isinstance(found, Sheet) and (head := head_of(found.table)) is not None:
        kept = from_record(head.get("design"))
        stands = all(v is None for v in (runs, roles, where, *stated.values()))
        change = changed(found.table, head)
        if stands and not change:
            return read_exact(found.table, head, found.source), None
        remark = (
            f"It has changed since curvewise wrote it ({change}), and is read as any other "
            f"table. What its metrics mean is kept."
        )
        found = Sheet(
            found.source,
            without_head(found.table, found.source),
            {"known": meant_in(head)},
            remarks=(remark,) if stands else (),
        )
    if isinstance(found, Runs):
        if labels is not None:
            found = with_labels(found, _as_labels(*labels), on, labels[1])
        for keyword in ("step", "names", "decimal"):  # whoever read the runs knows them
            stated.pop(keyword, None)
        trials, assigned, found = trials_of(found, roles=roles, where=where, **stated)
    else:
        trials, assigned, found = _of_sheet(
            *(found, labels, on, roles, where, stated, design)
        )
    _tell(found)
    return trials.with_kept(kept), assigned


def _as_labels(table: pa.Table, name: str) -> pa.Table:
    """Return a table of runs that another tool exported, under our names of columns."""
    found = tools.from_table(table, name, Asked(), None)
    return found.table if isinstance(found, Runs) else table


def _asked(
    stated: dict[str, Any], metrics: Metrics | None, joining: Sequence[str]
) -> Asked:
    known: Mapping[str, Any] | None = None
    if isinstance(stated.get("params"), Mapping):
        known = stated.pop("params")
        stated["params"] = None
    scores = None if metrics is None else tuple(stated_metrics(metrics, None))
    bare = None if scores is None else (*scores, *map(metric_name, scores))
    tasks, given = stated.get("task"), (stated.get("task"), stated.get("algorithm"))
    texts = [one for one in given if isinstance(one, str)]
    named = (*joining, *texts, *(part for one in texts for part in one.split(SIGN)))
    step = stated.get("step") if isinstance(stated.get("step"), str) else None
    if tasks is None or isinstance(tasks, str):
        return Asked(step, bare, known, names=named)
    return Asked(step, bare, known, several(tasks, "task"), named)


def _must_have_names(asked: Asked, found: Runs | Sheet, stated: dict[str, Any]) -> None:
    """Leave a list of tasks to whoever reads columns: those of arrays are used up."""
    if asked.tasks is None:
        return
    if isinstance(found, Sheet) and "task" in found.stated:
        stated["task"] = None
    elif isinstance(found, Runs):
        raise CurvewiseError(
            f"task is {list(asked.tasks)}, and {found.source} has labels. Name the one "
            f"with the tasks; a list is for tables with one column of scores for each."
        )


def _must_have_metrics(
    asked_for: Iterable[str],
    found: Runs,
    source: object,
    asked: Asked,
    tool: str | None,
) -> None:
    """Raise for metrics that no run logged, with those that there are."""
    logged = set(found.scalars.names)
    missing = [name for name in asked_for if not {name, metric_name(name)} & logged]
    if missing:
        try:
            every = found_in(source, replace(asked, metrics=None), tool)
        except CurvewiseError:  # it asks what the metrics mean that were not named
            every = found
        known = every.scalars.names if isinstance(every, Runs) else ()
        raise unknown("metric", missing[0], known)


def _of_sheet(
    sheet: Sheet,
    labels: Any,
    on: Any,
    roles: NamedRoles | None,
    where: Where | None,
    stated: dict[str, Any],
    design: Sequence[str],
) -> tuple[Trials, Roles, Sheet]:
    table, name = sheet.table, sheet.source
    run_level: list[str] = []
    keys: list[str] = []
    if labels is not None:
        table, run_level, keys = joined(table, labels[0], on, name, labels[1])
        name = f"{name} + {labels[1]}"
    if roles is not None:
        table = rows_with_roles(table, roles, name)
    if where is not None:
        table = table.filter(pa.array(chosen_rows(table, where, name)))
    known = {k: v for k, v in sheet.stated.items() if stated.get(k) is None}
    stated = stated | known
    own_names, unit = stated.pop("names", None), stated["unit"]
    must_be_names(own_names)
    shaped = in_shape(table, name, stated | {"block": design})
    table = shaped.table
    joins = [c for c in keys if c in table.column_names]
    assigned = assign(
        table,
        run_level=run_level,
        joined_on=joins,
        design=design,
        **_roles_in(shaped.stated),
    )
    assigned = in_tasks(assigned, table, shaped.stated["metrics"])
    is_told = stated.get("trial") is not None or stated.get("step") is not None
    trials = _trials(
        *(table, assigned, unit, name, shaped), is_told=is_told, own_names=own_names
    )
    return trials, assigned, sheet


def _roles_in(stated: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in stated.items() if k not in ("decimal", "names", "block")}


def _tell(found: Runs | Sheet) -> None:
    left_out = [summary_of(found.left_out)] if found.left_out else []
    for text in (*filter(None, found.remarks), *left_out):
        said = Message(f"{found.source}: ", text)
        warnings.warn(said, CurvewiseWarning, stacklevel=4)


# --- one table ---------------------------------------------------------------------------


def _trials(
    table: pa.Table,
    roles: Roles,
    unit: Unit | None,
    name: str,
    shaped: Shaped,
    *,
    is_told: bool,
    own_names: str | None,
) -> Trials:
    task, tasks = same_names(*codes(table, roles.task), roles.task, own_names)
    algorithm, algorithms = same_names(
        *codes(table, roles.algorithm), roles.algorithm, own_names
    )
    step = _steps(table, roles)
    number = numbers_of(table, roles, task, algorithm, step)
    order = np.lexsort((step, number, algorithm, task))
    unsorted, table = table, table.take(pa.array(order))
    task, algorithm, number, step = (c[order] for c in (task, algorithm, number, step))
    new = np.ones(len(step), bool)
    new[1:] = (np.diff(task) != 0) | (np.diff(algorithm) != 0) | (np.diff(number) != 0)
    _refuse_repeated(table, roles, new, step)
    # Rows of a run that are not in the order of its steps may be of two runs.
    if roles.step is not None and not is_told and (np.diff(order)[~new[1:]] < 0).any():
        keys = [c for c in (roles.task, roles.algorithm, *roles.trial) if c]
        refuse_restarts(unsorted, keys, roles.trial, roles.step)
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
    status, errors = statuses(table, roles, last, is_cut | (lengths == 0))
    # "metrics.acc" is another tool's, "metric.step" our own way to say: a metric.
    name_of = {c: metric_name(c) for c in roles.metrics}
    meant = meanings({name_of[c]: m for c, m in roles.metrics.items()}, unit)
    core = Core(
        task[first].astype(np.int32),
        algorithm[first].astype(np.int32),
        number[first],
        status,
        starts(lengths),
        np.nan_to_num(step[kept]),
        {
            n: scaled(values[c][kept], meant[n], unit, owner[kept])
            for c, n in name_of.items()
        },
        {name_of[c]: known for c, known in recorded.items()},
    )
    details = details_of(table, roles, first, kept, errors, lengths)
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


# --- shapes of tables --------------------------------------------------------------------


_SHAPES = (
    *(
        shapes.numbers,
        shapes.joint,
        layout.summaries,
        layout.summary_rows,
        layout.melted,
    ),
    *(counts.classes, counts.matrix, counts.examples, counts.items, counts.shares),
    *(layout.wide, endings.endings, layout.rows),
)


def in_shape(table: pa.Table, name: str, stated: Stated) -> Shaped:
    """Return a table with one row per run or step, whatever shape it came in."""
    shaped = Shaped(table, dict(stated))
    for recognise in _SHAPES:
        shaped = recognise(shaped, name) or shaped
    return shaped


# --- Whose results these are: another tool's, or a table of the caller's own -----------


_SQLITE = "sqlite:///"


def found_in(source: object, asked: Asked, tool: str | None) -> Runs | Sheet:
    """Return the runs that another tool kept, or a table as it stands."""
    tools.must_be_tool(tool)
    if (paths := tools.several_paths(source)) is not None:
        found = tools.from_path(paths, asked, tool)
    elif isinstance(source, str | Path):
        path = existing(str(source).removeprefix(_SQLITE), folder=True)
        found = tools.from_path(path, asked, tool)
        source = path
    else:
        found = tools.from_object(source, asked, tool)
    if found is None:
        table, name = load(source, asked.names)
        head = head_of(table)
        if tool is None and head is not None:
            if isinstance(source, Path) or not _is_pandas(source):
                return Sheet(name, table)
            # pandas has one word for "not recorded" and "not a number": read as usual.
            known = meant_in(head)
            return Sheet(name, without_head(table, name), {"known": known})
        found = tools.from_table(table, name, asked, tool)
        if found is None and tool is not None:
            raise CurvewiseError(
                f"{name} does not look like results of {tool}. Leave out ",
                Keyword("tool"),
                f", or pass what {tool} wrote.",
                argument="tool",
                value=tool,
            )
        found = found or Sheet(name, table, {"known": meanings_beside(source)})
    return found


def _is_pandas(source: object) -> bool:
    return type(source).__module__.partition(".")[0] == "pandas"
