"""The four papers, reproduced: what they print, beside what we get.

One module per paper has its experiments, one TOML file its printed tables and errata.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from curvewise.errors import unknown

if TYPE_CHECKING:
    from curvewise_papers.study import Paper


__all__ = ["PAPERS", "find"]

PAPERS = ("jordan2018", "piater1998", "hoiem2021", "xue2025")


def find(name: str) -> "Paper":
    """Return a paper by its name.

    >>> find("jordan2018").printed.year
    2018
    """
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS)
    paper: Paper = import_module(f"curvewise_papers.{name}").PAPER
    return paper
