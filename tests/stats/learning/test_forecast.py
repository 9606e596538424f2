"""The questions, asked of extrapolations and of power laws."""

import math

import numpy as np
import pytest
from scipy.special import ndtri
from support import assert_at_most, assert_rate

from curvewise import CurvewiseError
from curvewise.stats.learning import (
    Forecast,
    chance_better,
    crossing,
    data_multiplier,
    extrapolate,
    size_for,
)
from curvewise.stats.learning.forecast import SCORES, quantile_table, tables_between
from curvewise.stats.powerlaw import PowerLaw, fit_power_law

N = np.array([16.0, 32, 64, 128, 256, 512, 1024])
GOOD = [0.420, 0.350, 0.295, 0.262, 0.231, 0.212, 0.198]
SLOW = [0.700, 0.550, 0.440, 0.350, 0.280, 0.225, 0.180]


def fit(errors, unit="fraction"):
    return extrapolate(N, errors, to=2048, unit=unit)


def test_an_extrapolation_is_a_forecast():
    assert isinstance(fit(GOOD), Forecast)


def test_the_median_size_is_where_the_prediction_is():
    curve = fit(GOOD)
    found = size_for(curve, 0.185)
    there = curve.quantile([0.025, 0.5, 0.975], [found.size])[:, 0]
    assert there[1] == pytest.approx(0.185, abs=1e-4)
    early = curve.quantile([0.025], [found.interval.lower])[0, 0]
    assert early == pytest.approx(0.185, abs=1e-4)
    assert 0.5 < found.reached <= 1


def test_an_error_that_was_seen():
    found = size_for(fit(GOOD), 0.25)
    assert found.seen_at == 256
    assert 128 < found.interval.lower < found.size < found.interval.upper


def test_percent_give_the_same_sizes():
    one = size_for(fit(GOOD), 0.18)
    other = size_for(fit([100 * e for e in GOOD], "percent"), 18)
    assert other.size == pytest.approx(one.size, rel=1e-6)
    assert other.reached == pytest.approx(one.reached, abs=1e-9)


def test_an_error_of_zero():
    """The mass of what is clipped at 0 counts as reached."""
    found = size_for(fit(GOOD), 0.0)
    assert math.isinf(found.size)
    assert 0 <= found.reached < 0.5


def test_two_extrapolations_cross():
    a, b = fit(GOOD), fit(SLOW)
    found = crossing(a, b)
    (at,) = found.at
    assert 512 < at.value < 1024
    assert found.chance[0] > 0.975
    assert chance_better(a, b, [at.value])[0] == pytest.approx(0.5, abs=1e-3)


def test_the_multiplier_of_two_extrapolations():
    a, b = fit(GOOD), fit([e + 0.02 for e in GOOD])
    found = data_multiplier(a, b, [128, 512])
    assert (found.value > 1).all()
    assert (found.lower < found.value).all()
    assert (found.value < found.upper).all()
    assert b.quantile([0.5], 128 * found.value[:1])[0, 0] == pytest.approx(
        a.quantile([0.5], [128])[0, 0], abs=1e-3
    )


@pytest.mark.parametrize(
    "errors", [[0.3] * 7, [0.0] * 7, [1.0] * 7, GOOD[::-1]], ids=str
)
def test_odd_curves_have_answers(errors):
    curve = fit(errors)
    found = size_for(curve, 0.2)
    assert 0 <= found.reached <= 1
    assert found.interval.lower <= found.size <= found.interval.upper
    chance = crossing(curve, fit(GOOD)).chance
    assert ((chance >= 0) & (chance <= 1)).all()
    assert np.isfinite(data_multiplier(curve, fit(GOOD), 64).lower).all()


# --- power laws --------------------------------------------------------------------------


def law(alpha, eta, gamma, seed, unit="fraction"):
    rng = np.random.default_rng(seed)
    scale = 100 if unit == "percent" else 1
    errors = [
        scale * (alpha + eta * n**gamma + np.sqrt(2e-5 + 4e-3 / n) * rng.normal(size=r))
        for n, r in zip([25.0, 50, 100, 200, 400], (16, 8, 4, 4, 4), strict=True)
    ]
    return fit_power_law([25, 50, 100, 200, 400], errors, unit=unit)


