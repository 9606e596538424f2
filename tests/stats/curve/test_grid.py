"""The one kernel of all fits, against solvers that go curve by curve."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from curvewise.stats.curves import blocks, fit_amplitudes, fit_grid


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
