"""What may be asked of an extrapolation, and what is promised."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import Unit, checked_sizes
from curvewise.stats._sample import Floats, checked_confidence
from curvewise.stats._words import percent


def ends(confidence: float) -> Floats:
    """Return the levels of the lower end, the prediction and the upper end."""
    return np.array([(1 - confidence) / 2, 0.5, (1 + confidence) / 2])


def highest(unit: Unit) -> float:
    """Return the largest error that is possible, on the scale inside."""
    return np.inf if unit == "loss" else 1.0


def checked_targets(to: ArrayLike, sizes: Floats, name: str = "to") -> Floats:
    """Return sizes to predict at; refuse those below all that were seen."""
    n = checked_sizes(to, name)
    if n.min() < sizes[0]:
        raise CurvewiseError(
            f"{name} holds {n.min():g}, below the smallest size that was seen, "
            f"{sizes[0]:g}. Pass larger sizes."
        )
    return n


def known_confidence(confidence: Any) -> float:
    """Return a confidence that intervals were learnt for."""
    level = checked_confidence(confidence)
    if not 0.5 <= level <= 0.99:
        raise CurvewiseError(
            f"confidence is {confidence!r}. Pass one from 0.5 to 0.99: real curves are too "
            f"few to say more.",
            argument="confidence",
            value=confidence,
        )
    return level


def guarantee(confidence: float, unit: Unit) -> str:
    """Return what is promised, and on what it was measured."""
    level = percent(confidence)
    if unit == "loss":
        return (
            f"{level} at each size is meant; measured for error rates, not for losses"
        )
    return (
        f"about {level} at each size by itself (pointwise): measured by cross-fitting over "
        f"data sets, not proved, on curves of tabular data and classic learners"
    )
