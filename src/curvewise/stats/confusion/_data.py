"""Confusion counts along growing training sets: what every fit starts from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise._text import count
from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import checked_sizes, refuse_twice
from curvewise.stats._sample import Floats, is_number
from curvewise.stats.confusion._examples import Examples, checked_examples

FEWEST_SIZES = 2  # a curve needs two; with one there is a level and nothing else


@dataclass(frozen=True, slots=True, eq=False)
class CountTable:
    """Confusion counts of several curves, each summed over its runs.

    Curves with fewer sizes than others are padded: `runs` is 0 there, and so are counts.

    Parameters
    ----------
    sizes : ndarray, shape (curve, size)
        Training examples that the models actually saw, increasing; 1 where padded.
    counts : ndarray, shape (curve, size, class, class)
        Summed over runs; rows are true classes, columns what they were called.
    runs : ndarray, shape (curve, size)
        How many runs were summed.
    spread : ndarray, shape (curve, size, class, class)
        Covariance between runs of the recalls of the classes; NaN with fewer than two.
    sampling : ndarray, shape (curve, size, class)
        The part of the diagonal of `spread` that comes from finite test sets.
    is_fixed : ndarray of bool, shape (curve,)
        Whether all its test sets hold the classes in the same shares.
    examples : tuple of Examples or None
        One for each curve.
    """

    sizes: Floats
    counts: Floats
    runs: Floats
    spread: Floats
    sampling: Floats
    is_fixed: NDArray[np.bool_]
    examples: tuple[Examples | None, ...]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.counts.shape[-1])

    @property
    def right(self) -> Floats:
        """Right answers by true class, shape (curve, size, class)."""
        return np.diagonal(self.counts, axis1=-2, axis2=-1)

    @property
    def total(self) -> Floats:
        """Answers by true class, shape (curve, size, class)."""
        return np.asarray(self.counts.sum(-1))

    @property
    def shares(self) -> Floats:
        """How often each class occurs, shape (curve, class)."""
        by_class = self.counts.sum((1, 3))
        return np.asarray(by_class / by_class.sum(-1, keepdims=True))

    @property
    def test_size(self) -> Floats:
        """Test examples per run, shape (curve, size); 0 where padded."""
        return np.asarray(self.counts.sum((-2, -1)) / np.maximum(self.runs, 1))

    @property
    def largest(self) -> Floats:
        """The largest size of each curve."""
        return np.asarray(np.where(self.runs > 0, self.sizes, -np.inf).max(-1))

    def take(self, curves: slice | NDArray[np.int64]) -> "CountTable":
        """Return the chosen curves."""
        chosen = np.arange(len(self))[curves]
        return CountTable(
            self.sizes[chosen],
            self.counts[chosen],
            self.runs[chosen],
            self.spread[chosen],
            self.sampling[chosen],
            self.is_fixed[chosen],
            tuple(self.examples[i] for i in chosen),
        )


def count_table(
    sizes: ArrayLike,
    counts: ArrayLike | Sequence[ArrayLike],
    *,
    trained_on: ArrayLike | None = None,
    examples: Examples | None = None,
    test_size: float | None = None,
    fewest: int = FEWEST_SIZES,
) -> CountTable:
    """Return the table of one curve; refuse what cannot be one, and say why."""
    n = checked_sizes(sizes, "sizes")
    seen = n if trained_on is None else checked_sizes(trained_on, "trained_on")
    matrices = [_matrices(own, k) for k, own in enumerate(_listed_counts(counts))]
    if len(matrices) != len(n):
        raise CurvewiseError(
            f"There are {len(n)} sizes and counts of {len(matrices)}. Pass one confusion "
            f"matrix, or one array of them, for each size."
        )
    if len(seen) != len(n):
        raise CurvewiseError(
            f"There are {len(n)} sizes and {len(seen)} in trained_on. Pass one for each."
        )
    if len({own.shape[-1] for own in matrices}) > 1:
        raise CurvewiseError(
            "Confusion matrices have different numbers of classes. Pass all over the same "
            "classes, with rows of zeros for those that a test set lacks."
        )
    order = np.argsort(seen, kind="stable")
    seen, matrices = seen[order], [matrices[i] for i in order]
    refuse_twice(seen)
    if len(seen) < fewest:
        raise CurvewiseError(
            f"There {'is' if len(seen) == 1 else 'are'} {count(len(seen), 'size')} of "
            f"{fewest} that a curve takes. Train on more sizes; stats.counts has intervals "
            f"for one."
        )
    _refuse_swapped(matrices)
    _refuse_totals(matrices, test_size)
    _refuse_absent(matrices)
    if examples is not None:
        examples = checked_examples(examples, order, matrices)
    spreads, samplings = zip(*(_between(own) for own in matrices), strict=True)
    return CountTable(
        seen[None],
        np.array([own.sum(0) for own in matrices])[None],
        np.array([float(len(own)) for own in matrices])[None],
        np.array(spreads)[None],
        np.array(samplings)[None],
        np.array([_has_fixed_shares(matrices)]),
        (examples,),
    )


def stacked(tables: Sequence[CountTable]) -> CountTable:
    """Return the curves of several tables in one, padded to the longest."""
    if len({one.classes for one in tables}) > 1:
        raise CurvewiseError(
            "Curves have different numbers of classes. Fit those of one number at a time."
        )
    longest = max(one.sizes.shape[1] for one in tables)

    def padded(array: Floats, value: float) -> Floats:
        fill = [(0, 0)] * array.ndim
        fill[1] = (0, longest - array.shape[1])
        return np.pad(array, fill, constant_values=value)

    return CountTable(
        np.concatenate([padded(one.sizes, 1.0) for one in tables]),
        np.concatenate([padded(one.counts, 0.0) for one in tables]),
        np.concatenate([padded(one.runs, 0.0) for one in tables]),
        np.concatenate([padded(one.spread, np.nan) for one in tables]),
        np.concatenate([padded(one.sampling, np.nan) for one in tables]),
        np.concatenate([one.is_fixed for one in tables]),
        tuple(own for one in tables for own in one.examples),
    )


def _listed_counts(counts: Any) -> list[Any]:
    try:
        return list(counts)
    except TypeError:
        raise CurvewiseError(
            f"counts is {counts!r}. Pass one confusion matrix, or one array of them, for "
            f"each size.",
            argument="counts",
            value=counts,
        ) from None


def _matrices(counts: ArrayLike, place: int) -> Floats:
    """Return the matrices of one size, shape (run, class, class)."""
    if isinstance(counts, np.ma.MaskedArray):
        raise CurvewiseError(
            f"Counts of size number {place + 1} are masked. Pass the runs that count, "
            f"unmasked."
        )
    try:
        raw = np.asarray(counts)
        if raw.dtype.kind not in "biufO":  # texts, dates, complex numbers
            raise TypeError
        c = raw.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise CurvewiseError(
            f"Counts of size number {place + 1} are no numbers, or runs of different "
            f"shapes. Pass a matrix of K x K counts, or an array of them (run, K, K)."
        ) from None
    if c.ndim == 2:
        c = c[None]
    if c.ndim != 3 or c.shape[1] != c.shape[2] or c.shape[1] < 2 or len(c) == 0:
        raise CurvewiseError(
            f"The counts of size number {place + 1} have shape {np.shape(counts)}. Pass a "
            f"matrix of K x K counts, or an array of them (run, K, K): rows are true "
            f"classes, columns what they were called."
        )
    if not np.isfinite(c).all():
        raise CurvewiseError(
            f"Counts of size number {place + 1} are missing or not finite. Leave failed "
            f"runs out, and say how many there were."
        )
    if (c < 0).any() or (c != np.round(c)).any():
        wrong = c[(c < 0) | (c != np.round(c))][0]
        raise CurvewiseError(
            f"A count of size number {place + 1} is {wrong:g}. Pass whole numbers >= 0: "
            f"counts, not rates, and those of single runs, not their means."
        )
    if not c.any((-2, -1)).all():
        raise CurvewiseError(
            f"A run of size number {place + 1} was tested on nothing: all its counts are "
            f"0. Leave it out."
        )
    return c


def _refuse_swapped(matrices: Sequence[Floats]) -> None:
    """Refuse matrices whose columns are the true classes, where totals show it."""
    every = np.concatenate(matrices)
    rows, columns = every.sum(-1), every.sum(-2)
    rows_vary, columns_vary = np.ptp(rows, axis=0).any(), np.ptp(columns, axis=0).any()
    # One that calls everything the same has columns like that, too.
    are_called = (columns[0] > 0).sum() > 1
    if len(every) > 2 and rows_vary and not columns_vary and are_called:
        raise CurvewiseError(
            f"All matrices have columns that sum to {_listed(columns[0])}, and rows that "
            f"differ: true classes seem to be the columns (of two classes, fp and fn are "
            f"swapped). Pass them as rows: np.swapaxes(counts, -1, -2)."
        )


def _refuse_totals(matrices: Sequence[Floats], test_size: float | None) -> None:
    if test_size is None:
        return
    if not is_number(test_size) or test_size <= 0:
        raise CurvewiseError(
            f"test_size is {test_size!r}. Pass how many examples each run was tested on.",
            argument="test_size",
            value=test_size,
        )
    for k, own in enumerate(matrices):
        totals = own.sum((-2, -1))
        if (totals != test_size).any():
            wrong = totals[totals != test_size][0]
            raise CurvewiseError(
                f"Counts of size number {k + 1} sum to {wrong:g}, not to the test size "
                f"{test_size:g}. Check what was counted, or leave test_size out."
            )


def _refuse_absent(matrices: Sequence[Floats]) -> None:
    by_class = sum(own.sum((0, 2)) for own in matrices)
    absent = np.flatnonzero(by_class == 0)
    if len(absent):
        raise CurvewiseError(
            f"Class {absent[0]} never occurs in the test sets, so nobody knows its recall. "
            f"Leave it out, or test on examples of it."
        )


def _between(own: Floats) -> tuple[Floats, Floats]:
    """Return the covariance of recalls between runs, and its part from finite tests."""
    total = own.sum(-1)
    classes = total.shape[1]
    is_there = total > 0
    if len(own) < 2 or not is_there.all():
        return np.full((classes, classes), np.nan), np.full(classes, np.nan)
    recall = np.diagonal(own, axis1=-2, axis2=-1) / total
    pooled = np.diagonal(own.sum(0)) / total.sum(0)
    sampling = pooled * (1 - pooled) * (1 / total).mean(0)
    return np.atleast_2d(np.cov(recall, rowvar=False)), sampling


def _has_fixed_shares(matrices: Sequence[Floats]) -> bool:
    """Return whether every test set holds the classes in the same shares, but rounding."""
    every = np.concatenate(matrices).sum(-1)
    size = every.sum(-1, keepdims=True)
    share = every.sum(0) / every.sum()
    return bool((np.abs(every - share * size) <= 1.0).all())


def _listed(values: Floats) -> str:
    return ", ".join(f"{value:g}" for value in values)
