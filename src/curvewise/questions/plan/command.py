"""The command `curvewise plan`: how many trials or lines are enough, what they tell."""

from typing import Any

import click
from click.core import ParameterSource

import curvewise as cw
from curvewise.errors import CurvewiseError
from curvewise.questions.commands import (
    READING,
    answer_options,
    anyway_option,
    as_json,
    band_option,
    read_source,
    show,
    source_options,
    step_options,
)

_ANY = ("half_width", "power", "trials", "top")
_OF_PILOTS = ("half_width", "power")
_OF_LINES = ("effect", "shift", "stretch", "level", "grid", "fill", "seed")
_OF_SCORES = ("of", "alpha", "tail", "at", "family", "band")
# The questions that an option goes with; any of them if it is not here.
_GOES_WITH = {
    **dict.fromkeys(_OF_LINES, ("power",)),
    **dict.fromkeys(_OF_SCORES, ("half_width",)),
    **dict.fromkeys((*READING, "metric", "failed", "anyway"), _OF_PILOTS),
    "confidence": ("half_width", "trials", "top"),
}


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
    help="With --power: the difference worth finding, its size in units of the metric, in "
    "either direction, in place of the one that the pilot shows.",
)
@click.option(
    "--stretch",
    type=float,
    metavar="S",
    help="With --power: the same as a factor between the mean lines, such as 1.1.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="With --power: of the test.",
)
@step_options
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
@anyway_option
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
    difference itself, so state with --shift which one is worth finding. Only this
    question takes --effect, --shift, --stretch, --level, --grid, --fill and --seed. With
    --trials: what so many can tell. With --top: how many until the best of them is among
    the best of all.

    \b
    Example:
      curvewise plan --half-width 0.05
      curvewise plan results.csv --metric acc --of cvar --alpha 0.5 --half-width 0.01
      curvewise plan curves.csv --metric return --power 0.8 --shift 50
      curvewise plan --trials 200
      curvewise plan --top 0.05
    """
    aims = {"half_width": half_width, "power": power, "trials": trials, "top": top}
    questions = [name for name, value in aims.items() if value is not None]
    if len(questions) != 1:
        raise click.UsageError("Pass one of --half-width, --power, --trials and --top.")
    if source is not None and questions[0] not in _OF_PILOTS:
        raise click.UsageError(
            "SOURCE goes with --half-width or --power. Leave it out."
        )
    _refuse_strays(questions[0], source)
    reading = {name: keywords.pop(name) for name in READING}
    of_lines = {name: keywords.pop(name) for name in _OF_LINES}
    answer: Any
    if power is not None:
        if source is None:
            raise click.UsageError(
                "--power takes a pilot: pass SOURCE, a few runs of each algorithm."
            )
        of_both = {name: keywords[name] for name in ("metric", "failed", "anyway")}
        lines = read_source(source, **reading)
        answer = cw.plan.lines(lines, power=power, **of_both, **of_lines)
    elif half_width is not None:
        if keywords["of"] == "band" and source is not None:
            raise CurvewiseError(
                "A band takes as many trials whatever the scores. Leave SOURCE out, or "
                "pass --of mean, cvar or quantile."
            )
        pilot = None if source is None else read_source(source, **reading)
        answer = cw.plan.trials(
            half_width, confidence=confidence, pilot=pilot, **keywords
        )
    elif trials is not None:
        answer = cw.plan.tell(trials, confidence=confidence)
    else:
        answer = cw.plan.top(top or 0.0, confidence=confidence)
    cells = getattr(answer, "cells", ())
    failed = sum(cell.failed for cell in cells) + getattr(answer, "failed", 0)
    show(answer, as_json, failed)


def _refuse_strays(question: str, source: str | None) -> None:
    """Refuse options of another question: ignored, they would be taken for heeded."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        goes_with = _GOES_WITH.get(name, _ANY)
        if question not in goes_with:
            flags = " or ".join(_option(other) for other in goes_with)
            raise click.UsageError(f"{_option(name)} goes with {flags}. Leave it out.")
        if source is None and name in READING:
            raise click.UsageError(
                f"{_option(name)} says how SOURCE is read. Pass SOURCE, or leave it out."
            )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


for parameter in plan.params:
    if parameter.name == "source":
        parameter.required = False
