"""The matplotlib drawer: charts in, axes out. Nothing else imports matplotlib."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.figures.chart import (
    LABEL,
    Chart,
    Series,
    band_opacity,
    bar_height,
    colour_and_dash,
    drawn_at,
    faint_look,
    legend_names,
    log_ticks,
    looks,
    mark_places,
    root_ticks,
    y_ticks,
)
from curvewise.figures.styles import LEAST, current
from curvewise.metrics import Floats
from curvewise.text import step

if TYPE_CHECKING:
    import matplotlib.artist
    import matplotlib.axes
    import matplotlib.figure

# By name: charts are made, and commands begin, without matplotlib.
Axes: TypeAlias = "matplotlib.axes.Axes"
Figure: TypeAlias = "matplotlib.figure.Figure"


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
    apart = _apart(ax, texts, ((at - at.min()) / span).tolist())
    ax.set_xticks(at, [text if i in apart else "" for i, text in enumerate(texts)])


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
        colour, dash = colour_and_dash(bar.look)
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


_INSIDE_PANEL = 2  # names in a legend that finds a place among the curves of a panel


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
        if len(chart.named) > _INSIDE_PANEL and ax.get_legend() is not None
    ]
    if below:
        _legends_below(below)


def _are_alike(charts: Sequence[Chart]) -> bool:
    """Return whether a name has the same look in all charts."""
    styles: dict[str, tuple[str, str]] = {}
    return all(
        styles.setdefault(series.name, (colour, dash)) == (colour, dash)
        for chart in charts
        for series, colour, dash in looks(chart)
        if series.is_named
    )


# --- What axes say: labels and titles --------------------------------------------------


_TITLE = 42  # letters in a line of a title
_WIDE = 0.55  # of a letter, for its height


def name_axes(ax: "Axes", x_label: str, y_label: str, title: str) -> None:
    """Give axes their labels, broken where they would be cut, and their title.

    A paper has a caption instead of a title, unless titles tell panels apart.
    """
    ax.set_xlabel(_broken(x_label, ax, "x", None))
    ax.set_ylabel(_broken(y_label, ax, "y", LABEL))
    if current().has_title or len(ax.figure.axes) > 1:
        title_axes(ax, title)


def title_axes(ax: "Axes", title: str) -> None:
    """Give axes a title, broken where it would be cut."""
    ax.set_title(_broken(title, ax, "x", _TITLE))


def _broken(text: str, ax: "Axes", side: Literal["x", "y"], most: int | None) -> str:
    """Return a text in lines as long as the axes, in styles that measure them."""
    if current().is_measured:
        fit = _letters_along(ax, side)
        most = fit if most is None else min(fit, most)
    return literal(text) if most is None else textwrap.fill(literal(text), most)


def _letters_along(ax: "Axes", side: Literal["x", "y"]) -> int:
    """Return about how many letters of a label fit along a side of the axes."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties

    place, box = ax.get_position(), ax.figure.bbox
    dots = place.width * box.width if side == "x" else place.height * box.height
    inches = dots / ax.figure.dpi
    points = FontProperties(size=mpl.rcParams["axes.labelsize"]).get_size_in_points()
    return max(int(1.1 * 72 * inches / (_WIDE * points)), 12)


def literal(text: str) -> str:
    """Return a text as matplotlib is to show it, letter by letter."""
    # matplotlib takes $...$ for mathematics, and hides labels that begin with "_".
    text = text.replace("$", r"\$")
    return "\u200b" + text if text.startswith("_") else text


def _apart(ax: "Axes", texts: Sequence[str], places: Sequence[float]) -> list[int]:
    """Return which ticks of an x axis are labelled: of those that meet, the first."""
    along = _letters_along(ax, "x")
    apart: list[int] = []
    for i, text in enumerate(texts):
        is_free = all(
            abs(places[i] - places[k]) * along > (len(text) + len(texts[k])) / 2 + 1
            for k in apart
        )
        if is_free:
            apart.append(i)
    return apart


# --- Whose curve is which: legends where they cover nothing ----------------------------


_INSIDE, _PER_COLUMN = 8, 16  # names in a legend
_INSIDE_PAPER = 4  # names in one on paper, where axes are small
_LINES = 2  # of a legend above axes that these can do without


