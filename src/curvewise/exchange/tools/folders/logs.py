"""What one file of results says: curves, last scores, and what is no score."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, listed, shortened, unknown
from curvewise.exchange.cells import as_text, parsed
from curvewise.exchange.runs import Asked
from curvewise.exchange.tables import load
from curvewise.metrics import Floats
from curvewise.trials import names
from curvewise.trials.columns import Bools

CONFIG_KEYS = frozenset(
    (
        *("config", "configuration", "cfg", "params", "parameters", "hparams"),
        *("hyperparameters", "hyperparams", "hyper_parameters", "args", "arguments"),
        *("settings", "options", "flags", "opt"),
    )
)
SEEDS = (
    *names.TRIAL[1:6],
    "fold",
    "cv_fold",
    "repeat",
    "repetition",
    "rep",
    "replicate",
)
SPLITS = frozenset(
    (
        *("train", "training", "val", "valid", "validation"),
        *("eval", "evaluation", "test", "testing", "dev"),
    )
)
DATA_SET = re.compile(
    rf"({'|'.join(sorted(SPLITS))})(ing|set)?([_-]?\w*)", re.IGNORECASE
)
# Columns that tell the runs of one file apart.
_RUNS = ("run", "trial", "run_name", "run_id", "experiment", "name", "id")
ROWS = "row"  # step="row": rows are steps, in the order in which they stand
_HISTORIES = frozenset(
    ("history", "metrics", "results", "curves", "curve", "logs", "log", "scores")
)
_SPLIT_COLUMNS = frozenset(["split", "phase", "stage", "mode", "subset"])
_MELTED = (("metric", "value"), ("tag", "value"), ("key", "value"), ("name", "value"))
# Clocks, learning rates and the machine's work: read only where metrics= names them.
_NO_SCORE = re.compile(
    r"(.*[/.])?(epochs?|(global_)?steps?|iter(ation)?s?|timesteps?|time|timestamp|"
    r"wall_?time|date|datetime|elapsed|duration|runtime|seconds|total_flos|learning_rate|"
    r"grad_norm|num_input_tokens_seen)|lr([-/_.].*)?|.*_(runtime|per_second|per_sec|flos)",
    re.IGNORECASE,
)
_MOST_DEEP = 32


@dataclass(slots=True)
class Log:
    """What was recorded of one run.

    Parameters
    ----------
    curves : dict of str to (steps, values)
    finals : dict of str to float
        Scores without a step.
    labels, params : dict
    clock : str or None
        What its steps count.
    remarks : list of str
    """

    curves: dict[str, tuple[Floats, Floats]] = field(default_factory=dict)
    finals: dict[str, float] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    clock: str | None = None
    remarks: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.curves or self.finals)

    def add_final(self, name: str, value: float) -> None:
        """Note a last score, unless it repeats the end of a curve of its name."""
        curve = self.curves.get(name)
        if curve is None:
            self.finals[name] = value
        elif len(curve[1]) and curve[1][-1] != value:
            self.finals[f"final/{name}"] = value


def logs_in(path: Path, asked: Asked, *, boosted: bool = False) -> list[Log]:
    """Return the runs of a file: one, or those that its columns tell apart.

    What cannot be read raises an error that says why; a file with no rows has no runs.
    """
    ending = path.suffix.lower()
    if path.stat().st_size == 0:
        return []
    if ending in (".csv", ".tsv"):
        return _of_csv(path, asked)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise CurvewiseError(f"{path.name} is no text in UTF-8.") from None
    if ending in (".yaml", ".yml"):
        return logs_of(yaml_of(text, path.name), asked, path.stem, boosted)
    if ending == ".json":
        try:
            return logs_of(parsed(text), asked, path.stem, boosted)
        except json.JSONDecodeError as problem:
            if problem.msg != "Extra data":  # JSON lines under another name
                raise CurvewiseError(f"{path.name} is no JSON: {problem}.") from None
    return _of_lines(text, asked, path)


def yaml_of(text: str, name: str) -> Any:
    """Return what a text of YAML says; objects of Python are read as texts."""
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("_Plain", (base,), {})
    loader.add_multi_constructor("", _tagged)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 a safe one, without objects
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        reason = shortened(getattr(problem, "problem", None) or problem, 200)
        raise CurvewiseError(f"{name} is no YAML: {reason}.") from None


def _tagged(loader: Any, suffix: str, node: Any) -> Any:
    """Return what stands behind a tag, as plain values; never an object."""
    kind = type(node).__name__
    if kind == "MappingNode":
        return loader.construct_mapping(node, deep=True)
    if kind == "SequenceNode":
        return loader.construct_sequence(node, deep=True)
    return node.value or suffix.rpartition(":")[2]


# --- tables and records ------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Numbers:
    """A column of numbers, and where there is one; NaN is a number that was recorded."""

    values: Floats
    known: Bools

    def take(self, rows: Any) -> "_Numbers":
        return _Numbers(self.values[rows], self.known[rows])


_Columns = tuple[dict[str, _Numbers], dict[str, list[Any]]]


def _of_csv(path: Path, asked: Asked) -> list[Log]:
    with path.open("rb") as file:
        if not b"".join(file.read(65_536).splitlines()[1:2]).strip():
            return []  # the names of columns, and the run died
    table, _ = load(path)
    return _of_columns(_columns_of(table), table.num_rows, asked, path.name)


def _columns_of(table: pa.Table) -> _Columns:
    numbers: dict[str, _Numbers] = {}
    texts: dict[str, list[Any]] = {}
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            values = column.cast(pa.float64()).fill_null(np.nan).to_numpy()
            numbers[name] = _Numbers(values, pc.is_valid(column).to_numpy())
        elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            texts[name] = column.to_pylist()
    return numbers, texts


def _of_lines(text: str, asked: Asked, path: Path) -> list[Log]:
    records, broken = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = parsed(line)
        except ValueError:
            record = None
        if isinstance(record, dict):
            records.append(record)
        else:
            broken.append(number)
    if broken and not records:
        raise CurvewiseError(f"{path.name} is no JSON: line {broken[0]} is no object.")
    logs = _of_records(records, asked, path.name)
    if broken and logs:
        remark = f"line {broken[0]} of {path.name} is no JSON and was left out"
        more = f", and {len(broken) - 1} more like it" if len(broken) > 1 else ""
        logs[0].remarks.append(f"{remark}{more}.")
    return logs


def _of_records(records: Sequence[Any], asked: Asked, name: str) -> list[Log]:
    flat = [flattened(record, "/") for record in records]
    numbers: dict[str, _Numbers] = {}
    texts: dict[str, list[Any]] = {}
    for key in dict.fromkeys(key for record in flat for key in record):
        cells = [record.get(key) for record in flat]
        there = [cell for cell in cells if cell is not None]
        if there and all(is_number(cell) for cell in there):
            known = np.array([cell is not None for cell in cells], bool)
            values = np.array([np.nan if c is None else c for c in cells], np.float64)
            numbers[key] = _Numbers(values, known)
        elif there and all(isinstance(cell, str) for cell in there):
            texts[key] = cells
    return _of_columns((numbers, texts), len(flat), asked, name)


def _of_columns(columns: _Columns, n: int, asked: Asked, name: str) -> list[Log]:
    """Return one log, or one for each combination of labels that the rows differ in."""
    numbers, texts = columns
    if n == 0:
        return []
    numbers, texts = _widened(numbers, texts)
    step = _step_of(numbers, asked, name)
    who = (*names.ALGORITHM, *names.TASK, *SEEDS, *_RUNS)
    roles = [c for c in texts if _is_role(c, who)]
    roles += [c for c in numbers if c != step and _is_role(c, (*SEEDS, *_RUNS[:2]))]
    keys = {c: texts[c] if c in texts else _plain(numbers[c]) for c in roles}
    if step is not None:  # what differs in every row of a curve counts rows
        keys = {c: cells for c, cells in keys.items() if n == 1 or len(set(cells)) < n}
    varying = [c for c, cells in keys.items() if len(set(cells)) > 1]
    fixed = {c: cells[0] for c, cells in keys.items() if c not in varying}
    fixed |= {
        c: cells[0]
        for c, cells in texts.items()
        if c not in keys and cells[0] is not None and len(set(cells)) == 1
    }
    scores = {c: column for c, column in numbers.items() if c not in (*roles, step)}
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row in range(n) if varying else ():
        groups.setdefault(tuple(keys[c][row] for c in varying), []).append(row)
    if not varying:
        groups = {(): list(range(n))}
    logs = []
    for values, rows in groups.items():
        own = {c: column.take(rows) for c, column in scores.items()}
        steps = numbers[step].take(rows) if step else None
        log = _curves(own, steps, len(rows), asked, name)
        log.labels = fixed | dict(zip(varying, values, strict=True))
        log.clock = step or (ROWS if log.curves else None)
        logs.append(log)
    return logs


def _widened(numbers: dict[str, _Numbers], texts: dict[str, list[Any]]) -> _Columns:
    """Return columns in which a row's metric, or its part of the data, is in the name."""
    by = next((c for c in texts if c.casefold() in _SPLIT_COLUMNS), None)
    melted = next(
        ((m, v) for m, v in _MELTED if m in texts and v in numbers and by is None), None
    )
    if melted is None and by is None:
        return numbers, texts
    cells = texts[melted[0] if melted else by or ""]
    wanted = [melted[1]] if melted else _scores(numbers)
    out = {c: column for c, column in numbers.items() if c not in wanted}
    for word in dict.fromkeys(cell for cell in cells if cell):
        rows = np.array([cell == word for cell in cells], bool)
        for c in wanted:
            column = numbers[c]
            if (column.known & rows).any():
                key = word if melted else f"{word}/{c}"
                out[key] = _Numbers(column.values, column.known & rows)
    left = {c: t for c, t in texts.items() if t is not cells}
    return out, left


