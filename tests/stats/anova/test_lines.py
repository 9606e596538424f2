"""Lines as every test of curves takes them: what is kept, and what is refused."""

import time

import noisy_lines
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curvewise.errors import CurvewiseError
from curvewise.stats.anova.lines import (
    checked_lines,
    compact,
    greenhouse_geisser,
    noise_ratio,
    relative,
    step_correlation,
    window_edges,
    window_means,
)

LINES = np.random.default_rng(0).normal(size=(2, 6, 4))


def test_names_are_kept_or_counted():
    assert checked_lines({"a": LINES[0], "b": LINES[1]}).names == ("a", "b")
    assert checked_lines(LINES).names == ("1", "2")
    design = checked_lines([LINES[0][:2], LINES[1]])
    assert design.sizes == (2, 6)
    assert checked_lines(design).names == design.names
    np.testing.assert_array_equal(design.of([1]).values, LINES[1])


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ({"a": LINES[0]}, ("a",)),
        ({"a": LINES[0], "b": LINES[1][:, :3]}, {"a": 4, "b": 3}),
        (LINES[:, :, :1], {"1": 1, "2": 1}),
        (LINES[:, :1], (1, 1)),
        ({1: LINES[0], "1": LINES[1]}, {"1"}),
        ({"a": LINES[0], "b": LINES[1, 0]}, (4,)),
        ({"a": LINES[0], "b": [["x"]]}, "b"),
        ({"a": LINES[0], "b": np.full((6, 4), np.nan)}, ("b", 0, 0)),
        ({"a": LINES[0], "b": LINES[1] * 1e200}, "b"),
        (7, 7),
    ],
)
def test_what_is_no_set_of_lines_is_named(lines, value):
    with pytest.raises(CurvewiseError) as refused:
        checked_lines(lines)
    assert (refused.value.argument, refused.value.value) == ("lines", value)


def test_too_few_lines_of_one_algorithm_are_named():
    with pytest.raises(CurvewiseError) as refused:
        checked_lines([LINES[0][:1], LINES[1]], least_lines=2)
    assert (refused.value.argument, refused.value.value) == ("lines", ["1"])


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


# --- What is said about noise is what is known of noise that was made so --------------


def whitened(n, k, rng):
    """Return n lines whose sample covariance, means taken off, is the identity exactly."""
    q, _ = np.linalg.qr(rng.normal(size=(n, k)) - 0.0)
    q -= q.mean(axis=0)
    u, _, v = np.linalg.svd(q, full_matrices=False)
    return u @ v * np.sqrt(n - 1)


def with_covariance(n, covariance, rng):
    return whitened(n, len(covariance), rng) @ np.linalg.cholesky(covariance).T


# --- correlation between levels ----------------------------------------------------------


def test_correlations_are_those_within_algorithms():
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=(2, 30, 5)).cumsum(axis=-1)
    own = step_correlation({"a": one, "b": other}, pooled=False)
    assert own.shape == (2, 5, 5)
    for found, lines in zip(own, (one, other), strict=True):
        np.testing.assert_allclose(found, np.corrcoef(lines.T), atol=1e-12)
    pooled = step_correlation([one, other])
    both = np.concatenate([one - one.mean(axis=0), other - other.mean(axis=0)])
    np.testing.assert_allclose(pooled, np.corrcoef(both.T), atol=1e-12)


def test_a_difference_between_algorithms_is_no_correlation():
    rng = np.random.default_rng(2)
    one, other = rng.normal(size=(2, 400, 3))
    np.testing.assert_allclose(
        step_correlation([one, other + 100]), np.eye(3), atol=0.2
    )
    mixed = np.corrcoef(np.concatenate([one, other + 100]).T)
    assert mixed[0, 1] > 0.99  # the negative control


def test_a_level_without_spread_correlates_with_nothing():
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(2, 10, 4)) + 0.1
    one[:, 0] = 0.1
    other[:, 0] = 0.3
    pooled = step_correlation([one, other])
    assert np.isnan(pooled[0]).all()
    assert np.isnan(pooled[:, 0]).all()
    assert np.isfinite(pooled[1:, 1:]).all()
    other[:, 0] = rng.normal(size=10)
    own = step_correlation([one, other], pooled=False)
    assert np.isnan(own[0, 0]).all()
    assert np.isfinite(own[1]).all()
    assert (np.diagonal(own[1]) == 1).all()


# --- epsilon -----------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_equal_correlations_have_epsilon_one(rho):
    rng = np.random.default_rng(4)
    k = 6
    covariance = 3 * (rho * np.ones((k, k)) + (1 - rho) * np.eye(k))
    lines = [with_covariance(40, covariance, rng) + shift for shift in (0, 5)]
    assert greenhouse_geisser(lines) == pytest.approx(1, abs=1e-10)
    lines[1] = lines[1] * np.linspace(1, 5, k)  # the negative control
    assert greenhouse_geisser(lines) < 0.95


