"""Ray Tune: folders of experiments, one folder per trial, or one ``result.json``."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from curvewise.errors import CurvewiseError, listed
from curvewise.exchange.runs import (
    Asked,
    Gathered,
    LeftOut,
    Runs,
    flattened,
    is_number,
    left_out,
    objects_in,
    parsed,
)
from curvewise.exchange.tools.files import Listing
from curvewise.metrics import Floats
from curvewise.text import count

_RESULT, _TABLE = "result.json", "progress.csv"
_PARAMS, _ERROR = "params.json", "error.txt"
_STATE = re.compile(r"(?:.*/)?experiment_state-[^/]*\.json")
_USUAL_STEP = "training_iteration"
# What Ray adds to every report. The caller may count by these, or ask for them by name.
_KEPT_BY_RAY = frozenset(
    """training_iteration timesteps_total time_total_s time_this_iter_s time_since_restore
    timesteps_since_restore iterations_since_restore timestamp date pid hostname node_ip
    trial_id done experiment_id experiment_tag checkpoint_dir_name warmup_time
    should_checkpoint timesteps_this_iter episodes_this_iter""".split()
)
# Ray calls every trial that ended well TERMINATED, and so others call those killed.
_ENDED = {"TERMINATED": "finished", "ERROR": "failed"}
# Trainable, experiment, trial; or, where it was run again, trainable, trial, place.
_FOLDER = re.compile(r"(.+?)_[0-9a-f]{5,8}_\d+(?:_|$)")


class _Stated(NamedTuple):
    """What the state of an experiment says of a trial."""

    status: str
    trainable: str | None
    tag: str = ""  # its place in the experiment and what was drawn for it


@dataclass(slots=True)
class _States:
    """What all states of all experiments of a folder say."""

    trials: dict[str, _Stated] = field(default_factory=dict)  # by the name of a folder
    again: set[str] = field(default_factory=set)  # that failed, and ran under new names
    unread: list[str] = field(default_factory=list)  # names of states


class _Trials(Gathered):
    """Trials that were read so far, and what is to be said of them; folders by name."""

    def __init__(self) -> None:
        super().__init__()
        self.folders: list[str] = []
        self.closed: list[str] = []
        self.broken: dict[str, int] = {}  # lines that cannot be read
        self.without_params: list[str] = []
        self.changed: list[str] = []  # params, on the way
        self.numbers: set[str] = set()  # names of what is a number at least once
        self.texts: set[str] = set()  # names of what is none at least once
        self.without_step = 0


def fits_path(listing: Listing) -> bool:
    """Return whether there are results of trials of Ray Tune."""
    if not listing.is_folder:
        return listing.path.name == _RESULT and _is_report(listing.head)
    results = listing.named(_RESULT, _TABLE)
    if not results:
        return False
    files = set(listing.files)
    siblings = (f"{_parent(file)}{_PARAMS}" in files for file in results)
    return any(siblings) or any(_STATE.fullmatch(file) for file in listing.files)


def read_path(listing: Listing, asked: Asked) -> Runs:
    """Return the trials of a folder, or of one ``result.json``."""
    states = _states_in(
        [listing.place(f) for f in listing.files if _STATE.fullmatch(f)]
    )
    trials, files = _Trials(), set(listing.files)
    for folder in _folders(listing, states):
        try:
            _add(trials, listing, folder, files, states, asked)
        except OSError:
            trials.closed.append(folder.rstrip("/") or listing.path.name)
    step = asked.step or _USUAL_STEP
    if trials.numbers and step not in trials.numbers:
        raise CurvewiseError(
            f"step is '{step}', and no trial of {listing.path} reports such a number. "
            f"Count by one of {listed(sorted(trials.numbers), most=20)}.",
            argument="step",
            value=step,
        )
    _name(trials, listing)
    is_named = all(row["trainable"] for row in trials.rows)
    return Runs(
        f"Ray Tune {'folder' if listing.is_folder else 'file'} {listing.path}",
        trials.table(),
        trials.scalars(),
        usual={"algorithm": "trainable"} if is_named and trials.rows else {},
        steps=step,
        left_out=(*_left_out(trials, states), *listing.left_out()),
        remarks=tuple(_remarks(trials, states, step)),
    )


def _is_report(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and b'"training_iteration"' in head


def _parent(file: str) -> str:
    return file[: file.rfind("/") + 1]


def _home(listing: Listing) -> str:
    """Return the name of the folder itself, or of the one that a file is in."""
    path = listing.path.resolve()
    return path.name if listing.is_folder else path.parent.name


# --- trials ------------------------------------------------------------------------------


def _folders(listing: Listing, states: _States) -> list[str]:
    """Return the folders of trials, less those that Ray ran again."""
    experiments = {_parent(file) for file in listing.files if _STATE.fullmatch(file)}
    folders = {_parent(file) for file in listing.named(_RESULT, _TABLE)}
    # A trial that failed before its first report has params or an error, and no result.
    for file in listing.named(_PARAMS, _ERROR):
        if _parent(_parent(file)[:-1]) in experiments and _parent(file):
            folders.add(_parent(file))
    trials = sorted(folders - experiments)
    return [one for one in trials if PurePosixPath(one).name not in states.again]


def _add(
    trials: _Trials,
    listing: Listing,
    folder: str,
    files: set[str],
    states: _States,
    asked: Asked,
) -> None:
    """Add a trial: what it reported, what was drawn for it, how it ended."""

    def place(name: str) -> Path | None:
        file = f"{folder}{name}"
        return listing.place(file) if file in files else None

    name = PurePosixPath(folder).name or _home(listing)
    reports, broken = _reports(place(_RESULT), place(_TABLE))
    last = reports[-1] if reports else {}
    content = _object_in(place(_PARAMS))
    params = content or last.get("config") or {}
    state = states.trials.get(name, _Stated("", None))
    error = _problem_in(place(_ERROR))
    status = _ENDED.get(state.status, "")
    if not status and last.get("done") in (True, "True"):
        status = "finished"
    if not status:
        status = "failed" if error else "running"
    match = _FOLDER.match(name)
    spent = last.get("time_total_s")
    row: dict[str, Any] = {"run": name}
    if isinstance(params, dict):
        row |= {f"params.{key}": v for key, v in flattened(params, "/").items()}
    row["trainable"] = state.trainable or (match[1] if match else None)
    row["status"] = status
    row["error_text"] = error if status == "failed" else ""
    row["seconds"] = float(spent) if is_number(spent) else np.nan
    trials.add(row, _curves(trials, reports, asked))
    trials.folders.append(folder.rstrip("/"))
    if broken:
        trials.broken[folder.rstrip("/")] = broken
    if content is None and place(_PARAMS) is not None and not params:
        trials.without_params.append(folder.rstrip("/"))
    if reports and reports[0].get("config") != last.get("config"):
        trials.changed.append(folder.rstrip("/"))


def _curves(
    trials: _Trials, reports: Sequence[dict[str, Any]], asked: Asked
) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield metrics with their steps and values."""
    rows = [_flat({**report, "config": None}) for report in reports]
    numbers = trials.numbers
    numbers.update(
        k for row in rows for k in row if k not in numbers and is_number(row[k])
    )
    clock = asked.step or _USUAL_STEP
    counted = [
        row for row in rows if is_number(row.get(clock)) and isfinite(row[clock])
    ]
    trials.without_step += len(rows) - len(counted)
    steps = np.array([row[clock] for row in counted], np.float64)
    for name in dict.fromkeys(key for row in counted for key in row):
        is_rays = asked.metrics is None and name in _KEPT_BY_RAY
        if is_rays or not asked.wants(name):
            continue
        cells = [row.get(name) for row in counted]
        which = [i for i, cell in enumerate(cells) if is_number(cell)]
        if len(which) < sum(cell is not None for cell in cells):
            trials.texts.add(name)
        if which:
            yield name, steps[which], np.array([cells[i] for i in which], np.float64)


