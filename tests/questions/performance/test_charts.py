import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from typed_numbers import numbers

import curvewise as cw
from curvewise import CurvewiseError, Trial, Trials
from curvewise.figures.chart import (
    PALETTE,
    Bar,
    Chart,
    Mark,
    Series,
    colour_and_dash,
    legend_names,
    mark_places,
)
from curvewise.figures.draw import draw, new_axes
from curvewise.questions.performance.charts import (
    best_chart,
    profile_chart,
    quantile_chart,
    shift_chart,
    tuning_chart,
)
from curvewise.report.plotly import plotly_figure


@pytest.fixture
def answer():
    return cw.performance(cw.example("search"), "accuracy", failed="worst")


def test_the_chart_shows_the_quantile_function_and_its_band(answer):
    chart = quantile_chart(answer, "rings")
    assert [s.name for s in chart.series] == ["net", "forest", "svm"]
    forest, d = chart.series[1], answer.of("rings")[1]
    np.testing.assert_array_equal(forest.y, d.quantile(forest.x))
    assert (forest.lower <= forest.y).all()
    assert (forest.y <= forest.upper).all()
    assert "higher is better" in chart.y_label
    assert "95 % band" in chart.caption


def test_both_drawers_show_the_same_numbers(answer):
    chart = quantile_chart(answer, "rings")
    ax = cw.figures.plot_quantiles(answer, task="rings")
    traces = [t for t in plotly_figure(chart)["data"] if t.get("showlegend", True)]
    for series, line, trace in zip(chart.series, ax.lines, traces, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), series.y)
        np.testing.assert_allclose(numbers(trace["y"]), series.y, rtol=1e-6)
        assert line.get_label() == trace["name"] == series.name
        assert mpl.colors.to_hex(line.get_color()) == trace["line"]["color"].lower()


def test_it_draws_on_the_axes_it_is_given_and_returns_them(answer):
    _, ax = plt.subplots()
    assert cw.figures.plot_quantiles(answer, ax, task="waves") is ax
    assert ax.get_title() == "Scores on waves"
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "net",
        "forest",
        "svm",
    ]


def test_several_tasks_need_a_choice_or_panels(answer):
    with pytest.raises(CurvewiseError) as problem:
        cw.figures.plot_quantiles(answer)
    assert problem.value.message.fixes == ({"task": ...},)
    assert "plot_quantiles_by_task" in str(problem.value)
    with pytest.raises(CurvewiseError) as problem:
        cw.figures.plot_quantiles(answer, task="ring")
    assert (problem.value.argument, problem.value.value) == ("task", "ring")
    figure = cw.figures.plot_quantiles_by_task(answer)
    assert [ax.get_title() for ax in figure.axes] == [
        "Scores on rings",
        "Scores on waves",
    ]
    assert [ax.get_legend() is not None for ax in figure.axes] == [True, False]


def test_an_open_band_is_left_open():
    trials = Trials(Trial("t", "a", i, {"return": i}) for i in range(30))
    (series,) = quantile_chart(cw.performance(trials)).series
    assert np.isnan(series.lower[0])
    assert np.isnan(series.upper[-1])
    band = plotly_figure(quantile_chart(cw.performance(trials)))["data"][0]
    assert np.isfinite(numbers(band["y"])).all()
    cw.figures.plot_quantiles(cw.performance(trials)).figure.canvas.draw()


def test_no_two_of_many_algorithms_look_alike():
    looks = {colour_and_dash(i) for i in range(4 * len(PALETTE))}
    assert len(looks) == 4 * len(PALETTE)


def test_plotly_accepts_the_figure(answer):
    import plotly.graph_objects as go

    figure = plotly_figure(quantile_chart(answer, "rings"))
    assert len(go.Figure(figure).data) == 6


def test_names_are_drawn_as_they_are_written():
    """matplotlib reads $...$ as mathematics and hides "_x"; Plotly reads tags."""
    names = ["_base", r"$\frac$", "a$b", "<b>bold</b>"]
    trials = Trials(
        Trial("$t$", name, i, {"return": i}) for name in names for i in range(9)
    )
    answer = cw.performance(trials)
    ax = cw.figures.plot_quantiles(answer)
    ax.figure.canvas.draw()
    shown = [t.get_text().strip("\u200b") for t in ax.get_legend().get_texts()]
    assert [text.replace(r"\$", "$") for text in shown] == names
    figure = plotly_figure(quantile_chart(answer))
    assert figure["data"][-1]["name"] == "&lt;b&gt;bold&lt;/b&gt;"


