"""Tables and numbers as text: plain, Markdown, HTML."""

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple, TypeAlias

Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = Mapping[str, Cell]

LETTERS = 40  # of a name in a sentence


def shown(value: Cell, digits: int = 4) -> str:
    """Return a cell as people write it: four digits that matter, no trailing noise.

    >>> shown(0.123456), shown(1234.5678), shown(7), shown(None), shown(float("nan"))
    ('0.1235', '1235', '7', '', 'nan')
    >>> shown(123456789.0), shown(5.1322e14)
    ('123456789', '5.132e+14')
    """
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if size == 0 or 1e-3 <= size < 1:
        return f"{value:.{digits}f}"
    return (
        f"{value:.{digits}g}" if size < 1e-3 or size >= 1e9 else _rounded(value, digits)
    )


def _rounded(value: float, digits: int) -> str:
    # The exponent after rounding: 9.9999 is shown as 10.00, not as 10.000.
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    places = max(0, digits - 1 - exponent)
    return f"{value:.{places}f}"


def step(at: float) -> str:
    """Return a step of training as people write it.

    >>> step(3_000_000.0), step(54916.666), step(0.25), step(2999999.6)
    ('3,000,000', '54,916.7', '0.25', '3,000,000')
    """
    if at == round(at):
        return f"{at:,.15g}"
    return f"{at:,.6g}" if abs(at) < 1e5 else f"{at:,.0f}"


def percent(share: float) -> str:
    """Return a share as percent, without rounding it to 100.

    >>> percent(0.5), percent(0.999)
    ('50 %', '99.9 %')
    """
    return f"{round(100 * share, 6):g} %"


def count(n: int, noun: str) -> str:
    """Return a number with its noun in singular or plural.

    >>> count(1, "trial"), count(3_000_000, "trial"), count(2, "way")
    ('1 trial', '3,000,000 trials', '2 ways')
    """
    changes = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    plural = noun[:-1] + "ies" if changes else noun + "s"
    return f"{n:,} {noun if n == 1 else plural}"


def joined(parts: Sequence[str], word: str = "and") -> str:
    """Return parts of a sentence in a row.

    >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    *first, last = parts
    return f"{', '.join(first)} {word} {last}" if first else last


def some(things: Iterable[object], most: int = 4) -> str:
    """Return things joined, cut after `most` of them.

    >>> some([1, 2, 3], most=2)
    '1, 2 and 1 more'
    """
    texts = [str(t) for t in things]
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def short_names(names: Iterable[str], most: int = LETTERS) -> dict[str, str]:
    """Return names of about so many letters at most, and no two of them alike.

    A name that is too long loses its end, its middle, or what it has in common with
    others, whichever is the first that tells it from them.

    >>> short_names(["a long name", "b"], 10)
    {'a long name': 'a long na…', 'b': 'b'}
    >>> list(short_names(["network of 64 units", "network of 128 units"], 12).values())
    ['…64 units', '…128 units']
    >>> list(short_names(["a long name, one", "a long name, two"], 10).values())
    ['a lon… one', 'a lon… two']
    """
    one_line = {name: " ".join(name.split()) for name in names}
    told = _told_apart(list(dict.fromkeys(one_line.values())), most)
    return {name: told[text] for name, text in one_line.items()}


def _told_apart(names: list[str], most: int) -> dict[str, str]:
    for shortened in (_without_end, _without_middle):
        out = {name: shortened(name, most) for name in names}
        if len(set(out.values())) == len(names):
            return out
    by_cut: dict[str, list[str]] = {}
    for name in names:
        by_cut.setdefault(_without_end(name, most), []).append(name)
    out = {}
    for cut, own in by_cut.items():
        if len(own) == 1:
            out[own[0]] = cut
            continue
        # They begin alike, for longer than may be shown: that is what is left out.
        ends = zip(min(own), max(own), strict=False)
        shared = sum(1 for _ in takewhile(lambda two: two[0] == two[1], ends))
        rest = _told_apart([name[shared:] for name in own], most)
        out |= {name: f"…{rest[name[shared:]]}" for name in own}
    return out


def _without_end(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _without_middle(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    first = most // 2
    return f"{name[:first]}…{name[first + 1 - most :]}"


def columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns of `rows` in order of first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def plain(rows: Sequence[Row], *, indent: str = "") -> str:
    """Return `rows` as an aligned table; text to the left, numbers to the right.

    >>> print(plain([{"a": "x", "n": 1}, {"a": "long", "n": 20}]))
    a      n
    x      1
    long  20
    """
    names = columns(rows)
    head = [_on_one_line(name) for name in names]
    cells = [[_on_one_line(shown(row.get(name))) for name in names] for row in rows]
    widths = [max(len(line[i]) for line in [head, *cells]) for i in range(len(names))]
    left = [any(isinstance(row.get(name), str) for row in rows) for name in names]
    return "\n".join(
        indent
        + "  ".join(
            cell.ljust(w) if to_left else cell.rjust(w)
            for cell, w, to_left in zip(line, widths, left, strict=True)
        ).rstrip()
        for line in [head, *cells]
    )


def _on_one_line(text: str) -> str:
    return " ".join(text.splitlines())


def markdown(rows: Sequence[Row]) -> str:
    r"""Return `rows` as a Markdown table.

    >>> print(markdown([{"a": "x|y", "n": 1}]))
    | a | n |
    | --- | ---: |
    | x\|y | 1 |
    """
    if not rows:
        return ""
    names = columns(rows)
    rule = [
        "---" if any(isinstance(row.get(n), str) for row in rows) else "---:"
        for n in names
    ]
    body = [[_in_cell(shown(row.get(n))) for n in names] for row in rows]
    head = [_in_cell(n) for n in names]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *body])


def _in_cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def in_markdown(text: str) -> str:
    r"""Return a text on one line that means nothing to Markdown.

    >>> print(in_markdown("a_b <b> *c*"))
    a\_b &lt;b> \*c\*
    """
    escaped = re.sub(r"([\\`*_\[\]#|~])", r"\\\1", " ".join(text.split()))
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def html_table(
    rows: Sequence[Row], caption: str = "", *, most: int | None = None
) -> str:
    """Return `rows` as an HTML table, every name and text escaped.

    Examples
    --------
    >>> print(html_table([{"a": "<b>", "n": 0.5}], "c"))
    <table class="curvewise"><caption>c</caption><thead><tr>\
