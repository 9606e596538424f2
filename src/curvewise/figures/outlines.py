"""A curve and its band, point by point as they are drawn on paper or page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.figures.series import Chart, Series, drawn_at
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
        np.concatenate([piece for own in column for piece in (own, gap)][:-1])
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
