"""Do curves differ, and where: what is asked of them, what is said, what is refused."""

import json

import numpy as np
import pytest
from noisy_lines import lines as noisy

import curvewise as cw
from curvewise import CurvewiseError, Trial, Trials
from curvewise.stats import anova
from curvewise.stats.comparison import holm, shared_confidence

STEPS = np.arange(0, 800, 100)


def trials_of(by_task, metric="return", steps=STEPS):
    """Return trials from {task: {algorithm: (line, step) array}}."""
    return Trials(
        Trial(task, name, i, {metric: line}, steps=steps)
        for task, own in by_task.items()
        for name, table in own.items()
        for i, line in enumerate(np.asarray(table))
    )


def two(shift=0.0, ramp=0.0, sizes=(10, 10), seed=0, sds=1.0):
    rng = np.random.default_rng(seed)
    return dict(
        zip(
            "ab",
            noisy("walk", sizes, rng, shift=shift, ramp=ramp, sds=sds),
            strict=True,
        )
    )


@pytest.fixture(scope="module")
def shifted():
    return cw.difference(trials_of({"t": two(shift=3.0)}), seed=1)


@pytest.fixture(scope="module")
def example():
    return cw.difference(cw.example("curves"))


# --- numbers -----------------------------------------------------------------------------


def test_it_asks_the_statistics_and_changes_nothing():
    own = two(shift=1.5, ramp=1.0)
    answer = cw.difference(trials_of({"t": own}), seed=3)
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
    trials = trials_of({"t": two(sizes=(12, 12))})
    one, same, other = (cw.difference(trials, seed=s) for s in (1, 1, 2))
    assert one.to_json() == same.to_json()
    assert one.rows() != other.rows()
    assert ", seed 1;" in str(one)


# --- words -------------------------------------------------------------------------------


def test_a_shift_is_a_difference_in_height_and_not_in_shape(shifted):
    verdict = shifted.verdict("t")
    assert "a and b differ in height, averaged over the steps (p = " in verdict
    assert "No difference in shape was shown" in verdict
    assert "b is ahead of a by " in verdict
    assert "b is ahead at every tested step from 0 to 700." in verdict


def test_a_ramp_is_a_difference_in_shape_and_not_in_height():
    answer = cw.difference(trials_of({"t": two(ramp=2.5)}))
    verdict = answer.verdict("t")
    assert "No difference in height was shown" in verdict
    assert "differ in shape: their distance changes along the steps" in verdict


def test_lower_is_better_where_the_metric_says_so():
    answer = cw.difference(trials_of({"t": two(shift=3.0)}, metric="loss"))
    assert "a is ahead of b by " in answer.verdict("t")
    assert answer.pair_rows()[0]["difference"] < 0
    assert "lower is better" in " ".join(answer.notes())


def test_what_was_not_found_is_not_called_gone():
    own = two(seed=4)
    own["b"] = own["b"] + np.where(STEPS < 300, 3.0, 0.0)
    trials = trials_of({"t": own})
    verdict = cw.difference(trials).verdict("t")
    assert "b is ahead at every tested step from 0 to 200." in verdict
    assert "They still differ at step 200 or later." in verdict
    assert "After step 200 no difference was found; differences up to" in verdict
    assert "gone" not in verdict
    assert "the difference is gone" in cw.difference(trials, margin=9.0).verdict("t")


def test_where_nothing_was_found_a_band_says_what_remains_possible():
    trials = trials_of({"t": two(seed=4)})
    verdict = cw.difference(trials).verdict("t")
    assert (
        "At none of 8 tested steps was a difference found. Differences up to" in verdict
    )
    # A band says no more than that: whether there is a difference at all it cannot know.
    verdict = cw.difference(trials, margin=9.0).verdict("t")
    assert "At no tested step is a difference larger than 9." in verdict


def test_few_lines_and_many_steps_come_with_a_caution():
    steps = np.arange(100)
    noise = np.random.default_rng(1).normal(size=(2, 5, 100))
    trials = trials_of({"t": dict(zip("ab", noise, strict=True))}, steps=steps)
    assert (
        "t: With 5 lines of an algorithm and 100 tested steps, false findings may be more "
        "frequent than 0.05: test 8 to 30 windows instead."
    ) in cw.difference(trials, windows=100).notes()


