"""What lines of algorithms show, in words that claim no more than that."""

import math
from collections.abc import Sequence

from curvewise._text import percent, shown
from curvewise.analyses._line_tasks import LinePair, LineTask
from curvewise.metrics import Metric
from curvewise.stats.anova import OverTasks, RandomizedAnova

_EFFECTS = {"algorithm": "level", "interaction": "shape"}


def p_in_words(p: float) -> str:
    """Return a p-value as people write it.

    >>> p_in_words(0.0312), p_in_words(0.00004), p_in_words(1.0)
    ('p = 0.031', 'p = 4e-05', 'p = 1')
    """
    return f"p = {p:.2g}"


def overall_verdict(found: LineTask) -> str:
    """Return whether the algorithms differ at all, in level and in shape."""
    who = " and ".join(found.algorithms)
    if len(found.algorithms) > 2:
        who = f"The {len(found.algorithms)} algorithms"
    return " ".join(_effect(found.anova, effect, who) for effect in _EFFECTS)


def _effect(anova: RandomizedAnova, effect: str, who: str) -> str:
    what, p = _EFFECTS[effect], p_in_words(anova.p(effect))
    decision = anova.decision(effect)
    if decision == "cannot reject":
        return (
            f"These lines cannot show a difference in {what}, whatever they are: the "
            f"smallest p of {_sizes(anova)} is {shown(anova.smallest_p, 2)}. "
            f"{anova.lines_to_reject()} lines of each could."
        )
    if decision == "undecided":
        return (
            f"Whether they differ in {what} is undecided: {p}, too close to "
            f"{anova.level:g} for so many draws."
        )
    if decision == "rejected":
        if effect == "algorithm":
            return f"{who} differ in {what}, averaged over the steps ({p})."
        return f"{who} differ in {what}: their distance changes along the steps ({p})."
    return f"No difference in {what} was shown ({p})."


def _sizes(anova: RandomizedAnova) -> str:
    return " and ".join(str(n) for n in anova.sizes) + " lines"


def pair_verdict(
    pair: LinePair, metric: Metric, level: float, margin: float | None
) -> str:
    """Return who is ahead, by how much, and at which steps they differ."""
    parts = [_ahead(pair, metric, level), _shape(pair, level)]
    if pair.where is not None:
        parts += [_leads(pair, metric), pair.where.afterwards(pair.band, margin=margin)]
    return " ".join(part for part in parts if part)


def _leads(pair: LinePair, metric: Metric) -> str:
    """Return who is ahead at which steps; in windows that is so on average."""
    where = pair.where
    if where is None:
        return ""
    above = pair.above()
    if not above:
        unit = "windows" if (where.first != where.last).any() else "steps"
        return f"At none of {len(where.p)} tested {unit} was a difference found."
    turned = {pair.one: pair.other, pair.other: pair.one}
    by_name: dict[str, list[str]] = {}
    for name, first, last in above:
        leader = name if metric.sign > 0 else turned[name]
        by_name.setdefault(leader, []).append(where.at_steps(first, last))
    parts = [f"{name} is ahead {_listed(at)}" for name, at in by_name.items()]
    return f"{'; '.join(parts)}."


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _ahead(pair: LinePair, metric: Metric, level: float) -> str:
    found, p = pair.sizes.difference, pair.tested.adjusted_p("algorithm")
    ends = (found.lower, found.upper)
    span = ""
    if all(map(math.isfinite, ends)):
        span = f"{shown(ends[0], 3)} to {shown(ends[1], 3)}"
    if p <= level:
        leads = found.value * metric.sign > 0
        first, second = (pair.one, pair.other) if leads else (pair.other, pair.one)
        if span and found.value < 0:
            span = f"{shown(-ends[1], 3)} to {shown(-ends[0], 3)}"
        by = shown(abs(found.value), 3)
        told = f"{span}, {p_in_words(p)}" if span else p_in_words(p)
        return f"{first} is ahead of {second} by {by} on average ({told})."
    if pair.tested.cannot_reject:
        return (
            f"{pair.one} and {pair.other}: with so few lines no difference could be shown "
            f"among so many pairs."
        )
    may = f"; it may be from {span}" if span else ""
    return (
        f"{pair.one} and {pair.other}: no difference in level was shown "
        f"({p_in_words(p)}){may}."
    )


