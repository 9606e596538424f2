"""Errors at sizes are checked once, and every message says what to do."""

import warnings

import numpy as np
import pytest

from curvewise.errors import CurvewiseError, CurvewiseWarning
from curvewise.stats.curves import checked_means, checked_runs
from curvewise.stats.validation import checked_sizes

SIZES = [100, 200, 400]
RUNS = [[0.4, 0.5], [0.3, 0.4], [0.2, 0.3]]


def test_runs_know_their_means_counts_and_variances():
    found = checked_runs(SIZES, [[0.4, 0.5], [0.3], [0.2, 0.3, 0.1]])
    np.testing.assert_allclose(found.means, [0.45, 0.3, 0.2])
    assert found.counts.tolist() == [2, 1, 3]
    np.testing.assert_allclose(found.variances, [0.005, np.nan, 0.01])
    assert found.table is None


def test_one_error_is_one_run():
    found = checked_runs(SIZES, [0.4, 0.3, 0.2])
    assert found.counts.tolist() == [1, 1, 1]
    assert found.table.tolist() == [[0.4, 0.3, 0.2]]


def test_sizes_are_put_in_order_with_their_runs():
    found = checked_runs([400, 100, 200], [RUNS[2], RUNS[0], RUNS[1]])
    assert found.sizes.tolist() == SIZES
    assert [e.tolist() for e in found.errors] == RUNS
    assert found.table.tolist() == [[0.4, 0.3, 0.2], [0.5, 0.4, 0.3]]


def test_percentages_become_fractions():
    found = checked_runs(SIZES, [[40, 50], [30, 40], [20, 30]], unit="percent")
    np.testing.assert_allclose(found.means, [0.45, 0.35, 0.25])
    np.testing.assert_allclose(found.table, np.transpose(RUNS))


def test_a_loss_stays_as_it_is():
    assert checked_runs(SIZES, [7, 5, 3], unit="loss").means.tolist() == [7, 5, 3]


def test_runs_are_told_apart_by_their_names():
    names = [["a", "b"], ["b", "a"], ["c", "a"]]
    found = checked_runs(SIZES, RUNS, runs=names)
    wanted = [[0.4, 0.4, 0.3], [0.5, 0.3, np.nan], [np.nan, np.nan, 0.2]]
    np.testing.assert_array_equal(found.table, wanted)


def test_names_follow_sizes_that_are_put_in_order():
    found = checked_runs([200, 100, 400], RUNS, runs=[[1, 2], [2, 1], [1, 2]])
    np.testing.assert_array_equal(found.table, [[0.4, 0.4, 0.2], [0.3, 0.5, 0.3]])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"unit": "mille"}, "unit is 'mille'. Pass one of fraction, percent, loss"),
        (
            {"sizes": [100, 200], "errors": [0.4, 0.3]},
            "There are 2 sizes, and this needs at least 3. Train on more",
        ),
        ({"sizes": [100, 200, 200]}, "Size 200 is there twice. Pass its runs together"),
        ({"sizes": [200, 100, 200]}, "Size 200 is there twice. Pass its runs together"),
        ({"sizes": ["a", "b", "c"]}, "sizes is ['a', 'b', 'c']. Pass numbers of"),
        ({"sizes": [[1, 2, 3]]}, "Pass numbers of training examples."),
        ({"sizes": []}, "sizes is []. Pass numbers of training examples."),
        ({"sizes": [True, False, True]}, "Pass numbers of training examples."),
        ({"sizes": [[1, 2], 3, 4]}, "Pass numbers of training examples."),
        ({"sizes": [0, 100, 200]}, "sizes holds 0. Pass numbers of training examples,"),
        ({"sizes": [-5, 100, 200]}, "sizes holds -5."),
        ({"sizes": [np.nan, 100, 200]}, "sizes holds nan."),
        ({"sizes": [100, 200, np.inf]}, "sizes holds inf."),
        (
            {"sizes": [100, 200, 1e16]},
            "sizes holds 1e+16. Pass sizes from 1e-15 to 1e+15",
        ),
        ({"sizes": [100, 200, 1e-16]}, "sizes holds 1e-16. Pass sizes from 1e-15"),
        ({"sizes": [100, 200, 200 + 1e-9]}, "Size 200 is there twice"),
        (
            {"sizes": np.ma.masked_array([1, 2, 3], mask=[0, 1, 0])},
            "sizes are masked. Pass those that count",
        ),
        (
            {"sizes": [100], "errors": [0.3]},
            "There is 1 size, and this needs at least 3",
        ),
        ({"errors": {100: 0.4, 200: 0.3, 400: 0.2}}, "errors is a dict. Pass a list"),
        ({"errors": [0.4, [[0.3], [0.2, 0.1]], 0.2]}, "Errors at size 200 have shape"),
        (
            {"errors": [1e101, 1, 1], "unit": "loss"},
            "An error is 1e+101. Pass losses up",
        ),
        ({"errors": RUNS, "runs": [[None, 1]] * 3}, "Some runs have no name"),
        ({"errors": [0.4, 0.3]}, "There are 3 sizes and errors for 2. Pass one error"),
        ({"errors": 0.4}, "There are 3 sizes and errors for 0. Pass one error"),
        ({"errors": [0.4, "high", 0.2]}, "Errors at size 200 are no numbers"),
        ({"errors": [0.4, [], 0.2]}, "Errors at size 200 have shape (0,)"),
        ({"errors": [0.4, [[0.3]], 0.2]}, "Errors at size 200 have shape (1, 1)"),
        ({"errors": [0.4, np.nan, 0.2]}, "1 of 1 errors at size 200 are not finite"),
        (
            {"errors": [0.4, [0.3, np.inf], 0.2]},
            "1 of 2 errors at size 200 are not finite",
        ),
        (
            {"errors": [0.4, 0.3, -0.2]},
            "An error is -0.2, below 0. Pass errors, where less is better: 1 - accuracy",
        ),
        (
            {"errors": [40, 30, 20]},
            "An error is 40, and fractions go from 0 to 1. Pass unit='percent'",
        ),
        (
            {"errors": [1.4, 0.3, 0.2]},
            "An error is 1.4, and fractions go from 0 to 1. Pass unit='loss'",
        ),
        (
            {"errors": [140, 30, 20]},
            "An error is 140, and fractions go from 0 to 1. Pass unit='loss'",
        ),
        (
            {"errors": [140, 30, 20], "unit": "percent"},
            "An error is 140, and percentages go from 0 to 100. Pass unit='loss'",
        ),
        (
            {"errors": RUNS, "runs": [[1, 2], [1, 2], [1]]},
            "runs and errors differ in shape. Pass, for each error, which run it is of",
        ),
        ({"errors": RUNS, "runs": [[1, 2], [1, 2]]}, "runs and errors differ in shape"),
        ({"errors": RUNS, "runs": 3}, "runs and errors differ in shape"),
        (
            {"errors": RUNS, "runs": [[1, 2], [1, 1], [1, 2]]},
            "A run has two errors at one size. Pass one error for each run and size",
        ),
    ],
)
def test_every_refusal_says_what_came_and_what_to_do(how, message):
    told = {"sizes": SIZES, "errors": [0.4, 0.3, 0.2]} | how
    with pytest.raises(CurvewiseError) as refused:
        checked_runs(**told)
    assert message in str(refused.value)


