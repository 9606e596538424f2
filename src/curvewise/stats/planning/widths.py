"""How wide an interval would be with more trials like those of a pilot."""

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats import bands
from curvewise.stats.asymptotics import is_few, standard_error, t_quantile
from curvewise.stats.bands import (
    ANYWHERE,
    KINDS,
    Band,
    Kind,
    Support,
    cdf_band,
    tail_kind,
)
from curvewise.stats.bounds import moment, order_statistics
from curvewise.stats.functionals import Functional
from curvewise.stats.validation import (
    Floats,
    checked_confidence,
    checked_size,
    checked_support,
    one_of,
    sorted_scores,
)

__all__ = [
    "asymptotic_width",
    "guaranteed_width",
]


def guaranteed_width(
    functional: Functional,
    pilot: ArrayLike,
    n: int,
    *,
    confidence: float = 0.95,
    support: Support = ANYWHERE,
    kind: Kind = "kolmogorov",
) -> float:
    """Return the half-width of a guaranteed interval if n trials were like the pilot.

    Parameters
    ----------
    functional : Functional
        What the interval is for.
    pilot : array_like, shape (trial,)
    n : int
        Number of trials.
    confidence, support, kind
        Of the interval, see `curvewise.stats.functionals.Functional.interval`.

    Examples
    --------
    >>> pilot = [.2, .4, .5, .6, .7, .75, .8, .85, .9, .95]
    >>> round(guaranteed_width(Functional("mean"), pilot, 500, support=(0, 1)), 4)
    0.0528
    """
    z = sorted_scores(pilot)
    size, level = checked_size(n), checked_confidence(confidence)
    ends = checked_support(support, z)
    one_of("kind", kind, KINDS)
    if functional.of == "quantile" and kind != "anytime":
        return _between_order_statistics(z, functional.alpha, size, level, ends)
    lower, upper = band_levels(np.arange(len(z) + 1) / len(z), size, level, kind)
    low, high = functional.bounds(
        Band(
            scores=z,
            lower=lower,
            upper=upper,
            confidence=level,
            kind=kind,
            support=ends,
        )
    )
    return (high - low) / 2


def _between_order_statistics(
    z: Floats, p: float, n: int, confidence: float, support: Support
) -> float:
    first, last = order_statistics(n, p, confidence)
    # Between the pilot's scores a line: n trials would fill the gaps.
    place = (np.arange(len(z)) + 0.5) / len(z)
    low, high = np.interp([(first - 0.5) / n, (last - 0.5) / n], place, z).tolist()
    ends = support[0] if first < 1 else low, support[1] if last > n else high
    return float(ends[1] - ends[0]) / 2


def asymptotic_width(
    functional: Functional, pilot: ArrayLike, n: int, *, confidence: float = 0.95
) -> float:
    """Return the half-width of an asymptotic interval if n trials were like the pilot.

    Infinite for so few trials that such an interval is not given, as those were seen to
    cover too little.

    Parameters
    ----------
    functional : Functional
        What the interval is for: a mean or a CVaR.
    pilot : array_like, shape (trial,)
    n : int
        Number of trials.
    confidence : float
        Of the interval.

    Examples
    --------
    >>> pilot = [.2, .4, .5, .6, .7, .75, .8, .85, .9, .95]
    >>> round(asymptotic_width(Functional("mean"), pilot, 500), 4)
    0.021
    >>> asymptotic_width(Functional("mean"), pilot, 10)
    inf
    """
    averaged = checked_size(n) * functional.mass
    if is_few(averaged, functional.least_averaged(confidence)):
        return math.inf
    parts = functional.contributions(pilot)
    error = standard_error(parts) * math.sqrt(len(parts) / n)
    return t_quantile(confidence, averaged - 1) * error


# --- The levels of a band that nobody has drawn yet ------------------------------------


def band_levels(
    share: Floats, n: int, confidence: float, kind: Kind
) -> tuple[Floats, Floats]:
    """Return between which levels a band of n trials is where shares are below."""
    if kind != "equal_local_levels":
        e = bands.half_width(n, confidence=confidence, kind=kind)
        return np.maximum(share - e, 0), np.minimum(share + e, 1)
    from scipy.special import betaincinv

    level = bands.local_level(n, confidence=confidence) / 2

    def lower(p: Floats) -> Floats:
        i = np.maximum(n * p, np.finfo(np.float64).tiny)
        found: Floats = np.where(p > 0, betaincinv(i, n + 1 - i, level), 0.0)
        return found

    # The band of a distribution seen from above is that seen from below, turned around.
    return lower(share), 1 - lower(1 - share)


# --- How many trials, judged from those that are there ---------------------------------


MOST = 10**9  # trials; nobody runs more
_INSIDE = 0.5  # confidence of the band around a pilot
_CELLS = 1000  # of the quantile function
_BLOCKS = 20  # of the pilot, each left out once


