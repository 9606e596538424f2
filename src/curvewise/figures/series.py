"""What to draw, as plain numbers: the same for matplotlib and for the page."""

from dataclasses import dataclass

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
    """

    name: str
    x: Floats
    y: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Curves on one pair of axes.

    Parameters
    ----------
    title, x_label, y_label : str
    series : tuple of Series
    caption : str
        What the chart shows, in words.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    caption: str


def style(i: int) -> tuple[str, str]:
    """Return colour and dash of the i-th curve; no two of the first 28 look alike."""
    return PALETTE[i % len(PALETTE)], DASHES[i // len(PALETTE) % len(DASHES)]


def finite(values: Floats) -> Floats:
    """Return values with NaN for what is infinite, which no axis can show."""
    return np.where(np.isfinite(values), values, np.nan)
