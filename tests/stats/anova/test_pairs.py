import runpy
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from noisy_lines import lines
from refusals import said_by
from support import assert_at_least, assert_at_most, assert_rate

from curvewise.errors import CurvewiseError
from curvewise.stats.anova.contrasts import all_pairs, partitions
from curvewise.stats.anova.randomized import randomized_anova
from curvewise.stats.comparison import holm

SCRIPT = Path(__file__).parents[3] / "scripts" / "levels_pairs.py"
simulation = SimpleNamespace(**runpy.run_path(str(SCRIPT)))
EFFECTS = ("algorithm", "interaction")


def some(sizes=(5, 5, 5), seed=1, **more):
    return lines("walk", sizes, np.random.default_rng(seed), **more)


def asked(own, seed=2, **more):
    return all_pairs(own, rng=np.random.default_rng(seed), **more)


def test_every_pair_is_judged_by_itself():
    """Five lines of each: all deals and all flips are gone through, nothing is chance."""
    own = some(shift=1, ramp=1)
    found = asked(own)
    assert [(p.one, p.other) for p in found] == [("1", "2"), ("1", "3"), ("2", "3")]
    for pair, (a, b) in zip(found, combinations(range(3), 2), strict=True):
        alone = randomized_anova([own[a], own[b]], rng=np.random.default_rng(9))
        for effect in EFFECTS:
            assert pair.p(effect) == alone.p(effect)
            assert pair.p_shuffles(effect) == alone.tests[effect].shuffles.p
            assert pair.p_flips(effect) == alone.tests[effect].flips.p
        assert pair.smallest_p == alone.smallest_p
        assert pair.sizes == (5, 5)


def test_the_noise_of_a_third_algorithm_has_no_part_in_a_pair():
    own = some()
    loud = [*own[:2], 1e6 * own[2]]
    for effect in EFFECTS:
        assert asked(own)[0].p(effect) == asked(loud)[0].p(effect)


def test_holm_adjusts_each_effect_by_itself():
    found = asked(some((5, 5, 5, 5), shift=2, ramp=1))
    for effect in EFFECTS:
        adjusted = [pair.adjusted_p(effect) for pair in found]
        assert adjusted == pytest.approx(holm([pair.p(effect) for pair in found]))
        rejected = [pair.is_rejected(effect) for pair in found]
        assert rejected == [p <= 0.05 for p in adjusted]


def test_of_three_algorithms_a_closed_test_asks_the_pair_and_all():
    own = some(shift=1.5)
    whole = randomized_anova(
        own, shuffles=999, most=999, exact=True, rng=np.random.default_rng(1)
    )
    found = asked(own, method="closed", shuffles=999, exact=True)
    for effect in EFFECTS:
        for pair in found:
            wanted = max(pair.p(effect), whole.tests[effect].shuffles.p)
            assert pair.adjusted_p(effect) == pytest.approx(wanted, abs=0.05)
            assert pair.adjusted_p(effect) >= wanted - 1e-12


def test_of_four_it_asks_every_way_for_some_to_be_equal(monkeypatch):
    """All fourteen hypotheses, written out, against made-up p values of groups."""
    p = {
        "12": 0.010, "13": 0.030, "14": 0.200, "23": 0.020, "24": 0.600, "34": 0.001,
        "123": 0.015, "124": 0.040, "134": 0.002, "234": 0.004, "1234": 0.003,
    }  # fmt: skip

    def made(design, *_):
        shuffles = SimpleNamespace(p=p["".join(design.names)])
        test = SimpleNamespace(shuffles=shuffles, flips=None, smallest_p=1e-4)
        return dict.fromkeys(EFFECTS, test)

    monkeypatch.setattr("curvewise.stats.anova.contrasts.tests_of", made)
    found = asked(some((4,) * 4), method="closed")
    twos = {
        frozenset(("12", "34")): 2 * 0.001,
        frozenset(("13", "24")): 2 * 0.030,
        frozenset(("14", "23")): 2 * 0.020,
    }
    for pair in found:
        name = pair.one + pair.other
        above = [q for names, q in p.items() if set(name) <= set(names)]
        above += [q for both, q in twos.items() if name in both]
        assert pair.adjusted_p("algorithm") == pytest.approx(max(above))


@pytest.mark.parametrize(("n", "bell"), [(1, 1), (3, 5), (4, 15), (6, 203)])
def test_partitions_are_as_many_as_bell_says(n, bell):
    every = [tuple(sorted(groups)) for groups in partitions(tuple(range(n)))]
    assert len(set(every)) == len(every) == bell


