"""The empirical distribution of scores and numbers read off it.

Everything here takes scores for which higher is better and leaves nothing to chance.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats, rank, shares, sorted_scores

Tail: TypeAlias = Literal["upper", "lower"]
Definition: TypeAlias = Literal["integral", "conditional"]


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
    return np.searchsorted(z, np.asarray(at), side="right") / len(z)


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


def cvar(
    scores: ArrayLike,
    alpha: float,
    *,
    tail: Tail = "upper",
    definition: Definition = "integral",
) -> float:
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
    alpha : float
        The mass below the cut, strictly between 0 and 1.
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
    """
    z = sorted_scores(scores)
    if isinstance(alpha, str) or not 0 < alpha < 1:
        raise CurvewiseError(
            f"alpha is {alpha!r}. Pass a share strictly between 0 and 1."
        )
    _one_of("tail", tail, ("upper", "lower"))
    _one_of("definition", definition, ("integral", "conditional"))
    if definition == "conditional":
        cut = quantile(z, alpha)
        return float(z[z >= cut].mean() if tail == "upper" else z[z <= cut].mean())
    # Trial i holds the mass between (i - 1)/n and i/n; its weight is the part in the tail.
    n = len(z)
    if tail == "upper":
        weights = np.clip(np.arange(1, n + 1) - n * alpha, 0, 1)
    else:
        weights = np.clip(n * alpha - np.arange(n), 0, 1)
    return float(weights @ z / weights.sum())


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
        The score to reach.

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


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise CurvewiseError(f"{name} is {value!r}. Pass one of {', '.join(known)}.")
