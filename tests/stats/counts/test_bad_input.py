"""What intervals say of counts that are none."""

import numpy as np
import pytest
from facts import refused

from curvewise.stats.counts import (
    counts_matrix,
    error_interval,
    f1_interval,
    f_beta_interval,
    precision_interval,
)


@pytest.mark.parametrize(
    "change",
    [
        *({"tp": bad} for bad in (-1, "many", [True, False], None, [[1, 2], [3]])),
        {"tp": np.ma.masked_array([1, 2], [0, 1])},
        {"fp": [1, np.nan]},
        *({"fn": bad} for bad in (np.inf, 1e300)),
        *({"prior": bad} for bad in ("flat", 0, -1.0, np.nan, True, None)),
        *({"confidence": bad} for bad in (0, 1, 95, "high")),
    ],
)
@pytest.mark.parametrize("interval", [f1_interval, f_beta_interval])
def test_what_is_no_count_is_refused(interval, change):
    how = {"beta": 2} if interval is f_beta_interval else {}
    with refused(*change):
        interval(**({"tp": 5, "fp": 3, "fn": 2} | how | change))


def test_wrong_counts_are_counted_and_the_first_is_shown():
    with refused("fp", -2, says=[2, 3]):
        f1_interval(1, [1, -2, -3], 1)
    with refused("tp and fp and fn", says=[3]):
        f1_interval([1, 2, 3], 1, [1, 2])


@pytest.mark.parametrize("beta", [0, -1, 0.01, 1000, np.nan, "2", True, None])
def test_what_is_no_beta_is_refused(beta):
    with refused("beta"):
        f_beta_interval(5, 3, 2, beta=beta)


def test_fractions_are_counts():
    """Those of averaged or predicted matrices lie between their neighbours."""
    low, _ = precision_interval([7, 7.5, 8], 3)
    assert low[0] < low[1] < low[2]
    assert f1_interval(np.float32(2.5), 1, np.int8(3)).lower > 0


def test_all_zero_and_perfect_matrices_are_answered():
    none = error_interval(0, 0, 0, 0)
    assert none.value == 1
    assert (none.undefined, none.outside) == (1, 0)
    perfect = error_interval(50, 0, 0, 50)
    assert perfect.value == 0
    assert 0 < perfect.lower < perfect.upper < 0.06
    assert (perfect.undefined, perfect.outside) == (0, 1)


def test_huge_counts_are_answered():
    low, high = f1_interval(1e14, 1e14, 1e14)
    assert 0.5 - 1e-6 < low < high < 0.5 + 1e-6
    with refused("tn", "x"):
        counts_matrix(1, 2, 3, "x")
