"""Two distributions, quantile by quantile: where one is better, and where they cross."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.analyses._distribution import Distribution
from curvewise.analyses._naming import some_pairs
from curvewise.metrics import Floats
from curvewise.stats.bands import Kind, cdf_band
from curvewise.stats.comparison import quantile_shift
from curvewise.stats.interval import CurveBand

Stretch: TypeAlias = tuple[float, float]

_MOST = 1000  # quantiles to draw
_GRID = np.linspace(0, 1, 2001)
WORTH_A_WORD = 0.05  # of the quantiles; ragged ends of a stretch are shorter


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """One distribution against another.

    Parameters
    ----------
    one, other : str
    shift : CurveBand
        By how much the quantiles of `one` are better than those of `other` (above 0:
        better, whichever way the metric goes), from the worst trials to the best.
    better, worse : tuple of (float, float)
        Where `one` is so for sure, at every quantile of the stretch; as shares counted
        from the worst trials.
    """

    one: str
    other: str
    shift: CurveBand
    better: tuple[Stretch, ...]
    worse: tuple[Stretch, ...]

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
    return comparison_of(
        (one.algorithm, other.algorithm),
        (up * one.scores, up * other.scores),
        confidence=confidence,
        kind=one.band.kind,
    )


def comparison_of(
    names: tuple[str, str],
    scores: tuple[Floats, Floats],
    *,
    confidence: float,
    kind: Kind,
) -> Comparison:
    """Return two samples compared, for which higher is better.

    Where a band ends in the support of the metric, it says nothing about two samples, and
    is left open.
    """
    a, b = scores
    n = min(len(a), len(b), _MOST)
    # In the middle of each score's share: at its ends, rounding would decide.
    p = (np.arange(n) + 0.5) / n
    shift = quantile_shift(a, b, p, confidence=confidence, kind=kind)
    each = (1 + confidence) / 2
    bands = (cdf_band(z, confidence=each, kind=kind) for z in scores)
    (low_a, high_a), (low_b, high_b) = (band.quantile(_GRID) for band in bands)
    # Quantiles grow: between two points of the grid none of `a` is below the lower end at
    # the first, and none of `b` above the upper end at the second.
    better, worse = low_a[:-1] > high_b[1:], low_b[:-1] > high_a[1:]
    return Comparison(*names, shift, _runs(better), _runs(worse))


def _runs(holds: NDArray[np.bool_]) -> tuple[Stretch, ...]:
    """Return from where to where neighbouring steps of the grid hold."""
    edges = np.flatnonzero(np.diff(np.r_[False, holds, False]))
    return tuple(
        (float(_GRID[first]), float(_GRID[last]))
        for first, last in edges.reshape(-1, 2)
    )


def sentences(comparisons: Sequence[Comparison]) -> list[str]:
    """Return in words which cross, which are better, and which nobody can tell apart."""
    out = [_crossing(c) for c in comparisons if c.crosses]
    out += [_ahead(c) for c in comparisons if bool(c.better) != bool(c.worse)]
    level = [f"{c.one} and {c.other}" for c in comparisons if not c.better + c.worse]
    if level:
        out.append(f"Not told apart at any quantile: {some_pairs(level)}.")
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
    told = [s for s in stretches if s == longest or s[1] - s[0] >= WORTH_A_WORD]
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
