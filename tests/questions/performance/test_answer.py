import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from facts import refused
from scipy.stats import binomtest
from support import data

import curvewise as cw
from curvewise import CurvewiseError, Metric, Trial, Trials
from curvewise.questions.performance.fit import comparison_of, contrasts
from curvewise.questions.sampling import Sample
from curvewise.stats import bounds
from curvewise.stats.comparison import quantile_shift

TEN = [0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]


def trials_of(scores, metric="accuracy", algorithm="a", task="t"):
    return Trials(
        Trial(task, algorithm, i, {metric: [0.0, score]})
        for i, score in enumerate(scores)
    )


def row_of(answer, **which):
    (row,) = [r for r in answer.rows() if which.items() <= r.items()]
    return row


def test_the_numbers_of_a_known_sample():
    row = row_of(cw.performance(trials_of(TEN)))
    assert row["trials"] == 10
    assert row["mean"] == pytest.approx(0.665)
    assert row["cvar_best"] == pytest.approx(0.85)
    assert row["cvar_worst"] == pytest.approx(0.48)
    assert row["median"] == 0.7
    # The exact Kolmogorov half-width is .409: ranks ceil(.91) and ceil(9.09).
    assert (row["median_lower"], row["median_upper"]) == (0.2, 0.95)


@pytest.mark.paper
def test_the_lower_tail_follows_from_mean_and_upper_tail_as_in_table_2():
    """At alpha = .5, lower = 2 mean - upper: -699.6 for a mean of 388.3, upper 1476.2."""
    rng = np.random.default_rng(0)
    scores = rng.normal(388.3, 1300, 1000)
    row = row_of(cw.performance(trials_of(scores, "return")))
    assert row["cvar_worst"] == pytest.approx(2 * row["mean"] - row["cvar_best"])
    assert pytest.approx(-699.6) == 2 * 388.3 - 1476.2


def test_best_follows_the_direction_of_the_metric():
    up = row_of(cw.performance(trials_of(TEN, "accuracy"), alpha=0.8))
    down = row_of(cw.performance(trials_of([1 - s for s in TEN], "error"), alpha=0.8))
    assert down["cvar_best"] == pytest.approx(1 - up["cvar_best"])
    assert down["cvar_worst"] == pytest.approx(1 - up["cvar_worst"])
    assert down["cvar_best"] < down["mean"] < down["cvar_worst"]


@pytest.mark.parametrize(("metric", "threshold"), [("accuracy", 0.75), ("error", 0.25)])
def test_a_threshold_is_reached_from_the_bad_side(metric, threshold):
    scores = TEN if metric == "accuracy" else [1 - s for s in TEN]
    row = row_of(cw.performance(trials_of(scores, metric), threshold=threshold))
    assert row["reached"] == pytest.approx(0.5)
    assert row["excess"] == pytest.approx(0.05)
    assert row["mean_reached"] == pytest.approx(0.85 if metric == "accuracy" else 0.15)


def test_tasks_are_answered_one_by_one():
    both = trials_of(TEN, task="t") + trials_of(TEN[:3], task="u")
    answer = cw.performance(both)
    assert answer.tasks == ("t", "u")
    assert [r["trials"] for r in answer.rows()] == [10, 3]
    text = str(answer)
    assert text.index("task t") < text.index("task u")


def test_failed_trials_are_part_of_the_distribution_and_counted():
    some = [*trials_of(TEN), Trial("t", "a", 99, status="failed", error="loss is nan")]
    trials = Trials(some)
    with pytest.raises(CurvewiseError, match="loss is nan"):
        cw.performance(trials)
    answer = cw.performance(trials, failed="worst")
    row = row_of(answer)
    assert (row["trials"], row["failed"]) == (11, 1)
    assert row["mean"] == pytest.approx(sum(TEN) / 11)
    assert row_of(cw.performance(trials, failed=0.1))["mean"] > row["mean"]


