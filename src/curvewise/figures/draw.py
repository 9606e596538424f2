"""The matplotlib drawer: charts in, axes out. Nothing else imports matplotlib."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.figures.chart import (
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
from curvewise.figures.labels import (
    Axes,
    Figure,
    apart,
    draw_legend,
    legend_above,
    legends_below,
    literal,
    name_axes,
)
from curvewise.figures.styles import current
from curvewise.metrics import Floats
from curvewise.text import step

# As `DASHES` names them; longer ones in widths of the line.
_DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": "--",
    "dot": ":",
    "dashdot": "-.",
    "longdash": (0, (8, 3)),
    "longdashdot": (0, (8, 2, 1, 2)),
    "2px,6px": (0, (1, 4)),
    "9px,3px,2px,3px,2px,3px": (0, (6, 2, 1, 2, 1, 2)),
}


def new_axes(columns: int = 1, rows: int = 1) -> "Axes":
    """Return the first of a grid of new axes, row by row in its figure.

    Rows that do not fit into the width of the style are broken.
    """
    import matplotlib.pyplot as plt

    look = current()
    lines = -(-columns // look.most)  # that each row is broken into
    across = -(-columns // lines)
    figure, axes = plt.subplots(
        lines * rows,
        across,
        figsize=look.size(across, lines * rows),
        layout="constrained",
        squeeze=False,
    )
    for place, ax in enumerate(axes.reshape(rows, -1).T):
        if place >= columns:
            for one in ax:
                one.remove()
    first: Axes = figure.axes[0]
    return first


def draw(chart: Chart, ax: "Axes | None" = None) -> "Axes":
    """Draw a chart's curves and bands, on new axes if on none."""
    ax = new_axes() if ax is None else ax
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
    name_axes(ax, chart.x_label, chart.y_label, chart.title)
    if chart.axis == "log":
        _draw_powers(chart, ax)
    if chart.axis == "root":
        _draw_roots(chart, ax)
    if chart.y_axis == "log":
        _draw_log_heights(ax)
    elif (heights := y_ticks(chart)) is not None:
        ax.set_yticks(heights)
    ax.margins(x=0.01)
    ax.spines[["top", "right"]].set_visible(False)
    draw_legend(chart, ax)
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
    chart: Chart, series: Series, ax: "Axes", colour: str, dash: Any, name: str
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
        line.set(alpha=opacity, linewidth=_width(width))
    elif chart.faint:
        # Upon many lines of its own colour it would not be seen.
        halo = withStroke(linewidth=_width(4.4), foreground=ax.get_facecolor())
        line.set(linewidth=_width(2.2), path_effects=[halo])


def _width(points: float) -> float:
    """Return how wide a line is in this style, from how wide it is on a screen."""
    import matplotlib as mpl

    return float(points * mpl.rcParams["lines.linewidth"] / 1.5)


def _draw_dots(chart: Chart, series: Series, ax: "Axes", colour: str) -> None:
    x = _x(chart, series.x)
    ax.plot(x, series.y, "o", mfc="none", mec=colour, mew=_width(1.3), label="_dots")


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


def _draw_roots(chart: Chart, ax: "Axes") -> None:
    """Give a root axis its ticks, and those that have room for it a label."""
    ticks = root_ticks(chart)
    texts, at = [step(tick) for tick in ticks], _x(chart, np.array(ticks))
    span = float(np.ptp(at)) or 1.0
    shown = apart(ax, texts, ((at - at.min()) / span).tolist())
    ax.set_xticks(at, [text if i in shown else "" for i, text in enumerate(texts)])


def _draw_log_heights(ax: "Axes") -> None:
    """Give a logarithmic y axis ticks at 1, 2 and 5 times the powers of ten."""
    from matplotlib.ticker import LogLocator

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter("")


def _draw_marks(chart: Chart, ax: "Axes") -> None:
    if chart.level is not None:
        ax.axhline(chart.level, color="0.5", linewidth=_width(1))
    for mark, side, height in mark_places(chart):
        x = float(_x(chart, mark.x))
        ax.axvline(x, color="0.5", linestyle="--", linewidth=_width(1))
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
            linewidth=0 if dash == "solid" else _width(1),
        )


# --- Several charts in one figure ------------------------------------------------------


_INSIDE = 2  # names in a legend that finds a place among the curves of a panel


def draw_panels(charts: Sequence[Chart], columns: int = 4) -> "Axes":
    """Draw charts side by side, in rows, and return the first of their axes.

    Where all of them have the same curves, one legend above serves all.
    """
    if not charts:
        raise CurvewiseError("There is no chart to draw. Pass at least one.")
    _, axes = draw_grid(charts, min(columns, len(charts)))
    if len(charts) > 1:
        _name_curves(charts, axes)
    return axes[0]


def draw_grid(
    charts: Sequence[Chart], columns: int, *, is_one_scale: bool = False
) -> tuple["Figure", list["Axes"]]:
    """Draw charts row by row in a new figure; panels of one scale name it once a row."""
    first = new_axes(columns, -(-len(charts) // columns))
    figure: Figure = first.figure  # type: ignore[assignment]  # never a SubFigure
    axes = list(figure.axes)
    for ax, chart in zip(axes, charts, strict=False):
        draw(chart, ax)
        if is_one_scale and not starts_row(ax):
            ax.set_ylabel("")
    for ax in axes[len(charts) :]:
        ax.remove()
    return figure, axes[: len(charts)]


def starts_row(ax: "Axes") -> bool:
    """Return whether axes are the first of their row of panels."""
    place = ax.get_subplotspec()
    return place is None or place.is_first_col()


def _name_curves(charts: Sequence[Chart], axes: Sequence["Axes"]) -> None:
    """Put legends where they cover nothing: one above all panels, or one below each."""
    most = max(({s.name for s in chart.named} for chart in charts), key=len)
    if _are_alike(charts) and all(s.name in most for c in charts for s in c.named):
        legend_above(axes)
        return
    below = [
        ax
        for ax, chart in zip(axes, charts, strict=True)
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
