"""Results of anybody's as trials: whose they are, and from a table to trials."""

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from curvewise.errors import CurvewiseError, CurvewiseWarning, Keyword, Message, unknown
from curvewise.exchange import shapes, tools
from curvewise.exchange.columns import in_tasks, trials_of_rows
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
    chosen_rows,
    joined,
    must_be_where,
)
from curvewise.exchange.run_names import NamedRoles, rows_with_roles
from curvewise.exchange.runs import Asked, Runs, Sheet
from curvewise.exchange.runs_to_trials import summary_of, trials_of, with_labels
from curvewise.exchange.shapes import (
    Shaped,
    Stated,
    counts,
    endings,
    layout,
)
from curvewise.exchange.tables import (
    existing,
    head_of,
    load,
    meant_in,
    without_head,
)
from curvewise.exchange.write import changed, read_exact
from curvewise.metrics import Metric
from curvewise.trials import Trials
from curvewise.trials.design import Design, from_record
from curvewise.trials.names import metric_name
from curvewise.trials.view import DESIGN_NOTE, NOTE, column_of_metric


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
    if unit not in (None, "fraction", "percent", "mixed"):
        raise CurvewiseError(
            f"unit is {unit!r}. Pass 'fraction', 'percent' or 'mixed'.",
            argument="unit",
            value=unit,
        )
    must_be_where(where)
    if on is not None and runs is None:
        raise CurvewiseError(
            Keyword("on"),
            " names the column that joins two tables. Pass ",
            {"runs": ...},
            " too.",
        )
    if stated.get("trial") in ("row", ["row"]):  # as a shell says it
        stated["trial"] = []
    stated |= {"metrics": metrics, "unit": unit}
    design = *several(block, "block"), *several(cluster, "cluster")
    trials, assigned = _read(source, runs, on, roles, tool, where, stated, design)
    if block is not None or cluster is not None:
        # A column may be known by another name: that of param.lr is lr.
        names_of = {} if assigned is None else assigned.params | assigned.labels
        parts = [
            None
            if columns is None
            else [names_of.get(c, c) for c in several(columns, "block")]
            for columns in (block, cluster)
        ]
        trials = trials.with_design(block=parts[0], cluster=parts[1])
    return trials, assigned is not None and assigned.guessed


def _read(
    source: object,
    runs: object,
    on: str | Sequence[str] | None,
    roles: NamedRoles | None,
    tool: str | None,
    where: Where | None,
    stated: dict[str, Any],
    design: Sequence[str],
) -> tuple[Trials, Roles | None]:
    """Return trials with the design that was kept with them, and what columns are.

    Nothing is to be said of the columns of a table that we wrote.
    """
    joining = several(on, "on")
    asked = _asked(stated, joining)
    results = found_in(source, asked, tool)
    _must_have_names(asked, results, stated)
    if isinstance(results, Runs) and stated["metrics"] is not None:
        _must_have_metrics(stated["metrics"], results, source, asked, tool)
    labels = None if runs is None else load(runs, joining)
    design_kept = _design_beside(source)
    if isinstance(results, Sheet) and (head := head_of(results.table)) is not None:
        design_kept = from_record(head.get("design"))
        is_plain = all(v is None for v in (runs, roles, where, *stated.values()))
        change = changed(results.table, head)
        if is_plain and not change:
            return read_exact(results.table, head, results.source), None
        remark = (
            f"It has changed since curvewise wrote it ({change}), and is read as any other "
            f"table. What its metrics mean is kept."
        )
        results = Sheet(
            results.source,
            without_head(results.table, results.source),
            {"known": meant_in(head)},
            remarks=(remark,) if is_plain else (),
        )
    if isinstance(results, Runs):
        if labels is not None:
            results = with_labels(results, _as_labels(*labels), on, labels[1])
        for keyword in ("step", "names", "decimal"):  # whoever read the runs knows them
            stated.pop(keyword, None)
        trials, assigned, results = trials_of(
            results, roles=roles, where=where, **stated
        )
    else:
        trials, assigned = _of_sheet(results, labels, on, roles, where, stated, design)
    _tell(results)
    return trials.with_kept(design_kept), assigned


def _as_labels(table: pa.Table, name: str) -> pa.Table:
    """Return a table of runs that another tool exported, under our names of columns."""
    results = tools.from_table(table, name, Asked(), None)
    return results.table if isinstance(results, Runs) else table


def _asked(stated: dict[str, Any], joining: Sequence[str]) -> Asked:
    params: Mapping[str, Any] | None = None
    if isinstance(stated.get("params"), Mapping):
        params = stated.pop("params")
        stated["params"] = None
    metrics, task, step = (stated.get(role) for role in ("metrics", "task", "step"))
    scores = () if metrics is None else tuple(stated_metrics(metrics, None))
    texts = [c for c in (task, stated.get("algorithm")) if isinstance(c, str)]
    return Asked(
        step=step if isinstance(step, str) else None,
        metrics=None if metrics is None else (*scores, *map(metric_name, scores)),
        params=params,
        tasks=None if task is None or isinstance(task, str) else several(task, "task"),
        names=(*joining, *texts, *(part for c in texts for part in c.split(SIGN))),
    )


