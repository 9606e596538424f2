"""The command that says whether and where learning curves differ."""

from dataclasses import replace
from typing import Any

import click

from curvewise.questions.commands import (
    anyway_option,
    as_json,
    in_options,
    leave,
    number_or_word,
    read_source,
    source_options,
    step_options,
    working,
)


@click.command()
@source_options
@click.option("--metric", metavar="NAME", help="Which score the curves are of.")
@click.option(
    "--failed",
    default="raise",
    metavar="raise|worst|SCORE",
    show_default=True,
    help="What a failed run scores from where it broke off.",
)
@step_options
@click.option(
    "--windows",
    type=int,
    help="In how many windows to look for where they differ; choose before you look.  "
    "[default: each step; 20 windows where there are more than 30 steps]",
)
@click.option(
    "--margin",
    type=float,
    help="A difference that does not matter; only with it may one be called gone.",
)
@click.option(
    "--level",
    default=0.05,
    show_default=True,
    help="Of the tests; intervals and bands hold with confidence 1 - level.",
)
@click.option(
    "--null",
    type=click.Choice(["separate", "joint"]),
    default="separate",
    show_default=True,
    help="Test height and shape apart, or as published, where one can fake the other.",
)
@click.option(
    "--noise",
    type=click.Choice(["unequal", "equal"]),
    help="Whether algorithms may be unequally noisy; state 'equal' before you look.  "
    "[default: unequal]",
)
@click.option(
    "--shuffles",
    default=9999,
    show_default=True,
    help="How often lines are shuffled, and their noise flipped.",
)
@click.option("--seed", default=0, show_default=True, help="For shuffles and flips.")
@anyway_option
@as_json
def difference(
    metric: str | None,
    failed: str,
    grid: int | None,
    fill: Any,
    windows: int | None,
    margin: float | None,
    level: float,
    null: Any,
    noise: Any,
    shuffles: int,
    seed: int,
    anyway: bool,
    as_json: bool,
    **keywords: Any,
) -> None:
    """Do these learning curves differ, and where?

    Compares whole curves of two or more algorithms, task by task: whether they differ in
    height and in shape, which pairs, and at which steps of training. Whole runs are
    shuffled, since points of one run hang together; algorithms may be unequally noisy.

    \b
    Example:
      curvewise difference curves.csv --metric return
      curvewise difference curves.csv --metric return --grid 60 --windows 12
      curvewise difference curves.csv --metric loss --margin 0.01
    """
    from curvewise.questions.difference import difference as compared

    trials = read_source(**keywords)
    with working("shuffling lines"):
        answer = compared(
            trials,
            metric,
            grid=grid,
            fill=fill,
            windows=windows,
            margin=margin,
            failed=number_or_word(failed),
            level=level,
            null=null,
            noise=noise,
            shuffles=shuffles,
            seed=seed,
            anyway=anyway,
        )
    answer = replace(answer, provenance=in_options(answer.provenance))
    click.echo(answer.to_json() if as_json else str(answer))
    leave(answer.failed)