def smallest(
    width: Callable[[int], float], half_width: float, guess: float, least: int = 1
) -> int:
    """Return the smallest number of trials at which a falling width is small enough."""
    at = functools.cache(width)
    n = _within(guess, least, half_width)
    for _ in range(4):
        now = at(n)
        better = _within(
            4 * n if math.isinf(now) else _grown(n, now, half_width), least, half_width
        )
        if abs(better - n) <= 1:
            break
        n = better
    # The answer is close: steps that double bracket it, then halve.
    step = 1
    if at(n) <= half_width:
        high = n
        while n > least and at(n) <= half_width:
            high, n, step = n, max(least, n - step), 2 * step
        if at(n) <= half_width:
            return n
        low = n
    else:
        low = n
        while at(n) > half_width:
            low, n, step = n, _within(n + step, least, half_width), 2 * step
        high = n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle) <= half_width else (middle, high)
    return high


def _grown(n: int, width: float, half_width: float) -> float:
    """Return how many trials are as good as n of another width."""
    ratio = width / half_width
    return n * ratio * ratio  # a product may be infinite, a power would be refused


def _within(n: float, least: int, half_width: float) -> int:
    if n > MOST:
        raise CurvewiseError(
            f"A half-width of {half_width:g} takes more than {MOST:,} trials. Pass a "
            f"larger one.",
            argument="half_width",
        )
    return max(least, math.ceil(n))


def span(
    pilot: Floats, trials: float, width_of: Callable[[Floats], float]
) -> tuple[int, int]:
    """Return between which numbers of trials the right one lies, about.

    Trials needed grow like the squared width, so that the standard error of its logarithm
    (jackknife over blocks of the pilot) is doubled. Where the pilot cannot tell, any number
    up to `MOST` is possible.
    """
    from scipy.special import stdtrit

    if len(pilot) < 3:  # with one left out, nothing varies
        return 1, MOST
    blocks = min(_BLOCKS, len(pilot))
    widths = np.array([
        width_of(np.delete(pilot, np.s_[k::blocks])) for k in range(blocks)
    ])  # fmt: skip
    if not np.isfinite(widths).all() or (widths <= 0).any():
        return 1, MOST
    logs = 2 * np.log(widths)
    error = math.sqrt((blocks - 1) * float(logs.var()))
    factor = math.exp(min(float(stdtrit(blocks - 1, 0.975)) * error, 50.0))
    low, high = math.floor(trials / factor), math.ceil(min(trials * factor, MOST))
    return max(low, 1), high


def first_finite(width: Callable[[int], float], low: int, high: int) -> int:
    """Return from which number of trials on, low to high, a width is finite."""
    if math.isfinite(width(low)):
        return low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if math.isfinite(width(middle)) else (middle, high)
    return high


def guaranteed_span(
    functional: Functional,
    pilot: Floats,
    trials: int,
    half_width: float,
    *,
    confidence: float,
    support: Support,
    kind: Kind,
) -> tuple[int, int]:
    """Return between which numbers of trials the right one for a mean or CVaR lies.

    The right one is that of the distribution that the pilot was drawn from. Where that is
    inside a band around the pilot, the ends are those of the narrowest and the widest
    interval that any distribution in there may ask for, and hold what the pilot did not
    meet: failures, say, that it was too small for. For one number the band may be one of
    `_INSIDE` only, as was measured; see `precision.trials_for_mean`.
    """
    kind_of_pilot = tail_kind(len(pilot), confidence=_INSIDE)
    band = cdf_band(pilot, confidence=_INSIDE, kind=kind_of_pilot, support=support)
    # Cells in which both envelopes of the quantile function are constant.
    share = np.unique(np.r_[np.linspace(0, 1, _CELLS + 1), band.lower, band.upper])
    least, most = band.quantile((share[:-1] + share[1:]) / 2)

    def width(n: int, is_narrow: bool) -> float:
        # An interval is a difference of two weighted means of quantiles.
        levels = band_levels(share, n, confidence, kind)
        lower, upper = (functional.weight(level) for level in levels)
        weights = np.diff(lower - upper)
        if is_narrow:
            weights = -weights
        inside = _sum(np.maximum(weights, 0), most)
        inside -= _sum(np.maximum(-weights, 0), least)
        ends = moment(1 - lower[-1], support[1]) - moment(upper[0], support[0])
        return (ends - inside if is_narrow else ends + inside) / 2

    def narrow(n: int) -> float:
        return width(n, is_narrow=True)

    def wide(n: int) -> float:
        return width(n, is_narrow=False)

    return _not_enough(narrow, trials, half_width), _enough(wide, trials, half_width)


def _sum(weights: Floats, scores: Floats) -> float:
    held = weights > 0  # what has no weight may be infinite
    return float(weights[held] @ scores[held])


def _enough(width: Callable[[int], float], n: int, half_width: float) -> int:
    """Return a number of trials, n or a little more than need be, that is enough."""
    while (now := width(n)) > half_width:
        more = math.ceil(min(_grown(n, now, half_width), MOST))
        if more >= MOST:
            return MOST
        n = max(more, n + 1 + n // 1000)
    return n


def _not_enough(width: Callable[[int], float], n: int, half_width: float) -> int:
    """Return a number of trials, n or less, that is just not enough, or 1."""
    while n > 1 and (now := width(n)) <= half_width:
        less = math.floor(n * (max(now, 0.0) / half_width) ** 2)
        n = max(min(less, n - 1 - n // 1000), n // 2, 1)
    return n
