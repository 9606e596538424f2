"""Each rule: a case that it must find, a clean one that it must not, and its words."""

import dataclasses
import itertools
import json
import math
import re

import numpy as np
import pytest
from facts import facts, holds
from hypothesis import given, settings
from hypothesis import strategies as st
from support import assert_rate

from curvewise.metrics import Metric
from curvewise.review import replication
from curvewise.review.check import RULES, Finding, Findings, check
from curvewise.review.finding import DISTRIBUTION
from curvewise.trials import STATUSES, Trial, Trials
from curvewise.trials.settings import trend

RETURN = Metric("return", "higher")


def study(*, tasks=("t",), algorithms=("a", "b"), n=10, seed=0, **more):
    """Return clean one-step trials with continuous scores."""
    rng = np.random.default_rng(seed)
    return [
        Trial(task, name, i, {"return": float(rng.normal())}, **more)
        for task in tasks
        for name in algorithms
        for i in range(n)
    ]


def curves(*, algorithms=("a", "b"), n=10, steps=20, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Trial("t", name, i, {"return": rng.normal(size=steps).cumsum()})
        for name in algorithms
        for i in range(n)
    ]


def search(draw, *, n=60, algorithms=("a",), seed=0):
    """Return trials whose params are drawn one after another by `draw(rng, i)`."""
    rng = np.random.default_rng(seed)
    return [
        Trial("t", name, i, {"return": float(rng.normal())}, params=draw(rng, i))
        for name in algorithms
        for i in range(n)
    ]


def mixed(rng, i):
    """Return params as people draw them: continuous, whole, from a list, conditional."""
    params = {
        "lr": float(10 ** rng.uniform(-5, -1)),
        "dropout": float(rng.uniform(0, 0.5)),
        "n_neighbors": int(rng.choice([3, 4, 5, 10, 25, 50])),
        "batch_size": int(rng.choice([32, 64, 128])),
        "kernel": str(rng.choice(["linear", "poly", "rbf"])),
    }
    if params["kernel"] == "poly":
        params["degree"] = int(rng.integers(2, 6))
    return params


def found(trials, *rules):
    """Return the findings of these rules, or all of them."""
    trials = trials if isinstance(trials, Trials) else Trials(trials)
    rest = [f for f in check(trials) if f.rule != "assumed-direction" or rules]
    return [f for f in rest if not rules or f.rule in rules]


def only(trials, rule):
    (finding,) = found(trials, rule)
    return finding


# --- the answer ------------------------------------------------------------------------


def test_clean_results_are_said_to_be_clean_and_what_was_looked_for():
    text = str(check(Trials(study(), [RETURN])))
    assert facts(text) == [20, 2, 1]
    for rule in RULES:
        assert rule.__name__.replace("_", " ") in " ".join(text.split())


def test_clean_curves_and_a_clean_search_are_clean():
    assert not found(curves())
    assert not found(search(mixed, algorithms=("a", "b")))


def test_findings_come_most_severe_first_and_read_as_a_list():
    rows = [*study(n=3), Trial("t", "c", 0, {"return": 1.0}), Trial("t", "c", 1, {})]
    answer = check(Trials(rows))
    severities = [f.severity for f in answer]
    assert severities == sorted(severities, key=["blocks", "tempers", "notes"].index)
    assert len(answer) == len(answer.findings) == len(answer.rows())
    fields = {"severity", "rule", "what", "where", "why", "do", "concerns"}
    assert set(answer.rows()[0]) == fields
    text = str(answer)
    assert facts(text)[:3] == [8, 3, 1]
    for finding in answer:
        assert f"{finding.severity}: {finding.rule}" in text
        assert finding.do in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 88
    assert json.loads(answer.to_json())["rows"] == answer.rows()


def test_findings_are_frozen():
    answer = check(Trials(study(n=1)))
    assert isinstance(answer, Findings)
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.findings = ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.findings[0].what = ""


def test_the_same_trials_give_the_same_findings():
    trials = Trials([*study(n=2), Trial("t", "c", 0, {})])
    assert check(trials) == check(trials)


def test_every_finding_is_made_of_sentences():
    """Names are short and kebab-case; texts end in a full stop."""
    bad = [*study(n=4), Trial("t", "c", 0, {}, status="crashed")]
    for finding in check(Trials(bad)):
        assert finding.rule == finding.rule.lower().replace(" ", "-")
        assert finding.what.endswith(".")
        assert finding.why.endswith(".")
        assert finding.do.endswith(".")
        assert finding.where


