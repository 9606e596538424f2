"""Confusion matrices from what a publication prints of them."""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, Message, whole
from curvewise.stats.counts.posterior import checked_counts
from curvewise.stats.validation import Floats, bad_value

__all__ = [
    "RecoveredCounts",
    "counts_matrix",
    "recover_counts",
]


Ints: TypeAlias = NDArray[np.int64]
Number: TypeAlias = float | str

_MOST = 1_000_000  # matrices in an answer
_FINEST = 1e-9  # what shows all its digits is still a rounded number
_FUZZ = 1e-12  # what lies half-way may have been rounded up or down


def counts_matrix(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> Floats:
    """Return the four counts as matrices, shape (..., 2, 2): [[tn, fp], [fn, tp]].

    Rows are true classes, columns what they were called; class 1 is the positive one.

    >>> counts_matrix(tp=40, fp=12, fn=9, tn=60).tolist()
    [[60.0, 12.0], [9.0, 40.0]]
    """
    true, false_p, false_n, negative = checked_counts(tp=tp, fp=fp, fn=fn, tn=tn)
    rows = np.stack([negative, false_p], -1), np.stack([false_n, true], -1)
    return np.stack(rows, -2)


@dataclass(frozen=True, slots=True, eq=False)
class RecoveredCounts:
    """Every confusion matrix that agrees with what was printed.

    Parameters
    ----------
    tp, fp, fn, tn : ndarray of int, shape (matrix,)
    """

    tp: Ints
    fp: Ints
    fn: Ints
    tn: Ints

    def __len__(self) -> int:
        return len(self.tp)

    @property
    def is_unique(self) -> bool:
        """Whether there is only one."""
        return len(self) == 1

    @property
    def matrices(self) -> Ints:
        """All of them, shape (matrix, 2, 2): [[tn, fp], [fn, tp]]."""
        rows = np.stack([self.tn, self.fp], -1), np.stack([self.fn, self.tp], -1)
        return np.stack(rows, -2)

    def __str__(self) -> str:
        names = ("tp", "fp", "fn", "tn")
        values = [getattr(self, name) for name in names]
        if self.is_unique:
            return ", ".join(f"{n} {v[0]}" for n, v in zip(names, values, strict=True))
        ranges = (
            f"{n} {v.min()} to {v.max()}" for n, v in zip(names, values, strict=True)
        )
        return f"{len(self):,} matrices: {', '.join(ranges)}"


def recover_counts(
    accuracy: Number,
    f1: Number,
    test_size: int,
    *,
    positives: int | None = None,
    precision: Number | None = None,
    recall: Number | None = None,
    digits: int | None = None,
) -> RecoveredCounts:
    r"""Return all confusion matrices of two classes that agree with published numbers.

    .. math:: FP + FN = n' (1 - accuracy), \qquad
       TP = \frac{F_1 (FP + FN)}{2 (1 - F_1)}

    give TP, TN and FP + FN; how many of the wrong answers are missed positives takes one
    more number: how many positive examples there are, or precision, or recall. All whole
    numbers that round to what was printed are found, 0/0 counting as 0.

    Parameters
    ----------
    accuracy, f1, precision, recall : float or str
        As printed, from 0 to 1. A text keeps its last zeros: "0.850" has three digits.
    test_size : int
        How many test examples there are.
    positives : int, optional
        How many of them are positive.
    digits : int, optional
        How many digits were printed after the point. Unless told, as many as a text shows,
        and for numbers, which keep no last zeros, as many as the longest of all shows; 0
        and 1 alone are exact.

    Raises
    ------
    CurvewiseError
        Where no matrix agrees, or more than a million do.

    Examples
    --------
    >>> found = recover_counts("0.826", "0.792", 121, positives=49)
    >>> print(found)
    tp 40, fp 12, fn 9, tn 60
    >>> print(recover_counts("0.826", "0.792", 121))
    22 matrices: tp 40 to 40, fp 0 to 21, fn 0 to 21, tn 60 to 60
    """
    n = whole(test_size, "test_size")
    if positives is not None and whole(positives, "positives", 0) > n:
        raise bad_value(
            "positives", positives, f"Pass how many of the {n} test examples are."
        )
    if digits is not None:
        whole(digits, "digits", 0)
    printed = _ranges_printed(
        {"accuracy": accuracy, "f1": f1, "precision": precision, "recall": recall},
        digits,
    )
    wrong, tp = _right_and_wrong(n, printed)
    index, fp = _false_positives(wrong, tp, positives, printed)
    wrong, tp = wrong[index], tp[index]
    fn, tn = wrong - fp, n - wrong - tp
    parts = {
        "accuracy": (tp + tn, np.full_like(tp, n)),
        "f1": (2 * tp, 2 * tp + wrong),
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
    }
    fits = np.ones(len(tp), dtype=bool)
    for name, (low, high) in printed.items():
        rate = _share(*parts[name])
        fits &= (low <= rate) & (rate <= high)
    if not fits.any():
        raise _nothing(n, positives, printed)
    if fits.sum() > _MOST:
        raise _too_many(_MORE)
    return RecoveredCounts(tp[fits], fp[fits], fn[fits], tn[fits])


def _right_and_wrong(
    n: int, printed: dict[str, tuple[float, float]]
) -> tuple[Ints, Ints]:
    """Return wrong answers and true positives that accuracy and F1 leave, with slack."""
    low, high = printed["accuracy"]
    least = max(math.floor(n * (1 - high)) - 1, 0)
    most = min(math.ceil(n * (1 - low)) + 1, n)
    if most - least > 4 * _MOST:
        raise _too_many("a smaller test_size")
    wrong = np.arange(least, most + 1)
    low, high = printed["f1"]
    room = n - wrong
    first = np.zeros_like(wrong)
    if 0 < low < 1:
        first = np.maximum(np.floor(low * wrong / (2 * (1 - low))).astype(int) - 1, 0)
    last = room
    if high < 1:
        last = np.ceil(np.maximum(high, 0) * wrong / (2 * (1 - high))) + 1
        last = np.minimum(last, room).astype(int)
    index, tp = _ranges(first, last, "a smaller test_size")
    return wrong[index], tp


def _false_positives(
    wrong: Ints,
    tp: Ints,
    positives: int | None,
    printed: dict[str, tuple[float, float]],
) -> tuple[Ints, Ints]:
    """Return which pairs have which false positives, with slack."""
    first, last = np.zeros_like(wrong), wrong.copy()
    if positives is not None:
        exact = wrong - (positives - tp)  # FP = wrong - FN
        first, last = np.maximum(first, exact), np.minimum(last, exact)
    if "precision" in printed:
        least, most = _others(tp, *printed["precision"])
        first, last = np.maximum(first, least), np.minimum(last, most)
    if "recall" in printed:
        least, most = _others(tp, *printed["recall"])
        first, last = np.maximum(first, wrong - most), np.minimum(last, wrong - least)
    return _ranges(first, last, _MORE)


def _others(tp: Ints, low: float, high: float) -> tuple[Ints, Ints]:
    """Return least and most of the others for tp / (tp + others) in a range, with slack."""
    huge = np.iinfo(np.int64).max // 4
    least = np.zeros_like(tp)
    if 0 < high < 1:
        least = np.maximum(np.floor(tp * (1 / high - 1)).astype(int) - 1, 0)
    most = np.full_like(tp, huge)
    if low > 0:
        most = np.minimum(np.ceil(tp * (1 / low - 1)) + 1, float(huge)).astype(int)
    return least, most


def _ranges(first: Ints, last: Ints, remedy: str) -> tuple[Ints, Ints]:
    """Return all whole numbers of several ranges, and which range each is of."""
    sizes = np.maximum(last - first + 1, 0)
    if sizes.sum() > 4 * _MOST:
        raise _too_many(remedy)
    index = np.repeat(np.arange(len(first)), sizes)
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return index, first[index] + within


def _share(up: Ints, down: Ints) -> Floats:
    return np.divide(up, down, out=np.zeros(len(up)), where=down > 0)


_MORE = Message({"positives": ...}, ", ", {"precision": ...}, " or ", {"recall": ...})


def _nothing(
    n: int, positives: int | None, printed: dict[str, tuple[float, float]]
) -> CurvewiseError:
    ranges = ", ".join(
        f"{name} from {max(low, 0):g} to {min(high, 1):g}"
        for name, (low, high) in printed.items()
    )
    more = "" if positives is None else f", {positives} of them positive,"
    return CurvewiseError(
        f"No confusion matrix of {n} examples{more} has {ranges}. Check the numbers, which "
        f"class is the positive one, and that F1 is not an average over classes."
    )


def _too_many(remedy: str) -> CurvewiseError:
    return CurvewiseError(
        f"More than {_MOST:,} confusion matrices may agree with these numbers. Pass ",
        remedy,
        ", or more digits.",
    )


def _ranges_printed(
    values: dict[str, Number | None], digits: int | None
) -> dict[str, tuple[float, float]]:
    """Return between which rates the printed ones were rounded."""
    # A short float of numpy shows what it was made of; as a long one, digits of noise.
    values = {
        name: float(str(v)) if isinstance(v, np.floating) else v
        for name, v in values.items()
    }
    rates = {name: _rate(name, v) for name, v in values.items() if v is not None}
    places = {name: _digits(values[name]) for name in rates}
    most = max(places.values())
    ranges = {}
    for name, rate in rates.items():
        decimals = digits
        if decimals is None:
            decimals = places[name] if isinstance(values[name], str) else most
        exact = digits is None and decimals == 0 and not isinstance(values[name], str)
        half = _FINEST if exact else max(0.5 * 10.0**-decimals, _FINEST)
        ranges[name] = (rate - half - _FUZZ, rate + half + _FUZZ)
    return ranges


def _rate(name: str, value: Any) -> float:
    try:
        rate = float(value)
    except (TypeError, ValueError):
        rate = math.nan
    if isinstance(value, bool) or not 0 <= rate <= 1:
        raise bad_value(
            name, value, "Pass it as printed, from 0 to 1; 82.6 % is '0.826'."
        )
    return rate


def _digits(value: Any) -> int:
    """Return how many digits a number shows after its point."""
    text = value if isinstance(value, str) else repr(float(value)).removesuffix(".0")
    mantissa, _, exponent = text.strip().lower().partition("e")
    return max(len(mantissa.partition(".")[2]) - int(exponent or 0), 0)
