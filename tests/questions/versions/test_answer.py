"""Is a new version worse? Verdicts, margins, names, failures, and what is printed."""

import json
import math

import numpy as np
import pytest
from contests import (
    ACCURACY,
    LOSS,
    RETURN,
    diverging,
    ending,
    noisy,
    several,
    version,
)
from facts import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support import assert_at_most, assert_rate

import curvewise as cw
from curvewise import CurvewiseError, Metric, Trials, compare_versions
from curvewise.questions.versions.fit import (
    Margin,
    Names,
    Pair,
    Side,
    changes_of,
    margin_of,
)


def verdict(base, new, **more):
    return compare_versions(base, new, **more).verdict


# --- the verdict --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shift", "margin", "told"),
    [
        (0.0, 2.0, "no worse"),
        (-5.0, 2.0, "worse"),
        (-2.0, 2.0, "cannot tell"),
        (0.0, 0.1, "cannot tell"),
        (5.0, 0.0, "no worse"),
    ],
)
@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_the_verdict_is_by_the_limits_and_the_margin(shift, margin, told, direction):
    """Lower is better is the same with scores below 0."""
    metric = RETURN if direction == "higher" else LOSS
    base, new = (
        version(metric.sign * noisy(m, seed=s), metric)
        for m, s in ((50, 0), (50 + shift, 1))
    )
    answer = compare_versions(base, new, margin=margin, paired=False)
    (change,) = answer.changes
    assert answer.verdict == change.verdict == told
    assert change.interval.value == pytest.approx(shift)
    assert change.base.mean == pytest.approx(metric.sign * 50)


def test_limits_are_those_of_scipy():
    base, new = noisy(50), noisy(51, seed=1)
    (row,) = compare_versions(version(base), version(new), paired=False).rows()
    found = stats.ttest_ind(new, base, equal_var=False).confidence_interval(0.9)
    assert (row["gain_lower"], row["gain_upper"]) == pytest.approx((found[0], found[1]))
    paired = compare_versions(version(base), version(new)).rows()[0]
    by_seed = stats.ttest_rel(new, base).confidence_interval(0.9)
    assert paired["paired"]
    # Differences of both may be skewed, and then a limit is a little farther out.
    assert paired["gain_lower"] <= by_seed[0] + 1e-9
    assert paired["gain_lower"] == pytest.approx(by_seed[0], abs=0.3)


def test_a_difference_may_be_sure_and_within_the_margin():
    base = version(noisy(50))
    worse, better = (version(noisy(50 + d, seed=1)) for d in (-1.5, 3))
    answer = compare_versions(base, worse, margin=5, paired=False)
    assert (answer.verdict, answer.changes[0].than_before) == ("no worse", "worse")
    answer = compare_versions(base, better, margin=5, paired=False)
    assert answer.changes[0].than_before == "better"
    same = compare_versions(base, version(noisy(50, seed=1)), margin=5, paired=False)
    assert same.changes[0].than_before == "open"
    assert "than before" not in same.headline()


# --- the margin ---------------------------------------------------------------------------


def test_a_margin_that_nobody_stated_is_said_to_be_the_default():
    rates = version(0.9 + 0.001 * noisy(0), ACCURACY)
    answer = compare_versions(rates, rates)
    assert answer.changes[0].margin == pytest.approx(0.01)
    assert answer.margin.is_default
    returns = version(noisy(-300))
    answer = compare_versions(returns, returns)
    assert answer.changes[0].margin == pytest.approx(15)
    assert answer.margin.is_default
    assert not compare_versions(returns, returns, margin=15).margin.is_default


@pytest.mark.parametrize(
    ("mean", "metric"), [(200, RETURN), (-200, RETURN), (200, LOSS), (-200, LOSS)]
)
def test_a_share_is_of_the_size_of_the_base(mean, metric):
    """Worse by 5 % of the size is at the margin of 5 %, whatever the signs."""
    base = version(noisy(mean, sd=0.01), metric)
    at, above, below = (
        version(noisy(mean - metric.sign * d, sd=0.01, seed=1), metric)
        for d in (10, 9.9, 10.1)
    )
    asked = {"margin": "5%", "paired": False}
    assert verdict(base, at, **asked) == "cannot tell"
    assert verdict(base, above, **asked) == "no worse"
    assert verdict(base, below, **asked) == "worse"


