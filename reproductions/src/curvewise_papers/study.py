"""What a paper is made of: what it prints, studies that are run, what is kept of them."""

import hashlib
import json
import math
import platform
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from curvewise.engine.experiment import Experiment
from curvewise.errors import CurvewiseError, unknown
from curvewise.figures.chart import Chart, Series, no_band
from curvewise.flow.progress import each
from curvewise.flow.run import run
from curvewise.metrics import Floats, Metric
from curvewise.review.check import ungated
from curvewise.text import Cell
from curvewise.trials import Trials
from curvewise.version import __version__
from curvewise_papers.claims import Claim, Claims


@dataclass(frozen=True, slots=True)
class Erratum:
    """Something that a paper prints wrongly.

    Parameters
    ----------
    where : str
        In which section or table.
    printed, correct : str
        What it says, and what holds.
    proof : str
        The number or the argument.
    grade : {"proved", "simulated", "doubtful"}
        How sure it is.
    here : str
        What curvewise does about it.
    """

    where: str
    printed: str
    correct: str
    proof: str
    grade: Literal["proved", "simulated", "doubtful"]
    here: str

    def row(self) -> dict[str, Cell]:
        """Return it as a row of a table."""
        return {
            "where": self.where,
            "printed": self.printed,
            "what holds": self.correct,
            "proof": f"{self.proof} ({self.grade})",
            "here": self.here,
        }


@dataclass(frozen=True, slots=True)
class Printed:
    """A paper as data.

    Parameters
    ----------
    title : str
    authors : tuple of str
    year : int
    where : str
        Where it was published.
    url : str
    tables : mapping
        Its tables, numbers as they are printed.
    errata : tuple of Erratum
    """

    title: str
    authors: tuple[str, ...]
    year: int
    where: str
    url: str
    tables: Mapping[str, Any]
    errata: tuple[Erratum, ...]

    @property
    def citation(self) -> str:
        """The paper in one line."""
        who = ", ".join(self.authors)
        return f"{who}. {self.title}. {self.where}, {self.year}."


@cache
def printed(name: str) -> Printed:
    """Return what a paper prints, by the name of its file here.

    >>> printed("jordan2018").year
    2018
    """
    text = (files("curvewise_papers") / f"{name}.toml").read_text("utf-8")
    content = tomllib.loads(text)
    paper = content["paper"]
    return Printed(
        title=paper["title"],
        authors=tuple(paper["authors"]),
        year=paper["year"],
        where=paper["where"],
        url=paper.get("url", ""),
        tables=content.get("tables", {}),
        errata=tuple(Erratum(**erratum) for erratum in content.get("errata", ())),
    )


# --- what is kept of a run ---------------------------------------------------------------


Table: TypeAlias = Mapping[str, Any]

_TRIALS, _ENDING = ".trials", ".parquet"
_METRICS, _MADE = b"curvewise.metrics", b"curvewise.made"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True, slots=True)
class Results:
    """Trials and tables by name, small enough to be kept beside the documentation.

    Parameters
    ----------
    trials : mapping of str to Trials
    tables : mapping of str to table
        A table is a mapping of columns, all as long.
    made : mapping of str to str
        What made them: command, scale, seeds, versions.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> power = {"stretch": [1.0, 1.1], "power": [0.05, 0.8]}
    >>> Results(tables={"power": power}).write(folder)
    >>> Results.read(folder).tables["power"]["power"].tolist()
    [0.05, 0.8]
    """

    trials: Mapping[str, Trials] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)

    def by(self, command: str, scale: str, seeds: Iterable[int] = ()) -> "Results":
        """Return the same results with what made them: command, seeds, versions."""
        facts = {"command": command, "scale": scale}
        if text := ", ".join(map(str, seeds)):
            facts["seed"] = text
        return replace(self, made=facts | _versions())

    def digest(self) -> str:
        """Return a hash of all numbers."""
        out = hashlib.sha256()
        for name in sorted(self.trials):
            out.update(f"{name} {self.trials[name].digest()}".encode())
        for name in sorted(self.tables):
            for column, values in sorted(self.tables[name].items()):
                text = json.dumps(np.asarray(values).tolist())
                out.update(f"{name} {column} {text}".encode())
        return out.hexdigest()

    def write(self, folder: Path) -> None:
        """Write one Parquet file for each set of trials and each table."""
        import pyarrow as pa

        from curvewise.exchange.write import long_table

        folder.mkdir(parents=True, exist_ok=True)
        facts = json.dumps(dict(self.made)).encode()
        for name, trials in self.trials.items():
            meant = {n: _told(trials.metric(n)) for n in trials.metrics}
            head = {_METRICS: json.dumps(meant).encode(), _MADE: facts}
            _write(long_table(trials), head, folder / f"{name}{_TRIALS}{_ENDING}")
        for name, table in self.tables.items():
            columns = {key: np.asarray(values) for key, values in table.items()}
            _write(pa.table(columns), {_MADE: facts}, folder / f"{name}{_ENDING}")

    @classmethod
    def read(cls, folder: Path) -> "Results":
        """Return what is kept in a folder."""
        import pyarrow.parquet

        files = sorted(Path(folder).glob(f"*{_ENDING}"))
        if not files:
            raise CurvewiseError(
                f"{folder} has no results. Pass a folder that was written with --keep.",
                argument="folder",
                value=folder,
            )
        trials: dict[str, Trials] = {}
        tables: dict[str, Table] = {}
        facts: dict[str, str] = {}
        for file in files:
            table = pyarrow.parquet.read_table(file)
            head = table.schema.metadata or {}
            facts = json.loads(head.get(_MADE, b"{}")) or facts
            name = file.name.removesuffix(_ENDING)
            if name.endswith(_TRIALS):
                trials[name.removesuffix(_TRIALS)] = _trials(table, head)
            else:
                tables[name] = {
                    column: values.combine_chunks().to_numpy(zero_copy_only=False)
                    for column, values in zip(
                        table.column_names, table.columns, strict=True
                    )
                }
        return cls(trials, tables, facts)


