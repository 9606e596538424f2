"""Weights & Biases: charts, tables of runs, histories, and what it keeps of runs here."""

import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from curvewise.errors import CurvewiseError, shortened
from curvewise.exchange.runs import Asked, Gathered, Runs, columns_of
from curvewise.exchange.tables import load
from curvewise.exchange.tools.files import Listing, unreadable
from curvewise.exchange.tools.wandb.exports import (
    History,
    fits_table,
    history_runs,
    is_history,
    read_table,
)
from curvewise.metrics import Direction

__all__ = ["fits_path", "fits_table", "read_path", "read_table"]

_TABLES = (".parquet", ".csv")
_MOST_LOOKED_AT = 40
_MOST_OF_A_LINE = 1_000_000
_ARTIFACT = re.compile(r"(?:run-)?(.+?)-history(?:[:_-]?v\d+)?")
_BINARY = re.compile(r"run-[^/]*\.wandb$")


def fits_path(listing: Listing) -> bool:
    """Return whether a folder holds histories, or files that were written during runs."""
    if any(map(_BINARY.search, listing.files)):
        return True
    if not listing.is_folder:
        return False
    files = [file for file in listing.files if file.endswith(_TABLES)]
    return any(_has_history(listing.place(file)) for file in files[:_MOST_LOOKED_AT])


def read_path(listing: Listing, asked: Asked) -> Runs:
    """Return the runs of a folder: one for each artifact, file, or local run."""
    runs = Gathered()
    local = {
        file: listing.place(file) for file in listing.files if _BINARY.search(file)
    }
    histories = [*_offline_runs(local, runs), *_exported(listing, runs)]
    if not histories:
        runs.must_have_runs()
    read = history_runs(f"W&B runs in {listing.path.name}", histories, asked)
    left_out = (*read.left_out, *runs.left_out("run"), *listing.left_out())
    return replace(read, left_out=left_out)


# --- files of histories ------------------------------------------------------------------


def _exported(listing: Listing, runs: Gathered) -> Iterator[History]:
    """Yield histories kept as tables; parts of one artifact are put together."""
    parts: dict[str, list[pa.Table]] = {}
    for file in listing.files if listing.is_folder else ():
        if not file.endswith(_TABLES) or not _has_history(listing.place(file)):
            continue
        with runs.reading(file):
            table, _ = load(listing.place(file))
            parts.setdefault(_run_of(file, listing), []).append(table)
    for run, tables in parts.items():
        yield History(run, pa.concat_tables(tables, promote_options="permissive"))


def _run_of(file: str, listing: Listing) -> str:
    """Return whose history a file is: of run-k3x9-history:v0/0000.parquet, k3x9's."""
    inside = PurePosixPath(file)
    if not inside.stem.isdigit():
        return str(inside.with_suffix(""))
    folder = inside.parent if inside.parent.name else PurePosixPath(listing.path.name)
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


# --------------------------------------------------------------------------------------
# Files ``run-<id>.wandb``, which Weights & Biases keeps of each run on its own
# machine.
#
# A file is a log of records in blocks of 32 kB. A record that does not fit into its block
# is cut into pieces. Each record is a message in protocol buffers; of these, the fields
# that tell of a run, its configuration, its history and its end are read.


_MARK = b":W&B"
_BLOCK = 32_768
_HEAD = struct.Struct("<IHB")  # checksum, length, which piece
_WHOLE, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
# Fields of messages.
_HISTORY, _CONFIG, _METRIC, _RUN, _EXIT = 2, 5, 12, 17, 18
_ITEM, _STEP, _KEY, _NESTED, _JSON = 1, 2, 1, 2, 16
_BOOLEAN, _INTEGER, _NUMBER, _TEXT, _JSON_TEXT = 4, 5, 6, 7, 8
_LABELS = {1: "id", 3: "project", 6: "group", 7: "job_type", 8: "display_name"}
_TAGS, _RUN_CONFIG = 10, 4
# Of define_metric(name, summary="min", goal="minimize"): which way its metric is better.
_METRIC_NAME, _SUMMARY, _GOAL = 1, 7, 8
_BY_SUMMARY: dict[int, Direction] = {1: "lower", 2: "higher"}  # its min, its max
_BY_GOAL: dict[int, Direction] = {1: "lower", 2: "higher"}  # minimize, maximize
_NOT_FINITE = {"NaN": float("nan")} | {
    f"{sign}Infinity": float(f"{sign}inf") for sign in ("", "-")
}


