"""Charts as a page keeps them: the numbers of the answer, as bytes, and no more curves
at first than a reader can tell apart."""

import importlib.resources
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from typed_numbers import numbers

import curvewise as cw
from curvewise import Trial, Trials
from curvewise.figures.chart import DASHES, Chart, Series, colour_and_dash, no_band
from curvewise.figures.thinning import COARSEST, FINEST, height_of
from curvewise.questions.difference.charts import lines_chart
from curvewise.questions.learning.charts import learning_chart
from curvewise.questions.performance.charts import (
    best_chart,
    profile_chart,
    quantile_chart,
    tuning_chart,
)
from curvewise.report.layout import Look
from curvewise.report.plotly import (
    caption_of,
    packed,
    plotly_figure,
    shown_names,
    typed,
)

CHARTS = (
    lambda a: quantile_chart(a, "rings"),
    lambda a: best_chart(a, "rings"),
    lambda a: tuning_chart(a, "rings"),
    profile_chart,
)


@pytest.fixture(scope="module")
def answer():
    return cw.performance(cw.example("search"), "accuracy", failed="worst")


def chart_of(*series, **options):
    return Chart(
        "t", "x", "y", series, "c", **{"axis": "linear", "shape": "line"} | options
    )


def many(names, **options):
    x = np.linspace(0, 1, 5)
    own = [Series(name, x, x + i, x + i - 1, x + i + 1) for i, name in enumerate(names)]
    return chart_of(*own, **options)


def lines_of(figure):
    return [t for t in figure["data"] if t.get("showlegend", True)]


# --- numbers ---------------------------------------------------------------------------


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(0, 20), st.integers(1, 2)) | st.integers(0, 30),
        elements=st.floats(-1e300, 1e300) | st.just(np.nan),
    )
)
def test_bytes_hold_the_numbers_to_a_millionth(values):
    kept = json.loads(json.dumps(typed(values), allow_nan=False))
    found = numbers(kept)
    assert found.shape == values.shape
    np.testing.assert_allclose(found, values, rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.1, 0.2, np.nan], "f4"),
        ([0.8123456, 0.8234567], "f4"),
        ([5000, 10_000, 1_000_000], "f4"),
        ([123_456_789, 123_456_790], "f8"),  # steps that four bytes would make one
        ([16_777_217.0], "f8"),  # whole numbers stay what they are
        ([1e6 + 0.01, 1e6 + 0.02], "f8"),  # differ only in their ninth digit
        ([1e-300, 1.0], "f8"),
        ([np.nan], "f4"),
        ([], "f4"),
    ],
)
def test_eight_bytes_where_four_would_not_do(values, kind):
    values = np.array(values, dtype=np.float64)
    assert typed(values)["dtype"] == kind
    np.testing.assert_allclose(numbers(typed(values)), values, rtol=1e-6, atol=0)


