"""Thousands of curves on common sizes continued at once."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.grid import blocks
from curvewise.stats._curve.runs import (
    LARGEST_LOSS,
    UNITS,
    Unit,
    checked_means,
    checked_sizes,
    checked_table,
    refuse_twice,
    scale_of,
)
from curvewise.stats._sample import Floats, one_of
from curvewise.stats.learning.extrapolation._asked import (
    checked_targets,
    ends,
    highest,
    known_confidence,
)
from curvewise.stats.learning.extrapolation._average import SHAPES
from curvewise.stats.learning.extrapolation._band import quantiles
from curvewise.stats.learning.extrapolation._forecast import Observed, outlook
from curvewise.stats.learning.extrapolation._weights import smooth_squares
from curvewise.stats.learning.extrapolation.answer import (
    Extrapolations,
)
from curvewise.stats.learning.extrapolation.predicting import FEWEST

__all__ = ["extrapolate_many"]

_MANY = 1e9  # runs, where nobody says how many: standard errors as they are


def extrapolate_many(
    sizes: ArrayLike,
    means: ArrayLike,
    *,
    to: ArrayLike,
    confidence: float = 0.95,
    unit: Unit = "fraction",
    standard_errors: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> Extrapolations:
    """Return what `extrapolate` does, for many curves on common sizes.

    A curve with an error that is not finite, or not possible, gets NaN and is not fitted;
    the others do not notice.

    Parameters
    ----------
    sizes : array_like, shape (size,)
        Increasing, at least three.
    means : array_like, shape (curve, size)
    to : float or array_like, shape (target,)
    confidence : float
        From .5 to .99.
    unit : {"fraction", "percent", "loss"}
    standard_errors : array_like, shape (curve, size), optional
        Of the means: the standard deviation from run to run over the square root of the
        number of runs. A curve that has none (NaN at all sizes) is fitted without.
    counts : int or array_like of shape (size,), optional
        Numbers of runs behind a mean, which say how far to trust the standard errors.

    Examples
    --------
    >>> sizes = [16, 32, 64, 128]
    >>> means = [[0.4, 0.3, 0.25, 0.22], [0.5, 0.5, 0.5, 0.5]]
    >>> two = extrapolate_many(sizes, means, to=256)
    >>> two.error.shape
    (2, 1)
    """
    level = known_confidence(confidence)
    one_of("unit", unit, UNITS)
    n = checked_sizes(sizes)
    if len(n) < FEWEST or not (np.diff(n) > 0).all():
        raise CurvewiseError(
            f"sizes are {n.tolist()}. Pass at least {FEWEST} sizes in increasing order."
        )
    refuse_twice(n)
    table = checked_means(means, "means", len(n), unit)
    goal = checked_targets(to, n)
    scale = np.full(len(table), scale_of(unit))
    is_fitted = ((table >= 0) & (table <= LARGEST_LOSS)).all(axis=1)
    if unit == "loss":
        peak = np.where(is_fitted, table.max(axis=1), 1.0)
        scale = np.where(peak > 0, peak, 1.0)
    errors = table / scale[:, None]
    is_fitted &= (errors <= 1).all(axis=1)
    errors = np.where(is_fitted[:, None], errors, 0.5)
    spread = _spread(standard_errors, counts, table.shape, scale)
    is_known = _is_known(spread, len(table))
    answer = np.full((3, len(table), len(goal)), np.nan)
    about = np.full((3, len(table)), np.nan)
    shapes = SHAPES * (1 + int((goal < n[-1]).sum()))
    for known in (True, False):
        rows = np.flatnonzero(is_fitted & (is_known == known))
        for block in blocks(len(rows), shapes):
            at = rows[block]
            squares = None
            if known and spread is not None:
                squares = smooth_squares(spread[0][at], spread[1])
            seen = Observed(n, errors[at], squares)
            ahead = outlook(seen, goal, highest(unit))
            found = quantiles(ahead, ends(level), highest(unit))
            answer[:, at] = found * scale[at, None]
            about[:, at] = ahead.noise * scale[at], seen.rise * scale[at], ahead.flat
    lower, error, upper = answer
    noise, rise, flat = about
    return Extrapolations(
        goal, error, lower, upper, is_fitted, noise, rise, flat, n, level, unit
    )


def _is_known(spread: tuple[Floats, Floats] | None, curves: int) -> NDArray[np.bool_]:
    """Return which curves have standard errors."""
    if spread is None:
        return np.zeros(curves, dtype=np.bool_)
    variances, counts = spread
    return np.asarray((np.isfinite(variances) & (counts > 1)).any(axis=1))


def _spread(
    standard_errors: ArrayLike | None,
    counts: Any,
    shape: tuple[int, ...],
    scale: Floats,
) -> tuple[Floats, Floats] | None:
    """Return variances from run to run (curve, size), and numbers of runs (1, size)."""
    known = _checked_counts(counts, shape[1])
    if standard_errors is None:
        return None
    given = checked_table(standard_errors, "standard_errors", shape[1])
    if given.shape != shape:
        raise CurvewiseError(
            f"There are {shape[0]} curves and standard errors for {len(given)}. Pass one "
            f"row for each curve."
        )
    is_bad = (given > LARGEST_LOSS) | (given < 0)
    if is_bad.any():
        raise CurvewiseError(
            f"A standard error is {given[is_bad][0]:g}. Pass numbers from 0 up, and NaN "
            f"where there is none."
        )
    runs = np.broadcast_to(known, (shape[1],))[None, :]
    return (given / scale[:, None]) ** 2 * runs, runs


def _checked_counts(counts: Any, sizes: int) -> Floats:
    """Return numbers of runs, one for all sizes or one for each."""
    try:
        found = np.asarray(_MANY if counts is None else counts, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    is_count = (found >= 1) & (found <= _MANY)
    if found.shape not in {(), (sizes,)} or not is_count.all():
        raise CurvewiseError(
            f"counts is {counts!r}. Pass the number of runs, or one for each size.",
            argument="counts",
            value=counts,
        )
    return found
