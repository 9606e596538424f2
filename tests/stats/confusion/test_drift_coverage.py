"""How often bands of drifting curves hold where the truth is known: simulated curves."""

import numpy as np
import pytest
from scipy.special import ndtri
from support import assert_at_least, assert_at_most

from curvewise.stats.confusion.data import count_table, stacked
from curvewise.stats.confusion.draws import Asked, even_points
from curvewise.stats.confusion.drift import fit_drift

SIZES = np.array([32.0, 64, 128, 256, 512])
CURVES, EACH = 400, 50  # examples of each class in a test set
BETWEEN = 2.0  # variance between models, in p (1 - p) / n


@pytest.fixture(scope="module")
def world():
    """Curves of models whose recalls differ, tested on one test set for all of them.

    An example has a hardness that all models share: their answers are correlated.
    """
    rng = np.random.default_rng(20)
    tables, truth = [], []
    to = 1024.0
    for _ in range(CURVES):
        hard = rng.normal(size=(2, EACH))
        level, slope = rng.normal(1.5, 0.5, 2), rng.uniform(3, 8, 2)
        counts = [_tested(rng, n, level, slope, hard, 4) for n in SIZES]
        tables.append(count_table(SIZES, counts))
        mean = _rate(to, level, slope)
        model = _models(rng, to, mean, 1)[0]
        seen = _tested(rng, to, level, slope, hard, 4).sum(0)
        fresh = _tested(rng, to, level, slope, rng.normal(size=(2, EACH)), 4).sum(0)
        truth.append([mean, model, _recalls(seen), _recalls(fresh)])
    return fit_drift(stacked(tables)), to, np.array(truth)


def _rate(n, level, slope):
    return 1 / (1 + np.exp(-(level - slope * n**-0.5)))


def _models(rng, n, mean, count):
    kappa = n / BETWEEN - 1
    return rng.beta(mean * kappa, (1 - mean) * kappa, (count, 2))


def _tested(rng, n, level, slope, hard, runs):
    rates = _models(rng, n, _rate(n, level, slope), runs)
    out = []
    for own in rates:
        # Right where easier than the model needs; .6 of what decides is the example's.
        luck = np.sqrt(0.4) * rng.normal(size=hard.shape) + np.sqrt(0.6) * hard
        right = (luck < ndtri(own)[:, None]).sum(1)
        out.append([[right[0], EACH - right[0]], [EACH - right[1], right[1]]])
    return np.array(out)


def _recalls(counts):
    return np.diagonal(counts) / counts.sum(1)


@pytest.mark.parametrize(
    ("target", "column", "test_size"),
    [
        ("mean", 0, np.nan),
        ("model", 1, np.nan),
        ("observed", 2, np.nan),
        ("observed", 3, 2.0 * EACH),
    ],
)
def test_bands_hold_where_the_truth_is_known(world, target, column, test_size):
    fit, to, truth = world
    holds = _holds(fit, to, truth[:, column], target, test_size)
    assert_at_least(holds.sum(), holds.size, 0.94)
    assert holds.mean() < 0.999


def test_bands_of_one_target_do_not_hold_for_another(world):
    """The control: what the same runs show next is less than what a fresh test shows."""
    fit, to, truth = world
    holds = _holds(fit, to, truth[:, 3], "observed", np.nan)
    assert_at_most(holds.sum(), holds.size, 0.93)
    with pytest.raises(AssertionError):
        assert_at_least(holds.sum(), holds.size, 0.94)


def _holds(fit, to, truth, target, test_size):
    shape = (len(truth), 1)
    asked = Asked(
        np.array([to]), target, np.full(shape, test_size), np.full(shape, 4.0)
    )
    draws = fit.draw(asked, even_points(6, 512))[:, :, 0]
    lower, upper = np.quantile(draws, [0.025, 0.975], axis=0)
    return (truth >= lower - 1e-12) & (truth <= upper + 1e-12)
