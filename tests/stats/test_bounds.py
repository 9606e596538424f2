import functools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import said_by
from scipy.stats import binom, binomtest, t

from curvewise.errors import CurvewiseError
from curvewise.stats.bands import ANYWHERE, cdf_band
from curvewise.stats.bounds import (
    cvar_band,
    cvar_bounds,
    cvar_interval,
    mean_bounds,
    mean_interval,
    quantile_interval,
)
from curvewise.stats.distribution import cvar, mean, quantile
from curvewise.stats.interval import estimand, finite_sample, looks

SCORES = (0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
UNIT = (0.0, 1.0)
unit_samples = st.lists(
    st.integers(0, 64).map(lambda i: i / 64), min_size=1, max_size=25
)
alphas = st.floats(0.01, 0.99)


# --- the formulas ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "lower", "upper"), [(0.5, 0.600382, 0.987405), (0.9, 0.756489, 1.0)]
)
def test_one_sided_dkw_bounds_of_cvar_are_the_tabulated_ones(alpha, lower, upper):
    def end(side):
        return cvar_interval(SCORES, alpha, support=UNIT, kind="dkw", side=side)

    assert end("lower").lower == pytest.approx(lower, abs=5e-7)
    assert end("upper").upper == pytest.approx(upper, abs=5e-7)


def test_one_sided_dkw_bounds_of_the_mean_are_the_tabulated_ones():
    lower = mean_interval(SCORES, support=UNIT, kind="dkw", side="lower")
    upper = mean_interval(SCORES, support=UNIT, kind="dkw", side="upper")
    assert lower.lower == pytest.approx(0.325382, abs=5e-7)
    assert upper.upper == pytest.approx(0.889809, abs=5e-7)
    assert lower.value == upper.value == pytest.approx(0.665)


def test_exact_one_sided_bounds_are_the_tabulated_ones():
    lower = cvar_interval(SCORES, 0.5, support=UNIT, side="lower")
    upper = cvar_interval(SCORES, 0.5, support=UNIT, side="upper")
    assert lower.lower == pytest.approx(0.615069, abs=5e-7)
    assert upper.upper == pytest.approx(0.983733, abs=5e-7)
    assert lower.value == pytest.approx(0.85)


@pytest.mark.parametrize(
    ("kind", "best_half", "of_all"),
    [
        ("kolmogorov", (0.579829, 0.990925), (0.308065, 0.897774)),
        ("equal_local_levels", (0.552995, 0.992887), (0.290723, 0.893621)),
    ],
)
def test_two_sided_intervals_are_the_tabulated_ones(kind, best_half, of_all):
    """The second band is longer for the best half and shorter at the mean's upper end:
    neither is better for everything."""
    half = cvar_interval(SCORES, 0.5, support=UNIT, kind=kind)
    whole = mean_interval(SCORES, support=UNIT, kind=kind)
    assert (half.lower, half.upper) == pytest.approx(best_half, abs=5e-7)
    assert (whole.lower, whole.upper) == pytest.approx(of_all, abs=5e-7)


def printed(z, lower, upper, support, mass):
    """The sums as they stand in the docstring, term by term."""
    z = np.r_[support[0], np.sort(z), support[1]]
    n, gaps = len(z) - 2, np.diff(z)
    top = z[n + 1] - sum(
        gaps[i] * max(0, lower[i] - (1 - mass)) / mass for i in range(1, n + 1)
    )
    bottom = z[n] - sum(
        gaps[i] * max(0, upper[i] - (1 - mass)) / mass for i in range(n)
    )
    return bottom, top


@given(unit_samples, alphas)
def test_bounds_are_the_printed_sums(scores, alpha):
    band = cdf_band(scores, support=UNIT)
    levels = band.lower, band.upper
    assert np.array(cvar_bounds(band, alpha)) == pytest.approx(
        np.array(printed(scores, *levels, UNIT, 1 - alpha)), abs=1e-9
    )
    assert mean_bounds(band) == pytest.approx(
        printed(scores, *levels, UNIT, 1.0), abs=1e-9
    )


@given(unit_samples, alphas)
def test_the_tails_mirror_each_other(scores, alpha):
    """The worst share of scores is the best share of their negatives."""
    lower, upper = cvar_bounds(cdf_band(scores, support=UNIT), alpha, "lower")
    mirrored = cdf_band([-z for z in scores], support=(-1, 0))
    low, high = cvar_bounds(mirrored, 1 - alpha)
    assert (lower, upper) == pytest.approx((-high, -low), abs=1e-9)


