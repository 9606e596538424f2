"""More than two classes: what wrong answers are called, averages, and whole curves."""

import numpy as np
import pytest
from scipy.special import expit
from support import assert_at_least, data

from curvewise import metrics
from curvewise.stats.confusion.curve import fit_confusion_curve, fit_confusion_curves
from curvewise.stats.confusion.data import count_table, stacked
from curvewise.stats.confusion.draws import (
    Asked,
    as_counted,
    centred,
    dirichlet_rows,
    draw_error_shares,
    error_shares,
    estimated_shares,
)
from curvewise.stats.forms import fit_forms

SIZES = np.array([40.0, 80, 160, 320, 640])
SHARES = np.array([0.3, 0.3, 0.2, 0.2])
# Of each true class, what its wrong answers are called.
CALLED = np.array(
    [[0, 0.6, 0.3, 0.1], [0.2, 0, 0.5, 0.3], [0.1, 0.1, 0, 0.8], [0.3, 0.3, 0.4, 0]]
)
METHODS = ("calibrated", "drift")
TESTED = 300


def true_rates(n):
    """Return matrices that sum to 1: logits of recalls are power laws of the size."""
    logits = np.array([3, 2.2, 1.6, 2.5]) + np.array(
        [-14, -12, -9, -8]
    ) * np.power.outer(np.asarray(n, float), [-0.5])
    recalls = expit(logits)[..., None]
    return (CALLED * (1 - recalls) + np.eye(4) * recalls) * SHARES[:, None]


def drawn_counts(rng, n, curves, runs):
    """Return counts (curve, size, run, 4, 4) of models that only differ by their tests."""
    rows = true_rates(n) / SHARES[:, None]
    held = (SHARES * TESTED).astype(int)
    return np.stack(
        [
            np.stack(
                [rng.multinomial(held[i], p[i], (curves, runs)) for i in range(4)], -2
            )
            for p in rows
        ],
        axis=1,
    )


def one_curve(seed=0, runs=3):
    return drawn_counts(np.random.default_rng(seed), SIZES, 1, runs)[0]


def question(n, target="mean", curves=1, test_size=float(TESTED), runs=1.0):
    at = np.atleast_1d(np.asarray(n, float))
    every = np.ones((curves, len(at)))
    return Asked(at, target, test_size * every, runs * every)


def drawn(table, n, target="mean", count=512, **options):
    asked = question(n, target, len(table), **options)
    recalls = np.full((len(table), len(asked.sizes), table.classes), 0.8)
    return draw_error_shares(table, asked, count, recalls)


# --- what wrong answers are called -----------------------------------------------------


def test_shares_of_errors_sum_to_1_and_none_is_on_the_diagonal():
    found = error_shares(count_table(SIZES, one_curve()), np.array([20.0, 200, 5000]))
    assert found.shape == (1, 3, 4, 4)
    assert found.sum(-1) == pytest.approx(np.ones((1, 3, 4)))
    assert (np.diagonal(found, axis1=-2, axis2=-1) == 0).all()
    assert np.abs(found - CALLED).max() < 0.12


def test_of_two_classes_there_is_one_wrong_answer():
    """The general way gives the same as the short one."""
    counts = [[[30, 10], [12, 28]], [[33, 7], [9, 31]], [[35, 5], [6, 34]]]
    table = count_table(SIZES[:3], counts)
    short = error_shares(table, SIZES)
    assert short.tolist() == [[[[0, 1], [1, 0]]] * 5]
    assert estimated_shares(table, SIZES)[0] == pytest.approx(short)
    assert drawn(table, SIZES).shape == (512, 1, 5, 2, 2)
    weights = np.array([[0.0, 3], [0.5, 0]])
    assert dirichlet_rows(weights) == pytest.approx(
        np.broadcast_to(1 - np.eye(2), (256, 2, 2))
    )


def test_other_names_for_classes_give_the_same_shares():
    order = [2, 0, 3, 1]
    counts = one_curve()
    table = count_table(SIZES, counts)
    turned = count_table(SIZES, counts[..., order, :][..., order])
    found = error_shares(table, SIZES)[..., order, :][..., order]
    assert error_shares(turned, SIZES) == pytest.approx(found)


