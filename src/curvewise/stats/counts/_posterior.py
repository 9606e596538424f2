"""From counts to intervals, block by block: what all rates of a matrix share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from curvewise.stats._sample import Floats, checked_confidence
from curvewise.stats._words import percent
from curvewise.stats.counts._given import (
    Prior,
    blocks,
    checked_counts,
    checked_prior,
)
from curvewise.stats.counts.answers import CountIntervals

# Of a block of counts, what is added to each cell, and a tail: the two ends.
Ends: TypeAlias = Callable[..., tuple[Floats, Floats]]
# Of a block of counts: numerator and denominator of the rate that was observed.
Parts: TypeAlias = Callable[..., tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate of confusion counts: how it is observed, and where its posterior ends."""

    estimand: str
    parts: Parts
    ends: Ends
    worst: float = 0.0


def intervals(
    rate: Rate, counts: dict[str, ArrayLike], prior: Prior, confidence: float
) -> CountIntervals:
    """Return the intervals of a rate; only its answer is as large as the counts."""
    level, added = checked_confidence(confidence), checked_prior(prior)
    arrays = checked_counts(**counts)
    shape, size = arrays[0].shape, arrays[0].size
    lower, upper, value = np.empty(size), np.empty(size), np.empty(size)
    silent = outside = 0
    for part in blocks(size):
        # Arrays may be broadcast: .flat copies a block of them, reshape would copy all.
        own = [array.flat[part] for array in arrays]
        low, high = rate.ends(*own, added, (1 - level) / 2)
        numerator, denominator = rate.parts(*own)
        seen, is_silent = observed(numerator, denominator, rate.worst), denominator == 0
        silent += int(is_silent.sum())
        outside += int((((seen < low) | (seen > high)) & ~is_silent).sum())
        lower[part], upper[part], value[part] = low, high, seen
    return CountIntervals(
        lower.reshape(shape)[()],
        upper.reshape(shape)[()],
        value.reshape(shape)[()],
        rate.estimand,
        guarantee(prior, added, level),
        level,
        concerns(silent, outside, size),
    )


def observed(numerator: Floats, denominator: Floats, undefined: float) -> Floats:
    """Return rates, and `undefined` for 0/0."""
    out: Floats = np.full(denominator.shape, undefined)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def guarantee(prior: Prior, added: float, confidence: float) -> str:
    """Return what an interval from a posterior promises."""
    named = f"{prior} prior" if isinstance(prior, str) else "prior"
    return (
        f"about {percent(confidence)}: posterior probability, equal tails, for test "
        f"examples drawn independently ({named}, {added:g} added to every cell)"
    )


def concerns(silent: int, outside: int, size: int) -> tuple[str, ...]:
    """Return what to know of intervals."""
    found = []
    if silent:
        found.append(
            f"{_of(silent, size)} no example that tells of this rate: value is 0/0, "
            f"counted as the worst, and the interval is the prior's."
        )
    if outside:
        found.append(
            f"{_of(outside, size)} an observed rate just outside of the interval, as rates "
            f"of 0 or 1 are: the prior holds exactly 0 and 1 to be impossible."
        )
    return tuple(found)


def _of(some: int, size: int) -> str:
    if size == 1:
        return "The matrix has"
    return f"{some:,} of {size:,} matrices {'has' if some == 1 else 'have'}"
