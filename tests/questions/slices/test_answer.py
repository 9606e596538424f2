"""Slices: what is said about hyperparameters that were run again."""

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from curvewise import CurvewiseError, Trial, Trials
from curvewise.metrics import Metric
from curvewise.questions.performance.fit import compared, distribution_of
from curvewise.questions.performance.text import sentences, where
from curvewise.questions.slices import choose, slices

RNG = np.random.default_rng
PERCENTILES = (1, 50, 95, 99)


def search(n=100, metric="accuracy"):
    return Trials(
        Trial(
            "t",
            "net",
            i,
            {metric: (i + 0.5) / n},
            params={"lr": i / n, "layers": [1, 2]},
        )
        for i in range(n)
    )


def reruns_of(chosen, n=50, curve=True, metric="accuracy", spread=0.05, steps=None):
    """Return reruns around the score that each was chosen for."""
    rng = RNG(0)
    out = []
    for one in chosen:
        for i in range(n):
            end = np.clip(one.score + spread * rng.normal(), 0, 1)
            values = [end / 2, end] if curve else [end]
            own = steps(i) if steps else None
            out.append(Trial("t", one.name, i, {metric: values}, steps=own))
    return Trials(out)


def chosen_of(trials, metric="accuracy", percentiles=PERCENTILES):
    return choose(
        trials,
        metric,
        task="t",
        algorithm="net",
        percentiles=percentiles,
        at="last",
        failed="raise",
    )


def answered(trials=None, reruns=None, **options):
    trials = search() if trials is None else trials
    chosen = chosen_of(trials, None)
    reruns = reruns_of(chosen) if reruns is None else reruns
    return slices(trials, reruns, chosen, task="t", algorithm="net", **options)


def test_an_answer_has_all_that_was_asked_for():
    answer = answered()
    assert answer.percentiles == PERCENTILES
    assert len(answer.original.scores) == 100
    assert answer.at(95).chosen.params == {"lr": 0.94, "layers": [1, 2]}
    assert answer.trials.lines("accuracy")["net p99"].shape == (50, 2)
    assert answer.performance.one("net p50").algorithm == "net p50"
    assert len(answer.comparisons) == 6
    with pytest.raises(CurvewiseError, match=r"There is no percentile '42'"):
        answer.at(42)


def test_mean_curves_are_those_of_the_lines():
    answer = answered()
    lines = answer.trials.lines("accuracy")["net p95"]
    curve = answer.at(95).curve
    np.testing.assert_array_equal(curve.steps, [0, 1])
    np.testing.assert_allclose(curve.mean, lines.mean(axis=0))
    np.testing.assert_allclose(curve.sd, lines.std(axis=0, ddof=1))
    assert answer.at(95).sd == pytest.approx(curve.sd[-1])


def test_scores_without_a_curve_have_none():
    trials = search()
    answer = answered(trials, reruns_of(chosen_of(trials), curve=False))
    assert answer.at(1).curve is None


def test_curves_with_steps_of_their_own_get_a_common_grid():
    trials = search()
    reruns = reruns_of(chosen_of(trials), steps=lambda i: [0, 10 + i])
    curve = answered(trials, reruns).at(1).curve
    assert len(curve.steps) == 200
    assert (curve.steps[0], curve.steps[-1]) == (0, 10)
    few = answered(trials, reruns, grid=[0, 5]).at(1).curve
    np.testing.assert_array_equal(few.steps, [0, 5])


def test_one_rerun_is_an_answer_without_a_claim():
    trials = search()
    answer = answered(trials, reruns_of(chosen_of(trials), n=1))
    assert np.isnan(answer.at(99).sd)
    assert answer.at(99).curve.sd.tolist() == [0, 0]
    assert not any(c.better or c.worse for c in answer.comparisons)


def test_rows_are_for_programs():
    rows = answered().rows()
    assert [r["percentile"] for r in rows] == list(PERCENTILES)
    assert rows[0]["number"] == 0
    assert rows[0]["trials"] == 50
    assert json.loads(rows[0]["params"]) == {"lr": 0, "layers": [1, 2]}
    assert rows[0]["mean_lower"] <= rows[0]["mean"] <= rows[0]["mean_upper"]
    told = json.loads(answered().to_json())["provenance"]["settings"]
    assert told["band"] == "equal_local_levels"
    assert len(told["reruns"]) == 12


