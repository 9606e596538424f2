"""The data of a supervised task: training sets that grow, folds, and a test set."""

import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise._text import count
from curvewise.engine.supervised.sizes import Design, Sizes, design_of, held_size, whole
from curvewise.errors import CurvewiseError, shortened

Ints: TypeAlias = NDArray[np.int64]
Pair: TypeAlias = tuple[Any, NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Supervised:
    """Examples with labels, in a training order, and a test set beside it.

    Make one with `split` or `from_sets`. An example's id is its row in `X`, so that two
    algorithms on the same data, or two sizes, can be compared example by example.

    Parameters
    ----------
    X : array or data frame, shape (example, ...)
        All examples, those of the test set included. A frame stays one, so that
        pipelines find their columns by name.
    y : array, shape (example,)
        Labels, or numbers to predict.
    order : array of int
        The training examples, in the order in which training sets grow.
    held : array of int
        The test examples.
    design : Design
        The sizes of training sets.
    classes : array, optional
        The labels there are, sorted; None where `y` holds numbers to predict.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> data = split(np.eye(10), [0, 1] * 5, test=0.4, sizes=[3, 6], rng=rng)
    >>> data
    Supervised(6 to train, 4 to test, 2 classes, sizes 3, 6)
    >>> X, y = data.train(3)
    >>> X.shape, y.shape, data.test[0].shape
    ((3, 10), (3,), (4, 10))
    """

    X: Any
    y: NDArray[Any]
    order: Ints
    held: Ints
    design: Design
    classes: NDArray[Any] | None

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of training sets, increasing; one unless more were asked for."""
        return self.design.sizes

    @property
    def test(self) -> Pair:
        """The test set: X and y."""
        return _rows(self.X, self.held), self.y[self.held]

    @property
    def test_ids(self) -> Ints:
        """Who the test examples are: their rows in `X`."""
        return self.held

    def train(self, n: int | None = None) -> Pair:
        """Return X and y of the first `n` training examples; all of them if None."""
        own = self.order if n is None else self.order[: self._within(n)]
        return _rows(self.X, own), self.y[own]

    def block(self, n: int) -> "Supervised":
        """Return the same with only the first `n` training examples."""
        return self._with(self.order[: self._within(n)], self.held)

    def line(self, i: int) -> "Supervised":
        """Return line `i`: its own training sets, each within the next; the same test set.

        Line 0 has every size. In a design that doubles, every other line has the smallest
        size only, every fourth the two smallest, and so on: together the lines train on
        every disjoint block of every size once, as in Xue et al. (2025) and Hoiem et al.
        (2021).

        Examples
        --------
        >>> data = from_sets((np.arange(8), [0, 1] * 4), sizes=[2, 4, 8])
        >>> for i in range(data.design.lines):
        ...     print(i, *(data.line(i).train(n)[0] for n in data.line(i).sizes))
        0 [0 1] [0 1 2 3] [0 1 2 3 4 5 6 7]
        1 [2 3]
        2 [4 5] [4 5 6 7]
        3 [6 7]
        """
        start, sizes = self.design.line(i)
        design = Design(sizes, ((0,),) * len(sizes))
        return replace(self, order=self.order[start : start + sizes[-1]], design=design)

    def folds(self, k: int, rng: np.random.Generator) -> list["Supervised"]:
        """Return `k` parts of the training set to validate on, each with the rest to train.

        Where there are classes, each is dealt out evenly: parts differ by one example of a
        class, and by one in all, at most. The test set is in none of them. Each fold has
        one size, its own.

        Examples
        --------
        >>> data = from_sets((np.arange(6), [0, 1] * 3))
        >>> [len(fold.test[1]) for fold in data.folds(3, np.random.default_rng(0))]
        [2, 2, 2]
        """
        n = len(self.order)
        if (
            isinstance(k, bool)
            or not isinstance(k, int | np.integer)
            or not 2 <= k <= n
        ):
            raise CurvewiseError(
                f"folds is {k!r}, and there are {count(n, 'example')} to train on. "
                f"Pass a whole number from 2 to {n}."
            )
        dealt = rng.permutation(n)
        if self.classes is not None:
            dealt = dealt[np.argsort(self.y[self.order[dealt]], kind="stable")]
        part = np.empty(n, np.int64)
        part[dealt] = np.arange(n) % k
        return [
            self._with(self.order[part != j], self.order[part == j]) for j in range(k)
        ]

    def held_out(self, n: int, rng: np.random.Generator) -> "Supervised":
        """Return the same with `n` random training examples as the test set instead."""
        total = len(self.order)
        n = whole(n, "n", "how many examples to hold out")
        if n >= total:
            raise CurvewiseError(
                f"{n} examples were to be held out, and there are {total} to train on. "
                f"Leave at least one."
            )
        out = np.zeros(total, np.bool_)
        out[rng.choice(total, n, replace=False)] = True
        return self._with(self.order[~out], self.order[out])

    def _with(self, order: Ints, held: Ints) -> "Supervised":
        design = Design((len(order),), ((0,),))
        return Supervised(self.X, self.y, order, held, design, self.classes)

    def _within(self, n: int) -> int:
        total = len(self.order)
        if (
            isinstance(n, bool)
            or not isinstance(n, int | np.integer)
            or not 1 <= n <= total
        ):
            raise CurvewiseError(
                f"{shortened(repr(n))} training examples were asked for, and there are "
                f"{total}. Pass a whole number from 1 to {total}."
            )
        return int(n)

    def __repr__(self) -> str:
        parts = [f"{len(self.order)} to train", f"{len(self.held)} to test"]
        if self.classes is not None:
            parts.append(f"{len(self.classes)} classes")
        if len(self.sizes) > 1:
            parts.append(f"sizes {', '.join(map(str, self.sizes))}")
        return f"Supervised({', '.join(parts)})"


def split(
    X: Any,
    y: ArrayLike,
    *,
    rng: np.random.Generator,
    test_rng: np.random.Generator | None = None,
    test: float | int = 0.4,
    sizes: Sizes = None,
    stratify: bool = False,
    labels: bool | None = None,
    classes: NDArray[Any] | None = None,
) -> Supervised:
    """Return examples divided at random into a test set and a training order.

    Parameters
    ----------
    X : array_like or data frame, shape (example, ...)
    y : array_like, shape (example,)
        Labels, or numbers to predict.
    rng : Generator
        Shuffles the training examples.
    test_rng : Generator, optional
        Chooses which examples are held out; `rng` if left out. With the same `test_rng`
        and another `rng` the same examples are held out, and the others come in another
        order. With another `test_rng` the training set changes too: it is the rest.
    test : float or int
        What share of the examples to hold out, rounded up, or how many.
    sizes : None, str, iterable of int, mapping or Design
        Of training sets; see `design_of`.
    stratify : bool
        Whether test set and blocks of the training order get their share of each class.
    labels : bool, optional
        Whether `y` holds labels; if left out, fractions are numbers to predict, and all
        else is labels.
    classes : array, optional
        The labels there are, where some may be missing in `y`.

    Examples
    --------
    >>> split(np.eye(5), list("abcab"), test=2, rng=np.random.default_rng(0))
    Supervised(3 to train, 2 to test, 3 classes)
    """
    X, y, classes = checked(X, y, labels=labels, classes=classes)
    if stratify and classes is None:
        raise CurvewiseError(
            "stratify=True needs labels, and y holds numbers to predict. Leave it out."
        )
    n = len(y)
    m = held_size(n, test)
    strata = y if stratify else None
    shuffled = _shuffled(np.arange(n), strata, rng if test_rng is None else test_rng)
    held, rest = np.sort(shuffled[:m]), np.sort(shuffled[m:])
    order = _shuffled(rest, strata, rng)
    return Supervised(X, y, order, held, design_of(len(order), sizes), classes)


def from_sets(
    train: tuple[Any, ArrayLike],
    test: tuple[Any, ArrayLike] | None = None,
    *,
    sizes: Sizes = None,
    labels: bool | None = None,
    classes: NDArray[Any] | None = None,
) -> Supervised:
    """Return a training set, in the order in which it is, and a test set beside it.

    Parameters
    ----------
    train, test : pair of array_like
        X and y. The ids of test examples go on where those for training end.
    sizes, labels, classes
        As in `split`.

    Examples
    --------
    >>> from_sets((np.eye(3), [0, 1, 1]), (np.eye(3), [0, 0, 1])).test_ids
    array([3, 4, 5])
    """
    X, y = train
    n = len(y)  # type: ignore[arg-type]
    if test is not None:
        one, other = np.asarray(X), np.asarray(test[0])
        if one.shape[1:] != other.shape[1:]:
            raise CurvewiseError(
                f"A training example has shape {one.shape[1:]} and a test example "
                f"{other.shape[1:]}. Pass the same features in both."
            )
        X = np.concatenate([one, other])
        y = np.concatenate([np.asarray(y), np.asarray(test[1])])
    X, y, classes = checked(X, y, labels=labels, classes=classes)
    rows = np.arange(len(y))
    return Supervised(X, y, rows[:n], rows[n:], design_of(n, sizes), classes)


def checked(
    X: Any,
    y: ArrayLike,
    *,
    labels: bool | None = None,
    classes: NDArray[Any] | None = None,
) -> tuple[Any, NDArray[Any], NDArray[Any] | None]:
    """Return examples, labels and classes as arrays, or say what is wrong with them.

    >>> checked([[1.0], [2.0]], ["b", "a"])[2]
    array(['a', 'b'], dtype='<U1')
    """
    features = _features(X)
    if len(features.shape) == 0:
        raise CurvewiseError(
            f"X is {type(X).__name__} {shortened(X)}. Pass an array or a data frame with "
            f"one row per example."
        )
    targets = _targets(y)
    if features.shape[0] != len(targets):
        raise CurvewiseError(
            f"X has {count(features.shape[0], 'row')} and y "
            f"{count(len(targets), 'label')}. Pass one label per row."
        )
    if not len(targets):
        raise CurvewiseError("X and y are empty. Pass at least one example.")
    if labels is None:
        labels = targets.dtype.kind != "f" or bool((targets % 1 == 0).all())
    if not labels:
        return features, _numbers(targets), None
    if classes is None:
        classes = np.unique(targets)
    else:
        classes = np.unique(classes)
        odd = targets != classes[code(targets, classes)]
        if odd.any():
            raise CurvewiseError(
                f"y holds {shortened(repr(targets[odd][0]))}, which classes does not. "
                f"Pass all of them."
            )
    if len(classes) < 2:
        raise CurvewiseError(
            f"y holds one label only, {classes[0]!r}. Pass examples of two classes, or "
            f"all labels there are as classes=."
        )
    return features, targets, classes


def _features(X: Any) -> Any:
    if hasattr(X, "tocsr"):  # sparse, in the form that gives rows
        return X.tocsr()
    is_frame = hasattr(X, "columns") and hasattr(X, "shape")
    return X if is_frame else np.asarray(X)


def _rows(X: Any, rows: Ints) -> Any:
    """Return rows of an array, a sparse matrix or a data frame."""
    if hasattr(X, "iloc"):  # pandas
        return X.iloc[rows]
    return X.take(rows) if hasattr(X, "schema") and hasattr(X, "take") else X[rows]


def code(labels: NDArray[Any], classes: NDArray[Any]) -> Ints:
    """Return the place of each label among sorted classes; any place if it is none.

    >>> code(np.array(["b", "a", "b"]), np.array(["a", "b"]))
    array([1, 0, 1])
    """
    return np.minimum(np.searchsorted(classes, labels), len(classes) - 1)


def _targets(y: ArrayLike) -> NDArray[Any]:
    targets = np.asarray(y)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if targets.ndim != 1:
        raise CurvewiseError(
            f"y has shape {targets.shape}. Pass one label or number per example."
        )
    if targets.dtype == object:
        missing = np.array([_is_missing(value) for value in targets], np.bool_)
        kinds = {type(value) for value in targets[~missing]}
        if len(kinds) > 1 and not all(issubclass(k, int | float) for k in kinds):
            names = sorted(k.__name__ for k in kinds)
            raise CurvewiseError(
                f"y holds labels of several types: {', '.join(names)}. Pass texts or "
                f"numbers, not both."
            )
        if not missing.any():
            targets = np.array(targets.tolist())
    elif targets.dtype.kind == "f":
        missing = ~np.isfinite(targets)
    else:
        missing = np.zeros(len(targets), np.bool_)
    if missing.any():
        raise CurvewiseError(
            f"y is missing or not finite in {count(int(missing.sum()), 'example')}, "
            f"first in row {int(np.argmax(missing))}. Leave those out."
        )
    return targets


def _is_missing(value: object) -> bool:
    odd = type(value).__name__ in ("NAType", "NaTType")  # pandas
    return (
        value is None or odd or (isinstance(value, float) and not math.isfinite(value))
    )


def _numbers(targets: NDArray[Any]) -> NDArray[np.float64]:
    if targets.dtype.kind not in "fiub":
        raise CurvewiseError(
            f"y holds {targets.dtype.name}, such as {shortened(repr(targets[0]))}, and "
            f"numbers are to be predicted. Pass numbers, or say that they are labels."
        )
    return targets.astype(np.float64)


def _shuffled(
    rows: Ints, strata: NDArray[Any] | None, rng: np.random.Generator
) -> Ints:
    """Return `rows` in random order; with strata, spread so that blocks are balanced."""
    rows = rng.permutation(rows)
    if strata is None:
        return rows
    _, code, number = np.unique(strata[rows], return_inverse=True, return_counts=True)
    by_class = np.argsort(code, kind="stable")
    rank = np.empty(len(rows))
    rank[by_class] = np.arange(len(rows)) - (np.cumsum(number) - number)[code[by_class]]
    # Members of each class at equal distances, each class with an offset of its own.
    place = (rank + rng.random(len(number))[code]) / number[code]
    return rows[np.argsort(place, kind="stable")]
