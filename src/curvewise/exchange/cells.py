"""Values as tools wrote them, made fit for a column: what is odd becomes a text."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from curvewise.exchange.runs import utf8

_HALF = "\\ud"  # how JSON begins one half of a character, which may lack the other


def array_of(cells: Sequence[Any]) -> pa.Array:
    """Return cells as a column: as they are if they are of one kind, as texts if not.

    >>> array_of([1, None, 2]).to_pylist(), array_of([1, "a", None]).to_pylist()
    ([1, None, 2], ['1', 'a', None])
    """
    try:
        return pa.array(cells)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array(
            [None if cell is None else utf8(str(cell)) for cell in cells], pa.string()
        )


def parsed(text: str) -> Any:
    r"""Return what a text of JSON says; a ValueError says that it is none.

    Half a character, which JSON allows and nobody can write, becomes a question mark.

    >>> parsed('{"a": "\\ud800!"}')
    {'a': '?!'}
    """
    try:
        value = json.loads(text)
        if _HALF not in text.casefold():
            return value
        whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return json.loads(whole)
    except RecursionError as problem:
        raise ValueError("It is too deep.") from problem


def as_text(value: Any) -> str:
    """Return what is no plain cell as a text.

    >>> as_text([1, None]), as_text("a")
    ('[1, null]', 'a')
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, default=str)
    except (RecursionError, ValueError):  # deep, or around in a circle
        return f"<{type(value).__name__}>"
