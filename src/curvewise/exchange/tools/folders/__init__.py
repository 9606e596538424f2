"""Folders of runs: one file per run, whoever wrote it, with its configuration beside it.

Among them are those of Hydra, Lightning, Keras, Hugging Face's Trainer, xgboost, LightGBM,
dvclive and Ultralytics. Of objects in memory, histories of Keras and results of boosting.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, Keyword, Message, listed, shortened
from curvewise.exchange.run_names import (
    SEEDS,
    chosen_key,
    keys_of,
    proposals,
    roles_of,
    said_in_names,
    shared_name,
    unexplained,
)
from curvewise.exchange.runs import (
    CROSSED,
    Asked,
    LeftOut,
    Runs,
    array_of,
    columns_of,
    joined_scalars,
)
from curvewise.exchange.tools.files import Listing, listing_at
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
    Log,
    may_be_score,
    number_in,
    refuse_folds,
    told_apart,
)
from curvewise.exchange.tools.folders.nested import (
    fits_object,
    logs_by_name,
    logs_in,
    logs_of,
)
from curvewise.text import count
from curvewise.trials import names

# How the files with scores end, where the caller names whose they are.
ENDINGS: dict[str, tuple[str, ...]] = {
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
# Logs beside those of another tool, but for what that tool itself keeps of runs.
_BESIDE = (*TABLES, *LINES, "metrics.json", "results.json", "history.json")
_OF_TOOLS = re.compile(r"/(mlruns|mlartifacts|artifacts|wandb)/")
_ROLES = ("algorithm", "task", *SEEDS)


def fits_path(listing: Listing, tool: str = "folder") -> bool:
    """Return whether a folder holds files that may be scores of runs."""
    if not listing.is_folder:
        return _is_log(listing, tool)
    files = _files(listing, tool)
    if len(files) == 1 and tool == "folder":
        path = listing.place(files[0])  # the only run, or a table of many
        has_config = any(map(is_config, listing.files))
        return _is_log(listing_at(path), tool) or (has_config and _is_one(path))
    return bool(files)


def _files(listing: Listing, tool: str) -> list[str]:
    """Return the files that may hold scores, as a tool calls them."""
    files = [file for file in listing.files if is_scores(file)]
    if tool == "hydra":
        homes = [f.partition(".hydra/")[0] for f in listing.files if ".hydra/" in f]
        starts = tuple(dict.fromkeys(homes))
        return [file for file in files if file.startswith(starts)]
    return [file for file in files if file.endswith(ENDINGS[tool])]


def is_beside(listing: Listing) -> bool:
    """Return whether a folder of another tool holds logs of runs as well."""
    return any(
        is_scores(file)
        and not _OF_TOOLS.search(f"/{file}")
        and (
            file.endswith(TRAINER)
            or (is_content(Path(file).stem) and file.endswith(_BESIDE))
        )
        for file in listing.files
    )


def read_path(listing: Listing, asked: Asked, tool: str = "folder") -> Runs:
    """Return the runs of a folder, or of one file."""
    if listing.is_folder:
        layout = layout_of(listing, _files(listing, tool))
        top = listing.path
    else:
        layout, top = _single(listing), listing.path.absolute().parent
    configurations = Configurations(top)
    runs, unread = _read(listing, layout, configurations, asked, tool)
    if not runs:
        raise _nothing(listing, unread)
    return _runs_of(
        f"{'folder' if listing.is_folder else 'file'} {listing.path.name}",
        runs,
        home=listing.path.resolve().name if listing.is_folder else listing.path.stem,
        left_out=(*_left_out(unread), *layout.left_out, *listing.left_out()),
        remarks=tuple(_remarks(runs, layout, configurations)),
    )


def read_object(source: object, asked: Asked, tool: str = "folder") -> Runs:
    """Return the runs of histories in memory; names of a dict are algorithms."""
    logs = logs_by_name(source, asked, tool)
    runs = []
    for algorithm, number, log in logs:
        if not log.name:
            log.labels = {} if algorithm is None else {"algorithm": algorithm}
            if len(logs) > 1:
                log.labels["repeat"] = number
            log.name = str(number) if algorithm is None else f"{algorithm}/{number}"
        runs.append(log)
    return _runs_of("histories", runs, home="mine")


def reader_of(tool: str) -> SimpleNamespace:
    """Return the functions of this module for the layout of one tool."""
    functions: tuple[Any, ...] = (fits_path, read_path, fits_object, read_object)
    bound = {f.__name__: partial(f, tool=tool) for f in functions}
    return SimpleNamespace(**bound, is_beside=is_beside)


def _is_log(listing: Listing, tool: str) -> bool:
    """Return whether one file is a log of one run, and no table of many."""
    name, head = listing.path.name, listing.head
    ending = listing.path.suffix.lower()
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
        return ("step" in columns or pairs or "loss" in columns) and _is_one(
            listing.path
        )
    if name == TRAINER:
        return b'"log_history"' in head
    if ending == ".json" and head.lstrip()[:1] in (b"{", b"["):
        return b"[" in head and _is_curves(listing.path)
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
    except (OSError, ValueError, RecursionError):
        return False
    if isinstance(value, dict):
        refuse_folds(value, path.name)
    if _are_rows(value):
        return False
    try:
        lists = value.items() if isinstance(value, dict) else ()
        if _has_roles([key for key, one in lists if isinstance(one, list)]):
            return False  # columns of a table
        logs = logs_of(value, Asked(), path.stem)
    except CurvewiseError as problem:
        return bool(problem.fixes)
    except (OSError, ValueError, RecursionError):
        return False
    return any(log.curves for log in logs)


def _are_rows(value: Any) -> bool:
    """Return whether a value is a list, and not one of runs with curves."""
    return isinstance(value, list) and not all(
        isinstance(row, dict)
        and any(isinstance(one, dict | list) for one in row.values())
        for row in value
    )


def _single(listing: Listing) -> Layout:
    path = listing.path.absolute()
    name = (
        path.parent.name if is_content(path.stem) or path.name == TRAINER else path.stem
    )
    layout = Layout()
    layout.add(name, "", Source(listing.path.name))
    return layout


# --- reading -----------------------------------------------------------------------------


def _read(
    listing: Listing,
    layout: Layout,
    configurations: Configurations,
    asked: Asked,
    tool: str,
) -> tuple[list[Log], list[tuple[str, Exception]]]:
    """Return runs, and the files that could not be read, with the reason."""
    runs: list[Log] = []
    unread: list[tuple[str, Exception]] = []
    silent: list[tuple[str, Log]] = []
    for run in sorted(layout.runs):
        parts: dict[str, list[tuple[Source, Log]]] = {}
        reason = ""
        for source in layout.runs[run]:
            try:
                logs = logs_in(listing.place(source.file), asked, tool)
                for part, log in told_apart(logs) if logs else ():
                    parts.setdefault(part, []).append((source, log))
                if not logs:
                    reason = f"{source.file} is empty."
            except (OSError, ValueError) as problem:
                unread.append((source.file, problem))
        single = next((s.config for s in layout.runs[run] if s.config), None)
        config = configurations.of(layout.folders[run], single)
        home = run or listing.path.resolve().name
        for part, logs_of_part in parts.items():
            log = _merged(logs_of_part)
            log.name, log.config = f"{home}/{part}" if part else home, config
            if log.has_scores:
                runs.append(log)
            else:
                log.status, log.error = "failed", _noted_error(log)
                silent.append((run, log))
        if not parts and reason:
            runs.append(Log(name=home, config=config, status="failed", error=reason))
    if not any(run.has_scores for run in runs):
        return [], unread
    runs += _failed_among(silent, layout)
    for folder in layout.failed:
        config, error = configurations.of(folder, None), "It left no scores."
        runs.append(Log(name=folder, config=config, status="failed", error=error))
    _take_words(runs)
    return runs, unread


def _noted_error(log: Log) -> str:
    """Return what a file without scores says of an error."""
    key = names.first(names.ERROR_TEXT, log.labels)
    return str(log.labels[key]) if key else "It has no scores."


def _failed_among(silent: Sequence[tuple[str, Log]], layout: Layout) -> list[Log]:
    """Return the runs without scores, less files of texts and settings that are none.

    Where others keep their scores in a file or a folder like it, this is a run.
    """
    quiet = {run for run, _ in silent}
    loud = [run for run in layout.runs if run not in quiet]
    files = {Path(s.file).name for run in loud for s in layout.runs[run]}
    homes = {run.rpartition("/")[0] for run in loud if run == layout.folders[run]}
    failed = []
    for run, one in silent:
        like = files & {Path(s.file).name for s in layout.runs[run]}
        beside = run == layout.folders[run] and run.rpartition("/")[0] in homes
        ended = names.status_of(str(one.labels.get("status", ""))) or _noted_error(one)
        is_told = ended not in ("ok", "It has no scores.")
        is_blank = not (one.labels or one.params)
        if like or beside or is_told or is_blank:
            failed.append(one)
    return failed


def _take_words(runs: Sequence[Log]) -> None:
    """Take a word where other runs have a score: "0.9" is one, "diverged" is none."""
    scores = {name for log in runs for name in (*log.curves, *log.finals)}
    for log in runs:
        for key in [k for k in log.labels if k in scores and may_be_score(k)]:
            value = log.labels.pop(key)
            number = number_in(value) if isinstance(value, str) else float(value)
            if key not in log.curves:
                log.finals.setdefault(key, np.nan if number is None else number)
        if log.has_scores:
            log.status = "finished"


def _merged(parts: Sequence[tuple[Source, Log]]) -> Log:
    """Return what several files say of one run; equal names get the file's before them."""
    first = parts[0][0]
    if len(parts) == 1 and not (first.metric or first.prefix or first.step):
        return parts[0][1]
    parts = _at_steps(parts)
    clocks = {log.clock: source.file for source, log in parts if log.curves}
    if len(clocks) > 1:
        raise CurvewiseError(
            f"The steps of one run are counted by {listed(map(str, clocks))}, in "
            f"{listed(clocks.values())}.",
            fixes=[{"step": clock} for clock in clocks if clock != ROWS],
        )
    whole = Log(clock=next(iter(clocks), None))
    keys: set[str] = set()
    for source, log in sorted(parts, key=lambda part: not part[1].curves):
        stem = Path(source.file).stem
        for name, curve in log.curves.items():
            key = _called(name, source, stem, keys)
            whole.curves[key] = curve
            whole.ends[key] = log.last()
            keys.add(key)
        for name, value in log.finals.items():
            curve_there = whole.curves.get(name)
            if curve_there is not None and curve_there[1][-1] == value:
                continue  # dvclive's metrics.json repeats the last values
            key = _called(name, source, stem, keys)
            whole.finals[key] = value
            keys.add(key)
        whole.labels |= log.labels
        whole.params |= log.params
        whole.remarks += log.remarks
    return whole


