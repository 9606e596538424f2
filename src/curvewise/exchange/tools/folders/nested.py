"""What nested values say of runs, in a file or in memory: histories, records, scores."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError, Keyword, listed, shortened
from curvewise.exchange.run_names import REPLICATE, SEEDS
from curvewise.exchange.runs import Asked, as_text, flattened, is_number, parsed
from curvewise.exchange.tools.folders.layout import yaml_of
from curvewise.exchange.tools.folders.logs import (
    CONFIG_KEYS,
    DATA_SET,
    HISTORIES,
    ROWS,
    SPLITS,
    Log,
    Numbers,
    each_once,
    is_role,
    is_score,
    last_pass,
    line_logs,
    may_be_score,
    number_in,
    record_logs,
    refuse_folds,
    step_of,
    table_logs,
    uncounted,
)
from curvewise.metrics import Floats
from curvewise.trials import names

_MOST_DEEP = 32  # levels of nested values that are looked into
_RATES = ("lr", "learning_rate")
_BOOSTING = ("xgboost", "lightgbm")
# Names of what is counted, with a number: keys of steps, and keys of runs.
_STEP_KEY = re.compile(
    r"(epoch|step|iter|iteration|round|episode|update)[ _.-]?(\d+)", re.IGNORECASE
)
_REPLICATE = re.compile(rf"({REPLICATE})[ _.-]?(\d+)", re.IGNORECASE)
_BY_EPOCH = ("history", "histories", "log", "logs", "curve", "curves", "epochs")


# --- one file -------------------------------------------------------------------------


def logs_in(path: Path, asked: Asked, tool: str = "folder") -> list[Log]:
    """Return the runs of a file: one, or those that its columns tell apart.

    What cannot be read raises an error that says why; a file with no rows has no runs.
    """
    ending = path.suffix.lower()
    if ending == ".gz":
        ending = Path(path.stem).suffix.lower()
    if path.stat().st_size == 0:
        return []
    if ending in (".csv", ".tsv"):
        return table_logs(path, asked)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise CurvewiseError(f"{path.name} is no text in UTF-8.") from None
    if ending in (".yaml", ".yml"):
        return logs_of(yaml_of(text, path.name), asked, path.stem, tool)
    if ending == ".json":
        try:
            return logs_of(parsed(text), asked, path.stem, tool)
        except json.JSONDecodeError as problem:
            if problem.msg != "Extra data":  # JSON lines under another name
                raise CurvewiseError(f"{path.name} is no JSON: {problem}.") from None
    return line_logs(text, asked, path)


# --- nested values ---------------------------------------------------------------------


def logs_of(value: Any, asked: Asked, name: str, tool: str = "folder") -> list[Log]:
    """Return the runs of nested values: histories, records, or last scores.

    Of a boosted model, names of curves in a dict of dicts are those of data sets.
    """
    if isinstance(value, Mapping):
        return _of_mapping(value, asked, name, tool)
    if isinstance(value, list) and value:
        if all(isinstance(item, Mapping) for item in value):
            if not any(map(_has_curves, value)):
                return record_logs(value, asked, name)
            return [_only(logs_of(item, asked, name, tool), name) for item in value]
        if all(is_number(item) for item in value):
            return _finished(_Nested(lists={name: value}), asked, name)
    raise CurvewiseError(f"{name} holds no scores but {shortened(as_text(value), 40)}.")


def _of_mapping(
    value: Mapping[str, Any], asked: Asked, name: str, tool: str
) -> list[Log]:
    if isinstance(value.get("log_history"), list):
        return [_trainer_log(value, asked)]
    if _is_history(value):
        refuse_folds(value, name)
    if (records := _by_step(value, name, asked)) is not None:
        return record_logs(records, asked, name)
    if some := _named_runs(value, histories=tool == "keras"):
        return [_named(path, run, asked, name, tool) for path, run in some]
    if not _is_boosting(value):
        nested = _Nested()
        _walk(value, "", nested, asked)
        return _finished(nested, asked, name)
    if tool not in _BOOSTING and not all(DATA_SET.fullmatch(str(k)) for k in value):
        trained = all(_is_training(map(str, item)) for item in value.values())
        more = ", or runs with a history each" if trained else ""
        raise CurvewiseError(
            f"{name} has curves under {listed(value)}: are these data sets on which one "
            f"boosted model was scored{more}?",
            fixes=[{"tool": "xgboost"}, *([{"tool": "keras"}] if trained else [])],
        )
    return [_boosting_log(value, asked, name)]


def _only(logs: Sequence[Log], name: str) -> Log:
    if len(logs) != 1:
        raise CurvewiseError(f"{name} holds {len(logs)} runs in place of one.")
    return logs[0]


def _has_curves(record: Mapping[Any, Any]) -> bool:
    """Return whether a record has more than one value of a score: it is a run."""
    return any(
        str(key).casefold() in HISTORIES and isinstance(item, Mapping | list)
        for key, item in record.items()
    ) or any(
        names.is_score(str(key))
        and _is_curve(item)
        and any(type(v) is float for v in item)
        for key, item in record.items()
    )


# --- runs by name ------------------------------------------------------------------------


def _named_runs(
    value: Mapping[Any, Any], *, histories: bool = False
) -> list[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Return the runs that nested names lead to; none where names are parts of a run.

    With `histories` curves below a name are those of a run, and of no data set.
    """
    leaves = list(_below(value, (), histories))
    runs = [leaf for leaf in leaves if leaf is not None]
    return runs if 1 < len(runs) == len(leaves) else []