def test_an_unbounded_metric_has_open_tails_and_says_so():
    row = row_of(cw.performance(trials_of(range(5), "return")))
    assert row["median_lower"] == -np.inf
    assert "[?, ?]" in str(cw.performance(trials_of(range(5), "return")))
    content = json.loads(cw.performance(trials_of(range(5), "return")).to_json())
    assert content["rows"][0]["median_lower"] is None


def test_at_chooses_the_value_of_the_curve():
    trials = Trials([Trial("t", "a", 0, {"loss": [3.0, 1.0, 2.0]})])
    means = {at: row_of(cw.performance(trials, at=at))["mean"] for at in _AT}
    assert means == {"last": 2, "mean": 2, "best": 1, 0: 3}


_AT = ("last", "mean", "best", 0)


def test_the_answer_is_frozen_and_says_where_it_came_from():
    trials = trials_of(TEN)
    answer = cw.performance(trials, alpha=0.9, confidence=0.9)
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.alpha = 0.1
    with pytest.raises(ValueError, match="read-only"):
        answer.distributions[0].scores[0] = 7
    told = answer.provenance
    assert told.data == trials.digest()
    assert told.settings["alpha"] == 0.9
    assert told.version == cw.__version__
    assert "90 %" in str(answer)


def test_the_answer_fits_into_frames_papers_and_pages():
    answer = cw.performance(trials_of(TEN))
    frame = answer.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.loc[0, "mean"] == pytest.approx(0.665)
    assert answer.to_frame("polars").height == 1
    assert answer.to_frame("pyarrow").num_rows == 1
    assert answer.to_latex().startswith(r"\begin{tabular}")
    assert answer.to_markdown().splitlines()[2].startswith("| t | a | 10 | 0 | 0.6650")
    assert "<table" in answer._repr_html_()


def test_an_accuracy_and_its_error_are_mirror_images():
    scores = [0.2, 0.4, 0.6, 0.8]
    up = row_of(cw.performance(trials_of(scores, "accuracy")))
    down = row_of(cw.performance(trials_of([1 - s for s in scores], "error")))
    for name in ("mean", "median", "cvar_best", "cvar_worst"):
        assert down[name] == pytest.approx(1 - up[name]), name
    assert down["median_lower"] == pytest.approx(1 - up["median_upper"])


def test_numbers_are_not_rounded_into_falsehoods():
    text = str(cw.performance(trials_of(TEN), confidence=0.999, alpha=0.995))
    assert "99.9 % band" in text
    assert "worst 99.5 %" in text
    assert "(DKW)" in str(cw.performance(trials_of(TEN), band="dkw"))


def two(one, other, metric="accuracy"):
    return cw.performance(trials_of(one, metric) + trials_of(other, metric, "b"))


def test_whoever_is_in_front_is_so_in_the_metrics_direction():
    low, high = [0.1, 0.2, 0.3], [0.7, 0.8, 0.9]
    for metric, first in (("accuracy", "b"), ("error", "a")):
        (row,) = two(low, high, metric).lead_table()
        assert row["in front"] == first
    answer = two([0.0, 0.5, 0.5, 1.0], [0.6, 0.6, 0.6, 0.6])
    assert answer.lead_table()[0]["in front"] == "a"
    assert answer.one("a").mean < answer.one("b").mean


def told_apart(studies, seed, n=40, confidence=0.95):
    """Return in how many studies of three equal algorithms some pair is told apart."""
    rng = np.random.default_rng(seed)
    metric, numbers = cw.metrics.find("accuracy"), np.arange(n)
    apart = 0
    for _ in range(studies):
        own = {name: Sample(rng.beta(8, 2, n), numbers, 0) for name in "abc"}
        found = contrasts({"t": own}, metric, alpha=0.5, confidence=confidence)
        apart += any(c.ahead for c in found)
    return apart


def test_the_verdict_rarely_tells_equal_algorithms_apart():
    """In 5 % of studies at most, all pairs together; false alarm one in a million."""
    apart = told_apart(200, seed=5)
    assert binomtest(apart, 200, 0.05, alternative="greater").pvalue > 1e-6


