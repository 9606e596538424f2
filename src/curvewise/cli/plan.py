"""The command `curvewise plan`: how many trials or lines are enough, what they tell."""

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
@click.option(
    "--power",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="P",
    help="Say how many lines (runs) of each algorithm find a difference of curves with "
    "this chance, such as 0.8; SOURCE is a pilot.",
)
@click.option(
    "--effect",
    type=click.Choice(["algorithm", "interaction", "either"]),
    default="algorithm",
    show_default=True,
    help="With --power: that means of lines differ, that their shapes do, any of both.",
)
@click.option(
    "--shift",
    type=float,
    metavar="D",
    help="With --power: the difference worth finding, in units of the metric, in place "
    "of the one that the pilot shows.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="With --power: of the test.",
)
@click.option(
    "--grid",
    type=click.IntRange(2),
    metavar="N",
    help="With --power: bring lines on so many common steps.",
)
@click.option(
    "--fill",
    type=click.Choice(["last", "linear"]),
    help="With --power: what a line has at a step that it lacks. With --grid: linear.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="With --power: of the simulated experiments.",
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
    power: float | None,
    confidence: float,
    as_json: bool,
    **keywords: Any,
) -> None:
    """How many trials are enough?

    With --half-width: how many it takes to know the whole distribution, or a mean, CVaR
    or quantile. SOURCE, if given, is a pilot: a few trials to judge from. With --power:
    how many lines (runs that recorded a curve) of each algorithm it takes to tell their
    curves apart, for every pair in the pilot SOURCE; a pilot says little about the
    difference itself, so state with --shift which one is worth finding. With --trials:
    what so many can tell. With --top: how many until the best of them is among the best
    of all.

    \b
    Example:
      curvewise plan --half-width 0.05
      curvewise plan results.csv --metric acc --of cvar --alpha 0.5 --half-width 0.01
      curvewise plan curves.csv --metric return --power 0.8 --shift 50
      curvewise plan --trials 200
      curvewise plan --top 0.05
    """
    from curvewise.analyses import plan as planning

    asked = [name for name in (half_width, power, trials, top) if name is not None]
    if len(asked) != 1:
        raise click.UsageError("Pass one of --half-width, --power, --trials and --top.")
    own = ("effect", "shift", "level", "grid", "fill", "seed")
    of_lines = {name: keywords.pop(name) for name in own}
    answer: Any
    if power is not None:
        answer = _for_power(source, power, of_lines, keywords)
    elif stray := [n for n in ("shift", "grid", "fill") if of_lines[n] is not None]:
        raise click.UsageError(f"--{stray[0]} goes with --power. Leave it out.")
    elif half_width is not None:
        answer = _for_half_width(source, half_width, confidence, keywords)
    elif source is not None:
        raise click.UsageError(
            "SOURCE goes with --half-width or --power. Leave it out."
        )
    elif trials is not None:
        answer = planning.tell(trials, confidence=confidence)
    else:
        answer = planning.top(top or 0.0, confidence=confidence)
    click.echo(answer.to_json() if as_json else str(answer))
    cells = getattr(answer, "cells", ())
    leave(sum(cell.failed for cell in cells) + getattr(answer, "failed", 0))


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


def _for_power(
    source: str | None, power: float, own: dict[str, Any], given: dict[str, Any]
) -> Any:
    from curvewise.analyses import plan as planning

    if source is None:
        raise click.UsageError(
            "--power takes a pilot: pass SOURCE, a few runs of each algorithm."
        )
    metric, failed = given.pop("metric"), given.pop("failed")
    for name in ("of", "alpha", "tail", "at", "family", "band"):
        given.pop(name)
    return planning.lines(
        read_source(source, **given),
        metric,
        power=power,
        failed=number_or_word(failed),
        **own,
    )


for parameter in plan.params:
    if parameter.name == "source":
        parameter.required = False
