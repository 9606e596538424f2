"""What a power law says."""

import math

import numpy as np
import pytest
from noisy_curves import AT, SIZES, noisy
from support import assert_at_least

from curvewise.errors import CurvewiseError
from curvewise.stats.powerlaw import (
    PowerLaw,
    bootstrap_band,
    fit_power_law,
    fit_power_laws,
)


@pytest.mark.parametrize("terms", ["power", "linear", "quadratic", "full"])
@pytest.mark.parametrize("method", ["calibrated", "paper"])
def test_a_curve_without_noise_comes_back(terms, method):
    delta = 0.6 if terms in ("quadratic", "full") else 0.0
    gamma = -0.5 if terms != "power" else -0.35
    e = 0.1 + 1.2 * SIZES**gamma + delta * SIZES ** (2 * gamma)
    law = fit_power_law(SIZES, e, terms=terms, method=method)
    assert law.gamma == pytest.approx(gamma, abs=0.0101)
    np.testing.assert_allclose(law.error(SIZES), e, atol=2e-5)
    if method == "paper" or terms != "full":
        assert law.alpha == pytest.approx(0.1, abs=2e-3)
        assert law.eta == pytest.approx(1.2, rel=0.02)
        assert law.delta == pytest.approx(delta, rel=0.02)


def test_exponents_between_grid_points_are_found_where_noise_is_tiny():
    """On a grid of hundredths alone no interval would hold the truth."""
    gamma, curves, sd = -0.3337, 200, 1e-6
    rng = np.random.default_rng(5)
    errors = 0.1 + 1.2 * SIZES**gamma + sd * rng.normal(size=(9, curves, 5))
    laws = fit_power_laws(SIZES, errors.mean(axis=0), 9, errors.var(axis=0, ddof=1))
    assert np.abs(laws.gamma - gamma).max() < 1e-4
    band = laws.interval(AT)
    truth = 0.1 + 1.2 * AT**gamma
    for cell in ((band.lower <= truth) & (truth <= band.upper)).sum(axis=0):
        assert_at_least(cell, curves, 0.92)
        assert cell < curves
    assert (band.upper - band.lower)[:, :3].max() < 1e-5


@pytest.mark.parametrize("method", ["calibrated", "paper"])
def test_sizes_of_any_order_and_scale_give_the_same_curve(method):
    errors = noisy()
    law = fit_power_law(SIZES, errors, method=method)
    order = [3, 0, 4, 1, 2]
    again = fit_power_law(SIZES[order], [errors[i] for i in order], method=method)
    assert (again.alpha, again.eta) == (law.alpha, law.eta)
    big = fit_power_law(SIZES * 1e12, errors, method="calibrated")
    small = fit_power_law(SIZES, errors, method="calibrated")
    np.testing.assert_allclose(big.error(AT * 1e12), small.error(AT), rtol=1e-9)
    np.testing.assert_allclose(
        big.quantile([0.1, 0.9], AT * 1e12), small.quantile([0.1, 0.9], AT), rtol=1e-6
    )


def test_units_scale_the_whole_answer():
    errors = noisy()
    one = fit_power_law(SIZES, errors)
    hundred = fit_power_law(SIZES, [100 * e for e in errors], unit="percent")
    for name in ("alpha", "eta", "e_N", "beta_N", "asymptote"):
        assert getattr(hundred, name) == pytest.approx(100 * getattr(one, name))
    assert hundred.noise_floor == pytest.approx(1e4 * one.noise_floor)
    np.testing.assert_allclose(hundred.means, 100 * one.means)
    for ask in ("interval", "band"):
        a, b = getattr(one, ask)(AT), getattr(hundred, ask)(AT)
        np.testing.assert_allclose(b.upper, 100 * a.upper)
    p = [0.05, 0.5]
    np.testing.assert_allclose(
        hundred.reliance_quantile(p, 400), 100 * one.reliance_quantile(p, 400)
    )
    np.testing.assert_allclose(hundred.exponent_quantile(p), one.exponent_quantile(p))


