"""Confusion counts along growing training sets: what every fit starts from."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats.validation import (
    NUMBERS,
    Floats,
    as_floats,
    bad_value,
    checked_sizes,
    is_number,
    refuse_twice,
)

Of = TypeVar("Of")
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Which test examples were answered rightly, size by size.

    What is known of one example at several sizes is correlated: hard examples stay hard.
    With this, bands know how much; without, they assume it.

    Parameters
    ----------
    truth : ndarray of int, shape (example,), or None
        The class of each example; None where nobody kept it, and classes are taken to be
        alike in how their examples are correlated.
    right, asked : ndarray, shape (size, example)
        By how many of the models of each size it was answered rightly, and by how many it
        was answered at all.
    """

    truth: Ints | None
    right: Floats
    asked: Floats

    def membership(self, shares: Floats) -> Floats:
        """Return how much of each example is of each class, shape (example, class)."""
        if self.truth is None:
            return np.broadcast_to(shares, (self.asked.shape[1], len(shares)))
        return np.asarray(self.truth[:, None] == np.arange(len(shares)), np.float64)


def _checked_examples(
    examples: Examples, order: Ints, matrices: Sequence[Floats]
) -> Examples:
    """Return examples in the order of sizes; refuse those of other counts."""
    if not isinstance(examples, Examples):
        raise bad_value("examples", examples, "Pass Examples of the curve.")
    truth, right, tries = _arrays(examples)
    shape = (len(order), right.shape[-1] if truth is None else len(truth))
    if right.shape != shape or tries.shape != shape:
        raise CurvewiseError(
            f"examples has right of shape {right.shape} and asked of {tries.shape}. Pass "
            f"(size, example) = {shape} for both.",
            argument="examples",
        )
    right, tries = right[order], tries[order]
    if not ((right >= 0) & (right <= tries)).all():
        raise CurvewiseError(
            "An example was answered rightly more often than it was asked. Check right "
            "and asked of examples.",
            argument="examples",
        )
    sorted_examples = Examples(truth, right, tries)
    summed = np.array([runs.sum(0) for runs in matrices])
    counted = np.diagonal(summed, axis1=-2, axis2=-1), summed.sum(-1)
    answered = right, tries
    if truth is None:
        counted = counted[0].sum(-1), counted[1].sum(-1)
        answered = right.sum(-1), tries.sum(-1)
    else:
        membership = sorted_examples.membership(np.ones(summed.shape[-1]))
        answered = right @ membership, tries @ membership
    if not np.array_equal(answered[0], counted[0]):
        raise CurvewiseError(
            "What examples says was right is not what the counts have on the diagonal. "
            "Pass both of the same models and test sets.",
            argument="examples",
        )
    if not np.array_equal(answered[1], counted[1]):
        raise CurvewiseError(
            "What examples says was asked is not what the rows of the counts sum to. Pass "
            "both of the same models and test sets.",
            argument="examples",
        )
    return sorted_examples


def _arrays(examples: Examples) -> tuple[Ints | None, Floats, Floats]:
    truth: NDArray[Any]
    try:
        right = np.asarray(examples.right, dtype=np.float64)
        tries = np.asarray(examples.asked, dtype=np.float64)
        if examples.truth is None and right.ndim == 2:
            return None, right, tries
        truth = np.asarray(examples.truth)
    except (TypeError, ValueError):
        truth = right = tries = np.empty((0, 0))
    if truth.ndim != 1 or truth.dtype.kind not in "iu":
        raise CurvewiseError(
            f"The truth of examples has shape {truth.shape} and type {truth.dtype}. Pass "
            f"the number of each example's class, and right and asked as numbers.",
            argument="examples",
        )
    return truth.astype(np.int64), right, tries


# --- Confusion counts along growing training sets: what every fit starts from ----------


_FEWEST_SIZES = 2  # a curve needs two; with one there is a level and nothing else


