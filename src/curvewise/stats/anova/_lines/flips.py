"""Sign flips of whole residual lines: chance as each algorithm shows it, noise unequal."""

from collections.abc import Iterator

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.anova._lines.designs import Design, residuals
from curvewise.stats.anova._lines.welch import floored

FEWEST = 4  # lines of an algorithm: flips of two or three reach no level
BATCH = 1 << 22  # floats that a batch of draws may take, 32 MB


def batches(draws: int, width: int) -> Iterator[int]:
    """Yield how many draws to make at a time, if each takes `width` floats."""
    most = max(BATCH // max(width, 1), 1)
    while draws > 0:
        now = min(draws, most)
        draws -= now
        yield now


def random_signs(draws: int, lines: int, rng: np.random.Generator) -> Floats:
    """Return fair signs, shape (draw, line)."""
    bits = rng.integers(0, 256, (draws, -(-lines // 8)), dtype=np.uint8)
    signs = np.unpackbits(bits, axis=1, count=lines).astype(np.float64)
    signs *= 2
    signs -= 1
    return signs


class Residuals:
    r"""Residual lines of a design, ready to be flipped.

    Flipping does not change sums of squares, so that means are all that a flip costs:
    :math:`s_i^{*2} = (Q_i - l_i \bar x_i^{*2}) / (l_i - 1)`, step by step.
    """

    def __init__(self, design: Design) -> None:
        values = residuals(design)
        self.groups = [values[s] for s in design.slices]
        self.sizes = np.array(design.sizes, dtype=np.float64)
        self.squares = np.stack([(g**2).sum(axis=0) for g in self.groups])
        self.whole = self.squares.sum(axis=0) / max(len(values) - 1, 1)
        self.lines = len(values)
        self.width = max(values.shape[1] * len(self.groups), self.lines)
        self._slices = design.slices

    def flipped(self, signs: Floats) -> tuple[Floats, Floats]:
        """Return means and variances under each flip, shape (algorithm, draw, step)."""
        means = np.stack([
            signs[:, s] @ g / len(g)
            for s, g in zip(self._slices, self.groups, strict=True)
        ])  # fmt: skip
        sizes = self.sizes[:, None, None]
        spread = (self.squares[:, None] - sizes * means**2) / (sizes - 1)
        return means, floored(spread, self.whole)

    def observed_variances(self) -> Floats:
        """Return the variances of the lines as they came, shape (algorithm, step)."""
        return floored(self.squares / (self.sizes[:, None] - 1), self.whole)
