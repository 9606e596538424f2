"""What statistics are asked with, and how it is checked: scores, sizes, levels, chance."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, is_whole

Floats: TypeAlias = NDArray[np.float64]

LARGEST = 1e290  # a score, so that sums and tail means of millions are finite
NUMBERS = "biufO"  # kinds of arrays that may hold them; not texts, dates, complex ones


def bad_value(name: str, value: Any, advice: str) -> CurvewiseError:
    """Return the error that says what an argument is, and what to pass instead."""
    return CurvewiseError(f"{name} is {value!r}. {advice}", argument=name, value=value)


def as_floats(values: Any, kinds: str = "", *, copy: bool = False) -> Floats | None:
    """Return values as an array of floats, None where they are none (of these kinds)."""
    try:
        if not kinds:
            return np.asarray(values, dtype=np.float64)
        raw = np.asarray(values)
        return raw.astype(np.float64, copy=copy) if raw.dtype.kind in kinds else None
    except (TypeError, ValueError, OverflowError):
        return None


def checked_scores(scores: ArrayLike, what: str = "Scores") -> Floats:
    """Return scores as an array, in their order; refuse what is no sample."""
    if isinstance(scores, np.ma.MaskedArray):
        raise CurvewiseError(
            f"{what} are masked. Pass those that count, unmasked.",
            argument=what.lower(),
        )
    z = as_floats(scores, NUMBERS)
    if z is None:
        raise CurvewiseError(
            f"{what} are no numbers. Pass one per trial.", argument=what.lower()
        )
    if z.ndim != 1 or len(z) == 0:
        raise CurvewiseError(
            f"{what} have shape {z.shape}. Pass one score per trial.",
            argument=what.lower(),
        )
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = np.isfinite(z.sum())  # what is finite in sum is so in its parts
    if not is_finite and not np.isfinite(z).all():
        raise CurvewiseError(
            f"{(~np.isfinite(z)).sum()} of {len(z)} {what.lower()} are not finite. Give "
            f"failed trials a score.",
            argument=what.lower(),
        )
    if np.abs(z).max() > LARGEST:
        raise CurvewiseError(
            f"{what} are beyond {LARGEST:g}, where sums overflow. Pass smaller ones, such "
            f"as their logarithms.",
            argument=what.lower(),
        )
    return z


def sorted_scores(scores: ArrayLike) -> Floats:
    """Return scores in ascending order; refuse what is no sample of finite numbers."""
    z = checked_scores(scores)
    return z if (z[1:] >= z[:-1]).all() else np.sort(z)


def spread_scores(scores: ArrayLike) -> Floats:
    """Return two scores or more in ascending order."""
    z = sorted_scores(scores)
    if len(z) == 1:
        raise CurvewiseError(
            "One score says nothing about spread. Pass two or more.", argument="scores"
        )
    return z


def two_samples(a: ArrayLike, b: ArrayLike, paired: bool) -> tuple[Floats, Floats]:
    """Return both samples as arrays; refuse pairs that do not match."""
    one, other = checked_scores(a, "Scores a"), checked_scores(b, "Scores b")
    if paired and len(one) != len(other):
        raise CurvewiseError(
            f"There are {len(one)} scores a and {len(other)} scores b. Pass the same "
            "trials in the same order, or ",
            {"paired": False},
            ".",
            argument="paired",
        )
    return one, other


def shares(p: ArrayLike) -> Floats:
    """Return shares of the trials as an array; refuse what is not between 0 and 1."""
    share = as_floats(p)
    if share is None or not ((share >= 0) & (share <= 1)).all():
        raise bad_value("p", p, "Pass shares between 0 and 1.")
    return share


def checked_alphas(alpha: Any) -> Floats:
    """Return where a distribution is cut, once or often, as an array."""
    try:
        cuts = np.asarray(alpha)
    except ValueError:  # lists of different lengths
        cuts = np.array([None])
    if cuts.ndim == 0:
        return np.asarray(checked_alpha(alpha))
    if cuts.dtype.kind not in "fiu":
        raise CurvewiseError(
            "alpha holds no numbers. Pass shares between 0 and 1.", argument="alpha"
        )
    for outside in cuts[~((cuts > 0) & (cuts < 1))]:
        checked_alpha(outside.item())
    return cuts.astype(np.float64)


def checked_alpha(alpha: Any) -> float:
    """Return where a distribution is cut; refuse what leaves a tail empty."""
    if not is_number(alpha) or not 0 < alpha < 1:
        raise bad_value("alpha", alpha, "Pass a share strictly between 0 and 1.")
    return float(alpha)


def checked_probability(name: str, value: Any) -> float:
    """Return a confidence, a level, a power or a share; refuse what is none."""
    if not is_number(value) or not 0 < value < 1:
        raise bad_value(name, value, "Pass one between 0 and 1.")
    return float(value)


def checked_confidence(confidence: Any) -> float:
    """Return a confidence; refuse what is none."""
    return checked_probability("confidence", confidence)


def checked_level(level: Any) -> float:
    """Return the level of a test; refuse what is none."""
    return checked_probability("level", level)


def checked_half_width(half_width: Any) -> float:
    """Return a half-width; refuse what is none."""
    if not is_number(half_width) or half_width <= 0:
        raise bad_value("half_width", half_width, "Pass one above 0.")
    return float(half_width)


def checked_support(support: Any, *samples: Floats) -> tuple[float, float]:
    """Return between which scores are possible; refuse what is no range, or too small."""
    try:
        low, high = (float(end) for end in support if not isinstance(end, str))
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high:
        raise bad_value(
            "support",
            support,
            "Pass the least and the largest score that are possible, such as (0, 1).",
        )
    least = min((float(z.min()) for z in samples), default=low)
    most = max((float(z.max()) for z in samples), default=high)
    if least < low or most > high:
        raise CurvewiseError(
            f"Scores from {least:g} to {most:g} are not inside the support {low:g} to "
            f"{high:g}. Pass the range that is possible.",
            argument="support",
        )
    return low, high


def checked_size(n: Any, name: str = "n") -> int:
    """Return a number of trials; refuse what is none."""
    if not is_whole(n):
        raise bad_value(name, n, "Pass a number of trials, at least 1.")
    return int(n)


def checked_count(name: str, value: Any) -> int:
    """Return a number of looks, steps or windows; refuse what is none."""
    if not is_whole(value):
        raise bad_value(name, value, "Pass how many, at least 1.")
    return int(value)


def checked_chance(
    resamples: Any, rng: Any, least: int = 100, name: str = "resamples"
) -> int:
    """Return a number of resamples; refuse too few, and what is no generator."""
    if not isinstance(rng, np.random.Generator):
        raise bad_value(
            "rng", rng, "Pass a numpy Generator, such as np.random.default_rng(1)."
        )
    if not is_whole(resamples, least):
        raise bad_value(name, resamples, f"Pass at least {least}.")
    return int(resamples)


def one_of(name: str, value: Any, known: Sequence[str]) -> None:
    """Refuse a word that is not known."""
    if value not in known:
        raise bad_value(name, value, f"Pass one of {', '.join(known)}.")


def is_number(value: Any) -> bool:
    """Whether a value is one finite number; True is none."""
    is_real = isinstance(value, int | float | np.integer | np.floating)
    return is_real and not isinstance(value, bool) and math.isfinite(value)


# What squares, and ratios to the power of 2, stay finite for.
LEAST_SIZE, LARGEST_SIZE, LARGEST_LOSS = 1e-15, 1e15, 1e100
_APART = 1e-6  # sizes nearer than this share of themselves are one


def checked_sizes(sizes: Any, name: str = "sizes") -> Floats:
    """Return sizes as they come, as an array; refuse what is no size."""
    if isinstance(sizes, np.ma.MaskedArray):
        raise CurvewiseError(
            f"{name} are masked. Pass those that count, unmasked.", argument=name
        )
    n = as_floats(sizes, "iuf", copy=True)
    if n is None or n.ndim > 1 or n.size == 0:
        raise bad_value(name, sizes, "Pass numbers of training examples.")
    n = np.atleast_1d(n)
    if not (np.isfinite(n) & (n > 0)).all():
        bad = n[~(np.isfinite(n) & (n > 0))][0]
        raise CurvewiseError(
            f"{name} holds {bad:g}. Pass numbers of training examples, above 0.",
            argument=name,
        )
    if n.max() > LARGEST_SIZE or n.min() < LEAST_SIZE:
        outside = n.max() if n.max() > LARGEST_SIZE else n.min()
        raise CurvewiseError(
            f"{name} holds {outside:g}. Pass sizes from {LEAST_SIZE:g} to "
            f"{LARGEST_SIZE:g}.",
            argument=name,
        )
    return n


def checked_one_size(size: Any, name: str) -> float:
    """Return one size; refuse several."""
    n = checked_sizes(size, name)
    if len(n) > 1:
        raise bad_value(name, size, "Pass one number of examples.")
    return float(n[0])


def refuse_twice(n: Floats) -> None:
    """Refuse increasing sizes of which two are the same, or nearly so."""
    is_same = np.diff(n) <= _APART * n[1:]
    if is_same.any():
        raise CurvewiseError(
            f"Size {n[1:][is_same][0]:g} is there twice. Pass its runs together, in one "
            f"array.",
            argument="sizes",
        )


def checked_table(values: Any, name: str, sizes: int) -> Floats:
    """Return one row of numbers for each curve; refuse another shape, not what is NaN."""
    if isinstance(values, np.ma.MaskedArray):
        raise CurvewiseError(
            f"{name} are masked. Pass NaN where there is no number.", argument=name
        )
    table = as_floats(values, NUMBERS, copy=True)
    if table is None:
        raise CurvewiseError(
            f"{name} are no table of numbers. Pass one row for each curve, one number for "
            f"each size.",
            argument=name,
        )
    if table.ndim != 2 or table.shape[1] != sizes:
        raise CurvewiseError(
            f"{name} have shape {table.shape} and there are {sizes} sizes. Pass one row "
            f"for each curve, one number for each size.",
            argument=name,
        )
    return table
