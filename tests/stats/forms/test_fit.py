"""Fits of many curves: as good as can be, in any unit, and none spoils another."""

import tracemalloc

import numpy as np
import pytest

from curvewise.errors import CurvewiseError
from curvewise.stats.curves import fit_grid
from curvewise.stats.forms import FORMS, fit_form, fit_forms

SIZES = np.array([25.0, 50, 100, 200, 400, 800, 1600])
CURVE = np.array([0.42, 0.35, 0.31, 0.27, 0.25, 0.235, 0.225])
NAMES = sorted(FORMS)


def curves(sizes, count, seed=0, noise=0.01):
    """Return power laws, some without an asymptote, some nearly flat, with noise."""
    rng = np.random.default_rng(seed)
    t = np.asarray(sizes) / sizes[0]
    c = rng.uniform(0, 0.4, (count, 1)) * (rng.random((count, 1)) < 0.6)
    b, g = rng.uniform(0, 0.4, (count, 1)), rng.uniform(0, 2.5, (count, 1))
    return np.clip(c + b * t**-g + rng.normal(0, noise, (count, len(t))), 0, 1)


def lowest(sizes, errors, weights):
    """Return the best cost of POW3 over a grid so dense that nothing is between."""
    t, best = sizes / sizes[-1], np.full(len(errors), np.inf)
    for g in np.array_split(np.geomspace(0.02, 2, 6000), 20):
        fit = fit_grid(t ** -g[:, None], errors, weights, is_bounded=True)
        best = np.minimum(best, fit.cost.min(axis=1))
    return best


@pytest.mark.parametrize("weights", ["equal", "recent"])
@pytest.mark.parametrize("noise", [1e-5, 1e-3, 1e-2, 0.3])
@pytest.mark.parametrize("count", [3, 5, 7])
def test_the_cost_of_pow3_is_at_most_a_thousandth_above_the_lowest(
    count, noise, weights
):
    sizes = SIZES[:count]
    errors = curves(sizes, 500, count, noise)
    w = (sizes / sizes[-1])[None] ** (2 if weights == "recent" else 0)
    found = fit_forms(sizes, errors, weights=weights).cost
    # A root mean square of 1e-5 is below every noise there is.
    assert (found <= 1.001 * lowest(sizes, errors, w) + 1e-10).all()


def test_the_grid_without_its_refinement_is_not_as_good():
    """The negative control."""
    errors = curves(SIZES[:5], 1000, noise=1e-3)
    t = SIZES[:5] / 400
    grid = t ** -np.geomspace(0.02, 2, 67)[:, None]
    found = fit_grid(grid, errors, np.ones((1, 5)), is_bounded=True).cost.min(axis=1)
    best = lowest(SIZES[:5], errors, np.ones((1, 5)))
    assert (found > 1.001 * best + 1e-10).mean() > 0.1


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_curve_is_nan_and_leaves_the_others_alone(name):
    good = curves(SIZES, 6)
    batch = np.insert(good, [1, 2, 4], [[np.nan], [1.7], [-0.1]], axis=0)
    batch[7, 3] = np.inf
    fits = fit_forms(SIZES, batch, name)
    kept = np.array([0, 2, 4, 5, 8])
    assert np.flatnonzero(fits.is_fitted).tolist() == kept.tolist()
    alone = fit_forms(SIZES, batch[kept], name)
    np.testing.assert_allclose(
        fits.error([3200.0])[kept], alone.error([3200.0]), rtol=1e-9
    )
    lost = np.setdiff1d(np.arange(9), kept)
    for value in (fits.cost, fits.aic, fits.asymptote, *fits.parameters.values()):
        assert np.isnan(value[lost]).all()
        assert np.isfinite(value[kept]).all()
    assert np.isnan(fits.error([10.0, 100.0])[lost]).all()
    assert fits.concerns == ("missing_errors", "impossible_errors")


@pytest.mark.parametrize("name", NAMES)
def test_one_curve_is_a_batch_of_one(name):
    fit = fit_form(SIZES, CURVE, name, weights="equal")
    batch = fit_forms(SIZES, np.stack([CURVE, CURVE / 2]), name)
    np.testing.assert_allclose(
        fit.error([60, 3200]), batch.error([60, 3200])[0], rtol=1e-6
    )
    assert fit.aic == pytest.approx(batch.aic[0])
    np.testing.assert_allclose(batch[0].cost, fit.cost)
    for one in (batch[1], fit):
        assert all(isinstance(value, float) for value in one.parameters.values())
        assert one.error(60).shape == (1,)
        with pytest.raises(CurvewiseError, match="one curve"):
            one[0]


