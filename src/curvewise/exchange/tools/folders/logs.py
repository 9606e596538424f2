"""What a table or records say of runs: curves, last scores, and what is no score."""

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curvewise.errors import CurvewiseError, Keyword, listed, unknown
from curvewise.exchange.run_names import SEEDS
from curvewise.exchange.runs import Asked, flattened, is_number, objects_in
from curvewise.exchange.tables import load
from curvewise.metrics import Floats
from curvewise.trials import names
from curvewise.trials.columns import Bools

_WRAPPED = re.compile(
    r"(?:\w+\.)*(?:tensor|array|float(?:16|32|64)?|int(?:32|64)?)\(\s*\[?([^,\])]+)\]?"
    r"\s*(?:,.*)?\)",
    re.IGNORECASE | re.DOTALL,
)
_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_NO_SCORES = {
    *names.ENDED_BADLY,
    *names.ENDED_WELL,
    *names.PERHAPS_ENDED_BADLY,
    *names.PERHAPS_ENDED_WELL,
    *names.ERROR_TEXT,
    *names.STATUS,
}


@dataclass(slots=True, eq=False)
class Numbers:
    """A column of numbers, and where there is one; NaN is a number that was recorded."""

    values: Floats
    known: Bools

    def take(self, rows: Any) -> "Numbers":
        """Return some of the rows."""
        return Numbers(self.values[rows], self.known[rows])


def number_in(text: str) -> float | None:
    """Return the number that a text says, as "50%" and "tensor(0.5)" do, or None."""
    bare = text.strip()
    if wrapped := _WRAPPED.fullmatch(bare):
        bare = wrapped[1].strip()
    percent = bare.endswith("%")
    try:
        value = float(bare.rstrip("% "))
    except ValueError:
        return None
    return value / 100 if percent else value


def may_be_score(name: str) -> bool:
    """Return whether texts and yes or no under a name may be scores, and not an end."""
    word = re.split(r"[./]", name.casefold())[-1]
    return word not in _NO_SCORES


def _column_of(name: str, cells: Sequence[Any]) -> Numbers | None:
    """Return cells as numbers, where that is what they are; words among them are none.

    Words among numbers, such as "diverged", count as not a number.
    """
    known = np.array([cell is not None and cell != "" for cell in cells], bool)
    there = [cell for cell, is_there in zip(cells, known, strict=True) if is_there]
    numbers: Sequence[float | None] | None = None
    if there and all(is_number(cell) for cell in there):
        numbers = there
    elif there and may_be_score(name):
        if all(isinstance(cell, bool) for cell in there):
            numbers = [float(cell) for cell in there]
        elif all(isinstance(cell, str) or is_number(cell) for cell in there):
            numbers = _numbers_in(name, there)
    if numbers is None:
        return None
    values = np.full(len(cells), np.nan)
    values[known] = [np.nan if one is None else one for one in numbers]
    return Numbers(values, known)


def _numbers_in(name: str, cells: Sequence[Any]) -> list[float | None] | None:
    """Return the numbers that cells say; None where they are words for the most part."""
    with_commas = _with_commas(name, cells)
    numbers = [
        with_commas.get(c, number_in(c)) if isinstance(c, str) else float(c)
        for c in cells
    ]
    n = sum(one is not None for one in numbers)
    return numbers if n and (2 * n >= len(numbers) or names.is_score(name)) else None


def _with_commas(name: str, cells: Sequence[Any]) -> dict[Any, float]:
    """Return what cells with decimal commas say."""
    commas = {c for c in cells if isinstance(c, str) and _COMMA.fullmatch(c.strip())}
    if commas and all(_THOUSANDS.fullmatch(c.strip()) for c in commas):
        if names.first(names.STEP, [name]):
            return {c: float(c.replace(",", "")) for c in commas}
        raise CurvewiseError(
            f"'{name}' holds {listed(sorted(commas), most=2)}, where the comma may be a "
            f"decimal point or group thousands. Write the numbers without it."
        )
    return {c: float(c.replace(",", ".")) for c in commas}


