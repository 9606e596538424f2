"""What axes say: labels and titles as long as there is room for."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from curvewise.figures.series import LABEL
from curvewise.figures.styles import current

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    """Return which ticks of an x axis are labelled: of those that meet, the first.

    Parameters
    ----------
    ax : Axes
    texts : sequence of str
        Their labels; what matters most comes first.
    places : sequence of float
        Where along the axis they are, from 0 to 1.
    """
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
