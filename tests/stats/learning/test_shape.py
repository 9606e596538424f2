"""Rises and bumps: levels under the least favourable curves, power, real curves."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind
from support import assert_at_least, assert_at_most, data

from curvewise import CurvewiseError
from curvewise.stats.learning import shape
from curvewise.stats.learning.shape import contrasts_of, symmetric_triples

SIZES = np.array([25.0, 50, 100, 200, 400, 800])
FLAT = np.full(6, 0.3)
STRAIGHT = 0.4 - 0.3 * SIZES / 800


def simulated(rng, means, r, *, shift=0.02, noise=0.02):
    """Return errors (run, size): a shift per run, nested noise that shrinks with n."""
    steps = noise * rng.normal(size=(r, len(means))) * np.sqrt(SIZES[0] / SIZES)
    nested = np.cumsum(steps[:, ::-1], axis=1)[:, ::-1]
    return np.abs(means + shift * rng.normal(size=(r, 1)) + nested)


def grouped(rng, means, groups=5, each=5, shared=0.015):
    """Return runs of which `each` share a test split that is kinder to some sizes."""
    own = simulated(rng, means, groups * each, noise=0.01)
    split = shared * rng.normal(size=(groups, len(means)))
    return np.abs(own + np.repeat(split, each, axis=0)), np.repeat(
        np.arange(groups), each
    )


def called(rng, times, make, **options):
    """Return how often rises and bumps are found."""
    found = [shape(SIZES, make(rng).T, **options) for _ in range(times)]
    return sum(f.is_nonmonotone for f in found), sum(f.is_nonconvex for f in found)


# --- known values ------------------------------------------------------------------------


def test_paired_and_unpaired_tests_are_the_textbook_ones():
    rng = np.random.default_rng(1)
    table = simulated(rng, FLAT, 6)
    found = shape(SIZES, table.T)
    p = [
        ttest_1samp(table[:, j] - table[:, i], 0, alternative="greater").pvalue
        for i in range(6)
        for j in range(i + 1, 6)
    ]
    assert found.p_rise == pytest.approx(min(1, 15 * min(p)))
    assert found.is_paired
    ragged = [table[: 6 - k, k] for k in range(3)]
    found = shape(SIZES[:3], ragged)
    p = [
        ttest_ind(ragged[j], ragged[i], equal_var=False, alternative="greater").pvalue
        for i, j in [(0, 1), (0, 2), (1, 2)]
    ]
    assert found.p_rise == pytest.approx(min(1, 3 * min(p)))
    assert not found.is_paired


def test_the_bump_is_the_distance_to_the_straight_line():
    """A line in n, of unequal steps, has none; 0.02 on top of it is found as such."""
    n = np.array([10.0, 30, 100])
    line = 0.5 - 0.001 * n
    noise = np.array([-1, 1, -1, 1])[:, None] * 1e-4 * np.array([1, 1, -1])
    bump = np.array([0, 0.02, 0])
    found = shape(n, (line + noise + bump).T)
    (bump,) = found.bumps
    assert bump.amount == pytest.approx(0.02)
    assert bump.lower < 0.02 < bump.upper
    assert (bump.first, bump.at, bump.last) == (10, 30, 100)
    assert not shape(n, (line + noise).T).is_nonconvex


def test_all_symmetric_triples_are_there():
    assert symmetric_triples(5).tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [0, 2, 4]]
    assert symmetric_triples(2).shape == (0, 3)


def test_the_shortest_rises_are_told():
    rng = np.random.default_rng(2)
    means = np.array([0.4, 0.3, 0.3, 0.4, 0.4, 0.3])
    table = means + 1e-4 * rng.normal(size=(8, 6))
    found = shape(SIZES, table.T)
    assert [(d.first, d.last) for d in found.rises] == [(100, 200)]
    assert found.rises[0].amount == pytest.approx(0.1, abs=1e-3)
    assert found.concerns[0] == "rises"
    assert found.rows()[0]["what"] == "rise"


def test_percent_are_told_in_percent():
    table = np.array([[30.0, 40.1, 20], [31, 41, 21.2], [32, 42, 22]])
    assert shape([1, 2, 3], table.T, unit="percent").rises[0].amount == pytest.approx(
        10.03, abs=0.01
    )


def test_named_runs_in_any_order_are_paired():
    rng = np.random.default_rng(3)
    table = simulated(rng, FLAT, 5)
    orders = [rng.permutation(5) for _ in SIZES]
    named = shape(
        SIZES, [table[o, k] for k, o in enumerate(orders)], runs=[*map(list, orders)]
    )
    assert named.p_rise == shape(SIZES, table.T).p_rise


def test_runs_that_miss_sizes_count_where_they_are():
    rng = np.random.default_rng(4)
    table = simulated(rng, FLAT, 5)[:, :3]
    errors, names = [*table.T], [np.arange(5)] * 3
    errors[2], names[2] = errors[2][:3], names[2][:3]
    found = shape(SIZES[:3], errors, runs=names)
    p = [
        ttest_1samp(table[:r, j] - table[:r, i], 0, alternative="greater").pvalue
        for i, j, r in [(0, 1, 5), (0, 2, 3), (1, 2, 3)]
    ]
    assert found.p_rise == pytest.approx(min(1, 3 * min(p)))


# --- what cannot be told -----------------------------------------------------------------


def test_one_run_per_size_cannot_tell():
    found = shape(SIZES, FLAT + np.arange(6) / 10)
    assert not found.is_told
    assert not found.is_nonmonotone
    assert found.p_rise == found.p_bump == 1
    assert found.concerns == ()


def test_sizes_with_one_run_are_left_out():
    """16, 8, 4, 2 and 1 runs: a rise to the last one cannot be told from noise."""
    rng = np.random.default_rng(5)
    errors = [0.3 + 0.01 * rng.normal(size=r) for r in (16, 8, 4, 2)] + [[0.9]]
    assert not shape(SIZES[:5], errors).is_nonmonotone
    errors[1] = errors[1] + 0.2
    assert shape(SIZES[:5], errors).is_nonmonotone


def test_runs_without_noise_are_not_surer_than_signs():
    """Three runs that rise by the same amount: as three heads in a row, p = 1/8."""
    errors = np.tile([0.3, 0.4], (3, 1)).T
    assert shape([1, 2], errors).p_rise == 1 / 8
    assert shape([1, 2], np.full((2, 9), 0.1)).p_rise == 1
    assert shape([1, 2], np.tile([0.3, 0.4], (9, 1)).T).is_nonmonotone


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"groups": [1, 2]}, "3 runs"),
        ({"level": 0}, "level is 0"),
        ({"unit": "per cent"}, "unit is"),
    ],
)
def test_what_is_refused(options, words):
    with pytest.raises(CurvewiseError, match=words):
        shape([1, 2, 3], [[0.3, 0.2, 0.1]] * 3, **options)


def test_groups_need_runs():
    with pytest.raises(CurvewiseError, match="groups needs"):
        shape([1, 2], [[0.3, 0.2, 0.1], [0.3, 0.2]], groups=[1, 1, 2])


# --- levels ------------------------------------------------------------------------------


@pytest.mark.parametrize("r", [3, 5, 25])
def test_levels_hold_for_runs_that_are_correlated(r):
    """Flat for rises, straight for bumps."""
    rng = np.random.default_rng(10 + r)
    rises, _ = called(rng, 250, lambda g: simulated(g, FLAT, r))
    _, bumps = called(rng, 250, lambda g: simulated(g, STRAIGHT, r))
    assert_at_most(rises, 250, 0.05)
    assert_at_most(bumps, 250, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("r", [3, 5, 25])
def test_levels_hold_at_length(r):
    rng = np.random.default_rng(20 + r)
    rises, _ = called(rng, 4_000, lambda g: simulated(g, FLAT, r))
    _, bumps = called(rng, 4_000, lambda g: simulated(g, STRAIGHT, r))
    print(f"\nR = {r}: rises {rises / 4_000:.4f}, bumps {bumps / 4_000:.4f}")
    assert_at_most(rises, 4_000, 0.05)
    assert_at_most(bumps, 4_000, 0.05)


@pytest.mark.slow
def test_levels_hold_for_unequal_numbers_of_runs():
    """Nobody knows which run is which: independent runs, Welch's t."""
    rng = np.random.default_rng(30)

    def ragged(means):
        counts = (16, 12, 8, 6, 4, 3)
        return [
            means[k] + 0.02 * rng.normal(size=c) * np.sqrt(25 / SIZES[k])
            for k, c in enumerate(counts)
        ]

    found = [shape(SIZES, ragged(FLAT)) for _ in range(4_000)]
    rises = sum(f.is_nonmonotone for f in found)
    bumps = sum(shape(SIZES, ragged(STRAIGHT)).is_nonconvex for _ in range(4_000))
    print(f"\nWelch: rises {rises / 4_000:.4f}, bumps {bumps / 4_000:.4f}")
    assert_at_most(rises, 4_000, 0.05)
    assert_at_most(bumps, 4_000, 0.05)


