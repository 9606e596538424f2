"""How many trials it takes to know something, in one sentence."""

from typing import TYPE_CHECKING

from curvewise._text import percent, short_names
from curvewise.analyses._saying import confidently

if TYPE_CHECKING:
    from curvewise.analyses._score_plan import ScorePlan

MANY = 10**9  # trials that nobody runs: the pilot leaves the upper end open


def what(answer: "ScorePlan") -> str:
    """Return what is to be known, in words that need no statistics."""
    own, label, unit = answer.functional, answer.metric.label, answer.unit
    if own.of == "mean":
        return f"the mean {label} of all {unit}s"
    if own.of == "quantile":
        return f"the {label} that {percent(own.alpha)} of the {unit}s do not exceed"
    # CVaR cuts at alpha from below; scores are turned so that the best are on top.
    is_best = own.tail == "upper"
    share = 1 - own.alpha if is_best else own.alpha
    half = "half" if share == 0.5 else percent(share)
    return f"the mean {label} of the {'best' if is_best else 'worst'} {half} of the {unit}s"


def headline(answer: "ScorePlan") -> str:
    """Return in one sentence how many trials it takes, and how sure that is."""
    cells = answer.cells
    asked = (
        f"To know {what(answer)} to within {answer.half_width:g} "
        f"{confidently(answer.confidence)}"
    )
    if all(c.guaranteed is not None for c in cells):
        return f"{asked}, whatever their distribution, {_takes(answer, 'guaranteed')}."
    if any(c.asymptotic is not None for c in cells):
        return f"{asked} probably {_takes(answer, 'asymptotic')}."
    return f"{asked}, these trials cannot tell how many it takes."


def _takes(answer: "ScorePlan", name: str) -> str:
    needs = [(getattr(c, name), c) for c in answer.cells]
    known = [(need, cell) for need, cell in needs if need is not None]
    (need, least, most), cell = max(known, key=lambda pair: pair[0][0])
    if not len(cell.pilot):
        return f"takes {need:,} {answer.unit}s"
    there = f"there {'is' if len(cell.pilot) == 1 else 'are'} {len(cell.pilot):,}"
    if need <= len(cell.pilot):
        return (
            f"there are enough {answer.unit}s already ({need:,} of {len(cell.pilot):,})"
        )
    ends = f"{least:,} or more" if most >= MANY else f"{least:,} to {most:,}"
    told = f"{there} now"
    if least < most:
        told += f"; as far as these tell it may be {ends}"
    if len(answer.cells) == 1:
        return f"takes {need:,} {answer.unit}s ({told})"
    names = short_names(c.algorithm for c in answer.cells)
    tasks = short_names(c.task for c in answer.cells)
    several = len(tasks) > 1
    whose = names[cell.algorithm] + (f" on {tasks[cell.task]}" if several else "")
    many = f"{need:,} {answer.unit}s of an algorithm"
    return f"takes up to {many} ({whose} takes most; {told})"


def would_change(answer: "ScorePlan") -> str:
    """Return what the numbers rest on."""
    if not len(answer.cells[0].pilot):
        return "A pilot would: these numbers are for the worst distribution there could be."
    return (
        f"{answer.unit.capitalize()}s to come that vary more or less than these. Whoever "
        f"wants to know it twice as well needs about four times as many."
    )
