"""What questions about error and data ask alike: which errors, at which sizes."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from curvewise.analyses._asking import are_numbered, clusters_of, refuse_crossed
from curvewise.errors import CurvewiseError
from curvewise.metrics import Floats, Metric
from curvewise.trials import Trials
from curvewise.trials.columns import Ints
from curvewise.trials.doors import Points
from curvewise.trials.failures import Failed, broke_off
from curvewise.trials.values import flat_values, tasks_measured

_MOST_SIZES = 200  # of a curve against data; one against epochs has thousands
_GROWTH = 1.2  # from a size to the next, where sizes are meant to tell of data


@dataclass(frozen=True, slots=True)
class ErrorScale:
    """How a metric becomes an error, which is at least 0 and better the lower.

    Parameters
    ----------
    label : str
        What the error is called, such as ``"1 - accuracy"``.
    unit : {"fraction", "loss"}
        Whether it ends at 1.
    zero : float
        The best possible score, which is no error.
    sign : int
        Of the metric.
    is_assumed : bool
        Whether nobody stated the best possible score.

    Examples
    --------
    >>> error_scale(Metric("accuracy", "higher", range=(0, 1)))
    ErrorScale(label='1 - accuracy', unit='fraction', zero=1.0, sign=1, is_assumed=False)
    """

    label: str
    unit: Literal["fraction", "loss"]
    zero: float
    sign: int
    is_assumed: bool = False

    def error(self, score: Floats) -> Floats:
        """Return scores as errors."""
        return self.sign * (self.zero - score)


def _with_best(metric: Metric) -> dict[str, Any]:
    """Return how a range with a best score is stated, by an example."""
    low, high = (-math.inf, 100.0) if metric.sign > 0 else (-100.0, math.inf)
    example = Metric(metric.name, metric.direction, (low, high))
    return {"metrics": {metric.name: example}}


def error_scale(metric: Metric, lowest: float = -math.inf) -> ErrorScale:
    """Return how a metric becomes an error; refuse one that has no best score.

    Of a loss without a stated one that is 0, if it was never below.
    """
    low, high = metric.range
    zero = high if metric.sign > 0 else low
    is_assumed = metric.sign < 0 and not math.isfinite(low) and lowest >= 0
    if is_assumed:
        zero = 0.0
    if not math.isfinite(zero):
        raise CurvewiseError(
            f"'{metric.name}' has no best possible score, so it is no error that falls "
            f"towards a limit. Choose a rate or a loss, or state its range, such as ",
            _with_best(metric),
            ".",
        )
    label = metric.label
    if metric.sign > 0:
        label = f"{zero:g} - {label}"
    elif zero:
        label = f"{label} - {zero:g}"
    unit: Literal["fraction", "loss"] = "fraction" if metric.is_rate else "loss"
    return ErrorScale(label, unit, zero, metric.sign, is_assumed)


def lowest(trials: Trials, metric: str) -> float:
    """Return the lowest score of the trials, infinity if there is none."""
    values, known = flat_values(trials, metric)
    values = values[known]
    return float(values.min(initial=math.inf, where=~np.isnan(values)))


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The errors of one algorithm on one task.

    Parameters
    ----------
    task, algorithm : str
    sizes : ndarray, shape (size,)
        Increasing.
    errors : tuple of ndarray
        For each size, one error per run.
    runs : tuple of ndarray of int
        Of which trial each of them is: trials of one number met the same data.
    failed : int
        How many trials failed.
    seconds : float
        That a training example took, by how long the trials took; NaN if nobody knows.
    is_numbered : bool
        Whether the numbers of trials were given; rows of a file that were merely counted
        are no pairs.
    """

    task: str
    algorithm: str
    sizes: Floats
    errors: tuple[Floats, ...]
    runs: tuple[Ints, ...]
    failed: int
    seconds: float = math.nan
    is_numbered: bool = True

    @property
    def means(self) -> Floats:
        """The mean error at each size."""
        return np.array([own.mean() for own in self.errors])

    @property
    def counts(self) -> list[int]:
        """How many runs there are at each size."""
        return [len(own) for own in self.errors]


