"""What scikit-learn returns, told apart by its form: nothing of it is imported."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_search(source: object) -> bool:
    """Return whether this is a fitted search, such as `GridSearchCV`."""
    return not is_frame(source) and is_cv_results(getattr(source, "cv_results_", None))


def is_cv_results(source: object) -> bool:
    """Return whether this is `cv_results_`, as a dict or as a frame."""
    names = _names(source)
    scored = any(n.startswith("mean_test_") for n in names)
    return scored and ("params" in names or any(n.startswith("param_") for n in names))


def is_cross_validate(source: object) -> bool:
    """Return whether this is what `cross_validate` returns."""
    names = _names(source)
    return {"fit_time", "score_time"} <= set(names) and any(
        n.startswith("test_") for n in names
    )


def is_learning_curve(source: object) -> bool:
    """Return whether this is what `learning_curve` returns, or its display."""
    if not is_frame(source) and _has(source, "train_sizes", "train_scores"):
        return True
    if not isinstance(source, tuple) or len(source) not in (3, 4, 5):
        return False
    sizes, *scores = source[:3]
    return _dimensions(sizes) == 1 and all(_is_scores(own) for own in scores)


def is_validation_curve(source: object) -> bool:
    """Return whether this is what `validation_curve` returns, or its display."""
    if not is_frame(source) and _has(source, "param_range", "train_scores"):
        return True
    if not isinstance(source, tuple) or len(source) != 2:
        return False
    return all(_is_scores(own) for own in source)


def is_confusion(source: object) -> bool:
    """Return whether this is a confusion matrix of counts, or several, also by size."""
    if isinstance(source, Mapping):
        return bool(source) and all(
            _is_size(size) and is_confusion(own) for size, own in source.items()
        )
    if isinstance(source, list | tuple):
        return bool(source) and all(_is_matrix(own) for own in source)
    if isinstance(source, np.ndarray) and source.ndim == 3:
        return len(source) > 0 and all(_is_matrix(own) for own in source)
    return _is_matrix(source)


def is_frame(source: object) -> bool:
    """Return whether this is a table with columns, of whatever library."""
    # Asked of its type: a lazy frame would have to look first.
    return any(hasattr(type(source), name) for name in ("columns", "column_names"))


def column(source: Any, name: str) -> list[Any]:
    """Return a column of a dict or of a frame as a list; None where it is masked."""
    values = source[name]
    if isinstance(values, np.ma.MaskedArray):
        return [
            None if m else v for v, m in zip(values.data, _mask(values), strict=True)
        ]
    return list(values)


def _mask(values: Any) -> NDArray[np.bool_]:
    return np.broadcast_to(np.ma.getmaskarray(values), values.shape)


def names_of(source: Any) -> list[str]:
    """Return the names of the columns of a dict or of a frame."""
    return _names(source)


FORMS: dict[str, Callable[[object], bool]] = {
    "search": is_search,
    "cv_results": is_cv_results,
    "cross_validate": is_cross_validate,
    "learning_curve": is_learning_curve,
    "validation_curve": is_validation_curve,
    "confusion": is_confusion,
}


def form_of(source: object) -> str | None:
    """Return which of scikit-learn's results this is, or None.

    >>> form_of(np.array([[5, 1], [0, 4]])), form_of([1, 2]) is None
    ('confusion', True)
    """
    return next((name for name, fits in FORMS.items() if fits(source)), None)


def _names(source: object) -> list[str]:
    if isinstance(source, Mapping):
        names: Sequence[object] = list(source)
    elif is_frame(source) and not hasattr(type(source), "collect"):
        has: Any = source
        names = list(getattr(has, "column_names", None) or has.columns)
    else:
        return []
    return [name for name in names if isinstance(name, str)]


def _has(source: object, *names: str) -> bool:
    return not isinstance(source, Mapping) and all(hasattr(source, n) for n in names)


def _is_scores(part: object) -> bool:
    return _dimensions(part, "f") == 2


def _dimensions(part: object, kinds: str = "fiu") -> int:
    """Return how many dimensions numbers have; 0 for what is no array of numbers."""
    try:
        array: NDArray[Any] = np.asarray(part)
    except ValueError:  # ragged
        return 0
    return array.ndim if array.dtype.kind in kinds else 0


def _is_matrix(source: object) -> bool:
    return (
        isinstance(source, np.ndarray)
        and source.ndim == 2
        and source.shape[0] == source.shape[1] >= 2
        and source.dtype.kind in "iu"
        and bool((source >= 0).all())
    )


def _is_size(size: object) -> bool:
    return isinstance(size, int | float | np.number) and not isinstance(size, bool)
