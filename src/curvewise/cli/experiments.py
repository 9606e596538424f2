"""Commands about experiments: run, status, replay, export."""

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import click

from curvewise.cli import tally
from curvewise.cli.results import FAILED_TRIALS, as_json
from curvewise.cli.showing import warnings_as_lines

if TYPE_CHECKING:
    from curvewise.flow.toml import Recipe

INTERRUPTED = 130
_THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"),
)


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

    \b
    Example:
      curvewise run moons.toml --dry-run
      curvewise run moons.toml --workers 8
      curvewise run moons.toml --trials 500      # more of the same
      curvewise run moons.toml --retry-failed
    """
    from curvewise.cli import sources

    recipe = sources.with_trials(sources.found(source), trials)
    options = recipe.options | {k: v for k, v in given.items() if v is not None}
    if options["store"].startswith("~"):
        options["store"] = os.path.expanduser(options["store"])  # noqa: PTH111
    if dry_run:
        from curvewise.cli.planning import show_plan

        _one_thread()
        with warnings_as_lines(_in_toml if recipe.text else str):
            _leave(show_plan(recipe, options, retry_failed=retry_failed))
        return
    _run(recipe, options, retry_failed=retry_failed, quiet=quiet)


def _run(
    recipe: "Recipe", options: dict[str, Any], *, retry_failed: bool, quiet: bool
) -> None:
    import curvewise as cw
    from curvewise._text import count
    from curvewise.cli import sources
    from curvewise.cli.planning import kept
    from curvewise.flow.importing import send_whole

    experiment, where = recipe.experiment, options["store"]
    sources.remember(recipe, where)
    if options.get("executor") == "ray":
        send_whole(recipe.path.parent)
    before = kept(experiment, where)
    try:
        with warnings_as_lines(_in_toml if recipe.text else str):
            cw.run(
                experiment,
                **options,
                retry_failed=retry_failed,
                progress=False if quiet else None,
            )
    except KeyboardInterrupt:
        total = count(experiment.size, "trial")
        click.echo(
            f"curvewise: {kept(experiment, where):,} of {total} are kept; the same "
            f"command goes on.",
            err=True,
        )
        click.get_current_context().exit(INTERRUPTED)
    found = tally.snapshot(where)
    cells = [(task.name, one.name) for task, one in experiment.cells()]
    counted = tally.tallies(found, {}, cells)
    if not quiet:
        if before == experiment.size and not retry_failed:
            click.echo(f"Nothing left to do: all {before:,} trials are there.\n")
        _show_end(counted, sources.shown_store(where))
    _leave(sum(t.done - t.states["ok"] for t in counted) or found.count_failed())


def _show_end(counted: list[tally.Tally], where: str) -> None:
    import shlex

    from curvewise._text import plain

    click.echo(plain([one.row(planned=False) for one in counted]))
    store = shlex.quote(where)
    if any(one.done > one.states["ok"] for one in counted):
        click.echo(f"\nWhat went wrong: curvewise status {store}")
        click.echo(f"Then: curvewise report {store} -o report.html --failed worst")
    else:
        click.echo(f"\nNow: curvewise report {store} -o report.html")


@click.command()
@click.argument("store")
@as_json
def status(store: str, as_json: bool) -> None:
    """Say how far a store is, and what went wrong.

    STORE is a file or the URL of a database. It is only read, and may be looked at while
    a run fills it.

    \b
    Example:
      curvewise status moons.db
      watch curvewise status moons.db
      curvewise status "postgresql://host/runs?schema=moons" --json
    """
    from curvewise.cli.standing import standing

    now = standing(store)
    click.echo(json.dumps(now.to_dict(), indent=2) if as_json else str(now))
    _leave(now.failed)


@click.command()
@click.argument("store")
@click.argument("task")
@click.argument("algorithm")
@click.argument("number", type=int)
@click.option(
    "--experiment",
    "source",
    metavar="FILE",
    help="A TOML file, or module:experiment; what the store remembers if left out.",
)
def replay(
    store: str, task: str, algorithm: str, number: int, source: str | None
) -> None:
    """Run one trial again and say whether it comes out the same.

    It is run in this process, without limits. Exit status 0 if it agrees bit for bit, 1
    if it does not.

    \b
    Example:
      curvewise replay moons.db moons svm 17
      curvewise replay net.db mnist net 3 --experiment train:experiment
    """
    _one_thread()
    import curvewise as cw
    from curvewise import store as stores
    from curvewise.cli import sources

    with stores.open(store, create=False) as opened:
        notes = opened.notes()
        lost = opened.numbers(["crashed", "timeout"]).get((task, algorithm), ())
    recipe = sources.found(source) if source else sources.remembered(notes, store)
    for difference in sources.changed(recipe.experiment, notes, task, algorithm):
        click.echo(f"curvewise: defined differently since:\n{difference}", err=True)
    if number in lost:
        click.echo(
            "curvewise: this trial crashed or was over its time limit. Here it has no "
            "limit, and may end this process.",
            err=True,
        )
    with warnings_as_lines(_in_toml if recipe.text else str):
        answer = cw.replay(recipe.experiment, store, task, algorithm, number)
    click.echo(str(answer))
    if not answer.agrees:
        click.get_current_context().exit(1)


@click.command()
@click.argument("store")
@click.argument("out", type=click.Path())
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def export(store: str, out: str, force: bool) -> None:
    """Write the trials of a store as a table.

    It has one row per trial and step. OUT ends in .parquet, .csv or .jsonl. curvewise
    reads such a table again, with the same scores; so do pandas, polars, R and
    spreadsheets.

    \b
    Example:
      curvewise export moons.db moons.parquet
      curvewise export moons.db moons.csv --force
    """
    from curvewise._text import count
    from curvewise.cli.exporting import write_table

    rows, trials = write_table(store, out, force=force)
    click.echo(f"wrote {out}: {count(trials, 'trial')} in {count(rows, 'row')}")


COMMANDS = (run, status, replay, export)


def _one_thread() -> None:
    """Compute in one thread, as workers do: sums of several are rounded differently."""
    if "numpy" not in sys.modules:
        for name in _THREADS:
            os.environ[name] = "1"


def _in_toml(message: str) -> str:
    """Return a message of the Python API as it is meant for a TOML file.

    >>> _in_toml("State it with metrics=, such as [Metric('f', 'lower')].")
    'State it in the file: [metrics], and below it f = "lower".'
    """
    return re.sub(
        r"with metrics=, such as \[Metric\('(.+)', 'lower'\)\]",
        r'in the file: [metrics], and below it \1 = "lower"',
        message,
    )


def _leave(failed: int) -> None:
    if failed:
        click.get_current_context().exit(FAILED_TRIALS)