def _flat(report: dict[str, Any]) -> dict[str, Any]:
    is_nested = {dict, list} & set(map(type, report.values()))
    return flattened(report, "/") if is_nested else report


def _name(trials: _Trials, listing: Listing) -> None:
    """Call trials by their folders where names alone are the same in two experiments."""
    paths = [PurePosixPath(folder) for folder in trials.folders]
    experiments = [path.parent.name or _home(listing) for path in paths]
    is_unique = len({row["run"] for row in trials.rows}) == len(trials.rows)
    for row, folder, experiment in zip(
        trials.rows, trials.folders, experiments, strict=True
    ):
        if not is_unique:
            row["run"] = folder
        if len(set(experiments)) > 1:
            row["experiment"] = experiment


# --- what to know ------------------------------------------------------------------------


def _left_out(trials: _Trials, states: _States) -> Iterator[LeftOut]:
    folders = (*trials.folders, *trials.closed)
    there = {PurePosixPath(folder).name for folder in folders} | states.again
    gone = {name: one for name, one in states.trials.items() if name not in there}
    waiting = [name for name, one in gone.items() if one.status == "PENDING"]
    lost = [name for name in gone if name not in waiting]
    yield from left_out(waiting, "that Ray never started")
    yield from left_out(lost, "that Ray knows of, without results here")
    yield from left_out(sorted(states.again), "that failed, and that Ray ran again")
    yield from left_out(trials.closed, "whose files cannot be opened")


