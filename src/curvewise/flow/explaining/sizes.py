"""Questions about training data: how error falls with it, how other rates move."""

from typing import Any

import numpy as np

from curvewise._text import count, joined, step
from curvewise.analyses._asking import crossed_factors
from curvewise.analyses._count_asking import Counted, counted_by_task
from curvewise.analyses._count_fits import FEWEST as FEWEST_OF_COUNTS
from curvewise.analyses._curve_asking import (
    ErrorScale,
    Measured,
    could_be_sizes,
    do_grow,
    error_scale,
    lowest,
    measured_by_task,
)
from curvewise.analyses._curve_fits import FEWEST, compared_at, has_curves
from curvewise.errors import CurvewiseError, listed
from curvewise.flow.explaining.answer import Question
from curvewise.flow.explaining.asking import (
    Asked,
    Settled,
    calls,
    command,
    expression,
    in_part,
    python,
    refused,
    settled,
    told,
)
from curvewise.metrics import Floats
from curvewise.stats.confusion import fit_confusion_curve
from curvewise.stats.powerlaw import fit_power_law
from curvewise.trials import Trials
from curvewise.trials.failures import Failed
from curvewise.trials.values import flat_values

_MOST = 200  # sizes; epochs and time steps are more

_LEARNING = (
    "learning",
    "How does error fall with data, and what would more buy?",
    "how error falls with data",
)
_CONFUSION = (
    "confusion",
    "How do precision, recall and F1 move with data?",
    "how precision, recall and F1 move with data",
)
_TRAIN = (
    "Train on 3 sizes or more, such as a half, a quarter and an eighth of the data, too, "
    "and give the size as the step."
)
_COUNT = (
    "Keep the confusion counts tp, fp, fn and tn of every run; an experiment yields them "
    "as 'counts'."
)
_IF_SIZES = "If these steps are sizes of training sets, ask all the same."
_PERHAPS = (
    "Nothing but their growth says that these steps are sizes of training sets, so no "
    "report takes them for such."
)


def learning_question(asked: Asked) -> Question:
    """Return whether it can be told how error falls with data."""
    trials = asked.trials
    if crossed_factors(trials):
        return Question(*_LEARNING, "no", **refused(trials))
    # Of what counts can tell, the error is what power laws were made for.
    metrics = ("error",) if "error" in asked.metrics else asked.metrics
    sure = tuple(name for name in metrics if could_be_sizes(trials, name))
    perhaps = tuple(name for name in metrics if not _against(trials, name, FEWEST))
    usable = sure or perhaps or metrics
    found = settled(Asked(trials, usable, asked.words), _learn)
    against = _against(trials, usable[0], FEWEST) if usable else ""
    if isinstance(found, str):
        add = _TRAIN if against else ""  # else it is the score that will not do
        return Question(*_LEARNING, "no", why=against or found, add=add)
    made = calls(asked, found, "learning", found.options)
    if against or not sure:
        add = f"{_TRAIN} {_IF_SIZES}" if against else _IF_SIZES
        return Question(*_LEARNING, "no", why=against or _PERHAPS, add=add, **made)
    curves = _measured(found)
    short = [one.algorithm for one in curves if len(one.sizes) < FEWEST]
    kept = [one for one in curves if len(one.sizes) >= FEWEST]
    why = in_part(found, asked, _too_few(short, FEWEST))
    return Question(
        *_LEARNING,
        "in part" if why else "yes",
        found=f"{told(found)}, {_of_sizes([one.sizes for one in kept])}",
        why=why,
        strength=_how_strong(
            min(len(one.sizes) for one in kept), min(min(one.counts) for one in kept)
        ),
        **made,
    )


def confusion_question(asked: Asked) -> Question:
    """Return whether it can be told how precision, recall and F1 move with data."""
    trials = asked.trials
    if crossed_factors(trials):
        return Question(*_CONFUSION, "no", **refused(trials))
    if not trials.details().classes.any():
        name = asked.metrics[0] if asked.metrics else None
        has_sizes = name is not None and not _against(trials, name, FEWEST_OF_COUNTS)
        return Question(
            *_CONFUSION,
            "no",
            why="These trials have no confusion counts.",
            add=_COUNT if has_sizes else f"{_COUNT} {_TRAIN}",
        )
    found = settled(Asked(trials, ("error",), asked.words), _count)
    against = _against(trials, "error", FEWEST_OF_COUNTS)
    if isinstance(found, str):
        return Question(*_CONFUSION, "no", why=against or found, add=_TRAIN)
    made = _confusion_calls(asked, found)
    if against or not could_be_sizes(trials, "error"):
        add = f"{_TRAIN} {_IF_SIZES}" if against else _IF_SIZES
        return Question(*_CONFUSION, "no", why=against or _PERHAPS, add=add, **made)
    curves = _counted(found.trials, found.failed)
    short = [one.algorithm for one in curves if len(one.sizes) < FEWEST_OF_COUNTS]
    kept = [one for one in curves if len(one.sizes) >= FEWEST_OF_COUNTS]
    why = in_part(found, asked, _too_few(short, FEWEST_OF_COUNTS))
    classes = joined([str(k) for k in sorted({one.classes for one in kept})])
    return Question(
        *_CONFUSION,
        "in part" if why else "yes",
        found=f"{told(found).replace(', error', '', 1)}, counts of {classes} classes, "
        f"{_of_sizes([one.trained_on for one in kept])}",
        why=why,
        strength=_how_strong(
            min(len(one.sizes) for one in kept), min(min(one.runs) for one in kept)
        ),
        **made,
    )


