"""Matrices from what is printed of them."""

import numpy as np
import pytest
from facts import facts, refused
from hypothesis import assume, given
from hypothesis import strategies as st

from curvewise import metrics
from curvewise.stats.counts import counts_matrix, f1_interval, recover_counts

A_COUNT = st.integers(0, 60)


def by_hand(accuracy, f1, n, half, positives=None):
    """Return all matrices, by trying every one."""
    found = set()
    for tp in range(n + 1):
        for fp in range(n + 1 - tp):
            for fn in range(n + 1 - tp - fp):
                tn = n - tp - fp - fn
                f = 2 * tp / (2 * tp + fp + fn) if tp else 0.0
                fits = abs((tp + tn) / n - accuracy) <= half and abs(f - f1) <= half
                if fits and positives in (None, tp + fn):
                    found.add((tp, fp, fn, tn))
    return found


def as_set(found):
    columns = (found.tp, found.fp, found.fn, found.tn)
    return set(zip(*(c.tolist() for c in columns), strict=True))


@given(A_COUNT, A_COUNT, A_COUNT, A_COUNT, st.integers(1, 4))
def test_the_matrix_is_among_those_found(tp, fp, fn, tn, digits):
    n = tp + fp + fn + tn
    assume(n > 0)
    counts = counts_matrix(tp, fp, fn, tn)
    printed = {
        name: f"{float(getattr(metrics, name)(counts)):.{digits}f}"
        for name in ("accuracy", "f1", "precision", "recall")
    }
    accuracy, f1 = printed.pop("accuracy"), printed.pop("f1")
    assert (tp, fp, fn, tn) in as_set(recover_counts(accuracy, f1, n))
    known = recover_counts(accuracy, f1, n, positives=tp + fn)
    assert (tp, fp, fn, tn) in as_set(known)
    assert (known.tp + known.fn == tp + fn).all()
    every = recover_counts(accuracy, f1, n, **printed)
    assert (tp, fp, fn, tn) in as_set(every)
    assert as_set(every) <= as_set(recover_counts(accuracy, f1, n))


@pytest.mark.parametrize(
    ("accuracy", "f1", "n", "digits"),
    [
        *((0.8, 0.7, 20, 1), (0.85, 0.8, 20, 2), (0.5, 0.0, 12, 1), (1.0, 1.0, 9, 2)),
        *((0.0, 0.0, 7, 2), (0.92, 0.96, 13, 2), (0.9, 0.0, 10, 2), (1.0, 0.0, 5, 3)),
    ],
)
def test_all_of_them_are_found(accuracy, f1, n, digits):
    found = recover_counts(accuracy, f1, n, digits=digits)
    assert as_set(found) == by_hand(accuracy, f1, n, 0.5 * 10**-digits + 1e-12)
    assert len(as_set(found)) == len(found)


def test_positives_make_it_one():
    found = recover_counts("0.826", "0.792", 121, positives=49)
    assert found.is_unique
    assert found.matrices.tolist() == [[[60, 12], [9, 40]]]
    loose = recover_counts("0.826", "0.792", 121)
    assert not loose.is_unique
    assert len(loose) == len(loose.matrices) == 22
    assert facts(loose)[:5] == [22, 40, 40, 0, 21]
    # F1 needs no more than that: it is the same interval for all of them.
    low, _ = f1_interval(loose.tp, loose.fp, loose.fn)
    assert np.ptp(low) == pytest.approx(0, abs=1e-12)


def test_numbers_keep_no_last_zeros():
    assert len(recover_counts(0.85, 0.8, 20)) == len(recover_counts("0.85", "0.80", 20))
    assert len(recover_counts("0.85", "0.8", 20)) > len(recover_counts(0.85, 0.8, 20))
    assert (recover_counts(1.0, 1, 30).fp == 0).all()
    assert len(recover_counts("1.0", "1.0", 30)) > 30  # rounded: up to .05 off
    third = recover_counts(2 / 3, 2 / 3, 3, positives=2)
    assert third.matrices.tolist() == [[[1, 0], [1, 1]]]


@pytest.mark.parametrize(
    ("asked", "argument"),
    [
        (("0.826", "0.792", 121, {"positives": 122}), "positives"),
        ((82.6, 0.79, 121), "accuracy"),
        (("high", 0.79, 121), "accuracy"),
        ((0.8, float("nan"), 121), "f1"),
        ((0.8, True, 121), "f1"),
        ((0.8, 0.7, 121, {"recall": -0.1}), "recall"),
        ((0.8, 0.7, 0), "test_size"),
        ((0.8, 0.7, 12.5), "test_size"),
        ((0.8, 0.7, 121, {"digits": -1}), "digits"),
    ],
)
def test_what_was_not_printed_is_refused(asked, argument):
    *printed, how = asked if isinstance(asked[-1], dict) else (*asked, {})
    with refused(argument):
        recover_counts(*printed, **how)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("0.9", "0.5", 10), [10, 0.85, 0.95, 0.45, 0.55]),
        (("0.826", "0.792", 121, {"positives": 120}), [121, 120]),
        ((0.8, 0.7, 100_000), [1_000_000]),
        ((0.8, 0.7, 10**9), [1_000_000]),
    ],
)
def test_no_matrix_and_too_many_are_refused(asked, says):
    *printed, how = asked if isinstance(asked[-1], dict) else (*asked, {})
    with refused(says=says):
        recover_counts(*printed, **how)


def test_matrices_of_counts():
    many = counts_matrix([1, 2], 3, 4, [[5], [6]])
    assert many.shape == (2, 2, 2, 2)
    assert many[1, 0].tolist() == [[6, 3], [4, 1]]
    assert metrics.recall(many)[1, 1] == pytest.approx(2 / 6)


def test_short_floats_show_the_digits_that_they_were_made_of():
    found = recover_counts(np.float32(0.85), np.float32(0.8), 100)
    assert len(found) == len(recover_counts(0.85, 0.8, 100))
