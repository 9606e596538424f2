"""What count curves say, in words."""

from curvewise._text import joined, percent, step
from curvewise.analyses._count_fits import CountAsked, CountFit, CountTask
from curvewise.analyses._count_tables import label
from curvewise.analyses._curve_tables import number_cell, point_of
from curvewise.metrics import Floats, find
from curvewise.stats.interval import Interval

_APART = 0.01  # precision and recall this close are the same to anybody
_MOST_NAMED = 5  # algorithms that share a concern

TARGETS = {
    "mean": "averaged over training sets of that size, on all that could be tested",
    "observed": "as the mean of the runs would show it on one test set",
    "model": "of one more model, on all that could be tested",
}
_METHODS = {
    "calibrated": "logits of the rates as power laws of the size, with one exponent",
    "drift": "logits of the rates as smooth curves whose level and slope may drift",
    "paper": "as published, with bands that do not hold",
}


def verdict(task: CountTask, fit: CountFit, asked: CountAsked) -> str:
    """Return in words how far an algorithm came, and what more data would buy."""
    name = "f1" if "f1" in fit.told else next(iter(fit.told))
    band = fit.told[name]
    now, twice = point_of(band), point_of(band, 1)
    first, own = float(fit.observed[name][0]), fit.counted
    last = float(fit.curve.metric(name, own.largest, **asked.metrics[name]))
    return (
        f"{fit.algorithm}: {label(name)} {_with_ends(now)} at {step(task.size)} examples, "
        f"{number_cell(first)} at {step(float(own.trained_on[0]))}. Twice the data that it "
        f"had, {step(2 * own.largest)}, would bring {_with_ends(twice)}: "
        f"{_gain(name, last, twice)}.{_balance(fit, asked)}"
    )


def _gain(name: str, now: float, then: Interval) -> str:
    meant = find(name)
    sign = -1 if meant is not None and meant.direction == "lower" else 1
    gain = sign * (then.value - now)
    ends = sorted(sign * (end - now) for end in (then.lower, then.upper))
    word = "less" if sign < 0 else "more"
    if ends[0] > 0:
        return f"{number_cell(gain)} {word} than now"
    if gain <= 0:
        return f"no {word} than now, as far as these runs can tell"
    return f"{number_cell(gain)} {word} than now, or nothing: that cannot be told yet"


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
    by_concern: dict[str, list[str]] = {}
    for fit in task.fits:
        own = fit.concerns if sizes is None else fit.curve.concerns_at(sizes)
        for text in own:
            by_concern.setdefault(text, []).append(fit.algorithm)
    return [f"{_named(names)}: {text}" for text, names in by_concern.items()]


def _named(names: list[str]) -> str:
    if len(names) <= _MOST_NAMED:
        return joined(names)
    return f"{joined(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} more"


def _with_ends(told: Interval) -> str:
    return (
        f"{number_cell(told.value)} ({number_cell(told.lower)} to "
        f"{number_cell(told.upper)})"
    )


def headline(asked: CountAsked) -> str:
    """Return what the tables are of."""
    names = joined([label(name) for name in asked.metrics])
    return (
        f"{names} against the size of the training set, {percent(asked.confidence)} "
        f"intervals"
    )


def notes_of(
    tasks: tuple[CountTask, ...], asked: CountAsked, left_out: tuple[str, ...]
) -> list[str]:
    """Return what a reader must know to read the tables."""
    told = [
        f"Intervals are for rates {TARGETS[asked.target]}, at each size by itself. All "
        f"metrics of a curve come from one fit of its confusion matrices, so none leaves "
        f"its range and F1 agrees with precision and recall.",
        *_methods(tasks),
        _convention(tasks, asked),
    ]
    lost = sum(fit.counted.failed for task in tasks for fit in task.fits)
    if lost:
        told.append(f"{lost} failed runs count as runs whose every answer is wrong.")
    if left_out:
        told.append(
            f"Left out, with counts at one size only: {_named(list(left_out))}."
        )
    return told


def _methods(tasks: tuple[CountTask, ...]) -> list[str]:
    by_method: dict[str, list[str]] = {}
    several = len(tasks) > 1
    for task in tasks:
        for fit in task.fits:
            name = f"{fit.algorithm} on {task.task}" if several else fit.algorithm
            by_method.setdefault(fit.curve.method, []).append(name)
    return [
        f"{_named(names)}: fitted by {method!r}, {_METHODS[method]}."
        for method, names in by_method.items()
    ]


def _convention(tasks: tuple[CountTask, ...], asked: CountAsked) -> str:
    how = next((own for own in asked.metrics.values() if own), {})
    if "positive" in how:
        return (
            f"Precision, recall and F1 are of class {how['positive']} against the rest."
        )
    if "average" in how:
        return f"Precision, recall and F1 are {how['average']} averages over classes."
    if all(task.classes == 2 for task in tasks):
        return "Precision, recall and F1 are of class 1, the positive one."
    return "Precision, recall and F1 are means over classes (macro averages)."
