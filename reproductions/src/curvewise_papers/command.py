"""The command that runs a paper's experiments again, and compares."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curvewise.questions.commands import as_json, one_thread, warnings_as_lines

if TYPE_CHECKING:
    from curvewise_papers.study import Paper, Reproduction, Study


_WIDE = 96  # letters in a line


@click.command()
@click.argument("name", metavar="list|NAME")
@click.option(
    "--study",
    "chosen",
    multiple=True,
    metavar="NAME",
    help="Only this part of the paper; may be given again.  [default: all]",
)
@click.option(
    "--scale",
    type=click.Choice(["quick", "kept", "full"]),
    default="quick",
    show_default=True,
    help="A few minutes, what the documentation shows, or as many runs as the paper's.",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where trials are kept.  [default: runs/papers/NAME]",
)
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="How many processes."
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the page: tables, figures, errata.",
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Keep the results there as small tables.",
)
@click.option(
    "--kept",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="Run nothing: show what --keep has kept there.",
)
@click.option("--quiet", is_flag=True, help="No progress.")
@as_json
def paper(name: str, as_json: bool, **options: Any) -> None:
    """Run a paper's experiments again, its numbers beside ours.

    'curvewise paper list' says which papers there are, what each of their studies runs,
    what it needs and how long it takes. Trials are kept as they finish, so that the same
    command goes on where it stopped, and a larger scale goes on from a smaller one.

    Each printed number gets a verdict. It agrees if it is no further from ours than three
    standard errors and a gap that is stated beforehand; else it differs, and the table
    says why; or it cannot be checked, and the table says why not.

    \b
    Example:
      curvewise paper list
      curvewise paper jordan2018 --scale quick
      curvewise paper piater1998 --report piater.html
      curvewise paper xue2025 --study tables --scale full --workers 16
    """
    one_thread()
    if name == "list":
        _list()
        return
    with warnings_as_lines():
        _show(name, as_json=as_json, **options)


def _list() -> None:
    from curvewise_papers import PAPERS, find

    for each in PAPERS:
        paper = find(each)
        click.echo(f"{each}: {paper.printed.citation}")
        for study in paper.studies:
            lines = [f"{study.name}: {study.title}"]
            lines += [f"  {s}: {study.cost[s]}" for s in ("quick", "full")]
            if missing := study.missing():
                lines.append(f"  It needs {missing}.")
            for line in lines:
                begin = " " * (4 + len(line) - len(line.lstrip()))
                click.echo(click.wrap_text(line.strip(), _WIDE, begin, f"{begin}  "))
        click.echo()
    click.echo("Now: curvewise paper NAME, or curvewise paper NAME --study STUDY")


def _show(
    name: str,
    *,
    chosen: tuple[str, ...],
    report: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    from curvewise.report.page import refuse_to_replace
    from curvewise_papers import find

    paper = find(name)
    studies = tuple(map(paper.study, chosen)) or paper.studies
    if report is not None:
        refuse_to_replace(report)  # before hours of work, and not after
    reproductions = []
    for one in _reproduced(paper, studies, **options):
        reproductions.append(one)
        click.echo(_as_json(one) if as_json else _told(paper, one))
    if report is not None:
        from curvewise_papers.page import write

        click.echo(f"\nwrote {write(paper, reproductions, report)}", err=as_json)


def _reproduced(
    paper: "Paper",
    studies: "tuple[Study, ...]",
    *,
    scale: Any,
    store: Path | None,
    workers: int | None,
    keep: Path | None,
    kept: Path | None,
    quiet: bool,
) -> Any:
    from curvewise_papers import study as reproducing

    if kept is not None:
        return reproducing.kept(paper, studies, kept)
    folder = (store or Path("runs", "papers", paper.name)).expanduser()

    def command(study: "Study") -> str:
        return f"curvewise paper {paper.name} --study {study.name} --scale {scale}"

    return reproducing.reproduce(
        paper,
        studies,
        scale=scale,
        folder=folder,
        keep=keep,
        command=command,
        workers=workers,
        progress=False if quiet else None,
    )


def _told(paper: "Paper", one: "Reproduction") -> str:
    head = f"{paper.name}, {one.study.name}: {one.study.title}"
    if one.claims is None:
        again = shlex.join(
            ["curvewise", "paper", paper.name, "--study", one.study.name]
        )
        return f"{head}\nNot run, for it needs {one.missing}. Then: {again}\n"
    return f"{head}\n\n{one.claims}\n"


def _as_json(one: "Reproduction") -> str:
    import json

    if one.claims is None:
        return json.dumps({"study": one.study.name, "missing": one.missing})
    return one.claims.to_json()
