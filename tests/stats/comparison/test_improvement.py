import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import said_by
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr
from scipy.stats import binom, binomtest, brunnermunzel, multinomial, ranksums, t

from curvewise.errors import CurvewiseError, CurvewiseWarning
from curvewise.stats.comparison import (
    improvement_over_tasks,
    probability_of_improvement,
)
from curvewise.stats.comparison.improvement import (
    binomial_cvar,
    convex,
    signs,
    two_binomials,
)
from curvewise.stats.distribution import cvar
from curvewise.stats.interval import APART, asymptotic, cannot_tell, few, finite_sample

pytestmark = pytest.mark.filterwarnings("ignore::curvewise.errors.CurvewiseWarning")

samples = st.lists(st.integers(-5, 5), min_size=2, max_size=12)


def wins(a, b):
    """The definition: every pair, ties one half."""
    return np.mean((np.sign(np.subtract.outer(a, b)) + 1) / 2)


@given(samples, samples, st.sampled_from(["asymptotic", "guaranteed"]))
def test_it_counts_pairs_and_turns_round_with_the_algorithms(a, b, method):
    found = probability_of_improvement(a, b, method=method)
    turned = probability_of_improvement(b, a, method=method)
    assert found.value == pytest.approx(wins(a, b))
    assert 0 <= found.lower <= found.value <= found.upper <= 1
    assert found.lower < found.upper
    assert turned.lower == pytest.approx(1 - found.upper, abs=1e-9)
    assert turned.upper == pytest.approx(1 - found.lower, abs=1e-9)


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=2, max_size=12),
    st.sampled_from(["asymptotic", "guaranteed"]),
)
def test_pairs_turn_round_too(pairs, method):
    a, b = zip(*pairs, strict=True)
    found = probability_of_improvement(a, b, paired=True, method=method)
    turned = probability_of_improvement(b, a, paired=True, method=method)
    assert found.value == pytest.approx(np.mean((np.sign(np.subtract(a, b)) + 1) / 2))
    assert 0 <= found.lower <= found.value <= found.upper <= 1
    assert found.lower < found.upper
    assert turned.upper == pytest.approx(1 - found.lower, abs=1e-9)


def test_only_the_order_of_scores_matters():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.5, 1, 30), rng.normal(0, 2, 25)
    plain = probability_of_improvement(a, b)
    bent = probability_of_improvement(np.exp(a), np.exp(b))
    assert (plain.lower, plain.upper) == (bent.lower, bent.upper)


