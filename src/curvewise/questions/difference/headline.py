"""Whose curves are better, in one sentence that claims no more than the tests show."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curvewise.metrics import Metric
from curvewise.questions.base import pair_of
from curvewise.questions.difference.fit import LinePair, LineTask
from curvewise.questions.difference.text import adjusted_p
from curvewise.questions.sentences import (
    all_others,
    all_tasks,
    confidently,
    estimate,
    said,
    sentence,
    some,
    some_pairs,
    span,
)
from curvewise.stats.anova import OverTasks
from curvewise.stats.interval import Interval
from curvewise.text import count, joined, short_names, step
from curvewise.trials.trial import ONLY

if TYPE_CHECKING:
    from curvewise.questions.difference import Difference


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


# --- Who is in front over several tasks, by the tests of whole curves, in a clause -----


_MOST_TASKS = 3  # for which the distance is told one by one


def tested(answer: "Difference") -> Iterator[tuple[OverTasks, float, float, float]]:
    """Yield each pair with its three p values over all tasks, adjusted for all pairs."""
    adjusted = adjusted_p(answer.overall)
    for one, (whole, somewhere, reversal) in zip(answer.overall, adjusted, strict=True):
        yield one, whole, somewhere, reversal


def leads_over_tasks(answer: "Difference") -> tuple[LineLead, ...]:
    """Return of each algorithm whom it is ahead of on the whole, the best one first.

    One p value for all tasks decides about a pair, adjusted for all pairs.
    """
    names = dict.fromkeys(n for one in answer.overall for n in one.algorithms)
    beats: dict[str, list[str]] = {name: [] for name in names}
    met: dict[str, list[str]] = {name: [] for name in names}
    total = dict.fromkeys(names, 0.0)
    for one, whole, _, _ in tested(answer):
        z = answer.metric.sign * float(one.z.sum())
        first, second = one.algorithms if z >= 0 else one.algorithms[::-1]
        met[first].append(second)
        met[second].append(first)
        total[first] += abs(z)
        total[second] -= abs(z)
        if whole <= answer.level:
            beats[first].append(second)
    order = sorted(names, key=lambda name: (-len(beats[name]), -total[name]))
    return tuple(
        LineLead(
            name,
            tuple(beats[name]),
            tuple(n for n in met[name] if n not in beats[name]),
        )
        for name in order
    )


def over_tasks(answer: "Difference") -> str:
    """Return who is ahead on the whole, over all tasks."""
    leads, n = leads_over_tasks(answer), len(answer.found)
    names = short_names([lead.leader for lead in leads])
    over = f"over all steps of {all_tasks(n)}"
    at_once = " for all pairs at once" if len(leads) > 2 else ""
    sure = f"{confidently(1 - answer.level, sure=False)}{at_once}"
    if all(o.whole.cannot_reject and o.somewhere.cannot_reject for o in answer.overall):
        return f"{over}, there are too few runs to show any difference, however large"
    first = leads[0]
    if not first.open:
        rivals = len(first.ahead_of)
        of = names[first.ahead_of[0]] if rivals == 1 else all_others(rivals)
        return (
            f"{over}, {names[first.leader]} is ahead of {of} on the whole"
            f"{_turned(answer, first)}, {sure}{_by_task(answer, first.leader)}"
        )
    shown = sum(len(lead.ahead_of) for lead in leads)
    if not shown:
        return (
            f"{over}, there is no winner: {some([names[x.leader] for x in leads])} cannot "
            f"be told apart yet on the whole, {sure}{_somewhere(answer)}"
        )
    behind, rest = ([names[x] for x in own] for own in (first.ahead_of, first.open))
    return (
        f"{over}, there is no clear winner: {shown} of {len(answer.overall)} pairs are "
        f"told apart on the whole, {sure}, and {names[first.leader]} is ahead of "
        f"{some(behind)}, but not yet of {some(rest)}"
    )


def _by_task(answer: "Difference", leader: str) -> str:
    """Return how far the leader is from the nearest rival on each of a few tasks."""
    if len(answer.found) > _MOST_TASKS:
        return ""
    parts, nearest = [], []
    tasks = short_names(answer.tasks)
    for found in answer.found:
        rivals = [name for name in found.algorithms if name != leader]
        if leader not in found.algorithms:
            return ""
        pair = min(
            (between(found, leader, name) for name in rivals),
            key=lambda own: better_by(own, leader, answer.metric).value,
        )
        own = better_by(pair, leader, answer.metric)
        nearest.append(rival_of(pair, leader))
        parts.append(f"{estimate(own)} on {tasks[found.task]} ({span(own)})")
    is_one = len(set(nearest)) == 1
    whom = short_names(nearest)[nearest[0]] if is_one else "the next best"
    over = f" over {whom}" if any(len(f.pairs) > 1 for f in answer.found) else ""
    label = answer.metric.label
    return f"; each task taken alone, its lead{over} in {label} is {joined(parts)}"


def _turned(answer: "Difference", lead: LineLead) -> str:
    """Return whether the order was shown to be the other way round on some task."""
    for one, _, _, reversal in tested(answer):
        if lead.leader in one.algorithms and reversal <= answer.level:
            return ", though behind on some task"
    return ""


def _somewhere(answer: "Difference") -> str:
    n = sum(somewhere <= answer.level for _, _, somewhere, _ in tested(answer))
    if not n:
        return ""
    if len(answer.overall) == 1:
        return "; but they differ on some task"
    return f"; but {n} pair{'s differ' if n > 1 else ' differs'} on some task"


def task_by_task(answer: "Difference") -> str:
    """Return on how many tasks somebody is ahead, where no pair met on two of them."""
    n = len(answer.found)
    # All tasks at once: each pair pays for all of them.
    shown = sum(
        any(n * p.tested.adjusted_p("algorithm") <= answer.level for p in found.pairs)
        for found in answer.found
    )
    verb = "have" if shown > 1 else "has"
    return (
        f"of {n} tasks, which have no pair of algorithms in common, {shown or 'none'} "
        f"{verb} an algorithm that is shown to be ahead of another, "
        f"{confidently(1 - answer.level, sure=False)} for all of them at once"
    )


# --------------------------------------------------------------------------------------
# Whose curves are better, in one sentence that claims no more than the tests show.


def headline(answer: "Difference") -> str:
    """Return in one sentence whose curves are better, by how much, and how sure that is."""
    if answer.metric.direction is None:
        told = _without_direction(answer)
    elif len(answer.found) == 1:
        told = on_one_task(answer)
    elif answer.overall:
        told = over_tasks(answer)
    else:
        told = task_by_task(answer)
    return sentence(f"{told}.")


def _without_direction(answer: "Difference") -> str:
    """Return how many pairs differ, and nothing about who is better."""
    pairs = [pair for found in answer.found for pair in found.pairs]
    # All tasks at once: each pair pays for all of them.
    n = len(answer.found)
    shown = sum(n * p.tested.adjusted_p("algorithm") <= answer.level for p in pairs)
    verb = "differs" if shown == 1 else "differ"
    why = "differs by task" if answer.metric.is_directed else "is not known"
    return (
        f"{shown or 'none'} of {count(len(pairs), 'pair')} {verb} in height, "
        f"{confidently(1 - answer.level, sure=False)}; which way {answer.metric.label} is "
        f"better {why}"
    )


def would_change(answer: "Difference") -> str:
    """Return what would change it: more runs, another score of failures, other steps."""
    parts = [
        _more_runs(answer),
        "Every step counts the same: another range of steps is another question.",
    ]
    if answer.failed:
        verb = "counts" if answer.failed == 1 else "count"
        parts.append(
            f"{count(answer.failed, 'failed run')} {verb} with score "
            f"{answer.failed_score} where there is no value; another score would move "
            f"the curves."
        )
    return " ".join(parts)


def _more_runs(answer: "Difference") -> str:
    lines = [len(own) for found in answer.found for own in found.lines.values()]
    least, most = min(lines), max(lines)
    now = (
        f"{least} of each algorithm" if least == most else f"{least} to {most} of each"
    )
    if few := [found for found in answer.found if can_show_nothing(found)]:
        could = max(map(lines_to_show, few))
        where = "" if len(answer.found) == 1 else f" on {count(len(few), 'task')}"
        return (
            f"More runs would: with {now} no difference can be shown{where}, however "
            f"large; {could} of each could show one."
        )
    longer = f"there are {now}, and about 4 times as many make intervals half as long"
    if open_ones := _open_pairs(answer):
        between = some_pairs(open_ones)
        return f"More runs may: who is ahead is open between {between}; {longer}."
    return f"More runs would sharpen the numbers: {longer}."


def _open_pairs(answer: "Difference") -> list[str]:
    """Return the pairs of which nobody was shown to be ahead."""
    names = short_names(n for found in answer.found for n in found.algorithms)
    if len(answer.found) > 1 and answer.overall:
        return [
            " and ".join(names[n] for n in one.algorithms)
            for one, whole, _, _ in tested(answer)
            if whole > answer.level
        ]
    return [
        f"{names[pair.one]} and {names[pair.other]}"
        for found in answer.found
        for pair in found.pairs
        if pair.decisions["algorithm"] != "rejected"
    ]