@dataclass(slots=True)
class _Read:
    """What was read of a run so far."""

    labels: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    meant: dict[str, Direction] = field(default_factory=dict)
    exit_code: int | None = None
    damage: str = ""


def _offline_runs(paths: Mapping[str, Path], runs: Gathered) -> Iterator[History]:
    """Yield the runs of some files; files of one run that was resumed go together."""
    by_id: dict[str, _Read] = {}
    for file, path in paths.items():
        with runs.reading(file):
            read = _of_file(path)
            if not read.labels:
                raise CurvewiseError(f"{file} holds no record: its run died too early")
            key = str(read.labels.get("id", file))
            if key in by_id:
                read.rows = by_id[key].rows | read.rows
                read.damage = by_id[key].damage or read.damage
            by_id[key] = read
    for key, read in by_id.items():
        labels = dict(read.labels)
        name = labels.pop("display_name", None) or key
        codes = {None: "running", 0: "finished"}
        row = labels | {"status": codes.get(read.exit_code, "failed")}
        row |= {f"config.{n}": v for n, v in read.config.items()}
        rows = [read.rows[step] for step in sorted(read.rows)]
        columns = {"_step": [], **columns_of(rows)}
        yield History(
            name,
            pa.table({n: _column(cells) for n, cells in columns.items()}),
            row,
            is_whole=True,
            damage=read.damage,
            meant=read.meant,
        )


def _of_file(path: Path) -> _Read:
    try:
        with path.open("rb") as file:
            mark = file.read(len(_MARK))
            data = mark + file.read() if mark == _MARK else b""
    except OSError as problem:
        raise unreadable(path, problem) from problem
    if not data:
        raise CurvewiseError(
            f"{path} begins with {mark!r}, not with {_MARK!r} as files of W&B do. It "
            f"may be damaged or of another kind.",
            argument="source",
            value=path,
        )
    read = _Read()
    try:
        for record in _records(data):
            _take(record, read)
    except _DamageError as problem:
        read.damage = f"{path.name} is damaged or cut: {problem}. Read up to there"
    return read


# --- records -----------------------------------------------------------------------------


class _DamageError(Exception):
    """Raised where a file cannot be followed any further."""


