"""MLflow's store of files: mlruns/<experiment>/<run>/metrics/<name> and so on."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa

from curvewise._text import count
from curvewise.exchange.runs import Asked, LeftOut, Runs
from curvewise.exchange.tools.mlflow.lines import Lines
from curvewise.exchange.tools.mlflow.meta import Meta, meta_of
from curvewise.exchange.tools.mlflow.runs import (
    DELETED,
    WITH_EXPERIMENT,
    Columns,
    Kept,
    by_the_clock,
    is_noise,
    runs_of,
    told_apart,
    wanted_metrics,
)
from curvewise.exchange.tools.seeing import Seen

# The outermost folder with the name of a run: what people keep among its artifacts may
# look alike.
_OF_A_RUN = re.compile(
    r"(?>((?:[^/]+/)*?[0-9a-f]{32})/)(?:(metrics|params|tags)/(.+)|meta\.yaml$)",
    re.DOTALL,
)
_MOST = 65_536  # bytes of a small file
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


def read(seen: Seen, asked: Asked) -> Runs:
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
        data = os.read(opened, _MOST)
        if len(data) < _MOST:
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
