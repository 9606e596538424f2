"""Several charts in one figure."""

import itertools

import numpy as np
import pytest

import curvewise as cw
from curvewise import figures
from curvewise.errors import CurvewiseError
from curvewise.figures.chart import Chart, Series, no_band
from curvewise.figures.draw import draw_panels

X = np.arange(4.0)


def chart(title, *names):
    series = tuple(Series(name, X, X + i, *no_band(X)) for i, name in enumerate(names))
    return Chart(title, "x", "y", series, "A chart.", axis="linear", shape="line")


def legends(first):
    own = [ax.get_legend() for ax in first.figure.axes]
    return [
        None if one is None else [t.get_text() for t in one.get_texts()] for one in own
    ]


def test_charts_are_drawn_row_by_row():
    first = draw_panels([chart(str(i), "a") for i in range(5)], columns=3)
    titles = [ax.get_title() for ax in first.figure.axes]
    assert titles == ["0", "1", "2", "3", "4"]
    rows = [ax.get_subplotspec().rowspan.start for ax in first.figure.axes]
    assert rows == [0, 0, 0, 1, 1]


def test_the_same_curves_have_one_legend_above():
    first = draw_panels([chart("one", "a", "b", "c"), chart("two", "a", "b")])
    assert legends(first) == [None, None]
    (above,) = first.figure.legends
    assert [text.get_text() for text in above.get_texts()] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "names", [(("a", "b", "c"), ("d", "e", "f")), (("a", "b", "c"), ("c", "b", "a"))]
)
def test_other_curves_or_other_looks_have_legends_of_their_own(names):
    first = draw_panels([chart("one", *names[0]), chart("two", *names[1])])
    assert legends(first) == [list(own) for own in names]
    assert not first.figure.legends


def test_one_chart_keeps_its_legend_inside():
    first = draw_panels([chart("alone", "a", "b")])
    assert legends(first) == [["a", "b"]]


def test_no_chart_is_refused():
    with pytest.raises(CurvewiseError):
        draw_panels([])


@pytest.mark.parametrize("name", [name for name in dir(figures) if name != "style"])
def test_a_figure_needs_an_answer_of_its_kind(name):
    trials = cw.example("counts")
    others = ("trees", "bayes") if name == "plot_shift" else ()
    with pytest.raises(CurvewiseError) as problem:
        getattr(figures, name)(trials, *others)
    assert (problem.value.argument, problem.value.value) == ("answer", trials)


@pytest.mark.parametrize("n", [3, 9])
def test_a_legend_below_covers_nothing_and_squeezes_nothing(n):
    names = [f"curve {i}" for i in range(n)]
    others = [f"other {i}" for i in range(n)]
    first = draw_panels([chart("one", *names), chart("two", *others)], columns=1)
    first.figure.canvas.draw()
    one, two = first.figure.axes
    for ax in (one, two):
        label, legend = ax.xaxis.label.get_window_extent(), ax.get_legend()
        assert legend.get_window_extent().y1 < label.y0
        assert ax.get_window_extent().height > 100
    assert one.get_legend().get_window_extent().y0 > two.title.get_window_extent().y1


def test_labels_of_a_root_axis_do_not_touch():
    sizes = np.array([500.0, 1000, 2000, 4000, 8000, 32000])
    series = Series("a", sizes, sizes, *no_band(sizes))
    look = {"axis": "root", "shape": "line", "ticks": tuple(sizes)}
    charts = [Chart(t, "x", "y", (series,), "A chart.", **look) for t in "ab"]
    first = draw_panels(charts)
    first.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in first.get_xticklabels()]
    shown = sorted((box for box in boxes if box.width > 1), key=lambda box: box.x0)
    assert 3 <= len(shown) < len(sizes)
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(shown))
