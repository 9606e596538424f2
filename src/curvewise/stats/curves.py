"""What all learning curves share: runs at sizes, and one kernel for their fits."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, CurvewiseWarning, Message
from curvewise.stats.validation import (
    LARGEST_LOSS,
    Floats,
    checked_scores,
    checked_sizes,
    checked_table,
    one_of,
    refuse_twice,
)

Unit: TypeAlias = Literal["fraction", "percent", "loss"]
UNITS = ("fraction", "percent", "loss")


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The errors of one learner at increasing training-set sizes."""

    sizes: Floats  # increasing
    # For each size, one per run: fractions, whatever unit they came in.
    errors: tuple[Floats, ...]
    # The same where a row is one run (one seed, one split) at all sizes, NaN where it has
    # none; None where nobody knows which run is which.
    table: Floats | None

    @property
    def means(self) -> Floats:
        """The mean error at each size."""
        return np.array([e.mean() for e in self.errors])

    @property
    def counts(self) -> Floats:
        """How many runs there are at each size."""
        return np.array([len(e) for e in self.errors], dtype=np.float64)

    @property
    def variances(self) -> Floats:
        """The variance from run to run at each size; NaN where there is one run."""
        return np.array([e.var(ddof=1) if len(e) > 1 else np.nan for e in self.errors])


def scale_of(unit: Unit) -> float:
    """Return how many of a unit a whole is."""
    return 100.0 if unit == "percent" else 1.0


def as_number(value: Any) -> Any:
    """Return a number where there is one, the array where there are many."""
    return np.asarray(value).item() if np.ndim(value) == 0 else value


def checked_runs(
    sizes: ArrayLike,
    errors: Any,
    *,
    unit: Unit = "fraction",
    runs: Any = None,
    fewest: int = 3,
) -> Runs:
    """Return errors at sizes in increasing order, as fractions; refuse what is no curve."""
    one_of("unit", unit, UNITS)
    n = checked_sizes(sizes)
    by_size = _by_size(errors, n)
    if len(n) < fewest:
        raise CurvewiseError(
            f"There {'is 1 size' if len(n) == 1 else f'are {len(n)} sizes'}, and this "
            f"needs at least {fewest}. Train on more, such as a half and a quarter of the "
            f"data."
        )
    order = np.argsort(n, kind="stable")
    n = n[order]
    refuse_twice(n)
    values = [by_size[i] for i in order]
    together = np.concatenate(values)
    _refuse_outside(together, unit)
    _warn_of_fractions(float(together.max()), unit)
    scale = 0.01 if unit == "percent" else 1.0
    table = _table(values, None if runs is None else _ids(runs, by_size, order))
    table = None if table is None else scale * table
    return Runs(n, tuple(scale * v for v in values), table)


def checked_means(values: Any, name: str, sizes: int, unit: Unit) -> Floats:
    """Return mean errors, one row for each curve; warn where all are of another unit."""
    table = checked_table(values, name, sizes)
    highest = np.where(np.isfinite(table), table, 0.0).max(axis=1, initial=0.0)
    if len(table) and unit == "fraction" and highest.min() > 1 and highest.max() <= 100:
        warnings.warn(
            Message(
                "Every curve has an error above 1, which no fraction is; the largest "
                f"is {highest.max():g}. If these are percentages, pass ",
                {"unit": "percent"},
                ".",
            ),
            CurvewiseWarning,
            stacklevel=3,
        )
    _warn_of_fractions(float(highest.max(initial=0.0)), unit)
    return table


def _warn_of_fractions(top: float, unit: Unit) -> None:
    if unit == "percent" and 0 < top <= 1:
        warnings.warn(
            Message(
                f"The largest error is {top:g} %. If these are fractions, pass ",
                {"unit": "fraction"},
                ".",
            ),
            CurvewiseWarning,
            stacklevel=4,
        )


def _by_size(errors: Any, n: Floats) -> list[Floats]:
    if isinstance(errors, Mapping | str):
        raise CurvewiseError(
            f"errors is a {type(errors).__name__}. Pass a list: one error, or one array "
            f"of runs, for each size."
        )
    try:
        # A table is its rows, also where its own iterator is about columns.
        parts = list(np.asarray(errors) if getattr(errors, "ndim", 1) == 2 else errors)
    except (TypeError, ValueError):
        parts = []
    if len(parts) != len(n):
        raise CurvewiseError(
            f"There are {len(n)} sizes and errors for {len(parts)}. Pass one error, or one "
            f"array of runs, for each size."
        )
    return [
        checked_scores(_atleast_1d(part), f"Errors at size {size:g}")
        for part, size in zip(parts, n, strict=True)
    ]


def _atleast_1d(part: Any) -> Any:
    try:
        return np.atleast_1d(part)
    except ValueError:  # lists of different lengths
        return np.empty((0, 0))


def _refuse_outside(values: Floats, unit: Unit) -> None:
    if values.min() < 0:
        raise CurvewiseError(
            f"An error is {values.min():g}, below 0. Pass errors, where less is better: "
            f"1 - accuracy, not accuracy."
        )
    top = float(values.max())
    if unit == "fraction" and top > 1:
        hint = (
            Message({"unit": "percent"})
            if 2 <= top <= 100
            else Message({"unit": "loss"}, " for other losses")
        )
        raise CurvewiseError(
            f"An error is {top:g}, and fractions go from 0 to 1. Pass ", hint, "."
        )
    if unit == "percent" and top > 100:
        raise CurvewiseError(
            f"An error is {top:g}, and percentages go from 0 to 100. Pass ",
            {"unit": "loss"},
            " for other losses.",
        )
    if top > LARGEST_LOSS:
        raise CurvewiseError(
            f"An error is {top:g}. Pass losses up to {LARGEST_LOSS:g}, such as their "
            f"logarithms."
        )


