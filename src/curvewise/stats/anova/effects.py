"""How large is a difference of curves? In scores, in noise, in lines."""

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from curvewise.stats._sample import Floats, checked_confidence
from curvewise.stats._student import is_constant, t_quantile
from curvewise.stats._words import APART, asymptotic, cannot_tell
from curvewise.stats.anova._lines.designs import checked_lines, line_means, scaled
from curvewise.stats.anova._noncentral import of_t
from curvewise.stats.comparison import probability_of_improvement
from curvewise.stats.interval import Interval

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
    inner, unit = scaled(line_means(design))
    x, y = (group[:, 0] for group in inner.groups)
    raw = design.values / unit
    # What is as small as the rounding of means is none.
    u, v = (0.0 if is_constant(z, raw) else float(z.var(ddof=1)) for z in (x, y))
    return EffectSizes(
        (len(x), len(y)),
        _difference(x, y, (u, v), unit, confidence),
        _standardised(x, y, (u, v), confidence),
        probability_of_improvement(x, y, confidence=confidence),
    )


def _difference(
    x: Floats, y: Floats, spread: tuple[float, float], unit: float, confidence: float
) -> Interval:
    estimand = "difference of the means of all lines, every step counting the same"
    value = unit * float(x.mean() - y.mean())
    u, v = spread[0] / len(x), spread[1] / len(y)
    if u + v == 0:
        why = cannot_tell(_NO_SPREAD)
        return Interval(-math.inf, math.inf, estimand, why, value)
    reach = unit * t_quantile(confidence, _freedom(u, v, x, y)) * math.sqrt(u + v)
    guarantee = asymptotic(confidence, "Welch", APART)
    return Interval(value - reach, value + reach, estimand, guarantee, value)


def _freedom(u: float, v: float, x: Floats, y: Floats) -> float:
    """Return the freedom of a sum of two variances, each from one of the samples."""
    largest = max(u, v)
    u, v = u / largest, v / largest
    return (u + v) ** 2 / (u**2 / (len(x) - 1) + v**2 / (len(y) - 1))


def _standardised(
    x: Floats, y: Floats, spread: tuple[float, float], confidence: float
) -> Interval:
    estimand = (
        "difference of the means of all lines, in standard deviations of a line's mean "
        "(both variances averaged)"
    )
    s, t = spread
    unit, gap = (s + t) / 2, float(x.mean() - y.mean())
    if unit == 0:
        value = math.copysign(math.inf, gap) if gap else math.nan
        why = cannot_tell(_NO_SPREAD)
        return Interval(-math.inf, math.inf, estimand, why, value)
    own = _freedom(s, t, x, y)
    u, v = s / len(x), t / len(y)
    se = math.sqrt((u + v) / unit)
    freedom = min(own, _freedom(u, v, x, y))
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