def test_e_n_and_reliance_are_at_the_reference_size():
    law = fit_power_law(SIZES, noisy(), size=100)
    assert law.size == 100
    assert law.e_N == pytest.approx(float(law.error(100)))
    assert law.beta_N == pytest.approx(-2 * law.gamma * law.eta * 100**law.gamma)
    again = PowerLaw.from_summary(*law.summary(), 100)
    assert again.alpha == pytest.approx(law.alpha)
    assert again.eta == pytest.approx(law.eta)
    other = PowerLaw.from_summary(*law.summary(400), 400)
    assert other.alpha == pytest.approx(law.alpha)


@pytest.mark.parametrize("method", ["calibrated", "paper"])
def test_quantiles_are_in_order_and_draws_agree_with_them(method):
    law = fit_power_law(SIZES, noisy(), method=method)
    p = np.array([0.001, 0.025, 0.2, 0.5, 0.8, 0.975, 0.999])
    q = law.quantile(p, AT)
    assert q.shape == (7, 5)
    assert (np.diff(q, axis=0) >= 0).all()
    draws = law.draws(40_000, rng=np.random.default_rng(2))
    found = np.quantile(draws.error(AT), p[1:-1], axis=0)
    width = q[5] - q[1]
    assert np.abs((found - q[1:-1]) / width).max() < 0.03
    if method == "calibrated":
        found = np.quantile(draws.gamma, p[1:-1])
        assert np.abs(found - law.exponent_quantile(p[1:-1])).max() < 0.012
    else:
        assert set(law.exponent_quantile(p)) == {law.gamma}
    same = law.draws(5, rng=np.random.default_rng(2)).alpha
    np.testing.assert_array_equal(
        same, law.draws(5, rng=np.random.default_rng(2)).alpha
    )


def test_the_quantile_is_where_the_mixture_has_its_probability():
    from scipy import stats

    law = fit_power_law(SIZES, noisy())
    m = law._mixture
    centre, scale = m.errors(AT)
    for p in (1e-4, 0.025, 0.5, 0.99):
        z = (law.quantile([p], AT)[0] - centre[0]) / scale[0]
        below = (m.weights[0][:, None] * stats.t(m.freedom[0]).cdf(z)).sum(axis=0)
        np.testing.assert_allclose(below, p, atol=1e-7)  # light parts are left out


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 7, 29, math.inf])
def test_quantiles_of_mixtures_are_right_at_any_freedom(freedom):
    from scipy import stats

    from curvewise.stats.powerlaw.mixture import mixture_quantile

    rng = np.random.default_rng(1)
    w = rng.dirichlet(np.full(7, 0.5), size=5)
    c, s = 5 * rng.normal(size=(5, 7, 3)), rng.gamma(1, size=(5, 7, 3))
    p = np.array([1e-4, 0.025, 0.5, 0.9, 1 - 1e-4])
    q = mixture_quantile(p, w, c, s, np.full(5, float(freedom)))
    t = stats.norm if math.isinf(freedom) else stats.t(freedom)
    below = (
        w[:, None, :, None] * t.cdf((q[:, :, None] - c[:, None]) / s[:, None])
    ).sum(2)
    np.testing.assert_allclose(below, np.broadcast_to(p[:, None], (5, 5, 3)), atol=3e-7)


def test_bands_are_nested():
    law = fit_power_law(SIZES, noisy())
    interval, band = law.interval(AT), law.band(AT)
    assert (band.lower <= interval.lower).all()
    assert (band.upper >= interval.upper).all()
    assert (law.band(AT, 0.5).upper < band.upper).all()
    assert (law.band(AT, 0.5).lower > band.lower).all()
    same = law.band(AT, pointwise=True)
    np.testing.assert_array_equal(same.lower, interval.lower)
    assert band.guarantee != interval.guarantee == same.guarantee


