"""How `Performance` speaks: notes, and who is ahead."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from curvewise._text import count, joined, percent, shown
from curvewise.analyses._contrasts import Contrast
from curvewise.analyses._distribution import Distribution
from curvewise.analyses._saying import capital
from curvewise.stats.bands import NAMES
from curvewise.stats.bootstrap import FEW

if TYPE_CHECKING:
    from curvewise.analyses.performance import Performance

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
    if failed := sum(d.failed for d in answer.distributions):
        notes.append(
            f"{count(failed, 'failed trial')} counted with score {answer.failed_score}."
        )
    return notes


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
    told = _in_front(best, mean, up, f"the best {top} of the trials")
    return f"{told} {_apart(contrasts, top, confidence)}"


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
    sure = [_from(c, c.ahead) for c in contrasts if c.ahead]
    likely = [_from(c, c.probably_ahead) for c in contrasts if c.probably_ahead]
    rest = [
        f"{c.one} and {c.other}" for c in contrasts if not (c.ahead or c.probably_ahead)
    ]
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


def _from(c: Contrast, ahead: str | None) -> str:
    return f"{ahead} from {c.other if ahead == c.one else c.one}"
