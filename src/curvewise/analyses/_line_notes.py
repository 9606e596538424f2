"""What a reader must know to read what lines of algorithms show."""

import math
from collections.abc import Sequence

from curvewise._text import count, percent, shown
from curvewise.analyses._line_tables import shown_p
from curvewise.analyses._line_tasks import LineTask
from curvewise.analyses._line_words import EFFECTS_IN_WORDS, p_in_words
from curvewise.errors import listed
from curvewise.metrics import Metric
from curvewise.stats.anova import FEWEST_TO_FLIP, RandomizedAnova


def line_notes(
    found: Sequence[LineTask],
    metric: Metric,
    level: float,
    failed_score: str,
    alone: Sequence[str],
    *,
    is_overall: bool,
) -> list[str]:
    """Return the notes below the tables of an answer.

    Parameters
    ----------
    found : sequence of LineTask
    metric : Metric
    level : float
    failed_score : str
        What a failed run scores where it has no value.
    alone : sequence of str
        Tasks that were left out.
    is_overall : bool
        Whether anything is said about all tasks together.
    """
    notes = [*_how_p_was_found(found), *_headings(found, metric, level)]
    if is_overall:
        notes.append(
            "all tasks: z is the difference in units of its own chance, above 0 where the "
            "first has higher scores; p is adjusted for all pairs (Holm)."
        )
    if any(one.fewest < FEWEST_TO_FLIP for one in found):
        notes.append(_FEW_LINES)
    for one in found:
        notes += [_noise_note(one), _disagreement(one), *_where_notes(one)]
    notes.append(_failed(found, failed_score))
    if alone:
        notes.append(f"Left out, with one algorithm only: {listed(alone)}.")
    return [note for note in [*notes, _scope(level)] if note]


def _headings(found: Sequence[LineTask], metric: Metric, level: float) -> list[str]:
    """Return what the columns of the tables are."""
    several = any(len(one.pairs) > 1 for one in found)
    adjusted = ", adjusted for all pairs of a task (Holm)" if several else ""
    sharing = "all pairs of a task at once" if several else "the pair"
    turned = ", lower is better" if metric.direction == "lower" else ""
    tested = dict.fromkeys(one.tested for one in found if one.tested)
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


def _failed(found: Sequence[LineTask], failed_score: str) -> str:
    failed = [
        (n, f"{n} of {name} on {one.task}")
        for one in found
        for name, n in one.lines.failed.items()
        if n
    ]
    if not failed:
        return ""
    whose = ", ".join(words for _, words in failed)
    return (
        f"{count(sum(n for n, _ in failed), 'failed line')} ({whose}): wherever a failed "
        f"run has no value, it counts with score {failed_score}."
    )


def _noise_note(found: LineTask) -> str:
    """Return how lines vary, and what a textbook would have made of it."""
    if not math.isfinite(found.noise_ratio) or not math.isfinite(found.correlation):
        return f"{found.task}: some algorithm has lines that do not vary."
    table = found.anova.anova
    return (
        f"{found.task}: the noisiest algorithm varies {shown(found.noise_ratio, 2)} times "
        f"as much as the quietest (standard deviations of line means). Neighbouring steps "
        f"of a line correlate by {found.correlation:.2f} and epsilon is "
        f"{found.epsilon:.2f}; the textbook's F, which takes all steps for independent, "
        f"would say {p_in_words(table.p('algorithm'))} for the height and "
        f"{p_in_words(table.p('interaction'))} for the shape."
    )


def _disagreement(found: LineTask) -> str:
    """Return where shuffles and flips say different things at the level, if so."""
    anova, out = found.anova, []
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
        f"{found.task}: shuffles and flips disagree ({'; '.join(out)}), as they often do "
        f"where algorithms are unequally noisy. The larger p counts."
    )


_FEW_LINES = (
    "Of three lines or fewer, flips of signs say nothing: unequal noise is not guarded "
    "against, and nothing is said about where such an algorithm differs."
)


def _how_p_was_found(found: Sequence[LineTask]) -> list[str]:
    """Return what the p values of the tables are, and how they were found."""
    told: dict[str, list[str]] = {}
    for one in found:
        told.setdefault(_how(one.anova), []).append(one.task)
    several = len(told) > 1
    return [
        f"p{' on ' + ', '.join(tasks) if several else ''}: {how}. F and its parts are the "
        f"textbook's, its p is not."
        for how, tasks in told.items()
    ]


def _how(anova: RandomizedAnova) -> str:
    drawn = " and ".join(
        f"{'all ' if draws.is_exact else ''}{draws.number:,} {kind}"
        for kind, draws in (
            ("shuffles", anova.tests["algorithm"].shuffles),
            ("flips", anova.tests["algorithm"].flips),
        )
        if draws is not None
    )
    if anova.null == "joint":
        return f"{drawn} of whole lines under both F of the table, as published"
    split = f"{drawn} of lines split into mean and shape"
    if anova.noise == "equal":
        return f"{split}, taken to be equally noisy"
    if not anova.is_guarded:
        return f"{split}; so few lines leave unequal noise unguarded"
    return (
        f"{split}. The larger p counts: shuffles are exact where lines of all algorithms "
        f"vary alike, flips allow unequal noise"
    )


def _where_notes(found: LineTask) -> list[str]:
    """Return what to beware of in what was found step by step."""
    notes = [note for pair in found.pairs if pair.where for note in pair.where.notes]
    return [f"{found.task}: {note}" for note in dict.fromkeys(notes)]


def _scope(level: float) -> str:
    """Return what the answer is about, and what not."""
    return (
        f"Where algorithms are alike, a test finds a difference all the same in about "
        f"{percent(level)} of experiments. Shuffles judge these lines, as if chance had "
        f"dealt them to the algorithms; that runs to come will be like them, and other "
        f"tasks like these, is for you to judge. What was not shown may be there."
    )
