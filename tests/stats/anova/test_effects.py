import math

import numpy as np
import pytest
from noisy_lines import lines, noise
from noisy_lines import lines as drawn_lines
from scipy import stats
from support import assert_at_least, assert_at_most, assert_rate

from curvewise.errors import CurvewiseError
from curvewise.stats.anova import effects
from curvewise.stats.anova.effects import (
    effect_shares,
    effect_sizes,
    explained,
    noncentralities_of_f,
    noncentralities_of_t,
)
from curvewise.stats.comparison import probability_of_improvement

pytestmark = pytest.mark.filterwarnings("ignore::curvewise.errors.CurvewiseWarning")


def two(seed=1, sizes=(6, 9), **more):
    return lines("walk", sizes, np.random.default_rng(seed), **more)


def spread_of_mean(kind, steps=8):
    return noise(kind, (400_000, steps), np.random.default_rng(0)).mean(axis=1).std()


# ------------------------------------------------------------------------- effect_sizes


def test_the_difference_is_welchs_of_the_means_of_lines():
    one, other = two(sds=(1, 3), shift=2)
    found = effect_sizes(one, other, confidence=0.9).difference
    x, y = one.mean(axis=1), other.mean(axis=1)
    ends = stats.ttest_ind(x, y, equal_var=False).confidence_interval(0.9)
    assert found.value == pytest.approx(x.mean() - y.mean())
    assert (found.lower, found.upper) == pytest.approx((ends.low, ends.high))


def test_it_is_the_mean_distance_between_the_curves():
    one, other = two()
    apart = (one.mean(axis=0) - other.mean(axis=0)).mean()
    assert effect_sizes(one, other).difference.value == pytest.approx(apart)


def test_the_standardised_one_is_hedges_g_where_lines_are_equally_many_and_noisy():
    """With equal variances the unit is the pooled one, and freedom that of both."""
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0])[:, None] * np.ones(3)
    found = effect_sizes(x + 2, x).standardised
    j = math.gamma(4) / (math.sqrt(4) * math.gamma(3.5))
    assert found.value == pytest.approx(2 / math.sqrt(2.5) * j)
    t = 2 / math.sqrt(2.5 * 2 / 5)
    for end, share in ((found.lower, 0.975), (found.upper, 0.025)):
        assert stats.nct.cdf(t, 8, end / math.sqrt(2 / 5)) == pytest.approx(share)


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e130])
def test_neither_unit_nor_origin_matters(unit):
    one, other = two(shift=1)
    plain, moved = effect_sizes(one, other), effect_sizes(unit * one, unit * other)
    for name in ("standardised", "higher"):
        a, b = getattr(plain, name), getattr(moved, name)
        assert (a.value, a.lower, a.upper) == pytest.approx((b.value, b.lower, b.upper))
    assert moved.difference.lower == pytest.approx(unit * plain.difference.lower)
    shifted = effect_sizes(one + 1e6, other + 1e6)
    assert shifted.standardised.value == pytest.approx(plain.standardised.value)


def test_an_origin_that_is_large_beside_the_noise_does_not_matter():
    one, other = two(shift=1, steps=7)
    plain = effect_sizes(one, other)
    far = effect_sizes(1e9 + 1e-4 * one, 1e9 + 1e-4 * other)
    for name, unit in (("difference", 1e-4), ("standardised", 1), ("higher", 1)):
        a, b = getattr(plain, name), getattr(far, name)
        assert [b.value, b.lower, b.upper] == pytest.approx(
            [unit * a.value, unit * a.lower, unit * a.upper], rel=0.01
        )
    # Nor one that only the one has: their distance is known as well as it can be.
    apart = effect_sizes(1e9 + 1e-4 * one, 1e-4 * other).difference
    width = 1e-4 * (plain.difference.upper - plain.difference.lower)
    assert apart.upper - apart.lower == pytest.approx(width, rel=0.01)


