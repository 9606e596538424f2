"""How much each mean is worth: recent ones more, noisy ones less."""

import numpy as np

from curvewise.stats._sample import Floats

# Power laws miss a real curve by MISFIT near the size that counts most, and by more
# further off: a size that is off by a factor of 2 counts a quarter, but for noise.
MISFIT = 0.02
RECENCY = 2.0
PRIOR = 4.0  # degrees of freedom that all sizes lend to the variance at each


def size_weights(sizes: Floats, centers: Floats, squares: Floats) -> Floats:
    """Return weights, largest 1, of sizes for a fit that is to be best at its center.

    Parameters
    ----------
    sizes : ndarray, shape (size,)
    centers : ndarray, shape (curve,) or (1,)
    squares : ndarray, shape (curve, size) or (curve, 1)
        Squared standard errors of the means.
    """
    weights = 1 / (squares + MISFIT**2 * _distance(sizes, centers) ** RECENCY)
    return np.asarray(weights / weights.max(axis=1, keepdims=True))


def standard_error(sizes: Floats, centers: Floats, squares: Floats) -> Floats:
    """Return the standard error of a mean near each center, shape (curve,)."""
    weights = _distance(sizes, centers) ** -RECENCY
    total = (weights * squares).sum(axis=1)
    return np.asarray(np.sqrt(total / weights.sum(axis=1)))


def guessed_squares(errors: Floats) -> Floats:
    """Return squared standard errors where nobody knows the runs, shape (curve, 1).

    From second differences, which a smooth curve hardly has: their median size, as that of
    normal noise would be.
    """
    second = np.abs(np.diff(errors, n=2, axis=1))
    return np.asarray(np.median(second, axis=1, keepdims=True) ** 2 / (0.6745**2 * 6))


def smooth_squares(variances: Floats, counts: Floats) -> Floats | None:
    """Return squared standard errors of means, each helped by those at other sizes.

    Parameters
    ----------
    variances : ndarray, shape (curve, size)
        From run to run; NaN where there is one run.
    counts : ndarray, shape (curve, size) or (1, size)
        Numbers of runs.
    """
    degrees = np.broadcast_to(np.maximum(counts - 1, 0), variances.shape)
    is_known = np.isfinite(variances) & (degrees > 0)
    if not is_known.any(axis=1).all():
        return None
    typical = np.nanmedian(np.where(is_known, variances, np.nan), axis=1, keepdims=True)
    own = np.where(is_known, degrees, 0.0)
    total = own * np.where(is_known, variances, 0.0) + PRIOR * typical
    return np.asarray(total / (own + PRIOR) / counts)


def _distance(sizes: Floats, centers: Floats) -> Floats:
    """Return by what factor, at least 1, each size is off each center."""
    ratio = sizes[None, :] / centers[:, None]
    return np.maximum(ratio, 1 / ratio)
