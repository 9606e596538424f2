"""The one sentence of an answer claims what the answer shows, and no more.

Its words are in the goldens: here is who is in front, and how surely.
"""

import re

import numpy as np
import pytest
from contests import (
    CLEAR,
    LONG,
    LOSS,
    RETURN,
    TIE,
    TURNED,
    drawn,
    errors_of,
    failing,
    lines_of,
    many_tasks,
    on_four_tasks,
    scored,
    shapes,
    trials_of,
    tuned,
    turning,
)
from golden_cases import expressions
from support import assert_at_most

import curvewise as cw
from curvewise import Metric
from curvewise.questions.confusion.text import gain_of
from curvewise.questions.confusion.text import leads as leads_by_rates
from curvewise.questions.difference.headline import lead_of, leads_over_tasks
from curvewise.questions.learning.text import leads as leads_by_errors
from curvewise.questions.learning.text import with_more_data
from curvewise.questions.performance.text import leads
from curvewise.questions.robustness.text import kind_of
from curvewise.questions.sentences import some
from curvewise.text import short_names

# What nobody should need to know to read the first sentence of a page.
JARGON = re.compile(
    r"cvar|quantile|kolmogorov|bootstrap|anova|bonferroni|holm|asymptotic|p =|welch|"
    r"\bnull\b|percentile|exponent|logit|\bnan\b|\binf\b",
    re.IGNORECASE,
)
HEADLINES = dict(expressions("headlines"))


@pytest.mark.parametrize("name", HEADLINES)
def test_a_headline_is_one_plain_sentence(name):
    told = HEADLINES[name]().headline()
    assert told.endswith(".")
    assert not JARGON.search(told)
    assert "\n" not in told
    # One sentence: no full stop inside, but for those of numbers.
    assert not re.search(r"\.\s", told[:-1])
    assert told.count("confidence") <= 1


# --- performance -------------------------------------------------------------------------


def winners(answer):
    """Return who is ahead of all others on each task, straight from the comparisons."""
    found = {}
    for task in answer.tasks:
        names = [d.algorithm for d in answer.of(task)]
        own = [c for c in answer.contrasts if c.task == task]
        for name in names:
            mine = [c for c in own if name in (c.one, c.other)]
            if mine and all(c.ahead == name for c in mine):
                found[task] = name
    return found


def standings(answer):
    return {lead.task: (lead.leader, lead.standing) for lead in leads(answer)}


@pytest.mark.parametrize(
    ("trials", "standing"),
    [
        (scored(CLEAR), {"t": ("a", "sure")}),
        (scored(CLEAR, name="error"), {"t": ("c", "sure")}),
        (scored(TIE), {"t": ("b", "open")}),
        (
            scored({"s": CLEAR, "t": TURNED}, tasks=["s", "t"]),
            {"s": ("a", "sure"), "t": ("b", "sure")},
        ),
        (trials_of({("t", n): [0.1, 0.5, 0.9] for n in "ab"}), {"t": ("a", "level")}),
        (scored({"a": 0.7}), {"t": ("a", "alone")}),
    ],
)
def test_whoever_is_in_front_won_all_comparisons(trials, standing):
    answer = cw.performance(trials)
    assert standings(answer) == standing
    sure = {task: who for task, (who, kind) in standing.items() if kind == "sure"}
    assert winners(answer) == sure


def test_the_interval_of_the_winner_is_told():
    answer = cw.performance(scored(CLEAR))
    best = answer.one("a").best_interval
    ends = f"{best.value:.3f}, between {best.lower:.3f} and {best.upper:.3f}"
    assert ends in answer.headline()


def test_what_is_only_probable_wins_nothing():
    answer = cw.performance(cw.example("search"), failed="worst")
    assert winners(answer) == {}
    assert set(standings(answer).values()) == {("net", "probable")}


def test_many_tasks_are_counted_as_the_comparisons_say():
    answer = cw.performance(many_tasks())
    won = list(winners(answer).values())
    assert won.count("a") == 4
    assert won.count("b") == 3
    assert "(a 4 and b 3)" in answer.headline()
    table = answer.lead_table()
    assert [row["task"] for row in table] == list(answer.tasks)
    sure = [row["in front"] for row in table if row["told apart from"] == 2]
    assert sure == won
    assert all(
        row["told apart from"] + row["probably from"] + row["not yet from"] == 2
        for row in table
    )


