"""Whose rates are best and what more data would buy, in one sentence."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from curvewise._text import count, short_names, step
from curvewise.analyses._count_fits import CountFit, CountTask
from curvewise.analyses._count_tables import label
from curvewise.analyses._count_words import gain_of, leading
from curvewise.analyses._curve_tables import point_of
from curvewise.analyses._naming import some
from curvewise.analyses._saying import confidently, estimate, sentence, span
from curvewise.metrics import find
from curvewise.trials.trial import ONLY

if TYPE_CHECKING:
    from curvewise.analyses.confusion import Confusion

_MOST_TASKS = 3  # that are told one by one


def leader_of(answer: "Confusion", found: CountTask) -> CountFit:
    """Return the curve that is best in the leading metric at the common size."""
    name = leading(answer.asked)
    meant = find(name)
    up = meant.sign if meant is not None else 1
    return max(found.fits, key=lambda fit: up * float(fit.told[name].value[0]))


def headline(answer: "Confusion") -> str:
    """Return in one sentence how good the best is, and what more data would buy."""
    if len(answer.found) > _MOST_TASKS:
        return _counted(answer)
    tasks = short_names(answer.tasks)
    parts = []
    for i, found in enumerate(answer.found):
        is_only = len(answer.found) == 1 and found.task == ONLY
        where = "" if is_only else f"on {tasks[found.task]}, "
        parts.append(f"{where}{_clause(answer, found, is_first=i == 0)}")
    return sentence(f"{'; '.join(parts)}.")


def _clause(answer: "Confusion", found: CountTask, *, is_first: bool) -> str:
    asked, name = answer.asked, leading(answer.asked)
    names, fit = short_names(found.algorithms), leader_of(answer, found)
    now, twice = point_of(fit.told[name]), point_of(fit.told[name], 1)
    sure = f" {confidently(asked.confidence, sure=False)}" if is_first else ""
    how = f"{label(name)} {estimate(now)}, {span(now)}{sure}"
    at = f"with {step(found.size)} examples"
    told = f"twice the data would probably bring it to {estimate(twice)}"
    told += f" ({span(twice)}){_gained(answer, fit)}"
    who = names[fit.algorithm]
    if len(found.fits) == 1:
        return f"{who} has {how}, {at}; {told}"
    # Nothing here tests one algorithm against another.
    rest = some([_beside(o, name, names) for o in found.fits if o is not fit])
    return f"{who} comes out in front {at} ({how}) before {rest}; {told}"


def _beside(fit: CountFit, name: str, names: dict[str, str]) -> str:
    own = point_of(fit.told[name])
    return f"{names[fit.algorithm]} ({estimate(own)}, {span(own)})"


def _gained(answer: "Confusion", fit: CountFit) -> str:
    words = {"gain": "", "perhaps": ", which may be no gain at all"}
    return words.get(
        gain_of(fit, answer.asked), ", no gain as far as these runs can tell"
    )


def _counted(answer: "Confusion") -> str:
    name, found = leading(answer.asked), answer.found
    first = [leader_of(answer, one) for one in found]
    names = short_names(fit.algorithm for fit in first)
    most, times = Counter(fit.algorithm for fit in first).most_common(1)[0]
    gains = sum(gain_of(fit, answer.asked) == "gain" for fit in first)
    low, high = _ends(first, name)
    more = "on none is it sure that twice the data would better it"
    if gains:
        more = (
            f"twice the data would probably better it on {gains} and perhaps elsewhere"
        )
    return (
        f"Of {count(len(found), 'task')}, {names[most]} comes out in front most often, on "
        f"{times}, by {label(name)}, which goes from {low} to {high} for whoever is in "
        f"front, {confidently(answer.asked.confidence, sure=False)} each; {more}."
    )


def _ends(fits: Sequence[CountFit], name: str) -> tuple[str, str]:
    own = sorted((point_of(fit.told[name]) for fit in fits), key=lambda one: one.value)
    low, high = (f"{estimate(x)} ({span(x)})" for x in (own[0], own[-1]))
    return low, high


def would_change(answer: "Confusion") -> str:
    """Return what would change it: test examples, runs, larger training sets."""
    tested = [
        fit.curve.counts.sum((1, 2)).min() for one in answer.found for fit in one.fits
    ]
    largest = max(fit.counted.largest for one in answer.found for fit in one.fits)
    parts = [
        f"More test examples and more runs would narrow the intervals: the fewest answers "
        f"that were tested at a size are {int(min(tested)):,}, and 4 times as many leave "
        f"half as much open.",
        f"Training on more than {step(largest)} examples would put facts in place of "
        f"the forecast.",
    ]
    several = any(len(one.fits) > 1 for one in answer.found)
    if several:
        parts.append(
            "Algorithms are not tested against each other here; the sections on scores "
            "and on error do that."
        )
    if answer.failed:
        verb = "counts as a run" if answer.failed == 1 else "count as runs"
        parts.append(
            f"{count(answer.failed, 'failed run')} {verb} whose every answer is wrong."
        )
    return " ".join(parts)
