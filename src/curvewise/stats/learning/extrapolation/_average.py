"""Bounded power laws, averaged by how well they fit."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from curvewise.stats._curve.grid import fit_grid
from curvewise.stats._sample import Floats

EXPONENTS = 0.05 * 40.0 ** (np.arange(16) / 15)  # .05 to 2, even in the logarithm
OFFSETS = np.r_[0.0, 4.0 ** np.arange(-4, 3)]  # in units of the largest size
SHAPES = len(EXPONENTS) * len(OFFSETS)
_FLOOR = 1e-7  # of the variance: a third of a thousandth, so that no weight is 0/0


@dataclass(frozen=True, slots=True, eq=False)
class Average:
    """Power laws c + b phi fitted to curves, each with the weight that it earned.

    Parameters
    ----------
    weight, asymptote, amplitude : ndarray, shape (curve, shape)
    noise : ndarray, shape (curve,)
        Spread of the means around the best shape.
    """

    weight: Floats
    asymptote: Floats
    amplitude: Floats
    noise: Floats

    def at(self, phi: Floats) -> tuple[Floats, Floats]:
        """Return predictions (curve, size) and how far the shapes disagree there.

        Parameters
        ----------
        phi : ndarray, shape (shape, size)
        """
        constant = (self.weight * self.asymptote).sum(axis=1, keepdims=True)
        part = self.weight * self.amplitude
        fall = part @ phi
        # The weighted mean of (c + b phi - mean)^2, as matrix products.
        c = self.asymptote - constant
        square = (
            (self.weight * c**2).sum(axis=1, keepdims=True)
            + 2 * (part * c) @ phi
            + (part * self.amplitude) @ phi**2
        )
        return constant + fall, np.sqrt(np.maximum(square - fall**2, 0.0))

    def at_own(self, phi: Floats) -> tuple[Floats, Floats]:
        """Return the same where each curve is asked at a size of its own, shape (curve,).

        Parameters
        ----------
        phi : ndarray, shape (curve, shape)
        """
        values = self.asymptote + self.amplitude * phi
        mean = (self.weight * values).sum(axis=1)
        square = (self.weight * (values - mean[:, None]) ** 2).sum(axis=1)
        return mean, np.sqrt(square)

    @property
    def flat(self) -> Floats:
        """Weight of the shapes that found no fall, shape (curve,)."""
        return np.asarray((self.weight * (self.amplitude <= 1e-12)).sum(axis=1))


def fit_average(phi: Floats, errors: Floats, weights: Floats) -> Average:
    r"""Return the average of 128 bounded power laws for every curve.

    .. math:: e(n) = c + b\,\Bigl(\frac{n + d}{n_k + d}\Bigr)^{-g}, \qquad b, c \ge 0

    with c and b by weighted least squares for each g and d. With S the sum of squares that
    is left and w the weights, a shape counts :math:`\exp(-(S - \min S) / (2 s^2))`, where
    :math:`s^2 = 3 \min S / \sum w + 10^{-7}`.

    Parameters
    ----------
    phi : ndarray, shape (shape, size)
    errors : ndarray, shape (curve, size)
        Mean errors, from 0 to 1.
    weights : ndarray, shape (curve, size) or (1, size)
    """
    fit = fit_grid(phi, errors, weights, is_bounded=True)
    best = fit.cost.min(axis=1, keepdims=True)
    variance = 3 * best / weights.sum(axis=1, keepdims=True) + _FLOOR
    weight = np.exp((best - fit.cost) / (2 * variance))
    weight /= weight.sum(axis=1, keepdims=True)
    return Average(weight, fit.asymptote, fit.amplitude, np.sqrt(variance[:, 0]))


def basis(relative: Floats) -> Floats:
    """Return the shapes at sizes in units of the largest, (shape, size)."""
    g, d = _grid()
    return np.asarray(((relative[None, :] + d) / (1 + d)) ** -g)


@lru_cache(maxsize=1)
def _grid() -> tuple[Floats, Floats]:
    g, d = np.meshgrid(EXPONENTS, OFFSETS, indexing="ij")
    return g.reshape(-1, 1), d.reshape(-1, 1)