@pytest.mark.parametrize("origin", [0, 1e6, 1e9])
def test_lines_that_tie_do_so_from_any_origin(origin):
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, 2, (2, 8, 7))
    plain = effect_sizes(one, other).higher
    found = effect_sizes(one + origin, other + origin).higher
    x, y = one.sum(axis=1)[:, None], other.sum(axis=1)
    assert plain.value == pytest.approx(((x > y) + (x == y) / 2).mean())
    assert found == plain


def test_means_that_are_equal_but_for_rounding_have_no_spread():
    rng = np.random.default_rng(4)
    line = rng.normal(size=30)
    one, other = rng.permuted(np.tile(line, (2, 6, 1)), axis=2)
    found = effect_sizes(one, other)
    assert math.isnan(found.standardised.value)
    assert "cannot tell" in found.difference.guarantee


def test_it_turns_round_with_the_algorithms():
    one, other = two(shift=1, sds=(1, 2))
    there, back = effect_sizes(one, other), effect_sizes(other, one)
    for name in ("difference", "standardised"):
        a, b = getattr(there, name), getattr(back, name)
        assert (a.value, a.lower, a.upper) == pytest.approx(
            (-b.value, -b.upper, -b.lower)
        )


def test_how_often_one_is_higher_is_asked_of_the_means_of_lines():
    one, other = two(sizes=(12, 15), shift=1)
    found = effect_sizes(one, other)
    same = probability_of_improvement(one.mean(axis=1), other.mean(axis=1))
    assert (found.higher.value, str(found.higher)) == (same.value, str(same))
    assert found.sizes == (12, 15)


def test_lines_without_any_spread_tell_nothing_of_it():
    found = effect_sizes(np.ones((4, 3)), np.zeros((5, 3)))
    assert found.difference.value == 1
    assert found.standardised.value == math.inf
    assert "cannot tell" in found.difference.guarantee
    assert math.isinf(found.standardised.lower)
    same = effect_sizes(np.ones((4, 3)), np.ones((5, 3)))
    assert math.isnan(same.standardised.value)
    one_sided = effect_sizes(two()[0], np.zeros((5, 8)))
    assert math.isfinite(one_sided.standardised.lower)


def test_one_line_is_refused():
    with pytest.raises(CurvewiseError) as refused:
        effect_sizes(two()[0], np.ones((1, 8)))
    assert refused.value.argument == "lines"


def test_a_confidence_is_checked():
    with pytest.raises(CurvewiseError, match="confidence is 2"):
        effect_sizes(*two(), confidence=2)
    with pytest.raises(CurvewiseError, match="confidence is 'much'"):
        explained(two(), confidence="much")


def test_few_lines_are_warned_of():
    with pytest.warns(UserWarning, match=r"\b6 trials"):
        effect_sizes(*two())


@pytest.mark.parametrize(("t", "df"), [(2.0, 8), (-3.0, 4.4), (9.0, 3.3), (0.0, 20)])
def test_noncentralities_are_those_of_scipy(t, df):
    low, high = noncentralities_of_t(t, df, 0.95)
    assert stats.nct.cdf(t, df, low) == pytest.approx(0.975, abs=1e-9)
    assert stats.nct.cdf(t, df, high) == pytest.approx(0.025, abs=1e-9)


def test_large_t_have_noncentralities_in_proportion():
    low, high = noncentralities_of_t(1e9, 5, 0.95)
    chi = np.sqrt(stats.chi2.ppf([0.025, 0.975], 5) / 5)
    assert [low, high] == pytest.approx(list(1e9 * chi), rel=1e-4)


@pytest.mark.parametrize(("f", "first", "second"), [(8.0, 2.0, 9.0), (40.0, 3.3, 12.5)])
def test_noncentralities_of_f_are_those_of_scipy(f, first, second):
    low, high = noncentralities_of_f(f, first, second, 0.95)
    close = {"abs": 2e-4}  # as exact as the noncentral F of scipy before 1.14
    assert stats.ncf.cdf(f, first, second, first * low) == pytest.approx(0.975, **close)
    assert stats.ncf.cdf(f, first, second, first * high) == pytest.approx(
        0.025, **close
    )
    assert noncentralities_of_f(0.01, first, second, 0.95) == (0.0, 0.0)


