"""Ray Tune: folders of experiments, one folder per trial, or one ``result.json``."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, listed
from curvewise.exchange.runs import (
    Asked,
    LeftOut,
    Runs,
    array_of,
    as_text,
    joined_scalars,
    parsed,
)
from curvewise.exchange.tools.contents import Seen
from curvewise.metrics import Floats
from curvewise.text import count


class Stated(NamedTuple):
    """What the state of an experiment says of a trial.

    The tag names its place in the experiment and what was drawn for it.
    """

    status: str
    trainable: str | None
    tag: str = ""


@dataclass(slots=True)
class States:
    """What all states of all experiments of a folder say.

    Parameters
    ----------
    trials : dict of str to Stated
        By the name of a trial's folder.
    again : set of str
        Trials that failed, and that Ray ran again under another name.
    unread : list of str
        Names of states that cannot be read.
    """

    trials: dict[str, Stated] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)


_RESULT, _TABLE, _PARAMS, _ERROR = (
    "result.json",
    "progress.csv",
    "params.json",
    "error.txt",
)
_STATE = re.compile(r"(?:.*/)?experiment_state-[^/]*\.json")
_USUAL_STEP = "training_iteration"
# What Ray adds to every report. The caller may count by these, or ask for them by name.
_KEPT_BY_RAY = frozenset(
    (
        *("training_iteration", "timesteps_total", "time_total_s", "time_this_iter_s"),
        *("time_since_restore", "timesteps_since_restore", "iterations_since_restore"),
        *("timestamp", "date", "pid", "hostname", "node_ip", "trial_id", "done"),
        *("experiment_id", "experiment_tag", "checkpoint_dir_name", "warmup_time"),
        *("should_checkpoint", "timesteps_this_iter", "episodes_this_iter"),
    )
)
# Ray calls every trial that ended well TERMINATED, and so others call those killed.
_ENDED = {"TERMINATED": "finished", "ERROR": "failed"}
_LARGEST = 10**300  # of whole numbers that can be floats
# Trainable, experiment, trial; or, where it was run again, trainable, trial, place.
_FOLDER = re.compile(r"(.+?)_[0-9a-f]{5,8}_\d+(?:_|$)")


@dataclass(slots=True)
class _Trial:
    """A trial of Ray's: where it is, what it reported, how it ended.

    Beside that, whether its params cannot be read, and whether they changed on the way.
    """

    folder: str
    curves: list[tuple[str, Floats, Floats]]
    params: dict[str, Any]
    status: str
    error: str
    trainable: str | None
    seconds: float
    broken: int = 0
    without_params: bool = False
    changed: bool = False


@dataclass(slots=True)
class _Told:
    """What all reports together say.

    Names of what is a number at least once, and of what is none at least once; how many
    reports lack the step that was asked for.
    """

    numbers: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    without_step: int = 0


def fits_path(seen: Seen) -> bool:
    """Return whether there are results of trials of Ray Tune."""
    if not seen.is_folder:
        return seen.path.name == _RESULT and _is_report(seen.head)
    results = seen.named(_RESULT, _TABLE)
    if not results:
        return False
    files = set(seen.files)
    siblings = (f"{_parent(file)}{_PARAMS}" in files for file in results)
    return any(siblings) or any(_STATE.fullmatch(file) for file in seen.files)


def read_path(seen: Seen, asked: Asked) -> Runs:
    """Return the trials of a folder, or of one ``result.json``."""
    states = states_in([seen.place(f) for f in seen.files if _STATE.fullmatch(f)])
    told = _Told()
    trials, closed = _trials(seen, states, asked, told)
    step = asked.step or _USUAL_STEP
    if told.numbers and step not in told.numbers:
        raise CurvewiseError(
            f"step is '{step}', and no trial of {seen.path} reports such a number. Count "
            f"by one of {listed(sorted(told.numbers), most=20)}."
        )
    known = all(trial.trainable for trial in trials)
    return Runs(
        f"Ray Tune {'folder' if seen.is_folder else 'file'} {seen.path}",
        _table(trials, seen),
        joined_scalars((i, *one) for i, t in enumerate(trials) for one in t.curves),
        usual={"algorithm": "trainable"} if known and trials else {},
        steps=step,
        left_out=(*_left_out(trials, states, closed), *seen.left_out()),
        remarks=tuple(_remarks(trials, states, told, step)),
    )


def _is_report(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and b'"training_iteration"' in head


def _parent(file: str) -> str:
    return file[: file.rfind("/") + 1]


def _home(seen: Seen) -> str:
    """Return the name of the folder itself, or of the one that a file is in."""
    path = seen.path.resolve()
    return path.name if seen.is_folder else path.parent.name


# --- trials ------------------------------------------------------------------------------


def _trials(
    seen: Seen, states: States, asked: Asked, told: _Told
) -> tuple[list[_Trial], list[str]]:
    """Return the trials, and the files that may not be read."""
    files = set(seen.files)
    experiments = {_parent(file) for file in seen.files if _STATE.fullmatch(file)}
    folders = {_parent(file) for file in seen.named(_RESULT, _TABLE)}
    # A trial that failed before its first report has params or an error, and no result.
    for file in seen.named(_PARAMS, _ERROR):
        if _parent(_parent(file)[:-1]) in experiments and _parent(file):
            folders.add(_parent(file))
    trials, closed = [], []
    for folder in sorted(folders - experiments):
        if PurePosixPath(folder).name in states.again:
            continue
        try:
            trials.append(_trial(seen, folder, files, states, asked, told))
        except OSError:
            closed.append(folder.rstrip("/") or seen.path.name)
    return trials, closed


def _trial(
    seen: Seen,
    folder: str,
    files: set[str],
    states: States,
    asked: Asked,
    told: _Told,
) -> _Trial:
    def place(name: str) -> Any:
        file = f"{folder}{name}"
        return seen.place(file) if file in files else None

    own = folder.rstrip("/")
    name = PurePosixPath(own).name or _home(seen)
    rows, broken = reported(place(_RESULT), place(_TABLE))
    last = rows[-1] if rows else {}
    params = loaded(place(_PARAMS))
    is_lost = params is None and place(_PARAMS) is not None
    params = params or last.get("config") or {}
    state = states.trials.get(name, Stated("", None))
    error = problem_in(place(_ERROR))
    status = _ENDED.get(state.status, "")
    if not status and last.get("done") in (True, "True"):
        status = "finished"
    if not status:
        status = "failed" if error else "running"
    found = _FOLDER.match(name)
    spent = last.get("time_total_s")
    return _Trial(
        own,
        list(_curves(rows, asked, told)),
        flattened(params) if isinstance(params, dict) else {},
        status,
        error if status == "failed" else "",
        state.trainable or (found[1] if found else None),
        float(spent) if _is_number(spent) else np.nan,
        broken,
        is_lost and not params,
        bool(rows) and rows[0].get("config") != last.get("config"),
    )


# --- columns -----------------------------------------------------------------------------


def _curves(
    rows: Sequence[dict[str, Any]], asked: Asked, told: _Told
) -> Iterator[tuple[str, Floats, Floats]]:
    """Return metrics with their steps and values."""
    flat = [flattened({**row, "config": None}) for row in rows]
    told.numbers.update(
        key
        for row in flat
        for key in row
        if key not in told.numbers and _is_number(row[key])
    )
    clock = asked.step or _USUAL_STEP
    counted = [
        row for row in flat if _is_number(row.get(clock)) and isfinite(row[clock])
    ]
    told.without_step += len(flat) - len(counted)
    steps = np.array([row[clock] for row in counted], np.float64)
    for name in dict.fromkeys(key for row in counted for key in row):
        is_rays = asked.metrics is None and name in _KEPT_BY_RAY
        if is_rays or not asked.wants(name):
            continue
        cells = [row.get(name) for row in counted]
        which = [i for i, cell in enumerate(cells) if _is_number(cell)]
        if len(which) < sum(cell is not None for cell in cells):
            told.texts.add(name)
        if which:
            yield name, steps[which], np.array([cells[i] for i in which], np.float64)


def _is_number(cell: object) -> TypeGuard[float]:
    if isinstance(cell, int) and not isinstance(cell, bool):
        return abs(cell) < _LARGEST
    return isinstance(cell, float)


def _table(trials: Sequence[_Trial], seen: Seen) -> pa.Table:
    paths = [PurePosixPath(trial.folder) for trial in trials]
    names = [path.name or _home(seen) for path in paths]
    experiments = [path.parent.name or _home(seen) for path in paths]
    if len(set(names)) < len(names):
        names = [trial.folder for trial in trials]
    columns: dict[str, list[Any]] = {"run": names}
    for name in dict.fromkeys(p for trial in trials for p in trial.params):
        columns[f"params.{name}"] = [trial.params.get(name) for trial in trials]
    columns["trainable"] = [trial.trainable for trial in trials]
    if len(set(experiments)) > 1:
        columns["experiment"] = experiments
    columns["status"] = [trial.status for trial in trials]
    columns["error_text"] = [trial.error for trial in trials]
    columns["seconds"] = [trial.seconds for trial in trials]
    return pa.table({name: array_of(cells) for name, cells in columns.items()})


# --- what to know ------------------------------------------------------------------------


def _left_out(
    trials: Sequence[_Trial], states: States, closed: Sequence[str]
) -> Iterator[LeftOut]:
    there = {PurePosixPath(trial.folder).name for trial in trials}
    there |= {PurePosixPath(folder).name for folder in closed}
    there |= states.again
    gone = {name: own for name, own in states.trials.items() if name not in there}
    waiting = [n for n, own in gone.items() if own.status == "PENDING"]
    lost = [n for n in gone if n not in waiting]
    for names, why in (
        (waiting, "that Ray never started"),
        (lost, "that Ray knows of, without results here"),
        (sorted(states.again), "that failed, and that Ray ran again"),
        (list(closed), "whose files cannot be opened"),
    ):
        if names:
            yield LeftOut(len(names), why, tuple(names[:2]))


def _remarks(
    trials: Sequence[_Trial], states: States, told: _Told, step: str
) -> Iterator[str]:
    if states.unread:
        yield (
            f"How trials ended is not known where {listed(states.unread, most=2)} should "
            f"say it, which cannot be read: those without an error count as going on."
        )
    yield from _about_params(trials)
    broken = [trial for trial in trials if trial.broken]
    if broken:
        yield (
            f"Left out: {count(sum(t.broken for t in broken), 'line')} of "
            f"{count(len(broken), 'run')} that cannot be read, as killed runs leave them, "
            f"such as in '{broken[0].folder or _RESULT}'."
        )
    if told.without_step:
        yield f"Left out: {count(told.without_step, 'report')} without '{step}'."
    if told.texts:
        yield (
            f"Left out: what is no number, of {count(len(told.texts), 'reported value')}: "
            f"{listed(sorted(told.texts), most=4)}."
        )


def _about_params(trials: Sequence[_Trial]) -> Iterator[str]:
    lost = [trial for trial in trials if trial.without_params]
    if lost:
        yield (
            f"The params of {count(len(lost), 'run')} cannot be read and are empty, such "
            f"as of '{lost[0].folder or _PARAMS}'."
        )
    changed = [trial for trial in trials if trial.changed]
    if changed:
        yield (
            f"{count(len(changed), 'run')} changed params on the way, such as "
            f"'{changed[0].folder or _RESULT}', and have those of the end. Trials of "
            f"population based training learn from each other: they are not independent."
        )


# --------------------------------------------------------------------------------------
# Files that Ray Tune leaves: reports, params, the state of an experiment, errors.


_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_RAISED = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Interrupt|Exit)\b.*")


def reported(
    results: Path | None, table: Path | None
) -> tuple[list[dict[str, Any]], int]:
    """Return the reports of a trial, and how many lines cannot be read.

    They are in ``result.json``, one object per line, or only in ``progress.csv``.
    """
    if results is None:
        return ([], 0) if table is None else _of_table(table)
    rows, broken = [], 0
    with results.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                row = parsed(line)
            except ValueError:
                row = None
            if isinstance(row, dict):
                rows.append(row)
            else:
                broken += 1
    return rows, broken


def _of_table(path: Path) -> tuple[list[dict[str, Any]], int]:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        lines = [line.replace("\0", "") for line in file]
    # What is being written, or was when its run was killed, may be half a number.
    cut = bool(lines) and not lines[-1].endswith(("\n", "\r"))
    reader = csv.DictReader(lines[:-1] if cut else lines)
    rows: list[dict[str, Any]] = []
    broken = int(cut)
    while True:
        try:
            row = next(reader, None)
        except csv.Error:  # a cell without an end
            broken += 1
            continue
        if row is None:
            return rows, broken
        # A line that was cut has fewer cells, a damaged one more: None is their place.
        rows.append({key: _cell(text) for key, text in row.items() if key and text})


def _cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def loaded(path: Path | None) -> dict[str, Any] | None:
    """Return the object in a file of JSON; None if there is none."""
    if path is None:
        return None
    try:
        found = parsed(path.read_text(encoding="utf-8", errors="replace"))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def problem_in(path: Path | None) -> str:
    """Return the line of a traceback that says what was raised, or the last one."""
    if path is None:
        return ""
    text = _ANSI.sub("", path.read_text(encoding="utf-8", errors="replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.fullmatch(line)]
    return (raised or lines or ["an empty error.txt"])[-1]


def flattened(values: dict[str, Any]) -> dict[str, Any]:
    """Return values with names like ``eval/return``; lists are kept as JSON.

    >>> flattened({"eval": {"return": 1.0}, "layers": [8, 8]})
    {'eval/return': 1.0, 'layers': '[8, 8]'}
    """
    if not {dict, list} & {type(value) for value in values.values()}:
        return values
    out: dict[str, Any] = {}
    waiting = list(values.items())[::-1]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            inner = [(f"{name}/{key}", one) for key, one in value.items()]
            waiting += inner[::-1]
        else:
            out[name] = as_text(value) if isinstance(value, list) else value
    return out


# --- What the state of an experiment of Ray's says of its trials -----------------------


def states_in(paths: Sequence[Path]) -> States:
    """Return what states of experiments say.

    A resumed experiment has several states; the name holds the time, and the last counts.
    """
    out = States()
    before: dict[Path, dict[str, Stated]] = {}
    for path in sorted(paths):
        try:
            state = loaded(path)
        except OSError:
            state = None
        if state is None:
            out.unread.append(path.name)
            continue
        now = dict(map(_stated, _entries(state)))
        # Whether it goes on with what was there, not a new one of the same name.
        runner = state.get("runner_data")
        if isinstance(runner, dict) and runner.get("_resumed") is True:
            out.again |= _run_again(before.get(path.parent, {}), now)
        before[path.parent] = before.get(path.parent, {}) | now
        out.trials |= now
    return out


def _run_again(before: dict[str, Stated], now: dict[str, Stated]) -> set[str]:
    """Return trials that failed, and have left their place to another one."""
    places = {one.tag for one in now.values() if one.tag}
    return {
        name
        for name, one in before.items()
        if name not in now and one.status == "ERROR" and one.tag in places
    }


def _stated(trial: dict[str, Any]) -> tuple[str, Stated]:
    folder = trial.get("relative_logdir") or trial.get("logdir")
    name = Path(str(folder)).name if folder else str(trial.get("trial_id"))
    trainable = trial.get("trainable_name")
    return name, Stated(
        str(trial.get("status") or ""),
        trainable if isinstance(trainable, str) else None,
        str(trial.get("experiment_tag") or ""),
    )


def _entries(state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the trials of a state: pairs in a newer Ray, ``checkpoints`` before 2.7."""
    entries = state.get("trial_data") or state.get("checkpoints") or []
    for entry in entries if isinstance(entries, list) else []:
        one = entry[0] if isinstance(entry, list) and entry else entry
        if isinstance(one, str):
            try:
                one = parsed(one)
            except ValueError:
                continue
        if isinstance(one, dict):
            yield one
