"""Plans for numbers of lines: their parts are what is known, their sum keeps its word."""

import math
import time
from dataclasses import replace

import noisy_lines
import numpy as np
import pytest
from refusals import said_by
from scipy import stats
from support import assert_at_least, assert_at_most, assert_rate

from curvewise import CurvewiseError
from curvewise.stats.anova.lines import checked_lines
from curvewise.stats.anova.pilots import (
    ManyLines,
    effect_scales,
    noise_freedom,
    population,
)
from curvewise.stats.anova.planning import lines_for_power
from curvewise.stats.anova.power import crossing, detections, never_falling, rejections
from curvewise.stats.anova.randomized import randomized_anova
from curvewise.stats.deals import lines_to_reach

ALGORITHM, INTERACTION = (0.05, 0.0), (0.0, 0.05)


def rng_of(seed):
    return np.random.default_rng(seed)


def pilot(seed=1, sizes=(8, 8), kind="walk", **keywords):
    return noisy_lines.lines(kind, sizes, rng_of(seed), **keywords)


def known(kind="walk", shift=0.0, ramp=0.0, sds=1.0, seed=2, shapes=True):
    """Return a population as good as known."""
    design = checked_lines(noisy_lines.lines(kind, (1500, 1500), rng_of(seed), sds=sds))
    middles = np.zeros((2, 8))
    middles[1] = shift + ramp * np.linspace(-1, 1, 8)
    return population(design, middles, shapes=shapes, pooled=False)


# --- the parts ---------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [4, 60])
def test_new_lines_vary_as_much_as_those_of_the_pilot(steps):
    design = checked_lines(pilot(sizes=(5, 9), sds=(1, 3), steps=steps))
    middles = np.stack([g.mean(axis=0) for g in design.groups])
    found = population(design, middles, shapes=True, pooled=False)
    unit = middles.std() / np.sqrt((found.middles**2).sum() / middles.size)
    for e, group in zip(found.noise, design.groups, strict=True):
        whole = group.var(axis=0, ddof=1).sum()
        mine = (e**2).sum() / len(e)
        mean = (e[:, 0] ** 2).mean() / steps
        ratio = group.mean(axis=1).var(ddof=1) / whole
        assert mean / mine == pytest.approx(ratio)
    apart = middles[0] - middles[1]
    mine = found.middles[0] - found.middles[1]
    assert (mine**2).sum() / (found.noise[0] ** 2).mean(axis=0).sum() == pytest.approx(
        (apart**2).sum() / design.groups[0].var(axis=0, ddof=1).sum()
    )
    assert unit > 0


def test_pooled_noise_is_that_of_all():
    design = checked_lines(pilot(sizes=(5, 9)))
    middles = np.stack([g.mean(axis=0) for g in design.groups])
    found = population(design, middles, shapes=True, pooled=True)
    assert [len(e) for e in found.noise] == [14, 14]
    own = population(design, middles, shapes=True, pooled=False)
    sums = sum((len(e) - 1) * (e**2).sum() / len(e) for e in own.noise)
    assert (found.noise[0] ** 2).sum() / 14 == pytest.approx(sums / 12)


@pytest.mark.parametrize("guarded", [True, False])
def test_simulated_experiments_are_tested_as_randomized_anova_does(guarded):
    source = known(shift=0.9, ramp=0.9)
    lines = source.drawn(40, (7, 7), rng_of(3))
    fast = detections(lines, (0.05, 0.05), guarded, rng_of(4))
    whole = lines.means[:, :, None] / np.sqrt(8) + lines.shapes.transpose(0, 2, 1)
    agree = 0
    for one, mine in zip(whole, fast.T, strict=True):
        found = randomized_anova(
            [one[:7], one[7:]],
            noise="unequal" if guarded else "equal",
            shuffles=1999,
            most=1999,
            exact=False,
            rng=rng_of(5),
        )
        theirs = [found.p(e) <= 0.05 for e in ("algorithm", "interaction")]
        agree += sum(a == b for a, b in zip(theirs, mine.tolist(), strict=True))
    assert 0.2 < fast.mean() < 0.95
    assert agree >= 76  # of 80: where p is near the level, draws differ


