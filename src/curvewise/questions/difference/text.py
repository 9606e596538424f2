"""What `Difference` says: its verdicts and its notes."""

import math
from collections.abc import Sequence

from curvewise.errors import listed
from curvewise.metrics import Metric
from curvewise.questions.difference.fit import LinePair, LineTask
from curvewise.questions.lead import sign_of
from curvewise.questions.sentences import from_to
from curvewise.stats.anova import FEWEST_TO_FLIP, OverTasks, RandomizedAnova, Where
from curvewise.stats.comparison import holm
from curvewise.stats.interval import CurveBand
from curvewise.text import Cell, count, joined, percent, shown, step

_NEAR = (0.01, 0.1)  # where a level is likely to be
_QUESTIONS = ("whole", "somewhere", "reversal")


def lead_word(metric: Metric) -> str:
    """Return what whoever leads is: nobody is ahead where better is not known."""
    return "above" if metric.direction is None else "ahead"


def steps_cell(pair: LinePair, metric: Metric) -> str:
    """Return at which steps who of a pair is ahead, in one cell of a table."""
    if pair.where is None:
        return "too few lines"
    stretches = [
        f"{name}: {step(a)}" if a == b else f"{name}: {step(a)} to {step(b)}"
        for name, a, b in pair.ahead(metric)
    ]
    most = 3
    more = f" and {len(stretches) - most} more" if len(stretches) > most else ""
    return "; ".join(stretches[:most]) + more or "none found"


def adjusted_p(overall: Sequence[OverTasks]) -> list[tuple[float, float, float]]:
    """Return for each pair the three p over all tasks, adjusted for all pairs (Holm)."""
    if not overall:
        return []
    columns = (holm([getattr(one, name).p for one in overall]) for name in _QUESTIONS)
    return [(float(a), float(b), float(c)) for a, b, c in zip(*columns, strict=True)]


def shown_p(p: Cell) -> str:
    """Return a p value with two digits, and three where a level may be near.

    >>> shown_p(0.04963), shown_p(0.000123), shown_p(0.51), shown_p(None)
    ('0.0496', '0.00012', '0.51', '')
    """
    if not isinstance(p, float):
        return ""
    return f"{p:.3g}" if _NEAR[0] <= p <= _NEAR[1] else f"{p:.2g}"


# --- What lines of algorithms show, in words that claim no more than that --------------


def lines_in_words(result: LineTask) -> str:
    """Return how many lines there are, and how they came on common steps."""
    failed = {n: f" ({k} failed)" if k else "" for n, k in result.lines.failed.items()}
    sizes = (f"{name} {len(runs)}{failed[name]}" for name, runs in result.lines.items())
    return f"lines of {', '.join(sizes)}; {result.lines.rule}"


EFFECTS_IN_WORDS = {"algorithm": "height", "interaction": "shape"}


def p_in_words(p: float) -> str:
    """Return a p value as people write it, with a digit more where it matters.

    >>> p_in_words(0.0312), p_in_words(0.00004), p_in_words(0.4)
    ('p = 0.0312', 'p = 4e-05', 'p = 0.4')
    """
    return f"p = {shown_p(p)}"


def overall_verdict(result: LineTask) -> str:
    """Return whether the algorithms differ at all, in height and in shape."""
    who = " and ".join(result.algorithms)
    if len(result.algorithms) > 2:
        who = f"The {len(result.algorithms)} algorithms"
    return " ".join(_effect(result.anova, effect, who) for effect in EFFECTS_IN_WORDS)


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
    paragraphs = [_pair_verdict(p, metric, margin) for p in pairs if p not in mute]
    if mute:
        names = listed([f"{p.one} and {p.other}" for p in mute])
        could = max(p.tested.lines_to_reject for p in mute)
        paragraphs.append(
            f"So few lines can show no difference between {names}, whatever they are: "
            f"{could} lines of each could."
        )
    return paragraphs


def _pair_verdict(pair: LinePair, metric: Metric, margin: float | None) -> str:
    """Return who is ahead, by how much, and at which steps they differ."""
    parts = [_ahead(pair, metric), _shape(pair)]
    if pair.where is not None:
        parts += [_leads(pair, metric), *_afterwards(pair.where, pair.band, margin)]
    return " ".join(part for part in parts if part)


def _leads(pair: LinePair, metric: Metric) -> str:
    """Return who is ahead at which steps; in windows that is so on average."""
    where = pair.where
    if where is None:
        return ""
    ahead = pair.ahead(metric)
    if not ahead:
        unit = "windows" if where.has_windows else "steps"
        return f"At none of {len(where.p)} tested {unit} was a difference found."
    by_name: dict[str, list[str]] = {}
    for name, first, last in ahead:
        by_name.setdefault(name, []).append(_stretch(where, first, last))
    word = lead_word(metric)
    parts = [f"{name} is {word} {joined(at)}" for name, at in by_name.items()]
    return f"{'; '.join(parts)}."


