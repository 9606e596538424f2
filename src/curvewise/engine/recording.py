"""What a trial yields, written down as it comes, and many of them as columns."""

import json
import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from curvewise.errors import CurvewiseError, is_name, shortened
from curvewise.trials import Trial
from curvewise.trials.columns import (
    Core,
    Details,
    canonical,
    empty_rows,
    from_rows,
    from_texts,
    starts,
)
from curvewise.trials.trial import STATUSES, Scalar, Status, Value, from_records

_FORM = "Yield (step, {metric: value}), such as (epoch, {'accuracy': 0.9})."


class Record:
    """One trial while it runs: what was yielded so far, and how it ended.

    A yield's dict holds numbers by metric, and may hold ``"counts"`` (a confusion
    matrix), ``"correct"`` with ``"examples"`` (which examples were answered correctly),
    and ``"chosen"``: the hyperparameters that the algorithm itself decided on.
    """

    __slots__ = (
        "attempts",
        "correct",
        "counts",
        "error",
        "examples",
        "labels",
        "number",
        "params",
        "seconds",
        "status",
        "steps",
        "values",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.params: dict[str, Value] = {}
        self.labels: dict[str, Scalar] = {}
        self.status: Status = "ok"
        self.error = ""
        self.seconds = math.nan
        self.attempts = 1
        self.steps: list[float] = []
        self.values: dict[str, list[float | None]] = {}
        self.counts: list[Any] = []
        self.correct: list[Any] = []
        self.examples: list[Any] = []

    def add(self, item: object) -> None:
        """Write down one yield; a yield that cannot be kept raises and is left out."""
        try:
            step, yielded = cast("tuple[Any, Any]", item)
            pairs = yielded.items()
        except (TypeError, ValueError, AttributeError):
            raise CurvewiseError(
                f"{type(item).__name__} {shortened(item)} was yielded. {_FORM}",
                value=item,
            ) from None
        numbers, rest = {}, {}
        for name, value in pairs:
            if name in _SPECIAL:
                rest[name] = value
            else:
                if name not in self.values:
                    _check_name(name)
                numbers[name] = _number(value, name)
        if "chosen" in rest:
            self.params = json.loads(canonical(rest.pop("chosen"), "'chosen'"))
            if step is None and not rest and not numbers:
                return
        if not numbers and not rest:
            raise CurvewiseError(
                f"Step {step} was yielded without a value. {_FORM}", value=item
            )
        self._add_step(_step(step))
        if rest or self.counts or self.correct:
            self._add_examples(rest)
        n = len(self.steps)
        for name in [new for new in numbers if new not in self.values]:
            self.values[name] = [None] * (n - 1)
        for name, curve in self.values.items():
            curve.append(numbers.get(name))

    def _add_step(self, step: float) -> None:
        if self.steps and step <= self.steps[-1]:
            raise CurvewiseError(
                f"Step {step:g} was yielded after step {self.steps[-1]:g}. "
                f"Yield steps that increase, each once.",
                argument="step",
                value=step,
            )
        self.steps.append(step)

    def _add_examples(self, rest: dict[str, Any]) -> None:
        before = len(self.steps) - 1
        lists = {n: getattr(self, n) for n in _PARTS}
        try:
            for name, rows in lists.items():
                if (value := rest.get(name)) is not None:
                    rows.append(_PARTS[name](value))
                if len(rows) != (len(self.steps) if value is not None else 0):
                    raise CurvewiseError(
                        f"'{name}' was yielded at some steps only. Yield it at each.",
                        argument=name,
                    )
            self._refuse_other_shapes()
        except BaseException:
            self.steps.pop()
            for rows in lists.values():
                del rows[before:]
            raise

    def _refuse_other_shapes(self) -> None:
        same = [self.counts] if self.examples else [self.counts, self.correct]
        pairs = [(rows[0].shape, rows[-1].shape) for rows in same if rows]
        if self.examples:
            answers = self.correct[-1].shape if self.correct else None
            pairs.append((self.examples[-1].shape, answers))
        for one, other in pairs:
            if one != other:
                raise CurvewiseError(
                    f"Counts, or answers and examples, have shapes {one} and {other}. "
                    f"Yield the same classes at each step, and an answer per example.",
                    argument="shape",
                    value=(one, other),
                )

    def since(self, begin: int) -> tuple[Any, ...]:
        """Return what came from step number `begin` on, for `extend` elsewhere."""
        curves = {name: curve[begin:] for name, curve in self.values.items()}
        parts = [getattr(self, name)[begin:] for name in _PARTS]
        return (
            self.number,
            self.params,
            self.labels,
            self.steps[begin:],
            curves,
            parts,
        )

    def extend(self, number: int, more: tuple[Any, ...]) -> None:
        """Add what `since` returned, if it is of this trial."""
        whose, params, labels, steps, curves, parts = more
        if whose != number:
            return
        before = len(self.steps)
        self.params, self.labels = params, labels
        self.steps += steps
        for name, curve in curves.items():
            self.values.setdefault(name, [None] * before).extend(curve)
        for name, part in zip(_PARTS, parts, strict=True):
            getattr(self, name).extend(part)

    def trim(self) -> None:
        """Leave out a step that was interrupted while it was written down."""
        parts = [part for part in (self.counts, self.correct, self.examples) if part]
        lists: list[list[Any]] = [self.steps, *self.values.values(), *parts]
        n = min(map(len, lists))
        for some in lists:
            del some[n:]

    def end(self, status: Status, error: str = "") -> None:
        """Say how it ended."""
        self.status, self.error = status, error

    def finish(self) -> None:
        """Look at what a trial that ran to its end has left."""
        if not self.steps:
            self.end("failed", f"Nothing was yielded. {_FORM}")
            return
        last = {name: curve[-1] for name, curve in self.values.items()}
        scores = {name: value for name, value in last.items() if value is not None}
        if scores and not self.counts and not any(map(math.isfinite, scores.values())):
            words = ", ".join(f"{name} is {value}" for name, value in scores.items())
            self.end("failed", f"At the last step, {self.steps[-1]:g}, {words}.")


# --- what may be yielded -----------------------------------------------------------------


def _step(step: object) -> float:
    try:
        value = float(step)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value) or isinstance(step, str | bytes):
        raise CurvewiseError(
            f"Step {shortened(step)} is no finite number. {_FORM}",
            argument="step",
            value=step,
        )
    return value