# --- 1. wrong replication axis ---------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "severity"),
    [
        ("episode", "blocks"),
        ("env_steps", "blocks"),
        ("globalStep", "blocks"),
        ("epoch", "blocks"),
        ("iteration", "tempers"),
    ],
)
def test_a_label_that_counts_within_a_run_is_no_run(label, severity):
    rows = [
        Trial("t", "a", i, {"return": x}, labels={label: i})
        for i, x in enumerate(np.random.default_rng(0).normal(size=20))
    ]
    finding = only(rows, "replication-axis")
    assert finding.severity == severity
    assert facts(finding.what)[:2] == [20, label]
    assert facts(finding.where) == ["a", "t"]
    assert f"step='{label}'" in finding.do
    assert ("from scratch" in finding.do) == (severity == "tempers")


@pytest.mark.parametrize(
    "label", ["seed", "run_id", "fold", "replicate", "Random Seed"]
)
def test_a_label_that_names_a_run_is_fine(label):
    rows = [
        Trial("t", "a", i, {"return": x}, labels={label: i})
        for i, x in enumerate(np.random.default_rng(0).normal(size=20))
    ]
    assert not found(rows)


def test_columns_left_over_are_no_axis():
    """A reader keeps what it has no use for as labels: lengths, names, other scores."""
    rng = np.random.default_rng(0)
    rows = [
        Trial(
            *("t", a, i, {"return": rng.normal()}),
            labels={
                "split": "test",
                "run_name": "exp1",
                "last_step": int(rng.integers(10_000)),
                "seed": i // 2,
                "best": rng.normal(),
            },
        )
        for a in "ab"
        for i in range(12)
    ]
    assert not found(rows)
    bare = [
        Trial(
            *("t", t.algorithm, t.number, t.metrics),
            labels={k: v for k, v in t.labels.items() if k != "seed"},
        )
        for t in rows
    ]
    assert not found(bare)


def test_iterations_of_a_random_search_are_runs():
    rng = np.random.default_rng(0)
    rows = [
        Trial(
            *("t", "a", i, {"return": float(rng.normal())}),
            params=mixed(rng, i),
            labels={"iteration": i},
        )
        for i in range(40)
    ]
    assert not found(rows)


def crossed(inner, *, outer="seed", n_outer=3, n_inner=20, params=None):
    rng = np.random.default_rng(1)
    pairs = itertools.product(range(n_outer), range(n_inner))
    return [
        Trial(
            *("t", "a", number, {"return": float(rng.normal())}),
            labels={outer: i, inner: j} if inner else {outer: i},
            params=params(rng, number) if params else {},
        )
        for number, (i, j) in enumerate(pairs)
    ]


def test_episodes_of_few_seeds_are_stacked():
    finding = only(crossed("episode"), "replication-axis")
    assert finding.severity == "blocks"
    assert holds(finding.what, 60, 3, "episode")


@pytest.mark.parametrize(("inner", "named"), [("size", ["size"]), ("", [])])
def test_few_seeds_many_times_are_suspicious_whatever_tells_them_apart(inner, named):
    finding = only(crossed(inner), "replication-axis")
    assert finding.severity == "tempers"
    assert facts(finding.what) == [60, 3, *named]
    assert "task=" in finding.do


def test_seeds_crossed_with_folds_temper_answers():
    finding = only(crossed("fold", n_inner=5), "replication-axis")
    assert finding.severity == "tempers"
    assert "variance" not in finding.concerns
    assert facts(finding.what) == [15, 3]
    assert "fold and seed" in finding.what
    assert "not independent" in finding.why


def test_one_seed_for_a_whole_random_search_is_fine():
    assert not found(crossed("", n_outer=1, n_inner=60, params=mixed))


def test_scores_that_follow_each_other_are_episodes():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=100))
    rows = [Trial("t", "a", i, {"return": x}) for i, x in enumerate(walk)]
    finding = only(rows + study(algorithms=["b"], n=100), "replication-axis")
    assert finding.severity == "blocks"
    assert holds(finding.what, 100, "return")
    assert finding.metrics == ("return",)
    assert finding.where == "'a' on 't'"
    assert "step=" in finding.do


def grouped(label, groups, runs, *, sd=1.0, noise=0.5, order="group", seed=0):
    """Return runs of settings, sites or folds that differ, one group after another."""
    rng = np.random.default_rng(seed)
    rows = []
    for name in "ab":
        level = sd * rng.normal(size=groups)
        rows += [
            Trial(
                *("t", name, g * runs + j, {"return": level[g] + noise * rng.normal()}),
                labels={label: g, "seed": j},
            )
            for g in range(groups)
            for j in range(runs)
        ]
    return Trials(rows, [RETURN])


