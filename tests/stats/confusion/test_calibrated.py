"""Power laws on logits with bands: what they find, what they promise, what they say."""

import numpy as np
import pytest
from counts_of_power_laws import counts_of, kinds, power_law, right_with_correlation
from scipy.special import expit
from support import assert_at_least, assert_at_most

from curvewise.stats.confusion.calibrated import fit_calibrated, lack_of_fit
from curvewise.stats.confusion.data import (
    CountTable,
    Examples,
    count_table,
    stacked,
    subset,
)
from curvewise.stats.confusion.draws import Asked, draw_shares, even_points

SIZES = 40.0 * 2 ** np.arange(6)
AT = np.array([30.0, 400.0, 5000.0])


def table(curves=4, seed=0, gamma=-0.5, **how):
    rng = np.random.default_rng(seed)
    return counts_of(curves, SIZES, power_law(SIZES, gamma), rng, **how)


def asked(fit, target="mean", sizes=AT, test_size=300.0, runs=5.0):
    shape = (len(fit.table), len(sizes))
    return Asked(sizes, target, np.full(shape, test_size), np.full(shape, runs))


def drawn(fit, target="mean", sizes=AT, count=1024, **how):
    points = even_points(2 + 2 * fit.table.classes, count)
    return fit.draw(asked(fit, target, sizes, **how), points)


def flipped(own: CountTable) -> CountTable:
    """Return the same curves with the classes swapped."""
    examples = tuple(
        None if e is None else Examples(1 - e.truth, e.right, e.asked)
        for e in own.examples
    )
    return CountTable(
        own.sizes,
        own.counts[..., ::-1, ::-1],
        own.runs,
        own.spread[..., ::-1, ::-1],
        own.sampling[..., ::-1],
        own.is_fixed,
        examples,
    )


def test_with_many_examples_curve_and_exponent_come_back():
    """The prior on the exponent does not stay in the way of data, however far it is off."""
    for gamma in (-1.2, -0.3, 0.2):
        own = table(
            5, gamma=gamma, per_class=20_000, runs=2, spread=0.0, has_examples=False
        )
        fit = fit_calibrated(own)
        np.testing.assert_allclose(fit.gamma, gamma, atol=0.08)
        truth = expit(power_law(np.r_[SIZES[0], AT[1:]], gamma))[1:]
        np.testing.assert_allclose(fit.recalls(AT[1:]).mean(0), truth, atol=0.02)


def test_the_prior_gives_way_as_examples_come():
    """At -1.2, far from the -1/2 that it likes; the exponent's weights then are narrow."""
    away, width = [], []
    for per_class in (20, 200, 2000):
        own = table(10, gamma=-1.2, per_class=per_class, runs=8, spread=0.0)
        fit = fit_calibrated(own)
        away.append(np.abs(fit.gamma + 1.2).mean())
        spread = (fit.exponents.gammas - fit.gamma[:, None]) ** 2
        width.append(np.sqrt((fit.exponents.weights * spread).sum(-1)).mean())
    assert away[0] > away[1] > away[2]
    assert width[0] > 2 * width[2]
    assert away[2] < 0.15


def test_a_finer_grid_takes_over_where_the_exponent_is_known():
    own = table(2, per_class=100_000, runs=1, spread=0.0, has_examples=False)
    fit = fit_calibrated(own)
    step = np.diff(fit.exponents.gammas, axis=-1)
    assert (step < 0.05 - 1e-9).all()
    assert (fit.exponents.weights.max(-1) < 0.5).all()
    coarse = fit_calibrated(table(2, per_class=50))
    assert np.diff(coarse.exponents.gammas, axis=-1) == pytest.approx(0.05)


def test_example_level_noise_finds_how_alike_models_are():
    own = table(30, correlation=0.5, spread=0.0, per_class=400)
    noise = fit_calibrated(own).noise
    want = right_with_correlation(0.5, float(expit(power_law(SIZES))[3, 0]))
    assert noise.rho_at(own, SIZES[3:4])[:, 0, 0].mean() == pytest.approx(
        want, abs=0.05
    )
    apart = fit_calibrated(table(30, correlation=0.0, per_class=400)).noise
    assert apart.rho_at(own, SIZES[3:4]).mean() < 0.05


