import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaincinv
from scipy.stats import binomtest, trim_mean, ttest_1samp

from curvewise.errors import CurvewiseError, CurvewiseWarning
from curvewise.stats.comparison import (
    iqm,
    iqm_bootstrap,
    iqm_interval,
    mean_over_tasks,
    mean_over_tasks_bootstrap,
    mean_over_tasks_interval,
    optimality_gap,
    optimality_gap_bootstrap,
    optimality_gap_interval,
)
from curvewise.stats.comparison.tasks import Pool
from curvewise.stats.interval import asymptotic, cannot_tell

pytestmark = pytest.mark.filterwarnings("ignore::curvewise.errors.CurvewiseWarning")

INTERVALS = [iqm_interval, mean_over_tasks_interval, optimality_gap_interval]
BOOTSTRAPS = [iqm_bootstrap, mean_over_tasks_bootstrap, optimality_gap_bootstrap]
VALUES = [iqm, mean_over_tasks, optimality_gap]


def rng(seed=0):
    return np.random.default_rng(seed)


def scores(seed=1, runs=20, tasks=8):
    return rng(seed).gamma(2, 1, (runs, tasks)) * np.linspace(0.2, 1, tasks)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 99))
def test_iqm_is_the_trimmed_mean_where_nothing_is_cut_in_two(runs, tasks, seed):
    z = rng(seed).random((4 * runs, tasks))
    assert iqm(z) == pytest.approx(trim_mean(z, 0.25, axis=None))


def test_scores_at_the_quartiles_count_in_part():
    """Of 6 scores 1.5 are left out at either end."""
    assert iqm([[0, 1, 2, 3, 4, 50]]) == pytest.approx((0.5 * 1 + 2 + 3 + 0.5 * 4) / 3)


def test_tasks_weigh_the_same_whatever_their_runs():
    """Running one task twice as often, with the same outcome, changes nothing."""
    z = scores()
    twice = [np.r_[z[:, 0], z[:, 0]], *z.T[1:]]
    for value in VALUES:
        assert value(twice) == pytest.approx(value(z))


def test_arrays_lists_and_mappings_are_the_same():
    z = scores()
    named = {f"task {t}": own for t, own in enumerate(z.T)}
    for find in (*VALUES, *INTERVALS):
        assert find(z) == find(list(z.T)) == find(named)


def test_gap_and_mean_are_what_they_say():
    z = scores()
    assert mean_over_tasks(z) == pytest.approx(z.mean())
    assert optimality_gap(z, 0.7) == pytest.approx(np.maximum(0.7 - z, 0).mean())
    assert optimality_gap(z + 9) == 0


def test_one_task_has_students_interval():
    z = scores(tasks=1)
    student = ttest_1samp(z[:, 0], 0).confidence_interval()
    found = mean_over_tasks_interval(z)
    assert (found.lower, found.upper) == pytest.approx((student.low, student.high))


def test_iqm_has_the_standard_error_of_a_trimmed_mean():
    """One task: the winsorised variance, as in the literature on trimmed means."""
    z = np.sort(rng(3).normal(size=40))
    winsorised = np.clip(z, z[9], z[30])
    error = 2 * winsorised.std(ddof=1) / math.sqrt(40)
    found = iqm_interval(z[:, None])
    assert found.half_width == pytest.approx(2.022691 * error, rel=1e-5)  # t of 39


@pytest.mark.parametrize(
    ("closed", "resampled"), list(zip(INTERVALS, BOOTSTRAPS, strict=True))
)
def test_the_bootstrap_shows_what_is_computed(closed, resampled):
    z = scores(runs=100)
    found = closed(z)
    check = resampled(z, resamples=4000, rng=rng(2))
    assert check.lower == pytest.approx(found.lower, abs=0.05 * 2 * found.half_width)
    assert check.upper == pytest.approx(found.upper, abs=0.05 * 2 * found.half_width)
    assert check.value == found.value


