"""Figures for paper and slides: of the size that was asked for, and nothing is cut."""

from itertools import combinations

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from drawn_figures import FIGURES, searched

import curvewise as cw
from curvewise import figures
from curvewise.errors import CurvewiseError
from curvewise.figures.draw import new_axes, starts_row
from curvewise.figures.styles import current

STYLES = {
    "one column": {"columns": 1},
    "two columns": {"columns": 2},
    "slides": {"name": "slides"},
}
HEIGHTS = {"one column": 2.4, "two columns": 2.8, "slides": 5.6}
WIDTHS = {"one column": 3.4, "two columns": 7.0, "slides": 10.0}
GROWN = {"many names"}  # so many that the figure grows


def drawn(key, **options):
    """Draw a figure in a style, lay it out, and return it."""
    with figures.style(**{"name": "paper", **options}):
        made = FIGURES[key]()
        figure = made if isinstance(made, mpl.figure.Figure) else made.figure
        figure.canvas.draw()
    return figure


def tick_labels(ax):
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            slack = 1e-6 * (high - low)
            if low - slack <= tick.get_loc() <= high + slack:
                yield tick.label1


def outer_texts(figure):
    """Return what stands around axes: titles, labels, ticks, and legends above."""
    texts = [text for legend in figure.legends for text in legend.get_texts()]
    for ax in figure.axes:
        texts += [ax.title, ax.xaxis.label, ax.yaxis.label, *tick_labels(ax)]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def all_texts(figure):
    texts = outer_texts(figure)
    for ax in figure.axes:
        texts += [text for text in ax.texts if text.get_text().strip()]
        if ax.get_legend() is not None:
            texts += ax.get_legend().get_texts()
    return texts


def cut_off(figure):
    """Return the texts that are not wholly within the figure."""
    whole = figure.bbox
    found = []
    for text in all_texts(figure):
        box = text.get_window_extent()
        inside = box.x0 >= whole.x0 - 1 and box.x1 <= whole.x1 + 1
        if not (inside and box.y0 >= whole.y0 - 1 and box.y1 <= whole.y1 + 1):
            found.append(text.get_text())
    return found


