from itertools import chain, pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support import refused

from curvewise.engine.supervised.data import Supervised, from_sets, split
from curvewise.errors import CurvewiseError


def rng(seed=0):
    return np.random.default_rng(seed)


def numbered(n=100, classes=3, **options):
    """Return data whose only feature is the example's id."""
    y = rng(7).integers(0, classes, n)
    return split(np.arange(n), y, rng=rng(), **options)


def ids(pair):
    return pair[0].tolist()


# --- splitting ---------------------------------------------------------------------------


def test_a_split_holds_every_example_once():
    data = numbered(test=0.4)
    assert sorted(ids(data.train()) + ids(data.test)) == list(range(100))
    assert len(data.test[1]) == 40
    assert data.test_ids.tolist() == ids(data.test)


def test_training_sets_grow_by_the_training_order():
    data = numbered(sizes=[10, 20, 60])
    assert data.sizes == (10, 20, 60)
    assert ids(data.train(10)) == ids(data.train())[:10]
    assert set(ids(data.train(10))) < set(ids(data.train(20)))
    assert data.block(20).sizes == (20,)
    assert ids(data.block(20).train()) == ids(data.train(20))
    assert ids(data.block(20).test) == ids(data.test)


def test_there_is_one_size_unless_more_were_asked_for():
    assert numbered().sizes == (60,)


def test_labels_go_with_their_examples():
    data = numbered()
    for X, y in (data.train(), data.train(7), data.test, data.line(0).train()):
        assert (data.y[X] == y).all()


def test_the_test_generator_holds_out_and_the_other_one_shuffles():
    X, y = np.arange(50), [0, 1] * 25
    one, other = (split(X, y, rng=rng(s), test_rng=rng(9)) for s in (1, 2))
    assert ids(one.test) == ids(other.test)
    assert ids(one.train()) != ids(other.train())
    assert set(ids(one.train())) == set(ids(other.train()))
    third = split(X, y, rng=rng(1), test_rng=rng(8))
    assert ids(third.test) != ids(one.test)


def test_who_is_held_out_is_fair():
    """Each of 20 examples in 8 of 20 draws: 10 standard errors would be a bug."""
    out = np.zeros(20)
    for i in range(400):
        data = split(np.arange(20), [0, 1] * 10, rng=rng(i), test=0.4)
        out[data.held] += 1
    assert np.abs(out / 400 - 0.4).max() < 10 * np.sqrt(0.24 / 400)


def test_a_stratified_split_gives_each_class_its_share_in_test_and_every_block():
    y = np.repeat(["rare", "usual"], [20, 180])
    data = split(np.arange(200), y, rng=rng(), test=0.4, sizes=[20, 120], stratify=True)
    assert (data.test[1] == "rare").sum() == 8
    for i in range(6):
        start = 20 * i
        block = data.y[data.order[start : start + 20]]
        assert 1 <= (block == "rare").sum() <= 3


def test_frames_lists_and_sparse_matrices_are_taken():
    table = {"a": [1.0, 2, 3, 4], "b": [5.0, 6, 7, 8]}
    y = ["x", "y", "x", "y"]
    expected = split(np.array([*table.values()]).T, y, rng=rng()).train()[0]
    for X in (
        pd.DataFrame(table),
        pl.DataFrame(table),
        list(zip(*table.values(), strict=True)),
    ):
        for labels in (y, pd.Series(y), pl.Series(y), pd.DataFrame({"y": y})):
            data = split(X, labels, rng=rng())
            assert (np.asarray(data.train()[0]) == expected).all()
            assert type(data.train()[0]) is (np.ndarray if type(X) is list else type(X))
            assert data.classes.tolist() == ["x", "y"]
            assert data.y.dtype.kind == "U"
    data = split(sparse.coo_array(pd.DataFrame(table).to_numpy()), y, rng=rng())
    assert (data.train()[0].toarray() == expected).all()


