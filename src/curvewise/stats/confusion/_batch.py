"""Tables of many curves at once: without a loop where all have the same sizes and runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import checked_sizes
from curvewise.stats._sample import Floats
from curvewise.stats.confusion._data import CountTable, count_table, stacked
from curvewise.stats.confusion._examples import Examples


def count_tables(
    sizes: ArrayLike | Sequence[ArrayLike],
    counts: ArrayLike | Sequence[Any],
    *,
    trained_on: ArrayLike | Sequence[ArrayLike] | None = None,
    examples: Sequence[Examples | None] | None = None,
) -> CountTable:
    """Return one table of many curves.

    Parameters
    ----------
    sizes : array_like, shape (size,), or a sequence of them
        The same for all curves, or one array for each.
    counts : array_like, shape (curve, size, K, K) or (curve, size, run, K, K), or a list
        A list holds what `count_table` takes, for each curve.
    trained_on, examples
        As `count_table` takes them, for all curves or for each.
    """
    table = _at_once(sizes, counts, trained_on, examples)
    if table is not None:
        return table
    every: list[Any] = list(counts)  # type: ignore[arg-type]
    if not every:
        raise CurvewiseError("There are no curves. Pass the counts of at least one.")
    own_sizes = _each(sizes, len(every), "sizes")
    own_trained = _each(trained_on, len(every), "trained_on")
    own_examples = [None] * len(every) if examples is None else list(examples)
    if len(own_examples) != len(every):
        raise CurvewiseError(
            f"There are {len(every)} curves and examples of {len(own_examples)}. Pass one "
            f"for each, None where nobody kept them."
        )
    return stacked(
        [
            _named(i, n, own, seen, kept)
            for i, (n, own, seen, kept) in enumerate(
                zip(own_sizes, every, own_trained, own_examples, strict=True)
            )
        ]
    )


def _named(i: int, n: Any, own: Any, seen: Any, kept: Examples | None) -> CountTable:
    try:
        return count_table(n, own, trained_on=seen, examples=kept)
    except CurvewiseError as problem:
        raise CurvewiseError(f"Curve number {i + 1}: ", problem.message) from None


def _each(values: Any, count: int, name: str) -> list[Any]:
    """Return one for each curve, of what is the same for all or differs."""
    if values is None or np.ndim(values[0]) == 0:
        return [values] * count
    if len(values) != count:
        raise CurvewiseError(
            f"There are {count} curves and {name} of {len(values)}. Pass one array of them "
            f"for all, or one for each."
        )
    return list(values)


def _at_once(
    sizes: Any, counts: Any, trained_on: Any, examples: Any
) -> CountTable | None:
    """Return the table of curves that are alike and good; None where a look is needed."""
    if not isinstance(counts, np.ndarray) or counts.dtype.kind not in "iuf":
        return None
    c = counts.astype(np.float64)
    c = c[:, :, None] if c.ndim == 4 else c
    seen = sizes if trained_on is None else trained_on
    if c.ndim != 5 or c.size == 0 or np.ndim(seen) != 1 or c.shape[-1] < 2:
        return None
    n = checked_sizes(seen, "sizes" if trained_on is None else "trained_on")
    order = np.argsort(n)
    is_alike = len(n) == c.shape[1] > 1 and c.shape[-1] == c.shape[-2]
    if not is_alike or (np.diff(n[order]) <= 0).any() or not _are_good(c):
        return None
    c = c[:, order]
    spread, sampling = _between(c)
    curves, _, runs = c.shape[:3]
    kept = (None,) * curves if examples is None else None
    if kept is None:
        return None  # examples are checked one by one
    return CountTable(
        np.broadcast_to(n[order], (curves, len(n))).copy(),
        c.sum(2),
        np.full((curves, len(n)), float(runs)),
        spread,
        sampling,
        _are_fixed(c),
        kept,
    )


def _are_good(c: Floats) -> bool:
    """Return whether no curve needs a closer look."""
    if not np.isfinite(c).all() or (c < 0).any() or (c != np.round(c)).any():
        return False
    rows, columns = c.sum(-1), c.sum(-2)
    is_empty = (rows.sum(-1) == 0).any() or (rows.sum((1, 2)) == 0).any()
    rows_vary = np.ptp(rows, axis=(1, 2)).any(-1)
    columns_vary = np.ptp(columns, axis=(1, 2)).any(-1)
    may_be_swapped = (rows_vary & ~columns_vary).any()
    return not (is_empty or may_be_swapped)


def _between(c: Floats) -> tuple[Floats, Floats]:
    """Return the covariance of recalls between runs, and its part from finite tests."""
    curves, sizes, runs, classes, _ = c.shape
    total = c.sum(-1)
    if runs < 2:
        nothing = np.full((curves, sizes, classes, classes), np.nan)
        return nothing, nothing[..., 0].copy()
    held = np.maximum(total, 1.0)
    right = np.diagonal(c, axis1=-2, axis2=-1)
    recall = right / held
    away = recall - recall.mean(2, keepdims=True)
    spread = np.einsum("bkrc,bkrd->bkcd", away, away) / (runs - 1)
    pooled = right.sum(2) / np.maximum(total.sum(2), 1.0)
    sampling = pooled * (1 - pooled) * (1 / held).mean(2)
    lacks = (total == 0).any((2, 3))
    spread[lacks], sampling[lacks] = np.nan, np.nan
    return spread, sampling


def _are_fixed(c: Floats) -> "np.typing.NDArray[np.bool_]":
    total = c.sum(-1)  # (curve, size, run, class)
    share = total.sum((1, 2)) / total.sum((1, 2, 3))[:, None]
    expected = share[:, None, None] * total.sum(-1, keepdims=True)
    return np.asarray((np.abs(total - expected) <= 1.0).all((1, 2, 3)))