def test_resampled_weights_are_those_of_runs_drawn_within_tasks():
    pool = Pool.of([[1, 5, 9], [2, 3], [4, 6, 7, 8]])
    weights = np.concatenate(list(pool.resampled(6000, rng(4))))
    assert weights.sum(axis=1) == pytest.approx(np.ones(6000))
    for task, runs in enumerate(pool.runs):
        own = weights[:, pool.task == task]
        assert own.sum(axis=1) == pytest.approx(np.full(6000, 1 / 3))
        counts = own * 3 * runs
        assert counts == pytest.approx(np.rint(counts))
        spread = counts.var(axis=0)  # binomial: n draws, each with chance 1/n
        assert spread == pytest.approx(np.full(runs, 1 - 1 / runs), abs=0.08)


def test_batches_bound_the_memory(monkeypatch):
    z = scores()
    whole = iqm_bootstrap(z, resamples=999, rng=rng(5))
    monkeypatch.setattr("curvewise.stats.comparison.tasks._BATCH", 5000)
    assert iqm_bootstrap(z, resamples=999, rng=rng(5)) == whole


def test_the_error_that_resamples_leave_is_stated():
    z = scores()
    found = [iqm_bootstrap(z, resamples=200, rng=rng(s)) for s in range(80)]
    spread = np.std([f.upper for f in found], ddof=1)
    assert 0.6 * spread < np.mean([f.monte_carlo_error for f in found]) < 2 * spread
    assert iqm_interval(z).monte_carlo_error == 0


@pytest.mark.parametrize("find", INTERVALS)
def test_one_run_of_a_task_says_nothing(find):
    found = find([[1, 2, 3], [4]])
    assert found.upper == math.inf
    assert found.lower in (-math.inf, 0)
    assert found.guarantee.startswith(cannot_tell(""))
    assert math.isfinite(found.value)


@pytest.mark.parametrize("find", BOOTSTRAPS)
def test_one_run_of_a_task_is_not_resampled_into_certainty(find):
    assert find([[1, 2, 3], [4]], rng=rng()).upper == math.inf


def test_runs_that_do_not_differ_say_nothing():
    found = optimality_gap_interval(np.full((10, 3), 2.0))
    assert (found.lower, found.upper, found.value) == (0, math.inf, 0)
    assert found.guarantee.startswith(cannot_tell(""))


def draws(shape, source, runs, tasks=6):
    u = source.random((runs, tasks))
    t = np.arange(tasks)
    return {
        "uniform": t / 4 + u,
        "ties": np.floor(5 * u) / 4 + t // 2,
        "skewed": (1 + t / 4) * gammaincinv(2, u),
        "failing": np.where(u < 0.1 + t / 20, 0, 0.5 + u / 2),
    }[shape]


SHAPES = ["uniform", "ties", "skewed", "failing"]


class Grid:
    """Stands in for a generator: every run is one of many equal parts."""

    @staticmethod
    def random(shape):
        return np.tile((np.arange(shape[0]) + 0.5)[:, None] / shape[0], (1, shape[1]))


