"""Count curves whose logits drift: what must hold whatever the constants."""

from dataclasses import replace

import numpy as np
import pytest
from counts_of_power_laws import kinds

from curvewise.stats.confusion.data import Examples, count_table, stacked
from curvewise.stats.confusion.draws import Asked, even_points
from curvewise.stats.confusion.drift import (
    DRIFT,
    Clock,
    examples_tested,
    fit_drift,
    of_models,
    ticks,
)

SIZES = np.array([20.0, 40, 80, 160, 320])
POINTS = even_points(6, 256)


def some_counts(rng, sizes=SIZES, runs=4, positives=40, negatives=60):
    """Return counts (run, 2, 2) of two classes that are ever better told apart."""
    out = []
    for n in sizes:
        rate = 1 - 0.5 * (n / 10) ** -0.4
        tp = rng.binomial(positives, rate, runs)
        tn = rng.binomial(negatives, rate, runs)
        out.append(
            np.array(
                [
                    [[b, negatives - b], [positives - a, a]]
                    for a, b in zip(tp, tn, strict=True)
                ]
            )
        )
    return out


def constant_counts(right, total, sizes=SIZES, runs=2):
    matrix = [[right, total - right], [total - right, right]]
    return [np.array([matrix] * runs)] * len(sizes)


def asked(sizes, target="mean", curves=1, test_size=np.nan, runs=4.0):
    shape = (curves, len(sizes))
    return Asked(
        np.array(sizes, float), target, np.full(shape, test_size), np.full(shape, runs)
    )


def band(fit, sizes, points=POINTS, **how):
    draws = fit.draw(asked(sizes, curves=len(fit.table), **how), points)
    return np.quantile(draws, [0.025, 0.975], axis=0)


@pytest.mark.parametrize("right", [0, 1, 50, 99, 100])
def test_constant_data_are_returned_exactly(right):
    fit = fit_drift(count_table(SIZES, constant_counts(right, 100)))
    at = np.array([10.0, 20, 100, 320, 5000, np.inf])
    np.testing.assert_allclose(fit.recalls(at), right / 100, atol=1e-12)
    lower, upper = band(fit, at)
    assert (lower <= right / 100 + 1e-12).all()
    assert (upper >= right / 100 - 1e-12).all()


def test_many_at_once_are_as_one_by_one():
    rng = np.random.default_rng(1)
    tables = [
        count_table(SIZES[:k], some_counts(rng, SIZES[:k], runs))
        for k, runs in ((2, 1), (3, 5), (5, 2), (5, 25), (4, 1))
    ]
    together = fit_drift(stacked(tables))
    at = np.array([10.0, 30, 320, 2000])
    for target in ("mean", "observed", "model"):
        question = asked(at, target, curves=len(tables))
        draws = together.draw(question, POINTS)
        for i, table in enumerate(tables):
            alone = fit_drift(table)
            np.testing.assert_allclose(
                together.recalls(at)[i], alone.recalls(at)[0], atol=1e-10
            )
            own = alone.draw(asked(at, target), POINTS)
            np.testing.assert_allclose(draws[:, i], own[:, 0], atol=1e-8)


def test_order_of_sizes_runs_and_classes_does_not_matter():
    rng = np.random.default_rng(2)
    counts = some_counts(rng)
    fit = fit_drift(count_table(SIZES, counts))
    at = np.array([30.0, 320, 1000])
    turned = fit_drift(count_table(SIZES[::-1], [c[::-1] for c in counts[::-1]]))
    np.testing.assert_allclose(turned.recalls(at), fit.recalls(at), atol=1e-12)
    swapped = fit_drift(count_table(SIZES, [c[:, ::-1, ::-1] for c in counts]))
    np.testing.assert_allclose(
        swapped.recalls(at), fit.recalls(at)[..., ::-1], atol=1e-12
    )
    lower, upper = band(fit, at, even_points(6))
    lower_s, upper_s = band(swapped, at, even_points(6))
    np.testing.assert_allclose(lower_s, lower[..., ::-1], atol=0.01)
    np.testing.assert_allclose(upper_s, upper[..., ::-1], atol=0.01)


