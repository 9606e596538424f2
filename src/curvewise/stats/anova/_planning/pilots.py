"""Pilots: what can be planned from, and the effects that are planned for."""

from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats, is_number
from curvewise.stats.anova._lines.designs import Design, LinesLike, checked_lines
from curvewise.stats.deals import assignments

LEAST_PILOT = 4  # lines of each algorithm


def checked_pilot(lines: LinesLike) -> Design:
    """Return the lines of a pilot; refuse those that tell nothing about noise."""
    design = checked_lines(lines)
    if min(design.sizes) < LEAST_PILOT:
        least = design.names[int(np.argmin(design.sizes))]
        raise CurvewiseError(
            f"The pilot has {min(design.sizes)} lines of '{least}', too few to judge noise "
            f"from. Run at least {LEAST_PILOT} of each algorithm, better 8."
        )
    residual = max(float(np.ptp(g, axis=0).max()) for g in design.groups)
    if residual <= 1e-13 * float(np.abs(design.values).max()):
        raise CurvewiseError(
            "The lines of each algorithm are all the same: without noise there is nothing "
            "to plan for. Pass runs with different seeds."
        )
    return design


def mean_lines(design: Design, shift: Any, stretch: Any, effect: str) -> Floats:
    """Return mean lines as observed or as stated, shape (algorithm, step)."""
    observed = np.stack([g.mean(axis=0) for g in design.groups])
    if shift is None and stretch is None:
        return observed
    if shift is not None and stretch is not None:
        raise CurvewiseError("Both shift and stretch are given. Pass one of them.")
    stated = np.broadcast_to(observed[:-1].mean(axis=0), observed.shape).copy()
    if shift is not None:
        if not is_number(shift) or shift == 0:
            raise CurvewiseError(
                f"shift is {shift!r}. Pass a difference in units of the scores, not 0."
            )
        if effect == "interaction":
            raise CurvewiseError(
                "shift moves whole lines, and an interaction is what is left without. "
                "Pass stretch=, or effect='algorithm'."
            )
        stated[-1] += shift
    else:
        if not is_number(stretch) or stretch <= 0 or stretch == 1:
            raise CurvewiseError(
                f"stretch is {stretch!r}. Pass what scores are multiplied by, above 0 and "
                f"not 1, such as 1.1."
            )
        stated[-1] *= stretch
    return stated


def checked_sizes(sizes: Any, least: int) -> list[int] | None:
    """Return numbers of lines to try; refuse those that cannot be tried."""
    if sizes is None:
        return None
    tried = np.unique(np.atleast_1d(np.asarray(sizes)))
    if tried.dtype.kind not in "iu" or tried.size == 0 or tried[0] < 2:
        raise CurvewiseError(
            f"sizes is {sizes!r}. Pass numbers of lines, each at least 2."
        )
    if tried[-1] < least:
        raise CurvewiseError(
            f"sizes go up to {tried[-1]} lines, with which no result is significant. "
            f"Pass {least} or more."
        )
    return [int(n) for n in tried]


def least_lines(algorithms: int, level: float) -> int:
    """Return with how many lines of each the smallest p value reaches a level."""
    lines = 2
    while assignments(algorithms, lines) * level < 1:
        lines += 1
    return lines
