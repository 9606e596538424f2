"""Curves drawn from what is known of one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from curvewise.stats._sample import Floats
from curvewise.stats.powerlaw._checks import checked_places

__all__ = ["PowerLawDraws"]


@dataclass(frozen=True, slots=True, eq=False)
class PowerLawDraws:
    """Power laws that may be the true one, as `PowerLaw.draws` draws them.

    Parameters
    ----------
    alpha, eta, delta, gamma : ndarray, shape (draw,)

    Examples
    --------
    >>> draws = PowerLawDraws(*np.array([[0.1], [2.0], [0.0], [-0.5]]))
    >>> draws.error([100, 400]).round(6).tolist()
    [[0.3, 0.2]]
    """

    alpha: Floats
    eta: Floats
    delta: Floats
    gamma: Floats

    def error(self, n: ArrayLike) -> Floats:
        """Return the error of each at sizes n, shape (draw, n); not cut off anywhere."""
        x = checked_places(n) ** self.gamma[:, None]
        return np.asarray(
            self.alpha[:, None] + self.eta[:, None] * x + self.delta[:, None] * x**2
        )
