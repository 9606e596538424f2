"""Charts and tables of runs as the pages of Weights & Biases export them."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise._text import count
from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.exchange.grouping import is_number, nulls
from curvewise.exchange.per_run import numbers
from curvewise.exchange.runs import Asked, Runs, joined_scalars
from curvewise.metrics import is_quality
from curvewise.trials import names

_BETWEEN = " - "  # "<run> - <metric>"
_ENDS = ("__MIN", "__MAX")
_CLOCKS = (
    *("Step", "_step", "global_step", "epoch", "Relative Time (Process)"),
    *("Relative Time (Wall)", "Wall Time", "_runtime", "_timestamp"),
)
_GROUP = re.compile(r"^[\w./ ]+: \S")
_GOING_ON = {"preempting": "running"}


# --- a chart -----------------------------------------------------------------------------


def is_chart(table: pa.Table) -> bool:
    """Return whether a table is a chart: a clock, then columns of runs."""
    first, *rest = table.column_names or [""]
    if any(_curve(c, rest) and f"{c}__MIN" in rest for c in rest):
        return True
    return first in _CLOCKS and bool(rest) and all(_BETWEEN in c for c in rest)


def chart_runs(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the curves of a chart, one for each run and metric."""
    clock, *rest = table.column_names
    columns = [c for c in rest if _curve(c, rest)]
    split = _split(columns)
    own_clock = asked.step in ("_step", "step") and clock not in ("Step", "_step")
    if asked.step not in (None, clock, "_step", "step") or (
        own_clock and not any(metric == "_step" for _, metric in split.values())
    ):
        raise CurvewiseError(
            f"step is '{shortened(asked.step)}', and {name} counts by '{clock}'. Leave it "
            f"out, or export the chart with another x-axis."
        )
    runs = list(dict.fromkeys(run for run, _ in split.values()))
    places = {run: i for i, run in enumerate(runs)}
    clocks = {run: c for c, (run, metric) in split.items() if metric == "_step"}
    common = numbers(table, clock)
    parts, texts, wide, points = [], [], 0, 0
    for column, (run, metric) in split.items():
        if metric.startswith("_") or not asked.wants(metric):
            continue
        if not is_number(table, column):
            texts.append(column)
            continue
        at = numbers(table, clocks[run]) if own_clock and run in clocks else common
        known = ~nulls(table, column) & np.isfinite(at)
        parts.append((places[run], metric, at[known], numbers(table, column)[known]))
        wide += int(_spread(table, column)[known].sum())
        points += int(known.sum())
    return Runs(
        f"W&B chart {name}",
        pa.table({"run": runs}),
        joined_scalars(parts),
        steps="_step" if own_clock else clock,
        remarks=tuple(_chart_remarks(runs, texts, wide, points)),
    )


def _curve(column: str, columns: Sequence[str]) -> bool:
    """Return whether a column is a curve, and not the least or largest of one."""
    return not any(
        column.endswith(end) and column.removesuffix(end) in columns for end in _ENDS
    )


