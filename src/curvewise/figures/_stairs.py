"""Curves that jump, by few stairs, or by slopes where stairs are too low to be seen."""

from collections.abc import Sequence

import numpy as np

from curvewise.figures._slopes import swung
from curvewise.figures.outlines import (
    GAP,
    Outline,
    Paper,
    Places,
    Shape,
    curve_of,
    has_ends,
    runs,
    there_and_back,
)
from curvewise.figures.series import Series
from curvewise.metrics import Floats

_HV: Shape = "hv"
_LINEAR: Shape = "linear"
_WORTH = 1.3  # times the points of stairs: slopes look more like very many trials


def stepped(paper: Paper, series: Series, tolerance: float) -> Outline:
    """Return a curve that jumps half way between its points."""
    known = runs(np.isfinite(paper.up(series.y)))
    curve = [_stairs(paper, series, run, tolerance) for run in known]
    shape = _HV
    jumps = [_jumps(paper, series, run, tolerance) for run in known]
    room = _WORTH * _points(curve)
    if 2 * sum(len(own) + 1 for own in jumps) < room:
        own = zip(known, jumps, strict=True)
        ramps = [_ramps(paper, series, run, at, tolerance) for run, at in own]
        if _points(ramps) < room:
            curve, shape = ramps, _LINEAR
    polygons = []
    for run in runs(has_ends(series)):
        x = series.x[run]
        low = _levels(paper.up(series.lower[run]), tolerance)
        high = _levels(paper.up(series.upper[run]), tolerance)
        lower = np.minimum.reduceat(series.lower[run], low)
        upper = np.maximum.reduceat(series.upper[run], high)
        # On the way back a stair is met from its right end.
        polygons.append(
            there_and_back(
                np.r_[_left_ends(x, low), x[-1]],
                np.r_[lower, lower[-1]],
                np.r_[x[0], _left_ends(x, high)[1:], x[-1]],
                np.r_[upper[0], upper],
            )
        )
    return Outline(*curve_of(curve), tuple(polygons), shape, _HV)


def _stairs(paper: Paper, series: Series, run: slice, tolerance: float) -> list[Floats]:
    """Return a curve by few stairs, each half way between what it stands for."""
    x, y = series.x[run], series.y[run]
    first = _close_by(paper.at[run], _levels(paper.up(y), 2 * tolerance))
    low, high = np.minimum.reduceat(y, first), np.maximum.reduceat(y, first)
    columns = (
        np.where(low == high, low, paper.between(low, high)),
        np.minimum.reduceat(series.lower[run], first),
        np.maximum.reduceat(series.upper[run], first),
    )
    left = np.r_[_left_ends(x, first), x[-1]]
    return [left, *(np.r_[column, column[-1]] for column in columns)]


def _points(parts: Sequence[Sequence[Floats]]) -> int:
    return sum(len(x) for x, *_ in parts)


def _jumps(paper: Paper, series: Series, run: slice, tolerance: float) -> Places:
    """Return the points after which a curve jumps by what can be seen."""
    return np.flatnonzero(np.abs(np.diff(paper.up(series.y[run]))) > tolerance)


def _ramps(
    paper: Paper, series: Series, run: slice, jumps: Places, tolerance: float
) -> list[Floats]:
    """Return a curve by slopes between its jumps, where stairs are too low to be seen."""
    x, at, up = series.x[run], paper.at[run], paper.up(series.y[run])
    last = len(x) - 1
    places, owners = [], []
    for a, b in zip(np.r_[0, jumps + 1], np.r_[jumps, last], strict=True):
        own = np.r_[a, np.arange(a, b + 1), b]  # and the corners at either end
        begin, end = at[max(a - 1, 0)] + at[a], at[b] + at[min(b + 1, last)]
        level = np.r_[begin / 2, at[a : b + 1], end / 2]
        inside = np.r_[a > 0, np.ones(b + 1 - a, bool), b < last]
        own, level = own[inside], level[inside]
        kept = swung(level, up[own], tolerance / 2, GAP)
        places.append(level[kept])
        owners.append(own[kept])
    owner = np.concatenate(owners)
    columns = (values[run][owner] for values in (series.y, series.lower, series.upper))
    return [np.interp(np.concatenate(places), at, x), *columns]


def _levels(up: Floats, room: float) -> Places:
    """Return where each stair begins, if all in it differ by no more than the room."""
    jumps = np.r_[0, np.flatnonzero(up[1:] != up[:-1]) + 1]
    heights = up[jumps].tolist()
    first, low, high = [0], heights[0], heights[0]
    for k, height in enumerate(heights):
        if height < low:
            low = height
        elif height > high:
            high = height
        if high - low > room:
            first.append(k)
            low = high = height
    return np.asarray(jumps[first], dtype=np.intp)


def _close_by(at: Floats, first: Places) -> Places:
    """Return where stairs begin, if wide ones are cut so that a pointer finds them."""
    begins, ends = at[first], np.r_[at[first[1:]], at[-1]]
    parts = np.ceil((ends - begins) / GAP).astype(np.intp)
    if parts.max() <= 1:
        return first
    cuts = [
        np.linspace(begins[i], ends[i], parts[i] + 1)[1:-1]
        for i in np.flatnonzero(parts > 1)
    ]
    return np.union1d(first, np.searchsorted(at, np.concatenate(cuts)))


def _left_ends(x: Floats, first: Places) -> Floats:
    """Return where stairs begin: half way between their first point and the one before."""
    before = np.maximum(first - 1, 0)
    return np.asarray(x[before] / 2 + x[first] / 2)
