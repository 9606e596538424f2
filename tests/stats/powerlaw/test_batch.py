"""Many power laws at once are each what they would be alone."""

import numpy as np
import pytest

from curvewise.errors import CurvewiseError, CurvewiseWarning
from curvewise.stats.powerlaw import fit_power_law, fit_power_laws

SIZES = np.array([25.0, 50, 100, 200, 400])
COUNTS = np.array([6, 4, 3, 2, 1])
AT = np.array([25.0, 400, 1600, np.inf])


def curves(k, seed=1):
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(k):
        alpha, eta, gamma = rng.uniform([0.05, 0.5, -0.9], [0.2, 1.2, -0.2])
        mean = alpha + eta * SIZES**gamma
        result.append(
            [
                m + 0.1 * rng.normal(size=c) / n**0.5
                for m, n, c in zip(mean, SIZES, COUNTS, strict=True)
            ]
        )
    return result


def moments(runs):
    means = np.array([[e.mean() for e in curve] for curve in runs])
    with np.errstate(invalid="ignore"):
        variances = np.array(
            [[e.var(ddof=1) if len(e) > 1 else np.nan for e in c] for c in runs]
        )
    return means, variances


@pytest.mark.parametrize("method", ["calibrated", "paper"])
@pytest.mark.parametrize("terms", ["power", "linear", "quadratic", "full"])
def test_a_batch_is_its_curves(method, terms):
    runs = curves(20)
    means, variances = moments(runs)
    laws = fit_power_laws(SIZES, means, COUNTS, variances, method=method, terms=terms)
    quantiles, ends = laws.quantile([0.025, 0.975], AT), laws.interval(AT)
    bands = laws.band(AT)
    for i, errors in enumerate(runs):
        law = fit_power_law(SIZES, errors, method=method, terms=terms)
        for name in ("alpha", "eta", "delta", "gamma", "e_N", "beta_N", "r_squared"):
            assert getattr(laws, name)[i] == pytest.approx(getattr(law, name), rel=1e-6)
        np.testing.assert_allclose(laws.error(AT)[i], law.error(AT), rtol=1e-8)
        np.testing.assert_allclose(
            quantiles[i], law.quantile([0.025, 0.975], AT), atol=1e-7
        )
        band = law.band(AT)
        np.testing.assert_allclose(bands.lower[i], band.lower, atol=1e-7)
        np.testing.assert_allclose(bands.upper[i], band.upper, atol=1e-7)
        for ask in ("noise", "data_reliance", "linear_predictor"):
            np.testing.assert_allclose(
                getattr(laws, ask)(AT)[i], getattr(law, ask)(AT), rtol=1e-6
            )
        assert laws.p_misfit[i] == pytest.approx(law.p_misfit, rel=1e-5, nan_ok=True)
    np.testing.assert_allclose(ends.lower, quantiles[:, 0], atol=1e-12)
    np.testing.assert_array_equal(ends.value, laws.error(AT))
    if method == "calibrated":  # in units of the noise
        noise = laws.noise(SIZES)
        squares = (COUNTS * (means - laws.error(SIZES)) ** 2 / noise).sum(axis=1)
        np.testing.assert_allclose(laws.cost, squares, rtol=1e-6)
    one = laws[3]
    # One curve alone may meet another kernel of BLAS: the last bit is the machine's.
    assert one.alpha == pytest.approx(laws.alpha[3], rel=1e-13)
    assert (
        one.concerns
        == fit_power_law(SIZES, runs[3], method=method, terms=terms).concerns
    )


