"""The scores of many tasks as one weighted sample, and resamples of it."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats, checked_scores
from curvewise.stats._student import unit_of

Scores: TypeAlias = Mapping[str, ArrayLike] | Sequence[ArrayLike] | NDArray[np.float64]
_BATCH = 1 << 20  # numbers held at a time


def by_task(scores: Scores) -> list[Floats]:
    """Return one array of runs per task; refuse what is not that."""
    if isinstance(scores, np.ndarray):
        if scores.ndim != 2 or 0 in scores.shape:
            raise CurvewiseError(
                f"Scores have shape {scores.shape}. Pass an array of shape (run, task), "
                f"or one array per task."
            )
        scores = list(scores.T)
    if not isinstance(scores, Iterable):
        raise CurvewiseError(f"Scores are {scores!r}. Pass one array of runs per task.")
    named = scores if isinstance(scores, Mapping) else dict(enumerate(scores))
    if not named:
        raise CurvewiseError("There are no tasks. Pass one array of scores per task.")
    return [_runs(task, z) for task, z in named.items()]


def _runs(task: str | int, scores: ArrayLike) -> Floats:
    try:
        return checked_scores(scores)
    except CurvewiseError as wrong:
        raise CurvewiseError(f"Task {task!r}: ", wrong.message) from None


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The runs of all tasks, sorted together; every task weighs the same.

    Parameters
    ----------
    scores : ndarray, shape (score,)
        In ascending order.
    task : ndarray, shape (score,)
        To which task each belongs.
    runs : ndarray, shape (task,)
        How many there are of each.
    """

    scores: Floats
    task: NDArray[np.int64]
    runs: NDArray[np.int64]

    @classmethod
    def of(cls, scores: Scores) -> "Pool":
        tasks = by_task(scores)
        runs = np.array([len(z) for z in tasks])
        pooled = np.concatenate(tasks)
        order = np.argsort(pooled, kind="stable")
        return cls(pooled[order], np.repeat(np.arange(len(tasks)), runs)[order], runs)

    @property
    def weights(self) -> Floats:
        """What each score weighs: 1 in sum, the same for every task."""
        weights: Floats = 1 / (len(self.runs) * self.runs[self.task])
        return weights

    def standard_error(self, values: Floats) -> tuple[float, float]:
        """Return that of the weighted mean of values, and its degrees of freedom.

        Tasks are strata: only what varies *within* them is chance.
        """
        inside = values - self.means(values)[self.task]
        unit = unit_of(inside)
        squares = self._sums((inside / unit) ** 2)
        parts = squares / (self.runs - 1) / self.runs / len(self.runs) ** 2
        total = math.fsum(parts)
        if total <= 0:
            return 0.0, 1.0
        freedom = total**2 / math.fsum(parts**2 / (self.runs - 1))
        return unit * math.sqrt(total), freedom

    def means(self, values: Floats) -> Floats:
        """Return the mean of values over the runs of each task."""
        means: Floats = self._sums(values) / self.runs
        return means

    def _sums(self, values: Floats) -> Floats:
        sums: Floats = np.bincount(self.task, values, len(self.runs)).astype(float)
        return sums

    def resampled(self, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield batches of weights, shape (resample, score): runs drawn within tasks."""
        size = len(self.scores)
        places = np.argsort(self.task, kind="stable")  # of the scores, task by task
        first = np.repeat(np.cumsum(self.runs) - self.runs, self.runs)
        runs, weights = np.repeat(self.runs, self.runs), self.weights
        batch = max(1, _BATCH // size)
        for done in range(0, resamples, batch):
            rows = min(batch, resamples - done)
            drawn = places[first + (rng.random((rows, size)) * runs).astype(np.int64)]
            drawn += size * np.arange(rows)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=rows * size)
            yield counts.reshape(rows, size) * weights


def percentile(values: Floats, p: float) -> tuple[float, float]:
    """Return a quantile of resamples along their first axis, and its standard error.

    The error is half the distance between the order statistics one standard deviation of
    their rank away. Where those tie it is 0, the least that it may be.
    """
    k = len(values)
    ranked = np.sort(values)
    at = min(max(math.ceil(k * p - 1e-9), 1), k) - 1
    spread = math.ceil(math.sqrt(k * p * (1 - p)))
    low, high = ranked[max(at - spread, 0)], ranked[min(at + spread, k - 1)]
    return float(ranked[at]), float(high - low) / 2