def test_one_sided_intervals_reach_less_far_and_say_nothing_of_the_other_side():
    law = fit_power_law(SIZES, noisy())
    both, upper = law.interval(AT), law.interval(AT, side="upper")
    lower = law.interval(AT, side="lower")
    assert (upper.upper < both.upper).all()
    assert (lower.lower > both.lower).all()
    assert (upper.lower == 0).all()
    assert (lower.upper == 1).all()
    np.testing.assert_allclose(upper.upper, law.quantile([0.95], AT)[0])
    assert (law.band(AT, side="upper").lower == 0).all()


def test_the_band_is_the_edge_of_the_likelihood_region():
    """Every curve of a dense sample of the region is inside, and some touch the edge."""
    from scipy import stats

    errors = noisy(counts=(4, 4, 4, 4, 4))
    law = fit_power_law(SIZES, errors)
    v = law.noise(SIZES) / law.noise(400)
    y, n = np.concatenate(errors), np.repeat(SIZES, 4)
    w = np.repeat(1 / v, 4)
    rng = np.random.default_rng(8)
    m = law._mixture
    slack = 3 * stats.f(3, 17).ppf(0.95) / 17
    best = m.squares.min()
    drawn = law.draws(60_000, rng=rng)
    pred = drawn.error(SIZES)
    squares = (w * y**2).sum() + sum(
        w[n == size].sum() * pred[:, i] ** 2 - 2 * pred[:, i] * (w * y)[n == size].sum()
        for i, size in enumerate(SIZES)
    )
    at = np.array([25.0, 100, 400, 1600])
    inside = squares <= best * (1 + slack)
    curves = drawn.error(at)[inside]
    band = law.band(at)
    width = band.upper - band.lower
    assert (curves >= band.lower - 1e-9).all()
    assert (curves <= band.upper + 1e-9).all()
    assert (np.abs(curves.max(axis=0) - band.upper) < 0.08 * width).all()
    assert (np.abs(curves.min(axis=0) - band.lower) < 0.08 * width).all()
    assert not (drawn.error(at)[~inside] <= band.upper).all()


def test_parameters_come_with_intervals():
    law = fit_power_law(SIZES, noisy())
    found = law.parameters()
    assert list(found) == ["e_N", "beta_N", "gamma", "alpha"]
    for name, interval in found.items():
        assert interval.value in interval
        assert interval.value == getattr(law, name)
    narrow = law.parameters(0.5)
    assert all(narrow[x].half_width < found[x].half_width for x in found)
    paper = fit_power_law(SIZES, noisy(), method="paper").parameters()
    assert paper["gamma"].half_width == 0
    assert "taken for known" in paper["gamma"].guarantee


def test_a_summary_knows_nothing_of_its_uncertainty():
    law = PowerLaw.from_summary(0.2, 0.1, -0.5, 400)
    for ask in (
        lambda: law.interval(400),
        lambda: law.band(400),
        lambda: law.quantile(0.5, 400),
        lambda: law.reliance_quantile(0.5, 400),
        lambda: law.exponent_quantile(0.5),
        law.parameters,
        lambda: law.draws(3, rng=np.random.default_rng(1)),
        lambda: bootstrap_band(law, 400, rng=np.random.default_rng(1)),
    ):
        with pytest.raises(CurvewiseError, match="from a summary"):
            ask()
    assert law.extrapolation_limit == 1600


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"gamma": 0.2}, "gamma"),
        ({"gamma": -500}, "gamma"),
        ({"N": 0}, None),
        ({"e_N": math.nan}, None),
        ({"e_N": 20.0}, "e_N"),
        ({"unit": "points"}, "unit"),
    ],
)
def test_a_summary_that_is_none_is_refused(change, argument):
    summary = {"e_N": 0.2, "beta_N": 0.1, "gamma": -0.5, "N": 400} | change
    with pytest.raises(CurvewiseError) as refused:
        PowerLaw.from_summary(**summary)
    assert refused.value.argument == argument
