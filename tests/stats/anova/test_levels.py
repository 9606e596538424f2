"""How often the tests reject where they should not: as often as they say."""

import sys

import numpy as np
import pytest
from blocks_of_data import p_values
from noisy_lines import SD_OF_TABLE, noise
from support import assert_at_least, assert_at_most, assert_rate

from curvewise.stats.anova.answers import two_way

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
