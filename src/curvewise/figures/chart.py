"""What to draw, as plain numbers: the same for matplotlib and for the page."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from curvewise.metrics import Floats
from curvewise.text import short_names

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
# Their yellow is left out (too light on white), their black a grey (pages may be dark).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A")
DASHES = (
    *("solid", "dash", "dot", "dashdot", "longdash", "longdashdot"),
    *("2px,6px", "9px,3px,2px,3px,2px,3px"),
)
_LETTERS, _IN_A_LINE = 63, 32  # of a name in a legend: two of 30 with " - " between
_BAND, _BANDS = 0.15, 4  # how opaque bands are, and how many may be before it is soup
LABEL = 46  # letters in a line of the label of the y axis
_SHORT = 1.5  # decades on a logarithmic axis that need ticks between the powers of ten
_NEAR = 0.05  # of the width of a chart: here the labels of two marks would meet
_TICKS_NEAR = 0.07  # and here those of two ticks


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
    is_dots : bool
        Whether it is what was observed, drawn as circles: without a name in the legend,
        which its curve has.
    """

    name: str
    x: Floats
    y: Floats
    lower: Floats
    upper: Floats
    look: int | None = None
    is_faint: bool = False
    is_dots: bool = False

    @property
    def is_named(self) -> bool:
        """Whether it has a name in the legend."""
        return not (self.is_faint or self.is_dots)

    @property
    def has_band(self) -> bool:
        """Whether it has a band anywhere."""
        return bool((np.isfinite(self.lower) & np.isfinite(self.upper)).any())

    @property
    def is_area(self) -> bool:
        """Whether it is a band without a curve in it."""
        return self.has_band and not np.isfinite(self.y).any()


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
    axis : {"share", "linear", "log", "root"}
        What x is: a share of the trials from 0 to 1, or numbers on either scale; "root"
        draws sizes n at n^-1/2, so that more data is further to the left.
    shape : {"step", "line"}
        Whether a curve jumps between its points or runs from one to the next.
    marks : tuple of Mark
    level : float, optional
        A y value that means something, such as 0 for "no difference".
    bars : tuple of Bar
    y_axis : {"linear", "log"}
    y_range : (float, float), optional
        From where to where the y axis goes, such as 0 to 1 for probabilities.
    ticks : tuple of float
        Where the x axis is labelled, if that matters: of those that come too close, the
        earlier ones stay.
    leaders : tuple of str
        Names of its curves, those that matter most first: where all would be too many,
        these are shown. Empty where none matters more than another.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    caption: str
    axis: Literal["share", "linear", "log", "root"] = "share"
    shape: Literal["step", "line"] = "step"
    marks: tuple[Mark, ...] = ()
    level: float | None = None
    bars: tuple[Bar, ...] = ()
    y_axis: Literal["linear", "log"] = "linear"
    y_range: tuple[float, float] | None = None
    ticks: tuple[float, ...] = ()
    leaders: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[Series, ...]:
        """The curves with a name in the legend."""
        return tuple(series for series in self.series if series.is_named)

    @property
    def faint(self) -> tuple[Series, ...]:
        """The curves without."""
        return tuple(series for series in self.series if series.is_faint)

    @property
    def is_crowded(self) -> bool:
        """Whether there is no room for a legend among its bands and bars."""
        if self.bars and len(self.named) > 1:
            return True
        return sum(series.has_band for series in self.series) > _BANDS


def bar_height(row: int) -> tuple[float, float]:
    """Return between which shares of the chart's height a row of bars is drawn."""
    return 0.01 + 0.03 * row, 0.03 + 0.03 * row


def looks(chart: Chart) -> list[tuple[Series, str, str]]:
    """Return the curves of a chart, each with its colour and dash."""
    return [
        (series, *colour_and_dash(place if series.look is None else series.look))
        for place, series in enumerate(chart.series)
    ]


