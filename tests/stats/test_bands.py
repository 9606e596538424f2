import numpy as np
import pytest
from scipy.stats import binomtest
from support import assert_rate

from curvewise.stats.bands import cdf_band, half_width

SCORES = [0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]


@pytest.mark.parametrize(
    ("n", "dkw", "exact"),
    [
        (10, 0.429469, 0.409246),
        (100, 0.135810, 0.134028),
        (2000, 0.030368, 0.030283),
        (100_000, 0.0042947, 0.0042930),
    ],
)
def test_half_widths_are_the_tabulated_ones(n, dkw, exact):
    assert half_width(n, kind="dkw") == pytest.approx(dkw, abs=1e-6)
    assert half_width(n) == pytest.approx(exact, abs=1e-6)


def test_the_exact_half_width_of_one_trial():
    """One uniform trial: P(max(U, 1 - U) <= e) = 2e - 1, so e = .975."""
    assert half_width(1) == pytest.approx(0.975)


def outside(rng, n, reps, band_of):
    """Return how many of `reps` bands miss the uniform distribution somewhere."""
    u = np.sort(rng.random((reps, n)), axis=1)
    i = np.arange(1, n + 1)
    lower, _ = band_of(n, i / n)
    _, before = band_of(n, (i - 1) / n)
    # F(u) = u: at a jump the band holds from the value before it to the one after.
    return int(((u < lower) | (u > before)).any(axis=1).sum())


def kolmogorov(n, centre):
    e = half_width(n)
    return centre - e, centre + e


def pointwise(n, centre):
    e = 1.96 * np.sqrt(np.maximum(centre * (1 - centre), 1 / n) / n)
    return centre - e, centre + e


@pytest.mark.parametrize("n", [1, 5, 40, 300])
def test_the_exact_band_covers_everywhere_at_once_as_often_as_it_says(n):
    """4,000 samples each; false alarm one in a million. Scores are uniform, which
    stands for any continuous distribution, because F(Z) is uniform."""
    rng = np.random.default_rng(2026 + n)
    assert_rate(outside(rng, n, 4000, kolmogorov), 4000, 0.05)


def test_pointwise_intervals_would_not():
    """The negative control: 95 % at each point is far less over all of them."""
    missed = outside(np.random.default_rng(7), 100, 2000, pointwise)
    assert missed / 2000 > 0.25


@pytest.mark.parametrize("n", [8, 60])
def test_the_band_of_quantiles_covers_as_often_as_the_band_of_the_cdf(n):
    """Uniform scores have Q(p) = p; 2,500 samples on a grid of 199 quantiles."""
    rng = np.random.default_rng(n)
    p = np.arange(1, 200) / 200
    hits = 0
    for _ in range(2500):
        lower, upper = cdf_band(rng.random(n), support=(0, 1)).quantile(p)
        hits += bool(((lower <= p) & (p <= upper)).all())
    # A grid sees a little less than all quantiles: coverage may only be above the level.
    assert binomtest(hits, 2500, 0.95, alternative="less").pvalue > 1e-6
    assert hits / 2500 < 0.985  # nor is the band wider than need be


def test_ties_only_widen_the_coverage():
    """Scores in tenths: the band is conservative, never too narrow."""
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(2000):
        band = cdf_band(np.floor(rng.random(30) * 10) / 10)
        lower, upper = band.cdf(np.arange(10) / 10)
        true = np.arange(1, 11) / 10
        hits += bool(((lower <= true + 1e-12) & (true <= upper + 1e-12)).all())
    assert binomtest(hits, 2000, 0.95, alternative="less").pvalue > 1e-6


def test_the_support_ends_the_band_and_without_it_the_tails_are_open():
    bounded, unbounded = cdf_band(SCORES, support=(0, 1)), cdf_band(SCORES)
    assert bounded.quantile(0.0)[0] == 0
    assert bounded.quantile(1.0)[1] == 1
    assert np.isneginf(unbounded.quantile(0.1)[0])
    assert np.isposinf(unbounded.quantile(0.9)[1])
    lower, upper = bounded.cdf([-0.1, 1.0])
    assert (upper[0], lower[1]) == (0, 1)


def test_cdf_and_quantile_envelopes_are_inverse_to_each_other():
    """Q's upper end at p is the smallest score at which the CDF's lower end reaches p."""
    band = cdf_band(np.random.default_rng(0).random(50))
    for p in (0.3, 0.5, 0.7):
        lower_end, upper_end = band.quantile(p)
        assert band.cdf(upper_end)[0] >= p - 1e-9
        assert band.cdf(np.nextafter(upper_end, -1))[0] < p
        assert band.cdf(lower_end)[1] >= p - 1e-9
        assert band.cdf(np.nextafter(lower_end, -1))[1] < p


def test_an_interval_says_what_it_is_for():
    found = cdf_band(SCORES, support=(0, 1)).quantile_interval(0.5)
    assert (found.lower, found.upper) == (0.2, 0.95)
    assert "a share 0.5 of all trials" in found.estimand
    assert found.guarantee.startswith("95%, simultaneous over all quantiles")
    assert 0.3 in found
    assert 0.1 not in found


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: half_width(0), r"n is 0\. Pass a number of trials, at least 1"),
        (lambda: half_width(2.5), r"n is 2\.5\."),
        (lambda: half_width(9, confidence=1), r"confidence is 1\. Pass one between"),
        (lambda: half_width(9, kind="x"), r"kind is 'x'\. Pass one of kolmogorov, dkw"),
        (
            lambda: cdf_band([1, 2], support=(0, 1)),
            r"Scores from 1 to 2 are not inside",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
