"""Weights & Biases: charts, tables of runs, histories, and what it keeps of runs here."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pyarrow as pa

from curvewise.errors import CurvewiseError, Message, shortened
from curvewise.exchange.runs import Asked, LeftOut, Runs
from curvewise.exchange.tables import load
from curvewise.exchange.tools.seeing import Seen
from curvewise.exchange.tools.wandb.chart import (
    chart_runs,
    is_chart,
    is_runs_table,
    table_runs,
)
from curvewise.exchange.tools.wandb.history import History, history_runs, is_history
from curvewise.exchange.tools.wandb.offline import offline_runs

_TABLES = (".parquet", ".csv")
_MOST_LOOKED_AT = 40
_MOST_OF_A_LINE = 1_000_000
_ARTIFACT = re.compile(r"(?:run-)?(.+?)-history(?:[:_-]?v\d+)?")
_BINARY = re.compile(r"run-[^/]*\.wandb$")


def fits_table(table: pa.Table) -> bool:
    """Return whether a table is a chart, a table of runs, or a history."""
    columns = table.column_names
    return is_history(columns) or is_runs_table(columns) or is_chart(table)


def read_table(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the runs of a table that was exported from Weights & Biases."""
    if is_history(table.column_names) and not is_runs_table(table.column_names):
        history = History(Path(name).stem, table)
        return history_runs(f"W&B history {name}", [history], asked)
    if is_runs_table(table.column_names):
        return table_runs(table, name, asked)
    return chart_runs(table, name, asked)


def fits_path(seen: Seen) -> bool:
    """Return whether a folder holds histories, or files that were written during runs."""
    if any(map(_BINARY.search, seen.files)):
        return True
    if not seen.is_folder:
        return False
    files = [file for file in seen.files if file.endswith(_TABLES)]
    return any(_has_history(seen.place(file)) for file in files[:_MOST_LOOKED_AT])


def read_path(seen: Seen, asked: Asked) -> Runs:
    """Return the runs of a folder: one for each artifact, file, or local run."""
    unread: list[tuple[str, str]] = []
    local = {file: seen.place(file) for file in seen.files if _BINARY.search(file)}
    histories = [*offline_runs(local, unread), *_exported(seen, unread)]
    if not histories:
        raise CurvewiseError(unread[0][1])
    found = history_runs(f"W&B runs in {seen.path.name}", histories, asked)
    left_out = (*found.left_out, *_left_out(unread), *seen.left_out())
    return replace(found, left_out=left_out)


# --- files of histories ------------------------------------------------------------------


def _exported(seen: Seen, unread: list[tuple[str, str]]) -> Iterator[History]:
    """Yield histories kept as tables; parts of one artifact are put together."""
    parts: dict[str, list[pa.Table]] = {}
    for file in seen.files if seen.is_folder else ():
        if not file.endswith(_TABLES) or not _has_history(seen.place(file)):
            continue
        try:
            table, _ = load(seen.place(file))
        except CurvewiseError as problem:
            unread.append((file, problem.message))
            continue
        parts.setdefault(_run_of(file, seen), []).append(table)
    for run, tables in parts.items():
        yield History(run, pa.concat_tables(tables, promote_options="permissive"))


def _run_of(file: str, seen: Seen) -> str:
    """Return whose history a file is.

    >>> _run_of("run-k3x9-history:v0/0000.parquet", Seen(Path("x"), True))
    'k3x9'
    """
    inside = PurePosixPath(file)
    if not inside.stem.isdigit():
        return str(inside.with_suffix(""))
    folder = inside.parent if inside.parent.name else PurePosixPath(seen.path.name)
    artifact = _ARTIFACT.fullmatch(folder.name)
    return str(folder.with_name(artifact[1]) if artifact else folder)


def _has_history(path: Path) -> bool:
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet

            return is_history(parquet.read_schema(path).names)
        with path.open("rb") as file:
            line = file.readline(_MOST_OF_A_LINE).decode("utf-8", "replace")
    except (OSError, pa.ArrowException):
        return path.suffix == ".parquet" and path.stem.isdigit()
    return is_history([cell.strip().strip('"') for cell in line.split(",")])


def _left_out(unread: list[tuple[str, str]]) -> tuple[LeftOut, ...]:
    if not unread:
        return ()
    what = shortened(unread[0][1].rstrip("."), 200)
    why = Message("that cannot be read, first: ", what)
    return (LeftOut(len(unread), why),)
