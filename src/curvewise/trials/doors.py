"""The three doors: scores, points, lines. Trials go in, arrays come out."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import (
    CurvewiseError,
    Keyword,
    Message,
    Verbatim,
    listed,
    shortened,
    trials_where,
    unknown,
)
from curvewise.metrics import FROM_COUNTS, NOT_SCORES, Floats, Metric, find, is_quality
from curvewise.text import count, step
from curvewise.trials.columns import Bools, Columns, Core, Details, Ints, was_recorded
from curvewise.trials.trial import shown_key

__all__ = [
    "Lines",
    "Points",
    "count_failed",
    "last_values",
    "lines",
    "numbers",
    "points",
    "scores",
    "values_at",
]

Failed: TypeAlias = Literal["raise", "worst"] | float
Fill: TypeAlias = Literal["error", "last", "linear"]
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
    trials: Columns, metric: str, at: At, failed: Failed
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
    rows = _stretches(trials).items()
    return {a: full[s] for a, s in rows}, {a: broken[s] for a, s in rows}


def numbers(trials: Columns, at: At) -> dict[str, Ints]:
    """Return the number of each trial that `scores` has a value of.

    Trials of the same number met the same data: across algorithms they are pairs.
    """
    trials = _of_one_size(trials, at)
    return {a: trials.core.number[s] for a, s in _stretches(trials).items()}


def points(trials: Columns, metric: str, failed: Failed) -> dict[str, Points]:
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
            steps, _ = _curve(trials, row, values, known)
            lacking = np.setdiff1d(reached, steps)
            t.append(np.full(len(lacking), core.number[row]))
            n.append(lacking)
            v.append(np.full(len(lacking), score))
        trial, size, value = np.concatenate(t), np.concatenate(n), np.concatenate(v)
        order = np.lexsort((size, trial))
        out[algorithm] = Points(trial[order], size[order], value[order])
    return out


def lines(
    trials: Columns,
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
    rows = _rows_by_algorithm(trials)
    failures = {a: int(broken[r].sum()) for a, r in rows.items()}
    return Lines(steps, {a: table[r] for a, r in rows.items()}, rule, failures)


def _on_same_steps(
    trials: Columns, values: Floats, known: Bools
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
    trials: Columns,
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
        on_steps(places, line, steps, fill, carry=not bad)
        for (places, line), bad in zip(curves, broken, strict=True)
    ])  # fmt: skip
    lacking = np.isnan(table).any(axis=1) & ~broken
    if lacking.any():
        row = int(np.argmax(lacking))
        missing, places = steps[np.argmax(np.isnan(table[row]))], curves[row][0]
        raise CurvewiseError(
            f"Trial {shown_key(trials.key(row))} has no value at step {missing:g}: "
            f"its curve goes from {places[0]:g} to {places[-1]:g}. Pass ",
            {"fill": "last"},
            " or ",
            {"fill": "linear"},
            ", or a grid that all lines reach.",
        )
    return steps, table, rule_in_words(steps, fill, begun)


def count_failed(trials: Columns, metric: str | None) -> int:
    """Return how many trials ended badly or lack a finite last score."""
    broken = trials.core.status != 0
    for name in trials.metrics if metric is None else (metric,):
        tasks = tasks_measured(trials, name)
        here = np.array([task in tasks for task in trials.tasks], bool)
        lacks = ~np.isfinite(last_values(trials, name))
        broken = broken | (lacks & here[trials.core.task])
    return int(broken.sum())


# --- values ------------------------------------------------------------------------------


def last_values(trials: Columns, metric: str) -> Floats:
    """Return each trial's last recorded value; NaN where nothing was recorded."""
    return _at(trials, metric, meaning(trials, metric), "last")


def _of_one_size(trials: Columns, at: At) -> Columns:
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
            argument="at",
            value=at,
        )
    owner = np.repeat(np.arange(len(core)), core.lengths)
    keep = core.lengths == 0
    keep[owner[core.steps == at]] = True
    return trials.take(np.flatnonzero(keep)) if keep.any() else trials


def _at(trials: Columns, metric: str, meant: Metric, at: At) -> Floats:
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
            f"The nearest steps are {', '.join(f'{s:g}' for s in np.sort(near))}.",
            argument="at",
            value=at,
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
    trials: Columns, row: int, values: Floats, known: Bools
) -> tuple[Floats, Floats]:
    here = slice(trials.core.offsets[row], trials.core.offsets[row + 1])
    keep = known[here]
    return trials.core.steps[here][keep], values[here][keep]


