"""Which form? The most likely one, the one that would have foreseen, or all of them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.curves import Runs, Unit, as_number
from curvewise.stats.forms.catalogue import Form, form_of
from curvewise.stats.forms.fit import (
    Concern,
    FittedForm,
    MeanCurves,
    Weights,
    checked_curve,
    checked_curves,
    fitted,
    single,
)
from curvewise.stats.validation import Floats, bad_value, one_of

__all__ = [
    "FormMix",
    "average_forms",
    "select_form",
]


By: TypeAlias = Literal["likelihood", "backtest"]
BYS = ("likelihood", "backtest")
EXTRAPOLATING = ("LAST1", "POW2", "POW3", "POW4", "EXP3", "WBL4", "MMF4", "VAP3")
"""What is compared if no forms are named: bounded, and the same in any unit of size."""


@dataclass(frozen=True, slots=True, eq=False)
class FormMix:
    """Several forms, fitted and weighed; one of them has all the weight, if selected.

    Of one curve or of many, whose numbers are arrays; ``mix[i]`` is one of the curves.

    Parameters
    ----------
    by : {"likelihood", "backtest"}
    fits : tuple of FittedForm
        One for each form; of one curve the best first.
    weights : dict of str to float, or to ndarray of shape (curve,)
        Of each form. They sum to 1; NaN where a curve is not fitted.
    scores : dict of str to float, or to ndarray of shape (curve,)
        What the weights come from: less is better, NaN where a form has no say.
    concerns : tuple of str
        What may be wrong with one curve, by name.
    """

    by: By
    fits: tuple[FittedForm, ...]
    weights: Mapping[str, Any]
    scores: Mapping[str, Any]
    concerns: tuple[Concern, ...] = ()

    def __getitem__(self, i: int) -> "FormMix":
        """Return one of many curves."""
        weights = np.array([weight[i] for weight in self.weights.values()])
        order = np.argsort(-weights, kind="stable")
        names = [self.fits[k].form.name for k in order]
        return FormMix(
            self.by,
            tuple(self.fits[k][i] for k in order),
            {name: float(self.weights[name][i]) for name in names},
            {name: float(self.scores[name][i]) for name in names},
        )

    @property
    def best(self) -> FittedForm:
        """The form of the largest weight, of one curve."""
        return self.fits[0]

    def error(self, n: ArrayLike) -> Floats:
        """Return the weighted error at sizes, shape (n,) or (curve, n)."""
        parts = []
        for fit in self.fits:
            weight = np.asarray(self.weights[fit.form.name])[..., None]
            # A form without weight may be without a fit.
            parts.append(weight * np.where(weight == 0, 0.0, fit.error(n)))
        return sum(parts, np.zeros_like(parts[0]))

    def rows(self) -> list[dict[str, Any]]:
        """Return how each form did.

        ``backtest`` is the mean absolute error at the later sizes of the curve, each
        foreseen from the sizes before; NaN if it was not asked for, or has too few sizes.
        ``forecast`` is the error at four times the largest size.
        """
        ahead = 4 * self.fits[0].sizes[-1]
        return [
            {
                "form": fit.form.name,
                "formula": fit.form.formula,
                "parameters": fit.form.size,
                "weight": self.weights[fit.form.name],
                "aic": fit.aic,
                "backtest": self.scores[fit.form.name]
                if self.by == "backtest"
                else math.nan,
                "forecast": as_number(fit.error([ahead])[..., 0]),
            }
            for fit in self.fits
        ]


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
    many: bool = False,
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
    many : bool
        Whether errors are a table of means, one row for each of many curves, and no runs.

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
    >>> many = select_form(sizes, [errors, np.full(8, .3)], ["POW3"], many=True)
    >>> many.weights["POW3"].tolist(), many[1].best.form.name
    ([1.0, 0.0], 'LAST1')
    """
    curves = _checked(sizes, errors, weights, unit, allow_increase, runs, many)
    return _weighed(*curves, forms, by, selects=True)


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
    many: bool = False,
) -> FormMix:
    r"""Return the average of several forms of one curve, the better ones weighed more.

    .. math:: w_f \propto \exp(-\mathrm{AICc}_f/2) \quad\text{or}\quad
       w_f \propto (\mathrm{MAE}_f + .001)^{-2}

    Parameters
    ----------
    sizes, errors, forms, by, weights, unit, allow_increase, runs, many
        As in `select_form`.

    Examples
    --------
    >>> sizes = [32, 64, 128, 256, 512, 1024]
    >>> found = average_forms(sizes, [.4, .33, .29, .25, .23, .21], ["POW3", "EXP3"])
    >>> found.error([4096]).round(3).tolist(), [row["form"] for row in found.rows()]
    ([0.195], ['POW3', 'EXP3', 'LAST1'])
    """
    curves = _checked(sizes, errors, weights, unit, allow_increase, runs, many)
    return _weighed(*curves, forms, by, selects=False)