@given(unit_samples, alphas)
def test_bounds_surround_the_estimate_inside_the_support(scores, alpha):
    band = cdf_band(scores, support=UNIT)
    for tail in ("upper", "lower"):
        lower, upper = cvar_bounds(band, alpha, tail)
        assert 0 <= lower <= cvar(scores, alpha, tail=tail) + 1e-12
        assert cvar(scores, alpha, tail=tail) - 1e-12 <= upper <= 1
    lower, upper = mean_bounds(band)
    assert 0 <= lower <= mean(scores) + 1e-12 <= upper + 2e-12 <= 1 + 2e-12


@given(unit_samples, alphas)
def test_no_distribution_inside_the_band_is_outside_the_bounds(scores, alpha):
    """Any other sample whose CDF stays inside is a witness; so are the envelopes."""
    band = cdf_band(scores, support=UNIT)
    rng = np.random.default_rng(len(scores))
    p = (np.arange(400) + 0.5) / 400
    low, high = band.quantile(p)
    witness = np.sort(low + (high - low) * rng.random(400))
    lower, upper = cvar_bounds(band, alpha)
    # A sample of 400 atoms is off by at most one atom's mass.
    assert lower - 1 / (400 * (1 - alpha)) <= cvar(witness, alpha)
    assert cvar(witness, alpha) <= upper + 1 / (400 * (1 - alpha))


def test_many_alphas_at_once_are_each_alone_in_any_order():
    band = cdf_band(np.random.default_rng(0).random(80), support=UNIT)
    alpha = np.random.default_rng(1).random((7, 9))
    for tail in ("upper", "lower"):
        lower, upper = cvar_bounds(band, alpha, tail)
        alone = np.array([[cvar_bounds(band, a, tail) for a in row] for row in alpha])
        assert lower.shape == upper.shape == (7, 9)
        np.testing.assert_allclose(lower, alone[..., 0], atol=1e-12)
        np.testing.assert_allclose(upper, alone[..., 1], atol=1e-12)
    assert cvar_bounds(band, [])[0].shape == (0,)


def test_the_curve_over_alpha_is_the_intervals_of_one_band():
    found = cvar_band(SCORES, [0.25, 0.5], support=UNIT, tail="lower")
    each = [cvar_interval(SCORES, a, support=UNIT, tail="lower") for a in (0.25, 0.5)]
    assert found.lower.tolist() == [one.lower for one in each]
    assert found.upper.tolist() == [one.upper for one in each]
    assert found.value.tolist() == [one.value for one in each]
    assert found.at.tolist() == [0.25, 0.5]
    assert "simultaneous" in found.guarantee


# --- infinite support -----------------------------------------------------------------


def test_an_infinite_end_that_bears_no_mass_leaves_the_answer_finite():
    """The best half needs nothing from below once the band excludes it; no NaN either."""
    found = cvar_interval(np.arange(200), 0.5)
    assert math.isfinite(found.lower)
    assert found.upper == math.inf
    assert "infinite above" in found.guarantee
    worst = cvar_interval(np.arange(200), 0.5, tail="lower")
    assert worst.lower == -math.inf
    assert math.isfinite(worst.upper)
    bounded = cvar_interval(np.arange(200), 0.5, support=(-1e9, math.inf))
    assert bounded.lower == pytest.approx(found.lower)


def test_one_finite_end_bounds_the_mean_from_there():
    found = mean_interval(SCORES, support=(0, math.inf))
    assert found.lower == pytest.approx(0.308065, abs=5e-7)
    assert found.upper == math.inf
    assert "from 0 up" in found.guarantee
    below = mean_interval(SCORES, support=(-math.inf, 1))
    assert below.upper == pytest.approx(0.897774, abs=5e-7)
    assert "up to 1" in below.guarantee


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: mean_interval(SCORES), ("support", {"support": ...})),
        (
            lambda: mean_interval(SCORES, support=(0, math.inf), side="upper"),
            ("support", {"support": ...}),
        ),
        (
            lambda: mean_interval(SCORES, support=(-math.inf, 1), side="lower"),
            ("support", {"support": ...}),
        ),
        (lambda: cvar_band([1.0, 2.0], [0.1, 0.5]), ("support", {"support": ...})),
        (lambda: quantile_interval([1.0], 0.5), ("support", {"support": ...})),
        (lambda: cvar_interval(SCORES, 1, support=UNIT), ("alpha",)),
        (lambda: cvar_bounds(cdf_band(SCORES), [0.5, 2]), ("alpha",)),
        (lambda: cvar_bounds(cdf_band(SCORES), ["x"]), ("alpha",)),
        (lambda: cvar_interval(SCORES, 0.5, tail="up", support=UNIT), ("tail",)),
        (lambda: quantile_interval(SCORES, 0.5, support=(0, 0.5)), ("support",)),
        (lambda: quantile_interval(SCORES, 2), ("p",)),
        (lambda: quantile_interval(SCORES, [0.1, 0.2]), ("p",)),
        (lambda: quantile_interval(SCORES, 0.5, confidence=1), ("confidence",)),
    ],
)
def test_bad_input_is_named(call, expected):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert said_by(refused.value) == expected


