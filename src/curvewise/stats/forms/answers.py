"""Forms that were fitted: to many curves, or to one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats._curve.runs import Unit, scale_of
from curvewise.stats._sample import Floats
from curvewise.stats.forms.form import Design, Form

__all__ = ["FittedForm", "FittedForms"]

# The noise of a mean is at least .0003 (of the mean error, for losses): few sizes are
# often met to the last digit by luck, which is no reason to believe a form for sure.
_LEAST_VARIANCE = 1e-7
_HIGHEST = {"fraction": 1.0, "percent": 100.0, "loss": np.inf}


@dataclass(frozen=True, slots=True, eq=False)
class FittedForms:
    """One form, fitted to many curves. Everything is in the unit of the errors.

    Parameters
    ----------
    form : Form
    sizes : ndarray, shape (size,)
        Increasing.
    means : ndarray, shape (curve, size)
        What was fitted.
    weights : ndarray, shape (curve, size) or (1, size)
    unit : {"fraction", "percent", "loss"}
    is_fitted : ndarray of bool, shape (curve,)
        False where there is no curve to fit: its numbers are NaN.
    cost : ndarray, shape (curve,)
        The weighted sum of squares that is left. For LAST1, that of each error less the
        one before, times size/(size - 1).
    concerns : tuple of str
        What may be wrong.
    """

    form: Form
    sizes: Floats
    means: Floats
    weights: Floats
    unit: Unit
    is_fitted: NDArray[np.bool_]
    cost: Floats
    concerns: tuple[str, ...]
    _design: Design
    _shape: Floats
    _offset: Floats
    _amplitude: Floats

    def error(self, n: ArrayLike) -> Floats:
        """Return the error of each curve at sizes: shape (curve, n).

        No form is believed below 0, or above all that an error can be. Infinity is a
        size, too: the asymptote.
        """
        try:
            at = np.asarray(n, dtype=np.float64)
        except (TypeError, ValueError):
            at = np.array(np.nan)
        if not (at > 0).all():
            raise CurvewiseError(
                f"n is {n!r}. Pass numbers of training examples.", argument="n", value=n
            )
        t = np.atleast_1d(at).ravel() / self._design.top
        shape = [k[:, None] for k in self._shape]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            phi = self.form.basis(t[None, :], shape, self._design)
            # A curve that is flat stays so, where phi is infinite.
            b = self._amplitude[:, None]
            found = self._offset[:, None] + np.where(b == 0, 0.0, b * phi)
        return np.clip(found, 0, _HIGHEST[self.unit])

    def curve(self, i: int) -> "FittedForms":
        """Return one curve, as a batch of one."""
        own = slice(i, i + 1)
        return replace(
            self,
            means=self.means[own],
            weights=self.weights if len(self.weights) == 1 else self.weights[own],
            is_fitted=self.is_fitted[own],
            cost=self.cost[own],
            concerns=() if self.is_fitted[i] else self.concerns,
            _shape=self._shape[:, own],
            _offset=self._offset[own],
            _amplitude=self._amplitude[own],
        )

    @property
    def asymptote(self) -> Floats:
        """The error of each curve where sizes grow without end."""
        return self.error([np.inf])[:, 0]

    @property
    def parameters(self) -> Mapping[str, Floats]:
        """The parameters of the formula by name, one number for each curve."""
        shape = list(self._shape)
        with np.errstate(over="ignore"):
            values = self.form.natural(
                self._offset, self._amplitude, shape, self._design
            )
        return dict(zip(self.form.parameters, values, strict=True))

    @property
    def is_flat(self) -> NDArray[np.bool_]:
        """Whether the best curve of the form does not change with size."""
        first, last = self.error([self.sizes[0], self.sizes[-1]]).T
        same: NDArray[np.bool_] = np.abs(first - last) <= 1e-12 * np.abs(last)
        return same & self.is_fitted

    @property
    def log_likelihood(self) -> Floats:
        """That of normal noise of unknown size at each mean, for errors as fractions."""
        total, count = self._totals
        scale = np.full(len(total), scale_of(self.unit))
        if self.unit == "loss":
            used = np.where(self.weights > 0, self.means, 0.0)
            scale = used.sum(axis=1) / count
        scale = np.where(scale > 0, scale, 1.0)
        # Twice by the scale, since the square of a tiny or a huge one is no number.
        variance = self.cost / total / scale / scale + _LEAST_VARIANCE
        found: Floats = -0.5 * count * (np.log(2 * np.pi * variance) + 1)
        return found

    @property
    def aic(self) -> Floats:
        """Akaike's criterion for few sizes (AICc): smaller is better.

        ``-2 log L + 2k + 2k(k + 1)/(sizes - k - 1)``, with k the parameters and the
        noise. The last divisor is kept at 1 where there are too few sizes for it, so that
        forms of many parameters are punished there, not forbidden.
        """
        _, count = self._totals
        k = self.form.size + 1
        spare = np.maximum(count - k - 1, 1)
        return -2 * self.log_likelihood + 2 * k + 2 * k * (k + 1) / spare

    @property
    def _totals(self) -> tuple[Floats, Floats]:
        w = np.broadcast_to(self.weights, self.means.shape)
        return w.sum(axis=1), (w > 0).sum(axis=1).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class FittedForm:
    """A form, fitted to one curve. Everything is in the unit of the errors.

    Parameters
    ----------
    fits : FittedForms
        The same as a batch of one.
    concerns : tuple of str
        What may be wrong.
    """

    fits: FittedForms
    concerns: tuple[str, ...]

    @property
    def form(self) -> Form:
        """The form."""
        return self.fits.form

    @property
    def sizes(self) -> Floats:
        """The sizes that were observed, increasing."""
        return self.fits.sizes

    @property
    def means(self) -> Floats:
        """The mean errors at those sizes."""
        found: Floats = self.fits.means[0]
        return found

    def error(self, n: ArrayLike) -> Floats:
        """Return the error at sizes; infinity is one, too."""
        found: Floats = self.fits.error(n)[0]
        return found

    @property
    def asymptote(self) -> float:
        """The error where sizes grow without end."""
        return float(self.fits.asymptote[0])

    @property
    def parameters(self) -> Mapping[str, float]:
        """The parameters of the formula by name."""
        return {name: float(v[0]) for name, v in self.fits.parameters.items()}

    @property
    def cost(self) -> float:
        """The weighted sum of squares that is left."""
        return float(self.fits.cost[0])

    @property
    def log_likelihood(self) -> float:
        """That of normal noise of unknown size at each mean, for errors as fractions."""
        return float(self.fits.log_likelihood[0])

    @property
    def aic(self) -> float:
        """Akaike's criterion for few sizes: smaller is better."""
        return float(self.fits.aic[0])
