"""What a new version changes for one algorithm on one task, and whether it is worse."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from curvewise.analyses._asking import Sample
from curvewise.analyses._versions_margin import Margin
from curvewise.analyses._versions_matching import Names
from curvewise.errors import CurvewiseError, Keyword
from curvewise.metrics import Floats, Metric
from curvewise.stats.comparison import holm, shared_confidence
from curvewise.stats.interval import Interval
from curvewise.stats.noninferiority import (
    CautiousDifference,
    cautious_difference,
    more_trials,
)

Verdict: TypeAlias = Literal["no worse", "worse", "cannot tell"]

POWER = 0.8  # of the number of trials that would tell
MOST = 1000  # more trials than these are not worth counting


@dataclass(frozen=True, slots=True)
class Side:
    """One version of an algorithm on a task.

    Parameters
    ----------
    algorithm : str
    trials : int
        That were compared.
    failed : int
        How many failed; they count with what a failure scores.
    mean, sd : float
        In the metric's own direction; of one trial there is no standard deviation.
    left_out : int
        Trials without a partner, where only pairs were asked for.
    """

    algorithm: str
    trials: int
    failed: int
    mean: float
    sd: float
    left_out: int


@dataclass(frozen=True, slots=True)
class Change:
    """What a new version changes for one algorithm on one task.

    Parameters
    ----------
    task : str
    base, new : Side
    paired : bool
        Whether trials of both have the same numbers (seeds), and were compared in pairs.
    margin : float
        How much worse is not worse, in units of the metric.
    difference : CautiousDifference
        The new mean less that of the base, above 0 where the new one is better.
    room : CautiousDifference
        What is left to the margin, below 0 where that is exceeded: the difference plus the
        margin; with a margin of 5 %, the new mean less 95 % of the base's.
    p_worse : float
        Of the test that it is worse by more than the margin, corrected for the number of
        changes (Holm).
    verdict : {"no worse", "worse", "cannot tell"}
    is_same : bool
        Whether all scores are equal, trial by trial.
    more_if_equal, more_if_as_seen : int or None
        How many more trials of each version would tell if both are equally good, or if the
        difference is what was seen; 0 where it is told, None for more than 1,000 or where
        nobody knows.
    more_of_new : int or None
        How many more of the new version alone would, if both are equally good.
    """

    task: str
    base: Side
    new: Side
    paired: bool
    margin: float
    difference: CautiousDifference
    room: CautiousDifference
    p_worse: float
    verdict: Verdict
    is_same: bool
    more_if_equal: int | None = 0
    more_if_as_seen: int | None = 0
    more_of_new: int | None = 0

    @property
    def interval(self) -> Interval:
        """The difference with its one-sided limits."""
        return self.difference.interval

    @property
    def than_before(self) -> Literal["better", "worse", "open"]:
        """Whether it is surely better or worse than before, however little."""
        if self.interval.lower > self.difference.rounding:
            return "better"
        return "worse" if self.difference.is_below(0) else "open"

    @property
    def is_one_trial(self) -> bool:
        """Whether one trial is all there is of either version."""
        return min(self.base.trials, self.new.trials) == 1


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """The scores of both versions, higher is better, and what they are called."""

    names: Names
    base: Floats
    new: Floats
    paired: bool
    sides: tuple[Side, Side]


def pair_of(
    names: Names, base: Sample, new: Sample, metric: Metric, *, paired: bool
) -> Pair:
    """Return the scores to compare, of all trials or of those with a partner."""
    old, now = base.scores, new.scores
    if paired:
        _, here, there = np.intersect1d(base.numbers, new.numbers, return_indices=True)
        if len(here) == 0:
            raise CurvewiseError(
                f"No trial of '{names.base}' on '{names.task}' has the same number "
                "(seed) in BASE and in NEW, so that there are no pairs. Leave ",
                Keyword("paired"),
                " out.",
            )
        old, now = old[here], now[there]
    sides = _side(names.base, base, old), _side(names.new, new, now)
    return Pair(names, metric.sign * old, metric.sign * now, paired, sides)


def _side(name: str, sample: Sample, compared: Floats) -> Side:
    n = len(compared)
    unit = (
        float(np.abs(compared).max()) or 1.0
    )  # squares of large scores would overflow
    sd = unit * float((compared / unit).std(ddof=1)) if n > 1 else math.nan
    left_out = len(sample.scores) - n
    return Side(name, n, sample.failed, float(compared.mean()), sd, left_out)


def changes_of(
    pairs: Sequence[Pair], margin: Margin, confidence: float
) -> tuple[Change, ...]:
    """Return what changed for each pair, judged together.

    Parameters
    ----------
    pairs : sequence of Pair
    margin : Margin
    confidence : float
        Of each claim; "worse" is corrected for the number of pairs.
    """
    rooms = [_room(pair, margin, confidence) for pair in pairs]
    bound = margin.bound()
    p = holm([room.p_below(bound) for room in rooms]).tolist()
    changes = [
        _change(pair, room, margin, own, confidence)
        for pair, room, own in zip(pairs, rooms, p, strict=True)
    ]
    is_open = [change.verdict == "cannot tell" for change in changes]
    # "No worse" takes all of them: each must tell so often that all of them do.
    power = POWER ** (1 / max(sum(is_open), 1))
    return tuple(
        _planned(change, pair, margin, confidence, power, len(pairs))
        if unsure
        else change
        for change, pair, unsure in zip(changes, pairs, is_open, strict=True)
    )


def _room(pair: Pair, margin: Margin, confidence: float) -> CautiousDifference:
    weight = margin.weight(float(pair.base.mean()))
    return cautious_difference(
        pair.new, pair.base, weight=weight, paired=pair.paired, confidence=confidence
    )


def _change(
    pair: Pair,
    room: CautiousDifference,
    margin: Margin,
    p_worse: float,
    confidence: float,
) -> Change:
    verdict: Verdict = "cannot tell"
    if room.is_at_least(margin.bound()):
        verdict = "no worse"
    elif p_worse <= 1 - confidence and room.is_below(margin.bound()):
        verdict = "worse"
    base, new = pair.sides
    return Change(
        pair.names.task,
        base,
        new,
        pair.paired,
        margin.in_units(base.mean),
        cautious_difference(
            pair.new, pair.base, paired=pair.paired, confidence=confidence
        ),
        _moved(room, -margin.bound()),
        p_worse,
        verdict,
        bool(np.array_equal(pair.base, pair.new)),
    )


def _moved(found: CautiousDifference, by: float) -> CautiousDifference:
    """Return a difference from another bound."""
    one = found.interval
    moved = replace(
        one, lower=one.lower + by, upper=one.upper + by, value=one.value + by
    )
    return replace(found, interval=moved)


def _planned(
    change: Change,
    pair: Pair,
    margin: Margin,
    confidence: float,
    power: float,
    cells: int,
) -> Change:
    """Return the change with how many more trials would tell."""
    if change.is_one_trial:
        return replace(
            change, more_if_equal=None, more_if_as_seen=None, more_of_new=None
        )

    # "Worse" has to stand among all of them.
    corrected = shared_confidence(confidence, cells)

    def more(room: float, *, alone: bool = False) -> int | None:
        return more_trials(
            *(pair.new, pair.base, room),
            weight=margin.weight(float(pair.base.mean())),
            paired=pair.paired,
            confidence=confidence if room >= 0 else corrected,
            power=power,
            alone=alone,
            most=MOST,
        )

    return replace(
        change,
        more_if_equal=more(change.margin),
        more_if_as_seen=more(change.room.interval.value),
        more_of_new=None if pair.paired else more(change.margin, alone=True),
    )
