"""The command that says how good algorithms are, and how hard to tune."""

from typing import Any

import click

import curvewise as cw
from curvewise.questions.commands import (
    answer_options,
    anyway_option,
    as_json,
    band_option,
    show,
    with_trials,
    working,
)
from curvewise.trials import Trials


@click.command()
@with_trials
@answer_options
@click.option(
    "--alpha", default=0.5, show_default=True, help="Best 1 - alpha, worst alpha."
)
@click.option("--threshold", type=float, help="A score worth reaching.")
@click.option(
    "--confidence",
    default=0.95,
    show_default=True,
    help="Of each band, and of all comparisons together.",
)
@band_option
@click.option("--family", is_flag=True, help="Let all bands hold together.")
@click.option(
    "--over-tasks/--no-over-tasks",
    default=None,
    help="Sum up all tasks; by default where the metric has a range.",
)
@click.option(
    "--seed", default=0, show_default=True, help="Of the bootstrap, where one is used."
)
@anyway_option
@as_json
def performance(trials: Trials, *, as_json: bool, **keywords: Any) -> None:
    """How good is it, and how hard to tune?

    Prints mean, both tails (CVaR) and median of each algorithm with what is sure about
    them, then each pair of algorithms, task by task, and all tasks together.

    \b
    Example:
      curvewise performance results.csv --metric acc --failed worst
      curvewise performance results.csv --metrics acc=higher --unit percent
      curvewise performance results.csv --band equal_local_levels --alpha 0.9
    """
    with working("comparing"):
        answer = cw.performance(trials, **keywords)
    show(answer, as_json, sum(d.failed for d in answer.distributions))
