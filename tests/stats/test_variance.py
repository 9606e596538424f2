"""Variance components: known values, no bias, coverage as it was measured."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest

from curvewise import CurvewiseError
from curvewise.errors import CurvewiseWarning
from curvewise.stats.variance import (
    components,
    effective_degrees,
    mean_squares,
    share_intervals,
    unbiased_variances,
)

AB = ("params", "seed")
pytestmark = pytest.mark.filterwarnings("ignore:The intervals rest on")


def design(rng, n, shares, effect, reps=1):
    """Return designs whose effects have these variances, shape (rep, *n)."""
    axes = [
        s
        for r in range(1, len(n) + 1)
        for s in itertools.combinations(range(len(n)), r)
    ]
    y = np.zeros((reps, *n))
    for own, share in zip(axes, shares, strict=True):
        shape = (reps, *(m if i in own else 1 for i, m in enumerate(n)))
        y = y + np.sqrt(share) * effect(rng, shape)
    return y


def normal(rng, shape):
    return rng.standard_normal(shape)


def exponential(rng, shape):
    return rng.standard_exponential(shape) - 1


def rare(rng, shape):
    """One level of ten diverges."""
    return ((rng.random(shape) < 0.1) - 0.1) / 0.3


# --- known values ------------------------------------------------------------------------


def test_a_textbook_table():
    """By hand: SS_rows = 8 + 0 + 8, SS_columns = 1.5, and the rest is 0."""
    found = components([[1, 2], [3, 4], [5, 6]], AB)
    np.testing.assert_allclose(found.mean_squares, [8, 1.5, 0], atol=1e-12)
    np.testing.assert_allclose(found.degrees, [2, 1, 2])
    np.testing.assert_allclose(found.variances, [4, 0.5, 0], atol=1e-12)
    np.testing.assert_allclose(found.shares, [8 / 9, 1 / 9, 0], atol=1e-12)
    assert found.share([("params",), ("params", "seed")]) == pytest.approx(8 / 9)


def test_three_factors_add_up_to_all_squares():
    y = np.random.default_rng(0).normal(size=(4, 3, 5))
    found = components(y, "abc")
    assert found.sources[-1] == ("a", "b", "c")
    squares = found.mean_squares * found.degrees
    assert squares.sum() == pytest.approx(((y - y.mean()) ** 2).sum())
    assert found.degrees.sum() == y.size - 1


@given(
    arrays(float, (3, 4), elements=st.floats(-10, 10)),
    st.floats(-1000, 1000),
    st.sampled_from([-2.0, 0.5, 3.0]),
)
def test_shifts_do_nothing_scales_count_squared_and_axes_may_swap(y, shift, scale):
    found, moved = components(y, AB), components(scale * y + shift, AB)
    np.testing.assert_allclose(
        moved.variances, scale**2 * found.variances, atol=1e-9, rtol=1e-6
    )
    turned = components(y.T, AB[::-1])
    np.testing.assert_allclose(turned.variances[[1, 0, 2]], found.variances, atol=1e-9)
    assert found.total >= -1e-12


def test_a_large_mean_does_not_drown_the_rest():
    y = np.random.default_rng(0).normal(size=(5, 6))
    np.testing.assert_allclose(
        components(y + 1e9, AB).variances, components(y, AB).variances, rtol=1e-5
    )


@pytest.mark.parametrize("effect", [normal, exponential, rare])
@pytest.mark.parametrize(
    ("n", "shares"),
    [((3, 2), (0.6, 0.1, 0.3)), ((4, 3, 2), (0.3, 0.2, 0, 0.1, 0.1, 0, 0.3))],
)
def test_components_are_unbiased_whatever_the_effects(n, shares, effect):
    """20,000 designs; the mean is within 5 standard errors of the truth."""
    y = design(np.random.default_rng(1), n, shares, effect, 20_000)
    names = "abc"[: len(n)]
    first = components(y[0], names)
    axes = [tuple(names.index(f) for f in source) for source in first.sources]
    squares = mean_squares(y, axes)
    np.testing.assert_allclose(squares[0], first.mean_squares, rtol=1e-9)
    variances = unbiased_variances(squares, axes, n)
    error = variances.std(axis=0) / np.sqrt(len(y))
    assert (np.abs(variances.mean(axis=0) - shares) < 5 * error).all()


def test_the_variance_of_row_means_would_be_biased():
    """The negative control: it takes a part of the noise for hyperparameters."""
    y = design(np.random.default_rng(1), (3, 2), (0.6, 0.1, 0.3), normal, 20_000)
    naive = y.mean(axis=2).var(axis=1, ddof=1)
    error = naive.std() / np.sqrt(len(y))
    assert naive.mean() - 0.6 > 20 * error


# --- intervals ---------------------------------------------------------------------------


def missed(n, shares, effect, reps, seed, degrees=None):
    """Return how often each source's interval misses its share."""
    rng = np.random.default_rng(seed)
    total = np.zeros(len(shares))
    for y in design(rng, n, shares, effect, reps):
        found = share_intervals(y, "abc"[: len(n)], draws=400, rng=rng)
        total += [t not in i for t, i in zip(shares, found, strict=True)]
    return total


