"""The gate before every answer: what withholds it, and what stands above its verdict."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from curvewise._text import joined
from curvewise.errors import Blocked, Message, Part, listed
from curvewise.review.axis import wrong_replication_axis
from curvewise.review.curves import (
    constant_scores,
    duplicates,
    flat_curves,
    unequal_lengths,
)
from curvewise.review.design import runs_that_are_not_independent
from curvewise.review.finding import DISTRIBUTION, SCORES, Concern, Finding
from curvewise.review.groups import pooled_groups
from curvewise.review.params import params_not_drawn_at_random
from curvewise.review.ranges import failed_runs, units_and_ranges
from curvewise.review.rules import Rule
from curvewise.review.seeds import few_runs, missing_seeds
from curvewise.trials import Trials
from curvewise.trials.values import tasks_measured

MOST_CAUTIONS = 3  # lines above a verdict

_EVERY: tuple[Concern, ...] = (*SCORES, "confusion")
# Which questions a rule can block or temper: only those rules are run before an answer.
# Here stands what blocks before what tempers, so that three lines are the gravest.
_CONCERNS: dict[Rule, tuple[Concern, ...]] = {
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
    """Return what tempers an answer, a line each; raise `Blocked` where it is withheld.

    Parameters
    ----------
    trials : Trials
    question : str
        Whose answer it is, as in `Finding.concerns`.
    metric : str, optional
        Findings about other metrics are left out.
    anyway : bool
        Whether to let pass what blocks: its line then begins with "despite".
    """
    if _is_open.get():
        return ()
    of_engine = all(name in trials.spaces for name in trials.algorithms)
    found = [
        finding
        for rule, concerns in _CONCERNS.items()
        if question in concerns and not (of_engine and rule in _NOT_OF_ENGINE)
        for finding in findings_of(trials, rule)
        if finding.severity != "notes" and finding.touches(question, metric)
    ]
    blocking = [finding for finding in found if finding.severity == "blocks"]
    if blocking and not anyway:
        raise _blocked(question, blocking)
    tempering = [finding for finding in found if finding.severity == "tempers"]
    return (*_lines(blocking, tempering), *_unmeasured(trials, metric))


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


def _lines(
    blocking: Sequence[Finding], tempering: Sequence[Finding]
) -> tuple[str, ...]:
    lines = [Message("Despite: ", finding.brief, ".") for finding in blocking]
    lines += [Message("Caution: ", finding.brief, ".") for finding in tempering]
    if len(lines) > MOST_CAUTIONS:
        rest = len(lines) - MOST_CAUTIONS + 1
        lines[MOST_CAUTIONS - 1 :] = [
            Message(f"Caution: {rest} more objections; see check.")
        ]
    return tuple(lines)
