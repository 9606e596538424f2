"""Tables of examples, read from Parquet, as tasks."""

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curvewise._checks import is_name
from curvewise._text import count
from curvewise.engine.experiment import Task
from curvewise.engine.supervised.data import Supervised, split
from curvewise.engine.supervised.sizes import Sizes, held_size
from curvewise.errors import CurvewiseError, shortened, unknown
from curvewise.zoo.tasks import Lines, Rng, task_of

_TARGET = "target"
_FOLDER = "tabular"


def tabular_task(
    source: str | Path,
    *,
    labels: Sequence[Any] | None = None,
    test: float | int = 0.2,
    sizes: Sizes = None,
    lines: Lines = 1,
    name: str | None = None,
) -> Task:
    """Return a table of examples to classify; only how it is split is random.

    Numbers are brought to mean 0 and variance 1 over the examples that are there to train
    on; of a column of texts, each text becomes a column of zeros and ones first.

    Parameters
    ----------
    source : str or path
        A Parquet file with a column ``target``, or its name without the ending in the
        folder ``tabular`` of the one that the environment variable ``CURVEWISE_DATA``
        names.
    labels : sequence, optional
        Keep only examples of these.
    test : float or int
        What share, or how many, of the examples are for the test.
    sizes, lines
        As in `moons_task`.
    name : str, optional
        What to call the task; as the file, if left out.

    Notes
    -----
    The test stream chooses which examples are held out, the training stream shuffles the
    others, as in `data_task`. With several sizes, mean and variance are those of the
    whole training set.
    """
    kept = None if labels is None else tuple(labels)
    _, y = table_of(str(table_file(source)), kept)
    n = len(y) - held_size(len(y), test)
    named = Path(source).stem if name is None else name
    return task_of(named, Table(str(source), kept, test, sizes), n, sizes, lines)


@dataclass(frozen=True, slots=True)
class Table:
    """Splits a table at random, its columns brought to one scale."""

    source: str
    labels: tuple[Any, ...] | None
    test: float | int
    sizes: Sizes

    def warm_up(self) -> None:
        """Read the file, which all trials share."""
        table_of(str(table_file(self.source)), self.labels)

    def __call__(self, train_rng: Rng, test_rng: Rng) -> Supervised:
        """Return a split, scaled by its training examples."""
        X, y = table_of(str(table_file(self.source)), self.labels)
        data = split(
            *(X, y),
            rng=train_rng,
            test_rng=test_rng,
            test=self.test,
            sizes=self.sizes,
            labels=True,
        )
        scaled = standardised(X, X[data.order])
        return Supervised(
            scaled, data.y, data.order, data.held, data.design, data.classes
        )


def standardised(
    X: NDArray[np.float64], by: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return columns less the means of `by`, over its standard deviations.

    >>> standardised(np.array([[2.0, 5.0]]), np.array([[0.0, 5.0], [2.0, 5.0]]))
    array([[1., 0.]])
    """
    spread = by.std(axis=0)
    return np.asarray((X - by.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def table_file(source: str | Path) -> Path:
    """Return where a table lies, given by path or by name."""
    if not isinstance(source, Path) and not is_name(source):
        raise CurvewiseError(
            f"source is {shortened(source)}. Pass a Parquet file, or the name of one."
        )
    folder = Path(os.environ.get("CURVEWISE_DATA") or os.devnull) / _FOLDER
    for file in (Path(source), folder / f"{source}.parquet"):
        if file.is_file():
            return file
    raise CurvewiseError(
        f"There is no file '{source}', and no '{_FOLDER}/{source}.parquet' in the folder "
        f"that the environment variable CURVEWISE_DATA names. Pass a Parquet file, or set "
        f"the variable."
    )


@functools.lru_cache(maxsize=8)
def table_of(
    path: str, labels: tuple[Any, ...] | None = None
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return features and labels of a Parquet file; texts become zeros and ones."""
    from pyarrow import ArrowInvalid, parquet

    try:
        table = parquet.read_table(path)
    except (ArrowInvalid, OSError) as problem:
        raise CurvewiseError(
            f"'{Path(path).name}' cannot be read as Parquet: {problem}"
        ) from problem
    if _TARGET not in table.column_names or table.num_columns < 2:
        raise CurvewiseError(
            f"'{Path(path).name}' needs a column '{_TARGET}' and features beside it. Its "
            f"columns are {shortened(table.column_names)}."
        )
    y = _values(table, _TARGET)
    columns = [_numbers(table, n) for n in table.column_names if n != _TARGET]
    X = np.concatenate(columns, axis=1)
    if labels is None:
        return X, y
    known = np.unique(y).tolist()
    for label in labels:
        if label not in known:
            raise unknown("label", label, known)
    kept = np.isin(y, labels)
    return X[kept], y[kept]


def _numbers(table: Any, name: str) -> NDArray[np.float64]:
    """Return a column of numbers as it is, and one of texts as an indicator of each."""
    column = _values(table, name)
    if column.dtype.kind != "U":
        return column.astype(np.float64)[:, None]
    return np.asarray(column[:, None] == np.unique(column), dtype=np.float64)


def _values(table: Any, name: str) -> NDArray[Any]:
    """Return a column as an array of numbers or of texts."""
    column = table.column(name)
    values: NDArray[Any] = column.to_numpy()
    if values.dtype == object and column.null_count == 0:
        values = values.astype(type(values[0]))
    if column.null_count or values.dtype.kind not in "biufU":
        raise CurvewiseError(
            f"Column '{shortened(name)}' holds {column.type} with "
            f"{count(column.null_count, 'missing value')}. Pass numbers or texts, none of "
            f"them missing."
        )
    return values