def test_fractions_are_numbers_to_predict_and_all_else_is_labels():
    X = np.arange(4)
    assert split(X, [0.5, 1, 2, 3], rng=rng()).classes is None
    assert split(X, [0.0, 1, 2, 3], rng=rng()).classes.tolist() == [0, 1, 2, 3]
    assert split(X, [0, 1, 2, 3], labels=False, rng=rng()).classes is None
    assert split(X, [True, False] * 2, rng=rng()).classes.tolist() == [False, True]
    assert split(X, [0.5, 1, 1, 0.5], labels=True, rng=rng()).classes.tolist() == [
        0.5,
        1,
    ]


def test_classes_are_those_of_all_the_data_also_where_a_set_lacks_one():
    data = split(np.arange(6), list("aaabbc"), rng=rng(), test=1)
    assert all(f.classes.tolist() == ["a", "b", "c"] for f in data.folds(2, rng()))
    data = split(np.arange(4), [0, 0, 0, 0], rng=rng(), classes=np.array([1, 0]))
    assert data.classes.tolist() == [0, 1]


def test_sets_that_are_apart_stay_apart_and_in_order():
    data = from_sets(
        (np.arange(4), [0, 1, 1, 0]), (np.arange(9, 11), [1, 0]), sizes=[2]
    )
    assert ids(data.train()) == [0, 1, 2, 3]
    assert ids(data.test) == [9, 10]
    assert data.test_ids.tolist() == [4, 5]
    assert len(from_sets((np.arange(4), [0, 1, 1, 0])).test[1]) == 0


TABLE = {"a": [1.0, 2.0, 3.0, 4.0], "b": ["x", "y", "x", "y"]}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_that_are_apart_stay_frames(frame):
    train, test = (frame({k: v[s] for k, v in TABLE.items()}) for s in HALVES)
    data = from_sets((train, [0, 1, 1]), (test, [1]))
    assert type(data.X) is type(train)
    assert list(data.train(2)[0]["b"]) == list(train["b"])[:2]
    assert list(data.test[0]["b"]) == list(test["b"])
    assert data.y.tolist() == [0, 1, 1, 1]


HALVES = slice(3), slice(3, 4)


def test_columns_go_by_their_names():
    train, test = pd.DataFrame(TABLE), pl.DataFrame(TABLE)
    for frame, turned in ((train, train[["b", "a"]]), (test, test[["b", "a"]])):
        data = from_sets((frame, [0, 1] * 2), (turned, [0, 1] * 2))
        assert list(data.test[0].columns) == ["a", "b"]
        assert list(data.test[0]["a"]) == TABLE["a"]


@pytest.mark.parametrize("kind", ["csr_array", "coo_array", "csc_matrix"])
def test_sparse_sets_stay_sparse(kind):
    make = getattr(sparse, kind)
    data = from_sets((make(np.eye(3)), [0, 1, 1]), (make(2 * np.eye(3)), [0, 1, 0]))
    assert sparse.issparse(data.X)
    assert data.train(2)[0].toarray().tolist() == [[1, 0, 0], [0, 1, 0]]
    assert data.test[0].toarray().tolist() == (2 * np.eye(3)).tolist()


def test_numbers_of_any_kind_are_labels_together():
    data = from_sets((np.arange(2), [0, 1]), (np.arange(2), [1.0, 0.0]))
    assert data.classes.tolist() == [0, 1]
    empty = from_sets((np.arange(2), [0, 1]), (np.arange(0), []))
    assert len(empty.test[1]) == 0


def test_it_says_what_it_is():
    shown = "Supervised(60 to train, 40 to test, 3 classes, sizes 10, 60)"
    assert repr(numbered(sizes=[10, 60])) == shown
    numbers = split(np.arange(4), [0.5, 1, 2, 3], rng=rng())
    assert repr(numbers) == "Supervised(2 to train, 2 to test)"


# --- lines -------------------------------------------------------------------------------


