"""Lines of several algorithms on the same steps: what every test of curves takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, Phrase, listed
from curvewise.stats._sample import Floats
from curvewise.stats._student import unit_of

LARGEST = 1e140  # a value, so that sums of squares of millions are finite
EPS = float(np.finfo(np.float64).eps)
SCORE = 2 * EPS  # what a score may be off for having been rounded, as a share of it


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Lines, algorithm after algorithm.

    Parameters
    ----------
    names : tuple of str
        The algorithms.
    values : ndarray, shape (line, step)
        The lines of the first algorithm, then those of the second, and so on.
    sizes : tuple of int
        How many lines each algorithm has.
    """

    names: tuple[str, ...]
    values: Floats
    sizes: tuple[int, ...]

    @property
    def slices(self) -> tuple[slice, ...]:
        """Where the lines of each algorithm are."""
        ends = np.cumsum((0, *self.sizes)).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @property
    def groups(self) -> list[Floats]:
        """The lines of each algorithm, shape (line, step) each."""
        return [self.values[s] for s in self.slices]

    def with_values(self, values: Floats) -> "Design":
        """Return the same design with other lines."""
        return Design(self.names, values, self.sizes)

    def of(self, algorithms: Sequence[int]) -> "Design":
        """Return the lines of some algorithms, by place."""
        groups = self.groups
        return Design(
            tuple(self.names[i] for i in algorithms),
            np.concatenate([groups[i] for i in algorithms]),
            tuple(self.sizes[i] for i in algorithms),
        )


LinesLike: TypeAlias = (
    Design | Mapping[str, ArrayLike] | Sequence[ArrayLike] | ArrayLike
)


def checked_lines(
    lines: LinesLike, *, least_steps: int = 2, least_lines: int = 1
) -> Design:
    """Return lines as a design; refuse what no test of curves can be asked about.

    Parameters
    ----------
    lines : mapping of str to array, or sequence of arrays, each of shape (line, step)
    least_steps : int
        How many steps the question takes.
    least_lines : int
        How many lines of each algorithm the question takes.
    """
    names, arrays = _named(lines)
    tables = [checked_table(*own) for own in zip(names, arrays, strict=True)]
    if len(tables) < 2:
        raise CurvewiseError(
            f"Lines of {len(tables)} algorithm came. Pass those of two or more, as a "
            f"mapping from names to arrays of shape (line, step)."
        )
    steps = {name: table.shape[1] for name, table in zip(names, tables, strict=True)}
    if len(set(steps.values())) > 1:
        told = ", ".join(f"'{name}' {n}" for name, n in list(steps.items())[:8])
        raise CurvewiseError(
            f"The lines have different numbers of steps: {told}. Bring them on "
            "common steps first, as ",
            Phrase("Trials.lines(metric, grid=..., fill=...)"),
            " does.",
        )
    k, sizes = steps[names[0]], tuple(len(table) for table in tables)
    if k < least_steps:
        raise CurvewiseError(
            f"The lines have {k} step, and a curve has two or more. Compare single scores "
            f"with performance(...)."
        )
    if max(sizes) < 2:
        raise CurvewiseError(
            f"Each of {len(tables)} algorithms has one line, so that nothing tells an "
            f"algorithm from chance. Pass several lines (runs, seeds) of each."
        )
    if min(sizes) < least_lines:
        few = [n for n, size in zip(names, sizes, strict=True) if size < least_lines]
        raise CurvewiseError(
            f"{listed(few)}: {min(sizes)} line, where the noise of each algorithm has to "
            f"be seen in {least_lines} lines or more. Run it again with other seeds."
        )
    return Design(names, np.concatenate(tables), sizes)


def _named(lines: Any) -> tuple[tuple[str, ...], list[Any]]:
    if isinstance(lines, Design):
        return lines.names, list(lines.groups)
    if isinstance(lines, Mapping):
        names = tuple(str(name) for name in lines)
        if twice := {name for name in names if names.count(name) > 1}:
            raise CurvewiseError(
                f"Two algorithms are called {listed(twice)}. Give each a name of its own."
            )
        return names, list(lines.values())
    try:
        arrays = list(lines)
    except TypeError:
        raise CurvewiseError(
            f"Lines are {type(lines).__name__}. Pass a mapping from names to arrays of "
            f"shape (line, step), or a list of such arrays."
        ) from None
    return tuple(str(i + 1) for i in range(len(arrays))), arrays


def checked_table(name: str, values: Any) -> Floats:
    """Return the lines of one algorithm; refuse what is no table of finite numbers."""
    try:
        raw = np.asarray(values)
        if isinstance(values, np.ma.MaskedArray) or raw.dtype.kind not in "biufO":
            raise TypeError
        table = raw.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise CurvewiseError(
            f"The lines of '{name}' are no table of numbers. Pass an array of shape "
            f"(line, step), every line on the same steps."
        ) from None
    if table.ndim != 2 or 0 in table.shape:
        raise CurvewiseError(
            f"The lines of '{name}' have shape {table.shape}. Pass (line, step)."
        )
    if not np.isfinite(table).all():
        line, step = np.argwhere(~np.isfinite(table))[0]
        raise CurvewiseError(
            f"{(~np.isfinite(table)).sum()} values of '{name}' are not finite, the "
            f"first in line {line}, step {step}. Give failed runs a score and fill "
            "gaps, as ",
            Phrase("Trials.lines(metric, fill=..., failed=...)"),
            " does.",
        )
    if np.abs(table).max() > LARGEST:
        raise CurvewiseError(
            f"Values of '{name}' are beyond {LARGEST:g}, where squares overflow. Pass "
            f"smaller ones, such as their logarithms."
        )
    return table


def relative(design: Design) -> tuple[Design, float]:
    """Return lines less a middle one, step by step, in a unit that keeps squares finite.

    Tests compare lines with lines: what is common to all lines at a step has no part in
    them. It is taken away first, which is exact for numbers close to each other, before
    sums and squares could drown small differences in a large origin. What is left of a
    score that all share is 0, not rounding. The unit is a power of two.
    """
    raw = design.values / unit_of(design.values)
    # A value that is there, in the middle: a diverged line costs the others no digits.
    middle = np.sort(raw, axis=0)[(len(raw) - 1) // 2]
    values = raw - middle
    # All or none: a line that is close to the middle by chance keeps its distance.
    is_one = (np.abs(values) <= 2 * SCORE * np.abs(middle)).all(axis=0)
    values[:, is_one] = 0.0
    spread = unit_of(values)
    unit = unit_of(design.values) * spread
    return design.with_values(values / spread), unit


def line_means(design: Design) -> Design:
    """Return each line's mean: all that an Algorithm effect shows in. One step is left."""
    return design.with_values(design.values.mean(axis=1, keepdims=True))


def centred(design: Design) -> Design:
    """Return lines less their own means: all that an Interaction shows in."""
    values = design.values
    return design.with_values(values - values.mean(axis=1, keepdims=True))


def compact(values: Floats) -> Floats:
    """Return lines in coordinates of which there are no more than lines, shape (line, d).

    All inner products between lines are kept, and with them every sum of squares over
    all steps; long curves cost no more than short ones.
    """
    n, k = values.shape
    if k <= n:
        return values
    triangle = np.asarray(np.linalg.qr(values.T, mode="r"))
    return triangle.T


def residuals(design: Design) -> Floats:
    """Return lines less the mean line of their algorithm, shape (line, step)."""
    return np.concatenate([g - g.mean(axis=0) for g in design.groups])
