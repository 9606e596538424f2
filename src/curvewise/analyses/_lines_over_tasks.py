"""Who is in front over several tasks, by the tests of whole curves, in a clause."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from curvewise._text import joined, short_names
from curvewise.analyses._line_lead import LineLead, better_by, between, rival_of
from curvewise.analyses._line_tables import adjusted_p
from curvewise.analyses._naming import all_others, all_tasks, some
from curvewise.analyses._saying import confidently, estimate, span
from curvewise.stats.anova import OverTasks

if TYPE_CHECKING:
    from curvewise.analyses.difference import Difference

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
