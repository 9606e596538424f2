"""What error will more data give? Curves continued, with intervals that were measured."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats.curves import (
    UNITS,
    Runs,
    Unit,
    as_number,
    checked_means,
    checked_runs,
    scale_of,
)
from curvewise.stats.interval import CurveBand, percent
from curvewise.stats.learning.outlook import (
    LEAST,
    MOST,
    Observed,
    outlook,
    quantiles,
    smooth_squares,
)
from curvewise.stats.learning.shape import shape
from curvewise.stats.validation import (
    LARGEST_LOSS,
    Floats,
    as_floats,
    bad_value,
    checked_confidence,
    checked_sizes,
    checked_table,
    one_of,
    refuse_twice,
    shares,
)

__all__ = [
    "Extrapolation",
    "extrapolate",
    "extrapolate_many",
]


ESTIMAND = "the mean error over runs at each size"


Concern: TypeAlias = Literal[
    "rises",  # significantly, somewhere: see `shape`
    "not_convex",  # significantly: see `shape`
    "losses",  # for which nobody measured how often intervals hold
    "climbed",  # by more than .03 of the scale: hardly better than the last value
    "flat_end",  # hardly better than the last value
    "far",  # a size further off than any that was measured
    "three_sizes",  # 95 % intervals held in 91 to 93 % of such curves
    "no_repeats",  # one error at each size: if it is one run, they held in 94 to 96 %
]


@dataclass(frozen=True, slots=True, eq=False)
class Extrapolation:
    """A learning curve, or many on common sizes, continued to sizes nobody has trained on.

    Everything is in the unit that the errors came in. Of many curves, arrays have curves
    along their first axis, numbers are arrays, and ``ahead[i]`` is one of the curves.

    Parameters
    ----------
    to : ndarray, shape (target,)
        Sizes that were asked for.
    error, lower, upper : ndarray, shape (target,) or (curve, target)
        The prediction and its pointwise interval; without the axis of targets where
        ``to`` was a number. NaN for a curve that is none.
    sizes : ndarray, shape (size,)
    means, counts : ndarray, shape (size,) or (curve, size)
        What was observed: mean errors, numbers of runs (NaN where nobody said).
    confidence : float
    noise : float, or ndarray of shape (curve,)
        Spread of the means around the best power law.
    rise : float, or ndarray of shape (curve,)
        The highest climb of the means so far.
    flat : float, or ndarray of shape (curve,)
        Share of the power laws that found no fall, by weight.
    is_fitted : bool, or ndarray of bool, shape (curve,)
        Whether errors are finite and possible.
    unit : {"fraction", "percent", "loss"}
    scale : float, or ndarray of shape (curve,)
        What 1 is inside: 1, 100, or the largest mean loss.
    shape : Shape, optional
        Whether a curve whose runs are known significantly rises, or is not convex.
    concerns : tuple of str
        What may be wrong with one curve, by name.
    """

    to: Floats
    error: Any
    lower: Any
    upper: Any
    sizes: Floats
    means: Floats
    counts: Floats
    confidence: float
    noise: Any
    rise: Any
    flat: Any
    is_fitted: Any
    unit: Unit
    scale: Any
    _observed: Observed
    shape: Any = None  # a Shape
    concerns: tuple[Concern, ...] = ()

    def __getitem__(self, i: int) -> "Extrapolation":
        """Return one of many curves."""
        if np.ndim(self.scale) == 0:
            raise CurvewiseError("This is one curve, and no row of them.")
        i = range(len(self.scale))[i]
        observed = self._observed[i : i + 1]
        one = replace(
            self,
            error=as_number(self.error[i]),
            lower=as_number(self.lower[i]),
            upper=as_number(self.upper[i]),
            means=self.means[i],
            counts=self.counts[i],
            noise=float(self.noise[i]),
            rise=float(self.rise[i]),
            flat=float(self.flat[i]),
            is_fitted=bool(self.is_fitted[i]),
            scale=float(self.scale[i]),
            _observed=observed.fitted() if observed.end is None else observed,
        )
        return replace(one, concerns=tuple(_concerns(one)))

    @property
    def levels(self) -> tuple[float, float]:
        """The least and the largest level that quantiles are known for."""
        return LEAST, MOST

    @property
    def guarantee(self) -> str:
        """What the intervals promise, one by one."""
        return guarantee(self.confidence, self.unit)

    def predict(self, n: ArrayLike) -> Floats:
        """Return the predicted mean error at sizes n."""
        return np.asarray(self.quantile(0.5, n)[..., 0, :])

    def quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of what the mean error may be, shape (p, n) or (curve, p, n).

        Each is for one size by itself; the median is the prediction.
        """
        levels = _checked_levels(p)
        to = _checked_targets(n, self.sizes, "n")
        fitted = np.atleast_1d(self.is_fitted)
        values, _, _ = _quantiles(self._observed, fitted, to, levels, self.unit)
        values *= np.reshape(self.scale, (-1, 1, 1))
        return values if np.ndim(self.scale) else values[0]

    def interval(self, n: ArrayLike, confidence: float | None = None) -> CurveBand:
        """Return predictions with pointwise intervals at sizes n."""
        level = self.confidence if confidence is None else _checked_level(confidence)
        to = _checked_targets(n, self.sizes, "n")
        ends = self.quantile(_ends(level), to)
        lower, value, upper = (ends[..., k, :] for k in range(3))
        promise = guarantee(level, self.unit)
        return CurveBand(
            at=to,
            value=value,
            lower=lower,
            upper=upper,
            estimand=ESTIMAND,
            guarantee=promise,
        )


