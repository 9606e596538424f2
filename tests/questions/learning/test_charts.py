"""Pictures of error and data: what is drawn is what the answer says, on paper and page."""

import numpy as np
import pytest
from typed_numbers import numbers

import curvewise as cw
from curvewise import CurvewiseError
from curvewise.figures.chart import root_ticks
from curvewise.figures.draw import draw, new_axes
from curvewise.questions.learning.charts import (
    crossing_chart,
    forecast_chart,
    learning_chart,
    size_for_chart,
)
from curvewise.report.plotly import plotly_figure


@pytest.fixture(scope="module")
def answer():
    return cw.learning(cw.example("counts"), "error")


def test_curve_band_and_circles_are_those_of_the_fit(answer):
    chart = learning_chart(answer)
    curve, dots = chart.series[0], chart.series[2]
    fit = answer.curve("trees")
    np.testing.assert_allclose(curve.y, fit.law.error(curve.x), rtol=1e-12)
    band = fit.law.band(curve.x)
    np.testing.assert_allclose(curve.lower, band.lower, rtol=1e-9)
    assert dots.is_dots
    np.testing.assert_array_equal(dots.x, fit.measured.sizes)
    np.testing.assert_array_equal(dots.y, fit.measured.means)
    assert curve.x[-1] == pytest.approx(4 * 1280)
    assert chart.marks[0].x == 4 * 1280
    assert chart.named[0].name.startswith("trees: error 0.10")


def test_a_root_axis_draws_sizes_where_a_power_law_is_straight(answer):
    chart = learning_chart(answer)
    ax = draw(chart, new_axes())
    curve, series = ax.lines[0], chart.series[0]
    np.testing.assert_allclose(curve.get_xdata(), series.x**-0.5)
    ticks = root_ticks(chart)
    np.testing.assert_allclose(ax.get_xticks(), np.array(ticks) ** -0.5)
    labels = [t.get_text() for t in ax.get_xticklabels()]
    assert labels[ticks.index(1280.0)] == "1,280"
    assert {40.0, 1280.0, 5120.0} <= set(ticks)
    apart = np.diff(np.sort(ax.get_xticks()))
    assert apart.min() >= 0.069 * np.ptp(curve.get_xdata())
    # Two are named, and their circles are not.
    assert len(ax.get_legend().get_texts()) == 2


def test_paper_and_page_show_the_same_numbers(answer):
    for chart in (
        learning_chart(answer),
        learning_chart(answer, scale="log"),
        forecast_chart(answer),
        crossing_chart(answer),
        size_for_chart(answer.size_for(0.09)),
    ):
        ax, page = draw(chart, new_axes()), plotly_figure(chart)
        ax.figure.canvas.draw()
        named = [t for t in page["data"] if t["showlegend"]]
        assert len(named) == len(ax.get_legend().get_texts()) == len(chart.named)
        for series, trace in zip(chart.named, named, strict=True):
            drawn = [ln for ln in ax.lines if len(ln.get_ydata()) == len(series.y)]
            assert any(np.array_equal(ln.get_ydata(), series.y) for ln in drawn)
            np.testing.assert_allclose(
                numbers(trace["y"]), series.y, rtol=1e-6, atol=1e-12
            )
        dots = [t for t in page["data"] if t.get("mode") == "markers"]
        assert len(dots) == sum(s.is_dots for s in chart.series)


def test_the_page_says_sizes_where_the_axis_holds_roots(answer):
    page = plotly_figure(learning_chart(answer))
    axis = page["layout"]["xaxis"]
    assert "1,280" in axis["ticktext"]
    at = axis["tickvals"][axis["ticktext"].index("1,280")]
    assert at == pytest.approx(1280**-0.5, rel=1e-6)
    dots = next(t for t in page["data"] if t.get("mode") == "markers")
    assert dots["text"][0] == "40"
    assert "%{text}" in dots["hovertemplate"]
    assert page["layout"]["shapes"][0]["x0"] == pytest.approx(5120**-0.5, rel=1e-6)


def test_both_axes_may_be_logarithmic(answer):
    ax = cw.figures.plot_learning(answer, scale="log")
    assert ax.get_xscale() == ax.get_yscale() == "log"
    layout = plotly_figure(learning_chart(answer, scale="log"))["layout"]
    assert layout["yaxis"]["type"] == layout["xaxis"]["type"] == "log"
    with pytest.raises(CurvewiseError) as problem:
        cw.figures.plot_learning(answer, scale="cube")
    assert (problem.value.argument, problem.value.value) == ("scale", "cube")


