"""Curves by few points: never off by more than was said, and bands never narrower."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import curvewise as cw
from curvewise.figures.chart import Chart, Series, no_band
from curvewise.figures.thinning import (
    COARSEST,
    FINEST,
    height_of,
    thinned,
    tolerance_for,
    whole,
)
from curvewise.questions.performance.charts import quantile_chart

TOLERANCES = st.sampled_from([1 / 5000, 1 / 150, 0.05, 0.3])
AXES = ("linear", "log", "root")


def chart_of(*series, shape="line", axis="linear", y_axis="linear"):
    return Chart("t", "x", "y", series, "c", axis=axis, shape=shape, y_axis=y_axis)


def paper_x(chart, x):
    return {"log": np.log, "root": lambda n: -(n**-0.5)}.get(chart.axis, lambda n: n)(x)


def paper_y(chart, y):
    return np.log(y) if chart.y_axis == "log" else y


def corners(chart, x, y, shape):
    """Return an outline as straight pieces on paper, jumps among them."""
    x, y = paper_x(chart, x), paper_y(chart, y)
    if shape == "linear":
        return x, y
    if shape == "hv":
        return np.r_[x[0], np.repeat(x[1:], 2)], np.r_[np.repeat(y[:-1], 2), y[-1]]
    middle = (x[1:] + x[:-1]) / 2
    return np.r_[x[0], np.repeat(middle, 2), x[-1]], np.repeat(y, 2)


def all_heights(one, other):
    """Yield two outlines a hair before and after each corner: jumps have two heights."""
    places = np.union1d(one[0], other[0])
    hair = 1e-9 * (places[-1] - places[0])
    for beside in (places[1:] - hair, places[:-1] + hair):
        yield np.interp(beside, *one), np.interp(beside, *other)


def way_back(band):
    """Return the lower and the upper end of a polygon, both from left to right."""
    x, y = band
    turn = int(np.flatnonzero(x == x.max())[-1])
    first = next(i for i in range(1, len(x)) if x[i] == x[i - 1] == x.max())
    assert first <= turn
    return (x[:first], y[:first]), (x[first:][::-1], y[first:][::-1])


def stairs_of(x, y, shape):
    # On the way back a stair is told at its right end: turned round, "hv" is "vh".
    if shape != "hv":
        return x, y
    return np.r_[x[:1], np.repeat(x[1:-1], 2), x[-1:]], np.repeat(y[1:], 2)


heights = arrays(
    np.float64, st.integers(3, 60), elements=st.floats(0.5, 4, width=32)
) | arrays(np.float64, st.integers(3, 60), elements=st.sampled_from([1.0, 1.5, 2.0]))


@given(
    heights,
    TOLERANCES,
    st.sampled_from(AXES),
    st.sampled_from(["linear", "log"]),
    st.sampled_from(["line", "step"]),
)
def test_a_thinned_curve_is_off_by_the_tolerance_at_most(
    y, tolerance, axis, y_axis, shape
):
    axis = "linear" if shape == "step" else axis
    x = np.cumsum(np.random.default_rng(len(y)).uniform(0.5, 2, len(y))) + 1
    series = Series("a", x, y, *no_band(x))
    chart = chart_of(series, shape=shape, axis=axis, y_axis=y_axis)
    height = height_of(chart, [series])
    full, few = whole(chart, series), thinned(chart, series, tolerance, height)
    drawn = corners(chart, few.x, few.y, few.shape)
    true = corners(chart, full.x, full.y, full.shape)
    for near, far in all_heights(drawn, true):
        assert np.abs(near - far).max() <= tolerance * height + 1e-6
    assert few.x[[0, -1]] == pytest.approx(x[[0, -1]])
    np.testing.assert_allclose(few.y[[0, -1]], y[[0, -1]], atol=tolerance * height * 4)


@given(heights, TOLERANCES, st.sampled_from(["line", "step"]))
def test_a_drawn_band_holds_the_true_one(y, tolerance, shape):
    rng = np.random.default_rng(len(y))
    x = np.cumsum(rng.uniform(0.5, 2, len(y)))
    lower, upper = y - rng.uniform(0, 1, len(y)), y + rng.uniform(0, 1, len(y))
    series = Series("a", x, y, lower, upper)
    chart = chart_of(series, shape=shape)
    height = height_of(chart, [series])
    full, few = whole(chart, series), thinned(chart, series, tolerance, height)
    (true_low, true_high), (low, high) = map(way_back, (full.band[0], few.band[0]))
    room = tolerance * height + 1e-6
    pairs = (
        (corners(chart, *low, few.band_shape), true_low, 1),
        (stairs_of(*high, few.band_shape), true_high, -1),
    )
    for drawn, true, side in pairs:
        own = corners(chart, *true, full.band_shape)
        for near, far in all_heights(drawn, own):
            assert (side * (far - near)).min() >= -1e-6
            assert (side * (far - near)).max() <= room


def test_the_check_of_bands_would_see_a_narrow_one():
    """The negative control: points left out of a dented band cut its corner off."""
    x = np.arange(5.0)
    series = Series("a", x, x * 0, np.array([0, 0, -1, 0, 0.0]), x * 0 + 1)
    full = whole(chart_of(series), series)
    (low_x, low_y), _ = way_back(full.band[0])
    assert np.interp(2.0, low_x[[0, -1]], low_y[[0, -1]]) > low_y[2]


def test_flat_stretches_are_two_points():
    x = np.linspace(0, 0.04, 400)  # narrow: no points are kept for the pointer
    y = np.repeat([0.0, 1.0], 200)
    wide = Series("b", np.array([0.0, 1.0]), y[[0, -1]], *no_band(y[:2]))
    series = Series("a", x, y, y, y, is_faint=True)
    chart = chart_of(series, wide)
    few = thinned(chart, series, 1 / 500, 1.0)
    assert few.x.tolist() == [x[0], x[199], x[200], x[-1]]
    stepped = thinned(chart_of(series, shape="step"), series, 1 / 500, 1.0)
    assert len(stepped.band[0][0]) == 6


def test_a_pointer_finds_points_on_a_straight_curve():
    x = np.linspace(0, 1, 1001)
    series = Series("a", x, x, *no_band(x))
    for shape in ("line", "step"):
        few = thinned(chart_of(series, shape=shape), series, 0.2, 1.0)
        assert np.diff(few.x).max() <= 1 / 15
        assert len(few.x) <= 20


def test_noise_of_a_hundred_thousand_steps_keeps_its_extremes():
    rng = np.random.default_rng(0)
    x, y = np.arange(100_000.0), rng.normal(size=100_000)
    series = Series("a", x, y, y - 1, y + 1)
    chart = chart_of(series)
    few = thinned(chart, series, 1 / 500, height_of(chart, [series]))
    assert len(few.x) <= 4 * 512
    assert (few.y.min(), few.y.max()) == (y.min(), y.max())
    assert np.isin(few.y, y).all()
    (low_x, low_y), (high_x, high_y) = way_back(few.band[0])
    assert len(low_x) <= 2 * 512
    assert (np.interp(x, low_x, low_y) <= series.lower + 1e-9).all()
    assert (np.interp(x, high_x, high_y) >= series.upper - 1e-9).all()


def test_gaps_stay_gaps():
    x = np.arange(9.0)
    y = np.array([0, 1, 2, np.nan, 4, 5, 6, 7, 8])
    lower = np.where(x < 2, np.nan, y - 1)
    for shape in ("line", "step"):
        series = Series("a", x, y, lower, y + 1)
        few = thinned(chart_of(series, shape=shape), series, 1 / 500, 8.0)
        assert np.isnan(few.y).sum() == 1
        assert np.isnan(few.x).sum() == 1
        assert len(few.band) == 2
        assert few.band[0][0].max() == 2


def test_what_cannot_be_thinned_is_whole():
    x = np.array([1.0, 2.0])
    short = Series("a", x, x, x, x)
    dots = Series("d", np.arange(9.0), np.zeros(9), *no_band(np.zeros(9)), is_dots=True)
    for series in (short, dots):
        few = thinned(chart_of(series), series, 0.1, 1.0)
        assert few.x is series.x


def test_an_area_has_both_ends_at_the_same_places():
    x = np.linspace(0, 1, 50)
    area = Series("a", x, np.full(50, np.nan), x - 1, x + 1)
    few = thinned(chart_of(area), area, 0.1, 3.0)
    low, high = way_back(few.band[0])
    assert low[0].tolist() == high[0].tolist()
    assert len(few.x) == 0


def test_the_more_curves_the_coarser_within_limits():
    x = np.arange(3.0)

    def page(curves):
        own = [Series(str(i), x, x, *no_band(x)) for i in range(10)]
        return [chart_of(*own)] * (curves // 10)

    found = [tolerance_for(page(n)) for n in (10, 100, 1000, 4000, 40_000)]
    assert found[:2] == [FINEST, FINEST]
    assert FINEST < found[2] < found[3] < COARSEST
    assert found[4] == COARSEST


def test_a_sample_of_millions_is_a_few_hundred_points():
    rng = np.random.default_rng(0)
    trials = cw.Trials(
        cw.Trial("t", "a", i, {"accuracy": v}) for i, v in enumerate(rng.random(2000))
    )
    chart = quantile_chart(cw.performance(trials))
    (series,) = chart.series
    few = thinned(chart, series, COARSEST, height_of(chart, [series]))
    assert few.shape == "linear"  # stairs this low are a slope
    assert len(few.x) < 40
    own = corners(chart, few.x, few.y, few.shape)
    drawn = np.interp(series.x, *own)
    assert np.abs(drawn - series.y).max() <= COARSEST