def _at_steps(parts: Sequence[tuple[Source, Log]]) -> list[tuple[Source, Log]]:
    """Return parts in which last scores of a run's states are one curve of the run."""
    states = sorted(
        ((s.step, s, log) for s, log in parts if s.step is not None and not log.curves),
        key=lambda state: (state[0], state[1].file),
    )
    out = [(s, log) for s, log in parts if s.step is None or log.curves]
    if not states:
        return out
    points: dict[str, dict[int, float]] = {}
    whole = Log(clock="step")
    for step, source, log in states:
        for name, value in log.finals.items():
            points.setdefault(source.prefix + name, {})[step] = value
        whole.labels |= log.labels
        whole.params |= log.params
    for name, curve in points.items():
        whole.curves[name] = (np.array([*curve], float), np.array([*curve.values()]))
    return [*out, (replace(states[0][1], prefix=""), whole)]


def _called(name: str, source: Source, stem: str, keys: set[str]) -> str:
    if source.metric:
        return source.metric
    if source.prefix and not name.casefold().startswith(source.prefix[:-1]):
        name = f"{source.prefix}{name}"
    if name not in keys:
        return name
    key = f"{stem}/{name}"
    while key in keys:
        key = f"{source.file.rpartition('.')[0]}/{name}" if key != name else f"{key}'"
    return key