def test_classes_of_even_shares_have_one_clock():
    rng = np.random.default_rng(3)
    fit = fit_drift(count_table(SIZES, some_counts(rng, positives=50, negatives=50)))
    assert fit.drift.clock.slowing[0, 0] == fit.drift.clock.slowing[0, 1]
    rarer = fit_drift(count_table(SIZES, some_counts(rng, positives=20)))
    assert rarer.drift.clock.slowing[0, 1] < rarer.drift.clock.slowing[0, 0]


def test_a_perfect_learner_stays_within_bounds():
    counts = [constant_counts(k, 30, [1])[0] for k in (25, 29, 30, 30, 30)]
    fit = fit_drift(count_table(SIZES, counts))
    at = np.array([320.0, 1e4, 1e12])
    recalls = fit.recalls(at)
    assert (recalls <= 1).all()
    assert (recalls > 0.97).all()
    lower, upper = band(fit, at)
    assert (upper >= recalls).all()
    assert (lower <= recalls).all()
    assert (lower[0, :2] > 0.8).all()


def test_a_class_that_is_never_called_stays_so_and_is_told():
    rng = np.random.default_rng(4)
    counts = some_counts(rng)
    counts[-1] = np.array([[[60, 0], [40, 0]]] * 4)
    fit = fit_drift(count_table(SIZES, counts))
    assert fit.recalls(np.array([320.0, 2000]))[0].tolist() == [[1, 0], [1, 0]]
    never = next(fit.concerns_at(np.empty(0)))
    assert (never.kind, never.label) == ("never_called", 1)
    assert fit.recalls(np.array([100.0]))[0, 0, 1] > 0.3  # within, as it was
    lower, upper = band(fit, [2000])
    assert lower[0, 0, 1] == 0 < upper[0, 0, 1]
    counts[-1][0] = [[59, 1], [40, 0]]
    once = fit_drift(count_table(SIZES, counts))
    assert "never_called" not in kinds(once)


def test_of_three_classes_only_the_one_never_called_is_held():
    rng = np.random.default_rng(5)
    counts = [np.array([rng.multinomial(30, p) for p in _rows(n)])[None] for n in SIZES]
    counts[-1][0, :, 2] = 0
    fit = fit_drift(count_table(SIZES, counts))
    recalls = fit.recalls(np.array([320.0, 2000]))[0]
    assert recalls[:, 2].tolist() == [0, 0]
    assert (recalls[1, :2] != recalls[0, :2]).all()
    assert kinds(fit)["many_classes"] == 3
    points = even_points(8, 256)
    lower, upper = np.quantile(fit.draw(asked([2000]), points), [0.025, 0.975], axis=0)
    assert (lower[0, 0] <= recalls[1]).all()
    assert (upper[0, 0] >= recalls[1]).all()


def _rows(n):
    right = 1 - 0.6 * (n / 10) ** -0.3
    wrong = (1 - right) / 2
    return np.full((3, 3), wrong) + np.eye(3) * (right - wrong)


@pytest.mark.parametrize("target", ["mean", "observed", "model"])
@pytest.mark.parametrize("test_size", [np.nan, 5.0, 1e6])
def test_draws_are_rates(target, test_size):
    rng = np.random.default_rng(6)
    tables = [count_table(SIZES, some_counts(rng, runs=r)) for r in (1, 2, 25)]
    fit = fit_drift(stacked(tables))
    at = [1.0, 25, 320, 1e5, np.inf]
    draws = fit.draw(asked(at, target, len(tables), test_size), POINTS)
    assert draws.shape == (256, 3, 5, 2)
    assert np.isfinite(draws).all()
    assert ((draws >= 0) & (draws <= 1)).all()


