"""The empirical distribution of scores and numbers read off it.

Everything here takes scores for which higher is better and leaves nothing to chance.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.stats.interval import TAILS, Tail
from curvewise.stats.validation import (
    Floats,
    as_floats,
    bad_value,
    checked_alphas,
    checked_scores,
    one_of,
    shares,
    sorted_scores,
)

__all__ = [
    "DEFINITIONS",
    "TAILS",
    "Definition",
    "Tail",
    "Threshold",
    "cvar",
    "ecdf",
    "functional",
    "mean",
    "quantile",
    "rank",
    "threshold",
]


Definition: TypeAlias = Literal["integral", "conditional"]

DEFINITIONS = ("integral", "conditional")


def ecdf(scores: ArrayLike, at: ArrayLike) -> Floats:
    r"""Return the share of scores at or below each value.

    .. math:: \hat F(z) = \frac 1 n \#\{i : z_i \le z\}

    Parameters
    ----------
    scores : array_like, shape (trial,)
    at : array_like
        Where to evaluate; any shape.

    Examples
    --------
    >>> ecdf([1, 2, 2, 4], at=[0, 2, 3]).tolist()
    [0.0, 0.75, 0.75]
    """
    z = sorted_scores(scores)
    values = as_floats(at)
    if values is None or np.isnan(values).any():
        raise bad_value("at", at, "Pass scores to look at.")
    return np.searchsorted(z, values, side="right") / len(z)


def quantile(scores: ArrayLike, p: ArrayLike) -> Floats:
    r"""Return the smallest score that a share `p` of the scores do not exceed.

    .. math:: \hat F^{-1}(p) = \min\{z : \hat F(z) \ge p\} = z_{(\lceil np \rceil)}

    Parameters
    ----------
    scores : array_like, shape (trial,)
    p : array_like
        Shares between 0 and 1; any shape. At 0 it is the smallest score.

    Notes
    -----
    An order statistic, never interpolated: a score between two observed ones is a score
    that nobody has seen. ``numpy.quantile`` interpolates by default.

    References
    ----------
    .. [1] S. Jordan, D. Cohen, P. Thomas. "Using Cumulative Distribution Based Performance
       Analysis to Benchmark Models." 2018. Section 3.

    Examples
    --------
    >>> quantile([1, 2, 3, 4], [0, 0.25, 0.26, 1]).tolist()
    [1.0, 1.0, 2.0, 4.0]
    """
    z = sorted_scores(scores)
    share = shares(p)
    order_statistic: Floats = z[np.maximum(rank(len(z), share), 1) - 1]
    return order_statistic


def mean(scores: ArrayLike) -> float:
    r"""Return the mean score, :math:`\int_0^1 \hat F^{-1}(p)\,dp`.

    Parameters
    ----------
    scores : array_like, shape (trial,)
        One score per trial. Failed trials belong in here.

    Examples
    --------
    >>> mean([1, 2, 6])
    3.0
    """
    return float(checked_scores(scores).mean())


@overload
def cvar(
    scores: ArrayLike,
    alpha: float,
    *,
    tail: Tail = "upper",
    definition: Definition = "integral",
) -> float: ...


@overload
def cvar(
    scores: ArrayLike,
    alpha: ArrayLike,
    *,
    tail: Tail = "upper",
    definition: Definition = "integral",
) -> Floats: ...


def cvar(
    scores: ArrayLike,
    alpha: ArrayLike,
    *,
    tail: Tail = "upper",
    definition: Definition = "integral",
) -> float | Floats:
    r"""Return the mean of the best :math:`1-\alpha` or worst :math:`\alpha` of scores.

    .. math::
       \mathrm{CVaR}_\alpha^{\text{upper}} = \frac{1}{1-\alpha}\int_\alpha^1
       \hat F^{-1}(p)\,dp, \qquad
       \mathrm{CVaR}_\alpha^{\text{lower}} = \frac{1}{\alpha}\int_0^\alpha
       \hat F^{-1}(p)\,dp

    Parameters
    ----------
    scores : array_like, shape (trial,)
        One score per trial, higher is better. Failed trials belong in here.
    alpha : float or array_like
        The mass below the cut, strictly between 0 and 1. Of several cuts an array of the
        same shape is returned, for hardly more work than one.
    tail : {"upper", "lower"}
        The upper tail says how good it gets, the lower one what it risks.
    definition : {"integral", "conditional"}
        ``"conditional"`` is the formula that the paper prints,
        :math:`E[Z \mid Z \ge \hat F^{-1}(\alpha)]` (lower: :math:`\le`).

    Notes
    -----
    The two definitions agree for a continuous distribution. Accuracies tie, and then the
    printed one lets a whole tied block in: for six 0 and four 1 with alpha = .5 it gives
    .4, the plain mean, where the best half averages .8. The integral averages exactly the
    mass asked for [2]_, and ``alpha * lower + (1 - alpha) * upper`` is the mean.

    References
    ----------
    .. [1] S. Jordan, D. Cohen, P. Thomas. "Using Cumulative Distribution Based Performance
       Analysis to Benchmark Models." 2018. Section 3.
    .. [2] R. T. Rockafellar, S. Uryasev. "Conditional value-at-risk for general loss
       distributions." Journal of Banking & Finance 26, 2002.

    Examples
    --------
    >>> cvar([1, 2, 3, 4], alpha=0.5)
    3.5
    >>> cvar([0] * 6 + [1] * 4, alpha=0.5), cvar([0] * 6 + [1] * 4, 0.5, tail="lower")
    (0.8, 0.0)
    >>> cvar([1, 2, 3, 4], [0.25, 0.5, 0.75]).tolist()
    [3.0, 3.5, 4.0]
    """
    z = sorted_scores(scores)
    cut = checked_alphas(alpha)
    one_of("tail", tail, TAILS)
    one_of("definition", definition, DEFINITIONS)
    means = _TAIL_MEANS[tail, definition](z, cut)
    return float(means) if cut.ndim == 0 else means


def _best(z: Floats, alpha: Floats) -> Floats:
    # Trial i (from 0) holds the mass from i/n to (i + 1)/n; the cut falls into one trial,
    # which counts with the part of it that is above.
    n = len(z)
    i = np.minimum((n * alpha).astype(np.intp), n - 1)
    part = np.maximum(i + 1 - n * alpha, np.finfo(float).eps)
    total = part * z[i] + sums_from(z.__getitem__, n, i + 1)
    return _inside(z, total / (part + n - 1 - i))


def _worst(z: Floats, alpha: Floats) -> Floats:
    n = len(z)
    i = np.maximum(np.ceil(n * alpha).astype(np.intp) - 1, 0)
    part = n * alpha - i
    total = part * z[i] + sums_from(z[::-1].__getitem__, n, n - i)
    return _inside(z, total / (part + i))


def _inside(z: Floats, average: Floats) -> Floats:
    """Return averages of scores, which rounding must not carry beyond all of them."""
    clipped: Floats = np.clip(average, z[0], z[-1])
    return clipped


def _not_below(z: Floats, alpha: Floats) -> Floats:
    first = np.searchsorted(z, quantile(z, alpha), side="left")
    n = len(z)
    return sums_from(z.__getitem__, n, first) / (n - first)


def _not_above(z: Floats, alpha: Floats) -> Floats:
    count = np.searchsorted(z, quantile(z, alpha), side="right")
    n = len(z)
    return sums_from(z[::-1].__getitem__, n, n - count) / count


_TAIL_MEANS = {
    ("upper", "integral"): _best,
    ("lower", "integral"): _worst,
    ("upper", "conditional"): _not_below,
    ("lower", "conditional"): _not_above,
}


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a threshold on the score tells.

    Parameters
    ----------
    probability : float
        P(Z >= z), how many trials reach it.
    mean_reached : float
        E[Z | Z >= z], how good those are; NaN where none does.
    partial : float
        E[Z 1{Z >= z}], the paper's statistic.
    excess : float
        E[(Z - z)+], the area above the CDF beyond the threshold.
    """

    probability: float
    mean_reached: float
    partial: float
    excess: float