@pytest.mark.parametrize("name", [n for n in NAMES if FORMS[n].is_unit_free])
def test_the_unit_of_size_does_not_matter(name):
    noisy = curves(SIZES, 20)
    plain, other = fit_forms(SIZES, noisy, name), fit_forms(SIZES / 1e3, noisy, name)
    far = np.array([30.0, 3200.0])
    np.testing.assert_allclose(plain.error(far), other.error(far / 1e3), atol=1e-6)


@pytest.mark.parametrize("name", [n for n in NAMES if not FORMS[n].is_unit_free])
def test_where_the_unit_of_size_matters_it_is_said(name):
    fit = fit_form(SIZES, CURVE, name)
    assert "unit_of_size" in fit.concerns
    other = fit_form(10 * SIZES, CURVE, name)
    assert abs(fit.error(3200) - other.error(32_000)) > 1e-5
    with pytest.raises(CurvewiseError, match=f"{name} is"):
        fit_form(SIZES / 1e3, CURVE, name)


@pytest.mark.parametrize("name", NAMES)
def test_percent_is_the_same_in_percent(name):
    plain = fit_form(SIZES, CURVE, name)
    found = fit_form(SIZES, 100 * CURVE, name, unit="percent")
    np.testing.assert_allclose(found.error(3200), 100 * plain.error(3200), rtol=1e-6)
    assert found.asymptote == pytest.approx(100 * plain.asymptote, abs=1e-5)
    assert found.cost == pytest.approx(1e4 * plain.cost, rel=1e-6, abs=1e-12)
    assert found.aic == pytest.approx(plain.aic, abs=1e-6)
    np.testing.assert_allclose(found.means, 100 * CURVE)


def test_runs_in_percent_weigh_as_runs_in_fractions():
    runs = CURVE[:, None] + np.random.default_rng(0).normal(0, 0.01, (7, 4))
    plain, found = fit_form(SIZES, runs), fit_form(SIZES, 100 * runs, unit="percent")
    assert found.cost == pytest.approx(plain.cost)  # in units of their own noise
    assert found.error(3200) == pytest.approx(100 * plain.error(3200))


def test_a_loss_may_be_above_one():
    fit = fit_form(SIZES, 10 * CURVE, unit="loss")
    assert fit.error(3200) == pytest.approx(10 * fit_form(SIZES, CURVE).error(3200))
    assert fit.aic == pytest.approx(fit_form(SIZES, CURVE, unit="loss").aic)


@pytest.mark.parametrize("weights", [None, "recent", np.arange(1.0, 8)])
def test_the_order_of_sizes_does_not_matter(weights):
    order = np.random.default_rng(0).permutation(7)
    mixed = weights[order] if isinstance(weights, np.ndarray) else weights
    fit = fit_form(SIZES, CURVE, weights=weights)
    again = fit_form(SIZES[order], CURVE[order], weights=mixed)
    assert again.error(3200) == pytest.approx(fit.error(3200), abs=1e-12)
    batch = fit_forms(SIZES[order], CURVE[None, order], weights=mixed)
    assert batch.error(3200)[0] == pytest.approx(fit.error(3200), abs=1e-12)


@pytest.mark.parametrize("name", [n for n in NAMES if FORMS[n].size > 1])
def test_fewer_sizes_than_parameters_are_refused(name):
    few = FORMS[name].size - 1
    message = f"{name} has {few + 1} parameters"
    with pytest.raises(CurvewiseError, match=message):
        fit_form(SIZES[:few], CURVE[:few], name)
    with pytest.raises(CurvewiseError, match=message):
        fit_forms(SIZES[:few], CURVE[None, :few], name)


@pytest.mark.parametrize("name", [n for n in NAMES if FORMS[n].size > 1])
def test_as_many_sizes_as_parameters_is_said(name):
    few = FORMS[name].size
    fit = fit_form(SIZES[:few], CURVE[:few], name)
    assert np.isfinite(fit.error([3200, np.inf])).all()
    assert "saturated" in fit.concerns
    assert "saturated" not in fit_form(SIZES, CURVE, name).concerns


