"""At which quantiles do two algorithms differ?"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import checked_confidence, shares
from curvewise.stats._words import finite_sample, looks
from curvewise.stats.bands import ANYWHERE, NAMES, Kind, Support, cdf_band
from curvewise.stats.comparison._common import two_samples
from curvewise.stats.comparison.family import shared_confidence
from curvewise.stats.distribution import quantile
from curvewise.stats.interval import CurveBand

__all__ = ["Settled", "quantile_shift", "where_better"]


def quantile_shift(
    a: ArrayLike,
    b: ArrayLike,
    p: ArrayLike,
    *,
    confidence: float = 0.95,
    kind: Kind = "kolmogorov",
    support: Support = ANYWHERE,
    start: int = 1,
) -> CurveBand:
    r"""Return by how much the quantiles of `a` exceed those of `b`, all at once.

    .. math:: F_A^{-1}(p) - F_B^{-1}(p)

    Parameters
    ----------
    a, b : array_like, shape (trial,)
        Scores of the two algorithms, higher is better.
    p : array_like, shape (point,)
        Shares between 0 and 1; any number of them, at no cost in confidence.
    confidence : float
        That the true shift lies in the band at *all* p together.
    kind : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
        ``"equal_local_levels"`` sees further into the tails.
    support : (float, float)
        Between which scores are possible at all; it ends the band where it is open.
    start : int
        For ``"anytime"``: the first number of trials at which anybody may look.

    Notes
    -----
    The bands of both quantile functions, at :math:`1 - \delta/2` each, are subtracted
    [1]_: finite-sample, for any distributions, paired or not. `where_better` reads off
    at which of the asked p the sign is settled, all of them together with the same
    guarantee. That is no proof that A dominates B stochastically, which is about *every*
    p: no number of trials can show that, as the last trials of a tail are never seen.
    `dominance` says how far from it the two are.

    References
    ----------
    .. [1] K. Doksum, G. Sievers. "Plotting with confidence: graphical comparisons of two
       populations." Biometrika 63, 1976.

    Examples
    --------
    >>> good, bad = np.arange(200) / 100, np.arange(200) / 200
    >>> shift = quantile_shift(good, bad, [0.2, 0.5, 0.8])
    >>> shift.value.round(3).tolist(), shift.lower.round(3).tolist()
    ([0.195, 0.495, 0.795], [-0.11, 0.19, 0.49])
    """
    one, other = two_samples(a, b, paired=False)
    checked_confidence(confidence)
    share = np.atleast_1d(shares(p))
    half = shared_confidence(confidence, 2)
    (low_a, high_a), (low_b, high_b) = (
        cdf_band(z, confidence=half, kind=kind, support=support, start=start).quantile(
            share
        )
        for z in (one, other)
    )
    return CurveBand(
        at=share,
        value=quantile(one, share) - quantile(other, share),
        lower=low_a - high_b,
        upper=high_a - low_b,
        estimand="quantiles of A less those of B",
        guarantee=finite_sample(
            confidence,
            f"trials of any distribution, simultaneous over all quantiles{looks(kind)}, "
            f"however A and B depend on each other (two {NAMES[kind]} bands)",
        ),
    )


class Settled(NamedTuple):
    """At all asked quantiles from `start` to `stop` the same algorithm is better.

    That is certain at those p that were asked for, not between them.
    """

    start: float
    stop: float
    better: Literal["a", "b"]


def where_better(shift: CurveBand) -> list[Settled]:
    """Return at which asked quantiles in a row a band excludes that there is no shift.

    Parameters
    ----------
    shift : CurveBand
        From `quantile_shift`, with p in ascending order.

    Returns
    -------
    list of Settled
        From and to which of the asked p, both included, and which one is better there.
        All of them hold together with the confidence of the band, at the asked p.

    Examples
    --------
    >>> good, bad = np.arange(200) / 100, np.arange(200) / 200
    >>> found = where_better(quantile_shift(good, bad, np.linspace(0, 1, 11)))
    >>> [(round(r.start, 1), round(r.stop, 1), r.better) for r in found]
    [(0.4, 0.8, 'a')]
    """
    if (np.diff(shift.at) < 0).any():
        raise CurvewiseError("p is not in ascending order. Pass a shift with sorted p.")
    if len(shift.at) == 0:
        return []
    sign = np.where(shift.lower > 0, 1, np.where(shift.upper < 0, -1, 0))
    edges = np.flatnonzero(np.diff(sign)) + 1
    runs = zip(np.r_[0, edges], np.r_[edges, len(sign)], strict=True)
    return [
        Settled(
            float(shift.at[first]),
            float(shift.at[last - 1]),
            "a" if sign[first] > 0 else "b",
        )
        for first, last in runs
        if sign[first] != 0
    ]
