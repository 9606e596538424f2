"""What questions about curves ask alike: which lines, on which steps, and how."""

import numpy as np
from numpy.typing import ArrayLike

from curvewise._text import Cell
from curvewise.analyses._asking import refuse_crossed
from curvewise.errors import listed
from curvewise.trials import Trials
from curvewise.trials.doors import Lines
from curvewise.trials.failures import Failed
from curvewise.trials.grids import Fill
from curvewise.trials.values import flat_values


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
        task: trials.where(task=task).lines(metric, grid=grid, fill=rule, failed=failed)
        for task in trials.tasks
    }


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

    Of every task the algorithms with two trials or more, failed ones among them, if there
    are two such algorithms and if anything is a curve at all.
    """
    core = trials.core
    if len(trials) == 0 or core.lengths.max() < 2:
        return trials.take(np.empty(0, np.int64)), []
    keep, left_out = np.zeros(len(trials), bool), []
    for code, task in enumerate(trials.tasks):
        here = core.task == code
        sizes = np.bincount(core.algorithm[here], minlength=len(trials.algorithms))
        many = np.flatnonzero(sizes > 1)
        lonely = [trials.algorithms[i] for i in np.flatnonzero(sizes == 1)]
        if len(many) > 1:
            keep |= here & np.isin(core.algorithm, many)
            if lonely:
                left_out.append(f"Left out on {task}, with one line: {listed(lonely)}.")
        else:
            left_out.append(
                f"Left out: {task}, with lines of fewer than two algorithms."
            )
    return trials.take(np.flatnonzero(keep)), left_out


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
