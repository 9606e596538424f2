"""Can these results be trusted?"""

from curvewise._text import count
from curvewise.exchange.check import check
from curvewise.report.sections.parts import Block, Group, Section, Settings
from curvewise.trials import Trials

_FINDINGS = "What was found, where, why it matters and what to do"


def check_sections(trials: Trials, _settings: Settings) -> list[Section]:
    """Return the findings about the results themselves."""
    found = check(trials)
    n = len(found)
    sentence = (
        f"{count(n, 'finding')} that a careful reviewer would raise."
        if n
        else "Nothing that a careful reviewer would object to was found."
    )
    blocks = [Block("Findings", "", None, found.rows(), _FINDINGS)] if n else []
    return [
        Section(
            "check",
            "Can these results be trusted?",
            "Gaps, ties, leaks and other oddities that would make a reviewer ask.",
            sentence,
            groups=[Group("", blocks)],
            provenance=str(found.provenance),
        )
    ]
