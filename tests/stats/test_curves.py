"""Errors at sizes are checked once, and every message says what to do."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from curvewise.errors import CurvewiseError, CurvewiseWarning
from curvewise.stats.curves import (
    blocks,
    checked_means,
    checked_runs,
    fit_amplitudes,
    fit_grid,
)
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


def refused(how):
    with pytest.raises(CurvewiseError) as error:
        checked_runs(**{"sizes": SIZES, "errors": [0.4, 0.3, 0.2]} | how)
    return error.value


@pytest.mark.parametrize(
    "how",
    [
        {"unit": "mille"},
        {"sizes": ["a", "b", "c"]},
        {"sizes": [[1, 2, 3]]},
        {"sizes": []},
        {"sizes": [True, False, True]},
        {"sizes": [[1, 2], 3, 4]},
    ],
)
def test_what_is_no_such_argument_is_named(how):
    ((argument, value),) = how.items()
    error = refused(how)
    assert (error.argument, error.value) == (argument, value)


@pytest.mark.parametrize(
    ("errors", "unit", "other"),
    [
        ([40, 30, 20], "fraction", "percent"),
        ([1.4, 0.3, 0.2], "fraction", "loss"),
        ([140, 30, 20], "fraction", "loss"),
        ([140, 30, 20], "percent", "loss"),
    ],
)
def test_errors_above_a_unit_are_refused_with_the_unit_to_pass(errors, unit, other):
    error = refused({"errors": errors, "unit": unit})
    assert error.message.fixes == ({"unit": other},)


@pytest.mark.parametrize(
    ("how", "cause"),
    [
        ({"sizes": [100, 200], "errors": [0.4, 0.3]}, "at least 3"),
        ({"sizes": [100], "errors": [0.3]}, "at least 3"),
        ({"sizes": [100, 200, 200]}, "twice"),
        ({"sizes": [200, 100, 200]}, "twice"),
        ({"sizes": [100, 200, 200 + 1e-9]}, "twice"),
        ({"sizes": [0, 100, 200]}, "holds 0."),
        ({"sizes": [-5, 100, 200]}, "holds -5."),
        ({"sizes": [np.nan, 100, 200]}, "holds nan."),
        ({"sizes": [100, 200, np.inf]}, "holds inf."),
        ({"sizes": [100, 200, 1e16]}, "holds 1e+16."),
        ({"sizes": [100, 200, 1e-16]}, "holds 1e-16."),
        ({"sizes": np.ma.masked_array([1, 2, 3], mask=[0, 1, 0])}, "masked"),
        ({"errors": {100: 0.4, 200: 0.3, 400: 0.2}}, "dict"),
        ({"errors": [0.4, [[0.3], [0.2, 0.1]], 0.2]}, "have shape"),
        ({"errors": [0.4, [], 0.2]}, "have shape (0,)"),
        ({"errors": [0.4, [[0.3]], 0.2]}, "have shape (1, 1)"),
        ({"errors": [0.4, "high", 0.2]}, "no numbers"),
        ({"errors": [0.4, np.nan, 0.2]}, "1 of 1"),
        ({"errors": [0.4, [0.3, np.inf], 0.2]}, "1 of 2"),
        ({"errors": [0.4, 0.3]}, "for 2."),
        ({"errors": 0.4}, "for 0."),
        ({"errors": [0.4, 0.3, -0.2]}, "below 0"),
        ({"errors": [1e101, 1, 1], "unit": "loss"}, "1e+101"),
        ({"errors": RUNS, "runs": [[None, 1]] * 3}, "no name"),
        ({"errors": RUNS, "runs": [[1, 2], [1, 2], [1]]}, "differ in shape"),
        ({"errors": RUNS, "runs": [[1, 2], [1, 2]]}, "differ in shape"),
        ({"errors": RUNS, "runs": 3}, "differ in shape"),
        ({"errors": RUNS, "runs": [[1, 2], [1, 1], [1, 2]]}, "two errors"),
    ],
)
def test_every_refusal_says_what_came(how, cause):
    assert cause in str(refused(how))


def test_fractions_passed_as_percentages_are_warned_of():
    with pytest.warns(CurvewiseWarning) as warned:
        checked_runs(SIZES, [0.4, 0.3, 0.2], unit="percent")
    assert warned[0].message.args[0].fixes == ({"unit": "fraction"},)


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
    with pytest.raises(CurvewiseError, match="to holds -1"):
        checked_sizes([3, -1], "to")


def test_a_table_with_named_columns_is_its_rows():
    """The iterator of a data frame is about columns: these are no errors."""
    pandas = pytest.importorskip("pandas")
    rows = [[0.5, 0.4, 0.6], [0.3, 0.2, 0.4], [0.2, 0.1, 0.3]]
    found = checked_runs(SIZES, pandas.DataFrame(rows, columns=["a", "b", "c"]))
    np.testing.assert_array_equal(found.table, np.transpose(rows))


@pytest.mark.parametrize(
    ("values", "unit", "other"),
    [
        ([[40, 30, 20], [4, 3, 2]], "fraction", "percent"),
        ([[0.4, 0.3, 0.2]], "percent", "fraction"),
    ],
)
def test_a_batch_in_another_unit_is_warned_of(values, unit, other):
    with pytest.warns(CurvewiseWarning) as warned:
        checked_means(values, "means", 3, unit)
    assert warned[0].message.args[0].fixes == ({"unit": other},)


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


# --- The one kernel of all fits, against solvers that go curve by curve ---------------


def problem(seed, *, curves=7, shapes=5, sizes=6, shared=False, holes=False):
    """Return random shapes above 0, errors in 0 to 1, and weights."""
    rng = np.random.default_rng(seed)
    basis = rng.uniform(0.05, 3, (shapes, sizes))
    errors = rng.random((curves, sizes))
    weights = rng.uniform(0.1, 5, (1 if shared else curves, sizes))
    if holes:
        weights *= rng.random(weights.shape) < 0.6
        weights[:, :3] += 0.5  # three sizes are there
    return basis, errors, weights


def each(basis, errors, weights):
    """Return every curve and shape with its weighted design and right-hand side."""
    weights = np.broadcast_to(weights, errors.shape)
    for i, (y, w) in enumerate(zip(errors, weights, strict=True)):
        for k, phi in enumerate(basis):
            root = np.sqrt(w)
            yield (
                (i, k),
                np.stack([root, root * phi], axis=1),
                root * y,
            )


def largest_gap(found, wanted):
    """Return how far cost and parameters are from another solver's."""
    gaps = [
        max(
            abs(found.cost[at] - cost),
            abs(found.asymptote[at] - c),
            abs(found.amplitude[at] - b),
        )
        for at, (cost, c, b) in wanted.items()
    ]
    return max(gaps)


