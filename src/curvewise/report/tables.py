"""Tables of the page: numbers to the right, text to the left, every name as it is."""

import re
from collections.abc import Sequence

from markupsafe import Markup

from curvewise._text import Cell, Row, columns, shown
from curvewise.report.names import Names

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

    Parameters
    ----------
    rows : sequence of mappings
    caption : str
    names : Names
        How names that need care are shown.
    name : str
        What links to the table call it.

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
