"""How does error fall with data? What that needs, and its section on the page."""

from dataclasses import replace
from functools import partial

from curvewise.errors import CurvewiseError, UnknownDirection
from curvewise.questions.learning import Learning, learning
from curvewise.questions.learning.charts import (
    crossing_chart,
    forecast_chart,
    learning_chart,
    size_for_chart,
)
from curvewise.questions.learning.fit import (
    FEWEST,
    ErrorScale,
    Measured,
    compared_at,
    error_scale,
    has_curves,
    lowest,
    measured_by_task,
)
from curvewise.questions.needs import (
    Needs,
    Prospect,
    Request,
    Settled,
    Topic,
    basis,
    calls,
    in_part,
    refused,
    settled,
)
from curvewise.questions.sampling import crossed_factors
from curvewise.questions.section import (
    Block,
    Method,
    Section,
    Settings,
    answered,
    by_metric,
)
from curvewise.questions.sentences import on
from curvewise.questions.sizes import (
    IF_SIZES,
    PERHAPS_SIZES,
    TRAIN_ON_SIZES,
    against_sizes,
    could_be_sizes,
    from_size_to_size,
    strength_of_curves,
    too_few_sizes,
)
from curvewise.stats.powerlaw import fit_power_law
from curvewise.trials import Trials
from curvewise.trials.doors import Failed

_TOPIC = Topic(
    "learning",
    "How does error fall with data, and what would more buy?",
    "how error falls with data",
)


def prospect(request: Request) -> Prospect:
    """Return whether it can be told how error falls with data."""
    trials = request.trials
    if crossed_factors(trials):
        return _TOPIC.unanswered(**refused(trials))
    # Of what counts can tell, the error is what power laws were made for.
    metrics = ("error",) if "error" in request.metrics else request.metrics
    sure = tuple(name for name in metrics if could_be_sizes(trials, name))
    perhaps = tuple(name for name in metrics if not against_sizes(trials, name, FEWEST))
    usable = sure or perhaps or metrics
    case = settled(Request(trials, usable, request.words), _learn)
    against = against_sizes(trials, usable[0], FEWEST) if usable else ""
    if isinstance(case, str):
        add = TRAIN_ON_SIZES if against else ""  # else it is the score that will not do
        return _TOPIC.unanswered(why=against or case, add=add)
    ways = calls(request, case, "learning", case.options)
    if against or not sure:
        add = f"{TRAIN_ON_SIZES} {IF_SIZES}" if against else IF_SIZES
        return _TOPIC.unanswered(why=against or PERHAPS_SIZES, add=add, **ways)
    curves = _measured(case)
    short = [one.algorithm for one in curves if len(one.sizes) < FEWEST]
    long = [one for one in curves if len(one.sizes) >= FEWEST]
    why = in_part(case, request, too_few_sizes(short, FEWEST))
    return _TOPIC.answered(
        found=f"{basis(case)}, {from_size_to_size([one.sizes for one in long])}",
        why=why,
        strength=strength_of_curves(
            min(len(one.sizes) for one in long), min(min(one.counts) for one in long)
        ),
        **ways,
    )


# --- as the analyses begin ---------------------------------------------------------------


def _learn(part: Trials, metric: str, failed: Failed) -> None:
    scale, by_task = _by_task(part, metric, failed)
    good = {task: each for task, each in by_task.items() if has_curves(each)}
    for task, each in (good or by_task).items():
        for one in compared_at(task, each)[0]:
            fit_power_law(one.sizes, one.errors, unit=scale.unit, runs=one.runs)


def _by_task(
    part: Trials, metric: str, failed: Failed
) -> tuple[ErrorScale, dict[str, list[Measured]]]:
    scale = error_scale(part.metric(metric), lowest(part, metric))
    return scale, measured_by_task(part, metric, scale, failed)


def _measured(case: Settled) -> list[Measured]:
    _, by_task = _by_task(case.trials, case.metric, case.failed)
    return [one for curves in by_task.values() for one in curves]


_QUESTION = "How does error fall with data?"
NEEDS: Needs = {prospect: "learning"}


def sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return how errors fall with data, where steps look like sizes of training sets."""
    if crossed_factors(trials):
        return []
    # Of what counts can tell, the error is what power laws were made for.
    metrics = ("error",) if "error" in settings.metrics else settings.judged

    def section(metric: str) -> Section:
        answer = learning(
            trials, metric, failed=settings.failed, anyway=settings.anyway
        )
        return answered(_ASKED, answer, partial(_learning_blocks, answer), LEARNING)

    def refusal(_metric: str, problem: CurvewiseError) -> str:
        if isinstance(problem, UnknownDirection):  # another one on each task
            return str(problem)
        return f"These errors make no curve. {problem}"

    sized = (trials.metric(name) for name in metrics if could_be_sizes(trials, name))
    return by_metric("learning", _QUESTION, _ASKED, sized, section, refusal)


_ASKED = (
    "Steps are taken for sizes of training sets. How much of the error is left to more "
    "data, who is better with how much of it, and what would more bring? What lies "
    "beyond the largest size that was tried is a forecast."
)


def _learning_blocks(answer: Learning, task: str) -> list[Block]:
    result, label = answer.of(task), answer.scale.label
    verdicts = answer.verdicts(task)
    curves, pairs = verdicts[: len(result.fits)], verdicts[len(result.fits) :]
    blocks = [
        Block(
            f"Error and data{on(task)}",
            "\n".join([*curves, *answer.concerns(task)]),
            learning_chart(answer, task),
            answer.table(task),
            f"{label} of each algorithm{on(task)}",
        ),
        Block(
            f"What would more data buy{on(task)}?",
            "",
            forecast_chart(answer, task),
            answer.beyond_table(task),
            f"{label} with more data{on(task)}",
        ),
    ]
    half = min(fit.law.e_N for fit in result.fits) / 2
    if half > 0:
        # Of this task alone: half of the error is another one on each.
        needed = replace(answer, found=(result,)).size_for(half)
        blocks.append(
            Block(
                f"How much data would half of the error take{on(task)}?",
                f"Half of the lowest error so far is {half:.3g}.",
                size_for_chart(needed, task),
                needed.table(task),
                f"Training examples that {label} {half:.3g} takes{on(task)}",
            )
        )
    if result.pairs:
        blocks.append(
            Block(
                f"Who is better with more data{on(task)}?",
                "\n".join(pairs),
                crossing_chart(answer, task),
                answer.pair_table(task),
                f"Each pair of algorithms{on(task)}, first minus second",
            )
        )
    return blocks


LEARNING = Method(
    "A power law e(n) = alpha + eta n^gamma through the errors at the sizes that were "
    "tried, with intervals that allow for an unknown exponent; beyond the largest size "
    "a forecast that averages 128 curves. Algorithms are compared at one size, runs on "
    "the same data as pairs.",
    "At the sizes that were tried: of 95 % intervals 93 to 97 % held in simulations of "
    "curves that are power laws. Differences hold for all pairs of a task at once, not "
    "for all tasks. Forecasts: nothing is proved; on real curves of tabular data that "
    "they were not learnt on, 92 to 97 % of 95 % intervals held, each size by itself. A "
    "curve that turns later, deep networks and losses were not measured.",
    'D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for Analysis '
    'of Deep Networks." ICML, 2021. F. Mohr, T. Viering, M. Loog, J. van Rijn. "LCDB '
    '1.0." '
    "ECML-PKDD, 2022 (the curves that forecasts were measured on).",
)
