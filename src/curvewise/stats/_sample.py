"""A sample of scores: what every statistic here starts from."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError

Floats: TypeAlias = NDArray[np.float64]


def sorted_scores(scores: ArrayLike) -> Floats:
    """Return scores in ascending order; refuse what is no sample of finite numbers."""
    try:
        z = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise CurvewiseError("Scores are no numbers. Pass one per trial.") from None
    if z.ndim != 1 or len(z) == 0:
        raise CurvewiseError(f"Scores have shape {z.shape}. Pass one score per trial.")
    if not np.isfinite(z).all():
        raise CurvewiseError(
            f"{(~np.isfinite(z)).sum()} of {len(z)} scores are not finite. Give failed "
            f"trials a score."
        )
    return z if (z[1:] >= z[:-1]).all() else np.sort(z)


def rank(n: int, p: Floats) -> NDArray[np.int64]:
    """Return ceil(n p), safe against the rounding of p: rank(10, 0.7) is 7, not 8."""
    # n * p carries a relative error of a few units in its last place.
    return np.ceil(n * p - 1e-12 * max(n, 1)).astype(np.int64)


def shares(p: ArrayLike) -> Floats:
    """Return shares of the trials as an array; refuse what is not between 0 and 1."""
    share = np.asarray(p, dtype=np.float64)
    if not ((share >= 0) & (share <= 1)).all():
        raise CurvewiseError(f"p is {p!r}. Pass shares between 0 and 1.")
    return share