# --- from runs to their table ------------------------------------------------------------


def _runs_of(
    source: str,
    runs: Sequence[Log],
    *,
    home: str,
    left_out: Sequence[LeftOut] = (),
    remarks: Sequence[str] = (),
) -> Runs:
    """Return runs with their labels, who ran where that is certain, and what to propose."""
    columns, usual, fixes = _labels(runs, home)
    remarks = [*remarks, *_broken_off(runs)]
    clocks = dict.fromkeys(run.clock for run in runs if run.curves)
    if len(clocks) > 1:
        several = listed(map(str, clocks))
        raise CurvewiseError(
            f"Steps are counted by {several} in different runs of {source}, and are not "
            f"the same. Pass those that count alike."
        )
    parts = []
    for row, run in enumerate(runs):
        last = run.last()
        parts += [(row, name, *curve) for name, curve in run.curves.items()]
        parts += [
            (row, name, np.array([last]), np.array([value]))
            for name, value in run.finals.items()
        ]
    if any(run.status == "failed" for run in runs):
        columns["status"] = [_ended(run) for run in runs]
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


def _ended(run: Log) -> str:
    """Return how a run ended, in its own word where it has one that we know."""
    word = str(run.labels.get("status", ""))
    if run.status != "failed":
        return word or run.status
    return run.status if names.status_of(word) in (None, "ok") else word


