import numpy as np
import pytest
from noisy_lines import lines as drawn_lines
from support import assert_at_least, assert_at_most

from curvewise.errors import CurvewiseError
from curvewise.stats.anova import effects
from curvewise.stats.anova.effects import effect_shares

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


def test_an_origin_that_is_large_beside_the_noise_does_not_matter():
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
    assert said.startswith("at least 90%, at all steps at once, if algorithms make no")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"of": "algorithm"}, r"of is 'algorithm'\. Pass one of total, interaction\."),
        ({"shuffles": 20}, r"shuffles is 20\. Pass at least 99\."),
        ({"confidence": 1}, r"confidence is 1\. Pass one between 0 and 1\."),
        ({"rng": None}, r"rng is None\. Pass a numpy Generator"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    groups = drawn_lines("iid", (4, 4), chances())
    with pytest.raises(CurvewiseError, match=message):
        effect_shares(groups, **{"rng": chances(), **options})
