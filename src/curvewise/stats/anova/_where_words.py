"""Where algorithms differ, in words that claim no more than was found."""

from typing import TYPE_CHECKING

import numpy as np

from curvewise._text import joined, shown, step
from curvewise.stats.interval import CurveBand

if TYPE_CHECKING:
    from curvewise.stats.anova.where import Where


def found_where(found: "Where") -> str:
    """Return at which steps algorithms were found to differ."""
    who = joined([f"'{name}'" for name in found.algorithms])
    if not found.different.any():
        unit = "windows" if _are_wide(found) else "steps"
        n = len(found.different)
        return f"No difference between {who} was found at {n} tested {unit}."
    told = joined([stretch(found, a, b) for a, b in found.stretches])
    return f"{who} differ {told}."


def afterwards(found: "Where", band: CurveBand | None, margin: float | None) -> str:
    """Return how long they differ at least, and with a band what may have been missed."""
    parts = []
    if found.last_different is not None:
        parts.append(
            f"They still differ at step {step(found.last_different)} or later."
        )
    if band is not None:
        parts += _afterwards(found, band, margin)
    return " ".join(parts)


def notes(found: "Where") -> tuple[str, ...]:
    """Return what a reader should be warned of."""
    out = []
    if found.is_weak:
        out.append(
            f"With {min(found.sizes)} lines of an algorithm and {len(found.steps)} tested "
            f"steps, false findings may be more frequent than {found.level:g}: test "
            f"8 to 30 windows instead."
        )
    for name, hangs in zip(found.algorithms, found.hangs_on_one_line, strict=True):
        if hangs.any():
            out.append(
                f"One line of '{name}' makes nearly all of its noise in {hangs.sum()} of "
                f"{len(hangs)} tests: what is found there, or not, hangs on one run."
            )
    return tuple(out)


def _afterwards(found: "Where", band: CurveBand, margin: float | None) -> list[str]:
    most = found.still_possible_after(band)
    if most is None:  # they differ to the end
        return []
    at = np.flatnonzero(found.different)
    begin = f"After step {step(found.last[at[-1]])} " if len(at) else ""
    if margin is not None and most <= margin:
        if not begin:
            return [f"At no tested step is a difference larger than {margin:g}."]
        gone = (
            f"the difference is gone: at no tested step is it larger than {margin:g}."
        )
        return [f"{begin}{gone}"]
    none = "no difference was found; differences" if begin else "Differences"
    return [f"{begin}{none} up to {shown(most)} remain possible."]


def _are_wide(found: "Where") -> bool:
    return bool((found.first != found.last).any())


def stretch(found: "Where", a: float, b: float) -> str:
    """Return from which tested step to which, in words."""
    if _are_wide(found):
        is_one = ((found.first == a) & (found.last == b)).any()
        which = "in the window" if is_one else "in every tested window"
        return f"{which} from step {step(a)} to {step(b)}"
    if a == b:
        return f"at step {step(a)}"
    return f"at every tested step from {step(a)} to {step(b)}"
