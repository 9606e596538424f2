"""From means at sizes to predictions, and to what their uncertainty is made of."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from curvewise.stats.curves import blocks, fit_grid
from curvewise.stats.validation import Floats

EXPONENTS = 0.05 * 40.0 ** (np.arange(16) / 15)  # .05 to 2, even in the logarithm
OFFSETS = np.r_[0.0, 4.0 ** np.arange(-4, 3)]  # in units of the largest size
SHAPES = len(EXPONENTS) * len(OFFSETS)
_FLOOR = 1e-7  # of the variance: a third of a thousandth, so that no weight is 0/0
Rows: TypeAlias = Any  # numbers of curves, a mask or a slice


@dataclass(frozen=True, slots=True, eq=False)
class Average:
    """Power laws c + b phi fitted to curves, each with the weight that it earned."""

    weight: Floats  # (curve, shape)
    asymptote: Floats  # (curve, shape)
    amplitude: Floats  # (curve, shape)
    noise: Floats  # (curve,), spread of the means around the best shape

    def __getitem__(self, rows: Rows) -> "Average":
        parts = self.weight, self.asymptote, self.amplitude, self.noise
        return Average(*(part[rows] for part in parts))

    def at(self, phi: Floats) -> tuple[Floats, Floats]:
        """Return predictions (curve, size) and how far the shapes disagree there."""
        constant = (self.weight * self.asymptote).sum(axis=1, keepdims=True)
        part = self.weight * self.amplitude
        fall = part @ phi
        # The weighted mean of (c + b phi - mean)^2, as matrix products.
        c = self.asymptote - constant
        square = (
            (self.weight * c**2).sum(axis=1, keepdims=True)
            + 2 * (part * c) @ phi
            + (part * self.amplitude) @ phi**2
        )
        return constant + fall, np.sqrt(np.maximum(square - fall**2, 0.0))

    def at_own(self, phi: Floats) -> tuple[Floats, Floats]:
        """Return the same for curves asked each at its own size, shape (curve,)."""
        values = self.asymptote + self.amplitude * phi
        mean = (self.weight * values).sum(axis=1)
        square = (self.weight * (values - mean[:, None]) ** 2).sum(axis=1)
        return mean, np.sqrt(square)

    @property
    def flat(self) -> Floats:
        """Weight of the shapes that found no fall, shape (curve,)."""
        return np.asarray((self.weight * (self.amplitude <= 1e-12)).sum(axis=1))


def fit_average(phi: Floats, errors: Floats, weights: Floats) -> Average:
    r"""Return the average of 128 bounded power laws for every curve.

    .. math:: e(n) = c + b\,\Bigl(\frac{n + d}{n_k + d}\Bigr)^{-g}, \qquad b, c \ge 0

    with c and b by weighted least squares for each g and d. With S the sum of squares that
    is left and w the weights, a shape counts :math:`\exp(-(S - \min S) / (2 s^2))`, where
    :math:`s^2 = 3 \min S / \sum w + 10^{-7}`.
    """
    fit = fit_grid(phi, errors, weights, is_bounded=True)
    best = fit.cost.min(axis=1, keepdims=True)
    variance = 3 * best / weights.sum(axis=1, keepdims=True) + _FLOOR
    weight = np.exp((best - fit.cost) / (2 * variance))
    weight /= weight.sum(axis=1, keepdims=True)
    return Average(weight, fit.asymptote, fit.amplitude, np.sqrt(variance[:, 0]))


def basis(relative: Floats) -> Floats:
    """Return the shapes at sizes in units of the largest, (shape, size)."""
    g, d = _grid()
    return np.asarray(((relative[None, :] + d) / (1 + d)) ** -g)


@lru_cache(maxsize=1)
def _grid() -> tuple[Floats, Floats]:
    g, d = np.meshgrid(EXPONENTS, OFFSETS, indexing="ij")
    return g.reshape(-1, 1), d.reshape(-1, 1)


# --- How much each mean is worth: recent ones more, noisy ones less --------------------


# Power laws miss a real curve by MISFIT near the size that counts most, and by more
# further off: a size that is off by a factor of 2 counts a quarter, but for noise.
MISFIT = 0.02
RECENCY = 2.0
PRIOR = 4.0  # degrees of freedom that all sizes lend to the variance at each


def size_weights(sizes: Floats, centers: Floats, squares: Floats) -> Floats:
    """Return weights, largest 1, of sizes for a fit that is to be best at its center."""
    weights = 1 / (squares + MISFIT**2 * _distance(sizes, centers) ** RECENCY)
    return np.asarray(weights / weights.max(axis=1, keepdims=True))


def standard_error(sizes: Floats, centers: Floats, squares: Floats) -> Floats:
    """Return the standard error of a mean near each center, shape (curve,)."""
    weights = _distance(sizes, centers) ** -RECENCY
    total = (weights * squares).sum(axis=1)
    return np.asarray(np.sqrt(total / weights.sum(axis=1)))


def guessed_squares(errors: Floats) -> Floats:
    """Return squared standard errors where nobody knows the runs, shape (curve, 1).

    From second differences, which a smooth curve hardly has: their median size, as that of
    normal noise would be.
    """
    second = np.abs(np.diff(errors, n=2, axis=1))
    return np.asarray(np.median(second, axis=1, keepdims=True) ** 2 / (0.6745**2 * 6))


def smooth_squares(variances: Floats, counts: Floats) -> Floats | None:
    """Return squared standard errors of means, each helped by those at other sizes."""
    degrees = np.broadcast_to(np.maximum(counts - 1, 0), variances.shape)
    is_known = np.isfinite(variances) & (degrees > 0)
    if not is_known.any(axis=1).all():
        return None
    typical = np.nanmedian(np.where(is_known, variances, np.nan), axis=1, keepdims=True)
    weights = np.where(is_known, degrees, 0.0)
    total = weights * np.where(is_known, variances, 0.0) + PRIOR * typical
    return np.asarray(total / (weights + PRIOR) / counts)


def _distance(sizes: Floats, centers: Floats) -> Floats:
    """Return by what factor, at least 1, each size is off each center."""
    ratio = sizes[None, :] / centers[:, None]
    return np.maximum(ratio, 1 / ratio)


# --- From means at sizes to predictions, and to what their uncertainty is made of ------


TERMS_UP = ("noise", "standard error", "disagreement", "reach", "fall", "flat reach")
TERMS_DOWN = ("noise", "standard error", "level per e-fold", "level reach")
ERROR = 1  # the place of the standard error in both


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Means of curves on common sizes."""

    sizes: Floats  # (size,), increasing
    errors: Floats  # (curve, size), from 0 to 1
    squares: Floats | None  # of standard errors; NaN for a curve where nobody knows
    end: Average | None = None  # the fit that is best at the largest size

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

    def __getitem__(self, rows: Rows) -> "Observed":
        """Return some of the curves, all with standard errors or all without."""
        squares = None if self.squares is None else self.squares[rows]
        if squares is not None and np.isnan(squares).any():
            squares = None
        end = None if self.end is None else self.end[rows]
        return Observed(self.sizes, self.errors[rows], squares, end)

    def parts(self, is_fitted: Rows, to: Floats) -> Iterator[tuple[Rows, "Observed"]]:
        """Return curves a block at a time, those with standard errors by themselves."""
        squares = np.full((len(self.errors), 1), np.nan)
        squares = squares if self.squares is None else self.squares
        is_known = np.isfinite(squares).all(axis=1)
        shapes = SHAPES * (1 + int((to < self.sizes[-1]).sum()))
        for of in (is_fitted & is_known, is_fitted & ~is_known):
            places = np.flatnonzero(of)
            for block in blocks(len(places), shapes):
                yield places[block], self[places[block]]

    def times(self, n: int) -> "Observed":
        """Return each curve n times over."""
        squares = None if self.squares is None else np.repeat(self.squares, n, axis=0)
        return Observed(self.sizes, np.repeat(self.errors, n, axis=0), squares)


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """What is predicted, and what its uncertainty is made of."""

    middle: Floats  # (curve, target)
    up: Floats  # (curve, target, term)
    down: Floats  # (curve, target, term)
    noise: Floats  # (curve,), of the fit that is best at the largest size
    flat: Floats  # (curve,), of the same


