"""Curves on common steps."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise._text import count, step
from curvewise.errors import CurvewiseError, Verbatim, shortened
from curvewise.metrics import Floats

Fill: TypeAlias = Literal["error", "last", "linear"]


def common_steps(
    grid: int | ArrayLike | None, fill: Fill, curves: Sequence[Floats]
) -> Floats:
    """Return the steps that all lines get.

    Parameters
    ----------
    grid : int, array_like of float or None
        How many equally spaced steps over the range that all curves share, or which.
    fill : {"error", "last", "linear"}
        Carried forward, a line reaches as far as the longest one.
    curves : sequence of ndarray
        The steps of each curve, none empty.
    """
    first = max(steps[0] for steps in curves)
    ends = [steps[-1] for steps in curves]
    end = max(ends) if fill == "last" else min(ends)
    if grid is None:
        if all(np.array_equal(steps, curves[0]) for steps in curves):
            return curves[0]
        if fill == "error":
            raise _ragged(curves)
        _refuse_apart(first, end)
        union = np.unique(np.concatenate(curves))
        shared: Floats = union[(union >= first) & (union <= end)]
        return shared
    if isinstance(grid, int | np.integer):
        _refuse_apart(first, end)
        if isinstance(grid, bool) or grid < 1:
            raise CurvewiseError(
                f"grid is {grid}. Pass how many steps, at least 1.",
                argument="grid",
                value=grid,
            )
        if first == end and grid > 1:
            short = sum(len(steps) == 1 for steps in curves)
            why = f", as {count(short, 'line')} of one step" if short else ""
            raise CurvewiseError(
                f"grid is {grid}, and the lines share one step only, {step(first)}{why}. "
                f"Choose lines that are curves, or pass the steps themselves.",
                argument="grid",
                value=grid,
            )
        return np.linspace(first, end, int(grid)) if grid > 1 else np.array([end])
    return _stated(grid)


def on_steps(
    own: Floats, values: Floats, steps: Floats, fill: Fill, *, carry: bool
) -> Floats:
    """Return a curve at these steps; NaN where it has no value.

    With ``carry=False`` its last value is not carried forward beyond its end.
    """
    out = np.full(len(steps), np.nan)
    if len(own) == 0:
        return out
    before = np.searchsorted(own, steps, side="right") - 1
    exact = (before >= 0) & (own[before] == steps)
    out[exact] = values[before[exact]]
    if fill == "last":
        usable = (before >= 0) & ((steps <= own[-1]) | carry)
        out[usable] = values[before[usable]]
    elif fill == "linear":
        inside = (steps >= own[0]) & (steps <= own[-1])
        out[inside] = np.interp(steps[inside], own, values)
    return out


def rule_in_words(
    steps: Floats, fill: Fill = "error", curves: Sequence[Floats] = ()
) -> str:
    """Return how curves came on these steps, and what of them was left out.

    Parameters
    ----------
    steps : ndarray
        The common ones.
    fill : {"error", "last", "linear"}
    curves : sequence of ndarray
        The steps of each curve as it was recorded; none where all had the common ones.
    """
    first, last = steps[0], steps[-1]
    told = f"{count(len(steps), 'step')} from {step(first)} to {step(last)}"
    if all(np.array_equal(own, steps) for own in curves):
        return f"{told}, as recorded"
    n, parts = len(curves), []
    inside = [int(((own >= first) & (own <= last)).sum()) for own in curves]
    if moved := sum(not np.isin(steps, own).all() for own in curves):
        how = "interpolated linearly" if fill == "linear" else "carried forward"
        parts.append(f"values {how} in {moved} of {n} lines")
    if max(inside) < len(steps):
        parts.append(f"more than the {max(inside)} that were recorded there")
    elif max(inside) > len(steps):
        parts.append(f"of up to {max(inside)} that were recorded there")
    if early := sum(bool(own[0] < first) for own in curves):
        parts.append(f"what {count(early, 'line')} recorded before is left out")
    if late := sum(bool(own[-1] > last) for own in curves):
        parts.append(f"what {count(late, 'line')} recorded after is left out")
    if short := sum(bool(own[-1] < last) for own in curves):
        parts.append(f"{count(short, 'line')} had ended before the last step")
    return ", ".join([told, *parts])


def _stated(grid: ArrayLike) -> Floats:
    try:
        steps = np.array(grid, dtype=np.float64)
    except (TypeError, ValueError):
        steps = np.empty(0)
    increase = steps.ndim == 1 and len(steps) > 0 and (np.diff(steps) > 0).all()
    if not increase or not np.isfinite(steps).all():
        raise CurvewiseError(
            f"grid is {shortened(grid)}. Pass how many steps, or steps that increase.",
            argument="grid",
            value=grid,
        )
    return steps


def _refuse_apart(first: float, end: float) -> None:
    if end < first:
        raise CurvewiseError(
            f"The lines share no steps: one begins at {first:g} and another has ended at "
            f"{end:g}. Choose lines that overlap."
        )


def _ragged(curves: Sequence[Floats]) -> CurvewiseError:
    lengths, ends = [len(s) for s in curves], [s[-1] for s in curves]
    some = " to ".join(str(n) for n in sorted({min(lengths), max(lengths)}))
    return CurvewiseError(
        f"The lines have different steps: {some} of them, ending between "
        f"{min(ends):g} and {max(ends):g}. Pass ",
        {"fill": "linear"},
        " (interpolate) or ",
        {"fill": "last"},
        " (carry forward), and ",
        {"grid": Verbatim("<number of steps>")},
        " for a common grid.",
    )
