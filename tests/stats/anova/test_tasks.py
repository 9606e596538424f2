import math
from itertools import combinations, product

import numpy as np
import pytest
from noisy_lines import lines, noise
from refusals import said_by
from scipy import stats
from support import assert_at_least, assert_at_most, assert_rate, data

import curvewise as cw
from curvewise.errors import CurvewiseError
from curvewise.stats.anova.randomized import randomized_anova
from curvewise.stats.anova.tasks import over_tasks
from curvewise.stats.deals import random_deals


def make(effects, sizes=(5, 5), seed=1, kind="walk", sds=(1, 1)):
    """Return tasks on scales 1, 10, 100 and so on; an effect is in sds of a line's mean."""
    rng = np.random.default_rng(seed)
    return simulated(effects, sizes, kind, sds, rng)


def simulated(effects, sizes, kind, sds, rng):
    every = []
    for q, effect in enumerate(effects):
        one, other = lines(kind, sizes, rng, sds=sds)
        every.append([10.0**q * (one + effect * SPREAD), 10.0**q * other])
    return every


SPREAD = noise("walk", (200_000, 8), np.random.default_rng(0)).mean(axis=1).std()


def asked(tasks, seed=2, **more):
    return over_tasks(tasks, rng=np.random.default_rng(seed), **more)


def deviate(x, y):
    """Return Welch's t as a normal deviate, as defined."""
    t = stats.ttest_ind(x, y, equal_var=False)
    f = t.df
    z = math.sqrt(f * math.log1p(t.statistic**2 / f)) * (8 * f + 1) / (8 * f + 3)
    return math.copysign(z, t.statistic)


def test_deviates_are_those_of_welch_and_have_no_scale():
    tasks = make((1, -1, 0), sizes=(5, 8))
    found = asked(tasks, shuffles=99)
    means = [[g.mean(axis=1) for g in own] for own in tasks]
    assert found.z == pytest.approx([deviate(x, y) for x, y in means])
    assert found.difference == pytest.approx([x.mean() - y.mean() for x, y in means])
    # The deviate is a normal one: its tail is that of t, but for the third digit.
    t = stats.ttest_ind(*means[0], equal_var=False)
    assert 2 * stats.norm.sf(abs(found.z[0])) == pytest.approx(t.pvalue, rel=0.02)
    moved = [[3e-200 * g for g in own] for own in tasks]
    assert asked(moved, shuffles=99).z == pytest.approx(found.z)


def test_all_deals_are_gone_through_once():
    """By brute force, from the definition."""
    tasks = make((1, 0.5), sizes=(3, 3))
    found = asked(tasks)
    pooled = [np.concatenate(own).mean(axis=1) for own in tasks]
    own = [
        [
            deviate(x[list(c)], np.delete(x, list(c)))
            for c in combinations(range(6), 3)
        ]
        for x in pooled
    ]  # fmt: skip
    every = np.array(list(product(*own)))
    assert found.is_exact
    assert len(every) == 400
    whole = np.mean(np.abs(every.sum(axis=1)) >= abs(found.z.sum()) - 1e-9)
    somewhere = np.mean((every**2).sum(axis=1) >= (found.z**2).sum() - 1e-9)
    assert found.whole.p == pytest.approx(whole)
    assert found.somewhere.p == pytest.approx(somewhere)


def test_reversal_by_brute_force():
    tasks = make((1.5, -1.5, 0.2), sizes=(3, 3))
    found = asked(tasks, exact=True)
    pooled = [np.concatenate(own).mean(axis=1) for own in tasks]
    own = [
        [
            deviate(x[list(c)], np.delete(x, list(c)))
            for c in combinations(range(6), 3)
        ]
        for x in pooled
    ]  # fmt: skip
    every = np.array(list(product(*own)))
    p = []
    for sign in (1, -1):
        q = (np.maximum(sign * found.z, 0) ** 2).sum()
        for left_out in range(3):
            rest = np.delete(np.maximum(sign * every, 0) ** 2, left_out, axis=1)
            p.append(np.mean(rest.sum(axis=1) >= q - 1e-9))
    assert found.reversal.p == pytest.approx(max(p))


