import dataclasses
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import assert_at_least, assert_at_most

from curvewise.errors import CurvewiseError
from curvewise.stats.learning.extrapolation import extrapolate, extrapolate_many
from curvewise.stats.learning.forecast import Forecast
from curvewise.stats.learning.outlook import (
    guessed_squares,
    size_weights,
    smooth_squares,
)

SIZES = 16 * 2 ** np.arange(7)
FALLING = [0.420, 0.350, 0.295, 0.262, 0.231, 0.212, 0.198]
RISING = [0.30, 0.28, 0.29, 0.30, 0.31, 0.33, 0.34]
FAR = [2048, 4096, 16384]


def runs_of(means, noise=0.02, runs=10, seed=1):
    """Return runs whose means are near `means`."""
    rng = np.random.default_rng(seed)
    return [np.clip(m + noise * rng.standard_normal(runs), 0, 1) for m in means]


# Frozen values of the recipe as it is shipped, to four digits.
CHECKS = [
    (
        FALLING,
        [0.1883, 0.1815, 0.1734],
        [0.1719, 0.1499, 0.1113],
        [0.1984, 0.1990, 0.2028],
    ),
    (
        RISING,
        [0.3358, 0.3358, 0.3358],
        [0.2884, 0.2625, 0.2108],
        [0.3754, 0.3878, 0.4127],
    ),
    ([0.3] * 7, [0.3] * 3, [0.2765, 0.2534, 0.2072], [0.3130, 0.3254, 0.3503]),
    (
        0.4 * 0.5 ** np.arange(7),
        [0.0044, 0.0033, 0.0025],
        [0.0015, 0.0, 0.0],
        [0.0122, 0.0149, 0.0207],
    ),
]


@pytest.mark.parametrize(("errors", "middle", "lower", "upper"), CHECKS)
def test_the_recipe_gives_what_it_gave(errors, middle, lower, upper):
    ahead = extrapolate(SIZES, errors, to=FAR)
    assert ahead.error == pytest.approx(middle, abs=6e-5)
    assert ahead.lower == pytest.approx(lower, abs=6e-5)
    assert ahead.upper == pytest.approx(upper, abs=6e-5)


def test_a_power_law_by_hand():
    """With the shape known, the average must lie near the best of all shapes."""
    n = SIZES.astype(float)
    errors = 0.1 + 0.8 * n**-0.5
    ahead = extrapolate(n, errors, to=FAR)
    assert ahead.error == pytest.approx(0.1 + 0.8 * np.array(FAR) ** -0.5, abs=0.005)


def test_one_size_gives_numbers_and_several_give_arrays():
    one, several = (extrapolate(SIZES, FALLING, to=to) for to in (4096, FAR))
    assert isinstance(one.error, float)
    assert (one.lower, one.error, one.upper) == (
        several.lower[1],
        several.error[1],
        several.upper[1],
    )
    assert several.to.tolist() == FAR
    assert one.counts.tolist() == [1] * 7
    assert one.means == pytest.approx(FALLING)


def test_order_of_sizes_does_not_matter():
    back = extrapolate(SIZES[::-1], FALLING[::-1], to=4096)
    assert back.error == extrapolate(SIZES, FALLING, to=4096).error


def test_percent_is_fractions_times_100():
    runs = runs_of(FALLING)
    part = extrapolate(SIZES, runs, to=FAR)
    whole = extrapolate(SIZES, [100 * r for r in runs], to=FAR, unit="percent")
    for name in ("error", "lower", "upper", "means", "noise", "rise"):
        assert getattr(whole, name) == pytest.approx(100 * getattr(part, name))
    assert whole.quantile(0.9, 9999) == pytest.approx(100 * part.quantile(0.9, 9999))


def test_a_loss_is_scaled_and_has_no_ceiling():
    part = extrapolate(SIZES, FALLING, to=FAR, unit="loss")
    whole = extrapolate(SIZES, 7 * np.array(FALLING), to=FAR, unit="loss")
    assert whole.error == pytest.approx(7 * part.error)
    assert whole.upper == pytest.approx(7 * part.upper)
    assert whole.concerns == ("losses", "no_repeats")
    assert whole.guarantee != extrapolate(SIZES, FALLING, to=FAR).guarantee
    high = extrapolate(SIZES, np.full(7, 5.0), to=10**9, unit="loss")
    assert high.upper > 5
    assert extrapolate(SIZES, np.zeros(7), to=2048, unit="loss").error == 0


