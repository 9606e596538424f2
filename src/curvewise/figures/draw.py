"""The matplotlib drawer: charts in, axes out. Nothing else imports matplotlib."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from curvewise._text import step
from curvewise.figures.series import (
    LABEL,
    Chart,
    Series,
    band_opacity,
    bar_height,
    drawn_at,
    faint_look,
    legend_names,
    log_ticks,
    looks,
    mark_places,
    root_ticks,
    style,
    y_ticks,
)
from curvewise.metrics import Floats

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
    names = legend_names(series.name for series in chart.named)
    for series, colour, dash in looks(chart):
        # matplotlib leaves names that begin with "_" out of the legend.
        name = literal(names[series.name]) if series.is_named else "_faint"
        if series.has_band:
            _draw_band(chart, series, ax, colour, name if series.is_area else "_band")
        if series.is_dots:
            _draw_dots(chart, series, ax, colour)
        elif not series.is_area:
            _draw_curve(chart, series, ax, colour, _DASHES[dash], name)
    if chart.y_range is not None:
        ax.set_ylim(*chart.y_range)
    _draw_marks(chart, ax)
    _draw_bars(chart, ax)
    ax.set(
        xlabel=literal(chart.x_label),
        ylabel=textwrap.fill(literal(chart.y_label), LABEL),
        title=textwrap.fill(literal(chart.title), _TITLE),
    )
    if chart.axis == "log":
        _draw_powers(chart, ax)
    if chart.axis == "root":
        ticks = root_ticks(chart)
        ax.set_xticks(_x(chart, np.array(ticks)), [step(tick) for tick in ticks])
    if chart.y_axis == "log":
        _draw_log_heights(ax)
    elif (heights := y_ticks(chart)) is not None:
        ax.set_yticks(heights)
    ax.margins(x=0.01)
    ax.spines[["top", "right"]].set_visible(False)
    _draw_legend(chart, ax)
    return ax


def _draw_band(
    chart: Chart, series: Series, ax: "Axes", colour: str, name: str
) -> None:
    ax.fill_between(
        _x(chart, series.x),
        series.lower,
        series.upper,
        where=np.isfinite(series.lower) & np.isfinite(series.upper),
        step="mid" if chart.shape == "step" else None,
        color=colour,
        alpha=band_opacity(chart),
        linewidth=0,
        label=name,
    )


def _draw_curve(
    chart: Chart, series: Series, ax: "Axes", colour: str, dash: str, name: str
) -> None:
    from matplotlib.patheffects import withStroke

    (line,) = ax.plot(
        _x(chart, series.x),
        series.y,
        drawstyle="steps-mid" if chart.shape == "step" else "default",
        color=colour,
        linestyle=dash,
        marker="o" if len(series.x) == 1 else None,
        label=name,
    )
    if series.is_faint:
        opacity, width = faint_look(chart)
        line.set(alpha=opacity, linewidth=width)
    elif chart.faint:
        # Upon many lines of its own colour it would not be seen.
        line.set(
            linewidth=2.2,
            path_effects=[withStroke(linewidth=4.4, foreground=ax.get_facecolor())],
        )


def _draw_dots(chart: Chart, series: Series, ax: "Axes", colour: str) -> None:
    x = _x(chart, series.x)
    ax.plot(x, series.y, "o", mfc="none", mec=colour, mew=1.3, label="_dots")


def _x(chart: Chart, x: Floats | float) -> Floats:
    """Return where on its axis x is: matplotlib takes care of a logarithmic one."""
    return drawn_at(chart, x) if chart.axis == "root" else np.asarray(x)


def _draw_powers(chart: Chart, ax: "Axes") -> None:
    """Give a logarithmic axis its ticks: 10, not a power of it."""
    ax.set_xscale("log")
    if (ticks := log_ticks(chart)) is not None:
        ax.set_xticks(ticks)
        ax.set_xticks([], minor=True)
    ax.xaxis.set_major_formatter(lambda x, _: step(float(f"{x:.6g}")))
    ax.xaxis.set_minor_formatter("")


def _draw_log_heights(ax: "Axes") -> None:
    """Give a logarithmic y axis ticks at 1, 2 and 5 times the powers of ten."""
    from matplotlib.ticker import LogLocator

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter("")


def _draw_legend(chart: Chart, ax: "Axes") -> None:
    entries = len(chart.named)
    if entries <= _INSIDE and not chart.is_crowded:
        # Where no place is free, it is read all the same.
        ax.legend(edgecolor="none", framealpha=0.7)
        return
    # Many names would cover the curves; beside the axes they take columns of their own.
    ax.legend(
        frameon=False,
        fontsize="x-small" if entries > _INSIDE else "small",
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        ncols=-(-entries // _PER_COLUMN),
    )


def _draw_marks(chart: Chart, ax: "Axes") -> None:
    if chart.level is not None:
        ax.axhline(chart.level, color="0.5", linewidth=1)
    for mark, side, height in mark_places(chart):
        x = float(_x(chart, mark.x))
        ax.axvline(x, color="0.5", linestyle="--", linewidth=1)
        ax.annotate(
            literal(mark.label),
            (x, height),
            xycoords=("data", "axes fraction"),
            rotation=90,
            va="top" if height > 0.5 else "bottom",
            ha="right" if side == "left" else "left",
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
        colour, dash = style(bar.look)
        ax.axvspan(
            bar.first,
            bar.last,
            bottom,
            top,
            facecolor=colour if dash == "solid" else "none",
            edgecolor=colour,
            linewidth=0 if dash == "solid" else 1,
        )


def literal(text: str) -> str:
    """Return a text as matplotlib is to show it, letter by letter."""
    # matplotlib takes $...$ for mathematics, and hides labels that begin with "_".
    text = text.replace("$", r"\$")
    return "\u200b" + text if text.startswith("_") else text
