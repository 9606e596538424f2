"""Equal algorithms are rarely called different, whatever their noise; plain F is fooled."""

import runpy
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from support import assert_at_least, assert_at_most

SCRIPT = Path(__file__).parents[3] / "scripts" / "levels_noise.py"
simulation = SimpleNamespace(**runpy.run_path(str(SCRIPT)))
Cell = simulation.Cell
REFERENCE = {
    effect: dict(simulation.reference(effect)) for effect in simulation.EFFECTS
}
POWER = dict(simulation.others("Algorithm: power"))
ONE_IN_A_MILLION = 4.9  # standard errors
WORST = 0.075  # the largest level that was seen in any design


def rates(cell, sets, seed):
    """Return how often each way rejects Algorithm, and Interaction."""
    hits = simulation.rejected(cell, sets, np.random.default_rng(seed))
    both = [{way: int(hits[way][i]) for way in simulation.WAYS} for i in (0, 1)]
    for effect, own in zip(simulation.EFFECTS, both, strict=True):
        shown = " ".join(f"{way} {n / sets:.4f}" for way, n in own.items())
        print(cell, f"{effect}: {shown} ({sets})")
    return both


# --- the simulation tests what a user would ----------------------------------------------


def test_the_simulation_has_the_p_values_of_the_library():
    assert simulation.check(sets=1) == 0


def splitter(deal, m):
    return lambda rows: [
        rows[[i for i, d in enumerate(deal) if d == a]] for a in range(m)
    ]


def welch(groups, *, as_p):
    """Return Welch's F as textbooks have it, or how small its p is."""
    n = np.array([len(g) for g in groups])
    x, v = (
        np.array([g.mean() for g in groups]),
        np.array([g.var(ddof=1) for g in groups]),
    )
    w, m = n / v, len(groups)
    middle = (w * x).sum() / w.sum()
    h = ((1 - w / w.sum()) ** 2 / (n - 1)).sum()
    f = (w * (x - middle) ** 2).sum() / (m - 1) / (1 + 2 * (m - 2) * h / (m**2 - 1))
    return -stats.f.sf(f, m - 1, (m**2 - 1) / (3 * h)) if as_p else f


def ats(groups):
    """Return the ANOVA-type statistic, from whole covariance matrices."""
    curves = np.array([g.mean(axis=0) for g in groups])
    noise = sum(np.trace(np.cov(g.T)) / len(g) for g in groups)
    m = len(groups)
    return ((curves - curves.mean(axis=0)) ** 2).sum() / ((1 - 1 / m) * noise)


def plain_f(groups):
    """Return the F of groups of rows, squares added over columns."""
    rows = np.concatenate(groups)
    between = sum(
        len(g) * ((g.mean(axis=0) - rows.mean(axis=0)) ** 2).sum() for g in groups
    )
    within = sum(((g - g.mean(axis=0)) ** 2).sum() for g in groups)
    return between / within


def step_by_step(values, sizes, labels, signs):
    """Return p of all ways by loops over deals and flips, nothing saved."""
    m = len(sizes)
    came = splitter(np.repeat(np.arange(m), sizes), m)
    means = values.mean(axis=1)
    shapes = values - means[:, None]

    def dealt(statistic, rows):
        least = statistic(came(rows))
        drawn = [statistic(splitter(deal.tolist(), m)(rows)) for deal in labels]
        return share(least, drawn, extra=0 if len(labels) == 126 else 1)

    def flipped(statistic, rows):
        residual = np.concatenate([g - g.mean(axis=0) for g in came(rows)])
        turned = [(sign * residual.T).T for sign in signs]
        return share(
            statistic(came(rows)), [statistic(came(r)) for r in turned], extra=1
        )

    def share(least, drawn, *, extra):
        close = np.isclose(drawn, least, rtol=1e-9, atol=1e-300)
        above = (np.array(drawn) > least) | close
        return (extra + above.sum()) / (extra + len(drawn))

    return {
        "plain": [dealt(plain_f, means[:, None]), dealt(plain_f, shapes)],
        "shuffled": [dealt(lambda g: welch(g, as_p=True), means), dealt(ats, shapes)],
        "flipped": [
            flipped(lambda g: welch(g, as_p=False), means),
            flipped(ats, shapes),
        ],
    }


@pytest.mark.parametrize(
    ("sizes", "sds", "kind"),
    [
        ((5, 5), (1, 4), "skew"),
        ((5, 9), (4, 1), "walk"),
        ((4, 6, 5), (1, 1, 4), "t3"),
    ],
)
def test_p_values_are_those_of_loops_over_deals_and_flips(sizes, sds, kind):
    rng = np.random.default_rng(11)
    values = Cell(sizes, sds, kind).draw(2, rng)
    labels, signs = simulation.draws(sizes, rng, 99)
    if sizes == (5, 5):
        assert len(labels) == 126
        together = {frozenset(np.flatnonzero(row == row[0])) for row in labels}
        assert together == {frozenset((0, *c)) for c in combinations(range(1, 10), 4)}
    found = simulation.p_values(values, sizes, labels, signs)
    for i, own in enumerate(values):
        for way, expected in step_by_step(own, sizes, labels, signs).items():
            np.testing.assert_allclose(found[way][:, i], expected, rtol=1e-12)


def test_rates_that_differ_are_told_from_rates_that_do_not():
    assert abs(simulation.distance(200, 4000, 0.05, 4000)) < 0.01
    assert abs(simulation.distance(220, 4000, 0.050, 4000)) < 1.1
    assert simulation.distance(400, 4000, 0.050, 4000) > 8


