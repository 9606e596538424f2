"""What to draw, as plain numbers: the same for matplotlib and for the page."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

import numpy as np

from curvewise.metrics import Floats

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
# Their yellow is left out (too light on white), their black a grey (pages may be dark).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A")
DASHES = ("solid", "dash", "dot", "dashdot")
_LETTERS, _IN_A_LINE = 63, 32  # of a name in a legend: two of 30 with " - " between
_BAND, _BANDS = 0.15, 4  # how opaque bands are, and how many may be before it is soup
LABEL = 46  # letters in a line of the label of the y axis
_SHORT = 1.5  # decades on a logarithmic axis that need ticks between the powers of ten
_NEAR = 0.05  # of the width of a chart: here the labels of two marks would meet


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

    @property
    def named(self) -> tuple[Series, ...]:
        """The curves with a name in the legend."""
        return tuple(series for series in self.series if not series.is_faint)

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
        (series, *style(place if series.look is None else series.look))
        for place, series in enumerate(chart.series)
    ]


def style(i: int) -> tuple[str, str]:
    """Return colour and dash of the i-th curve; no two of the first 28 look alike."""
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


def short_names(names: Iterable[str], most: int) -> dict[str, str]:
    """Return names of about so many letters at most, cut where they do not differ.

    >>> short_names(["a long name, one", "a long name, two", "b"], 10)
    {'a long name, one': '…one', 'a long name, two': '…two', 'b': 'b'}
    """
    one_line = {name: " ".join(name.split()) for name in names}
    told = _told_apart(list(dict.fromkeys(one_line.values())), most)
    return {name: told[text] for name, text in one_line.items()}


def _told_apart(names: list[str], most: int) -> dict[str, str]:
    by_cut: dict[str, list[str]] = {}
    for name in names:
        cut = name if len(name) <= most else f"{name[: most - 1]}…"
        by_cut.setdefault(cut, []).append(name)
    out: dict[str, str] = {}
    for cut, own in by_cut.items():
        if len(own) == 1:
            out[own[0]] = cut
            continue
        # They begin alike, for longer than may be shown: that is what is left out.
        ends = zip(min(own), max(own), strict=False)
        shared = sum(1 for _ in takewhile(lambda two: two[0] == two[1], ends))
        rest = _told_apart([name[shared:] for name in own], most)
        out |= {name: f"…{rest[name[shared:]]}" for name in own}
    return out


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
    """
    x = np.concatenate([series.x for series in chart.series])
    near = _NEAR * float(x.max() - x.min())
    out: list[tuple[Mark, Literal["left", "right"], float]] = []
    marks = sorted(chart.marks, key=lambda mark: mark.x)
    for i, mark in enumerate(marks):
        before = mark.x - marks[i - 1].x if i else np.inf
        after = marks[i + 1].x - mark.x if i + 1 < len(marks) else np.inf
        after = min(after, float(x.max()) - mark.x)
        is_taken = before < near or mark.x - float(x.min()) < 2 * near
        is_right = is_taken and after > near
        out.append((mark, "right" if is_right else "left", 1.0 - 0.12 * (i % 2)))
    return out


def without_band(values: Floats) -> Floats:
    """Return the ends of a band that is not there."""
    return np.full(len(values), np.nan)


def finite(values: Floats) -> Floats:
    """Return values with NaN for what is infinite, which no axis can show."""
    return np.where(np.isfinite(values), values, np.nan)
