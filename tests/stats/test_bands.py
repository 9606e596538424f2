import math
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from refusals import said_by
from scipy.stats import binomtest
from support import assert_rate

from curvewise.errors import CurvewiseError
from curvewise.stats import bands
from curvewise.stats.bands import KINDS, cdf_band, half_width
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import looks

SCRIPT = Path(__file__).parents[2] / "scripts" / "coverage_bands.py"
simulation = SimpleNamespace(**runpy.run_path(str(SCRIPT)))
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


# --- equal local levels ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "low", "high", "first"),
    [
        (10, 0.119829, 0.819786, 0.428874),
        (100, 0.346083, 0.644554, 0.065876),
        (500, 0.427432, 0.570597, 0.014594),
        (2000, 0.462732, 0.536770, 0.003839),
    ],
)
def test_equal_local_levels_are_the_tabulated_ones(n, low, high, first):
    """The limits of the i-th score: entry i of the lower level, i - 1 of the upper."""
    band = cdf_band(np.arange(n), kind="equal_local_levels")
    i = n // 2
    assert band.lower[i] == pytest.approx(low, abs=5e-7)
    assert band.upper[i - 1] == pytest.approx(high, abs=5e-7)
    assert band.upper[0] == pytest.approx(first, abs=5e-7)


def test_levels_are_symmetric_ascend_and_end_at_certainty():
    for kind in KINDS:
        band = cdf_band(np.arange(40), kind=kind)
        np.testing.assert_allclose(band.lower, 1 - band.upper[::-1], atol=1e-14)
        assert (np.diff(band.lower) >= 0).all()
        assert (band.lower[0], band.upper[-1]) == (0, 1)
        assert (band.lower <= np.arange(41) / 40).all()


def test_equal_local_levels_are_narrow_in_the_tails_and_wide_in_the_middle():
    equal, kolmogorov = (
        cdf_band(np.arange(200), kind=k) for k in ("equal_local_levels", "kolmogorov")
    )
    assert equal.upper[0] < kolmogorov.upper[0] / 2
    assert equal.upper[100] > kolmogorov.upper[100]
    assert half_width(200, kind="equal_local_levels") == equal.half_width


# --- ties --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_tied_scores_are_read_at_the_last_of_them(kind):
    """Lower level of the last tie, upper level of the next distinct value."""
    band = cdf_band([0.1, 0.5, 0.5, 0.5, 0.9], kind=kind)
    lower, upper = band.cdf([0.4, 0.5, 0.8])
    assert lower.tolist() == [band.lower[1], band.lower[4], band.lower[4]]
    assert upper.tolist() == [band.upper[1], band.upper[4], band.upper[4]]


@pytest.mark.parametrize("kind", KINDS)
def test_no_quantile_lies_between_tied_scores(kind):
    """What lies inside a block of ties is never read: its levels may be anything."""
    scores = np.repeat([0.1, 0.4, 0.5, 0.8], [3, 9, 20, 8])
    band = cdf_band(scores, kind=kind, support=(0, 1))
    p = np.linspace(0, 1, 401)[1:]
    ends = np.r_[0.0, np.unique(scores), 1.0]
    lower, upper = band.cdf(ends)
    upper[-1] = 1.0
    found = band.quantile(p)
    by_hand = [ends[np.searchsorted(level, p - 1e-12)] for level in (upper, lower)]
    np.testing.assert_array_equal(found, by_hand)


def hits_on_ties(kind, n, samples, read):
    """Return how often a band of scores in tenths holds where `read` reads it."""
    rng = np.random.default_rng(3)
    true = np.arange(1, 11) / 10
    hits = 0
    for _ in range(samples):
        band = cdf_band(rng.integers(1, 11, n) / 10, kind=kind)
        lower, upper = read(band, true)
        hits += bool(((lower <= true + 1e-12) & (true <= upper + 1e-12)).all())
    return hits


def at_the_first_tie(band, at):
    below = np.searchsorted(band.scores, at, side="left")
    return band.lower[below], band.upper[below]


@pytest.mark.parametrize("kind", KINDS)
def test_ties_only_widen_the_coverage(kind):
    hits = hits_on_ties(kind, 60, 1000, lambda band, at: band.cdf(at))
    assert binomtest(hits, 1000, 0.95, alternative="less").pvalue > 1e-6


def test_reading_ties_at_the_first_of_them_would_miss():
    """The negative control: one of a block of ties is far below the whole block."""
    assert hits_on_ties("kolmogorov", 60, 300, at_the_first_tie) / 300 < 0.8


# --- simulated coverage ------------------------------------------------------------------