@pytest.mark.parametrize(
    ("chart", "axis"),
    [
        (lambda a: best_chart(a, "rings"), "share"),
        (lambda a: tuning_chart(a, "rings"), "log"),
        (lambda a: shift_chart(a, "net", "svm", "rings"), "share"),
        (profile_chart, "linear"),
    ],
)
def test_every_chart_looks_the_same_in_both_drawers(answer, chart, axis):
    chart = chart(answer)
    assert chart.axis == axis
    ax, page = draw(chart, new_axes()), plotly_figure(chart)
    assert ax.get_xscale() == ("log" if axis == "log" else "linear")
    assert (page["layout"]["xaxis"].get("type") == "log") == (axis == "log")
    assert ("shapes" in page["layout"]) == (chart.level is not None)
    traces = [t for t in page["data"] if t.get("showlegend", True)]
    lines = ax.lines[: len(chart.series)]
    for series, line, trace in zip(chart.series, lines, traces, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), series.y)
        np.testing.assert_allclose(numbers(trace["y"]), series.y, rtol=1e-6)
        inside = np.isfinite(series.lower) & np.isfinite(series.upper)
        assert inside.any()
        # Far below 1e-9 is rounding.
        assert (series.lower[inside] <= series.y[inside] + 1e-9).all()
        assert (series.y[inside] <= series.upper[inside] + 1e-9).all()


def test_charts_hold_what_the_answer_says(answer):
    d = answer.one("net", "rings")
    best, tuning = best_chart(answer, "rings"), tuning_chart(answer, "rings")
    half = np.argmin(np.abs(best.series[0].x - 0.5))
    assert best.series[0].y[half] == pytest.approx(d.best(0.5))
    assert tuning.series[0].y[0] == pytest.approx(d.mean)
    assert tuning.series[0].x[-1] == len(d.scores)
    shift = shift_chart(answer, "net", "svm", "rings").series[0]
    middle = np.argmin(np.abs(shift.x - 0.5))
    assert shift.y[middle] == pytest.approx(
        float(d.quantile(0.5) - answer.one("svm", "rings").quantile(0.5))
    )


def test_a_chart_of_an_unbounded_metric_shows_the_median_of_the_best():
    rng = np.random.default_rng(0)
    trials = Trials(Trial("t", "a", i, {"return": rng.normal()}) for i in range(50))
    chart = tuning_chart(cw.performance(trials))
    assert "(median)" in chart.caption
    assert np.isfinite(chart.series[0].upper[0])


def test_tuned_ones_get_a_row_of_their_own_in_the_same_colours():
    trials = Trials(
        Trial(task, name, i, {"accuracy": (i + 1) / 9})
        for task in "tu"
        for name in ("knn", "svm", "svm tuned")
        for i in range(8)
    )
    figure = cw.figures.plot_quantiles_by_task(cw.performance(trials))
    titles = [ax.get_title() for ax in figure.axes]
    rows = ("t, untuned", "u, untuned", "t, tuned", "u, tuned")
    assert all(map(str.endswith, titles, rows))
    above, below = figure.axes[0], figure.axes[2]
    assert [line.get_label() for line in above.lines] == ["knn", "svm"]
    assert [line.get_label() for line in below.lines] == ["svm"]
    assert below.lines[0].get_color() == above.lines[1].get_color()


def test_marks_and_a_level_are_drawn_by_both():
    at = np.arange(3.0)
    chart = Chart(
        "t", "x", "y", (Series("a", at, at, at, at),), "c",
        axis="linear", marks=(Mark(1.0, "here"),), level=0.5,
    )  # fmt: skip
    ax, layout = draw(chart, new_axes()), plotly_figure(chart)["layout"]
    assert [t.get_text() for t in ax.texts] == ["here"]
    assert [a["text"] for a in layout["annotations"]] == ["here"]
    assert {s["x0"] for s in layout["shapes"]} == {1.0, 0}


