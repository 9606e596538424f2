"""How much worse a version may be: in units of the metric, or as a share of the base."""

import math
from dataclasses import dataclass
from typing import TypeAlias

from curvewise._text import percent
from curvewise.analyses._saying import said
from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric
from curvewise.stats.checks import is_number

MarginAsked: TypeAlias = float | str | None

_OF_RANGE, _OF_BASE = 0.01, 0.05  # if nobody says how much


@dataclass(frozen=True, slots=True)
class Margin:
    """How much worse is not worse.

    Parameters
    ----------
    size : float
        In units of the metric, or as a share of the base's mean.
    is_share : bool
        Whether it is a share.
    is_default : bool
        Whether nobody stated it.
    """

    size: float
    is_share: bool
    is_default: bool

    def in_units(self, base: float) -> float:
        """Return it in units of the metric, where the base has this mean."""
        return self.size * abs(base) if self.is_share else self.size

    def weight(self, base: float) -> float:
        """Return how much of the base's mean the new one must reach; higher is better.

        A mean below 0 may fall by a share of its size, so that more than all of it counts.
        """
        return 1 - math.copysign(self.size, base) if self.is_share else 1.0

    def bound(self) -> float:
        """Return what the new mean less the weighted one of the base must reach."""
        return 0.0 if self.is_share else -self.size

    @property
    def words(self) -> str:
        """Where it comes from; nothing where somebody stated the number."""
        if self.is_share:
            told = f"{percent(self.size)} of base"
            return f"{told}, the default" if self.is_default else told
        return f"{percent(_OF_RANGE)} of the range, the default" * self.is_default

    def said(self, base: float) -> str:
        """Return it with where it comes from."""
        text = said(self.in_units(base))
        if "." in text and "e" not in text:
            text = text.rstrip("0").rstrip(".")
        return f"{text}{self.words and f' ({self.words})'}"


def margin_of(margin: MarginAsked, metric: Metric) -> Margin:
    """Return the margin that was asked for, or the default of a metric.

    >>> accuracy = Metric("accuracy", "higher", (0, 1))
    >>> margin_of("2%", accuracy)
    Margin(size=0.02, is_share=True, is_default=False)
    >>> margin_of(None, accuracy).said(0.9)
    '0.01 (1 % of the range, the default)'
    """
    if margin is None:
        if metric.is_bounded:
            low, high = metric.range
            return Margin(_OF_RANGE * (high - low), False, True)
        return Margin(_OF_BASE, True, True)
    if isinstance(margin, str):
        return Margin(_share(margin), True, False)
    if not is_number(margin) or margin < 0:
        raise _wrong(margin)
    if metric.is_bounded and margin >= metric.range[1] - metric.range[0]:
        raise CurvewiseError(
            f"margin is {margin:g}, and {metric.name} goes from {metric.range[0]:g} to "
            f"{metric.range[1]:g}: nothing is worse by that. Pass a smaller one, or "
            f"'{margin:g}%' for a share of the base's mean.",
            argument="margin",
            value=margin,
        )
    return Margin(float(margin), False, False)


def _share(text: str) -> float:
    number, sign, rest = text.strip().partition("%")
    try:
        share = float(number) / 100
    except ValueError:
        share = math.nan
    if not sign or rest or not 0 <= share < 1:
        raise _wrong(text)
    return share


def _wrong(margin: object) -> CurvewiseError:
    return CurvewiseError(
        f"margin is {margin!r}. Pass a number of 0 or more in units of the metric, or a "
        f"share of the base's mean, such as '2%'.",
        argument="margin",
        value=margin,
    )
