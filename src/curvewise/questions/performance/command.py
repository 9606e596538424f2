"""The command that says how good algorithms are, and how hard to tune."""

from typing import Any

import click

from curvewise.questions.commands import (
    answer_options,
    anyway_option,
    as_json,
    band_option,
    leave,
    number_or_word,
    read_source,
    source_options,
    working,
)


@click.command()
@source_options
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
def performance(
    metric: str | None,
    at: str,
    failed: str,
    alpha: float,
    threshold: float | None,
    confidence: float,
    band: Any,
    family: bool,
    over_tasks: bool | None,
    seed: int,
    anyway: bool,
    as_json: bool,
    **keywords: Any,
) -> None:
    """How good is it, and how hard to tune?

    Prints mean, both tails (CVaR) and median of each algorithm with what is sure about
    them, then each pair of algorithms, task by task, and all tasks together.

    \b
    Example:
      curvewise performance results.csv --metric acc --failed worst
      curvewise performance results.csv --metrics acc=higher --unit percent
      curvewise performance results.csv --band equal_local_levels --alpha 0.9
    """
    import curvewise as cw

    trials = read_source(**keywords)
    with working("comparing"):
        answer = cw.performance(
            trials,
            metric,
            alpha=alpha,
            threshold=threshold,
            at=number_or_word(at),
            failed=number_or_word(failed),
            confidence=confidence,
            band=band,
            family=family,
            over_tasks=over_tasks,
            seed=seed,
            anyway=anyway,
        )
    click.echo(answer.to_json() if as_json else str(answer))
    leave(sum(d.failed for d in answer.distributions))
