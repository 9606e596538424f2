"""Charts, tables of runs and histories, as Weights & Biases exports them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.exchange.columns import numbers
from curvewise.exchange.rows import columns_varying, is_number, nulls
from curvewise.exchange.runs import (
    Asked,
    Gathered,
    LeftOut,
    Runs,
    joined_scalars,
    scalars_by_metric,
)
from curvewise.metrics import Direction, Floats, is_quality
from curvewise.text import count
from curvewise.trials import names
from curvewise.trials.columns import Ints

_BETWEEN = " - "  # "<run> - <metric>"
_ENDS = ("__MIN", "__MAX")
_CLOCKS_OF_CHARTS = (
    *"Step _step global_step epoch _runtime _timestamp".split(),
    "Relative Time (Process)",
    "Relative Time (Wall)",
    "Wall Time",
)
_GROUP = re.compile(r"^[\w./ ]+: \S")
_GOING_ON = {"preempting": "running"}


def fits_table(table: pa.Table) -> bool:
    """Return whether a table is a chart, a table of runs, or a history."""
    columns = table.column_names
    return is_history(columns) or _is_runs_table(columns) or _is_chart(table)


def read_table(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the runs of a table that was exported from Weights & Biases."""
    if _is_runs_table(table.column_names):
        return _table_runs(table, name, asked)
    if is_history(table.column_names):
        history = History(PurePath(name).stem, table)
        return history_runs(f"W&B history {name}", [history], asked)
    return _chart_runs(table, name, asked)


# --- a chart -----------------------------------------------------------------------------


def _is_chart(table: pa.Table) -> bool:
    """Return whether a table is a chart: a clock, then columns of runs."""
    first, *rest = table.column_names or [""]
    if any(_curve(c, rest) and f"{c}__MIN" in rest for c in rest):
        return True
    return (
        first in _CLOCKS_OF_CHARTS and bool(rest) and all(_BETWEEN in c for c in rest)
    )


def _chart_runs(table: pa.Table, name: str, asked: Asked) -> Runs:
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
            f"out, or export the chart with another x-axis.",
            argument="step",
            value=asked.step,
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
    runs = Counter(run for some in ways.values() for run, _ in some)
    metrics = Counter(metric for some in ways.values() for _, metric in some)
    return {
        column: max(some, key=lambda way: (runs[way[0]] + metrics[way[1]], len(way[0])))
        for column, some in ways.items()
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
    *"Name Agent State Notes User Tags Created Runtime Sweep ID Group".split(),
    *"Hostname Updated Commit GitHub".split(),
    "Job Type",
    "End Time",
)


def _is_runs_table(columns: Sequence[str]) -> bool:
    """Return whether a table is the table of runs of a project."""
    return {"Name", "State"} <= set(columns) and bool(
        {"Created", "Runtime", "Sweep", "_runtime", "_timestamp"} & set(columns)
    )