@pytest.mark.slow
def test_the_level_of_the_verdict_in_4000_studies():
    """With 250 trials, 125 in the tail, the central limit theorem is believed."""
    apart = told_apart(4000, seed=6, n=250)
    assert binomtest(apart, 4000, 0.05, alternative="greater").pvalue > 1e-6
    assert apart / 4000 > 0.02  # nor is it never


def test_without_sharing_the_confidence_it_would_not_be_rare():
    """The negative control: three pairs at 85 % each are at 55 % or more together."""
    apart = told_apart(200, seed=5, confidence=0.55)
    assert binomtest(apart, 200, 0.05, alternative="greater").pvalue < 1e-6


def ahead(trials, **keywords):
    return [c.ahead for c in cw.performance(trials, **keywords).contrasts if c.ahead]


def test_the_verdict_does_tell_unlike_ones_apart():
    rng = np.random.default_rng(1)
    answer = two(rng.random(60) / 3, 0.6 + rng.random(60) / 3)
    assert answer.contrasts[0].ahead == "b"
    lower = two(rng.random(60) / 3, 0.6 + rng.random(60) / 3, "error")
    assert lower.contrasts[0].ahead == "a"


def test_few_trials_are_told_apart_only_by_what_is_guaranteed():
    low, high = [0.1, 0.11, 0.12, 0.15], [0.85, 0.88, 0.9, 0.91]
    answer = two(low, high)
    (found,) = answer.contrasts
    assert 0 not in found.best
    assert 0 in found.guaranteed
    assert (found.ahead, found.probably_ahead) == (None, "b")
    assert ahead(trials_of([0.1]) + trials_of([0.9], algorithm="b")) == []


def test_what_few_trials_have_not_met_is_not_told_apart():
    """Equal over their best halves; but of one algorithm 3 % of the trials are far better
    than the rest, and 20 trials have often met none. Student is then sure of what is not
    so, in half of the studies; only what is guaranteed counts."""
    rng = np.random.default_rng(8)
    metric, numbers = cw.metrics.find("accuracy"), np.arange(20)
    sure = likely = 0
    for _ in range(200):
        noise = 1e-3 * rng.random((2, 20))
        rare = 0.5 + noise[0] + 0.4 * (rng.random(20) < 0.03)
        level = 0.5 + noise[1] + 0.4 * 0.06
        own = {"rare": Sample(rare, numbers, 0), "level": Sample(level, numbers, 0)}
        (found,) = contrasts({"t": own}, metric, alpha=0.5, confidence=0.99)
        sure += bool(found.ahead)
        likely += bool(found.probably_ahead)
    assert binomtest(sure, 200, 0.01, alternative="greater").pvalue > 1e-6
    assert likely > 60


def test_what_is_guaranteed_for_cells_holds_for_all_their_pairs():
    """Cells share the confidence, and pairs cost nothing: 6 of them are no wider than
    what four cells take."""
    rng = np.random.default_rng(3)
    own = {name: rng.random(50) for name in "abcd"}
    trials = sum((trials_of(z, algorithm=a) for a, z in own.items()), Trials())
    for c in cw.performance(trials).contrasts:
        one, other = (
            bounds.cvar_interval(own[n], 0.5, confidence=1 - 0.05 / 4, support=(0, 1))
            for n in (c.one, c.other)
        )
        assert c.guaranteed.lower == pytest.approx(one.lower - other.upper)
        assert c.guaranteed.upper == pytest.approx(one.upper - other.lower)


@pytest.mark.parametrize("n", [40, 200])
def test_where_one_is_better_holds_at_every_quantile_in_between(n):
    """On a grid ten times as fine, the band of the shift never touches 0 there."""
    rng = np.random.default_rng(n)
    fine = np.linspace(0, 1, 20_001)
    seen = 0
    for _ in range(20):
        a, b = rng.normal(1.5, 1, n), rng.normal(size=n)
        found = comparison_of(("a", "b"), (a, b), confidence=0.95, kind="kolmogorov")
        shift = quantile_shift(a, b, fine)
        for start, stop in found.better:
            inside = (fine >= start) & (fine <= stop)
            assert (shift.lower[inside] > 0).all()
            seen += 1
        assert not found.worse
    assert seen


