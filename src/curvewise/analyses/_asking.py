"""What answers ask alike: which metric, of which trials, what a failure scores."""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from curvewise._text import Cell
from curvewise.errors import CurvewiseError, CurvewiseWarning, listed
from curvewise.metrics import Floats, Metric
from curvewise.stats.comparison.differences import ENOUGH
from curvewise.stats.functionals import ENOUGH as ENOUGH_TOGETHER
from curvewise.stats.functionals import Functional
from curvewise.trials import Trials, doors
from curvewise.trials.columns import Ints
from curvewise.trials.doors import At
from curvewise.trials.failures import Failed
from curvewise.trials.values import scored

AT_WORDS = {"last": "last step", "mean": "mean over the steps", "best": "best step"}


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The scores of one algorithm on one task, as they were drawn.

    Parameters
    ----------
    scores : ndarray, shape (trial,)
        In the order of the trials' numbers, failures with what a failure scores.
    numbers : ndarray of int, shape (trial,)
        Trials of the same number met the same data: across algorithms they are pairs.
    failed : int
        How many of them failed.
    """

    scores: Floats
    numbers: Ints
    failed: int


def samples(
    trials: Trials, metric: str, at: At, failed: Failed
) -> dict[str, dict[str, Sample]]:
    """Return the scores of each algorithm on each task."""
    return {task: _of_task(trials, task, metric, at, failed) for task in trials.tasks}


def _of_task(
    trials: Trials, task: str, metric: str, at: At, failed: Failed
) -> dict[str, Sample]:
    own = trials.where(task=task) if len(trials.tasks) > 1 else trials
    scores, broken = doors.scores(own, metric, at, failed)
    numbers = doors.numbers(own, at)
    return {
        name: Sample(values, numbers[name], int(broken[name].sum()))
        for name, values in scores.items()
        if len(values)
    }


def metric_of(trials: Trials, metric: str | None) -> str:
    """Return the metric that was asked for, or the only one."""
    if metric is not None:
        return metric
    scores = scored(trials)
    if len(scores) == 1:
        return scores[0]
    raise CurvewiseError(
        f"Which metric? These trials have {listed(scores) or 'none'}. Pass one."
    )


def failed_score(metric: Metric, failed: Failed) -> str:
    """Return what a failed trial scores, in words."""
    if failed == "worst" and not math.isfinite(metric.worst):
        return "as bad as the worst of their task"
    score = metric.worst if failed == "worst" else failed
    return score if isinstance(score, str) else f"{score:g}"


def plain_setting(value: At | Failed) -> Cell:
    """Return `at` or `failed` as a setting to print."""
    return value if isinstance(value, str) else float(value)


def has_few(functional: Functional, n: int, confidence: float) -> bool:
    """Return whether `n` trials are fewer than the central limit theorem needs.

    As was measured for single intervals, and for the higher confidence of many that are
    to hold together.
    """
    least = ENOUGH_TOGETHER if confidence > 0.98 else ENOUGH.get(functional.of, 20)
    return functional.mass * n < least


def are_paired(one: Sample, other: Sample) -> bool:
    """Return whether entry i of both is the same trial: those of one number met one data.

    Samples of which only some have a partner are compared as independent ones. What they
    share, such as hard data, makes both better or worse together: intervals are then wider
    than need be, not narrower.
    """
    return bool(np.array_equal(one.numbers, other.numbers))


@contextmanager
def quietly() -> Iterator[None]:
    """Ask without warnings that there are few trials: an answer says so in its notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CurvewiseWarning)
        yield