def test_known_runs_change_the_answer_and_their_order_does_not():
    runs = runs_of(FALLING)
    known = extrapolate(SIZES, runs, to=4096)
    bare = extrapolate(SIZES, [r.mean() for r in runs], to=4096)
    assert known.upper != bare.upper
    mixed = extrapolate(SIZES, [r[::-1] for r in runs], to=4096)
    assert mixed.upper == pytest.approx(known.upper)
    assert known.counts.tolist() == [10] * 7


def test_fewer_runs_make_it_less_sure():
    many, few = (
        extrapolate(SIZES, runs_of(FALLING, noise=0.05, runs=r), to=1100)
        for r in (200, 4)
    )
    assert few.upper - few.lower > many.upper - many.lower


def test_sizes_with_one_run_borrow_the_spread_of_the_others():
    runs = runs_of(FALLING)
    some = [r[:1] if i % 2 else r for i, r in enumerate(runs)]
    squares = smooth_squares(
        np.array([[r.var(ddof=1) if len(r) > 1 else np.nan for r in some]]),
        np.array([[len(r) for r in some]], dtype=float),
    )
    assert np.isfinite(squares).all()
    assert (squares[0, 1::2] > 2 * squares[0, ::2].mean()).all()
    assert np.isfinite(extrapolate(SIZES, some, to=4096).upper)


def test_standard_errors_of_one_run_are_not_known():
    assert smooth_squares(np.full((1, 4), np.nan), np.ones((1, 4))) is None


def test_weights_fall_with_noise_and_with_distance():
    sizes = np.array([10.0, 20, 40, 80])
    squares = np.full((1, 4), 1e-4)
    weights = size_weights(sizes, sizes[-1:], squares)
    assert weights[0, -1] == 1
    assert (np.diff(weights) > 0).all()
    noisy = squares.copy()
    noisy[0, 2] = 1e-2
    assert size_weights(sizes, sizes[-1:], noisy)[0, 2] < weights[0, 2]
    inner = size_weights(sizes, np.array([20.0]), squares)[0]
    assert inner.argmax() == 1
    # Without noise a size half as large counts a quarter.
    bare = size_weights(sizes, sizes[-1:], np.zeros((1, 4)))
    assert bare[0] == pytest.approx([1 / 64, 1 / 16, 1 / 4, 1])


def test_noise_is_seen_in_second_differences():
    rng = np.random.default_rng(3)
    line = np.linspace(0.5, 0.2, 40)
    assert guessed_squares(line[None, :]) == pytest.approx(0, abs=1e-20)
    noisy = line + 0.01 * rng.standard_normal((500, 40))
    assert np.sqrt(np.median(guessed_squares(noisy))) == pytest.approx(0.01, rel=0.1)


def test_it_is_a_forecast():
    assert isinstance(extrapolate(SIZES, FALLING, to=4096), Forecast)


def test_quantiles_do_not_cross_and_the_median_is_the_prediction():
    ahead = extrapolate(SIZES, runs_of(FALLING), to=FAR)
    n = [16, 50, 700, 1024, 1025, 5000, 1e6, 1e12]
    p = np.linspace(0.005, 0.995, 199)
    table = ahead.quantile(p, n)
    assert table.shape == (199, 8)
    assert (np.diff(table, axis=0) >= 0).all()
    assert table[99] == pytest.approx(ahead.predict(n))
    assert ahead.levels == pytest.approx((0.005, 0.995))


def test_intervals_are_quantiles():
    ahead = extrapolate(SIZES, FALLING, to=FAR, confidence=0.8)
    band = ahead.interval(FAR)
    assert band.lower == pytest.approx(ahead.lower)
    assert band.upper == pytest.approx(ahead.upper)
    assert band.value == pytest.approx(ahead.error)
    assert "80 %" in band.guarantee
    wider = ahead.interval(FAR, 0.99)
    assert (wider.lower <= band.lower).all()
    assert (wider.upper >= band.upper).all()
    assert wider.upper == pytest.approx(ahead.quantile(0.995, FAR)[0])


def test_further_is_less_sure():
    ahead = extrapolate(SIZES, FALLING, to=np.geomspace(1024, 1e6, 30))
    assert (np.diff(ahead.upper - ahead.lower) > 0).all()


def test_it_is_continuous_at_the_largest_size():
    ahead = extrapolate(SIZES, runs_of(FALLING), to=[1024 - 1e-6, 1024, 1024 + 1e-6])
    for side in (ahead.error, ahead.lower, ahead.upper):
        assert np.ptp(side) < 1e-6


