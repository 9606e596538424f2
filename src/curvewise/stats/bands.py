"""Simultaneous bands around the distribution of scores."""

import functools
import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats, rank, shares, sorted_scores
from curvewise.stats.interval import Interval

Kind: TypeAlias = Literal["kolmogorov", "dkw"]


def half_width(n: int, *, confidence: float = 0.95, kind: Kind = "kolmogorov") -> float:
    r"""Return how far the true CDF may be from the empirical one, everywhere at once.

    .. math:: P\Bigl(\sup_z |\hat F(z) - F(z)| \le \epsilon\Bigr) \ge 1 - \delta

    Parameters
    ----------
    n : int
        Number of trials.
    confidence : float
        :math:`1 - \delta`.
    kind : {"kolmogorov", "dkw"}
        ``"kolmogorov"`` is exact for a continuous distribution and conservative
        otherwise; ``"dkw"`` is the closed form
        :math:`\epsilon = \sqrt{\ln(2/\delta) / (2n)}` [1]_, never narrower.

    References
    ----------
    .. [1] P. Massart. "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality."
       Annals of Probability 18, 1990.

    Examples
    --------
    >>> round(half_width(100), 6), round(half_width(100, kind="dkw"), 6)
    (0.134028, 0.13581)
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise CurvewiseError(f"n is {n!r}. Pass a number of trials, at least 1.")
    if isinstance(confidence, str) or not 0 < confidence < 1:
        raise CurvewiseError(f"confidence is {confidence!r}. Pass one between 0 and 1.")
    if kind not in get_args(Kind):
        raise CurvewiseError(
            f"kind is {kind!r}. Pass one of {', '.join(get_args(Kind))}."
        )
    if kind == "dkw":
        return min(1.0, math.sqrt(math.log(2 / (1 - confidence)) / (2 * n)))
    return _kolmogorov(int(n), float(confidence))


@functools.cache  # cells of one study mostly have the same number of trials
def _kolmogorov(n: int, confidence: float) -> float:
    from scipy.stats import kstwo  # half a second, so only when asked for

    return float(kstwo.ppf(confidence, n))


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """A simultaneous band for the distribution that scores were drawn from.

    With the stated confidence the true CDF, and so the true quantile function, lies
    inside *everywhere at once*, whatever the distribution: any number read off the band,
    and any number of them, is covered together.

    Parameters
    ----------
    scores : ndarray, shape (trial,)
        In ascending order.
    half_width : float
        Of the CDF.
    confidence : float
    kind : {"kolmogorov", "dkw"}
    support : (float, float)
        Between which scores are possible at all.
    """

    scores: Floats
    half_width: float
    confidence: float
    kind: Kind
    support: tuple[float, float]

    def cdf(self, at: ArrayLike) -> tuple[Floats, Floats]:
        """Return the lower and upper envelope of the CDF at these values."""
        z = np.asarray(at, dtype=np.float64)
        centre = np.searchsorted(self.scores, z, side="right") / len(self.scores)
        lower = np.where(
            z >= self.support[1], 1.0, np.maximum(centre - self.half_width, 0)
        )
        upper = np.where(
            z < self.support[0], 0.0, np.minimum(centre + self.half_width, 1)
        )
        return lower, upper

    def quantile(self, p: ArrayLike) -> tuple[Floats, Floats]:
        r"""Return the lower and upper envelope of the quantile function.

        .. math:: z_{(\lceil n(p - \epsilon) \rceil)} \le F^{-1}(p) \le
           z_{(\lceil n(p + \epsilon) \rceil)}

        Where a rank falls outside 1..n, the end of the support stands in for it.
        """
        share = shares(p)
        n = len(self.scores)
        low, high = (rank(n, share + s * self.half_width) for s in (-1, 1))
        lower, upper = (self.scores[np.clip(r, 1, n) - 1] for r in (low, high))
        return (
            np.where(low < 1, self.support[0], lower),
            np.where(high > n, self.support[1], upper),
        )

    def quantile_interval(self, p: float) -> Interval:
        """Return the band at one quantile."""
        lower, upper = self.quantile(p)
        return Interval(
            float(lower),
            float(upper),
            estimand=f"the score that a share {p:g} of all trials do not exceed",
            guarantee=f"{100 * self.confidence:g}%, simultaneous over all quantiles, for "
            f"independent trials of any distribution ({self.kind})",
        )


def cdf_band(
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    kind: Kind = "kolmogorov",
    support: tuple[float, float] = (-math.inf, math.inf),
) -> Band:
    """Return a simultaneous band for the distribution that scores were drawn from.

    Parameters
    ----------
    scores : array_like, shape (trial,)
    confidence : float
    kind : {"kolmogorov", "dkw"}
    support : (float, float)
        Between which scores are possible at all; it bounds the tails of the band.

    Examples
    --------
    >>> band = cdf_band([.2, .4, .5, .6, .7, .75, .8, .85, .9, .95], support=(0, 1))
    >>> print(band.quantile_interval(0.5))
    [0.2, 0.95]
    """
    z = sorted_scores(scores).copy()
    z.setflags(write=False)  # an answer that holds the band is frozen
    low, high = support
    if z[0] < low or z[-1] > high:
        raise CurvewiseError(
            f"Scores from {z[0]:g} to {z[-1]:g} are not inside the support {low:g} to "
            f"{high:g}. Pass the range that is possible."
        )
    epsilon = half_width(len(z), confidence=confidence, kind=kind)
    return Band(z, epsilon, confidence, kind, (float(low), float(high)))
