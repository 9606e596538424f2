"""Commands about experiments: run and what it would do, status, watch, replay."""

import json
import os
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from curvewise.errors import shortened
from curvewise.questions.commands import (
    INTERRUPTED,
    as_json,
    leave,
    number_or_word,
    one_thread,
    warnings_as_lines,
    working,
)

if TYPE_CHECKING:
    from curvewise.engine.experiment import Experiment
    from curvewise.flow.run import Probe
    from curvewise.flow.status import CellStanding
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
    **stated: Any,
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
    from curvewise.flow.plan import recipe_of
    from curvewise.flow.toml import PLAN, RUN

    recipe = recipe_of(source, zoo)
    if trials is not None:
        recipe = replace(recipe, experiment=replace(recipe.experiment, trials=trials))
    options = recipe.options | {k: v for k, v in stated.items() if v is not None}
    if options["store"].startswith("~"):
        options["store"] = os.path.expanduser(options["store"])  # noqa: PTH111
    with warnings_as_lines({*PLAN, *RUN} if recipe.text else None):
        if dry_run:
            _show_plan(recipe, options, retry_failed=retry_failed)
        else:
            _run(recipe, options, retry_failed=retry_failed, quiet=quiet)


def _run(
    recipe: "Recipe", options: dict[str, Any], *, retry_failed: bool, quiet: bool
) -> None:
    import curvewise as cw
    from curvewise.flow.plan import notes_of, outlook
    from curvewise.flow.status import standing
    from curvewise.flow.toml import send_whole
    from curvewise.text import count

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
    from curvewise.text import plain

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
    from curvewise.flow.plan import NOT_OK, outlook
    from curvewise.flow.run import PROBED_TRIALS, estimate, workers_of
    from curvewise.flow.toml import check_options
    from curvewise.flow.until.stopping import criterion_of
    from curvewise.stats.planning import planned_looks
    from curvewise.store.address import shown_store
    from curvewise.text import plain

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
        estimated = estimate(
            experiment,
            ahead.left,
            executor=executor,
            workers=asked,
            timeout=options.get("timeout"),
        )
    click.echo(plain([probe.row() for probe in estimated.probes]))
    for probe in estimated.probes:
        if probe.failed:
            click.echo(_complaint(probe))
    click.echo(f"\n{estimated}.")
    if any(probe.tried for probe in estimated.probes):
        click.echo(
            f"Probed: up to {PROBED_TRIALS} trials of each for a few seconds, "
            f"none of them kept. The first also loads libraries, and counts only where it "
            f"is the only one."
        )
    leave(sum(probe.failed for probe in estimated.probes))


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


# --- The command `curvewise status` ----------------------------------------------------


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
    from curvewise.flow.status import standing

    now = standing(store)
    click.echo(json.dumps(now.to_dict(), indent=2) if as_json else str(now))
    leave(now.failed)


# --- The command `curvewise watch` -----------------------------------------------------


@click.command()
@click.argument("store")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Where to listen; 0 for any port that is free.  [default: 8765, or the next one "
    "that is free]",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Another address lets other machines read; there is no password.",
)
@click.option(
    "--metric",
    metavar="NAME",
    help="Which score curves are of.  [default: what the run is to find out about, or "
    "the first one]",
)
@click.option(
    "--at",
    type=number_or_word,
    metavar="last|mean|best|STEP",
    help="Which value of a curve is its score.  [default: last]",
)
@click.option(
    "--failed",
    type=number_or_word,
    default="worst",
    metavar="worst|SCORE",
    show_default=True,
    help="What a failed trial scores. Where a metric has no worst score, failed trials "
    "are left out of the curves, and the page says so.",
)
@click.option(
    "--until",
    metavar="TEXT",
    help='Say when this will be known: "cvar 0.5 +- 0.01 of accuracy".  [default: what '
    "the run was told]",
)
@click.option("--open", "is_opened", is_flag=True, help="Open the page in a browser.")
def watch(
    store: str,
    port: int | None,
    host: str,
    metric: str | None,
    at: Any,
    failed: Any,
    until: str | None,
    is_opened: bool,
) -> None:
    """Show a run while it goes on, in a page that moves.

    STORE is a file or the URL of a database; it is only read, and need not be there yet.
    The page says how far it is, how fast it goes, what went wrong and when what was asked
    for will be known, and shows the scores so far with a band that holds however often
    one looks. Start it in a second terminal, and end it with Ctrl-C: the run does not
    mind.

    The page is for this machine alone. To see it from another one, forward the port:
    ssh -L 8765:127.0.0.1:8765 machine.

    \b
    Example:
      curvewise watch moons.db
      curvewise watch moons.db --open
      curvewise watch moons.db --until "cvar 0.5 +- 0.01 of accuracy"
      curvewise watch "postgresql://host/runs?schema=moons" --port 0
    """
    from curvewise.flow.watch import Watcher
    from curvewise.report.live.server import is_loopback, require_extra, serve

    require_extra()
    watcher = Watcher(
        store,
        metric=metric,
        at=at,
        failed=failed,
        asked=until,
    )

    def say(url: str) -> None:
        if not is_loopback(host):
            click.echo(
                f"curvewise: whoever reaches {host} can read these results; there is no "
                f"password, and nothing is encrypted.",
                err=True,
            )
        if watcher.moment().state == "waiting":
            click.echo(f"curvewise: waiting for {store} to appear.", err=True)
        click.echo(f"{url}  (Ctrl-C ends it)")
        if is_opened:
            import webbrowser

            webbrowser.open(url)

    serve(watcher, host=host, port=port, opened=say)


# --- The command `curvewise replay` ----------------------------------------------------


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
    one_thread()
    import curvewise as cw
    from curvewise.flow.plan import changed, recipe_of, remembered
    from curvewise.flow.toml import PLAN, RUN

    with cw.store.open(store, create=False) as opened:
        notes = opened.notes()
        lost = opened.numbers(["crashed", "timeout"]).get((task, algorithm), ())
    recipe = recipe_of(source, cw.zoo) if source else remembered(notes, store, cw.zoo)
    for difference in changed(recipe.experiment, notes, task, algorithm):
        click.echo(f"curvewise: defined differently since:\n{difference}", err=True)
    if number in lost:
        click.echo(
            "curvewise: this trial crashed or was over its time limit. Here it has no "
            "limit, and may end this process.",
            err=True,
        )
    with warnings_as_lines({*PLAN, *RUN} if recipe.text else None):
        answer = cw.replay(recipe.experiment, store, task, algorithm, number)
    click.echo(str(answer))
    if not answer.agrees:
        click.get_current_context().exit(1)