def _broken_off(runs: Sequence[Log]) -> list[str]:
    """Add "not a number" where a metric stops long before its run, and others' does not.

    Long is more than it ever paused.
    """
    ends: dict[str, list[tuple[Log, float]]] = {}
    for run in runs:
        for name, (steps, _) in run.curves.items():
            if len(steps):
                rest = run.last(name) - float(steps[-1])
                ends.setdefault(name, []).append((run, rest))
    remarks = []
    for name, some in ends.items():
        if not any(rest for _, rest in some):
            continue
        pauses = [float(np.diff(r.curves[name][0]).max(initial=0)) for r, _ in some]
        usual = max(pauses)
        broken = [
            run
            for (run, rest), pause in zip(some, pauses, strict=True)
            if usual and rest > (pause or usual)
        ]
        if not broken or 2 * len(broken) > len(some):
            continue
        for run in broken:
            steps, values = run.curves[name]
            at = run.last(name)
            run.curves[name] = np.append(steps, at), np.append(values, np.nan)
        remarks.append(
            f"'{name}' stops before {count(len(broken), 'run')} of {len(some)}, such as "
            f"'{shortened(broken[0].name)}': it counts as not a number at the end."
        )
    return remarks


def _clock(clocks: Sequence[str | None]) -> str:
    if len(clocks) > 1:
        return "step"
    return (clocks[0] or "step") if clocks else ""


def _labels(
    runs: Sequence[Log], home: str
) -> tuple[dict[str, list[Any]], dict[str, str], list[dict[str, Any]]]:
    """Return columns, the roles that they have, and what answers who the algorithm is."""
    called = [run.name for run in runs]
    columns: dict[str, list[Any]] = {"run": called}
    params = columns_of([run.config | run.params for run in runs])
    labels = columns_of([run.labels for run in runs])
    from_names = said_in_names(called)
    ours = {c: cells for c, cells in from_names.items() if c in _ROLES}
    ours |= _seeds(params, labels, ours)
    usual: dict[str, str] = {}
    fixes: list[dict[str, Any]] = []
    every = labels | params
    place = {key: f"params.{key}" if key in params else key for key in every}
    if "task" not in ours:
        chosen, several = chosen_key(names.TASK, every)
        if chosen is not None:
            usual["task"] = place[chosen]
        columns |= _crossed(several, every, place)
    if "algorithm" not in ours:
        chosen, several = chosen_key(names.ALGORITHM, every)
        fixes += [{"algorithm": place[key]} for key in several]
        gappy = _gappy(every, chosen)
        if gappy is not None:
            there = list(dict.fromkeys(v for v in every[gappy] if v is not None))
            fixes += [
                one for one in proposals(called, home) if _has_several(one, called)
            ]
            fixes += [{"where": {place[gappy]: there}, "algorithm": place[gappy]}]
        elif chosen is not None:
            usual["algorithm"] = place[chosen]
    constant = (
        "algorithm" in usual and len(set(map(str, every[_bare(usual, place)]))) == 1
    )
    is_open, shared = unexplained(called, [*from_names.values(), *every.values()])
    if "algorithm" in usual and len(runs) > 1 and (shared or (constant and is_open)):
        fixes += [*proposals(called, home), {"algorithm": usual.pop("algorithm")}]
    elif "algorithm" not in (*usual, *ours) and not fixes and len(runs) > 1:
        shared_word = shared_name(called) if "seed" in ours else None
        if shared_word is not None:
            ours["algorithm"] = [shared_word or home] * len(runs)
        settings = params | {
            c.removeprefix("params."): cells
            for c, cells in from_names.items()
            if c.startswith("params.")
        }
        seeds = set(map(str, ours.get("seed", ())))
        patterns = proposals(called, home, seeded=len(seeds) > 1)
        compared = [*_settings(settings, ours)]
        in_names = any("=" in name for name in called)
        fixes = [*compared, *patterns] if in_names else [*patterns, *compared]
    columns |= ours
    columns |= {c: cells for c, cells in from_names.items() if c not in ours}
    columns |= {c: cells for c, cells in labels.items() if c not in columns}
    columns |= {f"params.{key}": cells for key, cells in params.items()}
    return columns, usual, fixes


