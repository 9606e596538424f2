"""The command that says what results can and cannot answer."""

from dataclasses import replace
from typing import Any

import click

import curvewise as cw
from curvewise.questions.commands import (
    as_json,
    in_options,
    in_shell,
    read_source,
    show,
    source_options,
)


@click.command()
@source_options
@click.option(
    "--metric",
    metavar="NAME",
    help="Which score to judge by.  [default: the first that will do]",
)
@as_json
def explain(metric: str | None, as_json: bool, **keywords: Any) -> None:
    """Which questions can these results answer?

    For every question: whether it can be answered, from what or why not, how strong the
    answer can be, what to record or run so that it can be, and the command that asks it,
    to be copied. Nothing is estimated, so it is quick: start here with a new file.

    \b
    Example:
      curvewise explain results.csv
      curvewise explain curves.parquet --runs runs.csv --on run
    """
    trials = read_source(**keywords)
    answer = cw.explain(trials, metric, source=typed(**keywords))
    questions = tuple(
        replace(
            one,
            why=in_shell(one.why),
            strength=in_shell(one.strength),
            add=in_shell(one.add),
        )
        for one in answer.questions
    )
    provenance = in_options(answer.provenance)
    show(replace(answer, questions=questions, provenance=provenance), as_json, 0)


def typed(source: str, **keywords: Any) -> list[str]:
    """Return the words that name a source, and say how it is read.

    >>> typed("r.csv", trial=("seed", "fold"), unit="percent", runs=None, on=())
    ['r.csv', '--trial', 'seed', '--trial', 'fold', '--unit', 'percent']
    """
    words = [source]
    for name, value in keywords.items():
        each = value if isinstance(value, tuple) else (value,)
        for one in each:
            words += [] if one is None else [f"--{name}", str(one)]
    return words
