"""Power laws fitted: of one learner from its runs, of many from means and variances."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, Keyword
from curvewise.stats.curves import UNITS, Unit, checked_means, checked_runs, scale_of
from curvewise.stats.interval import CurveBand, percent
from curvewise.stats.powerlaw.curve import (
    Concern,
    PowerLaw,
    Setup,
    bounds_of,
    checked_places,
    many_laws,
    one_law,
)
from curvewise.stats.powerlaw.methods import (
    METHODS,
    RARE,
    TERMS,
    WEIGHTS,
    Method,
    Observed,
    Terms,
    Weights,
)
from curvewise.stats.validation import (
    Floats,
    as_floats,
    bad_value,
    checked_chance,
    checked_confidence,
    checked_sizes,
    is_number,
    one_of,
    refuse_twice,
)

__all__ = [
    "bootstrap_band",
    "fit_power_law",
    "fit_power_laws",
    "light_fit",
]


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
    measured = checked_runs(
        sizes, errors, unit=unit, runs=runs, fewest=_fewest_sizes(terms)
    )
    n, table = measured.sizes, measured.table
    setup = _setup(method, weights, terms, unit, noise_floor, size, n)
    shift, of_mean = shared_shift(table) if method == "calibrated" else (0.0, 0.0)
    squares = [_without_shift(e, shift) for e in measured.errors]
    observed = Observed(
        sizes=n,
        means=measured.means[None],
        counts=measured.counts[None],
        squares=np.array([squares]),
        freedom=measured.counts[None] - 1,
        shift=np.array([of_mean]),
    )
    law = replace(one_law(observed, setup), run_shift=scale_of(unit) ** 2 * shift)
    if method == "calibrated":
        return law
    p = _linked_runs(table)
    linked: tuple[Concern, ...] = ("linked_runs",) if p < RARE else ()
    return replace(law, p_linked_runs=p, concerns=(*law.concerns, *linked))


# --- The light fit: a straight line in n^-1/2 through the largest sizes ----------------


def light_fit(
    sizes: ArrayLike,
    errors: Any,
    *,
    largest: int = 3,
    method: Method = "calibrated",
    unit: Unit = "fraction",
    size: float | None = None,
) -> PowerLaw:
    r"""Return the power law with exponent -1/2 through the largest sizes.

    .. math:: e(n) = \alpha + \eta n^{-1/2}, \qquad e_N = \alpha + \eta N^{-1/2}, \qquad
       \beta_N = \eta N^{-1/2}

    What Hoiem et al. [1]_ advise where few models can be trained. Over the 42 curves of
    their Table 3, its e_N at 400 examples differs from that of the full fit by 0.42
    percentage points and beta_N by 0.95 (root mean square); 0.16 and 0.92 after two rows
    whose columns are swapped in print.

    Parameters
    ----------
    sizes, errors, method, unit, size
        As in `fit_power_law`.
    largest : int
        How many of the largest sizes to use.

    References
    ----------
    .. [1] D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for
       Analysis of Deep Networks." ICML 2021.

    Examples
    --------
    >>> law = light_fit([25, 100, 400, 1600], [0.9, 0.3, 0.2, 0.15])
    >>> law.gamma, round(law.alpha, 6), round(law.beta_N, 6)
    (-0.5, 0.1, 0.05)
    """
    n = checked_sizes(sizes)
    is_whole = isinstance(largest, int | np.integer) and not isinstance(largest, bool)
    if not is_whole or largest < 2:
        raise bad_value("largest", largest, "Pass how many sizes, at least 2.")
    if len(n) < largest:
        raise CurvewiseError(
            f"There are {len(n)} sizes, and the light fit is through the {largest} "
            f"largest. Train on more, such as a half and a quarter of the data."
        )
    parts = list(errors)
    if len(parts) == len(n):
        places = np.sort(np.argsort(n, kind="stable")[-largest:])
        n, parts = n[places], [parts[i] for i in places]
    return fit_power_law(n, parts, terms="linear", method=method, unit=unit, size=size)


# --- Power laws of thousands of curves, from means, counts and variances ---------------


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
) -> PowerLaw:
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
    PowerLaw
        Of all curves. One with a number that is none, or outside what is possible, is not
        fitted; the others do not notice.

    Examples
    --------
    >>> import numpy as np
    >>> n = np.array([25, 50, 100, 200, 400])
    >>> means = [0.1 + 2 * n**-0.5, 0.2 + n**-0.25, n * np.nan]
    >>> laws = fit_power_laws(n, means, counts=4, variances=1e-4)
    >>> laws.gamma.tolist(), laws.is_fitted.tolist()
    ([-0.5, -0.26, nan], [True, True, False])
    """
    n = _increasing(sizes, _fewest_sizes(terms))
    setup = _setup(method, weights, terms, unit, noise_floor, size, n)
    return many_laws(*_observed(n, means, counts, variances, unit), setup)


