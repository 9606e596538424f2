"""Mean, CVaR and quantile as one thing: a number read off a distribution of scores."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats.asymptotics import (
    TOGETHER,
    contributions,
    enough,
    is_constant,
    is_few,
    standard_error,
    t_quantile,
)
from curvewise.stats.bands import ANYWHERE, KINDS, Band, Kind, Support, cdf_band
from curvewise.stats.bounds import (
    cvar_bounds,
    mean_bounds,
    order_statistics,
    quantile_interval,
)
from curvewise.stats.distribution import cvar, quantile
from curvewise.stats.interval import (
    METHODS,
    STATISTICS,
    TAILS,
    Interval,
    Method,
    Statistic,
    Tail,
    cannot_tell,
    estimand,
    percent,
)
from curvewise.stats.validation import (
    Floats,
    checked_alpha,
    checked_confidence,
    checked_scores,
    checked_support,
    one_of,
)

__all__ = ["Functional", "flipped"]

ENOUGH = TOGETHER  # trials in the tail, for asymptotic intervals that hold together


@dataclass(frozen=True, slots=True)
class Functional:
    """A number that a distribution of scores is summed up by.

    Parameters
    ----------
    of : {"mean", "cvar", "quantile"}
    alpha : float
        Where CVaR cuts, or which quantile; strictly between 0 and 1.
    tail : {"upper", "lower"}
        Of CVaR: the best ``1 - alpha`` or the worst ``alpha`` of the trials.

    Examples
    --------
    >>> best_half = Functional("cvar", 0.5)
    >>> best_half.value([1, 2, 3, 4]), best_half.mass
    (3.5, 0.5)
    >>> print(best_half, Functional("mean"), Functional("quantile", 0.9), sep="; ")
    CVaR 0.5; mean; quantile 0.9
    """

    of: Statistic
    alpha: float = 0.5
    tail: Tail = "upper"

    def __post_init__(self) -> None:
        one_of("of", self.of, STATISTICS)
        one_of("tail", self.tail, TAILS)
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))

    @property
    def mass(self) -> float:
        """The share of the trials that it averages over; 1 for a quantile."""
        if self.of != "cvar":
            return 1.0
        return 1 - self.alpha if self.tail == "upper" else self.alpha

    @property
    def estimand(self) -> str:
        """What it is, in words."""
        return estimand(self.of, self.alpha, self.tail)

    def value(self, scores: ArrayLike) -> float:
        """Return it for the scores themselves."""
        if self.of == "mean":
            return float(checked_scores(scores).mean())
        if self.of == "quantile":
            return float(quantile(scores, self.alpha))
        return float(cvar(scores, self.alpha, tail=self.tail))

    def contributions(self, scores: ArrayLike) -> Floats:
        """Return what each trial adds to a mean or CVaR, which is the mean of it."""
        return contributions(checked_scores(scores), self.of, self.alpha, self.tail)

    def weight(self, share: Floats) -> Floats:
        """Return how much of a mean or CVaR lies on the lowest share of the trials."""
        if self.of == "mean":
            return share
        if self.tail == "lower":
            return np.minimum(share, self.alpha) / self.alpha
        below: Floats = np.maximum(share - self.alpha, 0) / (1 - self.alpha)
        return below

    def varies(self, scores: ArrayLike) -> bool:
        """Whether what the trials add to it differs; else there is no standard error."""
        z = checked_scores(scores)
        return not is_constant(self.contributions(z), z)

    def bounds(self, band: Band) -> tuple[float, float]:
        """Return its least and largest value over all distributions inside a band."""
        low: Any
        high: Any
        if self.of == "mean":
            low, high = mean_bounds(band)
        elif self.of == "quantile":
            low, high = band.quantile(self.alpha)
        else:
            low, high = cvar_bounds(band, self.alpha, self.tail)
        return float(low), float(high)

    def lacks(self, support: Support) -> tuple[str, ...]:
        """Return at which ends scores need a bound that the support does not have.

        >>> Functional("mean").lacks((0, math.inf))
        ('above',)
        >>> Functional("cvar", 0.5, "lower").lacks((0, math.inf))
        ()
        """
        needed = {
            "mean": ("below", "above"),
            "quantile": (),
            "cvar": ("above",) if self.tail == "upper" else ("below",),
        }[self.of]
        ends = dict(zip(("below", "above"), support, strict=True))
        return tuple(name for name in needed if math.isinf(ends[name]))

    def interval(
        self,
        scores: ArrayLike,
        *,
        confidence: float = 0.95,
        support: Support = ANYWHERE,
        kind: Kind = "kolmogorov",
        method: Method = "guaranteed",
    ) -> Interval:
        """Return an interval for it; infinite where these scores cannot tell.

        Parameters
        ----------
        scores : array_like, shape (trial,)
        confidence : float
        support : (float, float)
            Between which scores are possible at all.
        kind : {"kolmogorov", "dkw", "equal_local_levels", "anytime"}
            The band that a mean or CVaR is read off; a quantile takes order statistics
            unless it is ``"anytime"``.
        method : {"guaranteed", "asymptotic"}
            Student's interval needs 40 trials in what is averaged, and 100 beyond 95 %,
            where several are to hold together; so it was measured.

        Examples
        --------
        >>> z = [.2, .4, .5, .6, .7, .75, .8, .85, .9, .95]
        >>> print(Functional("cvar", 0.5).interval(z, support=(0, 1)))
        [0.5798, 0.9909]
        """
        one_of("method", method, METHODS)
        one_of("kind", kind, KINDS)
        level, z = checked_confidence(confidence), checked_scores(scores)
        ends = checked_support(support, z)
        if method == "asymptotic":
            return self._student(z, level, ends)
        if self.of == "quantile" and kind != "anytime":
            return self._between_order_statistics(z, level, ends)
        band = cdf_band(z, confidence=level, kind=kind, support=ends)
        lower, upper = self.bounds(band)
        return Interval(
            lower, upper, self.estimand, band.guarantee, self.value(band.scores)
        )

    def _between_order_statistics(
        self, z: Floats, confidence: float, support: Support
    ) -> Interval:
        first, last = order_statistics(len(z), self.alpha, confidence)
        if first < 1 and last > len(z) and support == ANYWHERE:
            return self._unknown(z, f"{len(z)} trials are too few for this quantile")
        return quantile_interval(z, self.alpha, confidence=confidence, support=support)

    def least_averaged(self, confidence: float) -> int:
        """Return how many trials it must average to have an asymptotic interval.

        >>> Functional("mean").least_averaged(0.95), Functional("mean").least_averaged(0.99)
        (40, 100)
        """
        if self.of == "quantile":
            raise CurvewiseError(
                "A quantile needs no asymptotic interval: order statistics are exact. "
                "Pass ",
                {"method": "guaranteed"},
                ".",
                argument="method",
            )
        return enough(self.of, checked_confidence(confidence))

    def _student(self, z: Floats, confidence: float, support: Support) -> Interval:
        n, least = len(z) * self.mass, self.least_averaged(confidence)
        x = self.contributions(z)
        if is_few(n, least) or is_constant(x, z):
            why = f"are fewer than {least}" if is_few(n, least) else "do not vary"
            return self._unknown(z, f"the {n:g} trials that it averages {why}")
        reach = t_quantile(confidence, n - 1) * standard_error(x)
        value = self.value(z)
        return Interval(
            max(value - reach, support[0]),
            min(value + reach, support[1]),
            self.estimand,
            f"{percent(confidence)}, for many independent trials (Student)",
            value,
        )

    def _unknown(self, z: Floats, why: str) -> Interval:
        ends = -math.inf, math.inf
        return Interval(*ends, self.estimand, cannot_tell(why), self.value(z))

    def __str__(self) -> str:
        if self.of == "mean":
            return "mean"
        if self.of == "quantile":
            return f"quantile {self.alpha:g}"
        return f"CVaR {self.alpha:g}" + (" (worst)" if self.tail == "lower" else "")


def flipped(interval: Interval) -> Interval:
    """Return the same interval for scores with the other sign.

    >>> print(flipped(Interval(1.0, 2.0, "the mean", "95 %")))
    [-2, -1]
    """
    return Interval(
        -interval.upper,
        -interval.lower,
        interval.estimand,
        interval.guarantee,
        -interval.value,
        interval.monte_carlo_error,
    )
