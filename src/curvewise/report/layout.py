"""Where everything stands on the page: sections in, what the template needs out."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count as counting
from typing import Any

from markupsafe import Markup

from curvewise.figures.chart import Chart, Series, looks
from curvewise.figures.thinning import FINEST, tolerance_for
from curvewise.questions.section import Block, Group, Section
from curvewise.report.names import LETTERS, Names, visible, visible_within
from curvewise.report.plotly import caption_of, packed, plotly_figure
from curvewise.text import Cell, Row, columns, short_names, shown, step

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


# --------------------------------------------------------------------------------------
# Tables of the page: numbers to the right, text to the left, every name as it is.


_SHORT = 30  # letters that are kept on one line
LONG = 20  # rows of a table that is not scrolled

# Such as 12, -0.5, 50 %, 1,280, 8 to 447, 0.84 [0.67, 0.94], [?, 3], nan.
_NUMBER = re.compile(
    r"(?:nan|inf|to|e(?=[+-]?\d)|[\d\s.,%+\u2212<>≤≥±?()\[\]-])+", re.IGNORECASE
)


def html_table(
    rows: Sequence[Row], caption: str, names: Names, *, name: str = ""
) -> Markup:
    """Return rows as a table with a caption.

    Examples
    --------
    >>> print(html_table([{"a": "<b>", "n": 0.5}], "c", Names({})))
    <table><caption><span>c</span></caption><thead><tr><th scope="col" class="text">a</th>\
<th scope="col">n</th></tr></thead><tbody>
    <tr><th scope="row" class="text">&lt;b&gt;</th><td>0.5000</td></tr>
    </tbody></table>
    """
    heads = columns(rows)
    kinds = {head: _kind([row.get(head) for row in rows]) for head in heads}
    has_names = bool(heads) and bool(kinds[heads[0]])
    top = "".join(
        f'<th scope="col"{kinds[head]}>{names.said(head)}</th>' for head in heads
    )
    lines = [
        "".join(
            f'<th scope="row"{kind}>{names.said(shown(row.get(head)))}</th>'
            if has_names and head == heads[0]
            else f"<td{kind}>{names.said(shown(row.get(head)))}</td>"
            for head, kind in kinds.items()
        )
        for row in rows
    ]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    called = f' id="{name}"' if name else ""
    return Markup(  # noqa: S704  every text went through `Names.said`
        f"<table{called}><caption><span>{names.said(caption)}</span></caption>"
        f"<thead><tr>{top}</tr></thead><tbody>\n{body}\n</tbody></table>"
    )


def _kind(cells: Sequence[Cell]) -> str:
    """Return the class of a column; that of numbers needs none, since most are."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell]
    if all(_NUMBER.fullmatch(text) for text in texts):
        return ""
    is_short = max(map(len, texts)) <= _SHORT
    return ' class="text"' if is_short else ' class="long text"'


# --- Where everything stands on the page: sections in, what the template needs out -----


_OF_METRIC = re.compile(r"(.*\?) \((.*)\)", re.DOTALL)  # "How good is it? (accuracy)"
_OPEN = 3  # groups of a section that are all open; of more only the first is
_TOLD = 12  # names in the description of a chart
_PLACES = 5  # columns of the table of a chart that has none


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, ready to be drawn by the browser."""

    name: str
    title: str
    label: str
    caption: str
    axis: str
    legend: list[Key]
    figure: Markup


@dataclass(frozen=True, slots=True)
class Table:
    """A table, as HTML."""

    name: str
    caption: str
    rows: int
    html: Markup


@dataclass(frozen=True, slots=True)
class Part:
    """A block at its place."""

    heading: str
    level: int
    lines: list[str]
    picture: Picture | None
    table: Table | None


@dataclass(frozen=True, slots=True)
class Folder:
    """A group at its place; a folded one is opened by a click on its heading."""

    name: str
    heading: str
    brief: str
    is_folded: bool
    is_open: bool
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A section at its place."""

    name: str
    section: Section
    folders: list[Folder]

    @property
    def folded(self) -> int:
        """How many folders can be opened."""
        return sum(folder.is_folded for folder in self.folders)


def contents(chapters: Sequence[Chapter]) -> dict[str, list[tuple[str, str]]]:
    """Return each question, and where it is answered: for which metric, which chapter."""
    places: dict[str, list[tuple[str, str]]] = {}
    for chapter in chapters:
        parts = _OF_METRIC.fullmatch(chapter.section.question)
        question, metric = parts.groups() if parts else (chapter.section.question, "")
        places.setdefault(question, []).append((metric, chapter.name))
    return places