def at_most(missed, reps, rate):
    return binomtest(int(missed), reps, rate, alternative="greater").pvalue > 1e-6


def test_intervals_cover_for_normal_effects():
    """300 designs of 12 x 6; the docstring has the table of 2,000 each."""
    assert all(
        at_most(m, 300, 0.05) for m in missed((12, 6), (0.6, 0.1, 0.3), normal, 300, 2)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("effect", "n", "coverage"),
    [
        (normal, (10, 5), 0.982),
        (normal, (20, 10), 0.972),
        (exponential, (20, 10), 0.89),
        (rare, (20, 10), 0.726),
    ],
)
@pytest.mark.parametrize(
    "shares", [(0.6, 0.1, 0.3), (0.3, 0.3, 0.4), (0.9, 0.05, 0.05)]
)
def test_coverage_is_what_the_docstring_says(effect, n, coverage, shares):
    """Never below what was measured; the normal ones never below nominal."""
    found = missed(n, shares, effect, 1500, 20_26)
    assert all(at_most(m, 1500, 1 - min(coverage, 0.95)) for m in found)


@pytest.mark.slow
def test_three_factors_cover_too():
    shares = (0.4, 0.1, 0.1, 0.1, 0.1, 0.0, 0.2)
    assert all(
        at_most(m, 500, 0.05) for m in missed((10, 5, 4), shares, normal, 500, 3)
    )


def test_normal_theory_would_miss_skewed_effects(monkeypatch):
    """The negative control: without the jackknife, misses are three times as frequent."""
    ours = missed((20, 10), (0.9, 0.05, 0.05), exponential, 200, 5)[0]
    monkeypatch.setattr(
        "curvewise.stats.variance.effective_degrees",
        lambda y, squares, axes: np.array([19.0, 9.0, 171.0]),
    )
    theirs = missed((20, 10), (0.9, 0.05, 0.05), exponential, 200, 5)[0]
    assert theirs > 1.8 * ours
    assert not at_most(theirs, 200, 0.11)


def test_degrees_of_freedom_fall_for_skewed_effects_and_never_rise():
    rng = np.random.default_rng(0)
    axes = [(0,), (1,), (0, 1)]
    for effect, most in ((normal, 150), (exponential, 60)):
        y = design(rng, (100, 10), (0.9, 0.05, 0.05), effect)[0]
        degrees = effective_degrees(y, mean_squares(y[None], axes)[0], axes)
        assert (degrees <= [99, 9, 891]).all()
        assert 1 <= degrees[0] < most


def test_sources_add_up_and_intervals_say_what_they_are_for():
    rng = np.random.default_rng(0)
    y = design(rng, (10, 6, 4), (0.5, 0.1, 0.1, 0, 0, 0, 0.3), normal)[0]
    names = ("params", "train", "seed")
    found = components(y, names)
    groups = [[("params",)], list(found.sources[3:])]
    params, rest = share_intervals(y, names, groups, rng=rng)
    assert params.value == pytest.approx(found.shares[0])
    assert rest.value == pytest.approx(found.shares[3:].sum())
    assert params.lower < params.value < params.upper
    assert "params causes" in params.estimand
    assert "params x train" in rest.estimand
    assert params.guarantee.startswith("95 %, approximate")
    assert found.shares.sum() == pytest.approx(1)


