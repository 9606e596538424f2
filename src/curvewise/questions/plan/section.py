"""How many more trials? What that needs, and its section on the page."""

import math
from collections.abc import Iterable
from itertools import combinations
from typing import Any, Literal

import numpy as np

from curvewise.errors import CurvewiseError, Message, UnknownDirection
from curvewise.metrics import Floats
from curvewise.questions import plan
from curvewise.questions.difference.section import (
    options_for_lines,
    several_lines,
    what_is_lacking,
    who_is_left_out,
    with_enough,
    with_rivals,
)
from curvewise.questions.needs import (
    CLOSE,
    Needs,
    Prospect,
    Request,
    Settled,
    Topic,
    at_step,
    basis,
    calls,
    command,
    expression,
    in_part,
    python,
    sentences,
    settled,
    usual_at,
    with_at,
)
from curvewise.questions.performance import Performance
from curvewise.questions.performance.section import performance_of
from curvewise.questions.plan.charts import plan_chart
from curvewise.questions.plan.score_plan import ScorePlan, what
from curvewise.questions.sampling import crossed_factors, samples
from curvewise.questions.section import (
    ANDERSON,
    THOMAS,
    Block,
    Group,
    Method,
    Section,
    Settings,
    attempted,
)
from curvewise.questions.sentences import capital
from curvewise.review.check import gate, ungated
from curvewise.stats.anova import FEWEST_TO_PLAN, refuse_pilot
from curvewise.trials import Trials
from curvewise.trials.doors import Failed

_PLAN_TRIALS = Topic(
    "plan.trials",
    "How many more trials do I need?",
    "how many trials are enough",
)
_RUN_TWO = "Run two trials or more of each algorithm, to judge from."


def prospect(request: Request) -> Prospect:
    """Return whether it can be told how many trials are enough."""
    at = usual_at(request.trials)
    scores: list[Floats] = []

    def probe(part: Trials, metric: str, failed: Failed) -> None:
        scores.clear()
        for by_name in samples(part, metric, at, failed).values():
            scores.extend(sample.scores for sample in by_name.values())

    case = settled(request, probe)
    if isinstance(case, str):
        return _no_pilot(request, case)
    aim = worth_planning(scores)
    failed = case.trials.count_failed(case.metric)
    if aim is None or failed == len(case.trials):
        return _no_pilot(request, "These trials do not show how scores vary.")
    options: dict[str, Any] = {"of": "mean", **with_at(at), **case.options}
    chosen = expression(case.trials, request.trials)
    named = {"metric": case.metric, **options}
    is_whole = chosen == "trials"
    typed = command(request, "plan", {"half_width": aim, **named}) if is_whole else ""
    why = in_part(case, request)
    return _PLAN_TRIALS.answered(
        found=basis(at_step(case, at), at),
        why=why,
        strength=f"For means to within {aim:g}, about twice as well as they are known now.",
        command=typed,
        python=python(
            "plan.trials",
            repr(aim),
            f"pilot={chosen}",
            **named,
        ),
    )


def _no_pilot(request: Request, why: str) -> Prospect:
    """Return that nothing can be planned from these trials, and what can without any."""
    bare = Request(request.trials, request.metrics, ())
    unsaid = [
        name for name in request.metrics if not request.trials.metric(name).is_directed
    ]
    is_asked = bool(unsaid) and len(unsaid) == len(request.metrics)  # what is better
    return _PLAN_TRIALS.unanswered(
        why=sentences(why, "Without a pilot, numbers are for the worst distribution."),
        add="" if is_asked else _RUN_TWO,
        command=command(bare, "plan", {"half_width": CLOSE}),
        python=python("plan.trials", str(CLOSE)),
    )


def worth_planning(scores: Iterable[Floats]) -> float | None:
    """Return a half-width of a mean that is worth planning; None where nothing varies.

    Half of what a mean is known to now, by the rule of thumb.
    """
    errors = [z.std(ddof=1) / math.sqrt(len(z)) for z in scores if len(z) > 1]
    widths = [error for error in errors if 0 < error < math.inf]
    return float(f"{np.median(widths):.1g}") if widths else None


_PLAN_LINES = Topic(
    "plan.lines",
    "How many more runs tell the curves apart?",
    "how many runs tell curves apart",
)
_POWER = 0.8


