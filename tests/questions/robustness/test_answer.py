"""Robustness: what tuning gains, its sign, its intervals, and what it claims."""

import json

import numpy as np
import pytest
from contests import sloppy
from facts import refused
from scipy.stats import binomtest

from curvewise import CurvewiseError, Metric, Trial, Trials, performance, read
from curvewise.questions.robustness import robustness
from curvewise.questions.robustness.fit import _gain
from curvewise.questions.robustness.text import kind_of
from curvewise.questions.sampling import tuned_pairs
from curvewise.stats.comparison import difference, quantile_shift, shared_confidence

ACCURACY = Metric("accuracy", "higher", (0, 1))


def trials_of(scores, metric="accuracy", task="t"):
    """Return trials from {algorithm: scores}, numbered from 0."""
    return Trials(
        Trial(task, name, i, {metric: [0.5, z]})
        for name, own in scores.items()
        for i, z in enumerate(own)
    )


def row_of(answer, **which):
    (row,) = [r for r in answer.rows() if which.items() <= r.items()]
    return row


# --- numbers -----------------------------------------------------------------------------


def test_gains_are_tuned_less_untuned():
    scores = sloppy()
    row = row_of(robustness(trials_of(scores)), algorithm="svm", statistic="mean")
    assert row["gain"] == pytest.approx((scores["svm tuned"] - scores["svm"]).mean())
    assert row["untuned"] == pytest.approx(scores["svm"].mean())
    assert row["tuned"] == pytest.approx(scores["svm tuned"].mean())
    assert row["gain"] == pytest.approx(row["tuned"] - row["untuned"])


def test_known_values():
    """Ten scores each, tuned .1 better, worst two .3: by hand."""
    untuned = np.arange(10) / 20
    tuned = untuned + np.r_[0.3, 0.3, np.full(8, 0.1)]
    answer = robustness(trials_of({"a": untuned, "a tuned": tuned}))
    gains = {r["statistic"]: r["gain"] for r in answer.rows()}
    tuned = np.sort(tuned)
    assert gains["mean"] == pytest.approx(0.14)
    assert gains["median"] == pytest.approx(tuned[4] - untuned[4])
    assert gains["cvar_best"] == pytest.approx((tuned - untuned)[5:].mean())
    assert gains["cvar_worst"] == pytest.approx((tuned - untuned)[:5].mean())


def test_intervals_are_those_of_the_comparison_shared_over_algorithms_and_tasks():
    scores = sloppy()
    answer = robustness(trials_of(scores), alpha=0.75)
    a, b = scores["svm tuned"], scores["svm"]
    each = shared_confidence(0.95, 2)
    for statistic, asked in (
        ("mean", {"of": "mean"}),
        ("median", {"of": "quantile", "alpha": 0.5}),
        ("cvar_best", {"of": "cvar", "alpha": 0.75, "tail": "upper"}),
        ("cvar_worst", {"of": "cvar", "alpha": 0.75, "tail": "lower"}),
    ):
        row = row_of(answer, algorithm="svm", statistic=statistic)
        asked |= {"confidence": each, "paired": True, "support": (0, 1)}
        first = difference(a, b, **asked)
        second = difference(a, b, method="guaranteed", **asked)
        assert (row["gain_lower"], row["gain_upper"]) == (first.lower, first.upper)
        assert row["guaranteed_lower"] == second.lower
        assert row["guaranteed_upper"] == second.upper


def test_accuracy_and_error_are_mirror_images():
    """The sign follows the metric's direction: error falls, and tuning has gained."""
    scores = sloppy()
    up = robustness(trials_of(scores))
    down = robustness(trials_of({n: 1 - z for n, z in scores.items()}, "error"))
    for one, other in zip(up.rows(), down.rows(), strict=True):
        for key in ("gain", "gain_lower", "gain_upper", "guaranteed_lower", "paired"):
            assert one[key] == pytest.approx(other[key], abs=1e-9), key
        assert one["untuned"] == pytest.approx(1 - other["untuned"])
    assert up.verdict("t") == down.verdict("t")
    for one, other in zip(up.gaps, down.gaps, strict=True):
        np.testing.assert_allclose(
            one.shift.shift.value, other.shift.shift.value, atol=1e-9
        )
        np.testing.assert_allclose(
            one.shift.shift.lower, other.shift.shift.lower, atol=1e-9
        )
    assert "its sign turned" in str(down)
    assert "its sign turned" not in str(up)


