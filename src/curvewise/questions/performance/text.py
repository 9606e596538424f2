"""What `Performance` says: tables, notes, where one is better, and all in one sentence."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from curvewise.questions.base import Column, Columns
from curvewise.questions.lead import Finding, Lead, lead_on, sign_of
from curvewise.questions.performance.fit import (
    Comparison,
    Contrast,
    Distribution,
    Overall,
    Stretch,
)
from curvewise.questions.sentences import (
    at_tasks,
    capital,
    confidently,
    estimate,
    failed_notes,
    failures,
    interval_cell,
    is_known,
    sentence,
    share_of_trials,
    signed_cell,
    some,
    some_pairs,
    span,
)
from curvewise.stats.bands import NAMES
from curvewise.stats.bootstrap import FEW
from curvewise.stats.interval import CurveBand, Interval
from curvewise.text import Cell, count, joined, percent, short_names, shown
from curvewise.trials.trial import ONLY

if TYPE_CHECKING:
    from curvewise.questions.performance import Performance


_BEST = (1.0, 0.75, 0.5, 0.25, 0.1)  # shares of the trials
_TRIED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def best_table(own: Sequence[Distribution]) -> list[dict[str, Cell]]:
    """Return the mean of the best shares of the trials of each algorithm."""
    shares = np.array(_BEST[1:])
    out: list[dict[str, Cell]] = []
    for d in own:
        cells = _cells(d.best_curve(1 - shares))
        row: dict[str, Cell] = {"algorithm": d.algorithm}
        row[f"all {d.unit}s"] = interval_cell(d.mean_interval)
        out.append(
            row | {f"best {percent(s)}": c for s, c in zip(shares, cells, strict=True)}
        )
    return out


def tuning_table(own: Sequence[Distribution]) -> list[dict[str, Cell]]:
    """Return how good the best of k trials is on average."""
    out: list[dict[str, Cell]] = []
    for d in own:
        k = np.array([k for k in _TRIED if k <= len(d.scores)])
        row: dict[str, Cell] = {"algorithm": d.algorithm}
        cells = zip(k, _cells(d.tuning_curve(k)), strict=True)
        out.append(row | {f"best of {n}": cell for n, cell in cells})
    return out


def _cells(curve: CurveBand) -> list[str]:
    ends = zip(curve.lower, curve.upper, curve.value, strict=True)
    return [
        interval_cell(Interval(float(low), float(high), "", "", value=float(value)))
        for low, high, value in ends
    ]


def contrast_columns(alpha: float) -> Columns:
    """Return what is known of a pair of algorithms on a task."""
    best = f"best {percent(1 - alpha)}, difference"
    return (
        Column("task"),
        Column("one"),
        Column("other"),
        Column("", "pair", lambda c: f"{c.one} - {c.other}"),
        Column("improvement", "first is better"),
        Column("cvar_best_difference", best, lambda c: c.best, signed_cell),
        Column("guaranteed_lower", "", lambda c: c.guaranteed and c.guaranteed.lower),
        Column("guaranteed_upper", "", lambda c: c.guaranteed and c.guaranteed.upper),
        Column("", "guaranteed", lambda c: c.guaranteed, _guaranteed_cell),
        Column("ahead"),
        Column("probably_ahead"),
        Column("", "ahead", _who_is_ahead),
    )


def _guaranteed_cell(interval: Interval | None) -> str:
    return "" if interval is None else signed_cell(interval, value=False)


def _who_is_ahead(c: Contrast) -> str:
    if c.probably_ahead:
        return f"probably {c.probably_ahead}"
    return c.ahead or "cannot tell"


def overall_columns(overall: Sequence[Overall]) -> Columns:
    """Return what is known of an algorithm over all tasks."""
    columns = (
        Column("algorithm", "algorithm"),
        Column("iqm", "middle half (IQM)"),
        Column("mean", "mean"),
        Column("optimality_gap", "short of the best"),
    )
    has_gap = all(one.optimality_gap is not None for one in overall)
    return columns if has_gap else columns[:-1]


# --- How `Performance` speaks: notes, and who is ahead ---------------------------------


_LEVEL = "all are level"


def notes_of(answer: "Performance") -> list[str]:
    """Return what a reader must know to read the tables."""
    band, cells = answer.distributions[0].band, len(answer.distributions)
    level = percent(answer.confidence)
    whose = (
        f"all {cells} bands hold at once"
        if answer.provenance.settings["family"]
        else "all quantiles of one algorithm on one task lie in its band at once"
    )
    notes = [
        f"best and worst: the mean of the best {percent(1 - answer.alpha)} and of the "
        f"worst {percent(answer.alpha)} of the trials (CVaR {answer.alpha:g}).",
        f"algorithms, in brackets: read off a {level} band: {whose}, and all that is read "
        f"off it, if trials are independent ({NAMES[band.kind]}).",
    ]
    if any(d.is_bootstrapped for d in answer.distributions):
        notes.append(_bootstrap_note(answer))
    if any(d.is_clustered for d in answer.distributions):
        notes.append(
            f"mean, in brackets: {percent(band.confidence)} CI over clusters of runs "
            f"(Student)."
        )
    if answer.contrasts:
        notes += _contrast_notes(answer)
    if answer.overall:
        notes.append(
            f"all tasks, in brackets: {level} intervals for many trials (Student, by "
            f"task), each for itself; every task counts the same."
        )
    if not all(
        math.isfinite(d.median_interval.half_width) for d in answer.distributions
    ):
        notes.append("?: these trials say nothing about that end.")
    failed = sum(d.failed for d in answer.distributions)
    return [*notes, *failed_notes(failed, answer.failed_score)]


def _bootstrap_note(answer: "Performance") -> str:
    share = min(answer.alpha, 1 - answer.alpha)
    each = answer.distributions[0].band.confidence
    least = min(len(d.scores) * share for d in answer.distributions)
    few = f"; {least:g} in a tail are too few, and intervals too short" * (least < FEW)
    return (
        f"{answer.metric.label} has no bound, so means have "
        f"{percent(each)} bootstrap intervals (BCa) by themselves, which hold for many "
        f"trials{few}."
    )


def _contrast_notes(answer: "Performance") -> list[str]:
    n = len(answer.contrasts)
    at_once = f" for all {n} pairs at once" if n > 1 else ""
    notes = [
        f"pairs: with {percent(answer.confidence)} confidence the intervals of a column "
        f"hold{at_once}, for many trials; what is called guaranteed holds for any "
        f"number. First is better: in which share of trials, ties counting half."
    ]
    shown_ones = sum(len(answer.contrast_table(task)) for task in answer.tasks)
    if shown_ones < n:
        notes.append(
            f"Of {n} pairs those of the leader on each task are shown; contrast_rows() has "
            f"all."
        )
    if any(c.probably_ahead for c in answer.contrasts):
        notes.append(
            "probably: by an interval for many trials, and there are few for so many "
            "pairs at once, far fewer of one, or looks at any time."
        )
    return notes


def verdict_of(
    own: Sequence[Distribution],
    contrasts: Sequence[Contrast],
    alpha: float,
    confidence: float,
) -> str:
    """Return in words who is ahead on a task, and how sure that is."""
    up, top = own[0].metric.sign, percent(1 - alpha)
    best = {d.algorithm: d.best(alpha) for d in own}
    mean = {d.algorithm: d.mean for d in own}
    if len(own) == 1:
        (name,) = best
        if len(own[0].scores) == 1:
            return f"{name} scores {shown(mean[name])} in its only trial."
        return (
            f"{name} scores {shown(mean[name])} on average, and {shown(best[name])} "
            f"over the best {top} of its trials."
        )
    front = _in_front(best, mean, up, f"the best {top} of the trials")
    return f"{front} {_apart(contrasts, top, confidence)}"


def _in_front(
    best: dict[str, float], mean: dict[str, float], up: int, which: str
) -> str:
    (first, top), (second, average) = _leaders(best, up), _leaders(mean, up)
    one, every = f"({shown(top)})", f"({shown(average)})"
    if first == second:
        who = capital(first) if first == _LEVEL else first
        return f"{who} over {which} {one} and over all of them {every}."
    return f"Over {which} {first} {one}, over all of them {second} {every}."


def _leaders(scores: dict[str, float], up: int) -> tuple[str, float]:
    top = max(scores.values(), key=lambda score: up * score)
    first = [name for name, score in scores.items() if score == top]
    if len(first) == len(scores):
        return _LEVEL, top
    return f"{joined(first)} {'is' if len(first) == 1 else 'are'} in front", top


def _apart(contrasts: Sequence[Contrast], top: str, confidence: float) -> str:
    """Return which pairs are told apart, and which are not; nothing more is claimed."""
    findings = [c.finding for c in contrasts]
    sure, likely = (
        [f"{one.ahead} from {one.behind}" for one in findings if one.surety == surety]
        for surety in ("sure", "probable")
    )
    rest = [f"{one.ahead} and {one.behind}" for one in findings if one.surety == "open"]
    level = f"with {percent(confidence)} confidence"
    if not sure and not likely:
        return f"No pair is told apart {level}: more trials may."
    parts = []
    if sure:
        parts.append(f"Told apart over the best {top} {level}: {', '.join(sure)}")
    if likely:
        word = "probably" if sure else f"Probably told apart over the best {top}:"
        parts.append(f"{word} {', '.join(likely)}")
    if rest:
        parts.append(f"not so {', '.join(rest)}")
    return f"{'; '.join(parts)}."


# --------------------------------------------------------------------------------------
# Two distributions, quantile by quantile: where one is better, and where they cross.


WORTH_A_WORD = 0.05  # of the quantiles; ragged ends of a stretch are shorter


def sentences(comparisons: Sequence[Comparison]) -> list[str]:
    """Return in words which cross, which are better, and which nobody can tell apart."""
    out = [_crossing(c) for c in comparisons if c.crosses]
    out += [_ahead(c) for c in comparisons if bool(c.better) != bool(c.worse)]
    level = [f"{c.one} and {c.other}" for c in comparisons if not c.better + c.worse]
    if level:
        out.append(f"Not told apart at any quantile: {some_pairs(level)}.")
    return out


def _ahead(c: Comparison) -> str:
    word, share, other = "better", c.seen_worse, "worse"
    if c.worse:
        word, share, other = "worse", c.seen_better, "better"
    doubt = f", and nowhere {other} for sure" if round(share, 2) > 0 else ""
    return f"{c.one} is {word} than {c.other} {where(c.better + c.worse)}{doubt}."


def _crossing(c: Comparison) -> str:
    first, second = c.better, c.worse
    lead = "better", "worse"
    if length(c.worse) > length(c.better):
        (first, second), lead = (second, first), lead[::-1]
    return (
        f"{c.one} and {c.other} cross: {c.one} is {lead[0]} {where(first)}, but "
        f"{lead[1]} {where(second)}."
    )


def length(stretches: Sequence[Stretch]) -> float:
    """Return how much of all quantiles some stretches are.

    >>> length([(0.0, 0.25), (0.5, 0.75)])
    0.5
    """
    return sum(b - a for a, b in stretches)


def where(stretches: Sequence[Stretch]) -> str:
    """Return stretches of quantiles in words: the longest, and others worth a word.

    >>> where([(0.0, 0.12), (0.13, 0.14), (0.5, 1.0)])
    'over its worst 12 % and over its best 50 %'
    """
    longest = max(stretches, key=lambda s: s[1] - s[0])
    parts = [s for s in stretches if s == longest or s[1] - s[0] >= WORTH_A_WORD]
    return " and ".join(_stretch(a, b) for a, b in parts)


def _stretch(a: float, b: float) -> str:
    def whole(share: float) -> str:
        return f"{100 * share:.0f}"

    if a < 0.005 and b > 0.995:
        return "at every quantile"
    if a < 0.005:
        return f"over its worst {whole(b)} %"
    if b > 0.995:
        return f"over its best {whole(1 - a)} %"
    if whole(a) == whole(b):
        return f"at the {whole(a)} % quantile"
    return f"from the {whole(a)} % to the {whole(b)} % quantile"


# --- Who is in front, in one sentence that claims no more than the comparisons show ----


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
        lead_on(task, by_name, findings.get(task, []))
        for task, by_name in scores.items()
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


_MOST_TASKS = 3  # that are told one by one
_FAR = 4  # times as many trials for intervals half as long


def headline(answer: "Performance", first: str = "") -> str:
    """Return in one sentence who is in front, and how sure that is."""
    leaders = leads(answer)
    if all(d.failed == len(d.scores) for d in answer.distributions):
        failed = sum(d.failed for d in answer.distributions)
        clause = (
            f"how good anybody is, cannot be told: "
            f"{'the only trial' if failed == 1 else f'all {failed:,} trials'} failed, and "
            f"{'counts' if failed == 1 else 'count'} with score {answer.failed_score}"
        )
    elif all(lead.standing == "alone" for lead in leaders):
        clause = _how_good(answer, [_front(answer, lead) for lead in leaders])
    elif len(leaders) > _MOST_TASKS:
        clause = _counted(answer, leaders)
    else:
        clause = _one_by_one(answer, leaders)
    return sentence(f"{first}{clause}.")


def _one_by_one(answer: "Performance", leaders: Sequence[Lead]) -> str:
    """Return who is in front on each of a few tasks, those that are alike together."""
    names, tasks = _names(answer), short_names(answer.tasks)
    alike: dict[Lead, list[Lead]] = {}
    for lead in leaders:
        alike.setdefault(replace(lead, task=""), []).append(lead)
    parts: list[str] = []
    for lead, group in alike.items():
        clause = _clause(lead, names, _how_much(answer, group, is_first=not parts))
        where = at_tasks([one.task for one in group], tasks)
        parts.append(f"{where}{clause}{_on_average(answer, group, names)}")
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
            some([names[n] for n in rivals]) for rivals in (lead.sure, lead.probable)
        )
        return f"{who} is ahead of {sure} and probably of {probable} ({how})"
    doubt = "probably " if lead.probable else ""
    return f"{who} is {doubt}ahead of {lead.whom(names)} ({how})"


def _how_much(answer: "Performance", leaders: Sequence[Lead], *, is_first: bool) -> str:
    """Return how good the leader is; what all tasks share is said with the first."""
    tasks = short_names(answer.tasks)
    fronts = [_front(answer, lead) for lead in leaders]
    parts = []
    for d in fronts:
        where = f" on {tasks[d.task]}" if len(leaders) > 1 else ""
        best = d.best_interval
        parts.append(f"{estimate(best)}{where}, {_span(d, best)}")
    estimates = "; ".join(parts)
    if not is_first:
        return estimates
    which = f"mean {answer.metric.label} of {share_of_trials(answer.alpha)}"
    if leaders[0].standing == "level":
        which = which.replace("its trials", "their trials")
    finite = [d for d in fronts if is_known(d.best_interval)]
    if not finite:
        return f"{which}: {estimates}"
    each = ", each" if len(leaders) > 1 else ""
    return f"{which}: {estimates}{each} {_how_surely(answer, finite)}"


def _span(d: Distribution, interval: Interval) -> str:
    return span(interval, sure=not d.is_bootstrapped)


def _how_surely(answer: "Performance", distributions: Sequence[Distribution]) -> str:
    """Return the confidence of intervals; bootstrapped ones of few trials have less."""
    if not any(d.is_bootstrapped for d in distributions):
        return confidently(answer.confidence)
    share = min(answer.alpha, 1 - answer.alpha)
    if min(len(d.scores) * share for d in distributions) < FEW:
        return (
            f"with less than {percent(answer.confidence)} confidence, as trials are few"
        )
    return confidently(answer.confidence, sure=False)


def _on_average(
    answer: "Performance", leaders: Sequence[Lead], names: Mapping[str, str]
) -> str:
    """Return who came out in front over all trials, where that is somebody else."""
    tasks = short_names(answer.tasks)
    others: dict[str, list[str]] = {}
    for lead in leaders:
        first = max(answer.of(lead.task), key=lambda d: d.metric.sign * d.mean)
        if lead.standing != "alone" and first.mean != _front(answer, lead).mean:
            others.setdefault(names[first.algorithm], []).append(tasks[lead.task])
    if not others:
        return ""
    who = joined(
        [
            name if len(where) == len(leaders) else f"{name} on {joined(where)}"
            for name, where in others.items()
        ]
    )
    verb = "has" if len(others) == 1 else "have"
    return f", though {who} {verb} the better mean over all trials, which is not tested"


def _counted(answer: "Performance", leaders: Sequence[Lead]) -> str:
    """Return on how many tasks there is a winner, and who wins most."""
    contested = [lead for lead in leaders if lead.standing != "alone"]
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
    alone = len(leaders) - n
    without = f" ({alone} more have one algorithm only)" if alone else ""
    return (
        f"of {count(n, 'task')}{without}, {joined(parts)}, "
        f"{confidently(answer.confidence)} for all tasks and pairs at once; "
        f"{names[leader]} is in front most often, on {times}, by the mean "
        f"{answer.metric.label} of {share_of_trials(answer.alpha)}"
    )


def _how_good(answer: "Performance", distributions: Sequence[Distribution]) -> str:
    """Return how good algorithms are that have no rivals."""
    label = answer.metric.label
    sure = _how_surely(answer, distributions)
    names, tasks = _names(answer), short_names([d.task for d in distributions])
    if len(distributions) == 1:
        (d,) = distributions
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
    ordered = sorted(distributions, key=lambda d: up * d.best_interval.value)
    low, high = (
        f"{estimate(d.best_interval)} (on {tasks[d.task]}, {_span(d, d.best_interval)})"
        for d in (ordered[0], ordered[-1])
    )
    algorithms = {d.algorithm for d in distributions}
    who = "the only algorithm of a task"
    if len(algorithms) == 1:
        who = names[algorithms.pop()]
    return (
        f"the {label} of {who} over {share_of_trials(answer.alpha)} goes from {low} to "
        f"{high} over {count(len(distributions), 'task')}, each {sure}"
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
    hint = f"More {unit}s would sharpen the numbers: {halved}"
    if pairs:
        between = some_pairs(pairs)
        hint = f"More {unit}s may: who is ahead is not sure between {between}; {halved}"
    failed = Counter[str]()
    for d in answer.distributions:
        failed[d.algorithm] += d.failed
    if not (total := failed.total()):
        return hint
    whose = some([names[name] for name, n in failed.items() if n])
    return f"{hint} {failures(total, answer.failed_score, 'the numbers', of=whose)}"