def test_a_broken_curve_spoils_no_other():
    runs = curves(40)
    means, variances = moments(runs)
    alone = fit_power_laws(SIZES, means, COUNTS, variances)
    bad_means, bad_variances = means.copy(), variances.copy()
    bad_means[3, 2], bad_means[7, 0], bad_means[11, 1] = np.nan, np.inf, -0.1
    bad_means[13] = 30.0
    bad_variances[17, 0], bad_variances[19, 1] = -1, np.nan
    counts = np.broadcast_to(COUNTS, means.shape).astype(float)
    counts[23, 3] = 0
    laws = fit_power_laws(SIZES, bad_means, counts, bad_variances)
    bad = [3, 7, 11, 13, 17, 19, 23]
    assert np.flatnonzero(~laws.is_fitted).tolist() == bad
    good = laws.is_fitted
    for name in ("alpha", "eta", "gamma", "e_N", "beta_N", "cost", "r_squared"):
        np.testing.assert_array_equal(
            getattr(laws, name)[good], getattr(alone, name)[good]
        )
        assert np.isnan(getattr(laws, name)[~good]).all()
    q, before = laws.quantile([0.1, 0.9], AT), alone.quantile([0.1, 0.9], AT)
    np.testing.assert_allclose(q[good], before[good], atol=1e-7)
    assert np.isnan(q[~good]).all()
    assert np.isnan(laws.error(AT)[~good]).all()
    assert np.isnan(laws.band(AT).lower[~good]).all()
    with pytest.raises(CurvewiseError, match="Curve 3 "):
        laws[3]
    assert laws[-1].alpha == pytest.approx(laws.alpha[-1], rel=1e-13)


def test_variances_that_nobody_gave_are_not_0():
    means, _ = moments(curves(10))
    without = fit_power_laws(SIZES, means, COUNTS)
    claimed = fit_power_laws(SIZES, means, COUNTS, 0.0)
    widths = [
        np.ptp(x.quantile([0.025, 0.975], 400), axis=1) for x in (without, claimed)
    ]
    assert (widths[0] > 1.2 * widths[1]).all()
    assert "no_repeats" in without[0].concerns
    assert without.alpha.shape == without.asymptote.shape == (10,)
    np.testing.assert_array_equal(without.sizes, SIZES)


def test_what_is_about_one_curve_is_not_asked_of_many():
    means, _ = moments(curves(3))
    laws = fit_power_laws(SIZES, means)
    for ask in (
        laws.summary,
        laws.parameters,
        lambda: laws.draws(3, rng=np.random.default_rng(1)),
    ):
        with pytest.raises(CurvewiseError, match="3 curves"):
            ask()
    with pytest.raises(CurvewiseError, match="one curve"):
        laws[0][0]


@pytest.mark.parametrize(
    ("means", "change", "match"),
    [
        ([0.5, 0.4, 0.3, 0.2, 0.1], {}, "means have shape"),
        (np.zeros((0, 5)), {}, "no row"),
        (np.full((2, 5), 0.3), {"counts": [1, 2]}, "counts has shape"),
        (np.full((2, 5), 0.3), {"variances": np.zeros((3, 5))}, "variances has shape"),
        (np.full((2, 5), 0.3), {"method": "old"}, "method"),
        ([["a"] * 5], {}, "no table"),
    ],
)
def test_tables_are_checked(means, change, match):
    with pytest.raises(CurvewiseError, match=match):
        fit_power_laws(SIZES, means, **change)


def test_sizes_are_in_order():
    with pytest.raises(CurvewiseError, match="do not increase"):
        fit_power_laws([50, 25, 100], [[0.4, 0.5, 0.3]])
    with pytest.raises(CurvewiseError, match="at least 3"):
        fit_power_laws([50, 100], [[0.4, 0.3]])
    with pytest.raises(CurvewiseError, match="twice"):
        fit_power_laws([25, 50, 50.0000000001], [[0.4, 0.3, 0.2]])


def test_curves_of_another_unit_are_warned_about():
    means = 0.1 + 1.2 * np.array([SIZES, SIZES]) ** -0.5
    for unit, other in (("percent", "fraction"), ("fraction", "percent")):
        values = means if unit == "percent" else 100 * means
        with pytest.warns(CurvewiseWarning) as warned:
            fit_power_laws(SIZES, values, unit=unit)
        assert warned[0].message.args[0].fixes == ({"unit": other},)
