"""The command line: each command calls the Python API and prints what it returns."""

import sys
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

import click

from curvewise.errors import Blocked, CurvewiseError, UnknownDirection
from curvewise.questions import registry
from curvewise.questions.commands import CANNOT_ANSWER, INTERRUPTED, in_shell
from curvewise.reproductions import HINT, NoPapers
from curvewise.version import __version__

EPILOG = """Exit status: 0 fine, 1 error, 2 wrong usage, 3 finished, but some trials
failed, 4 no answer: check objects to the results (--anyway answers all the same), or
a metric's direction is unknown (--metrics), 130 stopped by Ctrl-C. Of
compare-versions: 0 no worse, 3 worse, 4 cannot tell.

Start with your own file, or let 'curvewise example search > results.csv' show what
one looks like."""
_ADDED = "Commands about papers"
_GROUP = "curvewise.commands"  # entry points of packages that add commands


def sections() -> dict[str, dict[str, tuple[str, str]]]:
    """Return where each command is, and its line in the list, which imports none."""
    return {
        "Commands about results": {
            "explain": (
                "curvewise.questions.explain.command.explain",
                "Which questions can these results answer?",
            ),
            "check": (
                "curvewise.cli.results.check",
                "Look at results as a careful reviewer would.",
            ),
            **{
                question.command: (
                    f"curvewise.questions.{question.name}.command."
                    f"{question.command.replace('-', '_')}",
                    question.asks,
                )
                for question in registry.QUESTIONS
                if question.command
            },
            "report": (
                "curvewise.cli.results.report",
                "Write one HTML page that can be forwarded.",
            ),
            "example": (
                "curvewise.cli.results.example",
                "Print an example file of results.",
            ),
        },
        "Commands about experiments": {
            "run": (
                "curvewise.cli.run.run",
                "Run an experiment, or what is left of it.",
            ),
            "watch": (
                "curvewise.cli.run.watch",
                "Show a run while it goes on, in a page that moves.",
            ),
            "status": (
                "curvewise.cli.run.status",
                "Say how far a store is, and what went wrong.",
            ),
            "replay": (
                "curvewise.cli.run.replay",
                "Run one trial again and say whether it comes out the same.",
            ),
            "export": (
                "curvewise.cli.results.export",
                "Write the trials of a store, or of any other results, as a table.",
            ),
        },
    }


class Group(click.Group):
    """Commands whose errors are one line on standard error and status 1, or 4.

    Each is imported when it is asked for, those that other packages add too.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of our commands, and of those that others add."""
        ours = sorted(name for commands in sections().values() for name in commands)
        return [*ours, *_added()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return a command by its name."""
        command: click.Command
        for commands in sections().values():
            if cmd_name in commands:
                module, _, name = commands[cmd_name][0].rpartition(".")
                command = getattr(import_module(module), name)
                return command
        if (added := _added().get(cmd_name)) is not None:
            command = added.load()
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
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the commands under the headings of their groups."""
        width = formatter.width - 6 - max(map(len, self.list_commands(ctx)))
        added = ((name, point.load()) for name, point in _added().items())
        lists = {
            heading: {name: line for name, (_, line) in commands.items()}
            for heading, commands in sections().items()
        }
        lists[_ADDED] = {name: command.help or "" for name, command in added}
        for heading, lines in lists.items():
            if lines:
                with formatter.section(heading):
                    formatter.write_dl(
                        [
                            (
                                name,
                                click.Command(name, help=line).get_short_help_str(
                                    width
                                ),
                            )
                            for name, line in lines.items()
                        ]
                    )


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
