"""Power laws of thousands of curves at once, and what they say."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import Unit, scale_of
from curvewise.stats._sample import Floats, checked_confidence
from curvewise.stats.powerlaw import _region
from curvewise.stats.powerlaw._build import (
    Asked,
    fit_curves,
    in_blocks,
    one_law,
)
from curvewise.stats.powerlaw._checks import (
    bounds_of,
    checked_places,
    checked_probabilities,
)
from curvewise.stats.powerlaw._data import Fitted, Method, Observed, Terms, Weights
from curvewise.stats.powerlaw.curve import PowerLaw

__all__ = ["PowerLaws"]


@dataclass(frozen=True, slots=True, eq=False)
class PowerLaws:
    """Power laws of many curves on common sizes, made by `fit_power_laws`.

    Parameters
    ----------
    alpha, eta, delta, gamma, e_N, beta_N, r_squared : ndarray, shape (curve,)
        As in `PowerLaw`; NaN where a curve could not be fitted.
    cost : ndarray, shape (curve,)
        Sum of squares of the means around the curve, as the fit weights them.
    is_fitted : ndarray of bool, shape (curve,)
        Whether there was a curve at all.
    size : float
        The reference size.
    unit, method, weights, terms : str
    """

    alpha: Floats
    eta: Floats
    delta: Floats
    gamma: Floats
    e_N: Floats  # noqa: N815  the paper's letters
    beta_N: Floats  # noqa: N815
    cost: Floats
    r_squared: Floats
    is_fitted: NDArray[np.bool_]
    size: float
    unit: Unit
    method: Method
    weights: Weights
    terms: Terms
    _seen: Observed
    _floor: float | None

    def __len__(self) -> int:
        return len(self.alpha)

    @property
    def sizes(self) -> Floats:
        """The sizes that all curves share."""
        return self._seen.sizes

    def error(self, n: ArrayLike) -> Floats:
        """Return the error of each curve at sizes n, shape (curve, n)."""
        x = checked_places(n) ** self.gamma[:, None]
        value = self.alpha[:, None] + self.eta[:, None] * x + self.delta[:, None] * x**2
        return np.clip(value, *bounds_of(self.unit))

    def quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of the mean error at sizes n, shape (curve, p, n)."""
        at, levels = checked_places(n), checked_probabilities(p)
        found = np.full((len(self), len(levels), len(at)), np.nan)
        for rows in self._blocks():
            known = self._fit(rows).mixture
            found[rows] = known.quantile(levels, *known.errors(at))
        found = np.where(self.is_fitted[:, None, None], found, np.nan)
        return np.clip(scale_of(self.unit) * found, *bounds_of(self.unit))

    def interval(self, n: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return lower and upper ends at sizes n, each of shape (curve, n)."""
        checked_confidence(confidence)
        tail = (1 - confidence) / 2
        ends = self.quantile([tail, 1 - tail], n)
        return ends[:, 0], ends[:, 1]

    def band(self, n: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return ends that hold at all sizes at once, as `PowerLaw.band`, (curve, n)."""
        checked_confidence(confidence)
        at = checked_places(n)
        found = np.full((2, len(self), len(at)), np.nan)
        for rows in self._blocks():
            known = self._fit(rows).mixture
            left = _region.freedom_left(known)
            found[:, rows] = _region.envelope(known, at, confidence, left)
        found[:, ~self.is_fitted] = np.nan
        low, high = np.clip(scale_of(self.unit) * found, *bounds_of(self.unit))
        return low, high

    def curve(self, i: int) -> PowerLaw:
        """Return one of the curves by itself."""
        if not self.is_fitted[i]:
            raise CurvewiseError(f"Curve {i} could not be fitted. Look at its errors.")
        i = range(len(self))[i]
        rows = slice(i, i + 1)
        return one_law(self._seen[rows], self._fit(rows), self._asked)

    def _fit(self, rows: slice) -> Fitted:
        return fit_curves(self._seen[rows], self._asked)

    @property
    def _asked(self) -> Asked:
        told = (self.method, self.weights, self.terms, self.unit)
        return Asked(*told, self._floor, self.size)

    def _blocks(self) -> Iterator[slice]:
        return in_blocks(len(self))
