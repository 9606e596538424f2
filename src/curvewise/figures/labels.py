"""What axes say, and whose curve is which: labels, titles and legends."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from curvewise.figures.chart import LABEL, Chart, legend_names
from curvewise.figures.styles import LEAST, current

if TYPE_CHECKING:
    import matplotlib.artist
    import matplotlib.axes
    import matplotlib.figure

# By name: charts are made, and commands begin, without matplotlib.
Axes: TypeAlias = "matplotlib.axes.Axes"
Figure: TypeAlias = "matplotlib.figure.Figure"

_TITLE = 42  # letters in a line of a title
WIDE = 0.55  # of a letter, for its height


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
        fit = letters_along(ax, side)
        most = fit if most is None else min(fit, most)
    return literal(text) if most is None else textwrap.fill(literal(text), most)


def letters_along(ax: "Axes", side: Literal["x", "y"]) -> int:
    """Return about how many letters of a label fit along a side of the axes."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties

    place, box = ax.get_position(), ax.figure.bbox
    dots = place.width * box.width if side == "x" else place.height * box.height
    inches = dots / ax.figure.dpi
    points = FontProperties(size=mpl.rcParams["axes.labelsize"]).get_size_in_points()
    return max(int(1.1 * 72 * inches / (WIDE * points)), 12)


def literal(text: str) -> str:
    """Return a text as matplotlib is to show it, letter by letter."""
    # matplotlib takes $...$ for mathematics, and hides labels that begin with "_".
    text = text.replace("$", r"\$")
    return "\u200b" + text if text.startswith("_") else text


def apart(ax: "Axes", texts: Sequence[str], places: Sequence[float]) -> list[int]:
    """Return which ticks of an x axis are labelled: of those that meet, the first."""
    along = letters_along(ax, "x")
    kept: list[int] = []
    for i, text in enumerate(texts):
        is_free = all(
            abs(places[i] - places[k]) * along > (len(text) + len(texts[k])) / 2 + 1
            for k in kept
        )
        if is_free:
            kept.append(i)
    return kept


# --- Whose curve is which: legends where they cover nothing ----------------------------


_INSIDE, _PER_COLUMN = 8, 16  # names in a legend
_INSIDE_PAPER = 4  # names in one on paper, where axes are small
_LINES = 2  # of a legend above axes that these can do without


def draw_legend(chart: Chart, ax: "Axes") -> None:
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
        fontsize=letters("x-small" if entries > _INSIDE else "small"),
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
    return longest > 0.5 * letters_along(ax, "x")


def letters(size: str | float) -> float:
    """Return a size of letters in points, not too small to be read on paper."""
    from matplotlib.font_manager import FontProperties

    return max(float(FontProperties(size=size).get_size_in_points()), LEAST)


def legend_above(axes: Sequence["Axes"]) -> None:
    """Name the curves of several axes once, above all of them."""
    import matplotlib as mpl

    named: dict[str, matplotlib.artist.Artist] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
        if (legend := ax.get_legend()) is not None:
            legend.remove()
    if not named:
        return
    many = len(named) > _INSIDE
    size = letters("x-small" if many else mpl.rcParams["legend.fontsize"])
    figure = axes[0].figure
    width = figure.bbox.width / figure.dpi
    fits = [_in_one_line(name, size, width) for name in named]
    wide = max(_inches(name, size) for name in fits)
    rows = -(-len(named) // max(int(width / wide), 1))
    figure.legend(
        list(named.values()),
        fits,
        loc="outside upper center",
        fontsize=size,
        ncols=-(-len(named) // rows),
        frameon=False,
    )
    _make_room(axes[0], rows * max(name.count("\n") + 1 for name in fits), size)


def legends_below(axes: Sequence["Axes"]) -> None:
    """Name the curves of each of several axes below it, and let the figure grow."""
    import matplotlib as mpl
    from matplotlib.transforms import ScaledTranslation

    size = letters(mpl.rcParams["legend.fontsize"])
    lines: dict[int, int] = {}  # of the longest legend in a row of axes
    for ax in axes:
        names = ax.get_legend_handles_labels()[1]
        place = ax.get_subplotspec()
        row = 0 if place is None else place.rowspan.start
        own = sum(name.count("\n") + 1 for name in names)
        lines[row] = max(lines.get(row, 0), own)
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
    return (WIDE * max(map(len, name.split("\n"))) + 4) * size / 72


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