@pytest.mark.parametrize("level", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", [n for n in NAMES if n not in {"EXP2", "LOGPOWER3"}])
def test_equal_errors_stay_equal(name, level):
    fit = fit_form(SIZES, np.full(7, level), name)
    np.testing.assert_allclose(fit.error([30, 3200, 1e9]), level, atol=1e-9)
    assert name == "LAST1" or "flat" in fit.concerns


@pytest.mark.parametrize("name", ["EXP2", "LOGPOWER3"])
def test_forms_that_always_fall_to_zero_are_as_flat_as_they_can(name):
    fit = fit_form(SIZES, np.full(7, 0.3), name)
    np.testing.assert_allclose(fit.error(SIZES), 0.3, atol=0.07)
    assert fit.error(1e9) < 0.3
    assert "at_edge" in fit.concerns


def test_an_error_that_rises_is_flat_unless_it_may():
    rising = CURVE[::-1]
    flat = fit_form(SIZES, rising)
    assert flat.error([30, 1e6]) == pytest.approx(rising.mean())
    assert flat.concerns[0] == "flat"
    free = fit_form(SIZES, rising, allow_increase=True)
    assert free.parameters["b"] < 0
    assert free.cost < flat.cost / 5
    assert rising[-1] < free.error(1e12) <= 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("allow_increase", [False, True])
def test_everything_is_finite_and_between_0_and_1(name, allow_increase):
    rng = np.random.default_rng(5)
    wild = np.concatenate(
        [rng.random((30, 7)), rng.integers(0, 2, (30, 7)), np.eye(7), 1 - np.eye(7)]
    )
    fits = fit_forms(SIZES, wild, name, allow_increase=allow_increase)
    at = fits.error([1, 25, 1600, 1e5, 1e15, np.inf])
    assert fits.is_fitted.all()
    assert np.isfinite(fits.cost).all()
    assert ((at >= 0) & (at <= 1)).all()
    if not allow_increase:
        inside = fits.error(np.geomspace(25, 1e6, 30))
        assert (np.diff(inside, axis=1) <= 1e-9).all()


def test_the_asymptote_is_the_error_at_infinity():
    batch = curves(SIZES, 50)
    for name in NAMES:
        fits = fit_forms(SIZES, batch, name)
        c = fits.parameters.get("c")
        assert (fits.asymptote <= fits.error(1600.0)[:, 0] + 1e-9).all()
        if name in {"POW3", "POW4", "ILOG2", "EXP3", "WBL4", "MMF4", "LAST1"}:
            np.testing.assert_allclose(fits.asymptote, c, atol=1e-12)


def test_sizes_that_a_curve_has_not_are_left_out():
    batch = np.stack([CURVE, CURVE])
    batch[1, 5:] = np.nan
    weights = np.isfinite(batch).astype(float)
    weights[0, 0] = 0
    for name in ("LAST1", "POW3", "WBL4"):
        fits = fit_forms(SIZES, batch, name, weights=weights)
        alone = fit_form(SIZES[:5], CURVE[:5], name)
        assert fits.is_fitted.all()
        assert fits.error(400.0)[1] == pytest.approx(alone.error(400), abs=1e-4)
    fits = fit_forms(SIZES, batch, weights=weights * (np.arange(7) < [[7], [2]]))
    assert fits.is_fitted.tolist() == [True, False]
    assert fits.concerns == ("few_sizes",)


@pytest.mark.parametrize("name", NAMES)
def test_weights_of_zero_leave_nothing_to_fit(name):
    for weights in (np.zeros(7), np.zeros((2, 7))):
        fits = fit_forms(SIZES, np.stack([CURVE, CURVE]), name, weights=weights)
        assert not fits.is_fitted.any()
        assert np.isnan(fits.error([100.0, np.inf])).all()


def test_weights_are_what_is_minimised():
    weights = np.array([0.1, 1, 1, 3, 1, 2, 5])
    fit = fit_form(SIZES, CURVE, weights=weights)
    rest = (CURVE - fit.error(SIZES)) ** 2
    assert fit.cost == pytest.approx((weights * rest).sum())
    best = lowest(SIZES, CURVE[None], weights[None])[0]
    assert fit.cost == pytest.approx(best, rel=1e-6)


def test_efficient_weights_are_runs_over_variance():
    counts = [64, 32, 16, 8, 4, 2, 1]
    rng = np.random.default_rng(0)
    runs = [rng.normal(m, 0.02, k) for m, k in zip(CURVE, counts, strict=True)]
    fit = fit_form(SIZES, runs)
    by_count = fit.weights / counts
    assert by_count.max() / by_count.min() < 3  # the noise is the same at all sizes
    assert fit.weights[0] > 10 * fit.weights[-1]
    equal = fit_form(SIZES, runs, weights="equal")
    assert equal.weights.tolist() == [1] * 7
    assert "no_repeats" in fit_form(SIZES, CURVE).concerns
    assert "no_repeats" not in fit.concerns


def test_runs_that_agree_weigh_by_their_number():
    counts = [3, 3, 2, 2, 2, 1, 1]
    runs = [[m] * k for m, k in zip(CURVE, counts, strict=True)]
    assert fit_form(SIZES, runs).weights.tolist() == counts
    runs = [[CURVE[0], CURVE[0] + 0.01], *([m] for m in CURVE[1:])]
    found = fit_form(SIZES, runs).weights
    assert found[0] == 2 * found[1] == 2 * found[-1]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"weights": "late"}, "weights"),
        ({"weights": "efficient"}, "noise"),
        ({"weights": [1, 2]}, "no table"),
        ({"weights": ["a"] * 7}, "no table"),
        ({"weights": [[1, 2], [3]]}, "no table"),
        ({"weights": [1e200] * 7}, "below 0"),
        ({"weights": [-1, 1, 1, 1, 1, 1, 1]}, "below 0"),
        ({"unit": "promille"}, "unit"),
    ],
)
def test_what_cannot_be_done_is_refused(how, message):
    with pytest.raises(CurvewiseError, match=message):
        fit_form(SIZES, CURVE, **how)
    with pytest.raises(CurvewiseError, match=message):
        fit_forms(SIZES, CURVE[None], **how)


