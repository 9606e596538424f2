"""Checked curves in, power laws out."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from curvewise.stats._curve.grid import blocks
from curvewise.stats._curve.runs import Unit, scale_of
from curvewise.stats._sample import Floats
from curvewise.stats.powerlaw._calibrated import fit_calibrated
from curvewise.stats.powerlaw._concerns import concerns_of
from curvewise.stats.powerlaw._data import Fitted, Method, Observed, Terms, Weights
from curvewise.stats.powerlaw._paper import fit_paper
from curvewise.stats.powerlaw.curve import PowerLaw

# A curve takes many temporaries for each exponent: fewer at a time than the kernel.
_SHAPES = 1000


def in_blocks(curves: int) -> Iterator[slice]:
    """Return the curves a block at a time."""
    return blocks(curves, _SHAPES)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of a fit; `floor` is in squared fractions."""

    method: Method
    weights: Weights
    terms: Terms
    unit: Unit
    floor: float | None
    size: float


def fit_curves(seen: Observed, asked: Asked) -> Fitted:
    """Return the fits of curves, in fractions."""
    if asked.method == "paper":
        return fit_paper(seen, asked.terms, asked.weights, asked.floor)
    return fit_calibrated(seen, asked.terms, asked.floor)


def formula_of(fit: Fitted, largest: float, unit: Unit) -> Floats:
    """Return alpha, eta and delta of fits, in their unit, shape (3, curve)."""
    theta = np.zeros((len(fit.gamma), 3))
    theta[:, : fit.theta.shape[1]] = fit.theta
    unscaled = theta * largest ** -(fit.gamma[:, None] * np.arange(3))
    return scale_of(unit) * unscaled.T


def r_squared(means: Floats, fit: Fitted) -> Floats:
    """Return which share of the variation between sizes fits explain, shape (curve,)."""
    total = fit.weights.sum(axis=1, keepdims=True)
    away = means - (fit.weights * means).sum(axis=1, keepdims=True) / total
    around = (fit.weights * away**2).sum(axis=1)
    return np.where(around > 0, 1 - fit.cost / np.where(around > 0, around, 1), np.nan)


def one_law(seen: Observed, fit: Fitted, asked: Asked) -> PowerLaw:
    """Return the power law of the only curve of a fit."""
    alpha, eta, delta = formula_of(fit, float(seen.sizes[-1]), asked.unit)[:, 0]
    scale, is_held = scale_of(asked.unit), asked.floor is not None
    return PowerLaw(
        float(alpha),
        float(eta),
        float(delta),
        float(fit.gamma[0]),
        asked.size,
        asked.unit,
        seen.sizes,
        scale * seen.means[0],
        seen.counts[0],
        asked.method,
        asked.weights,
        asked.terms,
        float(scale**2 * fit.floor[0]),
        float(scale**2 * fit.slope[0]),
        float(r_squared(seen.means, fit)[0]),
        concerns_of(seen, fit, asked.terms, asked.method, is_held),
        fit.mixture,
    )