def test_curves_that_cross_say_who_is_ahead_where():
    own = two(seed=4)
    own["b"] = own["b"] + np.where(STEPS < 400, 4.0, -4.0)
    answer = cw.difference(trials_of({"t": own}))
    pair = answer.pair("a", "b")
    assert pair.where.stretches == ((0, 700),)
    assert pair.above() == (("b", 0, 300), ("a", 400, 700))
    verdict = answer.verdict("t")
    assert (
        "b is ahead at every tested step from 0 to 300; a is ahead at every" in verdict
    )
    lower = cw.difference(trials_of({"t": own}, metric="loss"))
    assert "a is ahead at every tested step from 0 to 300;" in lower.verdict("t")
    cells = answer.pair_table("t")[0]["ahead at steps"]
    assert cells == "b: 0 to 300; a: 400 to 700"


def test_a_design_that_cannot_reject_says_so_and_what_could():
    own = two(shift=9.0, sizes=(3, 3))
    answer = cw.difference(trials_of({"t": own}))
    verdict = answer.verdict("t")
    assert (
        "These lines cannot show a difference in height, whatever they are" in verdict
    )
    assert "the smallest p of 3 and 3 lines is 0.10" in verdict
    assert "4 lines of each could." in verdict
    assert "So few lines can show no difference between 'a and b'" in verdict
    notes = " ".join(answer.notes())
    assert "unequal noise is not guarded against" in notes
    assert answer.pair_table("t")[0]["ahead at steps"] == "too few lines"
    assert answer.window_rows() == []


def test_the_scope_and_the_noise_are_told(shifted):
    notes = " ".join(shifted.notes())
    assert "Shuffles judge these lines" in notes
    assert (
        "textbook's F, which takes all steps for independent, would say p = " in notes
    )
    assert "times as much as the quietest" in notes
    assert "all 92,378 shuffles and 9,999 flips" in notes


def test_shuffles_and_flips_that_disagree_are_told():
    """Few noisy lines against many quiet ones, until one kind rejects alone."""
    for seed in range(60):
        own = two(shift=2.4, sizes=(5, 15), sds=(4, 1), seed=seed)
        answer = cw.difference(trials_of({"t": own}))
        test = answer.of().anova.tests["algorithm"]
        if (test.shuffles.p <= 0.05) != (test.flips.p <= 0.05):
            assert "shuffles and flips disagree (height: p = " in str(answer)
            return
    pytest.fail("no such data")


def test_two_algorithms_get_one_answer():
    """The pair is the table's own question: with other draws it might contradict it."""
    for seed in range(5):
        own = two(shift=1.0, sizes=(12, 12), seed=seed)
        answer = cw.difference(trials_of({"t": own}), shuffles=999, seed=seed)
        anova, pair = answer.of().anova, answer.pair("a", "b")
        for effect in ("algorithm", "interaction"):
            assert pair.tested.adjusted_p(effect) == anova.p(effect)
            assert pair.decisions[effect] == anova.decision(effect)


def test_an_interval_that_holds_0_is_not_called_a_distance():
    """Holm finds the smallest p of three; the interval pays for all of them."""
    rng = np.random.default_rng(0)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        own = dict(zip("abc", noisy("walk", (8, 8, 8), rng, shift=1.3), strict=True))
        answer = cw.difference(trials_of({"t": own}), shuffles=499)
        for pair in answer.of().pairs:
            held = pair.effects.difference
            if (
                pair.decisions["algorithm"] == "rejected"
                and held.lower < 0 < held.upper
            ):
                assert "on average (p = " in answer.verdict("t")
                assert "; by how much is open: " in answer.verdict("t")
                return
    pytest.fail("no such data")


def test_pairs_that_cannot_be_told_apart_are_said_once_and_nowhere_ahead():
    rng = np.random.default_rng(0)
    own = {c: 9 * i + rng.normal(size=(4, 8)) for i, c in enumerate("abcd")}
    answer = cw.difference(trials_of({"t": own}))
    assert [pair.where for pair in answer.of().pairs] == [None] * 6
    verdicts = answer.verdicts("t")
    assert len(verdicts) == 2
    assert "'a and b', 'a and c'" in verdicts[1]
    assert "5 lines of each could" in verdicts[1]