def test_a_power_law_is_a_forecast_and_a_summary_is_refused():
    assert isinstance(law(0.1, 1.5, -0.5, 1), Forecast)
    with pytest.raises(CurvewiseError, match="no errors"):
        size_for(PowerLaw.from_summary(0.2, 0.1, -0.5, 400), 0.1)


@pytest.mark.parametrize("most", [2e3, 1e12])
def test_a_spline_through_quantiles_is_near_them(most):
    """Within a hundredth of the spread at any size and any score up to 3."""
    curve = law(0.1, 1.5, -0.5, 1)
    n = np.r_[27.0, 33, 52, 90, 130, 300, 410, 700, np.geomspace(900, most, 7)[1:-1]]
    exact, near = quantile_table(curve, n), tables_between(curve, 25.0, most)(n)
    spread = (exact[48] - exact[16]) / 4  # scores -2 and 2
    assert (np.abs(exact - near)[8:57] / spread).max() < 0.01


def test_few_levels_are_enough():
    """Quantiles between the seventeen that are asked for are those of the law."""
    curve = law(0.1, 1.5, -0.5, 1)
    p = np.array([0.003, 0.03, 0.2, 0.44, 0.9, 0.99])
    n = np.array([50.0, 1600.0])
    exact = curve.quantile(p, n)
    table = quantile_table(curve, n)
    near = np.stack([np.interp(ndtri(p), SCORES, column) for column in table.T], axis=1)
    spread = (table[48] - table[16]) / 4
    assert (np.abs(exact - near) / spread).max() < 0.01


def test_a_law_knows_what_is_never_reached():
    curve = law(0.1, 1.5, -0.5, 1)
    found = size_for(curve, 0.05)
    assert math.isinf(found.size)
    assert found.reached < 0.5
    assert found.reached >= found.chance([1e12])[0] - 1e-6


def test_the_interval_of_the_size_holds_the_truth():
    """e(n) = .15 at n = 900; laws fitted to 12 draws of runs, each at 80 %."""
    hits = 0
    for seed in range(12):
        hits += (
            900
            in size_for(
                law(0.1, 1.5, -0.5, seed), 0.15, confidence=0.8, largest=1e6
            ).interval
        )
    assert_rate(hits, 12, 0.8)


@pytest.mark.slow
def test_the_interval_of_the_size_holds_the_truth_at_length():
    hits, narrow = 0, 0
    for seed in range(400):
        found = size_for(law(0.1, 1.5, -0.5, 100 + seed), 0.15, largest=1e6)
        hits += 900 in found.interval
        # The negative control: within a tenth of the median.
        narrow += abs(found.size / 900 - 1) < 0.1
    print(f"\nsize_for: coverage {hits / 400:.3f}, control {narrow / 400:.3f}")
    assert_rate(hits, 400, 0.95)
    assert_at_most(narrow, 400, 0.85)


@pytest.mark.slow
def test_the_interval_of_the_crossing_holds_the_truth_at_length():
    """.1 + 1.5/sqrt(n) and .15 + 1/sqrt(n) are the same at n = 100."""
    hits, narrow = 0, 0
    for seed in range(400):
        a, b = law(0.1, 1.5, -0.5, 2 * seed), law(0.15, 1.0, -0.5, 2 * seed + 1)
        found = crossing(a, b, sizes=[25, 1600])
        hits += any(
            s.better is None and s.first <= 100 <= s.last for s in found.stretches
        )
        narrow += any(abs(at.value / 100 - 1) < 0.02 for at in found.at)
    print(f"\ncrossing: coverage {hits / 400:.3f}, control {narrow / 400:.3f}")
    assert_rate(hits, 400, 0.95)
    assert_at_most(narrow, 400, 0.85)


def test_percent_and_fractions_agree():
    one, other = law(0.1, 1.5, -0.5, 1), law(0.1, 1.5, -0.5, 1, "percent")
    a = size_for(one, 0.16, largest=1e6)
    b = size_for(other, 16.0, largest=1e6)
    assert b.size == pytest.approx(a.size, rel=1e-3)
    np.testing.assert_allclose(
        chance_better(other, law(0.12, 1.2, -0.45, 2, "percent"), [100, 300]),
        chance_better(one, law(0.12, 1.2, -0.45, 2), [100, 300]),
        atol=1e-3,
    )