def covered(kind, sizes, sds, effect, reps, seed):
    """Return how often ours holds, and one that takes the spread for known."""
    rng = np.random.default_rng(seed)
    shift = effect * spread_of_mean(kind) * math.sqrt(np.mean(np.square(sds)))
    ours = naive = 0
    for _ in range(reps):
        one, other = lines(kind, sizes, rng, sds=sds)
        found = effect_sizes(one + shift, other).standardised
        ours += effect in found
        naive += abs(found.value - effect) <= 1.96 * math.sqrt(
            sum(1 / n for n in sizes)
        )
    return ours, naive


def test_standardised_differences_are_covered_though_their_unit_is_estimated():
    ours, naive = covered("walk", (5, 5), (1, 1), 2, 600, 3)
    assert_rate(ours, 600, 0.95)
    with pytest.raises(AssertionError):  # the negative control
        assert_at_least(naive, 600, 0.94)


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0, 1, 2])
@pytest.mark.parametrize("sds", [(1, 1), (1, 4), (4, 1)])
@pytest.mark.parametrize("sizes", [(5, 5), (10, 10), (5, 15)])
def test_standardised_differences_are_covered(sizes, sds, effect):
    ours, _ = covered("walk", sizes, sds, effect, 2000, 4)
    print(sizes, sds, effect, ours / 2000)
    assert_at_least(ours, 2000, 0.94)


@pytest.mark.slow
def test_heavy_tails_are_the_limit_that_the_docstring_names():
    ours, _ = covered("t3", (10, 10), (1, 4), 2, 2000, 5)
    print(ours / 2000)
    assert_at_least(ours, 2000, 0.83)
    with pytest.raises(AssertionError):
        assert_at_least(ours, 2000, 0.94)


# ---------------------------------------------------------------------------- explained


def test_for_two_algorithms_it_is_a_standardised_difference_squared():
    other, one = two(sizes=(8, 8), shift=2)
    d = effect_sizes(one, other).standardised
    x, y = one.mean(axis=1), other.mean(axis=1)
    plain = (x.mean() - y.mean()) ** 2 / np.mean([x.var(ddof=1), y.var(ddof=1)])
    found = explained([one, other])
    assert found.eta_algorithm == pytest.approx(plain / (plain + 4))
    assert found.algorithm.value < found.eta_algorithm
    # Both intervals turn the same statistic round; this one has two tails of its square.
    assert found.algorithm.upper == pytest.approx(
        d.upper**2 / (d.upper**2 + 4), abs=0.02
    )


def test_shifts_do_not_show_in_shapes_nor_ramps_in_means():
    own = two(sizes=(6, 7))
    plain, shifted = explained(own), explained([own[0] + 5, own[1]])
    ramped = explained([own[0] + np.linspace(-5, 5, 8), own[1]])
    assert shifted.interaction.value == pytest.approx(plain.interaction.value)
    assert shifted.eta_interaction == pytest.approx(plain.eta_interaction)
    assert ramped.eta_algorithm == pytest.approx(plain.eta_algorithm)
    assert shifted.algorithm.value > 0.5 < ramped.interaction.value


def test_eta_squared_of_equal_designs_is_the_published_ratio():
    """Sums of squares, with the divisors of their expectations."""
    own = lines("walk", (7, 7, 7), np.random.default_rng(2), shift=1)
    x = [group.mean(axis=1) for group in own]
    between = sum((g.mean() - np.mean(x)) ** 2 for g in x) / 3
    within = np.mean([g.var(ddof=1) for g in x])
    assert explained(own).eta_algorithm == pytest.approx(between / (between + within))


def test_omega_squared_is_free_of_the_bias_that_eta_squared_has():
    rng = np.random.default_rng(6)
    found = [explained(lines("walk", (5, 5, 5), rng)) for _ in range(300)]
    assert np.mean([one.eta_algorithm for one in found]) > 0.1
    assert np.mean([one.algorithm.value for one in found]) < 0.08