@pytest.mark.parametrize("label", ["config", "site", "fold"])
@pytest.mark.parametrize(("groups", "runs"), [(20, 5), (10, 10), (40, 3)])
def test_runs_of_stated_clusters_are_no_steps(label, groups, runs):
    for seed in range(3):
        trials = grouped(label, groups, runs, seed=seed).with_design(cluster=label)
        assert not found(trials, "replication-axis")


def test_folds_in_order_temper_and_stated_blocks_do_not():
    """Repeated cross-validation, a fold after the other; which fold it is matters."""
    named = 0
    for seed in range(5):
        trials = grouped("fold", 10, 10, noise=1, seed=seed)
        told = found(trials, "replication-axis")
        assert {f.severity for f in told} == {"tempers"}
        by_order = [f for f in told if "scores go with" in f.brief]
        named += len(by_order)
        for finding in by_order:
            assert "cluster='fold'" in finding.do
            assert "block='fold'" in finding.do
            assert finding.fixes == ({"cluster": "fold"},)
            assert len(finding.brief) < 90
        stated = found(trials.with_design(block="fold"), "replication-axis")
        assert not [f for f in stated if "scores go with" in f.brief]
        assert {f.severity for f in stated} <= {"tempers"}
    assert named


@pytest.mark.parametrize(("runs", "steps"), [(4, 25), (10, 10)])
def test_steps_of_runs_one_after_another_block_though_seeds_tell_them_apart(
    runs, steps
):
    rng = np.random.default_rng(0)
    walks = rng.normal(size=(runs, steps)).cumsum(axis=1)
    rows = [
        Trial("t", "a", steps * r + s, {"return": x}, labels={"seed": r})
        for (r, s), x in np.ndenumerate(walks)
    ]
    assert "blocks" in {f.severity for f in found(rows, "replication-axis")}


def test_seeds_that_come_again_in_each_stated_cluster_are_fine():
    trials = grouped("site", 6, 12, sd=0)
    assert found(trials, "replication-axis")
    assert not found(trials.with_design(cluster="site"), "replication-axis")


def test_points_at_growing_sizes_are_no_time_series():
    """A trial may be one point at its training size; then scores fall with number."""
    rows = [
        Trial("t", "a", 10 * s + i, {"error": 1 / (s + 2) + i / 1000}, steps=[2**s])
        for s in range(6)
        for i in range(10)
    ]
    assert not found(rows)


def test_sorted_rows_are_called_sorted():
    scores = np.sort(np.random.default_rng(0).normal(size=50))
    rows = [Trial("t", "a", i, {"return": x}) for i, x in enumerate(scores)]
    finding = only(rows, "sorted-rows")
    assert "return" in facts(finding.what)
    assert not found(rows, "replication-axis")


def test_the_neighbour_test_knows_order_from_no_order():
    rng = np.random.default_rng(0)
    assert replication.next_alike(np.cumsum(rng.normal(size=100)))[1] < 1e-8
    assert replication.next_alike(rng.normal(size=100))[1] > 1e-3
    assert replication.next_alike(np.ones(50)) == (0.0, 1.0)
    assert trend(np.ones(50)) == (0.0, 1.0)


# --- 2. duplicates ---------------------------------------------------------------------


def test_a_curve_under_two_numbers_is_a_duplicate():
    rows = curves()
    rows.append(Trial("t", "a", 10, rows[3].metrics))
    finding = only(rows, "duplicate-curves")
    assert finding.severity == "tempers"  # one copy among twenty-one
    assert facts(finding.what)[0] == 1
    assert facts(finding.where) == ["a", "t", 3, 10]
    assert "counted twice" in finding.why


def test_a_curve_under_two_names_is_a_duplicate():
    rows = [t for t in curves() if t.key != ("t", "b", 9)]
    rows.append(Trial("t", "b", 9, rows[3].metrics))
    finding = only(rows, "duplicate-curves")
    assert facts(finding.what)[0] == 1
    assert facts(finding.where) == ["a", "t", 3, "b", "t", 9]
    assert "algorithm=" in finding.do


def test_an_algorithm_without_chance_is_named_and_blocks_nobody():
    """One of four: all its runs are the same, which copies are, too."""
    once = np.linspace(0, 1, 8) ** 2
    rows = curves(algorithms="bcd", n=5, steps=8)
    rows += [Trial("t", "fixed", i, {"return": once}) for i in range(5)]
    finding = only(rows, "duplicate-curves")
    assert finding.severity == "tempers"
    assert finding.where == "'fixed' on 't'"
    assert "deterministic, or copies" in finding.brief
    # Copies of others are still counted, and not beside it.
    copied = [Trial("t", "b", 5 + i, rows[i].metrics) for i in range(3)]
    told = found([*rows, *copied], "duplicate-curves")
    assert sorted(f.severity for f in told) == ["blocks", "tempers"]
    assert facts(told[0].brief) == [3, 18]


