"""What intervals say of counts that are none."""

import numpy as np
import pytest

from curvewise.errors import CurvewiseError
from curvewise.stats.counts import (
    counts_matrix,
    error_interval,
    f1_interval,
    f_beta_interval,
    precision_interval,
)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"tp": -1}, "1 of 1 in tp are no counts, the first is -1"),
        ({"fp": [1, np.nan]}, "1 of 2 in fp are no counts, the first is nan"),
        ({"fn": np.inf}, "the first is inf"),
        ({"fn": 1e300}, "Pass numbers from 0 to"),
        ({"tp": "many"}, "tp are no numbers"),
        ({"tp": [True, False]}, "tp are no numbers"),
        ({"tp": None}, "in tp are no counts"),
        ({"tp": [[1, 2], [3]]}, "tp are no numbers"),
        ({"tp": np.ma.masked_array([1, 2], [0, 1])}, "tp are no numbers"),
        ({"tp": [1, 2, 3], "fn": [1, 2]}, r"do not fit: tp \(3,\), fp \(\), fn \(2,\)"),
        ({"prior": "flat"}, "prior is 'flat'. Pass one of uniform, jeffreys, paper"),
        ({"prior": 0}, "prior is 0"),
        ({"prior": -1.0}, "prior is -1.0"),
        ({"prior": np.nan}, "prior is nan"),
        ({"prior": True}, "prior is True"),
        ({"prior": None}, "prior is None"),
        ({"confidence": 0}, "confidence is 0"),
        ({"confidence": 1}, "confidence is 1"),
        ({"confidence": 95}, "confidence is 95"),
        ({"confidence": "high"}, "confidence is 'high'"),
    ],
)
@pytest.mark.parametrize("interval", [f1_interval, f_beta_interval])
def test_what_is_no_count_is_refused(interval, change, match):
    how = {"beta": 2} if interval is f_beta_interval else {}
    with pytest.raises(CurvewiseError, match=match):
        interval(**({"tp": 5, "fp": 3, "fn": 2} | how | change))


@pytest.mark.parametrize("beta", [0, -1, 0.01, 1000, np.nan, "2", True, None])
def test_what_is_no_beta_is_refused(beta):
    with pytest.raises(CurvewiseError, match="beta is"):
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
    with pytest.raises(CurvewiseError, match="tn are no numbers"):
        counts_matrix(1, 2, 3, "x")
