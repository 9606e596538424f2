"""Curves that run from point to point, by few of them."""

import numpy as np

from curvewise.figures.outlines import (
    GAP,
    Outline,
    Paper,
    Places,
    curve_of,
    has_ends,
    runs,
    there_and_back,
)
from curvewise.figures.series import Series
from curvewise.metrics import Floats

_COLUMNS = 512  # of the width: what is closer together has no order that could be seen


def straight(paper: Paper, series: Series, tolerance: float) -> Outline:
    """Return a curve that runs from point to point."""
    curves = []
    for run in runs(np.isfinite(paper.up(series.y))):
        at, up = paper.at[run], paper.up(series.y[run])
        kept = _extremes(at, up)
        gap = 1.0 if series.is_faint else GAP
        kept = kept[swung(at[kept], up[kept], tolerance, gap)] + run.start
        curves.append(
            [v[kept] for v in (series.x, series.y, series.lower, series.upper)]
        )
    polygons = []
    for run in runs(has_ends(series)):
        if series.is_area:  # nobody else tells its ends: they share their places
            own = series.x[run], series.lower[run]
            polygons.append(there_and_back(*own, series.x[run], series.upper[run]))
            continue
        x, at = series.x[run], paper.at[run]
        low, lower = _outside(paper, at, series.lower[run], tolerance, -1)
        high, upper = _outside(paper, at, series.upper[run], tolerance, 1)
        polygons.append(there_and_back(x[low], lower, x[high], upper))
    return Outline(*curve_of(curves), tuple(polygons), "linear", "linear")


def _extremes(at: Floats, up: Floats) -> Places:
    """Return the first, lowest, highest and last place of each column, if they are many."""
    if len(at) <= 4 * _COLUMNS:
        return np.arange(len(at))
    column = np.minimum((_COLUMNS * at).astype(np.intp), _COLUMNS - 1)
    first = np.flatnonzero(np.r_[True, np.diff(column) > 0])
    last = np.r_[first[1:], len(at)] - 1
    by_height = np.lexsort((up, column))
    return np.unique(np.concatenate([first, by_height[first], by_height[last], last]))


def swung(at: Floats, up: Floats, tolerance: float, gap: float) -> Places:
    """Return the places of the points to keep, so that chords are off by little.

    From each kept point a beam goes out that holds all directions in which no point so far
    is off by more than the tolerance; the first point outside of it begins the next chord.
    """
    x, y = at.tolist(), up.tolist()
    kept, i, low, high = [0], 0, -np.inf, np.inf
    for k in range(1, len(x)):
        run, rise = x[k] - x[i], y[k] - y[i]
        if not (low * run <= rise <= high * run and run <= gap) and k > i + 1:
            i = k - 1
            kept.append(i)
            run, rise = x[k] - x[i], y[k] - y[i]
            low, high = -np.inf, np.inf
        low = max(low, (rise - tolerance) / run)
        high = min(high, (rise + tolerance) / run)
    return np.unique(np.array([*kept, len(x) - 1], dtype=np.intp))


def _outside(
    paper: Paper, at: Floats, ends: Floats, tolerance: float, side: int
) -> tuple[Places, Floats]:
    """Return the end of a band by few points, nowhere inside of it: places and values."""
    up = side * paper.up(ends)
    if len(at) > 4 * _COLUMNS:
        # The outermost point of each column counts for all of it.
        column = np.minimum((_COLUMNS * at).astype(np.intp), _COLUMNS - 1)
        first = np.flatnonzero(np.r_[True, np.diff(column) > 0])
        last = np.r_[first[1:], len(at)] - 1
        most, raw = np.maximum.reduceat(up, first), side * ends
        places = np.unique(np.r_[first, last])
        owner = np.searchsorted(first, places, side="right") - 1
        own = side * np.maximum.reduceat(raw, first)[owner]
        kept, moved = _shifted(paper, at[places], most[owner], own, tolerance, side)
        return places[kept], moved
    return _shifted(paper, at, up, ends, tolerance, side)


def _shifted(
    paper: Paper,
    at: Floats,
    up: Floats,
    ends: Floats,
    tolerance: float,
    side: int,
) -> tuple[Places, Floats]:
    kept = swung(at, up, tolerance / 2, 1.0)
    if len(kept) < 2:
        return kept, ends[kept]
    inside = up - np.interp(at, at[kept], up[kept])
    short = np.maximum(np.maximum.reduceat(inside[:-1], kept[:-1]), 0.0)
    by = np.maximum(np.r_[0.0, short], np.r_[short, 0.0])
    return kept, paper.moved(ends[kept], side * by)
