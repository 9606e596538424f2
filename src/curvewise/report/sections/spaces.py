"""Which complete algorithms were compared?"""

from curvewise._text import Cell
from curvewise.report.sections.parts import Block, Group, Section, Settings
from curvewise.trials import Trials


def space_sections(trials: Trials, _settings: Settings) -> list[Section]:
    """Return what the hyperparameters of each algorithm were drawn from, if known."""
    if not trials.spaces:
        return []
    rows: list[dict[str, Cell]] = [
        {"algorithm": name, "hyperparameters": line}
        for name, text in trials.spaces.items()
        for line in text.splitlines() or ["none"]
    ]
    return [
        Section(
            "algorithms",
            "Which complete algorithms were compared?",
            "An algorithm is complete only with the distribution that its "
            "hyperparameters are drawn from: another range is another algorithm.",
            groups=[Group("", [Block("Hyperparameters", "", None, rows, _SPACES)])],
        )
    ]


_SPACES = "What each hyperparameter was drawn from"