def test_one_task_is_a_pair():
    """Both questions are then that of the Algorithm effect."""
    own = make((1.2,), sizes=(6, 7))
    found = asked(own)
    pair = randomized_anova(own[0], rng=np.random.default_rng(1))
    p = pair.tests["algorithm"].shuffles.p
    assert found.whole.p_shuffles == pytest.approx(p)
    assert found.somewhere.p_shuffles == pytest.approx(p)
    assert found.whole.p_flips == pytest.approx(
        pair.tests["algorithm"].flips.p, abs=0.02
    )
    assert found.reversal.p == 1


def test_random_deals_agree_with_all():
    tasks = make((0.8, 0.8), sizes=(4, 5))
    exact, drawn = asked(tasks, exact=True), asked(tasks, exact=False)
    assert exact.is_exact
    assert not drawn.is_exact
    for name in ("whole", "somewhere", "reversal"):
        one, other = getattr(exact, name), getattr(drawn, name)
        assert one.p_shuffles == pytest.approx(other.p_shuffles, abs=0.02)
        assert one.p == max(one.p_shuffles, one.p_flips)


def test_it_turns_round_with_the_algorithms():
    tasks = make((1, 1, 1))
    there = asked(tasks, shuffles=199)
    back = asked([own[::-1] for own in tasks], shuffles=199)
    assert back.z == pytest.approx(-there.z)


def test_names_are_matched():
    one, two = make((3, 3), sizes=(8, 8))
    named = {
        "walk": {"new": one[0], "old": one[1]},
        "run": {"old": two[1], "new": two[0]},
    }
    found = asked(named)
    assert found.algorithms == ("new", "old")
    assert found.tasks == ("walk", "run")
    assert (found.z > 0).all()
    assert found.whole.is_rejected
    turned = asked({task: dict(reversed(own.items())) for task, own in named.items()})
    assert turned.whole.is_rejected
    assert turned.algorithms == ("old", "new")
    assert (turned.z < 0).all()


def test_tasks_may_have_steps_and_lines_of_their_own():
    rng = np.random.default_rng(3)
    tasks = {
        "short": lines("iid", (5, 6), rng, steps=3),
        "long": lines("iid", (7, 4), rng, steps=50),
    }
    found = asked(tasks, shuffles=199)
    assert found.z.shape == (2,)
    assert found.is_guarded


def test_it_says_whether_it_depends_on_the_task():
    some = asked(make((4, -4, 0), sizes=(8, 8)))
    assert some.depends_on_task
    one = asked(make((4, 0, 0, 0, 0, 0), sizes=(8, 8), seed=4), shuffles=4999)
    assert one.somewhere.is_rejected
    assert not one.depends_on_task
    assert not one.whole.is_rejected
    assert not one.reversal.is_rejected
    all_of_them = asked(make((2, 2, 2), sizes=(8, 8)))
    assert not all_of_them.depends_on_task
    both = asked(make((6, 6, 6, 6, -6, -6), sizes=(8, 8)))
    assert both.whole.is_rejected
    assert both.reversal.is_rejected
    assert not both.depends_on_task
    none = asked(make((0, 0, 0), seed=3))
    tests = (none.whole, none.somewhere, none.reversal)
    assert not any(test.is_rejected or test.cannot_reject for test in tests)


@pytest.mark.parametrize(
    ("sizes", "tasks", "whole", "somewhere"),
    [
        ((3, 3), 1, 0.1, 0.1),
        ((3, 3), 2, 2 / 400, 1 / 100),
        ((4, 4), 2, 2 / 70**2, 1 / 35**2),
        ((3, 4), 2, 1 / 35**2, 1 / 35**2),
    ],
)
def test_the_smallest_p_is_that_of_lines_perfectly_apart(
    sizes, tasks, whole, somewhere
):
    found = asked(make((1e6,) * tasks, sizes=sizes), exact=True)
    assert found.whole.smallest_p == pytest.approx(whole)
    assert found.somewhere.smallest_p == pytest.approx(somewhere)
    assert found.whole.p_shuffles == pytest.approx(whole)
    assert found.somewhere.p_shuffles == pytest.approx(somewhere)


def test_random_deals_have_a_smallest_p_of_their_own():
    found = asked(make((9,) * 4, sizes=(8, 8)), shuffles=199)
    assert found.whole.smallest_p == 1 / 200
    found = asked(make((0,) * 100, sizes=(9, 9)), shuffles=99)
    assert found.somewhere.smallest_p == 1 / 100


