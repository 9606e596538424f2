"""Trials for a band of a given width, and for the best of them to be among the top."""

import math

from curvewise.errors import CurvewiseError
from curvewise.stats import bands
from curvewise.stats._sample import (
    checked_confidence,
    checked_half_width,
    checked_size,
    is_number,
)
from curvewise.stats.bands import Kind, Side
from curvewise.stats.planning._pilots import smallest

__all__ = ["trials_for_band", "trials_for_top"]


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
        raise CurvewiseError(f"half_width is {h:g}. Pass one below 1: no CDF is wider.")
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
        raise CurvewiseError(
            f"share is {share!r}. Pass one strictly between 0 and 1, such as 0.05 for the "
            f"top 5 %.",
            argument="share",
            value=share,
        )
    level = checked_confidence(confidence)
    # log1p: a share of 1e-9 is not lost in 1 - share. Up to rounding, met is met.
    n = math.log(1 - level) / math.log1p(-share)
    return max(1, math.ceil(n * (1 - 1e-12)))
