"""What is said about noise is what is known of noise that was made so."""

import time

import noisy_lines
import numpy as np
import pytest

from curvewise import CurvewiseError
from curvewise.stats.anova.lines import (
    greenhouse_geisser,
    noise_ratio,
    step_correlation,
)


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
    ("call", "message"),
    [
        (lambda: noise_ratio([[[1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]]), "'1': 1 line"),
        (
            lambda: greenhouse_geisser([[[1.0]], [[1.0], [2.0]]]),
            "The lines have 1 step",
        ),
        (lambda: step_correlation([[[1.0, 2.0]]]), "Lines of 1 algorithm came"),
        (
            lambda: step_correlation(
                [[[1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]], pooled=False
            ),
            "'1': 1 line",
        ),
    ],
)
def test_what_is_no_noise_is_refused(call, message):
    with pytest.raises(CurvewiseError, match=message):
        call()