def test_trials_of_the_same_number_are_pairs():
    """What two algorithms share cancels: paired, a small gain is seen."""
    rng = np.random.default_rng(2)
    data = rng.random(300) * 0.9
    gained = data + 0.02 + 0.01 * rng.random(300)
    (paired,) = two(data, gained).contrasts
    (alone,) = two(data, rng.permutation(gained)).contrasts
    assert paired.best.half_width < alone.best.half_width / 5
    assert (paired.ahead, alone.ahead) == ("b", None)
    assert alone.probably_ahead is None


def test_of_many_pairs_those_of_the_leader_are_shown():
    rng = np.random.default_rng(0)
    trials = sum(
        (
            trials_of(0.1 * i + 0.1 * rng.random(30), algorithm=f"a{i}")
            for i in range(6)
        ),
        Trials(),
    )
    answer = cw.performance(trials)
    assert len(answer.contrast_rows()) == 15
    assert len(answer.contrast_table("t")) == 5
    assert all("a5" in row["pair"] for row in answer.contrast_table("t"))
    lower = cw.performance(
        sum((trials_of([0.1 * i, 0.1], "error", f"a{i}") for i in range(6)), Trials())
    )
    assert all("a0" in row["pair"] for row in lower.contrast_table("t"))


def test_intervals_are_those_of_the_bounds():
    (d,) = cw.performance(trials_of(TEN)).distributions
    found = bounds.cvar_interval(TEN, 0.5, support=(0, 1))
    assert (d.best_interval.lower, d.best_interval.upper) == (found.lower, found.upper)
    assert (d.best_interval.lower, d.best_interval.upper) == pytest.approx(
        (0.579829, 0.990925), abs=1e-6
    )
    assert "exact Kolmogorov" in d.best_interval.guarantee


def test_all_intervals_mirror_for_an_error():
    up = row_of(cw.performance(trials_of(TEN), alpha=0.8))
    down = row_of(cw.performance(trials_of([1 - s for s in TEN], "error"), alpha=0.8))
    for name in ("mean", "median", "cvar_best", "cvar_worst"):
        assert down[f"{name}_lower"] == pytest.approx(1 - up[f"{name}_upper"]), name
        assert down[f"{name}_upper"] == pytest.approx(1 - up[f"{name}_lower"]), name


def test_curves_of_the_best_mirror_for_an_error():
    (one,) = cw.performance(trials_of(TEN)).distributions
    (other,) = cw.performance(trials_of([1 - s for s in TEN], "error")).distributions
    for up, down in (
        (one.best_curve([0.2, 0.5]), other.best_curve([0.2, 0.5])),
        (one.tuning_curve([1, 2, 5]), other.tuning_curve([1, 2, 5])),
    ):
        np.testing.assert_allclose(down.value, 1 - up.value)
        np.testing.assert_allclose(down.lower, 1 - up.upper)
        np.testing.assert_allclose(down.upper, 1 - up.lower)
        assert (up.lower <= up.value).all()
        assert (up.value <= up.upper).all()


def test_without_a_bound_the_bootstrap_stands_in_and_says_so():
    rng = np.random.default_rng(0)
    trials = trials_of(rng.normal(size=100), "return")
    one, again = (cw.performance(trials, seed=3) for _ in range(2))
    assert one.rows() == again.rows()
    assert one.rows() != cw.performance(trials, seed=4).rows()
    (d,) = one.distributions
    assert "BCa" in d.mean_interval.guarantee
    assert d.mean_interval.monte_carlo_error > 0
    assert "seed 3" in str(one)
    few = cw.performance(trials_of(rng.normal(size=20), "return"))
    assert ["too few" in str(answer) for answer in (one, few)] == [False, True]
    assert cw.performance(trials_of(TEN), seed=3).provenance.seed is None


def test_bands_of_a_family_are_wider():
    trials = trials_of(TEN) + trials_of(TEN, algorithm="b")
    each, both = (cw.performance(trials, family=f) for f in (False, True))
    assert both.distributions[0].band.confidence == pytest.approx(0.975)
    assert both.confidence == 0.95
    for name in ("mean", "cvar_best", "cvar_worst"):
        assert both.rows()[0][f"{name}_upper"] >= each.rows()[0][f"{name}_upper"]


