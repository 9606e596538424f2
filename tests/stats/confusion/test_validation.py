"""Sizes that were left out: what was foreseen, how far off, how often bands hold."""

import math

import numpy as np
import pytest
from facts import refused
from scipy import stats
from scipy.special import expit
from support import assert_at_least

from curvewise import metrics
from curvewise.errors import CurvewiseError
from curvewise.stats.confusion.curve import fit_confusion_curve
from curvewise.stats.confusion.data import Examples
from curvewise.stats.confusion.validation import (
    PAPERS,
    ForeseenSizes,
    foresee_last,
    leave_one_size_out,
)
from curvewise.stats.forms import fit_form

SIZES = np.array([40.0, 80, 160, 320, 640])
METRICS = ("error", "precision", "recall", "f1")


def recalls(n):
    logits = np.array([2.5, 2]) + np.array([-10, -9]) * np.power.outer(n, [-0.5])
    return expit(logits)


def rates(n):
    """Return true matrices that sum to 1, both classes alike often."""
    tnr, tpr = recalls(np.asarray(n, float)).T
    return np.stack([tnr, 1 - tnr, 1 - tpr, tpr], -1).reshape(-1, 2, 2) / 2


def replicated(rng, replications, n=SIZES, held=100):
    right = rng.binomial(held, recalls(n), (replications, len(n), 2))
    cells = np.stack([right[..., 0], held - right[..., 0]], -1)
    other = np.stack([held - right[..., 1], right[..., 1]], -1)
    return np.stack([cells, other], -2)


@pytest.fixture(scope="module")
def counts():
    return replicated(np.random.default_rng(1), 6)


@pytest.fixture(scope="module")
def truth():
    return np.broadcast_to(rates(SIZES), (6, 5, 2, 2))


# --- what is foreseen ------------------------------------------------------------------


@pytest.mark.parametrize("method", ["calibrated", "drift", "paper"])
def test_each_size_is_foreseen_by_the_curve_through_the_others(counts, truth, method):
    found = leave_one_size_out(SIZES, counts, truth, method=method, target="mean")
    assert found.metrics == METRICS
    assert found.value.shape == (4, 6, 5)
    for j, i in ((0, 0), (3, 2), (5, 4)):
        kept = np.delete(np.arange(5), i)
        curve = fit_confusion_curve(SIZES[kept], counts[j][kept], method=method)
        for m, name in enumerate(METRICS):
            band = curve.band(name, [SIZES[i]], target="mean")
            assert found.value[m, j, i] == pytest.approx(curve.metric(name, SIZES[i]))
            assert found.lower[m, j, i] == pytest.approx(band.lower[0], abs=1e-9)
            assert found.upper[m, j, i] == pytest.approx(band.upper[0], abs=1e-9)
        assert found.shown[i].tolist() == SIZES[kept].tolist()


@pytest.mark.parametrize("form", ["POW3", "LAST1", "exp3"])
def test_a_form_is_fitted_to_the_metric_itself(counts, truth, form):
    found = leave_one_size_out(SIZES, counts, truth, method=form)
    for j, i in ((0, 0), (5, 4)):
        kept = np.delete(np.arange(5), i)
        for m, name in enumerate(METRICS):
            values = getattr(metrics, name)(counts[j][kept])
            errors = values if name == "error" else 1 - values
            fit = fit_form(SIZES[kept], errors.tolist(), form)
            expected = fit.error([SIZES[i]])[0]
            expected = expected if name == "error" else 1 - expected
            assert found.value[m, j, i] == pytest.approx(expected)
    assert np.isnan(found.lower).all()
    assert np.isnan(found.covered).all()


def test_forms_know_the_range_of_a_metric(counts, truth):
    asked = {"mcc": {}, "cost": {"costs": [[0, 1], [5, 0]]}, "f_beta": {"beta": 2}}
    found = foresee_last(SIZES, counts, truth, method="LAST1", metrics=asked)
    before = counts[:, -2]
    assert found.value[0, :, 0] == pytest.approx(metrics.mcc(before))
    costs = metrics.cost(before, costs=[[0, 1], [5, 0]])
    assert found.value[1, :, 0] == pytest.approx(costs)
    assert found.value[2, :, 0] == pytest.approx(metrics.f_beta(before, beta=2))


def test_the_last_size_is_foreseen_from_a_share_of_the_first(counts, truth):
    found = foresee_last(SIZES, counts, truth, share=0.6, method="calibrated")
    assert found.sizes.tolist() == [640]
    assert found.shown[0].tolist() == [40, 80, 160]
    curve = fit_confusion_curve(SIZES[:3], counts[2][:3], method="calibrated")
    assert found.value[3, 2, 0] == pytest.approx(curve.metric("f1", 640))
    assert foresee_last(SIZES, counts, truth, share=0.99).shown[0].tolist() == [
        *(40, 80, 160, 320)
    ]
    assert len(foresee_last(SIZES, counts, truth, share=0.01).shown[0]) == 2


