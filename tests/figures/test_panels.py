"""Several charts in one figure."""

import numpy as np
import pytest

from curvewise.errors import CurvewiseError
from curvewise.figures.panels import draw_panels
from curvewise.figures.series import Chart, Series, no_band

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
    with pytest.raises(CurvewiseError, match="There is no chart to draw"):
        draw_panels([])
