"""What the generator of *simple* is worth, of which the paper prints no parameter."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from curvewise.engine.experiment import Experiment, Task
from curvewise.engine.supervised.data import Supervised
from curvewise.papers.xue2025.answers import METRICS, Answers
from curvewise.papers.xue2025.blocks import SIZES, TEST, experiment
from curvewise.papers.xue2025.foresee import CORRECTED, by_matrix, judged
from curvewise.zoo import simple_task

SHIFT, RATIO = 0.5, 2.0  # as in `simple_task`
# It was calibrated in tenths of the shift and halves of the ratio of variances.
HALF_STEPS = {"shift": {"shift": 0.55}, "ratio": {"ratio": 2.25}}
MOVED = ("LDA", "NB", "TREE")


@dataclass(frozen=True, slots=True)
class Moved:
    """Draws *simple* with class 1 elsewhere: the same random numbers, other parameters.

    Parameters
    ----------
    sample : callable
        Of the task.
    shift, ratio : float
        Mean and variance of every feature of class 1, where class 0 has 0 and 1.
    """

    sample: Any
    shift: float = SHIFT
    ratio: float = RATIO

    def __call__(
        self, train_rng: np.random.Generator, test_rng: np.random.Generator
    ) -> Supervised:
        """Return a training set from one stream and a test set from the other."""
        data: Supervised = self.sample(train_rng, test_rng)
        X, one = data.X.copy(), data.y == 1
        X[one] = self.shift + np.sqrt(self.ratio / RATIO) * (X[one] - SHIFT)
        return replace(data, X=X)


def moved(which: str, replications: int) -> Experiment:
    """Return the trials with one parameter half a step of the calibration away.

    >>> moved("shift", 10).tasks[0].sample.shift
    0.55
    """
    known = experiment(MOVED, replications)
    task = simple_task(test=TEST)
    return Experiment(
        [Task(task.name, Moved(task.sample, **HALF_STEPS[which]))],
        known.algorithms,
        trials=replications,
        seed=known.seed,
        metrics=known.metrics,
    )


def sensitivity(own: Answers, other: Answers, which: str) -> dict[str, list[Any]]:
    """Return by how much bands get longer with the parameter, over the same streams.

    Length stands for all numbers here: like the noise of a rate on a test set, and with
    it RMSE, it goes with the root of p (1 - p), and it hardly varies between replications.
    """
    here, there = (
        judged(by_matrix(each, CORRECTED), each.truth, CORRECTED, "observed")
        for each in (own, other)
    )
    return {
        "moved": len(METRICS) * len(SIZES) * [which],
        "metric": [name for name in METRICS for _ in SIZES],
        "n": len(METRICS) * list(SIZES),
        "length": np.round(here.length, 5).ravel().tolist(),
        "change": np.round(there.length - here.length, 5).ravel().tolist(),
    }