def _stretch(where: Where, first: float, last: float) -> str:
    """Return from which tested step to which, without a word about others."""
    if where.has_windows:
        is_one = ((where.first == first) & (where.last == last)).any()
        which = "in the window" if is_one else "in every tested window"
        return f"{which} from step {step(first)} to {step(last)}"
    if first == last:
        return f"at step {step(first)}"
    return f"at every tested step from {step(first)} to {step(last)}"


def _afterwards(
    where: Where, band: CurveBand | None, margin: float | None
) -> list[str]:
    """Return how long two differ at least, and with a band what may have been missed."""
    last = where.last_different
    parts = (
        [] if last is None else [f"They still differ at step {step(last)} or later."]
    )
    most = None if band is None else where.still_possible_after(band)
    if most is None:  # they differ to the end
        return parts
    begin = ""
    if where.different.any():
        begin = f"After step {step(where.last[where.different][-1])} "
    if margin is not None and most <= margin:
        gone = (
            f"the difference is gone: at no tested step is it larger than {margin:g}."
            if begin
            else f"At no tested step is a difference larger than {margin:g}."
        )
        return [*parts, f"{begin}{gone}"]
    none = "no difference was found; differences" if begin else "Differences"
    return [*parts, f"{begin}{none} up to {shown(most)} remain possible."]


def _ahead(pair: LinePair, metric: Metric) -> str:
    effect, p = pair.effects.difference, p_in_words(pair.tested.adjusted_p("algorithm"))
    low, high = effect.lower, effect.upper
    is_known = math.isfinite(low) and math.isfinite(high)
    finding = pair.finding("", metric)
    if finding.surety == "sure":
        word = "above" if metric.direction is None else "ahead of"
        span = from_to(low, high) if effect.value >= 0 else from_to(-high, -low)
        by = shown(abs(effect.value), 3)
        if is_known and low <= 0 <= high:
            # Holm spares p what every interval has to pay for all pairs at once.
            return (
                f"{finding.ahead} is {word} {finding.behind} on average ({p}); by how much "
                f"is open: {by}, from {span}, for all pairs at once."
            )
        detail = f"{span}, {p}" if is_known else p
        return (
            f"{finding.ahead} is {word} {finding.behind} by {by} on average ({detail})."
        )
    who, span = f"{pair.one} and {pair.other}", from_to(low, high)
    if pair.decisions["algorithm"] == "undecided":
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
    overall: OverTasks, adjusted: Sequence[float], level: float, metric: Metric
) -> str:
    """Return in words what holds over all tasks, given p adjusted for all pairs."""
    first, second = overall.algorithms
    if overall.whole.cannot_reject and overall.somewhere.cannot_reject:
        least = shown_p(min(overall.whole.smallest_p, overall.somewhere.smallest_p))
        return (
            f"{first} and {second}: so few lines can show no difference over "
            f"{len(overall.tasks)} tasks; the smallest p is {least}."
        )
    word = lead_word(metric)
    if float(overall.z.sum()) * sign_of(metric) < 0:
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
        f"{first} and {second}: no difference was shown over {len(overall.tasks)} tasks "
        f"({p_in_words(whole)})."
    )


# --- What a reader must know to read what lines of algorithms show ---------------------


def line_notes(
    results: Sequence[LineTask],
    metric: Metric,
    level: float,
    failed_score: str,
    alone: Sequence[str],
    *,
    is_overall: bool,
) -> list[str]:
    """Return the notes below the tables of an answer."""
    notes = [*_how_p_was_found(results), *_headings(results, metric, level)]
    if is_overall:
        notes.append(
            "all tasks: z is the difference in units of its own chance, above 0 where the "
            "first has higher scores; p is adjusted for all pairs (Holm)."
        )
    if any(result.fewest < FEWEST_TO_FLIP for result in results):
        notes.append(_FEW_LINES)
    for result in results:
        notes += [_noise_note(result), _disagreement(result), *_where_notes(result)]
    notes.append(_failed(results, failed_score))
    if alone:
        notes.append(f"Left out, with one algorithm only: {listed(alone)}.")
    return [note for note in [*notes, _scope(level)] if note]


def _headings(results: Sequence[LineTask], metric: Metric, level: float) -> list[str]:
    """Return what the columns of the tables are."""
    several = any(len(result.pairs) > 1 for result in results)
    adjusted = ", adjusted for all pairs of a task (Holm)" if several else ""
    sharing = "all pairs of a task at once" if several else "the pair"
    turned = ", lower is better" if metric.direction == "lower" else ""
    tested = dict.fromkeys(tests for result in results if (tests := _tested(result)))
    notes = [
        f"height: the mean over all steps, every step counting the same{turned}. shape: "
        f"how the distance between algorithms changes along the steps.",
        f"pairs: first minus second; p by draws within the pair{adjusted}. in sd: the same "
        f"in standard deviations of a line's mean. Intervals are Welch's, for about normal "
        f"means of lines; they hold for {sharing}, with {percent(1 - level)} confidence.",
    ]
    if tested:
        notes.append(
            f"ahead at steps: tested were {'; '.join(tested)}; with {percent(1 - level)} "
            f"confidence none is false, of all steps and {sharing}."
        )
    return notes


