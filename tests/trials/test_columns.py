"""Rows of unequal length in two arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curvewise.trials.columns import (
    Ragged,
    empty_rows,
    from_rows,
    from_texts,
    joined,
    starts,
    to_bytes,
    to_texts,
)

rows_of_floats = st.lists(st.lists(st.floats(width=32), max_size=4), max_size=6)


def ragged(rows):
    return from_rows([np.array(row, float) for row in rows], "float64")


def rows_of(some):
    return [some[i].tolist() for i in range(len(some))]


def same(one, other):
    """Return whether both hold the same rows, NaN equal to NaN."""
    return np.array_equal(one.offsets, other.offsets) and np.array_equal(
        one.flat, other.flat, equal_nan=one.flat.dtype.kind == "f"
    )


@given(st.lists(st.integers(0, 9)))
def test_starts_are_the_sums_of_the_lengths_before(lengths):
    offsets = starts(np.array(lengths, np.int64))
    assert offsets.dtype == np.int64
    assert offsets.tolist() == [sum(lengths[:i]) for i in range(len(lengths) + 1)]


@given(rows_of_floats)
def test_rows_come_back_as_they_went_in(rows):
    some = ragged(rows)
    assert len(some) == len(rows)
    assert some.lengths.tolist() == [len(row) for row in rows]
    assert same(some, ragged(rows_of(some)))


@given(rows_of_floats.filter(bool), st.data())
def test_take_gives_the_rows_asked_for_in_that_order_and_as_often(rows, data):
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    taken = ragged(rows).take(np.array(chosen, np.int64))
    assert same(taken, ragged([rows[i] for i in chosen]))


@given(rows_of_floats, rows_of_floats)
def test_joined_rows_are_one_part_after_the_other(one, other):
    assert same(joined([ragged(one), ragged(other)]), ragged(one + other))


@given(rows_of_floats, st.integers(0, 6))
def test_a_cut_and_a_join_give_the_whole(rows, cut):
    whole, order = ragged(rows), np.arange(len(rows))
    parts = [whole.take(order[:cut]), whole.take(order[cut:])]
    assert same(joined(parts), whole)


@given(st.lists(st.text(max_size=8), max_size=6))
def test_texts_come_back_as_they_went_in(texts):
    some = from_texts(texts)
    assert some.flat.dtype == np.uint8
    assert to_texts(some) == texts
    assert to_bytes(some) == [text.encode() for text in texts]


def test_a_very_long_text_is_only_bytes():
    texts = ["ж" * 10_000, "", "🦊"]
    assert from_texts(texts).lengths.tolist() == [20_000, 0, 4]
    assert to_texts(from_texts(texts)) == texts


def test_bytes_of_numbers_are_cut_at_whole_numbers():
    pieces = to_bytes(from_rows([np.array([1, 2]), np.array([3])], "int64"))
    assert [np.frombuffer(p, np.int64).tolist() for p in pieces] == [[1, 2], [3]]


def test_empty_rows_have_a_type_and_no_values():
    some = empty_rows(3, "uint8")
    assert len(some) == 3
    assert some.flat.dtype == np.uint8
    assert to_texts(some) == ["", "", ""]
    assert len(empty_rows(0, "int64")) == 0


def test_no_rows_at_all_are_fine():
    assert len(from_rows([], "float64")) == 0
    assert to_texts(from_texts([])) == []
    assert len(ragged([]).take(np.array([], np.int64))) == 0


def test_a_row_is_a_view_and_costs_nothing():
    some = ragged([[1.0, 2.0], [3.0]])
    assert np.shares_memory(some[0], some.flat)


def test_ragged_cannot_be_pointed_elsewhere():
    with pytest.raises(AttributeError):
        Ragged(np.array([0]), np.array([])).flat = np.array([1])