def test_without_a_correction_the_level_breaks():
    """The negative control: 15 pairs at 5 % each."""
    rng = np.random.default_rng(40)
    found = [shape(SIZES, simulated(rng, FLAT, 5).T).p_rise / 15 for _ in range(200)]
    assert np.mean(np.array(found) <= 0.05) > 0.15


def test_runs_that_share_a_split_break_the_level_unless_grouped():
    rng = np.random.default_rng(50)
    names = np.repeat(np.arange(5), 5)
    apart, _ = called(rng, 150, lambda g: grouped(g, FLAT)[0])
    together, _ = called(rng, 150, lambda g: grouped(g, FLAT)[0], groups=names)
    assert apart / 150 > 0.2
    assert_at_most(together, 150, 0.05)


@pytest.mark.slow
def test_groups_hold_the_level_at_length():
    rng = np.random.default_rng(51)
    names = np.repeat(np.arange(5), 5)
    rises, _ = called(rng, 4_000, lambda g: grouped(g, FLAT)[0], groups=names)
    _, bumps = called(rng, 4_000, lambda g: grouped(g, STRAIGHT)[0], groups=names)
    print(f"\ngroups: rises {rises / 4_000:.4f}, bumps {bumps / 4_000:.4f}")
    assert_at_most(rises, 4_000, 0.05)
    assert_at_most(bumps, 4_000, 0.05)