def test_closed_tests_never_go_below_the_pair():
    for pair in asked(
        some((5, 6, 4, 5), shift=2), method="closed", shuffles=99, exact=False
    ):
        for effect in EFFECTS:
            assert pair.adjusted_p(effect) >= pair.p(effect)


def test_the_order_of_algorithms_does_not_matter():
    own = dict(zip("abc", some(shift=1), strict=True))
    turned = dict(reversed(own.items()))
    there = {frozenset((p.one, p.other)): p for p in asked(own)}
    for pair in asked(turned):
        same = there[frozenset((pair.one, pair.other))]
        for effect in EFFECTS:
            assert pair.p(effect) == pytest.approx(same.p(effect))
            assert pair.adjusted_p(effect) == pytest.approx(same.adjusted_p(effect))


def test_noise_said_to_be_equal_is_not_flipped():
    found = asked(some(shift=2), noise="equal")[1]
    assert found.p_flips("algorithm") is None
    assert found.p("algorithm") == found.p_shuffles("algorithm")


def test_pairs_that_cannot_be_told_apart_are_not_called_equal():
    """Six pairs of four lines each: 6/35 is the least that Holm can give."""
    pair = asked(some((4,) * 4, shift=100))[2]
    assert pair.smallest_p == pytest.approx(1 / 35)
    assert pair.smallest_adjusted_p == pytest.approx(6 / 35)
    assert pair.cannot_reject
    assert pair.lines_to_reject == 5
    assert not pair.is_rejected("algorithm")
    enough = asked(some((5,) * 4, shift=100))[2]
    assert not enough.cannot_reject
    assert enough.is_rejected("algorithm")
    assert enough.lines_to_reject == 5


def test_closed_tests_can_tell_apart_what_holm_cannot():
    """Three pairs of four lines: 3/35 by Holm, 1/35 by closed testing."""
    own = some((4,) * 3, shift=100)
    assert asked(own)[1].cannot_reject
    found = asked(own, method="closed")[1]
    assert found.smallest_adjusted_p == pytest.approx(1 / 35)
    assert found.is_rejected("algorithm")
    assert found.lines_to_reject == 4


def test_steps_of_holm_count_where_sizes_differ():
    """The pair of few lines has 1/35, more than a third of .05, and is still rejected."""
    own = some((4, 4, 9), shift=100)
    own[1] = own[1] - 100
    found = asked(own)
    assert found[0].smallest_p == pytest.approx(1 / 35)
    assert not found[0].cannot_reject
    assert found[0].is_rejected("algorithm")


def test_three_lines_are_shuffled_only():
    pair = asked(some((3, 5)))[0]
    assert pair.p_flips("interaction") is None


@pytest.mark.parametrize("method", ["holm", "closed"])
@pytest.mark.parametrize("curve", [np.full(8, 0.1), np.linspace(0, 1, 8)])
def test_two_that_always_score_the_same_do_not_differ(curve, method):
    """Even at one score: the analysis of these two by themselves is refused."""
    same = np.tile(curve, (5, 1))
    found = asked([*some((5,), shift=3), same, same], method=method)
    assert found[2].p("algorithm") == found[2].p("interaction") == 1
    assert found[2].adjusted_p("algorithm") == 1
    assert found[2].smallest_p == pytest.approx(1 / 126)
    assert not found[2].cannot_reject
    assert found[0].p("algorithm") < 0.05
    if len(set(curve)) == 1:
        with pytest.raises(CurvewiseError) as refused:
            randomized_anova([same, same], rng=np.random.default_rng(1))
        assert refused.value.argument == "lines"


def test_the_same_seed_gives_the_same_answer():
    own = some((8, 8, 8), shift=1)
    one, same, other = asked(own), asked(own), asked(own, seed=3)
    assert [p.flip_p for p in one] == [p.flip_p for p in same]
    assert [p.flip_p for p in one] != [p.flip_p for p in other]


@pytest.mark.parametrize(
    ("more", "argument"),
    [
        ({"method": "tukey"}, "method"),
        ({"noise": "some"}, "noise"),
        ({"shuffles": 3}, "shuffles"),
        ({"level": 2}, "level"),
        ({"exact": 1}, "exact"),
    ],
)
def test_options_are_checked(more, argument):
    with pytest.raises(CurvewiseError) as refused:
        asked(some(), **more)
    assert refused.value.argument == argument


def test_seven_algorithms_are_too_many_for_closed_tests():
    with pytest.raises(CurvewiseError) as refused:
        asked(some((2,) * 7), method="closed")
    assert said_by(refused.value) == ("method", {"method": "holm"})


def test_effects_are_checked():
    with pytest.raises(CurvewiseError, match="effect is 'both'"):
        asked(some((2, 2)), shuffles=99)[0].adjusted_p("both")


