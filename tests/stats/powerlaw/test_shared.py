"""Runs that share a split at all sizes: what that does to intervals, and what is done."""

import numpy as np
import pytest
from support import assert_at_least, assert_at_most

from curvewise.stats.powerlaw import fit_power_law
from curvewise.stats.powerlaw.fit import shared_shift

SIZES = np.array([40.0, 80, 160, 320, 640, 1280])
AT = np.array([1280.0, 5120])


def truth(n):
    return 0.08 + 0.9 * n**-0.5


def runs(rng, shift, nested, number=10):
    """Return errors (run, size) with a shift per run, and noise that hangs on."""
    z = rng.normal(size=(number, 6))
    for j in range(1, 6):
        z[:, j] = nested * z[:, j - 1] + np.sqrt(1 - nested**2) * z[:, j]
    moved = rng.normal(0, shift, (number, 1))
    return np.clip(truth(SIZES) + moved + 0.4 * SIZES**-0.5 * z, 0, 1)


def held(tables):
    """Return how often the intervals at the largest size, and four times it, held."""
    hits = np.zeros(2, int)
    for table in tables:
        band = fit_power_law(SIZES, list(table.T)).interval(AT)
        hits += (band.lower <= truth(AT)) & (truth(AT) <= band.upper)
    return hits


def test_the_variance_of_the_shift_is_found():
    rng = np.random.default_rng(0)
    found = [shared_shift(runs(rng, 0.03, 0.0)) for _ in range(400)]
    assert np.mean([own for own, _ in found]) == pytest.approx(0.03**2, rel=0.1)
    own, of_mean = found[0]
    assert of_mean == pytest.approx(own / 10 * 9 / 7)
    own, of_mean = shared_shift(runs(rng, 0.03, 0.0, number=3))
    assert of_mean == pytest.approx(own / 3 * 4.8)
    nothing = [shared_shift(runs(rng, 0.0, 0.0))[0] for _ in range(400)]
    assert np.mean(nothing) < 0.01**2


def test_where_nothing_tells_runs_apart_nothing_is_shared():
    table = runs(np.random.default_rng(0), 0.03, 0.0)
    assert shared_shift(None) == shared_shift(table[:1]) == (0.0, 0.0)
    assert shared_shift(np.where(np.eye(10, 6) > 0, np.nan, table)) == (0.0, 0.0)
    ragged = [*table.T[:-1], table[:5, -1]]
    assert fit_power_law(SIZES, ragged).run_shift == 0
    assert fit_power_law(SIZES, list(table.T)).run_shift > 0
    percent = fit_power_law(SIZES, list(100 * table.T), unit="percent")
    own = fit_power_law(SIZES, list(table.T)).run_shift
    assert percent.run_shift == pytest.approx(1e4 * own)


def test_a_shift_moves_the_height_and_not_the_slope():
    rng = np.random.default_rng(1)
    table = runs(rng, 0.0, 0.0)
    shifted = table + np.linspace(-0.05, 0.05, 10)[:, None]
    one, other = (fit_power_law(SIZES, list(t.T)) for t in (table, shifted))
    assert other.gamma == pytest.approx(one.gamma, abs=0.05)
    width = [
        np.ptp(law.reliance_quantile([0.025, 0.975], 1280)) for law in (one, other)
    ]
    assert width[1] == pytest.approx(width[0], rel=0.15)
    height = [np.ptp(law.quantile([0.025, 0.975], 1280)) for law in (one, other)]
    assert height[1] > 2 * height[0]


def test_intervals_hold_where_runs_share_a_split():
    rng = np.random.default_rng(2)
    tables = [runs(rng, 0.03, 0.5) for _ in range(300)]
    hits = held(tables)
    print(hits / 300)
    assert_at_least(hits[0], 300, 0.93)
    # The same errors, each size shuffled by itself: nobody knows which run is which.
    lost = held([rng.permuted(table, axis=0) for table in tables])
    print(lost / 300)
    assert_at_most(lost[0], 300, 0.85)


@pytest.mark.slow
@pytest.mark.parametrize("number", [3, 4, 10, 25])
@pytest.mark.parametrize(("shift", "nested"), [(0, 0), (0.02, 0), (0.02, 0.5)])
def test_intervals_hold_for_few_and_many_runs(number, shift, nested):
    rng = np.random.default_rng([number, round(100 * shift), round(10 * nested)])
    hits = held(runs(rng, shift, nested, number) for _ in range(2000))
    print(number, shift, nested, hits / 2000)
    for hit in hits:
        assert_at_least(hit, 2000, 0.92)
