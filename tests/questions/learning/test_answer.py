"""How error falls with data: what an answer says is what the statistics say."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import curvewise as cw
from curvewise import CurvewiseError, Metric, Trial, Trials
from curvewise.questions.sizes import could_be_sizes
from curvewise.stats.learning import crossing, extrapolate, shape
from curvewise.stats.powerlaw import fit_power_law

SIZES = np.array([40.0, 80, 160, 320, 640, 1280])


def grown(curves, runs=5, noise=0.004, seed=0, metric="error", task="t"):
    """Return trials of algorithms whose mean errors are known functions of the size."""
    rng = np.random.default_rng(seed)
    return [
        Trial(
            task,
            name,
            i,
            {metric: np.clip(curve(SIZES) + noise * rng.normal(size=6), 0, 1)},
            steps=SIZES,
        )
        for name, curve in curves.items()
        for i in range(runs)
    ]


CURVES = {
    "quick": lambda n: 0.20 + 0.5 * n**-0.5,
    "slow": lambda n: 0.05 + 3.2 * n**-0.5,
}


@pytest.fixture(scope="module")
def trials():
    return Trials(grown(CURVES))


@pytest.fixture(scope="module")
def answer(trials):
    return cw.learning(trials, "error")


def test_numbers_are_those_of_the_statistics(trials, answer):
    points = trials.points("error")["slow"]
    errors = [points.value[points.size == n] for n in SIZES]
    law = fit_power_law(SIZES, errors, size=1280)
    row = answer.rows()[1]
    assert (row["algorithm"], row["size"], row["runs"]) == ("slow", 1280, 30)
    assert row["error"] == pytest.approx(law.e_N, rel=1e-12)
    assert row["reliance"] == pytest.approx(law.beta_N, rel=1e-12)
    told = law.parameters(0.95)
    assert row["exponent_lower"] == pytest.approx(told["gamma"].lower)
    forecast = extrapolate(SIZES, errors, to=5120)
    then = answer.at(5120).rows()[1]
    assert then["error"] == pytest.approx(forecast.error, rel=1e-9)
    assert then["error_lower"] == pytest.approx(forecast.lower, rel=1e-9)
    assert then["error_upper"] == pytest.approx(forecast.upper, rel=1e-9)
    assert then["times"] == 4
    assert answer.curve("slow").shape.p_rise == shape(SIZES, errors).p_rise


def test_it_is_near_the_truth(answer):
    slow = answer.rows()[1]
    assert slow["error_lower"] < 0.05 + 3.2 * 1280**-0.5 < slow["error_upper"]
    assert slow["reliance_lower"] < 3.2 * 1280**-0.5 < slow["reliance_upper"]
    assert slow["exponent_lower"] < -0.5 < slow["exponent_upper"]


def test_who_is_better_changes_where_the_curves_cross(answer):
    pair = answer.pair("slow", "quick")
    assert (pair.one, pair.other) == ("quick", "slow")
    true = (2.7 / 0.15) ** 2
    assert len(pair.crossing.at) == 1
    assert pair.crossing.at[0].lower < true < pair.crossing.at[0].upper
    assert pair.error.lower > 0
    again = crossing(answer.curve("quick").forecast, answer.curve("slow").forecast)
    assert pair.crossing.at[0].value == again.at[0].value
    told = "\n".join(answer.verdicts("t"))
    assert "slow is better than quick at 1,280 examples" in told
    assert "Their curves cross at about 3" in told
    row = answer.pair_rows()[0]
    assert row["crossing"] == pair.crossing.at[0].value
    assert row["multiplier"] < 1 or math.isinf(row["multiplier"])


def test_chances_of_being_best_add_up(answer):
    rows = answer.at([320, 12_800]).rows()
    assert len(rows) == 4
    for n in (320, 12_800):
        assert sum(r["best"] for r in rows if r["size"] == n) == pytest.approx(1)
    assert rows[3]["algorithm"] == "slow"
    assert rows[3]["best"] > 0.9


def test_how_much_data_an_error_takes(answer):
    needed = answer.size_for(0.1)
    quick, slow = needed.rows()
    assert quick["reached"] < 0.5
    assert math.isinf(quick["size"])
    assert slow["size_lower"] < (3.2 / 0.05) ** 2 < slow["size_upper"]
    assert "never" in str(needed)
    assert json.loads(needed.to_json())["rows"][0]["size"] is None


def test_what_to_train_next_stays_within_its_budget(answer):
    advice = answer.next_run(12_800, seconds=lambda n: n / 100, budget=30)
    assert all(row["seconds"] <= 30 for row in advice.rows())
    assert all(r["half_width_then"] < r["half_width_now"] for r in advice.rows())
    free = answer.next_run(12_800)
    assert max(row["examples"] for row in free.rows()) <= 2560
    assert "training examples" in str(free)


def test_time_is_what_the_trials_took_where_all_were_timed():
    made = grown(CURVES)
    timed = [
        Trial(
            "t",
            t.algorithm,
            t.number,
            t.metrics,
            steps=SIZES,
            seconds=0.01 * SIZES.sum(),
        )
        for t in made
    ]
    told = cw.learning(Trials(timed)).next_run(12_800)
    assert told.is_timed
    assert {round(r["seconds"] / r["size"] / r["repeats"], 9) for r in told.rows()} == {
        0.01
    }
    half = [t if t.algorithm == "slow" else made[i] for i, t in enumerate(timed)]
    told = cw.learning(Trials(half)).next_run(12_800)
    assert not told.is_timed
    assert {r["examples"] / r["size"] / r["repeats"] for r in told.rows()} == {1.0}


def test_accuracy_is_what_is_missing_to_one(trials):
    scores = Trials(
        Trial(
            "t",
            t.algorithm,
            t.number,
            {"accuracy": 1 - t.metrics["error"]},
            steps=SIZES,
        )
        for t in trials
    )
    answer = cw.learning(scores, "accuracy")
    assert answer.scale.label == "1 - accuracy"
    expected = cw.learning(trials, "error").rows()
    for row, other in zip(answer.rows(), expected, strict=True):
        assert row["error"] == pytest.approx(other["error"], rel=1e-9)
    assert "1 - accuracy" in str(answer)


def test_a_loss_has_no_upper_end():
    rng = np.random.default_rng(1)
    loss = Metric("nll", "lower", range=(0, math.inf))
    trials = Trials(
        (
            Trial(
                "t",
                "a",
                i,
                {"nll": 2 + 30 * SIZES**-0.5 + rng.normal(0, 0.05, 6)},
                steps=SIZES,
            )
            for i in range(4)
        ),
        metrics=[loss],
    )
    answer = cw.learning(trials, "nll")
    row = answer.at(12_800).rows()[0]
    assert 1 < row["error_lower"] < 2 + 30 * 12_800**-0.5 < row["error_upper"]


def test_a_score_without_a_best_one_is_refused():
    with pytest.raises(CurvewiseError, match="no best possible score"):
        cw.learning(cw.example("curves"), "return")


def test_too_few_sizes_are_refused_and_one_bad_task_is_not_all(trials):
    two = [
        Trial("short", "a", i, {"error": [0.3, 0.2]}, steps=[10, 20]) for i in range(3)
    ]
    with pytest.raises(CurvewiseError, match="at 2 sizes at most, and a curve needs 3"):
        cw.learning(Trials(two))
    answer = cw.learning(Trials([*grown(CURVES), *two]))
    assert answer.tasks == ("t",)
    assert "Left out: short" in str(answer)


def test_an_algorithm_with_too_few_sizes_is_left_out_and_named():
    lonely = [
        Trial("t", "other", i, {"error": [0.3, 0.2]}, steps=[40, 80]) for i in range(3)
    ]
    answer = cw.learning(Trials([*grown(CURVES), *lonely]))
    assert answer.of().algorithms == ("quick", "slow")
    assert "Left out on t, with fewer than three sizes: 'other'" in str(answer)


def test_failed_runs_are_counted_where_they_broke_off(trials):
    broken = Trial(
        "t", "slow", 99, {"error": [0.5, 0.4]}, steps=SIZES[:2], status="failed"
    )
    some = Trials([*grown(CURVES), broken])
    with pytest.raises(CurvewiseError, match="failed"):
        cw.learning(some)
    answer = cw.learning(some, failed="worst")
    assert answer.failed == 1
    assert "1 failed trial counted with score 1" in str(answer)
    assert answer.rows()[1]["error"] > cw.learning(trials).rows()[1]["error"]


def test_curves_that_rise_are_called_so():
    bump = {"odd": lambda n: 0.2 + 0.1 * (n == 320)}
    answer = cw.learning(Trials(grown(bump, runs=8)))
    assert answer.rows()[0]["rises"]
    assert any("rises with more data" in text for text in answer.concerns("t"))
    assert "! odd: The error rises" in str(answer)


def test_one_run_per_size_works_and_says_so():
    answer = cw.learning(Trials(grown(CURVES, runs=1)))
    many = cw.learning(Trials(grown(CURVES, runs=20)))
    width = [
        r["error_upper"] - r["error_lower"] for r in (answer.rows()[0], many.rows()[0])
    ]
    assert width[0] > width[1]
    assert any("run" in text for text in answer.concerns("t"))


def test_tasks_are_answered_one_by_one():
    both = Trials([*grown(CURVES), *grown(CURVES, seed=5, task="u")])
    answer = cw.learning(both)
    assert answer.tasks == ("t", "u")
    with pytest.raises(CurvewiseError, match="Which task"):
        answer.of()
    with pytest.raises(CurvewiseError, match="no task 'v'"):
        answer.of("v")
    with pytest.raises(CurvewiseError, match="no algorithm 'quik'"):
        answer.pair("quik", "slow", "t")
    with pytest.raises(CurvewiseError, match="A pair is of two"):
        answer.pair("slow", "slow", "t")
    assert len(answer.at(5000).rows()) == 4


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"size": -1}, "size is -1"),
        ({"method": "best"}, "method is 'best'"),
        ({"confidence": 95}, "confidence is 95"),
        ({"metric": "eror"}, "Did you mean 'error'"),
    ],
)
def test_what_cannot_be_asked_is_said(trials, asked, said):
    with pytest.raises(CurvewiseError, match=said):
        cw.learning(trials, **asked)


@pytest.mark.parametrize("size", [None, 80, 100_000])
def test_differences_are_those_at_the_size_of_the_answer(trials, size):
    answer = cw.learning(trials, "error", size=size)
    quick, slow = (answer.curve(name).law for name in ("quick", "slow"))
    pair = answer.of().pairs[0]
    assert pair.error.value == pytest.approx(quick.e_N - slow.e_N, abs=2e-3)
    assert pair.reliance.value == pytest.approx(quick.beta_N - slow.beta_N, abs=2e-3)
    better = "quick" if size == 80 else "slow"
    assert f"{better} is better than" in answer.verdicts("t")[2]


def test_a_size_that_nobody_was_trained_on_is_refused(trials):
    with pytest.raises(CurvewiseError, match="size is 10, and the smallest"):
        cw.learning(trials, "error", size=10)


def test_questions_refuse_what_has_no_answer(answer):
    with pytest.raises(CurvewiseError, match="smallest size"):
        answer.at(10)
    with pytest.raises(CurvewiseError, match="error is -1"):
        answer.size_for(-1)


def test_the_published_method_is_there_by_name(trials):
    answer = cw.learning(trials, method="paper")
    row = answer.rows()[0]
    assert row["exponent_lower"] == row["exponent_upper"] == row["exponent"]


def test_everything_travels_as_json_and_frames(answer):
    told = json.loads(answer.to_json())
    assert {"rows", "pairs", "sizes", "verdicts", "notes", "provenance"} <= set(told)
    assert len(told["sizes"]) == 12
    assert list(answer.to_frame("pandas").columns[:2]) == ["task", "algorithm"]
    assert "<table" in answer._repr_html_()
    assert "<table" in answer.at(5000)._repr_html_()
    assert "<table" in answer.size_for(0.1)._repr_html_()
    assert "<table" in answer.next_run(5000)._repr_html_()


def test_steps_that_are_evenly_apart_are_no_sizes():
    assert could_be_sizes(Trials(grown(CURVES)), "error")
    epochs = Trials(
        Trial("t", "a", i, {"error": np.linspace(0.5, 0.1, 50)}, steps=np.arange(1, 51))
        for i in range(2)
    )
    assert not could_be_sizes(epochs, "error")
    assert not could_be_sizes(cw.example("curves"), "return")


def test_the_same_runs_make_a_sharper_comparison():
    """Runs of one number met the same data: what shifts both shifts no difference."""
    rng = np.random.default_rng(3)
    shift = rng.normal(0, 0.02, 12)
    made = [
        Trial(
            "t",
            name,
            i,
            {"error": curve(SIZES) + shift[i] + rng.normal(0, 0.002, 6)},
            steps=SIZES,
        )
        for name, curve in CURVES.items()
        for i in range(12)
    ]
    apart = [
        t
        if t.algorithm == "quick"
        else Trial("t", "slow", t.number + 50, t.metrics, steps=SIZES)
        for t in made
    ]
    paired, alone = cw.learning(Trials(made)), cw.learning(Trials(apart))
    assert paired.of().pairs[0].correlation > 0.9
    assert alone.of().pairs[0].correlation == 0
    assert (
        paired.of().pairs[0].error.half_width
        < 0.6 * alone.of().pairs[0].error.half_width
    )


def test_of_many_algorithms_each_is_compared_with_the_best():
    many = {
        f"a{i:02}": (lambda n, i=i: 0.1 + 0.01 * i + 0.5 * n**-0.5) for i in range(13)
    }
    answer = cw.learning(Trials(grown(many, runs=2)))
    pairs = answer.of().pairs
    assert len(pairs) == 12
    assert all("a00" in (pair.one, pair.other) for pair in pairs)
    assert "compared with the best one only" in str(answer)
    with pytest.raises(CurvewiseError, match="only pairs with the best one"):
        answer.pair("a01", "a02")


def rows_of(curves, runs, metric="error", noise=0.004, sizes=SIZES, seed=0):
    """Return rows of a file without a column that tells runs apart."""
    rng = np.random.default_rng(seed)
    return {
        "algorithm": [name for name in curves for _ in range(runs) for _ in sizes],
        "n_train": [n for _ in curves for _ in range(runs) for n in sizes],
        metric: [
            curve(n) + noise * rng.normal()
            for curve in curves.values()
            for _ in range(runs)
            for n in sizes
        ],
    }


def test_rows_that_were_merely_counted_are_no_pairs():
    shift = np.repeat(np.random.default_rng(2).normal(0, 0.02, 12), 6)
    rows = rows_of(CURVES, 12)
    rows["error"] = list(np.array(rows["error"]) + np.tile(shift, 2))
    counted = cw.learning(cw.read(pd.DataFrame(rows), trial=[]))
    assert counted.of().pairs[0].correlation == 0
    rows["seed"] = list(np.tile(np.repeat(np.arange(12), 6), 2))
    numbered = cw.learning(cw.read(pd.DataFrame(rows)))
    assert numbered.of().pairs[0].correlation > 0.8


def test_how_few_runs_go_together_is_not_guessed():
    assert cw.learning(Trials(grown(CURVES, runs=4))).of().pairs[0].correlation == 0
    assert cw.learning(Trials(grown(CURVES, runs=5))).of().pairs[0].correlation != 0


def test_three_sizes_with_one_run_each_have_curves_and_no_band():
    rows = rows_of(CURVES, 1, sizes=SIZES[:3])
    answer = cw.learning(cw.read(pd.DataFrame(rows)))
    told = json.loads(answer.to_json())
    assert [row["band_lower"] for row in told["sizes"]] == [None] * 6
    assert all(row["fitted"] > 0 for row in told["sizes"])


def test_a_step_that_is_no_size_is_said():
    start = [Trial("t", "a", 0, {"error": [0.5, 0.4, 0.3, 0.2]}, steps=[0, 10, 20, 40])]
    with pytest.raises(CurvewiseError, match="Step 0 of 'a' is no size"):
        cw.learning(Trials(start))


def test_steps_like_epochs_are_called_so(answer):
    steps = np.arange(1.0, 31)
    epochs = Trials(
        Trial("t", "a", i, {"error": 0.1 + 0.5 * (steps + i) ** -0.5}, steps=steps)
        for i in range(2)
    )
    assert "If they are epochs, nothing here holds" in str(cw.learning(epochs))
    assert "epochs" not in str(answer)


def test_a_loss_that_is_never_below_zero_needs_no_stated_range():
    loss = {"a": lambda n: 0.5 + 5 * n**-0.5}
    answer = cw.learning(Trials(grown(loss, metric="loss")))
    assert (answer.scale.unit, answer.scale.zero) == ("loss", 0)
    assert "Nobody said how good 'loss' can be" in str(answer)
    below = {"a": lambda n: -0.5 + 5 * n**-0.5}
    trials = [
        Trial("t", "a", i, {"loss": below["a"](SIZES) + i / 100}, steps=SIZES)
        for i in range(3)
    ]
    with pytest.raises(CurvewiseError, match="no best possible score"):
        cw.learning(Trials(trials))


def test_a_gap_in_a_curve_is_a_failure_that_counts():
    gap = {"error": [0.5, math.nan, 0.3, 0.25, 0.2, 0.2]}
    holed = Trial("t", "slow", 99, gap, steps=SIZES)
    answer = cw.learning(Trials([*grown(CURVES), holed]), failed="worst")
    assert [row["failed"] for row in answer.rows()] == [0, 1]
    assert "1 failed trial counted with score 1" in str(answer)


def test_beyond_the_largest_size_a_power_law_is_doubted(trials, answer):
    far = cw.learning(trials, size=2560).concerns("t")
    assert "quick and slow: 2,560 examples are more than the 1,280" in far[0]
    assert not any("are more than" in text for text in answer.concerns("t"))


@pytest.mark.slow
def test_a_concern_of_many_is_said_once():
    many = {f"a{i}": CURVES["quick"] for i in range(9)}
    told = cw.learning(Trials(grown(many, runs=1))).concerns("t")
    single = [text for text in told if "No size has two runs" in text]
    assert len(single) == 1
    assert single[0].startswith("a0, a1, a2, a3, a4 and 4 more: ")


def test_errors_of_zero_are_told_in_words_not_in_rounding_errors():
    perfect = {"a": lambda n: 0 * n, "b": lambda n: 0 * n}
    answer = cw.learning(Trials(grown(perfect, noise=0)))
    assert "e-" not in str(answer).replace("the-", "").split("learning (")[0]
    assert "no change from now" in str(answer)
    assert "that intervals have no width makes nothing sure" in str(answer)


def test_an_error_is_never_told_below_zero():
    steep = {"a": lambda n: np.maximum(0, 20 / n - 0.02)}
    answer = cw.learning(Trials(grown(steep, noise=0.002)))
    row = answer.rows()[0]
    assert row["error_lower"] <= row["error"] <= row["error_upper"]
    assert row["error"] >= 0
    assert "error -0" not in str(answer)


def test_where_curves_cross_is_not_told_of_curves_that_are_alike():
    same = {"a": CURVES["quick"], "b": CURVES["quick"]}
    answer = cw.learning(Trials(grown(same, runs=3, noise=0.02)))
    (at,) = answer.of().pairs[0].crossing.at
    assert at.lower <= 0
    assert math.isinf(at.upper)
    told = answer.verdicts("t")[-1]
    assert "cannot be told" in told
    assert "any size to any size" not in told


def test_now_is_said_where_it_is_not_the_reference_size(trials, answer):
    assert "less than now, with 1,280" in cw.learning(trials, size=320).verdicts("t")[1]
    assert "now, with" not in answer.verdicts("t")[1]


def test_published_intervals_are_not_praised(trials, answer):
    assert "hold less often" in cw.learning(trials, method="paper").notes()[0]
    assert "hold less often" not in answer.notes()[0]


def test_many_times_the_data_are_written_out(answer):
    table = answer.at([1280, 1600, 1.28e9]).table("t")
    told = [row["times the data"] for row in table if row["algorithm"] == "quick"]
    assert told == ["1", "1.25", "1,000,000"]


def test_what_a_power_law_misses_is_said(answer):
    bend = {"odd": lambda n: 0.4 - 0.2 * (n == 1280)}
    odd = cw.learning(Trials(grown(bend, runs=8)))
    observed = odd.curve("odd").measured.means[-1]
    told = odd.verdicts("t")[0]
    assert f"which misses the {observed:.4f} of its runs" in told
    assert "by the same forecast" in told
    assert "which misses" not in "".join(answer.verdicts("t"))