def test_sizes_far_away_hardly_count():
    """Beyond the last size, shares are about those of the last two."""
    early, late = np.full((3, 3), 20), np.full((3, 3), 20)
    early[0], late[0] = [80, 40, 0], [80, 0, 40]
    table = count_table([40, 80, 160, 320], [early, early, late, late])
    first, last, beyond = error_shares(table, np.array([40.0, 320, 10_000]))[0, :, 0]
    assert first[1] > 0.8
    assert last[2] > 0.8
    assert beyond == pytest.approx(last, abs=0.02)


def test_padded_curves_and_single_ones_are_told_the_same():
    tables = [
        count_table(SIZES, one_curve(1)),
        count_table(SIZES[:3], one_curve(2)[:3]),
    ]
    both = stacked(tables)
    for i, alone in enumerate(tables):
        found = error_shares(both, SIZES)[i]
        assert found == pytest.approx(error_shares(alone, SIZES)[0])
        assert drawn(both, SIZES)[:, i] == pytest.approx(drawn(alone, SIZES)[:, 0])


def test_a_class_without_wrong_answers_has_even_shares():
    counts = np.array([[40, 0, 0], [5, 30, 5], [9, 1, 30]])
    found = error_shares(count_table(SIZES[:2], [counts] * 2), SIZES[:1])[0, 0]
    assert found[0] == pytest.approx([0, 0.5, 0.5])
    assert found[2, 0] > 0.7


def test_draws_are_about_the_estimate_and_leave_nothing_to_chance():
    table = count_table(SIZES, one_curve())
    found = drawn(table, [640, 1280])
    assert found.sum(-1) == pytest.approx(np.ones((512, 1, 2, 4)))
    assert (found == drawn(table, [640, 1280])).all()
    assert (
        np.abs(found.mean(0) - error_shares(table, np.array([640, 1280.0]))).max()
        < 0.01
    )


def test_draws_have_the_spread_of_a_dirichlet():
    weights = np.array([[0, 3, 1, 0.5], [2, 0, 0.5, 9], [30, 20, 0, 5], [1, 1, 1, 0]])
    total = weights.sum(-1, keepdims=True)
    mean = weights / total
    found = dirichlet_rows(weights)
    assert found.mean(0) == pytest.approx(mean, abs=0.01)
    some = mean > 0
    expected = (mean * (1 - mean) / (total + 1))[some]
    assert found.var(0)[some] == pytest.approx(expected, rel=0.15)
    # The negative control: another total is seen.
    assert found.var(0)[some] != pytest.approx(expected * 0.7, rel=0.15)


def test_shares_are_surer_with_more_runs_and_near_what_was_run():
    few, many = (count_table(SIZES, one_curve(3, runs)) for runs in (1, 12))
    width = [
        drawn(table, [160]).std(0)[0, 0][CALLED > 0].mean() for table in (few, many)
    ]
    assert width[1] < 0.8 * width[0]
    near, far = drawn(many, [640, 6400]).std(0)[0].mean((-2, -1))
    assert far > 1.2 * near


def test_what_one_test_set_shows_varies_more_than_the_mean():
    table = count_table(SIZES, one_curve(3, 6))
    mean, model, observed, seen = (
        drawn(table, [640], target, test_size=size).std(0).mean()
        for target, size in (
            ("mean", TESTED),
            ("model", TESTED),
            ("observed", TESTED),
            ("observed", np.nan),
        )
    )
    assert mean < model < observed
    assert mean < seen
    large = drawn(table, [640], "observed", test_size=1e9, runs=1e9).std(0).mean()
    assert large == pytest.approx(mean, rel=1e-6)


def share_hits(factor=1.0):
    """Return how many true shares lie inside 95 % of the draws, of how many."""
    rng = np.random.default_rng(7)
    table = stacked([count_table(SIZES, c) for c in drawn_counts(rng, SIZES, 150, 2)])
    found = drawn(table, [160, 1280])
    middle = found.mean(0)
    low, high = np.quantile(middle + factor * (found - middle), [0.025, 0.975], axis=0)
    cells = CALLED > 0
    holds = ((low <= CALLED) & (high >= CALLED))[..., cells]
    return int(holds.sum()), holds.size


def test_intervals_of_shares_hold():
    assert_at_least(*share_hits(), 0.95)
    with pytest.raises(AssertionError):  # the negative control: half as wide
        assert_at_least(*share_hits(0.4), 0.95)


# --- draws that are moved to the estimate ----------------------------------------------


