"""Forms fitted to one curve, or to thousands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.curves import (
    UNITS,
    Runs,
    Unit,
    as_number,
    checked_means,
    checked_runs,
    fit_grid,
    scale_of,
)
from curvewise.stats.forms.catalogue import Design, Form, form_of
from curvewise.stats.forms.search import Found, Rule, search
from curvewise.stats.validation import (
    LARGEST_LOSS,
    Floats,
    as_floats,
    bad_value,
    checked_sizes,
    one_of,
    refuse_twice,
)

__all__ = [
    "FittedForm",
    "fit_form",
    "fit_forms",
]


Weights: TypeAlias = Literal["efficient", "equal", "recent"] | ArrayLike | None


# The noise of a mean is at least .0003 (of the mean error, for losses): few sizes are
# often met to the last digit by luck, which is no reason to believe a form for sure.
_LEAST_VARIANCE = 1e-7
_HIGHEST = {"fraction": 1.0, "percent": 100.0, "loss": np.inf}


Concern: TypeAlias = Literal[
    "missing_errors",  # curves are not fitted: errors are missing
    "impossible_errors",  # curves are not fitted: errors are below 0 or above the unit
    "few_sizes",  # curves are not fitted: they have fewer sizes than parameters
    "flat",  # the error does not fall: the shape means nothing
    "at_edge",  # of the shapes that are searched: another form may fit better
    "saturated",  # as many parameters as sizes: nothing tells whether it fits
    "only_interpolates",  # the form falls without end
    "unit_of_size",  # the form depends on it: pass examples
    "no_repeats",  # one run at each size: the noise is not known
    "last_value",  # no form does better than to repeat it
]


@dataclass(frozen=True, slots=True, eq=False)
class FittedForm:
    """A form, fitted to one curve or to many. Everything is in the unit of the errors.

    Of many, arrays have curves along their first axis, numbers are arrays, and ``fits[i]``
    is one of the curves.

    Parameters
    ----------
    form : Form
    sizes : ndarray, shape (size,)
        Increasing.
    means : ndarray, shape (size,) or (curve, size)
        What was fitted.
    weights : ndarray, shape (size,), (curve, size) or (1, size)
    unit : {"fraction", "percent", "loss"}
    is_fitted : bool, or ndarray of bool, shape (curve,)
        False where there is no curve to fit: its numbers are NaN.
    cost : float, or ndarray of shape (curve,)
        The weighted sum of squares that is left. For LAST1, that of each error less the
        one before, times size/(size - 1).
    concerns : tuple of str
        What may be wrong, by name.
    """

    form: Form
    sizes: Floats
    means: Floats
    weights: Floats
    unit: Unit
    is_fitted: Any
    cost: Any
    concerns: tuple[Concern, ...]
    _design: Design
    _shape: Floats
    _offset: Floats
    _amplitude: Floats

    def __getitem__(self, i: int) -> "FittedForm":
        """Return one of many curves."""
        if np.ndim(self.cost) == 0:
            raise CurvewiseError("This is one curve, and no row of them.")
        return replace(
            self,
            means=self.means[i],
            weights=self.weights[0 if len(self.weights) == 1 else i],
            is_fitted=bool(self.is_fitted[i]),
            cost=float(self.cost[i]),
            concerns=(),
            _shape=self._shape[:, i],
            _offset=self._offset[i],
            _amplitude=self._amplitude[i],
        )

    def error(self, n: ArrayLike) -> Floats:
        """Return the error at sizes, shape (n,) or (curve, n).

        No form is believed below 0, or above all that an error can be. Infinity is a
        size, too: the asymptote.
        """
        at = as_floats(n)
        if at is None or not (at > 0).all():
            raise bad_value("n", n, "Pass numbers of training examples.")
        t = np.atleast_1d(at).ravel() / self._design.top
        shape = [k[..., None] for k in self._shape]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            phi = self.form.basis(t, shape, self._design)
            # A curve that is flat stays so, where phi is infinite.
            b = self._amplitude[..., None]
            error = self._offset[..., None] + np.where(b == 0, 0.0, b * phi)
        return np.clip(error, 0, _HIGHEST[self.unit])

    @property
    def asymptote(self) -> Any:
        """The error where sizes grow without end."""
        return as_number(self.error([np.inf])[..., 0])

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the formula by name."""
        shape = list(self._shape)
        with np.errstate(over="ignore"):
            values = self.form.natural(
                self._offset, self._amplitude, shape, self._design
            )
        pairs = zip(self.form.parameters, values, strict=True)
        return {name: as_number(value) for name, value in pairs}

    @property
    def is_flat(self) -> Any:
        """Whether the best curve of the form does not change with size."""
        first, last = self.error([self.sizes[0], self.sizes[-1]]).T
        is_same = np.abs(first - last) <= 1e-12 * np.abs(last)
        return as_number(is_same & self.is_fitted)

    @property
    def log_likelihood(self) -> Any:
        """That of normal noise of unknown size at each mean, for errors as fractions."""
        total, count = self._totals
        scale = np.full(np.shape(total), scale_of(self.unit))
        if self.unit == "loss":
            used = np.where(self.weights > 0, self.means, 0.0)
            scale = used.sum(axis=-1) / count
        scale = np.where(scale > 0, scale, 1.0)
        # Twice by the scale, since the square of a tiny or a huge one is no number.
        variance = self.cost / total / scale / scale + _LEAST_VARIANCE
        return as_number(-0.5 * count * (np.log(2 * np.pi * variance) + 1))

    @property
    def aic(self) -> Any:
        """Akaike's criterion for few sizes (AICc): smaller is better.

        ``-2 log L + 2k + 2k(k + 1)/(sizes - k - 1)``, with k the parameters and the
        noise. The last divisor is kept at 1 where there are too few sizes for it, so that
        forms of many parameters are punished there, not forbidden.
        """
        _, count = self._totals
        k = self.form.size + 1
        spare = np.maximum(count - k - 1, 1)
        return as_number(-2 * self.log_likelihood + 2 * k + 2 * k * (k + 1) / spare)

    @property
    def _totals(self) -> tuple[Floats, Floats]:
        w = np.broadcast_to(self.weights, self.means.shape)
        return w.sum(axis=-1), np.asarray((w > 0).sum(axis=-1), dtype=np.float64)


