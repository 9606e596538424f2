"""Intervals of the rates of confusion counts that have them in closed form."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from curvewise.errors import CurvewiseError
from curvewise.stats.counts.posterior import (
    CountIntervals,
    Prior,
    Rate,
    beta_ends,
    checked_counts,
    checked_prior,
    f_beta_ends,
    intervals,
)
from curvewise.stats.validation import Floats, bad_value, is_number

__all__ = [
    "accuracy_interval",
    "error_interval",
    "f1_density",
    "f1_interval",
    "f_beta_interval",
    "jaccard_interval",
    "precision_interval",
    "recall_interval",
    "specificity_interval",
]


def error_interval(
    tp: ArrayLike,
    fp: ArrayLike,
    fn: ArrayLike,
    tn: ArrayLike,
    *,
    prior: Prior = "jeffreys",
    confidence: float = 0.95,
) -> CountIntervals:
    r"""Return intervals for the error, the share of examples called wrongly.

    .. math:: e \sim Be(FP + FN + 2\lambda,\; TP + TN + 2\lambda)

    Parameters
    ----------
    tp, fp, fn, tn : array_like, shape (...)
        True and false positives, false and true negatives; they are broadcast.
    prior : {"jeffreys", "uniform", "paper"} or float
        How many examples it adds to every cell: 1/2, 1, or a number of one's own.
        ``"paper"`` is the posterior that [1]_ prints, see below.
    confidence : float
        Posterior probability of each interval.

    Notes
    -----
    Error is the sum of two cells, so a prior that adds :math:`\lambda` to a cell adds
    :math:`2\lambda` to it. [1]_ prints :math:`Be(FP + FN + \lambda, TP + TN + \lambda)`
    with :math:`\lambda = 1` in Eq. (10), while its precision, recall and F1 have
    :math:`\lambda = 1` in each cell: no one prior gives both. ``prior="paper"`` is that.

    References
    ----------
    .. [1] Y. Xue, R. Wang, X. Cao, J. Yang, J. Li. "Learning Curves of Classification
       Metrics based on Confusion Matrices." ACML 2025.

    Examples
    --------
    >>> print(error_interval(tp=40, fp=12, fn=9, tn=60, prior="uniform"))
    0.1736 [0.1214, 0.2562]
    >>> print(error_interval(tp=40, fp=12, fn=9, tn=60, prior="paper"))
    0.1736 [0.1166, 0.251]
    """
    counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    return intervals(_error(prior), counts, prior, confidence)


def accuracy_interval(
    tp: ArrayLike,
    fp: ArrayLike,
    fn: ArrayLike,
    tn: ArrayLike,
    *,
    prior: Prior = "jeffreys",
    confidence: float = 0.95,
) -> CountIntervals:
    """Return intervals for the accuracy: one minus those of `error_interval`.

    Examples
    --------
    >>> print(accuracy_interval(tp=40, fp=12, fn=9, tn=60, prior="uniform"))
    0.8264 [0.7438, 0.8786]
    """
    counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    return intervals(_accuracy(prior), counts, prior, confidence)


def precision_interval(
    tp: ArrayLike,
    fp: ArrayLike,
    *,
    prior: Prior = "jeffreys",
    confidence: float = 0.95,
) -> CountIntervals:
    r"""Return intervals for the precision: how many of those called positive are.

    .. math:: p \sim Be(TP + \lambda,\; FP + \lambda)

    Parameters and answer are those of `error_interval`; ``"paper"`` is ``"uniform"`` here.

    References
    ----------
    .. [1] C. Goutte, E. Gaussier. "A Probabilistic Interpretation of Precision, Recall and
       F-Score, with Implication for Evaluation." ECIR 2005.

    Examples
    --------
    >>> print(precision_interval(tp=40, fp=12, prior="uniform"))
    0.7692 [0.6379, 0.8624]
    """
    return intervals(_PRECISION, {"tp": tp, "fp": fp}, prior, confidence)


def recall_interval(
    tp: ArrayLike,
    fn: ArrayLike,
    *,
    prior: Prior = "jeffreys",
    confidence: float = 0.95,
) -> CountIntervals:
    r"""Return intervals for the recall: how many of the positive ones are found.

    .. math:: r \sim Be(TP + \lambda,\; FN + \lambda)

    Parameters and answer are those of `error_interval`; ``"paper"`` is ``"uniform"`` here.

    Examples
    --------
    >>> print(recall_interval(tp=40, fn=9, prior="uniform"))
    0.8163 [0.6856, 0.8997]
    >>> low, high = recall_interval(tp=[40, 400], fn=[9, 90])
    >>> (high - low).round(3).tolist()
    [0.213, 0.068]
    """
    return intervals(_RECALL, {"tp": tp, "fn": fn}, prior, confidence)


def specificity_interval(
    tn: ArrayLike,
    fp: ArrayLike,
    *,
    prior: Prior = "jeffreys",
    confidence: float = 0.95,
) -> CountIntervals:
    r"""Return intervals for the specificity: how many negative ones are left alone.

    .. math:: s \sim Be(TN + \lambda,\; FP + \lambda)

    Parameters and answer are those of `error_interval`; ``"paper"`` is ``"uniform"`` here.

    Examples
    --------
    >>> print(specificity_interval(tn=60, fp=12))
    0.8333 [0.735, 0.9055]
    """
    return intervals(_SPECIFICITY, {"tn": tn, "fp": fp}, prior, confidence)


def jaccard_interval(
    tp: ArrayLike,
    fp: ArrayLike,
    fn: ArrayLike,
    *,
    prior: Prior = "jeffreys",
    confidence: float = 0.95,
) -> CountIntervals:
    r"""Return intervals for the Jaccard index, the positives' overlap: TP / (TP + FP + FN).

    .. math:: J \sim Be(TP + \lambda,\; FP + FN + 2\lambda)

    Parameters and answer are those of `error_interval`; ``"paper"`` is ``"uniform"`` here.
    F1 is :math:`2J / (1 + J)`.

    Examples
    --------
    >>> print(jaccard_interval(tp=40, fp=12, fn=9, prior="uniform"))
    0.6557 [0.5203, 0.7527]
    """
    return intervals(_JACCARD, {"tp": tp, "fp": fp, "fn": fn}, prior, confidence)


_Pair: TypeAlias = tuple[Floats, Floats]


def _share(yes: Floats, no: Floats) -> _Pair:
    return yes, yes + no


def _share_ends(yes: Floats, no: Floats, added: float, tail: float) -> _Pair:
    return beta_ends(yes + added, no + added, tail)


def _jaccard_parts(tp: Floats, fp: Floats, fn: Floats) -> _Pair:
    return tp, tp + fp + fn


def _jaccard_ends(
    tp: Floats, fp: Floats, fn: Floats, added: float, tail: float
) -> _Pair:
    return beta_ends(tp + added, fp + fn + 2 * added, tail)


def _error(prior: Prior) -> Rate:
    cells = 1 if prior == "paper" else 2

    def parts(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> _Pair:
        return fp + fn, tp + fp + fn + tn

    def ends(
        tp: Floats, fp: Floats, fn: Floats, tn: Floats, added: float, tail: float
    ) -> _Pair:
        return beta_ends(fp + fn + cells * added, tp + tn + cells * added, tail)

    return Rate("the error on all examples", parts, ends, worst=1.0)


def _accuracy(prior: Prior) -> Rate:
    error = _error(prior)

    # The error of the classifier that answers everything the other way round.
    def parts(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> _Pair:
        return error.parts(fp, tp, tn, fn)

    def ends(
        tp: Floats, fp: Floats, fn: Floats, tn: Floats, added: float, tail: float
    ) -> _Pair:
        return error.ends(fp, tp, tn, fn, added, tail)

    return Rate("the accuracy on all examples", parts, ends)


_PRECISION = Rate("the precision on all examples", _share, _share_ends)
_RECALL = Rate("the recall on all examples", _share, _share_ends)
_SPECIFICITY = Rate("the specificity on all examples", _share, _share_ends)
_JACCARD = Rate("the Jaccard index on all examples", _jaccard_parts, _jaccard_ends)


# --- Intervals and the density of F1, and intervals of F-beta --------------------------


def f1_interval(
    tp: ArrayLike,
    fp: ArrayLike,
    fn: ArrayLike,
    *,
    prior: Prior = "jeffreys",
    confidence: float = 0.95,
) -> CountIntervals:
    r"""Return intervals for F1, the harmonic mean of precision and recall.

    .. math:: F_1 = \frac{1}{1 + U/2}, \qquad
       U \sim \mathrm{BetaPrime}(FP + FN + 2\lambda,\; TP + \lambda)

    Parameters
    ----------
    tp, fp, fn : array_like, shape (...)
        True positives, false positives, false negatives; they are broadcast. Fractions
        are counts, too: those of matrices that were averaged or predicted.
    prior : {"jeffreys", "uniform", "paper"} or float
        How many examples it adds to every cell: 1/2, 1, 1, or a number of one's own.
    confidence : float
        Posterior probability of each interval.

    Notes
    -----
    Cells of a Dirichlet are independent gammas over their sum, so
    :math:`F_1 = 2 G_{TP} / (2 G_{TP} + G_{FP} + G_{FN})`, and
    :math:`U = (G_{FP} + G_{FN}) / G_{TP}` is beta prime: exactly the density of [1]_,
    Eq. (11). Its interval, Eq. (28), is printed without the 1/2: that is the interval of
    the Jaccard index (`jaccard_interval`), and for most matrices it misses F1. It is not
    offered here. In closed form, and always inside [0, 1].

    References
    ----------
    .. [1] Y. Xue, R. Wang, X. Cao, J. Yang, J. Li. "Learning Curves of Classification
       Metrics based on Confusion Matrices." ACML 2025.
    .. [2] Y. Wang, J. Li, Y. Li, R. Wang, X. Yang. "Confidence Interval for F1 Measure of
       Algorithm Performance Based on Blocked 3x2 Cross-Validation." IEEE TKDE 27, 2015.

    Examples
    --------
    >>> print(f1_interval(tp=40, fp=12, fn=9, prior="uniform"))
    0.7921 [0.6844, 0.8589]
    >>> low, high = f1_interval(tp=[40, 400], fp=[12, 30], fn=[9, 60])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.6898, 0.876], [0.864, 0.9177])
    """
    return intervals(_F1, {"tp": tp, "fp": fp, "fn": fn}, prior, confidence)


def f_beta_interval(
    tp: ArrayLike,
    fp: ArrayLike,
    fn: ArrayLike,
    *,
    beta: float,
    prior: Prior = "jeffreys",
    confidence: float = 0.95,
) -> CountIntervals:
    r"""Return intervals for F-beta, which holds recall beta times as important.

    .. math:: F_\beta = \frac{1 + \beta^2}{1 + \beta^2 + U (1 + (\beta^2 - 1) s)}, \qquad
       s \sim Be(FN + \lambda,\; FP + \lambda)

    with U as in `f1_interval`, and s, which share of the wrong answers are missed
    positives, independent of it. Nothing is left to chance: the distribution is a Gauss
    quadrature over s, and its quantiles are found to 1e-9.

    Parameters
    ----------
    tp, fp, fn, prior, confidence
        As in `f1_interval`, which this is at ``beta=1``.
    beta : float
        Above 1, recall counts more; below, precision. From .1 to 10.

    Examples
    --------
    >>> print(f_beta_interval(tp=40, fp=12, fn=9, beta=2))
    0.8065 [0.6966, 0.8817]
    """
    if not is_number(beta) or not 0.1 <= beta <= 10:
        raise bad_value("beta", beta, "Pass a number from .1 to 10, such as 2.")
    if beta == 1:
        return f1_interval(tp, fp, fn, prior=prior, confidence=confidence)
    square = float(beta) ** 2

    def parts(tp: Floats, fp: Floats, fn: Floats) -> tuple[Floats, Floats]:
        return (1 + square) * tp, (1 + square) * tp + square * fn + fp

    def ends(
        tp: Floats, fp: Floats, fn: Floats, added: float, tail: float
    ) -> tuple[Floats, Floats]:
        return f_beta_ends(tp + added, fp + added, fn + added, square, tail)

    rate = Rate(f"F-beta (beta {beta:g}) on all examples", parts, ends)
    return intervals(rate, {"tp": tp, "fp": fp, "fn": fn}, prior, confidence)


def f1_density(
    x: ArrayLike,
    tp: ArrayLike,
    fp: ArrayLike,
    fn: ArrayLike,
    *,
    prior: Prior = "jeffreys",
) -> Floats:
    r"""Return the posterior density of F1 at x.

    .. math:: p(x) = \frac{2^a (1-x)^{a-1} (2-x)^{-a-b} x^{b-1}}{B(a, b)}, \qquad
       a = FP + FN + 2\lambda,\; b = TP + \lambda

    Eq. (11) of Xue et al. (2025); `f1_interval` has its quantiles. Infinite at 0 without
    true positives under Jeffreys' prior; 0 outside of [0, 1].

    Parameters
    ----------
    x : array_like
        Where; broadcast with the counts.
    tp, fp, fn, prior
        As in `f1_interval`.

    Examples
    --------
    >>> f1_density([0.5, 0.8, 1.5], tp=40, fp=12, fn=9, prior="uniform").round(3).tolist()
    [0.0, 8.653, 0.0]
    """
    added = checked_prior(prior)
    counts = checked_counts(tp=tp, fp=fp, fn=fn)
    try:
        at = np.asarray(x, dtype=np.float64)
        at, true, false_p, false_n = np.broadcast_arrays(at, *counts)
    except (TypeError, ValueError):
        raise CurvewiseError(
            f"x has shape {np.shape(x)}, the counts {counts[0].shape}. Pass numbers in "
            f"shapes that fit.",
            argument="x",
            value=x,
        ) from None
    if np.isnan(at).any():
        raise CurvewiseError(
            "x holds NaN. Pass numbers; rates are from 0 to 1.", argument="x", value=x
        )
    a, b = false_p + false_n + 2 * added, true + added
    is_in = (at >= 0) & (at <= 1)
    inside = np.where(is_in, at, 0.5)
    log_density = (
        a * np.log(2)
        + special.xlog1py(a - 1, -inside)
        - (a + b) * np.log(2 - inside)
        + special.xlogy(b - 1, inside)
        - special.betaln(a, b)
    )
    return np.asarray(np.where(is_in, np.exp(log_density), 0.0))[()]


def _f1_parts(tp: Floats, fp: Floats, fn: Floats) -> tuple[Floats, Floats]:
    return 2 * tp, 2 * tp + fp + fn


def _f1_ends(
    tp: Floats, fp: Floats, fn: Floats, added: float, tail: float
) -> tuple[Floats, Floats]:
    # 1 / (1 + U) is the Jaccard index J, a beta; 1 / (1 + U/2) is 2J / (1 + J).
    low, high = beta_ends(tp + added, fp + fn + 2 * added, tail)
    return 2 * low / (1 + low), 2 * high / (1 + high)


_F1 = Rate("F1 on all examples", _f1_parts, _f1_ends)
