"""Pilots: what can be planned from, and the effects that are planned for."""

from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats, is_number
from curvewise.stats.anova._lines.designs import Design, LinesLike, checked_lines

LEAST_PILOT = 4  # lines of each algorithm


def checked_pilot(lines: LinesLike) -> Design:
    """Return the lines of a pilot; refuse those that tell nothing about noise."""
    design = checked_lines(lines)
    if min(design.sizes) < LEAST_PILOT:
        few = min(design.sizes)
        name = design.names[design.sizes.index(few)]
        raise CurvewiseError(
            f"The pilot has {few} line{'' if few == 1 else 's'} of '{name}', too few to "
            f"judge noise from. Run at least {LEAST_PILOT} of each algorithm, better 8."
        )
    residual = max(float(np.ptp(g, axis=0).max()) for g in design.groups)
    if residual <= 1e-13 * float(np.abs(design.values).max()):
        raise CurvewiseError(
            "The lines of each algorithm are all the same: without noise there is nothing "
            "to plan for. Pass runs with different seeds."
        )
    return design


def mean_lines(design: Design) -> Floats:
    """Return mean lines as observed, shape (algorithm, step)."""
    return np.stack([g.mean(axis=0) for g in design.groups])


def stated_lines(observed: Floats, shift: Any, stretch: Any) -> tuple[Floats, Floats]:
    """Return mean lines with a stated effect: on the last algorithm, on the others.

    Where lines are skewed and differently noisy it matters which one is above, and where
    mean lines differ it matters which one is stretched.
    """

    def changed(line: Floats) -> Floats:
        found: Floats = line + shift if stretch is None else line * stretch
        return found

    last, others = (np.empty_like(observed) for _ in range(2))
    last[:-1] = observed[:-1].mean(axis=0)
    last[-1] = changed(last[0])
    others[-1] = observed[-1]
    others[:-1] = changed(others[-1])
    return last, others


def checked_effect(shift: Any, stretch: Any, effect: str) -> bool:
    """Return whether an effect is stated; refuse one that cannot be planned for."""
    if shift is None and stretch is None:
        return False
    if shift is not None and stretch is not None:
        raise CurvewiseError("Both shift and stretch are given. Pass one of them.")
    if shift is not None:
        if not is_number(shift) or shift <= 0:
            raise CurvewiseError(
                f"shift is {shift!r}. Pass the size of a difference in units of the "
                f"scores, above 0; it is planned for in either direction.",
                argument="shift",
                value=shift,
            )
        if effect == "interaction":
            raise CurvewiseError(
                "shift moves whole lines, and an interaction is what is left without. "
                "Pass ",
                {"stretch": ...},
                ", or ",
                {"effect": "algorithm"},
                ".",
            )
    elif not is_number(stretch) or stretch <= 0 or stretch == 1:
        raise CurvewiseError(
            f"stretch is {stretch!r}. Pass what scores are multiplied by, above 0 and "
            f"not 1, such as 1.1.",
            argument="stretch",
            value=stretch,
        )
    return True


def checked_sizes(sizes: Any, least: int) -> list[int] | None:
    """Return numbers of lines to try; refuse those that cannot be tried."""
    if sizes is None:
        return None
    tried = np.unique(np.atleast_1d(np.asarray(sizes)))
    if tried.dtype.kind not in "iu" or tried.size == 0 or tried[0] < 2:
        raise CurvewiseError(
            f"sizes is {sizes!r}. Pass numbers of lines, each at least 2.",
            argument="sizes",
            value=sizes,
        )
    if tried[-1] < least:
        raise CurvewiseError(
            f"sizes go up to {tried[-1]} lines, with which no result is significant. "
            f"Pass {least} or more."
        )
    return [int(n) for n in tried]
