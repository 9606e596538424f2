"""Questions about whole curves: do they differ, and how many runs would tell."""

from itertools import combinations
from typing import Any

import numpy as np

from curvewise._text import count, step
from curvewise.analyses._asking import crossed_factors
from curvewise.analyses._line_asking import fewest_steps, lines_by_task
from curvewise.errors import CurvewiseError, Message, listed
from curvewise.flow.explaining.answer import Question
from curvewise.flow.explaining.asking import (
    Asked,
    Settled,
    calls,
    fewest,
    in_part,
    others,
    refused,
    sentences,
    settled,
    told,
)
from curvewise.stats.anova import (
    FEWEST_TO_FLIP,
    FEWEST_TO_PLAN,
    refuse_pilot,
    two_way,
)
from curvewise.stats.deals import lines_to_reach, number_of_deals
from curvewise.trials import Trials
from curvewise.trials.doors import Lines
from curvewise.trials.failures import Failed

_MOST_STEPS = 600  # at which curves of different steps are compared, as in the report
_LEVEL = 0.05
_POWER = 0.8

_DIFFERENCE = (
    "difference",
    "Do the curves differ, and where?",
    "whether and where curves differ",
)
_PLAN = (
    "plan.lines",
    "How many more runs tell the curves apart?",
    "how many runs tell curves apart",
)
_NO_CURVES = "A trial has one score here, and no curve."
_RECORD = "Record the score after every epoch, with the step."


def difference_question(asked: Asked) -> Question:
    """Return whether curves can be compared."""
    if lacking := _lacking(asked.trials, 2):
        return Question(*_DIFFERENCE, "no", **lacking)
    enough = with_enough(asked.trials, 2)
    found = settled(asked, _compare, asked.trials, enough, is_directed=False)
    if isinstance(found, str):
        return Question(*_DIFFERENCE, "no", why=found)
    compared = _compared(found.trials)
    alone = _left_out(compared, asked.trials, "two runs")
    cannot = _cannot_be_significant(compared)
    meant = found.trials.metric(found.metric)
    nobody = (
        ""
        if meant.is_directed
        else Message("Not who is ahead: ", meant.assumption, ".")
    )
    why = sentences(in_part(found, asked, alone), cannot, nobody)
    made = calls(asked, found, "difference", _options(found))
    own = Settled(compared, found.metric, found.failed)
    return Question(
        *_DIFFERENCE,
        "in part" if why else "yes",
        found=f"{told(own)}, {_steps(own)}",
        why=why,
        strength=sentences(_how_many_runs(compared), others(asked, found.metric)),
        **made,
    )


def plan_lines_question(asked: Asked) -> Question:
    """Return whether it can be told how many runs tell curves apart."""
    if lacking := _lacking(asked.trials, FEWEST_TO_PLAN):
        return Question(*_PLAN, "no", **lacking)
    enough = with_enough(asked.trials, FEWEST_TO_PLAN)
    found = settled(asked, _plan, asked.trials, enough)
    if isinstance(found, str):
        return Question(*_PLAN, "no", why=found)
    options = _options(found) | {"power": _POWER}
    compared = _compared(found.trials)
    alone = _left_out(compared, asked.trials, f"{FEWEST_TO_PLAN} runs")
    why = in_part(found, asked, alone)
    return Question(
        *_PLAN,
        "in part" if why else "yes",
        found=told(Settled(compared, found.metric, found.failed)),
        why=why,
        strength=Message(
            "A pilot says little about the difference itself: state the smallest one "
            "that is worth finding, ",
            {"shift": ...},
            ".",
        ),
        **calls(asked, found, "plan.lines", options, typed="plan"),
    )


# --- as the analyses begin ---------------------------------------------------------------


def _several(part: Trials, metric: str, failed: Failed) -> list[Lines]:
    grid = _grid(part, metric)
    by_task = lines_by_task(part, metric, grid, None, failed)
    several = [own for own in by_task.values() if len(own) > 1]
    if not several:
        raise CurvewiseError("No task has curves of two algorithms.")
    return several


def _compare(part: Trials, metric: str, failed: Failed) -> None:
    for lines in _several(part, metric, failed):
        few = [name for name, own in lines.items() if len(own) < 2]
        if 0 < len(few) < len(lines):
            raise CurvewiseError(
                f"One run of {listed(few)}, which does not show how noisy it is."
            )
        two_way(lines)


def _plan(part: Trials, metric: str, failed: Failed) -> None:
    for lines in _several(part, metric, failed):
        for one, other in combinations(lines, 2):
            refuse_pilot({one: lines[one], other: lines[other]})


def _grid(part: Trials, metric: str) -> int | None:
    recorded = fewest_steps(part, metric)
    return None if recorded is None else min(recorded, _MOST_STEPS)


def _options(found: Settled) -> dict[str, Any]:
    grid = _grid(found.trials, found.metric)
    return ({} if grid is None else {"grid": grid}) | found.options


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


def _lacking(trials: Trials, least: int) -> dict[str, str]:
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


def _compared(part: Trials) -> Trials:
    """Return the trials of tasks with several algorithms: others are left out."""
    return with_enough(part, 1)


def _left_out(part: Trials, trials: Trials, least: str) -> str:
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
    return [own[own > 0].tolist() for own in counts]


def _cannot_be_significant(part: Trials) -> str:
    sizes = _sizes(part)
    if any(number_of_deals(own) >= 1 / _LEVEL for own in sizes):
        return ""
    most = max(number_of_deals(own) for own in sizes)
    needed = min(lines_to_reach(len(own), _LEVEL) for own in sizes)
    return (
        f"So few runs can be dealt to the algorithms in {count(most, 'way')} only: no p "
        f"value can be below 1/{most}, and nothing is significant at {_LEVEL:g}. {needed} "
        f"runs of each would do."
    )


def _how_many_runs(part: Trials) -> str:
    n = fewest(part)
    told = f"{count(n, 'run')} of each at least."
    if n < FEWEST_TO_FLIP:
        told += f" With fewer than {FEWEST_TO_FLIP} it is not told where they differ."
    return told


def _steps(found: Settled) -> str:
    grid = _grid(found.trials, found.metric)
    if grid is not None:
        return f"at {grid} common steps"
    steps = np.unique(found.trials.core.steps)
    return f"{len(steps)} steps from {step(steps[0])} to {step(steps[-1])}"