# --- Fit a form to one curve, or to thousands ------------------------------------------


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
    runs_at, curve = checked_curve(sizes, errors, weights, unit, allow_increase, runs)
    return single(fitted(chosen, curve), 0, runs_at)


def fit_forms(
    sizes: ArrayLike,
    errors: ArrayLike,
    form: str | Form = "POW3",
    *,
    weights: Weights = None,
    unit: Unit = "fraction",
    allow_increase: bool = False,
) -> FittedForm:
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
    chosen = form_of(form)
    return fitted(chosen, checked_curves(sizes, errors, weights, unit, allow_increase))


# --- A batch of curves, checked and fitted ---------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class MeanCurves:
    """Mean errors of curves in their unit, how they are weighed, and if they may rise."""

    sizes: Floats  # increasing
    means: Floats  # (curve, size)
    weights: Floats  # (curve, size) or (1, size)
    unit: Unit
    may_rise: bool

    def upto(self, size: int) -> "MeanCurves":
        """Return the first sizes."""
        first = np.s_[:, :size]
        return replace(
            self,
            sizes=self.sizes[:size],
            means=self.means[first],
            weights=self.weights[first],
        )


# Fits are made in fractions, whatever the unit of the answer.
_HIGHEST_FITTED = {"fraction": 1.0, "percent": 1.0, "loss": np.inf}


