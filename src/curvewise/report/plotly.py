"""The Plotly drawer: charts in, small figures as plain dicts out."""

import base64
import html
import textwrap
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

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
from curvewise.figures.thinning import Outline, height_of, joined, thinned, whole
from curvewise.metrics import Floats
from curvewise.text import percent, step

_ALL, _LEADERS = 10, 8  # names that a chart shows at first, and those of one with more
_TOLD = 1 / 500  # of the height of a chart: what is off by more says so


def shown_names(chart: Chart) -> frozenset[str]:
    """Return the names whose curves are shown at first: all, or those of the leaders."""
    names = [series.name for series in chart.named]
    if len(names) <= _ALL:
        return frozenset(names)
    return frozenset((chart.leaders or tuple(names))[:_LEADERS])


def caption_of(chart: Chart, tolerance: float = 0.0) -> str:
    """Return what a chart shows on the page, and what it does not."""
    parts = [chart.caption]
    if (n := len(shown_names(chart))) < len(chart.named):
        which = "the best of them" if chart.leaders else "the first"
        parts.append(
            f"Shown are {n} of {len(chart.named)}, {which}; click a name for another."
        )
    if tolerance > _TOLD:
        share = percent(float(f"{tolerance:.1g}"))
        parts.append(
            f"Among so many curves each is drawn to within {share} of the height of the "
            f"chart, and bands no narrower than they are."
        )
    return " ".join(parts)


def plotly_figure(chart: Chart, tolerance: float | None = None) -> dict[str, Any]:
    """Return a chart as a Plotly figure: data and layout, ready for JSON."""
    names = legend_names(series.name for series in chart.named)
    hidden = {series.name for series in chart.named} - shown_names(chart)
    seen = [one for one in chart.series if _group(chart, one) not in hidden]
    opacity = band_opacity(replace(chart, series=tuple(seen)))
    height = height_of(chart, seen)
    data: list[dict[str, Any]] = []
    for series, colour, dash in looks(chart):
        name = _literal(names.get(series.name, series.name))
        own: dict[str, Any] = {"legendgroup": _group(chart, series)}
        if own["legendgroup"] in hidden:
            own["visible"] = False
        line = (
            whole(chart, series)
            if tolerance is None
            else thinned(chart, series, tolerance, height)
        )
        if series.has_band:
            fill = _translucent(colour, opacity)
            data.append(own | _band(chart, series, line, name, fill))
        if series.is_dots:
            data.append(own | _dots(chart, series, name, colour))
        elif not series.is_area:
            data.append(own | _line(chart, series, line, name, colour, dash))
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
        "hoverdistance": 30,  # pixels: on straight stretches points are twice as far apart
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
        at = _x(chart, np.array(sizes)).tolist()
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
        colour, dash = colour_and_dash(bar.look)
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
    chart: Chart, series: Series, line: Outline, name: str, colour: str, dash: str
) -> dict[str, Any]:
    look = {"color": colour, "dash": dash, "shape": line.shape}
    out: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines" if len(series.x) > 1 else "markers",
        "name": name,
        "hovertemplate": f"%{{y:.4g}} at {_where(chart, series)}",
        "showlegend": not series.is_faint,
        "zorder": 1,  # no band dims the line of another
    }
    if series.is_faint:
        opacity, width = faint_look(chart)
        out |= _faint_places(chart, series, line) | {"opacity": opacity}
    else:
        width = 3.0 if chart.faint else 2.0
        out |= _places(chart, line.x) | {"y": typed(line.y)}
    out["line"] = look | {"width": width}
    if series.has_band:
        out["customdata"] = typed(np.column_stack([line.lower, line.upper]))
        out["hovertemplate"] += "<br>band %{customdata[0]:.4g} to %{customdata[1]:.4g}"
    return out


def _dots(chart: Chart, series: Series, name: str, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        **_places(chart, series.x),
        "y": typed(series.y),
        "hovertemplate": f"%{{y:.4g}} at {_where(chart, series)}",
        "showlegend": False,
        "zorder": 2,
        "marker": {
            "symbol": "circle-open",
            "color": colour,
            "size": 9,
            "line": {"width": 2},
        },
    }


def _where(chart: Chart, series: Series) -> str:
    """Return how a pointer tells x: steps and sizes in full."""
    if chart.axis in ("share", "root"):
        return {"share": "%{x:.1%}", "root": "%{text}"}[chart.axis]
    is_whole = (series.x == np.rint(series.x)).all()
    return "%{x:,}" if is_whole else "%{x:.4g}"


def _faint_places(chart: Chart, series: Series, line: Outline) -> dict[str, Any]:
    """Return a line of many: at even steps, it may be shorter to name all its heights."""
    apart = np.diff(series.x)
    is_even = len(apart) and np.allclose(apart, apart[0], rtol=1e-9, atol=0)
    is_plain = chart.axis != "root" and chart.shape == "line"
    if is_even and is_plain and len(series.y) <= 2 * len(line.y):
        first, step_by = float(series.x[0]), float(apart[0])
        return {"x0": first, "dx": step_by, "y": typed(series.y)}
    return {**_places(chart, line.x), "y": typed(line.y)}