def test_the_uncertainty_of_the_base_counts_in_a_share():
    """The limit of new less 80 % of base, from SciPy."""
    base, new = noisy(100, sd=5), noisy(95, seed=1)
    asked = {"margin": "20%", "paired": False}
    (row,) = compare_versions(version(base), version(new), **asked).rows()
    found = stats.ttest_ind(new, 0.8 * base, equal_var=False).confidence_interval(0.9)
    assert (row["room_lower"], row["room_upper"]) == pytest.approx((found[0], found[1]))


@pytest.mark.parametrize(
    "margin", [-1, "2", "x%", "-2%", "100%", "2%%", math.nan, True, 2]
)
def test_what_is_no_margin_is_refused(margin):
    with refused("margin"):
        margin_of(margin, ACCURACY)


@pytest.mark.parametrize(("text", "share"), [("2%", 0.02), (" 0.5 % ", 0.005)])
def test_percent_are_read(text, share):
    assert margin_of(text, RETURN) == Margin(pytest.approx(share), True, False)


# --- who is compared with whom ------------------------------------------------------------


def test_what_only_one_version_has_is_said():
    base = several(["ppo", "sac", "td3"], ["Hopper", "Ant"])
    new = several(["ppo", "sac", "dqn"], ["Hopper", "Walker"], seed=1)
    answer = compare_versions(base, new, margin=2)
    assert [(c.task, c.base.algorithm) for c in answer.changes] == [
        ("Hopper", "ppo"),
        ("Hopper", "sac"),
    ]
    assert answer.removed == ("algorithm 'td3'", "task 'Ant'")
    assert answer.added == ("algorithm 'dqn'", "task 'Walker'")
    whole = compare_versions(base, base)
    assert whole.removed == whole.added == ()


def test_one_cell_may_be_missing():
    base = several(["ppo", "sac"], ["Hopper", "Ant"])
    new = Trials.concat(
        [base.where(algorithm="ppo"), base.where(algorithm="sac", task="Ant")]
    )
    answer = compare_versions(base, new)
    assert len(answer.changes) == 3
    assert answer.removed == ("'sac' on 'Hopper'",)


def test_two_single_algorithms_of_different_names_are_compared():
    base = several(["agent-v1"], ["Hopper", "Ant"])
    new = several(["agent-v2"], ["Hopper", "Ant"], shift=-9, seed=1)
    answer = compare_versions(base, new)
    assert answer.verdict == "worse"
    assert answer.rows()[0]["new_algorithm"] == "agent-v2"
    assert answer.removed == answer.added == ()


@pytest.mark.parametrize(
    ("names", "tasks"),
    [(["a", "b"], ["Hopper"]), (["ppo"], ["Ant"]), (["a"], ["Ant"])],
    ids=["names", "tasks", "both"],
)
def test_nothing_in_common_is_an_error(names, tasks):
    base = several(["ppo"], ["Hopper"])
    with pytest.raises(CurvewiseError, match="in common"):
        compare_versions(base, several(names, tasks))


def test_no_worse_takes_all_and_worse_takes_one():
    base = several(["ppo", "sac"], ["Hopper", "Ant"])
    fine = several(["ppo", "sac"], ["Hopper", "Ant"], seed=1)
    bad = Trials.concat(
        [
            fine.where(algorithm="ppo"),
            several(["sac"], ["Hopper", "Ant"], shift=-9, seed=2),
        ]
    )
    assert compare_versions(base, fine, margin=2).verdict == "no worse"
    answer = compare_versions(base, bad, margin=2)
    assert answer.verdict == "worse"
    assert [c.verdict for c in answer.of("worse")] == ["worse", "worse"]
    assert compare_versions(base, fine, margin=0.2).verdict == "cannot tell"


# --- pairs --------------------------------------------------------------------------------


def test_equal_numbers_are_pairs_and_sharpen():
    shared = 30 * np.random.default_rng(3).normal(size=12)
    base, new = (
        version(400 + shared + noisy(0)),
        version(400 + shared + noisy(0, seed=1)),
    )
    by_seed, apart = (compare_versions(base, new, paired=p) for p in (None, False))
    assert by_seed.changes[0].paired
    assert (
        by_seed.changes[0].interval.half_width
        < 0.2 * apart.changes[0].interval.half_width
    )
    assert "12 pairs" in by_seed.headline()


