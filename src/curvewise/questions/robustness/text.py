"""What tuning gains, in words: in one sentence, pair by pair, and in notes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from curvewise.errors import listed
from curvewise.questions.performance.text import WORTH_A_WORD, length, where
from curvewise.questions.robustness.fit import Gap
from curvewise.questions.sentences import (
    confidently,
    estimate,
    failures,
    from_to,
    said,
    some,
    span,
)
from curvewise.stats.interval import Interval
from curvewise.text import count, joined, short_names, shown
from curvewise.trials.trial import ONLY

if TYPE_CHECKING:
    from curvewise.questions.robustness import Robustness


Kind: TypeAlias = Literal["gains", "loses", "easy", "open", "one trial"]

_MOST = 3  # pairs of algorithm and task that are told one by one
_ORDER: tuple[Kind, ...] = ("gains", "loses", "easy", "open", "one trial")
_NAMED: dict[Kind, str] = {
    "gains": "helps",
    "loses": "harms",
    "easy": "gains too little to matter for",
    "open": "is not shown to help",
    "one trial": "cannot be judged from one trial of",
}
_COUNTED: dict[Kind, str] = {
    "gains": "helps in",
    "loses": "harms in",
    "easy": "gains too little to matter in",
    "open": "is not shown to help in",
    "one trial": "cannot be judged, from one trial, in",
}


def kind_of(gap: Gap, margin: float | None) -> tuple[Kind, bool]:
    """Return what tuning does on average, and whether that is sure or merely probable."""
    if gap.is_one_trial:
        return "one trial", True
    one = gap.gain("mean")
    for interval, is_sure in ((one.believed, True), (one.interval, False)):
        if margin is not None and interval.upper < margin:
            return "easy", is_sure
        if interval.lower > 0:
            return "gains", is_sure
        if interval.upper < 0:
            return "loses", is_sure
    return "open", True


def headline(answer: "Robustness") -> str:
    """Return in one sentence whom tuning helps, by how much, and how sure that is."""
    by_kind: dict[tuple[Kind, bool], list[Gap]] = {}
    for gap in answer.gaps:
        by_kind.setdefault(kind_of(gap, answer.margin), []).append(gap)
    order = sorted(by_kind, key=lambda key: (_ORDER.index(key[0]), not key[1]))
    say = _named if len(answer.gaps) <= _MOST else _counted
    parts = [say(answer, *key, by_kind[key]) for key in order]
    if say is _counted:  # what is counted is said once
        parts[1:] = [part.replace(_pairs(answer), "", 1) for part in parts[1:]]
    n = len(answer.gaps)
    at_once = f" for {'both' if n == 2 else f'all {n}'} pairs at once" if n > 1 else ""
    return f"Tuning {'; it '.join(parts)}, {confidently(answer.confidence)}{at_once}."


def _named(answer: "Robustness", kind: Kind, is_sure: bool, gaps: Sequence[Gap]) -> str:
    """Return each algorithm with what tuning does for it."""
    whose = joined([f"{_whose(answer, g)}{_gain(answer, kind, g)}" for g in gaps])
    return f"{'' if is_sure else 'probably '}{_NAMED[kind]} {whose}"


def _counted(
    answer: "Robustness", kind: Kind, is_sure: bool, gaps: Sequence[Gap]
) -> str:
    """Return for how many pairs of algorithm and task that is so, and where it is most."""
    many = f"{len(gaps)}"
    if len(gaps) == len(answer.gaps):
        many = "any" if kind == "open" else "all"
    clause = f"{'' if is_sure else 'probably '}{_COUNTED[kind]} {many}{_pairs(answer)}"
    if kind not in ("gains", "loses"):
        return clause
    sign = 1 if kind == "gains" else -1
    most = max(gaps, key=lambda g: sign * g.gain("mean").interval.value)
    return f"{clause}, most for {_whose(answer, most)}{_gain(answer, kind, most)}"


def _pairs(answer: "Robustness") -> str:
    return f" of {count(len(answer.gaps), 'pair')} of algorithm and task"


def _whose(answer: "Robustness", gap: Gap) -> str:
    name = short_names(g.algorithm for g in answer.gaps)[gap.algorithm]
    if answer.tasks == (ONLY,):
        return name
    return f"{name} on {short_names(answer.tasks)[gap.task]}"


def _gain(answer: "Robustness", kind: Kind, gap: Gap) -> str:
    """Return how much the mean gains, with what that may be."""
    one = gap.gain("mean")
    if kind == "one trial":
        return ""
    if kind == "easy":
        return f" (less than {shown(answer.margin)} on average)"
    if kind == "open":
        return f" (a gain of {said(max(one.believed.upper, 0.0))} at most)"
    by = one.interval
    if kind == "loses":
        by = Interval(-by.upper, -by.lower, "", by.guarantee, -by.value)
    better = "better" if kind == "gains" else "worse"
    span_of_it = span(by, sure=not one.is_few)
    return f" (mean {answer.metric.label} {estimate(by)} {better}, {span_of_it})"


def would_change(answer: "Robustness") -> str:
    """Return what would change it: more trials, another tuning, another range."""
    kinds = [(gap, *kind_of(gap, answer.margin)) for gap in answer.gaps]
    not_sure = [g for g, kind, is_sure in kinds if kind == "open" or not is_sure]
    parts = []
    if not_sure:
        whose = some([_whose(answer, gap) for gap in not_sure])
        parts.append(
            f"More trials may: for {whose} the gain is not sure, and about 4 times as "
            f"many trials make intervals half as long."
        )
    parts.append(
        "Another way to tune, or other ranges of hyperparameters, is another question."
    )
    if failed := sum(g.failed + g.tuned_failed for g in answer.gaps):
        parts.append(failures(failed, answer.failed_score, "the numbers"))
    return " ".join(parts)


def paired_note(gaps: Sequence[Gap]) -> str:
    """Return whether trials were compared in pairs, as a note."""
    apart = [f"{g.algorithm} on {g.task}" for g in gaps if not g.paired]
    if not apart:
        return "paired: trials with the same number met the same data, which is used."
    whose = "any pair" if len(apart) == len(gaps) else listed(apart)
    return (
        f"not paired: the numbers of the trials differ for {whose}; those are compared as "
        f"independent samples, which widens intervals where they met the same data."
    )


def verdict_of(g: Gap, margin: float | None) -> str:
    """Return what tuning gains, in a sentence."""
    one = g.gain("mean")
    sure, interval = one.believed, one.interval
    name, span = g.algorithm, f"({from_to(interval.lower, interval.upper)})"
    kind, is_sure = kind_of(g, margin)
    word = "" if is_sure else "probably "
    if kind == "one trial":
        return f"{name}: cannot tell from one trial."
    if kind == "easy":
        return (
            f"{name} is {word}easy to tune: tuning gains less than {shown(margin)} on "
            f"average {span}."
        )
    if kind == "gains":
        stretches = ""
        if length(g.shift.better) >= WORTH_A_WORD:
            stretches = f"; quantile by quantile, that is sure {where(g.shift.better)}"
        gained = f"{shown(interval.value)} on average {span}{stretches}"
        return f"{name} {word}profits from tuning: {gained}."
    if kind == "loses":
        lost = f"{shown(-interval.value)} on average {span}"
        return f"{name} {word}loses by tuning: {lost}."
    most = shown(sure.upper)
    return f"{name}: no gain of the mean is shown; it is {most} at most."
