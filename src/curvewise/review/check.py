"""What would a careful reviewer ask about these results?"""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from curvewise.answer import Answer, Provenance
from curvewise.errors import Blocked, Message, Part, listed, unknown
from curvewise.review.design import (
    few_runs,
    missing_seeds,
    params_not_drawn_at_random,
    runs_that_are_not_independent,
)
from curvewise.review.finding import (
    DISTRIBUTION,
    SCORES,
    SEVERITIES,
    Concern,
    Finding,
    Severity,
    counted,
)
from curvewise.review.replication import pooled_groups, wrong_replication_axis
from curvewise.review.scores import (
    assumed_directions,
    constant_scores,
    duplicates,
    failed_runs,
    flat_curves,
    ties,
    unequal_lengths,
    units_and_ranges,
)
from curvewise.text import Cell, Piece, Table, count, joined
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.doors import tasks_measured

__all__ = [
    "Finding",
    "Findings",
    "Severity",
    "check",
]


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
        tally = ", ".join(counted(severity, n) for severity, n in each if n)
        return (
            f"Looked at {count(looked['trials'], 'trial')} of "
            f"{count(looked['algorithms'], 'algorithm')} on "
            f"{count(looked['tasks'], 'task')}: {tally or 'nothing to object to'}."
        )

    def __str__(self) -> str:
        if not self.findings:
            return f"{self._looked()}\n{_wrapped('Looked for', _rules())}"
        return "\n\n".join([self._looked(), *map(_told, self.findings)])

    def _parts(self) -> Iterator[Piece]:
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
    findings = [finding for rule in RULES for finding in findings_of(trials, rule)]
    looked: dict[str, Cell] = {
        "trials": len(trials),
        "tasks": len(trials.tasks),
        "algorithms": len(trials.algorithms),
    }
    return Findings(
        tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))),
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


# --- The rules of `check`: each is one pure function from trials to findings -----------
#
# A new rule is one function and one entry here. Its name, with spaces, is what a clean
# bill of health says was looked for.


Rule: TypeAlias = Callable[[Trials], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    wrong_replication_axis,
    runs_that_are_not_independent,
    pooled_groups,
    duplicates,
    unequal_lengths,
    missing_seeds,
    few_runs,
    units_and_ranges,
    constant_scores,
    flat_curves,
    failed_runs,
    ties,
    params_not_drawn_at_random,
    assumed_directions,
)


# --------------------------------------------------------------------------------------
# The gate before every answer: what withholds it, and what stands above its verdict.


MOST_CAUTIONS = 3  # lines above a verdict

_EVERY: tuple[Concern, ...] = (*SCORES, "confusion")
# Which questions a rule can block or temper: only those rules are run before an answer.
# Here stands what blocks before what tempers, so that three lines are the gravest.
CONCERNS: dict[Rule, tuple[Concern, ...]] = {
    wrong_replication_axis: _EVERY,
    units_and_ranges: SCORES,
    pooled_groups: ("performance", "robustness", "plan"),
    params_not_drawn_at_random: DISTRIBUTION,
    duplicates: _EVERY,
    runs_that_are_not_independent: DISTRIBUTION,
    failed_runs: _EVERY,
    few_runs: ("performance", "robustness", "difference", "plan", "versions"),
    unequal_lengths: ("performance", "robustness", "plan", "versions"),
    constant_scores: ("performance", "robustness", "plan", "versions"),
    flat_curves: ("difference", "learning"),
    missing_seeds: ("performance", "robustness", "difference", "versions"),
}
# An engine that recorded what it drew from has drawn it at random, has numbered its
# trials by itself, and knows which of them are still to come.
_NOT_OF_ENGINE = frozenset(
    {
        wrong_replication_axis,
        pooled_groups,
        params_not_drawn_at_random,
        duplicates,
        missing_seeds,
    }
)
# Scores outside their range are refused by the analyses themselves.
_REFUSED_ANYWAY = frozenset(
    {"percent", "percent-and-fractions", "out-of-range", "no-trials", "no-metric"}
)

_is_open: ContextVar[bool] = ContextVar("is_open", default=False)


@contextmanager
def ungated() -> Iterator[None]:
    """Let answers pass unlooked at: those about trials that chance made, thousands."""
    token = _is_open.set(True)
    try:
        yield
    finally:
        _is_open.reset(token)


@cache
def _asker(rule: Rule) -> Callable[[Trials], tuple[Finding, ...]]:
    return lambda trials: tuple(rule(trials))


def findings_of(trials: Trials, rule: Rule) -> tuple[Finding, ...]:
    """Return what a rule finds; it looks once at a set of trials."""
    return trials.once(_asker(rule))


def gate(
    trials: Trials,
    question: Concern,
    *,
    metric: str | None = None,
    anyway: bool = False,
) -> tuple[str, ...]:
    """Return what tempers an answer, a line each; raise `Blocked` where it is withheld."""
    if question not in _EVERY:
        raise unknown("question", question, _EVERY)
    if _is_open.get():
        return ()
    of_engine = all(name in trials.spaces for name in trials.algorithms)
    findings = [
        finding
        for rule, concerns in CONCERNS.items()
        if question in concerns and not (of_engine and rule in _NOT_OF_ENGINE)
        for finding in findings_of(trials, rule)
        if finding.severity != "notes" and finding.touches(question, metric)
    ]
    blocking = [finding for finding in findings if finding.severity == "blocks"]
    if blocking and not anyway:
        raise _blocked(question, blocking)
    tempering = [finding for finding in findings if finding.severity == "tempers"]
    lines = [Message("Despite: ", finding.brief, ".") for finding in blocking]
    lines += [Message("Caution: ", finding.brief, ".") for finding in tempering]
    if len(lines) > MOST_CAUTIONS:
        rest = len(lines) - MOST_CAUTIONS + 1
        lines[MOST_CAUTIONS - 1 :] = [
            Message(f"Caution: {rest} more objections; see check.")
        ]
    return (*tuple(lines), *_unmeasured(trials, metric))


def _unmeasured(trials: Trials, metric: str | None) -> Iterator[str]:
    """Yield a line on the tasks that an answer leaves out."""
    measured = trials.tasks if metric is None else tasks_measured(trials, metric)
    lacking = [task for task in trials.tasks if task not in measured]
    if lacking:
        yield f"Left out: {listed(lacking, most=3)}, where no '{metric}' was recorded."


def _blocked(question: Concern, blocking: Sequence[Finding]) -> Blocked:
    first, *more = blocking
    others = f" Also: {joined([finding.brief for finding in more])}." if more else ""
    # With several causes no single keyword of read is enough.
    fixes: list[dict[str, Any]] = [] if more else [dict(fix) for fix in first.fixes]
    remedy: list[Part] = [] if fixes else [" ", Message(first.do).first_sentence()]
    if not any(finding.rule in _REFUSED_ANYWAY for finding in blocking):
        remedy += [", or see it all the same."] if remedy else []
        fixes.append({"anyway": True})
    elif remedy:
        remedy.append(".")
    return Blocked(
        f"No answer about {question}: {first.brief}.{others}", *remedy, fixes=fixes
    )
