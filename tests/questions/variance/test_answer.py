"""Variance shares: what was crossed is found, added up, and said with its doubt."""

import json

import numpy as np
import pytest
from contests import grid, noisy_grid
from facts import refused

from curvewise import (
    Algorithm,
    CurvewiseError,
    Experiment,
    Task,
    Trial,
    Trials,
    run,
    uniform,
)
from curvewise.questions.variance import VarianceShares, variance_shares
from curvewise.questions.variance.text import is_largest, is_most
from curvewise.stats.variance import components

TASK = Task("t", lambda train, test: (train.normal(), test.normal()))


def net(params, data, rng):
    train, test = data
    yield 0, {"loss": 9.0}
    yield 1, {"loss": 4 * params["lr"] + train + 0.5 * test + 0.3 * rng.normal()}


NET = Algorithm("net", {"lr": uniform(0, 1)}, net)


def ran(cross, algorithms=NET, **options):
    plan = Experiment(TASK, algorithms, cross=cross, seed=5, **options)
    return run(plan, executor="serial", progress=False)


@pytest.fixture(scope="module")
def crossed():
    return ran({"params": 12, "seed": 4}, vary=["params", "seed"])


def row_of(answer, source):
    (row,) = [r for r in answer.rows() if r["source"] == source]
    return row


def by_hand(trials, names):
    shape = [1 + max(t.labels[n] for t in trials) for n in names]
    table = np.empty(shape)
    for t in trials:
        table[tuple(t.labels[n] for n in names)] = t.metrics["loss"][-1]
    return components(table, names)


def test_a_crossed_experiment_is_taken_apart(crossed):
    answer = variance_shares(crossed)
    assert [r["source"] for r in answer.rows()] == [
        "hyperparameters",
        "seed",
        "interaction",
    ]
    found = by_hand(crossed, ["params", "seed"])
    for row, variance, share in zip(
        answer.rows(), found.variances, found.shares, strict=True
    ):
        assert row["variance"] == pytest.approx(variance, abs=1e-12)
        assert row["share"] == pytest.approx(share)
        assert row["share_lower"] <= row["share"] <= row["share_upper"]
    assert row_of(answer, "hyperparameters")["levels"] == 12
    assert row_of(answer, "seed")["levels"] == 4
    assert row_of(answer, "interaction")["levels"] is None
    assert isinstance(answer, VarianceShares)


def test_sources_have_the_names_that_people_use():
    answer = variance_shares(ran({"seed": 3, "params": 4, "test": 2, "train": 3}))
    assert [r["source"] for r in answer.rows()] == [
        *("hyperparameters", "training set", "test set", "seed", "interaction")
    ]
    shares = [r["share"] for r in answer.rows()]
    assert sum(shares) == pytest.approx(1)
    assert row_of(answer, "interaction")["share"] < 1e-9  # the effects are a sum


def test_interactions_may_be_told_one_by_one():
    trials = ran({"params": 4, "train": 3, "seed": 2})
    each = variance_shares(trials, interactions="each")
    names = [r["source"] for r in each.rows()]
    assert names[3:] == [
        "hyperparameters x training set",
        "hyperparameters x seed",
        "training set x seed",
        "hyperparameters x training set x seed",
    ]
    together = variance_shares(trials)
    whole = sum(r["variance"] for r in each.rows()[3:])
    assert row_of(together, "interaction")["variance"] == pytest.approx(whole)


def test_the_shares_are_those_that_the_scores_were_made_of():
    """4 lr has variance 16/12, the training set 1, the test set .25, the seed .09."""
    answer = variance_shares(
        ran({"params": 40, "train": 20, "test": 4}, vary=["params"])
    )
    truth = np.array([16 / 12, 1, 0.25])
    for row, share in zip(answer.rows(), truth / truth.sum(), strict=False):
        assert row["share_lower"] < share < row["share_upper"]
        assert row["share"] == pytest.approx(share, abs=0.2)


def test_what_is_drawn_anew_in_each_trial_is_in_the_interaction():
    frozen = variance_shares(ran({"params": 12, "train": 4}, vary=["params"]))
    anew = variance_shares(ran({"params": 12, "train": 4}, vary=["params", "seed"]))
    assert row_of(frozen, "interaction")["variance"] == pytest.approx(0, abs=1e-12)
    assert row_of(anew, "interaction")["variance"] == pytest.approx(0.09, rel=0.5)


def test_error_and_accuracy_have_the_same_shares():
    rng = np.random.default_rng(0)
    scores = rng.random((6, 4))

    def trials(metric, flip):
        return Trials(
            Trial(
                "t", "a", 4 * i + j, {metric: flip(s)}, labels={"params": i, "seed": j}
            )
            for (i, j), s in np.ndenumerate(scores)
        )

    up = variance_shares(trials("accuracy", lambda s: s)).rows()
    down = variance_shares(trials("error", lambda s: 1 - s)).rows()
    for one, other in zip(up, down, strict=True):
        assert one["share_upper"] == pytest.approx(other["share_upper"])
        assert one["share"] == pytest.approx(other["share"])


# --- results that others crossed ---------------------------------------------------------


def table_of(rows):
    return Trials(
        Trial("t", "a", i, {"accuracy": row.pop("score")}, labels=row, params=params)
        for i, (row, params) in enumerate(rows)
    )


