"""Curves with no more points than an eye can tell, and how far off they may then be."""

from collections.abc import Iterable

import numpy as np

from curvewise.figures._slopes import straight
from curvewise.figures._stairs import stepped
from curvewise.figures.outlines import (
    Outline,
    Paper,
    Shape,
    has_ends,
    lifted,
    runs,
    there_and_back,
)
from curvewise.figures.series import Chart, Series

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

    Parameters
    ----------
    chart : Chart
    series : Series
    tolerance : float
        Of the height of the chart.
    height : float
        From where to where the y axis goes: `height_of` the chart.
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
    seen = lifted(np.concatenate([np.empty(0), *ends]), chart.y_axis == "log")
    seen = seen[np.isfinite(seen)]
    return float(np.ptp(seen) if len(seen) else 0.0) or 1.0