def test_tasks_that_cannot_be_told_apart_together_say_so():
    by_task = {t: two(shift=9, sizes=(2, 2), seed=i) for i, t in enumerate("tu")}
    answer = cw.difference(trials_of(by_task))
    told = "so few lines can show no difference over 2 tasks; the smallest p is"
    assert told in answer.overall_verdicts()[0]


def test_many_pairs_or_a_small_level_take_more_flips_and_not_too_many():
    rng = np.random.default_rng(0)
    own = {f"a{i}": rng.normal(size=(4, 3)) for i in range(8)}
    answer = cw.difference(trials_of({"t": own}, steps=[0, 1, 2]), shuffles=199)
    assert len(answer.of().pairs) == 28
    with pytest.raises(
        CurvewiseError, match=r"Task 't': level is 1e-09, which 1 pairs"
    ):
        cw.difference(trials_of({"t": two()}), level=1e-9)


def test_tasks_of_different_designs_say_how_each_p_was_found():
    by_task = {"t": two(sizes=(4, 4)), "u": two(sizes=(10, 10))}
    notes = " ".join(cw.difference(trials_of(by_task)).notes())
    assert "p on t: all 35 shuffles and all 128 flips" in notes
    assert "p on u: all 92,378 shuffles and 9,999 flips" in notes


def test_windows_are_announced():
    own = {name: np.repeat(table, 10, axis=1) for name, table in two(shift=3.0).items()}
    notes = " ".join(cw.difference(trials_of({"t": own}, steps=np.arange(80))).notes())
    assert "tested were 20 windows of about 4 steps each, by their mean scores" in notes


def test_lines_that_do_not_vary_are_told_without_nan():
    own = {"a": np.zeros((5, 8)), "b": two()["b"]}
    text = str(cw.difference(trials_of({"t": own})))
    assert "t: some algorithm has lines that do not vary." in text
    assert "nan" not in text.replace("nanother", "")


def test_the_paper_stays_available():
    trials = trials_of({"t": two(shift=1.0)})
    answer = cw.difference(trials, null="joint")
    assert answer.of().anova.null == "joint"
    assert "as published" in " ".join(answer.notes())
    equal = cw.difference(trials, noise="equal")
    assert "taken to be equally noisy" in " ".join(equal.notes())
    assert equal.of().anova.tests["algorithm"].flips is None


# --- many tasks --------------------------------------------------------------------------


def test_tasks_are_put_together():
    by_task = {f"t{i}": two(shift=1.2, seed=i) for i in range(3)}
    answer = cw.difference(trials_of(by_task))
    assert "b is ahead of a on the whole (p = " in " ".join(answer.overall_verdicts())
    assert "all 3 tasks" in str(answer)
    turned = {
        t: dict(zip("ab", (o["b"], o["a"]), strict=True)) for t, o in by_task.items()
    }
    mixed = {"up": by_task["t0"], "down": turned["t0"]}
    answer = cw.difference(trials_of(mixed))
    assert "is ahead of" not in " ".join(answer.overall_verdicts())


def test_a_task_of_one_algorithm_is_left_out_and_named():
    own = two()
    answer = cw.difference(trials_of({"t": own, "u": {"a": own["a"]}}))
    assert answer.tasks == ("t",)
    assert "Left out, with one algorithm only: 'u'." in answer.notes()
    assert answer.overall == ()


def test_choosing_a_task_and_a_pair(example):
    with pytest.raises(CurvewiseError, match=r"Which task\? The answer has 'hill', "):
        example.of()
    with pytest.raises(CurvewiseError, match=r"There is no task 'hil'\. Did you mean"):
        example.of("hil")
    with pytest.raises(CurvewiseError, match="There is no algorithm 'quick'"):
        example.pair("quick", "slow", "hill")
    with pytest.raises(CurvewiseError, match="A pair is of two algorithms"):
        example.pair("slow", "slow", "hill")
    assert example.pair("fast", "slow", "hill").one == "slow"


# --- uneven logs -------------------------------------------------------------------------


def ragged():
    own = two(shift=2.0)
    return Trials(
        Trial("t", name, i, {"return": line[i % 2 :]}, steps=STEPS[i % 2 :])
        for name, table in own.items()
        for i, line in enumerate(table)
    )


