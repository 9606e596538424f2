import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curvewise.errors import CurvewiseError
from curvewise.stats.anova.lines import window_edges, window_means


@given(st.integers(1, 300), st.integers(1, 300))
def test_windows_are_neighbours_of_nearly_equal_numbers_of_steps(steps, windows):
    if windows > steps:
        with pytest.raises(CurvewiseError):
            window_edges(steps, windows)
        return
    edges = window_edges(steps, windows)
    sizes = np.diff(edges)
    assert (edges[0], edges[-1], len(sizes)) == (0, steps, windows)
    assert sizes.min() >= 1
    assert sizes.max() - sizes.min() <= 1


def test_edges_are_taken_as_they_are():
    assert window_edges(8, [1, 4, 7]).tolist() == [1, 4, 7]
    assert window_edges(8, np.array([0, 8])).tolist() == [0, 8]


@pytest.mark.parametrize("windows", [1, 3, 10, [0, 3, 10], [2, 3, 7]])
def test_means_are_those_of_the_steps_of_each_window(windows):
    rng = np.random.default_rng(1)
    lines = {"A": rng.normal(size=(3, 10)), "B": rng.normal(size=(5, 10))}
    means, first, last = window_means(lines, windows)
    assert list(means) == ["A", "B"]
    for name, values in lines.items():
        expected = [
            values[:, a : b + 1].mean(axis=1) for a, b in zip(first, last, strict=True)
        ]
        np.testing.assert_allclose(means[name], np.transpose(expected))
    assert (first[1:] == last[:-1] + 1).all()


def test_lines_are_left_as_they_were():
    lines = [np.arange(8.0).reshape(2, 4), np.ones((2, 4))]
    before = lines[0].copy()
    window_means(lines, 2)
    assert (lines[0] == before).all()


@pytest.mark.parametrize(
    ("steps", "windows", "message"),
    [
        (8, 9, r"9 windows were asked for, and there are 8 steps\. Pass 8 or fewer\."),
        (8, 0, r"windows is 0\. Pass how many, at least 1\."),
        (8, 2.5, r"windows is 2\.5\. Pass how many, at least 1\."),
        (8, True, r"windows is True\. Pass how many, at least 1\."),
        (0, 1, r"steps is 0\. Pass how many, at least 1\."),
        (8, [0], r"windows is \[0\]\. Pass how many, or two or more ascending edges"),
        (8, [0, 9], r"from 0 to 8: the first step of each window, and where the last"),
        (8, [-1, 4], "ascending edges"),
        (8, [0, 4, 4], "ascending edges"),
        (8, [0.0, 4.0], "ascending edges"),
        (8, [[0, 4]], "ascending edges"),
    ],
)
def test_windows_that_are_none_are_refused(steps, windows, message):
    with pytest.raises(CurvewiseError, match=message):
        window_edges(steps, windows)