def test_between_sizes_it_follows_the_curve():
    ahead = extrapolate(SIZES, FALLING, to=SIZES)
    assert ahead.error == pytest.approx(FALLING, abs=0.01)
    bump = [0.4, 0.3, 0.2, 0.3, 0.4, 0.3, 0.2]
    there = extrapolate(SIZES, bump, to=SIZES)
    assert there.lower[4] < 0.4 < there.upper[4]


def test_a_rising_curve_is_called_so_and_is_less_sure():
    falling, rising = (extrapolate(SIZES, e, to=4096) for e in (FALLING, RISING))
    assert "climbed" in rising.concerns
    assert rising.flat == pytest.approx(1)
    assert rising.rise == pytest.approx(0.06)
    assert falling.concerns == ("no_repeats",)
    assert rising.upper - rising.error > 2 * (falling.upper - falling.error)


def test_a_flat_end_is_called_so():
    flat = extrapolate(SIZES, np.full(7, 0.3), to=4096)
    assert flat.concerns[0] == "flat_end"


def test_three_sizes_and_far_targets_are_concerns():
    few = extrapolate([16, 32, 64], [0.4, 0.3, 0.25], to=128)
    assert "three_sizes" in few.concerns
    far = extrapolate(SIZES, FALLING, to=1e9)
    assert far.concerns[0] == "far"
    near = extrapolate(SIZES, runs_of(FALLING), to=4096)
    assert near.concerns == ()


@pytest.mark.parametrize(
    "change",
    [
        {"to": 8},
        {"to": [4096, -1]},
        {"confidence": 0.999},
        {"confidence": 0.4},
        {"confidence": 95},
        {"unit": "accuracy"},
    ],
)
def test_what_cannot_be_answered_is_refused(change):
    with pytest.raises(CurvewiseError, match=f"^{next(iter(change))} "):
        extrapolate(SIZES, FALLING, **{"to": 4096} | change)


def test_two_sizes_are_refused():
    with pytest.raises(CurvewiseError, match="at least 3"):
        extrapolate([16, 32], [0.4, 0.3], to=64)


@pytest.mark.parametrize("p", [0.001, 0.999, [0.5, 0.999]])
def test_levels_beyond_what_was_learnt_are_refused(p):
    with pytest.raises(CurvewiseError, match=r"from 0\.005 to 0\.995"):
        extrapolate(SIZES, FALLING, to=4096).quantile(p, 4096)


def test_quantiles_below_the_smallest_size_are_refused():
    with pytest.raises(CurvewiseError, match="n holds 8"):
        extrapolate(SIZES, FALLING, to=4096).quantile(0.5, 8)


def test_an_answer_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        extrapolate(SIZES, FALLING, to=4096).error = 0.0


HOPELESS = {
    "all right": np.zeros(7),
    "all wrong": np.ones(7),
    "constant": np.full(7, 0.3),
    "cliff": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.0],
    "step up": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    "tiny": 1e-9 / SIZES,
    "saw": [0, 1, 0, 1, 0, 1, 0],
}


@pytest.mark.parametrize("name", HOPELESS)
@pytest.mark.parametrize("keep", [3, 4, 7])
def test_hopeless_curves_get_an_answer(name, keep):
    n = [SIZES[keep - 1], 1100, 1e4, 1e12, 1e15]
    ahead = extrapolate(SIZES[:keep], HOPELESS[name][:keep], to=n)
    sides = np.array([[0] * 5, ahead.lower, ahead.error, ahead.upper, [1] * 5])
    assert (np.diff(sides, axis=0) >= 0).all()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(data=st.data())
def test_ends_are_in_order_and_possible_for_any_curve(data):
    k = data.draw(st.integers(3, 12))
    logs = data.draw(
        st.lists(
            st.floats(0, 27), min_size=k, max_size=k, unique_by=lambda x: round(x, 3)
        )
    )
    sizes = np.exp(np.sort(logs))
    runs = data.draw(st.integers(1, 3))
    unit = st.floats(0, 1, allow_subnormal=False)
    errors = [data.draw(st.lists(unit, min_size=runs, max_size=runs)) for _ in range(k)]
    to = np.r_[np.geomspace(sizes[0], sizes[-1], 4)[1:-1], sizes[-1] * 2, 1e15]
    level = data.draw(st.sampled_from([0.5, 0.8, 0.95, 0.99]))
    ahead = extrapolate(sizes, errors, to=to, confidence=level)
    sides = np.array([[0] * 4, ahead.lower, ahead.error, ahead.upper, [1] * 4])
    assert (np.diff(sides, axis=0) >= 0).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-90, 1e90])