def test_other_numbers_are_no_pairs_unless_asked_for():
    base = version(noisy(50))
    new = version(noisy(50, seed=1), first=4)
    assert not compare_versions(base, new).changes[0].paired
    answer = compare_versions(base, new, paired=True)
    assert answer.changes[0].paired
    assert (answer.changes[0].base.trials, answer.rows()[0]["left_out"]) == (8, 8)
    with pytest.raises(CurvewiseError, match="no pairs"):
        compare_versions(base, version(noisy(50), first=99), paired=True)
    with refused("paired", "yes"):
        compare_versions(base, new, paired="yes")


def test_numbers_that_were_counted_are_no_pairs():
    rows = {"model": ["a"] * 6, "return": noisy(50, 6)}
    base = cw.read(rows, trial=[])
    assert not compare_versions(base, cw.read(rows, trial=[])).changes[0].paired


def test_seeds_that_are_texts_are_pairs_if_they_are_the_same():
    def table(prefix):
        seeds = [f"{prefix}{i}" for i in range(6)]
        return cw.read({"model": ["a"] * 6, "seed": seeds, "return": noisy(50, 6)})

    assert compare_versions(table("s"), table("s")).changes[0].paired
    assert not compare_versions(table("s"), table("t")).changes[0].paired


def test_runs_with_other_names_are_no_pairs():
    def table(prefix, trial="run"):
        names = [f"{prefix}{i}" for i in range(6)]
        told = {"model": ["a"] * 6, "run": names, "nr": range(6)}
        return cw.read(told | {"return": noisy(50, 6)}, trial=trial)

    assert compare_versions(table("x"), table("x")).changes[0].paired
    assert not compare_versions(table("x"), table("y")).changes[0].paired
    assert compare_versions(table("x", "nr"), table("y", "nr")).changes[0].paired


# --- cannot tell --------------------------------------------------------------------------


def test_it_says_how_many_more_would_tell():
    answer = compare_versions(
        version(noisy(50, 30)), version(noisy(50, 8, seed=1)), margin=0.5, paired=False
    )
    (change,) = answer.changes
    assert answer.verdict == "cannot tell"
    assert 10 < change.more_if_equal < change.more_of_new
    assert f"or {change.more_of_new} of NEW alone" in answer.headline()


def test_too_many_are_more_than_a_thousand():
    answer = compare_versions(
        version(noisy(50)), version(noisy(49.999, seed=1)), margin=0.001
    )
    assert answer.changes[0].more_if_equal is None
    assert answer.table()[0]["more trials"] == "> 1,000"


def test_without_a_margin_equals_are_never_told():
    answer = compare_versions(
        version(noisy(50)), version(noisy(49.9, seed=1)), margin=0
    )
    assert answer.verdict == "cannot tell"
    assert answer.changes[0].more_if_equal is None


def test_a_verdict_needs_no_more_trials():
    answer = compare_versions(version(noisy(50)), version(noisy(50, seed=1)), margin=9)
    row = answer.rows()[0]
    assert row["more_if_equal"] == row["more_if_as_seen"] == row["more_of_new"] == 0
    assert "would tell" not in str(answer)
    assert "more trials" not in answer.table()[0]


def test_the_planned_number_tells_in_four_of_five():
    """Over two cells at once: each is planned for more than four of five."""
    rng = np.random.default_rng(4)

    def cells(n, pilots=False):
        drawn = [(rng.normal(size=n), rng.normal(size=n)) for _ in range(2)]
        if pilots:  # of exactly the right spread
            drawn = [tuple((z - z.mean()) / z.std(ddof=1) for z in p) for p in drawn]
        return changes_of([pair(b, a) for b, a in drawn], MARGIN, 0.95)

    first = cells(8, pilots=True)
    assert {c.verdict for c in first} == {"cannot tell"}
    n = 8 + max(c.more_if_equal for c in first)
    told = [{c.verdict for c in cells(n)} == {"no worse"} for _ in range(600)]
    assert_rate(sum(told), 600, 0.8)


MARGIN = Margin(0.8, False, False)


def pair(base, new):
    def side(z):
        return Side("a", len(z), 0, float(z.mean()), float(z.std(ddof=1)), 0)

    return Pair(Names("t", "a", "a"), base, new, False, (side(base), side(new)))


# --- levels -------------------------------------------------------------------------------


def rates(margin, shifts, repetitions, seed, mean=0.0):
    """Return how often all are no worse, and how often one is worse."""
    rng = np.random.default_rng(seed)
    told = []
    for _ in range(repetitions):
        own = [
            pair(mean + rng.normal(size=8), mean + shift + rng.normal(size=8))
            for shift in shifts
        ]
        told.append({c.verdict for c in changes_of(own, margin, 0.95)})
    return sum(t == {"no worse"} for t in told), sum("worse" in t for t in told)