def _scores(numbers: Mapping[str, _Numbers]) -> list[str]:
    clocks = set(names.every(names.STEP, numbers))
    return [c for c in numbers if c not in clocks and not _is_role(c, SEEDS)]


def _step_of(columns: Mapping[str, Any], asked: Asked, name: str) -> str | None:
    if asked.step == ROWS:
        return None
    if asked.step is not None:
        if asked.step not in columns:
            raise unknown(f"column in {name}", asked.step, columns)
        return asked.step
    return names.first(names.STEP, columns)


def _is_role(column: str, words: Sequence[str]) -> bool:
    return re.sub(r"[\s-]+", "_", column.casefold()) in words


def _plain(column: _Numbers) -> list[Any]:
    cells = zip(column.values.tolist(), column.known.tolist(), strict=True)
    return [
        None if not known else int(value) if value.is_integer() else value
        for value, known in cells
    ]


def _curves(
    columns: Mapping[str, _Numbers],
    steps: _Numbers | None,
    n: int,
    asked: Asked,
    name: str,
) -> Log:
    """Return the curves of one run, whose steps do not go back."""
    log = Log()
    wanted = {c: col for c, col in columns.items() if is_score(c, asked)}
    if steps is None:
        if n == 1:
            log.finals = {c: float(col.values[0]) for c, col in wanted.items()}
            return log
        if asked.step != ROWS:
            raise _uncounted(name, f"{n} rows and no column")
        steps = _Numbers(np.arange(float(n)), np.ones(n, bool))
    _must_go_on(steps, name)
    for c, column in wanted.items():
        loose = column.known & ~steps.known
        if loose.sum() > 1:
            raise CurvewiseError(
                f"{name} has {loose.sum()} values of '{c}' without a step."
            )
        if loose.any():
            log.finals[c] = float(column.values[loose][0])
        rows = np.flatnonzero(column.known & steps.known)
        place, values = _each_once(steps.values[rows], column.values[rows], c, name)
        if len(place):
            log.curves[c] = (place, values)
    return log


