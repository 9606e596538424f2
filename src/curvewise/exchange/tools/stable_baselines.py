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
import pyarrow as pa

from curvewise.errors import CurvewiseError, Keyword, Message, listed, shortened
from curvewise.exchange.runs import Asked, LeftOut, Runs, joined_scalars
from curvewise.exchange.tools.contents import Seen
from curvewise.metrics import Floats, Metric, find
from curvewise.text import count


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Scores of a run by step.

    Parameters
    ----------
    steps : mapping of str to array
        Where each metric was recorded.
    values : mapping of str to array
    labels : mapping
    remarks : tuple of str
    """

    steps: Mapping[str, Floats]
    values: Mapping[str, Floats]
    labels: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """What one environment's monitor wrote down, in order of writing.

    Parameters
    ----------
    env : str or None
    began : float
        When it was started, in seconds.
    columns : mapping of str to array
        A value per episode; "t" is the time since the start.
    remarks : tuple of str
    """

    env: str | None
    began: float
    columns: Mapping[str, Floats]
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns["t"])


_EVALUATIONS = "evaluations.npz"
_PROGRESS = "progress.csv"
_TIMESTEPS = "time/total_timesteps"
_CLOCKS = ("timesteps", "episode", "seconds")
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


def fits_path(seen: Seen) -> bool:
    """Return whether a file or a folder is one of Stable-Baselines3."""
    if not seen.is_folder:
        return (
            (_is_monitor(seen.path.name) and seen.head.startswith(b"#"))
            or (seen.head.startswith(b"#{") and b"t_start" in seen.head[:400])
            or seen.path.suffix == ".npz"
            or (seen.path.name == _PROGRESS and _is_loggers(seen.path))
        )
    if any(map(_is_monitor, seen.files)) or seen.named(_EVALUATIONS):
        return True
    return any(_is_loggers(seen.place(file)) for file in seen.named(_PROGRESS))


def read_path(seen: Seen, asked: Asked) -> Runs:
    """Return one run for each folder, or of one file.

    Monitors ``0.monitor.csv``, ``1.monitor.csv`` of a folder are environments of one run;
    their episodes are put in order of time, and steps are counted over all of them.
    """
    logs = _logs(seen) if seen.is_folder else _single(seen)
    rows: list[dict[str, Any]] = []
    parts: list[tuple[int, str, Floats, Floats]] = []
    remarks: list[str] = []
    unknown: dict[str, None] = {}
    unread: list[tuple[str, str]] = []
    kinds = {kind for log in logs.values() for kind in _kinds(log)}
    _must_have_clock(asked.step, kinds)
    for run, log in logs.items():
        row: dict[str, Any] = {"run": run}
        read = 0
        for curves in _curves(seen, log, asked, kinds, unread):
            row |= curves.labels
            remarks += [f"Run '{shortened(run)}': {text}" for text in curves.remarks]
            wanted = [name for name in curves.values if _wanted(name, asked)]
            unknown |= dict.fromkeys(_not_asked(curves, wanted, asked))
            parts += [
                (len(rows), name, curves.steps[name], curves.values[name])
                for name in wanted
            ]
            read += 1
        if read:
            rows.append(row)
    if unread and not rows:
        raise CurvewiseError(unread[0][1])
    return Runs(
        f"Stable-Baselines3 logs {seen.path.name}",
        _table(rows),
        joined_scalars(parts),
        meant=_MEANT,
        steps=asked.step or "timesteps",
        left_out=(*_left_out(unread), *seen.left_out()),
        remarks=(
            *_few(remarks),
            *_not_read(list(unknown), [name for _, name, *_ in parts[:1]]),
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


def _logs(seen: Seen) -> dict[str, _Log]:
    logs: dict[str, _Log] = {}
    for file in seen.files:
        inside = PurePosixPath(file)
        folder = str(inside.parent) if str(inside.parent) != "." else seen.path.name
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
                str(here) if str(here) != "." else seen.path.name, _Log()
            ).evaluations = file
        elif inside.name == _PROGRESS and _is_loggers(seen.place(file)):
            logs.setdefault(folder, _Log()).progress = file
    return logs


def _single(seen: Seen) -> dict[str, _Log]:
    path, file = seen.path, seen.path.name
    if path.suffix == ".npz":
        name = path.absolute().parent.name if file == _EVALUATIONS else path.stem
        return {name: _Log(evaluations=file)}
    if file == _PROGRESS:
        return {path.absolute().parent.name: _Log(progress=file)}
    stem = file.removesuffix(".csv").removesuffix("monitor").rstrip("._-")
    return {stem or path.absolute().parent.name: _Log(monitors=[file])}


def _kinds(log: _Log) -> Iterator[str]:
    if log.monitors:
        yield "monitor"
    if log.evaluations:
        yield "evaluations"
    if log.progress:
        yield "progress"


# --- curves ------------------------------------------------------------------------------


def _must_have_clock(step: str | None, kinds: set[str]) -> None:
    if step is None or step in _CLOCKS:
        if step in ("episode", "seconds") and "monitor" not in kinds:
            raise CurvewiseError(
                f"step is '{step}', which only files of a Monitor count; there are "
                f"{listed(sorted(kinds))}. Leave it out, or pass ",
                {"step": "timesteps"},
                ".",
            )
        return
    if kinds != {"progress"}:
        raise CurvewiseError(
            f"step is '{shortened(step)}'. Monitors count steps by {listed(_CLOCKS)}; pass "
            f"one of these."
        )


def _curves(
    seen: Seen,
    log: _Log,
    asked: Asked,
    kinds: set[str],
    unread: list[tuple[str, str]],
) -> Iterator[Curves]:
    """Yield what can be read of a run; what cannot is noted."""
    clock = asked.step or "timesteps"
    found: list[Episodes] = []
    for file in log.monitors:
        try:
            found.append(episodes_of(seen.place(file)))
        except CurvewiseError as problem:
            unread.append((file, problem.message))
    if found:
        yield _together(found, clock)
    try:
        if log.evaluations and clock == "timesteps":
            yield evaluations_of(seen.place(log.evaluations))
    except CurvewiseError as problem:
        unread.append((log.evaluations or "", problem.message))
    if log.progress and kinds == {"progress"}:
        by = _TIMESTEPS if clock == "timesteps" else clock
        try:
            yield progress_of(seen.place(log.progress), by)
        except CurvewiseError as problem:
            unread.append((log.progress, problem.message))


def _together(found: list[Episodes], clock: str) -> Curves:
    """Return the episodes of all environments of a run as curves, in order of time."""
    began = min(one.began for one in found)
    names = [
        n
        for n in found[0].columns
        if n != "t" and all(n in one.columns for one in found)
    ]
    ended = np.concatenate([one.columns["t"] + (one.began - began) for one in found])
    order = np.argsort(ended, kind="stable")
    values = {
        n: np.concatenate([one.columns[n] for one in found])[order] for n in names
    }
    steps: Floats = np.cumsum(values["length"])
    if clock == "episode":
        steps = np.arange(1.0, len(order) + 1)
    elif clock == "seconds":
        steps = ended[order]
    labels: dict[str, Any] = {"environments": len(found)}
    if env := next((one.env for one in found if one.env), None):
        labels["env"] = env
    if len(ended):
        labels["seconds"] = float(ended.max())
    remarks = tuple(text for one in found for text in one.remarks)
    return Curves(dict.fromkeys(values, steps), values, labels, remarks)


def _wanted(name: str, asked: Asked) -> bool:
    """Return whether to read a metric; by itself, one whose meaning is known.

    Lengths of episodes are good in one task and bad in the next, and are read if asked for.
    """
    if asked.metrics is not None:
        return asked.wants(name)
    known = find(name.removeprefix("is_")) or _MEANT.get(name)
    return known is not None and name not in _LENGTHS


def _not_asked(curves: Curves, wanted: list[str], asked: Asked) -> list[str]:
    if asked.metrics is not None:
        return []
    return [n for n in curves.values if n not in (*wanted, *_LENGTHS)]


# --- what to say -------------------------------------------------------------------------


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    names = dict.fromkeys(name for row in rows for name in row)
    if not names:
        return pa.table({"run": pa.array([], pa.string())})
    return pa.table({n: pa.array([row.get(n) for row in rows]) for n in names})


def _left_out(unread: list[tuple[str, str]]) -> tuple[LeftOut, ...]:
    if not unread:
        return ()
    what = shortened(unread[0][1].rstrip("."), 200)
    why = Message("that cannot be read, first: ", what)
    return (LeftOut(len(unread), why, what="file"),)


def _few(remarks: list[str], most: int = 3) -> list[str]:
    more = len(remarks) - most
    if more < 2:
        return remarks
    return [*remarks[:most], f"The like holds in {more} more files."]


def _not_read(unknown: list[str], known: list[str]) -> Iterator[str]:
    if unknown:
        wanted = dict.fromkeys((*known, unknown[0]), "higher")
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
    unread = [run for run, log in logs.items() if log.progress and not _has_scores(log)]
    if unread and kinds != {"progress"}:
        yield (
            f"Only progress.csv tells of {listed(unread, most=3)}, which is not read where "
            f"other runs have monitors or evaluations. Read that folder by itself."
        )


def _has_scores(log: _Log) -> bool:
    return bool(log.monitors or log.evaluations)


# --- The three kinds of files in which Stable-Baselines3 keeps scores ------------------


_NAMES = {"r": "return", "l": "length"}
_TRUTH = {"True": 1.0, "False": 0.0}
_MOST_OF_A_LINE = 65_536


# --- monitor.csv -------------------------------------------------------------------------


def episodes_of(path: Path) -> Episodes:
    """Return the episodes of a monitor's file, up to the first damage."""
    with _opened(path) as file:
        header = _header(file.readline(_MOST_OF_A_LINE), path)
        names, *rows = list(csv.reader(file)) or [[]]
    if not {"r", "l", "t"} <= set(names):
        if not any([names, *rows]):  # it died before it wrote the names of the columns
            return Episodes(_env(header), _start(header), _columns([], "rlt"))
        raise CurvewiseError(
            f"{path} is no monitor's file: its columns are {listed(names)}, without r, l "
            f"and t. Pass files that stable_baselines3's Monitor wrote."
        )
    kept, remarks = _whole(rows, names, path.name)
    columns = _columns(kept, names)
    texts = [n for n in names if _NAMES.get(n, n) not in columns]
    if texts:
        remarks.append(
            f"In {path.name}, {listed(texts)} hold text: no scores, and not read."
        )
    # Times that go on where a resumed run began again at zero.
    seconds = columns["t"]
    falls = np.diff(seconds, prepend=seconds[:1]) < 0
    before = np.concatenate([seconds[:1], seconds[:-1]])
    columns["t"] = np.asarray(seconds + np.cumsum(np.where(falls, before, 0.0)))
    return Episodes(_env(header), _start(header), columns, tuple(remarks))


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
            f"files of a monitor do. It may be damaged or of another kind."
        )
    return header