def test_quantiles_are_compared_from_the_worst_trials_to_the_best():
    """Hyperparameters spoil the worst 40 % of the trials; tuning mends those."""
    gap = robustness(trials_of(sloppy(400))).of("t")[0]
    n = len(gap.shift.shift.at)
    np.testing.assert_array_equal(
        gap.shift.shift.value,
        quantile_shift(
            *(sloppy(400)["svm tuned"], sloppy(400)["svm"], (np.arange(n) + 0.5) / n)
        ).value,
    )
    start, end = max(gap.shift.better, key=lambda stretch: stretch[1] - stretch[0])
    assert start < 0.1
    assert 0.3 < end < 0.65
    assert not gap.shift.worse


def test_pairs_narrow_the_interval_and_are_found_by_number():
    scores = sloppy()
    paired = robustness(trials_of(scores))
    assert all(g.paired for g in paired.gaps)
    moved = Trials(
        Trial("t", t.algorithm, t.number + 7 * t.algorithm.endswith("tuned"), t.metrics)
        for t in trials_of(scores)
    )
    apart = robustness(moved)
    assert not any(g.paired for g in apart.gaps)
    one, other = (row_of(a, algorithm="knn", statistic="mean") for a in (paired, apart))
    assert one["gain"] == pytest.approx(other["gain"])
    assert (
        one["gain_upper"] - one["gain_lower"]
        < (other["gain_upper"] - other["gain_lower"]) / 3
    )


def test_different_numbers_of_trials_are_compared_unpaired():
    scores = sloppy()
    scores["svm tuned"] = scores["svm tuned"][:40]
    answer = robustness(trials_of(scores))
    assert [g.paired for g in answer.gaps] == [False, True]


def test_tasks_are_answered_one_by_one_and_share_the_confidence():
    both = trials_of(sloppy(), task="t") + trials_of(sloppy(seed=1), task="u")
    answer = robustness(both)
    assert answer.tasks == ("t", "u")
    assert len(answer.rows()) == 2 * 2 * 4
    alone = robustness(both.where(task="t"))
    wide, narrow = (
        row_of(a, task="t", algorithm="svm", statistic="mean") for a in (answer, alone)
    )
    assert wide["gain_upper"] > narrow["gain_upper"]
    with pytest.raises(CurvewiseError, match=r"no task 'v'\."):
        answer.of("v")


# --- pairs -------------------------------------------------------------------------------


def test_the_tuned_one_is_found_by_its_name():
    names = ["svm", "SVM Tuned", "knn", "tuned", "forest tuned"]
    assert tuned_pairs(names) == {"svm": "SVM Tuned"}


def test_pairs_can_be_told():
    scores = {
        "svm": sloppy()["svm"],
        "svm grid": sloppy()["svm tuned"],
        "x": [0.5] * 60,
    }
    answer = robustness(trials_of(scores), pairs={"svm": "svm grid"})
    assert answer.gaps[0].tuned == "svm grid"
    assert answer.alone == ("x",)
    assert answer.provenance.settings["pairs"] == "svm=svm grid"


def test_algorithms_without_a_tuned_one_do_not_matter_even_if_they_fail():
    trials = trials_of(sloppy()) + Trials([Trial("t", "net", 0, status="failed")])
    answer = robustness(trials)
    assert answer.alone == ("net",)
    assert "failed trial" not in str(answer)


def test_a_task_without_the_pair_is_left_out():
    both = trials_of(sloppy()) + trials_of({"svm": sloppy()["svm"]}, task="u")
    assert robustness(both).tasks == ("t",)


# --- what is said ------------------------------------------------------------------------


def kinds(trials, **options):
    """Return what tuning does for each algorithm, and whether that is sure."""
    answer = robustness(trials, **options)
    return {gap.algorithm: kind_of(gap, answer.margin) for gap in answer.gaps}


def test_who_profits_and_who_is_robust():
    both = trials_of(sloppy(400))
    assert kinds(both, margin=0.02) == {"svm": ("gains", True), "knn": ("easy", True)}
    assert kinds(both) == {"svm": ("gains", True), "knn": ("open", True)}
    worse = {"svm": sloppy()["svm tuned"], "svm tuned": sloppy()["svm"]}
    assert kinds(trials_of(worse)) == {"svm": ("loses", True)}
    svm = robustness(both).gaps[0]
    assert sum(b - a for a, b in svm.shift.better) > 0.05