def test_losses_of_any_size_are_continued_alike(scale):
    """The square of a tiny or a huge loss is no number; its runs are scaled first."""
    sizes = [25, 50, 100, 200]
    runs = np.array([[0.5, 0.52], [0.4, 0.41], [0.33, 0.34], [0.28, 0.29]])
    one = extrapolate(sizes, runs, to=800, unit="loss")
    other = extrapolate(sizes, scale * runs, to=800, unit="loss")
    for side in ("lower", "error", "upper"):
        want = scale * getattr(one, side)
        assert getattr(other, side) == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("p", [[], [[0.1, 0.2]]])
def test_probabilities_come_one_by_one_or_in_a_list(p):
    curve = extrapolate([25, 50, 100], [0.5, 0.4, 0.3], to=200)
    with pytest.raises(CurvewiseError, match="p has shape"):
        curve.quantile(p, 200)


def test_a_rise_beyond_chance_is_said():
    """Runs that are all higher at the next size: no noise does that."""
    rng = np.random.default_rng(3)
    means = np.array([0.30, 0.26, 0.24, 0.262, 0.25])
    runs = means + rng.normal(0, 0.02, (8, 1)) + rng.normal(0, 0.003, (8, 5))
    ahead = extrapolate([50, 100, 200, 400, 800], list(runs.T), to=3200)
    assert ahead.concerns[0] == "rises"
    calm = np.array([0.30, 0.26, 0.24, 0.23, 0.225]) + runs - means
    again = extrapolate([50, 100, 200, 400, 800], list(calm.T), to=3200)
    assert "rises" not in again.concerns


def test_at_the_largest_size_the_mean_is_known_as_well_as_runs_tell():
    """Five runs that share a split at all sizes; bare means say nothing of that."""
    rng, n = np.random.default_rng(4), np.array([40.0, 80, 160, 320, 640])
    truth, hits, bare = 0.08 + 0.9 * n**-0.5, 0, 0
    for _ in range(300):
        shift = rng.normal(0, 0.02, (5, 1))
        runs = truth + shift + 0.4 * n**-0.5 * rng.normal(size=(5, 5))
        runs = np.clip(runs, 0, 1)
        known = extrapolate(n, list(runs.T), to=640)
        blind = extrapolate(n, runs.mean(axis=0), to=640)
        hits += known.lower <= truth[-1] <= known.upper
        bare += blind.lower <= truth[-1] <= blind.upper
    print(hits / 300, bare / 300)
    assert_at_least(hits, 300, 0.95)
    assert_at_most(bare, 300, 0.7)


# --- Many -----------------------------------------------------------------------------

TO = [300, 1024, 4096, 1e6]


def some(curves=60, runs=6, seed=1):
    """Return runs (curve, run, size) around falling curves."""
    rng = np.random.default_rng(seed)
    level, fall = rng.uniform(0, 0.3, curves), rng.uniform(0, 0.5, curves)
    means = level[:, None] + fall[:, None] * (SIZES / 16.0) ** -0.5
    noise = 0.02 * rng.standard_normal((curves, runs, len(SIZES)))
    return np.clip(means[:, None] + noise, 0, 1)


@pytest.mark.parametrize("unit", ["fraction", "percent", "loss"])
def test_many_curves_get_what_each_gets_alone(unit):
    runs = some() * (100 if unit == "percent" else 1)
    errors = runs.std(axis=1, ddof=1) / np.sqrt(6)
    for known in (True, False):
        many = extrapolate_many(
            SIZES,
            runs.mean(axis=1),
            to=TO,
            unit=unit,
            confidence=0.9,
            standard_errors=errors if known else None,
            counts=6 if known else None,
        )
        for i in (0, 17, 59):
            given = list(runs[i].T) if known else runs[i].mean(axis=0)
            one = extrapolate(SIZES, given, to=TO, unit=unit, confidence=0.9)
            for name in ("error", "lower", "upper"):
                assert getattr(many, name)[i] == pytest.approx(getattr(one, name))
            for name in ("noise", "rise", "flat"):
                assert getattr(many, name)[i] == pytest.approx(
                    getattr(one, name), abs=1e-9
                )
            alone = many[i]
            assert alone.error == pytest.approx(one.error)
            assert alone.means == pytest.approx(one.means)
            about_runs = {"rises", "not_convex", "no_repeats"}
            assert set(alone.concerns) == set(one.concerns) - about_runs
            at, p = [100, 5000], [0.1, 0.9]
            wanted = pytest.approx(one.quantile(p, at))
            assert many.quantile(p, at)[i] == wanted
            assert alone.quantile(p, at) == wanted
            assert many.predict(at)[i] == pytest.approx(one.predict(at))
            assert many.interval(at).upper[i] == pytest.approx(one.interval(at).upper)
    assert many.guarantee == one.guarantee
    with pytest.raises(CurvewiseError, match="one curve"):
        one[0]


