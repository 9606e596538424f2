"""Trials that use every field, which a store must keep for ever.

`python tests/helpers/everything.py PATH` writes them to a new store: that is how
tests/assets/store-v1.db was made. The file is never made anew; a new version of the
format gets a file of its own beside it.
"""

import sys

import numpy as np

from curvewise.metrics import Metric
from curvewise.store import write
from curvewise.trials import Trial, Trials

METRICS = [
    Metric("accuracy", "higher", (0, 1), "fraction"),
    Metric("regret", "lower", (0, np.inf), "points", "Regret"),
    Metric("größe", "higher"),
]


def everything() -> Trials:
    """Return the trials."""
    steps = [10, 20.5, 1e6]
    asked = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1]], bool)
    correct = np.ma.masked_array([[1, 0, 0], [0, 0, 1], [1, 1, 1]], ~asked, dtype=bool)
    return Trials(
        [
            Trial(
                "moons",
                "svm",
                0,
                {"accuracy": [0.1, 1 / 3, 0.9], "regret": [5.0, np.nan, np.inf]},
                steps=steps,
                params={
                    "C": 0.1,
                    "kernel": "rbf",
                    "on": True,
                    "none": None,
                    "l": [1, 2],
                },
                labels={"seed": 7, "fold": "a"},
                counts=np.arange(27).reshape(3, 3, 3),
                correct=correct,
                examples=[3, 1, 2**40],
                seconds=0.123456789,
                attempts=2,
            ),
            Trial("moons", "svm", 1, {"accuracy": [None, 0.5, None]}, steps=steps),
            Trial("moons", "svm", -5, {"accuracy": 1.0}, correct=[True, False]),
            Trial("moons", "knn", 2**62, {"regret": 2.0}, counts=[[2**40, 0], [0, 1]]),
            Trial("moons", "knn", 0, status="crashed", error="SIGSEGV\n'\0\"; ünïcode"),
            Trial("круги", "knn", 0, {"größe": -0.0}, steps=[0]),
            Trial("круги", "knn", 1, {"größe": 1e-308}, steps=[1], status="timeout"),
            Trial("круги", "x" * 3000, 3, {"accuracy": 0.0, "größe": -1e300}),
            Trial("круги", "knn", 4, {"accuracy": 0.2}, status="cancelled"),
            Trial("круги", "knn", 5, {"accuracy": 0.3}, status="failed", seconds=1e-9),
        ],
        METRICS,
    )


if __name__ == "__main__":
    write(everything(), sys.argv[1])