def _one_task(trials: Columns, metric: str) -> Metric:
    if len(trials) == 0:
        raise CurvewiseError(
            "There are no trials here. Check the file, or what where(...) asked for.",
            argument="trials",
        )
    if len(trials.tasks) > 1:
        raise CurvewiseError(
            "An array can hold one task, and these trials are of "
            f"{len(trials.tasks)}: {listed(trials.tasks)}. Choose one with ",
            trials_where(task=trials.tasks[0]),
            ".",
            argument="trials",
        )
    return meaning(trials, metric)


def _stretches(trials: Columns) -> dict[str, slice]:
    """Return where the rows of each algorithm are: one stretch within the one task."""
    codes = trials.core.algorithm
    edges = np.searchsorted(codes, np.arange(len(trials.algorithms) + 1))
    return {
        name: slice(int(edges[i]), int(edges[i + 1]))
        for i, name in enumerate(trials.algorithms)
    }


def _rows_by_algorithm(trials: Columns) -> dict[str, NDArray[np.int64]]:
    return {a: np.arange(s.start, s.stop) for a, s in _stretches(trials).items()}


# --------------------------------------------------------------------------------------
# What a metric of these trials means, and its values, also from confusion counts.


def meaning(trials: Columns, metric: str) -> Metric:
    """Return what a metric of these trials means; raise if they cannot tell it."""
    if not isinstance(metric, str):
        raise CurvewiseError(
            f"The metric is {metric!r}. Pass its name.", argument="metric", value=metric
        )
    if metric in trials.metrics:
        return trials.metrics[metric]
    if metric in FROM_COUNTS and trials.details().classes.any():
        derived = find(metric)
        assert derived is not None  # noqa: S101  every name in FROM_COUNTS is registered
        return derived
    names = [*trials.metrics]
    if trials.details().classes.any():
        names += [name for name in FROM_COUNTS if name not in names]
    for kind in ("labels", "params"):
        first = getattr(trials.details(), kind)[0] if len(trials) else b""
        if len(first) and metric in json.loads(bytes(first)):
            raise CurvewiseError(
                f"'{metric}' was read among the {kind}, not as a metric. Read it with ",
                {"metrics": metric},
                ".",
            )
    raise unknown("metric", metric, names)


def scored(trials: Columns) -> list[str]:
    """Return the metrics to judge by: those recorded, or what confusion counts tell."""
    recorded = [name for name, one in trials.metrics.items() if may_judge(one)]
    if recorded or not trials.details().classes.any():
        return recorded
    return list(FROM_COUNTS)


def may_judge(metric: Metric) -> bool:
    """Return whether a metric may be a score: times and counts are none by themselves.

    >>> may_judge(Metric("fit_time")), may_judge(Metric("fit_time", "lower"))
    (False, True)
    """
    if metric.name in NOT_SCORES:
        return False
    is_said = metric.direction is not None or bool(metric.by_task)
    return is_said or is_quality(metric.name)


def flat_values(trials: Columns, metric: str) -> tuple[Floats, Bools]:
    """Return a metric at all places of the flat curves, and where it was recorded."""
    core = trials.core
    if metric in core.values:
        return core.values[metric], was_recorded(core, metric)
    return from_counts(core, trials.details(), metric)


def tasks_measured(trials: Columns, metric: str) -> tuple[str, ...]:
    """Return the tasks that a metric was measured on, be it by failed runs.

    Where no trial of a task has it, and one has another score, it is not part of the task;
    a metric that was measured nowhere is missing everywhere.
    """
    core = trials.core
    if len(trials.tasks) < 2:
        return trials.tasks
    _, known = flat_values(trials, metric)
    owner = np.repeat(np.arange(len(core)), core.lengths)
    has = np.bincount(core.task[owner[known]], minlength=len(trials.tasks)) > 0
    ended_well = core.task[(core.status == 0) & (core.lengths > 0)]
    lacks = ~has & (np.bincount(ended_well, minlength=len(trials.tasks)) > 0)
    if lacks.all():
        return trials.tasks
    return tuple(task for task, no in zip(trials.tasks, lacks, strict=True) if not no)


def from_counts(core: Core, details: Details, metric: str) -> tuple[Floats, Bools]:
    """Return what confusion counts tell, along the flat curves, and where they do."""
    values = np.full(len(core.steps), np.nan)
    for k in np.unique(details.classes[details.classes > 0]):
        rows = np.flatnonzero(details.classes == k)
        counts = details.counts.take(rows).flat.reshape(-1, k, k)
        lengths = core.lengths[rows]
        shift = np.repeat(core.offsets[rows] - np.cumsum(lengths) + lengths, lengths)
        values[np.arange(len(shift)) + shift] = FROM_COUNTS[metric](counts)
    return values, ~np.isnan(values)


# --- Curves on common steps ------------------------------------------------------------


