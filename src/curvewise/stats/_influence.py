"""Statistics as means: what each trial contributes to a mean, CVaR or IQM.

A smooth statistic of n trials is, up to terms that vanish faster than its standard error,
a mean of n values; their sample variance is then its variance, and the covariance of
two such values carries what pairing gains.
"""

import numpy as np

from curvewise.stats._sample import Floats, rank
from curvewise.stats.interval import Statistic, Tail


def contributions(z: Floats, of: Statistic, alpha: float, tail: Tail) -> Floats:
    r"""Return values whose mean is exactly the mean or CVaR of the scores.

    .. math:: q + \frac{(z_i - q)_+}{1 - \alpha}, \qquad q - \frac{(q - z_i)_+}{\alpha}

    with q an alpha-quantile (Rockafellar and Uryasev). Of two such quantiles the one
    outside the tail is taken, so that both tails are mirror images of each other.
    """
    if of == "mean":
        return z
    if tail == "lower":
        return -contributions(-z, of, 1 - alpha, "upper")
    at = max(int(rank(len(z), np.asarray(alpha))), 1) - 1
    q = np.partition(z, at)[at]
    spread: Floats = q + np.maximum(z - q, 0) / (1 - alpha)
    return spread


def trimmed_mean(z: Floats, weights: Floats, cut: float) -> Floats:
    r"""Return the mean of the scores between two quantiles.

    .. math:: \frac{1}{1-2c}\int_c^{1-c} \hat F^{-1}(p)\,dp

    Parameters
    ----------
    z : ndarray, shape (score,)
        In ascending order.
    weights : ndarray, shape (..., score)
        Of the scores, 1 in sum.
    cut : float
        The share c left out at either end.
    """
    reached = np.clip(np.cumsum(weights, axis=-1), cut, 1 - cut)
    kept = np.diff(reached, axis=-1, prepend=cut)
    value: Floats = kept @ z / (1 - 2 * cut)
    return value


def trimmed_influence(z: Floats, weights: Floats, cut: float) -> Floats:
    r"""Return what each score contributes to a trimmed mean, up to a constant.

    .. math:: \frac{\min(\max(z, q_c), q_{1-c})}{1-2c}

    Where two scores are such a quantile, it is the one that is farther out, at both ends:
    scores with the other sign contribute the same with the other sign.
    """
    # Sums of weights carry a few units of rounding; a share met up to those is met.
    from_below, from_above = (
        min(int(np.searchsorted(np.cumsum(w), cut - 1e-12)), len(z) - 1)
        for w in (weights, weights[::-1])
    )
    low, high = z[from_below], z[len(z) - 1 - from_above]
    influence: Floats = np.clip(z, low, high) / (1 - 2 * cut)
    return influence