def _check_name(name: object) -> None:
    if not is_name(name) or "\0" in name:  # which PostgreSQL cannot keep
        raise CurvewiseError(
            f"A metric is called {name!r}. Name metrics by texts.",
            argument="metric",
            value=name,
        )


def _number(value: Any, name: str) -> float:
    kind = type(value)
    if kind is float:
        return float(value)
    shape = getattr(value, "shape", ())
    if math.prod(shape) != 1:
        raise CurvewiseError(
            f"Metric '{name}' is an array of shape {tuple(shape)}. Yield one number a "
            f"step; a confusion matrix is called 'counts'.",
            argument=name,
            value=value,
        )
    try:
        item = value.item() if hasattr(value, "item") else value
        if isinstance(item, str | bytes) or value is np.ma.masked:
            raise TypeError
        return float(item)
    except (TypeError, ValueError, OverflowError):
        raise CurvewiseError(
            f"Metric '{name}' is {kind.__name__} {shortened(value)}. Yield a number.",
            argument=name,
            value=value,
        ) from None


def _counts(value: Any) -> Any:
    counts = np.asarray(value)
    square = counts.ndim == 2 and counts.shape[0] == counts.shape[1] >= 2
    whole = counts.dtype.kind in "iu" or (
        counts.dtype.kind == "f"
        and bool(np.isfinite(counts).all() and (counts == np.floor(counts)).all())
    )
    if not square or not whole:
        raise CurvewiseError(
            f"'counts' has shape {counts.shape} and holds {counts.dtype}. Yield a K x K "
            f"matrix of whole numbers: rows are true classes, columns what was called.",
            argument="counts",
            value=value,
        )
    if (counts < 0).any() or (counts >= 2.0**63).any():
        raise CurvewiseError(
            "'counts' holds numbers below 0, or too large to be counts.",
            argument="counts",
            value=value,
        )
    return counts.astype(np.int64)


