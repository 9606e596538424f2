"""What a number of trials tells, how many that takes, and what looking early costs."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

from curvewise.errors import CurvewiseError
from curvewise.stats import bands
from curvewise.stats.bands import Kind, Side
from curvewise.stats.comparison.differences import shared_confidence
from curvewise.stats.validation import (
    bad_value,
    checked_confidence,
    checked_count,
    checked_half_width,
    checked_size,
    is_number,
)

__all__ = [
    "LooksCost",
    "Told",
    "looks_cost",
    "planned_looks",
    "trials_for_band",
    "trials_for_top",
    "what_trials_tell",
]


MOST = 10**9  # trials; nobody runs more


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


def smallest(
    width: Callable[[int], float], half_width: float, guess: float, least: int = 1
) -> int:
    """Return the smallest number of trials at which a falling width is small enough."""
    at = functools.cache(width)
    n = _within(guess, least, half_width)
    for _ in range(4):
        now = at(n)
        better = _within(
            4 * n if math.isinf(now) else grown(n, now, half_width), least, half_width
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


def grown(n: int, width: float, half_width: float) -> float:
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
