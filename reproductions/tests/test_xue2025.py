"""Xue et al. (2025): formulas, what the print says by itself, and a small rerun."""

from dataclasses import replace
from pathlib import Path

import blocks_of_normals as normals
import numpy as np
import pytest

import curvewise as cw
from curvewise import metrics
from curvewise.engine.experiment import Algorithm, Experiment
from curvewise.stats import counts
from curvewise.zoo import simple_task
from curvewise.zoo.estimators import Learner
from curvewise_papers.study import Results, Runner, printed
from curvewise_papers.xue2025 import PAPER, arithmetic, forecasts, tables
from curvewise_papers.xue2025.blocks import (
    METRICS,
    SIZES,
    TEST,
    Answers,
    Blocks,
    answers,
    counted,
    experiment,
)
from curvewise_papers.xue2025.forecasts import (
    CALIBRATED,
    CORRECTED,
    DRIFT,
    ENTERED,
    HALF_STEPS,
    POW3,
    POW3_CORRECTED,
    PRINTED,
    Moved,
    by_form,
    by_library,
    by_matrix,
    by_power_law,
    corrected_bands,
    exponents,
    judged,
    moved,
    printed_bands,
    printed_f1,
    widest,
)
from curvewise_papers.xue2025.tables import LEARNERS, WORDS, Kept, said_in, wins_of

KEPT = Path(__file__).parents[2] / "docs/results/xue2025/tables"
RUNNER = Runner("quick", None, {"executor": "serial", "progress": False})

# Intervals of one matrix: (tp, fp, fn, tn, lambda), right F1, F1 by Eq. (28).
MATRICES = (
    (40, 12, 9, 60, 1.0, (0.6844409, 0.8588752), (0.5202662, 0.7526567)),
    (5, 3, 2, 3, 1.0, (0.3483968, 0.8394564), (0.2109446, 0.7233303)),
    (200, 30, 40, 157, 0.5, (0.8128515, 0.8820213), (0.6847093, 0.7889429)),
)

# A replica made elsewhere, with another code and other random numbers: RMSE in points of
# error, precision, recall, F1 by size, models entered at 2N/3; bands by size.
REPLICA = {
    "LDA": {
        "replications": 1000,
        "rmse": (
            (2.95, 2.22, 2.32, 2.55, 2.74, 3.10),
            (3.46, 2.81, 2.90, 3.18, 3.41, 3.81),
            (4.79, 3.36, 3.54, 3.88, 4.25, 4.68),
            (3.53, 2.50, 2.58, 2.80, 3.02, 3.38),
        ),
        "pow3": (3.59, 2.37, 2.34, 2.56, 2.83, 3.24),
        "covered": (1.0, 1.0, 1.0, 0.999, 0.969, 0.829),
        "length": (0.4513, 0.3294, 0.2343, 0.1652, 0.116, 0.0814),
        "pow3_covered": (0.922, 0.794, 0.655, 0.741, 0.843, 0.853),
        "pow3_length": (0.1351, 0.063, 0.0444, 0.0578, 0.0803, 0.0944),
    },
    "NB": {
        "replications": 1000,
        "rmse": (
            (2.68, 2.05, 2.12, 2.21, 2.38, 2.64),
            (3.27, 2.55, 2.60, 2.74, 2.98, 3.34),
            (3.70, 2.99, 3.17, 3.45, 3.70, 4.04),
            (2.59, 2.11, 2.22, 2.36, 2.55, 2.83),
        ),
        "pow3": (3.33, 2.13, 2.19, 2.27, 2.48, 2.89),
        "covered": (1.0, 1.0, 0.999, 0.996, 0.964, 0.81),
        "length": (0.4144, 0.2939, 0.2037, 0.1412, 0.0979, 0.068),
        "pow3_covered": (0.899, 0.817, 0.64, 0.749, 0.845, 0.857),
        "pow3_length": (0.1163, 0.0578, 0.0405, 0.0528, 0.0732, 0.0861),
    },
    "TREE": {
        "replications": 300,
        "rmse": (
            (2.80, 2.11, 2.00, 2.29, 2.74, 3.51),
            (3.33, 2.22, 2.29, 2.65, 3.25, 4.14),
            (5.17, 3.52, 3.25, 3.93, 4.22, 5.05),
            (3.46, 2.55, 2.23, 2.55, 2.89, 3.64),
        ),
        "pow3": (3.47, 2.19, 1.96, 2.32, 2.82, 3.53),
        "covered": (1.0, 1.0, 1.0, 1.0, 0.963, 0.79),
        "length": (0.4675, 0.3411, 0.2435, 0.172, 0.1212, 0.0856),
        "pow3_covered": (0.953, 0.853, 0.743, 0.793, 0.837, 0.83),
        "pow3_length": (0.1423, 0.0645, 0.0455, 0.0593, 0.0823, 0.0969),
    },
}