# --- levels, a few data sets of a few designs --------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "sds", "kind"),
    [
        ((5, 5), (1, 1), "walk"),
        ((5, 5), (1, 4), "t3"),
        ((5, 15), (4, 1), "skew"),
        ((5, 8, 11, 15), (4, 1, 1, 1), "walk"),
    ],
)
def test_the_default_keeps_its_level(sizes, sds, kind):
    sets = 500
    for own in rates(Cell(sizes, sds, kind), sets, 1):
        assert_at_most(own["both"], sets, WORST if len(set(sds)) > 1 else 0.05)


def test_plain_f_calls_equal_algorithms_different_where_the_few_lines_are_noisy():
    sets = 500
    algorithm, interaction = rates(Cell((5, 15), (4, 1), "iid"), sets, 2)
    assert algorithm["plain"] > 0.2 * sets
    assert interaction["plain"] > 0.45 * sets
    for own in (algorithm, interaction):
        assert_at_most(own["both"], sets, WORST)


def test_plain_f_is_blind_where_the_many_lines_are_noisy():
    sets = 500
    algorithm, interaction = rates(Cell((5, 15), (1, 4), "walk"), sets, 3)
    assert algorithm["plain"] < 0.02 * sets
    assert interaction["plain"] < 0.02 * sets


# --- levels, as many data sets as the reference has --------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "sds", "kind"),
    [
        ((5, 5), (1, 1), "walk"),
        ((5, 5), (1, 4), "t3"),
        ((5, 5), (1, 4), "skew"),
        ((10, 10), (1, 4), "walk"),
        ((5, 15), (1, 1), "t3"),
        ((5, 15), (1, 4), "walk"),
        ((5, 15), (4, 1), "walk"),
        ((5, 15), (4, 1), "skew"),
        ((5, 5, 5), (1, 1, 4), "walk"),
        ((5, 10, 15), (4, 1, 1), "t3"),
        ((5, 5, 5, 5), (1, 1, 1, 4), "walk"),
        ((5, 8, 11, 15), (4, 1, 1, 1), "t3"),
    ],
)
def test_levels_are_those_of_an_independent_simulation(sizes, sds, kind):
    sets, cell = 4000, Cell(sizes, sds, kind)
    both = rates(cell, sets, 4)
    for effect, own in zip(simulation.EFFECTS, both, strict=True):
        known_sets = (
            4000 if effect == "algorithm" else 2000 if len(sizes) == 2 else 1500
        )
        for way, known in REFERENCE[effect][cell].items():
            far = simulation.distance(own[way], sets, known, known_sets)
            assert abs(far) < ONE_IN_A_MILLION, (effect, way, own[way] / sets, known)
        assert_at_most(own["both"], sets, WORST if len(set(sds)) > 1 else 0.05)


@pytest.mark.slow
def test_plain_f_fails_and_shuffles_alone_do_not_repair_it():
    sets = 4000
    algorithm, interaction = rates(Cell((5, 15), (4, 1), "iid"), sets, 5)
    assert_at_least(algorithm["plain"], sets, 0.2)
    assert_at_least(interaction["plain"], sets, 0.45)
    # Studentised shuffles alone are too many for four algorithms; so is plain F.
    algorithm, interaction = rates(Cell((5,) * 4, (1, 1, 1, 4), "skew"), sets, 6)
    for own in (algorithm, interaction):
        for way in ("plain", "shuffled"):
            with pytest.raises(AssertionError, match="at most"):
                assert_at_most(own[way], sets, WORST)
        assert_at_most(own["both"], sets, WORST)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "sds", "known"),
    [((5, 15), (4, 1), 0.090), ((5, 10, 15), (4, 1, 1), 0.078)],
)
def test_a_deal_is_to_be_judged_with_its_own_degrees_of_freedom(sizes, sds, known):
    sets = 4000
    hits = simulation.rejected(Cell(sizes, sds, "walk"), sets, np.random.default_rng(8))
    by_f, by_p = int(hits["by F"][0]), int(hits["shuffled"][0])
    print(sizes, f"by F {by_f / sets:.4f} by p {by_p / sets:.4f}")
    assert abs(simulation.distance(by_f, sets, known, 4000)) < ONE_IN_A_MILLION
    # On the same lines and deals, so that hardly any chance is in the difference.
    assert by_f - by_p > 0.005 * sets


# --- power -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "kind", "shift", "price"),
    [
        ((10, 10), "walk", 1.2, 0.04),
        ((10, 10), "t3", 1.0, 0.04),
        ((5, 15), "walk", 1.4, 0.16),
        ((5, 5, 5, 5), "walk", 1.8, 0.20),
    ],
)
def test_power_is_that_of_an_independent_simulation(sizes, kind, shift, price):
    sets, cell = 4000, Cell(sizes, (1,) * len(sizes), kind, shift)
    algorithm, interaction = rates(cell, sets, 7)
    for way, known in POWER[cell].items():
        far = simulation.distance(algorithm[way], sets, known, 4000)
        assert abs(far) < ONE_IN_A_MILLION, (way, algorithm[way] / sets, known)
    # What it costs to allow for unequal noise where there is none.
    assert 0 < (algorithm["plain"] - algorithm["both"]) / sets < price
    # A shift is not in the shapes of lines.
    assert_at_most(interaction["both"], sets, 0.05)
