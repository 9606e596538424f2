"""Folders of runs: one file per run, whoever wrote it, with its configuration beside it.

Among them are those of Hydra, Lightning, Keras, Hugging Face's Trainer, xgboost, LightGBM,
dvclive and Ultralytics. Of objects in memory, histories of Keras and results of boosting.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise._text import count
from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.exchange.cells import array_of
from curvewise.exchange.runs import Asked, LeftOut, Runs, joined_scalars
from curvewise.exchange.tools.folders.layout import (
    LINES,
    TABLES,
    TRAINER,
    Configurations,
    Layout,
    Source,
    is_config,
    is_content,
    is_scores,
    layout_of,
)
from curvewise.exchange.tools.folders.logs import (
    ROWS,
    SEEDS,
    Log,
    logs_in,
    logs_of,
    told_apart,
)
from curvewise.exchange.tools.folders.objects import is_known, logs_by_name
from curvewise.exchange.tools.folders.patterns import (
    chosen_key,
    keys_of,
    proposals,
    said_in_names,
    shared_name,
    unexplained,
)
from curvewise.exchange.tools.seeing import Seen, seen_at
from curvewise.trials import names

# How the files with scores end, where the caller names whose they are.
_ENDINGS: dict[str, tuple[str, ...]] = {
    "folder": ("",),
    "hydra": ("",),
    "lightning": ("metrics.csv",),
    "keras": (*TABLES, ".json"),
    "huggingface": (TRAINER,),
    "xgboost": (".json",),
    "lightgbm": (".json",),
    "dvclive": (".tsv", "metrics.json"),
    "ultralytics": ("results.csv",),
}
_ROLES = ("algorithm", "task", *SEEDS)


@dataclass(slots=True)
class _Run:
    """A run with what was recorded of it, and what its configuration says."""

    name: str
    log: Log
    params: dict[str, Any] = field(default_factory=dict)
    status: str = "finished"
    error: str = ""


@dataclass(slots=True)
class _Read:
    """The runs of a folder, and the files that could not be read, with the reason."""

    runs: list[_Run] = field(default_factory=list)
    unread: list[tuple[str, Exception]] = field(default_factory=list)


def fits_path(seen: Seen, tool: str = "folder") -> bool:
    """Return whether a folder holds files that may be scores of runs."""
    if not seen.is_folder:
        return _is_log(seen, tool)
    found = _files(seen, tool)
    if len(found) == 1 and tool == "folder":
        path = seen.place(found[0])  # the only run, or a table of many
        has_config = any(map(is_config, seen.files))
        return _is_log(seen_at(path), tool) or (has_config and _is_one(path))
    return bool(found)


def _files(seen: Seen, tool: str) -> list[str]:
    """Return the files that may hold scores, as a tool calls them."""
    files = [file for file in seen.files if is_scores(file)]
    if tool == "hydra":
        homes = [f.partition(".hydra/")[0] for f in seen.files if ".hydra/" in f]
        starts = tuple(dict.fromkeys(homes))
        return [file for file in files if file.startswith(starts)]
    return [file for file in files if file.endswith(_ENDINGS[tool])]


def is_beside(seen: Seen) -> bool:
    """Return whether a folder of another tool holds logs of runs as well."""
    return any(
        is_scores(file) and is_content(Path(file).stem) and file.endswith(TABLES)
        for file in seen.files
    )


def read_path(seen: Seen, asked: Asked, tool: str = "folder") -> Runs:
    """Return the runs of a folder, or of one file."""
    if seen.is_folder:
        layout = layout_of(seen, _files(seen, tool))
        top = seen.path
    else:
        layout, top = _single(seen), seen.path.absolute().parent
    configurations = Configurations(top)
    boosted = tool in ("xgboost", "lightgbm")
    read = _read(seen, layout, configurations, asked, boosted=boosted)
    if not read.runs:
        raise _nothing(seen, read.unread)
    return runs_of(
        f"{'folder' if seen.is_folder else 'file'} {seen.path.name}",
        read.runs,
        home=seen.path.resolve().name if seen.is_folder else seen.path.stem,
        left_out=(*_left_out(read.unread), *layout.left_out, *seen.left_out()),
        remarks=tuple(_remarks(read.runs, layout, configurations)),
    )


def fits_object(source: object, tool: str = "folder") -> bool:
    """Return whether an object holds histories of runs."""
    return is_known(source, tool)


def read_object(source: object, asked: Asked, tool: str = "folder") -> Runs:
    """Return the runs of histories in memory; names of a dict are algorithms."""
    logs = logs_by_name(source, asked, tool)
    runs = []
    for algorithm, number, log in logs:
        log.labels = {} if algorithm is None else {"algorithm": algorithm}
        if len(logs) > 1:
            log.labels["repeat"] = number
        name = str(number) if algorithm is None else f"{algorithm}/{number}"
        runs.append(_Run(name, log))
    return runs_of("histories", runs, home="mine")


def reader_of(tool: str) -> SimpleNamespace:
    """Return the functions of this module for the layout of one tool."""
    functions: tuple[Any, ...] = (fits_path, read_path, fits_object, read_object)
    bound = {f.__name__: partial(f, tool=tool) for f in functions}
    return SimpleNamespace(**bound, is_beside=is_beside)


def _is_log(seen: Seen, tool: str) -> bool:
    """Return whether one file is a log of one run, and no table of many."""
    name, head = seen.path.name, seen.head
    ending = seen.path.suffix.lower()
    if tool != "folder":
        return ending in (*TABLES, *LINES, ".json", ".yaml", ".yml")
    if ending in TABLES:
        first = head.decode("utf-8", "replace").partition("\n")[0]
        columns = [
            c.strip().strip('"') for c in first.split("\t" if "\t" in first else ",")
        ]
        if "epoch" not in columns or _has_roles(columns) or head[:1] == b"_":
            return False
        pairs = any(f"val_{c}" in columns for c in columns)
        return ("step" in columns or pairs or "loss" in columns) and _is_one(seen.path)
    if name == TRAINER:
        return b'"log_history"' in head
    if ending == ".json" and head.lstrip()[:1] == b"{":
        return b"[" in head and _is_curves(seen.path)
    return ending in (".yaml", ".yml")


def _has_roles(columns: Sequence[str]) -> bool:
    words = (*names.ALGORITHM, *names.TASK, *names.TRIAL)
    return bool(names.every(words, columns))


def _is_one(path: Path) -> bool:
    """Return whether a table is the log of one run: its steps never go back."""
    try:
        return len(logs_in(path, Asked())) == 1
    except (OSError, ValueError):
        return False


def _is_curves(path: Path) -> bool:
    """Return whether a file of JSON is one object with curves in it."""
    import json

    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
        if _has_roles([key for key, one in value.items() if isinstance(one, list)]):
            return False  # columns of a table
        logs = logs_of(value, Asked(), path.stem)
    except (OSError, ValueError, RecursionError):
        return False
    return any(log.curves for log in logs)


def _single(seen: Seen) -> Layout:
    path = seen.path.absolute()
    name = (
        path.parent.name if is_content(path.stem) or path.name == TRAINER else path.stem
    )
    layout = Layout()
    layout.add(name, "", Source(seen.path.name))
    return layout


# --- reading -----------------------------------------------------------------------------


def _read(
    seen: Seen,
    layout: Layout,
    configurations: Configurations,
    asked: Asked,
    *,
    boosted: bool,
) -> _Read:
    read = _Read()
    for run in sorted(layout.runs):
        found: dict[str, list[tuple[Source, Log]]] = {}
        reason = ""
        for source in layout.runs[run]:
            try:
                logs = logs_in(seen.place(source.file), asked, boosted=boosted)
                for part, log in told_apart(logs) if logs else ():
                    found.setdefault(part, []).append((source, log))
                if not logs:
                    reason = f"{source.file} is empty."
            except (OSError, ValueError) as problem:
                read.unread.append((source.file, problem))
        single = next((s.config for s in layout.runs[run] if s.config), None)
        params = configurations.of(layout.folders[run], single)
        home = run or seen.path.resolve().name
        for part, logs_of_part in found.items():
            log = _merged(logs_of_part)
            name = f"{home}/{part}" if part else home
            ending = ("finished", "") if log else ("failed", "It has no scores.")
            if log or not _is_bystander(log):
                read.runs.append(_Run(name, log, params | log.params, *ending))
        if not found and reason:
            read.runs.append(_Run(home, Log(), params, "failed", reason))
    if not any(run.log for run in read.runs):
        return _Read(unread=read.unread)
    for folder in layout.failed:
        params = configurations.of(folder, None)
        read.runs.append(_Run(folder, Log(), params, "failed", "It left no scores."))
    return read


def _is_bystander(log: Log) -> bool:
    """Return whether a file holds only texts and settings: no run at all."""
    return bool(log.labels or log.params)


def _merged(parts: Sequence[tuple[Source, Log]]) -> Log:
    """Return what several files say of one run; equal names get the file's before them."""
    if len(parts) == 1 and not (parts[0][0].metric or parts[0][0].prefix):
        return parts[0][1]
    clocks = {log.clock: source.file for source, log in parts if log.curves}
    if len(clocks) > 1:
        raise CurvewiseError(
            f"The steps of one run are counted by {listed(map(str, clocks))}, in "
            f"{listed(clocks.values())}.",
            fixes=[{"step": clock} for clock in clocks if clock != ROWS],
        )
    out = Log(clock=next(iter(clocks), None))
    taken: set[str] = set()
    for source, log in sorted(parts, key=lambda part: not part[1].curves):
        stem = Path(source.file).stem
        for name, curve in log.curves.items():
            key = _called(name, source, stem, taken)
            out.curves[key] = curve
            taken.add(key)
        for name, value in log.finals.items():
            curve_there = out.curves.get(name)
            if curve_there is not None and curve_there[1][-1] == value:
                continue  # dvclive's metrics.json repeats the last values
            key = _called(name, source, stem, taken)
            out.finals[key] = value
            taken.add(key)
        out.labels |= log.labels
        out.params |= log.params
        out.remarks += log.remarks
    return out


