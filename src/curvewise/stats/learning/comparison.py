"""Learners compared at a size: who is better, who is best, and how much they differ."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.curves import Runs, checked_runs
from curvewise.stats.interval import Interval, percent
from curvewise.stats.learning.forecast import (
    SCORES,
    WIDE,
    Forecast,
    chance_less,
    checked_correlation,
    checked_forecast,
    levels_of,
    normal_mean,
    not_below,
    quantile_table,
    refuse_other_units,
    scored,
    scores_of,
    straight,
)
from curvewise.stats.powerlaw import PowerLaw
from curvewise.stats.validation import (
    Floats,
    checked_confidence,
    checked_one_size,
    checked_sizes,
)

__all__ = [
    "SummaryDifference",
    "chance_best",
    "chance_better",
    "compare_summaries",
    "shared_noise",
]


def chance_better(
    a: Forecast, b: Forecast, n: ArrayLike, *, correlation: float = 0.0
) -> Floats:
    r"""Return P(the mean error of a is below that of b) at each size.

    .. math:: P(e_a(n) < e_b(n)) = \int \Phi\left(
       \frac{\Phi^{-1}(F_a(F_b^{-1}(\Phi(z)))) - \rho z}{\sqrt{1 - \rho^2}} \right)
       \varphi(z)\,dz

    by a sum over levels, so that nothing is left to chance. Ties count half.

    Parameters
    ----------
    a, b : Forecast
        Two curves in the same unit.
    n : array_like, shape (size,)
        Not below the smallest size that was tried with either.
    correlation : float
        Of what is not known of the two: that of the noise where runs share seeds, as
        `shared_noise` estimates it. What the form of a curve misses is not shared.

    Returns
    -------
    ndarray, shape (size,)

    Notes
    -----
    A probability of .975 says that 0 is at the edge of a 95 % interval for the difference.
    Of 201 pairs of real learners, asked with `extrapolate` from 80 and 50 % of their sizes
    for the last one [1]_, those said to be better were so in 91 and 80 %; said were 88 and
    77 % on average. (Those curves were among the ones that `extrapolate` learnt from.)

    References
    ----------
    .. [1] F. Mohr, T. Viering, M. Loog, J. van Rijn. "LCDB 1.0: An Extensive Learning
       Curves Database for Classification Tasks." ECML-PKDD 2022.

    Examples
    --------
    >>> from curvewise.stats.powerlaw import fit_power_law
    >>> sizes = [25, 50, 100]
    >>> a = fit_power_law(sizes, [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]])
    >>> b = fit_power_law(sizes, [[0.6, 0.62], [0.51, 0.5], [0.44, 0.43]])
    >>> bool(chance_better(a, b, 100)[0] > 0.99)
    True
    >>> chance_better(a, a, 100).round(6).tolist()
    [0.5]
    """
    one, other = checked_forecast(a, "a"), checked_forecast(b, "b")
    refuse_other_units(one, other)
    sizes = not_below(checked_sizes(n, "n"), one, other)
    rho = checked_correlation(correlation)
    return chance_less(quantile_table(one, sizes), quantile_table(other, sizes), rho)


def shared_noise(
    sizes: ArrayLike,
    errors_a: Any,
    errors_b: Any,
    *,
    runs_a: Any = None,
    runs_b: Any = None,
) -> float:
    r"""Return how the mean errors of two learners move together from run to run.

    .. math:: \hat\rho = \frac{\sum_{ij} r_{ij} q_{ij}}
       {\sqrt{\sum_{ij} r_{ij}^2 \sum_{ij} q_{ij}^2}} \;
       \overline{m_i / \sqrt{F_i G_i}}

    with r, q the errors of the runs that both have less their means at each size; the last
    factor is how many of the runs are shared, since a mean over other runs moves alone.

    Parameters
    ----------
    sizes : array_like, shape (size,)
        The same for both.
    errors_a, errors_b : sequence of array_like
        One array of runs for each size.
    runs_a, runs_b : sequence of array_like, optional
        Which run (seed, split) each error is of. If left out, the j-th errors of both at
        a size are taken for one run where there are as many.

    Returns
    -------
    float
        Between -.999 and .999; 0 where no size has two runs that both have.

    Notes
    -----
    It is assumed that the noise of the two is related in the same way at all sizes. Only
    noise is shared: two curves may each miss their form in their own way.

    Examples
    --------
    >>> a = [[0.50, 0.52, 0.51], [0.40, 0.41, 0.42], [0.33, 0.35, 0.34]]
    >>> b = [[0.60, 0.62, 0.61], [0.50, 0.51, 0.52], [0.43, 0.45, 0.44]]
    >>> round(shared_noise([25, 50, 100], a, b), 3)
    0.999
    >>> shared_noise([25, 50, 100], a, [0.6, 0.5, 0.4])
    0.0
    """
    runs_a, runs_b = (x if x is None else _listed(x) for x in (runs_a, runs_b))
    one = checked_runs(sizes, errors_a, unit="loss", runs=runs_a, fewest=1)
    other = checked_runs(sizes, errors_b, unit="loss", runs=runs_b, fewest=1)
    if (runs_a is None) != (runs_b is None):
        raise CurvewiseError(
            "Runs are named for one learner only. Pass runs_a and runs_b, or neither."
        )
    order = np.argsort(checked_sizes(sizes), kind="stable")
    pairs = [
        _both(one, other, i, None if runs_a is None else (runs_a[k], runs_b[k]))
        for i, k in enumerate(order)
    ]
    left = [x - x.mean() for x, _ in pairs if len(x) > 1]
    right = [y - y.mean() for _, y in pairs if len(y) > 1]
    if not left:
        return 0.0
    r, q = np.concatenate(left), np.concatenate(right)
    scale = float(np.sqrt((r**2).sum() * (q**2).sum()))
    if scale == 0:
        return 0.0
    share = np.mean([len(x) for x, _ in pairs] / np.sqrt(one.counts * other.counts))
    return float(np.clip(float(r @ q) / scale * share, -0.999, 0.999))


def _both(one: Runs, other: Runs, i: int, ids: Any) -> tuple[Floats, Floats]:
    """Return the errors at a size of the runs that both learners have."""
    x, y = one.errors[i], other.errors[i]
    if ids is None:
        return (x, y) if len(x) == len(y) else (x[:0], y[:0])
    _, mine, theirs = np.intersect1d(
        np.asarray(ids[0]), np.asarray(ids[1]), return_indices=True
    )
    return x[mine], y[theirs]


def _listed(runs: Any) -> list[Any]:
    try:
        return list(runs)
    except TypeError:
        return []  # which is refused where runs are checked


# --- Who of several learners is best with how much data, and how sure that is ----------


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
            _best(table, [other for j, other in enumerate(quantiles) if j != i])
            for i, table in enumerate(quantiles)
        ]
    )
    return np.asarray(chances / chances.sum(axis=0))


def _best(table: Floats, others: Sequence[Floats]) -> Floats:
    """Return P(the first is the lowest) at each size, from tables of quantiles."""
    from scipy.special import ndtr

    table = straight(WIDE, SCORES, table)  # at scores of the normal distribution
    scores = [scores_of(other, table) for other in others]
    above = [ndtr(-upto) for _, upto in scores]
    tied = [ndtr(upto) - ndtr(below) for below, upto in scores]
    # E 1/(1 + ties) is an integral of a polynomial: exact with so many nodes.
    nodes, weights = np.polynomial.legendre.leggauss(len(others) // 2 + 1)
    shared = np.zeros(table.shape)
    for t, w in zip((nodes + 1) / 2, weights / 2, strict=True):
        parts = [a + t * e for a, e in zip(above, tied, strict=True)]
        shared += w * np.prod(parts, axis=0)
    return normal_mean(shared, table)


# --- How much two power laws differ: in error, in data-reliance, in exponent -----------


@dataclass(frozen=True, slots=True, eq=False)
class SummaryDifference:
    """How much larger the error, data-reliance and exponent of one power law are.

    Parameters
    ----------
    n : float
        The size that error and data-reliance are of.
    error, reliance, exponent : Interval
        Of the first less the second.
    confidence : float
        Of each.
    correlation : float
        Of the noise of the two that was assumed.
    """

    n: float
    error: Interval
    reliance: Interval
    exponent: Interval
    confidence: float
    correlation: float

    def rows(self) -> list[dict[str, float | str]]:
        """Return a row for each of the three."""
        parts = {
            "error": self.error,
            "data-reliance": self.reliance,
            "exponent": self.exponent,
        }
        return [
            {"of": name, "difference": i.value, "lower": i.lower, "upper": i.upper}
            for name, i in parts.items()
        ]


def compare_summaries(
    a: PowerLaw,
    b: PowerLaw,
    *,
    n: float | None = None,
    confidence: float = 0.95,
    correlation: float = 0.0,
) -> SummaryDifference:
    r"""Return how much two power laws differ in error, data-reliance and exponent.

    .. math:: e_N^a - e_N^b, \qquad \beta_N^a - \beta_N^b, \qquad \gamma^a - \gamma^b

    with intervals from the distributions of the two, joined by a Gaussian copula.

    Parameters
    ----------
    a, b : PowerLaw
        Fitted, in the same unit.
    n : float, optional
        N; the largest size that was tried with both if left out.
    confidence : float
        Of each interval alone.
    correlation : float
        Of the noise of the two where their runs share seeds: see `shared_noise`.

    Returns
    -------
    SummaryDifference

    Notes
    -----
    The characteristics e_N and beta_N are those of Hoiem et al. [1]_, who print them
    without intervals.

    References
    ----------
    .. [1] D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for Analysis
       of Deep Networks." ICML 2021.

    Examples
    --------
    >>> from curvewise.stats.powerlaw import fit_power_law
    >>> sizes = [25, 50, 100]
    >>> a = fit_power_law(sizes, [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]])
    >>> b = fit_power_law(sizes, [[0.6, 0.62], [0.51, 0.5], [0.44, 0.43]])
    >>> found = compare_summaries(a, b)
    >>> bool(-0.15 < found.error.lower < found.error.value < -0.09)
    True
    """
    for name, law in (("a", a), ("b", b)):
        if not hasattr(law, "reliance_quantile"):
            came = type(law).__name__
        elif np.ndim(law.gamma):
            came = f"{len(law.gamma)} curves"
        elif not len(law.sizes):
            came = "a curve without runs, which has no spread to compare"
        else:
            continue
        raise CurvewiseError(
            f"{name} is {came}. Pass what `fit_power_law` returned.",
            argument=name,
            value=law,
        )
    refuse_other_units(a, b)
    level = checked_confidence(confidence)
    rho = checked_correlation(correlation)
    largest = min(float(a.sizes[-1]), float(b.sizes[-1]))
    size = largest if n is None else checked_one_size(n, "n")
    at = np.array([size])
    how = (
        f"about {percent(level)}, for independent runs"
        if rho == 0
        else f"about {percent(level)}, for noise with correlation {rho:.2g}"
    )

    def interval(
        what: str, quantile: Callable[[Any, Floats], Floats], *, smooth: bool = True
    ) -> Interval:
        one = scored(lambda p: quantile(a, p), levels_of(a), smooth)
        other = scored(lambda p: quantile(b, p), levels_of(b), smooth)
        p = np.array([(1 - level) / 2, 0.5, (1 + level) / 2])
        low, middle, high = _difference_quantiles(one, other, p, rho)[:, 0]
        return Interval(
            lower=float(low),
            upper=float(high),
            estimand=what,
            guarantee=how,
            value=float(middle),
        )

    return SummaryDifference(
        n=size,
        error=interval(
            f"the difference of the errors at {size:g}", lambda x, p: x.quantile(p, at)
        ),
        reliance=interval(
            f"the difference of the data-reliances at {size:g}",
            lambda x, p: x.reliance_quantile(p, at),
        ),
        # Exponents are on a grid, and so step up.
        exponent=interval("the difference of the exponents", _exponents, smooth=False),
        confidence=level,
        correlation=rho,
    )


def _difference_quantiles(
    one: Floats, other: Floats, levels: Floats, correlation: float
) -> Floats:
    """Return quantiles of one - other at each place, shape (level, place), by bisection."""
    span = np.maximum(one[-1] - other[0], other[-1] - one[0])
    middle = np.median(one, axis=0) - np.median(other, axis=0)
    reach = np.maximum(span, 1e-300) * 1.5 + np.abs(middle)
    # All levels at once, side by side.
    places, many = one.shape[1], len(levels)
    wanted = np.repeat(levels, places)
    one, other = np.tile(one, many), np.tile(other, many)
    low, high = np.tile(middle - reach, many), np.tile(middle + reach, many)
    for _ in range(50):
        by = (low + high) / 2
        is_low = chance_less(one, other, correlation, by) < wanted
        low, high = np.where(is_low, by, low), np.where(is_low, high, by)
    return np.asarray(((low + high) / 2).reshape(many, places))


def _exponents(law: Any, p: Floats) -> Floats:
    return np.reshape(law.exponent_quantile(p), (-1, 1))
