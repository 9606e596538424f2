"""What error will more data give? Curves continued, with intervals that were measured."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError
from curvewise.stats.curves import (
    UNITS,
    Runs,
    Unit,
    blocks,
    checked_means,
    checked_runs,
    scale_of,
)
from curvewise.stats.interval import CurveBand, percent
from curvewise.stats.learning.outlook import (
    LEAST,
    MOST,
    SHAPES,
    Observed,
    checked_levels,
    outlook,
    quantiles,
    smooth_squares,
)
from curvewise.stats.learning.shape import Shape, shape
from curvewise.stats.validation import (
    LARGEST_LOSS,
    Floats,
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
    "Extrapolations",
    "extrapolate",
    "extrapolate_many",
]


ESTIMAND = "the mean error over runs at each size"


@dataclass(frozen=True, slots=True, eq=False)
class Extrapolation:
    """A learning curve continued to sizes that nobody has trained on.

    Everything is in the unit that the errors came in.

    Parameters
    ----------
    to : ndarray, shape (target,)
        Sizes that were asked for.
    error, lower, upper : float or ndarray, shape (target,)
        The prediction and its pointwise interval; numbers where ``to`` was a number.
    sizes, means, counts : ndarray, shape (size,)
        What was observed: sizes, mean errors, numbers of runs.
    confidence : float
    noise : float
        Spread of the means around the best power law.
    rise : float
        The highest climb of the means so far.
    flat : float
        Share of the power laws that found no fall, by weight.
    shape : Shape
        Whether the curve significantly rises, or is not convex.
    concerns : tuple of str
        What may be wrong, in sentences.
    unit : {"fraction", "percent", "loss"}
    scale : float
        What 1 is inside: 1, 100, or the largest mean loss.
    seen : Observed
        What was observed, on that scale.
    """

    to: Floats
    error: Any
    lower: Any
    upper: Any
    sizes: Floats
    means: Floats
    counts: Floats
    confidence: float
    noise: float
    rise: float
    flat: float
    shape: Shape
    concerns: tuple[str, ...]
    unit: Unit
    scale: float
    seen: Observed

    @property
    def levels(self) -> tuple[float, float]:
        """The least and the largest level that quantiles are known for."""
        return LEAST, MOST

    @property
    def guarantee(self) -> str:
        """What the interval promises."""
        return guarantee(self.confidence, self.unit)

    def predict(self, n: ArrayLike) -> Floats:
        """Return the predicted mean error at sizes n."""
        return np.asarray(self.quantile(0.5, n)[0])

    def quantile(self, p: ArrayLike, n: ArrayLike) -> Floats:
        """Return quantiles of what the mean error at sizes n may be, shape (p, n).

        Each is for one size by itself; the median is the prediction.
        """
        levels = checked_levels(shares(p))
        to = checked_targets(n, self.sizes, "n")
        top = highest(self.unit)
        ahead = outlook(self.seen, to, top)
        return np.asarray(self.scale * quantiles(ahead, levels, top)[:, 0])

    def interval(self, n: ArrayLike, confidence: float | None = None) -> CurveBand:
        """Return predictions with pointwise intervals at sizes n."""
        level = self.confidence if confidence is None else known_confidence(confidence)
        to = checked_targets(n, self.sizes, "n")
        lower, value, upper = self.quantile(ends(level), to)
        return CurveBand(to, value, lower, upper, ESTIMAND, guarantee(level, self.unit))


@dataclass(frozen=True, slots=True, eq=False)
class Extrapolations:
    """Many learning curves on common sizes, continued.

    Parameters
    ----------
    to : ndarray, shape (target,)
    error, lower, upper : ndarray, shape (curve, target)
        Predictions and their pointwise intervals; NaN for a curve that is none.
    is_fitted : ndarray of bool, shape (curve,)
        Whether a curve had errors that are finite and possible.
    noise, rise, flat : ndarray, shape (curve,)
        As for one `Extrapolation`.
    sizes : ndarray, shape (size,)
    confidence : float
    unit : {"fraction", "percent", "loss"}
    """

    to: Floats
    error: Floats
    lower: Floats
    upper: Floats
    is_fitted: Any
    noise: Floats
    rise: Floats
    flat: Floats
    sizes: Floats
    confidence: float
    unit: Unit

    @property
    def guarantee(self) -> str:
        """What the intervals promise, one by one."""
        return guarantee(self.confidence, self.unit)


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
    level = known_confidence(confidence)
    given = checked_runs(sizes, errors, unit=unit, runs=runs, fewest=FEWEST)
    n = checked_targets(to, given.sizes)
    means = given.means
    largest = float(means.max()) or 1.0  # all losses may be 0
    inside = largest if unit == "loss" else 1.0
    # Scaled first: the square of a tiny loss would be 0.
    within = Runs(given.sizes, tuple(e / inside for e in given.errors), None)
    squares = smooth_squares(within.variances[None, :], given.counts[None, :])
    seen = Observed(given.sizes, means[None, :] / inside, squares).fitted()
    top = highest(unit)
    ahead = outlook(seen, n, top)
    scale = scale_of(unit) * inside
    lower, error, upper = scale * quantiles(ahead, ends(level), top)[:, 0]
    rise, flat = float(seen.rise[0]), float(ahead.flat[0])
    told = concerns(
        sizes=given.sizes,
        furthest=float(n.max()),
        span=seen.span,
        rise=rise,
        flat=flat,
        runs=float(given.counts.max()),
        unit=unit,
    )
    bent = shape(sizes, errors, unit=unit, runs=runs)
    is_one = np.ndim(to) == 0
    return Extrapolation(
        to=n,
        error=float(error[0]) if is_one else error,
        lower=float(lower[0]) if is_one else lower,
        upper=float(upper[0]) if is_one else upper,
        sizes=given.sizes,
        means=scale * seen.errors[0],
        counts=given.counts,
        confidence=level,
        noise=scale * float(ahead.noise[0]),
        rise=scale * rise,
        flat=flat,
        shape=bent,
        concerns=(*bent.concerns, *told),
        unit=unit,
        scale=scale,
        seen=seen,
    )


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
) -> Extrapolations:
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
    >>> two.error.shape
    (2, 1)
    """
    level = known_confidence(confidence)
    one_of("unit", unit, UNITS)
    n = checked_sizes(sizes)
    if len(n) < FEWEST or not (np.diff(n) > 0).all():
        raise CurvewiseError(
            f"sizes are {n.tolist()}. Pass at least {FEWEST} sizes in increasing order."
        )
    refuse_twice(n)
    table = checked_means(means, "means", len(n), unit)
    goal = checked_targets(to, n)
    scale = np.full(len(table), scale_of(unit))
    is_fitted = ((table >= 0) & (table <= LARGEST_LOSS)).all(axis=1)
    if unit == "loss":
        peak = np.where(is_fitted, table.max(axis=1), 1.0)
        scale = np.where(peak > 0, peak, 1.0)
    errors = table / scale[:, None]
    is_fitted &= (errors <= 1).all(axis=1)
    errors = np.where(is_fitted[:, None], errors, 0.5)
    spread = _spread(standard_errors, counts, table.shape, scale)
    is_known = _is_known(spread, len(table))
    answer = np.full((3, len(table), len(goal)), np.nan)
    about = np.full((3, len(table)), np.nan)
    shapes = SHAPES * (1 + int((goal < n[-1]).sum()))
    for known in (True, False):
        rows = np.flatnonzero(is_fitted & (is_known == known))
        for block in blocks(len(rows), shapes):
            at = rows[block]
            squares = None
            if known and spread is not None:
                squares = smooth_squares(spread[0][at], spread[1])
            seen = Observed(n, errors[at], squares)
            ahead = outlook(seen, goal, highest(unit))
            found = quantiles(ahead, ends(level), highest(unit))
            answer[:, at] = found * scale[at, None]
            about[:, at] = ahead.noise * scale[at], seen.rise * scale[at], ahead.flat
    lower, error, upper = answer
    noise, rise, flat = about
    return Extrapolations(
        goal, error, lower, upper, is_fitted, noise, rise, flat, n, level, unit
    )