def test_few_lines_are_shuffled_in_every_way_and_not_flipped():
    source = known(shift=50.0, shapes=False)
    tests = {"levels": ALGORITHM, "guarded": True, "simulations": 100}
    three = rejections(source, (3, 3), rng=rng_of(6), **tests)
    four = rejections(source, (4, 4), rng=rng_of(6), **tests)
    assert not three.any()  # of ten deals none has a p value of .05
    assert four[0].all()
    assert not four[1].any()  # nobody asked


def test_many_lines_are_a_matter_of_noncentral_chi_squared():
    source = known(kind="iid", shift=0.3, shapes=False)
    many = ManyLines(source, ALGORITHM, rng_of(7))
    variances = [(e[:, 0] ** 2).mean() for e in source.noise]
    apart = source.middles[1, 0] - source.middles[0, 0]
    for lines in (5, 20, 80):
        away = lines * apart**2 / sum(variances)
        expected = stats.ncx2.sf(stats.chi2.isf(0.05, 1), 1, away)
        assert many.power(lines, (1.0, 1.0)) == pytest.approx(expected)
        assert many.power(lines, (0.5, 1.0)) == pytest.approx(
            many.power(lines / 4, (1, 1))
        )
    reached = many.lines(0.8, (1.0, 1.0))
    assert many.power(reached, (1.0, 1.0)) == pytest.approx(0.8, abs=1e-6)
    assert math.isinf(many.lines(0.8, (0.0, 0.0)))


def test_the_form_for_many_lines_is_the_test_itself_with_many():
    for levels, change in ((ALGORITHM, {"shift": 0.4}), (INTERACTION, {"ramp": 0.25})):
        source = known(**change)
        many = ManyLines(source, levels, rng_of(8))
        told = many.power(59, (1.0, 1.0))
        found = rejections(
            *(source, (60, 60)),
            levels=levels,
            guarded=True,
            simulations=400,
            rng=rng_of(9),
        )
        hits = int(found.any(axis=0).sum())
        assert 0.4 < told < 0.9
        assert_at_least(hits, 400, told - 0.05)
        assert_at_most(hits, 400, told + 0.04)


def test_uncertain_noise_costs_power():
    source = known(shift=0.5, shapes=False)
    sure = ManyLines(source, ALGORITHM, rng_of(10))
    unsure = ManyLines(replace(source, freedom=10.0), ALGORITHM, rng_of(10))
    assert unsure.lines(0.8, (1, 1)) > 1.1 * sure.lines(0.8, (1, 1))
    sizes = replace(source, freedom=10.0).noise_sizes(100_000, rng_of(11))
    assert (1 / sizes).mean() == pytest.approx(1, abs=0.01)


def test_the_freedom_of_noise():
    design = checked_lines(noisy_lines.lines("iid", (2000, 2000), rng_of(12)))
    source = population(design, np.zeros((2, 8)), shapes=False, pooled=False)
    assert noise_freedom(source, "algorithm") == pytest.approx(3998, rel=0.1)
    heavy = checked_lines(noisy_lines.lines("t3", (2000, 2000), rng_of(12)))
    source = population(heavy, np.zeros((2, 8)), shapes=False, pooled=False)
    assert noise_freedom(source, "algorithm") < 1500


