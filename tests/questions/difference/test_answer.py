"""Do curves differ, and where: what is asked of them, what is said, what is refused."""

import json

import numpy as np
import pytest
from contests import (
    bumped,
    cut_off,
    lines_by_task,
    ragged,
    stairs,
    stretched,
    walked,
    walks,
)
from facts import refused

import curvewise as cw
from curvewise import CurvewiseError, Trials
from curvewise.stats import anova
from curvewise.stats.comparison import holm, shared_confidence


@pytest.fixture(scope="module")
def shifted():
    return cw.difference(walked(shift=3.0), seed=1)


@pytest.fixture(scope="module")
def example():
    return cw.difference(cw.example("curves"))


# --- numbers -----------------------------------------------------------------------------


def test_it_asks_the_statistics_and_changes_nothing():
    own = walks(shift=1.5, ramp=1.0)
    answer = cw.difference(lines_by_task({"t": own}), seed=3)
    found = answer.of()
    table = anova.two_way(own)
    assert found.anova.anova.ss == pytest.approx(dict(table.ss))
    exact = anova.randomized_anova(own, exact=True, rng=np.random.default_rng(9))
    for effect in ("algorithm", "interaction"):
        assert found.anova.tests[effect].shuffles.p == exact.tests[effect].shuffles.p
    sizes = anova.effect_sizes(own["a"], own["b"])
    row = answer.pair_rows()[0]
    assert row["difference"] == pytest.approx(sizes.difference.value)
    assert row["difference_lower"] == pytest.approx(sizes.difference.lower)
    assert row["higher"] == pytest.approx(sizes.higher.value)


def test_the_table_is_printed_as_published(shifted):
    table = shifted.table("t")
    assert [row["source"] for row in table] == [
        "Interaction", "Algorithm", "Training", "error", "total",
    ]  # fmt: skip
    assert [row["df"] for row in table] == [7, 1, 7, 144, 159]
    assert [row["p"] for row in table][2:] == ["-", "", ""]
    assert "Interaction" in str(shifted)


def test_pairs_are_adjusted_and_share_their_confidence(example):
    found = example.of("hill")
    assert [(p.one, p.other) for p in found.pairs] == [
        ("slow", "fast"), ("slow", "early"), ("fast", "early"),
    ]  # fmt: skip
    alone = [p.tested.p("algorithm") for p in found.pairs]
    adjusted = [p.tested.adjusted_p("algorithm") for p in found.pairs]
    assert adjusted == pytest.approx(holm(alone).tolist())
    slow, fast = found.lines["slow"], found.lines["fast"]
    with pytest.warns(cw.CurvewiseWarning, match="rests on 8"):
        one = anova.effect_sizes(slow, fast, confidence=shared_confidence(0.95, 3))
    assert found.pairs[0].effects.difference.lower == one.difference.lower
    assert found.pairs[0].where.level == pytest.approx(0.05 / 3)
    assert found.where.level == 0.05


def test_rows_are_for_programs(example):
    rows = example.rows()
    assert len(rows) == 2 * 5
    algorithm = next(r for r in rows if r["effect"] == "algorithm")
    assert algorithm["p"] == max(algorithm["p_shuffles"], algorithm["p_flips"])
    assert algorithm["p_lower"] <= algorithm["p"] <= algorithm["p_upper"]
    assert algorithm["decision"] == "rejected"
    assert len(example.pair_rows()) == 6
    assert len(example.window_rows()) == 6 * 21
    assert len({tuple(row) for row in rows}) == 1  # every row has the same keys
    assert {row["tasks"] for row in example.overall_rows()} == {2}
    assert [row["task"] for row in example.task_rows()[:2]] == ["hill", "swamp"]
    assert len(example.curve_rows()) == 6 * 21
    assert example.line_rows()[0]["rule"] == "21 steps from 0 to 100,000, as recorded"
    told = json.loads(example.to_json())
    assert set(told) == {
        "rows", "pairs", "windows", "curves", "lines", "tasks", "overall",
        "verdicts", "notes", "provenance",
    }  # fmt: skip
    assert example.to_frame().shape[0] == 10
    assert "toprule" in example.to_latex()


def test_the_same_seed_gives_the_same_answer():
    trials = walked(sizes=(12, 12))
    one, same, other = (cw.difference(trials, seed=s) for s in (1, 1, 2))
    assert one.to_json() == same.to_json()
    assert one.rows() != other.rows()
    assert ", seed 1;" in str(one)


# --- words -------------------------------------------------------------------------------


