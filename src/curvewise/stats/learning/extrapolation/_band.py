"""How far the truth may lie from the prediction: terms times factors that were learnt."""

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats
from curvewise.stats.learning.extrapolation._constants import DOWN, LEVELS, UP
from curvewise.stats.learning.extrapolation._forecast import ERROR, Outlook

LEAST, MOST = float(1 - LEVELS[-1]), float(LEVELS[-1])
_FREEDOM = 8  # five runs, and what other sizes lend to the variance at each
_ROUNDING = 1e-12  # 1 - .995 is not .005 to the last bit


def quantiles(ahead: Outlook, p: Floats, top: float = 1.0) -> Floats:
    """Return quantiles of what the mean error may be, shape (p, curve, target)."""
    above = distances(ahead.up, _factors(UP, p), p)
    below = distances(ahead.down, _factors(DOWN, 1 - p), 1 - p)
    return np.asarray(np.clip(ahead.middle + above - below, 0.0, top))


def distances(terms: Floats, factors: Floats, p: Floats) -> Floats:
    r"""Return how far the truth may be from the prediction, shape (p, ...).

    What was learnt, and no less than chance leaves in the mean of the runs, t times its
    standard error: real curves were judged by the mean of the very runs that were seen,
    and could not teach that.

    Parameters
    ----------
    terms : ndarray, shape (..., term)
    factors : ndarray, shape (p, term)
    p : ndarray, shape (p,)
        One-sided levels; 0 is returned up to a half.
    """
    from scipy.special import stdtrit

    learnt = np.einsum("pt,...t->p...", factors, terms)
    chance = stdtrit(_FREEDOM, np.maximum(p, 0.5))
    error = terms[..., ERROR]
    least = chance.reshape(-1, *[1] * error.ndim) * error
    return np.asarray(np.maximum(learnt, least))


def checked_levels(p: Floats) -> Floats:
    """Return probabilities; refuse those so near 0 or 1 that nothing was learnt there."""
    p = np.atleast_1d(p)
    if p.ndim > 1 or len(p) == 0:
        raise CurvewiseError(f"p has shape {p.shape}. Pass one probability, or a list.")
    is_known = (p >= LEAST - _ROUNDING) & (p <= MOST + _ROUNDING)
    if not is_known.all():
        raise CurvewiseError(
            f"p is {p[~is_known][0]:g}. Pass probabilities from {LEAST:.3g} to {MOST:g}: "
            f"real curves are too few to say more."
        )
    return np.clip(p, LEAST, MOST)


def _factors(table: Floats, p: Floats) -> Floats:
    """Return the factors at one-sided levels, shape (p, term); 0 up to a half.

    They are linear in the normal quantile between the levels that were learnt, and grow
    from level to level: so no two quantiles cross.
    """
    from scipy.special import ndtri

    at, known = ndtri(np.maximum(p, 0.5)), ndtri(LEVELS)
    return np.stack([np.interp(at, known, column) for column in table.T], axis=-1)
