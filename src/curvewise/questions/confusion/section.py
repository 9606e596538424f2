"""How do precision, recall and F1 move with data? What that needs, and its section."""

from functools import partial
from typing import Any, Literal

from curvewise.errors import CurvewiseError
from curvewise.questions.confusion import Confusion, confusion
from curvewise.questions.confusion.charts import class_charts, confusion_chart
from curvewise.questions.confusion.fit import FEWEST as FEWEST_OF_COUNTS
from curvewise.questions.confusion.fit import Counted, counted_by_task
from curvewise.questions.confusion.text import MOST_CLASSES, class_heading, leading
from curvewise.questions.needs import (
    Needs,
    Prospect,
    Request,
    Settled,
    Topic,
    basis,
    command,
    expression,
    in_part,
    python,
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
    attempted,
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
from curvewise.stats.confusion import fit_confusion_curve
from curvewise.text import joined
from curvewise.trials import Trials
from curvewise.trials.doors import Failed

_TOPIC = Topic(
    "confusion",
    "How do precision, recall and F1 move with data?",
    "how precision, recall and F1 move with data",
)

_COUNT = (
    "Keep the confusion counts tp, fp, fn and tn of every run; an experiment yields them "
    "as 'counts'."
)


def prospect(request: Request) -> Prospect:
    """Return whether it can be told how precision, recall and F1 move with data."""
    trials = request.trials
    if crossed_factors(trials):
        return _TOPIC.unanswered(**refused(trials))
    if not trials.details().classes.any():
        name = request.metrics[0] if request.metrics else None
        has_sizes = name is not None and not against_sizes(
            trials, name, FEWEST_OF_COUNTS
        )
        return _TOPIC.unanswered(
            why="These trials have no confusion counts.",
            add=_COUNT if has_sizes else f"{_COUNT} {TRAIN_ON_SIZES}",
        )
    case = settled(Request(trials, ("error",), request.words), _count)
    against = against_sizes(trials, "error", FEWEST_OF_COUNTS)
    if isinstance(case, str):
        return _TOPIC.unanswered(why=against or case, add=TRAIN_ON_SIZES)
    ways = _confusion_calls(request, case)
    if against or not could_be_sizes(trials, "error"):
        add = f"{TRAIN_ON_SIZES} {IF_SIZES}" if against else IF_SIZES
        return _TOPIC.unanswered(why=against or PERHAPS_SIZES, add=add, **ways)
    curves = _counted(case.trials, case.failed)
    short = [one.algorithm for one in curves if len(one.sizes) < FEWEST_OF_COUNTS]
    long = [one for one in curves if len(one.sizes) >= FEWEST_OF_COUNTS]
    why = in_part(case, request, too_few_sizes(short, FEWEST_OF_COUNTS))
    classes = joined([str(k) for k in sorted({one.classes for one in long})])
    return _TOPIC.answered(
        found=f"{basis(case).replace(', error', '', 1)}, counts of {classes} classes, "
        f"{from_size_to_size([one.trained_on for one in long])}",
        why=why,
        strength=strength_of_curves(
            min(len(one.sizes) for one in long), min(min(one.runs) for one in long)
        ),
        **ways,
    )


def _confusion_calls(request: Request, case: Settled) -> dict[str, str]:
    chosen = expression(case.trials, request.trials)
    options: dict[str, Any] = case.options
    line = python("confusion", chosen, **options)
    if chosen != "trials":
        return {"python": line}
    return {"python": line, "command": command(request, "confusion", options)}


def _count(part: Trials, _metric: str, failed: Failed) -> None:
    curves = _counted(part, failed)
    enough = [one for one in curves if len(one.sizes) >= FEWEST_OF_COUNTS]
    if not enough:
        raise CurvewiseError(
            f"There are counts at 1 size, and a curve needs {FEWEST_OF_COUNTS}."
        )
    for one in enough:
        fit_confusion_curve(
            one.sizes, one.counts, one.trained_on, examples=one.examples
        )


def _counted(part: Trials, failed: Failed) -> list[Counted]:
    return [one for curves in counted_by_task(part, failed).values() for one in curves]


_ASKED = (
    "Steps are taken for sizes of training sets. Precision: how many of those that were "
    "called positive are; recall: how many of the positives were found; F1: both in one "
    "number. How do they move with more data? Beyond the largest size that was tried it "
    "is a forecast."
)


NEEDS: Needs = {prospect: "confusion"}


def sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return how rates move with data, where there are counts along sizes."""
    if crossed_factors(trials) or not trials.details().classes.any():
        return []
    if not could_be_sizes(trials, "error"):
        return []

    def section() -> Section:
        failed: Literal["raise", "worst"] = "worst"
        if settings.failed == "raise":
            failed = "raise"
        answer = confusion(trials, failed=failed, anyway=settings.anyway)
        return answered(_ASKED, answer, partial(_blocks, answer), CONFUSION)

    def refusal(problem: CurvewiseError) -> str:  # such as one size on each task
        return f"These counts make no curve. {problem}"

    return attempted("confusion", _TOPIC.question, _ASKED, section, refusal)


def _blocks(answer: Confusion, task: str) -> list[Block]:
    table = answer.table(task)
    verdicts = "\n".join([*answer.verdicts(task), *answer.concerns(task)])
    first = leading(answer.asked)  # what the verdicts are about
    blocks = []
    for name in [first, *(m for m in answer.metrics if m != first)]:
        chart = confusion_chart(answer, name, task)
        rows = [row for row in table if row["metric"] == chart.y_label]
        heading = f"{chart.title[0].upper()}{chart.title[1:]}"
        blocks.append(
            Block(heading, verdicts if name == first else "", chart, rows, heading)
        )
    if answer.of(task).classes > 2:
        heading = class_heading(answer.of(task))
        blocks.append(
            Block(
                f"Each class{on(task)}",
                "",
                None,
                answer.class_table(task),
                f"{heading[0].upper()}{heading[1:]}",
            )
        )
    if 2 < answer.of(task).classes <= MOST_CLASSES:
        blocks += [
            Block(chart.title, "", chart, [], "")
            for chart in class_charts(answer, "f1", task)
        ]
    return blocks


CONFUSION = Method(
    "The confusion matrix of each algorithm is fitted as a function of its training "
    "data: the logits of the share of each class that is called right are smooth curves "
    "whose level and slope may drift. Every metric follows from the same matrices.",
    "Intervals are for rates averaged over training sets of that size, each size by "
    "itself. Nothing is proved: in simulations of curves that they were made for, 95 to "
    "98 % of 95 % intervals held, at worst 94 %, with one class in ten positive 94 to "
    "97 % and at worst 62 %; on 135 real curves of two classes, 93 to 97 %. More "
    "classes and deep networks were not measured. Algorithms are not tested against "
    "each other.",
    'Y. Xue, R. Wang, X. Cao, J. Yang, J. Li. "Learning curves of classification '
    'metrics based on confusion matrices." ACML, 2025; its bands do not hold, and are '
    "not used here.",
)
