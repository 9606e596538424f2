"""The one sentence about curves claims what the tests show, and no more."""

import re

import numpy as np
import pytest
from support import assert_at_most

import curvewise as cw
from curvewise import Metric, Trial, Trials
from curvewise.questions.confusion.text import gain_of
from curvewise.questions.confusion.text import leads as leads_by_rates
from curvewise.questions.difference.headline import lead_of, leads_over_tasks
from curvewise.questions.learning.text import leads, with_more_data

JARGON = re.compile(
    r"quantile|anova|bonferroni|holm|asymptotic|p =|welch|\bnull\b|exponent|logit|\bnan\b|"
    r"\binf\b",
    re.IGNORECASE,
)
RETURN, LOSS = Metric("return", "higher"), Metric("loss", "lower")
STEPS = np.linspace(0, 1, 8)


def lines_of(effects, *, n=8, seed=0, metric=RETURN, noise=1.0):
    """Return runs from {(task, algorithm): mean curve}."""
    rng = np.random.default_rng(seed)
    return Trials(
        (
            Trial(task, name, i, {metric.name: mean + noise * _noise(rng)})
            for (task, name), mean in effects.items()
            for i in range(n)
        ),
        metrics=[metric],
    )


def _noise(rng):
    return rng.normal() + 0.3 * rng.normal(size=len(STEPS)).cumsum()


def must_be_one_plain_sentence(text):
    assert text.endswith(".")
    assert not JARGON.search(text), text
    assert not re.search(r"\.\s", text[:-1]), text


def asked(trials, **more):
    return cw.difference(trials, shuffles=999, **more)


# --- difference --------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "best"), [(RETURN, "high"), (LOSS, "low")])
def test_the_better_curve_wins_whichever_way_the_metric_goes(metric, best):
    effects = {("t", "low"): 0 * STEPS, ("t", "high"): 10 + 0 * STEPS}
    answer = asked(lines_of(effects, metric=metric))
    (pair,) = answer.of().pairs
    assert pair.decisions["algorithm"] == "rejected"
    told = answer.headline()
    must_be_one_plain_sentence(told)
    other = {"high": "low", "low": "high"}[best]
    assert told.startswith(
        f"On t, {best} is ahead of {other} on average over the steps"
    )
    ends = sorted(
        abs(e) for e in (pair.effects.difference.lower, pair.effects.difference.upper)
    )
    assert f"between {ends[0]:.3g} and {ends[1]:.3g}" in told
    assert told.count("confidence") == 1


def test_of_three_the_leader_is_told_apart_from_whom_the_tests_say():
    effects = {
        ("t", "a"): 9 + 0 * STEPS,
        ("t", "b"): 8.8 + 0 * STEPS,
        ("t", "c"): 0 * STEPS,
    }
    answer = asked(lines_of(effects))
    lead = lead_of(answer.of(), RETURN)
    assert lead.sure == ("c",)
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert "there is no clear winner: a and b cannot be told apart yet" in told or (
        "there is no clear winner: b and a cannot be told apart yet" in told
    )
    assert f"though {lead.leader} is ahead of c" in told
    assert "who is ahead is open between a and b" in answer.would_change()


def test_shapes_that_differ_are_no_winner():
    answer = asked(
        lines_of({("t", "a"): 6 * (STEPS - 0.5), ("t", "b"): -6 * (STEPS - 0.5)})
    )
    decisions = answer.of().pairs[0].decisions
    assert decisions == {"algorithm": "not rejected", "interaction": "rejected"}
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert "no clear winner" in told
    assert "their distance changes along the steps" in told


def test_too_few_runs_are_not_called_alike():
    answer = asked(lines_of({("t", "a"): 0 * STEPS, ("t", "b"): 99 + 0 * STEPS}, n=3))
    assert (
        "3 runs of an algorithm are too few to show any difference" in answer.headline()
    )
    assert "it takes 4 of each" in answer.headline()
    assert "4 of each could show one" in answer.would_change()


def test_over_tasks_the_test_for_all_of_them_decides():
    effects = {
        (task, name): high + 0 * STEPS
        for task in "stuv"
        for name, high in (("a", 4), ("b", 0), ("c", -4))
    }
    answer = asked(lines_of(effects))
    first = leads_over_tasks(answer)[0]
    assert (first.leader, set(first.sure), first.open) == ("a", {"b", "c"}, ())
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert told.startswith("Over all steps of all 4 tasks, a is ahead of both others")


def test_winners_that_change_with_the_task_are_no_winner():
    effects = {}
    for i, task in enumerate("stuv"):
        effects[task, "a"], effects[task, "b"] = (
            (5 if i % 2 else -5) + 0 * STEPS,
            0 * STEPS,
        )
    answer = asked(lines_of(effects))
    assert not leads_over_tasks(answer)[0].ahead_of
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert (
        "there is no winner: a and b cannot be told apart yet on the whole" in told
        or ("there is no winner: b and a cannot be told apart yet on the whole" in told)
    )
    assert "they differ on some task" in told


def test_tasks_without_a_pair_in_common_are_counted_at_once():
    effects = {
        ("s", "a"): 0 * STEPS,
        ("s", "b"): 20 + 0 * STEPS,
        ("t", "c"): 0 * STEPS,
        ("t", "d"): 0 * STEPS,
    }
    told = asked(lines_of(effects)).headline()
    must_be_one_plain_sentence(told)
    assert "Of 2 tasks, which have no pair of algorithms in common, 1 has" in told