@pytest.mark.parametrize("spread", [0.5, 4.0])
def test_noise_between_training_sets_is_told_from_that_of_tests(spread):
    """Runs here share their test set, so that less of its luck lies between them."""
    own = table(60, spread=spread, runs=10, per_class=400)
    omega = fit_calibrated(own).noise.omega
    found = np.diagonal(omega, axis1=1, axis2=2).mean(0)
    np.testing.assert_allclose(found, spread, rtol=0.35)
    assert (omega[:, 0, 1] < 0).mean() > 0.9
    assert (np.linalg.eigvalsh(omega) > 0).all()


@pytest.mark.parametrize("target", ["mean", "observed", "model"])
def test_draws_stay_inside_even_where_rates_are_0_or_1(target):
    own = counts_of(1, SIZES, np.full((6, 2), 40.0), np.random.default_rng(0))
    both = stacked([own, flipped(table(1)), own, table(1)])
    both.counts[2] = both.counts[2][..., ::-1]  # always wrong
    for i in (2,):
        e = both.examples[i]
        wrong = (*both.examples[:i], Examples(e.truth, 0 * e.right, e.asked))
        both = CountTable(
            both.sizes,
            both.counts,
            both.runs,
            both.spread,
            both.sampling,
            both.is_fixed,
            (*wrong, *both.examples[i + 1 :]),
        )
    fit = fit_calibrated(both)
    draws = drawn(fit, target)
    assert np.isfinite(draws).all()
    assert ((draws >= 0) & (draws <= 1)).all()
    assert draws[:, 0].mean() > 0.95
    assert draws[:, 2].mean() < 0.05


def test_draws_center_on_the_curve_and_are_the_same_every_time():
    fit = fit_calibrated(table(per_class=1000))
    inside = np.array([200.0])
    draws = drawn(fit, sizes=inside)
    np.testing.assert_allclose(draws.mean(0), fit.recalls(inside), atol=0.01)
    np.testing.assert_array_equal(draws, drawn(fit, sizes=inside))


def test_targets_widen_as_they_should():
    fit = fit_calibrated(table())
    mean, model = drawn(fit).std(0), drawn(fit, "model").std(0)
    assert (model > mean).all()
    few = drawn(fit, "observed", test_size=50.0, runs=1.0).std(0)
    many = drawn(fit, "observed", test_size=5000.0, runs=50.0).std(0)
    assert (few > many).all()
    assert (many >= 0.98 * mean).all()


def test_more_models_do_not_make_a_test_set_larger():
    """They answer the same examples: the test set's own luck stays."""
    fit = fit_calibrated(table(correlation=0.8))
    at = np.array([1280.0])
    alone = drawn(fit, "mean", at).var(0)
    crowd = drawn(fit, "observed", at, test_size=100.0, runs=1e6).var(0)
    rho = fit.noise.rho_at(fit.table, at)
    p = fit.recalls(at)
    np.testing.assert_allclose(crowd - alone, rho * p * (1 - p) / 50, rtol=0.35)


def test_a_batch_is_its_curves_one_by_one():
    own = stacked([table(2), table(1, seed=9, has_examples=False), table(2, seed=4)])
    every = drawn(fit_calibrated(own), "observed", count=256)
    for i in range(len(own)):
        one = drawn(fit_calibrated(subset(own, np.array([i]))), "observed", count=256)
        np.testing.assert_allclose(one[:, 0], every[:, i], atol=1e-6)


def test_padding_changes_nothing():
    short = count_table(SIZES[:4], table(1).counts[0, :4])
    alone = fit_calibrated(short)
    beside = fit_calibrated(stacked([table(1), short]))
    np.testing.assert_allclose(beside.recalls(AT)[1], alone.recalls(AT)[0], atol=1e-8)
    np.testing.assert_allclose(
        drawn(beside, count=128)[:, 1], drawn(alone, count=128)[:, 0], atol=1e-6
    )


