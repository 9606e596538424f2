"""How much of the drift that is expected a curve shows, from its own last steps."""

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.confusion._drift_constants import DriftConstants
from curvewise.stats.confusion._drift_smoother import Smoothed, by_share

STEPS = 6  # one-step-ahead predictions looked at, from the last size back
MOST_OF_LAW = 0.5  # weight of a power law that holds as far as can be seen
_LOGS = np.linspace(-8.0, 4.0, 33)


def log_roughness(smooth: Smoothed, usual: Floats, spread: float) -> Floats:
    r"""Return the posterior of the log of the roughness, (curve, class, grid).

    What was missed one step ahead is :math:`N(0, \kappa A_b + N_b)`: A by the drift, N by
    noise; the prior of :math:`\log \kappa` is normal, with mean `usual` (curve, class).
    Curves differ in it a hundredfold.
    """
    use = smooth.last_steps(STEPS)[..., None] > 0
    variance = np.exp(_LOGS) * smooth.ahead[..., None] + smooth.ahead_noise[..., None]
    variance = np.where(use, variance, 1.0)
    missed = np.where(use, smooth.surprise[..., None] ** 2, 0.0)
    log = -0.5 * (np.log(variance) + missed / variance).sum(-2)
    log -= 0.5 * ((_LOGS - usual[..., None]) / spread) ** 2
    weight = np.exp(log - log.max(-1, keepdims=True))
    return np.asarray(weight / weight.sum(-1, keepdims=True))


def roughness(
    smooth: Smoothed, shares: Floats, constants: DriftConstants, level: Floats
) -> Floats:
    """Return quantiles of the roughness at levels (draw,): (draw, curve, class)."""
    usual = by_share(shares, constants.roughness, constants.roughness_common)
    weight = log_roughness(smooth, usual, constants.roughness_spread)
    below = np.cumsum(weight, -1) - weight / 2  # up to the middle of each cell
    below = below.reshape(-1, len(_LOGS))
    # One sorted array for all curves and classes, each 2 after the one before.
    place = 2.0 * np.arange(len(below))
    edges = (below + place[:, None]).ravel()
    at = np.searchsorted(edges, level[:, None] + place) - len(_LOGS) * np.arange(
        len(below)
    )
    low = np.clip(at - 1, 0, len(_LOGS) - 2)
    row = np.arange(len(below))
    width = np.maximum(below[row, low + 1] - below[row, low], 1e-300)
    part = np.clip((level[:, None] - below[row, low]) / width, 0.0, 1.0)
    log = _LOGS[low] + part * (_LOGS[1] - _LOGS[0])
    return np.asarray(np.exp(log).reshape(len(level), *weight.shape[:-1]))


def weight_of_law(law: Smoothed) -> Floats:
    """Return how much a power law counts, shape (curve, class); alike for all classes.

    A half where its errors one step ahead are no larger than noise makes them, and less
    in proportion where they are.
    """
    use = law.last_steps(STEPS)
    noise = (use * law.ahead_noise).sum((-1, -2))
    missed = (use * law.surprise**2).sum((-1, -2))
    ratio = np.where(missed > noise, noise / np.maximum(missed, 1e-300), 1.0)
    return np.broadcast_to(MOST_OF_LAW * ratio[:, None], use.shape[:2])
