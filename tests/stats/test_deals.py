"""Deals of lines to algorithms: counted, enumerated, drawn."""

import math
import time
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from curvewise.errors import CurvewiseError
from curvewise.stats.deals import (
    all_deals,
    assignments,
    lines_to_reach,
    number_of_deals,
    random_deals,
)

PUBLISHED = {
    (1, 5): 1, (2, 2): 3, (2, 3): 10, (2, 4): 35, (2, 5): 126, (2, 6): 462,
    (2, 7): 1716, (2, 8): 6435, (2, 10): 92378, (3, 2): 15, (3, 3): 280, (3, 4): 5775,
    (3, 5): 126126, (4, 2): 105, (4, 3): 15400, (3, 10): 925166131890,
}  # fmt: skip


def together(labels, sizes):
    """Who is with whom, whatever the algorithms are called."""
    return frozenset(
        frozenset(np.flatnonzero(labels == i).tolist()) for i in range(len(sizes))
    )


@pytest.mark.parametrize("design", PUBLISHED)
def test_published_numbers_of_deals(design):
    assert assignments(*design) == PUBLISHED[design]


def test_number_of_deals_is_a_product_of_choices():
    for m in range(1, 7):
        for lines in range(1, 12):
            product = math.prod(
                math.comb(j * lines - 1, lines - 1) for j in range(2, m + 1)
            )
            assert assignments(m, lines) == product


@pytest.mark.parametrize(
    ("sizes", "deals"),
    [
        ((3, 4), 35), ((2, 6), 28), ((2, 8), 45), ((3, 5), 56), ((3, 10), 286),
        ((1, 20), 21), ((1, 1, 1), 1), ((2, 2, 3), 105),
    ],
)  # fmt: skip
def test_deals_of_unequal_sizes(sizes, deals):
    assert number_of_deals(sizes) == deals
    assert number_of_deals(sizes[::-1]) == deals


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_all_deals_are_all_deals_once(sizes):
    if number_of_deals(sizes) > 3_000:
        return
    every = np.vstack(list(all_deals(sizes)))
    assert every[0].tolist() == np.repeat(np.arange(len(sizes)), sizes).tolist()
    assert len(every) == number_of_deals(sizes)
    assert len({together(row, sizes) for row in every}) == len(every)
    counts = (every[:, :, None] == np.arange(len(sizes))).sum(axis=1)
    assert (counts == sizes).all()


@pytest.mark.parametrize("sizes", [(10, 10), (5, 15), (15, 5), (4, 4, 4), (2, 40, 1)])
def test_all_deals_of_larger_designs(sizes):
    n = 0
    for batch in all_deals(sizes):
        assert batch.dtype == np.uint8
        assert batch.shape[1] == sum(sizes)
        n += len(batch)
        assert ((batch == 0).sum(axis=1) == sizes[0]).all()
    assert n == number_of_deals(sizes)


def test_every_deal_of_ten_against_ten_is_different():
    every = np.vstack(list(all_deals([10, 10])))
    codes = every.astype(np.int64) @ (1 << np.arange(20))
    assert len(np.unique(codes)) == 92_378
    assert (every[:, 0] == 0).all()


def test_all_deals_take_milliseconds():
    list(all_deals([10, 10]))
    begin = time.perf_counter()
    list(all_deals([10, 10]))
    assert time.perf_counter() - begin < 0.2  # two on a quiet machine


@pytest.mark.parametrize("sizes", [(20, 20), (13, 13), (6, 6, 6, 6), (3, 2000)])
def test_all_deals_stream(sizes):
    for batch in islice(all_deals(sizes), 5):
        assert batch.nbytes <= 8 << 20


def fit(batches, sizes):
    """p of the hypothesis that every deal is as likely as any other."""
    seen = Counter(together(row, sizes) for batch in batches for row in batch)
    c = number_of_deals(sizes)
    counts = np.zeros(c)
    counts[: len(seen)] = list(seen.values())
    return stats.chisquare(counts).pvalue


@pytest.mark.parametrize(
    "sizes", [(2, 2), (3, 2), (3, 3), (1, 2, 2), (2, 2, 2), (1, 4)]
)
def test_random_deals_are_uniform(sizes):
    rng = np.random.default_rng(1)
    assert fit(random_deals(sizes, 5_000, rng=rng), sizes) > 1e-6


def test_the_test_of_uniformity_notices_a_poor_shuffle():
    rng = np.random.default_rng(1)
    labels = np.tile(np.repeat(np.arange(2), 3), (5_000, 1))
    # Two places swap with any other: too few.
    rows = np.arange(len(labels))
    for i in range(2):
        j = rng.integers(0, 6, len(labels))
        labels[rows, i], labels[rows, j] = labels[rows, j], labels[rows, i]
    assert fit([labels], (3, 3)) < 1e-6


def test_random_deals_come_in_batches_of_bounded_size():
    batches = list(random_deals([500, 500], 20_000, rng=np.random.default_rng(1)))
    assert len(batches) > 1
    assert sum(map(len, batches)) == 20_000
    assert all(b.nbytes <= 8 << 20 and (b.sum(axis=1) == 500).all() for b in batches)


def test_random_deals_with_a_seed():
    one, other = (
        np.vstack(list(random_deals([3, 3, 2], 50, rng=np.random.default_rng(7))))
        for _ in range(2)
    )
    assert (one == other).all()


def test_labels_of_very_many_algorithms():
    (batch,) = random_deals([1] * 300, 2, rng=np.random.default_rng(1))
    assert batch.dtype == np.uint16
    assert sorted(batch[0].tolist()) == list(range(300))
    (only,) = all_deals([1] * 300)
    assert only.tolist() == [list(range(300))]


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: assignments(0, 3), "algorithms"),
        (lambda: assignments(2, 1.5), "lines"),
        (lambda: number_of_deals([]), "sizes"),
        (lambda: number_of_deals(3), "sizes"),
        (lambda: all_deals([2, 0]), "a size"),
        (lambda: random_deals([2, 2], 0, rng=np.random.default_rng(1)), "draws"),
        (lambda: random_deals([2, 2], 5, rng=None), "rng"),
    ],
)
def test_what_is_no_deal_is_refused(call, argument):
    with pytest.raises(CurvewiseError) as error:
        call()
    assert error.value.argument == argument


@pytest.mark.parametrize("level", [0.2, 0.05, 1 / 35, 0.01, 1e-3, 1e-6])
@pytest.mark.parametrize(("algorithms", "times"), [(2, 1), (2, 6), (3, 1), (5, 2)])
def test_lines_to_reach_a_level_are_the_fewest(algorithms, times, level):
    n = lines_to_reach(algorithms, level, times)
    assert times / assignments(algorithms, n) <= level
    assert n == 2 or times / assignments(algorithms, n - 1) > level
    both = lines_to_reach(algorithms, level, times, is_guarded=True)
    assert both >= n
    assert times / (1 + 2 ** (algorithms * both - 1)) <= level


@pytest.mark.parametrize(
    ("asked", "argument"),
    [
        ((1, 0.05), "algorithms"),
        ((0, 0.05), "algorithms"),
        ((2, 0), "level"),
        ((2, 0.05, 0), "times"),
    ],
)
def test_levels_that_nothing_reaches_are_refused(asked, argument):
    with pytest.raises(CurvewiseError) as refused:
        lines_to_reach(*asked)
    assert refused.value.argument == argument
