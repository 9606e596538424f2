"""What would a careful reviewer ask about these results?"""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from curvewise._answer import Answer, Provenance
from curvewise._text import Cell, Part, Table, count
from curvewise.review.finding import SEVERITIES, Finding, Severity
from curvewise.review.gate import findings_of
from curvewise.review.looking import counted
from curvewise.review.rules import RULES
from curvewise.trials import Trials, must_be_trials

__all__ = ["Finding", "Findings", "Severity", "check"]


@dataclass(frozen=True, slots=True)
class Findings(Answer):
    """What was objected to, most severe first.

    Parameters
    ----------
    findings : tuple of Finding
    provenance : Provenance
        Its settings say how many trials, tasks and algorithms were looked at.
    """

    findings: tuple[Finding, ...]
    provenance: Provenance

    def rows(self) -> list[dict[str, Cell]]:
        """Return one dict per finding: severity, rule, what, where, why, do, concerns."""
        return [finding.row() for finding in self.findings]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def _looked(self) -> str:
        looked = {name: int(n or 0) for name, n in self.provenance.settings.items()}
        each = [(s, sum(f.severity == s for f in self.findings)) for s in SEVERITIES]
        found = ", ".join(counted(severity, n) for severity, n in each if n)
        return (
            f"Looked at {count(looked['trials'], 'trial')} of "
            f"{count(looked['algorithms'], 'algorithm')} on "
            f"{count(looked['tasks'], 'task')}: {found or 'nothing to object to'}."
        )

    def __str__(self) -> str:
        if not self.findings:
            return f"{self._looked()}\n{_wrapped('Looked for', _rules())}"
        return "\n\n".join([self._looked(), *map(_told, self.findings)])

    def _parts(self) -> Iterator[Part]:
        yield self._looked()
        if self.findings:
            yield Table(
                self.rows(), "What was found, where, why it matters, what to do"
            )
        else:
            yield f"Looked for: {_rules()}."


def check(trials: Trials) -> Findings:
    """Return what a careful reviewer would object to in these results.

    Looked for: episodes or steps counted as runs, tasks or algorithms that were pooled,
    duplicates, curves of unequal length, missing seeds, too few runs, percent mixed with
    fractions, scores that are constant, tied, or missing, hyperparameters that were
    plainly not drawn at random, and metrics of which only the name, or nobody, says which
    way is better.

    Parameters
    ----------
    trials : Trials

    Returns
    -------
    Findings
        Each says what was found, where, why it matters, what to do, and which answers
        it blocks or tempers. No finding is no proof: a check sees the numbers, not how
        they came about.

    Notes
    -----
    Two rules rest on tests of chance. One asks whether scores follow each other in
    order of number, the other whether params or scores drift; each of them objects to
    clean results in about one check of 10,000 or fewer, however many algorithms, tasks
    and metrics there are (Bonferroni). A grid of params is called one if random draws
    would look like it with probability below 1/1,000, whatever their law. Of params and
    labels the first 20,000 trials are looked at, shared out evenly among tasks and
    algorithms; findings say where that was not all of them.

    Examples
    --------
    >>> from curvewise.trials import Trial, Trials
    >>> scores = {"knn": [91, 88, 90, 89, 87], "svm": [0.93, 0.9, 0.91, 0.92, 0.95]}
    >>> found = check(Trials(
    ...     Trial("moons", name, i, {"accuracy": score})
    ...     for name, some in scores.items() for i, score in enumerate(some)
    ... ))
    >>> [(finding.severity, finding.rule) for finding in found]
    [('blocks', 'percent-and-fractions'), ('notes', 'assumed-direction')]
    >>> print(found.findings[0].where)
    percent: 'knn' on 'moons' (5); fractions: 'svm' on 'moons' (5)
    """
    must_be_trials(trials)
    found = [finding for rule in RULES for finding in findings_of(trials, rule)]
    looked: dict[str, Cell] = {
        "trials": len(trials),
        "tasks": len(trials.tasks),
        "algorithms": len(trials.algorithms),
    }
    return Findings(
        tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))),
        Provenance.of(trials, "check", looked),
    )


def _rules() -> str:
    return ", ".join(rule.__name__.replace("_", " ") for rule in RULES)


def _told(finding: Finding) -> str:
    lines = [f"{finding.severity}: {finding.rule}"]
    lines += [
        _wrapped(name, getattr(finding, name))
        for name in ("what", "where", "why", "do")
    ]
    return "\n".join(lines)


def _wrapped(name: str, text: str) -> str:
    return textwrap.fill(
        text,
        88,
        initial_indent=f"  {name}: ".ljust(9),
        subsequent_indent=" " * 9,
        break_on_hyphens=False,
    )
