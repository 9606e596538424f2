import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import curvewise as cw
from curvewise import CurvewiseError
from curvewise.figures.plan import plan_chart
from curvewise.stats.bands import half_width

mpl.use("agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_the_chart_shows_what_each_number_of_trials_tells():
    chart = plan_chart(cw.plan.trials(half_width=0.1))
    one, planned, anytime = chart.series
    n = int(one.x[20])
    assert one.y[20] == pytest.approx(half_width(n))
    assert (one.y < planned.y).all()
    assert (planned.y < anytime.y).all()
    assert (chart.level, chart.axis) == (0.1, "log")
    assert one.x[0] < 181 < one.x[-1]


def test_it_falls_to_what_was_asked_for_where_the_answer_says():
    answer = cw.plan.trials(
        0.02, of="cvar", pilot=cw.example("search"), metric="accuracy", failed="worst"
    )
    chart = plan_chart(answer)
    for series, row in zip(chart.series, answer.rows(), strict=True):
        first = series.x[np.argmax(series.y <= 0.02)]
        assert first >= row["guaranteed"]
        assert (series.y[series.x < row["guaranteed"]] > 0.02).all()
    ax = cw.figures.plot_plan(answer)
    assert len(ax.lines) == len(chart.series) + 1  # what was asked for is a line too


def test_it_draws_plans_only():
    with pytest.raises(CurvewiseError, match=r"int came\. Pass what curvewise\.plan"):
        cw.figures.plot_plan(3)