@dataclass
class Desk:
    """Puts sections in their places, and numbers what is on the page."""

    names: Names
    groups: dict[str, int] = field(default_factory=dict)
    looks: dict[Look, int] = field(default_factory=dict)
    has_charts: bool = False
    tolerance: float = FINEST  # by how much curves may be off, for all on the page
    _anchors: set[str] = field(default_factory=set)
    _numbers: Iterable[int] = field(default_factory=lambda: counting(1))

    def chapters(self, sections: Sequence[Section]) -> list[Chapter]:
        """Return the sections in their order."""
        blocks = [b for s in sections for group in s.groups for b in group.blocks]
        self.tolerance = tolerance_for(b.chart for b in blocks if b.chart is not None)
        return [self._chapter(section) for section in sections]

    def table(self, rows: Sequence[Row], caption: str) -> Table:
        """Return a table with a name of its own."""
        name = f"table-{self._next()}"
        html = html_table(rows, caption, self.names, name=name)
        return Table(name, caption, len(rows), html)

    def key(self, name: str) -> Markup:
        """Return a name as it stands in a legend, always apart from those beside it."""
        said = self.names.said(name)
        return said if said.startswith("<bdi") else Markup("<bdi>{}</bdi>").format(said)

    def _chapter(self, section: Section) -> Chapter:
        name = section.anchor
        while name in self._anchors:  # no two links may mean the same
            name += "-again"
        self._anchors.add(name)
        tasks = sum(bool(group.heading) for group in section.groups)
        folders: list[Folder] = []
        for group in section.groups:
            is_folded = tasks > _OPEN and bool(group.heading)
            is_open = not any(folder.is_folded for folder in folders)
            place = f"{name}-part-{len(folders)}"
            folders.append(self._folder(group, place, is_folded, is_open))
        return Chapter(name, section, folders)

    def _folder(
        self, group: Group, name: str, is_folded: bool, is_open: bool
    ) -> Folder:
        first = group.blocks[0].sentence.splitlines() if group.blocks else []
        return Folder(
            name=name,
            heading=group.heading,
            brief=first[0] if first else "",
            is_folded=is_folded,
            is_open=is_open,
            parts=[self._part(block, group.heading) for block in group.blocks],
        )

    def _part(self, block: Block, under: str) -> Part:
        rows: Sequence[Row] = block.table
        caption = block.caption or block.heading
        if block.chart is not None and not rows:
            rows = chart_rows(block.chart)
            caption = f"{block.chart.y_label}: {block.chart.title}"
        table = self.table(rows, caption) if rows else None
        picture = None
        if block.chart is not None:
            picture = self._picture(block.chart, table)
        heading = "" if block.heading == under else block.heading
        level = 4 if under else 3
        return Part(
            heading=heading,
            level=level,
            lines=block.sentence.splitlines(),
            picture=picture,
            table=table,
        )

    def _picture(self, chart: Chart, table: Table | None) -> Picture:
        self.has_charts = True
        drawn = packed(plotly_figure(chart, self.tolerance))
        figure, legend = with_legend(chart, drawn, self.groups)
        for entry in legend:
            self.looks.setdefault(entry.look, len(self.looks))
        return Picture(
            name=f"chart-{self._next()}",
            title=chart.title,
            label=_label(chart, table),
            caption=caption_of(chart, self.tolerance),
            axis=chart.axis,
            legend=legend,
            figure=script_json(figure),
        )

    def _next(self) -> int:
        return next(iter(self._numbers))


def script_json(value: object) -> Markup:
    """Return a value as JSON that may stand between script tags, whatever is in it."""
    # A name such as "</script>" must not end the script that holds it.
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704  no sign of HTML is left


def chart_rows(chart: Chart) -> list[dict[str, Cell]]:
    """Return the numbers of a chart at a few places, for one without a table."""
    longest = max(chart.named, key=lambda series: len(series.x), default=None)
    if longest is None or len(longest.x) == 0:
        return []
    last = len(longest.x) - 1
    places = sorted({round(i * last / (_PLACES - 1)) for i in range(_PLACES)})
    wanted = [float(longest.x[place]) for place in places]
    rows: list[dict[str, Cell]] = []
    for series in chart.named:
        known = {float(x): place for place, x in enumerate(series.x)}
        row: dict[str, Cell] = {"curve": series.name}
        for x in wanted:
            row[f"at {step(x)}"] = _told(series, known[x]) if x in known else ""
        rows.append(row)
    return rows


def _told(series: Series, place: int) -> str:
    ends = [float(values[place]) for values in (series.lower, series.upper)]
    band = "" if ends[0] != ends[0] else f" [{shown(ends[0], 3)}, {shown(ends[1], 3)}]"
    return shown(float(series.y[place])) + band


def _label(chart: Chart, table: Table | None) -> str:
    """Return what a chart shows, for those who do not see it."""
    names = dict.fromkeys(series.name for series in chart.named)
    short = list(short_names(names, LETTERS).values())
    curves = ", ".join(short[:_TOLD])
    more = f" and {len(short) - _TOLD} more" if len(short) > _TOLD else ""
    where = f" The numbers are in the table: {table.caption}." if table else ""
    title = " ".join(chart.title.split())
    axes = f"{chart.y_label}, by {chart.x_label}"
    return visible(f"Chart. {title}: {axes}; {curves}{more}.{where}")
