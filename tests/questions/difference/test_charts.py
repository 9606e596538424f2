"""Pictures of curves that differ: what is drawn is what the answer says."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import f

import curvewise as cw
from curvewise import CurvewiseError, Trial, Trials
from curvewise.questions.difference.charts import (
    lines_chart,
    null_chart,
    shares_chart,
    where_chart,
)
from curvewise.report.plotly import plotly_figure


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
    np.testing.assert_allclose(means[1].y, found.lines["fast"].mean(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(means[1].lower, found.means["fast"].lower)
    assert {s.look for s in faint if s.name == "fast, a line"} == {means[1].look}
    ax = cw.figures.plot_lines(answer, task="hill")
    names = [t.get_text() for t in ax.get_legend().get_texts()]
    assert names == ["slow", "fast", "early"]
    assert len(ax.lines) == 27


def test_bars_are_where_the_pair_was_found_to_differ(answer):
    chart = where_chart(answer, "hill")
    pair = answer.pair("slow", "fast", "hill")
    # The first pair is on top, as in the legend.
    bars = [(b.first, b.last) for b in chart.bars if b.row == 2]
    assert bars == list(pair.where.stretches)
    assert [b.look for b in chart.bars if b.row == 2] == [0] * len(bars)
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


def test_the_draws_with_the_larger_p_are_shown():
    """Few noisy lines beside many quiet ones: shuffles reject what flips do not."""
    rng = np.random.default_rng(1)
    trials = Trials(
        Trial("t", name, i, {"loss": sd * rng.normal(size=6).cumsum() + up})
        for name, n, sd, up in (("noisy", 4, 8.0, 10.0), ("quiet", 20, 1.0, 0.0))
        for i in range(n)
    )
    answer = cw.difference(trials)
    for effect, test in answer.of().anova.tests.items():
        drawn = max(test.draws, key=lambda draws: draws.p)
        kind = "flips" if drawn is test.flips else "shuffles"
        chart = null_chart(answer, effect)
        assert chart.series[0].name == kind
        assert chart.marks[0].x == drawn.observed
        # A picture never shows more than the decision.
        rejects = chart.marks[0].x >= chart.marks[1].x
        assert rejects == (answer.of().anova.decision(effect) == "rejected")
        assert f"p = {test.p:.2g} by {kind} and" in chart.caption
    test = answer.of().anova.tests["algorithm"]
    assert test.flips.p > test.shuffles.p
    assert null_chart(answer).x_label == "Welch's F"


def test_a_null_without_a_critical_value_says_so():
    answer = few(3)
    chart = null_chart(answer)
    assert [mark.label for mark in chart.marks] == ["observed"]
    (bars,) = chart.series
    assert (bars.y * (bars.x[1] - bars.x[0])).sum() == pytest.approx(1)


def test_lines_without_noise_have_a_picture():
    trials = Trials(
        Trial("t", name, i, {"loss": np.arange(4.0) + up})
        for name, up in (("a", 0.0), ("b", 1.0))
        for i in range(5)
    )
    answer = cw.difference(trials)
    cw.figures.plot_nulls(answer).canvas.draw()
    cw.figures.plot_where(answer).figure.canvas.draw()


def test_the_published_histogram_has_the_textbook_beside_it():
    trials = cw.example("curves").where(task="hill", algorithm=["slow", "fast"])
    chart = null_chart(cw.difference(trials, null="joint"), "interaction")
    assert chart.series[0].name == "shuffles"
    assert chart.x_label == "F"
    table = cw.difference(trials, null="joint").of().anova.anova
    shuffles, textbook = chart.series
    np.testing.assert_array_equal(shuffles.x, textbook.x)
    width = textbook.x[1] - textbook.x[0]
    exact = f.pdf(textbook.x, table.df["interaction"], table.df["error"])
    np.testing.assert_allclose(textbook.y, exact, atol=0.02 / width)


def test_both_nulls_stand_side_by_side(answer):
    figure = cw.figures.plot_nulls(answer, task="hill")
    titles = ["Chance and height on hill", "Chance and shape on hill"]
    assert [ax.get_title() for ax in figure.axes] == titles
    _, ax = plt.subplots()
    assert cw.figures.plot_null(answer, ax, effect="interaction", task="hill") is ax
    assert ax.get_title() == titles[1]
    assert cw.figures.plot_null(answer, task="hill").get_title() == titles[0]


def test_shares_go_from_nothing_to_all(answer):
    chart = shares_chart(answer, "swamp")
    assert chart.series[0].y[-1] == pytest.approx(1)
    assert (np.diff(chart.series[0].y) >= 0).all()
    assert np.isnan(chart.series[1].y).all()
    assert chart.series[1].is_area
    ax = cw.figures.plot_effect_shares(answer, task="swamp")
    assert [line.get_label() for line in ax.lines] == ["these lines"]
    assert [area.get_label() for area in ax.collections] == ["chance"]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "these lines",
        "chance",
    ]
    shown = [t for t in plotly_figure(chart)["data"] if t["showlegend"]]
    assert [(t["name"], t.get("fill")) for t in shown] == [
        ("these lines", None),
        ("chance", "toself"),
    ]


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
    cw.figures.plot_nulls(answer).canvas.draw()
    assert "band" not in chart.caption
    assert "band" not in lines_chart(answer).caption


def test_where_nothing_was_found_no_title_says_that_they_differ():
    lines = np.random.default_rng(0).normal(size=(8, 5))
    same = Trials(
        Trial("t", name, i, {"loss": line})
        for name in "ab"
        for i, line in enumerate(lines)
    )
    chart = where_chart(cw.difference(same))
    assert chart.title == "Differences on t"
    assert chart.bars == ()


@pytest.fixture(scope="module")
def many():
    """Ten algorithms, of which the last two differ."""
    rng = np.random.default_rng(0)
    return cw.difference(
        Trials(
            Trial("t", f"a{k}", i, {"loss": rng.normal(size=4) + up})
            for k in range(10)
            for i, up in enumerate((k == 9) * np.full(8, 2.0) - (k == 8) * 2.0)
        )
    )


def test_of_many_pairs_those_that_differ_are_drawn_and_the_rest_is_told(many):
    chart = where_chart(many)
    assert chart.title.endswith("10 of 45 pairs")
    assert len(chart.series) == 10
    pairs = many.of().pairs
    by_name = {f"{p.one} - {p.other}": p for p in pairs}
    names = [series.name for series in chart.series]
    assert names == [name for name in by_name if name in names]  # in their order
    assert "a8 - a9" in names
    differ = {name for name, p in by_name.items() if p.where.different.any()}
    assert len(differ) >= 10
    assert set(names) <= differ
    found = {n for n, p in by_name.items() if "rejected" in p.decisions.values()}
    left = len((differ | found) - set(names))
    assert f" {left} were found" in chart.caption
    assert cw.figures.plot_where(many).get_title() == chart.title


def test_pairs_may_be_chosen_and_turned_round(many):
    straight, turned = where_chart(many, pairs=[("a8", "a9"), ("a9", "a8")]).series
    assert [straight.name, turned.name] == ["a8 - a9", "a9 - a8"]
    np.testing.assert_array_equal(turned.y, -straight.y)
    np.testing.assert_array_equal(turned.lower, -straight.upper)
    chart = where_chart(many, pairs=[("a9", "a8")])
    assert chart.title.endswith("1 of 45 pairs")
    ax = cw.figures.plot_where(many, pairs=[("a9", "a8")])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), turned.y)
    asked = [("a0", f"a{k}") for k in range(1, 10)] * 2
    assert len(where_chart(many, pairs=asked).series) == 18
    (alone,) = where_chart(few(3), pairs=[("b", "a")]).series
    np.testing.assert_array_equal(alone.y, -where_chart(few(3)).series[0].y)


@pytest.mark.parametrize("pairs", [("a0", "a1"), [], "ab", [("a0",)], 5])
def test_pairs_that_are_none_are_named(many, pairs):
    with pytest.raises(CurvewiseError) as problem:
        where_chart(many, pairs=pairs)
    assert (problem.value.argument, problem.value.value) == ("pairs", pairs)


def test_a_chosen_pair_must_be_there(many):
    with pytest.raises(CurvewiseError) as problem:
        where_chart(many, pairs=[("a8", "b9")])
    assert (problem.value.argument, problem.value.value) == ("algorithm", "b9")


def test_of_very_many_lines_some_are_drawn():
    rng = np.random.default_rng(0)
    values = {name: rng.normal(size=(250, 5)) for name in "ab"}
    answer = cw.difference(
        Trials(
            Trial("t", name, i, {"loss": line})
            for name, own in values.items()
            for i, line in enumerate(own)
        ),
        shuffles=199,
    )
    chart = lines_chart(answer)
    assert "100 lines" in chart.caption
    for name, own in values.items():
        drawn = np.array([s.y for s in chart.faint if s.name == f"{name}, a line"])
        assert len({tuple(line) for line in drawn}) == 100
        # The outermost are among them, and the mean is that of all.
        means = own.mean(axis=1)
        assert drawn.mean(axis=1).min() == pytest.approx(means.min())
        assert drawn.mean(axis=1).max() == pytest.approx(means.max())
        (mean,) = [s for s in chart.named if s.name == name]
        np.testing.assert_allclose(mean.y, own.mean(axis=0))
    ax = cw.figures.plot_lines(answer)
    faint = [line for line in ax.lines if line.get_label() == "_faint"]
    assert {line.get_alpha() for line in faint} == {0.08}
    traces = [t for t in plotly_figure(chart)["data"] if t.get("opacity", 1) < 1]
    assert len(traces) == len(faint) == 200
    assert {t["opacity"] for t in traces} == {0.08}


def test_it_draws_on_the_axes_it_is_given(answer):
    _, ax = plt.subplots()
    assert cw.figures.plot_where(answer, ax, task="hill") is ax
    assert ax.get_title() == "Differences on hill"


def test_bad_input_is_named(answer):
    with pytest.raises(CurvewiseError) as problem:
        cw.figures.plot_lines(answer)
    assert problem.value.message.fixes == ({"task": ...},)
    with pytest.raises(CurvewiseError) as problem:
        null_chart(answer, "training", "hill")
    assert (problem.value.argument, problem.value.value) == ("effect", "training")
