"""Runs as another tool kept them, before anybody said what its names mean."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, Message, listed, shortened
from curvewise.metrics import Direction, Floats, Metric
from curvewise.text import count
from curvewise.trials.columns import Ints


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller asked for, as far as it helps to read less."""

    step: str | None = None  # what to count by, where a tool keeps several clocks
    metrics: tuple[str, ...] | None = (
        None  # the only ones that are wanted; None for all
    )
    params: Mapping[str, Any] | None = None  # for outputs that do not hold them
    tasks: tuple[str, ...] | None = None  # in order, for arrays without names of tasks
    names: tuple[str, ...] = ()  # columns said to name algorithms, tasks or runs

    def wants(self, metric: str) -> bool:
        """Return whether a metric is among those asked for."""
        return self.metrics is None or metric in self.metrics

    def must_count_by(self, clocks: Sequence[str], source: str) -> None:
        """Raise where steps are to be counted by what a source does not have."""
        if self.step is None or self.step in clocks:
            return
        if clocks:
            counts = f"counts by {listed(clocks)}. Pass one of these, or leave it out."
        else:
            counts = "has one score per run, without steps. Leave it out."
        raise CurvewiseError(
            f"step is '{shortened(self.step)}', and {source} {counts}",
            argument="step",
            value=self.step,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Scalars:
    """Scores as tools log them, one per place; later ones were written later."""

    run: Ints  # the row in the table of runs
    metric: Ints  # the place in `names`
    step: Floats
    value: Floats
    names: tuple[str, ...]

    def take(self, rows: Any) -> "Scalars":
        """Return some of the scores."""
        return replace(
            self,
            run=self.run[rows],
            metric=self.metric[rows],
            step=self.step[rows],
            value=self.value[rows],
        )

    def of_runs(self, rows: Ints, n: int) -> "Scalars":
        """Return the scores of some of n runs, which get new places."""
        place = np.full(n, -1)
        place[rows] = np.arange(len(rows))
        run = place[self.run]
        return replace(self, run=run).take(run >= 0)

    def that_logged(self) -> "Scalars":
        """Return scores without the names of metrics that nobody logged."""
        used = np.flatnonzero(np.bincount(self.metric, minlength=len(self.names)))
        place = np.full(len(self.names), -1)
        place[used] = np.arange(len(used))
        names = tuple(self.names[i] for i in used.tolist())
        return replace(self, metric=place[self.metric], names=names)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Runs, or other things, that could not be used, and why."""

    n: int
    why: str  # ends a sentence that begins with the number: "deleted in MLflow"
    examples: tuple[str, ...] = ()
    what: str = "run"  # in the singular

    def __str__(self) -> str:
        return str(self.text)

    @property
    def text(self) -> Message:
        """How many, of what, why, and such as which."""
        such = f" (such as {listed(self.examples, most=2)})" if self.examples else ""
        return Message(f"{count(self.n, self.what)} ", self.why, such)


def left_out(names: Iterable[str], why: str, what: str = "run") -> tuple[LeftOut, ...]:
    """Return things by name as something left out; nothing where there are none."""
    names = list(names)
    return (LeftOut(len(names), why, tuple(names[:2]), what),) if names else ()


CROSSED = " + "  # between the names of settings that may be the task together
Meant: TypeAlias = Mapping[str, Metric | Direction]


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs as another tool kept them.

    The table has one row per run, in plain columns. "run" is the name that people know it
    by. A column that begins with "params." (or another usual prefix) is a hyperparameter;
    "status" is in the tool's own words; "seconds" and "error_text" where known. All other
    columns become labels.
    """

    source: str  # what was read, for messages: "MLflow store mlflow.db"
    table: pa.Table
    scalars: Scalars
    # The column that the tool itself gives the role of "task", "algorithm" or "trial",
    # unless a better one is found.
    usual: Mapping[str, str] = field(default_factory=dict)
    meant: Meant = field(default_factory=dict)  # what the tool knows about its metrics
    steps: str = "step"  # what steps count; empty where a run has one score
    left_out: Sequence[LeftOut] = ()
    remarks: Sequence[str] = ()  # what to know: gaps, damage, assumptions
    # Whether params and attributes, which a search drew or wrote, take a role only if the
    # caller says so: a drawn "classifier" is no algorithm of its own.
    closed: bool = False
    # Keywords of `curvewise.read`, each of which says who the algorithm is.
    fixes: Sequence[Mapping[str, Any]] = ()
    others: Sequence[str] = ()  # tools whose results stand beside these


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Results of another tool as one table whose roles are known."""

    source: str  # what was read, for messages
    table: pa.Table  # as `curvewise.read` takes it
    # Keywords of `curvewise.read`; what the caller states goes before.
    stated: Mapping[str, Any] = field(default_factory=dict)
    left_out: Sequence[LeftOut] = ()
    remarks: Sequence[str] = ()


class Gathered:
    """Runs that are read one by one, and the files that cannot be read."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.unread: list[tuple[str, CurvewiseError]] = []
        self._curves: list[tuple[int, str, Floats, Floats]] = []

    def add(
        self, row: dict[str, Any], curves: Iterable[tuple[str, Floats, Floats]]
    ) -> None:
        """Add a run: what is known of it, and its metrics with steps and values."""
        self._curves += [(len(self.rows), *curve) for curve in curves]
        self.rows.append(row)

    @contextmanager
    def reading(self, file: str) -> Iterator[None]:
        """Note a file that cannot be read, and go on."""
        try:
            yield
        except CurvewiseError as problem:
            self.unread.append((file, problem))

    def must_have_runs(self) -> None:
        """Raise what the first file is like where none can be read."""
        if self.unread and not self.rows:
            raise self.unread[0][1]

    def left_out(self, what: str) -> tuple[LeftOut, ...]:
        """Return the files that cannot be read as something left out."""
        if not self.unread:
            return ()
        reason = shortened(self.unread[0][1].message.rstrip("."), 200)
        why = Message("that cannot be read, first: ", reason)
        return (LeftOut(len(self.unread), why, what=what),)

    def table(self) -> pa.Table:
        """Return what is known of the runs."""
        return table_of(self.rows)

    def scalars(self) -> Scalars:
        """Return the scores of the runs."""
        return joined_scalars(self._curves)


def joined_scalars(curves: Iterable[tuple[int, str, Floats, Floats]]) -> Scalars:
    """Return scores that came curve by curve: row of the run, metric, steps, values."""
    curves = list(curves)
    names = list(dict.fromkeys(name for _, name, *_ in curves))
    place = {name: i for i, name in enumerate(names)}
    sizes = np.array([len(steps) for *_, steps, _ in curves], np.int64)
    return Scalars(
        np.repeat(np.array([run for run, *_ in curves], np.int64), sizes),
        np.repeat(np.array([place[name] for _, name, *_ in curves], np.int64), sizes),
        np.concatenate([np.empty(0), *(steps for *_, steps, _ in curves)]),
        np.concatenate([np.empty(0), *(values for *_, values in curves)]),
        tuple(names),
    )


def scalars_by_metric(
    columns: Iterable[tuple[str, float, Ints, Floats]],
) -> Scalars:
    """Return scores that came metric by metric: at one step, rows of runs, values."""
    columns = list(columns)
    names = list(dict.fromkeys(name for name, *_ in columns))
    sizes = np.array([len(rows) for *_, rows, _ in columns], np.int64)
    codes = np.array([names.index(name) for name, *_ in columns], np.int64)
    steps = np.array([step for _, step, *_ in columns], np.float64)
    return Scalars(
        np.concatenate([np.empty(0, np.int64), *(rows for *_, rows, _ in columns)]),
        np.repeat(codes, sizes),
        np.repeat(steps, sizes),
        np.concatenate([np.empty(0), *(values for *_, values in columns)]),
        tuple(names),
    )


# --- Values as tools wrote them, made fit for a column: what is odd becomes a text -----


_HALF = "\\ud"  # how JSON begins one half of a character, which may lack the other
_PLAIN = {float, str, bool, type(None)}
_TOO_LARGE = 2**1023  # of whole numbers that can be floats
_MOST_DEEP = 32  # levels of nested values, each in the name of what is below


def utf8(text: str) -> str:
    """Return a text that can be written: odd bytes in names of files become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def array_of(cells: Sequence[Any]) -> pa.Array:
    """Return cells as a column: as they are if they are of one kind, as texts if not.

    >>> array_of([1, None, 2]).to_pylist(), array_of([1, "a", None]).to_pylist()
    ([1, None, 2], ['1', 'a', None])
    """
    try:
        return pa.array(cells)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array(
            [None if cell is None else utf8(str(cell)) for cell in cells], pa.string()
        )


def table_of(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows as a table; without any it has a column for names of runs."""
    if not rows:
        return pa.table({"run": pa.array([], pa.string())})
    return pa.table({name: array_of(cells) for name, cells in columns_of(rows).items()})


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows column by column, None where a row lacks one."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def parsed(text: str) -> Any:
    r"""Return what a text of JSON says; a ValueError says that it is none.

    Half a character, which JSON allows and nobody can write, becomes a question mark.

    >>> parsed('{"a": "\\ud800!"}')
    {'a': '?!'}
    """
    try:
        value = json.loads(text)
        if _HALF not in text.casefold():
            return value
        whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return json.loads(whole)
    except RecursionError as problem:
        raise ValueError("It is too deep.") from problem


def objects_in(lines: Iterable[str]) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the objects of JSON lines, and the numbers of lines that are none."""
    objects, broken = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = parsed(line)
        except ValueError:
            value = None
        if isinstance(value, dict):
            objects.append(value)
        else:
            broken.append(number)
    return objects, broken


def as_text(value: Any) -> str:
    """Return what is no plain cell as a text."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, default=str)
    except (RecursionError, ValueError):  # deep, or around in a circle
        return f"<{type(value).__name__}>"


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number that a float can hold, and no yes or no."""
    if isinstance(value, float):
        return True
    if isinstance(value, int):
        return not isinstance(value, bool) and -_TOO_LARGE < value < _TOO_LARGE
    return isinstance(value, np.floating | np.integer)


def flattened(values: Mapping[Any, Any], joint: str) -> dict[str, Any]:
    """Return nested values under joined names; lists are kept as JSON.

    >>> flattened({"optim": {"lr": 0.1}, "layers": [8, 8]}, ".")
    {'optim.lr': 0.1, 'layers': '[8, 8]'}
    """
    flat: dict[str, Any] = {}
    waiting = [(str(key), value, 0) for key, value in values.items()][::-1]
    while waiting:
        name, value, depth = waiting.pop()
        if type(value) in _PLAIN or is_number(value) or isinstance(value, str):
            flat[name] = value
        elif isinstance(value, Mapping) and depth < _MOST_DEEP:
            inner = [(f"{name}{joint}{k}", v, depth + 1) for k, v in value.items()]
            waiting += inner[::-1]
        else:
            flat[name] = as_text(value)
    return flat
