"""How many trials it takes to know a number to a half-width, judged from a pilot."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, Verbatim
from curvewise.stats import bands
from curvewise.stats.asymptotics import is_few, standard_error, t_quantile
from curvewise.stats.bands import (
    ANYWHERE,
    KINDS,
    NAMES,
    Band,
    Kind,
    Support,
    cdf_band,
    tail_kind,
)
from curvewise.stats.bounds import moment, order_statistics
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import METHODS, Method, Tail, percent
from curvewise.stats.planning.trials import MOST, grown, smallest, trials_for_band
from curvewise.stats.validation import (
    Floats,
    bad_value,
    checked_confidence,
    checked_half_width,
    checked_scores,
    checked_size,
    checked_support,
    is_number,
    one_of,
    sorted_scores,
)

__all__ = [
    "Need",
    "asymptotic_width",
    "guaranteed_width",
    "trials_for",
    "trials_for_cvar",
    "trials_for_mean",
    "trials_for_quantile",
]


@dataclass(frozen=True, slots=True)
class Need:
    """How many trials it takes to know something to a half-width.

    Parameters
    ----------
    trials : int
    lower, upper : int
        Between which numbers the right one, that of the distribution that the pilot was
        drawn from, lies; see `trials_for_mean` for how often. All the same where there was
        no pilot.
    half_width : float
    estimand : str
        What would be known.
    guarantee : str
        What is promised once so many trials are there.
    """

    trials: int
    lower: int
    upper: int
    half_width: float
    estimand: str
    guarantee: str


def trials_for_mean(
    half_width: float,
    *,
    pilot: ArrayLike | None = None,
    support: Support = ANYWHERE,
    confidence: float = 0.95,
    kind: Kind = "kolmogorov",
    method: Method = "guaranteed",
) -> Need:
    r"""Return how many trials it takes to know the mean score to a half-width.

    .. math:: n_{\text{asymptotic}} \approx \frac{z_{1-\delta/2}^2 s^2}{h^2}, \qquad
       n_{\text{guaranteed}} = \min\{n : \tfrac 1 2 (\mathrm{upper}_n -
       \mathrm{lower}_n) \le h\}

    Parameters
    ----------
    half_width : float
        Half of the length of the interval, in units of the score.
    pilot : array_like, shape (trial,), optional
        Scores of a few trials, in the order in which they were drawn. Without them a
        guaranteed number is for the worst distribution on the support.
    support : (float, float)
        Between which scores are possible at all; a guaranteed number needs both ends.
    confidence : float
    kind : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
        The band that a guaranteed interval is read off.
    method : {"guaranteed", "asymptotic"}
        Intervals from a band, which hold at any number of trials; or those of Student,
        shorter, from the pilot's variance [1]_.

    Returns
    -------
    Need
        The number, and between which numbers it lies as far as the pilot can tell.

    Notes
    -----
    With a pilot, a guaranteed number is that at which the band would be narrow enough
    around the pilot's own distribution. Without one, all that is known is the range r:
    the interval is never wider than :math:`2 r \epsilon(n)`, and for trials at both ends
    of the support it is so wide. An asymptotic number takes Student's quantile for the
    normal one, and is never less than the 40 trials (100 beyond 95 %) from which on such
    intervals were measured to hold.

    Between which numbers it lies: for a guaranteed mean or CVaR, all that a distribution
    in a band around the pilot may ask for, so that failures that the pilot was too small
    to meet are in it; otherwise two standard errors from the jackknife. The pilot's band
    has a confidence of 50 % only: for this one number that was measured to be enough. How
    often the right number was in between, in 300 pilots of Beta(5, 2), of the same in
    tenths, and of the same with 5 % failures at 0 (the lowest of half-widths .05 and .02):

    ====================== ================= ================= =================
    known is               pilots of 10      of 30             of 100
    ====================== ================= ================= =================
    guaranteed mean        1.00, 1.00, 1.00  1.00, 1.00, 1.00  1.00, 1.00, .99
    guaranteed CVaR 0.5    1.00, .99, .98    .99, .98, .99     1.00, .99, 1.00
    worst 0.2 (CVaR 0.2)   1.00, 1.00, .96   1.00, 1.00, .97   1.00, 1.00, .97
    asymptotic mean        .92, .94, .83     .93, .94, .87     .94, .93, .96
    asymptotic CVaR 0.5    .92, .86, .91     .92, .82, .89     .92, .80, .90
    ====================== ================= ================= =================

    References
    ----------
    .. [1] C. Stein. "A two-sample test for a linear hypothesis whose power is independent
       of the variance." Annals of Mathematical Statistics 16, 1945.

    Examples
    --------
    >>> trials_for_mean(0.05, support=(0, 1)).trials
    731
    >>> pilot = [.2, .4, .5, .6, .7, .75, .8, .85, .9, .95]
    >>> need = trials_for_mean(0.05, pilot=pilot, method="asymptotic")
    >>> need.trials, need.lower, need.upper
    (91, 40, 301)
    """
    return trials_for(
        Functional("mean"),
        half_width,
        pilot=pilot,
        support=support,
        confidence=confidence,
        kind=kind,
        method=method,
    )


def trials_for_cvar(
    half_width: float,
    *,
    alpha: float = 0.5,
    tail: Tail = "upper",
    pilot: ArrayLike | None = None,
    support: Support = ANYWHERE,
    confidence: float = 0.95,
    kind: Kind = "kolmogorov",
    method: Method = "guaranteed",
) -> Need:
    r"""Return how many trials it takes to know a CVaR to a half-width.

    .. math:: n_{\text{asymptotic}} \approx \frac{z_{1-\delta/2}^2}{h^2}\,
       \mathrm{Var}\Bigl(q + \frac{(Z - q)_+}{1 - \alpha}\Bigr), \qquad
       n_{\text{worst}} = \min\Bigl\{n : \frac{r\,\epsilon(n)}{1-\alpha} \le h\Bigr\}

    Parameters
    ----------
    half_width : float
        Half of the length of the interval, in units of the score.
    alpha : float
        The mass below the cut, strictly between 0 and 1.
    tail : {"upper", "lower"}
        The best ``1 - alpha`` of the trials, or the worst ``alpha``.
    pilot, support, confidence, kind, method
        As in `trials_for_mean`. With a pilot, the end of the support on the side of the
        tail is enough.

    Notes
    -----
    As `trials_for_mean`; the variance is that of what each trial contributes to the
    CVaR [1]_, the worst case that of the mean divided by the mass of the tail.

    References
    ----------
    .. [1] R. T. Rockafellar, S. Uryasev. "Conditional value-at-risk for general loss
       distributions." Journal of Banking & Finance 26, 2002.

    Examples
    --------
    >>> trials_for_cvar(0.1, alpha=0.5, support=(0, 1)).trials
    731
    >>> pilot = [.2, .4, .5, .6, .7, .75, .8, .85, .9, .95]
    >>> trials_for_cvar(0.05, pilot=pilot, support=(0, 1)).trials
    181
    """
    return trials_for(
        Functional("cvar", alpha, tail),
        half_width,
        pilot=pilot,
        support=support,
        confidence=confidence,
        kind=kind,
        method=method,
    )


def trials_for_quantile(
    half_width: float, p: float, *, pilot: ArrayLike, confidence: float = 0.95
) -> Need:
    r"""Return how many trials it takes to know a quantile to a half-width.

    .. math:: n = \min\{n : \tfrac 1 2 (\hat F^{-1}(u_n / n) - \hat F^{-1}(l_n / n))
       \le h\}

    with :math:`l_n, u_n` the order statistics that surround the quantile of n trials.

    Parameters
    ----------
    half_width : float
    p : float
        The share of all trials that do not exceed the quantile, strictly between 0 and 1.
    pilot : array_like, shape (trial,)
        Scores of a few trials, in the order in which they were drawn. Without them there
        is no number: how far two quantiles are apart can be anything.
    confidence : float

    Examples
    --------
    >>> pilot = [.2, .4, .5, .6, .7, .75, .8, .85, .9, .95]
    >>> trials_for_quantile(0.1, 0.5, pilot=pilot).trials
    44
    """
    if not is_number(p) or not 0 < p < 1:
        raise bad_value("p", p, "Pass a share strictly between 0 and 1.")
    return trials_for(
        Functional("quantile", p), half_width, pilot=pilot, confidence=confidence
    )


def trials_for(
    functional: Functional,
    half_width: float,
    *,
    pilot: ArrayLike | None = None,
    support: Support = ANYWHERE,
    confidence: float = 0.95,
    kind: Kind = "kolmogorov",
    method: Method = "guaranteed",
) -> Need:
    """Return how many trials it takes to know a mean, a CVaR or a quantile.

    Parameters
    ----------
    functional : Functional
    half_width, pilot, support, confidence, kind, method
        As in `trials_for_mean`.

    Examples
    --------
    >>> trials_for(Functional("mean"), 0.05, support=(0, 1)).trials
    731
    """
    if not isinstance(functional, Functional):
        raise bad_value(
            "functional",
            functional,
            "Pass one, such as Functional('mean').",
        )
    h = checked_half_width(half_width)
    level = checked_confidence(confidence)
    one_of("method", method, METHODS)
    one_of("kind", kind, KINDS)
    support = checked_support(support)
    z = None if pilot is None else _checked_pilot(pilot, support)
    if method == "guaranteed" and (ends := functional.lacks(support)):
        raise CurvewiseError(
            f"No number of trials guarantees {functional.estimand} if scores have no "
            f"bound {' or '.join(ends)}. Pass ",
            {"support": Verbatim("(lowest, highest)")},
            ", or ",
            {"method": "asymptotic"},
            " with a pilot.",
            argument="support",
        )
    if z is None:
        return _for_the_worst(functional, h, support, level, kind, method)
    if method == "asymptotic":
        return _asymptotic(functional, h, z, level)
    return _guaranteed(functional, h, z, support, level, kind)


def _checked_pilot(pilot: ArrayLike, support: Support) -> Floats:
    z = checked_scores(pilot, "Pilot scores")
    if len(z) < 2:
        raise CurvewiseError(
            "The pilot has 1 score. Pass several: they must differ.", argument="pilot"
        )
    checked_support(support, z)
    return z


def _for_the_worst(
    functional: Functional,
    h: float,
    support: Support,
    confidence: float,
    kind: Kind,
    method: Method,
) -> Need:
    low, high = support
    if method == "asymptotic" or functional.of == "quantile":
        raise CurvewiseError(
            f"Without a pilot nobody knows how {functional.of}s vary. Pass ",
            {"pilot": Verbatim("<scores of a few trials>")},
            ".",
            argument="pilot",
        )
    if math.isinf(high - low):
        raise CurvewiseError(
            "Without a pilot both ends of the support must be known, and it goes "
            f"from {low:g} to {high:g}. Pass ",
            {"pilot": Verbatim("<scores of a few trials>")},
            ".",
            argument="pilot",
        )
    share = h * functional.mass / (high - low)
    # An interval of the whole support is had for nothing.
    n = 1
    if 2 * h < high - low:
        n = trials_for_band(share, confidence=confidence, kind=kind)
    guarantee = (
        f"at least {percent(confidence)} (finite-sample), and never wider, for independent "
        f"trials of any distribution between {low:g} and {high:g} ({NAMES[kind]})"
    )
    return Need(
        trials=n,
        lower=n,
        upper=n,
        half_width=h,
        estimand=functional.estimand,
        guarantee=guarantee,
    )


def _guaranteed(
    functional: Functional,
    h: float,
    z: Floats,
    support: Support,
    confidence: float,
    kind: Kind,
) -> Need:
    width = partial(
        guaranteed_width,
        functional,
        confidence=confidence,
        support=support,
        kind=kind,
    )
    n = smallest(lambda n: width(z, n), h, 100)
    guarantee = (
        f"at least {percent(confidence)} (finite-sample), for independent trials of any "
        f"distribution; so narrow if they vary like the {len(z)} of the pilot"
    )
    if functional.of == "quantile":
        low, high = span(z, n, lambda part: width(part, n))
        # With fewer trials there is no interval between two scores at all.
        ends = _first_finite(lambda n: width(z, n), min(low, n), n), high
    else:
        ends = _guaranteed_span(
            functional, z, n, h, confidence=confidence, support=support, kind=kind
        )
    return Need(n, *ends, h, functional.estimand, guarantee)


def _asymptotic(functional: Functional, h: float, z: Floats, confidence: float) -> Need:
    averaged = functional.least_averaged(confidence)
    if not functional.varies(z):
        raise CurvewiseError(
            f"The {len(z)} scores of the pilot do not vary, so nobody knows how much "
            "scores do. Pass a larger pilot, or ",
            {"method": "guaranteed"},
            ".",
            argument="pilot",
        )
    width = partial(asymptotic_width, functional, confidence=confidence)
    n = smallest(lambda n: width(z, n), h, 10)
    guarantee = (
        f"{percent(confidence)}, for many independent trials (Student); so narrow if they "
        f"vary like the {len(z)} of the pilot"
    )
    # Fewer than `least` are never enough; the pilot's spread alone may ask for less.
    least = math.ceil(averaged / functional.mass - 1e-9)
    by_spread = n * (width(z, n) / h) ** 2
    low, high = span(z, by_spread, lambda part: width(part, n))
    ends = min(max(low, least), n), max(high, n)
    return Need(n, *ends, h, functional.estimand, guarantee)


# --- How wide an interval would be with more trials like those of a pilot ---------------


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
    lower, upper = _band_levels(np.arange(len(z) + 1) / len(z), size, level, kind)
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


def _band_levels(
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
        level_at: Floats = np.where(p > 0, betaincinv(i, n + 1 - i, level), 0.0)
        return level_at

    # The band of a distribution seen from above is that seen from below, turned around.
    return lower(share), 1 - lower(1 - share)


# --- How many trials, judged from those that are there ---------------------------------


_INSIDE = 0.5  # confidence of the band around a pilot
_CELLS = 1000  # of the quantile function
_BLOCKS = 20  # of the pilot, each left out once


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


def _first_finite(width: Callable[[int], float], low: int, high: int) -> int:
    """Return from which number of trials on, low to high, a width is finite."""
    if math.isfinite(width(low)):
        return low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if math.isfinite(width(middle)) else (middle, high)
    return high


def _guaranteed_span(
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
    `_INSIDE` only, as was measured; see `trials_for_mean`.
    """
    kind_of_pilot = tail_kind(len(pilot), confidence=_INSIDE)
    band = cdf_band(pilot, confidence=_INSIDE, kind=kind_of_pilot, support=support)
    # Cells in which both envelopes of the quantile function are constant.
    share = np.unique(np.r_[np.linspace(0, 1, _CELLS + 1), band.lower, band.upper])
    least, most = band.quantile((share[:-1] + share[1:]) / 2)

    def width(n: int, is_narrow: bool) -> float:
        # An interval is a difference of two weighted means of quantiles.
        levels = _band_levels(share, n, confidence, kind)
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
    has_weight = weights > 0  # what has no weight may be infinite
    return float(weights[has_weight] @ scores[has_weight])


def _enough(width: Callable[[int], float], n: int, half_width: float) -> int:
    """Return a number of trials, n or a little more than need be, that is enough."""
    while (now := width(n)) > half_width:
        more = math.ceil(min(grown(n, now, half_width), MOST))
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
