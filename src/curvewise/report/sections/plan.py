"""How many more trials?"""

from curvewise.analyses import plan
from curvewise.analyses._asking import crossed_factors
from curvewise.analyses._plan_headline import what
from curvewise.analyses._score_plan import ScorePlan
from curvewise.analyses.performance import Performance
from curvewise.errors import Blocked, CurvewiseError
from curvewise.figures.plan import plan_chart
from curvewise.report.sections.methods import PLAN
from curvewise.report.sections.parts import Block, Group, Section, Settings, withheld
from curvewise.review.gate import gate, ungated
from curvewise.trials import Trials

_QUESTION = "How many more trials?"
_ASKED = "How many trials would tell how good each algorithm is, twice as well as now?"
_MOST = 12  # pairs of algorithm and task; of more, those that are known least


def plan_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return how many trials it takes to know the leading metric twice as well."""
    if crossed_factors(trials) or not settings.metrics:
        return []
    metric = settings.metrics[0]
    try:
        cautions = gate(trials, "plan", metric=metric, anyway=settings.anyway)
        answer = settings.performance(trials, metric)
    except Blocked as problem:
        question = f"{_QUESTION} ({trials.metric(metric).label})"
        return [withheld("plan", question, _ASKED, problem)]
    except CurvewiseError:  # the section about performance says why
        return []
    found, left_out = _planned(trials, settings, answer)
    if found is None:
        return []
    return [
        Section(
            "plan",
            f"{_QUESTION} ({answer.metric.label})",
            f"How many trials would tell {what(found)} to within "
            f"{found.half_width:g}, for every algorithm on every task? That is about "
            f"twice as well as the least known one is known now.",
            found.headline(),
            found.would_change(),
            groups=[Group("", [_block(found)])],
            notes=[*found.notes(), *left_out],
            method=PLAN,
            provenance=str(found.provenance),
            cautions=cautions,
        )
    ]


def _planned(
    trials: Trials, settings: Settings, answer: Performance
) -> tuple[ScorePlan | None, list[str]]:
    """Return the plan, None where there is nothing to plan from, and what it leaves out."""
    failed = sum(d.failed for d in answer.distributions)
    if answer.sharper is None or failed == len(trials):
        return None, []  # what failed alone says nothing about how scores vary
    chosen, left_out = _widest(trials, answer)
    try:
        with ungated():  # a part of trials that passed
            found = plan.trials(
                answer.sharper,
                of="cvar",
                alpha=answer.alpha,
                pilot=chosen,
                metric=answer.metric.name,
                at=settings.at,
                failed=settings.failed,
                confidence=answer.confidence,
            )
    except CurvewiseError:  # nothing can be planned from scores that do not vary
        return None, []
    if not isinstance(found, ScorePlan) or not any(
        cell.guaranteed or cell.asymptotic for cell in found.cells
    ):
        return None, []
    return found, left_out


def _block(found: ScorePlan) -> Block:
    return Block(
        "Trials and what they tell",
        "",
        plan_chart(found),
        found.table(),
        f"Trials of each algorithm on each task for a half-width of {found.half_width:g}",
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
