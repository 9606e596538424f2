"""Weighted fits of alpha + eta x (+ delta x^2), x = (n/N)^gamma, for every exponent."""

from dataclasses import dataclass

import numpy as np

from curvewise.stats._curve.grid import fit_grid
from curvewise.stats._sample import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """The best line of every curve at every exponent.

    Parameters
    ----------
    gammas : ndarray, shape (shape,)
    cost : ndarray, shape (curve, shape)
        Weighted sum of squares that is left.
    theta : ndarray, shape (curve, shape, parameter)
        alpha, eta (and delta) on sizes that are divided by N.
    inverse : ndarray, shape (curve, shape, parameter, parameter)
        (A' W A)^-1: their covariance, up to the noise.
    spread : ndarray, shape (curve, shape)
        |A' W A| after A was moved and scaled to mean 0 and length 1: how much of the
        weight speaks of the line, whatever the unit of x.
    """

    gammas: Floats
    cost: Floats
    theta: Floats
    inverse: Floats
    spread: Floats


def columns(n: Floats, gammas: Floats, parameters: int) -> Floats:
    """Return 1, n^gamma (and n^(2 gamma)), shape (shape, size, parameter); inf is fine."""
    # A negative power of infinity is 0 in numpy, as it should be.
    x = n[None, :] ** gammas[:, None]
    return np.stack([x**j for j in range(parameters)], axis=-1)


def fit_lines(
    sizes: Floats, means: Floats, weights: Floats, gammas: Floats, parameters: int
) -> Lines:
    """Return the weighted least-squares lines; sizes are divided by N already.

    Parameters
    ----------
    sizes : ndarray, shape (size,)
    means, weights : ndarray, shape (curve, size)
    gammas : ndarray, shape (shape,)
    parameters : int
        2 for alpha and eta, 3 with delta.
    """
    a = columns(sizes, gammas, parameters)
    if parameters == 2:
        return _fit_two(a[..., 1], means, weights, gammas)
    return _fit_many(a, means, weights, gammas)


def _fit_two(x: Floats, means: Floats, weights: Floats, gammas: Floats) -> Lines:
    fit = fit_grid(x, means, weights)
    total = weights.sum(axis=1, keepdims=True)
    middle = x.mean(axis=1)
    away = x - middle[:, None]
    length = (away**2).sum(axis=1)
    shift = (weights @ away.T) / total
    sxx = weights @ (away**2).T - total * shift**2
    mean = middle + shift
    inverse = np.empty((*sxx.shape, 2, 2))
    inverse[..., 0, 0] = 1 / total + mean**2 / sxx
    inverse[..., 0, 1] = inverse[..., 1, 0] = -mean / sxx
    inverse[..., 1, 1] = 1 / sxx
    theta = np.stack([fit.asymptote, fit.amplitude], axis=-1)
    return Lines(gammas, fit.cost, theta, inverse, total * sxx / length)


def _fit_many(a: Floats, means: Floats, weights: Floats, gammas: Floats) -> Lines:
    """Return lines with a curved term, from polynomials that are nearly orthogonal."""
    x = a[..., 1]
    middle = x.mean(axis=1, keepdims=True)
    scale = x.std(axis=1, keepdims=True)
    z = (x - middle) / scale
    design = np.stack([np.ones_like(z), z, z**2 - (z**2).mean(1, keepdims=True)], -1)
    normal = np.einsum("cs,gsi,gsj->cgij", weights, design, design)
    right = np.einsum("cs,gsi->cgi", weights * means, design)
    inverse = np.linalg.inv(normal)
    local = np.einsum("cgij,cgj->cgi", inverse, right)
    rest = means[:, None, :] - np.einsum("cgi,gsi->cgs", local, design)
    cost = (weights[:, None, :] * rest**2).sum(axis=-1)
    # 1, z, z^2 - c back in powers of x.
    m, s, c = middle[:, 0], scale[:, 0], (z**2).mean(axis=1)
    back = np.zeros((len(x), 3, 3))
    back[:, 0] = np.stack([np.ones_like(m), -m / s, m**2 / s**2 - c], axis=-1)
    back[:, 1, 1], back[:, 1, 2] = 1 / s, -2 * m / s**2
    back[:, 2, 2] = 1 / s**2
    theta = np.einsum("gij,cgj->cgi", back, local)
    inverse = back @ inverse @ back.swapaxes(-1, -2)
    even = np.linalg.det(np.einsum("gsi,gsj->gij", design, design))
    return Lines(gammas, cost, theta, inverse, np.linalg.det(normal) / even)
