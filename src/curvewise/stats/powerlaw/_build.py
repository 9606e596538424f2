"""Checked curves in, power laws out, a block at a time."""

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._curve.runs import Unit
from curvewise.stats._sample import Floats
from curvewise.stats.powerlaw._checks import scale_of
from curvewise.stats.powerlaw._data import Fitted, Method, Observed, Terms, Weights
from curvewise.stats.powerlaw.curves import PowerLaws


def fit_observed(
    seen: Observed,
    is_fitted: NDArray[np.bool_],
    *,
    method: Method,
    weights: Weights,
    terms: Terms,
    unit: Unit,
    floor: float | None,
    size: float,
) -> PowerLaws:
    """Return power laws of checked curves, all in fractions."""
    curves = len(seen.means)
    found = np.full((6, curves), np.nan)
    laws = PowerLaws(
        *(np.full(curves, np.nan),) * 8,
        is_fitted,
        size,
        unit,
        method,
        weights,
        terms,
        seen,
        floor,
    )
    scale, largest = scale_of(unit), float(seen.sizes[-1])
    for rows in laws._blocks():
        fit = laws._fit(rows)
        theta = np.zeros((len(fit.gamma), 3))
        theta[:, : fit.theta.shape[1]] = fit.theta
        # Rows that could not be fitted were replaced by others, and are masked below.
        unscaled = theta * largest ** -(fit.gamma[:, None] * np.arange(3))
        found[:3, rows] = scale * unscaled.T
        found[3, rows], found[4, rows] = fit.gamma, fit.cost
        found[5, rows] = _r_squared(seen.means[rows], fit)
    found[:, ~is_fitted] = np.nan
    alpha, eta, delta, gamma, cost, r_squared = found
    x = size**gamma
    return PowerLaws(
        alpha,
        eta,
        delta,
        gamma,
        alpha + eta * x + delta * x**2,
        -2 * gamma * (eta * x + 2 * delta * x**2),
        cost,
        r_squared,
        is_fitted,
        size,
        unit,
        method,
        weights,
        terms,
        seen,
        floor,
    )


def _r_squared(means: Floats, fit: Fitted) -> Floats:
    total = fit.weights.sum(axis=1, keepdims=True)
    away = means - (fit.weights * means).sum(axis=1, keepdims=True) / total
    around = (fit.weights * away**2).sum(axis=1)
    return np.where(around > 0, 1 - fit.cost / np.where(around > 0, around, 1), np.nan)
