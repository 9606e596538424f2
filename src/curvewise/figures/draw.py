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
            label=_literal(series.name),
        )
    ax.set(
        xlabel=_literal(chart.x_label),
        ylabel=_literal(chart.y_label),
        title=_literal(chart.title),
    )
    ax.margins(x=0.01)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax


def _literal(text: str) -> str:
    # matplotlib takes $...$ for mathematics, and hides labels that begin with "_".
    text = text.replace("$", r"\$")
    return "\u200b" + text if text.startswith("_") else text
