"""A parametric bootstrap around a fitted power law: a check of its intervals."""

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import scale_of
from curvewise.stats._sample import checked_chance, checked_confidence
from curvewise.stats._words import percent
from curvewise.stats.interval import CurveBand
from curvewise.stats.powerlaw._build import Asked
from curvewise.stats.powerlaw._checks import bounds_of, checked_places
from curvewise.stats.powerlaw._data import Observed
from curvewise.stats.powerlaw._many import fit_observed
from curvewise.stats.powerlaw.curve import PowerLaw

__all__ = ["bootstrap_band"]


def bootstrap_band(
    law: PowerLaw,
    n: ArrayLike,
    confidence: float = 0.95,
    *,
    resamples: int = 999,
    rng: np.random.Generator,
) -> CurveBand:
    r"""Return the curve at sizes n with intervals from refits to simulated errors.

    .. math:: e^*_{ij} \sim N(\hat e(n_i), \hat\sigma_i^2), \qquad
       [2 \hat e(n) - q^*_{1 - \delta/2}, \; 2 \hat e(n) - q^*_{\delta/2}]

    with :math:`q^*` the quantiles of the curves refitted to them (basic bootstrap). It
    leaves the exponent open, as ``method="calibrated"`` does, but takes the noise for
    known: a check of `PowerLaw.interval`, not a better one.

    Parameters
    ----------
    law : PowerLaw
        As `fit_power_law` made it.
    n : array_like, shape (n,)
        Sizes; infinity stands for the asymptote.
    confidence : float
        At each size by itself.
    resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    CurveBand
        Pointwise intervals.

    Examples
    --------
    >>> from curvewise.stats.powerlaw import fit_power_law
    >>> law = fit_power_law([25, 50, 100], [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]])
    >>> band = bootstrap_band(law, 200, rng=np.random.default_rng(1))
    >>> bool(band.lower[0] < law.error(200) < band.upper[0])
    True
    """
    resamples = checked_chance(resamples, rng)
    checked_confidence(confidence)
    at = checked_places(n)
    if law.method == "summary":
        raise CurvewiseError(
            "This curve comes from a summary, and no runs are known to draw again. Fit one "
            "to errors of runs, with fit_power_law."
        )
    scale = scale_of(law.unit)
    deviation = np.sqrt(law.noise(law.sizes)) / scale
    shape = (resamples, len(law.sizes))
    noise = rng.normal(size=shape) * deviation / np.sqrt(law.counts)
    freedom = np.broadcast_to(law.counts - 1, shape)
    squares = deviation**2 * rng.chisquare(np.maximum(freedom, 1), size=shape)
    seen = Observed(
        law.sizes,
        np.asarray(law._formula(law.sizes) / scale + noise),
        np.broadcast_to(law.counts, shape),
        np.where(freedom > 0, squares, 0.0),
        freedom,
    )
    floor = None if law.method == "calibrated" else law.noise_floor / scale**2
    asked = Asked(law.method, law.weights, law.terms, law.unit, floor, law.size)
    refits = fit_observed(seen, np.full(resamples, True), asked)
    x = at ** refits.gamma[:, None]
    drawn = (
        refits.alpha[:, None] + refits.eta[:, None] * x + refits.delta[:, None] * x**2
    )
    value = law._formula(at)
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [1 - tail, tail], axis=0)
    bounds = bounds_of(law.unit)
    return CurveBand(
        at,
        law.error(at),
        np.clip(2 * value - low, *bounds),
        np.clip(2 * value - high, *bounds),
        "the mean error over all runs",
        f"about {percent(confidence)}, at each size by itself, for independent runs around "
        f"a power law whose noise is known (parametric bootstrap)",
    )