def measured_by_task(
    trials: Trials, metric: str, scale: ErrorScale, failed: Failed
) -> dict[str, list[Measured]]:
    """Return the errors of each algorithm on each task, size by size."""
    refuse_crossed(trials)
    out: dict[str, list[Measured]] = {}
    for task in tasks_measured(trials, metric):
        own = trials.where(task=task)
        points = own.points(metric, failed=failed)
        out[task] = [
            _measured(points[name], scale, own.where(algorithm=name), metric)
            for name in points
            if len(points[name].size)
        ]
    return out


def _measured(
    points: Points, scale: ErrorScale, trials: Trials, metric: str
) -> Measured:
    points, are_paired = _averaged(points, trials)
    order = np.lexsort((points.trial, points.size))
    sizes, first = np.unique(points.size[order], return_index=True)
    if not sizes[0] > 0:
        raise CurvewiseError(
            f"Step {sizes[0]:g} of '{trials.algorithms[0]}' is no size of a training "
            "set, which is above 0. Leave these rows out, or choose another column, ",
            {"step": "<column>"},
            ".",
        )
    errors = np.split(scale.error(points.value[order]), first[1:])
    runs = np.split(points.trial[order], first[1:])
    return Measured(
        *(trials.tasks[0], trials.algorithms[0], sizes, tuple(errors), tuple(runs)),
        int(broke_off(trials, *flat_values(trials, metric)).sum()),
        _seconds(trials),
        are_numbered(trials) and are_paired,
    )


def _averaged(points: Points, trials: Trials) -> tuple[Points, bool]:
    """Return one point for each cluster and size, and whether numbers may pair them."""
    if trials.design.unit != "cluster":
        return points, True
    clusters = clusters_of(trials, trials.design)[trials.algorithms[0]]
    place = clusters.place[np.searchsorted(trials.core.number, points.trial)]
    sizes, size = np.unique(points.size, return_inverse=True)
    met, which = np.unique(place * len(sizes) + size, return_inverse=True)
    means = np.bincount(which, points.value) / np.bincount(which)
    numbers = clusters.numbers[met // len(sizes)]
    return Points(numbers, sizes[met % len(sizes)], means), clusters.are_paired


def _seconds(trials: Trials) -> float:
    """Return how long a training example took, were time to grow with their number."""
    core, seconds = trials.core, trials.details().seconds
    owner = np.repeat(np.arange(len(core)), core.lengths)
    examples = np.bincount(owner, core.steps, minlength=len(core))
    timed = np.isfinite(seconds) & (core.status == 0) & (examples > 0)
    if not timed.any():
        return math.nan
    return float(seconds[timed].sum() / examples[timed].sum())


def asked_sizes(size: ArrayLike) -> Floats:
    """Return sizes that somebody asks about; refuse what is no number of examples."""
    try:
        sizes = np.atleast_1d(np.asarray(size, dtype=np.float64))
    except (TypeError, ValueError):
        sizes = np.array([])
    if (
        sizes.ndim != 1
        or not len(sizes)
        or not (np.isfinite(sizes) & (sizes > 0)).all()
    ):
        raise CurvewiseError(
            f"size is {size!r}. Pass one number of training examples, or several.",
            argument="size",
            value=size,
        )
    return sizes


def could_be_sizes(trials: Trials, metric: str) -> bool:
    """Return whether the steps of these trials look like sizes of training sets.

    Nobody has said so; three sizes or more, above 0, most of them a fifth larger than the
    one before, of a rate: epochs and time steps are evenly apart. Steps that go up by one
    count something else: nobody trains on one example more each time.
    """
    if not trials.metric(metric).is_rate:
        return False
    _, known = flat_values(trials, metric)
    sizes = np.unique(trials.core.steps[known])
    if not 3 <= len(sizes) <= _MOST_SIZES or sizes[0] <= 0:
        return False
    return do_grow(sizes)


def do_grow(sizes: Floats) -> bool:
    """Return whether most sizes are a fifth larger than the one before, and not by one."""
    is_count = bool((np.diff(sizes) == 1).all())
    return not is_count and bool(np.median(sizes[1:] / sizes[:-1]) >= _GROWTH)
