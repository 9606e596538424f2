"""Whole matrices from their posterior, and metrics of any number of classes."""

import tracemalloc

import numpy as np
import pytest
from facts import refused
from support import assert_rate

from curvewise import metrics
from curvewise.stats.counts import (
    counts_matrix,
    draw_matrices,
    f1_interval,
    metric_interval,
)

THREE = np.array([[40, 5, 3], [6, 30, 8], [1, 9, 50]])


def rng(seed=0):
    return np.random.default_rng(seed)


def test_draws_are_dirichlet():
    counts = np.stack([THREE, THREE.T])
    drawn = draw_matrices(counts, draws=50_000, rng=rng(), prior=2)
    assert drawn.shape == (50_000, 2, 3, 3)
    assert drawn.sum((-2, -1)) == pytest.approx(1)
    mean = (counts + 2) / (counts + 2).sum((1, 2), keepdims=True)
    variance = mean * (1 - mean) / (THREE.sum() + 18 + 1)
    assert np.abs(drawn.mean(0) - mean).max() < 6 * np.sqrt(variance.max() / 50_000)
    assert drawn.var(0) == pytest.approx(variance, rel=0.06)


def test_hardly_any_prior_puts_all_into_one_cell():
    drawn = draw_matrices(np.zeros((2, 2)), draws=2000, rng=rng(), prior=1e-6)
    assert drawn.sum((-2, -1)) == pytest.approx(1)
    assert np.isfinite(drawn).all()
    hits = (drawn > 0.999).sum(0)
    for cell in hits.ravel():
        assert_rate(cell, 2000, 0.25)


@pytest.mark.parametrize(
    "name", ["f1", "precision", "recall", "specificity", "jaccard"]
)
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_averages_over_classes(name, average):
    found = metric_interval(name, THREE, average=average, rng=rng())
    assert found.value == pytest.approx(
        float(getattr(metrics, name)(THREE, average=average))
    )
    assert 0 < found.lower < found.value < found.upper < 1
    one = metric_interval(name, THREE, positive=2, rng=rng())
    assert one.covers(one.value)


@pytest.mark.parametrize("name", ["mcc", "kappa", "balanced_accuracy", "accuracy"])
def test_metrics_without_a_closed_form(name):
    found = metric_interval(name, np.stack([THREE, 10 * THREE]), rng=rng())
    assert found.covers(found.value).all()
    assert found.half_width[0] / found.half_width[1] == pytest.approx(10**0.5, rel=0.15)
    assert found.estimand.split()[0] == name


def test_costs_and_functions_of_ones_own():
    costs = np.array([[0, 1, 2], [5, 0, 1], [9, 1, 0]])
    named = metric_interval("cost", THREE, costs=costs, rng=rng())

    def own(matrix, scale):
        return scale * (matrix * costs).sum((-2, -1)) / matrix.sum((-2, -1))

    mine = metric_interval(own, THREE, scale=2, rng=rng())
    assert tuple(mine) == pytest.approx(tuple(2 * end for end in named))
    assert mine.estimand.split()[0] == "own"


def test_the_noise_left_is_about_what_is_stated():
    counts = counts_matrix(40, 12, 9, 60)
    ends = np.array(
        [
            tuple(metric_interval("f1", counts, draws=1000, rng=rng(s)))
            for s in range(200)
        ]
    )
    stated = metric_interval("f1", counts, draws=1000, rng=rng()).monte_carlo_error
    assert 0.5 < ends.std(0).max() / stated < 2
    exact = tuple(f1_interval(40, 12, 9))
    assert np.abs(ends.mean(0) - exact).max() < 5 * stated / np.sqrt(200)
    finer = metric_interval("f1", counts, draws=16_000, rng=rng()).monte_carlo_error
    assert stated / finer == pytest.approx(4, rel=0.4)


def test_blocks_leave_the_answer_as_it_is(monkeypatch):
    """In shape and law, not in the order of the draws."""
    many = rng().multinomial(90, np.full(9, 1 / 9), (7, 4)).reshape(7, 4, 3, 3)
    at_once = metric_interval("kappa", many, rng=rng(), draws=2000)
    monkeypatch.setattr("curvewise.stats.counts.draws.NUMBERS", 5000)
    in_turn = metric_interval("kappa", many, rng=rng(), draws=2000)
    assert at_once.lower.shape == in_turn.lower.shape == (7, 4)
    assert in_turn.value == pytest.approx(at_once.value)
    noise = 8 * at_once.monte_carlo_error
    assert in_turn.lower == pytest.approx(at_once.lower, abs=noise)


def test_memory_does_not_grow_with_matrices_or_classes(monkeypatch):
    monkeypatch.setattr("curvewise.stats.counts.draws.NUMBERS", 1 << 16)

    def peak(counts):
        tracemalloc.start()
        kept = metric_interval("mcc", counts, rng=rng(), draws=100)
        left, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert kept.lower.size == counts[..., 0, 0].size
        return most - left

    few = rng().multinomial(90, np.full(4, 1 / 4), 2000).reshape(-1, 2, 2) + 0.0
    least = peak(few)
    assert least < 4e6
    assert peak(np.concatenate([few] * 4)) < least + 0.2e6
    assert peak(np.full((100, 100), 3.0)) < 4e6


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"counts": [[1, 2, 3], [4, 5, 6]]}, "counts"),
        ({"counts": [1, 2]}, "counts"),
        ({"counts": [[1, -2], [3, 4]]}, "counts"),
        ({"counts": [[1, np.nan], [3, 4]]}, "counts"),
        ({"counts": [["a", "b"], ["c", "d"]]}, "counts"),
        ({"metric": "auc"}, "metric"),
        ({"metric": 3}, "metric"),
        ({"metric": "f_beta"}, "beta"),
        ({"metric": "mcc", "average": "macro"}, "average"),
        ({"metric": lambda m: m}, "metric"),
        ({"prior": "flat"}, "prior"),
        ({"confidence": 95}, "confidence"),
        ({"draws": 10}, "draws"),
        ({"rng": 3}, "rng"),
    ],
)
def test_what_cannot_be_asked(change, argument):
    asked = {"metric": "f1", "counts": [[5, 1], [2, 7]], "rng": rng()} | change
    metric, counts = asked.pop("metric"), asked.pop("counts")
    with refused(argument):
        metric_interval(metric, counts, **asked)


def test_a_matrix_without_examples_is_the_priors():
    found = metric_interval("accuracy", np.zeros((2, 2)), rng=rng())
    assert found.undefined == 1
    assert found.value == 0
    assert found.lower < 0.1
    assert found.upper > 0.9