_Leaf = tuple[tuple[str, ...], Mapping[str, Any]] | None


def _below(
    value: Mapping[Any, Any], path: tuple[str, ...], histories: bool
) -> Iterator[_Leaf]:
    """Yield runs with the names that lead to them; None for what is no run."""
    keys = [str(key) for key in value]
    words = {*SPLITS, *HISTORIES, *CONFIG_KEYS}
    if len(path) > 3 or any(
        key.casefold() in words or DATA_SET.fullmatch(key) for key in keys
    ):
        yield None
        return
    replicates = bool(keys) and all(map(_REPLICATE.fullmatch, keys))
    numbered = bool(keys) and all(key.isdigit() for key in keys)
    for key, item in zip(keys, value.values(), strict=True):
        here = (*path, key)
        if not isinstance(item, Mapping) or not item:
            yield None
        elif _is_history(item):
            yield (
                (here, item)
                if numbered or replicates or histories or _has_validation(item)
                else None
            )
        elif replicates or _is_record(item):
            yield here, item
        else:
            yield from _below(item, here, histories)


def _has_validation(history: Mapping[Any, Any]) -> bool:
    keys = {str(key) for key in history}
    return any(f"val_{key}" in keys for key in keys)


def _is_record(value: Mapping[Any, Any]) -> bool:
    """Return whether a value has a configuration or a history of its own."""
    words = {*HISTORIES, *CONFIG_KEYS}
    return any(
        str(key).casefold() in words and isinstance(item, Mapping | list)
        for key, item in value.items()
    )


def _named(
    path: tuple[str, ...], value: Mapping[str, Any], asked: Asked, name: str, tool: str
) -> Log:
    if _is_history(value):
        log = _history_log(value, None, asked, f"{name}/{'/'.join(path)}")
    else:
        log = _only(logs_of(value, asked, name, tool), name)
    log.name = "/".join(path)
    return log


def _by_step(value: Mapping[Any, Any], above: str, asked: Asked) -> list[Any] | None:
    """Return scores under keys that are steps, as records; None where keys are none."""
    keys = [str(key) for key in value]
    if not keys or not all(isinstance(item, Mapping) for item in value.values()):
        return None
    if any(
        _is_curve(v) or isinstance(v, Mapping)
        for item in value.values()
        for v in item.values()
    ) and not all(map(_STEP_KEY.fullmatch, keys)):
        return None
    matches = [_STEP_KEY.fullmatch(key) for key in keys]
    clocks = {m[1].casefold() for m in matches if m}
    if all(matches) and len(clocks) == 1:
        clock, steps = clocks.pop(), [int(m[2]) for m in matches if m]
    elif all(key.isdigit() for key in keys):
        if above.casefold() not in _BY_EPOCH and asked.step != ROWS:
            if len(keys) == 1:
                return None
            trained = all(_is_training(map(str, item)) for item in value.values())
            raise CurvewiseError(
                f"'{shortened(above)}' has scores under {listed(keys, most=3)}: "
                "steps of one run, runs or classes? Write epoch_0 or seed_0 for 0 if "
                "they are the former; ",
                Keyword("step", "row"),
                " says that they are steps.",
                fixes=[{"step": ROWS}] if trained else (),
            )
        clock, steps = "epoch", [int(key) for key in keys]
    else:
        return None
    pairs = zip(steps, value.values(), strict=True)
    return [
        {clock: step, **record} for step, record in sorted(pairs, key=lambda p: p[0])
    ]


