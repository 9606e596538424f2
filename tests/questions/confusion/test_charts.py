"""Pictures of rates and data: what is drawn is what the answer says."""

import numpy as np
import pytest
from typed_numbers import numbers

import curvewise as cw
from curvewise import CurvewiseError, Trial, Trials
from curvewise.questions.confusion.charts import class_charts, confusion_chart
from curvewise.report.plotly import plotly_figure


@pytest.fixture(scope="module")
def answer():
    return cw.confusion(cw.example("counts"))


def test_curve_band_and_circles_are_those_of_the_fit(answer):
    chart = confusion_chart(answer, "f1")
    curve, dots = chart.series[0], chart.series[1]
    fit = answer.curve("trees")
    band = fit.curve.band("f1", curve.x)
    np.testing.assert_allclose(curve.y, band.value)
    np.testing.assert_allclose(curve.lower, band.lower)
    np.testing.assert_allclose(curve.upper, band.upper)
    assert dots.is_dots
    np.testing.assert_array_equal(dots.x, fit.counted.trained_on)
    np.testing.assert_array_equal(dots.y, fit.curve.observed("f1"))
    assert curve.x[-1] == pytest.approx(4 * 1280)
    assert chart.marks[0].x == 1280


def test_four_metrics_are_in_one_figure(answer):
    figure = cw.figures.plot_confusion_metrics(answer).figure
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "error",
        "precision",
        "recall",
        "F1",
    ]
    assert sum(ax.get_legend() is not None for ax in figure.axes) == 1


def test_each_class_has_a_panel(answer):
    figure = cw.figures.plot_confusion_classes(answer, metric="recall").figure
    titles = [" ".join(ax.get_title().split()) for ax in figure.axes]
    assert titles == [chart.title for chart in class_charts(answer, "recall")]
    assert ["0" in titles[0], "1" in titles[1]] == [True, True]


def test_classes_share_an_axis_that_shows_them(answer):
    first = cw.figures.plot_confusion_classes(answer, metric="recall")
    charts = class_charts(answer, "recall")
    for ax, chart in zip(first.figure.axes, charts, strict=True):
        assert ax.get_ylim() == pytest.approx(charts[0].y_range)
        assert chart.y_range[0] <= np.min(chart.series[0].lower)
        assert chart.y_range[1] >= np.max(chart.series[0].upper)
    assert charts[0].y_range[0] > 0.4


def test_circles_are_where_a_class_was_tested():
    counts = np.array([[[90, 10], [20, 80]]] * 3)
    counts[0, 1] = 0
    trials = Trials(
        Trial("t", "a", i, {}, steps=[10, 20, 40], counts=counts) for i in range(2)
    )
    chart = confusion_chart(cw.confusion(trials), "recall")
    np.testing.assert_array_equal(np.isnan(chart.series[1].y), [True, False, False])
    cw.figures.plot_confusion_metrics(cw.confusion(trials))


@pytest.mark.slow
def test_of_many_classes_the_hardest_are_drawn():
    rng = np.random.default_rng(0)
    counts = np.array([20 * np.eye(13, dtype=int) for _ in range(3)])
    counts = counts + rng.integers(0, 2, counts.shape)
    counts[:, 12] = 3  # nobody knows this one
    trials = Trials([Trial("t", "a", 0, {}, steps=[10, 20, 40], counts=counts)])
    charts = class_charts(cw.confusion(trials, "f1"))
    assert len(charts) == 12
    assert "12" in charts[-1].title


def test_the_page_draws_the_same_numbers(answer):
    chart = confusion_chart(answer, "recall")
    drawn = plotly_figure(chart)
    heights = [numbers(trace["y"]) for trace in drawn["data"]]
    curve = chart.series[0].y
    assert any(np.allclose(y, curve) for y in heights if len(y) == len(curve))


@pytest.mark.parametrize(
    ("plot", "argument", "value"),
    [
        (cw.figures.plot_confusion, "metric", "zorp"),
        (cw.figures.plot_confusion_classes, "metric", "mcc"),
        (cw.figures.plot_confusion, "to", 3),
    ],
)
def test_bad_questions_are_refused(answer, plot, argument, value):
    with pytest.raises(CurvewiseError) as problem:
        plot(answer, **{argument: value})
    assert problem.value.argument.startswith(argument)
    assert problem.value.value == value
