"""Errors of runs at training-set sizes: where every fit starts, and how it is checked."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise._text import count
from curvewise.errors import CurvewiseError, CurvewiseWarning, Message
from curvewise.stats._sample import Floats, checked_scores, one_of

Unit: TypeAlias = Literal["fraction", "percent", "loss"]
UNITS = ("fraction", "percent", "loss")
# What squares, and ratios to the power of 2, stay finite for.
LEAST_SIZE, LARGEST_SIZE, LARGEST_LOSS = 1e-15, 1e15, 1e100
_APART = 1e-6  # sizes nearer than this share of themselves are one


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The errors of one learner at increasing training-set sizes.

    Parameters
    ----------
    sizes : ndarray, shape (size,)
        Increasing.
    errors : tuple of ndarray
        For each size, one error per run: fractions, whatever unit they came in.
    table : ndarray of shape (run, size), optional
        The same errors where a row is one run (one seed, one split) at all sizes, NaN
        where it has none; None where nobody knows which run is which.
    """

    sizes: Floats
    errors: tuple[Floats, ...]
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


def checked_runs(
    sizes: ArrayLike,
    errors: Any,
    *,
    unit: Unit = "fraction",
    runs: Any = None,
    fewest: int = 3,
) -> Runs:
    """Return errors at sizes in increasing order, as fractions; refuse what is no curve.

    Parameters
    ----------
    sizes : array_like, shape (size,)
    errors : sequence of array_like
        One error, or one array of runs, for each size.
    unit : {"fraction", "percent", "loss"}
        ``"loss"`` is any number from 0 up, left as it is.
    runs : sequence of array_like, optional
        Which run (seed, split) each error is of. If left out and every size has as many
        errors, the j-th ones are taken for one run.
    fewest : int
        Sizes that are needed.
    """
    one_of("unit", unit, UNITS)
    n = checked_sizes(sizes)
    by_size = _by_size(errors, n)
    if len(n) < fewest:
        raise CurvewiseError(
            f"There {'is' if len(n) == 1 else 'are'} {count(len(n), 'size')}, and this "
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


def checked_sizes(sizes: Any, name: str = "sizes") -> Floats:
    """Return sizes as they come, as an array; refuse what is no size."""
    if isinstance(sizes, np.ma.MaskedArray):
        raise CurvewiseError(f"{name} are masked. Pass those that count, unmasked.")
    try:
        n = np.asarray(sizes)
        if n.dtype.kind not in "iuf":
            raise TypeError
        n = np.atleast_1d(n.astype(np.float64))
    except (TypeError, ValueError):
        n = np.array([[np.nan]])
    if n.ndim != 1 or len(n) == 0:
        raise CurvewiseError(
            f"{name} is {sizes!r}. Pass numbers of training examples.",
            argument=name,
            value=sizes,
        )
    if not (np.isfinite(n) & (n > 0)).all():
        bad = n[~(np.isfinite(n) & (n > 0))][0]
        raise CurvewiseError(
            f"{name} holds {bad:g}. Pass numbers of training examples, above 0."
        )
    if n.max() > LARGEST_SIZE or n.min() < LEAST_SIZE:
        outside = n.max() if n.max() > LARGEST_SIZE else n.min()
        raise CurvewiseError(
            f"{name} holds {outside:g}. Pass sizes from {LEAST_SIZE:g} to "
            f"{LARGEST_SIZE:g}."
        )
    return n


def checked_one_size(size: Any, name: str) -> float:
    """Return one size; refuse several."""
    n = checked_sizes(size, name)
    if len(n) > 1:
        raise CurvewiseError(
            f"{name} is {size!r}. Pass one number of examples.",
            argument=name,
            value=size,
        )
    return float(n[0])


def refuse_twice(n: Floats) -> None:
    """Refuse increasing sizes of which two are the same, or nearly so."""
    is_same = np.diff(n) <= _APART * n[1:]
    if is_same.any():
        raise CurvewiseError(
            f"Size {n[1:][is_same][0]:g} is there twice. Pass its runs together, in one "
            f"array."
        )


def checked_table(values: Any, name: str, sizes: int) -> Floats:
    """Return one row of numbers for each curve; refuse another shape, not what is NaN."""
    if isinstance(values, np.ma.MaskedArray):
        raise CurvewiseError(f"{name} are masked. Pass NaN where there is no number.")
    try:
        raw = np.asarray(values)
        if raw.dtype.kind not in "biufO":
            raise TypeError
        table = raw.astype(np.float64)
    except (TypeError, ValueError):
        raise CurvewiseError(
            f"{name} are no table of numbers. Pass one row for each curve, one number for "
            f"each size."
        ) from None
    if table.ndim != 2 or table.shape[1] != sizes:
        raise CurvewiseError(
            f"{name} have shape {table.shape} and there are {sizes} sizes. Pass one row "
            f"for each curve, one number for each size."
        )
    return table


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
