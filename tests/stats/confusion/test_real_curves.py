"""Drifting count curves on real ones, kept apart from what constants were learnt on.

The tables are printed by scripts/coverage_drift.py.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import data

from curvewise.stats.confusion.calibrated import fit_calibrated
from curvewise.stats.confusion.drift import DRIFT, fit_drift
from curvewise.stats.confusion.paper import fit_paper

SCRIPTS = Path(__file__).parents[3] / "scripts"
# Mean absolute error of error, precision, recall and F1, from 80 % and 50 % of the sizes:
# of a spline alone, constants learnt on other data sets.
ENOUGH = {0.8: (0.0154, 0.0190, 0.0274, 0.0199), 0.5: (0.0330, 0.0455, 0.0634, 0.0470)}


@pytest.fixture(scope="module")
def scripts():
    data("learning_curves/lcdb10_curves.parquet")
    sys.path.insert(0, str(SCRIPTS))
    import coverage_drift
    import drift_curves
    import learn_drift

    yield drift_curves, coverage_drift, learn_drift
    sys.path.remove(str(SCRIPTS))


@pytest.fixture(scope="module")
def curves(scripts):
    return scripts[0].load()


@pytest.fixture(scope="module")
def tasks(scripts, curves):
    return {share: scripts[0].task(curves, share) for share in (0.8, 0.5)}


@pytest.fixture(scope="module")
def judged(scripts, curves):
    """Constants of ten folds of data sets, each learnt on the other nine."""
    return scripts[1].Judged(*scripts[0].cross_fitted(curves))


def test_there_are_135_curves_of_45_data_sets(curves):
    assert len(curves) == 135
    assert len({own.dataset for own in curves}) == 45


@pytest.mark.parametrize("share", [0.8, 0.5])
def test_drift_beats_its_rivals_as_shipped(scripts, curves, tasks, share):
    """With the constants of all curves, so a little flattered; see the slow tests."""
    own = tasks[share]
    off = np.abs(scripts[0].predicted(fit_drift(own.table), own.to) - own.truth)
    assert (off.mean(0) < ENOUGH[share]).all(), off.mean(0)
    for rival in (own.last, scripts[1].power_laws(own)):
        other = np.abs(rival - own.truth)
        assert (off.mean(0) < other.mean(0)).all()
        less, _, high = scripts[0].bootstrapped(off - other, curves)
        assert (less < 0).all()
        # Not each of the four differences is certain.
        assert (high < 0).sum() >= {0.8: 3, 0.5: 2}[share]


@pytest.mark.parametrize("share", [0.8, 0.5])
def test_what_is_printed_loses(scripts, tasks, share):
    """The control: power laws, as published or calibrated, lose to POW3 on the metric."""
    own = tasks[share]
    law = np.abs(scripts[1].power_laws(own) - own.truth).mean(0)
    for fit in (fit_paper, fit_calibrated):
        off = np.abs(scripts[1].by_number_of_sizes(fit, own) - own.truth).mean(0)
        assert (off > law).sum() >= 3


def covered(scripts, curves, own, constants, **how):
    fit = fit_drift(own.table, constants)
    draws = scripts[0].drawn(fit, own.to, **how)
    lower, upper = np.quantile(draws, [0.025, 0.975], axis=0)
    holds = scripts[0].is_inside(own.truth, lower, upper)
    return scripts[0].bootstrapped(holds, curves)


@pytest.mark.parametrize("share", [0.8, 0.5])
def test_bands_hold_as_shipped(scripts, curves, tasks, share):
    rate, low, high = covered(scripts, curves, tasks[share], DRIFT)
    assert ((rate > 0.91) & (rate < 0.99)).all(), rate
    assert ((low < 0.95) & (high > 0.95)).all()


@pytest.mark.parametrize("share", [0.8, 0.5])
def test_bands_of_half_the_width_do_not_hold(scripts, curves, tasks, share):
    """The control of the test above."""
    half = replace(DRIFT, near=DRIFT.near - np.log(2))
    _, _, high = covered(scripts, curves, tasks[share], half)
    assert (high < 0.95).any()


def test_the_mean_takes_what_a_test_set_adds(scripts, curves):
    """Seen on one test split; the truth are the others. Without its luck bands fail."""
    first = scripts[0].of_split(curves, 0)
    others = scripts[0].of_split(curves, 0, is_other=True)
    own = scripts[0].task(first, 0.8, truth=others)
    mean, _, high = covered(scripts, curves, own, DRIFT, target="mean")
    # The truth has luck of its own, of four splits: a little less than 95 % is right.
    assert (mean > 0.86).all(), mean
    assert mean.mean() > 0.89
    same, _, high = covered(scripts, curves, own, DRIFT, target="observed")
    assert (high < 0.95).all(), same


# --- constants that do not know the data set ---------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.8, 0.5])
def test_drift_beats_its_rivals_on_data_sets_apart(
    scripts, curves, tasks, judged, share
):
    own = tasks[share]
    off = np.abs(judged.predicted(own) - own.truth)
    # What a power law's share costs here, for what it gains on curves that are one.
    assert (off.mean(0) < 1.03 * np.array(ENOUGH[share])).all(), off.mean(0)
    for rival in (own.last, scripts[1].power_laws(own)):
        other = np.abs(rival - own.truth)
        assert (off.mean(0) < other.mean(0)).all()


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.8, 0.5])
def test_bands_hold_on_data_sets_apart(scripts, curves, tasks, judged, share):
    own = tasks[share]
    draws = judged.drawn(own)
    lower, upper = np.quantile(draws, [0.025, 0.975], axis=0)
    rate, low, high = scripts[0].bootstrapped(
        scripts[0].is_inside(own.truth, lower, upper), curves
    )
    assert ((rate > 0.91) & (rate < 0.985)).all(), rate
    assert ((low < 0.95) & (high > 0.95)).all()
    joint = scripts[0].is_inside(own.truth, *scripts[1].joint_band(draws)).all(-1)
    rate, low, high = scripts[0].bootstrapped(joint, curves)
    assert low < 0.95 < high


@pytest.mark.slow
def test_constants_are_what_the_script_learns(scripts, curves):
    found = scripts[2].learnt(curves)
    for name in ("slowing", "slowing_common", "rise", "bend", "wander"):
        assert getattr(found.drift, name) == pytest.approx(
            getattr(DRIFT.drift, name), abs=0.02
        )
    assert found.near == pytest.approx(DRIFT.near, abs=0.1)
    assert found.far == pytest.approx(DRIFT.far, abs=0.1)
