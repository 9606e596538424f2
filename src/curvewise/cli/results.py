"""Commands about results that exist already: check, performance, report, example."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from curvewise.cli.showing import as_json, leave, warnings_as_lines, working

if TYPE_CHECKING:
    from curvewise.trials import Trials

_F = TypeVar("_F", bound=Callable[..., Any])


def source_options(command: _F) -> _F:
    """Add the source and the keywords of `curvewise.read` to a command."""
    return _with(
        command,
        click.argument("source", type=click.Path()),
        click.option("--runs", metavar="FILE", help="A second table, of the runs."),
        _column("--on", "joins the two tables", several=True),
        _column("--task", "names the task"),
        _column("--algorithm", "names the algorithm"),
        _column("--trial", "tells runs apart (seed, fold)", several=True),
        _column("--step", "counts the steps of a run"),
        _column("--status", "says how a run ended"),
        _column("--metrics", "holds scores", "NAME[=higher|lower]", several=True),
        _column("--params", "holds a hyperparameter", several=True),
        click.option(
            "--unit",
            type=click.Choice(["fraction", "percent"]),
            help="What rates are written in.",
        ),
    )


def answer_options(command: _F) -> _F:
    """Add what every answer takes: metric, at, failed."""
    return _with(
        command,
        click.option("--metric", metavar="NAME", help="Which score to judge by."),
        click.option(
            "--at",
            default="last",
            metavar="last|mean|best|STEP",
            show_default=True,
            help="Which value of a curve is its score.",
        ),
        click.option(
            "--failed",
            default="raise",
            metavar="raise|worst|SCORE",
            show_default=True,
            help="What a failed trial scores.",
        ),
    )


def _column(
    option: str, does: str, metavar: str = "COLUMN", *, several: bool = False
) -> Callable[[_F], _F]:
    again = "; repeat for several" if several else ""
    text = f"Column that {does}{again}."
    return click.option(option, metavar=metavar, multiple=several, help=text)


def _with(command: _F, *parameters: Callable[[_F], _F]) -> _F:
    for add in reversed(parameters):  # so that help lists them in this order
        command = add(command)
    return command


@click.command()
@source_options
@as_json
def check(as_json: bool, **keywords: Any) -> None:
    """Look at results as a careful reviewer would.

    \b
    Example:
      curvewise check results.csv
      curvewise check curves.parquet --runs runs.csv --on run
    """
    import curvewise as cw

    trials = _read(**keywords)
    found = cw.check(trials)
    click.echo(found.to_json() if as_json else str(found))
    leave(trials.count_failed())


@click.command()
@source_options
@answer_options
@click.option(
    "--alpha", default=0.5, show_default=True, help="Best 1 - alpha, worst alpha."
)
@click.option("--threshold", type=float, help="A score worth reaching.")
@click.option("--confidence", default=0.95, show_default=True, help="Of the band.")
@as_json
def performance(
    metric: str | None,
    at: str,
    failed: str,
    alpha: float,
    threshold: float | None,
    confidence: float,
    as_json: bool,
    **keywords: Any,
) -> None:
    """How good is it, and how hard to tune?

    Prints mean, both tails (CVaR) and the median with its band, task by task.

    \b
    Example:
      curvewise performance results.csv --metric acc --failed worst
      curvewise performance results.csv --metrics acc=higher --unit percent
    """
    import curvewise as cw

    answer = cw.performance(
        _read(**keywords),
        metric,
        alpha=alpha,
        threshold=threshold,
        at=_number_or_word(at),
        failed=_number_or_word(failed),
        confidence=confidence,
    )
    click.echo(answer.to_json() if as_json else str(answer))
    leave(sum(d.failed for d in answer.distributions))


@click.command()
@source_options
@answer_options
@click.option(
    "-o", "--output", default="report.html", show_default=True, metavar="FILE"
)
@as_json
def report(
    output: str,
    metric: str | None,
    at: str,
    failed: str,
    as_json: bool,
    **keywords: Any,
) -> None:
    """Write one HTML page that can be forwarded.

    \b
    Example:
      curvewise report results.csv -o report.html --failed worst
    """
    import json

    import curvewise as cw

    trials = _read(**keywords)
    with working("writing the report"):
        path = cw.report.write(
            trials,
            output,
            metric=metric,
            at=_number_or_word(at),
            failed=_number_or_word(failed),
        )
    click.echo(json.dumps({"report": str(path)}) if as_json else f"wrote {path}")
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


COMMANDS = (check, performance, report, example)


def _read(source: str, **keywords: Any) -> "Trials":
    from curvewise.flow.reading import read

    several = ("on", "trial", "params")
    stated: dict[str, Any] = {
        name: list(value) if name in several else value
        for name, value in keywords.items()
        if value not in (None, ())
    }
    if "trial" in stated:  # "[]" says that every row is a run of its own
        stated["trial"] = [column for column in stated["trial"] if column != "[]"]
    if "metrics" in stated:
        stated["metrics"] = _metrics(stated["metrics"])
    with working(f"reading {source}"), warnings_as_lines():
        return read(source, **stated)


def _metrics(texts: tuple[str, ...]) -> Any:
    pairs = [text.rpartition("=") if "=" in text else (text, "", "") for text in texts]
    if not any(direction for _, _, direction in pairs):
        return [name for name, _, _ in pairs]
    from curvewise.metrics import find

    out = {}
    for name, _, direction in pairs:
        out[name] = direction or find(name) or "higher"
    return out


def _number_or_word(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
