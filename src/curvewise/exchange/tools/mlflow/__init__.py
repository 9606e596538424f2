"""MLflow: its database, its store of files, and frames of `mlflow.search_runs`.

The experiment is the task, unless a label such as ``params.dataset`` names one. Tags that
MLflow sets for itself (user, source, commit, ...) are not read, but for the name of a run
and its parent, which becomes the label "parent".
"""

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from curvewise.exchange.runs import Asked, Runs, Scalars, left_out
from curvewise.exchange.tools.files import Listing
from curvewise.exchange.tools.mlflow.runs import (
    DELETED,
    WITH_EXPERIMENT,
    Columns,
    RunRecords,
    fits_table,
    is_noise,
    is_timed,
    read_database,
    read_table,
    runs_of,
    told_apart,
)
from curvewise.metrics import Floats
from curvewise.text import count
from curvewise.trials.columns import Ints

__all__ = ["fits_path", "fits_table", "meta_of", "read_path", "read_table"]

_Meta: TypeAlias = dict[str, str]
_Cells: TypeAlias = dict[str, dict[int, str]]  # texts of runs by name and row
_FILE = "mlflow.db"  # what MLflow itself calls the database beside its mlruns
_TABLES = frozenset(("experiments", "runs", "params", "tags", "metrics"))


def fits_path(listing: Listing) -> bool:
    """Return whether this is a store of MLflow's: a database, or a folder of runs."""
    if not listing.is_folder:
        return listing.tables >= _TABLES
    return _FILE in listing.files or _holds_runs(listing)


def read_path(listing: Listing, asked: Asked) -> Runs:
    """Return the runs of a store, each metric with all its steps."""
    if not listing.is_folder:
        return read_database(listing.path, asked)
    if not _holds_runs(listing):
        return read_database(listing.path / _FILE, asked)
    runs = _read_files(listing, asked)
    if _FILE not in listing.files:
        return runs
    beside = f"{_FILE} lies there too, and was not read: pass it to read its runs."
    return replace(runs, remarks=(*runs.remarks, beside))


# --- MLflow's store of files: mlruns/<experiment>/<run>/metrics/<name> and so on -------


# The outermost folder with the name of a run: what people keep among its artifacts may
# look alike.
_OF_A_RUN = re.compile(
    r"(?>((?:[^/]+/)*?[0-9a-f]{32})/)(?:(metrics|params|tags)/(.+)|meta\.yaml$)",
    re.DOTALL,
)
_SMALL_FILE = 65_536  # bytes of a small file
_STATES = ("RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED")
_STATUS = {str(number): state for number, state in enumerate(_STATES, 1)}


@dataclass(slots=True)
class _Folder:
    """What the folder of a run holds, by name."""

    has_meta: bool = False
    metrics: list[str] = field(default_factory=list)
    params: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


def _holds_runs(listing: Listing) -> bool:
    """Return whether a folder holds runs of MLflow's, or is one."""
    return any(_OF_A_RUN.match(file) for file in _from_above(listing))


def _read_files(listing: Listing, asked: Asked) -> Runs:
    """Return the runs of a store of files, of one experiment, or one run alone."""
    timed = is_timed(asked)
    store = _Store(listing)
    folders = _folders(listing)
    records, places = store.runs(folders)
    names = sorted({name for place in places for name in folders[place].metrics})
    lines = _Lines(records.wanted(names, asked))
    params: _Cells = {}
    tags: _Cells = {}
    for row, place in enumerate(places):
        folder = folders[place]
        store.take_texts(params, row, f"{place}/params", folder.params)
        store.take_texts(tags, row, f"{place}/tags", folder.tags)
        for name in folder.metrics:
            if name in lines.names:
                data = store.bytes_of(f"{place}/metrics/{name}")
                lines.add(row, name, data or b"", f"{records.ids[row]}/metrics/{name}")
    records.params = _columns(params, len(places))
    records.tags = _columns(tags, len(places))
    records.rename()
    scalars, time = lines.scalars()
    records.remarks += [*lines.remarks(), *store.remarks()]
    source = f"MLflow store {listing.path.resolve().name}"
    return runs_of(source, records, scalars, time if timed else None)


def _from_above(listing: Listing) -> Iterable[str]:
    """Return the paths of files, from the folder above: this one may be a run itself."""
    name = listing.path.resolve().name
    return (f"{name}/{file}" for file in listing.files)


def _folders(listing: Listing) -> dict[str, _Folder]:
    folders: dict[str, _Folder] = {}
    for file in _from_above(listing):
        match = _OF_A_RUN.match(file)
        if match is None:
            continue
        place, kind, name = match.groups()
        if place.split("/")[-2:-1] == ["datasets"]:  # named like runs, and none
            continue
        folder = folders.setdefault(place, _Folder())
        if kind is None:
            folder.has_meta = True
        elif kind != "tags" or not is_noise(name):
            getattr(folder, kind).append(name)
    return folders


def _columns(cells: _Cells, n: int) -> Columns:
    return {
        name: pa.array([texts.get(row) for row in range(n)], pa.string())
        for name, texts in cells.items()
    }


