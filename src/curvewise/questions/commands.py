"""What commands share: options, how they read a source, how they end."""

import functools
import os
import sys
import warnings
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from curvewise.engine.workers import BLAS_THREADS
from curvewise.errors import CurvewiseWarning, Message

if TYPE_CHECKING:
    from curvewise.answer import Provenance
    from curvewise.trials import Trials


_F = TypeVar("_F", bound=Callable[..., Any])


# What says how a source is read.
READING = (
    *("runs", "on", "task", "algorithm", "trial", "step", "status", "metrics"),
    *("params", "unit", "where", "names", "decimal", "roles", "tool"),
    *("block", "cluster"),
)


def with_trials(command: Callable[..., None]) -> Callable[..., None]:
    """Add a source to a command, and give it the trials that are there."""

    @functools.wraps(command)
    def reading(source: str, **options: Any) -> None:
        keywords = {name: options.pop(name) for name in READING}
        command(read_source(source, **keywords), **options)

    return source_options(reading)


def source_options(command: _F) -> _F:
    """Add the source and the keywords of `curvewise.read` to a command."""
    return _with(
        command,
        click.argument("source", type=click.Path()),
        click.option("--runs", metavar="FILE", help="A second table, of the runs."),
        _column("--on", "joins the two tables", several=True),
        *_reading(),
    )


def two_source_options(command: _F) -> _F:
    """Add two sources, BASE and NEW, that are read with the same keywords."""
    return _with(
        command,
        click.argument("base", type=click.Path()),
        click.argument("new", type=click.Path()),
        *_reading(),
    )


def _reading() -> "tuple[Callable[[_F], _F], ...]":
    """Return the options that say what is what in a source."""
    return (
        _column("--task", "names the task, or holds the scores of one", several=True),
        _column(
            "--algorithm",
            "names the algorithm, or holds the scores of one",
            several=True,
        ),
        _column(
            "--trial",
            "tells runs apart (seed, fold), or 'row' if every row is a run",
            several=True,
        ),
        _column(
            "--step",
            "counts the steps of a run (two of them: epoch+batch), or 'row' if its rows do",
            several=True,
        ),
        _column("--status", "says how a run ended", "COLUMN[=FAILED]"),
        _column(
            "--metrics",
            "holds scores, which way is better, and their range (acc=higher:0:1); "
            "score=column:NAME where a column says it",
            "NAME[=higher|lower[:LOW:HIGH]]",
            several=True,
        ),
        _column("--params", "holds a hyperparameter", several=True),
        click.option(
            "--unit",
            type=click.Choice(["fraction", "percent", "mixed"]),
            help="What rates are written in.",
        ),
        click.option(
            "--where",
            metavar="NAME=VALUE",
            multiple=True,
            help="Read only rows or runs with this value, such as experiment=cifar; "
            "repeat for several.",
        ),
        click.option(
            "--names",
            type=click.Choice(["exact", "casefold"]),
            help="Whether 'PPO' and 'ppo' are two names or one.",
        ),
        click.option(
            "--decimal",
            type=click.Choice([",", "."]),
            help="What the comma in 1,234 is: the decimal point, or nothing.",
        ),
        click.option(
            "--roles",
            metavar="PATTERN",
            help="What names of runs say, such as '{algorithm}-{task}-s{seed}'; or "
            "ROLE=NAME for what all runs share, such as algorithm=ppo.",
        ),
        click.option(
            "--tool",
            metavar="TOOL",
            help="Whose results these are, where a folder holds those of several: mlflow, "
            "optuna, wandb, tensorboard, sb3, ray, folder, lightning, ...",
        ),
        _design("--block", "that algorithms share by design (fold, split)"),
        _design("--cluster", "whose runs are not independent (config)"),
    )


def answer_options(command: _F) -> _F:
    """Add what every answer takes: metric, at, failed."""
    return _with(
        command,
        click.option("--metric", metavar="NAME", help="Which score to judge by."),
        click.option(
            "--at",
            type=number_or_word,
            default="last",
            metavar="last|mean|best|STEP",
            show_default=True,
            help="Which value of a curve is its score.",
        ),
        failed_option("What a failed trial scores."),
    )


def failed_option(text: str) -> Callable[[_F], _F]:
    """Return the option that says what a failure scores."""
    return click.option(
        "--failed",
        type=number_or_word,
        default="raise",
        metavar="raise|worst|SCORE",
        show_default=True,
        help=text,
    )


def step_options(command: _F) -> _F:
    """Add how curves come on common steps."""
    return _with(
        command,
        click.option(
            "--grid",
            type=int,
            help="At how many steps to compare curves that were recorded at different "
            "ones.",
        ),
        click.option(
            "--fill",
            type=click.Choice(["error", "last", "linear"]),
            help="How a curve meets a step at which it was not recorded.  [default: "
            "linear with --grid, error without]",
        ),
    )


anyway_option = click.option(
    "--anyway", is_flag=True, help="Answer in spite of what 'check' objects to."
)
band_option = click.option(
    "--band",
    type=click.Choice(["kolmogorov", "equal_local_levels", "dkw", "anytime"]),
    default="kolmogorov",
    show_default=True,
    help="What guaranteed intervals are read off: equal_local_levels is narrow in the "
    "tails, anytime lets you look whenever you like.",
)


def _column(
    option: str, does: str, metavar: str = "COLUMN", *, several: bool = False
) -> Callable[[_F], _F]:
    again = "; repeat for several" if several else ""
    text = f"Column that {does}{again}."
    return click.option(option, metavar=metavar, multiple=several, help=text)


def _design(option: str, does: str) -> Callable[[_F], _F]:
    text = f"Label or param {does}; repeat for several; 'row' for none."
    return click.option(option, metavar="NAME", multiple=True, help=text)


