"""Tuning curves: how good the best of k trials is, and what is certain about that."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, Message
from curvewise.stats import distribution
from curvewise.stats.bands import ANYWHERE, Kind, Support, cdf_band
from curvewise.stats.bounds import simultaneous
from curvewise.stats.interval import CurveBand
from curvewise.stats.validation import (
    Floats,
    as_floats,
    bad_value,
    sorted_scores,
)

__all__ = ["best_of", "tuning_curve"]

_BATCH = 1 << 16  # levels raised to powers at once; more of them leave the cache
_NOTHING = -50.0  # logarithm of a level that adds nothing to a sum of scores


def best_of(
    scores: ArrayLike,
    k: ArrayLike,
    *,
    quantile: float | None = None,
    replace: bool = False,
) -> Floats:
    r"""Return how good the best of `k` trials is on average, or at a quantile.

    .. math:: \sum_{i=k}^n z_{(i)} \frac{\binom{i-1}{k-1}}{\binom n k}, \qquad
       \sum_{i=1}^n z_{(i)} \Bigl[\Bigl(\frac i n\Bigr)^k -
       \Bigl(\frac{i-1}{n}\Bigr)^k\Bigr], \qquad \hat F^{-1}(q^{1/k})

    Parameters
    ----------
    scores : array_like, shape (trial,)
        Of trials whose parameters were drawn at random; higher is better.
    k : array_like of int
        How many trials somebody could afford; any shape.
    quantile : float, optional
        The score that the best of k exceeds but in this share of all cases (the third
        formula); 0.5 is the median. Left out: the expected best.
    replace : bool
        Whether the k are drawn from the scores with replacement. Without (the first
        formula), the answer has no bias [2]_, and k ends at the number of scores. With
        (the second), it is the best of k under the empirical distribution [1]_, too low
        on average, and k has no end.

    Notes
    -----
    The products of both formulas are made of logarithms and the sums taken by parts, so
    that nothing overflows or cancels: 2,000 scores and k = 1,000 are as good as three.

    References
    ----------
    .. [1] J. Dodge, S. Gururangan, D. Card, R. Schwartz, N. Smith. "Show your work:
       improved reporting of experimental results." EMNLP, 2019.
    .. [2] R. Tang, J. Lee, J. Xin, X. Liu, Y. Yu, J. Lin. "Showing your work doesn't
       always work." ACL, 2020.

    Examples
    --------
    >>> best_of([1, 2, 3, 4], [1, 2, 4]).round(4).tolist()
    [2.5, 3.3333, 4.0]
    >>> best_of([1, 2, 3, 4], [1, 2, 4], replace=True).round(4).tolist()
    [2.5, 3.125, 3.6172]
    >>> best_of([1, 2, 3, 4], [1, 2, 4], quantile=0.5).tolist()
    [2.0, 3.0, 4.0]
    """
    z, budget = sorted_scores(scores), _checked_budgets(k)
    n = len(z)
    if quantile is not None:
        return distribution.quantile(z, _share(quantile, budget))
    if replace:
        return _expected(z, np.arange(n + 1) / n, (z[0], z[-1]), budget)
    if budget.size and budget.max() > n:
        raise CurvewiseError(
            f"The best of {budget.max():g} cannot be drawn from {n} scores without "
            "replacement. Pass ",
            {"replace": True},
            f", or k up to {n}.",
            argument="k",
        )
    return _unbiased(z, budget)


def tuning_curve(
    scores: ArrayLike,
    k: ArrayLike,
    *,
    quantile: float | None = None,
    confidence: float = 0.95,
    kind: Kind = "kolmogorov",
    support: Support = ANYWHERE,
    start: int = 1,
) -> CurveBand:
    r"""Return the best of k as a curve over k, with a band that holds at all k at once.

    .. math:: \int z\,d(U^k)(z) \le E\bigl[\max(Z_1,\ldots,Z_k)\bigr] \le
       \int z\,d(L^k)(z)

    Parameters
    ----------
    scores : array_like, shape (trial,)
        Of trials whose parameters were drawn at random; higher is better.
    k : array_like of int, shape (point,)
        How many trials somebody could afford. It may be more than there are scores: the
        band tells how little is known there.
    quantile : float, optional
        The score that the best of k exceeds but in this share of all cases; 0.5 is the
        median. Left out: the expected best, which only a finite support bounds.
    confidence, kind, support, start
        Of the band that it is read off, see `curvewise.stats.bands.cdf_band`.

    Notes
    -----
    The best of k independent trials has the CDF :math:`F^k`; where F lies between L and
    U, it lies between their powers, for all k at once [1]_. The curve inside is that of
    the empirical distribution, ``best_of(..., replace=True)``: the unbiased one may leave
    the band.

    References
    ----------
    .. [1] N. Lourie, K. Cho, H. He. "Show your work with confidence: confidence bands for
       tuning curves." NAACL, 2024.

    Examples
    --------
    >>> z = [.2, .4, .5, .6, .7, .75, .8, .85, .9, .95]
    >>> found = tuning_curve(z, [1, 2, 10], support=(0, 1))
    >>> found.value.round(4).tolist()
    [0.665, 0.7915, 0.9254]
    >>> found.lower.round(4).tolist(), found.upper.round(4).tolist()
    ([0.3081, 0.4704, 0.7145], [0.8978, 0.9564, 0.9997])
    """
    budget = np.atleast_1d(_checked_budgets(k))
    band = cdf_band(
        scores, confidence=confidence, kind=kind, support=support, start=start
    )
    value = best_of(band.scores, budget, quantile=quantile, replace=True)
    if quantile is None:
        what = "the expected best of k trials, at each k"
        lower = _expected(band.scores, band.upper, band.support, budget)
        upper = _expected(band.scores, band.lower, band.support, budget)
    else:
        what = f"the {quantile:g} quantile of the best of k trials, at each k"
        lower, upper = band.quantile(_share(quantile, budget))
    guarantee = simultaneous(
        band,
        what,
        lower,
        upper,
        Message({"quantile": 0.5}, ", the median of the best"),
    )
    return CurveBand(
        at=budget,
        value=value,
        lower=lower,
        upper=upper,
        estimand=what,
        guarantee=guarantee,
    )


def _checked_budgets(k: Any) -> Floats:
    budget = as_floats(k, "iuf", copy=True)
    if budget is None:
        raise bad_value("k", k, "Pass whole numbers of trials, from 1 on.")
    is_whole = (budget >= 1) & (budget == np.floor(budget)) & np.isfinite(budget)
    if not is_whole.all():
        odd = budget[~is_whole].flat[0]
        raise CurvewiseError(
            f"k is {odd:g}. Pass whole numbers of trials, from 1 on.", argument="k"
        )
    return budget


def _share(q: Any, budget: Floats) -> Floats:
    """Return the share of single trials that the best of k reaches in a share q."""
    if isinstance(q, bool) or not isinstance(q, int | float) or not 0 < q < 1:
        raise bad_value("quantile", q, "Pass a share between 0 and 1.")
    share: Floats = np.exp(np.log(q) / budget)
    return share


def _expected(z: Floats, levels: Floats, support: Support, budget: Floats) -> Floats:
    """Return the expected best of k under a CDF that is constant between scores.

    Entry i of `levels` holds from the i-th score on, entry 0 from the lower end of the
    support; what is missing after the last score lies at the upper end.
    """
    low, high = support
    first, last = levels[0] ** budget, levels[-1] ** budget
    total = z[-1] * last - z[0] * first - _weighted_gaps(z, levels, budget)
    with np.errstate(invalid="ignore"):  # no mass at infinity: 0 * inf, not taken
        total += np.where(first > 0, low * first, 0)
        total += np.where(last < 1, high * (1 - last), 0)
    if levels[0] > 0 and np.isinf(low):  # a power that underflows is mass all the same
        total[...] = low
    expected: Floats = np.clip(total, low, high)
    return expected


def _weighted_gaps(z: Floats, levels: Floats, budget: Floats) -> Floats:
    """Return the gaps between scores, weighted with the k-th power of their levels."""
    k, gaps = budget.ravel(), np.diff(z)
    with np.errstate(divide="ignore"):
        logs = np.log(levels[1:-1])
    total = np.zeros(len(k))
    for some in _chunks(len(gaps), len(k)):
        counts = k * logs[some][-1] > _NOTHING
        weights = np.exp(np.multiply.outer(k[counts], logs[some]))
        total[counts] += weights @ gaps[some]
    return total.reshape(budget.shape)


def _unbiased(z: Floats, budget: Floats) -> Floats:
    k, gaps = budget.ravel(), np.diff(z)[::-1]
    ranks = np.arange(len(z), 1, -1)
    expected, log_level = np.full(len(k), z[-1]), np.zeros(len(k))
    for some in _chunks(len(gaps), len(k)):
        counts = log_level > _NOTHING
        # The best of k drawn scores is among the lowest i with probability
        # C(i, k) / C(n, k), the product of 1 - k/j over all j above i.
        with np.errstate(divide="ignore"):
            logs = np.log1p(np.maximum(-k[counts, None] / ranks[some], -1))
        logs[:, 0] += log_level[counts]
        logs = np.cumsum(logs, axis=1)
        expected[counts] -= np.exp(logs) @ gaps[some]
        log_level[counts] = logs[:, -1]
    return expected.reshape(budget.shape)


def _chunks(length: int, rows: int) -> Iterator[slice]:
    """Yield the columns of a table in turn, so that it never exists as a whole."""
    step = max(64, _BATCH // max(rows, 1))
    return (slice(first, first + step) for first in range(0, length, step))
