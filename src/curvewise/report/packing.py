"""Figures that say once what most of their curves share."""

from collections import Counter
from typing import Any

_LOOKS = ("line", "marker")


def packed(figure: dict[str, Any]) -> dict[str, Any]:
    """Return a figure that draws the same, with what most traces share in a template.

    The keys of traces, and words that all of them repeat, would be half of a page of many
    curves.

    Parameters
    ----------
    figure : dict
        As `plotly_figure` makes it: all traces are lines or markers.

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
    """Take from owners what most of them say, and return it; the others say their own.

    Parameters
    ----------
    owners : list of dict
    key : str
    unsaid : object, optional
        What it is for those that say nothing, and must not inherit.
    """
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
