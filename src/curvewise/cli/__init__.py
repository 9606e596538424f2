"""The command line: each command calls the Python API and prints what it returns."""

import re
import sys

import click

from curvewise._version import __version__
from curvewise.cli import (
    confusion,
    difference,
    export,
    learning,
    plan,
    replay,
    results,
    robustness,
    run,
    status,
)
from curvewise.cli.showing import INTERRUPTED
from curvewise.errors import CurvewiseError

EPILOG = """Exit status: 0 fine, 1 error, 2 wrong usage, 3 finished, but some trials
failed, 130 stopped by Ctrl-C.

Start with your own file, or let 'curvewise example search > results.csv' show what
one looks like."""
_EXPERIMENTS = (run.run, status.status, replay.replay, export.export)
SECTIONS = {
    "Commands about results": (
        results.check,
        results.performance,
        robustness.robustness,
        difference.difference,
        learning.learning,
        confusion.confusion,
        plan.plan,
        results.report,
        results.example,
    ),
    "Commands about experiments": _EXPERIMENTS,
}

_KEYWORDS = re.compile(
    r"\b(failed|at|metrics?|params|unit|trials?|step|status|on|runs|algorithm|task"
    r"|executor|timeout|memory|workers|retries|experiment|force|alpha|confidence|band"
    r"|margin|threshold|tail|family|of|seed|half_width|over_tasks|grid|fill|windows|level"
    r"|null|noise|shuffles|power|effect|shift|stretch|size|method|target"
    r"|test_size|average|positive|classes)="
    r"(?:'([^']*)'|True\b)?(?!=)"
)


def _as_typed(message: str) -> str:
    """Return a message of the Python API with its keywords as options.

    >>> _as_typed("Pass failed='worst' or failed=<score>.")
    'Pass --failed worst or --failed <score>.'
    >>> _as_typed("Leave memory= out, or pass executor='local'.")
    'Leave --memory out, or pass --executor local.'
    >>> _as_typed("Pass force=True to replace it.")
    'Pass --force to replace it.'
    >>> _as_typed("Pass half_width=, of='mean' or pilot=<a few trials>.")
    'Pass --half-width, --of mean or a file of a few trials.'
    """
    message = message.replace("pilot=<a few trials>", "a file of a few trials")

    def option(found: re.Match[str]) -> str:
        gap = "" if message[found.end() :].startswith((" ", ",")) else " "
        name = found[1].replace("_", "-")
        return f"--{name} {found[2]}" if found[2] else f"--{name}{gap}"

    return _KEYWORDS.sub(option, message)


class Group(click.Group):
    """Commands whose errors are one line on standard error and status 1."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; say what went wrong without a traceback."""
        try:
            return super().invoke(ctx)
        except (CurvewiseError, OSError) as problem:
            click.echo(f"curvewise: {_as_typed(str(problem))}", err=True)
            ctx.exit(1)
        except KeyboardInterrupt:
            click.echo("curvewise: stopped by Ctrl-C.", err=True)
            ctx.exit(INTERRUPTED)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the commands under the headings of their groups."""
        width = formatter.width - 6 - max(map(len, self.commands))
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(c.name or "", c.get_short_help_str(width)) for c in commands]
                )


@click.group(
    cls=Group,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.version_option(__version__, prog_name="curvewise")
def main() -> None:
    """Judge learning algorithms by whole curves and distributions.

    How good is it, and how hard to tune? Give a file of results (CSV, Parquet, JSON
    lines or a store) and get a table, a figure's worth of numbers, a page. No results
    yet? Describe an experiment in a TOML file, and run it.
    """
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        # A name that the terminal cannot show is no reason to fail.
        sys.stdout.reconfigure(errors="replace")


for section in SECTIONS.values():
    for command in section:
        main.add_command(command)
