"""MLflow: its database, its store of files, and frames of `mlflow.search_runs`.

The experiment is the task, unless a label such as ``params.dataset`` names one. Tags that
MLflow sets for itself (user, source, commit, ...) are not read, but for the name of a run
and its parent, which becomes the label "parent".
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, Keyword, shortened
from curvewise.exchange.columns import numbers
from curvewise.exchange.rows import nulls
from curvewise.exchange.runs import Asked, LeftOut, Runs
from curvewise.exchange.tools.contents import Seen, opened
from curvewise.exchange.tools.mlflow.runs import (
    DELETED,
    WITH_EXPERIMENT,
    Columns,
    Kept,
    Logged,
    by_the_clock,
    is_noise,
    runs_of,
    told_apart,
    unbounded,
    wanted_metrics,
)
from curvewise.metrics import Floats
from curvewise.text import count
from curvewise.trials.columns import Ints

_FILE = "mlflow.db"  # what MLflow itself calls the database beside its mlruns


def fits_path(seen: Seen) -> bool:
    """Return whether this is a store of MLflow's: a database, or a folder of runs."""
    if not seen.is_folder:
        return seen.tables >= TABLES
    return _FILE in seen.files or holds_runs(seen)


def read_path(seen: Seen, asked: Asked) -> Runs:
    """Return the runs of a store, each metric with all its steps."""
    if not seen.is_folder:
        return read_database(seen.path, asked)
    if not holds_runs(seen):
        return read_database(seen.path / _FILE, asked)
    found = read_files(seen, asked)
    if _FILE not in seen.files:
        return found
    beside = f"{_FILE} lies there too, and was not read: pass it to read its runs."
    return replace(found, remarks=(*found.remarks, beside))


def fits_table(table: pa.Table) -> bool:
    """Return whether a table came from `mlflow.search_runs`."""
    return is_frame(table)