# --- curves ------------------------------------------------------------------------------


def _is_curve(value: object) -> bool:
    """Return whether a value is a list of numbers, some of them missing or words."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "fiu"
    if not isinstance(value, list | tuple):
        return False
    numbers = sum(map(is_number, value))
    words = sum(isinstance(item, str) for item in value)
    missing = sum(item is None for item in value)
    return numbers > words and numbers + words + missing == len(value)


def _is_pairs(value: object) -> bool:
    """Return whether a value is a list of steps with their scores."""
    return (
        isinstance(value, list)
        and len(value) > 1
        and all(
            isinstance(pair, list | tuple)
            and len(pair) == 2
            and all(map(is_number, pair))
            for pair in value
        )
        and all(a[0] < b[0] for a, b in pairwise(value))
    )


def _is_history(value: object) -> bool:
    """Return whether a value is a dict of curves, as Keras keeps them."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(map(_is_curve, value.values()))
    )


def _is_boosting(value: object) -> bool:
    """Return whether a value is {data set: {metric: curve}}, as xgboost keeps it."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(map(_is_history, value.values()))
        and not any(str(key).casefold() in HISTORIES for key in value)
    )


def _boosting_log(value: Mapping[str, Any], asked: Asked, name: str) -> Log:
    """Return the curves of a boosted model by round, or by a list of steps of theirs."""
    log = Log(clock="round")
    by_length: dict[int, list[str]] = {}
    for part, metrics in value.items():
        step = names.first(names.STEP, map(str, metrics))
        for metric, curve in metrics.items():
            called = f"{part}-{metric}"
            if metric == step or not is_score(called, asked):
                continue
            if step is not None:
                log.clock = step
                log.curves[called] = _placed(called, curve, step, metrics[step], name)
            else:
                by_length.setdefault(len(curve), []).append(called)
                log.curves[called] = _indexed(curve, 1)
    _refuse_lengths(by_length, name)
    return log


def _refuse_lengths(by_length: Mapping[int, list[str]], name: str) -> None:
    if len(by_length) > 1:
        raise CurvewiseError(
            f"{name} has lists of different lengths, such as "
            f"{listed([keys[0] for keys in by_length.values()], most=3)}: at which steps "
            f"they were recorded is not stated.",
            fixes=[{"metrics": keys} for keys in by_length.values()],
        )


def _history_log(
    history: Mapping[str, Any], epochs: Sequence[float] | None, asked: Asked, name: str
) -> Log:
    """Return the curves of a history by epoch; Keras calls the first one 0."""
    lists = {str(key): list(curve) for key, curve in history.items()}
    if epochs is not None and all(len(one) == len(epochs) for one in lists.values()):
        lists.setdefault("epoch", list(epochs))
    log = _finished(_Nested(lists=lists, trained=True), asked, name)[0]
    log.clock = "epoch"
    return log


def _trainer_log(state: Mapping[str, Any], asked: Asked) -> Log:
    """Return what Hugging Face's trainer logged; of two values at a step, the last."""
    by = asked.step or "step"
    log = Log(clock=by)
    points: dict[str, dict[float, float]] = {}
    for record in state["log_history"]:
        step = record.get(by) if isinstance(record, Mapping) else None
        if not is_number(step):
            continue
        for key, value in record.items():
            if is_number(value) and key != by and is_score(key, asked):
                points.setdefault(key, {})[float(step)] = float(value)
    for key, curve in points.items():
        steps = sorted(curve)
        log.curves[key] = (np.array(steps), np.array([curve[s] for s in steps]))
    params = state.get("trial_params")
    if isinstance(params, Mapping):
        log.params = flattened(params, ".")
    return log


@dataclass(slots=True)
class _Nested:
    """Numbers, lists, records and settings of nested values, by name."""

    lists: dict[str, Any] = field(default_factory=dict)
    pairs: dict[str, list[Any]] = field(default_factory=dict)
    records: dict[str, list[Any]] = field(default_factory=dict)
    finals: dict[str, float] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    trained: bool = False


