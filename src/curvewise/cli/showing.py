"""What commands say while they work, on standard error."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from curvewise.errors import CurvewiseWarning


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is going on, where somebody is watching."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def warnings_as_lines(said: Callable[[str], str] = str) -> Iterator[None]:
    """Print our own warnings as lines, when they come; above a bar, if there is one.

    Parameters
    ----------
    said : callable
        Turns a message of the Python API into one for whoever reads it here.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", CurvewiseWarning)
        usual = warnings.showwarning

        def show(message: Any, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, CurvewiseWarning):
                sys.stderr.write(f"curvewise: {said(str(message))}\n")
            else:
                usual(message, category, *rest)

        warnings.showwarning = show  # type: ignore[assignment]  # `rest` is the rest
        yield