# --- what they say --------------------------------------------------------------------


def test_intervals_say_what_they_are_for_and_what_they_promise():
    found = cvar_interval(SCORES, 0.9, support=UNIT)
    assert found.estimand.startswith(estimand("cvar", 0.9, "upper"))
    assert found.guarantee.startswith(finite_sample(0.95, "trials"))
    assert "between 0 and 1, simultaneous" in found.guarantee
    assert found.guarantee.endswith("(exact Kolmogorov)")
    one = mean_interval(SCORES, support=UNIT, kind="dkw", side="lower", confidence=0.9)
    assert one.guarantee.startswith("at least 90 %")
    assert "from below only" in one.guarantee
    assert one.upper == 1
    any_time = mean_interval(SCORES, support=UNIT, kind="anytime", start=5)
    assert looks("anytime") in any_time.guarantee


def test_one_score_gives_an_interval_and_a_wide_one():
    found = mean_interval([0.5], support=UNIT)
    assert (found.lower, found.upper) == pytest.approx((0.0125, 0.9875))
    assert found.value == 0.5
    alone = quantile_interval([0.5], 0.5, support=UNIT)
    assert (alone.lower, alone.upper) == (0, 1)
    assert "below and above" in alone.guarantee


# --- order statistics -----------------------------------------------------------------


def test_the_median_of_ten_lies_between_the_second_and_the_ninth_score():
    """P(Bin(10, .5) <= 1) = .0107 and <= 2 would be .055: the textbook interval."""
    found = quantile_interval(SCORES, 0.5)
    assert (found.lower, found.upper) == (0.4, 0.9)
    assert found.value == 0.7
    assert found.guarantee.endswith("(order statistics)")


