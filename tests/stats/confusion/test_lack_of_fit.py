"""Whether one power law holds: a level that is kept, and curves that are found out."""

import numpy as np
import pytest
from counts_of_power_laws import counts_of, power_law
from support import assert_at_least, assert_at_most

from curvewise.stats.confusion.calibrated import fit_calibrated, lack_of_fit
from curvewise.stats.confusion.data import stacked

SIZES = 40.0 * 2 ** np.arange(6)
OCTAVES = np.log2(SIZES / SIZES[0])[:, None] * np.ones(2)
BROKEN = 0.5 + np.maximum(0, OCTAVES - 3)
DIP = 1.5 - 0.25 * np.minimum(OCTAVES, 5 - OCTAVES)


def p_values(logits, curves, seed=0, **how):
    found = []
    for begin in range(0, curves, 250):
        rng = np.random.default_rng([seed, begin])
        own = counts_of(min(250, curves - begin), SIZES, logits, rng, **how)
        found.append(lack_of_fit(fit_calibrated(own)))
    return np.concatenate(found)


def test_the_level_is_kept_where_the_law_holds():
    p = p_values(power_law(SIZES), 500)
    assert_at_most((p <= 0.05).sum(), 500, 0.06)
    assert p.min() > 0
    assert p.max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [-1.0, -0.5, -0.2])
def test_the_level_is_kept_over_many_curves(gamma):
    p = p_values(power_law(SIZES, gamma), 4000)
    assert_at_most((p <= 0.05).sum(), 4000, 0.055)
    assert_at_least((p <= 0.05).sum(), 4000, 0.035)


def test_level_without_a_slope_where_the_exponent_means_nothing():
    p = p_values(power_law(SIZES, fall=(0.0, 0.0)), 500)
    assert_at_most((p <= 0.05).sum(), 500, 0.06)


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_counts_alone_never_find_too_much(correlation):
    p = p_values(power_law(SIZES), 500, has_examples=False, correlation=correlation)
    assert_at_most((p <= 0.05).sum(), 500, 0.06)


def test_independence_would_find_too_much():
    """The negative control: noise of training sets left out, and nothing fits."""
    own = counts_of(250, SIZES, power_law(SIZES), np.random.default_rng(1), spread=20.0)
    fit = fit_calibrated(own)
    assert_at_most((lack_of_fit(fit) <= 0.05).sum(), 250, 0.12)
    fit.noise.omega[:] *= 0.01
    with pytest.raises(AssertionError):
        assert_at_most((lack_of_fit(fit) <= 0.05).sum(), 250, 0.12)


@pytest.mark.parametrize("has_examples", [True, False])
@pytest.mark.parametrize("logits", [BROKEN, DIP])
def test_other_curves_are_found_out(logits, has_examples):
    p = p_values(logits, 100, has_examples=has_examples)
    assert_at_least((p <= 0.05).sum(), 100, 0.9)


def test_a_curve_that_is_nearly_a_power_law_is_seldom_found_out():
    """What the test cannot see: an exponent of 1 bends like a square of octaves."""
    p = p_values(0.5 + 0.15 * OCTAVES**2, 100)
    assert 0.1 < (p <= 0.05).mean() < 0.6


def test_two_sizes_say_nothing_about_fit():
    rng = np.random.default_rng(2)
    two = counts_of(1, SIZES[:2], power_law(SIZES)[:2], rng, has_examples=False)
    six = counts_of(1, SIZES, power_law(SIZES), rng, has_examples=False)
    alone = lack_of_fit(fit_calibrated(six))
    p = lack_of_fit(fit_calibrated(stacked([two, six])))
    assert np.isnan(p[0])
    assert p[1] == pytest.approx(alone[0], abs=1e-6)


def test_perfect_classes_have_a_p_value():
    own = counts_of(1, SIZES, np.full((6, 2), 50.0), np.random.default_rng(0))
    p = lack_of_fit(fit_calibrated(own))
    assert 0 <= p[0] <= 1
