"""Who of several learners is best: closed forms, simulation, ties, and what is refused."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from curvewise import CurvewiseError
from curvewise.stats.learning import chance_best, chance_better, extrapolate
from curvewise.stats.learning.forecast import chance_less, quantile_table
from curvewise.stats.powerlaw import fit_power_law

DRAWS = 400_000


def simulated(middles, spreads, least=-np.inf, seed=1):
    """Return how often each of independent normal errors is lowest; ties share."""
    z = np.random.default_rng(seed).normal(size=(len(middles), DRAWS))
    errors = np.asarray(middles)[:, None] + np.asarray(spreads)[:, None] * z
    errors = np.maximum(errors, least)
    is_lowest = errors == errors.min(axis=0)
    return (is_lowest / is_lowest.sum(axis=0)).mean(axis=1)


@pytest.mark.parametrize(
    ("middles", "spreads"),
    [
        ((0.30, 0.31), (0.01, 0.02)),
        ((0.30, 0.31, 0.305), (0.01, 0.02, 0.005)),
        ((0.30, 0.31, 0.32, 0.33, 0.29), (0.01, 0.02, 0.03, 0.04, 0.005)),
    ],
)
def test_the_chance_is_that_of_a_simulation(any_curve, middles, spreads):
    curves = [any_curve(m, 0.0, -0.5, s) for m, s in zip(middles, spreads, strict=True)]
    found = chance_best(curves, [25, 100])
    np.testing.assert_allclose(found.sum(axis=0), 1)
    np.testing.assert_allclose(found[:, 0], found[:, 1])
    # Five standard errors of the simulation.
    np.testing.assert_allclose(found[:, 0], simulated(middles, spreads), atol=0.004)


def test_of_two_it_is_the_chance_to_be_better(any_curve):
    a, b = any_curve(0.05, 1.5, -0.5, 0.01), any_curve(0.1, 0.8, -0.4, 0.02)
    n = np.array([25.0, 60.0, 1000.0])
    found = chance_best([a, b], n)
    np.testing.assert_allclose(found[0], chance_better(a, b, n), atol=1e-6)
    sd = np.hypot(0.01, 0.02)
    np.testing.assert_allclose(
        found[0], ndtr((b.error(n) - a.error(n)) / sd), atol=1e-6
    )


def test_one_learner_is_the_best_and_equals_share(normal_curve):
    a = normal_curve(0.1, 1.0, -0.5, 0.01)
    assert chance_best([a], [25, 50]).tolist() == [[1, 1]]
    np.testing.assert_allclose(chance_best([a] * 4, 100), 0.25, atol=1e-9)


# --- errors that cannot be below 0 -------------------------------------------------------


@pytest.fixture
def clipped(normal_curve):
    class Clipped(normal_curve):
        def quantile(self, p, n):
            return np.maximum(super().quantile(p, n), 0.0)

    return lambda middle, spread: Clipped(middle, 0.0, -0.5, spread)


ATOMS = [
    ((-0.01, 0.0), (0.02, 0.01)),
    ((0.0, 0.0, 0.0), (0.02, 0.01, 0.03)),
    ((-0.02, -0.01, 0.005), (0.02, 0.02, 0.02)),
    ((-0.02, -0.02, -0.02, 0.0005), (0.02, 0.02, 0.02, 0.0001)),
]


@pytest.mark.parametrize(("middles", "spreads"), ATOMS)
def test_ties_at_zero_are_shared(clipped, middles, spreads):
    curves = [clipped(m, s) for m, s in zip(middles, spreads, strict=True)]
    want = simulated(middles, spreads, least=0.0)
    np.testing.assert_allclose(chance_best(curves, 100)[:, 0], want, atol=0.005)


@pytest.mark.parametrize("rho", [0.0, 0.6, -0.5])
@pytest.mark.parametrize(("middles", "spreads"), ATOMS)
def test_of_two_ties_count_half_whatever_they_share(clipped, middles, spreads, rho):
    """Quantiles are known at steps of a score, and a jump need not be at one of them."""
    a, b = (clipped(m, s) for m, s in zip(middles[:2], spreads[:2], strict=True))
    z = np.random.default_rng(2).normal(size=(2, DRAWS))
    z[1] = rho * z[0] + np.sqrt(1 - rho**2) * z[1]
    x, y = (
        np.maximum(m + s * u, 0)
        for m, s, u in zip(middles[:2], spreads[:2], z, strict=True)
    )
    want = (x < y).mean() + (x == y).mean() / 2
    assert chance_better(a, b, 100, correlation=rho)[0] == pytest.approx(
        want, abs=0.005
    )
    both = chance_better(a, b, 100, correlation=rho) + chance_better(
        b, a, 100, correlation=rho
    )
    assert both[0] == pytest.approx(1, abs=0.01)


def test_errors_that_are_all_one(normal_curve):
    """The same at the upper end: an atom at 1, for mirrored curves."""

    class Capped(normal_curve):
        def quantile(self, p, n):
            return np.minimum(super().quantile(p, n), 1.0)

    a, b = Capped(1.01, 0.0, -0.5, 0.02), Capped(1.0, 0.0, -0.5, 0.01)
    one, other = (quantile_table(x, np.array([100.0])) for x in (a, b))
    assert chance_less(one, other, 0.0)[0] == pytest.approx(1 - 0.5755, abs=0.004)


# --- fitted curves -----------------------------------------------------------------------

SIZES = [25, 50, 100, 200]
GOOD = [[0.40, 0.41], [0.30, 0.31], [0.22, 0.23], [0.17, 0.175]]
BAD = [[0.50, 0.51], [0.40, 0.41], [0.30, 0.31], [0.22, 0.23]]


@pytest.mark.parametrize("fit", [fit_power_law, lambda *x: extrapolate(*x, to=400)])
def test_fitted_curves_are_ranked(fit):
    found = chance_best([fit(SIZES, BAD), fit(SIZES, GOOD)], [100, 400])
    # Two runs that differ alike at all sizes leave the height of a power law open.
    assert (found[1] > 0.8).all()
    assert ((found >= 0) & (found <= 1)).all()


def test_fits_of_two_kinds_compare():
    a, b = fit_power_law(SIZES, GOOD), extrapolate(SIZES, GOOD, to=400)
    found = chance_best([a, b], [100, 400])
    assert ((found > 0.2) & (found < 0.8)).all()


def test_what_is_refused(normal_curve):
    a = normal_curve(0.1, 1.0, -0.5, 0.01)
    percent = extrapolate(SIZES, 100 * np.array(GOOD), to=400, unit="percent")
    for asked, n, words in (
        ([], 100, "There are no forecasts"),
        (a, 100, "forecasts is NormalCurve. Pass a list"),
        (None, 100, "forecasts is NoneType"),
        ([a, 3], 100, "A forecast is int"),
        ([a, a], 5, "smallest size that was tried"),
        ([a, a], "many", "n is 'many'"),
        ([extrapolate(SIZES, GOOD, to=400), percent], 100, "fraction and percent"),
    ):
        with pytest.raises(CurvewiseError, match=words):
            chance_best(asked, n)


def test_quantiles_beyond_the_levels_known_are_normal(short_tails, normal_curve):
    """Straight in the score: the same for a normal curve, whatever levels it has."""
    n = np.array([100.0])
    tables = [
        quantile_table(make(0.1, 1.0, -0.5, 0.01), n)
        for make in (short_tails, normal_curve)
    ]
    np.testing.assert_allclose(*tables, atol=1e-9)
    assert tables[0][0, 0] == pytest.approx(0.2 + 0.01 * ndtri(ndtr(-4)))
