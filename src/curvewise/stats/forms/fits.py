"""Fit a form to one curve, or to thousands."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.stats._curve.runs import UNITS, Unit, scale_of
from curvewise.stats._sample import one_of
from curvewise.stats.forms._batch import checked_curves, fitted, refuse_few
from curvewise.stats.forms._single import checked_curve, single
from curvewise.stats.forms._weights import Weights, weight_matrix
from curvewise.stats.forms.answers import FittedForm, FittedForms
from curvewise.stats.forms.catalogue import form_of
from curvewise.stats.forms.form import Form

__all__ = ["fit_form", "fit_forms"]


def fit_form(
    sizes: ArrayLike,
    errors: Any,
    form: str | Form = "POW3",
    *,
    weights: Weights = None,
    unit: Unit = "fraction",
    allow_increase: bool = False,
    runs: Any = None,
) -> FittedForm:
    """Return the best curve of a form through the mean errors of one learner.

    Parameters
    ----------
    sizes : array_like, shape (size,)
    errors : sequence
        One error, or one array of runs, for each size. Any error that is a fraction:
        1 - accuracy, but also 1 - precision, 1 - recall or 1 - F1.
    form : str or Form
        See `FORMS`.
    weights : {"efficient", "equal", "recent"} or array_like, optional
        ``"efficient"`` is runs over variance, and the choice where there are runs;
        ``"equal"`` where there are not. ``"recent"`` is (n/n_max)^2.
    unit : {"fraction", "percent", "loss"}
    allow_increase : bool
        Whether the error may rise with size.
    runs : sequence of array_like, optional
        Which run each error is of. Means do not ask; what is passed is checked.

    See Also
    --------
    fit_forms : thousands of curves at once, and how it is done.

    Examples
    --------
    >>> fit = fit_form([100, 200, 400, 800], [.30, .25, .22, .20], "POW3")
    >>> fit.error([1600]).round(3).tolist(), round(fit.parameters["g"], 2)
    ([0.188], 0.68)
    """
    chosen = form_of(form)
    seen, w = checked_curve(sizes, errors, weights, unit, runs)
    refuse_few(chosen, len(seen.sizes))
    scale = scale_of(unit)
    found = fitted(
        chosen, seen.sizes, scale * seen.means[None], w, unit, allow_increase
    )
    return single(found, 0, seen)


def fit_forms(
    sizes: ArrayLike,
    errors: ArrayLike,
    form: str | Form = "POW3",
    *,
    weights: Weights = None,
    unit: Unit = "fraction",
    allow_increase: bool = False,
) -> FittedForms:
    r"""Return the best curve of a form through each of many curves of mean errors.

    .. math:: \min_{c, b, \theta} \sum_i w_i
       \bigl(e_i - c - b\, \varphi_\theta(n_i)\bigr)^2

    Given the shape :math:`\theta`, c and b have a closed form, with their bounds: at least
    0 both, and c at most 1. The shape is the best of a grid, then refined.

    Parameters
    ----------
    sizes : array_like, shape (size,)
    errors : array_like, shape (curve, size)
        Means over runs. Errors of a fraction: 1 - accuracy, but also 1 - precision,
        1 - recall or 1 - F1.
    form : str or Form
        See `FORMS`.
    weights : {"equal", "recent"} or array_like, optional
        ``"recent"`` is (n/n_max)^2: forms hold for large sizes rather than for all. An
        array has shape (size,) or (curve, size); 0 is for sizes that a curve has not.
    unit : {"fraction", "percent", "loss"}
    allow_increase : bool
        Whether b may be below 0, so that the error rises.

    Notes
    -----
    For POW3 with weights up to 1 the cost was at most .1 % and 1e-10 above that of the best
    g in [.02, 2], on each of 280,000 curves of 3 to 16 sizes. Curves are fitted in blocks:
    time grows with their number, memory only by the answer and a copy of the errors. A
    curve with NaN or an impossible error has NaN for an answer and does not touch the
    others.

    Examples
    --------
    >>> sizes = [50, 100, 200, 400]
    >>> curves = [[.30, .25, .22, .20], [.5, .4, .3, np.nan]]
    >>> fits = fit_forms(sizes, curves, "POW3")
    >>> fits.is_fitted.tolist(), fits.error([800]).round(3).tolist()
    ([True, False], [[0.188], [nan]])
    """
    one_of("unit", unit, UNITS)
    chosen = form_of(form)
    n, y = checked_curves(sizes, errors, unit)
    refuse_few(chosen, len(n))
    order = np.argsort(n, kind="stable")
    w = weight_matrix(n, len(y), weights)
    return fitted(chosen, n[order], y[:, order], w[:, order], unit, allow_increase)
