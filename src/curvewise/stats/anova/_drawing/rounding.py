r"""How far rounding may put apart statistics of draws that are the same.

The r of `draws.least`, for what is judged over all lines and steps at once.

What is within algorithms is found as a difference of sums of squares, so that rounding of
the whole T is all in W: relative to it, an error of a few units in the last place is
:math:`T / W` times as large. Scores may have been rounded before, by `grain` each, which
changes W by no more than :math:`2 g \sqrt{N k W}`. Hence, for N lines of k steps,

.. math:: r = 4 N \epsilon \frac{T}{W} + 2 g \sqrt{\frac{N k}{W}}

in units of what is within. Of deals that are the same, with 4 to 90 lines and effects up
to 1e5 times the noise, none was put apart by more than an eighth of it.
"""

from typing import Literal, TypeAlias

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.anova._drawing.statistics import NONE, Split, residual_parts
from curvewise.stats.anova._lines.designs import EPS

Statistic: TypeAlias = Literal["joint", "plain", "studentised"]
_NOTHING = 1e-200  # in place of a whole of 0, so that ratios stay finite
# Where noise is hardly larger than what scores were rounded to, they are taken as they
# are: all that may have been tied before would be too much.
_COARSEST = 0.1


def of_deals(lines: Split, statistic: Statistic) -> tuple[Floats, Floats]:
    """Return the rounding of both effects at the deal as it came, shape (data set,)."""
    whole = (lines.means**2).sum(axis=1), (lines.shapes**2).sum(axis=(1, 2))
    means, shapes = _within(lines)
    if statistic == "joint":
        every = whole[0] + whole[1]
        both = _rounding(lines, every, means.sum(axis=1) + shapes.sum(axis=1))
        return both, both
    if statistic == "plain":
        within = means.sum(axis=1), shapes.sum(axis=1)
    else:
        sizes = np.array(lines.sizes, dtype=np.float64)
        weights = 1 / (sizes * (sizes - 1))
        # Welch's F compares means: of two, the noisier one decides. Only if two are
        # without noise is the noise of their difference all rounding.
        second = np.sort(means * weights, axis=1)[:, 1]
        within = second / weights.max(), (shapes * weights).sum(axis=1) / weights.sum()
    return _rounding(lines, whole[0], within[0]), _rounding(lines, whole[1], within[1])


def of_flips(lines: Split, algorithm: Floats, shape: Floats) -> tuple[Floats, Floats]:
    """Return the same for flips, of which only those as large as what was observed count.

    Flips keep sums of squares, so that the within of such a flip is known.
    """
    means, shapes = (part.sum(axis=1) for part in _within(lines))
    return (
        _rounding(lines, means, means / (1 + algorithm)),
        _rounding(lines, shapes, shapes / (1 + shape)),
    )


def _within(lines: Split) -> tuple[Floats, Floats]:
    """Return sums of squares within each algorithm, shape (data set, algorithm) each."""
    starts = np.cumsum((0, *lines.sizes[:-1]))
    x, shapes = residual_parts(lines)
    return (
        np.add.reduceat(x**2, starts, axis=1),
        np.add.reduceat((shapes**2).sum(axis=1), starts, axis=1),
    )


def _rounding(lines: Split, total: Floats, within: Floats) -> Floats:
    total = np.maximum(total, _NOTHING)
    within = np.maximum(within, NONE * total)
    n = lines.means.shape[1]
    before = 2 * lines.grain * np.sqrt(n * lines.steps / within)
    rounding: Floats = 4 * n * EPS * total / within
    rounding += np.minimum(before, _COARSEST)
    return rounding
