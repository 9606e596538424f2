"""Curves point by point as they are drawn, with no more points than an eye can tell."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.figures.chart import Chart, Series, drawn_at
from curvewise.metrics import Floats

Shape: TypeAlias = Literal["hvh", "hv", "linear"]
Places: TypeAlias = NDArray[np.intp]
GAP = 1 / 16  # of the width: no farther apart are points, for a pointer to find one


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A curve and its band, point by point.

    Parameters
    ----------
    x, y : ndarray, shape (point,)
        The curve; NaN where it breaks off.
    lower, upper : ndarray, shape (point,)
        The ends of the band at those points.
    band : tuple of (ndarray, ndarray)
        x and y of each part of the band, along its lower end and back along its upper.
    shape : {"hvh", "hv", "linear"}
        How one point leads to the next: by a jump half way, a jump at the end, or straight.
    band_shape : {"hvh", "hv", "linear"}
        The same for the band.
    """

    x: Floats
    y: Floats
    lower: Floats
    upper: Floats
    band: tuple[tuple[Floats, Floats], ...]
    shape: Shape
    band_shape: Shape


@dataclass(frozen=True, slots=True, eq=False)
class Paper:
    """Where the points of a curve are drawn: x from 0 to 1, y in heights of the chart.

    Parameters
    ----------
    at : ndarray, shape (point,)
        Ascending.
    height : float
        From where to where the y axis goes; of logarithms on such an axis.
    is_log : bool
        Whether the y axis is logarithmic.
    """

    at: Floats
    height: float
    is_log: bool

    @classmethod
    def of(cls, chart: Chart, series: Series, height: float) -> "Paper | None":
        """Return it; None for curves that cannot be thinned."""
        at = drawn_at(chart, series.x)
        if len(at) < 3:
            return None
        at = (at - at[0]) / (at[-1] - at[0] or 1.0)
        if not (np.diff(at) > 0).all():
            return None
        return cls(at, height, chart.y_axis == "log")

    def up(self, y: Floats) -> Floats:
        """Return how high y is."""
        return lifted(y, self.is_log) / self.height

    def moved(self, y: Floats, by: Floats) -> Floats:
        """Return y, moved by so many heights."""
        if self.is_log:
            return y * np.exp(by * self.height)
        return y + by * self.height

    def between(self, low: Floats, high: Floats) -> Floats:
        """Return what is half way."""
        return np.sqrt(low) * np.sqrt(high) if self.is_log else low / 2 + high / 2


def lifted(y: Floats, is_log: bool) -> Floats:
    """Return where on an axis y is, up to a scale."""
    if not is_log:
        return y
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(y)