# --- formulas ---------------------------------------------------------------------------


@pytest.mark.paper
@pytest.mark.parametrize(("tp", "fp", "fn", "tn", "prior", "right", "wrong"), MATRICES)
def test_eq_28_is_the_interval_of_another_number(tp, fp, fn, tn, prior, right, wrong):
    assert printed_f1(tp, fp, fn, prior) == pytest.approx(wrong, abs=1e-6)
    jaccard = counts.jaccard_interval(tp, fp, fn, prior=prior)
    assert printed_f1(tp, fp, fn, prior) == pytest.approx(tuple(jaccard), abs=1e-9)
    found = counts.f1_interval(tp, fp, fn, prior=prior)
    assert tuple(found) == pytest.approx(right, abs=1e-6)
    point = float(metrics.f1([[tn, fp], [fn, tp]]))
    assert right[0] < point < right[1]
    # Where the data are few, the wrong one is wide enough to hold F1 by accident.
    assert wrong[1] < point or tp + fp + fn < 20


def test_bands_as_printed_are_those_of_the_library_but_for_f1():
    cells = np.array([[[60.0, 12], [9, 40]], [[3, 3], [2, 5]]])
    low, high = printed_bands(cells)
    tn, fp, fn, tp = cells.reshape(2, 4).T
    error = counts.error_interval(tp, fp, fn, tn, prior="paper")
    np.testing.assert_allclose([low[0], high[0]], [error.lower, error.upper])
    np.testing.assert_allclose([low[3], high[3]], printed_f1(tp, fp, fn))
    better_low, better_high = corrected_bands(cells)
    np.testing.assert_allclose(low[1:3], better_low[1:3])
    np.testing.assert_allclose(high[1:3], better_high[1:3])
    assert (better_low[[0, 3]] != low[[0, 3]]).all()
    point = metrics.f1(cells)
    assert (better_low[3] < point).all()
    assert (point < better_high[3]).all()


@pytest.mark.paper
@pytest.mark.parametrize(
    ("n", "error", "width"),
    [
        (40, 0.163, 0.382966),
        (40, 0.241, 0.424111),
        (40, 0.304, 0.447641),
        (1280, 0.163, 0.070039),
        (1280, 0.241, 0.080954),
        (1280, 0.304, 0.087005),
    ],
)
def test_widths_of_virtual_matrices(n, error, width):
    wrong = error * n / 3 / 2
    right = (1 - error) * n / 3 / 2
    low, high = printed_bands(np.array([[right, wrong], [wrong, right]]))
    assert high[0] - low[0] == pytest.approx(width, abs=1e-5)


# --- the print by itself ----------------------------------------------------------------


@pytest.mark.paper
def test_no_interval_of_tables_4_and_5_is_possible_and_all_of_table_3_are():
    for name, most in (
        ("table4", [0.0956, 0.0678, 0.048, 0.0339, 0.024, 0.017]),
        ("table5", [0.2918, 0.2104, 0.1503, 0.1068, 0.0757]),
    ):
        table = printed("xue2025").tables[name]
        longest = widest(np.array(table["sizes"]) / 3)
        np.testing.assert_allclose(longest, most, atol=6e-5)
        assert (np.array(table["matrices"]["il"]) / 10 > longest).all()
    longest = widest(np.array(SIZES) / 3)
    for lengths in said_in(3, "matrices", "il").values():
        assert (np.array(lengths) / 10 < longest + 0.0005).all()


@pytest.mark.paper
def test_doc_follows_from_lengths_and_rmse():
    found = arithmetic.run(RUNNER).tables["doc"]
    away = np.abs(np.array(found["ours"]) - found["printed"])
    assert len(away) == 48
    assert away.max() < 0.05