@given(st.integers(1, 300), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_each_order_statistic_misses_in_half_of_the_rest_and_the_next_one_in_more(
    n, p, confidence
):
    found = quantile_interval(
        np.arange(1, n + 1), p, confidence=confidence, support=(0, n + 1)
    )
    first, last = int(found.lower), int(found.upper)
    rest = (1 - confidence) / 2 + 1e-12
    assert first == 0 or binom.cdf(first - 1, n, p) <= rest
    assert last == n + 1 or binom.sf(last - 1, n, p) <= rest
    assert first >= n or binom.cdf(first, n, p) > rest - 2e-12
    assert last <= 1 or binom.sf(last - 2, n, p) > rest - 2e-12


def test_where_trials_are_too_few_the_interval_ends_with_the_support():
    found = quantile_interval(SCORES, 0.95, support=UNIT)
    assert found.upper == 1
    assert "from above" in found.guarantee
    assert quantile_interval(SCORES, 0.95).upper == math.inf


@pytest.mark.parametrize("n", [5, 20, 100, 2000])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_order_statistics_cover_a_quantile_with_and_without_ties(n, p):
    """2,000 samples of the uniform and of the tenths that it rounds to."""
    rng = np.random.default_rng(n)
    ranks = quantile_interval(range(1, n + 1), p, support=(0, n + 1))
    first, last = int(ranks.lower), int(ranks.upper)
    u = np.sort(rng.random((2000, n)), axis=1)
    for z, true in ((u, p), (np.ceil(u * 10) / 10, p)):
        ends = np.c_[np.full(2000, -1.0), z, np.full(2000, 2.0)]
        low, high = ends[:, first], ends[:, last]
        hits = ((low <= true + 1e-12) & (true - 1e-12 <= high)).sum()
        assert binomtest(int(hits), 2000, 0.95, alternative="less").pvalue > 1e-6


# --- coverage -------------------------------------------------------------------------


def failing(rng, size):
    return np.where(rng.random(size) < 0.3, 0.0, rng.beta(8, 2, size))


LAWS = {
    "uniform": lambda rng, size: rng.random(size),
    "beta": lambda rng, size: rng.beta(5, 2, size),
    "ties": lambda rng, size: rng.binomial(10, 0.7, size) / 10,
    "mixed": failing,
}


@functools.cache
def truth(law):
    """The mean and both halves, of a sample so large that its error is no matter."""
    large = np.sort(law(np.random.default_rng(99), 300_000))
    return mean(large), cvar(large, 0.5), cvar(large, 0.5, tail="lower")


def missed(law, n, reps, *, kind="kolmogorov", width=1.0):
    """Return how often intervals miss the mean and both tails, of bands around samples
    that have this part of their width."""
    rng = np.random.default_rng([n, reps])
    true = truth(law)
    centre = np.arange(n + 1) / n
    misses = np.zeros(3, dtype=int)
    for _ in range(reps):
        band = cdf_band(law(rng, n), support=UNIT, kind=kind)
        band = replace(
            band,
            lower=centre + width * (band.lower - centre),
            upper=centre + width * (band.upper - centre),
        )
        ends = [
            mean_bounds(band),
            cvar_bounds(band, 0.5),
            cvar_bounds(band, 0.5, "lower"),
        ]
        misses += [
            not low <= x <= high for (low, high), x in zip(ends, true, strict=True)
        ]
    return misses


@pytest.mark.parametrize("n", [5, 20, 100])
@pytest.mark.parametrize("name", LAWS)
def test_intervals_from_a_band_cover_at_least_as_often_as_they_say(name, n):
    for count in missed(LAWS[name], n, 200):
        assert binomtest(200 - int(count), 200, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.parametrize("name", LAWS)
def test_intervals_from_equal_local_levels_do_too(name):
    for count in missed(LAWS[name], 20, 200, kind="equal_local_levels"):
        assert binomtest(200 - int(count), 200, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 20, 100, 2000])
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("kind", ["kolmogorov", "equal_local_levels"])
def test_intervals_cover_at_least_as_often_as_they_say_in_2000(name, n, kind):
    for count in missed(LAWS[name], n, 2000, kind=kind):
        assert (
            binomtest(2000 - int(count), 2000, 0.95, alternative="less").pvalue > 1e-6
        )


def test_a_band_a_quarter_as_wide_would_not():
    """The negative control. Half the width still covers a mean: a band is sure of all
    functionals at once, and pays for it."""
    assert missed(LAWS["uniform"], 100, 400, width=0.25)[0] > 40


def test_the_normal_interval_would_not():
    """The other negative control: skewed scores and few trials, at a nominal 95 %."""
    rng = np.random.default_rng(5)
    z = rng.beta(0.2, 3, (2000, 10))
    reach = t.ppf(0.975, 9) * z.std(axis=1, ddof=1) / np.sqrt(10)
    covered = np.abs(z.mean(axis=1) - 0.2 / 3.2) <= reach
    assert covered.mean() < 0.85


@pytest.mark.parametrize("n", [5, 20, 100])
def test_the_finite_side_of_heavy_tails_is_covered_too(n):
    """Lognormal scores are bounded from below only, t with 3 degrees from nowhere."""
    rng = np.random.default_rng(n)
    best_half = 2 * t(3).pdf(0) * 1.5
    hits = np.zeros(2, dtype=int)
    for _ in range(300):
        above = mean_interval(
            rng.lognormal(size=n), support=(0, math.inf), side="lower"
        )
        lower = cvar_bounds(
            cdf_band(rng.standard_t(3, n), side="lower", support=ANYWHERE), 0.5
        )[0]
        hits += [above.lower <= math.exp(0.5), lower <= best_half]
    for count in hits:
        assert binomtest(int(count), 300, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.parametrize("tail", ["upper", "lower"])
def test_the_curve_covers_at_all_alphas_at_once(tail):
    """Uniform: the best 1 - a average (1 + a)/2, the worst a average a/2."""
    rng = np.random.default_rng(4)
    alpha = np.arange(1, 100) / 100
    true = (1 + alpha) / 2 if tail == "upper" else alpha / 2
    hits = 0
    for _ in range(400):
        found = cvar_band(rng.random(30), alpha, support=UNIT, tail=tail)
        hits += bool(((found.lower <= true) & (true <= found.upper)).all())
    assert binomtest(hits, 400, 0.95, alternative="less").pvalue > 1e-6


def test_a_quantile_read_off_is_the_order_statistic():
    assert quantile_interval(SCORES, 0.3).value == quantile(SCORES, 0.3)