def _walk(
    value: Mapping[Any, Any], before: str, nested: _Nested, asked: Asked, depth: int = 0
) -> None:
    for key, item in value.items():
        name = f"{before}{key}"
        bare = str(key).casefold()
        inner = before if bare in HISTORIES else f"{name}/"
        if isinstance(item, Mapping) and bare in CONFIG_KEYS:
            nested.params |= flattened(item, ".")
        elif isinstance(item, Mapping) and depth < _MOST_DEEP:
            nested.trained |= bare.endswith("history")
            if (records := _by_step(item, bare, asked)) is not None:
                nested.records[inner] = records
            else:
                _walk(item, inner, nested, asked, depth + 1)
        elif _is_curve(item):
            nested.lists[name] = item
        elif _is_pairs(item) and names.is_score(name):
            nested.pairs[name] = item
        elif (
            isinstance(item, list)
            and item
            and all(isinstance(r, Mapping) for r in item)
        ):
            nested.records[inner] = item
        else:
            _take(name, bare, item, nested)


def _take(name: str, bare: str, item: Any, nested: _Nested) -> None:
    """Keep one plain value as a score, a setting or a label."""
    if is_number(item):
        if is_role(bare, (*SEEDS, *names.ALGORITHM, *names.TASK)):
            nested.labels[name.rpartition("/")[2]] = item
        elif names.is_param(name) and not names.is_score(name):
            nested.params[name.replace("/", ".")] = item
        else:
            nested.finals[name] = float(item)
    elif isinstance(item, str | bool):
        value = number_in(item) if isinstance(item, str) else float(item)
        if value is not None and names.is_score(name) and may_be_score(name):
            nested.finals[name] = value
        else:
            nested.labels[name] = item


def _finished(nested: _Nested, asked: Asked, name: str) -> list[Log]:
    """Return nested values as runs: several only where records tell them apart."""
    if (rows := _rows_of(nested.lists)) is not None:
        nested.lists, nested.records = {}, {"": rows, **nested.records}
    logs = [_of_lists(nested, asked, name) if nested.lists else Log()]
    _add_pairs(logs[0], nested, asked, name)
    for key, records in nested.records.items():
        before = key if len(nested.records) > 1 or nested.lists else ""
        some = record_logs(records, asked, name)
        if len(some) > 1 and (len(nested.records) > 1 or logs[0].has_scores):
            raise CurvewiseError(f"{name} holds records of {len(some)} runs, and more.")
        if len(some) > 1:
            logs = some
            continue
        for more in some:
            logs[0].curves |= {before + name: c for name, c in more.curves.items()}
            logs[0].finals |= {before + name: v for name, v in more.finals.items()}
            logs[0].labels |= more.labels
            logs[0].clock = logs[0].clock or more.clock
    for log in logs:
        for key, value in nested.finals.items():
            if is_score(key, asked):
                log.add_final(key, value)
        log.labels = nested.labels | log.labels
        log.params |= nested.params
    return logs


def _is_training(keys: Iterable[str]) -> bool:
    """Return whether lists are of one training: a score and its val_, or a loss.

    A loss beside settings is a table of runs.
    """
    words = [key.casefold().rpartition("/")[2] for key in keys]
    if any(f"val_{word}" in words for word in words):
        return True
    # Keras writes its learning rate beside the scores.
    words = [w for w in words if w not in _RATES or words[0] != "loss"]
    settings = any(names.is_param(w) and not names.is_score(w) for w in words)
    return any("loss" in word for word in words) and not settings