def common_steps(
    grid: int | ArrayLike | None, fill: Fill, curves: Sequence[Floats]
) -> Floats:
    """Return the steps that all lines get."""
    first = max(steps[0] for steps in curves)
    ends = [steps[-1] for steps in curves]
    end = max(ends) if fill == "last" else min(ends)
    if grid is None:
        if all(np.array_equal(steps, curves[0]) for steps in curves):
            return curves[0]
        if fill == "error":
            raise _ragged(curves)
        _refuse_apart(first, end)
        union = np.unique(np.concatenate(curves))
        shared: Floats = union[(union >= first) & (union <= end)]
        return shared
    if isinstance(grid, int | np.integer):
        _refuse_apart(first, end)
        if isinstance(grid, bool) or grid < 1:
            raise CurvewiseError(
                f"grid is {grid}. Pass how many steps, at least 1.",
                argument="grid",
                value=grid,
            )
        if first == end and grid > 1:
            short = sum(len(steps) == 1 for steps in curves)
            why = f", as {count(short, 'line')} of one step" if short else ""
            raise CurvewiseError(
                f"grid is {grid}, and the lines share one step only, {step(first)}{why}. "
                f"Choose lines that are curves, or pass the steps themselves.",
                argument="grid",
                value=grid,
            )
        return np.linspace(first, end, int(grid)) if grid > 1 else np.array([end])
    return _stated(grid)


def on_steps(
    own: Floats, values: Floats, steps: Floats, fill: Fill, *, carry: bool
) -> Floats:
    """Return a curve at these steps; NaN where it has no value.

    With ``carry=False`` its last value is not carried forward beyond its end.
    """
    out = np.full(len(steps), np.nan)
    if len(own) == 0:
        return out
    before = np.searchsorted(own, steps, side="right") - 1
    exact = (before >= 0) & (own[before] == steps)
    out[exact] = values[before[exact]]
    if fill == "last":
        usable = (before >= 0) & ((steps <= own[-1]) | carry)
        out[usable] = values[before[usable]]
    elif fill == "linear":
        inside = (steps >= own[0]) & (steps <= own[-1])
        out[inside] = np.interp(steps[inside], own, values)
    return out


def rule_in_words(
    steps: Floats, fill: Fill = "error", curves: Sequence[Floats] = ()
) -> str:
    """Return how curves came on these steps, and what of them was left out."""
    first, last = steps[0], steps[-1]
    text = f"{count(len(steps), 'step')} from {step(first)} to {step(last)}"
    if all(np.array_equal(curve, steps) for curve in curves):
        return f"{text}, as recorded"
    n, parts = len(curves), []
    inside = [int(((curve >= first) & (curve <= last)).sum()) for curve in curves]
    if moved := sum(not np.isin(steps, curve).all() for curve in curves):
        how = "interpolated linearly" if fill == "linear" else "carried forward"
        parts.append(f"values {how} in {moved} of {n} lines")
    if max(inside) < len(steps):
        parts.append(f"more than the {max(inside)} that were recorded there")
    elif max(inside) > len(steps):
        parts.append(f"of up to {max(inside)} that were recorded there")
    if early := sum(bool(curve[0] < first) for curve in curves):
        parts.append(f"what {count(early, 'line')} recorded before is left out")
    if late := sum(bool(curve[-1] > last) for curve in curves):
        parts.append(f"what {count(late, 'line')} recorded after is left out")
    if short := sum(bool(curve[-1] < last) for curve in curves):
        parts.append(f"{count(short, 'line')} had ended before the last step")
    return ", ".join([text, *parts])


def _stated(grid: ArrayLike) -> Floats:
    try:
        steps = np.array(grid, dtype=np.float64)
    except (TypeError, ValueError):
        steps = np.empty(0)
    increase = steps.ndim == 1 and len(steps) > 0 and (np.diff(steps) > 0).all()
    if not increase or not np.isfinite(steps).all():
        raise CurvewiseError(
            f"grid is {shortened(grid)}. Pass how many steps, or steps that increase.",
            argument="grid",
            value=grid,
        )
    return steps


def _refuse_apart(first: float, end: float) -> None:
    if end < first:
        raise CurvewiseError(
            f"The lines share no steps: one begins at {first:g} and another has ended at "
            f"{end:g}. Choose lines that overlap.",
            argument="grid",
        )


def _ragged(curves: Sequence[Floats]) -> CurvewiseError:
    lengths, ends = [len(s) for s in curves], [s[-1] for s in curves]
    some = " to ".join(str(n) for n in sorted({min(lengths), max(lengths)}))
    return CurvewiseError(
        f"The lines have different steps: {some} of them, ending between "
        f"{min(ends):g} and {max(ends):g}. Pass ",
        {"fill": "linear"},
        " (interpolate) or ",
        {"fill": "last"},
        " (carry forward), and ",
        {"grid": Verbatim("<number of steps>")},
        " for a common grid.",
        argument="fill",
        value="error",
    )


