"""A sample of scores: what every statistic here starts from, and how it is checked."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError

Floats: TypeAlias = NDArray[np.float64]


def sorted_scores(scores: ArrayLike) -> Floats:
    """Return scores in ascending order; refuse what is no sample of finite numbers."""
    z = checked_scores(scores)
    return z if (z[1:] >= z[:-1]).all() else np.sort(z)


def checked_scores(scores: ArrayLike, what: str = "Scores") -> Floats:
    """Return scores as an array, in their order; refuse what is no sample."""
    try:
        z = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise CurvewiseError(f"{what} are no numbers. Pass one per trial.") from None
    if z.ndim != 1 or len(z) == 0:
        raise CurvewiseError(f"{what} have shape {z.shape}. Pass one score per trial.")
    if not np.isfinite(z).all():
        raise CurvewiseError(
            f"{(~np.isfinite(z)).sum()} of {len(z)} {what.lower()} are not finite. Give "
            f"failed trials a score."
        )
    return z


def rank(n: int, p: Floats) -> NDArray[np.int64]:
    """Return ceil(n p), safe against the rounding of p: rank(10, 0.7) is 7, not 8."""
    # n * p carries a relative error of a few units in its last place.
    return np.ceil(n * p - 1e-12 * max(n, 1)).astype(np.int64)


def shares(p: ArrayLike) -> Floats:
    """Return shares of the trials as an array; refuse what is not between 0 and 1."""
    share = np.asarray(p, dtype=np.float64)
    if not ((share >= 0) & (share <= 1)).all():
        raise CurvewiseError(f"p is {p!r}. Pass shares between 0 and 1.")
    return share


def checked_alpha(alpha: Any) -> float:
    """Return where a distribution is cut; refuse what leaves a tail empty."""
    if not _is_number(alpha) or not 0 < alpha < 1:
        raise CurvewiseError(
            f"alpha is {alpha!r}. Pass a share strictly between 0 and 1."
        )
    return float(alpha)


def checked_confidence(confidence: Any) -> float:
    """Return a confidence; refuse what is none."""
    if not _is_number(confidence) or not 0 < confidence < 1:
        raise CurvewiseError(f"confidence is {confidence!r}. Pass one between 0 and 1.")
    return float(confidence)


def checked_size(n: Any, name: str = "n") -> int:
    """Return a number of trials; refuse what is none."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise CurvewiseError(f"{name} is {n!r}. Pass a number of trials, at least 1.")
    return int(n)


def one_of(name: str, value: Any, known: Sequence[str]) -> None:
    """Refuse a word that is not known."""
    if value not in known:
        raise CurvewiseError(f"{name} is {value!r}. Pass one of {', '.join(known)}.")


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float | np.integer | np.floating)
    return is_number and not isinstance(value, bool) and math.isfinite(value)
