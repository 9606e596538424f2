"""Two distributions, quantile by quantile: where one is better, and where they cross."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from curvewise.analyses._distribution import Distribution
from curvewise.errors import listed
from curvewise.metrics import Floats
from curvewise.stats.bands import Kind
from curvewise.stats.comparison import quantile_shift, where_better
from curvewise.stats.interval import CurveBand

Stretch: TypeAlias = tuple[float, float]

_MOST = 1000  # quantiles to look at
_WORTH_A_WORD = 0.05  # of the quantiles; the ragged ends of a stretch are shorter


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """One distribution against another.

    Parameters
    ----------
    one, other : str
    shift : CurveBand
        By how much the quantiles of `one` are better than those of `other` (above 0:
        better, whichever way the metric goes), from the worst trials to the best.
    """

    one: str
    other: str
    shift: CurveBand

    @property
    def better(self) -> tuple[Stretch, ...]:
        """Where `one` is better for sure, as shares counted from the worst trials."""
        return self._settled("a")

    @property
    def worse(self) -> tuple[Stretch, ...]:
        """Where `one` is worse for sure."""
        return self._settled("b")

    def _settled(self, who: str) -> tuple[Stretch, ...]:
        half = float(self.shift.at[0])  # each quantile stands for a stretch around it
        ranges = [r for r in where_better(self.shift) if r.better == who]
        return tuple((r.start - half, r.stop + half) for r in ranges)

    @property
    def crosses(self) -> bool:
        """Whether `one` is better for sure somewhere, and worse for sure elsewhere."""
        return bool(self.better) and bool(self.worse)

    @property
    def seen_better(self) -> float:
        """At which share of the quantiles `one` came out better, sure or not."""
        return float((self.shift.value > 0).mean())

    @property
    def seen_worse(self) -> float:
        """At which share of the quantiles `one` came out worse, sure or not."""
        return float((self.shift.value < 0).mean())


def compared(one: Distribution, other: Distribution, confidence: float) -> Comparison:
    """Return two distributions of one metric compared, better being positive."""
    up = one.metric.sign
    scores = up * one.scores, up * other.scores
    shift = shift_of(*scores, confidence=confidence, kind=one.band.kind)
    return Comparison(one.algorithm, other.algorithm, shift)


def shift_of(a: Floats, b: Floats, *, confidence: float, kind: Kind) -> CurveBand:
    """Return by how much the quantiles of `a` exceed those of `b`, at all that there are.

    Where a band ends in the support of the metric, it says nothing about two samples, and
    is left open.
    """
    n = min(len(a), len(b), _MOST)
    p = (np.arange(n) + 0.5) / n
    return quantile_shift(a, b, p, confidence=confidence, kind=kind)


def sentences(comparisons: Sequence[Comparison]) -> list[str]:
    """Return in words which cross, which are better, and which nobody can tell apart."""
    out = [_crossing(c) for c in comparisons if c.crosses]
    out += [_ahead(c) for c in comparisons if bool(c.better) != bool(c.worse)]
    level = [f"{c.one} and {c.other}" for c in comparisons if not c.better + c.worse]
    if level:
        out.append(f"Not told apart at any quantile: {listed(level)}.")
    return out


def _ahead(c: Comparison) -> str:
    word, seen, other = "better", c.seen_worse, "worse"
    if c.worse:
        word, seen, other = "worse", c.seen_better, "better"
    doubt = f", and nowhere {other} for sure" if round(seen, 2) > 0 else ""
    return f"{c.one} is {word} than {c.other} {where(c.better + c.worse)}{doubt}."


def _crossing(c: Comparison) -> str:
    first, second = c.better, c.worse
    lead = "better", "worse"
    if length(c.worse) > length(c.better):
        (first, second), lead = (second, first), lead[::-1]
    return (
        f"{c.one} and {c.other} cross: {c.one} is {lead[0]} {where(first)}, but "
        f"{lead[1]} {where(second)}."
    )


def length(stretches: Sequence[Stretch]) -> float:
    """Return how much of all quantiles some stretches are.

    >>> length([(0.0, 0.25), (0.5, 0.75)])
    0.5
    """
    return sum(b - a for a, b in stretches)


def where(stretches: Sequence[Stretch]) -> str:
    """Return stretches of quantiles in words: the longest, and others worth a word.

    >>> where([(0.0, 0.12), (0.13, 0.14), (0.5, 1.0)])
    'over its worst 12 % and over its best 50 %'
    """
    longest = max(stretches, key=lambda s: s[1] - s[0])
    told = [s for s in stretches if s == longest or s[1] - s[0] >= _WORTH_A_WORD]
    return " and ".join(_stretch(a, b) for a, b in told)


def _stretch(a: float, b: float) -> str:
    def whole(share: float) -> str:
        return f"{100 * share:.0f}"

    if a < 0.005 and b > 0.995:
        return "at every quantile"
    if a < 0.005:
        return f"over its worst {whole(b)} %"
    if b > 0.995:
        return f"over its best {whole(1 - a)} %"
    if whole(a) == whole(b):
        return f"at the {whole(a)} % quantile"
    return f"from the {whole(a)} % to the {whole(b)} % quantile"
