"""A smoother for logits along training sizes, for many curves and classes at once."""

import math
from dataclasses import dataclass

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.confusion._drift_constants import Prior

ORIGIN = (
    16.0  # where the clock stands at 0: the least size of the curves it is learnt on
)


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    r"""Octaves of training data, slowing down.

    .. math:: x = \frac{1 - (n/16)^{-g}}{g \ln 2}

    Parameters
    ----------
    slowing : ndarray, shape (curve, class)
        g, of which 0 is plain octaves.
    start : ndarray, shape (curve, class)
        What is taken off, so that no size seen comes before 0, where drift begins.
    """

    slowing: Floats
    start: Floats

    def __call__(self, sizes: Floats) -> Floats:
        """Return the times of sizes (curve or 1, size), shape (curve, class, size)."""
        return ticks(sizes, self.slowing) - self.start[..., None]


def ticks(sizes: Floats, slowing: Floats) -> Floats:
    """Return octaves since ORIGIN, slowing down, shape (curve, class, size)."""
    age = np.log(sizes / ORIGIN)[:, None]
    g = slowing[..., None]
    some = np.where(g > 0, g, 1.0)
    return np.asarray(np.where(g > 0, -np.expm1(-some * age) / some, age) / math.log(2))


def clock_of(sizes: Floats, is_there: Floats, shares: Floats, prior: Prior) -> Clock:
    """Return the clocks of classes; they go by whether a class is rarer than one half."""
    slowing = by_share(shares, prior.slowing, prior.slowing_common)
    seen = np.where(is_there, ticks(sizes, slowing), np.inf)
    return Clock(slowing, np.minimum(seen.min(-1), 0.0))


def by_share(shares: Floats, rare: float, common: float) -> Floats:
    """Return what holds for classes rarer than one half, and for the others."""
    is_even = np.abs(shares - 0.5) < 1e-9  # so that no class comes first by its name
    own = np.where(shares < 0.5, rare, common)
    return np.asarray(np.where(is_even, (rare + common) / 2, own))


def covariance(x: Floats, y: Floats, prior: Prior, level: float) -> Floats:
    """Return the prior covariance of logits at x and y, which are broadcast.

    Level, slope, drift of the slope (an integrated Wiener process), walk of the level (a
    Wiener process), both two-sided: independent before and after the origin.
    """
    low = np.minimum(np.abs(x), np.abs(y)) * (x * y > 0)
    high = np.maximum(np.abs(x), np.abs(y))
    drift = low * (prior.bend**2 / 6 * low * (3 * high - low) + prior.wander**2)
    return np.asarray(level**2 + prior.slope**2 * x * y + drift)


@dataclass(frozen=True, slots=True, eq=False)
class Smoothed:
    """Logits smoothed: all that predictions take.

    Parameters
    ----------
    x, noise, rest : ndarray, shape (curve, class, size)
        Their times, the variances of their noise, and logits less their prior mean; 0
        where nothing was seen.
    precision : ndarray, shape (curve, class, size, size)
        Inverse of the covariance of what was seen; 0 where nothing was.
    surprise, ahead, ahead_noise : ndarray, shape (curve, class, size)
        What was missed by predicting each size from those before it; the variance expected
        of that by the drift, and by noise.
    """

    clock: Clock
    prior: Prior
    level: float
    x: Floats
    noise: Floats
    rest: Floats
    precision: Floats
    surprise: Floats
    ahead: Floats
    ahead_noise: Floats

    def at(self, sizes: Floats) -> tuple[Floats, Floats]:
        """Return predictions (curve, class, asked), and the weights of the logits seen.

        Sizes are (asked,), or (curve, asked) where each curve has its own.
        """
        x = self.clock(np.atleast_2d(sizes))
        weights = self._across(x) @ self.precision
        return self.prior.rise * x + (weights @ self.rest[..., None])[..., 0], weights

    def missed(self, sizes: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Return by how much any weights miss: the variance by drift, and by noise."""
        x = self.clock(np.atleast_2d(sizes))
        inside = covariance(
            self.x[..., None], self.x[..., None, :], self.prior, self.level
        )
        by_drift = covariance(x, x, self.prior, self.level)
        by_drift = by_drift - 2 * (weights * self._across(x)).sum(-1)
        by_drift = by_drift + ((weights @ inside) * weights).sum(-1)
        by_noise = (weights**2 * self.noise[..., None, :]).sum(-1)
        return np.maximum(by_drift, 0.0), by_noise

    def last_steps(self, count: int) -> Floats:
        """Return which sizes (curve, class, size) are the last ones with any before."""
        there = self.noise > 0
        from_last = np.cumsum(there[..., ::-1], -1)[..., ::-1]
        return np.asarray(
            there & (from_last <= count) & (np.cumsum(there, -1) > 1), dtype=np.float64
        )

    def _across(self, x: Floats) -> Floats:
        return covariance(x[..., None], self.x[..., None, :], self.prior, self.level)


def smoothed(
    clock: Clock, sizes: Floats, z: Floats, noise: Floats, prior: Prior, level: float
) -> Smoothed:
    """Return smoothed logits z (curve, class, size), NaN for none."""
    x = clock(sizes)
    there = np.isfinite(z)
    both = there[..., None] & there[..., None, :]
    size = np.arange(x.shape[-1])
    own = np.where(both, covariance(x[..., None], x[..., None, :], prior, level), 0.0)
    noise = np.where(there, noise, 0.0)
    own[..., size, size] += np.where(there, noise, 1.0)
    rest = np.where(there, z - prior.rise * x, 0.0)
    lower = np.linalg.cholesky(own)
    inverse = np.linalg.inv(lower)
    precision = np.swapaxes(inverse, -1, -2) @ inverse
    precision[..., size, size] *= there  # 1 stood in for what is not there
    # Rows of this say: what was seen, less what the sizes before it predict.
    root = lower[..., size, size]
    step = root[..., None] * inverse
    by_noise = (step**2 @ noise[..., None])[..., 0]
    return Smoothed(
        clock,
        prior,
        level,
        x,
        noise,
        rest,
        precision,
        surprise=(step @ rest[..., None])[..., 0] * there,
        ahead=np.maximum(root**2 - by_noise, 0.0) * there,
        ahead_noise=by_noise * there,
    )
