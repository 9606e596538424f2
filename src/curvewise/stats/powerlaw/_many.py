"""Many checked curves in, power laws out, a block at a time."""

import numpy as np
from numpy.typing import NDArray

from curvewise.stats.powerlaw._build import (
    Asked,
    fit_curves,
    formula_of,
    in_blocks,
    r_squared,
)
from curvewise.stats.powerlaw._data import Observed
from curvewise.stats.powerlaw.curves import PowerLaws


def fit_observed(
    seen: Observed, is_fitted: NDArray[np.bool_], asked: Asked
) -> PowerLaws:
    """Return power laws of checked curves, all in fractions, a block at a time."""
    found = np.full((6, len(seen.means)), np.nan)
    for rows in in_blocks(len(seen.means)):
        fit = fit_curves(seen[rows], asked)
        # Rows that could not be fitted were replaced by others, and are masked below.
        found[:3, rows] = formula_of(fit, float(seen.sizes[-1]), asked.unit)
        found[3, rows], found[4, rows] = fit.gamma, fit.cost
        found[5, rows] = r_squared(seen.means[rows], fit)
    found[:, ~is_fitted] = np.nan
    alpha, eta, delta, gamma, cost, explained = found
    x = asked.size**gamma
    return PowerLaws(
        alpha,
        eta,
        delta,
        gamma,
        alpha + eta * x + delta * x**2,
        -2 * gamma * (eta * x + 2 * delta * x**2),
        cost,
        explained,
        is_fitted,
        asked.size,
        asked.unit,
        asked.method,
        asked.weights,
        asked.terms,
        seen,
        asked.floor,
    )
