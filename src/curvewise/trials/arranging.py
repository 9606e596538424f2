"""The order of trials: by task and algorithm as first met, then by number, each once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.trials.columns import Core, Ints
from curvewise.trials.trial import shown_key


def used(
    core: Core, tasks: Sequence[str], algorithms: Sequence[str]
) -> tuple[Core, tuple[str, ...], tuple[str, ...]]:
    """Return codes and names without the names that no trial has."""
    task, tasks = _compact(core.task, tasks)
    algorithm, algorithms = _compact(core.algorithm, algorithms)
    if task is not core.task or algorithm is not core.algorithm:
        core = replace(core, task=task, algorithm=algorithm)
    return core, tuple(tasks), tuple(algorithms)


def _compact(codes: Any, names: Sequence[str]) -> tuple[Any, Sequence[str]]:
    used = np.bincount(codes, minlength=len(names)) > 0
    if used.all():
        return codes, names
    new = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return new[codes], [
        name for name, is_used in zip(names, used, strict=True) if is_used
    ]


def order(core: Core, n_algorithms: int) -> Ints | None:
    """Return the rows by task, algorithm and number, or None if they already are."""
    one_task = core.task.max(initial=0) == 0
    group: Any = core.algorithm if one_task else _groups(core, n_algorithms)
    # Comparisons, not differences: bits, where millions of integers would be made.
    later, same = group[1:] > group[:-1], group[1:] == group[:-1]
    if (later | (same & (core.number[1:] >= core.number[:-1]))).all():
        return None
    # Two stable sorts: numbers arrive nearly sorted, and small codes sort in one pass.
    by_number = np.argsort(core.number, kind="stable")
    small = group.astype(np.uint16) if group.max(initial=0) < 2**16 else group
    return by_number[np.argsort(small[by_number], kind="stable")]


def _groups(core: Core, n_algorithms: int) -> Ints:
    return core.task.astype(np.int64) * max(n_algorithms, 1) + core.algorithm


def refuse_duplicates(
    core: Core, tasks: Sequence[str], algorithms: Sequence[str]
) -> None:
    """Raise if two trials have the same task, algorithm and number."""
    same = np.ones(max(len(core) - 1, 0), bool)
    for column in (core.number, core.algorithm, core.task):
        same &= column[1:] == column[:-1]
    if not same.any():
        return
    row = int(np.argmax(same))
    names = tasks[core.task[row]], algorithms[core.algorithm[row]]
    key = shown_key((*names, int(core.number[row])))
    raise CurvewiseError(
        f"{same.sum()} of {len(core)} trials have a key that another has too, first "
        f"(task, algorithm, number) = {key}. Give every run of an algorithm on a task "
        f"a number of its own."
    )
