"""The matplotlib drawer: charts in, axes out. Nothing else imports matplotlib."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from curvewise.figures.series import Chart, bar_height, looks, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INSIDE, _PER_COLUMN = 8, 16  # names in a legend
_TITLE = 42  # letters in a line of a title
_DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}


def new_axes(columns: int = 1, rows: int = 1) -> "Axes":
    """Return the first of a grid of new axes, row by row in its figure."""
    import matplotlib.pyplot as plt

    size = (6.4 if columns == 1 else 4.0 * columns, 4.0 if rows == 1 else 3.2 * rows)
    _, axes = plt.subplots(
        rows, columns, figsize=size, layout="constrained", squeeze=False
    )
    first: Axes = axes[0, 0]
    return first


def draw(chart: Chart, ax: "Axes") -> "Axes":
    """Draw a chart's curves and bands."""
    is_step = chart.shape == "step"
    for series, colour, dash in looks(chart):
        band = np.isfinite(series.lower) & np.isfinite(series.upper)
        ax.fill_between(
            series.x,
            series.lower,
            series.upper,
            where=band,
            step="mid" if is_step else None,
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
        ax.plot(
            series.x,
            series.y,
            drawstyle="steps-mid" if is_step else "default",
            color=colour,
            linestyle=_DASHES[dash],
            marker="o" if len(series.x) == 1 else None,
            linewidth=0.7 if series.is_faint else None,
            alpha=0.35 if series.is_faint else None,
            # matplotlib leaves names that begin with "_" out of the legend.
            label="_faint" if series.is_faint else literal(series.name),
        )
    _draw_marks(chart, ax)
    _draw_bars(chart, ax)
    ax.set(
        xlabel=literal(chart.x_label),
        ylabel=literal(chart.y_label),
        title=textwrap.fill(literal(chart.title), _TITLE),
    )
    if chart.axis == "log":
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")  # 10, not a power of it
    ax.margins(x=0.01)
    ax.spines[["top", "right"]].set_visible(False)
    _draw_legend(ax, sum(not series.is_faint for series in chart.series))
    return ax


def _draw_legend(ax: "Axes", entries: int) -> None:
    if entries <= _INSIDE:
        ax.legend(frameon=False)
        return
    # Many names would cover the curves; beside the axes they take columns of their own.
    ax.legend(
        frameon=False,
        fontsize="x-small",
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        ncols=-(-entries // _PER_COLUMN),
    )


def _draw_marks(chart: Chart, ax: "Axes") -> None:
    if chart.level is not None:
        ax.axhline(chart.level, color="0.5", linewidth=1)
    for i, mark in enumerate(chart.marks):
        ax.axvline(mark.x, color="0.5", linestyle="--", linewidth=1)
        ax.annotate(
            literal(mark.label),
            (mark.x, 1.0 - 0.12 * (i % 2)),  # neighbours may be close
            xycoords=("data", "axes fraction"),
            rotation=90,
            va="top",
            ha="right",
            fontsize="small",
            color="0.35",
        )


def _draw_bars(chart: Chart, ax: "Axes") -> None:
    if not chart.bars:
        return
    low, high = ax.get_ylim()
    room = bar_height(max(bar.row for bar in chart.bars) + 1)[0]
    ax.set_ylim(low - room / (1 - room) * (high - low), high)
    for bar in chart.bars:
        bottom, top = bar_height(bar.row)
        ax.axvspan(
            bar.first, bar.last, bottom, top, color=style(bar.look)[0], linewidth=0
        )


def literal(text: str) -> str:
    """Return a text as matplotlib is to show it, letter by letter."""
    # matplotlib takes $...$ for mathematics, and hides labels that begin with "_".
    text = text.replace("$", r"\$")
    return "\u200b" + text if text.startswith("_") else text
