"""Answers about real curves, held against what came later.

LCDB 1.0 (Mohr et al., ECML-PKDD 2022): 268 curves of 25 runs, cut off after 80 or 50 % of
their sizes. The factors of `extrapolate` were learnt on these curves, among others, so that
this is no test on new data: scripts/coverage_extrapolation.py is, for the intervals below.
"""

import itertools
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from support import assert_at_least, assert_at_most, assert_rate, data

from curvewise.stats.learning import (
    chance_best,
    chance_better,
    data_multiplier,
    extrapolate,
    point_multiplier,
    shared_noise,
    size_for,
)
from curvewise.stats.powerlaw import fit_power_law

SCRIPTS = Path(__file__).parents[3] / "scripts"
SHARES = (0.8, 0.5)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def curves():
    path = data("learning_curves/lcdb10_curves.parquet")
    sys.path.insert(0, str(SCRIPTS))
    import extrapolation_curves

    yield list(extrapolation_curves._runs(path))
    sys.path.remove(str(SCRIPTS))


def seen(curve, share):
    """Return how many sizes are seen, and the runs at each of them, with their ids."""
    k = max(3, round(share * len(curve.sizes)))
    columns = curve.table[:, :k].T
    ids = [np.flatnonzero(~np.isnan(column)) for column in columns]
    return k, [c[i] for c, i in zip(columns, ids, strict=True)], ids


@pytest.fixture(scope="module")
def fits(curves):
    return {
        share: [
            extrapolate(c.sizes[:k], errors, to=c.sizes[-1])
            for c in curves
            for k, errors, _ in [seen(c, share)]
        ]
        for share in SHARES
    }


def rivals(curves):
    """Return the places of learners on one data set with the same sizes, by data set."""
    groups = defaultdict(list)
    for i, curve in enumerate(curves):
        groups[curve.dataset, curve.sizes.tobytes()].append(i)
    return groups.values()


# --- who is better -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def pairs(curves, fits):
    """Return, by share: chance without and with shared noise, and who was better."""
    found = {share: [] for share in SHARES}
    for share, group in itertools.product(SHARES, rivals(curves)):
        for i, j in itertools.combinations(group, 2):
            a, b = curves[i], curves[j]
            k, errors_a, runs_a = seen(a, share)
            _, errors_b, runs_b = seen(b, share)
            rho = shared_noise(
                a.sizes[:k], errors_a, errors_b, runs_a=runs_a, runs_b=runs_b
            )
            one, other, n = fits[share][i], fits[share][j], a.sizes[-1]
            chances = [
                chance_better(one, other, n, correlation=r)[0] for r in (0.0, rho)
            ]
            found[share].append((*chances, a.truth[-1] < b.truth[-1]))
    return {share: np.array(rows, dtype=float) for share, rows in found.items()}


def is_calibrated(chance, is_better):
    """Whether those who are said to be better are so, as often as it is said, in bins."""
    sure = np.maximum(chance, 1 - chance)
    is_right = (chance > 0.5) == is_better
    worst = 1.0
    for low, high in itertools.pairwise((0.5, 0.7, 0.9, 0.975, 1.01)):
        use = (sure >= low) & (sure < high)
        print(
            f"said {sure[use].mean():.3f}, right {is_right[use].mean():.3f}", end="; "
        )
        variance = (sure * (1 - sure))[use].sum()
        z = (is_right[use].sum() - sure[use].sum()) / np.sqrt(variance)
        # Pairs share a learner, so that z spreads a little more than it would.
        worst = min(worst, 2 * ndtr(-abs(z) / 1.2))
    print(f"least p {worst:.3f}")
    return worst > 1e-3


@pytest.mark.parametrize("column", [0, 1], ids=["apart", "shared noise"])
@pytest.mark.parametrize("share", SHARES)
def test_a_chance_to_be_better_is_kept(pairs, share, column):
    """Measured on 201 pairs: said .88 and .77 on average, right in .91 and .80."""
    chance, is_better = pairs[share][:, column], pairs[share][:, 2] == 1
    assert len(chance) > 150
    assert is_calibrated(chance, is_better)
    # The negative control: three times as sure.
    assert not is_calibrated(ndtr(3 * ndtri(chance.clip(1e-9, 1 - 1e-9))), is_better)


def test_who_is_said_to_be_better_for_sure_is(pairs):
    """All 98 pairs, from .975 on, were right: 77 from 80 % of the sizes, 21 from half."""
    rows = np.concatenate(list(pairs.values()))
    is_sure = np.abs(rows[:, 0] - 0.5) > 0.475
    right = (rows[:, 0] > 0.5) == (rows[:, 2] == 1)
    assert is_sure.sum() > 80
    assert_at_least(right[is_sure].sum(), is_sure.sum(), 0.975)
    # The negative control: those who are merely ahead at the end of what was seen.
    assert not right.mean() > 0.975


@pytest.mark.parametrize("share", SHARES)
def test_who_is_best_of_several_is_as_often_as_it_says(curves, fits, share):
    said, right, guess, many = 0.0, 0, 0.0, 0
    for group in rivals(curves):
        if len(group) > 1:
            n = curves[group[0]].sizes[-1]
            chance = chance_best([fits[share][i] for i in group], n)[:, 0]
            last = [curves[i].truth[-1] for i in group]
            said += chance.max()
            right += np.argmax(chance) == np.argmin(last)
            guess += 1 / len(group)
            many += 1
    print(
        f"best of several: said {said / many:.3f}, right {right / many:.3f} of {many}"
    )
    assert_rate(right, many, said / many, false_alarm=1e-3)
    assert_at_least(right, many, guess / many)
    with pytest.raises(AssertionError):
        assert_rate(right, many, guess / many, false_alarm=1e-3)


