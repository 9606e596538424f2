"""What a paper prints: who wrote it, its tables as data, and its errata."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from curvewise._text import Cell


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
    text = (files("curvewise.papers") / f"{name}.toml").read_text("utf-8")
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