def _records(data: bytes) -> Iterator[bytes]:
    at, pieces = 7, b""  # behind the mark, a number and the version
    while at < len(data):
        left = _BLOCK - at % _BLOCK
        if left < _HEAD.size:
            at += left
            continue
        if at + _HEAD.size > len(data):
            raise _DamageError(f"the last of {len(data):,} bytes end in a record")
        checksum, length, kind = _HEAD.unpack_from(data, at)
        begin = at + _HEAD.size
        body = data[begin : begin + length]
        if kind not in (_WHOLE, _FIRST, _MIDDLE, _LAST) or len(body) < length:
            raise _DamageError(f"no whole record at byte {at:,} of {len(data):,}")
        if zlib.crc32(bytes([kind]) + body) != checksum:
            raise _DamageError(f"a wrong checksum at byte {at:,} of {len(data):,}")
        pieces = body if kind in (_WHOLE, _FIRST) else pieces + body
        if kind in (_WHOLE, _LAST):
            yield pieces
        at = begin + length


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the fields of a message: whole numbers, doubles, and bytes as they are."""
    at = 0
    try:
        while at < len(message):
            tag, at = _varint(message, at)
            number, kind = tag >> 3, tag & 7
            if kind == 0:
                value, at = _varint(message, at)
                yield number, value
            elif kind == 1:
                yield number, struct.unpack_from("<d", message, at)[0]
                at += 8
            elif kind == 2:
                length, at = _varint(message, at)
                yield number, message[at : at + length]
                at += length
            elif kind == 5:
                at += 4
            else:
                raise _DamageError(f"a field of unknown kind {kind}")
    except (IndexError, struct.error):
        raise _DamageError("a record that ends too early") from None


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


# --- what records say --------------------------------------------------------------------


def _take(record: bytes, read: _Read) -> None:
    for number, value in _fields(record):
        if number == _HISTORY:
            _take_history(value, read)
        elif number == _CONFIG:
            _take_config(value, read)
        elif number == _METRIC:
            _take_metric(value, read)
        elif number == _RUN:
            _take_run(value, read)
        elif number == _EXIT:
            read.exit_code = dict(_fields(value)).get(1, 0)


def _take_metric(message: bytes, read: _Read) -> None:
    """Keep which way a metric is better, where its goal or its summary says so."""
    name, ways = "", []
    for number, value in _fields(message):
        if number == _METRIC_NAME:
            name = value.decode("utf-8", "replace")
        elif number == _GOAL and value in _BY_GOAL:
            ways = [_BY_GOAL[value]]
        elif number == _SUMMARY and not ways:
            kinds = [kind for kind, is_kept in _fields(value) if is_kept]
            ways = [_BY_SUMMARY[kind] for kind in kinds if kind in _BY_SUMMARY]
    if name and len(ways) == 1:  # who keeps both the least and the most says nothing
        read.meant[name] = ways[0]


def _take_run(message: bytes, read: _Read) -> None:
    tags = []
    for number, value in _fields(message):
        if number in _LABELS and value:
            read.labels[_LABELS[number]] = value.decode("utf-8", "replace")
        elif number == _TAGS:
            tags.append(value.decode("utf-8", "replace"))
        elif number == _RUN_CONFIG:
            _take_config(value, read)
    if tags:
        read.labels["tags"] = ",".join(tags)


def _take_config(message: bytes, read: _Read) -> None:
    for number, item in _fields(message):
        if number == 1:
            name, value = _item(item)
            if name != "_wandb":  # the tool's own notes
                read.config |= _flat(name, value)


def _take_history(message: bytes, read: _Read) -> None:
    row: dict[str, Any] = {}
    step = None
    for number, value in _fields(message):
        if number == _ITEM:
            name, cell = _item(value)
            row |= _flat(name, cell)
        elif number == _STEP:
            step = dict(_fields(value)).get(1, 0)
    at = row.get("_step", step)
    if isinstance(at, int):
        read.rows.setdefault(at, {}).update(row | {"_step": at})


def _item(message: bytes) -> tuple[str, Any]:
    names, nested, value = [], [], None
    for number, content in _fields(message):
        if number == _KEY:
            names.append(content.decode("utf-8", "replace"))
        elif number == _NESTED:
            nested.append(content.decode("utf-8", "replace"))
        elif number in (_JSON, _JSON_TEXT):
            value = _from_json(content)
        elif number == _BOOLEAN:
            value = bool(content)
        elif number == _INTEGER:
            value = (content >> 1) ^ -(content & 1)
        elif number == _NUMBER:
            value = content
        elif number == _TEXT:
            value = content.decode("utf-8", "replace")
    return ".".join(nested or names), value


def _from_json(text: bytes) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text.decode("utf-8", "replace")
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value


def _flat(name: str, value: Any) -> dict[str, Any]:
    """Return nested values under names with dots; media stay as they are."""
    if not isinstance(value, dict) or "_type" in value:
        return {name: value}
    flat: dict[str, Any] = {}
    for key, one in value.items():
        flat |= _flat(f"{name}.{key}", one)
    return flat


def _column(cells: list[Any]) -> pa.Array:
    if all(cell is None or isinstance(cell, int | float) for cell in cells):
        return pa.array([None if c is None else float(c) for c in cells], pa.float64())
    return pa.array([None if c is None else shortened(c, 200) for c in cells])