def _uncounted(name: str, what: str) -> CurvewiseError:
    return CurvewiseError(
        f"{name} has {what} that counts them, such as 'step': they may be steps of one run "
        f"or runs of their own.",
        fixes=[{"step": ROWS}],
    )


def _is_training(keys: Iterable[str]) -> bool:
    """Return whether lists are of one training: a score and its val_, or a loss.

    A loss beside settings is a table of runs.
    """
    words = [key.casefold().rpartition("/")[2] for key in keys]
    if any(f"val_{word}" in words for word in words):
        return True
    settings = any(names.is_param(w) and not names.is_score(w) for w in words)
    return any("loss" in word for word in words) and not settings


def _must_go_on(steps: _Numbers, name: str) -> None:
    place = steps.values[steps.known]
    back = np.flatnonzero(np.diff(place) < 0)
    if len(back) and not (np.diff(place) < 0).all():
        before, after = place[back[0]], place[back[0] + 1]
        raise CurvewiseError(
            f"In {name} step {after:g} comes after step {before:g}: these are several "
            f"runs, or one that began again."
        )


def _each_once(
    steps: Floats, values: Floats, metric: str, name: str
) -> tuple[Floats, Floats]:
    order = np.argsort(steps, kind="stable")
    steps, values = steps[order], values[order]
    again = np.diff(steps) == 0
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    if (again & ~same).any():
        at = steps[1:][again & ~same][0]
        raise CurvewiseError(
            f"{name} has several values of '{metric}' at step {at:g}: these are several "
            f"runs, or rows of another kind."
        )
    kept = np.append(~again, True) if len(steps) else np.zeros(0, bool)
    return steps[kept], values[kept]


