"""Puts the toy paper on the shelf; the same examples in every run, as in tests/."""

import os

import pytest
import toy
from hypothesis import settings

import curvewise_papers
import curvewise_papers.study

settings.register_profile("fixed", derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture
def paper(monkeypatch):
    """Return a toy paper that is found by its name."""
    usual, shelf = curvewise_papers.study.printed, curvewise_papers.find
    monkeypatch.setattr(
        curvewise_papers.study,
        "printed",
        lambda name: toy.PRINTED if name == "toy" else usual(name),
    )
    monkeypatch.setattr(
        curvewise_papers,
        "find",
        lambda name: toy.PAPER if name == "toy" else shelf(name),
    )
    return toy.PAPER