def decisions(trials, **options):
    """Return what was decided about the height and the shape of a and b."""
    pair = cw.difference(trials, **options).pair("a", "b")
    return pair.decisions["algorithm"], pair.decisions["interaction"]


def test_a_shift_is_a_difference_in_height_and_a_ramp_one_in_shape(shifted):
    assert decisions(walked(shift=3.0), seed=1) == ("rejected", "not rejected")
    assert shifted.pair("a", "b").above() == (("b", 0, 700),)
    assert decisions(walked(ramp=2.5)) == ("not rejected", "rejected")


def test_lower_is_better_where_the_metric_says_so():
    answer = cw.difference(walked(shift=3.0, metric="loss"))
    (pair,) = answer.of().pairs
    finding = pair.finding("t", answer.metric)
    assert (finding.ahead, finding.surety) == ("a", "sure")
    assert answer.pair_rows()[0]["difference"] < 0


def test_what_was_not_found_is_not_called_gone():
    trials = bumped(300, 3.0)
    pair = cw.difference(trials).pair("a", "b")
    assert pair.above() == (("b", 0, 200),)
    assert pair.where.last_different == 200
    assert 0 < pair.where.still_possible_after(pair.band) < 9.0
    assert "gone" not in cw.difference(trials).verdict("t")
    assert "gone" in cw.difference(trials, margin=9.0).verdict("t")


def test_where_nothing_was_found_a_band_says_what_remains_possible():
    pair = cw.difference(walked(seed=4)).pair("a", "b")
    assert not pair.where.different.any()
    assert 0 < pair.where.still_possible_after(pair.band) < 9.0


def test_curves_that_cross_say_who_is_ahead_where():
    answer = cw.difference(bumped(400, 4.0, -4.0))
    pair = answer.pair("a", "b")
    assert pair.where.stretches == ((0, 700),)
    assert pair.above() == (("b", 0, 300), ("a", 400, 700))
    lower = cw.difference(bumped(400, 4.0, -4.0, metric="loss"))
    ahead = lower.pair("a", "b").ahead(lower.metric)
    assert ahead == (("a", 0, 300), ("b", 400, 700))
    cells = answer.pair_table("t")[0]["ahead at steps"]
    assert cells == "b: 0 to 300; a: 400 to 700"


def test_a_design_that_cannot_reject_says_what_could():
    answer = cw.difference(walked(shift=9.0, sizes=(3, 3)))
    anova = answer.of().anova
    assert anova.decision("algorithm") == "cannot reject"
    assert anova.smallest_p == pytest.approx(0.1)
    assert anova.lines_to_reject() == 4
    assert anova.tests["algorithm"].flips is None
    assert answer.pair_table("t")[0]["ahead at steps"] == "too few lines"
    assert answer.window_rows() == []


def test_two_algorithms_get_one_answer():
    """The pair is the table's own question: with other draws it might contradict it."""
    for seed in range(5):
        own = walks(shift=1.0, sizes=(12, 12), seed=seed)
        answer = cw.difference(lines_by_task({"t": own}), shuffles=999, seed=seed)
        anova, pair = answer.of().anova, answer.pair("a", "b")
        for effect in ("algorithm", "interaction"):
            assert pair.tested.adjusted_p(effect) == anova.p(effect)
            assert pair.decisions[effect] == anova.decision(effect)


def test_an_interval_that_holds_0_may_be_of_a_pair_that_differs():
    """Holm finds the smallest p of three; the interval pays for all of them."""
    trials = walked(shift=1.3, sizes=(8, 8, 8), names="abc", seed=11)
    (pair,) = [
        pair
        for pair in cw.difference(trials, shuffles=499).of().pairs
        if pair.decisions["algorithm"] == "rejected" and 0 in pair.effects.difference
    ]
    assert pair.finding("t", cw.Metric("return", "higher")).surety == "sure"


def test_pairs_that_cannot_be_told_apart_are_said_once():
    answer = cw.difference(stairs())
    assert [pair.where for pair in answer.of().pairs] == [None] * 6
    assert {pair.tested.lines_to_reject for pair in answer.of().pairs} == {5}
    assert len(answer.verdicts("t")) == 2


def test_tasks_that_cannot_be_told_apart_together_say_so():
    by_task = {t: walks(shift=9, sizes=(2, 2), seed=i) for i, t in enumerate("tu")}
    (overall,) = cw.difference(lines_by_task(by_task)).overall
    assert overall.whole.cannot_reject