# --- A parametric bootstrap around a fitted power law: a check of its intervals --------


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
    observed = Observed(
        sizes=law.sizes,
        means=np.asarray(law._formula(law.sizes) / scale + noise),
        counts=np.broadcast_to(law.counts, shape),
        squares=np.where(freedom > 0, squares, 0.0),
        freedom=freedom,
    )
    floor = None if law.method == "calibrated" else law.noise_floor / scale**2
    setup = replace(law._setup, floor=floor)
    curves = many_laws(observed, np.full(resamples, True), setup)._formula(at)
    value = law._formula(at)
    tail = (1 - confidence) / 2
    low, high = np.quantile(curves, [1 - tail, tail], axis=0)
    bounds = bounds_of(law.unit)
    return CurveBand(
        at=at,
        value=law.error(at),
        lower=np.clip(2 * value - low, *bounds),
        upper=np.clip(2 * value - high, *bounds),
        estimand="the mean error over all runs",
        guarantee=f"about {percent(confidence)}, at each size by itself, for independent "
        f"runs around a power law whose noise is known (parametric bootstrap)",
    )


# --- What all sizes of a run share, such as an easy test split: it shifts a whole curve --


_FEW = 4.8  # (t / z)^2 at 95 % with two degrees of freedom: for three runs, or two
_LEAST = 0.05  # of the variance at a size is not shift


def shared_shift(table: Floats | None) -> tuple[float, float]:
    r"""Return the variance of a run's shift, and that of the mean of all runs.

    .. math:: e_{ji} = e(n_i) + t_j + \varepsilon_{ji}, \qquad
       \hat\sigma_t^2 = \overline{\mathrm{cov}(e_{\cdot i}, e_{\cdot k})}_{i \ne k}, \qquad
       \mathrm{var}(\bar t) \approx \frac{\hat\sigma_t^2}{R} \cdot \frac{R - 1}{R - 3}

    Notes
    -----
    A shift moves alpha and nothing else: exponent and amplitude are judged by what is left
    of the noise. The last factor is what a t distribution of R - 1 degrees of freedom has
    more than a normal one, since the shift is known from R runs only; it is 4.8 for three
    runs and two, where that has no variance. Runs that share
    nothing have covariances around 0, and lose almost nothing by being taken for runs
    that do.
    """
    if table is None or len(table) < 2 or table.shape[1] < 2:
        return 0.0, 0.0
    if not np.isfinite(table).all():
        return 0.0, 0.0
    covariance = np.cov(table.T)
    runs, sizes = table.shape
    variances = np.diag(covariance)
    between = (covariance.sum() - variances.sum()) / (sizes * (sizes - 1))
    shift = max(float(between), 0.0)
    wider = (runs - 1) / (runs - 3) if runs > 3 else _FEW
    return shift, shift / runs * wider


def _without_shift(errors: Floats, shift: float) -> float:
    """Return the sum of squares of the runs at a size that is not their shifts."""
    squares = float(((errors - errors.mean()) ** 2).sum())
    return max(squares - shift * (len(errors) - 1), _LEAST * squares)


