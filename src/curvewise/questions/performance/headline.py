"""Who is in front, in one sentence that claims no more than the comparisons show."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from curvewise.questions.lead import Finding, Lead, lead_on, sign_of
from curvewise.questions.performance.fit import Distribution
from curvewise.questions.sentences import (
    at_tasks,
    confidently,
    estimate,
    failures,
    interval_cell,
    is_known,
    sentence,
    share_of_trials,
    some,
    some_pairs,
    span,
)
from curvewise.stats.bootstrap import FEW
from curvewise.stats.interval import Interval
from curvewise.text import Cell, count, joined, percent, short_names
from curvewise.trials.trial import ONLY

if TYPE_CHECKING:
    from curvewise.questions.performance import Performance


def leads(answer: "Performance") -> tuple[Lead, ...]:
    """Return who is in front on each task, by the mean of the best of the trials."""
    findings: dict[str, list[Finding]] = {}
    for c in answer.contrasts:
        findings.setdefault(c.task, []).append(c.finding)
    scores: dict[str, dict[str, float]] = {}
    for d in answer.distributions:
        best = d.metric.sign * d.best_interval.value
        scores.setdefault(d.task, {})[d.algorithm] = best
    return tuple(
        lead_on(task, own, findings.get(task, [])) for task, own in scores.items()
    )


def _front(answer: "Performance", lead: Lead) -> Distribution:
    """Return the scores of a leader."""
    return answer.one(lead.leader, lead.task)


def lead_table(answer: "Performance") -> list[dict[str, Cell]]:
    """Return who is in front on each task, with headings for people."""
    best = share_of_trials(answer.alpha).removesuffix(" of its trials")
    return [
        {
            "task": lead.task,
            "in front": lead.leader,
            best: interval_cell(_front(answer, lead).best_interval),
            "told apart from": len(lead.sure),
            "probably from": len(lead.probable),
            "not yet from": len(lead.open),
        }
        for lead in leads(answer)
    ]


# --- Who is in front, in one sentence that claims no more than the comparisons show ----


MOST_TASKS = 3  # that are told one by one
_FAR = 4  # times as many trials for intervals half as long


def headline(answer: "Performance", first: str = "") -> str:
    """Return in one sentence who is in front, and how sure that is."""
    found = leads(answer)
    if all(d.failed == len(d.scores) for d in answer.distributions):
        failed = sum(d.failed for d in answer.distributions)
        told = (
            f"how good anybody is, cannot be told: "
            f"{'the only trial' if failed == 1 else f'all {failed:,} trials'} failed, and "
            f"{'counts' if failed == 1 else 'count'} with score {answer.failed_score}"
        )
    elif all(lead.standing == "alone" for lead in found):
        told = _how_good(answer, [_front(answer, lead) for lead in found])
    elif len(found) > MOST_TASKS:
        told = _counted(answer, found)
    else:
        told = _one_by_one(answer, found)
    return sentence(f"{first}{told}.")


def _one_by_one(answer: "Performance", found: Sequence[Lead]) -> str:
    """Return who is in front on each of a few tasks, those that are alike together."""
    names, tasks = _names(answer), short_names(answer.tasks)
    alike: dict[Lead, list[Lead]] = {}
    for lead in found:
        alike.setdefault(replace(lead, task=""), []).append(lead)
    parts: list[str] = []
    for lead, own in alike.items():
        clause = _clause(lead, names, _how_much(answer, own, is_first=not parts))
        where = at_tasks([one.task for one in own], tasks)
        parts.append(f"{where}{clause}{_on_average(answer, own, names)}")
    return "; ".join(parts)


def _names(answer: "Performance") -> dict[str, str]:
    return short_names(dict.fromkeys(d.algorithm for d in answer.distributions))


def _clause(lead: Lead, names: Mapping[str, str], how: str) -> str:
    """Return who is in front on one task; `how` is by which score."""
    who = names[lead.leader]
    if lead.standing == "alone":
        return f"{who} is alone ({how})"
    if lead.standing == "level":
        level = some([who, *(names[n] for n in lead.level)])
        return f"there is no winner: {level} are level ({how})"
    if lead.standing == "open":
        return (
            f"there is no clear winner: {who} is in front ({how}), but "
            f"{lead.not_from(names)}"
        )
    if lead.sure and lead.probable:
        sure, probable = (
            some([names[n] for n in own]) for own in (lead.sure, lead.probable)
        )
        return f"{who} is ahead of {sure} and probably of {probable} ({how})"
    doubt = "probably " if lead.probable else ""
    return f"{who} is {doubt}ahead of {lead.whom(names)} ({how})"


def _how_much(answer: "Performance", own: Sequence[Lead], *, is_first: bool) -> str:
    """Return how good the leader is; what all tasks share is said with the first."""
    tasks = short_names(answer.tasks)
    fronts = [_front(answer, lead) for lead in own]
    parts = []
    for d in fronts:
        where = f" on {tasks[d.task]}" if len(own) > 1 else ""
        best = d.best_interval
        parts.append(f"{estimate(best)}{where}, {_span(d, best)}")
    told = "; ".join(parts)
    if not is_first:
        return told
    which = f"mean {answer.metric.label} of {share_of_trials(answer.alpha)}"
    if own[0].standing == "level":
        which = which.replace("its trials", "their trials")
    known = [d for d in fronts if is_known(d.best_interval)]
    if not known:
        return f"{which}: {told}"
    each = ", each" if len(own) > 1 else ""
    return f"{which}: {told}{each} {_how_surely(answer, known)}"


def _span(d: Distribution, interval: Interval) -> str:
    return span(interval, sure=not d.is_bootstrapped)


def _how_surely(answer: "Performance", own: Sequence[Distribution]) -> str:
    """Return the confidence of intervals; bootstrapped ones of few trials have less."""
    if not any(d.is_bootstrapped for d in own):
        return confidently(answer.confidence)
    share = min(answer.alpha, 1 - answer.alpha)
    if min(len(d.scores) * share for d in own) < FEW:
        return (
            f"with less than {percent(answer.confidence)} confidence, as trials are few"
        )
    return confidently(answer.confidence, sure=False)


def _on_average(
    answer: "Performance", own: Sequence[Lead], names: Mapping[str, str]
) -> str:
    """Return who came out in front over all trials, where that is somebody else."""
    tasks = short_names(answer.tasks)
    others: dict[str, list[str]] = {}
    for lead in own:
        first = max(answer.of(lead.task), key=lambda d: d.metric.sign * d.mean)
        if lead.standing != "alone" and first.mean != _front(answer, lead).mean:
            others.setdefault(names[first.algorithm], []).append(tasks[lead.task])
    if not others:
        return ""
    told = joined(
        [
            name if len(where) == len(own) else f"{name} on {joined(where)}"
            for name, where in others.items()
        ]
    )
    verb = "has" if len(others) == 1 else "have"
    return (
        f", though {told} {verb} the better mean over all trials, which is not tested"
    )


def _counted(answer: "Performance", found: Sequence[Lead]) -> str:
    """Return on how many tasks there is a winner, and who wins most."""
    contested = [lead for lead in found if lead.standing != "alone"]
    names, n = _names(answer), len(contested)
    parts = []
    for standing, words in (("sure", "a clear winner"), ("probable", "a probable one")):
        won = Counter(one.leader for one in contested if one.standing == standing)
        if times := won.total():
            who = some([f"{names[name]} {k}" for name, k in won.most_common()])
            parts.append(f"{times} {'has' if times == 1 else 'have'} {words} ({who})")
    rest = sum(lead.standing in ("open", "level") for lead in contested)
    if rest:
        all_of_them = "all of them" if rest == n else f"{rest}"
        parts.append(f"on {all_of_them} nobody can be told apart from all others yet")
    leader, times = Counter(lead.leader for lead in contested).most_common(1)[0]
    alone = len(found) - n
    without = f" ({alone} more have one algorithm only)" if alone else ""
    return (
        f"of {count(n, 'task')}{without}, {joined(parts)}, "
        f"{confidently(answer.confidence)} for all tasks and pairs at once; "
        f"{names[leader]} is in front most often, on {times}, by the mean "
        f"{answer.metric.label} of {share_of_trials(answer.alpha)}"
    )


def _how_good(answer: "Performance", own: Sequence[Distribution]) -> str:
    """Return how good algorithms are that have no rivals."""
    label = answer.metric.label
    sure = _how_surely(answer, own)
    names, tasks = _names(answer), short_names([d.task for d in own])
    if len(own) == 1:
        (d,) = own
        where = "" if d.task == ONLY else f" on {tasks[d.task]}"
        whose = f"the {label} of {names[d.algorithm]}{where} is"
        if len(d.scores) == 1:
            return (
                f"{whose} {estimate(d.mean_interval)} in its only trial: on average over "
                f"all that there could be it is {_span(d, d.mean_interval)}, {sure}"
            )
        best = share_of_trials(answer.alpha).replace("its trials", "them")
        return (
            f"{whose} {estimate(d.mean_interval)} on average over all of its trials "
            f"({_span(d, d.mean_interval)}) and {estimate(d.best_interval)} over {best} "
            f"({_span(d, d.best_interval)}), {sure}"
        )
    up = sign_of(answer.metric)
    ordered = sorted(own, key=lambda d: up * d.best_interval.value)
    low, high = (
        f"{estimate(d.best_interval)} (on {tasks[d.task]}, {_span(d, d.best_interval)})"
        for d in (ordered[0], ordered[-1])
    )
    algorithms = {d.algorithm for d in own}
    who = "the only algorithm of a task"
    if len(algorithms) == 1:
        who = names[algorithms.pop()]
    return (
        f"the {label} of {who} over {share_of_trials(answer.alpha)} goes from {low} to "
        f"{high} over {count(len(own), 'task')}, each {sure}"
    )


# --- What would change it --------------------------------------------------------------


def would_change(answer: "Performance") -> str:
    """Return what would change who is in front: more trials, another score of failures."""
    names, tasks = _names(answer), short_names(answer.tasks)
    several = len(tasks) > 1
    pairs = [
        f"{names[lead.leader]} and {names[rival]}"
        f"{f' on {tasks[lead.task]}' if several else ''}"
        for lead in leads(answer)
        for rival in (*lead.open, *lead.probable)
    ]
    unit = answer.distributions[0].unit
    halved = f"about {_FAR} times as many {unit}s make intervals half as long."
    told = f"More {unit}s would sharpen the numbers: {halved}"
    if pairs:
        between = some_pairs(pairs)
        told = f"More {unit}s may: who is ahead is not sure between {between}; {halved}"
    failed = Counter[str]()
    for d in answer.distributions:
        failed[d.algorithm] += d.failed
    if not (total := failed.total()):
        return told
    whose = some([names[name] for name, n in failed.items() if n])
    return f"{told} {failures(total, answer.failed_score, 'the numbers', of=whose)}"
