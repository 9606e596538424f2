"""Noise of count curves whose shape is free: of runs, of models, of test sets.

Noise of rates is told in angles, arcsin(sqrt(rate)): there one answer has variance 1/4,
whatever the rate, and rates next to 0 or 1 do not blow up.
"""

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._sample import Floats
from curvewise.stats.confusion._data import CountTable

# What a test set adds is to this part common to all models: hard examples stay hard.
COMMON = 0.6
# Variance of a recall between models, in p (1 - p) / n after n training examples: the
# median of real curves, at all sizes alike. Counts as much as so many runs.
BETWEEN_MODELS, PRIOR_RUNS, PRIOR_MODELS = 2.0, 6.0, 2.0
_LEAST_MODELS = 0.05  # of what is usual
LEAST = 0.5  # answers that a rate is held away from 0 and 1, for its variance


def logit_variance(table: CountTable) -> Floats:
    """Return the variance of the logit of a recall between runs, (curve, size, class).

    What was seen between R runs and what is usual, p (1 - p) (1/m + 2/n) of m examples
    tested and n trained on, weighed R - 1 to 6.
    """
    each, rate = per_run(table), _rate(table)
    usual = 1 / np.where(each > 0, each, 1.0) + BETWEEN_MODELS / table.sizes[..., None]
    usual = rate * (1 - rate) * usual
    seen = np.diagonal(table.spread, axis1=-2, axis2=-1)
    known = np.isfinite(seen) & (table.runs[..., None] > 1)
    freedom = np.where(known, table.runs[..., None] - 1, 0.0)
    weight = freedom / (freedom + PRIOR_RUNS)
    between = weight * np.where(known, seen, 0.0) + (1 - weight) * usual
    return np.asarray(between / (rate * (1 - rate)) ** 2)


def per_run(table: CountTable) -> Floats:
    """Return test examples of a class per run, shape (curve, size, class)."""
    return np.asarray(table.total / np.maximum(table.runs, 1.0)[..., None])


def is_shared(table: CountTable) -> NDArray[np.bool_]:
    """Return which curves may have been tested on the same examples by every run."""
    each = per_run(table)
    there = (table.runs > 0)[..., None]
    high = np.where(there, each, -np.inf).max(1)
    low = np.where(there, each, np.inf).min(1)
    return np.asarray(table.is_fixed & (high == low).all(-1))


def examples_tested(table: CountTable) -> Floats:
    """Return how many different examples of a class tests held, shape (curve, class).

    Where nobody says: those of one run, if all runs may have had the same; those of all
    runs of a size, if test sets differ.
    """
    each = per_run(table).max(1)
    every = table.total.max(1)
    out = np.where(is_shared(table)[:, None], each, every)
    for i, own in enumerate(table.examples):
        if own is not None:
            out[i] = (own.asked.sum(0) > 0) @ own.membership(table.shares[i])
    return np.asarray(np.maximum(out, 1.0))


def of_models(table: CountTable, sizes: Floats) -> Floats:
    r"""Return the variance between models on all examples, in angles, at sizes.

    :math:`\Omega / n`, with :math:`\Omega` the mean near each size of what was seen there:
    n times the variance between runs, less its part from finite test sets. Of a test set
    that all runs share, only what is not common to them lies between runs.

    Returns
    -------
    ndarray, shape (curve, class, asked)
    """
    seen = np.diagonal(table.spread, axis1=-2, axis2=-1)
    between = seen - own_share(table)[:, None, None] * table.sampling
    known = np.isfinite(between) & (table.runs[..., None] > 1)
    freedom = np.where(known, table.runs[..., None] - 1, 0.0)
    rate = _rate(table)
    angle = np.where(known, between, 0.0) / (4 * rate * (1 - rate))
    weight = nearness(table, sizes)[:, :, None] * freedom[..., None]
    total = (weight * (angle * table.sizes[..., None])[..., None]).sum(1)
    total = (total + PRIOR_MODELS * BETWEEN_MODELS / 4) / (weight.sum(1) + PRIOR_MODELS)
    return np.asarray(np.maximum(total, _LEAST_MODELS * BETWEEN_MODELS / 4) / sizes)


def own_share(table: CountTable) -> Floats:
    """Return how much of what a test set adds is of each run alone, shape (curve,)."""
    return np.where(is_shared(table), 1 - COMMON, 1.0)


def nearness(table: CountTable, sizes: Floats) -> Floats:
    """Return weights (curve, size, asked): 1 for the nearest, half for an octave more."""
    there = (table.runs > 0)[..., None]
    seen = np.log2(np.where(table.runs > 0, table.sizes, 1.0))
    # Sizes without end are nearest to the last.
    away = np.abs(seen[:, :, None] - np.minimum(np.log2(sizes), 1e3))
    away = away - np.where(there, away, np.inf).min(1, keepdims=True)
    return np.asarray(np.where(there, 2.0 ** -np.maximum(away, 0.0), 0.0))


def held_near(table: CountTable, sizes: Floats) -> Floats:
    """Return test examples of a class per run near sizes, (curve, class, asked)."""
    weight = nearness(table, sizes)[:, :, None] * (table.total > 0)[..., None]
    total = (weight * per_run(table)[..., None]).sum(1)
    return np.asarray(np.maximum(total / np.maximum(weight.sum(1), 1e-300), 1.0))


def _rate(table: CountTable) -> Floats:
    """Return recalls as seen, a little away from 0 and 1."""
    runs = np.maximum(table.runs, 1.0)[..., None]
    return np.asarray((table.right / runs + LEAST) / (per_run(table) + 2 * LEAST))
