"""The section of a report that tells how often its analyses err."""

import html

import pytest

import curvewise as cw
from curvewise.questions import audit
from curvewise.questions.audit.section import audit_sections, watched
from curvewise.questions.registry import QUESTIONS
from curvewise.questions.section import Settings
from curvewise.report.sections import page_sections


@pytest.fixture(scope="module")
def trials():
    return cw.example("search").where(task="rings", algorithm=["net", "svm"])


def settings(repetitions, metrics=("accuracy",), failed="worst"):
    return Settings(metrics, "last", failed, repetitions)


def test_a_report_has_it_only_where_it_was_asked_for(trials):
    assert audit_sections(trials, settings(0)) == []
    assert "audit" not in {s.anchor for s in page_sections(trials, settings(0))}
    assert "audit" in {s.anchor for s in page_sections(trials, settings(20))}


def test_it_says_what_was_asked_what_was_found_and_what_would_change_it(trials):
    (section,) = audit_sections(trials, settings(20))
    answer = cw.audit(trials, failed="worst", repetitions=20)
    assert section.answer == answer.headline()
    assert section.change == answer.would_change()
    assert section.provenance == str(answer.provenance)
    (group,) = section.groups
    (block,) = group.blocks
    assert block.table == answer.table()
    assert block.chart is not None
    assert section.notes == answer.notes()
    assert "assumed, not shown" in section.method.guarantee


def test_whoever_watches_is_told_how_far_it_is_and_what_was_found(trials):
    told = []
    with watched(lambda *far: told.append(far)) as found:
        (section,) = audit_sections(trials, settings(20))
    assert told[-1] == (40, 40)
    assert [one.headline() for one in found] == [section.answer]
    audit_sections(trials, settings(20))
    assert len(found) == 1  # nobody watches any more


def test_of_several_metrics_one_is_tried_and_the_others_are_named(monkeypatch):
    counts = cw.example("counts")
    monkeypatch.setattr(audit, "with_part", lambda _part: QUESTIONS[:1])
    (section,) = audit_sections(counts, settings(20, ("accuracy", "error", "f1")))
    assert "metric=error" in section.provenance
    assert section.notes[-1].endswith("'accuracy', 'f1'.")


def test_what_would_take_hours_is_told_in_its_place(trials):
    (section,) = audit_sections(trials, settings(10**7))
    with pytest.raises(cw.CurvewiseError) as problem:
        cw.audit(trials, failed="worst", repetitions=10**7)
    assert section.answer.endswith(str(problem.value))
    assert not section.groups


@pytest.mark.parametrize(
    ("meant", "told"),
    [
        ({}, "'value'"),
        ({"value": {"t": "higher", "u": "lower"}}, "differs by task"),
    ],
)
def test_without_one_direction_it_says_why_there_is_none(meant, told, tmp_path):
    runs = [
        cw.Trial(task, name, i, {"value": i + 1.0})
        for task in "tu"
        for name in "ab"
        for i in range(6)
    ]
    path = cw.report.write(
        cw.Trials(runs).with_metrics(meant), tmp_path / "page.html", audit=20
    )
    page = html.unescape(path.read_text("utf-8"))
    section = page[page.index('<section id="audit"') :]
    assert told in section


def test_trials_without_a_score_have_nothing_to_audit():
    runs = [cw.Trial("t", "a", i, {}, status="failed") for i in range(3)]
    assert audit_sections(cw.Trials(runs), settings(20, ())) == []
