"""What count curves say, in words."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from curvewise._text import count, joined, percent, step
from curvewise.analyses._count_fits import AVERAGED, CountAsked, CountFit, CountTask
from curvewise.analyses._count_tables import MOST_CLASSES, label
from curvewise.analyses._curve_tables import number_cell, point_of
from curvewise.metrics import Floats, find
from curvewise.stats.interval import Interval

_APART = 0.01  # precision and recall this close are the same to anybody
_MOST_NAMED = 5  # algorithms that share a concern

_TARGETS = {
    "mean": "averaged over training sets of that size, on all that could be tested",
    "model": "of one more model, on all that could be tested",
}
_METHODS = {
    "calibrated": "logits of the rates as power laws of the size, with one exponent",
    "drift": "logits of the rates as smooth curves whose level and slope may drift",
    "paper": "as published, with bands that do not hold",
}


def target(asked: CountAsked) -> str:
    """Return of which rates intervals are."""
    if asked.target != "observed":
        return _TARGETS[asked.target]
    mean = "the mean of the runs"
    if asked.runs is not None:
        mean = (
            f"the mean of {step(asked.runs)} models" if asked.runs != 1 else "1 model"
        )
    if asked.test_size is None:
        return f"that {mean} would show, tested as those before were"
    return f"that {mean} would show on one test set of {step(asked.test_size)}"


def verdict(task: CountTask, fit: CountFit, asked: CountAsked) -> str:
    """Return in words how far an algorithm came, and what more data would buy."""
    name = leading(asked)
    band = fit.told[name]
    now, twice = point_of(band), point_of(band, 1)
    own = fit.counted
    last = float(fit.curve.metric(name, own.largest, **asked.metrics[name]))
    return (
        f"{fit.algorithm}: {label(name)} {_with_ends(now)} at {step(task.size)} examples"
        f"{_first(fit, name)}. Twice the data that it had, {step(2 * own.largest)}, would "
        f"bring {_with_ends(twice)}: {_gain(name, last, twice)}.{_balance(fit, asked)}"
    )


def leading(asked: CountAsked) -> str:
    """Return the metric that verdicts are about."""
    return "f1" if "f1" in asked.metrics else next(iter(asked.metrics))


def _first(fit: CountFit, name: str) -> str:
    """Return what was seen at the smallest size at which it could be."""
    seen = np.flatnonzero(np.isfinite(fit.observed[name]))
    if not len(seen):
        return ""
    value, n = fit.observed[name][seen[0]], fit.counted.trained_on[seen[0]]
    return f", {number_cell(float(value))} at {step(float(n))}"


def gain_of(fit: CountFit, asked: CountAsked) -> Literal["gain", "perhaps", "none"]:
    """Return whether twice the data would better the leading metric."""
    name = leading(asked)
    now = float(fit.curve.metric(name, fit.counted.largest, **asked.metrics[name]))
    return _gained(name, now, point_of(fit.told[name], 1))[1]


def _gained(
    name: str, now: float, then: Interval
) -> tuple[float, Literal["gain", "perhaps", "none"]]:
    """Return how much better a metric will be, and whether that is a gain."""
    meant = find(name)
    sign = -1 if meant is not None and meant.direction == "lower" else 1
    gain = round(sign * (then.value - now), 4)
    ends = sorted(sign * (end - now) for end in (then.lower, then.upper))
    if ends[0] > 0 and gain > 0:
        return gain, "gain"
    return gain, "none" if gain <= 0 else "perhaps"


def _gain(name: str, now: float, then: Interval) -> str:
    gain, kind = _gained(name, now, then)
    meant = find(name)
    word = "less" if meant is not None and meant.direction == "lower" else "more"
    if kind == "gain":
        return f"{gain:.4f} {word} than now"
    if kind == "none":
        return f"no {word} than now, as far as these runs can tell"
    return f"{gain:.4f} {word} than now, or nothing: that cannot be told yet"


def _balance(fit: CountFit, asked: CountAsked) -> str:
    """Return which of precision and recall holds F1 back; of averages, nobody can say."""
    how = asked.metrics.get("f1", {})
    is_of_one = "positive" in how or (fit.counted.classes == 2 and not how)
    if not is_of_one or not {"precision", "recall", "f1"} <= set(fit.told):
        return ""
    precision, recall = point_of(fit.told["precision"]), point_of(fit.told["recall"])
    if abs(precision.value - recall.value) < _APART:
        return ""
    low, high = ("recall", "precision")
    if precision.value < recall.value:
        low, high = high, low
    more = "misses than false alarms" if low == "recall" else "false alarms than misses"
    return (
        f" Its {low} ({number_cell(point_of(fit.told[low]).value)}) is below its {high} "
        f"({number_cell(point_of(fit.told[high]).value)}): more {more}."
    )


def concern_lines(task: CountTask, sizes: Floats | None = None) -> list[str]:
    """Return what may be wrong with the curves of a task, or at sizes asked, each once."""
    asked = np.array([task.size]) if sizes is None else sizes
    by_concern: dict[str, list[str]] = {}
    for fit in task.fits:
        for text in (*fit.curve.concerns_at(asked), *_below(fit, float(asked.min()))):
            by_concern.setdefault(text, []).append(fit.algorithm)
    return [f"{named(names)}: {text}" for text, names in by_concern.items()]


def _below(fit: CountFit, size: float) -> list[str]:
    smallest = float(fit.counted.trained_on[0])
    if size >= smallest:
        return []
    return [
        f"The question goes down to a size of {step(size)}, and the smallest that was "
        f"tried is {step(smallest)}: what happens below, these counts cannot say."
    ]


def named(names: Sequence[str]) -> str:
    """Return names in a sentence, the first of them if there are many.

    >>> named(["a", "b"]), named(list("abcdefg"))
    ('a and b', 'a, b, c, d, e and 2 more')
    """
    if len(names) <= _MOST_NAMED:
        return joined(names)
    return joined([*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} more"])


def _with_ends(told: Interval) -> str:
    return (
        f"{number_cell(told.value)} ({number_cell(told.lower)} to "
        f"{number_cell(told.upper)})"
    )


def class_heading(task: CountTask) -> str:
    """Return what the table of classes is of."""
    if task.classes <= MOST_CLASSES:
        return f"each class at {step(task.size)} examples"
    return (
        f"the {MOST_CLASSES} of {task.classes} classes with the lowest F1 at "
        f"{step(task.size)} examples; class_rows() has all"
    )


def headline(asked: CountAsked) -> str:
    """Return what the tables are of."""
    names = joined([label(name) for name in asked.metrics])
    return (
        f"{names} against the size of the training set, {percent(asked.confidence)} "
        f"intervals"
    )


def notes_of(
    tasks: tuple[CountTask, ...],
    asked: CountAsked,
    left_out: tuple[str, ...],
    classes: tuple[str, ...],
) -> list[str]:
    """Return what a reader must know to read the tables."""
    return [
        f"Steps are taken for sizes of training sets. Intervals are for rates "
        f"{target(asked)}, at each size by itself. All metrics of a curve come from one "
        f"fit of its confusion matrices, so none leaves its range and F1 agrees with "
        f"precision and recall.",
        f"Curves are fitted by {asked.method!r}: {_METHODS[asked.method]}.",
        *_convention(tasks, asked, classes),
        *_sizes(tasks),
        *_failures(tasks),
        *_left_out(tasks, left_out),
    ]


def _sizes(tasks: tuple[CountTask, ...]) -> list[str]:
    told = []
    fits = [fit for task in tasks for fit in task.fits]
    held = [f.counted for f in fits if (f.counted.trained_on < f.counted.sizes).any()]
    if held:
        own = held[0]
        told.append(
            f"Sizes are of what models were trained on, {step(own.largest)} where there "
            f"were {step(float(own.sizes[-1]))}: the others validated."
        )
    if any(len({f.counted.largest for f in task.fits}) > 1 for task in tasks):
        told.append("times the data: of the largest size of each algorithm.")
    return told


def _failures(tasks: tuple[CountTask, ...]) -> list[str]:
    lost = sum(fit.counted.failed for task in tasks for fit in task.fits)
    if not lost:
        return []
    verb = "counts as one" if lost == 1 else "count as runs"
    return [
        f"{count(lost, 'failed run')} {verb} whose every answer is wrong, at the sizes "
        f"that {'it' if lost == 1 else 'they'} did not reach. Intervals are too short "
        f"there: a run that fails does so at every size, and how often runs fail is not "
        f"in them."
    ]


def _left_out(tasks: tuple[CountTask, ...], whole: tuple[str, ...]) -> list[str]:
    names = [f"{name} on {task.task}" for task in tasks for name in task.left_out]
    names += [f"task {task}" for task in whole]
    return [f"Left out, with counts at one size only: {named(names)}."] if names else []


def _convention(
    tasks: tuple[CountTask, ...], asked: CountAsked, classes: tuple[str, ...]
) -> list[str]:
    """Return of which class the metrics are that are of one."""
    names = [name for name in asked.metrics if name in AVERAGED]
    if not names:
        return []
    what = joined([label(name) for name in names])
    what = f"{what[0].upper()}{what[1:]} {'is' if len(names) == 1 else 'are'}"
    how = asked.metrics[names[0]]
    of_two = f"of class {classes[1] if len(classes) == 2 else 1}, the positive one"
    of_more = "means over classes (macro averages)"
    if "positive" in how:
        told = f"of class {classes[how['positive']]} against the rest"
    elif "average" in how:
        told = f"{how['average']} averages over classes"
    elif all(task.classes == 2 for task in tasks):
        told = of_two
    elif all(task.classes > 2 for task in tasks):
        told = of_more
    else:
        told = f"{of_two}, on tasks of two classes, and {of_more} on the others"
    return [f"{what} {told}."]
