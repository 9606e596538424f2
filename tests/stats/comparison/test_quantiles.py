from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binomtest

from curvewise.errors import CurvewiseError, CurvewiseWarning
from curvewise.stats.bands import cdf_band
from curvewise.stats.bounds import order_statistics
from curvewise.stats.comparison import (
    Settled,
    dominance,
    quantile_shift,
    shared_confidence,
    where_better,
)
from curvewise.stats.comparison.quantiles import JointSteps, resampled_violations
from curvewise.stats.distribution import quantile
from curvewise.stats.interval import (
    APART,
    CurveBand,
    asymptotic,
    cannot_tell,
    few,
    finite_sample,
    looks,
)

pytestmark = pytest.mark.filterwarnings("ignore::curvewise.errors.CurvewiseWarning")

samples = st.lists(st.integers(-9, 9), min_size=1, max_size=9)


def rng(seed=0):
    return np.random.default_rng(seed)


def violation(a, b):
    a, b = np.sort(np.array(a, dtype=float)), np.sort(np.array(b, dtype=float))
    return float(JointSteps.of(len(a), len(b)).violation(a, b))


@given(samples, samples)
def test_the_integral_is_exact(a, b):
    """A fine grid of midpoints of n * m cells never meets a breakpoint."""
    cells = len(a) * len(b)
    p = (np.arange(cells) + 0.5) / cells
    gap = quantile(a, p) - quantile(b, p)
    total = (gap**2).sum()
    expected = 0.5 if total == 0 else (np.minimum(gap, 0) ** 2).sum() / total
    assert violation(a, b) == pytest.approx(expected, abs=1e-12)


@given(samples, samples)
def test_two_orders_share_what_there_is(a, b):
    assert violation(a, b) + violation(b, a) == pytest.approx(1)
    moved = 3 * np.array(a) + 1, 3 * np.array(b) + 1
    assert violation(*moved) == pytest.approx(violation(a, b))


def test_known_values():
    assert violation([2, 3], [1, 2]) == 0
    assert violation([0, 3], [1, 2]) == 0.5
    assert violation([0, 4], [1, 2]) == pytest.approx(1 / 5)
    # Steps at 1/3, 1/2 and 2/3: gaps -1 (1/3), 1 (1/6), 0 (1/6), 1 (1/3).
    assert violation([0, 2, 3], [1, 2]) == pytest.approx((1 / 3) / (5 / 6))


def test_resamples_are_what_a_loop_would_draw():
    """Their mean and spread, against draws one by one."""
    a, b = np.sort(rng(1).normal(0.3, 2, 30)), np.sort(rng(2).normal(0, 1, 20))
    batched = resampled_violations(JointSteps.of(30, 20), a, b, 4000, rng(3))
    loop = rng(4)
    slow = [violation(loop.choice(a, 30), loop.choice(b, 20)) for _ in range(4000)]
    error = np.hypot(batched.std(), np.std(slow)) / np.sqrt(4000)
    assert abs(batched.mean() - np.mean(slow)) < 5 * error
    assert batched.std() == pytest.approx(np.std(slow), rel=0.08)


def test_batches_bound_the_memory(monkeypatch):
    """The same numbers, whether drawn in one batch or in many."""
    a, b = rng(1).normal(0.3, 2, 30), rng(2).normal(0, 1, 30)
    whole = dominance(a, b, rng=rng(5))
    module = import_module("curvewise.stats.comparison.quantiles")
    monkeypatch.setattr(module, "_BATCH", 600)
    parts = dominance(a, b, rng=rng(5))
    assert parts.upper == pytest.approx(whole.upper, abs=5 * whole.monte_carlo_error)


def test_one_trial_says_nothing():
    """A peer calls one run against five significant."""
    found = dominance([9], [1, 2, 3, 4, 5], rng=rng())
    assert (found.lower, found.upper, found.value) == (0, 1, 0)
    assert found.guarantee == cannot_tell(few(1, 5))


def test_samples_that_do_not_differ_say_nothing():
    found = dominance([1, 2, 3], [3, 1, 2], rng=rng())
    assert (found.lower, found.upper, found.value) == (0, 1, 0.5)
    assert found.guarantee.startswith(cannot_tell(""))


@pytest.mark.parametrize("n", [2, 4, 5, 100])
def test_separated_samples_are_not_certain(n):
    """Every resample is separated too; what may have gone unseen is not."""
    found = dominance(np.arange(n) + n, np.arange(n), rng=rng())
    assert found.value == 0
    assert found.upper == pytest.approx(1 - 0.05 ** (1 / n))
    assert (found.upper < 0.5) == (n >= 5)


def test_more_comparisons_give_a_wider_bound():
    """A peer's Bonferroni goes the other way."""
    a, b = rng(1).normal(0.3, 1, 80), rng(2).normal(0, 1.5, 80)
    bounds = [
        dominance(
            a, b, confidence=shared_confidence(0.95, k), resamples=4000, rng=rng(3)
        ).upper
        for k in (1, 2, 10)
    ]
    assert bounds[0] < bounds[1] < bounds[2]


