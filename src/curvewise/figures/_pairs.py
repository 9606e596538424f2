"""Which pairs of algorithms a picture of differences shows, and what it then says."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from curvewise._text import count, percent
from curvewise.analyses.difference import Difference, LinePair, LineTask
from curvewise.errors import CurvewiseError
from curvewise.figures.series import without_band
from curvewise.stats.interval import CurveBand

PairsLike: TypeAlias = Sequence[tuple[str, str]]
_MOST_PAIRS = 10  # on one pair of axes


class ShownPair(NamedTuple):
    """A pair as it is drawn: first minus second, which may be turned round."""

    pair: LinePair
    first: str
    second: str

    @property
    def stretches(self) -> tuple[tuple[float, float], ...]:
        return () if self.pair.where is None else self.pair.where.stretches

    def difference(self, found: LineTask) -> CurveBand:
        """Return the difference of the mean curves; without a band where there is none."""
        band = self.pair.band
        if band is None:
            one, other = found.means[self.pair.one], found.means[self.pair.other]
            none = without_band(found.lines.steps)
            value = one.value - other.value
            band = CurveBand(found.lines.steps, value, none, none, "", "no band")
        if self.first == self.pair.one:
            return band
        value, lower, upper = -band.value, -band.upper, -band.lower
        return CurveBand(band.at, value, lower, upper, band.estimand, band.guarantee)


def chosen_pairs(found: LineTask) -> list[ShownPair]:
    """Return the pairs to draw, in the order of the answer."""
    places = sorted(
        range(len(found.pairs)), key=lambda i: _interest(found.pairs[i]), reverse=True
    )
    chosen = [found.pairs[i] for i in sorted(places[:_MOST_PAIRS])]
    return [ShownPair(pair, pair.one, pair.other) for pair in chosen]


def _interest(pair: LinePair) -> tuple[bool, bool, float]:
    """Return what a pair has to show: steps, any finding, a difference for its band."""
    size = abs(pair.effects.difference.value)
    if pair.band is not None:
        half = (pair.band.upper - pair.band.lower) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            size = float(np.nan_to_num(np.abs(pair.band.value) / half).max())
    return _is_seen(pair), _is_found(pair), size


def _is_seen(pair: LinePair) -> bool:
    return pair.where is not None and bool(pair.where.different.any())


def _is_found(pair: LinePair) -> bool:
    return _is_seen(pair) or "rejected" in pair.decisions.values()


def asked_pairs(
    answer: Difference, found: LineTask, pairs: PairsLike
) -> list[ShownPair]:
    """Return the pairs that were asked for, each the way round that it was."""
    if not (isinstance(pairs, tuple | list) and pairs and all(map(_is_pair, pairs))):
        raise CurvewiseError(
            f"pairs is {pairs!r}. Pass pairs of names, such as [('a', 'b'), ('a', 'c')].",
            argument="pairs",
            value=pairs,
        )
    return [
        ShownPair(answer.pair(one, other, found.task), one, other)
        for one, other in pairs
    ]


def _is_pair(two: object) -> bool:
    return isinstance(two, tuple | list) and len(two) == 2


def what_was_found(
    answer: Difference, found: LineTask, shown: Sequence[ShownPair]
) -> str:
    """Return what the picture of differences shows, and what it does not."""
    several = len(found.pairs) > 1
    parts = ["The difference of the mean curves, first minus second"]
    if any(one.pair.band is not None for one in shown):
        sharing = " and for all pairs" if several else ""
        parts.append(
            f", with {percent(1 - answer.level)} bands at all steps{sharing} at once"
        )
    parts.append(". ")
    if any(one.stretches for one in shown):
        parts.append(
            "Bars: the steps or windows at which the pair was found to differ. They may "
            "reach beyond where a band leaves out 0, as they are found by a sharper test."
        )
    elif any(one.pair.where is not None for one in shown):
        parts.append("At no step or window was a difference found.")
    untold = sum(one.pair.where is None for one in shown)
    if untold == len(shown):
        parts.append("There are too few lines to tell where they differ.")
    elif untold:
        few = f" Of {count(untold, 'pair')} there are too few lines to tell where."
        parts.append(few)
    drawn = [one.pair for one in shown]
    if left := [pair for pair in found.pairs if pair not in drawn]:
        differ = sum(map(_is_found, left))
        parts.append(
            f" {len(found.pairs) - len(left)} of {len(found.pairs)} pairs; of those left "
            f"out, {differ or 'none'} {'was' if differ == 1 else 'were'} found to differ."
        )
    return "".join(parts)
