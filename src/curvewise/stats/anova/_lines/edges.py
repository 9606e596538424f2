"""Where windows of steps begin and end, and means in them."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats

WindowsLike: TypeAlias = int | Sequence[int] | NDArray[np.int64]
Edges: TypeAlias = NDArray[np.int64]


def checked_edges(steps: int, windows: WindowsLike) -> Edges:
    """Return the edges of windows, given as such or by their number."""
    _checked_count("steps", steps)
    if isinstance(windows, int | np.integer) or np.ndim(windows) == 0:
        count = _checked_count("windows", windows)
        if count > steps:
            raise CurvewiseError(
                f"{count} windows were asked for, and there are {steps} steps. Pass "
                f"{steps} or fewer."
            )
        return np.arange(count + 1, dtype=np.int64) * steps // count
    edges = np.asarray(windows)
    if (
        edges.ndim != 1
        or len(edges) < 2
        or edges.dtype.kind not in "iu"
        or not (np.diff(edges) > 0).all()
        or edges[0] < 0
        or edges[-1] > steps
    ):
        raise CurvewiseError(
            f"windows is {windows!r}. Pass how many, or two or more ascending edges that "
            f"are places of steps, from 0 to {steps}: the first step of each window, and "
            f"where the last ends.",
            argument="windows",
            value=windows,
        )
    return edges.astype(np.int64)


def averaged(values: Floats, edges: Edges) -> Floats:
    """Return means in windows, shape (line, window), from shape (line, step)."""
    # Places before the first edge are skipped; those from the last on are cut off.
    sums = np.add.reduceat(values[:, : edges[-1]], edges[:-1], axis=1)
    means: Floats = sums / np.diff(edges)
    return means


def _checked_count(name: str, value: Any) -> int:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < 1:
        raise CurvewiseError(
            f"{name} is {value!r}. Pass how many, at least 1.",
            argument=name,
            value=value,
        )
    return int(value)
