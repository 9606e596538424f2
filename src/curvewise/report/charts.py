"""The Plotly drawer: charts in, figures as plain dicts out."""

import html
from typing import Any

import numpy as np

from curvewise.figures.series import Chart, Series, bar_height, looks, style
from curvewise.metrics import Floats


def plotly_figure(chart: Chart) -> dict[str, Any]:
    """Return a chart as a Plotly figure: data and layout, ready for JSON."""
    data: list[dict[str, Any]] = []
    for series, colour, dash in looks(chart):
        if not series.is_faint:
            data.append(_band(series, colour))
        data.append(_line(chart, series, colour, dash))
    layout: dict[str, Any] = {
        "xaxis": {
            "title": {"text": _literal(chart.x_label)},
            "zeroline": False,
            **_AXES[chart.axis],
        },
        "yaxis": {"title": {"text": _literal(chart.y_label)}, "zeroline": False},
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "margin": {"l": 64, "r": 16, "t": 32, "b": 48},
        "modebar": {"bgcolor": "rgba(0,0,0,0)"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
    if chart.bars:
        low, high = _reach(chart)
        room = bar_height(max(bar.row for bar in chart.bars) + 1)[0]
        below = room / (1 - room) * (high - low)
        layout["yaxis"]["range"] = [low - below, high]
    if chart.marks or chart.bars or chart.level is not None:
        layout |= {"shapes": _shapes(chart), "annotations": _annotations(chart)}
    return {"data": data, "layout": layout}


_AXES: dict[str, dict[str, Any]] = {
    "share": {"range": [0, 1]},
    "linear": {},
    "log": {"type": "log", "dtick": 1},
}
_GREY = "rgba(127,127,127,0.8)"


def _shapes(chart: Chart) -> list[dict[str, Any]]:
    """Return the lines at a chart's marks and level."""
    up = {"type": "line", "yref": "paper", "y0": 0, "y1": 1}
    dashed = {"color": _GREY, "width": 1, "dash": "dash"}
    lines = [up | {"x0": m.x, "x1": m.x, "line": dashed} for m in chart.marks]
    if chart.level is not None:
        across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1}
        line = {"color": _GREY, "width": 1}
        lines.append(across | {"y0": chart.level, "y1": chart.level, "line": line})
    for bar in chart.bars:
        bottom, top = bar_height(bar.row)
        lines.append({
            "type": "rect", "yref": "paper", "y0": bottom, "y1": top,
            "x0": bar.first, "x1": bar.last, "line": {"width": 0},
            "fillcolor": style(bar.look)[0],
        })  # fmt: skip
    return lines


def _reach(chart: Chart) -> tuple[float, float]:
    """Return from where to where the curves and bands of a chart go, and a bit more."""
    ends = [v for s in chart.series for v in (s.y, s.lower, s.upper)]
    seen = np.concatenate([*ends, [] if chart.level is None else [chart.level]])
    low, high = float(np.nanmin(seen)), float(np.nanmax(seen))
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def _annotations(chart: Chart) -> list[dict[str, Any]]:
    place = {"yref": "paper", "y": 1, "yanchor": "top", "xanchor": "right"}
    look = {"showarrow": False, "textangle": -90}
    return [place | look | {"x": m.x, "text": _literal(m.label)} for m in chart.marks]


def _line(chart: Chart, series: Series, colour: str, dash: str) -> dict[str, Any]:
    where = "%{x:.1%}" if chart.axis == "share" else "%{x:.4g}"
    has_band = bool(np.isfinite(series.lower).any())
    band = "<br>band %{customdata[0]:.4g} to %{customdata[1]:.4g}" if has_band else ""
    return {
        "type": "scatter",
        "mode": "lines" if len(series.x) > 1 else "markers",
        "name": _literal(series.name),
        "legendgroup": series.name,
        "x": _numbers(series.x),
        "y": _numbers(series.y),
        "customdata": list(
            zip(_numbers(series.lower), _numbers(series.upper), strict=True)
        ),
        "hovertemplate": f"%{{y:.4g}} at {where}{band}",
        "showlegend": not series.is_faint,
        "opacity": 0.35 if series.is_faint else 1,
        "line": {
            "color": colour,
            "dash": dash,
            "shape": "hvh" if chart.shape == "step" else "linear",
            "width": 0.8 if series.is_faint else 2,
        },
    }


def _band(series: Series, colour: str) -> dict[str, Any]:
    inside = np.isfinite(series.lower) & np.isfinite(series.upper)
    x = np.concatenate([series.x[inside], series.x[inside][::-1]])
    y = np.concatenate([series.lower[inside], series.upper[inside][::-1]])
    return {
        "type": "scatter",
        "mode": "lines",
        "name": _literal(f"{series.name}, band"),
        "legendgroup": series.name,
        "showlegend": False,
        "hoverinfo": "skip",
        "x": _numbers(x),
        "y": _numbers(y),
        "fill": "toself",
        "fillcolor": _translucent(colour),
        "line": {"width": 0},
    }


def _literal(text: str) -> str:
    # Plotly takes some tags in names for mark-up.
    return html.escape(text, quote=False)


def _numbers(values: Floats) -> list[float | None]:
    # Seven digits are more than a screen can show, and make the page a third smaller.
    return [float(f"{v:.7g}") if np.isfinite(v) else None for v in values]


def _translucent(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.15)"
