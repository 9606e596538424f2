"""What `Confusion` says: its tables, its verdicts, its notes, and all in one sentence."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from curvewise.metrics import Floats, find
from curvewise.questions.base import of_algorithm
from curvewise.questions.confusion.fit import (
    AVERAGED,
    TIMES,
    CountAsked,
    CountFit,
    CountTask,
)
from curvewise.questions.lead import Finding, Lead, lead_on
from curvewise.questions.sentences import (
    MOST_NAMED,
    Gain,
    at_tasks,
    capital,
    confidently,
    estimate,
    interval_cell,
    number_cell,
    sentence,
    some,
    span,
    with_ends,
    would_bring,
)
from curvewise.questions.sizes import point_of
from curvewise.stats.confusion import (
    ASSUMED_CORRELATION,
    FURTHEST,
    Concern,
    ConcernKind,
    Method,
)
from curvewise.stats.interval import Interval
from curvewise.text import Cell, count, joined, percent, short_names, step

MOST_CLASSES = 12  # that are shown: more nobody reads
_OF_A_CLASS = ("recall", "precision", "f1")


def fit_rows(task: CountTask) -> list[dict[str, Cell]]:
    """Return one row per algorithm and metric for programs."""
    out: list[dict[str, Cell]] = []
    for fit in task.fits:
        for name, band in fit.told.items():
            row: dict[str, Cell] = {
                "task": task.task,
                "algorithm": fit.algorithm,
                "metric": name,
                "sizes": len(fit.counted.sizes),
                "runs": sum(fit.counted.runs),
                "failed": fit.counted.failed,
                "classes": fit.counted.classes,
                "smallest": float(fit.counted.trained_on[0]),
                "largest": fit.counted.largest,
                "method": fit.curve.method,
                "lack_of_fit": fit.lack_of_fit,
            }
            for i, suffix in enumerate(["", *(f"_{t:g}_times" for t in TIMES[1:])]):
                row |= {
                    f"size{suffix}": float(band.at[i]),
                    f"value{suffix}": float(band.value[i]),
                    f"lower{suffix}": float(band.lower[i]),
                    f"upper{suffix}": float(band.upper[i]),
                }
            out.append(row)
    return out


def size_rows(
    task: CountTask, fit: CountFit, asked: CountAsked
) -> list[dict[str, Cell]]:
    """Return what was observed at each size, and the fit."""
    out: list[dict[str, Cell]] = []
    counted = fit.counted
    for name in asked.metrics:
        band = asked.band(fit.curve, name, counted.trained_on)
        observed = fit.observed[name]
        columns = (counted.sizes, counted.trained_on, counted.runs, observed)
        ends = (band.value, band.lower, band.upper)
        for n, saw, runs, value, *fitted in zip(*columns, *ends, strict=True):
            out.append(
                {
                    "task": task.task,
                    "algorithm": fit.algorithm,
                    "metric": name,
                    "size": float(n),
                    "trained_on": float(saw),
                    "runs": int(runs),
                    "observed": float(value),
                    "fitted": float(fitted[0]),
                    "lower": float(fitted[1]),
                    "upper": float(fitted[2]),
                }
            )
    return out


def class_rows(
    task: CountTask, asked: CountAsked, names: Sequence[str]
) -> list[dict[str, Cell]]:
    """Return recall, precision and F1 of each class, at the size of the tables."""
    out: list[dict[str, Cell]] = []
    for fit, k, intervals in _of_classes(task, asked):
        row: dict[str, Cell] = {
            "task": task.task,
            "algorithm": fit.algorithm,
            "class": names[k],
            "share": float(fit.shares[k]),
            "size": task.size,
        }
        for name, interval in intervals.items():
            row |= {name: interval.value, f"{name}_lower": interval.lower}
            row[f"{name}_upper"] = interval.upper
        out.append(row)
    return out


def class_table(
    task: CountTask, asked: CountAsked, names: Sequence[str]
) -> list[dict[str, Cell]]:
    """Return recall, precision and F1 of each class, or of the hardest, as printed."""
    return [
        {
            "algorithm": fit.algorithm,
            "class": names[k],
            "share": percent(round(float(fit.shares[k]), 3)),
            **{
                label(name): interval_cell(interval)
                for name, interval in intervals.items()
            },
        }
        for fit, k, intervals in _of_classes(task, asked, hardest(task))
    ]


def hardest(task: CountTask) -> list[int]:
    """Return the classes that are shown: all, or of many those of the lowest F1."""
    if task.classes <= MOST_CLASSES:
        return list(range(task.classes))
    f1 = [
        np.mean([fit.curve.metric("f1", task.size, positive=k) for fit in task.fits])
        for k in range(task.classes)
    ]
    return sorted(np.argsort(f1, kind="stable")[:MOST_CLASSES].tolist())


def _of_classes(
    task: CountTask, asked: CountAsked, classes: Sequence[int] | None = None
) -> Iterator[tuple[CountFit, int, dict[str, Interval]]]:
    for fit in task.fits:
        for k in range(task.classes) if classes is None else classes:
            yield fit, k, asked.of_class(fit.curve, _OF_A_CLASS, task.size, k)


def fit_table(task: CountTask) -> list[dict[str, Cell]]:
    """Return the curves of one task, as they are printed."""
    out: list[dict[str, Cell]] = []
    for fit in task.fits:
        counted = fit.counted
        for name, band in fit.told.items():
            row: dict[str, Cell] = {
                "algorithm": fit.algorithm,
                "metric": label(name),
                f"seen at {step(float(counted.trained_on[0]))}": _seen(
                    float(fit.observed[name][0])
                ),
                f"at {step(task.size)}": interval_cell(point_of(band)),
            }
            for i, times in enumerate(TIMES[1:], start=1):
                row[f"with {times:g} times the data"] = interval_cell(point_of(band, i))
            if counted.failed:
                row["failed"] = counted.failed
            out.append(row)
    return out


def _seen(value: float) -> str:
    return number_cell(value) if math.isfinite(value) else "?"


def label(name: str) -> str:
    """Return a metric's name as people write it.

    >>> label("f1"), label("balanced_accuracy")
    ('F1', 'balanced accuracy')
    """
    return _LABELS.get(name, name.replace("_", " "))


_LABELS = {"f1": "F1", "f_beta": "F-beta", "mcc": "MCC", "jaccard": "Jaccard"}


# --- What count curves say, in words ---------------------------------------------------


_APART = 0.01  # precision and recall this close are the same to anybody

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
    largest = fit.counted.largest
    last = float(fit.curve.metric(name, largest, **asked.metrics[name]))
    return (
        f"{fit.algorithm}: {label(name)} {with_ends(now)} at {step(task.size)} examples"
        f"{_first(fit, name)}. Twice the data that it had, {step(2 * largest)}, would "
        f"bring {with_ends(twice)}: {_gain(name, last, twice)}.{_balance(fit, asked)}"
    )


def leading(asked: CountAsked) -> str:
    """Return the metric that verdicts are about."""
    return "f1" if "f1" in asked.metrics else next(iter(asked.metrics))


def _first(fit: CountFit, name: str) -> str:
    """Return what was seen at the smallest size at which it could be."""
    places = np.flatnonzero(np.isfinite(fit.observed[name]))
    if not len(places):
        return ""
    value, n = fit.observed[name][places[0]], fit.counted.trained_on[places[0]]
    return f", {number_cell(float(value))} at {step(float(n))}"


def gain_of(fit: CountFit, asked: CountAsked) -> Gain:
    """Return whether twice the data would better the leading metric."""
    name = leading(asked)
    now = float(fit.curve.metric(name, fit.counted.largest, **asked.metrics[name]))
    return gain_between(name, now, point_of(fit.told[name], 1))[1]


def gain_between(name: str, now: float, then: Interval) -> tuple[float, Gain]:
    """Return how much better a metric will be, and whether that is a gain."""
    meant = find(name)
    sign = -1 if meant is not None and meant.direction == "lower" else 1
    gain = round(sign * (then.value - now), 4)
    ends = sorted(sign * (end - now) for end in (then.lower, then.upper))
    if ends[0] > 0 and gain > 0:
        return gain, "gain"
    return gain, "none" if gain <= 0 else "perhaps"


def _gain(name: str, now: float, then: Interval) -> str:
    gain, kind = gain_between(name, now, then)
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
    at = np.array([task.size]) if sizes is None else sizes
    by_concern: dict[str, list[str]] = {}
    for fit in task.fits:
        texts = [
            concern_text(concern, fit.curve.method)
            for concern in fit.curve.concerns_at(at)
        ]
        for text in (*texts, *_below(fit, float(at.min()))):
            by_concern.setdefault(text, []).append(fit.algorithm)
    return [
        f"{some(names, most=MOST_NAMED)}: {text}" for text, names in by_concern.items()
    ]


def concern_text(concern: Concern, method: Method) -> str:
    """Return in a sentence what may be wrong with a curve."""
    return CONCERNS[method][concern.kind].format(
        concern.value,
        k=concern.label,
        percent=100 * concern.value,
        times=step(float(f"{concern.value:.3g}")),
    )


_FEW_ANSWERS = (
    "Class {k} has {0:.3g} answers of its rarer kind, right or wrong, at a middle size. "
    "With so few, bands of 95 % held as seldom as"
)
_UNKNOWN = (
    "Nobody kept which examples were answered rightly: being right on one is taken to be "
    f"correlated by {ASSUMED_CORRELATION:g} between models."
)
CONCERNS: dict[Method, dict[ConcernKind, str]] = {
    "calibrated": {
        "lack_of_fit": "One power law for all sizes does not fit (p = {0:.2g}): bands "
        "between sizes may be too narrow, and far more so beyond them.",
        "rising_exponent": "Exponents above 0 have a weight of {percent:.0f} %: logits may "
        "grow without end, and far sizes may look better than they will be.",
        "few_sizes": "There are {0:g} sizes: that logits are power laws of the size is "
        "assumed, and the exponent mostly is.",
        "far": "The question goes {times} times beyond the largest size. That the same "
        "power law holds there, nothing in these counts can say.",
        "few_answers": f"{_FEW_ANSWERS} 86 % of the time in simulations.",
        "assumed_test_set": f"{_UNKNOWN} All tests being of one size, they are taken to be "
        f"one test set.",
        "assumed_test_sets": f"{_UNKNOWN} Tests of two sizes are taken to be on the same "
        f"examples or on none in common, whichever is worse, and those of one size on "
        f"different ones.",
        "assumed_training": "There are {0:g} runs beyond the first of each size: how much "
        "models of different training sets differ is mostly assumed.",
        "many_classes": "Coverage was measured on curves of two classes, not of more.",
    },
    "drift": {
        "never_called": "At the largest size nothing is called class {k}: its recall is "
        "taken to stay 0. Whether the learner finds the class again with more data, these "
        "counts cannot say.",
        "far": "The question goes {times} times beyond the largest size; real curves were "
        f"followed {2**FURTHEST:g} times.",
        "few_sizes": "There are {0:g} sizes: how smooth the curve is, is mostly assumed.",
        "one_run": "A size has one run: how much models differ is assumed. On real curves "
        "bands of 95 % of single runs held 88 to 96 % of the time.",
        "few_runs": "A size has {0:g} runs: how much models differ is mostly assumed.",
        "few_answers": f"{_FEW_ANSWERS} 85 % of the time in simulations, and below the "
        f"smallest size as seldom as 62 %.",
        "many_classes": "Bands were measured on curves of two classes, not of more.",
    },
    "paper": {
        "published_bands": "Bands as published are those of one validation set of a third "
        "of the size: too wide for small training sets, too narrow for large ones.",
        "rising_exponent": "The exponent is above 0: logits grow without end, and far "
        "sizes are predicted to be perfect or useless.",
    },
}


def _below(fit: CountFit, size: float) -> list[str]:
    smallest = float(fit.counted.trained_on[0])
    if size >= smallest:
        return []
    return [
        f"The question goes down to a size of {step(size)}, and the smallest that was "
        f"tried is {step(smallest)}: what happens below, these counts cannot say."
    ]


def class_heading(task: CountTask) -> str:
    """Return what the table of classes is of."""
    if task.classes <= MOST_CLASSES:
        return f"each class at {step(task.size)} examples"
    return (
        f"the {MOST_CLASSES} of {task.classes} classes with the lowest F1 at "
        f"{step(task.size)} examples; class_rows() has all"
    )


def tables_heading(asked: CountAsked) -> str:
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
    notes = []
    fits = [fit for task in tasks for fit in task.fits]
    validated = [
        f.counted for f in fits if (f.counted.trained_on < f.counted.sizes).any()
    ]
    if validated:
        first = validated[0]
        notes.append(
            f"Sizes are of what models were trained on, {step(first.largest)} where there "
            f"were {step(float(first.sizes[-1]))}: the others validated."
        )
    if any(len({f.counted.largest for f in task.fits}) > 1 for task in tasks):
        notes.append("times the data: of the largest size of each algorithm.")
    return notes


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
    return (
        [f"Left out, with counts at one size only: {some(names, most=MOST_NAMED)}."]
        if names
        else []
    )


def _convention(
    tasks: tuple[CountTask, ...], asked: CountAsked, classes: tuple[str, ...]
) -> list[str]:
    """Return of which class the metrics are that are of one."""
    names = [name for name in asked.metrics if name in AVERAGED]
    if not names:
        return []
    what = capital(joined([label(name) for name in names]))
    what += " is" if len(names) == 1 else " are"
    how = asked.metrics[names[0]]
    of_two = f"of class {classes[1] if len(classes) == 2 else 1}, the positive one"
    of_more = "means over classes (macro averages)"
    if "positive" in how:
        convention = f"of class {classes[how['positive']]} against the rest"
    elif "average" in how:
        convention = f"{how['average']} averages over classes"
    elif all(task.classes == 2 for task in tasks):
        convention = of_two
    elif all(task.classes > 2 for task in tasks):
        convention = of_more
    else:
        convention = f"{of_two}, on tasks of two classes, and {of_more} on the others"
    return [f"{what} {convention}."]


# --- Whose rates are best and what more data would buy, in one sentence ----------------


_MOST_TASKS = 3  # that are told one by one


def leads(tasks: Sequence[CountTask], asked: CountAsked) -> tuple[Lead, ...]:
    """Return whose curve is best in the leading metric at the common size of each task.

    Nothing here tests one algorithm against another.
    """
    name = leading(asked)
    metric = find(name)
    up = metric.sign if metric is not None else 1
    return tuple(
        lead_on(
            task.task,
            {fit.algorithm: up * float(fit.told[name].value[0]) for fit in task.fits},
            [
                Finding.of(task.task, pair, None)
                for pair in combinations(task.algorithms, 2)
            ],
        )
        for task in tasks
    )


def headline(tasks: Sequence[CountTask], asked: CountAsked) -> str:
    """Return in one sentence how good the best is, and what more data would buy."""
    in_front = leads(tasks, asked)
    if len(tasks) > _MOST_TASKS:
        return _most_often(tasks, in_front, asked)
    names = short_names(task.task for task in tasks)
    sure = f" {confidently(asked.confidence, sure=False)}"
    parts = []
    for task, lead in zip(tasks, in_front, strict=True):
        parts.append(
            f"{at_tasks([task.task], names)}{_clause(task, lead, asked, sure)}"
        )
        sure = ""  # is said once
    return sentence(f"{'; '.join(parts)}.")


def _clause(task: CountTask, lead: Lead, asked: CountAsked, sure: str) -> str:
    name, names = leading(asked), short_names(task.algorithms)
    rates = {fit.algorithm: point_of(fit.told[name]) for fit in task.fits}
    values = {n: f"{estimate(rate)}, {span(rate)}" for n, rate in rates.items()}
    how = f"{label(name)} {values[lead.leader]}{sure}"
    at = f"with {step(task.size)} examples"
    fit = of_algorithm(task.fits, lead.leader)
    then = point_of(fit.told[name], 1)
    twice = would_bring("twice the data", then, gain_of(fit, asked))
    who = names[lead.leader]
    if not lead.open:
        return f"{who} has {how}, {at}; {twice}"
    rest = some([f"{names[n]} ({values[n]})" for n in lead.open])
    return f"{who} comes out in front {at} ({how}) before {rest}; {twice}"


def _most_often(
    tasks: Sequence[CountTask], in_front: Sequence[Lead], asked: CountAsked
) -> str:
    """Return who is in front on most of many tasks."""
    name, names = leading(asked), short_names(lead.leader for lead in in_front)
    most, times = Counter(lead.leader for lead in in_front).most_common(1)[0]
    fits = [
        of_algorithm(task.fits, lead.leader)
        for task, lead in zip(tasks, in_front, strict=True)
    ]
    gains = sum(gain_of(fit, asked) == "gain" for fit in fits)
    rates = sorted((point_of(fit.told[name]) for fit in fits), key=lambda x: x.value)
    low, high = (f"{estimate(x)} ({span(x)})" for x in (rates[0], rates[-1]))
    more = "on none is it sure that twice the data would better it"
    if gains:
        more = (
            f"twice the data would probably better it on {gains} and perhaps elsewhere"
        )
    return (
        f"Of {count(len(tasks), 'task')}, {names[most]} comes out in front most often, on "
        f"{times}, by {label(name)}, which goes from {low} to {high} for whoever is in "
        f"front, {confidently(asked.confidence, sure=False)} each; {more}."
    )


def would_change(tasks: Sequence[CountTask]) -> str:
    """Return what would change it: test examples, runs, larger training sets."""
    fits = [fit for task in tasks for fit in task.fits]
    tested = min(fit.curve.counts.sum((1, 2)).min() for fit in fits)
    largest = max(fit.counted.largest for fit in fits)
    parts = [
        f"More test examples and more runs would narrow the intervals: the fewest answers "
        f"that were tested at a size are {int(tested):,}, and 4 times as many leave "
        f"half as much open.",
        f"Training on more than {step(largest)} examples would put facts in place of "
        f"the forecast.",
    ]
    if any(len(task.fits) > 1 for task in tasks):
        parts.append(
            "Algorithms are not tested against each other here; the sections on scores "
            "and on error do that."
        )
    if failed := sum(fit.counted.failed for fit in fits):
        verb = "counts as a run" if failed == 1 else "count as runs"
        parts.append(
            f"{count(failed, 'failed run')} {verb} whose every answer is wrong."
        )
    return " ".join(parts)