def test_effects_are_median_unbiased_and_their_ends_hold():
    rng, n = rng_of(13), 120
    above, inside, true = np.zeros(2), np.zeros(2), np.array([1.0, 1.0])
    ramp = np.linspace(-1, 1, 8)
    size = np.array([1.0, np.linalg.norm(ramp)])
    for _ in range(n):
        design = checked_lines(
            noisy_lines.lines("walk", (8, 8), rng, shift=true[0], ramp=true[1])
        )
        middles = np.stack([g.mean(axis=0) for g in design.groups])
        source = population(design, middles, shapes=True, pooled=False)
        scales = effect_scales(source, (0.9, 0.5, 0.1), rng)
        apart = middles[1] - middles[0]
        seen = np.array([abs(apart.mean()), np.linalg.norm(apart - apart.mean())])
        above += scales[1] * seen > size
        inside += (scales[2] * seen <= size) & (size <= scales[0] * seen)
    for effect in range(2):
        assert_rate(above[effect], n, 0.5)
        assert_at_least(inside[effect], n, 0.78)
        assert inside[effect] < n  # an interval that always holds would be none


def test_fits_never_fall_and_cross_where_they_should():
    powers, times = never_falling({4: (0.5, 100), 5: (0.3, 300), 6: (0.9, 100)})
    assert powers.tolist() == [0.35, 0.35, 0.9]
    assert times == [100, 300, 100]
    sizes = np.array([9, 16, 25])
    along = stats.norm.cdf(np.sqrt(sizes) - 3.2)
    target = float(stats.norm.cdf(np.sqrt(20) - 3.2))
    assert crossing(sizes, along, target) == pytest.approx(20)
    assert crossing(sizes, along, 0.99) is None
    assert crossing(sizes, along, 0.1) == 9


# --- the plan ----------------------------------------------------------------------------

FEW = {"simulations": 200}


def test_powers_are_those_that_were_measured_elsewhere():
    """For 10 and 10 lines of walks, 1.2 apart, .78; for 5 and 5, 1.8 apart, .74."""
    lines = pilot(14, sizes=(1500, 1500))
    for shift, size, power in ((1.2, 10, 0.781), (1.8, 5, 0.739)):
        found = lines_for_power(
            lines, shift=shift, sizes=[size, size + 3], simulations=400, rng=rng_of(15)
        )
        assert_rate(round(400 * found.powers[0]), 400, power)
        assert found.lines in (size, size + 1, size + 2)


@pytest.mark.slow
def test_half_the_difference_takes_four_times_the_lines():
    lines = pilot(16)
    one, half, tiny = (
        lines_for_power(lines, shift=shift, rng=rng_of(17), **FEW)
        for shift in (1.0, 0.5, 0.05)
    )
    assert 3 < half.lines / one.lines < 4.6
    assert one.simulated
    assert not tiny.simulated
    assert 90 < tiny.lines / half.lines < 110
    assert (np.diff(one.powers) >= 0).all()
    assert (np.diff(tiny.powers) >= 0).all()
    for found in (one, half, tiny):
        assert found.interval.lower < found.lines < found.interval.upper
        assert found.scales == (1.0, 1.0)
        assert 0 < found.interval.monte_carlo_error < 0.1 * found.lines
    more = lines_for_power(lines, shift=1.0, power=0.95, rng=rng_of(17), **FEW)
    assert more.lines > one.lines


def test_power_now_is_that_of_the_pilots_lines():
    lines = pilot(18, sizes=(6, 12))
    found = lines_for_power(lines, shift=1.2, rng=rng_of(19), **FEW)
    alike = lines_for_power(lines, shift=1.2, sizes=[6, 12], rng=rng_of(19), **FEW)
    assert found.pilot == (6, 12)
    assert alike.powers[0] - 0.1 < found.now < alike.powers[1] + 0.1
    assert 0 < found.now_error < 0.05


