"""Curves and their stretched copies: samples of both, and the two F between them."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.stats._sample import Floats
from curvewise.stats._student import unit_of
from curvewise.stats.anova._lines.designs import checked_lines, compact

Indices: TypeAlias = NDArray[np.int64]


class Pool:
    """Lines in coordinates: the mean, then the rest, as many as there are lines at most.

    Parameters
    ----------
    lines : array_like, shape (line, step)
    disjoint : bool
        Whether no draw has a line and its copy.
    """

    def __init__(self, lines: ArrayLike, disjoint: bool) -> None:
        values = checked_lines([lines, lines]).groups[0]
        values = values / unit_of(values)
        self.lines, self.steps = values.shape
        self.disjoint = disjoint
        means = values.mean(axis=1, keepdims=True)
        shapes = compact(values - means)
        self.values: Floats = np.hstack([math.sqrt(self.steps) * means, shapes])

    def mixed(self, draws: int, size: int, rng: np.random.Generator) -> Indices:
        """Return two samples from lines and copies together, shape (draw, 2 size)."""
        if not self.disjoint:
            return _drawn(draws, 2 * self.lines, (size, size), rng)
        chosen = _drawn(draws, self.lines, (size, size), rng)
        chosen += self.lines * rng.integers(0, 2, chosen.shape)
        return chosen

    def apart(self, draws: int, size: int, rng: np.random.Generator) -> Indices:
        """Return a sample of the lines and one of the copies, shape (draw, 2 size)."""
        if self.disjoint:
            chosen = _drawn(draws, self.lines, (size, size), rng)
        else:
            own = [_drawn(draws, self.lines, (size,), rng) for _ in range(2)]
            chosen = np.concatenate(own, axis=1)
        chosen[:, size:] += self.lines
        return chosen


def _drawn(
    draws: int, n: int, sizes: tuple[int, ...], rng: np.random.Generator
) -> Indices:
    """Return samples without replacement from n, one after the other in each row."""
    ends = np.cumsum(sizes)
    cuts = np.minimum(ends, n - 1)
    # The smallest of random keys are a random sample; nothing needs to be sorted.
    order = np.argpartition(rng.random((draws, n)), cuts, axis=1)
    return order[:, : ends[-1]]


def both_f(both: Floats, index: Indices, steps: int) -> Floats:
    """Return both F of the two-way table for each draw, shape (effect, draw)."""
    size = index.shape[1] // 2
    weights = np.zeros((2, len(index), len(both)))
    rows = np.arange(len(index))[:, None]
    weights[0][rows, index[:, :size]] = 1.0
    weights[1][rows, index[:, size:]] = 1.0
    means = weights @ both / size
    within = (weights @ (both**2).sum(axis=1)).sum(axis=0)
    within = within - size * (means**2).sum(axis=(0, 2))
    error = np.maximum(within, np.finfo(float).tiny) / (2 * steps * (size - 1))
    effects = (means[0] - means[1]) ** 2 * (size / 2)
    interaction = effects[:, 1:].sum(axis=1) / (steps - 1)
    found: Floats = np.stack([effects[:, 0], interaction]) / error
    return found
