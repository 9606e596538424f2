"""Where the spread of scores comes from, in words."""

import math
from collections import Counter
from typing import TYPE_CHECKING

from curvewise.questions.sentences import capital, confidently, failures, some
from curvewise.questions.variance.fit import ROLES, Decomposition, Share
from curvewise.stats.interval import Interval
from curvewise.text import count, joined, short_names
from curvewise.trials.trial import ONLY

if TYPE_CHECKING:
    from curvewise.questions.variance import VarianceShares


_MOST = 3  # pairs of algorithm and task that are told one by one


def is_most(own: Decomposition) -> bool:
    """Return whether one source surely makes more than half of the variance."""
    first = own.largest
    return first is not None and first.interval.lower > 0.5


def is_largest(own: Decomposition) -> bool:
    """Return whether the largest share is surely larger than all others."""
    first = own.largest
    if first is None:
        return False
    others = [s for s in own.shares if s is not first]
    return is_most(own) or all(s.interval.upper < first.interval.lower for s in others)


def headline(answer: "VarianceShares") -> str:
    """Return in one sentence what makes scores vary most, and how sure that is."""
    splits = answer.decompositions
    sure = confidently(answer.confidence, sure=False)
    if len(splits) <= _MOST:
        parts = [_clause(answer, one) for one in splits]
        return capital(f"{'; '.join(parts)}, {sure} for each share.")
    sources = Counter(d.largest.source for d in splits if is_largest(d) and d.largest)
    vary = sum(d.largest is not None for d in splits)
    n = sum(sources.values())
    whose = joined([f"the {source} {times}" for source, times in sources.most_common()])
    clear = f"one source is probably the largest in {n} ({whose})" if n else ""
    rest = f"which is largest cannot be told yet in {vary - n}" if vary - n else ""
    none = (
        f"scores do not vary at all in {len(splits) - vary}"
        if vary < len(splits)
        else ""
    )
    clauses = joined([part for part in (clear, rest, none) if part])
    pairs = count(len(splits), "pair")
    return f"Of {pairs} of algorithm and task, {clauses}, {sure} for each share."


def _clause(answer: "VarianceShares", one: Decomposition) -> str:
    names = short_names(d.algorithm for d in answer.decompositions)
    tasks = short_names(answer.tasks)
    who = names[one.algorithm]
    if answer.tasks != (ONLY,):
        who += f" on {tasks[one.task]}"
    first, label = one.largest, answer.metric.label
    if first is None:
        return f"for {who}, {label} does not vary at all"
    if is_most(one):
        return f"for {who}, most of the variation of {label} comes from {_share(first)}"
    if is_largest(one):
        return f"for {who}, the variation of {label} comes most from {_share(first)}"
    others = sorted(
        (s for s in one.shares if s is not first), key=lambda s: -s.interval.value
    )
    return (
        f"for {who}, the variation of {label} comes from {_share(first)} and "
        f"{_share(others[0])}, and which of these is larger cannot be told yet"
    )


def _share(share: Share) -> str:
    interval = share.interval
    value, low, high = (
        f"{100 * x:.0f}" for x in (interval.value, interval.lower, interval.upper)
    )
    return f"the {share.source} ({value} % of it, between {low} and {high} %)"


def would_change(answer: "VarianceShares") -> str:
    """Return what would change it: more draws of what was drawn least often."""
    fewest: dict[str, int] = {}
    for one in answer.decompositions:
        for share in one.shares:
            if share.levels is not None:
                least = fewest.get(share.source, share.levels)
                fewest[share.source] = min(least, share.levels)
    order = sorted(fewest, key=lambda source: fewest[source])
    draws = joined([f"{fewest[source]} of the {source}" for source in order])
    unsure = [one for one in answer.decompositions if not is_largest(one)]
    whose = short_names(d.algorithm for d in answer.decompositions)
    parts = [
        f"More draws would, most of all where there are fewest ({draws}): what is rare "
        f"is not in few of them."
    ]
    if unsure:
        names = [f"{whose[d.algorithm]} on {d.task}" for d in unsure]
        parts.append(f"Which share is largest is open for {some(names)}.")
    parts.append("Other ranges of hyperparameters would give other shares.")
    if failed := sum(one.failed for one in answer.decompositions):
        parts.append(failures(failed, answer.failed_score, "the shares"))
    return " ".join(parts)


def verdict_of(d: Decomposition) -> str:
    """Return where most of the spread comes from, in a sentence."""
    first = d.largest
    if first is None:
        return "all scores are the same, and there is nothing to share."
    others = sorted(
        (s for s in d.shares if s is not first), key=lambda s: -s.interval.value
    )
    text = (
        f"the largest share of the variance, {share_cell(first.interval.value)} "
        f"({_ends(first.interval)}), comes from {_the(first.source)}"
    )
    if is_most(d):
        return f"{text}: more than half of it."
    if is_largest(d):
        return f"{text}: more than from any other source."
    second = others[0]
    return (
        f"{text}; next {_is(second.source)} {_the(second.source)}, "
        f"{share_cell(second.interval.value)} ({_ends(second.interval)}). Which is larger "
        f"cannot be told from so few draws."
    )


def _the(source: str) -> str:
    return f"the {source}"


def _is(source: str) -> str:
    return "are" if source == ROLES["params"] else "is"


def share_cell(share: float) -> str:
    """Return a share of the variance, as tables show it."""
    return "" if math.isnan(share) else f"{100 * share:.0f} %"


def _ends(interval: Interval) -> str:
    return f"{100 * interval.lower:.0f} to {100 * interval.upper:.0f} %"


def span_cell(interval: Interval) -> str:
    """Return the ends of a share, as tables show them."""
    return "cannot tell" if math.isnan(interval.lower) else _ends(interval)
