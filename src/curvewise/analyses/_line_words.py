"""What lines of algorithms show, in words that claim no more than that."""

import math
from collections.abc import Sequence

from curvewise._text import joined, shown
from curvewise.analyses._line_tables import lead_word, shown_p
from curvewise.analyses._line_tasks import LinePair, LineTask
from curvewise.errors import listed
from curvewise.metrics import Metric
from curvewise.stats.anova import OverTasks, RandomizedAnova

EFFECTS_IN_WORDS = {"algorithm": "height", "interaction": "shape"}


def p_in_words(p: float) -> str:
    """Return a p value as people write it, with a digit more where it matters.

    >>> p_in_words(0.0312), p_in_words(0.00004), p_in_words(0.4)
    ('p = 0.0312', 'p = 4e-05', 'p = 0.4')
    """
    return f"p = {shown_p(p)}"


def overall_verdict(found: LineTask) -> str:
    """Return whether the algorithms differ at all, in height and in shape."""
    who = " and ".join(found.algorithms)
    if len(found.algorithms) > 2:
        who = f"The {len(found.algorithms)} algorithms"
    return " ".join(_effect(found.anova, effect, who) for effect in EFFECTS_IN_WORDS)


def _effect(anova: RandomizedAnova, effect: str, who: str) -> str:
    what, p = EFFECTS_IN_WORDS[effect], p_in_words(anova.p(effect))
    decision = anova.decision(effect)
    if decision == "cannot reject":
        return (
            f"These lines cannot show a difference in {what}, whatever they are: the "
            f"smallest p of {_sizes(anova)} is {shown(anova.smallest_p, 2)}. "
            f"{anova.lines_to_reject()} lines of each could."
        )
    if decision == "undecided":
        ends = anova.p_interval(effect)
        return (
            f"Whether they differ in {what} is undecided: p is between "
            f"{shown_p(ends.lower)} and {shown_p(ends.upper)}, as far as draws can tell."
        )
    if decision == "rejected":
        if effect == "algorithm":
            return f"{who} differ in {what}, averaged over the steps ({p})."
        return f"{who} differ in {what}: their distance changes along the steps ({p})."
    return f"No difference in {what} was shown ({p})."


def _sizes(anova: RandomizedAnova) -> str:
    return " and ".join(str(n) for n in anova.sizes) + " lines"


def pair_verdicts(
    pairs: Sequence[LinePair], metric: Metric, margin: float | None
) -> list[str]:
    """Return a paragraph for each pair, and one for all of which nothing can be said."""
    mute = [p for p in pairs if set(p.decisions.values()) == {"cannot reject"}]
    told = [_pair_verdict(p, metric, margin) for p in pairs if p not in mute]
    if mute:
        names = listed([f"{p.one} and {p.other}" for p in mute])
        could = max(p.tested.lines_to_reject for p in mute)
        told.append(
            f"So few lines can show no difference between {names}, whatever they are: "
            f"{could} lines of each could."
        )
    return told


def _pair_verdict(pair: LinePair, metric: Metric, margin: float | None) -> str:
    """Return who is ahead, by how much, and at which steps they differ."""
    parts = [_ahead(pair, metric), _shape(pair)]
    if pair.where is not None:
        parts += [_leads(pair, metric), pair.where.afterwards(pair.band, margin=margin)]
    return " ".join(part for part in parts if part)


def _leads(pair: LinePair, metric: Metric) -> str:
    """Return who is ahead at which steps; in windows that is so on average."""
    where = pair.where
    if where is None:
        return ""
    ahead = pair.ahead(metric)
    if not ahead:
        unit = "windows" if (where.first != where.last).any() else "steps"
        return f"At none of {len(where.p)} tested {unit} was a difference found."
    by_name: dict[str, list[str]] = {}
    for name, first, last in ahead:
        by_name.setdefault(name, []).append(where.at_steps(first, last))
    word = lead_word(metric)
    parts = [f"{name} is {word} {joined(at)}" for name, at in by_name.items()]
    return f"{'; '.join(parts)}."


def _ahead(pair: LinePair, metric: Metric) -> str:
    found, p = pair.effects.difference, p_in_words(pair.tested.adjusted_p("algorithm"))
    low, high = found.lower, found.upper
    is_known = math.isfinite(low) and math.isfinite(high)
    span = f"{shown(low, 3)} to {shown(high, 3)}"
    decision = pair.decisions["algorithm"]
    if decision == "rejected":
        word = "above" if metric.direction is None else "ahead of"
        leads = found.value * (1 if metric.direction is None else metric.sign) > 0
        first, second = (pair.one, pair.other) if leads else (pair.other, pair.one)
        if found.value < 0:
            span = f"{shown(-high, 3)} to {shown(-low, 3)}"
        by = shown(abs(found.value), 3)
        if is_known and low <= 0 <= high:
            # Holm spares p what every interval has to pay for all pairs at once.
            return (
                f"{first} is {word} {second} on average ({p}); by how much is open: "
                f"{by}, from {span}, for all pairs at once."
            )
        told = f"{span}, {p}" if is_known else p
        return f"{first} is {word} {second} by {by} on average ({told})."
    who = f"{pair.one} and {pair.other}"
    if decision == "undecided":
        return f"{who}: whether they differ in height is undecided ({p})."
    may = f"; it may be from {span}" if is_known else ""
    if is_known and (low > 0 or high < 0):
        # Intervals are Student's; the test asks shuffles and flips, and is the judge.
        may = f", though an interval ({span}) leaves out 0"
    return f"{who}: no difference in height was shown ({p}){may}."


def _shape(pair: LinePair) -> str:
    p = p_in_words(pair.tested.adjusted_p("interaction"))
    if pair.decisions["interaction"] == "undecided":
        return f"Whether their shapes differ is undecided ({p})."
    is_shown = pair.decisions["interaction"] == "rejected"
    return f"Their shapes differ ({p})." if is_shown else ""


def tasks_verdict(
    one: OverTasks, adjusted: Sequence[float], level: float, metric: Metric
) -> str:
    """Return in words what holds over all tasks, given p adjusted for all pairs."""
    first, second = one.algorithms
    if one.whole.cannot_reject and one.somewhere.cannot_reject:
        least = shown_p(min(one.whole.smallest_p, one.somewhere.smallest_p))
        return (
            f"{first} and {second}: so few lines can show no difference over "
            f"{len(one.tasks)} tasks; the smallest p is {least}."
        )
    word = lead_word(metric)
    if float(one.z.sum()) * (1 if metric.direction is None else metric.sign) < 0:
        first, second = second, first
    whole, somewhere, reversal = adjusted
    if whole <= level:
        but = f", though each is {word} on some task" if reversal <= level else ""
        of = f"{word} of" if word == "ahead" else word
        return f"{first} is {of} {second} on the whole ({p_in_words(whole)}){but}."
    if reversal <= level:
        return (
            f"{first} and {second}: it depends on the task, each is {word} on some "
            f"({p_in_words(reversal)})."
        )
    if somewhere <= level:
        return (
            f"{first} and {second}: they differ on some task ({p_in_words(somewhere)}), "
            f"and neither is ahead on the whole for sure ({p_in_words(whole)})."
        )
    return (
        f"{first} and {second}: no difference was shown over {len(one.tasks)} tasks "
        f"({p_in_words(whole)})."
    )