# --- Two policies that live here and nowhere else --------------------------------------
#
# A failed trial is part of the distribution: nothing is computed until somebody says what
# a failure scores. And scores lie in their metric's range, or percent were mixed with
# fractions.


def refuse_outside(values: Floats, meant: Metric) -> None:
    """Raise if values are not in the metric's range."""
    low, high = meant.range
    slack = 1e-9 * max(1.0, abs(low) if math.isfinite(low) else 0.0)
    outside = (values < low - slack) | (values > high + slack)
    if not outside.any():
        return
    first = values[np.argmax(outside)]
    percent = meant.is_rate and 1 < first <= 100
    remedy = (
        Message("Read the results with ", {"unit": "percent"}, ".")
        if percent
        else Message(
            "Declare its range: ",
            {"metrics": {meant.name: f"{meant.direction or 'higher'}::"}},
            " has no ends.",
        )
    )
    raise CurvewiseError(
        f"{outside.sum()} of {len(values)} scores of '{meant.name}' are outside its "
        f"range {low:g} to {high:g}, first {first:g}. ",
        remedy,
        argument="metric",
        value=meant.name,
    )


def broken_curves(
    trials: Columns, meant: Metric, values: Floats, known: Bools, failed: Failed
) -> tuple[Bools, float]:
    """Return which trials failed along their curve, and what a failure scores."""
    broken = broke_off(trials, values, known)
    good = known & np.isfinite(values)
    refuse_outside(values[good], meant)
    where = "along the whole curve"
    score = score_of_failure(trials, meant, broken, values[good], failed, where)
    return broken, score


def broke_off(trials: Columns, values: Floats, known: Bools) -> Bools:
    """Return which trials ended badly, or lack a finite score somewhere on their curve."""
    core = trials.core
    owner = np.repeat(np.arange(len(core)), core.lengths)
    broken = (core.status != 0) | (np.bincount(owner[known], minlength=len(core)) == 0)
    broken[owner[known & ~np.isfinite(values)]] = True
    return np.asarray(broken)


def score_of_failure(
    trials: Columns,
    meant: Metric,
    broken: Bools,
    values: Floats,
    failed: Failed,
    where: str,
) -> float:
    """Return what a failed trial scores; raise if nobody said, and one did fail."""
    if failed == "worst" and not broken.any():
        return math.nan  # nothing failed: which way is better does not matter
    score = declared_score(meant, failed)
    if not broken.any() or (score is not None and math.isfinite(score)):
        return math.nan if score is None else score
    if score is not None:
        # A failed run's own values count too: no failure may score better than it did.
        finite = values[np.isfinite(values)]
        if len(finite) == 0:
            raise CurvewiseError(
                f"All {len(broken)} trials failed and '{meant.name}' has no bound, so "
                "there is no worst score. Pass ",
                {"failed": Verbatim("<score of a failed run>")},
                ".",
                argument="failed",
                value=failed,
            )
        return float(finite.min() if meant.direction == "higher" else finite.max())
    row = int(np.argmax(broken))
    if trials.core.status[row] == 0:
        reason = "its value is missing or not finite"
    else:
        text = trials.details().error[row].tobytes().decode()
        reason = shortened(text, 200) or "no reason is given"
    raise CurvewiseError(
        f"{broken.sum()} of {len(broken)} trials have no score of '{meant.name}' ",
        where,
        f", first {shown_key(trials.key(row))}: {reason}. Pass ",
        {"failed": "worst"},
        " or ",
        {"failed": Verbatim("<score of a failed run>")},
        "; dropping them would flatter the algorithms that crash.",
        argument="failed",
        value=failed,
    )


def declared_score(meant: Metric, failed: Failed) -> float | None:
    """Return what a failure scores: None for "raise", infinite for "worst" unbounded."""
    if isinstance(failed, str | bool):
        if failed not in ("raise", "worst"):
            raise CurvewiseError(
                f"failed is {failed!r}. Pass 'raise', 'worst' or the score of a failed "
                "run.",
                argument="failed",
                value=failed,
            )
        return meant.worst if failed == "worst" else None
    if not isinstance(failed, int | float | np.number) or not math.isfinite(failed):
        raise CurvewiseError(
            f"failed is {failed!r}. Pass 'raise', 'worst' or a finite number.",
            argument="failed",
            value=failed,
        )
    low, high = meant.range
    if not low <= failed <= high:
        raise CurvewiseError(
            f"failed is {failed:g}, outside the range {low:g} to {high:g} of "
            f"'{meant.name}'. Pass a score that a run can have.",
            argument="failed",
            value=failed,
        )
    return float(failed)
