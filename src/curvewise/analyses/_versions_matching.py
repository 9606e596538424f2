"""Which trials of two versions belong together, and which have no counterpart."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from curvewise._text import step
from curvewise.analyses._asking import refuse_crossed
from curvewise.errors import CurvewiseError, Verbatim, listed, shortened
from curvewise.metrics import Metric
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.ragged import to_texts
from curvewise.trials.values import scored

_SEED = re.compile("seed|fold|split|repeat", re.IGNORECASE)
_NUMBERED_BY = re.compile(r"\btrial=([^;]+)")  # as the origin of trials says it
BASE, NEW = "base: ", "new: "  # before the names of algorithms


@dataclass(frozen=True, slots=True)
class Names:
    """What is compared: an algorithm of the base with one of the new version, on a task."""

    task: str
    base: str
    new: str


@dataclass(frozen=True, slots=True)
class Matched:
    """What both versions have, and what only one of them has.

    Parameters
    ----------
    both : tuple of Names
    removed, added : tuple of str
        What only the base and only the new version has, in words.
    """

    both: tuple[Names, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]


def matched(base: Trials, new: Trials) -> Matched:
    """Return which algorithms are compared on which tasks.

    Two algorithms of different names are compared where each version has only one.
    """
    old, now = _cells(base), _cells(new)
    both = [Names(task, name, name) for task, name in old if (task, name) in now]
    if not both and len(base.algorithms) == len(new.algorithms) == 1:
        (one,), (other,) = base.algorithms, new.algorithms
        both = [Names(task, one, other) for task in base.tasks if task in new.tasks]
    if not both:
        raise CurvewiseError(
            f"BASE and NEW have no algorithm on a task in common: BASE has "
            f"{listed(base.algorithms)} on {listed(base.tasks)}, NEW has "
            f"{listed(new.algorithms)} on {listed(new.tasks)}. Give what belongs together "
            f"the same names."
        )
    in_base = {(n.task, n.base) for n in both}
    in_new = {(n.task, n.new) for n in both}
    return Matched(
        tuple(both),
        _only([cell for cell in old if cell not in in_base], new),
        _only([cell for cell in now if cell not in in_new], base),
    )


def _cells(trials: Trials) -> list[tuple[str, str]]:
    """Return the pairs of task and algorithm of which there are trials, in order."""
    core, k = trials.core, len(trials.algorithms)
    _, first = np.unique(core.task.astype(np.int64) * k + core.algorithm, True)
    return [trials.key(row)[:2] for row in np.sort(first).tolist()]


def _only(cells: Sequence[tuple[str, str]], other: Trials) -> tuple[str, ...]:
    """Return in words what one version has and the other has not."""
    told: dict[str, None] = {}
    for task, name in cells:
        where, who = f"'{shortened(task)}'", f"'{shortened(name)}'"
        if task not in other.tasks:
            told[f"task {where}"] = None
        elif name not in other.algorithms:
            told[f"algorithm {who}"] = None
        else:
            told[f"{who} on {where}"] = None
    return tuple(told)


def metric_of_both(base: Trials, new: Trials, metric: str | None) -> Metric:
    """Return what both versions are judged by; raise where one of them lacks it."""
    for version, trials in (("BASE", base), ("NEW", new)):
        try:
            must_be_trials(trials)
        except CurvewiseError as problem:
            raise CurvewiseError(f"{version}: ", problem.message) from None
        if len(trials) == 0:
            raise CurvewiseError(f"{version} has no trials. Check what was read.")
    if metric is None:
        theirs = scored(new)
        common = [name for name in scored(base) if name in theirs]
        if len(common) != 1:
            raise CurvewiseError(
                f"Which metric? BASE has {listed(scored(base)) or 'none'}, NEW has "
                f"{listed(theirs) or 'none'}. Pass ",
                {"metric": Verbatim("<one that both have>")},
                ".",
            )
        (metric,) = common
    meant = [
        _meaning(trials, metric, v) for v, trials in (("BASE", base), ("NEW", new))
    ]
    if meant[0] != meant[1]:
        raise CurvewiseError(
            f"'{metric}' is {meant[0]} in BASE and {meant[1]} in NEW. Read both with "
            "the same ",
            {"metrics": ...},
            ".",
        )
    return meant[0]


def _meaning(trials: Trials, metric: str, version: str) -> Metric:
    try:
        return trials.metric(metric)
    except CurvewiseError as problem:
        raise CurvewiseError(f"{version}: ", problem.message) from None


def together(base: Trials, new: Trials) -> Trials:
    """Return the trials of both versions, told apart by the names of the algorithms.

    So both are scored alike: the worst score that a failure gets is that of both.
    """
    for trials in (base, new):
        refuse_crossed(trials)
    return Trials.concat([_named(base, BASE), _named(new, NEW)])


def _named(trials: Trials, version: str) -> Trials:
    return Trials.from_columns(
        trials.tasks,
        [f"{version}{name}" for name in trials.algorithms],
        trials.metrics,
        trials.core,
        trials.details,
        origin=trials.origin,
        design=trials.design,
    )


def have_same_seeds(base: Trials, new: Trials, names: Names) -> bool:
    """Return whether trials of one number have one seed, as far as labels say.

    Seeds that are no whole numbers are counted as they come, in each version for itself.
    """
    one = _seeds(base.where(task=names.task, algorithm=names.base))
    other = _seeds(new.where(task=names.task, algorithm=names.new))
    return one == other


def _seeds(trials: Trials) -> list[dict[str, object]]:
    """Return what the labels of each trial say of its seed, in the order of numbers."""
    said = _NUMBERED_BY.findall(trials.origin)
    numbered_by = {name for labels in said for name in labels.split("+")}
    labels = (json.loads(text or "{}") for text in to_texts(trials.details().labels))
    return [
        {n: v for n, v in own.items() if n in numbered_by or _SEED.search(n)}
        for own in labels
    ]


def ends_apart(base: Trials, new: Trials, tasks: Sequence[str]) -> list[str]:
    """Return in words on which tasks the curves of both versions end at other steps."""
    ends = _ends(base), _ends(new)
    told = []
    for task in dict.fromkeys(tasks):
        one, other = (found.get(task) for found in ends)
        if one is not None and other is not None and one != other:
            told.append(f"{task}: step {step(one)} and {step(other)}")
    return told


def _ends(trials: Trials) -> Mapping[str, float]:
    """Return the last step of each task that any trial that ended well got to."""
    core = trials.core
    rows = np.flatnonzero((core.lengths > 0) & (core.status == 0))
    last = core.steps[core.offsets[rows + 1] - 1]
    return {
        task: float(last[core.task[rows] == code].max())
        for code, task in enumerate(trials.tasks)
        if (core.task[rows] == code).any()
    }
