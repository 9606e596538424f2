"""What can these data not answer?"""

from curvewise._text import Cell
from curvewise.flow.explaining import explain
from curvewise.report.sections.methods import CANNOT
from curvewise.report.sections.parts import Block, Group, Section, Settings
from curvewise.trials import Trials


def cannot_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return which questions these trials cannot answer, why, and what to add."""
    metric = settings.metrics[0] if len(settings.metrics) == 1 else None
    found = explain(trials, metric, anyway=settings.anyway)
    rows: list[dict[str, Cell]] = [
        {
            "question": one.question,
            "can it be answered?": one.can,
            "why not": one.why,
            "what to add": one.add,
        }
        for one in found.questions
        if one.can != "yes"
    ]
    if not rows:
        return []
    block = Block("Questions without an answer", "", None, rows, _CAPTION)
    return [
        Section(
            "cannot",
            "What can these data not answer?",
            "Which questions would take other data, and what is missing?",
            found.lacking(),
            groups=[Group("", [block])],
            notes=found.notes(),
            method=CANNOT,
            provenance=str(found.provenance),
        )
    ]


_CAPTION = "Questions that these trials cannot answer, or in part only, and what to add"