def is_score(name: str, asked: Asked) -> bool:
    """Return whether to read a number: by itself, unless it is a clock or the like."""
    if asked.metrics is not None:
        return asked.wants(name)
    return not _NO_SCORE.fullmatch(name)


# --- nested values -----------------------------------------------------------------------


def logs_of(value: Any, asked: Asked, name: str, boosted: bool = False) -> list[Log]:
    """Return the runs of nested values: histories, records, or last scores.

    With `boosted` names of curves in a dict of dicts are those of data sets.
    """
    if isinstance(value, list) and value:
        if all(isinstance(one, Mapping) for one in value):
            return _of_records(value, asked, name)
        if all(is_number(one) for one in value):
            return _finished(_Found(lists={name: value}), asked, name)
    if isinstance(value, Mapping):
        if isinstance(value.get("log_history"), list):
            return [trainer_log(value, asked)]
        if is_boosting(value):
            if not boosted and not all(DATA_SET.fullmatch(str(key)) for key in value):
                raise CurvewiseError(
                    f"{name} has curves under {listed(value)}: are these data sets on "
                    f"which one boosted model was scored?",
                    fixes=[{"tool": "xgboost"}],
                )
            return [boosting_log(value, asked)]
        found = _Found()
        _walk(value, "", found, 0)
        return _finished(found, asked, name)
    raise CurvewiseError(f"{name} holds no scores but {shortened(as_text(value), 40)}.")


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number that a float can hold, and no yes or no."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | np.integer):
        return abs(int(value)) < 2**1023
    return isinstance(value, float | np.floating)


def is_curve(value: object) -> bool:
    """Return whether a value is a list of numbers, some of them perhaps missing."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "fiu"
    return (
        isinstance(value, list | tuple)
        and any(is_number(one) for one in value)
        and all(one is None or is_number(one) for one in value)
    )


def is_history(value: object) -> bool:
    """Return whether a value is a dict of curves, as Keras keeps them."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(map(is_curve, value.values()))
    )


