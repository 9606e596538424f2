"""Simultaneous bands around the distribution of scores."""

import functools
import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats import local_levels
from curvewise.stats.distribution import quantile
from curvewise.stats.interval import Interval, estimand, looks, percent
from curvewise.stats.validation import (
    Floats,
    bad_value,
    checked_confidence,
    checked_scores,
    checked_size,
    checked_support,
    one_of,
    shares,
)

__all__ = [
    "Band",
    "cdf_band",
    "half_width",
    "local_level",
    "tail_kind",
]


Kind: TypeAlias = Literal["kolmogorov", "dkw", "equal_local_levels", "anytime"]
Side: TypeAlias = Literal["both", "lower", "upper"]
Support: TypeAlias = tuple[float, float]

KINDS = ("kolmogorov", "dkw", "equal_local_levels", "anytime")
SIDES = ("both", "lower", "upper")
ANYWHERE: Support = (-math.inf, math.inf)
# i/n and e carry a few units of rounding; a level that is met up to those is met.
_ROUNDING = 1e-12
_MANY = 20_000


def half_width(
    n: int,
    *,
    confidence: float = 0.95,
    kind: Kind = "kolmogorov",
    side: Side = "both",
    start: int = 1,
) -> float:
    r"""Return how far the true CDF may be from the empirical one, everywhere at once.

    .. math:: P\Bigl(\sup_z |\hat F(z) - F(z)| \le \epsilon\Bigr) \ge 1 - \delta

    Parameters
    ----------
    n : int
        Number of trials.
    confidence : float
        :math:`1 - \delta`.
    kind : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
        ``"kolmogorov"`` is exact for a continuous distribution and conservative
        otherwise; ``"dkw"`` is the closed form
        :math:`\epsilon = \sqrt{\ln(2/\delta) / (2n)}` [1]_, never narrower.
        ``"equal_local_levels"`` is narrow in the tails, and this is its width where it is
        widest. ``"anytime"`` holds at all numbers of trials from `start` on at once [2]_:
        look whenever you like.
    side : {"both", "lower", "upper"}
        ``"lower"`` or ``"upper"`` ask for the width of a band on one side only
        (kolmogorov and dkw).
    start : int
        For ``"anytime"``: the first number of trials at which anybody may look.

    References
    ----------
    .. [1] P. Massart. "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality."
       Annals of Probability 18, 1990.
    .. [2] S. Howard, A. Ramdas. "Sequential estimation of quantiles with applications to
       A/B testing and best-arm identification." Bernoulli 28, 2022.

    Examples
    --------
    >>> round(half_width(100), 6), round(half_width(100, kind="dkw"), 6)
    (0.134028, 0.13581)
    >>> round(half_width(2000, kind="anytime", start=100), 6)
    0.058607
    """
    checked_size(n)
    checked_confidence(confidence)
    one_of("kind", kind, KINDS)
    one_of("side", side, SIDES)
    if side != "both":
        _refuse_one_side(kind, confidence)
    if kind == "equal_local_levels":
        return _farthest(*_equal_levels(int(n), confidence))
    if kind == "anytime":
        return _anytime_half_width(int(n), float(confidence), start)
    if kind == "dkw":
        sides = 2 if side == "both" else 1
        return min(1.0, math.sqrt(math.log(sides / (1 - confidence)) / (2 * n)))
    if side != "both" and n > _MANY:  # the exact one takes minutes, and is less than
        kind = "dkw"  # one in a thousand narrower
        return half_width(n, confidence=confidence, kind=kind, side=side)
    return _kolmogorov(int(n), float(confidence), side == "both")


def local_level(n: int, *, confidence: float = 0.95) -> float:
    r"""Return how often an equal-local-levels band may miss at any one order statistic.

    .. math:: \eta: \quad P\bigl(B^{-1}_{i,n+1-i}(\eta/2) \le U_{(i)} \le
       B^{-1}_{i,n+1-i}(1 - \eta/2)\ \forall i\bigr) = 1 - \delta

    Parameters
    ----------
    n : int
        Number of trials.
    confidence : float
        Of the whole band.

    Notes
    -----
    Computed exactly, by a recursion over the crossings of the band [1]_, never by
    simulation. Beyond 5,000 trials it is interpolated in a table that the same recursion
    made.

    References
    ----------
    .. [1] A. Moscovich, B. Nadler. "Fast calculation of boundary crossing probabilities
       for Poisson processes." Statistics & Probability Letters 123, 2017.

    Examples
    --------
    >>> round(local_level(10), 12)
    0.007384985838
    """
    checked_size(n)
    checked_confidence(confidence)
    return local_levels.local_level(int(n), float(confidence))


