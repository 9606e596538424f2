"""How much each size counts in a fit."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.grid import fit_grid
from curvewise.stats._curve.runs import LARGEST_LOSS, Runs, Unit
from curvewise.stats._sample import Floats, one_of

Weights: TypeAlias = Literal["efficient", "equal", "recent"] | ArrayLike | None
SCHEMES = ("efficient", "equal", "recent")


def weights_of(runs: Runs, weights: Weights, unit: Unit) -> Floats:
    """Return the weight of each size of one curve.

    ``"efficient"`` is runs over variance, F_i/sigma_i^2, with the variances smoothed as
    sigma_0^2 + sigma^2/n_i: few runs say little about their own variance.
    """
    if weights is None:
        weights = "efficient" if (runs.counts > 1).any() else "equal"
    if not isinstance(weights, str) or weights != "efficient":
        given: Floats = weight_matrix(runs.sizes, 1, weights)[0]
        return given
    several = runs.counts > 1
    if not several.any():
        raise CurvewiseError(
            "Each size has one run, which says nothing about noise. Pass all runs of "
            "each size, or ",
            {"weights": "equal"},
            ".",
        )
    # In the unit of the errors, so that the cost is free of it.
    variances = _smooth(runs, several) * (1e4 if unit == "percent" else 1.0)
    if not variances.max() > 1e-24:  # runs that agree, but for rounding, tell nothing
        return runs.counts
    found: Floats = runs.counts / np.maximum(variances, 1e-6 * variances.max())
    return found


def _smooth(runs: Runs, several: Any) -> Floats:
    relative = runs.sizes / runs.sizes[-1]
    seen = np.where(several, runs.variances, 0.0)
    degrees = np.where(several, runs.counts - 1, 0.0)
    if several.sum() == 1:  # one size says how much, not how it changes
        return np.full(len(relative), seen[several][0])
    fit = fit_grid((1 / relative)[None], seen[None], degrees[None], is_bounded=True)
    found: Floats = fit.asymptote[0, 0] + fit.amplitude[0, 0] / relative
    return found


def weight_matrix(sizes: Floats, curves: int, weights: Weights) -> Floats:
    """Return weights of shape (1, size), or (curve, size) where they were passed so."""
    if weights is None:
        weights = "equal"
    if isinstance(weights, str):
        one_of("weights", weights, SCHEMES)
        if weights == "efficient":
            raise CurvewiseError(
                "weights is 'efficient', and means alone say nothing about noise. Pass "
                "'equal', 'recent', or runs over variance for each curve and size."
            )
        recent: Floats = (sizes / sizes.max()) ** 2
        return np.atleast_2d(recent if weights == "recent" else np.ones_like(recent))
    try:
        w = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    except (TypeError, ValueError):
        w = np.full((1, 1), np.nan)
    if w.ndim != 2 or w.shape[1] != len(sizes) or w.shape[0] not in (1, curves):
        raise CurvewiseError(
            f"weights are no table of numbers for {len(sizes)} sizes. Pass one for each "
            f"size, for all curves or for each of {curves}."
        )
    if not ((w >= 0) & (w <= LARGEST_LOSS)).all():
        raise CurvewiseError(
            f"A weight is below 0, above {LARGEST_LOSS:g} or no number. Pass numbers from "
            f"0 up."
        )
    return w