def _table_runs(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return one run per row: what was configured, and the last of each metric."""
    asked.must_count_by((), f"W&B's table {name}")
    free = [c for c in table.column_names if c not in _FIXED and not _is_own(c)]
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
        label = f"config.{column}" if column in configured else column
        columns[label] = table.column(column)
    rows = {c: np.flatnonzero(~nulls(table, c)) for c in measured}
    scores = [(c, 0.0, r, numbers(table, c)[r]) for c, r in rows.items() if len(r)]
    return Runs(
        f"W&B table of runs {name}",
        pa.table(columns),
        scalars_by_metric(scores),
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


def _is_own(column: str) -> bool:
    """Return whether a column is the tool's own, and no metric of the user."""
    return column.startswith(("_", "system/", "system."))


def _says_nothing(column: pa.ChunkedArray) -> bool:
    return all(value in (None, "", "-") for value in column.unique().to_pylist())


# --- Histories of runs of Weights & Biases: one row per step, one column per metric ----


_CLOCKS = ("_step", "_runtime", "_timestamp")
_RUN = ("run", "run_name", "run_id", "_run", "name", "id")
# How many rows samples of a history have, by default and as people ask for them.
_SAMPLES = (500, 1_000, 1_500, 2_000, 5_000, 10_000)


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The history of a run, or of several, whose table says itself whose rows they are."""

    name: str
    table: pa.Table
    row: Mapping[str, Any] = field(
        default_factory=dict
    )  # what else is known of the run
    is_whole: bool = False  # surely no sample
    damage: str = ""  # what to say of a file that could not be read to its end
    meant: Mapping[str, Direction] = field(default_factory=dict)


def is_history(columns: Sequence[str]) -> bool:
    """Return whether a table is a history, by the clocks that every one has."""
    return "_step" in columns and bool({"_runtime", "_timestamp"} & set(columns))


class _Histories(Gathered):
    """What was gathered of all histories."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, None] = {}
        self.sampled: list[str] = []
        self.lost = 0


def history_runs(source: str, histories: Iterable[History], asked: Asked) -> Runs:
    """Return the runs of histories."""
    runs = _Histories()
    damage = []
    meant: dict[str, set[Direction]] = {}
    for history in histories:
        _gather(history, asked, runs)
        for name, way in history.meant.items():
            meant.setdefault(name, set()).add(way)
        if history.damage:
            damage.append(f"{history.damage}.")
    table = runs.table()
    has_projects = "project" in table.column_names and (
        len(table.column("project").unique()) > 1
    )
    clock = asked.step or "_step"
    lost = LeftOut(runs.lost, f"logged where '{clock}' was not", what="score")
    return Runs(
        source,
        table,
        runs.scalars(),
        usual={"task": "project"} if has_projects else {},
        meant={name: ways.pop() for name, ways in meant.items() if len(ways) == 1},
        steps=clock,
        left_out=(lost,) if lost.n else (),
        remarks=(*damage, *_remarks(list(runs.texts), runs.sampled)),
    )


def _gather(history: History, asked: Asked, runs: _Histories) -> None:
    """Add the runs of a history to what was gathered."""
    name, table = history.name, history.table
    table = table.select([c for c in table.column_names if not _is_index(c)])
    column = None if history.is_whole else _run_column(table)
    metrics, labels, media = _kinds(table, column, asked)
    if asked.metrics is None:  # whoever names metrics knows that media are none
        runs.texts |= dict.fromkeys(media)
    clock = asked.step or "_step"
    if clock not in table.column_names or not is_number(table, clock):
        have = [c for c in table.column_names if is_number(table, c)]
        raise CurvewiseError(
            f"step is '{shortened(clock)}', which is no column of numbers in {name}; there "
            f"are {listed(have)}. Pass one of them.",
            argument="step",
            value=clock,
        )
    steps: Floats = numbers(table, clock)
    counts = numbers(table, "_step")
    values = {c: numbers(table, c) for c in metrics}
    logged = {c: ~nulls(table, c) for c in metrics}
    timed = "_runtime" in table.column_names and is_number(table, "_runtime")
    seconds = numbers(table, "_runtime") if timed else np.full(len(steps), np.nan)
    for run, rows in _rows_of(table, column, name):
        _refuse_repeated(counts[rows], run, name, column)
        if not history.is_whole and (note := _looks_sampled(counts[rows])):
            runs.sampled.append(f"'{shortened(run)}': {note}")
        row = {"run": run, **history.row, "seconds": _largest(seconds[rows])}
        row |= {n: table.column(c)[int(rows[0])].as_py() for c, n in labels.items()}
        curves = []
        for metric in metrics:
            is_placed = logged[metric][rows] & np.isfinite(steps[rows])
            runs.lost += int(logged[metric][rows].sum() - is_placed.sum())
            places = rows[is_placed]
            if len(places):
                curves.append((metric, steps[places], values[metric][places]))
        runs.add(row, curves)


def _run_column(table: pa.Table) -> str | None:
    column = names.first(_RUN, [c for c in table.column_names if c != "_step"])
    return None if column is None or nulls(table, column).any() else column


def _is_index(column: str) -> bool:
    """Return whether pandas wrote its row numbers there."""
    return column == "" or column.startswith("Unnamed: ")


def _kinds(
    table: pa.Table, run: str | None, asked: Asked
) -> tuple[list[str], dict[str, str], list[str]]:
    """Return columns with metrics, with labels (and their names), and names of media.

    Columns that count steps are no metrics; ``step=`` may name one of them. Where rows of
    several runs stand together, people put the configuration beside them: what never
    changes within a run, and has no usual name of a score, is taken for that.
    """
    media = [
        c.removesuffix("._type") for c in table.column_names if c.endswith("._type")
    ]
    free = [
        c
        for c in table.column_names
        if c not in (run, *_CLOCKS, asked.step)
        and not any(c.startswith(f"{name}.") for name in media)
    ]
    numeric = [c for c in free if is_number(table, c)]
    if asked.metrics is not None:
        metrics = [c for c in numeric if asked.wants(c)]
    else:
        clocks = names.every(names.STEP, numeric)
        metrics = [c for c in numeric if not _is_own(c) and c not in clocks]
    keys = [] if run is None else [run]
    varying = set(columns_varying(table, keys, free))
    steady = [c for c in free if c not in varying and not _is_own(c)]
    if run is not None and asked.metrics is None:
        whole = [c for c in steady if not nulls(table, c).any()]
        metrics = [c for c in metrics if c not in whole or names.is_score(c)]
    steady = [c for c in steady if c not in metrics]
    steady = [c for c in steady if run is not None or c not in numeric]
    labels = {c: f"config.{c}" if names.is_param(c) else c for c in steady}
    texts = [c for c in free if c not in (*numeric, *steady) and not _is_own(c)]
    return metrics, labels, [*media, *texts]


def _rows_of(
    table: pa.Table, column: str | None, name: str
) -> Iterable[tuple[str, Ints]]:
    if column is None:
        yield name, np.arange(table.num_rows)
        return
    runs = table.column(column).cast(pa.string()).combine_chunks().dictionary_encode()
    codes = runs.indices.to_numpy()
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(runs.dictionary) + 1))
    for i, run in enumerate(runs.dictionary.to_pylist()):
        yield run, order[ends[i] : ends[i + 1]]


