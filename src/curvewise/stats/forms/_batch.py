"""A batch of curves: checked, fitted, and what is not fitted is told."""

from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError, Keyword, Message
from curvewise.stats._curve.runs import (
    LARGEST_LOSS,
    Unit,
    checked_means,
    checked_sizes,
    refuse_twice,
)
from curvewise.stats._sample import Floats
from curvewise.stats.forms._linear import Rule
from curvewise.stats.forms._search import Found, search
from curvewise.stats.forms.answers import FittedForms
from curvewise.stats.forms.form import Design, Form

# Fits are made in fractions, whatever the unit of the answer.
_HIGHEST = {"fraction": 1.0, "percent": 1.0, "loss": np.inf}
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
        is_error = (y >= 0) & (y <= min(_HIGHEST[unit], LARGEST_LOSS))
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
        rule = Rule.of(form, may_rise=design.may_rise, highest=_HIGHEST[unit])
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
