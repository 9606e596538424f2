"""Which form? The most likely one, the one that would have foreseen, or all of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.curves import UNITS, Runs, Unit, scale_of
from curvewise.stats.forms.catalogue import Form, form_of
from curvewise.stats.forms.fit import (
    FittedForm,
    FittedForms,
    Weights,
    checked_curve,
    checked_curves,
    fitted,
    single,
    weight_matrix,
)
from curvewise.stats.validation import Floats, bad_value, one_of

__all__ = [
    "FormMix",
    "FormRow",
    "WeighedForms",
    "average_each",
    "average_forms",
    "select_each",
    "select_form",
]


By: TypeAlias = Literal["likelihood", "backtest"]
BYS = ("likelihood", "backtest")
EXTRAPOLATING = ("LAST1", "POW2", "POW3", "POW4", "EXP3", "WBL4", "MMF4", "VAP3")
"""What is compared if no forms are named: bounded, and the same in any unit of size."""


@dataclass(frozen=True, slots=True)
class FormRow:
    """How one form did.

    Parameters
    ----------
    form, formula : str
    parameters : int
    weight : float
        From 0 to 1.
    aic : float
        Smaller is better.
    backtest : float
        Mean absolute error at the later sizes of the curve, each foreseen from the sizes
        before; NaN if it was not asked for, or has too few sizes.
    forecast : float
        The error at four times the largest size.
    """

    form: str
    formula: str
    parameters: int
    weight: float
    aic: float
    backtest: float
    forecast: float


@dataclass(frozen=True, slots=True, eq=False)
class WeighedForms:
    """Several forms, fitted to many curves and weighed.

    Parameters
    ----------
    by : {"likelihood", "backtest"}
    fits : tuple of FittedForms
        One for each form.
    scores : ndarray, shape (form, curve)
        What the weights come from: less is better, NaN where a form has no say.
    weights : ndarray, shape (form, curve)
        They sum to 1; NaN where a curve is not fitted.
    """

    by: By
    fits: tuple[FittedForms, ...]
    scores: Floats
    weights: Floats

    @property
    def names(self) -> tuple[str, ...]:
        """The forms."""
        return tuple(fit.form.name for fit in self.fits)

    def error(self, n: ArrayLike) -> Floats:
        """Return the weighted error of each curve at sizes: shape (curve, n)."""
        total = np.zeros((self.weights.shape[1], np.size(n)))
        for fit, weight in zip(self.fits, self.weights, strict=True):
            # A form without weight may be without a fit.
            part = np.where(weight[:, None] == 0, 0.0, fit.error(n))
            total += weight[:, None] * part
        return total


@dataclass(frozen=True, slots=True, eq=False)
class FormMix:
    """Several forms, fitted to one curve and weighed; one of them has all, if selected.

    Parameters
    ----------
    batch : WeighedForms
        The same as a batch of one.
    best : FittedForm
        The form of the largest weight.
    rows : tuple of FormRow
        How each form did, the best first.
    concerns : tuple of str
        What may be wrong.
    """

    batch: WeighedForms
    best: FittedForm
    rows: tuple[FormRow, ...]
    concerns: tuple[str, ...]

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of each form."""
        return {row.form: row.weight for row in self.rows}

    def error(self, n: ArrayLike) -> Floats:
        """Return the weighted error at sizes."""
        found: Floats = self.batch.error(n)[0]
        return found


def select_form(
    sizes: ArrayLike,
    errors: Any,
    forms: Sequence[str | Form] = EXTRAPOLATING,
    *,
    by: By = "backtest",
    weights: Weights = None,
    unit: Unit = "fraction",
    allow_increase: bool = False,
    runs: Any = None,
) -> FormMix:
    """Return the form that suits one curve best, with all of them in a table.

    Parameters
    ----------
    sizes, errors, weights, unit, allow_increase, runs
        As in `fit_form`.
    forms : sequence of str or Form
        LAST1 is always among them: a form that cannot beat it is none to extrapolate by.
    by : {"likelihood", "backtest"}
        The smallest AICc; or the smallest mean absolute error at the later half of the
        sizes, each foreseen from all sizes before it and from all smaller sets of those.

    Notes
    -----
    LAST1 is as likely as a random walk: each error is the one before, and noise.

    Examples
    --------
    >>> sizes = np.array([32, 64, 128, 256, 512, 1024, 2048, 4096])
    >>> errors = .1 + 2 * sizes**-.5
    >>> found = select_form(sizes, errors, ["POW2", "POW3", "LIN2"])
    >>> found.best.form.name, found.error([16384]).round(4).tolist()
    ('POW3', [0.1156])
    """
    return _one(sizes, errors, forms, by, weights, unit, allow_increase, runs, True)


