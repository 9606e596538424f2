"""Commands about results that exist already: check, performance, report, example."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from curvewise.cli.auditing import FEWEST, REPETITIONS, auditing
from curvewise.cli.showing import CANNOT_ANSWER, as_json, in_shell, leave, working
from curvewise.cli.sources import (
    answer_options,
    anyway_option,
    band_option,
    number_or_word,
    read_source,
    source_options,
)

if TYPE_CHECKING:
    from curvewise.review.finding import Finding


@click.command()
@source_options
@as_json
def check(as_json: bool, **keywords: Any) -> None:
    """Look at results as a careful reviewer would.

    What it finds blocks answers, tempers them, or is good to know. Exit status 4 says
    that something blocks: performance and its like give no answer without --anyway.

    \b
    Example:
      curvewise check results.csv
      curvewise check curves.parquet --runs runs.csv --on run
    """
    import curvewise as cw

    trials = read_source(**keywords)
    found = cw.check(trials)
    found = replace(found, findings=tuple(map(_in_shell, found)))
    click.echo(found.to_json() if as_json else str(found))
    if any(finding.severity == "blocks" for finding in found):
        click.get_current_context().exit(CANNOT_ANSWER)
    leave(trials.count_failed())


def _in_shell(finding: "Finding") -> "Finding":
    """Return a finding with the keywords of what to do as options."""
    return replace(finding, do=in_shell(finding.do))


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


@click.command()
@source_options
@answer_options
@click.option(
    "-o", "--output", default="report.html", show_default=True, metavar="FILE"
)
@click.option(
    "--audit",
    "is_audited",
    is_flag=True,
    help="Try the analyses on shuffled names and on simulated trials, and print how "
    "often they err.",
)
@click.option(
    "--audit-repetitions",
    type=click.IntRange(min=FEWEST),
    default=REPETITIONS,
    show_default=True,
    help="How often, with --audit.",
)
@anyway_option
@as_json
def report(
    output: str,
    metric: str | None,
    at: str,
    failed: str,
    is_audited: bool,
    audit_repetitions: int,
    anyway: bool,
    as_json: bool,
    **keywords: Any,
) -> None:
    """Write one HTML page that can be forwarded.

    Sections that 'check' objects to are withheld, with the reason, without --anyway.

    \b
    Example:
      curvewise report results.csv -o report.html --failed worst
      curvewise report results.csv --audit
    """
    import json

    import curvewise as cw

    trials = read_source(**keywords)
    with auditing("writing the report") as found:
        path = cw.report.write(
            trials,
            output,
            metric=metric,
            at=number_or_word(at),
            failed=number_or_word(failed),
            audit=audit_repetitions if is_audited else 0,
            anyway=anyway,
        )
    if as_json:
        told = {"audit": [json.loads(one.to_json()) for one in found]}
        click.echo(json.dumps({"report": str(path)} | (told if found else {})))
    else:
        click.echo("".join(f"{one}\n\n" for one in found) + f"wrote {path}")
    leave(trials.count_failed(metric))


@click.command()
@click.argument("name", type=click.Choice(["search", "curves", "counts"]))
def example(name: Any) -> None:
    """Print an example file of results.

    \b
    Example:
      curvewise example search > results.csv
    """
    from curvewise.examples import example_text

    click.echo(example_text(name), nl=False)
