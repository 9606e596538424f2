"""The command that says whether a new version is worse, for continuous integration."""

from pathlib import Path
from typing import Any

import click

import curvewise as cw
from curvewise.errors import CurvewiseError
from curvewise.questions.commands import (
    CANNOT_ANSWER,
    READING,
    answer_options,
    anyway_option,
    as_json,
    number_or_word,
    read_source,
    two_source_options,
)
from curvewise.questions.versions import Versions
from curvewise.trials import Trials

STATUSES = {"no worse": 0, "worse": 3, "cannot tell": CANNOT_ANSWER}


@click.command("compare-versions")
@two_source_options
@answer_options
@click.option(
    "--margin",
    type=number_or_word,
    metavar="NUMBER|PERCENT",
    help="How much worse is not worse: 0.01 in units of the metric, or 2% of the base's "
    "mean.  [default: 1% of the metric's range; 5% of the base's mean if it has none]",
)
@click.option(
    "--confidence", default=0.95, show_default=True, help="Of each claim, one-sided."
)
@click.option(
    "--paired/--no-paired",
    default=None,
    help="Compare trials of the same number (seed) in pairs.  [default: where both have "
    "the same numbers]",
)
@click.option(
    "--looks",
    default=1,
    show_default=True,
    help="How often you will have looked in the end, each time with more trials.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    metavar="FILE",
    help="Write it to a file, too: Markdown to .md, JSON to .json, text to any other; "
    "repeat for several.",
)
@anyway_option
@as_json
@click.option(
    "--markdown", "as_markdown", is_flag=True, help="Print Markdown for a pull request."
)
def compare_versions(
    *,
    base: str,
    new: str,
    outputs: tuple[str, ...],
    as_json: bool,
    as_markdown: bool,
    **keywords: Any,
) -> None:
    """Is the new version of an algorithm worse?

    Compares the mean score of NEW with that of BASE, algorithm by algorithm and task by
    task, and says in one line whether NEW is no worse than the margin allows, with how
    sure that is. Made for continuous integration.

    \b
    Exit status:
      0  no worse than the margin
      3  worse
      4  cannot tell: says how many more trials would, or what 'check' objects to
      1  an error, such as failed trials without --failed worst
      2  wrong usage

    \b
    Example:
      curvewise compare-versions main.csv branch.csv --metric return --margin 5%
      curvewise compare-versions main.db branch.db --failed worst -o comment.md
    """
    if as_json and as_markdown:
        raise click.UsageError("Pass --json or --markdown, not both.")
    reading = {name: keywords.pop(name) for name in READING if name in keywords}
    versions = (_read("BASE", base, reading), _read("NEW", new, reading))
    answer = cw.compare_versions(*versions, **keywords)
    kind = "x.json" if as_json else "x.md" if as_markdown else ""
    click.echo(_written(answer, kind))  # before a file that perhaps cannot be written
    for path in outputs:
        Path(path).write_text(f"{_written(answer, path)}\n", encoding="utf-8")
    click.get_current_context().exit(STATUSES[answer.verdict])


def _read(version: str, source: str, keywords: dict[str, Any]) -> Trials:
    """Return the trials of one version; an error says of which."""
    try:
        return read_source(source, **keywords)
    except CurvewiseError as problem:
        stated = any(value not in (None, ()) for value in keywords.values())
        hint = (
            " BASE and NEW are read with the same options. Where they need others, write "
            "one of them with 'curvewise export' first."
        )
        raise CurvewiseError(
            f"{version}: ", problem.message, hint * stated
        ) from problem


def _written(answer: Versions, path: str) -> str:
    """Return the answer in the language of a file."""
    ending = Path(path).suffix.lower()
    if ending == ".json":
        return answer.to_json()
    return answer.comment() if ending == ".md" else str(answer)
