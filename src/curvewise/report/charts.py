"""The Plotly drawer: charts in, figures as plain dicts out."""

import html
from typing import Any

import numpy as np

from curvewise.figures.series import Chart, Series, style
from curvewise.metrics import Floats


def plotly_figure(chart: Chart) -> dict[str, Any]:
    """Return a chart as a Plotly figure: data and layout, ready for JSON."""
    data: list[dict[str, Any]] = []
    for i, series in enumerate(chart.series):
        colour, dash = style(i)
        data += [_band(series, colour), _line(series, colour, dash)]
    layout = {
        "xaxis": {
            "title": {"text": _literal(chart.x_label)},
            "range": [0, 1],
            "zeroline": False,
        },
        "yaxis": {"title": {"text": _literal(chart.y_label)}, "zeroline": False},
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "margin": {"l": 64, "r": 16, "t": 32, "b": 48},
        "modebar": {"bgcolor": "rgba(0,0,0,0)"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
    return {"data": data, "layout": layout}


def _line(series: Series, colour: str, dash: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": _literal(series.name),
        "legendgroup": series.name,
        "x": _numbers(series.x),
        "y": _numbers(series.y),
        "customdata": list(
            zip(_numbers(series.lower), _numbers(series.upper), strict=True)
        ),
        "hovertemplate": "%{y:.4g} at %{x:.1%}<br>band %{customdata[0]:.4g} to "
        "%{customdata[1]:.4g}",
        "line": {"color": colour, "dash": dash, "shape": "hvh", "width": 2},
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
