"""Two curves: who is better, where they cross, how many times the data one needs."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from curvewise import CurvewiseError
from curvewise.stats.learning import (
    chance_better,
    crossing,
    data_multiplier,
    extrapolate,
    point_multiplier,
    shared_noise,
)
from curvewise.stats.powerlaw import PowerLaw


@pytest.mark.parametrize("rho", [0.0, 0.6, -0.4])
def test_the_chance_to_be_better_is_the_normal_one(any_curve, rho):
    a, b = any_curve(0.05, 1.5, -0.5, 0.01), any_curve(0.1, 0.8, -0.4, 0.02)
    n = np.array([25.0, 60.0, 100.0, 1000.0])
    sd = math.sqrt(0.01**2 + 0.02**2 - 2 * rho * 0.01 * 0.02)
    want = ndtr((b.error(n) - a.error(n)) / sd)
    found = chance_better(a, b, n, correlation=rho)
    np.testing.assert_allclose(found, want, atol=1e-6)
    np.testing.assert_allclose(
        chance_better(b, a, n, correlation=rho), 1 - want, atol=1e-6
    )


def test_a_curve_is_as_good_as_itself(any_curve):
    a = any_curve(0.05, 1.5, -0.5, 0.01)
    np.testing.assert_allclose(
        chance_better(a, a, [25, 99], correlation=0.3), 0.5, atol=1e-9
    )


def test_errors_that_tie_at_zero_count_half(normal_curve):
    class Clipped(normal_curve):
        def quantile(self, p, n):
            return np.maximum(super().quantile(p, n), 0.0)

    a = Clipped(0.0, 1e-9, -0.5, 1e-9)
    assert chance_better(a, a, 100)[0] == pytest.approx(0.5, abs=0.01)


# --- crossing ----------------------------------------------------------------------------


def two(make, spread=0.004):
    """Return curves that cross where .1 + .5/sqrt(n) = .05 + 1.5/sqrt(n): at n = 400."""
    return make(0.1, 0.5, -0.5, spread), make(0.05, 1.5, -0.5, spread)


def test_the_crossing_and_its_interval(any_curve):
    a, b = two(any_curve)
    found = crossing(a, b)
    (at,) = found.at
    assert at.value == pytest.approx(400, rel=1e-3)
    # |.05 - 1/sqrt(n)| = 1.96 sd
    reach = ndtri(0.975) * 0.004 * math.sqrt(2)
    assert at.lower == pytest.approx((0.05 + reach) ** -2, rel=1e-2)
    assert at.upper == pytest.approx((0.05 - reach) ** -2, rel=1e-2)
    assert [s.better for s in found.stretches] == ["a", None, "b"]
    assert found.at_least <= found.at_most
    assert found.at_least > 0.97


def test_shared_noise_narrows_the_interval(normal_curve):
    alone = crossing(*two(normal_curve)).at[0]
    shared = crossing(*two(normal_curve), correlation=0.8).at[0]
    assert shared.upper - shared.lower < 0.6 * (alone.upper - alone.lower)


def test_an_interval_may_have_no_end(normal_curve):
    found = crossing(*two(normal_curve, spread=0.03))
    (at,) = found.at
    assert at.upper == math.inf


def test_curves_that_do_not_cross(normal_curve):
    a = normal_curve(0.1, 0.5, -0.5, 0.001)
    b = normal_curve(0.2, 0.5, -0.5, 0.001)
    found = crossing(a, b)
    assert found.at == ()
    assert found.at_least == pytest.approx(0, abs=1e-9)
    assert [s.better for s in found.stretches] == ["a"]
    assert [s.better for s in crossing(b, a).stretches] == ["b"]


def test_two_crossings_are_both_found(normal_curve):
    class Dented(normal_curve):
        def error(self, n):
            x = np.log(np.asarray(n, dtype=float) / 200)
            return super().error(n) - 0.05 * np.exp(-(x**2))

    a, b = Dented(0.12, 1.0, -0.5, 0.001), normal_curve(0.1, 1.0, -0.5, 0.001)
    found = crossing(a, b)
    assert len(found.at) == 2
    assert [s.better for s in found.stretches] == ["b", None, "a", None, "b"]
    assert [row["better"] for row in found.rows()] == ["b", None, "a", None, "b"]


def test_asked_sizes_are_looked_at(normal_curve):
    found = crossing(*two(normal_curve), sizes=[100, 300])
    assert found.at == ()
    with pytest.raises(CurvewiseError, match="with both"):
        crossing(*two(normal_curve), sizes=[1, 300])


def test_the_interval_holds_the_crossing_as_often_as_it_says():
    """Linear fits with known noise, so that only the inversion is judged."""
    rng = np.random.default_rng(6)
    n = np.array([25.0, 50, 100, 200, 400])
    x = np.stack([np.ones(5), n**-0.5], 1)
    cov = np.linalg.inv(x.T @ x) * 0.01**2

    class Fitted:
        asymptote = None
        sizes = n

        def __init__(self, theta):
            self.means = x @ (theta + np.linalg.cholesky(cov) @ rng.normal(size=2))
            self.theta = np.linalg.lstsq(x, self.means, rcond=None)[0]

        def quantile(self, p, at):
            g = np.stack([np.ones(len(at)), np.asarray(at) ** -0.5], 1)
            sd = np.sqrt(np.einsum("ni,ij,nj->n", g, cov, g))
            return g @ self.theta + ndtri(np.asarray(p))[:, None] * sd

    hits, naive, times = 0, 0, 150
    for _ in range(times):
        a, b = Fitted(np.array([0.1, 0.5])), Fitted(np.array([0.05, 1.0]))
        found = crossing(a, b, confidence=0.8, sizes=[25, 4000])
        hits += any(at.lower <= 100 <= at.upper for at in found.at) or any(
            s.better is None and s.first <= 100 <= s.last for s in found.stretches
        )
        # The negative control: a tenth of the size to either side.
        naive += any(abs(at.value / 100 - 1) < 0.1 for at in found.at)
    from support import assert_rate

    assert_rate(hits, times, 0.8)
    assert naive / times < 0.6


def test_curves_in_other_units_are_refused():
    sizes, errors = [25, 50, 100], np.array([0.4, 0.3, 0.25])
    a = extrapolate(sizes, errors, to=200)
    b = extrapolate(sizes, 100 * errors, to=200, unit="percent")
    for ask in (crossing, partial(chance_better, n=50), partial(data_multiplier, n=50)):
        with pytest.raises(CurvewiseError, match="fraction and percent"):
            ask(a, b)


def test_curves_that_cannot_be_told_apart(normal_curve):
    a = normal_curve(0.1, 1.0, -0.5, 0.01)
    found = crossing(a, normal_curve(0.101, 1.0, -0.5, 0.01))
    assert [s.better for s in found.stretches] == [None]
    assert (found.chance > 0.5).all()


def test_sizes_as_large_as_they_may_be(normal_curve):
    sizes = (1e13, 1e14, 1e15)
    a, b = (
        extrapolate(sizes, e, to=1e15) for e in ([0.3, 0.2, 0.1], [0.2, 0.19, 0.18])
    )
    assert crossing(a, b).sizes[-1] == 1e15
    assert (data_multiplier(a, b, 1e14).upper > 0).all()


# --- what runs share ---------------------------------------------------------------------


def runs(rng, shared, own=0.01, repeats=400):
    common = rng.normal(size=(3, repeats)) * shared
    a, b = (0.3 + common + own * rng.normal(size=(3, repeats)) for _ in range(2))
    return [*np.abs(a)], [*np.abs(b)]


def test_shared_noise_is_the_correlation():
    a, b = runs(np.random.default_rng(1), 0.01)
    assert shared_noise([1, 2, 3], a, b) == pytest.approx(0.5, abs=0.05)
    a, b = runs(np.random.default_rng(2), 0.0)
    assert shared_noise([1, 2, 3], a, b) == pytest.approx(0, abs=0.08)


def test_runs_are_paired_by_name_and_other_runs_weaken_it():
    a, b = runs(np.random.default_rng(3), 0.03, own=0.001)
    names = [np.arange(400)] * 3
    turned = [x[::-1] for x in b]
    paired = shared_noise(
        [1, 2, 3], a, turned, runs_a=names, runs_b=[x[::-1] for x in names]
    )
    assert paired > 0.99
    assert abs(shared_noise([1, 2, 3], a, turned)) < 0.1
    half = shared_noise(
        [1, 2, 3], a, turned, runs_a=names, runs_b=[x[::-1] + 200 for x in names]
    )
    assert abs(half) < 0.1  # other runs, by name
    few = [x[:100] for x in b]
    assert shared_noise(
        [1, 2, 3], a, few, runs_a=names, runs_b=[np.arange(100)] * 3
    ) == pytest.approx(0.5, abs=0.01)


def test_names_of_runs_may_come_in_any_sequence():
    a, b = runs(np.random.default_rng(4), 0.03, own=0.001, repeats=9)
    names = [np.arange(9)] * 3
    want = shared_noise([1, 2, 3], a, b, runs_a=names, runs_b=names)
    lazy = shared_noise([1, 2, 3], a, b, runs_a=iter(names), runs_b=iter(names))
    assert lazy == want > 0.9
    for odd in (5, [[None, *range(8)]] * 3):
        with pytest.raises(CurvewiseError, match="which run"):
            shared_noise([1, 2, 3], a, b, runs_a=odd, runs_b=odd)


def test_nothing_shared_is_zero():
    assert shared_noise([1, 2], [0.3, 0.2], [0.4, 0.3]) == 0
    assert shared_noise([1, 2], [[0.3, 0.3]] * 2, [[0.4, 0.3]] * 2) == 0
    with pytest.raises(CurvewiseError, match="one learner only"):
        shared_noise([1, 2], [0.3, 0.2], [0.4, 0.3], runs_a=[[1], [1]])


@pytest.mark.parametrize("correlation", [1, -1.0, 2, "half", None])
def test_no_correlation(normal_curve, correlation):
    with pytest.raises(CurvewiseError, match="correlation"):
        chance_better(*two(normal_curve), 100, correlation=correlation)


# --- times the data ----------------------------------------------------------------------


def test_the_multiplier_of_two_normal_curves(any_curve):
    a, b = any_curve(0.1, 1.0, -0.5, 0.005), any_curve(0.1, 2.0, -0.5, 0.005)
    found = data_multiplier(a, b, [50, 100, 200], confidence=0.9)
    np.testing.assert_allclose(found.value, 4, rtol=1e-3)
    reach = ndtri(0.95) * 0.005 * math.sqrt(2)
    # 2/sqrt(m n) = 1/sqrt(n) +- reach
    low = (2 / (1 / np.sqrt(found.sizes) + reach)) ** 2 / found.sizes
    high = (2 / (1 / np.sqrt(found.sizes) - reach)) ** 2 / found.sizes
    np.testing.assert_allclose(found.lower, low, rtol=1e-2)
    np.testing.assert_allclose(found.upper, high, rtol=1e-2)
    assert [row["n"] for row in found.rows()] == [50, 100, 200]


def test_no_amount_of_data_and_less_than_was_tried(normal_curve):
    good, bad = normal_curve(0.1, 1.0, -0.5, 0.001), normal_curve(0.3, 1.0, -0.5, 0.001)
    found = data_multiplier(good, bad, 200)
    assert math.isinf(found.value[0])
    assert math.isinf(found.upper[0])
    assert data_multiplier(bad, good, 50).lower[0] == 0
    with pytest.raises(CurvewiseError, match="smallest size"):
        data_multiplier(good, bad, 5)


TABLE_3 = {  # Hoiem et al. 2021, Table 3: alpha, eta, gamma with and without augmentation
    "scratch, fine-tuned": ((35.79, 118.94, -0.28), (36.62, 114.2, -0.24)),
    "pretrained, fine-tuned": ((35.72, 67.85, -0.22), (39.43, 68.44, -0.23)),
    "pretrained, linear": ((55.55, 58.56, -0.43), (54.2, 54.27, -0.36)),
}
TIMES = {
    "scratch, fine-tuned": [1.55, 1.77, 2.02, 2.33, 2.69],
    "pretrained, fine-tuned": [1.51, 1.6, 1.73, 1.91, 2.16],
    "pretrained, linear": [1.19, 1.25, 1.29, 1.29, 1.24],
}


@pytest.mark.paper
@pytest.mark.parametrize("setting", TABLE_3)
def test_augmentation_is_not_worth_a_constant_amount_of_data(setting):
    """The paper says 1.8; its own Table 3 gives 1.2 to 2.7."""

    def law(alpha, eta, gamma):
        return lambda n: alpha + eta * n**gamma

    n = np.array([25, 50, 100, 200, 400])
    found = point_multiplier(*(law(*row) for row in TABLE_3[setting]), n)
    np.testing.assert_allclose(found, TIMES[setting], atol=0.02)
    assert np.abs(found - 1.8).max() > 0.3


def test_a_printed_summary_has_a_multiplier():
    """A power law without intervals does: its `error` is all that is needed."""
    a = PowerLaw.from_summary(58.01, 12.44, -0.28, 400, unit="percent")
    b = PowerLaw.from_summary(63.73, 13.01, -0.24, 400, unit="percent")
    found = point_multiplier(a.error, b.error, [400])[0]
    assert found == pytest.approx(2.69, abs=0.03)  # e_400 and beta_400 are rounded


@pytest.mark.parametrize("curve", [lambda n: "low", lambda n: n * math.nan])
def test_a_curve_without_errors_has_no_multiplier(curve):
    with pytest.raises(CurvewiseError, match="no errors"):
        point_multiplier(curve, lambda n: 1 / n, [10])


def test_point_multipliers_without_an_answer():
    assert point_multiplier(lambda n: 0 * n, lambda n: 0 * n + 1, [10])[0] == math.inf
    assert point_multiplier(lambda n: 0 * n + 1, lambda n: 0 * n, [10])[0] == 0
    with pytest.raises(CurvewiseError, match="no function"):
        point_multiplier(0.1, lambda n: n, [10])


@pytest.mark.parametrize("rho", [0.95, 0.99, 0.999, -0.999])
def test_what_is_shared_nearly_all_is_summed_finely_enough(any_curve, rho):
    a, b = any_curve(0.05, 1.5, -0.5, 0.01), any_curve(0.06, 1.5, -0.5, 0.012)
    sd = math.sqrt(0.01**2 + 0.012**2 - 2 * rho * 0.01 * 0.012)
    found = chance_better(a, b, 100, correlation=rho)[0]
    assert found == pytest.approx(ndtr(0.01 / sd), abs=1e-5)
    assert chance_better(b, a, 100, correlation=rho)[0] == pytest.approx(
        1 - found, abs=1e-5
    )