def test_a_batch_that_is_none_is_refused():
    with pytest.raises(CurvewiseError, match=r"shape \(7,\)"):
        fit_forms(SIZES, CURVE)
    with pytest.raises(CurvewiseError, match="no table"):
        fit_forms(SIZES, [["high"] * 7])
    with pytest.raises(CurvewiseError, match="twice"):
        fit_forms([1, 2, 1], CURVE[None, :3])
    for n in (0, "many"):
        with pytest.raises(CurvewiseError) as refused:
            fit_form(SIZES, CURVE).error(n)
        assert (refused.value.argument, refused.value.value) == ("n", n)
    with pytest.raises(CurvewiseError, match="masked"):
        fit_forms(SIZES, np.ma.masked_array([CURVE], mask=[CURVE > 0.3]))
    with pytest.raises(CurvewiseError, match="no table"):
        fit_forms(SIZES, [CURVE + 1j])
    assert fit_forms(SIZES, np.zeros((0, 7))).error([10.0]).shape == (0, 1)


@pytest.mark.parametrize("scale", [1e-200, 1e-120, 1.0, 1e90])
def test_losses_of_any_size_have_the_same_likelihood(scale):
    """The square of a tiny or a huge loss is no number."""
    fit = fit_form(SIZES, CURVE, unit="loss")
    other = fit_form(SIZES, scale * CURVE, unit="loss")
    assert np.isfinite(other.aic)
    if scale > 1e-150:  # where squares are numbers
        assert other.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-6)


def test_edges_of_what_is_searched_are_named():
    steep = 0.1 + 0.5 * (SIZES / 25) ** -4.0
    assert "at_edge" in fit_form(SIZES, steep).concerns
    fine = 0.1 + 0.5 * (SIZES / 25) ** -0.5
    assert fit_form(SIZES, np.stack([fine, fine], 1)).concerns == ()


def test_forms_are_for_every_fraction():
    """1 - precision, 1 - recall and 1 - F1 fall with data as the error does."""
    precision, recall = 0.9 - 2 * SIZES**-0.7, 0.95 - 3 * SIZES**-0.9
    f1 = 2 * precision * recall / (precision + recall)
    fits = fit_forms(SIZES, 1 - np.stack([precision, recall, f1]))
    np.testing.assert_allclose(fits.asymptote[:2], [0.1, 0.05], atol=1e-6)
    assert 0.05 < fits.asymptote[2] < 0.1


def test_memory_does_not_grow_with_curves_but_for_the_answer():
    def peak(count):
        batch = curves(SIZES, count)
        tracemalloc.start()
        fits = fit_forms(SIZES, batch, "POW3")
        found = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert fits.is_fitted.all()
        return found[1] - found[0]

    # What is left when it is done is the answer; checks copy the batch a few times.
    few, many = peak(5_000), peak(50_000)
    assert many - few < 45_000 * 7 * 8 * 4


def test_weights_that_leave_too_few_sizes_are_refused_for_one_curve():
    """A batch tells it as a concern, since other curves may have more."""
    with pytest.raises(CurvewiseError, match="too few sizes"):
        fit_form(SIZES, CURVE, weights=[1, 1, 0, 0, 0, 0, 0])
    fits = fit_forms(SIZES, CURVE[None], weights=[1, 1, 0, 0, 0, 0, 0])
    assert not fits.is_fitted[0]
    assert fits.concerns == ("few_sizes",)
