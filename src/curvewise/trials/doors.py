"""The three doors: scores, points, lines. Trials go in, arrays come out."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import (
    CurvewiseError,
    Keyword,
    Message,
    Verbatim,
    listed,
    trials_where,
    unknown,
)
from curvewise.metrics import Floats, Metric
from curvewise.trials.columns import Bools, Core, Ints
from curvewise.trials.failures import (
    Failed,
    broken_curves,
    refuse_outside,
    score_of_failure,
)
from curvewise.trials.grids import Fill, common_steps, on_steps, rule_in_words
from curvewise.trials.trial import shown_key
from curvewise.trials.values import flat_values, meaning, tasks_measured

if TYPE_CHECKING:
    from curvewise.trials.table import Trials

At: TypeAlias = Literal["last", "mean", "best"] | float


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The points of one algorithm's curves.

    Parameters
    ----------
    trial : ndarray of int, shape (point,)
        The number of the trial that a point belongs to; points of one trial are dependent.
    size : ndarray of float, shape (point,)
    value : ndarray of float, shape (point,)
    """

    trial: Ints
    size: Floats
    value: Floats


class _UnknownLinesError(CurvewiseError, KeyError):
    """An unknown algorithm; a KeyError too, or `in` and `get` would raise."""

    __str__ = CurvewiseError.__str__  # KeyError's would quote the message


@dataclass(frozen=True, slots=True, eq=False)
class Lines(Mapping[str, Floats]):
    """The lines of each algorithm on common steps: a mapping to (line, step) arrays.

    Parameters
    ----------
    steps : ndarray, shape (step,)
    by_algorithm : dict of str to ndarray, shape (line, step)
    rule : str
        How the lines came on these steps, in words.
    failed : dict of str to int
        How many lines of each algorithm are of failed trials.
    """

    steps: Floats
    by_algorithm: dict[str, Floats]
    rule: str
    failed: dict[str, int]

    def __getitem__(self, algorithm: str) -> Floats:
        if algorithm not in self.by_algorithm:
            message = unknown("algorithm", algorithm, self.by_algorithm)
            raise _UnknownLinesError(str(message))
        return self.by_algorithm[algorithm]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_algorithm)

    def __len__(self) -> int:
        return len(self.by_algorithm)


def scores(
    trials: "Trials", metric: str, at: At, failed: Failed
) -> tuple[dict[str, Floats], dict[str, Bools]]:
    """Return one value per trial and algorithm, and which of them are failures."""
    meant = _one_task(trials, metric)
    trials = _of_one_size(trials, at)
    core = trials.core
    raw = _at(trials, metric, meant, at)
    broken = (core.status != 0) | ~np.isfinite(raw)
    refuse_outside(raw[~broken], meant)
    where = "at the last step" if at == "last" else Message("with ", Keyword("at", at))
    score = score_of_failure(trials, meant, broken, raw, failed, where)
    full = np.where(broken, score, np.clip(raw, *meant.range))
    own = _stretches(trials)
    return {a: full[s] for a, s in own.items()}, {a: broken[s] for a, s in own.items()}


def numbers(trials: "Trials", at: At) -> dict[str, Ints]:
    """Return the number of each trial that `scores` has a value of.

    Trials of the same number met the same data: across algorithms they are pairs.
    """
    trials = _of_one_size(trials, at)
    return {a: trials.core.number[s] for a, s in _stretches(trials).items()}


def points(trials: "Trials", metric: str, failed: Failed) -> dict[str, Points]:
    """Return (trial, size, value) for each algorithm."""
    meant = _one_task(trials, metric)
    core = trials.core
    values, known = flat_values(trials, metric)
    broken, score = broken_curves(trials, meant, values, known, failed)
    values = np.where(known & ~np.isfinite(values), score, values)
    number = np.repeat(core.number, core.lengths)
    out = {}
    for algorithm, rows in _rows_by_algorithm(trials).items():
        # The rows of an algorithm are one stretch, and so are their curves.
        here = slice(core.offsets[rows[0]], core.offsets[rows[-1] + 1])
        keep = known[here]
        t, n, v = [number[here][keep]], [core.steps[here][keep]], [values[here][keep]]
        # Where none of its runs got anywhere, the other algorithms' sizes are the design.
        reached = np.unique(n[0] if len(n[0]) else core.steps[known])
        # A failed run scores a failure at every size that it did not get to.
        for row in rows[broken[rows]]:
            own, _ = _curve(trials, row, values, known)
            lacking = np.setdiff1d(reached, own)
            t.append(np.full(len(lacking), core.number[row]))
            n.append(lacking)
            v.append(np.full(len(lacking), score))
        trial, size, value = np.concatenate(t), np.concatenate(n), np.concatenate(v)
        order = np.lexsort((size, trial))
        out[algorithm] = Points(trial[order], size[order], value[order])
    return out


