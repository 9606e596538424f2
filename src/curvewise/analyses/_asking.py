"""What answers ask alike: which metric, of which trials, what a failure scores."""

import json
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from curvewise._text import Cell
from curvewise.errors import CurvewiseError, CurvewiseWarning, listed
from curvewise.metrics import Floats, Metric
from curvewise.trials import Trials, doors
from curvewise.trials.columns import Ints
from curvewise.trials.doors import At
from curvewise.trials.failures import Failed
from curvewise.trials.ragged import to_texts
from curvewise.trials.values import scored

_ROLES = ("params", "train", "test", "data", "seed")  # that an experiment may cross
_LOOKED_AT = 2000  # trials; a crossing shows in fewer
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
    is_numbered : bool
        Whether the numbers were given; rows of a file that were merely counted are no
        pairs.
    """

    scores: Floats
    numbers: Ints
    failed: int
    is_numbered: bool = True


def samples(
    trials: Trials, metric: str, at: At, failed: Failed, *, crossed: bool = False
) -> dict[str, dict[str, Sample]]:
    """Return the scores of each algorithm on each task.

    Parameters
    ----------
    trials : Trials
    metric : str
    at, failed
        As in `curvewise.Trials.scores`.
    crossed : bool
        Whether trials may share their draws; if not, those of a crossed design are
        refused.
    """
    if not crossed:
        refuse_crossed(trials)
    return {task: _of_task(trials, task, metric, at, failed) for task in trials.tasks}


def refuse_crossed(trials: Trials) -> None:
    """Raise where trials share their draws."""
    if factors := crossed_factors(trials):
        raise CurvewiseError(
            f"These trials are crossed ({' x '.join(factors)}): they share draws, and are "
            f"not independent, as all that is computed here takes them to be. Ask "
            f"curvewise.variance_shares, or keep one trial of each draw."
        )


def crossed_factors(trials: Trials) -> tuple[str, ...]:
    """Return which draws the trials share, by how an experiment labels them."""
    core = trials.core
    first = (core.task == core.task[0]) & (core.algorithm == core.algorithm[0])
    rows = np.flatnonzero(first)[:_LOOKED_AT]
    texts = set(to_texts(trials.details().labels.take(rows)))
    labels = [json.loads(text) for text in texts if text]
    levels = {
        role: len({one[role] for one in labels if role in one}) for role in _ROLES
    }
    shared = tuple(role for role, n in levels.items() if n)
    is_repeated = any(levels[role] < len(labels) for role in shared)
    return shared if len(shared) > 1 and is_repeated else ()


def _of_task(
    trials: Trials, task: str, metric: str, at: At, failed: Failed
) -> dict[str, Sample]:
    own = trials.where(task=task) if len(trials.tasks) > 1 else trials
    scores, broken = doors.scores(own, metric, at, failed)
    numbers = doors.numbers(own, at)
    is_numbered = are_numbered(trials)
    return {
        name: Sample(values, numbers[name], int(broken[name].sum()), is_numbered)
        for name, values in scores.items()
        if len(values)
    }


def are_numbered(trials: Trials) -> bool:
    """Return whether the numbers of the trials were given, and not merely counted."""
    return "trial=(counted)" not in trials.origin


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
        return "as bad as the worst of their task, which bands take as given"
    score = metric.worst if failed == "worst" else failed
    return score if isinstance(score, str) else f"{score:g}"


def plain_setting(value: At | Failed) -> Cell:
    """Return `at` or `failed` as a setting to print."""
    return value if isinstance(value, str) else float(value)


def are_paired(one: Sample, other: Sample) -> bool:
    """Return whether entry i of both is the same trial: those of one number met one data.

    Samples of which only some have a partner are compared as independent ones. What they
    share, such as hard data, makes both better or worse together: intervals are then wider
    than need be, not narrower.
    """
    is_numbered = one.is_numbered and other.is_numbered
    return is_numbered and bool(np.array_equal(one.numbers, other.numbers))


@contextmanager
def quietly() -> Iterator[None]:
    """Ask without warnings that there are few trials: an answer says so in its notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CurvewiseWarning)
        yield