def threshold(scores: ArrayLike, z: float) -> Threshold:
    r"""Return what share of scores reaches `z`, and how far they go.

    .. math:: \int_z^\infty t f(t)\,dt = E[Z\,1\{Z \ge z\}], \qquad
       \int_z^\infty (1 - F(t))\,dt = E[(Z - z)_+]

    Parameters
    ----------
    scores : array_like, shape (trial,)
    z : float
        The score to reach. One that no trial reaches is answered with a share of 0.

    Notes
    -----
    The first integral is what [1]_ prints as "the area under the CDF that meets the
    threshold". It is a partial expectation, moves when a constant is added to all scores,
    and rewards missing the threshold where scores are negative: for scores -2 and -1 it
    is -1.5 at threshold -3 and -0.5 at -1.5. The second one is an area and does not.

    References
    ----------
    .. [1] S. Jordan, D. Cohen, P. Thomas. "Using Cumulative Distribution Based Performance
       Analysis to Benchmark Models." 2018. Section 3.

    Examples
    --------
    >>> threshold([-2, -1], -1.5)
    Threshold(probability=0.5, mean_reached=-1.0, partial=-0.5, excess=0.25)
    """
    values = sorted_scores(scores)
    if not isinstance(z, int | float | np.number) or not math.isfinite(z):
        raise bad_value("z", z, "Pass a finite score, one worth reaching.")
    reached = values >= z
    return Threshold(
        probability=float(reached.mean()),
        mean_reached=float(values[reached].mean()) if reached.any() else float("nan"),
        partial=float(np.where(reached, values, 0.0).mean()),
        excess=float(np.maximum(values - z, 0.0).mean()),
    )


def functional(scores: ArrayLike, of: Callable[[Floats], float]) -> float:
    """Return any functional of the empirical distribution, given the sorted scores.

    Examples
    --------
    >>> functional([3, 1, 2], lambda z: z[-1] - z[0])
    2.0
    """
    return float(of(sorted_scores(scores)))


def rank(n: int, p: Floats) -> NDArray[np.int64]:
    """Return ceil(n p), safe against the rounding of p.

    Parameters
    ----------
    n : int
    p : ndarray

    Examples
    --------
    >>> int(rank(10, np.array(0.7)))
    7
    """
    # n * p carries a relative error of a few units in its last place.
    return np.ceil(n * p - 1e-12 * max(n, 1)).astype(np.int64)


_CHUNK = 1 << 15  # scores; two such arrays fit into a cache


def sums_from(
    values: Callable[[slice], Floats], length: int, first: NDArray[np.intp]
) -> Floats:
    """Return the sum of values from each index on, whatever order the indices have.

    Each value is made and read once, in chunks that stay in the cache: a grid of cuts
    through millions of scores costs hardly more than one.
    """
    starts, place = np.unique(first, return_inverse=True)
    blocks = np.zeros(len(starts))
    for begin in range(starts[0] if len(starts) else length, length, _CHUNK):
        end = min(begin + _CHUNK, length)
        after = np.searchsorted(starts, begin, side="right")
        until = np.searchsorted(starts, end, side="left")
        inside = np.append(0, starts[after:until] - begin)
        blocks[after - 1 : until] += np.add.reduceat(values(slice(begin, end)), inside)
    sums: Floats = np.cumsum(blocks[::-1])[::-1][place.reshape(first.shape)]
    return sums
