"""Power laws of thousands of curves, from means, counts and variances."""

from numpy.typing import ArrayLike

from curvewise.stats._curve.runs import UNITS, Unit, scale_of
from curvewise.stats._sample import one_of
from curvewise.stats.powerlaw._build import Asked
from curvewise.stats.powerlaw._data import METHODS, TERMS, Method, Terms, Weights
from curvewise.stats.powerlaw._given import (
    checked_floor,
    checked_increasing,
    checked_reference,
    checked_weights,
    fewest_sizes,
    observed_curves,
)
from curvewise.stats.powerlaw._many import fit_observed
from curvewise.stats.powerlaw.curves import PowerLaws

__all__ = ["fit_power_laws"]


def fit_power_laws(
    sizes: ArrayLike,
    means: ArrayLike,
    counts: ArrayLike | None = None,
    variances: ArrayLike | None = None,
    *,
    method: Method = "calibrated",
    weights: Weights | None = None,
    terms: Terms = "power",
    unit: Unit = "fraction",
    noise_floor: float | None = None,
    size: float | None = None,
) -> PowerLaws:
    r"""Return power laws of many curves at once, from what `fit_power_law` needs of each.

    Parameters
    ----------
    sizes : array_like, shape (size,)
        Training-set sizes, increasing, the same for all curves.
    means : array_like, shape (curve, size)
        Mean errors.
    counts : array_like, shape (size,) or (curve, size), optional
        How many runs each is the mean of; 1, if not given.
    variances : array_like, shape (size,) or (curve, size), optional
        Their variances from run to run (divided by the number of runs less 1); what is
        given for one run does not count. Left out, the runs say nothing of the noise.
    method, weights, terms, unit, noise_floor, size
        As in `fit_power_law`.

    Returns
    -------
    PowerLaws
        A curve with a number that is none, or outside what is possible, is not fitted;
        the others do not notice.

    Examples
    --------
    >>> import numpy as np
    >>> n = np.array([25, 50, 100, 200, 400])
    >>> means = [0.1 + 2 * n**-0.5, 0.2 + n**-0.25, n * np.nan]
    >>> laws = fit_power_laws(n, means, counts=4, variances=1e-4)
    >>> laws.gamma.tolist(), laws.is_fitted.tolist()
    ([-0.5, -0.26, nan], [True, True, False])
    """
    one_of("method", method, METHODS)
    one_of("terms", terms, TERMS)
    one_of("unit", unit, UNITS)
    used = checked_weights(weights, method)
    n = checked_increasing(sizes, fewest_sizes(terms))
    scale = scale_of(unit)
    seen, is_fitted = observed_curves(n, means, counts, variances, unit)
    floor = checked_floor(noise_floor, method, unit, scale)
    asked = Asked(method, used, terms, unit, floor, checked_reference(size, n))
    return fit_observed(seen, is_fitted, asked)