def by_nnls(basis, errors, weights):
    found = {}
    for at, a, y in each(basis, errors, weights):
        (c, b), norm = nnls(a, y)
        found[at] = (norm**2, c, b)
    return found


def by_lstsq(basis, errors, weights):
    found = {}
    for at, a, y in each(basis, errors, weights):
        (c, b) = np.linalg.lstsq(a, y)[0]
        found[at] = (((y - a @ [c, b]) ** 2).sum(), c, b)
    return found


WAYS = [{}, {"shared": True}, {"holes": True}, {"shared": True, "holes": True}]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("seed", range(5))
def test_free_fits_are_those_of_least_squares(seed, how):
    data = problem(seed, **how)
    assert largest_gap(fit_grid(*data), by_lstsq(*data)) < 1e-9


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("seed", range(5))
def test_bounded_fits_are_those_of_nnls(seed, how):
    data = problem(seed, **how)
    found = fit_grid(*data, is_bounded=True)
    assert largest_gap(found, by_nnls(*data)) < 1e-9
    assert (found.asymptote >= 0).all()
    assert (found.amplitude >= 0).all()


def test_all_three_edges_are_met():
    """Else the tests above would not have seen them."""
    found = fit_grid(*problem(0, curves=200), is_bounded=True)
    on_edge = (found.asymptote == 0).sum(), (found.amplitude == 0).sum()
    inside = ((found.asymptote > 0) & (found.amplitude > 0)).sum()
    assert min(*on_edge, inside) > 10


