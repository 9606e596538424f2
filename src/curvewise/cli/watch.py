"""The command `curvewise watch`."""

import click

from curvewise.cli.sources import number_or_word


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
    metavar="last|mean|best|STEP",
    help="Which value of a curve is its score.  [default: last]",
)
@click.option(
    "--failed",
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
    at: str | None,
    failed: str,
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
    from curvewise.flow.watching import Watcher
    from curvewise.report.live.serving import is_loopback, require_extra, serve

    require_extra()
    watcher = Watcher(
        store,
        metric=metric,
        at=None if at is None else number_or_word(at),
        failed=number_or_word(failed),
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
