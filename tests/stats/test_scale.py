"""Intervals of scores in other units are the same intervals in those units."""

import numpy as np
import pytest

from curvewise.errors import CurvewiseError
from curvewise.stats.bounds import bootstrap_interval
from curvewise.stats.comparison import (
    difference,
    dominance,
    iqm_bootstrap,
    iqm_interval,
    mean_over_tasks_interval,
    optimality_gap_interval,
)
from curvewise.stats.distribution import cvar
from curvewise.stats.functionals import Functional
from curvewise.stats.planning import trials_for_cvar, trials_for_mean

pytestmark = pytest.mark.filterwarnings("ignore::curvewise.errors.CurvewiseWarning")

A, B = np.random.default_rng(1).uniform([[0.5], [0.3]], [[1.5], [1.3]], (2, 40))
MANY = np.random.default_rng(3).random(20_001)


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("unit", [1e-170, 1e200])
@pytest.mark.parametrize(
    "interval",
    [
        lambda u: difference(A * u, B * u),
        lambda u: difference(A * u, B * u, paired=True),
        lambda u: difference(A * u, B * u, of="cvar", tail="lower"),
        lambda u: difference(A * u, B * u, of="quantile"),
        lambda u: difference(A * u, B * u, of="quantile", paired=True),
        lambda u: difference(A * u, B * u, method="guaranteed", support=(0, 2 * u)),
        lambda u: iqm_interval(A.reshape(10, 4) * u),
        lambda u: mean_over_tasks_interval(A.reshape(10, 4) * u),
        lambda u: optimality_gap_interval(A.reshape(10, 4) * u, u),
        lambda u: iqm_bootstrap(A.reshape(10, 4) * u, rng=rng()),
        lambda u: bootstrap_interval(A * u, rng=rng()),
        lambda u: bootstrap_interval(MANY * u, ("cvar", 0.5), rng=rng()),
        lambda u: Functional("mean").interval(A * u, method="asymptotic"),
        lambda u: Functional("cvar").interval(A * u, support=(0, 2 * u)),
    ],
)
def test_intervals_keep_their_shape_in_any_unit(interval, unit):
    plain, found = interval(1.0), interval(unit)
    assert plain.lower < plain.value < plain.upper
    for name in ("lower", "value", "upper"):
        wanted = getattr(plain, name)
        assert getattr(found, name) / unit == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-170, 1e200])
def test_numbers_without_a_unit_do_not_mind_it(unit):
    plain, found = dominance(A, B, rng=rng()), dominance(A * unit, B * unit, rng=rng())
    assert (found.value, found.upper) == pytest.approx((plain.value, plain.upper))
    for need in (
        lambda u: trials_for_mean(0.05 * u, pilot=A * u, method="asymptotic"),
        lambda u: trials_for_cvar(0.05 * u, pilot=A * u, support=(0, 2 * u)),
    ):
        plain, found = need(1.0), need(unit)
        assert (found.trials, found.upper) == (plain.trials, plain.upper)


def test_scores_whose_sums_overflow_are_refused():
    with pytest.raises(CurvewiseError) as refused:
        cvar([1e308, 1.1e308, 1.2e308, 1.3e308], 0.5, tail="lower")
    assert refused.value.argument == "scores"
    assert cvar([1e290, 1e290], 0.5, tail="lower") == 1e290
