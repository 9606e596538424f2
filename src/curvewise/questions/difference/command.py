"""The command that says whether and where learning curves differ."""

from dataclasses import replace
from typing import Any

import click

import curvewise as cw
from curvewise.questions.commands import (
    anyway_option,
    as_json,
    failed_option,
    in_options,
    show,
    step_options,
    with_trials,
    working,
)
from curvewise.trials import Trials


@click.command()
@with_trials
@click.option("--metric", metavar="NAME", help="Which score the curves are of.")
@failed_option("What a failed run scores from where it broke off.")
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
def difference(trials: Trials, *, as_json: bool, **keywords: Any) -> None:
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
    with working("shuffling lines"):
        answer = cw.difference(trials, **keywords)
    answer = replace(answer, provenance=in_options(answer.provenance))
    show(answer, as_json, answer.failed)
