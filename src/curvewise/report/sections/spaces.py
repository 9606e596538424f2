"""Which complete algorithms were compared?"""

from curvewise._text import Cell, count
from curvewise.report.sections.methods import SPACES
from curvewise.report.sections.parts import Block, Group, Section, Settings
from curvewise.trials import Trials

_HEADING = "What each hyperparameter was drawn from"


def space_sections(trials: Trials, _settings: Settings) -> list[Section]:
    """Return what the hyperparameters of each algorithm were drawn from, if known."""
    if not trials.spaces:
        return []
    rows: list[dict[str, Cell]] = [
        {"algorithm": name, "hyperparameters": line}
        for name, text in trials.spaces.items()
        for line in text.splitlines() or ["none"]
    ]
    n = sum(text.count("\n") + 1 for text in trials.spaces.values() if text)
    known = count(len(trials.spaces), "algorithm")
    unknown = len(trials.algorithms) - len(trials.spaces)
    without = (
        f"; of {count(unknown, 'algorithm')} they are not known" if unknown else ""
    )
    return [
        Section(
            "algorithms",
            "Which complete algorithms were compared?",
            "What were the hyperparameters of each algorithm drawn from? It is complete "
            "only with that: another range is another algorithm.",
            f"{count(n, 'hyperparameter')} of {known}, drawn from what the table "
            f"says{without}.",
            groups=[Group("", [Block("Hyperparameters", "", None, rows, _HEADING)])],
            method=SPACES,
            in_summary=False,
        )
    ]