def test_the_standard_error_is_that_of_brunner_and_munzel():
    """Our limits are where their statistic, on the scale of a share, is t."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.8, 1, 25), rng.normal(0, 2, 40)
    found = probability_of_improvement(a, b)
    theirs = brunnermunzel(a, b)
    error = abs((found.value - 0.5) / theirs.statistic)
    df = brentq(  # the degrees of freedom that give their p-value
        lambda df: 2 * t.sf(abs(theirs.statistic), df) - theirs.pvalue, 20, 70
    )
    for end in (found.lower, found.upper):
        shape = end * (1 - end) / (found.value * (1 - found.value))
        away = abs(found.value - end) / (error * np.sqrt(shape))
        assert away == pytest.approx(t.ppf(0.975, df), rel=1e-4)


def test_separated_samples_give_no_point():
    """Five wins in five disjoint pairs allow any probability above .025^(1/5)."""
    found = probability_of_improvement([6, 7, 8, 9, 10], [1, 2, 3, 4, 5])
    assert (found.lower, found.upper) == (pytest.approx(0.025**0.2), 1)
    assert found.lower < 0.5  # five trials are never significant
    tied = probability_of_improvement([1] * 5, [1] * 5)
    assert tied.lower == pytest.approx(0.05**0.2 / 2)
    assert tied.upper == pytest.approx(1 - 0.05**0.2 / 2)


def test_who_lost_once_is_not_known_to_be_better_than_who_never_lost():
    rng = np.random.default_rng(0)
    a, b = 3 + rng.random(20), rng.random(200)
    never = probability_of_improvement(a, b)
    once = probability_of_improvement(a, np.r_[b, 3.5])
    assert once.lower <= never.lower


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("method", ["asymptotic", "guaranteed"])
def test_one_trial_says_nothing(paired, method):
    found = probability_of_improvement([9], [1], paired=paired, method=method)
    assert (found.lower, found.upper, found.value) == (0, 1, 1)
    assert found.guarantee == cannot_tell(few(1, 1))


def test_without_ties_pairs_have_wilsons_interval():
    a = np.r_[np.ones(15), np.zeros(5)]
    found = probability_of_improvement(a, 1 - a, paired=True)
    wilson = binomtest(15, 20).proportion_ci(method="wilson")
    assert (found.lower, found.upper) == pytest.approx((wilson.low, wilson.high))


@pytest.mark.parametrize(("won", "tied", "n"), [(8, 5, 20), (12, 7, 20), (0, 5, 20)])
def test_ties_of_pairs_are_scored_as_by_tango(won, tied, n):
    """At a limit, the best fitting chance of losing leaves the wins 1.96 sigma away."""
    lost = n - won - tied

    def misfit(end):
        gap = 2 * end - 1

        def unlikely(q):
            return -(
                won * np.log(max(q + gap, 1e-300))
                + lost * np.log(max(q, 1e-300))
                + tied * np.log(max(1 - 2 * q - gap, 1e-300))
            )

        ends = (max(0, -gap) + 1e-12, (1 - gap) / 2 - 1e-12)
        options = {"xatol": 1e-12}
        q = minimize_scalar(unlikely, bounds=ends, method="bounded", options=options).x
        return (won - lost - n * gap) / np.sqrt(n * (2 * q + gap - gap**2))

    lower, upper = signs(won, tied, n, 0.95)
    assert misfit(lower) == pytest.approx(1.959964, abs=1e-3)
    assert misfit(upper) == pytest.approx(-1.959964, abs=1e-3)


@pytest.mark.parametrize(("n", "theta"), [(5, 0.3), (20, 0.5), (200, 0.01)])
def test_the_cvar_of_a_binomial_is_its_cvar(n, theta):
    x = np.arange(n + 1)
    pmf = binom.pmf(x, n, theta)
    copies = np.repeat(x, np.rint(1e6 * pmf).astype(int))
    expected = cvar(copies, 0.975)
    assert binomial_cvar(n, theta, 0.025) == pytest.approx(expected, abs=0.01)


def test_the_guaranteed_interval_is_narrower_than_hoeffdings():
    lower, upper = convex(0.5, 100, 0.95)
    hoeffding = np.sqrt(np.log(40) / 200)
    assert upper - lower < 0.9 * 2 * hoeffding


def shares_of_misses(limits, n):
    """Exact miss rates of paired limits on a grid of chances to win and to tie."""
    outcomes = [(w, d) for w in range(n + 1) for d in range(n + 1 - w)]
    ends = np.array([limits(w, d, n, 0.95) for w, d in outcomes])
    counts = np.array([(w, d, n - w - d) for w, d in outcomes])
    misses = []
    for tie in np.linspace(0, 0.9, 7):
        for win in np.linspace(0, 1 - tie, 60):
            theta = win + tie / 2
            p = multinomial.pmf(counts, n, [win, tie, max(1 - win - tie, 0)])
            outside = (ends[:, 0] > theta + 1e-9) | (theta - 1e-9 > ends[:, 1])
            misses.append(p[outside].sum())
    return np.array(misses)


@pytest.mark.parametrize("n", [2, 5, 12])
def test_guaranteed_pairs_never_miss_more_often_than_they_say(n):
    """Counted over all outcomes: no simulation, no tolerance."""
    assert shares_of_misses(two_binomials, n).max() <= 0.05


def test_the_score_interval_would_not_pass_that():
    """The negative control, and why there is a warning below 20 pairs."""
    assert shares_of_misses(signs, 12).max() > 0.07


@pytest.mark.parametrize("k", [2, 7, 40])
def test_guaranteed_coins_never_miss_more_often_than_they_say(k):
    won = np.arange(k + 1)
    ends = np.array([convex(w / k, k, 0.95) for w in won])
    for theta in np.linspace(0.001, 0.999, 150):
        outside = (ends[:, 0] > theta) | (theta > ends[:, 1])
        assert binom.pmf(won[outside], k, theta).sum() <= 0.05


# Shapes by their quantile functions, with the truth of A against B.
CASES = {
    "same": (lambda u: u, lambda u: u, 0.5),
    "shifted": (lambda u: u + 0.4, lambda u: u, 1 - 0.6**2 / 2),
    "other scale": (lambda u: (u - 0.5) ** 3, lambda u: u - 0.5, 0.5),
    "ties": (lambda u: np.floor(4 * u), lambda u: np.floor(3 * u), 0.625),
    "failing": (
        lambda u: np.where(u < 0.1, 0, 1 + u),
        lambda u: np.where(u < 0.3, 0, 1 + (u - 0.3) * 0.9 / 0.7 + 0.1),
        0.1 * 0.3 / 2 + 0.9 * 0.3 + 0.9 * 0.7 / 2,
    ),
}


def coverage(case, n, m, method, reps, seed=0):
    a, b, truth = CASES[case]
    rng = np.random.default_rng([seed, n, m])
    hits = 0
    for _ in range(reps):
        found = probability_of_improvement(
            a(rng.random(n)), b(rng.random(m)), method=method
        )
        hits += found.lower - 1e-9 <= truth <= found.upper + 1e-9
    return hits


@pytest.mark.parametrize("case", CASES)
def test_it_covers_as_often_as_it_says(case):
    hits = coverage(case, 20, 30, "asymptotic", 800)
    assert binomtest(hits, 800, 0.93, alternative="less").pvalue > 1e-6
    hits = coverage(case, 15, 10, "guaranteed", 200)
    assert binomtest(hits, 200, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("n", "m"), [(5, 5), (10, 50), (20, 20), (100, 100)])
def test_it_covers_as_often_as_it_says_everywhere(case, n, m):
    hits = coverage(case, n, m, "asymptotic", 2000)
    assert binomtest(hits, 2000, 0.93, alternative="less").pvalue > 1e-6
    hits = coverage(case, n, m, "guaranteed", 2000)
    assert binomtest(hits, 2000, 0.95, alternative="less").pvalue > 1e-6


def test_the_rank_sum_test_would_have_failed_where_scales_differ():
    """The negative control: it tests for equal distributions, not for one half."""
    rng = np.random.default_rng(4)
    classical = ours = 0
    for _ in range(600):
        a, b = rng.normal(0, 5, 10), rng.normal(0, 1, 60)
        classical += ranksums(a, b).pvalue < 0.05
        found = probability_of_improvement(a, b)
        ours += not found.lower <= 0.5 <= found.upper
    assert classical / 600 > 0.1
    assert ours / 600 < 0.08


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 20, 100])
@pytest.mark.parametrize("paired", [False, True])
def test_it_calls_nothing_an_improvement_too_often(n, paired):
    """4,000 pairs of samples of the same distribution; 7 % is coverage .93."""
    rng = np.random.default_rng(n)
    found = [
        probability_of_improvement(rng.random(n), rng.random(n), paired=paired)
        for _ in range(4000)
    ]
    false = sum(not f.lower <= 0.5 <= f.upper for f in found)
    assert binomtest(false, 4000, 0.07, alternative="greater").pvalue > 1e-6


def test_few_trials_are_warned_of():
    with pytest.warns(CurvewiseWarning, match=r"\b9 trials\b"):
        probability_of_improvement(range(9), range(20))
    with pytest.warns(CurvewiseWarning, match=r"\b19 \w+ .*\b20\b"):
        probability_of_improvement(range(19), range(19), paired=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        probability_of_improvement(range(10), range(20))
        probability_of_improvement(range(5), range(5), method="guaranteed")


def test_it_says_what_it_is():
    found = probability_of_improvement(range(20), range(20))
    assert found.guarantee == asymptotic(0.95, "studentised placements", APART)
    apart = probability_of_improvement(range(20), range(20), method="guaranteed")
    assert apart.guarantee.endswith(f"{APART} (binomial CVaR)")
    sure = probability_of_improvement(
        range(20), range(20), method="guaranteed", confidence=0.995, paired=True
    )
    assert sure.estimand != found.estimand
    assert sure.guarantee.startswith(finite_sample(0.995, "trials"))
    assert sure.guarantee.endswith("(two exact binomials)")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: probability_of_improvement([1, 2], [1], paired=True),
            ("paired", {"paired": False}),
        ),
        (lambda: probability_of_improvement([], [1]), ("scores a",)),
        (lambda: probability_of_improvement([1, 2], [1, np.nan]), ("scores b",)),
        (
            lambda: probability_of_improvement([1, 2], [1, 2], method="exact"),
            ("method",),
        ),
        (
            lambda: probability_of_improvement([1, 2], [1, 2], confidence=95),
            ("confidence",),
        ),
    ],
)
def test_bad_input_is_named(call, expected):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert said_by(refused.value) == expected


def test_one_tie_among_a_million_is_no_tie():
    """The variance of placements is 1e-25, and the value all but 1."""
    n = 1_000_000
    found = probability_of_improvement(np.arange(n) + n - 1.0, np.arange(n) * 1.0)
    assert 0.99999 < found.lower <= found.value < 1
    assert found.lower == pytest.approx(0.025 ** (1 / n), abs=1e-12)


def test_a_small_sample_that_ties_is_not_taken_for_certain():
    a, b = [0.0] * 10, [0.0] * 180 + [1.0] * 20
    found = probability_of_improvement(a, b)
    unseen = 1 - 0.025**0.1  # of A, each of which may be a half better
    assert found.value == 0.45
    assert found.upper > 0.45 + 0.4 * unseen
    turned = probability_of_improvement(b, a)
    assert (turned.lower, turned.upper) == pytest.approx(
        (1 - found.upper, 1 - found.lower)
    )


@pytest.mark.parametrize(
    ("n", "share_a", "m", "share_b"),
    [
        (20, 0.05, 1000, 0.05),  # .633 with the variance of the placements alone
        (10, 0.03, 200, 0.01),  # .361
        (10, 0.9, 40, 0.95),  # .696
        (20, 0.17, 1000, 0.17),
        (10, 0.5, 100, 0.5),
    ],
)
def test_it_covers_where_a_small_sample_ties(n, share_a, m, share_b):
    rng, hits, reps = np.random.default_rng(1), 0, 600
    truth = 0.5 + (share_a - share_b) / 2
    for _ in range(reps):
        a, b = rng.random(n) < share_a, rng.random(m) < share_b
        hits += truth in probability_of_improvement(a.astype(float), b.astype(float))
    assert binomtest(hits, reps, 0.95, alternative="less").pvalue > 1e-6


def test_a_confidence_next_to_1_has_an_interval():
    rng = np.random.default_rng(1)
    found = probability_of_improvement(*rng.random((2, 50)), confidence=1 - 1e-16)
    assert 0 < found.lower < 0.25
    assert 0.75 < found.upper < 1


# --- Improvement over tasks -----------------------------------------------------------

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
    assert found.guarantee.startswith(cannot_tell(""))


def coverage_over_tasks(method, paired, runs, reps, tasks=6, correlation=0.0):
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


def test_it_covers_as_often_as_it_says_over_tasks():
    hits = coverage_over_tasks("asymptotic", False, 10, 300)
    assert binomtest(hits, 300, 0.93, alternative="less").pvalue > 1e-6
    hits = coverage_over_tasks("guaranteed", False, 10, 200)
    assert binomtest(hits, 200, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("runs", [3, 5, 20, 100])
@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_it_covers_as_often_as_it_says_from_three_runs_on(runs, correlation):
    paired = correlation > 0
    hits = coverage_over_tasks(
        "asymptotic", paired, runs, 2000, correlation=correlation
    )
    assert binomtest(hits, 2000, 0.93, alternative="less").pvalue > 1e-6
    hits = coverage_over_tasks(
        "guaranteed", paired, runs, 1000, correlation=correlation
    )
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
    with pytest.warns(CurvewiseWarning, match=r"\b2 runs\b"):
        improvement_over_tasks([[1, 2]], [[1, 3]])


def test_it_says_what_it_is_over_tasks():
    a, b = pair(6)
    found = improvement_over_tasks(a, b, method="guaranteed")
    assert found.estimand.endswith("mean over 5 tasks")
    assert found.guarantee.startswith(finite_sample(0.95, "runs"))
    assert APART in found.guarantee
    assert APART in improvement_over_tasks(a, b).guarantee
    for method in ("guaranteed", "asymptotic"):
        paired = improvement_over_tasks(a, b, paired=True, method=method)
        assert APART not in paired.guarantee


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: improvement_over_tasks({"x": [1]}, {"y": [1]}), ("b",)),
        (lambda: improvement_over_tasks([[1]], [[1], [2]]), ("b",)),
        (
            lambda: improvement_over_tasks([[1, 2]], [[1]], paired=True),
            ("paired", {"paired": False}),
        ),
        (lambda: improvement_over_tasks([[1, 2]], [[1, 2]], method="x"), ("method",)),
    ],
)
def test_bad_input_is_named_over_tasks(call, expected):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert said_by(refused.value) == expected


def test_one_tie_among_many_is_no_tie():
    n = 1_000_000
    found = improvement_over_tasks([np.arange(n) + n - 1.0], [np.arange(n) * 1.0])
    assert 0.99999 < found.lower <= found.value < 1


def test_it_covers_where_a_small_sample_ties_over_tasks():
    """At 95 %, .652 with the variance of the placements alone."""
    source, hits, reps = rng(1), 0, 600
    for _ in range(reps):
        a, b = source.random(10) < 0.1, source.random(100) < 0.1
        hits += 0.5 in improvement_over_tasks([a.astype(float)], [b.astype(float)])
    assert binomtest(hits, reps, 0.95, alternative="less").pvalue > 1e-6
