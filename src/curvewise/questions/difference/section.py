"""Do the curves differ, and where? What that needs, and its section on the page."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError, Message, listed
from curvewise.questions.difference import Difference, difference
from curvewise.questions.difference.charts import lines_chart, where_chart
from curvewise.questions.difference.fit import (
    grid_of,
    lines_by_task,
    too_many_pairs,
    with_lines,
)
from curvewise.questions.difference.text import adjusted_p, lines_in_words
from curvewise.questions.needs import (
    Needs,
    Prospect,
    Request,
    Settled,
    Topic,
    basis,
    calls,
    fewest,
    in_part,
    others,
    refused,
    sentences,
    settled,
)
from curvewise.questions.sampling import crossed_factors
from curvewise.questions.section import (
    SEED,
    Block,
    Group,
    Method,
    Section,
    Settings,
    answered,
    by_metric,
)
from curvewise.questions.sentences import all_tasks, on
from curvewise.review.check import gate, ungated
from curvewise.stats.anova import FEWEST_TO_FLIP, two_way
from curvewise.stats.deals import lines_to_reach, number_of_deals
from curvewise.text import count, step
from curvewise.trials import Trials
from curvewise.trials.doors import Failed, Lines

_TOPIC = Topic(
    "difference",
    "Do the curves differ, and where?",
    "whether and where curves differ",
)
_LEVEL = 0.05
_NO_CURVES = "A trial has one score here, and no curve."
_RECORD = "Record the score after every epoch, with the step."


def prospect(request: Request) -> Prospect:
    """Return whether curves can be compared."""
    if lacking := what_is_lacking(request.trials, 2):
        return _TOPIC.unanswered(**lacking)
    enough = with_enough(request.trials, 2)
    case = settled(request, _compare, request.trials, enough, is_directed=False)
    if isinstance(case, str):
        return _TOPIC.unanswered(why=case)
    compared = with_rivals(case.trials)
    alone = who_is_left_out(compared, request.trials, "two runs")
    cannot = _cannot_be_significant(compared)
    meant = case.trials.metric(case.metric)
    nobody = (
        ""
        if meant.is_directed
        else Message("Not who is ahead: ", meant.assumption, ".")
    )
    why = sentences(in_part(case, request, alone), cannot, nobody)
    rivals = Settled(compared, case.metric, case.failed)
    return _TOPIC.answered(
        found=f"{basis(rivals)}, {_steps(rivals)}",
        why=why,
        strength=sentences(_how_many_runs(compared), others(request, case.metric)),
        **calls(request, case, "difference", options_for_lines(case)),
    )


# --- as the analyses begin ---------------------------------------------------------------


def several_lines(part: Trials, metric: str, failed: Failed) -> list[Lines]:
    """Return the curves of each task that has those of two algorithms."""
    grid = grid_of(part, metric)
    by_task = lines_by_task(part, metric, grid, None, failed)
    several = [lines for lines in by_task.values() if len(lines) > 1]
    if not several:
        raise CurvewiseError("No task has curves of two algorithms.")
    return several


def _compare(part: Trials, metric: str, failed: Failed) -> None:
    for lines in several_lines(part, metric, failed):
        few = [name for name, curves in lines.items() if len(curves) < 2]
        if 0 < len(few) < len(lines):
            raise CurvewiseError(
                f"One run of {listed(few)}, which does not show how noisy it is."
            )
        two_way(lines)


def options_for_lines(case: Settled) -> dict[str, Any]:
    """Return the keywords with which curves are compared."""
    grid = grid_of(case.trials, case.metric)
    return ({} if grid is None else {"grid": grid}) | case.options


# --- of which trials ---------------------------------------------------------------------


def with_enough(trials: Trials, least: int) -> Trials:
    """Return, of every task, the algorithms with enough runs, if there are two such."""
    core = trials.core
    keep = np.zeros(len(trials), bool)
    for code in range(len(trials.tasks)):
        here = core.task == code
        sizes = np.bincount(core.algorithm[here], minlength=len(trials.algorithms))
        many = np.flatnonzero(sizes >= least)
        if len(many) > 1:
            keep |= here & np.isin(core.algorithm, many)
    return trials.take(np.flatnonzero(keep))


def what_is_lacking(trials: Trials, least: int) -> dict[str, str]:
    """Return why no curves can be compared, and what to add; nothing where they can."""
    if crossed_factors(trials):
        return refused(trials)
    runs = "two runs" if least == 2 else f"{least} runs"
    if trials.core.lengths.max() < 2:
        add = _RECORD
        if len(trials.algorithms) == 1 or not len(with_enough(trials, least)):
            add += f" Run {runs} or more of two algorithms on the same task."
        return {"why": _NO_CURVES, "add": add}
    if len(with_enough(trials, least)):
        return {}
    if len(trials.algorithms) == 1:
        return {
            "why": f"There is one algorithm, {listed(trials.algorithms)}.",
            "add": f"Run another one on the same task, {runs} or more of each.",
        }
    return {
        "why": f"No task has {runs} or more of two algorithms.",
        "add": f"Run them again with other seeds, until there are {runs} or more of each.",
    }


def with_rivals(part: Trials) -> Trials:
    """Return the trials of tasks with several algorithms: others are left out."""
    return with_enough(part, 1)


def who_is_left_out(part: Trials, trials: Trials, least: str) -> str:
    """Return which algorithms and tasks are not in it; empty where all are."""
    if len(part) == len(trials):
        return ""
    names = [a for a in trials.algorithms if a not in part.algorithms]
    if names:
        return f"Not of {listed(names, 4)}, of which there are fewer than {least}."
    return f"Some algorithms have fewer than {least} on a task, and are left out there."


# --- how strong --------------------------------------------------------------------------


def _sizes(part: Trials) -> list[list[int]]:
    """Return how many runs each algorithm has on each task."""
    core = part.core
    counts = [np.bincount(core.algorithm[core.task == t]) for t in np.unique(core.task)]
    return [sizes[sizes > 0].tolist() for sizes in counts]


def _cannot_be_significant(part: Trials) -> str:
    sizes = _sizes(part)
    if any(number_of_deals(counts) >= 1 / _LEVEL for counts in sizes):
        return ""
    most = max(number_of_deals(counts) for counts in sizes)
    needed = min(lines_to_reach(len(counts), _LEVEL) for counts in sizes)
    return (
        f"So few runs can be dealt to the algorithms in {count(most, 'way')} only: no p "
        f"value can be below 1/{most}, and nothing is significant at {_LEVEL:g}. {needed} "
        f"runs of each would do."
    )


def _how_many_runs(part: Trials) -> str:
    n = fewest(part)
    note = f"{count(n, 'run')} of each at least."
    if n < FEWEST_TO_FLIP:
        note += f" With fewer than {FEWEST_TO_FLIP} it is not told where they differ."
    return note


def _steps(case: Settled) -> str:
    grid = grid_of(case.trials, case.metric)
    if grid is not None:
        return f"at {grid} common steps"
    steps = np.unique(case.trials.core.steps)
    return f"{len(steps)} steps from {step(steps[0])} to {step(steps[-1])}"


_SENTENCES = 10  # about pairs; the table has all of them
_ASKED = (
    "Every run has a curve. Whole runs are compared, since points of one run hang "
    "together: in height, that is their means over the steps, and in shape, that is how "
    "their distance changes along the steps; and then where."
)
_OVERALL = (
    "Each pair of algorithms over all tasks: Welch's z of each task, above 0 where the "
    "first has higher scores, and p for all pairs at once"
)


NEEDS: Needs = {prospect: "difference"}


def sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return whether and where curves differ, where there are curves to compare."""
    whole = trials
    trials, left_out = with_lines(trials)
    if len(trials) == 0 or crossed_factors(trials):
        return []

    def section(metric: str) -> Section:
        if reason := too_many_pairs(trials):
            raise CurvewiseError(reason)
        cautions = gate(whole, "difference", metric=metric, anyway=settings.anyway)
        with ungated():  # of which these are a part
            answer = difference(
                trials,
                metric,
                grid=grid_of(trials, metric),
                failed=settings.failed,
                seed=SEED,
            )
        base = answered(_ASKED, answer, partial(_difference_blocks, answer), DIFFERENCE)
        overall = [Group("", [_overall_block(answer)])] if answer.overall else []
        return replace(
            base,
            groups=[*base.groups, *overall],
            notes=[*base.notes, *left_out],
            cautions=(*cautions, *base.cautions),
        )

    def refusal(_metric: str, problem: CurvewiseError) -> str:
        if reason := too_many_pairs(trials):
            return reason
        return f"These curves cannot be compared. {problem}"

    every = map(trials.metric, settings.every)
    return by_metric("difference", _TOPIC.question, _ASKED, every, section, refusal)


