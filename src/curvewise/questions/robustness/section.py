"""What does tuning gain? What that needs, and its section on the page."""

from curvewise.errors import (
    CurvewiseError,
    Message,
    UnknownDirection,
    Verbatim,
    listed,
)
from curvewise.questions.needs import (
    ONE_TRIAL,
    Needs,
    Prospect,
    Request,
    Settled,
    Topic,
    basis,
    calls,
    fewest,
    in_part,
    known_to_within,
    refused,
    settled,
    usual_at,
    with_at,
)
from curvewise.questions.robustness import Robustness, robustness
from curvewise.questions.robustness.charts import gain_chart
from curvewise.questions.sampling import (
    Sample,
    crossed_factors,
    samples,
    tuned_pairs,
    unit_of,
)
from curvewise.questions.section import (
    JORDAN,
    Block,
    Method,
    Section,
    Settings,
    answered,
    by_metric,
    must_raise,
)
from curvewise.questions.sentences import on
from curvewise.trials import Trials
from curvewise.trials.doors import Failed

_TOPIC = Topic("robustness", "What does tuning gain?", "what tuning gains")


def prospect(request: Request) -> Prospect:
    """Return whether it can be told what tuning gains."""
    trials = request.trials
    pairs = tuned_pairs(trials.algorithms)
    if not pairs:
        name = trials.algorithms[0]
        return _TOPIC.unanswered(
            why=f"No algorithm is the tuned one of another: there "
            f"{'is' if len(trials.algorithms) == 1 else 'are'} "
            f"{listed(trials.algorithms)}.",
            add=Message(
                f"Run one with its hyperparameters tuned, too, and call it '{name} "
                "tuned'. If one is there by another name, say so with ",
                {"pairs": {name: Verbatim("<it>")}},
                ".",
            ),
        )
    at = usual_at(trials)

    def probe(part: Trials, metric: str, failed: Failed) -> None:
        names = {name for pair in pairs.items() for name in pair} & {*part.algorithms}
        met = samples(part.where(algorithm=names), metric, at, failed) if names else {}
        both = [by_name for by_name in met.values() if _pairs_in(by_name, pairs)]
        if not both:
            first = next(iter(pairs.items()))
            raise CurvewiseError(
                f"'{first[0]}' and '{first[1]}' have no task in common. Pass trials of "
                f"both on the same task."
            )

    case = settled(request, probe)
    if isinstance(case, str):
        return _TOPIC.unanswered(**refused(trials) or {"why": case})
    part = case.trials.where(algorithm={*pairs, *pairs.values()})
    n = fewest(part)
    rest = [a for a in trials.algorithms if a not in part.algorithms]
    has = "has" if len(rest) == 1 else "have"
    alone = f"Not of {listed(rest, 4)}, which {has} no tuned one." if rest else ""
    why = in_part(case, request, ONE_TRIAL if n == 1 else alone)
    return _TOPIC.answered(
        found=basis(Settled(part, case.metric, case.failed), at),
        why=why,
        strength=known_to_within(n, unit_of(part)),
        **calls(request, case, "robustness", with_at(at) | case.options),
    )


def _pairs_in(by_name: dict[str, Sample], pairs: dict[str, str]) -> bool:
    return any(one in by_name and tuned in by_name for one, tuned in pairs.items())


NEEDS: Needs = {prospect: "robustness"}


def sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return what tuning gains, where algorithms have tuned ones: "svm", "svm tuned"."""
    if not tuned_pairs(trials.algorithms) or crossed_factors(trials):
        return []

    def section(metric: str) -> Section:
        answer = robustness(
            trials,
            metric,
            at=settings.at,
            failed=settings.failed,
            anyway=settings.anyway,
        )
        return answered(_ASKED, answer, lambda task: [_block(answer, task)], ROBUSTNESS)

    def refusal(metric: str, problem: CurvewiseError) -> str:
        if isinstance(problem, UnknownDirection):  # another one on each task
            return str(problem)
        if must_raise(trials, settings, metric):
            raise problem
        # Such as a tuned one that met other tasks.
        return f"What tuning gains cannot be told. {problem}"

    judged = map(trials.metric, settings.judged)
    return by_metric("robustness", _TOPIC.question, _ASKED, judged, section, refusal)


_ASKED = (
    "Each algorithm was run as it comes, with hyperparameters drawn at random, and "
    "tuned. One that gains little by tuning is good with almost any hyperparameters: it "
    "is robust."
)


def _block(answer: Robustness, task: str) -> Block:
    return Block(
        f"Tuning{on(task)}",
        answer.verdict(task),
        gain_chart(answer, task),
        answer.table(task),
        f"What tuning gains in {answer.metric.label}{on(task)}",
    )


ROBUSTNESS = Method(
    "The mean, median, best and worst share of the trials of the tuned algorithm less "
    "those of the untuned one, with intervals by the central limit theorem, paired "
    "where trials met the same data, and guaranteed ones from two bands.",
    "With the stated confidence all intervals of a statistic hold at once, over "
    "algorithms and tasks (Bonferroni), if trials are independent of each other. Those "
    "by the central limit theorem held in 90.9 to 95.4 % of simulated experiments with "
    "10 to 2,000 trials (of 95 %); where there are fewer trials than they need, what "
    "rests on them is called probable. The guaranteed ones hold for any number of "
    "trials, any distribution and any dependence of the two.",
    f'{JORDAN} G. Zou, A. Donner. "Construction of confidence limits about effect '
    'measures: a general approach." Statistics in Medicine 27, 2008.',
)