def prospect_of_lines(request: Request) -> Prospect:
    """Return whether it can be told how many runs tell curves apart."""
    if lacking := what_is_lacking(request.trials, FEWEST_TO_PLAN):
        return _PLAN_LINES.unanswered(**lacking)
    enough = with_enough(request.trials, FEWEST_TO_PLAN)
    case = settled(request, _plan, request.trials, enough)
    if isinstance(case, str):
        return _PLAN_LINES.unanswered(why=case)
    options = options_for_lines(case) | {"power": _POWER}
    compared = with_rivals(case.trials)
    alone = who_is_left_out(compared, request.trials, f"{FEWEST_TO_PLAN} runs")
    why = in_part(case, request, alone)
    return _PLAN_LINES.answered(
        found=basis(Settled(compared, case.metric, case.failed)),
        why=why,
        strength=Message(
            "A pilot says little about the difference itself: state the smallest one "
            "that is worth finding, ",
            {"shift": ...},
            ".",
        ),
        **calls(request, case, "plan.lines", options, typed="plan"),
    )


def _plan(part: Trials, metric: str, failed: Failed) -> None:
    for lines in several_lines(part, metric, failed):
        for one, other in combinations(lines, 2):
            refuse_pilot({one: lines[one], other: lines[other]})


_QUESTION = "How many more trials?"
_ASKED = "How many trials would tell how good each algorithm is, twice as well as now?"
_MOST = 12  # pairs of algorithm and task; of more, those that are known least


NEEDS: Needs = {prospect: "plan", prospect_of_lines: "difference"}


def sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return how many trials it takes to know the leading metric twice as well."""
    if crossed_factors(trials) or not settings.judged:
        return []
    metric = settings.judged[0]

    def section() -> Section | None:
        _ = trials.metric(metric).known_direction
        cautions = gate(trials, "plan", metric=metric, anyway=settings.anyway)
        answer, left_out = _planned(
            trials, settings, performance_of(trials, metric, settings)
        )
        if answer is None:
            return None
        return Section(
            "",
            "",
            f"How many {answer.unit}s would tell {what(answer)} to within "
            f"{answer.half_width:g}, for every algorithm on every task? That is about "
            f"twice as well as the least known one is known now.",
            answer.headline(),
            answer.would_change(),
            groups=[Group("", [_block(answer)])],
            notes=[*answer.notes(), *left_out],
            method=PLAN,
            provenance=str(answer.provenance),
            cautions=(*cautions, *answer.cautions),
        )

    def refusal(problem: CurvewiseError) -> str:
        # Another direction on each task; of others the section about performance says why.
        return str(problem) if isinstance(problem, UnknownDirection) else ""

    question = f"{_QUESTION} ({trials.metric(metric).label})"
    return attempted("plan", question, _ASKED, section, refusal)


def _planned(
    trials: Trials, settings: Settings, answer: Performance
) -> tuple[ScorePlan | None, list[str]]:
    """Return the plan, None where there is nothing to plan from, and what it leaves out."""
    failed = sum(d.failed for d in answer.distributions)
    if failed == len(trials):
        return None, []  # what failed alone says nothing about how scores vary
    chosen, left_out = _widest(trials, answer)
    score_plan = _plan_of("cvar", answer.sharper, chosen, settings, answer)
    # The best of very few trials do not vary, and all of them may.
    if score_plan is None:
        scores = [d.scores for d in answer.distributions]
        score_plan = _plan_of("mean", worth_planning(scores), chosen, settings, answer)
    return score_plan, left_out


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
            score_plan = plan.trials(
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
    if not isinstance(score_plan, ScorePlan):
        return None
    is_known = any(cell.guaranteed or cell.asymptotic for cell in score_plan.cells)
    return score_plan if is_known else None


def _block(answer: ScorePlan) -> Block:
    return Block(
        f"{capital(answer.unit)}s and what they tell",
        "",
        plan_chart(answer),
        answer.table(),
        f"{capital(answer.unit)}s of each algorithm on each task for a half-width of "
        f"{answer.half_width:g}",
    )


def _widest(trials: Trials, answer: Performance) -> tuple[Trials, list[str]]:
    """Return the trials to plan from: all, or those of the pairs that are known least."""
    if len(answer.tasks) < len(trials.tasks):
        trials = trials.where(task=answer.tasks)
    cells = sorted(answer.distributions, key=lambda d: -d.best_interval.half_width)
    if len(cells) <= _MOST:
        return trials, []
    wide = cells[:_MOST]
    part = Trials.concat(trials.where(task=d.task, algorithm=d.algorithm) for d in wide)
    return part, [
        f"Of {len(cells)} pairs of algorithm and task the {_MOST} with the longest "
        f"intervals are planned for; the others take fewer trials or about as many."
    ]


PLAN = Method(
    "The number of trials at which an interval would be as short as asked for, were "
    "trials to come like these: guaranteed (from a band) and asymptotic (Student).",
    "What is guaranteed holds for any distribution with the metric's bounds; how short "
    "an interval gets hangs on how trials vary, and 'from to' says what these trials "
    "leave open about that, with about 95 % confidence. It is for a number of trials "
    "that is fixed beforehand: looking until it is enough needs curvewise.until.",
    f"{ANDERSON} {THOMAS}",
)
