"""The Fourier basis of Konidaris et al. (2011) for the pendulum's two numbers.

A feature is cos(pi c·x), where x is angle and speed, each scaled to 0 to 1, and c are two
whole numbers. The basis has all c with both numbers up to the dependent order, and those
with one number up to the independent order and the other 0; what is in both counts once.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise._checks import whole

Floats = NDArray[np.float64]
Whole = NDArray[np.uint32]


def count(independent: int, dependent: int) -> int:
    """Return how many features a basis of these orders has.

    Examples
    --------
    >>> count(6, 5)  # 36, and one more for each of the two numbers
    38
    >>> count(3, 5) == count(0, 5) == 36
    True
    """
    return (dependent + 1) ** 2 + 2 * max(0, independent - dependent)


def coefficients(independent: int, dependent: int) -> Whole:
    """Return c of each feature, shape (feature, 2).

    Examples
    --------
    >>> coefficients(2, 1).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [0, 2]]
    """
    whole(independent, "independent order", least=0)
    whole(dependent, "dependent order", least=0)
    both = [(i, j) for i in range(dependent + 1) for j in range(dependent + 1)]
    alone = [c for i in range(dependent + 1, independent + 1) for c in ((i, 0), (0, i))]
    return np.array(both + alone, dtype=np.uint32)


def features(angle: ArrayLike, speed: ArrayLike, c: Whole, top_speed: float) -> Floats:
    """Return the features of a state, or of many, shape (..., feature).

    Examples
    --------
    >>> features(np.pi, 0.0, coefficients(1, 1), 4 * np.pi).round(9) + 0.0
    array([ 1.,  0., -1.,  0.])
    """
    x = (np.asarray(angle, dtype=np.float64) + np.pi) / (2 * np.pi)
    y = (np.asarray(speed, dtype=np.float64) + top_speed) / (2 * top_speed)
    out: Floats = np.cos(np.pi * (x[..., None] * c[:, 0] + y[..., None] * c[:, 1]))
    return out