def lines(
    trials: "Trials",
    metric: str,
    grid: int | ArrayLike | None,
    fill: Fill,
    failed: Failed,
) -> Lines:
    """Return (line, step) arrays for each algorithm on common steps."""
    if fill not in ("error", "last", "linear"):
        raise CurvewiseError(
            f"fill is {fill!r}. Pass 'error', 'last' or 'linear'.",
            argument="fill",
            value=fill,
        )
    meant = _one_task(trials, metric)
    values, known = flat_values(trials, metric)
    broken, score = broken_curves(trials, meant, values, known, failed)
    # What was recorded and is no number scores a failure: no fill may bridge it.
    values = np.where(known & ~np.isfinite(values), score, values)
    same = None if broken.any() else _on_same_steps(trials, values, known)
    if grid is None and same is not None:
        steps, table = same
        rule = rule_in_words(steps)
    else:
        steps, table, rule = _gridded(trials, values, known, broken, grid, fill)
        # From where a failed run breaks off, it scores what a failure scores.
        table[broken] = np.where(np.isfinite(table[broken]), table[broken], score)
    own = _rows_by_algorithm(trials)
    failures = {a: int(broken[r].sum()) for a, r in own.items()}
    return Lines(steps, {a: table[r] for a, r in own.items()}, rule, failures)


def _on_same_steps(
    trials: "Trials", values: Floats, known: Bools
) -> tuple[Floats, Floats] | None:
    """Return steps and lines where all curves have the same steps, which is the rule."""
    core = trials.core
    n = int(core.lengths[0])
    if n == 0 or not known.all() or (core.lengths != n).any():
        return None
    steps = core.steps.reshape(-1, n)
    same = (steps == steps[0]).all()
    return (steps[0].copy(), values.reshape(-1, n)) if same else None


def _gridded(
    trials: "Trials",
    values: Floats,
    known: Bools,
    broken: Bools,
    grid: int | ArrayLike | None,
    fill: Fill,
) -> tuple[Floats, Floats, str]:
    """Return steps, each trial's line on them and how; NaN where a failed run has none."""
    curves = [_curve(trials, row, values, known) for row in range(len(trials))]
    whole = [steps for (steps, _), bad in zip(curves, broken, strict=True) if not bad]
    begun = whole or [steps for steps, _ in curves if len(steps)]
    if not begun:
        raise CurvewiseError(
            f"None of {len(trials)} trials has a value, so there are no lines. "
            f"scores(...) can still count their failures."
        )
    steps = common_steps(grid, fill, begun)
    table = np.stack([
        # A failed run is not carried beyond its end: there it scores a failure.
        on_steps(own, line, steps, fill, carry=not bad)
        for (own, line), bad in zip(curves, broken, strict=True)
    ])  # fmt: skip
    lacking = np.isnan(table).any(axis=1) & ~broken
    if lacking.any():
        row = int(np.argmax(lacking))
        missing, own = steps[np.argmax(np.isnan(table[row]))], curves[row][0]
        raise CurvewiseError(
            f"Trial {shown_key(trials.key(row))} has no value at step {missing:g}: "
            f"its curve goes from {own[0]:g} to {own[-1]:g}. Pass ",
            {"fill": "last"},
            " or ",
            {"fill": "linear"},
            ", or a grid that all lines reach.",
        )
    return steps, table, rule_in_words(steps, fill, begun)


def count_failed(trials: "Trials", metric: str | None) -> int:
    """Return how many trials ended badly or lack a finite last score."""
    broken = trials.core.status != 0
    for name in trials.metrics if metric is None else (metric,):
        tasks = tasks_measured(trials, name)
        here = np.array([task in tasks for task in trials.tasks], bool)
        lacks = ~np.isfinite(last_values(trials, name))
        broken = broken | (lacks & here[trials.core.task])
    return int(broken.sum())


# --- values ------------------------------------------------------------------------------


def last_values(trials: "Trials", metric: str) -> Floats:
    """Return each trial's last recorded value; NaN where nothing was recorded."""
    return _at(trials, metric, meaning(trials, metric), "last")