class _Store:
    """Files below a folder, and how many of them could not be read."""

    def __init__(self, listing: Listing) -> None:
        self._root = str(listing.path.resolve().parent)
        self._closed = list(listing.unreadable)
        self._broken: list[str] = []

    def bytes_of(self, file: str) -> bytes | None:
        """Return what a file holds, or None if that cannot be known."""
        try:
            return _content(f"{self._root}/{file}")
        except OSError:
            self._broken.append(file)
            return None

    def take_texts(
        self, cells: _Cells, row: int, place: str, names: Sequence[str]
    ) -> None:
        """Put the texts of small files, one per name, into the row of a run."""
        for name in names:
            if data := self.bytes_of(f"{place}/{name}"):
                cells.setdefault(name, {})[row] = data.decode("utf-8", "replace")

    def runs(self, folders: dict[str, _Folder]) -> tuple[RunRecords, list[str]]:
        """Return the runs that can be used, by their start, and the folder of each."""
        above = dict.fromkeys(place.rpartition("/")[0] for place in folders)
        experiments = {path: self._meta(path) for path in above}
        names = told_apart(
            {
                path: meta.get("name") or path or "?"
                for path, meta in experiments.items()
            }
        )
        records, runs = RunRecords(), []
        for place, folder in folders.items():
            experiment, _, run_id = place.rpartition("/")
            meta = self._meta(place) if folder.has_meta else None
            why = _unused(place, meta, experiments[experiment])
            if meta is None or why:
                records.leave_out((meta or {}).get("run_name", run_id), why)
            else:
                runs.append((_number(meta, "start_time"), place, meta))
        runs.sort(key=lambda run: (run[0] or 0.0, run[1]))
        for start, place, meta in runs:
            experiment, _, run_id = place.rpartition("/")
            records.ids.append(run_id)
            records.names.append(meta.get("run_name") or run_id)
            records.experiments.append(names[experiment])
            records.status.append(_STATUS.get(meta["status"], meta["status"]))
            records.start.append(start)
            records.end.append(_number(meta, "end_time"))
        why = "that may not be looked into"
        records.left_out += left_out(self._closed, why, "folder")
        return records, [place for _, place, _ in runs]

    def remarks(self) -> list[str]:
        """Return a sentence on files that could not be read, if any."""
        if not self._broken:
            return []
        return [
            f"{count(len(self._broken), 'file')} could not be read, such as "
            f"'{self._broken[0]}': what they say is missing."
        ]

    def _meta(self, place: str) -> _Meta:
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


def _unused(place: str, meta: _Meta | None, experiment: _Meta) -> str:
    """Return why a run is not used; nothing if it is."""
    if ".trash" in place.split("/") or experiment.get("lifecycle_stage") == "deleted":
        return WITH_EXPERIMENT
    if meta is None:
        return "without a meta.yaml"
    if not {"run_id", "run_uuid"} & set(meta) or "status" not in meta:
        return "with a damaged meta.yaml"
    return DELETED if meta.get("lifecycle_stage") == "deleted" else ""


def _number(meta: _Meta, name: str) -> float | None:
    try:
        return float(meta.get(name, ""))
    except ValueError:
        return None


# --- Files of MLflow's metrics: lines of time, value and step, many files at once ------


_MOST_GATHERED = 1 << 26  # bytes to gather before they are parsed
_COLUMNS = ("time", "value", "step")


class _File(NamedTuple):
    run: int
    metric: int
    place: str
    data: bytes


class _Lines:
    """Scores of some metrics from files, gathered and then parsed together."""

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

    def scalars(self) -> tuple[Scalars, Floats]:
        """Return all scores, in the order in which files came, and their times."""
        self._parse()
        columns = map(np.concatenate, zip(*self._parts, strict=True))
        run, metric, step, value, time = columns
        return Scalars(run, metric, step, value, tuple(self.names)), time

    def remarks(self) -> list[str]:
        """Return sentences on damage; complete after `scalars`."""
        remarks = []
        if self._torn:
            remarks.append(
                f"{count(len(self._torn), 'metric file')} ended in the middle of a line, "
                f"such as '{self._torn[0]}': read up to there."
            )
        if self._odd:
            remarks.append(
                f"{count(len(self._odd), 'line')} of metric files, such as one of "
                f"'{self._odd[0]}', should be a time, a number and a step: skipped."
            )
        return remarks

    def _parse(self) -> None:
        files, self._files, self._size = self._files, [], 0
        columns = _parsed([file.data for file in files])
        if columns is None:
            files = [file._replace(data=self._mended(file)) for file in files]
            columns = _parsed([file.data for file in files])
        assert columns is not None  # mended lines are as they should be  # noqa: S101
        time, value, step = columns
        owner = np.repeat(np.arange(len(files)), [f.data.count(b"\n") for f in files])
        run = np.array([file.run for file in files], np.int64)[owner]
        metric = np.array([file.metric for file in files], np.int64)[owner]
        self._parts.append((run, metric, step, value, time))

    def _mended(self, file: _File) -> bytes:
        """Return the lines that say what they should, all in the same form."""
        lines = []
        for line in file.data.splitlines():
            # Without a step before MLflow 1.0; with a data set behind it since 2.4.
            time, value, step = ([*line.split(), b"0", b"0"] if line else [b""] * 3)[:3]
            try:
                lines.append(f"{int(time)} {float(value)!r} {int(step)}\n")
            except ValueError:
                self._odd.append(file.place)
        return "".join(lines).encode()


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


# --- meta.yaml of runs and experiments: one name and one value per line ----------------


_LINE = re.compile(r"([a-z_]+):(?: (.*))?")


def meta_of(text: str) -> _Meta:
    r"""Return what a meta.yaml says; what it says to be null is left out.

    This is as much of YAML as MLflow writes. A line that is none of it ends the reading:
    the file is damaged from there on.

    >>> meta_of("end_time: null\nname: 'it''s: one'\nstatus: 3\n")
    {'name': "it's: one", 'status': '3'}
    """
    raw: _Meta = {}
    last = None
    for line in text.splitlines():
        if last is not None and (not line or line.startswith((" ", "-"))):
            raw[last] = f"{raw[last]} {line.strip()}".strip()  # a long text goes on
            continue
        pair = _LINE.fullmatch(line)
        if pair is None:
            break
        last = pair[1]
        raw[last] = (pair[2] or "").strip()
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
