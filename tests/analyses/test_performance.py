import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from support import data

import curvewise as cw
from curvewise import CurvewiseError, Metric, Trial, Trials
from curvewise.analyses.performance import Distribution, _apart
from curvewise.stats.bands import cdf_band

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
    with pytest.raises(
        CurvewiseError, match=r"1 of 11 trials.*loss is nan.*failed='worst'"
    ):
        cw.performance(trials)
    answer = cw.performance(trials, failed="worst")
    row = row_of(answer)
    assert (row["trials"], row["failed"]) == (11, 1)
    assert row["mean"] == pytest.approx(sum(TEN) / 11)
    assert "1 failed trial counted with score 0" in str(answer)
    assert row_of(cw.performance(trials, failed=0.1))["mean"] > row["mean"]


def test_an_unbounded_metric_has_open_tails_and_says_so():
    row = row_of(cw.performance(trials_of(range(5), "return")))
    assert row["median_lower"] == -np.inf
    assert "? to ?" in str(cw.performance(trials_of(range(5), "return")))
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
    assert "99.9 % confidence" in text
    assert "worst 99.5 %" in text
    assert "(DKW)" in str(cw.performance(trials_of(TEN), band="dkw"))


def two(one, other, metric="accuracy"):
    return cw.performance(trials_of(one, metric) + trials_of(other, metric, "b"))


def test_the_verdict_says_who_is_ahead_in_the_metrics_direction():
    low, high = [0.1, 0.2, 0.3], [0.7, 0.8, 0.9]
    assert "all trials b is ahead (0.8000)" in two(low, high).verdict("t")
    assert "all trials a is ahead (0.2000)" in two(low, high, "error").verdict("t")
    assert "all are level (0.2000)" in two(low, low).verdict("t")
    assert "a scores 0.2000 on average" in cw.performance(trials_of(low)).verdict("t")


@pytest.mark.parametrize("n", [10, 60])
def test_the_verdict_rarely_tells_equal_algorithms_apart(n):
    """Two bands of 95 % may both be wrong in 10 % of studies; at one quantile they are
    wider than need be. 2,000 studies of equals; 1 % would be 20 of them, and more than
    that is a one-in-a-million event if the true rate is below .35 %."""
    rng = np.random.default_rng(n)
    metric = cw.metrics.find("accuracy")
    apart = 0
    for _ in range(2000):
        own = [
            Distribution("t", name, metric, cdf_band(rng.random(n), support=(0, 1)), 0)
            for name in "ab"
        ]
        apart += "tell the medians of" in _apart(own)
    assert apart / 2000 <= 0.01


def test_the_verdict_does_tell_unlike_ones_apart():
    """The negative control."""
    rng = np.random.default_rng(1)
    assert "medians of 'a and b' apart" in two(
        rng.random(60) / 3, 0.6 + rng.random(60) / 3
    ).verdict("t")


def test_one_trial_is_a_distribution_too():
    row = row_of(cw.performance(trials_of([0.5])))
    assert (row["mean"], row["cvar_best"], row["cvar_worst"]) == (0.5, 0.5, 0.5)
    assert (row["median_lower"], row["median_upper"]) == (0, 1)


@pytest.mark.parametrize(
    ("trials", "keywords", "words"),
    [
        (Trials(), {}, r"There are no trials to judge"),
        (trials_of(TEN), {"metric": "acuracy"}, r"no metric 'acuracy'\. Did you mean"),
        (trials_of(TEN), {"alpha": 1}, r"alpha is 1\. Pass a share between 0 and 1"),
        (trials_of(TEN), {"alpha": "0.5"}, r"alpha is '0.5'\."),
        (trials_of(TEN), {"threshold": np.nan}, r"threshold is nan\. Pass a score"),
        (trials_of(TEN), {"threshold": "x"}, r"threshold is 'x'\."),
        (
            trials_of(TEN),
            {"metric": ["accuracy"]},
            r"The metric is \['accuracy'\]\. Pass",
        ),
        (trials_of(TEN), {"failed": True}, r"failed is True"),
        (trials_of(TEN), {"at": True}, r"at is True"),
        ("results.csv", {}, r"Trials were asked for, and str came\. Read a file"),
        (trials_of(TEN), {"confidence": 2}, r"confidence is 2\."),
        (trials_of(TEN), {"band": "x"}, r"kind is 'x'"),
        (trials_of(TEN), {"at": 7}, r"No trial has a value of 'accuracy' at step 7"),
        (
            trials_of([50, 60]),
            {},
            r"2 of 2 scores of 'accuracy' are outside.*unit='percent'",
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
