"""The kernel: logistic fits of every curve, exponent and class at once."""

import numpy as np
import pytest
from counts_of_power_laws import power_law
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit

from curvewise.stats.confusion.logistic import fit_logistic

SIZES = 40.0 * 2 ** np.arange(6)
GAMMAS = np.array([-1.0, -0.5, -0.01, 0.0, 0.01, 0.5, 1.0])


def fitted(right, total, gammas=GAMMAS, sizes=SIZES, is_firth=False):
    right = np.asarray(right, dtype=float)
    return fit_logistic(
        np.broadcast_to(sizes, right.shape[:2]),
        right,
        np.broadcast_to(np.asarray(total, dtype=float), right.shape),
        np.asarray(gammas, dtype=float),
        is_firth=is_firth,
    )


def noisy(curves=4, total=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.binomial(total, expit(power_law(SIZES)), (curves, 6, 2)).astype(float)


@pytest.mark.parametrize("is_firth", [True, False])
@pytest.mark.parametrize("gamma", [-1.2, -0.5, 0.0, 0.3])
def test_without_noise_the_curve_comes_back(gamma, is_firth):
    x = np.log(SIZES / 40) if gamma == 0 else ((SIZES / 40) ** gamma - 1) / gamma
    truth = np.array([0.2, -0.1]) + np.array([0.3, 0.5]) * x[:, None]
    found = fitted(1e9 * expit(truth)[None], 1e9, [gamma], is_firth=is_firth)
    at = np.array([[20.0, 100.0, 5000.0]])
    xs = np.log(at / 40) if gamma == 0 else ((at / 40) ** gamma - 1) / gamma
    want = np.array([0.2, -0.1]) + np.array([0.3, 0.5]) * xs[0][:, None]
    np.testing.assert_allclose(found.logits(at)[0, 0], want, atol=1e-6)


def test_each_fit_is_the_optimum_that_a_general_optimiser_finds():
    right, total = noisy(1), 300.0
    found = fitted(right, total)
    for g, gamma in enumerate(GAMMAS):
        if gamma == 0:
            continue
        x = (SIZES / SIZES[-1]) ** gamma
        for c in range(2):

            def loss(t, x=x, y=right[0, :, c]):
                z = t[0] + t[1] * (x - x.mean()) / x.std()
                return (total * np.logaddexp(0, z) - y * z).sum()

            best = minimize(loss, [0.5, 0.1], tol=1e-12)
            z = found.logits(SIZES[None])[0, g, :, c]
            own = (total * np.logaddexp(0, z) - right[0, :, c] * z).sum()
            assert own <= best.fun + 1e-6


def test_the_likelihood_is_that_of_the_fit_less_that_of_the_rates_seen():
    right = noisy(1)
    found = fitted(right, 300.0)

    def value(p):
        return (right[0] * np.log(p) + (300 - right[0]) * np.log1p(-p)).sum()

    for g in range(len(GAMMAS)):
        want = value(expit(found.logits(SIZES[None])[0, g])) - value(right[0] / 300)
        assert found.log_likelihood[0, g] == pytest.approx(want, rel=1e-6)


def test_no_exponent_is_special():
    """n^0 is the constant over again; its limit log n stands there, and nothing jumps."""
    found = fitted(noisy(3), 300.0, [-1e-6, 0.0, 1e-6])
    at = np.broadcast_to([10.0, 1e4], (3, 2))
    z = found.logits(at)
    np.testing.assert_allclose(z[:, 0], z[:, 1], atol=1e-4)
    np.testing.assert_allclose(z[:, 2], z[:, 1], atol=1e-4)


@pytest.mark.parametrize("is_firth", [True, False])
@pytest.mark.parametrize(
    "rates",
    [
        [1, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, 1],
        [1, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1],
        [0.5, 1, 1, 1, 1, 1],
    ],
)
def test_perfect_and_useless_classes_stay_finite(rates, is_firth):
    right = np.stack([200.0 * np.array(rates), noisy(1)[0, :, 0] / 2], axis=-1)[None]
    found = fitted(right, 200.0, is_firth=is_firth)
    assert np.isfinite(found.theta).all()
    assert np.isfinite(found.log_likelihood).all()
    assert np.isfinite(found.inverse).all()
    assert (found.inverse[..., 0, 0] > 0).all()
    rate = expit(found.logits(SIZES[None]))[0, 1, :, 0]
    np.testing.assert_allclose(rate, rates, atol=0.05)


def test_a_class_that_separates_does_not_touch_the_other():
    right = noisy(1)
    alone = fitted(right, 300.0)
    right[..., 0] = 300.0
    beside = fitted(right, 300.0)
    np.testing.assert_allclose(beside.theta[:, :, 1], alone.theta[:, :, 1], atol=1e-7)


def test_a_batch_is_its_curves_one_by_one():
    right = noisy(25)
    right[3], right[4, :, 0] = 300.0, 0.0
    every = fitted(right, 300.0, is_firth=True)
    for i in range(len(right)):
        one = fitted(right[i : i + 1], 300.0, is_firth=True)
        np.testing.assert_allclose(every.theta[i], one.theta[0], atol=1e-6)
        np.testing.assert_allclose(
            every.log_likelihood[i], one.log_likelihood[0], atol=1e-6
        )


def test_padding_changes_nothing():
    right = noisy(2)[:, :4]
    total = np.full_like(right, 300.0)
    alone = fit_logistic(
        np.broadcast_to(SIZES[:4], (2, 4)), right, total, GAMMAS, is_firth=True
    )
    fill = ((0, 0), (0, 2), (0, 0))
    sizes = np.broadcast_to([*SIZES[:4], 1.0, 1.0], (2, 6))
    padded = fit_logistic(
        sizes, np.pad(right, fill), np.pad(total, fill), GAMMAS, is_firth=True
    )
    np.testing.assert_allclose(padded.theta, alone.theta, atol=1e-9)


def test_firth_takes_the_bias_out_of_logits():
    """The negative control is maximum likelihood, which is too sure of itself."""
    rng = np.random.default_rng(5)
    truth = np.full((6, 2), logit(0.9))
    right = rng.binomial(10, 0.9, (4000, 6, 2)).astype(float)
    bias = {}
    for is_firth in (True, False):
        level = fitted(right, 10.0, [-0.5], is_firth=is_firth).theta[:, 0, :, 0]
        bias[is_firth] = abs(level.mean() - truth[0, 0])
    assert bias[True] < 0.02
    assert bias[False] > 0.05


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 50), min_size=4, max_size=4),
    st.floats(1.05, 100.0),
    st.floats(-1.5, 1.0),
    st.booleans(),
)
def test_the_gradient_is_zero_whatever_the_counts(right, ratio, gamma, is_firth):
    sizes = 10 * ratio ** np.arange(4)
    right = np.array(right, dtype=float)[None, :, None]
    found = fitted(right, 50.0, [gamma], sizes, is_firth)
    z = found.logits(sizes[None])[0, 0, :, 0]
    x = found.basis(sizes[None])[0, 0]
    p = expit(z)
    residual = right[0, :, 0] - 50 * p
    if is_firth:
        w = 50 * p * (1 - p)
        design = np.stack([np.ones(4), x], axis=1)
        inverse = np.linalg.pinv(design.T @ (w[:, None] * design), hermitian=True)
        hat = w * np.einsum("ki,ij,kj->k", design, inverse, design)
        residual += (0.5 - p) * hat
    assert abs(residual.sum()) < 1e-3
    assert abs((residual * x).sum()) < 1e-3
