"""The data of a supervised task: training sets that grow, folds, and a test set."""

import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.engine.supervised.sizes import Design, Sizes, design_of, held_size
from curvewise.errors import CurvewiseError, Keyword, listed, shortened, whole
from curvewise.text import count

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
    design : sizes.Design
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
        return rows(self.X, self.held), self.y[self.held]

    @property
    def test_ids(self) -> Ints:
        """Who the test examples are: their rows in `X`."""
        return self.held

    def train(self, n: int | None = None) -> Pair:
        """Return X and y of the first `n` training examples; all of them if None."""
        order = self.order if n is None else self.order[: self._within(n)]
        return rows(self.X, order), self.y[order]

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
        k = whole(k, "folds", 2, n, fact=self._there_are())
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
        n = whole(n, "n", most=total - 1, fact=self._there_are())
        out = np.zeros(total, np.bool_)
        out[rng.choice(total, n, replace=False)] = True
        return self._with(self.order[~out], self.order[out])

    def _with(self, order: Ints, test: Ints) -> "Supervised":
        design = Design((len(order),), ((0,),))
        return Supervised(
            X=self.X,
            y=self.y,
            order=order,
            held=test,
            design=design,
            classes=self.classes,
        )

    def _within(self, n: int) -> int:
        return whole(n, "n", most=len(self.order), fact=self._there_are())

    def _there_are(self) -> str:
        return f"there are {count(len(self.order), 'example')} to train on"

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
    sizes : None, str, iterable of int, mapping or sizes.Design
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
            Keyword("stratify", True),
            " needs labels, and y holds numbers to predict. Leave it out.",
        )
    n = len(y)
    m = held_size(n, test)
    strata = y if stratify else None
    shuffled = _shuffled(np.arange(n), strata, rng if test_rng is None else test_rng)
    test_rows, rest = np.sort(shuffled[:m]), np.sort(shuffled[m:])
    order = _shuffled(rest, strata, rng)
    return Supervised(
        X=X,
        y=y,
        order=order,
        held=test_rows,
        design=design_of(len(order), sizes),
        classes=classes,
    )


def from_sets(
    train: tuple[Any, ArrayLike],
    test: tuple[Any, ArrayLike] | None = None,
    *,
    sizes: Sizes = None,
    labels: bool | None = None,
    classes: NDArray[Any] | None = None,
) -> Supervised:
    """Return a training set and a test set that somebody else made, as they are.

    Nothing is drawn: training sets grow in the order in which the examples come. Shuffle
    them before, where that order means something; a task does so anew in each trial.

    Parameters
    ----------
    train : pair of X and y
        X has one row per example: an array, a sparse matrix, or a data frame of pandas,
        polars or pyarrow, which stays one. y has a label or a number for each.
    test : pair of X and y, optional
        In the same form, with the same features. Their ids go on where those for training
        end. Without it there is nothing held out: score by ``growing(...,
        validate="third")`` or by folds.
    sizes : None, str, iterable of int, mapping or sizes.Design
        Of training sets; see `design_of`.
    labels : bool, optional
        Whether y holds labels; if left out, fractions are numbers to predict, and all
        else is labels.
    classes : array, optional
        The labels there are, where some may be missing in both sets.

    Examples
    --------
    >>> data = from_sets((np.eye(3), [0, 1, 1]), (np.eye(3), [0, 0, 1]), sizes=[1, 3])
    >>> data
    Supervised(3 to train, 3 to test, 2 classes, sizes 1, 3)
    >>> data.test_ids
    array([3, 4, 5])

    As the sample of a task, with an order of its own in each trial:

    >>> def sample(rng):
    ...     order = rng.permutation(3)
    ...     return from_sets((np.eye(3)[order], np.array([0, 1, 1])[order]))
    """
    X, y = _pair(train, "train")
    n = len(y)
    if test is not None:
        X_test, y_test = _pair(test, "test")
        X, parts = stacked(X, X_test), [y, y_test]
        if y.dtype.kind != y_test.dtype.kind:  # as objects, lest a number become a text
            parts = [part.astype(object) for part in parts]
        y = np.concatenate(parts)
    X, y, classes = checked(X, y, labels=labels, classes=classes)
    ids = np.arange(len(y))
    return Supervised(
        X=X,
        y=y,
        order=ids[:n],
        held=ids[n:],
        design=design_of(n, sizes),
        classes=classes,
    )