def test_names_and_sizes_are_told():
    own = dict(zip("ab", two(), strict=True))
    found = explained(own)
    assert (found.algorithms, found.sizes) == (("a", "b"), (6, 9))
    assert found.interaction.estimand != found.algorithm.estimand


def test_long_curves_are_no_different():
    own = two()
    long = [np.repeat(group, 200, axis=1) for group in own]
    a, b = explained(own).interaction, explained(long).interaction
    assert (a.value, a.lower, a.upper) == pytest.approx((b.value, b.lower, b.upper))


def test_without_spread_nothing_is_known():
    found = explained([np.ones((3, 4)), np.zeros((3, 4))])
    assert (found.algorithm.lower, found.algorithm.upper) == (0, 1)
    assert found.algorithm.value == 1
    assert math.isnan(found.interaction.value)


def test_an_origin_that_is_large_beside_the_noise_leaves_shares():
    own = two(shift=1, ramp=2)
    plain, far = explained(own), explained([1e9 + 1e-4 * group for group in own])
    for name in ("algorithm", "interaction"):
        a, b = getattr(plain, name), getattr(far, name)
        assert [b.value, b.lower, b.upper] == pytest.approx(
            [a.value, a.lower, a.upper], abs=0.002
        )


def test_shifts_that_are_rounded_have_no_shape():
    rng = np.random.default_rng(2)
    shape, heights = rng.normal(size=9), rng.normal(size=(2, 6, 1))
    found = explained(shape + heights + [[[0]], [[5]]])
    assert math.isnan(found.interaction.value)
    assert found.algorithm.value > 0.5


def test_huge_effects_have_shares_next_to_one():
    one, other = two()
    found = explained([one + 1e8, other])
    assert 0.99 < found.algorithm.lower <= found.algorithm.upper <= 1


def share_covered(kind, sizes, sds, share, reps, seed, steps=8):
    rng, m = np.random.default_rng(seed), len(sizes)
    drawn = noise(kind, (400_000, steps), np.random.default_rng(0))
    means = drawn.mean(axis=1, keepdims=True)
    ratio = share / (1 - share) * np.mean(np.square(sds)) * m / (1 - 1 / m)
    ramp = np.linspace(-1, 1, steps)
    ramp *= math.sqrt(ratio * (drawn - means).var(axis=0).sum() / (ramp**2).sum())
    added = math.sqrt(ratio * means.var()) + ramp
    hits, biased = np.zeros(2, int), 0
    for _ in range(reps):
        own = lines(kind, sizes, rng, sds=sds)
        own[-1] = own[-1] + added
        found = explained(own)
        hits += [share in found.algorithm, share in found.interaction]
        biased += found.eta_algorithm <= share
    return hits, biased


def test_shares_are_covered():
    (whole, shape), biased = share_covered("walk", (5, 5, 5), (1, 1, 1), 0.2, 400, 7)
    assert_at_least(whole, 400, 0.94)
    assert_at_least(shape, 400, 0.92)
    with pytest.raises(AssertionError):  # eta squared is above the share mostly
        assert_rate(biased, 400, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0, 0.2, 0.5, 0.8])
@pytest.mark.parametrize(
    ("sizes", "sds"),
    [((5, 5), (1, 1)), ((5, 15), (4, 1)), ((10, 10, 10), (1, 1, 4))],
)
def test_shares_are_covered_whatever_the_noise(sizes, sds, share):
    for kind in ("iid", "walk"):
        hits, _ = share_covered(kind, sizes, sds, share, 2000, 8)
        print(kind, sizes, sds, share, hits / 2000)
        assert_at_least(hits[0], 2000, 0.93)
        assert_at_least(hits[1], 2000, 0.92)


# --- Shares ---------------------------------------------------------------------------

RAMP = np.array([-7, -5, -3, -1, 1, 3, 5, 7.0])


def sums_of_squares(groups):
    """Return SS_alg and SS_int straight from their definitions."""
    grand = np.concatenate(groups)
    k, step = grand.shape[1], grand.mean(axis=0)
    alg = sum(k * len(g) * (g.mean() - grand.mean()) ** 2 for g in groups)
    both = [g.mean(axis=0) - g.mean() - step + grand.mean() for g in groups]
    inter = sum(len(g) * (b**2).sum() for g, b in zip(groups, both, strict=True))
    return alg, inter