# --- One curve continued, from its runs ------------------------------------------------


FEWEST = 3


def extrapolate(
    sizes: ArrayLike,
    errors: Any,
    *,
    to: ArrayLike,
    confidence: float = 0.95,
    unit: Unit = "fraction",
    runs: Any = None,
) -> Extrapolation:
    r"""Return what error a learner will have with more training data.

    Averages 128 power laws with :math:`b, c \ge 0`,

    .. math:: e(n) = c + b\,\Bigl(\frac{n + d}{n_k + d}\Bigr)^{-g},

    by how well each fits the mean errors, recent sizes counting more and noisy ones less.
    The interval adds up noise, disagreement of the power laws, the fall that is predicted
    and how far beyond the sizes seen one asks, with factors learnt on real curves.

    Parameters
    ----------
    sizes : array_like, shape (size,)
        Numbers of training examples, at least three.
    errors : sequence of array_like
        For each size one error, or one for each run.
    to : float or array_like, shape (target,)
        Sizes to predict at, from the smallest size that was seen upwards.
    confidence : float
        From .5 to .99.
    unit : {"fraction", "percent", "loss"}
        A loss is any number from 0 up; its intervals were not measured.
    runs : sequence of array_like, optional
        Which run each error is of. If it is known, whether the curve significantly rises or
        is not convex is tested within runs, and said in `concerns`. The interval uses the
        spread of the runs at each size; what a run has in common at all sizes is in its
        factors, which were learnt on runs that have.

    Notes
    -----
    With s the noise, e the standard error of a mean near the largest size :math:`n_k`, V
    the spread of the power laws, h their error at :math:`n_k`, m the prediction,
    :math:`L = \ln(N / n_k)`, x = L over the range of the logarithms of sizes, and f the
    share of power laws that found no fall,

    .. math::
       u &= m + u_1 s + u_2 e + u_3 V + u_4 x + u_5 (h - m) + u_6 f x \\
       l &= m - l_1 s - l_2 e - l_3 h L - l_4 h x

    Each side is a quantile regression with factors of at least 0. Mohr et al. [1]_ made
    the curves that the factors were learnt on; Viering and Loog [2]_ review why no single
    form fits them all.

    The weight of a size is :math:`1 / (\mathrm{se}^2 + .02^2 (n_k / n)^2)`, with the
    squared standard error of its mean. Where runs are not known, second differences of
    the means stand in for it.

    Measured with factors from other data sets, on 518 curves: 95 % intervals held in 92 to
    97 %, whether 80 or 50 % of the sizes were seen, all or every second, with 25, 5 or 1
    runs. Where the error later *rose* above the last one by more than .01, which no fall
    foretells, they held in 70 %. Where the runs seen show a significant rise they held in
    94 %, and were half as wide again. Between the sizes seen, one more fit is made for each
    size that is asked for; L is then the distance to the nearest size. No side is shorter
    than t times the standard error of the mean of the runs, with eight degrees of freedom:
    at the sizes seen, 95 % intervals from 5 or 2 runs held the mean of other runs in 93 to
    98 %.

    References
    ----------
    .. [1] F. Mohr, T. Viering, M. Loog, J. van Rijn. "LCDB 1.0: An Extensive Learning
       Curves Database for Classification Tasks." ECML-PKDD 2022.
    .. [2] T. Viering, M. Loog. "The Shape of Learning Curves: A Review." TPAMI 2023.

    Examples
    --------
    >>> sizes = [16, 32, 64, 128, 256, 512, 1024]
    >>> errors = [0.420, 0.350, 0.295, 0.262, 0.231, 0.212, 0.198]
    >>> ahead = extrapolate(sizes, errors, to=4096)
    >>> print(f"{ahead.error:.3f}")
    0.182
    """
    level = _checked_level(confidence)
    measured = checked_runs(sizes, errors, unit=unit, runs=runs, fewest=FEWEST)
    means, counts = measured.means, measured.counts
    largest = float(means.max()) or 1.0  # all losses may be 0
    inside = largest if unit == "loss" else 1.0
    # Scaled first: the square of a tiny loss would be 0.
    scaled = Runs(measured.sizes, tuple(e / inside for e in measured.errors), None)
    squares = smooth_squares(scaled.variances[None, :], counts[None, :])
    observed = Observed(measured.sizes, means[None, :] / inside, squares).fitted()
    scale = np.array([scale_of(unit) * inside])
    batch = _continued(
        observed, np.array([True]), scale, to, level, unit, counts=counts[None, :]
    )
    form = shape(sizes, errors, unit=unit, runs=runs)
    return replace(batch, shape=form)[0]


