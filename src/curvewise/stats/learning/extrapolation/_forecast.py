"""From means at sizes to predictions, and to what their uncertainty is made of."""

from dataclasses import dataclass, replace

import numpy as np

from curvewise.stats._sample import Floats
from curvewise.stats.learning.extrapolation._average import (
    Average,
    basis,
    fit_average,
)
from curvewise.stats.learning.extrapolation._weights import (
    guessed_squares,
    size_weights,
    standard_error,
)

UP = ("noise", "standard error", "disagreement", "reach", "fall", "flat reach")
DOWN = ("noise", "standard error", "level per e-fold", "level reach")
ERROR = 1  # the place of the standard error in both


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Means of curves on common sizes.

    Parameters
    ----------
    sizes : ndarray, shape (size,)
        Increasing.
    errors : ndarray, shape (curve, size)
        From 0 to 1.
    squares : ndarray, shape (curve, size), optional
        Squared standard errors of the means.
    end : Average, optional
        The fit that is best at the largest size, once it was made.
    """

    sizes: Floats
    errors: Floats
    squares: Floats | None
    end: Average | None = None

    def fitted(self) -> "Observed":
        """Return the same with its fit, which every question beyond the sizes needs."""
        last = self.sizes[-1:]
        return replace(self, end=_fit(self, basis(self.sizes / last), last))

    @property
    def rise(self) -> Floats:
        """The highest climb of each curve, from its lowest point before."""
        least = np.minimum.accumulate(self.errors, axis=1)
        return np.asarray((self.errors - least).max(axis=1))

    @property
    def span(self) -> float:
        """The range of ln n: twice the mean distance from the largest size.

        That of evenly spaced sizes is just their range, and one tiny size moves it little.
        """
        return float(2 * np.log(self.sizes[-1] / self.sizes).mean())

    def times(self, n: int) -> "Observed":
        """Return each curve n times over."""
        squares = None if self.squares is None else np.repeat(self.squares, n, axis=0)
        return Observed(self.sizes, np.repeat(self.errors, n, axis=0), squares)


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """What is predicted, and what its uncertainty is made of.

    Parameters
    ----------
    middle : ndarray, shape (curve, target)
    up, down : ndarray, shape (curve, target, term)
    noise, flat : ndarray, shape (curve,)
        Of the fit that is best at the largest size.
    """

    middle: Floats
    up: Floats
    down: Floats
    noise: Floats
    flat: Floats


def outlook(seen: Observed, to: Floats, top: float = 1.0) -> Outlook:
    r"""Return predictions and terms.

    Beyond the largest size :math:`n_k`, with m the prediction, h the fitted error at
    :math:`n_k`, :math:`L = \ln(N / n_k)` and x = L / span: up are noise s, standard error,
    disagreement V, x, h - m and flat x; down are s, standard error, h L and h x. Within
    the sizes seen there is one more fit, best at N; h is its m, and L the distance to the
    nearest size.
    """
    curves, last = len(seen.errors), seen.sizes[-1:]
    phi = basis(seen.sizes / last)
    end = _fit(seen, phi, last) if seen.end is None else seen.end
    level = np.repeat(end.at(np.ones((len(phi), 1)))[0], len(to), axis=1)
    middle, spread = end.at(basis(np.maximum(to / last, 1.0)))
    middle = np.clip(middle, 0.0, top)
    # From the nearest size that was seen: the largest, or a neighbour.
    far = np.abs(np.log(to[:, None] / seen.sizes)).min(axis=1)[None, :]
    reach = far / seen.span
    noise = np.repeat(end.noise[:, None], len(to), axis=1)
    error = np.repeat(_errors(seen, last)[:, None], len(to), axis=1)
    within = to < last
    if within.any():
        n = int(within.sum())
        more, centers = seen.times(n), np.tile(to[within], curves)
        local = _fit(more, phi, centers)
        at = np.tile(basis(to[within] / last).T, (curves, 1))
        value, apart = (x.reshape(curves, n) for x in local.at_own(at))
        middle[:, within] = np.clip(value, 0.0, top)
        level[:, within] = middle[:, within]
        spread[:, within] = apart
        noise[:, within] = local.noise.reshape(curves, n)
        error[:, within] = _errors(more, centers).reshape(curves, n)
    fall = np.maximum(level - middle, 0.0)
    flat = end.flat[:, None]
    up = np.broadcast_arrays(noise, error, spread, reach, fall, flat * reach)
    down = np.broadcast_arrays(noise, error, level * far, level * reach)
    return Outlook(
        middle, np.stack(up, axis=-1), np.stack(down, axis=-1), end.noise, end.flat
    )


def _fit(seen: Observed, phi: Floats, centers: Floats) -> Average:
    squares = seen.squares
    if squares is None:
        squares = guessed_squares(seen.errors)
    return fit_average(phi, seen.errors, size_weights(seen.sizes, centers, squares))


def _errors(seen: Observed, centers: Floats) -> Floats:
    """Return the standard error near each center; 0 where nobody knows the runs."""
    if seen.squares is None:
        return np.zeros(len(seen.errors))
    return standard_error(seen.sizes, centers, seen.squares)
