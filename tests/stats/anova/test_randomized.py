"""Randomised analysis of variance: by brute force, at its edges, and in its words."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from blocks_of_data import p_values
from refusals import said_by
from scipy import special, stats
from support import assert_at_least, assert_at_most

from curvewise.errors import CurvewiseError
from curvewise.stats.anova.answers import (
    Draws,
    EffectTest,
    RandomizedAnova,
    at_any_time,
    side,
    two_way,
)
from curvewise.stats.anova.randomized import randomized_anova
from curvewise.stats.deals import all_deals
from curvewise.stats.interval import clopper_pearson

BOTH = ("algorithm", "interaction")


def curves(sizes, steps=5, seed=1, sds=None, shift=0.7):
    rng = np.random.default_rng(seed)
    sds = sds or [1.0] * len(sizes)
    return [
        sd * rng.normal(size=(size, steps)).cumsum(axis=1) + shift * i
        for i, (size, sd) in enumerate(zip(sizes, sds, strict=True))
    ]


def asked(lines, seed=1, **how):
    return randomized_anova(lines, rng=np.random.default_rng(seed), **how)


def dealt(lines):
    """Every deal, as groups of lines."""
    values, sizes = np.concatenate(lines), [len(x) for x in lines]
    for row in np.vstack(list(all_deals(sizes))):
        yield [values[row == i] for i in range(len(sizes))]


def own_means(groups):
    return [g.mean(axis=1) for g in groups]


def less_own_means(groups):
    return [g - g.mean(axis=1, keepdims=True) for g in groups]


def ats(groups):
    """The ANOVA-type statistic from its definition, with covariance matrices."""
    m, means = len(groups), np.stack([g.mean(axis=0) for g in groups])
    apart = ((means - means.mean(axis=0)) ** 2).sum()
    noise = sum(np.trace(np.cov(g.T)) / len(g) for g in groups)
    return apart / ((1 - 1 / m) * noise)


def welch(samples):
    """Welch's F and its p from their definitions; much faster than scipy's."""
    m, n = len(samples), np.array([len(x) for x in samples])
    means = np.array([x.mean() for x in samples])
    w = n / np.array([x.var(ddof=1) for x in samples])
    middle = (w * means).sum() / w.sum()
    h = ((1 - w / w.sum()) ** 2 / (n - 1)).sum()
    f = (w * (means - middle) ** 2).sum() / (m - 1)
    f /= 1 + 2 * (m - 2) * h / (m**2 - 1)
    return f, special.fdtrc(m - 1, (m**2 - 1) / (3 * h), f)


def share(values):
    """The share of values that are at least the first."""
    values = np.array(values)
    return (values >= values[0] - 1e-9 * abs(values[0])).mean()


DESIGNS = [(4, 4), (3, 5), (3, 3, 3), (2, 3, 4)]


@pytest.mark.parametrize("sizes", [*DESIGNS, (1, 5)])
def test_joint_is_both_f_over_all_deals(sizes):
    lines = curves(sizes)
    found = asked(lines, null="joint")
    tables = [two_way(groups) for groups in dealt(lines)]
    for effect in BOTH:
        values = [table.f(effect) for table in tables]
        assert found.p(effect) == pytest.approx(share(values))
        assert found.null_values(effect) == pytest.approx(np.sort(values))
        assert found.tests[effect].observed == pytest.approx(found.anova.f(effect))
    assert found.noise == "equal"


@pytest.mark.parametrize("sizes", [*DESIGNS, (1, 5)])
def test_separate_is_f_of_means_and_of_shapes(sizes):
    lines = curves(sizes)
    found = asked(lines, noise="equal")
    means = []
    for groups in dealt(lines):
        table = two_way([np.repeat(x[:, None], 2, axis=1) for x in own_means(groups)])
        over = table.ss["algorithm"] / (len(sizes) - 1)
        means.append(over / (table.ss["error"] / (sum(sizes) - len(sizes))))
    assert means[0] == pytest.approx(stats.f_oneway(*own_means(lines)).statistic)
    assert found.null_values("algorithm") == pytest.approx(np.sort(means))
    assert found.p("algorithm") == pytest.approx(share(means))
    n, m = sum(sizes), len(sizes)
    shapes = []
    for groups in dealt(lines):
        table = two_way(less_own_means(groups))
        over = table.ss["interaction"] / (m - 1)
        shapes.append(over / (table.ss["error"] / (n - m)))
    assert found.null_values("interaction") == pytest.approx(np.sort(shapes))
    assert found.p("interaction") == pytest.approx(share(shapes))


@pytest.mark.parametrize("sizes", DESIGNS)
def test_shuffles_for_unequal_noise(sizes):
    lines = curves(sizes, sds=[1, 3, 2][: len(sizes)])
    tests = asked(lines).tests
    traces = [ats(less_own_means(groups)) for groups in dealt(lines)]
    assert np.sort(tests["interaction"].shuffles.values) == pytest.approx(
        np.sort(traces)
    )
    small = [welch(own_means(groups))[1] for groups in dealt(lines)]
    # The map to a deviate is an approximation: it may swap values that hardly differ.
    p = tests["algorithm"].shuffles.p
    assert p == pytest.approx(share(-np.log(small)), abs=2.5 / len(small))
    order = stats.spearmanr(tests["algorithm"].shuffles.values, small).statistic
    assert order < -0.999


@pytest.mark.parametrize("sizes", [(4, 5), (4, 4, 4)])
def test_flips_are_those_of_whole_residual_lines(sizes):
    lines = curves(sizes, sds=[1, 3, 2][: len(sizes)])
    found = asked(lines)
    n = sum(sizes)
    rest = np.concatenate([x - x.mean(axis=0) for x in lines])
    cuts = np.cumsum(sizes)[:-1]
    values = {effect: [] for effect in BOTH}
    for signs in product((1, -1), repeat=n - 1):
        groups = np.split(np.array((1, *signs))[:, None] * rest, cuts)
        values["algorithm"].append(welch(own_means(groups))[0])
        values["interaction"].append(ats(less_own_means(groups)))
    came = {
        "algorithm": welch(own_means(lines))[0],
        "interaction": ats(less_own_means(lines)),
    }
    for effect in BOTH:
        flips = found.tests[effect].flips
        assert flips.is_exact
        assert flips.observed == pytest.approx(came[effect])
        assert np.sort(flips.values) == pytest.approx(np.sort(values[effect]), abs=1e-9)
        above = (np.array(values[effect]) >= came[effect]).sum()
        assert flips.p == pytest.approx((1 + above) / (1 + 2 ** (n - 1)))
        shuffles = found.tests[effect].shuffles
        assert found.p(effect) == max(flips.p, shuffles.p)
    assert found.is_guarded


def test_two_equal_groups_shuffled_by_traces_are_those_by_f():
    lines = curves((5, 5))
    one, two = (asked(lines, **how) for how in ({}, {"noise": "equal"}))
    p = one.tests["interaction"].shuffles.p
    assert p == pytest.approx(two.tests["interaction"].shuffles.p)


def test_largest_welch_over_the_steps():
    lines = curves((4, 5), sds=[1, 3])
    found = asked(lines, interaction="max_t")
    test = found.tests["interaction"]
    assert test.shuffles is None
    shapes = less_own_means(lines)
    t = stats.ttest_ind(*shapes, equal_var=False).statistic
    assert test.observed == pytest.approx((t**2).max())
    assert test.flips.number == 2**8
    assert found.null_values("interaction") == pytest.approx(np.sort(test.flips.values))
    assert found.can_reject("interaction")


def test_a_bump_at_a_quiet_step_is_found_by_the_largest_welch():
    rng = np.random.default_rng(9)
    found = dict.fromkeys(("ats", "max_t"), 0)
    for _ in range(20):
        lines = [rng.normal(size=(8, 6)) for _ in range(2)]
        for x in lines:  # the first step is the line's mean, but for a little
            x[:, 0] = x[:, 1:].mean(axis=1) + 0.1 * x[:, 0]
        lines[1][:, 0] += 0.4
        for how in found:
            p = asked(lines, interaction=how, shuffles=199, most=199, exact=False)
            found[how] += p.p("interaction") <= 0.05
    assert found["max_t"] >= 18
    assert found["ats"] <= 5


@pytest.mark.parametrize("shift", [1e3, 1e6, 1e9])
def test_a_huge_shift_does_not_reach_the_interaction(shift):
    lines = curves((6, 6), shift=0.0)
    for how in ({}, {"noise": "equal"}):
        near, far = asked(lines, **how), asked([lines[0], lines[1] + shift], **how)
        assert far.p("interaction") == pytest.approx(near.p("interaction"))
        assert far.tests["algorithm"].shuffles.p == pytest.approx(1 / 462)


@pytest.mark.parametrize("effect", BOTH)
def test_the_other_effect_cannot_interfere(effect):
    lines = curves((5, 6))
    ramp = np.linspace(-50, 50, 5)
    other = [lines[0], lines[1] + (ramp if effect == "algorithm" else 80)]
    for how in ({}, {"noise": "equal"}):
        one, two = asked(lines, **how), asked(other, **how)
        assert two.p(effect) == pytest.approx(one.p(effect))
        for kind in ("shuffles", "flips") if not how else ("shuffles",):
            a, b = (getattr(x.tests[effect], kind).values for x in (one, two))
            assert a == pytest.approx(b, rel=1e-6)
    # Dealt jointly, it does.
    assert abs(
        asked(lines, null="joint").p(effect) - asked(other, null="joint").p(effect)
    ) > 0.01  # fmt: skip


def test_drawn_shuffles_tend_to_all_of_them():
    lines = curves((6, 6), shift=1.0)
    whole = asked(lines, noise="equal")
    some = asked(lines, noise="equal", exact=False, shuffles=5_000, most=5_000)
    for effect in BOTH:
        draws = some.tests[effect].shuffles
        assert draws.number == 5_000
        assert not draws.is_exact
        assert draws.p == (1 + draws.exceeding) / 5_001
        assert whole.p(effect) in some.p_interval(effect)
        assert some.smallest_p == pytest.approx(max(1 / 462, 1 / 5_001))


def test_intervals_for_p_hold():
    lines = curves((5, 5), shift=0.9)
    p = asked(lines, noise="equal").p("algorithm")
    rng = np.random.default_rng(3)
    missed = {"fixed": 0, "open": 0, "narrow": 0}
    for _ in range(300):
        fixed, looking = (
            randomized_anova(
                lines, noise="equal", exact=False, shuffles=99, most=most, rng=rng
            )
            for most in (99, 2_000)
        )
        missed["fixed"] += p not in fixed.p_interval("algorithm")
        missed["open"] += p not in looking.p_interval("algorithm")
        draws = fixed.tests["algorithm"].shuffles
        low, high = clopper_pearson(draws.exceeding, 99, 0.5)
        missed["narrow"] += not low <= p <= high
    assert_at_most(missed["fixed"], 300, 0.01)
    assert_at_most(missed["open"], 300, 0.01)
    with pytest.raises(AssertionError):
        assert_at_most(missed["narrow"], 300, 0.01)


def test_settling_is_rarely_on_the_wrong_side():
    rng = np.random.default_rng(4)
    wrong = 0
    paths, looks = 2_000, range(20, 1_500, 20)
    hits = (rng.random((paths, 1_500)) < 0.06).cumsum(axis=1)
    for path in hits:
        sides = (side(n, int(path[n - 1]), 0.05) for n in looks)
        wrong += next((s for s in sides if s), 0) == -1
    for n in looks:
        share = hits[:, n - 1] / n
        low = share + 2 * np.sqrt(share * (1 - share) / n) < 0.05
        hits = hits[~low]  # those that stopped, on the wrong side
    naive = paths - len(hits)
    assert_at_most(wrong, paths, 0.001)
    with pytest.raises(AssertionError):
        assert_at_most(naive, paths, 0.001)


@pytest.mark.parametrize(
    ("n", "b"), [(199, 0), (199, 199), (500, 25), (100_000, 5_000)]
)
def test_the_anytime_interval_is_where_the_weight_is(n, b):
    low, high = at_any_time(b, n, 0.01)
    assert low <= b / n <= high

    def weight(q):
        return (n + 1) * stats.binom.pmf(b, n, q)

    for end, inside in ((low, 0), (high, 1)):
        if end not in (0, 1):
            assert weight(end) == pytest.approx(0.01, rel=1e-6)
        else:
            assert end == inside
    wider = clopper_pearson(b, n, 0.01)
    assert low <= wider[0] + 1e-12
    assert high >= wider[1] - 1e-12


def test_draws_go_on_until_they_are_settled():
    lines = curves((7, 7), seed=5, shift=0.0)
    clear = asked(lines, exact=False, shuffles=199)
    assert clear.decision("algorithm") == "not rejected"
    far = asked(curves((7, 7), shift=9.0), exact=False, shuffles=199)
    draws = far.tests["algorithm"].shuffles
    assert 199 < draws.number < 1_000
    assert draws.stopped == "later look"
    assert far.decision("algorithm") == "rejected"
    # A level that is the p of all deals cannot be settled.
    p = asked(lines, noise="equal").p("interaction")
    near = asked(lines, noise="equal", exact=False, shuffles=199, most=3_000, level=p)
    assert near.decision("interaction") == "undecided"
    assert near.tests["interaction"].shuffles.number == 3_000
    fixed = asked(lines, noise="equal", exact=False, shuffles=199, most=199, level=p)
    assert fixed.tests["interaction"].shuffles.number == 199
    assert fixed.decision("interaction") in ("rejected", "not rejected")
    assert asked(lines, exact=False, shuffles=300, most=10).tests[
        "algorithm"
    ].shuffles.number == 300  # fmt: skip


def test_a_pile_that_cannot_change_the_decision_rests():
    # Shuffles settle above the level at once, so that flips need not go on.
    found = asked(curves((7, 7), shift=0.0, seed=5), shuffles=199, exact=False)
    for effect in BOTH:
        test = found.tests[effect]
        assert test.decision(0.05) == "not rejected"
        assert min(test.shuffles.number, test.flips.number) <= 1_000


@pytest.mark.parametrize("how", [{}, {"null": "joint"}, {"noise": "equal"}])
def test_ties_are_counted(how):
    v = np.array([-7, -5, -3, -1, 1, 3, 5, 7])
    one = np.random.default_rng(1).integers(0, 30, (6, 8)) / 3
    pure = asked([one, one + v], **how)
    assert pure.p("algorithm") == 1.0
    twice = asked([one, one], **how)
    assert twice.p("algorithm") == twice.p("interaction") == 1.0


def test_ties_of_integer_scores_by_exact_arithmetic():
    rng = np.random.default_rng(2)
    lines = [rng.integers(0, 3, (5, 4)), rng.integers(0, 3, (5, 4)) + 1]
    found = asked(lines, noise="equal")
    totals = np.concatenate(lines).sum(axis=1)  # integers: no rounding
    came = abs(2 * totals[:5].sum() - totals.sum())
    ways = [
        abs(2 * totals[list(c)].sum() - totals.sum())
        for c in combinations(range(10), 5)
    ]
    assert found.p("algorithm") == pytest.approx(np.mean(np.array(ways) >= came))


def test_ties_where_algorithms_are_told_apart_perfectly():
    a, b = np.tile([1.0, 2.0, 4.0], (3, 1)) / 3, np.tile([5.0, 1.0, 2.0], (3, 1)) / 7
    # The first and the last are alike, so that their six lines may change places.
    found = asked([a, b, a], null="joint")
    for effect in BOTH:
        assert found.p(effect) == pytest.approx(10 / 280)
    assert asked([a, b], noise="equal").p("algorithm") == pytest.approx(1 / 10)


def test_lines_without_noise_of_means_or_of_shapes():
    flat = [np.repeat(x[:, :1], 4, axis=1) for x in curves((5, 5), shift=4)]
    found = asked(flat)
    assert found.p("interaction") == 1.0
    assert found.p("algorithm") < 0.05
    level = [0.1 + x - x.mean(axis=1, keepdims=True) for x in curves((5, 5), shift=0)]
    assert asked(level).p("algorithm") == 1.0
    assert asked(level, noise="equal").p("algorithm") == 1.0


@pytest.mark.parametrize("how", [{}, {"null": "joint"}, {"noise": "equal"}])
def test_unit_origin_order_and_names_do_not_matter(how):
    lines = curves((5, 4, 3), steps=6)
    one = asked(lines, **how)
    changed = [
        [1e6 + 1e-3 * x for x in lines],
        [1e-140 * x for x in lines],
        [-1e120 * x for x in lines],
        [x + np.arange(6) ** 3 for x in lines],
        [x[::-1] for x in lines],
    ]
    for other in changed:
        two = asked(other, **how)
        for effect in BOTH:
            draws = two.tests[effect].draws[0]
            assert draws.p == pytest.approx(one.tests[effect].draws[0].p, abs=1e-12)
    backwards = asked({"b": lines[2], "a": lines[1], "c": lines[0]}, **how)
    for effect in BOTH:
        p = backwards.tests[effect].draws[0].p
        assert p == pytest.approx(one.tests[effect].draws[0].p)


def test_long_lines_give_the_f_of_the_table():
    lines = curves((4, 4), steps=500)
    found = asked(lines, null="joint")
    for effect in BOTH:
        values = [two_way(groups).f(effect) for groups in dealt(lines)]
        assert found.null_values(effect) == pytest.approx(np.sort(values), rel=1e-9)


@pytest.mark.parametrize("how", [{}, {"null": "joint"}, {"noise": "equal"}])
def test_blocks_of_data_sets_give_the_same_p(how):
    lines = curves((6, 5), steps=4)
    one = asked(lines, exact=False, shuffles=199, most=199, **how)
    noise = how.get("noise", "equal" if how else "unequal")
    block = p_values(
        np.concatenate(lines)[None],
        (6, 5),
        null=how.get("null", "separate"),
        noise=noise,
        rng=np.random.default_rng(1),
    )
    assert block.algorithm[0] == pytest.approx(one.p("algorithm"))
    assert block.interaction[0] == pytest.approx(one.p("interaction"))


@pytest.mark.parametrize("how", [{"exact": True}, {"exact": False}])
@pytest.mark.parametrize("level", [0.001, 0.01, 0.05, 0.2, 0.5, 0.9])
def test_rejected_is_what_reaches_the_critical_value(how, level):
    for seed in range(6):
        found = asked(
            curves((4, 5), seed=seed), shuffles=199, most=199, level=level, **how
        )
        for effect in BOTH:
            test = found.tests[effect]
            reaches = [
                draws.observed >= found.critical_value(effect, of=kind)
                for kind, draws in (("shuffles", test.shuffles), ("flips", test.flips))
            ]
            assert all(reaches) == (found.p(effect) <= level)
            assert all(reaches) == (found.decision(effect) == "rejected")


def test_critical_values_that_no_deal_reaches():
    found = asked(curves((3, 3)))
    assert found.critical_value("algorithm", 0.05) == math.inf
    largest = found.null_values("algorithm")[-1]
    assert found.critical_value("algorithm", 0.1) == pytest.approx(largest)
    few = asked(curves((8, 8)), shuffles=19, most=19, exact=False)
    assert few.critical_value("algorithm", 0.04) == math.inf
    assert few.critical_value("algorithm", 0.05) < math.inf


TABLE = two_way(curves((10, 10)))


def made(values, observed, null="joint"):
    draws = Draws(np.asarray(values, float), observed, "fixed", False, 1e-12, 0.0)
    tests = {effect: EffectTest(effect, "F", draws, None) for effect in BOTH}
    return RandomizedAnova(TABLE, (10, 10), null, "equal", False, 0.05, tests)


def test_the_published_rules():
    found = made(np.arange(1, 1001), 972.2)
    assert found.paper_critical_value("algorithm") == 950
    assert found.paper_p("algorithm") == pytest.approx(0.028)
    assert found.p("algorithm") == pytest.approx(29 / 1001)
    # Above the 950th of 1000, an F that is like the others is 51 times in 1001.
    above = 0
    for i in range(1001):
        one = made(np.delete(np.arange(1001), i), i)
        above += i > one.paper_critical_value("algorithm")
    assert above == 51
    assert made(np.arange(1, 1001), 5000).paper_p("algorithm") == 0
    with pytest.raises(CurvewiseError) as refused:
        asked(curves((4, 4))).paper_p("algorithm")
    assert refused.value.argument == "null"


@pytest.mark.parametrize(
    ("sizes", "level", "enough"),
    [((3, 3), 0.05, 4), ((2, 2), 0.01, 5), ((2, 2), 0.001, 7), ((2, 2, 2), 0.05, 3)],
)
def test_designs_that_cannot_reject(sizes, level, enough):
    found = asked(curves(sizes, shift=50), level=level)
    assert found.lines_to_reject() == enough
    assert not found.can_reject("algorithm")
    assert found.decision("algorithm") == "cannot reject"
    more = asked(curves((enough,) * len(sizes), shift=50), level=level)
    assert more.can_reject("algorithm")


def test_drawn_shuffles_that_cannot_reject():
    found = asked(
        curves((8, 8), shift=50), shuffles=19, most=19, level=0.01, exact=False
    )
    assert found.smallest_p == 1 / 20
    assert not found.can_reject("algorithm")
    assert found.decision("algorithm") == "cannot reject"
    # Many draws do not help a design with few deals.
    few = asked(curves((3, 3), shift=50), shuffles=999, most=999, exact=False)
    assert few.decision("algorithm") == "cannot reject"
    assert few.smallest_p == 1 / 10


def test_few_lines_are_not_guarded():
    found = asked(curves((3, 9)))
    assert not found.is_guarded
    assert found.tests["algorithm"].flips is None
    assert found.noise == "unequal"
    assert asked(curves((4, 9))).is_guarded


def test_one_line_of_an_algorithm():
    lines = curves((1, 30), shift=30)
    assert asked(lines, noise="equal").p("algorithm") == pytest.approx(1 / 31)
    with pytest.raises(CurvewiseError) as refused:
        asked(lines)
    assert said_by(refused.value) == ("lines", {"noise": "equal"})


def test_rows_and_print():
    found = asked({"a": curves((8, 8))[0], "b": curves((8, 8))[1]}, noise="equal")
    rows = found.rows()
    assert [row["effect"] for row in rows] == [
        "interaction", "algorithm", "training", "error", "total",
    ]  # fmt: skip
    assert rows[1]["p"] == rows[1]["p_shuffles"] == found.p("algorithm")
    assert rows[1]["p_flips"] is rows[2]["p"] is None
    assert rows[1]["p_parametric"] == found.anova.p("algorithm")
    text = str(found).splitlines()
    assert text[0].split() == ["df", "SS", "MS", "F", "p"]
    assert text[3].startswith("Training")
    assert text[3].endswith("-")
    assert text[-1].startswith("total")
    assert found.tests["algorithm"].shuffles.number == 6435
    assert found.p_interval("algorithm").lower == found.p("algorithm")
    default = asked(curves((8, 8))).rows()[1]
    assert default["p"] == max(default["p_shuffles"], default["p_flips"])


def test_the_same_seed_gives_the_same_answer():
    lines = curves((9, 9, 9))
    one, two, three = (asked(lines, seed=s, shuffles=199) for s in (1, 1, 2))
    for effect in BOTH:
        values = [x.tests[effect].shuffles.values for x in (one, two, three)]
        assert (values[0] == values[1]).all()
        assert not (values[0][:199] == values[2][:199]).all()
    with pytest.raises(ValueError, match="read-only"):
        one.tests["algorithm"].shuffles.values[0] = 0


def test_many_deals_are_drawn_and_few_are_all_tried():
    assert asked(curves((10, 10)), noise="equal").tests["algorithm"].shuffles.is_exact
    many = asked(curves((20, 20)), noise="equal", shuffles=199, most=199)
    assert many.tests["algorithm"].shuffles.number == 199
    forced = asked(curves((3, 3)), exact=False, shuffles=99, most=99)
    assert forced.tests["algorithm"].shuffles.number == 99


LINES = curves((4, 4))


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"null": "both"}, ("null",)),
        ({"noise": "some"}, ("noise",)),
        (
            {"null": "joint", "noise": "unequal"},
            ("noise", {"null": "separate"}, {"noise": "equal"}),
        ),
        ({"interaction": "wald"}, ("interaction",)),
        (
            {"interaction": "max_t", "noise": "equal"},
            ("noise", {"null": "separate"}, {"noise": "unequal"}),
        ),
        (
            {"interaction": "max_t", "null": "joint"},
            ("noise", {"null": "separate"}, {"noise": "unequal"}),
        ),
        ({"shuffles": 3}, ("shuffles",)),
        ({"most": 0}, ("most",)),
        ({"level": 0}, ("level",)),
        ({"level": "5 %"}, ("level",)),
        ({"exact": 1}, ("exact",)),
        ({"rng": 3}, ("rng",)),
    ],
)
def test_what_cannot_be_asked_is_refused(how, expected):
    with pytest.raises(CurvewiseError) as error:
        randomized_anova(LINES, **{"rng": np.random.default_rng(1)} | how)
    assert said_by(error.value) == expected
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(
    ("lines", "how", "expected"),
    [
        (curves((3, 5)), {"interaction": "max_t"}, ("lines", {"interaction": "ats"})),
        (curves((20, 20)), {"exact": True}, ("exact", {"exact": False})),
        (curves((900, 900)), {"exact": True}, ("exact", {"exact": False})),
        (curves((1, 1)), {}, ("lines",)),
        ([np.ones((4, 3))] * 2, {}, ("lines",)),
    ],
)
def test_lines_that_cannot_be_asked_about_are_refused(lines, how, expected):
    with pytest.raises(CurvewiseError) as error:
        asked(lines, **how)
    assert said_by(error.value) == expected


def test_questions_about_other_effects_are_refused():
    found = asked(LINES, noise="equal")
    with pytest.raises(CurvewiseError, match="effect is 'training'"):
        found.p("training")
    with pytest.raises(CurvewiseError) as refused:
        found.critical_value("algorithm", of="flips")
    assert said_by(refused.value) == ("of", {"of": "shuffles"})
    with pytest.raises(CurvewiseError, match="of is 'luck'"):
        found.critical_value("algorithm", of="luck")
    with pytest.raises(CurvewiseError, match="level is 2"):
        found.can_reject("algorithm", 2)


def test_power_is_not_lost_by_testing_apart():
    rng = np.random.default_rng(6)
    hits = dict.fromkeys(("joint", "separate"), 0)
    for _ in range(8):
        values = rng.normal(size=(50, 20, 8)).cumsum(axis=2)
        values[:, 10:] += np.linspace(-2, 2, 8)
        for null in hits:
            p = p_values(
                values, (10, 10), null=null, noise="equal", rng=rng
            ).interaction
            hits[null] += int((p <= 0.05).sum())
    assert hits["separate"] >= hits["joint"]
    assert_at_least(hits["separate"], 400, 0.8)