def test_the_error_that_resamples_leave_is_stated():
    a, b = rng(1).normal(0.3, 2, 60), rng(2).normal(0, 1, 60)
    found = [dominance(a, b, resamples=300, rng=rng(s)) for s in range(60)]
    spread = np.std([f.upper for f in found], ddof=1)
    stated = np.mean([f.monte_carlo_error for f in found])
    assert 0.5 * spread < stated < 2 * spread
    assert dominance(a, b, resamples=30_000, rng=rng()).monte_carlo_error < stated / 5


def test_the_same_generator_gives_the_same_answer():
    a, b = rng(1).normal(0.3, 2, 60), rng(2).normal(0, 1, 60)
    assert dominance(a, b, rng=rng(9)) == dominance(a, b, rng=rng(9))


# Quantile functions that cross.
CROSSING = {
    "uniform": (lambda u: u, lambda u: 0.2 + 0.4 * u),
    "normal": (lambda u: 0.3 + 2 * ndtri(u), ndtri),
    "ties": (lambda u: np.floor(3 * u) + 1, lambda u: 0.8 * np.floor(6 * u)),
    "failing": (
        lambda u: np.where(u < 0.1, 0, 0.8 + (u - 0.1) / 9),
        lambda u: 0.6 + 0.2 * u,
    ),
}


def truth(case):
    u = (np.arange(500_000) + 0.5) / 500_000
    gap = CROSSING[case][0](u) - CROSSING[case][1](u)
    return (np.minimum(gap, 0) ** 2).sum() / (gap**2).sum()


def coverage(case, n, reps):
    """Return how often the bound holds, and how often the paper's normal one does."""
    (a, b), true, source = CROSSING[case], truth(case), rng(n)
    ours = papers = 0
    for _ in range(reps):
        x, y = np.sort(a(source.random(n))), np.sort(b(source.random(n)))
        ours += dominance(x, y, resamples=300, rng=source).upper >= true
        ratios = resampled_violations(JointSteps.of(n, n), x, y, 300, source)
        papers += violation(x, y) + 1.6449 * ratios.std() >= true
    return ours, papers


def test_the_bound_holds_where_the_papers_own_does_not():
    """The negative control: a normal bound is too low where the ratio is skewed."""
    ours, papers = coverage("normal", 60, 400)
    assert binomtest(ours, 400, 0.93, alternative="less").pvalue > 1e-6
    assert papers < ours - 8


@pytest.mark.slow
@pytest.mark.parametrize("case", CROSSING)
@pytest.mark.parametrize("n", [50, 100, 300])
def test_the_bound_holds_as_often_as_it_says(case, n):
    ours, _ = coverage(case, n, 1000)
    assert binomtest(ours, 1000, 0.93, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 20, 100])
def test_equal_distributions_are_seldom_called_ordered(n):
    """A bound below one half, where neither dominates."""
    source = rng(n)
    false = sum(
        dominance(*source.random((2, n)), resamples=200, rng=source).upper < 0.5
        for _ in range(1000)
    )
    assert binomtest(false, 1000, 0.1, alternative="greater").pvalue > 1e-6


def test_few_trials_are_warned_of():
    with pytest.warns(CurvewiseWarning, match=r"\b49 trials\b"):
        dominance(range(49), range(60), rng=rng())


def test_it_says_what_it_is():
    found = dominance(range(60), range(1, 61), rng=rng())
    name = "one-sided bootstrap, 1000 resamples"
    assert found.guarantee == asymptotic(0.95, name, APART)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: dominance([1, 2], [1], rng=3), "rng"),
        (lambda: dominance([1, 2], [1, 3], resamples=10, rng=rng()), "resamples"),
        (lambda: dominance([1, 2], [1, 3], resamples=0.5, rng=rng()), "resamples"),
        (lambda: dominance([], [1], rng=rng()), "scores a"),
        (lambda: dominance([1, 2], [1, 3], confidence=1, rng=rng()), "confidence"),
    ],
)
def test_bad_input_is_named(call, argument):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert refused.value.argument == argument


@pytest.mark.parametrize(
    ("a", "b"), [([1.0] * 60, [1.0] * 61), ([1.0, 2.0] * 30, [1.0, 2.0] * 40)]
)
def test_equal_samples_of_any_sizes_cannot_tell(a, b):
    found = dominance(a, b, rng=rng())
    assert (found.lower, found.upper, found.value) == (0, 1, 0.5)
    assert found.guarantee.startswith(cannot_tell(""))


# --- Shift ----------------------------------------------------------------------------

P = np.arange(1, 100) / 100


