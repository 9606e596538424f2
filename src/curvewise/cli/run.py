"""The command `curvewise run`, and what it would do: ``--dry-run``."""

import os
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from curvewise.cli.showing import (
    INTERRUPTED,
    leave,
    one_thread,
    warnings_as_lines,
    working,
)
from curvewise.errors import shortened

if TYPE_CHECKING:
    from curvewise.engine.experiment import Experiment
    from curvewise.flow.estimating import Probe
    from curvewise.flow.standing import CellStanding
    from curvewise.flow.toml import Recipe


@click.command()
@click.argument("source", metavar="FILE")
@click.option("--store", metavar="PATH|URL", help="Where trials are kept.")
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="How many processes."
)
@click.option(
    "--executor",
    type=click.Choice(["local", "serial", "ray"]),
    help="Processes here, this process, or a Ray cluster.",
)
@click.option(
    "--trials",
    type=click.IntRange(1),
    metavar="N",
    help="How many of each algorithm on each task.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="How long a trial may take.",
)
@click.option(
    "--retries",
    type=click.IntRange(0),
    metavar="N",
    help="How often a trial is tried again whose worker died.",
)
@click.option(
    "--memory", metavar="SIZE", help='How much a trial may use, such as "2 GB".'
)
@click.option(
    "--until",
    metavar="TEXT",
    help='Stop when this is known: "cvar 0.5 +- 0.01", "ranking".',
)
@click.option(
    "--retry-failed", is_flag=True, help="Run those again that did not end well."
)
@click.option(
    "--dry-run", is_flag=True, help="Say what would be run, and about how long."
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def run(
    source: str,
    trials: int | None,
    retry_failed: bool,
    dry_run: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Run an experiment, or what is left of it.

    FILE is a TOML file, or module:experiment for an Experiment in a Python module.
    Options override the file. Trials are kept as they finish, in the file's
    store (FILE with .db, unless it says otherwise): whatever ends a run, the same command
    goes on where it stopped. Ctrl-C finishes the trials that run; twice, it stops at
    once.

    With --until it looks five times on the way, and ends when all algorithms on all tasks
    are known so well, or are ranked: "mean +- 0.01", "quantile 0.9 +- 0.02 of loss",
    "ranking cvar 0.5 within 0.01", "cvar 0.5 +- 0.01 failed worst". --trials is the most
    that it runs.

    \b
    Example:
      curvewise run moons.toml --dry-run
      curvewise run moons.toml --workers 8
      curvewise run moons.toml --trials 500      # more of the same
      curvewise run moons.toml --trials 5000 --until "cvar 0.5 +- 0.01"
      curvewise run moons.toml --retry-failed
    """
    if dry_run:
        one_thread()
    from curvewise import zoo
    from curvewise.flow.sources import recipe_of

    recipe = recipe_of(source, zoo)
    if trials is not None:
        recipe = replace(recipe, experiment=replace(recipe.experiment, trials=trials))
    options = recipe.options | {k: v for k, v in given.items() if v is not None}
    if options["store"].startswith("~"):
        options["store"] = os.path.expanduser(options["store"])  # noqa: PTH111
    with warnings_as_lines(of_toml=bool(recipe.text)):
        if dry_run:
            _show_plan(recipe, options, retry_failed=retry_failed)
        else:
            _run(recipe, options, retry_failed=retry_failed, quiet=quiet)


def _run(
    recipe: "Recipe", options: dict[str, Any], *, retry_failed: bool, quiet: bool
) -> None:
    import curvewise as cw
    from curvewise._text import count
    from curvewise.flow.importing import send_whole
    from curvewise.flow.plan import outlook
    from curvewise.flow.sources import notes_of
    from curvewise.flow.standing import standing

    experiment, where = recipe.experiment, options["store"]
    if options.get("executor") == "ray":
        send_whole(recipe.path.parent)
    before = outlook(experiment, where)
    try:
        trials = cw.run(
            experiment,
            **options,
            retry_failed=retry_failed,
            progress=False if quiet else None,
            notes=notes_of(recipe, where),
        )
    except KeyboardInterrupt:
        kept = experiment.size - outlook(experiment, where).trials
        click.echo(
            f"curvewise: {kept:,} of {count(experiment.size, 'trial')} are kept; the "
            f"same command goes on.",
            err=True,
        )
        click.get_current_context().exit(INTERRUPTED)
    cells = [(task.name, one.name) for task, one in experiment.cells()]
    now = standing(where, cells)
    if options.get("until") and not quiet:
        _show_reached(recipe.experiment, options["until"], where)
    if not quiet:
        if not before.trials and not retry_failed:
            total = f"{experiment.size:,}"
            click.echo(f"Nothing left to do: all {total} trials are there.\n")
        _show_end(now.cells, now.store)
    # A trial that ended well may still have a score that is no number.
    leave(now.failed or trials.count_failed())


def _show_reached(experiment: "Experiment", text: str, where: str) -> None:
    from curvewise.errors import CurvewiseError
    from curvewise.flow.until import until

    try:
        click.echo(f"{until(text).reached(experiment, where)}\n")
    except CurvewiseError as problem:
        click.echo(f"until {text}\nNobody can tell: {problem}\n")


def _show_end(cells: "list[CellStanding]", where: str) -> None:
    from curvewise._text import plain

    click.echo(plain([cell.short_row() for cell in cells]))
    store = shlex.quote(where)
    if any(cell.failed for cell in cells):
        click.echo(f"\nWhat went wrong: curvewise status {store}")
        click.echo(f"Then: curvewise report {store} -o report.html --failed worst")
    else:
        click.echo(f"\nNow: curvewise report {store} -o report.html")


def _show_plan(
    recipe: "Recipe", options: dict[str, Any], *, retry_failed: bool
) -> None:
    from curvewise._text import plain
    from curvewise.flow.estimating import PROBED_TRIALS, estimate, workers_of
    from curvewise.flow.plan import NOT_OK, outlook
    from curvewise.flow.sources import shown_store
    from curvewise.flow.toml import check_options
    from curvewise.flow.until.stopping import criterion_of
    from curvewise.stats.planning import planned_looks

    check_options(options)
    criterion_of(options.get("until"), recipe.experiment)
    experiment, where = recipe.experiment, options["store"]
    executor, asked = options.get("executor", "local"), options.get("workers")
    ahead = outlook(experiment, where, NOT_OK if retry_failed else ())
    click.echo(f"{experiment}\n")
    click.echo(f"store: {shown_store(where)}{' (new)' if ahead.is_new else ''}")
    click.echo(_way(options, workers_of(executor, asked)))
    if options.get("until"):
        looks = ", ".join(f"{n:,}" for n in planned_looks(experiment.trials))
        click.echo(f"until: {options['until']}; looks at {looks} trials of each")
    click.echo()
    with working("trying a few trials"):
        found = estimate(
            experiment,
            ahead.left,
            executor=executor,
            workers=asked,
            timeout=options.get("timeout"),
        )
    click.echo(plain([probe.row() for probe in found.probes]))
    for probe in found.probes:
        if probe.failed:
            click.echo(_complaint(probe))
    click.echo(f"\n{found}.")
    if any(probe.tried for probe in found.probes):
        click.echo(
            f"Probed: up to {PROBED_TRIALS} trials of each for a few seconds, "
            f"none of them kept. The first also loads libraries, and counts only where it "
            f"is the only one."
        )
    leave(sum(probe.failed for probe in found.probes))


def _complaint(probe: "Probe") -> str:
    bad = f"{probe.failed} of {len(probe.tried)} failed"
    problem = shortened(probe.problem, 200)
    return f"{probe.task}, {probe.algorithm}: {bad}: {problem}"


def _way(options: dict[str, Any], workers: int) -> str:
    """Return how trials would be run, in words."""
    words = [f"executor: {options.get('executor', 'local')}", f"workers: {workers}"]
    for key, unit in (("timeout", " s"), ("retries", ""), ("memory", "")):
        if key in options:
            words.append(f"{key}: {options[key]}{unit}")
    return ", ".join(words)