@dataclass(frozen=True, slots=True, eq=False)
class CountTable:
    """Confusion counts of several curves, each summed over its runs.

    Curves with fewer sizes than others are padded: `runs` is 0 there, and so are counts.
    """

    # Training examples that the models actually saw, increasing; 1 where padded.
    sizes: Floats  # (curve, size)
    counts: Floats  # (curve, size, true class, called class)
    runs: Floats  # (curve, size): how many were summed
    # Covariance between runs of the recalls of the classes, NaN with fewer than two; and
    # the part of its diagonal that comes from finite test sets.
    spread: Floats  # (curve, size, class, class)
    sampling: Floats  # (curve, size, class)
    # Whether all test sets of a curve hold the classes in the same shares.
    is_fixed: NDArray[np.bool_]
    examples: tuple[Examples | None, ...]  # one for each curve

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


def subset(whole: Of, curves: slice | Ints) -> Of:
    """Return some curves of a table or fit: what begins with an axis of curves, cut."""

    def cut(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value[curves]
        if isinstance(value, tuple):
            return tuple(value[i] for i in np.arange(len(value))[curves])
        if not is_dataclass(value) or isinstance(value, type):
            return value
        return replace(
            value, **{f.name: cut(getattr(value, f.name)) for f in fields(value)}
        )

    result: Of = cut(whole)
    return result


def count_table(
    sizes: ArrayLike,
    counts: ArrayLike | Sequence[ArrayLike],
    *,
    trained_on: ArrayLike | None = None,
    examples: Examples | None = None,
    test_size: float | None = None,
) -> CountTable:
    """Return the table of one curve; refuse what cannot be one, and say why."""
    n = checked_sizes(sizes, "sizes")
    amounts = n if trained_on is None else checked_sizes(trained_on, "trained_on")
    matrices = [_matrices(runs, k) for k, runs in enumerate(_listed_counts(counts))]
    if len(matrices) != len(n):
        raise CurvewiseError(
            f"There are {len(n)} sizes and counts of {len(matrices)}. Pass one confusion "
            f"matrix, or one array of them, for each size.",
            argument="counts",
        )
    if len(amounts) != len(n):
        raise CurvewiseError(
            f"There are {len(n)} sizes and {len(amounts)} in trained_on. Pass one for "
            f"each.",
            argument="trained_on",
            value=trained_on,
        )
    if len({runs.shape[-1] for runs in matrices}) > 1:
        raise CurvewiseError(
            "Confusion matrices have different numbers of classes. Pass all over the same "
            "classes, with rows of zeros for those that a test set lacks.",
            argument="counts",
        )
    order = np.argsort(amounts, kind="stable")
    amounts, matrices = amounts[order], [matrices[i] for i in order]
    refuse_twice(amounts)
    if len(amounts) < _FEWEST_SIZES:
        raise CurvewiseError(
            f"There is 1 size of {_FEWEST_SIZES} that a curve takes. Train on more sizes; "
            f"stats.counts has intervals for one.",
            argument="sizes",
            value=sizes,
        )
    _refuse_swapped(matrices)
    _refuse_totals(matrices, test_size)
    _refuse_absent(matrices)
    if examples is not None:
        examples = _checked_examples(examples, order, matrices)
    spreads, samplings = zip(*(_between(runs) for runs in matrices), strict=True)
    return CountTable(
        sizes=amounts[None],
        counts=np.array([runs.sum(0) for runs in matrices])[None],
        runs=np.array([float(len(runs)) for runs in matrices])[None],
        spread=np.array(spreads)[None],
        sampling=np.array(samplings)[None],
        is_fixed=np.array([_has_fixed_shares(matrices)]),
        examples=(examples,),
    )


def stacked(tables: Sequence[CountTable]) -> CountTable:
    """Return the curves of several tables in one, padded to the longest."""
    if len({one.classes for one in tables}) > 1:
        raise CurvewiseError(
            "Curves have different numbers of classes. Fit those of one number at a time.",
            argument="counts",
        )
    longest = max(one.sizes.shape[1] for one in tables)

    def padded(array: Floats, value: float) -> Floats:
        fill = [(0, 0)] * array.ndim
        fill[1] = (0, longest - array.shape[1])
        return np.pad(array, fill, constant_values=value)

    return CountTable(
        sizes=np.concatenate([padded(one.sizes, 1.0) for one in tables]),
        counts=np.concatenate([padded(one.counts, 0.0) for one in tables]),
        runs=np.concatenate([padded(one.runs, 0.0) for one in tables]),
        spread=np.concatenate([padded(one.spread, np.nan) for one in tables]),
        sampling=np.concatenate([padded(one.sampling, np.nan) for one in tables]),
        is_fixed=np.concatenate([one.is_fixed for one in tables]),
        examples=tuple(examples for one in tables for examples in one.examples),
    )


def _listed_counts(counts: Any) -> list[Any]:
    try:
        return list(counts)
    except TypeError:
        raise bad_value(
            "counts",
            counts,
            "Pass one confusion matrix, or one array of them, for each size.",
        ) from None


def _matrices(counts: ArrayLike, place: int) -> Floats:
    """Return the matrices of one size, shape (run, class, class)."""
    if isinstance(counts, np.ma.MaskedArray):
        raise CurvewiseError(
            f"Counts of size number {place + 1} are masked. Pass the runs that count, "
            f"unmasked.",
            argument="counts",
        )
    c = as_floats(counts, NUMBERS)
    if c is None:
        raise CurvewiseError(
            f"Counts of size number {place + 1} are no numbers, or runs of different "
            f"shapes. Pass a matrix of K x K counts, or an array of them (run, K, K).",
            argument="counts",
        )
    if c.ndim == 2:
        c = c[None]
    if c.ndim != 3 or c.shape[1] != c.shape[2] or c.shape[1] < 2 or len(c) == 0:
        raise CurvewiseError(
            f"The counts of size number {place + 1} have shape {np.shape(counts)}. Pass a "
            f"matrix of K x K counts, or an array of them (run, K, K): rows are true "
            f"classes, columns what they were called.",
            argument="counts",
        )
    if not np.isfinite(c).all():
        raise CurvewiseError(
            f"Counts of size number {place + 1} are missing or not finite. Leave failed "
            f"runs out, and say how many there were.",
            argument="counts",
        )
    if (c < 0).any() or (c != np.round(c)).any():
        wrong = c[(c < 0) | (c != np.round(c))][0]
        raise CurvewiseError(
            f"A count of size number {place + 1} is {wrong:g}. Pass whole numbers >= 0: "
            f"counts, not rates, and those of single runs, not their means.",
            argument="counts",
            value=wrong,
        )
    if not c.any((-2, -1)).all():
        raise CurvewiseError(
            f"A run of size number {place + 1} was tested on nothing: all its counts are "
            f"0. Leave it out.",
            argument="counts",
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
            f"swapped). Pass them as rows: np.swapaxes(counts, -1, -2).",
            argument="counts",
        )


def _refuse_totals(matrices: Sequence[Floats], test_size: float | None) -> None:
    if test_size is None:
        return
    if not is_number(test_size) or test_size <= 0:
        raise bad_value(
            "test_size", test_size, "Pass how many examples each run was tested on."
        )
    for k, runs in enumerate(matrices):
        totals = runs.sum((-2, -1))
        if (totals != test_size).any():
            wrong = totals[totals != test_size][0]
            raise CurvewiseError(
                f"Counts of size number {k + 1} sum to {wrong:g}, not to the test size "
                f"{test_size:g}. Check what was counted, or leave test_size out.",
                argument="test_size",
                value=test_size,
            )


def _refuse_absent(matrices: Sequence[Floats]) -> None:
    by_class = sum(runs.sum((0, 2)) for runs in matrices)
    absent = np.flatnonzero(by_class == 0)
    if len(absent):
        raise CurvewiseError(
            f"Class {absent[0]} never occurs in the test sets, so nobody knows its recall. "
            f"Leave it out, or test on examples of it.",
            argument="counts",
        )


def _between(runs: Floats) -> tuple[Floats, Floats]:
    """Return the covariance of recalls between runs, and its part from finite tests."""
    total = runs.sum(-1)
    classes = total.shape[1]
    is_there = total > 0
    if len(runs) < 2 or not is_there.all():
        return np.full((classes, classes), np.nan), np.full(classes, np.nan)
    recall = np.diagonal(runs, axis1=-2, axis2=-1) / total
    pooled = np.diagonal(runs.sum(0)) / total.sum(0)
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


# --------------------------------------------------------------------------------------
# Tables of many curves at once: without a loop where all have the same sizes and runs.


def count_tables(
    sizes: ArrayLike | Sequence[ArrayLike],
    counts: ArrayLike | Sequence[Any],
    *,
    trained_on: ArrayLike | Sequence[ArrayLike] | None = None,
    examples: Sequence[Examples | None] | None = None,
) -> CountTable:
    """Return one table of many curves."""
    table = _at_once(sizes, counts, trained_on, examples)
    if table is not None:
        return table
    every: list[Any] = list(counts)  # type: ignore[arg-type]
    if not every:
        raise CurvewiseError(
            "There are no curves. Pass the counts of at least one.", argument="counts"
        )
    own_sizes = _each(sizes, len(every), "sizes")
    own_trained = _each(trained_on, len(every), "trained_on")
    own_examples = [None] * len(every) if examples is None else list(examples)
    if len(own_examples) != len(every):
        raise CurvewiseError(
            f"There are {len(every)} curves and examples of {len(own_examples)}. Pass one "
            f"for each, None where nobody kept them.",
            argument="examples",
        )
    return stacked(
        [
            _named(i, *curve)
            for i, curve in enumerate(
                zip(own_sizes, every, own_trained, own_examples, strict=True)
            )
        ]
    )


def _named(
    i: int, n: Any, counts: Any, amounts: Any, examples: Examples | None
) -> CountTable:
    try:
        return count_table(n, counts, trained_on=amounts, examples=examples)
    except CurvewiseError as problem:
        raise CurvewiseError(
            f"Curve number {i + 1}: ",
            problem.message,
            argument=problem.argument,
            value=problem.value,
        ) from None


def _each(values: Any, count: int, name: str) -> list[Any]:
    """Return one for each curve, of what is the same for all or differs."""
    if values is None or np.ndim(values[0]) == 0:
        return [values] * count
    if len(values) != count:
        raise CurvewiseError(
            f"There are {count} curves and {name} of {len(values)}. Pass one array of them "
            f"for all, or one for each.",
            argument=name,
        )
    return list(values)


def _at_once(
    sizes: Any, counts: Any, trained_on: Any, examples: Any
) -> CountTable | None:
    """Return the table of curves that are alike and good; None where a look is needed."""
    if not isinstance(counts, np.ndarray) or counts.dtype.kind not in "iuf":
        return None
    if examples is not None:
        return None  # they are checked one by one
    c = counts.astype(np.float64)
    c = c[:, :, None] if c.ndim == 4 else c
    amounts = sizes if trained_on is None else trained_on
    if c.ndim != 5 or c.size == 0 or np.ndim(amounts) != 1 or c.shape[-1] < 2:
        return None
    n = checked_sizes(amounts, "sizes" if trained_on is None else "trained_on")
    order = np.argsort(n)
    is_alike = len(n) == c.shape[1] > 1 and c.shape[-1] == c.shape[-2]
    if not is_alike or (np.diff(n[order]) <= 0).any() or not _are_good(c):
        return None
    c = c[:, order]
    spread, sampling = _between_of_many(c)
    curves, _, runs = c.shape[:3]
    return CountTable(
        sizes=np.broadcast_to(n[order], (curves, len(n))).copy(),
        counts=c.sum(2),
        runs=np.full((curves, len(n)), float(runs)),
        spread=spread,
        sampling=sampling,
        is_fixed=_are_fixed(c),
        examples=(None,) * curves,
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


def _between_of_many(c: Floats) -> tuple[Floats, Floats]:
    """Return the covariance of recalls between runs, and its part from finite tests."""
    curves, sizes, runs, classes, _ = c.shape
    total = c.sum(-1)
    if runs < 2:
        nothing = np.full((curves, sizes, classes, classes), np.nan)
        return nothing, nothing[..., 0].copy()
    divisor = np.maximum(total, 1.0)
    right = np.diagonal(c, axis1=-2, axis2=-1)
    recall = right / divisor
    away = recall - recall.mean(2, keepdims=True)
    spread = np.einsum("bkrc,bkrd->bkcd", away, away) / (runs - 1)
    pooled = right.sum(2) / np.maximum(total.sum(2), 1.0)
    sampling = pooled * (1 - pooled) * (1 / divisor).mean(2)
    lacks = (total == 0).any((2, 3))
    spread[lacks], sampling[lacks] = np.nan, np.nan
    return spread, sampling


def _are_fixed(c: Floats) -> "np.typing.NDArray[np.bool_]":
    total = c.sum(-1)  # (curve, size, run, class)
    share = total.sum((1, 2)) / total.sum((1, 2, 3))[:, None]
    expected = share[:, None, None] * total.sum(-1, keepdims=True)
    return np.asarray((np.abs(total - expected) <= 1.0).all((1, 2, 3)))


# --- What may be wrong with a curve ----------------------------------------------------


# Answers of the rarer kind, right or wrong, at a middle size. With 12 to 22 of them bands
# of 95 % held less often than 92 % in simulations; with 28 and more, as often or more.
_FEW_ANSWERS = 25.0

ConcernKind: TypeAlias = Literal[
    "lack_of_fit",
    "rising_exponent",
    "never_called",
    "few_sizes",
    "far",
    "one_run",
    "few_runs",
    "few_answers",
    "assumed_test_set",
    "assumed_test_sets",
    "assumed_training",
    "many_classes",
    "published_bands",
]


@dataclass(frozen=True, slots=True)
class Concern:
    """What may be wrong with a count curve.

    Parameters
    ----------
    kind : str
        ``lack_of_fit``: power laws on logits do not fit, with this p value.
        ``rising_exponent``: logits may grow without end, with this probability.
        ``never_called``: no example is called this class at the largest size.
        ``few_sizes``: so many. ``far``: so many times beyond the largest size.
        ``one_run``, ``few_runs``: so many at a size. ``few_answers``: of this class, so
        many of the rarer kind, right or wrong, at a middle size. ``assumed_test_set``,
        ``assumed_test_sets``: nobody kept which examples were answered rightly, and tests
        are taken to be of one set, or the worse of one and of several.
        ``assumed_training``: so few runs beyond the first of each size say how much models
        differ. ``many_classes``: so many, and coverage was measured with two.
        ``published_bands``: they do not hold.
    value : float
        The number that says so; 1 where there is none.
    label : int, optional
        The class that it is about.
    curve : int
        Which of many curves.
    """

    kind: ConcernKind
    value: float = 1.0
    label: int | None = None
    curve: int = 0


def few_answers(table: CountTable, curve: int) -> list[Concern]:
    """Return a concern for each class of which so few answers are of the rarer kind."""
    right = np.where((table.runs[curve] > 0)[:, None], table.right[curve], np.nan)
    rarer = np.nanmedian(np.minimum(right, table.total[curve] - right), axis=0)
    return [
        Concern("few_answers", float(rarer[k]), k, curve)
        for k in np.flatnonzero(rarer < _FEW_ANSWERS).tolist()
    ]