def test_fractions_passed_as_percentages_are_warned_of():
    with pytest.warns(CurvewiseWarning, match=r"largest error is 0\.4 %. If these are"):
        checked_runs(SIZES, [0.4, 0.3, 0.2], unit="percent")


def test_what_is_unambiguous_is_not_warned_of():
    """The negative control."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checked_runs(SIZES, [4, 3, 2], unit="percent")
        checked_runs(SIZES, [0, 0, 0], unit="percent")
        checked_runs(SIZES, [0.4, 0.3, 0.2])


def test_fewest_may_be_one():
    assert checked_runs([100], [0.3], fewest=1).means.tolist() == [0.3]


def test_sizes_alone_are_checked_under_their_own_name():
    assert checked_sizes(7).tolist() == [7]
    with pytest.raises(CurvewiseError, match=r"to holds -1\. Pass numbers of training"):
        checked_sizes([3, -1], "to")


def test_a_table_with_named_columns_is_its_rows():
    """The iterator of a data frame is about columns: these are no errors."""
    pandas = pytest.importorskip("pandas")
    rows = [[0.5, 0.4, 0.6], [0.3, 0.2, 0.4], [0.2, 0.1, 0.3]]
    found = checked_runs(SIZES, pandas.DataFrame(rows, columns=["a", "b", "c"]))
    np.testing.assert_array_equal(found.table, np.transpose(rows))


@pytest.mark.parametrize(
    ("values", "unit", "words"),
    [
        ([[40, 30, 20], [4, 3, 2]], "fraction", "pass unit='percent'"),
        ([[0.4, 0.3, 0.2]], "percent", "pass unit='fraction'"),
    ],
)
def test_a_batch_in_another_unit_is_warned_of(values, unit, words):
    with pytest.warns(CurvewiseWarning, match=words):
        checked_means(values, "means", 3, unit)


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ([[40, 30, 20], [0.4, 0.3, 0.2]], "fraction"),  # one curve is no batch
        ([[400, 30, 20]], "fraction"),
        ([[np.nan, 0.3, 0.2]], "fraction"),
        (np.zeros((0, 3)), "fraction"),
        ([[0, 0, 0]], "percent"),
        ([[40, 30, 20]], "loss"),
    ],
)
def test_a_batch_without_a_doubt_is_not(values, unit, recwarn):
    assert checked_means(values, "means", 3, unit).shape[1] == 3
    assert not recwarn
