import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import said_by
from scipy.stats import binomtest

from curvewise.errors import CurvewiseError
from curvewise.stats.bands import cdf_band
from curvewise.stats.bounds import mean_bounds
from curvewise.stats.distribution import quantile
from curvewise.stats.tuning import best_of, tuning_curve

SCORES = (0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
UNIT = (0.0, 1.0)
samples = st.lists(
    st.integers(-1000, 1000).map(lambda i: i / 8), min_size=1, max_size=30
)


def exact(scores, k, *, replace):
    """The formulas of the docstring in whole numbers, divided once."""
    ranks, n = range(1, len(scores) + 1), len(scores)
    if replace:
        weights, whole = [i**k - (i - 1) ** k for i in ranks], n**k
    else:
        weights, whole = [math.comb(i - 1, k - 1) for i in ranks], math.comb(n, k)
    assert sum(weights) == whole
    scaled = [int(Fraction(float(z)) * 2**200) for z in sorted(scores)]
    total = sum(w * z for w, z in zip(weights, scaled, strict=True))
    return float(Fraction(total, whole * 2**200))


# --- the estimate ---------------------------------------------------------------------


def test_every_subset_of_k_is_drawn():
    """Three of seven, all 35 of them; with replacement all 343."""
    z = [3.0, -1.0, 4.0, 1.5, 9.0, 2.0, 6.0]
    without = np.mean([max(some) for some in itertools.combinations(z, 3)])
    with_ = np.mean([max(some) for some in itertools.product(z, repeat=3)])
    assert best_of(z, 3) == pytest.approx(without)
    assert best_of(z, 3, replace=True) == pytest.approx(with_)


@given(samples, st.booleans(), st.data())
def test_the_expected_best_is_exact(scores, replace, data):
    k = data.draw(st.integers(1, len(scores)))
    found = best_of(scores, k, replace=replace)
    assert found == pytest.approx(exact(scores, k, replace=replace), abs=1e-10)


@pytest.mark.parametrize("replace", [False, True])
def test_a_thousand_of_two_thousand_are_as_good_as_three(replace):
    """C(2000, 1000) has 601 digits, more than a float can hold: it would overflow."""
    z = np.random.default_rng(0).lognormal(size=2000)
    with pytest.raises(OverflowError):
        float(math.comb(2000, 1000))
    k = np.array([1, 10, 1000, 2000])
    found = best_of(z, k, replace=replace)
    true = [exact(z, int(one), replace=replace) for one in k]
    np.testing.assert_allclose(found, true, rtol=1e-12)


@given(samples)
def test_the_best_of_one_is_the_mean_and_of_all_the_maximum(scores):
    assert best_of(scores, 1) == pytest.approx(np.mean(scores))
    assert best_of(scores, 1, replace=True) == pytest.approx(np.mean(scores))
    assert best_of(scores, len(scores)) == pytest.approx(max(scores))
    assert best_of(scores, 10**9, replace=True) == pytest.approx(max(scores))


@given(samples)
def test_more_trials_are_never_worse_and_replacement_is_never_better(scores):
    k = np.arange(1, len(scores) + 1)
    without, with_ = best_of(scores, k), best_of(scores, k, replace=True)
    assert (np.diff(without) >= -1e-9).all()
    assert (np.diff(with_) >= -1e-9).all()
    assert (with_ <= without + 1e-9).all()


def test_the_unbiased_one_has_no_bias_and_the_other_has():
    """Uniform: the best of 5 is 5/6 on average. 2,000 samples of 10."""
    rng = np.random.default_rng(3)
    z = rng.random((2000, 10))
    without = np.array([best_of(row, 5) for row in z])
    with_ = np.array([best_of(row, 5, replace=True) for row in z])
    reach = 5 * without.std() / math.sqrt(2000)
    assert abs(without.mean() - 5 / 6) < reach
    assert with_.mean() < 5 / 6 - 3 * reach


def test_a_quantile_of_the_best_of_k_is_a_higher_one_of_a_single_trial():
    assert best_of(SCORES, [1, 2, 5], quantile=0.5).tolist() == [
        quantile(SCORES, 0.5**p) for p in (1, 1 / 2, 1 / 5)
    ]
    # Half of all pairs of a fair die have no throw above 5: 25/36, but 16/36 none above 4.
    assert best_of(range(1, 7), 2, quantile=0.5) == 5


def test_budgets_keep_their_shape_and_may_come_in_any_order():
    k = np.array([[3, 1], [2, 7]])
    found = best_of(SCORES, k)
    assert found.shape == (2, 2)
    assert found[1, 1] == best_of(SCORES, 7)
    assert best_of(SCORES, []).shape == (0,)


# --- the band -------------------------------------------------------------------------


def test_the_band_at_one_trial_is_that_of_the_mean():
    found = tuning_curve(SCORES, 1, support=UNIT)
    lower, upper = mean_bounds(cdf_band(SCORES, support=UNIT))
    assert (found.lower[0], found.upper[0]) == pytest.approx((lower, upper))


@pytest.mark.parametrize("kind", ["kolmogorov", "dkw", "equal_local_levels"])
def test_the_band_is_the_expected_best_under_both_envelopes(kind):
    """Checked against E = high - integral of the CDF, on a grid that knows no weights."""
    at = np.linspace(0, 1, 200_001)
    low, high = cdf_band(SCORES, support=UNIT, kind=kind).cdf(at)
    found = tuning_curve(SCORES, [1, 3, 40], support=UNIT, kind=kind)
    for i, k in enumerate((1, 3, 40)):
        assert found.upper[i] == pytest.approx(1 - (low**k)[:-1].mean(), abs=2e-5)
        assert found.lower[i] == pytest.approx(1 - (high**k)[:-1].mean(), abs=2e-5)


@given(st.lists(st.integers(0, 64).map(lambda i: i / 64), min_size=1, max_size=25))
def test_the_curve_lies_inside_its_band_and_both_rise(scores):
    k = np.array([1, 2, 5, 30, 1000])
    for quantile_ in (None, 0.5, 0.1):
        found = tuning_curve(scores, k, quantile=quantile_, support=UNIT)
        assert (found.lower <= found.value + 1e-12).all()
        assert (found.value <= found.upper + 1e-12).all()
        assert (np.diff(np.c_[found.lower, found.value, found.upper].T) >= -1e-12).all()


def test_the_unbiased_curve_may_leave_the_band():
    """The negative control: this is why it is not the curve inside."""
    z = [0.0] * 9 + [1.0]
    found = tuning_curve(z, 10, support=UNIT, confidence=0.5)
    assert best_of(z, 10) > found.upper[0]
    assert found.value[0] < found.upper[0]


def test_it_says_what_it_is_and_stays_finite_at_a_thousand():
    z = np.random.default_rng(0).random(2000)
    found = tuning_curve(z, np.arange(1, 1001), support=UNIT)
    assert np.isfinite(np.c_[found.lower, found.value, found.upper]).all()
    assert "simultaneous" in found.guarantee
    half = tuning_curve(z, [1, 2], quantile=0.5)
    assert half.estimand.startswith("the 0.5 quantile")


def test_without_bounds_the_median_stays_finite_for_small_k():
    z = np.random.default_rng(0).normal(size=200)
    found = tuning_curve(z, [1, 2, 5, 100], quantile=0.5)
    assert np.isfinite(found.lower).all()
    assert np.isfinite(found.upper).tolist() == [True, True, True, False]
    assert "infinite above" in found.guarantee
    one_end = tuning_curve(z, [1, 5], support=(-10, math.inf))
    assert np.isfinite(one_end.lower).all()
    assert np.isposinf(one_end.upper).all()


def uniform_misses(n, reps, quantile_=None, *, pointwise=False):
    """Return how many bands miss the curve of the uniform somewhere: k/(k + 1) on
    average, q^(1/k) at a quantile."""
    rng = np.random.default_rng([n, reps])
    k = np.unique(np.geomspace(1, 200, 25).astype(int))
    true = k / (k + 1) if quantile_ is None else quantile_ ** (1 / k)
    misses = 0
    for _ in range(reps):
        z = rng.random(n)
        if pointwise:
            e = 1.96 * np.sqrt(k / (k + 2)) / (k + 1) / np.sqrt(n / k)
            lower, upper = best_of(z, k, replace=True) + np.array([[-1], [1]]) * e
        else:
            found = tuning_curve(z, k, quantile=quantile_, support=UNIT)
            lower, upper = found.lower, found.upper
        misses += not ((lower <= true) & (true <= upper)).all()
    return misses


@pytest.mark.parametrize("n", [5, 20, 100])
@pytest.mark.parametrize("quantile_", [None, 0.5])
def test_the_band_covers_all_k_at_once(n, quantile_):
    hits = 300 - uniform_misses(n, 300, quantile_)
    assert binomtest(hits, 300, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 20, 100, 2000])
