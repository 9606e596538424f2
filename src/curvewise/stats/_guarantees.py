"""What is promised of a number read off a band, in words; and what cannot be."""

import math

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats
from curvewise.stats._words import looks, percent
from curvewise.stats.bands import NAMES, Band, Side, Support

_FROM = {"lower": "from below", "upper": "from above"}
_INSTEAD = "use bootstrap_interval"


def guarantee(band: Band, side: Side, ends: tuple[float, float]) -> str:
    """Return what an interval from a band promises."""
    one = "" if side == "both" else f", {_FROM[side]} only"
    open_ends = ends_named(*map(math.isinf, ends)) if side == "both" else ""
    no_end = f"; infinite {open_ends}, where only the support could bound it"
    return (
        f"at least {percent(band.confidence)} (finite-sample){looks(band.kind)}, for "
        f"independent trials of any distribution{between(band.support)}, simultaneous "
        f"over all that is read off the band ({NAMES[band.kind]}{one})"
        f"{no_end if open_ends else ''}"
    )


def simultaneous(
    band: Band, estimand: str, lower: Floats, upper: Floats, remedy: str = _INSTEAD
) -> str:
    """Return what a curve from a band promises; refuse one that nothing bounds."""
    if lower.size:
        best = float(lower.max()), float(upper.min())
        refuse_infinite(estimand, "both", best, band.support, remedy)
    worst = float(lower.min(initial=0)), float(upper.max(initial=0))
    return guarantee(band, "both", worst)


def refuse_infinite(
    estimand: str,
    side: Side,
    ends: tuple[float, float],
    support: Support,
    remedy: str = _INSTEAD,
) -> None:
    """Refuse an interval that is infinite on the side, or on both, that were asked for."""
    below, above = map(math.isinf, ends)
    if not {"lower": below, "upper": above, "both": below and above}[side]:
        return
    where = f"{_FROM[side]} " if side in _FROM else ""
    raise CurvewiseError(
        f"The support is {support[0]:g} to {support[1]:g}, and nothing bounds "
        f"{where}{estimand}. Pass ",
        {"support": ...},
        ", or ",
        remedy,
        ".",
    )


def ends_named(is_below: bool, is_above: bool) -> str:
    """Return words for the ends of an interval that something holds for."""
    pairs = (("below", is_below), ("above", is_above))
    return " and ".join(word for word, holds in pairs if holds)


def between(support: Support) -> str:
    """Return words for a support, with a blank before them; none for all numbers."""
    low, high = support
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f" from {low:g} up"
    if math.isinf(low):
        return f" up to {high:g}"
    return f" between {low:g} and {high:g}"