def _overall_block(answer: Difference) -> Block:
    return Block(
        f"Curves over {all_tasks(len(answer.tasks))}",
        _first(_surest(answer)),
        None,
        answer.overall_table(),
        _OVERALL,
    )


def _surest(answer: Difference) -> list[str]:
    """Return what holds over all tasks, what is surest first where pairs are many."""
    verdicts = answer.overall_verdicts()
    if len(verdicts) <= _SENTENCES:
        return verdicts
    least = [min(p) for p in adjusted_p(answer.overall)]
    return [verdicts[i] for i in sorted(range(len(verdicts)), key=least.__getitem__)]


def _first(lines: Sequence[str]) -> str:
    """Return sentences about pairs, line by line: of many the first ones."""
    if len(lines) <= _SENTENCES:
        return "\n".join(lines)
    more = f"The table below tells of the others, {len(lines) - _SENTENCES} more."
    return "\n".join([*lines[:_SENTENCES], more])


def _difference_blocks(answer: Difference, task: str) -> list[Block]:
    label = answer.metric.label
    whole, *pairs = answer.verdicts(task)
    return [
        Block(
            f"Curves{on(task)}",
            whole,
            lines_chart(answer, task),
            answer.table(task),
            f"Analysis of variance of {label}{on(task)}; "
            f"{lines_in_words(answer.of(task))}",
        ),
        Block(
            f"Who differs{on(task)}, and where?",
            _first(pairs),
            where_chart(answer, task),
            answer.pair_table(task),
            f"Each pair of algorithms{on(task)}, first minus second",
        ),
    ]