@pytest.mark.paper
def test_who_is_better_in_print():
    assert wins_of(2) == {"better": 86, "tie": 2, "worse": 8}
    assert wins_of(4) == {"better": 16, "tie": 0, "worse": 8}
    assert wins_of(5) == {"better": 10, "tie": 0, "worse": 10}
    every = [wins_of(2, learner) for learner in LEARNERS]
    assert {k: sum(own[k] for own in every) for k in every[0]} == wins_of(2)


@pytest.mark.paper
def test_stars_are_where_the_print_is_bold():
    """The lower RMSE, both where they are alike; DoC above .95 and not at it."""
    found = tables.claims(Results.read(KEPT))
    table2 = [c for c in found if c.table in {f"Table 2, {w}" for w in WORDS.values()}]
    starred = [c for c in table2 if c.printed_bold]
    rows = [c.row.split(", ")[1] for c in starred]
    wins = wins_of(2)
    assert rows.count("matrices") == wins["better"] + wins["tie"]
    assert rows.count("POW3") == wins["worse"] + wins["tie"]
    # One of two at least has a star in each of the 96 cells, of ours too.
    low = [c for c in table2 if c.ours_bold]
    ours = {(c.table, c.row.split(", ")[0], c.column) for c in low}
    assert len(ours) == 96
    shares = [c for c in found if c.table == "Table 3, matrices" and "DoC" in c.row]
    for claim in shares:
        assert claim.printed_bold == (claim.printed > 0.95)
        assert claim.ours_bold == (round(claim.ours, 2) > 0.95)
    means = [
        np.mean([said_in(4, row, metric) for metric in METRICS])
        for row in ("POW3", "matrices")
    ]
    assert means == pytest.approx([1.82, 2.09], abs=0.005)


@pytest.mark.paper
def test_claims_on_the_print():
    claims = PAPER.claims(PAPER.study("printed"), arithmetic.run(RUNNER))
    told = {table.split(",")[0]: claims.tally(table) for table in claims.tables}
    assert told["Table 3"] == {"agrees": 48, "differs": 0, "unchecked": 0}
    impossible = [c for c in claims.claims if "longest possible" in c.table]
    assert len(impossible) == 11
    assert all(c.verdict == "differs" and c.printed > c.ours for c in impossible)
    # The negative control: had another DoC been printed, the claim would differ.
    for claim in claims.claims:
        if claim.verdict == "agrees":
            other = replace(claim, printed=claim.printed + 2 * claim.tolerance + 0.01)
            assert other.verdict == "differs"


def test_the_file_has_all_errata_filled_in():
    errata = PAPER.printed.errata
    assert len(errata) == 13
    assert not any("{" in text for e in errata for text in (e.proof, e.correct, e.here))


# --- one replication --------------------------------------------------------------------


@pytest.fixture(scope="module")
def some():
    return cw.run(experiment(("NB",), 1), executor="serial", progress=False)


