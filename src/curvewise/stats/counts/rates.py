"""Intervals of error, accuracy, precision, recall, specificity and Jaccard.

The four counts of a matrix are one multinomial draw, and its unknown probabilities get a
Dirichlet prior that adds `prior` examples to every cell: 1/2 is Jeffreys' prior, 1 the
uniform one. Every rate below then has a beta posterior, and its interval the quantiles of
that: always inside [0, 1], in closed form.

Which prior? Jeffreys', unless told: over test sets of 30 to 1,000 examples, shares of
positives of .05 to .5 and classifiers from poor to good, 95 % intervals of F1, precision,
recall and error cover in .907 to .994 of test sets; with the uniform prior in .435 to
1.000, lowest where a rate is near 0 or 1 and few examples tell of it.

Counts may be fractions: those of matrices that were averaged or predicted. Counts of
several models on one test set are not independent examples, and their sum claims too much.
"""

from typing import TypeAlias

from numpy.typing import ArrayLike

from curvewise.stats._sample import Floats
from curvewise.stats.counts._given import Prior
from curvewise.stats.counts._posterior import Rate, intervals
from curvewise.stats.counts._quantiles import beta_ends
from curvewise.stats.counts.answers import CountIntervals

__all__ = [
    "accuracy_interval",
    "error_interval",
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
