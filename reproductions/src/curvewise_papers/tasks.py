"""Data sets as tasks: faces of seven people, and tables read from Parquet."""

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curvewise.engine.experiment import Task
from curvewise.engine.supervised.data import Supervised, split
from curvewise.engine.supervised.sizes import Sizes, held_size
from curvewise.errors import CurvewiseError, is_name, listed, shortened, unknown, whole
from curvewise.text import count
from curvewise.zoo.tasks import SEEDS, Lines, Rng, task_of

_IMAGES, _PIXELS = 1288, 50 * 37
_FILE = "lfw_people70.npz"


def faces_task(
    path: str | Path | None = None,
    *,
    test: float | int = 0.4,
    components: int = 150,
    sizes: Sizes = None,
    lines: Lines = 1,
    name: str = "faces",
) -> Task:
    """Return photographs to tell seven people by, a task of Jordan et al. (2018).

    The 1288 images of Labeled Faces in the Wild of people with 70 or more, reduced to
    150 whitened principal components that are fitted to the training examples only.

    Parameters
    ----------
    path : path, optional
        A local copy: an .npz file with ``images`` (example, height, width) in 0 to 255,
        and ``target``. If left out, ``lfw_people70.npz`` or
        ``lfw_people70/lfw_people70.npz`` in the folder that the environment variable
        ``CURVEWISE_DATA`` names; if there is none, scikit-learn's ``fetch_lfw_people``,
        which downloads them.
    test : float or int
        What share, or how many, of the images are for the test.
    components : int
        How many principal components: at most as many as there are images to train on,
        and as an image has pixels.
    sizes, lines, name
        As in `moons_task`.

    Notes
    -----
    The images are always the same; only the split is random. The test stream chooses
    which images are held out, the training stream shuffles the others, as in
    `data_task`. With several sizes the components are those of the whole training set.
    """
    if path is not None and not Path(path).is_file():
        raise CurvewiseError(
            f"There is no file '{path}'. Pass an .npz file with 'images' and "
            f"'target', or leave path out."
        )
    n, pixels = (_IMAGES, _PIXELS) if path is None else _images(str(path))[0].shape
    n_train = n - held_size(n, test)
    fact = f"there are {n_train} images of {pixels} pixels to train on"
    most = min(n_train, pixels)
    components = whole(components, "components", most=most, fact=fact)
    sample = Faces(None if path is None else str(path), test, components, sizes)
    return task_of(name, sample, n_train, sizes, lines)


@dataclass(frozen=True, slots=True)
class Faces:
    """Splits the images at random and reduces them to principal components."""

    path: str | None
    test: float | int
    components: int
    sizes: Sizes

    def warm_up(self) -> None:
        """Import what trials need."""
        import sklearn.decomposition  # noqa: F401

    def __call__(self, train_rng: Rng, test_rng: Rng) -> Supervised:
        """Return a split, with components of its training images."""
        from sklearn.decomposition import PCA

        images, y = _images(self.path or _found())
        data = split(
            images,
            y,
            rng=train_rng,
            test_rng=test_rng,
            test=self.test,
            sizes=self.sizes,
        )
        reduce = PCA(
            self.components, whiten=True, random_state=int(train_rng.integers(SEEDS))
        )
        reduce.fit(data.train()[0])
        X = reduce.transform(images)
        return Supervised(X, data.y, data.order, data.held, data.design, data.classes)


def has_faces() -> bool:
    """Return whether the images are here, so that `faces_task` has nothing to download.

    They are if ``CURVEWISE_DATA`` names a folder with them, or if scikit-learn has
    downloaded them before.
    """
    if _found():
        return True
    from sklearn.datasets import fetch_lfw_people

    try:
        fetch_lfw_people(min_faces_per_person=70, resize=0.4, download_if_missing=False)
    except OSError:
        return False
    return True


def _found() -> str | None:
    folder = Path(os.environ.get("CURVEWISE_DATA") or os.devnull)
    for file in (folder / _FILE, folder / "lfw_people70" / _FILE):
        if file.is_file():
            return str(file)
    return None


@functools.lru_cache(maxsize=2)
def _images(path: str | None) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Return images as rows of numbers from 0 to 1, and whose they are."""
    if path is None:
        from sklearn.datasets import fetch_lfw_people

        people = fetch_lfw_people(min_faces_per_person=70, resize=0.4)
        return people.data, people.target
    with np.load(path) as file:
        missing = [key for key in ("images", "target") if key not in file]
        if missing:
            raise CurvewiseError(
                f"'{shortened(Path(path).name)}' has no {listed(missing)}. Pass an "
                f".npz file with 'images' and 'target'."
            )
        images, target = file["images"], file["target"]
    flat = images.reshape(len(images), -1).astype(np.float32) / 255
    return flat, target.astype(np.int64)


# --- tables of examples, read from Parquet -----------------------------------------------


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
    classes = None if labels is None else tuple(labels)
    _, y = table_of(str(table_file(source)), classes)
    n = len(y) - held_size(len(y), test)
    task_name = Path(source).stem if name is None else name
    return task_of(task_name, Table(str(source), classes, test, sizes), n, sizes, lines)


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
            f"source is {shortened(source)}. Pass a Parquet file, or the name of one.",
            argument="source",
            value=source,
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
    classes = np.unique(y).tolist()
    for label in labels:
        if label not in classes:
            raise unknown("label", label, classes)
    rows = np.isin(y, labels)
    return X[rows], y[rows]


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