def _seeds(
    params: Mapping[str, list[Any]],
    labels: Mapping[str, list[Any]],
    ours: Mapping[str, Any],
) -> dict[str, list[Any]]:
    """Return the settings that tell replicates apart, less those that names tell."""
    seeds: dict[str, list[Any]] = {}
    for word in (*SEEDS, "seed_everything"):
        role = "seed" if word == "seed_everything" else word
        for key in keys_of([word], params)[:1] + keys_of([word], labels)[:1]:
            cells = params.get(key) or labels[key]
            if role not in {**ours, **seeds} and not isinstance(cells[0], float):
                seeds[role] = cells
    return seeds


def _crossed(
    keys: Sequence[str], every: Mapping[str, list[Any]], place: Mapping[str, str]
) -> dict[str, list[Any]]:
    """Return a column with what several settings say together that may be the task."""
    if not keys:
        return {}
    rows = zip(*(map(str, every[key]) for key in keys), strict=True)
    return {CROSSED.join(place[key] for key in keys): ["/".join(row) for row in rows]}


def _gappy(every: Mapping[str, list[Any]], chosen: str | None) -> str | None:
    """Return a better name of the algorithm than the chosen one, that some runs lack."""
    some = {
        key: [cell for cell in cells if cell is not None]
        for key, cells in every.items()
        if None in cells
    }
    varying = {k: c for k, c in some.items() if len(set(map(str, c))) > 1}
    for key in keys_of(names.ALGORITHM, varying):
        if chosen is None or len(set(map(str, every[chosen]))) == 1:
            return key
    return None


def _has_several(fix: Mapping[str, Any], runs: Sequence[str]) -> bool:
    """Return whether a pattern finds algorithms that have several runs."""
    if not isinstance(fix["roles"], str):
        return False
    _, columns = roles_of(runs, fix["roles"])
    return 1 < len(set(columns["algorithm"])) < len(runs)


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
    first = f"that cannot be read, first '{shortened(file)}': "
    why = Message(first, shortened(_why(reason), 200)).rstrip(".")
    return (LeftOut(len(unread), why, what="file"),)


def _remarks(
    runs: Sequence[Log], layout: Layout, configurations: Configurations
) -> Iterator[str]:
    if len(layout.kinds) > 1:
        kinds = sorted(layout.kinds)
        yield (
            Message(
                f"It holds runs of {listed(kinds)}; ",
                Keyword("tool", kinds[0]),
                " reads those of one tool.",
            )
        )
    texts = [f"Run '{shortened(r.name)}': {t}" for r in runs for t in r.remarks]
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


def _nothing(
    listing: Listing, unread: Sequence[tuple[str, Exception]]
) -> CurvewiseError:
    if unread:
        file, reason = unread[0]
        return CurvewiseError(
            f"{listing.path} holds no scores that can be read: {shortened(file)}: ",
            _why(reason),
            fixes=getattr(reason, "fixes", ()),
            argument=getattr(reason, "argument", None),
            value=getattr(reason, "value", None),
        )
    return CurvewiseError(
        f"{listing.path} holds no scores: it has {listing.summary()}. Pass a folder "
        f"with one file of scores per run, or a pattern such as 'runs/*/metrics.csv'."
    )
