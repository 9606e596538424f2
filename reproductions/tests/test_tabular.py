"""Tables from Parquet: how they are read, scaled and cut, and what is refused."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from support import data

from curvewise import CurvewiseError
from curvewise_papers.tasks import standardised, table_of, tabular_task


def written(folder, name="small", **columns):
    rows = 40
    rng = np.random.default_rng(1)
    table = {
        "height": rng.normal(170, 10, rows),
        "colour": np.array(["red", "blue"])[np.arange(rows) % 2],
        "count": np.arange(rows),
        "target": np.array(list("abcd"))[np.arange(rows) % 4],
        **columns,
    }
    file = folder / f"{name}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(table), file)
    return file


def drawn(task, seed=0):
    return task.sample(*np.random.default_rng(seed).spawn(2))


def test_texts_become_zeros_and_ones(tmp_path):
    X, y = table_of(str(written(tmp_path)))
    assert X.shape == (40, 4)  # height, blue, red, count
    assert X[:2, 1:3].tolist() == [[0, 1], [1, 0]]
    assert y[:5].tolist() == list("abcda")


def test_columns_are_scaled_by_what_is_there_to_train_on(tmp_path):
    task = tabular_task(written(tmp_path), test=8, sizes=[4, 16, 32], lines="all")
    assert (task.name, task.lines) == ("small", 8)
    found = drawn(task)
    X, _ = found.train()
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert len(found.held) == 8
    assert abs(found.test[0].mean(axis=0)).max() > 1e-6  # the test set had no say


def test_a_column_that_never_changes_becomes_zeros():
    assert standardised(np.ones((3, 1)), np.ones((2, 1))).tolist() == 3 * [[0.0]]


def test_some_labels_only(tmp_path):
    file = written(tmp_path)
    found = drawn(tabular_task(file, labels=["b", "d"], test=4))
    assert found.classes.tolist() == ["b", "d"]
    assert len(found.order) == 16
    with pytest.raises(CurvewiseError, match="'x'"):
        tabular_task(file, labels=["a", "x"])


def test_a_name_is_looked_for_in_the_data_folder(tmp_path, monkeypatch):
    written(tmp_path / "tabular", "soils")
    with pytest.raises(CurvewiseError, match="CURVEWISE_DATA"):
        tabular_task("soils")
    monkeypatch.setenv("CURVEWISE_DATA", str(tmp_path))
    task = tabular_task("soils")
    assert task.name == "soils"
    assert "soils" in repr(
        task.sample
    )  # not where it lies: that is another on each machine
    assert str(tmp_path) not in repr(task.sample)
    task.sample.warm_up()


def test_the_same_seeds_give_the_same_split_and_others_another(tmp_path):
    task = tabular_task(written(tmp_path))
    assert (drawn(task).order == drawn(task).order).all()
    assert (drawn(task).order != drawn(task, 1).order).any()


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"target": None}, "needs a column 'target'"),
        ({"colour": [None, *["red"] * 39]}, "numbers or texts, none of them missing"),
        ({"when": [b"x"] * 40}, "numbers or texts"),
    ],
)
def test_what_is_refused(tmp_path, columns, words):
    file = written(tmp_path, **{k: v for k, v in columns.items() if v is not None})
    if columns.get("target", "") is None:
        parquet.write_table(pa.table({"height": [1.0, 2.0]}), file)
    with pytest.raises(CurvewiseError, match=words):
        tabular_task(file)


def test_what_is_no_table_is_refused(tmp_path):
    file = tmp_path / "broken.parquet"
    file.write_text("no table", "utf-8")
    with pytest.raises(CurvewiseError, match="cannot be read as Parquet"):
        tabular_task(file)
    with pytest.raises(CurvewiseError, match="source is 3"):
        tabular_task(3)


def test_the_letters_are_all_there():
    X, y = table_of(str(data("tabular/letter.parquet")))
    assert X.shape == (20_000, 16)
    assert len(np.unique(y)) == 26
