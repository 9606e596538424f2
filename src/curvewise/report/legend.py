"""The legend above a chart: one button per name, which hides and shows its curves."""

from dataclasses import dataclass
from typing import Any

from curvewise.figures.series import Chart, looks
from curvewise.report.names import visible, visible_within

MANY = 12  # names of a legend that is scrolled
# Lengths of strokes and gaps, as in the chart.
_STROKES = {
    "solid": "",
    "dot": "2 2.5",
    "dash": "5 3",
    "longdash": "9 3.5",
    "dashdot": "6 2.5 2 2.5",
    "longdashdot": "10 2.5 2 2.5",
}


@dataclass(frozen=True, slots=True)
class Look:
    """How a curve is drawn."""

    colour: str
    dash: str
    is_area: bool  # a band without a curve

    @property
    def strokes(self) -> str:
        """Its dashes as SVG writes them; empty for none."""
        written = self.dash.replace("px", "").replace(",", " ")  # "2px,6px"
        return _STROKES.get(self.dash, written)


@dataclass(frozen=True, slots=True)
class Key:
    """One name of a legend.

    Parameters
    ----------
    name : str
    look : Look
    group : str
        What the traces of its curves are marked with.
    is_shown : bool
        Whether its curves are visible at first.
    """

    name: str
    look: Look
    group: str
    is_shown: bool


def with_legend(
    chart: Chart, figure: dict[str, Any], groups: dict[str, int]
) -> tuple[dict[str, Any], list[Key]]:
    """Return a figure whose curves are in numbered groups, and its legend.

    A name may be anything, also ten thousand letters, or "__proto__", which is no safe
    key in a script. Bars get the group of their curve, so that a click hides both.

    Parameters
    ----------
    chart : Chart
    figure : dict
        As `plotly_figure` makes it: a trace whose curve is hidden at first says so.
    groups : dict
        The number of each name on the page so far; new names are added.
    """

    def numbered(name: str) -> str:
        return f"g{groups.setdefault(name, len(groups))}"

    hidden = {t["legendgroup"] for t in figure["data"] if t.get("visible") is False}
    keys = {
        series.name: Key(
            series.name,
            Look(colour, dash, series.is_area),
            numbered(series.name),
            series.name not in hidden,
        )
        for series, colour, dash in looks(chart)
        if series.is_named
    }
    data = [
        t
        | {"legendgroup": numbered(t["legendgroup"])}
        | ({"name": visible(t["name"])} if "name" in t else {})
        for t in figure["data"]
    ]
    layout = visible_within(figure["layout"])
    if chart.bars:
        owners = iter(bar.label for bar in chart.bars)
        layout["shapes"] = [
            shape | {"legendgroup": numbered(next(owners))}
            if shape["type"] == "rect"
            else shape
            for shape in layout["shapes"]
        ]
    # What is shown stands first: a long legend shows its beginning only.
    legend = sorted(keys.values(), key=lambda key: not key.is_shown)
    return {"data": data, "layout": layout}, legend