def test_draws_are_centred_inside_the_range():
    draws = np.linspace(0.5, 0.9, 101)[:, None]
    moved = centred("f1", draws, np.array([0.95]))
    assert np.median(moved) == pytest.approx(0.95)
    assert moved.max() == 1.0
    assert centred("mcc", draws - 1, np.array([-0.9])).min() == -1.0
    assert centred("cost", draws, np.array([7.0])).max() == pytest.approx(7.2)
    assert centred("f1", draws, np.array([0.7])) == pytest.approx(draws)


def test_draws_at_the_end_of_the_range_stay_there():
    draws = np.array([0.7, 0.8, 0.9, 1.0, 1.0])[:, None]
    assert centred("f1", draws, np.array([0.85]))[:, 0] == pytest.approx(
        [0.65, 0.75, 0.85, 1, 1]
    )


def test_what_is_observed_are_whole_answers():
    matrix = np.array([[0.496, 0.004], [0.013, 0.487]])[None, None, None]
    seen = as_counted(matrix, question([100], "observed", test_size=100.0))
    assert seen[0, 0, 0] == pytest.approx(np.array([[0.5, 0], [0.01, 0.49]]))
    runs = as_counted(matrix, question([100], "observed", test_size=100.0, runs=10.0))
    assert runs == pytest.approx(matrix)
    for target, size in (("mean", 100.0), ("model", 100.0), ("observed", np.nan)):
        left = as_counted(matrix, question([100], target, test_size=size))
        assert (left == matrix).all()


# --- whole curves ----------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_rates_are_matrices_of_the_classes(method):
    curve = fit_confusion_curve(SIZES, one_curve(), method=method)
    rates = curve.rates([100, 1280])
    assert rates.shape == (2, 4, 4)
    assert rates.sum(-1) == pytest.approx(np.stack([SHARES] * 2))
    assert (rates >= 0).all()
    assert np.abs(rates - true_rates([100, 1280])).max() < 0.03


@pytest.mark.parametrize("method", METHODS)
def test_other_names_for_classes_give_the_same_curve(method):
    order = [2, 0, 3, 1]
    counts = one_curve()
    curve = fit_confusion_curve(SIZES, counts, method=method)
    turned = fit_confusion_curve(
        SIZES, counts[..., order, :][..., order], method=method
    )
    found = curve.rates([100, 1280])[..., order, :][..., order]
    assert turned.rates([100, 1280]) == pytest.approx(found)
    # Draws are over other points then: the same up to what those leave.
    one = curve.band("f1", [1280], average="macro")
    other = turned.band("f1", [1280], average="macro")
    assert other.lower == pytest.approx(one.lower, abs=0.004)
    assert other.upper == pytest.approx(one.upper, abs=0.004)


@pytest.mark.parametrize("method", METHODS)
def test_of_two_classes_either_may_be_the_positive_one(method):
    rng = np.random.default_rng(4)
    right = rng.binomial([90, 60], expit([[0.5, 1], [1, 1.4], [1.6, 1.7], [2, 2]]))
    counts = [[[r, 90 - r], [60 - s, s]] for r, s in right]
    curve = fit_confusion_curve(SIZES[:4], counts, method=method)
    turned = fit_confusion_curve(
        SIZES[:4], [np.array(c)[::-1, ::-1] for c in counts], method=method
    )
    for name in ("precision", "recall", "f1", "jaccard"):
        one = curve.metric(name, [100, 900], positive=0)
        assert turned.metric(name, [100, 900]) == pytest.approx(one)
    for name in ("error", "mcc", "kappa", "balanced_accuracy"):
        one = curve.metric(name, [100, 900])
        assert turned.metric(name, [100, 900]) == pytest.approx(one)


def test_averages_are_those_of_the_matrix():
    """By hand, from the matrix of rates: class by class, then averaged."""
    curve = fit_confusion_curve(SIZES, one_curve())
    matrix = curve.rates(1280)
    tp, called, true = np.diagonal(matrix), matrix.sum(0), matrix.sum(1)
    precision, recall = tp / called, tp / true
    f1 = 2 * precision * recall / (precision + recall)
    at = 1280
    assert curve.metric("precision", at, average="macro") == pytest.approx(
        precision.mean()
    )
    assert curve.metric("f1", at, average="macro") == pytest.approx(f1.mean())
    assert curve.metric("f1", at) == pytest.approx(f1.mean())
    assert curve.metric("f1", at, average="weighted") == pytest.approx(
        (f1 * true).sum()
    )
    assert curve.metric("recall", at, average="weighted") == pytest.approx(tp.sum())
    for name in ("precision", "recall", "f1"):
        assert curve.metric(name, at, average="micro") == pytest.approx(tp.sum())
    assert curve.metric("accuracy", at) == pytest.approx(tp.sum())
    for k in range(4):
        assert curve.metric("f1", at, positive=k) == pytest.approx(f1[k])


