"""What a form of a learning curve is: one line of the catalogue."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from curvewise.stats._sample import Floats

__all__ = ["Design", "Form"]

Solves: TypeAlias = Literal["both", "amplitude", "offset", "last"]


@dataclass(frozen=True, slots=True)
class Design:
    """Where a curve was observed.

    Parameters
    ----------
    low : float
        The smallest size divided by the largest.
    top : float
        The largest size. Grids and shapes may use it only where the formula itself
        depends on the unit of size.
    may_rise : bool
        Whether the error may increase with size.
    """

    low: float
    top: float
    may_rise: bool = False


# (design) -> the values of each shape parameter that are tried, in its own coordinate
Axes: TypeAlias = Callable[[Design], tuple[Floats, ...]]
# (relative sizes, shape parameters, design) -> phi, by broadcasting
Basis: TypeAlias = Callable[[Floats, Sequence[Floats], Design], Floats]
# (c, b, shape parameters, design) -> the parameters of the formula
Natural: TypeAlias = Callable[
    [Floats, Floats, Sequence[Floats], Design], tuple[Floats, ...]
]


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A form of a learning curve, e = c + b phi(n), linear in c and b.

    Parameters
    ----------
    name : str
        As in the literature: letters, then the number of parameters.
    parameters : tuple of str
        As they are called in the formula.
    formula : str
        The error at size n.
    axes, basis, natural : callable
        The grid of shape parameters, phi, and the way back to the formula. All see sizes
        divided by the largest one, so that the unit of size does not matter.
    solves : {"both", "amplitude", "offset", "last"}
        What is linear: c and b; b alone (c is 0); c alone (b is -1); or nothing, since
        the last value is repeated.
    aliases : tuple of str
        Other names.
    is_unit_free : bool
        Whether thousands of examples give the same curve as examples.
    only_interpolates : bool
        Whether the formula leaves 0 to 1 for large n, so that it says nothing there.
    may_fall_only : bool
        Whether b stays at least 0 even where errors may rise.
    """

    name: str
    parameters: tuple[str, ...]
    formula: str
    axes: Axes
    basis: Basis
    natural: Natural
    solves: Solves = "both"
    aliases: tuple[str, ...] = ()
    is_unit_free: bool = True
    only_interpolates: bool = False
    may_fall_only: bool = False

    def __repr__(self) -> str:
        return f"Form({self.name}: {self.formula})"

    @property
    def size(self) -> int:
        """The number of parameters."""
        return len(self.parameters)

    def shapes(self, relative: Floats, design: Design) -> tuple[Floats, Floats]:
        """Return the grid and its basis.

        Parameters
        ----------
        relative : ndarray, shape (size,)
            Sizes divided by the largest one.
        design : forms.Design

        Returns
        -------
        ndarray, shape (shape parameter, shape)
        ndarray, shape (shape, size)
        """
        mesh = np.meshgrid(*self.axes(design), indexing="ij")
        # Nothing to search is one shape, too.
        grid = np.stack([m.ravel() for m in mesh]) if mesh else np.zeros((0, 1))
        columns = [g[:, None] for g in grid]
        basis = self.basis(relative[None, :], columns, design)
        return grid, np.broadcast_to(basis, (grid.shape[1], len(relative)))