def test_a_trial_tells_blocks_and_classes_apart(some):
    trials = some.where(task="simple")
    own = answers(trials)
    assert own.trained_on.tolist() == [27, 54, 107, 214, 427, 854]
    for k, size in enumerate(SIZES):
        blocks = own.validated[k]
        assert blocks.shape == (1, 1280 // size, 2, 2)
        assert (blocks.sum((-2, -1)) == size // 3).all()
        for j, trial in enumerate(trials):
            np.testing.assert_array_equal(blocks[j].sum(0), trial.counts[k])
    assert own.tested.sum((-2, -1)) == pytest.approx(np.full((1, 6), TEST))
    np.testing.assert_allclose(own.truth[0], metrics.error(own.tested))
    np.testing.assert_allclose(own.truth[2], metrics.recall(own.tested))
    # Of one model, the mean over models is the model's.
    np.testing.assert_allclose(own.truth[3, :, -1], metrics.f1(own.tested[:, -1]))


def test_examples_go_with_counts(some):
    own = answers(some.where(task="exp2"))
    for j, examples in enumerate(own.examples):
        right, asked = (
            np.stack([part[:, examples.truth == c].sum(1) for c in (0, 1)], -1)
            for part in (examples.right, examples.asked)
        )
        np.testing.assert_array_equal(asked, own.summed[j].sum(-1))
        diagonal = np.diagonal(own.summed[j], axis1=-2, axis2=-1)
        np.testing.assert_array_equal(right, diagonal)


def test_blocks_are_disjoint_and_validated_examples_do_not_train():
    """A learner that remembers is right on what it has seen, and only there."""
    data = simple_task(test=TEST).sample(*np.random.default_rng(0).spawn(2))
    trained = []

    def keys(X):
        return [x.tobytes() for x in X]

    truth = dict(zip(keys(data.X), data.y.tolist(), strict=True))

    def remember(params, X, y, rng):
        del params, rng
        trained.append(set(keys(X)))
        seen = dict(zip(keys(X), y.tolist(), strict=True))
        return lambda at: np.array([seen.get(key, 1 - truth[key]) for key in keys(at)])

    rng = np.random.default_rng(1)
    for size, told in Blocks(remember)({}, data, rng):
        assert not told["correct"].any()
        assert told["whole tp"] + told["whole tn"] == 0
        wholes, parts = trained[1::2], trained[0::2]
        assert [len(s) for s in wholes] == [size] * (1280 // size)
        assert len(set.union(*wholes)) == 1280
        assert all(p < w for p, w in zip(parts, wholes, strict=True))
        trained.clear()


def test_counted():
    assert counted(np.array([0, 0, 1, 1, 1]), np.array([1, 0, 1, 1, 0])).tolist() == [
        [1, 1],
        [1, 2],
    ]


def test_a_moved_generator_is_the_same_but_for_class_1():
    task = simple_task(test=TEST)
    here, same, there = (
        sample(*np.random.default_rng(3).spawn(2))
        for sample in (task.sample, Moved(task.sample), Moved(task.sample, 0.55, 2.25))
    )
    np.testing.assert_allclose(here.X, same.X)
    one = here.y == 1
    np.testing.assert_array_equal(here.X[~one], there.X[~one])
    back = (there.X[one] - 0.55) / np.sqrt(2.25)
    np.testing.assert_allclose(back, (here.X[one] - 0.5) / np.sqrt(2))
    for which in HALF_STEPS:
        assert moved(which, 3).tasks[0].name == "simple"  # so that streams are the same


# --- many replications ------------------------------------------------------------------


def simulated(learner, replications, seed=0):
    """Return answers of learners in numpy, another way to the same numbers."""
    blocks = normals.in_parts(learner, replications, seed, is_stratified=True)
    # (replication, block, 2, 2) for each size
    whole = np.stack([own.mean(1) for own in blocks.tests], axis=1)
    truth = np.stack(
        [
            np.stack([getattr(metrics, name)(own).mean(1) for own in blocks.tests], -1)
            for name in METRICS
        ]
    )
    examples = tuple(
        normals.Examples(*parts)
        for parts in zip(
            blocks.truth,
            blocks.right.swapaxes(0, 1).astype(float),
            blocks.asked.swapaxes(0, 1).astype(float),
            strict=True,
        )
    )
    return Answers(
        blocks.trained_on, tuple(blocks.counts), examples, whole, truth, truth
    )


@pytest.fixture(scope="module")
def lda():
    return simulated("LDA", 120)


@pytest.mark.paper
def test_a_small_rerun_agrees_with_table_2(lda):
    """120 replications; 3 s.e. and the gap of the stand-in: 1 in 60 would fail by chance
    if seeds were drawn anew, for 6 numbers.
    """
    found = judged(by_matrix(lda, ENTERED), lda.truth, ENTERED, "observed")
    said = np.array(said_in(2, "matrices", "error")["LDA"])
    errors = np.hypot(found.rmse_error[0], found.rmse_error[0] * np.sqrt(0.12))
    assert (np.abs(100 * found.rmse[0] - said) < 300 * errors + 0.1).all()
    # To the letter it does not, at the small sizes; and a broken fit is noticed.
    letter = judged(by_matrix(lda, PRINTED), lda.truth, PRINTED, "observed")
    assert 100 * letter.rmse[0, 0] > said[0] + 0.5
    assert letter.bias[0, 0] > 0.005
    broken = judged(1 - by_matrix(lda, ENTERED), lda.truth, "broken", "observed")
    assert (np.abs(100 * broken.rmse[0] - said) > 300 * errors + 0.1).all()


@pytest.mark.paper
def test_a_small_rerun_has_the_lengths_and_the_coverage_of_table_3(lda):
    found = judged(by_matrix(lda, ENTERED), lda.truth, ENTERED, "observed")
    lengths = np.array(said_in(3, "matrices", "il")["LDA"]) / 10
    np.testing.assert_allclose(found.length[0], lengths, atol=0.009)
    assert (found.covered[0, :4] > 0.97).all()
    # .81 in print; s.e. .036: a false alarm in 370 runs of other seeds.
    assert found.covered[0, 5] == pytest.approx(0.81, abs=0.11)


def test_bands_of_f1_as_printed_miss_and_corrected_ones_do_not(lda):
    wrong = judged(by_matrix(lda, PRINTED), lda.truth, PRINTED, "observed")
    right = judged(by_matrix(lda, CORRECTED), lda.truth, CORRECTED, "observed")
    assert wrong.covered[3, 2:].max() < 0.3
    assert right.covered[3, :4].min() > 0.95
    np.testing.assert_allclose(
        right.value, judged(by_matrix(lda, ENTERED), lda.truth, "", "observed").value
    )


def test_power_laws_and_forms_foresee_each_metric(lda):
    few = lda.first(30)
    for told in (by_power_law(few, is_corrected=True), by_form(few, "POW3")):
        assert told.shape == (3, 4, 30, 6)
        away = np.abs(told[0] - few.truth).mean(1)
        assert (away[:, 1:5] < 0.08).all()
    low, high = by_power_law(few, is_corrected=False)[1:]
    assert (low <= high).all()
    assert (low >= 0).all()
    assert (high <= 1).all()


def test_exponents_stay_where_the_penalty_wants_them(lda):
    found = exponents(lda)
    assert found["n"] == list(SIZES)
    assert min(found["share"]) > 0.5
    assert set(found["median"]) == {-0.5}


def test_what_is_kept_of_a_cell(lda):
    few = lda.first(8)
    kept = forecasts.tables(few)
    assert set(kept) == {"scores", "wins", "exponents"}
    rows = {len(column) for column in kept["scores"].values()}
    assert len(rows) == 1
    for method in (PRINTED, CORRECTED):
        own = kept["wins"]["method"].index(method)
        assert sum(kept["wins"][name][own] for name in ("better", "tie", "worse")) == 24


# --- what is kept -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def results():
    return Results.read(KEPT)


@pytest.fixture(scope="module")
def claims(results):
    return PAPER.claims(PAPER.study("tables"), results)


def of(learner, kept, *how):
    cell = kept.cell(learner, *how)
    assert cell is not None
    return cell


@pytest.mark.paper
@pytest.mark.parametrize("learner", REPLICA)
def test_kept_results_agree_with_a_replica(results, learner):
    """3.5 s.e.: of 150 numbers, one in 15 such tests would fail by chance."""
    kept, replica = Kept.of(results), REPLICA[learner]
    share = 1 / replica["replications"]

    def alike(ours, other, error, theirs):
        assert (np.abs(ours - other) < 3.5 * np.hypot(error, theirs) + 0.006).all()

    for metric, other in zip(METRICS, replica["rmse"], strict=True):
        if learner == "TREE" and metric in ("recall", "f1"):
            continue  # its trees are others: .8 points more at 80, and the error as here
        own = of(learner, kept, ENTERED, metric)
        scaled = own.rmse_error * np.sqrt(own.replications * share)
        alike(own.rmse, np.array(other), own.rmse_error, scaled)
    own = of(learner, kept, POW3_CORRECTED)
    scaled = own.rmse_error * np.sqrt(own.replications * share)
    alike(own.rmse, np.array(replica["pow3"]), own.rmse_error, scaled)
    for method, covered, length in (
        (ENTERED, "covered", "length"),
        (POW3_CORRECTED, "pow3_covered", "pow3_length"),
    ):
        own = of(learner, kept, method)
        other = np.array(replica[covered])
        theirs = np.sqrt(other * (1 - other) * share)
        alike(own.covered, other, own.covered_error, theirs)
        np.testing.assert_allclose(own.length, replica[length], atol=0.006)


@pytest.mark.paper
def test_kept_results_agree_with_table_2_where_they_can(claims):
    """LDA and NB by matrices, all metrics; trees and networks are of other settings."""
    own = [
        claim
        for claim in claims.claims
        if claim.table.startswith("Table 2, ")
        and claim.row in ("LDA, matrices", "NB, matrices")
    ]
    assert len(own) == 48
    assert all(claim.verdict == "agrees" for claim in own)
    letter = claims.of("Table 2, to the letter")
    assert all(claim.verdict == "differs" for claim in letter)


def test_kept_bands_hold_as_often_as_they_say(results):
    """Calibrated and drift on *simple*, mean and observed error, at least 1,000 times."""
    kept = Kept.of(results)
    for learner in ("LR", "LDA", "NB", "TREE"):
        for method in (CALIBRATED, DRIFT):
            for target in ("observed", "mean"):
                cell = kept.cell(learner, method, target=target)
                assert cell.replications >= 1000
                assert cell.covered.min() > 0.95 - 0.035
                assert cell.covered.mean() > 0.95
        assert kept.cell(learner, PRINTED).covered[-1] < 0.9
        assert kept.cell(learner, POW3).covered.min() < 0.8


def test_another_print_would_be_noticed(claims):
    for claim in claims.claims:
        if claim.verdict == "agrees":
            other = replace(claim, printed=claim.ours + 1.01 * claim.tolerance + 1e-6)
            assert other.verdict == "differs"


def test_figures_of_kept_results(results):
    drawn = PAPER.study("tables").figures(results)
    assert [figure.name for figure in drawn] == [
        "rmse",
        "coverage",
        "length",
        "forms",
        "one-replication",
    ]
    assert all(len(figure.charts) in (2, 4, 12) for figure in drawn)


# --- slow -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.paper
@pytest.mark.parametrize("learner", ["LDA", "NB"])
def test_a_rerun_agrees_with_the_print(learner):
    """400 replications: RMSE is that of the print, and calibrated bands hold.

    3.5 s.e.: of 24 numbers, one in 90 such tests would fail by chance.
    """
    own = simulated(learner, 400, seed=5)
    found = judged(by_matrix(own, ENTERED), own.truth, ENTERED, "observed")
    errors = np.hypot(found.rmse_error, found.rmse_error * np.sqrt(0.4))
    said = [said_in(2, "matrices", metric)[learner] for metric in METRICS]
    assert (np.abs(100 * found.rmse - said) < 350 * errors + 0.1).all()
    told = by_library(own, CALIBRATED)
    held = judged(told["observed"], own.truth, CALIBRATED, "observed").covered
    assert held.min() > 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / 400)


@pytest.mark.slow
def test_trials_and_the_simulation_tell_the_same():
    """scikit-learn through the engine, numpy beside it: mean errors by size."""
    trials = cw.run(experiment(("LDA",), 40), executor="serial", progress=False)
    ours, other = answers(trials.where(task="simple")), simulated("LDA", 200)
    for k in range(len(METRICS)):
        away = ours.truth[k].mean(0) - other.truth[k].mean(0)
        error = np.hypot(
            ours.truth[k].std(0) / np.sqrt(40), other.truth[k].std(0) / np.sqrt(200)
        )
        # Blocks are stratified in the simulation, and only the sample in the task.
        assert (np.abs(away) < 3.5 * error + 0.004).all()


@pytest.mark.slow
def test_a_constant_learner_is_noticed():
    """What never calls anything positive has no recall, and half of it is wrong."""
    never = Algorithm(
        "never",
        {},
        Blocks(
            Learner(
                "sklearn.dummy.DummyClassifier", {"strategy": "constant", "constant": 0}
            )
        ),
    )
    known = experiment(("NB",), 2)
    trials = cw.run(
        Experiment([known.tasks[0]], [never], 2, seed=1, metrics=known.metrics),
        executor="serial",
        progress=False,
    )
    own = answers(trials)
    np.testing.assert_allclose(own.truth[0], 0.5)
    np.testing.assert_allclose(own.truth[2], 0)