def test_an_algorithm_that_fails_is_not_flattered():
    """Where it does not fail it is best; counted with 0, it is not."""
    answer = cw.performance(failing(), failed="worst", alpha=0.05)
    assert winners(answer) == {"t": "b"}


@pytest.mark.parametrize(
    ("name", "algorithms", "tasks", "n"),
    [
        ("accuracy", 2, 1, 20),
        pytest.param("loss", 2, 1, 20, marks=pytest.mark.slow),
        pytest.param("accuracy", 4, 5, 20, marks=pytest.mark.slow),
    ],
)
def test_equal_algorithms_seldom_have_a_winner(name, algorithms, tasks, n):
    """At most one time in twenty, over all tasks and pairs; here 8, 7 and 0 of 200."""
    rng = np.random.default_rng(20_26)
    metrics = [Metric("loss", "lower")] if name == "loss" else []
    claimed = 0
    for _ in range(200):
        scores = {
            (f"t{t}", f"a{a}"): rng.beta(5, 2, n).tolist()
            for t in range(tasks)
            for a in range(algorithms)
        }
        told = cw.performance(trials_of(scores, metrics, name)).headline()
        claimed += bool(CLAIM.search(told))
    assert_at_most(claimed, 200, 0.05)


CLAIM = re.compile(r"is (probably )?ahead|(clear|probable) winner \(")


@pytest.mark.parametrize("tasks", ["s", "stuvw"])
def test_the_claim_would_be_seen(tasks):
    """The negative control: algorithms that do differ have a winner."""
    assert CLAIM.search(cw.performance(scored(CLEAR, tasks=[*tasks], n=150)).headline())


def test_long_names_are_cut_and_told_apart():
    scores = drawn(dict(zip(LONG, (0.9, 0.5), strict=True)), tasks=["x" * 10_000])
    told = cw.performance(trials_of(scores)).headline()
    assert len(told) < 400
    assert all(name in told for name in short_names(LONG).values())


def test_short_names_are_never_alike():
    rng = np.random.default_rng(0)
    for _ in range(50):
        letters = rng.choice([*"ab "], size=(20, 30))
        names = ["".join(row).strip() for row in letters]
        names = [n for n in dict.fromkeys(names) if n and " ".join(n.split()) == n]
        assert len(set(short_names(names, 8).values())) == len(names)
    assert some([f"n{i}" for i in range(50)]).endswith("48 more")


# --- robustness --------------------------------------------------------------------------


def kinds(answer):
    return {g.algorithm: kind_of(g, answer.margin)[0] for g in answer.gaps}


def test_tuning_helps_exactly_those_of_whom_the_answer_says_so():
    answer = cw.robustness(tuned({"svm": 0.2, "knn": 0.0, "tree": -0.2}))
    assert kinds(answer) == {"svm": "gains", "knn": "open", "tree": "loses"}
    assert kinds(cw.robustness(tuned({"knn": 0.0}), margin=0.1)) == {"knn": "easy"}
    one = trials_of({("t", "a"): [0.5], ("t", "a tuned"): [0.6]})
    assert kinds(cw.robustness(one)) == {"a": "one trial"}


def test_many_pairs_of_algorithm_and_task_are_counted():
    answer = cw.robustness(tuned({"svm": 0.2, "knn": 0.0}, tasks=[*"stuv"]))
    found = [kind_of(g, None)[0] for g in answer.gaps]
    told = answer.headline()
    assert f"helps in {found.count('gains')} of 8" in told
    assert f"shown to help in {found.count('open')}," in told


def test_tuning_that_does_nothing_is_seldom_said_to_help():
    rng = np.random.default_rng(20_26)
    claimed = 0
    for _ in range(100):
        scores = {("t", name): rng.beta(5, 2, 20).tolist() for name in ("a", "a tuned")}
        told = cw.robustness(trials_of(scores)).headline()
        claimed += bool(re.search("(helps|harms) a", told))
    assert_at_most(claimed, 100, 0.05)


# --- plans -------------------------------------------------------------------------------


def test_a_plan_says_how_many_trials_most_need():
    pilot = cw.example("search")
    asked = {"of": "cvar", "pilot": pilot, "metric": "accuracy", "failed": "worst"}
    answer = cw.plan.trials(0.02, **asked)
    most = max(answer.rows(), key=lambda row: row["guaranteed"])
    assert f"{most['guaranteed']} trials" in answer.headline()
    assert f"({most['algorithm']} on {most['task']}" in answer.headline()