def test_models_are_entered_at_what_they_saw_and_asked_for_at_their_size(counts, truth):
    seen = SIZES * 2 / 3
    found = foresee_last(
        SIZES, counts, truth, trained_on=seen, method="calibrated", target="mean"
    )
    curve = fit_confusion_curve(seen[:4], counts[0][:4], method="calibrated")
    assert found.value[0, 0, 0] == pytest.approx(curve.metric("error", 640))


def test_sizes_come_in_any_order_and_runs_in_any_number(counts, truth):
    order = [3, 0, 4, 1, 2]
    one = foresee_last(SIZES, counts, truth, method="drift")
    # Lists of runs instead of one array, sizes shuffled; truths go with the sizes.
    ragged = [[[matrix] for matrix in own] for own in counts]
    same = foresee_last(SIZES, ragged, truth, method="drift")
    assert same.value == pytest.approx(one.value)
    turned = foresee_last(
        SIZES[order], counts[:, order], truth[:, order], method="drift"
    )
    assert turned.value == pytest.approx(one.value)
    assert turned.truth == pytest.approx(one.truth)


def test_examples_are_used(counts, truth):
    own = []
    for each in counts:
        right = [
            np.r_[np.arange(100) < c[0, 0], np.arange(100) < c[1, 1]].astype(float)
            for c in each
        ]
        own.append(Examples(np.repeat([0, 1], 100), np.array(right), np.ones((5, 200))))
    plain = foresee_last(SIZES, counts, truth, method="calibrated")
    told = foresee_last(SIZES, counts, truth, method="calibrated", examples=own)
    assert told.lower != pytest.approx(plain.lower)
    left_out = leave_one_size_out(
        SIZES, counts, truth, method="calibrated", examples=own, metrics=["f1"]
    )
    assert left_out.value.shape == (1, 6, 5)


# --- what was true ---------------------------------------------------------------------


def test_truths_are_numbers_or_counts(counts, truth):
    numbers = {"f1": metrics.f1(counts)}
    one = foresee_last(SIZES, counts, counts, metrics=["f1"], method="LAST1")
    other = foresee_last(SIZES, counts, numbers, metrics="f1", method="LAST1")
    assert (one.truth == other.truth).all()
    # Runs are summed.
    runs = np.stack([counts, counts[::-1]], axis=2)
    summed = foresee_last(SIZES, counts, runs, metrics=["f1"], method="LAST1")
    assert summed.truth[0, :, 0] == pytest.approx(metrics.f1(runs.sum(2))[:, -1])


def test_the_target_decides_about_the_band(counts, truth):
    found = {
        target: foresee_last(
            *(SIZES, counts, truth),
            target=target,
            method="calibrated",
            test_size=200,
            runs=1,
        )
        for target in ("mean", "observed", "model")
    }
    width = {target: own.length.mean() for target, own in found.items()}
    assert width["mean"] < width["model"] < width["observed"]
    assert {own.target for own in found.values()} == set(found)


def test_test_sets_of_the_truth_may_differ_by_size(counts, truth):
    small = [50, 50, 50, 50, 50]
    mixed = [50, 50, 50, 50, 5000]
    how = {"method": "calibrated", "metrics": ["error"]}
    one = leave_one_size_out(SIZES, counts, truth, test_size=small, runs=1, **how)
    other = leave_one_size_out(SIZES, counts, truth, test_size=mixed, runs=1, **how)
    assert other.length[0, :4] == pytest.approx(one.length[0, :4])
    assert other.length[0, 4] < 0.9 * one.length[0, 4]


# --- the numbers of the answer ---------------------------------------------------------


def answer(truth, value, lower, upper):
    shape = [np.asarray(a, float)[None, :, None] for a in (truth, value, lower, upper)]
    sizes = np.array([80.0])
    return ForeseenSizes(
        "drift", "observed", 0.95, sizes, (np.array([40.0, 160]),), ("f1",), *shape
    )


