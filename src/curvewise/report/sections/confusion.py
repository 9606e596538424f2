"""How do precision, recall and F1 move with data?"""

from curvewise.analyses._asking import crossed_factors
from curvewise.analyses._curve_asking import could_be_sizes
from curvewise.analyses.confusion import Confusion, confusion
from curvewise.errors import CurvewiseError
from curvewise.figures.confusion import class_charts, confusion_chart
from curvewise.report.sections.parts import Block, Section, Settings
from curvewise.trials import Trials

_QUESTION = "How do precision, recall and F1 move with data?"
_MOST_CLASSES = 12  # that a page draws, each in a chart of its own


def confusion_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return how rates move with data, where there are counts along sizes."""
    if crossed_factors(trials) or not trials.details().classes.any():
        return []
    if not could_be_sizes(trials, "error"):
        return []
    try:
        answer = confusion(
            trials, failed="raise" if settings.failed == "raise" else "worst"
        )
    except CurvewiseError as problem:  # such as one size on each task
        told = f"These counts make no curve. {problem}"
        return [Section("confusion", _QUESTION, told, [], [], "")]
    return [
        Section(
            "confusion",
            _QUESTION,
            "The confusion matrix of each algorithm is fitted as a function of its "
            "training data; every metric follows from it, with a band inside its range.",
            [b for task in answer.tasks for b in _blocks(answer, task)],
            answer.notes(),
            str(answer.provenance),
        )
    ]


def _blocks(answer: Confusion, task: str) -> list[Block]:
    table = answer.table(task)
    told = "\n".join([*answer.verdicts(task), *answer.concerns(task)])
    blocks = []
    for i, name in enumerate(answer.metrics):
        chart = confusion_chart(answer, name, task)
        own = [row for row in table if row["metric"] == chart.y_label]
        blocks.append(
            Block(chart.title, told if i == 0 else "", chart, own, f"{chart.title}")
        )
    if answer.of(task).classes > 2:
        blocks.append(
            Block(
                f"Each class on {task}",
                "",
                None,
                answer.class_table(task),
                f"Recall, precision and F1 of each class on {task}",
            )
        )
        blocks += [
            Block(chart.title, "", chart, [], "")
            for chart in class_charts(answer, "f1", task)[:_MOST_CLASSES]
        ]
    return blocks
