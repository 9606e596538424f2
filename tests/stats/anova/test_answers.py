"""The table of a two-way analysis of variance, against published ones and identities."""

import sys
from itertools import combinations

import numpy as np
import pytest
from blocks_of_data import p_values
from noisy_lines import SD_OF_TABLE, noise
from scipy import stats
from support import assert_at_least, assert_at_most, assert_rate

from curvewise.errors import CurvewiseError
from curvewise.stats.anova.answers import Anova, two_way

EFFECTS = ("interaction", "algorithm", "training")
# df, SS, MS, F as printed in the paper's four tables.
PRINTED = {
    1: {
        "interaction": (7, 490.6, 70.09, 1.16), "algorithm": (1, 624.1, 624.1, 10.31),
        "training": (7, 139019.3, 19859.9, 328.17), "error": (144, 8714.4, 60.52),
        "total": (159, 148848.4),
    },
    2: {
        "interaction": (7, 5.70, 0.81, 0.83), "algorithm": (1, 0.21, 0.21, 0.21),
        "training": (7, 1231.47, 175.92, 179.91), "error": (144, 140.81, 0.98),
        "total": (159, 1378.19),
    },
    3: {
        "interaction": (14, 771.69, 55.12, 0.88), "algorithm": (2, 799.31, 399.65, 6.41),
        "training": (7, 203039.1, 29005.59, 465.58), "error": (216, 13456.9, 62.3),
        "total": (239, 218067.0),
    },
    4: {
        "interaction": (7, 840.0, 120.0, 1.99), "algorithm": (1, 0.0, 0.0, 0.0),
        "training": (7, 162558.7, 23222.67, 386.03), "error": (144, 8662.8, 60.16),
        "total": (159, 172061.5),
    },
}  # fmt: skip
PARAMETRIC = {
    (1, "interaction"): 0.33062, (1, "algorithm"): 0.0016296,
    (2, "interaction"): 0.56179, (2, "algorithm"): 0.64376,
    (3, "interaction"): 0.57618, (3, "algorithm"): 0.0019662,
    (4, "interaction"): 0.059678, (4, "algorithm"): 1.0,
}  # fmt: skip


def curves(sizes=(10, 10), steps=8, seed=1):
    rng = np.random.default_rng(seed)
    return [
        rng.normal(i, 1 + i, (size, steps)).cumsum(axis=1)
        for i, size in enumerate(sizes)
    ]


def as_printed(number):
    rows = PRINTED[number]
    return Anova(
        {name: row[0] for name, row in rows.items()},
        {name: row[1] for name, row in rows.items()},
    )


@pytest.mark.parametrize("number", PRINTED)
def test_published_tables_are_consistent(number):
    table = as_printed(number)
    assert sum(table.ss[e] for e in (*EFFECTS, "error")) == pytest.approx(
        table.ss["total"], abs=0.03
    )
    for effect in EFFECTS:
        _, ss, ms, f = PRINTED[number][effect]
        assert table.ms(effect) == pytest.approx(ms, abs=0.0051)
        slack = 0.0051 + (f * 0.005 / ss if ss else 0)
        assert table.f(effect) == pytest.approx(f, abs=slack)
        if (number, effect) in PARAMETRIC:
            p = PARAMETRIC[number, effect]
            assert table.p(effect) == pytest.approx(p, rel=1e-4)
    assert table.ms("error") == pytest.approx(PRINTED[number]["error"][2], abs=0.0051)


def test_published_tables_are_not_all_of_the_same_lines():
    # Error sums of squares add over algorithms: tables 1, 3 and 4 give those of each.
    one = PRINTED[4]["error"][1] / 2
    two = PRINTED[1]["error"][1] - one
    three = PRINTED[3]["error"][1] - one - two
    assert (one, two, three) == pytest.approx((4331.4, 4383.0, 4742.5))
    assert abs(one + three - PRINTED[2]["error"][1]) > 8000


def brute(groups):
    """Sums of squares cell by cell, from their definitions."""
    every = np.concatenate(groups)
    grand, steps = every.mean(), every.mean(axis=0)
    ss = dict.fromkeys((*EFFECTS, "error"), 0.0)
    for group in groups:
        own, cells = group.mean(), group.mean(axis=0)
        for h in range(every.shape[1]):
            for value in group[:, h]:
                ss["algorithm"] += (own - grand) ** 2
                ss["training"] += (steps[h] - grand) ** 2
                ss["interaction"] += (cells[h] - own - steps[h] + grand) ** 2
                ss["error"] += (value - cells[h]) ** 2
    ss["total"] = ((every - grand) ** 2).sum()
    return ss