@pytest.mark.parametrize("quantile_", [None, 0.5])
def test_the_band_covers_all_k_at_once_in_2000(n, quantile_):
    hits = 2000 - uniform_misses(n, 2000, quantile_)
    assert binomtest(hits, 2000, 0.95, alternative="less").pvalue > 1e-6


def test_plus_and_minus_two_standard_errors_would_not():
    assert uniform_misses(100, 300, pointwise=True) > 60


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: best_of(SCORES, 11), ("k", {"replace": True})),
        (lambda: best_of(SCORES, 0), ("k",)),
        (lambda: best_of(SCORES, [1, 2.5]), ("k",)),
        (lambda: best_of(SCORES, np.nan), ("k",)),
        (lambda: best_of(SCORES, np.inf), ("k",)),
        (lambda: best_of(SCORES, "3"), ("k",)),
        (lambda: best_of(SCORES, 2, quantile=1), ("quantile",)),
        (
            lambda: tuning_curve(SCORES, [1, 5]),
            ("support", {"support": ...}, {"quantile": 0.5}),
        ),
        (lambda: best_of([], 1), ("scores",)),
    ],
)
def test_bad_input_is_named(call, expected):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert said_by(refused.value) == expected


def test_mass_at_infinity_stays_there_however_often_one_tries():
    """levels[0] ** 600 underflows to 0, and 0 times infinity is no bound."""
    found = tuning_curve(np.linspace(0, 1, 40), [100, 600], support=(-np.inf, 1))
    assert np.isneginf(found.lower).all()
    assert np.isfinite(found.upper).all()


def test_lists_of_different_lengths_are_named():
    with pytest.raises(CurvewiseError) as refused:
        best_of([1, 2, 3], [[1, 2], [3]])
    assert refused.value.argument == "k"
