"""Commands about results that exist already: check, explain, report and the like."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from curvewise.questions.commands import (
    CANNOT_ANSWER,
    answer_options,
    anyway_option,
    as_json,
    in_shell,
    leave,
    read_source,
    source_options,
)


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
    findings = cw.check(trials)
    in_words = tuple(replace(one, do=in_shell(one.do)) for one in findings)
    findings = replace(findings, findings=in_words)
    click.echo(findings.to_json() if as_json else str(findings))
    if any(finding.severity == "blocks" for finding in findings):
        click.get_current_context().exit(CANNOT_ANSWER)
    leave(trials.count_failed())


# --- What a report says while its analyses are tried, which takes a while --------------


# As `curvewise.audit` has them: a command that is only asked for help imports no analysis.
FEWEST, REPETITIONS = 20, 200


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
    at: Any,
    failed: Any,
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
    with auditing("writing the report") as audits:
        path = cw.report.write(
            trials,
            output,
            metric=metric,
            at=at,
            failed=failed,
            audit=audit_repetitions if is_audited else 0,
            anyway=anyway,
        )
    if as_json:
        content = {"audit": [json.loads(one.to_json()) for one in audits]}
        click.echo(json.dumps({"report": str(path)} | (content if audits else {})))
    else:
        click.echo("".join(f"{one}\n\n" for one in audits) + f"wrote {path}")
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


# --- The command `curvewise export` ----------------------------------------------------


@click.command()
@source_options
@click.argument("out", type=click.Path())
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def export(source: str, out: str, force: bool, **keywords: Any) -> None:
    """Write the trials of a store, or of any other results, as a table.

    It has one row per trial and step. OUT ends in .parquet, .csv or .jsonl. curvewise
    reads such a table again, to the same trials; so do pandas, polars, R and
    spreadsheets.

    \b
    Example:
      curvewise export moons.db moons.parquet
      curvewise export moons.db moons.csv --force
      curvewise export mlruns runs.parquet --algorithm params.model
    """
    import curvewise as cw
    from curvewise.exchange.write import writer
    from curvewise.text import count

    writer(Path(out), force=force)  # before anything is read
    trials = read_source(source, **keywords)
    rows = cw.write(trials, out, force=force)
    click.echo(f"wrote {out}: {count(len(trials), 'trial')} in {count(rows, 'row')}")


_SILENT, _EVERY = 1.0, 10.0  # seconds before the first line, and between lines
_LEAST = 2.0  # seconds after which one knows how long it will take


@contextmanager
def auditing(what: str) -> Iterator[list[Any]]:
    """Show what is going on, and return the audits that a report made.

    On a terminal in one line that changes; elsewhere in lines, now and then.
    """
    from curvewise.questions.audit.section import watched

    if not sys.stderr.isatty():
        with watched(_shown(_line, every=_EVERY)) as audits:
            yield audits
        return
    from rich.console import Console

    with (
        Console(stderr=True).status(what) as status,
        watched(_shown(status.update, every=0.0)) as audits,
    ):
        yield audits


def _shown(
    tell: Callable[[str], object], *, every: float
) -> Callable[[int, int], None]:
    """Return a function that tells how far an audit is, not too often."""
    from curvewise.flow.progress import Pace, left_at_mean

    pace = Pace()
    next_time = 0.0

    def show(done: int, total: int) -> None:
        nonlocal next_time
        if done == 1:
            pace.restart()
            next_time = min(every, _SILENT)
        seconds = pace.seconds
        if seconds < next_time:
            return
        next_time = seconds + every
        how_far = f"auditing: {done:,} of {total:,} answers"
        if seconds >= _LEAST and done < total:
            left = left_at_mean(seconds, done, total)
            how_far = f"{how_far}, about {left:.0f} s left"
        tell(how_far)

    return show


def _line(text: str) -> None:
    sys.stderr.write(f"curvewise: {text}\n")