@pytest.mark.parametrize("sizes", [(10, 10), (3, 7), (1, 4), (5, 5, 5), (2, 3, 4, 5)])
def test_sums_of_squares_by_definition(sizes):
    groups = curves(sizes, steps=5)
    table, expected = two_way(groups), brute(groups)
    for name, ss in expected.items():
        assert table.ss[name] == pytest.approx(ss, rel=1e-10)
    parts = sum(table.ss[e] for e in (*EFFECTS, "error"))
    assert parts == pytest.approx(table.ss["total"], rel=1e-12)
    assert sum(table.df[e] for e in (*EFFECTS, "error")) == table.df["total"]


def test_one_way_in_each_cell():
    groups = curves((4, 6, 5), steps=3)
    table = two_way(groups)
    cells = [group[:, h] for group in groups for h in range(3)]
    ss = sum(table.ss[e] for e in EFFECTS)
    df = sum(table.df[e] for e in EFFECTS)
    f = (ss / df) / table.ms("error")
    assert f == pytest.approx(stats.f_oneway(*cells).statistic)


@pytest.mark.parametrize("m", [2, 3, 5])
def test_pairs_add_up_to_the_whole(m):
    groups = curves((6,) * m, steps=7)
    whole = two_way(groups)
    pairs = [two_way([groups[i], groups[j]]) for i, j in combinations(range(m), 2)]
    for effect in ("algorithm", "interaction"):
        total = 2 / m * sum(pair.ss[effect] for pair in pairs)
        assert whole.ss[effect] == pytest.approx(total, rel=1e-9)
    errors = [((g - g.mean(axis=0)) ** 2).sum() for g in groups]
    assert whole.ss["error"] == pytest.approx(sum(errors), rel=1e-12)


def test_differences_at_each_step_add_up_to_both_effects():
    groups = curves((10, 10, 10))
    means = np.stack([g.mean(axis=0) for g in groups])
    steps = 10 * ((means - means.mean(axis=0)) ** 2).sum(axis=0)
    table = two_way(groups)
    both = table.ss["algorithm"] + table.ss["interaction"]
    assert steps.sum() == pytest.approx(both, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_vector_that_sums_to_nothing_is_interaction_only(seed):
    v = np.array([-7, -5, -3, -1, 1, 3, 5, 7])
    one = curves(seed=seed)[0].round(3) * 30
    table = two_way([one, one + v])
    assert table.ss["interaction"] == pytest.approx(840.0, abs=1e-8)
    assert table.ss["algorithm"] == 0.0
    assert (table.f("algorithm"), table.p("algorithm")) == (0.0, 1.0)


def test_f_does_not_depend_on_unit_and_origin():
    groups = curves((4, 7))
    table = two_way(groups)
    for unit, origin in ((1e-140, 0), (1e130, 0), (1.0, 1e6), (-3.0, 5.0)):
        other = two_way([origin + unit * group for group in groups])
        for effect in EFFECTS:
            assert other.f(effect) == pytest.approx(table.f(effect), rel=1e-6)


def test_identical_lines_of_different_algorithms():
    table = two_way([np.tile([1.0, 2, 3], (3, 1)), np.tile([1.0, 2, 4], (3, 1))])
    assert table.ss["error"] == 0
    assert table.f("algorithm") == table.f("interaction") == np.inf
    assert table.p("algorithm") == 0
    same = two_way([np.tile([1.0, 2, 3], (3, 1)), np.tile([0.1, 1.1, 2.1], (3, 1))])
    assert same.f("interaction") == 0
    assert same.f("algorithm") == np.inf


def test_rows_and_print():
    table = as_printed(1)
    rows = table.rows()
    assert [row["effect"] for row in rows] == [*EFFECTS, "error", "total"]
    assert rows[1] == {
        "effect": "algorithm", "df": 1, "ss": 624.1, "ms": 624.1,
        "f": pytest.approx(10.3129, abs=1e-4), "p": pytest.approx(0.0016296, rel=1e-4),
    }  # fmt: skip
    assert rows[3]["f"] is rows[4]["ms"] is None
    assert str(table).splitlines() == [
        "              df         SS        MS       F         p",
        "Interaction    7     490.60     70.09    1.16     0.331",
        "Algorithm      1     624.10    624.10   10.31   0.00163",
        "Training       7  139019.30  19859.90  328.17  3.78e-85",
        "error        144    8714.40     60.52",
        "total        159  148848.40",
    ]


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ([np.ones((1, 4)), np.zeros((1, 4))], (1, 1)),
        ([np.ones((3, 1)), np.zeros((3, 1))], {"1": 1, "2": 1}),
        ([np.full((3, 4), 0.1)] * 2, 0.1),
        ([np.eye(4) * 1e-200] * 2, pytest.approx(1e-200, rel=3, abs=0)),
        ([np.ones((3, 4))], ("1",)),
        ([np.ones((3, 4)), np.ones((3, 5))], {"1": 4, "2": 5}),
    ],
)
def test_what_has_no_table_is_refused(lines, value):
    with pytest.raises(CurvewiseError) as error:
        two_way(lines)
    assert (error.value.argument, error.value.value) == ("lines", value)
    assert str(error.value).endswith(".")


