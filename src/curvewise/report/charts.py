"""The Plotly drawer: charts in, figures as plain dicts out."""

import html
import textwrap
from typing import Any

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


def plotly_figure(chart: Chart) -> dict[str, Any]:
    """Return a chart as a Plotly figure: data and layout, ready for JSON."""
    names = legend_names(series.name for series in chart.named)
    data: list[dict[str, Any]] = []
    for series, colour, dash in looks(chart):
        name = _literal(names.get(series.name, series.name))
        group = {"legendgroup": _group(chart, series)}
        if series.has_band:
            data.append(group | _band(chart, series, name, colour))
        if series.is_dots:
            data.append(group | _dots(chart, series, name, colour))
        elif not series.is_area:
            data.append(group | _line(chart, series, name, colour, dash))
    layout: dict[str, Any] = {
        "xaxis": {
            "title": {"text": _literal(chart.x_label)},
            "zeroline": False,
            **_axis(chart),
        },
        "yaxis": {
            "title": {"text": _literal(textwrap.fill(chart.y_label, LABEL))},
            "zeroline": False,
            "automargin": True,
            **({"type": "log"} if chart.y_axis == "log" else {}),
        },
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "margin": {"l": 64, "r": 16, "t": 32, "b": 48},
        "modebar": {"bgcolor": "rgba(0,0,0,0)"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
    if chart.y_range is not None:
        is_log = chart.y_axis == "log"
        layout["yaxis"]["range"] = [
            float(np.log10(y)) if is_log else y for y in chart.y_range
        ]
    if (heights := y_ticks(chart)) is not None:
        layout["yaxis"]["tickvals"] = heights
    if chart.bars:
        low, high = _reach(chart) if chart.y_range is None else chart.y_range
        room = bar_height(max(bar.row for bar in chart.bars) + 1)[0]
        below = room / (1 - room) * (high - low)
        layout["yaxis"]["range"] = [low - below, high]
    if chart.marks or chart.bars or chart.level is not None:
        layout |= {"shapes": _shapes(chart), "annotations": _annotations(chart)}
    return {"data": data, "layout": layout}


_GREY = "rgba(127,127,127,0.8)"


def _axis(chart: Chart) -> dict[str, Any]:
    if chart.axis == "share":
        return {"range": [0, 1]}
    if chart.axis == "linear":
        return {}
    if chart.axis == "root":
        sizes = root_ticks(chart)
        at = _x(chart, np.array(sizes))
        return {"tickvals": at, "ticktext": [step(size) for size in sizes]}
    if (ticks := log_ticks(chart)) is None:
        return {"type": "log", "dtick": 1}
    # Written out: Plotly would write 20 as 2.
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{t:g}" for t in ticks]}


def _shapes(chart: Chart) -> list[dict[str, Any]]:
    """Return the lines at a chart's marks and level."""
    up = {"type": "line", "yref": "paper", "y0": 0, "y1": 1}
    dashed = {"color": _GREY, "width": 1, "dash": "dash"}
    at = [(_x(chart, np.array([m.x]))[0]) for m in chart.marks]
    lines = [up | {"x0": x, "x1": x, "line": dashed} for x in at]
    if chart.level is not None:
        across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1}
        line = {"color": _GREY, "width": 1}
        lines.append(across | {"y0": chart.level, "y1": chart.level, "line": line})
    for bar in chart.bars:
        bottom, top = bar_height(bar.row)
        colour, dash = style(bar.look)
        lines.append({
            "type": "rect", "yref": "paper", "y0": bottom, "y1": top,
            "x0": bar.first, "x1": bar.last,
            "line": {"width": 0 if dash == "solid" else 1, "color": colour},
            "fillcolor": colour if dash == "solid" else "rgba(0,0,0,0)",
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
    look = {"showarrow": False, "textangle": -90, "yref": "paper"}
    other = {"left": "right", "right": "left"}
    return [
        look
        | {
            # Of all that Plotly places, annotations alone want the logarithm.
            "x": np.log10(m.x)
            if chart.axis == "log"
            else _x(chart, np.array([m.x]))[0],
            "y": y,
            "yanchor": "top" if y > 0.5 else "bottom",
            "xanchor": other[side],
            "text": _literal(m.label),
        }
        for m, side, y in mark_places(chart)
    ]


def _group(chart: Chart, series: Series) -> str:
    """Return whom a curve belongs to: a click on a name hides what is behind it, too."""
    if not series.is_named and series.look is not None:
        return next((s.name for s in chart.named if s.look == series.look), series.name)
    return series.name


def _line(
    chart: Chart, series: Series, name: str, colour: str, dash: str
) -> dict[str, Any]:
    where = {"share": "%{x:.1%}", "root": "%{text}"}.get(chart.axis, "%{x:.4g}")
    opacity, width = 1.0, 3.0 if chart.faint else 2.0
    if series.is_faint:
        opacity, width = faint_look(chart)
    out: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines" if len(series.x) > 1 else "markers",
        "name": name,
        **_places(chart, series),
        "y": _numbers(series.y),
        "hovertemplate": f"%{{y:.4g}} at {where}",
        "showlegend": not series.is_faint,
        "opacity": opacity,
        "zorder": 1,  # no band dims the line of another
        "line": {
            "color": colour,
            "dash": dash,
            "shape": "hvh" if chart.shape == "step" else "linear",
            "width": width,
        },
    }
    if series.has_band:
        ends = zip(_numbers(series.lower), _numbers(series.upper), strict=True)
        out["customdata"] = list(ends)
        out["hovertemplate"] += "<br>band %{customdata[0]:.4g} to %{customdata[1]:.4g}"
    return out


def _dots(chart: Chart, series: Series, name: str, colour: str) -> dict[str, Any]:
    where = "%{text}" if chart.axis == "root" else "%{x:.4g}"
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        **_places(chart, series),
        "y": _numbers(series.y),
        "hovertemplate": f"%{{y:.4g}} at {where}",
        "showlegend": False,
        "zorder": 2,
        "marker": {
            "symbol": "circle-open",
            "color": colour,
            "size": 9,
            "line": {"width": 2},
        },
    }


def _places(chart: Chart, series: Series) -> dict[str, Any]:
    """Return where points lie: of many lines at even steps, the first and how far apart."""
    apart = np.diff(series.x)
    if (
        series.is_faint
        and len(apart)
        and np.allclose(apart, apart[0], rtol=1e-9, atol=0)
    ):
        return {"x0": float(series.x[0]), "dx": float(apart[0])}
    out: dict[str, Any] = {"x": _x(chart, series.x)}
    if chart.axis == "root":
        out["text"] = [step(float(f"{n:.4g}")) for n in series.x]
    return out


def _x(chart: Chart, x: Floats) -> list[float | None]:
    """Return where on its axis x is: Plotly takes care of a logarithmic one."""
    return _numbers(drawn_at(chart, x) if chart.axis == "root" else x)


def _band(chart: Chart, series: Series, name: str, colour: str) -> dict[str, Any]:
    inside = np.isfinite(series.lower) & np.isfinite(series.upper)
    x = np.concatenate([series.x[inside], series.x[inside][::-1]])
    y = np.concatenate([series.lower[inside], series.upper[inside][::-1]])
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name if series.is_area else f"{name}, band",
        "showlegend": series.is_area,
        "hoverinfo": "skip",
        "x": _x(chart, x),
        "y": _numbers(y),
        "fill": "toself",
        "fillcolor": _translucent(colour, band_opacity(chart)),
        "line": {"width": 0},
    }


def _literal(text: str) -> str:
    # Plotly takes some tags in names for mark-up.
    return html.escape(text, quote=False).replace("\n", "<br>")


def _numbers(values: Floats) -> list[float | None]:
    # Seven digits are more than a screen can show, and make the page a third smaller.
    return [float(f"{v:.7g}") if np.isfinite(v) else None for v in values]


def _translucent(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:.3g})"
