"""Who is in front, in one sentence that claims no more than the comparisons show."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from curvewise.questions.performance.fit import Contrast, Distribution
from curvewise.questions.sentences import (
    all_others,
    confidently,
    estimate,
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


Standing: TypeAlias = Literal["alone", "level", "sure", "probable", "open"]


@dataclass(frozen=True, slots=True, eq=False)
class Lead:
    """Who is in front on a task, and from whom that one can be told apart.

    Parameters
    ----------
    task : str
    leader : Distribution
        The one with the best mean over the best ``1 - alpha`` of its trials.
    level : tuple of str
        Those that score just as well.
    sure, probable, open : tuple of str
        Rivals that the leader is told apart from; probably; not yet.
    """

    task: str
    leader: Distribution
    level: tuple[str, ...]
    sure: tuple[str, ...]
    probable: tuple[str, ...]
    open: tuple[str, ...]

    @property
    def standing(self) -> Standing:
        """Whether there is a winner, and how sure that is."""
        rivals = len(self.sure) + len(self.probable) + len(self.open)
        if rivals == 0:
            return "alone"
        if len(self.level) == rivals:
            return "level"
        if self.open:
            return "open"
        return "probable" if self.probable else "sure"


def leads(answer: "Performance") -> tuple[Lead, ...]:
    """Return who is in front on each task."""
    pairs: dict[tuple[str, frozenset[str]], Contrast] = {
        (c.task, frozenset((c.one, c.other))): c for c in answer.contrasts
    }
    by_task: dict[str, list[Distribution]] = {}
    for d in answer.distributions:
        by_task.setdefault(d.task, []).append(d)
    return tuple(
        _lead(task, own, pairs, own[0].metric.sign) for task, own in by_task.items()
    )


def _lead(
    task: str,
    own: Sequence[Distribution],
    pairs: Mapping[tuple[str, frozenset[str]], Contrast],
    up: int,
) -> Lead:
    first = max(own, key=lambda d: up * d.best_interval.value)
    found: dict[str, list[str]] = {"sure": [], "probable": [], "open": []}
    for d in own:
        if d is not first:
            told = pairs[task, frozenset((first.algorithm, d.algorithm))]
            found[_told(told, first.algorithm)].append(d.algorithm)
    top = first.best_interval.value
    level = [
        d.algorithm for d in own if d.best_interval.value == top and d is not first
    ]
    return Lead(task, first, tuple(level), *(tuple(f) for f in found.values()))


def _told(c: Contrast, leader: str) -> str:
    if c.ahead == leader:
        return "sure"
    return "probable" if c.probably_ahead == leader else "open"


def lead_table(answer: "Performance") -> list[dict[str, Cell]]:
    """Return who is in front on each task, with headings for people."""
    best = share_of_trials(answer.alpha).removesuffix(" of its trials")
    return [
        {
            "task": one.task,
            "in front": one.leader.algorithm,
            best: interval_cell(one.leader.best_interval),
            "told apart from": len(one.sure),
            "probably from": len(one.probable),
            "not yet from": len(one.open),
        }
        for one in leads(answer)
    ]


# --- Who is in front, in one sentence that claims no more than the comparisons show ----


MOST_TASKS = 3  # that are told one by one
_FAR = 4  # times as many trials for intervals half as long


def headline(answer: "Performance", first: str = "") -> str:
    """Return in one sentence who is in front, and how sure that is."""
    found = leads(answer)
    if all(d.failed == len(d.scores) for d in answer.distributions):
        told = _all_failed(answer)
    elif all(one.standing == "alone" for one in found):
        told = _how_good(answer, found)
    elif len(found) > MOST_TASKS:
        told = _counted(answer, found)
    else:
        told = _one_by_one(answer, found)
    return sentence(f"{first}{told}.")


def _all_failed(answer: "Performance") -> str:
    n = sum(d.failed for d in answer.distributions)
    every = "the only trial" if n == 1 else f"all {n:,} trials"
    return (
        f"how good anybody is, cannot be told: {every} failed, and "
        f"{'counts' if n == 1 else 'count'} with score {answer.failed_score}"
    )


def _one_by_one(answer: "Performance", found: Sequence[Lead]) -> str:
    """Return who is in front on each of a few tasks, those that are alike together."""
    names = _names(answer)
    alike: dict[tuple[object, ...], list[Lead]] = {}
    for one in found:
        key = (one.leader.algorithm, one.level, one.sure, one.probable, one.open)
        alike.setdefault(key, []).append(one)
    parts = []
    for i, own in enumerate(alike.values()):
        clause = _clause(own[0], names, _how_much(answer, own, is_first=i == 0))
        parts.append(f"{_where(answer, own)}{clause}{_on_average(answer, own, names)}")
    return "; ".join(parts)


def _where(answer: "Performance", own: Sequence[Lead]) -> str:
    if answer.tasks == (ONLY,):
        return ""
    tasks = short_names(answer.tasks)
    return f"on {joined([tasks[one.task] for one in own])}, "


def _names(answer: "Performance") -> dict[str, str]:
    return short_names(dict.fromkeys(d.algorithm for d in answer.distributions))


def _clause(one: Lead, names: Mapping[str, str], how: str) -> str:
    """Return who is in front on one task; `how` is by which score."""
    who = names[one.leader.algorithm]
    if one.standing == "alone":
        return f"{who} is alone ({how})"
    if one.standing == "level":
        level = some([who, *(names[n] for n in one.level)])
        return f"there is no winner: {level} are level ({how})"
    if one.standing in ("sure", "probable"):
        return f"{who} is {_ahead_of(one, names)} ({how})"
    told = f"{who} is in front ({how}), but cannot be told apart yet from "
    told += some([names[n] for n in one.open])
    if rest := _only_from(one, names):
        told += f", only {rest}"
    return f"there is no clear winner: {told}"


def _ahead_of(one: Lead, names: Mapping[str, str]) -> str:
    rivals = len(one.sure) + len(one.probable)
    if rivals == 1:
        rival = names[(*one.sure, *one.probable)[0]]
        return f"{'' if one.sure else 'probably '}ahead of {rival}"
    if not one.probable:
        return f"ahead of {all_others(rivals)}"
    if not one.sure:
        return f"probably ahead of {all_others(rivals)}"
    sure, probable = _some_of(one.sure, names), _some_of(one.probable, names)
    return f"ahead of {sure} and probably of {probable}"


def _only_from(one: Lead, names: Mapping[str, str]) -> str:
    parts = []
    if one.sure:
        parts.append(f"from {_some_of(one.sure, names)}")
    if one.probable:
        parts.append(f"probably from {_some_of(one.probable, names)}")
    return joined(parts) if parts else ""


def _some_of(own: Sequence[str], names: Mapping[str, str]) -> str:
    return some([names[n] for n in own])


def _how_much(answer: "Performance", own: Sequence[Lead], *, is_first: bool) -> str:
    """Return how good the leader is; what all tasks share is said with the first."""
    tasks = short_names(answer.tasks)
    parts = []
    for one in own:
        where = f" on {tasks[one.task]}" if len(own) > 1 else ""
        best = one.leader.best_interval
        parts.append(f"{estimate(best)}{where}, {_span(one.leader, best)}")
    told = "; ".join(parts)
    if not is_first:
        return told
    which = f"mean {answer.metric.label} of {share_of_trials(answer.alpha)}"
    if own[0].standing == "level":
        which = which.replace("its trials", "their trials")
    known = [one.leader for one in own if is_known(one.leader.best_interval)]
    if not known:
        return f"{which}: {told}"
    sure = _how_surely(answer, known)
    return (
        f"{which}: {told}, each {sure}" if len(own) > 1 else f"{which}: {told} {sure}"
    )


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
    found: dict[str, list[str]] = {}
    for one in own:
        first = max(answer.of(one.task), key=lambda d: d.metric.sign * d.mean)
        if one.standing != "alone" and first.mean != one.leader.mean:
            found.setdefault(names[first.algorithm], []).append(tasks[one.task])
    if not found:
        return ""
    told = joined(
        [
            name if len(where) == len(own) else f"{name} on {joined(where)}"
            for name, where in found.items()
        ]
    )
    verb = "has" if len(found) == 1 else "have"
    return (
        f", though {told} {verb} the better mean over all trials, which is not tested"
    )


def _counted(answer: "Performance", found: Sequence[Lead]) -> str:
    """Return on how many tasks there is a winner, and who wins most."""
    contested = [one for one in found if one.standing != "alone"]
    names, n = _names(answer), len(contested)
    parts = []
    for standing, words in (("sure", "a clear winner"), ("probable", "a probable one")):
        own = [one for one in contested if one.standing == standing]
        if own:
            parts.append(f"{len(own)} {_have(len(own))} {words} ({_who(own, names)})")
    rest = [one for one in contested if one.standing in ("open", "level")]
    if rest:
        all_of_them = "all of them" if len(rest) == n else f"{len(rest)}"
        parts.append(f"on {all_of_them} nobody can be told apart from all others yet")
    front, times = Counter(one.leader.algorithm for one in contested).most_common(1)[0]
    alone = len(found) - n
    without = f" ({alone} more have one algorithm only)" if alone else ""
    return (
        f"of {count(n, 'task')}{without}, {joined(parts)}, "
        f"{confidently(answer.confidence)} for all tasks and pairs at once; "
        f"{names[front]} is in front most often, on {times}, by the mean "
        f"{answer.metric.label} of {share_of_trials(answer.alpha)}"
    )


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


def _who(own: Sequence[Lead], names: Mapping[str, str]) -> str:
    wins = Counter(one.leader.algorithm for one in own).most_common()
    return some([f"{names[name]} {times}" for name, times in wins])


def _how_good(answer: "Performance", found: Sequence[Lead]) -> str:
    """Return how good algorithms are that have no rivals."""
    label = answer.metric.label
    sure = _how_surely(answer, [one.leader for one in found])
    names, tasks = _names(answer), short_names([one.task for one in found])
    if len(found) == 1:
        d = found[0].leader
        where = "" if d.task == ONLY else f" on {tasks[d.task]}"
        if len(d.scores) == 1:
            return (
                f"the {label} of {names[d.algorithm]}{where} is "
                f"{estimate(d.mean_interval)} in its only trial: on average over all that "
                f"there could be it is {_span(d, d.mean_interval)}, {sure}"
            )
        best = share_of_trials(answer.alpha).replace("its trials", "them")
        return (
            f"the {label} of {names[d.algorithm]}{where} is {estimate(d.mean_interval)} on "
            f"average over all of its trials ({_span(d, d.mean_interval)}) and "
            f"{estimate(d.best_interval)} over {best} ({_span(d, d.best_interval)}), {sure}"
        )
    up = 1 if answer.metric.direction is None else answer.metric.sign
    ordered = sorted(found, key=lambda one: up * one.leader.best_interval.value)
    worst, best_one = (
        f"{estimate(d.best_interval)} (on {tasks[d.task]}, {_span(d, d.best_interval)})"
        for d in (ordered[0].leader, ordered[-1].leader)
    )
    whose = {one.leader.algorithm for one in found}
    who = (
        names[next(iter(whose))] if len(whose) == 1 else "the only algorithm of a task"
    )
    return (
        f"the {label} of {who} over {share_of_trials(answer.alpha)} goes from {worst} to "
        f"{best_one} over {count(len(found), 'task')}, each {sure}"
    )


# --- what would change it ----------------------------------------------------------------


def would_change(answer: "Performance") -> str:
    """Return what would change who is in front: more trials, another score of failures."""
    return " ".join(filter(None, [_undecided(answer), _failures(answer)]))


def _undecided(answer: "Performance") -> str:
    found = leads(answer)
    names = _names(answer)
    not_sure = [
        (one.task, names[one.leader.algorithm], names[rival])
        for one in found
        for rival in (*one.open, *one.probable)
    ]
    unit = answer.distributions[0].unit
    halved = f"about {_FAR} times as many {unit}s make intervals half as long"
    if not not_sure:
        return f"More {unit}s would sharpen the numbers: {halved}."
    tasks = short_names(answer.tasks)
    several = len(answer.tasks) > 1
    pairs = [
        f"{leader} and {rival}{f' on {tasks[task]}' if several else ''}"
        for task, leader, rival in not_sure
    ]
    between = some_pairs(pairs)
    return f"More {unit}s may: who is ahead is not sure between {between}; {halved}."


def _failures(answer: "Performance") -> str:
    whose: dict[str, int] = {}
    for d in answer.distributions:
        whose[d.algorithm] = whose.get(d.algorithm, 0) + d.failed
    failed = {name: n for name, n in whose.items() if n}
    if not failed:
        return ""
    names = _names(answer)
    total = sum(failed.values())
    verb = "counts" if total == 1 else "count"
    return (
        f"{count(total, 'failed trial')} of {some([names[n] for n in failed])} {verb} "
        f"with score {answer.failed_score}; another score would move the numbers."
    )