def fitted(form: Form, curves: MeanCurves) -> FittedForm:
    """Return a form fitted to curves that were checked."""
    n, w, unit = curves.sizes, curves.weights, curves.unit
    if len(n) < form.size:
        raise CurvewiseError(
            f"{form.name} has {form.size} parameters and there are {len(n)} sizes. Train "
            f"on more sizes, or pass a form with fewer, such as POW2 or LAST1."
        )
    if not form.is_unit_free and n[0] <= 1:
        raise CurvewiseError(
            f"{form.name} is {form.formula}, and a size is {n[0]:g}. Pass sizes above 1."
        )
    scale = 0.01 if unit == "percent" else 1.0
    y = scale * curves.means
    is_used = np.broadcast_to(w > 0, y.shape)
    with np.errstate(invalid="ignore"):
        is_error = (y >= 0) & (y <= min(_HIGHEST_FITTED[unit], LARGEST_LOSS))
    is_fine = (is_error | ~is_used).all(axis=1)
    is_fitted = is_fine & (is_used.sum(axis=1) >= form.size)
    y = np.where(is_used & is_fitted[:, None], y, 0.0)
    # What is not fitted still needs some weight to be divided by.
    if len(w) > 1:
        w = np.where(is_fitted[:, None], w, 1.0)
    elif not is_fitted.any():
        w = np.ones_like(w)
    design = Design(float(n[0] / n[-1]), float(n[-1]), curves.may_rise)
    best = _best(form, n / n[-1], y, w, design, unit)
    gone = np.where(is_fitted, 1.0, np.nan)
    is_missing = ~is_fine & ~np.isfinite(curves.means).all(axis=1)
    reasons: dict[Concern, Any] = {
        "missing_errors": is_missing,
        "impossible_errors": ~is_fine & ~is_missing,
        "few_sizes": is_fine & ~is_fitted,
    }
    return FittedForm(
        form=form,
        sizes=n,
        means=curves.means,
        weights=w,
        unit=unit,
        is_fitted=is_fitted,
        cost=best.cost * gone / scale**2,
        concerns=tuple(name for name, are in reasons.items() if are.any()),
        _design=design,
        _shape=best.shape * gone,
        _offset=best.asymptote * gone / scale,
        _amplitude=best.amplitude * gone / scale,
    )


def _best(
    form: Form, t: Floats, y: Floats, w: Floats, design: Design, unit: Unit
) -> Found:
    if form.solves != "last":
        rule = Rule.of(form, may_rise=design.may_rise, highest=_HIGHEST_FITTED[unit])
        return search(form, t, y, w, design, rule)
    w = np.broadcast_to(w, y.shape)
    is_used = w > 0
    place = np.maximum.accumulate(np.where(is_used, np.arange(len(t)), 0), axis=1)
    filled = np.take_along_axis(y, place, axis=1)
    # LAST1 says that an error is the one before, and noise.
    rest = np.diff(filled, axis=1)
    count = is_used.sum(axis=1)
    cost = (w[:, 1:] * rest**2).sum(axis=1) * count / np.maximum(count - 1, 1)
    return Found(np.zeros((0, len(y))), cost, filled[:, -1], np.zeros(len(y)))


def checked_curves(
    sizes: Any, errors: Any, weights: Weights, unit: Unit, may_rise: bool
) -> MeanCurves:
    """Return many curves of means by increasing size."""
    one_of("unit", unit, UNITS)
    n = checked_sizes(sizes)
    refuse_twice(np.sort(n))
    means = checked_means(errors, "errors", len(n), unit)
    order = np.argsort(n, kind="stable")
    w = _weight_matrix(n, len(means), weights)[:, order]
    return MeanCurves(
        sizes=n[order], means=means[:, order], weights=w, unit=unit, may_rise=may_rise
    )


def checked_curve(
    sizes: Any, errors: Any, weights: Weights, unit: Unit, may_rise: bool, runs: Any
) -> tuple[Runs, MeanCurves]:
    """Return the runs of one curve by increasing size, and their means as a batch."""
    measured = checked_runs(sizes, errors, unit=unit, runs=runs, fewest=1)
    n = measured.sizes
    if weights is not None and not isinstance(weights, str):
        w = _weight_matrix(n, 1, weights)[0]
        weights = w[np.argsort(np.asarray(sizes), kind="stable")]
    w = _weights_of(measured, weights, unit)[None]
    means = scale_of(unit) * measured.means[None]
    return measured, MeanCurves(
        sizes=n, means=means, weights=w, unit=unit, may_rise=may_rise
    )


