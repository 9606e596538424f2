"""Problems to try learners on: drawn anew in each trial, or cut from a data set."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.engine.experiment import Task
from curvewise.engine.supervised.data import Supervised, checked, from_sets, split
from curvewise.engine.supervised.sizes import Sizes, design_of, held_size
from curvewise.errors import whole

Rng: TypeAlias = np.random.Generator
Lines: TypeAlias = int | Literal["all"]

SEEDS = 2**31  # below this, scikit-learn takes a number for a seed

_TWO = np.array([0, 1])


def task_of(name: str, sample: Any, n: int, sizes: Sizes, lines: Lines) -> Task:
    """Return the task that draws `n` training examples, cut into lines.

    >>> task_of("coin", lambda rng: rng.random(8), 8, [2, 4, 8], "all").lines
    4
    """
    design = design_of(n, sizes)
    if lines == "all":
        return Task(name, sample, design.lines)
    fact = f"the sizes of task '{name}' form {design.lines}, which is 'all'"
    return Task(name, sample, whole(lines, "lines", most=design.lines, fact=fact))


def moons_task(
    n: int = 2000,
    *,
    noise: float = 0.3,
    test: float | int = 0.4,
    sizes: Sizes = None,
    lines: Lines = 1,
    name: str = "moons",
) -> Task:
    """Return two interleaving half circles, a task of Jordan et al. (2018).

    Parameters
    ----------
    n : int
        How many points in all.
    noise : float
        Standard deviation of what is added to each coordinate. The paper does not say;
        0.3 gives its Table 1.
    test : float or int
        What share, or how many, of the points are for the test.
    sizes : None, str, iterable of int, mapping or sizes.Design
        Of training sets; see `curvewise.engine.supervised.sizes.design_of`.
    lines : int or "all"
        Into how many lines each draw is cut, where there are sizes; a trial is one line.
    name : str

    Notes
    -----
    Training and test set are drawn from streams of their own. Freezing ``"train"`` keeps
    the training set and its order, freezing ``"test"`` keeps the test set.

    Examples
    --------
    >>> task = moons_task(100, sizes="small", lines="all")
    >>> task.lines
    4
    """
    m = held_size(whole(n, "n"), test)
    sample = Points("make_moons", n, n - m, {"noise": noise}, sizes)
    return task_of(name, sample, n - m, sizes, lines)


def circles_task(
    n: int = 2000,
    *,
    noise: float = 0.2,
    factor: float = 0.5,
    test: float | int = 0.4,
    sizes: Sizes = None,
    lines: Lines = 1,
    name: str = "circles",
) -> Task:
    """Return a circle within a circle, a task of Jordan et al. (2018).

    Parameters
    ----------
    n : int
        How many points in all.
    noise, factor : float
        Standard deviation of what is added to each coordinate, and the radius of the
        inner circle. The paper does not say; these give its Table 1.
    test, sizes, lines, name
        As in `moons_task`; so is what freezing means.
    """
    m = held_size(whole(n, "n"), test)
    settings = {"noise": noise, "factor": factor}
    sample = Points("make_circles", n, n - m, settings, sizes)
    return task_of(name, sample, n - m, sizes, lines)


@dataclass(frozen=True, slots=True)
class Points:
    """Draws two classes of points in the plane with a generator of scikit-learn."""

    generator: str
    n: int
    n_train: int
    settings: dict[str, float]
    sizes: Sizes

    def warm_up(self) -> None:
        """Import what trials need."""
        import sklearn.datasets  # noqa: F401

    def __call__(self, train_rng: Rng, test_rng: Rng) -> Supervised:
        """Return a training set from one stream and a test set from the other."""
        from sklearn import datasets

        generate = getattr(datasets, self.generator)
        # Each set is a random part of n points, because the generators space points
        # evenly along the curve: a part of many is less regular than all of fewer.
        (X, y), (X_test, y_test) = (
            generate(self.n, random_state=int(rng.integers(SEEDS)), **self.settings)
            for rng in (train_rng, test_rng)
        )
        n, m = self.n_train, self.n - self.n_train
        test = (X_test[:m], y_test[:m])
        return from_sets((X[:n], y[:n]), test, sizes=self.sizes, classes=_TWO)


def linear_task(
    n: int = 2000,
    *,
    test: float | int = 0.4,
    sizes: Sizes = None,
    lines: Lines = 1,
    name: str = "linear",
) -> Task:
    """Return four classes in ten dimensions, a task of Jordan et al. (2018).

    Two Gaussian clusters per class, at corners of a hypercube, drawn by scikit-learn's
    ``make_classification`` with all ten features informative; then uniform noise from 0
    to 2 is added to every number.

    Parameters
    ----------
    n : int
        How many points in all.
    test, sizes, lines, name
        As in `moons_task`.

    Notes
    -----
    Where the clusters lie is drawn too, and belongs to the training stream. Freezing
    ``"train"`` keeps problem, training set and its order; the test set varies among
    further points of the same problem. Freezing ``"test"`` alone keeps which of those
    points are taken, but they come from another problem in each trial.
    """
    m = held_size(whole(n, "n"), test)
    return task_of(name, Clusters(n, n - m, sizes), n - m, sizes, lines)


@dataclass(frozen=True, slots=True)
class Clusters:
    """Draws four classes of two clusters each in ten dimensions."""

    n: int
    n_train: int
    sizes: Sizes

    def warm_up(self) -> None:
        """Import what trials need."""
        import sklearn.datasets  # noqa: F401

    def __call__(self, train_rng: Rng, test_rng: Rng) -> Supervised:
        """Return a problem and its training set from one stream, its test from another."""
        from sklearn.datasets import make_classification

        X, y = make_classification(
            2 * self.n,
            n_features=10,
            n_informative=10,
            n_redundant=0,
            n_classes=4,
            n_clusters_per_class=2,
            random_state=int(train_rng.integers(SEEDS)),
        )
        X += 2 * train_rng.random(X.shape)
        n, m = self.n_train, self.n - self.n_train
        rows = n + test_rng.choice(2 * self.n - n, m, replace=False)
        test = X[rows], y[rows]
        classes = np.arange(4)
        return from_sets((X[:n], y[:n]), test, sizes=self.sizes, classes=classes)


def simple_task(
    n: int = 1280,
    *,
    test: int = 320,
    sizes: Sizes = None,
    lines: Lines = 1,
    name: str = "simple",
) -> Task:
    """Return two overlapping Gaussians in ten dimensions, after Xue et al. (2025).

    Class 0 is N(0, I), class 1 is N(0.5, 2 I), half of the examples each. The paper says
    no more than "two conditional Gaussian distributions"; these give its Tables 2 and 3.

    Parameters
    ----------
    n, test : int
        How many examples to train on, and how many to test on.
    sizes, lines, name
        As in `moons_task`; so is what freezing means. The paper's six sizes, 40 to 1280
        with all disjoint blocks, are ``sizes_for(1280, "doubling", steps=6)``, with
        ``lines="all"``.
    """
    sample = Drawn("gaussians", *_numbers(n, test), sizes)
    return task_of(name, sample, n, sizes, lines)


def exp2_task(
    n: int = 1280,
    *,
    test: int = 320,
    sizes: Sizes = None,
    lines: Lines = 1,
    name: str = "exp2",
) -> Task:
    """Return two classes with curved borders in the plane, a stand-in for Exp2.

    Xue et al. (2025) call Exp2 "a binary-class variant of the EXP6 dataset" and say no
    more: EXP6 has two features and six classes with curved borders. Ours are two
    uniform features from 0 to 15. A sine wave divides the square; in each half lies a
    disc of the other class, so that each class has two pieces, and half of the area.
    Labels have no noise. A learner of straight borders is right in about 67 of 100
    cases; a flexible one gets ever better with more data.

    Parameters
    ----------
    n, test, sizes, lines, name
        As in `simple_task`.
    """
    sample = Drawn("waves", *_numbers(n, test), sizes)
    return task_of(name, sample, n, sizes, lines)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Draws training and test set from a distribution of our own."""

    law: Literal["gaussians", "waves"]
    n: int
    test: int
    sizes: Sizes

    def __call__(self, train_rng: Rng, test_rng: Rng) -> Supervised:
        """Return a training set from one stream and a test set from the other."""
        draw = _gaussians if self.law == "gaussians" else _waves
        train, test = draw(self.n, train_rng), draw(self.test, test_rng)
        return from_sets(train, test, sizes=self.sizes, classes=_TWO)


