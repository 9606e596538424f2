"""The command `curvewise status`."""

import json

import click

from curvewise.cli.showing import as_json, leave


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
    from curvewise.flow.standing import standing

    now = standing(store)
    click.echo(json.dumps(now.to_dict(), indent=2) if as_json else str(now))
    leave(now.failed)