def test_over_all_tasks_each_task_counts_the_same():
    many = trials_of([0.2] * 9 + [0.3] * 9, task="t") + trials_of([0.8, 0.9], task="u")
    (one,) = cw.performance(many).overall
    assert one.mean.value == pytest.approx((0.25 + 0.85) / 2)
    assert one.optimality_gap.value == pytest.approx(1 - one.mean.value)
    assert cw.performance(trials_of(TEN)).overall == ()
    half = many + trials_of(TEN, task="t", algorithm="b")
    assert cw.performance(half).overall == ()
    assert "all 2 tasks" in str(cw.performance(many))


def test_profiles_say_which_share_is_better_than_a_score():
    both = trials_of([0.1, 0.3], task="t") + trials_of([0.1, 0.9], task="u")
    curve = cw.performance(both).profiles()["a"]
    assert (curve.value[0], curve.value[-1]) == (0.5, 0)
    turned = trials_of([0.1, 0.3], "error", task="t") + trials_of(
        [0.1, 0.9], "error", task="u"
    )
    curve = cw.performance(turned).profiles()["a"]
    assert (curve.value[0], curve.value[-1]) == (0, 0.75)


def test_one_distribution_can_be_asked_for():
    both = trials_of(TEN) + trials_of(TEN, task="u")
    assert cw.performance(both).one("a", "u").task == "u"
    with refused(fixes=[{"task": ...}]):
        cw.performance(both).one("a")
    with refused(value="x"):
        cw.performance(both).one("x", "u")


def test_one_trial_is_a_distribution_too():
    row = row_of(cw.performance(trials_of([0.5])))
    assert (row["mean"], row["cvar_best"], row["cvar_worst"]) == (0.5, 0.5, 0.5)
    assert (row["median_lower"], row["median_upper"]) == (0, 1)


@pytest.mark.parametrize(
    ("trials", "keywords", "words"),
    [
        (Trials(), {}, r"There are no trials to judge"),
        (trials_of(TEN), {"metric": "acuracy"}, r"no metric 'acuracy'\. Did you mean"),
        (trials_of(TEN), {"alpha": 1}, r"alpha is 1\. Pass a share strictly between"),
        (trials_of(TEN), {"alpha": "0.5"}, r"alpha is '0.5'\."),
        (trials_of(TEN), {"threshold": np.nan}, r"threshold is nan\. Pass a score"),
        (trials_of(TEN), {"threshold": "x"}, r"threshold is 'x'\."),
        (
            trials_of(TEN),
            {"threshold": 1.5},
            r"threshold is 1\.5, and 'accuracy' goes from 0 to 1\. Pass a score",
        ),
        (trials_of(TEN), {"seed": -1}, r"seed is -1\. Pass a whole number"),
        (
            trials_of(TEN),
            {"metric": ["accuracy"]},
            r"The metric is \['accuracy'\]\. Pass",
        ),
        (trials_of(TEN), {"failed": True}, r"failed is True"),
        (trials_of(TEN), {"at": True}, r"at is True"),
        ("results.csv", {}, r"Trials were asked for, and str came\. Read a file"),
        (trials_of(TEN), {"confidence": 2}, r"confidence is 2\."),
        (trials_of(TEN), {"band": "x"}, r"band is 'x'"),
        (trials_of(TEN), {"at": 7}, r"No trial has a value of 'accuracy' at step 7"),
        (
            trials_of([50, 60]),
            {},
            r"'accuracy' is in percent.*unit='percent'",
        ),
        (
            Trials([Trial("t", "a", 0, {"loss": 1.0, "error": 0.5})]),
            {},
            r"Which metric\? These trials have 'loss', 'error'",
        ),
    ],
)
def test_bad_input_is_named(trials, keywords, words):
    with pytest.raises(CurvewiseError, match=words):
        cw.performance(trials, **keywords)


