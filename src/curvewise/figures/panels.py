"""Several charts in one figure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from curvewise.errors import CurvewiseError
from curvewise.figures.draw import draw, new_axes
from curvewise.figures.legends import legend_above, legends_below
from curvewise.figures.series import Chart, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INSIDE = 2  # names in a legend that finds a place among the curves of a panel


def draw_panels(charts: Sequence[Chart], columns: int = 4) -> "Axes":
    """Draw charts side by side, in rows, and return the first of their axes.

    Where all of them have the same curves, one legend above serves all.

    Parameters
    ----------
    charts : sequence of Chart
    columns : int
        How many are side by side; fewer where they do not fit into the style's width.
    """
    if not charts:
        raise CurvewiseError("There is no chart to draw. Pass at least one.")
    across = min(columns, len(charts))
    first = new_axes(across, -(-len(charts) // across))
    axes = list(first.figure.axes)
    for ax, chart in zip(axes, charts, strict=False):
        draw(chart, ax)
    for ax in axes[len(charts) :]:
        ax.remove()
    if len(charts) > 1:
        _name_curves(charts, axes)
    return first


def _name_curves(charts: Sequence[Chart], axes: "Sequence[Axes]") -> None:
    """Put legends where they cover nothing: one above all panels, or one below each."""
    most = max(({s.name for s in chart.named} for chart in charts), key=len)
    if _are_alike(charts) and all(s.name in most for c in charts for s in c.named):
        legend_above(axes[: len(charts)])
        return
    below = [
        ax
        for ax, chart in zip(axes, charts, strict=False)
        if len(chart.named) > _INSIDE and ax.get_legend() is not None
    ]
    if below:
        legends_below(below)


def _are_alike(charts: Sequence[Chart]) -> bool:
    """Return whether a name has the same look in all charts."""
    known: dict[str, tuple[str, str]] = {}
    return all(
        known.setdefault(series.name, (colour, dash)) == (colour, dash)
        for chart in charts
        for series, colour, dash in looks(chart)
        if series.is_named
    )