def single(fits: FittedForm, i: int, measured: Runs) -> FittedForm:
    """Return one curve of a batch, with what may be wrong with it."""
    fit, form = fits[i], fits.form
    if not fit.is_fitted:
        raise CurvewiseError(
            f"{form.name} has {form.size} parameters, and too few sizes have a weight "
            f"above 0. Pass more sizes, or other weights."
        )
    return replace(fit, concerns=tuple(_concerns(fit, measured)))


def _concerns(fit: FittedForm, measured: Runs) -> Iterator[Concern]:
    if fit.form.solves != "last":
        if fit.is_flat:
            yield "flat"
        elif any(
            np.isclose(value, [axis[0], axis[-1]], rtol=0, atol=1e-9).any()
            for value, axis in zip(fit._shape, fit.form.axes(fit._design), strict=True)
        ):
            yield "at_edge"
        if len(fit.sizes) == fit.form.size:
            yield "saturated"
    if fit.form.only_interpolates:
        yield "only_interpolates"
    if not fit.form.is_unit_free:
        yield "unit_of_size"
    if (measured.counts == 1).all():
        yield "no_repeats"


# --- How much each size counts in a fit ------------------------------------------------


SCHEMES = ("efficient", "equal", "recent")


def _weights_of(runs: Runs, weights: Weights, unit: Unit) -> Floats:
    """Return the weight of each size of one curve.

    ``"efficient"`` is runs over variance, F_i/sigma_i^2, with the variances smoothed as
    sigma_0^2 + sigma^2/n_i: few runs say little about their own variance.
    """
    if weights is None:
        weights = "efficient" if (runs.counts > 1).any() else "equal"
    if not isinstance(weights, str) or weights != "efficient":
        return np.asarray(_weight_matrix(runs.sizes, 1, weights)[0])
    several = runs.counts > 1
    if not several.any():
        raise CurvewiseError(
            "Each size has one run, which says nothing about noise. Pass all runs of "
            "each size, or ",
            {"weights": "equal"},
            ".",
        )
    # In the unit of the errors, so that the cost is free of it.
    variances = _smooth(runs, several) * (1e4 if unit == "percent" else 1.0)
    if not variances.max() > 1e-24:  # runs that agree, but for rounding, tell nothing
        return runs.counts
    return np.asarray(runs.counts / np.maximum(variances, 1e-6 * variances.max()))


def _smooth(runs: Runs, several: Any) -> Floats:
    relative = runs.sizes / runs.sizes[-1]
    variances = np.where(several, runs.variances, 0.0)
    degrees = np.where(several, runs.counts - 1, 0.0)
    if several.sum() == 1:  # one size says how much, not how it changes
        return np.full(len(relative), variances[several][0])
    fit = fit_grid(
        (1 / relative)[None], variances[None], degrees[None], is_bounded=True
    )
    return np.asarray(fit.asymptote[0, 0] + fit.amplitude[0, 0] / relative)


def _weight_matrix(sizes: Floats, curves: int, weights: Weights) -> Floats:
    """Return weights of shape (1, size), or (curve, size) where they were passed so."""
    if weights is None:
        weights = "equal"
    if isinstance(weights, str):
        one_of("weights", weights, SCHEMES)
        if weights == "efficient":
            raise CurvewiseError(
                "weights is 'efficient', and means alone say nothing about noise. Pass "
                "'equal', 'recent', or runs over variance for each curve and size."
            )
        recent: Floats = (sizes / sizes.max()) ** 2
        return np.atleast_2d(recent if weights == "recent" else np.ones_like(recent))
    table = as_floats(weights)
    w = np.empty((0, 0)) if table is None else np.atleast_2d(table)
    if w.ndim != 2 or w.shape[1] != len(sizes) or w.shape[0] not in (1, curves):
        raise CurvewiseError(
            f"weights are no table of numbers for {len(sizes)} sizes. Pass one for each "
            f"size, for all curves or for each of {curves}."
        )
    if not ((w >= 0) & (w <= LARGEST_LOSS)).all():
        raise CurvewiseError(
            f"A weight is below 0, above {LARGEST_LOSS:g} or no number. Pass numbers from "
            f"0 up."
        )
    return w