def _with(command: _F, *parameters: Callable[[_F], _F]) -> _F:
    for add in reversed(parameters):  # so that help lists them in this order
        command = add(command)
    return command


def read_source(source: str, **keywords: Any) -> "Trials":
    """Return the trials that the options of `source_options` ask for."""
    import curvewise as cw

    several = ("on", "trial", "params", "block", "cluster")
    stated: dict[str, Any] = {
        name: list(value) if name in several else value
        for name, value in keywords.items()
        if value not in (None, ())
    }
    if "trial" in stated:  # "row" says that every row is a run of its own
        stated["trial"] = [c for c in stated["trial"] if c not in ("[]", "row")]
    for part in ("block", "cluster"):  # "row": every run stands for itself
        if part in stated:
            stated[part] = [name for name in stated[part] if name not in ("row", "[]")]
    for role in ("task", "algorithm", "step"):
        if role in stated:
            columns = stated[role]
            stated[role] = columns[0] if len(columns) == 1 else list(columns)
    if "where" in stated:
        stated["where"] = _where(stated["where"])
    if "metrics" in stated:
        stated["metrics"] = _metrics(stated["metrics"])
    if "roles" in stated:
        stated["roles"] = _roles(stated["roles"])
    with working(f"reading {source}"), warnings_as_lines():
        return cw.read(source, **stated)


def _metrics(texts: tuple[str, ...]) -> Any:
    pairs = [
        text.rpartition("=") if "=" in text and not _is_name(text) else (text, "", "")
        for text in texts
    ]
    if not any(direction for _, _, direction in pairs):
        return [name for name, _, _ in pairs]
    out: dict[str, Any] = {}
    for name, _, meant in pairs:
        word, _, column = meant.partition(":")
        out[name] = {"column": column} if word == "column" else meant or None
    return out


def _is_name(text: str) -> bool:
    """Return whether a number follows the sign, as in a column called n=100."""
    try:
        float(text.rpartition("=")[2])
    except ValueError:
        return False
    return True


def _where(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return choices as a mapping; a name that comes twice has several values."""
    chosen: dict[str, list[str]] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise click.BadParameter(
                f"{text!r} is not NAME=VALUE.", param_hint="--where"
            )
        chosen.setdefault(name, []).append(value)
    return {n: v[0] if len(v) == 1 else v for n, v in chosen.items()}


def _roles(text: str) -> Any:
    """Return a pattern as it is, and ``algorithm=ppo,task=Hopper`` as a dict."""
    if "{" in text or "=" not in text:
        return text
    pairs = (part.partition("=") for part in text.split(","))
    return {role.strip(): name.strip() for role, _, name in pairs}


def number_or_word(text: str) -> Any:
    """Return a number if a text is one, and the text if not."""
    try:
        return float(text)
    except ValueError:
        return text


# --- What commands share: how they end, and what they say while they work --------------


FAILED_TRIALS = 3
CANNOT_ANSWER = 4
INTERRUPTED = 130
# What is no option, but an argument: the source of `curvewise plan`.
_WORDS = {"pilot": "a file of"}

as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for machines."
)


def show(answer: Any, as_json: bool, failed: int) -> None:
    """Print an answer, and end with a status of its own if trials failed."""
    click.echo(answer.to_json() if as_json else str(answer))
    leave(failed)


def leave(failed: int) -> None:
    """End with a status of its own if trials failed."""
    if failed:
        click.get_current_context().exit(FAILED_TRIALS)


def one_thread() -> None:
    """Compute in one thread, as workers do: sums of several are rounded differently."""
    if "numpy" not in sys.modules:
        os.environ.update(dict.fromkeys(BLAS_THREADS, "1"))


def option_names(ctx: click.Context | None) -> dict[str, str] | None:
    """Return what commands call the keywords of the Python API that they know."""
    root = ctx and ctx.find_root()
    if root is None or not isinstance(root.command, click.Group):
        return None
    commands = (
        root.command.get_command(root, n) for n in root.command.list_commands(root)
    )
    options = [
        param
        for command in commands
        if command is not None
        for param in command.params
        if isinstance(param, click.Option)
    ]
    by_option = {one.opts[-1].strip("-").replace("-", "_"): one for one in options}
    by_keyword = {one.name: one for one in options if one.name}
    by_name = by_keyword | by_option
    return _WORDS | {name: one.opts[-1] for name, one in by_name.items()}


def in_shell(text: str, ctx: click.Context | None = None) -> str:
    """Return a message of the Python API with its keywords as options."""
    names = option_names(ctx or click.get_current_context(silent=True))
    return text.as_options(names) if isinstance(text, Message) else text


def in_options(source: "Provenance") -> "Provenance":
    """Return where an answer came from, with the keywords of its cautions as options."""
    return replace(source, cautions=tuple(map(in_shell, source.cautions)))


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is going on, where somebody is watching."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def warnings_as_lines(toml_keys: Container[str] | None = None) -> Iterator[None]:
    """Print our own warnings as lines, when they come; above a bar, if there is one.

    They are written as options, or as the keys that a TOML file may have.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", CurvewiseWarning)
        usual = warnings.showwarning
        names = option_names(click.get_current_context(silent=True))

        def show(message: Any, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, CurvewiseWarning):
                text = message.message
                line = (
                    text.as_options(names)
                    if toml_keys is None
                    else text.as_toml(toml_keys)
                )
                sys.stderr.write(f"curvewise: {line}\n")
            else:
                usual(message, category, *rest)

        warnings.showwarning = show  # type: ignore[assignment]  # `rest` is the rest
        yield
