"""What a metric of these trials means, and its values, also from confusion counts."""

import json
from typing import TYPE_CHECKING

import numpy as np

from curvewise.errors import CurvewiseError, unknown
from curvewise.metrics import (
    FROM_COUNTS,
    NOT_SCORES,
    Floats,
    Metric,
    find,
    is_quality,
)
from curvewise.trials.columns import Bools, Core, Details, was_recorded

if TYPE_CHECKING:
    from curvewise.trials.table import Trials


def meaning(trials: "Trials", metric: str) -> Metric:
    """Return what a metric of these trials means; raise if they cannot tell it."""
    if not isinstance(metric, str):
        raise CurvewiseError(f"The metric is {metric!r}. Pass its name.")
    if metric in trials.metrics:
        return trials.metrics[metric]
    if metric in FROM_COUNTS and trials.details().classes.any():
        derived = find(metric)
        assert derived is not None  # noqa: S101  every name in FROM_COUNTS is registered
        return derived
    known = [*trials.metrics]
    if trials.details().classes.any():
        known += [name for name in FROM_COUNTS if name not in known]
    for kind in ("labels", "params"):
        first = getattr(trials.details(), kind)[0] if len(trials) else b""
        if len(first) and metric in json.loads(bytes(first)):
            raise CurvewiseError(
                f"'{metric}' was read among the {kind}, not as a metric. Read it with ",
                {"metrics": metric},
                ".",
            )
    raise unknown("metric", metric, known)


def scored(trials: "Trials") -> list[str]:
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


def flat_values(trials: "Trials", metric: str) -> tuple[Floats, Bools]:
    """Return a metric at all places of the flat curves, and where it was recorded."""
    core = trials.core
    if metric in core.values:
        return core.values[metric], was_recorded(core, metric)
    return from_counts(core, trials.details(), metric)


def tasks_measured(trials: "Trials", metric: str) -> tuple[str, ...]:
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