def _remarks(trials: _Trials, states: _States, step: str) -> Iterator[str]:
    if states.unread:
        yield (
            f"How trials ended is not known where {listed(states.unread, most=2)} should "
            f"say it, which cannot be read: those without an error count as going on."
        )
    if lost := trials.without_params:
        yield (
            f"The params of {count(len(lost), 'run')} cannot be read and are empty, such "
            f"as of '{lost[0] or _PARAMS}'."
        )
    if changed := trials.changed:
        yield (
            f"{count(len(changed), 'run')} changed params on the way, such as "
            f"'{changed[0] or _RESULT}', and have those of the end. Trials of "
            f"population based training learn from each other: they are not independent."
        )
    if broken := trials.broken:
        yield (
            f"Left out: {count(sum(broken.values()), 'line')} of "
            f"{count(len(broken), 'run')} that cannot be read, as killed runs leave them, "
            f"such as in '{next(iter(broken)) or _RESULT}'."
        )
    if trials.without_step:
        yield f"Left out: {count(trials.without_step, 'report')} without '{step}'."
    if texts := sorted(trials.texts):
        yield (
            f"Left out: what is no number, of {count(len(texts), 'reported value')}: "
            f"{listed(texts, most=4)}."
        )


# --------------------------------------------------------------------------------------
# Files that Ray Tune leaves: reports, params, the state of an experiment, errors.


_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_RAISED = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Interrupt|Exit)\b.*")


def _reports(
    results: Path | None, table: Path | None
) -> tuple[list[dict[str, Any]], int]:
    """Return the reports of a trial, and how many lines cannot be read.

    They are in ``result.json``, one object per line, or only in ``progress.csv``.
    """
    if results is None:
        return ([], 0) if table is None else _of_table(table)
    with results.open(encoding="utf-8", errors="replace") as lines:
        reports, broken = objects_in(lines)
    return reports, len(broken)


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


def _object_in(path: Path | None) -> dict[str, Any] | None:
    """Return the object in a file of JSON; None if there is none."""
    if path is None:
        return None
    try:
        value = parsed(path.read_text(encoding="utf-8", errors="replace"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _problem_in(path: Path | None) -> str:
    """Return the line of a traceback that says what was raised, or the last one."""
    if path is None:
        return ""
    text = _ANSI.sub("", path.read_text(encoding="utf-8", errors="replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.fullmatch(line)]
    return (raised or lines or ["an empty error.txt"])[-1]


# --- What the state of an experiment of Ray's says of its trials -----------------------


def _states_in(paths: Sequence[Path]) -> _States:
    """Return what states of experiments say.

    A resumed experiment has several states; the name holds the time, and the last counts.
    """
    states = _States()
    before: dict[Path, dict[str, _Stated]] = {}
    for path in sorted(paths):
        try:
            state = _object_in(path)
        except OSError:
            state = None
        if state is None:
            states.unread.append(path.name)
            continue
        earlier, now = before.get(path.parent, {}), dict(map(_stated, _entries(state)))
        # Whether it goes on with what was there, not a new one of the same name.
        runner = state.get("runner_data")
        if isinstance(runner, dict) and runner.get("_resumed") is True:
            # Trials that failed, and have left their place to another one.
            places = {one.tag for one in now.values() if one.tag}
            states.again |= {
                name
                for name, one in earlier.items()
                if name not in now and one.status == "ERROR" and one.tag in places
            }
        before[path.parent] = earlier | now
        states.trials |= now
    return states


def _stated(trial: dict[str, Any]) -> tuple[str, _Stated]:
    folder = trial.get("relative_logdir") or trial.get("logdir")
    name = Path(str(folder)).name if folder else str(trial.get("trial_id"))
    trainable = trial.get("trainable_name")
    return name, _Stated(
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