def test_many_pairs_or_a_small_level_take_more_flips_and_not_too_many():
    rng = np.random.default_rng(0)
    own = {f"a{i}": rng.normal(size=(4, 3)) for i in range(8)}
    answer = cw.difference(lines_by_task({"t": own}, steps=[0, 1, 2]), shuffles=199)
    assert len(answer.of().pairs) == 28
    with pytest.raises(CurvewiseError, match="level is 1e-09"):
        cw.difference(walked(), level=1e-9)


def test_lines_that_do_not_vary_are_told_without_nan():
    own = {"a": np.zeros((5, 8)), "b": walks()["b"]}
    assert "nan" not in str(cw.difference(lines_by_task({"t": own})))


def test_the_paper_stays_available():
    trials = walked(shift=1.0)
    assert cw.difference(trials, null="joint").of().anova.null == "joint"
    equal = cw.difference(trials, noise="equal")
    assert equal.of().anova.tests["algorithm"].flips is None


# --- many tasks --------------------------------------------------------------------------


def test_tasks_are_put_together():
    by_task = {f"t{i}": walks(shift=1.2, seed=i) for i in range(3)}
    answer = cw.difference(lines_by_task(by_task))
    assert answer.overall_rows()[0]["whole_p"] <= 0.05
    own = by_task["t0"]
    turned = {"a": own["b"], "b": own["a"]}
    mixed = cw.difference(lines_by_task({"up": own, "down": turned}))
    assert mixed.overall_rows()[0]["whole_p"] > 0.05


def test_a_task_of_one_algorithm_is_left_out_and_named():
    own = walks()
    answer = cw.difference(lines_by_task({"t": own, "u": {"a": own["a"]}}))
    assert answer.tasks == ("t",)
    assert answer.alone == ("u",)
    assert answer.overall == ()


def test_choosing_a_task_and_a_pair(example):
    with refused(fixes=[{"task": ...}]):
        example.of()
    with refused(value="hil"):
        example.of("hil")
    with refused(value="quick"):
        example.pair("quick", "slow", "hill")
    with pytest.raises(CurvewiseError, match="'slow' is one"):
        example.pair("slow", "slow", "hill")
    assert example.pair("fast", "slow", "hill").one == "slow"


# --- uneven logs -------------------------------------------------------------------------


def test_lines_of_different_steps_are_never_aligned_silently():
    with pytest.raises(CurvewiseError, match="grid="):
        cw.difference(ragged())
    for grid in (7, 5):
        lines = cw.difference(ragged(), grid=grid, shuffles=199).of().lines
        assert lines.steps.tolist() == np.linspace(100, 700, grid).tolist()
    answer = cw.difference(ragged(), grid=[100, 300], fill="error")
    assert answer.provenance.settings["grid"] == "2 given steps"


def test_many_steps_are_tested_in_windows():
    answer = cw.difference(stretched())
    assert len(answer.pair("a", "b").where.p) == 20
    answer = cw.difference(stretched(), windows=8)
    where = answer.pair("a", "b").where
    assert (where.first[0], where.last[0], len(where.p)) == (0, 9, 8)


def test_a_failed_run_is_counted_and_scores_what_was_declared():
    with pytest.raises(CurvewiseError, match="out of memory"):
        cw.difference(cut_off())
    answer = cw.difference(cut_off(), failed=-5.0)
    assert answer.failed == 1
    assert answer.of().lines["b"][0].tolist()[3:] == [-5.0] * 5


# --- bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("level", 1.5),
        ("margin", -1),
        ("windows", 0),
        ("windows", 99),
        ("null", "both"),
        ("noise", "none"),
        ("seed", -1),
        ("shuffles", 5),
    ],
)
def test_bad_input_is_named(argument, value):
    with refused(argument, value):
        cw.difference(walked(), **{argument: value})


def test_no_trials_and_no_answer_are_refused():
    for nothing in (Trials([]), [1, 2]):
        with pytest.raises(CurvewiseError):
            cw.difference(nothing)


def test_crossed_trials_are_refused():
    def score(params, data, rng):
        for step in range(3):
            yield step, {"loss": params["x"] + rng.random()}

    experiment = cw.Experiment(
        cw.Task("t", lambda rng: None),
        [cw.Algorithm(n, {"x": cw.uniform(0, 1)}, score) for n in "ab"],
        cross={"params": 3, "seed": 3},
    )
    trials = cw.run(experiment, executor="serial", progress=False)
    with pytest.raises(CurvewiseError, match="crossed"):
        cw.difference(trials)
