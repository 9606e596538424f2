"""Logs of Stable-Baselines3: monitors, evaluations, and the logger's progress.csv."""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TextIO

import numpy as np

from curvewise.errors import CurvewiseError, Keyword, Message, listed, shortened
from curvewise.exchange.runs import Asked, Gathered, Runs
from curvewise.exchange.tools.files import Listing, unreadable
from curvewise.metrics import Floats, Metric, find
from curvewise.text import count

_EVALUATIONS = "evaluations.npz"
_PROGRESS = "progress.csv"
_TIMESTEPS = "time/total_timesteps"
_CLOCKS = ("timesteps", "episode", "seconds")
_MOST_REMARKS = 3
_LENGTHS = {
    name: Metric(name, None, (0, float("inf")), "steps")
    for name in ("length", "eval_length", "rollout/ep_len_mean", "eval/mean_ep_length")
}
_MEANT = _LENGTHS | {"eval/mean_reward": Metric("eval/mean_reward", "higher")}


@dataclass(slots=True)
class _Log:
    """The files of one run, relative to the folder that was asked for."""

    monitors: list[str] = field(default_factory=list)
    evaluations: str | None = None
    progress: str | None = None

    @property
    def kinds(self) -> set[str]:
        """Which kinds of files there are."""
        files = {"monitor": self.monitors, "evaluations": self.evaluations}
        files["progress"] = self.progress
        return {kind for kind, some in files.items() if some}