def test_coarse_curves_may_be_equal_by_chance():
    rng = np.random.default_rng(0)
    rows = [
        Trial("t", a, i, {"success_rate": rng.integers(0, 2, 6)})
        for a in "ab"
        for i in range(40)
    ]
    assert not found(rows, "duplicate-curves")


def test_copied_rows_of_a_search_are_duplicates():
    rows = search(mixed, n=30)
    rows += [
        Trial("t", "a", 30 + i, rows[i].metrics, params=rows[i].params)
        for i in range(5)
    ]
    finding = only(rows, "duplicate-rows")
    assert holds(finding.what, 5, 35)
    assert facts(finding.where) == ["a", "t", 5]
    assert "Remove copied rows" in finding.do


def test_settings_drawn_again_with_other_scores_are_no_duplicates():
    draw = lambda rng, i: {"k": int(rng.choice([3, 5, 10]))}  # noqa: E731
    assert not found(search(draw), "duplicate-rows")


# --- 3. unequal lengths ----------------------------------------------------------------


def test_curves_of_unequal_length_are_named():
    rows = curves(algorithms=["a"], steps=20) + curves(algorithms=["b"], steps=15)
    finding = only(rows, "unequal-lengths")
    assert holds(finding.what, "a", 20, 19, "b", 15, 14)
    assert finding.where == "task 't'"
    assert "at=14" in finding.do
    assert "fill='linear'" in finding.do


def test_curves_that_end_at_another_step_are_named():
    rows = [
        Trial(
            "t", a, i, {"return": np.sin(np.arange(6) + i + d)}, steps=np.arange(6) * d
        )
        for a, d in (("a", 1), ("b", 10))
        for i in range(6)
    ]
    finding = only(rows, "unequal-lengths")
    assert holds(finding.what, 5, "b", 6, 50)
    assert "at=" not in finding.do


def test_a_failed_run_may_be_short():
    rows = curves()
    rows[3] = Trial("t", "a", 3, {"return": [1.0, 2.0]}, status="crashed")
    rows[4] = Trial("t", "a", 4, {"return": [1.0, math.nan]})
    assert not found(rows, "unequal-lengths")


# --- 4. missing seeds ------------------------------------------------------------------


def test_numbers_that_one_algorithm_lacks_are_listed():
    rows = [t for t in study() if t.key not in {("t", "b", 3), ("t", "b", 7)}]
    finding = only(rows, "missing-seeds")
    assert holds(finding.what, 10, "b", 3, 7)
    assert finding.where == "task 't'"
    assert "failed=" in finding.do
    assert not found(rows, "unequal-trials")


def test_a_gap_in_a_run_of_numbers_is_listed():
    rows = [t for t in study(n=20) if t.number != 4]
    assert holds(only(rows, "missing-seeds").what, "a", 4, 20)


def test_seeds_chosen_at_will_have_no_gaps():
    seeds = [1, 7, 42, 123, 1337, 2024]
    rows = [
        Trial("t", a, s, {"return": math.sin(s + k)})
        for k, a in enumerate("ab")
        for s in seeds
    ]
    assert not found(rows)


def test_unequal_numbers_of_trials_are_listed():
    rows = study(algorithms=["a"], n=50) + study(algorithms=["b"], n=10, seed=1)
    finding = only(rows, "unequal-trials")
    assert holds(finding.what, "b", 10, "a", 50)


def test_algorithms_without_a_common_number_cannot_be_paired():
    rows = study(algorithms=["a"])
    rows += [Trial("t", "b", 10 + t.number, t.metrics) for t in study(seed=1)[:10]]
    finding = only(rows + study(algorithms=["c"], seed=3), "unpaired")
    assert finding.severity == "notes"
    assert facts(finding.what) == [3]
    assert "trial=" in finding.do


def test_a_pair_of_task_and_algorithm_without_trials_is_named():
    rows = study(tasks=["s", "t"], algorithms=["a", "b", "c"])
    rows = [t for t in rows if (t.task, t.algorithm) != ("s", "b")]
    finding = only(rows, "missing-cells")
    assert facts(finding.what) == [1, 6]
    assert finding.where == "'b' on 's'"


def test_algorithms_with_a_task_each_are_fine():
    rows = study(tasks=["s"], algorithms=["a"])
    assert not found(rows + study(tasks=["t"], algorithms=["b"], seed=1))


