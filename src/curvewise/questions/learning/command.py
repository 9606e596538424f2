"""The command that says how error falls with data, and what more data would buy."""

from typing import Any

import click

from curvewise.questions.commands import (
    anyway_option,
    as_json,
    leave,
    number_or_word,
    read_source,
    source_options,
    working,
)


@click.command()
@source_options
@click.option("--metric", metavar="NAME", help="Which error the curves are of.")
@click.option(
    "--failed",
    default="raise",
    metavar="raise|worst|SCORE",
    show_default=True,
    help="What a failed run scores at the sizes that it did not reach.",
)
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
    metric: str | None,
    failed: str,
    sizes: tuple[float, ...],
    reach: float | None,
    next_to: float | None,
    size: float | None,
    method: Any,
    confidence: float,
    anyway: bool,
    as_json: bool,
    **keywords: Any,
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
    from curvewise.questions.learning import learning as learnt

    trials = read_source(**keywords)
    with working("fitting curves"):
        answer = learnt(
            trials,
            metric,
            size=size,
            method=method,
            failed=number_or_word(failed),
            confidence=confidence,
            anyway=anyway,
        )
        told: dict[str, Any] = {}
        if sizes:
            told["forecasts"] = answer.at(sizes)
        if reach is not None:
            told["sizes_needed"] = answer.size_for(reach)
        if next_to is not None:
            told["next_runs"] = answer.next_run(next_to)
    asked = list(told.values()) or [answer]
    if as_json and len(asked) > 1:
        click.echo(_together(told))
    else:
        texts = (one.to_json() if as_json else str(one) for one in asked)
        click.echo("\n\n".join(texts))
    leave(answer.failed)


def _together(told: dict[str, Any]) -> str:
    """Return several answers as one JSON object."""
    import json

    parts = {name: json.loads(one.to_json()) for name, one in told.items()}
    return json.dumps(parts, indent=2, ensure_ascii=False)