def outlook(observed: Observed, to: Floats, top: float = 1.0) -> Outlook:
    r"""Return predictions and terms.

    Beyond the largest size :math:`n_k`, with m the prediction, h the fitted error at
    :math:`n_k`, :math:`L = \ln(N / n_k)` and x = L / span: up are noise s, standard error,
    disagreement V, x, h - m and flat x; down are s, standard error, h L and h x. Within
    the sizes seen there is one more fit, best at N; h is its m, and L the distance to the
    nearest size.
    """
    curves, last = len(observed.errors), observed.sizes[-1:]
    phi = basis(observed.sizes / last)
    end = _fit(observed, phi, last) if observed.end is None else observed.end
    level = np.repeat(end.at(np.ones((len(phi), 1)))[0], len(to), axis=1)
    middle, spread = end.at(basis(np.maximum(to / last, 1.0)))
    middle = np.clip(middle, 0.0, top)
    # From the nearest size that was seen: the largest, or a neighbour.
    far = np.abs(np.log(to[:, None] / observed.sizes)).min(axis=1)[None, :]
    reach = far / observed.span
    noise = np.repeat(end.noise[:, None], len(to), axis=1)
    error = np.repeat(_errors(observed, last)[:, None], len(to), axis=1)
    within = to < last
    if within.any():
        n = int(within.sum())
        more, centers = observed.times(n), np.tile(to[within], curves)
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
        middle=middle,
        up=np.stack(up, axis=-1),
        down=np.stack(down, axis=-1),
        noise=end.noise,
        flat=end.flat,
    )


