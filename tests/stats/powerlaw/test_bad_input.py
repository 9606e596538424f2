"""What a power law says of errors that are no curve, or an odd one."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noisy_curves import AT, SIZES, noisy

from curvewise.errors import CurvewiseError, CurvewiseWarning
from curvewise.stats.powerlaw import (
    bootstrap_band,
    fit_power_law,
)


def test_errors_are_never_below_0_nor_above_1():
    errors = noisy(curve=(-0.05, 2.5, -0.42), counts=(4, 4, 4, 2, 1))
    law = fit_power_law(SIZES, errors)
    assert law.alpha < 0
    assert law.asymptote == 0
    assert "asymptote_below_0" in law.concerns
    at = np.array([0.5, 1.0, 1e9, np.inf])
    for band in (law.interval(at), law.band(at)):
        assert (band.lower >= 0).all()
        assert (band.upper <= 1).all()
    assert law.parameters()["alpha"].lower < 0
    loss = fit_power_law(SIZES, [30 * e for e in errors], unit="loss")
    assert loss.interval([1.0]).upper[0] > 1


def test_sizes_and_probabilities_are_checked():
    law = fit_power_law(SIZES, noisy())
    refused = [
        *(("n", law.error, n) for n in (0, -3, math.nan, "many", [1, -1], 1e-300)),
        *(
            ("p", lambda p: law.quantile(p, 100), p)
            for p in (0, 1, math.nan, [0.5, 2], [[0.5]], "half")
        ),
        ("d", law.linear_predictor, 0),
        ("side", lambda side: law.band(100, side=side), "left"),
        ("confidence", lambda confidence: law.interval(100, confidence), 1.5),
        ("rng", lambda rng: law.draws(3, rng=rng), None),
    ]
    for argument, ask, value in refused:
        with pytest.raises(CurvewiseError) as error:
            ask(value)
        assert error.value.argument == argument
        assert error.value.value is value


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"sizes": [25, 50], "errors": [0.5, 0.4]}, "at least 3"),
        (
            {"terms": "full", "sizes": [1, 2, 3], "errors": [0.5, 0.4, 0.3]},
            "at least 4",
        ),
        ({"terms": "linear", "sizes": [25], "errors": [0.5]}, "at least 2"),
        ({"sizes": [0, 50, 100]}, "above 0"),
        ({"sizes": [-25, 50, 100]}, "above 0"),
        ({"errors": [0.5, math.nan, 0.3]}, "not finite"),
        ({"errors": [0.5, 0.4]}, "errors for 2"),
        ({"errors": [0.5, 0.4, -0.3]}, "below 0"),
        ({"errors": [50, 0.4, 0.3]}, "unit='percent'"),
        ({"errors": [150, 0.4, 0.3], "unit": "percent"}, "unit='loss'"),
        ({"method": "best"}, "method is 'best'"),
        ({"weights": "none"}, "weights is 'none'"),
        ({"weights": "equal"}, "method='paper' for others"),
        ({"terms": "cubic"}, "terms is 'cubic'"),
        ({"noise_floor": -1}, "noise_floor is -1"),
        ({"noise_floor": 0}, "noise_floor is 0"),
        ({"size": 0}, "size is 0"),
        ({"size": math.inf}, "size is inf"),
    ],
)
def test_what_is_no_curve_is_refused(change, match):
    given = {"sizes": [25, 50, 100], "errors": [0.5, 0.4, 0.3]} | change
    with pytest.raises(CurvewiseError, match=match):
        fit_power_law(given.pop("sizes"), given.pop("errors"), **given)


def test_fractions_called_percent_are_warned_of():
    with pytest.warns(CurvewiseWarning, match="unit='fraction'"):
        fit_power_law([25, 50, 100], [0.5, 0.4, 0.3], unit="percent")


def test_one_run_for_each_size_works_and_is_wider_and_says_so():
    one = fit_power_law(SIZES, noisy(counts=(1,) * 5))
    assert "no_repeats" in one.concerns
    many = fit_power_law(SIZES, noisy(counts=(8,) * 5))
    assert not any("repeats" in c for c in many.concerns)
    width = [np.ptp(x.quantile([0.025, 0.975], 1600)) for x in (one, many)]
    assert width[0] > 1.5 * width[1]
    paper = fit_power_law(SIZES, noisy(counts=(1,) * 5), method="paper")
    assert "no_repeats_floor_assumed" in paper.concerns
    assert paper.noise_slope == 0
    held = fit_power_law(SIZES, noisy(counts=(1,) * 5), noise_floor=1e-4)
    assert "no_repeats_floor_passed" in held.concerns


def test_three_errors_fit_any_exponent_and_that_is_said():
    law = fit_power_law([100, 200, 400], [0.3, 0.25, 0.22])
    assert "three_errors" in law.concerns
    q = law.quantile([0.025, 0.5, 0.975], AT)
    assert np.isfinite(q).all()
    with pytest.raises(CurvewiseError) as refused:
        law.band(400)
    assert refused.value.message.fixes == ({"terms": "linear"},)
    assert np.isfinite(fit_power_law([100, 400], [0.3, 0.2], terms="linear").error(9))


@pytest.mark.parametrize("method", ["calibrated", "paper"])
def test_equal_errors_are_a_flat_curve_and_said_to_be(method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        law = fit_power_law(SIZES, [[0.3, 0.3]] * 5, method=method)
        band = law.interval(AT)
    assert "equal_errors" in law.concerns
    np.testing.assert_allclose(law.error(AT), 0.3)
    np.testing.assert_allclose([band.lower[0], band.upper[0]], 0.3, atol=0.01)


def test_rising_errors_are_warned_of():
    law = fit_power_law(SIZES, [e[::-1] for e in noisy()[::-1]])
    assert law.eta < 0
    assert "rising" in law.concerns
    assert "rising" not in fit_power_law(SIZES, noisy()).concerns


def test_exponents_at_the_edge_and_far_ones_are_warned_of():
    fast = fit_power_law(SIZES, noisy(curve=(0.1, 6000.0, -3.0), sd=0.01))
    assert fast.gamma == -2.0
    assert "exponent_at_edge" in fast.concerns
    assert np.isfinite(fast.interval(AT).upper).all()
    log = 0.9 - 0.1 * np.log(SIZES)  # no asymptote at all
    slow = fit_power_law(SIZES, [[e, e + 1e-4] for e in log])
    assert slow.gamma == -0.01
    assert "exponent_at_edge" in slow.concerns
    assert slow.asymptote == 0
    assert np.isfinite(slow.band(AT).lower).all()
    steep = fit_power_law(SIZES, noisy(curve=(0.1, 9.0, -1.0), sd=0.01))
    assert "exponent_far" in steep.concerns
    usual = fit_power_law(SIZES, noisy(sd=0.01))
    assert usual.concerns == ()
    paper = fit_power_law(
        SIZES, noisy(curve=(0.1, 6000.0, -3.0), sd=0.01), method="paper"
    )
    assert paper.gamma == -0.99


def test_a_curve_that_is_no_power_law_is_called_so():
    rng = np.random.default_rng(4)
    kinked = [m + 0.003 * rng.normal(size=5) for m in (0.5, 0.3, 0.45, 0.2, 0.19)]
    law = fit_power_law(SIZES, kinked)
    assert "misfit" in law.concerns
    assert law.p_misfit < 1e-4


def test_lack_of_fit_is_seldom_seen_where_there_is_none():
    found = sum(
        "misfit" in fit_power_law(SIZES, noisy(seed)).concerns for seed in range(200)
    )
    assert found <= 10  # at level .01; 11 of 200 are one in 100,000


def test_runs_that_share_their_luck_are_pointed_out():
    rng = np.random.default_rng(7)
    table = 0.1 + 1.2 * SIZES**-0.5 + 0.004 * rng.normal(size=(8, 5))
    apart = fit_power_law(SIZES, table.T, method="paper")
    assert "linked_runs" not in apart.concerns
    shared = table + 0.02 * rng.normal(size=(8, 1))
    law = fit_power_law(SIZES, shared.T, method="paper")
    assert "linked_runs" in law.concerns
    ids = [np.arange(8) if i % 2 else np.arange(8)[::-1] for i in range(5)]
    mixed = [column[i] for column, i in zip(shared.T, ids, strict=True)]
    law = fit_power_law(SIZES, mixed, runs=ids, method="paper")
    assert "linked_runs" in law.concerns
    # The calibrated fit reckons with it instead.
    law = fit_power_law(SIZES, mixed, runs=ids)
    assert law.run_shift > 0.01**2
    assert "linked_runs" not in law.concerns


def test_a_known_noise_floor_is_held():
    errors = [100 * e for e in noisy()]
    law = fit_power_law(SIZES, errors, unit="percent", noise_floor=0.5)
    assert law.noise_floor == 0.5
    small = fit_power_law(SIZES, errors, unit="percent", noise_floor=0.001)
    width = [np.ptp(x.quantile([0.1, 0.9], 400)) for x in (law, small)]
    assert width[0] > 1.3 * width[1]
    assert np.isfinite(law.band(AT).upper).all()


def test_the_bootstrap_agrees_roughly():
    law = fit_power_law(SIZES, noisy(counts=(16, 8, 8, 4, 4)))
    at = np.array([25.0, 100, 400, 1600])
    check = bootstrap_band(law, at, rng=np.random.default_rng(6))
    band = law.interval(at)
    ratio = (check.upper - check.lower) / (band.upper - band.lower)
    assert (ratio > 0.6).all()
    assert (ratio < 1.3).all()
    again = bootstrap_band(law, at, rng=np.random.default_rng(6))
    np.testing.assert_array_equal(check.lower, again.lower)
    wrong = bootstrap_band(
        fit_power_law(SIZES, noisy(sd=0.5)), at, rng=np.random.default_rng(6)
    )  # ten times the noise is not taken for the same
    assert ((wrong.upper - wrong.lower) > 4 * (band.upper - band.lower)).all()
    with pytest.raises(CurvewiseError, match="resamples"):
        bootstrap_band(law, at, resamples=3, rng=np.random.default_rng(1))


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=3), min_size=3, max_size=6),
    st.sampled_from(["calibrated", "paper"]),
    st.sampled_from(["power", "linear", "quadratic"]),
)
def test_no_errors_break_it(errors, method, terms):
    sizes = 10 * 2.0 ** np.arange(len(errors))
    law = fit_power_law(sizes, errors, method=method, terms=terms)
    q = law.quantile([0.01, 0.5, 0.99], AT)
    assert np.isfinite(q).all()
    assert ((q >= 0) & (q <= 1)).all()
    assert (np.diff(q, axis=0) >= -1e-9).all()
    assert np.isfinite([law.alpha, law.eta, law.e_N, law.beta_N]).all()
    for told in law.parameters().values():
        assert told.lower <= told.value <= told.upper


def test_places_are_a_row_of_sizes_that_have_powers():
    law = fit_power_law(SIZES, noisy())
    for ask in (law.interval, law.band, lambda n: law.quantile(0.5, n)):
        with pytest.raises(CurvewiseError, match=r"n has shape \(1, 2\)"):
            ask([[100, 200]])


def test_an_error_is_told_where_errors_can_be():
    """Of a curve that the formula takes below 0, the error is 0."""
    law = fit_power_law([100, 200, 400, 800, 1600], [0.2, 0.1, 0.05, 0, 0])
    assert law.e_N < 0
    told = law.parameters()["e_N"]
    assert told.lower == told.value == 0 <= told.upper
