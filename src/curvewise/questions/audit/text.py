"""What an audit says: in one sentence, in a table, in notes, and what would change it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from curvewise.errors import CurvewiseError, listed
from curvewise.questions.audit.checks import SURENESS, Check, clopper_pearson
from curvewise.questions.audit.deals import SHUFFLES, Dealing
from curvewise.text import Cell, count, joined, percent

if TYPE_CHECKING:
    from curvewise.questions.audit import Audit


_ON = {"shuffled": "shuffled names", "simulated": "simulated trials"}
_FEW_DEALS = 1000
_ENOUGH = 1000  # repetitions, after which a rate of 5 % is known to within 2 points
_MOST_TOLD = 3  # broken promises in a sentence
_RARE = 0.05  # a rate that is worth knowing


def rate(value: float) -> str:
    """Return a rate in percent, as exactly as some hundred repetitions know it.

    >>> rate(0.0512), rate(0.9999), rate(0.0), rate(0.0001)
    ('5.1 %', '>99.9 %', '0 %', '<0.1 %')
    """
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    if not 0.0005 <= value < 0.9995:
        return "<0.1 %" if value < 0.5 else ">99.9 %"
    return f"{100 * value:.1f} %"


def table(checks: Sequence[Check]) -> list[dict[str, Cell]]:
    """Return checks with headings for people, numbered."""
    return [_line(i, check) for i, check in enumerate(checks, start=1)]


def _line(i: int, check: Check) -> dict[str, Cell]:
    promised, observed, low, high = check.shown
    most = "at most" if check.kind == "shuffled" else "at least"
    what = "claims" if check.kind == "shuffled" else "holds"
    return {
        "no.": str(i),
        "analysis": check.analysis,
        "on": _ON[check.kind],
        "what it does": f"{what}: {check.what}",
        "promised": f"{most} {percent(promised)}",
        "observed": f"{rate(observed)} ({rate(low)} to {rate(high)})",
        "verdict": check.verdict,
    }


def headline(audit: "Audit") -> str:
    """Return in one sentence whether what was promised was kept."""
    n = len(audit.checks)
    where = f"in {count(audit.repetitions, 'repetition')} on trials like these"
    if not audit.broken:
        warned = len([c for c in audit.checks if c.verdict == "as warned"])
        kept = f"{n - warned} of {n}" if warned else f"all {n}"
        but = f", and warn of the other {warned} themselves" if warned else ""
        return (
            f"The analyses kept {kept} promises {where}{but}; a rate of {percent(_RARE)} "
            f"is known to within {_known(audit.repetitions)} points."
        )
    first = [_broken(check) for check in audit.broken[:_MOST_TOLD]]
    more = len(audit.broken) - len(first)
    rest = f"; and {more} more" if more else ""
    return (
        f"The analyses broke {len(audit.broken)} of {count(n, 'promise')} {where}: "
        f"{'; '.join(first)}{rest}."
    )


def _known(repetitions: int) -> str:
    """Return how well a rate of 5 % is known, in points.

    >>> _known(200), _known(1000)
    ('5.4', '2.1')
    """
    _, high = clopper_pearson(_RARE * repetitions, repetitions, SURENESS)
    return f"{100 * (high - _RARE):.1f}"


def _broken(check: Check) -> str:
    promised, observed, low, high = check.shown
    seen = f"{rate(observed)} ({rate(low)} to {rate(high)})"
    whose = f"'{check.what}' ({check.analysis})"
    if check.kind == "shuffled":
        return (
            f"{whose} was claimed in {seen} of the shuffles, where at most "
            f"{percent(promised)} was promised"
        )
    return (
        f"{whose} held in {seen} of the cases, where {percent(promised)} was promised"
    )


def would_change(audit: "Audit") -> str:
    """Return what would change the verdicts."""
    parts = []
    if audit.repetitions < _ENOUGH:
        parts.append(
            f"More repetitions tell rates more exactly: {_ENOUGH:,} would tell one of "
            f"{percent(_RARE)} to within {_known(_ENOUGH)} points."
        )
    if audit.broken:
        parts.append(
            "A promise that is broken with more repetitions, too, is not to be relied on "
            "for trials like these: use what is guaranteed, or run more trials."
        )
    return " ".join(parts)


def notes(audit: "Audit", told: Sequence[str]) -> list[str]:
    """Return what a reader must know to read the table."""
    n = len(audit.checks)
    kinds = {check.kind for check in audit.checks}
    out = [
        f"observed, in brackets: where the rate lies with {percent(SURENESS)} confidence "
        f"(Clopper and Pearson). broken: even the near end breaks the promise. "
        f"conservative: wrong surely less often than promised, at most half as often. By "
        f"chance of the draws alone, one of {n} promises that are just kept is called "
        f"broken in up to {percent(round(1 - (1 - (1 - SURENESS) / 2) ** n, 2))} of all "
        f"audits."
    ]
    if "shuffled" in kinds:
        out.append(
            "shuffled names: whole trials under names dealt anew within each task, so that "
            "no algorithm is better and every claim is false. Rates are of deals of these "
            "very scores: tests by shuffles keep their promise in each such set of scores, "
            "other claims on average over studies."
        )
    if "simulated" in kinds:
        out.append(
            "simulated trials: as many as there are, drawn from what each analysis fitted, "
            "so that the truth is known. Cases that were drawn together count as one for "
            "the brackets; no answer counts as a wrong one."
        )
    if any(check.verdict == "as warned" for check in audit.checks):
        out.append(
            "as warned: the answer itself calls this probable, or its intervals too short, "
            "with so few trials."
        )
    if any(check.verdict == "says nothing" for check in audit.checks):
        out.append("says nothing: most of these intervals have no ends at all.")
    if lost := sum(check.refused for check in audit.checks):
        out.append(f"In {count(lost, 'case')} there was no answer.")
    return [*out, *told, _LIMITS]


_LIMITS = (
    "An audit tries the analyses on as many trials, with such ties and failures. It takes "
    "trials for independent, and what was fitted for true: it cannot show that they are."
)


def dealing_notes(dealing: Dealing) -> list[str]:
    """Return how names were dealt, where that matters."""
    if not dealing.is_possible:
        return [
            "No names were shuffled: there are no two algorithms on one task, so nobody "
            "can be told apart falsely."
        ]
    out = []
    if dealing.paired:
        out.append(
            "Trials of one number met the same data. performance and robustness compare "
            "them pair by pair, and are dealt names within each number; the others take "
            "runs for independent, and are dealt names among all trials of a task."
        )
    if dealing.by_size:
        out.append(
            f"Each trial of {listed(dealing.by_size)} has one step: names were dealt "
            f"among the trials of each step."
        )
    few = {t: n for t, n in dealing.different.items() if min(n) < _FEW_DEALS}
    if few:
        told = joined([_deals(t, *n) for t, n in list(few.items())[:_MOST_TOLD]])
        more = f" and as few on {len(few) - _MOST_TOLD} more" * (len(few) > _MOST_TOLD)
        out.append(
            f"So few trials can be dealt in few different ways, {told}{more}: rates on "
            f"shuffled names are of these deals, and repetitions see the same ones again."
        )
    return out


def _deals(task: str, among: int, within: int) -> str:
    """Return how many different deals a task has.

    >>> _deals("moons", 462, 32), _deals("moons", 10, 10)
    ('462 (32 within numbers) on moons', '10 on moons')
    """
    inside = f" ({within:,} within numbers)" if within != among else ""
    return f"{among:,}{inside} on {task}"


def subject_notes(
    names: Sequence[str], problems: dict[str, CurvewiseError]
) -> list[str]:
    """Return which analyses were tried in another way than usual, or not at all."""
    out = []
    if "difference" in names:
        out.append(
            f"difference was tried with {SHUFFLES:,} shuffles for each test instead of "
            f"9,999, and more where p is close to the level."
        )
    if "confusion" in names:
        out.append(
            "confusion compares nobody; but readers may, by intervals that do not meet. Of "
            "several of them one is wrong more often than each."
        )
    out += [f"Not tried: {name}. {problem}" for name, problem in problems.items()]
    return out
