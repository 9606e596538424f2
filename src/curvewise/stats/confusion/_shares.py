"""How often classes occur: known where tests were balanced by design, else estimated."""

import numpy as np
from scipy.special import gammaincinv, ndtri

from curvewise.stats._sample import Floats
from curvewise.stats.confusion._asked import Asked
from curvewise.stats.confusion._data import CountTable


def draw_shares(table: CountTable, asked: Asked, points: Floats) -> Floats:
    """Return draws of class shares, shape (draw or 1, curve, asked or 1, class).

    Where all test sets of a curve hold the classes in the same shares, so will the next
    one. Elsewhere shares are a Dirichlet around what was seen, with as many examples as
    were different ones; and *observed* is a test set, whose own shares vary besides.

    Parameters
    ----------
    table : CountTable
    asked : Asked
    points : ndarray, shape (draw, class)
        Evenly spread over the unit cube.
    """
    shares = table.shares
    if table.is_fixed.all():
        return shares[None, :, None]
    size = different_examples(table)[:, None]
    if asked.target == "observed":
        # Two sources of variance, each as 1 / examples; tests like those seen hold as many.
        held = np.where(np.isnan(asked.test_size), size, asked.test_size)
        size = 1.0 / (1.0 / size + 1.0 / held)
    drawn = _dirichlet(shares[:, None] * size[..., None], points)
    fixed = table.is_fixed[None, :, None, None]
    return np.where(fixed, shares[None, :, None], drawn)


def different_examples(table: CountTable) -> Floats:
    """Return how many different examples each curve was tested on; a guess without ids.

    Where nobody kept which examples they were, all sizes are taken to have been tested on
    those of the size that was tested most.
    """
    guess = table.counts.sum((2, 3)).max(1)
    for i, own in enumerate(table.examples):
        if own is not None:
            guess[i] = np.asarray(own.asked).any(0).sum()
    return np.asarray(guess)


def _dirichlet(alpha: Floats, points: Floats) -> Floats:
    """Return Dirichlet draws: normal where there are many, gamma where there are few."""
    by = points[:, None, None, :]
    few = 100.0
    # Wilson and Hilferty: the cube root of a gamma is close to normal.
    a = np.maximum(alpha, 1e-3)
    root = 1 - 1 / (9 * a) + ndtri(by) / (3 * np.sqrt(a))
    drawn = a * np.maximum(root, 0.0) ** 3
    is_few = (alpha < few) & np.ones_like(by, dtype=bool)
    if is_few.any():
        some = np.broadcast_to(a, drawn.shape)[is_few]
        drawn[is_few] = gammaincinv(some, np.broadcast_to(by, drawn.shape)[is_few])
    drawn = np.maximum(drawn, 1e-300)
    return np.asarray(drawn / drawn.sum(-1, keepdims=True))