def _draw_legend(chart: Chart, ax: "Axes") -> None:
    """Name the curves of a chart: inside of the axes, beside or above them."""
    entries = len(chart.named)
    if is_alone(ax):
        names = legend_names(series.name for series in chart.named)
        if chart.is_crowded or entries > _INSIDE_PAPER or _is_long(names, ax):
            legend_above([ax])
            return
    if entries <= _INSIDE and not chart.is_crowded:
        # Where no place is free, it is read all the same.
        ax.legend(edgecolor="none", framealpha=0.7)
        return
    # Many names would cover the curves; beside the axes they take columns of their own.
    ax.legend(
        frameon=False,
        fontsize=_letters("x-small" if entries > _INSIDE else "small"),
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        ncols=-(-entries // _PER_COLUMN),
    )


def is_alone(ax: "Axes") -> bool:
    """Return whether there is room above axes that a style measures, and no others."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    engine = ax.figure.get_layout_engine()
    is_laid_out = isinstance(engine, ConstrainedLayoutEngine)
    return current().is_measured and is_laid_out and len(ax.figure.axes) == 1


def _is_long(names: dict[str, str], ax: "Axes") -> bool:
    """Return whether a legend within the axes would be nearly as wide as they are."""
    longest = max(
        (len(line) for n in names.values() for line in n.split("\n")), default=0
    )
    return longest > 0.5 * _letters_along(ax, "x")


def _letters(size: str | float) -> float:
    """Return a size of letters in points, not too small to be read on paper."""
    from matplotlib.font_manager import FontProperties

    return max(float(FontProperties(size=size).get_size_in_points()), LEAST)


def legend_above(axes: Sequence["Axes"]) -> None:
    """Name the curves of several axes once, above all of them."""
    import matplotlib as mpl

    handles: dict[str, matplotlib.artist.Artist] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
        if (legend := ax.get_legend()) is not None:
            legend.remove()
    if not handles:
        return
    many = len(handles) > _INSIDE
    size = _letters("x-small" if many else mpl.rcParams["legend.fontsize"])
    figure = axes[0].figure
    width = figure.bbox.width / figure.dpi
    fits = [_in_one_line(name, size, width) for name in handles]
    wide = max(_inches(name, size) for name in fits)
    rows = -(-len(handles) // max(int(width / wide), 1))
    figure.legend(
        list(handles.values()),
        fits,
        loc="outside upper center",
        fontsize=size,
        ncols=-(-len(handles) // rows),
        frameon=False,
    )
    _make_room(axes[0], rows * max(name.count("\n") + 1 for name in fits), size)


def _legends_below(axes: Sequence["Axes"]) -> None:
    """Name the curves of each of several axes below it, and let the figure grow."""
    import matplotlib as mpl
    from matplotlib.transforms import ScaledTranslation

    size = _letters(mpl.rcParams["legend.fontsize"])
    lines: dict[int, int] = {}  # of the longest legend in a row of axes
    for ax in axes:
        names = ax.get_legend_handles_labels()[1]
        place = ax.get_subplotspec()
        row = 0 if place is None else place.rowspan.start
        height = sum(name.count("\n") + 1 for name in names)
        lines[row] = max(lines.get(row, 0), height)
        figure = ax.figure
        # Ticks and the axis' label are in between: about three lines of letters.
        lower = ScaledTranslation(0, -3.2 * size / 72, figure.dpi_scale_trans)
        ax.legend(
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            bbox_transform=ax.transAxes + lower,
            fontsize=size,
            frameon=False,
        )
    _make_room(axes[0], sum(lines.values()), size)


def _in_one_line(name: str, size: float, width: float) -> str:
    """Return a name that was broken in one line, if there is room for it above."""
    whole = name.replace("\n", " ")
    return whole if _inches(whole, size) <= width else name


def _inches(name: str, size: float) -> float:
    """Return about how wide a name is with the sample of its line."""
    return (_WIDE * max(map(len, name.split("\n"))) + 4) * size / 72


def _make_room(ax: "Axes", lines: int, size: float) -> None:
    """Let a figure grow by a legend of many lines, which would squeeze the axes."""
    from matplotlib.figure import Figure

    figure = ax.figure
    if lines > _LINES and current().grows and isinstance(figure, Figure):
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height + (lines - _LINES) * 1.3 * size / 72)


def one_legend(axes: Sequence["Axes"], keep: "Axes") -> None:
    """Leave one legend to panels of the same curves: that of `keep`, or one above all."""
    if current().is_measured:
        legend_above(axes)
        return
    for ax in axes:
        if ax is not keep and (legend := ax.get_legend()) is not None:
            legend.remove()