def _is_known(spread: tuple[Floats, Floats] | None, curves: int) -> NDArray[np.bool_]:
    """Return which curves have standard errors."""
    if spread is None:
        return np.zeros(curves, dtype=np.bool_)
    variances, counts = spread
    return np.asarray((np.isfinite(variances) & (counts > 1)).any(axis=1))


def _spread(
    standard_errors: ArrayLike | None,
    counts: Any,
    shape: tuple[int, ...],
    scale: Floats,
) -> tuple[Floats, Floats] | None:
    """Return variances from run to run (curve, size), and numbers of runs (1, size)."""
    known = _checked_counts(counts, shape[1])
    if standard_errors is None:
        return None
    given = checked_table(standard_errors, "standard_errors", shape[1])
    if given.shape != shape:
        raise CurvewiseError(
            f"There are {shape[0]} curves and standard errors for {len(given)}. Pass one "
            f"row for each curve."
        )
    is_bad = (given > LARGEST_LOSS) | (given < 0)
    if is_bad.any():
        raise CurvewiseError(
            f"A standard error is {given[is_bad][0]:g}. Pass numbers from 0 up, and NaN "
            f"where there is none."
        )
    runs = np.broadcast_to(known, (shape[1],))[None, :]
    return (given / scale[:, None]) ** 2 * runs, runs


