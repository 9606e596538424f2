"""Errors that fall with data along a power law, with noise that falls too."""

import numpy as np

SIZES = np.array([25.0, 50, 100, 200, 400])
COUNTS = (16, 8, 4, 2, 1)
AT = np.array([25.0, 100, 400, 1600, np.inf])


def noisy(seed=1, curve=(0.12, 1.9, -0.57), sd=0.05, counts=COUNTS, sizes=SIZES):
    """Return errors by size, `counts` of them, of alpha + eta n^gamma."""
    rng = np.random.default_rng(seed)
    alpha, eta, gamma = curve
    return [
        alpha + eta * n**gamma + rng.normal(size=k) * sd / n**0.5
        for n, k in zip(sizes, counts, strict=True)
    ]
