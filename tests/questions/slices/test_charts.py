import numpy as np
import pytest

from curvewise import Algorithm, Experiment, Task, run, uniform
from curvewise.flow.slices import quantile_slices
from curvewise.questions.slices.charts import (
    curve_chart,
    original_chart,
    plot_slices,
    rerun_chart,
)

QUIET = {"executor": "serial", "progress": False}


def sliced(metric="accuracy", steps=3):
    def net(params, data, rng):
        for step in range(steps):
            good = (1 - (params["lr"] - 0.3) ** 2) * (step + 1) / steps
            value = 0.9 * good + 0.1 * rng.random()
            yield step, {metric: value if metric == "accuracy" else 1 - value}

    plan = Experiment(
        Task("t", lambda rng: None), Algorithm("net", {"lr": uniform(0, 1)}, net), 50
    )
    found = run(plan, **QUIET)
    return quantile_slices(
        found, plan, percentiles=(5, 50, 95), trials_each=30, **QUIET
    )


@pytest.fixture(scope="module")
def answer():
    return sliced()


def test_the_left_panel_marks_the_percentiles(answer):
    chart = original_chart(answer)
    assert [(m.x, m.label) for m in chart.marks] == [
        (0.05, "p5"),
        (0.5, "p50"),
        (0.95, "p95"),
    ]
    (series,) = chart.series
    np.testing.assert_array_equal(series.y, answer.original.quantile(series.x))


def test_the_mark_meets_the_curve_at_the_score_that_was_chosen(answer):
    for chart, own in ((original_chart(a), a) for a in (answer, sliced("error"))):
        (series,) = chart.series
        for mark, one in zip(chart.marks, own.slices, strict=True):
            near = np.abs(series.x - mark.x) < 0.025
            assert one.chosen.score in series.y[near]


def test_where_lower_is_better_the_best_are_at_the_left():
    chart = original_chart(sliced("error"))
    np.testing.assert_allclose([m.x for m in chart.marks], [0.95, 0.5, 0.05])
    assert "to the left" in chart.caption


def test_the_middle_panel_is_the_mean_and_one_standard_deviation(answer):
    chart = curve_chart(answer)
    assert (chart.axis, chart.shape) == ("linear", "line")
    curve = answer.at(95).curve
    np.testing.assert_array_equal(chart.series[2].y, curve.mean)
    np.testing.assert_array_equal(chart.series[2].upper, curve.mean + curve.sd)


def test_three_panels_side_by_side(answer):
    figure = plot_slices(answer)
    figure.canvas.draw()
    assert figure.axes[0].get_title() == "net on t"
    assert figure.axes[1].get_title() == curve_chart(answer).title
    assert [ax.get_legend() is not None for ax in figure.axes] == [False, False, True]
    # A slice has one colour in both panels.
    middle, right = (
        {line.get_label(): line.get_color() for line in ax.lines}
        for ax in figure.axes[1:]
    )
    assert middle == right
    assert [s.name for s in rerun_chart(answer).series] == [
        "net p5",
        "net p50",
        "net p95",
    ]


def test_without_curves_two_panels_are_left():
    single = sliced(steps=1)
    assert curve_chart(single) is None
    assert len(plot_slices(single).axes) == 2
