"""How much data an error takes: whether it is ever reached, when, and how sure that is."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curvewise._text import percent, shown, step
from curvewise.errors import CurvewiseError
from curvewise.stats import _words as words
from curvewise.stats._curve.runs import LARGEST_SIZE, checked_sizes
from curvewise.stats._sample import Floats, checked_confidence, is_number
from curvewise.stats.interval import Interval
from curvewise.stats.learning._predictive import (
    checked_forecast,
    has_asymptote,
    quantile_table,
    scores_of,
    tables_between,
)
from curvewise.stats.learning._search import first_at
from curvewise.stats.learning.forecast import Forecast

__all__ = ["SizeFor", "size_for"]

_COARSE = 121  # sizes on the first look, in equal ratios
_DRAWN = 161
_BEYOND = 1000.0  # times the largest size that was seen: how far chances are drawn
_FAR = 16.0  # an answer so many times beyond the data rests on the form of the curve


@dataclass(frozen=True, slots=True, eq=False)
class SizeFor:
    """How many training examples an error takes.

    Parameters
    ----------
    error : float
        The error that is wanted, in the unit of the curve.
    reached : float
        Probability of ever reaching it: by the largest size that was considered, or with
        unlimited data where the curve knows its asymptote.
    size : float
        Median of the size that it takes; infinite where reaching it is less likely than
        not.
    interval : Interval
        Of the size; its upper end is infinite where it may never be reached.
    largest : float
        The largest size that was considered.
    seen_at : float
        The smallest size with an observed mean that is already so low; NaN if none is.
    forecast : Forecast
    concerns : tuple of str
    sizes, chances : ndarray
        The probability that the mean error is so low, to be drawn.
    """

    error: float
    reached: float
    size: float
    interval: Interval
    largest: float
    seen_at: float
    forecast: Forecast
    concerns: tuple[str, ...]
    sizes: Floats
    chances: Floats

    def chance(self, n: ArrayLike) -> Floats:
        """Return P(the mean error at n is at most the error wanted), for each size."""
        sizes = checked_sizes(n, "n")
        return _upto(quantile_table(self.forecast, sizes), self.error)

    def rows(self) -> list[dict[str, float]]:
        """Return the answer as a table of one row."""
        return [
            {
                "error": self.error,
                "chance of ever reaching it": self.reached,
                "size": self.size,
                "lower": self.interval.lower,
                "upper": self.interval.upper,
            }
        ]

    def __str__(self) -> str:
        wanted = f"An error of {shown(self.error)}"
        if not math.isnan(self.seen_at):
            seen = f"was already seen at {step(self.seen_at)} examples"
            return f"{wanted} {seen}; the curve says {self._range()}."
        if math.isfinite(self.size):
            return f"{wanted} takes {self._range()}."
        least = ""
        if math.isfinite(self.interval.lower):
            least = (
                f"; if it is, it takes at least {_size(self.interval.lower)} examples"
            )
        not_yet = f"not reached by {_size(self.largest)} examples"
        if self.reached >= 0.5:  # with more than the largest size
            return f"{wanted} is probably {not_yet}{least}."
        never = "never reached" if has_asymptote(self.forecast) else not_yet
        chance = percent(round(1 - self.reached, 3))
        return f"{wanted} is {never}, with probability {chance}{least}."

    def _range(self) -> str:
        middle = _size(self.size) if math.isfinite(self.size) else "more than any size"
        return (
            f"about {middle} examples ({_size(self.interval.lower)} to "
            f"{_size(self.interval.upper)}), and is ever reached with probability "
            f"{percent(round(self.reached, 3))}"
        )


def size_for(
    forecast: Forecast,
    error: float,
    *,
    confidence: float = 0.95,
    largest: float = 1e12,
) -> SizeFor:
    r"""Return how many training examples a mean error takes.

    .. math:: P(\text{size needed} \le n) = P(e(n) \le \text{error})

    for a curve that falls. Where the right side falls with n, because what is known of the
    curve widens, its largest value so far is taken.

    Parameters
    ----------
    forecast : Forecast
        Such as a `PowerLaw` or an `Extrapolation`.
    error : float
        In the unit of the curve.
    confidence : float
        Of the interval.
    largest : float
        The largest size to consider.

    Returns
    -------
    SizeFor

    Notes
    -----
    The interval holds the sizes at which a pointwise interval of the mean error holds the
    error that is wanted, at the same confidence: it is as good as those are. Sizes below
    the smallest that was tried are not looked at, and it stands for them. Sizes are found
    to about a thousandth of themselves. The upper end is infinite as soon as the error may
    never be reached: of an `Extrapolation`, nearly always.

    Examples
    --------
    >>> from curvewise.stats.powerlaw import fit_power_law
    >>> law = fit_power_law([25, 50, 100], [[0.5, 0.52], [0.4, 0.41], [0.33, 0.34]])
    >>> needed = size_for(law, 0.3)
    >>> bool(100 < needed.size < 300)
    True
    >>> size_for(law, 0.01).size
    inf
    """
    curve = checked_forecast(forecast, "forecast")
    level = checked_confidence(confidence)
    wanted = _checked_error(error, getattr(curve, "unit", "loss"))
    least = float(curve.sizes[0])
    if not is_number(largest) or not least < largest <= LARGEST_SIZE:
        raise CurvewiseError(
            f"largest is {largest!r}. Pass a size above {least:g}, up to "
            f"{LARGEST_SIZE:g}.",
            argument="largest",
            value=largest,
        )
    sizes = np.geomspace(least, float(largest), _COARSE)
    tables = tables_between(curve, least, float(largest))

    def chances(n: Floats) -> Floats:
        return _upto(tables(n), wanted)

    known = chances(sizes)
    targets = ((1 - level) / 2, 0.5, (1 + level) / 2)
    low, middle, high = (
        max(first_at(chances, sizes, known, p), least) for p in targets
    )
    reached = float(known.max())
    if has_asymptote(curve):
        at_last = quantile_table(curve, np.array([np.inf]))
        reached = max(reached, float(_upto(at_last, wanted)[0]))
    is_seen = np.asarray(curve.means) <= wanted
    seen_at = float(np.asarray(curve.sizes)[is_seen][0]) if is_seen.any() else math.nan
    far = min(_BEYOND * float(curve.sizes[-1]), float(largest))
    drawn = np.geomspace(least, far, _DRAWN)
    interval = Interval(
        low,
        high,
        "the number of training examples that the error takes",
        f"{words.percent(level)}, as far as the pointwise intervals of the curve hold",
        middle,
    )
    return SizeFor(
        wanted,
        reached,
        middle,
        interval,
        float(largest),
        seen_at,
        curve,
        tuple(_concerns(curve, middle, low)),
        drawn,
        _upto(quantile_table(curve, drawn), wanted),
    )


def _upto(table: Floats, error: float) -> Floats:
    """Return P(error at most this), for each size of a table of quantiles."""
    from scipy.special import ndtr

    _, score = scores_of(table, np.full((1, table.shape[1]), error))
    result: Floats = ndtr(score[0])
    return result


def _concerns(forecast: Forecast, size: float, low: float) -> list[str]:
    found = []
    last = float(forecast.sizes[-1])
    if math.isfinite(size) and size > _FAR * last:
        found.append(
            f"About {_size(size)} examples are {size / last:.3g} times what was tried: "
            f"that rests on the form of the curve more than on data."
        )
    if low <= float(forecast.sizes[0]):
        found.append(
            f"Sizes below {step(float(forecast.sizes[0]))}, the smallest that was tried, "
            f"may do; nothing is known of them."
        )
    return found


def _size(n: float) -> str:
    return step(float(f"{n:.3g}")) if math.isfinite(n) else "never"


def _checked_error(error: Any, unit: str) -> float:
    most = {"fraction": 1.0, "percent": 100.0}.get(unit, math.inf)
    if not is_number(error) or not 0 <= error <= most:
        raise CurvewiseError(
            f"error is {error!r}, and the unit of the curve is {unit!r}. Pass the error "
            f"that is wanted in that unit.",
            argument="error",
            value=error,
        )
    return float(error)
