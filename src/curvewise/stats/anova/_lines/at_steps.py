"""Lines at the steps or in the windows where they are tested, ready to be flipped."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats
from curvewise.stats.anova._lines.apart import apart, step_units
from curvewise.stats.anova._lines.designs import Design, LinesLike, checked_lines
from curvewise.stats.anova._lines.edges import averaged, checked_edges
from curvewise.stats.anova._lines.flips import (
    FEWEST,
    Residuals,
    batches,
    random_signs,
)
from curvewise.stats.anova._lines.welch import welch_f

_AT_ONCE = 1 << 16  # floats of a batch: half a MB each, so that work stays in the cache


@dataclass(frozen=True, slots=True, eq=False)
class AtSteps:
    """Lines where they are tested.

    Parameters
    ----------
    design : Design
        Lines less the mean line of their algorithm, in units; what is rounding is 0.
    steps, first, last : ndarray, shape (window,)
        The mean, the first and the last step of each window.
    unit : ndarray, shape (window,)
        Powers of two, so that no digit is lost.
    means : ndarray, shape (algorithm, window)
        Less something that is common to all, in units.
    """

    design: Design
    steps: Floats
    first: Floats
    last: Floats
    unit: Floats
    means: Floats

    @property
    def sizes(self) -> Floats:
        """How many lines each algorithm has."""
        return np.array(self.design.sizes, dtype=np.float64)

    def residuals(self) -> Residuals:
        """Return what is to be flipped, in units."""
        return Residuals(self.design)


def lines_at(lines: LinesLike, steps: Any, windows: Any, what: str) -> AtSteps:
    """Return lines where they are tested; refuse those that flips cannot judge.

    Parameters
    ----------
    lines : LinesLike
    steps : array_like, shape (step,), or None
        The training behind each step; None are places.
    windows : int, sequence of int or None
        None takes each step by itself.
    what : str
        What needs the flips, for the message.
    """
    design = checked_lines(lines)
    few = {n: s for n, s in zip(design.names, design.sizes, strict=True) if s < FEWEST}
    if few:
        told = ", ".join(f"'{name}' has {size}" for name, size in few.items())
        raise CurvewiseError(
            f"{what} takes {FEWEST} lines or more of each algorithm, and {told}: flipping "
            f"the signs of so few tells nothing about chance. Run more seeds, or ask "
            f"randomized_anova whether the curves differ at all."
        )
    k = design.values.shape[1]
    at, own = checked_steps(steps, k), apart(design)
    if windows is None:
        first = last = middle = at
    else:
        edges = checked_edges(k, windows)
        own = own.averaged(lambda values: averaged(values, edges))
        first, last = at[edges[:-1]], at[edges[1:] - 1]
        middle = averaged(at[None], edges)[0]
    # Each step has a unit of its own: every statistic is of one step at a time, and one
    # unit for all would drown small scores in the rounding of large ones.
    unit = step_units(own.largest)
    own = own.over(unit)
    rest = design.with_values(own.residuals)
    return AtSteps(rest, middle, first, last, unit, own.means)


def flipped_f(
    tested: AtSteps, flips: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield Welch's F of flipped residual lines, batches of shape (window, draw).

    Each draw flips whole lines, and its variances are its own. The same generator gives
    the same flips, whatever is made of them.
    """
    ready = tested.residuals()
    # The size of a batch depends on the design alone.
    wide = ready.width * max((1 << 22) // _AT_ONCE, 1)
    for now in batches(flips, wide):
        signs = random_signs(now, ready.lines, rng)
        if len(tested.sizes) == 2:
            yield _two(ready, signs, *tested.design.slices)
        else:
            means, variances = ready.flipped(signs)
            f, _ = welch_f(means, variances, tested.sizes)
            yield np.ascontiguousarray(f.T)


def _two(ready: Residuals, signs: Floats, one: slice, other: slice) -> Floats:
    r"""Return t squared: the same F, in fewer passes over the draws.

    With :math:`x, y` the means of a flip,
    :math:`se^2 = \sum_i Q_i / (l_i (l_i - 1)) - x^2 / (l_1 - 1) - y^2 / (l_2 - 1)`.
    """
    (a, b), (n, m) = ready.groups, ready.sizes
    x: Floats = (a / n).T @ signs[:, one].T
    y: Floats = (b / m).T @ signs[:, other].T
    full = ready.squares[0] / (n * (n - 1)) + ready.squares[1] / (m * (m - 1))
    full = full[:, None]
    t: Floats = x - y
    t *= t
    x *= x
    x *= 1 / (n - 1)
    y *= y
    y *= 1 / (m - 1)
    x += y
    np.subtract(full, x, out=x)
    # Where no line varies this is 0/tiny, which is 0.
    np.maximum(x, np.maximum(1e-20 * full, np.finfo(np.float64).tiny), out=x)
    t /= x
    return t


def observed_f(tested: AtSteps) -> Floats:
    """Return Welch's F of the lines as they came, shape (window,).

    Infinite where no algorithm varies and their scores differ; 0 where all are one score.
    """
    ready = tested.residuals()
    f, _ = welch_f(tested.means, ready.observed_variances(), tested.sizes)
    differ = np.ptp(tested.means, axis=0) > 0
    return np.where(ready.squares.sum(axis=0) > 0, f, np.where(differ, np.inf, 0.0))


def checked_steps(steps: ArrayLike | None, k: int) -> Floats:
    """Return the training behind each step; places where nothing is given."""
    if steps is None:
        return np.arange(k, dtype=np.float64)
    try:
        at = np.asarray(steps)
        at = at.astype(np.float64) if at.dtype.kind in "iufO" else np.array(np.nan)
    except (TypeError, ValueError):
        at = np.array(np.nan)
    if at.shape != (k,) or not np.isfinite(at).all() or not (np.diff(at) > 0).all():
        raise CurvewiseError(
            f"steps is {steps!r}. Pass {k} ascending numbers, one for each step of the "
            f"lines.",
            argument="steps",
            value=steps,
        )
    return at