def _write(table: Any, head: dict[bytes, bytes], path: Path) -> None:
    import pyarrow.parquet

    table = table.replace_schema_metadata(head)
    pyarrow.parquet.write_table(table, path, compression="zstd", compression_level=19)


def _trials(table: Any, head: Mapping[bytes, bytes]) -> Trials:
    from curvewise.exchange.read import read_results

    meant = {name: _meant(one) for name, one in json.loads(head[_METRICS]).items()}
    trials, _ = read_results(table, metrics=meant or None)
    return trials


def _told(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "direction": metric.direction,
        "range": [None if math.isinf(end) else end for end in metric.range],
        "unit": metric.unit,
        "label": metric.label,
    }


def _meant(meaning: Mapping[str, Any]) -> Metric:
    low, high = meaning["range"]
    ends = -math.inf if low is None else low, math.inf if high is None else high
    return Metric(**{**meaning, "range": ends})


def _versions() -> dict[str, str]:
    versions = {"curvewise": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def columns(
    rows: Sequence[Mapping[str, Any]], names: Iterable[str] = (), real: Any = np.float64
) -> Table:
    """Return rows as columns: these, or those of the first row.

    >>> columns([{"a": "x", "b": 1.5}, {"a": "y", "b": 2.5}])["b"]
    array([1.5, 2.5])
    """
    table = {key: np.array([row[key] for row in rows]) for key in names or rows[0]}
    return {
        key: values.astype(real) if values.dtype == np.float64 else values
        for key, values in table.items()
    }


def part(table: Table, /, **wanted: Any) -> dict[str, Any]:
    """Return the rows of a table that have these values, real numbers in full length.

    >>> part({"a": np.array(["x", "y"]), "b": np.array([1.5, 2.5])}, a="y")["b"]
    array([2.5])
    """
    keep = np.ones(len(next(iter(table.values()))), dtype=bool)
    for key, value in wanted.items():
        column = np.asarray(table[key])
        is_number = column.dtype.kind == "f"
        keep &= np.isclose(column, value) if is_number else column == value
    chosen = {key: np.asarray(values)[keep] for key, values in table.items()}
    return {
        key: values.astype(np.float64) if values.dtype.kind == "f" else values
        for key, values in chosen.items()
    }


# --- studies -----------------------------------------------------------------------------


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


def line(
    name: str,
    x: Floats,
    y: Floats,
    look: int | None = None,
    *,
    is_faint: bool = False,
    is_dots: bool = False,
) -> Series:
    """Return a curve without a band."""
    return Series(name, x, y, *no_band(x), look, is_faint, is_dots)


def lacks_numba() -> str:
    """Return what has to be installed for learners that are compiled."""
    if find_spec("numba") is None:
        return "the extra 'rl': pip install './reproductions[rl]'"
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
    missing: Callable[[], str] = lambda: ""

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

    def claims(self, study: Study, results: Results) -> Claims:
        """Return what the results of a study say about the printed numbers."""
        from curvewise.answer import Provenance

        facts = results.made
        return Claims(
            tuple(study.claims(results)),
            Provenance(
                f"paper {self.name}, {study.name}",
                {key: facts[key] for key in ("scale",) if key in facts},
                None,
                results.digest(),
                facts.get("command", ""),
            ),
        )


# --- reproductions -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A study and what came out: its results, and the claims about the print."""

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
    """Run studies, one after the other, and yield what came out of each."""
    for study in studies:
        if missing := study.missing():
            yield Reproduction(study, None, None, missing)
            continue
        place = None if folder is None else folder / study.name
        runner = Runner(scale, place, options)
        results = study.run(runner).by(command(study), scale, runner.seeds)
        if keep is not None:
            results.write(keep / paper.name / study.name)
        yield Reproduction(study, results, paper.claims(study, results))


def kept(
    paper: Paper, studies: Iterable[Study], folder: Path
) -> Iterable[Reproduction]:
    """Yield what a folder has kept of studies; nothing is run."""
    for study in studies:
        results = Results.read(folder / paper.name / study.name)
        yield Reproduction(study, results, paper.claims(study, results))