def _called(name: str, source: Source, stem: str, taken: set[str]) -> str:
    if source.metric:
        return source.metric
    if source.prefix and not name.casefold().startswith(source.prefix[:-1]):
        name = f"{source.prefix}{name}"
    if name not in taken:
        return name
    key = f"{stem}/{name}"
    while key in taken:
        key = f"{source.file.rpartition('.')[0]}/{name}" if key != name else f"{key}'"
    return key


# --- from runs to their table ------------------------------------------------------------


def runs_of(
    source: str,
    runs: Sequence[_Run],
    *,
    home: str,
    left_out: Sequence[LeftOut] = (),
    remarks: Sequence[str] = (),
) -> Runs:
    """Return runs with their labels, who ran where that is certain, and what to propose."""
    columns, usual, fixes = _labels(runs, home)
    clocks = dict.fromkeys(run.log.clock for run in runs if run.log.curves)
    if len(clocks) > 1:
        several = listed(map(str, clocks))
        remarks = (*remarks, f"Steps are counted by {several} in different runs.")
    parts = []
    for row, run in enumerate(runs):
        last = max(
            (float(s[-1]) for s, _ in run.log.curves.values() if len(s)), default=0.0
        )
        parts += [(row, name, *curve) for name, curve in run.log.curves.items()]
        parts += [
            (row, name, np.array([last]), np.array([value]))
            for name, value in run.log.finals.items()
        ]
    if any(run.status == "failed" for run in runs):
        columns["status"] = [run.status for run in runs]
        columns["error_text"] = [run.error for run in runs]
    return Runs(
        source,
        pa.table({name: array_of(cells) for name, cells in columns.items()}),
        joined_scalars(parts),
        usual=usual,
        steps=_clock(list(clocks)),
        left_out=left_out,
        remarks=remarks,
        closed=True,
        fixes=tuple(fixes),
    )