@dataclass(frozen=True, slots=True, eq=False)
class _Curves:
    """Scores of a run by step, and what else its files say."""

    steps: Mapping[str, Floats]
    values: Mapping[str, Floats]
    labels: Mapping[str, Any] = field(default_factory=dict)
    remarks: Sequence[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Episodes:
    """What one environment's monitor wrote down, in order of writing."""

    env: str | None
    began: float  # in seconds
    columns: Mapping[
        str, Floats
    ]  # a value per episode; "t" is the time since the start
    remarks: Sequence[str] = ()


def fits_path(listing: Listing) -> bool:
    """Return whether a file or a folder is one of Stable-Baselines3."""
    if not listing.is_folder:
        return (
            (_is_monitor(listing.path.name) and listing.head.startswith(b"#"))
            or (listing.head.startswith(b"#{") and b"t_start" in listing.head[:400])
            or listing.path.suffix == ".npz"
            or (listing.path.name == _PROGRESS and _is_loggers(listing.path))
        )
    if any(map(_is_monitor, listing.files)) or listing.named(_EVALUATIONS):
        return True
    return any(_is_loggers(listing.place(file)) for file in listing.named(_PROGRESS))


def read_path(listing: Listing, asked: Asked) -> Runs:
    """Return one run for each folder, or of one file.

    Monitors ``0.monitor.csv``, ``1.monitor.csv`` of a folder are environments of one run;
    their episodes are put in order of time, and steps are counted over all of them.
    """
    logs = _logs(listing) if listing.is_folder else _single(listing)
    kinds = {kind for log in logs.values() for kind in log.kinds}
    _must_have_clock(asked, kinds)
    runs = Gathered()
    remarks: list[str] = []
    unknown: dict[str, None] = {}
    for run, log in logs.items():
        parts = list(_curves(listing, log, asked, kinds, runs))
        row: dict[str, Any] = {"run": run}
        curves = []
        for part in parts:
            row |= part.labels
            remarks += [f"Run '{shortened(run)}': {text}" for text in part.remarks]
            wanted = [name for name in part.values if _wanted(name, asked)]
            curves += [(n, part.steps[n], part.values[n]) for n in wanted]
            if asked.metrics is None:
                clear = (*wanted, *_LENGTHS)
                unknown |= dict.fromkeys(n for n in part.values if n not in clear)
        if parts:
            runs.add(row, curves)
    runs.must_have_runs()
    scalars = runs.scalars()
    if len(remarks) > _MOST_REMARKS + 1:
        more = len(remarks) - _MOST_REMARKS
        remarks[_MOST_REMARKS:] = [f"The like holds in {more} more files."]
    return Runs(
        f"Stable-Baselines3 logs {listing.path.name}",
        runs.table(),
        scalars,
        meant=_MEANT,
        steps=asked.step or "timesteps",
        left_out=(*runs.left_out("file"), *listing.left_out()),
        remarks=(
            *remarks,
            *_not_read(list(unknown), scalars.names[:1]),
            *_unseen(logs, kinds, asked),
        ),
    )


# --- which files are of one run ----------------------------------------------------------


def _is_monitor(file: str) -> bool:
    return file.rpartition("/")[2].endswith("monitor.csv")


def _is_loggers(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"time/total_timesteps" in file.readline(65_536)
    except OSError:
        return False


def _logs(listing: Listing) -> dict[str, _Log]:
    logs: dict[str, _Log] = {}
    for file in listing.files:
        inside = PurePosixPath(file)
        folder = str(inside.parent) if str(inside.parent) != "." else listing.path.name
        if _is_monitor(file):
            # 0.monitor.csv, 1.monitor.csv: environments side by side. Other names are
            # runs that share a folder.
            stem = inside.name.removesuffix("monitor.csv").rstrip("._-")
            shared = re.fullmatch(r"\d*", stem) is not None
            run = folder if shared else str(inside.parent / stem)
            logs.setdefault(run, _Log()).monitors.append(file)
        elif inside.name == _EVALUATIONS:
            # The run that evaluations belong to: their folder's, or that of its parent.
            here = inside.parent
            if here.name in ("eval", "evaluations", "results"):
                here = here.parent
            logs.setdefault(
                str(here) if str(here) != "." else listing.path.name, _Log()
            ).evaluations = file
        elif inside.name == _PROGRESS and _is_loggers(listing.place(file)):
            logs.setdefault(folder, _Log()).progress = file
    return logs


def _single(listing: Listing) -> dict[str, _Log]:
    path, file = listing.path, listing.path.name
    if path.suffix == ".npz":
        name = path.absolute().parent.name if file == _EVALUATIONS else path.stem
        return {name: _Log(evaluations=file)}
    if file == _PROGRESS:
        return {path.absolute().parent.name: _Log(progress=file)}
    stem = file.removesuffix(".csv").removesuffix("monitor").rstrip("._-")
    return {stem or path.absolute().parent.name: _Log(monitors=[file])}


# --- curves ------------------------------------------------------------------------------


def _must_have_clock(asked: Asked, kinds: set[str]) -> None:
    step = asked.step
    if step in ("episode", "seconds") and "monitor" not in kinds:
        raise CurvewiseError(
            f"step is '{step}', which only files of a Monitor count; there are "
            f"{listed(sorted(kinds))}. Leave it out, or pass ",
            {"step": "timesteps"},
            ".",
            argument="step",
            value=step,
        )
    if kinds != {"progress"}:
        asked.must_count_by(_CLOCKS, "Stable-Baselines3's Monitor")


def _curves(
    listing: Listing, log: _Log, asked: Asked, kinds: set[str], runs: Gathered
) -> Iterator[_Curves]:
    """Yield what can be read of a run; what cannot is noted."""
    clock = asked.step or "timesteps"
    environments: list[_Episodes] = []
    for file in log.monitors:
        with runs.reading(file):
            environments.append(_episodes_of(listing.place(file)))
    if environments:
        yield _together(environments, clock)
    if log.evaluations and clock == "timesteps":
        with runs.reading(log.evaluations):
            yield _evaluations_of(listing.place(log.evaluations))
    if log.progress and kinds == {"progress"}:
        by = _TIMESTEPS if clock == "timesteps" else clock
        with runs.reading(log.progress):
            yield _progress_of(listing.place(log.progress), by)


def _together(environments: Sequence[_Episodes], clock: str) -> _Curves:
    """Return the episodes of all environments of a run as curves, in order of time."""
    began = min(one.began for one in environments)
    names = [
        n
        for n in environments[0].columns
        if n != "t" and all(n in one.columns for one in environments)
    ]
    ended = np.concatenate([e.columns["t"] + (e.began - began) for e in environments])
    order = np.argsort(ended, kind="stable")
    values = {
        n: np.concatenate([one.columns[n] for one in environments])[order]
        for n in names
    }
    steps: Floats = np.cumsum(values["length"])
    if clock == "episode":
        steps = np.arange(1.0, len(order) + 1)
    elif clock == "seconds":
        steps = ended[order]
    labels: dict[str, Any] = {"environments": len(environments)}
    if env := next((one.env for one in environments if one.env), None):
        labels["env"] = env
    if len(ended):
        labels["seconds"] = float(ended.max())
    remarks = [text for one in environments for text in one.remarks]
    return _Curves(dict.fromkeys(values, steps), values, labels, remarks)


def _wanted(name: str, asked: Asked) -> bool:
    """Return whether to read a metric; by itself, one whose meaning is known.

    Lengths of episodes are good in one task and bad in the next, and are read if asked for.
    """
    if asked.metrics is not None:
        return asked.wants(name)
    meaning = find(name.removeprefix("is_")) or _MEANT.get(name)
    return meaning is not None and name not in _LENGTHS


# --- what to say -------------------------------------------------------------------------


def _not_read(unknown: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    if unknown:
        wanted = dict.fromkeys((*names, unknown[0]), "higher")
        yield (
            Message(
                f"Nobody said what {listed(unknown)} mean, and they are not read. Name "
                "all that you want, such as ",
                {"metrics": wanted},
                ".",
            )
        )


def _unseen(logs: Mapping[str, _Log], kinds: set[str], asked: Asked) -> Iterator[str]:
    wanted = asked.metrics is None or any(n.startswith("eval_") for n in asked.metrics)
    if asked.step in ("episode", "seconds") and "evaluations" in kinds and wanted:
        yield (
            Message(
                "Evaluations are counted by timesteps alone: with ",
                Keyword("step", asked.step),
                " they are not read.",
            )
        )
    unread = [run for run, log in logs.items() if log.kinds == {"progress"}]
    if unread and kinds != {"progress"}:
        yield (
            f"Only progress.csv tells of {listed(unread, most=3)}, which is not read where "
            f"other runs have monitors or evaluations. Read that folder by itself."
        )


# --- The three kinds of files in which Stable-Baselines3 keeps scores ------------------


_NAMES = {"r": "return", "l": "length"}
_TRUTH = {"True": 1.0, "False": 0.0}
_MOST_OF_A_LINE = 65_536


# --- monitor.csv -------------------------------------------------------------------------


def _episodes_of(path: Path) -> _Episodes:
    """Return the episodes of a monitor's file, up to the first damage."""
    with _opened(path) as file:
        header = _header(file.readline(_MOST_OF_A_LINE), path)
        names, *rows = list(csv.reader(file)) or [[]]
    env, start = header.get("env_id"), header.get("t_start")
    env = None if env in (None, "", "None") else str(env)
    began = float(start) if isinstance(start, int | float) else 0.0
    if not {"r", "l", "t"} <= set(names):
        if not any([names, *rows]):  # it died before it wrote the names of the columns
            return _Episodes(
                env, began, {n: np.empty(0) for n in (*_NAMES.values(), "t")}
            )
        raise CurvewiseError(
            f"{path} is no monitor's file: its columns are {listed(names)}, without r, l "
            f"and t. Pass files that stable_baselines3's Monitor wrote.",
            argument="source",
            value=path,
        )
    whole, remarks = _whole(rows, names, path.name)
    columns, more = _columns(whole, names, path)
    # Times that go on where a resumed run began again at zero.
    seconds = columns["t"]
    falls = np.diff(seconds, prepend=seconds[:1]) < 0
    before = np.concatenate([seconds[:1], seconds[:-1]])
    columns["t"] = np.asarray(seconds + np.cumsum(np.where(falls, before, 0.0)))
    called = {_NAMES.get(name, name): cells for name, cells in columns.items()}
    return _Episodes(env, began, called, [*remarks, *more])


def _header(line: str, path: Path) -> dict[str, Any]:
    if not line.strip():
        return {}
    try:
        header = json.loads(line.removeprefix("#")) if line.startswith("#") else None
    except json.JSONDecodeError:
        header = None
    if not isinstance(header, dict):
        raise CurvewiseError(
            f"{path} begins with '{shortened(line)}', not with #{{\"t_start\": ...}} as "
            f"files of a monitor do. It may be damaged or of another kind.",
            argument="source",
            value=path,
        )
    return header


def _whole(
    rows: Sequence[list[str]], names: Sequence[str], file: str
) -> tuple[list[list[str]], list[str]]:
    """Return the rows that are whole, and what is to be said of the others."""
    rows = [row for row in rows if row]
    good = [len(row) == len(names) and _are_numbers(row, names) for row in rows]
    whole = [row for row, is_good in zip(rows, good, strict=True) if is_good]
    broken = len(rows) - len(whole)
    if not broken:
        return whole, []
    if broken == 1 and not good[-1]:
        return whole, [f"The last line of {file} is cut: read up to it."]
    first = 3 + good.index(False)
    return whole, [
        f"{count(broken, 'line')} of {len(rows)} in {file} are damaged, first line "
        f"{first}: left out, so that its steps are fewer than there were."
    ]


def _are_numbers(row: Sequence[str], names: Sequence[str]) -> bool:
    return all(
        _number(cell) is not None
        for cell, name in zip(row, names, strict=True)
        if name in ("r", "l", "t")
    )


def _number(cell: str) -> float | None:
    if cell in _TRUTH:
        return _TRUTH[cell]
    try:
        return float(cell) if cell else float("nan")
    except ValueError:
        return None


def _columns(
    rows: Sequence[list[str]], names: Sequence[str], path: Path
) -> tuple[dict[str, Floats], list[str]]:
    """Return columns of numbers, and what to say of those of text."""
    cells = {name: [_number(row[i]) for row in rows] for i, name in enumerate(names)}
    texts = [name for name, values in cells.items() if None in values]
    columns = {
        name: np.array(values, np.float64)
        for name, values in cells.items()
        if name not in texts
    }
    if not texts:
        return columns, []
    return columns, [
        f"In {path.name}, {listed(texts)} hold text: no scores, and not read."
    ]


# --- evaluations.npz ---------------------------------------------------------------------


def _evaluations_of(path: Path) -> _Curves:
    """Return the mean scores of the evaluations that an `EvalCallback` kept."""
    try:
        # Opened here: numpy leaves a file open that turns out to be damaged.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            if not isinstance(arrays, np.lib.npyio.NpzFile):
                raise _foreign(path, [])
            names = arrays.files
            if not {"timesteps", "results"} <= set(names):
                raise _foreign(path, names)
            timesteps = np.asarray(arrays["timesteps"], np.float64)
            kinds = {"results": "return", "ep_lengths": "length"}
            kinds["successes"] = "success"
            metrics = {
                f"eval_{kind}": np.asarray(arrays[name], np.float64)
                for name, kind in kinds.items()
                if name in names
            }
    except CurvewiseError:
        raise
    except Exception as problem:  # whatever numpy and zip files raise
        raise CurvewiseError(
            f"{path} cannot be read: {shortened(problem, 200).rstrip('. ')}. The file may "
            f"be damaged or cut, or hold unequal numbers of episodes, which numpy can only "
            f"pickle.",
            argument="source",
            value=path,
        ) from problem
    for name, scores in metrics.items():
        if scores.ndim != 2 or len(scores) != len(timesteps) or timesteps.ndim != 1:
            raise CurvewiseError(
                f"{path} holds {timesteps.shape} timesteps and {scores.shape} scores "
                f"of '{name}'. An EvalCallback writes (evaluation,) and "
                f"(evaluation, episode).",
                argument="source",
                value=path,
            )
    episodes = metrics["eval_return"].shape[1]
    values = {name: scores.mean(axis=1) for name, scores in metrics.items()}
    steps = dict.fromkeys(values, timesteps)
    return _Curves(steps, values, {"eval_episodes": episodes})


def _foreign(path: Path, names: Sequence[str]) -> CurvewiseError:
    has = f"the arrays {listed(names)}" if names else "one array without a name"
    return CurvewiseError(
        f"{path} holds {has}. An EvalCallback of Stable-Baselines3 writes 'timesteps' and "
        f"'results'; pass other arrays as a dict of columns.",
        argument="source",
        value=path,
    )


# --- progress.csv ------------------------------------------------------------------------


def _progress_of(path: Path, clock: str) -> _Curves:
    """Return what the logger wrote, by one of its columns; empty cells were not logged."""
    with _opened(path) as file:
        names, *rows = list(csv.reader(file)) or [[]]
    if clock not in names:
        raise CurvewiseError(
            f"{path} has no column '{shortened(clock)}' to count steps by; it has "
            f"{listed(names)}. Pass one of them as ",
            {"step": ...},
            ".",
            argument="step",
            value=clock,
        )
    whole = [row for row in rows if len(row) == len(names)]
    remarks = []
    if cut := sum(map(bool, rows)) - len(whole):
        remarks.append(f"{count(cut, 'line')} of {path.name} are cut, and left out.")
    columns, more = _columns(whole, names, path)
    if clock not in columns:
        raise CurvewiseError(
            f"Column '{clock}' of {path} holds text and counts no steps.",
            argument="step",
            value=clock,
        )
    at = columns.pop(clock)
    masks = {n: np.isfinite(at) & ~np.isnan(v) for n, v in columns.items()}
    scored = [n for n in columns if masks[n].any() and not n.startswith("time/")]
    return _Curves(
        {n: at[masks[n]] for n in scored},
        {n: columns[n][masks[n]] for n in scored},
        remarks=[*remarks, *more],
    )


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """Open a file of text; what goes wrong until it is closed is said of the file."""
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            yield file
    except OSError as problem:
        raise unreadable(path, problem) from problem
    except csv.Error as problem:
        raise CurvewiseError(
            f"{path} is no table of text: {problem}. It may be damaged or of another kind.",
            argument="source",
            value=path,
        ) from problem
