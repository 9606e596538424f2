"""
Was the best trial good, or lucky?
==================================

The hyperparameters at some percentiles of a search, each run again with fresh data and
seeds. Left: where they were taken. Middle: how they learn. Right: how they end when
nobody chooses the best.
"""

import numpy as np

import curvewise as cw


def load(rng):
    """Draw points on a line in ten dimensions."""
    X = rng.normal(size=(60, 10)) * np.linspace(0.3, 1, 10)
    return X, X @ np.ones(10) + 0.1 * rng.normal(size=60)


def descend(params, data, rng):
    """Fit it by gradient descent; steps that are too long diverge."""
    X, y = data
    w = np.zeros(10)
    for step in range(1, 16):
        w = w - params["lr"] * X.T @ (X @ w - y) / len(y)
        yield step, {"error": min(1.0, float(((w - 1) ** 2).mean()))}


search = cw.Experiment(
    cw.Task("line", load),
    cw.Algorithm("descent", {"lr": cw.loguniform(0.01, 2)}, descend),
    trials=500,
    seed=1,
)
QUIET = {"executor": "serial", "progress": False}
trials = cw.run(search, **QUIET)
answer = cw.quantile_slices(trials, search, trials_each=300, **QUIET)
cw.figures.plot_slices(answer)

# %%
# The trial at the 99th percentile was chosen for its score, and some of its reruns are
# lost:

answer
