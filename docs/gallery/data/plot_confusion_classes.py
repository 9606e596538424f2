"""
Which class profits from more data?
===================================

One panel per class. A rare class often goes on learning where the average stands still.
"""

import numpy as np

import curvewise as cw

SIZES = (50, 100, 200, 400, 800)


def matrix(size, rng):
    """Return counts of three classes with 60 examples each; the last is the hardest."""
    missed = np.array([0.5, 0.9, 1.6]) * size**-0.3
    right = rng.binomial(60, 1 - missed)
    return np.diag(right) + np.roll(np.diag(60 - right), 1, axis=1)


rng = np.random.default_rng(4)
trials = cw.Trials(
    cw.Trial(
        "photos", "trees", i, {}, steps=SIZES, counts=[matrix(n, rng) for n in SIZES]
    )
    for i in range(3)
)
cw.figures.plot_confusion_classes(cw.confusion(trials))
