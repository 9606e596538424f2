"""The variance of the scores of one algorithm on one task, source by source."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from curvewise.analyses._asking import quietly
from curvewise.analyses._crossed import ROLES, Crossing
from curvewise.stats.interval import Interval
from curvewise.stats.variance import Components, Source, components, share_intervals

Interactions: TypeAlias = Literal["together", "each"]

INTERACTION = "interaction"


@dataclass(frozen=True, slots=True)
class Share:
    """What one source adds to the variance of scores.

    Parameters
    ----------
    source : str
        "hyperparameters", "seed", "training set", "test set", "data", "interaction", or
        what the labels say.
    levels : int or None
        How many draws of it there are; None for an interaction.
    variance : float
        Unbiased, and so below 0 at times; a share is then 0.
    interval : Interval
        For its share of the variance, with the share itself as its value.
    """

    source: str
    levels: int | None
    variance: float
    interval: Interval

    @property
    def sd(self) -> float:
        """The standard deviation, in the unit of the metric; 0 for variances below 0."""
        return math.sqrt(max(self.variance, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Decomposition:
    """The variance of the scores of one algorithm on one task, source by source.

    Parameters
    ----------
    task, algorithm : str
    shares : tuple of Share
        They add up to all of the variance.
    components : Components
        Every set of factors by itself, with its mean square.
    failed : int
        How many of the trials failed; they are in it with what a failure scores.
    """

    task: str
    algorithm: str
    shares: tuple[Share, ...]
    components: Components
    failed: int

    @property
    def sd(self) -> float:
        """The standard deviation of a score, all sources together."""
        return math.sqrt(self.components.total)

    @property
    def largest(self) -> Share | None:
        """The source with the largest share; None where all scores are the same."""
        if not self.components.total > 0:
            return None
        return max(self.shares, key=lambda share: share.interval.value)


def decomposition(
    cell: Crossing,
    interactions: Interactions,
    confidence: float,
    rng: np.random.Generator,
) -> Decomposition:
    """Return the shares of the variance of a crossed design."""
    found = components(cell.scores, cell.factors)
    groups = [[source] for source in found.sources]
    if interactions == "together":
        alone = len(cell.factors)
        groups = [*groups[:alone], list(found.sources[alone:])]
    with quietly():
        intervals = share_intervals(
            cell.scores, cell.factors, groups, confidence=confidence, rng=rng
        )
    shares = tuple(
        _share(cell, found, group, interval)
        for group, interval in zip(groups, intervals, strict=True)
    )
    return Decomposition(cell.task, cell.algorithm, shares, found, cell.failed)


def _share(
    cell: Crossing, found: Components, group: list[Source], interval: Interval
) -> Share:
    places = [found.sources.index(source) for source in group]
    variance = float(found.variances[places].sum())
    if len(group[0]) == 1:
        axis = cell.factors.index(group[0][0])
        return Share(_word(group[0]), cell.scores.shape[axis], variance, interval)
    is_all = len(group) > 1 or len(cell.factors) == 2
    return Share(INTERACTION if is_all else _word(group[0]), None, variance, interval)


def _word(source: Source) -> str:
    return " x ".join(ROLES.get(name, name) for name in source)
