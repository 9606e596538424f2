"""The command `curvewise replay`."""

import click

from curvewise.cli.showing import one_thread, warnings_as_lines


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
    from curvewise.flow.sources import changed, recipe_of, remembered

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
    with warnings_as_lines(of_toml=bool(recipe.text)):
        answer = cw.replay(recipe.experiment, store, task, algorithm, number)
    click.echo(str(answer))
    if not answer.agrees:
        click.get_current_context().exit(1)