# --- 5. few runs -----------------------------------------------------------------------


def test_one_run_tempers_answers():
    finding = only(study(n=1) + study(algorithms=["c"], n=9), "one-run")
    assert finding.severity == "tempers"
    assert "learning" not in finding.concerns
    assert facts(finding.what) == [2, 3]
    assert facts(finding.where) == ["a", "t", "b", "t"]


def test_one_run_at_each_size_is_one_run():
    rows = [Trial("t", "a", i, {"error": 1 / (i + 2)}, steps=[2**i]) for i in range(6)]
    assert "each training size" in only(rows, "one-run").what


@pytest.mark.parametrize("n", [2, 4])
def test_few_runs_get_a_note(n):
    finding = only(study(n=n), "few-runs")
    assert finding.severity == "notes"
    assert f"have only {n} trials" in finding.what


def test_five_runs_are_enough_to_be_silent():
    assert not found(study(n=5))


# --- 6. units and ranges ---------------------------------------------------------------


def accuracies(scale, *, algorithm="a", n=10, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Trial("t", algorithm, i, {"accuracy": x * scale})
        for i, x in enumerate(rng.uniform(0.5, 0.9, n))
    ]


def test_percent_mixed_with_fractions_is_an_error():
    rows = accuracies(100) + accuracies(1, algorithm="b", seed=1)
    finding = only(rows, "percent-and-fractions")
    assert finding.severity == "blocks"
    assert holds(finding.what, 10, 1, 10)
    assert facts(finding.where) == ["a", "t", 10, "b", "t", 10]
    assert not found(rows, "percent", "out-of-range")


def test_percent_throughout_names_the_keyword():
    rows = [*accuracies(100), Trial("t", "a", 10, {"accuracy": 0.0})]
    finding = only(rows, "percent")
    assert finding.severity == "blocks"
    assert finding.fixes == ({"unit": "percent"},)
    assert "unit='percent'" in finding.do
    assert not found(rows, "percent-and-fractions", "out-of-range")


def test_a_curve_in_percent_may_start_below_one():
    rows = [
        Trial("t", "a", i, {"accuracy": [0.1, 10.0 + i, 50.0 + i**1.5]})
        for i in range(5)
    ]
    assert [f.rule for f in found(rows)] == ["percent"]


@pytest.mark.parametrize("value", [1.02, -0.5, 300.0])
def test_other_values_outside_the_range_are_errors(value):
    rows = [*accuracies(1), Trial("t", "a", 10, {"accuracy": value})]
    finding = only(rows, "out-of-range")
    assert finding.severity == "blocks"
    assert holds(finding.what, 1, 11, 9, "accuracy", 0, 1)
    assert facts(finding.where) == ["a", "t", 1]
    assert "metrics={'accuracy': 'higher:LOW:HIGH'}" in finding.do


def test_fractions_and_unbounded_scores_are_fine():
    assert not found(accuracies(1) + accuracies(1, algorithm="b", seed=1))
    assert not found(study(), "out-of-range")


# --- 7. constant scores ----------------------------------------------------------------


def test_scores_that_are_all_the_same_are_named():
    rows = study() + [Trial("t", "c", i, {"return": 2.5}) for i in range(10)]
    finding = only(rows, "constant-scores")
    assert finding.severity == "tempers"
    assert facts(finding.where) == ["c", "t", 2.5, 10]
    assert not found(rows, "ties")


def test_curves_that_never_move_are_named():
    rows = curves()
    rows[2] = Trial("t", "a", 2, {"return": np.full(20, 0.25)})
    finding = only(rows, "flat-curves")
    assert finding.severity == "notes"
    assert holds(finding.what, 1, 20, 5, "return")
    assert facts(finding.where) == ["a", "t", 1, 10]
    flat = [Trial("t", "a", i, {"return": np.full(9, i * 0.1)}) for i in range(6)]
    assert only(flat, "flat-curves").severity == "tempers"


# --- 8. ties ---------------------------------------------------------------------------


def test_many_ties_get_a_note_with_their_share():
    rng = np.random.default_rng(0)
    rows = [
        Trial("t", "a", i, {"accuracy": x / 10})
        for i, x in enumerate(rng.integers(3, 9, 40))
    ]
    finding = only(rows, "ties")
    assert finding.severity == "notes"
    assert holds(finding.what, 40, 40, 100, "accuracy")
    assert facts(finding.where) == ["a", "t", 6, 40]
    for word in ("quantiles jump", "conservative", "literal CVaR", "integral form"):
        assert word in finding.why


def test_a_tie_or_two_are_fine():
    rows = study(n=20)
    rows[3] = Trial("t", "a", 3, rows[4].metrics)
    assert not found(rows)