# --- difference --------------------------------------------------------------------------


def difference(trials, **more):
    return cw.difference(trials, shuffles=999, **more)


@pytest.mark.parametrize(("metric", "best"), [(RETURN, "high"), (LOSS, "low")])
def test_the_better_curve_wins_whichever_way_the_metric_goes(metric, best):
    effects = {("t", "low"): 0, ("t", "high"): 10}
    answer = difference(lines_of(effects, metric=metric))
    (pair,) = answer.of().pairs
    assert pair.decisions["algorithm"] == "rejected"
    lead = lead_of(answer.of(), metric)
    assert (lead.leader, lead.standing) == (best, "sure")
    ends = sorted(
        abs(e) for e in (pair.effects.difference.lower, pair.effects.difference.upper)
    )
    assert f"between {ends[0]:.3g} and {ends[1]:.3g}" in answer.headline()


def test_of_three_the_leader_is_told_apart_from_whom_the_tests_say():
    answer = difference(lines_of({("t", "a"): 9, ("t", "b"): 8.8, ("t", "c"): 0}))
    lead = lead_of(answer.of(), RETURN)
    assert {lead.leader, *lead.open} == {"a", "b"}
    assert lead.sure == ("c",)


def test_shapes_that_differ_are_no_winner():
    answer = difference(shapes())
    decisions = answer.of().pairs[0].decisions
    assert decisions == {"algorithm": "not rejected", "interaction": "rejected"}
    assert lead_of(answer.of(), RETURN).standing == "open"


def test_too_few_runs_are_not_called_alike():
    answer = difference(lines_of({("t", "a"): 0, ("t", "b"): 99}, n=3))
    (pair,) = answer.of().pairs
    assert set(pair.decisions.values()) == {"cannot reject"}
    assert pair.tested.lines_to_reject == 4


def test_over_tasks_the_test_for_all_of_them_decides():
    answer = difference(on_four_tasks({"a": 4, "b": 0, "c": -4}))
    first = leads_over_tasks(answer)[0]
    assert (first.leader, set(first.sure), first.open) == ("a", {"b", "c"}, ())


def test_winners_that_change_with_the_task_are_no_winner():
    assert not leads_over_tasks(difference(turning()))[0].ahead_of


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
            (f"t{t}", f"a{a}"): 0 for t in range(tasks) for a in range(algorithms)
        }
        trials = lines_of(effects, n=6, seed=int(rng.integers(2**31)))
        told = cw.difference(trials, shuffles=199).headline()
        claimed += "no clear winner" not in told and "no winner" not in told
    assert_at_most(claimed, 200, 0.05)


# --- learning ----------------------------------------------------------------------------


def test_the_lowest_error_wins_where_the_pairs_say_so():
    answer = cw.learning(errors_of({"a": 0.1, "b": 0.3}), "error")
    assert answer.pair("a", "b").error.upper < 0
    (lead,) = leads_by_errors(answer)
    assert (lead.leader, lead.standing) == ("a", "sure")


def test_errors_that_are_alike_have_no_winner():
    answer = cw.learning(errors_of({"a": 0.1, "b": 0.1}), "error")
    (lead,) = leads_by_errors(answer)
    assert lead.standing == "open"
    kind = with_more_data(answer.curve(lead.leader), 0.95)[1]
    assert ("no gain at all" in answer.headline()) == (kind == "perhaps")


def test_many_tasks_are_counted_and_chance_is_named():
    answer = cw.learning(errors_of({"a": 0.1, "b": 0.3}, tasks=[*"stuv"]), "error")
    apart = sum(not lead.open for lead in leads_by_errors(answer))
    assert f"all others on {apart}" in answer.headline()
    assert "about 0.20" in answer.headline()


def test_one_curve_has_no_rivals():
    answer = cw.learning(errors_of({"a": 0.1}), "error")
    assert leads_by_errors(answer)[0].standing == "alone"


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
    (lead,) = leads_by_rates(answer.found, answer.asked)
    fit = answer.curve(lead.leader)
    other = next(o for o in answer.of().fits if o is not fit)
    up = 1 if metric == "f1" else -1
    assert up * fit.told[metric].value[0] > up * other.told[metric].value[0]
    told = answer.headline()
    assert not re.search("told apart|winner|better than", told)
    assert ("no gain at all" in told) == (gain_of(fit, answer.asked) == "perhaps")