@given(st.integers(4, 200), st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_lines_train_on_every_disjoint_block_of_the_order_once(n, sizes):
    sizes = sorted({s for s in sizes if s <= n}) or [n]
    data = from_sets((np.arange(n), np.arange(n) % 2), sizes=sizes)
    seen = []
    for i in range(data.design.lines):
        line = data.line(i)
        sets = [ids(line.train(size)) for size in line.sizes]
        assert all(set(a) < set(b) for a, b in pairwise(sets))
        assert ids(line.train()) == sets[-1]
        seen += [tuple(s) for s in sets]
    every = [
        tuple(range(j * size, j * size + size))
        for size in sizes
        for j in range(n // size)
    ]
    assert sorted(seen) == sorted(every)


def test_a_line_keeps_the_test_set_and_has_folds_of_its_own():
    data = numbered(sizes=[15, 30, 60])
    line = data.line(2)
    assert ids(line.test) == ids(data.test)
    assert ids(line.train()) == ids(data.train())[30:60]
    parts = [ids(fold.test) for fold in line.folds(3, rng())]
    assert sorted(chain(*parts)) == sorted(ids(line.train()))


def test_places_has_lines_beyond_the_smallest_blocks():
    """16 blocks of 25 cover 400; the third of 200 and the others of 400 lie beyond."""
    data = from_sets((np.arange(1600), np.arange(1600) % 2), sizes="places")
    assert data.design.lines == 18
    assert data.line(16).sizes == (200, 400)
    assert ids(data.line(16).train())[0] == 400
    assert data.line(17).sizes == (400,)


# --- folds -------------------------------------------------------------------------------


@given(st.integers(6, 80), st.integers(2, 6), st.integers(1, 4), st.integers(0, 9))
def test_folds_are_a_partition_and_deal_each_class_evenly(n, k, classes, seed):
    y = rng(seed).integers(0, classes, n)
    known = np.arange(max(classes, 2))
    data = split(np.arange(n), y, rng=rng(seed), test=2, classes=known)
    k = min(k, n - 2)
    folds = data.folds(k, rng(seed))
    parts = [ids(fold.test) for fold in folds]
    assert sorted(chain(*parts)) == sorted(ids(data.train()))
    for fold in folds:
        assert sorted(ids(fold.train()) + ids(fold.test)) == sorted(ids(data.train()))
        assert fold.sizes == (len(fold.order),)
        assert fold.test_ids.tolist() == ids(fold.test)
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    for label in range(classes):
        dealt = [int((fold.test[1] == label).sum()) for fold in folds]
        assert max(dealt) - min(dealt) <= 1


def test_folds_of_numbers_are_a_partition_too_and_hang_on_the_generator():
    data = split(np.arange(20), rng().random(20), rng=rng(), test=0)
    one, again, other = (data.folds(4, rng(s)) for s in (1, 1, 2))
    assert ids(one[0].test) == ids(again[0].test) != ids(other[0].test)
    assert sorted(chain(*(ids(f.test) for f in one))) == list(range(20))


def test_what_is_held_out_comes_from_the_training_set():
    data = numbered(test=0.4)
    inner = data.held_out(20, rng())
    assert isinstance(inner, Supervised)
    assert len(inner.test[1]) == 20
    assert sorted(ids(inner.train()) + ids(inner.test)) == sorted(ids(data.train()))


# --- what is refused ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (3, [0, 1], {}, "X is int 3. Pass an array or a data frame"),
        ([1, 2, 3], [0, 1], {}, "X has 3 rows and y 2 labels. Pass one label per row"),
        ([], [], {}, "X and y are empty"),
        ([1, 2], [[0, 1], [1, 0]], {}, r"y has shape \(2, 2\). Pass one label"),
        (
            [1, 2, 3],
            [0, np.nan, 1],
            {},
            "y is missing or not finite in 1 example, first",
        ),
        ([1, 2, 3], ["a", None, "b"], {}, "y is missing .* row 1. Leave those out"),
        ([1, 2], pd.array(["a", None]), {}, "y is missing .* row 1"),
        ([1, 2], np.array(["a", 1], object), {}, "labels of several types: int, str"),
        ([1, 2], ["a", "b"], {"labels": False}, "y holds str.*numbers are to be pred"),
        ([1, 2], ["a", "a"], {}, "y holds one label only, .*'a'"),
        (
            [1, 2],
            [0, 5],
            {"classes": np.arange(3)},
            "y holds .*5.*which classes does not",
        ),
        ([1, 2], [0.5, 1.5], {"stratify": True}, "stratify=True needs labels"),
        ([1, 2], [0, 1], {"test": 2}, "test is 2, and there are 2 examples"),
        ([1, 2, 3], [0, 1, 1], {"sizes": [9]}, "Size 9 was asked for"),
    ],
)
def test_data_that_cannot_be_split_say_why(X, y, options, message):
    with pytest.raises(CurvewiseError, match=message):
        split(X, y, rng=rng(), **options)


