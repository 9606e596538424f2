"""The command `curvewise export`."""

import click


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
    import curvewise as cw
    from curvewise._text import count
    from curvewise.exchange.writing import write_table

    trials = cw.Trials.later(lambda: cw.store.read(store))  # once it can be written
    rows = write_table(trials, out, force=force)
    click.echo(f"wrote {out}: {count(len(trials), 'trial')} in {count(rows, 'row')}")