def test_one_trial_tells_nothing():
    answer = robustness(trials_of({"svm": [0.1], "svm tuned": [0.9]}))
    assert answer.gaps[0].is_one_trial
    row = answer.rows()[0]
    assert row["gain"] == pytest.approx(0.8)
    assert (row["gain_lower"], row["gain_upper"]) == (-1, 1)
    assert "profit" not in str(answer)


def test_few_trials_are_pointed_at_and_no_warning_is_left():
    answer = robustness(trials_of(sloppy(8)))
    assert all(any(one.is_few for one in gap.gains) for gap in answer.gaps)
    enough = robustness(trials_of(sloppy(60)))
    assert not any(one.is_few for gap in enough.gaps for one in gap.gains)


def test_few_trials_profit_probably_until_it_is_guaranteed():
    """Three trials differ by about .2 each: Student is sure, and nobody else."""
    scores = {"svm": [0.50, 0.55, 0.60], "svm tuned": [0.70, 0.74, 0.81]}
    answer = robustness(trials_of(scores))
    gain = answer.gaps[0].gain("mean")
    assert gain.interval.lower > 0 > gain.guaranteed.lower
    assert gain.believed is gain.guaranteed
    assert kinds(trials_of(scores)) == {"svm": ("gains", False)}
    rng = np.random.default_rng(0)
    many = {"svm": 0.1 * rng.random(300), "svm tuned": 0.9 + 0.1 * rng.random(300)}
    assert kinds(trials_of(many)) == {"svm": ("gains", True)}


@pytest.mark.slow
def test_more_trials_than_the_narrow_band_is_known_for():
    scores = np.linspace(0, 1, 200_001)
    answer = robustness(trials_of({"a": scores / 2, "a tuned": scores}))
    assert answer.gaps[0].shift.better


def test_a_loss_that_is_bounded_on_its_good_side_has_a_guaranteed_best_half():
    rng = np.random.default_rng(1)
    loss = {"a": 1 + rng.random(200), "a tuned": 0.2 * rng.random(200)}
    metric = Metric("nll", "lower", (0, np.inf))
    trials = Trials(trials_of(loss, "nll"), metrics=[metric])
    answer = robustness(trials)
    best, mean = (row_of(answer, statistic=s) for s in ("cvar_best", "mean"))
    assert best["guaranteed_lower"] > 0
    assert np.isneginf(mean["guaranteed_lower"])


def test_a_metric_without_bounds_has_no_guaranteed_mean():
    scores = {"a": np.arange(30.0), "a tuned": np.arange(30.0) + 5}
    answer = robustness(trials_of(scores, "return"))
    mean, median = (row_of(answer, statistic=s) for s in ("mean", "median"))
    assert np.isneginf(mean["guaranteed_lower"])
    assert np.isfinite(median["guaranteed_lower"])
    assert "[?, ?]" in str(answer)
    assert json.loads(answer.to_json())["rows"][0]["guaranteed_lower"] is None


def test_failed_trials_are_counted_with_their_score():
    trials = trials_of(sloppy())
    some = [
        Trial("t", "svm", t.number, status="failed", error="nan")
        if t.number == 3 and t.algorithm == "svm"
        else t
        for t in trials
    ]
    with pytest.raises(CurvewiseError, match=r"failed='worst'"):
        robustness(Trials(some))
    answer = robustness(Trials(some), failed="worst")
    assert row_of(answer, algorithm="svm", statistic="mean")["failed"] == 1


def test_which_value_of_a_curve_counts_can_be_chosen():
    answer = robustness(trials_of(sloppy()), at=0)
    assert row_of(answer, algorithm="svm", statistic="mean")["gain"] == 0
    assert "at step 0" in str(answer)


def test_it_prints_one_table_per_task():
    text = str(robustness(trials_of(sloppy())))
    assert "task t" in text
    assert "gain by tuning" in text
    assert "worst 50 %" in text
    assert "<table" in robustness(trials_of(sloppy()))._repr_html_()
    assert robustness(trials_of(sloppy())).gaps[0].gain("median").statistic == "median"


# --- how often it is right ---------------------------------------------------------------


def any_gain_claimed(rng, n, pairs, confidence):
    """Return whether a gain in the mean is claimed where there is none, for any pair."""
    data = rng.random((pairs, n)) / 2
    scores = data[None] + rng.random((2, pairs, n)) ** 2 / 2
    for untuned, tuned in zip(*scores, strict=True):
        gain = _gain(
            "mean", untuned, tuned, ACCURACY, 0.5, confidence, True, "kolmogorov"
        )
        if 0 not in gain.interval:
            return True
    return False