@pytest.mark.parametrize(
    ("margin", "shifts", "mean"),
    [
        (Margin(1.0, False, False), [-1.0], 0.0),
        (Margin(0.1, True, False), [-1.0], 10.0),
        (Margin(0.1, True, False), [-1.0], -10.0),
        (Margin(1.0, False, False), [-1.0] * 3, 0.0),
        (Margin(1.0, False, False), [-1.0, 9.0, 9.0], 0.0),
    ],
    ids=["units", "share", "share below 0", "three", "one of three"],
)
def test_wrong_verdicts_are_rare_at_the_margin(margin, shifts, mean):
    no_worse, worse = rates(margin, shifts, 300, 5, mean)
    assert_at_most(no_worse, 300, 0.05)
    assert_at_most(worse, 300, 0.05)


def test_without_the_correction_worse_would_be_said_too_often():
    """The negative control: each of twelve for itself."""
    rng = np.random.default_rng(6)
    margin = Margin(1.0, False, False)
    wrong = 0
    for _ in range(60):
        own = [pair(rng.normal(size=8), rng.normal(size=8) - 1) for _ in range(12)]
        each = [changes_of([one], margin, 0.95)[0].verdict for one in own]
        wrong += "worse" in each
    assert wrong / 60 > 0.2


def test_looks_share_the_level():
    base, new = version(noisy(50)), version(noisy(49.3, seed=1))
    once, twice = (compare_versions(base, new, margin=2, looks=k) for k in (1, 2))
    assert twice.each == pytest.approx(0.975)
    assert twice.changes[0].interval.lower < once.changes[0].interval.lower
    with refused("looks", 0):
        compare_versions(base, new, looks=0)


# --- the same, and nothing at all ---------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12),
    st.sampled_from([0, 0.5, "1%", None]),
    st.sampled_from([None, False]),
    st.sampled_from([RETURN, LOSS]),
)
def test_the_same_trials_are_never_worse(scores, margin, paired, metric):
    one = version(scores, metric)
    answer = compare_versions(one, one, margin=margin, paired=paired)
    assert answer.verdict in ("no worse", "cannot tell")
    assert answer.changes[0].interval.value == 0
    assert answer.is_same


def test_the_same_scores_in_pairs_are_exactly_the_same():
    base = version(noisy(50))
    answer = compare_versions(base, version(noisy(50), algorithm="ppo"))
    assert answer.verdict == "no worse"
    assert answer.is_same
    assert not compare_versions(base, version(noisy(50, seed=1))).is_same


@pytest.mark.parametrize(
    ("new", "told"), [(0.9, "no worse"), (0.89, "no worse"), (0.88, "worse")]
)
def test_scores_that_do_not_vary_are_compared_as_they_are(new, told):
    base, now = version([0.9] * 3, ACCURACY), version([new] * 3, ACCURACY)
    answer = compare_versions(base, now, margin=0.01)
    assert answer.verdict == told
    assert answer.changes[0].difference.is_exact


def test_one_trial_cannot_tell_and_says_what_would():
    answer = compare_versions(version([50.0]), version([40.0, 41.0]))
    assert answer.verdict == "cannot tell"
    assert answer.changes[0].is_one_trial
    assert answer.rows()[0]["more_if_equal"] is None
    assert json.loads(answer.to_json())["rows"][0]["gain_lower"] is None


# --- failures -----------------------------------------------------------------------------


def test_failures_have_to_be_scored():
    with pytest.raises(CurvewiseError, match="failed='worst'"):
        compare_versions(diverging(0), diverging(3))


def test_more_failures_are_a_regression():
    answer = compare_versions(diverging(0), diverging(6), failed="worst")
    assert answer.verdict == "worse"
    (row,) = answer.rows()
    assert (row["paired"], row["failed"], row["new_failed"]) == (True, 0, 6)
    assert (
        compare_versions(diverging(6), diverging(0), failed="worst").verdict
        == "no worse"
    )


def test_the_worst_score_is_that_of_both_versions():
    """All fail, and the metric has no bound: as bad as the worst trial of the base."""
    base, new = diverging(0, metric=RETURN, good=-7), diverging(12, metric=RETURN)
    answer = compare_versions(base, new, failed="worst", margin=0.0001)
    assert answer.changes[0].new.mean == -7
    assert answer.changes[0].new.failed == 12
    stated = compare_versions(base, new, failed=-99.0)
    assert stated.changes[0].new.mean == -99


