"""How many trials are enough, what a number of them tells, and what looking costs."""

import math
from dataclasses import dataclass
from functools import partial

from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError, Verbatim
from curvewise.stats import bands
from curvewise.stats.bands import ANYWHERE, KINDS, NAMES, Kind, Side, Support
from curvewise.stats.comparison.differences import shared_confidence
from curvewise.stats.functionals import Functional
from curvewise.stats.interval import METHODS, Method, Tail, percent
from curvewise.stats.planning.widths import (
    asymptotic_width,
    first_finite,
    guaranteed_span,
    guaranteed_width,
    smallest,
    span,
)
from curvewise.stats.validation import (
    Floats,
    bad_value,
    checked_confidence,
    checked_count,
    checked_half_width,
    checked_scores,
    checked_size,
    checked_support,
    is_number,
    one_of,
)

__all__ = [
    "LooksCost",
    "Need",
    "Told",
    "looks_cost",
    "planned_looks",
    "trials_for",
    "trials_for_band",
    "trials_for_cvar",
    "trials_for_mean",
    "trials_for_quantile",
    "trials_for_top",
    "what_trials_tell",
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
        ends = first_finite(lambda n: width(z, n), min(low, n), n), high
    else:
        ends = guaranteed_span(
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


# --------------------------------------------------------------------------------------
# Trials for a band of a given width, and for the best of them to be among the top.


def trials_for_band(
    half_width: float,
    *,
    confidence: float = 0.95,
    kind: Kind = "kolmogorov",
    side: Side = "both",
    start: int = 1,
) -> int:
    r"""Return the smallest number of trials whose band is at most so wide.

    .. math:: n = \min\{n : \epsilon(n) \le h\}, \qquad
       \epsilon_{\mathrm{DKW}}(n) = \sqrt{\ln(2/\delta) / (2n)}

    Parameters
    ----------
    half_width : float
        How far the true CDF may be from the empirical one, between 0 and 1.
    confidence, kind, side, start
        As in `curvewise.stats.bands.half_width`.

    Notes
    -----
    The closed form of DKW [1]_ is where the search begins: the exact width falls almost
    like :math:`1/\sqrt n`, so that a few evaluations of it are enough.

    References
    ----------
    .. [1] P. Massart. "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality."
       Annals of Probability 18, 1990.

    Examples
    --------
    >>> trials_for_band(0.05), trials_for_band(0.05, kind="dkw")
    (731, 738)
    >>> trials_for_band(0.05, kind="dkw", side="upper")
    600
    """
    h = checked_half_width(half_width)
    if h >= 1:
        raise CurvewiseError(
            f"half_width is {h:g}. Pass one below 1: no CDF is wider.",
            argument="half_width",
        )
    level = checked_confidence(confidence)
    checked_size(start, "start")

    def width(n: int) -> float:
        return bands.half_width(
            n, confidence=level, kind=kind, side=side, start=min(start, n)
        )

    width(1)  # refuses what is no kind, before anything is searched
    sides = 2 if side == "both" else 1
    guess = math.log(sides / (1 - level)) / 2 / h / h
    return smallest(width, h, guess, least=start if kind == "anytime" else 1)


def trials_for_top(share: float, *, confidence: float = 0.95) -> int:
    r"""Return how many trials it takes until their best is among the top `share` of all.

    .. math:: (1 - s)^n \le \delta \Leftrightarrow n \ge \frac{\ln \delta}{\ln(1 - s)}

    Parameters
    ----------
    share : float
        The top of all trials that there could be: 0.05 for the top 5 %.
    confidence : float
        How likely the best of the trials is to be up there.

    Notes
    -----
    Nothing is assumed but that trials are independent. With a random search, it says how
    many configurations to draw; what the best of them scores *again* is another question.

    Examples
    --------
    >>> trials_for_top(0.05), trials_for_top(0.01, confidence=0.99)
    (59, 459)
    """
    if not is_number(share) or not 0 < share < 1:
        raise bad_value(
            "share",
            share,
            "Pass one strictly between 0 and 1, such as 0.05 for the top 5 %.",
        )
    level = checked_confidence(confidence)
    # log1p: a share of 1e-9 is not lost in 1 - share. Up to rounding, met is met.
    n = math.log(1 - level) / math.log1p(-share)
    return max(1, math.ceil(n * (1 - 1e-12)))


# --- What a number of trials can tell, and what it costs to look before the end ---------


# Beyond, the exact one-sided width takes seconds, and agrees with DKW to three digits.
_EXACT_ONE_SIDED = 20_000


@dataclass(frozen=True, slots=True)
class Told:
    """What a number of trials can tell, whatever the distribution of their scores.

    Parameters
    ----------
    trials : int
    confidence : float
    half_width : float
        How far the true CDF may be from the empirical one, everywhere at once.
    one_sided : float
        The same if only one side is asked for.
    top : float
        Of all trials that there could be, the best one of these is in this top share.
    failures : float
        If none of them failed: the largest share that may fail all the same.
    quantiles : (float, float)
        From which to which quantile an interval between two scores exists; beyond, only
        the support bounds it. NaN where there is none.
    """

    trials: int
    confidence: float
    half_width: float
    one_sided: float
    top: float
    failures: float
    quantiles: tuple[float, float]


def what_trials_tell(n: int, *, confidence: float = 0.95) -> Told:
    r"""Return what `n` trials can tell before anybody has seen them.

    .. math:: P(\text{best of } n \text{ in the top } s) = 1 - (1-s)^n, \qquad
       s = f = 1 - \delta^{1/n}

    Parameters
    ----------
    n : int
        Number of trials.
    confidence : float
        Of each of the statements.

    Notes
    -----
    The share f of failures that n trials without one leave possible is the same number
    as s: not to meet the top share in n trials is as likely as not to meet a failure.
    For small :math:`\delta` it is about 3/n at 95 % (the "rule of three" [1]_).

    References
    ----------
    .. [1] J. Hanley, A. Lippman-Hand. "If nothing goes wrong, is everything all right?"
       Journal of the American Medical Association 249, 1983.

    Examples
    --------
    >>> told = what_trials_tell(59)
    >>> round(told.top, 4), round(told.half_width, 3), [round(p, 3) for p in told.quantiles]
    (0.0495, 0.174, [0.061, 0.939])
    """
    size, level = checked_size(n), checked_confidence(confidence)
    delta = 1 - level
    top = -math.expm1(math.log(delta) / size)
    # Quantile p lies between the extremes unless all trials are on one side of it, each
    # with half of delta.
    outermost = -math.expm1(math.log(delta / 2) / size)
    quantiles = (outermost, 1 - outermost)
    return Told(
        trials=size,
        confidence=level,
        half_width=bands.half_width(size, confidence=level),
        one_sided=bands.half_width(size, confidence=level, side="lower", kind="dkw")
        if size > _EXACT_ONE_SIDED
        else bands.half_width(size, confidence=level, side="lower"),
        top=top,
        failures=top,
        quantiles=quantiles if outermost <= 0.5 else (math.nan, math.nan),
    )


def planned_looks(trials: int, looks: int = 5) -> list[int]:
    """Return at which numbers of trials to look: doubling, up to all of them.

    Examples
    --------
    >>> planned_looks(1000), planned_looks(3)
    ([63, 125, 250, 500, 1000], [1, 2, 3])
    """
    n, k = checked_size(trials, "trials"), checked_count("looks", looks)
    return sorted({-(-n >> halvings) for halvings in range(k)})


@dataclass(frozen=True, slots=True)
class LooksCost:
    """What looking at the results before all trials are there costs.

    Parameters
    ----------
    trials : int
        At the last look.
    looks : int
        How many are planned.
    confidence : float
        That holds at all looks together.
    fixed, planned, anytime : float
        Half-width of the band at the last look: with no other look; with so many, at
        ``delta / looks`` each; with as many as anybody likes.
    trials_planned, trials_anytime : int
        How many trials give the half-width `fixed` all the same.
    """

    trials: int
    looks: int
    confidence: float
    fixed: float
    planned: float
    anytime: float
    trials_planned: int
    trials_anytime: int

    @property
    def wider_planned(self) -> float:
        """How many times wider planned looks make the band."""
        return self.planned / self.fixed

    @property
    def wider_anytime(self) -> float:
        """How many times wider looks at any time make the band."""
        return self.anytime / self.fixed


def looks_cost(
    n: int, looks: int = 5, *, confidence: float = 0.95, start: int | None = None
) -> LooksCost:
    r"""Return by how much a band gets wider if one may look before the end.

    .. math:: \frac{\epsilon_{\delta/K}(n)}{\epsilon_\delta(n)} \approx
       \sqrt{\frac{\ln(2K/\delta)}{\ln(2/\delta)}}

    Parameters
    ----------
    n : int
        Number of trials at the last look.
    looks : int
        How many looks are planned, K; the last one counts.
    confidence : float
        That holds at all looks together.
    start : int, optional
        The first number of trials at which somebody looks at any time; ``n / 16`` if left
        out, where the first of five planned looks is.

    Notes
    -----
    To stop at the first look that pleases is to choose among all of them: the intervals
    must hold at all looks at once. Planned looks share delta between them, which costs
    little; the anytime band [1]_ holds at every number of trials, for those who cannot
    say beforehand when they will look.

    References
    ----------
    .. [1] S. Howard, A. Ramdas. "Sequential estimation of quantiles with applications to
       A/B testing and best-arm identification." Bernoulli 28, 2022.

    Examples
    --------
    >>> cost = looks_cost(2000)
    >>> round(cost.wider_planned, 2), round(cost.wider_anytime, 2)
    (1.2, 1.93)
    >>> cost.trials_planned, cost.trials_anytime
    (2878, 7686)
    """
    size, k = checked_size(n), checked_count("looks", looks)
    level = checked_confidence(confidence)
    first = -(-size // 16) if start is None else checked_size(start, "start")
    each = shared_confidence(level, k)
    fixed = bands.half_width(size, confidence=level)
    return LooksCost(
        trials=size,
        looks=k,
        confidence=level,
        fixed=fixed,
        planned=bands.half_width(size, confidence=each),
        anytime=bands.half_width(size, confidence=level, kind="anytime", start=first),
        trials_planned=trials_for_band(fixed, confidence=each),
        trials_anytime=trials_for_band(
            fixed, confidence=level, kind="anytime", start=first
        ),
    )
