"""Rates from confusion counts, for any number of classes and of matrices at once.

counts[..., i, j] is the number of examples of true class i that were called j. With two
classes, class 1 is the positive one: tp = counts[1, 1], fp = counts[0, 1],
fn = counts[1, 0], tn = counts[0, 0]. With more, precision, recall, specificity, F1 and
Jaccard are computed class against rest and averaged over classes: ``macro`` weighs
classes alike, ``weighted`` by how often they occur, ``micro`` adds the counts of all
classes up first. ``positive=k`` is class k against the rest instead.

0/0. A class that is never predicted has no precision. We count 0/0 as `undefined`, the
worst value unless stated, as scikit-learn does, because NaN would turn a trial that ran to
its end into a failed one.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError

Floats: TypeAlias = NDArray[np.float64]
Average: TypeAlias = Literal["macro", "micro", "weighted"]


def accuracy(counts: ArrayLike, *, undefined: float = 0.0) -> Floats:
    """Return the share of examples on the diagonal.

    >>> float(accuracy([[50, 10], [5, 35]]))
    0.85
    """
    c = _checked(counts)
    return _ratio(np.trace(c, axis1=-2, axis2=-1), c.sum((-2, -1)), undefined)


def error(counts: ArrayLike, *, undefined: float = 1.0) -> Floats:
    """Return the share of examples off the diagonal: one minus `accuracy`.

    >>> float(error([[50, 10], [5, 35]]))
    0.15
    """
    c = _checked(counts)
    total = c.sum((-2, -1))
    # Xue et al. (2025) print (TP + TN) / n' as the test error in Eq. (1); that is the
    # accuracy, and their Eqs. (8) and (10) are about this one. Do not "fix" it back.
    return _ratio(total - np.trace(c, axis1=-2, axis2=-1), total, undefined)


def precision(
    counts: ArrayLike,
    *,
    average: Average | None = None,
    positive: int | None = None,
    undefined: float = 0.0,
) -> Floats:
    """Return TP / (TP + FP): how many of those called positive are.

    >>> float(precision([[50, 10], [5, 35]]))
    0.7777777777777778
    """
    return _averaged(
        counts, lambda tp, fp, fn, tn: (tp, tp + fp), average, positive, undefined
    )


def recall(
    counts: ArrayLike,
    *,
    average: Average | None = None,
    positive: int | None = None,
    undefined: float = 0.0,
) -> Floats:
    """Return TP / (TP + FN): how many of the positive ones are found.

    >>> float(recall([[50, 10], [5, 35]]))
    0.875
    """
    return _averaged(
        counts, lambda tp, fp, fn, tn: (tp, tp + fn), average, positive, undefined
    )


def specificity(
    counts: ArrayLike,
    *,
    average: Average | None = None,
    positive: int | None = None,
    undefined: float = 0.0,
) -> Floats:
    """Return TN / (TN + FP): how many of the negative ones are left alone.

    >>> float(specificity([[50, 10], [5, 35]]))
    0.8333333333333334
    """
    return _averaged(
        counts, lambda tp, fp, fn, tn: (tn, tn + fp), average, positive, undefined
    )


def f1(
    counts: ArrayLike,
    *,
    average: Average | None = None,
    positive: int | None = None,
    undefined: float = 0.0,
) -> Floats:
    """Return 2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall.

    >>> float(f1([[50, 10], [5, 35]]))
    0.8235294117647058
    >>> float(f1([[50, 10], [5, 35]], positive=0))
    0.8695652173913043
    """
    return f_beta(
        counts, beta=1.0, average=average, positive=positive, undefined=undefined
    )


def f_beta(
    counts: ArrayLike,
    *,
    beta: float,
    average: Average | None = None,
    positive: int | None = None,
    undefined: float = 0.0,
) -> Floats:
    r"""Return F-beta, which holds recall beta times as important as precision.

    .. math:: F_\beta = \frac{(1 + \beta^2) TP}{(1 + \beta^2) TP + \beta^2 FN + FP}

    >>> float(f_beta([[50, 10], [5, 35]], beta=2))
    0.8536585365853658
    """
    if not (isinstance(beta, int | float) and 0 < beta < np.inf):
        raise CurvewiseError(
            f"beta is {beta!r}. Pass a number above 0, such as 2.",
            argument="beta",
            value=beta,
        )
    b = float(beta) ** 2
    return _averaged(
        counts,
        lambda tp, fp, fn, tn: ((1 + b) * tp, (1 + b) * tp + b * fn + fp),
        average,
        positive,
        undefined,
    )


def jaccard(
    counts: ArrayLike,
    *,
    average: Average | None = None,
    positive: int | None = None,
    undefined: float = 0.0,
) -> Floats:
    """Return TP / (TP + FP + FN).

    >>> float(jaccard([[50, 10], [5, 35]]))
    0.7
    """
    return _averaged(
        counts, lambda tp, fp, fn, tn: (tp, tp + fp + fn), average, positive, undefined
    )


def balanced_accuracy(counts: ArrayLike, *, undefined: float = 0.0) -> Floats:
    """Return the mean recall of the classes, each class as important as another.

    >>> round(float(balanced_accuracy([[50, 10], [5, 35]])), 4)
    0.8542
    """
    return recall(_checked(counts), average="macro", undefined=undefined)


def mcc(counts: ArrayLike, *, undefined: float = 0.0) -> Floats:
    r"""Return Matthews' correlation between true and called classes, -1 to 1.

    .. math:: \frac{s \sum_k c_{kk} - \sum_k t_k p_k}
       {\sqrt{(s^2 - \sum_k p_k^2)(s^2 - \sum_k t_k^2)}}

    with the totals t of true classes, p of called ones and s of all.

    >>> round(float(mcc([[50, 10], [5, 35]])), 4)
    0.6975
    """
    c = _checked(counts)
    true, called, s = c.sum(-1), c.sum(-2), c.sum((-2, -1))
    up = s * np.trace(c, axis1=-2, axis2=-1) - (true * called).sum(-1)
    down = (s**2 - (called**2).sum(-1)) * (s**2 - (true**2).sum(-1))
    return _ratio(up, np.sqrt(np.maximum(down, 0)), undefined)


def kappa(counts: ArrayLike, *, undefined: float = 0.0) -> Floats:
    """Return Cohen's kappa: agreement beyond what the class totals alone would give.

    >>> round(float(kappa([[50, 10], [5, 35]])), 4)
    0.6939
    """
    c = _checked(counts)
    s = c.sum((-2, -1))
    by_chance = (c.sum(-1) * c.sum(-2)).sum(-1)
    agreed = s * np.trace(c, axis1=-2, axis2=-1)
    return _ratio(agreed - by_chance, s**2 - by_chance, undefined)


def cost(counts: ArrayLike, *, costs: ArrayLike, undefined: float = np.nan) -> Floats:
    """Return the mean cost of an example; costs[i, j] is that of calling class i j.

    >>> float(cost([[50, 10], [5, 35]], costs=[[0, 1], [10, 0]]))
    0.6
    """
    c = _checked(counts)
    price = np.asarray(costs, dtype=np.float64)
    if price.shape != c.shape[-2:] or not np.isfinite(price).all():
        raise CurvewiseError(
            f"costs have shape {price.shape}. Pass finite numbers of shape "
            f"{c.shape[-2:]}: rows are true classes, columns what they were called.",
            argument="costs",
            value=costs,
        )
    return _ratio((c * price).sum((-2, -1)), c.sum((-2, -1)), undefined)


FROM_COUNTS: dict[str, Callable[[ArrayLike], Floats]] = {
    "accuracy": accuracy,
    "error": error,
    "precision": precision,
    "recall": recall,
    "specificity": specificity,
    "f1": f1,
    "jaccard": jaccard,
    "balanced_accuracy": balanced_accuracy,
    "mcc": mcc,
    "kappa": kappa,
}

_Parts: TypeAlias = Callable[[Floats, Floats, Floats, Floats], tuple[Floats, Floats]]


def _averaged(
    counts: ArrayLike,
    parts: _Parts,
    average: Average | None,
    positive: int | None,
    undefined: float,
) -> Floats:
    c = _checked(counts)
    classes = c.shape[-1]
    tp = np.diagonal(c, axis1=-2, axis2=-1)
    fp, fn = c.sum(-2) - tp, c.sum(-1) - tp
    tn = c.sum((-2, -1))[..., None] - tp - fp - fn
    if average is not None and positive is not None:
        raise CurvewiseError(
            "Pass ", {"average": ...}, " or ", {"positive": ...}, ", not both."
        )
    if average not in (None, *get_args(Average)):
        raise CurvewiseError(
            f"average is {average!r}. Pass one of {', '.join(get_args(Average))}.",
            argument="average",
            value=average,
        )
    if average == "micro":
        sums = (part.sum(-1) for part in (tp, fp, fn, tn))
        return _ratio(*parts(*sums), undefined)
    rates = _ratio(*parts(tp, fp, fn, tn), undefined)
    if average == "weighted":
        return _ratio((rates * c.sum(-1)).sum(-1), c.sum((-2, -1)), undefined)
    if average == "macro" or (positive is None and classes > 2):
        return np.asarray(rates.mean(-1))
    chosen = 1 if positive is None else positive
    if not (isinstance(chosen, int | np.integer) and 0 <= chosen < classes):
        raise CurvewiseError(
            f"positive is {positive!r}. Pass the number of a class, 0 to {classes - 1}.",
            argument="positive",
            value=positive,
        )
    return np.asarray(rates[..., chosen])


def _checked(counts: ArrayLike) -> Floats:
    try:
        c = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError):
        raise CurvewiseError(
            "Confusion counts are not numbers. Pass counts >= 0, shape (..., K, K).",
            argument="counts",
            value=counts,
        ) from None
    if c.ndim < 2 or c.shape[-1] != c.shape[-2] or c.shape[-1] < 2:
        raise CurvewiseError(
            f"Confusion counts have shape {c.shape}. Pass (..., K, K) with K >= 2: "
            f"rows are true classes, columns what they were called.",
            argument="counts",
            value=counts,
        )
    if not (np.isfinite(c) & (c >= 0)).all():
        raise CurvewiseError(
            "Confusion counts are negative or not finite. Pass counts >= 0.",
            argument="counts",
            value=counts,
        )
    return c


def _ratio(numerator: Floats, denominator: Floats, undefined: float) -> Floats:
    out = np.full(np.shape(denominator), undefined, dtype=np.float64)
    return np.divide(numerator, denominator, out=out, where=np.asarray(denominator) > 0)