def _rows_of(lists: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return lists beside one of seeds as records of runs; None where there is none."""
    seeds = [k for k in lists if is_role(k.removesuffix("s"), SEEDS)]
    if not seeds or len(lists) < 2 or len(set(map(len, lists.values()))) > 1:
        return None
    called = [k.removesuffix("s") if k in seeds else k for k in lists]
    rows = zip(*lists.values(), strict=True)
    return [dict(zip(called, row, strict=True)) for row in rows]


def _add_pairs(log: Log, nested: _Nested, asked: Asked, name: str) -> None:
    """Add curves that have a step beside each score."""
    pairs = {k: v for k, v in nested.pairs.items() if is_score(k, asked)}
    if pairs and log.curves:
        raise CurvewiseError(
            f"{name} has steps beside the scores of {listed(pairs, most=3)}, and none for "
            f"{listed(log.curves, most=3)}: which belong together is not stated.",
            fixes=[{"metrics": list(pairs)}, {"metrics": list(log.curves)}],
        )
    for key, curve in pairs.items():
        log.curves[key] = (
            _floats([s for s, _ in curve]),
            _floats([v for _, v in curve]),
        )
        log.clock = "step"


def _of_lists(nested: _Nested, asked: Asked, name: str) -> Log:
    """Return lists of scores as curves, by the list of steps or by their places."""
    clocks = _clocks(nested.lists, asked, name)
    curves = {
        k: v
        for k, v in nested.lists.items()
        if k not in clocks.values() and is_score(k, asked)
    }
    used = {clocks.get(key.rpartition("/")[0], clocks.get("")) for key in curves}
    bare = {c.rpartition("/")[2] for c in used if c is not None}
    log = Log(clock=next(iter(bare), None))
    by_length: dict[int, list[str]] = {}
    for key, curve in curves.items():
        step = clocks.get(key.rpartition("/")[0], clocks.get(""))
        if step is not None:
            log.curves[key] = _placed(key, curve, step, nested.lists[step], name)
        else:
            by_length.setdefault(len(curve), []).append(key)
    if len(bare) > 1 or (bare and by_length):
        raise CurvewiseError(
            f"{name} counts steps by {listed(sorted(bare))}, and not those of all its "
            f"lists. Choose some.",
            fixes=[
                {"metrics": list(log.curves)},
                *({"metrics": keys} for keys in by_length.values()),
            ],
        )
    _refuse_lengths(by_length, name)
    if by_length:
        if not (asked.step == ROWS or nested.trained or _is_training(nested.lists)):
            raise uncounted(name, "lists of numbers and none")
        log.curves = {key: _indexed(curve, 0) for key, curve in curves.items()}
        log.clock = "epoch"
    return log


def _clocks(lists: Mapping[str, Any], asked: Asked, name: str) -> dict[str, str]:
    """Return the list that counts steps for each level of names."""
    if asked.step is not None:
        step = step_of(lists, asked, name)
        return (
            {}
            if step is None
            else dict.fromkeys(("", *(key.rpartition("/")[0] for key in lists)), step)
        )
    levels: dict[str, list[str]] = {}
    for key in lists:
        levels.setdefault(key.rpartition("/")[0], []).append(key)
    steps = {level: names.first(names.STEP, keys) for level, keys in levels.items()}
    return {level: step for level, step in steps.items() if step is not None}


def _placed(
    key: str, curve: Any, step: str, counted: Any, name: str
) -> tuple[Floats, Floats]:
    """Return a list of scores by a list of steps."""
    places = _floats(counted)
    if len(curve) != len(places):
        raise CurvewiseError(
            f"{name} has {len(curve)} values of '{key}' and {len(places)} of '{step}'."
        )
    known = np.array([one is not None for one in curve], bool) & ~np.isnan(places)
    if (last := last_pass(Numbers(places, ~np.isnan(places)), name)) is not None:
        known[np.setdiff1d(np.arange(len(places)), last)] = False
    return each_once(places[known], _floats(curve)[known], key, name)


def _indexed(curve: Any, first: int) -> tuple[Floats, Floats]:
    """Return a list of scores by their place; what is missing was not recorded."""
    known = np.array([score is not None for score in curve], bool)
    return np.flatnonzero(known).astype(np.float64) + first, _floats(curve)[known]


def _floats(curve: Any) -> Floats:
    numbers = (number_in(score) if isinstance(score, str) else score for score in curve)
    return np.array(
        [np.nan if score is None else score for score in numbers], np.float64
    )


# --------------------------------------------------------------------------------------
# Histories in memory: of Keras, of Hugging Face's trainer, of xgboost and LightGBM.


def fits_object(source: object, tool: str = "folder") -> bool:
    """Return whether an object holds histories of runs, and cannot be a table."""
    if isinstance(source, Mapping) and _is_history(source):
        refuse_folds(source, "The dict")
    if isinstance(source, Mapping) and _deep_runs(source, tool):
        return True
    if _is_run(source):
        return not _is_history(source) or tool == "keras" or _is_keras(source)
    if not isinstance(source, Mapping | list | tuple) or not source:
        return False
    several = source.values() if isinstance(source, Mapping) else source
    return all(
        _is_run(item)
        or (isinstance(item, list | tuple) and bool(item) and all(map(_is_run, item)))
        for item in several
    )


def logs_by_name(
    source: Any, asked: Asked, tool: str
) -> list[tuple[str | None, int, Log]]:
    """Return the algorithm, the number and the log of every run in an object."""
    if isinstance(source, Mapping) and (deep := _deep_runs(source, tool)):
        return [_deep(path, run, asked, tool) for path, run in deep]
    if _is_run(source) and not _is_mapping_of_histories(source, tool):
        return [(None, 0, _log(source, asked))]
    if not isinstance(source, Mapping):
        return [(None, i, _log(run, asked)) for i, run in enumerate(source)]
    out: list[tuple[str | None, int, Log]] = []
    for name, value in source.items():
        runs = [value] if _is_run(value) else value
        out += [(str(name), i, _log(run, asked)) for i, run in enumerate(runs)]
    return out


def _deep_runs(
    source: Mapping[Any, Any], tool: str
) -> list[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Return runs under names below names, and those with their own configuration."""
    if tool in _BOOSTING:
        return []
    runs = _named_runs(source)
    return [] if all(len(p) == 1 and _is_history(run) for p, run in runs) else runs


def _deep(
    path: tuple[str, ...], value: Mapping[str, Any], asked: Asked, tool: str
) -> tuple[str | None, int, Log]:
    """Return a run with what the names that lead to it say: algorithm, task, seed."""
    name = "/".join(path)
    if _is_history(value):
        log = _history_log(value, None, asked, name)
    else:
        (log,) = logs_of(value, asked, name, tool)
    words = [w for w in path if not w.isdigit() and not _REPLICATE.fullmatch(w)]
    for word, role in zip(words, ("algorithm", "task"), strict=False):
        if not names.every(names.ALGORITHM, log.params):
            log.labels.setdefault(role, word)
    for word in path:
        if word.isdigit():
            log.labels.setdefault("seed", int(word))
        elif match := _REPLICATE.fullmatch(word):
            log.labels.setdefault(match[1].casefold(), int(match[2]))
    log.name = name
    return None, 0, log


def _is_run(value: object) -> bool:
    return (
        _is_history(value)
        or _is_boosting(value)
        or _is_history(getattr(value, "history", None))
        or isinstance(getattr(value, "log_history", None), list)
        or _is_log_history(value)
    )


def _is_log_history(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(record, Mapping) and "step" in record for record in value)
        and any("epoch" in record for record in value)
    )