DIFFERENCE = Method(
    "Analysis of variance of whole curves, in height (their means over the steps) and "
    "in shape (the rest), with p values by shuffling whole runs between algorithms and "
    "by flipping the signs of their deviations; the larger one counts. Pairs: the same "
    "within the pair, adjusted for all pairs of a task (Holm), with Welch's intervals. "
    "Where: the largest of all steps by flips, stepping down.",
    "Where runs of all algorithms vary alike, equal algorithms are called different "
    "with probability of at most the level, at any number of runs: a theorem. Where "
    "they do not, for many runs; in simulations of 4 to 20 runs, with up to 4 times the "
    "noise in one algorithm, that happened in 3 to 6 % for the height and 2 to 8 % for "
    "the shape (of 5 %). Height and shape are two tests, each at that level. What is "
    "said of a task holds for all its pairs, not for all tasks; what is said of all "
    "tasks has tests of its own. No false step in 93 to 96 % of simulated experiments "
    "with 8 steps and 5 runs or more; where one run in eight fails, fewer.",
    'J. H. Piater, P. R. Cohen, X. Zhang, M. Atighetchi. "A randomized ANOVA procedure '
    'for comparing performance curves." ICML, 1998; here height and shape are tested '
    'apart and noise may be unequal. S. Holm. "A simple sequentially rejective multiple '
    'test procedure." Scandinavian Journal of Statistics 6, 1979.',
)
