"""How do precision, recall and F1 move with data?"""

from curvewise.analyses._asking import crossed_factors
from curvewise.analyses._count_tables import MOST_CLASSES
from curvewise.analyses._count_words import class_heading, leading
from curvewise.analyses._curve_asking import could_be_sizes
from curvewise.analyses._naming import on
from curvewise.analyses.confusion import Confusion, confusion
from curvewise.errors import Blocked, CurvewiseError
from curvewise.figures.confusion import class_charts, confusion_chart
from curvewise.report.sections.methods import CONFUSION
from curvewise.report.sections.parts import (
    Block,
    Group,
    Section,
    Settings,
    task_heading,
    unanswered,
    withheld,
)
from curvewise.trials import Trials

_QUESTION = "How do precision, recall and F1 move with data?"
_ASKED = (
    "Steps are taken for sizes of training sets. Precision: how many of those that were "
    "called positive are; recall: how many of the positives were found; F1: both in one "
    "number. How do they move with more data? Beyond the largest size that was tried it "
    "is a forecast."
)


def confusion_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return how rates move with data, where there are counts along sizes."""
    if crossed_factors(trials) or not trials.details().classes.any():
        return []
    if not could_be_sizes(trials, "error"):
        return []
    try:
        answer = confusion(
            trials,
            failed="raise" if settings.failed == "raise" else "worst",
            anyway=settings.anyway,
        )
    except Blocked as problem:
        return [withheld("confusion", _QUESTION, _ASKED, problem)]
    except CurvewiseError as problem:  # such as one size on each task
        told = f"These counts make no curve. {problem}"
        return [unanswered("confusion", _QUESTION, _ASKED, told)]
    return [
        Section(
            "confusion",
            _QUESTION,
            _ASKED,
            answer.headline(),
            answer.would_change(),
            groups=[Group(task_heading(t), _blocks(answer, t)) for t in answer.tasks],
            notes=answer.notes(),
            method=CONFUSION,
            provenance=str(answer.provenance),
            cautions=answer.cautions,
        )
    ]


def _blocks(answer: Confusion, task: str) -> list[Block]:
    table = answer.table(task)
    told = "\n".join([*answer.verdicts(task), *answer.concerns(task)])
    first = leading(answer.asked)  # what the verdicts are about
    blocks = []
    for name in [first, *(m for m in answer.metrics if m != first)]:
        chart = confusion_chart(answer, name, task)
        own = [row for row in table if row["metric"] == chart.y_label]
        heading = f"{chart.title[0].upper()}{chart.title[1:]}"
        blocks.append(
            Block(heading, told if name == first else "", chart, own, heading)
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