# --- What a table or records say of runs: curves, last scores, and what is no score ----


# In a folder's files the first of these goes before the others.
CONFIG_KEYS = (
    "config configuration cfg hparams hyperparameters hyperparams hyper_parameters params "
    "parameters args arguments opt options settings flags"
).split()
SPLITS = frozenset(
    "train training val valid validation eval evaluation test testing dev".split()
)
DATA_SET = re.compile(
    rf"({'|'.join(sorted(SPLITS))})(ing|set)?([_-]?\w*)", re.IGNORECASE
)
# Columns that tell the runs of one file apart.
_RUNS = ("run", "trial", "run_name", "run_id", "experiment", "name", "id")
_WHO = (*names.ALGORITHM, *names.TASK, *SEEDS, *_RUNS)
ROWS = "row"  # step="row": rows are steps, in the order in which they stand
HISTORIES = frozenset("history metrics results curves curve logs log scores".split())
_SPLIT_COLUMNS = frozenset("split phase stage mode subset".split())
_MELTED = (("metric", "value"), ("tag", "value"), ("key", "value"), ("name", "value"))
# Clocks, learning rates and the machine's work: read only where metrics= names them.
_NO_SCORE = re.compile(
    r"(.*[/.])?(epochs?|(global_)?steps?|iter(ation)?s?|timesteps?|time|timestamp|"
    r"wall_?time|date|datetime|elapsed|duration|runtime|seconds|total_flos|learning_rate|"
    r"grad_norm|num_input_tokens_seen)|lr([-/_.].*)?|.*_(runtime|per_second|per_sec|flos)",
    re.IGNORECASE,
)
# Names that count something, without being usual ones of steps.
_CLOCK = re.compile(
    r"step|epoch|iter|episode|frame|token|round|update|batch|interact|sample|game|"
    r"generation|(^|_)t$",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Log:
    """What was recorded of one run."""

    curves: dict[str, tuple[Floats, Floats]] = field(default_factory=dict)
    finals: dict[str, float] = field(default_factory=dict)  # scores without a step
    labels: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)  # params from files beside it
    clock: str | None = None  # what its steps count
    remarks: list[str] = field(default_factory=list)
    name: str = ""  # also what a file calls it that holds several
    status: str = "finished"
    error: str = ""
    # The last step of the file that a curve is from, where there are several.
    ends: dict[str, float] = field(default_factory=dict)

    @property
    def has_scores(self) -> bool:
        """Whether anything was scored."""
        return bool(self.curves or self.finals)

    def last(self, metric: str | None = None) -> float:
        """Return the last step of the run, or of the file that a metric is from."""
        if metric in self.ends:
            return self.ends[metric]
        steps = (float(s[-1]) for s, _ in self.curves.values() if len(s))
        return max(steps, default=0.0)

    def add_final(self, name: str, value: float) -> None:
        """Note a last score, unless it repeats the end of a curve of its name."""
        curve = self.curves.get(name)
        if curve is None:
            self.finals[name] = value
        elif len(curve[1]) and curve[1][-1] != value:
            self.finals[f"final/{name}"] = value


# --- tables and records ------------------------------------------------------------------


_Columns = tuple[dict[str, Numbers], dict[str, list[Any]]]


def table_logs(path: Path, asked: Asked) -> list[Log]:
    """Return the runs of a CSV file."""
    with pa.input_stream(path) as file:
        head = file.read(65_536)
    if len(head) < 65_536 and sum(bool(x.strip()) for x in head.splitlines()) < 2:
        return []  # the names of columns, and the run died
    table, remarks = _table_of(path)
    refuse_folds(table.column_names, path.name)
    columns, n, again = _columns_of(table)
    logs = _of_columns(columns, n, asked, path.name, resumed=again)
    for log in logs[:1]:
        log.remarks += remarks
    return logs


