"""Lines as every test of curves takes them: what is kept, and what is refused."""

import numpy as np
import pytest

from curvewise.errors import CurvewiseError
from curvewise.stats.anova.lines import checked_lines, compact, relative

LINES = np.random.default_rng(0).normal(size=(2, 6, 4))


def test_names_are_kept_or_counted():
    assert checked_lines({"a": LINES[0], "b": LINES[1]}).names == ("a", "b")
    assert checked_lines(LINES).names == ("1", "2")
    design = checked_lines([LINES[0][:2], LINES[1]])
    assert design.sizes == (2, 6)
    assert checked_lines(design).names == design.names
    np.testing.assert_array_equal(design.of([1]).values, LINES[1])


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ({"a": LINES[0]}, "Lines of 1 algorithm came. Pass those of two or more"),
        ({"a": LINES[0], "b": LINES[1][:, :3]}, "'a' 4, 'b' 3. Bring them on common"),
        (LINES[:, :, :1], "The lines have 1 step, and a curve has two or more"),
        (LINES[:, :1], "Each of 2 algorithms has one line"),
        ({1: LINES[0], "1": LINES[1]}, "Two algorithms are called '1'. Give each"),
        ({"a": LINES[0], "b": LINES[1, 0]}, "The lines of 'b' have shape (4,)"),
        ({"a": LINES[0], "b": [["x"]]}, "The lines of 'b' are no table of numbers"),
        (
            {"a": LINES[0], "b": np.full((6, 4), np.nan)},
            "24 values of 'b' are not finite, the first in line 0, step 0",
        ),
        ({"a": LINES[0], "b": LINES[1] * 1e200}, "Values of 'b' are beyond 1e+140"),
        (7, "Lines are int. Pass a mapping from names to arrays"),
    ],
)
def test_what_is_no_set_of_lines_is_named(lines, words):
    with pytest.raises(CurvewiseError) as refused:
        checked_lines(lines)
    assert words in str(refused.value)


def test_too_few_lines_of_one_algorithm_are_named():
    with pytest.raises(CurvewiseError, match=r"'1': 1 line, where the noise of each"):
        checked_lines([LINES[0][:1], LINES[1]], least_lines=2)


@pytest.mark.parametrize("offset", [0.0, 1e9, -1e12])
def test_a_common_origin_leaves_no_trace(offset):
    quanta = np.round(LINES * 64) / 64  # exact beside the offset
    one, unit = relative(checked_lines(quanta))
    other, same = relative(checked_lines(quanta + offset))
    assert unit == same
    np.testing.assert_array_equal(one.values, other.values)


def test_a_score_that_all_share_is_exactly_nothing():
    lines = LINES.copy()
    lines[:, :, 0] = 0.1
    lines[0, 0, 0] = 0.3 - 0.2  # the same, rounded
    own, _ = relative(checked_lines(lines))
    assert (own.values[:, 0] == 0).all()
    assert (own.values[:, 1] != 0).sum() >= 11


def test_a_line_next_to_the_middle_keeps_its_distance():
    """All lines of a step are one score, or none is taken for another."""
    lines = LINES.copy()
    lines[:, :, 0] = 0.1
    lines[0, 0, 0], lines[1, 0, 0] = 0.3 - 0.2, 5.0
    own, unit = relative(checked_lines(lines))
    assert own.values[0, 0] * unit == (0.3 - 0.2) - 0.1 != 0


def test_a_diverged_line_costs_the_others_no_digits():
    lines = LINES.copy()
    lines[0, 0] = 1e15
    own, unit = relative(checked_lines(lines))
    gaps = np.diff(own.values[1:] * unit, axis=0)
    np.testing.assert_allclose(
        gaps, np.diff(np.concatenate(lines)[1:], axis=0), rtol=1e-12
    )


def test_long_lines_in_few_coordinates_keep_all_products():
    lines = np.random.default_rng(1).normal(size=(7, 500))
    few = compact(lines)
    assert few.shape == (7, 7)
    np.testing.assert_allclose(few @ few.T, lines @ lines.T, rtol=1e-10)