def test_an_unknown_effect_is_refused():
    with pytest.raises(CurvewiseError, match="effect is 'speed'"):
        as_printed(1).f("speed")
    with pytest.raises(CurvewiseError, match="effect is 'error'"):
        as_printed(1).f("error")


# --- How often the tests reject where they should not: as often as they say -----------

LEVEL = 0.05
STEPS = 8
SHIFTS = (0, 5, 10, 20)
RAMPS = (0, 7, 20)
DESIGNS = ((10, 10), (5, 5, 5))
KINDS = ("iid", "walk", "t3")
TOGETHER = 50  # data sets that share their draws


def tell(text):
    """Show a measured rate to whoever runs with -rP or -s."""
    sys.stdout.write(text + "\n")


def rejected(sets, sizes, kind, *, seed, sds=None, shift=0.0, ramp=0.0, **how):
    """How often each effect is rejected, shift and ramp in units of the noise."""
    rng = np.random.default_rng(seed)
    scale = np.repeat(sds or [1.0] * len(sizes), sizes)[:, None]
    hits = np.zeros(2, dtype=int)
    for _ in range(sets // TOGETHER):
        values = scale * noise(kind, (TOGETHER, sum(sizes), STEPS), rng)
        values[:, -sizes[-1] :] += shift + ramp * np.linspace(-1, 1, STEPS)
        found = p_values(values, sizes, rng=rng, **how)
        hits += [(found.algorithm <= LEVEL).sum(), (found.interaction <= LEVEL).sum()]
    return dict(zip(("algorithm", "interaction"), hits.tolist(), strict=True))


def cells(sizes, kind):
    """Under each, one effect is none: its name, and how real the other one is."""
    for i, shift in enumerate(SHIFTS):
        yield "interaction", {"shift": shift / SD_OF_TABLE, "seed": 10 + i}
    for i, ramp in enumerate(RAMPS):
        yield "algorithm", {"ramp": ramp / SD_OF_TABLE, "seed": 20 + i}


def check_levels(sets, sizes, kind):
    for effect, how in cells(sizes, kind):
        equal = rejected(sets, sizes, kind, noise="equal", **how)[effect]
        default = rejected(sets, sizes, kind, **how)[effect]
        other = how.get("shift", how.get("ramp"))
        tell(
            f"{sizes} {kind} {effect}, other effect {other:.2f}: equal "
            f"{equal / sets:.4f}, default {default / sets:.4f}"
        )
        assert_rate(equal, sets, LEVEL)
        assert_at_most(default, sets, LEVEL)


@pytest.mark.parametrize(
    "kind",
    ["walk", *(pytest.param(k, marks=pytest.mark.slow) for k in KINDS if k != "walk")],
)
@pytest.mark.parametrize(
    "sizes",
    [DESIGNS[0], *(pytest.param(d, marks=pytest.mark.slow) for d in DESIGNS[1:])],
)
def test_levels_whatever_the_other_effect_is(sizes, kind):
    check_levels(500, sizes, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "skew"])
@pytest.mark.parametrize("sizes", [*DESIGNS, (10, 10, 10), (5, 15)])
def test_levels_with_many_data_sets(sizes, kind):
    check_levels(4_000, sizes, kind)


@pytest.mark.parametrize(("shift", "rate"), [(0, 0.05), (10, 0.217), (20, 0.624)])
def test_dealt_jointly_a_shift_is_taken_for_an_interaction(shift, rate):
    """Published are .215 and .61, of 600 data sets."""
    sets = 4_000
    hits = rejected(
        sets, (10, 10), "walk", null="joint", noise="equal",
        shift=shift / SD_OF_TABLE, seed=30 + shift,
    )  # fmt: skip
    tell(f"joint, shift {shift}: {hits['interaction'] / sets:.3f}, expected {rate}")
    assert_rate(hits["interaction"], sets, rate)
    if shift:
        assert hits["algorithm"] > 0.9 * sets
        with pytest.raises(AssertionError):
            assert_at_most(hits["interaction"], sets, LEVEL)