def test_bands_widen_with_the_distance_and_hold_the_point():
    rng = np.random.default_rng(7)
    fit = fit_drift(count_table(SIZES, some_counts(rng, runs=25)))
    at = np.array([320.0, 2560, 20480, 1e6])
    lower, upper = band(fit, at)
    width = (upper - lower)[0]
    assert (np.diff(width, axis=0) > 0).all()
    assert ((lower[0] < fit.recalls(at)[0]) & (fit.recalls(at)[0] < upper[0])).all()


def test_targets_differ_as_their_noise():
    rng = np.random.default_rng(8)
    fit = fit_drift(count_table(SIZES, some_counts(rng, runs=25)))
    how = {
        "mean": {"target": "mean"},
        "model": {"target": "model"},
        "small": {"target": "observed", "test_size": 50.0, "runs": 25.0},
        "large": {"target": "observed", "test_size": 5e4, "runs": 25.0},
        "seen": {"target": "observed", "runs": 25.0},
        "once": {"target": "observed", "runs": 1.0},
    }
    width = {}
    for key, own in how.items():
        lower, upper = band(fit, [320.0], **own)
        width[key] = (upper - lower).mean()
    # Runs that share a test set share its luck; a fresh, small one has luck of its own.
    assert width["seen"] < width["mean"] < width["model"]
    assert width["mean"] < width["large"] < width["small"]
    assert width["seen"] < width["once"]


def test_a_rough_curve_has_wider_bands_than_a_smooth_one():
    smooth = [700, 750, 790, 820, 840]
    rough = [700, 820, 690, 850, 840]
    tables = [
        count_table(SIZES, [constant_counts(k, 1000, [1], 25)[0] for k in own])
        for own in (smooth, rough)
    ]
    lower, upper = band(fit_drift(stacked(tables)), [1280.0])
    width = (upper - lower)[:, 0].mean(-1)
    assert width[1] > 1.5 * width[0]


def test_a_law_counts_where_it_predicts_the_last_sizes():
    law = 1 / (1 + np.exp(-(3 - 8 * SIZES**-0.5)))
    bent = np.array([0.5, 0.8, 0.6, 0.9, 0.7])
    weights = []
    for rate in (law, bent):
        counts = [constant_counts(k, 500, [1], 2)[0] for k in np.round(500 * rate)]
        weights.append(fit_drift(count_table(SIZES, counts)).weight[0])
    assert (weights[0] > 0.3).all()
    assert (weights[1] < 0.1).all()


def test_far_ahead_drift_alone_counts():
    rng = np.random.default_rng(9)
    fit = fit_drift(count_table(SIZES, some_counts(rng, runs=1)))
    assert fit.weight.max() > 0.2
    for size, part in ((320.0, 1.0), (640.0, 0.5), (320 * 2.0**10, 2.0**-10)):
        at = np.array([size])
        w = fit.weight * part
        z = (1 - w) * fit.drift.at(at)[0][..., 0] + w * fit.law.at(at)[0][..., 0]
        np.testing.assert_allclose(fit._logits(at)[0][..., 0], z, atol=1e-12)


def test_a_curve_without_noise_is_passed_through():
    z = np.array([0.2, 0.9, 1.1, 1.9, 1.8])
    right = np.round(1e6 / (1 + np.exp(-z)))
    fit = fit_drift(
        count_table(SIZES, [constant_counts(k, 1e6, [1], 500)[0] for k in right])
    )
    np.testing.assert_allclose(fit.recalls(SIZES)[0, :, 0], right / 1e6, atol=0.003)


def test_prediction_is_the_posterior_mean():
    """Against the textbook formula, one curve and class at a time."""
    rng = np.random.default_rng(10)
    fit = fit_drift(count_table(SIZES, some_counts(rng)))
    at, x0 = 700.0, fit.drift.clock(np.array([[700.0]]))[0, :, 0]
    for c in range(2):
        x, prior = fit.drift.x[0, c], fit.drift.prior
        k = np.array([[_kernel(a, b, prior) for b in x] for a in x])
        across = np.array([_kernel(x0[c], b, prior) for b in x])
        solved = np.linalg.solve(
            k + np.diag(fit.drift.noise[0, c]), fit.drift.rest[0, c]
        )
        mean = prior.rise * x0[c] + across @ solved
        assert fit.drift.at(np.array([at]))[0][0, c, 0] == pytest.approx(mean, abs=1e-9)