# --- Thousands of curves on common sizes continued at once -----------------------------


_MANY = 1e9  # runs, where nobody says how many: standard errors as they are


def extrapolate_many(
    sizes: ArrayLike,
    means: ArrayLike,
    *,
    to: ArrayLike,
    confidence: float = 0.95,
    unit: Unit = "fraction",
    standard_errors: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> Extrapolation:
    """Return what `extrapolate` does, for many curves on common sizes.

    A curve with an error that is not finite, or not possible, gets NaN and is not fitted;
    the others do not notice.

    Parameters
    ----------
    sizes : array_like, shape (size,)
        Increasing, at least three.
    means : array_like, shape (curve, size)
    to : float or array_like, shape (target,)
    confidence : float
        From .5 to .99.
    unit : {"fraction", "percent", "loss"}
    standard_errors : array_like, shape (curve, size), optional
        Of the means: the standard deviation from run to run over the square root of the
        number of runs. A curve that has none (NaN at all sizes) is fitted without.
    counts : int or array_like of shape (size,), optional
        Numbers of runs behind a mean, which say how far to trust the standard errors.

    Examples
    --------
    >>> sizes = [16, 32, 64, 128]
    >>> means = [[0.4, 0.3, 0.25, 0.22], [0.5, 0.5, 0.5, 0.5]]
    >>> two = extrapolate_many(sizes, means, to=256)
    >>> two.error.shape, round(two[0].error, 3)
    ((2,), 0.205)
    """
    level = _checked_level(confidence)
    one_of("unit", unit, UNITS)
    n = checked_sizes(sizes)
    if len(n) < FEWEST or not (np.diff(n) > 0).all():
        raise CurvewiseError(
            f"sizes are {n.tolist()}. Pass at least {FEWEST} sizes in increasing order."
        )
    refuse_twice(n)
    table = checked_means(means, "means", len(n), unit)
    scale = np.full(len(table), scale_of(unit))
    is_fitted = ((table >= 0) & (table <= LARGEST_LOSS)).all(axis=1)
    if unit == "loss":
        peak = np.where(is_fitted, table.max(axis=1), 1.0)
        scale = np.where(peak > 0, peak, 1.0)
    errors = table / scale[:, None]
    is_fitted &= (errors <= 1).all(axis=1)
    errors = np.where(is_fitted[:, None], errors, 0.5)
    runs = _checked_counts(counts, len(n))
    squares = _squares(standard_errors, runs, table.shape, scale)
    per_size = np.full(len(n), np.nan) if counts is None else runs
    return _continued(
        Observed(n, errors, squares),
        is_fitted,
        scale,
        to,
        level,
        unit,
        counts=np.broadcast_to(per_size, table.shape),
    )


# --- Curves continued, whose means lie between 0 and 1 ---------------------------------


def _continued(
    observed: Observed,
    is_fitted: NDArray[np.bool_],
    scale: Floats,
    to: ArrayLike,
    confidence: float,
    unit: Unit,
    *,
    counts: Floats,
) -> Extrapolation:
    """Return curves on the scale inside, continued, as a batch."""
    goal = _checked_targets(to, observed.sizes)
    values, noise, flat = _quantiles(observed, is_fitted, goal, _ends(confidence), unit)
    values *= scale[:, None, None]
    if np.ndim(to) == 0:
        values = values[..., 0]
    is_there = np.where(is_fitted, 1.0, np.nan)
    return Extrapolation(
        to=goal,
        error=values[:, 1],
        lower=values[:, 0],
        upper=values[:, 2],
        sizes=observed.sizes,
        means=(scale * is_there)[:, None] * observed.errors,
        counts=counts,
        confidence=confidence,
        noise=noise * scale,
        rise=observed.rise * scale * is_there,
        flat=flat,
        is_fitted=is_fitted,
        unit=unit,
        scale=scale,
        _observed=observed,
    )


def _quantiles(
    observed: Observed,
    is_fitted: NDArray[np.bool_],
    to: Floats,
    levels: Floats,
    unit: Unit,
) -> tuple[Floats, Floats, Floats]:
    """Return quantiles (curve, level, target), the noise and what is flat of each curve."""
    curves, top = len(observed.errors), np.inf if unit == "loss" else 1.0
    values = np.full((curves, len(levels), len(to)), np.nan)
    noise, flat = np.full((2, curves), np.nan)
    for rows, part in observed.parts(is_fitted, to):
        ahead = outlook(part, to, top)
        values[rows] = quantiles(ahead, levels, top).swapaxes(0, 1)
        noise[rows], flat[rows] = ahead.noise, ahead.flat
    return values, noise, flat


def _squares(
    standard_errors: ArrayLike | None,
    runs: Floats,
    shape: tuple[int, int],
    scale: Floats,
) -> Floats | None:
    """Return squared standard errors (curve, size), NaN for curves that have none."""
    if standard_errors is None:
        return None
    table = checked_table(standard_errors, "standard_errors", shape[1])
    if table.shape != shape:
        raise CurvewiseError(
            f"There are {shape[0]} curves and standard errors for {len(table)}. Pass one "
            f"row for each curve."
        )
    is_bad = (table > LARGEST_LOSS) | (table < 0)
    if is_bad.any():
        raise CurvewiseError(
            f"A standard error is {table[is_bad][0]:g}. Pass numbers from 0 up, and NaN "
            f"where there is none."
        )
    counts = np.broadcast_to(runs, (shape[1],))[None, :]
    variances = (table / scale[:, None]) ** 2 * counts
    is_known = (np.isfinite(variances) & (counts > 1)).any(axis=1)
    squares = np.full(shape, np.nan)
    squares[is_known] = smooth_squares(variances[is_known], counts)
    return squares


def _checked_counts(counts: Any, sizes: int) -> Floats:
    """Return numbers of runs, one for all sizes or one for each."""
    runs = as_floats(_MANY if counts is None else counts)
    is_fine = runs is not None and runs.shape in {(), (sizes,)}
    if runs is None or not (is_fine and ((runs >= 1) & (runs <= _MANY)).all()):
        raise bad_value(
            "counts", counts, "Pass the number of runs, or one for each size."
        )
    return runs


# --- What may be asked of an extrapolation, and what is promised -----------------------


def _ends(confidence: float) -> Floats:
    """Return the levels of the lower end, the prediction and the upper end."""
    return np.array([(1 - confidence) / 2, 0.5, (1 + confidence) / 2])


_ROUNDING = 1e-12  # 1 - .995 is not .005 to the last bit


def _checked_levels(p: ArrayLike) -> Floats:
    """Return probabilities; refuse those so near 0 or 1 that nothing was learnt there."""
    levels = np.atleast_1d(shares(p))
    if levels.ndim > 1 or len(levels) == 0:
        raise CurvewiseError(
            f"p has shape {levels.shape}. Pass one probability, or a list."
        )
    is_known = (levels >= LEAST - _ROUNDING) & (levels <= MOST + _ROUNDING)
    if not is_known.all():
        raise CurvewiseError(
            f"p is {levels[~is_known][0]:g}. Pass probabilities from {LEAST:.3g} to "
            f"{MOST:g}: real curves are too few to say more."
        )
    return np.clip(levels, LEAST, MOST)


def _checked_targets(to: ArrayLike, sizes: Floats, name: str = "to") -> Floats:
    n = checked_sizes(to, name)
    if n.min() < sizes[0]:
        raise CurvewiseError(
            f"{name} holds {n.min():g}, below the smallest size that was seen, "
            f"{sizes[0]:g}. Pass larger sizes."
        )
    return n


def _checked_level(confidence: Any) -> float:
    """Return a confidence that intervals were learnt for."""
    level = checked_confidence(confidence)
    if not 0.5 <= level <= 0.99:
        raise bad_value(
            "confidence",
            confidence,
            "Pass one from 0.5 to 0.99: real curves are too few to say more.",
        )
    return level


def guarantee(confidence: float, unit: Unit) -> str:
    """Return what is promised, and on what it was measured."""
    level = percent(confidence)
    if unit == "loss":
        return (
            f"{level} at each size is meant; measured for error rates, not for losses"
        )
    return (
        f"about {level} at each size by itself (pointwise): measured by cross-fitting over "
        f"data sets, not proved, on curves of tabular data and classic learners"
    )


# --- What may be wrong with a curve continued ------------------------------------------


CLIMB = 0.03  # on the scale of fractions
FURTHEST = 2.0  # ranges of ln n: 99 % of the predictions that were measured are nearer


def _concerns(one: Extrapolation) -> Iterator[Concern]:
    """Return the concerns about one curve, the most serious first."""
    if one.shape is not None:
        yield from one.shape.concerns
    if one.unit == "loss":
        yield "losses"
    if one._observed.rise[0] > CLIMB:
        yield "climbed"
    elif one.flat > 0.5:
        yield "flat_end"
    furthest = float(one.to.max())
    if math.log(furthest / one.sizes[-1]) > FURTHEST * one._observed.span:
        yield "far"
    if len(one.sizes) == 3:
        yield "three_sizes"
    if one.counts.max() <= 1:
        yield "no_repeats"