def average_forms(
    sizes: ArrayLike,
    errors: Any,
    forms: Sequence[str | Form] = EXTRAPOLATING,
    *,
    by: By = "backtest",
    weights: Weights = None,
    unit: Unit = "fraction",
    allow_increase: bool = False,
    runs: Any = None,
) -> FormMix:
    r"""Return the average of several forms of one curve, the better ones weighed more.

    .. math:: w_f \propto \exp(-\mathrm{AICc}_f/2) \quad\text{or}\quad
       w_f \propto (\mathrm{MAE}_f + .001)^{-2}

    Parameters
    ----------
    sizes, errors, forms, by, weights, unit, allow_increase, runs
        As in `select_form`.

    Examples
    --------
    >>> sizes = [32, 64, 128, 256, 512, 1024]
    >>> found = average_forms(sizes, [.4, .33, .29, .25, .23, .21], ["POW3", "EXP3"])
    >>> found.error([4096]).round(3).tolist(), [row.form for row in found.rows]
    ([0.195], ['POW3', 'EXP3', 'LAST1'])
    """
    return _one(sizes, errors, forms, by, weights, unit, allow_increase, runs, False)


def select_each(
    sizes: ArrayLike,
    errors: ArrayLike,
    forms: Sequence[str | Form] = EXTRAPOLATING,
    *,
    by: By = "backtest",
    weights: Weights = None,
    unit: Unit = "fraction",
    allow_increase: bool = False,
) -> WeighedForms:
    """Return the form that suits each of many curves best: `select_form` for a batch.

    Examples
    --------
    >>> sizes = np.array([32, 64, 128, 256, 512, 1024])
    >>> curves = [.1 + 2 * sizes**-.5, np.full(6, .3)]
    >>> found = select_each(sizes, curves, ["POW3"])
    >>> found.names, found.weights.T.tolist()
    (('LAST1', 'POW3'), [[0.0, 1.0], [1.0, 0.0]])
    """
    return _each(sizes, errors, forms, by, weights, unit, allow_increase, True)


def average_each(
    sizes: ArrayLike,
    errors: ArrayLike,
    forms: Sequence[str | Form] = EXTRAPOLATING,
    *,
    by: By = "backtest",
    weights: Weights = None,
    unit: Unit = "fraction",
    allow_increase: bool = False,
) -> WeighedForms:
    """Return the average of forms of each of many curves: `average_forms` for a batch.

    Examples
    --------
    >>> sizes = np.array([32, 64, 128, 256, 512, 1024])
    >>> found = average_each(sizes, [.1 + 2 * sizes**-.5], ["POW3", "EXP3"])
    >>> found.error([4096]).round(3).tolist(), found.weights.sum().round(9)
    ([[0.131]], np.float64(1.0))
    """
    return _each(sizes, errors, forms, by, weights, unit, allow_increase, False)


def _one(
    sizes: Any,
    errors: Any,
    forms: Sequence[str | Form],
    by: By,
    weights: Weights,
    unit: Unit,
    may_rise: bool,
    runs: Any,
    selects: bool,
) -> FormMix:
    one_of("by", by, BYS)
    seen, w = checked_curve(sizes, errors, weights, unit, runs)
    scale = scale_of(unit)
    means = scale * seen.means[None]
    chosen = _chosen(forms, len(seen.sizes))
    found = weighed(chosen, seen.sizes, means, w, unit, may_rise, by, selects)
    return _mix(WeighedForms(by, *found), seen)


def _each(
    sizes: Any,
    errors: Any,
    forms: Sequence[str | Form],
    by: By,
    weights: Weights,
    unit: Unit,
    may_rise: bool,
    selects: bool,
) -> WeighedForms:
    one_of("by", by, BYS)
    one_of("unit", unit, UNITS)
    n, y = checked_curves(sizes, errors, unit)
    order = np.argsort(n, kind="stable")
    w = weight_matrix(n, len(y), weights)[:, order]
    chosen = _chosen(forms, len(n))
    y = y[:, order]
    return WeighedForms(
        by, *weighed(chosen, n[order], y, w, unit, may_rise, by, selects)
    )