# --- what cannot be compared --------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "metric"),
    [
        (version(noisy(5), LOSS), None),
        (version(noisy(5), LOSS), "return"),
        (version(noisy(5), LOSS), "loss"),
        (version(noisy(50), Metric("return", "lower")), None),
        (Trials(metrics=[RETURN]), None),
        ("new.csv", None),
    ],
    ids=["another", "of the base", "of the new one", "turned", "no trials", "a file"],
)
def test_metrics_must_be_there_and_mean_the_same(new, metric):
    with pytest.raises(CurvewiseError):
        compare_versions(version(noisy(50)), new, metric)


def test_a_confidence_is_a_share():
    with refused("confidence", 5):
        compare_versions(*[version(noisy(50))] * 2, confidence=5)


def test_curves_that_end_at_other_steps_are_said():
    assert len(compare_versions(ending(1000), ending(2000)).ends) == 1
    assert compare_versions(ending(10), ending(10)).ends == ()
    assert compare_versions(ending(10), ending(20), at=1).ends == ()


# --- what is printed ----------------------------------------------------------------------


def test_rows_frames_and_json_say_the_same():
    answer = compare_versions(
        several(["a", "b"], ["t"]), several(["a", "b"], ["t"], -9)
    )
    rows = answer.rows()
    told = json.loads(answer.to_json())
    assert told["verdict"] == answer.verdict == "worse"
    assert told["headline"] == answer.headline()
    assert told["rows"] == rows
    assert told["notes"] == answer.notes()
    assert told["provenance"]["method"] == "compare_versions"
    assert answer.to_frame("pandas")["gain"].tolist() == [r["gain"] for r in rows]
    assert answer.to_markdown().count("\n") == 3
    assert r"\toprule" in answer.to_latex()


def test_a_comment_is_markdown_in_which_names_mean_nothing():
    bad = "a|<b>*x*_"
    base = version(noisy(50), algorithm=bad)
    text = compare_versions(base, version(noisy(50, seed=1), algorithm=bad)).comment()
    heading, _, line, _, head, rule, row, *_ = text.splitlines()
    assert heading == "### curvewise: no worse"
    assert line.startswith(r"no worse: a\|&lt;b>\*x\*\_ on Hopper")
    assert head.count("|") == rule.count("|") == row.replace(r"\|", "").count("|")
    assert "<b>" not in text
    assert text.endswith("</details>")


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("my_net", "my_net"),
        ("a`b", "a&#96;b"),
        ("[here](http://x)", "&#91;here&#93;(http://x)"),
        ("__init__", "&#95;&#95;init&#95;&#95;"),
        ("&lt;", "&#38;lt;"),
        ("a|b", r"a\|b"),
        ("a\\", "a" + 2 * "\\"),
        ("a\n- b", "a - b"),
    ],
    ids=["plain", "code", "link", "bold", "entity", "pipe", "backslash", "line"],
)
def test_a_name_stands_in_the_table_of_a_comment_as_it_is(name, cell):
    base, new = (version(noisy(50, seed=s), algorithm=name) for s in (0, 1))
    row = compare_versions(base, new).comment().splitlines()[6]
    assert row.startswith(f"| {cell} | Hopper |")


def test_the_line_is_one_line_whatever_the_names_are():
    name = "a\nb" * 40
    base, new = (
        version(noisy(50, seed=s), algorithm=name, task="t\n\nu") for s in (0, 1)
    )
    answer = compare_versions(base, new)
    assert "\n" not in answer.headline()
    assert len(answer.headline()) < 300
    gone = Trials.concat([base, version(noisy(5), algorithm="x\ny" * 99, task="v")])
    assert "\n" not in compare_versions(gone, new).headline()


def test_scores_of_any_size_have_a_verdict():
    for unit in (1e-300, 1e280):
        base, new = (version(unit * noisy(50, seed=s)) for s in (0, 1))
        assert compare_versions(base, new).verdict == "no worse"


def test_an_answer_is_found_again_by_what_was_asked():
    base, new = version(noisy(50)), version(noisy(50, seed=1))
    one = compare_versions(base, new, margin="2%").provenance
    assert one.settings["margin"] == "2%"
    assert one.data == compare_versions(base, new).provenance.data
    assert one.data != compare_versions(new, base).provenance.data