def _tested(result: LineTask) -> str:
    """Return at how many steps, or in how many windows, algorithms were compared."""
    where = next((pair.where for pair in result.pairs if pair.where is not None), None)
    if where is None:
        return ""
    tests, steps = len(where.p), len(result.lines.steps)
    if tests == steps:
        return f"each of {steps} steps"
    return (
        f"{tests} windows of about {steps / tests:.3g} steps each, by their mean scores"
    )


def _failed(results: Sequence[LineTask], failed_score: str) -> str:
    failed = [
        (n, f"{n} of {name} on {result.task}")
        for result in results
        for name, n in result.lines.failed.items()
        if n
    ]
    if not failed:
        return ""
    whose = ", ".join(words for _, words in failed)
    return (
        f"{count(sum(n for n, _ in failed), 'failed line')} ({whose}): wherever a failed "
        f"run has no value, it counts with score {failed_score}."
    )


def _noise_note(result: LineTask) -> str:
    """Return how lines vary, and what a textbook would have made of it."""
    if not math.isfinite(result.noise_ratio) or not math.isfinite(result.correlation):
        return f"{result.task}: some algorithm has lines that do not vary."
    table = result.anova.anova
    return (
        f"{result.task}: the noisiest algorithm varies {shown(result.noise_ratio, 2)} "
        f"times as much as the quietest (standard deviations of line means). Neighbouring "
        f"steps of a line correlate by {result.correlation:.2f} and epsilon is "
        f"{result.epsilon:.2f}; the textbook's F, which takes all steps for independent, "
        f"would say {p_in_words(table.p('algorithm'))} for the height and "
        f"{p_in_words(table.p('interaction'))} for the shape."
    )


def _disagreement(result: LineTask) -> str:
    """Return where shuffles and flips say different things at the level, if so."""
    anova, out = result.anova, []
    for effect, what in EFFECTS_IN_WORDS.items():
        test = anova.tests[effect]
        if test.shuffles is None or test.flips is None:
            continue
        one, other = test.shuffles.p, test.flips.p
        if (one <= anova.level) != (other <= anova.level):
            out.append(
                f"{what}: p = {shown_p(one)} by shuffles, {shown_p(other)} by flips"
            )
    if not out:
        return ""
    return (
        f"{result.task}: shuffles and flips disagree ({'; '.join(out)}), as they often do "
        f"where algorithms are unequally noisy. The larger p counts."
    )


_FEW_LINES = (
    "Of three lines or fewer, flips of signs say nothing: unequal noise is not guarded "
    "against, and nothing is said about where such an algorithm differs."
)


def _how_p_was_found(results: Sequence[LineTask]) -> list[str]:
    """Return what the p values of the tables are, and how they were found."""
    methods: dict[str, list[str]] = {}
    for result in results:
        methods.setdefault(_how(result.anova), []).append(result.task)
    several = len(methods) > 1
    return [
        f"p{' on ' + ', '.join(tasks) if several else ''}: {how}. F and its parts are the "
        f"textbook's, its p is not."
        for how, tasks in methods.items()
    ]


def _how(anova: RandomizedAnova) -> str:
    counts = " and ".join(
        f"{'all ' if draws.is_exact else ''}{draws.number:,} {kind}"
        for kind, draws in (
            ("shuffles", anova.tests["algorithm"].shuffles),
            ("flips", anova.tests["algorithm"].flips),
        )
        if draws is not None
    )
    if anova.null == "joint":
        return f"{counts} of whole lines under both F of the table, as published"
    split = f"{counts} of lines split into mean and shape"
    if anova.noise == "equal":
        return f"{split}, taken to be equally noisy"
    if not anova.is_guarded:
        return f"{split}; so few lines leave unequal noise unguarded"
    return (
        f"{split}. The larger p counts: shuffles are exact where lines of all algorithms "
        f"vary alike, flips allow unequal noise"
    )


def _where_notes(result: LineTask) -> list[str]:
    """Return what to beware of in what was found step by step."""
    notes = [
        note
        for pair in result.pairs
        if pair.where
        for note in _where_cautions(pair.where)
    ]
    return [f"{result.task}: {note}" for note in dict.fromkeys(notes)]


def _where_cautions(where: Where) -> list[str]:
    notes = []
    if where.is_weak:
        notes.append(
            f"With {min(where.sizes)} lines of an algorithm and {len(where.steps)} tested "
            f"steps, false findings may be more frequent than {where.level:g}: test "
            f"8 to 30 windows instead."
        )
    for name, hangs in zip(where.algorithms, where.hangs_on_one_line, strict=True):
        if hangs.any():
            notes.append(
                f"One line of '{name}' makes nearly all of its noise in {hangs.sum()} of "
                f"{len(hangs)} tests: what is found there, or not, hangs on one run."
            )
    return notes


def _scope(level: float) -> str:
    """Return what the answer is about, and what not."""
    return (
        f"Where algorithms are alike, a test finds a difference all the same in about "
        f"{percent(level)} of experiments. Shuffles judge these lines, as if chance had "
        f"dealt them to the algorithms; that runs to come will be like them, and other "
        f"tasks like these, is for you to judge. What was not shown may be there."
    )