def tail_kind(n: int, *, confidence: float = 0.95) -> Kind:
    """Return the band that is narrow in the tails, where it is known, or Kolmogorov's.

    The choice hangs on the number of trials and the confidence, never on the scores: to
    choose by those would break the promise of either.

    Parameters
    ----------
    n : int
        Number of trials.
    confidence : float
        Of the band.

    Examples
    --------
    >>> tail_kind(1000), tail_kind(3_000_000)
    ('equal_local_levels', 'kolmogorov')
    """
    try:
        local_level(n, confidence=confidence)
    except CurvewiseError:
        checked_size(n)
        checked_confidence(confidence)
        return "kolmogorov"
    return "equal_local_levels"


@functools.cache  # cells of one study mostly have the same number of trials
def _kolmogorov(n: int, confidence: float, is_two_sided: bool) -> float:
    from scipy.stats import ksone, kstwo  # half a second, so only when asked for

    return float((kstwo if is_two_sided else ksone).ppf(confidence, n))


def _farthest(lower: Floats, upper: Floats) -> float:
    """Return how far levels are from the empirical CDF, where that is farthest."""
    centre = np.arange(len(lower)) / (len(lower) - 1)
    return float(max((centre - lower).max(), (upper - centre).max()))


def _refuse_one_side(kind: str, confidence: float) -> None:
    if kind not in ("kolmogorov", "dkw"):
        raise CurvewiseError(
            f"A band of kind {kind} has two sides. Pass ",
            {"side": "both"},
            ", or ",
            {"kind": "kolmogorov"},
            ".",
            argument="side",
        )
    if confidence < 0.5:
        raise bad_value("confidence", confidence, "On one side pass at least 0.5.")


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
    lower, upper : ndarray, shape (trial + 1,)
        Between which the CDF lies where i scores are at or below.
    confidence : float
    kind : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
    support : (float, float)
        Between which scores are possible at all.
    """

    scores: Floats
    lower: Floats
    upper: Floats
    confidence: float
    kind: Kind
    support: Support

    @property
    def half_width(self) -> float:
        """How far the true CDF may be from the empirical one, where that is farthest."""
        return _farthest(self.lower, self.upper)

    @property
    def guarantee(self) -> str:
        """What the band promises, in words."""
        return (
            f"{percent(self.confidence)}, simultaneous over all quantiles"
            f"{looks(self.kind)}, for independent trials of any distribution "
            f"({NAMES[self.kind]})"
        )

    def cdf(self, at: ArrayLike) -> tuple[Floats, Floats]:
        """Return the lower and upper envelope of the CDF at these values."""
        z = np.asarray(at, dtype=np.float64)
        below = np.searchsorted(self.scores, z, side="right")
        lower = np.where(z >= self.support[1], 1.0, self.lower[below])
        upper = np.where(z < self.support[0], 0.0, self.upper[below])
        return lower, upper

    def quantile(self, p: ArrayLike) -> tuple[Floats, Floats]:
        r"""Return the lower and upper envelope of the quantile function.

        .. math:: \min\{z : \mathrm{upper}(z) \ge p\} \le F^{-1}(p) \le
           \min\{z : \mathrm{lower}(z) \ge p\}

        Where no score gets there, the end of the support stands in for it.
        """
        share = shares(p) - _ROUNDING
        # Entry i of a level holds from the i-th score on; before the first one, and
        # after the last, the support ends the band.
        low = np.searchsorted(self.upper, share)
        high = np.searchsorted(self.lower, share)
        n = len(self.scores)
        lower = np.where(low < 1, self.support[0], self.scores[np.maximum(low, 1) - 1])
        upper = np.where(
            high > n, self.support[1], self.scores[np.clip(high, 1, n) - 1]
        )
        return lower, upper

    def quantile_interval(self, p: float) -> Interval:
        """Return the band at one quantile."""
        lower, upper = self.quantile(p)
        return Interval(
            float(lower),
            float(upper),
            estimand=estimand("quantile", p, "upper"),
            guarantee=self.guarantee,
            value=float(quantile(self.scores, p)),
        )


NAMES = {
    "kolmogorov": "exact Kolmogorov",
    "dkw": "DKW",
    "equal_local_levels": "equal local levels",
    "anytime": "anytime",
}


def cdf_band(
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    kind: Kind = "kolmogorov",
    support: Support = ANYWHERE,
    side: Side = "both",
    start: int = 1,
) -> Band:
    """Return a simultaneous band for the distribution that scores were drawn from.

    Parameters
    ----------
    scores : array_like, shape (trial,)
    confidence : float
    kind : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
        As in `half_width`.
    support : (float, float)
        Between which scores are possible at all; it bounds the tails of the band.
    side : {"both", "lower", "upper"}
        ``"lower"`` bounds scores from below only, ``"upper"`` from above only.
    start : int
        For ``"anytime"``: the first number of trials at which anybody may look.

    Notes
    -----
    Scores may tie: the band is then conservative. Entry i of a level belongs to the last
    of tied scores, and what lies between the levels of tied scores is never read.

    Examples
    --------
    >>> band = cdf_band([.2, .4, .5, .6, .7, .75, .8, .85, .9, .95], support=(0, 1))
    >>> print(band.quantile_interval(0.5))
    [0.2, 0.95]
    """
    z = np.sort(checked_scores(scores))
    low, high = checked_support(support, z)
    one_of("kind", kind, KINDS)
    one_of("side", side, SIDES)
    checked_confidence(confidence)
    if kind == "equal_local_levels":
        if side != "both":
            _refuse_one_side(kind, confidence)
        lower, upper = _equal_levels(len(z), confidence)
    else:
        e = half_width(len(z), confidence=confidence, kind=kind, side=side, start=start)
        lower, upper = _levels(len(z), e, side)
    for array in (z, lower, upper):
        array.setflags(write=False)  # an answer that holds the band is frozen
    return Band(
        scores=z,
        lower=lower,
        upper=upper,
        confidence=confidence,
        kind=kind,
        support=(float(low), float(high)),
    )


def _levels(n: int, e: float, side: Side) -> tuple[Floats, Floats]:
    upper = np.arange(n + 1, dtype=np.float64)
    upper /= n
    lower = upper - e
    upper += e
    # Only the ends leave [0, 1]; of millions of levels, the others are not touched again.
    lower[: np.searchsorted(lower, 0)] = 0
    upper[np.searchsorted(upper, 1) :] = 1
    if side == "lower":  # scores are bounded from below where the CDF is from above
        lower[:] = 0
    elif side == "upper":
        upper[:] = 1
    return lower, upper


def _equal_levels(n: int, confidence: float) -> tuple[Floats, Floats]:
    from scipy.special import betaincinv

    i = np.arange(1, n + 1)
    lower = betaincinv(i, n + 1 - i, local_level(n, confidence=confidence) / 2)
    # The i-th score of n is as far from 0 as the (n + 1 - i)-th is from 1; the CDF stays
    # below what the *next* score may have reached.
    return np.r_[0.0, lower], np.r_[1 - lower[::-1], 1.0]


# --- The radius of a band that holds at all numbers of trials at once ------------------


_A = 0.85  # the paper's choice; the constant C below is made for it


def _anytime_half_width(n: int, confidence: float, start: int) -> float:
    r"""Return :math:`A\sqrt{(\ln(1 + \ln(n/m)) + C)/n}`, for all n from m = start on."""
    m = checked_size(start, "start")
    if n < m:
        raise CurvewiseError(
            f"An anytime band that starts at {m} trials says nothing about {n}. Pass a "
            f"smaller start, chosen before you look.",
            argument="start",
        )
    c = anytime_constant(1 - confidence)
    return min(1.0, _A * math.sqrt((math.log1p(math.log(n / m)) + c) / n))


@functools.cache
def anytime_constant(delta: float) -> float:
    """Return the smallest C for which the band misses with probability delta at most."""
    from scipy.optimize import brentq

    return float(
        brentq(lambda c: _log_miss(c) - math.log(delta), 0.5, 2000, xtol=1e-10)
    )


def _log_miss(c: float) -> float:
    r"""Return the logarithm of the bound on a miss, least over its free parameter eta.

    .. math:: 4 e^{-\gamma^2 C}\Bigl(1 + \frac{1}{(\gamma^2 - 1)\ln\eta}\Bigr), \quad
       \gamma = \sqrt{\frac 2 \eta}\Bigl(A - \sqrt{\frac{2(\eta - 1)}{C}}\Bigr) > 1
    """
    from scipy.optimize import brentq, minimize_scalar

    def gamma(eta: float) -> float:
        return math.sqrt(2 / eta) * (_A - math.sqrt(2 * (eta - 1) / c))

    def bound(eta: float) -> float:
        square = gamma(eta) ** 2
        return math.log(4 * (1 + 1 / ((square - 1) * math.log(eta)))) - square * c

    largest = brentq(lambda eta: gamma(eta) - 1, 1, 2)
    optimum = minimize_scalar(
        bound,
        bounds=(1, largest),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return float(optimum.fun)
