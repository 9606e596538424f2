"""One run of an algorithm: a record with its whole curve in it."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, listed, shortened
from curvewise.metrics import Floats
from curvewise.text import count
from curvewise.trials.columns import (
    Core,
    Details,
    Ints,
    canonical,
    from_rows,
    from_texts,
    packed,
    place_of,
)

Status: TypeAlias = Literal["ok", "failed", "crashed", "timeout", "cancelled"]
STATUSES: tuple[str, ...] = get_args(Status)

ONLY = "all"  # the name of the one task or algorithm of a table that names none

Scalar: TypeAlias = str | int | float | bool | None
Value: TypeAlias = Scalar | list["Value"] | dict[str, "Value"]
Key: TypeAlias = tuple[str, str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One run: what was run, what it scored at each step, and how it ended.

    Parameters
    ----------
    task, algorithm : str
    number : int
        Which replicate of this algorithm on this task. (task, algorithm, number) is the
        trial's key. Trials of two algorithms with the same number form a pair.
    metrics : mapping of str to array_like, shape (step,)
        What was scored; a number stands for a curve of one step. ``None`` or a masked
        value means *not recorded at this step*; NaN means *recorded, and not a number*.
    steps : array_like, shape (step,), optional
        Increasing: epochs, environment steps, training sizes. Counted from 0 if left out.
    params : mapping
        The hyperparameters.
    labels : mapping
        What the replicate is called where it came from: seed, fold, outer, inner.
    counts : array_like of int, shape (step, K, K), optional
        Confusion counts; rows are true classes.
    correct : array_like of bool, shape (step, example), optional
        Whether each example was answered correctly; masked where it was not asked.
    examples : array_like of int, shape (example,), optional
        Who the examples are, so that two trials can be compared example by example.
    status : {"ok", "failed", "crashed", "timeout", "cancelled"}
    seconds : float
        How long it took; NaN if unknown.
    error : str
        What went wrong.
    attempts : int

    Examples
    --------
    >>> Trial("moons", "svm", 0, {"accuracy": 0.91}, params={"C": 10}).key
    ('moons', 'svm', 0)
    """

    task: str
    algorithm: str
    number: int
    metrics: Mapping[str, NDArray[np.float64]]
    steps: NDArray[np.float64]
    params: Mapping[str, Value]
    labels: Mapping[str, Scalar]
    counts: NDArray[np.int64] | None
    correct: NDArray[np.bool_] | None
    examples: NDArray[np.int64] | None
    status: Status
    seconds: float
    error: str
    attempts: int

    def __init__(
        self,
        task: str,
        algorithm: str,
        number: int,
        metrics: Mapping[str, ArrayLike] | None = None,
        *,
        steps: ArrayLike | None = None,
        params: Mapping[str, Any] | None = None,
        labels: Mapping[str, Any] | None = None,
        counts: ArrayLike | None = None,
        correct: ArrayLike | None = None,
        examples: ArrayLike | None = None,
        status: Status = "ok",
        seconds: float = math.nan,
        error: str = "",
        attempts: int = 1,
    ) -> None:
        fill = object.__setattr__
        fill(self, "task", _name(task, "task"))
        fill(self, "algorithm", _name(algorithm, "algorithm"))
        fill(self, "number", _whole(number, "number", "A trial's number"))
        where = f"Trial {shown_key(self.key)}"
        if metrics is not None and not isinstance(metrics, Mapping):
            raise CurvewiseError(
                f"{where} has metrics {shortened(metrics)}. "
                f"Pass a mapping from names to values, such as {{'accuracy': 0.9}}.",
                argument="metrics",
                value=metrics,
            )
        curves = {
            _name(name, "metric"): _curve(values, f"{where}, metric '{name}'")
            for name, values in (metrics or {}).items()
        }
        fill(self, "metrics", curves)
        fill(self, "counts", _counts(counts, where))
        fill(self, "correct", _correct(correct, where))
        fill(self, "examples", _examples(examples, self.correct, where))
        lengths = {f"metric '{name}'": len(c) for name, c in curves.items()}
        if self.counts is not None:
            lengths["counts"] = len(self.counts)
        if self.correct is not None:
            lengths["correct"] = len(self.correct)
        fill(self, "steps", _steps(steps, lengths, where))
        fill(self, "params", json.loads(canonical(params or {}, f"{where}, params")))
        fill(self, "labels", json.loads(canonical(labels or {}, f"{where}, labels")))
        if status not in STATUSES:
            raise CurvewiseError(
                f"{where} has status {status!r}. Pass one of {listed(STATUSES)}.",
                argument="status",
                value=status,
            )
        fill(self, "status", status)
        fill(self, "seconds", _real(seconds, "seconds", f"{where}: seconds"))
        # Half a surrogate pair, as in names of files, has no bytes: better a "?".
        fill(self, "error", str(error).encode(errors="replace").decode())
        fill(self, "attempts", _whole(attempts, "attempts", f"{where}: attempts"))
        for array in (self.steps, *curves.values(), self.counts, self.correct):
            if array is not None:
                array.setflags(write=False)
        if self.examples is not None:
            self.examples.setflags(write=False)

    @property
    def key(self) -> Key:
        """What identifies the trial: (task, algorithm, number)."""
        return (self.task, self.algorithm, self.number)

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same result; time, attempts and error text aside."""
        if not isinstance(other, Trial):
            return NotImplemented
        return (
            (self.key, self.status) == (other.key, other.status)
            # As text: in Python 1, 1.0 and True are equal.
            and canonical(self.params) == canonical(other.params)
            and canonical(self.labels) == canonical(other.labels)
            and _same(self.steps, other.steps)
            and _same_curves(self.metrics, other.metrics)
            and _same(self.counts, other.counts)
            and _same(self.correct, other.correct)
            and _same(self.examples, other.examples)
        )

    def __hash__(self) -> int:
        return hash((self.key, self.status))

    def __repr__(self) -> str:
        curves = {n: np.ma.compressed(c) for n, c in self.metrics.items()}
        last = {n: c[-1] for n, c in curves.items() if len(c)}
        scores = "".join(f", {shortened(n)}={v:.4g}" for n, v in last.items())
        state = (
            "" if self.status == "ok" else f", {self.status}: {shortened(self.error)}"
        )
        return (
            f"Trial({shown_key(self.key)[1:-1]}, "
            f"{count(len(self.steps), 'step')}{scores}{state})"
        )


def shown_key(key: Key) -> str:
    """Return a key for messages, long names cut.

    >>> shown_key(("moons", "svm", 3))
    "('moons', 'svm', 3)"
    """
    return str((shortened(key[0]), shortened(key[1]), key[2]))


def _name(value: object, kind: str) -> str:
    if not isinstance(value, str) or not value or not _has_bytes(value):
        raise CurvewiseError(
            f"The name of {kind} is {value!r}. Pass a text in valid Unicode, not empty.",
            argument=kind,
            value=value,
        )
    return value


def _has_bytes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: object, argument: str, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise CurvewiseError(
            f"{what} is {value!r}. Pass a whole number.", argument=argument, value=value
        )
    if not -(2**63) <= value < 2**63:
        raise CurvewiseError(
            f"{what} is {value}, which 64 bits cannot hold. Pass a smaller one, and keep "
            f"the large one in labels as text.",
            argument=argument,
            value=value,
        )
    return int(value)


def _real(value: object, argument: str, what: str) -> float:
    if isinstance(value, int | float | np.integer | np.floating):
        return float(value)
    raise CurvewiseError(
        f"{what} is {value!r}. Pass a number, NaN if unknown.",
        argument=argument,
        value=value,
    )


def _curve(values: ArrayLike, where: str) -> NDArray[np.float64]:
    if not isinstance(values, np.ndarray) or values.dtype == object:
        values = _masked_where_none(values)
    if values.ndim > 1 or values.dtype.kind not in "fiub":
        raise CurvewiseError(
            f"{where} is {shortened(values)}. Pass a number or one number per step.",
            argument="metrics",
            value=values,
        )
    return np.atleast_1d(values).astype(np.float64)


def _masked_where_none(values: Any) -> NDArray[Any]:
    array = np.asarray(values, dtype=object)
    if array.ndim == 0:
        array = array[None]
    # An identity test, not ==: a step without a value is None and nothing else.
    absent = np.array([v is None for v in array.ravel()], bool).reshape(array.shape)
    try:
        numbers = np.where(absent, math.nan, array).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return array
    if any(isinstance(v, str | bytes) for v in array.ravel()):
        return array
    return np.ma.masked_array(numbers, absent) if absent.any() else numbers


def _steps(
    steps: ArrayLike | None, lengths: Mapping[str, int], where: str
) -> NDArray[np.float64]:
    if steps is None:
        steps = np.arange(max(lengths.values(), default=0))
    try:
        array = np.atleast_1d(np.array(steps, dtype=np.float64))
    except (TypeError, ValueError):
        raise CurvewiseError(
            f"{where} has steps {shortened(steps)}. Pass increasing numbers.",
            argument="steps",
            value=steps,
        ) from None
    for what, n in lengths.items():
        if n != len(array):
            raise CurvewiseError(
                f"{where} has {len(array)} steps but {n} values of {what}. "
                f"Pass one value per step.",
                argument="steps",
                value=steps,
            )
    if array.ndim != 1 or not np.isfinite(array).all() or (np.diff(array) <= 0).any():
        raise CurvewiseError(
            f"{where} has steps {shortened(array.tolist())}. "
            f"Pass finite numbers that increase, each once.",
            argument="steps",
            value=steps,
        )
    return array


def _counts(counts: ArrayLike | None, where: str) -> NDArray[np.int64] | None:
    if counts is None:
        return None
    array = np.asarray(counts)
    if array.ndim == 2:
        array = array[None]
    square = array.ndim == 3 and array.shape[1] == array.shape[2] and array.shape[1] > 1
    if not square or array.dtype.kind not in "iuf" or not _are_whole(array):
        raise CurvewiseError(
            f"{where} has counts of shape {array.shape} and type {array.dtype}. "
            f"Pass whole numbers of shape (step, K, K), rows true classes.",
            argument="counts",
            value=counts,
        )
    if (array < 0).any():
        raise CurvewiseError(
            f"{where} has negative counts. Pass counts >= 0.",
            argument="counts",
            value=counts,
        )
    return array.astype(np.int64)


def _are_whole(array: NDArray[Any]) -> bool:
    return bool(np.isfinite(array).all() and (array == np.floor(array)).all())


def _correct(correct: ArrayLike | None, where: str) -> NDArray[np.bool_] | None:
    if correct is None:
        return None
    array = np.ma.asarray(correct) if np.ma.isMA(correct) else np.asarray(correct)
    if array.ndim == 1:
        array = array[None]
    # What lies under a mask was not asked; it may be anything.
    if array.ndim != 2 or not np.isin(np.ma.compressed(array), (0, 1)).all():
        raise CurvewiseError(
            f"{where} has correct of shape {array.shape} and type {array.dtype}. "
            f"Pass booleans of shape (step, example).",
            argument="correct",
            value=correct,
        )
    return array.astype(np.bool_)


def _examples(
    examples: ArrayLike | None, correct: NDArray[np.bool_] | None, where: str
) -> NDArray[np.int64] | None:
    if correct is None:
        if examples is not None:
            raise CurvewiseError(
                f"{where} has examples but no correct. Pass both.",
                argument="examples",
                value=examples,
            )
        return None
    n = correct.shape[1]
    ids = np.arange(n) if examples is None else np.asarray(examples)
    if ids.shape != (n,) or ids.dtype.kind not in "iu" or len(np.unique(ids)) < n:
        raise CurvewiseError(
            f"{where} has example ids of shape {ids.shape} and type {ids.dtype} for {n} "
            f"examples. Pass one whole number per example, each once.",
            argument="examples",
            value=examples,
        )
    return ids.astype(np.int64)


def _same(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    masks = np.ma.getmaskarray(one), np.ma.getmaskarray(other)
    if one.shape != other.shape or not np.array_equal(*masks):
        return False
    a, b = np.ma.getdata(one)[~masks[0]], np.ma.getdata(other)[~masks[1]]
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def _same_curves(
    one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]]
) -> bool:
    # A metric that is masked from end to end was not recorded: as if it were not there.
    a, b = ({n: c for n, c in m.items() if np.ma.count(c)} for m in (one, other))
    return a.keys() == b.keys() and all(_same(c, b[n]) for n, c in a.items())


# --- records as columns ------------------------------------------------------------------


def from_records(
    records: Sequence[Trial], tasks: dict[str, int], algorithms: dict[str, int]
) -> tuple[Core, Details]:
    """Return the columns of a list of trials; names are added to the two code books."""
    names = dict.fromkeys(name for trial in records for name in trial.metrics)
    steps = from_rows([t.steps for t in records], "float64")
    values, recorded = {}, {}
    for name in names:
        curves = [t.metrics.get(name, _not_recorded(len(t.steps))) for t in records]
        known = np.concatenate([~np.ma.getmaskarray(c) for c in curves])
        flat = from_rows([np.ma.getdata(c) for c in curves], "float64").flat
        values[name] = np.where(known, flat, np.nan)
        if not known.all():
            recorded[name] = known
    core = Core(
        task=np.array(
            [tasks.setdefault(t.task, len(tasks)) for t in records], np.int32
        ),
        algorithm=np.array(
            [algorithms.setdefault(t.algorithm, len(algorithms)) for t in records],
            np.int32,
        ),
        number=np.array([t.number for t in records], np.int64),
        status=np.array([STATUSES.index(t.status) for t in records], np.int8),
        offsets=steps.offsets,
        steps=steps.flat,
        values=values,
        recorded=recorded,
    )
    return core, _details_of(records)


def _not_recorded(n: int) -> Floats:
    return np.ma.masked_array(np.full(n, np.nan), mask=True)


def _details_of(records: Sequence[Trial]) -> Details:
    sets: list[Ints] = []
    places: dict[bytes, int] = {}
    none = np.empty(0, np.uint8)
    asked = [
        none if t.correct is None or not np.ma.is_masked(t.correct)
        else packed(~np.ma.getmaskarray(t.correct))
        for t in records
    ]  # fmt: skip
    return Details(
        params=from_texts(canonical(t.params) if t.params else "" for t in records),
        labels=from_texts(canonical(t.labels) if t.labels else "" for t in records),
        error=from_texts(t.error for t in records),
        seconds=np.array([t.seconds for t in records], np.float64),
        attempts=np.array([t.attempts for t in records], np.int64),
        counts=from_rows(
            [np.empty(0, int) if t.counts is None else t.counts.ravel() for t in records],
            "int64",
        ),
        classes=np.array(
            [0 if t.counts is None else t.counts.shape[1] for t in records], np.int64
        ),
        correct=from_rows(
            [
                none if t.correct is None else packed(np.ma.filled(t.correct, False))
                for t in records
            ],
            "uint8",
        ),
        asked=from_rows(asked, "uint8"),
        example_set=np.array(
            [-1 if t.examples is None else place_of(t.examples, sets, places)
             for t in records],
            np.int64,
        ),
        example_sets=tuple(sets),
    )  # fmt: skip
