"""How much of how lines differ is a matter of the algorithm?"""

import math
from dataclasses import dataclass

import numpy as np

from curvewise.stats._sample import checked_confidence
from curvewise.stats._words import asymptotic, cannot_tell
from curvewise.stats.anova._lines.apart import Apart, apart
from curvewise.stats.anova._lines.designs import LinesLike, checked_lines
from curvewise.stats.anova._noncentral import of_f
from curvewise.stats.interval import Interval

__all__ = ["Explained", "explained"]


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """How much of how lines differ is a matter of the algorithm.

    Parameters
    ----------
    algorithms : tuple of str
    sizes : tuple of int
        How many lines each has.
    algorithm : Interval
        Of how the means of lines vary. Its value is omega squared, free of bias but for
        being 0 where it would be below.
    interaction : Interval
        The same of how lines less their own means vary, all steps together.
    eta_algorithm, eta_interaction : float
        Eta squared, which counts chance as effect: above 0 without any effect.
    """

    algorithms: tuple[str, ...]
    sizes: tuple[int, ...]
    algorithm: Interval
    interaction: Interval
    eta_algorithm: float
    eta_interaction: float


def explained(lines: LinesLike, *, confidence: float = 0.95) -> Explained:
    r"""Return the share of the variance of lines that goes to the algorithm.

    .. math:: \omega^2 = \frac{\theta^2}{\theta^2 + \sigma^2}, \qquad
       \hat\theta^2 = \frac 1 m \Bigl[\sum_i |\bar x_i - \bar x|^2 -
       \bigl(1 - \tfrac 1 m\bigr) \sum_i \frac{\mathrm{tr} V_i}{l_i}\Bigr], \qquad
       \hat\sigma^2 = \frac 1 m \sum_i \mathrm{tr} V_i

    with the mean :math:`\bar x_i` and the covariance :math:`V_i` of the lines of algorithm
    i: of their means for the effect "algorithm", of the lines less their own means for the
    effect "interaction".

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
        Two lines or more of each of m algorithms, on the same steps.
    confidence : float

    Notes
    -----
    It is the share in a population in which every algorithm has as many lines as any
    other, however many were run. Every step counts the same. Algorithms may be unequally
    noisy; the noise is then the average of their variances. For two algorithms
    :math:`\omega^2 = \delta^2 / (\delta^2 + 4)` with :math:`\delta` the standardised
    difference of `effect_sizes`.

    The interval takes :math:`\sum_i |\bar x_i - \bar x|^2`, over what chance would make of
    it, for a noncentral F with the degrees of freedom of [1]_, which match variances.
    At 95 % it held in 92 to 100 % of 1,000 data sets of normal noise, in 86 to 99 % of
    skewed and in 77 to 100 % of heavy-tailed noise (Student's t with 3 degrees of freedom),
    in each of six designs (two or three algorithms, 5 to 15 lines, noise up to 4 to 1) at
    shares 0, .2, .5 and .8. The larger the share, the more depends on the tails: few
    lines do not show how noisy an algorithm is where one line in many is far off.

    References
    ----------
    .. [1] G. E. P. Box. "Some theorems on quadratic forms applied in the study of analysis
       of variance problems." Annals of Mathematical Statistics 25, 1954.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> noise = rng.standard_normal((3, 10, 8)).cumsum(axis=2)
    >>> noise[2] += 3
    >>> found = explained(noise)
    >>> print(round(found.algorithm.value, 2), found.algorithm)
    0.38 [0.1075, 0.602]
    >>> print(round(found.interaction.value, 2), found.interaction)
    0.0 [0, 0.09845]
    """
    checked_confidence(confidence)
    design = checked_lines(lines, least_lines=2)
    inner = apart(design)
    whole, eta = _share(inner.line_means(), "means of lines", confidence)
    shape, eta_shape = _share(inner.centred(), "lines less their own means", confidence)
    return Explained(design.names, design.sizes, whole, shape, eta, eta_shape)


def _share(lines: Apart, what: str, confidence: float) -> tuple[Interval, float]:
    """Return omega squared with its interval, and eta squared."""
    estimand = f"share of the variance of {what} that goes to the algorithm"
    lines, _ = lines.in_unit()
    design = lines.design
    m, sizes = len(design.sizes), np.array(design.sizes, dtype=np.float64)
    means, rest = lines.means, lines.residuals
    between = float(((means - means.mean(axis=0)) ** 2).sum())
    products = (rest @ rest.T) ** 2
    own = np.array([(rest[s] ** 2).sum() for s in design.slices]) / (sizes - 1)
    noise = float(own.sum())
    if noise == 0:
        why = cannot_tell("lines of an algorithm do not differ at all")
        value = math.nan if between == 0 else 1.0
        return Interval(0.0, 1.0, estimand, why, value), value
    chance = (1 - 1 / m) * float((own / sizes).sum())
    # Traces of products of covariances, from products of lines.
    squares = np.array(
        [[products[s, r].sum() for r in design.slices] for s in design.slices]
    ) / np.outer(sizes * (sizes - 1), sizes * (sizes - 1))
    weights = (np.eye(m) - 1 / m) ** 2
    first = chance**2 / float((weights * squares).sum())
    second = float((own / sizes).sum()) ** 2 / float(
        (np.diag(squares) / (sizes - 1)).sum()
    )
    low, high = (
        _as_share(ratio * chance / noise)
        for ratio in of_f(between / chance, first, second, confidence)
    )
    guarantee = asymptotic(confidence, "noncentral F", ", and about normal")
    value = _as_share(max(between - chance, 0.0) / noise)
    return Interval(low, high, estimand, guarantee, value), _as_share(between / noise)


def _as_share(ratio: float) -> float:
    return 1.0 if math.isinf(ratio) else ratio / (1 + ratio)