# --- 9. failed runs --------------------------------------------------------------------


def test_failed_runs_are_counted_by_kind_with_the_remedy():
    rows = study()
    rows[2] = Trial("t", "a", 2, {}, status="crashed", error="loss is\nnan")
    rows[5] = Trial("t", "a", 5, {"return": 0.5}, status="timeout")
    finding = only(rows, "failed-runs")
    assert finding.severity == "notes"
    assert facts(finding.what) == [2, 20, 10, 1, 1]
    assert {"1 crashed", "1 timeout"} <= {*re.split("[:,.] ", finding.what)}
    assert "loss is nan" in finding.what
    assert facts(finding.where) == ["a", "t", 2, 10]
    assert "failed='worst'" in finding.do
    assert not found(rows, "no-final-score")


def test_an_algorithm_that_always_fails_tempers_answers():
    rows = study() + [Trial("t", "c", i, {}, status="failed") for i in range(10)]
    finding = only(rows, "failed-runs")
    assert finding.severity == "tempers"
    assert facts(finding.what)[-3:] == [10, "c", "t"]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_runs_without_a_finite_last_score_are_counted(value):
    rows = curves()
    rows[1] = Trial("t", "a", 1, {"return": [1.0, 2.0, value]})
    finding = only(rows, "no-final-score")
    assert holds(finding.what, 1, 20, 5, "return")
    assert facts(finding.where) == ["a", "t", 1, 10]
    assert "failed" in {name for fix in finding.do.fixes for name in fix}


def test_a_metric_that_an_algorithm_lacks_is_named():
    rng = np.random.default_rng(0)
    rows = [
        Trial("t", a, i, {"return": rng.normal()} | ({"loss": x} if a == "a" else {}))
        for a in "ab"
        for i, x in enumerate(rng.normal(size=10))
    ]
    finding = only(rows, "missing-metric")
    assert holds(finding.what, "loss", 1)
    assert finding.where == "'b' on 't'"
    assert not found(rows, "no-final-score")


def test_a_metric_may_be_recorded_now_and_then():
    rng = np.random.default_rng(0)
    rows = [
        Trial("t", a, i, {"return": rng.normal(size=4), "loss": [None, x, None, None]})
        for a in "ab"
        for i, x in enumerate(rng.normal(size=10))
    ]
    assert not found(rows)


def test_every_task_may_have_a_metric_of_its_own():
    rng = np.random.default_rng(0)
    rows = [
        Trial(task, a, i, {name: rng.normal()})
        for task, name in (("s", "loss"), ("t", "return"))
        for a in "ab"
        for i in range(10)
    ]
    assert not found(rows)


def test_confusion_counts_alone_are_scores():
    rng = np.random.default_rng(0)
    rows = [
        Trial("t", a, i, counts=rng.integers(50, 90, (3, 2, 2)))
        for a in "ab"
        for i in range(6)
    ]
    assert not found(rows)
    assert "no-metric" not in [f.rule for f in found(rows)]


# --- 10. params not drawn at random ----------------------------------------------------


def grid(*levels, times=1):
    names = "abcdefg"
    rng = np.random.default_rng(0)
    combinations = [c for c in itertools.product(*levels) for _ in range(times)]
    order = rng.permutation(len(combinations))
    return [
        Trial(
            *("t", "svm", i, {"return": float(rng.normal())}),
            params=dict(zip(names, combinations[k], strict=False)) | {"fixed": 1},
        )
        for i, k in enumerate(order)
    ]


@pytest.mark.parametrize(
    ("levels", "times", "what"),
    [
        ([[1, 2, 3], [0.1, 0.2, 0.3]], 1, [9, 9, 3, 3]),
        ([[1, 2, 3], list("xyz"), [0, 1]], 3, [18, 18, 3, 3, 2]),
    ],
)
def test_a_full_grid_is_called_a_grid(levels, times, what):
    finding = only(grid(*levels, times=times), "params-grid")
    assert holds(finding.what, *what)
    assert ("once" if times == 1 else "3 times") in finding.what
    assert finding.where == "'svm' on 't'"
    assert "drawn from it" in finding.why
    assert finding.concerns == DISTRIBUTION


def test_a_grid_with_a_few_settings_missing_is_still_a_grid():
    rows = grid(range(5), range(4), [True, False])[:-3]
    assert holds(only(rows, "params-grid").what, 37, 40)


def test_a_grid_over_seeds_in_params_is_a_grid_of_the_rest():
    rows = [
        Trial("t", "a", t.number, t.metrics, params={**t.params, "seed": t.number})
        for t in grid(range(4), range(4))
    ]
    assert holds(only(rows, "params-grid").what, 16, 16, 4, 4)