def _clock(clocks: Sequence[str | None]) -> str:
    if len(clocks) > 1:
        return "step"
    return (clocks[0] or "step") if clocks else ""


def _labels(
    runs: Sequence[_Run], home: str
) -> tuple[dict[str, list[Any]], dict[str, str], list[dict[str, Any]]]:
    """Return columns, the roles that they have, and what answers who the algorithm is."""
    called = [run.name for run in runs]
    columns: dict[str, list[Any]] = {"run": called}
    params = {
        key: [run.params.get(key) for run in runs]
        for key in dict.fromkeys(key for run in runs for key in run.params)
    }
    labels = {
        key: [run.log.labels.get(key) for run in runs]
        for key in dict.fromkeys(key for run in runs for key in run.log.labels)
    }
    said = said_in_names(called)
    ours = {c: cells for c, cells in said.items() if c in _ROLES}
    for word in (*SEEDS, "seed_everything"):
        role = "seed" if word == "seed_everything" else word
        for key in keys_of([word], params)[:1] + keys_of([word], labels)[:1]:
            cells = params.get(key) or labels[key]
            if role not in ours and not isinstance(cells[0], float):
                ours[role] = cells
    usual: dict[str, str] = {}
    fixes: list[dict[str, Any]] = []
    every = labels | params
    place = {key: f"params.{key}" if key in params else key for key in every}
    for role, words in (("task", names.TASK), ("algorithm", names.ALGORITHM)):
        if role in ours:
            continue
        chosen, several = chosen_key(words, every)
        if role == "task" and several:
            chosen = several[0]
        if chosen is not None:
            usual[role] = place[chosen]
        fixes += [{"algorithm": place[key]} for key in several if role == "algorithm"]
    constant = (
        "algorithm" in usual and len(set(map(str, every[_bare(usual, place)]))) == 1
    )
    is_open, shared = unexplained(called, [*said.values(), *every.values()])
    if "algorithm" in usual and len(runs) > 1 and (shared or (constant and is_open)):
        fixes += [*proposals(called, home), {"algorithm": usual.pop("algorithm")}]
    elif "algorithm" not in (*usual, *ours) and not fixes and len(runs) > 1:
        shared_word = shared_name(called) if "seed" in ours else None
        if shared_word is not None:
            ours["algorithm"] = [shared_word or home] * len(runs)
        settings = params | {
            c.removeprefix("params."): cells
            for c, cells in said.items()
            if c.startswith("params.")
        }
        seeds = set(map(str, ours.get("seed", ())))
        patterns = proposals(called, home, seeded=len(seeds) > 1)
        compared = [*_settings(settings, ours)]
        in_names = any("=" in name for name in called)
        fixes = [*compared, *patterns] if in_names else [*patterns, *compared]
    columns |= ours
    columns |= {c: cells for c, cells in said.items() if c not in ours}
    columns |= {c: cells for c, cells in labels.items() if c not in columns}
    columns |= {f"params.{key}": cells for key, cells in params.items()}
    return columns, usual, fixes