def test_what_cannot_be_rejected_is_not_called_equal():
    found = asked(make((9,), sizes=(3, 3)))
    assert found.whole.cannot_reject
    assert found.somewhere.cannot_reject
    smallest = (found.whole.smallest_p, found.somewhere.smallest_p)
    assert smallest == pytest.approx((0.1, 0.1))
    assert not found.is_guarded
    assert not found.whole.is_rejected


def test_three_lines_are_shuffled_only():
    found = asked(make((1, 1), sizes=(3, 5)))
    assert not found.is_guarded
    assert found.whole.p_flips is None
    assert found.whole.p == found.whole.p_shuffles


def test_lines_without_spread():
    flat = [np.full((4, 7), 0.1), np.full((4, 7), 0.1)]
    found = asked([flat, [3 * flat[0], 0.3 * np.ones((4, 7))]])
    assert found.z.tolist() == [0, 0]
    assert found.whole.p == found.somewhere.p == found.reversal.p == 1


def test_many_draws_take_little_memory(monkeypatch):
    """Batches are counted and not kept, and do not change how often chance is asked."""
    monkeypatch.setattr("curvewise.stats.anova.draws.BATCH", 4000)
    found = asked(make((0.5,) * 3), shuffles=2000, exact=False)
    assert 0 < found.whole.p < 1


def test_the_same_seed_gives_the_same_answer():
    tasks = make((0.5,) * 3)
    one, same, other = asked(tasks), asked(tasks), asked(tasks, seed=3)
    assert one.whole.p == same.whole.p
    assert one.whole.p_flips != other.whole.p_flips


@pytest.mark.parametrize(
    ("tasks", "argument", "value"),
    [
        (7, "tasks", 7),
        ({}, "tasks", {}),
        ({"walk": [np.ones((3, 2))] * 3}, "tasks", "walk"),
        ({"walk": [np.ones((3, 2)), np.ones((1, 2))]}, "tasks", "walk"),
        (
            {
                "walk": {"a": np.ones((3, 2)), "b": np.ones((3, 2))},
                "run": {"a": np.ones((3, 2)), "c": np.ones((3, 2))},
            },
            "algorithm",
            "c",
        ),
    ],
)
def test_tasks_are_checked(tasks, argument, value):
    with pytest.raises(CurvewiseError) as refused:
        asked(tasks)
    assert (refused.value.argument, refused.value.value) == (argument, value)


def test_options_are_checked():
    tasks = make((0,) * 5, sizes=(9, 9))
    with pytest.raises(CurvewiseError) as refused:
        asked(tasks, exact=True)
    assert said_by(refused.value) == ("exact", {"exact": False})
    with pytest.raises(CurvewiseError, match="exact is 'yes'"):
        asked(tasks, exact="yes")
    with pytest.raises(CurvewiseError, match="level is 5"):
        asked(tasks, level=5)
    with pytest.raises(CurvewiseError, match="shuffles is 10"):
        asked(tasks, shuffles=10)
    with pytest.raises(CurvewiseError, match="rng is None"):
        over_tasks(tasks, rng=None)


# --------------------------------------------------------------------------- real curves


@pytest.fixture(scope="module")
def curves():
    """Return eight lines of four algorithms on three tasks, by task and algorithm."""
    trials = cw.read(
        data("control_curves/curves.parquet"),
        runs=data("control_curves/runs.csv"),
        on="run",
        task="env",
        algorithm="algo",
        trial="seed",
        metrics=["return"],
    )
    tasks = ("HalfCheetah-v2", "Hopper-v2", "Walker2d-v2")
    return {
        task: dict(
            trials.where(task=task).lines("return", grid=60, fill="linear").items()
        )
        for task in tasks
    }


@pytest.mark.parametrize(
    ("pair", "whole", "somewhere"),
    [
        (("DDPG", "PPO"), 0.211, 0.0001),
        (("DDPG", "SAC"), 0.0001, 0.0001),
        (("DDPG", "TD3"), 0.0001, 0.0001),
        (("PPO", "SAC"), 0.0001, 0.0001),
        (("PPO", "TD3"), 0.0001, 0.0001),
        (("SAC", "TD3"), 0.0061, 0.0321),
    ],
)
def test_real_curves_have_the_p_values_that_were_found_before(
    curves, pair, whole, somewhere
):
    found = asked({task: {a: own[a] for a in pair} for task, own in curves.items()})
    assert found.whole.p == pytest.approx(whole, rel=0.2, abs=2e-4)
    assert found.somewhere.p == pytest.approx(somewhere, rel=0.2, abs=2e-4)
    assert found.depends_on_task == (whole > 0.05)
    if found.depends_on_task:
        assert found.reversal.is_rejected
        assert not found.whole.is_rejected


