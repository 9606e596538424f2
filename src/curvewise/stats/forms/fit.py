"""Forms fitted to one curve, or to thousands."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, Keyword, Message
from curvewise.stats.curves import (
    UNITS,
    Runs,
    Unit,
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
    bad_value,
    checked_sizes,
    one_of,
    refuse_twice,
)

__all__ = [
    "FittedForm",
    "FittedForms",
    "fit_form",
    "fit_forms",
]


Weights: TypeAlias = Literal["efficient", "equal", "recent"] | ArrayLike | None


# The noise of a mean is at least .0003 (of the mean error, for losses): few sizes are
# often met to the last digit by luck, which is no reason to believe a form for sure.
_LEAST_VARIANCE = 1e-7
_HIGHEST = {"fraction": 1.0, "percent": 100.0, "loss": np.inf}


@dataclass(frozen=True, slots=True, eq=False)
class FittedForms:
    """One form, fitted to many curves. Everything is in the unit of the errors.

    Parameters
    ----------
    form : Form
    sizes : ndarray, shape (size,)
        Increasing.
    means : ndarray, shape (curve, size)
        What was fitted.
    weights : ndarray, shape (curve, size) or (1, size)
    unit : {"fraction", "percent", "loss"}
    is_fitted : ndarray of bool, shape (curve,)
        False where there is no curve to fit: its numbers are NaN.
    cost : ndarray, shape (curve,)
        The weighted sum of squares that is left. For LAST1, that of each error less the
        one before, times size/(size - 1).
    concerns : tuple of str
        What may be wrong.
    """

    form: Form
    sizes: Floats
    means: Floats
    weights: Floats
    unit: Unit
    is_fitted: NDArray[np.bool_]
    cost: Floats
    concerns: tuple[str, ...]
    _design: Design
    _shape: Floats
    _offset: Floats
    _amplitude: Floats

    def error(self, n: ArrayLike) -> Floats:
        """Return the error of each curve at sizes: shape (curve, n).

        No form is believed below 0, or above all that an error can be. Infinity is a
        size, too: the asymptote.
        """
        try:
            at = np.asarray(n, dtype=np.float64)
        except (TypeError, ValueError):
            at = np.array(np.nan)
        if not (at > 0).all():
            raise bad_value("n", n, "Pass numbers of training examples.")
        t = np.atleast_1d(at).ravel() / self._design.top
        shape = [k[:, None] for k in self._shape]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            phi = self.form.basis(t[None, :], shape, self._design)
            # A curve that is flat stays so, where phi is infinite.
            b = self._amplitude[:, None]
            found = self._offset[:, None] + np.where(b == 0, 0.0, b * phi)
        return np.clip(found, 0, _HIGHEST[self.unit])

    def curve(self, i: int) -> "FittedForms":
        """Return one curve, as a batch of one."""
        own = slice(i, i + 1)
        return replace(
            self,
            means=self.means[own],
            weights=self.weights if len(self.weights) == 1 else self.weights[own],
            is_fitted=self.is_fitted[own],
            cost=self.cost[own],
            concerns=() if self.is_fitted[i] else self.concerns,
            _shape=self._shape[:, own],
            _offset=self._offset[own],
            _amplitude=self._amplitude[own],
        )

    @property
    def asymptote(self) -> Floats:
        """The error of each curve where sizes grow without end."""
        return self.error([np.inf])[:, 0]

    @property
    def parameters(self) -> Mapping[str, Floats]:
        """The parameters of the formula by name, one number for each curve."""
        shape = list(self._shape)
        with np.errstate(over="ignore"):
            values = self.form.natural(
                self._offset, self._amplitude, shape, self._design
            )
        return dict(zip(self.form.parameters, values, strict=True))

    @property
    def is_flat(self) -> NDArray[np.bool_]:
        """Whether the best curve of the form does not change with size."""
        first, last = self.error([self.sizes[0], self.sizes[-1]]).T
        same: NDArray[np.bool_] = np.abs(first - last) <= 1e-12 * np.abs(last)
        return same & self.is_fitted

    @property
    def log_likelihood(self) -> Floats:
        """That of normal noise of unknown size at each mean, for errors as fractions."""
        total, count = self._totals
        scale = np.full(len(total), scale_of(self.unit))
        if self.unit == "loss":
            used = np.where(self.weights > 0, self.means, 0.0)
            scale = used.sum(axis=1) / count
        scale = np.where(scale > 0, scale, 1.0)
        # Twice by the scale, since the square of a tiny or a huge one is no number.
        variance = self.cost / total / scale / scale + _LEAST_VARIANCE
        found: Floats = -0.5 * count * (np.log(2 * np.pi * variance) + 1)
        return found

    @property
    def aic(self) -> Floats:
        """Akaike's criterion for few sizes (AICc): smaller is better.

        ``-2 log L + 2k + 2k(k + 1)/(sizes - k - 1)``, with k the parameters and the
        noise. The last divisor is kept at 1 where there are too few sizes for it, so that
        forms of many parameters are punished there, not forbidden.
        """
        _, count = self._totals
        k = self.form.size + 1
        spare = np.maximum(count - k - 1, 1)
        return -2 * self.log_likelihood + 2 * k + 2 * k * (k + 1) / spare

    @property
    def _totals(self) -> tuple[Floats, Floats]:
        w = np.broadcast_to(self.weights, self.means.shape)
        return w.sum(axis=1), (w > 0).sum(axis=1).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class FittedForm:
    """A form, fitted to one curve. Everything is in the unit of the errors.

    Parameters
    ----------
    fits : FittedForms
        The same as a batch of one.
    concerns : tuple of str
        What may be wrong.
    """

    fits: FittedForms
    concerns: tuple[str, ...]

    @property
    def form(self) -> Form:
        """The form."""
        return self.fits.form

    @property
    def sizes(self) -> Floats:
        """The sizes that were observed, increasing."""
        return self.fits.sizes

    @property
    def means(self) -> Floats:
        """The mean errors at those sizes."""
        found: Floats = self.fits.means[0]
        return found

    def error(self, n: ArrayLike) -> Floats:
        """Return the error at sizes; infinity is one, too."""
        found: Floats = self.fits.error(n)[0]
        return found

    @property
    def asymptote(self) -> float:
        """The error where sizes grow without end."""
        return float(self.fits.asymptote[0])

    @property
    def parameters(self) -> Mapping[str, float]:
        """The parameters of the formula by name."""
        return {name: float(v[0]) for name, v in self.fits.parameters.items()}

    @property
    def cost(self) -> float:
        """The weighted sum of squares that is left."""
        return float(self.fits.cost[0])

    @property
    def log_likelihood(self) -> float:
        """That of normal noise of unknown size at each mean, for errors as fractions."""
        return float(self.fits.log_likelihood[0])

    @property
    def aic(self) -> float:
        """Akaike's criterion for few sizes: smaller is better."""
        return float(self.fits.aic[0])


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