def _places(chart: Chart, x: Floats) -> dict[str, Any]:
    """Return where points lie."""
    out: dict[str, Any] = {"x": typed(_x(chart, x))}
    if chart.axis == "root":
        out["text"] = [step(float(f"{n:.4g}")) for n in x]
    return out


def _x(chart: Chart, x: Floats) -> Floats:
    """Return where on its axis x is: Plotly takes care of a logarithmic one."""
    return drawn_at(chart, x) if chart.axis == "root" else x


def _band(
    chart: Chart, series: Series, line: Outline, name: str, fill: str
) -> dict[str, Any]:
    x, y = joined(line.band)
    return {
        "type": "scatter",
        "mode": "lines",
        **({"name": name} if series.is_area else {}),
        "showlegend": series.is_area,
        "hoverinfo": "skip",
        "x": typed(_x(chart, x)),
        "y": typed(y),
        "fill": "toself",
        "fillcolor": fill,
        "line": {"width": 0, "shape": line.band_shape},
    }


def _literal(text: str) -> str:
    # Plotly takes some tags in names for mark-up.
    return html.escape(text, quote=False).replace("\n", "<br>")


def _translucent(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:.3g})"


# --- Figures that say once what most of their curves share -----------------------------


_LOOKS = ("line", "marker")


def packed(figure: dict[str, Any]) -> dict[str, Any]:
    """Return a figure that draws the same, with what most traces share in a template.

    The keys of traces, and words that all of them repeat, would be half of a page of many
    curves.

    Examples
    --------
    >>> lines = [{"type": "scatter", "mode": "lines", "name": name} for name in "ab"]
    >>> packed({"data": lines, "layout": {}})["data"]
    [{'name': 'a'}, {'name': 'b'}]
    """
    data = [
        {key: dict(v) if key in _LOOKS else v for key, v in trace.items()}
        for trace in figure["data"]
    ]
    for trace in data:
        trace.pop("type")  # "scatter" is what has no type
    # What a pointer skips tells it nothing, whatever it inherits.
    pointed = [trace for trace in data if "hoverinfo" not in trace]
    lines = [trace["line"] for trace in data if "line" in trace]
    template = {
        **_taken(data, "mode"),
        **_taken(data, "zorder", unsaid=0),
        **_taken(pointed, "hovertemplate", unsaid=""),
        "line": {**_taken(lines, "width"), **_taken(lines, "shape")},
    }
    dots = [trace["marker"] for trace in data if "marker" in trace]
    if len(dots) == sum("markers" in t["mode"] for t in figure["data"]):
        template["marker"] = {
            key: _taken(dots, key)[key] for key in ("symbol", "size", "line") if dots
        }
    layout = figure["layout"] | {"template": {"data": {"scatter": [template]}}}
    return {"data": data, "layout": layout}


def _taken(
    owners: list[dict[str, Any]], key: str, unsaid: Any = None
) -> dict[str, Any]:
    """Take from owners what most of them say, and return it; the others say their own."""
    said = [one[key] for one in owners if key in one]
    if not said:
        return {}
    usual, _ = Counter(map(repr, said)).most_common(1)[0]
    value = next(one for one in said if repr(one) == usual)
    for one in owners:
        if one.get(key, unsaid) == value:
            one.pop(key, None)
        elif key not in one and unsaid is not None:
            one[key] = unsaid
    return {key: value}


# --------------------------------------------------------------------------------------
# Numbers as a page keeps them: the bytes of an array, which Plotly reads as they are.


_CLOSE = 1e-6  # how far off a number may be, of itself
_APART = 1e-4  # and of how far apart the numbers are, which a screen does not show


def typed(values: Floats) -> dict[str, Any]:
    """Return numbers as bytes in base64: half as long as digits, and NaN may be among them.

    Four bytes hold seven digits, more than a screen can show. Numbers that differ only
    beyond these, such as steps around a hundred million, get eight.

    Examples
    --------
    >>> typed(np.array([0.5, 1.0]))
    {'dtype': 'f4', 'bdata': 'AAAAPwAAgD8='}
    >>> typed(np.array([1e8, 1e8 + 1]))["dtype"]
    'f8'
    """
    # Browsers read the lowest byte first, whatever this machine does.
    kind = "f4" if _is_short(values) else "f8"
    data = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    out = {"dtype": kind, "bdata": base64.b64encode(data).decode("ascii")}
    if values.ndim > 1:
        out["shape"] = ", ".join(map(str, values.shape))
    return out


def _is_short(values: Floats) -> bool:
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return True
    with np.errstate(over="ignore"):
        off = np.abs(known.astype(np.float32).astype(np.float64) - known)
    if not off.any():
        return True
    if (known == np.rint(known)).all():  # steps are whole numbers, and read as such
        return False
    apart = np.ptp(known) or np.inf
    return bool((off <= np.minimum(_CLOSE * np.abs(known), _APART * apart)).all())
