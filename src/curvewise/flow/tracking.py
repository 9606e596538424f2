"""How far a long computation is that runs no trials."""

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

from curvewise.flow.progress import _EVERY, _SILENT, shown_time

Item = TypeVar("Item")


def each(
    items: Sequence[Item], what: str, wanted: bool | None = None
) -> Iterator[Item]:
    """Yield items, and say on standard error how far it is and how long it will take.

    Parameters
    ----------
    items : sequence
    what : str
        What is done with them, such as ``"power"``.
    wanted : bool, optional
        False says nothing. Otherwise a bar, or lines where there is no terminal.

    Examples
    --------
    >>> list(each([1, 2, 3], "counting"))
    [1, 2, 3]
    """
    if wanted is False or sys.stderr is None:
        yield from items
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track

        yield from track(items, what, console=Console(stderr=True), transient=True)
    else:
        yield from _in_lines(items, what)


def _in_lines(items: Sequence[Item], what: str) -> Iterator[Item]:
    begin = said = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if done and now - begin > _SILENT and now - said > _EVERY:
            left = shown_time((now - begin) / done * (len(items) - done))
            sys.stderr.write(
                f"curvewise: {what}, {done:,} of {len(items):,}, {left} left\n"
            )
            said = now
        yield item