def test_bars_and_faint_lines_are_drawn_by_both():
    at, none = np.arange(3.0), np.full(3, np.nan)
    chart = Chart(
        "t", "x", "y",
        (
            Series("a", at, at, at - 1, at + 1),
            Series("one of many", at, 2 * at, none, none, look=0, is_faint=True),
        ),
        "c", axis="linear", bars=(Bar(0.5, 1.5, 0, 0, "here"), Bar(1, 2, 1, 1, "there")),
    )  # fmt: skip
    ax, figure = draw(chart, new_axes()), plotly_figure(chart)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a"]
    assert ax.lines[1].get_alpha() < 1
    assert [line["showlegend"] for line in figure["data"]] == [False, True, False]
    # What is behind a curve is hidden along with it.
    assert figure["data"][1]["legendgroup"] == "a"
    assert "band" not in figure["data"][2]["hovertemplate"]
    drawn = [p.get_bbox() for p in ax.patches]
    assert [(b.x0, b.x1) for b in drawn] == [(0.5, 1.5), (1, 2)]
    rects = figure["layout"]["shapes"]
    assert [(r["x0"], r["x1"], r["y0"]) for r in rects] == [
        (b.x0, b.x1, b.y0) for b in drawn
    ]
    # Room is made for the bars below the lowest end of a band.
    assert ax.get_ylim()[0] < -1
    assert figure["layout"]["yaxis"]["range"][0] < -1


def test_an_algorithm_looks_the_same_on_every_task():
    trials = Trials(
        Trial(task, name, i, {"accuracy": (i + 1) / 9})
        for task, names in (("x", "ab"), ("y", "bc"))
        for name in names
        for i in range(8)
    )
    figure = cw.figures.plot_quantiles_by_task(cw.performance(trials))
    colours = [
        {line.get_label(): line.get_color() for line in ax.lines} for ax in figure.axes
    ]
    assert colours[0]["b"] == colours[1]["b"]
    assert len({colours[0]["a"], colours[0]["b"], colours[1]["c"]}) == 3
    assert all(ax.get_legend() for ax in figure.axes)  # each shows other algorithms


def test_the_names_of_many_algorithms_stand_beside_the_axes():
    trials = Trials(
        Trial("t", f"algorithm {k}", i, {"accuracy": (i + k) / 40})
        for k in range(30)
        for i in range(5)
    )
    ax = cw.figures.plot_quantiles(cw.performance(trials))
    ax.figure.canvas.draw()
    assert ax.get_position().width > 0.3


def test_a_single_point_is_seen():
    answer = cw.performance(Trials([Trial("t", "a", 0, {"accuracy": 0.5})]))
    (line,) = cw.figures.plot_tuning(answer).lines
    assert line.get_marker() == "o"
    traces = plotly_figure(tuning_chart(answer))["data"]
    assert traces[1]["mode"] == "markers"


def plain_chart(names, *, at=None, **more):
    at = np.arange(1.0, 4.0) if at is None else at
    return Chart(
        "t", "x", "y", tuple(Series(n, at, at, at - 1, at + 1) for n in names), "c",
        shape="line", **{"axis": "linear", **more},
    )  # fmt: skip


def test_long_names_are_cut_and_told_apart_by_both():
    long = "an experiment with settings " * 6
    names = [f"{long}{end}" for end in ("one", "two")] + ["b" * 150, "short"]
    shown = legend_names(names)
    assert len(set(shown.values())) == 4
    assert [shown[n][-5:] for n in names[:2]] == ["s one", "s two"]
    assert all("…" in shown[n] for n in names[:2])
    assert shown["short"] == "short"
    lines = shown["b" * 150].split("\n")
    assert len(lines) == 2
    assert max(map(len, lines)) <= 32
    ax, figure = draw(plain_chart(names), new_axes()), plotly_figure(plain_chart(names))
    ax.figure.canvas.draw()
    assert ax.get_position().width > 0.6
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(shown.values())
    named = [t["name"] for t in figure["data"] if t["showlegend"]]
    assert [n.replace("<br>", "\n") for n in named] == list(shown.values())


