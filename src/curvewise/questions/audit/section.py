"""Do these analyses keep their promises on results like these?"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from curvewise.errors import CurvewiseError, listed
from curvewise.questions.audit import Audit, audit
from curvewise.questions.audit.charts import audit_chart
from curvewise.questions.sampling import crossed_factors
from curvewise.questions.section import (
    Block,
    Group,
    Method,
    Section,
    Settings,
    attempted,
)
from curvewise.trials import Trials

_QUESTION = "Do these analyses keep their promises on results like these?"
_ASKED = (
    "The same analyses were tried on these very trials under shuffled names, where every "
    "claim is false, and on trials simulated from what they found, where the truth is "
    "known: how often are they wrong?"
)
_METHOD = Method(
    "Type I errors on names dealt anew among whole trials; coverage of intervals on trials "
    "simulated from the fitted answers.",
    "Each rate with a 99 % interval of Clopper and Pearson. A promise is called broken "
    "where that whole interval breaks it. Conditional on what was fitted; that trials are "
    "independent is assumed, not shown.",
    "C. Clopper, E. Pearson. The use of confidence or fiducial limits illustrated in the "
    "case of the binomial. Biometrika 26, 1934.",
)


class _Watch(NamedTuple):
    """Who wants to know how far an audit is, and what it found."""

    progress: Callable[[int, int], object]
    found: list[Audit]


_watch: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(progress: Callable[[int, int], object]) -> Iterator[list[Audit]]:
    """Return what the audits of a report found, once it is written."""
    watch = _Watch(progress, [])
    token = _watch.set(watch)
    try:
        yield watch.found
    finally:
        _watch.reset(token)


def audit_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return how often the analyses err on trials like these, if that was asked for.

    Of several metrics the one that learning curves are of is tried, or the first.
    """
    if settings.audit == 0 or crossed_factors(trials) or not settings.every:
        return []

    def section() -> Section | None:
        if not settings.metrics:  # none of which one way is better everywhere
            _ = trials.metric(settings.every[0]).known_direction
            return None
        metric = "error" if "error" in settings.metrics else settings.metrics[0]
        watch = _watch.get()
        answer = audit(
            trials,
            metric,
            repetitions=settings.audit,
            at=settings.at,
            failed=settings.failed,
            progress=None if watch is None else watch.progress,
        )
        if watch is not None:
            watch.found.append(answer)
        others = [name for name in settings.every if name != metric]
        notes = [f"Tried for {answer.metric.label} only, not for {listed(others)}."]
        caption = "Each promise, what it allows and what was observed"
        block = Block("Promises", "", audit_chart(answer), answer.table(), caption)
        return Section(
            "",
            "",
            _ASKED,
            answer.headline(),
            answer.would_change(),
            groups=[Group("", [block])],
            notes=[*answer.notes(), *(notes if others else [])],
            method=_METHOD,
            provenance=str(answer.provenance),
        )

    def refusal(problem: CurvewiseError) -> str:  # such as one that would take hours
        return f"No audit was made. {problem}"

    return attempted("audit", _QUESTION, _ASKED, section, refusal)