def test_it_is_the_difference_of_two_bands():
    rng = np.random.default_rng(1)
    a, b = rng.random(80) ** 0.5, rng.random(50)
    found = quantile_shift(a, b, P, support=(0, 1))
    one, other = (cdf_band(z, confidence=0.975, support=(0, 1)) for z in (a, b))
    assert found.at.tolist() == P.tolist()
    assert found.value.tolist() == (quantile(a, P) - quantile(b, P)).tolist()
    assert found.lower.tolist() == (one.quantile(P)[0] - other.quantile(P)[1]).tolist()
    assert found.upper.tolist() == (one.quantile(P)[1] - other.quantile(P)[0]).tolist()
    assert (found.lower <= found.value).all()
    assert (found.value <= found.upper).all()


def test_open_tails_are_infinite_and_never_nan():
    found = quantile_shift([1, 2], [3, 4], [0, 0.5, 1])
    assert np.isneginf(found.lower).all()
    assert np.isposinf(found.upper).all()


def test_one_trial_settles_nothing():
    assert where_better(quantile_shift([9], [1, 2, 3, 4, 5] * 9, P)) == []


def test_it_says_where_who_is_better():
    """The best half of A is better, the worst tenth is worse; the rest is open."""
    p = np.arange(1000) / 1000
    a = np.where(p < 0.2, -2, np.where(p < 0.5, 0, 1))
    b = np.zeros(1000)
    found = where_better(quantile_shift(a, b, P))
    assert [r.better for r in found] == ["b", "a"]
    assert found[0].stop < 0.2
    assert found[1].start > 0.5


def test_ranges_are_read_off_the_band():
    at = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    lower = np.array([-2.0, -2, 0, 0.1, 0.2])
    upper = np.array([-1.0, -1, 1, 1, 1])
    band = CurveBand(at, lower, lower, upper, "", "")
    assert where_better(band) == [Settled(0.1, 0.2, "b"), Settled(0.4, 0.5, "a")]


def covered(band, rng, n, reps):
    """Scores are uniform for A and half as large for B, so that the shift is p / 2."""
    hits = 0
    for _ in range(reps):
        lower, upper = band(rng.random(n), rng.random(n) / 2)
        hits += bool(((lower <= P / 2) & (upper >= P / 2)).all())
    return hits


def simultaneous(a, b):
    found = quantile_shift(a, b, P)
    return found.lower, found.upper


def pointwise(a, b):
    """At each quantile by itself, 95 % intervals of its difference by order statistics."""
    ranks = np.array([order_statistics(len(a), p, 0.975) for p in P]).T
    one, other = (np.r_[-np.inf, np.sort(z), np.inf] for z in (a, b))
    return one[ranks[0]] - other[ranks[1]], one[ranks[1]] - other[ranks[0]]


def test_all_quantiles_are_covered_at_once():
    rng = np.random.default_rng(2)
    hits = covered(simultaneous, rng, 30, 400)
    assert binomtest(hits, 400, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 20, 100, 2000])
def test_all_quantiles_are_covered_at_once_at_any_number_of_trials(n):
    hits = covered(simultaneous, np.random.default_rng(n), n, 2000)
    assert binomtest(hits, 2000, 0.95, alternative="less").pvalue > 1e-6


def test_pointwise_intervals_are_narrower_and_would_miss_more_often():
    """The negative control."""
    rng = np.random.default_rng(3)
    a, b = rng.random(200), rng.random(200) / 2
    (low, high), (lowest, highest) = pointwise(a, b), simultaneous(a, b)
    assert (high - low)[49] < (highest - lowest)[49]
    strict = covered(simultaneous, np.random.default_rng(4), 200, 200)
    loose = covered(pointwise, np.random.default_rng(4), 200, 200)
    assert loose < strict - 4


def test_two_curves_that_cross_are_not_called_one_sided():
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(200):
        a, b = rng.normal(0, 3, 300), rng.normal(0, 1, 300)  # better from the median on
        for found in where_better(quantile_shift(a, b, P)):
            true = found.start > 0.5 if found.better == "a" else found.stop < 0.5
            wrong += not true
    assert wrong / 200 < 0.05


def test_it_says_what_it_is_of_shifts():
    found = quantile_shift([1, 2, 3], [1, 2, 3], 0.5, kind="anytime")
    assert found.guarantee.startswith(finite_sample(0.95, "trials"))
    assert looks("anytime") in found.guarantee
    assert found.guarantee.endswith("(two anytime bands)")


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: quantile_shift([1], [1], [2]), "p"),
        (lambda: quantile_shift([1], [], P), "scores b"),
        (lambda: quantile_shift([1], [1], P, confidence=2), "confidence"),
        (lambda: quantile_shift([1], [1], P, kind="x"), "kind"),
    ],
)
def test_bad_input_is_named_of_shifts(call, argument):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert refused.value.argument == argument


def test_nothing_asked_is_nothing_settled():
    assert where_better(quantile_shift([1, 2], [1, 2], [])) == []


def test_unsorted_shares_are_refused():
    with pytest.raises(CurvewiseError) as refused:
        where_better(quantile_shift([1, 2], [1, 2], [0.5, 0.2]))
    assert refused.value.argument == "p"
    with pytest.raises(CurvewiseError) as refused:
        quantile_shift([1, 2], [1, 2], "a")
    assert refused.value.argument == "p"