def test_classes_and_sizes_have_no_order():
    own = table(3)
    straight, turned = fit_calibrated(own), fit_calibrated(flipped(own))
    np.testing.assert_allclose(
        turned.recalls(AT)[..., ::-1], straight.recalls(AT), atol=1e-8
    )
    np.testing.assert_allclose(
        turned.covariance(AT)[..., ::-1, ::-1], straight.covariance(AT), rtol=1e-6
    )
    counts = own.counts[0]
    shuffled = np.array([3, 0, 5, 1, 4, 2])
    one = fit_calibrated(count_table(SIZES, counts))
    other = fit_calibrated(count_table(SIZES[shuffled], counts[shuffled]))
    np.testing.assert_allclose(one.recalls(AT), other.recalls(AT), atol=1e-12)


def test_more_classes_draw_all_recalls_jointly():
    rng = np.random.default_rng(3)
    logits = power_law(SIZES, -0.5, (2.0, 1.5, 1.0), (2.0, 2.0, 1.0))
    fit = fit_calibrated(counts_of(2, SIZES, logits, rng))
    draws = drawn(fit, "observed")
    assert draws.shape == (1024, 2, 3, 3)
    assert ((draws >= 0) & (draws <= 1)).all()
    assert "many_classes" in kinds(fit)


def test_counts_alone_cost_width_and_say_so():
    whole, blind = (
        fit_calibrated(table(8, has_examples=is_told)) for is_told in (True, False)
    )
    at = np.array([200.0])
    assert (drawn(blind, sizes=at).std(0) > drawn(whole, sizes=at).std(0)).mean() > 0.8
    assert "assumed_test_set" in kinds(blind)
    assert "assumed_test_set" not in kinds(whole)


def test_concerns_are_about_what_was_seen():
    fine = fit_calibrated(table(1, seed=5, per_class=400))
    assert kinds(fine) == {}
    assert kinds(fine, 20_000.0) == {"far": 15.625}
    few = kinds(fit_calibrated(count_table(SIZES[:2], table(1).counts[0, :2])))
    assert few["few_sizes"] == 2
    assert few["assumed_training"] == 0
    assert "few_answers" in kinds(fit_calibrated(table(1, per_class=8)))
    rng = np.random.default_rng(0)
    steep = counts_of(1, SIZES, 0.002 * SIZES[:, None] * np.ones(2), rng, per_class=500)
    assert "rising_exponent" in kinds(fit_calibrated(steep))
    broken = 0.5 + np.maximum(0, np.log2(SIZES / 40)[:, None] * np.ones(2) - 3)
    bent = fit_calibrated(counts_of(1, SIZES, broken, rng))
    assert next(iter(kinds(bent))) == "lack_of_fit"


def test_shares_are_drawn_only_where_tests_were_not_balanced():
    own = table(2)
    points = even_points(2, 1024)
    fixed = draw_shares(own, asked(fit_calibrated(own)), points)
    np.testing.assert_array_equal(fixed, np.full((1, 2, 1, 2), 0.5))
    free = CountTable(
        own.sizes,
        own.counts,
        own.runs,
        own.spread,
        own.sampling,
        np.array([True, False]),
        own.examples,
    )
    fit = fit_calibrated(free)
    mean = draw_shares(free, asked(fit), points)
    np.testing.assert_array_equal(mean[:, 0], 0.5)
    np.testing.assert_allclose(mean.sum(-1), 1.0)
    # 300 different examples, each asked about by every model.
    assert mean[:, 1, 0, 0].std() == pytest.approx(np.sqrt(0.25 / 301), rel=0.1)
    seen = draw_shares(free, asked(fit, "observed", test_size=50.0), points)
    want = np.sqrt(0.25 / 301 + 0.25 / 50)
    assert seen[:, 1, 0, 0].std() == pytest.approx(want, rel=0.1)


