"""TensorBoard: a folder of runs, each with event files of its own, or one such file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise._text import count
from curvewise.errors import CurvewiseError, listed
from curvewise.exchange.cells import array_of
from curvewise.exchange.runs import Asked, LeftOut, Runs, Scalars, no_scalars
from curvewise.exchange.tools.folders.layout import Configurations, is_config
from curvewise.exchange.tools.folders.logs import SPLITS
from curvewise.exchange.tools.seeing import Seen
from curvewise.exchange.tools.tensorboard.scalars import (
    WALL_TIME,
    Heard,
    heard_in,
    in_order,
    joined,
)
from curvewise.trials.columns import Ints

_CLOCKS = ("step", WALL_TIME)
_FIRST_RECORD = b"brain.Event:"
# add_hparams puts hyperparameters into a folder of their own, named by the time.
_TIME = re.compile(r"\d{9,}(\.\d+)?")


@dataclass(slots=True)
class _Run:
    """A folder with event files, and what they say; those of its parts below it.

    Of a part: what goes before and behind the names of its metrics.
    """

    folder: str
    heard: Heard
    parts: list[tuple[str, str, Heard]] = field(default_factory=list)

    def take(self, before: str, behind: str, part: "_Run") -> None:
        """Make another run a part of this one."""
        self.parts.append((before, behind, part.heard))
        self.heard.logged |= part.heard.logged
        self.heard.params.update(part.heard.params)
        self.heard.status = self.heard.status or part.heard.status


def fits_path(seen: Seen) -> bool:
    """Return whether there are event files."""
    if seen.is_folder:
        return any(map(_is_event_file, seen.files))
    return _is_event_file(seen.path.name) or _FIRST_RECORD in seen.head[:64]


def read_path(seen: Seen, asked: Asked) -> Runs:
    """Return the runs of a folder, or of one event file."""
    if asked.step not in (None, *_CLOCKS):
        raise CurvewiseError(
            f"step is '{asked.step}', and TensorBoard counts by {listed(_CLOCKS)}. Pass "
            f"one of these, or leave it out."
        )
    tags: dict[str, int] = {}
    runs, troubles = _runs(seen, _with_parts(asked), tags)
    left_out = _without_events(troubles)
    runs = _of_splits(_of_groups(_with_own_params(runs)), tags)
    runs, parents = _without_parents(runs)
    left_out += parents
    scalars, dropped = _scalars(runs, tags)
    return Runs(
        f"TensorBoard {'folder' if seen.is_folder else 'file'} {seen.path}",
        _table(runs, seen),
        scalars,
        steps="seconds" if asked.step == WALL_TIME else "step",
        left_out=(*left_out, *seen.left_out()),
        remarks=tuple(_remarks(runs, troubles, dropped, _home(seen))),
    )


def _is_event_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return "tfevents" in name and not name.endswith(".profile-empty")


def _home(seen: Seen) -> str:
    """Return the name of a run that lies in the folder itself."""
    return seen.path.resolve().name if seen.is_folder else seen.path.name


# --- runs --------------------------------------------------------------------------------


@dataclass(slots=True)
class _Troubles:
    """Files that could not be read, or not to their end, and why."""

    closed: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    stopped: dict[str, str] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)


def _runs(
    seen: Seen, asked: Asked, tags: dict[str, int]
) -> tuple[list[_Run], _Troubles]:
    files = [f for f in seen.files if not seen.is_folder or _is_event_file(f)]
    files.sort(key=lambda file: (file.rpartition("/")[0], _when(file)))
    found: dict[str, list[Heard]] = {}
    troubles = _Troubles()
    every = heard_in(map(seen.place, files), asked, tags)
    for file, heard in zip(files, every, strict=True):
        heard.events -= heard.broken
        if heard.is_closed:
            troubles.closed.append(file)
        elif not heard.events:
            troubles.empty.append(file)
        else:
            found.setdefault(file.rpartition("/")[0], []).append(heard)
            if heard.stop:
                troubles.stopped[file] = heard.stop
            if heard.broken:
                troubles.broken[file] = heard.broken
    return [
        _Run(folder, in_order(heards)) for folder, heards in found.items()
    ], troubles


def _when(file: str) -> tuple[int, str]:
    """Return the time in the name of an event file, by which restarts are in order."""
    found = re.search(r"tfevents\.(\d+)", file.rpartition("/")[2])
    return (int(found[1]) if found else 0, file)


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
    for parent, found in below.items():
        if len(found) == 1:
            in_order([by_folder[parent].heard, found[0].heard])
            merged.add(found[0].folder)
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
    out: list[_Run] = []
    parts: set[str] = set()
    for run in runs:  # sorted: what is above comes first
        home = _above(run.folder, by_folder)
        if home is not None and home.folder not in parts and len(run.heard.called) == 1:
            inside = run.folder[len(home.folder) :].strip("/").replace("/", "_")
            group = next(iter(run.heard.called)).replace("/", "_")
            if inside.startswith(f"{group}_"):
                home.take("", f"/{inside[len(group) + 1 :]}", run)
                parts.add(run.folder)
                continue
        out.append(run)
    return out


def _above(folder: str, by_folder: Mapping[str, _Run]) -> _Run | None:
    while folder:
        folder = folder.rpartition("/")[0]
        if folder in by_folder:
            return by_folder[folder]
    return None


def _of_splits(runs: list[_Run], tags: dict[str, int]) -> list[_Run]:
    """Return runs with ``run/train`` and ``run/val`` as parts of one."""
    below: dict[str, list[_Run]] = {}
    for run in runs:
        parent, _, name = run.folder.rpartition("/")
        if name.casefold() in SPLITS:
            below.setdefault(parent, []).append(run)
    pairs = {parent: some for parent, some in below.items() if len(some) > 1}
    if not pairs:
        return runs
    by_folder = {run.folder: run for run in runs}
    parts = {part.folder for some in pairs.values() for part in some}
    for parent, some in pairs.items():
        whole = by_folder.setdefault(parent, _Run(parent, Heard(tags)))
        for part in some:
            whole.take(f"{part.folder.rpartition('/')[2]}/", "", part)
            whole.parts += [
                (f"{part.folder.rpartition('/')[2]}/{a}", b, heard)
                for a, b, heard in part.parts
            ]
    return [run for folder, run in by_folder.items() if folder not in parts]


def _without_events(troubles: _Troubles) -> list[LeftOut]:
    out = []
    for why, files in (
        ("without a readable event", troubles.empty),
        ("that cannot be opened", troubles.closed),
    ):
        if files:
            out.append(LeftOut(len(files), why, tuple(files[:2]), "event file"))
    return out


def _without_parents(runs: list[_Run]) -> tuple[list[_Run], list[LeftOut]]:
    """Return runs less those that have no scalar, and runs below them.

    Such a folder keeps what its runs share, as a list of hyperparameters. A run without
    any below it has failed before its first score.
    """
    parents = set()
    for run in runs:
        folder = run.folder
        while folder:
            folder = folder.rpartition("/")[0]
            parents.add(folder)
    out = [run for run in runs if run.folder in parents and not run.heard.logged]
    if not out:
        return runs, []
    names = tuple(run.folder or "." for run in out[:2])
    why = "without a scalar, with runs below"
    kept = [run for run in runs if run.heard.logged or run.folder not in parents]
    return kept, [LeftOut(len(out), why, names, "folder")]


# --- columns -----------------------------------------------------------------------------


def _scalars(runs: Sequence[_Run], tags: dict[str, int]) -> tuple[Scalars, int]:
    columns: list[tuple[Any, ...]] = []
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
    if not columns:
        return no_scalars(), 0
    run_of, tag, step, value = map(np.concatenate, zip(*columns, strict=True))
    called = list(tags)
    first = np.full(len(called), len(tag))
    first[tag[::-1]] = np.arange(len(tag))[::-1]
    order = np.argsort(first, kind="stable")[: int((first < len(tag)).sum())]
    place = np.zeros(len(called), np.int64)
    place[order] = np.arange(len(order))
    return Scalars(
        run_of, place[tag], step, value, tuple(called[i] for i in order)
    ), dropped


def _renamed(tag: Ints, before: str, behind: str, tags: dict[str, int]) -> Ints:
    """Return the places of tags with something before and behind their names."""
    if not before and not behind:
        return tag
    called = list(tags)
    own, place = np.unique(tag, return_inverse=True)
    new = [f"{before}{called[i]}{behind}" for i in own.tolist()]
    places: Ints = np.array([tags.setdefault(n, len(tags)) for n in new], np.int64)
    return places[place]


def _table(runs: Sequence[_Run], seen: Seen) -> pa.Table:
    columns: dict[str, list[Any]] = {"run": [run.folder or _home(seen) for run in runs]}
    found = [run.heard.params for run in runs]
    # hparams.yaml of Lightning, config.json of anybody; most folders have none.
    if seen.is_folder and any(map(is_config, seen.files)):
        beside = Configurations(seen.path)
        found = [beside.of(run.folder, None) | run.heard.params for run in runs]
    for param in dict.fromkeys(p for params in found for p in params):
        columns[f"params.{param}"] = [params.get(param) for params in found]
    if any(run.heard.status for run in runs):
        columns["status"] = [run.heard.status or None for run in runs]
    return pa.table({name: array_of(cells) for name, cells in columns.items()})


# --- what to know ------------------------------------------------------------------------


def _remarks(
    runs: Sequence[_Run], troubles: _Troubles, dropped: int, home: str
) -> list[str]:
    out = []
    if troubles.stopped:
        file, why = next(iter(troubles.stopped.items()))
        out.append(
            f"{count(len(troubles.stopped), 'event file')} could not be read to the end, "
            f"as of runs that go on or were killed: '{file}' {why}. What comes before is "
            f"used."
        )
    if troubles.broken:
        file, n = next(iter(troubles.broken.items()))
        out.append(
            f"Damaged and left out: {count(sum(troubles.broken.values()), 'record')} in "
            f"{count(len(troubles.broken), 'event file')}, such as {n} in '{file}'."
        )
    if dropped:
        out.append(
            f"Left out: {count(dropped, 'score')} that a run took back when it was resumed "
            f"from an earlier step."
        )
    out += _silent(runs, home)
    strange = {tag for run in runs for tag in run.heard.strange}
    if strange:
        out.append(
            f"Left out: scalars of a type that cannot be read, of "
            f"{count(len(strange), 'tag')}: {listed(sorted(strange), most=3)}."
        )
    return out


def _silent(runs: Sequence[_Run], home: str) -> Iterator[str]:
    """Return what to say of runs without a score: they have failed."""
    for is_logged, what in ((False, "a scalar"), (True, "what was asked for")):
        some = [r for r in runs if not r.heard.n and r.heard.logged == is_logged]
        others = set[str]() if is_logged else {t for r in some for t in r.heard.others}
        have = f", with {count(len(others), 'tag')} of other kinds" if others else ""
        if some:
            yield (
                f"Kept as failed: {count(len(some), 'run')} without {what}{have}, such as "
                f"'{some[0].folder or home}'."
            )
