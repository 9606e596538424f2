"""What `Trials.where` was asked for, as rows."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, unknown
from curvewise.trials.columns import Ints
from curvewise.trials.trial import Scalar, canonical


def _several(asked: Any) -> list[Any]:
    several = isinstance(asked, Iterable) and not isinstance(asked, str)
    return list(asked) if several else [asked]


def codes(kind: str, asked: Any, names: Sequence[str]) -> list[int]:
    """Return the codes of one name or several; raise for a name that is not there."""
    wanted = _several(asked)
    for name in wanted:
        if name not in names:
            raise unknown(kind, name, names)
    return [names.index(name) for name in wanted]


def stretch(column: NDArray[np.int32], wanted: Sequence[int]) -> slice:
    """Return the rows from the first to the last of these codes, which rows are kept by.

    >>> stretch(np.array([0, 0, 1, 1, 2], np.int32), [1])
    slice(2, 4, None)
    """
    if not wanted:
        return slice(0, 0)
    ends = np.array([min(wanted), max(wanted) + 1], column.dtype)
    first, last = np.searchsorted(column, ends).tolist()
    return slice(first, last)


def numbers(asked: Any) -> Ints:
    """Return one number or several as an array."""
    wanted = _several(asked)
    for number in wanted:
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise CurvewiseError(
                f"number is {number!r}. Pass a whole number or several of them.",
                argument="number",
                value=number,
            )
    return np.array(wanted, np.int64)


def matches(kind: str, texts: Sequence[str], asked: Mapping[str, Scalar]) -> Any:
    """Return which of the JSON texts hold all the values asked for."""
    # Through JSON, as the texts are: a tuple was kept as a list.
    wanted = json.loads(canonical(asked, f"{kind}s"))
    have = {text: json.loads(text) if text else {} for text in set(texts)}
    names = sorted({name for one in have.values() for name in one})
    for name in wanted:
        if texts and name not in names:
            raise unknown(kind, name, names)
    fits = {
        text: all(n in one and one[n] == value for n, value in wanted.items())
        for text, one in have.items()
    }
    return np.array([fits[text] for text in texts], bool)
