"""Tables and numbers as text."""

import html
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curvewise.latex import latex
from curvewise.text import columns, count, html_table, markdown, plain, shown

ROWS = [
    {"algorithm": "svm", "mean": 0.87654321, "n": 200},
    {"algorithm": "a forest", "mean": 0.5, "n": None},
]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "True"),
        (False, "False"),
        (7, "7"),
        (-12345678, "-12345678"),
        ("svm", "svm"),
        (0.0, "0.0000"),
        (0.123456, "0.1235"),
        (-0.123456, "-0.1235"),
        (0.001, "0.0010"),
        (0.00012345, "0.0001234"),
        (1e-9, "1e-09"),
        (1.0, "1.000"),
        (9.99996, "10.00"),
        (12.3456, "12.35"),
        (999.96, "1000"),
        (1234.5678, "1235"),
        (-1234.5678, "-1235"),
        (987654321.0, "987654321"),
        (3.2e14, "3.2e+14"),
        (1e15, "1e+15"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (np.float64(0.25), "0.2500"),
        (np.int64(3), "3"),
    ],
)
def test_a_number_is_shown_with_four_digits_that_matter(value, text):
    assert shown(value) == text


@given(st.floats(-1e300, 1e300))
def test_a_shown_number_reads_back_to_four_digits(value):
    """Between 0.001 and 1 it is four decimals: rates in a column line up."""
    slack = 5.1e-5 if 1e-3 <= abs(value) < 1 else 1e-300
    assert float(shown(value)) == pytest.approx(value, rel=6e-4, abs=slack)


@pytest.mark.parametrize(
    ("n", "noun", "text"),
    [
        (0, "trial", "0 trials"),
        (1, "trial", "1 trial"),
        (2, "query", "2 queries"),
        (3_000_000, "trial", "3,000,000 trials"),
    ],
)
def test_a_noun_follows_its_number(n, noun, text):
    assert count(n, noun) == text


def test_columns_come_in_order_of_first_appearance():
    assert columns([{"b": 1}, {"a": 1, "b": 2}, {"c": 3}]) == ["b", "a", "c"]


def test_a_plain_table_aligns_texts_left_and_numbers_right():
    assert plain(ROWS, indent="  ") == (
        "  algorithm    mean    n\n  svm        0.8765  200\n  a forest   0.5000"
    )


def test_a_name_with_line_breaks_stays_on_its_line():
    assert plain([{"a\nb": "x\r\ny", "n": 1}]).splitlines() == ["a b  n", "x y  1"]


def test_a_cell_that_a_row_lacks_is_empty():
    assert plain([{"a": 1}, {"b": 2}]) == "a  b\n1\n   2"


def test_markdown_escapes_what_would_end_a_cell():
    assert markdown([{"a|b": "x\\y\nz", "n": 1}]) == (
        "| a\\|b | n |\n| --- | ---: |\n| x\\\\y z | 1 |"
    )


def test_latex_escapes_its_special_characters():
    body = latex([{"name": "&%$#_{}~^\\", "n": 0.5}]).splitlines()
    assert body[0] == r"\begin{tabular}{lr}"
    assert body[2] == r"name & n \\"
    assert body[4] == (
        r"\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}\textbackslash{} & 0.5000 \\"
    )
    assert body[-1] == r"\end{tabular}"


def test_html_marks_numbers_and_captions_only_where_there_is_one():
    table = html_table(ROWS)
    assert "<caption>" not in table
    assert '<th scope="col" class="short">algorithm</th>' in table
    assert '<td class="number">0.8765</td>' in table
    assert "<caption>a &amp; b</caption>" in html_table(ROWS, "a & b")


@given(st.text())
def test_no_name_can_put_markup_into_a_page(name):
    table = html_table([{name: name}], name)
    tags = set(re.findall(r"</?(\w+)", table))
    assert tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert html.escape(name) in table


@pytest.mark.parametrize("table", [plain, markdown, latex, html_table])
def test_a_table_without_rows_is_still_a_text(table):
    assert isinstance(table([]), str)
