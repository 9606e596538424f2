"""A metric that no run of a task has is not part of the task, and no run failed there."""

import numpy as np
import pytest

import curvewise as cw
from curvewise.errors import CurvewiseError
from curvewise.trials import Trial, Trials


def trials(*, status="ok", curve=False, n=6):
    """Return accuracies on "digits" and errors of a regression on "houses"."""
    rng = np.random.default_rng(1)
    runs = []
    for a in "ab":
        for i in range(n):
            steps = np.arange(4.0) if curve else None
            size = 4 if curve else None
            accuracy = rng.uniform(0.5, 0.9, size)
            runs.append(Trial("digits", a, i, {"accuracy": accuracy}, steps=steps))
            scores = {"rmse": rng.uniform(1, 2, size)} if status == "ok" else {}
            own = steps if scores else None
            runs.append(Trial("houses", a, i, scores, steps=own, status=status))
    return Trials(runs)


@pytest.mark.parametrize("ask", [cw.performance, cw.difference])
def test_a_task_without_the_metric_is_left_out_in_a_line(ask):
    answer = ask(trials(curve=ask is cw.difference), "accuracy")
    assert answer.tasks == ("digits",)
    (line,) = [line for line in answer.cautions if "houses" in line]
    assert "accuracy" in line


def test_versions_are_compared_where_there_is_the_metric():
    answer = cw.compare_versions(trials(), trials(), "rmse")
    assert {change.task for change in answer.changes} == {"houses"}


def test_failed_runs_of_a_whole_task_still_count():
    broken = trials(status="failed")
    with pytest.raises(CurvewiseError, match="failed="):
        cw.performance(broken, "accuracy")
    answer = cw.performance(broken, "accuracy", failed="worst")
    assert answer.tasks == ("digits", "houses")


def test_one_algorithm_without_the_metric_still_counts_as_failed():
    """The others were measured there: that one was not, or it broke."""
    runs = [t for t in trials() if (t.task, t.algorithm) != ("houses", "a")]
    runs += [Trial("houses", "a", i, {"accuracy": 0.5}) for i in range(6)]
    with pytest.raises(CurvewiseError, match="failed="):
        cw.performance(Trials(runs), "rmse")


def test_they_do_not_count_as_failed():
    both = trials()
    assert both.count_failed("accuracy") == both.count_failed() == 0
    assert trials(status="failed").count_failed("accuracy") == 12


def test_explain_says_where_it_is_not_measured():
    question = cw.explain(trials(), "accuracy").of("performance")
    assert "houses" in question.why
    assert question.python == 'cw.performance(trials, "accuracy")'


def test_a_question_about_several_metrics_can_be_typed():
    with pytest.raises(CurvewiseError) as asked:
        cw.performance(trials())
    assert {"metric": "rmse"} in asked.value.fixes