# --- A batch of curves: checked, fitted, and what is not fitted is told ----------------


# Fits are made in fractions, whatever the unit of the answer.
_HIGHEST_FITTED = {"fraction": 1.0, "percent": 1.0, "loss": np.inf}
_OUTSIDE = {
    "fraction": Message(
        "errors are not between 0 and 1, as ", Keyword("unit", "fraction"), " says"
    ),
    "percent": Message(
        "errors are not between 0 and 100, as ", Keyword("unit", "percent"), " says"
    ),
    "loss": "errors are below 0",
}


def fitted(
    form: Form, n: Floats, means: Floats, w: Floats, unit: Unit, may_rise: bool
) -> FittedForms:
    """Fit what was checked: increasing sizes, means in their unit."""
    scale = 0.01 if unit == "percent" else 1.0
    design = Design(float(n[0] / n[-1]), float(n[-1]), may_rise)
    if not form.is_unit_free and n[0] <= 1:
        raise CurvewiseError(
            f"{form.name} is {form.formula}, and a size is {n[0]:g}. Pass sizes above 1."
        )
    y = scale * means
    is_used = np.broadcast_to(w > 0, y.shape)
    with np.errstate(invalid="ignore"):
        is_error = (y >= 0) & (y <= min(_HIGHEST_FITTED[unit], LARGEST_LOSS))
    is_fitted = (is_error | ~is_used).all(axis=1)
    is_fitted &= is_used.sum(axis=1) >= form.size
    y = np.where(is_used & is_fitted[:, None], y, 0.0)
    # What is not fitted still needs some weight to be divided by.
    if len(w) > 1:
        w = np.where(is_fitted[:, None], w, 1.0)
    elif not is_fitted.any():
        w = np.ones_like(w)
    found = _found(form, n / n[-1], y, w, design, unit)
    gone = np.where(is_fitted, 1.0, np.nan)
    offset, b = found.asymptote * gone / scale, found.amplitude * gone / scale
    return FittedForms(
        form,
        n,
        means,
        w,
        unit,
        is_fitted,
        found.cost * gone / scale**2,
        _left_out(is_fitted, is_error | ~is_used, means, form, unit),
        design,
        found.shape * gone,
        offset,
        b,
    )


