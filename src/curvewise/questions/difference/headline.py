"""Whose curves are better, in one sentence that claims no more than the tests show."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from curvewise.metrics import Metric
from curvewise.questions.base import pair_of
from curvewise.questions.difference.fit import LinePair, LineTask
from curvewise.questions.difference.text import adjusted_p
from curvewise.questions.lead import Finding, Lead, lead_on, sign_of
from curvewise.questions.sentences import (
    all_tasks,
    at_tasks,
    confidently,
    estimate,
    failures,
    said,
    sentence,
    some,
    some_pairs,
    span,
)
from curvewise.stats.interval import Interval
from curvewise.text import count, joined, short_names, step

if TYPE_CHECKING:
    from curvewise.questions.difference import Difference


def lead_of(found: LineTask, metric: Metric) -> Lead:
    """Return who is in front on a task, rivals in the order of their means."""
    height = {n: metric.sign * float(runs.mean()) for n, runs in found.lines.items()}
    findings = [pair.finding(found.task, metric) for pair in found.pairs]
    findings.sort(key=lambda one: -min(height[one.ahead], height[one.behind]))
    return lead_on(found.task, height, findings)


def _between(result: LineTask, one: str, other: str) -> LinePair:
    return pair_of(result.pairs, result.algorithms, one, other)


def _nearest(
    result: LineTask, leader: str, rivals: Sequence[str], metric: Metric
) -> tuple[LinePair, str, Interval]:
    """Return the pair of a leader and its nearest rival, and by how much it is better."""
    pairs = [_between(result, leader, name) for name in rivals]
    nearest = min(pairs, key=lambda pair: _better_by(pair, leader, metric).value)
    rival = nearest.other if leader == nearest.one else nearest.one
    return nearest, rival, _better_by(nearest, leader, metric)


def _better_by(pair: LinePair, leader: str, metric: Metric) -> Interval:
    """Return by how much the leader is better, whichever way the metric goes."""
    by = pair.effects.difference
    turn = metric.sign * (1 if leader == pair.one else -1)
    low, high = sorted((turn * by.lower, turn * by.upper))
    return Interval(low, high, by.estimand, by.guarantee, turn * by.value)


def _can_show_nothing(result: LineTask) -> bool:
    """Return whether so few lines could show no difference at all."""
    return all(set(p.decisions.values()) == {"cannot reject"} for p in result.pairs)


def _lines_to_show(result: LineTask) -> int:
    """Return how many lines of each algorithm could show a difference."""
    return max(p.tested.lines_to_reject for p in result.pairs)


def _on_one_task(answer: "Difference") -> str:
    """Return who is ahead on the only task of an answer, by how much and where."""
    (result,) = answer.found
    where = at_tasks([result.task], short_names(answer.tasks))
    if _can_show_nothing(result):
        verb = "is" if result.fewest == 1 else "are"
        return (
            f"{where}{count(result.fewest, 'run')} of an algorithm {verb} too few to "
            f"show any difference, however large: it takes {_lines_to_show(result)} of each"
        )
    lead = lead_of(result, answer.metric)
    say = _open if lead.open else _won
    sure = confidently(1 - answer.level, sure=False)
    return f"{where}{say(result, lead, answer.metric, sure)}"


def _won(result: LineTask, lead: Lead, metric: Metric, sure: str) -> str:
    """Return that one is ahead of all others, and how far from the nearest."""
    names = short_names(result.algorithms)
    nearest, rival, by = _nearest(result, lead.leader, lead.sure, metric)
    how = f"by {estimate(by)} in {metric.label}"
    if len(lead.sure) > 1:
        how = f"of {names[rival]}, the next, {how}"
    if not (math.isfinite(by.lower) and math.isfinite(by.upper)):
        how += ", of which these runs cannot tell how sure it is"
    elif by.lower <= 0:
        # Holm spares p what every interval has to pay for all pairs at once.
        how += ", though how much that really is, is open"
    else:
        how += f", {span(by)}"
    return (
        f"{names[lead.leader]} is ahead of {lead.whom(names)} on average over the steps "
        f"({how}) {sure}{_found(nearest, lead.leader, metric)}"
    )


def _found(pair: LinePair, leader: str, metric: Metric) -> str:
    """Return at which steps that was found."""
    stretches = [(a, b) for name, a, b in pair.ahead(metric) if name == leader]
    if not stretches:
        return ""
    first, last = stretches[0][0], stretches[-1][1]
    if first == last:
        return f", found at step {step(first)}"
    gaps = f", in {len(stretches)} stretches" if len(stretches) > 1 else ""
    return f", found between steps {step(first)} and {step(last)}{gaps}"


def _open(result: LineTask, lead: Lead, metric: Metric, sure: str) -> str:
    """Return that nobody is ahead of all others yet, and how far off that may be."""
    names = short_names(result.algorithms)
    leader, first = names[lead.leader], lead.open[0]
    who = some([leader, *(names[n] for n in lead.open)])
    by = _better_by(_between(result, lead.leader, first), lead.leader, metric)
    than = f" than {names[first]}" if len(lead.open) > 1 else ""
    how = ""
    if math.isfinite(by.lower) and math.isfinite(by.upper):
        worse = f"anything from {said(-by.lower)} worse to " if by.lower < 0 else ""
        how = (
            f" ({leader} may be {worse}{said(by.upper)} better{than} in {metric.label})"
        )
    only = ""
    if lead.sure:
        only = f", though {leader} is ahead of {some([names[n] for n in lead.sure])}"
    return (
        f"there is no clear winner: {who} cannot be told apart yet on average over the "
        f"steps{how}{only}{_shapes(result, metric, names)}, {sure}"
    )


def _shapes(result: LineTask, metric: Metric, names: Mapping[str, str]) -> str:
    """Return whether the distance between curves was shown to change along the steps."""
    if result.anova.decision("interaction") != "rejected":
        return ""
    if len(result.pairs) > 1:
        return "; but their distances change along the steps"
    stretches = [
        f"{names[name]} is ahead at step {step(a)}"
        if a == b
        else f"{names[name]} is ahead between steps {step(a)} and {step(b)}"
        for name, a, b in result.pairs[0].ahead(metric)
    ]
    where = f": {some(stretches)}" if stretches else ""
    return f"; but their distance changes along the steps{where}"


# --- Who is in front over several tasks, by the tests of whole curves, in a clause -----


_MOST_TASKS = 3  # for which the distance is told one by one


def _findings(answer: "Difference") -> list[Finding]:
    """Return who is ahead on the whole, over all tasks, of each pair that met on several.

    One p value for all tasks decides about a pair, adjusted for all pairs.
    """
    findings = []
    for one, (whole, *_) in zip(
        answer.overall, adjusted_p(answer.overall), strict=True
    ):
        pair = one.algorithms
        ahead = pair[sign_of(answer.metric) * float(one.z.sum()) < 0]
        findings.append(Finding.of("", pair, ahead if whole <= answer.level else None))
    return findings


def leads_over_tasks(answer: "Difference") -> tuple[Lead, ...]:
    """Return of each algorithm whom it is ahead of on the whole, the best one first."""
    total: defaultdict[str, float] = defaultdict(float)
    for one in answer.overall:
        z = answer.metric.sign * float(one.z.sum())
        first, second = one.algorithms
        total[first] += z
        total[second] -= z
    findings = _findings(answer)
    leads = [Lead.of(name, findings) for name in total]
    return tuple(sorted(leads, key=lambda lead: (-len(lead.sure), -total[lead.leader])))


def _over_tasks(answer: "Difference") -> str:
    """Return who is ahead on the whole, over all tasks."""
    leads, n = leads_over_tasks(answer), len(answer.found)
    names = short_names([lead.leader for lead in leads])
    over = f"over all steps of {all_tasks(n)}"
    at_once = " for all pairs at once" if len(leads) > 2 else ""
    sure = f"{confidently(1 - answer.level, sure=False)}{at_once}"
    if all(o.whole.cannot_reject and o.somewhere.cannot_reject for o in answer.overall):
        return f"{over}, there are too few runs to show any difference, however large"
    first = leads[0]
    leader = names[first.leader]
    # Whom p values say to be the other way round, or to differ, on some task.
    adjusted = adjusted_p(answer.overall)
    if not first.open:
        is_turned = any(
            first.leader in one.algorithms and reversal <= answer.level
            for one, (*_, reversal) in zip(answer.overall, adjusted, strict=True)
        )
        turned = ", though behind on some task" if is_turned else ""
        return (
            f"{over}, {leader} is ahead of {first.whom(names)} on the whole{turned}, "
            f"{sure}{_by_task(answer, first.leader)}"
        )
    apart = sum(len(lead.sure) for lead in leads)
    if not apart:
        somewhere = ""
        if differ := sum(p <= answer.level for _, p, _ in adjusted):
            who = f"{differ} pair{'s differ' if differ > 1 else ' differs'}"
            who = "they differ" if len(answer.overall) == 1 else who
            somewhere = f"; but {who} on some task"
        return (
            f"{over}, there is no winner: {some([names[x.leader] for x in leads])} cannot "
            f"be told apart yet on the whole, {sure}{somewhere}"
        )
    behind, rest = ([names[x] for x in rivals] for rivals in (first.sure, first.open))
    return (
        f"{over}, there is no clear winner: {apart} of {len(answer.overall)} pairs are "
        f"told apart on the whole, {sure}, and {leader} is ahead of {some(behind)}, but "
        f"not yet of {some(rest)}"
    )


def _by_task(answer: "Difference", leader: str) -> str:
    """Return how far the leader is from the nearest rival on each of a few tasks."""
    if len(answer.found) > _MOST_TASKS:
        return ""
    parts, nearest = [], []
    tasks, metric = short_names(answer.tasks), answer.metric
    for result in answer.found:
        if leader not in result.algorithms:
            return ""
        rivals = [name for name in result.algorithms if name != leader]
        _, rival, by = _nearest(result, leader, rivals, metric)
        nearest.append(rival)
        parts.append(f"{estimate(by)} on {tasks[result.task]} ({span(by)})")
    is_one = len(set(nearest)) == 1
    whom = short_names(nearest)[nearest[0]] if is_one else "the next best"
    over = f" over {whom}" if any(len(f.pairs) > 1 for f in answer.found) else ""
    return (
        f"; each task taken alone, its lead{over} in {metric.label} is {joined(parts)}"
    )


def _is_shown(answer: "Difference", pair: LinePair) -> bool:
    """Return whether a pair differs in height, all tasks at once: each pays for all."""
    p = pair.tested.adjusted_p("algorithm")
    return len(answer.found) * p <= answer.level


def _task_by_task(answer: "Difference", sure: str) -> str:
    """Return on how many tasks somebody is ahead, where no pair met on two of them."""
    n = sum(any(_is_shown(answer, p) for p in one.pairs) for one in answer.found)
    return (
        f"of {len(answer.found)} tasks, which have no pair of algorithms in common, "
        f"{n or 'none'} {'have' if n > 1 else 'has'} an algorithm that is shown to "
        f"be ahead of another, {sure} for all of them at once"
    )


# --------------------------------------------------------------------------------------
# Whose curves are better, in one sentence that claims no more than the tests show.


def headline(answer: "Difference") -> str:
    """Return in one sentence whose curves are better, by how much, and how sure that is."""
    sure = confidently(1 - answer.level, sure=False)
    if answer.metric.direction is None:
        clause = _without_direction(answer, sure)
    elif len(answer.found) == 1:
        clause = _on_one_task(answer)
    elif answer.overall:
        clause = _over_tasks(answer)
    else:
        clause = _task_by_task(answer, sure)
    return sentence(f"{clause}.")


def _without_direction(answer: "Difference", sure: str) -> str:
    """Return how many pairs differ, and nothing about who is better."""
    pairs = [pair for result in answer.found for pair in result.pairs]
    differ = sum(_is_shown(answer, pair) for pair in pairs)
    why = "differs by task" if answer.metric.is_directed else "is not known"
    return (
        f"{differ or 'none'} of {count(len(pairs), 'pair')} "
        f"{'differs' if differ == 1 else 'differ'} in height, {sure}; which way "
        f"{answer.metric.label} is better {why}"
    )


def would_change(answer: "Difference") -> str:
    """Return what would change it: more runs, another score of failures, other steps."""
    parts = [
        _more_runs(answer),
        "Every step counts the same: another range of steps is another question.",
    ]
    if answer.failed:
        where = " where there is no value"
        score, noun = answer.failed_score, "failed run"
        parts.append(
            failures(answer.failed, score, "the curves", noun=noun, where=where)
        )
    return " ".join(parts)


def _more_runs(answer: "Difference") -> str:
    lines = [len(curves) for result in answer.found for curves in result.lines.values()]
    least, most = min(lines), max(lines)
    now = (
        f"{least} of each algorithm" if least == most else f"{least} to {most} of each"
    )
    if few := [result for result in answer.found if _can_show_nothing(result)]:
        could = max(map(_lines_to_show, few))
        where = "" if len(answer.found) == 1 else f" on {count(len(few), 'task')}"
        return (
            f"More runs would: with {now} no difference can be shown{where}, however "
            f"large; {could} of each could show one."
        )
    longer = f"there are {now}, and about 4 times as many make intervals half as long"
    if len(answer.found) > 1 and answer.overall:
        findings = _findings(answer)
    else:
        findings = [
            pair.finding(result.task, answer.metric)
            for result in answer.found
            for pair in result.pairs
        ]
    names = short_names(n for result in answer.found for n in result.algorithms)
    pairs = [
        f"{names[one.ahead]} and {names[one.behind]}"
        for one in findings
        if one.surety == "open"
    ]
    if pairs:
        return f"More runs may: who is ahead is open between {some_pairs(pairs)}; {longer}."
    return f"More runs would sharpen the numbers: {longer}."