def read_table(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the runs of a table of `mlflow.search_runs`, each with its last scores."""
    return read_frame(table, name, asked)


# --- MLflow's SQLite database, of all its versions -------------------------------------


TABLES = frozenset(("experiments", "runs", "params", "tags", "metrics"))
_ROWS = 250  # at a time: more of them leave the processor's cache
_EXPERIMENTS = "SELECT experiment_id, name, lifecycle_stage FROM experiments"
_RUNS = """
SELECT run_uuid, name, status, start_time, end_time, lifecycle_stage, experiment_id
FROM runs ORDER BY start_time, rowid
"""
_PARAMS = "SELECT key, CAST(value AS TEXT), run_uuid FROM params"
_TAGS = """
SELECT key, CAST(value AS TEXT), run_uuid FROM tags
WHERE key NOT LIKE 'mlflow.%' OR key IN ('mlflow.runName', 'mlflow.parentRunId')
"""
# From name to name through the index, where DISTINCT would go through every score.
_NAMES = """
WITH RECURSIVE next(name) AS (
    SELECT min(key) FROM metrics
    UNION ALL SELECT (SELECT min(key) FROM metrics WHERE key > name) FROM next
    WHERE name IS NOT NULL
) SELECT name FROM next WHERE name IS NOT NULL
"""
_AMONG = " WHERE key IN (SELECT value FROM json_each(?))"
_VALUE = "CASE WHEN is_nan THEN NULL ELSE value END"


def read_database(path: Path, asked: Asked) -> Runs:
    """Return the runs of a database, all of one moment."""
    timed = by_the_clock(asked)
    with opened(path) as database:
        kept = _runs_of_database(database)
        names = [name for (name,) in database.execute(_NAMES)]
        wanted, machine = wanted_metrics(names, asked)
        kept.left_out += machine
        only = wanted if len(wanted) < len(names) else None
        rows = _scores(database, only, timed=timed)
        logged = _logged(rows, kept, wanted, timed=timed)
    return runs_of(f"MLflow store {path.name}", kept, logged)


# --- runs --------------------------------------------------------------------------------


def _runs_of_database(database: Any) -> Kept:
    """Return the runs that were not deleted, with their params and tags."""
    found = list(database.execute(_EXPERIMENTS))
    experiments = told_apart({one: name for one, name, _ in found})
    gone = {one for one, _, stage in found if stage == "deleted"}
    kept = Kept()
    for one, name, status, start, end, stage, experiment in database.execute(_RUNS):
        if experiment in gone:
            kept.leave_out(name or one, WITH_EXPERIMENT)
        elif stage == "deleted":
            kept.leave_out(name or one, DELETED)
        else:
            kept.ids.append(one)
            kept.names.append(name or one)
            kept.experiments.append(experiments.get(experiment, str(experiment)))
            kept.status.append(status)
            kept.start.append(start)
            kept.end.append(end)
    kept.params = _columns(database.execute(_PARAMS), kept.ids)
    kept.tags = _columns(database.execute(_TAGS), kept.ids)
    kept.rename()
    return kept


def _columns(rows: Any, ids: Sequence[str]) -> Columns:
    """Return rows of key, text and run as one column of texts per key."""
    place = {one: row for row, one in enumerate(ids)}
    code: dict[str, int] = {}
    parts, texts = [(np.empty(0, np.int64), np.empty(0, np.int64))], []
    for keys, some, runs in _chunks(rows):
        for key in dict.fromkeys(keys):
            code.setdefault(key, len(code))
        parts.append((_codes(code, keys), _codes(place, runs)))
        texts += some
    key_of, run_of = map(np.concatenate, zip(*parts, strict=True))
    cells = pa.array(texts, pa.string())
    out = {}
    for name, i in code.items():
        own = np.flatnonzero((key_of == i) & (run_of >= 0))
        taken = np.full(len(ids), -1)
        taken[run_of[own]] = own
        if len(own):
            out[name] = cells.take(pa.array(taken, mask=taken < 0))
    return out


# --- scores ------------------------------------------------------------------------------


def _logged(rows: Any, kept: Kept, names: Sequence[str], *, timed: bool) -> Logged:
    """Return the scores in rows, of runs that are kept."""
    code = {name: i for i, name in enumerate(names)}
    place = {one: row for row, one in enumerate(kept.ids)}
    whole, real = np.empty(0, np.int64), np.empty(0)
    parts: list[list[Any]] = [[whole, whole, *[real] * (3 if timed else 2)]]
    for keys, runs, *cells in _chunks(rows):
        codes = _codes(place, runs), _codes(code, keys)
        parts.append([*codes, *map(_floats, cells)])
    run, metric, *columns = map(np.concatenate, zip(*parts, strict=True))
    used = run >= 0
    step, value, *time = (column[used] for column in columns)
    return Logged(
        *(run[used], metric[used], step, unbounded(value)),
        time=time[0] if timed else None,
        names=tuple(names),
    )


def _scores(database: Any, only: Sequence[str] | None, *, timed: bool) -> Any:
    """Return rows of key, run, step, value and maybe time, in the order of writing."""
    there = {row[1] for row in database.execute("PRAGMA table_info(metrics)")}
    # Before MLflow 1.0 there were no steps, and a little later still no NaN.
    step = "step" if "step" in there else "0"
    value = _VALUE if "is_nan" in there else "value"
    columns = ", ".join(["key", "run_uuid", step, value, *["timestamp"] * timed])
    query = f"SELECT {columns} FROM metrics NOT INDEXED"  # noqa: S608
    if only is None:
        return database.execute(query)
    return database.execute(query + _AMONG, (json.dumps(only),))


def _chunks(found: Any) -> Iterator[Any]:
    while rows := found.fetchmany(_ROWS):
        yield zip(*rows, strict=True)


def _codes(code: Mapping[str, int], cells: Sequence[str]) -> Ints:
    return np.fromiter(map(code.get, cells, repeat(-1)), np.int64, len(cells))


def _floats(cells: Sequence[Any]) -> Floats:
    try:
        return np.array(cells, np.float64)  # None becomes NaN
    except (TypeError, ValueError) as problem:
        raise CurvewiseError(
            f"Its table of metrics holds what MLflow does not write: "
            f"{shortened(problem)}. Was the database changed by hand?"
        ) from problem


# --------------------------------------------------------------------------------------
# What `mlflow.search_runs` returns: one row per run, with the last of each score.


_ALWAYS = frozenset(("run_id", "experiment_id", "status"))
_METRIC = "metrics."


def is_frame(table: pa.Table) -> bool:
    """Return whether a table has the columns of `mlflow.search_runs`."""
    return set(table.column_names) >= _ALWAYS and any(
        name.startswith(_METRIC) for name in table.column_names
    )


def read_frame(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return the runs of a frame; what is missing in it was not recorded."""
    if asked.step is not None:
        raise CurvewiseError(
            f"step is {asked.step!r}, and {name} of mlflow.search_runs has only the "
            "last score of each run. Leave out ",
            Keyword("step"),
            ", or read MLflow's store itself.",
            argument="step",
            value=asked.step,
        )
    start = _milliseconds(table, "start_time")
    order = np.argsort([t or 0 for t in start], kind="stable")
    table = table.take(pa.array(order))
    kept = _runs_of_frame(table)
    logged, machine = _last_scores(table, asked)
    kept.left_out += machine
    return runs_of(f"MLflow runs of {name}", kept, logged, curves=False)


def _runs_of_frame(table: pa.Table) -> Kept:
    ids, status, experiments = (
        _texts(table, column) for column in ("run_id", "status", "experiment_id")
    )
    kept = Kept(
        ids=[one or "" for one in ids],
        experiments=[one or "" for one in experiments],
        status=status,
        start=_milliseconds(table, "start_time"),
        end=_milliseconds(table, "end_time"),
    )
    for column in table.column_names:
        kind, _, key = column.partition(".")
        cells = {"params": kept.params, "tags": kept.tags}.get(kind)
        if cells is None or (kind == "tags" and is_noise(key)):
            continue
        cells[key] = table.column(column).cast(pa.string()).combine_chunks()
    kept.names = list(kept.ids)
    kept.rename()
    return kept


def _last_scores(table: pa.Table, asked: Asked) -> tuple[Logged, Any]:
    columns = [c for c in table.column_names if c.startswith(_METRIC)]
    names, machine = wanted_metrics([c.removeprefix(_METRIC) for c in columns], asked)
    runs, metrics, values = [], [], []
    for code, name in enumerate(names):
        column = f"{_METRIC}{name}"
        rows = np.flatnonzero(~nulls(table, column))
        runs.append(rows)
        metrics.append(np.full(len(rows), code))
        values.append(numbers(table, column)[rows])
    run = np.concatenate([np.empty(0, np.int64), *runs])
    metric = np.concatenate([np.empty(0, np.int64), *metrics])
    value = unbounded(np.concatenate([np.empty(0), *values]))
    once = np.zeros(len(run))
    return Logged(run, metric, once, value, None, tuple(names)), machine


def _texts(table: pa.Table, column: str) -> list[str | None]:
    texts: list[str | None] = table.column(column).cast(pa.string()).to_pylist()
    return texts


def _milliseconds(table: pa.Table, column: str) -> list[float | None]:
    """Return times, or none where a column of them is missing or says something else."""
    nothing: list[float | None] = [None] * table.num_rows
    if column not in table.column_names:
        return nothing
    try:
        times = table.column(column).cast(pa.timestamp("ms"), safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return nothing
    out: list[float | None] = times.cast(pa.int64()).to_pylist()
    return out


# --------------------------------------------------------------------------------------
# The meta.yaml of MLflow's runs and experiments: one name and one value per line.


Meta: TypeAlias = dict[str, str]
_LINE = re.compile(r"([a-z_]+):(?: (.*))?")


def meta_of(text: str) -> Meta:
    r"""Return what a meta.yaml says; what it says to be null is left out.

    This is as much of YAML as MLflow writes. A line that is none of it ends the reading:
    the file is damaged from there on.

    >>> meta_of("end_time: null\nname: 'it''s: one'\nstatus: 3\n")
    {'name': "it's: one", 'status': '3'}
    """
    raw: Meta = {}
    last = None
    for line in text.splitlines():
        if last is not None and (not line or line.startswith((" ", "-"))):
            raw[last] = f"{raw[last]} {line.strip()}".strip()  # a long text goes on
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            break
        last = found[1]
        raw[last] = (found[2] or "").strip()
    return {name: _plain(value) for name, value in raw.items() if value != "null"}


def _plain(value: str) -> str:
    quote = value[:1]
    if len(value) < 2 or quote not in "'\"" or value[-1] != quote:
        return value
    if quote == "'":
        return value[1:-1].replace("''", "'")
    try:
        return str(json.loads(value))
    except json.JSONDecodeError:
        return value[1:-1]


# --- Files of MLflow's metrics: lines of time, value and step, many files at once ------


_MOST_GATHERED = 1 << 26  # bytes to gather before they are parsed
_COLUMNS = ("time", "value", "step")


class _File(NamedTuple):
    run: int
    metric: int
    place: str
    data: bytes


class Lines:
    """Scores from files, gathered and then parsed together.

    Parameters
    ----------
    names : iterable of str
        The metrics that are wanted.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = {name: code for code, name in enumerate(names)}
        self._files: list[_File] = []
        self._size = 0
        self._parts: list[tuple[Ints, Ints, Floats, Floats, Floats]] = []
        self._torn: list[str] = []
        self._odd: list[str] = []

    def add(self, run: int, name: str, data: bytes, place: str) -> None:
        """Take what the file of a run's metric holds."""
        if data and not data.endswith(b"\n"):  # cut off while it was written
            self._torn.append(place)
            data = data[: data.rfind(b"\n") + 1]
        self._files.append(_File(run, self.names[name], place, data))
        self._size += len(data)
        if self._size > _MOST_GATHERED:
            self._parse()

    def logged(self, *, timed: bool) -> Logged:
        """Return all scores, in the order in which files came, with times or without."""
        self._parse()
        run, metric, step, value, time = map(
            np.concatenate, zip(*self._parts, strict=True)
        )
        return Logged(
            run, metric, step, value, time if timed else None, tuple(self.names)
        )

    def remarks(self) -> list[str]:
        """Return sentences on damage; complete after `logged`."""
        out = []
        if self._torn:
            out.append(
                f"{count(len(self._torn), 'metric file')} ended in the middle of a line, "
                f"such as '{self._torn[0]}': read up to there."
            )
        if self._odd:
            out.append(
                f"{count(len(self._odd), 'line')} of metric files, such as one of "
                f"'{self._odd[0]}', should be a time, a number and a step: skipped."
            )
        return out

    def _parse(self) -> None:
        files, self._files, self._size = self._files, [], 0
        found = _parsed([file.data for file in files])
        if found is None:
            files = [file._replace(data=self._mended(file)) for file in files]
            found = _parsed([file.data for file in files])
        assert found is not None  # mended lines are as they should be  # noqa: S101
        time, value, step = found
        owner = np.repeat(np.arange(len(files)), [f.data.count(b"\n") for f in files])
        run = np.array([file.run for file in files], np.int64)[owner]
        metric = np.array([file.metric for file in files], np.int64)[owner]
        self._parts.append((run, metric, step, value, time))

    def _mended(self, file: _File) -> bytes:
        """Return the lines that say what they should, all in the same form."""
        out = []
        for line in file.data.splitlines():
            # Without a step before MLflow 1.0; with a data set behind it since 2.4.
            time, value, step = ([*line.split(), b"0", b"0"] if line else [b""] * 3)[:3]
            try:
                out.append(f"{int(time)} {float(value)!r} {int(step)}\n")
            except ValueError:
                self._odd.append(file.place)
        return "".join(out).encode()


def _parsed(texts: Sequence[bytes]) -> tuple[Floats, Floats, Floats] | None:
    """Return time, value and step of lines, or None if some have another form."""
    from pyarrow import csv

    data = b"".join(texts)
    n = data.count(b"\n")
    if n == 0:
        return np.empty(0), np.empty(0), np.empty(0)
    if data.count(b" ") != 2 * n:
        return None
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=_COLUMNS),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(
                column_types=dict.fromkeys(_COLUMNS, pa.float64()), null_values=[]
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != n:
        return None
    time, value, step = (table.column(c).to_numpy() for c in _COLUMNS)
    return time, value, step


# --- MLflow's store of files: mlruns/<experiment>/<run>/metrics/<name> and so on -------


# The outermost folder with the name of a run: what people keep among its artifacts may
# look alike.
_OF_A_RUN = re.compile(
    r"(?>((?:[^/]+/)*?[0-9a-f]{32})/)(?:(metrics|params|tags)/(.+)|meta\.yaml$)",
    re.DOTALL,
)
_SMALL_FILE = 65_536  # bytes of a small file
_STATUS = {
    "1": "RUNNING",
    "2": "SCHEDULED",
    "3": "FINISHED",
    "4": "FAILED",
    "5": "KILLED",
}


@dataclass(slots=True)
class _Folder:
    """What the folder of a run holds, by name."""

    meta: bool = False
    metrics: list[str] = field(default_factory=list)
    params: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


_Folders: TypeAlias = dict[str, _Folder]


def holds_runs(seen: Seen) -> bool:
    """Return whether a folder holds runs of MLflow's, or is one."""
    return any(_OF_A_RUN.match(file) for file in _from_above(seen))


def read_files(seen: Seen, asked: Asked) -> Runs:
    """Return the runs of a store of files, of one experiment, or one run alone."""
    timed = by_the_clock(asked)
    store = _Store(seen)
    folders = _folders(seen)
    kept, places = store.kept(folders)
    names = sorted({name for one in places for name in folders[one].metrics})
    wanted, machine = wanted_metrics(names, asked)
    kept.left_out += machine
    lines = Lines(wanted)
    params, tags = _Cells(), _Cells()
    for row, place in enumerate(places):
        one = folders[place]
        store.texts(params, row, f"{place}/params", one.params)
        store.texts(tags, row, f"{place}/tags", one.tags)
        for name in one.metrics:
            if name in lines.names:
                data = store.bytes_of(f"{place}/metrics/{name}")
                lines.add(row, name, data or b"", f"{kept.ids[row]}/metrics/{name}")
    kept.params, kept.tags = params.columns(len(places)), tags.columns(len(places))
    kept.rename()
    logged = lines.logged(timed=timed)
    kept.remarks += [*lines.remarks(), *store.remarks()]
    return runs_of(f"MLflow store {seen.path.resolve().name}", kept, logged)


def _from_above(seen: Seen) -> Iterable[str]:
    """Return the paths of files, from the folder above: this one may be a run itself."""
    name = seen.path.resolve().name
    return (f"{name}/{file}" for file in seen.files)


def _folders(seen: Seen) -> _Folders:
    found: _Folders = {}
    for file in _from_above(seen):
        match = _OF_A_RUN.match(file)
        if match is None:
            continue
        place, kind, name = match.groups()
        if place.split("/")[-2:-1] == ["datasets"]:  # named like runs, and none
            continue
        one = found.setdefault(place, _Folder())
        if kind is None:
            one.meta = True
        elif kind != "tags" or not is_noise(name):
            getattr(one, kind).append(name)
    return found


class _Cells:
    """Texts of runs, which come one by one."""

    def __init__(self) -> None:
        self._found: dict[str, dict[int, str]] = {}

    def add(self, name: str, row: int, text: str) -> None:
        """Put a text into a run's row of a column."""
        self._found.setdefault(name, {})[row] = text

    def columns(self, n: int) -> Columns:
        """Return the columns, one cell per run."""
        return {
            name: pa.array([cells.get(row) for row in range(n)], pa.string())
            for name, cells in self._found.items()
        }


class _Store:
    """Files below a folder, and how many of them could not be read."""

    def __init__(self, seen: Seen) -> None:
        self._root = str(seen.path.resolve().parent)
        self._closed = list(seen.unreadable)
        self._broken: list[str] = []

    def bytes_of(self, file: str) -> bytes | None:
        """Return what a file holds, or None if that cannot be known."""
        try:
            return _content(f"{self._root}/{file}")
        except OSError:
            self._broken.append(file)
            return None

    def texts(self, cells: _Cells, row: int, place: str, names: list[str]) -> None:
        """Put the texts of small files, one per name, into the row of a run."""
        for name in names:
            data = self.bytes_of(f"{place}/{name}")
            if data:
                cells.add(name, row, data.decode("utf-8", "replace"))

    def kept(self, folders: _Folders) -> tuple[Kept, list[str]]:
        """Return the runs that can be used, by their start, and the folder of each."""
        above = dict.fromkeys(place.rpartition("/")[0] for place in folders)
        experiments = {one: self._meta(one) for one in above}
        names = told_apart(
            {one: meta.get("name") or one or "?" for one, meta in experiments.items()}
        )
        kept, found = Kept(), []
        for place, folder in folders.items():
            experiment, _, one = place.rpartition("/")
            meta = self._meta(place) if folder.meta else None
            why = _unused(place, meta, experiments[experiment])
            if meta is None or why:
                kept.leave_out((meta or {}).get("run_name", one), why)
            else:
                found.append((_number(meta, "start_time"), place, meta))
        found.sort(key=lambda run: (run[0] or 0.0, run[1]))
        for start, place, meta in found:
            experiment, _, one = place.rpartition("/")
            kept.ids.append(one)
            kept.names.append(meta.get("run_name") or one)
            kept.experiments.append(names[experiment])
            kept.status.append(_STATUS.get(meta["status"], meta["status"]))
            kept.start.append(start)
            kept.end.append(_number(meta, "end_time"))
        if self._closed:
            why, some = "that may not be looked into", tuple(self._closed[:2])
            kept.left_out.append(LeftOut(len(self._closed), why, some, "folder"))
        return kept, [place for _, place, _ in found]

    def remarks(self) -> list[str]:
        """Return a sentence on files that could not be read, if any."""
        if not self._broken:
            return []
        return [
            f"{count(len(self._broken), 'file')} could not be read, such as "
            f"'{self._broken[0]}': what they say is missing."
        ]

    def _meta(self, place: str) -> Meta:
        data = self.bytes_of(f"{place}/meta.yaml")
        return {} if data is None else meta_of(data.decode("utf-8", "replace"))


def _content(path: str) -> bytes:
    """Return what a file holds, of which there may be 200,000: without Python's layers."""
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        data = os.read(opened, _SMALL_FILE)
        if len(data) < _SMALL_FILE:
            return data
        with os.fdopen(os.dup(opened), "rb") as rest:
            return data + rest.read()
    finally:
        os.close(opened)


def _unused(place: str, meta: Meta | None, experiment: Meta) -> str:
    """Return why a run is not used; nothing if it is."""
    if ".trash" in place.split("/") or experiment.get("lifecycle_stage") == "deleted":
        return WITH_EXPERIMENT
    if meta is None:
        return "without a meta.yaml"
    if not {"run_id", "run_uuid"} & set(meta) or "status" not in meta:
        return "with a damaged meta.yaml"
    return DELETED if meta.get("lifecycle_stage") == "deleted" else ""


def _number(meta: Meta, name: str) -> float | None:
    try:
        return float(meta.get(name, ""))
    except ValueError:
        return None