def _table_of(path: Path) -> tuple[pa.Table, list[str]]:
    """Return a table without a last line that was cut, and what to say of that."""
    is_cut = ["its last line is cut, and was left out."]
    try:
        table, _ = load(path)
    except CurvewiseError:
        if path.suffix.lower() not in (".csv", ".tsv"):
            raise
        lines = path.read_bytes().rstrip(b"\r\n\t \0").split(b"\n")
        sign = max(b",;\t", key=lines[0].count)
        if len(lines) < 3 or lines[-1].count(sign) == lines[0].count(sign):
            raise
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            copy.write_bytes(b"\n".join(lines[:-1]))
            table, _ = load(copy)
        return table, is_cut
    last = table.num_rows - 1
    words = [c for c in table.columns if pa.types.is_string(c.type)]
    if any("\0" in (column[last].as_py() or "") for column in words):
        return table.slice(0, last), is_cut
    return table, []


def _columns_of(table: pa.Table) -> tuple[_Columns, int, bool]:
    """Return columns, how many rows, and whether names of columns stand among these."""
    headings = _headings(table)
    if headings is not None:
        table = table.filter(pc.invert(headings))
    numbers: dict[str, Numbers] = {}
    texts: dict[str, list[Any]] = {}
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            values = column.cast(pa.float64()).to_numpy()  # a gap becomes NaN
            numbers[name] = Numbers(values, pc.is_valid(column).to_numpy())
        elif not pa.types.is_null(column.type):
            _sort_out(name, column.to_pylist(), numbers, texts)
    return (numbers, texts), table.num_rows, headings is not None


def _headings(table: pa.Table) -> pa.ChunkedArray | None:
    """Return the rows that repeat the names of the columns, as resumed runs write them."""
    kinds = [field.type for field in table.schema]
    if not kinds or not all(pa.types.is_string(kind) for kind in kinds):
        return None
    rows = pc.equal(table.column(0), table.column_names[0]).fill_null(False)
    for i, name in enumerate(table.column_names):
        rows = pc.and_(rows, pc.equal(table.column(i), name).fill_null(False))
    return rows if pc.any(rows).as_py() else None


def _sort_out(
    name: str,
    cells: list[Any],
    numbers: dict[str, Numbers],
    texts: dict[str, list[Any]],
) -> None:
    """Put cells among the numbers or the texts; names of runs stay as they are."""
    is_text = any(isinstance(cell, str) for cell in cells)
    column = None if is_text and is_role(name, _WHO) else _column_of(name, cells)
    if column is not None:
        numbers[name] = column
    elif is_text:
        texts[name] = [cell if cell is None else str(cell) for cell in cells]


def line_logs(text: str, asked: Asked, path: Path) -> list[Log]:
    """Return the runs of JSON lines; a line that was torn is left out and told."""
    records, broken = objects_in(text.split("\n"))
    if broken and not records:
        raise CurvewiseError(f"{path.name} is no JSON: line {broken[0]} is no object.")
    logs = record_logs(records, asked, path.name)
    if broken and logs:
        remark = f"line {broken[0]} of {path.name} is no JSON and was left out"
        more = f", and {len(broken) - 1} more like it" if len(broken) > 1 else ""
        logs[0].remarks.append(f"{remark}{more}.")
    return logs


def record_logs(records: Sequence[Any], asked: Asked, name: str) -> list[Log]:
    """Return the runs of records with one row each."""
    flat = [flattened(record, "/") for record in records]
    numbers: dict[str, Numbers] = {}
    texts: dict[str, list[Any]] = {}
    for key in dict.fromkeys(key for record in flat for key in record):
        _sort_out(key, [record.get(key) for record in flat], numbers, texts)
    return _of_columns((numbers, texts), len(flat), asked, name)