def runs(inside: NDArray[np.bool_]) -> list[slice]:
    """Return the stretches in which something holds.

    >>> runs(np.array([True, True, False, True]))
    [slice(0, 2, None), slice(3, 4, None)]
    """
    edges = np.flatnonzero(np.diff(np.r_[False, inside, False].astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def has_ends(series: Series) -> NDArray[np.bool_]:
    """Return where the band of a curve has both ends."""
    return np.isfinite(series.lower) & np.isfinite(series.upper)


def joined(parts: Sequence[Sequence[Floats]]) -> list[Floats]:
    """Return columns of all parts, NaN between one part and the next."""
    gap = np.array([np.nan])
    return [
        np.concatenate([piece for part in column for piece in (part, gap)][:-1])
        for column in zip(*parts, strict=True)
    ]


def curve_of(
    parts: Sequence[Sequence[Floats]],
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return a curve and the ends of its band from all stretches in which it is there."""
    x, y, lower, upper = joined(parts or [[np.empty(0)] * 4])
    return x, y, lower, upper


def there_and_back(
    x: Floats, lower: Floats, back: Floats, upper: Floats
) -> tuple[Floats, Floats]:
    """Return x and y along the lower end of a band, and back along the upper."""
    return np.concatenate([x, back[::-1]]), np.concatenate([lower, upper[::-1]])


# --- Curves that run from point to point, by few of them -------------------------------


_COLUMNS = 512  # of the width: what is closer together has no order that could be seen


def straight(paper: Paper, series: Series, tolerance: float) -> Outline:
    """Return a curve that runs from point to point."""
    curves = []
    for run in runs(np.isfinite(paper.up(series.y))):
        at, up = paper.at[run], paper.up(series.y[run])
        points = _extremes(at, up)
        gap = 1.0 if series.is_faint else GAP
        points = points[swung(at[points], up[points], tolerance, gap)] + run.start
        curves.append(
            [v[points] for v in (series.x, series.y, series.lower, series.upper)]
        )
    polygons = []
    for run in runs(has_ends(series)):
        if series.is_area:  # nobody else tells its ends: they share their places
            there = series.x[run], series.lower[run]
            polygons.append(there_and_back(*there, series.x[run], series.upper[run]))
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
    points, i, low, high = [0], 0, -np.inf, np.inf
    for k in range(1, len(x)):
        run, rise = x[k] - x[i], y[k] - y[i]
        if not (low * run <= rise <= high * run and run <= gap) and k > i + 1:
            i = k - 1
            points.append(i)
            run, rise = x[k] - x[i], y[k] - y[i]
            low, high = -np.inf, np.inf
        low = max(low, (rise - tolerance) / run)
        high = min(high, (rise + tolerance) / run)
    return np.unique(np.array([*points, len(x) - 1], dtype=np.intp))


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
        edge = side * np.maximum.reduceat(raw, first)[owner]
        points, moved = _shifted(paper, at[places], most[owner], edge, tolerance, side)
        return places[points], moved
    return _shifted(paper, at, up, ends, tolerance, side)


def _shifted(
    paper: Paper,
    at: Floats,
    up: Floats,
    ends: Floats,
    tolerance: float,
    side: int,
) -> tuple[Places, Floats]:
    points = swung(at, up, tolerance / 2, 1.0)
    if len(points) < 2:
        return points, ends[points]
    inside = up - np.interp(at, at[points], up[points])
    short = np.maximum(np.maximum.reduceat(inside[:-1], points[:-1]), 0.0)
    by = np.maximum(np.r_[0.0, short], np.r_[short, 0.0])
    return points, paper.moved(ends[points], side * by)


# --------------------------------------------------------------------------------------
# Curves that jump, by few stairs, or by slopes where stairs are too low to be seen.


_HV: Shape = "hv"
_LINEAR: Shape = "linear"
_WORTH = 1.3  # times the points of stairs: slopes look more like very many trials


def stepped(paper: Paper, series: Series, tolerance: float) -> Outline:
    """Return a curve that jumps half way between its points."""
    pieces = runs(np.isfinite(paper.up(series.y)))
    curve = [_stairs(paper, series, run, tolerance) for run in pieces]
    shape = _HV
    jumps = [_jumps(paper, series, run, tolerance) for run in pieces]
    room = _WORTH * _points(curve)
    if 2 * sum(len(at) + 1 for at in jumps) < room:
        pairs = zip(pieces, jumps, strict=True)
        ramps = [_ramps(paper, series, run, at, tolerance) for run, at in pairs]
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
        points = np.r_[a, np.arange(a, b + 1), b]  # and the corners at either end
        begin, end = at[max(a - 1, 0)] + at[a], at[b] + at[min(b + 1, last)]
        level = np.r_[begin / 2, at[a : b + 1], end / 2]
        inside = np.r_[a > 0, np.ones(b + 1 - a, bool), b < last]
        points, level = points[inside], level[inside]
        few = swung(level, up[points], tolerance / 2, GAP)
        places.append(level[few])
        owners.append(points[few])
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


# --------------------------------------------------------------------------------------
# Curves with no more points than an eye can tell, and how far off they may then be.


# Of the height of a chart: how far off a curve may be drawn on a page of few curves, and
# on one of very many.
FINEST, COARSEST = 1 / 5000, 1 / 150
_PER_CURVE = 1.5e-6  # so much more for each curve on the page
_FAINT = 1 / 250  # what is thin and pale may always be off by so much


def tolerance_for(charts: Iterable[Chart]) -> float:
    """Return how far off the curves of a page may be drawn, of the height of a chart.

    The more curves, the coarser: a 5000th up to a hundred of them, a 150th from four
    thousand on. Faint lines do not count.
    """
    curves = sum(len(chart.named) for chart in charts)
    return float(np.clip(_PER_CURVE * curves, FINEST, COARSEST))


def whole(chart: Chart, series: Series) -> Outline:
    """Return a curve with all of its points."""
    bands = tuple(
        there_and_back(
            *(series.x[run], series.lower[run], series.x[run], series.upper[run])
        )
        for run in runs(has_ends(series))
    )
    shape: Shape = "hvh" if chart.shape == "step" else "linear"
    curve = series.x, series.y, series.lower, series.upper
    return Outline(*curve, bands, shape, shape)


def thinned(chart: Chart, series: Series, tolerance: float, height: float) -> Outline:
    """Return a curve with few points, and how they lead to each other.

    Nowhere is it off by more than the tolerance in y or, where it has thousands of points,
    by a 512th of the chart's width in x. Its ends are kept. A band is drawn from outside:
    its lower end is never above the true one, nor its upper end below.
    """
    paper = Paper.of(chart, series, height)
    if series.is_dots or paper is None:
        return whole(chart, series)
    if series.is_faint:
        tolerance = max(tolerance, _FAINT)
    return (stepped if chart.shape == "step" else straight)(paper, series, tolerance)


def height_of(chart: Chart, shown: Iterable[Series]) -> float:
    """Return how high a chart is that shows these curves; of logarithms on such an axis."""
    ends = [values for one in shown for values in (one.y, one.lower, one.upper)]
    if chart.y_range is not None:
        ends = [np.array(chart.y_range)]
    heights = lifted(np.concatenate([np.empty(0), *ends]), chart.y_axis == "log")
    heights = heights[np.isfinite(heights)]
    return float(np.ptp(heights) if len(heights) else 0.0) or 1.0