def _shape(pair: LinePair, level: float) -> str:
    p = pair.tested.adjusted_p("interaction")
    return f"Their shapes differ ({p_in_words(p)})." if p <= level else ""


def noise_note(found: LineTask) -> str:
    """Return how lines vary, and what a textbook would have made of it."""
    anova = found.anova
    parts = [
        f"{found.task}: the noisiest algorithm varies {shown(found.noise_ratio, 2)} times "
        f"as much as the quietest (standard deviations of line means)"
    ]
    if math.isfinite(found.correlation):
        parts.append(
            f"neighbouring steps of a line correlate by {found.correlation:.2f} and "
            f"epsilon is {found.epsilon:.2f}, so that the textbook's F, which takes steps "
            f"for independent, is wrong (it would say "
            f"{p_in_words(anova.anova.p('algorithm'))} and "
            f"{p_in_words(anova.anova.p('interaction'))})"
        )
    return "; ".join(parts) + "."


def disagreement(found: LineTask) -> str:
    """Return where shuffles and flips say different things at the level, if so."""
    anova, out = found.anova, []
    for effect, what in _EFFECTS.items():
        test = anova.tests[effect]
        if test.shuffles is None or test.flips is None:
            continue
        one, other = test.shuffles.p, test.flips.p
        if (one <= anova.level) != (other <= anova.level):
            out.append(f"{what}: p = {one:.2g} by shuffles, {other:.2g} by flips")
    if not out:
        return ""
    return (
        f"{found.task}: shuffles and flips disagree ({'; '.join(out)}), as they often do "
        f"where algorithms are unequally noisy. The larger p counts."
    )


FEW_LINES = (
    "Of three lines or fewer, flips of signs say nothing: unequal noise is not guarded "
    "against, and nothing is said about where algorithms differ."
)


def how_p_was_found(anova: RandomizedAnova) -> str:
    """Return what the p-values of the table are, and how they were found."""
    told = {
        effect: " and ".join(
            f"{'all ' if draws.exact else ''}{draws.number:,} {kind}"
            for kind, draws in (("shuffles", test.shuffles), ("flips", test.flips))
            if draws is not None
        )
        for effect, test in anova.tests.items()
    }
    same = len(set(told.values())) == 1
    drawn = (
        told["algorithm"]
        if same
        else "; ".join(f"{effect}: {text}" for effect, text in told.items())
    )
    if anova.null == "joint":
        how = "of whole lines under both F of the table, as published"
    elif anova.noise == "equal":
        how = "of lines split into mean and shape, taken to be equally noisy"
    else:
        how = (
            "of lines split into mean and shape. The larger p counts: shuffles are exact "
            "where lines of all algorithms vary alike, flips allow unequal noise"
        )
    return f"p: {drawn} {how}. F and its parts are the textbook's, its p is not."


def where_notes(found: LineTask) -> list[str]:
    """Return what to beware of in what was found step by step."""
    notes = [note for pair in found.pairs if pair.where for note in pair.where.notes]
    return [f"{found.task}: {note}" for note in dict.fromkeys(notes)]


def tasks_verdict(
    one: OverTasks, adjusted: Sequence[float], level: float, metric: Metric
) -> str:
    """Return in words what holds over all tasks, given p adjusted for all pairs."""
    first, second = one.algorithms
    if float(one.z.sum()) * metric.sign < 0:
        first, second = second, first
    whole, somewhere, reversal = adjusted
    if whole <= level:
        but = ", though each is ahead on some task" if reversal <= level else ""
        return f"{first} is ahead of {second} on the whole ({p_in_words(whole)}){but}."
    if reversal <= level:
        return (
            f"{first} and {second}: it depends on the task, each is ahead on some "
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


def scope(level: float) -> str:
    """Return what the answer is about, and what not."""
    return (
        f"Where algorithms are alike, a test finds a difference all the same in about "
        f"{percent(level)} of experiments. Shuffles judge these lines, as if chance had "
        f"dealt them to the algorithms; that runs to come will be like them, and other "
        f"tasks like these, is for you to judge. What was not shown may be there."
    )
