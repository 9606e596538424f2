"""Sections that check objects to say so; explain and the page promise the same."""

import pytest
import studies
from explained_pages import ANCHORS, answered_on, sections_of

import curvewise as cw
from curvewise.report.page import render


def promised(trials, **options):
    """Return the analyses that explain says these trials answer."""
    return {
        one.analysis
        for one in cw.explain(trials, **options).questions
        if one.can != "no" and one.found and one.analysis in ANCHORS
    }


@pytest.mark.parametrize("kind", studies.STUDIES)
def test_explain_promises_what_the_page_has(kind):
    trials = studies.STUDIES[kind]()
    assert promised(trials) == answered_on(sections_of(trials))


@pytest.mark.parametrize("kind", studies.BLOCKED)
def test_and_so_it_does_anyway(kind):
    trials = studies.BLOCKED[kind]()
    sections = sections_of(trials, anyway=True)
    assert promised(trials, anyway=True) == answered_on(sections)
    assert not any(section.answer.startswith("Withheld") for section in sections)


@pytest.mark.parametrize("kind", studies.BLOCKED)
def test_what_is_withheld_is_shown_as_such_and_nowhere_summed_up(kind):
    sections = sections_of(studies.BLOCKED[kind]())
    withheld = [s for s in sections if s.answer.startswith("Withheld")]
    assert withheld
    for section in withheld:
        assert not section.in_summary
        assert not section.groups
        assert not section.change
    assert {"check", "provenance"} <= {section.anchor for section in sections}


def test_other_sections_stay():
    """An optimiser's trials have no distribution, but their curves can be compared."""
    drifting = studies.drift()
    trials = cw.Trials(
        cw.Trial(
            *(row.task, row.algorithm, row.number),
            {"accuracy": [0.1, 0.2 + row.number % 7 / 50, *row.metrics["accuracy"]]},
            steps=[1, 2, 3],
            params=row.params,
        )
        for row in drifting
    )
    sections = sections_of(trials)
    assert "difference" in answered_on(sections)
    assert "performance" not in answered_on(sections)
    summed_up = {
        s.anchor.partition("-")[0] for s in sections if s.in_summary and s.answer
    }
    assert "difference" in summed_up
    assert not summed_up & {"performance", "robustness", "plan"}


def test_cautions_stand_above_the_answer_on_the_page():
    trials = studies.grid()
    (line, direction) = cw.performance(trials).cautions
    assert direction == trials.metrics["accuracy"].assumption
    text = render(trials)
    assert text.count(f'<p class="caution">{line}</p>') >= 2  # summary and section
    section = text[text.index('<section id="performance-0"') :]
    assert section.index(line) < section.index('<div class="folder"')


def test_the_summary_says_nothing_that_is_withheld():
    text = render(studies.pooled())
    short = text[
        text.index('id="in-short"') : text.index('<section id="performance-0"')
    ]
    assert "Withheld" not in short
    assert "Withheld" in text
    assert "--anyway" in text


def test_what_was_settled_by_the_caller_is_shown_despite_it():
    text = render(studies.pooled(), anyway=True)
    assert "Withheld" not in text
    assert "Despite: " in text
