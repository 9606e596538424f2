"""What is kept of the long runs: all claims, explained, and the pages made from them."""

import re
from pathlib import Path

import pytest

from curvewise_papers import PAPERS, find
from curvewise_papers.page import page
from curvewise_papers.study import kept

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "results"


def reproduced(name):
    paper = find(name)
    return paper, list(kept(paper, paper.studies, RESULTS))


@pytest.fixture(scope="module", params=PAPERS)
def found(request):
    return reproduced(request.param)


def test_every_claim_that_does_not_agree_says_why(found):
    """A number that differs has a number in its reason."""
    _, studies = found
    for one in studies:
        for claim in one.claims.claims:
            if claim.verdict == "differs":
                assert claim.why, claim.name
                assert re.search(r"\d", claim.why), claim.name
            if claim.verdict == "unchecked":
                assert claim.why, claim.name


def test_no_claim_is_made_twice(found):
    _, studies = found
    for one in studies:
        names = [claim.name for claim in one.claims.claims]
        assert len(names) == len(set(names))


def test_every_study_says_what_made_it(found):
    paper, studies = found
    for one in studies:
        made = one.results.made
        assert made["command"] == (
            f"curvewise paper {paper.name} --study {one.study.name} --scale kept"
        )
        assert {"python", "numpy", "curvewise"} <= set(made)


def test_the_page_is_the_one_that_these_results_make(found):
    paper, studies = found
    text = (DOCS / "papers" / f"{paper.name}.md").read_text("utf-8")
    assert page(paper, studies) == text
    for image in re.findall(r"\]\((\.\./images/papers/[^)]*)\)", text):
        assert (DOCS / "papers" / image).is_file(), image


def test_every_claim_notices_another_print(found):
    """The negative control: had the paper printed another number, each would differ."""
    from dataclasses import replace

    _, studies = found
    for one in studies:
        for claim in one.claims.claims:
            if claim.verdict == "agrees":
                away = (
                    claim.ours + 1.01 * claim.tolerance + 1e-6 * max(1, abs(claim.ours))
                )
                assert replace(claim, printed=away).verdict == "differs", claim.name


def test_results_stay_small():
    size = sum(file.stat().st_size for file in RESULTS.rglob("*.parquet"))
    assert 0 < size < 6e6
