"""How many more trials?"""

from typing import Literal

from curvewise.analyses import plan
from curvewise.analyses._asking import crossed_factors
from curvewise.analyses._plan_headline import what
from curvewise.analyses._saying import capital
from curvewise.analyses._score_plan import ScorePlan
from curvewise.analyses.performance import Performance
from curvewise.errors import Blocked, CurvewiseError, UnknownDirection
from curvewise.figures.plan import plan_chart
from curvewise.flow.explaining import worth_planning
from curvewise.report.sections.methods import PLAN
from curvewise.report.sections.parts import (
    Block,
    Group,
    Section,
    Settings,
    unanswered,
    withheld,
)
from curvewise.review.gate import gate, ungated
from curvewise.trials import Trials

_QUESTION = "How many more trials?"
_ASKED = "How many trials would tell how good each algorithm is, twice as well as now?"
_MOST = 12  # pairs of algorithm and task; of more, those that are known least


def plan_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return how many trials it takes to know the leading metric twice as well."""
    if crossed_factors(trials) or not settings.judged:
        return []
    metric = settings.judged[0]
    question = f"{_QUESTION} ({trials.metric(metric).label})"
    try:
        _ = trials.metric(metric).known_direction
        cautions = gate(trials, "plan", metric=metric, anyway=settings.anyway)
        answer = settings.performance(trials, metric)
    except UnknownDirection as problem:  # another one on each task
        return [unanswered("plan", question, _ASKED, str(problem))]
    except Blocked as problem:
        return [withheld("plan", question, _ASKED, problem)]
    except CurvewiseError:  # the section about performance says why
        return []
    found, left_out = _planned(trials, settings, answer)
    if found is None:
        return []
    return [
        Section(
            "plan",
            question,
            f"How many {found.unit}s would tell {what(found)} to within "
            f"{found.half_width:g}, for every algorithm on every task? That is about "
            f"twice as well as the least known one is known now.",
            found.headline(),
            found.would_change(),
            groups=[Group("", [_block(found)])],
            notes=[*found.notes(), *left_out],
            method=PLAN,
            provenance=str(found.provenance),
            cautions=(*cautions, *found.cautions),
        )
    ]


def _planned(
    trials: Trials, settings: Settings, answer: Performance
) -> tuple[ScorePlan | None, list[str]]:
    """Return the plan, None where there is nothing to plan from, and what it leaves out."""
    failed = sum(d.failed for d in answer.distributions)
    if failed == len(trials):
        return None, []  # what failed alone says nothing about how scores vary
    chosen, left_out = _widest(trials, answer)
    found = _plan_of("cvar", answer.sharper, chosen, settings, answer)
    if found is None:  # the best of very few trials do not vary, and all of them may
        scores = [d.scores for d in answer.distributions]
        found = _plan_of("mean", worth_planning(scores), chosen, settings, answer)
    return found, left_out


def _plan_of(
    of: Literal["cvar", "mean"],
    half_width: float | None,
    pilot: Trials,
    settings: Settings,
    answer: Performance,
) -> ScorePlan | None:
    """Return the plan, None where nothing can be planned: scores do not vary."""
    if half_width is None:
        return None
    try:
        with ungated():  # a part of trials that passed
            found = plan.trials(
                half_width,
                of=of,
                alpha=answer.alpha,
                pilot=pilot,
                metric=answer.metric.name,
                at=settings.at,
                failed=settings.failed,
                confidence=answer.confidence,
            )
    except CurvewiseError:
        return None
    if not isinstance(found, ScorePlan):
        return None
    is_known = any(cell.guaranteed or cell.asymptotic for cell in found.cells)
    return found if is_known else None


def _block(found: ScorePlan) -> Block:
    return Block(
        f"{capital(found.unit)}s and what they tell",
        "",
        plan_chart(found),
        found.table(),
        f"{capital(found.unit)}s of each algorithm on each task for a half-width of "
        f"{found.half_width:g}",
    )


def _widest(trials: Trials, answer: Performance) -> tuple[Trials, list[str]]:
    """Return the trials to plan from: all, or those of the pairs that are known least."""
    if len(answer.tasks) < len(trials.tasks):
        trials = trials.where(task=answer.tasks)
    cells = sorted(answer.distributions, key=lambda d: -d.best_interval.half_width)
    if len(cells) <= _MOST:
        return trials, []
    kept = cells[:_MOST]
    own = Trials.concat(trials.where(task=d.task, algorithm=d.algorithm) for d in kept)
    return own, [
        f"Of {len(cells)} pairs of algorithm and task the {_MOST} with the longest "
        f"intervals are planned for; the others take fewer trials or about as many."
    ]
