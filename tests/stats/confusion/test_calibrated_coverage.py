"""How often bands of count curves hold; scripts/coverage_confusion.py prints the tables."""

import runpy
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import blocks_of_normals as normals
import numpy as np
import pytest
from support import assert_at_least, assert_at_most

from curvewise.stats.confusion.calibrated import fit_calibrated
from curvewise.stats.confusion.drift import fit_drift

SCRIPT = Path(__file__).parents[3] / "scripts" / "coverage_confusion.py"
simulation = SimpleNamespace(**runpy.run_path(str(SCRIPT)))


@cache
def few():
    return normals.in_parts("LDA", 200, seed=3)


@pytest.mark.slow
def test_bands_hold_what_is_left_out():
    for target in ("observed", "mean"):
        found = simulation.coverage(few(), "LDA", target, sizes=(0, 5))
        for hits, lengths in found.values():
            for cell in hits:
                assert_at_least(cell, 200, 0.93)
            assert (lengths < 0.25).all()


def test_the_published_band_is_wide_where_ours_is_short_and_fails_where_ours_holds():
    """The negative control, at the smallest size and at the largest."""
    sizes = (0, 5)
    ours = simulation.coverage(few(), "LDA", "observed", sizes=sizes)["error"]
    theirs = simulation.coverage(few(), "LDA", "observed", sizes=sizes, method="paper")
    theirs = theirs["error"]
    assert ours[1][0] < 0.4 * theirs[1][0]
    assert_at_least(ours[0][1], 200, 0.92)
    with pytest.raises(AssertionError):
        assert_at_least(theirs[0][1], 200, 0.92)


def test_shares_of_classes_that_vary_have_to_be_drawn():
    """The negative control: as if the next test set held classes as those before did."""
    at, truth = (2,), normals.observed(few(), 2, simulation.METRICS["precision"])
    hits, lengths = simulation.coverage(few(), "LDA", "observed", sizes=at)["precision"]
    table = normals.table_of(few(), 2)
    curves = simulation.curves_of(table)
    fixed = curves.bands(
        {"precision": {}},
        [160.0],
        target="observed",
        test_size=320,
        runs=8,
        shares=[0.5, 0.5],
    )["precision"]
    inside = (fixed.lower[:, 0] <= truth) & (truth <= fixed.upper[:, 0])
    assert hits[0] > inside.sum()
    assert lengths[0] > 1.1 * (fixed.upper - fixed.lower).mean()


def with_few_answers(fit):
    concerns = fit.concerns_at(np.empty(0))
    return {own.curve for own in concerns if own.kind == "few_answers"}


@pytest.mark.parametrize("fitted", [fit_calibrated, fit_drift])
def test_few_positives_are_a_concern(fitted):
    blocks = normals.in_parts("NB", 20, seed=4, positives=0.1, is_stratified=True)
    fit = fitted(normals.table_of(blocks))
    assert len(with_few_answers(fit)) == len(fit.table)
    balanced = fitted(normals.table_of(few()))
    assert len(with_few_answers(balanced)) < 0.05 * len(balanced.table)


def assert_holds(rates):
    """Every cell, and all together."""
    assert rates.min() >= 0.92, f"least {rates.min():.3f}"
    assert 0.94 <= rates.mean() <= 0.97, f"mean {rates.mean():.3f}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    ["LDA", "NB", "TREE"],  # trees take ten minutes
)
def test_coverage_of_every_metric_at_every_size(learner):
    blocks = normals.in_parts(learner, 2000, seed=9)
    assert_holds(simulation.table(f"{learner}, 2000", blocks, learner))


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["LDA", "NB"])
def test_curves_that_may_drift_are_held_where_the_law_holds(learner):
    blocks = normals.in_parts(learner, 1000, seed=9)
    rates = simulation.table("drift", blocks, learner, method="drift")
    assert rates.min() >= 0.92
    assert rates.mean() >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["LDA", "NB"])
def test_counts_alone_cover_more_than_asked(learner):
    blocks = normals.in_parts(learner, 1000, seed=9)
    rates = simulation.table("counts", blocks, learner, has_examples=False)
    assert rates.min() >= 0.93
    assert rates.mean() >= 0.95


@pytest.mark.slow
def test_one_more_model_is_held():
    blocks = normals.in_parts("LDA", 1000, seed=9)
    rates = simulation.table("model", blocks, "LDA", targets=("model",))
    assert 0.92 <= rates.mean() <= 0.98


@pytest.mark.slow
def test_ten_percent_of_positives_are_held_or_warned_of():
    blocks = normals.in_parts("LDA", 1000, seed=9, positives=0.1, is_stratified=True)
    rates = simulation.table("10 %", blocks, "LDA", positives=0.1)
    assert_at_least(int(rates.min() * 1000), 1000, 0.92)
    assert_at_most(int(rates.mean() * 1000), 1000, 0.98)