def _of_columns(
    columns: _Columns, n: int, asked: Asked, name: str, *, resumed: bool = False
) -> list[Log]:
    """Return one log, or one for each combination of labels that the rows differ in."""
    numbers, texts = columns
    if n == 0:
        return []
    numbers, texts = _widened(numbers, texts)
    step = step_of(numbers, asked, name)
    roles = [c for c in texts if is_role(c, _WHO)]
    roles += [c for c in numbers if c != step and is_role(c, (*SEEDS, *_RUNS[:2]))]
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
        part = {c: column.take(rows) for c, column in scores.items()}
        steps = numbers[step].take(rows) if step else None
        log = _curves(part, steps, len(rows), asked, name, resumed=resumed)
        log.labels = fixed | dict(zip(varying, values, strict=True))
        log.clock = step or (ROWS if log.curves else None)
        logs.append(log)
    return logs


def _widened(numbers: dict[str, Numbers], texts: dict[str, list[Any]]) -> _Columns:
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
                out[key] = Numbers(column.values, column.known & rows)
    rest = {c: t for c, t in texts.items() if t is not cells}
    return out, rest


def _scores(numbers: Mapping[str, Numbers]) -> list[str]:
    clocks = set(names.every(names.STEP, numbers))
    return [c for c in numbers if c not in clocks and not is_role(c, SEEDS)]


def step_of(columns: Mapping[str, Any], asked: Asked, name: str) -> str | None:
    """Return the column that counts steps; None where rows do, or nothing."""
    if asked.step == ROWS:
        return None
    if asked.step is not None:
        if asked.step not in columns:
            raise unknown(f"column in {name}", asked.step, columns)
        return asked.step
    return names.first(names.STEP, columns)


def is_role(column: str, words: Sequence[str]) -> bool:
    """Return whether a column has one of the usual names."""
    return re.sub(r"[\s-]+", "_", column.casefold()) in words


def _plain(column: Numbers) -> list[Any]:
    cells = zip(column.values.tolist(), column.known.tolist(), strict=True)
    return [
        None if not known else int(value) if value.is_integer() else value
        for value, known in cells
    ]


def _curves(
    columns: Mapping[str, Numbers],
    steps: Numbers | None,
    n: int,
    asked: Asked,
    name: str,
    *,
    resumed: bool,
) -> Log:
    """Return the curves of one run; of passes over the same steps the last counts."""
    log = Log()
    wanted = {c: col for c, col in columns.items() if is_score(c, asked)}
    if steps is None:
        if n == 1:
            log.finals = {c: float(col.values[0]) for c, col in wanted.items()}
            return log
        if asked.step != ROWS:
            raise uncounted(name, f"{n} rows and no column", wanted)
        steps = Numbers(np.arange(float(n)), np.ones(n, bool))
    if (last := last_pass(steps, name, resumed=resumed, others=columns)) is not None:
        log.remarks.append(
            f"{n - len(last)} of {n} rows came before it went back over its steps, as "
            f"resumed runs do: the last pass counts."
        )
        steps = steps.take(last)
        wanted = {c: column.take(last) for c, column in wanted.items()}
    for c, column in wanted.items():
        loose = column.known & ~steps.known
        if loose.sum() > 1:
            raise CurvewiseError(
                f"{name} has {loose.sum()} values of '{c}' without a step."
            )
        if loose.any():
            log.finals[c] = float(column.values[loose][0])
        rows = np.flatnonzero(column.known & steps.known)
        place, values = each_once(steps.values[rows], column.values[rows], c, name)
        if len(place):
            log.curves[c] = (place, values)
    return log


def uncounted(
    name: str, what: str, columns: Mapping[str, Numbers] | None = None
) -> CurvewiseError:
    """Return the question what counts the steps, with the columns that may."""
    clocks = [c for c, column in (columns or {}).items() if _may_count(c, column)]
    return CurvewiseError(
        f"{name} has {what} that counts them, such as 'step': they may be steps of one run "
        f"or runs of their own.",
        fixes=[{"step": c} for c in clocks] or [{"step": ROWS}],
    )