def test_the_same_seed_gives_the_same_interval_and_the_error_is_what_chance_leaves():
    y = design(np.random.default_rng(1), (10, 5), (0.5, 0.2, 0.3), normal)[0]

    def ends(seed):
        return share_intervals(y, AB, draws=2000, rng=np.random.default_rng(seed))[0]

    assert ends(1) == ends(1)
    assert ends(1) != ends(2)
    many = [ends(seed) for seed in range(60)]
    spread = np.std([(i.lower, i.upper) for i in many], axis=0).max()
    said = np.mean([i.monte_carlo_error for i in many])
    assert 0.7 * spread < said < 1.4 * spread
    more = share_intervals(y, AB, draws=20_000, rng=np.random.default_rng(0))[0]
    assert more.monte_carlo_error < said / 2


def test_more_confidence_is_wider():
    y = design(np.random.default_rng(1), (10, 5), (0.5, 0.2, 0.3), normal)[0]
    narrow, wide = (
        share_intervals(y, AB, confidence=c, rng=np.random.default_rng(0))[0]
        for c in (0.8, 0.99)
    )
    assert wide.half_width > narrow.half_width


def test_a_source_that_is_not_there_has_share_0_and_the_only_one_all():
    only = np.repeat(np.arange(6.0)[:, None], 4, axis=1)
    params, seed, both = share_intervals(only, AB, rng=np.random.default_rng(0))
    assert (params.value, params.lower, params.upper) == (1, 1, 1)
    assert (seed.upper, both.upper) == (0, 0)


def test_equal_scores_have_nothing_to_share():
    found = components(np.ones((3, 3)), AB)
    assert found.total == 0
    assert np.isnan(found.shares).all()
    nothing = share_intervals(np.ones((3, 3)), AB, rng=np.random.default_rng(0))
    assert all(np.isnan([i.lower, i.upper, i.value]).all() for i in nothing)


def test_two_levels_are_the_least_and_say_almost_nothing():
    y = np.random.default_rng(3).normal(size=(2, 2))
    found = share_intervals(y, AB, rng=np.random.default_rng(0))
    assert max(i.half_width for i in found) > 0.45


def test_many_levels_are_taken_a_few_at_a_time(monkeypatch):
    y = np.random.default_rng(3).normal(size=(40, 5))
    whole = share_intervals(y, AB, rng=np.random.default_rng(0))
    monkeypatch.setattr("curvewise.stats.variance._CELLS", 700)
    assert share_intervals(y, AB, rng=np.random.default_rng(0)) == whole


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: components([1, 2], ["a"]), "factors"),
        (lambda: components(np.ones((2, 2)), ["a"]), "factors"),
        (lambda: components(np.ones((2, 2)), ["a", "a"]), "factors"),
        (lambda: components(np.ones((2, 1)), AB), "scores"),
        (lambda: components([[1, np.nan], [1, 2]], AB), "scores"),
        (lambda: components([["x", 1], [1, 2]], AB), "scores"),
        (lambda: components([[1, 2], [3, 5]], AB).share([("x",)]), "source"),
        (
            lambda: share_intervals(
                [[1, 2], [3, 5]], AB, confidence=1, rng=np.random.default_rng(0)
            ),
            "confidence",
        ),
        (
            lambda: share_intervals(
                [[1, 2], [3, 5]], AB, draws=0, rng=np.random.default_rng(0)
            ),
            "draws",
        ),
    ],
)
def test_bad_input_is_named(call, argument):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert refused.value.argument == argument


def test_few_levels_are_warned_of():
    y = np.random.default_rng(4).normal(size=(30, 20))
    with pytest.warns(CurvewiseWarning, match=r"19 levels of 'seed'"):
        share_intervals(y[:, :19], AB, draws=100, rng=np.random.default_rng(0))
    with pytest.warns(CurvewiseWarning, match=r"5 levels of 'params'"):
        share_intervals(y[:5], AB, draws=100, rng=np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        share_intervals(y, AB, draws=100, rng=np.random.default_rng(0))


def test_a_few_draws_are_refused():
    y, rng = np.random.default_rng(0).random((20, 20)), np.random.default_rng(0)
    with pytest.raises(CurvewiseError) as refused:
        share_intervals(y, AB, draws=99, rng=rng)
    assert refused.value.argument == "draws"
    with pytest.raises(CurvewiseError) as refused:
        share_intervals(y, AB, rng=1)
    assert refused.value.argument == "rng"
