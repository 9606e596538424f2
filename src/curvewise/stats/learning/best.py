"""Who of several learners is best with how much data, and how sure that is."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import checked_sizes
from curvewise.stats._sample import Floats
from curvewise.stats.learning._predictive import (
    SCORES,
    WIDE,
    checked_forecast,
    normal_mean,
    not_below,
    quantile_table,
    refuse_other_units,
    scores_of,
    straight,
)
from curvewise.stats.learning.forecast import Forecast

__all__ = ["chance_best"]


def chance_best(forecasts: Sequence[Forecast], n: ArrayLike) -> Floats:
    r"""Return how likely each of several learners has the lowest mean error at sizes n.

    .. math:: P_i = \int \prod_{j \ne i} \bigl(1 - F_j(x)\bigr)\, dF_i(x)

    Parameters
    ----------
    forecasts : sequence of Forecast
        Curves in the same unit.
    n : array_like, shape (size,)

    Returns
    -------
    ndarray, shape (forecast, size)
        Each column sums to 1.

    Notes
    -----
    What is not known of one curve is taken as independent of what is not known of the
    others. Learners that tie share: with :math:`T_j` the probability of a tie with j, the
    product is :math:`\int_0^1 \prod_j (1 - F_j(x) + t T_j(x))\, dt`.

    Examples
    --------
    >>> from curvewise.stats.powerlaw import fit_power_law
    >>> sizes = [25, 50, 100]
    >>> a = fit_power_law(sizes, [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]])
    >>> b = fit_power_law(sizes, [[0.6, 0.62], [0.51, 0.5], [0.44, 0.43]])
    >>> chance_best([a, b], 100).round(2).tolist()
    [[1.0], [0.0]]
    """
    if not isinstance(forecasts, Sequence):
        raise CurvewiseError(
            f"forecasts is {type(forecasts).__name__}. Pass a list, one for each learner."
        )
    curves = [checked_forecast(one, "A forecast") for one in forecasts]
    if not curves:
        raise CurvewiseError("There are no forecasts. Pass one for each learner.")
    refuse_other_units(*curves)
    sizes = not_below(checked_sizes(n, "n"), *curves)
    quantiles = [quantile_table(curve, sizes) for curve in curves]
    chances = np.stack(
        [
            _best(own, [other for j, other in enumerate(quantiles) if j != i])
            for i, own in enumerate(quantiles)
        ]
    )
    return np.asarray(chances / chances.sum(axis=0))


def _best(own: Floats, others: Sequence[Floats]) -> Floats:
    """Return P(own is the lowest) at each size, from tables of quantiles."""
    from scipy.special import ndtr

    own = straight(WIDE, SCORES, own)  # at scores of the normal distribution
    scores = [scores_of(other, own) for other in others]
    above = [ndtr(-upto) for _, upto in scores]
    tied = [ndtr(upto) - ndtr(below) for below, upto in scores]
    # E 1/(1 + ties) is an integral of a polynomial: exact with so many nodes.
    nodes, weights = np.polynomial.legendre.leggauss(len(others) // 2 + 1)
    shared = np.zeros(own.shape)
    for t, w in zip((nodes + 1) / 2, weights / 2, strict=True):
        parts = [a + t * e for a, e in zip(above, tied, strict=True)]
        shared += w * np.prod(parts, axis=0)
    return normal_mean(shared, own)