def folds_and_seeds():
    rng = np.random.default_rng(0)
    return [
        ({"fold": f"f{i}", "rep": j, "score": rng.random()}, {})
        for i in range(4)
        for j in range(3)
    ]


def test_labels_of_a_file_are_factors_too():
    answer = variance_shares(table_of(folds_and_seeds()))
    assert [(r["source"], r["levels"]) for r in answer.rows()[:2]] == [
        ("fold", 4),
        ("rep", 3),
    ]


def test_hyperparameters_of_a_file_are_a_factor_without_a_label():
    rng = np.random.default_rng(0)
    rows = [
        ({"seed": j, "score": rng.random()}, {"lr": lr})
        for lr in (0.1, 0.2, 0.3)
        for j in range(4)
    ]
    answer = variance_shares(table_of(rows))
    assert [(r["source"], r["levels"]) for r in answer.rows()[:2]] == [
        ("hyperparameters", 3),
        ("seed", 4),
    ]


def test_factors_may_be_chosen():
    rows = [
        ({**labels, "host": i}, params)
        for i, (labels, params) in enumerate(folds_and_seeds())
    ]
    with pytest.raises(CurvewiseError, match="132 of 144"):
        variance_shares(table_of([(dict(a), b) for a, b in rows]))
    answer = variance_shares(table_of(rows), factors=["rep", "fold"])
    assert [r["source"] for r in answer.rows()][:2] == ["rep", "fold"]


# --- what is said ------------------------------------------------------------------------


def test_it_prints_a_table_with_a_verdict_and_its_doubt(crossed):
    text = str(variance_shares(crossed))
    assert "task t" in text
    assert "hyperparameters" in text
    assert "95 % interval" in text
    assert "approximate" in text
    assert "seed 0; curvewise" in text


def test_no_more_is_claimed_than_the_intervals_hold():
    def largest(trials):
        (own,) = variance_shares(trials).decompositions
        return own.largest and is_largest(own), own.largest and is_most(own)

    assert largest(noisy_grid(10, (30, 10))) == (True, True)
    assert largest(noisy_grid(0, (4, 4))) == (False, False)
    assert largest(grid(np.ones((4, 4)) / 3)) == (None, None)
    same = variance_shares(grid(np.ones((4, 4)) / 3))
    assert json.loads(same.to_json())["rows"][0]["share"] is None


def test_a_variance_below_0_is_reported_and_counted_as_none():
    """Of noise alone, each estimate is below 0 about half of the time."""
    rng = np.random.default_rng(1)
    answers = [variance_shares(grid(rng.normal(size=(4, 4)))) for _ in range(5)]
    below = [r for a in answers for r in a.rows() if r["variance"] < 0]
    assert below
    assert all(r["share"] == 0 for r in below)


def test_it_follows_its_seed(crossed):
    rows = [variance_shares(crossed, seed=s).rows() for s in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]
    assert rows[0][0]["monte_carlo_error"] > 0


def test_steps_tasks_and_confidence_can_be_chosen(crossed):
    first = variance_shares(crossed, at=0)
    assert first.decompositions[0].largest is None
    narrow = variance_shares(crossed, confidence=0.5)
    assert "50 % interval" in str(narrow)
    assert narrow.of("t")[0].largest.source == "hyperparameters"
    with refused(value="u"):
        narrow.of("u")


# --- what is wrong -----------------------------------------------------------------------


def test_failed_trials_need_a_score_and_are_counted(crossed):
    some = [
        Trial(
            t.task, t.algorithm, t.number, labels=t.labels, status="failed", error="x"
        )
        if t.number == 7
        else t
        for t in crossed
    ]
    with pytest.raises(CurvewiseError, match="1 of 48"):
        variance_shares(Trials(some))
    answer = variance_shares(Trials(some), failed=9.0)
    assert [own.failed for own in answer.decompositions] == [1]


def test_trials_that_were_not_crossed_are_refused():
    plain = run(Experiment(TASK, NET, 5), executor="serial", progress=False)
    with pytest.raises(CurvewiseError, match="'params'"):
        variance_shares(plain)
    with pytest.raises(CurvewiseError, match="not crossed"):
        variance_shares(Trials([Trial("t", "a", 0, {"loss": 1.0})]))


def test_a_crossing_with_holes_is_refused(crossed):
    with pytest.raises(CurvewiseError, match="params=11, seed=2"):
        variance_shares(crossed.where(number=range(46)))


def test_two_trials_in_a_cell_are_refused(crossed):
    twice = Trials(
        Trial(
            "t",
            "net",
            t.number,
            {"loss": 1.0},
            labels=t.labels | {"half": t.number % 2},
        )
        for t in crossed
    )
    with pytest.raises(CurvewiseError, match="params=0, half=0"):
        variance_shares(twice, factors=["params", "half"])


@pytest.mark.parametrize(
    ("argument", "value"), [("interactions", "no"), ("confidence", 3), ("seed", -1)]
)
def test_bad_input_is_named(crossed, argument, value):
    with refused(argument, value):
        variance_shares(crossed, **{argument: value})


def test_labels_metrics_and_trials_must_be_there(crossed):
    with refused(value="sead"):
        variance_shares(crossed, factors=["params", "sead"])
    with refused(value="los"):
        variance_shares(crossed, "los")
    with pytest.raises(CurvewiseError, match="not crossed"):
        variance_shares(crossed, factors=["seed"])
    for nothing in (Trials(), "x.csv"):
        with pytest.raises(CurvewiseError):
            variance_shares(nothing)
