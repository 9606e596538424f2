"""The band of a mean curve: it holds at all steps at once, and says where it cannot."""

import itertools

import numpy as np
import pytest
from noisy_lines import noise
from scipy import stats
from support import assert_at_least, assert_at_most

from curvewise.errors import CurvewiseError
from curvewise.stats.anova import mean_band


def held(kind, lines, steps, sets, seed):
    """Return how often the band, and a pointwise interval, hold the curve at every step."""
    rng = np.random.default_rng(seed)
    hits = np.zeros(2, int)
    reach = stats.t.isf(0.025, lines - 1) / np.sqrt(lines)
    for own in noise(kind, (sets, lines, steps), rng):
        band = mean_band(own, flips=399, rng=rng)
        hits[0] += ((band.lower <= 0) & (band.upper >= 0)).all()
        hits[1] += (np.abs(own.mean(0)) <= reach * own.std(0, ddof=1)).all()
    return hits


@pytest.mark.parametrize(("kind", "lines"), [("walk", 8), ("iid", 5)])
def test_it_holds_at_all_steps_at_once(kind, lines):
    hits, _ = held(kind, lines, 8, 600, seed=1)
    assert_at_least(hits, 600, 0.92)


def test_pointwise_intervals_would_not():
    _, hits = held("iid", 8, 8, 600, seed=2)
    assert_at_most(hits, 600, 0.8)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["walk", "iid", "t3", "skew"])
@pytest.mark.parametrize("lines", [5, 10, 20])
def test_it_holds_whatever_the_noise(kind, lines):
    hits, _ = held(kind, lines, 8, 2000, seed=3)
    print(f"{kind} {lines} lines: {hits / 2000:.3f}")
    assert_at_least(hits, 2000, 0.92)


def test_it_is_what_every_flip_would_make_it():
    rng = np.random.default_rng(0)
    own = rng.normal(size=(6, 3))
    rest, largest = own - own.mean(0), []
    for signs in itertools.product((-1, 1), repeat=6):
        turned = np.array(signs)[:, None] * rest
        t = turned.mean(0) / (turned.std(0, ddof=1) / np.sqrt(6))
        largest.append(np.abs(t).max())
    band = mean_band(own, flips=20_000, rng=rng)
    c = (band.upper - band.value) / (own.std(0, ddof=1) / np.sqrt(6))
    assert np.ptp(c) < 1e-12
    # Values of flips repeat: the critical one is a value that one of them has.
    assert np.abs(np.array(largest) - c[0]).min() < 1e-9
    assert np.mean(np.array(largest) <= c[0] + 1e-9) >= 0.95


def test_a_step_without_spread_has_no_width_and_others_keep_theirs():
    own = np.random.default_rng(0).normal(size=(8, 4))
    own[:, 0] = 3.0
    band = mean_band(own, steps=[0, 10, 20, 30], rng=np.random.default_rng(1))
    assert band.lower[0] == band.upper[0] == 3
    assert (band.upper[1:] > band.lower[1:]).all()
    assert band.at.tolist() == [0, 10, 20, 30]
    flat = mean_band(np.ones((8, 4)), rng=np.random.default_rng(1))
    assert flat.lower.tolist() == flat.upper.tolist() == [1] * 4


@pytest.mark.parametrize("lines", [5, 6, 7, 10])
def test_a_common_start_changes_nothing_at_other_steps(lines):
    """The mean of equal scores may be off by its last digit, which is no noise."""
    own = np.random.default_rng(1).normal(size=(lines, 5)).cumsum(axis=1)
    alone = mean_band(own[:, 1:], flips=999, rng=np.random.default_rng(2))
    for start in (0.1, 1 / 3, -7.7, 12.3, 1e6 / 7):
        own[:, 0] = start
        band = mean_band(own, flips=999, rng=np.random.default_rng(2))
        assert band.lower[0] == band.value[0] == band.upper[0] == start
        assert band.upper[1:].tolist() == alone.upper.tolist()


def test_an_origin_that_is_large_beside_the_noise_does_not_matter():
    own = np.random.default_rng(1).normal(size=(7, 4))
    plain = mean_band(own, rng=np.random.default_rng(1))
    band = mean_band(1e9 + 1e-4 * own, rng=np.random.default_rng(1))
    width = 1e-4 * (plain.upper - plain.lower)
    np.testing.assert_allclose(band.upper - band.lower, width, rtol=0.02)
    np.testing.assert_allclose(band.value - 1e9, 1e-4 * plain.value, atol=2e-7)


def test_small_scores_do_not_drown_in_large_ones():
    own = np.random.default_rng(1).normal(size=(7, 4))
    plain = mean_band(own, rng=np.random.default_rng(1))
    scale = np.array([1e-200, 1, 1e20, 1])
    band = mean_band(own * scale, rng=np.random.default_rng(1))
    np.testing.assert_allclose(band.upper / scale, plain.upper, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-150, 1e100])
def test_units_do_not_matter(unit):
    own = np.random.default_rng(0).normal(size=(8, 4))
    one = mean_band(own, rng=np.random.default_rng(1))
    other = mean_band(unit * own, rng=np.random.default_rng(1))
    np.testing.assert_allclose(other.upper / unit, one.upper, rtol=1e-9)


@pytest.mark.parametrize(
    ("lines", "options", "words"),
    [
        (np.ones((4, 3)), {}, "4 lines came, and a band takes 5 or more"),
        (np.ones(4), {}, r"The lines of 'lines' have shape \(4,\)"),
        (np.ones((6, 3)), {"steps": [1, 2]}, "Pass 3 ascending numbers"),
        (np.ones((6, 3)), {"confidence": 2}, "confidence is 2"),
        (np.ones((6, 3)), {"rng": 3}, "rng is 3"),
        (np.full((6, 3), np.nan), {}, "are not finite"),
    ],
)
def test_bad_input_is_named(lines, options, words):
    options = {"rng": np.random.default_rng(0), **options}
    with pytest.raises(CurvewiseError, match=words):
        mean_band(lines, **options)
