"""Fitting count curves: the confusion matrix as a function of training data."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.confusion.calibrated import fit_calibrated
from curvewise.stats.confusion.curve import ConfusionCurve, ConfusionCurves
from curvewise.stats.confusion.data import (
    CountTable,
    Examples,
    count_table,
    count_tables,
)
from curvewise.stats.confusion.draws import Fit, blocks
from curvewise.stats.confusion.drift import fit_drift
from curvewise.stats.confusion.paper import fit_paper
from curvewise.stats.validation import is_number, one_of

__all__ = ["fit_confusion_curve", "fit_confusion_curves"]

Method: TypeAlias = Literal["drift", "calibrated", "paper"]
METHODS = ("drift", "calibrated", "paper")


def fit_confusion_curve(
    sizes: ArrayLike,
    counts: ArrayLike | Sequence[ArrayLike],
    trained_on: ArrayLike | None = None,
    *,
    method: Method = "drift",
    examples: Examples | None = None,
    test_size: float | None = None,
    tau: float = 5.0,
) -> ConfusionCurve:
    r"""Fit how the confusion matrix changes with training data.

    Parameters
    ----------
    sizes : array_like, shape (size,)
        Sizes of training sets, at least two.
    counts : sequence of array_like
        For each size a matrix of K x K counts, or an array (run, K, K) of those of several
        runs. Rows are true classes, columns what they were called; of two classes, 1 is
        the positive one. `curvewise.stats.counts.counts_matrix` makes them of TP, FP, FN
        and TN.
    trained_on : array_like, shape (size,), optional
        How many examples models saw, where that is less than the size because some were
        held out to validate. All sizes `n` that are asked about are examples seen.
    method : {"drift", "calibrated", "paper"}
        *drift*: level and slope of the logits of recalls may drift, as those of real
        curves do; power laws are among them, and weigh the more the better they predict.
        *calibrated*: logits are power laws of the size with one exponent, which makes
        bands shorter where that is known. *paper*: as published, with bands that do not
        hold.
    examples : Examples, optional
        Which test examples were answered rightly. Without, answers of different sizes on
        the same test examples are taken to be correlated by 0.6.
    test_size : float, optional
        How many examples every run was tested on, to be checked.
    tau : float
        Of *paper*: how strongly the exponent is drawn to -1/2.

    Returns
    -------
    ConfusionCurve
        Ask it for `ConfusionCurve.metric` and `ConfusionCurve.band`.

    Notes
    -----
    Of true class c, the share that is called right is modelled as [1]_

    .. math:: \operatorname{logit} \Pi_c(n) = \alpha_c + \eta_c n^\gamma

    with one exponent for all classes. The shares of classes, and what wrong answers are
    called, make it a whole matrix; every metric follows from that. Real curves are no
    power laws over all sizes: *drift* puts a smoothing spline in the place of the right
    side, learnt on 135 real curves of two classes.

    References
    ----------
    .. [1] Xue et al., 2025.

    Examples
    --------
    >>> sizes = [40, 80, 160, 320, 640]
    >>> right = [120, 132, 140, 146, 149]
    >>> counts = [[[n, 160 - n], [160 - n, n]] for n in right]
    >>> curve = fit_confusion_curve(sizes, counts)
    >>> bool(0.92 < curve.metric("f1", 1280) < 0.97)
    True
    >>> band = curve.band("f1", [640, 1280], target="observed", test_size=320)
    >>> bool((band.lower < band.upper).all() and band.upper.max() <= 1)
    True
    """
    table = count_table(
        sizes, counts, trained_on=trained_on, examples=examples, test_size=test_size
    )
    fitted = _fitted(table, _checked(method), _strength(tau))
    return ConfusionCurve(ConfusionCurves(method, (fitted,)))


def fit_confusion_curves(
    sizes: ArrayLike | Sequence[ArrayLike],
    counts: ArrayLike | Sequence[Any],
    trained_on: ArrayLike | Sequence[ArrayLike] | None = None,
    *,
    method: Method = "drift",
    examples: Sequence[Examples | None] | None = None,
    tau: float = 5.0,
) -> ConfusionCurves:
    """Fit many count curves at once.

    Parameters
    ----------
    sizes : array_like, shape (size,), or a sequence of them
        The same for all curves, or one array for each.
    counts : ndarray, shape (curve, size, K, K) or (curve, size, run, K, K), or a list
        An array where all curves have the same sizes and numbers of runs, which is
        fastest; a list of what `fit_confusion_curve` takes elsewhere.
    trained_on, examples
        As `fit_confusion_curve` takes them, for all curves or one for each.
    method, tau
        See `fit_confusion_curve`.

    Returns
    -------
    ConfusionCurves

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> right = rng.binomial(160, [0.75, 0.82, 0.87, 0.9], (1000, 4))
    >>> counts = np.stack([right, 160 - right, 160 - right, right], -1)
    >>> counts = counts.reshape(1000, 4, 2, 2)
    >>> curves = fit_confusion_curves([40, 80, 160, 320], counts)
    >>> curves.metric("f1", [320, 640]).shape
    (1000, 2)
    """
    table = count_tables(sizes, counts, trained_on=trained_on, examples=examples)
    asked, strength = _checked(method), _strength(tau)
    parts = [
        _fitted(table.take(own), asked, strength)
        for own in blocks(len(table), table.classes)
    ]
    return ConfusionCurves(method, tuple(parts))


def _fitted(table: CountTable, method: Method, tau: float) -> Fit:
    if method == "paper":
        return fit_paper(table, tau=tau)
    if method == "calibrated":
        return fit_calibrated(table)
    return fit_drift(table)


def _checked(method: Method) -> Method:
    one_of("method", method, METHODS)
    return method


def _strength(tau: float) -> float:
    if not (is_number(tau) and tau >= 0):
        raise CurvewiseError(
            f"tau is {tau!r}. Pass a number from 0 up; 5 as published.",
            argument="tau",
            value=tau,
        )
    return float(tau)
