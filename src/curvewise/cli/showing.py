"""What commands share: how they end, and what they say while they work."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from curvewise.engine.workers import BLAS_THREADS
from curvewise.errors import CurvewiseWarning, Message

if TYPE_CHECKING:
    from curvewise._answer import Provenance

FAILED_TRIALS = 3
CANNOT_ANSWER = 4
INTERRUPTED = 130
# What is no option, but an argument: the source of `curvewise plan`.
_WORDS = {"pilot": "a file of"}

as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for machines."
)


def leave(failed: int) -> None:
    """End with a status of its own if trials failed."""
    if failed:
        click.get_current_context().exit(FAILED_TRIALS)


def one_thread() -> None:
    """Compute in one thread, as workers do: sums of several are rounded differently."""
    if "numpy" not in sys.modules:
        os.environ.update(dict.fromkeys(BLAS_THREADS, "1"))


def option_names(ctx: click.Context | None) -> dict[str, str] | None:
    """Return what commands call the keywords of the Python API that they know."""
    group = ctx and ctx.find_root().command
    if not isinstance(group, click.Group):
        return None
    options = [
        param
        for command in group.commands.values()
        for param in command.params
        if isinstance(param, click.Option)
    ]
    by_option = {one.opts[-1].strip("-").replace("-", "_"): one for one in options}
    by_keyword = {one.name: one for one in options if one.name}
    named = by_keyword | by_option
    return _WORDS | {name: one.opts[-1] for name, one in named.items()}


def in_shell(text: str, ctx: click.Context | None = None) -> str:
    """Return a message of the Python API with its keywords as options."""
    names = option_names(ctx or click.get_current_context(silent=True))
    return text.as_options(names) if isinstance(text, Message) else text


def in_options(source: "Provenance") -> "Provenance":
    """Return where an answer came from, with the keywords of its cautions as options."""
    return replace(source, cautions=tuple(map(in_shell, source.cautions)))


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
def warnings_as_lines(*, of_toml: bool = False) -> Iterator[None]:
    """Print our own warnings as lines, when they come; above a bar, if there is one.

    Parameters
    ----------
    of_toml : bool
        Whether whoever reads them has written a TOML file.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", CurvewiseWarning)
        usual = warnings.showwarning
        from curvewise.flow.toml_keys import PLAN, RUN

        names = option_names(click.get_current_context(silent=True))

        def show(message: Any, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, CurvewiseWarning):
                text = message.message
                said = (
                    text.as_toml({*PLAN, *RUN}) if of_toml else text.as_options(names)
                )
                sys.stderr.write(f"curvewise: {said}\n")
            else:
                usual(message, category, *rest)

        warnings.showwarning = show  # type: ignore[assignment]  # `rest` is the rest
        yield