def _ids(runs: Any, by_size: Sequence[Floats], order: Any) -> list[Any]:
    try:
        ids = [np.atleast_1d(np.asarray(part)) for part in runs]
    except (TypeError, ValueError):
        ids = []
    if [len(i) for i in ids] != [len(v) for v in by_size]:
        raise CurvewiseError(
            "runs and errors differ in shape. Pass, for each error, which run it is of."
        )
    try:
        is_twice = any(len(np.unique(i)) != len(i) for i in ids)
        np.unique(np.concatenate(ids))
    except TypeError:  # None has no order
        raise CurvewiseError(
            "Some runs have no name. Pass, for each error, which run it is of."
        ) from None
    if is_twice:
        raise CurvewiseError(
            "A run has two errors at one size. Pass one error for each run and size."
        )
    return [ids[i] for i in order]


def _table(values: Sequence[Floats], ids: Sequence[Any] | None) -> Floats | None:
    if ids is None:
        same = len({len(v) for v in values}) == 1
        return np.stack(values, axis=1) if same else None
    names, place = np.unique(np.concatenate(ids), return_inverse=True)
    table = np.full((len(names), len(values)), np.nan)
    column = np.repeat(np.arange(len(values)), [len(v) for v in values])
    table[place, column] = np.concatenate(values)
    return table


# --------------------------------------------------------------------------------------
# The one kernel: weighted fits of e = c + b phi(n), for many curves and many shapes.


# Temporaries are (curve, shape): a block of them stays in the cache of a core.
_CELLS = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class GridFit:
    """The best line c + b phi for every curve and shape, (curve, shape)."""

    cost: Floats  # weighted sum of squares that is left
    asymptote: Floats  # c
    amplitude: Floats  # b


def fit_grid(
    basis: Floats, errors: Floats, weights: Floats, *, is_bounded: bool = False
) -> GridFit:
    """Return the weighted least-squares c and b for every curve and shape.

    Notes
    -----
    With x the basis moved and scaled to mean 0 and length 1, b = Sxy/Sxx and the cost is
    Syy - Sxy^2/Sxx: three matrix products and a few elementwise passes for all curves and
    shapes at once.
    """
    x, middle, scale = _standard(basis)
    total = weights.sum(axis=1, keepdims=True)
    wy = weights * errors
    y_mean = wy.sum(axis=1, keepdims=True) / total
    rest = errors - y_mean
    syy = (weights * rest**2).sum(axis=1, keepdims=True)
    x_mean = (weights @ x.T) / total
    sxx = weights @ (x**2).T - total * x_mean**2
    sxy = (weights * rest) @ x.T
    # A shape that is flat on the sizes of a curve has no slope to speak of.
    is_flat = sxx <= 1e-12 * total
    b = np.where(is_flat, 0.0, sxy / np.where(is_flat, 1.0, sxx))
    cost = np.maximum(syy - b * sxy, 0.0)
    amplitude = b / scale
    asymptote = y_mean - b * x_mean - amplitude * middle
    if is_bounded:
        _bound(basis, errors, weights, cost, asymptote, amplitude, (syy, y_mean))
    return GridFit(cost, asymptote, amplitude)


def fit_amplitudes(basis: Floats, errors: Floats, weights: Floats) -> GridFit:
    """Return the weighted least-squares b of ``e = b phi``, for every curve and shape."""
    sxx = weights @ (basis**2).T
    sxy = (weights * errors) @ basis.T
    b = sxy / np.where(sxx > 0, sxx, 1.0)
    syy = (weights * errors**2).sum(axis=1, keepdims=True)
    return GridFit(np.maximum(syy - b * sxy, 0.0), np.zeros_like(b), b)


def blocks(curves: int, shapes: int) -> Iterator[slice]:
    """Return the curves a block at a time, so that memory does not grow with them."""
    step = max(1, _CELLS // max(shapes, 1))
    for first in range(0, curves, step):
        yield slice(first, min(first + step, curves))


def _standard(basis: Floats) -> tuple[Floats, NDArray[np.float64], NDArray[np.float64]]:
    """Return shapes with mean 0 and length 1, and what was taken from them."""
    middle = basis.mean(axis=1)
    x = basis - middle[:, None]
    length = np.sqrt((x**2).sum(axis=1))
    scale = np.where(length > 0, length, 1.0)
    return x / scale[:, None], middle, scale


def _bound(
    basis: Floats,
    errors: Floats,
    weights: Floats,
    cost: Floats,
    asymptote: Floats,
    amplitude: Floats,
    flat: tuple[Floats, Floats],
) -> None:
    """Put what left the quadrant c, b >= 0 on its nearer edge, in place."""
    syy, y_mean = flat
    falls_below = asymptote < 0
    if falls_below.any():
        edge = fit_amplitudes(basis, errors, weights)
        cost[falls_below] = edge.cost[falls_below]
        amplitude[falls_below] = edge.amplitude[falls_below]
        asymptote[falls_below] = 0.0
    rises = amplitude < 0
    if rises.any():
        shape = cost.shape
        cost[rises] = np.broadcast_to(syy, shape)[rises]
        asymptote[rises] = np.broadcast_to(y_mean, shape)[rises]
        amplitude[rises] = 0.0
