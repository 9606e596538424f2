"""How large is a difference of curves? In scores, in noise, in lines."""

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from curvewise.stats._sample import checked_confidence
from curvewise.stats._student import t_quantile
from curvewise.stats._words import APART, asymptotic, cannot_tell
from curvewise.stats.anova._lines.apart import apart
from curvewise.stats.anova._lines.designs import checked_lines, line_means, relative
from curvewise.stats.anova._noncentral import of_t
from curvewise.stats.comparison import probability_of_improvement
from curvewise.stats.interval import Interval

__all__ = ["EffectSizes", "effect_sizes"]

_NO_SPREAD = "lines of an algorithm all have the same mean"


@dataclass(frozen=True, slots=True, eq=False)
class EffectSizes:
    """How far the lines of one algorithm are above those of another.

    Parameters
    ----------
    sizes : tuple of int
        How many lines each has.
    difference : Interval
        Of the means of lines, in scores: the mean distance between the curves.
    standardised : Interval
        The same in standard deviations of a line's mean.
    higher : Interval
        How often a line of the one has a higher mean than a line of the other.
    """

    sizes: tuple[int, int]
    difference: Interval
    standardised: Interval
    higher: Interval


def effect_sizes(
    one: ArrayLike, other: ArrayLike, *, confidence: float = 0.95
) -> EffectSizes:
    r"""Return by how much the lines of `one` are above those of `other`.

    .. math:: \hat d = \bar x_1 - \bar x_2, \qquad
       \hat g = \frac{\hat d}{\bar s}\, J(f), \qquad
       \bar s^2 = \frac{s_1^2 + s_2^2}{2}, \qquad
       J(f) = \frac{\Gamma(f/2)}{\sqrt{f/2}\; \Gamma((f-1)/2)}

    with :math:`\bar x_i` and :math:`s_i` the mean and the standard deviation of the means
    of the lines of algorithm i.

    Parameters
    ----------
    one, other : array_like, shape (line, step)
        Two lines or more of each, on the same steps.
    confidence : float
        Of each of the three intervals.

    Notes
    -----
    All three speak of lines, not of points: the mean of a line is its height, every step
    counts the same, however far apart steps are. Curves that cross may be equal here and
    differ in shape, see `explained`.

    *Difference*: Welch's interval.

    *Standardised*: the unit averages both variances, so that it means the same whatever
    the numbers of lines. J takes out the bias of few lines [1]_. The interval inverts the
    noncentral t, with :math:`v = (s_1^2/l_1 + s_2^2/l_2) / \bar s^2`,

    .. math:: P\bigl(T_f(\delta/\sqrt v) \ge \hat d / (\bar s \sqrt v)\bigr) =
       \tfrac{1 - c}{2} \text{ or } \tfrac{1 + c}{2}

    and f the smaller one of Welch's degrees of freedom and those of
    :math:`\bar s^2`. At 95 % with normal noise it held in 93 to 96 % of 2,000 data
    sets in each of 21 designs (5 and 5, 10 and 10, 5 and 15 lines; noise 1 to 1, 1 to 4,
    4 to 1; effects 0, 1, 2). **It takes normal lines for it**: a standard deviation is
    known from few lines only where tails are known. With lines of Student's t with 3
    degrees of freedom it held in 95 to 97 % (effect 0), 90 to 94 % (1) and 83 to 92 % (2);
    with skewed ones in 89 to 97 % (1) and 86 to 98 % (2). Welch's interval for the
    difference in scores held in 93 to 97 % throughout.

    *Higher*: see `curvewise.stats.comparison.probability_of_improvement`; it warns below
    ten lines.

    References
    ----------
    .. [1] L. V. Hedges. "Distribution theory for Glass's estimator of effect size and
       related estimators." Journal of Educational Statistics 6, 1981.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> noise = rng.standard_normal((2, 12, 8)).cumsum(axis=2)
    >>> found = effect_sizes(noise[0] + 4, noise[1])
    >>> print(round(found.difference.value, 2), found.difference)
    4.35 [3.121, 5.571]
    >>> print(round(found.standardised.value, 2), found.standardised)
    2.91 [1.765, 4.271]
    >>> print(round(found.higher.value, 2), found.higher)
    0.96 [0.7354, 0.9936]
    """
    checked_confidence(confidence)
    design = checked_lines({"one": one, "other": other}, least_steps=1, least_lines=2)
    own, unit = apart(design).line_means().in_unit()
    x, y = (group[:, 0] for group in own.design.groups)
    sizes, spread = (len(x), len(y)), (float(x.var(ddof=1)), float(y.var(ddof=1)))
    gap = float(own.means[0, 0] - own.means[1, 0])
    # Lines are ranked from one origin: what ties must be made of the same sums.
    ranked = (group[:, 0] for group in line_means(relative(design)[0]).groups)
    return EffectSizes(
        sizes,
        _difference(gap, spread, sizes, unit, confidence),
        _standardised(gap, spread, sizes, confidence),
        probability_of_improvement(*ranked, confidence=confidence),
    )


def _difference(
    gap: float,
    spread: tuple[float, float],
    sizes: tuple[int, int],
    unit: float,
    confidence: float,
) -> Interval:
    estimand = "difference of the means of all lines, every step counting the same"
    value = unit * gap
    u, v = spread[0] / sizes[0], spread[1] / sizes[1]
    if u + v == 0:
        why = cannot_tell(_NO_SPREAD)
        return Interval(-math.inf, math.inf, estimand, why, value)
    reach = unit * t_quantile(confidence, _freedom(u, v, sizes)) * math.sqrt(u + v)
    guarantee = asymptotic(confidence, "Welch", APART)
    return Interval(value - reach, value + reach, estimand, guarantee, value)


def _freedom(u: float, v: float, sizes: tuple[int, int]) -> float:
    """Return the freedom of a sum of two variances, each from one of the samples."""
    largest = max(u, v)
    u, v = u / largest, v / largest
    return (u + v) ** 2 / (u**2 / (sizes[0] - 1) + v**2 / (sizes[1] - 1))


def _standardised(
    gap: float, spread: tuple[float, float], sizes: tuple[int, int], confidence: float
) -> Interval:
    estimand = (
        "difference of the means of all lines, in standard deviations of a line's mean "
        "(both variances averaged)"
    )
    s, t = spread
    unit = (s + t) / 2
    if unit == 0:
        value = math.copysign(math.inf, gap) if gap else math.nan
        why = cannot_tell(_NO_SPREAD)
        return Interval(-math.inf, math.inf, estimand, why, value)
    own = _freedom(s, t, sizes)
    u, v = s / sizes[0], t / sizes[1]
    se = math.sqrt((u + v) / unit)
    freedom = min(own, _freedom(u, v, sizes))
    d = gap / math.sqrt(unit)
    low, high = of_t(d / se, freedom, confidence)
    value = d * _hedges(own)
    guarantee = asymptotic(
        confidence, "noncentral t", f"{APART}, and normal: less where tails are heavy"
    )
    return Interval(low * se, high * se, estimand, guarantee, value)


def _hedges(freedom: float) -> float:
    """Return what takes the bias out of a standardised difference."""
    half = freedom / 2
    shift = math.lgamma(half) - math.lgamma(max(half - 0.5, 1e-300))
    return math.exp(shift) / math.sqrt(half)
