"""How much data an error takes: closed forms, and what may be wrong with the answer."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from curvewise import CurvewiseError
from curvewise.stats.learning import extrapolate, extrapolate_many, size_for
from curvewise.stats.powerlaw import fit_power_laws


def exact(curve, error, p):
    """Return where (error - e(n)) / sd has the score of p, for a constant sd."""
    wanted = error - ndtri(p) * curve.spread
    return ((wanted - curve.alpha) / curve.eta) ** (1 / curve.gamma)


@pytest.mark.parametrize("error", [0.2, 0.15, 0.12])
def test_the_median_and_the_interval_of_a_normal_curve(any_curve, error):
    curve = any_curve(0.05, 1.5, -0.5, 0.005)
    found = size_for(curve, error, confidence=0.9)
    # A spline through the quantiles of a law is good to a thousandth of the size.
    near = 1e-3 if hasattr(curve, "asymptote") else 1e-4
    assert found.size == pytest.approx(exact(curve, error, 0.5), rel=near)
    assert found.interval.lower == pytest.approx(exact(curve, error, 0.05), rel=near)
    assert found.interval.upper == pytest.approx(exact(curve, error, 0.95), rel=near)


def test_the_chance_is_the_normal_one(any_curve):
    curve = any_curve(0.05, 1.5, -0.5, 0.01)
    n = np.array([30.0, 100.0, 400.0, 5000.0])
    found = size_for(curve, 0.12).chance(n)
    np.testing.assert_allclose(found, ndtr((0.12 - curve.error(n)) / 0.01), atol=1e-7)


def test_an_error_near_the_asymptote_may_never_be_reached(normal_curve):
    curve = normal_curve(0.1, 1.0, -0.5, 0.01)
    found = size_for(curve, 0.1)
    assert found.reached == pytest.approx(0.5)
    found = size_for(curve, 0.09)
    assert found.reached == pytest.approx(ndtr(-1), abs=1e-9)
    assert math.isinf(found.size)
    assert math.isinf(found.interval.upper)
    assert math.isfinite(found.interval.lower)


def test_the_largest_size_limits_what_is_reached(any_curve):
    curve = any_curve(0.0, 1.0, -0.5, 1e-4)
    assert size_for(curve, 0.01, largest=1e3).size == math.inf
    assert size_for(curve, 0.01, largest=1e5).size == pytest.approx(1e4, rel=1e-3)


def test_a_chance_that_falls_counts_at_its_largest(short_tails):
    """Spread grows faster than the curve falls; what was reached stays so."""
    curve = short_tails(0.1, 1.0, -0.5, 1e-3, grows=0.5)
    found = size_for(curve, 0.16, largest=1e8)
    chance = found.chance(np.geomspace(25, 1e8, 50))
    assert (np.diff(chance) < 0).any()
    assert found.reached >= chance.max() - 1e-9
    assert found.interval.lower <= found.size <= found.interval.upper


def test_an_error_that_was_seen_has_its_size(normal_curve):
    curve = normal_curve(0.05, 1.5, -0.5, 0.005)
    found = size_for(curve, 0.21)
    assert found.seen_at == 100
    assert math.isnan(size_for(curve, 0.1).seen_at)


def test_sizes_below_the_smallest_are_a_concern(normal_curve):
    found = size_for(normal_curve(0.05, 1.5, -0.5, 0.005), 0.4)
    assert found.size == found.interval.lower == 25
    assert found.concerns == ("below_smallest",)


def test_far_answers_are_a_concern(normal_curve):
    found = size_for(normal_curve(0.05, 1.5, -0.5, 0.001), 0.06)
    assert found.concerns == ("far",)


def test_the_row_of_an_answer(normal_curve):
    found = size_for(normal_curve(0.05, 1.5, -0.5, 0.005), 0.12)
    (row,) = found.rows()
    assert row["size"] == found.size == pytest.approx(459, rel=1e-2)
    assert row["chance of ever reaching it"] == found.reached == pytest.approx(1)
    assert found.concerns == ()


@pytest.mark.parametrize(
    "change",
    [{"error": "low"}, {"error": -0.1}, {"confidence": 1.0}, {"largest": 10.0}],
)
def test_what_is_refused(normal_curve, change):
    ((argument, value),) = change.items()
    question = {"forecast": normal_curve(0.05, 1.5, -0.5, 0.005), "error": 0.1} | change
    with pytest.raises(CurvewiseError) as refused:
        size_for(**question)
    assert (refused.value.argument, refused.value.value) == (argument, value)


def test_what_is_no_forecast_of_one_curve_is_refused():
    sizes, means = [25, 50, 100], [[0.4, 0.3, 0.25]] * 2
    for curves in (
        [0.1, 0.2],
        extrapolate_many(sizes, means, to=200),
        fit_power_laws(sizes, means),
    ):
        with pytest.raises(CurvewiseError, match="forecast is"):
            size_for(curves, 0.1)


def test_an_error_in_another_unit_is_refused():
    sizes, errors = [25, 50, 100], np.array([0.4, 0.3, 0.25])
    percent = extrapolate(sizes, 100 * errors, to=200, unit="percent")
    assert size_for(percent, 20).size > 100
    for curve, error in ((extrapolate(sizes, errors, to=200), 20), (percent, 101)):
        with pytest.raises(CurvewiseError) as refused:
            size_for(curve, error)
        assert (refused.value.argument, refused.value.value) == ("error", error)


def test_what_is_not_reached_by_the_largest_size_may_be_later(normal_curve):
    near = size_for(normal_curve(0.1, 1.0, -0.5, 0.001), 0.15, largest=300)
    assert near.reached > 0.99
    assert math.isinf(near.size)