def _of_one_size(trials: "Trials", at: At) -> "Trials":
    """Return the trials at a size, where each trial is at a size of its own."""
    core = trials.core
    if core.lengths.max() != 1 or core.steps.min() == core.steps.max():
        return trials
    if isinstance(at, str):
        raise CurvewiseError(
            "Each of these trials has one step, and the steps differ, from "
            f"{core.steps.min():g} to {core.steps.max():g}: their scores are not of "
            "one distribution. Pass ",
            {"at": Verbatim("<step>")},
            ", or use points(...).",
        )
    owner = np.repeat(np.arange(len(core)), core.lengths)
    keep = core.lengths == 0
    keep[owner[core.steps == at]] = True
    return trials.take(np.flatnonzero(keep)) if keep.any() else trials


def _at(trials: "Trials", metric: str, meant: Metric, at: At) -> Floats:
    core = trials.core
    values, known = flat_values(trials, metric)
    if isinstance(at, str) and at in ("last", "mean", "best"):
        return _reduced(values, known, core.offsets, at, meant)
    if isinstance(at, bool) or not isinstance(at, int | float | np.number):
        raise CurvewiseError(
            f"at is {at!r}. Pass 'last', 'mean', 'best' or a step.",
            argument="at",
            value=at,
        )
    if known.any() and not (known & (core.steps == at)).any():
        steps = np.unique(core.steps[known])
        near = steps[np.argsort(np.abs(steps - at))[:3]]
        raise CurvewiseError(
            f"No trial has a value of '{metric}' at step {at:g}. "
            f"The nearest steps are {', '.join(f'{s:g}' for s in np.sort(near))}."
        )
    return values_at(core, values, known, meant, at)


def values_at(
    core: Core, values: Floats, known: Bools, meant: Metric, at: At
) -> Floats:
    """Return one value per trial, as it was recorded; NaN where there is none.

    Parameters
    ----------
    core : Core
    values, known : ndarray, shape (point,)
        The metric along the flat curves, and where it was recorded.
    meant : Metric
    at : {"last", "mean", "best"} or float
    """
    if isinstance(at, str):
        return _reduced(values, known, core.offsets, at, meant)
    owner = np.repeat(np.arange(len(core)), core.lengths)
    hit = known & (core.steps == at)
    out = np.full(len(core), np.nan)
    out[owner[hit]] = values[hit]
    return out


def _reduced(
    values: Floats, known: Bools, offsets: Ints, how: str, meant: Metric
) -> Floats:
    lengths = np.diff(offsets)
    if len(values) == len(lengths) and known.all() and (lengths == 1).all():
        return values  # the last, the mean and the best of one value
    if not known.all():  # only steps at which this metric was recorded count
        lengths = np.add.reduceat(np.append(known, False), offsets[:-1]) * (lengths > 0)
        values = values[known]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
    out = np.full(len(lengths), np.nan)
    some = lengths > 0
    if how == "last":
        out[some] = values[offsets[1:][some] - 1]
    elif how == "mean":
        # A curve with inf and -inf, or one beyond all floats, has no finite mean.
        with np.errstate(invalid="ignore", over="ignore"):
            out[some] = np.add.reduceat(values, offsets[:-1][some]) / lengths[some]
    else:
        # A broken value is never the best one; fmax skips NaN.
        up = np.where(np.isfinite(values), meant.sign * values, -math.inf)
        best = np.fmax.reduceat(up, offsets[:-1][some]) if some.any() else up
        out[some] = np.where(np.isfinite(best), meant.sign * best, np.nan)
    return out


def _curve(
    trials: "Trials", row: int, values: Floats, known: Bools
) -> tuple[Floats, Floats]:
    here = slice(trials.core.offsets[row], trials.core.offsets[row + 1])
    keep = known[here]
    return trials.core.steps[here][keep], values[here][keep]


def _one_task(trials: "Trials", metric: str) -> Metric:
    if len(trials) == 0:
        raise CurvewiseError(
            "There are no trials here. Check the file, or what where(...) asked for."
        )
    if len(trials.tasks) > 1:
        raise CurvewiseError(
            "An array can hold one task, and these trials are of "
            f"{len(trials.tasks)}: {listed(trials.tasks)}. Choose one with ",
            trials_where(task=trials.tasks[0]),
            ".",
        )
    return meaning(trials, metric)


def _stretches(trials: "Trials") -> dict[str, slice]:
    """Return where the rows of each algorithm are: one stretch within the one task."""
    codes = trials.core.algorithm
    edges = np.searchsorted(codes, np.arange(len(trials.algorithms) + 1))
    return {
        name: slice(int(edges[i]), int(edges[i + 1]))
        for i, name in enumerate(trials.algorithms)
    }


def _rows_by_algorithm(trials: "Trials") -> dict[str, NDArray[np.int64]]:
    return {a: np.arange(s.start, s.stop) for a, s in _stretches(trials).items()}