def _refuse_repeated(steps: Floats, run: str, name: str, column: str | None) -> None:
    finite = steps[np.isfinite(steps)]
    again = len(finite) - len(np.unique(finite))
    if not again:
        return
    whose = (
        f"'{column}' is the same in them: use the run's id instead of its name"
        if column
        else "no column says which: add one called 'run'"
    )
    raise CurvewiseError(
        f"{again} of {len(steps)} rows of '{shortened(run)}' in {name} repeat a _step, "
        f"which a history never does. Histories of several runs seem to be put together, "
        f"and {whose}."
    )


def _looks_sampled(steps: Floats) -> str:
    """Return what seems to be missing from a history that is as long as samples are."""
    finite = np.unique(steps[np.isfinite(steps)])
    if len(finite) not in _SAMPLES:
        return ""
    apart = np.diff(finite).astype(np.int64)
    every = int(np.gcd.reduce(apart)) or 1
    there = int((finite[-1] - finite[0]) // every) + 1
    if there == len(finite):
        return ""
    return f"{len(finite):,} rows, {there - len(finite):,} of {there:,} steps missing"


def _largest(values: Floats) -> float | None:
    finite = values[np.isfinite(values)]
    return float(finite.max()) if len(finite) else None


def _remarks(texts: list[str], sampled: list[str]) -> Iterable[str]:
    if sampled:
        more = f" and {len(sampled) - 3} more runs" if len(sampled) > 3 else ""
        yield (
            f"{count(len(sampled), 'run')} looks sampled, as run.history() does it "
            f"({'; '.join(sampled[:3])}{more}). run.scan_history() or the history artifact "
            f"in Parquet has every step."
        )
    if texts:
        yield f"{listed(texts, most=6)} hold text or media: no metrics, and not read."
