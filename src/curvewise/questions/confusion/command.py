"""The command that says how precision, recall and F1 move with data."""

from typing import Any

import click

import curvewise as cw
from curvewise.questions.commands import (
    anyway_option,
    as_json,
    show,
    with_trials,
    working,
)
from curvewise.trials import Trials


@click.command()
@with_trials
@click.option(
    "--metric",
    "rates",
    multiple=True,
    metavar="NAME",
    help="error, accuracy, precision, recall, specificity, f1, f_beta, jaccard, "
    "balanced_accuracy, mcc or kappa; repeat for several.  [default: error, precision, "
    "recall and f1]",
)
@click.option(
    "--failed",
    type=click.Choice(["raise", "worst"]),
    default="raise",
    show_default=True,
    help="Whether all answers of a failed run count as wrong.",
)
@click.option(
    "--at",
    "sizes",
    type=float,
    multiple=True,
    metavar="SIZE",
    help="Forecast rates with so many training examples; repeat for several.",
)
@click.option(
    "--target",
    type=click.Choice(["mean", "observed", "model"]),
    default="mean",
    show_default=True,
    help="What intervals are for: the mean over training sets, what the mean of the runs "
    "will show on one test set, or one more model.",
)
@click.option(
    "--test-size",
    type=float,
    help="Of --target observed.  [default: as at the nearest size]",
)
@click.option(
    "--mean-of",
    "models",
    type=float,
    help="Of --target observed: how many models the mean is of.",
)
@click.option(
    "--average",
    type=click.Choice(["macro", "micro", "weighted"]),
    help="How precision, recall and F1 are averaged over classes.",
)
@click.option(
    "--positive",
    metavar="CLASS",
    help="The class that they are of instead: its number from 0 up, or its name among "
    "--classes.",
)
@click.option(
    "--beta",
    default=2.0,
    show_default=True,
    help="Of f_beta: how many times more recall counts than precision.",
)
@click.option(
    "--classes",
    metavar="NAME,NAME",
    help="What to call the classes, in their order.",
)
@click.option(
    "--size",
    type=float,
    help="Tell algorithms at this size.  [default: the largest that all have]",
)
@click.option(
    "--method",
    type=click.Choice(["drift", "calibrated", "paper"]),
    default="drift",
    show_default=True,
    help="How curves are fitted; 'paper' as published, with bands that do not hold.",
)
@click.option("--confidence", default=0.95, show_default=True, help="Of intervals.")
@anyway_option
@as_json
def confusion(
    trials: Trials,
    *,
    rates: tuple[str, ...],
    sizes: tuple[float, ...],
    models: float | None,
    positive: str | None,
    classes: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """How do precision, recall and F1 move with data?

    Needs confusion counts (columns tp, fp, fn and tn, or those of an experiment) at two
    sizes of the training set or more, in the column of steps. Prints each metric at the
    largest size and with more data, with intervals that stay inside 0 and 1. With --at,
    forecasts.

    \b
    Example:
      curvewise confusion counts.csv
      curvewise confusion counts.csv --metric f1 --at 10000
      curvewise confusion counts.csv --target observed --test-size 500
    """
    with working("fitting curves"):
        answer = cw.confusion(
            trials,
            rates or None,
            runs=models,
            positive=_class(positive),
            classes=None if classes is None else classes.split(","),
            **asked,
        )
        result = answer.at(sizes) if sizes else answer
    show(result, as_json, answer.failed)


def _class(positive: str | None) -> int | str | None:
    """Return a class by its number where it is one, else by its name."""
    if positive is None or not positive.lstrip("-").isdigit():
        return positive
    return int(positive)
