"""Arguments of curves: sizes, shares and probabilities."""

import math
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import LEAST_SIZE, Unit, scale_of
from curvewise.stats._sample import Floats


def bounds_of(unit: Unit) -> tuple[float, float]:
    """Return between what an error can be."""
    return 0.0, math.inf if unit == "loss" else scale_of(unit)


def checked_at(n: Any) -> Floats:
    """Return sizes as an array of any shape; infinity is one."""
    found = _positive(n, "n", "numbers of training examples")
    if (found < LEAST_SIZE).any():
        raise CurvewiseError(
            f"n is {n!r}. Pass sizes from {LEAST_SIZE:g} on.", argument="n", value=n
        )
    return found


def checked_places(n: Any) -> Floats:
    """Return sizes as an array, shape (n,)."""
    found = np.atleast_1d(checked_at(n))
    if found.ndim != 1:
        raise CurvewiseError(f"n has shape {found.shape}. Pass sizes in a row.")
    return found


def checked_multiples(d: Any) -> Floats:
    """Return multiples of the data as an array of any shape; infinity is one."""
    return _positive(d, "d", "multiples of the reference size")


def checked_probabilities(p: Any) -> Floats:
    """Return probabilities as an array, shape (p,)."""
    found = np.atleast_1d(_numbers(p))
    if found.ndim != 1 or not ((found > 0) & (found < 1)).all():
        raise CurvewiseError(
            f"p is {p!r}. Pass probabilities between 0 and 1.", argument="p", value=p
        )
    return found


def _positive(values: Any, name: str, what: str) -> Floats:
    found = _numbers(values)
    if not (found > 0).all():
        raise CurvewiseError(
            f"{name} is {values!r}. Pass {what}, above 0.", argument=name, value=values
        )
    return found


def _numbers(values: Any) -> Floats:
    try:
        found = np.asarray(values)
        if found.dtype.kind not in "iuf":
            raise TypeError
        return found.astype(np.float64)
    except (TypeError, ValueError):
        return np.array(np.nan)
