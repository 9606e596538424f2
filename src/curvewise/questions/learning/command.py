"""The command that says how error falls with data, and what more data would buy."""

import json
from typing import Any

import click

import curvewise as cw
from curvewise.questions.commands import (
    anyway_option,
    as_json,
    failed_option,
    leave,
    with_trials,
    working,
)
from curvewise.trials import Trials


@click.command()
@with_trials
@click.option("--metric", metavar="NAME", help="Which error the curves are of.")
@failed_option("What a failed run scores at the sizes that it did not reach.")
@click.option(
    "--at",
    "sizes",
    type=float,
    multiple=True,
    metavar="SIZE",
    help="Forecast the error with so many training examples; repeat for several.",
)
@click.option(
    "--reach",
    type=float,
    metavar="ERROR",
    help="How much data would this error take? Of an accuracy of 95 %, pass 0.05.",
)
@click.option(
    "--next",
    "next_to",
    type=float,
    metavar="SIZE",
    help="What should be trained next, to know more of this size?",
)
@click.option(
    "--size",
    type=float,
    help="Compare algorithms at this size.  [default: the largest that all have]",
)
@click.option(
    "--method",
    type=click.Choice(["calibrated", "paper"]),
    default="calibrated",
    show_default=True,
    help="Power laws with intervals that hold, or as published, where they do not.",
)
@click.option(
    "--confidence", default=0.95, show_default=True, help="Of intervals and bands."
)
@anyway_option
@as_json
def learning(
    trials: Trials,
    *,
    sizes: tuple[float, ...],
    reach: float | None,
    next_to: float | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """How does error fall with data, and what would more data buy?

    Needs errors (or accuracies) at three sizes of the training set or more, in the column
    of steps. Prints the error at the largest size, how much of it more data would take
    off, who is better and where curves cross. With --at, forecasts; with --reach, the data
    that an error takes; with --next, the run that would tell most.

    \b
    Example:
      curvewise learning curves.csv --metric error
      curvewise learning curves.csv --metric accuracy --at 100000 --at 1000000
      curvewise learning curves.csv --metric error --reach 0.05
    """
    with working("fitting curves"):
        answer = cw.learning(trials, **asked)
        parts: dict[str, Any] = {}
        if sizes:
            parts["forecasts"] = answer.at(sizes)
        if reach is not None:
            parts["sizes_needed"] = answer.size_for(reach)
        if next_to is not None:
            parts["next_runs"] = answer.next_run(next_to)
    if as_json and len(parts) > 1:
        content = {name: json.loads(one.to_json()) for name, one in parts.items()}
        click.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        answers = parts.values() or [answer]
        texts = (one.to_json() if as_json else str(one) for one in answers)
        click.echo("\n\n".join(texts))
    leave(answer.failed)
