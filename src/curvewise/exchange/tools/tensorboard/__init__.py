"""TensorBoard: a folder of runs, each with event files of its own, or one such file."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import listed
from curvewise.exchange.runs import (
    Asked,
    Runs,
    Scalars,
    array_of,
    columns_of,
    left_out,
)
from curvewise.exchange.tools.files import Listing
from curvewise.exchange.tools.folders.layout import Configurations, is_config
from curvewise.exchange.tools.folders.logs import SPLITS
from curvewise.exchange.tools.tensorboard.records import (
    AT_ONCE,
    Block,
    Bytes,
    Layout,
    blocks,
    framed,
    intact,
    layout_of,
)
from curvewise.metrics import Floats
from curvewise.text import count
from curvewise.trials.columns import Ints

WALL_TIME = "wall_time"


@dataclass(slots=True)
class Heard:
    """What an event file says, or several of one run."""

    tags: dict[str, int]  # their places in `tag`; one for all files
    # In order of writing; times only where they were asked for.
    tag: list[Ints] = field(default_factory=list)
    step: list[Floats] = field(default_factory=list)
    time: list[Floats] = field(default_factory=list)
    value: list[Floats] = field(default_factory=list)
    n: int = 0  # how many scalars that is
    events: int = 0
    began: float = np.inf  # the time of the first event, where time was asked for
    # How many scalars were there when the run was resumed, and at which step.
    restarts: list[tuple[int, float]] = field(default_factory=list)
    plugins: dict[str, str] = field(default_factory=dict)  # who a tag is said to be for
    tensors: set[str] = field(default_factory=set)  # tags of scalars that are tensors
    is_logged: bool = False  # whether there are scalars, asked for or not
    called: set[str] = field(default_factory=set)  # tags of all of these
    others: set[str] = field(default_factory=set)  # tags of what is no scalar
    strange: set[str] = field(default_factory=set)  # of scalars of an unknown type
    params: dict[str, Any] = field(default_factory=dict)
    status: str = ""
    broken: int = 0  # records whose checksum is wrong, or that are no events
    stop: str = ""  # why the file cannot be read to its end
    is_closed: bool = False  # whether it cannot be opened


_CLOCKS = ("step", WALL_TIME)
_FIRST_RECORD = b"brain.Event:"
# add_hparams puts hyperparameters into a folder of their own, named by the time.
_TIME = re.compile(r"\d{9,}(\.\d+)?")


@dataclass(slots=True)
class _Run:
    """A folder with event files, and what they say; those of its parts below it."""

    folder: str
    heard: Heard
    # Of each part what goes before and behind the names of its metrics.
    parts: list[tuple[str, str, Heard]] = field(default_factory=list)

    def take(self, before: str, behind: str, part: "_Run") -> None:
        """Make another run a part of this one."""
        self.parts.append((before, behind, part.heard))
        self.heard.is_logged |= part.heard.is_logged
        self.heard.params.update(part.heard.params)
        self.heard.status = self.heard.status or part.heard.status


def fits_path(listing: Listing) -> bool:
    """Return whether there are event files."""
    if listing.is_folder:
        return any(map(_is_event_file, listing.files))
    return _is_event_file(listing.path.name) or _FIRST_RECORD in listing.head[:64]


def read_path(listing: Listing, asked: Asked) -> Runs:
    """Return the runs of a folder, or of one event file."""
    asked.must_count_by(_CLOCKS, "TensorBoard")
    tags: dict[str, int] = {}
    runs, troubles = _runs(listing, _with_parts(asked), tags)
    runs = _of_splits(_of_groups(_with_own_params(runs)), tags)
    runs, parents = _without_parents(runs)
    scalars, dropped = _scalars(runs, tags)
    columns: dict[str, list[Any]] = {
        "run": [run.folder or _home(listing) for run in runs]
    }
    params = [run.heard.params for run in runs]
    # hparams.yaml of Lightning, config.json of anybody; most folders have none.
    if listing.is_folder and any(map(is_config, listing.files)):
        beside = Configurations(listing.path)
        params = [beside.of(run.folder, None) | run.heard.params for run in runs]
    columns |= {f"params.{name}": cells for name, cells in columns_of(params).items()}
    if any(run.heard.status for run in runs):
        columns["status"] = [run.heard.status or None for run in runs]
    return Runs(
        f"TensorBoard {'folder' if listing.is_folder else 'file'} {listing.path}",
        pa.table({name: array_of(cells) for name, cells in columns.items()}),
        scalars,
        steps="seconds" if asked.step == WALL_TIME else "step",
        left_out=(
            *left_out(troubles.empty, "without a readable event", "event file"),
            *left_out(troubles.closed, "that cannot be opened", "event file"),
            *left_out(parents, "without a scalar, with runs below", "folder"),
            *listing.left_out(),
        ),
        remarks=tuple(_remarks(runs, troubles, dropped, _home(listing))),
    )


def _is_event_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return "tfevents" in name and not name.endswith(".profile-empty")


def _home(listing: Listing) -> str:
    """Return the name of a run that lies in the folder itself."""
    return listing.path.resolve().name if listing.is_folder else listing.path.name


# --- runs --------------------------------------------------------------------------------


@dataclass(slots=True)
class _Troubles:
    """Files that could not be read, or not to their end, and why."""

    closed: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    stopped: dict[str, str] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)


def _runs(
    listing: Listing, asked: Asked, tags: dict[str, int]
) -> tuple[list[_Run], _Troubles]:
    files = [f for f in listing.files if not listing.is_folder or _is_event_file(f)]
    files.sort(key=lambda file: (file.rpartition("/")[0], _when(file)))
    by_folder: dict[str, list[Heard]] = {}
    troubles = _Troubles()
    every = heard_in(map(listing.place, files), asked, tags)
    for file, heard in zip(files, every, strict=True):
        heard.events -= heard.broken
        if heard.is_closed:
            troubles.closed.append(file)
        elif not heard.events:
            troubles.empty.append(file)
        else:
            by_folder.setdefault(file.rpartition("/")[0], []).append(heard)
            if heard.stop:
                troubles.stopped[file] = heard.stop
            if heard.broken:
                troubles.broken[file] = heard.broken
    runs = [_Run(folder, in_order(heards)) for folder, heards in by_folder.items()]
    return runs, troubles


def _when(file: str) -> tuple[int, str]:
    """Return the time in the name of an event file, by which restarts are in order."""
    match = re.search(r"tfevents\.(\d+)", file.rpartition("/")[2])
    return (int(match[1]) if match else 0, file)


def _with_own_params(runs: list[_Run]) -> list[_Run]:
    """Return runs with the hyperparameters that `add_hparams` wrote into a folder below.

    Several such folders are runs of their own: a table of hyperparameters and results.
    """
    by_folder = {run.folder: run for run in runs}
    below: dict[str, list[_Run]] = {}
    for run in runs:
        parent, _, name = run.folder.rpartition("/")
        if run.heard.params and _TIME.fullmatch(name) and parent in by_folder:
            below.setdefault(parent, []).append(run)
    merged = set()
    for parent, children in below.items():
        if len(children) == 1:
            in_order([by_folder[parent].heard, children[0].heard])
            merged.add(children[0].folder)
    return [run for run in runs if run.folder not in merged]


def _with_parts(asked: Asked) -> Asked:
    """Return what to read where names of metrics may have those of parts in them."""
    if asked.metrics is None:
        return asked
    parts = [name.partition("/")[2] for name in asked.metrics]
    parts += [name.rpartition("/")[0] for name in asked.metrics]
    return replace(asked, metrics=(*asked.metrics, *filter(None, parts)))


def _of_groups(runs: list[_Run]) -> list[_Run]:
    """Return runs with what `add_scalars` wrote: a folder below for each curve of a group.

    The folder is called as the group and the curve; the tag is the group's.
    """
    by_folder = {run.folder: run for run in runs}
    wholes: list[_Run] = []
    parts: set[str] = set()
    for run in runs:  # sorted: what is above comes first
        home = next((by_folder[f] for f in _above(run.folder) if f in by_folder), None)
        if home is not None and home.folder not in parts and len(run.heard.called) == 1:
            inside = run.folder[len(home.folder) :].strip("/").replace("/", "_")
            group = next(iter(run.heard.called)).replace("/", "_")
            if inside.startswith(f"{group}_"):
                home.take("", f"/{inside[len(group) + 1 :]}", run)
                parts.add(run.folder)
                continue
        wholes.append(run)
    return wholes


def _above(folder: str) -> Iterator[str]:
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def _of_splits(runs: list[_Run], tags: dict[str, int]) -> list[_Run]:
    """Return runs with ``run/train`` and ``run/val`` as parts of one."""
    below: dict[str, list[_Run]] = {}
    for run in runs:
        parent, _, name = run.folder.rpartition("/")
        if name.casefold() in SPLITS:
            below.setdefault(parent, []).append(run)
    splits = {parent: parts for parent, parts in below.items() if len(parts) > 1}
    if not splits:
        return runs
    by_folder = {run.folder: run for run in runs}
    for parent, parts in splits.items():
        whole = by_folder.setdefault(parent, _Run(parent, Heard(tags)))
        for part in parts:
            prefix = f"{part.folder.rpartition('/')[2]}/"
            whole.take(prefix, "", part)
            whole.parts += [(prefix + a, b, heard) for a, b, heard in part.parts]
            del by_folder[part.folder]
    return list(by_folder.values())


def _without_parents(runs: list[_Run]) -> tuple[list[_Run], list[str]]:
    """Return runs less those that have no scalar, and runs below them; and the latter.

    Such a folder keeps what its runs share, as a list of hyperparameters. A run without
    any below it has failed before its first score.
    """
    above = {folder for run in runs for folder in _above(run.folder)}
    rest = [run for run in runs if run.heard.is_logged or run.folder not in above]
    folders = [
        run.folder or "."
        for run in runs
        if run.folder in above and not run.heard.is_logged
    ]
    return rest, folders


# --- columns -----------------------------------------------------------------------------


def _scalars(runs: Sequence[_Run], tags: dict[str, int]) -> tuple[Scalars, int]:
    """Return the scores of runs, and how many they took back."""
    whole, real = np.empty(0, np.int64), np.empty(0)
    columns: list[tuple[Any, ...]] = [(whole, whole, real, real)]
    dropped = 0
    for row, run in enumerate(runs):
        n = 0
        for before, behind, heard in (("", "", run.heard), *run.parts):
            tag, step, value, less = joined(heard)
            tag = _renamed(tag, before, behind, tags)
            columns.append((np.full(len(tag), row), tag, step, value))
            dropped += less
            n += len(tag)
            # The parts of a run are not kept beside the whole.
            heard.tag, heard.step, heard.value = [], [], []
        run.heard.n = n
    run_of, tag, step, value = map(np.concatenate, zip(*columns, strict=True))
    called = list(tags)
    first = np.full(len(called), len(tag))
    first[tag[::-1]] = np.arange(len(tag))[::-1]
    order = np.argsort(first, kind="stable")[: int((first < len(tag)).sum())]
    place = np.zeros(len(called), np.int64)
    place[order] = np.arange(len(order))
    names = tuple(called[i] for i in order)
    return Scalars(run_of, place[tag], step, value, names), dropped


def _renamed(tag: Ints, before: str, behind: str, tags: dict[str, int]) -> Ints:
    """Return the places of tags with something before and behind their names."""
    if not before and not behind:
        return tag
    called = list(tags)
    codes, place = np.unique(tag, return_inverse=True)
    new = [f"{before}{called[i]}{behind}" for i in codes.tolist()]
    places: Ints = np.array([tags.setdefault(n, len(tags)) for n in new], np.int64)
    return places[place]


# --- what to know ------------------------------------------------------------------------


def _remarks(
    runs: Sequence[_Run], troubles: _Troubles, dropped: int, home: str
) -> Iterator[str]:
    if troubles.stopped:
        file, why = next(iter(troubles.stopped.items()))
        yield (
            f"{count(len(troubles.stopped), 'event file')} could not be read to the end, "
            f"as of runs that go on or were killed: '{file}' {why}. What comes before is "
            f"used."
        )
    if troubles.broken:
        file, n = next(iter(troubles.broken.items()))
        yield (
            f"Damaged and left out: {count(sum(troubles.broken.values()), 'record')} in "
            f"{count(len(troubles.broken), 'event file')}, such as {n} in '{file}'."
        )
    if dropped:
        yield (
            f"Left out: {count(dropped, 'score')} that a run took back when it was resumed "
            f"from an earlier step."
        )
    yield from _silent(runs, home)
    if strange := sorted({tag for run in runs for tag in run.heard.strange}):
        yield (
            f"Left out: scalars of a type that cannot be read, of "
            f"{count(len(strange), 'tag')}: {listed(strange, most=3)}."
        )


def _silent(runs: Sequence[_Run], home: str) -> Iterator[str]:
    """Return what to say of runs without a score: they have failed."""
    for is_logged, what in ((False, "a scalar"), (True, "what was asked for")):
        some = [r for r in runs if not r.heard.n and r.heard.is_logged == is_logged]
        others = set[str]() if is_logged else {t for r in some for t in r.heard.others}
        have = f", with {count(len(others), 'tag')} of other kinds" if others else ""
        if some:
            yield (
                f"Kept as failed: {count(len(some), 'run')} without {what}{have}, such as "
                f"'{some[0].folder or home}'."
            )


# --- Scalars of event files, many records of many files at a time ----------------------


# A record of a scalar is short. A long one (an image) is skipped without a look at its
# checksum, unless there are scalars in it.
_SHORT = 2048
_RARE, _PATIENCE = 4, 8  # so many layouts of so few rows: the rest goes one by one

# Records, tag, steps, times, values: one for each slot of each layout of a block.
_Piece = tuple[Ints, int, Floats, Floats, Floats]


def heard_in(
    paths: Iterable[Path], asked: Asked, tags: dict[str, int], at_once: int = AT_ONCE
) -> Iterator[Heard]:
    """Return what files say, one after the other.

    A file of its own takes some time however short it is: short ones are looked at
    together, long ones in parts of so many bytes.
    """
    waiting: list[tuple[bytes, Heard]] = []
    size = 0
    for path in paths:
        heard, content = Heard(tags), b""
        try:
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < at_once:
                    content = file.read()
                else:
                    yield from _together(waiting, asked)
                    waiting, size = [], 0
                    for block, heard.stop in blocks(file, at_once):
                        _hear_block(block, [heard], asked)
                    yield heard
                    continue
        except OSError:
            heard.is_closed = True
        waiting.append((content, heard))
        size += len(content)
        if size >= at_once:
            yield from _together(waiting, asked)
            waiting, size = [], 0
    yield from _together(waiting, asked)


def _together(waiting: Sequence[tuple[bytes, Heard]], asked: Asked) -> list[Heard]:
    contents = [content for content, _ in waiting]
    heards = [heard for _, heard in waiting]
    block = framed(contents)
    _hear_block(block, heards, asked)
    for i, heard in enumerate(heards):
        heard.stop = block.stop(i, len(contents[i]))
    return heards


def in_order(heards: Sequence[Heard]) -> Heard:
    """Return what the files of one run say together, each after the one before it."""
    first, *others = heards
    for one in others:
        first.restarts += [(first.n + before, at) for before, at in one.restarts]
        for name in ("tag", "step", "time", "value"):
            getattr(first, name).extend(getattr(one, name))
        for name in ("tensors", "called", "others", "strange", "params"):
            getattr(first, name).update(getattr(one, name))
        first.plugins = one.plugins | first.plugins
        first.n += one.n
        first.events += one.events
        first.began = min(first.began, one.began)
        first.is_logged |= one.is_logged
        first.status = one.status or first.status
    return first


def joined(heard: Heard) -> tuple[Ints, Floats, Floats, int]:
    """Return the tag, the step and the value of each scalar, and how many were dropped.

    Dropped is what a resumed run has taken back: scalars that were written before, at
    later steps. Tensors that nobody declared to be scalars are none.
    """
    if not heard.n:
        return np.empty(0, np.int64), np.empty(0), np.empty(0), 0
    tag, step = np.concatenate(heard.tag), np.concatenate(heard.step)
    value = np.concatenate(heard.value)
    valid = np.ones(heard.n, bool)
    for before, at in heard.restarts:
        valid[:before] &= step[:before] < at
    dropped = heard.n - int(valid.sum())
    undeclared = [t for t in heard.tensors if heard.plugins.get(t) != "scalars"]
    if undeclared:
        valid &= ~np.isin(tag, [heard.tags[t] for t in undeclared])
    if heard.time:
        step = np.concatenate(heard.time) - heard.began
    if valid.all():
        return tag, step, value, 0
    return tag[valid], step[valid], value[valid], dropped


# --- a block -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Ear:
    """A block, and what was found in it so far."""

    block: Block
    heards: Sequence[Heard]
    asked: Asked
    pieces: list[_Piece] = field(default_factory=list)
    restarts: list[tuple[int, float]] = field(default_factory=list)

    def broke(self, places: Ints) -> None:
        """Count records that cannot be used."""
        for file in self.block.owner[places].tolist():
            self.heards[file].broken += 1


def _hear_block(block: Block, heards: Sequence[Heard], asked: Asked) -> None:
    if not len(block.begin):
        return
    ear = _Ear(block, heards, asked)
    for heard, n in zip(heards, np.bincount(block.owner).tolist(), strict=False):
        heard.events += n
    order = np.argsort(block.length, kind="stable")
    lengths, begin = np.unique(block.length[order], return_index=True)
    for length, which in zip(lengths.tolist(), np.split(order, begin[1:]), strict=True):
        groups = [which] if length <= _SHORT else which[:, None]
        for some in groups:
            _hear_alike(ear, some, length)
    _keep(ear)


def _hear_alike(ear: _Ear, which: Ints, length: int) -> None:
    """Hear records of one length, layout by layout."""
    rows = ear.block.rows(which, -(-(length + 4) // 8) * 8)
    is_checked = length <= _SHORT
    if is_checked:
        rows, which = _whole(ear, rows, which, length)
    for layout, group, places in _alike(rows, which, length):
        if layout is None:
            ear.broke(places)
            continue
        whole = group, places
        if not is_checked and (layout.slots or layout.params):
            whole = _whole(ear, group, places, length)
        if len(whole[0]):
            _note(ear, layout, *whole)
            _cut(ear, layout, *whole)


def _whole(ear: _Ear, rows: Bytes, which: Ints, length: int) -> tuple[Bytes, Ints]:
    good = intact(rows, length)
    if good.all():
        return rows, which
    ear.broke(which[~good])
    return rows[good], which[good]


def _alike(
    rows: Bytes, which: Ints, length: int
) -> Iterator[tuple[Layout | None, Bytes, Ints]]:
    """Return layouts and the records that have them; None for what is no event."""
    rare = 0
    while len(rows) and rare < _PATIENCE:
        layout = _layout(rows[0], length)
        fits = layout.fits(rows) if layout else np.arange(len(rows)) < 1
        yield layout, rows[fits], which[fits]
        rare += int(fits.sum()) < _RARE
        rows, which = rows[~fits], which[~fits]
    for i in range(len(rows)):
        yield _layout(rows[i], length), rows[i : i + 1], which[i : i + 1]


def _layout(row: Bytes, length: int) -> Layout | None:
    try:
        return layout_of(row[:length].tobytes())
    except ValueError:
        return None


def _note(ear: _Ear, layout: Layout, rows: Bytes, places: Ints) -> None:
    """Keep what records say beside their scalars, for every file that has such."""
    is_logged = any(not s.is_tensor or s.plugin for s in layout.slots)
    files, first = np.unique(ear.block.owner[places], return_index=True)
    if ear.asked.step == WALL_TIME:
        earliest = np.minimum.reduceat(layout.wall_times(rows), first)
        for file, began in zip(files.tolist(), earliest.tolist(), strict=True):
            ear.heards[file].began = min(ear.heards[file].began, began)
    for file in files.tolist():
        heard = ear.heards[file]
        heard.is_logged |= is_logged
        heard.params.update(layout.params)
        heard.status = layout.status or heard.status
        heard.called.update(slot.tag for slot in layout.slots)
        for slot in layout.slots:
            if slot.plugin is not None:
                heard.plugins.setdefault(slot.tag, slot.plugin)
            if slot.is_tensor:
                heard.tensors.add(slot.tag)
        for tag, plugin in layout.others:
            (heard.strange if plugin == "scalars" else heard.others).add(tag)
    if layout.is_restart:
        steps = layout.steps(rows)
        ear.restarts += zip(places.tolist(), steps.tolist(), strict=True)


def _cut(ear: _Ear, layout: Layout, rows: Bytes, places: Ints) -> None:
    """Cut the scalars out of records that have the same layout."""
    tags = ear.heards[0].tags
    wanted = [slot for slot in layout.slots if ear.asked.wants(slot.tag)]
    if not wanted:
        return
    steps = times = layout.steps(rows)
    if ear.asked.step == WALL_TIME:
        times = layout.wall_times(rows)
    for slot in wanted:
        code = tags.setdefault(slot.tag, len(tags))
        ear.pieces.append((places, code, steps, times, slot.values(rows)))


def _keep(ear: _Ear) -> None:
    """Put what was found by layout in order of writing, and give it to its file."""
    pieces, heards = ear.pieces, ear.heards
    place = np.concatenate([np.empty(0, np.int64), *(p[0] for p in pieces)])
    order = np.argsort(place, kind="stable")
    place = place[order]
    ends = np.searchsorted(ear.block.owner[place], np.arange(len(heards) + 1)).tolist()
    for record, step in sorted(ear.restarts):
        file = int(ear.block.owner[record])
        before = int(np.searchsorted(place, record)) - ends[file]
        heards[file].restarts.append((heards[file].n + before, step))
    if not pieces:
        return
    tags = np.repeat([p[1] for p in pieces], [len(p[0]) for p in pieces])[order]
    steps = np.concatenate([p[2] for p in pieces])[order]
    times = np.concatenate([p[3] for p in pieces])[order]
    values = np.concatenate([p[4] for p in pieces])[order]
    for heard, begin, end in zip(heards, ends, ends[1:], strict=False):
        if begin == end:
            continue
        heard.tag.append(tags[begin:end])
        heard.step.append(steps[begin:end])
        heard.value.append(values[begin:end])
        if ear.asked.step == WALL_TIME:
            heard.time.append(times[begin:end])
        heard.n += end - begin
