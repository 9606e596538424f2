"""What a paper's file is made of: studies that are run, and what is kept of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from curvewise.engine.experiment import Experiment
from curvewise.errors import unknown
from curvewise.figures.series import Chart
from curvewise.flow.running import run
from curvewise.flow.tracking import each
from curvewise.papers.claim import Claim
from curvewise.papers.printed import Printed, printed
from curvewise.papers.results import Results
from curvewise.review.gate import ungated
from curvewise.trials import Trials

if TYPE_CHECKING:
    from curvewise.papers.claims import Claims

Scale: TypeAlias = Literal["quick", "kept", "full"]
Item = TypeVar("Item")

SCALES: dict[Scale, str] = {
    "quick": "a few minutes",
    "kept": "what the documentation shows",
    "full": "as many runs as the paper's",
}


@dataclass(frozen=True, slots=True)
class Runner:
    """How a study is run: how much of it, by whom, and where trials are kept.

    Parameters
    ----------
    scale : {"quick", "kept", "full"}
    folder : Path, optional
        Of the stores; without one, trials are kept in memory.
    options : mapping
        For `curvewise.run`: workers, executor, progress.
    seeds : dict of int to None
        Of the experiments that were run, in order.
    """

    scale: Scale
    folder: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    seeds: dict[int, None] = field(default_factory=dict, compare=False)

    def store(self, name: str) -> Path | None:
        """Return where the trials of a name are kept."""
        return None if self.folder is None else self.folder / f"{name}.db"

    def trials(self, experiment: Experiment, name: str) -> Trials:
        """Run an experiment, or what is left of it."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        self.seeds[experiment.seed] = None
        return run(experiment, store=self.store(name), **self.options)

    def each(self, items: Sequence[Item], what: str) -> Iterator[Item]:
        """Yield items of a long computation, and say how far it is."""
        return each(items, what, self.options.get("progress"))


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the paper, made from our trials.

    Parameters
    ----------
    name : str
        What its file is called, such as ``"figure-1"``.
    title : str
    charts : tuple of Chart
        Its panels, row by row.
    says : str
        What one sees in it, and what the paper saw.
    columns : int
        How many panels are side by side.
    """

    name: str
    title: str
    charts: tuple[Chart, ...]
    says: str
    columns: int = 4


def _nothing() -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Study:
    """One experiment of a paper.

    Parameters
    ----------
    name : str
    title : str
        Which tables and figures it is about.
    about : str
        What is run.
    settled : tuple of str
        What the paper leaves open, and what we do.
    cost : mapping of scale to str
        How long it takes.
    run : callable
        From a `Runner` to `Results`.
    claims, figures : callable
        From `Results`, in no time.
    missing : callable
        Returns what is needed and not there, in words; empty if nothing is.
    """

    name: str
    title: str
    about: str
    settled: tuple[str, ...]
    cost: Mapping[Scale, str]
    run: Callable[[Runner], Results]
    claims: Callable[[Results], Sequence[Claim]]
    figures: Callable[[Results], Sequence[Figure]]
    missing: Callable[[], str] = _nothing

    def __post_init__(self) -> None:
        # What a paper did is shown as it did it: nothing of it is withheld.
        for name in ("run", "claims", "figures"):
            object.__setattr__(self, name, ungated()(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its studies here, and what it prints.

    Parameters
    ----------
    name : str
        Of its module here, and of its TOML file.
    about : str
        What it is about, for somebody who has not read it.
    studies : tuple of Study
    """

    name: str
    about: str
    studies: tuple[Study, ...]

    @property
    def printed(self) -> Printed:
        """Who wrote it, its tables as data, its errata."""
        return printed(self.name)

    def study(self, name: str) -> Study:
        """Return one of its studies."""
        for study in self.studies:
            if study.name == name:
                return study
        raise unknown(f"study of {self.name}", name, [s.name for s in self.studies])

    def claims(self, study: Study, results: Results) -> "Claims":
        """Return what the results of a study say about the printed numbers."""
        from curvewise._answer import Provenance
        from curvewise.papers.claims import Claims

        told = results.made
        return Claims(
            tuple(study.claims(results)),
            Provenance(
                f"paper {self.name}, {study.name}",
                {key: told[key] for key in ("scale",) if key in told},
                None,
                results.digest(),
                told.get("command", ""),
            ),
        )
