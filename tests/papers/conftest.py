"""Puts the toy paper on the shelf."""

import pytest
from papers import toy

import curvewise.papers
import curvewise.papers.study


@pytest.fixture
def paper(monkeypatch):
    """Return a toy paper that is found by its name."""
    usual, shelf = curvewise.papers.study.printed, curvewise.papers.find
    monkeypatch.setattr(
        curvewise.papers.study,
        "printed",
        lambda name: toy.PRINTED if name == "toy" else usual(name),
    )
    monkeypatch.setattr(
        curvewise.papers,
        "find",
        lambda name: toy.PAPER if name == "toy" else shelf(name),
    )
    return toy.PAPER