def _may_count(name: str, column: Numbers) -> bool:
    """Return whether whole numbers that only rise have a name that may be a clock's."""
    values = column.values
    rises = bool(column.known.all() and (np.diff(values) > 0).all())
    return rises and bool((values % 1 == 0).all()) and _CLOCK.search(name) is not None


def _has_outer(columns: Mapping[str, Numbers]) -> bool:
    """Return whether another clock goes on while steps begin again, as epochs do."""
    outer = [columns[c].values for c in names.every(names.STEP, columns)]
    return any((np.diff(v) >= 0).all() and len(v) and v[0] < v[-1] for v in outer)


def last_pass(
    steps: Numbers,
    name: str,
    *,
    resumed: bool = False,
    others: Mapping[str, Numbers] | None = None,
) -> Any:
    """Return the rows that no later pass goes over; None for all.

    A run that goes on in the middle was resumed. One that begins where the first began
    may be another run, or a part of this one.
    """
    place = steps.values[steps.known]
    back = np.flatnonzero(np.diff(place) < 0)
    if not len(back) or (np.diff(place) < 0).all():
        return None
    again = place[back + 1]
    if not resumed and not all(
        at > place[0] and at in place[:end]
        for at, end in zip(again, back + 1, strict=True)
    ):
        before, after = place[back[0]], place[back[0] + 1]
        raise CurvewiseError(
            f"In {name} step {after:g} comes after step {before:g}: these are "
            "several runs, or one that began again, or steps that begin again in "
            "each epoch. ",
            Keyword("step", "row"),
            " counts the rows of one run.",
            fixes=[{"step": ROWS}] if len(back) > 1 or _has_outer(others or {}) else (),
        )
    filled = np.where(steps.known, steps.values, np.inf)
    later = np.minimum.accumulate(filled[::-1])[::-1]
    is_last = np.append(filled[:-1] < later[1:], True) | ~steps.known
    return np.flatnonzero(is_last)


def each_once(
    steps: Floats, values: Floats, metric: str, name: str
) -> tuple[Floats, Floats]:
    """Return scores by rising steps, each once; refuse two at one step."""
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
    is_last = np.append(~again, True) if len(steps) else np.zeros(0, bool)
    return steps[is_last], values[is_last]


def is_score(name: str, asked: Asked) -> bool:
    """Return whether to read a number: by itself, unless it is a clock or the like."""
    if asked.metrics is not None:
        return asked.wants(name)
    return not _NO_SCORE.fullmatch(name)


def told_apart(logs: Sequence[Log]) -> Iterator[tuple[str, Log]]:
    """Yield the logs of a file, each with what tells it from the others in its name."""
    if len(logs) == 1:
        yield "", logs[0]
        return
    if all(log.name for log in logs):
        yield from ((log.name, log) for log in logs)
        return
    labels = [{**log.params, **log.labels} for log in logs]
    every = list(dict.fromkeys(key for one in labels for key in one))
    varying = [k for k in every if len({str(one.get(k)) for one in labels}) > 1]
    if not varying:
        raise CurvewiseError(
            f"It holds {len(logs)} runs that {listed(every)} do not tell."
        )
    for log, one in zip(logs, labels, strict=True):
        yield ",".join(f"{k}={one.get(k)}" for k in varying), log


def refuse_folds(columns: Iterable[object], name: str) -> None:
    """Raise for results of xgb.cv and lgb.cv: means of folds by round."""
    keys = {str(key) for key in columns}
    means = {key.removesuffix("-mean") for key in keys if key.endswith("-mean")}
    spread = [m for m in sorted(means) if {f"{m}-std", f"{m}-stdv"} & keys]
    if spread:
        raise CurvewiseError(
            f"{name} holds means over folds by round ('{spread[0]}-mean' and its spread), "
            f"as cv() of xgboost and LightGBM returns them: no scores of runs. Train each "
            f"fold with evals_result and pass those."
        )