def test_epsilon_is_what_the_covariance_says():
    rng = np.random.default_rng(5)
    k = 7
    walk = np.minimum.outer(np.arange(1, k + 1), np.arange(1, k + 1)).astype(float)
    centre = np.eye(k) - 1 / k
    roots = np.linalg.eigvalsh(centre @ walk @ centre)
    expected = roots.sum() ** 2 / ((k - 1) * (roots**2).sum())
    lines = [with_covariance(50, walk, rng) for _ in range(3)]
    assert greenhouse_geisser(lines) == pytest.approx(expected)
    # Neither origin nor unit matters, nor an offset of a line.
    moved = [1e-6 * (g + rng.normal(size=(50, 1))) + 3 for g in lines]
    assert greenhouse_geisser(moved) == pytest.approx(expected, rel=1e-6)


def test_epsilon_has_its_ends():
    rng = np.random.default_rng(6)
    one_direction = np.outer(rng.normal(size=12), np.linspace(-1, 1, 9))
    found = greenhouse_geisser([one_direction[:6], one_direction[6:]])
    assert found == pytest.approx(1 / 8)
    assert greenhouse_geisser(rng.normal(size=(2, 5, 2))) == pytest.approx(1)
    offsets = np.repeat(rng.normal(size=(2, 5, 1)), 4, axis=-1)
    assert np.isnan(greenhouse_geisser(offsets))


def test_long_curves_cost_little():
    rng = np.random.default_rng(7)
    lines = noisy_lines.lines("iid", (10, 10), rng, steps=10_000)
    begin = time.perf_counter()
    found = greenhouse_geisser(lines)
    assert time.perf_counter() - begin < 2
    assert 0 < found <= 18 / 9999 + 1e-12
    short = [g[:, :50] for g in lines]
    values = np.concatenate([g - g.mean(axis=1, keepdims=True) for g in short])
    values -= np.repeat(
        [g.mean(axis=0) for g in (values[:10], values[10:])], 10, axis=0
    )
    s = values.T @ values
    expected = np.trace(s) ** 2 / (49 * (s**2).sum())
    assert greenhouse_geisser(short) == pytest.approx(expected)


# --- who is noisier ----------------------------------------------------------------------


def test_the_ratio_is_that_of_line_means():
    rng = np.random.default_rng(8)
    lines = noisy_lines.lines("walk", (6, 9, 12), rng, sds=(1, 4, 2))
    spreads = [g.mean(axis=1).std(ddof=1) for g in lines]
    assert noise_ratio(lines) == pytest.approx(max(spreads) / min(spreads))
    assert noise_ratio([1e9 + g for g in lines]) == pytest.approx(
        max(spreads) / min(spreads), rel=1e-4
    )
    same = np.full((4, 3), 0.1)
    assert noise_ratio([same, rng.normal(size=(4, 3))]) == np.inf
    assert np.isnan(noise_ratio([same, same + 1]))


def test_an_origin_that_is_large_beside_the_noise_does_not_matter():
    lines = noisy_lines.lines("walk", (6, 9), np.random.default_rng(9), sds=(1, 4))
    far = [1e9 + 1e-4 * g for g in lines]
    assert noise_ratio(far) == pytest.approx(noise_ratio(lines), rel=1e-3)
    assert greenhouse_geisser(far) == pytest.approx(greenhouse_geisser(lines), rel=1e-2)
    np.testing.assert_allclose(
        step_correlation(far), step_correlation(lines), atol=1e-2
    )


@pytest.mark.parametrize("unit", [1e-300, 1e130])
def test_the_unit_of_scores_does_not_matter(unit):
    lines = noisy_lines.lines("walk", (6, 9), np.random.default_rng(9), sds=(1, 4))
    other = [unit * g for g in lines]
    assert noise_ratio(other) == pytest.approx(noise_ratio(lines))
    assert greenhouse_geisser(other) == pytest.approx(greenhouse_geisser(lines))
    np.testing.assert_allclose(step_correlation(other), step_correlation(lines))


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda: noise_ratio([[[1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]]), ["1"]),
        (lambda: greenhouse_geisser([[[1.0]], [[1.0], [2.0]]]), {"1": 1, "2": 1}),
        (lambda: step_correlation([[[1.0, 2.0]]]), ("1",)),
        (
            lambda: step_correlation(
                [[[1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]], pooled=False
            ),
            ["1"],
        ),
    ],
)
def test_what_is_no_noise_is_refused(call, value):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert (refused.value.argument, refused.value.value) == ("lines", value)


# --- Windows --------------------------------------------------------------------------


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
    ("steps", "windows"),
    [
        (8, 9),
        (8, 0),
        (8, 2.5),
        (8, True),
        (8, [0]),
        (8, [0, 9]),
        (8, [-1, 4]),
        (8, [0, 4, 4]),
        (8, [0.0, 4.0]),
        (8, [[0, 4]]),
    ],
)
def test_windows_that_are_none_are_refused(steps, windows):
    with pytest.raises(CurvewiseError) as refused:
        window_edges(steps, windows)
    assert (refused.value.argument, refused.value.value) == ("windows", windows)
    with pytest.raises(CurvewiseError) as refused:
        window_edges(0, 1)
    assert (refused.value.argument, refused.value.value) == ("steps", 0)