def _confusion_calls(asked: Asked, found: Settled) -> dict[str, str]:
    chosen = expression(found.trials, asked.trials)
    options: dict[str, Any] = found.options
    line = python("confusion", chosen, **options)
    if chosen != "trials":
        return {"python": line}
    return {"python": line, "command": command(asked, "confusion", options)}


# --- as the analyses begin ---------------------------------------------------------------


def _learn(part: Trials, metric: str, failed: Failed) -> None:
    scale, by_task = _by_task(part, metric, failed)
    good = {task: own for task, own in by_task.items() if has_curves(own)}
    for task, own in (good or by_task).items():
        for one in compared_at(task, own)[0]:
            fit_power_law(one.sizes, one.errors, unit=scale.unit, runs=one.runs)


def _by_task(
    part: Trials, metric: str, failed: Failed
) -> tuple[ErrorScale, dict[str, list[Measured]]]:
    scale = error_scale(part.metric(metric), lowest(part, metric))
    return scale, measured_by_task(part, metric, scale, failed)


def _measured(found: Settled) -> list[Measured]:
    _, by_task = _by_task(found.trials, found.metric, found.failed)
    return [one for own in by_task.values() for one in own]


def _count(part: Trials, _metric: str, failed: Failed) -> None:
    curves = _counted(part, failed)
    enough = [one for one in curves if len(one.sizes) >= FEWEST_OF_COUNTS]
    if not enough:
        raise CurvewiseError(
            f"There are counts at 1 size, and a curve needs {FEWEST_OF_COUNTS}."
        )
    for one in enough:
        fit_confusion_curve(
            one.sizes, one.counts, one.trained_on, examples=one.examples
        )


def _counted(part: Trials, failed: Failed) -> list[Counted]:
    return [one for own in counted_by_task(part, failed).values() for one in own]


# --- are these sizes? --------------------------------------------------------------------


def _steps(trials: Trials, metric: str) -> Floats:
    _, known = flat_values(trials, metric)
    steps: Floats = np.unique(trials.core.steps[known])
    return steps


def _against(trials: Trials, metric: str, least: int) -> str:
    """Return what speaks against steps being sizes of training sets; empty if nothing.

    The rule of `could_be_sizes`, but for any metric and any number of sizes.
    """
    steps = _steps(trials, metric)
    if len(steps) < 2:
        return (
            "All scores are at one step: none says how many examples were trained on."
        )
    if steps[0] <= 0:
        return f"Step {step(steps[0])} is no size of a training set, which is above 0."
    span = f"Steps go from {step(steps[0])} to {step(steps[-1])}"
    if len(steps) > _MOST:
        return (
            f"{span}, {len(steps):,} of them: that is time, not sizes of training sets."
        )
    if not do_grow(steps):
        return (
            f"{span} without growing by a fifth from one to the next, as sizes of training "
            f"sets do: they look like epochs."
        )
    if len(steps) < least:
        return f"There are {len(steps)} sizes, and a curve needs {least}."
    return ""


# --- in words ----------------------------------------------------------------------------


def _too_few(names: list[str], least: int) -> str:
    if not names:
        return ""
    few = listed(dict.fromkeys(names), 4)
    return f"Not of {few}, with fewer than {least} sizes."


def _of_sizes(sizes: list[Floats]) -> str:
    fewest, most = min(map(len, sizes)), max(map(len, sizes))
    many = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    low, high = min(own[0] for own in sizes), max(own[-1] for own in sizes)
    return f"{many} sizes from {step(float(low))} to {step(float(high))}"


def _how_strong(sizes: int, runs: int) -> str:
    told = f"{count(runs, 'run')} at each size at least."
    if runs == 1:
        told += " Of one run nobody sees how it varies but from the fit itself."
    if sizes <= FEWEST:
        told += (
            f" Through {sizes} sizes almost any curve fits: with more it is seen whether "
            f"it does."
        )
    return told
