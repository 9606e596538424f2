"""Where everything stands on the page: sections in, what the template needs out."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count as counting

from markupsafe import Markup

from curvewise._text import Cell, Row, short_names, shown, step
from curvewise.figures.series import Chart, Series
from curvewise.figures.thinning import FINEST, tolerance_for
from curvewise.report.charts import caption_of, plotly_figure
from curvewise.report.legend import Key, Look, with_legend
from curvewise.report.names import LETTERS, Names, visible
from curvewise.report.packing import packed
from curvewise.report.sections import Block, Group, Section
from curvewise.report.tables import html_table

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


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the contents: a question, and where it is answered for which metric."""

    question: str
    places: list[tuple[str, str]]  # what of it, and the name of its chapter


def contents(chapters: Sequence[Chapter]) -> list[Entry]:
    """Return the contents: a question that is asked of several metrics is one line."""
    found: dict[str, list[tuple[str, str]]] = {}
    for chapter in chapters:
        parts = _OF_METRIC.fullmatch(chapter.section.question)
        stem, of = parts.groups() if parts else (chapter.section.question, "")
        found.setdefault(stem, []).append((of, chapter.name))
    return [Entry(stem, places) for stem, places in found.items()]


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
            name,
            group.heading,
            first[0] if first else "",
            is_folded,
            is_open,
            [self._part(block, group.heading) for block in group.blocks],
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
        return Part(heading, level, block.sentence.splitlines(), picture, table)

    def _picture(self, chart: Chart, table: Table | None) -> Picture:
        self.has_charts = True
        drawn = packed(plotly_figure(chart, self.tolerance))
        figure, legend = with_legend(chart, drawn, self.groups)
        for entry in legend:
            self.looks.setdefault(entry.look, len(self.looks))
        return Picture(
            f"chart-{self._next()}",
            chart.title,
            _label(chart, table),
            caption_of(chart, self.tolerance),
            chart.axis,
            legend,
            script_json(figure),
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
    told = ", ".join(short[:_TOLD])
    more = f" and {len(short) - _TOLD} more" if len(short) > _TOLD else ""
    where = f" The numbers are in the table: {table.caption}." if table else ""
    title = " ".join(chart.title.split())
    axes = f"{chart.y_label}, by {chart.x_label}"
    return visible(f"Chart. {title}: {axes}; {told}{more}.{where}")