@pytest.mark.slow
def test_no_plan_has_fewer_lines_than_could_be_significant():
    lines = pilot(20)
    few = {"simulations": 100}
    for level, least in ((0.05, 4), (0.01, 5)):
        found = lines_for_power(lines, shift=100.0, level=level, rng=rng_of(21), **few)
        assert (found.least, found.lines) == (least, least)
        assert found.interval.lower == least
        assert found.interval.monte_carlo_error == 0
    assert [lines_to_reach(2, level) for level in (0.05, 0.01, 0.001)] == [4, 5, 7]
    assert [lines_to_reach(3, level) for level in (0.05, 0.01, 0.001)] == [3, 3, 4]
    three = pilot(20, sizes=(8, 8, 8))
    assert lines_for_power(three, shift=100.0, rng=rng_of(21), **few).least == 3
    either = lines_for_power(lines, shift=100.0, effect="either", rng=rng_of(21), **few)
    assert either.least == 5  # each at half the level


def test_a_pilot_that_shows_what_chance_shows_has_no_plan():
    rng = rng_of(22)
    one = rng.normal(size=(8, 5))
    found = lines_for_power([one, one[::-1] + 1e-9], rng=rng, **FEW)
    assert found.lines is None
    assert found.interval.upper == math.inf
    assert math.isnan(found.now)
    assert len(found.sizes) == 0
    assert found.scales[0] == 0
    clear = lines_for_power([one, one[::-1] + 5], rng=rng, **FEW)
    assert clear.lines is not None
    assert math.isfinite(clear.interval.upper)
    assert "effect" in clear.interval.guarantee


def test_a_weak_pilot_has_a_number_without_an_upper_end():
    lines = pilot(23, shift=0.0)
    middles = [g.mean() for g in lines]
    spread = np.sqrt(sum(g.mean(axis=1).var(ddof=1) / 8 for g in lines))
    lines[1] += middles[0] - middles[1] + 1.1 * spread  # t = 1.1
    found = lines_for_power(lines, rng=rng_of(24), **FEW)
    assert found.lines is not None
    assert found.interval.lower < found.lines
    assert found.interval.upper == math.inf


def test_shapes_means_and_any_of_both():
    lines = pilot(25, ramp=1.2)
    shape = lines_for_power(lines, effect="interaction", rng=rng_of(26), **FEW)
    both = lines_for_power(lines, effect="either", rng=rng_of(26), **FEW)
    assert 4 < shape.lines < 40
    assert shape.lines - 3 <= both.lines < 2 * shape.lines
    stretched = lines_for_power(
        [g + 20 for g in lines],
        stretch=1.1,
        effect="interaction",
        rng=rng_of(26),
        **FEW,
    )
    assert stretched.stretch == 1.1
    assert stretched.lines is not None


@pytest.mark.slow
def test_equal_noise_takes_fewer_lines():
    lines = pilot(27, sizes=(20, 20, 20, 20))
    guarded, plain = (
        lines_for_power(
            lines, shift=1.8, sizes=[4, 5, 6, 8, 12], noise=noise, rng=rng_of(28), **FEW
        )
        for noise in ("unequal", "equal")
    )
    assert plain.powers[:3].sum() > guarded.powers[:3].sum()
    assert plain.lines <= guarded.lines


def test_neither_unit_nor_origin_matters_and_the_seed_decides():
    lines = pilot(29, shift=1.0)
    plans = [
        lines_for_power(given, rng=rng_of(30), **FEW)
        for given in (lines, lines, [1e6 * g for g in lines], [g + 1e3 for g in lines])
    ]
    assert len({(p.lines, p.interval.lower, p.interval.upper) for p in plans}) == 1
    other = lines_for_power(lines, rng=rng_of(31), **FEW)
    assert other.powers.tolist() != plans[0].powers.tolist()


def test_sizes_that_do_not_reach_leave_it_to_the_form_for_many():
    lines = pilot(32)
    found = lines_for_power(lines, shift=0.5, sizes=[4, 6], rng=rng_of(33), **FEW)
    free = lines_for_power(lines, shift=0.5, rng=rng_of(33), **FEW)
    assert found.sizes.tolist() == [4, 6]
    assert not found.simulated
    assert found.lines == pytest.approx(free.lines, rel=0.25)