def _kernel(a, b, prior):
    low, high = min(a, b), max(a, b)
    return (
        DRIFT.level**2
        + prior.slope**2 * a * b
        + prior.bend**2 * low**2 * (3 * high - low) / 6
        + prior.wander**2 * low
    )


def test_the_clock_counts_octaves_and_slows_down():
    sizes = np.array([[16.0, 32, 64, np.inf]])
    plain, slow = ticks(sizes, np.array([[0.0, 0.5]]))[0]
    assert plain[:3].tolist() == pytest.approx([0, 1, 2])
    assert slow[0] == 0
    assert slow[2] - slow[1] < slow[1] < 1
    assert slow[3] == pytest.approx(1 / (0.5 * np.log(2)))
    early = Clock(np.array([[0.1]]), np.array([[-2.0]]))
    assert early(np.array([[16.0]]))[0, 0, 0] == 2


def test_examples_say_how_many_there_are():
    truth = np.repeat([0, 1], [60, 40])
    right = np.zeros((5, 100))
    right[:, :50] = 2
    right[:, 60:95] = 2
    counts = [np.array([[[50, 10], [5, 35]]] * 2)] * 5
    told = Examples(truth, right, np.full((5, 100), 2.0))
    table = count_table(SIZES, counts, examples=told)
    assert examples_tested(table).tolist() == [[60, 40]]
    blind = replace(table, examples=(None,))
    assert examples_tested(blind).tolist() == [[60, 40]]  # may be the same: assumed so
    apart = replace(blind, is_fixed=np.array([False]))
    assert examples_tested(apart).tolist() == [[120, 80]]


def test_variance_between_models_is_found():
    """Beta-binomial counts, tests of their own: the variance without the binomial part."""
    rng = np.random.default_rng(11)
    runs, m = 400, 200
    spread = 2.5  # in p (1 - p) / n
    counts = []
    for n in SIZES:
        kappa = n / spread - 1
        p = rng.beta(0.7 * kappa, 0.3 * kappa, (runs, 2))
        tp, tn = rng.binomial(m, p).T
        counts.append(
            np.array([[[b, m - b], [m - a, a]] for a, b in zip(tp, tn, strict=True)])
        )
    table = replace(count_table(SIZES, counts), is_fixed=np.array([False]))
    found = of_models(table, np.array([80.0, 1280]))[0] * 4 * np.array([80.0, 1280])
    np.testing.assert_allclose(found, spread, rtol=0.15)


def test_concerns_are_told():
    rng = np.random.default_rng(12)
    one = fit_drift(count_table(SIZES[:3], some_counts(rng, SIZES[:3], runs=1)))
    assert kinds(one)["few_sizes"] == 3
    assert "one_run" in kinds(one)
    many = fit_drift(count_table(SIZES, some_counts(rng, runs=25)))
    assert kinds(many) == kinds(many, 640.0) == {}
    assert kinds(many, 320.0 * 64) == {"far": 64}


def test_two_sizes_are_enough_and_a_missing_class_is_passed_over():
    rng = np.random.default_rng(13)
    counts = some_counts(rng, SIZES)
    counts[1] = counts[1] * np.array([1, 0])[:, None]  # no example of class 1
    fit = fit_drift(count_table(SIZES, counts))
    assert np.isfinite(fit.recalls(np.array([40.0, 640]))).all()
    two = fit_drift(count_table(SIZES[:2], some_counts(rng, SIZES[:2])))
    assert np.isfinite(two.recalls(np.array([1.0, 40, 1e6]))).all()