<th scope="col" class="short">a</th>\
<th scope="col" class="number">n</th></tr></thead><tbody>
    <tr><td class="short">&lt;b&gt;</td><td class="number">0.5000</td></tr>
    </tbody></table>
    """
    names = columns(rows)
    kind = {n: _html_class([row.get(n) for row in rows]) for n in names}
    head = "".join(f'<th scope="col"{kind[n]}>{html.escape(n)}</th>' for n in names)
    shown_rows = rows if most is None or len(rows) <= most + 1 else rows[:most]
    lines = [
        "<tr>"
        + "".join(f"<td{kind[n]}>{html.escape(shown(row.get(n)))}</td>" for n in names)
        + "</tr>"
        for row in shown_rows
    ]
    if left := len(rows) - len(shown_rows):
        told = f"and {left:,} more rows; to_frame() has all"
        lines.append(f'<tr><td colspan="{len(names)}">… {told}</td></tr>')
    body = "\n".join(lines)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return (
        f'<table class="curvewise">{title}<thead><tr>{head}</tr></thead><tbody>\n'
        f"{body}\n</tbody></table>"
    )


def _html_class(cells: Sequence[Cell]) -> str:
    texts = [cell for cell in cells if isinstance(cell, str)]
    if not texts:
        return ' class="number"'
    # What is short is kept on one line.
    return ' class="short"' if max(map(len, texts)) <= 30 else ""


class Table(NamedTuple):
    """Rows with a caption, as a part of something to show; in print, too, or not."""

    rows: Sequence[Row]
    caption: str = ""
    is_titled: bool = False


Piece: TypeAlias = str | Table

_MOST_ROWS, _MOST_TABLES = 40, 24  # that anybody scrolls through
# Only how it is set, and no colours: a notebook may be dark.
_NOTEBOOK = (
    ".curvewise-answer table{border-collapse:collapse;margin:.6em 0}"
    ".curvewise-answer caption{caption-side:top;text-align:left;font-weight:bold;"
    "padding:.2em .6em}"
    ".curvewise-answer th,.curvewise-answer td{text-align:left;vertical-align:top;"
    "padding:.2em .6em;max-width:36em;overflow-wrap:anywhere}"
    ".curvewise-answer .number{text-align:right;font-variant-numeric:tabular-nums}"
    ".curvewise-answer .short,.curvewise-answer th.number{white-space:nowrap}"
    ".curvewise-answer p,.curvewise-answer li{max-width:60em;margin:.3em 0;"
    "overflow-wrap:anywhere}"
    ".curvewise-answer .wide{overflow-x:auto}"
)


def notebook(
    parts: Iterable[Piece], *, notes: Sequence[str] = (), source: str = ""
) -> str:
    """Return tables and sentences as HTML for a notebook.

    Examples
    --------
    >>> shown = notebook(["a < b", Table([{"n": 1}], "c")], notes=["why"])
    >>> "<p>a &lt; b</p>" in shown, "<caption>c</caption>" in shown, "<li>why</li>" in shown
    (True, True, True)
    """
    body, tables = [], 0
    for part in parts:
        if isinstance(part, str):
            body.append(f"<p>{html.escape(part)}</p>" if part else "")
            continue
        tables += 1
        if tables == _MOST_TABLES + 1:
            body.append("<p>… and more; to_frame() has all.</p>")
        if tables > _MOST_TABLES:
            continue
        table = html_table(part.rows, part.caption, most=_MOST_ROWS)
        body.append(f'<div class="wide">{table}</div>')
    items = "".join(f"<li>{html.escape(note)}</li>" for note in notes if note)
    told = f"<ul>{items}</ul>" if items else ""
    told += f"<p>{html.escape(source)}</p>" if source else ""
    if told:
        body.append(
            f"<details><summary>How to read this, and where it is from</summary>{told}"
            f"</details>"
        )
    return (
        f'<div class="curvewise-answer"><style>{_NOTEBOOK}</style>{"".join(body)}</div>'
    )
