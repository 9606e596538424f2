"""One objection of a careful reviewer: what, where, why it matters, what to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from curvewise.text import Cell

__all__ = ["Finding"]

Severity: TypeAlias = Literal["blocks", "tempers", "notes"]
SEVERITIES: tuple[str, ...] = get_args(Severity)
Concern: TypeAlias = Literal[
    "performance",
    "robustness",
    "difference",
    "learning",
    "confusion",
    "variance",
    "plan",
    "versions",
]
# Statements about the distribution that an algorithm's trials are drawn from.
DISTRIBUTION: tuple[Concern, ...] = ("performance", "robustness", "variance", "plan")
# Statements that rest on logged scores, and not on confusion counts.
SCORES: tuple[Concern, ...] = tuple(c for c in get_args(Concern) if c != "confusion")


@dataclass(frozen=True, slots=True)
class Finding:
    """One objection to a set of trials.

    Parameters
    ----------
    rule : str
        Short name of what was found, the same for the same kind of finding.
    severity : {"blocks", "tempers", "notes"}
        What blocks withholds the answers that it concerns, unless they are asked for
        with ``anyway=True``; what tempers stands above their verdicts, in a line; what
        notes is good to know.
    what : str
        The fact, with numbers.
    where : str
        The tasks, algorithms and trials concerned; cut short where they are many.
    why : str
        Why it matters.
    do : str
        What to do: a keyword or an action.
    brief : str
        The fact in a line, as it stands above a verdict; empty for a note.
    concerns : tuple of str
        The questions whose answers it blocks or tempers, such as ``"performance"``;
        all that the trials feed if empty.
    metrics : tuple of str
        The metrics that it is about; all of them if empty.
    fixes : tuple of mapping
        Keywords of `curvewise.read`, each of which removes the cause.
    """

    rule: str
    severity: Severity
    what: str
    where: str
    why: str
    do: str
    brief: str = ""
    concerns: tuple[Concern, ...] = ()
    metrics: tuple[str, ...] = ()
    fixes: tuple[Mapping[str, Any], ...] = ()

    def touches(self, question: Concern, metric: str | None = None) -> bool:
        """Return whether an answer to a question, by a metric, is concerned."""
        by_metric = metric is None or not self.metrics or metric in self.metrics
        return by_metric and (not self.concerns or question in self.concerns)

    def row(self) -> dict[str, Cell]:
        """Return the finding as one row of a table."""
        return {
            "severity": self.severity,
            "rule": self.rule,
            "what": self.what,
            "where": self.where,
            "why": self.why,
            "do": self.do,
            "concerns": ", ".join(self.concerns) or "all",
        }


# --- words ----------------------------------------------------------------------------


_AS_NOUNS: dict[str, tuple[str, str]] = {
    "blocks": ("objection that blocks answers", "objections that block answers"),
    "tempers": ("objection that tempers answers", "objections that temper answers"),
    "notes": ("note", "notes"),
}


def counted(severity: str, n: int) -> str:
    """Return how many findings of a severity there are, in words.

    >>> counted("blocks", 1), counted("notes", 2)
    ('1 objection that blocks answers', '2 notes')
    """
    return f"{n:,} {_AS_NOUNS[severity][n != 1]}"
