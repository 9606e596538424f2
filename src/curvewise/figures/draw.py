"""The matplotlib drawer: charts in, axes out. Nothing else imports matplotlib."""

from typing import TYPE_CHECKING

import numpy as np

from curvewise.figures.series import Chart, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}


def new_axes(columns: int = 1) -> "Axes":
    """Return the first of a row of new axes."""
    import matplotlib.pyplot as plt

    size = (6.4 if columns == 1 else 4.0 * columns, 4.0)
    _, axes = plt.subplots(
        1, columns, figsize=size, layout="constrained", squeeze=False
    )
    first: Axes = axes[0, 0]
    return first


def draw(chart: Chart, ax: "Axes") -> "Axes":
    """Draw a chart's curves and bands."""
    for i, series in enumerate(chart.series):
        colour, dash = style(i)
        band = np.isfinite(series.lower) & np.isfinite(series.upper)
        ax.fill_between(
            series.x,
            series.lower,
            series.upper,
            where=band,
            step="mid",
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
        ax.plot(
            series.x,
            series.y,
            drawstyle="steps-mid",
            color=colour,
            linestyle=_DASHES[dash],
            label=series.name,
        )
    ax.set(xlabel=chart.x_label, ylabel=chart.y_label, title=chart.title)
    ax.margins(x=0.01)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax
