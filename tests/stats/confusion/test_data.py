"""What count curves start from: what is refused, what is let through, and how it reads."""

import numpy as np
import pytest
from facts import refused

from curvewise.stats.confusion.data import Examples, count_table, stacked, subset
from curvewise.stats.confusion.draws import matrices
from curvewise.stats.counts.draws import METRICS, metric_of

SIZES = [40, 80, 160]
ONE = [[[30, 10], [12, 28]], [[33, 7], [9, 31]], [[35, 5], [6, 34]]]


def with_counts(value):
    (tn, fp), (fn, tp) = ONE[0]
    return [[[tn, fp], [fn, tp + value]], *ONE[1:]]


# --- what comes in ---------------------------------------------------------------------


def test_one_matrix_for_each_size_is_one_run():
    table = count_table(SIZES, ONE)
    assert len(table) == 1
    assert table.classes == 2
    assert table.runs.tolist() == [[1, 1, 1]]
    assert table.right.tolist() == [[[30, 28], [33, 31], [35, 34]]]
    assert table.total.tolist() == [[[40, 40]] * 3]
    assert table.shares.tolist() == [[0.5, 0.5]]
    assert table.test_size.tolist() == [[80, 80, 80]]
    assert table.largest.tolist() == [160]
    assert np.isnan(table.spread).all()
    assert table.is_fixed.tolist() == [True]


def test_runs_are_summed_and_their_spread_is_kept():
    runs = np.array([[[30, 10], [12, 28]], [[34, 6], [8, 32]]])
    table = count_table(SIZES, [runs, *ONE[1:]])
    assert table.runs.tolist() == [[2, 1, 1]]
    assert table.counts[0, 0].tolist() == [[64, 16], [20, 60]]
    # Recalls are .75, .70 in the first run and .85, .80 in the second.
    assert table.spread[0, 0] == pytest.approx(np.full((2, 2), 0.1**2 / 2))
    assert table.sampling[0, 0] == pytest.approx([0.8 * 0.2 / 40, 0.75 * 0.25 / 40])


def test_sizes_may_have_different_numbers_of_runs():
    counts = [np.stack([ONE[k]] * (3 - k)) for k in range(3)]
    table = count_table(SIZES, counts)
    assert table.runs.tolist() == [[3, 2, 1]]
    assert table.test_size.tolist() == [[80, 80, 80]]


def test_sizes_come_in_any_order():
    order = [2, 0, 1]
    examples = Examples(
        np.repeat([0, 1], 40),
        np.array(
            [np.r_[np.arange(40) < c[0][0], np.arange(40) < c[1][1]] for c in ONE]
        ),
        np.ones((3, 80)),
    )
    turned = Examples(examples.truth, examples.right[order], examples.asked[order])
    table = count_table(SIZES, ONE, examples=examples)
    other = count_table(
        [SIZES[i] for i in order], [ONE[i] for i in order], examples=turned
    )
    assert other.sizes.tolist() == table.sizes.tolist()
    assert other.counts.tolist() == table.counts.tolist()
    assert other.examples[0].right.tolist() == table.examples[0].right.tolist()


def test_models_are_entered_at_what_they_were_trained_on():
    table = count_table([60, 120, 240], ONE, trained_on=[40, 80, 160])
    assert table.sizes.tolist() == [SIZES]


def test_curves_of_different_lengths_are_padded():
    both = stacked([count_table(SIZES, ONE), count_table(SIZES[1:], ONE[1:])])
    assert len(both) == 2
    assert both.runs.tolist() == [[1, 1, 1], [1, 1, 0]]
    assert both.test_size.tolist() == [[80, 80, 80], [80, 80, 0]]
    assert both.largest.tolist() == [160, 160]
    assert subset(both, slice(1, 2)).shares.tolist() == [[0.5, 0.5]]


def test_perfect_and_useless_classifiers_are_curves():
    perfect = count_table(SIZES, [[[40, 0], [0, 40]]] * 3)
    assert (perfect.right == perfect.total).all()
    runs = np.stack([np.diag([40, 40])] * 3)
    assert (count_table(SIZES, [runs] * 3).spread == 0).all()
    useless = count_table(SIZES, [[[40, 0], [40, 0]]] * 3)
    assert useless.right[0, :, 1].tolist() == [0, 0, 0]


# --- what is refused -------------------------------------------------------------------


@pytest.mark.parametrize(("value", "count"), [(-29, -1), (0.5, 28.5)])
def test_counts_are_whole_and_not_negative(value, count):
    with refused("counts", count, says=[1, count]):
        count_table(SIZES, with_counts(value))


@pytest.mark.parametrize(
    "bad",
    [
        *([ONE[0], own, ONE[2]] for own in (3, [1, 2], [[1]], [[1, 2, 3], [4, 5, 6]])),
        [ONE[0], np.empty((0, 2, 2)), ONE[2]],
        [ONE[0], np.ones((1, 1, 2, 2)), ONE[2]],
        [ONE[0], [["a", "b"], ["c", "d"]], ONE[2]],
        [ONE[0], [[1, 2], [3]], ONE[2]],
        [ONE[0], [[1j, 2], [3, 4]], ONE[2]],
        [ONE[0], np.ma.masked_array(ONE[0], mask=[[0, 1], [0, 0]]), ONE[2]],
        [ONE[0], np.array([ONE[0], [[0, 0], [0, 0]]]), ONE[2]],
    ],
)
def test_counts_of_a_size_are_square_matrices_of_numbers(bad):
    with refused("counts", says=[2]):
        count_table(SIZES, bad)


@pytest.mark.parametrize(
    "bad",
    [
        *(None, 3, np.float64(3), np.array(ONE) / 80, ONE[:2]),
        [*ONE[:2], np.ones((3, 3))],
        [[[30, 10], [0, 0]]] * 3,  # class 1 never occurs: nobody knows its recall
        with_counts(np.nan),
        with_counts(np.inf),
    ],
)
def test_counts_are_those_of_each_size_and_of_all_classes(bad):
    with refused("counts"):
        count_table(SIZES, bad)


def test_a_class_may_be_missing_at_a_size():
    sometimes = [[[30, 10], [0, 0]], *ONE[1:]]
    assert count_table(SIZES, sometimes).total[0, 0].tolist() == [40, 0]


def test_one_size_is_no_curve():
    with refused("sizes", [40], says=[1, 2]):
        count_table([40], ONE[:1])


@pytest.mark.parametrize("bad", [[40, 80, -1], [40, 80, np.nan], "abc", [[1, 2, 3]]])
def test_sizes_are_sizes(bad):
    with refused("sizes"):
        count_table(bad, ONE)


def test_a_size_is_there_once():
    with refused(says=[40]):
        count_table([40, 40, 80], ONE)
    with refused(says=[80]):
        count_table(SIZES, ONE, trained_on=[40, 80, 80])
    with refused("trained_on", says=[3, 2]):
        count_table(SIZES, ONE, trained_on=[1, 2])


def test_totals_are_those_of_the_test_set_where_it_is_stated():
    assert len(count_table(SIZES, ONE, test_size=80)) == 1
    with refused("test_size", 100, says=[1, 80, 100]):
        count_table(SIZES, ONE, test_size=100)
    uneven = [ONE[0], [[1, 0], [0, 1]], ONE[2]]
    assert len(count_table(SIZES, uneven)) == 1
    with refused("test_size", 80, says=[2, 2, 80]):
        count_table(SIZES, uneven, test_size=80)


@pytest.mark.parametrize("bad", [0, -5, np.nan, "80", True])
def test_a_test_size_is_a_number(bad):
    with refused("test_size"):
        count_table(SIZES, ONE, test_size=bad)


def test_curves_of_different_classes_are_not_stacked():
    three = count_table(SIZES, [np.full((3, 3), 5)] * 3)
    with refused("counts"):
        stacked([count_table(SIZES, ONE), three])


# --- swapped axes ----------------------------------------------------------------------


def random_counts(rng, recalls=(0.8, 0.7), totals=(60, 40), runs=3):
    right = rng.binomial(totals, recalls, size=(3, runs, 2))
    counts = np.zeros((3, runs, 2, 2))
    counts[..., [0, 1], [0, 1]] = right
    counts[..., [0, 1], [1, 0]] = totals - right
    return counts


def test_swapped_axes_are_seen_where_the_test_sets_are_alike():
    counts = random_counts(np.random.default_rng(1))
    assert len(count_table(SIZES, counts)) == 1
    with refused("counts", says=[60, 40]):
        count_table(SIZES, np.swapaxes(counts, -1, -2))


def test_no_alarm_where_nobody_can_tell():
    rng = np.random.default_rng(2)
    different = np.stack([random_counts(rng, totals=(n, 100 - n)) for n in (60, 50)])
    for counts in (different[0], np.concatenate(different, axis=1)):
        assert len(count_table(SIZES, counts)) == 1
    mixed = np.concatenate(different, axis=1)
    assert len(count_table(SIZES, np.swapaxes(mixed, -1, -2))) == 1


def test_calling_everything_the_same_is_not_taken_for_swapped_axes():
    """Its columns never change, and its rows do where test sets are drawn at random."""
    counts = [[[[40 + k, 0], [40 - k, 0]]] for k in range(3)]
    assert len(count_table(SIZES, counts)) == 1


@pytest.mark.parametrize("seed", range(20))
def test_random_test_sets_raise_no_alarm(seed):
    rng = np.random.default_rng(seed)
    cells = rng.multinomial(50, [0.4, 0.1, 0.15, 0.35], size=(3, 2)).reshape(3, 2, 2, 2)
    assert not count_table(SIZES, cells).is_fixed[0]


# --- examples --------------------------------------------------------------------------


def examples_of(counts=ONE, **changed):
    truth = np.repeat([0, 1], 40)
    right = np.array(
        [np.r_[np.arange(40) < c[0][0], np.arange(40) < c[1][1]] for c in counts], float
    )
    return Examples(
        **{"truth": truth, "right": right, "asked": np.ones((3, 80))} | changed
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"right": np.ones((2, 80))},
        {"asked": np.ones(80)},
        {"right": np.full((3, 80), 2.0)},
        {"right": np.full((3, 80), np.nan)},
        {"right": np.ones((3, 80))},
        {"asked": np.full((3, 80), 2.0)},
        {"truth": np.repeat([1, 0], 40)},
        {"truth": np.ones((2, 80), int)},
        {"truth": np.repeat(["a", "b"], 40)},
        {"right": "many"},
    ],
)
def test_examples_are_those_of_the_counts(changed):
    assert count_table(SIZES, ONE, examples=examples_of()).examples[0] is not None
    with refused("examples"):
        count_table(SIZES, ONE, examples=examples_of(**changed))


def test_examples_are_examples():
    with refused("examples", 3):
        count_table(SIZES, ONE, examples=3)


# --- rates -----------------------------------------------------------------------------


def test_matrices_have_the_shares_as_rows_and_the_recalls_on_the_diagonal():
    recalls, shares = np.array([0.9, 0.5, 0.2]), np.array([0.5, 0.3, 0.2])
    errors = np.array([[0, 0.5, 0.5], [0.1, 0, 0.9], [1, 0, 0]])
    found = matrices(recalls, shares, errors)
    assert found.sum(-1) == pytest.approx(shares)
    assert np.diagonal(found) == pytest.approx(recalls * shares)
    assert found[1] == pytest.approx([0.3 * 0.5 * 0.1, 0.15, 0.3 * 0.5 * 0.9])


def test_a_metric_is_known_by_its_name_and_takes_what_it_takes():
    counts = np.arange(9.0).reshape(3, 3)
    settings = {"f_beta": {"beta": 2}, "cost": {"costs": 1 - np.eye(3)}}
    for name, function in METRICS.items():
        own = settings.get(name, {})
        assert metric_of(name, own)(counts) == function(counts, **own)
    assert metric_of("f1", {"positive": 2})(counts) > 0
    with refused("positive", 3, says=[3, 0, 2]):
        metric_of("f1", {"positive": 3})(counts)


@pytest.mark.parametrize(
    ("name", "settings", "argument"),
    [
        ("preccision", {}, "metric"),
        (["f1"], {}, "metric"),
        ("f_beta", {}, "beta"),
        ("cost", {}, "costs"),
        ("error", {"average": "micro"}, "average"),
        ("mcc", {"positive": 1}, "positive"),
    ],
)
def test_a_metric_that_cannot_be_is_refused(name, settings, argument):
    with refused(argument):
        metric_of(name, settings)
