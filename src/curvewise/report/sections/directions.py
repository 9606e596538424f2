"""Which way is better? Asked for metrics of which nobody knows."""

from curvewise._text import Cell
from curvewise.errors import Message, as_keywords, as_words, listed, trials_where
from curvewise.report.sections.parts import Block, Group, Section, Settings
from curvewise.trials import Trials

_ASKED = (
    "Some metrics have no one direction: it is neither declared nor told by their names, "
    "or it differs by task. Without it nothing is said about who is better."
)


def direction_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return the metrics without one direction, with the line to type for each."""
    told = []
    if settings.undirected:
        told.append(
            f"Whether a high or a low {listed(settings.undirected, 4)} is better is not "
            f"known: nothing is said of who is better until somebody says so."
        )
    if settings.by_task:
        told.append(
            f"Which way {listed(settings.by_task, 4)} is better differs by task: each task "
            f"is judged by itself. What takes tasks together is told of one task at a time."
        )
    if not told:
        return []
    rows = [
        *(_unsaid(name) for name in settings.undirected),
        *(_of_one_task(trials, name) for name in settings.by_task),
    ]
    return [
        Section(
            "directions",
            "Which way is better?",
            _ASKED,
            " ".join(told),
            groups=[Group("", [Block("What to type", "", None, rows, _CAPTION)])],
            in_summary=not settings.judged,
        )
    ]


def _unsaid(name: str) -> dict[str, Cell]:
    fix = {"metrics": {name: "lower"}}
    return {
        "metric": name,
        "command line": " ".join(as_words(fix)),
        "Python": as_keywords(fix),
    }


def _of_one_task(trials: Trials, name: str) -> dict[str, Cell]:
    first = trials.metric(name).by_task[0][0]
    typed = Message(trials_where(task=first), "")
    return {"metric": name, "command line": "", "Python": typed}


_CAPTION = (
    "What to add when the results are read: lower, or higher in its place; and how to "
    "choose a task"
)
