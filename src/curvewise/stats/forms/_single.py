"""One curve with its runs: checked, weighed, and what is to be said about its fit."""

from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import Runs, Unit, checked_runs
from curvewise.stats._sample import Floats
from curvewise.stats.forms._weights import Weights, weight_matrix, weights_of
from curvewise.stats.forms.answers import FittedForm, FittedForms
from curvewise.stats.forms.form import Form


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