def test_shares_of_rare_classes_stay_above_0():
    own = table(1)
    counts = own.counts.copy()
    counts[:, :, 0] = np.array([1.0, 0.0])
    rare = CountTable(
        own.sizes,
        counts,
        own.runs,
        own.spread,
        own.sampling,
        np.array([False]),
        (None,),
    )
    shares = draw_shares(rare, asked(fit_calibrated(own)), even_points(2, 1024))
    assert (shares > 0).all()
    assert shares[..., 0].mean() == pytest.approx(rare.shares[0, 0], rel=0.1)


# --- Whether one power law holds: a level that is kept, and curves that are found out ---

OCTAVES = np.log2(SIZES / SIZES[0])[:, None] * np.ones(2)
BROKEN = 0.5 + np.maximum(0, OCTAVES - 3)
DIP = 1.5 - 0.25 * np.minimum(OCTAVES, 5 - OCTAVES)


def p_values(logits, curves, seed=0, **how):
    found = []
    for begin in range(0, curves, 250):
        rng = np.random.default_rng([seed, begin])
        own = counts_of(min(250, curves - begin), SIZES, logits, rng, **how)
        found.append(lack_of_fit(fit_calibrated(own)))
    return np.concatenate(found)


def test_the_level_is_kept_where_the_law_holds():
    p = p_values(power_law(SIZES), 500)
    assert_at_most((p <= 0.05).sum(), 500, 0.06)
    assert p.min() > 0
    assert p.max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [-1.0, -0.5, -0.2])
def test_the_level_is_kept_over_many_curves(gamma):
    p = p_values(power_law(SIZES, gamma), 4000)
    assert_at_most((p <= 0.05).sum(), 4000, 0.055)
    assert_at_least((p <= 0.05).sum(), 4000, 0.035)


def test_level_without_a_slope_where_the_exponent_means_nothing():
    p = p_values(power_law(SIZES, fall=(0.0, 0.0)), 500)
    assert_at_most((p <= 0.05).sum(), 500, 0.06)


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_counts_alone_never_find_too_much(correlation):
    p = p_values(power_law(SIZES), 500, has_examples=False, correlation=correlation)
    assert_at_most((p <= 0.05).sum(), 500, 0.06)


def test_independence_would_find_too_much():
    """The negative control: noise of training sets left out, and nothing fits."""
    own = counts_of(250, SIZES, power_law(SIZES), np.random.default_rng(1), spread=20.0)
    fit = fit_calibrated(own)
    assert_at_most((lack_of_fit(fit) <= 0.05).sum(), 250, 0.12)
    fit.noise.omega[:] *= 0.01
    with pytest.raises(AssertionError):
        assert_at_most((lack_of_fit(fit) <= 0.05).sum(), 250, 0.12)


@pytest.mark.parametrize("has_examples", [True, False])
@pytest.mark.parametrize("logits", [BROKEN, DIP])
def test_other_curves_are_found_out(logits, has_examples):
    p = p_values(logits, 100, has_examples=has_examples)
    assert_at_least((p <= 0.05).sum(), 100, 0.9)


def test_a_curve_that_is_nearly_a_power_law_is_seldom_found_out():
    """What the test cannot see: an exponent of 1 bends like a square of octaves."""
    p = p_values(0.5 + 0.15 * OCTAVES**2, 100)
    assert 0.1 < (p <= 0.05).mean() < 0.6


def test_two_sizes_say_nothing_about_fit():
    rng = np.random.default_rng(2)
    two = counts_of(1, SIZES[:2], power_law(SIZES)[:2], rng, has_examples=False)
    six = counts_of(1, SIZES, power_law(SIZES), rng, has_examples=False)
    alone = lack_of_fit(fit_calibrated(six))
    p = lack_of_fit(fit_calibrated(stacked([two, six])))
    assert np.isnan(p[0])
    assert p[1] == pytest.approx(alone[0], abs=1e-6)


def test_perfect_classes_have_a_p_value():
    own = counts_of(1, SIZES, np.full((6, 2), 50.0), np.random.default_rng(0))
    p = lack_of_fit(fit_calibrated(own))
    assert 0 <= p[0] <= 1
