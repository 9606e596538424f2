"""One curve continued, from its runs."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.stats._curve.runs import Runs, Unit, checked_runs, scale_of
from curvewise.stats.learning.extrapolation._asked import (
    checked_targets,
    ends,
    highest,
    known_confidence,
)
from curvewise.stats.learning.extrapolation._band import quantiles
from curvewise.stats.learning.extrapolation._concerns import concerns
from curvewise.stats.learning.extrapolation._forecast import Observed, outlook
from curvewise.stats.learning.extrapolation._weights import smooth_squares
from curvewise.stats.learning.extrapolation.answer import (
    Extrapolation,
)
from curvewise.stats.learning.shape import shape

__all__ = ["extrapolate"]

FEWEST = 3


def extrapolate(
    sizes: ArrayLike,
    errors: Any,
    *,
    to: ArrayLike,
    confidence: float = 0.95,
    unit: Unit = "fraction",
    runs: Any = None,
) -> Extrapolation:
    r"""Return what error a learner will have with more training data.

    Averages 128 power laws with :math:`b, c \ge 0`,

    .. math:: e(n) = c + b\,\Bigl(\frac{n + d}{n_k + d}\Bigr)^{-g},

    by how well each fits the mean errors, recent sizes counting more and noisy ones less.
    The interval adds up noise, disagreement of the power laws, the fall that is predicted
    and how far beyond the sizes seen one asks, with factors learnt on real curves.

    Parameters
    ----------
    sizes : array_like, shape (size,)
        Numbers of training examples, at least three.
    errors : sequence of array_like
        For each size one error, or one for each run.
    to : float or array_like, shape (target,)
        Sizes to predict at, from the smallest size that was seen upwards.
    confidence : float
        From .5 to .99.
    unit : {"fraction", "percent", "loss"}
        A loss is any number from 0 up; its intervals were not measured.
    runs : sequence of array_like, optional
        Which run each error is of. If it is known, whether the curve significantly rises or
        is not convex is tested within runs, and said in `concerns`. The interval uses the
        spread of the runs at each size; what a run has in common at all sizes is in its
        factors, which were learnt on runs that have.

    Notes
    -----
    With s the noise, e the standard error of a mean near the largest size :math:`n_k`, V
    the spread of the power laws, h their error at :math:`n_k`, m the prediction,
    :math:`L = \ln(N / n_k)`, x = L over the range of the logarithms of sizes, and f the
    share of power laws that found no fall,

    .. math::
       u &= m + u_1 s + u_2 e + u_3 V + u_4 x + u_5 (h - m) + u_6 f x \\
       l &= m - l_1 s - l_2 e - l_3 h L - l_4 h x

    Each side is a quantile regression with factors of at least 0. Mohr et al. [1]_ made
    the curves that the factors were learnt on; Viering and Loog [2]_ review why no single
    form fits them all.

    The weight of a size is :math:`1 / (\mathrm{se}^2 + .02^2 (n_k / n)^2)`, with the
    squared standard error of its mean. Where runs are not known, second differences of
    the means stand in for it.

    Measured with factors from other data sets, on 518 curves: 95 % intervals held in 92 to
    97 %, whether 80 or 50 % of the sizes were seen, all or every second, with 25, 5 or 1
    runs. Where the error later *rose* above the last one by more than .01, which no fall
    foretells, they held in 70 %. Where the runs seen show a significant rise they held in
    94 %, and were half as wide again. Between the sizes seen, one more fit is made for each
    size that is asked for; L is then the distance to the nearest size. No side is shorter
    than t times the standard error of the mean of the runs, with eight degrees of freedom:
    at the sizes seen, 95 % intervals from 5 or 2 runs held the mean of other runs in 93 to
    98 %.

    References
    ----------
    .. [1] F. Mohr, T. Viering, M. Loog, J. van Rijn. "LCDB 1.0: An Extensive Learning
       Curves Database for Classification Tasks." ECML-PKDD 2022.
    .. [2] T. Viering, M. Loog. "The Shape of Learning Curves: A Review." TPAMI 2023.

    Examples
    --------
    >>> sizes = [16, 32, 64, 128, 256, 512, 1024]
    >>> errors = [0.420, 0.350, 0.295, 0.262, 0.231, 0.212, 0.198]
    >>> ahead = extrapolate(sizes, errors, to=4096)
    >>> print(f"{ahead.error:.3f}")
    0.182
    """
    level = known_confidence(confidence)
    given = checked_runs(sizes, errors, unit=unit, runs=runs, fewest=FEWEST)
    n = checked_targets(to, given.sizes)
    means = given.means
    largest = float(means.max()) or 1.0  # all losses may be 0
    inside = largest if unit == "loss" else 1.0
    # Scaled first: the square of a tiny loss would be 0.
    within = Runs(given.sizes, tuple(e / inside for e in given.errors), None)
    squares = smooth_squares(within.variances[None, :], given.counts[None, :])
    seen = Observed(given.sizes, means[None, :] / inside, squares).fitted()
    top = highest(unit)
    ahead = outlook(seen, n, top)
    scale = scale_of(unit) * inside
    lower, error, upper = scale * quantiles(ahead, ends(level), top)[:, 0]
    rise, flat = float(seen.rise[0]), float(ahead.flat[0])
    told = concerns(
        sizes=given.sizes,
        furthest=float(n.max()),
        span=seen.span,
        rise=rise,
        flat=flat,
        runs=float(given.counts.max()),
        unit=unit,
    )
    bent = shape(sizes, errors, unit=unit, runs=runs)
    is_one = np.ndim(to) == 0
    return Extrapolation(
        to=n,
        error=float(error[0]) if is_one else error,
        lower=float(lower[0]) if is_one else lower,
        upper=float(upper[0]) if is_one else upper,
        sizes=given.sizes,
        means=scale * seen.errors[0],
        counts=given.counts,
        confidence=level,
        noise=scale * float(ahead.noise[0]),
        rise=scale * rise,
        flat=flat,
        shape=bent,
        concerns=(*bent.concerns, *told),
        unit=unit,
        scale=scale,
        seen=seen,
    )