def test_a_forecast_begins_where_observations_end(answer):
    chart = forecast_chart(answer, to=50_000)
    curve = chart.series[0]
    assert (curve.x[0], curve.x[-1]) == (pytest.approx(1280), pytest.approx(50_000))
    told = answer.at(50_000).rows()[0]
    assert curve.upper[-1] == pytest.approx(told["error_upper"], rel=1e-9)
    with pytest.raises(CurvewiseError) as problem:
        cw.figures.plot_forecast(answer, to=100)
    assert (problem.value.argument, problem.value.value) == ("to", 100)


def test_marks_are_at_their_size_on_a_logarithmic_page(answer):
    layout = plotly_figure(forecast_chart(answer))["layout"]
    # Plotly wants the logarithm of an annotation's place, and the place of a line.
    assert layout["annotations"][0]["x"] == pytest.approx(np.log10(1280))
    assert layout["shapes"][0]["x0"] == 1280


def test_chances_and_sure_stretches_are_those_of_the_answer(answer):
    chart = crossing_chart(answer)
    told = answer.of().pairs[0].crossing
    np.testing.assert_array_equal(chart.series[0].y, told.chance)
    sure = [(s.first, s.last) for s in told.stretches if s.better]
    assert [(b.first, b.last) for b in chart.bars] == sure
    assert chart.y_range == (-0.02, 1.02)
    again = crossing_chart(answer, pairs=[("trees", "bayes")])
    assert again.series[0].name.split()[0] == "trees"


def test_the_chance_to_reach_an_error_is_that_of_the_answer(answer):
    needed = answer.size_for(0.09)
    chart = size_for_chart(needed)
    one = needed.found[0].size
    np.testing.assert_allclose(chart.series[0].y, one.chance(chart.series[0].x))
    ax = cw.figures.plot_size_for(needed)
    assert "at most 0.0900" in ax.get_ylabel().replace("\n", " ")


def test_one_algorithm_crosses_nothing():
    alone = cw.learning(cw.example("counts").where(algorithm="trees"), "error")
    with pytest.raises(CurvewiseError) as problem:
        cw.figures.plot_crossing(alone)
    assert (problem.value.argument, problem.value.value) == ("task", "all")


def made(*errors, steps=(40, 80, 160, 320), runs=1):
    """Return the answer of one algorithm with these errors in each run."""
    return cw.learning(
        cw.Trials(
            cw.Trial("t", "a", i, {"error": list(errors)}, steps=list(steps))
            for i in range(runs)
        )
    )


def test_curves_that_come_to_zero_are_drawn_as_far_as_logarithms_go():
    chart = learning_chart(made(0.2, 0.08, 0.02, 0.0, runs=2), scale="log")
    assert chart.y_range[0] == pytest.approx(0.02 / 5)
    low, high = plotly_figure(chart)["layout"]["yaxis"]["range"]
    assert (low, high) == pytest.approx(np.log10(chart.y_range))
    assert draw(chart, new_axes()).get_ylim() == pytest.approx(chart.y_range)
    with pytest.raises(CurvewiseError) as problem:
        learning_chart(made(0, 0, 0, 0), scale="log")
    assert problem.value.message.fixes == ({"scale": "root"},)
    assert "error 0," in learning_chart(made(0, 0, 0, 0)).named[0].name


def test_three_sizes_with_one_run_each_are_drawn_without_a_band():
    chart = learning_chart(made(0.3, 0.2, 0.15, steps=(40, 80, 160)))
    assert not any(series.has_band for series in chart.series)
    assert np.isfinite(chart.series[0].y).all()
    draw(chart, new_axes())
    plotly_figure(chart)


def test_no_probability_below_zero_is_labelled(answer):
    chart = crossing_chart(answer)
    ticks = draw(chart, new_axes()).get_yticks()
    assert (min(ticks), max(ticks)) == (0, 1)
    assert plotly_figure(chart)["layout"]["yaxis"]["tickvals"] == list(ticks)
    # Only a range of shares has such ticks.
    assert "tickvals" not in plotly_figure(forecast_chart(answer))["layout"]["yaxis"]