def assert_never_below(found, rate=0.95):
    p = binomtest(found.hits, found.samples, rate, alternative="less").pvalue
    assert p > 1e-6, f"{found} against {rate}: p = {p:.1e}"


def assert_all_kinds_hold(name, n, samples):
    law = simulation.LAWS[name]
    bands = {kind: simulation.kind_levels(kind, n) for kind in KINDS}
    bands["pointwise"] = simulation.pointwise_levels(n)
    rng = np.random.default_rng([2026, n, len(name)])
    found = simulation.covered(law, list(bands.values()), n, samples, rng)
    found = dict(zip(bands, found, strict=True))
    for kind in KINDS:
        assert_never_below(found[kind])
    if law.is_continuous:  # nor are exact bands wider than need be
        for kind in ("kolmogorov", "equal_local_levels"):
            assert_rate(found[kind].hits, samples, 0.95)
        # The negative control: 95 % at each score is no band.
        assert found["pointwise"].hits / samples < (0.9 if n == 5 else 0.8)
    # Conservative or not, a wider band is a worse one.
    assert found["kolmogorov"].at_median <= found["dkw"].at_median
    assert found["dkw"].at_median <= found["anytime"].at_median


@pytest.mark.parametrize("n", [5, 20, 100, 2000])
@pytest.mark.parametrize("name", simulation.LAWS)
def test_bands_hold_whatever_the_distribution(name, n):
    assert_all_kinds_hold(name, n, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 20, 100, 2000])
@pytest.mark.parametrize("name", simulation.LAWS)
def test_bands_hold_whatever_the_distribution_in_many_samples(name, n):
    assert_all_kinds_hold(name, n, 4000)


@pytest.mark.parametrize("n", [5, 100])
@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("kind", ["kolmogorov", "dkw"])
def test_one_side_holds_alone(kind, side, n):
    band = cdf_band(np.arange(n), kind=kind, side=side)
    law, rng = simulation.LAWS["uniform"], np.random.default_rng(n)
    (found,) = simulation.covered(law, [(band.lower, band.upper)], n, 2000, rng)
    assert_never_below(found)
    if kind == "kolmogorov":
        assert_rate(found.hits, 2000, 0.95)
    assert half_width(n, kind=kind, side=side) < half_width(n, kind=kind)


# --- how a band is read ------------------------------------------------------------------


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


def test_a_band_is_frozen_and_leaves_its_scores_alone():
    scores = np.array([0.1, 0.2, 0.3])
    band = cdf_band(scores)
    scores[0] = 9
    assert band.scores[0] == 0.1
    for array in (band.scores, band.lower, band.upper):
        assert not array.flags.writeable


def test_an_interval_says_what_it_is_for():
    found = cdf_band(SCORES, support=(0, 1)).quantile_interval(0.5)
    assert (found.lower, found.upper) == (0.2, 0.95)
    assert found.estimand == Functional("quantile", 0.5).estimand
    assert found.guarantee.startswith("95 %, simultaneous")
    assert 0.3 in found
    assert 0.1 not in found


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: half_width(0), ("n",)),
        (lambda: half_width(2.5), ("n",)),
        (lambda: half_width(9, confidence=1), ("confidence",)),
        (lambda: half_width(9, kind="x"), ("kind",)),
        (lambda: half_width(9, side="x"), ("side",)),
        (lambda: cdf_band([1, 2], kind="x"), ("kind",)),
        (
            lambda: cdf_band([1, 2], kind="equal_local_levels", side="lower"),
            ("side", {"side": "both"}, {"kind": "kolmogorov"}),
        ),
        (lambda: half_width(9, side="upper", confidence=0.3), ("confidence",)),
        (lambda: cdf_band([1, np.nan]), ("scores",)),
        (lambda: cdf_band([1, 2], support=(0, 1)), ("support",)),
    ],
)
def test_bad_input_is_named(call, expected):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert said_by(refused.value) == expected


def test_one_side_of_very_many_trials_is_the_closed_form():
    """The exact law of one side takes time that grows with the square."""
    n = 20_000
    exact, closed = half_width(n, side="lower"), half_width(n, side="lower", kind="dkw")
    assert 0.999 < exact / closed < 1
    more = half_width(3_000_000, side="lower")
    assert more == half_width(3_000_000, side="lower", kind="dkw")


@pytest.mark.parametrize(
    "support", [(1, 0), (np.nan, 1), (0, 0), None, 5, (0, 1, 2), ("0", "1"), (None, 1)]
)
def test_a_support_is_a_range(support):
    with pytest.raises(CurvewiseError) as refused:
        cdf_band([0.5], support=support)
    assert refused.value.argument == "support"