def coverage(find, value, shape, runs, reps):
    truth = value(draws(shape, Grid, 40_000))
    source, hits = rng(runs), 0
    for _ in range(reps):
        found = find(draws(shape, source, runs))
        hits += found.lower - 1e-4 <= truth <= found.upper + 1e-4
    return hits


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("find", "value"), list(zip(INTERVALS, VALUES, strict=True)))
def test_it_covers_as_often_as_it_says(shape, find, value):
    hits = coverage(find, value, shape, 20, 300)
    assert binomtest(hits, 300, 0.93, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("runs", [3, 5, 20, 100])
@pytest.mark.parametrize(
    ("find", "value"), list(zip(INTERVALS[:2], VALUES[:2], strict=True))
)
def test_it_covers_as_often_as_it_says_from_three_runs_on(shape, runs, find, value):
    hits = coverage(find, value, shape, runs, 2000)
    assert binomtest(hits, 2000, 0.93, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_bootstrap_covers_as_often_as_it_says_from_twenty_runs_on(shape):
    source = rng(6)

    def find(z):
        return iqm_bootstrap(z, resamples=400, rng=source)

    hits = coverage(find, iqm, shape, 20, 1000)
    assert binomtest(hits, 1000, 0.93, alternative="less").pvalue > 1e-6


def test_forgetting_the_tasks_would_more_than_double_the_length():
    """The negative control: what tasks differ by is not chance."""
    blind, hits = [], 0
    source = rng(7)
    for _ in range(200):
        z = draws("uniform", source, 20) + np.arange(6)
        found, pooled = mean_over_tasks_interval(z), z.reshape(-1, 1)
        alone = mean_over_tasks_interval(pooled)
        blind.append(alone.half_width / found.half_width)
        hits += alone.lower <= np.arange(6).mean() * 1.25 + 0.5 <= alone.upper
    assert min(blind) > 2
    assert hits == 200  # at nominal 95 %


def test_few_runs_are_warned_of():
    with pytest.warns(CurvewiseWarning, match=r"\b2 runs\b"):
        iqm_interval([[1, 2], [3, 4, 5]])
    with pytest.warns(CurvewiseWarning, match=r"\b20\b"):
        iqm_bootstrap(scores(runs=19), rng=rng())
    with pytest.warns(CurvewiseWarning, match=r"\b23 scores\b"):
        iqm_interval(rng().random((23, 1)))
    with pytest.warns(CurvewiseWarning, match=r"\b39 scores\b"):
        mean_over_tasks_interval(rng().random((13, 3)))
    short = np.r_[np.linspace(0, 0.4, 39), np.ones(100)]
    with pytest.warns(CurvewiseWarning, match=r"\b39 runs\b"):
        optimality_gap_interval(short[:, None], 0.5)


def test_enough_scores_of_all_tasks_are_not_warned_of():
    short = np.r_[np.linspace(0, 0.4, 40), np.ones(100)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        iqm_interval(rng().random((24, 1)))
        iqm_interval(rng().random((3, 8)))
        mean_over_tasks_interval(rng().random((4, 10)))
        optimality_gap_interval(short[:, None], 0.5)


def test_it_says_what_it_is():
    found = optimality_gap_interval(scores(), 0.5)
    assert found.estimand.startswith("mean shortfall from 0.5")
    assert found.guarantee == asymptotic(0.95, "closed form, stratified by task")


@pytest.mark.parametrize(
    ("call", "argument", "value"),
    [
        (lambda: iqm(np.arange(3.0)), "scores", (3,)),
        (lambda: iqm([]), "scores", []),
        (lambda: iqm({}), "scores", {}),
        (lambda: iqm([[1], []]), "scores", 1),
        (lambda: iqm({"Pong": [np.inf]}), "scores", "Pong"),
        (lambda: optimality_gap([[1]], "x"), "target", "x"),
        (lambda: iqm_interval([[1, 2]], confidence=0), "confidence", 0),
        (lambda: iqm_bootstrap([[1, 2]], rng=None), "rng", None),
        (lambda: iqm_bootstrap([[1, 2]], resamples=9, rng=rng()), "resamples", 9),
    ],
)
def test_bad_input_is_named(call, argument, value):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert (refused.value.argument, refused.value.value) == (argument, value)


@pytest.mark.parametrize(
    "values", [[[1.0, 2, 3, 10]], [[1.0, 2, 3, 10, 11], [0, 5, 7, 7.5]]]
)
def test_iqm_turns_round_with_the_scores(values):
    found, turned = (
        iqm_interval(values),
        iqm_interval([[-z for z in t] for t in values]),
    )
    assert (turned.lower, turned.upper) == pytest.approx((-found.upper, -found.lower))


@pytest.mark.parametrize("shape", [(24, 1), (12, 2), (3, 8)])
def test_iqm_of_few_scores_holds_from_where_it_is_not_warned_of(shape):
    source, reps = rng(4), 600
    hits = sum(0.5 in iqm_interval(source.random(shape)) for _ in range(reps))
    assert binomtest(hits, reps, 0.95, alternative="less").pvalue > 1e-6


def test_five_scores_would_not_have_done():
    source, reps = rng(4), 600
    hits = sum(0.5 in iqm_interval(source.random((5, 1))) for _ in range(reps))
    assert binomtest(hits, reps, 0.95, alternative="less").pvalue < 1e-6


@pytest.mark.parametrize("scores", [None, 5])
def test_what_is_no_table_of_scores_is_named(scores):
    with pytest.raises(ValueError, match=rf"Scores are {scores}\. Pass one array of"):
        iqm(scores)
    with pytest.raises(CurvewiseError) as refused:
        optimality_gap([[1, 2]], None)
    assert refused.value.argument == "target"
