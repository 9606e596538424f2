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
    group = core.task.astype(np.int64) * max(n_algorithms, 1) + core.algorithm
    if (np.diff(group) >= 0).all():
        same_group = np.diff(group) == 0
        if (np.diff(core.number)[same_group] >= 0).all():
            return None
    # Two stable sorts: numbers arrive nearly sorted, and small codes sort in one pass.
    by_number = np.argsort(core.number, kind="stable")
    small = group.astype(np.uint16) if group.max(initial=0) < 2**16 else group
    return by_number[np.argsort(small[by_number], kind="stable")]


def refuse_duplicates(
    core: Core, tasks: Sequence[str], algorithms: Sequence[str]
) -> None:
    """Raise if two trials have the same task, algorithm and number."""
    same = (
        (np.diff(core.number) == 0)
        & (np.diff(core.algorithm) == 0)
        & (np.diff(core.task) == 0)
    )
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