@pytest.mark.parametrize(
    "scores",
    [np.ma.array([1, 2], mask=[0, 1]), [1 + 2j], ["1", "2"], [10**400], ["2026-11-15"]],
)
def test_what_is_no_score_is_refused(scores):
    with pytest.raises(CurvewiseError) as refused:
        cdf_band(scores)
    assert refused.value.argument == "scores"


# --- Anytime --------------------------------------------------------------------------


def test_the_constant_is_the_published_one():
    assert bands.anytime_constant(0.05) == pytest.approx(8.1227, abs=5e-5)


@pytest.mark.parametrize(
    ("n", "radius"),
    [(100, 0.242253), (738, 0.095012), (2000, 0.058607), (100_000, 0.008581)],
)
def test_radii_are_the_tabulated_ones(n, radius):
    assert half_width(n, kind="anytime", start=100) == pytest.approx(radius, abs=5e-7)


@pytest.mark.parametrize("delta", [0.99, 0.5, 0.05, 1e-4, 1e-9])
def test_no_other_free_parameter_needs_a_smaller_constant(delta):
    """The bound on a miss, on a grid that knows nothing of how we minimise it."""
    c = bands.anytime_constant(delta)
    eta = np.linspace(1, 2, 200_001)[1:]
    square = 2 / eta * (0.85 - np.sqrt(2 * (eta - 1) / c)) ** 2
    valid = (square > 1) & (np.sqrt(2 * (eta - 1) / c) < 0.85)
    miss = 4 * np.exp(-square * c) * (1 + 1 / ((square - 1) * np.log(eta)))
    assert miss[valid].min() == pytest.approx(delta, rel=1e-6)


def test_looking_whenever_you_like_costs_about_twice_the_width():
    assert 1.8 < half_width(2000, kind="anytime", start=100) / half_width(2000) < 2


def test_the_radius_never_exceeds_one():
    assert half_width(1, kind="anytime") == 1


def test_the_band_is_as_wide_as_its_radius():
    band = cdf_band(np.arange(500) / 500, kind="anytime", start=100)
    radius = half_width(500, kind="anytime", start=100)
    assert band.upper[100] - 0.2 == pytest.approx(radius)
    assert 0.8 - band.lower[400] == pytest.approx(radius)
    assert looks("anytime") in band.guarantee


def never_left(kind, last, start, paths):
    radius = simulation.radii(last, start, kind)
    rng = np.random.default_rng(2026)
    return paths - simulation.misses_on_the_way(radius, start, paths, rng)


def test_it_holds_at_all_times_at_once():
    held = never_left("anytime", 400, 20, 500)
    assert binomtest(held, 500, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.slow
def test_it_holds_at_all_times_at_once_to_the_end():
    """2,000 paths of 2,000 trials, looked at after each of them from the 100th on."""
    held = never_left("anytime", 2000, 100, 2000)
    assert binomtest(held, 2000, 0.95, alternative="less").pvalue > 1e-6


def test_a_band_for_one_look_does_not():
    """The negative control: the exact band of every t, looked at at every t."""
    assert never_left("kolmogorov", 600, 150, 300) / 300 < 0.85


def test_skipping_looks_that_cannot_matter_skips_none_that_does():
    """The simulation looks only where the band may be left; here, everywhere."""
    rng = np.random.default_rng(5)
    radius = simulation.radii(150, 10, "dkw")

    def leaves(u):
        for t in range(10, 151):
            z, share = np.sort(u[:t]), np.arange(1, t + 1) / t
            if max((share - z).max(), (z - share).max() + 1 / t) > radius[t]:
                return True
        return False

    paths = rng.random((60, 150))
    found = [simulation.leaves(radius, 10, u) for u in paths]
    assert found == [leaves(u) for u in paths]
    assert 0 < sum(found) < 60


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: half_width(50, kind="anytime", start=100), ("start",)),
        (lambda: half_width(50, kind="anytime", start=0), ("start",)),
        (
            lambda: half_width(50, kind="anytime", side="lower"),
            ("side", {"side": "both"}, {"kind": "kolmogorov"}),
        ),
    ],
)
def test_bad_input_is_named_of_bands_for_any_time(call, expected):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert said_by(refused.value) == expected


def test_a_later_start_is_narrower_later():
    """What is not spent on early looks is left for late ones."""
    late = [half_width(1000, kind="anytime", start=m) for m in (1, 10, 100, 1000)]
    assert (np.diff(late) < 0).all()
    assert not math.isclose(late[0], late[-1])