def test_failed_runs_are_named_among_what_would_change_it():
    trials = lines_of({("t", "a"): 0 * STEPS, ("t", "b"): 3 + 0 * STEPS})
    broken = [Trial("t", "a", 99, {}, status="failed", error="boom")]
    answer = asked(trials + Trials(broken, metrics=[RETURN]), failed=-5.0)
    assert "1 failed run counts with score -5" in answer.would_change()


@pytest.mark.parametrize(
    ("algorithms", "tasks"),
    [
        (2, 1),
        pytest.param(3, 1, marks=pytest.mark.slow),
        pytest.param(2, 3, marks=pytest.mark.slow),
    ],
)
def test_equal_curves_seldom_have_a_winner(algorithms, tasks):
    """At most one time in twenty, for many runs; here 13, 1 and 6 of 200."""
    rng = np.random.default_rng(20_26)
    claimed = 0
    for _ in range(200):
        effects = {
            (f"t{t}", f"a{a}"): 0 * STEPS
            for t in range(tasks)
            for a in range(algorithms)
        }
        trials = lines_of(effects, n=6, seed=int(rng.integers(2**31)))
        told = cw.difference(trials, shuffles=199).headline()
        claimed += "no clear winner" not in told and "no winner" not in told
    assert_at_most(claimed, 200, 0.05)


# --- learning ----------------------------------------------------------------------------

SIZES = np.array([40, 80, 160, 320])


def errors_of(floors, *, tasks=("t",), n=6, seed=0):
    """Return errors that fall towards each algorithm's floor."""
    rng = np.random.default_rng(seed)
    curve = 1.2 * SIZES**-0.5
    return Trials(
        Trial(
            task,
            name,
            i,
            {"error": np.clip(floor + curve + 0.01 * rng.normal(size=4), 0, 1)},
            steps=SIZES,
        )
        for task in tasks
        for name, floor in floors.items()
        for i in range(n)
    )


def test_the_lowest_error_wins_where_the_pairs_say_so():
    answer = cw.learning(errors_of({"a": 0.1, "b": 0.3}), "error")
    assert answer.pair("a", "b").error.upper < 0
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert told.startswith("On t, a is better than b with 320 examples (error 0.1")
    assert "four times the data would probably bring it to" in told
    assert "would tell most" in answer.would_change()


def test_errors_that_are_alike_have_no_winner():
    answer = cw.learning(errors_of({"a": 0.1, "b": 0.1}), "error")
    (lead,) = leads(answer)
    assert len(lead.open) == 1
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert "there is no clear winner" in told
    kind = with_more_data(answer.curve(lead.leader), 0.95)[1]
    assert ("which may be no gain at all" in told) == (kind == "perhaps")
    assert "More runs at each size may tell apart" in answer.would_change()


def test_many_tasks_are_counted_and_chance_is_named():
    answer = cw.learning(errors_of({"a": 0.1, "b": 0.3}, tasks=[*"stuv"]), "error")
    told_apart = sum(not lead.open for lead in leads(answer))
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert f"told apart from all others on {told_apart}" in told
    assert "each task judged by itself" in told
    assert "about 0.2" in told


def test_one_curve_has_no_rivals():
    told = cw.learning(errors_of({"a": 0.1}), "error").headline()
    must_be_one_plain_sentence(told)
    assert told.startswith("On t, a has error 0.1")
    assert not re.search("better than|told apart|winner", told)


def test_a_score_becomes_an_error_that_says_so():
    assert "error (1 - accuracy) 0.1" in (
        cw.learning(cw.example("counts"), "accuracy").headline()
    )


@pytest.mark.slow
def test_equal_errors_seldom_have_a_winner():
    rng = np.random.default_rng(20_26)
    claimed = 0
    for _ in range(200):
        trials = errors_of({"a": 0.1, "b": 0.1}, seed=int(rng.integers(2**31)))
        claimed += " is better than" in cw.learning(trials, "error").headline()
    assert_at_most(claimed, 200, 0.05)


# --- confusion ---------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["f1", "error"])
def test_rates_are_told_without_a_claim_that_nobody_tested(metric):
    answer = cw.confusion(cw.example("counts"), metric)
    (lead,) = leads_by_rates(answer)
    fit = answer.curve(lead.leader)
    other = next(o for o in answer.of().fits if o is not fit)
    up = 1 if metric == "f1" else -1
    assert up * fit.told[metric].value[0] > up * other.told[metric].value[0]
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert told.startswith(f"{fit.algorithm} comes out in front with 1,280 examples")
    assert f"before {other.algorithm}" in told
    assert not re.search("told apart|winner|better than", told)
    kind = gain_of(fit, answer.asked)
    assert ("which may be no gain at all" in told) == (kind == "perhaps")
    assert "not tested against each other" in answer.would_change()


def test_count_curves_of_many_tasks_are_counted():
    counts = cw.example("counts")
    rows = [
        Trial(task, one.algorithm, one.number, {}, steps=one.steps, counts=one.counts)
        for task in "stuv"
        for one in counts
    ]
    told = cw.confusion(Trials(rows), "f1").headline()
    must_be_one_plain_sentence(told)
    assert told.startswith("Of 4 tasks, trees comes out in front most often, on 4")
