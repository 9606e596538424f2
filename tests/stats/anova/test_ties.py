"""Ties and rounding: what is the same in exact arithmetic is judged the same."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from curvewise.stats.anova.answers import Draws
from curvewise.stats.anova.contrasts import all_pairs
from curvewise.stats.anova.draws import least, welch_f
from curvewise.stats.anova.randomized import randomized_anova
from curvewise.stats.anova.tasks import over_tasks
from curvewise.stats.deals import all_deals

BOTH = ("algorithm", "interaction")
WAYS = ({}, {"noise": "equal"}, {"null": "joint"})


def asked(lines, **how):
    return randomized_anova(lines, rng=np.random.default_rng(1), **how)


def fixed(lines, **how):
    return asked(lines, shuffles=19, most=19, exact=True, **how)


def far_apart(seed, effect, sizes=(5, 5), steps=20):
    """Noise of 1, and an effect in shape and height."""
    rng = np.random.default_rng(seed)
    lines = [rng.normal(size=(size, steps)) for size in sizes]
    lines[-1] += effect * np.linspace(0, 1, steps)
    return lines


@pytest.mark.parametrize("effect", [2e3, 2e4, 1e6, 1e9])
@pytest.mark.parametrize("how", WAYS)
def test_the_lines_as_they_came_are_found_among_all_deals(how, effect):
    for seed in range(20):
        found = fixed(far_apart(seed, effect), **how)
        for test in found.tests.values():
            assert test.shuffles.p == test.shuffles.smallest_p == 1 / 126
            assert test.shuffles.observed in test.shuffles.values


@pytest.mark.parametrize("effect", [1e3, 1e5, 1e7])
def test_and_among_all_deals_within_tasks(effect):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        tasks = [
            [rng.normal(size=(4, 3)), effect + rng.normal(size=(4, 3))]
            for _ in range(2)
        ]
        found = over_tasks(tasks, exact=True, shuffles=99, rng=rng)
        assert found.whole.p_shuffles == pytest.approx(2 / 70**2)
        assert found.somewhere.p_shuffles == pytest.approx(1 / 35**2)


def squares(groups):
    """Between and within, step by step added up, in exact arithmetic."""
    every = [x for group in groups for x in group]
    steps = range(len(every[0]))
    middle = [sum(x[h] for x in every) / len(every) for h in steps]
    means = [[sum(x[h] for x in g) / len(g) for h in steps] for g in groups]
    between = sum(
        len(g) * sum((a - b) ** 2 for a, b in zip(mean, middle, strict=True))
        for g, mean in zip(groups, means, strict=True)
    )
    within = [
        sum(sum((x[h] - mean[h]) ** 2 for h in steps) for x in g)
        for g, mean in zip(groups, means, strict=True)
    ]
    return between, within, means


def ratio(over, under):
    return over / under if under else (math.inf if over else Fraction(0))


def statistics(groups):
    """F of means, F of shapes, both joint, and the ANOVA-type statistic."""
    steps = len(groups[0][0])
    heights = [[[sum(x) / steps] for x in g] for g in groups]
    shapes = [[[a - sum(x) / steps for a in x] for x in g] for g in groups]
    (a, within_a, _), (b, within_b, means) = squares(heights), squares(shapes)
    error = steps * sum(within_a) + sum(within_b)
    middle = [sum(column) / len(means) for column in zip(*means, strict=True)]
    apart = sum(
        sum((x - y) ** 2 for x, y in zip(m, middle, strict=True)) for m in means
    )
    noise = sum(
        w / (len(g) * (len(g) - 1)) for w, g in zip(within_b, groups, strict=True)
    )
    return (
        ratio(a, sum(within_a)), ratio(b, sum(within_b)),
        ratio(a, error), ratio(b, error), ratio(apart, noise),
    )  # fmt: skip


def tied_lines(rng, sizes, steps):
    """Few different lines, so that many deals are the same; as fractions."""
    parts = int(rng.choice([1, 3, 10]))
    effect, origin = 10 ** int(rng.integers(0, 6)), int(rng.choice([0, 1000, 10**8]))
    pool = rng.integers(0, 3, (4, steps))
    curve = rng.integers(-1, 2, steps)
    # The last two of three are alike: deals among them are as perfect as another.
    is_other = np.repeat(np.arange(len(sizes)), sizes) > 0
    raw = pool[rng.integers(0, 4, sum(sizes))] + effect * is_other[:, None] * curve
    return [[Fraction(int(x) + parts * origin, parts) for x in line] for line in raw]


@pytest.mark.parametrize("sizes", [(4, 4), (3, 3, 3), (3, 5), (2, 3, 2)])
@pytest.mark.slow
def test_ties_are_those_of_exact_arithmetic_or_more(sizes):
    rng = np.random.default_rng(7)
    deals = np.vstack(list(all_deals(sizes)))
    same = lost = asked_about = 0
    for _ in range(12):
        lines = tied_lines(rng, sizes, int(rng.integers(2, 6)))
        values = np.array([[float(x) for x in line] for line in lines])
        if np.ptp(values, axis=0).max() == 0:
            continue
        dealt = [
            statistics([
                [x for x, to in zip(lines, deal, strict=True) if to == i]
                for i in range(len(sizes))
            ])
            for deal in deals
        ]  # fmt: skip
        exact = [
            np.mean([x >= own[0] for x in own]) for own in zip(*dealt, strict=True)
        ]
        groups = np.split(values, np.cumsum(sizes)[:-1])
        shuffles = [
            fixed(groups, **how).tests[effect].shuffles
            for how, effects in (
                ({"noise": "equal"}, BOTH), ({"null": "joint"}, BOTH), ({}, BOTH[1:]),
            )
            for effect in effects
        ]  # fmt: skip
        for draws, p in zip(shuffles, exact, strict=True):
            assert draws.p >= p - 1e-12
            asked_about += 1
            same += draws.p == pytest.approx(p)
            lost += np.mean(draws.values >= draws.observed) < p - 1e-12
    assert same >= 0.95 * asked_about
    if len(sizes) > 2:  # the negative control: compared to the last digit
        assert lost > 0


@pytest.mark.parametrize("origin", [1e6, -1e8, 2.0**30])
def test_an_origin_does_not_change_what_is_tied(origin):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        lines = [rng.integers(0, 2, size=(5, 5)).astype(float) for _ in range(2)]
        for how in WAYS:
            one, two = fixed(lines, **how), fixed([x + origin for x in lines], **how)
            for effect in BOTH:
                assert one.p(effect) == two.p(effect)


def test_small_noise_on_a_large_origin():
    rng = np.random.default_rng(1)
    near = [1e-4 * rng.normal(size=(8, 6)) + i * 3e-4 for i in range(3)]
    far = [1e9 + x for x in near]
    near = [x - 1e9 for x in far]  # as the others were rounded
    for how in ({}, {"interaction": "max_t"}):
        one, two = (asked(x, shuffles=199, most=199, **how) for x in (near, far))
        for effect in BOTH:
            assert two.p(effect) == pytest.approx(one.p(effect), abs=0.011)
        assert two.p("algorithm") <= 0.01
    one, two = (
        over_tasks([x[:2], x[1:]], rng=np.random.default_rng(1)) for x in (near, far)
    )
    assert two.whole.p == pytest.approx(one.whole.p, abs=2e-4)
    assert two.z == pytest.approx(one.z, rel=1e-3)
    assert two.difference == pytest.approx(one.difference, rel=1e-3)


@pytest.mark.parametrize("large", [1e7, 1e10])
@pytest.mark.parametrize("how", WAYS[:2])
def test_a_diverged_line_does_not_tie_all_deals(how, large):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        lines = [rng.normal(size=(4, 3)), 1.5 + rng.normal(size=(5, 3))]
        lines[0][1] *= large
        exact = [[Fraction(x) for x in line] for line in np.concatenate(lines)]
        dealt = [
            statistics([
                [x for x, to in zip(exact, deal, strict=True) if to == i]
                for i in range(2)
            ])
            for deal in np.vstack(list(all_deals((4, 5))))
        ]  # fmt: skip
        shape = [own[1 if how else 4] for own in dealt]
        p = np.mean([x >= shape[0] for x in shape])
        assert fixed(lines, **how).tests["interaction"].shuffles.p == pytest.approx(p)


@pytest.mark.parametrize("sizes", [(4, 4), (3, 3, 3)])
def test_rejected_is_what_reaches_the_critical_value_of_all_deals(sizes):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        lines = [rng.integers(0, 3, (n, 3)) + 0.5 * i for i, n in enumerate(sizes)]
        for how in WAYS:
            found = fixed(lines, **how)
            for effect in BOTH:
                draws = found.tests[effect].shuffles
                for level in (0.05, 0.1, 0.2):
                    critical = found.critical_value(effect, level)
                    assert (draws.observed >= critical) == (draws.p <= level)
                    # Nor does the last digit of what is compared with it matter.
                    if math.isfinite(critical) and draws.p <= level:
                        assert draws.observed * (1 - 1e-15) >= critical


def test_what_is_tied_is_bounded():
    assert least(np.array(math.inf), 1e3) == math.inf
    assert least(np.array(0.0), 1e-12) < 0
    assert least(np.array(1e10), 50.0) > 1e8
    values = np.array([1.0, 2.0, 2.0 + 1e-9, 9.0])
    assert Draws(values, 2.0 + 1e-9, "all", True, 1e-12, 0.25).exceeding == 2
    assert Draws(values, 2.0 + 1e-9, "all", True, 1e-8, 0.25).exceeding == 3


# ------------------------------------------------------------------------ without noise


def deterministic(*heights, size=5, ramp=0.0):
    return [np.full((size, 4), h) + ramp * h * np.arange(4.0) for h in heights]


@pytest.mark.parametrize("origin", [0, 0.1, 1e12])
def test_algorithms_without_noise_differ(origin):
    for lines in (deterministic(0.0, 1.0), deterministic(0.0, 1.0, 2.0)):
        found = asked([x + origin for x in lines])
        assert found.p("algorithm") == max(found.smallest_p, 1e-4)
        assert found.p("interaction") == 1
        assert found.decision("algorithm") == "rejected"
        flips = found.tests["algorithm"].flips
        assert flips.observed > 1e20
        assert flips.values.max() < 1e3
    both = asked([x + origin for x in deterministic(0.0, 1.0, 2.0, ramp=1.0)])
    assert both.p("algorithm") == both.p("interaction") == 1e-4


def test_pairs_of_algorithms_without_noise_differ():
    lines = deterministic(0.0, 1.0, 2.0)
    for method in ("holm", "closed"):
        pairs = all_pairs(lines, method=method, rng=np.random.default_rng(1))
        assert [pair.is_rejected("algorithm") for pair in pairs] == [True] * 3


def test_welch_without_variances():
    sizes = np.array([5.0, 4.0, 6.0])
    means = np.array([[0.0, 1.0, 1.0, 0.0], [0.0, 2.0, 1.0, 0.0], [0.0, 2.0, 3.0, 1.0]])
    variances = np.zeros((3, 4))
    f, df = welch_f(means, variances, sizes)
    assert f.tolist() == [0, math.inf, math.inf, math.inf]
    assert np.isfinite(df).all()
    variances[2, 2:] = [1.0, 6.0]
    f, _ = welch_f(means, variances, sizes)
    assert f.tolist()[:2] == [0, math.inf]
    # The first two are one, known exactly; the third is 1 off, with a variance of 6 / 6.
    h = ((1 - 5 / 9) ** 2 / 4 + (1 - 4 / 9) ** 2 / 3 + 1 / 5) / 4
    assert f[3] == pytest.approx(1 / 2 / (1 + h))
    assert f[2] == pytest.approx(2 / (1 / 6) / (1 + h))
    variances[:2] = 1e-12  # as it was: nothing else changes
    assert welch_f(means, variances, sizes)[0][3] == pytest.approx(f[3])
    alone, _ = welch_f(means[:, 1], np.zeros(3), sizes)
    assert alone == math.inf


def shifted(seed, origin=0.0):
    """Lines that differ in height only, and in rounding."""
    rng = np.random.default_rng(seed)
    curve = rng.normal(size=6)
    return [origin + 1000 * i + 3 * rng.normal(size=(6, 1)) + curve for i in range(2)]


@pytest.mark.parametrize("interaction", ["ats", "max_t"])
@pytest.mark.parametrize("origin", [0, 1e6])
def test_rounding_is_no_interaction(interaction, origin):
    for seed in range(20):
        found = asked(
            shifted(seed, origin), interaction=interaction, shuffles=199, most=199
        )
        assert found.p("interaction") == 1
        assert found.p("algorithm") < 0.05


@pytest.mark.parametrize("unit", [2.0**430, 2.0**-430])
def test_the_largest_welch_does_not_depend_on_the_unit(unit):
    lines = far_apart(3, 2.0, sizes=(6, 6), steps=5)
    how = {"interaction": "max_t", "shuffles": 199, "most": 199}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, two = asked(lines, **how), asked([unit * x for x in lines], **how)
    for effect in BOTH:
        assert one.p(effect) == two.p(effect)
        values = (x.tests[effect].flips.values for x in (one, two))
        assert np.array_equal(*values)


# ---------------------------------------------------------------- what cannot be rejected


def test_few_draws_ask_for_draws_and_few_lines_for_lines():
    def smallest(found):
        draws = found.tests["algorithm"].draws
        assert found.decision("algorithm") == "cannot reject"
        return max(d.floor for d in draws), found.smallest_p

    lines = far_apart(3, 0.0, sizes=(10, 10), steps=4)
    few = {"shuffles": 19, "most": 19, "exact": False, "level": 0.01}
    of_lines, of_draws = smallest(asked(lines, **few))
    assert of_lines < 0.01 < of_draws == 1 / 20
    lines = [x[:3] for x in lines]
    found = asked(lines, **few)
    assert smallest(found) == (1 / 10, 1 / 10)
    assert found.lines_to_reject() == 5
    found = asked(lines, **few | {"exact": True})
    assert smallest(found) == (1 / 10, 1 / 10)
    assert found.lines_to_reject() == 5
    # More shuffles do not help where all flips there are were made.
    lines = far_apart(3, 0.0, sizes=(4, 4, 4), steps=4)
    found = asked(lines, level=3e-4)
    assert min(smallest(found)) > 3e-4
    assert found.lines_to_reject() == 5


def test_no_p_is_smaller_than_the_smallest():
    """Few deals, drawn at random, can all look unlike the lines as they came."""
    below = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        lines = [5 + rng.normal(size=(1, 3)), rng.normal(size=(6, 3))]
        found = randomized_anova(
            lines, noise="equal", exact=False, shuffles=99, most=99, level=0.13, rng=rng
        )
        draws = found.tests["algorithm"].shuffles
        assert found.p("algorithm") >= found.smallest_p == 1 / 7
        assert found.p_interval("algorithm").lower >= 1 / 7
        assert found.decision("algorithm") == "cannot reject"
        assert found.critical_value("algorithm") == math.inf
        below += (1 + draws.exceeding) / 100 < 1 / 7
    assert below > 0  # by chance alone
    tasks = [[100 + rng.normal(size=(3, 2)), rng.normal(size=(3, 2))]]
    for seed in range(30):
        found = over_tasks(
            tasks, exact=False, shuffles=99, rng=np.random.default_rng(seed)
        )
        assert found.whole.p >= found.whole.smallest_p == pytest.approx(1 / 10)
