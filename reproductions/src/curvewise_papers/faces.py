"""Faces of seven people, as numbers to learn from."""

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curvewise._checks import whole
from curvewise.engine.experiment import Task
from curvewise.engine.supervised.data import Supervised, split
from curvewise.engine.supervised.sizes import Sizes, held_size
from curvewise.errors import CurvewiseError, listed, shortened
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
