"""Runs the studies of a paper, or reads what is kept of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curvewise.papers.claims import Claims
from curvewise.papers.results import Results
from curvewise.papers.study import Paper, Runner, Scale, Study


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A study and what came out: its results, and the claims about the print.

    Parameters
    ----------
    study : Study
    results : Results or None
        None where something was missing.
    claims : Claims or None
    missing : str
        What was needed and not there.
    """

    study: Study
    results: Results | None
    claims: Claims | None
    missing: str = ""


def reproduce(
    paper: Paper,
    studies: Iterable[Study],
    *,
    scale: Scale,
    folder: Path | None,
    keep: Path | None = None,
    command: Callable[[Study], str],
    **options: Any,
) -> Iterable[Reproduction]:
    """Run studies, one after the other, and yield what came out of each.

    Parameters
    ----------
    paper : Paper
    studies : iterable of Study
    scale : {"quick", "kept", "full"}
    folder : Path, optional
        Where trials are stored, in a folder for each study, whatever the scale: a larger
        one goes on from a smaller one.
    keep : Path, optional
        Where the results are kept as small tables, before anything is said of them.
    command : callable
        What to say made the results of a study.
    **options
        For `curvewise.run`.
    """
    for study in studies:
        if missing := study.missing():
            yield Reproduction(study, None, None, missing)
            continue
        own = None if folder is None else folder / study.name
        runner = Runner(scale, own, options)
        found = study.run(runner).by(command(study), scale, runner.seeds)
        if keep is not None:
            found.write(keep / paper.name / study.name)
        yield Reproduction(study, found, paper.claims(study, found))


def kept(
    paper: Paper, studies: Iterable[Study], folder: Path
) -> Iterable[Reproduction]:
    """Yield what a folder has kept of studies; nothing is run.

    Parameters
    ----------
    paper : Paper
    studies : iterable of Study
    folder : Path
        With a folder for each paper, and in it one for each study.
    """
    for study in studies:
        found = Results.read(folder / paper.name / study.name)
        yield Reproduction(study, found, paper.claims(study, found))
