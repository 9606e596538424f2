"""Likelihood regions of curves, and quantiles of the exponent."""

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.powerlaw._mixture import Mixture


def envelope(
    known: Mixture, n: Floats, confidence: float, left: Floats
) -> tuple[Floats, Floats]:
    """Return the lowest and the highest curve of each likelihood region, (curve, n).

    `left` is what is left to judge the noise by, shape (curve,); infinite where it is
    known. NaN where nothing is left.
    """
    from scipy.special import chdtri, fdtri

    q = parameters_in(known)
    squares = known.squares
    least = squares.min(axis=1)
    free = np.where(left >= 1, left, 1.0)
    exact = q * fdtri(q, np.where(np.isinf(free), 1.0, free), confidence)
    slack = np.where(np.isinf(free), chdtri(q, 1 - confidence), exact)
    # Where the noise is estimated it is so at the best curve.
    is_free = (known.scale != 1).any(axis=1)
    slack = np.where(
        is_free, slack * least / np.where(np.isinf(free), 1.0, free), slack
    )
    room = (least + slack)[:, None] - squares
    centre, unit = known.lines(n)
    half = np.sqrt(np.maximum(room, 0.0))[..., None] * unit
    inside = (room >= 0)[..., None]
    low = np.where(inside, centre - half, np.inf).min(axis=1)
    high = np.where(inside, centre + half, -np.inf).max(axis=1)
    is_there = (left >= 1)[:, None]
    return np.where(is_there, low, np.nan), np.where(is_there, high, np.nan)


def parameters_in(known: Mixture) -> int:
    """Return how many parameters a curve has, its exponent included where it is open."""
    return int(known.theta.shape[-1] + (known.gammas.shape[-1] > 1))


def freedom_left(known: Mixture) -> Floats:
    """Return what is left to judge the noise by, shape (curve,)."""
    is_known = (known.scale == 1).all(axis=1)
    # At a given exponent one more is left than where it is open.
    open_ones = parameters_in(known) - known.theta.shape[-1]
    return np.where(is_known, known.freedom, known.freedom - open_ones)


def exponent_quantile(p: Floats, gammas: Floats, weights: Floats) -> Floats:
    """Return quantiles of the exponent, each weight spread over its part of the grid."""
    if len(gammas) == 1:
        return np.full(len(p), gammas[0])
    middle = (gammas[1:] + gammas[:-1]) / 2
    edges = np.r_[gammas[0], middle, gammas[-1]]
    below = np.r_[0.0, np.cumsum(weights)]
    return np.asarray(np.interp(p, below / below[-1], edges))
