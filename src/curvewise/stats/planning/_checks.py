"""What planning is asked for, checked."""

import math
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError


def is_number(value: Any) -> bool:
    """Whether a value is one finite number; True is none."""
    is_real = isinstance(value, int | float | np.integer | np.floating)
    return is_real and not isinstance(value, bool) and math.isfinite(value)


def checked_half_width(half_width: Any) -> float:
    """Return a half-width; refuse what is none."""
    if not is_number(half_width) or half_width <= 0:
        raise CurvewiseError(f"half_width is {half_width!r}. Pass one above 0.")
    return float(half_width)


def checked_looks(looks: Any) -> int:
    """Return a number of looks; refuse what is none."""
    if isinstance(looks, bool) or not isinstance(looks, int | np.integer) or looks < 1:
        raise CurvewiseError(f"looks is {looks!r}. Pass how many, at least 1.")
    return int(looks)
