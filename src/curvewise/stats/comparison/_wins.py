"""Limits for a probability of winning, from pairs or from two samples."""

import math

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats._student import t_quantile, welch_df


def placements(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return what share of `b` each of `a` beats, and what share of `a` beats each of `b`.

    Ties count one half. By sorting, so that a million scores take a second.
    """
    ranked = np.sort(b)
    below = np.searchsorted(ranked, a, "left") + np.searchsorted(ranked, a, "right")
    ranked = np.sort(a)
    under = np.searchsorted(ranked, b, "left") + np.searchsorted(ranked, b, "right")
    return below / (2 * len(b)), 1 - under / (2 * len(a))


def studentised(
    value: float, x: Floats, y: Floats, confidence: float
) -> tuple[float, float]:
    """Return limits from the variances of the placements."""
    n, m = len(x), len(y)
    if min(n, m) == 1:
        return 0.0, 1.0
    if not 0 < value < 1 or is_all_alike(x, y):
        return degenerate(value, min(n, m), confidence)
    one, other = (variance(z, value, confidence) for z in (x, y))
    t = t_quantile(confidence, welch_df(one, n, other, m))
    reach = t * math.sqrt(one + other)
    return in_shape_of_score(value, reach, min(n, m), confidence)


def is_all_alike(*placed: Floats) -> bool:
    """Whether placements vary in no sample: all of them won, lost or tied."""
    # Exact: placements are computed from counts, the same way for each score.
    return all(z.min() == z.max() for z in placed)


def variance(placed: Floats, value: float, confidence: float) -> float:
    """Return the variance of a mean of placements, at least what may have gone unseen.

    Where the scores of a small sample tie, their placements hardly vary, whatever else
    there is in the distribution. A share r of what was never met in n trials is possible,
    which may move the value by r times as much as a coin deviates from it.
    """
    n = len(placed)
    seen = float(placed.var(ddof=1)) / n
    middle = np.partition(placed, n // 2)[n // 2]
    if 2 * np.count_nonzero(placed == middle) <= n:  # scores differ, and so it is seen
        return seen
    unseen = -math.expm1(math.log((1 - confidence) / 2) / n)
    least = unseen**2 * value * (1 - value) / t_quantile(confidence, n - 1) ** 2
    return max(seen, least)


def in_shape_of_score(
    value: float, reach: float, pairs: int, confidence: float
) -> tuple[float, float]:
    """Return value +- reach, bent so as to stay between 0 and 1.

    The standard error is taken to shrink towards 0 and 1 as that of a binomial share
    does; the limits are where the value is just so many standard errors away.
    """
    spread = value * (1 - value)
    k = reach * reach / spread
    half = math.sqrt(k * k / 4 + k * spread)
    lower, upper = (value + k / 2 - half) / (1 + k), (value + k / 2 + half) / (1 + k)
    # Who lost once is not known to be better than who never lost in so many pairs.
    never_lost, _ = degenerate(1.0, pairs, confidence)
    return min(lower, never_lost), max(upper, 1 - never_lost)


def degenerate(value: float, pairs: int, confidence: float) -> tuple[float, float]:
    """Return the limits where all of a number of independent pairs came out alike."""
    if 0 < value < 1:  # all tie: few pairs can be decided, either way
        decided = 1 - (1 - confidence) ** (1 / pairs)
        return (1 - decided) / 2, (1 + decided) / 2
    least = ((1 - confidence) / 2) ** (1 / pairs)
    return (least, 1.0) if value >= 1 else (0.0, 1 - least)


def convex(value: float, pairs: int, confidence: float) -> tuple[float, float]:
    """Return limits for the mean of what is less spread out than so many coins.

    If X is below a binomial variable in convex order, X exceeds the CVaR of that variable
    at level d with probability d at most: take the hinge at its quantile in Markov's
    inequality.
    """
    level = (1 - confidence) / 2
    return _least(value, pairs, level), 1 - _least(1 - value, pairs, level)


def _least(value: float, pairs: int, level: float) -> float:
    """Return the smallest probability under which a mean of pairs may be this large."""
    from scipy.optimize import brentq

    if value <= 0:
        return 0.0
    if value >= 1:
        return float(level ** (1 / pairs))
    return float(
        brentq(
            lambda theta: _binomial_cvar(pairs, theta, level) - pairs * value,
            0.0,
            value,
            xtol=1e-12,
        )
    )


def _binomial_cvar(n: int, theta: float, level: float) -> float:
    """Return the mean of the largest share `level` of a binomial variable.

    It is the minimum of cut + E(X - cut)+ / level over all cuts; any cut gives an upper
    bound, so that a cut missed by rounding would only widen the interval.
    """
    from scipy.special import bdtrc, bdtrik

    if theta <= 0 or theta >= 1:
        return n * max(0.0, min(1.0, theta))
    near = np.ceil(bdtrik(1 - level, n, theta))
    near = near if np.isfinite(near) else 0.0
    cut = np.clip(near + np.arange(-2, 3), 0, n)
    beyond = n * theta * bdtrc(cut - 1, n - 1, theta) - cut * bdtrc(cut, n, theta)
    return float((cut + beyond / level).min())


def two_binomials(
    wins: int, ties: int, n: int, confidence: float
) -> tuple[float, float]:
    """Return limits from exact ones for winning and losing, each at half the level."""
    from scipy.special import betaincinv

    level, losses = (1 - confidence) / 4, n - wins - ties

    def least(hits: int) -> float:
        return float(betaincinv(hits, n - hits + 1, level)) if hits else 0.0

    def most(hits: int) -> float:
        return 1 - least(n - hits)

    # Winning and losing exclude each other: their probabilities are 1 in sum at most.
    lower = least(wins) - min(most(losses), 1 - least(wins))
    upper = min(most(wins), 1 - least(losses)) - least(losses)
    return (1 + lower) / 2, (1 + upper) / 2


def signs(wins: int, ties: int, n: int, confidence: float) -> tuple[float, float]:
    """Return Tango's score interval for wins less losses, as a probability."""
    from scipy.optimize import brentq

    losses, net = n - wins - ties, 2 * wins + ties - n
    z2 = t_quantile(confidence, math.inf) ** 2

    def misfit(gap: float) -> float:
        # Under a gap between the probabilities of winning and losing, that of losing
        # has this maximum likelihood estimate, and the net wins this variance.
        half = (2 * n - wins + losses) * gap - wins - losses
        root = math.sqrt(half * half + 8 * n * losses * gap * (1 - gap))
        lost = max((root - half) / (4 * n), 0.0)
        return (net - n * gap) ** 2 - z2 * n * max(2 * lost + gap * (1 - gap), 0.0)

    if ties == n or abs(net) == n:
        share = net / n
        reach = z2 / (n + z2)
        low, high = share - reach * (1 + abs(share)), share + reach * (1 + abs(share))
        least, most = degenerate((1 + share) / 2, n, confidence)
        return max(0.0, min((1 + low) / 2, least)), min(1.0, max((1 + high) / 2, most))
    low = brentq(misfit, -1.0, net / n, xtol=1e-12)
    high = brentq(misfit, net / n, 1.0, xtol=1e-12)
    return (1 + float(low)) / 2, (1 + float(high)) / 2