def _gaussians(n: int, rng: Rng) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    y = rng.permutation(np.arange(n) % 2)
    X = rng.standard_normal((n, 10))
    one = y == 1
    X[one] = 0.5 + np.sqrt(2) * X[one]
    return X, y


def _waves(n: int, rng: Rng) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X = rng.uniform(0, 15, (n, 2))
    above = X[:, 1] > 7.5 + 3.5 * np.sin(2 * np.pi * X[:, 0] / 15)
    centres = np.array([[3.75, 5.0], [11.25, 10.0]])
    in_disc = (np.linalg.norm(X[:, None] - centres, axis=2) < 2.5).any(1)
    return X, (above ^ in_disc).astype(np.int64)


def _numbers(n: int, test: int) -> tuple[int, int]:
    return whole(n, "n"), whole(test, "test")


def data_task(
    X: Any,
    y: ArrayLike,
    *,
    test: float | int = 0.25,
    sizes: Sizes = None,
    lines: Lines = 1,
    stratify: bool = False,
    labels: bool | None = None,
    name: str = "data",
) -> Task:
    """Return a task of a data set of your own; only how it is split is random.

    Parameters
    ----------
    X : array_like or data frame, shape (example, ...)
    y : array_like, shape (example,)
        Labels, or numbers to predict.
    test, sizes, stratify, labels
        As in `curvewise.split`.
    lines, name
        As in `moons_task`.

    Notes
    -----
    The test stream chooses which examples are held out, the training stream shuffles the
    others. Freezing ``"test"`` keeps the test set; then the training set at full size
    is the same too, and smaller ones vary. Freezing ``"train"`` alone keeps little: where
    other examples are held out, the training set is another.

    Examples
    --------
    >>> data_task([[0.1], [0.2], [0.3], [0.4]], ["a", "b", "a", "b"]).name
    'data'
    """
    X, targets, classes = checked(X, y, labels=labels)
    n = len(targets) - held_size(len(targets), test)
    sample = Rows(
        X=X, y=targets, test=test, sizes=sizes, stratify=stratify, classes=classes
    )
    return task_of(name, sample, n, sizes, lines)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Splits one data set at random."""

    X: Any
    y: NDArray[Any]
    test: float | int
    sizes: Sizes
    stratify: bool
    classes: NDArray[Any] | None

    def __call__(self, train_rng: Rng, test_rng: Rng) -> Supervised:
        """Return a split: one stream holds examples out, the other shuffles the rest."""
        return split(
            self.X,
            self.y,
            rng=train_rng,
            test_rng=test_rng,
            test=self.test,
            sizes=self.sizes,
            stratify=self.stratify,
            labels=self.classes is not None,
            classes=self.classes,
        )
