"""Tables and numbers as text: plain, Markdown, LaTeX, HTML."""

import html
import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = Mapping[str, Cell]


def shown(value: Cell, digits: int = 4) -> str:
    """Return a cell as people write it: four digits that matter, no trailing noise.

    >>> shown(0.123456), shown(1234.5678), shown(7), shown(None), shown(float("nan"))
    ('0.1235', '1235', '7', '', 'nan')
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
        f"{value:.{digits}g}"
        if size < 1e-3 or size >= 1e15
        else _rounded(value, digits)
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

    >>> count(1, "trial"), count(3_000_000, "trial")
    ('1 trial', '3,000,000 trials')
    """
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n:,} {noun if n == 1 else plural}"


def joined(parts: Sequence[str]) -> str:
    """Return parts of a sentence in a row.

    >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


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
    body = [[_in_markdown(shown(row.get(n))) for n in names] for row in rows]
    head = [_in_markdown(n) for n in names]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *body])


def _in_markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def latex(rows: Sequence[Row]) -> str:
    r"""Return `rows` as a LaTeX tabular for the booktabs package.

    >>> print(latex([{"a_b": "50 %", "n": 1}]))
    \begin{tabular}{lr}
    \toprule
    a\_b & n \\
    \midrule
    50 \% & 1 \\
    \bottomrule
    \end{tabular}
    """
    names = columns(rows)
    align = "".join(
        "l" if any(isinstance(row.get(n), str) for row in rows) else "r" for n in names
    )
    lines = [[_in_latex(shown(row.get(n))) for n in names] for row in rows]
    body = [" & ".join(line) + r" \\" for line in lines]
    head = " & ".join(_in_latex(n) for n in names) + r" \\"
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{align}}}",
            *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
            r"\end{tabular}",
        ]
    )


_LATEX = {c: "\\" + c for c in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "\n": " ",
}


def _in_latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in text)


def html_table(rows: Sequence[Row], caption: str = "") -> str:
    """Return `rows` as an HTML table, every name and text escaped.

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
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{kind[n]}>{html.escape(shown(row.get(n)))}</td>" for n in names)
        + "</tr>"
        for row in rows
    )
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