def chances(seed=1):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("sizes", [(5, 5), (3, 9), (2, 4, 7)])
def test_terms_add_up_to_the_sums_of_squares(sizes):
    rng = chances()
    groups = [100 + rng.normal(size=(n, 6)) + rng.normal(size=6) for n in sizes]
    alg, inter = sums_of_squares(groups)
    whole = effect_shares(groups, rng=rng)
    change = effect_shares(groups, of="interaction", rng=rng)
    assert whole.total == pytest.approx(alg + inter, rel=1e-9)
    assert change.total == pytest.approx(inter, rel=1e-9)
    for found in (whole, change):
        assert found.share.sum() == pytest.approx(1)
        np.testing.assert_allclose(found.share, found.terms / found.total, atol=1e-11)
        np.testing.assert_allclose(found.cumulated, found.share.cumsum(), atol=1e-10)


@pytest.mark.paper
@pytest.mark.parametrize("of", ["total", "interaction"])
def test_a_pure_interaction_is_spread_as_its_squares(of):
    """Copies of ten lines plus a ramp: SS_int is 840 and SS_alg 0, whatever the lines."""
    base = chances().normal(10, 5, (10, 8))
    found = effect_shares([base, base + RAMP], of=of, rng=chances())
    assert found.total == pytest.approx(840)
    np.testing.assert_allclose(found.share, RAMP**2 / 168, atol=1e-9)


def test_a_shift_is_no_interaction_and_the_same_at_every_step():
    base = chances().normal(size=(6, 5))
    whole = effect_shares([base, base + 3], rng=chances())
    np.testing.assert_allclose(whole.share, 0.2, atol=1e-9)
    change = effect_shares([base, base + 3], of="interaction", rng=chances())
    assert change.total == pytest.approx(0, abs=1e-20)
    assert not change.beyond_chance.any()
    assert change.share.tolist() == [0] * 5  # rounding is not shared out


def test_an_origin_that_is_large_beside_the_noise_does_not_matter_of_shares():
    groups = drawn_lines("walk", (5, 6), chances(), shift=1)
    plain = effect_shares(groups, rng=chances())
    far = effect_shares([1e9 + 1e-4 * g for g in groups], rng=chances())
    np.testing.assert_allclose(far.share, plain.share, atol=0.01)
    np.testing.assert_allclose(far.share_upper, plain.share_upper, atol=0.02)


def test_differences_whose_squares_vanish_are_refused():
    groups = [1e-170 * g for g in drawn_lines("walk", (5, 6), chances())]
    message = (
        r"The lines differ by about \de-\d+, of which squares vanish\. Pass them in"
    )
    with pytest.raises(CurvewiseError, match=message):
        effect_shares(groups, rng=chances())


@pytest.mark.parametrize("unit", [1e-150, 1e100])
def test_the_unit_of_scores_does_not_matter(unit):
    groups = drawn_lines("walk", (5, 6), chances(), shift=1)
    plain = effect_shares(groups, rng=chances())
    other = effect_shares([unit * g for g in groups], rng=chances())
    np.testing.assert_allclose(other.share, plain.share, atol=1e-10)
    np.testing.assert_allclose(other.share_upper, plain.share_upper, atol=1e-10)
    assert (other.beyond_chance == plain.beyond_chance).all()


def test_steps_at_which_nothing_varies_have_no_share_and_no_envelope():
    groups = drawn_lines("walk", (6, 6), chances(), shift=2)
    for g in groups:
        g[:, 0] = 0.1
    found = effect_shares(groups, rng=chances())
    assert found.share[0] == 0
    assert found.share_upper[0] == pytest.approx(0, abs=1e-11)
    assert not found.outside[0]
    assert not found.beyond_chance[0]