# --- how much data an error takes --------------------------------------------------------


@pytest.mark.parametrize("share", SHARES)
def test_the_size_that_an_error_took_is_in_its_interval(curves, fits, share):
    """Errors that were reached at a later size for the first time.

    The upper end is infinite in nearly all, as the error may never be reached: all misses
    are sizes below the lower end. Errors far below those seen, of which few curves reach
    any, are reached earlier than was thought more often than that: half the last error in
    a quarter of the eight curves (80 %) and a fifth of 33 (50 %) that did.
    """
    held = np.zeros(3)
    for curve, fit in zip(curves, fits[share], strict=True):
        n, truth = curve.sizes, curve.truth
        for j in range(seen(curve, share)[0], len(n)):
            if truth[j] < truth[:j].min():
                wide, half = (
                    size_for(fit, float(truth[j]), confidence=c).interval
                    for c in (0.95, 0.5)
                )
                held += n[j] in wide, n[j] in half, 1
    print(
        f"size_for, {share:.0%} seen: {held[0]:g} of {held[2]:g}; at 50 % {held[1]:g}"
    )
    assert_at_least(held[0], held[2], 0.95)
    assert_at_most(held[0], held[2], 0.99)
    # The negative control: intervals of 50 % do not hold 95.
    with pytest.raises(AssertionError):
        assert_at_least(held[1], held[2], 0.95)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("part", [0.95, 0.8])
def test_as_many_curves_reach_an_error_as_are_said_to(curves, fits, share, part):
    """A share of the lowest error that was seen, by the last size."""
    said, reached = [], []
    for curve, fit in zip(curves, fits[share], strict=True):
        k = seen(curve, share)[0]
        wanted = part * float(curve.truth[:k].min())
        said.append(size_for(fit, wanted).chance([curve.sizes[-1]])[0])
        reached.append(curve.truth[-1] <= wanted)
    said, reached = np.array(said), np.array(reached)
    print(
        f"{part:g} of the last error: said {said.mean():.3f}, {reached.mean():.3f} did"
    )
    spread = np.sqrt((said * (1 - said)).sum())
    assert abs(reached.sum() - said.sum()) < 3.5 * spread
    # The negative control: the half of curves with the larger chances is not the other.
    order = np.argsort(said)
    first, last = order[: len(order) // 2], order[len(order) // 2 :]
    assert abs(reached[last].sum() - said[first].sum()) > 3.5 * spread / 2


# --- runs that were not seen -------------------------------------------------------------


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("count", [2, 5])
def test_the_mean_of_other_runs_is_in_the_interval(curves, share, count):
    """Nothing is gained by runs that are part of the truth, later and at sizes seen."""
    rng = np.random.default_rng(0)
    later, within, half = [], [], []
    for curve in curves:
        full = np.flatnonzero(~np.isnan(curve.table).any(axis=1))
        if len(full) < 20:
            continue
        order = rng.permutation(full)
        own, other = curve.table[order[:count]], curve.table[order[count:]].mean(axis=0)
        k = seen(curve, share)[0]
        fit = extrapolate(curve.sizes[:k], list(own[:, :k].T), to=curve.sizes[-1])
        later.append(fit.lower <= other[-1] <= fit.upper)
        there = fit.interval(curve.sizes[:k])
        within.extend((there.lower <= other[:k]) & (other[:k] <= there.upper))
        off = np.abs(other[:k] - there.value)
        half.extend(off <= (there.upper - there.lower) / 4)
    print(
        f"{count} runs: {np.mean(later):.3f} later, {np.mean(within):.3f} at sizes seen"
    )
    assert_rate(sum(later), len(later), 0.95, false_alarm=1e-3)
    assert 0.92 <= np.mean(within) <= 0.985
    assert np.mean(half) < 0.87  # intervals of half the width hold too seldom


# --- power laws, simulated ---------------------------------------------------------------


def law(alpha, eta, gamma, seed):
    rng = np.random.default_rng(seed)
    sizes, runs = np.array([25.0, 50, 100, 200, 400]), (16, 8, 4, 4, 4)
    noise = (
        np.sqrt(2e-5 + 4e-3 / n) * rng.normal(size=r)
        for n, r in zip(sizes, runs, strict=True)
    )
    middle = alpha + eta * sizes**gamma
    return fit_power_law(sizes, [m + e for m, e in zip(middle, noise, strict=True)])


@pytest.mark.parametrize("other", [(0.1, 2.1, -0.5), (0.05, 2.1, -0.6)], ids=str)
def test_the_interval_of_the_multiplier_holds_the_truth(other):
    one, n, times = (0.1, 1.5, -0.5), np.array([50.0, 100, 400]), 300
    true = point_multiplier(
        *(lambda n, p=p: p[0] + p[1] * n ** p[2] for p in (one, other)), n
    )
    held, near = np.zeros((2, 3))
    for seed in range(times):
        found = data_multiplier(law(*one, 2 * seed), law(*other, 2 * seed + 1), n)
        held += (found.lower <= true) & (true <= found.upper)
        # The negative control: within a fiftieth.
        near += np.abs(found.value / true - 1) < 0.02
    print(f"multiplier {true.round(2)}: {held / times}, control {near / times}")
    for hits, few in zip(held, near, strict=True):
        assert_rate(hits, times, 0.95, false_alarm=1e-4)
        assert_at_most(few, times, 0.85)