def test_names_that_are_alike_for_long_stay_apart():
    names = [k * "a" for k in range(60, 200)] + ["a  b", "", 70 * "a" + "b" * 70]
    assert len(set(legend_names(names).values())) == len(names)
    assert legend_names(["a b", "a  b"]) == {"a b": "a b", "a  b": "a b"}


def test_many_bands_are_fainter_and_their_names_beside_the_axes():
    few, many = plain_chart("abcd"), plain_chart("abcdefgh")
    inside, beside = draw(few, new_axes()), draw(many, new_axes())
    for ax in (inside, beside):
        ax.figure.canvas.draw()
    right = [
        ax.transAxes.inverted().transform(ax.get_legend().get_window_extent())[0, 0]
        for ax in (inside, beside)
    ]
    assert right[0] < 1 <= right[1]
    alphas = [ax.collections[0].get_alpha() for ax in (inside, beside)]
    assert alphas == [0.15, 0.075]
    colours = [plotly_figure(c)["data"][0]["fillcolor"] for c in (few, many)]
    assert [c.rsplit(",", 1)[1] for c in colours] == ["0.15)", "0.075)"]


def test_names_stand_beside_bars():
    bars = (Bar(1.5, 2.5, 0, 0, "here"),)
    ax = draw(plain_chart("ab", bars=bars), new_axes())
    ax.figure.canvas.draw()
    box = ax.transAxes.inverted().transform(ax.get_legend().get_window_extent())
    assert box[0, 0] >= 1


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1, 6, ["1", "2", "5"]),
        (1, 30, ["1", "2", "5", "10", "20"]),
        (4, 9, ["4", "5", "6", "7", "8", "9"]),
        (410, 490, ["420", "440", "460", "480"]),
        (3, 3, ["3"]),
        (5, 5, ["5"]),
    ],
)
def test_a_short_logarithmic_axis_has_plain_numbers(low, high, ticks):
    chart = plain_chart("a", at=np.linspace(low, high, 9), axis="log")
    assert ticks_of(draw(chart, new_axes())) == ticks
    assert plotly_figure(chart)["layout"]["xaxis"]["ticktext"] == ticks


def test_a_long_logarithmic_axis_has_powers_of_ten():
    long = plain_chart("a", at=np.linspace(1, 1000, 9), axis="log")
    assert ticks_of(draw(long, new_axes())) == ["1", "10", "100", "1,000"]
    assert plotly_figure(long)["layout"]["xaxis"]["dtick"] == 1


def ticks_of(ax):
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    texts = ax.get_xticklabels(which="major") + ax.get_xticklabels(which="minor")
    shown = [t for t in texts if t.get_text() and low <= t.get_position()[0] <= high]
    return [t.get_text() for t in shown]


def test_labels_of_close_marks_are_on_either_side():
    at = np.linspace(0, 10, 11)
    marks = (
        Mark(5.2, "second"),
        Mark(5.0, "first"),
        Mark(0.3, "begin"),
        Mark(9.9, "end"),
    )
    chart = plain_chart("a", at=at, marks=marks)
    sides = {mark.label: side for mark, side, _ in mark_places(chart)}
    assert sides == {
        "begin": "right",
        "first": "left",
        "second": "right",
        "end": "left",
    }
    ax, layout = draw(chart, new_axes()), plotly_figure(chart)["layout"]
    ax.figure.canvas.draw()
    one, other = [
        t.get_window_extent() for t in ax.texts if t.get_text() in ("first", "second")
    ]
    assert not one.overlaps(other)
    anchors = {a["text"]: a["xanchor"] for a in layout["annotations"]}
    assert anchors == {
        "begin": "left",
        "first": "right",
        "second": "left",
        "end": "right",
    }


def test_even_steps_of_faint_lines_are_written_once():
    none = np.full(3, np.nan)
    even, odd = np.array([0.0, 2.0, 4.0]), np.array([0.0, 2.0, 5.0])
    faint = [Series("f", x, x, none, none, 0, is_faint=True) for x in (even, odd)]
    chart = Chart("t", "x", "y", tuple(faint), "c", axis="linear", shape="line")
    first, second = plotly_figure(chart)["data"]
    assert (first["x0"], first["dx"]) == (0, 2)
    assert "x" not in first
    assert numbers(second["x"]).tolist() == [0, 2, 5]
