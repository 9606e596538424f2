"""Scalars of event files, many records of many files at a time."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from curvewise.exchange.runs import Asked
from curvewise.exchange.tools.tensorboard.layouts import Layout, layout_of, values_of
from curvewise.exchange.tools.tensorboard.records import (
    AT_ONCE,
    Block,
    Bytes,
    blocks,
    framed,
    intact,
)
from curvewise.metrics import Floats
from curvewise.trials.columns import Ints

WALL_TIME = "wall_time"
# A record of a scalar is short. A long one (an image) is skipped without a look at its
# checksum, unless there are scalars in it.
_SHORT = 2048
_RARE, _PATIENCE = 4, 8  # so many layouts of so few rows: the rest goes one by one


@dataclass(slots=True)
class Heard:
    """What an event file says, or several of one run.

    Parameters
    ----------
    tags : dict of str to int
        Their places in `tag`; one for all files.
    tag, step, time, value : list of array
        In order of writing; times only where they were asked for.
    n : int
        How many scalars that is.
    events : int
    began : float
        The wall time of the first event, where time was asked for.
    restarts : list of (int, float)
        How many scalars were there when the run was resumed, and at which step.
    plugins : dict of str to str
        Who a tag is for, where a record says so.
    tensors : set of str
        Tags of scalars that came as tensors.
    logged : bool
        Whether there are scalars, asked for or not.
    called : set of str
        Tags of all of these.
    others : set of str
        Tags of what is no scalar.
    strange : set of str
        Tags of scalars of a type that we cannot read.
    params : dict
    status : str
    broken : int
        Records whose checksum is wrong, or that are no events.
    stop : str
        Why the file cannot be read to its end.
    is_closed : bool
        Whether it cannot be opened.
    """

    tags: dict[str, int]
    tag: list[Ints] = field(default_factory=list)
    step: list[Floats] = field(default_factory=list)
    time: list[Floats] = field(default_factory=list)
    value: list[Floats] = field(default_factory=list)
    n: int = 0
    events: int = 0
    began: float = np.inf
    restarts: list[tuple[int, float]] = field(default_factory=list)
    plugins: dict[str, str] = field(default_factory=dict)
    tensors: set[str] = field(default_factory=set)
    logged: bool = False
    called: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    strange: set[str] = field(default_factory=set)
    params: dict[str, Any] = field(default_factory=dict)
    status: str = ""
    broken: int = 0
    stop: str = ""
    is_closed: bool = False


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
        first.logged |= one.logged
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
    kept = np.ones(heard.n, bool)
    for before, at in heard.restarts:
        kept[:before] &= step[:before] < at
    dropped = heard.n - int(kept.sum())
    undeclared = [t for t in heard.tensors if heard.plugins.get(t) != "scalars"]
    if undeclared:
        kept &= ~np.isin(tag, [heard.tags[t] for t in undeclared])
    if heard.time:
        step = np.concatenate(heard.time) - heard.began
    if kept.all():
        return tag, step, value, 0
    return tag[kept], step[kept], value[kept], dropped


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
    for layout, own, places in _alike(rows, which, length):
        if layout is None:
            ear.broke(places)
            continue
        whole = own, places
        if not is_checked and (layout.slots or layout.params):
            whole = _whole(ear, own, places, length)
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
        heard.logged |= is_logged
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
        ear.pieces.append((places, code, steps, times, values_of(slot, rows)))


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
