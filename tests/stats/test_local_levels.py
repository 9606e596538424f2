import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import said_by
from scipy.special import smirnov, smirnovi
from scipy.stats import kstwo

from curvewise.errors import CurvewiseError
from curvewise.stats import local_level_table as table
from curvewise.stats import local_levels as levels
from curvewise.stats.bands import local_level
from curvewise.stats.local_levels import stay_inside

# --- the probability that all order statistics stay inside their limits ------------------


def kolmogorov_limits(n, e):
    i = np.arange(1, n + 1)
    return np.maximum(i / n - e, 0), np.minimum((i - 1) / n + e, 1)


@pytest.mark.parametrize("n", [1, 2, 10, 100])
@pytest.mark.parametrize("confidence", [0.05, 0.5, 0.95, 0.9999])
def test_kolmogorovs_limits_give_his_distribution(n, confidence):
    e = kstwo.ppf(confidence, n)
    found = stay_inside(*kolmogorov_limits(n, e))
    assert found == pytest.approx(kstwo.cdf(e, n), abs=1e-12)


@pytest.mark.parametrize("n", [10, 2000])
@pytest.mark.parametrize("miss", [0.3, 1e-4, 1e-8])
def test_one_sided_limits_give_smirnovs_sum(n, miss):
    """Smirnov's formula is exact at every n; the other side is open."""
    e = smirnovi(n, miss)
    lower, upper = kolmogorov_limits(n, e)
    true = 1 - smirnov(n, e)
    assert stay_inside(lower, np.ones(n)) == pytest.approx(true, abs=1e-12)
    assert stay_inside(np.zeros(n), upper) == pytest.approx(true, abs=1e-12)


limits = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)


@given(limits)
def test_one_uniform_stays_in_an_interval_as_often_as_that_is_long(limit):
    low, high = limit
    assert stay_inside([low], [high]) == pytest.approx(high - low, abs=1e-14)


@given(limits, limits)
def test_two_uniforms_by_area(one, two):
    """P = 2 |{u < v, u in one, v in two}|, in closed form."""
    (a, b), (c, d) = one, two

    def pairs(u_end, v_end):  # area of u <= v with u < u_end, v < v_end
        u = min(u_end, v_end)
        return u * v_end - u**2 / 2

    area = pairs(b, d) - pairs(a, d) - pairs(b, c) + pairs(a, c)
    assert stay_inside([a, c], [b, d]) == pytest.approx(2 * area, abs=1e-12)


def brute_force(lower, upper, cells=12):
    """Sum over all ways to put n points into equal cells; limits are cells' borders."""
    n, total = len(lower), 0.0
    for counts in itertools.product(range(n + 1), repeat=cells):
        if sum(counts) != n:
            continue
        below = np.cumsum([0, *counts])  # at each border
        borders = np.arange(cells + 1) / cells
        at = dict(zip(borders.round(9), below, strict=True))
        if all(
            at[round(low, 9)] < i <= at[round(high, 9)]
            for i, (low, high) in enumerate(zip(lower, upper, strict=True), 1)
        ):
            ways = math.factorial(n) / math.prod(map(math.factorial, counts))
            total += ways / cells**n
    return total


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ([0, 1, 3], [2, 5, 6]),
        ([1, 1, 1], [5, 5, 6]),
        ([2, 1, 4], [6, 3, 5]),  # limits that do not ascend bind their neighbours
    ],
)
def test_three_uniforms_by_counting(lower, upper):
    lower, upper = np.array(lower) / 6, np.array(upper) / 6
    assert stay_inside(lower, upper) == pytest.approx(brute_force(lower, upper, 6))


def test_limits_that_cannot_be_met():
    assert stay_inside([0.5, 0.6], [0.5, 0.9]) == 0
    assert stay_inside([0.0, 0.7], [0.6, 0.5]) == 0
    assert stay_inside([0.9, 0.1], [1.0, 0.2]) == 0