def _checked(
    sizes: Any,
    errors: Any,
    weights: Weights,
    unit: Unit,
    may_rise: bool,
    runs: Any,
    many: bool,
) -> tuple[Runs | None, MeanCurves]:
    """Return the runs of one curve, if it is one, and the means of all."""
    if not many:
        return checked_curve(sizes, errors, weights, unit, may_rise, runs)
    if runs is not None:
        raise CurvewiseError("Means of many curves have no runs. Leave runs out.")
    return None, checked_curves(sizes, errors, weights, unit, may_rise)


def _chosen(forms: Sequence[str | Form], sizes: int) -> tuple[Form, ...]:
    """Return each form once, LAST1 first, without those that have too many parameters."""
    if isinstance(forms, str | Form):
        forms = [forms]
    elif not isinstance(forms, Iterable):
        raise bad_value("forms", forms, f"Pass names, such as {EXTRAPOLATING}.")
    wanted = [form_of("LAST1"), *(form_of(f) for f in forms)]
    each = tuple({form.name: form for form in wanted}.values())
    if sizes < FEWEST + 1:
        raise CurvewiseError(
            f"There are {sizes} sizes, and to compare forms takes at least {FEWEST + 1}. "
            f"Train on more, or name one form to fit_form."
        )
    return tuple(form for form in each if form.size <= sizes)


# --- How forms are weighed against each other: by likelihood, and by hindsight ---------


FEWEST = 3  # sizes to foresee from
# A mean absolute error in hindsight of .001 is as good as none.
_LUCK = 1e-3
_CUTS = 4  # times that a curve is cut off; on real curves, more of them change little


def _weighed(
    measured: Runs | None,
    curves: MeanCurves,
    forms: Sequence[str | Form],
    by: By,
    *,
    selects: bool,
) -> FormMix:
    """Return forms fitted and weighed; with runs, of the one curve that they are of."""
    one_of("by", by, BYS)
    fits = tuple(fitted(f, curves) for f in _chosen(forms, len(curves.sizes)))
    scores = np.stack(
        [fit.aic if by == "likelihood" else _backtest(fit.form, curves) for fit in fits]
    )
    weights = _weights(scores, by, curves.unit, selects)
    names = [fit.form.name for fit in fits]
    mix = FormMix(
        by,
        fits,
        dict(zip(names, weights, strict=True)),
        dict(zip(names, scores, strict=True)),
    )
    if measured is None:
        return mix
    one = mix[0]
    best = single(fits[names.index(one.best.form.name)], 0, measured)
    is_last = best.form.name == "LAST1" and len(fits) > 1
    concerns = (*best.concerns, *(("last_value",) if is_last else ()))
    return replace(one, fits=(best, *one.fits[1:]), concerns=concerns)


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
    return np.asarray(raw / raw.sum(axis=0))


def _backtest(form: Form, curves: MeanCurves) -> Floats:
    """Return the mean absolute error of each curve at sizes that were hidden."""
    n, means = curves.sizes, curves.means
    total, count = np.zeros((2, len(means)))
    # From half of the sizes to all but one are shown.
    ends = np.linspace(max(FEWEST, len(n) // 2), len(n) - 1, _CUTS)
    for cut in np.unique(ends.round()).astype(int):
        if form.size > cut:
            return np.full(len(means), np.nan)
        # Where a curve has no size, nothing is to be foreseen.
        hidden = (len(means), len(n) - cut)
        is_there = np.broadcast_to(curves.weights[:, cut:] > 0, hidden)
        fits = fitted(form, curves.upto(cut))
        missed = np.abs(fits.error(n[cut:]) - means[:, cut:])
        total += np.where(is_there, missed, 0.0).sum(axis=1)
        count += is_there.sum(axis=1)
    nothing = np.full(len(means), np.nan)
    return np.asarray(np.divide(total, count, out=nothing, where=count > 0))
