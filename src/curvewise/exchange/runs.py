"""Runs as another tool kept them, before anybody said what its names mean."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from curvewise.errors import Message, listed
from curvewise.metrics import Direction, Floats, Metric
from curvewise.text import count
from curvewise.trials.columns import Ints


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller asked for, as far as it helps to read less.

    Parameters
    ----------
    step : str or None
        What to count steps by, where a tool keeps several clocks.
    metrics : tuple of str or None
        The only metrics that are wanted; None for all.
    params : mapping or None
        Values of hyperparameters for outputs that do not hold them.
    tasks : tuple of str or None
        Names of tasks, in order, for arrays that have tasks without names.
    names : tuple of str
        Columns that were said to name algorithms, tasks or runs.
    """

    step: str | None = None
    metrics: tuple[str, ...] | None = None
    params: Mapping[str, Any] | None = None
    tasks: tuple[str, ...] | None = None
    names: tuple[str, ...] = ()

    def wants(self, metric: str) -> bool:
        """Return whether a metric is among those asked for.

        >>> Asked(metrics=("acc",)).wants("loss"), Asked().wants("loss")
        (False, True)
        """
        return self.metrics is None or metric in self.metrics


@dataclass(frozen=True, slots=True, eq=False)
class Scalars:
    """Scores as tools log them, one per place; later ones were written later.

    Parameters
    ----------
    run : array of int
        The row in the table of runs.
    metric : array of int
        The place in `names`.
    step, value : array of float
    names : tuple of str
    """

    run: Ints
    metric: Ints
    step: Floats
    value: Floats
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Runs, or other things, that could not be used, and why.

    Parameters
    ----------
    n : int
    why : str
        Ends a sentence that begins with the number: "deleted in MLflow".
    examples : tuple of str
        Names of some of them.
    what : str
        What was left out, in the singular.
    """

    n: int
    why: str
    examples: tuple[str, ...] = ()
    what: str = "run"

    def __str__(self) -> str:
        return str(self.text)

    @property
    def text(self) -> Message:
        """How many, of what, why, and such as which."""
        such = f" (such as {listed(self.examples, most=2)})" if self.examples else ""
        return Message(f"{count(self.n, self.what)} ", self.why, such)


CROSSED = " + "  # between the names of settings that may be the task together
Meant: TypeAlias = Mapping[str, Metric | Direction]


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs as another tool kept them.

    Parameters
    ----------
    source : str
        What was read, for messages: "MLflow store mlflow.db".
    table : pyarrow.Table
        One row per run, plain columns. "run" is the name that people know it by. A
        column that begins with "params." (or another usual prefix) is a hyperparameter;
        "status", in the tool's own words; "seconds" and "error_text" where known. All
        other columns become labels.
    scalars : Scalars
    usual : mapping of str to str
        The column that the tool itself gives a role, unless a better one is found:
        "task", "algorithm" or "trial".
    meant : mapping of str to Metric, "higher" or "lower"
        What the tool knows about its metrics.
    steps : str
        What steps count; empty where a run has one score.
    left_out : sequence of LeftOut
    remarks : sequence of str
        Sentences that the reader should know of: gaps, damage, assumptions.
    closed : bool
        Whether params and attributes, which a search drew or wrote, take a role only if
        the caller says so: a drawn "classifier" is no algorithm of its own.
    fixes : sequence of mapping
        Keywords of `curvewise.read`, each of which says who the algorithm is.
    others : sequence of str
        Tools whose results stand beside these, and may say more.
    """

    source: str
    table: pa.Table
    scalars: Scalars
    usual: Mapping[str, str] = field(default_factory=dict)
    meant: Meant = field(default_factory=dict)
    steps: str = "step"
    left_out: Sequence[LeftOut] = ()
    remarks: Sequence[str] = ()
    closed: bool = False
    fixes: Sequence[Mapping[str, Any]] = ()
    others: Sequence[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Results of another tool as one table whose roles are known.

    Parameters
    ----------
    source : str
        What was read, for messages.
    table : pyarrow.Table
        As `curvewise.read` takes it.
    stated : mapping of str
        Keywords of `curvewise.read`; what the caller states goes before.
    left_out, remarks
        As in `Runs`.
    """

    source: str
    table: pa.Table
    stated: Mapping[str, Any] = field(default_factory=dict)
    left_out: Sequence[LeftOut] = ()
    remarks: Sequence[str] = ()


def utf8(text: str) -> str:
    """Return a text that can be written: odd bytes in names of files become escapes.

    >>> utf8("ma" + chr(0xDCE9)) == "ma" + chr(92) + "udce9"
    True
    """
    return text.encode("utf-8", "backslashreplace").decode()


def no_scalars() -> Scalars:
    """Return the scores of runs that logged nothing."""
    return joined_scalars([])


def joined_scalars(
    parts: Iterable[tuple[int, str, Floats, Floats]],
) -> Scalars:
    """Return scores that came curve by curve: row of the run, metric, steps, values.

    >>> joined_scalars([(0, "acc", np.array([1.0, 2.0]), np.array([0.5, 0.6]))]).names
    ('acc',)
    """
    places: dict[str, int] = {}
    runs, metrics, steps, values = [], [], [], []
    for run, name, step, value in parts:
        place = places.setdefault(name, len(places))
        runs.append(np.full(len(step), run, np.int64))
        metrics.append(np.full(len(step), place, np.int64))
        steps.append(np.asarray(step, np.float64))
        values.append(np.asarray(value, np.float64))
    whole, real = np.empty(0, np.int64), np.empty(0)
    return Scalars(
        np.concatenate([whole, *runs]),
        np.concatenate([whole, *metrics]),
        np.concatenate([real, *steps]),
        np.concatenate([real, *values]),
        tuple(places),
    )


# --- Values as tools wrote them, made fit for a column: what is odd becomes a text -----


_HALF = "\\ud"  # how JSON begins one half of a character, which may lack the other


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


def as_text(value: Any) -> str:
    """Return what is no plain cell as a text.

    >>> as_text([1, None]), as_text("a")
    ('[1, null]', 'a')
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, default=str)
    except (RecursionError, ValueError):  # deep, or around in a circle
        return f"<{type(value).__name__}>"