def test_limits_that_bind_nothing():
    assert stay_inside(np.zeros(300), np.ones(300)) == pytest.approx(1, abs=1e-12)


# --- local levels ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "level"),
    [
        (10, 0.007384985838),
        (100, 0.002195272340),
        (500, 0.001284252579),
        (2000, 0.000912926729),
    ],
)
def test_levels_are_the_tabulated_ones(n, level):
    assert local_level(n) == pytest.approx(level, abs=6e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 400])
@pytest.mark.parametrize("confidence", [1e-6, 0.05, 0.5, 0.9, 0.9999, 1 - 1e-9])
def test_the_band_holds_as_often_as_asked(n, confidence):
    found = levels.coverage(n, local_level(n, confidence=confidence))
    assert found == pytest.approx(confidence, rel=1e-8, abs=0)
    assert 1 - found == pytest.approx(1 - confidence, rel=1e-3)


def test_one_trial_has_one_interval():
    assert local_level(1, confidence=0.9) == pytest.approx(0.1)


def test_levels_fall_with_trials_and_confidence():
    """More trials are more intervals; none needs more than Bonferroni's share."""
    found = [local_level(n) for n in (1, 2, 3, 5, 10, 50, 200)]
    assert (np.diff(found) < 0).all()
    assert all(
        x > 0.05 / n for x, n in zip(found[1:], (2, 3, 5, 10, 50, 200), strict=True)
    )
    assert local_level(50, confidence=0.99) < local_level(50)


def test_a_pointwise_level_would_hold_far_less_often():
    """The negative control: 95 % at each score is 38 % over a hundred."""
    assert levels.coverage(100, 0.05) < 0.5


# --- the table beyond 5,000 trials -------------------------------------------------------


def is_barely_conservative(n, confidence):
    found = levels.coverage(n, local_level(n, confidence=confidence))
    miss = (1 - found) / (1 - confidence)
    return 1 - 4 * table.SHAVED < miss < 1


@pytest.mark.parametrize(
    ("n", "confidence"), [(5001, 0.7), (6500, 0.95), (8000, 0.9995)]
)
def test_the_table_is_right_between_its_nodes(n, confidence):
    """One evaluation of the recursion says so; the level never exceeds the exact one."""
    assert n not in table.SIZES
    assert is_barely_conservative(n, confidence)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "confidence"),
    [(30_000, 0.5), (90_000, 0.95), (170_000, 0.99), (199_999, 0.99999)],
)
def test_the_table_is_right_far_out(n, confidence):
    assert is_barely_conservative(n, confidence)


def test_without_what_is_shaved_off_it_would_not_always_be_conservative(monkeypatch):
    """The negative control: plain interpolation errs on both sides."""
    exact = [(n, levels.exact(n, 0.95)) for n in (5500, 6000, 9000)]
    monkeypatch.setattr(table, "SHAVED", 0.0)
    plain = [levels.interpolated(n, 0.95) / level - 1 for n, level in exact]
    assert max(map(abs, plain)) < 1e-5
    assert max(plain) > 0


def test_the_table_continues_what_is_exact():
    n = levels.EXACT_UP_TO
    step = local_level(n + 1) / local_level(n) - 1
    assert -1e-4 < step < 0


# --- bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: local_level(10, confidence=1 - 1e-12),
            ("confidence", {"kind": "kolmogorov"}),
        ),
        (lambda: local_level(3_000_000), ("n", {"kind": "kolmogorov"})),
        (lambda: local_level(6000, confidence=0.2), ("n", {"kind": "kolmogorov"})),
        (lambda: local_level(0), ("n",)),
        (lambda: local_level(5, confidence=0), ("confidence",)),
    ],
)
def test_bad_input_is_named(call, expected):
    with pytest.raises(CurvewiseError) as refused:
        call()
    assert said_by(refused.value) == expected