@pytest.mark.parametrize("n", [6, 30, 600])
def test_choices_from_short_lists_drawn_at_random_are_no_grid(n):
    def draw(rng, i):
        return {
            "k": int(rng.choice([3, 4, 5, 10, 25, 50])),
            "batch_size": int(rng.choice([32, 64, 128])),
        }

    for seed in range(5):
        rows = search(draw, n=n, seed=seed)
        assert not found(rows, "params-grid", "params-steps", "params-drift")


def test_one_setting_repeated_is_a_study_of_seeds():
    assert not found(study(n=40, params={"lr": 0.1, "width": 64}))
    rows = search(lambda rng, i: {"lr": 0.1, "seed": i}, n=40)
    assert not found(rows)


def test_settings_drawn_once_and_run_with_several_seeds_are_no_grid():
    rng = np.random.default_rng(0)
    settings = [{"lr": float(x)} for x in rng.uniform(size=20)]
    rows = search(lambda rng, i: settings[i % 20], n=100)
    assert [finding.rule for finding in found(rows)] == ["clusters"]


@pytest.mark.parametrize(
    ("values", "severity"),
    [
        (np.linspace(0.1, 1, 10), "tempers"),
        (np.logspace(-5, -1, 9), "tempers"),
        ([1e-4, 3e-4, 1e-3, 3e-3, 1e-2], "notes"),
    ],
)
def test_one_param_in_even_steps_is_a_sweep(values, severity):
    order = np.random.default_rng(0).permutation(np.repeat(values, 3))
    finding = only(
        search(lambda rng, i: {"lr": float(order[i])}, n=len(order)), "params-steps"
    )
    assert finding.severity == severity
    assert holds(finding.what, "lr", len(values))
    assert "each 3 times" in finding.what
    assert "algorithm=" in finding.do


def test_one_param_drawn_at_random_is_no_sweep():
    assert not found(search(lambda rng, i: {"lr": float(rng.uniform())}, n=12))
    assert not found(search(lambda rng, i: {"n": int(rng.integers(1, 9))}, n=40))


def test_an_optimiser_gives_itself_away():
    def draw(rng, i):
        return {
            "lr": float(rng.normal(0.5, 1 / (1 + i / 10))),
            "width": int(rng.integers(8, 512)),
        }

    rows = search(draw, n=120)
    finding = only(rows, "params-drift")
    assert finding.severity == "blocks"
    assert "spread of lr" in facts(finding.what)
    assert "width" not in finding.what
    assert "TPE" in finding.why
    assert "when they ended" in finding.do


def test_scores_that_improve_along_a_search_give_the_optimiser_away():
    rng = np.random.default_rng(0)
    rows = [
        Trial("t", "a", i, {"return": i / 20 + rng.normal()}, params=mixed(rng, i))
        for i in range(100)
    ]
    assert "'return' +0." in only(rows, "params-drift").what
    assert not found(rows, "replication-axis")


def test_a_choice_that_takes_over_gives_the_optimiser_away():
    def draw(rng, i):
        return {"act": "relu" if rng.random() < i / 100 else "tanh", "x": rng.random()}

    assert "'act'" in only(search(draw, n=100), "params-drift").what


def test_rows_sorted_by_a_param_are_called_sorted():
    rows = search(lambda rng, i: {"lr": i + rng.random(), "x": rng.random()})
    assert "lr" in facts(only(rows, "sorted-rows").what)
    assert not found(rows, "params-drift")


def test_what_was_not_looked_at_is_said(monkeypatch):
    monkeypatch.setattr("curvewise.trials.settings.MOST_PARSED", 100)
    rows = grid(range(10), range(10), times=2)
    rows.sort(key=lambda t: (t.params["a"], t.params["b"], t.number))
    whole = [*rows[::2], *rows[1::2]]
    trials = [
        Trial("t", "a", i, t.metrics, params=t.params) for i, t in enumerate(whole)
    ]
    finding = only(trials, "params-grid")
    assert holds(finding.what, 100, 200)


# --- false alarms ----------------------------------------------------------------------


def alarms(make, rules, n):
    """Return how many of n simulated clean studies get a finding of these rules."""
    by_name = [rule for rule in RULES if rule.__name__ in rules]
    return sum(any(True for rule in by_name for _ in rule(make(i))) for i in range(n))


