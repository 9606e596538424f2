"""The command `curvewise export`."""

from pathlib import Path
from typing import Any

import click

from curvewise.cli.sources import read_source, source_options


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
    from curvewise._text import count
    from curvewise.exchange.writing import writer

    writer(Path(out), force=force)  # before anything is read
    trials = read_source(source, **keywords)
    rows = cw.write(trials, out, force=force)
    click.echo(f"wrote {out}: {count(len(trials), 'trial')} in {count(rows, 'row')}")