def _correct(value: Any) -> Any:
    correct = np.array(value)  # a copy: many fill the same array again at each step
    if correct.ndim != 1 or correct.dtype.kind != "b":
        raise CurvewiseError(
            f"'correct' has shape {correct.shape} and holds {correct.dtype}. "
            f"Yield one boolean for each example.",
            argument="correct",
            value=value,
        )
    return correct


def _examples(value: Any) -> Any:
    ids = np.asarray(value)
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or len(set(ids.tolist())) < len(ids):
        raise CurvewiseError(
            f"'examples' has shape {ids.shape} and holds {ids.dtype}. "
            f"Yield a whole number for each example, each once.",
            argument="examples",
            value=value,
        )
    return ids.astype(np.int64)


_PARTS = {"counts": _counts, "correct": _correct, "examples": _examples}
_SPECIAL = frozenset((*_PARTS, "chosen"))


# --- many of them as columns -------------------------------------------------------------


def columns(records: Sequence[Record]) -> tuple[Core, Details]:
    """Return the columns of trials of one task and one algorithm, whose codes are 0."""
    if any(r.correct for r in records) or not _alike(records):
        return from_records([_trial(r) for r in records], {}, {})
    # Without gaps the columns can be filled as they are: a fifth of the time.
    n = len(records)
    names = list(records[0].values)
    lengths = np.array([len(r.steps) for r in records], np.int64)
    flat = {
        name: np.array([v for r in records for v in r.values[name]], np.float64)
        for name in names
    }
    none = empty_rows(n, "uint8")
    core = Core(
        task=np.zeros(n, np.int32),
        algorithm=np.zeros(n, np.int32),
        number=np.array([r.number for r in records], np.int64),
        status=np.array([_CODES[r.status] for r in records], np.int8),
        offsets=starts(lengths),
        steps=np.array([s for r in records for s in r.steps], np.float64),
        values=flat,
        recorded={},
    )
    details = Details(
        params=from_texts(canonical(r.params) if r.params else "" for r in records),
        labels=from_texts(canonical(r.labels) if r.labels else "" for r in records),
        error=from_texts(_text(r.error) for r in records),
        seconds=np.array([r.seconds for r in records], np.float64),
        attempts=np.array([r.attempts for r in records], np.int64),
        counts=from_rows([_flat(r.counts) for r in records], "int64"),
        classes=np.array(
            [len(r.counts[0]) if r.counts else 0 for r in records], np.int64
        ),
        correct=none,
        asked=none,
        example_set=np.full(n, -1, np.int64),
        example_sets=(),
    )
    return core, details


def _flat(counts: list[Any]) -> Any:
    return np.concatenate(counts, axis=None) if counts else np.empty(0, np.int64)


_CODES = {status: code for code, status in enumerate(STATUSES)}


def _alike(records: Sequence[Record]) -> bool:
    """Return whether every trial has the same metrics at all of its steps."""
    names = records[0].values.keys()
    return all(r.values.keys() == names for r in records) and not any(
        None in curve for r in records for curve in r.values.values()
    )


def _trial(record: Record) -> Trial:
    correct, examples = _merged(record)
    return Trial(
        "-",
        "-",
        record.number,
        cast("dict[str, Any]", record.values),
        steps=record.steps,
        params=record.params,
        labels=record.labels,
        counts=np.stack(record.counts) if record.counts else None,
        correct=correct,
        examples=examples,
        status=record.status,
        seconds=record.seconds,
        error=record.error,
        attempts=record.attempts,
    )


def _merged(record: Record) -> tuple[Any, Any]:
    """Return correctness as (step, example), masked where an example was not asked."""
    if not record.correct:
        return None, None
    if not record.examples:
        return np.stack(record.correct), None
    ids = np.unique(np.concatenate(record.examples))
    shape = len(record.steps), len(ids)
    correct = np.ma.masked_array(np.zeros(shape, bool), mask=True)
    for row, answers, which in zip(
        correct, record.correct, record.examples, strict=True
    ):
        row[np.searchsorted(ids, which)] = answers
    return correct, ids


def _text(error: str) -> str:
    # Half a surrogate pair, as in names of files, has no bytes: better a "?".
    return error.encode(errors="replace").decode()
