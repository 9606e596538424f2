"""Pictures of curves that differ: what is drawn is what the answer says."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import curvewise as cw
from curvewise import CurvewiseError, Trial, Trials
from curvewise.figures.difference import (
    lines_chart,
    null_chart,
    shares_chart,
    where_chart,
)
from curvewise.report.charts import plotly_figure

mpl.use("agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def answer():
    return cw.difference(cw.example("curves"))


def few(lines):
    rng = np.random.default_rng(0)
    return cw.difference(
        Trials(
            Trial("t", name, i, {"loss": rng.normal(size=5)})
            for name in "ab"
            for i in range(lines)
        )
    )


def test_every_line_is_drawn_behind_its_mean(answer):
    chart = lines_chart(answer, "hill")
    faint = [s for s in chart.series if s.is_faint]
    means = [s for s in chart.series if not s.is_faint]
    assert len(faint) == 24
    assert [s.name for s in means] == ["slow", "fast", "early"]
    found = answer.of("hill")
    np.testing.assert_array_equal(means[1].y, found.lines["fast"].mean(axis=0))
    np.testing.assert_array_equal(means[1].lower, found.means["fast"].lower)
    assert {s.look for s in faint if s.name == "fast, a line"} == {means[1].look}
    ax = cw.figures.plot_lines(answer, task="hill")
    names = [t.get_text() for t in ax.get_legend().get_texts()]
    assert names == ["slow", "fast", "early"]
    assert len(ax.lines) == 27


def test_bars_are_where_the_pair_was_found_to_differ(answer):
    chart = where_chart(answer, "hill")
    pair = answer.pair("slow", "fast", "hill")
    bars = [(b.first, b.last) for b in chart.bars if b.row == 0]
    assert bars == list(pair.where.stretches)
    np.testing.assert_array_equal(chart.series[0].lower, pair.band.lower)
    assert chart.level == 0
    cw.figures.plot_where(answer, task="hill").figure.canvas.draw()
    shapes = plotly_figure(chart)["layout"]["shapes"]
    drawn = [s for s in shapes if s["type"] == "rect"]
    assert [(s["x0"], s["x1"]) for s in drawn] == [
        (b.first, b.last) for b in chart.bars
    ]


def test_a_single_step_is_seen_as_a_bar(answer):
    bars = where_chart(answer, "hill").bars
    (alone,) = [b for b in bars if b.first < 100_000 < b.last]
    assert 0 < alone.last - alone.first < 5000


@pytest.mark.parametrize("effect", ["algorithm", "interaction"])
def test_the_histogram_is_what_chance_made(answer, effect):
    chart = null_chart(answer, effect, "hill")
    found = answer.of("hill").anova
    assert chart.marks[0].x == found.tests[effect].observed
    assert chart.marks[1].x == found.critical_value(effect)
    (bars,) = chart.series
    width = bars.x[1] - bars.x[0]
    assert 0.98 < (bars.y * width).sum() <= 1 + 1e-9
    assert "9,999 shuffles" in chart.caption


def test_the_published_histogram_has_the_textbook_beside_it():
    trials = cw.example("curves").where(task="hill", algorithm=["slow", "fast"])
    chart = null_chart(cw.difference(trials, null="joint"), "interaction")
    assert [s.name for s in chart.series] == ["shuffles", "F of a textbook"]
    assert chart.x_label == "F"
    figure = cw.figures.plot_null(cw.difference(trials))
    assert [ax.get_xlabel() for ax in figure.axes] == [
        "Welch's t as a normal deviate",
        "ANOVA-type statistic",
    ]


def test_shares_go_from_nothing_to_all(answer):
    chart = shares_chart(answer, "swamp")
    assert chart.series[0].y[-1] == pytest.approx(1)
    assert (np.diff(chart.series[0].y) >= 0).all()
    assert np.isnan(chart.series[1].y).all()
    cw.figures.plot_effect_shares(answer, task="swamp").figure.canvas.draw()


def test_few_lines_are_drawn_without_bands():
    answer = few(3)
    assert np.isnan(lines_chart(answer).series[-1].lower).all()
    chart = where_chart(answer)
    assert chart.bars == ()
    np.testing.assert_allclose(
        chart.series[0].y,
        answer.of().lines["a"].mean(0) - answer.of().lines["b"].mean(0),
    )
    for plot in (cw.figures.plot_lines, cw.figures.plot_where):
        plot(answer).figure.canvas.draw()
    cw.figures.plot_null(answer).canvas.draw()


def test_of_many_pairs_the_first_are_drawn_and_the_rest_is_told():
    rng = np.random.default_rng(0)
    trials = Trials(
        Trial("t", f"a{k}", i, {"loss": rng.normal(size=4)})
        for k in range(6)
        for i in range(4)
    )
    chart = where_chart(cw.difference(trials, shuffles=199))
    assert len(chart.series) == 10
    assert "The first 10 pairs of 15." in chart.caption


def test_it_draws_on_the_axes_it_is_given(answer):
    _, ax = plt.subplots()
    assert cw.figures.plot_where(answer, ax, task="hill") is ax
    assert ax.get_title() == "Where they differ on hill"


def test_bad_input_is_named(answer):
    with pytest.raises(CurvewiseError, match=r"Which task\? The answer has 'hill'"):
        cw.figures.plot_lines(answer)
    with pytest.raises(CurvewiseError, match=r"A str came\. Pass an answer of"):
        cw.figures.plot_where("answer")
    with pytest.raises(
        CurvewiseError, match=r"effect is 'training'\. Pass 'algorithm'"
    ):
        null_chart(answer, "training", "hill")
