"""What both methods start from: means, counts and squares of many curves, in blocks."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.stats._sample import Floats
from curvewise.stats.powerlaw._mixture import Mixture

Method: TypeAlias = Literal["calibrated", "paper"]
METHODS = ("calibrated", "paper")
Weights: TypeAlias = Literal["efficient", "per_size", "equal"]
WEIGHTS = ("efficient", "per_size", "equal")
Terms: TypeAlias = Literal["power", "linear", "quadratic", "full"]
TERMS = ("power", "linear", "quadratic", "full")

# Constants of Hoiem et al. (2021). The floor is in percent^2 there: 0.02e-4 of a
# fraction. Left at 0.02 among fractions it would drown all errors, and the exponent
# would silently be -0.5. The penalty is on a sum of squares in units of the noise, which
# has no unit.
PAPER_FLOOR = 0.02e-4
PENALTY = 5.0
THEORY = -0.5


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Curves on common sizes.

    Parameters
    ----------
    sizes : ndarray, shape (size,)
        Increasing.
    means, counts : ndarray, shape (curve, size)
        The mean error, and how many runs it is of.
    squares, freedom : ndarray, shape (curve, size)
        The sum of squared distances of the runs from their mean, and its degrees of
        freedom: one less than the runs, 0 where the squares are not known.
    shift : ndarray, shape (curve,), optional
        The variance of what all means of a curve share; it is in none of the squares.
    """

    sizes: Floats
    means: Floats
    counts: Floats
    squares: Floats
    freedom: Floats
    shift: Floats | None = None

    @property
    def scaled(self) -> Floats:
        """Sizes in units of the largest: their powers neither overflow nor vanish."""
        return np.asarray(self.sizes / self.sizes[-1])

    @property
    def freedom_within(self) -> Floats:
        """Degrees of freedom between runs of one size, shape (curve,)."""
        return np.asarray(self.freedom.sum(axis=1))

    @property
    def known(self) -> Floats:
        """How many numbers speak of each curve, shape (curve,)."""
        return len(self.sizes) + self.freedom_within

    def __getitem__(self, rows: slice | NDArray[np.bool_]) -> "Observed":
        return Observed(
            self.sizes,
            self.means[rows],
            self.counts[rows],
            self.squares[rows],
            self.freedom[rows],
            None if self.shift is None else self.shift[rows],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Fitted curves.

    Parameters
    ----------
    gamma, cost : ndarray, shape (curve,)
        The best exponent, and the sum of squares of the means around its curve, in units
        of their noise.
    theta : ndarray, shape (curve, parameter)
        alpha, eta (and delta) on sizes in units of the largest.
    floor, slope : ndarray, shape (curve,)
        The variance of a run at size n is floor + slope / n.
    weights : ndarray, shape (curve, size)
        Of the means, in the fit.
    mixture : Mixture
    """

    gamma: Floats
    cost: Floats
    theta: Floats
    floor: Floats
    slope: Floats
    weights: Floats
    mixture: Mixture


def gammas_for(terms: Terms, method: Method) -> Floats:
    """Return the exponents that are tried."""
    if terms in ("linear", "quadratic"):
        return np.array([THEORY])
    # Theory knows (-1, 0), and so does the paper; some real curves fall faster.
    steepest = 99 if method == "paper" else 200
    return np.arange(-steepest, 0) / 100


def parameters_of(terms: Terms) -> int:
    """Return how many parameters there are beside the exponent."""
    return 3 if terms in ("quadratic", "full") else 2
