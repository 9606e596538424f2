"""Do these learning curves differ? Shuffles of whole lines, and flips of their noise."""

from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import (
    checked_chance,
    checked_level,
    checked_size,
    one_of,
)
from curvewise.stats.anova._drawing.testing import Judged, Question, tests_of
from curvewise.stats.anova._lines.designs import LinesLike, checked_lines
from curvewise.stats.anova.answers import Noise, Null, RandomizedAnova
from curvewise.stats.anova.table import two_way

__all__ = ["randomized_anova"]


def randomized_anova(
    lines: LinesLike,
    *,
    null: Null = "separate",
    noise: Noise | None = None,
    interaction: Judged = "ats",
    shuffles: int = 9_999,
    exact: bool | None = None,
    level: float = 0.05,
    most: int = 100_000,
    rng: np.random.Generator,
) -> RandomizedAnova:
    r"""Return whether algorithms differ in height (Algorithm) and shape (Interaction).

    Under shuffles, whole lines are dealt to the algorithms anew; the share of deals that
    look at least as different is the p value. Under flips, every line less the mean line
    of its algorithm keeps or changes its sign, so that each algorithm keeps its noise.

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
        The lines of each algorithm, all on the same steps.
    null : {"separate", "joint"}
        "separate" tests Algorithm on the means of lines, and Interaction on lines less
        their own means. "joint" is the published test: both F of the two-way table,
        whole lines dealt.
    noise : {"unequal", "equal"}, optional
        "unequal", the default where effects are tested apart, allows that one algorithm
        is noisier than another: statistics with a variance for each, and the larger of
        the p values of shuffles and of flips. "equal" uses F and shuffles only: more
        powerful, and right only if noise is equal; say so before looking at the lines.
    interaction : {"ats", "max_t"}
        What the Interaction is judged by where noise may be unequal. "max_t": the
        largest of Welch's F over the steps, by flips only; it finds a bump at one quiet
        step, and little else.
    shuffles : int
        How many deals, and how many flips, are drawn at first.
    exact : bool, optional
        Whether to try every deal instead; by default where there are at most 1,000,000.
    level : float
        The level of the test. Draws go on until it is settled on which side p is.
    most : int
        How many draws to make at most for that; as many as `shuffles`, or fewer, for a
        number that is fixed.
    rng : numpy.random.Generator

    Returns
    -------
    RandomizedAnova

    Raises
    ------
    CurvewiseError
        Where noise may be unequal and an algorithm has one line, which shows none.

    Notes
    -----
    Shuffles of whole lines keep what a run carries over from step to step, which the p
    values of a plain table do not [1]_. Dealt jointly, a real difference of one kind
    hides or feigns one of the other: a shift between algorithms is mixed into the error
    of the Interaction. Line means are blind to differences in shape and centred lines to
    shifts, by algebra, so that apart each is exact for its own hypothesis.

    For line means, with :math:`w_i = l_i / s_i^2`, the statistic is Welch's F [2]_; under
    shuffles each value is judged with its own degrees of freedom. For centred lines with
    mean curves :math:`\bar x_i` and covariances :math:`V_i` it is the ANOVA-type
    statistic [3]_

    .. math:: \frac{\sum_i |\bar x_i - \bar x|^2}{(1 - 1/m) \sum_i tr(V_i) / l_i}

    which needs traces only, so that there may be any number of steps. The p value of
    shuffles is exact where lines of all algorithms are alike under the hypothesis; that
    of flips allows any noise and holds for many lines [4]_. Their maximum is at most the
    level in the first case. In the second, with noise up to 4 times larger in one
    algorithm and 4 to 20 lines, a level of 0.05 came to 0.03 to 0.06 for Algorithm and
    0.02 to 0.08 for Interaction; the worst was skewed noise in five lines of one of three
    or more algorithms. Below 4 lines of an algorithm flips are degenerate: only shuffles
    are used, and `is_guarded` is False.

    Draws stop once :math:`(n+1) P(B = b) \le 0.001` for b exceedances and B binomial with
    the level, so that shuffles, and flips, are on the same side of the level as infinitely
    many of them but for one time in a thousand each [5]_: the decision is, but for two.
    Both effects share all draws. The inference is about these lines: the chance is in who
    was dealt what.

    Values that differ by no more than rounding can explain are tied, and count as at least
    as large. Only where noise is a millionth of the differences between algorithms, or of
    a diverged line, may that join what is not the same; p is then larger, never smaller.

    References
    ----------
    .. [1] J. H. Piater, P. R. Cohen, X. Zhang and M. Atighetchi. "A randomized ANOVA
       procedure for comparing performance curves." ICML, 1998.
    .. [2] B. L. Welch. "On the comparison of several mean values: an alternative
       approach." Biometrika 38, 1951.
    .. [3] E. Brunner, H. Dette and A. Munk. "Box-type approximations in nonparametric
       factorial designs." Journal of the American Statistical Association 92, 1997.
    .. [4] S. Friedrich, F. Konietschke and M. Pauly. "A wild bootstrap approach for
       nonparametric repeated measurements." Computational Statistics & Data Analysis
       113, 2017.
    .. [5] H. Robbins. "Statistical methods related to the law of the iterated
       logarithm." Annals of Mathematical Statistics 41, 1970.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a = rng.normal(size=(8, 4)).cumsum(axis=1)
    >>> b = 2 + rng.normal(size=(8, 4)).cumsum(axis=1)
    >>> found = randomized_anova({"a": a, "b": b}, rng=rng)
    >>> found.decision("algorithm"), found.decision("interaction")
    ('rejected', 'not rejected')
    >>> print(f"{found.p('algorithm'):.3f} {found.smallest_p:.5f}")
    0.011 0.00016
    """
    design = checked_lines(lines)
    one_of("null", null, ("separate", "joint"))
    one_of("interaction", interaction, ("ats", "max_t"))
    how = _noise(null, noise)
    first = checked_chance(shuffles, rng, 19, "shuffles")
    level, last = checked_level(level), max(checked_size(most, "most"), first)
    anova = two_way(design)
    asked = Question(first, last, exact, level, null, how, interaction)
    tests = tests_of(design, asked, rng)
    is_guarded = tests["algorithm"].flips is not None
    return RandomizedAnova(anova, design.sizes, null, how, is_guarded, level, tests)


def _noise(null: Null, noise: Any) -> Noise:
    if noise is None:
        return "unequal" if null == "separate" else "equal"
    one_of("noise", noise, ("unequal", "equal"))
    if null == "joint" and noise == "unequal":
        raise CurvewiseError(
            "noise is 'unequal', which the joint test does not allow for: its "
            "shuffles mix lines of all algorithms. Pass ",
            {"null": "separate"},
            ", or ",
            {"noise": "equal"},
            ".",
        )
    how: Noise = noise
    return how
