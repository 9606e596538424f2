"""Logs of Stable-Baselines3: monitors, evaluations, and the logger's progress.csv."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import (
    CurvewiseError,
    Keyword,
    Message,
    listed,
    shortened,
)
from curvewise.exchange.runs import Asked, LeftOut, Runs, joined_scalars
from curvewise.exchange.tools.seeing import Seen
from curvewise.exchange.tools.stable_baselines.files import (
    Curves,
    Episodes,
    episodes_of,
    evaluations_of,
    progress_of,
)
from curvewise.metrics import Floats, Metric, find

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
            logs.setdefault(_above(inside, seen), _Log()).evaluations = file
        elif inside.name == _PROGRESS and _is_loggers(seen.place(file)):
            logs.setdefault(folder, _Log()).progress = file
    return logs


def _above(inside: PurePosixPath, seen: Seen) -> str:
    """Return the run that evaluations belong to: their folder's, or that of its parent.

    People keep evaluations in a folder of their own, beside the monitors.
    """
    here = inside.parent
    if here.name in ("eval", "evaluations", "results"):
        here = here.parent
    return str(here) if str(here) != "." else seen.path.name


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