def _bare(usual: Mapping[str, str], place: Mapping[str, str]) -> str:
    return next(key for key, column in place.items() if column == usual["algorithm"])


def _settings(
    params: Mapping[str, Sequence[Any]], ours: Mapping[str, Sequence[Any]]
) -> Iterator[dict[str, Any]]:
    """Yield settings that may be what is compared: with the seed they tell runs apart."""
    seeds = [list(map(str, cells)) for c, cells in ours.items() if c in SEEDS]
    for key, cells in params.items():
        texts = list(map(str, cells))
        varies = len(set(texts)) > 1 and texts not in seeds
        if varies and len(set(zip(texts, *seeds, strict=True))) == len(texts):
            yield {"algorithm": f"params.{key}"}


# --- what to say -------------------------------------------------------------------------


def _left_out(unread: Sequence[tuple[str, Exception]]) -> tuple[LeftOut, ...]:
    if not unread:
        return ()
    file, reason = unread[0]
    why = f"that cannot be read, first '{shortened(file)}': {shortened(_why(reason), 200)}"
    return (LeftOut(len(unread), why.rstrip("."), what="file"),)


def _remarks(
    runs: Sequence[_Run], layout: Layout, configurations: Configurations
) -> Iterator[str]:
    if len(layout.kinds) > 1:
        kinds = sorted(layout.kinds)
        yield (
            f"It holds runs of {listed(kinds)}; tool={kinds[0]!r} reads those of one tool."
        )
    texts = [f"Run '{shortened(r.name)}': {t}" for r in runs for t in r.log.remarks]
    yield from texts[:3]
    if len(texts) > 3:
        yield f"The like holds in {count(len(texts) - 3, 'more file')}."
    failed = [run for run in runs if run.status == "failed"]
    if failed:
        yield (
            f"{count(len(failed), 'run')} of {len(runs)} left no scores and count as "
            f"failed, such as '{shortened(failed[0].name)}'."
        )
    if configurations.unread:
        file, reason = configurations.unread[0]
        yield (
            f"{count(len(configurations.unread), 'configuration')} cannot be read, such as "
            f"'{shortened(file)}': {shortened(reason, 200)}"
        )


def _why(problem: Exception) -> str:
    return problem.text if isinstance(problem, CurvewiseError) else str(problem)


def _nothing(seen: Seen, unread: Sequence[tuple[str, Exception]]) -> CurvewiseError:
    if unread:
        file, reason = unread[0]
        return CurvewiseError(
            f"{seen.path} holds no scores that can be read: {shortened(file)}: "
            f"{_why(reason)}",
            fixes=getattr(reason, "fixes", ()),
        )
    return CurvewiseError(
        f"{seen.path} holds no scores: it has {seen.summary()}. Pass a folder with one "
        f"file of scores per run, or a pattern such as 'runs/*/metrics.csv'."
    )