def test_one_target_has_no_axis():
    means = some(3).mean(axis=1)
    several, single = (extrapolate_many(SIZES, means, to=to) for to in (TO, TO[1]))
    np.testing.assert_allclose(single.error, several.error[:, 1], rtol=1e-12)
    assert isinstance(single[0].upper, float)


def test_a_bad_curve_spoils_nothing():
    means = some().mean(axis=1)
    good = extrapolate_many(SIZES, means, to=TO)
    assert good.is_fitted.all()
    bad = means.copy()
    bad[3, 2], bad[10, 0], bad[20, 6], bad[30, 1] = np.nan, 1.5, -0.1, np.inf
    found = extrapolate_many(SIZES, bad, to=TO)
    broken = np.isin(np.arange(60), [3, 10, 20, 30])
    assert (found.is_fitted == ~broken).all()
    assert np.isnan(found.error[broken]).all()
    assert np.isnan(found.noise[broken]).all()
    assert found.upper[~broken] == pytest.approx(good.upper[~broken])


def test_a_curve_without_standard_errors_is_fitted_without():
    means, errors = some().mean(axis=1), np.full((60, 7), 0.01)
    errors[5] = np.nan
    mixed = extrapolate_many(SIZES, means, to=TO, standard_errors=errors, counts=6)
    bare = extrapolate_many(SIZES, means, to=TO)
    assert mixed.upper[5] == pytest.approx(bare.upper[5])
    assert (mixed.upper[6] != bare.upper[6]).all()


def test_no_curves_are_no_trouble():
    assert extrapolate_many(SIZES, np.empty((0, 7)), to=TO).error.shape == (0, 4)


def test_standard_errors_that_are_0_are_no_trouble():
    means = np.full((1, 7), 0.5)
    found = extrapolate_many(SIZES, means, to=TO, standard_errors=0 * means, counts=5)
    assert found.error == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"means": [[0.1, 0.2]]}, r"means have shape \(1, 2\)"),
        ({"means": [0.1] * 7}, r"means have shape \(7,\)"),
        ({"means": [["a"] * 7]}, "means are no table"),
        ({"means": np.ma.masked_array([[0.1] * 7])}, "means are masked"),
        ({"sizes": [1, 2, 3, 4, 5, 6, 6 + 1e-9]}, "twice"),
        ({"counts": "five"}, "counts is 'five'"),
        ({"counts": np.inf}, "counts is inf"),
        ({"standard_errors": np.full((1, 7), 1e200)}, "1e[+]200"),
        ({"sizes": SIZES[::-1]}, "sizes are"),
        ({"standard_errors": np.ones((2, 7))}, "errors for 2"),
        ({"standard_errors": -np.ones((1, 7))}, "error is -1"),
        (
            {"standard_errors": np.ones((1, 7)), "counts": [1, 2]},
            "counts",
        ),
        ({"confidence": 0.999}, r"from 0\.5 to 0\.99"),
        ({"unit": "points"}, "unit is 'points'"),
    ],
)
def test_what_cannot_be_answered_is_refused_of_many(changes, message):
    arguments = {"sizes": SIZES, "means": np.full((1, 7), 0.2), "to": 4096} | changes
    with pytest.raises(CurvewiseError, match=message):
        extrapolate_many(arguments.pop("sizes"), arguments.pop("means"), **arguments)


def test_all_at_once_is_much_faster_than_one_by_one():
    """Ratios do not depend on the machine: about 30 is usual."""
    means = some(curves=400).mean(axis=1)

    def best(work):
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            work()
            times.append(time.perf_counter() - begin)
        return min(times)

    at_once = best(lambda: extrapolate_many(SIZES, means, to=4096)) / 400
    alone = best(lambda: [extrapolate(SIZES, e, to=4096) for e in means[:20]]) / 20
    assert alone / at_once > 5
