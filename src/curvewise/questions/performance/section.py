"""How good is it, and how hard to tune? What that needs, and its section on the page."""

from dataclasses import replace
from functools import partial
from typing import cast

from curvewise.errors import Blocked, CurvewiseError, listed
from curvewise.questions.needs import (
    ALL_FAILED,
    ONE_TRIAL,
    Needs,
    Prospect,
    Request,
    Topic,
    at_step,
    basis,
    calls,
    fewest,
    in_part,
    known_to_within,
    others,
    refused,
    sentences,
    settled,
    usual_at,
    with_at,
)
from curvewise.questions.performance import Performance, performance
from curvewise.questions.performance.charts import (
    best_chart,
    profile_chart,
    quantile_chart,
    tuning_chart,
)
from curvewise.questions.performance.text import headline
from curvewise.questions.sampling import crossed_factors, samples, unit_of
from curvewise.questions.section import (
    ANDERSON,
    EFRON,
    JORDAN,
    SEED,
    THOMAS,
    Block,
    Group,
    Method,
    Section,
    Settings,
    answered,
    at_words,
    by_metric,
    must_raise,
    task_heading,
)
from curvewise.questions.sentences import all_tasks, capital, on, share_of_trials
from curvewise.stats.bands import NAMES
from curvewise.text import count, joined, percent, short_names
from curvewise.trials import Trials
from curvewise.trials.doors import At, Failed

_TOPIC = Topic(
    "performance",
    "How good is it, and how hard to tune?",
    "how good and how hard to tune each algorithm is",
)


def prospect(request: Request) -> Prospect:
    """Return whether the distribution of scores can be told."""
    at = usual_at(request.trials)

    def probe(part: Trials, metric: str, failed: Failed) -> None:
        samples(part, metric, at, failed)

    case = settled(request, probe, by_task=True)
    if isinstance(case, str):
        return _TOPIC.unanswered(**refused(request.trials) or {"why": case})
    step_case = at_step(case, at)
    n = fewest(step_case.trials)
    few = ONE_TRIAL if n == 1 else ""
    if step_case.trials.count_failed(case.metric) == len(step_case.trials):
        few = ALL_FAILED
    why = in_part(case, request, few)
    return _TOPIC.answered(
        found=basis(step_case, at),
        why=why,
        strength=sentences(
            known_to_within(n, unit_of(step_case.trials)), others(request, case.metric)
        ),
        **calls(request, case, "performance", with_at(at) | case.options),
    )


def performance_of(trials: Trials, metric: str, settings: Settings) -> Performance:
    """Return the distribution of scores, asked once for a page."""
    whose, answer = settings.answers.get(metric, (None, None))
    if whose is not trials:
        answer = _of_tasks(trials, metric, settings)
        settings.answers[metric] = trials, answer
    return cast(Performance, answer)


def _of_tasks(trials: Trials, metric: str, settings: Settings) -> Performance:
    """Return the answer for all tasks, or for those that have one."""
    ask = partial(
        performance,
        metric=metric,
        at=settings.at,
        failed=settings.failed,
        seed=SEED,
        anyway=settings.anyway,
    )
    try:
        return ask(trials)
    except Blocked:
        raise
    except CurvewiseError:
        if must_raise(trials, settings, metric):
            raise
        good = [t for t in trials.tasks if _has_scores(trials, t, metric, settings)]
        if len(good) in (0, len(trials.tasks)):
            raise
        return ask(trials.where(task=good))


def _has_scores(trials: Trials, task: str, metric: str, settings: Settings) -> bool:
    try:
        samples(trials.where(task=task), metric, settings.at, settings.failed)
    except CurvewiseError:
        return False
    return True


_ASKED = (
    "How good are the trials of each algorithm, and how far are the best from the rest?"
)
_MANY_TASKS = 3  # of more, one line each comes first
_MANY_NAMES = 6  # of more, only their number is told


NEEDS: Needs = {prospect: "performance"}


def sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return one section per metric: the distribution of scores on each task."""
    if crossed_factors(trials):
        return []  # trials that share draws: see `variance.section.sections`
    if not settings.judged and settings.undirected:
        return []  # the page says which way is not known
    if not settings.judged:
        why = "That cannot be told: no trial ended with a score."
        return [Section("performance-0", _TOPIC.question, _ASKED, why)]

    def section(metric: str) -> Section:
        answer = performance_of(trials, metric, settings)
        base = answered(
            _asked(trials, answer),
            answer,
            partial(_performance_blocks, answer),
            of_performance(answer),
        )
        many = len(answer.tasks) > _MANY_TASKS
        leads = [Group("", [_leads_block(answer)])] if many else []
        overall = [Group("", [_overall_block(answer)])] if answer.overall else []
        return replace(
            base,
            answer=headline(answer, _which(trials, answer)),
            change=_change(trials, answer),
            groups=[*leads, *base.groups, *overall],
            notes=[*base.notes, *_left_out(trials, answer), *_stopped(trials)],
        )

    def refusal(metric: str, problem: CurvewiseError) -> str:
        if must_raise(trials, settings, metric):
            raise problem
        return str(problem)  # such as sizes that no two tasks share

    judged = map(trials.metric, settings.judged)
    return by_metric("performance", _TOPIC.question, _ASKED, judged, section, refusal)


def _asked(trials: Trials, answer: Performance) -> str:
    metric = answer.metric
    each = "with its" if len(trials) == 1 else "each with its"
    which = f" ({at_words(_at(answer))})" if _has_curves(trials) else ""
    better = f"{metric.direction} is better"
    if metric.direction is None:
        better = "which way is better differs by task"
    best = share_of_trials(answer.alpha).replace("its trials", "the trials")
    return (
        f"{count(len(trials), 'trial')} of {_whose(trials)}, {each} "
        f"{metric.label}{which}; {better}. How good an algorithm "
        f"is, is told by the mean of {best}; how hard it is to tune, by how far the "
        f"best trials are from the rest."
    )


def _whose(trials: Trials) -> str:
    if len(trials.algorithms) > _MANY_NAMES:
        return count(len(trials.algorithms), "algorithm")
    return joined(list(short_names(trials.algorithms).values()))


_FIRST = {
    "last": "at the last step, ",
    "mean": "by the mean of each curve, ",
    "best": "by the best value of each curve, ",
}


def _which(trials: Trials, answer: Performance) -> str:
    """Return what a sentence about curves begins with: which of their values is meant."""
    at = _at(answer)
    if not _has_curves(trials):
        return ""
    return _FIRST.get(str(at), f"{at_words(at)}, ")


def _at(answer: Performance) -> At:
    """Return which value of a curve was taken."""
    at: At = answer.provenance.settings["at"]  # type: ignore[assignment]
    return at


def _has_curves(trials: Trials) -> bool:
    return bool(trials.core.lengths.max(initial=0) > 1)


def _change(trials: Trials, answer: Performance) -> str:
    ranges = ""
    if trials.spaces or len(trials.details().params.flat):
        ranges = "Hyperparameters drawn from other ranges would make other algorithms."
    early = ""
    if "stopped" in trials.about:
        early = (
            "A number of trials that was fixed beforehand: this run stopped when it knew "
            "enough, and intervals after that hold a little less often than they say."
        )
    return " ".join(filter(None, [answer.would_change(), ranges, early]))


def _left_out(trials: Trials, answer: Performance) -> list[str]:
    """Return which tasks have no answer."""
    missing = [task for task in trials.tasks if task not in answer.tasks]
    return [f"Left out, without scores: {listed(missing)}."] if missing else []


def _stopped(trials: Trials) -> list[str]:
    """Return what a run that ended when it pleased means for these intervals."""
    if "stopped" not in trials.about:
        return []
    return [
        f"The run looked at its own results and stopped: {trials.about['stopped']}. "
        f"Intervals here are for a number of trials that was fixed beforehand; what "
        f"surely holds after such a run is what it said when it stopped."
    ]


def _performance_blocks(answer: Performance, task: str) -> list[Block]:
    label = answer.metric.label
    blocks = [
        Block(
            task_heading(task),
            answer.verdict(task),
            quantile_chart(answer, task),
            answer.table(task),
            f"{label} of each algorithm{on(task)}",
        )
    ]
    if pairs := answer.contrast_table(task):
        caption = f"Each pair of algorithms{on(task)}, first minus second"
        where = " ".join(answer.where(task))
        blocks.append(Block(f"Who is ahead{on(task)}?", where, None, pairs, caption))
    return [
        *blocks,
        Block(
            f"The best trials{on(task)}",
            "",
            best_chart(answer, task),
            answer.best_table(task),
            f"Mean {label} of the best trials{on(task)}",
        ),
        Block(
            f"How many settings must be tried{on(task)}?",
            "",
            tuning_chart(answer, task),
            answer.tuning_table(task),
            f"{label} of the best of k trials{on(task)}",
        ),
    ]


def _leads_block(answer: Performance) -> Block:
    return Block(
        "Who leads where",
        f"In front: who has the best mean over the best {percent(1 - answer.alpha)} of "
        f"the trials, which may be by luck. Told apart from, probably, not yet: how "
        f"many others, with {percent(answer.confidence)} confidence for all tasks and "
        f"pairs at once.",
        None,
        answer.lead_table(),
        f"Who is in front on each task, by {answer.metric.label}",
    )


def _overall_block(answer: Performance) -> Block:
    return Block(
        capital(all_tasks(len(answer.tasks))),
        "Each task counts the same. This needs scores that mean the same on every task.",
        profile_chart(answer),
        answer.overall_table(),
        f"{answer.metric.label} over all tasks",
    )


def of_performance(answer: Performance) -> Method:
    """Return how scores were judged, which depends on whether they have bounds."""
    first = answer.distributions[0]
    bounded = not any(d.is_bootstrapped for d in answer.distributions)
    band = NAMES[first.band.kind]
    name = (
        f"The distribution of scores over trials with a "
        f"{percent(first.band.confidence)} band ({band}). Read off it: the mean, the "
        f"mean of the best {percent(1 - answer.alpha)} (upper CVaR {answer.alpha:g}), "
        f"of the worst {percent(answer.alpha)}, the median, and the best of k trials."
    )
    holds = (
        "If trials are independent draws, the band of each algorithm on each task holds "
        "for any number of trials and any distribution, and with it all numbers that "
        "are read off it at once; measured in simulations: 94.8 to 98.6 %, and more for "
        "means and best halves, which were inside in 99.9 %."
    )
    if not bounded:
        name += " Means of a metric without bounds: bootstrap (BCa)."
        holds = (
            "If trials are independent draws, the band of each algorithm on each task "
            "holds for any number of trials and any distribution. The intervals of "
            "means are by the bootstrap, since nothing bounds the metric, and hold for "
            "many trials: of 95 %, 85 to 95 % were measured with 20 trials, 92 to 95 % "
            "with 100."
        )
    if any(d.is_clustered for d in answer.distributions):
        name += " Means over clusters of runs: Student's t."
        holds += (
            " Means over 20 settings with 5 seeds each were inside in 93 to 97 % of "
            "simulated and real studies."
        )
    pairs = ""
    if answer.contrasts:
        name += (
            " Pairs: the difference of best means, by the central limit theorem and "
            "from bands; intervals share the confidence (Bonferroni)."
        )
        pairs = (
            " What is said of pairs holds for all pairs on all tasks at once; equal "
            "algorithms were told apart in 5.5 % of simulated experiments at most. The "
            "one in front was chosen by these data, and its own interval does not know "
            "that: of many equals, the luckiest comes out first."
        )
    sources = (JORDAN, ANDERSON, THOMAS) if bounded else (JORDAN, EFRON)
    return Method(name, holds + pairs, " ".join(sources))