# ----------------------------------------------------------------------- level and power


def raw_sum(tasks, rng, draws):
    """Return the p value of the sum of raw differences, lines shuffled within tasks."""
    seen, drawn = 0.0, np.zeros(draws)
    for one, other in tasks:
        x = np.concatenate((one, other)).mean(axis=1)
        (labels,) = random_deals((len(one), len(other)), draws, rng=rng)
        drawn += np.where(labels == 0, 1 / len(one), -1 / len(other)) @ x
        seen += x[: len(one)].mean() - x[len(one) :].mean()
    return (1 + np.sum(np.abs(drawn) >= abs(seen))) / (1 + draws)


def rejected(effects, sizes, sds, reps, seed, kind="walk", draws=399):
    """Return how often: raw sum, whole, somewhere, reversal. Effects as published."""
    rng = np.random.default_rng(seed)
    hits = np.zeros(4, int)
    for _ in range(reps):
        own = simulated(0.84 * np.array(effects), sizes, kind, sds, rng)
        found = over_tasks(own, shuffles=draws, exact=False, rng=rng)
        tests = (found.whole, found.somewhere, found.reversal)
        hits[0] += raw_sum(own, rng, draws) <= 0.05
        hits[1:] += [test.is_rejected for test in tests]
    return hits


def test_unequal_noise_does_not_break_the_level_as_it_does_for_raw_scores():
    n = 150
    raw, whole, somewhere, _ = rejected((0, 0, 0), (5, 15), (4, 1), n, 5, draws=199)
    assert_at_most(whole, n, 0.06)
    assert_at_most(somewhere, n, 0.06)
    assert_rate(raw, n, 0.257)  # the negative control: that far off
    with pytest.raises(AssertionError):
        assert_at_most(raw, n, 0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "sizes", "sds", "raw", "whole", "somewhere"),
    [
        (3, (5, 5), (1, 1), 0.045, 0.043, 0.039),
        (3, (5, 5), (4, 1), 0.088, 0.052, 0.057),
        (10, (5, 5), (4, 1), 0.077, 0.048, 0.051),
        (3, (5, 15), (4, 1), 0.257, 0.045, 0.043),
    ],
)
def test_levels_are_those_measured_before(tasks, sizes, sds, raw, whole, somewhere):
    n = 2000
    hits = rejected((0,) * tasks, sizes, sds, n, 6)
    print(tasks, sizes, sds, hits / n)
    for hit, rate in zip(hits, (raw, whole, somewhere), strict=False):
        assert_rate(hit, n, rate)
    assert_at_most(hits[3], n, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("effects", "sizes", "whole", "somewhere"),
    [
        ((0.9,) * 3, (8, 8), 0.672, 0.474),
        ((0.9,) * 10, (5, 5), 0.942, 0.584),
        ((1.8, 0, 0), (8, 8), 0.286, 0.557),
        ((1.6, -1.6, 0), (8, 8), 0.030, 0.820),
    ],
)
def test_power_is_that_measured_before(effects, sizes, whole, somewhere):
    n = 1000
    hits = rejected(effects, sizes, (1, 1), n, 7)
    print(effects, sizes, hits / n)
    assert_rate(hits[2], n, somewhere)
    if min(effects) < 0:
        assert_at_most(hits[1], n, whole)  # nothing to be found
        assert_at_least(hits[3], n, 0.4)
    else:
        assert_rate(hits[1], n, whole)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["walk", "t3", "skew"])
@pytest.mark.parametrize("far", [9, -9])
@pytest.mark.parametrize(("sizes", "sds"), [((8, 8), (1, 1)), ((5, 15), (4, 1))])
def test_a_far_difference_on_one_task_is_no_reversal(kind, far, sizes, sds):
    """The hardest case: with all tasks counted, the level would not be kept."""
    n = 2000
    hits = rejected((far, 0, 0), sizes, sds, n, 8, kind=kind)
    print(kind, far, sizes, sds, hits / n)
    assert_at_most(hits[3], n, 0.06)
