"""What to draw, as plain numbers: the same for matplotlib and for the page."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from curvewise.metrics import Floats

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
# Their yellow is left out (too light on white), their black a grey (pages may be dark).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A")
DASHES = ("solid", "dash", "dot", "dashdot")


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One curve with its band.

    Parameters
    ----------
    name : str
    x, y : ndarray, shape (point,)
    lower, upper : ndarray, shape (point,)
        The band; NaN where it has no end.
    look : int, optional
        Whose colour and dash it has; its place in the chart if left out.
    is_faint : bool
        Whether it is one of many behind what the chart is about: thin, without a name in
        the legend.
    """

    name: str
    x: Floats
    y: Floats
    lower: Floats
    upper: Floats
    look: int | None = None
    is_faint: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on the x axis worth a dashed line, and what it is."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of the x axis, drawn as a bar along the lower edge of the chart.

    Parameters
    ----------
    first, last : float
        From where to where.
    look : int
        Whose colour it has.
    row : int
        Bars of one row are side by side, those of the next above them.
    label : str
        What it says.
    """

    first: float
    last: float
    look: int
    row: int
    label: str


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Curves on one pair of axes.

    Parameters
    ----------
    title, x_label, y_label : str
    series : tuple of Series
    caption : str
        What the chart shows, in words.
    axis : {"share", "linear", "log"}
        What x is: a share of the trials from 0 to 1, or numbers on either scale.
    shape : {"step", "line"}
        Whether a curve jumps between its points or runs from one to the next.
    marks : tuple of Mark
    level : float, optional
        A y value that means something, such as 0 for "no difference".
    bars : tuple of Bar
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    caption: str
    axis: Literal["share", "linear", "log"] = "share"
    shape: Literal["step", "line"] = "step"
    marks: tuple[Mark, ...] = ()
    level: float | None = None
    bars: tuple[Bar, ...] = ()


def bar_height(row: int) -> tuple[float, float]:
    """Return between which shares of the chart's height a row of bars is drawn."""
    return 0.01 + 0.03 * row, 0.03 + 0.03 * row


def looks(chart: Chart) -> list[tuple[Series, str, str]]:
    """Return the curves of a chart, each with its colour and dash."""
    return [
        (series, *style(place if series.look is None else series.look))
        for place, series in enumerate(chart.series)
    ]


def style(i: int) -> tuple[str, str]:
    """Return colour and dash of the i-th curve; no two of the first 28 look alike."""
    return PALETTE[i % len(PALETTE)], DASHES[i // len(PALETTE) % len(DASHES)]


def without_band(values: Floats) -> Floats:
    """Return the ends of a band that is not there."""
    return np.full(len(values), np.nan)


def finite(values: Floats) -> Floats:
    """Return values with NaN for what is infinite, which no axis can show."""
    return np.where(np.isfinite(values), values, np.nan)