def do_meet(one, other):
    """Whether two boxes share more than a pixel of rounding."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return width > 1 and height > 1


def overlapping(figure):
    """Return the pairs of texts around axes that meet, and those upon other axes."""
    texts = [(t.get_text(), t.axes, t.get_window_extent()) for t in outer_texts(figure)]
    found = [(a[0], b[0]) for a, b in combinations(texts, 2) if do_meet(a[2], b[2])]
    found += [
        (name, "axes")
        for name, owner, box in texts
        for ax in figure.axes
        if ax is not owner and do_meet(box, ax.get_window_extent())
    ]
    return found


def sizes(figure):
    return [text.get_fontsize() for text in all_texts(figure)]


def check(name, style):
    figure = drawn(name, **STYLES[style])
    try:
        width, height = figure.get_size_inches()
        assert width == WIDTHS[style]
        rows = max(ax.get_subplotspec().get_gridspec().nrows for ax in figure.axes)
        if rows == 1 and name not in GROWN:
            assert height == HEIGHTS[style]
        assert cut_off(figure) == []
        assert overlapping(figure) == []
        assert min(sizes(figure)) >= 6
        for ax in figure.axes:
            box = ax.get_window_extent()
            assert min(box.width, box.height) > 0.7 * figure.dpi, "axes are squeezed"
    finally:
        plt.close(figure)


# Those with panels, long names or much beside their axes.
TIGHT = (
    *("plot_best", "plot_gains_by_task", "plot_learning", "plot_nulls"),
    *("plot_quantiles_by_task", "plot_variance_shares", "plot_where", "many names"),
)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in TIGHT else pytest.mark.slow)
        for name in FIGURES
    ],
)
def test_every_figure_fits_a_column(name):
    check(name, "one column")


@pytest.mark.slow
@pytest.mark.parametrize("style", ["two columns", "slides"])
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_fits_other_styles(name, style):
    check(name, style)


def test_every_public_figure_is_among_them():
    public = {name for name in figures.__all__ if name.startswith("plot_")}
    assert public <= set(FIGURES)


def test_what_is_cut_or_overlaps_would_be_seen():
    """The negative control: labels that nobody breaks, in so small a figure."""
    with mpl.rc_context({"font.size": 8.0}):
        figure, axes = plt.subplots(1, 2, figsize=(3.4, 1.2))
        for ax in axes:
            figures.plot_best(searched(), ax, task="rings")
        axes[0].set_title("small", fontsize=5)
        figure.canvas.draw()
        assert cut_off(figure)
        assert overlapping(figure)
        assert min(sizes(figure)) == 5
    plt.close(figure)


# --- files -------------------------------------------------------------------------------


def saved(path, **options):
    with figures.style("paper", **options):
        figures.plot_quantiles(searched(), task="rings").figure.savefig(path)
    plt.close("all")
    return path.read_bytes()


@pytest.mark.parametrize(("columns", "points"), [(1, 244.8), (2, 504)])
def test_a_pdf_has_the_page_and_the_fonts_that_publishers_ask_for(
    tmp_path, columns, points
):
    data = saved(tmp_path / "figure.pdf", columns=columns)
    assert f"/MediaBox [ 0 0 {points:g} ".encode() in data
    assert b"/CIDFontType2" in data  # TrueType, that is Type 42
    assert b"/Type3" not in data


def test_without_a_style_fonts_are_of_type_3(tmp_path):
    """The negative control."""
    path = tmp_path / "figure.pdf"
    figures.plot_quantiles(searched(), task="rings").figure.savefig(path)
    plt.close("all")
    assert b"/Type3" in path.read_bytes()


def test_an_svg_keeps_its_letters_as_letters(tmp_path):
    assert b">share of trials</text>" in saved(tmp_path / "figure.svg")


# --- the block ---------------------------------------------------------------------------


def test_a_style_ends_with_its_block_also_after_an_error():
    before = dict(mpl.rcParams)
    with figures.style("paper"):
        assert mpl.rcParams["font.size"] == 8
        assert current().width == 3.4
        with figures.style("screen"):
            assert current().width is None
        assert current().width == 3.4
    with pytest.raises(ZeroDivisionError), figures.style("slides"):
        1 / 0  # noqa: B018
    assert dict(mpl.rcParams) == before
    assert current().width is None


def test_the_screen_is_as_it_was():
    first = new_axes()
    assert first.figure.get_size_inches().tolist() == [6.4, 4.0]
    grid = new_axes(3, 2).figure
    assert grid.get_size_inches().tolist() == [12.0, 6.4]
    with figures.style("screen"):
        assert new_axes(3).figure.get_size_inches().tolist() == [12.0, 4.0]


def test_a_height_can_be_stated_and_is_kept():
    with figures.style("paper", height=1.7):
        figure = FIGURES["many names"]().figure
    assert figure.get_size_inches().tolist() == [3.4, 1.7]
    plt.close(figure)


def test_panels_that_do_not_fit_go_on_below():
    with figures.style("paper"):
        figure = new_axes(columns=5, rows=2).figure
    # Each row of five becomes three of two, the last of which is half empty.
    assert len(figure.axes) == 10
    assert [starts_row(ax) for ax in figure.axes[:5]] == [
        True,
        False,
        True,
        False,
        True,
    ]
    assert figure.get_size_inches().tolist() == pytest.approx([3.4, 6 * 2.1])
    with figures.style("paper", columns=2):
        assert len(new_axes(columns=4).figure.axes) == 4


def test_single_axes_have_no_title_on_paper_and_panels_have():
    assert drawn("plot_best").axes[0].get_title() == ""
    assert drawn("plot_best", name="slides").axes[0].get_title()
    assert all(ax.get_title() for ax in drawn("plot_nulls").axes)


def test_a_figure_of_ones_own_keeps_its_size():
    with figures.style("paper"):
        figure, ax = plt.subplots(figsize=(3, 2))
        assert figures.plot_quantiles(searched(), ax, task="rings") is ax
    assert figure.get_size_inches().tolist() == [3, 2]


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"name": "papper"}, "style"),
        ({"columns": 3}, "columns"),
        ({"columns": True}, "columns"),
        ({"name": "slides", "columns": 2}, "columns"),
        ({"height": 0}, "height"),
        ({"height": "2"}, "height"),
    ],
)
def test_what_cannot_be_is_refused(options, argument):
    with pytest.raises(CurvewiseError) as problem, figures.style(**options):
        pass
    assert problem.value.argument == argument
    assert problem.value.value == list(options.values())[-1]


def test_many_names_are_read_and_leave_the_axes_their_room():
    figure = drawn("many names")
    assert figure.get_size_inches()[1] > 2.4
    assert len(figure.legends[0].get_texts()) == 12
    assert figure.axes[0].get_window_extent().height > 1.5 * figure.dpi


def test_the_style_is_public():
    assert cw.figures.style is figures.style