# --------------------------------------------------------------------------------- level


def within(sds, sizes, reps, rng):
    hits = np.zeros(2, int)
    for _ in range(reps):
        pair = lines("walk", sizes, rng, sds=sds)
        (found,) = all_pairs(pair, shuffles=399, exact=False, rng=rng)
        hits += [found.is_rejected(effect) for effect in EFFECTS]
    return hits


def test_what_is_simulated_is_what_is_answered():
    """All deals of five lines; flips are drawn, and differ a little."""
    own = [some((5, 5), seed=i, shift=1) for i in range(20)]
    stack = np.stack([np.concatenate(one) for one in own])
    for noise, tolerance in (("equal", 1e-9), ("unequal", 0.08)):
        p = simulation.p_values(stack, (5, 5), noise, np.random.default_rng(1))
        for i, one in enumerate(own):
            (pair,) = asked(one, noise=noise)
            both = [pair.p(effect) for effect in EFFECTS]
            assert both == pytest.approx(p[:, i].tolist(), abs=tolerance)


def test_a_pair_of_equals_keeps_its_level_where_pooled_shuffles_do_not():
    n, rng = 300, np.random.default_rng(5)
    hits = within((0.1, 3), (5, 5), n, rng)
    assert_at_most(hits.max(), n, 0.065)
    pooled = 4000 * simulation.pooled_max_f(
        (5, 5, 5), (0.1, 0.1, 3), (0, 2), 4000, rng, draws=399
    )
    assert_rate(pooled, 4000, 0.089)  # the negative control
    with pytest.raises(AssertionError):
        assert_at_most(pooled, 4000, 0.065)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sds", "sizes"),
    [((1, 1), (5, 5)), ((1, 1), (10, 10)), ((0.1, 3), (10, 10)), ((1, 4), (5, 5))],
)
def test_levels_within_a_pair(sds, sizes):
    n = 4000
    plain, ours = simulation.within_pair(sizes, sds, n, np.random.default_rng(6))
    print(sds, sizes, ours, "F:", plain)
    assert_at_most(n * ours.max(), n, 0.065)
    if sds[0] == sds[1]:
        assert_rate(n * plain[0], n, 0.05)
        assert_at_most(n * ours.max(), n, 0.05)


@pytest.mark.slow
def test_thirty_times_the_noise_breaks_the_level_of_plain_f():
    n = 4000
    plain, ours = simulation.within_pair((5, 5), (0.1, 3), n, np.random.default_rng(6))
    print(ours, "F:", plain)
    assert_at_most(n * ours[0], n, 0.06)
    assert_at_most(n * ours[1], n, 0.075)
    assert_at_least(n * plain[0], n, 0.09)


def family(sizes, reps, seed, draws=99):
    """Return in how many families of equals a pair was found: adjusted, and not."""
    rng = np.random.default_rng(seed)
    adjusted, plain = np.zeros(2, int), 0
    for _ in range(reps):
        own = lines("walk", sizes, rng)
        found = all_pairs(own, shuffles=draws, rng=rng)
        for i, effect in enumerate(EFFECTS):
            adjusted[i] += any(pair.is_rejected(effect) for pair in found)
        plain += any(pair.p("algorithm") <= 0.05 for pair in found)
    return adjusted, plain


def test_families_keep_their_level():
    n = 200
    wrong, plain = family((5,) * 4, n, 7)
    assert_at_most(wrong.max(), n, 0.05)
    with pytest.raises(AssertionError):  # the negative control: not adjusted
        assert_at_most(plain, n, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "ramp"), [(0.0, 0.0), (2.5, 2.0)])
@pytest.mark.parametrize(
    ("sizes", "sds", "kind"),
    [
        ((5, 5, 5, 5), (1, 1, 1, 1), "walk"),
        ((5, 5, 5, 5), (1, 1, 1, 4), "walk"),
        ((10, 10, 10, 10), (1, 1, 1, 4), "skew"),
        ((5, 10, 15, 10), (4, 1, 1, 1), "walk"),
    ],
)
def test_families_keep_their_level_whichever_are_equal(sizes, sds, kind, shift, ramp):
    """By Holm and by closed testing; where the last differs, errors are of the others."""
    n = 2000
    wrong, right = simulation.family_errors(
        sizes, sds, kind, shift, ramp, n, np.random.default_rng(8)
    )
    print(sizes, sds, kind, shift, wrong, right)
    assert_at_most(n * np.max(wrong), n, 0.06)
    if shift and len(set(sds)) == 1:
        holm_, closed = right
        assert closed[0] > holm_[0] + 0.1
