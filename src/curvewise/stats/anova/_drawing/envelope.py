"""What chance makes of a whole curve: an envelope that holds at all steps at once."""

import math
from typing import NamedTuple

import numpy as np

from curvewise.stats._sample import Floats

ROUNDING = 1e-12  # values of about 1 that differ by less are the same


class Curve(NamedTuple):
    """A curve as it came, and its envelope."""

    came: Floats
    lower: Floats
    upper: Floats


class Envelope:
    """The directional envelope of curves that come in blocks of steps.

    It reaches from the mean of the curves as far as a common multiple of the distance to
    their quantiles, upward and downward.

    Parameters
    ----------
    is_upper : bool
        Whether it is for curves that leave it upward only.
    """

    def __init__(self, *, is_upper: bool = False) -> None:
        self.is_upper = is_upper
        self.farthest: Floats = np.zeros(1)
        self.parts: list[Floats] = []

    def add(self, block: Floats) -> None:
        """Take in some steps of all curves, shape (step, curve); the first one came."""
        block = block.round(12)
        mean = block.mean(axis=1)
        low, high = np.quantile(block, [0.025, 0.975], axis=1)
        # Where fewer curves than that are on one side, the farthest of them counts.
        up = np.where(high - mean > ROUNDING, high, block.max(axis=1)) - mean
        down = mean - np.where(mean - low > ROUNDING, low, block.min(axis=1))
        away = block - mean[:, None]
        reach = np.maximum(np.where(away > 0, up[:, None], down[:, None]), 1e-300)
        # Rounding of the mean, where all curves are one, is no distance.
        counts = away > ROUNDING if self.is_upper else np.abs(away) > ROUNDING
        far = np.abs(np.where(counts, away, 0.0) / reach)
        self.farthest = np.maximum(self.farthest, far.max(axis=0))
        self.parts.append(np.stack([block[:, 0], mean, up, down]))

    def at(self, confidence: float) -> Curve:
        """Return the curve that came, and the envelope."""
        came, mean, up, down = np.concatenate(self.parts, axis=1)
        place = math.ceil(confidence * len(self.farthest) * (1 - ROUNDING))
        c = np.partition(self.farthest, place - 1)[place - 1]
        # What is met up to rounding is met.
        slack = 2 * ROUNDING
        return Curve(came, mean - c * down - slack, mean + c * up + slack)