def _found(
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


def refuse_few(form: Form, sizes: int) -> None:
    """Refuse fewer sizes than a form has parameters."""
    if sizes < form.size:
        raise CurvewiseError(
            f"{form.name} has {form.size} parameters and there are {sizes} sizes. Train on "
            f"more sizes, or pass a form with fewer, such as POW2 or LAST1."
        )


def checked_curves(sizes: Any, errors: Any, unit: Unit) -> tuple[Floats, Floats]:
    """Return sizes as they come, and a matrix of errors."""
    n = checked_sizes(sizes)
    refuse_twice(np.sort(n))
    return n, checked_means(errors, "errors", len(n), unit)


def _left_out(
    is_fitted: Any, is_error: Any, means: Floats, form: Form, unit: Unit
) -> tuple[str, ...]:
    if is_fitted.all():
        return ()
    is_bad = ~is_error.all(axis=1)
    is_missing = is_bad & ~np.isfinite(means).all(axis=1)
    parts = [
        f"{count} of {len(is_fitted)} curves {'is' if count == 1 else 'are'} not fitted: "
        f"{why}."
        for count, why in (
            (int(is_missing.sum()), "errors are missing"),
            (int((is_bad & ~is_missing).sum()), _OUTSIDE[unit]),
            (int((~is_bad & ~is_fitted).sum()), f"fewer sizes than {form.name} needs"),
        )
        if count
    ]
    return tuple(parts)


# --------------------------------------------------------------------------------------
# One curve with its runs: checked, weighed, and what is to be said about its fit.


def checked_curve(
    sizes: Any, errors: Any, weights: Weights, unit: Unit, runs: Any
) -> tuple[Runs, Floats]:
    """Return the runs of one curve by increasing size, and their weights: (1, size)."""
    seen = checked_runs(sizes, errors, unit=unit, runs=runs, fewest=1)
    if weights is not None and not isinstance(weights, str):
        given = weight_matrix(seen.sizes, 1, weights)[0]
        weights = given[np.argsort(np.asarray(sizes), kind="stable")]
    return seen, weights_of(seen, weights, unit)[None]


def single(fits: FittedForms, curve: int, seen: Runs) -> FittedForm:
    """Return one curve of a batch, with what is to be said about it."""
    one = fits.curve(curve)
    if not one.is_fitted[0]:
        raise CurvewiseError(
            f"{one.form.name} has {one.form.size} parameters, and too few sizes have a "
            f"weight above 0. Pass more sizes, or other weights."
        )
    return FittedForm(one, (*one.concerns, *_concerns(one, seen)))


def _concerns(fits: FittedForms, seen: Runs) -> tuple[str, ...]:
    form: Form = fits.form
    found: list[str] = []
    if form.solves != "last":
        if fits.is_flat[0]:
            found.append(
                f"The error does not fall with size: the best {form.name} is flat, and its "
                f"shape means nothing."
            )
        elif _is_at_edge(fits):
            found.append(
                f"The best {form.name} is at the edge of the shapes that are searched: "
                f"another form may fit better."
            )
        if len(seen.sizes) == form.size:
            found.append(
                f"{form.name} has as many parameters as there are sizes: nothing is left "
                f"to tell whether it fits."
            )
    if form.only_interpolates:
        found.append(
            f"{form.name} ({form.formula}) falls without end: use it between the sizes "
            f"seen, not beyond."
        )
    if not form.is_unit_free:
        found.append(
            f"{form.name} ({form.formula}) depends on the unit of size: pass examples."
        )
    if (seen.counts == 1).all():
        found.append("There is one run at each size: its noise is not known.")
    return tuple(found)


def _is_at_edge(fits: FittedForms) -> bool:
    axes = fits.form.axes(fits._design)
    ends = [(axis[0], axis[-1]) for axis in axes]
    return any(
        np.isclose(value, end, rtol=0, atol=1e-9).any()
        for value, end in zip(fits._shape[:, 0], ends, strict=True)
    )


# --- How much each size counts in a fit ------------------------------------------------


SCHEMES = ("efficient", "equal", "recent")


def weights_of(runs: Runs, weights: Weights, unit: Unit) -> Floats:
    """Return the weight of each size of one curve.

    ``"efficient"`` is runs over variance, F_i/sigma_i^2, with the variances smoothed as
    sigma_0^2 + sigma^2/n_i: few runs say little about their own variance.
    """
    if weights is None:
        weights = "efficient" if (runs.counts > 1).any() else "equal"
    if not isinstance(weights, str) or weights != "efficient":
        given: Floats = weight_matrix(runs.sizes, 1, weights)[0]
        return given
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
    found: Floats = runs.counts / np.maximum(variances, 1e-6 * variances.max())
    return found


def _smooth(runs: Runs, several: Any) -> Floats:
    relative = runs.sizes / runs.sizes[-1]
    seen = np.where(several, runs.variances, 0.0)
    degrees = np.where(several, runs.counts - 1, 0.0)
    if several.sum() == 1:  # one size says how much, not how it changes
        return np.full(len(relative), seen[several][0])
    fit = fit_grid((1 / relative)[None], seen[None], degrees[None], is_bounded=True)
    found: Floats = fit.asymptote[0, 0] + fit.amplitude[0, 0] / relative
    return found


def weight_matrix(sizes: Floats, curves: int, weights: Weights) -> Floats:
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
    try:
        w = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    except (TypeError, ValueError):
        w = np.full((1, 1), np.nan)
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
