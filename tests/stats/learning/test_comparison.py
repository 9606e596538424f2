"""Who of several learners is best: closed forms, simulation, ties, and what is refused."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from support import assert_at_most, assert_rate

from curvewise import CurvewiseError
from curvewise.stats.learning import (
    chance_best,
    chance_better,
    compare_summaries,
    extrapolate,
    shared_noise,
)
from curvewise.stats.learning.forecast import chance_less, quantile_table
from curvewise.stats.powerlaw import PowerLaw, fit_power_law, fit_power_laws

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
        ([], 100, "no forecasts"),
        (a, 100, "forecasts is NormalCurve. Pass a list"),
        (None, 100, "forecasts is NoneType"),
        ([a, 3], 100, "forecast is int"),
        ([a, a], 5, "smallest size"),
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


# --- Differences of power laws: closed forms, coverage, and what shared noise does ----

N = np.array([25.0, 50, 100, 200])
COUNTS = (16, 8, 4, 4)


class NormalLaw:
    """A law whose summaries are normal."""

    asymptote = 0.0
    sizes = N

    def __init__(self, error, reliance, gamma, sd):
        self.middle, self.sd, self.gamma = (error, reliance, gamma), sd, gamma

    def _of(self, k, p):
        return self.middle[k] + self.sd * ndtri(np.asarray(p))

    def quantile(self, p, n):
        return self._of(0, p)[:, None]

    def reliance_quantile(self, p, n):
        return self._of(1, p)[:, None]

    def exponent_quantile(self, p):
        return self._of(2, p)


@pytest.mark.parametrize("rho", [0.0, 0.7, -0.5])
def test_differences_of_normal_laws(rho):
    a, b = NormalLaw(0.3, 0.1, -0.5, 0.02), NormalLaw(0.25, 0.14, -0.4, 0.01)
    found = compare_summaries(a, b, confidence=0.9, correlation=rho)
    sd = math.sqrt(0.02**2 + 0.01**2 - 2 * rho * 0.02 * 0.01)
    parts = (found.error, found.reliance, found.exponent)
    for part, middle in zip(parts, (0.05, -0.04, -0.1), strict=True):
        assert part.value == pytest.approx(middle, abs=1e-6)
        assert part.lower == pytest.approx(middle + ndtri(0.05) * sd, abs=1e-5)
        assert part.upper == pytest.approx(middle + ndtri(0.95) * sd, abs=1e-5)
    assert found.n == 200


def test_words_and_rows():
    a, b = NormalLaw(0.3, 0.1, -0.5, 0.002), NormalLaw(0.25, 0.1, -0.4, 0.001)
    found = compare_summaries(a, b)
    assert [row["of"] for row in found.rows()] == ["error", "data-reliance", "exponent"]


def test_only_one_curve_that_was_fitted_has_a_spread_to_compare():
    a = NormalLaw(0.3, 0.1, -0.5, 0.002)
    many = fit_power_laws([25, 50, 100], [[0.5, 0.4, 0.33], [0.6, 0.5, 0.4]])
    for b in ([1, 2], PowerLaw.from_summary(0.1, 0.05, -0.5, 400), many):
        with pytest.raises(CurvewiseError) as refused:
            compare_summaries(a, b)
        assert (refused.value.argument, refused.value.value) == ("b", b)


def test_what_is_refused_of_differences():
    a = NormalLaw(0.3, 0.1, -0.5, 0.002)
    with pytest.raises(CurvewiseError, match="correlation"):
        compare_summaries(a, a, correlation=1)
    with pytest.raises(CurvewiseError, match="n is"):
        compare_summaries(a, a, n=[50, 100])


# --- coverage ----------------------------------------------------------------------------

LAWS = ((0.1, 1.5, -0.5), (0.12, 1.2, -0.45))


def truth(n=200.0):
    (a, b, g), (c, d, h) = LAWS
    return (
        a + b * n**g - c - d * n**h,
        -2 * b * g * n**g + 2 * d * h * n**h,
        g - h,
    )


def two_curves(rng, rho):
    """Return runs of both whose noise has this correlation at every size."""
    one, other = [], []
    for n, runs in zip(N, COUNTS, strict=True):
        noise = rng.normal(size=(2, runs))
        noise[1] = rho * noise[0] + math.sqrt(1 - rho**2) * noise[1]
        sd = math.sqrt(2e-5 + 4e-3 / n)
        one.append(LAWS[0][0] + LAWS[0][1] * n ** LAWS[0][2] + sd * noise[0])
        other.append(LAWS[1][0] + LAWS[1][1] * n ** LAWS[1][2] + sd * noise[1])
    return one, other


def covered(rng, times, rho, assumed=None):
    """Return how often each interval holds the truth, and their mean widths."""
    hits, width = np.zeros(3, dtype=int), np.zeros(3)
    for _ in range(times):
        one, other = two_curves(rng, rho)
        known = shared_noise(N, one, other) if assumed is None else assumed
        found = compare_summaries(
            fit_power_law(N, one), fit_power_law(N, other), correlation=known
        )
        parts = (found.error, found.reliance, found.exponent)
        hits += [t in part for t, part in zip(truth(), parts, strict=True)]
        width += [part.upper - part.lower for part in parts]
    return hits, width / times


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_intervals_cover_the_difference(rho):
    hits, _ = covered(np.random.default_rng(1), 25, rho)
    for hit in hits:
        assert_rate(hit, 25, 0.95)


def test_shared_noise_makes_intervals_of_the_error_narrower():
    _, shared = covered(np.random.default_rng(2), 8, 0.8)
    _, apart = covered(np.random.default_rng(2), 8, 0.8, assumed=0.0)
    assert shared[0] < 0.7 * apart[0]


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_coverage_at_length(rho):
    hits, width = covered(np.random.default_rng(3), 2_000, rho)
    print(f"\nrho = {rho}: coverage {hits / 2_000}, widths {width}")
    for hit in hits:
        assert 0.92 <= hit / 2_000 <= 0.98


@pytest.mark.slow
def test_a_correlation_that_is_not_there_breaks_coverage():
    """The negative control: independent noise, taken for shared."""
    hits, _ = covered(np.random.default_rng(4), 300, 0.0, assumed=0.9)
    assert_at_most(hits[0], 300, 0.85)
