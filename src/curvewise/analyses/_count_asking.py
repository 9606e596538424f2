"""What the question about count curves asks of trials: whose matrices, at which sizes."""

from dataclasses import dataclass, replace

import numpy as np

from curvewise._text import joined, step
from curvewise.analyses._asking import refuse_crossed
from curvewise.analyses._count_examples import examples_of
from curvewise.errors import CurvewiseError, shortened, trials_where
from curvewise.metrics import Floats
from curvewise.stats.confusion import Examples
from curvewise.trials import Trials
from curvewise.trials.columns import Bools, Core, Ints
from curvewise.trials.failures import Failed
from curvewise.trials.trial import shown_key


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """The confusion matrices of one algorithm on one task, size by size.

    Parameters
    ----------
    task, algorithm : str
    sizes : ndarray, shape (size,)
        Increasing.
    trained_on : ndarray, shape (size,)
        Training examples that the models saw; fewer than the size where some of them were
        held out to validate.
    counts : tuple of ndarray, shape (run, class, class)
        One for each size.
    examples : Examples or None
        Which test examples were answered rightly, where the trials kept it.
    failed : int
        How many trials failed.
    """

    task: str
    algorithm: str
    sizes: Floats
    trained_on: Floats
    counts: tuple[Floats, ...]
    examples: Examples | None
    failed: int

    @property
    def largest(self) -> float:
        """The largest number of training examples that was tried."""
        return float(self.trained_on[-1])

    @property
    def runs(self) -> list[int]:
        """How many runs there are at each size."""
        return [len(own) for own in self.counts]

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.counts[0].shape[-1])


def counted_by_task(trials: Trials, failed: Failed) -> dict[str, list[Counted]]:
    """Return the matrices of each algorithm on each task."""
    refuse_crossed(trials)
    if trials.design.unit == "cluster":
        raise CurvewiseError(
            f"These are repeated runs ({trials.design}). The matrices of one "
            f"{trials.design.noun} are of the same examples: summed, they would "
            "count each of them several times, and their mean is no count. Keep one "
            "run of each, or read them as independent: ",
            {"cluster": []},
            ".",
        )
    if not trials.details().classes.any():
        raise CurvewiseError(
            "These trials have no confusion counts. Read a table with columns tp, fp, fn "
            "and tn, or let an experiment yield 'counts'; of a published accuracy and F1, "
            "curvewise.stats.counts.recover_counts finds the matrix."
        )
    if failed not in ("raise", "worst"):
        raise CurvewiseError(
            f"failed is {failed!r}. Pass 'worst' to count every answer of a failed run as "
            f"wrong, or 'raise': a matrix is no single score.",
            argument="failed",
            value=failed,
        )
    return {
        task: [
            _counted(own.where(algorithm=name), failed == "worst")
            for name in own.algorithms
        ]
        for task in trials.tasks
        for own in (trials.where(task=task),)
    }