MANY = [pytest.param(300), pytest.param(3_000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", MANY)
def test_a_clean_random_search_is_rarely_suspected(n):
    """The level of the drift test is 1e-4 per check; grids have no chance to occur."""
    make = lambda i: Trials(search(mixed, n=30 + i % 20, seed=i))  # noqa: E731
    assert_rate(alarms(make, ["params_not_drawn_at_random"], n), n, 1e-4)


@pytest.mark.parametrize("n", MANY)
def test_clean_runs_are_rarely_taken_for_a_time_series(n):
    make = lambda i: Trials(study(n=30 + i % 20, seed=i))  # noqa: E731
    assert_rate(alarms(make, ["wrong_replication_axis"], n), n, 1e-4)


def test_the_tests_of_order_keep_their_level():
    """At 1 % the tails can be seen: neither test objects more often than it says."""
    rng = np.random.default_rng(7)
    p = np.array(
        [
            [trend(x)[1], replication.next_alike(x)[1]]
            for x in (rng.normal(size=(6_000, 30)).round(1))
        ]
    )
    for hits in (p < 0.01).sum(axis=0):
        assert_rate(min(hits, 60), 6_000, 0.01, false_alarm=1e-9)
        assert hits <= 60 + 6 * math.sqrt(60)


# --- it never raises -------------------------------------------------------------------


def test_no_trials_are_said_to_be_none():
    answer = check(Trials())
    assert [f.rule for f in answer] == ["no-trials"]
    assert answer.findings[0].severity == "blocks"


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        ([Trial("t", "a", 0, {"return": 1.0})], "one-run"),
        ([Trial("t", "a", i, {}) for i in range(5)], "no-metric"),
        (
            [Trial("t", "a", i, {"return": math.nan}) for i in range(5)],
            "no-final-score",
        ),
        (
            [Trial("t", "a", i, {"return": [None, None]}) for i in range(5)],
            "no-final-score",
        ),
        ([Trial("t", "a", i, {}, status="crashed") for i in range(5)], "failed-runs"),
    ],
)
def test_poor_results_are_told_so(rows, rule):
    assert rule in [f.rule for f in found(rows)]
    assert str(check(Trials(rows)))


def test_huge_names_are_cut():
    rows = [
        Trial(
            "t" * 5000, a * 5000, i, {"return": 1.0}, status="failed", error="e" * 5000
        )
        for a in "abcdefgh"
        for i in range(3)
    ]
    for finding in check(Trials(rows)):
        assert len(finding.what) < 800
        assert len(finding.where) < 800


names = st.text(min_size=1, max_size=4).filter(lambda s: s.isprintable() and s.strip())
numbers = st.one_of(
    st.none(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, 1.0, 50.0, 1e308, -1e308]),
)
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=3).filter(str.isprintable),
    st.lists(st.integers(0, 3), max_size=2),
)


@st.composite
def some_trials(draw):
    rows = []
    for number in draw(st.lists(st.integers(-(2**62), 2**62), unique=True, max_size=8)):
        n = draw(st.integers(0, 7))
        metrics = draw(st.lists(st.sampled_from(["accuracy", "return"]), unique=True))
        rows.append(
            Trial(
                draw(st.sampled_from(["s", "t"])),
                draw(names),
                number,
                {
                    m: draw(st.lists(numbers, min_size=n, max_size=n)) for m in metrics
                },
                steps=np.arange(n) * draw(st.sampled_from([1.0, 0.5])),
                params=draw(st.dictionaries(names, values, max_size=3)),
                labels=draw(
                    st.dictionaries(
                        st.sampled_from(["seed", "episode", "fold", "x"]),
                        values,
                        max_size=2,
                    )
                ),
                status=draw(st.sampled_from(STATUSES)),
                error=draw(st.text(max_size=3).filter(str.isprintable)),
            )
        )  # fmt: skip
    return Trials(rows)


@settings(deadline=None, max_examples=100)
@given(some_trials())
def test_check_never_raises(trials):
    answer = check(trials)
    assert str(answer)
    assert all(isinstance(finding, Finding) for finding in answer)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(2, 40),
    st.sampled_from([[0.0], [0.0, 1.0], [math.nan, 1.0], [1e308, -1e308, 0.5]]),
    st.lists(st.one_of(st.integers(0, 3), st.just(2**2000)), min_size=40, max_size=40),
    st.sampled_from(["seed", "step", "x"]),
)
def test_check_never_raises_on_many_alike(n, scores, choices, label):
    """Enough trials for the tests of chance to run, with every kind of tie."""
    rows = [
        Trial(
            *("t", "a", i, {"return": scores[i % len(scores)]}),
            params={"k": choices[i], "x": i % 2},
            labels={label: i // 2},
        )
        for i in range(n)
    ]
    assert str(check(Trials(rows)))
