"""Curves on common steps."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, shortened
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
        if grid < 1 or (first == end and grid > 1):
            raise CurvewiseError(
                f"grid is {grid} over the shared steps {first:g} to {end:g}. "
                f"Pass at least 1, and no more than 1 where they share one step."
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
    """Return how curves came on these steps.

    Parameters
    ----------
    steps : ndarray
        The common ones.
    fill : {"error", "last", "linear"}
    curves : sequence of ndarray
        The steps of each curve as it was recorded; none where all had the common ones.
    """
    span = f"from {steps[0]:g} to {steps[-1]:g}"
    moved = [own for own in curves if not np.isin(steps, own).all()]
    if not moved:
        return f"{len(steps)} steps {span}, as recorded"
    of = f"in {len(moved)} of {len(curves)} lines"
    if fill == "linear":
        end = max(own[-1] for own in curves)
        cut = (
            f"; what comes later, up to {end:g}, is left out" if end > steps[-1] else ""
        )
        return f"{len(steps)} steps {span}, interpolated linearly {of}{cut}"
    short = sum(bool(own[-1] < steps[-1]) for own in curves)
    ended = f", of which {short} had ended before the last step" if short else ""
    return f"{len(steps)} steps {span}, the last value carried forward {of}{ended}"


def _stated(grid: ArrayLike) -> Floats:
    try:
        steps = np.array(grid, dtype=np.float64)
    except (TypeError, ValueError):
        steps = np.empty(0)
    increase = steps.ndim == 1 and len(steps) > 0 and (np.diff(steps) > 0).all()
    if not increase or not np.isfinite(steps).all():
        raise CurvewiseError(
            f"grid is {shortened(grid)}. Pass how many steps, or steps that increase."
        )
    return steps


def _refuse_apart(first: float, end: float) -> None:
    if end < first:
        raise CurvewiseError(
            f"The lines share no steps: one begins at {first:g} and another has ended at "
            f"{end:g}. Pass fill='last', or choose lines that overlap."
        )


def _ragged(curves: Sequence[Floats]) -> CurvewiseError:
    lengths, ends = [len(s) for s in curves], [s[-1] for s in curves]
    return CurvewiseError(
        f"The lines have different steps: {min(lengths)} to {max(lengths)} of them, ending "
        f"between {min(ends):g} and {max(ends):g}. Pass fill='linear' (interpolate) or "
        f"fill='last' (carry forward), and grid=<number of steps> for a common grid."
    )
