import dataclasses

import numpy as np
import pytest

import curvewise as cw
from curvewise import CurvewiseError
from curvewise.questions.plan.charts import plan_chart, plot_power, power_chart
from curvewise.stats.bands import half_width


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


HILL = cw.example("curves").where(task="hill", algorithm=["slow", "fast"])
NEAR = cw.plan.lines(HILL, shift=50)


def test_the_chart_of_power_shows_what_each_number_of_lines_finds():
    chart = power_chart(NEAR)
    (series,) = chart.series
    found = NEAR.pairs[0].plan
    assert series.name == "slow - fast"
    assert series.x.tolist() == found.sizes.tolist()
    assert series.y.tolist() == found.powers.tolist()
    assert series.lower.tolist() == found.powers_lower.tolist()
    assert series.upper.tolist() == found.powers_upper.tolist()
    assert (chart.level, chart.axis) == (0.8, "linear")
    # It reaches what was asked for where the answer says.
    assert series.y[series.x >= found.lines].min() >= 0.75
    assert series.y[series.x < found.lines - 1].max() < 0.85
    ax = plot_power(NEAR)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (chart.x_label, chart.y_label)
    assert len(ax.lines) == 2


def test_curves_far_apart_have_a_logarithmic_axis():
    far = cw.plan.lines(HILL, shift=5)
    assert power_chart(far).axis == "linear"  # one curve, however many lines
    both = dataclasses.replace(NEAR, pairs=NEAR.pairs + far.pairs)
    assert power_chart(both).axis == "log"


def test_power_that_nobody_knows_is_not_drawn():
    rng = np.random.default_rng(1)
    line = rng.normal(size=(8, 5))
    nothing = cw.Trials(
        cw.Trial("t", name, i, {"reward": line[i]}, steps=range(5))
        for name in "ab"
        for i in range(8)
    )
    answer = cw.plan.lines(nothing)
    with pytest.raises(CurvewiseError) as problem:
        plot_power(answer)
    assert problem.value.message.fixes == ({"shift": ...}, {"stretch": ...})
    some = dataclasses.replace(NEAR, pairs=NEAR.pairs + answer.pairs)
    chart = power_chart(some)
    assert len(chart.series) == 1
    assert chart.caption != power_chart(NEAR).caption  # one has no number of lines
    with pytest.raises(CurvewiseError) as problem:
        plot_power(cw.plan.lines(HILL, shift=1e-4))
    assert problem.value.message.fixes == ()  # the shift was stated
