"""How often is one algorithm better than the other?"""

from numpy.typing import ArrayLike

from curvewise.stats._enough import What, warn_if_few
from curvewise.stats._sample import checked_confidence, one_of
from curvewise.stats._words import APART, asymptotic, cannot_tell, finite_sample
from curvewise.stats.comparison._common import few, two_samples
from curvewise.stats.comparison._wins import (
    convex,
    placements,
    signs,
    studentised,
    two_binomials,
)
from curvewise.stats.interval import METHODS, Interval, Method

__all__ = ["probability_of_improvement"]


def probability_of_improvement(
    a: ArrayLike,
    b: ArrayLike,
    *,
    confidence: float = 0.95,
    paired: bool = False,
    method: Method = "asymptotic",
) -> Interval:
    r"""Return how often a trial of `a` beats one of `b`, with an interval.

    .. math:: \theta = P(A > B) + \tfrac 1 2 P(A = B)

    Parameters
    ----------
    a, b : array_like, shape (trial,)
        Scores of the two algorithms, higher is better.
    confidence : float
    paired : bool
        Whether entry i of both is the same trial (seed, data): the probability is then
        that of A beating B *within* a trial, another number than that between trials.
    method : {"asymptotic", "guaranteed"}

    Notes
    -----
    ``"asymptotic"``, not paired: the variance :math:`v` of [1]_, [2]_ from the placements
    of each score among the other sample's, studentised with their degrees of freedom, in
    the shape of a score interval, which stays inside 0 and 1:

    .. math:: (\hat\theta - \theta)^2 \le t^2\, v\,
       \frac{\theta (1-\theta)}{\hat\theta (1-\hat\theta)}

    Where the samples are separated (or tie throughout), :math:`v = 0` says nothing: the
    :math:`\min(n, m)` disjoint pairs are independent, which bounds :math:`\theta` from
    below by :math:`(\delta/2)^{1/\min(n, m)}`. Where more than half of a sample is placed
    alike, as scores tie, its part of :math:`v` is at least what a share
    :math:`1 - (\delta/2)^{1/n}` that was never met may add. Paired: the score interval
    of [3]_.

    ``"guaranteed"`` holds for any number of trials and any distribution. Not paired:
    :math:`\hat\theta` is an average over ways to form :math:`k = \min(n, m)` disjoint
    pairs, hence less spread out, in convex order, than a binomial share [4]_, and no such
    variable reaches the CVaR of that share too often; the limits solve

    .. math:: \mathrm{CVaR}_{1-\delta/2}\bigl(\mathrm{Bin}(k, \theta)/k\bigr) = \hat\theta

    which is narrower than Hoeffding's exponential bound and than what two bands give.
    Paired: :math:`\theta = \frac 1 2 + \frac 1 2 [P(A > B) - P(A < B)]` from exact binomial
    limits for both probabilities, each at half the level, so that ties may be as many as
    they like.

    Not paired, both take the trials of A to be independent of those of B: trials that
    share data or seeds are pairs.

    One trial of either says nothing, and the interval is then 0 to 1.

    References
    ----------
    .. [1] E. Brunner, U. Munzel. "The nonparametric Behrens-Fisher problem." Biometrical
       Journal 42, 2000.
    .. [2] E. DeLong, D. DeLong, D. Clarke-Pearson. "Comparing the areas under two or more
       correlated receiver operating characteristic curves." Biometrics 44, 1988.
    .. [3] T. Tango. "Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design." Statistics in Medicine 17, 1998.
    .. [4] W. Hoeffding. "Probability inequalities for sums of bounded random variables."
       JASA 58, 1963. Section 5.

    Examples
    --------
    >>> a, b = [3, 5, 6, 8, 9, 9, 10, 12, 13, 14], [1, 2, 3, 4, 4, 5, 6, 7, 8, 8]
    >>> found = probability_of_improvement(a, b)
    >>> print(round(found.value, 3), found)
    0.835 [0.5649, 0.9518]
    """
    one, other = two_samples(a, b, paired)
    checked_confidence(confidence)
    one_of("method", method, METHODS)
    n, m = len(one), len(other)
    where = "in the same trial" if paired else "in trials of their own"
    estimand = f"P(A > B) + P(A = B) / 2 {where}"
    if paired:
        wins, ties = int((one > other).sum()), int((one == other).sum())
        value = (wins + ties / 2) / n
        limits = signs if method == "asymptotic" else two_binomials
        ends = limits(wins, ties, n, confidence)
        name = "score interval" if method == "asymptotic" else "two exact binomials"
    else:
        x, y = placements(one, other)
        value = float(x.mean())
        if method == "asymptotic":
            ends = studentised(value, x, y, confidence)
            name = "studentised placements"
        else:
            ends = convex(value, min(n, m), confidence)
            name = "binomial CVaR"
    if min(n, m) == 1:
        return Interval(0.0, 1.0, estimand, cannot_tell(few(n, m)), value)
    given = "" if paired else APART
    if method == "asymptotic":
        what: What = "improvement in pairs" if paired else "improvement"
        warn_if_few(min(n, m), what, "The interval")
        guarantee = asymptotic(confidence, name, given)
    else:
        how = f"trials of any distribution{given} ({name})"
        guarantee = finite_sample(confidence, how)
    return Interval(*ends, estimand, guarantee, value)
