import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest

from curvewise.errors import CurvewiseWarning
from curvewise.stats.comparison import (
    improvement_over_tasks,
    probability_of_improvement,
)

pytestmark = pytest.mark.filterwarnings("ignore::curvewise.errors.CurvewiseWarning")

METHODS = ["asymptotic", "guaranteed"]


def rng(seed=0):
    return np.random.default_rng(seed)


def pair(seed, runs=20, tasks=5, gap=0.3):
    a, b = rng(seed).normal(size=(2, runs, tasks))
    return a + gap * np.arange(tasks), b


def test_it_is_the_mean_over_tasks():
    a, b = pair(1)
    for paired in (False, True):
        alone = [
            probability_of_improvement(x, y, paired=paired).value
            for x, y in zip(a.T, b.T, strict=True)
        ]
        found = improvement_over_tasks(a, b, paired=paired)
        assert found.value == pytest.approx(np.mean(alone))
        assert found.lower < found.value < found.upper


def test_one_task_is_the_plain_one():
    a, b = pair(2, runs=30, tasks=1)
    for method in METHODS:
        one = improvement_over_tasks(a, b, method=method)
        plain = probability_of_improvement(a[:, 0], b[:, 0], method=method)
        assert (one.lower, one.upper) == pytest.approx((plain.lower, plain.upper))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("paired", [False, True])
def test_it_turns_round_with_the_algorithms(method, paired):
    a, b = pair(3)
    found = improvement_over_tasks(a, b, method=method, paired=paired)
    turned = improvement_over_tasks(b, a, method=method, paired=paired)
    assert turned.lower == pytest.approx(1 - found.upper, abs=1e-9)


def test_tasks_are_matched_by_name():
    a, b = pair(4)
    names = list("vwxyz")
    one = dict(zip(names, a.T, strict=True))
    other = dict(reversed(list(zip(names, b.T, strict=True))))
    assert improvement_over_tasks(one, other) == improvement_over_tasks(a, b)


def test_tasks_that_are_always_won_are_not_certain():
    """Ten pairs of three tasks: 30 wins of 30 allow any mean above .025^(1/30)."""
    a, b = np.ones((10, 3)), np.zeros((10, 3))
    found = improvement_over_tasks(a, b)
    assert (found.lower, found.upper) == (pytest.approx(0.025 ** (1 / 30)), 1)
    half = improvement_over_tasks(np.c_[a, b], np.c_[b, a])
    assert half.value == 0.5
    assert half.half_width > 0.05
    tied = improvement_over_tasks(a, a)
    assert tied.lower < 0.5 < tied.upper


@pytest.mark.parametrize("method", METHODS)
def test_one_run_says_nothing(method):
    found = improvement_over_tasks([[1, 2], [3]], [[1, 2], [1, 2]], method=method)
    assert (found.lower, found.upper) == (0, 1)
    assert found.guarantee.startswith("cannot tell: one run of a task")


def coverage(method, paired, runs, reps, tasks=6, correlation=0.0):
    """Normal scores, one task after the other further apart."""
    gaps = 0.4 * np.arange(tasks)
    truth = ndtr(gaps / np.sqrt(2 * (1 - correlation))).mean()
    source, hits = rng(runs), 0
    for _ in range(reps):
        x, y, shared = source.normal(size=(3, runs, tasks))
        a = gaps + np.sqrt(1 - correlation) * x + np.sqrt(correlation) * shared
        b = np.sqrt(1 - correlation) * y + np.sqrt(correlation) * shared
        found = improvement_over_tasks(a, b, method=method, paired=paired)
        hits += found.lower <= truth <= found.upper
    return hits


def test_it_covers_as_often_as_it_says():
    hits = coverage("asymptotic", False, 10, 300)
    assert binomtest(hits, 300, 0.93, alternative="less").pvalue > 1e-6
    hits = coverage("guaranteed", False, 10, 200)
    assert binomtest(hits, 200, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("runs", [3, 5, 20, 100])
@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_it_covers_as_often_as_it_says_from_three_runs_on(runs, correlation):
    paired = correlation > 0
    hits = coverage("asymptotic", paired, runs, 2000, correlation=correlation)
    assert binomtest(hits, 2000, 0.93, alternative="less").pvalue > 1e-6
    hits = coverage("guaranteed", paired, runs, 1000, correlation=correlation)
    assert binomtest(hits, 1000, 0.95, alternative="less").pvalue > 1e-6


def test_comparing_across_tasks_would_answer_another_question():
    """The negative control: pooled over tasks, runs of one meet runs of another."""
    tasks = 4 * np.arange(5)
    a, b = pair(5, runs=50, gap=0)
    a = a + 1.5 + tasks
    b = b + tasks
    pooled = probability_of_improvement(a.ravel(), b.ravel())
    found = improvement_over_tasks(a, b)
    truth = ndtr(1.5 / np.sqrt(2))
    assert found.lower <= truth <= found.upper
    assert pooled.upper < truth


def test_few_runs_are_warned_of():
    with pytest.warns(
        CurvewiseWarning, match=r"rests on 2 runs of a task and may hold"
    ):
        improvement_over_tasks([[1, 2]], [[1, 3]])


def test_it_says_what_it_is():
    a, b = pair(6)
    found = improvement_over_tasks(a, b, method="guaranteed")
    assert found.estimand == (
        "P(A > B) + P(A = B) / 2 in runs of their own, mean over 5 tasks"
    )
    assert found.guarantee == (
        "at least 95% (finite-sample), for independent runs of any distribution, A "
        "independent of B (binomial CVaR over all tasks)"
    )
    assert "trials, A independent of B (" in improvement_over_tasks(a, b).guarantee
    for method in ("guaranteed", "asymptotic"):
        paired = improvement_over_tasks(a, b, paired=True, method=method)
        assert "independent of B" not in paired.guarantee


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: improvement_over_tasks({"x": [1]}, {"y": [1]}),
            r"Only one of a and b has the tasks x, y\. Pass scores of the same tasks",
        ),
        (
            lambda: improvement_over_tasks([[1]], [[1], [2]]),
            r"There are 1 tasks in a and 2 in b\. Pass scores of the same tasks",
        ),
        (
            lambda: improvement_over_tasks([[1, 2]], [[1]], paired=True),
            r"There are 2 scores a and 1 scores b\.",
        ),
        (
            lambda: improvement_over_tasks([[1, 2]], [[1, 2]], method="x"),
            r"method is 'x'\. Pass one of asymptotic, guaranteed",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_one_tie_among_many_is_no_tie():
    n = 1_000_000
    found = improvement_over_tasks([np.arange(n) + n - 1.0], [np.arange(n) * 1.0])
    assert 0.99999 < found.lower <= found.value < 1


def test_it_covers_where_a_small_sample_ties():
    """At 95 %, .652 with the variance of the placements alone."""
    source, hits, reps = rng(1), 0, 600
    for _ in range(reps):
        a, b = source.random(10) < 0.1, source.random(100) < 0.1
        hits += 0.5 in improvement_over_tasks([a.astype(float)], [b.astype(float)])
    assert binomtest(hits, reps, 0.95, alternative="less").pvalue > 1e-6
