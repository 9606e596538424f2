"""A curve continued: what was predicted, how sure that is, what may be wrong with it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.stats._curve.runs import Unit
from curvewise.stats._sample import Floats, shares
from curvewise.stats.interval import CurveBand
from curvewise.stats.learning.extrapolation._asked import (
    checked_targets,
    ends,
    guarantee,
    highest,
    known_confidence,
)
from curvewise.stats.learning.extrapolation._band import (
    LEAST,
    MOST,
    checked_levels,
    quantiles,
)
from curvewise.stats.learning.extrapolation._forecast import Observed, outlook
from curvewise.stats.learning.shape import Shape

__all__ = ["Extrapolation", "Extrapolations"]

ESTIMAND = "the mean error over runs at each size"


@dataclass(frozen=True, slots=True, eq=False)
class Extrapolation:
    """A learning curve continued to sizes that nobody has trained on.

    Everything is in the unit that the errors came in.

    Parameters
    ----------
    to : ndarray, shape (target,)
        Sizes that were asked for.
    error, lower, upper : float or ndarray, shape (target,)
        The prediction and its pointwise interval; numbers where ``to`` was a number.
    sizes, means, counts : ndarray, shape (size,)
        What was observed: sizes, mean errors, numbers of runs.
    confidence : float
    noise : float
        Spread of the means around the best power law.
    rise : float
        The highest climb of the means so far.
    flat : float
        Share of the power laws that found no fall, by weight.
    shape : Shape
        Whether the curve significantly rises, or is not convex.
    concerns : tuple of str
        What may be wrong, in sentences.
    unit : {"fraction", "percent", "loss"}
    scale : float
        What 1 is inside: 1, 100, or the largest mean loss.
    seen : Observed
        What was observed, on that scale.
    """

    to: Floats
    error: Any
    lower: Any
    upper: Any
    sizes: Floats
    means: Floats
    counts: Floats
    confidence: float
    noise: float
    rise: float
    flat: float
    shape: Shape
    concerns: tuple[str, ...]
    unit: Unit
    scale: float
    seen: Observed

    @property
    def levels(self) -> tuple[float, float]:
        """The least and the largest level that quantiles are known for."""
        return LEAST, MOST

    @property
    def guarantee(self) -> str:
        """What the interval promises."""
        return guarantee(self.confidence, self.unit)

    def predict(self, n: ArrayLike) -> Floats:
        """Return the predicted mean error at sizes n."""
        return np.asarray(self.quantile(0.5, n)[0])

    def quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of what the mean error at sizes n may be, shape (p, n).

        Each is for one size by itself; the median is the prediction.
        """
        levels = checked_levels(shares(p))
        to = checked_targets(n, self.sizes, "n")
        top = highest(self.unit)
        ahead = outlook(self.seen, to, top)
        return np.asarray(self.scale * quantiles(ahead, levels, top)[:, 0])

    def interval(self, n: ArrayLike, confidence: float | None = None) -> CurveBand:
        """Return predictions with pointwise intervals at sizes n."""
        level = self.confidence if confidence is None else known_confidence(confidence)
        to = checked_targets(n, self.sizes, "n")
        lower, value, upper = self.quantile(ends(level), to)
        return CurveBand(to, value, lower, upper, ESTIMAND, guarantee(level, self.unit))


@dataclass(frozen=True, slots=True, eq=False)
class Extrapolations:
    """Many learning curves on common sizes, continued.

    Parameters
    ----------
    to : ndarray, shape (target,)
    error, lower, upper : ndarray, shape (curve, target)
        Predictions and their pointwise intervals; NaN for a curve that is none.
    is_fitted : ndarray of bool, shape (curve,)
        Whether a curve had errors that are finite and possible.
    noise, rise, flat : ndarray, shape (curve,)
        As for one `Extrapolation`.
    sizes : ndarray, shape (size,)
    confidence : float
    unit : {"fraction", "percent", "loss"}
    """

    to: Floats
    error: Floats
    lower: Floats
    upper: Floats
    is_fitted: Any
    noise: Floats
    rise: Floats
    flat: Floats
    sizes: Floats
    confidence: float
    unit: Unit

    @property
    def guarantee(self) -> str:
        """What the intervals promise, one by one."""
        return guarantee(self.confidence, self.unit)
