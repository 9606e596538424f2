"""Examples in the form in which they come: arrays, sparse matrices, data frames."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, listed, shortened


def features(X: Any) -> Any:
    """Return examples as something with a shape and rows; what is a frame stays one.

    >>> features([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    if _is_sparse(X):
        return X.tocsr()  # the form that gives rows
    own = X if _is_frame(X) else np.asarray(X)
    if len(own.shape) == 0:
        raise CurvewiseError(
            f"X is {type(X).__name__} {shortened(X)}. Pass an array or a data frame with "
            f"one row per example."
        )
    return own


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