@pytest.mark.parametrize("make", CHARTS)
def test_a_figure_holds_the_numbers_of_the_answer(answer, make):
    chart = make(answer)
    for series, trace in zip(chart.series, lines_of(plotly_figure(chart)), strict=True):
        np.testing.assert_allclose(numbers(trace["x"]), series.x, rtol=1e-6)
        np.testing.assert_allclose(numbers(trace["y"]), series.y, rtol=1e-6)
        ends = numbers(trace["customdata"])
        for own, column in zip((series.lower, series.upper), ends.T, strict=True):
            np.testing.assert_allclose(column, own, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("make", CHARTS)
def test_a_page_draws_them_to_within_its_tolerance(answer, make):
    chart = make(answer)
    height = height_of(chart, chart.series)
    figure = plotly_figure(chart, COARSEST)
    at = np.log if chart.axis == "log" else np.asarray
    for series, trace in zip(chart.series, lines_of(figure), strict=True):
        x, y = numbers(trace["x"]), numbers(trace["y"])
        assert x[[0, -1]] == pytest.approx(series.x[[0, -1]])
        if trace["line"]["shape"] == "hv":
            drawn = y[np.clip(np.searchsorted(x, series.x, "right") - 1, 0, len(y) - 1)]
        else:
            drawn = np.interp(at(series.x), at(x), y)
        assert np.abs(drawn - series.y).max() <= 1.001 * COARSEST * height


def test_a_step_that_is_known_to_nine_digits_is_told_so():
    x = 1e8 + np.arange(5.0)
    own = Series("a", x, np.sqrt(x), *no_band(x))
    (trace,) = plotly_figure(chart_of(own), FINEST)["data"]
    assert numbers(trace["x"]).tolist() == x.tolist()
    assert "%{x:,}" in trace["hovertemplate"]
    half = Series("a", x / 2, np.sqrt(x), *no_band(x))
    assert "%{x:.4g}" in plotly_figure(chart_of(half))["data"][0]["hovertemplate"]


def test_a_band_with_a_hole_is_two_bands():
    x = np.arange(9.0)
    lower = np.where(x == 4, np.nan, x - 1)
    for tolerance in (None, FINEST):
        band, _ = plotly_figure(chart_of(Series("a", x, x, lower, x + 1)), tolerance)[
            "data"
        ]
        gaps = np.isnan(numbers(band["x"]))
        assert gaps.sum() == 1
        assert (np.isnan(numbers(band["y"])) == gaps).all()


def test_plotly_takes_what_it_gets(answer):
    import plotly.graph_objects as go

    figure = go.Figure(plotly_figure(quantile_chart(answer, "rings"), COARSEST))
    assert len(figure.data) == 6


def test_faint_lines_are_written_in_the_shorter_way():
    rng = np.random.default_rng(0)
    x, none = np.arange(50.0), np.full(50, np.nan)
    rough = Series("r", x, rng.normal(size=50), none, none, 0, is_faint=True)
    flat = Series("f", x, np.zeros(50), none, none, 0, is_faint=True)
    named = Series("a", x, 4 * x, none, none, 0)
    first, second, _ = plotly_figure(chart_of(rough, flat, named), FINEST)["data"]
    assert (first["x0"], first["dx"]) == (0, 1)
    assert len(numbers(first["y"])) == 50
    assert numbers(second["x"]).tolist() == [0, 49]


def with_template(figure):
    """Return the traces with what they inherit, as Plotly fills them in."""
    (template,) = figure["layout"]["template"]["data"]["scatter"]
    out = []
    for trace in figure["data"]:
        own = {"type": "scatter"} | template | trace
        for look in ("line", "marker"):
            own[look] = template.get(look, {}) | trace.get(look, {})
        out.append(own)
    return out


@pytest.mark.parametrize("make", [*CHARTS, lambda _: busy_chart()])
def test_what_is_said_once_is_what_each_said(answer, make):
    figure = plotly_figure(make(answer), COARSEST)
    small = packed(figure)
    assert len(json.dumps(small)) < len(json.dumps(figure))
    for now, before in zip(with_template(small), figure["data"], strict=True):
        if "hoverinfo" in before:  # a pointer skips it
            now.pop("hovertemplate")
        for key, value in before.items():
            if key in ("line", "marker"):
                assert now[key].items() >= value.items()
            else:
                assert now[key] == value
        assert now.get("zorder", 0) == before.get("zorder", 0)


def busy_chart():
    """A chart with curves, bands, circles, faint lines and a lonely point."""
    x = np.arange(4.0)
    one = np.array([2.0])
    return chart_of(
        Series("a", x, x, x - 1, x + 1, 0),
        Series("b", x, x, *no_band(x), 1),
        Series("b, seen", x, x, *no_band(x), 1, is_dots=True),
        Series("b, a line", x, x, *no_band(x), 1, is_faint=True),
        Series("c", one, one, *no_band(one), 2),
    )


def test_a_lonely_point_keeps_its_look():
    """It is a marker without a look of its own, and must not inherit that of circles."""
    figure = packed(plotly_figure(busy_chart()))
    assert "marker" not in figure["layout"]["template"]["data"]["scatter"][0]


# --- which curves are shown --------------------------------------------------------------


def test_ten_names_are_all_shown_and_of_more_the_leaders():
    names = [f"a{i}" for i in range(10)]
    assert shown_names(many(names)) == frozenset(names)
    assert all("visible" not in t for t in plotly_figure(many(names))["data"])
    names = [f"a{i}" for i in range(50)]
    assert shown_names(many(names)) == frozenset(names[:8])
    best = tuple(reversed(names))
    chart = many(names, leaders=best)
    assert shown_names(chart) == frozenset(best[:8])
    figure = plotly_figure(chart)
    hidden = {t["legendgroup"] for t in figure["data"] if t.get("visible") is False}
    assert hidden == set(names) - set(best[:8])
    assert len(figure["data"]) == 100


def test_what_belongs_to_a_hidden_curve_is_hidden_too():
    x = np.arange(3.0)
    names = [f"a{i}" for i in range(12)]
    own = [Series(name, x, x, *no_band(x), i) for i, name in enumerate(names)]
    own += [
        Series(f"{name}, seen", x, x, *no_band(x), i, is_dots=True)
        for i, name in enumerate(names)
    ]
    data = plotly_figure(chart_of(*own))["data"]
    assert [t.get("visible") is False for t in data] == [i >= 8 for i in range(12)] * 2


def test_the_caption_says_how_many_are_shown_and_how_exactly():
    few, lot = many("ab"), many([f"a{i}" for i in range(50)])
    assert caption_of(few, FINEST) == "c"
    assert "8 of 50" in caption_of(lot)
    led = many(
        [s.name for s in lot.named], leaders=("a9", *(f"a{i}" for i in range(9)))
    )
    told = caption_of(led, COARSEST)
    assert "8 of 50" in told
    assert "0.7 %" in told


def test_bands_are_as_opaque_as_those_that_are_shown_allow():
    fills = {
        n: plotly_figure(many([f"a{i}" for i in range(n)]))["data"][0]["fillcolor"]
        for n in (2, 8, 50)
    }
    assert fills[8] == fills[50] != fills[2]


def test_the_best_lead(answer):
    own = {d.algorithm: d.best_interval.value for d in answer.of("rings")}
    leaders = tuple(sorted(own, key=lambda name: -own[name]))
    for make in CHARTS[:3]:
        assert make(answer).leaders == leaders
    top = {o.algorithm: o.mean.value for o in answer.overall}
    assert profile_chart(answer).leaders == tuple(sorted(top, key=lambda n: -top[n]))


def test_lower_is_better_leads_with_the_lowest():
    trials = Trials(
        Trial("t", name, i, {"loss": scale * (i + 1)})
        for name, scale in (("bad", 3.0), ("good", 1.0), ("fair", 2.0))
        for i in range(9)
    )
    chart = quantile_chart(cw.performance(trials))
    assert chart.leaders == ("good", "fair", "bad")


def test_curves_lead_by_their_means_and_errors_by_the_lowest():
    found = lines_chart(cw.difference(cw.example("curves")), "hill")
    mean = {s.name: s.y.mean() for s in found.named}
    assert found.leaders == tuple(sorted(mean, key=lambda name: -mean[name]))
    learnt = learning_chart(cw.learning(cw.example("counts"), "error"))
    assert set(learnt.leaders) == {s.name for s in learnt.named}


def test_no_two_of_fifty_algorithms_look_alike():
    assert len({colour_and_dash(i) for i in range(56)}) == 56
    assert len({Look("#000", dash, False).strokes for dash in DASHES}) == len(DASHES)


# --- in a browser ------------------------------------------------------------------------


def drawn(browser, figure):
    """Return a page that shows one figure, and what it complained about."""
    from browser import listen

    page = browser.new_page(viewport={"width": 900, "height": 500})
    heard = listen(page)
    page.set_content("<div id='a' style='width:800px;height:400px'></div>")
    script = importlib.resources.files("plotly") / "package_data" / "plotly.min.js"
    page.add_script_tag(content=script.read_text("utf-8"))
    page.evaluate("f => Plotly.newPlot('a', f.data, f.layout)", figure)
    return page, heard


def told_at(page, trace, point):
    """Return what a pointer near a point is told."""
    x, y = page.evaluate(
        """([trace, point]) => {
          const chart = document.getElementById("a");
          const {x, y} = chart.calcdata[trace][point];
          const {xaxis, yaxis} = chart._fullLayout;
          return [xaxis.c2p(x) + xaxis._offset, yaxis.c2p(y) + yaxis._offset];
        }""",
        [trace, point],
    )
    page.mouse.move(5, 5)
    page.mouse.move(x + 5, y + 5)
    page.locator("#a .hovertext").first.wait_for()
    return page.locator("#a .hovertext").first.text_content()


SLOW = pytest.mark.slow


@pytest.mark.service
@pytest.mark.parametrize("tolerance", [pytest.param(None, marks=SLOW), FINEST])
@pytest.mark.parametrize(
    ("shape", "axis"), [pytest.param("line", "log", marks=SLOW), ("step", "linear")]
)
def test_a_browser_reads_the_bytes(browser, tolerance, shape, axis):
    x = np.arange(1.0, 21)
    y = np.where((x > 8) & (x < 12), np.nan, np.sqrt(x))
    lower = np.where(x == 15, np.nan, np.sqrt(x) - 1)
    chart = chart_of(Series("a", x, y, lower, np.sqrt(x) + 1), shape=shape, axis=axis)
    page, heard = drawn(browser, plotly_figure(chart, tolerance))
    assert page.locator("#a .scatterlayer .js-line").count() == 2  # a gap in the curve
    fill = page.locator("#a .js-fill").first.get_attribute("d")
    assert fill.count("M") == 2  # and one in the band
    ends = page.evaluate("document.getElementById('a')._fullLayout.xaxis.range")
    assert ends == pytest.approx(
        [0, np.log10(20)] if axis == "log" else [1, 20], abs=0.1
    )
    assert "2.000 at 4" in told_at(page, 1, 3) or shape == "step"
    assert "band 1.000 to 3.000" in told_at(page, 1, 3)
    assert heard.complaints == []
    whole = chart_of(Series("a", x, x, *no_band(x)), shape=shape, axis=axis)
    page, _ = drawn(browser, plotly_figure(whole, tolerance))
    assert (
        page.locator("#a .scatterlayer .js-line").count() == 1
    )  # the control: no gap, one line


@pytest.mark.service
@pytest.mark.parametrize(
    "make",
    [
        *(CHARTS[i] for i in (0, 2)),
        lambda _: busy_chart(),
    ],
)
@pytest.mark.slow
def test_a_browser_draws_the_same_from_what_is_said_once(browser, answer, make):
    figure = plotly_figure(make(answer), COARSEST)
    seen = []
    for one in (figure, packed(figure)):
        page, heard = drawn(browser, one)
        marks = page.locator("#a .cartesianlayer .trace path")
        looks = "e => e.map(p => [p.getAttribute('d'), p.getAttribute('style')])"
        seen.append(marks.evaluate_all(looks))
        assert heard.complaints == []
    assert len(seen[0]) >= 6
    assert seen[0] == seen[1]