def test_lines_of_different_steps_are_never_aligned_silently():
    with pytest.raises(CurvewiseError, match=r"The lines have different steps.*grid="):
        cw.difference(ragged())
    answer = cw.difference(ragged(), grid=7)
    told = "7 steps from 100 to 700, what 10 lines recorded before is left out"
    assert told in str(answer)
    answer = cw.difference(ragged(), grid=5)
    assert "5 steps from 100 to 700, values interpolated linearly in 20" in str(answer)
    answer = cw.difference(ragged(), grid=[100, 300], fill="error")
    assert answer.provenance.settings["grid"] == "2 given steps"


def test_many_steps_are_tested_in_windows():
    own = {name: np.repeat(table, 10, axis=1) for name, table in two(shift=3.0).items()}
    steps = np.arange(80)
    answer = cw.difference(trials_of({"t": own}, steps=steps))
    assert len(answer.pair("a", "b").where.p) == 20
    answer = cw.difference(trials_of({"t": own}, steps=steps), windows=8)
    where = answer.pair("a", "b").where
    assert (where.first[0], where.last[0], len(where.p)) == (0, 9, 8)


def test_a_failed_run_is_counted_and_scores_what_was_declared():
    own = two(shift=2.0)
    trials = Trials(
        Trial(
            "t", name, i,
            {"return": line[:3] if (name, i) == ("b", 0) else line},
            steps=STEPS[:3] if (name, i) == ("b", 0) else STEPS,
            error="out of memory" if (name, i) == ("b", 0) else None,
            status="failed" if (name, i) == ("b", 0) else "ok",
        )
        for name, table in own.items()
        for i, line in enumerate(table)
    )  # fmt: skip
    with pytest.raises(CurvewiseError, match="1 of 20 trials have no score"):
        cw.difference(trials)
    answer = cw.difference(trials, failed=-5.0)
    assert answer.failed == 1
    text = str(answer)
    assert "lines of a 10, b 10 (1 failed)" in text
    assert "1 failed line (1 of b on t): wherever a failed run has no value" in text
    assert "it counts with score -5." in text
    assert answer.of().lines["b"][0].tolist()[3:] == [-5.0] * 5


# --- bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by_task", "options", "words"),
    [
        ({"t": {"a": np.eye(8)}}, {}, "These trials are of one algorithm, 'a'. Pass"),
        (
            {"t": {"a": np.ones((1, 8)), "b": np.zeros((1, 8))}},
            {},
            "Each of 2 algorithms has one line",
        ),
        (
            {"t": two() | {"c": np.ones((1, 8))}},
            {"noise": "equal"},
            "Task 't': One line of 'c', which does not show how noisy an algorithm is",
        ),
        ({"t": two()}, {"grid": [100]}, "The lines have 1 step, and a curve has two"),
        (
            {"t": {"a": np.ones((5, 8)), "b": np.ones((5, 8))}},
            {},
            "All 10 lines have the same value at every step",
        ),
        ({"t": two()}, {"level": 1.5}, "level is 1.5. Pass one between 0 and 1."),
        ({"t": two()}, {"margin": -1}, "margin is -1. Pass a difference above 0"),
        ({"t": two()}, {"windows": 0}, "windows is 0. Pass how many, 8 to 30 at best."),
        ({"t": two()}, {"windows": 99}, "windows"),
        ({"t": two()}, {"null": "both"}, "null is 'both'. Pass one of"),
        ({"t": two()}, {"noise": "none"}, "noise is 'none'. Pass one of"),
        ({"t": two()}, {"seed": -1}, "seed is -1"),
        ({"t": two()}, {"shuffles": 5}, "shuffles is 5. Pass at least"),
        ({"t": two()}, {"metric": "loss"}, "loss"),
    ],
    ids=lambda x: str(x)[:40] if isinstance(x, str) else "",
)
def test_bad_input_is_named(by_task, options, words):
    with pytest.raises(CurvewiseError) as refused:
        cw.difference(trials_of(by_task), **options)
    assert words in str(refused.value)


def test_no_trials_and_no_answer_are_refused():
    with pytest.raises(CurvewiseError, match="There are no trials to judge"):
        cw.difference(Trials([]))
    with pytest.raises(CurvewiseError, match="Trials were asked for, and list came"):
        cw.difference([1, 2])


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
    with pytest.raises(CurvewiseError, match=r"These trials are crossed"):
        cw.difference(trials)
