"""Two versions: which trials belong together, what changed, and what is worse."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from curvewise.errors import CurvewiseError, Keyword, Verbatim, listed, shortened
from curvewise.metrics import Floats, Metric
from curvewise.questions.sampling import Sample, refuse_crossed
from curvewise.questions.sentences import said
from curvewise.stats.comparison import holm, shared_confidence
from curvewise.stats.interval import Interval
from curvewise.stats.noninferiority import (
    CautiousDifference,
    cautious_difference,
    more_trials,
)
from curvewise.stats.validation import is_number
from curvewise.text import percent, step
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.columns import to_texts
from curvewise.trials.doors import scored

_SEED = re.compile("seed|fold|split|repeat", re.IGNORECASE)
_NUMBERED_BY = re.compile(r"\btrial=([^;]+)")  # as the origin of trials says it
BASE, NEW = "base: ", "new: "  # before the names of algorithms


@dataclass(frozen=True, slots=True)
class Names:
    """What is compared: an algorithm of the base with one of the new version, on a task."""

    task: str
    base: str
    new: str


@dataclass(frozen=True, slots=True)
class Matched:
    """What both versions have, and what only one of them has.

    Parameters
    ----------
    both : tuple of Names
    removed, added : tuple of str
        What only the base and only the new version has, in words.
    """

    both: tuple[Names, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]


def matched(base: Trials, new: Trials) -> Matched:
    """Return which algorithms are compared on which tasks.

    Two algorithms of different names are compared where each version has only one.
    """
    old, now = _cells(base), _cells(new)
    both = [Names(task, name, name) for task, name in old if (task, name) in now]
    if not both and len(base.algorithms) == len(new.algorithms) == 1:
        (one,), (other,) = base.algorithms, new.algorithms
        both = [Names(task, one, other) for task in base.tasks if task in new.tasks]
    if not both:
        raise CurvewiseError(
            f"BASE and NEW have no algorithm on a task in common: BASE has "
            f"{listed(base.algorithms)} on {listed(base.tasks)}, NEW has "
            f"{listed(new.algorithms)} on {listed(new.tasks)}. Give what belongs together "
            f"the same names."
        )
    in_base = {(n.task, n.base) for n in both}
    in_new = {(n.task, n.new) for n in both}
    return Matched(
        tuple(both),
        _only([cell for cell in old if cell not in in_base], new),
        _only([cell for cell in now if cell not in in_new], base),
    )


def _cells(trials: Trials) -> list[tuple[str, str]]:
    """Return the pairs of task and algorithm of which there are trials, in order."""
    core, k = trials.core, len(trials.algorithms)
    _, first = np.unique(core.task.astype(np.int64) * k + core.algorithm, True)
    return [trials.key(row)[:2] for row in np.sort(first).tolist()]


def _only(cells: Sequence[tuple[str, str]], other: Trials) -> tuple[str, ...]:
    """Return in words what one version has and the other has not."""
    lacking: dict[str, None] = {}
    for task, name in cells:
        where, who = f"'{shortened(task)}'", f"'{shortened(name)}'"
        if task not in other.tasks:
            lacking[f"task {where}"] = None
        elif name not in other.algorithms:
            lacking[f"algorithm {who}"] = None
        else:
            lacking[f"{who} on {where}"] = None
    return tuple(lacking)


def metric_of_both(base: Trials, new: Trials, metric: str | None) -> Metric:
    """Return what both versions are judged by; raise where one of them lacks it."""
    for version, trials in (("BASE", base), ("NEW", new)):
        try:
            must_be_trials(trials)
        except CurvewiseError as problem:
            raise CurvewiseError(f"{version}: ", problem.message) from None
        if len(trials) == 0:
            raise CurvewiseError(f"{version} has no trials. Check what was read.")
    if metric is None:
        theirs = scored(new)
        common = [name for name in scored(base) if name in theirs]
        if len(common) != 1:
            raise CurvewiseError(
                f"Which metric? BASE has {listed(scored(base)) or 'none'}, NEW has "
                f"{listed(theirs) or 'none'}. Pass ",
                {"metric": Verbatim("<one that both have>")},
                ".",
            )
        (metric,) = common
    meant = [
        _meaning(trials, metric, v) for v, trials in (("BASE", base), ("NEW", new))
    ]
    if meant[0] != meant[1]:
        raise CurvewiseError(
            f"'{metric}' is {meant[0]} in BASE and {meant[1]} in NEW. Read both with "
            "the same ",
            {"metrics": ...},
            ".",
        )
    return meant[0]


def _meaning(trials: Trials, metric: str, version: str) -> Metric:
    try:
        return trials.metric(metric)
    except CurvewiseError as problem:
        raise CurvewiseError(f"{version}: ", problem.message) from None


def together(base: Trials, new: Trials) -> Trials:
    """Return the trials of both versions, told apart by the names of the algorithms.

    So both are scored alike: the worst score that a failure gets is that of both.
    """
    for trials in (base, new):
        refuse_crossed(trials)
    return Trials.concat([_named(base, BASE), _named(new, NEW)])


def _named(trials: Trials, version: str) -> Trials:
    return Trials.from_columns(
        trials.tasks,
        [f"{version}{name}" for name in trials.algorithms],
        trials.metrics,
        trials.core,
        trials.details,
        origin=trials.origin,
        design=trials.design,
    )


def have_same_seeds(base: Trials, new: Trials, names: Names) -> bool:
    """Return whether trials of one number have one seed, as far as labels say.

    Seeds that are no whole numbers are counted as they come, in each version for itself.
    """
    one = _seeds(base.where(task=names.task, algorithm=names.base))
    other = _seeds(new.where(task=names.task, algorithm=names.new))
    return one == other


def _seeds(trials: Trials) -> list[dict[str, object]]:
    """Return what the labels of each trial say of its seed, in the order of numbers."""
    numberings = _NUMBERED_BY.findall(trials.origin)
    numbered_by = {name for labels in numberings for name in labels.split("+")}
    labels = (json.loads(text or "{}") for text in to_texts(trials.details().labels))
    return [
        {n: v for n, v in of_trial.items() if n in numbered_by or _SEED.search(n)}
        for of_trial in labels
    ]


def ends_apart(base: Trials, new: Trials, tasks: Sequence[str]) -> list[str]:
    """Return in words on which tasks the curves of both versions end at other steps."""
    ends = _ends(base), _ends(new)
    phrases = []
    for task in dict.fromkeys(tasks):
        one, other = (by_task.get(task) for by_task in ends)
        if one is not None and other is not None and one != other:
            phrases.append(f"{task}: step {step(one)} and {step(other)}")
    return phrases


def _ends(trials: Trials) -> Mapping[str, float]:
    """Return the last step of each task that any trial that ended well got to."""
    core = trials.core
    rows = np.flatnonzero((core.lengths > 0) & (core.status == 0))
    last = core.steps[core.offsets[rows + 1] - 1]
    return {
        task: float(last[core.task[rows] == code].max())
        for code, task in enumerate(trials.tasks)
        if (core.task[rows] == code).any()
    }


# --------------------------------------------------------------------------------------
# How much worse a version may be: in units of the metric, or as a share of the base.


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
            share = f"{percent(self.size)} of base"
            return f"{share}, the default" if self.is_default else share
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


# --------------------------------------------------------------------------------------
# What a new version changes for one algorithm on one task, and whether it is worse.


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
    return Side(
        algorithm=name,
        trials=n,
        failed=sample.failed,
        mean=float(compared.mean()),
        sd=sd,
        left_out=left_out,
    )


def changes_of(
    pairs: Sequence[Pair], margin: Margin, confidence: float
) -> tuple[Change, ...]:
    """Return what changed for each pair, judged together."""
    rooms = [_room(pair, margin, confidence) for pair in pairs]
    bound = margin.bound()
    p = holm([room.p_below(bound) for room in rooms]).tolist()
    changes = [
        _change(pair, room, margin, p_worse, confidence)
        for pair, room, p_worse in zip(pairs, rooms, p, strict=True)
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
        task=pair.names.task,
        base=base,
        new=new,
        paired=pair.paired,
        margin=margin.in_units(base.mean),
        difference=cautious_difference(
            pair.new, pair.base, paired=pair.paired, confidence=confidence
        ),
        room=_moved(room, -margin.bound()),
        p_worse=p_worse,
        verdict=verdict,
        is_same=bool(np.array_equal(pair.base, pair.new)),
    )


def _moved(room: CautiousDifference, by: float) -> CautiousDifference:
    """Return a difference from another bound."""
    one = room.interval
    moved = replace(
        one, lower=one.lower + by, upper=one.upper + by, value=one.value + by
    )
    return replace(room, interval=moved)


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