def _must_have_names(
    asked: Asked, results: Runs | Sheet, stated: dict[str, Any]
) -> None:
    """Leave a list of tasks to whoever reads columns: those of arrays are used up."""
    if asked.tasks is None:
        return
    if isinstance(results, Sheet) and "task" in results.stated:
        stated["task"] = None
    elif isinstance(results, Runs):
        raise CurvewiseError(
            f"task is {list(asked.tasks)}, and {results.source} has labels. Name the one "
            f"with the tasks; a list is for tables with one column of scores for each."
        )


def _must_have_metrics(
    metrics: Metrics,
    runs: Runs,
    source: object,
    asked: Asked,
    tool: str | None,
) -> None:
    """Raise for metrics that no run logged, with those that there are."""
    logged = set(runs.scalars.names)
    missing = [
        name
        for name in stated_metrics(metrics, None)
        if not {name, metric_name(name)} & logged
    ]
    if missing:
        try:
            every = found_in(source, replace(asked, metrics=None), tool)
        except CurvewiseError:  # it asks what the metrics mean that were not named
            every = runs
        names = every.scalars.names if isinstance(every, Runs) else ()
        raise unknown("metric", missing[0], names)


def _of_sheet(
    sheet: Sheet,
    labels: Any,
    on: Any,
    roles: NamedRoles | None,
    where: Where | None,
    stated: dict[str, Any],
    design: Sequence[str],
) -> tuple[Trials, Roles]:
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
    stated |= {k: v for k, v in sheet.stated.items() if stated.get(k) is None}
    own_names, unit = stated.pop("names", None), stated["unit"]
    if own_names not in (None, "casefold", "exact"):
        raise CurvewiseError(
            f"names is {own_names!r}. Pass 'casefold' or 'exact'.",
            argument="names",
            value=own_names,
        )
    shaped = in_shape(table, name, stated | {"block": design})
    table, rest = shaped.table, ("decimal", "names", "block")
    assigned = assign(
        table,
        run_level=run_level,
        joined_on=[c for c in keys if c in table.column_names],
        design=design,
        **{k: v for k, v in shaped.stated.items() if k not in rest},
    )
    assigned = in_tasks(assigned, table, shaped.stated["metrics"])
    is_told = stated.get("trial") is not None or stated.get("step") is not None
    trials = trials_of_rows(
        *(table, assigned, unit, name, shaped), is_told=is_told, own_names=own_names
    )
    return trials, assigned


def _tell(results: Runs | Sheet) -> None:
    left_out = [summary_of(results.left_out)] if results.left_out else []
    for text in (*filter(None, results.remarks), *left_out):
        message = Message(f"{results.source}: ", text)
        warnings.warn(message, CurvewiseWarning, stacklevel=4)


# --- shapes of tables --------------------------------------------------------------------


_SHAPES = (
    *(shapes.numbers, shapes.joint),
    *(layout.summaries, layout.summary_rows, layout.melted),
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
    if tool is not None and tool not in tools.TOOLS:
        raise unknown("tool", tool, tools.TOOLS)
    if (paths := tools.several_paths(source)) is not None:
        results = tools.from_path(paths, asked, tool)
    elif isinstance(source, str | Path):
        path = existing(str(source).removeprefix(_SQLITE), folder=True)
        results = tools.from_path(path, asked, tool)
        source = path
    else:
        results = tools.from_object(source, asked, tool)
    if results is None:
        table, name = load(source, asked.names)
        head = head_of(table)
        if tool is None and head is not None:
            if isinstance(source, Path) or not _is_pandas(source):
                return Sheet(name, table)
            # pandas has one word for "not recorded" and "not a number": read as usual.
            metrics = meant_in(head)
            return Sheet(name, without_head(table, name), {"known": metrics})
        results = tools.from_table(table, name, asked, tool)
        if results is None and tool is not None:
            raise CurvewiseError(
                f"{name} does not look like results of {tool}. Leave out ",
                Keyword("tool"),
                f", or pass what {tool} wrote.",
                argument="tool",
                value=tool,
            )
        results = results or Sheet(name, table, {"known": _meanings_beside(source)})
    return results


def _is_pandas(source: object) -> bool:
    return type(source).__module__.partition(".")[0] == "pandas"


# --- What is noted beside a frame of ours ------------------------------------------------


def _meanings_beside(source: Any) -> dict[str, Metric]:
    """Return what the columns of a frame of ours mean, as noted beside the frame."""
    try:
        fields = json.loads(_notes_beside(source).get(NOTE, "{}"))
        return {column_of_metric(n): Metric.of_fields(one) for n, one in fields.items()}
    except (TypeError, ValueError, AttributeError):
        return {}  # somebody else's note of the same name


def _design_beside(source: Any) -> Design:
    """Return what replicates what in a frame of ours, as noted beside the frame."""
    try:
        record = json.loads(_notes_beside(source).get(DESIGN_NOTE, "{}"))
    except (TypeError, ValueError):
        return Design()
    return from_record(record) if record else Design()


def _notes_beside(source: Any) -> Mapping[Any, Any]:
    """Return notes: pandas keeps them in ``attrs``, pyarrow in the schema."""
    notes = getattr(source, "attrs", None)
    if isinstance(source, pa.Table):
        written = source.schema.metadata or {}
        notes = {key.decode(errors="replace"): text for key, text in written.items()}
    return notes if isinstance(notes, Mapping) else {}
