"""Who is in front on one task, by the tests of whole curves, in a clause."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curvewise._text import count, short_names, step
from curvewise.analyses._by_task import pair_of
from curvewise.analyses._line_tasks import LinePair, LineTask
from curvewise.analyses._naming import all_others, some
from curvewise.analyses._saying import confidently, estimate, said, span
from curvewise.metrics import Metric
from curvewise.stats.interval import Interval
from curvewise.trials.trial import ONLY

if TYPE_CHECKING:
    from curvewise.analyses.difference import Difference


@dataclass(frozen=True, slots=True, eq=False)
class LineLead:
    """Who is in front on one task, or over all tasks on the whole.

    Parameters
    ----------
    leader : str
        Whose curves are best on average over the steps.
    ahead_of, open : tuple of str
        Rivals that it was shown to be ahead of; and those that it was not.
    """

    leader: str
    ahead_of: tuple[str, ...]
    open: tuple[str, ...]


def lead_on(found: LineTask, metric: Metric) -> LineLead:
    """Return who is in front on a task, rivals in the order of their means."""
    height = {n: metric.sign * float(own.mean()) for n, own in found.lines.items()}
    first, *others = sorted(height, key=lambda name: -height[name])
    ahead = tuple(
        name
        for name in others
        if between(found, first, name).decisions["algorithm"] == "rejected"
    )
    return LineLead(first, ahead, tuple(n for n in others if n not in ahead))


def between(found: LineTask, one: str, other: str) -> LinePair:
    """Return what was found about two algorithms on a task."""
    return pair_of(found.pairs, found.algorithms, one, other)


def rival_of(pair: LinePair, leader: str) -> str:
    """Return the other one of a pair."""
    return pair.other if leader == pair.one else pair.one


def better_by(pair: LinePair, leader: str, metric: Metric) -> Interval:
    """Return by how much the leader is better, whichever way the metric goes."""
    own = pair.effects.difference
    turn = metric.sign * (1 if leader == pair.one else -1)
    low, high = sorted((turn * own.lower, turn * own.upper))
    return Interval(low, high, own.estimand, own.guarantee, turn * own.value)


def can_show_nothing(found: LineTask) -> bool:
    """Return whether so few lines could show no difference at all."""
    return all(set(p.decisions.values()) == {"cannot reject"} for p in found.pairs)


def lines_to_show(found: LineTask) -> int:
    """Return how many lines of each algorithm could show a difference."""
    return max(p.tested.lines_to_reject for p in found.pairs)


def on_one_task(answer: "Difference") -> str:
    """Return who is ahead on the only task of an answer, by how much and where."""
    (found,) = answer.found
    where = (
        "" if found.task == ONLY else f"on {short_names(answer.tasks)[found.task]}, "
    )
    if can_show_nothing(found):
        verb = "is" if found.fewest == 1 else "are"
        return (
            f"{where}{count(found.fewest, 'run')} of an algorithm {verb} too few to "
            f"show any difference, however large: it takes {lines_to_show(found)} of each"
        )
    lead = lead_on(found, answer.metric)
    return f"{where}{_open(answer, found, lead) if lead.open else _won(answer, lead)}"


def _won(answer: "Difference", lead: LineLead) -> str:
    """Return that one is ahead of all others, and how far from the nearest."""
    (found,), metric = answer.found, answer.metric
    names, rivals = short_names(found.algorithms), lead.ahead_of
    pairs = [between(found, lead.leader, name) for name in rivals]
    nearest = min(pairs, key=lambda p: better_by(p, lead.leader, metric).value)
    rival = names[rival_of(nearest, lead.leader)]
    of, whom = rival, ""
    if len(rivals) > 1:
        of, whom = all_others(len(rivals)), f" of {rival}, the next,"
    own = better_by(nearest, lead.leader, metric)
    by = f"{whom} by {estimate(own)} in {metric.label}"
    if not (math.isfinite(own.lower) and math.isfinite(own.upper)):
        how = f"{by}, of which these runs cannot tell how sure it is"
    elif own.lower <= 0:
        # Holm spares p what every interval has to pay for all pairs at once.
        how = f"{by}, though how much that really is, is open"
    else:
        how = f"{by}, {span(own)}"
    return (
        f"{names[lead.leader]} is ahead of {of} on average over the steps ({how.strip()}) "
        f"{confidently(1 - answer.level, sure=False)}{_found(nearest, lead.leader, metric)}"
    )


def _found(pair: LinePair, leader: str, metric: Metric) -> str:
    """Return at which steps that was found."""
    own = [(a, b) for name, a, b in pair.ahead(metric) if name == leader]
    if not own:
        return ""
    first, last = own[0][0], own[-1][1]
    if first == last:
        return f", found at step {step(first)}"
    gaps = f", in {len(own)} stretches" if len(own) > 1 else ""
    return f", found between steps {step(first)} and {step(last)}{gaps}"


def _open(answer: "Difference", found: LineTask, lead: LineLead) -> str:
    """Return that nobody is ahead of all others yet, and how far off that may be."""
    names, metric = short_names(found.algorithms), answer.metric
    who = some([names[n] for n in (lead.leader, *lead.open)])
    own = better_by(between(found, lead.leader, lead.open[0]), lead.leader, metric)
    than = f" than {names[lead.open[0]]}" if len(lead.open) > 1 else ""
    how = ""
    if math.isfinite(own.lower) and math.isfinite(own.upper):
        worse = f"anything from {said(-own.lower)} worse to " if own.lower < 0 else ""
        how = (
            f" ({names[lead.leader]} may be {worse}{said(own.upper)} better{than} in "
            f"{metric.label})"
        )
    only = ""
    if lead.ahead_of:
        behind = some([names[n] for n in lead.ahead_of])
        only = f", though {names[lead.leader]} is ahead of {behind}"
    return (
        f"there is no clear winner: {who} cannot be told apart yet on average over the "
        f"steps{how}{only}{_shapes(found, metric, names)}, "
        f"{confidently(1 - answer.level, sure=False)}"
    )


def _shapes(found: LineTask, metric: Metric, names: Mapping[str, str]) -> str:
    """Return whether the distance between curves was shown to change along the steps."""
    if found.anova.decision("interaction") != "rejected":
        return ""
    if len(found.pairs) > 1:
        return "; but their distances change along the steps"
    told = [
        f"{names[name]} is ahead at step {step(a)}"
        if a == b
        else f"{names[name]} is ahead between steps {step(a)} and {step(b)}"
        for name, a, b in found.pairs[0].ahead(metric)
    ]
    where = f": {some(told)}" if told else ""
    return f"; but their distance changes along the steps{where}"
