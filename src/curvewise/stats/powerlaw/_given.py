"""What the fits are given, checked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, Keyword
from curvewise.stats._curve.runs import (
    Unit,
    checked_means,
    checked_sizes,
    refuse_twice,
    scale_of,
)
from curvewise.stats._sample import Floats, is_number, one_of
from curvewise.stats.powerlaw._checks import bounds_of
from curvewise.stats.powerlaw._data import WEIGHTS, Method, Observed, Terms, Weights


def checked_weights(weights: Any, method: Method) -> Weights:
    """Return the weights of a method; refuse those that it cannot have."""
    if weights is None:
        return "per_size" if method == "paper" else "efficient"
    one_of("weights", weights, WEIGHTS)
    if method == "calibrated" and weights != "efficient":
        raise CurvewiseError(
            f"weights is {weights!r}, and ",
            Keyword("method", "calibrated"),
            " judges exponents by their likelihood, which has efficient weights. Pass ",
            {"method": "paper"},
            " for others.",
            argument="weights",
            value=weights,
        )
    used: Weights = weights
    return used


def checked_floor(floor: Any, method: Method, unit: Unit, scale: float) -> float | None:
    """Return the noise floor in squared fractions; refuse what is none."""
    if method == "paper" and unit == "loss":
        raise CurvewiseError(
            Keyword("method", "paper"),
            " has constants in percent, and unit is 'loss'. Pass ",
            {"method": "calibrated"},
            ".",
        )
    if floor is None:
        return None
    if not is_number(floor) or floor <= 0:
        raise CurvewiseError(
            f"noise_floor is {floor!r}. Pass a variance above 0, in the unit of the errors "
            f"squared.",
            argument="noise_floor",
            value=floor,
        )
    return float(floor) / scale**2


def checked_reference(size: Any, sizes: Floats) -> float:
    """Return the reference size: the largest, if not given."""
    if size is None:
        return float(sizes[-1])
    if not is_number(size) or size <= 0:
        raise CurvewiseError(
            f"size is {size!r}. Pass a number of training examples.",
            argument="size",
            value=size,
        )
    return float(size)


def fewest_sizes(terms: Terms) -> int:
    """Return how many sizes a fit needs."""
    return {"linear": 2, "power": 3, "quadratic": 3, "full": 4}[terms]


def checked_increasing(sizes: Any, fewest: int) -> Floats:
    """Return sizes; refuse too few, and what does not increase."""
    n = checked_sizes(sizes)
    if len(n) < fewest:
        raise CurvewiseError(
            f"There are {len(n)} sizes, and this needs at least {fewest}."
        )
    if not (np.diff(n) > 0).all():
        raise CurvewiseError(
            "sizes do not increase. Pass them, and the means, in order."
        )
    refuse_twice(n)
    return n


def observed_curves(
    n: Floats, means: Any, counts: Any, variances: Any, unit: Unit
) -> tuple[Observed, NDArray[np.bool_]]:
    """Return curves in fractions, and which of them are curves at all."""
    scale = scale_of(unit)
    mean = checked_means(means, "means", len(n), unit)
    if len(mean) == 0:
        raise CurvewiseError("means have no row. Pass one for each curve.")
    count = _table(1.0 if counts is None else counts, "counts", len(n), len(mean))
    given = np.nan if variances is None else variances
    variance = _table(given, "variances", len(n), len(mean))
    # Variances that nobody gave are not 0: they say nothing.
    is_used = (count > 1) & (variances is not None)
    with np.errstate(invalid="ignore"):
        is_fine = np.isfinite(mean) & (mean >= 0) & (mean <= bounds_of(unit)[1])
        is_fine &= np.isfinite(count) & (count >= 1)
        is_fine &= ~is_used | (np.isfinite(variance) & (variance >= 0))
    is_fitted = np.asarray(is_fine.all(axis=1))
    # A harmless curve in place of each that is none, so that no warning comes of it.
    rows = is_fitted[:, None]
    freedom = np.where(is_used & rows, count - 1, 0.0)
    squares = np.where(freedom > 0, freedom * variance, 0.0) / scale**2
    seen = Observed(
        n,
        np.where(rows, mean / scale, (n[0] / n) ** 0.5),
        np.where(rows, count, 1.0),
        squares,
        freedom,
    )
    return seen, is_fitted


def _table(values: Any, name: str, sizes: int, curves: int) -> Floats:
    """Return what may be the same for all curves, or all sizes, for each of them."""
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty((0, 0, 0))
    if table.shape not in {(), (sizes,), (curves, sizes), (curves, 1)}:
        raise CurvewiseError(
            f"{name} has shape {table.shape}, and there are {sizes} sizes. Pass one row "
            f"for each curve and one column for each size."
        )
    return np.broadcast_to(table, (curves, sizes)).copy()
