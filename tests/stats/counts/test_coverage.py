"""How often intervals cover the true rate in repeated test sets, and under which prior."""

import itertools

import numpy as np
import pytest
from support import assert_at_least

from curvewise.stats.counts import (
    error_interval,
    f1_interval,
    f_beta_interval,
    precision_interval,
    recall_interval,
)

SIZES = (30, 100, 300, 1000)
POSITIVES = (0.05, 0.1, 0.3, 0.5)
# Recall and specificity, from poor to good.
CLASSIFIERS = (
    (0.5, 0.9),
    (0.7, 0.7),
    (0.8, 0.95),
    (0.95, 0.99),
    (0.3, 0.98),
    (0.99, 0.5),
)


def hits(size, share, recall, specificity, *, repeats, rng, **how):
    """Return how many of the intervals of each rate cover it."""
    cells = np.array(
        [
            *(share * recall, (1 - share) * (1 - specificity)),
            *(share * (1 - recall), (1 - share) * specificity),
        ]
    )
    tp, fp, fn, tn = cells
    truth = {
        "error": fp + fn,
        "precision": tp / (tp + fp),
        "recall": recall,
        "f1": 2 * tp / (2 * tp + fp + fn),
        "f2": 5 * tp / (5 * tp + 4 * fn + fp),
    }
    tp, fp, fn, tn = rng.multinomial(size, cells, repeats).T
    found = {
        "error": error_interval(tp, fp, fn, tn, **how),
        "precision": precision_interval(tp, fp, **how),
        "recall": recall_interval(tp, fn, **how),
        "f1": f1_interval(tp, fp, fn, **how),
    }
    if repeats <= 2000:
        found["f2"] = f_beta_interval(tp, fp, fn, beta=2, **how)
    return {name: int(own.covers(truth[name]).sum()) for name, own in found.items()}


def table(repeats, seed=0, **how):
    """Return hits of all cells, by rate."""
    rng = np.random.default_rng(seed)
    cells = [
        hits(n, share, *both, repeats=repeats, rng=rng, **how)
        for n, share, both in itertools.product(SIZES, POSITIVES, CLASSIFIERS)
    ]
    return {name: np.array([cell[name] for cell in cells]) for name in cells[0]}


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_intervals_cover_on_a_hundred_examples(share):
    rng = np.random.default_rng(3)
    for name, found in hits(100, share, 0.8, 0.95, repeats=2000, rng=rng).items():
        assert_at_least(found, 2000, 0.93)
        assert found < 0.99 * 2000, name


def test_the_interval_as_printed_would_not_cover():
    """The negative control: Eq. (28) of Xue et al. (2025), which lacks a 1/2."""
    rng = np.random.default_rng(3)
    cells = np.array([0.4, 0.1, 0.1, 0.4])
    tp, fp, fn, _tn = rng.multinomial(200, cells, 2000).T
    low, high = f1_interval(tp, fp, fn, prior="uniform")
    printed = low / (2 - low), high / (2 - high)
    covered = ((printed[0] <= 0.8) & (printed[1] >= 0.8)).sum()
    with pytest.raises(AssertionError):
        assert_at_least(covered, 2000, 0.5)


# Mean, worst and best cell, as docs/reference/counts.md has them.
STATED = {
    "jeffreys": {
        "error": (0.950, 0.924, 0.974),
        "precision": (0.954, 0.930, 0.994),
        "recall": (0.956, 0.923, 0.993),
        "f1": (0.951, 0.907, 0.987),
    },
    "uniform": {
        "error": (0.934, 0.657, 0.965),
        "precision": (0.953, 0.859, 1.000),
        "recall": (0.945, 0.435, 0.999),
        "f1": (0.946, 0.778, 0.994),
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("prior", STATED)
def test_intervals_cover_as_often_as_is_stated(prior):
    repeats = 20_000
    for name, found in table(repeats, seed=1, prior=prior).items():
        rates = found / repeats
        seen = rates.mean(), rates.min(), rates.max()
        print(prior, name, "{:.3f}, {:.3f} to {:.3f}".format(*seen))
        # Five standard errors of a cell at the worst, for both of two simulations.
        assert seen == pytest.approx(STATED[prior][name], abs=0.025)
        assert seen[0] == pytest.approx(STATED[prior][name][0], abs=0.002)
        if prior == "jeffreys":
            for cell in found:
                assert_at_least(cell, repeats, 0.90)


@pytest.mark.slow
def test_f_beta_covers_from_small_tests_to_large_ones():
    found = table(2000)["f2"]
    print(f"f2 {found.mean() / 2000:.3f}, {found.min() / 2000:.3f}")
    for cell in found:
        assert_at_least(cell, 2000, 0.90)
    assert 0.945 < found.mean() / 2000 < 0.965


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["error", "recall", "f1"])
def test_the_uniform_prior_would_not(rate):
    """Why Jeffreys' is the one that is taken unless told: the negative control."""
    found = table(5000, prior="uniform")[rate]
    print(rate, f"{found.mean() / 5000:.3f}, {found.min() / 5000:.3f}")
    with pytest.raises(AssertionError):
        assert_at_least(found.min(), 5000, 0.90)
