"""Which way is better? Asked for metrics of which nobody knows."""

from curvewise._text import Cell
from curvewise.errors import as_keywords, as_words, listed
from curvewise.report.sections.parts import Block, Group, Section, Settings
from curvewise.trials import Trials

_ASKED = (
    "Some metrics are neither declared nor told by their names. Without knowing which way "
    "they are better, nothing is said about who is."
)


def direction_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return the metrics without a direction, with the line to type for each."""
    if not settings.undirected:
        return []
    rows: list[dict[str, Cell]] = []
    for name in settings.undirected:
        if trials.metric(name).by_task:
            typed = f"trials.where(task={trials.tasks[0]!r})"
            rows.append({"metric": name, "command line": "", "Python": typed})
            continue
        fix = {"metrics": {name: "lower"}}
        rows.append(
            {
                "metric": name,
                "command line": " ".join(as_words(fix)),
                "Python": as_keywords(fix),
            }
        )
    return [
        Section(
            "directions",
            "Which way is better?",
            _ASKED,
            f"Whether a high or a low {listed(settings.undirected, 4)} is better is not "
            f"known: it is left out until somebody says so.",
            groups=[Group("", [Block("What to type", "", None, rows, _CAPTION)])],
            in_summary=not settings.metrics,
        )
    ]


_CAPTION = "What to add when the results are read: lower, or higher in its place"
