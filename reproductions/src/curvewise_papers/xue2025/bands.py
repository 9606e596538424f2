"""Bands of one matrix that nobody saw: as the paper prints them, and put right."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from curvewise.stats import counts

Floats: TypeAlias = NDArray[np.float64]
Ends: TypeAlias = tuple[Floats, Floats]

ALPHA = 0.05


def printed_f1(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, prior: float = 1.0) -> Ends:
    r"""Return the interval that Eq. (28) prints for F1, which is none of F1.

    .. math:: 1 / (1 + U), \quad U \sim BetaPrime(FP + FN + 2 \lambda, TP + \lambda)

    It lacks a 1/2 before U and is the interval of the Jaccard index. The right one is
    `curvewise.stats.counts.f1_interval`.

    Examples
    --------
    >>> low, high = printed_f1(40, 12, 9)
    >>> round(float(low), 4), round(float(high), 4), round(80 / 101, 4)
    (0.5203, 0.7527, 0.7921)
    """
    hit, wrong = np.asarray(tp) + prior, np.asarray(fp) + np.asarray(fn) + 2 * prior
    # U is (1 - B)/B with B ~ Beta(TP + 1, FP + FN + 2), so that 1/(1 + U) is B.
    return (
        special.betaincinv(hit, wrong, ALPHA / 2),
        special.betaincinv(hit, wrong, 1 - ALPHA / 2),
    )


def printed_bands(matrices: Floats) -> tuple[Floats, Floats]:
    """Return both ends for error, precision, recall, F1 by Eqs. (25) to (28).

    Parameters
    ----------
    matrices : ndarray, shape (..., 2, 2)
        Virtual ones: what was foreseen, times the size of one validation set.

    Returns
    -------
    lower, upper : ndarray, shape (metric, ...)
    """
    return _ends(matrices, "paper", printed_f1)


def corrected_bands(matrices: Floats) -> tuple[Floats, Floats]:
    """Return the same with one prior for all metrics, and with the 1/2 of F1.

    They are the posterior given the virtual matrix. That one validation set was seen, and
    no more, is as wrong as before.
    """
    return _ends(
        matrices,
        "uniform",
        lambda tp, fp, fn: _both(counts.f1_interval(tp, fp, fn, prior="uniform")),
    )


def widest(validated: ArrayLike) -> Floats:
    """Return how wide Eq. (10) can be at all: half of the examples wrong.

    >>> widest([1250 / 3, 40_000 / 3]).round(4).tolist()
    [0.0956, 0.017]
    """
    half = np.asarray(validated, dtype=np.float64) / 2
    found = counts.error_interval(half, half, 0, 0, prior="paper")
    return found.upper - found.lower


def _ends(
    matrices: Floats,
    prior: Literal["paper", "uniform"],
    f1: Callable[[Floats, Floats, Floats], Ends],
) -> tuple[Floats, Floats]:
    (tn, fp), (fn, tp) = np.moveaxis(matrices, (-2, -1), (0, 1))
    every = (
        _both(counts.error_interval(tp, fp, fn, tn, prior=prior)),
        _both(counts.precision_interval(tp, fp, prior=prior)),
        _both(counts.recall_interval(tp, fn, prior=prior)),
        f1(tp, fp, fn),
    )
    lower, upper = zip(*every, strict=True)
    return np.stack(lower), np.stack(upper)


def _both(found: counts.CountIntervals) -> Ends:
    return found.lower, found.upper