def colour_and_dash(i: int) -> tuple[str, str]:
    """Return colour and dash of the i-th curve; no two of the first 56 look alike."""
    return PALETTE[i % len(PALETTE)], DASHES[i // len(PALETTE) % len(DASHES)]


def band_opacity(chart: Chart) -> float:
    """Return how opaque bands are: the more there are, the less."""
    bands = sum(series.has_band for series in chart.series)
    return _BAND * min(1.0, _BANDS / max(bands, 1))


def faint_look(chart: Chart) -> tuple[float, float]:
    """Return how opaque faint curves are, and how wide: the more there are, the less."""
    n = len(chart.faint)
    return min(0.35, max(0.08, 12 / max(n, 1))), 0.7 if n <= 60 else 0.5


def legend_names(names: Iterable[str]) -> dict[str, str]:
    """Return names as a legend shows them: a line or two each, no two of them alike.

    >>> legend_names(["a", 40 * "b"])["a"]
    'a'
    """
    return {
        name: "\n".join(textwrap.wrap(short, _IN_A_LINE))
        for name, short in short_names(names, _LETTERS).items()
    }


def log_ticks(chart: Chart) -> list[float] | None:
    """Return where a short logarithmic axis has ticks; None for at powers of ten.

    At 1, 2 and 5 times the powers of ten, or evenly if these are less than three.
    """
    x = np.concatenate([series.x for series in chart.series])
    low, high = float(x.min()), float(x.max())
    if low <= 0 or np.log10(high / low) >= _SHORT:
        return None
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    inside = [tick for tick in ticks if low <= tick <= high]
    if len(inside) > 2 or low == high:
        return inside or [low]
    span = high - low
    power = 10.0 ** np.floor(np.log10(span))
    digits = (0.1, 0.2, 0.5, 1.0, 2.0)
    apart = next(digit * power for digit in digits if span <= 5.001 * digit * power)
    first, last = int(np.ceil(low / apart)), int(np.floor(high / apart))
    return [i * apart for i in range(first, last + 1)]


def mark_places(
    chart: Chart,
) -> list[tuple[Mark, Literal["left", "right"], float]]:
    """Return on which side of its line each mark's label is, and at which height.

    A label is on the left, unless a neighbour or the axis is there and the right is free.
    It hangs from the top; on a root axis, where curves begin low, it stands on the bottom.
    """
    left, right = _ends(chart)
    near = _NEAR * (right - left)
    out: list[tuple[Mark, Literal["left", "right"], float]] = []
    marks = sorted(chart.marks, key=lambda mark: float(drawn_at(chart, mark.x)))
    at = [float(drawn_at(chart, mark.x)) for mark in marks]
    for i, mark in enumerate(marks):
        before = at[i] - at[i - 1] if i else np.inf
        after = at[i + 1] - at[i] if i + 1 < len(marks) else np.inf
        after = min(after, right - at[i])
        is_taken = before < near or at[i] - left < 2 * near
        is_right = is_taken and after > near
        height = 0.02 if chart.axis == "root" else 1.0 - 0.12 * (i % 2)
        out.append((mark, "right" if is_right else "left", height))
    return out


def drawn_at(chart: Chart, x: Floats | float) -> Floats:
    """Return where on paper x is, up to a scale: a root axis draws n at n^-1/2."""
    if chart.axis == "root":
        return np.asarray(x, dtype=np.float64) ** -0.5
    return np.log(x) if chart.axis == "log" else np.asarray(x, dtype=np.float64)


def root_ticks(chart: Chart) -> list[float]:
    """Return the sizes at which a root axis is labelled, none too close to another."""
    left, right = _ends(chart)
    out: list[float] = []
    for tick in chart.ticks:
        at = float(drawn_at(chart, tick))
        near = (abs(at - float(drawn_at(chart, other))) for other in out)
        if left <= at <= right and all(d >= _TICKS_NEAR * (right - left) for d in near):
            out.append(tick)
    return out


def y_ticks(chart: Chart) -> list[float] | None:
    """Return where a y axis of shares is labelled: never below 0, where bars may be."""
    ends = chart.y_range
    is_of_shares = ends is not None and max(ends) < 1.1 and min(ends) < 0.1
    if chart.y_axis == "log" or not is_of_shares:
        return None
    return [tick / 5 for tick in range(6)]


def _ends(chart: Chart) -> tuple[float, float]:
    """Return from where to where on paper the curves of a chart go."""
    at = drawn_at(chart, np.concatenate([series.x for series in chart.series]))
    return float(at.min()), float(at.max())


def without_band(values: Floats) -> Floats:
    """Return the ends of a band that is not there."""
    return np.full(len(values), np.nan)


def no_band(values: Floats) -> tuple[Floats, Floats]:
    """Return both of them."""
    return without_band(values), without_band(values)


def finite(values: Floats) -> Floats:
    """Return values with NaN for what is infinite, which no axis can show."""
    return np.where(np.isfinite(values), values, np.nan)
