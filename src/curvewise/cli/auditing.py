"""What a report says while its analyses are tried, which takes a while."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curvewise.analyses.audit import Audit

# As `curvewise.audit` has them: a command that is only asked for help imports no analysis.
FEWEST, REPETITIONS = 20, 200
_SILENT, _EVERY = 1.0, 10.0  # seconds before the first line, and between lines
_LEAST = 2.0  # seconds after which one knows how long it will take


@contextmanager
def auditing(what: str) -> "Iterator[list[Audit]]":
    """Show what is going on, and return the audits that a report made.

    On a terminal in one line that changes; elsewhere in lines, now and then.

    Parameters
    ----------
    what : str
        What is going on while nothing is audited.
    """
    from curvewise.report.sections.audit import watched

    if not sys.stderr.isatty():
        with watched(_shown(_line, every=_EVERY)) as found:
            yield found
        return
    from rich.console import Console

    with (
        Console(stderr=True).status(what) as status,
        watched(_shown(status.update, every=0.0)) as found,
    ):
        yield found


def _shown(
    tell: Callable[[str], object], *, every: float
) -> Callable[[int, int], None]:
    """Return a function that tells how far an audit is, not too often."""
    begin = 0.0
    next_time = 0.0

    def show(done: int, total: int) -> None:
        nonlocal begin, next_time
        now = time.monotonic()
        if done == 1:
            begin, next_time = now, now + min(every, _SILENT)
        if now >= next_time:
            next_time = now + every
            tell(_how_far(done, total, now - begin))

    return show


def _line(text: str) -> None:
    sys.stderr.write(f"curvewise: {text}\n")


def _how_far(done: int, total: int, seconds: float) -> str:
    """Return how far an audit is, and how long it will take.

    >>> _how_far(100, 400, 10.0), _how_far(1, 400, 0.1)
    ('auditing: 100 of 400 answers, about 30 s left', 'auditing: 1 of 400 answers')
    """
    told = f"auditing: {done:,} of {total:,} answers"
    if seconds < _LEAST or done == total:
        return told
    return f"{told}, about {seconds / done * (total - done):.0f} s left"
