"""The command `curvewise plan`: how many trials are enough, what a number can tell."""

from typing import Any

import click

from curvewise.cli.showing import as_json, leave
from curvewise.cli.sources import (
    answer_options,
    band_option,
    number_or_word,
    read_source,
    source_options,
)
from curvewise.errors import CurvewiseError


@click.command()
@source_options
@click.option(
    "--half-width",
    type=click.FloatRange(0, min_open=True),
    metavar="H",
    help="How well it is to be known.",
)
@click.option(
    "--of",
    type=click.Choice(["band", "mean", "cvar", "quantile"]),
    default="band",
    show_default=True,
    help="What is to be known.",
)
@click.option(
    "--alpha", default=0.5, show_default=True, help="Where CVaR cuts; which quantile."
)
@click.option(
    "--tail",
    type=click.Choice(["upper", "lower"]),
    default="upper",
    show_default=True,
    help="Of CVaR: the best 1 - alpha, or the worst alpha.",
)
@click.option(
    "--trials",
    type=click.IntRange(1),
    metavar="N",
    help="Say what so many trials can tell.",
)
@click.option(
    "--top",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Say how many trials until the best is in this top share.",
)
@answer_options
@click.option("--confidence", default=0.95, show_default=True, help="Of what is said.")
@click.option("--family", is_flag=True, help="Let all intervals hold together.")
@band_option
@as_json
def plan(
    source: str | None,
    half_width: float | None,
    trials: int | None,
    top: float | None,
    confidence: float,
    as_json: bool,
    **keywords: Any,
) -> None:
    """How many trials are enough?

    With --half-width: how many it takes to know the whole distribution, or a mean, CVaR
    or quantile. SOURCE, if given, is a pilot: a few trials to judge from. With --trials:
    what so many can tell. With --top: how many until the best of them is among the best
    of all.

    \b
    Example:
      curvewise plan --half-width 0.05
      curvewise plan results.csv --metric acc --of cvar --alpha 0.5 --half-width 0.01
      curvewise plan --trials 200
      curvewise plan --top 0.05
    """
    from curvewise.analyses import plan as planning

    asked = [name for name in (half_width, trials, top) if name is not None]
    if len(asked) != 1:
        raise click.UsageError("Pass one of --half-width, --trials and --top.")
    answer: Any
    if half_width is not None:
        answer = _for_half_width(source, half_width, confidence, keywords)
    elif source is not None:
        raise click.UsageError("SOURCE goes with --half-width. Leave it out.")
    elif trials is not None:
        answer = planning.tell(trials, confidence=confidence)
    else:
        answer = planning.top(top or 0.0, confidence=confidence)
    click.echo(answer.to_json() if as_json else str(answer))
    leave(sum(cell.failed for cell in getattr(answer, "cells", ())))


def _for_half_width(
    source: str | None, half_width: float, confidence: float, given: dict[str, Any]
) -> Any:
    from curvewise.analyses import plan as planning

    own = ("of", "alpha", "tail", "metric", "at", "failed", "family", "band")
    options = {name: given.pop(name) for name in own}
    if options["of"] == "band" and source is not None:
        raise CurvewiseError(
            "A band takes as many trials whatever the scores. Leave SOURCE out, or pass "
            "--of mean, cvar or quantile."
        )
    return planning.trials(
        half_width,
        confidence=confidence,
        pilot=None if source is None else read_source(source, **given),
        **options | {name: number_or_word(options[name]) for name in ("at", "failed")},
    )


for parameter in plan.params:
    if parameter.name == "source":
        parameter.required = False