def test_it_prints_luck_order_and_doubt():
    text = str(answered())
    assert "net on t, hyperparameters at percentiles of 100 trials, run again" in text
    assert "layers=[1, 2], lr=0.9400" in text
    assert "scored 0.9850 when they were chosen, and 0.9" in text
    assert "net p95 is better than net p50" in text
    assert "all 6 comparisons of two slices hold at once, with 95 % confidence" in text
    assert "<table" in answered()._repr_html_()
    assert (
        answered().verdict().startswith("The hyperparameters at percentile 99 scored")
    )


def test_lower_is_better_gives_the_same_sentences():
    """Losses and gains that mirror each other: the same words about who is better."""

    def flipped(trials):
        return Trials(
            Trial(
                t.task,
                t.algorithm,
                t.number,
                {"error": 1 - t.metrics["accuracy"]},
                params=t.params,
            )
            for t in trials
        )

    up = answered()
    down = answered(flipped(search()), flipped(up.trials))
    assert [s.chosen.number for s in up.slices] == [
        s.chosen.number for s in down.slices
    ]
    assert sentences(up.comparisons) == sentences(down.comparisons)
    for one, other in zip(up.comparisons, down.comparisons, strict=True):
        np.testing.assert_allclose(one.shift.lower, other.shift.lower, atol=1e-9)


# --- where two distributions differ ------------------------------------------------------


def distribution(name, scores, direction="higher"):
    return distribution_of(
        ("t", name),
        Metric("m", direction, (0, 1)),
        np.asarray(scores),
        0,
        alpha=0.5,
        confidence=0.95,
        kind="equal_local_levels",
        unit="trial",
        rng=RNG(0),
    )


def test_a_crossing_is_told_with_both_of_its_sides():
    rng = RNG(1)
    risky = np.where(rng.random(1000) < 0.1, 0.05, 0.9) + 0.05 * rng.random(1000)
    safe = 0.8 + 0.05 * rng.random(1000)
    found = compared(distribution("risky", risky), distribution("safe", safe), 0.95)
    assert found.crosses
    assert found.seen_better == pytest.approx(0.9, abs=0.03)
    assert found.seen_worse == pytest.approx(0.1, abs=0.03)
    (text,) = sentences([found])
    assert text.startswith("risky and safe cross: risky is better from the 1")
    assert "but worse from the" in text
    turned = compared(distribution("safe", safe), distribution("risky", risky), 0.95)
    assert "safe is worse from the 1" in sentences([turned])[0]
    assert "but better from" in sentences([turned])[0]


def test_without_a_difference_nothing_is_claimed():
    """The negative control, 200 times: each claim has 5 % at most."""
    rng = RNG(2)
    wrong = 0
    for _ in range(200):
        a, b = rng.random((2, 60))
        found = compared(distribution("a", a), distribution("b", b), 0.95)
        wrong += bool(found.better or found.worse)
    assert binomtest(wrong, 200, 0.05, alternative="greater").pvalue > 1e-6


def test_stretches_are_told_from_the_worst_to_the_best():
    assert where([(0.0, 1.0)]) == "at every quantile"
    assert where([(0.0, 0.25)]) == "over its worst 25 %"
    assert where([(0.6, 1.0)]) == "over its best 40 %"
    assert where([(0.101, 0.104)]) == "at the 10 % quantile"
    assert where([(0.1, 0.3), (0.31, 0.32)]) == "from the 10 % to the 30 % quantile"
    assert where([(0.1, 0.3), (0.4, 0.9)]) == (
        "from the 10 % to the 30 % quantile and from the 40 % to the 90 % quantile"
    )


def test_a_lead_that_is_not_sure_everywhere_says_so():
    rng = RNG(3)
    a = np.where(rng.random(200) < 0.03, 0.0, 0.8) + 0.1 * rng.random(200)
    b = 0.3 + 0.1 * rng.random(200)
    found = compared(distribution("a", a), distribution("b", b), 0.95)
    (text,) = sentences([found])
    assert text.startswith("a is better than b from the")
    assert text.endswith("and nowhere worse for sure.")
