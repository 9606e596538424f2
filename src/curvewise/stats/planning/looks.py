"""What a number of trials can tell, and what it costs to look before the end."""

import math
from dataclasses import dataclass

from curvewise.stats import bands
from curvewise.stats.comparison.family import shared_confidence
from curvewise.stats.planning.precision import trials_for_band
from curvewise.stats.validation import checked_confidence, checked_count, checked_size

__all__ = [
    "LooksCost",
    "Told",
    "looks_cost",
    "planned_looks",
    "what_trials_tell",
]


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
        size,
        level,
        bands.half_width(size, confidence=level),
        bands.half_width(size, confidence=level, side="lower", kind="dkw")
        if size > _EXACT_ONE_SIDED
        else bands.half_width(size, confidence=level, side="lower"),
        top,
        top,
        quantiles if outermost <= 0.5 else (math.nan, math.nan),
    )


# Beyond, the exact one-sided width takes seconds, and agrees with DKW to three digits.
_EXACT_ONE_SIDED = 20_000


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
        size,
        k,
        level,
        fixed,
        bands.half_width(size, confidence=each),
        bands.half_width(size, confidence=level, kind="anytime", start=first),
        trials_for_band(fixed, confidence=each),
        trials_for_band(fixed, confidence=level, kind="anytime", start=first),
    )