def test_what_was_observed_is_what_scikit_learn_says():
    learn = pytest.importorskip("sklearn.metrics")
    counts = one_curve().sum(1).astype(int)
    curve = fit_confusion_curve(SIZES, one_curve())
    cell = np.arange(16)
    for average in ("macro", "micro", "weighted"):
        told = curve.observed("f1", average=average)
        for k in range(len(SIZES)):
            each = np.repeat(cell, counts[k].ravel())
            theirs = learn.f1_score(each // 4, each % 4, average=average)
            assert told[k] == pytest.approx(theirs)


def test_micro_f1_has_the_band_of_the_accuracy():
    curve = fit_confusion_curve(SIZES, one_curve())
    one = curve.band("f1", [100, 1280], target="observed", average="micro")
    other = curve.band("accuracy", [100, 1280], target="observed")
    assert one.lower == pytest.approx(other.lower)
    assert one.upper == pytest.approx(other.upper)


@pytest.mark.parametrize("method", METHODS)
def test_bands_of_any_metric_of_many_classes_stay_inside_its_range(method):
    perfect = np.stack([np.diag([20, 30, 10])] * 2)
    useless = np.array([[20, 0, 0], [30, 0, 0], [10, 0, 0]])
    for counts in ([perfect] * 3, [useless] * 3, [useless, perfect[0], perfect[1]]):
        curve = fit_confusion_curve(SIZES[:3], counts, method=method)
        for name in ("error", "f1", "precision", "mcc", "kappa"):
            low = -1 if name in ("mcc", "kappa") else 0
            for target in ("mean", "observed", "model"):
                band = curve.band(name, [40, 5000], target=target)
                assert (band.lower >= low - 1e-12).all()
                assert (band.upper <= 1 + 1e-12).all()
                assert (band.lower <= band.upper).all()


@pytest.mark.parametrize("method", [*METHODS, "paper"])
def test_one_of_many_curves_is_what_it_is_alone(method):
    many, sizes = [one_curve(1), one_curve(2)[:3]], [SIZES, SIZES[:3]]
    curves = fit_confusion_curves(sizes, many, method=method)
    assert len(curves) == len(list(curves)) == 2
    assert curves.rates(100).shape == (2, 4, 4)
    assert np.isnan(curves.observed("f1")).sum() == 2
    asked = {"n": [100, 1280], "target": "observed"}
    band, both = curves.band("f1", **asked), curves.bands(["f1", "error"], **asked)
    for i, own in enumerate(curves):
        alone = fit_confusion_curve(sizes[i], many[i], method=method)
        assert own.sizes.tolist() == alone.sizes.tolist()
        assert own.counts.tolist() == alone.counts.tolist()
        assert own.rates([100, 1280]) == pytest.approx(alone.rates([100, 1280]))
        assert own.lack_of_fit() == pytest.approx(alone.lack_of_fit())
        assert curves.lack_of_fit()[i] == pytest.approx(own.lack_of_fit())
        assert band.lower[i] == pytest.approx(alone.band("f1", **asked).lower)
        assert both["f1"].upper[i] == pytest.approx(
            alone.bands(["f1", "error"], **asked)["f1"].upper
        )
        assert curves[i - 2].metric("f1", 50) == own.metric("f1", 50)
        kinds = [one.kind for one in curves.concerns if one.curve == i]
        assert kinds == [one.kind for one in alone.concerns]
    with pytest.raises(IndexError):
        curves[2]
    with pytest.raises(TypeError):
        len(alone)


def test_of_one_curve_and_of_many_one_class_says_which_models():
    counts = [one_curve(1), one_curve(2, runs=2)]
    curves = fit_confusion_curves(SIZES, counts)
    estimands = {own.band("f1", 40, target="observed").estimand for own in curves}
    assert len(estimands) == 2
    assert curves.band("f1", 40, target="observed").estimand not in estimands


# --- real curves -----------------------------------------------------------------------


def digits():
    """Yield learners of ten digits: counts (seed, size, 10, 10), complete seeds only."""
    table = pytest.importorskip("pyarrow.parquet").read_table(
        data("learning_curves/digits_confusion_long.parquet")
    )
    columns = {name: np.array(table[name]) for name in table.column_names}
    sizes = np.unique(columns["n"])
    for learner in np.unique(columns["learner"]):
        own = columns["learner"] == learner
        seed, n, true, called, count = (
            columns[name][own] for name in ("seed", "n", "true", "pred", "count")
        )
        counts = np.zeros((seed.max() + 1, len(sizes), 10, 10))
        counts[seed, np.searchsorted(sizes, n), true, called] = count
        yield learner, sizes, counts[(counts.sum((-2, -1)) > 0).all(1)]


def test_macro_f1_of_digits_is_foreseen_better_than_by_its_own_curve():
    """At 1280 from the first three, four and five sizes, three learners."""
    missed = []
    for _, sizes, counts in digits():
        f1 = metrics.f1(counts.sum(0))
        for k in (3, 4, 5):
            runs = counts[:, :k].swapaxes(0, 1)
            curve = fit_confusion_curve(sizes[:k], list(runs), method="drift")
            power = fit_forms(sizes[:k], [1 - f1[:k]], "POW3").error(sizes[-1:])
            told = (curve.metric("f1", sizes[-1]), 1 - power[0, 0], f1[k - 1])
            missed.append(np.abs(np.array(told) - f1[-1]))
    ours, power, last = np.mean(missed, axis=0)
    assert ours < 0.017
    assert ours < power < last


@pytest.mark.slow
def test_bands_of_macro_f1_of_digits_hold():
    """From one seed, what that seed shows at 1280; from three sizes that is far ahead."""
    hits, tasks = 0, 0
    for _, sizes, counts in digits():
        for k in (4, 5):
            curves = fit_confusion_curves(sizes[:k], counts[:, :k], method="drift")
            band = curves.band(
                "f1", sizes[-1:], target="observed", test_size=500, runs=1
            )
            truth = metrics.f1(counts[:, -1])
            hits += int(
                ((band.lower[:, 0] <= truth) & (truth <= band.upper[:, 0])).sum()
            )
            tasks += len(counts)
    assert_at_least(hits, tasks, 0.95)


# --- coverage where the truth is known -------------------------------------------------

ASKED = {
    "error": {},
    "f1": {"average": "macro"},
    "precision": {"positive": 2},
    "mcc": {},
}


def band_hits(method, target, curves, runs, seed=11):
    """Return how many bands hold, (metric, size), at 40, 160, 1280 and 2560."""
    rng = np.random.default_rng(seed)
    at = np.array([40.0, 160, 1280, 2560])
    fits = fit_confusion_curves(
        SIZES, drawn_counts(rng, SIZES, curves, runs), method=method
    )
    seen = drawn_counts(rng, at, curves, 1)[:, :, 0]
    how = {"test_size": TESTED, "runs": 1} if target == "observed" else {}
    bands = fits.bands(ASKED, at, target=target, is_joint=False, **how)
    hits = []
    for name, settings in ASKED.items():
        told = getattr(metrics, name)
        truth = told(true_rates(at) if target == "mean" else seen, **settings)
        hits.append(
            ((bands[name].lower <= truth) & (truth <= bands[name].upper)).sum(0)
        )
    return np.array(hits)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["calibrated", "drift"])
@pytest.mark.parametrize("target", ["mean", "observed"])
def test_bands_of_four_classes_hold_at_every_size(method, target):
    for cell in band_hits(method, target, 400, 2).ravel():
        assert_at_least(cell, 400, 0.95)


@pytest.mark.slow
def test_bands_that_promise_less_hold_less_often():
    """The negative control: bands of 60 % are no bands of 95 %."""
    rng = np.random.default_rng(12)
    fits = fit_confusion_curves(
        SIZES, drawn_counts(rng, SIZES, 200, 6), method="calibrated"
    )
    seen = metrics.error(drawn_counts(rng, SIZES[1:3], 200, 1)[:, :, 0])
    how = {"target": "observed", "test_size": TESTED, "runs": 1}
    band = fits.band("error", SIZES[1:3], confidence=0.6, **how)
    hits = ((band.lower <= seen) & (seen <= band.upper)).sum()
    with pytest.raises(AssertionError):
        assert_at_least(hits, 400, 0.95)