def test_lines_without_noise_of_a_kind_and_perfect_differences():
    rng = rng_of(38)
    noisy = rng.normal(size=(8, 5))
    still = np.tile(np.arange(5.0), (8, 1))
    found = lines_for_power([still, noisy + 9], rng=rng, **FEW)
    assert found.lines == 4
    # Means that are all the same, up to rounding, are no difference and no noise.
    level = [g - g.mean(axis=1, keepdims=True) for g in (noisy, 2 * noisy[::-1])]
    assert lines_for_power(level, rng=rng, **FEW).lines is None
    huge = lines_for_power([noisy, noisy[::-1]], shift=1e100, rng=rng, **FEW)
    assert (huge.lines, huge.interval.monte_carlo_error) == (4, 0)


def test_more_lines_than_anybody_runs_are_none_that_chance_explains():
    noisy = rng_of(38).normal(size=(8, 5))
    tiny = lines_for_power([noisy, noisy[::-1]], shift=1e-9, rng=rng_of(41), **FEW)
    assert (tiny.lines, tiny.directions, tiny.most) == (None, (None, None), 1_000_000)
    assert tiny.is_beyond
    assert tiny.now < 0.2  # chance finds what is not there
    assert tiny.interval.lower == tiny.interval.upper == math.inf
    assert len(tiny.sizes) == len(tiny.powers_lower) == 0
    nothing = lines_for_power([noisy, noisy[::-1] + 1e-9], rng=rng_of(41), **FEW)
    assert nothing.lines is None
    assert not nothing.is_beyond


@pytest.mark.slow
def test_a_stated_difference_is_planned_for_in_both_directions():
    """Skewed lines against still ones: as many above as below takes different numbers."""
    still = noisy_lines.lines("iid", (40,), rng_of(42), sds=0.05)[0]
    skewed = noisy_lines.lines("skew", (40,), rng_of(43))[0]
    one, other = (
        lines_for_power(pair, shift=1.0, simulations=600, rng=rng_of(44))
        for pair in ([still, skewed], [skewed, still])
    )
    for found in (one, other):
        assert found.lines == max(found.directions)
        assert found.lines == found.interval.value
    # Which of the two is named first does not matter, but for chance.
    for mine, theirs in zip(one.directions, reversed(other.directions), strict=True):
        assert abs(mine - theirs) <= 1
    # Lines skewed upward look less noisy where they are low, and are then found below.
    assert one.directions[1] >= one.directions[0] + 2
    alike = lines_for_power([still, still[::-1]], shift=0.03, rng=rng_of(45), **FEW)
    assert abs(np.diff(alike.directions)[0]) <= 0.2 * alike.lines
    assert lines_for_power([still, skewed], rng=rng_of(44), **FEW).directions == ()


def test_either_algorithm_may_be_the_stretched_one():
    lines = pilot(46)
    low, high = lines[0] + 10, lines[1] + 40
    found = lines_for_power([low, high], stretch=1.05, rng=rng_of(47), **FEW)
    of_low, of_high = (
        lines_for_power([low, high], shift=shift, rng=rng_of(47), **FEW).lines
        for shift in (0.5, 2.0)
    )
    # Of the last: 1.05 times the mean line of the first, at about 10; and of the first.
    assert found.directions[0] == pytest.approx(of_low, rel=0.15)
    assert found.directions[1] == pytest.approx(of_high, abs=1)
    assert found.lines == found.directions[0]


def test_powers_have_ends_that_chance_leaves_open():
    lines = pilot(48)
    sizes = [4, 8, 16, 40]
    found = lines_for_power(lines, shift=1.5, sizes=sizes, rng=rng_of(49), **FEW)
    assert (found.powers_lower <= found.powers).all()
    assert (found.powers_upper >= found.powers).all()
    for power, low, high in zip(
        found.powers, found.powers_lower, found.powers_upper, strict=True
    ):
        told = stats.binomtest(round(200 * power), 200).proportion_ci(method="wilson")
        if power * 200 == round(power * 200):  # not pooled with its neighbour
            assert (low, high) == pytest.approx((told.low, told.high), abs=1e-4)
    assert 0 <= found.powers_lower[-1] < 1  # all found is not always found
    assert found.powers_upper[-1] == pytest.approx(1.0)
    many = lines_for_power(lines, shift=0.1, rng=rng_of(49), **FEW)
    assert not many.simulated
    assert (many.powers_upper - many.powers_lower < 0.03).all()