def test_names_of_any_kind_are_printed():
    answer = cw.performance(trials_of(TEN, algorithm="日本 <b> " + "x" * 300))
    assert "日本" in str(answer)
    assert "&lt;b&gt;" in answer._repr_html_()


def test_a_random_search_with_diverged_runs():
    trials = cw.read(
        data("random_search/trials.csv"),
        algorithm="model",
        metrics={"final": Metric("final", "higher", (0, 1))},
    )
    answer = cw.performance(trials, failed=0.001)
    row = row_of(answer, algorithm="alexnet")
    assert (row["trials"], row["failed"]) == (512, 49)
    assert row["cvar_worst"] < row["mean"] < row["cvar_best"]
    assert row["mean"] == pytest.approx(0.1748582, abs=1e-6)


def test_control_curves():
    trials = cw.read(
        data("control_curves/curves.parquet"),
        runs=data("control_curves/runs.csv"),
        on="run",
    )
    answer = cw.performance(trials, "return")
    assert len(answer.rows()) == 12
    assert {r["trials"] for r in answer.rows()} == {8}


def test_crossed_trials_are_not_taken_for_independent_ones():
    def score(params, data, rng):
        yield 0, {"accuracy": 0.5 * params["x"] + 0.1 * rng.random()}

    experiment = cw.Experiment(
        cw.Task("t", lambda rng: None),
        cw.Algorithm("a", {"x": cw.uniform(0, 1)}, score),
        cross={"params": 3, "seed": 5},
    )
    trials = cw.run(experiment, executor="serial", progress=False)
    with pytest.raises(CurvewiseError, match="variance_shares"):
        cw.performance(trials)
    with pytest.raises(CurvewiseError, match=r"crossed"):
        cw.plan.trials(0.1, of="mean", pilot=trials)
    assert cw.variance_shares(trials).rows()


def test_with_an_anytime_band_only_what_is_guaranteed_is_ahead():
    rng = np.random.default_rng(0)
    one, other = rng.beta(8, 2, 400), rng.beta(8, 2, 400) - 0.05
    trials = trials_of(one) + trials_of(np.maximum(other, 0), algorithm="b")
    (fixed,) = cw.performance(trials).contrasts
    (anytime,) = cw.performance(trials, band="anytime").contrasts
    assert fixed.ahead == "a"
    assert (anytime.ahead, anytime.probably_ahead) == (None, "a")


def test_far_fewer_trials_of_one_make_a_lead_probable():
    rng = np.random.default_rng(0)
    many, few = rng.beta(8, 2, 2000), np.maximum(rng.beta(8, 2, 250) - 0.1, 0)
    (found,) = cw.performance(
        trials_of(many) + trials_of(few, algorithm="b"), band="equal_local_levels"
    ).contrasts
    assert found.has_few
    assert found.ahead == "a" or found.probably_ahead == "a"


def test_all_tasks_are_summed_up_only_if_every_algorithm_met_them():
    half = trials_of(TEN) + trials_of(TEN, task="u") + trials_of(TEN, algorithm="b")
    assert cw.performance(half).overall == ()
    with pytest.raises(CurvewiseError, match="on task 'u'"):
        cw.performance(half, over_tasks=True)
    with pytest.raises(CurvewiseError, match="one task"):
        cw.performance(trials_of(TEN), over_tasks=True)


def test_intervals_over_all_tasks_stay_where_scores_can_be():
    both = trials_of([0.8, 0.99]) + trials_of([0.9, 0.95], task="u")
    (one,) = cw.performance(both).overall
    assert one.iqm.lower >= 0
    assert one.iqm.upper <= 1
    assert one.mean.upper <= 1


def test_json_has_pairs_and_all_tasks():
    rng = np.random.default_rng(0)
    trials = sum(
        (trials_of(rng.random(20), task=t, algorithm=a) for t in "tu" for a in "ab"),
        Trials(),
    )
    content = json.loads(cw.performance(trials).to_json())
    assert [len(content[k]) for k in ("rows", "pairs", "overall")] == [4, 2, 2]
    assert content["overall"][0]["iqm_lower"] <= content["overall"][0]["iqm"]