def _split(columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the run and the metric of each column.

    Both may hold the separator. What other columns share is a name; where nothing decides,
    the last separator does.
    """
    ways = {c: _ways(c) for c in columns}
    runs = Counter(run for own in ways.values() for run, _ in own)
    metrics = Counter(metric for own in ways.values() for _, metric in own)
    return {
        column: max(own, key=lambda way: (runs[way[0]] + metrics[way[1]], len(way[0])))
        for column, own in ways.items()
    }


def _ways(column: str) -> list[tuple[str, str]]:
    parts = column.split(_BETWEEN)
    if len(parts) == 1:  # a chart of one run may leave its name out
        return [("run", column)]
    return [
        (_BETWEEN.join(parts[:i]), _BETWEEN.join(parts[i:]))
        for i in range(1, len(parts))
    ]


def _spread(table: pa.Table, column: str) -> Any:
    """Return where the least and the largest of a point differ: it stands for several."""
    ends = [f"{column}{end}" for end in _ENDS]
    if not all(end in table.column_names and is_number(table, end) for end in ends):
        return np.zeros(table.num_rows, bool)
    low, high = (numbers(table, end) for end in ends)
    return low < high


def _chart_remarks(
    runs: Sequence[str], texts: Sequence[str], wide: int, points: int
) -> list[str]:
    groups = [run for run in runs if _GROUP.match(run)]
    out = []
    if groups:
        out.append(
            f"{count(len(groups), 'curve')} of {len(runs)} look like groups of runs "
            f"('{shortened(groups[0])}'): each is an average, and no run. Switch grouping "
            f"off and export the chart again, to have the runs themselves."
        )
    if wide and len(groups) < len(runs):
        out.append(
            f"{wide:,} of {points:,} points stand for several steps (their __MIN and __MAX "
            f"differ): the page draws a sample of long curves. run.scan_history() or the "
            f"history artifact in Parquet has every step."
        )
    if texts:
        out.append(f"{listed(texts, most=4)} hold no numbers, and are not read.")
    return out


# --- the table of runs -------------------------------------------------------------------

_FIXED = (
    *("Name", "Agent", "State", "Notes", "User", "Tags", "Created", "Runtime", "Sweep"),
    *("ID", "Group", "Job Type", "Hostname", "Updated", "End Time", "Commit", "GitHub"),
)


def is_runs_table(columns: Sequence[str]) -> bool:
    """Return whether a table is the table of runs of a project."""
    return {"Name", "State"} <= set(columns) and bool(
        {"Created", "Runtime", "Sweep", "_runtime", "_timestamp"} & set(columns)
    )


def table_runs(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return one run per row: what was configured, and the last of each metric."""
    if asked.step is not None:
        raise CurvewiseError(
            f"step is '{shortened(asked.step)}', and {name} is a table with one row per "
            f"run, without steps. Leave it out, or export a chart."
        )
    free = [c for c in table.column_names if c not in _FIXED and not is_own(c)]
    configured, measured = _halves(table, free)
    if asked.metrics is not None:
        measured = [c for c in free if asked.wants(c)]
    words = table.column("State").cast(pa.string()).to_pylist()
    columns: dict[str, Any] = {
        "run": table.column("Name").cast(pa.string()),
        "status": [_GOING_ON.get(word, word) for word in words],
    }
    if "Runtime" in table.column_names and is_number(table, "Runtime"):
        columns["seconds"] = table.column("Runtime")
    for column in table.column_names:
        if column in ("Name", "State", "Runtime", *measured) or _says_nothing(
            table.column(column)
        ):
            continue
        kept = f"config.{column}" if column in configured else column
        columns[kept] = table.column(column)
    values = {c: numbers(table, c) for c in measured}
    known = {c: ~nulls(table, c) for c in measured}
    once = np.zeros(1)
    parts = [
        (i, c, once, values[c][i : i + 1])
        for c in measured
        for i in np.flatnonzero(known[c]).tolist()
    ]
    return Runs(
        f"W&B table of runs {name}",
        pa.table(columns),
        joined_scalars(parts),
        steps="",
    )


def _halves(table: pa.Table, free: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns of the configuration, and those of numbers that were logged.

    The page sorts each kind by name and puts the configuration first: where the names
    begin again, the second kind begins. If they do so more than once, columns were moved,
    and only usual names of scores are taken for such.
    """
    for key in (str, str.casefold):
        falls = [i for i in range(1, len(free)) if key(free[i]) < key(free[i - 1])]
        if len(falls) == 1:
            first, second = free[: falls[0]], free[falls[0] :]
            clocks = set(names.every(names.STEP, second))
            measured = [
                c
                for c in second
                if is_number(table, c) and c not in clocks and is_quality(c)
            ]
            return [c for c in free if c in first or names.is_param(c)], measured
    scores = [c for c in free if is_number(table, c) and names.is_score(c)]
    return [c for c in free if c not in scores and names.is_param(c)], scores


def is_own(column: str) -> bool:
    """Return whether a column is the tool's own, and no metric of the user."""
    return column.startswith(("_", "system/", "system."))


def _says_nothing(column: pa.ChunkedArray) -> bool:
    return all(value in (None, "", "-") for value in column.unique().to_pylist())