def _linked_runs(table: Floats | None) -> float:
    """Return the p value of runs that are high at one size being so at others; NaN without.

    The F test of rows in a two-way layout of the residuals, each size in units of its
    standard deviation.
    """
    from scipy.special import fdtrc

    if table is None or table.shape[0] < 3 or not np.isfinite(table).all():
        return math.nan
    deviation = table.std(axis=0, ddof=1)
    if not (deviation > 0).all():
        return math.nan
    z = (table - table.mean(axis=0)) / deviation
    runs, sizes = z.shape
    rows = z.mean(axis=1, keepdims=True)
    rest = ((z - rows) ** 2).sum() / ((runs - 1) * (sizes - 1))
    f = sizes * rows.var(ddof=1) / max(rest, np.finfo(float).tiny)
    return float(fdtrc(runs - 1, (runs - 1) * (sizes - 1), f))


# --- What the fits are given, checked --------------------------------------------------


def _fewest_sizes(terms: Terms) -> int:
    one_of("terms", terms, TERMS)
    return {"linear": 2, "power": 3, "quadratic": 3, "full": 4}[terms]


def _setup(
    method: Method,
    weights: Any,
    terms: Terms,
    unit: Unit,
    floor: Any,
    size: Any,
    sizes: Floats,
) -> Setup:
    """Return how curves are to be fitted; refuse what goes not together."""
    one_of("method", method, METHODS)
    if weights is None:
        weights = "per_size" if method == "paper" else "efficient"
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
    if method == "paper" and unit == "loss":
        raise CurvewiseError(
            Keyword("method", "paper"),
            " has constants in percent, and unit is 'loss'. Pass ",
            {"method": "calibrated"},
            ".",
        )
    if floor is not None and not (is_number(floor) and floor > 0):
        raise bad_value(
            "noise_floor",
            floor,
            "Pass a variance above 0, in the unit of the errors squared.",
        )
    if size is not None and not (is_number(size) and size > 0):
        raise bad_value("size", size, "Pass a number of training examples.")
    return Setup(
        method=method,
        weights=weights,
        terms=terms,
        unit=unit,
        floor=None if floor is None else float(floor) / scale_of(unit) ** 2,
        size=float(sizes[-1] if size is None else size),
    )


def _increasing(sizes: Any, fewest: int) -> Floats:
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


def _observed(
    n: Floats, means: Any, counts: Any, variances: Any, unit: Unit
) -> tuple[Observed, NDArray[np.bool_]]:
    """Return curves in fractions, and which of them are curves at all."""
    one_of("unit", unit, UNITS)
    scale = scale_of(unit)
    mean = checked_means(means, "means", len(n), unit)
    if len(mean) == 0:
        raise CurvewiseError("means have no row. Pass one for each curve.")
    count = _table(1.0 if counts is None else counts, "counts", len(n), len(mean))
    # Variances that nobody gave are not 0: they say nothing.
    variance = np.nan if variances is None else variances
    variance = _table(variance, "variances", len(n), len(mean))
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
    observed = Observed(
        sizes=n,
        means=np.where(rows, mean / scale, (n[0] / n) ** 0.5),
        counts=np.where(rows, count, 1.0),
        squares=squares,
        freedom=freedom,
    )
    return observed, is_fitted


def _table(values: Any, name: str, sizes: int, curves: int) -> Floats:
    """Return what may be the same for all curves, or all sizes, for each of them."""
    numbers = as_floats(values)
    table = np.empty((0, 0, 0)) if numbers is None else numbers
    if table.shape not in {(), (sizes,), (curves, sizes), (curves, 1)}:
        raise CurvewiseError(
            f"{name} has shape {table.shape}, and there are {sizes} sizes. Pass one row "
            f"for each curve and one column for each size."
        )
    return np.broadcast_to(table, (curves, sizes)).copy()
