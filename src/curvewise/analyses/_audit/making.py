"""Trials that were never run: from numbers that were drawn, with the names of real ones."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from curvewise.metrics import Floats, Metric
from curvewise.trials import Trials
from curvewise.trials.columns import Core, Details, Ints, no_details
from curvewise.trials.ragged import Ragged, starts


class Cell(NamedTuple):
    """What was drawn for one algorithm on one task.

    Parameters
    ----------
    task, algorithm : str
    numbers : ndarray of int, shape (trial,)
    lengths : ndarray of int, shape (trial,)
        How many steps each trial has.
    steps, values : ndarray, shape (point,)
        Of all trials, end to end.
    counts : ndarray of int, shape (point, class, class), optional
    """

    task: str
    algorithm: str
    numbers: Ints
    lengths: Ints
    steps: Floats
    values: Floats
    counts: Ints | None = None


def trials_of(cells: Sequence[Cell], metric: Metric | None, like: Trials) -> Trials:
    """Return drawn cells as trials, tasks and algorithms in the order of others.

    Parameters
    ----------
    cells : sequence of Cell
    metric : Metric, optional
        Of the values; None where there are only counts.
    like : Trials
        Those that the cells were fitted to.
    """
    tasks = {name: i for i, name in enumerate(like.tasks)}
    algorithms = {name: i for i, name in enumerate(like.algorithms)}
    each = [len(cell.numbers) for cell in cells]
    core = Core(
        np.repeat(np.array([tasks[c.task] for c in cells], np.int32), each),
        np.repeat(np.array([algorithms[c.algorithm] for c in cells], np.int32), each),
        np.concatenate([c.numbers for c in cells]).astype(np.int64),
        np.zeros(sum(each), np.int8),
        starts(np.concatenate([c.lengths for c in cells]).astype(np.int64)),
        np.concatenate([c.steps for c in cells]).astype(np.float64),
        {}
        if metric is None
        else {metric.name: np.concatenate([c.values for c in cells])},
        {},
    )
    return Trials.from_columns(
        like.tasks,
        like.algorithms,
        {} if metric is None else {metric.name: metric},
        core,
        _details(cells, sum(each)),
        origin=like.origin,
    )


def _details(cells: Sequence[Cell], n: int) -> Details:
    details = no_details(n)
    if any(cell.counts is None for cell in cells):
        return details
    tables = [cell.counts for cell in cells if cell.counts is not None]
    classes = [table.shape[-1] for table in tables]
    lengths = [c.lengths * k**2 for c, k in zip(cells, classes, strict=True)]
    flat = np.concatenate([table.ravel() for table in tables]).astype(np.int64)
    return replace(
        details,
        counts=Ragged(starts(np.concatenate(lengths).astype(np.int64)), flat),
        classes=np.repeat(classes, [len(c.numbers) for c in cells]),
    )