def _chosen(forms: Sequence[str | Form], sizes: int) -> tuple[Form, ...]:
    """Return each form once, LAST1 first, without those that have too many parameters."""
    if isinstance(forms, str | Form):
        forms = [forms]
    elif not isinstance(forms, Iterable):
        raise bad_value("forms", forms, f"Pass names, such as {EXTRAPOLATING}.")
    asked = [form_of("LAST1"), *(form_of(f) for f in forms)]
    each = tuple({form.name: form for form in asked}.values())
    if sizes < FEWEST + 1:
        raise CurvewiseError(
            f"There are {sizes} sizes, and to compare forms takes at least {FEWEST + 1}. "
            f"Train on more, or name one form to fit_form."
        )
    return tuple(form for form in each if form.size <= sizes)


def _mix(batch: WeighedForms, seen: Runs) -> FormMix:
    order = np.argsort(-batch.weights[:, 0], kind="stable")
    ahead = 4 * seen.sizes[-1]
    rows = tuple(
        FormRow(
            fit.form.name,
            fit.form.formula,
            fit.form.size,
            float(batch.weights[i, 0]),
            float(fit.aic[0]),
            float(batch.scores[i, 0]) if batch.by == "backtest" else float("nan"),
            float(fit.error([ahead])[0, 0]),
        )
        for i, fit in ((i, batch.fits[i]) for i in order)
    )
    best = single(batch.fits[order[0]], 0, seen)
    found = list(best.concerns)
    if best.form.name == "LAST1" and len(rows) > 1:
        found.append(
            "No form does better than to repeat the last value: the curve is flat, noisy, "
            "or of another form."
        )
    return FormMix(batch, best, rows, tuple(found))


# --- How forms are weighed against each other: by likelihood, and by hindsight ---------


FEWEST = 3  # sizes to foresee from
# A mean absolute error in hindsight of .001 is as good as none.
_LUCK = 1e-3
_CUTS = 4  # times that a curve is cut off; on real curves, more of them change little


def weighed(
    forms: Sequence[Form],
    n: Floats,
    means: Floats,
    w: Floats,
    unit: Unit,
    may_rise: bool,
    by: str,
    selects: bool,
) -> tuple[tuple[FittedForms, ...], Floats, Floats]:
    """Return each form's fits, scores (less is better) and weights: (form, curve)."""
    fits = tuple(fitted(f, n, means, w, unit, may_rise) for f in forms)
    if by == "likelihood":
        scores = np.stack([fit.aic for fit in fits])
    else:
        scores = np.stack([_backtest(f, n, means, w, unit, may_rise) for f in forms])
    return fits, scores, _weights(scores, by, unit, selects)


def _weights(scores: Floats, by: str, unit: Unit, selects: bool) -> Floats:
    has_say = np.isfinite(scores)
    least = np.where(has_say, scores, np.inf).min(axis=0)
    rest = np.where(has_say, scores, np.inf) - np.where(np.isfinite(least), least, 0)
    if selects:
        raw = np.zeros_like(scores)
        raw[rest.argmin(axis=0), np.arange(scores.shape[1])] = 1.0
    elif by == "likelihood":
        raw = np.exp(-rest / 2)
    else:
        luck = _LUCK * (100 if unit == "percent" else 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            raw = np.where(has_say, (least + luck) / (scores + luck), 0.0) ** 2
    raw = np.where(has_say.any(axis=0), raw, np.nan)
    found: Floats = raw / raw.sum(axis=0)
    return found


def _cuts(sizes: int) -> list[int]:
    """Return how many sizes are shown each time: from half of them to all but one."""
    ends = np.linspace(max(FEWEST, sizes // 2), sizes - 1, _CUTS)
    return [int(cut) for cut in np.unique(ends.round())]


def _backtest(
    form: Form, n: Floats, means: Floats, w: Floats, unit: Unit, may_rise: bool
) -> Floats:
    """Return the mean absolute error of each curve at sizes that were hidden."""
    total, count = np.zeros((2, len(means)))
    for cut in _cuts(len(n)):
        if form.size > cut:
            return np.full(len(means), np.nan)
        shown = fitted(form, n[:cut], means[:, :cut], w[:, :cut], unit, may_rise)
        # Where a curve has no size, nothing is to be foreseen.
        is_there = np.broadcast_to(w[:, cut:] > 0, (len(means), len(n) - cut))
        missed = np.abs(shown.error(n[cut:]) - means[:, cut:])
        total += np.where(is_there, missed, 0.0).sum(axis=1)
        count += is_there.sum(axis=1)
    nothing = np.full(len(means), np.nan)
    found: Floats = np.divide(total, count, out=nothing, where=count > 0)
    return found