def _counted(trials: Trials, is_worst: bool) -> Counted:
    core, details = trials.core, trials.details()
    task, algorithm = trials.tasks[0], trials.algorithms[0]
    broken = (core.status != 0) | (details.classes == 0)
    if broken.any() and not is_worst:
        _raise_failed(trials, broken)
    classes = np.unique(details.classes[details.classes > 0])
    if len(classes) != 1:
        told = (
            f"{joined([f'{k}' for k in classes])} classes. Read the runs of each number of "
            f"classes as a task of its own, or leave it out"
            if len(classes)
            else f"no confusion counts, first {_first(trials, broken)}. Leave it out"
        )
        raise CurvewiseError(
            f"The trials of '{algorithm}' on '{task}' have {told} with ",
            trials_where(algorithm=[...]),
            ".",
        )
    k = int(classes[0])
    rows = np.flatnonzero(details.classes > 0)
    matrices = details.counts.take(rows).flat.reshape(-1, k, k).astype(np.float64)
    part = core.take(rows)
    order = np.argsort(part.steps, kind="stable")
    sizes, first = np.unique(part.steps[order], return_index=True)
    _refuse_no_sizes(sizes, algorithm)
    by_size = np.split(matrices[order], first[1:])
    if is_worst and broken.any():
        # Only failed trials lack sizes; others may have had sizes of their own.
        met = core.take(np.flatnonzero(broken & (details.classes > 0))).steps
        reached = np.bincount(np.searchsorted(sizes, met), minlength=len(sizes))
        by_size = [
            _filled(own, int(broken.sum() - there))
            for own, there in zip(by_size, reached, strict=True)
        ]
    trained_on = _trained_on(part, order, first, sizes)
    examples = None if broken.any() else examples_of(trials, rows, sizes)
    sizes, trained_on, by_size, examples = _by_training(
        algorithm, sizes, trained_on, by_size, examples
    )
    return Counted(
        *(task, algorithm, sizes, trained_on, tuple(by_size), examples),
        int(broken.sum()),
    )


def _refuse_no_sizes(sizes: Floats, algorithm: str) -> None:
    if not sizes[0] > 0:
        raise CurvewiseError(
            f"Step {sizes[0]:g} of '{algorithm}' is no size of a training set, which "
            "is above 0. Leave these rows out, or choose another column, ",
            {"step": "<column>"},
            ".",
        )


def _trained_on(part: Core, order: Ints, first: Ints, sizes: Floats) -> Floats:
    """Return how many examples were trained on, as the trials recorded it.

    A run that did not record it saw all that there were.
    """
    if "trained_on" not in part.values:
        return sizes
    told = part.values["trained_on"]
    seen = np.where(np.isfinite(told), told, part.steps)[order]
    return np.array([own.mean() for own in np.split(seen, first[1:])])


def _by_training(
    algorithm: str,
    sizes: Floats,
    trained_on: Floats,
    by_size: list[Floats],
    examples: Examples | None,
) -> tuple[Floats, Floats, list[Floats], Examples | None]:
    """Return everything in the order of what models saw, which is that of the curve."""
    order = np.argsort(trained_on, kind="stable")
    seen = trained_on[order]
    if not (np.diff(seen) > 0).all():
        i = int(np.argmin(np.diff(seen)))
        raise CurvewiseError(
            f"Sizes {step(sizes[order[i]])} and {step(sizes[order[i + 1]])} of "
            f"'{algorithm}' were trained on the same number of examples, {step(seen[i])}, "
            f"by 'trained_on'. Correct it, or leave one of the sizes out."
        )
    if examples is not None:
        examples = replace(
            examples, right=examples.right[order], asked=examples.asked[order]
        )
    return sizes[order], seen, [by_size[i] for i in order], examples


def _filled(own: Floats, lacking: int) -> Floats:
    """Return the matrices of a size with `lacking` more, in which nothing is right.

    Every example of a class is called the next one.
    """
    if lacking <= 0:
        return own
    totals = np.round(own.sum((0, 2)) / len(own))
    wrong = np.roll(np.diag(totals), 1, axis=1)
    return np.concatenate([own, np.repeat(wrong[None], lacking, axis=0)])


def _raise_failed(trials: Trials, broken: Bools) -> None:
    verb = "has" if broken.sum() == 1 else "have"
    raise CurvewiseError(
        f"{broken.sum()} of {len(broken)} trials {verb} no confusion counts "
        f"along the whole curve, first {_first(trials, broken)}. Pass ",
        {"failed": "worst"},
        " to count every answer that is missing as wrong; dropping them would "
        "flatter the algorithms that crash.",
    )


def _first(trials: Trials, broken: Bools) -> str:
    row = int(np.argmax(broken))
    text = trials.details().error[row].tobytes().decode()
    reason = shortened(text, 200).rstrip(".") or "it has no counts"
    return f"{shown_key(trials.key(row))}: {reason}"