def _is_keras(history: object) -> bool:
    """Return whether a dict of curves is a history: no column says whose a row is."""
    if not isinstance(history, Mapping):
        return True
    keys = [str(key) for key in history]
    words = (*names.ALGORITHM, *names.TASK, *names.TRIAL, *names.STEP)
    if names.every(words, keys):
        return False
    trained = keys[:1] == ["loss"] and all(
        isinstance(v, list) for v in history.values()
    )
    return trained or any(f"val_{key}" in keys for key in keys)


def _is_mapping_of_histories(source: object, tool: str) -> bool:
    """Return whether {name: {metric: curve}} has names of algorithms, not of data."""
    if not _is_boosting(source) or tool in _BOOSTING:
        return False
    assert isinstance(source, Mapping)  # noqa: S101 a boosting result is one
    if tool == "keras" or all(map(_is_keras, source.values())):
        return True
    if all(DATA_SET.fullmatch(str(key)) for key in source):
        return False
    raise CurvewiseError(
        f"Are {listed(source)} data sets on which one boosted model was scored, or "
        f"algorithms with a history each?",
        fixes=[{"tool": "xgboost"}, {"tool": "keras"}],
    )


def _log(value: Any, asked: Asked) -> Log:
    if _is_boosting(value):
        return _boosting_log(value, asked, "the result")
    if isinstance(value, Mapping):
        return _history_log(value, None, asked, "the history")
    if _is_log_history(value):
        return _trainer_log({"log_history": value}, asked)
    if hasattr(value, "log_history"):
        return _trainer_log({"log_history": value.log_history}, asked)
    epochs = getattr(value, "epoch", None)
    steps = list(epochs) if isinstance(epochs, Sequence) else None
    return _history_log(value.history, steps, asked, "the history")