def _env(header: Mapping[str, Any]) -> str | None:
    env = header.get("env_id")
    return None if env in (None, "", "None") else str(env)


def _start(header: Mapping[str, Any]) -> float:
    start = header.get("t_start", 0.0)
    return float(start) if isinstance(start, int | float) else 0.0


def _whole(
    rows: Sequence[list[str]], names: Sequence[str], file: str
) -> tuple[list[list[str]], list[str]]:
    """Return the rows that are whole, and what is to be said of the others."""
    rows = [row for row in rows if row]
    good = [len(row) == len(names) and _are_numbers(row, names) for row in rows]
    kept = [row for row, is_good in zip(rows, good, strict=True) if is_good]
    broken = len(rows) - len(kept)
    if not broken:
        return kept, []
    if broken == 1 and not good[-1]:
        return kept, [f"The last line of {file} is cut: read up to it."]
    first = 3 + good.index(False)
    return kept, [
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


def _columns(rows: Sequence[list[str]], names: Sequence[str]) -> dict[str, Floats]:
    cells = {name: [_number(row[i]) for row in rows] for i, name in enumerate(names)}
    return {
        _NAMES.get(name, name): np.array(values, np.float64)
        for name, values in cells.items()
        if None not in values
    }


# --- evaluations.npz ---------------------------------------------------------------------


def evaluations_of(path: Path) -> Curves:
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
            found = {
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
            f"pickle."
        ) from problem
    for name, scores in found.items():
        if scores.ndim != 2 or len(scores) != len(timesteps) or timesteps.ndim != 1:
            raise CurvewiseError(
                f"{path} holds {timesteps.shape} timesteps and {scores.shape} scores of "
                f"'{name}'. An EvalCallback writes (evaluation,) and (evaluation, episode)."
            )
    episodes = found["eval_return"].shape[1]
    values = {name: scores.mean(axis=1) for name, scores in found.items()}
    steps = dict.fromkeys(values, timesteps)
    return Curves(steps, values, {"eval_episodes": episodes})


def _foreign(path: Path, names: Sequence[str]) -> CurvewiseError:
    has = f"the arrays {listed(names)}" if names else "one array without a name"
    return CurvewiseError(
        f"{path} holds {has}. An EvalCallback of Stable-Baselines3 writes 'timesteps' and "
        f"'results'; pass other arrays as a dict of columns."
    )


# --- progress.csv ------------------------------------------------------------------------


def progress_of(path: Path, clock: str) -> Curves:
    """Return what the logger wrote, by one of its columns; empty cells were not logged."""
    with _opened(path) as file:
        names, *rows = list(csv.reader(file)) or [[]]
    if clock not in names:
        raise CurvewiseError(
            f"{path} has no column '{shortened(clock)}' to count steps by; it has "
            f"{listed(names)}. Pass one of them as ",
            {"step": ...},
            ".",
        )
    whole = [row for row in rows if len(row) == len(names)]
    remarks = []
    if cut := sum(map(bool, rows)) - len(whole):
        remarks.append(f"{count(cut, 'line')} of {path.name} are cut, and left out.")
    cells = {n: [_number(row[i]) for row in whole] for i, n in enumerate(names)}
    texts = [n for n, values in cells.items() if None in values]
    if texts:
        remarks.append(
            f"In {path.name}, {listed(texts)} hold text: no scores, and not read."
        )
    columns = {
        n: np.array(values, np.float64) for n, values in cells.items() if n not in texts
    }
    if clock in texts:
        raise CurvewiseError(
            f"Column '{clock}' of {path} holds text and counts no steps."
        )
    at = columns.pop(clock)
    known = {n: np.isfinite(at) & ~np.isnan(v) for n, v in columns.items()}
    scored = [n for n in columns if known[n].any() and not n.startswith("time/")]
    return Curves(
        {n: at[known[n]] for n in scored},
        {n: columns[n][known[n]] for n in scored},
        remarks=tuple(remarks),
    )


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """Open a file of text; what goes wrong until it is closed is said of the file."""
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            yield file
    except OSError as problem:
        raise CurvewiseError(
            f"{path} cannot be read: {problem.strerror}. Check it and its permissions."
        ) from problem
    except csv.Error as problem:
        raise CurvewiseError(
            f"{path} is no table of text: {problem}. It may be damaged or of another kind."
        ) from problem
