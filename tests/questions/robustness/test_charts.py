import matplotlib.pyplot as plt
import numpy as np
import pytest

from curvewise import CurvewiseError, Trial, Trials
from curvewise.questions.robustness import robustness
from curvewise.questions.robustness.charts import (
    gain_chart,
    plot_gains,
    plot_gains_by_task,
)


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    return Trials(
        Trial(task, name + kind, i, {"accuracy": 0.9 - 0.5 * loss * rng.random() ** 3})
        for task in ("moons", "faces")
        for name, loss in (("svm", 1.0), ("knn", 0.1))
        for kind in ("", " tuned")
        for i in range(40)
    )


@pytest.fixture(scope="module")
def answer(trials):
    return robustness(trials)


def test_the_chart_shows_gains_quantile_by_quantile(answer):
    chart = gain_chart(answer, "moons")
    assert [s.name for s in chart.series] == ["svm", "knn"]
    band = answer.of("moons")[0].shift.shift
    np.testing.assert_array_equal(chart.series[0].y, band.value)
    assert chart.level == 0
    assert answer.metric.label in chart.y_label
    assert "95 % bands" in chart.caption


def test_an_open_band_is_left_open(answer):
    series = gain_chart(answer, "moons").series[0]
    assert np.isnan(series.lower[0])
    assert np.isfinite(series.lower[20])
    plot_gains(answer, task="moons").figure.canvas.draw()


def test_it_draws_on_the_axes_it_is_given_and_returns_them(answer):
    _, ax = plt.subplots()
    assert plot_gains(answer, ax, task="faces") is ax
    assert ax.get_title() == gain_chart(answer, "faces").title
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["svm", "knn"]


def test_several_tasks_need_a_choice_or_panels(answer, trials):
    with pytest.raises(CurvewiseError) as problem:
        plot_gains(answer)
    assert problem.value.message.fixes == ({"task": ...},)
    assert "plot_gains_by_task" in str(problem.value)
    figure = plot_gains_by_task(answer)
    titles = [gain_chart(answer, task).title for task in ("moons", "faces")]
    assert [ax.get_title() for ax in figure.axes] == titles
    assert [ax.get_legend() is not None for ax in figure.axes] == [True, False]
    one = robustness(trials.where(task="faces"))
    assert plot_gains(one).get_title() == titles[1]
