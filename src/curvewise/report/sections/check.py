"""Can these results be trusted?"""

from curvewise._text import joined
from curvewise.report.sections.methods import CHECK
from curvewise.report.sections.parts import Block, Group, Section, Settings
from curvewise.review.check import Findings, check
from curvewise.review.finding import SEVERITIES
from curvewise.review.looking import counted
from curvewise.trials import Trials

_FINDINGS = "What was found, where, why it matters and what to do"


def check_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return the findings about the results themselves."""
    found = check(trials)
    blocks = [Block("Findings", "", None, found.rows(), _FINDINGS)]
    return [
        Section(
            "check",
            "Can these results be trusted?",
            "Would a careful reviewer object to the results themselves: runs that are "
            "missing, duplicated or too few, groups that were pooled, scores that tie "
            "or leave their range, hyperparameters that were not drawn at random?",
            _answer(found),
            _change(found, settings),
            groups=[Group("", blocks)] if len(found) else (),
            method=CHECK,
            provenance=str(found.provenance),
        )
    ]


def _answer(found: Findings) -> str:
    if not len(found):
        return (
            "Nothing was found that a careful reviewer would object to, which does not "
            "prove that there is nothing."
        )
    counts = {s: sum(f.severity == s for f in found) for s in SEVERITIES}
    told = joined([counted(severity, n) for severity, n in counts.items() if n])
    worst = next(s for s in SEVERITIES if counts[s])
    first = next(iter(found)).what.partition(";")[0].rstrip(".")
    verb = "is" if counts[worst] == 1 else "are"
    return f"There {verb} {told}; first: {first}."


def _change(found: Findings, settings: Settings) -> str:
    """Return what to do about the gravest finding that is not settled on this page."""
    is_settled = settings.failed != "raise"  # somebody said what a failure scores
    grave = [
        f
        for f in found
        if f.severity != "notes" and not (is_settled and f.rule == "failed-runs")
    ]
    return grave[0].do if grave else ""