def test_rises_are_found_and_pairing_is_why():
    """A rise of one shift: plain within runs, lost between them."""
    rng = np.random.default_rng(60)
    means = FLAT + np.array([0, -0.02, -0.03, -0.03, -0.01, 0])

    def errors(g):
        return simulated(g, means, 10, shift=0.04, noise=0.01)

    paired, _ = called(rng, 100, errors)
    apart = 0
    for _ in range(100):
        ragged = [*errors(rng).T]
        ragged[0] = ragged[0][:-1]  # so that nobody knows which run is which
        apart += shape(SIZES, ragged).is_nonmonotone
    assert_at_least(paired, 100, 0.9)
    assert apart < 20


def test_bumps_are_found():
    rng = np.random.default_rng(61)
    means = np.array([0.5, 0.49, 0.47, 0.4, 0.2, 0.15])
    _, bumps = called(rng, 50, lambda g: simulated(g, means, 5))
    assert_at_least(bumps, 50, 0.9)


def test_scale_does_not_matter():
    rng = np.random.default_rng(62)
    table = simulated(rng, FLAT, 5)
    small = shape(SIZES, 1e-9 * table.T, unit="loss")
    assert small.p_rise == pytest.approx(shape(SIZES, table.T).p_rise)


def test_many_contrasts_at_once_agree_with_one():
    rng = np.random.default_rng(63)
    from curvewise.stats.curves import checked_runs

    runs = checked_runs(SIZES, simulated(rng, FLAT, 5).T)
    pairs = np.array([[0, 1], [2, 5]])
    both = contrasts_of(runs, pairs, np.tile([-1.0, 1.0], (2, 1)))
    one = contrasts_of(runs, pairs[1:], np.array([[-1.0, 1.0]]))
    assert both.p[1] == one.p[0]


# --- real curves -------------------------------------------------------------------------


@pytest.mark.slow
def test_about_one_real_curve_in_ten_rises():
    """LCDB 1.0, 25 runs: 5 outer splits with a test set of their own, 5 inner ones."""
    pd = pytest.importorskip("pandas")
    frame = pd.read_parquet(data("learning_curves/lcdb10_curves.parquet"))
    called = {"rises": 0, "bumps": 0, "rises, grouped": 0, "bumps, grouped": 0}
    curves = 0
    for _, curve in frame.groupby(["dataset", "learner"]):
        table = curve.pivot_table(index=["outer", "inner"], columns="n", values="score")
        table = table.loc[:, table.notna().sum() >= 5]
        n = table.columns.to_numpy()
        errors = [table[k].dropna().to_numpy() for k in n]
        runs = [np.flatnonzero(table[k].notna()) for k in n]
        outer = table.index.get_level_values(0).to_numpy()
        alone = shape(n, errors, runs=runs)
        groups = shape(n, errors, runs=runs, groups=outer)
        called["rises"] += alone.is_nonmonotone
        called["bumps"] += alone.is_nonconvex
        called["rises, grouped"] += groups.is_nonmonotone
        called["bumps, grouped"] += groups.is_nonconvex
        curves += 1
    share = {k: round(v / curves, 3) for k, v in called.items()}
    print(f"\n{curves} curves: {share}")
    assert 0.07 < share["rises, grouped"] < 0.13
    assert share["rises, grouped"] <= share["rises"] < 0.15


def test_groups_without_a_name_are_refused():
    errors = [[0.3, 0.31], [0.2, 0.21], [0.1, 0.11]]
    with pytest.raises(CurvewiseError, match="no name"):
        shape([25, 50, 100], errors, groups=[None, "a"])
