"""The levels of a band that nobody has drawn yet."""

import numpy as np

from curvewise.stats import bands
from curvewise.stats._sample import Floats
from curvewise.stats.bands import Kind


def band_levels(
    share: Floats, n: int, confidence: float, kind: Kind
) -> tuple[Floats, Floats]:
    """Return between which levels a band of n trials is where shares are below."""
    if kind != "equal_local_levels":
        e = bands.half_width(n, confidence=confidence, kind=kind)
        return np.maximum(share - e, 0), np.minimum(share + e, 1)
    from scipy.special import betaincinv

    level = bands.local_level(n, confidence=confidence) / 2

    def lower(p: Floats) -> Floats:
        i = np.maximum(n * p, np.finfo(np.float64).tiny)
        found: Floats = np.where(p > 0, betaincinv(i, n + 1 - i, level), 0.0)
        return found

    # The band of a distribution seen from above is that seen from below, turned around.
    return lower(share), 1 - lower(1 - share)
