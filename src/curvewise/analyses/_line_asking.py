"""What questions about curves ask alike: which lines, on which steps, and how."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise._text import Cell
from curvewise.analyses._asking import clusters_of, refuse_crossed
from curvewise.errors import Message, listed, trials_where
from curvewise.trials import Trials
from curvewise.trials.design import Design
from curvewise.trials.doors import Lines
from curvewise.trials.failures import Failed
from curvewise.trials.grids import Fill
from curvewise.trials.values import flat_values, tasks_measured

# What a page may ask for unasked: a minute or so of shuffles.
_MOST_PAIRS = 300  # of algorithms, over all tasks
_MOST_LINES, _FEWEST_LINES = 1000, 50  # of an algorithm on a task
_WORK = 10_000  # lines of an algorithm, times pairs


def lines_by_task(
    trials: Trials,
    metric: str,
    grid: int | ArrayLike | None,
    fill: Fill | None,
    failed: Failed,
) -> dict[str, Lines]:
    """Return the lines of each algorithm on each task.

    Parameters
    ----------
    trials : Trials
    metric : str
    grid, failed
        As in `curvewise.Trials.lines`.
    fill : {"error", "last", "linear"}, optional
        If left out, lines that have to meet a grid are interpolated; without a grid
        nothing is done to them.
    """
    refuse_crossed(trials)
    rule = how_to_fill(grid, fill)
    return {
        task: _averaged(
            own, own.lines(metric, grid=grid, fill=rule, failed=failed), trials.design
        )
        for task in tasks_measured(trials, metric)
        for own in (trials.where(task=task),)
    }


def _averaged(trials: Trials, lines: Lines, design: Design) -> Lines:
    """Return one line for each cluster of runs, their mean; others as they are."""
    if design.unit != "cluster":
        return lines
    clusters = clusters_of(trials, design)
    means = {name: clusters[name].means(own) for name, own in lines.items()}
    return replace(lines, by_algorithm=means)


def how_to_fill(grid: int | ArrayLike | None, fill: Fill | None) -> Fill:
    """Return how lines meet a grid: as stated, or interpolated where there is one."""
    if fill is not None:
        return fill
    return "error" if grid is None else "linear"


def grid_setting(grid: int | ArrayLike | None) -> Cell:
    """Return the steps that were asked for as a setting to print."""
    if grid is None or isinstance(grid, int):
        return grid
    return f"{np.size(grid)} given steps"


def with_lines(trials: Trials) -> tuple[Trials, list[str]]:
    """Return the trials whose curves can be compared, and what was left out.

    Of every task the algorithms with two independent trials or more, failed ones among
    them, if there are two such algorithms and if anything is a curve at all. Of very
    many trials the first ones: whole lines are shuffled thousands of times, for each
    pair of algorithms.
    """
    core = trials.core
    if len(trials) == 0 or core.lengths.max() < 2:
        return trials.take(np.empty(0, np.int64)), []
    keep, left_out = np.zeros(len(trials), bool), []
    unit = trials.design.clusters(trials)
    for code, task in enumerate(trials.tasks):
        here = core.task == code
        met = np.unique(np.stack([core.algorithm[here], unit[here]]), axis=1)[0]
        sizes = np.bincount(met, minlength=len(trials.algorithms))
        many = np.flatnonzero(sizes > 1)
        lonely = [trials.algorithms[i] for i in np.flatnonzero(sizes == 1)]
        if core.lengths[here].max(initial=0) < 2:
            left_out.append(f"Left out: {task}, with single scores.")
        elif len(many) > 1:
            keep |= here & np.isin(core.algorithm, many)
            if lonely:
                left_out.append(f"Left out on {task}, with one line: {listed(lonely)}.")
        else:
            left_out.append(
                f"Left out: {task}, with lines of fewer than two algorithms."
            )
    rows = np.flatnonzero(keep)
    few, told = _first_ones(trials.take(rows))
    return trials.take(rows[few]), [*left_out, *told]


def too_many_pairs(trials: Trials) -> str:
    """Return why the curves of so many algorithms are not compared unasked; else ""."""
    pairs = _pairs(trials)
    if pairs <= _MOST_PAIRS:
        return ""
    return Message(
        f"These are {len(trials.algorithms)} algorithms on {len(trials.tasks)} "
        f"tasks, that is {pairs:,} pairs of mean curves, which share what may go "
        f"wrong; a page compares {_MOST_PAIRS} at most. Choose whom to compare "
        "before you look at who is ahead: ",
        trials_where(algorithm=[...]),
        ".",
    )


def _pairs(trials: Trials) -> int:
    """Return how many pairs of algorithms met on the same task, over all tasks."""
    cells = np.zeros((len(trials.tasks), len(trials.algorithms)), bool)
    cells[trials.core.task, trials.core.algorithm] = True
    sizes = cells.sum(axis=1)
    return int((sizes * (sizes - 1) // 2).sum())


def _first_ones(trials: Trials) -> tuple[NDArray[np.intp], list[str]]:
    """Return the rows of the first trials of each algorithm on each task, and how many."""
    core = trials.core
    most = max(min(_MOST_LINES, _WORK // max(_pairs(trials), 1)), _FEWEST_LINES)
    cell = core.task.astype(np.int64) * len(trials.algorithms) + core.algorithm
    begins = np.flatnonzero(np.r_[True, np.diff(cell) != 0])  # rows are kept by cell
    sizes = np.diff(np.r_[begins, len(cell)])
    place = np.arange(len(cell)) - np.repeat(begins, sizes)
    if sizes.max() <= most:
        return np.arange(len(cell)), []
    told = (
        f"Of up to {sizes.max():,} lines of an algorithm on a task the first {most:,} by "
        f"number are compared; difference(trials) takes all."
    )
    return np.flatnonzero(place < most), [told]


def fewest_steps(trials: Trials, metric: str) -> int | None:
    """Return how many steps the shortest curve has; None where all have the same ones."""
    _, known = flat_values(trials, metric)
    core, fewest = trials.core, []
    uneven = False
    for code in range(len(trials.tasks)):
        own = np.flatnonzero((core.task == code) & (core.status == 0))
        ends = zip(core.offsets[own], core.offsets[own + 1], strict=True)
        steps = {core.steps[a:b][known[a:b]].tobytes() for a, b in ends}
        uneven |= len(steps) > 1
        fewest += [len(own) // core.steps.itemsize for own in steps]
    return max(min(fewest, default=2), 2) if uneven else None
