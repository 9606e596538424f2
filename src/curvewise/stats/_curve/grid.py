"""The one kernel: weighted fits of e = c + b phi(n), for many curves and many shapes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._sample import Floats

# Temporaries are (curve, shape): a block of them stays in the cache of a core.
_CELLS = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class GridFit:
    """The best line for every curve and shape.

    Parameters
    ----------
    cost : ndarray, shape (curve, shape)
        Weighted sum of squares that is left.
    asymptote, amplitude : ndarray, shape (curve, shape)
        c and b of ``c + b phi``.
    """

    cost: Floats
    asymptote: Floats
    amplitude: Floats


def fit_grid(
    basis: Floats, errors: Floats, weights: Floats, *, is_bounded: bool = False
) -> GridFit:
    """Return the weighted least-squares c and b for every curve and shape.

    Parameters
    ----------
    basis : ndarray, shape (shape, size)
        phi at each size, for each shape.
    errors : ndarray, shape (curve, size)
    weights : ndarray, shape (curve, size) or (1, size)
        At least 0; 0 where a curve has no error.
    is_bounded : bool
        Whether c and b are at least 0: exact, by looking at both edges.

    Notes
    -----
    With x the basis moved and scaled to mean 0 and length 1, b = Sxy/Sxx and the cost is
    Syy - Sxy^2/Sxx: three matrix products and a few elementwise passes for all curves and
    shapes at once.
    """
    x, middle, scale = _standard(basis)
    total = weights.sum(axis=1, keepdims=True)
    wy = weights * errors
    y_mean = wy.sum(axis=1, keepdims=True) / total
    rest = errors - y_mean
    syy = (weights * rest**2).sum(axis=1, keepdims=True)
    x_mean = (weights @ x.T) / total
    sxx = weights @ (x**2).T - total * x_mean**2
    sxy = (weights * rest) @ x.T
    # A shape that is flat on the sizes of a curve has no slope to speak of.
    is_flat = sxx <= 1e-12 * total
    b = np.where(is_flat, 0.0, sxy / np.where(is_flat, 1.0, sxx))
    cost = np.maximum(syy - b * sxy, 0.0)
    amplitude = b / scale
    asymptote = y_mean - b * x_mean - amplitude * middle
    if is_bounded:
        _bound(basis, errors, weights, cost, asymptote, amplitude, (syy, y_mean))
    return GridFit(cost, asymptote, amplitude)


def fit_amplitudes(basis: Floats, errors: Floats, weights: Floats) -> GridFit:
    """Return the weighted least-squares b of ``e = b phi``, for every curve and shape."""
    sxx = weights @ (basis**2).T
    sxy = (weights * errors) @ basis.T
    b = sxy / np.where(sxx > 0, sxx, 1.0)
    syy = (weights * errors**2).sum(axis=1, keepdims=True)
    return GridFit(np.maximum(syy - b * sxy, 0.0), np.zeros_like(b), b)


def blocks(curves: int, shapes: int) -> Iterator[slice]:
    """Return the curves a block at a time, so that memory does not grow with them."""
    step = max(1, _CELLS // max(shapes, 1))
    for first in range(0, curves, step):
        yield slice(first, min(first + step, curves))


def _standard(basis: Floats) -> tuple[Floats, NDArray[np.float64], NDArray[np.float64]]:
    """Return shapes with mean 0 and length 1, and what was taken from them."""
    middle = basis.mean(axis=1)
    x = basis - middle[:, None]
    length = np.sqrt((x**2).sum(axis=1))
    scale = np.where(length > 0, length, 1.0)
    return x / scale[:, None], middle, scale


def _bound(
    basis: Floats,
    errors: Floats,
    weights: Floats,
    cost: Floats,
    asymptote: Floats,
    amplitude: Floats,
    flat: tuple[Floats, Floats],
) -> None:
    """Put what left the quadrant c, b >= 0 on its nearer edge, in place."""
    syy, y_mean = flat
    falls_below = asymptote < 0
    if falls_below.any():
        edge = fit_amplitudes(basis, errors, weights)
        cost[falls_below] = edge.cost[falls_below]
        amplitude[falls_below] = edge.amplitude[falls_below]
        asymptote[falls_below] = 0.0
    rises = amplitude < 0
    if rises.any():
        shape = cost.shape
        cost[rises] = np.broadcast_to(syy, shape)[rises]
        asymptote[rises] = np.broadcast_to(y_mean, shape)[rises]
        amplitude[rises] = 0.0