def _fit(observed: Observed, phi: Floats, centers: Floats) -> Average:
    squares = observed.squares
    if squares is None:
        squares = guessed_squares(observed.errors)
    return fit_average(
        phi, observed.errors, size_weights(observed.sizes, centers, squares)
    )


def _errors(observed: Observed, centers: Floats) -> Floats:
    """Return the standard error near each center; 0 where nobody knows the runs."""
    if observed.squares is None:
        return np.zeros(len(observed.errors))
    return standard_error(observed.sizes, centers, observed.squares)


# --- How far truth lies from the prediction, by side: factors learnt on real curves ----
#
# Learnt by scripts/learn_extrapolation.py on 518 curves of 129 data sets: LCDB 1.0 (Mohr
# et al., ECML-PKDD 2022; 268 curves of 25 runs) and LCDB 1.1 (Yan et al., NeurIPS 2025;
# 250 curves of means). Of each, 40 to 90 % of the sizes were seen, and the first, middle
# and last later size predicted; with all sizes or fewer, with 25, 5 or 1 runs, with runs
# known or not. Each row is a linear quantile regression at a one-sided level, factors at
# least 0; a miss counts relative to the width of the interval. No level has a factor
# below that of a lower level, so that quantiles do not cross.
# scripts/coverage_extrapolation.py prints how often intervals hold whose factors come
# from other data sets.


LEVELS = np.array([0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995])
UP = np.array(
    [
        # noise, standard error, disagreement, reach, fall, flat reach
        [0, 0, 0, 0, 0, 0],  # 0.5
        [0.353, 0.0793, 0.5358, 0.0004, 0.1068, 0],  # 0.75
        [0.8815, 0.201, 0.5681, 0.0016, 0.3494, 0.0129],  # 0.9
        [1.2872, 0.2771, 0.6396, 0.0065, 0.4355, 0.0302],  # 0.95
        [1.7708, 0.3086, 0.7648, 0.0178, 0.4355, 0.0568],  # 0.975
        [2.5955, 0.3086, 0.7648, 0.0488, 0.4355, 0.0837],  # 0.99
        [3.1525, 0.3086, 0.7648, 0.0878, 0.4355, 0.2644],  # 0.995
    ]
)
DOWN = np.array(
    [
        # noise, standard error, level per e-fold, level reach
        [0, 0, 0, 0],  # 0.5
        [0.5088, 0.0598, 0, 0.064],  # 0.75
        [0.9529, 0.1033, 0.005, 0.1485],  # 0.9
        [1.2579, 0.1033, 0.0201, 0.1872],  # 0.95
        [1.4103, 0.1033, 0.066, 0.1872],  # 0.975
        [1.5393, 0.1033, 0.1401, 0.1872],  # 0.99
        [1.5569, 0.1033, 0.2275, 0.1872],  # 0.995
    ]
)


# --------------------------------------------------------------------------------------
# How far the truth may lie from the prediction: terms times factors that were learnt.


LEAST, MOST = float(1 - LEVELS[-1]), float(LEVELS[-1])
_FREEDOM = 8  # five runs, and what other sizes lend to the variance at each


def quantiles(ahead: Outlook, p: Floats, top: float = 1.0) -> Floats:
    """Return quantiles of what the mean error may be, shape (p, curve, target)."""
    above = distances(ahead.up, _factors(UP, p), p)
    below = distances(ahead.down, _factors(DOWN, 1 - p), 1 - p)
    return np.asarray(np.clip(ahead.middle + above - below, 0.0, top))


def distances(terms: Floats, factors: Floats, p: Floats) -> Floats:
    r"""Return how far the truth may be from the prediction, shape (p, ...).

    What was learnt, and no less than chance leaves in the mean of the runs, t times its
    standard error: real curves were judged by the mean of the very runs that were seen,
    and could not teach that.
    """
    from scipy.special import stdtrit

    learnt = np.einsum("pt,...t->p...", factors, terms)
    chance = stdtrit(_FREEDOM, np.maximum(p, 0.5))
    error = terms[..., ERROR]
    least = chance.reshape(-1, *[1] * error.ndim) * error
    return np.asarray(np.maximum(learnt, least))


def _factors(table: Floats, p: Floats) -> Floats:
    """Return the factors at one-sided levels, shape (p, term); 0 up to a half.

    They are linear in the normal quantile between the levels that were learnt, and grow
    from level to level: so no two quantiles cross.
    """
    from scipy.special import ndtri

    at, scores = ndtri(np.maximum(p, 0.5)), ndtri(LEVELS)
    return np.stack([np.interp(at, scores, column) for column in table.T], axis=-1)
