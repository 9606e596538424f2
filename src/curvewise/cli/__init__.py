"""The command line: each command calls the Python API and prints what it returns."""

import sys
from importlib.metadata import EntryPoint, entry_points

import click

from curvewise._papers import HINT, NoPapers
from curvewise._version import __version__
from curvewise.cli import (
    confusion,
    difference,
    explain,
    export,
    learning,
    plan,
    replay,
    results,
    robustness,
    run,
    status,
    versions,
    watch,
)
from curvewise.cli.showing import CANNOT_ANSWER, INTERRUPTED, in_shell
from curvewise.errors import Blocked, CurvewiseError, UnknownDirection

EPILOG = """Exit status: 0 fine, 1 error, 2 wrong usage, 3 finished, but some trials
failed, 4 no answer: check objects to the results (--anyway answers all the same), or
a metric's direction is unknown (--metrics), 130 stopped by Ctrl-C. Of
compare-versions: 0 no worse, 3 worse, 4 cannot tell.

Start with your own file, or let 'curvewise example search > results.csv' show what
one looks like."""
_EXPERIMENTS = (
    run.run,
    watch.watch,
    status.status,
    replay.replay,
    export.export,
)
SECTIONS = {
    "Commands about results": (
        explain.explain,
        results.check,
        results.performance,
        robustness.robustness,
        difference.difference,
        learning.learning,
        confusion.confusion,
        versions.compare_versions,
        plan.plan,
        results.report,
        results.example,
    ),
    "Commands about experiments": _EXPERIMENTS,
}
_ADDED = "Commands about papers"
_GROUP = "curvewise.commands"  # entry points of packages that add commands


class Group(click.Group):
    """Commands whose errors are one line on standard error and status 1, or 4.

    Other packages add commands, which are imported only where one is asked for.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of our commands, and of those that others add."""
        return [*super().list_commands(ctx), *_added()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if (ours := super().get_command(ctx, cmd_name)) is not None:
            return ours
        if (added := _added().get(cmd_name)) is not None:
            command: click.Command = added.load()
            return command
        if cmd_name == "paper":
            raise NoPapers(HINT)
        return None

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; say what went wrong without a traceback."""
        try:
            return super().invoke(ctx)
        except (CurvewiseError, OSError) as problem:
            text = (
                problem.message if isinstance(problem, CurvewiseError) else str(problem)
            )
            click.echo(f"curvewise: {in_shell(text, ctx)}", err=True)
            is_withheld = isinstance(problem, Blocked | UnknownDirection)
            ctx.exit(CANNOT_ANSWER if is_withheld else 1)
        except KeyboardInterrupt:
            click.echo("curvewise: stopped by Ctrl-C.", err=True)
            ctx.exit(INTERRUPTED)

    def format_commands(
        self,
        ctx: click.Context,
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the commands under the headings of their groups."""
        width = formatter.width - 6 - max(map(len, self.list_commands(ctx)))
        added = tuple(self.get_command(ctx, name) for name in _added())
        for heading, commands in {**SECTIONS, _ADDED: added}.items():
            rows = [(c.name or "", c.get_short_help_str(width)) for c in commands if c]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def _added() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=_GROUP)}


@click.group(
    cls=Group,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.version_option(__version__, prog_name="curvewise")
def main() -> None:
    """Judge learning algorithms by whole curves and distributions.

    How good is it, and how hard to tune? Give a file of results (CSV, Parquet, JSON
    lines or a store), or what MLflow, Optuna, Weights & Biases, TensorBoard,
    Stable-Baselines3 or Ray Tune kept, and get a table, a figure's worth of numbers, a
    page. No results yet? Describe an experiment in a TOML file, and run it.
    """
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        # A name that the terminal cannot show is no reason to fail.
        sys.stdout.reconfigure(errors="replace")


for section in SECTIONS.values():
    for command in section:
        main.add_command(command)
