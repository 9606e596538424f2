"""What intervals of counts are given: counts, a prior, and in which blocks they go."""

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats, is_number

Prior: TypeAlias = Literal["uniform", "jeffreys", "paper"] | float

PRIORS = {"uniform": 1.0, "jeffreys": 0.5, "paper": 1.0}
BLOCK = 1 << 15  # matrices at a time: what is computed between stays in the cache
LARGEST = 1e15  # a count; beyond, adding the prior changes nothing


def checked_prior(prior: Any) -> float:
    """Return how many examples the prior adds to every cell; refuse what is none."""
    if isinstance(prior, str) and prior in PRIORS:
        return PRIORS[prior]
    if not is_number(prior) or not 0 < prior <= LARGEST:
        raise CurvewiseError(
            f"prior is {prior!r}. Pass one of {', '.join(PRIORS)}, or a number above 0: "
            f"how many examples it adds to every cell.",
            argument="prior",
            value=prior,
        )
    return float(prior)


def checked_counts(**counts: ArrayLike) -> list[Floats]:
    """Return counts as arrays of one shape; refuse what cannot be counts.

    Fractions are counts, too: those of matrices that were averaged or predicted.
    """
    arrays = [_numbers(name, value) for name, value in counts.items()]
    for name, array in zip(counts, arrays, strict=True):
        bad = ~((array >= 0) & (array <= LARGEST))
        if bad.any():
            wrong = array[bad].flat[0]
            raise CurvewiseError(
                f"{bad.sum():,} of {array.size:,} in {name} are no counts, the first is "
                f"{wrong:g}. Pass numbers from 0 to {LARGEST:g}."
            )
    try:
        return list(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(
            f"{name} {array.shape}" for name, array in zip(counts, arrays, strict=True)
        )
        raise CurvewiseError(
            f"Counts have shapes that do not fit: {shapes}. Pass one of each for every "
            f"matrix, or one for all."
        ) from None


def checked_matrices(counts: ArrayLike) -> Floats:
    """Return confusion matrices, shape (..., class, class); refuse what is none."""
    array = _numbers("counts", counts)
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] < 2:
        raise CurvewiseError(
            f"counts have shape {array.shape}. Pass (..., K, K) with K >= 2: rows are "
            f"true classes, columns what they were called."
        )
    checked_counts(counts=array)
    return array


def _numbers(name: str, value: ArrayLike) -> Floats:
    if not isinstance(value, np.ma.MaskedArray):
        try:
            raw = np.asarray(value)
            if raw.dtype.kind in "iuf" or (raw.dtype.kind == "O" and raw.size):
                return raw.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError):
            pass
    raise CurvewiseError(
        f"{name} are no numbers. Pass counts, one or an array of them."
    )


def blocks(size: int, block: int = BLOCK) -> Iterator[slice]:
    """Return slices that cover `size` places, `block` of them at a time."""
    for start in range(0, size, block):
        yield slice(start, min(start + block, size))