def test_sets_of_other_features_are_refused():
    with pytest.raises(
        CurvewiseError, match=r"has shape \(2,\) and a test example \(3,\)"
    ):
        from_sets((np.eye(2), [0, 1]), (np.eye(3), [0, 1, 1]))


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        (np.eye(2), None, r"train is ndarray .*Pass a pair: X and y"),
        ((np.eye(2), [0, 1]), [np.eye(2)], r"test is list .*Pass a pair: X and y"),
        ((3, [0, 1]), None, "X is int 3. Pass an array or a data frame"),
        # Three and two labels make five of each, and still none fits.
        (
            (np.eye(2), [0, 1, 1]),
            (np.eye(3, 2), [0, 1]),
            "X has 2 rows and y 3 labels",
        ),
        (([1, 2], ["a", "b"]), ([3], [1]), "labels of several types: int, str"),
        (
            (sparse.eye_array(2), [0, 1]),
            (np.eye(2), [0, 1]),
            "X is a sparse matrix to train on and an array to test on. Pass both in",
        ),
        (
            (sparse.eye_array(2), [0, 1]),
            (sparse.eye_array(3), [0, 1, 1]),
            r"has shape \(2,\) and a test example \(3,\)",
        ),
        (
            (pd.DataFrame(TABLE), [0, 1] * 2),
            (pl.DataFrame(TABLE), [0, 1] * 2),
            "X is a pandas DataFrame to train on and a polars DataFrame to test on",
        ),
        (
            (pd.DataFrame(TABLE), [0, 1] * 2),
            (pd.DataFrame(TABLE).rename(columns={"a": "c"}), [0, 1] * 2),
            "'a', 'c': a column of one of the sets only. Pass the same features",
        ),
        (
            (pl.DataFrame({"a": [1, 2]}), [0, 1]),
            (pl.DataFrame({"a": ["x", "y"]}), [0, 1]),
            "The columns to train on and to test on do not fit: .*the same types",
        ),
        (
            (type("Frame", (), {"columns": ["a"], "shape": (2, 1)})(), [0, 1]),
            (type("Frame", (), {"columns": ["a"], "shape": (2, 1)})(), [0, 1]),
            "whose rows cannot be put below each other. Pass a pandas",
        ),
    ],
)
def test_sets_that_do_not_fit_say_why(train, test, message):
    with pytest.raises(CurvewiseError, match=message):
        from_sets(train, test)


@pytest.mark.parametrize("n", [0, 61, 1.5, True, "all"])
def test_a_training_set_of_impossible_size_is_refused(n):
    assert refused(numbered().train, n) == ("n", n)


@pytest.mark.parametrize("k", [1, 61, 2.0, True])
def test_an_impossible_number_of_folds_is_refused(k):
    assert refused(numbered().folds, k, rng()) == ("folds", k)


def test_holding_out_everything_is_refused():
    assert refused(numbered().held_out, 60, rng()) == ("n", 60)


def test_a_line_that_is_not_there_is_refused():
    assert refused(numbered(sizes=[15, 30, 60]).line, 4) == ("line", 4)