def is_boosting(value: object) -> bool:
    """Return whether a value is {data set: {metric: curve}}, as xgboost keeps it."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(map(is_history, value.values()))
        and not any(str(key).casefold() in _HISTORIES for key in value)
    )


def boosting_log(value: Mapping[str, Any], asked: Asked) -> Log:
    """Return the curves of a boosted model; a step is a number of rounds."""
    log = Log()
    for part, metrics in value.items():
        for metric, curve in metrics.items():
            name = f"{part}-{metric}"
            if is_score(name, asked):
                log.curves[name] = _indexed(curve, 1)
    log.clock = "round"
    return log


def history_log(
    history: Mapping[str, Any], epochs: Sequence[float] | None, asked: Asked, name: str
) -> Log:
    """Return the curves of a history by epoch; Keras calls the first one 0."""
    lists = {str(key): list(curve) for key, curve in history.items()}
    if epochs is not None and all(len(one) == len(epochs) for one in lists.values()):
        lists.setdefault("epoch", list(epochs))
    log = _finished(_Found(lists=lists, trained=True), asked, name)[0]
    log.clock = "epoch"
    return log


def trainer_log(state: Mapping[str, Any], asked: Asked) -> Log:
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
    drawn = state.get("trial_params")
    if isinstance(drawn, Mapping):
        log.params = flattened(drawn, ".")
    return log


@dataclass(slots=True)
class _Found:
    """Numbers, lists, records and settings of nested values, by name."""

    lists: dict[str, Any] = field(default_factory=dict)
    records: dict[str, list[Any]] = field(default_factory=dict)
    finals: dict[str, float] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    trained: bool = False


def _walk(value: Mapping[Any, Any], before: str, found: _Found, depth: int) -> None:
    for key, one in value.items():
        name = f"{before}{key}"
        bare = str(key).casefold()
        if isinstance(one, Mapping) and bare in CONFIG_KEYS:
            found.params |= flattened(one, ".")
        elif isinstance(one, Mapping) and depth < _MOST_DEEP:
            inner = before if bare in _HISTORIES else f"{name}/"
            found.trained |= bare.endswith("history")
            _walk(one, inner, found, depth + 1)
        elif is_curve(one):
            found.lists[name] = one
        elif isinstance(one, list) and one and all(isinstance(r, Mapping) for r in one):
            found.records[before if bare in _HISTORIES else f"{name}/"] = one
        elif is_number(one):
            role = _is_role(bare, (*SEEDS, *names.ALGORITHM, *names.TASK))
            if role:
                found.labels[str(key)] = one
            elif names.is_param(name) and not names.is_score(name):
                found.params[name.replace("/", ".")] = one
            else:
                found.finals[name] = float(one)
        elif isinstance(one, str | bool):
            found.labels[name] = one


def _finished(found: _Found, asked: Asked, name: str) -> list[Log]:
    """Return nested values as runs: several only where records tell them apart."""
    logs = [_of_lists(found, asked, name) if found.lists else Log()]
    for key, records in found.records.items():
        before = key if len(found.records) > 1 or found.lists else ""
        some = _of_records(records, asked, name)
        if len(some) > 1 and (len(found.records) > 1 or logs[0]):
            raise CurvewiseError(f"{name} holds records of {len(some)} runs, and more.")
        if len(some) > 1:
            logs = some
            continue
        for one in some:
            logs[0].curves |= {before + name: c for name, c in one.curves.items()}
            logs[0].finals |= {before + name: v for name, v in one.finals.items()}
            logs[0].labels |= one.labels
            logs[0].clock = logs[0].clock or one.clock
    for log in logs:
        for key, value in found.finals.items():
            if is_score(key, asked):
                log.add_final(key, value)
        log.labels = found.labels | log.labels
        log.params |= found.params
    return logs


def _of_lists(found: _Found, asked: Asked, name: str) -> Log:
    """Return lists of scores as curves, by the list of steps or by their places."""
    step = _step_of(found.lists, asked, name)
    curves = {k: v for k, v in found.lists.items() if k != step and is_score(k, asked)}
    log = Log(clock=step)
    by_length: dict[int, list[str]] = {}
    for key, curve in curves.items():
        by_length.setdefault(len(curve), []).append(key)
    if len(by_length) > 1:
        raise CurvewiseError(
            f"{name} has lists of different lengths, such as "
            f"{listed([keys[0] for keys in by_length.values()], most=3)}: at which steps "
            f"they were recorded, nobody says.",
            fixes=[{"metrics": keys} for keys in by_length.values()],
        )
    if step is None:
        if not (asked.step == ROWS or found.trained or _is_training(found.lists)):
            raise _uncounted(name, "lists of numbers and none")
        log.curves = {key: _indexed(curve, 0) for key, curve in curves.items()}
        log.clock = "epoch" if curves else None
        return log
    places = _floats(found.lists[step])
    _must_go_on(_Numbers(places, ~np.isnan(places)), name)
    for key, curve in curves.items():
        if len(curve) != len(places):
            raise CurvewiseError(
                f"{name} has {len(curve)} values of '{key}' and {len(places)} of '{step}'."
            )
        known = np.array([one is not None for one in curve], bool) & ~np.isnan(places)
        log.curves[key] = _each_once(places[known], _floats(curve)[known], key, name)
    return log


def _indexed(curve: Any, first: int) -> tuple[Floats, Floats]:
    """Return a list of scores by their place; what is missing was not recorded."""
    known = np.array([one is not None for one in curve], bool)
    return np.flatnonzero(known).astype(np.float64) + first, _floats(curve)[known]


def _floats(curve: Any) -> Floats:
    return np.array([np.nan if one is None else one for one in curve], np.float64)


def flattened(values: Mapping[Any, Any], joint: str) -> dict[str, Any]:
    """Return nested values under joined names; lists are kept as JSON.

    >>> flattened({"optim": {"lr": 0.1}, "layers": [8, 8]}, ".")
    {'optim.lr': 0.1, 'layers': '[8, 8]'}
    """
    out: dict[str, Any] = {}
    waiting: list[tuple[str, Any, int]] = [(str(k), v, 0) for k, v in values.items()][
        ::-1
    ]
    while waiting:
        name, value, depth = waiting.pop()
        if isinstance(value, Mapping) and depth < _MOST_DEEP:
            inner = [(f"{name}{joint}{k}", v, depth + 1) for k, v in value.items()]
            waiting += inner[::-1]
        elif value is None or isinstance(value, str | bool) or is_number(value):
            out[name] = value
        else:
            out[name] = as_text(value)
    return out


def told_apart(logs: Sequence[Log]) -> Iterator[tuple[str, Log]]:
    """Yield the logs of a file, each with what tells it from the others in its name."""
    if len(logs) == 1:
        yield "", logs[0]
        return
    every = list(dict.fromkeys(key for log in logs for key in log.labels))
    varying = [k for k in every if len({str(log.labels.get(k)) for log in logs}) > 1]
    if not varying:
        raise CurvewiseError(
            f"It holds {len(logs)} runs that {listed(every)} do not tell."
        )
    for log in logs:
        yield ",".join(f"{k}={log.labels.get(k)}" for k in varying), log