def test_the_root_mean_square_is_over_replications():
    """Not the root of the sum, as Eq. (29) has it in print."""
    found = answer([0.5, 0.6, 0.7], [0.6, 0.6, 0.5], [0.4] * 3, [0.65] * 3)
    assert found.rmse[0, 0] == pytest.approx(math.sqrt((0.01 + 0 + 0.04) / 3))
    squares = np.array([0.01, 0, 0.04])
    error = squares.std(ddof=1) / math.sqrt(3) / (2 * found.rmse[0, 0])
    assert found.rmse_error[0, 0] == pytest.approx(error)
    assert found.bias[0, 0] == pytest.approx(-0.1 / 3)
    assert found.covered[0, 0] == pytest.approx(2 / 3)
    assert found.length[0, 0] == pytest.approx(0.25)
    assert found.length_error[0, 0] == pytest.approx(0)


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (7, 10), (190, 200), (200, 200)])
def test_the_interval_of_the_degree_of_confidence_is_wilsons(hits, n):
    upper = np.where(np.arange(n) < hits, 1.0, 0.2)
    found = answer([0.5] * n, [0.5] * n, [0.0] * n, upper)
    low, high = found.covered_interval
    wilson = stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert found.covered[0, 0] == hits / n
    assert (low[0, 0], high[0, 0]) == pytest.approx((wilson.low, wilson.high))


def test_one_replication_has_no_standard_error():
    found = answer([0.5], [0.6], [0.4], [0.7])
    assert found.rmse[0, 0] == pytest.approx(0.1)
    assert math.isnan(found.rmse_error[0, 0])
    assert math.isnan(found.length_error[0, 0])
    assert math.isfinite(found.covered_interval[0][0, 0])


def test_what_is_foreseen_exactly_has_no_error():
    found = answer([0.5, 0.5], [0.5, 0.5], [0.4] * 2, [0.7] * 2)
    assert (found.rmse[0, 0], found.rmse_error[0, 0]) == (0, 0)


def test_the_answer_is_a_table(counts, truth):
    found = leave_one_size_out(SIZES, counts, truth, method="calibrated")
    rows = found.rows()
    assert len(rows) == 20
    assert rows[0]["metric"] == "error"
    assert rows[-1]["n"] == 640
    assert rows[7]["rmse"] == found.rmse[1, 2]


# --- what is refused -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "bad"),
    [
        ("method", "pow9"),
        ("metrics", []),
        ("target", "all"),
        ("confidence", 95),
        ("test_size", [1, 2]),
        ("runs", 0),
        ("counts", []),
        ("counts", 3),
        ("trained_on", SIZES[::-1]),
        ("truth", None),
        ("truth", {"error": np.ones((6, 5))}),
        *(
            ("truth", dict.fromkeys(PAPERS, bad))
            for bad in (np.ones((6, 4)), np.full((6, 5), np.nan), "many")
        ),
    ],
)
def test_what_cannot_be_validated_is_refused(counts, truth, argument, bad):
    asked = {"sizes": SIZES, "counts": counts, "truth": truth} | {argument: bad}
    with refused(argument):
        leave_one_size_out(**asked)


def test_it_takes_three_sizes_and_as_many_truths(counts, truth):
    with refused("metric", "f7"):
        leave_one_size_out(SIZES, counts, truth, metrics=["f7"])
    short = (SIZES[:2], counts[:, :2], truth[:, :2])
    for foresee in (leave_one_size_out, foresee_last):
        with refused("sizes", says=[2]):
            foresee(*short)
    with refused("share", 1):
        foresee_last(SIZES, counts, truth, share=1)
    with refused("truth", says=[6, 5]):
        leave_one_size_out(SIZES, counts, truth[:3])
    with pytest.raises(CurvewiseError, match="POW4"):
        leave_one_size_out(SIZES[:4], counts[:, :4], truth[:, :4], method="POW4")


def test_bad_counts_are_named_by_their_replication(counts, truth):
    broken = counts.astype(float)
    broken[4, 2, 1, 1] = -1
    with refused("counts", -1, says=[5, 3, -1]):
        leave_one_size_out(SIZES, broken, truth)


# --- what validation is for ------------------------------------------------------------


@pytest.mark.slow
def test_targets_are_kept_apart_and_bands_hold_for_their_own():
    """The band of the mean misses what a small test set shows."""
    rng = np.random.default_rng(5)
    fitted = replicated(rng, 300)
    seen = replicated(rng, 300, held=30)
    true = np.broadcast_to(rates(SIZES), (300, 5, 2, 2))
    how = {"method": "calibrated", "test_size": 60, "runs": 1}
    mean = leave_one_size_out(SIZES, fitted, true, target="mean", **how)
    observed = leave_one_size_out(SIZES, fitted, seen, target="observed", **how)
    wrong = leave_one_size_out(SIZES, fitted, seen, target="mean", **how)
    for own in (mean, observed):
        for share in own.covered.ravel():
            assert_at_least(round(share * 300), 300, 0.95)
    assert (mean.length < observed.length).all()
    assert (mean.rmse < observed.rmse).all()  # a noisy truth hides how good a fit is
    with pytest.raises(AssertionError):
        assert_at_least(round(wrong.covered.min() * 300), 300, 0.95)