def claims(reps, n, pairs, confidence, seed):
    rng = np.random.default_rng(seed)
    return sum(any_gain_claimed(rng, n, pairs, confidence) for _ in range(reps))


def test_where_nothing_is_gained_hardly_ever_is_any_gain_claimed():
    """Ten pairs at once: 95 % for all of them. 4,000 runs are in the slow suite."""
    hits = claims(150, 20, 10, shared_confidence(0.95, 10), 1)
    assert binomtest(hits, 150, 0.05, alternative="greater").pvalue > 1e-6


def test_ten_intervals_of_95_percent_would_often_claim_one():
    """The negative control: without the family, one in three runs claims a gain."""
    assert claims(150, 20, 10, 0.95, 1) / 150 > 0.25


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 50])
def test_the_family_holds_in_4000_runs(n):
    hits = claims(4000, n, 10, shared_confidence(0.95, 10), n)
    assert binomtest(hits, 4000, 0.05, alternative="greater").pvalue > 1e-6


def test_the_whole_answer_hardly_ever_claims_a_gain():
    """Twenty answers about five pairs without a gain; every statistic, every quantile."""
    rng = np.random.default_rng(3)
    claimed = 0
    for _ in range(20):
        data = rng.random(40) / 2
        scores = {
            f"{name}{kind}": data + rng.random(40) / 2
            for name in "abcde"
            for kind in ("", " tuned")
        }
        answer = robustness(trials_of(scores))
        claimed += any(
            0 not in one.guaranteed or g.shift.better or g.shift.worse
            for g in answer.gaps
            for one in g.gains
        )
    assert binomtest(claimed, 20, 0.05, alternative="greater").pvalue > 1e-6


# --- what is wrong -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("pairs", ["svm"]),
        ("alpha", 1),
        ("confidence", 0),
        ("margin", -1),
        ("margin", "x"),
    ],
)
def test_bad_input_is_named(argument, value):
    with refused(argument, value):
        robustness(trials_of(sloppy()), **{argument: value})


@pytest.mark.parametrize(
    ("trials", "options"),
    [
        (trials_of({"svm": [0.1, 0.2], "knn": [0.1, 0.2]}), {}),
        (trials_of(sloppy()), {"pairs": {"svm": "x"}}),
        (trials_of(sloppy()), {"pairs": {}}),
        (trials_of(sloppy()), {"band": "x"}),
        (trials_of(sloppy()), {"metric": "acuracy"}),
        (Trials(), {}),
        ("x.csv", {}),
    ],
    ids=["not tuned", "of none", "no pairs", "band", "metric", "no trials", "a file"],
)
def test_what_has_no_answer_is_refused(trials, options):
    with pytest.raises(CurvewiseError):
        robustness(trials, **options)


def test_an_unknown_statistic_is_named():
    with refused(value="men"):
        robustness(trials_of(sloppy())).gaps[0].gain("men")


def test_a_gain_that_no_quantile_shows_for_sure_is_said_without_where():
    """Paired, a tiny gain is certain on average; the bands of two samples cannot see it."""
    rng = np.random.default_rng(4)
    untuned = rng.random(40) * 0.9
    tuned = untuned + 0.001 + 0.0001 * rng.random(40)
    answer = robustness(trials_of({"a": untuned, "a tuned": tuned}))
    assert not answer.gaps[0].shift.better
    assert kind_of(answer.gaps[0], None) == ("gains", True)
    assert "quantile" not in answer.verdict("t")


def test_a_pair_that_is_not_whole_on_some_task_is_named():
    both = trials_of(sloppy(), task="t") + trials_of({"svm": [0.5] * 9}, task="u")
    answer = robustness(both)
    assert answer.tasks == ("t",)
    assert answer.alone == ("svm on u",)


def test_rows_that_were_merely_counted_are_no_pairs(tmp_path, capsys):
    """Sorted by score, equal samples would be told apart as pairs."""
    rng = np.random.default_rng(3)
    rows = ["model,accuracy"]
    for name in ("a", "a tuned"):
        rows += [f"{name},{z:.6f}" for z in np.sort(rng.beta(8, 2, 40))]
    path = tmp_path / "sorted.csv"
    path.write_text("\n".join(rows))
    answer = robustness(read(path, trial=[]))
    assert not answer.gaps[0].paired
    assert "profits" not in str(answer)
    assert "loses" not in str(answer)
    (contrast,) = performance(read(path, trial=[])).contrasts
    assert contrast.ahead is contrast.probably_ahead is None