def test_the_gap_of_an_unbounded_fit_is_seen():
    """The negative control: without bounds, nnls is not what comes out."""
    data = problem(0)
    assert largest_gap(fit_grid(*data), by_nnls(*data)) > 0.1


@given(
    st.integers(0, 10**6),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(3, 9),
    st.booleans(),
)
def test_bounded_fits_are_those_of_nnls_in_every_shape(
    seed, curves, shapes, sizes, shared
):
    data = problem(seed, curves=curves, shapes=shapes, sizes=sizes, shared=shared)
    assert largest_gap(fit_grid(*data, is_bounded=True), by_nnls(*data)) < 1e-7


@given(st.integers(0, 10**6), st.floats(-8, 8))
def test_fits_scale_with_errors_and_do_not_ask_for_the_unit_of_weights(seed, power):
    basis, errors, weights = problem(seed)
    plain = fit_grid(basis, errors, weights, is_bounded=True)
    found = fit_grid(basis, errors, 10.0**power * weights, is_bounded=True)
    np.testing.assert_allclose(found.asymptote, plain.asymptote, atol=1e-9)
    np.testing.assert_allclose(found.cost, 10.0**power * plain.cost, rtol=1e-6)
    half = fit_grid(basis, errors / 2, weights, is_bounded=True)
    np.testing.assert_allclose(half.amplitude, plain.amplitude / 2, atol=1e-9)


@pytest.mark.parametrize("is_bounded", [False, True])
def test_a_flat_shape_fits_the_mean(is_bounded):
    basis = np.full((1, 4), 0.7)
    errors = np.array([[0.4, 0.3, 0.2, 0.1]])
    weights = np.array([[1.0, 1.0, 1.0, 3.0]])
    found = fit_grid(basis, errors, weights, is_bounded=is_bounded)
    mean = (weights * errors).sum() / weights.sum()
    assert found.amplitude[0, 0] == 0
    assert found.asymptote[0, 0] == pytest.approx(mean)
    assert found.cost[0, 0] == pytest.approx((weights * (errors - mean) ** 2).sum())


def test_a_shape_that_is_flat_where_there_is_weight_fits_the_mean():
    basis = np.array([[3.0, 1.0, 1.0, 1.0]])
    found = fit_grid(
        basis, np.array([[0.9, 0.3, 0.2, 0.1]]), np.array([[0.0, 1, 1, 1]])
    )
    assert found.amplitude[0, 0] == 0
    assert found.asymptote[0, 0] == pytest.approx(0.2)


@pytest.mark.parametrize("shared", [False, True])
def test_amplitudes_alone_are_those_of_least_squares_through_nothing(shared):
    basis, errors, weights = problem(3, shared=shared)
    found = fit_amplitudes(basis, errors, weights)
    for at, a, y in each(basis, errors, weights):
        b = np.linalg.lstsq(a[:, 1:], y)[0]
        assert found.amplitude[at] == pytest.approx(b[0])
        assert found.cost[at] == pytest.approx(((y - a[:, 1:] @ b) ** 2).sum())
    assert (found.asymptote == 0).all()


@pytest.mark.parametrize(("curves", "shapes"), [(1, 1), (1000, 99), (5, 10**6), (0, 9)])
def test_blocks_are_all_curves_once(curves, shapes):
    seen = [i for own in blocks(curves, shapes) for i in range(own.start, own.stop)]
    assert seen == list(range(curves))


def test_blocks_bound_the_memory():
    rng = np.random.default_rng(0)
    basis = rng.random((100, 5))

    def peak(curves):
        errors = rng.random((curves, 5))
        tracemalloc.start()
        for own in blocks(curves, len(basis)):
            fit_grid(basis, errors[own], np.ones((1, 5)), is_bounded=True)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(20_000) < 1.2 * peak(2_000)
