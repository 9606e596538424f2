"""A power law of one learner, from the errors of its runs."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.stats._curve.runs import Unit, checked_runs, scale_of
from curvewise.stats._sample import one_of
from curvewise.stats.powerlaw._build import Asked, fit_curves, one_law
from curvewise.stats.powerlaw._concerns import linked_runs
from curvewise.stats.powerlaw._data import (
    METHODS,
    TERMS,
    Method,
    Observed,
    Terms,
    Weights,
)
from curvewise.stats.powerlaw._given import (
    checked_floor,
    checked_reference,
    checked_weights,
    fewest_sizes,
)
from curvewise.stats.powerlaw._shared import shared_shift, without_shift
from curvewise.stats.powerlaw.curve import PowerLaw

__all__ = ["fit_power_law"]


def fit_power_law(
    sizes: ArrayLike,
    errors: Any,
    *,
    method: Method = "calibrated",
    weights: Weights | None = None,
    terms: Terms = "power",
    unit: Unit = "fraction",
    noise_floor: float | None = None,
    size: float | None = None,
    runs: Any = None,
) -> PowerLaw:
    r"""Return how error falls with data, e(n) = alpha + eta n^gamma.

    .. math:: \hat\theta_\gamma = (A' W A)^{-1} A' W e, \quad A_i = (1, n_i^\gamma), \quad
       \sigma_i^2 = \sigma_0^2 + \sigma^2 / n_i

    for every exponent gamma of a grid.

    Parameters
    ----------
    sizes : array_like, shape (size,)
        Numbers of training examples, three or more.
    errors : sequence of array_like
        One error, or one array of runs, for each size.
    method : {"calibrated", "paper"}
        ``"paper"`` is that of Hoiem et al. [1]_: noise floor 0.02 squared percentage
        points, each size weighted alike, the exponent that minimises the weighted squares
        plus ``5 |gamma + 1/2|`` between -0.99 and -0.01, and a band that takes it as known.
        ``"calibrated"`` has efficient weights, estimates the noise, and mixes over the
        exponents from -2 to -0.01 by how likely they are.
    weights : {"efficient", "per_size", "equal"}, optional
        Of a run: 1/sigma_i^2, the paper's 1/(F_i sigma_i^2) with F_i runs of the size, or
        1. ``"calibrated"`` has efficient ones only.
    terms : {"power", "linear", "quadratic", "full"}
        alpha, eta and gamma; alpha and eta at gamma = -1/2; these and delta of
        delta n^(2 gamma); all four.
    unit : {"fraction", "percent", "loss"}
        Of the errors, and of the answer. A loss is any number from 0 up.
    noise_floor : float, optional
        The variance sigma_0^2 of a run at infinite size, in the unit of the errors
        squared, if it is known; held fixed then.
    size : float, optional
        The reference size N; the largest, if not given.
    runs : sequence of array_like, optional
        Which run (seed, split) each error is of; if left out and every size has as many
        errors, the j-th ones are taken for one run. Where runs are known at all sizes,
        ``"calibrated"`` estimates what a run has in common at all of them, such as an easy
        test split, which makes the height of the curve less certain than independent runs
        would. ``"paper"`` takes runs for independent; where they are
        plainly not, a concern says so.

    Notes
    -----
    For ``"calibrated"``, alpha, eta and the size of the noise are integrated out, which
    leaves a t distribution at each exponent; the penalty of the paper is a Laplace prior
    on it. The ratio sigma_0^2 : sigma^2 is estimated from repeated runs where there are
    any.

    In simulations of five printed curves (25 to 400 examples with 16 to 1 runs, noise
    as the paper has it), 95 % intervals of ``"calibrated"`` cover .93 to .97 at each size
    up to 1600 and at the asymptote, and its band holds the whole curve .97 of the time;
    intervals of ``"paper"`` cover .71 to .95 up to 400 examples, .50 to .63 at 1600 and
    .13 to .39 at the asymptote. Where noise falls less with size, down to not at all,
    ``"calibrated"`` covers .89 to .96. With ten runs of six nested sizes that share a
    split, it covers the error at the largest size .93 of the time, where taking runs for
    independent gives .86.

    References
    ----------
    .. [1] D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for
       Analysis of Deep Networks." ICML 2021.

    Examples
    --------
    >>> sizes = [50, 100, 200, 400]
    >>> errors = [[38.1, 38.5, 37.9], [30.2, 29.6], [23.8, 24.2], [20.1]]
    >>> law = fit_power_law(sizes, errors, unit="percent")
    >>> round(law.e_N), round(law.beta_N), round(law.gamma, 1)
    (20, 10, -0.5)
    >>> band = law.interval([1600, float("inf")])
    >>> bool((band.lower < band.value).all() and (band.value < band.upper).all())
    True
    """
    one_of("method", method, METHODS)
    one_of("terms", terms, TERMS)
    used = checked_weights(weights, method)
    given = checked_runs(
        sizes, errors, unit=unit, runs=runs, fewest=fewest_sizes(terms)
    )
    floor = checked_floor(noise_floor, method, unit, scale_of(unit))
    own, of_mean = shared_shift(given.table) if method == "calibrated" else (0.0, 0.0)
    squares = [without_shift(e, own) for e in given.errors]
    seen = Observed(
        given.sizes,
        given.means[None],
        given.counts[None],
        np.array([squares]),
        given.counts[None] - 1,
        np.array([of_mean]),
    )
    asked = Asked(
        method, used, terms, unit, floor, checked_reference(size, given.sizes)
    )
    law = one_law(seen, fit_curves(seen, asked), asked)
    more = linked_runs(given.table) if method == "paper" else ""
    told = (*law.concerns, more) if more else law.concerns
    return replace(law, concerns=told, run_shift=scale_of(unit) ** 2 * own)