def _pair(pair: Any, what: str) -> Pair:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise CurvewiseError(
            f"{what} is {type(pair).__name__} {shortened(pair)}. Pass a pair: X and y."
        )
    X, y = features(pair[0]), _targets(pair[1])
    _refuse_unpaired(X, y)
    return X, y


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
    X, targets = features(X), _targets(y)
    _refuse_unpaired(X, targets)
    if not len(targets):
        raise CurvewiseError("X and y are empty. Pass at least one example.")
    if labels is None:
        labels = targets.dtype.kind != "f" or bool((targets % 1 == 0).all())
    if not labels:
        return X, _numbers(targets), None
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
            f"y holds one label only, {classes[0]!r}. Pass examples of two classes, "
            "or all labels there are as ",
            {"classes": ...},
            ".",
        )
    return X, targets, classes


def _refuse_unpaired(X: Any, targets: NDArray[Any]) -> None:
    if X.shape[0] != len(targets):
        raise CurvewiseError(
            f"X has {count(X.shape[0], 'row')} and y {count(len(targets), 'label')}. "
            f"Pass one label per row."
        )


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


# --- Examples in the form in which they come: arrays, sparse matrices, data frames -----


def features(X: Any) -> Any:
    """Return examples as something with a shape and rows; what is a frame stays one.

    >>> features([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    if _is_sparse(X):
        return X.tocsr()  # the form that gives rows
    table = X if _is_frame(X) else np.asarray(X)
    if len(table.shape) == 0:
        raise CurvewiseError(
            f"X is {type(X).__name__} {shortened(X)}. Pass an array or a data frame with "
            f"one row per example."
        )
    return table


def rows(X: Any, chosen: NDArray[np.int64]) -> Any:
    """Return some of the examples, in the order asked for."""
    if hasattr(X, "iloc"):  # pandas
        return X.iloc[chosen]
    return X.take(chosen) if hasattr(X, "schema") and hasattr(X, "take") else X[chosen]


def stacked(train: Any, test: Any) -> Any:
    """Return two sets of `features` one below the other, in the form they both have.

    >>> stacked(np.zeros((2, 3)), np.ones((1, 3))).shape
    (3, 3)
    """
    kinds = [_kind(X) for X in (train, test)]
    if kinds[0] != kinds[1]:
        raise CurvewiseError(
            f"X is {kinds[0]} to train on and {kinds[1]} to test on. Pass both in one "
            f"form."
        )
    if _is_frame(train):
        return _stacked_frames(train, test)
    if train.shape[1:] != test.shape[1:]:
        raise CurvewiseError(
            f"A training example has shape {train.shape[1:]} and a test example "
            f"{test.shape[1:]}. Pass the same features in both."
        )
    if _is_sparse(train):
        from scipy import sparse

        return sparse.vstack([train, test], format="csr")
    return np.concatenate([train, test])


def _stacked_frames(train: Any, test: Any) -> Any:
    import narwhals as nw

    try:
        one, other = (nw.from_native(X, eager_only=True) for X in (train, test))
    except TypeError:
        raise CurvewiseError(
            f"X is {_kind(train)}, whose rows cannot be put below each other. Pass a "
            f"pandas, polars or pyarrow frame, or an array."
        ) from None
    odd = set(one.columns) ^ set(other.columns)
    if odd:
        raise CurvewiseError(
            f"{listed(sorted(odd, key=str))}: a column of one of the sets only. Pass the "
            f"same features in both."
        )
    if one.columns != other.columns:
        other = other.select(one.columns)
    try:
        return nw.concat([one, other], how="vertical").to_native()
    except Exception as problem:  # whatever the library of the frame raises
        raise CurvewiseError(
            f"The columns to train on and to test on do not fit: "
            f"{shortened(problem, 200)}. Give them the same types."
        ) from problem


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr")


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "shape")


def _kind(X: Any) -> str:
    if _is_sparse(X):
        return "a sparse matrix"
    if _is_frame(X):
        return f"a {type(X).__module__.partition('.')[0]} {type(X).__name__}"
    return "an array"