@pytest.mark.slow
def test_many_lines_and_long_ones_cost_little():
    lines = pilot(39, sizes=(150, 200), steps=400, shift=0.3)
    begin = time.process_time()
    found = lines_for_power(lines, effect="either", rng=rng_of(40), **FEW)
    assert time.process_time() - begin < 10
    assert not found.simulated
    assert 0.5 < found.now <= 1
    few = lines_for_power(lines, shift=0.3, sizes=[150, 200], rng=rng_of(40), **FEW)
    now = lines_for_power(lines, shift=0.3, rng=rng_of(40), **FEW).now
    assert few.powers[0] - 0.12 < now < few.powers[1] + 0.12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "sds", "least"),
    [("walk", 1.0, 0.77), ("walk", (1.0, 4.0), 0.77), ("t3", 1.0, 0.73)],
)
def test_a_stated_difference_is_found_as_often_as_planned(kind, sds, least, capsys):
    """On average over pilots of 8 lines: the number is planned, the truth is known."""
    rng, size = rng_of(34), 0.75 * np.mean(sds)
    source = known(kind, shift=size, sds=sds, seed=35, shapes=False)
    reached = []
    for _ in range(60):
        lines = noisy_lines.lines(kind, (8, 8), rng, sds=sds)
        n = lines_for_power(lines, shift=size, rng=rng, **FEW).lines
        found = rejections(
            *(source, (n, n)), levels=ALGORITHM, guarded=True, simulations=100, rng=rng
        )
        reached.append(found[0].mean())
    with capsys.disabled():
        print(f"\n{kind} {sds}: power reached {np.mean(reached):.3f}")
    error = np.std(reached) / np.sqrt(len(reached))
    assert least - 4 * error < np.mean(reached) < 0.84 + 4 * error
    assert np.std(reached) > 0.03  # one pilot's plan is not another's


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"lines": [np.eye(3, 5), np.eye(8, 5)]}, ("lines",)),
        ({"lines": [np.eye(8, 5), np.eye(1, 5)]}, ("lines",)),
        ({"lines": [np.ones((4, 3)), np.zeros((4, 3))]}, ("lines",)),
        ({"power": 1}, ("power",)),
        ({"level": 0}, ("level",)),
        ({"confidence": "a"}, ("confidence",)),
        ({"power": 0.04}, ("power",)),
        ({"effect": "x"}, ("effect",)),
        ({"noise": "x"}, ("noise",)),
        ({"shift": 0}, ("shift",)),
        ({"shift": -2}, ("shift",)),
        ({"shift": math.nan}, ("shift",)),
        (
            {"shift": 1, "effect": "interaction"},
            ("effect", {"stretch": ...}, {"effect": "algorithm"}),
        ),
        ({"stretch": 1}, ("stretch",)),
        ({"shift": 1, "stretch": 2}, ("stretch",)),
        ({"sizes": [1, 5]}, ("sizes",)),
        ({"sizes": []}, ("sizes",)),
        ({"sizes": [2, 3]}, ("sizes",)),
        ({"simulations": 10}, ("simulations",)),
        ({"rng": None}, ("rng",)),
        ({"lines": [[[1.0], [2.0]]] * 2}, ("lines",)),
    ],
)
def test_what_cannot_be_planned_is_refused(changed, expected):
    given = {"lines": pilot(36), "rng": rng_of(37), **FEW} | changed
    with pytest.raises(CurvewiseError) as refused:
        lines_for_power(given.pop("lines"), **given)
    assert said_by(refused.value) == expected
