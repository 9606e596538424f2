"""One objection of a careful reviewer: what, where, why it matters, what to do."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from curvewise._text import Cell

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[str, ...] = get_args(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """One objection to a set of trials.

    Parameters
    ----------
    rule : str
        Short name of what was found, the same for the same kind of finding.
    severity : {"error", "warning", "note"}
        An error makes answers wrong, a warning may, a note is good to know.
    what : str
        The fact, with numbers.
    where : str
        The tasks, algorithms and trials concerned; cut short where they are many.
    why : str
        Why it matters.
    do : str
        What to do: a keyword or an action.
    """

    rule: str
    severity: Severity
    what: str
    where: str
    why: str
    do: str

    def row(self) -> dict[str, Cell]:
        """Return the finding as one row of a table."""
        return {
            "severity": self.severity,
            "rule": self.rule,
            "what": self.what,
            "where": self.where,
            "why": self.why,
            "do": self.do,
        }