def _checked_counts(counts: Any, sizes: int) -> Floats:
    """Return numbers of runs, one for all sizes or one for each."""
    try:
        found = np.asarray(_MANY if counts is None else counts, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    is_count = (found >= 1) & (found <= _MANY)
    if found.shape not in {(), (sizes,)} or not is_count.all():
        raise bad_value(
            "counts", counts, "Pass the number of runs, or one for each size."
        )
    return found


# --- What may be asked of an extrapolation, and what is promised -----------------------


def ends(confidence: float) -> Floats:
    """Return the levels of the lower end, the prediction and the upper end."""
    return np.array([(1 - confidence) / 2, 0.5, (1 + confidence) / 2])


def highest(unit: Unit) -> float:
    """Return the largest error that is possible, on the scale inside."""
    return np.inf if unit == "loss" else 1.0


def checked_targets(to: ArrayLike, sizes: Floats, name: str = "to") -> Floats:
    """Return sizes to predict at; refuse those below all that were seen."""
    n = checked_sizes(to, name)
    if n.min() < sizes[0]:
        raise CurvewiseError(
            f"{name} holds {n.min():g}, below the smallest size that was seen, "
            f"{sizes[0]:g}. Pass larger sizes."
        )
    return n


def known_confidence(confidence: Any) -> float:
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


# --- What may be wrong with a curve continued, in sentences ----------------------------


CLIMB = 0.03  # on the scale of fractions
FURTHEST = 2.0  # ranges of ln n: 99 % of the predictions that were measured are nearer


def concerns(
    *,
    sizes: Floats,
    furthest: float,
    span: float,
    rise: float,
    flat: float,
    runs: float,
    unit: Unit,
) -> tuple[str, ...]:
    """Return the sentences, most serious first."""
    said = []
    if unit == "loss":
        said.append(
            "Intervals were measured for error rates; for other losses nobody has "
            "measured how often they hold."
        )
    if rise > CLIMB:
        said.append(
            f"The curve has climbed by {rise:.2g}"
            f"{' of its largest loss' if unit == 'loss' else ''}: the prediction is hardly "
            f"better than repeating the last value."
        )
    elif flat > 0.5:
        said.append(
            "The curve does not fall at its end: the prediction is hardly better than "
            "repeating the last value."
        )
    if math.log(furthest / sizes[-1]) > FURTHEST * span:
        said.append(
            f"Size {furthest:g} is further off than any that was measured: sizes seen go "
            f"from {sizes[0]:g} to {sizes[-1]:g} only."
        )
    if len(sizes) == 3:
        said.append(
            "There are three sizes only: 95% intervals held in 91 to 93% of such curves."
        )
    if runs <= 1:
        said.append(
            "There is one error at each size. Where that is one run, and no mean of "
            "several, 95% intervals held in 94 to 96% of the curves."
        )
    return tuple(said)