def test_lines_that_are_all_one_have_no_effect():
    found = effect_shares([np.ones((4, 3)), np.ones((5, 3))], rng=chances())
    assert found.total == 0
    for values in (found.share, found.cumulated, found.share_upper, found.terms_upper):
        assert np.isfinite(values).all()
    assert not (found.outside | found.beyond_chance).any()


def test_long_curves_are_taken_in_blocks(monkeypatch):
    groups = drawn_lines("walk", (5, 5), chances(), steps=50)
    whole = effect_shares(groups, rng=chances())
    monkeypatch.setattr(effects, "BATCH", 4 * 1000 * 7)
    parts = effect_shares(groups, rng=chances())
    np.testing.assert_allclose(parts.cumulated_upper, whole.cumulated_upper)
    np.testing.assert_allclose(parts.terms_upper, whole.terms_upper)


def test_the_same_seed_gives_the_same_envelope():
    groups = drawn_lines("walk", (5, 5), chances())
    one, same, other = (effect_shares(groups, rng=chances(s)) for s in (1, 1, 2))
    assert (one.share_upper == same.share_upper).all()
    assert (one.share_upper != other.share_upper).any()


def leaving(sets, seed, confidence=0.95):
    """Return how often each envelope, and a pointwise one, is left without any effect."""
    rng = chances(seed)
    out = np.zeros(4, int)
    for _ in range(sets):
        groups = drawn_lines("walk", (4, 7), rng, steps=15)
        found = effect_shares(groups, shuffles=99, confidence=confidence, rng=rng)
        beyond = (found.cumulated < found.cumulated_lower) | (
            found.cumulated > found.cumulated_upper
        )
        pointwise = one_step_at_a_time(groups, rng)
        masks = (found.outside, beyond, found.beyond_chance, pointwise)
        out += [mask.any() for mask in masks]
    return out


def one_step_at_a_time(groups, rng):
    """Return which terms are beyond the .95 quantile of shuffled ones, step by step."""
    values = np.concatenate(groups)
    values = values - values.mean(axis=0)
    n = len(groups[0])
    deals = [np.arange(len(values)), *(rng.permutation(len(values)) for _ in range(99))]
    terms = [
        values[d[:n]].sum(axis=0) ** 2 / n
        + values[d[n:]].sum(axis=0) ** 2 / (len(values) - n)
        for d in deals
    ]
    return terms[0] > np.sort(terms, axis=0)[94]


@pytest.mark.parametrize("n", [300, pytest.param(4000, marks=pytest.mark.slow)])
def test_envelopes_are_left_no_more_often_than_they_say(n):
    share, cumulated, terms, pointwise = leaving(n, 11)
    print(f"left: {np.divide((share, cumulated, terms, pointwise), n)}")
    for hits in (share, cumulated, terms):
        assert_at_most(hits, n, 0.05)
        assert_at_least(hits, n, 0.04)
    assert_at_least(pointwise, n, 0.1)  # the negative control


def test_an_effect_is_beyond_chance_where_it_is():
    rng, hits, false = chances(5), 0, 0
    for _ in range(100):
        groups = drawn_lines("iid", (10, 10), rng)
        groups[1][:, 2:4] += 3
        found = effect_shares(groups, shuffles=199, rng=rng)
        hits += found.beyond_chance[2:4].all()
        false += found.beyond_chance[[0, 1, 4, 5, 6, 7]].any()
    assert_at_least(hits, 100, 0.95)
    assert_at_most(false, 100, 0.05)


def test_the_guarantee_says_what_it_holds_for():
    groups = drawn_lines("iid", (4, 4), chances())
    said = effect_shares(groups, confidence=0.9, rng=chances()).guarantee
    assert said.startswith("at least 90 %")


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"of": "algorithm"}, "of"),
        ({"shuffles": 20}, "shuffles"),
        ({"confidence": 1}, "confidence"),
        ({"rng": None}, "rng"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, argument):
    groups = drawn_lines("iid", (4, 4), chances())
    with pytest.raises(CurvewiseError) as refused:
        effect_shares(groups, **{"rng": chances(), **options})
    assert refused.value.argument == argument
