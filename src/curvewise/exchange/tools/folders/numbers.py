"""Columns of numbers, and numbers that were written as texts: 50%, tensor(0.5), NaN."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from curvewise.errors import CurvewiseError, listed
from curvewise.metrics import Floats
from curvewise.trials import names
from curvewise.trials.columns import Bools

_WRAPPED = re.compile(
    r"(?:\w+\.)*(?:tensor|array|float(?:16|32|64)?|int(?:32|64)?)\(\s*\[?([^,\])]+)\]?"
    r"\s*(?:,.*)?\)",
    re.IGNORECASE | re.DOTALL,
)
_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_NO_SCORES = {
    *names.ENDED_BADLY,
    *names.ENDED_WELL,
    *names.PERHAPS_ENDED_BADLY,
    *names.PERHAPS_ENDED_WELL,
    *names.ERROR_TEXT,
    *names.STATUS,
}


@dataclass(slots=True, eq=False)
class Numbers:
    """A column of numbers, and where there is one; NaN is a number that was recorded."""

    values: Floats
    known: Bools

    def take(self, rows: Any) -> "Numbers":
        """Return some of the rows."""
        return Numbers(self.values[rows], self.known[rows])


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number that a float can hold, and no yes or no."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | np.integer):
        return abs(int(value)) < 2**1023
    return isinstance(value, float | np.floating)


def number_in(text: str) -> float | None:
    """Return the number that a text says, or None.

    >>> number_in("50%"), number_in("tensor(0.5, device='cuda:0')"), number_in("oops")
    (0.5, 0.5, None)
    """
    bare = text.strip()
    if wrapped := _WRAPPED.fullmatch(bare):
        bare = wrapped[1].strip()
    percent = bare.endswith("%")
    try:
        value = float(bare.rstrip("% "))
    except ValueError:
        return None
    return value / 100 if percent else value


def may_be_score(name: str) -> bool:
    """Return whether texts and yes or no under a name may be scores, and not an end."""
    word = re.split(r"[./]", name.casefold())[-1]
    return word not in _NO_SCORES


def column_of(name: str, cells: Sequence[Any]) -> Numbers | None:
    """Return cells as numbers, where that is what they are; words among them are none.

    Words among numbers, such as "diverged", count as not a number.
    """
    known = np.array([cell is not None and cell != "" for cell in cells], bool)
    there = [cell for cell, is_there in zip(cells, known, strict=True) if is_there]
    told: Sequence[float | None] | None = None
    if there and all(is_number(cell) for cell in there):
        told = there
    elif there and may_be_score(name):
        if all(isinstance(cell, bool) for cell in there):
            told = [float(cell) for cell in there]
        elif all(isinstance(cell, str) or is_number(cell) for cell in there):
            told = _told(name, there)
    if told is None:
        return None
    values = np.full(len(cells), np.nan)
    values[known] = [np.nan if one is None else one for one in told]
    return Numbers(values, known)


def _told(name: str, cells: Sequence[Any]) -> list[float | None] | None:
    """Return the numbers that cells say; None where they are words for the most part."""
    read = _with_commas(name, cells) or {}
    told = [
        read.get(c, number_in(c)) if isinstance(c, str) else float(c) for c in cells
    ]
    n = sum(one is not None for one in told)
    return told if n and (2 * n >= len(told) or names.is_score(name)) else None


def _with_commas(name: str, cells: Sequence[Any]) -> dict[Any, float] | None:
    """Return what cells with decimal commas say; None where there are no such."""
    commas = {c for c in cells if isinstance(c, str) and _COMMA.fullmatch(c.strip())}
    if not commas:
        return None
    if all(_THOUSANDS.fullmatch(c.strip()) for c in commas):
        if names.first(names.STEP, [name]):
            return {c: float(c.replace(",", "")) for c in commas}
        raise CurvewiseError(
            f"'{name}' holds {listed(sorted(commas), most=2)}, where the comma may be a "
            f"decimal point or group thousands. Write the numbers without it."
        )
    return {c: float(c.replace(",", ".")) for c in commas}
