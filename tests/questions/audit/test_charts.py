"""The picture of an audit: rates, their intervals, and what is promised."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import curvewise as cw
from curvewise.questions.audit.charts import audit_chart, plot_audit
from curvewise.report.plotly import plotly_figure


@pytest.fixture(scope="module")
def answer():
    return cw.audit(cw.example("search"), failed="worst", repetitions=20)


def test_the_chart_shows_how_often_each_promise_was_broken(answer):
    chart = audit_chart(answer)
    lines, dots = chart.series
    assert [s.name for s in chart.named] == ["performance"]
    np.testing.assert_array_equal(dots.x, np.arange(1, 16))
    np.testing.assert_array_equal(dots.y, [c.rate for c in answer.checks])
    ends = np.array([c.interval for c in answer.checks])
    np.testing.assert_array_equal(lines.y.reshape(-1, 3)[:, :2], ends)
    np.testing.assert_array_equal(lines.x.reshape(-1, 3)[:, 0], dots.x)
    assert np.isnan(lines.y[2::3]).all()  # no line from one promise to the next
    assert chart.level == pytest.approx(0.05)
    assert "99 % confidence" in chart.caption


def test_each_analysis_has_a_colour_of_its_own():
    trials = cw.example("curves").where(task="hill", algorithm=["slow", "fast"])
    chart = audit_chart(cw.audit(trials, repetitions=20))
    assert [s.name for s in chart.named] == ["performance", "difference"]
    assert [s.look for s in chart.series] == [0, 0, 1, 1]


def test_it_draws_on_the_axes_it_is_given_and_returns_them(answer):
    _, ax = plt.subplots()
    assert plot_audit(answer, ax) is ax
    assert ax.get_xlabel() == audit_chart(answer).x_label
    assert plot_audit(answer) is not ax
    plot_audit(answer).figure.canvas.draw()


def test_the_page_draws_it_too(answer):
    lines, dots = plotly_figure(audit_chart(answer))["data"]
    assert (lines["mode"], dots["mode"]) == ("lines", "markers")
    assert lines["name"] == "performance"