def test_dealt_jointly_an_interaction_is_taken_for_a_difference():
    hits = rejected(
        1_000, (10, 10), "walk", null="joint", noise="equal",
        ramp=20 / SD_OF_TABLE, seed=40,
    )  # fmt: skip
    tell(f"joint, ramp 20: algorithm {hits['algorithm'] / 1_000:.3f}, published 0.262")
    with pytest.raises(AssertionError):
        assert_at_most(hits["algorithm"], 1_000, LEVEL)


def test_the_plain_table_is_wrong_where_lines_carry_over():
    rng = np.random.default_rng(50)
    sets, hits, shuffled = 1_000, np.zeros(2), np.zeros(2)
    walk = 0.5 * rng.normal(size=(sets, 20, STEPS)).cumsum(axis=2)
    values = walk + rng.normal(size=(sets, 20, STEPS))
    for one in values:
        table = two_way([one[:10], one[10:]])
        hits += [table.p("algorithm") <= LEVEL, table.p("interaction") <= LEVEL]
    for block in np.split(values, sets // TOGETHER):
        found = p_values(block, (10, 10), null="joint", noise="equal", rng=rng)
        shuffled += [
            (found.algorithm <= LEVEL).sum(),
            (found.interaction <= LEVEL).sum(),
        ]
    tell(f"plain {hits / sets}, shuffled {shuffled / sets}")
    assert abs(hits[0] / sets - 0.32) < 0.06
    assert hits[1] / sets < 0.02
    for count in shuffled:
        assert_rate(int(count), sets, LEVEL)
    with pytest.raises(AssertionError):
        assert_at_most(int(hits[0]), sets, LEVEL)


UNEQUAL = [
    ((5, 15), (4.0, 1.0), "walk", 0.265, 0.371),
    ((5, 10, 15), (4.0, 1.0, 1.0), "walk", 0.258, 0.368),
]


@pytest.mark.parametrize(("sizes", "sds", "kind", "algorithm", "interaction"), UNEQUAL)
def test_unequal_noise(sizes, sds, kind, algorithm, interaction):
    sets = 1_000
    default = rejected(sets, sizes, kind, sds=sds, seed=60)
    equal = rejected(sets, sizes, kind, sds=sds, noise="equal", seed=60)
    tell(f"{sizes} {sds} {kind}: default {default}, equal noise {equal} of {sets}")
    # Flips hold for many lines only.
    for effect, rate in (("algorithm", algorithm), ("interaction", interaction)):
        assert_at_most(default[effect], sets, 0.075)
        assert abs(equal[effect] / sets - rate) < 0.06
        with pytest.raises(AssertionError):
            assert_at_most(equal[effect], sets, 0.075)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["iid", "walk", "t3", "skew"])
@pytest.mark.parametrize(
    ("sizes", "sds"),
    [
        ((5, 5), (1, 4)), ((10, 10), (1, 4)), ((5, 15), (1, 4)), ((5, 15), (4, 1)),
        ((4, 4), (1, 4)), ((5, 5, 5), (1, 1, 4)), ((5, 10, 15), (4, 1, 1)),
        ((5, 5, 5, 5), (1, 1, 1, 4)), ((5, 8, 11, 15), (4, 1, 1, 1)),
    ],
)  # fmt: skip
def test_unequal_noise_with_many_data_sets(sizes, sds, kind):
    sets = 4_000
    default = rejected(sets, sizes, kind, sds=sds, seed=70)
    told = {effect: hits / sets for effect, hits in default.items()}
    tell(f"{sizes} {sds} {kind}: {told}")
    assert_at_most(default["algorithm"], sets, 0.06)
    # Skewed noise, and five lines of the noisy one of three algorithms or more.
    assert_at_most(default["interaction"], sets, 0.08)


def test_power_where_there_is_something():
    sets = 200
    shifted = rejected(sets, (10, 10), "walk", shift=1.2, seed=80)
    assert_at_least(shifted["algorithm"], sets, 0.781)
    ramped = rejected(sets, (10, 10), "iid", ramp=1.0, seed=81)
    assert_at_least(ramped["interaction"], sets, 0.8)
